"""A new basis: a class, by object and by name, wherever a basis is asked for; one file in the package is found by itself."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import torch

import chebnet2d.polynomials
from chebnet2d.bases import Bases, precompute
from chebnet2d.conv import FixedFilter, SpectralConv
from chebnet2d.graph import Spectrum
from chebnet2d.polynomials import BASES, ThreeTermBasis, get_basis, register_basis, to_chebyshev, values
from example_graphs import l_hat, weighted

X = torch.linspace(-1, 1, 9, dtype=torch.float64)
PACKAGE = Path(chebnet2d.polynomials.__file__)
SECOND_KIND = """
from dataclasses import dataclass
from typing import ClassVar

from chebnet2d.polynomials.basis import ThreeTermBasis, register_basis


@register_basis
@dataclass(frozen=True)
class SecondKind(ThreeTermBasis):
    name: ClassVar[str] = "second-kind"

    def step(self, k):
        return (2.0, 0.0, 0.0) if k == 1 else (2.0, 0.0, -1.0)
"""


@dataclass(frozen=True)
class Shifted(ThreeTermBasis):
    """((x + shift) / 2)^k."""

    name: ClassVar[str] = "shifted"
    shift: float = 1.0

    def step(self, k):
        return 0.5, self.shift / 2, 0.0


@pytest.fixture
def _registered():
    register_basis(Shifted)
    yield
    del BASES["shifted"]


@pytest.mark.usefixtures("_registered")
@pytest.mark.parametrize("basis", ["shifted", Shifted(), Shifted(0.5)], ids=str)
def test_a_basis_of_the_users_own_is_accepted_everywhere(basis, tmp_path):
    shift = 1.0 if basis == "shifted" else basis.shift
    own = get_basis(basis)
    torch.testing.assert_close(values(own, X, 3), torch.stack([((X + shift) / 2) ** k for k in range(4)]))
    torch.testing.assert_close(to_chebyshev(own, 3) @ values(get_basis("chebyshev"), X, 3), values(own, X, 3))

    edge_index, weight, nodes = weighted()
    x = torch.randn(nodes, 4, dtype=torch.float64)
    conv = SpectralConv(4, 3, 5, basis=basis, init="xavier", directed="symmetrise").double()
    torch.testing.assert_close(conv(x, edge_index, weight), conv.exact(x, Spectrum.of(l_hat())), rtol=0, atol=1e-10)

    dense = l_hat().to_dense()
    terms = list(own.terms(lambda v: dense @ v, x, 2))
    fixed = FixedFilter([0.2, 0.3, 0.5], basis=basis, operator="L_hat").double()
    torch.testing.assert_close(fixed(x, edge_index, weight), 0.2 * terms[0] + 0.3 * terms[1] + 0.5 * terms[2])

    precompute(l_hat(), x, out=tmp_path / "bases", basis=basis, degree=2, rows="all")
    bases = Bases.open(tmp_path / "bases")
    assert bases.basis == own
    torch.testing.assert_close(bases.terms(torch.arange(nodes)), torch.stack(terms, dim=1).float())


def test_without_its_name_registered_an_object_is_enough_for_layers():
    assert "shifted" not in BASES
    SpectralConv(4, 4, 2, basis=Shifted())
    with pytest.raises(ValueError, match="get_basis: basis must be one of 'chebyshev', .*, got 'shifted'"):
        SpectralConv(4, 4, 2, basis="shifted")


def test_a_name_is_taken_once_and_a_class_must_be_a_basis():
    class Chebyshev(Shifted):
        name = "chebyshev"

    with pytest.raises(ValueError, match="register_basis: name must be new, got 'chebyshev', which is Chebyshev"):
        register_basis(Chebyshev)
    with pytest.raises(ValueError, match="register_basis: basis must have name, fixed and terms, as polynomials.Basis says, got"):
        register_basis(int)


def test_a_file_in_the_package_is_all_that_a_new_basis_needs(tmp_path):
    """The package with one more folder for its modules, in a process of its own: the file there is found like the others."""
    (tmp_path / "second_kind.py").write_text(SECOND_KIND)
    script = f"""
import importlib.util, sys
import torch
folders = [{str(PACKAGE.parent)!r}, {str(tmp_path)!r}]
spec = importlib.util.spec_from_file_location("chebnet2d.polynomials", {str(PACKAGE)!r}, submodule_search_locations=folders)
module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.values(module.get_basis("second-kind"), torch.tensor([0.5, 1.0]), 2)[2].tolist())
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[0.0, 3.0]"  # 4 x^2 - 1
