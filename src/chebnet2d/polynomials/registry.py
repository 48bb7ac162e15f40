"""Polynomial bases by name."""

from typing import TypeVar

from chebnet2d._checks import InputError, one_of
from chebnet2d.polynomials.basis import Basis

BASES: dict[str, type] = {}
"""Name -> class. Every class here can be built without arguments."""
B = TypeVar("B", bound=type[Basis])


def register_basis(basis: B) -> B:
    """A class decorator: the basis is then known by its ``name`` wherever a basis is asked for."""
    if not all(hasattr(basis, part) for part in ("name", "fixed", "terms")):
        raise InputError("register_basis", "basis", "name, fixed and terms, as polynomials.Basis says", basis, verb="have")
    if basis.name in BASES:
        raise InputError("register_basis", "name", "new", got=f"{basis.name!r}, which is {BASES[basis.name].__name__}")
    BASES[basis.name] = basis
    return basis


def get_basis(basis: str | Basis) -> Basis:
    """A basis by its name, or the object itself: ``get_basis("jacobi")``, ``get_basis(Jacobi(0.5, -0.5))``."""
    if isinstance(basis, str):
        found: Basis = BASES[one_of("get_basis", "basis", basis, tuple(BASES))]()
        return found
    if not isinstance(basis, Basis):
        raise InputError("get_basis", "basis", "a name or a basis object", basis)
    return basis
