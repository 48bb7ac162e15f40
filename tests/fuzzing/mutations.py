"""Seeded damage: the same seed gives the same bytes. What is done depends on whether the content is text."""

import random
import re
import struct

EXTREMES = (
    "-1",
    "0",
    "1e308",
    "1e-400",
    "NaN",
    "Infinity",
    "99999999999999999999",
    "9223372036854775807",
    "4294967296",
    "true",
    "null",
)
WORDS = (
    b"\x00",
    b"\xff\xfe",
    b'"',
    b"'",
    b",",
    b"\n",
    b"\r",
    b";",
    b"<",
    b"]]>",
    b"{",
    b"}",
    b"[",
    b"=",
    b"\xf0\x9f\x92\xa9",
    b"../",
)
NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
FIELDS = (-1, 0, 1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**63))


def damaged(content: bytes, seed: int) -> bytes:
    """One to four pieces of damage."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(KINDS)(content, rng)
    return content


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 4, 32))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _piece(content: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 2, 8, 64, 512)))


def _remove(content: bytes, rng: random.Random) -> bytes:
    start, stop = _piece(content, rng)
    return content[:start] + content[stop:]


def _repeat(content: bytes, rng: random.Random) -> bytes:
    start, stop = _piece(content, rng)
    return content[:stop] + content[start:stop] * rng.choice((1, 2, 50)) + content[stop:]


def _splice(content: bytes, rng: random.Random) -> bytes:
    start, stop = _piece(content, rng)
    place = rng.randrange(len(content) + 1)
    return content[:place] + content[start:stop] + content[place + (stop - start) * rng.randrange(2) :]


def _word(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice(WORDS) * rng.choice((1, 1, 3)) + content[place:]


def _number(content: bytes, rng: random.Random) -> bytes:
    """A number that is written in digits becomes an extreme one."""
    found = list(NUMBER.finditer(content))
    if not found:
        return _field(content, rng)
    at = rng.choice(found)
    return content[: at.start()] + rng.choice(EXTREMES).encode() + content[at.end() :]


def _field(content: bytes, rng: random.Random) -> bytes:
    """Two, four or eight bytes become an extreme number."""
    form = rng.choice(("<h", "<i", "<q", ">i"))
    size = struct.calcsize(form)
    if len(content) < size:
        return content
    place = rng.randrange(len(content) - size + 1)
    bits = 8 * size
    value = rng.choice(FIELDS) % 2**bits
    return content[:place] + struct.pack(form, value - 2**bits if value >= 2 ** (bits - 1) else value) + content[place + size :]


def _nest(content: bytes, rng: random.Random) -> bytes:
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"<node>", b"</node>"), (b"(", b")")))
    place, deep = rng.randrange(len(content) + 1), rng.choice((3, 200, 20_000))
    return content[:place] + opening * deep + closing * (deep * rng.randrange(2)) + content[place:]


KINDS = (_flip, _flip, _truncate, _remove, _repeat, _splice, _word, _number, _number, _field, _nest)
