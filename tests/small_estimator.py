"""A ``GraphClassifier`` that takes a moment, and the checks of scikit-learn that cannot hold for it."""

QUICK = {"degree": 2, "hidden_channels": 16, "lr": 0.05, "epochs": 20, "patience": 20}
QUICKEST = {"degree": 1, "hidden_channels": 16, "lr": 0.1, "epochs": 8, "patience": 8}
"""Enough for the blobs of scikit-learn's checks, of which there are a hundred."""
EXPECTED_FAILED_CHECKS = {
    "check_classifiers_classes": "has a class -1, which means that a node has no label, as in sklearn.semi_supervised",
    "check_class_weight_classifiers": "has a weight for each class; here they are balanced or all the same",
}
