"""report: from a model, a predictor or a study to a page."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError, integer
from chebnet2d.auto import NodePredictor
from chebnet2d.bases import Bases
from chebnet2d.data.any_graph import files_of
from chebnet2d.html_reports.model_page import model_values
from chebnet2d.html_reports.rendering import check_report_file, render, write
from chebnet2d.html_reports.saved_facts import checked_facts
from chebnet2d.html_reports.study_page import study_values
from chebnet2d.models import Ensemble, NodeClassifier, OnBases, load, read_facts
from chebnet2d.models.ensemble import FILE, read_predictor
from chebnet2d.predictions import read_for
from chebnet2d.study import read_for_plots

MISTAKES = 3


def report(
    subject: Any,
    graph: Any = None,
    *,
    out: str | os.PathLike[str],
    mistakes: int = MISTAKES,
    reference: str | None = None,
    force: bool = False,
    method: Any = None,
    root: str | os.PathLike[str] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Path:
    """Write one HTML file about a model, a predictor or a study. It holds all it needs, and asks for nothing from elsewhere.

    Args:
        subject: a model, a ``NodePredictor``, or the path of a saved one; or the path of a study: store, Parquet or JSON.
        graph: of a model: a ``Data``, or the name or path of a graph (of a model on bases also their folder, which explains no
            mistakes). Without one the page shows what was saved at the training.
        out: the file. One that chebnet2d did not write is replaced with ``force`` alone.
        mistakes: how many of the most confident mistakes are explained.
        reference: of a study: the method that others are compared with; default: chebnet2d, else
            the first with a 2-D convolution, else the first.
        method: the class of a model that is no method of this package, as in ``load``.
        root: folder with datasets. reading: arguments of ``read_graph``, for a path.
    """
    out, read = Path(out), [Path(subject)] if isinstance(subject, str | os.PathLike) else []
    integer("report", "mistakes", mistakes, 0, 20)
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError("report", "out", "in .html", str(out), verb="end")
    keep = files_of(str(graph), reading or {}) if isinstance(graph, str | os.PathLike) else files_of("", reading or {})
    if read and not read[0].exists():
        rule = "the folder of a model or predictor, or the file of a study"
        raise InputError("report", "subject", rule, got=f"{str(read[0])!r}, which does not exist")
    check_report_file(out, [*keep, *read], force=force)
    if read and read[0].is_file():
        if graph is not None or reading:
            raise InputError("report", "graph", "left out for a study", got=str(graph or "one"))
        text = render("study.html", **study_values(read_for_plots(read[0]), read[0].name, reference))
    else:
        if reference is not None:
            raise InputError("report", "reference", "left out for a model", reference)
        model, facts = _opened(subject, method)
        data = _graph_for(model, graph, root, reading or {})
        known = checked_facts(facts, predictor=isinstance(model, Ensemble))
        text = render("model.html", **model_values(model, known, data, mistakes))
    write(text, out)
    return out


def _opened(subject: Any, method: Any) -> tuple[NodeClassifier | OnBases, dict[str, Any]]:
    if isinstance(subject, NodePredictor):
        return subject.ensemble, subject.facts
    if isinstance(subject, NodeClassifier | OnBases):
        return subject, {}
    if not isinstance(subject, str | os.PathLike):
        rule = "a model, a predictor, or the path of one or of a study"
        raise InputError("report", "subject", rule, got=type(subject).__name__)
    folder = Path(subject)
    if (folder / FILE).is_file():
        return load(folder), dict(read_predictor(folder)["facts"])
    return load(folder, method=method), read_facts(folder)


def _graph_for(model: NodeClassifier | OnBases, graph: Any, root: Any, reading: Mapping[str, Any]) -> Any:
    if graph is None and "edges" not in reading:
        return None
    if graph is not None and not isinstance(graph, str | os.PathLike):
        return graph
    if isinstance(model, OnBases) and graph is not None and (Path(graph) / "manifest.json").is_file():
        return Bases.open(os.fspath(graph))
    return read_for(model, os.fspath(graph or ""), None if root is None else Path(root), **reading)
