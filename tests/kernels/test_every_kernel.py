"""No kernel without a suite, and none outside the two packages that hold them."""

import ast
from pathlib import Path

from torch.autograd import Function

import chebnet2d
import chebnet2d.graph
import chebnet2d.kernels
from chebnet2d._stacks import StackFunction

SOURCE = Path(chebnet2d.__file__).parent
HOMES = {"kernels", "graph"}


def subclasses(kind):
    for child in kind.__subclasses__():
        yield child
        yield from subclasses(child)


def autograd_functions():
    """Those of the package that compute something, not the bases that they share."""
    ours = {kind for kind in subclasses(Function) if kind.__module__.startswith("chebnet2d.") and "forward" in vars(kind)}
    assert len(ours) >= 16
    return ours


def functions_with_a_suite():
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "KernelSuite" for base in node.bases):
                (listed,) = [
                    part.value for part in node.body if isinstance(part, ast.Assign) and part.targets[0].id == "functions"
                ]
                yield from (name.id for name in listed.elts)


def test_every_kernel_has_a_suite():
    assert {kind.__name__ for kind in autograd_functions()} == set(functions_with_a_suite())


def test_kernels_are_where_they_are_looked_for():
    """In the sources, since a module outside the two packages need not be imported here."""
    bases = {"Function", StackFunction.__name__}
    homes = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base).split(".")[-1] in bases for base in node.bases):
                homes.add(path.relative_to(SOURCE).parts[0])
    assert homes == HOMES | {"_stacks.py"}


def test_every_kernel_has_a_rule_for_stacks():
    for kind in autograd_functions():
        assert kind.vmap is not Function.vmap, kind
        assert kind.setup_context is not Function.setup_context, kind
