"""Interrupted and killed computations of bases, full disks and the memory limit."""

import errno
import os
import signal
import subprocess
import sys
import textwrap

import pytest
import torch

import chebnet2d
from chebnet2d.bases import Bases, BasesError, PrecomputeProgress, blocks, folder, precompute


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
        assert found == [".lock", "block-0000.npy", "block-0001.npy", "labels.npy", "marks.npy", "plan.json", "rows.npy"]
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
        with folder.locked(tmp_path / "b"), pytest.raises(BasesError, match="must have one writer, got another process"):
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
        monkeypatch.setattr(blocks.shutil, "disk_usage", lambda _: usage)
        with pytest.raises(BasesError, match=r"must have .* KiB free for the bases, got 0.977 KiB"):
            precompute(data, out=tmp_path / "b", degree=3)
        assert not (tmp_path / "b" / "manifest.json").exists()

    @pytest.mark.parametrize(("limit", "written"), [(60_000, []), (80_000, ["marks.npy"])])
    def test_a_limit_of_the_system(self, tmp_path, limit, written):
        """A real refusal by the kernel: files of this process may not grow beyond that. Marks are 72 KB."""
        code = textwrap.dedent(f"""
            import resource
            import chebnet2d
            from chebnet2d.bases import precompute
            data = chebnet2d.data.load("csbm", nodes=3000, features=8, degree=6, seed=1)
            resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
            try:
                precompute(data, out={str(tmp_path / "b")!r}, degree=4)
            except chebnet2d.InputError as error:
                print(error)
            """)
        answer = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        assert "must have room for the bases" in answer.stdout
        found = sorted(path.name for path in (tmp_path / "b").iterdir())
        assert found == [".lock", "labels.npy", *written, "plan.json", "rows.npy"]

    def test_a_folder_that_may_not_be_written(self, data, tmp_path, monkeypatch):
        def refuse(*arguments, **more):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(folder.Path, "mkdir", refuse)
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
        from chebnet2d._sizes import resident_bytes
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
