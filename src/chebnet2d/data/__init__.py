"""Datasets: a catalogue with readers, splits, transforms, and graphs that need no file."""

from chebnet2d.data.dataset import dataset_digest, make_data, num_classes
from chebnet2d.data.embedded import csbm, digits
from chebnet2d.data.loading import load
from chebnet2d.data.split import Split
from chebnet2d.data.splits import split

__all__ = ["Split", "csbm", "dataset_digest", "digits", "load", "make_data", "num_classes", "split"]
