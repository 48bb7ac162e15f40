"""Why a node gets its logit: shares of nodes, hops, frequencies and features."""

from chebnet2d.explanations.explain import explain
from chebnet2d.explanations.explanation import EXACT, GRADIENT, SENTENCES, Band, Explanation
from chebnet2d.explanations.files import check_explanations_file, write_explanations

__all__ = [
    "EXACT",
    "GRADIENT",
    "SENTENCES",
    "Band",
    "Explanation",
    "check_explanations_file",
    "explain",
    "write_explanations",
]
