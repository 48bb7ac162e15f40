"""Settings with which a search takes a moment."""

from chebnet2d.recipes import Recipe

RECIPE = Recipe("chebnet2d", dataset="csbm", origin="a test", model={"hidden_channels": 4, "degree": 2}, settings={"lr": 0.02})
QUICK = {"splits": 2, "epochs": 12, "patience": 12, "batch": 4, "recipe": RECIPE}
FIXED = {"weight_decay": [5e-4], "filter_lr": [0.01], "filter_weight_decay": [5e-4], "filter_dropout": [0.0]}
