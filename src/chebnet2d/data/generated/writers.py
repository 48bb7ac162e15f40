"""Features, labels and splits of a generated graph, written in the raw format of the original."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse

from chebnet2d.data.catalogue import Entry
from chebnet2d.data.generated.graph_model import CHUNK
from chebnet2d.data.generated.shapes import GraphShape

Say = Callable[[str], None]
_FACEBOOK = (6, 44, 60, 60, 50)  # values of status, major, minor, dormitory and year; all others are schools


@dataclass(frozen=True)
class Drawing:
    """The graph so far: classes ``y`` and sorted edge keys u N + v. ``rng`` goes on with features and splits."""

    entry: Entry
    shape: GraphShape
    y: Any
    keys: Any
    rng: np.random.Generator


def _dense_features(rng: np.random.Generator, shape: GraphShape, y: Any) -> Iterator[Any]:
    """Chunks of rows: a unit vector of the class plus noise, with four decimals, which keeps text files small."""
    means = rng.standard_normal((shape.classes, shape.features)).astype(np.float32)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    step = max(1, CHUNK // shape.features)
    for start in range(0, shape.nodes, step):
        labels = y[start : start + step]
        x = rng.standard_normal((labels.size, shape.features), dtype=np.float32)
        x *= np.float32(0.5)
        x += means[labels]
        yield np.round(x, 4)


def _split_indices(rng: np.random.Generator, shape: GraphShape, known: Any) -> dict[str, Any]:
    order = rng.permutation(known)
    first = round(shape.parts[0] * known.size)
    second = first + round(shape.parts[1] * known.size)
    return {"train": np.sort(order[:first]), "valid": np.sort(order[first:second]), "test": np.sort(order[second:])}


def _write_ogb(folder: Path, drawing: Drawing, say: Say) -> None:
    shape, y, keys, rng = drawing.shape, drawing.y, drawing.keys, drawing.rng
    say("writing edges")
    _write_csv(folder / "raw" / "edge.csv.gz", _edge_columns(keys, shape.nodes))
    say("writing features")
    _write_csv(
        folder / "raw" / "node-feat.csv.gz",
        ({f"f{c}": x[:, c] for c in range(x.shape[1])} for x in _dense_features(rng, shape, y)),
    )
    _write_csv(folder / "raw" / "node-label.csv.gz", [{"y": y}])
    kind = Path(next(file for file in drawing.entry.files if file.startswith("split/"))).parent.name
    for part, index in _split_indices(rng, shape, np.arange(shape.nodes)).items():
        _write_csv(folder / "split" / kind / f"{part}.csv.gz", [{"node": index}])


def _write_twitch(folder: Path, drawing: Drawing, say: Say) -> None:
    shape, y, keys, rng = drawing.shape, drawing.y, drawing.keys, drawing.rng
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


def _write_genius(folder: Path, drawing: Drawing, say: Say) -> None:
    shape, y, keys, rng = drawing.shape, drawing.y, drawing.keys, drawing.rng
    say("writing edges and features")
    edges = np.stack([keys // shape.nodes, keys % shape.nodes])
    x = np.concatenate(list(_dense_features(rng, shape, y)))
    content = {"edge_index": edges, "node_feat": x.astype(np.float64), "label": y[:, None]}
    scipy.io.savemat(folder / "data.mat", content, do_compression=True)
    _write_splits(folder / "genius-splits.npy", rng, shape, np.arange(shape.nodes))


def _write_facebook(folder: Path, drawing: Drawing, say: Say) -> None:
    """Six columns about each person, with as many different values in all as there are features."""
    shape, y, keys, rng = drawing.shape, drawing.y, drawing.keys, drawing.rng
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
    _write_splits(folder / drawing.entry.optional[0], rng, shape, np.flatnonzero(~hidden))


def _write_heterophilous(folder: Path, drawing: Drawing, say: Say) -> None:
    shape, y, keys, rng = drawing.shape, drawing.y, drawing.keys, drawing.rng
    say("writing edges and features")
    x = np.concatenate(list(_dense_features(rng, shape, y)))
    drawn = [_split_indices(rng, shape, np.arange(shape.nodes)) for _ in range(shape.splits)]
    masks: dict[str, Any] = {
        f"{part}_masks": np.zeros((shape.splits, shape.nodes), dtype=bool) for part in ("train", "val", "test")
    }
    for row, parts in enumerate(drawn):
        for mask, chosen in zip(masks.values(), parts.values(), strict=True):
            mask[row, chosen] = True
    edges = np.stack([keys // shape.nodes, keys % shape.nodes], axis=1)
    np.savez_compressed(folder / drawing.entry.files[0], node_features=x, node_labels=y, edges=edges, **masks)


WRITERS: dict[str, Callable[[Path, Drawing, Say], None]] = {
    "ogb": _write_ogb,
    "twitch-gamers": _write_twitch,
    "genius": _write_genius,
    "facebook100": _write_facebook,
    "heterophilous": _write_heterophilous,
}


def _write_splits(path: Path, rng: np.random.Generator, shape: GraphShape, known: Any) -> None:
    """The format of LINKX: an array of dictionaries, which numpy writes as a pickle. It is only read by ``unpickler``."""
    splits = [_split_indices(rng, shape, known) for _ in range(shape.splits)]
    np.save(path, np.array(splits, dtype=object), allow_pickle=True)


def _edge_columns(keys: Any, nodes: int, names: tuple[str, str] = ("u", "v")) -> Iterator[dict[str, Any]]:
    for start in range(0, keys.size, CHUNK):
        part = keys[start : start + CHUNK]
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
