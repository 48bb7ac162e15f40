"""What every autograd function written by hand must satisfy: one suite, inherited by the tests of each kernel.

A kernel's test class inherits ``KernelSuite``, lists the autograd functions it covers (``test_every_kernel_has_a_suite`` fails
for a function that nobody lists) and says in ``case`` how the kernel is called and what its formula is in plain torch operations.
"""

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse
import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck

from chebnet2d.graph import SparseOperator
from chebnet2d.kernels import Stream, random_streams

NODES, RUNS, CALLS = 13, 3, 200


@dataclass(frozen=True)
class Case:
    """A kernel and the same formula as a function of the same tensors, both drawing from the active random streams."""

    kernel: Callable[..., Tensor]
    truth: Callable[..., Tensor]
    inputs: Callable[[int], Sequence[Tensor]]
    """From a seed to inputs in float64: different seeds give the runs of a stack."""
    constant: tuple[int, ...] = ()
    """Positions of the inputs that have no gradient."""

    def leaves(self, seed: int = 0) -> tuple[list[Tensor], list[Tensor]]:
        """All inputs, and those of them that gradients are asked for."""
        inputs = [tensor.clone() for tensor in self.inputs(seed)]
        return inputs, self.differentiable(inputs)

    def differentiable(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        return [tensor.requires_grad_() for i, tensor in enumerate(inputs) if i not in self.constant]


class KernelSuite:
    """Inherit, and give ``functions``, ``twice`` and ``case``."""

    functions: ClassVar[tuple[type[torch.autograd.Function], ...]]
    """The autograd functions that the cases run."""
    twice: ClassVar[bool] = False
    """Whether the kernel can be differentiated twice; if not, that must be an error."""
    variants: ClassVar[dict[str, dict[str, Any]]] = {"plain": {}}
    """Name -> keyword arguments of ``case``."""
    rows: ClassVar[tuple[int, ...]] = (0, 1)
    """Unusual numbers of rows that the kernel takes."""

    @classmethod
    def case(cls, nodes: int, **variant: Any) -> Case:
        raise NotImplementedError

    @classmethod
    def first_case(cls, nodes: int) -> Case:
        return cls.case(nodes, **next(iter(cls.variants.values())))

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "case" in metafunc.fixturenames:
            cases = [pytest.param(self.case(NODES, **options), id=name) for name, options in self.variants.items()]
            metafunc.parametrize("case", cases)
        if "few_rows" in metafunc.fixturenames:
            metafunc.parametrize("few_rows", self.rows)

    # ---- values and derivatives ---------------------------------------------------------------------------
    def test_values_and_gradients_are_the_dense_truth(self, case):
        agree(case, case.leaves()[0])

    def test_without_gradients_the_values_are_the_same(self, case):
        inputs, _ = case.leaves()
        with torch.no_grad():
            quiet = evaluate(case.kernel, inputs)
        assert torch.equal(quiet, evaluate(case.kernel, inputs))

    def test_gradcheck(self, case):
        inputs, leaves = case.leaves()
        if leaves:
            assert gradcheck(lambda *given: evaluate(case.kernel, given), inputs)
        else:  # constants in spite of inputs that ask for gradients
            assert not evaluate(case.kernel, [tensor.requires_grad_() for tensor in inputs]).requires_grad

    def test_second_derivative_is_right_or_an_error(self, case):
        inputs, leaves = case.leaves()
        if not leaves:
            return
        if self.twice:
            assert gradgradcheck(lambda *given: evaluate(case.kernel, given), inputs)
            return
        gradients = torch.autograd.grad(evaluate(case.kernel, inputs).square().sum(), leaves, create_graph=True)
        with pytest.raises(RuntimeError, match="differentiate twice"):
            sum(gradient.sum() for gradient in gradients).backward()

    # ---- stacks of runs -----------------------------------------------------------------------------------
    def test_a_stack_equals_the_loop_over_its_runs(self, case):
        stack_equals_loop(case)

    # ---- memory -------------------------------------------------------------------------------------------
    def test_inputs_are_neither_changed_nor_part_of_a_result(self, case):
        inputs, leaves = case.leaves()
        before = [tensor.detach().clone() for tensor in inputs]
        out = evaluate(case.kernel, inputs)
        direction = draw(*out.shape, seed=9)
        incoming = direction.clone()
        gradients = torch.autograd.grad(out, leaves, incoming) if leaves else ()
        for tensor, copy in zip((*inputs, incoming), (*before, direction), strict=True):
            assert torch.equal(tensor, copy)
        places = [tensor.untyped_storage().data_ptr() for tensor in (*inputs, incoming, out, *gradients)]
        assert len(places) == len(set(places)), "two of inputs, result, its gradient and the gradients share memory"

    @pytest.mark.parametrize("stacked", [False, True])
    def test_memory_does_not_grow_with_repetition(self, stacked):
        case = self.first_case(NODES)
        kernel, seeds = (torch.func.vmap(case.kernel, randomness="different"), range(RUNS)) if stacked else (case.kernel, (0,))
        inputs = [torch.stack(parts) if stacked else parts[0] for parts in zip(*map(case.inputs, seeds), strict=True)]
        leaves = case.differentiable(inputs)

        def call() -> None:
            out = evaluate(kernel, inputs, seeds)
            if leaves:
                torch.autograd.grad(out.sum(), leaves)

        for _ in range(5):
            call()
        tensors, size = live_tensors(), allocated_bytes()
        for _ in range(CALLS):
            call()
        assert live_tensors() <= tensors
        assert allocated_bytes() - size < 8 * NODES * CALLS / 2, "less than a column of numbers per second call"

    # ---- layouts, sizes, threads --------------------------------------------------------------------------
    def test_layouts_of_inputs_and_of_the_gradient_do_not_matter(self, case):
        inputs, leaves = case.leaves()
        out = evaluate(case.kernel, inputs)
        expected = [out, *(torch.autograd.grad(out, leaves, torch.ones_like(out)) if leaves else ())]
        for layout in (transposed, spread):
            inputs = [layout(tensor.detach()) for tensor in inputs]
            leaves = case.differentiable(inputs)
            out = evaluate(case.kernel, inputs)
            found = [out, *(torch.autograd.grad(out.sum(), leaves) if leaves else ())]  # sum() sends a gradient of stride 0
            for ours, theirs in zip(found, expected, strict=True):
                torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)

    def test_few_rows(self, few_rows):
        case = self.first_case(few_rows)
        agree(case, case.leaves()[0])
        stack_equals_loop(case)

    def test_the_numbers_do_not_depend_on_threads(self):
        case = self.first_case(1500)
        found, threads = [], torch.get_num_threads()
        try:
            for count in (1, 2):
                torch.set_num_threads(count)
                inputs, leaves = case.leaves()
                out = evaluate(case.kernel, inputs)
                found.append([out, *(torch.autograd.grad(out.square().sum(), leaves) if leaves else ())])
        finally:
            torch.set_num_threads(threads)
        for one, two in zip(*found, strict=True):
            torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12 * (1 + float(one.detach().abs().max())))

    def test_its_functions_are_those_that_run(self, monkeypatch):
        ran = set()

        def recording(function: type[torch.autograd.Function], forward: Callable[..., Any]) -> Callable[..., Any]:
            def record(*arguments: Any) -> Any:
                ran.add(function)
                return forward(*arguments)

            return record

        for function in self.functions:
            monkeypatch.setattr(function, "forward", staticmethod(recording(function, function.forward)))
        for options in self.variants.values():
            case = self.case(NODES, **options)
            inputs, leaves = case.leaves()
            out = evaluate(case.kernel, inputs)
            if leaves:
                torch.autograd.grad(out.sum(), leaves)
        assert ran == set(self.functions)


# ---- what the tests above are made of ---------------------------------------------------------------------
def evaluate(function: Callable[..., Tensor], inputs: Sequence[Tensor], seeds: Sequence[int] = (0,)) -> Tensor:
    """The function with new random streams, one per run."""
    with random_streams([Stream(seed) for seed in seeds]):
        return function(*inputs)


def agree(case: Case, inputs: Sequence[Tensor]) -> None:
    leaves = case.differentiable(inputs)
    out, expected = evaluate(case.kernel, inputs), evaluate(case.truth, inputs)
    torch.testing.assert_close(out, expected, rtol=1e-10, atol=1e-11)
    if leaves:
        direction = draw(*out.shape, seed=8)
        same(*(torch.autograd.grad(z, leaves, direction) for z in (out, expected)))


def stack_equals_loop(case: Case) -> None:
    runs = [case.inputs(seed) for seed in range(RUNS)]
    for dims in stackings(len(runs[0])):
        stacks = [torch.stack(parts) if dim is not None else parts[0].clone() for parts, dim in zip(zip(*runs), dims)]  # noqa: B905
        leaves = case.differentiable(stacks)
        given = [tensor if dim is None else tensor.movedim(0, dim) for tensor, dim in zip(stacks, dims, strict=True)]
        together = evaluate(torch.func.vmap(case.kernel, in_dims=dims, randomness="different"), given, range(RUNS))
        own = [[tensor if dim is None else tensor[r] for tensor, dim in zip(stacks, dims, strict=True)] for r in range(RUNS)]
        apart = torch.stack([evaluate(case.kernel, inputs, [r]) for r, inputs in enumerate(own)])
        torch.testing.assert_close(together, apart, rtol=1e-10, atol=1e-11)
        if leaves:
            direction = draw(*apart.shape, seed=7)
            same(*(torch.autograd.grad(z, leaves, direction) for z in (together, apart)))


def stackings(inputs: int) -> Iterator[tuple[int | None, ...]]:
    """Which dimension holds the runs, per input: the first, the last, or none of one input or of all but one."""
    yield (0,) * inputs
    yield (-1,) * inputs
    for i in range(inputs if inputs > 1 else 0):
        yield tuple(None if j == i else 0 for j in range(inputs))
        yield tuple(0 if j == i else None for j in range(inputs))


def same(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-10)


def transposed(x: Tensor) -> Tensor:
    return x.mT.clone(memory_format=torch.contiguous_format).mT if x.dim() > 1 else spread(x)


def spread(x: Tensor) -> Tensor:
    """The same numbers, every other one of a longer tensor."""
    return x.repeat_interleave(2, dim=-1)[..., ::2] if x.dim() else x.clone()


def live_tensors() -> int:
    gc.collect()
    return sum(issubclass(type(thing), Tensor) for thing in gc.get_objects())


def allocated_bytes() -> int:
    """What malloc has handed out, tensors of C++ included; 0 where the C library does not tell."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return 0

    class Info(ctypes.Structure):
        _fields_ = [("numbers", ctypes.c_size_t * 10)]

    mallinfo.restype = Info
    numbers = mallinfo().numbers
    return numbers[4] + numbers[7]  # hblkhd and uordblks


# ---- inputs -----------------------------------------------------------------------------------------------
def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def sparse(rows: int, columns: int, per_row: float = 4, seed: int = 0) -> SparseOperator:
    density = min(1.0, per_row / max(columns, 1))
    matrix = scipy.sparse.random_array((rows, columns), density=density, rng=np.random.default_rng(seed))
    return SparseOperator.from_scipy(matrix, dtype=torch.float64)


def graph(nodes: int, *, symmetric: bool = True) -> SparseOperator:
    """A random operator with its spectrum in [-1, 1]."""
    matrix = sparse(nodes, nodes).to_scipy()
    matrix = matrix + matrix.T if symmetric else matrix
    largest = abs(matrix).sum(axis=1).max() if matrix.nnz else 1.0
    return SparseOperator.from_scipy(matrix / largest, dtype=torch.float64, symmetric=symmetric)


def rate(seed: int) -> Tensor:
    """A rate of dropout; the runs of a stack have different ones, and one of them has none."""
    return torch.tensor([0.4, 0.0, 0.7][seed % 3], dtype=torch.float64)
