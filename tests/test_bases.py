"""Bases on disk. The oracle is dense linear algebra: polynomials of a matrix through numpy's own evaluation."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import chebnet2d
from chebnet2d import InputError
from chebnet2d.bases import Bases, BasesError, PrecomputeProgress, large_operator, parse_bytes, precompute
from chebnet2d.bases import blocks as blocks_module
from chebnet2d.bases import lock as lock_module
from chebnet2d.bases import operators as operators_module
from chebnet2d.bases import precompute as precompute_function
from chebnet2d.bases import recurrence as recurrence_module
from chebnet2d.graph import SparseOperator, operator_of
from chebnet2d.polynomials import Bernstein, Chebyshev, Jacobi, Legendre, Monomial


@pytest.fixture(scope="module")
def data():
    made = chebnet2d.data.load("csbm", nodes=300, classes=3, features=7, degree=6, seed=1)
    made.y[::10] = -1
    return made


def dense_operator(data, kind="L_hat"):
    """Normalised adjacency by numpy alone."""
    nodes = data.num_nodes
    a = np.zeros((nodes, nodes))
    a[data.edge_index[0], data.edge_index[1]] = 1
    if kind == "P~":
        a += np.eye(nodes)
    degree = a.sum(1)
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0)
    p = scale[:, None] * a * scale
    return -p if kind == "L_hat" else p


def at_eigenvalues(evaluate, matrix, x, degree):
    """(D + 1) x N x F: p_k(M) x by eigendecomposition and scipy's polynomials."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    return np.stack([vectors @ (evaluate(k, eigenvalues)[:, None] * (vectors.T @ x)) for k in range(degree + 1)])


EVALUATIONS = {
    "chebyshev": (Chebyshev(), scipy.special.eval_chebyt),
    "legendre": (Legendre(), scipy.special.eval_legendre),
    "monomial": (Monomial(), lambda k, x: x**k),
    "jacobi": (Jacobi(0.5, -0.25), lambda k, x: scipy.special.eval_jacobi(k, 0.5, -0.25, x)),
    "bernstein": (Bernstein(), lambda k, x: scipy.special.binom(5, k) * ((1 + x) / 2) ** k * ((1 - x) / 2) ** (5 - k)),
}


class TestValues:
    @pytest.mark.parametrize("name", list(EVALUATIONS))
    @pytest.mark.parametrize("kind", ["L_hat", "P~"])
    def test_terms_are_those_of_dense_algebra(self, data, tmp_path, name, kind):
        basis, evaluate = EVALUATIONS[name]
        bases = precompute(data, out=tmp_path / "b", basis=basis, degree=5, operator=kind, block=3)
        kept = (data.y >= 0).nonzero().flatten()
        assert bases.nodes.tolist() == kept.tolist()
        expected = at_eigenvalues(evaluate, dense_operator(data, kind), data.x.double().numpy(), 5)[:, kept]
        found = bases.terms(kept).double().numpy().transpose(1, 0, 2)
        np.testing.assert_allclose(found, expected, atol=2e-5)
        assert type(bases.basis) is type(basis)
        assert bases.basis == basis

    def test_the_orthonormal_basis_is_orthonormal_in_every_column(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "b", basis="orthonormal", degree=4, rows="all", block=2)
        terms = bases.terms(torch.arange(300)).double()
        for column in range(7):
            gram = terms[:, :, column].T @ terms[:, :, column]
            torch.testing.assert_close(gram, torch.eye(5, dtype=torch.float64), atol=1e-4, rtol=0)

    def test_sparse_features_give_the_same_files_as_dense_ones(self, data, tmp_path):
        x = torch.where(data.x > 1, data.x, 0.0)
        dense = precompute(data, x, out=tmp_path / "dense", degree=3, block=2)
        for name, sparse in (("csr", x.to_sparse_csr()), ("operator", SparseOperator.from_dense(x))):
            found = precompute(data, sparse, out=tmp_path / name, degree=3, block=2)
            for index in range(4):
                file = f"block-{index:04d}.npy"
                assert (found.folder / file).read_bytes() == (dense.folder / file).read_bytes()

    def test_widths_do_not_change_the_numbers(self, data, tmp_path):
        rows = torch.arange(300)
        one = precompute(data, out=tmp_path / "a", degree=4, rows="all", block=7)
        many = precompute(data, out=tmp_path / "b", degree=4, rows="all", block=2)
        assert len(many.manifest.blocks) == 4
        assert [len(one.manifest.blocks), one.manifest.blocks] == [1, [[0, 7]]]
        torch.testing.assert_close(one.terms(rows), many.terms(rows), atol=1e-6, rtol=0)

    def test_half_precision_is_the_rounded_single_precision(self, data, tmp_path):
        full = precompute(data, out=tmp_path / "a", degree=4)
        half = precompute(data, out=tmp_path / "b", degree=4, dtype="float16")
        assert torch.equal(half.read(torch.arange(50)), full.read(torch.arange(50)).half().float())
        assert half.nbytes * 2 == full.nbytes

    @settings(max_examples=15, deadline=None)
    @given(
        seed=st.integers(0, 10**6),
        nodes=st.integers(1, 600),
        features=st.integers(1, 5),
        degree=st.integers(0, 4),
        block=st.integers(1, 6),
        half=st.booleans(),
    )
    def test_any_rows_in_any_order_come_back(self, tmp_path_factory, seed, nodes, features, degree, block, half):
        rng = np.random.default_rng(seed)
        edges = torch.from_numpy(rng.integers(0, nodes, (2, 3 * nodes)))
        operator = operator_of(edges, None, torch.zeros(nodes, 1), owner="test")
        x = torch.from_numpy(rng.standard_normal((nodes, features)).astype(np.float32))
        rows = rng.permutation(nodes)[: max(1, nodes * 2 // 3)]
        out = tmp_path_factory.mktemp("bases")
        dtype = "float16" if half else "float32"
        bases = precompute(operator, x, out=out, degree=degree, rows=rows, block=block, dtype=dtype)
        expected = torch.stack(list(Chebyshev().terms(lambda v: operator @ v, x, degree)), dim=1)
        some = torch.from_numpy(rng.permutation(rows)[: max(1, rows.size // 2)])
        tolerance = 2e-3 if half else 1e-5
        torch.testing.assert_close(bases.terms(some), expected[some], atol=4 * tolerance, rtol=tolerance)

    def test_files_are_plain_numpy_arrays(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "b", degree=2, rows="all")
        block = np.load(tmp_path / "b" / "block-0000.npy", mmap_mode="r", allow_pickle=False)
        assert block.shape == (2, 3, 256, 7)
        np.testing.assert_array_equal(block[1, :, 4], bases.terms(torch.tensor([260]))[0].numpy())
        assert not (tmp_path / "b" / "plan.json").exists()

    def test_a_device_that_is_none_leaves_nothing_behind(self, tmp_path):
        with pytest.raises(InputError, match="precompute: device must be 'cpu', 'cuda' or 'cuda:N', got 'gpu'"):
            precompute(chebnet2d.data.load("csbm"), out=tmp_path / "b", degree=2, device="gpu")
        assert not (tmp_path / "b").exists()

    @pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
    def test_a_gpu_computes_the_same(self, data, tmp_path):
        here = precompute(data, out=tmp_path / "a", degree=4)
        there = precompute(data, out=tmp_path / "b", degree=4, device="cuda")
        torch.testing.assert_close(here.read(torch.arange(50)), there.read(torch.arange(50)), atol=1e-5, rtol=1e-5)


class TestProduct:
    @settings(max_examples=25, deadline=None)
    @given(
        seed=st.integers(0, 10**6),
        nodes=st.integers(1, 80),
        edges=st.integers(0, 300),
        width=st.integers(1, 40),
        alpha=st.floats(-3, 3),
        beta=st.sampled_from([0.0, -1.0, 0.5]),
        rows=st.sampled_from([1, 7, 1 << 15]),
    )
    def test_it_is_that_of_dense_algebra(self, seed, nodes, edges, width, alpha, beta, rows):
        """Rows without entries, one row at a time, and an ``out`` that is full of NaN where beta is 0."""
        rng = np.random.default_rng(seed)
        index = torch.from_numpy(rng.integers(0, nodes, (2, edges)))
        operator = operator_of(index, None, torch.zeros(nodes, 1), owner="test")
        x = torch.from_numpy(rng.standard_normal((nodes, width)).astype(np.float32))
        before = torch.from_numpy(rng.standard_normal((nodes, width)).astype(np.float32))
        expected = alpha * (operator.to_dense().double() @ x.double()) + beta * before.double()
        out = torch.full_like(x, torch.nan) if beta == 0 else before.clone()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recurrence_module, "_ROWS", rows)
            found = recurrence_module.large_step(operator, x, out, alpha, beta)
        assert found is out
        torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=1e-5)

    def test_other_precisions_take_the_general_way(self):
        operator = operator_of(torch.tensor([[0, 1], [1, 2]]), None, torch.zeros(3, 1).double(), owner="test")
        x = torch.rand(3, 2).double()
        out = torch.full_like(x, torch.nan)
        torch.testing.assert_close(recurrence_module.large_step(operator, x, out, 2.0), 2 * operator.to_dense() @ x)


class TestOperator:
    @pytest.mark.parametrize("kind", ["L_hat", "P", "P~"])
    @pytest.mark.parametrize("chunk", [7, 1 << 22])
    def test_it_is_bit_for_bit_the_general_one(self, data, monkeypatch, kind, chunk):
        monkeypatch.setattr(operators_module, "_CHUNK", chunk)
        general = operator_of(data.edge_index.clone(), None, data.x, kind=kind, owner="test").csr
        lean = large_operator(data.edge_index, 300, kind).csr
        for part in ("crow_indices", "col_indices", "values"):
            assert torch.equal(getattr(lean, part)(), getattr(general, part)())

    @pytest.mark.parametrize("spoil", ["unsorted", "one direction", "twice", "loop"])
    def test_other_edge_lists_take_the_general_way(self, data, spoil):
        edges = data.edge_index
        if spoil == "unsorted":
            edges = edges[:, torch.randperm(edges.shape[1])]
        elif spoil == "one direction":
            edges = torch.cat([edges[:, :5], edges[:, 6:]], dim=1)
        elif spoil == "twice":
            edges = torch.cat([edges[:, :1], edges], dim=1)
        else:
            edges = torch.cat([torch.zeros(2, 1, dtype=torch.int64), edges], dim=1)
        assert not operators_module._canonical(edges, 300)
        expected = operator_of(edges, None, data.x, owner="test").to_dense()
        torch.testing.assert_close(large_operator(edges, 300).to_dense(), expected)

    def test_weights_and_isolated_nodes(self):
        edges = torch.tensor([[0, 1], [1, 0]])
        assert large_operator(edges, 4).to_dense()[:2, :2].tolist() == [[0, -1], [-1, 0]]
        weight = torch.tensor([2.0, 2.0])
        weighted = large_operator(edges, 4, "P", weight).to_dense()
        assert weighted.sum() == 2


class TestRows:
    def test_labels_and_parts_are_stored_with_the_rows(self, data, tmp_path):
        made = data.clone()
        made.train_mask = torch.zeros(300, 2, dtype=torch.bool)
        made.train_mask[:100, 0] = made.train_mask[50:150, 1] = True
        made.val_mask = torch.zeros(300, 2, dtype=torch.bool)
        made.val_mask[150:200] = True
        made.test_mask = torch.zeros(300, 1, dtype=torch.bool)
        made.test_mask[200:] = True
        bases = precompute(made, out=tmp_path / "b", degree=1)
        assert bases.labels.tolist() == made.y[bases.nodes].tolist()
        assert (bases.parts[:, 0] == 1).sum() == (made.y[:100] >= 0).sum()
        assert bases.parts[:, 1].tolist() == [0] * 45 + [1] * 90 + [2] * 45 + [3] * 90
        assert (bases.num_classes, bases.metric, bases.manifest.name) == (3, "accuracy", "csbm")

    def test_nodes_that_are_not_stored_are_told(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "b", degree=1)
        with pytest.raises(InputError, match=r"nodes must be stored, got node 10, of which there is no row. .*rows='all'"):
            bases.terms(torch.tensor([1, 10]))
        with pytest.raises(InputError, match="nodes must be from 0 to 299"):
            bases.terms(torch.tensor([300]))
        with pytest.raises(InputError, match="nodes must be a vector of node indices"):
            bases.terms(torch.tensor([0.5]))


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


class TestInterrupted:
    def test_an_interrupted_call_goes_on_where_it_was(self, data, tmp_path):
        steps = []

        def interrupt(progress: PrecomputeProgress) -> None:
            steps.append(progress)
            if progress.block == 2:
                raise KeyboardInterrupt

        asked = {"out": tmp_path / "b", "degree": 3, "block": 2, "rows": "all"}
        with pytest.raises(KeyboardInterrupt):
            precompute(data, **asked, progress=interrupt)
        found = sorted(path.name for path in (tmp_path / "b").iterdir())
        assert found == [".lock", "block-0000.npy", "block-0001.npy", "labels.npy", "plan.json", "rows.npy"]
        with pytest.raises(BasesError, match="an interrupted precompute; run it again"):
            Bases.open(tmp_path / "b")
        with pytest.raises(BasesError, match="must hold degree 4, got degree 3"):
            precompute(data, **{**asked, "degree": 4})
        stamps = [(tmp_path / "b" / f"block-000{i}.npy").stat().st_mtime_ns for i in range(2)]
        later = []
        bases = precompute(data, **asked, progress=later.append)
        assert {step.block for step in later} == {2, 3}
        assert (later[-1].done, later[-1].total, later[0].done) == (28, 28, 18)
        assert [(tmp_path / "b" / f"block-000{i}.npy").stat().st_mtime_ns for i in range(2)] == stamps
        whole = precompute(data, out=tmp_path / "c", degree=3, block=2, rows="all")
        assert torch.equal(bases.read(torch.arange(300)), whole.read(torch.arange(300)))

    def test_a_finished_folder_is_opened_at_once(self, data, tmp_path):
        precompute(data, out=tmp_path / "b", degree=3)
        steps = []
        precompute(data, out=tmp_path / "b", degree=3, progress=steps.append)
        assert steps == []

    def test_narrower_blocks_start_anew(self, data, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            precompute(data, out=tmp_path / "b", degree=3, block=3, progress=stop_at(2))
        bases = precompute(data, out=tmp_path / "b", degree=3, block=1)
        assert len(bases.manifest.blocks) == 7
        assert bases.read(torch.arange(5)).isfinite().all()

    def test_killed_and_started_again(self, tmp_path):
        """SIGKILL in the middle: no manifest, finished blocks kept, and the second process gives the same bytes."""
        script = tmp_path / "work.py"
        script.write_text(
            textwrap.dedent("""
            import sys, time, torch
            torch.set_num_threads(1)
            import chebnet2d
            from chebnet2d.bases import precompute
            data = chebnet2d.data.load("csbm", nodes=2000, features=12, degree=6, seed=1)
            slow = len(sys.argv) > 2
            def report(progress):
                print(progress.block, flush=True)
                time.sleep(0.05 if slow else 0)
            precompute(data, out=sys.argv[1], degree=4, block=2, progress=report)
            """)
        )
        out = tmp_path / "b"
        process = subprocess.Popen([sys.executable, str(script), str(out), "slow"], stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.strip() == "3":
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
        assert not (out / "manifest.json").exists()
        finished = {path.name: path.stat().st_mtime_ns for path in out.glob("block-*.npy")}
        assert 2 <= len(finished) <= 3
        assert list(out.glob(".block-*.tmp"))
        again = subprocess.run([sys.executable, str(script), str(out)], check=True, capture_output=True, text=True)
        redone = set(again.stdout.split())
        assert redone == {str(i) for i in range(6)} - {str(int(name[6:10])) for name in finished}
        assert {name: (out / name).stat().st_mtime_ns for name in finished} == finished
        assert not list(out.glob(".block-*.tmp"))
        data = chebnet2d.data.load("csbm", nodes=2000, features=12, degree=6, seed=1)
        whole = precompute(data, out=tmp_path / "c", degree=4, block=2)
        torch.testing.assert_close(Bases.open(out).read(torch.arange(2000)), whole.read(torch.arange(2000)), atol=1e-6, rtol=0)

    def test_two_writers(self, data, tmp_path):
        with lock_module.locked(tmp_path / "b"), pytest.raises(BasesError, match="must have one writer, got another process"):
            precompute(data, out=tmp_path / "b", degree=1)


def stop_at(block):
    def report(progress):
        if progress.block == block:
            raise KeyboardInterrupt

    return report


class TestFullDisk:
    @pytest.mark.parametrize("call", ["pwrite", "fsync", "posix_fallocate"])
    def test_every_write_may_fail(self, data, tmp_path, monkeypatch, call):
        real = getattr(os, call)
        calls = []

        def full(*arguments):
            calls.append(arguments)
            if len(calls) > 2:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments)

        monkeypatch.setattr(os, call, full)
        with pytest.raises(BasesError, match=r"the disk of .* must have room for the bases, got: No space left on device"):
            precompute(data, out=tmp_path / "b", degree=3, block=1)
        assert not (tmp_path / "b" / "manifest.json").exists()
        monkeypatch.undo()
        bases = precompute(data, out=tmp_path / "b", degree=3, block=1)
        assert not list((tmp_path / "b").glob("*.tmp"))
        assert bases.read(torch.arange(10)).isfinite().all()

    def test_too_little_space_is_told_before_the_work(self, data, tmp_path, monkeypatch):
        usage = type("Usage", (), {"free": 1000})
        monkeypatch.setattr(blocks_module.shutil, "disk_usage", lambda _: usage)
        with pytest.raises(BasesError, match=r"must have .* KiB free for the bases, got 0.977 KiB"):
            precompute(data, out=tmp_path / "b", degree=3)
        assert not (tmp_path / "b" / "manifest.json").exists()

    def test_a_limit_of_the_system(self, tmp_path):
        """A real refusal by the kernel: files of this process may not grow beyond 60 KB."""
        code = textwrap.dedent(f"""
            import resource
            import chebnet2d
            from chebnet2d.bases import precompute
            data = chebnet2d.data.load("csbm", nodes=3000, features=8, degree=6, seed=1)
            resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
            try:
                precompute(data, out={str(tmp_path / "b")!r}, degree=4)
            except chebnet2d.InputError as error:
                print(error)
            """)
        answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert "must have room for the bases" in answer.stdout
        assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [".lock", "labels.npy", "plan.json", "rows.npy"]

    def test_a_folder_that_may_not_be_written(self, data, tmp_path, monkeypatch):
        def refuse(*arguments, **more):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(lock_module.Path, "mkdir", refuse)
        with pytest.raises(BasesError, match="must be writable, got: Permission denied"):
            precompute(data, out=tmp_path / "b")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_memory_limit_is_obeyed(tmp_path):
    """60,000 nodes x 400 sparse features: dense they are 96 MB, and two buffers of all columns 192 MB."""
    code = textwrap.dedent(f"""
        import resource, sys
        import numpy as np, scipy.sparse, torch
        torch.set_num_threads(1)
        import chebnet2d
        from chebnet2d.bases import precompute
        from chebnet2d.bases.sizes import resident_bytes
        from chebnet2d.graph import SparseOperator
        rng = np.random.default_rng(0)
        data = chebnet2d.data.load("csbm", nodes=60_000, features=1, degree=4, seed=1)
        x = scipy.sparse.random(60_000, 400, density=0.005, format="csr", dtype=np.float32, random_state=0)
        x = SparseOperator.from_scipy(x)
        limit = resident_bytes() + (192 + 40) * 2**20
        open("/proc/self/clear_refs", "w").write("5")
        bases = precompute(data, x, out={str(tmp_path / "b")!r}, degree=3, rows=np.arange(1000), memory=limit)
        peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
        print(limit, peak, max(b - a for a, b in bases.manifest.blocks))
        """)
    answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    limit, peak, width = map(int, answer.stdout.split())
    assert peak < limit
    assert 40 <= width <= 64


def test_the_manifest_says_what_it_is(data, tmp_path):
    precompute_function(data, out=tmp_path / "b", degree=2, basis=Jacobi(0.5, 0.25))
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert manifest["basis"] == "jacobi"
    assert manifest["parameters"] == {"a": 0.5, "b": 0.25}
    assert manifest["version"] == chebnet2d.__version__
    assert repr(Bases.open(tmp_path / "b")) == "Bases(csbm: jacobi of L_hat, degree 2, 270 rows x 7 features, float32)"
