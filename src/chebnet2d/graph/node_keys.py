"""Ids of nodes as numbers of 64 bits: how a node is found again in another graph, in a model's folder and beside bases."""

import hashlib
from typing import Any

import numpy as np


def node_keys(ids: Any) -> Any:
    """uint64. An id that is an integer in one graph and the text of it in another, beside words, has the same key."""
    array = np.asarray(ids)
    if array.dtype.kind in "iu":
        return mixed(array.astype(np.int64).view(np.uint64))
    return np.array([_key(str(word)) for word in array.tolist()], dtype=np.uint64)


def mixed(values: Any) -> Any:
    """The finaliser of splitmix64, which is one-to-one: every bit of the result depends on every bit of the uint64 given."""
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            values ^= values >> np.uint64(shift)
            values *= np.uint64(factor)
        values ^= values >> np.uint64(31)
        return values


def _key(word: str) -> int:
    digits = word.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) < 19 and str(int(word)) == word:
        return int(mixed(np.array([int(word)], dtype=np.int64).view(np.uint64))[0])
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
