"""Splits: exact agreement with published draws, and laws that hold for every kind, label vector and seed."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch_geometric.data import Data

from chebnet2d import InputError
from chebnet2d.data import SPLIT_KINDS, Split, csbm, split, split_report
from chebnet2d.data.splits import labels_of
from oracle_vectors import oracle_folder

DRAWN = ("uniform", "uniform-50", "balanced", "balanced-torch")
labels = hnp.arrays(np.int64, st.integers(5, 60), elements=st.integers(-1, 4)).filter(lambda y: (y >= 0).sum() >= 5)
seeds = st.integers(0, 2**32 - 1)


def as_sets(made):
    return [set(part.tolist()) for part in made.parts.values()]


@given(labels, st.sampled_from(DRAWN), seeds)
def test_parts_are_disjoint_and_cover_exactly_the_labelled_nodes(y, kind, seed):
    train, val, test = as_sets(split(y, kind, seed=seed))
    assert len(train) + len(val) + len(test) == len(train | val | test)
    assert train | val | test == set(np.flatnonzero(y >= 0).tolist())


@given(labels, st.sampled_from(DRAWN), seeds)
def test_a_split_is_a_pure_function_of_labels_and_seed(y, kind, seed):
    before = y.copy()
    first = split(y, kind, seed=seed)
    torch.manual_seed(1)  # the global state must not matter
    again = split(torch.from_numpy(y), kind, seed=seed)
    assert first.digest == again.digest
    assert all(torch.equal(a, b) for a, b in zip(first.parts.values(), again.parts.values(), strict=True))
    assert np.array_equal(y, before)


@given(labels, st.sampled_from(DRAWN), seeds)
def test_what_unlabelled_nodes_are_does_not_matter(y, kind, seed):
    """The labelled nodes alone, renumbered, are cut in the same way."""
    known = np.flatnonzero(y >= 0)
    whole, alone = split(y, kind, seed=seed), split(y[known], kind, seed=seed)
    for a, b in zip(whole.parts.values(), alone.parts.values(), strict=True):
        assert a.tolist() == known[b.numpy()].tolist()


@given(st.integers(5, 3000), seeds)
def test_uniform_sizes_are_those_of_the_protocol(nodes, seed):
    sizes = split(np.zeros(nodes, np.int64), "uniform", seed=seed).sizes
    assert sizes == {"train": int(0.6 * nodes), "val": int(0.2 * nodes), "test": nodes - int(0.6 * nodes) - int(0.2 * nodes)}


@given(labels, st.sampled_from(("balanced", "balanced-torch")), seeds)
def test_balanced_takes_the_same_number_of_every_class_or_all_of_it(y, kind, seed):
    made = split(y, kind, seed=seed)
    known = y[y >= 0]
    quota = round(0.6 * known.size / (known.max() + 1))
    counts = np.bincount(y[made.train.numpy()], minlength=known.max() + 1)
    assert counts.tolist() == [min(quota, int((known == c).sum())) for c in range(known.max() + 1)]


@given(st.integers(1, 4), st.integers(0, 10), seeds)
def test_per_class_takes_k_of_every_class(k, val, seed):
    y = np.repeat(np.arange(3), 8)
    made = split(y, "per-class", seed=seed, per_class=k, val=val, test=None)
    assert np.bincount(y[made.train.numpy()]).tolist() == [k] * 3
    assert made.sizes == {"train": 3 * k, "val": val, "test": 24 - 3 * k - val}


def test_uniform_is_the_permutation_of_numpy():
    order = np.random.RandomState(7).permutation(10)
    made = split(np.zeros(10, np.int64), "uniform", seed=7)
    assert [sorted(part) for part in (order[:6], order[6:8], order[8:])] == [part.tolist() for part in made.parts.values()]


def test_seeds_give_different_splits():
    data = csbm(nodes=200)
    for kind in (*DRAWN, "per-class"):
        options = {"per_class": 5, "val": 20, "test": 50} if kind == "per-class" else {}
        assert len({split(data, kind, seed=seed, **options).digest for seed in range(20)}) == 20


@pytest.mark.parametrize(("kind", "form"), [("balanced", "numpy"), ("balanced-torch", "torch")])
def test_balanced_splits_of_cora_are_the_published_ones(kind, form):
    folder = oracle_folder()
    if folder is None:
        pytest.skip("no golden vectors: set CHEBNET2D_ORACLES to their folder")
    with np.load(folder / "splits_cora.npz", allow_pickle=False) as stored:
        cases = [key.split(":") for key in stored.files if key.startswith(f"{form}:")]
        assert len(cases) == 6
        for _, seed, part in cases:
            made = split(stored["y"], kind, seed=int(seed))
            assert np.array_equal(made.parts[part].numpy(), stored[f"{form}:{seed}:{part}"])


def test_balanced_report_names_its_consequences():
    y = torch.tensor([0] * 60 + [1] * 30 + [2] * 10 + [-1] * 5)
    data = Data(y=y, num_nodes=105)
    report = split_report(split(data, "balanced", seed=0), data)
    assert report["class_counts"]["train"] == [20, 20, 10]
    assert report["class_counts"]["test"][2] == 0
    text = " ".join(report["notes"])
    assert "test has no node of class 2, which does not count in the test score." in text
    assert "class 2: smaller than the quota, wholly in train." in text
    assert "train has 50.0 % of the labelled nodes, not 60 %." in text
    assert "5 nodes have no label and are in no part." in text
    assert split_report(split(data, "uniform", seed=0), data)["notes"] == ["5 nodes have no label and are in no part."]


def masked(columns: int) -> Data:
    part = torch.stack([torch.randperm(20) for _ in range(columns)], dim=1) % 4
    y = torch.arange(20) % 2
    y[3] = -1
    return Data(y=y, num_nodes=20, train_mask=part < 2, val_mask=part == 2, test_mask=part == 3)


def test_fixed_is_the_column_of_the_masks_without_unlabelled_nodes():
    data = masked(4)
    for seed in range(4):
        made = split(data, "fixed", seed=seed)
        assert made.seed == seed
        for name, part in made.parts.items():
            wanted = data[f"{name}_mask"][:, seed] & (data.y >= 0)
            assert part.tolist() == wanted.nonzero().flatten().tolist()
    with pytest.raises(InputError, match=r"split: seed of the 4 fixed splits must be an integer from 0 to 3, got 4"):
        split(data, "fixed", seed=4)


def test_a_single_fixed_split_serves_every_seed():
    data = masked(1)
    assert split(data, "fixed", seed=0).digest == split(data, "fixed", seed=9).digest
    data.train_mask, data.val_mask, data.test_mask = (data[f"{part}_mask"][:, 0] for part in ("train", "val", "test"))
    assert split(data, "fixed", seed=3).seed == 0


def test_a_split_as_masks_and_as_a_record():
    made = split(np.zeros(10, np.int64), "uniform", seed=1)
    masks = made.masks(10)
    assert torch.equal(sum(mask.int() for mask in masks.values()), torch.ones(10, dtype=torch.int32))
    assert masks["val_mask"].nonzero().flatten().tolist() == made.val.tolist()
    assert made.to_dict() == {
        "name": "uniform",
        "seed": 1,
        "sizes": {"train": 6, "val": 2, "test": 2},
        "digest": made.digest,
    }
    assert Split("other", 5, made.train, made.val, made.test).digest == made.digest


def test_other_parts_have_another_name():
    y = np.zeros(100, np.int64)
    made = split(y, "uniform", seed=0, train=0.7, val=0.1)
    assert made.sizes == {"train": 70, "val": 10, "test": 20}
    assert made.name == "uniform(train=0.7, val=0.1)"
    assert split(y, "uniform", seed=0, train=0.5, val=0.25).name == "uniform-50"
    assert split(y, "balanced", seed=0, train=0.5).name == "balanced(train=0.5, val=0.2)"


Y = np.repeat(np.arange(3), 10)
WRONG = {
    "unknown kind": (Y, "balance", {}, r"split: kind must be one of .* Did you mean 'balanced'"),
    "negative seed": (Y, "uniform", {"seed": -1}, r"split: seed must be an integer from 0 to 4294967295, got -1"),
    "seed of wrong type": (Y, "uniform", {"seed": 1.5}, r"split: seed must be an integer from 0"),
    "parts above 1": (
        Y,
        "uniform",
        {"train": 0.8, "val": 0.3},
        r"must be parts of 1 .* got train=0.8 and val=0.3",
    ),
    "nothing to train on": (Y, "uniform", {"train": 0.0}, r"something to train on, got train=0"),
    "part of wrong type": (Y, "balanced", {"val": "0.2"}, r"split: val must be a number in \[0, 1\], got '0.2'"),
    "option of another kind": (
        Y,
        "uniform",
        {"per_class": 3},
        r"of kind 'uniform' must be train and val, got 'per_c",
    ),
    "option of none": (Y, "uniform-50", {"train": 0.5}, r"options of kind 'uniform-50' must be none, got 'train'"),
    "too many per class": (Y, "per-class", {"per_class": 11}, r"at most the size of the smallest class, 10 \(class 0\), got 11"),
    "no room": (
        Y,
        "per-class",
        {"per_class": 5},
        r"val and test must leave room in the 15 nodes outside",
    ),
    "no masks": (csbm(nodes=20, degree=2), "fixed", {}, r"kind 'fixed' must have masks in csbm, got none"),
    "no labels": (np.full(5, -1), "uniform", {}, r"split: some nodes must have a label \(>= 0\), got none among 5"),
    "labels of wrong type": (np.zeros(5), "uniform", {}, r"split: labels must be N integers, got ndarray of shape \(5,\)"),
    "labels of wrong shape": (
        np.zeros((5, 2), np.int64),
        "balanced",
        {},
        r"labels must be N integers, got ndarray of shape \(5, 2\)",
    ),
    "too few nodes": (np.zeros(1, np.int64), "uniform", {}, r"split: uniform must leave a node to train on"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_get_one_sentence(case):
    data, kind, options, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        split(data, kind, **options)


def test_overlapping_masks_are_refused():
    data = masked(1)
    data.test_mask = data.train_mask
    with pytest.raises(InputError, match="must be disjoint, got nodes in two parts"):
        split(data, "fixed")


def test_every_kind_is_documented():
    page = (Path(__file__).resolve().parents[2] / "docs" / "data.md").read_text()
    for name, make in SPLIT_KINDS.items():
        assert make.__doc__
        if make.__module__.startswith("chebnet2d."):
            assert f'"{name}"' in (split.__doc__ or "")
            assert f"| `{name}` |" in page
    assert labels_of([1, 2]).dtype == np.int64
