"""README.md of a saved model: a model card, written from what was recorded, in the form that model hubs read."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chebnet2d._targets import Mark

_FIRST = "---\nlibrary_name: chebnet2d\n"
_NOTE = (
    "<!-- Written by chebnet2d.save, and renewed by the next save. Without this line the file is yours and stays as it is. -->"
)
MARK = Mark(_FIRST.encode(), _NOTE.encode())
"""Of a card of ours: one without the note is left alone."""


def model_card(config: Mapping[str, Any]) -> str:
    """The page for a configuration as ``save`` writes it. What was not recorded is said to be unknown."""
    facts = config["facts"]
    parts = [
        f"{_FIRST}pipeline_tag: graph-ml\ntags:\n- graph-neural-network\n- node-classification\n---",
        _NOTE,
        f"# {_text(config['model'])}" + (f" on {_text(facts['dataset'])}" if facts.get("dataset") else ""),
        _use(),
        "## Data and training\n\n" + _table(("what", "recorded"), _training(config, facts)),
        "## Metrics\n\n" + _metrics(facts),
        "## Limits\n\n" + _limits(facts),
    ]
    return "\n\n".join(parts) + "\n"


def _use() -> str:
    code = 'import chebnet2d\n\nmodel = chebnet2d.load("this-folder")  # reads numbers and JSON; runs no code from the files'
    return (
        f"A node classifier of the library chebnet2d.\n\n```python\n{code}\n```\n\n`chebnet2d predict this-folder GRAPH --out "
        "predictions.csv` on the command line. `model.safetensors` holds the weights and a copy of `config.json`, which has the "
        "arguments of the model, the preparation of features and this record."
    )


def _training(config: Mapping[str, Any], facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    split = facts.get("split")
    words = None
    if isinstance(split, Mapping):
        words = f"{split.get('name')}, seed {split.get('seed')}, digest {split.get('digest')}"
    rows = {
        "data": facts.get("dataset"),
        "features": facts.get("transform"),
        "classes": facts.get("class_names"),
        "split": words,
        "seed": facts.get("seed"),
        "settings from": facts.get("preset"),
        "arguments": config["arguments"],
        "learned numbers": facts.get("parameters"),
        "epochs": facts.get("epochs"),
        "best epoch, by validation nodes": facts.get("best_epoch"),
    }
    return [(name, "not recorded" if value is None else _text(value)) for name, value in rows.items()]


def _metrics(facts: Mapping[str, Any]) -> str:
    test, report = facts.get("test"), facts.get("report")
    if not isinstance(test, Mapping) or not test:
        return "None were recorded: nothing is known of how good this model is."
    text = "On the test nodes, which were read once, at the best epoch:\n\n"
    text += _table(("metric", "test nodes"), [(_text(name), _number(value)) for name, value in test.items()])
    if isinstance(report, Mapping) and isinstance(report.get("classes"), Sequence):
        names = ("class", "precision", "recall", "f1", "support")
        rows = [tuple(_number(row.get(name)) for name in names) for row in report["classes"] if isinstance(row, Mapping)]
        text += (
            f"\n\nBy class; the most frequent one alone would have {_number(report.get('majority'))}:\n\n{_table(names, rows)}"
        )
    return text


def _limits(facts: Mapping[str, Any]) -> str:
    lines = [
        "It was trained on one graph. On nodes of another graph, or of a later one, expect less than the numbers above.",
        "The numbers are of one split and one random start; others differ by a few points on small graphs.",
        "Probabilities are those of the softmax and are not calibrated unless the record says so.",
        "The licence and the origin of the data are not recorded here: whoever publishes the model adds them.",
    ]
    if facts.get("interrupted"):
        lines.insert(0, "The training was interrupted: this is the best epoch until then.")
    if facts.get("diverged"):
        lines.insert(0, f"The loss was no finite number from epoch {_text(facts['diverged'])} on.")
    return "\n".join(f"- {line}" for line in lines)


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else _text(value)


def _text(value: Any) -> str:
    """One line that is no markup, whatever names the data have."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return "".join(f"&#{ord(sign)};" if sign in "<>|`&" else sign for sign in text[:2000])
