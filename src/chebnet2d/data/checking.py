"""``check(name)``: count again, and compare with the catalogue and with the paper."""

import hashlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from chebnet2d.data.catalogue import Entry, Statistics, find_entry
from chebnet2d.data.counts import statistics
from chebnet2d.data.dataset import dataset_digest
from chebnet2d.data.folders import data_root
from chebnet2d.data.loading import load


@dataclass(frozen=True)
class Check:
    """``mismatches``: one sentence for each number that differs from the catalogue's; empty means the files are right.

    ``departures``: where the paper prints something else. That is information for the reader, not a fault of the files.
    ``generated``: the files are a random graph of ``generate``, which is a mismatch whatever its counts are.
    """

    entry: Entry
    found: Statistics
    digest: str
    mismatches: tuple[str, ...]
    departures: tuple[str, ...]
    generated: bool = False

    @property
    def ok(self) -> bool:
        return not self.mismatches

    def to_dict(self) -> dict[str, Any]:
        return {
            "dataset": self.entry.name,
            "ok": self.ok,
            "generated": self.generated,
            "found": asdict(self.found),
            "catalogue": asdict(self.entry.statistics),
            "paper": None if self.entry.paper is None else asdict(self.entry.paper),
            "digest": self.digest,
            "mismatches": list(self.mismatches),
            "departures": list(self.departures),
        }


def check(name: str, root: str | Path | None = None) -> Check:
    """Count what the files hold. It does not raise on a difference: ask ``.ok`` or read ``.mismatches``."""
    entry = find_entry(name, "check")
    return compare(entry, load(entry.name, root), data_root(root) / entry.folder)


def compare(entry: Entry, data: Data, folder: Path) -> Check:
    """``folder``: of the raw files, whose sums are compared where the catalogue has them."""
    found, digest = statistics(data), dataset_digest(data)
    generated = bool(data.get("generated"))
    mismatches = ["generated: the files are a random graph that `data generate` wrote"] if generated else []
    mismatches += _differences(found, entry.statistics, "the catalogue")
    if not mismatches and entry.digest is not None and digest != entry.digest:
        mismatches.append(f"digest: the catalogue has {entry.digest}, the files have {digest}: same counts, other contents")
    if not generated:
        mismatches += _other_sums(entry, folder)
    departures = tuple(_differences(found, entry.paper, "the paper")) if entry.paper else ()
    return Check(entry, found, digest, tuple(mismatches), departures, generated)


def _other_sums(entry: Entry, folder: Path) -> list[str]:
    lines = []
    for file, expected in entry.sha256.items():
        if (folder / file).is_file():
            with (folder / file).open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            if found != expected:
                lines.append(f"{file}: the catalogue has the SHA-256 sum {expected[:16]}..., the file has {found[:16]}...")
    return lines


def _differences(found: Statistics, wanted: Statistics, owner: str) -> list[str]:
    lines = []
    for field in fields(Statistics):
        expected, value = getattr(wanted, field.name), getattr(found, field.name)
        if expected is not None and (value is None or abs(value - expected) > 1e-9):
            lines.append(f"{field.name}: {owner} has {expected}, the files have {value}")
    return lines
