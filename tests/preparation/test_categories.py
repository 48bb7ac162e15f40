"""Categories against scikit-learn's encoder."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from chebnet2d.preparation.kinds.category import Category


@given(words=st.lists(st.sampled_from(["a", "b", "c", "ü", "long word"]), min_size=4, max_size=40))
@settings(max_examples=80, deadline=None)
def test_one_hot_is_scikit_learns(words):
    """Words that occur once are folded together; so are unknown ones, where there is a place for them."""
    ours = Category.fit("c", pa.array(words))
    theirs = OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist", sparse_output=False)
    theirs.fit(np.array(words)[:, None])
    asked = [*words, "never seen"]
    np.testing.assert_array_equal(ours.encode(pa.array(asked)).values.toarray(), theirs.transform(np.array(asked)[:, None]))
    assert ours.encode(pa.array(asked)).unknown == sum(word not in ours.words for word in asked)


def test_numbers_of_another_file_are_the_same_categories():
    column = Category.fit("school_id", pa.array(["1", "2", "1", "2"]))
    expected = [[1, 0], [0, 1]]
    for array in (pa.array([1, 2]), pa.array([1.0, 2.0]), pa.array(["1", "2"])):
        assert column.encode(array).values.toarray().tolist() == expected
