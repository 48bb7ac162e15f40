"""Sets of labels with a stated coverage, by split conformal prediction.

The score of a label is one less its probability. With n scores of the true labels of nodes that the model was not trained on, a
set holds every label whose score is at most the ceil((n + 1) coverage)-th smallest of them. For a node that is exchangeable with
these n, the set misses the true label with a probability of at most 1 - coverage (Vovk, Gammerman, Shafer 2005); among all scores
this one gives the smallest sets on average, where probabilities are right (Sadinle, Lei, Wasserman 2019).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from chebnet2d._checks import InputError, one_of, real

VALIDATION, OUT_OF_FOLD = "validation", "out-of-fold"
_NAME = "label sets: "
"""Of the tensor beside the weights, which no parameter can have: it holds a blank."""


@dataclass(frozen=True)
class LabelSets:
    """``scores``: of the true labels of the calibration nodes, ascending. ``source``: what these nodes were."""

    scores: Tensor
    source: str

    @classmethod
    def of(cls, probabilities: Tensor, y: Tensor, source: str) -> "LabelSets":
        """From n x C probabilities, as the model gives them to users, and the true labels."""
        one_of("LabelSets", "source", source, (VALIDATION, OUT_OF_FOLD))
        own = probabilities.detach().cpu().double().gather(1, y.cpu().view(-1, 1)).squeeze(1)
        return cls((1 - own).sort().values, source)

    def level(self, coverage: float) -> float:
        """The largest score that a label of a set may have; infinite where there are too few nodes for this coverage."""
        real("predict", "coverage", coverage, 0, 1)
        if not 0 < coverage < 1:
            raise InputError("predict", "coverage", "above 0 and below 1", coverage)
        # The product is rounded: 0.9 * 10 must be 9 and not a little more.
        rank = math.ceil(round((self.scores.numel() + 1) * coverage, 9))
        return float(self.scores[rank - 1]) if rank <= self.scores.numel() else math.inf

    def sets(self, probabilities: Tensor, labels: Tensor, coverage: float) -> Tensor:
        """N x C: whether the label is in the node's set. The predicted label always is, so that no set is empty."""
        inside = 1 - probabilities.double() <= self.level(coverage)
        inside[torch.arange(len(labels)), labels] = True
        return inside

    def sentence(self, coverage: float) -> str:
        """What may be expected of the sets, for people."""
        nodes = f"{self.scores.numel()} {self.source} nodes of the training graph"
        if math.isinf(self.level(coverage)):
            least = math.ceil(round(coverage / (1 - coverage), 9))
            return f"label sets: every set has all labels, for coverage {coverage:g} needs {least} nodes and there are {nodes}"
        about = "with a probability of at least" if self.source == VALIDATION else "with a probability of about"
        kept = "they also chose when the training stopped, which makes sets a little too small"
        if self.source == OUT_OF_FOLD:
            kept = "each was predicted by a part of the models, so that sets of all together are rather too large"
        return (
            f"label sets: each holds the true label {about} {coverage:g}, for nodes that are exchangeable with the {nodes} "
            f"({kept}); over all nodes, not for each class"
        )

    def tensors(self) -> dict[str, Tensor]:
        return {_NAME + self.source: self.scores}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor]) -> "LabelSets | None":
        """Takes its own out of those of a file."""
        found = {source: tensors.pop(_NAME + source, None) for source in (VALIDATION, OUT_OF_FOLD)}
        for source, scores in found.items():
            if scores is not None:
                sound = scores.dim() == 1 and scores.dtype == torch.float64 and bool(((scores >= 0) & (scores <= 1)).all())
                if not sound or bool((scores.diff() < 0).any()):
                    raise InputError("load", "the scores of the label sets", "ascending numbers from 0 to 1", got="others")
                return cls(scores, source)
        return None
