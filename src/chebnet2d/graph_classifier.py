"""``GraphClassifier``: every method as a classifier by the rules of scikit-learn."""

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from chebnet2d import data as datasets
from chebnet2d._checks import InputError, real
from chebnet2d.data.splits import Split
from chebnet2d.models import NodeClassifier, Prediction, find_model, load, save
from chebnet2d.models.saving import read_facts
from chebnet2d.recipes import Recipe
from chebnet2d.training import calibrate
from chebnet2d.training.metrics import check_metric

_OWNER = "GraphClassifier"
_MODEL = ("degree", "hidden_channels", "dropout")
_SETTINGS = ("lr", "weight_decay", "epochs", "patience", "class_weight")
_FACT = "graph_classifier"


class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method of this package as a scikit-learn classifier of nodes.

    A graph comes in one of two ways. ``fit(X, y, adjacency=A)``: X are the features of all nodes, and y is -1 (of text: "") for
    those without a label. Or once, as ``graph``: X is then a column of node numbers, which can be cut and shuffled by everything
    in scikit-learn, such as ``GridSearchCV``. Without either, nodes have no edges.

    Args:
        method: as in ``train --method``.
        graph: a ``Data``, from ``read_graph``, ``from_tables``, ``from_scipy``, ...; its labels are not looked at.
        degree, hidden_channels, dropout: of the method; None for its own default.
        arguments: others of the method, by name.
        lr, weight_decay, epochs, patience, class_weight: of the training, see ``Settings``.
        metric: by which the best epoch is chosen on validation nodes.
        preprocess: how X becomes features, as in ``read_graph``; "none" takes it as it is.
        validation_fraction: the part of the labelled nodes, of each class, that stops the training and calibrates probabilities.
        random_state: seed of the validation nodes, the initial parameters and dropout.

    ``model_`` is the trained model, ``classes_`` the labels in the order of the columns of ``predict_proba``.

    >>> import numpy as np, scipy.sparse
    >>> A = scipy.sparse.csr_array(np.kron(np.eye(2), np.ones((10, 10))))
    >>> y = np.array(["left"] * 5 + [""] * 5 + ["right"] * 5 + [""] * 5)
    >>> GraphClassifier(degree=2, epochs=20).fit(np.ones((20, 3)) * np.arange(20)[:, None], y, adjacency=A).classes_.tolist()
    ['left', 'right']
    """

    def __init__(
        self,
        method: str = "chebnet2d",
        *,
        graph: Any = None,
        degree: int | None = None,
        hidden_channels: int | None = None,
        dropout: float | None = None,
        arguments: Mapping[str, Any] | None = None,
        lr: float | None = None,
        weight_decay: float | None = None,
        epochs: int = 1000,
        patience: int = 100,
        class_weight: str | None = None,
        metric: str = "accuracy",
        preprocess: str = "auto",
        validation_fraction: float = 0.2,
        random_state: int | None = 0,
    ) -> None:
        self.method, self.graph, self.arguments = method, graph, arguments
        self.degree, self.hidden_channels, self.dropout = degree, hidden_channels, dropout
        self.lr, self.weight_decay, self.epochs, self.patience = lr, weight_decay, epochs, patience
        self.class_weight, self.metric, self.preprocess = class_weight, metric, preprocess
        self.validation_fraction, self.random_state = validation_fraction, random_state

    # ---- fitting ------------------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, adjacency: Any = None) -> "GraphClassifier":
        """``X``: N x F features, dense or sparse, or with ``graph`` n x 1 node numbers. ``y``: a label for each row.

        ``adjacency``: N x N, dense or sparse; 0 is no edge, another number its weight. Direction is not looked at.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr")
        check_classification_targets(y)
        known, self.classes_, codes = _encoded(y)
        if self.graph is None:
            data, nodes = self._data(X, adjacency), torch.arange(X.shape[0])
        else:
            data, nodes = self._given_graph(adjacency), self._nodes(X)
        if nodes.unique().numel() < nodes.numel():
            raise InputError(_OWNER, "X", "distinct nodes", got="one of them twice", verb="hold")
        data.y = torch.full((data.num_nodes,), -1)
        data.y[nodes[known]] = torch.from_numpy(codes)
        data.num_classes, data.class_names = len(self.classes_), [str(label) for label in self.classes_]
        data.metric = check_metric(_OWNER, self.metric, len(self.classes_))
        split = self._split(data)
        result = self._recipe().train(data, split, 0 if self.random_state is None else self.random_state)
        calibrate(result, data)
        assert isinstance(result.model, NodeClassifier)
        self.model_, self._fitted = result.model, (data, X)
        self._edges, self.n_iter_ = adjacency is not None or self.graph is not None, result.epochs
        return self

    def _recipe(self) -> Recipe:
        known = inspect.signature(find_model(self.method)).parameters
        given = {name: getattr(self, name) for name in _MODEL if getattr(self, name) is not None}
        for name in given:
            if name not in known:
                raise InputError(_OWNER, name, "an argument of the method", got=f"it with {self.method!r}, which has none")
        settings = {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) is not None}
        return Recipe(self.method, model={**given, **(self.arguments or {})}, settings=settings)

    def _split(self, data: Any) -> Split:
        share = real(_OWNER, "validation_fraction", self.validation_fraction, 0, 1, below=True)
        split: Split = datasets.split(data, "stratified", self.random_state or 0, train=1 - share, val=share)
        # Without validation nodes those of the training say when to stop: there is nothing better.
        return split if split.val.numel() else Split(split.name, split.seed, split.train, split.train, split.test)

    # ---- predicting ---------------------------------------------------------------------------------------
    def predict(self, X: Any, adjacency: Any = None) -> Any:
        """A label for each row of X: features of nodes, whose edges are ``adjacency``; or numbers of nodes of ``graph``.

        The features of the graph that was fitted need no ``adjacency`` again.
        """
        nodes, prediction = self._predicted(X, adjacency)
        return self.classes_[prediction.labels[nodes].numpy()]

    def predict_proba(self, X: Any, adjacency: Any = None) -> Any:
        """A row of probabilities for each row of X; columns as in ``classes_``."""
        nodes, prediction = self._predicted(X, adjacency)
        return prediction.probabilities[nodes].double().numpy()

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """Accuracy, on the rows that have a label."""
        from sklearn.metrics import accuracy_score

        known = _has_label(np.asarray(y))
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(accuracy_score(np.asarray(y)[known], self.predict(X, adjacency)[known], sample_weight=weight))

    def _predicted(self, X: Any, adjacency: Any) -> tuple[torch.Tensor, Prediction]:
        check_is_fitted(self, "model_")
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        if self.graph is not None:
            self._given_graph(adjacency)
            return self._nodes(X), self.model_.predict(self._fitted[0])
        data, fitted = self._fitted
        if adjacency is None and self._edges:
            if fitted is None or not _equal(X, fitted):
                hint = "It was fitted on a graph with edges; those features alone need none again."
                raise InputError(_OWNER, "adjacency", "given for these nodes", got="None", hint=hint)
        else:
            data = self._data(X, adjacency, "none")  # the model prepares it as the graph that was fitted
        return torch.arange(X.shape[0]), self.model_.predict(data)

    # ---- saving -------------------------------------------------------------------------------------------
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Without pickle: the model as ``chebnet2d.save`` writes it, with the parameters and classes. No graph is saved."""
        check_is_fitted(self, "model_")
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name != "graph"}
        own = {"parameters": parameters, "classes": self.classes_.tolist(), "edges": self._edges, "features": self.n_features_in_}
        return save(self.model_, folder, facts={_FACT: own})

    @classmethod
    def load(cls, folder: str | os.PathLike[str], graph: Any = None) -> "GraphClassifier":
        """What ``save`` wrote; ``graph``: the one to predict nodes of by number."""
        own = read_facts(folder).get(_FACT)
        if not isinstance(own, dict) or own.keys() != {"parameters", "classes", "edges", "features"}:
            raise InputError(_OWNER, "folder", "one that GraphClassifier.save wrote", str(folder))
        found = cls(**own["parameters"], graph=graph)
        model = load(folder)
        assert isinstance(model, NodeClassifier)  # no other has these facts
        found.model_, found.classes_ = model, np.array(own["classes"])
        found.n_features_in_, found._edges = own["features"], own["edges"] is True
        found._fitted = (None if graph is None else found._given_graph(None), None)
        return found

    # ---- checks -------------------------------------------------------------------------------------------
    def _data(self, X: Any, adjacency: Any, preprocess: str | None = None) -> Any:
        nodes = X.shape[0]
        if adjacency is None:
            adjacency = scipy.sparse.coo_array((nodes, nodes), dtype=np.float32)
        elif np.ndim(adjacency) == 2 and not scipy.sparse.issparse(adjacency):
            adjacency = scipy.sparse.coo_array(np.asarray(adjacency))
        if not scipy.sparse.issparse(adjacency) or adjacency.shape != (nodes, nodes):
            got = f"shape {getattr(adjacency, 'shape', None)}"
            raise InputError(_OWNER, "adjacency", f"{nodes} x {nodes}, a row for each node of X", got=got)
        return datasets.from_scipy(adjacency, X, preprocess=preprocess or self.preprocess)

    def _given_graph(self, adjacency: Any) -> Any:
        if adjacency is not None:
            raise InputError(_OWNER, "adjacency", "left out with a graph", got="both")
        if getattr(self.graph, "edge_index", None) is None or getattr(self.graph, "x", None) is None:
            raise InputError(_OWNER, "graph", "a Data with x and edge_index", self.graph)
        return self.graph.clone()

    def _nodes(self, X: Any) -> torch.Tensor:
        count = int(self.graph.num_nodes)
        column = X.toarray() if scipy.sparse.issparse(X) else X
        if column.shape[1] != 1 or (column % 1 != 0).any() or (column < 0).any() or (column >= count).any():
            rule, hint = f"a column of node numbers below {count}", "With a graph, the features are those of the graph."
            raise InputError(_OWNER, "X", rule, got=f"an array of shape {X.shape} with others", hint=hint)
        return torch.from_numpy(column[:, 0].astype(np.int64))

    def __sklearn_clone__(self) -> "GraphClassifier":
        """A clone shares the graph: searches make hundreds of them."""
        return type(self)(
            **{
                name: value if name == "graph" else clone(value, safe=False)
                for name, value in self.get_params(deep=False).items()
            }
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _has_label(y: Any) -> Any:
    """-1 among integers and "" among words mean none, as None does."""
    if y.dtype.kind in "iuf":
        return y != -1
    return np.array([label not in ("", None) for label in y.tolist()], dtype=bool)


def _encoded(y: Any) -> tuple[Any, Any, Any]:
    """(which rows have a label, the classes, the number of each such row's class)."""
    known = _has_label(y)
    classes, codes = np.unique(y[known], return_inverse=True)
    if classes.size < 2:
        got = "no label" if classes.size == 0 else "1 class"
        raise InputError(_OWNER, "y", "labels of at least two classes", got=got, verb="hold")
    return known, classes, codes.astype(np.int64)


def _equal(one: Any, other: Any) -> bool:
    if one.shape != other.shape or scipy.sparse.issparse(one) != scipy.sparse.issparse(other):
        return False
    return (one != other).nnz == 0 if scipy.sparse.issparse(one) else np.array_equal(one, other)
