"""Models: one file a method. They do not know where data comes from."""

from chebnet2d.models.chebnet2d import ChebNet2D
from chebnet2d.models.node_classifier import NodeClassifier, Prediction, features_of

__all__ = ["ChebNet2D", "NodeClassifier", "Prediction", "features_of"]
