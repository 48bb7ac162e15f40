"""Which files of a folder make a graph, and which words name a graph on disk at all."""

from pathlib import Path

from chebnet2d._checks import InputError

TABLES = (".csv", ".tsv", ".parquet")
EDGES = tuple(f"edges{suffix}" for suffix in TABLES)
FEATURES = tuple(f"{stem}{suffix}" for stem in ("features", "nodes") for suffix in (*TABLES, ".npy", ".npz"))
LABELS = tuple(f"labels{suffix}" for suffix in TABLES)
WHOLE = (".npz", ".safetensors", ".graphml")
_FOREIGN = (".pt", ".pth", ".pkl", ".pickle", ".gml", ".gexf", ".json", ".mat", ".txt")


def find_file(folder: Path, names: tuple[str, ...]) -> Path | None:
    """The one file of that purpose. Two of them are an error, because it is not known which one is up to date."""
    found = [folder / name for name in names if (folder / name).is_file()]
    if len(found) > 1:
        listed = " and ".join(path.name for path in found)
        raise InputError(str(folder), "one file of its kind", "there", got=listed, hint="Remove one, or name the one to use.")
    return found[0] if found else None


def is_graph_path(text: str) -> bool:
    """Whether a word on the command line means a graph on disk, and not a dataset by its name.

    A path has a separator (``./cora``, ``cora/``), the suffix of a file, or is a folder with an edges file. Nothing is read.

    >>> is_graph_path("cora"), is_graph_path("my-graph/"), is_graph_path("graph.npz"), is_graph_path("ogbn-arxiv")
    (False, True, True, False)
    """
    if not text:
        return False
    if "/" in text or "\\" in text or text.startswith(("~", ".")):
        return True
    path = Path(text)
    if path.suffix.lower() in (*TABLES, *WHOLE, *_FOREIGN, ".pq"):
        return True
    return path.is_dir() and any((path / name).is_file() for name in EDGES)
