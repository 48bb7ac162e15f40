"""Progress bars: on a terminal only, and what each says."""

import re
from types import SimpleNamespace as Facts

import pytest

from chebnet2d.cli import progress
from cli_runner import run

EPOCH = Facts(epoch=3, epochs=50, active=4, runs=4, best_val_metric=0.75, resumed=0)
BUDGET = Facts(seconds=None, trials=20)
STEPS = {
    "training": (progress.training_step, (EPOCH,), "epoch 3 of at most 50, best validation 0.7500"),
    "bases": (progress.precompute_step, (Facts(done=1, total=4, block=0, blocks=2),), "block 1 of 2"),
    "cora.x": (progress.download_step, ("cora.x", 10, None), ""),
    "search": (
        progress.search_step,
        (Facts(trials=7, in_training=4, epoch=EPOCH, best=0.5, budget=BUDGET, seconds=1.0),),
        "7 trials, 4 in training, epoch 3, best validation 0.5000",
    ),
    "runs": (
        progress.study_step(),
        (Facts(runs_done=2, runs=8, epochs_done=0, unit=Facts(method="mlp", dataset="csbm"), epoch=EPOCH),),
        "mlp on csbm, epoch 3, 4 runs in the stack",
    ),
    "theory": (progress.theory_step(), (Facts(section="Degrees"),), "1 lines, Degrees"),
}


@pytest.fixture
def terminal(monkeypatch):
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "200"), ("TERM", "xterm")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(progress, "_DELAY", 0.0)


@pytest.mark.parametrize("title", STEPS)
def test_on_a_terminal(terminal, capsys, title):
    step, facts, text = STEPS[title]
    with progress.progress_bar(step, "TimeRemainingColumn") as report:
        report(*facts)
    out, err = capsys.readouterr()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", err)
    assert title in shown
    assert text in shown
    assert out == "", "stdout is for results"


@pytest.mark.parametrize("quiet", [True, False])
def test_silent_off_a_terminal_or_if_asked(request, capsys, quiet):
    if quiet:
        request.getfixturevalue("terminal")
    with progress.progress_bar(progress.training_step, quiet=quiet) as report:
        assert report is None
    assert capsys.readouterr() == ("", "")


def test_nothing_in_the_first_second(terminal, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_DELAY", 1e6)
    with progress.progress_bar(progress.training_step) as report:
        report(EPOCH)
    assert capsys.readouterr() == ("", "")


def test_a_command_with_json_shows_none(terminal):
    done = run("train", "digits", "--epochs", 2, "--json")
    assert done.stderr == ""
    assert done.stdout.startswith("{")


def test_lines_where_there_is_no_terminal(capsys):
    """After five seconds, ten, twenty, ...: few lines, whatever the epochs take."""
    now = 0.0
    report = progress._in_lines(progress.training_step, lambda: now)
    for epoch in range(1, 101):
        now = 0.3 * epoch
        report(Facts(epoch=epoch, epochs=1000, active=1, runs=1, best_val_metric=0.5, resumed=0))
    lines = capsys.readouterr().err.splitlines()
    assert [int(re.search(r"epoch (\d+)", line).group(1)) for line in lines] == [17, 34, 67]
    assert lines[0] == "training: epoch 17 of at most 1000, best validation 0.5000, 5 s so far; 5 min left at most"


def test_epochs_of_an_earlier_process_say_nothing_about_the_speed_of_this_one(capsys):
    now = 0.0
    report = progress._in_lines(progress.training_step, lambda: now)
    now = 6.0
    report(Facts(epoch=52, epochs=60, active=1, runs=1, best_val_metric=0.5, resumed=50))
    assert capsys.readouterr().err.endswith("6 s so far; 24 s left at most\n")
