"""Which column becomes what."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from chebnet2d.preparation.choosing import choose_columns, nearly_unique

N = 60
DAYS = "moment as a scaled number, day of the week, day of the year"
HOURS = "moment as a scaled number, time of the day, day of the week"
RNG = np.random.default_rng(0)
COLUMNS = {
    "numbers": (pa.array(RNG.normal(size=N)), "number, scaled"),
    "lognormal": (pa.array(RNG.lognormal(3, 3, size=N)), "number, signed logarithm, scaled"),
    "peak": (pa.array([0.0] * 58 + [5.0, 1e9]), "number, ranks as normal scores"),
    "binary": (pa.array([0, 1] * 30), "1 and 0"),
    "answers": (pa.array(["Yes", "no"] * 30), "1 and 0"),
    "truth": (pa.array([True, None] + [False] * 58), "1 and 0, and 1 where it is missing"),
    "colour": (pa.array(["red", "blue", "green"] * 20), "3 categories"),
    "rare": (pa.array(["red"] * 30 + ["blue"] * 28 + ["odd", "odder"]), "2 categories, 2 rare ones as another"),
    "school_id": (pa.array([3, 7, 9] * 20), "3 categories"),
    "date": (pa.array([datetime.date(2020, 1 + i % 12, 1 + i % 28) for i in range(N)]), DAYS),
    "clock": (pa.array([f"{i % 24:02d}:{i % 60:02d}" for i in range(N)]), "moment as a scaled number, time of the day"),
    "spelt": (pa.array([f"{1 + i % 28}.{1 + i % 12}.2021" for i in range(N)]), DAYS),
    "zone": (pa.array([f"2021-03-{1 + i % 28:02d}T{i % 24:02d}:00:00.123+02:00" for i in range(N)]), HOURS),
    "embedding": (pa.array([[1.0, i] for i in range(N)]), "vector of 2 scaled numbers"),
    "constant": (pa.array([2.5] * N), "left out: it is 2.5 everywhere"),
    "one word": (pa.array(["a"] * N), "left out: it is 'a' everywhere"),
    "empty": (pa.nulls(N), "left out: it is empty"),
    "page_name": (pa.array([f"page {i}" for i in range(N)]), "left out: 60 different words for 60 nodes"),
    "account_id": (pa.array(range(N)), "left out: ids (60 different numbers)"),
    "half": (pa.array([1.0, None] * 30), "constant but for gaps: 1 where it is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name):
    array, became = COLUMNS[name]
    assert choose_columns([(name, array)])[0].became == became


def test_many_columns_that_are_mostly_zero_stay_as_they_are():
    words = [(f"w{k}", pa.array([0, 0, 0, k + 2])) for k in range(64)]
    chosen = choose_columns([*words, ("age", pa.array([1.0, 2, 3, 4]))])
    assert {column.kind for column in chosen[:64]} == {"count"}
    assert chosen[64].kind == "number"
    assert {column.kind for column in choose_columns(words[:63])} == {"number"}


@pytest.mark.parametrize(("mode", "scaling"), [("standard", "standard"), ("quantile", "quantile")])
def test_one_scaling_for_all_numbers(mode, scaling):
    for name in ("numbers", "lognormal"):
        assert choose_columns([(name, COLUMNS[name][0])], mode)[0].scaling == scaling


def test_nearly_unique():
    assert [nearly_unique(10, 10), nearly_unique(11, 21), nearly_unique(11, 22), nearly_unique(600, 1000)] == [
        False,
        True,
        False,
        True,
    ]
