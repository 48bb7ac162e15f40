"""What holds for every registered metric: a new one is taken up by itself."""

import pytest
import torch

from chebnet2d.training.batches import Batch
from chebnet2d.training.loss import node_weights
from chebnet2d.training.metrics import METRICS, Meter

NODES, RUNS = 40, 3


@pytest.fixture(params=sorted(METRICS))
def metric(request):
    return METRICS[request.param]


@pytest.fixture
def case(metric):
    """(logits, labels with gaps, nodes per run) for the smallest number of classes that the metric is defined for."""
    classes = next(c for c in range(2, 10) if metric.applies(c))
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(RUNS, NODES, classes, generator=generator, dtype=torch.float64)
    y = torch.arange(NODES) % classes
    y[::7] = -1
    labelled = (y >= 0).nonzero().squeeze(1)
    nodes = [labelled[torch.randperm(labelled.numel(), generator=generator)[:k]] for k in (12, 20, labelled.numel())]
    return logits, y, nodes


def score(metric, *batches):
    meter = Meter([metric])
    for logits, batch in batches:
        meter.add(logits, batch)
    return meter.scores()[metric.name]


def alone(metric, logits, y, nodes):
    return score(metric, (logits[None, nodes], Batch((), y[nodes])))[0]


def test_a_run_of_a_stack_counts_its_own_nodes(metric, case):
    logits, y, nodes = case
    together = score(metric, (logits, Batch((), y, node_weights(nodes, NODES, logits))))
    assert together == pytest.approx([alone(metric, logits[r], y, nodes[r]) for r in range(RUNS)])


def test_batches_in_any_order_are_the_whole(metric, case):
    logits, y, _ = case
    whole = score(metric, (logits, Batch((), y)))
    parts = [(logits[:, part], Batch((), y[part])) for part in torch.randperm(NODES).split(9)]
    assert score(metric, *parts) == pytest.approx(whole)
    assert score(metric, *parts[::-1]) == pytest.approx(whole)


def test_a_process_without_nodes_changes_nothing(metric, case):
    logits, y, _ = case
    full = Meter([metric])
    full.add(logits[:1], Batch((), y))
    expected = full.scores()

    def gathered(value):  # of two processes: ours, and one that had no nodes
        return [value, []]

    full.merge(lambda tensor: tensor, gathered)
    assert full.scores() == expected


def test_right_answers_are_the_best_and_it_has_a_title(metric, case):
    logits, y, _ = case
    perfect = 10.0 * torch.nn.functional.one_hot(y.clamp(min=0), logits.shape[-1]).double()[None]
    batch = Batch((), y)
    assert score(metric, (perfect, batch))[0] > score(metric, (-perfect, batch))[0]
    assert score(metric, (perfect, batch))[0] >= max(score(metric, (logits, batch)))
    assert metric.title
