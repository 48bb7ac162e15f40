"""Training by bases on disk: when it is better than the whole graph at once, and the bases that it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d._sizes import free_bytes, resident_bytes, show_bytes
from chebnet2d.bases import Bases, PrecomputeProgress, give_up_edges, precompute
from chebnet2d.data import num_classes
from chebnet2d.graph.listed_edges import ListedEdges
from chebnet2d.models import Decoupled, NodeClassifier
from chebnet2d.preparation import Preparation
from chebnet2d.recipes.recipe import Recipe
from chebnet2d.recipes.ways import LONG, SLOWER, Cost, bases_seconds, whole_graph_cost

AUTO, NEVER = "auto", "never"
_MOSTLY = 0.5  # labelled nodes from which on all nodes are stored: predictions then find their rows


@dataclass(frozen=True)
class Choice:
    """``bases``: whether training goes by bases on disk; ``reason``: in words, None where nothing need be said.

    ``fits``: whether the memory that there is suffices for the way taken.
    """

    bases: bool
    cost: Cost
    reason: str | None = None
    fits: bool = True


def choose_way(recipe: Recipe, model: NodeClassifier, data: Any, *, asked: str = AUTO, limit: int | None = None) -> Choice:
    """Bases where the whole graph would take more memory than there is, or so long that mini batches pay.

    Args:
        model: for the whole graph, as ``recipe.build`` gives it.
        data: the prepared graph.
        asked: "auto", "never", or anything else for bases in any case.
        limit: what the process may hold at most; default: what it has and what is free.
    """
    cost, held = whole_graph_cost(model, data), resident_bytes()
    room = (held + free_bytes() if limit is None else limit) - held
    if asked not in (AUTO, NEVER):
        return Choice(True, cost, "bases on disk are asked for")
    if isinstance(data.edge_index, ListedEdges):
        return _for_edges_on_disk(recipe, data, cost, held)
    too_much = f"the whole graph at once takes {cost}, more than the {show_bytes(max(room, 0))} that are left"
    if asked == AUTO and isinstance(model, Decoupled):
        try:
            spec = recipe.bases_spec(data.num_features)
        except InputError:
            spec = None
        if spec is not None and cost.bytes > room:
            return Choice(True, cost, f"{too_much}: bases on disk are taken instead")
        if spec is not None and cost.seconds >= LONG and bases_seconds(model, data, spec.degree) <= SLOWER * cost.seconds:
            return Choice(True, cost, f"the whole graph at once takes {cost}: bases on disk are taken instead")
    if cost.bytes > room and limit is not None:
        hint = "Mini batches of nodes ({}) take less." if asked == AUTO else "Bases on disk take less."
        rule = f"at least {show_bytes(held + cost.bytes)} for the whole graph at once"
        raise InputError("train", "memory", rule, got=show_bytes(limit), hint=hint, mentions=("batch_size",))
    if cost.bytes > room:
        return Choice(False, cost, too_much, fits=False)
    return Choice(False, cost, f"the whole graph at once takes {cost}" if cost.seconds >= LONG else None)


def _for_edges_on_disk(recipe: Recipe, data: Any, cost: Cost, held: int) -> Choice:
    try:
        recipe.bases_spec(data.num_features)
    except InputError:
        rule = f"at least {show_bytes(held + cost.bytes)} for {recipe.method}, which takes the whole graph at once"
        raise InputError("train", "memory", rule, got="less") from None
    return Choice(
        True, cost, f"edges are read in chunks and stay on disk, since the whole graph at once takes {cost}: so do bases"
    )


def whole_graph_note(recipe: Recipe, data: Any) -> str | None:
    """For what trains on the whole graph in any case: what that takes, where it is long or too much, and what takes less."""
    model = recipe.build(data)
    if not isinstance(model, NodeClassifier) or model.trained_by != "gradient":
        return None
    way = choose_way(recipe, model, data, asked=NEVER)
    if way.reason is None:
        return None
    return (
        f"{recipe.name} on {data.name}: {way.reason}. Single trainings ('train') and 'auto' take bases on disk for such graphs."
    )


def make_bases(
    recipe: Recipe,
    data: Any,
    out: Path,
    *,
    rows: str | None = None,
    memory: int | str | None = None,
    progress: Callable[[PrecomputeProgress], None] | None = None,
) -> Bases:
    """The bases of a prepared graph for the recipe's method, with its labels. The data gives up its edges: they may be large.

    ``rows``: "all" or "labelled"; default: all where most nodes have labels.
    """
    if rows is None:
        rows = "all" if int((data.y >= 0).sum()) >= _MOSTLY * data.num_nodes else "labelled"
    spec = recipe.bases_spec(data.num_features, rows)
    give_up_edges(data, spec.operator)
    preparation = data.get("preparation") or Preparation()
    made = precompute(data, out=out, spec=spec, memory=memory, progress=progress, beside=preparation.as_file())
    data.edge_index = None
    return made.with_labels(data.y, num_classes(data))


def memory_for_rows(bases: Bases, batch: int, limit: int | None) -> int | None:
    """What is left for training rows within the limit: beside the process as it is, and batches with their gradients."""
    if limit is None:
        return None
    a_batch = 4 * batch * (bases.degree + 1) * bases.num_features
    return max(1, limit - resident_bytes() - 6 * a_batch - 100 * 2**20)
