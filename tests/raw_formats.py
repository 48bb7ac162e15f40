"""Small datasets in the raw formats of the real ones, written below a data root. Each returns what was written."""

import csv
import gzip
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse

NODES, FEATURES, CLASSES = 14, 6, 3


def small_graph(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = (rng.random((NODES, FEATURES)) < 0.4).astype(np.float32)
    edges = rng.integers(0, NODES, (2, 30))
    return {"x": x, "edges": edges, "y": np.arange(NODES) % CLASSES}


def masks(splits: int = 2) -> dict[str, np.ndarray]:
    part = np.stack([np.random.default_rng(s).permutation(NODES) for s in range(splits)]) % 4
    return {"train": part < 2, "val": part == 2, "test": part == 3}


def write_planetoid(root: Path, title: str = "Cora", missing: tuple[int, ...] = ()) -> dict[str, Any]:
    """Nodes 0..8 in ``allx``, the rest are test nodes in a random order; those in ``missing`` are in no file."""
    folder = root / "planetoid" / title / "raw"
    folder.mkdir(parents=True)
    graph = small_graph()
    name, first, labelled = title.lower(), 9, 4
    test = np.array([node for node in np.random.default_rng(1).permutation(np.arange(first, NODES)) if node not in missing])
    one_hot = np.eye(CLASSES, dtype=np.int32)[graph["y"]]
    neighbours: dict[int, list[int]] = {node: [] for node in range(NODES)}
    for source, target in graph["edges"].T.tolist():  # loops, repetitions and one direction only: as in the real files
        neighbours[source].append(target)
    parts = {
        "x": scipy.sparse.csr_matrix(graph["x"][:labelled]),
        "tx": scipy.sparse.csr_matrix(graph["x"][test]),
        "allx": scipy.sparse.csr_matrix(graph["x"][:first]),
        "y": one_hot[:labelled],
        "ty": one_hot[test],
        "ally": one_hot[:first],
        "graph": neighbours,
    }
    for part, value in parts.items():
        (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(value, protocol=2))
    (folder / f"ind.{name}.test.index").write_text("".join(f"{node}\n" for node in test))
    return {**graph, "folder": folder, "test": test}


def write_amazon(root: Path) -> dict[str, Any]:
    folder = root / "amazon" / "Photo" / "raw"
    folder.mkdir(parents=True)
    graph = small_graph()
    adjacency = scipy.sparse.csr_matrix((np.ones(30, np.float32), tuple(graph["edges"])), shape=(NODES, NODES))
    adjacency.sum_duplicates()
    x = scipy.sparse.csr_matrix(graph["x"])
    arrays = {f"adj_{part}": getattr(adjacency, part) for part in ("data", "indices", "indptr", "shape")}
    arrays |= {f"attr_{part}": getattr(x, part) for part in ("data", "indices", "indptr", "shape")}
    path = folder / "amazon_electronics_photo.npz"
    np.savez(path, **arrays, labels=graph["y"], class_names=np.array(["lens", "film", "flash"]))
    return {**graph, "folder": folder, "path": path}


def write_heterophilous(root: Path, name: str = "roman_empire") -> dict[str, Any]:
    folder = root / "heterophilous" / name / "raw"
    folder.mkdir(parents=True)
    graph = small_graph()
    table = masks()
    path = folder / f"{name}.npz"
    fixed = {f"{part}_masks": mask for part, mask in table.items()}
    np.savez(path, node_features=graph["x"], node_labels=graph["y"], edges=graph["edges"].T, **fixed)
    return {**graph, "folder": folder, "path": path, "masks": table}


def write_splits(path: Path, splits: int = 2) -> list[dict[str, np.ndarray]]:
    """As LINKX stores them: an object array of dictionaries, pickled inside an .npy file."""
    names = {"train": "train", "val": "valid", "test": "test"}
    made = [{names[part]: np.flatnonzero(mask[s]) for part, mask in masks(splits).items()} for s in range(splits)]
    np.save(path, np.array(made, dtype=object), allow_pickle=True)
    return made


def write_facebook100(root: Path, name: str = "penn94") -> dict[str, Any]:
    folder = root / "linkx" / name / "raw"
    folder.mkdir(parents=True)
    graph = small_graph()
    rng = np.random.default_rng(2)
    info = rng.integers(0, 4, (NODES, 7)).astype(np.uint16)
    info[:, 1] = np.arange(NODES) % 3  # 0 = unknown, 1, 2
    adjacency = scipy.sparse.csc_matrix((np.ones(30), tuple(graph["edges"])), shape=(NODES, NODES))
    path = folder / "data.mat"
    scipy.io.savemat(path, {"A": (adjacency + adjacency.T).astype(bool).astype(float), "local_info": info})
    splits = write_splits(folder / "fb100-Penn94-splits.npy")
    return {**graph, "folder": folder, "path": path, "info": info, "splits": splits}


def write_genius(root: Path) -> dict[str, Any]:
    folder = root / "linkx" / "genius" / "raw"
    folder.mkdir(parents=True)
    graph = small_graph()
    graph["y"] = graph["y"] % 2
    path = folder / "data.mat"
    content = {"edge_index": graph["edges"], "node_feat": graph["x"].astype(np.float64), "label": graph["y"][:, None]}
    scipy.io.savemat(path, content)
    return {**graph, "folder": folder, "path": path, "splits": write_splits(folder / "genius-splits.npy")}


TWITCH_COLUMNS = [
    "views",
    "mature",
    "life_time",
    "created_at",
    "updated_at",
    "numeric_id",
    "dead_account",
    "language",
    "affiliate",
]


def twitch_rows(nodes: int = NODES) -> list[list[Any]]:
    rng = np.random.default_rng(3)
    rows = []
    for node in rng.permutation(nodes):  # numeric_id is not the line number here
        dates = [f"20{rng.integers(10, 18)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}" for _ in range(2)]
        language = ["EN", "DE", "OTHER"][rng.integers(3)]
        numbers = [int(rng.integers(0, 10**9)), int(node % 2), int(rng.integers(1, 4000))]
        rows.append([*numbers, *dates, int(node), int(rng.integers(2)), language, int(rng.integers(2))])
    return rows


def write_csv(path: Path, header: list[str], rows: Any) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)


def write_twitch(root: Path) -> dict[str, Any]:
    folder = root / "twitch-gamers" / "raw"
    folder.mkdir(parents=True)
    graph = small_graph()
    rows = twitch_rows()
    write_csv(folder / "large_twitch_features.csv", TWITCH_COLUMNS, rows)
    write_csv(folder / "large_twitch_edges.csv", ["numeric_id_1", "numeric_id_2"], graph["edges"].T.tolist())
    splits = write_splits(folder / "twitch-gamer-splits.npy")
    return {"edges": graph["edges"], "rows": rows, "folder": folder, "splits": splits}


def write_gz(path: Path, rows: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as stream:
        stream.writelines(",".join(str(value) for value in np.atleast_1d(row)) + "\n" for row in rows)


def write_ogb(root: Path, name: str = "ogbn_arxiv", kind: str = "time") -> dict[str, Any]:
    folder = root / "ogb" / name
    graph = small_graph()
    graph["x"] = np.random.default_rng(4).standard_normal((NODES, FEATURES)).astype(np.float32)
    write_gz(folder / "raw" / "edge.csv.gz", graph["edges"].T)
    write_gz(folder / "raw" / "node-feat.csv.gz", graph["x"].astype(np.float64))
    write_gz(folder / "raw" / "node-label.csv.gz", graph["y"])
    parts = {part: np.flatnonzero(mask[0]) for part, mask in masks().items()}
    for part, file in (("train", "train"), ("val", "valid"), ("test", "test")):
        write_gz(folder / "split" / kind / f"{file}.csv.gz", parts[part])
    return {**graph, "folder": folder, "parts": parts}


def zipped(folder: Path, target: Path, prefix: str) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{prefix}{path.relative_to(folder).as_posix()}")
    return target
