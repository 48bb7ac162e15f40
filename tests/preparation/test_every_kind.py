"""What holds for every kind of column: a new one is taken up by itself."""

import json

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse

from chebnet2d import InputError
from chebnet2d.preparation.choosing import choose_columns
from chebnet2d.preparation.kinds import KINDS, column_from_json

EXAMPLES = {
    "number": pa.array([1.0, 2.5, None, 4.0] * 10),
    "flag": pa.array(["yes", "no", None, "no"] * 10),
    "count": None,
    "category": pa.array(["red", "blue", None, "red"] * 10),
    "moment": pa.array(["2024-01-05", "2023-06-07", None, "2020-01-01"] * 10),
    "vector": pa.array([[1.0, 2.0], None, [3.0, 1.0], [0.0, 0.0]] * 10),
    "left out": pa.array([7] * 40),
}


def fitted(kind):
    if kind == "count":
        columns = [(f"w{k}", pa.array([0, 0, 0, k + 2] * 10)) for k in range(64)]
        return choose_columns(columns)[0], columns[0][1]
    (column,) = choose_columns([("c", EXAMPLES[kind])])
    return column, EXAMPLES[kind]


def dense(encoded):
    return encoded.values.toarray() if scipy.sparse.issparse(encoded.values) else encoded.values


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_it_is_chosen_named_and_survives_json(kind):
    column, array = fitted(kind)
    assert column.kind == kind
    assert column.became
    again = column_from_json(json.loads(json.dumps(column.to_json(), allow_nan=False)))
    values = dense(column.encode(array))
    assert values.dtype == np.float32
    assert values.shape == (40, len(column.features))
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(dense(again.encode(array)), values)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_row_does_not_depend_on_the_others(kind):
    column, array = fitted(kind)
    whole = dense(column.encode(array))
    for rows in ([0], [2], [3, 0, 1]):
        np.testing.assert_array_equal(dense(column.encode(array.take(pa.array(rows)))), whole[rows])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_any_other_column_under_its_name_is_gaps_at_worst(kind):
    """A later file may hold anything: the features stay finite, and cells that cannot be read are counted."""
    column, _ = fitted(kind)
    odd = [pa.nulls(3), pa.array(["?!", None, "x"]), pa.array([1e308, -5.0, None]), pa.array([True, None, False])]
    odd += [pa.array([1, 2, 3], pa.timestamp("s")), pa.array(["12", "nan", "2024-01-05"])]
    for array in odd:
        found = column.encode(array)
        assert dense(found).shape == (3, len(column.features))
        assert np.isfinite(dense(found)).all()
        assert 0 <= found.gaps + found.unread + found.unknown <= 3


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_field_of_another_type_is_taken(kind):
    facts = fitted(kind)[0].to_json()
    for name, value in facts.items():
        for other in (None, [None], {"a": 1}, float("nan"), "text" if not isinstance(value, str) else 5):
            with pytest.raises(InputError):
                column_from_json({**facts, name: other})


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("number", {"scaling": "cube"}),
        ("number", {"scaling": "quantile", "quantiles": []}),
        ("moment", {"cycles": ["moon"]}),
        ("vector", {"spread": [1.0]}),
    ],
)
def test_numbers_that_do_not_fit_each_other_are_refused(kind, change):
    with pytest.raises(InputError, match="Preparation"):
        column_from_json({**fitted(kind)[0].to_json(), **change})


@pytest.mark.parametrize("facts", [None, {"kind": "pickle"}, {"kind": "number", "name": "a"}, {"name": "a"}])
def test_foreign_json_is_refused(facts):
    with pytest.raises(InputError, match="column"):
        column_from_json(facts)
