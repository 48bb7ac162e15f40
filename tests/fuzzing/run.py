"""``python tests/fuzzing/run.py [--inputs N] [--first SEED] [FORMAT ...]``: damaged inputs of each format, what they found."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / part) for part in ("fuzzing", "", "data/own_graph")]

import torch  # noqa: E402

from formats import all_formats  # noqa: E402
from fuzz import Finding, fuzz  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*")
    parser.add_argument("--inputs", type=int, default=200, help="of each format (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="seed of the first (default: 0)")
    asked = parser.parse_args()
    torch.set_num_threads(1)  # a forked process has one
    formats, findings = all_formats(), list[Finding]()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["CHEBNET2D_CACHE"] = str(Path(temporary) / "cache")
        os.environ["CHEBNET2D_READ_MEMORY"] = "512MiB"
        for name in asked.formats or formats:
            found, read = fuzz(name, formats[name], Path(temporary), range(asked.first, asked.first + asked.inputs))
            print(
                f"{name}: {asked.inputs} inputs, {read} read, {asked.inputs - read - len(found)} refused, {len(found)} found",
                flush=True,
            )
            for finding in found:
                print(f"  --first {finding.seed} --inputs 1 {name}: {finding.what.strip()[-1500:]}", flush=True)
            findings += found
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
