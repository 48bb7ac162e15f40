"""What every model with one convolution by polynomials shares: its filters can be looked at, and what they act on."""

from typing import ClassVar

from torch import Tensor, nn

from chebnet2d._checks import InputError
from chebnet2d.conv import PolynomialConv
from chebnet2d.conv.polynomial_conv import Signal
from chebnet2d.graph import GraphData, SparseOperator, edge_weight_of, operator_of
from chebnet2d.models.node_classifier import evaluating, features_of
from chebnet2d.nn import Features


class Filtering(nn.Module):
    """``conv`` is the convolution, and ``signal`` gives what it takes."""

    one_signal: ClassVar[bool] = True
    """Whether the polynomials act on one signal, whose energy can be told."""

    @property
    def has_filter(self) -> bool:
        """Whether it has one convolution by polynomials: some published forms have none, or several."""
        return isinstance(getattr(self, "conv", None), PolynomialConv)

    def own_filter(self) -> PolynomialConv:
        """The convolution of this model; a method in whose published form there is none, or several, refuses."""
        conv = getattr(self, "conv", None)
        if not isinstance(conv, PolynomialConv):
            got = f"{type(self).__name__}, which has none or several"
            raise InputError("own_filter", "model", "one convolution by polynomials", got=got, verb="have")
        return conv

    def response(self, frequencies: Tensor, data: GraphData | None = None) -> Tensor:
        """The learned filters at n eigenvalues of the operator in [-1, 1]: n, n x C or n x C x C', see ``PolynomialConv.curves``.

        ``data``: a prepared graph, for a basis that depends on the signal.
        """
        conv = self.own_filter()
        with evaluating(self):
            signal = None if data is None or conv.basis.fixed else self.signal_on(data)
            return conv.curves(frequencies, signal)

    def signal_on(self, data: GraphData) -> Signal:
        """What the convolution takes on a prepared graph, N x C, and the operator that it is a polynomial of."""
        signal = self.signal(features_of(data))
        return signal, self.operator_on(data, signal)

    def operator_on(self, data: GraphData, like: Tensor) -> SparseOperator:
        """What the filter is a polynomial of, in the type of ``like``."""
        kind, owner = self.own_filter().operator, type(self).__name__
        return operator_of(data.edge_index, edge_weight_of(data), like, kind=kind, owner=owner)

    @property
    def rows_and_columns(self) -> tuple[str, str]:
        """What the inputs and outputs of a filter for each pair of channels are."""
        return "channel", "class"

    @property
    def channels_are_classes(self) -> bool:
        """Whether the outputs of the filter are the logits."""
        return self.rows_and_columns[1] == "class"

    def signal(self, x: Features) -> Tensor:
        """What the convolution takes: N x C."""
        raise NotImplementedError
