"""Predictions in the user's terms: labels and probabilities with ids and names, in memory or in files of any size."""

from chebnet2d.predictions.answers import Answers
from chebnet2d.predictions.bases_for import bases_for
from chebnet2d.predictions.files import check_predictions_file, write_predictions
from chebnet2d.predictions.label_sets import guarantee, words_of_sets
from chebnet2d.predictions.predict import predict, predicted, read_for

__all__ = [
    "Answers",
    "bases_for",
    "check_predictions_file",
    "guarantee",
    "predict",
    "predicted",
    "read_for",
    "words_of_sets",
    "write_predictions",
]
