"""The paper's failure cases on real graphs."""

import numpy as np
import pytest
import torch

from chebnet2d.theory import construct
from chebnet2d.theory.example_graphs import spectrum_of_edges
from data_root import real_data_root
from theory_examples import signal, sparse_rows


@pytest.fixture(scope="module")
def texas():
    """The spectrum and the features of Texas, straight from its file."""
    file = real_data_root() / "heterophilous" / "texas" / "raw" / "texas.npz"
    if not file.is_file():
        pytest.skip(f"no {file.name} below the data root")
    with np.load(file) as arrays:
        edges = torch.from_numpy(arrays["edges"].T.copy())
        features = arrays["node_features"].astype(np.float64)
    return spectrum_of_edges(edges, len(features)), features


class TestRealGraphs:
    """The paper's failure cases on Texas."""

    def test_features_are_not_frequency_trivial(self, texas):
        spectrum, features = texas
        rng = np.random.default_rng(0)
        x = features @ rng.standard_normal((features.shape[1], 5))
        z = rng.standard_normal((183, 5))
        assert construct(spectrum, x, z, "2d").error < 1e-10
        for paradigm in ("I", "II"):
            result = construct(spectrum, x, z, paradigm, restarts=4)
            assert result.fails
            assert result.error >= (1 - 1e-12) * result.lower_bound > 0.05 * result.scale

    def test_rank_and_zeros(self, texas):
        spectrum, features = texas
        rng = np.random.default_rng(1)
        x = features @ rng.standard_normal((features.shape[1], 1)) @ rng.standard_normal((1, 5))
        z = rng.standard_normal((183, 5))
        for paradigm in ("I", "II", "II+II"):
            assert construct(spectrum, x, z, paradigm, restarts=4).fails
        f = sparse_rows(rng, 183, 5)
        for paradigm in ("I", "III"):
            result = construct(spectrum, signal(spectrum, f), z, paradigm)
            assert result.fails
            assert result.optimal
        for source in (x, signal(spectrum, f)):
            assert construct(spectrum, source, z, "2d").error < 1e-10
