"""A row of a study, as tables read it."""


def study_row(method, dataset, split, score, seed):
    return {
        "method": method,
        "dataset": dataset,
        "split": split,
        "split_seed": seed,
        "metric": "accuracy",
        "test": {"accuracy": score},
        "train_nodes": 60,
        "test_nodes": 20,
    }
