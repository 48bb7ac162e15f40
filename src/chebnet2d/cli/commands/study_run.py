"""study run: many runs by a protocol, with a store that survives interruptions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also

LEFT_TO_OTHERS = 3
"""Exit code: some units are not finished because other processes hold them."""


@dataclass(frozen=True)
class ProtocolOptions:
    """Fields of a ``Protocol``."""

    methods: options.Methods = None
    datasets: Annotated[str | None, typer.Option(help="Datasets, separated by commas.")] = None
    split: Annotated[str | None, typer.Option(help="Kind of split, or several, separated by commas (default: uniform).")] = None
    splits: Annotated[int | None, typer.Option(help="Number of splits (default: 10).")] = None
    inits: Annotated[int | None, typer.Option(help="Initialisations on each split (default: 10).")] = None
    epochs: options.Epochs = None
    patience: options.Patience = None


@command("study run", order=210, resumes="Finished runs are in the store, and the same command goes on from them.")
def run(
    asked: ProtocolOptions,
    cluster: options.ClusterOptions,
    protocol: Annotated[
        Path | None, typer.Argument(help="TOML file with a protocol; or use --table or --methods."), Also("Protocol.path")
    ] = None,
    table: Annotated[
        int | None, typer.Option(help="One of the paper's tables: 1 to 3, or 4 (times)."), Also("Protocol.from_table.number")
    ] = None,
    store: options.StoreFile = options.DEFAULT_STORE,
    reuse: Annotated[list[Path] | None, typer.Option(help="Copy what another study has done already; may be repeated.")] = None,
    workers: options.Workers = None,
    data_root: options.DataRoot = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print runs, units, time and memory, from a few epochs of each; write nothing.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Run what the protocol asks for and the store does not have yet. Interrupt it at will; start it again and it goes on.

    Exit code 3: other processes still work on some units.

    Example: chebnet2d study run --table 1 --methods chebnet2d,gprgnn --datasets cora,texas --inits 1
    """
    from chebnet2d._checks import InputError
    from chebnet2d.cli.console import check_log, connected_to, log_lines, notice
    from chebnet2d.cli.progress import progress_bar, study_step
    from chebnet2d.cli.tables import print_status, print_status_json
    from chebnet2d.study import run_study
    from chebnet2d.study.waiting import describe_claims

    processes = options.as_many_as_threads("study run", workers, cluster.ray)
    log = cluster.log
    if log is not None:
        check_log("study run", log, keep=(store, protocol))
    given = options.typed(asked)
    if table == 4 and protocol is None:
        if cluster.ray is not None:
            raise InputError("study run", "table", "1 to 3 beside --ray", got="4, whose times are those of one machine")
        if dry_run or json:
            raise InputError("study run", "table", "1 to 3 beside --dry-run and --json", got="4")
        _time_large_graphs(given, store.parent / "table4", data_root)
        return
    chosen = _protocol(protocol, table, given)
    if dry_run:
        _estimate(chosen, {"store_path": store, "root": data_root, "reuse": reuse or ()}, processes, json)
        return
    with progress_bar(study_step(), "TimeRemainingColumn") as report, log_lines(log) as write, connected_to(cluster.ray):
        executor = options.executor_of(cluster.ray, processes)
        calls: dict[str, Any] = {"progress": report, "log": write, "notice": notice}
        left = run_study(chosen, store, executor=executor, root=data_root, reuse=reuse or (), **calls)
    (print_status_json if json else print_status)(store)
    if left:
        hint = f"The same command does what they leave; chebnet2d study status --store {store} --release makes it free now."
        typer.echo(f"chebnet2d: study run: others still hold {describe_claims(left)}. {hint}", err=True)
        raise typer.Exit(LEFT_TO_OTHERS)


def _estimate(protocol: Any, arguments: Mapping[str, Any], workers: int, as_json: bool) -> None:
    """What the study would cost; nothing is written."""
    from dataclasses import asdict

    from chebnet2d.cli.console import print_json
    from chebnet2d.cli.progress import estimate_step, progress_bar
    from chebnet2d.cli.tables import print_estimates
    from chebnet2d.study import estimate_study

    with progress_bar(estimate_step) as report:
        found = estimate_study(protocol, progress=report, **arguments)
    if as_json:
        totals = {name: sum(getattr(one, name) for one in found) for name in ("runs", "units", "stacks", "seconds")}
        print_json({"cells": [asdict(one) for one in found], **totals})
    else:
        print_estimates(found, workers)


def _protocol(path: Path | None, table: int | None, given: Mapping[str, Any]) -> Any:
    """From a file, from a table of the paper, or from what was typed alone."""
    from chebnet2d._checks import InputError
    from chebnet2d.study import Protocol

    if path is not None:
        _refuse({**({} if table is None else {"table": table}), **given}, "a protocol file", "Put it into the file.")
        return Protocol.from_toml(path)
    listed: dict[str, Any] = {name: _listed(value) if isinstance(value, str) else value for name, value in given.items()}
    if table is not None:
        return Protocol.from_table(table, **listed)
    if not (listed.get("methods") and listed.get("datasets")):
        rule = "given by a file, by --table, or by --methods and --datasets"
        raise InputError("study run", "what to run", rule, got="none")
    return Protocol(**listed)


def _time_large_graphs(given: Mapping[str, Any], folder: Path, root: Path | None) -> None:
    """Table 4: printed line by line as it is measured, then as a whole."""
    from chebnet2d._targets import Mark, check_target, written_whole
    from chebnet2d.cli.console import say
    from chebnet2d.reports.timings import DATASETS, METHODS, format_timings, table4

    target = folder / "table4.md"
    check_target("study run", "store", target, marks=[Mark(b"| dataset | method |")], force=None)

    methods, datasets = (_listed(given.get(name, "")) for name in ("methods", "datasets"))
    others = {name: value for name, value in given.items() if name not in ("methods", "datasets", "epochs")}
    _refuse(others, "--table 4")

    def done(line: Any) -> None:
        say(f"{line.method} on {line.dataset}: {line.epoch_seconds:.3g} s per epoch, peak {line.peak_mib:.0f} MiB")

    names: dict[str, Any] = {"methods": methods or METHODS, "datasets": datasets or DATASETS}
    text = format_timings(table4(folder, root=root, epochs=given.get("epochs", 20), done=done, **names))
    with written_whole(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    typer.echo(text, nl=False)


def _refuse(given: Mapping[str, Any], beside: str, hint: str = "") -> None:
    """A flag that would be ignored."""
    from chebnet2d._checks import InputError

    for name, value in given.items():
        raise InputError("study run", name, f"left out beside {beside}", value, hint)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
