"""explain: from a model, a graph and some of its nodes to explanations."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.explanations.bands import band_shares, sharp
from chebnet2d.explanations.ensembles import HINT, explaining_run
from chebnet2d.explanations.explanation import EXACT, GRADIENT, Explanation
from chebnet2d.explanations.gradients import feature_shares, gradient_shares
from chebnet2d.explanations.hops import distances
from chebnet2d.explanations.linear_part import LinearPart, linear_part
from chebnet2d.explanations.permutations import permuted
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.models import Decoupled, Ensemble, NodeClassifier, OnBases, OnGraph
from chebnet2d.models.node_classifier import evaluating, features_of, logits_of
from chebnet2d.preparation import Preparation
from chebnet2d.preparation.preparation import class_names_of

FEATURES = ("gradient", "permutation", "none")
_NUMBERS = 30_000_000  # of R, B x N x C, at a time
_AGREES = 1e-6


def explain(
    model: NodeClassifier | OnBases,
    data: Any,
    nodes: Sequence[Any],
    *,
    class_name: str | None = None,
    features: str = "gradient",
    top: int = 10,
    seed: int = 0,
) -> list[Explanation]:
    """Why each of the nodes gets its logit: one explanation per node, in float64.

    Where the model is an MLP and one convolution, the logit is a sum over nodes, and the shares are its terms: ``kind`` is
    "exact". For other models, and those that were trained on bases, they are gradient times input, and ``kind`` is "gradient".
    Of an ensemble one of its runs is explained, and ``by`` says which.

    Args:
        data: a torch_geometric ``Data``; it is prepared as the graph that the model was trained on.
        nodes: ids as in ``data.node_ids``; row numbers where the graph has no ids.
        class_name: whose logit; default: of each node the class with the largest.
        features: "gradient" times input, also "permutation" (the ``top`` features of each node are shuffled over the nodes, three
            times), or "none".
        seed: of the permutations.
    """
    by = ""
    if isinstance(model, Ensemble):
        data = data if model.preparation is None else model.preparation.apply(data)
        model, by = explaining_run(model)
    model = _checked(model)
    one_of("explain", "features", features, FEATURES)
    integer("explain", "top", top, 1)
    preparation = model.preparation or Preparation()
    data = preparation.apply(data)
    model._check_nodes(data)
    model = copy.deepcopy(model).double().eval().requires_grad_(False)
    x = features_of(data).to(dtype=torch.float64)
    data = _with_features(data, x)
    part = linear_part(model, data)
    with _holding(model, part), evaluating(model):
        logits = logits_of(model(x, data.edge_index, data.get("edge_weight")))
    names = [str(name) for name in preparation.class_names or class_names_of(data) or range(logits.shape[1])]
    index = _rows_of(data, nodes)
    labels = logits[index].argmax(1)
    if class_name is not None:
        one_of("explain", "class_name", class_name, names)
        labels = torch.full_like(labels, names.index(class_name))

    found: list[dict[str, Any]] = []
    size = max(1, _NUMBERS // max(1, logits.shape[0] * (logits.shape[1] if part is None else part.signal.shape[1])))
    for some, classes in zip(index.split(size), labels.split(size), strict=True):
        exact = None if part is None else _exact(model, part, x, some, classes, features != "none")
        if exact is None or not _agree(exact, logits[some, classes]):
            part, exact = None, [_by_gradient(model, data, x, int(i), int(c), logits) for i, c in zip(some, classes, strict=True)]
        found += exact

    ids = data.get("node_ids")
    adjacency = operator_of(data.edge_index, data.get("edge_weight"), logits, kind="A", owner="explain")
    known = data.get("feature_names") or preparation.feature_names
    explanations = [
        Explanation(
            node=nodes[b],
            index=int(i),
            class_name=names[int(labels[b])],
            class_index=int(labels[b]),
            predicted=names[int(logits[i].argmax())],
            logit=float(logits[i, labels[b]]),
            distances=distances(adjacency, int(i), parts.pop("reach")),
            feature_names=None if known is None or len(known) != x.shape[1] else known,
            permuted=None,
            ids=range(logits.shape[0]) if ids is None else ids,
            adjacency=adjacency,
            by=by,
            **(parts | ({"features": None} if features == "none" else {})),
        )
        for b, (i, parts) in enumerate(zip(index.tolist(), found, strict=True))
    ]
    return permuted(model, data, x, explanations, top, seed) if features == "permutation" else explanations


def _exact(
    model: NodeClassifier, part: LinearPart, x: Tensor | SparseOperator, nodes: Tensor, classes: Tensor, features: bool
) -> list[dict[str, Any]]:
    assert isinstance(model, Decoupled)
    rows = part.rows(nodes, classes)
    shares = (rows * part.signal).sum(2)
    by_feature = feature_shares(model, x, rows) if features else [None] * len(nodes)
    bands = band_shares(part, nodes, classes)
    fixed = {"kind": EXACT, "bands_exact": sharp(part), "reach": part.degree}
    return [
        {**fixed, "shares": shares[b], "constant": float(part.constant[c]), "bands": bands[b], "features": by_feature[b]}
        for b, c in enumerate(classes.tolist())
    ]


def _agree(found: list[dict[str, Any]], logits: Tensor) -> bool:
    """Whether the terms add up to what the model says: a class that was changed from outside may end otherwise."""
    sums = torch.stack([parts["shares"].sum() + parts["constant"] for parts in found])
    scale = torch.stack([parts["shares"].abs().sum() for parts in found]) + logits.abs()
    return bool(((sums - logits).abs() <= _AGREES * scale + 1e-12).all())


def _by_gradient(
    model: NodeClassifier, data: Any, x: Tensor | SparseOperator, node: int, label: int, logits: Tensor
) -> dict[str, Any]:
    shares, features = gradient_shares(model, data, x, node, label)
    constant = float(logits[node, label] - shares.sum())
    return {
        "kind": GRADIENT,
        "shares": shares,
        "constant": constant,
        "bands": None,
        "bands_exact": False,
        "features": features,
        "reach": None,
    }


@contextmanager
def _holding(model: NodeClassifier, part: LinearPart | None) -> Iterator[None]:
    """The MLP of a model of our own gives the signal that is known already."""
    if part is None:
        yield
        return
    vars(model)["signal"] = lambda _: part.signal
    try:
        yield
    finally:
        del vars(model)["signal"]


def _with_features(data: Any, x: Tensor | SparseOperator) -> Any:
    changed = copy.copy(data)
    changed.x = x
    return changed


def _checked(model: Any) -> NodeClassifier:
    if isinstance(model, OnBases):
        return OnGraph(model)
    if isinstance(model, NodeClassifier) and model.trained_by == "gradient":
        return model
    name = getattr(type(model), "__name__", "")
    raise InputError("explain", "model", "a model that takes the graph and is trained by gradients", got=name, hint=HINT)


def _rows_of(data: Any, nodes: Sequence[Any]) -> Tensor:
    """The rows of the nodes by their ids; a text also finds the id that is written so."""
    if isinstance(nodes, str | bytes) or not len(nodes):
        raise InputError("explain", "nodes", "a list of ids, one at least", nodes)
    ids = data.get("node_ids")
    count = int(data.num_nodes)
    places = {str(name): i for i, name in enumerate(range(count) if ids is None else ids)}
    rows = []
    for node in nodes:
        if str(node) not in places:
            first = ", ".join(list(places)[:3])
            hint = f"The graph has {count} nodes: {first}, ..." if count else "The graph has no nodes."
            raise InputError("explain", "node", "the id of a node of the graph", str(node), hint)
        rows.append(places[str(node)])
    return torch.tensor(rows)
