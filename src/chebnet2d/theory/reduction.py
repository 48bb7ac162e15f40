"""The construction problem in the spectral domain, with its linear part solved.

The eigenvectors are orthonormal, so ||T(F) - Z||_F is the same number for the transforms F^ and Z^, where row m is

    z_m  ~  (base term of row m)  +  sum_i q[m, i] f_m R_i.

Independently of q and R, the base term takes any value in a subspace of the C' outputs of row m: {0} (no base), the line of
f_m (Paradigm I), the coordinates in which f_m is not zero (Paradigm III), or everything unless f_m = 0 (2-D). Projecting on the
complement removes it:

    minimise  sum_m | (z_m - sum_i q[m, i] f_m R_i) P_m |^2        P_m = I,  I - f_m^T f_m / |f_m|^2,  a 0/1 diagonal,  or 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Reduced:
    """f: N x C and z: N x C' (spectral), ``projections``: N x C' x C', ``empty``: rows of f that are zero."""

    f: Array
    z: Array
    projections: Array
    empty: Mask
    base: str
    rank: int

    @classmethod
    def of(cls, f: Array, z: Array, base: str, rank: int) -> "Reduced":
        nodes, outputs = z.shape
        squares = (f * f).sum(axis=1)
        projections = np.broadcast_to(np.eye(outputs), (nodes, outputs, outputs)).copy()
        if base == "I":
            scale = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
            projections -= np.einsum("n,na,nb->nab", scale, f, f)
        elif base == "III":
            projections *= (f == 0)[:, :, None]
        elif base == "2d":
            projections *= (squares == 0)[:, None, None]
        return cls(f, z, projections, squares == 0, base, rank)

    @property
    def projected(self) -> Array:
        """z_m P_m: what the terms of Paradigm II have to reach."""
        return np.einsum("na,nab->nb", self.z, self.projections)

    def base_filter(self, rest: Array) -> Array:
        """The parameters of the base term that approximate ``rest`` (N x C') best: N for I, N x C for III, N x C x C' for 2-D."""
        squares = (self.f * self.f).sum(axis=1)
        if self.base == "I":
            return np.divide((rest * self.f).sum(axis=1), squares, out=np.zeros_like(squares), where=squares > 0)
        if self.base == "III":
            return np.divide(rest, self.f, out=np.zeros_like(rest), where=self.f != 0)
        scale = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
        return np.einsum("n,na,nb->nab", scale, self.f, rest)


def clean(x: Array, zero: float) -> Array:
    """x with its entries below ``zero`` times the largest one set to 0, which removes rounding errors of the transform."""
    return np.where(np.abs(x) <= zero * np.abs(x).max(initial=0.0), 0.0, x)
