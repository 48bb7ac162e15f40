"""One suite for every executor."""

import multiprocessing
import time
import traceback

import pytest

from chebnet2d import InputError
from chebnet2d.cluster import LocalExecutor, ProcessExecutor, RayExecutor, checked_executor
from ray_nodes import with_ray
from small_tasks import Counted, divide, first_waits_for_second, kind_of_shared, pause, square, told

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(params=["local", "processes", pytest.param("ray", marks=with_ray)])
def executor(request):
    if request.param == "ray":
        return RayExecutor(request.getfixturevalue("cluster").address)
    return LocalExecutor() if request.param == "local" else ProcessExecutor(2)


def here(executor):
    """Whether tasks run in this process."""
    return isinstance(executor, LocalExecutor)


class TestEveryExecutor:
    def test_each_key_is_yielded_once(self, executor):
        results = list(executor.run(square, ((n, (n,)) for n in range(7))))
        assert sorted(results) == [(n, n * n) for n in range(7)]
        assert list(executor.run(square, [])) == []

    def test_results_come_in_the_order_in_which_tasks_finish(self, executor, tmp_path):
        tasks = [(n, (n,)) for n in ([1, 0] if here(executor) else [0, 1])]
        assert [key for key, _ in executor.run(first_waits_for_second, tasks, shared=tmp_path)] == [1, 0]

    def test_tasks_are_asked_for_when_there_is_a_slot(self, executor):
        """Never more of them are under way than there are slots; a task may depend on what was yielded."""
        known, under_way, most = {0: 0}, set(), 0

        def coming():
            nonlocal most
            for key in range(1, 8):
                under_way.add(key)
                most = max(most, len(under_way))
                yield key, (max(known.values()) + 1,)

        for key, value in executor.run(square, coming()):
            under_way.remove(key)
            known[key] = value
        assert sorted(known) == list(range(8))
        assert most == executor.slots == (1 if here(executor) else 2)
        assert known[7] > 1, "it was asked for after others were done"

    def test_what_is_not_done_in_time_is_given_up(self, executor):
        start = time.perf_counter()
        long, seconds = (1.0, 0.5) if here(executor) else (1000.0, 15.0)
        tasks = [(0, (0.0,)), (1, (long,)), (2, (long,)), (3, (long,))]
        done = dict(executor.run(pause, tasks, seconds=seconds))
        assert done == ({0: "done", 1: "done"} if here(executor) else {0: "done"}), "here, a task that has begun ends"
        assert time.perf_counter() - start < 100
        assert multiprocessing.active_children() == []
        assert dict(executor.run(pause, [(0, (0.0,))])) == {0: "done"}, "the slots are free again"

    def test_an_error_of_a_task_is_raised_here(self, executor):
        with pytest.raises(ZeroDivisionError) as raised:
            list(executor.run(divide, [(1, (1,)), (0, (0,))]))
        assert "in divide" in "".join(traceback.format_exception(raised.value)), "and where it was"
        with pytest.raises(InputError, match=r"^divide: number must be an integer >= -1, got -2 \(int\)\.$"):
            list(executor.run(divide, [(-2, (-2,))]))

    def test_what_is_shared_is_sent_once(self, executor, monkeypatch):
        monkeypatch.setattr(Counted, "pickled", 0)
        results = dict(executor.run(kind_of_shared, ((n, (n,)) for n in range(5)), shared=Counted()))
        assert results == dict.fromkeys(range(5), "Counted")
        assert Counted.pickled == (0 if here(executor) else 1)

    def test_reports_come_from_tasks_of_this_process(self, executor):
        seen = []
        results = dict(executor.run(told, ((n, (n,)) for n in range(3)), report=seen.append))
        assert results == {0: 0, 1: 1, 2: 2}
        assert seen == ([0, 1, 2] if here(executor) else [])

    def test_it_is_an_executor(self, executor):
        assert checked_executor("test", executor) is executor


@pytest.mark.parametrize("value", [3, "auto", object(), ProcessExecutor])
def test_what_is_no_executor(value):
    with pytest.raises(InputError, match="study: executor must be an object with slots and run"):
        checked_executor("study", value)
