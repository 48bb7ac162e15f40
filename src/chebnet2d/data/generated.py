"""Graphs of the size of the large datasets, written in the raw format of the original: everything can be tried at size.

Nodes, edges, features and classes are those of the catalogue, and the part of edges within classes is that of the original. The
rest is a model, not the data: accuracies on a generated graph say nothing about the original. Everything is drawn by numpy, in
chunks.
"""

import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse

from chebnet2d._checks import InputError, integer, one_of, real
from chebnet2d.data.catalogue import find
from chebnet2d.data.dataset import sorted_unique
from chebnet2d.data.entry import Entry, Statistics
from chebnet2d.data.folders import data_root

MODELS = ("power-law", "csbm")
MARKER = "generated.json"
GENERATED = " (generated)"  # after the name of the dataset, wherever it is printed
_CHUNK = 1 << 22  # edges drawn, or numbers written, together
_EXPONENT = 0.7  # weight of the node at rank r of its class: (r + shift)^-0.7, degrees with a tail of exponent 1 + 1 / 0.7
_SHIFT = 2e-4  # of the class: bounds the largest degree, at about a hundred times the average
_FACEBOOK = (6, 44, 60, 60, 50)  # values of status, major, minor, dormitory and year; all others are schools
Report = Callable[[str], None]


@dataclass(frozen=True)
class Shape:
    """What a generated graph has in common with the original. ``parts``: train, validation and test nodes; or shares."""

    like: str
    nodes: int
    edges: int
    features: int
    classes: int
    homophily: float
    unlabelled: float
    balance: tuple[float, ...]
    parts: tuple[float, float, float]
    splits: int


_SHAPES: dict[str, dict[str, Any]] = {
    # Homophily of the originals: Lim et al. 2021 for the last three, counted by others for the first two.
    "ogbn-arxiv": {"homophily": 0.655, "parts": (90941, 29799, 48603), "splits": 1},
    "ogbn-products": {"homophily": 0.808, "parts": (196615, 39323, 2213091), "splits": 1},
    "penn94": {"homophily": 0.470, "unlabelled": 0.066, "parts": (0.5, 0.25, 0.25), "splits": 5},
    "genius": {"homophily": 0.618, "balance": (0.8, 0.2), "parts": (0.5, 0.25, 0.25), "splits": 5},
    "twitch-gamers": {"homophily": 0.545, "parts": (0.5, 0.25, 0.25), "splits": 5},
}
LIKE = tuple(_SHAPES)


def shape_of(like: str, scale: float = 1.0) -> Shape:
    """The shape of the original, or of a graph with that part of its nodes and edges."""
    entry = find(like, "generate")
    one_of("generate", "like", entry.name, LIKE)
    scale = real("generate", "scale", scale, 1e-6, 1.0)
    given = _SHAPES[entry.name]
    known = entry.statistics
    assert known.nodes is not None
    assert known.edges is not None
    assert known.features is not None
    assert known.classes is not None
    full = tuple(float(part) for part in given["parts"])
    shape = Shape(
        like=entry.name,
        nodes=known.nodes,
        edges=known.edges,
        features=known.features,
        classes=known.classes,
        homophily=given["homophily"],
        unlabelled=given.get("unlabelled", 0.0),
        balance=given.get("balance", (1 / known.classes,) * known.classes),
        parts=(full[0] / sum(full), full[1] / sum(full), full[2] / sum(full)),
        splits=given["splits"],
    )
    if scale == 1:
        return shape
    nodes = max(8 * known.classes, round(scale * known.nodes))
    features = min(known.features, nodes) if entry.format == "facebook100" else known.features
    return replace(shape, nodes=nodes, edges=max(nodes, round(scale * known.edges)), features=features)


def generate(
    like: str,
    root: str | Path | None = None,
    *,
    scale: float = 1.0,
    model: str = "power-law",
    seed: int = 0,
    progress: Report | None = None,
) -> Path:
    """Write a graph like a large dataset below ``root``, from where ``load(like, root)`` reads it.

    Args:
        like: "ogbn-arxiv", "ogbn-products", "penn94", "genius" or "twitch-gamers".
        scale: part of the nodes and edges, for trials.
        model: "power-law" (degrees with a heavy tail) or "csbm" (all nodes of a class alike).
        progress: called with what is being done.

    The folder of a real dataset is never touched; a generated one is replaced. It holds a file ``generated.json`` that says so.
    """
    shape = shape_of(like, scale)
    one_of("generate", "model", model, MODELS)
    integer("generate", "seed", seed, 0)
    entry = find(like, "generate")
    folder = data_root(root) / entry.folder
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise InputError(
            "generate",
            str(folder),
            "hold other files",
            got="some, perhaps the real dataset",
            hint="Name another root.",
            verb="not",
        )
    say = progress or (lambda _: None)
    rng = np.random.default_rng(seed)
    say("drawing labels and edges")
    y = _labels(rng, shape)
    keys = _edges(rng, shape, y, _EXPONENT if model == "power-law" else 0.0)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = folder.parent / f".{folder.name}.{uuid.uuid4().hex[:8]}.tmp"
    try:
        temporary.mkdir()
        _WRITERS[entry.format](temporary, entry, shape, y, keys, rng, say)
        facts = {**asdict(shape), "scale": scale, "model": model, "seed": seed}
        (temporary / MARKER).write_text(json.dumps(facts, indent=1), encoding="utf-8")
        if folder.is_dir():
            shutil.rmtree(folder)
        temporary.replace(folder)
    except OSError as error:
        raise InputError("generate", str(folder), "writable", reason=str(error.strerror or error)) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def generated_facts(entry: Entry, root: Path) -> dict[str, Any] | None:
    """What ``generate`` noted about the graph below the root; None where a dataset is real, or not there."""
    marker = root / entry.folder / MARKER
    if not marker.is_file():
        return None
    try:
        facts = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a broken note is still one: the graph is not the dataset
    return facts if isinstance(facts, dict) else {}


def generated_statistics(name: str, root: str | Path | None = None) -> Statistics | None:
    """Counts of the generated graph below the root; None where a dataset is real, or not there."""
    facts = generated_facts(find(name), data_root(root))
    if facts is None:
        return None
    return Statistics(**{count: facts.get(count) for count in ("nodes", "edges", "features", "classes")})


# ---- the graph -------------------------------------------------------------------------------------------------------


def _labels(rng: np.random.Generator, shape: Shape) -> Any:
    """Exact shares of the classes, in random order. Every node has a class, known or not."""
    borders = np.round(np.cumsum(shape.balance) * shape.nodes).astype(np.int64)
    y = np.searchsorted(borders, np.arange(shape.nodes), side="right")
    return rng.permutation(np.minimum(y, shape.classes - 1))


def _edges(rng: np.random.Generator, shape: Shape, y: Any, exponent: float) -> Any:
    """Sorted keys u N + v, u < v, of exactly the wanted number of different edges, within classes and between them."""
    within = round(shape.homophily * shape.edges)
    order = np.argsort(y, kind="stable")  # random inside a class, since y was permuted
    sizes = np.bincount(y, minlength=shape.classes)
    parts = [
        _different(rng, shape, within, lambda count: _pairs(rng, order, sizes, count, exponent, same=True)),
        _different(rng, shape, shape.edges - within, lambda count: _pairs(rng, order, sizes, count, exponent, same=False)),
    ]
    keys = np.concatenate(parts)
    keys.sort()
    return keys


def _different(rng: np.random.Generator, shape: Shape, wanted: int, draw: Callable[[int], tuple[Any, Any]]) -> Any:
    keys = np.empty(0, dtype=np.int64)
    for _ in range(200):
        missing = wanted - keys.size
        if missing <= 0:
            break
        fresh = []
        target = int(1.15 * missing) + 64
        while target > 0:
            u, v = draw(min(target, _CHUNK))
            fresh.append(np.minimum(u, v) * shape.nodes + np.maximum(u, v))
            target -= min(target, _CHUNK)
        keys = sorted_unique(np.concatenate([keys, *fresh]))
    if keys.size < wanted:
        raise InputError("generate", "the graph", f"room for {wanted} different edges of a kind", got=str(keys.size), verb="have")
    if keys.size > wanted:  # the surplus goes at random
        drop = rng.choice(keys.size, keys.size - wanted, replace=False)
        keys = np.delete(keys, drop)
    return keys


def _pairs(rng: np.random.Generator, order: Any, sizes: Any, count: int, exponent: float, *, same: bool) -> tuple[Any, Any]:
    """About ``count`` pairs of different nodes of one class, or of two."""
    total = np.cumsum(sizes)
    first = np.searchsorted(total, rng.integers(0, total[-1], count), side="right")
    second = first if same else np.searchsorted(total, rng.integers(0, total[-1], count), side="right")
    if not same:
        kept = first != second
        first, second = first[kept], second[kept]
    start = total - sizes
    u = order[start[first] + _ranks(rng, sizes[first], exponent)]
    v = order[start[second] + _ranks(rng, sizes[second], exponent)]
    kept = u != v
    return u[kept], v[kept]


def _ranks(rng: np.random.Generator, sizes: Any, exponent: float) -> Any:
    """A rank below each size, with density ~ (rank + shift)^-exponent: the distribution function is inverted in closed form."""
    uniform = rng.random(sizes.size)
    if exponent == 0:
        drawn = uniform * sizes
    else:
        shift = _SHIFT * sizes + 1
        power = 1 - exponent
        low, high = shift**power, (sizes + shift) ** power
        drawn = (low + uniform * (high - low)) ** (1 / power) - shift
    return np.minimum(drawn.astype(np.int64), sizes - 1)


# ---- the rest of a dataset -------------------------------------------------------------------------------------------


def _dense_features(rng: np.random.Generator, shape: Shape, y: Any) -> Iterator[Any]:
    """Chunks of rows: a unit vector of the class plus noise, with four decimals (what text files are for)."""
    means = rng.standard_normal((shape.classes, shape.features)).astype(np.float32)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    step = max(1, _CHUNK // shape.features)
    for start in range(0, shape.nodes, step):
        labels = y[start : start + step]
        x = rng.standard_normal((labels.size, shape.features), dtype=np.float32)
        x *= np.float32(0.5)
        x += means[labels]
        yield np.round(x, 4)


def _split_indices(rng: np.random.Generator, shape: Shape, known: Any) -> dict[str, Any]:
    order = rng.permutation(known)
    first = round(shape.parts[0] * known.size)
    second = first + round(shape.parts[1] * known.size)
    return {"train": np.sort(order[:first]), "valid": np.sort(order[first:second]), "test": np.sort(order[second:])}


def _write_ogb(folder: Path, entry: Entry, shape: Shape, y: Any, keys: Any, rng: np.random.Generator, say: Report) -> None:
    say("writing edges")
    _write_csv(folder / "raw" / "edge.csv.gz", _edge_columns(keys, shape.nodes))
    say("writing features")
    _write_csv(
        folder / "raw" / "node-feat.csv.gz",
        ({f"f{c}": x[:, c] for c in range(x.shape[1])} for x in _dense_features(rng, shape, y)),
    )
    _write_csv(folder / "raw" / "node-label.csv.gz", [{"y": y}])
    kind = Path(next(file for file in entry.files if file.startswith("split/"))).parent.name
    for part, index in _split_indices(rng, shape, np.arange(shape.nodes)).items():
        _write_csv(folder / "split" / kind / f"{part}.csv.gz", [{"node": index}])


def _write_twitch(folder: Path, _entry: Entry, shape: Shape, y: Any, keys: Any, rng: np.random.Generator, say: Report) -> None:
    say("writing edges")
    _write_csv(folder / "large_twitch_edges.csv", _edge_columns(keys, shape.nodes, ("numeric_id_1", "numeric_id_2")), header=True)
    say("writing features")
    nodes = shape.nodes
    languages = np.array(["EN", "DE", "FR", "ES", "RU", "ZH", "OTHER"])
    created = np.datetime64("2007-05-22") + rng.integers(0, 4000, nodes).astype("timedelta64[D]")
    updated = np.maximum(created, np.datetime64("2018-10-12") - rng.geometric(0.01, nodes).astype("timedelta64[D]"))
    columns = {
        "views": (10 ** rng.normal(3.7 + 0.3 * y, 0.9)).astype(np.int64),
        "mature": y.astype(np.int64),
        "life_time": (updated - created).astype(np.int64),
        "created_at": created.astype(str),
        "updated_at": updated.astype(str),
        "numeric_id": np.arange(nodes),
        "dead_account": (rng.random(nodes) < 0.03).astype(np.int64),
        "language": languages[np.minimum(rng.geometric(0.6 - 0.2 * y), 7) - 1],
        "affiliate": (rng.random(nodes) < 0.4 + 0.15 * y).astype(np.int64),
    }
    _write_csv(folder / "large_twitch_features.csv", [columns], header=True)
    _write_splits(folder / "twitch-gamer-splits.npy", rng, shape, np.arange(nodes))


def _write_genius(folder: Path, _entry: Entry, shape: Shape, y: Any, keys: Any, rng: np.random.Generator, say: Report) -> None:
    say("writing edges and features")
    edges = np.stack([keys // shape.nodes, keys % shape.nodes])
    x = np.concatenate(list(_dense_features(rng, shape, y)))
    content = {"edge_index": edges, "node_feat": x.astype(np.float64), "label": y[:, None]}
    scipy.io.savemat(folder / "data.mat", content, do_compression=True)
    _write_splits(folder / "genius-splits.npy", rng, shape, np.arange(shape.nodes))


def _write_facebook(folder: Path, entry: Entry, shape: Shape, y: Any, keys: Any, rng: np.random.Generator, say: Report) -> None:
    """Six columns about each person, with as many different values in all as there are features."""
    say("writing edges and features")
    nodes = shape.nodes
    small = [min(size, max(2, shape.features // 20)) for size in _FACEBOOK]
    counts = [*small, shape.features - sum(small)]
    info = np.zeros((nodes, 7), dtype=np.uint16)
    for column, count in zip((0, 2, 3, 4, 5, 6), counts, strict=True):
        # Values have unequal shares, which depend on the class a little; each occurs at least once.
        rank = np.minimum((rng.random(nodes) ** (1.5 + 0.5 * y) * count).astype(np.int64), count - 1)
        rank[rng.permutation(nodes)[:count]] = np.arange(count)
        info[:, column] = rank
    hidden = rng.random(nodes) < shape.unlabelled
    info[:, 1] = np.where(hidden, 0, y + 1)
    u, v = keys // nodes, keys % nodes
    ones = np.ones(2 * keys.size)
    adjacency = scipy.sparse.csc_matrix((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=(nodes, nodes))
    scipy.io.savemat(folder / "data.mat", {"A": adjacency, "local_info": info}, do_compression=True)
    _write_splits(folder / entry.optional[0], rng, shape, np.flatnonzero(~hidden))


_WRITERS: dict[str, Callable[..., None]] = {
    "ogb": _write_ogb,
    "twitch-gamers": _write_twitch,
    "genius": _write_genius,
    "facebook100": _write_facebook,
}


def _write_splits(path: Path, rng: np.random.Generator, shape: Shape, known: Any) -> None:
    """The format of LINKX: an array of dictionaries, which numpy writes as a pickle. It is only read by ``unpickler``."""
    splits = [_split_indices(rng, shape, known) for _ in range(shape.splits)]
    np.save(path, np.array(splits, dtype=object), allow_pickle=True)


def _edge_columns(keys: Any, nodes: int, names: tuple[str, str] = ("u", "v")) -> Iterator[dict[str, Any]]:
    for start in range(0, keys.size, _CHUNK):
        part = keys[start : start + _CHUNK]
        yield {names[0]: part // nodes, names[1]: part % nodes}


def _write_csv(path: Path, chunks: Any, *, header: bool = False) -> None:
    """Columns by chunks, through pyarrow; compressed if the name says so."""
    import pyarrow as pa
    from pyarrow import csv

    path.parent.mkdir(parents=True, exist_ok=True)
    options = csv.WriteOptions(include_header=header, quoting_style="none")
    with path.open("wb") as raw:
        stream: Any = raw
        if path.suffix == ".gz":
            import gzip

            stream = gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=1, mtime=0)
        writer: Any = None
        for columns in chunks:
            table = pa.table({name: pa.array(values) for name, values in columns.items()})
            if writer is None:
                writer = csv.CSVWriter(stream, table.schema, write_options=options)
            writer.write_table(table)
        if writer is not None:
            writer.close()
        if stream is not raw:
            stream.close()
