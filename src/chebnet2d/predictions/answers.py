"""A model's answer as batches of a table: node, label, given label, part, and the probability of each class."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from chebnet2d._checks import InputError
from chebnet2d.bases import Bases
from chebnet2d.models import NodeClassifier, OnBases, OnGraph, Prediction
from chebnet2d.predictions.label_sets import label_sets_of, words_of_sets
from chebnet2d.preparation import Notes, Preparation

MARK = {b"chebnet2d": b"predictions"}


class Answers:
    """What a model says about the nodes of a graph or of bases, as Arrow batches: of bases, rows are read when asked for.

    ``notes``: what the graph has in other ways than the one that the model was trained on.
    """

    def __init__(
        self, model: NodeClassifier | OnBases, source: Any, *, bases: Bases | None = None, coverage: float | None = None
    ) -> None:
        """``bases``: those of all nodes of the graph ``source``, for a model on bases; without, it computes on the graph."""
        import pyarrow as pa

        self._coverage = coverage
        if coverage is not None:
            label_sets_of(model).level(coverage)  # before the work
        preparation, notes = model.preparation or Preparation(), Notes()
        if isinstance(source, Bases):
            bases, ids, given, own = source, source.nodes.numpy(), source.labels, None
        else:
            source, notes = preparation.applied(source)
            ids, given, own = _facts(model, source)
        self.model, self.notes, self.ids, self._bases = model, notes, np.asarray(ids), bases
        self._whole: Prediction | None = None
        if bases is None:
            self._whole = (OnGraph(model) if isinstance(model, OnBases) else model).predict(source)
        else:
            assert isinstance(model, OnBases)
            model.check_bases(bases)
        classes = int(model.config["out_channels"]) if self._whole is None else self._whole.probabilities.shape[1]
        self._names = [str(name) for name in preparation.class_names or own or range(classes)]
        self._words = [str(word) for word in own or self._names]
        self._given = None if given is None or not bool((given >= 0).any()) else given
        texts = ["label", *([] if self._given is None else ["given_label"]), *([] if model.seen is None else ["part"])]
        kind = pa.int64() if self.ids.dtype.kind in "iu" else pa.string()
        chances = [(f"probability_{name}", pa.float32() if self._whole is None else _arrow(self._whole)) for name in self._names]
        sets = [] if coverage is None else [("label_set", pa.list_(pa.string()))]
        self.schema = pa.schema([("node", kind), *((text, pa.string()) for text in texts), *sets, *chances], metadata=MARK)

    def __len__(self) -> int:
        return len(self.ids)

    def batches(self, size: int = 1 << 14) -> Iterator[Any]:
        """Arrow record batches of up to ``size`` nodes, in the order of the nodes."""
        import pyarrow as pa

        for start in range(0, len(self), size):
            rows = slice(start, min(start + size, len(self)))
            found = self._of(rows)
            arrays = [pa.array(self.ids[rows], self.schema.field("node").type)]
            arrays.append(pa.array(self._names).take(pa.array(found.labels.numpy())))
            if self._given is not None:
                given = self._given[rows].numpy()
                arrays.append(pa.array(self._words).take(pa.array(given, mask=(given < 0) | (given >= len(self._words)))))
            if self.model.seen is not None:
                arrays.append(pa.array(self.model.seen.part_of(self.ids[rows]), pa.string()))
            if self._coverage is not None:
                words = words_of_sets(self.model, found, self._coverage, self._names)
                arrays.append(pa.array(words, pa.list_(pa.string())))
            arrays += [pa.array(column) for column in found.probabilities.T.contiguous().numpy()]
            yield pa.record_batch(arrays, schema=self.schema)

    def _of(self, rows: slice) -> Prediction:
        if self._whole is not None:
            return Prediction(self._whole.labels[rows], self._whole.probabilities[rows])
        assert isinstance(self.model, OnBases)
        assert self._bases is not None
        return self.model.predict(self._bases, positions=torch.arange(rows.start, rows.stop))

    def seen_lines(self) -> list[str]:
        """How many nodes are new since the training, and how many are gone; nothing where the graph has the same nodes."""
        if self.model.seen is None:
            return []
        new, gone = self.model.seen.changes(self.ids)
        return [f"nodes: {new} of {len(self)} are new, {gone} of the training graph are gone"] if new or gone else []


def _facts(model: NodeClassifier | OnBases, source: Any) -> tuple[Any, Any, Any]:
    """Ids of the nodes, given labels, and words for these."""
    expected = model.config["in_channels"]
    if source.num_features != expected:
        rule = f"{expected} features, as the model was trained on"
        raise InputError("predict", "the graph", rule, got=str(source.num_features), verb="have")
    ids = source.get("node_ids")
    return (range(source.num_nodes) if ids is None else ids), source.get("y"), source.get("class_names")


def _arrow(whole: Prediction) -> Any:
    import pyarrow as pa

    return pa.from_numpy_dtype(whole.probabilities.numpy().dtype)
