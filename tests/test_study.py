import contextlib
import json
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import time

import pytest
import torch

import chebnet2d
from chebnet2d.cli import main
from chebnet2d.study import (
    Catalogue,
    Protocol,
    Store,
    format_table,
    load_preset,
    make_plan,
    make_table,
    make_tables,
    run_study,
    write_preset,
)
from chebnet2d.study.executor import train_unit
from chebnet2d.study.export import export_rows, read_rows
from chebnet2d.study.origins import kind_of
from chebnet2d.study.page import make_page, read_notes
from chebnet2d.study.plan import build_model
from chebnet2d.study.presets import Preset
from chebnet2d.study.shortfalls import describe_shortfalls, find_shortfalls
from chebnet2d.training import Run, Settings, fit_many

PRESET = """
[default]
origin = "a test"
model = { hidden_channels = 8, degree = 3, dropout = 0.3 }
settings = { lr = 0.02 }
"""


@pytest.fixture
def preset(tmp_path):
    path = tmp_path / "preset.toml"
    path.write_text(PRESET)
    return str(path)


def small(preset, **changes):
    options = {
        "datasets": ("csbm", "digits"),
        "splits": 3,
        "inits": 2,
        "epochs": 12,
        "width": 1,
        "presets": {"chebnet2d": preset},
    }
    return Protocol(("chebnet2d",), **{**options, **changes})


@pytest.fixture
def command(monkeypatch, capsys):
    """Call the command line; what it printed."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["chebnet2d", *arguments])
        with contextlib.suppress(SystemExit):
            main()
        return capsys.readouterr()

    return call


def table_of(path):
    with Store(path) as store:
        return format_table(make_table(store.rows()), "json")


def test_plan_is_a_pure_function(preset):
    protocol = small(preset)
    first, second = (list(make_plan(protocol, Catalogue())) for _ in range(2))
    assert [unit.id for unit in first] == [unit.id for unit in second]
    assert len({unit.id for unit in first}) == len(first) == 4
    runs = [unit.run_id(*seeds) for unit in first for seeds in unit.seeds]
    assert len(set(runs)) == 12


def test_rows_hold_what_was_done(preset, tmp_path):
    protocol = small(preset)
    run_study(protocol, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        rows = list(store.rows())
        assert store.protocol == protocol
    assert len(rows) == 12
    row = rows[3]
    data = chebnet2d.data.load("csbm")
    split = chebnet2d.data.split(data, "uniform", seed=row["split_seed"])
    assert row["split_digest"] == split.digest
    assert row["dataset_digest"] == chebnet2d.data.dataset_digest(data)
    assert row["config"]["settings"]["lr"] == 0.02
    assert row["versions"]["torch"] == torch.__version__
    assert row["epochs"] == 12
    assert row["peak_mib"] > 10
    model = chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), hidden_channels=8, degree=3, dropout=0.3)
    alone = chebnet2d.fit(model, data, split, seed=row["seed"], lr=0.02, epochs=12)
    assert row["test_accuracy"] == pytest.approx(alone.test_accuracy, abs=0.02), "a run of the store is a call of the library"
    assert row["val_loss"] == pytest.approx(alone.val_loss, abs=1e-3)


def test_a_second_start_does_nothing(preset, tmp_path):
    path = tmp_path / "s.sqlite"
    run_study(small(preset), path)
    before = table_of(path)
    seen = []
    run_study(small(preset), path, progress=seen.append)
    assert seen == []
    assert table_of(path) == before


def test_other_protocol_needs_another_store(preset, tmp_path):
    run_study(small(preset, datasets=("csbm",)), tmp_path / "s.sqlite")
    with pytest.raises(chebnet2d.InputError, match="holds a study whose splits differ"):
        run_study(small(preset, datasets=("csbm",), splits=2), tmp_path / "s.sqlite")


def test_a_start_that_fails_leaves_no_store(preset, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(chebnet2d.InputError, match="protocol 'fixed' must have masks in csbm"):
        run_study(small(preset, datasets=("csbm",), split="fixed"), "s.sqlite")
    with pytest.raises(chebnet2d.InputError, match="reuse must be a study, got 'none.json'"):
        run_study(small(preset), "s.sqlite", reuse=["none.json"])
    (tmp_path / "preset.toml").write_text("[default]\nmodel = { depth = 3 }")
    with pytest.raises(chebnet2d.InputError, match="the arguments of 'chebnet2d' must be those of ChebNet2D"):
        run_study(small(preset), "s.sqlite")
    (tmp_path / "preset.toml").write_text("[default]\nsettings = { luck = 3 }")
    with pytest.raises(chebnet2d.InputError, match="luck"):
        run_study(small(preset), "s.sqlite")
    assert [path.name for path in tmp_path.iterdir()] == ["preset.toml"]


def test_there_must_be_as_many_fixed_splits_as_are_asked_for(monkeypatch):
    data = chebnet2d.data.load("csbm")
    for part, nodes in (("train", slice(0, 400)), ("val", slice(400, 700)), ("test", slice(700, 1000))):
        mask = torch.zeros(1000, 2, dtype=torch.bool)
        mask[nodes] = True
        data[f"{part}_mask"] = mask
    monkeypatch.setattr("chebnet2d.data.load", lambda *_, **__: data)
    assert len(list(make_plan(Protocol(("mlp",), ("csbm",), split="fixed", splits=2), Catalogue()))) > 0
    with pytest.raises(chebnet2d.InputError, match="seed of the 2 fixed splits must be an integer from 0 to 1, got 2"):
        list(make_plan(Protocol(("mlp",), ("csbm",), split="fixed", splits=3), Catalogue()))


def test_a_store_without_finished_runs_takes_another_protocol(preset, tmp_path):
    first, second = (small(preset, datasets=("csbm",), splits=splits) for splits in (3, 2))
    catalogue = Catalogue()
    old, new = (list(make_plan(protocol, catalogue)) for protocol in (first, second))
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(first, old)
        assert store.claim(old[0])
        with pytest.raises(chebnet2d.InputError, match="holds a study whose splits differ"):
            store.begin(second, new)  # this process, which lives, works on the first
        store.release(old[0])
        store.begin(second, new)
        assert store.protocol == second
        assert [(cell["runs"], cell["done"]) for cell in store.progress()] == [(4, 0)]
        with pytest.raises(chebnet2d.InputError, match="must hold this study, got another one that was begun meanwhile"):
            store.claim(old[0])


def test_limits_hold_on_their_dataset_alone(preset, tmp_path):
    protocol = small(preset, splits=1, inits=1, limits={"digits": {"epochs": 3}})
    assert protocol.limits_on("csbm") == {"epochs": 12, "patience": 200}
    assert Protocol.from_json(protocol.as_json()) == protocol

    run_study(protocol, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        assert {row["dataset"]: row["epochs"] for row in store.rows()} == {"csbm": 12, "digits": 3}


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"cora": {"epochs": 3}}, "limits must be one of 'csbm', 'digits', got 'cora'"),
        ({"csbm": {"lr": 1}}, "limits.csbm must be one of 'epochs', 'patience', got 'lr'"),
        ({"csbm": 3}, "limits.csbm must be a table of names and values, got 3"),
        ({"csbm": {"patience": 0}}, "limits.csbm.patience must be an integer >= 1, got 0"),
    ],
)
def test_wrong_limits(preset, limits, sentence):
    with pytest.raises(chebnet2d.InputError, match=re.escape(sentence)):
        small(preset, limits=limits)


def test_presets_of_a_method_that_is_not_there_are_refused(preset):
    with pytest.raises(chebnet2d.InputError, match=r"presets must be one of 'chebnet2d', got 'chebnet2' .*Did you mean"):
        small(preset, presets={"chebnet2": preset})
    Protocol(("gprgnn:unified",), ("csbm",), presets={"gprgnn": preset})


def test_paths_of_presets_begin_at_the_file_wherever_the_study_is_started(preset, tmp_path, monkeypatch):
    path = tmp_path / "p.toml"
    text = 'methods = ["chebnet2d"]\ndatasets = ["csbm"]\nsplits = 1\ninits = 1\nepochs = 2\n[presets]\nchebnet2d = '
    path.write_text(text + '"preset.toml"\n')
    (tmp_path / "elsewhere").mkdir()
    for folder in (tmp_path / "elsewhere", tmp_path):
        monkeypatch.chdir(folder)
        protocol = Protocol.from_toml(os.path.relpath(path))
        assert protocol.preset("chebnet2d", "csbm").settings["lr"] == 0.02
        run_study(protocol, tmp_path / "s.sqlite")
    path.write_text(text + f'"{preset}"\n')
    assert Protocol.from_toml(path).presets == {"chebnet2d": preset}, "an absolute path stays"


def test_a_study_begun_before_limits_existed_goes_on(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), splits=1, inits=1)
    run_study(protocol, tmp_path / "s.sqlite")
    with contextlib.closing(sqlite3.connect(tmp_path / "s.sqlite")) as connection, connection:
        older = {name: value for name, value in protocol.as_json().items() if name != "limits"}
        connection.execute("UPDATE meta SET value = ? WHERE key = 'protocol'", (json.dumps(older),))
    run_study(protocol, tmp_path / "s.sqlite")


def test_changed_preset_is_noticed(preset, tmp_path):
    run_study(small(preset, datasets=("csbm",)), tmp_path / "s.sqlite")
    (tmp_path / "preset.toml").write_text(PRESET.replace("0.02", "0.03"))
    with pytest.raises(chebnet2d.InputError, match="the data or the presets must be those"):
        run_study(small(preset, datasets=("csbm",)), tmp_path / "s.sqlite")


def test_two_ways_of_splitting_have_a_table_each(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), split=("uniform", "balanced"), splits=2, inits=1, epochs=3)
    run_study(protocol, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        rows = list(store.rows())
        assert store.protocol == protocol
    assert sorted((row["split"], row["split_seed"]) for row in rows) == [(s, n) for s in ("balanced", "uniform") for n in (0, 1)]
    with pytest.raises(chebnet2d.InputError, match="rows must have one way of splitting, got balanced, uniform"):
        make_table(rows)
    uniform, balanced = make_tables(rows)
    assert (uniform.split, balanced.split) == ("uniform", "balanced")
    mean = sum(row["test_metric"] for row in rows if row["split"] == "balanced") / 2
    assert balanced.cells["chebnet2d", "csbm"].summary.mean == pytest.approx(mean)
    text = format_table([uniform, balanced])
    assert text.index("split `uniform`") < text.index("split `balanced`")


def test_what_another_study_has_done_is_copied(preset, tmp_path):
    shared = {"splits": 2, "inits": 1, "epochs": 3}
    run_study(small(preset, datasets=("csbm",), **shared), tmp_path / "old.sqlite")
    with Store(tmp_path / "old.sqlite") as store:
        old = list(store.rows())
    wider = small(preset, datasets=("csbm", "digits"), **shared)
    trained = []
    run_study(wider, tmp_path / "new.sqlite", reuse=[tmp_path / "old.sqlite"], progress=lambda p: trained.append(p.unit.dataset))
    assert set(trained) == {"digits"}
    with Store(tmp_path / "new.sqlite") as store:
        new = list(store.rows())
    assert [row for row in new if row["dataset"] == "csbm"] == old, "as they were, when and where they were run included"
    assert len(new) == 4


def test_another_setting_is_not_reused_and_another_origin_is(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), splits=2, inits=1, epochs=3)
    run_study(protocol, tmp_path / "old.sqlite")
    catalogue = Catalogue()
    (tmp_path / "preset.toml").write_text(PRESET.replace("a test", "the same numbers, from elsewhere"))
    with Store(tmp_path / "other-origin.sqlite") as store:
        units = list(make_plan(protocol, catalogue))
        store.begin(protocol, units)
        assert store.take(read_rows(tmp_path / "old.sqlite")[:1], units) == 0, "half a unit is none"
        assert store.take(read_rows(tmp_path / "old.sqlite"), units) == 2
        assert store.take(read_rows(tmp_path / "old.sqlite"), units) == 0, "they are here already"
        assert {row["config"]["origin"] for row in store.rows()} == {"the same numbers, from elsewhere"}
    (tmp_path / "preset.toml").write_text(PRESET.replace("0.02", "0.03"))
    with Store(tmp_path / "other-setting.sqlite") as store:
        units = list(make_plan(protocol, catalogue))
        store.begin(protocol, units)
        assert store.take(read_rows(tmp_path / "old.sqlite"), units) == 0


@pytest.mark.parametrize("ending", [".parquet", ".json"])
def test_an_exported_study_is_read_as_it_was(ending, preset, tmp_path):
    run_study(small(preset, datasets=("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
    export_rows(tmp_path / "s.sqlite", tmp_path / f"runs{ending}")
    assert read_rows(tmp_path / f"runs{ending}") == read_rows(tmp_path / "s.sqlite")
    (tmp_path / f"bad{ending}").write_text("something,else\n1,2\n")
    with pytest.raises(chebnet2d.InputError, match="reuse must be a store or an exported study, got .*bad"):
        read_rows(tmp_path / f"bad{ending}")
    with pytest.raises(chebnet2d.InputError, match="which does not exist"):
        read_rows(tmp_path / f"none{ending}")
    with pytest.raises(chebnet2d.InputError, match="in Parquet or JSON, got .*runs.csv"):
        read_rows(tmp_path / "runs.csv")


def _row(method, dataset, split, score, seed):
    return {
        "method": method,
        "dataset": dataset,
        "split": split,
        "split_seed": seed,
        "metric": "accuracy",
        "test_metric": score,
        "train_nodes": 60,
        "test_nodes": 20,
    }


def test_cells_below_the_paper_have_a_line_with_a_reason(tmp_path):
    scores = {("gcn", "cora"): (0.80, 0.86), ("gcn", "texas"): (0.50, 0.52), ("appnp", "cora"): (0.87, 0.872)}
    rows = [
        _row(method, dataset, split, score, seed)
        for (method, dataset), pair in scores.items()
        for split, score in zip(("uniform", "balanced"), pair, strict=True)
        for seed in range(2)
    ]
    published = {"gcn": {"cora": 87.0, "texas": 60.0}, "appnp": {"cora": 90.0}}
    tables = make_tables(rows, published)
    found = {(one.method, one.dataset): one.ours for one in find_shortfalls(tables)}
    assert set(found) == {("gcn", "cora"), ("gcn", "texas")}, "three points below exactly is not more than three"
    assert found["gcn", "cora"] == pytest.approx({"uniform": 80.0, "balanced": 86.0})
    (tmp_path / "notes.toml").write_text('[gcn]\ntexas = "two reasons."\n')
    text = describe_shortfalls(tables, read_notes(tmp_path / "notes.toml"))
    assert "- GCN on texas (uniform 50.00, balanced 52.00; paper 60.00): two reasons.\n" in text
    assert "- GCN on cora (uniform 80.00, balanced 86.00; paper 87.00): not looked into.\n" in text
    assert "APPNP" not in text


def test_a_page_names_means_of_cells_and_refuses_cells_that_are_not_there():
    rows = [
        _row("gcn", "cora", split, score, 0) | {"config": {"origin": "default"}}
        for split, score in (("uniform", 0.8), ("balanced", 0.9))
    ]
    tables = make_tables(rows, {"gcn": {"cora": 85.0}})
    notes = {
        "page": {"intro": "Here {balanced gcn cora}, {not a cell at all}."},
        "gcn": {"cora": "balanced splits have {balanced gcn cora}"},
    }
    page = make_page(tables, rows, notes)
    assert page.startswith("Here 90.00, {not a cell at all}.\n")
    assert "(uniform 80.00, balanced 90.00; paper 85.00): balanced splits have 90.00.\n" in page
    assert "| dataset | methods | uniform | balanced |\n|---|---|---|---|\n| cora | 1 | -5.0 (5.0) | +5.0 (5.0) |\n" in page
    with pytest.raises(chebnet2d.InputError, match="{uniform gcn texas} in --notes must name a split, a method and a dataset"):
        make_page(tables, rows, {"page": {"intro": "{uniform gcn texas}"}})


def test_a_page_has_intro_tables_origins_and_reasons(preset, tmp_path, command):
    run_study(small(preset, datasets=("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
    (tmp_path / "notes.toml").write_text('[page]\nintro = "A page."\n')
    arguments = ["study", "table", "--store", str(tmp_path / "s.sqlite"), "--notes", str(tmp_path / "notes.toml")]
    page = command(*arguments, "--paper", "1").out
    places = [page.index(part) for part in ("A page.", "| method | csbm |", "## Where the settings", "## Cells more than 3")]
    assert places == sorted(places)
    assert "| ChebNet2D | p |" in page
    assert "--notes must stand beside --paper" in command(*arguments).err


@pytest.mark.parametrize(
    ("origin", "letter"), [("found by search: tpe", "s"), ("default of the class", "d"), ("ivam-he/ChebNetII: full.sh", "p")]
)
def test_origins_are_told_apart(origin, letter):
    assert kind_of(origin) == letter


@pytest.mark.parametrize("content", ["gcn = 3", "[gcn]\ntexas = 3", "no toml"])
def test_notes_that_are_none_are_refused(content, tmp_path):
    (tmp_path / "notes.toml").write_text(content)
    with pytest.raises(chebnet2d.InputError, match="study table: "):
        read_notes(tmp_path / "notes.toml")
    with pytest.raises(chebnet2d.InputError, match="must be a TOML file, got .* which does not exist"):
        read_notes(tmp_path / "other.toml")


def test_units_are_never_written_twice(preset, tmp_path):
    protocol, catalogue = small(preset, datasets=("csbm",)), Catalogue()
    units = list(make_plan(protocol, catalogue))
    with Store(tmp_path / "s.sqlite") as store, Store(tmp_path / "s.sqlite") as other:
        store.begin(protocol, units)
        rows = train_unit(units[0], catalogue)
        assert store.claim(units[0])
        assert not other.claim(units[0]), "a living process has it"
        assert store.commit(units[0], rows)
        assert not other.commit(units[0], rows)
        assert not other.claim(units[0]), "it is finished"
        assert len(list(store.rows())) == 3


def test_claims_of_dead_processes_are_void(preset, tmp_path):
    protocol, catalogue = small(preset, datasets=("csbm",)), Catalogue()
    units = list(make_plan(protocol, catalogue))
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(protocol, units)
        assert store.claim(units[0])
        connection = sqlite3.connect(tmp_path / "s.sqlite")
        connection.execute("UPDATE claims SET process = 'started at another time'")  # the pid lives, as another process
        connection.commit()
        connection.close()
        assert store.claim(units[0])


def _study_in_child(protocol, path):
    torch.set_num_threads(1)
    run_study(Protocol.from_json(protocol), path)


def test_killed_at_random_moments_the_table_is_the_same(preset, tmp_path):
    """SIGKILL at 20 random moments, start again each time; the final table equals that of an undisturbed study."""
    protocol = small(preset, datasets=("csbm",), splits=6, inits=4, epochs=40)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chebnet2d.study", "chebnet2d.study.executor", "sklearn.datasets", "sklearn.neighbors"])

    def child(path):
        process = context.Process(target=_study_in_child, args=(protocol.as_json(), str(path)))
        process.start()
        return process

    child(tmp_path / "warm-up.sqlite").join()  # starts the server that forks the children
    start = time.perf_counter()
    undisturbed = child(tmp_path / "calm.sqlite")
    undisturbed.join()
    whole = time.perf_counter() - start
    assert undisturbed.exitcode == 0
    expected = table_of(tmp_path / "calm.sqlite")
    rng = random.Random(0)
    kills = studies = 0
    while kills < 20:  # a study that gets through is checked, and the storm goes on with a new one
        path = tmp_path / f"storm-{studies}.sqlite"
        finished = False
        while not finished:
            process = child(path)
            process.join(timeout=rng.uniform(0, 0.5 * whole))
            finished = not process.is_alive()
            if not finished:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.join()
        studies += 1
        assert process.exitcode == 0
        with Store(path) as store:
            rows = list(store.rows())
        assert len(rows) == len({row["run_id"] for row in rows}) == 24
        assert table_of(path) == expected


def test_several_processes_share_a_store(preset, tmp_path):
    protocol = small(preset, datasets=("csbm",), splits=4)
    lines = []
    run_study(protocol, tmp_path / "two.sqlite", workers=2, log=lines.append)
    with Store(tmp_path / "two.sqlite") as store:
        assert len(list(store.rows())) == 8
        assert all(cell["done"] == cell["runs"] for cell in store.progress())
    assert [line.split(" in ")[0] for line in lines] == ["chebnet2d on csbm, uniform: 4 runs"] * 2


def test_protocol_from_files_and_tables(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('methods = ["chebnet2d"]\ndatasets = ["digits"]\nsplits = 2\n')
    assert Protocol.from_toml(path) == Protocol(("chebnet2d",), ("digits",), splits=2)
    path.write_text('table = 1\nmethods = ["chebnet2d"]\ninits = 1\n')
    assert Protocol.from_toml(path).datasets[:2] == ("cora", "citeseer")
    assert len(Protocol.from_table(1).datasets) == 10
    assert len(Protocol.from_table(2).datasets) == len(Protocol.from_table(3).datasets) == 8
    assert Protocol.from_json(json.loads(json.dumps(Protocol.from_table(1).as_json()))) == Protocol.from_table(1)


WRONG = [
    (lambda: Protocol(("chebnet3d",), ("digits",)), "Did you mean 'chebnet2d'"),
    (lambda: Protocol(("chebnet2d",), ()), "datasets must be different names, at least one"),
    (lambda: Protocol(("chebnet2d", "chebnet2d"), ("digits",)), "methods must be different names"),
    (lambda: Protocol(("chebnet2d",), ("digits",), splits=0), "splits must be an integer >= 1, got 0"),
    (lambda: Protocol(("chebnet2d",), ("digits",), split="odd"), "split must be one of"),
    (lambda: Protocol(("chebnet2d",), ("digits",), split=3), "split must be different names, at least one, got 3"),
    (lambda: Protocol(("chebnet2d",), ("texsa",)), "Did you mean 'texas'"),
    (lambda: Protocol(("chebnet2d",), ("Texas", "texas")), "datasets must be different names"),
    (lambda: Protocol(("mlp",), ("texas",), limits={"Texas": {}, "texas": {}}), "limits must be of different datasets"),
    (lambda: Protocol(("chebnet2d",), (3,)), "datasets must be different names, at least one, got (3,)"),
    (lambda: Protocol(("chebnet2d",), ("digits",), monitor="luck"), "monitor must be one of"),
    (lambda: Protocol(("chebnet2d",), ("digits",), presets=3), "presets must be a table of names and values, got 3"),
    (lambda: Protocol(("mlp",), ("digits",), presets={"mlp": 3}), "presets.mlp must be the path of a preset file, got 3"),
    (lambda: Protocol(("mlp",), ("digits",), limits=3), "limits must be a table of names and values, got 3"),
    (lambda: Protocol.from_toml(".."), "path must be a TOML file, got '..': Is a directory"),
    (lambda: Protocol.from_table(5), "number must be 1, 2 or 3, got 5"),
    (lambda: Protocol.from_table([1]), "number must be 1, 2 or 3, got [1]"),
    (lambda: Store(".."), "path must be a file, got the folder '..'"),
    (lambda: Store("/dev/null/s.sqlite"), "path must be in a folder, got '/dev/null/s.sqlite', where '/dev/null' is a file"),
    (lambda: Store("x" * 300), "path must be a file, got"),
    (lambda: load_preset("chebnet2d", "digits", ".."), "path must be a preset file, got '..': Is a directory"),
    (lambda: Store("missing.sqlite", create=False), "path must be the file of a study, got 'missing.sqlite'"),
    (lambda: load_preset("chebnet2d", "digits", "missing.toml"), "path must be a preset file, got 'missing.toml'"),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG, ids=[s for _, s in WRONG])
def test_wrong_calls(call, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(chebnet2d.InputError) as caught:
        call()
    assert sentence in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not toml", "must be TOML"),
        ("[default]\ncolour = 1", "must have origin, transform, model and settings, got 'colour'"),
        ("[default]\ntransform = 'sideways'", "transform must be one of"),
        ("[texas]\n", r"must have a table \[digits\] or \[default\], got texas"),
        ("[default]\nmethod = 'mlp'", "must be of the method 'chebnet2d'"),
        ("default = 3", r"default in .* must be a table, got 3 .* Write \[default\]"),
        ("[digits]\n[Digits]\n", "must have one table a dataset, got digits, Digits"),
        ("[digits]\nmodel = 3", r"model of \[digits\] in .* must be a table, got 3"),
        ("[digits]\nsettings = []", r"settings of \[digits\] in .* must be a table, got \[\]"),
        ("[digits]\norigin = 3", r"origin of \[digits\] in .* must be a sentence, got 3"),
        ("[digits]\ntransform = []", "transform must be one of"),
    ],
)
def test_wrong_presets(tmp_path, text, sentence):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(chebnet2d.InputError, match=sentence):
        load_preset("chebnet2d", "digits", path)


def test_a_foreign_file_is_no_store(tmp_path):
    path = tmp_path / "s.sqlite"
    path.write_text("this is no database, but it is long enough to look like one" * 30)
    with pytest.raises(chebnet2d.InputError, match="path must be the file of a study"):
        Store(path)


def test_datasets_have_the_names_of_the_catalogue(tmp_path):
    protocol = Protocol(("chebnet2d",), ("Texas", "FILM", "roman_empire", "Digits"), limits={"Actor": {"epochs": 7}})
    assert protocol.datasets == ("texas", "actor", "roman-empire", "digits")
    assert protocol.preset("chebnet2d", "film").settings["epochs"] == 7
    for dataset, name in (("Texas", "texas"), ("film", "actor"), ("Amazon_Photo", "photo")):
        preset = load_preset("chebnet2d", dataset)
        assert preset == load_preset("chebnet2d", name)
        assert "default" not in preset.origin
    (tmp_path / "p.toml").write_text("[default]\n[CiteSeer]\nmodel = { degree = 3 }\n")
    assert load_preset("chebnet2d", "citeseer", tmp_path / "p.toml").model == {"degree": 3}


def test_presets_survive_writing(tmp_path):
    preset = Preset("chebnet2d", "my graph", 'by "hand"', "none", {"degree": 4, "dropout": 0.5, "init": "xavier"}, {"lr": 1e-05})
    write_preset(tmp_path / "p.toml", preset, {"note": 3})
    assert load_preset("chebnet2d", "my graph", tmp_path / "p.toml") == preset


def test_a_method_that_is_not_known_here_has_its_name_in_tables(tmp_path, command):
    """As of a study of the user's own file, when the command line makes the table."""

    class Mine(chebnet2d.models.MLPClassifier):
        pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(chebnet2d.models.MODELS, "mine", Mine)
        run_study(Protocol(("mine",), ("csbm",), splits=2, inits=1, epochs=2), tmp_path / "s.sqlite")
        assert "| MLP |" in command("study", "table", "--store", str(tmp_path / "s.sqlite")).out
    for style in ("markdown", "latex"):
        assert "mine" in command("study", "table", "--store", str(tmp_path / "s.sqlite"), "--format", style).out
    assert "| mine (unified) |" in format_table(make_table([_row("mine:unified", "cora", "uniform", 0.5, 0)]))


def test_table_marks_and_formats():
    rows = []
    for method, level in (("chebnet2d", 0.9), ("mlp", 0.899), ("gcn", 0.5)):
        for split in range(5):
            noise = 0.01 * ((split * 7) % 5 - 2)
            rows.append(
                {
                    "method": method,
                    "dataset": "cora",
                    "split_seed": split,
                    "test_metric": level + noise * (1 if method != "mlp" else -1),
                    "metric": "accuracy",
                    "split": "uniform",
                    "train_nodes": 60,
                    "test_nodes": 20,
                }
            )
    table = make_table(rows, {"chebnet2d": {"cora": 89.96}})
    cells = {method: table.cells[method, "cora"] for method in table.methods}
    assert [cells[m].rank for m in ("chebnet2d", "mlp", "gcn")] == [1, 2, 3]
    assert cells["mlp"].level_with_best
    assert not cells["gcn"].level_with_best
    assert table.ranks == {"chebnet2d": 1.0, "mlp": 2.0, "gcn": 3.0}
    markdown = format_table(table)
    assert "| ChebNet2D | **90.00 ±" in markdown
    assert "(89.96)" in markdown
    assert "_89.90" in markdown
    latex = format_table(table, "latex")
    assert r"\textbf{$90.00 \pm" in latex
    assert r"\underline{$89.90" in latex
    assert json.loads(format_table(table, "json"))["cells"][0]["published"] == 89.96
    assert format_table(table, "csv").splitlines()[0].startswith("method,dataset,split,metric,mean,std,half_width")


def test_commands(preset, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(
        f'methods = ["chebnet2d"]\ndatasets = ["csbm"]\nsplits = 2\ninits = 1\nepochs = 5\n[presets]\nchebnet2d = "{preset}"\n'
    )

    command("study", "run", "p.toml", "--log", "log.txt")
    assert "2 runs in" in (tmp_path / "log.txt").read_text()
    status = json.loads(command("study", "status", "--json").out)
    assert (status["done"], status["runs"]) == (2, 2)
    assert "ChebNet2D" in command("study", "table").out
    assert json.loads(command("study", "table", "--format", "json").out)["cells"][0]["runs"] == 2
    for name in ("r.csv", "r.parquet", "r.json"):
        command("study", "export", "--out", name)
        assert (tmp_path / name).stat().st_size > 100


@pytest.mark.parametrize("text", ["[presets]\nmlp = 3", "presets = 3", "[limits]\ncsbm = 3", "split = 3", "table = [[1]]"])
def test_a_malformed_protocol_file_is_one_sentence(text, tmp_path):
    names = "" if text.startswith("table") else 'methods = ["mlp"]\ndatasets = ["csbm"]\n'
    (tmp_path / "p.toml").write_text(names + text)
    with pytest.raises(chebnet2d.InputError, match="^Protocol.* must be .*, got .*[.]$"):
        Protocol.from_toml(tmp_path / "p.toml")


def test_what_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chebnet2d.study.executor.make_plan", lambda *_: pytest.fail("the work began"))
    (tmp_path / "file").write_text("")
    run = ("study", "run", "--methods", "mlp", "--datasets", "csbm")
    assert "study: --store must be a file, got the folder '..'." in command(*run, "--store", "..").err
    assert "study: --store must be in a folder, got 'file/s.sqlite'" in command(*run, "--store", "file/s.sqlite").err
    assert "study run: --log must be a file, got the folder '..'." in command(*run, "--log", "..").err
    for kind, name in (("table", "x.md"), ("export", "x.csv")):
        assert (
            f"study {kind}: --out must be in a folder, got 'file/{name}'" in command("study", kind, "--out", f"file/{name}").err
        )
    assert "study table: --out must be a file, got the folder '..'." in command("study", "table", "--out", "..").err
    assert "study table: --out must be a file, got '/dev/null'" in command("study", "table", "--out", "/dev/null").err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_table_does_not_replace_its_store_and_is_whole_or_not_at_all(preset, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    run_study(small(preset, datasets=("csbm",), splits=2, inits=1, epochs=2), "s.json")
    os.link("s.json", "other.json")
    table = ("study", "table", "--store", "s.json", "--out")
    for arguments in ((*table, "s.json"), (*table, "other.json"), ("study", "export", "--store", "s.json", "--out", "s.json")):
        assert "--out must be another file than those that are read" in command(*arguments).err
    with Store("s.json", create=False) as store:
        assert len(list(store.rows())) == 2
    command(*table, "t.md")
    before = (tmp_path / "t.md").read_text()
    assert "ChebNet2D" in before

    class Full(Exception):
        pass

    def half(path, text, **_):
        path.write_bytes(text[:9].encode())
        raise Full

    monkeypatch.setattr("pathlib.Path.write_text", half)
    with pytest.raises(Full):
        command(*table, "t.md")
    assert (tmp_path / "t.md").read_text() == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--table", "1"),
        ("--table", "4"),
        ("--methods", "mlp"),
        ("--datasets", "csbm"),
        ("--split", "uniform"),
        ("--splits", "1"),
        ("--inits", "10"),
        ("--epochs", "2000"),
        ("--patience", "200"),
    ],
)
def test_a_flag_beside_a_protocol_file_is_refused(flag, value, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text('methods = ["mlp"]\ndatasets = ["csbm"]\nsplits = 2\ninits = 1\nepochs = 2\n')
    assert f"study run: {flag} must be left out beside a protocol file" in command("study", "run", "p.toml", flag, value).err
    assert not (tmp_path / "runs").exists()


def test_flags_that_table_four_does_not_know_are_refused(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert "--splits must be left out beside --table 4, got 3." in command("study", "run", "--table", "4", "--splits", "3").err


def test_table_four_command(tmp_path, monkeypatch, command):
    """The command hands its arguments to the measurement, which has tests of its own."""
    asked = {}

    def measured(folder, **arguments):
        asked.update(arguments, folder=folder)
        return []

    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "table4").mkdir(parents=True)
    monkeypatch.setattr("chebnet2d.study.table4.table4", measured)
    printed = command("study", "run", "--table", "4", "--datasets", "genius", "--epochs", "3").out
    assert asked["datasets"] == ["genius"]
    assert asked["methods"] == ("chebnet2d", "chebnetii", "optbasis")
    assert asked["epochs"] == 3
    assert "s an epoch" in printed


def test_stacks_of_a_study_equal_runs_alone(preset, tmp_path):
    """The store's numbers are those of fit_many with the same stacks: nothing in between changes them."""
    run_study(small(preset, datasets=("csbm",), width=3), tmp_path / "s.sqlite")
    data = chebnet2d.data.load("csbm")
    with Store(tmp_path / "s.sqlite") as store:
        rows = list(store.rows())
    runs = [
        Run(
            chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), hidden_channels=8, degree=3, dropout=0.3),
            chebnet2d.data.split(data, "uniform", seed=row["split_seed"]),
            row["seed"],
            Settings.of(lr=0.02, epochs=12),
        )
        for row in rows
    ]
    assert [r.val_loss for r in fit_many(runs, data, width=3)] == [row["val_loss"] for row in rows]


def test_unified_methods_share_features_mlp_and_optimiser():
    protocol = Protocol.from_table(3)
    unified = [method for method in protocol.methods if method.endswith(":unified")]
    assert len(unified) == 5
    for dataset in protocol.datasets:
        presets = [protocol.preset(method, dataset) for method in unified]
        assert {preset.transform for preset in presets} == {"row-normalize" if dataset in ("cora", "computers") else "none"}
        data = chebnet2d.data.load("csbm")
        mlps = [build_model(preset.method, data, dict(preset.model)).mlp for preset in presets]
        shapes = {tuple(tuple(parameter.shape) for parameter in mlp.parameters()) for mlp in mlps}
        assert shapes == {((data.num_features, 64), (64,), (64, 3), (3,))}
        assert {tuple(float(dropout.p) for dropout in mlp.dropouts) for mlp in mlps} == {(0.5, 0.5)}
        assert {Settings.of(**preset.settings).optimizer for preset in presets} == {"adam"}


def test_a_users_preset_for_a_unified_method_is_taken_as_it_is(tmp_path):
    (tmp_path / "own.toml").write_text("[default]\nmodel = { hidden_channels = 7 }\n")
    protocol = Protocol(("gprgnn:unified",), ("csbm",), presets={"gprgnn:unified": str(tmp_path / "own.toml")})
    assert protocol.preset("gprgnn:unified", "csbm").model == {"hidden_channels": 7, "variant": "unified"}


@pytest.mark.parametrize(
    ("dataset", "transform"), [("cora", "row-normalize"), ("ogbn-arxiv", "none"), ("my-graph", "none"), ("csbm", "none")]
)
def test_defaults_divide_counts_of_words_by_their_sum_and_nothing_else(dataset, transform):
    assert load_preset("chebnet2d", dataset).transform == transform
