"""``python tests/crash_points/run.py [SCENARIO ...]``: kill each before every change of the disk, and print how many."""

import os
import sys
import tempfile
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from kills import files_of, kill_everywhere, same_files  # noqa: E402
from sandbox import checked_root, forked  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402


def run(name: str, root: Path) -> int:
    """The number of crash points of a scenario, all of which it has survived."""
    aside, reference, attacks = (root / part for part in ("aside", "reference", "attacks"))
    for folder in (aside, reference, attacks):
        folder.mkdir(parents=True)
    made = SCENARIOS[name](aside)
    check = made.check
    if check is None:
        end = forked(root, lambda: (made.prepare(reference), made.work(reference)))
        if end.code != 0:
            raise AssertionError(f"{name} without a kill: {end.text}")
        expected = files_of(reference)

        def check(folder: Path) -> None:
            same_files(folder, expected)

    return kill_everywhere(attacks, made.work, check, prepare=made.prepare, after_kill=made.after_kill)


def main(names: list[str]) -> int:
    total, failed = 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["CHEBNET2D_CACHE"] = str(Path(temporary) / "cache")
        for name in names or SCENARIOS:
            try:
                count = run(name, checked_root(Path(temporary)) / name)
            except AssertionError as error:
                print(f"{name}: {error}", flush=True)
                failed += 1
                continue
            print(f"{name}: {count} crash points, all survived", flush=True)
            total += count
    print(f"{total} crash points in all")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
