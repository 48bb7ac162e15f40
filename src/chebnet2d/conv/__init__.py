"""Graph convolutions of every paradigm, by polynomials and by eigendecomposition."""

from chebnet2d.conv.cheb_conv_2d import ChebConv2D
from chebnet2d.conv.exact_buffers import ExactBuffers
from chebnet2d.conv.fixed_filter import FixedFilter
from chebnet2d.conv.paradigms import INITS, PARADIGMS, Full2D, Paradigm, ParadigmI, ParadigmII, ParadigmIII, Rank2D, make_paradigm
from chebnet2d.conv.polynomial_conv import PolynomialConv
from chebnet2d.conv.spectral_conv import ExactConv, SpectralConv

__all__ = [
    "INITS",
    "PARADIGMS",
    "ChebConv2D",
    "ExactBuffers",
    "ExactConv",
    "FixedFilter",
    "Full2D",
    "Paradigm",
    "ParadigmI",
    "ParadigmII",
    "ParadigmIII",
    "PolynomialConv",
    "Rank2D",
    "SpectralConv",
    "make_paradigm",
]
