"""Where the settings of each cell come from, as a table."""

from collections.abc import Iterable, Mapping
from typing import Any

from chebnet2d.recipes import SEARCHED
from chebnet2d.reports.tables import title_of


def kind_of(origin: str) -> str:
    """p: published for this dataset; s: searched; d: the method's default. The beginning of a recipe's origin says it."""
    if origin.startswith(SEARCHED):
        return "s"
    return "d" if origin.startswith(("default", "no default", "none")) else "p"


def describe_origins(rows: Iterable[Mapping[str, Any]]) -> str:
    """Markdown: a letter for each method and dataset."""
    found = {(row["method"], row["dataset"]): kind_of(row["config"]["origin"]) for row in rows}
    methods = list(dict.fromkeys(method for method, _ in found))
    datasets = list(dict.fromkeys(dataset for _, dataset in found))
    lines = ["## Where the settings come from", ""]
    lines += ["| method | " + " | ".join(datasets) + " |", "|" + "---|" * (len(datasets) + 1)]
    lines += [
        f"| {title_of(method)} | " + " | ".join(found.get((method, dataset), "") for dataset in datasets) + " |"
        for method in methods
    ]
    lines += [
        "",
        "p: published for this dataset by the method's authors; s: searched here, by validation nodes; d: the method's default.",
    ]
    return "\n".join(lines) + "\n"
