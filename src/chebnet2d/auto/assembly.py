"""From finished candidates to the predictor."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from chebnet2d.auto.candidate import Outcome
from chebnet2d.auto.problem import Problem
from chebnet2d.auto.work import answers_of, models_of
from chebnet2d.data import Split
from chebnet2d.models import Ensemble, SeenNodes
from chebnet2d.models.ensemble import averaged
from chebnet2d.models.label_sets import OUT_OF_FOLD, LabelSets
from chebnet2d.training.calibration import fit_temperature
from chebnet2d.training.threshold import choose_threshold


@dataclass(frozen=True)
class Assembled:
    """``everywhere``: N x C mean probabilities of the graph that was trained on. ``out_of_fold``: P x C, of the pool."""

    ensemble: Ensemble
    everywhere: Tensor
    out_of_fold: Tensor


def assemble(problem: Problem, members: Sequence[Outcome], outcomes: Sequence[Outcome]) -> Assembled:
    """All folds and repeats of the members. Temperature, threshold and label sets come from out-of-fold predictions."""
    groups = [_repeats(member, outcomes) for member in members]
    every = [[answers_of(outcome) for outcome in group] for group in groups]
    out_of_fold = averaged([averaged([answers.out_of_fold.double() for answers in group]) for group in every])
    everywhere = averaged([averaged([answers.everywhere for answers in group]) for group in every])
    ensemble = Ensemble([[model for outcome in group for model in models_of(outcome)] for group in groups])
    ensemble.preparation = problem.data.get("preparation")
    ids = problem.data.get("node_ids")
    split = Split("auto", problem.seed, problem.pool, torch.zeros(0, dtype=torch.int64), problem.test)
    ensemble.seen = SeenNodes(np.arange(problem.data.num_nodes) if ids is None else ids, split)
    logits = out_of_fold.clamp(min=1e-300).log()
    ensemble.temperature = fit_temperature(logits, problem.y)
    ensemble.threshold = choose_threshold(logits / ensemble.temperature, problem.y, problem.metric)
    ensemble.label_sets = LabelSets.of(ensemble.of_probabilities(out_of_fold).probabilities, problem.y, OUT_OF_FOLD)
    return Assembled(ensemble.eval(), everywhere, out_of_fold)


def _repeats(member: Outcome, outcomes: Sequence[Outcome]) -> list[Outcome]:
    own = member.candidate
    same = [o for o in outcomes if (o.candidate.entry, o.candidate.number) == (own.entry, own.number)]
    return sorted(same, key=lambda outcome: outcome.candidate.repeat)
