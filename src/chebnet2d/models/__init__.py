"""Models: one file a method. They do not know where data comes from."""

from chebnet2d.models.adc import ADC, GADC
from chebnet2d.models.appnp import APPNP
from chebnet2d.models.bernnet import BernNet
from chebnet2d.models.chebnet import ChebNet
from chebnet2d.models.chebnet2d import ChebNet2D
from chebnet2d.models.chebnetii import ChebBase, ChebNetII
from chebnet2d.models.dsgc import DSGC
from chebnet2d.models.favardgnn import FavardGNN
from chebnet2d.models.gcn import GCN
from chebnet2d.models.gcnii import GCNII
from chebnet2d.models.glognn import GloGNN
from chebnet2d.models.gnn_lf_hf import GNNHF, GNNLF
from chebnet2d.models.gprgnn import GPRGNN
from chebnet2d.models.info import MethodInfo
from chebnet2d.models.jacobiconv import JacobiConv
from chebnet2d.models.linkx import LINKX
from chebnet2d.models.mlp_classifier import MLPClassifier
from chebnet2d.models.node_classifier import NodeClassifier, Prediction, features_of
from chebnet2d.models.nodeformer import NodeFormer
from chebnet2d.models.optbasis import OptBasis
from chebnet2d.models.pdegcn import PDEGCN
from chebnet2d.models.registry import CANNOT_STACK, MODELS, MethodName, find_model, model_name, parse_method, register
from chebnet2d.models.saving import load, read_facts, save
from chebnet2d.models.specgn import SpecGN

__all__ = [
    "ADC",
    "APPNP",
    "CANNOT_STACK",
    "DSGC",
    "GADC",
    "GCN",
    "GCNII",
    "GNNHF",
    "GNNLF",
    "GPRGNN",
    "LINKX",
    "MODELS",
    "PDEGCN",
    "BernNet",
    "ChebBase",
    "ChebNet",
    "ChebNet2D",
    "ChebNetII",
    "FavardGNN",
    "GloGNN",
    "JacobiConv",
    "MLPClassifier",
    "MethodInfo",
    "MethodName",
    "NodeClassifier",
    "NodeFormer",
    "OptBasis",
    "Prediction",
    "SpecGN",
    "features_of",
    "find_model",
    "load",
    "model_name",
    "parse_method",
    "read_facts",
    "register",
    "save",
]
