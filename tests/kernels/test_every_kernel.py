"""No kernel without a suite, and none outside the two packages that hold them."""

import ast
from pathlib import Path

import chebnet2d

SOURCE = Path(chebnet2d.__file__).parent
HOMES = {"kernels", "graph"}


def autograd_functions():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base).split(".")[-1] == "Function" for base in node.bases):
                yield path.relative_to(SOURCE).parts[0], node


def functions_with_a_suite():
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "KernelSuite" for base in node.bases):
                (listed,) = [
                    part.value for part in node.body if isinstance(part, ast.Assign) and part.targets[0].id == "functions"
                ]
                yield from (name.id for name in listed.elts)


def test_every_kernel_has_a_suite():
    found = {node.name for _, node in autograd_functions()}
    assert len(found) >= 17
    assert found == set(functions_with_a_suite())


def test_kernels_are_where_they_are_looked_for():
    assert {home for home, _ in autograd_functions()} == HOMES


def test_every_kernel_has_a_rule_for_stacks():
    for _, node in autograd_functions():
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        assert {"forward", "setup_context", "backward", "vmap"} <= methods, node.name
