"""What every method must do, as a function that a user calls on a class of their own: ``check_method(MyModel)``.

Training, studies, searches and saving rely on these promises. The package's own methods are held to them in the same way.
"""

import inspect
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from chebnet2d import data as datasets
from chebnet2d._checks import InputError
from chebnet2d.conv import PolynomialConv
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.models import Decoupled, MethodInfo, NodeClassifier, find_model, load, on_bases, save
from chebnet2d.polynomials import Basis, Chebyshev
from chebnet2d.training import Batches, Run, Settings, fit, fit_many, initialise_parameters

NODES, FEATURES, CLASSES = 90, 24, 3
_Check = Callable[["_Subject"], None]
_CHECKS: list[tuple[str, str, _Check]] = []


def check_method(method: str | type[NodeClassifier], **arguments: Any) -> list[str]:
    """Raise an ``AssertionError`` that says which promise the method breaks and what to do; else the names of all checks.

    Args:
        method: a class on ``NodeClassifier``, or any spelling of a method.
        arguments: of its constructor, for other values than the defaults. It is called with ``in_channels``, ``out_channels``,
            and with ``num_nodes`` and a small ``hidden_channels`` where it has them.

    >>> from chebnet2d.models import GPRGNN
    >>> check_method(GPRGNN, degree=3)[:2]
    ['info is filled in', 'logits have a row per node and a column per class']
    """
    subject = _Subject(find_model(method), arguments)
    for name, advice, check in _CHECKS:
        try:
            check(subject)
        except Exception as error:  # whatever the method raises is an answer to the check
            problem = str(error).strip().splitlines() or [""]
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            text = f"check_method: {subject.method.__name__} fails the check {name!r}. {kind}{problem[0].rstrip('.')}. {advice}"
            raise AssertionError(text) from error
    return [name for name, _, _ in _CHECKS]


def _check(name: str, advice: str) -> Callable[[_Check], _Check]:
    def add(check: _Check) -> _Check:
        _CHECKS.append((name, advice, check))
        return check

    return add


@dataclass
class _Subject:
    """The class under test, and a graph of words with two isolated nodes."""

    method: type[NodeClassifier]
    arguments: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def data(self) -> Any:
        made = datasets.load("csbm", nodes=NODES, classes=CLASSES, features=FEATURES, homophily=0.8, degree=6, signal=4.0, seed=3)
        made.x = (made.x > 0.6).float()
        made.edge_index = made.edge_index[:, (made.edge_index >= 2).all(dim=0)]
        return made

    @cached_property
    def known(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.method).parameters

    def make(self, **more: Any) -> NodeClassifier:
        usual = {"num_nodes": NODES, "hidden_channels": 8}
        usual = {name: value for name, value in usual.items() if name in self.known}
        return self.method(in_channels=FEATURES, out_channels=CLASSES, **{**usual, **self.arguments, **more})

    def exact(self, **more: Any) -> NodeClassifier:
        """In float64 and evaluation mode, away from special starts: identities, zeros and ones hide mistakes."""
        model = self.make(**more)
        if not self.by_gradient:
            fit(model, self.data, datasets.split(self.data, "uniform", seed=1), epochs=3)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
        return model.double().eval()

    @property
    def by_gradient(self) -> bool:
        return self.method.trained_by == "gradient"

    def logits(self, model: nn.Module, x: Any = None, graph: Any = None, weight: Tensor | None = None) -> Tensor:
        like = next(model.parameters(), self.data.x)
        out = model(self.data.x.to(like) if x is None else x, self.data.edge_index if graph is None else graph, weight)
        return out[0] if isinstance(out, tuple) else out

    def backward(self, model: nn.Module, graph: Any = None) -> None:
        like = next(model.parameters())
        out = model.train()(self.data.x.to(like), self.data.edge_index if graph is None else graph, None)
        logits, penalty = out if isinstance(out, tuple) else (out, 0.0)
        (nn.functional.cross_entropy(logits, self.data.y) + penalty).backward()

    def without_dropout(self) -> dict[str, float]:
        return {name: 0.0 for name in self.known if name.endswith("dropout")}


def _equal(found: Tensor, expected: Tensor, what: str, tolerance: float = 0.0) -> None:
    assert found.shape == expected.shape, f"{what}: shapes {tuple(found.shape)} and {tuple(expected.shape)}"
    difference = float((found - expected).detach().abs().max()) if found.numel() else 0.0
    assert difference <= tolerance, f"{what}: they differ by {difference:.2g}"


@_check("info is filled in", "Set info = MethodInfo(title, paradigm, basis, formula, citation) on the class.")
def _info(subject: _Subject) -> None:
    info = getattr(subject.method, "info", None)
    assert isinstance(info, MethodInfo), f"info is {info!r}"
    assert any(str(year) in info.citation for year in range(1900, 2100)), "The citation has no year"


@_check("logits have a row per node and a column per class", "forward(x, edge_index, edge_weight=None) returns N x C logits.")
def _shape(subject: _Subject) -> None:
    logits = subject.logits(subject.make().eval())
    assert logits.shape == (NODES, CLASSES), f"The shape is {tuple(logits.shape)} instead of {(NODES, CLASSES)}"
    assert logits.dtype == torch.float32, f"Features in float32 give {logits.dtype}"
    assert bool(torch.isfinite(logits).all()), "Some logits are not finite"


@_check("config rebuilds the model", "Let every argument of the constructor have a name (no *args), and shapes follow from them.")
def _config(subject: _Subject) -> None:
    model = subject.make()
    named = {name for name, p in subject.known.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    assert named <= set(model.config), f"config lacks {sorted(named - set(model.config))}"
    shapes = [{name: value.shape for name, value in each.state_dict().items()} for each in (model, type(model)(**model.config))]
    assert shapes[0] == shapes[1], "A model made from config has other parameters"


@_check("wrong features are refused with a sentence", "Call chebnet2d.nn.check_features first in forward.")
def _refusal(subject: _Subject) -> None:
    for x in (subject.data.x[:, :5], subject.data.x.long()):
        try:
            subject.make()(x, subject.data.edge_index, None)
        except InputError:
            continue
        raise AssertionError(f"x of shape {tuple(x.shape)} and {x.dtype} is taken")


@_check("the seed alone decides the start", "Draw parameters in reset_parameters() of the module that has them.")
def _start(subject: _Subject) -> None:
    first, second = subject.make(), subject.make()
    for model in (first, second):
        initialise_parameters(model, 5)
    for (name, one), (_, other) in zip(first.named_parameters(), second.named_parameters(), strict=True):
        _equal(one, other, f"{name} of two models with one seed")


@_check("evaluation has no randomness", "Draw random numbers in forward only if self.training.")
def _evaluation(subject: _Subject) -> None:
    model = subject.exact()
    first = subject.logits(model)
    torch.manual_seed(123)
    _equal(subject.logits(model), first, "Logits of two calls in evaluation mode")


@_check("the same seed gives the same training", "Draw random numbers by chebnet2d.nn.Dropout or kernels.random_streams.")
def _repeats(subject: _Subject) -> None:
    split = datasets.split(subject.data, "uniform", seed=0)
    first, second = (fit(subject.make(), subject.data, split, seed=1, epochs=3) for _ in range(2))
    assert first.history == second.history, "Two trainings with one seed have other losses"
    assert isinstance(first.model, NodeClassifier)
    labels = first.model.predict(subject.data).labels
    accuracy = float((labels == subject.data.y)[split.test].double().mean())
    assert abs(accuracy - first.test["accuracy"]) < 1e-9, "predict does not give what training was judged by"


@_check("sparse features equal dense ones", "Use chebnet2d.nn.Linear or x @ weight on features: both take a SparseOperator.")
def _sparse(subject: _Subject) -> None:
    model, x = subject.exact(), subject.data.x.double()
    sparse = SparseOperator.from_dense(x)
    _equal(subject.logits(model, sparse), subject.logits(model, x), "Logits of sparse and dense features", 1e-10)


@_check("the order of nodes does not matter", "Name parameters with a row per node in per_node; use no node's number otherwise.")
def _equivariance(subject: _Subject) -> None:
    model, x = subject.exact(), subject.data.x.double()
    order = torch.randperm(NODES, generator=torch.Generator().manual_seed(0))
    place = order.argsort()
    expected = subject.logits(model, x)[order]
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if name in subject.method.per_node and value.numel():  # an option may leave it out
                value.copy_(value[order])
    found = subject.logits(model, x[order], place[subject.data.edge_index])
    _equal(found, expected, "Logits of a graph whose nodes are numbered anew", 1e-9)


@_check("edge weights of 1 change nothing", "Pass edge_weight on to chebnet2d.graph.operator_of or to the convolution.")
def _weights(subject: _Subject) -> None:
    model, edges = subject.exact(), subject.data.edge_index
    ones = torch.ones(edges.shape[1], dtype=torch.float64)
    _equal(subject.logits(model, weight=ones), subject.logits(model), "Logits with weights of 1 and without weights", 1e-10)
    low, high = edges.sort(dim=0).values
    weights = 0.5 + ((7 * low + 13 * high) % 10).double() / 10  # the same in both directions
    assert bool(torch.isfinite(subject.logits(model, weight=weights)).all()), "Some logits are not finite with other weights"


@_check("gradients are finite", "Mind divisions by a degree or a norm that is 0.")
def _finite(subject: _Subject) -> None:
    for graph in (subject.data.edge_index, torch.empty(2, 0, dtype=torch.long)) if subject.by_gradient else ():
        model = subject.make()
        subject.backward(model, graph)
        bad = [n for n, p in model.named_parameters() if p.grad is not None and not bool(torch.isfinite(p.grad).all())]
        assert not bad, f"{', '.join(bad)} on a graph with {graph.shape[1]} edges"


@_check("gradients reach every parameter", "Remove parameters that do nothing, and detach() nothing that is learned.")
def _reached(subject: _Subject) -> None:
    if not subject.by_gradient:
        return
    model = subject.exact(**subject.without_dropout())
    subject.backward(model)
    unused = [n for n, p in model.named_parameters() if p.grad is None or not bool((p.grad != 0).any())]
    assert not unused, f"The loss does not depend on {', '.join(unused)}"


@_check("a saved model is the same model", "Keep state in parameters and buffers, and arguments that JSON can write.")
def _saved(subject: _Subject) -> None:
    model = subject.make().train()
    with torch.no_grad():
        subject.logits(model)  # moves the running statistics of a batch norm
        with tempfile.TemporaryDirectory() as folder:
            loaded = load(save(model, folder), method=subject.method)
        _equal(subject.logits(loaded), subject.logits(model.eval()), "Logits of a model before and after save and load")


@_check("a stack of runs equals a loop", "See chebnet2d.nn and varies_in_stack: forward must run under torch.func.vmap.")
def _stacked(subject: _Subject) -> None:
    splits = [datasets.split(subject.data, "uniform", seed=seed) for seed in range(3)]
    settings = [Settings.of(lr=lr, epochs=4) for lr in (0.01, 0.02, 0.005)]
    numbers = {name: subject.known[name].default for name in subject.method.varies_in_stack if name in subject.known}
    numbers = {name: value for name, value in numbers.items() if isinstance(value, float) and name not in subject.arguments}

    def models(names: set[str]) -> list[NodeClassifier]:
        """What may differ in a stack does: rates, and numbers that are buffers or starts."""
        values = [{n: 0.3 * r if n.endswith("dropout") else v * (1 - 0.2 * r) for n, v in numbers.items()} for r in range(3)]
        return [subject.make(**{n: v for n, v in each.items() if n in names}).double() for each in values]

    def runs(names: set[str]) -> list[Run]:
        return [Run(*each) for each in zip(models(names), splits, range(3), settings, strict=True)]

    names = set(numbers)
    if len({tuple(b.shape for b in m.buffers()) for m in models(names)}) > 1:  # the numbers set the length of a series, say
        names = {name for name in names if name.endswith("dropout")}
    shapes = {tuple(parameter.shape for parameter in model.parameters()) for model in models(names)}
    assert len(shapes) == 1, "Models that differ in varies_in_stack alone have parameters of other shapes"
    together, alone = (fit_many(runs(names), subject.data, width=width) for width in (3, 1))
    for one, other in zip(together, alone, strict=True):
        for part in ("train_loss", "val_loss"):
            losses = [torch.tensor(getattr(result.history, part), dtype=torch.float64) for result in (one, other)]
            _equal(losses[0], losses[1], f"{part} in a stack of three and alone", 1e-7 * max(1.0, float(losses[1].max())))
        for name, value in other.model.state_dict().items():
            tolerance = 1e-7 + 1e-6 * float(value.abs().max() if value.numel() else 0.0)
            _equal(one.model.state_dict()[name], value, f"{name} after training in a stack of three and alone", tolerance)


@_check("mini batches of nodes are as claimed", "Name in batches only what holds, of training.batches.SAMPLINGS.")
def _batches(subject: _Subject) -> None:
    model, split = subject.exact(), datasets.split(subject.data, "uniform", seed=0)
    for sampling in () if model.on_validation else subject.method.batches:
        result = fit(subject.make(), subject.data, split, batches=Batches(size=40, sampling=sampling), epochs=2)
        losses = torch.tensor(result.history.train_loss)
        assert bool(torch.isfinite(losses).all()), f"Losses on {sampling!r} batches are not finite"
    if "rows" in subject.method.batches:
        x, nodes = subject.data.x.double(), torch.arange(0, NODES, 3)
        adjacency = operator_of(subject.data.edge_index, None, x, kind="A", owner="check_method")
        rows = SparseOperator.from_scipy(adjacency.to_scipy()[nodes.numpy()], dtype=torch.float64)
        _equal(subject.logits(model, x[nodes], rows), subject.logits(model)[nodes], "Logits of some rows and of all", 1e-10)


@_check("stored bases give what the graph gives", "combine_terms must apply the same polynomial as forward, see PolynomialConv.")
def _on_bases(subject: _Subject) -> None:
    if not issubclass(subject.method, Decoupled):
        return
    options = inspect.signature(subject.method.convolution).parameters
    own = {name: value for name, value in subject.arguments.items() if name in options}
    degree = subject.method.degree_argument
    if degree is not None and degree[0] not in options:
        raise AssertionError(f"degree_argument must name an option of convolution or be None, got {degree[0]!r}.")
    conv = subject.method.convolution(FEATURES, FEATURES, **own).double()
    bases = MemoryBases.of(conv, subject.data)
    shape = {"degree": conv.degree, "maps": "features", "num_layers": 1, "hidden_channels": 8}
    model = on_bases(subject.method, bases, **{**shape, **own}).double()
    with torch.no_grad():
        model.eval()
        expected = model.mlp(model.conv(subject.data.x.double(), subject.data.edge_index))
        found = model.predict(bases).probabilities
        _equal(found, expected.softmax(dim=1), "Probabilities by stored bases and by the graph", 1e-9)


@dataclass(frozen=True)
class MemoryBases:
    """Bases of a small graph in memory, in float64, with the interface of ``chebnet2d.bases.Bases`` that models need."""

    terms: Tensor
    basis: Basis
    operator: str
    num_classes: int | None = None

    @classmethod
    def of(cls, conv: PolynomialConv, data: Any) -> "MemoryBases":
        """Those that the convolution wants: Chebyshev bases, unless its own depend on the signal."""
        x = data.x.double()
        basis = Chebyshev() if conv.basis.fixed else conv.basis
        operator = operator_of(data.edge_index, None, x, kind=conv.operator, owner="MemoryBases")
        terms = torch.stack(list(basis.terms(lambda v: operator @ v, x, conv.degree)), dim=1)
        return cls(terms, basis, conv.operator, datasets.num_classes(data))

    @property
    def basis_name(self) -> str:
        return self.basis.name

    @property
    def basis_parameters(self) -> dict[str, Any]:
        return {name: float(value) for name, value in vars(self.basis).items()}

    @property
    def degree(self) -> int:
        return self.terms.shape[1] - 1

    @property
    def num_features(self) -> int:
        return self.terms.shape[2]

    def __len__(self) -> int:
        return self.terms.shape[0]

    def read(self, positions: Tensor) -> Tensor:
        return self.terms[positions]
