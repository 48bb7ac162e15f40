"""What a reader of the pages has: graphs of their own, a method, a preset, the repository's results, and datasets."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
from pyarrow.csv import read_csv, write_csv

from chebnet2d.data import generate
from messy_tables import messy_graph
from page_pieces import ROOT

MISSING = ("ogbn-arxiv", "penn94", "genius")
"""Large datasets that pages name: graphs of that kind are generated in their place, a hundredth of the size."""
METHOD = """
from chebnet2d.models import ChebNet2D

class MyModel(ChebNet2D):
    pass
"""
PRESET = '[default]\norigin = "found"\nmodel = { hidden_channels = 8 }\nsettings = { lr = 0.05 }\n'


def write_readers_files(folder: Path, data_root: Path | None) -> None:
    """``data_root`` is where the real datasets are; what is missing there is found below ``folder / "data"``."""
    messy_graph(folder / "my-graph")
    messy_graph(folder / "next-month", nodes=260, later=True)
    _single_files(folder)
    (folder / "my_file.py").write_text(METHOD, encoding="utf-8")
    (folder / "found.toml").write_text(PRESET, encoding="utf-8")
    results = [path for path in (ROOT / "results").iterdir() if path.suffix in (".toml", ".parquet")]
    (folder / "results").mkdir()
    for path in results:
        shutil.copy(path, folder / "results")
    shutil.copy(ROOT / "Makefile", folder)
    _data(folder / "data", data_root)


def _single_files(folder: Path) -> None:
    """The same graph in ``E.csv``, ``X.parquet`` and ``y.csv``; ``edges.csv`` is one without features."""
    for name in ("E.csv", "edges.csv"):
        shutil.copy(folder / "my-graph" / "edges.csv", folder / name)
    nodes = read_csv(folder / "my-graph" / "nodes.csv")
    pq.write_table(nodes.drop_columns("label"), folder / "X.parquet")
    write_csv(nodes.select(["person_id", "label"]), folder / "y.csv")


def _data(folder: Path, data_root: Path | None) -> None:
    folder.mkdir()
    for path in () if data_root is None else data_root.iterdir():
        if path.is_dir():
            (folder / path.name).mkdir()
            for dataset in path.iterdir():
                (folder / path.name / dataset.name).symlink_to(dataset)
    for name in MISSING:
        generate(name, folder, scale=0.01)
