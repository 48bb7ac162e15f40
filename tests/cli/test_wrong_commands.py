"""Wrong commands, each with the sentence it gets: the command, the flag as it is typed, the rule and the value."""

import pytest

from chebnet2d._checks import InputError
from chebnet2d.cli.flags import Flag, sentence_of
from cli_runner import run
from small_commands import QUICK

NAMES = "'digits', 'csbm', 'cora', 'citeseer', 'pubmed'"
OWN = "with a graph of your own, got it with the dataset 'digits'. Give a path or --edges."
NO_MODEL = "must be a folder written by save, got 'nowhere' without a config.json."
TYPED = [  # what is typed, the whole sentence
    ("train digits --method mlp --rank 2", "train: --rank must be an argument of the method, got it with 'mlp', which has none."),
    ("train digits --preset missing.toml", "train: --preset must be a preset file, got 'missing.toml', which does not exist."),
    (
        "train digits --transform upside-down",
        "train: --transform must be one of 'none', 'row-normalize', 'standardize', 'largest-component', got 'upside-down'.",
    ),
    (
        "train digits --label-column y",
        f"train: --label-column must come {OWN}",
    ),
    (
        "train digits --labels taken",
        f"train: --labels must come {OWN}",
    ),
    ("train digits --edges taken", "train: --edges must be the only graph, got 'digits' besides."),
    (
        "train --method mlp --filter-lr 5",
        "train: --filter-lr must be of a method with a learned filter, got it with 'mlp'.",
    ),
    ("train digits --filter-dropout -0.5 --dropout 0.1", "train: --filter-dropout must be a number in [0, 1), got -0.5."),
    ("train digits --filter-dropout 0.1 --dropout=1.5", "train: --dropout must be a number in [0, 1), got 1.5."),
    ("train digits --hidden 0", "train: --hidden must be an integer >= 1, got 0."),
    ("train digits --degree -1", "train: --degree must be an integer >= 0, got -1."),
    ("train digits --lr -0.1", "train: --lr must be a finite number >= 0, got -0.1."),
    ("train digits --filter-weight-decay -1", "train: --filter-weight-decay must be a finite number >= 0, got -1.0."),
    ("train digits --epochs 0", "train: --epochs must be an integer >= 1, got 0."),
    ("train digits --seed -1", "train: --seed must be an integer from 0 to 4294967295, got -1."),
    ("train digits --monitor f1", "train: --monitor must be one of 'accuracy', 'loss', got 'f1'."),
    ("train digits --device gpu", "train: --device must be 'cpu', 'cuda' or 'cuda:N', got 'gpu'."),
    ("train digits --save taken", "train: --save must be a folder or new, got the file 'taken'."),
    ("train digits --save taken/sub", "train: --save must be in a folder, got 'taken/sub' below the file 'taken'."),
    (
        "predict MODEL --out p.csv",
        "load_graph: the graph must be given by a name, a path or a list of edges, got none of them. Name one, or give --edges.",
    ),
    (
        "predict nowhere digits --out p.csv",
        f"predict: MODEL {NO_MODEL}",
    ),
    ("predict MODEL digits --out p.xlsx", "predict: --out must end in .csv or .parquet, got 'p.xlsx'."),
    ("predict MODEL csbm --out p.csv", "predict: the graph must have 64 features, as the model was trained on, got 32."),
    ("plot nowhere", f"plot: MODEL {NO_MODEL}"),
    ("plot MODEL --out p.doc", "plot: --out must end in .png, .pdf or .svg, got 'p.doc'."),
    ("theory --plot p.doc", "theory: --plot must end in .png, .pdf or .svg, got 'p.doc'."),
    ("study status --store empty", "study status: --store must be the file of a study, got 'empty', which is empty."),
    (
        "study export --out r.csv",
        "study export: --store must be the file of a study, got 'runs/study.sqlite', which does not exist.",
    ),
    ("study export --out r.txt", "study export: --out must end in .csv, .parquet, .json, got 'r.txt'."),
    ("study run missing.toml", "study run: PROTOCOL must be a TOML file, got 'missing.toml', which does not exist."),
    ("study run --table 5", "study run: --table must be 1, 2 or 3, got 5."),
    (
        "study run --methods mlp",
        "study run: what to run must be given by a file, by --table, or by --methods and --datasets, got none.",
    ),
    ("study run --methods mlp --datasets csbm --inits 0", "study run: --inits must be an integer >= 1, got 0."),
    ("study run --methods mlp --datasets csbm --workers 0", "study run: --workers must be an integer >= 1, got 0."),
    ("study table --store no.parquet", "study table: --store must be a study, got 'no.parquet', which does not exist."),
    ("study presets --out p --store no.json", "study presets: --store must be a study, got 'no.json', which does not exist."),
    ("study table --paper 5", "study table: --paper must be one of '1', '2', '3', got '5'."),
    ("data generate --like ogbn-arxiv --scale 2", "data generate: --scale must be a number in [1e-06, 1], got 2.0."),
    ("data generate --like ogbn-arxiv --model er", "data generate: --model must be one of 'power-law', 'csbm', got 'er'."),
]
LISTED = [  # what is typed, how the sentence begins, how it ends
    ("train coraa --method gcn", f"train: DATASET must be one of {NAMES}", "got 'coraa'. Did you mean 'cora' or 'actor'?"),
    ("train digit", f"train: DATASET must be one of {NAMES}", "got 'digit'. Did you mean 'digits'?"),
    (
        "train digits --method chebnet3d",
        "train: --method must be one of 'adc', 'gadc'",
        "Did you mean 'chebnet2d' or 'chebnet' or 'chebnetii'?",
    ),
    ("train digits --split unifrom", "train: --split must be one of", "got 'unifrom'. Did you mean 'uniform' or 'uniform-50'?"),
    ("data check corra", f"data check: NAME must be one of {NAMES}", "got 'corra'. Did you mean 'cora' or 'actor'?"),
    ("plot MODEL --kind filter", "plot: --kind must be one of", "Did you mean 'filters'?"),
    ("data splits digits --kind unifrm", "data splits: --kind must be one of", "Did you mean 'uniform' or 'uniform-50'?"),
    ("precompute csbm --out b --memory much", "precompute: --memory must be a size like 8GiB", "got 'much'."),
    ("precompute csbm --out b --basis chebishev", "precompute: --basis must be one of", "Did you mean 'chebyshev'?"),
    ("precompute csbm --out b --operator L", "precompute: --operator must be one of 'L_hat', 'P', 'P~'", "got 'L'."),
    ("study run --methods mpl --datasets csbm", "study run: --methods must be one of", "got 'mpl'. Did you mean 'mlp'?"),
    ("study run --methods mlp --datasets cbsm", "study run: --datasets must be one of", "got 'cbsm'. Did you mean 'csbm'?"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrong") / "model"
    run("train", "digits", *QUICK, "--epochs", 2, "--save", folder)
    return folder


@pytest.fixture
def complaint(model, tmp_path, monkeypatch):
    """What is said of a wrong command, which must leave everything as it was."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("mine")
    (tmp_path / "empty").touch()

    def said(command):
        done = run(*(str(model) if word == "MODEL" else word for word in command.split()), code=2)
        assert done.stdout == ""
        assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"taken": 4, "empty": 0}
        return done.stderr

    return said


@pytest.mark.parametrize(("command", "sentence"), TYPED, ids=[command for command, _ in TYPED])
def test_the_whole_sentence(complaint, command, sentence):
    assert complaint(command) == f"chebnet2d: {sentence}\n"


@pytest.mark.parametrize(("command", "begin", "end"), LISTED, ids=[command for command, *_ in LISTED])
def test_a_wrong_name_is_told_with_near_ones(complaint, command, begin, end):
    said = complaint(command)
    assert said.startswith(f"chebnet2d: {begin}")
    assert said.endswith(f"{end}\n")
    assert said.count("\n") == 1


def test_what_typer_finds_itself(complaint):
    assert "Invalid value" in complaint("train digits --epochs ten")
    assert "No such command" in complaint("paint")


def test_numbers_of_a_preset_are_not_blamed_on_a_flag(tmp_path):
    preset = tmp_path / "p.toml"
    preset.write_text('[default]\norigin = "me"\nmodel = { dropout = 1.5 }\n')
    said = run("train", "digits", "--preset", preset, code=2).stderr
    assert said == "chebnet2d: Dropout: p must be a number in [0, 1), got 1.5.\n"


def test_of_several_flags_the_one_with_the_value_is_meant():
    flags = [Flag("dropout", "--dropout", ("dropout", "p"), None), Flag("other", "--other", ("other", "p", "f.x"), None)]
    error = InputError("Layer", "p", "small", 3)
    assert sentence_of(error, "train", flags, {"dropout": 1, "other": 3}) == "train: --other must be small, got 3."
    assert sentence_of(error, "train", flags, {"dropout": 1, "other": None}) == "train: --dropout must be small, got 3."
    assert sentence_of(error, "train", flags, {"dropout": None, "other": None}) == "Layer: p must be small, got 3."
    exact = InputError("f", "x", "small", hint="Or use {}.", mentions=("dropout",))
    assert sentence_of(exact, "go", flags, {"dropout": None, "other": None}) == "go: --other must be small. Or use --dropout."
