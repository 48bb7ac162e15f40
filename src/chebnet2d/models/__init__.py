"""Models: one file a method. They do not know where data comes from."""

from chebnet2d.models.chebnet2d import ChebNet2D
from chebnet2d.models.gcn import GCN
from chebnet2d.models.gcnii import GCNII
from chebnet2d.models.glognn import GloGNN
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.linkx import LINKX
from chebnet2d.models.node_classifier import NodeClassifier, Prediction, features_of
from chebnet2d.models.registry import CANNOT_STACK, MODELS, find_model, model_name, register
from chebnet2d.models.saving import load, read_facts, save

__all__ = [
    "CANNOT_STACK",
    "GCN",
    "GCNII",
    "LINKX",
    "MODELS",
    "ChebNet2D",
    "GloGNN",
    "MethodInfo",
    "NodeClassifier",
    "Prediction",
    "features_of",
    "find_model",
    "load",
    "model_name",
    "read_facts",
    "register",
    "save",
]
