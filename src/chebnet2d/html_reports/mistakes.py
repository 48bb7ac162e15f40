"""Why a model is sure of what is wrong: explanations of its most confident mistakes."""

from collections.abc import Sequence
from typing import Any

from chebnet2d._checks import InputError
from chebnet2d.bases import Bases
from chebnet2d.explanations import SENTENCES, Explanation, explain
from chebnet2d.html_reports.evaluation import Mistake
from chebnet2d.html_reports.explained import Told, told
from chebnet2d.html_reports.grids import Grid, Value, percent

TOP = 8


def tell_mistakes(model: Any, source: Any, mistakes: Sequence[Mistake]) -> tuple[list[Told], str]:
    """The explanations, and a sentence about them, or about why there are none."""
    if not mistakes:
        return [], "Every node that was judged is right."
    if isinstance(source, Bases):
        return [], "The mistakes are listed, and not explained: name the graph instead of its bases for that."
    try:
        by_class: dict[str, list[Mistake]] = {}
        for mistake in mistakes:
            by_class.setdefault(mistake.predicted, []).append(mistake)
        found: dict[Any, Explanation] = {}
        for name, own in by_class.items():
            ids = [mistake.node for mistake in own]
            found |= zip(ids, explain(model, source, ids, class_name=name, top=TOP), strict=True)
    except InputError as error:
        return [], f"The mistakes are listed, and not explained: {error.sentence(owner='')}"
    explained = [_told(mistake, found[mistake.node]) for mistake in mistakes]
    first = next(iter(found.values()))
    return explained, f"{first.by} Shares in the logit of the class that was predicted, {SENTENCES[first.kind]}.".lstrip()


def list_mistakes(mistakes: Sequence[Mistake]) -> Grid:
    rows = [
        [Value(str(m.node)), Value(m.given), Value(m.predicted), percent(m.confidence), percent(m.given_probability)]
        for m in mistakes
    ]
    columns = ("node", "its class", "predicted", "confidence", "probability of its class")
    return Grid("The most confident mistakes", columns, rows)


def _told(mistake: Mistake, explanation: Explanation) -> Told:
    sentence = (
        f"It is {mistake.given!r} and was taken for {mistake.predicted!r} with {100 * mistake.confidence:.1f} %; its own class "
        f"has {100 * mistake.given_probability:.1f} %."
    )
    return told(explanation, sentence, TOP)
