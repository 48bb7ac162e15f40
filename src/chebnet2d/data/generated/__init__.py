"""Random graphs of the size of the large datasets, in the raw format of the original, so that everything can be tried at size.

Nodes, edges, features and classes are those of the catalogue, and the part of edges within classes is that of the original. The
rest is a model, not the data: accuracies on a generated graph say nothing about the original.
"""

from chebnet2d.data.generated.generate import GENERATED, generate, generated_facts, generated_statistics
from chebnet2d.data.generated.shapes import LIKE, GraphShape, shape_of

__all__ = ["GENERATED", "LIKE", "GraphShape", "generate", "generated_facts", "generated_statistics", "shape_of"]
