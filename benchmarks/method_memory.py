"""Peak memory of every method on one dataset: a few epochs with its own settings, one run, each method in a process of its own.

python benchmarks/method_memory.py --dataset pubmed --epochs 3
"""

import argparse
import json
import resource
import subprocess
import sys


def one(method: str, dataset: str, epochs: int) -> dict[str, float | int]:
    """In this process: train, and report the largest memory it ever had."""
    import chebnet2d
    from chebnet2d.recipes import load_recipe

    data = chebnet2d.data.load(dataset)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    recipe = load_recipe(method, dataset)
    result = recipe.train(data, chebnet2d.data.split(data, "uniform", seed=0), epochs=epochs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "peak_mib": peak // 1024,
        "data_mib": before // 1024,
        "milliseconds_an_epoch": round(1000 * result.seconds / epochs, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="pubmed")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--method", help="only this one, in this process, as JSON")
    arguments = parser.parse_args()
    if arguments.method:
        print(json.dumps(one(arguments.method, arguments.dataset, arguments.epochs)))
        return
    from chebnet2d.models import MODELS

    print(f"{'method':12} {'peak MiB':>9} {'ms an epoch':>12}   ({arguments.dataset}, {arguments.epochs} epochs, one run)")
    for method in MODELS:
        flags = ["--dataset", arguments.dataset, "--epochs", str(arguments.epochs), "--method", method]
        done = subprocess.run([sys.executable, __file__, *flags], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{method:12} failed: {done.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(done.stdout)
        print(f"{method:12} {found['peak_mib']:9d} {found['milliseconds_an_epoch']:12.1f}", flush=True)


if __name__ == "__main__":
    main()
