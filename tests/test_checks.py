"""InputError: its fields, the sentence made from them, and what it survives."""

import copy
import pickle

import numpy as np
import pytest
import torch

from chebnet2d import InputError
from chebnet2d._checks import describe, flag, integer, one_of, real


def full_error():
    return InputError("fit", "lr", "a finite number >= 0", -1.5, "Or use {} with {}.", mentions=("epochs", "patience"))


def test_the_fields_are_what_was_given():
    error = full_error()
    assert (error.owner, error.argument, error.rule, error.value) == ("fit", "lr", "a finite number >= 0", -1.5)
    assert (error.hint, error.mentions) == ("Or use {} with {}.", ("epochs", "patience"))
    assert (error.got, error.reason, error.verb) == (None, None, "be")
    assert isinstance(error, ValueError)
    assert isinstance(error, TypeError)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("fit", "seed", "an integer >= 0", -1), "fit: seed must be an integer >= 0, got -1 (int)."),
        (InputError("", "line 3 of a.csv", "a number", "x"), "line 3 of a.csv must be a number, got 'x'."),
        (InputError("f", "x", "given"), "f: x must be given."),
        (InputError("f", "x", "a tensor", None), "f: x must be a tensor, got None (NoneType)."),
        (InputError("f", "x", "2 columns", got="3", verb="have"), "f: x must have 2 columns, got 3."),
        (InputError("f", "x", "not end", verb=""), "f: x must not end."),
        (InputError("f", "file", "valid TOML", reason="line 1: no value."), "f: file must be valid TOML, got: line 1: no value."),
        (InputError("f", "x", "given", hint="Use {0} and {1}."), "f: x must be given. Use {0} and {1}."),
        (full_error(), "fit: lr must be a finite number >= 0, got -1.5 (float). Or use epochs= with patience=."),
    ],
)
def test_the_sentence(error, sentence):
    assert str(error) == error.sentence() == sentence


def test_a_command_says_its_own_name_and_flags():
    error = full_error()
    flags = {"lr": "--learning-rate", "epochs": "--epochs"}
    assert error.sentence("train", flags) == (
        "train: --learning-rate must be a finite number >= 0, got -1.5. Or use --epochs with patience=."
    )
    assert error.sentence(owner="") == "lr must be a finite number >= 0, got -1.5 (float). Or use epochs= with patience=."
    assert error.sentence() == str(error), "asking for another sentence does not change the error"


class _Special(InputError):
    pass


@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", [InputError, _Special])
def test_it_goes_through_pickle_and_copy_with_all_its_fields(kind, again):
    for error in (
        kind("f", "x", "given"),
        kind("f", "x", "given", None),
        kind("f", "x", "given", 3, "Use {}.", got="three", reason="no", verb="be", mentions=["y"]),
    ):
        other = again(error)
        assert type(other) is kind
        assert vars(other) == vars(error)
        assert str(other) == str(error)
        assert other.sentence("c", {"x": "--x", "y": "--y"}) == error.sentence("c", {"x": "--x", "y": "--y"})


def test_a_value_is_described_in_a_few_words():
    assert describe(torch.zeros(2, 3)) == "Tensor of shape (2, 3)"
    assert describe(np.zeros((4, 1))) == "ndarray of shape (4, 1)"
    assert describe(torch.tensor(2)) == "tensor(2) (Tensor)"
    assert describe("abc") == "'abc'"
    assert len(describe(list(range(1000)))) < 70


def test_numbers():
    assert integer("f", "n", np.int64(3), 1) == 3
    assert real("f", "p", np.float32(0.5), 0, 1) == 0.5
    for bad in (0, True, 1.0, "1", None):
        with pytest.raises(InputError, match="f: n must be an integer from 1 to 9, got "):
            integer("f", "n", bad, 1, 9)
    for bad in (1.0, -0.1, float("nan"), False, "0"):
        with pytest.raises(InputError, match=r"f: p must be a number in \[0, 1\), got "):
            real("f", "p", bad, 0, 1, below=True)
    with pytest.raises(InputError, match="f: p must be a finite number, got inf"):
        real("f", "p", float("inf"))
    with pytest.raises(InputError, match="f: p must be a finite number >= 0, got -1"):
        real("f", "p", -1, 0)


def test_flags_and_choices():
    assert flag("f", "b", True) is True
    with pytest.raises(InputError, match=r"f: b must be True or False, got 1 \(int\)"):
        flag("f", "b", 1)
    assert one_of("f", "kind", "red", ("red", "green")) == "red"
    with pytest.raises(InputError, match="f: kind must be one of 'red', 'green', got 'Gren'. Did you mean 'green'?"):
        one_of("f", "kind", "Gren", ("red", "green"))
    with pytest.raises(InputError, match="f: kind must be one of 'red', 'green', got 3"):
        one_of("f", "kind", 3, ("red", "green"))
