"""Pickles that would run code, and the few that are admitted."""

import os
import pickle

import numpy as np
import pytest
import scipy.sparse

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.data import load
from chebnet2d.data.raw_formats.unpickler import RefusedPickle, load_arrays, load_object_npy

pytestmark = pytest.mark.usefixtures("own_cache")


class Call:
    """Pickles as the call ``function(*arguments)``."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def hostile(marker):
    command = f"touch {marker}"
    return {
        "os.system": pickle.dumps(Call(os.system, command), protocol=2),
        "eval": pickle.dumps(Call(eval, f"open({str(marker)!r}, 'w')"), protocol=2),
        "protocol 0": b"cos\nsystem\n(S'" + command.encode() + b"'\ntR.",
        "stack global": pickle.dumps(Call(os.system, command), protocol=4),
        "nested": pickle.dumps([np.zeros(3), {"a": Call(os.system, command)}], protocol=2),
        "inside an object array": pickle.dumps(np.array([Call(os.system, command)], dtype=object), protocol=2),
        "attribute of an admitted module": pickle.dumps(Call(scipy.sparse.load_npz, "x.npz"), protocol=2),
        "numpy.load": pickle.dumps(Call(np.load, "x.npy"), protocol=2),
        "dotted name": b"\x80\x04\x8c\x05numpy\x8c\x0fdtype.__class__\x93.",
        "default factory": b"ccollections\ndefaultdict\n(cos\ngetcwd\ntR.",
        "persistent": b"Pos\n.",
    }


@pytest.mark.parametrize("case", hostile("x"))
@pytest.mark.parametrize("part", ["x", "graph"])
def test_a_hostile_pickle_does_not_run(root, tmp_path, case, part):
    folder = raw.write_planetoid(root)["folder"]
    marker = tmp_path / "marker"
    (folder / f"ind.cora.{part}").write_bytes(hostile(marker)[case])
    with pytest.raises(InputError, match=rf"load: .*ind.cora.{part} must be .*got RefusedPickle: "):
        load("cora", root)
    assert not marker.exists()
    assert not (tmp_path / "cache").exists()


def test_a_hostile_split_file_does_not_run(root, tmp_path):
    folder = raw.write_facebook100(root)["folder"]
    marker = tmp_path / "marker"
    np.save(folder / "fb100-Penn94-splits.npy", np.array([Call(os.system, f"touch {marker}")], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"fb100-Penn94-splits.npy must be .*got RefusedPickle: the name posix.system"):
        load("penn94", root)
    assert not marker.exists()


def test_a_hostile_object_array_in_an_archive_does_not_run(root, tmp_path):
    path = raw.write_heterophilous(root)["path"]
    arrays = dict(np.load(path))
    marker = tmp_path / "marker"
    arrays["node_labels"] = np.array([Call(os.system, f"touch {marker}")] * raw.NODES, dtype=object)
    np.savez(path, **arrays)
    with pytest.raises(InputError, match="must be a numpy archive of plain arrays, got ValueError"):
        load("roman-empire", root)
    assert not marker.exists()


@pytest.mark.parametrize("protocol", [0, 2, 3, 4])
def test_admitted_pickles_come_out_as_they_went_in(protocol):
    matrix = scipy.sparse.csr_matrix(np.eye(3, 4, dtype=np.float32))
    for array in (
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.random.default_rng(0).random((3, 2))),
        np.array([True, False]),
    ):
        if protocol >= 2:
            found = load_arrays(pickle.dumps(array, protocol=protocol))
            assert found.dtype == array.dtype
            np.testing.assert_array_equal(found, array)
    assert load_arrays(pickle.dumps({1: [2, 3], "a": None}, protocol=protocol)) == {1: [2, 3], "a": None}
    if protocol >= 2:
        np.testing.assert_array_equal(load_arrays(pickle.dumps(matrix, protocol=protocol)).toarray(), matrix.toarray())
        big = np.arange(3, dtype=">i4")
        np.testing.assert_array_equal(load_arrays(pickle.dumps(big, protocol=protocol)), big)


def test_indices_outside_of_a_matrix_are_refused():
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    matrix.indices = np.array([0, 1, 99], dtype=np.int32)
    with pytest.raises(ValueError, match="99|indices"):
        load_arrays(pickle.dumps(matrix, protocol=2))


def test_pointers_that_only_look_empty_are_refused():
    """Scipy looks at no pointer if the last one is 0, and a product with such a matrix ends the process."""
    matrix = scipy.sparse.csr_matrix(np.eye(3))
    matrix.indptr = np.array([0, 2**30, 5, 0], dtype=np.int32)
    with pytest.raises(ValueError, match="must not fall"):
        load_arrays(pickle.dumps(matrix, protocol=2))


@pytest.mark.filterwarnings("error")
def test_odd_escapes_in_texts_do_not_warn():
    assert load_arrays(b"S'a\\]'\n.") == "a\\]"


@pytest.mark.filterwarnings("error")
def test_a_header_of_python_2_does_not_warn(tmp_path):
    np.save(tmp_path / "a.npy", np.array([1, 2], dtype=object), allow_pickle=True)
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "b.npy").write_bytes(content.replace(b"(2,), ", b"(2L,),"))
    assert load_object_npy(tmp_path / "b.npy") == [1, 2]


def test_texts_as_arrays_are_refused():
    with pytest.raises(RefusedPickle, match="an array of type 'U"):
        load_arrays(pickle.dumps(np.array(["a", "b"]), protocol=2))
