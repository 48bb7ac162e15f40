"""What the benchmarks of large graphs share: peak memory, load by others, records, and the time of one sparse product.

Every command prints its figures and adds them to the file given by --json. Peak memory is the maximum resident size that the
kernel keeps, of a process that does nothing else.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from chebnet2d.bases.recurrence import large_step
from chebnet2d.graph import SparseOperator

DEGREE = 10


def command(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the options of every command; ``doc`` is the docstring of its file."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="add the figures to this file")
    parser.add_argument("--repeats", type=int, default=3)
    return parser


def own_process(file: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, so that its peak memory is that of one measurement."""
    return subprocess.run([sys.executable, str(file), *map(str, arguments)], capture_output=True, text=True)


def peak_gib() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 2**20
    raise RuntimeError("no VmHWM")


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def busy_seconds() -> tuple[float, float]:
    """CPU seconds of the whole machine since it started, and of this process and its children."""
    numbers = [int(text) for text in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    own = os.times()
    return (sum(numbers[:3]) + sum(numbers[5:8])) / os.sysconf("SC_CLK_TCK"), sum(own[:4])


STARTED = (time.perf_counter(), *busy_seconds())


def others() -> float:
    """Cores that other processes kept busy, on average, while this one ran: a figure with much of it is not to be trusted."""
    machine, own = busy_seconds()
    return max(0.0, (machine - STARTED[1]) - (own - STARTED[2])) / (time.perf_counter() - STARTED[0])


def copy_gib_per_second() -> float:
    """GiB that a copy of memory reads and writes in a second: what no pass over memory is faster than."""
    source = torch.ones(2**27)
    target = torch.empty_like(source)
    times = []
    for _ in range(6):
        start = time.perf_counter()
        target.copy_(source)
        times.append(time.perf_counter() - start)
    return 2 * 4 * source.numel() / 2**30 / min(times[1:])


def write_gib_per_second(folder: Path) -> float:
    """GiB that a plain file takes in a second until it is on the disk: what no file is written faster than."""
    chunk, count, path = b"\1" * 2**26, 16, folder / "speed.bin"
    folder.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    with path.open("wb") as file:
        for _ in range(count):
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    seconds = time.perf_counter() - start
    path.unlink()
    return len(chunk) * count / 2**30 / seconds


def record(arguments: argparse.Namespace, name: str, figures: dict[str, Any]) -> None:
    figures = {"command": name, "threads": torch.get_num_threads(), "cores_of_others": round(others(), 2), **figures}
    print(json.dumps(figures, indent=1), flush=True)
    if arguments.json:
        known = json.loads(arguments.json.read_text()) if arguments.json.is_file() else []
        arguments.json.write_text(json.dumps([*known, figures], indent=1))


def product_seconds(operator: SparseOperator, width: int, repeats: int) -> dict[str, float]:
    """Medians for one product with N x width: ours, torch's sparse product and scipy's, in turn; and the largest difference."""
    x = torch.randn(operator.shape[0], width)
    out = torch.zeros_like(x)
    matrix = operator.to_scipy()
    array = x.numpy()
    ways = {
        "product_seconds": lambda: large_step(operator, x, out),
        "torch_seconds": lambda: operator.step(x, out, alpha=1.0, beta=0.0, out=out),
        "scipy_seconds": lambda: matrix @ array,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    figures = {name: float(np.median(seconds)) for name, seconds in times.items()}
    figures["scipy_over_ours"] = figures["scipy_seconds"] / figures["product_seconds"]
    figures["difference"] = float(np.abs(large_step(operator, x, out).numpy() - matrix @ array).max())
    return figures
