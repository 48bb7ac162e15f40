"""Indices and masks of any library as a split."""

import numpy as np
import pytest
import torch

import chebnet2d
from chebnet2d import InputError


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=40, classes=2, features=4, homophily=0.9, seed=0)


def test_every_form_is_the_same_split(data):
    known = chebnet2d.data.split(data, "uniform", seed=0)
    masks = known.masks(40)
    forms = [
        known,
        {part: nodes.numpy() for part, nodes in known.parts.items()},
        tuple(nodes.tolist() for nodes in known.parts.values()),
        {part: masks[f"{part}_mask"].numpy() for part in known.parts},
        {part: masks[f"{part}_mask"] for part in known.parts},
    ]
    results = [chebnet2d.fit(chebnet2d.ChebNet2D(4, 2, degree=2), data, form, seed=1, epochs=5) for form in forms]
    assert len({result.test["accuracy"] for result in results}) == 1
    assert {getattr(result.split, "digest", None) for result in results} == {known.digest}
    without = chebnet2d.fit(chebnet2d.ChebNet2D(4, 2, degree=2), data, (known.train, known.val), epochs=2)
    assert without.test == {}


@pytest.mark.parametrize(
    ("split", "sentence"),
    [
        (5, "fit: split must be a Split, or train, val and test as a mapping or a tuple"),
        ({"train": [0]}, "fit: split must be a Split, or train, val and test"),
        (([0.5], [1]), "fit: split.train must be indices or a mask of nodes"),
        (([0, 0], [1]), "fit: split.train must hold distinct nodes"),
        (([0], [99]), "fit: split.val must hold nodes below 40"),
        (([0], torch.zeros(40, dtype=torch.bool)), "fit: split.val must not be empty"),
        ((np.zeros((2, 2), dtype=bool), [1]), "fit: split.train must be indices or a mask of nodes"),
    ],
)
def test_wrong_splits(data, split, sentence):
    with pytest.raises(InputError, match=sentence):
        chebnet2d.fit(chebnet2d.ChebNet2D(4, 2, degree=2), data, split, epochs=2)
