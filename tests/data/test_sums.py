"""Sums of the raw files: of the catalogue, and of what lies on the disk."""

import re
from dataclasses import replace

import pytest

import raw_formats as raw
from chebnet2d.data import CATALOGUE, check
from chebnet2d.data.catalogue import find_entry

pytestmark = pytest.mark.usefixtures("own_cache")


def test_sums_are_of_files_of_the_dataset():
    known = [(entry, file, value) for entry in CATALOGUE.values() for file, value in entry.sha256.items()]
    assert len(known) >= 40
    for entry, file, value in known:
        assert file in (*entry.files, *entry.optional)
        assert re.fullmatch("[0-9a-f]{64}", value)
    assert all(entry.sha256 for entry in CATALOGUE.values() if entry.digest is not None), "counted here, so the files were here"


def test_another_sum_is_a_mismatch(root, monkeypatch):
    path = raw.write_heterophilous(root)["path"]
    entry = find_entry("roman-empire")
    plain = check("roman-empire", root).mismatches
    monkeypatch.setitem(CATALOGUE, "roman-empire", replace(entry, sha256={path.name: "0" * 64}))
    assert set(check("roman-empire", root).mismatches) - set(plain) == {
        next(line for line in check("roman-empire", root).mismatches if "SHA-256 sum 0000000000000000..., the file has" in line)
    }
