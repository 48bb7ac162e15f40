"""The reference is made of docstrings: every public object has one, and every room a page."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import chebnet2d

API = Path(__file__).parents[1] / "docs" / "api"
ARRAYS = re.compile(r"\bTensor\b|ndarray|NDArray|SparseOperator")
SHAPE = re.compile(
    r"\w\)? x \(?\w|\b(of|own) length\b|\bshape\b|\bvector|\b0-dimensional\b|\b([Oo]ne|a|the) (number|value|entry|class|index)\b"
    r"|\b[NEFHCDRBKn] (\w+ )?(numbers|values|coefficients|eigenvalues|indices|nodes|weights|classes|columns|rows|terms)\b"
)
ROOMS = sorted(name for name in chebnet2d.__all__ if inspect.ismodule(getattr(chebnet2d, name)) or name == "search")


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_object_has_a_docstring_of_its_own(room):
    module = importlib.import_module(f"chebnet2d.{room}")
    assert module.__doc__
    objects = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    own = {name: found for name, found in objects.items() if inspect.isroutine(found) or inspect.isclass(found)}
    assert [
        name for name, found in own.items() if not (found.__dict__.get("__doc__") if inspect.isclass(found) else found.__doc__)
    ] == []


def _of_tensors(found):
    """Whether the annotations of a function, or of the constructor of a class, speak of arrays."""
    try:
        signature = inspect.signature(found)
    except ValueError:  # an enumeration, an exception
        return False
    annotations = [signature.return_annotation, *(parameter.annotation for parameter in signature.parameters.values())]
    return ARRAYS.search(" ".join(map(str, annotations))) is not None


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_of_what_works_on_arrays_have_shapes(room):
    module = importlib.import_module(f"chebnet2d.{room}")
    objects = [(name, getattr(module, name)) for name in getattr(module, "__all__", ())]
    own = [(name, found) for name, found in objects if inspect.isroutine(found) or inspect.isclass(found)]
    assert [name for name, found in own if _of_tensors(found) and not SHAPE.search(inspect.getdoc(found))] == []
    members = [
        (f"{name}.{member}", function, inspect.getdoc(getattr(found, member)))
        for name, found in own
        if inspect.isclass(found) and not getattr(found, "_is_protocol", False)
        for member, function in vars(found).items()
        if inspect.isfunction(function) and not member.startswith("_")
    ]
    assert [name for name, function, text in members if _of_tensors(function) and not text] == []


def test_shapes_are_told_from_other_words():
    assert all(
        map(SHAPE.search, ("x: N x F", "2 x E", "(D + 1) x C x C", "a vector of length n", "R numbers", "one number for each"))
    )
    assert not any(map(SHAPE.search, ("A graph", "GCN and ChebNet2D", "the degree")))


def test_every_room_has_a_page():
    assert {page.stem for page in API.glob("*.md")} == set(ROOMS)
    for room in ROOMS:
        assert f".. automodule:: chebnet2d.{room}\n" in (API / f"{room}.md").read_text(encoding="utf-8")
