"""Rows of a study, as reports read them."""

SETTINGS = {"epochs": 100, "patience": 20}


def study_row(method, dataset, split, score, seed, **changes):
    """A run of the report."""
    return {
        "method": method,
        "dataset": dataset,
        "split": split,
        "split_seed": seed,
        "metric": "accuracy",
        "test": {"accuracy": score},
        "train_nodes": 60,
        "test_nodes": 20,
        "epochs": 60,
        "config": {"origin": "default", "settings": SETTINGS},
        **changes,
    }


def trial_row(method, dataset, number, score, seed, **changes):
    """A run of a search: its test scores are neither computed nor stored."""
    facts = {"kind": "trial", "trial": number, "val_metric": score, "test": {}, "test_nodes": 0, "pruned": False, "epochs": 50}
    return study_row(method, dataset, "uniform", None, seed) | facts | changes
