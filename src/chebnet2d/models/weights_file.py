"""A safetensors file that carries the configuration of its model: one file, which one rename replaces, is the whole model.

Layout: 8 bytes with the length of the header, the header (JSON: places of the tensors, and ``__metadata__``), the numbers.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import safetensors.torch
from torch import Tensor

from chebnet2d._checks import InputError
from chebnet2d._documents import parse_document
from chebnet2d._targets import Mark

_KEY = "chebnet2d"
MARK = Mark(b"", f'{{"__metadata__":{{"{_KEY}":'.encode())
"""Of a file that ``pack`` made."""


def pack(tensors: Mapping[str, Tensor], config: Mapping[str, Any]) -> bytes:
    """The file, the same bytes for the same contents (safetensors itself writes metadata in any order)."""
    header, numbers = _parts(safetensors.torch.save({name: value.contiguous() for name, value in tensors.items()}))
    note = {"config": config, "sha256": hashlib.sha256(numbers).hexdigest()}
    text = json.dumps(note, sort_keys=True, allow_nan=False)
    whole = {"__metadata__": {_KEY: text, "format": "pt"}, **json.loads(header)}  # "pt": tensors of torch, as hubs spell it
    encoded = json.dumps(whole, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)  # numbers begin at multiples of 8
    return len(encoded).to_bytes(8, "little") + encoded + numbers


def config_within(content: bytes) -> dict[str, Any] | None:
    """The configuration that ``pack`` put in, if the file is whole; None for any other file."""
    header, numbers = _parts(content)
    try:
        found = parse_document("load", "the header", header.decode())["__metadata__"][_KEY]
        note = parse_document("load", "the note", found)
        config, digest = note["config"], note["sha256"]
    except (InputError, UnicodeDecodeError, KeyError, TypeError, AttributeError):
        return None
    whole = digest == hashlib.sha256(numbers).hexdigest() and isinstance(config, dict)
    return config if whole else None


def _parts(content: bytes) -> tuple[bytes, bytes]:
    """Header and numbers; a header that claims to be longer than the file is what there is."""
    end = 8 + int.from_bytes(content[:8], "little")
    return content[8:end], content[end:]
