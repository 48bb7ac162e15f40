"""From raw columns to features: fitted once on a graph, kept with the model, applied wherever it predicts."""

from chebnet2d.preparation.choosing import MODES
from chebnet2d.preparation.describing import preparation_lines
from chebnet2d.preparation.encoding import Encoding
from chebnet2d.preparation.notes import Notes
from chebnet2d.preparation.preparation import Preparation, fit_encoding, reading_of
from chebnet2d.preparation.saved import MADE_FEATURES
from chebnet2d.preparation.transforms import (
    TRANSFORMS,
    apply_transform,
    largest_component,
    row_normalize_features,
    scale_of,
    standardize,
)

__all__ = [
    "MADE_FEATURES",
    "MODES",
    "TRANSFORMS",
    "Encoding",
    "Notes",
    "Preparation",
    "apply_transform",
    "fit_encoding",
    "largest_component",
    "preparation_lines",
    "reading_of",
    "row_normalize_features",
    "scale_of",
    "standardize",
]
