"""Parameters and effective numbers."""

from typing import TYPE_CHECKING

import numpy as np
import torch

from chebnet2d.graph import adjacency, shifted_laplacian
from chebnet2d.theory.claims.decoupled import CHANNELS, DEGREE, HIDDEN, NODES, REDUNDANT, filtered_terms
from chebnet2d.theory.effective import effective_numbers
from chebnet2d.theory.example_graphs import random_graph
from chebnet2d.theory.pictures.canvas import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def effective_figure(seed: int = 0) -> "Figure":
    """Of (last layer, convolution) by paradigm: the rank of the Jacobian, and what is redundant."""
    rng = np.random.default_rng(seed)
    operator = shifted_laplacian(adjacency(random_graph(NODES, 0.08, rng), num_nodes=NODES), dtype=torch.float64)
    hidden = torch.from_numpy(np.hstack([rng.standard_normal((NODES, HIDDEN)), np.ones((NODES, 1))]))
    terms = filtered_terms(operator, hidden, DEGREE)
    found = {name: effective_numbers(terms, CHANNELS, name, seed=seed) for name in REDUNDANT}
    found["2-D, softmax"] = effective_numbers(terms, CHANNELS, softmax=True, seed=seed)
    names = [name.replace("2d", "2-D").replace("rank", "rank 2") for name in found]
    effective, redundant = ([getattr(value, what) for value in found.values()] for what in ("effective", "redundant"))
    title = f"Effective numbers of (last layer, convolution): H = {HIDDEN}, C = {CHANNELS}, D = {DEGREE}"
    figure, (axis,) = canvas(title=title, width=7)
    axis.bar_label(axis.bar(names, effective, label="effective"), label_type="center", color="white", fontsize=8)
    bars = axis.bar(names, redundant, bottom=effective, label="redundant", color="0.7")
    axis.bar_label(bars, label_type="center", fontsize=8)
    axis.set(ylabel="numbers")
    axis.legend(fontsize=8)
    return figure
