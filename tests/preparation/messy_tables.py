"""A table with all kinds of columns and gaps, as a person has it, and the same one a month later."""

import csv
import random
from pathlib import Path
from typing import Any

CITIES = ("Graz", "Wien", "Linz")


def messy_rows(nodes: int = 240, seed: int = 0, *, later: bool = False) -> list[dict[str, Any]]:
    """``later``: unseen categories, a column less, a column more, another order, no labels."""
    rng = random.Random(seed)
    rows = []
    for i in range(nodes):
        kind = i % 3
        row: dict[str, Any] = {
            "person_id": f"p{i:04d}",
            "age": round(rng.gauss(30 + 12 * kind, 5), 2),
            "followers": int(rng.lognormvariate(3 + kind, 2)),
            "member": rng.choice(["yes", "no"]),
            "city": rng.choice(["Rom", "Wien"] if later else CITIES[: kind + 1]),
            "joined": f"20{10 + i % 12:02d}-{1 + i % 12:02d}-{1 + i % 28:02d}",
            "seen": f"2021-03-{1 + i % 28:02d} {i % 24:02d}:30:00",
            "page_name": f"page {i} of {nodes}",
            "constant": 7,
            "flag": i % 2,
            "label": ("tea", "coffee", "ünlü")[kind],
        }
        for name in row:
            if name not in ("person_id", "label") and rng.random() < 0.05:
                row[name] = ""
        if later:
            del row["label"], row["flag"]
            row = {"new": 1, **dict(reversed(row.items()))}
        rows.append(row)
    return rows


def messy_edges(nodes: int = 240, seed: int = 0) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    near = [(a, (a + 3 * rng.randrange(nodes)) % nodes) for a in range(nodes) for _ in range(2)]
    return [(f"p{a:04d}", f"p{b:04d}") for a, b in near]


def messy_graph(folder: Path, nodes: int = 240, seed: int = 0, *, later: bool = False) -> Path:
    folder.mkdir()
    rows = messy_rows(nodes, seed, later=later)
    with (folder / "nodes.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines = [f"{a},{b}" for a, b in messy_edges(nodes, seed)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *lines, ""]), encoding="utf-8")
    return folder
