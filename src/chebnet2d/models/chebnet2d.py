"""ChebNet2D: an MLP, then the 2-D graph convolution by Chebyshev interpolation."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from chebnet2d.conv import ChebConv2D
from chebnet2d.models.decoupled import Decoupled
from chebnet2d.models.registry import register


@register("chebnet2d")
class ChebNet2D(Decoupled):
    """Z = sum_d T_d(L_hat) h(X) W_d, with h an MLP from F features to C logits (Li et al. 2024, arXiv 2404.04559).

    h is dropout - Linear - ReLU - dropout - Linear; the convolution is ``ChebConv2D`` on the C logits.

    Args:
        hidden_channels: H, the width of the MLP.
        degree: D of the polynomial filters.
        dropout: rate before each linear layer.
        filter_dropout: rate between the MLP and the convolution.
        num_layers: linear layers of the MLP.
        scaling: "interpolation" (Theta are the responses at the Chebyshev nodes), "paper" (as printed) or "coefficients" (Theta
            are the coefficients W_d: an MLP followed by torch_geometric's ``ChebConv``, which the paper does not compare with).
        init: "identity" (the convolution starts as Z = F) or "xavier" (normal with gain 0.5).
        rank: r for the rank-r convolution; None for the full one.
        variant: "faithful" and "unified" are the same here.

    The paper leaves ``init`` and ``filter_dropout`` open. The filter has its own learning rate and weight decay in training.
    """

    conv: ChebConv2D
    maps_channels: ClassVar[bool] = True
    varies_in_stack = frozenset({"dropout", "filter_dropout", "init", "scaling"})

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        hidden_channels: int = 64,
        degree: int = 10,
        dropout: float = 0.5,
        filter_dropout: float = 0.0,
        num_layers: int = 2,
        scaling: str = "interpolation",
        init: str = "identity",
        rank: int | None = None,
        variant: str = "faithful",
    ) -> None:
        super(Decoupled, self).__init__()
        options: dict[str, Any] = {"degree": degree, "scaling": scaling, "init": init, "rank": rank, "num_layers": num_layers}
        sizes = (in_channels, hidden_channels, out_channels)
        self._build(sizes, dropout=dropout, filter_dropout=filter_dropout, variant=variant, **options)

    @staticmethod
    def convolution(
        in_channels: int,
        out_channels: int,
        degree: int = 10,
        scaling: str = "interpolation",
        init: str = "identity",
        rank: int | None = None,
    ) -> ChebConv2D:
        return ChebConv2D(in_channels, out_channels, degree, scaling=scaling, init=init, rank=rank)

    def filters(self, frequencies: Tensor) -> Tensor:
        """C x C responses at eigenvalues of L_hat in [-1, 1]: [i, c, j] is that of class j to channel c at frequency i."""
        with torch.no_grad():
            return self.conv.response(frequencies)
