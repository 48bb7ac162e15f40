"""The paradigms of graph convolution: which indices the coefficients have.

A spectral convolution is Z = sum_k p_k(L_hat) F W_k, where k counts the terms of a polynomial basis, or the eigenvalues of the
graph in the exact form. The paradigms differ in what the C x C' maps W_k may be:

    I        W_k = theta[k] I                   one filter for all channels                  K numbers
    II       W_k = theta[k] R                   one filter, then a map R                     K + C C'
    III      W_k = diag(theta[k, :])            one filter per channel                       K C
    2d       W_k = theta[k, :, :]               one filter per pair of channels              K C C'
    rank     W_k = sum_i G[k, i] W[i, :, :]     r filters, each with its map                 K r + r C C'

Each is a special case of ``2d`` by construction; ``rank`` lies between II (r = 1) and 2d (r = K).
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.graph import LearnedOperator, SparseOperator
from chebnet2d.kernels.chebyshev_filter import chebyshev_filter

INITS = ("identity", "xavier")
Operator = SparseOperator | LearnedOperator


class Paradigm(nn.Module):
    """The parameters of one paradigm. ``terms`` is K, the number of values of the index k."""

    name: ClassVar[str]
    indices: ClassVar[str] = ""
    """Those of ``theta``: k for the terms, c and j for input and output channels; none without a theta."""
    square: ClassVar[bool] = False
    """True if the paradigm has no map between channels, so that C' = C."""
    theta: Tensor
    weight: Tensor

    def __init__(self, in_channels: int, out_channels: int, terms: int) -> None:
        super().__init__()
        owner = type(self).__name__
        in_channels = out_channels if self.square and in_channels == -1 else in_channels
        self.in_channels = in_channels if in_channels == -1 else integer(owner, "in_channels", in_channels, 1)
        self.out_channels = integer(owner, "out_channels", out_channels, 1)
        self.terms = integer(owner, "terms", terms, 1)
        self._planned: dict[str, tuple[int, ...]] = {}
        if self.square and in_channels != out_channels:
            hint = f"Paradigm {self.name} has no map between channels."
            raise InputError(
                owner, "out_channels", f"in_channels = {in_channels}", got=str(out_channels), hint=hint, verb="equal"
            )
        if self.indices:
            sizes = {"k": terms, "c": in_channels, "j": out_channels}
            self.add_parameter("theta", *(sizes[index] for index in self.indices))

    def add_parameter(self, name: str, *sizes: int) -> None:
        """A parameter; one size may be ``in_channels``, -1 where that is not known yet."""
        if -1 in sizes:
            self._planned[name] = sizes
        setattr(self, name, nn.UninitializedParameter() if -1 in sizes else nn.Parameter(torch.empty(sizes)))

    @property
    def is_lazy(self) -> bool:
        """Whether the number of input channels is not known yet."""
        return self.in_channels == -1

    def materialize(self, in_channels: int) -> None:
        """Give a lazy paradigm its number of input channels; its parameters have then memory, and no values yet."""
        self.in_channels = integer(type(self).__name__, "in_channels", in_channels, 1)
        for name, sizes in self._planned.items():
            getattr(self, name).materialize([in_channels if size == -1 else size for size in sizes])
        self._planned = {}

    def _load_from_state_dict(self, state_dict, prefix, *arguments):  # type: ignore[no-untyped-def]
        for name, sizes in self._planned.items():
            if prefix + name in state_dict:
                self.materialize(state_dict[prefix + name].shape[sizes.index(-1)])
                break
        super()._load_from_state_dict(state_dict, prefix, *arguments)

    def coefficients(self) -> Tensor:
        """The coefficients of the filters, K first: ``theta``. A constrained filter overrides this (say, ``theta.relu()``)."""
        return self.theta

    def curves(self) -> Tensor:
        """The coefficients of the filters that differ: K numbers (one filter, whatever map follows), K x C or K x C x C'."""
        return self.coefficients()

    def maps(self) -> Tensor:
        """W: K x C x C'."""
        raise NotImplementedError

    def diagonals(self) -> Tensor | None:
        """If all W_k are diagonal, their diagonals: K x C, or K x 1 if all channels have the same. None otherwise."""
        return None

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        """``init`` is "identity" or "xavier" (normal, gain 0.5); ``identity``: the K coefficients of the constant filter 1."""
        raise NotImplementedError

    def polynomial(self, operator: Operator, x: Tensor, to_chebyshev: Tensor) -> Tensor:
        """sum_k p_k(operator) x W_k: N x C', with p_k = sum_d to_chebyshev[d, k] T_d, by the Chebyshev kernel."""
        return chebyshev_filter(operator, x, torch.einsum("dk,kij->dij", to_chebyshev, self.maps()))

    def combine(self, terms: Tensor) -> Tensor:
        """sum_k terms[k] W_k: N x C', for given terms: K x N x C."""
        return torch.einsum("knc,kcj->nj", terms, self.maps())

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        """sum_d terms[:, d] V_d, with V_d = sum_k change[d, k] W_k, for rows of stored terms: B x (D + 1) x C.

        Maps are one product of inner size (D + 1) C; one number per channel, or one in all, is a weighted sum.
        """
        maps = torch.einsum("dk,kcj->dcj", change, self.maps())
        return terms.flatten(1) @ maps.flatten(0, 1)

    def start_as_map(self, weight: Tensor, identity: Tensor) -> None:
        """After ``reset_parameters``: the filter 1 (parameters ``identity``), then the C x C' map ``weight``."""
        raise InputError(type(self).__name__, "weight", f"left out: paradigm {self.name} has no map between channels", weight)


class ParadigmI(Paradigm):
    """One filter for all channels."""

    name: ClassVar[str] = "I"
    indices: ClassVar[str] = "k"
    square: ClassVar[bool] = True

    def maps(self) -> Tensor:
        theta = self.coefficients()
        return theta[:, None, None] * torch.eye(self.in_channels, dtype=theta.dtype, device=theta.device)

    def diagonals(self) -> Tensor:
        return self.coefficients().unsqueeze(1)

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        _fill(self.theta, init, identity, fan=2)

    def polynomial(self, operator: Operator, x: Tensor, to_chebyshev: Tensor) -> Tensor:
        return chebyshev_filter(operator, x, (to_chebyshev @ self.coefficients()).unsqueeze(1))

    def combine(self, terms: Tensor) -> Tensor:
        return torch.tensordot(self.coefficients(), terms, dims=1)

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        return torch.einsum("d,bdc->bc", change @ self.coefficients(), terms)


class ParadigmII(Paradigm):
    """One filter for all channels, then one map between channels."""

    name: ClassVar[str] = "II"
    indices: ClassVar[str] = "k"

    def __init__(self, in_channels: int, out_channels: int, terms: int) -> None:
        super().__init__(in_channels, out_channels, terms)
        self.add_parameter("weight", in_channels, out_channels)

    def maps(self) -> Tensor:
        return self.coefficients()[:, None, None] * self.weight

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        _fill(self.theta, init, identity, fan=2)
        _fill_map(self.weight, init)

    def polynomial(self, operator: Operator, x: Tensor, to_chebyshev: Tensor) -> Tensor:
        # The map commutes with the filter: filter on the side with fewer channels.
        narrow_first = self.out_channels < self.in_channels
        x = x @ self.weight if narrow_first else x
        z = chebyshev_filter(operator, x, (to_chebyshev @ self.coefficients()).unsqueeze(1))
        return z if narrow_first else z @ self.weight

    def combine(self, terms: Tensor) -> Tensor:
        return torch.tensordot(self.coefficients(), terms, dims=1) @ self.weight

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        return torch.einsum("d,bdc->bc", change @ self.coefficients(), terms) @ self.weight

    def start_as_map(self, weight: Tensor, identity: Tensor) -> None:
        with torch.no_grad():
            self.weight.copy_(weight)


class ParadigmIII(Paradigm):
    """One filter per channel."""

    name: ClassVar[str] = "III"
    indices: ClassVar[str] = "kc"
    square: ClassVar[bool] = True

    def maps(self) -> Tensor:
        return torch.diag_embed(self.coefficients())

    def diagonals(self) -> Tensor:
        return self.coefficients()

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        _fill(self.theta, init, identity[:, None].expand_as(self.theta), fan=2)

    def polynomial(self, operator: Operator, x: Tensor, to_chebyshev: Tensor) -> Tensor:
        return chebyshev_filter(operator, x, to_chebyshev @ self.coefficients())

    def combine(self, terms: Tensor) -> Tensor:
        return (terms * self.coefficients()[:, None, :]).sum(0)

    def combine_terms(self, terms: Tensor, change: Tensor) -> Tensor:
        return torch.einsum("dc,bdc->bc", change @ self.coefficients(), terms)


class Full2D(Paradigm):
    """The 2-D graph convolution: one filter per pair of input and output channel."""

    name: ClassVar[str] = "2d"
    indices: ClassVar[str] = "kcj"

    def maps(self) -> Tensor:
        return self.coefficients()

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        eye = torch.eye(self.in_channels, self.out_channels, dtype=self.theta.dtype)
        _fill(self.theta, init, identity[:, None, None] * eye, fan=self.in_channels + self.out_channels)

    def start_as_map(self, weight: Tensor, identity: Tensor) -> None:
        with torch.no_grad():
            self.theta.copy_(identity.to(weight.dtype)[:, None, None] * weight)


class Rank2D(Paradigm):
    """The 2-D convolution of rank r: r filters, each with its own map between channels.

    A sum of r terms of Paradigm II. r = K gives every 2-D convolution; on wide layers a small r saves most parameters.
    """

    name: ClassVar[str] = "rank"

    def __init__(self, in_channels: int, out_channels: int, terms: int, rank: int) -> None:
        super().__init__(in_channels, out_channels, terms)
        self.rank = integer("Rank2D", "rank", rank, 1)
        self.filters = nn.Parameter(torch.empty(terms, rank))
        self.add_parameter("weight", rank, in_channels, out_channels)

    def curves(self) -> Tensor:
        return self.maps()

    def maps(self) -> Tensor:
        return torch.einsum("ki,icj->kcj", self.filters, self.weight)

    def reset_parameters(self, init: str, identity: Tensor) -> None:
        # r equal terms would stay equal under gradient descent. The first has the initial filter; the others have small random
        # filters and, with "identity", maps of zero, so that Z = F holds exactly at the start.
        with torch.no_grad():
            nn.init.normal_(self.filters, std=0.1)
            self.filters[:, 0] = identity
            for i in range(self.rank):
                if init == "identity" and i > 0:
                    self.weight[i] = 0.0
                else:
                    _fill_map(self.weight[i], init)

    def start_as_map(self, weight: Tensor, identity: Tensor) -> None:
        with torch.no_grad():
            self.weight[0] = weight


def _fill(parameter: Tensor, init: str, identity: Tensor, fan: int) -> None:
    one_of("reset_parameters", "init", init, INITS)
    with torch.no_grad():
        if init == "identity":
            parameter.copy_(identity)
        else:
            parameter.normal_(std=0.5 * (2.0 / fan) ** 0.5)


def _fill_map(weight: Tensor, init: str) -> None:
    _fill(weight, init, torch.eye(*weight.shape, dtype=weight.dtype), fan=sum(weight.shape))


PARADIGMS: dict[str, type[Paradigm]] = {
    paradigm.name: paradigm for paradigm in (ParadigmI, ParadigmII, ParadigmIII, Full2D, Rank2D)
}


def make_paradigm(paradigm: str | Paradigm, in_channels: int, out_channels: int, terms: int, rank: int | None = None) -> Paradigm:
    """A paradigm by name, or the object itself if its sizes are right. ``rank`` is given for "rank" and only for it."""
    if isinstance(paradigm, Paradigm):
        found = (paradigm.in_channels, paradigm.out_channels, paradigm.terms)
        if found != (in_channels, out_channels, terms):
            rule = f"(in_channels, out_channels, terms) = {(in_channels, out_channels, terms)}"
            raise InputError("make_paradigm", "paradigm", rule, got=str(found), verb="have")
        return paradigm
    name = one_of("make_paradigm", "paradigm", paradigm, tuple(PARADIGMS))
    if (rank is None) == (name == "rank"):
        raise InputError("make_paradigm", "rank", "given for paradigm 'rank' and only for it", got=f"rank={rank} with {name!r}")
    if rank is not None:
        return Rank2D(in_channels, out_channels, terms, rank)
    return PARADIGMS[name](in_channels, out_channels, terms)
