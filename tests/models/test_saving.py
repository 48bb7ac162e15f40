"""Saved models: whole after every failure, and never code that runs."""

import contextlib
import hashlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import safetensors
import safetensors.torch
import torch

import chebnet2d
from chebnet2d.models import read_facts


@pytest.fixture
def saved(tmp_path):
    model = chebnet2d.ChebNet2D(5, 3, degree=4, dropout=0.25, init="xavier")
    return model, chebnet2d.save(model, tmp_path / "model", facts={"note": 1})


def test_round_trip(saved):
    model, folder = saved
    loaded = chebnet2d.load(folder)
    assert loaded.config == model.config
    assert not loaded.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, loaded.state_dict()[name])
    assert read_facts(folder) == {"note": 1}
    double = chebnet2d.ChebNet2D(5, 3).double()
    assert next(chebnet2d.load(chebnet2d.save(double, folder)).parameters()).dtype == torch.float64
    assert {path.name for path in folder.iterdir()} == {"model.safetensors", "config.json", "README.md"}


def edit(folder: Path, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def flip(path: Path):
    content = bytearray(path.read_bytes())
    content[-5] ^= 4
    path.write_bytes(bytes(content))


BROKEN = {
    "truncated weights": (
        lambda f: (f / "model.safetensors").write_bytes((f / "model.safetensors").read_bytes()[:-9]),
        "truncated or was edited",
    ),
    "flipped bit": (lambda f: flip(f / "model.safetensors"), "truncated or was edited"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "must hold the weights file"),
    "no config": (lambda f: (f / "config.json").unlink(), "without a config.json"),
    "truncated config": (lambda f: (f / "config.json").write_text('{"format": '), "must be JSON"),
    "foreign config": (lambda f: (f / "config.json").write_text('{"architectures": ["Bert"]}'), "must be of the format"),
    "a list": (lambda f: (f / "config.json").write_text("[]"), "must be of the format"),
    "unknown model": (lambda f: edit(f, model="chebnet3d"), "Did you mean 'chebnet2d'"),
    "wrong arguments": (lambda f: edit(f, arguments={"in_channels": 5, "colour": 1}), "must hold the arguments of chebnet2d"),
    "impossible arguments": (
        lambda f: edit(f, arguments={"in_channels": 5, "out_channels": 0}),
        "out_channels must be an integer >= 1",
    ),
    "other shapes": (lambda f: edit(f, arguments={"in_channels": 6, "out_channels": 3}), "weights must fit the model"),
    "missing key": (lambda f: edit(f, sha256=None), "must have 'sha256' of type str"),
    "path outside": (lambda f: edit(f, weights="../other.safetensors"), "must be model.safetensors, or a name like weights-"),
    "a name that no system has": (
        lambda f: edit(f, weights="weights-\0.safetensors"),
        "must be model.safetensors, or a name like weights-",
    ),
    "deep nesting": (lambda f: (f / "config.json").write_text("[" * 10**5), "must be JSON that is not nested so deeply"),
    "a number without end": (lambda f: (f / "config.json").write_text("1" * 10**5), "must be JSON, got: Exceeds the limit"),
    "a high degree": (
        lambda f: edit(f, arguments={"in_channels": 5, "out_channels": 3, "degree": 10**8}),
        "must be numbers up to 4096, the largest size of its weights, got 100000000",
    ),
    "many wide layers": (
        lambda f: edit(f, arguments={"in_channels": 5, "out_channels": 3, "hidden_channels": 4096, "num_layers": 4096}),
        "must be of the size of its weights, got a far larger one",
    ),
    "a dictionary for a number": (
        lambda f: edit(f, arguments={"in_channels": 5, "out_channels": 3, "scaling": {}}),
        "scaling must be one of",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_damaged_edited_and_foreign_files(saved, case):
    _, folder = saved
    damage, sentence = BROKEN[case]
    damage(folder)
    with pytest.raises(chebnet2d.InputError, match=sentence):
        chebnet2d.load(folder)


def test_a_pickle_in_the_place_of_the_weights_does_not_run(saved, tmp_path):
    import pickle

    _, folder = saved

    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    content = pickle.dumps(Hostile())
    name = json.loads((folder / "config.json").read_text())["weights"]
    (folder / name).write_bytes(content)
    edit(folder, sha256=hashlib.sha256(content).hexdigest())
    with pytest.raises(chebnet2d.InputError, match="must be a safetensors file"):
        chebnet2d.load(folder)
    assert not (tmp_path / "ran").exists()


def test_a_failed_save_leaves_the_old_model_whole(saved, monkeypatch):
    _, folder = saved
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        chebnet2d.save(chebnet2d.ChebNet2D(5, 3), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_killed_save_leaves_a_whole_model(saved):
    """Kill a process that saves two models in turns, at several moments: what is left always loads."""
    _, folder = saved
    code = (
        "import chebnet2d, sys\n"
        "models = [chebnet2d.ChebNet2D(5, 3, degree=d) for d in (2, 9)]\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    for model in models: chebnet2d.save(model, sys.argv[1])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE)
    process.stdout.readline()
    for _ in range(20):
        os.kill(process.pid, signal.SIGSTOP)  # as good as a kill for what stands on disk, and cheaper to repeat
        assert chebnet2d.load(folder).config["degree"] in (2, 4, 9)
        os.kill(process.pid, signal.SIGCONT)
        torch.randn(200, 200) @ torch.randn(200, 200)
    process.kill()
    process.wait()
    process.stdout.close()
    assert chebnet2d.load(folder).config["degree"] in (2, 4, 9)


def test_save_into_a_file_is_refused(tmp_path):
    target = tmp_path / "file"
    target.write_text("mine")
    with pytest.raises(chebnet2d.InputError, match="path must be a folder or new"):
        chebnet2d.save(chebnet2d.ChebNet2D(5, 3), target)
    assert target.read_text() == "mine"


OUTSIDE = """
from pathlib import Path
from chebnet2d.models import MLPClassifier

Path(__file__).with_name("ran").touch()

class Mine(MLPClassifier):
    pass
"""
LOAD = """
import sys, chebnet2d
model = chebnet2d.load(sys.argv[1], **eval(sys.argv[2]))
print(type(model).__name__, model.config["in_channels"])
"""


@pytest.mark.parametrize("kind", ["graph", "bases"])
def test_a_model_from_outside_is_loaded_only_with_the_caller_s_word(tmp_path, kind):
    """The file names ``my_file.py:Mine``; loading it must not run that file, unless the caller says so."""
    from chebnet2d.models import FilterFirst, find_model

    code = tmp_path / "my_file.py"
    code.write_text(OUTSIDE)
    method = f"{code}:Mine"
    model = find_model(method)(4, 2) if kind == "graph" else FilterFirst(method, 4, 2, degree=1)
    folder = chebnet2d.save(model, tmp_path / "model")
    assert json.loads((folder / "config.json").read_text())["model"] == method
    assert chebnet2d.load(folder).config == model.config, "found before in this process"
    (tmp_path / "ran").unlink()

    def load(options: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", LOAD, str(folder), options], capture_output=True, text=True, check=False)

    refused = load("{}")
    assert refused.returncode != 0
    assert "method must be given for the outside method" in refused.stderr
    assert not (tmp_path / "ran").exists()
    allowed = load(repr({"method": method}))
    assert allowed.stdout.split() == ["Mine" if kind == "graph" else "FilterFirst", "4"], allowed.stderr
    assert (tmp_path / "ran").exists()


def test_a_name_of_an_entry_point_is_not_looked_up(saved, monkeypatch):
    import importlib.metadata

    _, folder = saved
    edit(folder, model="theirs")
    monkeypatch.setattr(importlib.metadata, "entry_points", None)
    with pytest.raises(chebnet2d.InputError, match="the method in config.json must be one of"):
        chebnet2d.load(folder)
    assert chebnet2d.load(folder, method="chebnet2d").config["degree"] == 4


def test_a_reading_that_is_none(tmp_path):
    from chebnet2d.models import EachBasis

    folder = chebnet2d.save(EachBasis("gprgnn", 4, 2, degree=2, stored={"operator": "P~"}), tmp_path / "model")
    edit(folder, reading="os.system")
    with pytest.raises(chebnet2d.InputError, match="the reading in config.json must be one of 'filter-first', 'each-basis'"):
        chebnet2d.load(folder)


@pytest.mark.parametrize(
    "files",
    [
        {"config.json": '{"architectures": ["Bert"]}', "weights-1.safetensors": "theirs"},
        {"notes.txt": "mine"},
        {"README.md": "mine"},
        {"model.safetensors": "theirs"},
    ],
)
def test_folders_of_others_are_left_alone(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(chebnet2d.InputError, match="path must be a new or empty folder or one with a model of chebnet2d"):
        chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


def test_only_the_weights_that_our_config_names_are_replaced(tmp_path):
    folder = chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path / "m")
    old = make_old(folder)
    (folder / "weights-of-mine.safetensors").write_text("keep")
    chebnet2d.save(chebnet2d.ChebNet2D(4, 3), folder)
    assert not (folder / old).exists()
    assert (folder / "weights-of-mine.safetensors").read_text() == "keep"
    assert chebnet2d.load(folder).config["out_channels"] == 3


def test_a_folder_of_version_0_1_is_read(saved):
    model, folder = saved
    make_old(folder)
    assert torch.equal(chebnet2d.load(folder).state_dict()["mlp.layers.0.weight"], model.state_dict()["mlp.layers.0.weight"])
    assert read_facts(folder) == {"note": 1}


def test_a_save_that_was_killed_between_its_files_is_the_new_model(saved, tmp_path):
    """The configuration is still the old one; the one within the weights is whole, and counts."""
    old, folder = saved
    other = chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path / "other", facts={"note": 2})
    (other / "model.safetensors").replace(folder / "model.safetensors")
    assert chebnet2d.load(folder).config["in_channels"] == 4
    assert read_facts(folder) == {"note": 2}
    chebnet2d.save(old, folder)
    assert chebnet2d.load(folder).config == old.config


def test_a_card_of_one_s_own_and_foreign_weights_are_left_alone(saved):
    model, folder = saved
    assert "Written by chebnet2d" in (folder / "README.md").read_text()
    (folder / "README.md").write_text("mine")
    chebnet2d.save(model, folder)
    assert (folder / "README.md").read_text() == "mine"
    make_old(folder)
    (folder / "model.safetensors").write_bytes(b"theirs")
    with pytest.raises(chebnet2d.InputError, match="path must be a new or empty folder"):
        chebnet2d.save(model, folder)
    assert (folder / "model.safetensors").read_bytes() == b"theirs"


def make_old(folder: Path) -> str:
    """The folder as version 0.1 wrote it; the name of its weights."""
    content = safetensors.torch.save(safetensors.torch.load_file(folder / "model.safetensors"))
    digest = hashlib.sha256(content).hexdigest()
    name = f"weights-{digest[:16]}.safetensors"
    (folder / name).write_bytes(content)
    edit(folder, format="chebnet2d-model-1", weights=name, sha256=digest)
    for path in ("model.safetensors", "README.md"):
        (folder / path).unlink(missing_ok=True)
    return name


def test_plain_safetensors_reads_the_weights(saved):
    model, folder = saved
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    assert all(torch.equal(tensors[name], value) for name, value in model.state_dict().items())
    with safetensors.safe_open(folder / "model.safetensors", "pt") as opened:
        assert opened.metadata()["format"] == "pt"


def test_a_first_save_that_was_killed_can_be_made_again(tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    whole = chebnet2d.save(chebnet2d.ChebNet2D(4, 3), tmp_path / "other")
    for name in ("model.safetensors", "README.md"):
        (folder / name).write_bytes((whole / name).read_bytes())
    (folder / "weights-0123456789abcdef.safetensors").write_bytes(b"half")
    (folder / ".config.json.0123abcd.tmp").write_text("{")
    chebnet2d.save(chebnet2d.ChebNet2D(4, 2), folder)
    assert isinstance(chebnet2d.load(folder), chebnet2d.ChebNet2D)


def test_numbers_that_are_none_do_not_lose_the_model(tmp_path):
    facts = {"val_loss": math.nan, "test": {"roc_auc": math.nan, "scores": [1.0, math.inf]}}
    folder = chebnet2d.save(chebnet2d.ChebNet2D(4, 2), tmp_path / "m", facts=facts)
    assert read_facts(folder) == {"val_loss": None, "test": {"roc_auc": None, "scores": [1.0, None]}}


def test_what_killed_saves_left_is_gone_after_the_next(saved):
    _, folder = saved
    litter = [".config.json.0123abcd.tmp", ".weights-0123456789abcdef.safetensors.00000000_1_0123abcd.tmp"]
    for name in litter:
        (folder / name).write_text("half")
    (folder / ".mine.tmp").write_text("keep")
    chebnet2d.save(chebnet2d.ChebNet2D(5, 3), folder)
    assert {".mine.tmp", "config.json"} < {path.name for path in folder.iterdir()}
    assert len(list(folder.iterdir())) == 4


def test_two_saves_at_once_leave_a_whole_model(saved, monkeypatch):
    """The worst order: one save has put its weights down when another begins; all files must be of the second."""
    from chebnet2d.models import saving

    first, folder = saved  # its weights are those that the second save finds named
    write, second = saving.written_whole, threading.Thread(target=lambda: chebnet2d.save(chebnet2d.ChebNet2D(5, 3), folder))

    @contextlib.contextmanager
    def slowly(path):
        with write(path) as temporary:
            yield temporary
        if threading.current_thread() is threading.main_thread() and path.suffix == ".safetensors":
            second.start()
            second.join(timeout=1.0)  # without a lock it would be done by now

    monkeypatch.setattr(saving, "written_whole", slowly)
    chebnet2d.save(first, folder)
    second.join()
    assert chebnet2d.load(folder).config["degree"] == 10, "the second, whole"
    assert json.loads((folder / "config.json").read_text())["arguments"]["degree"] == 10
