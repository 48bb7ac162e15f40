"""What a split does to the classes: counts for each part, and the consequences in words."""

from typing import Any

import numpy as np
from torch_geometric.data import Data

from chebnet2d.data.dataset import num_classes
from chebnet2d.data.splits.kinds import class_words, labels_of
from chebnet2d.data.splits.parts import Split


def split_report(split: Split, data: Data) -> dict[str, Any]:
    """Sizes, shares, nodes of each class in each part, and notes on what follows for results."""
    y = labels_of(data)
    classes = num_classes(data)
    labelled = int((y >= 0).sum())
    counts = {part: np.bincount(y[index.numpy()], minlength=classes) for part, index in split.parts.items()}
    names = getattr(data, "class_names", None) or [str(c) for c in range(classes)]
    return {
        **split.to_dict(),
        "shares": {part: round(size / labelled, 4) for part, size in split.sizes.items()},
        "classes": [str(name) for name in names],
        "class_counts": {part: count.tolist() for part, count in counts.items()},
        "unlabelled": int(y.size - labelled),
        "notes": _notes(split, y, counts, labelled),
    }


def parts_without_classes(split: Split, data: Any) -> list[str]:
    """A sentence for each class that is in no more than some of the parts, with its counts."""
    y, classes = labels_of(data), num_classes(data)
    counts = [np.bincount(y[part.numpy()], minlength=classes) for part in split.parts.values()]
    lines = []
    for c in range(classes):
        own = [int(count[c]) for count in counts]
        if int((y == c).sum()) > 0 and 0 in own:
            parts = "/".join(map(str, own))
            lines.append(f"note: {class_words(data, c)} has {int((y == c).sum())} labelled nodes ({parts} in train/val/test)")
    return lines


def _notes(split: Split, y: Any, counts: dict[str, Any], labelled: int) -> list[str]:
    notes = []
    present = np.bincount(y[y >= 0], minlength=len(counts["train"])) > 0
    for part, meaning in (
        ("train", "cannot be learned"),
        ("val", "play no part in model selection"),
        ("test", "do not count in the test score"),
    ):
        missing = np.flatnonzero(present & (counts[part] == 0)).tolist()
        if missing:
            verb = meaning if len(missing) > 1 else _singular(meaning)
            notes.append(f"{part} has no node of class{'es' if len(missing) > 1 else ''} {_listed(missing)}, which {verb}.")
    whole = np.flatnonzero(present & (counts["val"] + counts["test"] == 0)).tolist()
    if whole and split.name.startswith("balanced"):
        notes.append(f"class{'es' if len(whole) > 1 else ''} {_listed(whole)}: smaller than the quota, wholly in train.")
    if split.name in ("balanced", "balanced-torch"):
        share = split.train.numel() / labelled
        if abs(share - 0.6) > 0.005:
            notes.append(f"train has {100 * share:.1f} % of the labelled nodes, not 60 %.")
        notes.append("numbers from this split do not compare with those from a uniform one.")
    used = sum(split.sizes.values())
    if used < labelled:
        notes.append(f"{labelled - used} labelled nodes are in no part.")
    if (y < 0).any():
        notes.append(f"{int((y < 0).sum())} nodes have no label and are in no part.")
    return notes


def _listed(numbers: list[int]) -> str:
    return " and ".join(str(number) for number in numbers) if len(numbers) < 3 else ", ".join(str(number) for number in numbers)


def _singular(meaning: str) -> str:
    return meaning.replace("play ", "plays ", 1).replace("do not", "does not", 1)
