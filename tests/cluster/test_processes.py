"""Workers that die, drivers that die, and what cannot be sent."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from chebnet2d import InputError
from chebnet2d.cluster import ProcessExecutor
from small_tasks import (
    always_dies,
    dies_at_first,
    give_lambda,
    open_nothing,
    raise_unreadable,
    square,
    threads,
)


class TestWorkers:
    def test_the_task_of_a_killed_worker_runs_again(self, tmp_path):
        results = list(ProcessExecutor(2).run(dies_at_first, ((n, (n,)) for n in range(6)), shared=tmp_path))
        assert sorted(results) == [(n, n) for n in range(6)]
        marks = {path.name for path in tmp_path.iterdir()}
        assert marks == {f"{n}-0" for n in range(6)} | {"2-1"}, "and no other one"

    def test_a_task_that_kills_every_worker(self):
        sentence = "task 'a' must end in a worker process, got 3 workers that died, the last one by SIGKILL. .*fewer workers help"
        with pytest.raises(InputError, match=sentence):
            list(ProcessExecutor(1).run(always_dies, [("a", ())]))

    def test_an_error_of_the_system_is_not_a_death(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="none.txt"):
            list(ProcessExecutor(1).run(open_nothing, [(0, (str(tmp_path / "none.txt"),))]))

    def test_what_cannot_be_sent(self):
        with pytest.raises(InputError, match=r"the function and what it shares must be picklable, got: .*lambda"):
            list(ProcessExecutor(1).run(lambda _: 0, [(0, ())]))
        with pytest.raises(InputError, match=r"the arguments of task 7 must be picklable, got: .*lambda"):
            list(ProcessExecutor(1).run(square, [(7, (lambda: 0,))]))
        with pytest.raises(RuntimeError, match=r"Unreadable: 1 and 2"):
            list(ProcessExecutor(1).run(raise_unreadable, [(0, ())]))
        with pytest.raises(RuntimeError, match=r"the result of a task cannot be sent: .*lambda"):
            list(ProcessExecutor(1).run(give_lambda, [(0, ())]))

    def test_threads_of_torch(self):
        assert dict(ProcessExecutor(1, threads=3).run(threads, [(0, ())])) == {0: 3}
        cores = os.cpu_count() or 1
        assert dict(ProcessExecutor(2).run(threads, [(0, ())])) == {0: cores}, "one task has all cores"
        assert dict(ProcessExecutor(2).run(threads, [(0, ()), (1, ())])) == dict.fromkeys(range(2), max(1, cores // 2))

    @pytest.mark.parametrize("options", [{"workers": 0}, {"workers": 2, "threads": 0}])
    def test_wrong_numbers(self, options):
        with pytest.raises(InputError, match=r"ProcessExecutor: (workers|threads) must be an integer >= 1, got 0"):
            ProcessExecutor(**options)


def pid_of_task(folder):
    """When it is at work."""
    for _ in range(600):
        if (folder / "pid-0").is_file() and (text := (folder / "pid-0").read_text()):
            return int(text)
        time.sleep(0.1)
    return pytest.fail("the task did not begin")


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def check_gone(pid):
    for _ in range(100):
        if not alive(pid):
            return
        time.sleep(0.1)
    pytest.fail("the worker is alive")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
class TestTheEndOfTheDriver:
    def test_closing_the_iterator_ends_the_workers(self, tmp_path):
        results = ProcessExecutor(1).run(dies_at_first, [(0, (0,)), (1, (1,))], shared=tmp_path)
        next(results)
        (worker,) = multiprocessing.active_children()
        results.close()
        check_gone(worker.pid)

    @pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGKILL"])
    def test_workers_end_with_it_in_the_middle_of_a_task(self, tmp_path, how):
        script = tmp_path / "driver.py"
        script.write_text(
            textwrap.dedent(f"""
            import sys
            from pathlib import Path
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            from small_tasks import sleeping
            from chebnet2d.cluster import ProcessExecutor
            if __name__ == "__main__":
                list(ProcessExecutor(1).run(sleeping, [(0, (0,))], shared=Path({str(tmp_path)!r})))
            """)
        )
        # A shell gives what it runs in the background an ignored SIGINT, which a child of it would keep.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        driver = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True)
        signal.signal(signal.SIGINT, before)
        worker = pid_of_task(tmp_path)
        assert alive(worker)
        driver.send_signal(getattr(signal, how))
        _, errors = driver.communicate(timeout=60)
        assert driver.returncode != 0
        assert ("KeyboardInterrupt" in errors) == (how == "SIGINT")
        check_gone(worker)

    def test_workers_that_are_still_starting_end_with_it_in_silence(self, tmp_path):
        """They import torch for seconds: the end of the driver must not wait for that, nor be a traceback about a pipe."""
        script = tmp_path / "driver.py"
        script.write_text(
            textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            from small_tasks import square
            from chebnet2d.cluster import ProcessExecutor, processes
            take = processes._Worker.take
            processes._Worker.take = lambda *arguments: (take(*arguments), print("started", flush=True))
            if __name__ == "__main__":
                list(ProcessExecutor(1).run(square, [(2, (2,))]))
            """)
        )
        driver = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        driver.stdout.readline()
        driver.kill()
        _, errors = driver.communicate(timeout=60)  # until the worker, who has the same stderr, has ended
        assert errors == ""

    def test_a_script_without_a_guard_is_told(self, tmp_path):
        script = tmp_path / "driver.py"
        script.write_text(
            textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(Path(__file__).parent)!r})
            from small_tasks import square
            from chebnet2d.cluster import ProcessExecutor
            print(list(ProcessExecutor(1).run(square, [(2, (2,))])))
            """)
        )
        answer = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
        assert answer.returncode == 1
        assert "got 3 workers that died, the last one with exit code 1. They died when they started." in answer.stderr
        assert 'if __name__ == "__main__":' in answer.stderr
