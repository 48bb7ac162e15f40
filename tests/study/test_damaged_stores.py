"""Bit flips and truncation: a damaged store or export is refused in a sentence, or gives the numbers that it had."""

import contextlib
import json
import random
import sqlite3

import pytest

import chebnet2d
from chebnet2d.study import Store, export_rows, read_rows
from finished_study import protocol_of

INPUTS = 200


def damaged(content, rng):
    """One to three bits the other way round, or the end gone, or a run of zeros, as disks and transfers do it."""
    kind = rng.choice(["bits", "bits", "bits", "end", "zeros"])
    if kind == "end":
        return content[: rng.randrange(len(content))]
    changed = bytearray(content)
    if kind == "zeros":
        start = rng.randrange(len(content))
        stop = min(len(content), start + rng.choice([1, 16, 512, 4096]))
        changed[start:stop] = bytes(stop - start)
    else:
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def check_refused_or_same(read, path, content, seed):
    """``read`` raises an InputError, or gives what it gave before the damage. Returns how often it refused."""
    path.write_bytes(content)
    expected, sentences = read(path), []
    for number in range(INPUTS):
        changed = damaged(content, random.Random(f"{seed} {number}"))
        path.write_bytes(changed)
        try:
            assert read(path) == expected, f"other numbers in silence, input {number}"
        except chebnet2d.InputError as error:
            sentences.append(str(error))
        if path.suffix == ".sqlite":
            assert path.read_bytes() == changed, "reading repairs nothing and breaks nothing"
    assert not any("\n" in sentence for sentence in sentences)
    return len(sentences)


def test_a_damaged_store(store_copy, tmp_path):
    def read(path):
        with Store(path, create=False) as store:
            return store.rows(), [(cell["method"], cell["dataset"], cell["runs"], cell["done"]) for cell in store.progress()]

    refused = check_refused_or_same(read, tmp_path / "damaged.sqlite", store_copy.read_bytes(), "store")
    assert refused > INPUTS / 4, "most bytes of a store count"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.sqlite", "damaged.sqlite"]


@pytest.mark.parametrize("ending", [".parquet", ".json"])
def test_a_damaged_export(ending, store_copy, tmp_path):
    export_rows(store_copy, tmp_path / f"rows{ending}")
    content = (tmp_path / f"rows{ending}").read_bytes()
    assert check_refused_or_same(read_rows, tmp_path / f"damaged{ending}", content, ending) > INPUTS / 4


def test_a_damaged_store_is_not_gone_on_with(store_copy, finished):
    """To write to it either refuses, or finds the runs that were there."""
    content, expected = store_copy.read_bytes(), read_rows(store_copy)
    for number in range(INPUTS // 4):
        for path in store_copy.parent.iterdir():
            path.unlink()
        store_copy.write_bytes(damaged(content, random.Random(f"write {number}")))
        with contextlib.suppress(chebnet2d.InputError), Store(store_copy) as store:
            store.begin(protocol_of(finished), [])
            assert store.rows() == expected


@pytest.mark.parametrize(
    ("column", "value"),
    [("val_loss", 0.125), ("seed", 77), ("test", json.dumps({"accuracy": 0.5})), ("method", "gcn"), ("checksum", "0" * 16)],
)
def test_a_changed_value_is_told_by_the_checksum(store_copy, column, value):
    connection = sqlite3.connect(store_copy)
    connection.execute(f"UPDATE runs SET {column} = ? WHERE split_seed = 2", (value,))
    connection.commit()
    connection.close()
    with pytest.raises(chebnet2d.InputError, match="the checksum of run '.*' must be that of its values, got"):
        read_rows(store_copy)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM runs WHERE seed = 3", "has other runs than were planned"),
        ("DELETE FROM units WHERE position = 1", "belongs to no unit of the study"),
        ("UPDATE units SET runs = 5", "the checksum of unit"),
        ("UPDATE units SET position = 'first'", "the checksum of unit"),
        ("UPDATE meta SET value = 'x' WHERE key = 'schema'", "must be of schema 1 to 4, got x"),
        ("DELETE FROM meta", "must be of schema 1 to 4, got none"),
    ],
)
def test_missing_and_changed_parts_are_told(store_copy, statement, message):
    connection = sqlite3.connect(store_copy)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(chebnet2d.InputError, match=message):
        read_rows(store_copy)
