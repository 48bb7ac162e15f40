"""Search of settings for a method on a dataset: the same splits for all trials, and no look at the test nodes."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

from chebnet2d import data as datasets
from chebnet2d._checks import InputError
from chebnet2d.cluster import Executor, LocalExecutor, checked_executor
from chebnet2d.recipes import whole_graph_note
from chebnet2d.search.budget import Spending
from chebnet2d.search.loop import SearchLoop, SearchProgress
from chebnet2d.search.plan import SearchPlan
from chebnet2d.search.result import SearchResult, best_recipe, best_trial
from chebnet2d.search.space import make_space
from chebnet2d.search.trainer import Trainer
from chebnet2d.search.trials import Trials

MEMORY = 2**30  # bytes that the trials of a group may take: all their stacks are in memory at once
_COPIES = 6  # of the parameters: in the model and in the stack, the gradient, two moments and the best state


def search(
    data: Any,
    plan: SearchPlan | str | None = None,
    *,
    storage: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
    log: Callable[[str], None] | None = None,
    notice: Callable[[str], None] | None = None,
    **plan_fields: Any,
) -> SearchResult:
    """Look for settings with a high validation score. Test nodes are kept from it: the runs do not even know them.

    ``search(data, "gcn", budget="90s")`` is ``search(data, SearchPlan(method="gcn", budget="90s"))``.

    Args:
        data: a dataset as ``chebnet2d.data.load`` gives it; the recipe's transform is applied here.
        plan: what the search does, or the name of a method.
        storage: address of a database that keeps the trials; a search that finds its own trials there goes on from them.
        executor: where groups of trials are trained: one of ``chebnet2d.cluster``, or your own; default: this process, which in
            any case alone asks for points and stores trials.
        progress: called after every group of trials and, where they are trained in this process, after every epoch.
        log: called with a line for every group.
        notice: called with a sentence, where the graph is so large that trials take long, or more memory than there is.
        plan_fields: fields of ``SearchPlan``; they replace those of ``plan``.
    """
    plan = replace(plan if isinstance(plan, SearchPlan) else SearchPlan(plan), **plan_fields)
    spending = Spending(plan.budget, plan.batch, plan.rungs)  # the clock runs from here
    executor = LocalExecutor() if executor is None else checked_executor("search", executor)
    base = plan.base(data)
    space = make_space(base.name, plan.ranges)
    data = base.prepare(data)
    if notice is not None and (note := whole_graph_note(base, data)) is not None:
        notice(note)
    splits = [datasets.split(data, plan.split, seed=number) for number in range(plan.splits)]
    trainer = Trainer(data, splits, plan.seed, plan.training)
    size = sum(p.numel() * p.element_size() for run in trainer.runs(base) for p in run.model.parameters())
    spending.group_size = max(1, min(spending.group_size, MEMORY // max(_COPIES * size, 1)))
    facts = plan.facts(base, data, splits, space)
    executor.slots  # noqa: B018 - a cluster that is not there must be told before there is a file of the storage
    with closing(Trials(f"{base.name} on {data.name}", space, plan.sampler, plan.seed, storage, facts)) as trials:
        loop = SearchLoop(trainer, base, trials, spending, progress, log or (lambda _: None))
        stopped = loop.run(executor, baseline=plan.baseline)
        tried, baseline = tuple(trials.finished), trials.baseline if plan.baseline else None
    best = best_trial(tried)
    if best is None and baseline is None:
        raise InputError("search", "budget", "enough for one trial", got=str(plan.budget))
    metric = data.get("metric") or "accuracy"
    how = plan.describe(len(tried), spending.group_size, generated=base.dataset != data.name)
    done = {"sampler": plan.sampler, "budget": str(plan.budget), "batch": spending.group_size, "rungs": list(plan.rungs)}
    recipe = best_recipe(base, best, baseline, plan.training, metric, how)
    return SearchResult(recipe, best, baseline, tried, metric, {**facts, **done}, spending.seconds, stopped)
