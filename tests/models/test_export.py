"""torch.export of every method: the same logits, or a sentence that says why not (docs/serving.md)."""

import re
from pathlib import Path

import pytest
import torch

import chebnet2d
from chebnet2d.models import MODELS

PAGE = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
WORK = {"bernnet", "chebbase", "chebnet2d", "chebnetii", "gprgnn", "jacobiconv", "mlp", "one-filter"}


@pytest.fixture(scope="module")
def data():
    return chebnet2d.data.load("csbm", nodes=40, features=6, classes=3, degree=4.0)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_export_or_a_sentence(name, data):
    model_class = MODELS[name]
    sizes = {"num_nodes": 40} if name in ("linkx", "glognn", "chebnet2d-plus") else {}
    model = model_class(6, 3, **sizes).eval()
    if name not in WORK:
        with pytest.raises(chebnet2d.InputError, match="torch.export"):
            torch.export.export(model, (data.x, data.edge_index))
        return
    nodes, edges = torch.export.Dim("nodes", min=2), torch.export.Dim("edges", min=2)
    program = torch.export.export(model, (data.x, data.edge_index), dynamic_shapes=({0: nodes}, {1: edges}))
    part = data.edge_index[:, (data.edge_index < 30).all(dim=0)]
    torch.testing.assert_close(program.module()(data.x[:30], part), model(data.x[:30], part))


def test_the_page_lists_them():
    sentence = PAGE[PAGE.index("This works for") : PAGE.index("The others build")]
    assert set(re.findall(r"`([a-z0-9-]+)`", sentence)) == WORK
