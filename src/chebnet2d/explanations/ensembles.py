"""Which model of an ensemble explains: the mean of their probabilities is no sum over nodes."""

from chebnet2d._checks import InputError
from chebnet2d.models import Decoupled, Ensemble, NodeClassifier

HINT = "Regressions, trees and counts have no gradient in the nodes: train a method such as chebnet2d or gprgnn to explain it."


def explaining_run(ensemble: Ensemble) -> tuple[NodeClassifier, str]:
    """The first run of a member, of one that is a sum over nodes where there is such, and a sentence that says which it is."""
    runs = [(m, member[0]) for m, member in enumerate(ensemble.models) if member[0].trained_by == "gradient"]
    if not runs:
        names = ", ".join(dict.fromkeys(type(member[0]).__name__ for member in ensemble.models))
        raise InputError("explain", "model", "a member that is trained by gradients", got=names, hint=HINT, verb="have")
    place, run = min(runs, key=lambda one: not _is_sum(one[1]))
    count = sum(len(member) for member in ensemble.models)
    return run, f"By {type(run).__name__}, the first run of member {place + 1}: one of {count} models that are averaged."


def _is_sum(model: NodeClassifier) -> bool:
    return isinstance(model, Decoupled) and model.has_filter and model.linear_end() is not None
