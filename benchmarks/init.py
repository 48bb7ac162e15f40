"""Which start of the filters of ChebNet2D to recommend: validation accuracy of both on 8 uniform splits, without test nodes.

python benchmarks/init.py [--datasets texas,cora,chameleon,digits]
"""

import argparse

import numpy as np

import chebnet2d
from chebnet2d.conv import INITS
from chebnet2d.training import Run, Settings, fit_many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="texas,cora,chameleon,digits")
    for name in parser.parse_args().datasets.split(","):
        data = chebnet2d.data.load(name)
        if name != "digits":
            data = chebnet2d.data.row_normalize_features(data)
        for init in INITS:
            runs = [
                Run(
                    chebnet2d.ChebNet2D(data.num_features, chebnet2d.data.num_classes(data), init=init),
                    chebnet2d.data.split(data, "uniform", seed=seed),
                    seed,
                    Settings.of(epochs=400, patience=100),
                )
                for seed in range(8)
            ]
            scores = [result.val_metric for result in fit_many(runs, data, test=False)]
            error = np.std(scores, ddof=1) / len(scores) ** 0.5
            print(f"{name:<10} {init:<9} validation {np.mean(scores):.4f} +- {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
