"""How much of a logit comes from which frequencies of the signal: exactly, or by band-pass polynomials on large graphs.

With mu the spectral measure of (e_i, h), the logit without its constant is the integral of R(x) over mu. A band is a function b_m
below the integral. Sharp bands need the eigenvectors. The Chebyshev series of sharp bands, damped by Jackson's factors, add up
to T_0 = 1 as the bands do, so their shares add up as exactly; but neighbours overlap.
"""

import numpy as np
import torch
from torch import Tensor

from chebnet2d.explanations.explanation import Band
from chebnet2d.explanations.linear_part import LinearPart
from chebnet2d.graph import kept_spectrum
from chebnet2d.polynomials import Chebyshev, band_pass_series, chebyshev_nodes, coefficient_matrix, values

LARGEST_EXACT = 3000
BANDS = 10
DEGREE = 48  # of the band-pass polynomials
_SAME = 1e-9  # eigenvalues that differ by less are one


def sharp(part: LinearPart) -> bool:
    """Whether the bands are those of the exact spectrum."""
    return part.operator.symmetric and part.signal.shape[0] <= LARGEST_EXACT


def band_shares(part: LinearPart, nodes: Tensor, classes: Tensor) -> list[list[Band]]:
    """Of each node and its class."""
    shares = _by_spectrum(part, nodes, classes) if sharp(part) else _by_polynomials(part, nodes, classes)
    # The operators P and P~ are I - L: their eigenvalues run the other way.
    shares = shares if part.conv.operator == "L_hat" else shares.flip(1)
    edges = [2 * m / BANDS for m in range(BANDS + 1)]
    return [[Band(edges[m], edges[m + 1], float(row[m])) for m in range(BANDS)] for row in shares]


def _by_spectrum(part: LinearPart, nodes: Tensor, classes: Tensor) -> Tensor:
    spectrum = kept_spectrum(part.operator)
    response = part.response(spectrum.eigenvalues.clamp(-1, 1))[:, :, classes]  # N x C x B
    terms = spectrum.eigenvectors[nodes].T * torch.einsum("nc,ncb->nb", spectrum.transform(part.signal), response)
    place = torch.floor((spectrum.eigenvalues + 1 + _SAME) * (BANDS / 2)).long().clamp(0, BANDS - 1)
    return terms.new_zeros(BANDS, len(nodes)).index_add_(0, place, terms).T


def _by_polynomials(part: LinearPart, nodes: Tensor, classes: Tensor) -> Tensor:
    degree = part.degree + DEGREE
    moments = torch.stack([walk.T @ part.signal for walk in part.walks(nodes, degree)])  # (degree + 1) x B x C
    points = chebyshev_nodes(degree)
    products = torch.einsum("nm,ncb->nmcb", band_passes(points), part.response(points)[:, :, classes])
    return torch.einsum("dn,nmcb,dbc->bm", coefficient_matrix(degree, "interpolation"), products, moments)


def band_passes(points: Tensor) -> Tensor:
    """b_m at n points of [-1, 1], n x BANDS; rows add up to 1."""
    return values(Chebyshev(), points, DEGREE).T @ band_pass_series(np.linspace(-1, 1, BANDS + 1), DEGREE)
