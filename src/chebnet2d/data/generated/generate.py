"""``generate``: a random graph in the place of a large dataset."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d.data.catalogue import Entry, Statistics, find_entry
from chebnet2d.data.folders import busy, data_root, locked_beside, put_in_place, temporary_beside
from chebnet2d.data.generated.graph_model import EXPONENTS, draw_edges, draw_labels
from chebnet2d.data.generated.shapes import shape_of
from chebnet2d.data.generated.writers import WRITERS, Drawing

MARKER = "generated.json"
GENERATED = " (generated)"  # after the name of the dataset, wherever it is printed


def generate(
    like: str,
    root: str | Path | None = None,
    *,
    scale: float = 1.0,
    model: str = "power-law",
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write a graph like a large dataset below ``root``, from where ``load(like, root)`` reads it.

    Args:
        like: "ogbn-arxiv", "ogbn-products", "penn94", "genius", "twitch-gamers", "roman-empire" or "amazon-ratings".
        scale: part of the nodes and edges, for trials.
        model: "power-law" (degrees with a heavy tail) or "csbm" (all nodes of a class alike).
        progress: called with what is being done.

    The folder of a real dataset is never touched; a generated one is replaced. It holds a file ``generated.json`` that says so.
    """
    shape = shape_of(like, scale)
    one_of("generate", "model", model, tuple(EXPONENTS))
    integer("generate", "seed", seed, 0)
    entry = find_entry(like, "generate")
    folder = data_root(root) / entry.folder
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        got = "some, perhaps the real dataset"
        raise InputError("generate", str(folder), "hold other files", got=got, hint="Name another root.", verb="not")
    say = progress or (lambda _: None)
    rng = np.random.default_rng(seed)
    say("drawing labels and edges")
    y = draw_labels(rng, shape)
    drawing = Drawing(entry, shape, y, draw_edges(rng, shape, y, EXPONENTS[model]), rng)
    temporary = temporary_beside(folder)
    try:
        with locked_beside(folder) as alone:
            if not alone:
                raise busy("generate", folder)
            temporary.mkdir()
            facts = {**asdict(shape), "scale": scale, "model": model, "seed": seed}
            # The note is the first file: no part of this can be taken for the dataset.
            (temporary / MARKER).write_text(json.dumps(facts, indent=1), encoding="utf-8")
            WRITERS[entry.format](temporary, drawing, say)
            put_in_place(temporary, folder)
    except OSError as error:
        raise InputError("generate", str(folder), "writable", reason=error.strerror or str(error)) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def generated_facts(entry: Entry, root: Path) -> dict[str, Any] | None:
    """What ``generate`` noted about the graph below the root; None where a dataset is real, or not there."""
    marker = root / entry.folder / MARKER
    if not marker.is_file():
        return None
    try:
        facts = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a broken note is still one: the graph is not the dataset
    return facts if isinstance(facts, dict) else {}


def generated_statistics(name: str, root: str | Path | None = None) -> Statistics | None:
    """Counts of the generated graph below the root; None where a dataset is real, or not there."""
    facts = generated_facts(find_entry(name), data_root(root))
    if facts is None:
        return None
    return Statistics(**{count: facts.get(count) for count in ("nodes", "edges", "features", "classes")})
