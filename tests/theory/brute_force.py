"""Many-start minimisation by scipy of the definitions of the paradigms: no elimination, no bounds, no first guesses."""

import numpy as np
import scipy.optimize

from theory_examples import output_of, random_parameters, small_spectrum, sparse_rows

PARADIGMS = ("II", "I+II", "II+III", "I+II+III", "II+II")


def sizes_of(terms, nodes, channels):
    return [{"I": nodes, "III": nodes * channels}.get(name, nodes + channels**2) for name in terms]


def unpack(vector, terms, nodes, channels):
    values, start = [], 0
    for name, size in zip(terms, sizes_of(terms, nodes, channels), strict=True):
        part, start = vector[start : start + size], start + size
        if name == "II":
            values.append((part[:nodes], part[nodes:].reshape(channels, channels)))
        else:
            values.append(part if name == "I" else part.reshape(nodes, channels))
    return {"outputs": channels, "values": values}


def smallest_error(f, z, paradigm, rng, starts):
    terms = paradigm.split("+")
    nodes, channels = f.shape
    count = sum(sizes_of(terms, nodes, channels))

    def rest(vector):
        return (output_of(f, terms, unpack(vector, terms, nodes, channels)) - z).ravel()

    found = [scipy.optimize.least_squares(rest, rng.standard_normal(count), max_nfev=100).cost for _ in range(starts)]
    return float(np.sqrt(2 * min(found)))


def random_case(seed):
    """A graph of 5 to 9 nodes, 2 or 3 channels: zeros, parallel rows, low rank and near-reachable targets among them."""
    rng = np.random.default_rng([seed, 24])
    paradigm = PARADIGMS[seed % len(PARADIGMS)]
    terms = paradigm.split("+")
    nodes, channels = int(rng.integers(5, 10)), int(rng.integers(2, 4))
    f = sparse_rows(rng, nodes, channels)
    if rng.random() < 0.4:
        f[1:3] = rng.standard_normal((2, 1)) * f[0]
    if rng.random() < 0.2:
        f = rng.standard_normal((nodes, 1)) @ rng.standard_normal((1, channels))
    z = output_of(f, terms, random_parameters(rng, terms, nodes, channels, channels))
    z = z + rng.choice([1e-2, 1.0]) * rng.standard_normal(z.shape)
    return rng, paradigm, small_spectrum(rng, nodes), f, z
