"""The plan of a study: units, fixed splits and limits."""

import pytest
import torch

import chebnet2d
from chebnet2d.study import DatasetCache, Protocol, Store, make_plan, run_study
from small_study import small


def test_plan_is_a_pure_function(preset):
    protocol = small(preset)
    first, second = (list(make_plan(protocol, DatasetCache())) for _ in range(2))
    assert [unit.id for unit in first] == [unit.id for unit in second]
    assert len({unit.id for unit in first}) == len(first) == 4
    runs = [unit.run_id(*seeds) for unit in first for seeds in unit.seeds]
    assert len(set(runs)) == 12


def test_there_must_be_as_many_fixed_splits_as_are_asked_for(monkeypatch):
    data = chebnet2d.data.load("csbm")
    for part, nodes in (("train", slice(0, 400)), ("val", slice(400, 700)), ("test", slice(700, 1000))):
        mask = torch.zeros(1000, 2, dtype=torch.bool)
        mask[nodes] = True
        data[f"{part}_mask"] = mask
    monkeypatch.setattr("chebnet2d.data.load", lambda *_, **__: data)
    assert len(list(make_plan(Protocol(("mlp",), ("csbm",), split="fixed", splits=2), DatasetCache()))) > 0
    with pytest.raises(chebnet2d.InputError, match="seed of the 2 fixed splits must be an integer from 0 to 1, got 2"):
        list(make_plan(Protocol(("mlp",), ("csbm",), split="fixed", splits=3), DatasetCache()))


def test_limits_hold_on_their_dataset_alone(preset, tmp_path):
    protocol = small(preset, splits=1, inits=1, limits={"digits": {"epochs": 3}})
    assert protocol.limits_on("csbm") == {"epochs": 12, "patience": 200}
    assert Protocol.from_json(protocol.to_json()) == protocol

    run_study(protocol, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        assert {row["dataset"]: row["epochs"] for row in store.rows()} == {"csbm": 12, "digits": 3}
