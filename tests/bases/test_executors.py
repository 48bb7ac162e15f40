"""Blocks of columns are tasks of any executor."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from chebnet2d import InputError
from chebnet2d.bases import BasesSpec, precompute
from chebnet2d.cluster import LocalExecutor, ProcessExecutor
from chebnet2d.graph import SparseOperator


class InThreads:
    """An executor that a user might write."""

    slots = 3

    def run(self, function, tasks, *, shared=None, seconds=None, report=None):
        with ThreadPoolExecutor(1) as pool:
            for key, arguments in tasks:
                yield key, pool.submit(function, shared, *arguments, report=report).result()


@pytest.mark.parametrize("executor", [LocalExecutor(), InThreads(), ProcessExecutor(2)], ids=["local", "own", "processes"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_files_are_the_same(data, tmp_path, monkeypatch, executor, sparse):
    monkeypatch.chdir(tmp_path)  # workers know the folder by its absolute path
    x = torch.where(data.x > 1, data.x, 0.0)
    x = SparseOperator.from_dense(x) if sparse else x
    here = precompute(data, x, out="here", degree=3, block=2)
    seen = []
    there = precompute(data, x, out="there", degree=3, block=2, executor=executor, progress=seen.append)
    assert there.manifest == here.manifest
    for path in here.folder.glob("*.npy"):
        assert (there.folder / path.name).read_bytes() == path.read_bytes()
    assert sorted({one.block for one in seen}) == [0, 1, 2, 3]
    assert (seen[-1].done, seen[-1].total) == (28, 28)
    assert [one.done for one in seen] == sorted({one.done for one in seen}), "nothing is said twice"
    precompute(data, x, out="there", degree=3, block=2, executor=executor, progress=pytest.fail)


def test_every_slot_has_a_block(data, tmp_path):
    bases = precompute(data, out=tmp_path / "b", degree=2, executor=InThreads())
    assert [stop - start for start, stop in bases.manifest.blocks] == [3, 3, 1]


def test_blocks_that_are_there_are_not_computed_again(data, tmp_path):
    def stop(progress):
        if progress.block == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        precompute(data, out=tmp_path / "b", degree=3, block=2, progress=stop)
    seen = []
    precompute(data, out=tmp_path / "b", degree=3, block=2, executor=ProcessExecutor(2), progress=seen.append)
    assert sorted(progress.block for progress in seen) == [1, 2, 3]
    assert seen[-1].done == seen[-1].total


def test_an_error_of_a_worker_is_told(data, tmp_path):
    with pytest.raises(InputError, match=r"the terms must fit float16, got .* at degree 0"):
        precompute(data, data.x * 1e6, out=tmp_path / "b", dtype="float16", executor=ProcessExecutor(1))
    assert not list((tmp_path / "b").glob("*block*"))


def test_no_executor(data, tmp_path):
    with pytest.raises(InputError, match="precompute: executor must be an object with slots and run"):
        precompute(data, out=tmp_path / "b", executor="auto")
    assert not (tmp_path / "b").exists()


class TestSpec:
    def test_fields_and_a_spec_are_the_same(self, data, tmp_path):
        spec = BasesSpec("legendre", degree=2, dtype="float16", rows="all")
        one = precompute(data, out=tmp_path / "a", spec=spec)
        two = precompute(data, out=tmp_path / "b", basis="legendre", degree=2, dtype="float16", rows="all")
        assert one.manifest == two.manifest
        three = precompute(data, out=tmp_path / "c", spec=spec, degree=3)
        assert (three.degree, three.basis_name, three.basis_parameters) == (3, "legendre", {})

    def test_a_field_that_is_none(self, data, tmp_path):
        with pytest.raises(InputError, match="precompute: an argument must be one of 'basis', 'degree', .*, got 'degre'"):
            precompute(data, out=tmp_path / "a", degre=2)


class TestLabels:
    def test_a_view_with_other_labels(self, data, tmp_path):
        bases = precompute(data, out=tmp_path / "a", degree=1)
        view = bases.with_labels(torch.arange(300) % 5)
        assert view.labels.tolist() == (bases.nodes % 5).tolist()
        assert (view.num_classes, bases.num_classes) == (5, 3)
        assert bases.labels.tolist() == data.y[bases.nodes].tolist()
        assert torch.equal(view.read(torch.arange(9)), bases.read(torch.arange(9)))

    @pytest.mark.parametrize("labels", [torch.zeros(5, dtype=torch.int64), torch.zeros(300), [0] * 300])
    def test_wrong_labels(self, data, tmp_path, labels):
        bases = precompute(data, out=tmp_path / "a", degree=1)
        with pytest.raises(InputError, match="Bases.with_labels: labels must be 300 class indices"):
            bases.with_labels(labels)
