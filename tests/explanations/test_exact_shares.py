"""Shares of every method that is linear after its MLP, against leaving nodes out of the signal of the model itself."""

import inspect

import pytest
import torch

import chebnet2d
from chebnet2d.explanations import bands
from chebnet2d.models import MODELS, Decoupled
from chebnet2d.testing import _Subject
from randomised_model import randomised
from shipped_methods import OURS

OPTIONS = {
    "chebnet2d": [{"rank": 2}, {"scaling": "paper"}],
    "chebnetii": [{"layout": "hidden"}, {"layout": "first"}, {"layout": "between"}, {"operator": "P~"}],
    "jacobiconv": [{"basis": "bernstein"}, {"shared": True}],
    "one-filter": [{"coupling": "I"}, {"coupling": "II"}, {"coupling": "III", "place": "hidden"}],
    "optbasis": [{"coefficients": "shared"}],
    "gnn-hf": [{"form": "closed"}],
}


def cases():
    found = []
    for name in OURS:
        if issubclass(MODELS[name], Decoupled):
            variants = [{"variant": "unified"}] if "variant" in inspect.signature(MODELS[name]).parameters else []
            options = [{}, *OPTIONS.get(name, ()), *variants]
            found += [pytest.param(name, o, id="-".join([name, *map(str, o.values())])) for o in options]
    return found


def _logits(model, data, signal):
    """Of the model as it is, but with another signal before its convolution."""
    model.signal = lambda x: signal
    try:
        with torch.no_grad():
            return model(data.x, data.edge_index) if hasattr(model, "conv") else signal
    finally:
        del model.signal


@pytest.mark.parametrize(("name", "options"), cases())
def test_shares_are_what_the_logit_loses_without_a_node(name, options, monkeypatch):
    subject = _Subject(MODELS[name], options)
    model, data = randomised(subject.make()), subject.data.clone()
    data.x = data.x.double()
    nodes = [3, 17]
    found = chebnet2d.explain(model, data, nodes)
    expected = "gradient" if model.linear_end() is None else "exact"
    assert [e.kind for e in found] == [expected] * 2
    with torch.no_grad():
        logits = model(data.x, data.edge_index)
    for e in found:
        assert e.logit == pytest.approx(logits[e.index, e.class_index].item(), rel=1e-9)
        assert e.shares.sum().item() + e.constant == pytest.approx(e.logit, rel=1e-6)
        assert sum(e.hops) == pytest.approx(e.shares.sum().item(), rel=1e-6) or expected == "gradient"
    if expected == "gradient":
        return
    with torch.no_grad():
        signal = model.signal(data.x)
    if not model.own_filter().basis.fixed:  # its polynomials follow the signal: held fixed, they are a model of their own
        signal_on = model.signal_on(data)
        held = model.own_filter().response(chebnet2d.polynomials.chebyshev_nodes(model.conv.degree), signal_on).detach()
        weights = torch.tensordot(chebnet2d.polynomials.coefficient_matrix(model.conv.degree, "interpolation"), held, dims=1)
        operator = signal_on[1].to_dense()
        model.conv.forward = lambda h, *_: _dense_polynomial(operator, h, weights)
    for e in found:
        for j in (e.index, 0, 5, int(data.edge_index[1][data.edge_index[0] == e.index][0])):
            without = signal.clone()
            without[j] = 0
            lost = e.logit - _logits(model, data, without)[e.index, e.class_index].item()
            assert e.shares[j].item() == pytest.approx(lost, rel=1e-6, abs=1e-9 * max(1, abs(e.logit)))
        assert sum(b.share for b in e.bands) == pytest.approx(e.logit - e.constant, rel=1e-6)
    monkeypatch.setattr(bands, "LARGEST_EXACT", 0)
    for e in chebnet2d.explain(model, data, nodes, features="none"):
        assert not e.bands_exact
        assert sum(b.share for b in e.bands) == pytest.approx(e.logit - e.constant, rel=1e-6)


def _dense_polynomial(operator, h, weights):
    before, current, total = torch.zeros_like(h), h, h @ weights[0]
    for d in range(1, len(weights)):
        before, current = current, operator @ current if d == 1 else 2 * operator @ current - before
        total = total + current @ weights[d]
    return total
