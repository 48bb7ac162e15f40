"""``check_method`` on classes from outside: a sound one passes, and each way of being broken is named with what to do."""

import pytest
import torch
from torch import nn

from chebnet2d.graph import operator_of
from chebnet2d.models import Decoupled, MethodInfo, NodeClassifier
from chebnet2d.nn import MLP, Dropout, Linear, SpectralConv, check_features
from chebnet2d.testing import check_method

INFO = MethodInfo("Tiny", "II", "none", "Z = P~ X W", "The user: a tiny model. 2026")


class Tiny(NodeClassifier):
    info = INFO

    def __init__(self, in_channels: int, out_channels: int, dropout: float = 0.5) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.linear = Linear(in_channels, out_channels)
        self.dropout = Dropout(dropout)

    def forward(self, x, edge_index, edge_weight=None):
        check_features("Tiny", x, self.in_channels)
        hidden = self.linear(self.dropout(x))
        return operator_of(edge_index, edge_weight, hidden, kind="P~", owner="Tiny") @ hidden


class TinyFilter(Decoupled):
    """A filter of the user's own, which runs on bases without a line for them."""

    info = INFO

    def __init__(self, in_channels: int, out_channels: int, hidden_channels: int = 64, degree: int = 4) -> None:
        super().__init__()
        conv = self.convolution(out_channels, out_channels, degree)
        self._assemble(MLP(in_channels, hidden_channels, out_channels), 0.0, conv, in_channels)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 4) -> SpectralConv:
        return SpectralConv(in_channels, out_channels, degree, paradigm="I", basis="legendre", operator="P")


@pytest.mark.parametrize("model", [Tiny, TinyFilter])
def test_a_sound_class_passes(model):
    passed = check_method(model)
    assert len(passed) == len(set(passed)) >= 16
    assert "a stack of runs equals a loop" in passed


def test_arguments_reach_the_constructor():
    with pytest.raises(AssertionError, match="Dropout: p must be a number in"):
        check_method(Tiny, dropout=1.5)


class NoInfo(Tiny):
    info = None


class TooFewRows(Tiny):
    def forward(self, x, edge_index, edge_weight=None):
        return super().forward(x, edge_index, edge_weight)[1:]


class NoisyEvaluation(Tiny):
    def forward(self, x, edge_index, edge_weight=None):
        logits = super().forward(x, edge_index, edge_weight)
        return logits if self.training else logits + 1e-3 * torch.rand_like(logits)


class DeadParameter(Tiny):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels)
        self.unused = nn.Parameter(torch.zeros(3))


class HiddenState(Tiny):
    """Its numbers are neither parameters nor buffers, so they are not saved."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels)
        self.scale = 1 + torch.rand(()).item()

    def forward(self, x, edge_index, edge_weight=None):
        return self.scale * super().forward(x, edge_index, edge_weight)


class NumberOutsideTheStack(Tiny):
    """A plain number that it says may vary in a stack: one module stands for all runs, so it does not."""

    varies_in_stack = frozenset({"dropout", "scale"})

    def __init__(self, in_channels: int, out_channels: int, scale: float = 1.0) -> None:
        super().__init__(in_channels, out_channels, dropout=0.0)
        self.scale = scale

    def forward(self, x, edge_index, edge_weight=None):
        return self.scale * super().forward(x, edge_index, edge_weight)


class TakesAnything(Tiny):
    def forward(self, x, edge_index, edge_weight=None):
        return super().forward(nn.functional.pad(x.float(), (0, self.in_channels - x.shape[1])), edge_index, edge_weight)


class FalseRows(Tiny):
    batches = ("rows",)


class OtherTerms(TinyFilter):
    class Conv(SpectralConv):
        def combine_terms(self, terms, change):
            return 2 * super().combine_terms(terms, change)

    @staticmethod
    def convolution(in_channels: int, out_channels: int, degree: int = 4) -> SpectralConv:
        return OtherTerms.Conv(in_channels, out_channels, degree, paradigm="I")


BROKEN = [
    (NoInfo, "'info is filled in'. info is None. Set info = MethodInfo"),
    (TooFewRows, r"'logits have a row per node and a column per class'. The shape is \(89, 3\) instead of \(90, 3\). forward"),
    (TakesAnything, r"'wrong features are refused with a sentence'. x of shape \(90, 5\) .* is taken. Call chebnet2d.nn.check_f"),
    (NoisyEvaluation, "'evaluation has no randomness'. Logits of two calls .* differ by .* only if self.training"),
    (DeadParameter, "'gradients reach every parameter'. The loss does not depend on unused. Remove parameters"),
    (HiddenState, "'the same seed gives the same training'. Two trainings with one seed have other losses. Draw random"),
    (NumberOutsideTheStack, "'a stack of runs equals a loop'. train_loss in a stack of three and alone: they differ"),
    (FalseRows, "'mini batches of nodes are as claimed'. .* Name in batches only what holds"),
    (OtherTerms, "'stored bases give what the graph gives'. Probabilities .* differ by .*. combine_terms must apply"),
]


@pytest.mark.parametrize(("model", "sentence"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_class_is_told_what_to_do(model, sentence):
    with pytest.raises(AssertionError, match=f"check_method: {model.__name__} fails the check {sentence}"):
        check_method(model)
