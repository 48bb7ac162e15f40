"""precompute: the polynomial bases of a graph, on disk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also


@dataclass(frozen=True)
class SpecOptions:
    """Fields of a ``BasesSpec``."""

    degree: Annotated[int, typer.Option(help="Degree D: terms 0 to D are kept.")] = 10
    basis: Annotated[
        str, typer.Option(help="chebyshev, monomial, legendre, jacobi, bernstein or orthonormal."), Also("get_basis.name")
    ] = "chebyshev"
    operator: Annotated[str, typer.Option(help="L_hat, P or P~ (with self loops)."), Also("large_operator.kind")] = "L_hat"
    dtype: Annotated[str, typer.Option(help="Of the files: float32 or float16.")] = "float32"
    rows: Annotated[str, typer.Option(help="Nodes to keep: labelled or all.")] = "labelled"


@command("precompute", order=70, resumes="The same command goes on from what is done.")
def precompute(
    out: Annotated[Path, typer.Option(help="Folder for the bases.")],
    asked: SpecOptions,
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    transform: options.Transform = None,
    memory: Annotated[str | None, typer.Option(help="Limit, as 8GiB; default: half of what is free.")] = None,
    device: options.Device = "cpu",
    ray: options.Ray = None,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Compute the polynomial bases of a graph once, for training in mini batches. Run it again if it was interrupted.

    Example: chebnet2d precompute ogbn-arxiv --degree 10 --out arxiv-bases --memory 4GiB
    """
    import time
    from dataclasses import asdict

    from chebnet2d import bases
    from chebnet2d._checks import InputError
    from chebnet2d._sizes import show_bytes
    from chebnet2d._targets import check_folder
    from chebnet2d.cli.console import connected_to, print_json, say
    from chebnet2d.cli.progress import precompute_step, progress_bar
    from chebnet2d.data.any_graph import check_read, load_graph, way_of_reading
    from chebnet2d.preparation import Preparation

    spec = bases.BasesSpec(**asdict(asked))  # these are checked before the graph is read
    limit = None if memory is None else bases.parse_bytes(memory, "precompute")
    if ray is not None and device != "cpu":
        raise InputError("precompute", "device", "cpu beside --ray, whose nodes compute on their processors", device)
    check_folder("precompute", "out", out)
    reading = options.typed(graph)
    way = way_of_reading("precompute", limit, dataset, reading, chunks=ray is None and device == "cpu")
    data = load_graph(dataset, data_root, **reading, **way)
    preparation = Preparation.fit(data, transform or "none", reading)
    data = preparation.apply(data)
    start = time.perf_counter()
    bases.give_up_edges(data, asked.operator)
    check_read("precompute", limit)
    say(f"{data.name}: {data.num_nodes} nodes, {data.edge_index.nnz} entries, {data.num_features} features", quiet=json)
    with progress_bar(precompute_step, "TimeRemainingColumn", quiet=json, lines=True) as report, connected_to(ray):
        executor = options.executor_of(ray)
        made = bases.precompute(
            data,
            out=out,
            spec=spec,
            memory=memory,
            device=device,
            executor=executor,
            progress=report,
            beside=preparation.as_file(),
        )
    seconds = time.perf_counter() - start
    say(f"{made}: {show_bytes(made.nbytes)} in {out}, {seconds:.1f} s", quiet=json)
    if json:
        print_json({**asdict(made.manifest), "out": str(out), "bytes": made.nbytes, "seconds": round(seconds, 3)})
