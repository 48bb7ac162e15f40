"""A search that is killed while it writes a group of trials, and what is compared when the time is up."""

from dataclasses import replace

import optuna
import pytest

from chebnet2d import InputError
from chebnet2d.search import Trial, search
from chebnet2d.search.result import best_recipe, best_trial
from search_examples import without_time
from small_search import QUICK, RECIPE

OPTIONS = {**QUICK, "epochs": 3, "ranges": {"degree": [-1, 1, 2, 3]}}  # degree -1 makes no model: such points are not asked again
TRIALS = 16  # TPE learns from the tenth on


class Killed(BaseException):
    """As a SIGKILL: nothing is put in order."""


@pytest.fixture(scope="module")
def undisturbed(data):
    return search(data, budget=TRIALS, **OPTIONS)


@pytest.mark.parametrize("writes", [2, 7, 12, 15])
def test_a_search_killed_inside_a_group_ends_as_an_undisturbed_one(data, undisturbed, tmp_path, writes):
    storage = f"sqlite:///{tmp_path}/trials.db"
    add, left = optuna.Study.add_trial, [writes]

    def dies(study, trial):
        if study.study_name == "chebnet2d on csbm":  # the stored one; the other is in memory
            if not left[0]:
                raise Killed
            left[0] -= 1
        add(study, trial)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optuna.Study, "add_trial", dies)
        with pytest.raises(Killed):
            search(data, budget=TRIALS, storage=storage, **OPTIONS)
    study = optuna.load_study(study_name="chebnet2d on csbm", storage=storage)
    stored = [trial.user_attrs for trial in study.get_trials()]
    assert len(stored) == writes
    whole = [one for one in stored if "record" in one and f"group:{one.get('group')}" in study.user_attrs]
    # What a user would do: ask for the rest of the trials.
    rest = TRIALS - len(whole)
    resumed = search(data, budget=rest, storage=storage, **OPTIONS)
    assert list(map(without_time, resumed.trials)) == list(map(without_time, undisturbed.trials))
    assert resumed.recipe == undisturbed.recipe


class TestWhatIsCompared:
    """What was trained to its end with nothing that was not."""

    WHOLE = Trial({"degree": 4}, {}, 0.8, 0.5, [0.8], [3], [7], 1.0, pruned=False)
    CUT = replace(WHOLE, model={"degree": 9}, val_metric=0.9, pruned=True)

    def test_a_trial_that_left_early_stands_back(self):
        assert best_trial([self.CUT, self.WHOLE]) is self.WHOLE
        assert best_trial([replace(self.CUT, val_metric=0.7), self.CUT]) is self.CUT, "where there is nothing else"
        assert best_trial([]) is None

    @pytest.mark.parametrize(("best", "baseline"), [(WHOLE, replace(CUT, val_metric=0.1)), (CUT, replace(WHOLE, val_metric=0.1))])
    def test_the_baseline_is_not_beaten_without_a_comparison(self, best, baseline):
        found = best_recipe(RECIPE, best, baseline, {}, "accuracy", "how")
        assert found.model == RECIPE.model
        assert "a search compared nothing with it, for want of time (how; " in found.origin

    def test_the_baseline_has_all_the_time(self, data):
        """A fifth of it may be too short for a recipe that would win."""
        given = []

        class Watching:
            slots = 1

            def run(self, function, tasks, *, shared=None, seconds=None, report=None):
                group, (recipes, rungs, seconds, sent) = next(tasks)
                given.append((repr(group), list(rungs), seconds))
                yield group, function(shared, recipes, rungs, seconds, sent)

        result = search(data, budget="100s", executor=Watching(), **QUICK)
        ((group, rungs, seconds),) = given
        assert (group, rungs) == ("baseline", [])
        assert seconds > 80
        assert not result.baseline.pruned


@pytest.mark.parametrize("content", ["a letter", "a database"])
def test_a_file_of_others_is_no_storage(data, tmp_path, content):
    import sqlite3
    from contextlib import closing

    file = tmp_path / "mine.db"
    if content == "a letter":
        file.write_text("Dear all")
    else:
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("CREATE TABLE studies (name TEXT)")
            connection.commit()
    before = file.read_bytes()
    with pytest.raises(InputError, match="storage must be (a new file or a storage of Optuna|the address)"):
        search(data, budget=1, storage=f"sqlite:///{file}", **QUICK)
    assert file.read_bytes() == before
