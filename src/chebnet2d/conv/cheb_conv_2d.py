"""The layer of the ChebNet2D paper."""

from chebnet2d._checks import integer, one_of
from chebnet2d.conv.spectral_conv import SpectralConv
from chebnet2d.polynomials import SCALINGS


class ChebConv2D(SpectralConv):
    """2-D graph convolution by Chebyshev interpolation (Li et al. 2024, "Spectral GNN via 2-D graph convolution").

        Z = sum_{d=0..D} T_d(L_hat) F W_d,      W_d = 2 / (D + 1) sum_{b=0..D} T_d(x_b) Theta_b  (d = 0: half of it)

    with F: N x C, Z: N x C', L_hat = -D^-1/2 A D^-1/2, and Theta_b (C x C') the response of the layer at frequency
    x_b = cos((b + 1/2) pi / (D + 1)).

    Differences from the paper: the printed equation has neither the factor 2 / (D + 1) nor the half, and then does not
    interpolate (``scaling="paper"`` gives that form; with "coefficients" the parameters are the W_d themselves, as in ChebNet).
    The paper does not say how Theta is initialised (``init``). With ``rank=r``, r filters, each with a C x C' map, replace Theta,
    see ``Rank2D``. ``directed`` says what becomes of a directed graph, see ``SpectralConv``.

    >>> import torch
    >>> layer = ChebConv2D(16, 32, degree=10)
    >>> x, edge_index = torch.randn(3, 16), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> layer(x, edge_index).shape
    torch.Size([3, 32])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        degree: int = 10,
        *,
        scaling: str = "interpolation",
        init: str = "xavier",
        rank: int | None = None,
        directed: str = "warn",
        bias: bool = False,
    ) -> None:
        one_of("ChebConv2D", "scaling", scaling, SCALINGS)
        if rank is not None:
            integer("ChebConv2D", "rank", rank, 1)
        super().__init__(
            in_channels,
            out_channels,
            degree,
            paradigm="2d" if rank is None else "rank",
            rank=rank,
            scaling=scaling,
            init=init,
            directed=directed,
            bias=bias,
        )
