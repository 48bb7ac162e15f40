import os

os.environ.setdefault("MPLBACKEND", "Agg")

import pytest
import torch
from hypothesis import settings

settings.register_profile("repo", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("repo")


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)
