"""Wrong calls of precompute, and folders that are no bases."""

import os

import numpy as np
import pytest

from chebnet2d import InputError
from chebnet2d.bases import Bases, BasesError, large_operator, parse_bytes, precompute


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"degree": -1}, "degree must be an integer >= 0"),
            ({"dtype": "float64"}, "dtype must be one of 'float32', 'float16', got 'float64'"),
            ({"rows": "some"}, "rows must be one of 'labelled', 'all'"),
            ({"rows": [1, 1]}, "rows must be different nodes from 0 to 299"),
            ({"rows": [300]}, "rows must be different nodes"),
            ({"rows": [0.5]}, "rows must be 'labelled', 'all' or a vector of nodes"),
            ({"memory": "lots"}, "memory must be a size like 8GiB or 512MB"),
            ({"memory": "1MiB"}, r"memory must be at least .* of which .* are in use already, got"),
            ({"basis": "fourier"}, "basis must be one of"),
            ({"operator": "A"}, "operator must be one of 'L_hat', 'P', 'P~'"),
            ({"block": 0}, "block must be an integer >= 1"),
        ],
    )
    def test_sentences(self, data, tmp_path, options, sentence):
        with pytest.raises(InputError, match=sentence):
            precompute(data, out=tmp_path / "b", **options)
        assert not (tmp_path / "b" / "manifest.json").exists()

    def test_wrong_features(self, data, tmp_path):
        with pytest.raises(InputError, match="x must be an N x F tensor or SparseOperator with N = 300"):
            precompute(data, data.x[:5], out=tmp_path)
        with pytest.raises(InputError, match="x must be finite"):
            precompute(data, data.x.log(), out=tmp_path)
        with pytest.raises(InputError, match="graph must be a Data with an edge_index, or a SparseOperator"):
            precompute(None, data.x, out=tmp_path)

    def test_an_overflow_is_told_and_leaves_nothing(self, data, tmp_path):
        with pytest.raises(InputError, match=r"the terms must fit float16, got .* at degree 0"):
            precompute(data, data.x * 1e6, out=tmp_path / "b", dtype="float16")
        assert not list((tmp_path / "b").glob("*block*"))

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"degree": 3}, "must hold degree 3, got degree 2"),
            ({"dtype": "float16"}, "must hold dtype float16, got dtype float32"),
            ({"basis": "legendre"}, "must hold the basis legendre, got the basis chebyshev"),
            ({"operator": "P"}, "must hold the graph"),
            ({"rows": "all"}, "must hold 300 rows, got 270 rows"),
            ({"rows": np.arange(270)}, "must hold the rows"),
        ],
    )
    def test_other_bases_in_the_folder_are_refused(self, data, tmp_path, change, sentence):
        asked = {"degree": 2, "out": tmp_path / "b"}
        precompute(data, **asked)
        before = (tmp_path / "b" / "manifest.json").read_text()
        with pytest.raises(BasesError, match=sentence + ".* Name another folder"):
            precompute(data, **{**asked, **change})
        assert (tmp_path / "b" / "manifest.json").read_text() == before

    def test_bases_of_another_graph_or_other_features_are_refused(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "b", degree=2)
        other = data.clone()
        other.edge_index = other.edge_index[:, (other.edge_index != 5).all(dim=0)]
        with pytest.raises(BasesError, match="must hold the graph"):
            precompute(other, out=tmp_path / "b", degree=2)
        with pytest.raises(BasesError, match="must hold the features"):
            precompute(data, data.x + 1, out=tmp_path / "b", degree=2)
        bases.check(large_operator(data.edge_index, 300), data.x)
        with pytest.raises(BasesError, match="must belong to the graph"):
            bases.check(large_operator(other.edge_index, 300))
        with pytest.raises(BasesError, match="must belong to the features"):
            bases.check(x=data.x + 1)

    def test_what_is_no_folder_of_bases(self, data, tmp_path):
        with pytest.raises(BasesError, match="must be a folder with finished bases, got no manifest.json"):
            Bases.open(tmp_path)
        (tmp_path / "notes.txt").write_text("mine")
        with pytest.raises(BasesError, match="must be a new or empty folder, or one with these bases, got other files in it"):
            precompute(data, out=tmp_path)
        with pytest.raises(BasesError, match="must be a folder, got a file"):
            precompute(data, out=tmp_path / "notes.txt")
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "manifest.json").write_text("[]")
        with pytest.raises(BasesError, match="must be a manifest of format 1, got something else"):
            Bases.open(tmp_path / "b")

    def test_broken_files_are_told(self, data, tmp_path):
        folder = tmp_path / "b"
        precompute(data, out=folder, degree=2)
        with pytest.raises(BasesError, match="must have degree 5, got 2"):
            Bases.open(folder, degree=5)
        os.truncate(folder / "block-0000.npy", 1000)
        with pytest.raises(BasesError, match=r"block-0000.npy must be a numpy array, got ValueError. Precompute again"):
            Bases.open(folder)
        (folder / "block-0000.npy").unlink()
        with pytest.raises(BasesError, match="must have the file block-0000.npy"):
            Bases.open(folder)

    def test_pickles_are_not_loaded(self, data, tmp_path):
        precompute(data, out=tmp_path / "b", degree=1)
        np.save(tmp_path / "b" / "rows.npy", np.array([{}], dtype=object), allow_pickle=True)
        with pytest.raises(BasesError, match=r"rows.npy must be a numpy array"):
            Bases.open(tmp_path / "b")

    @pytest.mark.parametrize(
        ("text", "count"),
        [("8GiB", 2**33), ("512 MB", 512 * 10**6), ("1.5g", 1_500_000_000), ("100", 100), (7, 7), ("2KiB", 2048)],
    )
    def test_sizes(self, text, count):
        assert parse_bytes(text) == count

    @pytest.mark.parametrize("text", ["", "GiB", "-1GiB", "8 Gibibytes", 0, -5, True, 1.5])
    def test_no_sizes(self, text):
        with pytest.raises(InputError, match="memory must be a size like"):
            parse_bytes(text)
