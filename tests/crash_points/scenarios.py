"""The work that is killed: everything that leaves files behind for another day. Each is the same call, again and again."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet
import torch

import chebnet2d
from chebnet2d.auto import NodePredictor
from chebnet2d.bases import Bases, extend, precompute
from chebnet2d.data import fetching
from chebnet2d.data.catalogue import find_entry
from chebnet2d.data.generated import generate, generated_facts
from chebnet2d.data.loading import files_of as raw_files_of
from chebnet2d.data.own_graph import read_graph, write_graph
from chebnet2d.models import FilterFirst, on_bases, read_facts
from chebnet2d.predictions import Answers, bases_for, write_predictions
from chebnet2d.recipes import Recipe
from chebnet2d.recipes.files import read_recipes, write_recipe
from chebnet2d.study import Store, export_rows, run_study
from chebnet2d.training import Checkpoint, fit, stored_split
from cli_runner import run
from kills import Work, files_of, same_files
from raw_formats import write_heterophilous
from small_study import PRESET, small


def _nothing(_: Path) -> None:
    pass


@dataclass(frozen=True)
class Scenario:
    """See ``kills.kill_everywhere``. By default the files must be those of the work without a kill, byte by byte."""

    work: Work
    prepare: Work = _nothing
    after_kill: Work = _nothing
    check: Work | None = None


SCENARIOS: dict[str, Callable[[Path], Scenario]] = {}
"""By name; called with a folder for what they need besides, and for the result of undisturbed work."""


def scenario(make: Callable[[Path], Scenario]) -> Callable[[Path], Scenario]:
    SCENARIOS[make.__name__.replace("_", "-")] = make
    return make


def _graph() -> object:
    return chebnet2d.data.load("csbm", nodes=120, features=5, degree=4, seed=1)


def _model(seed: int) -> chebnet2d.ChebNet2D:
    torch.manual_seed(seed)
    return chebnet2d.ChebNet2D(5, 3, degree=2, hidden_channels=4)


@scenario
def save(_: Path) -> Scenario:
    return Scenario(lambda folder: chebnet2d.save(_model(0), folder / "model", facts={"seed": 0}))


@scenario
def save_over_another_model(_: Path) -> Scenario:
    def old_or_new(folder: Path) -> None:
        seed = read_facts(folder / "model")["seed"]
        found, expected = chebnet2d.load(folder / "model").state_dict(), _model(seed).state_dict()
        assert all(torch.equal(found[name], expected[name]) for name in expected), "the model of its own facts"

    def new(folder: Path) -> None:
        old_or_new(folder)
        assert read_facts(folder / "model") == {"seed": 1}
        left = {path.name for path in (folder / "model").iterdir()}
        assert left == {"model.safetensors", "config.json", "README.md"}, "nothing that was being written is left"

    return Scenario(
        work=lambda folder: chebnet2d.save(_model(1), folder / "model", facts={"seed": 1}),
        prepare=lambda folder: chebnet2d.save(_model(0), folder / "model", facts={"seed": 0}),
        after_kill=old_or_new,
        check=new,
    )


def _precompute(folder: Path, block: int = 2) -> None:
    precompute(_graph(), out=folder / "bases", degree=2, block=block, rows="all", beside={"preparation.json": "{}"})


def _whole_if_it_says_so(folder: Path) -> None:
    if (folder / "bases" / "manifest.json").is_file():
        Bases.open(folder / "bases").read(torch.arange(120))
        assert (folder / "bases" / "preparation.json").is_file()


@scenario
def precompute_bases(_: Path) -> Scenario:
    return Scenario(_precompute, after_kill=_whole_if_it_says_so)


@scenario
def precompute_in_narrower_blocks(_: Path) -> Scenario:
    """An interrupted call with wider blocks has left a plan and a block."""

    def prepare(folder: Path) -> None:
        _precompute(folder, block=3)
        (folder / "bases" / "block-0001.npy").unlink()
        (folder / "bases" / "manifest.json").rename(folder / "bases" / "plan.json")

    return Scenario(_precompute, prepare, _whole_if_it_says_so)


@scenario
def precompute_over_damaged_files(_: Path) -> Scenario:
    """Finished bases, of which something else has cut two files: they are made again."""

    def prepare(folder: Path) -> None:
        _precompute(folder)
        for name in ("rows.npy", "block-0001.npy"):
            path = folder / "bases" / name
            path.write_bytes(path.read_bytes()[:100])

    return Scenario(_precompute, prepare)


def _chain(nodes: int) -> object:
    """A path of nodes, so that a change at its end reaches few of them."""
    data = chebnet2d.data.load("csbm", nodes=nodes, features=5, degree=4, seed=1)
    data.x, ends = torch.arange(5.0 * nodes).sin().view(nodes, 5), torch.arange(nodes)
    data.edge_index = torch.cat([torch.stack([ends[1:], ends[:-1]]), torch.stack([ends[:-1], ends[1:]])], dim=1)
    return data


@scenario
def extend_bases(aside: Path) -> Scenario:
    known = precompute(_chain(120), out=aside / "known", degree=2, rows="all")

    def work(folder: Path) -> None:
        assert extend(known, _chain(123), out=folder / "bases", block=2).anew is None

    def whole(folder: Path) -> None:
        if (folder / "bases" / "manifest.json").is_file():
            Bases.open(folder / "bases").read(torch.arange(123))

    return Scenario(work, after_kill=whole)


def _generate(seed: int) -> Work:
    return lambda folder: generate("penn94", folder, scale=1e-6, seed=seed)


def _not_the_dataset(folder: Path) -> None:
    entry = find_entry("penn94")
    assert raw_files_of(entry, folder) is None or generated_facts(entry, folder) is not None, "it passes as the real dataset"


def _same_graph(reference: Path) -> Work:
    """A .mat file holds the time of its making in its first 128 bytes."""
    expected = files_of(reference)

    def check(folder: Path) -> None:
        found = files_of(folder)
        assert {name: content[128:] for name, content in found.items()} == {n: content[128:] for n, content in expected.items()}

    return check


@scenario
def generate_a_graph(aside: Path) -> Scenario:
    _generate(1)(aside)
    return Scenario(_generate(1), after_kill=_not_the_dataset, check=_same_graph(aside))


@scenario
def generate_over_another_graph(aside: Path) -> Scenario:
    _generate(1)(aside)
    return Scenario(_generate(1), _generate(0), _not_the_dataset, _same_graph(aside))


@scenario
def fetch_over_a_generated_graph(aside: Path) -> Scenario:
    """The transfer itself is a copy here; what is tried is how its files get to their place."""
    written = write_heterophilous(aside)
    path, name = written["path"], "roman-empire"
    entry = find_entry(name)
    kept = path.parent / "generated.json"

    def work(folder: Path) -> None:
        def copied(_url: str, target: Path, _progress: object = None) -> Path:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target.with_suffix(".part"))
            return target.with_suffix(".part").rename(target)

        fetching.download = copied  # type: ignore[assignment]
        fetching.compare = lambda *_: type("Same", (), {"mismatches": ()})  # type: ignore[assignment,misc]
        fetching.check = lambda *_: type("Same", (), {"ok": True})  # type: ignore[assignment]
        fetching.fetch(name, folder, force=generated_facts(entry, folder) is not None)

    def prepare(folder: Path) -> None:
        target = folder / entry.folder
        target.mkdir(parents=True)
        (target / kept.name).write_text("{}")
        (target / entry.files[0]).write_bytes(b"a generated graph")
        (target / "splits.npy").write_bytes(b"of it")

    def not_a_mixture(folder: Path) -> None:
        file = folder / entry.folder / entry.files[0]
        marked = generated_facts(entry, folder) is not None
        assert not file.is_file() or marked == (file.read_bytes() == b"a generated graph"), "a generated graph without its note"

    def check(folder: Path) -> None:
        same_files(folder / entry.folder, {entry.files[0]: path.read_bytes()})
        assert not list((folder / entry.folder).parent.glob(".*")), "nothing is left beside it"

    return Scenario(work, prepare, not_a_mixture, check)


@scenario
def write_a_graph(_: Path) -> Scenario:
    def readable(folder: Path) -> None:
        if (folder / "graph.safetensors").is_file():
            assert read_graph(folder / "graph.safetensors").num_nodes == 120

    return Scenario(lambda folder: write_graph(_graph(), folder / "graph.safetensors"), after_kill=readable)


@scenario
def write_a_preset(_: Path) -> Scenario:
    def readable(folder: Path) -> None:
        if (folder / "preset.toml").is_file():
            read_recipes(folder / "preset.toml", "chebnet2d")

    return Scenario(lambda folder: write_recipe(folder / "preset.toml", Recipe("chebnet2d", dataset="cora")), after_kill=readable)


@scenario
def predict(_: Path) -> Scenario:
    return Scenario(lambda folder: write_predictions(Answers(_model(0), _graph()), folder / "predictions.csv"))


@scenario
def predict_from_bases(_: Path) -> Scenario:
    """Bases of the graph beside the output, then Parquet batch by batch; nothing but the output is left."""

    def work(folder: Path) -> None:
        torch.manual_seed(0)
        model, data, out = FilterFirst("chebnetii", 5, 3, hidden_channels=4, degree=2), _graph(), folder / "predictions.parquet"
        beside = folder / ".predictions.parquet.bases"
        with bases_for(model, data, known=folder / "none", out=beside) as bases:
            write_predictions(Answers(model, data, bases=bases), out)

    def whole(folder: Path) -> None:
        if (folder / "predictions.parquet").is_file():
            assert pyarrow.parquet.read_table(folder / "predictions.parquet").num_rows == 120

    return Scenario(work, after_kill=whole)


@scenario
def train_with_checkpoints(aside: Path) -> Scenario:
    """One after every epoch; the model is saved before the last one goes."""
    bases = precompute(_graph(), out=aside / "bases", degree=2)

    def work(folder: Path) -> None:
        checkpoint = Checkpoint(folder / "training.safetensors", seconds=0)
        model = on_bases("chebnetii", bases, hidden_channels=4)
        fit(model, bases, stored_split(bases, "uniform"), batches=40, epochs=4, checkpoint=checkpoint)
        chebnet2d.save(model, folder / "model")
        checkpoint.remove()

    return Scenario(work)


def _study(folder: Path) -> None:
    preset = folder / "preset.toml"
    if not preset.is_file():
        preset.write_text(PRESET)
    protocol = small(str(preset), datasets=("csbm",), splits=2, inits=1, epochs=2)
    run_study(protocol, folder / "study.sqlite")


def _numbers(path: Path) -> list[tuple[object, ...]]:
    """What a run is and what it gave, without times and memory."""
    with Store(path, create=False) as store:
        return sorted((row["run_id"], row["seed"], row["val_metric"], str(row["test"])) for row in store.rows())


@scenario
def store_of_a_study(aside: Path) -> Scenario:
    _study(aside)
    expected = _numbers(aside / "study.sqlite")

    def check(folder: Path) -> None:
        assert _numbers(folder / "study.sqlite") == expected

    return Scenario(_study, lambda folder: (folder / "preset.toml").write_text(PRESET), check=check)


@scenario
def export_a_study(aside: Path) -> Scenario:
    _study(aside)
    export_rows(aside / "study.sqlite", aside / "rows.json")
    expected = (aside / "rows.json").read_bytes()
    return Scenario(
        work=lambda folder: export_rows(folder / "study.sqlite", folder / "rows.json"),
        prepare=lambda folder: shutil.copy(aside / "study.sqlite", folder / "study.sqlite"),
        check=lambda folder: same_files(
            folder, {"rows.json": expected}, ignore=[f"study.sqlite{end}" for end in ("", "-wal", "-shm")]
        ),
    )


def _auto(graph: Path, metric: str) -> Work:
    """The command, from the tables of a graph to the predictor; its folder of work is made, and deleted at the end."""
    flags = ("--methods", "majority", "--folds", 2, "--budget", 2, "--metric", metric)
    return lambda folder: run("auto", graph, *flags, "--save", folder / "predictor")


def _tables(folder: Path) -> Path:
    (folder / "edges.csv").write_text("".join(f"n{i},n{(i + 1) % 12}\n" for i in range(12)))
    (folder / "nodes.csv").write_text("id,a,label\n" + "".join(f"n{i},{i % 5},{'xy'[i % 2]}\n" for i in range(12)))
    return folder


def _found(folder: Path) -> object:
    """All that a predictor says and predicts, without times."""
    facts = dict(NodePredictor.load(folder / "predictor").facts)
    rows = [{name: value for name, value in row.items() if name != "seconds"} for row in facts.pop("leaderboard")]
    del facts["seconds"]
    return [rows, facts, files_of(folder / "predictor", ignore=("predictor.json",))]


@scenario
def auto(aside: Path) -> Scenario:
    """Over the predictor of another call. There may be none for a moment; half of one is never there."""
    graph = _tables(aside)
    for metric in ("accuracy", "f1_macro"):
        _auto(graph, metric)(aside / metric)  # in this process, so that those that are forked find everything imported
    expected = {metric: _found(aside / metric) for metric in ("accuracy", "f1_macro")}

    def whole_or_not_there(folder: Path) -> None:
        assert not (folder / "predictor").exists() or _found(folder) in expected.values()

    def check(folder: Path) -> None:
        assert _found(folder) == expected["accuracy"]
        assert [path.name for path in folder.iterdir()] == ["predictor"], "nothing is left of the work"

    def prepare(folder: Path) -> None:
        shutil.copytree(aside / "f1_macro" / "predictor", folder / "predictor")

    return Scenario(_auto(graph, "accuracy"), prepare, whole_or_not_there, check)


@scenario
def report(aside: Path) -> Scenario:
    """Over the page of another model."""
    for seed in (0, 1):
        chebnet2d.save(_model(seed), aside / str(seed), facts={"seed": seed})
        run("report", aside / str(seed), "--out", aside / f"{seed}.html")
    pages = [(aside / f"{seed}.html").read_bytes() for seed in (0, 1)]

    def old_or_new(folder: Path) -> None:
        assert (folder / "page.html").read_bytes() in pages

    return Scenario(
        work=lambda folder: run("report", aside / "1", "--out", folder / "page.html"),
        prepare=lambda folder: shutil.copy(aside / "0.html", folder / "page.html"),
        after_kill=old_or_new,
        check=lambda folder: same_files(folder, {"page.html": pages[1]}),
    )
