import copy
import inspect

import numpy as np
import pytest
import scipy.sparse
import torch

from chebnet2d.graph import SparseOperator
from chebnet2d.nn import MLP, Configured, Dropout, Linear, MaskedFeatures, Stream, keep_mask, random_streams
from chebnet2d.nn.random_streams import relu_dropout


def sparse_features(dtype=torch.float64):
    return SparseOperator.from_scipy(scipy.sparse.random(30, 12, density=0.2, random_state=1), dtype=dtype)


def test_linear_agrees_with_torch_for_dense_and_sparse():
    layer, reference = Linear(12, 5).double(), torch.nn.Linear(12, 5).double()
    with torch.no_grad():
        reference.weight.copy_(layer.weight.T)
        reference.bias.copy_(layer.bias)
    x = sparse_features()
    torch.testing.assert_close(layer(x), reference(x.to_dense()))
    torch.testing.assert_close(layer(x.to_dense()), reference(x.to_dense()))


def test_mlp_is_dropout_linear_relu_dropout_linear():
    mlp = MLP(12, 8, 3, num_layers=2, dropout=0.3).double().eval()
    x = torch.randn(7, 12, dtype=torch.float64)
    first, second = mlp.layers
    expected = (x @ first.weight + first.bias).relu() @ second.weight + second.bias
    torch.testing.assert_close(mlp(x), expected)
    assert [float(dropout.p) for dropout in mlp.dropouts] == [0.3, 0.3]


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_mask_has_the_right_law(p):
    mask = keep_mask((400, 500), torch.tensor(p), torch.zeros((), dtype=torch.float64))
    zero_rate = float((mask == 0).double().mean())
    assert zero_rate == pytest.approx(p, abs=5 * (p * (1 - p) / 200_000) ** 0.5)
    assert mask.mean().item() == pytest.approx(1, abs=0.05)
    assert mask.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=1e-3)
    rows = mask.reshape(-1, 4)  # lanes of one 64-bit draw are independent
    together = float(((rows[:, 0] == 0) & (rows[:, 1] == 0)).double().mean())
    assert together == pytest.approx(p * p, abs=5 * (p * p * (1 - p * p) / 50_000) ** 0.5)


def test_rate_zero_draws_nothing():
    stream = Stream(3)
    before = stream.state
    with random_streams([stream]):
        assert torch.equal(keep_mask((5,), torch.tensor(0.0), torch.zeros(())), torch.ones(5))
    np.testing.assert_equal(stream.state["state"], before["state"])


def test_runs_of_a_stack_draw_from_their_own_streams():
    rates = torch.tensor([0.5, 0.2, 0.7], dtype=torch.float64)
    like = torch.zeros((), dtype=torch.float64)

    def mask(streams, p):
        with random_streams(streams):
            return torch.func.vmap(lambda rate: keep_mask((40,), rate, like))(p)

    together = mask([Stream(s) for s in (1, 2, 3)], rates)
    reordered = mask([Stream(s) for s in (3, 1)], rates[[2, 0]])
    assert torch.equal(together[2], reordered[0])
    assert torch.equal(together[0], reordered[1])
    with random_streams([Stream(2)]):
        assert torch.equal(together[1], keep_mask((40,), rates[1], like))
    with random_streams([Stream(1)]), pytest.raises(RuntimeError, match="3 runs draw, but 1 random streams are set"):
        torch.func.vmap(lambda rate: keep_mask((4,), rate, like))(rates)


def test_without_streams_torch_seeds_the_draw():
    torch.manual_seed(5)
    first = keep_mask((50,), torch.tensor(0.5), torch.zeros(()))
    torch.manual_seed(5)
    assert torch.equal(first, keep_mask((50,), torch.tensor(0.5), torch.zeros(())))
    assert not torch.equal(first, keep_mask((50,), torch.tensor(0.5), torch.zeros(())))


def test_dropout_of_sparse_features_equals_dropout_of_their_values():
    x, layer, dropout = sparse_features(), Linear(12, 4).double(), Dropout(0.4)
    with random_streams([Stream(9)]):
        masked = dropout(x)
    assert isinstance(masked, MaskedFeatures)
    dense = x.to_dense()
    row, col = x.to_scipy().nonzero()
    dense[row, col] = masked.values
    torch.testing.assert_close(layer(masked), layer(dense))
    twice = dropout(masked)
    assert set((twice.values == 0).tolist()) == {True, False}
    assert dropout.eval()(x) is x


def test_dropout_gradient_is_the_mask():
    x = torch.randn(6, 5, requires_grad=True)
    with random_streams([Stream(1)]):
        y = Dropout(0.5)(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(gradient * x, y)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.9])
def test_relu_and_dropout_in_one(p):
    x = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    dropout = Dropout(p)
    with random_streams([Stream(1)]):
        apart = dropout(x.relu())
    with random_streams([Stream(1)]):
        together = dropout.after_relu(x)
    torch.testing.assert_close(together, apart)
    weights = torch.randn(6, 5, dtype=torch.float64)
    ours, theirs = (torch.autograd.grad((y * weights).sum(), x)[0] for y in (together, apart))
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(dropout.eval().after_relu(x), x.relu())


def test_relu_and_dropout_of_a_stack():
    x = torch.randn(3, 6, 5, dtype=torch.float64, requires_grad=True)
    rates = torch.tensor([0.5, 0.0, 0.2], dtype=torch.float64)
    with random_streams([Stream(s) for s in (1, 2, 3)]):
        together = torch.func.vmap(relu_dropout)(x, rates)
    alone = []
    for r in range(3):
        with random_streams([Stream(r + 1)]):
            alone.append(relu_dropout(x[r], rates[r]))
    torch.testing.assert_close(together, torch.stack(alone))
    ours, theirs = (torch.autograd.grad((y**2).sum(), x)[0] for y in (together, torch.stack(alone)))
    torch.testing.assert_close(ours, theirs)


def test_rate_is_not_saved_and_keeps_its_precision():
    dropout = Dropout(0.1).float()
    assert dropout.state_dict() == {}
    assert dropout.p.dtype == torch.float64


class _Configured(Configured):
    def __init__(self, width: int, dropout: float = 0.5, **options: int) -> None:
        super().__init__()
        self.seen_before_it_was_built = self.config


class _Narrow(_Configured):
    def __init__(self, name: str) -> None:
        super().__init__(2, depth=3)


def test_a_module_remembers_the_arguments_of_its_constructor():
    module = _Configured(4, depth=2)
    assert module.config == module.seen_before_it_was_built == {"width": 4, "dropout": 0.5, "depth": 2}
    assert copy.deepcopy(module).config == module.config
    assert _Narrow("n").config == {"name": "n"}, "those of its own constructor, not of the one that is called from there"
    assert list(inspect.signature(_Configured).parameters) == ["width", "dropout", "options"]
    assert module.stack_key == _Configured(4, dropout=0.1, depth=2).stack_key != _Configured(5, depth=2).stack_key
    module.config["width"] = 7
    assert module.config["width"] == 4, "what is given out is a copy"
    with pytest.raises(TypeError, match="_Configured: missing a required argument: 'width'"):
        _Configured()
