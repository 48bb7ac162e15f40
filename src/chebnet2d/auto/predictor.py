"""``NodePredictor``: from a graph and a budget to probabilities for its nodes and for those of later graphs."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chebnet2d._checks import InputError, flag
from chebnet2d._targets import check_folder
from chebnet2d._versions import versions
from chebnet2d.auto.assembly import assemble
from chebnet2d.auto.by_bases import takes_bases
from chebnet2d.auto.choice import members_of
from chebnet2d.auto.clock import Clock
from chebnet2d.auto.leaderboard import graph_gain, leaderboard, sentence_of
from chebnet2d.auto.loop import AutoProgress, run_schedule
from chebnet2d.auto.portfolio import make_portfolio
from chebnet2d.auto.problem import Problem
from chebnet2d.auto.schedule import Schedule
from chebnet2d.auto.work import Work
from chebnet2d.cluster import Executor, LocalExecutor, ProcessExecutor, checked_executor
from chebnet2d.data.any_graph import check_trainable, load_graph
from chebnet2d.data.folders import locked_beside, put_in_place, temporary_beside
from chebnet2d.models import Ensemble
from chebnet2d.models.ensemble import FILE, load_ensemble, read_predictor, save_ensemble
from chebnet2d.predictions import read_for, words_of_sets
from chebnet2d.preparation import Preparation
from chebnet2d.training.report import Report


class NodePredictor:
    """Tries methods from simple to dear on a graph, tells how they compare, and predicts with the best few of them.

    Args:
        metric: what is compared, as in ``fit``; default: that of the data, else accuracy.
        class_weight: "balanced": classes weigh the same, however small.
        methods: names of the entries to try; default: the whole portfolio.
        split: the kind that keeps test nodes away, "none" for none; default: the usual one of the graph.
        inductive: leave out methods that hold numbers for each node, so that graphs with other nodes can be predicted.
        folds: of the labelled nodes outside of test; each is predicted by models that have not seen its label.
        seed: of split, folds, draws and initial parameters.

    >>> import chebnet2d
    >>> p = NodePredictor(methods=["majority", "logistic"], folds=3).fit(chebnet2d.data.load("csbm"), budget=3)
    >>> p.leaderboard()[0]["method"]
    'logistic:neighbours'
    """

    def __init__(
        self,
        metric: str | None = None,
        *,
        class_weight: str | None = None,
        methods: Sequence[str] | None = None,
        split: str | None = None,
        inductive: bool = False,
        folds: int = 5,
        seed: int = 0,
    ) -> None:
        self.metric, self.class_weight, self.methods, self.split = metric, class_weight, methods, split
        self.inductive, self.folds, self.seed = flag("NodePredictor", "inductive", inductive), folds, seed
        self._ensemble: Ensemble | None = None
        self.facts: dict[str, Any] = {}
        """What was found, ready for JSON: leaderboard, gain of the graph, report on the test nodes, how it ended."""

    # ---- fitting ------------------------------------------------------------------------------------------
    def fit(
        self,
        graph: Any,
        budget: str | int = "10m",
        *,
        work: str | os.PathLike[str] | None = None,
        progress: Callable[[AutoProgress], None] | None = None,
        started: float | None = None,
        reading: Mapping[str, Any] | None = None,
        executor: Executor | None = None,
    ) -> "NodePredictor":
        """Try what the budget allows. Ctrl-C ends it early, with what is finished.

        Args:
            graph: a ``Data``, or the name or path of a graph.
            budget: wall time like "90s", "10m" or "2h"; or a number of candidates, which does not depend on the machine.
            work: a folder that keeps what is finished: the same call goes on from there. Default: none, nothing is kept.
            started: when the clock started, by ``time.perf_counter``; default: now.
            reading: arguments of ``read_graph`` by which the graph is, or was, read: later graphs are read alike.
            executor: where candidates are trained, one of ``chebnet2d.cluster``; default: here, one after the other. So it is
                also in place of processes of this machine where a graph is so large that bases on disk are taken.
        """
        executor = None if executor is None else checked_executor("auto", executor)
        clock = Clock(budget, time.perf_counter() if started is None else started)
        raw = load_graph(os.fspath(graph), **(reading or {})) if isinstance(graph, str | os.PathLike) else graph
        check_trainable(raw, "auto")
        data = _prepared(raw, reading)
        problem = Problem.of(data, self.split, self.metric, self.class_weight, self.folds, self.seed)
        entries = make_portfolio(problem.data, self.methods, inductive=self.inductive)
        options = [[entry.name, entry.recipe.identity()] for entry in entries]
        digest = problem.digest([self.inductive, options])
        folder = Path(tempfile.mkdtemp(prefix="chebnet2d-auto-")) if work is None else Path(work)
        try:
            with Work.opened(folder, digest) as opened:
                if isinstance(executor, ProcessExecutor) and takes_bases(problem.data):
                    executor = None
                if executor is None or isinstance(executor, LocalExecutor):
                    problem = replace(problem, bases=opened.bases)
                schedule = Schedule(problem, entries, opened, clock, self.inductive)
                stopped = run_schedule(schedule, progress, executor)
                outcomes = list(opened.outcomes.values())
                members = members_of(problem, outcomes)
                if not members and stopped == "interrupted":
                    raise KeyboardInterrupt
                if not members:
                    raise InputError("auto", "budget", "enough for one method", got=str(clock.budget))
                made = assemble(problem, members, outcomes)
        finally:
            if work is None:
                shutil.rmtree(folder)
        self._ensemble = made.ensemble
        self._work = None if work is None else opened
        gain = graph_gain(entries, outcomes, problem.metric)
        self.facts = {"metric": problem.metric, "folds": problem.folds, "seed": problem.seed, "inductive": self.inductive}
        self.facts |= {"pool": problem.pool.numel(), "test_nodes": problem.test.numel(), "class_weight": problem.class_weight}
        self.facts |= {"leaderboard": leaderboard(entries, outcomes, schedule.missed, members), "graph_adds": gain}
        self.facts |= {"stopped": stopped, "budget": str(clock.budget), "test": None, "versions": versions()}
        if problem.test.numel():  # the only look at their labels, after everything is chosen
            prediction = made.ensemble.of_probabilities(made.everywhere[problem.test])
            names, sets = data.get("class_names"), made.ensemble.label_sets
            report = Report.of(prediction.labels, prediction.probabilities, data.y[problem.test], names, sets)
            self.facts["test"] = report.to_json()
        self.facts["seconds"] = round(clock.seconds, 3)
        return self

    def forget_work(self) -> None:
        """Delete the work folder of the last ``fit``, once the predictor is saved."""
        if self._work is not None:
            self._work.delete()
            self._work = None

    _work: Work | None = None

    # ---- what was found -----------------------------------------------------------------------------------
    def leaderboard(self) -> list[dict[str, Any]]:
        """A row for each entry: method, score, interval, seconds, status, and whether it is in the predictor."""
        self._fitted()
        rows: list[dict[str, Any]] = self.facts["leaderboard"]
        return rows

    @property
    def graph_adds(self) -> str:
        """One sentence: what the graph adds to the features."""
        self._fitted()
        return sentence_of(self.facts["graph_adds"])

    @property
    def ensemble(self) -> Ensemble:
        return self._fitted()

    @property
    def classes(self) -> list[str]:
        """The word for each column of ``predict_proba``."""
        ensemble = self._fitted()
        known = ensemble.preparation.class_names if ensemble.preparation is not None else None
        return [str(name) for name in known or range(ensemble.config["out_channels"])]

    # ---- predicting ---------------------------------------------------------------------------------------
    def predict_proba(self, graph: Any, **reading: Any) -> Any:
        """N x C probabilities, as an array; columns as in ``classes``. ``graph``: a ``Data``, or a name or path."""
        ensemble = self._fitted()
        return ensemble.predict(self._read(graph, reading)).probabilities.numpy()

    def predict(self, graph: Any, *, coverage: float | None = None, **reading: Any) -> Any:
        """N words, one for each node; with ``coverage``, such as 0.9, N sets of words that hold the true label so often.

        ``chebnet2d.predict(p.ensemble, graph)`` gives a table with ids.
        """
        ensemble = self._fitted()
        prediction = ensemble.predict(self._read(graph, reading))
        if coverage is None:
            return np.array(self.classes)[prediction.labels.numpy()]
        return [set(words) for words in words_of_sets(ensemble, prediction, coverage, self.classes)]

    def evaluate(self, graph: Any, **reading: Any) -> Report:
        """All metrics, on the labelled nodes of a graph that were not trained on."""
        ensemble, data = self._fitted(), self._read(graph, reading)
        y = self._labels(data)
        ids = data.get("node_ids")
        parts = [] if ensemble.seen is None else ensemble.seen.part_of(range(data.num_nodes) if ids is None else ids)
        trained = torch.tensor([part == "train" for part in parts], dtype=torch.bool)
        nodes = torch.nonzero((y >= 0) & ~trained).squeeze(1)
        if nodes.numel() == 0:
            raise InputError("evaluate", "the graph", "labelled nodes that were not trained on", got="none", verb="have")
        prediction = ensemble.predict(data)
        labels, probabilities = prediction.labels[nodes], prediction.probabilities[nodes]
        return Report.of(labels, probabilities, y[nodes], self.classes, ensemble.label_sets)

    def _read(self, graph: Any, reading: dict[str, Any]) -> Any:
        return read_for(self._fitted(), os.fspath(graph), **reading) if isinstance(graph, str | os.PathLike) else graph

    def _labels(self, data: Any) -> torch.Tensor:
        """Our number for each label; another graph may list its classes in another order. One that is not known is an error."""
        y: torch.Tensor = data.y if data.get("y") is not None else torch.full((data.num_nodes,), -1)
        words = data.get("class_names")
        if words is None:
            return y
        missing = [str(word) for word in words if str(word) not in self.classes]
        if missing:
            raise InputError("evaluate", "the labels", f"among {', '.join(self.classes)}", missing[0])
        numbers = torch.tensor([*(self.classes.index(str(word)) for word in words), -1])
        return numbers[y]  # -1 is the last

    # ---- saving -------------------------------------------------------------------------------------------
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """A folder with ``predictor.json`` and the models, which ``NodePredictor.load`` and ``chebnet2d.load`` read."""
        ensemble, place = self._fitted(), check_predictor_folder("save", "folder", Path(folder))
        with locked_beside(place, wait=True):  # what a killed save has left goes
            made = temporary_beside(place)
            try:
                save_ensemble(ensemble, made, self.facts)
                put_in_place(made, place)
            finally:
                shutil.rmtree(made, ignore_errors=True)
        return place

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "NodePredictor":
        facts = read_predictor(Path(folder))["facts"]
        loaded = cls(facts.get("metric"), inductive=facts.get("inductive") is True)
        loaded._ensemble, loaded.facts = load_ensemble(folder), {"leaderboard": [], "graph_adds": None, **facts}
        return loaded

    def _fitted(self) -> Ensemble:
        if self._ensemble is None:
            raise InputError("NodePredictor", "it", "fitted first", got="it before fit")
        return self._ensemble


def check_predictor_folder(owner: str, argument: str, folder: Path) -> Path:
    """A folder that a predictor may take the place of: new, empty, or with a predictor."""
    if folder.exists() and not folder.is_dir():
        raise InputError(owner, argument, "a folder or new", got=f"the file {str(folder)!r}")
    found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if found and FILE not in found:
        rule = "a new or empty folder or one with a predictor"
        raise InputError(owner, argument, rule, got=f"{str(folder)!r} with {min(found)!r}")
    check_folder(owner, argument, folder)
    return folder


def _prepared(raw: Any, reading: Mapping[str, Any] | None) -> Any:
    known = raw.get("preparation")
    if known is not None and known.transform != "none":  # by the caller, who has chosen
        return raw
    return Preparation.fit(raw, "none", reading or None).apply(raw)
