"""Models: one file per method. They do not know where data comes from.

A method is found by its file: a module in this folder that registers a ``NodeClassifier`` needs no line here.
"""

import importlib
import pkgutil

from chebnet2d.models.adc import ADC, GADC
from chebnet2d.models.appnp import APPNP
from chebnet2d.models.bernnet import BernNet
from chebnet2d.models.chebnet import ChebNet
from chebnet2d.models.chebnet2d import ChebNet2D
from chebnet2d.models.chebnetii import ChebBase, ChebNetII
from chebnet2d.models.decoupled import Decoupled
from chebnet2d.models.dsgc import DSGC
from chebnet2d.models.ensemble import Ensemble
from chebnet2d.models.estimators import Estimator
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
from chebnet2d.models.on_bases import READINGS, EachBasis, FilterFirst, OnBases, StoredBases, on_bases
from chebnet2d.models.on_graph import OnGraph
from chebnet2d.models.optbasis import OptBasis
from chebnet2d.models.pdegcn import PDEGCN
from chebnet2d.models.registry import MODELS, VARIANTS, MethodName, find_model, model_name, parse_method, register
from chebnet2d.models.saving import load, read_facts, save
from chebnet2d.models.seen_nodes import SeenNodes
from chebnet2d.models.specgn import SpecGN

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "ADC",
    "APPNP",
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
    "READINGS",
    "VARIANTS",
    "BernNet",
    "ChebBase",
    "ChebNet",
    "ChebNet2D",
    "ChebNetII",
    "Decoupled",
    "EachBasis",
    "Ensemble",
    "Estimator",
    "FavardGNN",
    "FilterFirst",
    "GloGNN",
    "JacobiConv",
    "MLPClassifier",
    "MethodInfo",
    "MethodName",
    "NodeClassifier",
    "NodeFormer",
    "OnBases",
    "OnGraph",
    "OptBasis",
    "Prediction",
    "SeenNodes",
    "SpecGN",
    "StoredBases",
    "features_of",
    "find_model",
    "load",
    "model_name",
    "on_bases",
    "parse_method",
    "read_facts",
    "register",
    "save",
]
