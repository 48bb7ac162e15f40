"""Interrupted at any moment, the same call goes on to the same leaderboard; the budget is kept."""

import itertools
import json
import random
import signal
import sys
import time

import numpy as np
import pytest

from kills import kill_at
from sandbox import forked
from small_auto import graph, small, without_seconds

BUDGET = 5


@pytest.fixture(scope="module")
def data():
    return graph()


def fit_and_tell(folder, data):
    fitted = small().fit(data, BUDGET, work=folder / "work")
    facts = {"rows": without_seconds(fitted.leaderboard()), "probabilities": fitted.predict_proba(data).tolist()}
    (folder / "facts.json").write_text(json.dumps(facts))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_killed_at_ten_random_moments(data, tmp_path):
    """Ten times in a row, in the same folder, each time before a change of the disk that is drawn at random."""
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    for folder in (undisturbed, killed):
        folder.mkdir()
    assert forked(tmp_path, lambda: fit_and_tell(undisturbed, data)).code == 0
    moments, kills = random.Random(0), 0
    for _ in range(10):
        point = moments.randint(2, 60)
        end = forked(tmp_path, lambda point=point: (kill_at(point, killed), fit_and_tell(killed, data)))
        kills += end.signal == signal.SIGKILL
        assert end.code == 0 or end.signal == signal.SIGKILL, end.text
    assert kills >= 5
    end = forked(tmp_path, lambda: fit_and_tell(killed, data))
    assert end.code == 0, end.text
    assert json.loads((killed / "facts.json").read_text()) == json.loads((undisturbed / "facts.json").read_text())
    assert [path.name for path in killed.rglob(".*")] == []  # no litter


def interrupting(after):
    """A listener that is Ctrl-C, after so many candidates."""

    def progress(now):
        if now.epoch is None and now.finished >= after:
            raise KeyboardInterrupt

    return progress


def test_ctrl_c_keeps_what_is_finished_and_the_same_call_goes_on(data, tmp_path):
    first = small().fit(data, BUDGET, work=tmp_path / "work", progress=interrupting(2))
    assert first.facts["stopped"] == "interrupted"
    statuses = {row["method"]: row["status"] for row in first.leaderboard()}
    assert statuses == {"majority": "finished", "logistic:features": "finished", "logistic:neighbours": "not tried: no time left"}
    assert first.predict_proba(data).shape == (data.num_nodes, 3)
    second = small().fit(data, BUDGET, work=tmp_path / "work")
    alone = small().fit(data, BUDGET)
    assert without_seconds(second.leaderboard()) == without_seconds(alone.leaderboard())
    assert np.array_equal(second.predict_proba(data), alone.predict_proba(data))
    second.forget_work()
    assert not (tmp_path / "work").exists()


def test_ctrl_c_before_anything_is_finished(data, tmp_path):
    def progress(now):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small().fit(data, BUDGET, work=tmp_path / "work", progress=progress)


class Many:
    """An executor that has up to ``slots`` tasks in work, of which the latest is the first to be done."""

    def __init__(self, slots):
        self.slots, self.most = slots, 0

    def run(self, function, tasks, *, shared=None, seconds=None, report=None):
        held = []
        for key, arguments in tasks:
            held.append((key, function(shared, *arguments)))
            self.most = max(self.most, len(held))
            if len(held) == self.slots:
                yield held.pop()
        yield from reversed(held)


@pytest.mark.parametrize("slots", [2, 5])
def test_any_number_of_workers_has_the_same_leaderboard(data, slots):
    """With a number of candidates as the budget. Four entries, so that rounds and repeats have several in work."""
    options = {"methods": ["majority", "logistic", "boosting:features"]}
    many = Many(slots)
    together, alone = small(**options).fit(data, 12, executor=many), small(**options).fit(data, 12)
    assert many.most == min(slots, 4)
    assert without_seconds(together.leaderboard()) == without_seconds(alone.leaderboard())
    assert sum(row["trainings"] for row in together.leaderboard()) == 12
    assert np.array_equal(together.predict_proba(data), alone.predict_proba(data))


def test_other_options_do_not_meet_the_work_of_these(data, tmp_path):
    small().fit(data, 2, work=tmp_path)
    small(seed=1).fit(data, 2, work=tmp_path)
    changed = data.clone()
    changed.x = data.x + 1
    small().fit(changed, 2, work=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_models_of_candidates_that_were_beaten_are_deleted(data, tmp_path):
    small(methods=["logistic"]).fit(data, 8, work=tmp_path)
    kept = {path.parent.name for path in tmp_path.rglob("model-0")}
    every = {path.parent.name for path in tmp_path.rglob("candidate.json")}
    assert len(every) == 8
    assert len({name.rsplit(".", 1)[0] for name in kept}) == 2  # one setting of each entry


class Ticking:
    """A clock that goes on by 5 ms whenever it is read. An epoch reads it three times: it takes as long on every machine."""

    def __init__(self):
        self.ticks = itertools.count()

    def __call__(self):
        return 0.005 * next(self.ticks)


def test_the_budget_is_kept(data, monkeypatch):
    for name in ("perf_counter", "monotonic"):
        monkeypatch.setattr(time, name, Ticking())
    fitted = small(methods=["majority", "logistic", "gprgnn", "mlp"]).fit(data, "10s", started=0.0)
    assert 5 < fitted.facts["seconds"] <= 10
    statuses = {row["method"]: row["status"] for row in fitted.leaderboard()}
    assert statuses["mlp"] == "finished"
    assert statuses["gprgnn"].startswith("not finished")  # it takes more epochs than the time allows
