"""A raw format: how the files are read that the authors of a dataset publish, and where they come from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch_geometric.data import Data

from chebnet2d._checks import InputError
from chebnet2d._registry import Registry
from chebnet2d.data.catalogue import Entry


@dataclass(frozen=True)
class Source:
    """One download: a file of the dataset, or an archive that holds its files. An optional one may be missing."""

    url: str
    file: str
    archive: bool = False
    optional: bool = False


Reader = Callable[[Path, Entry], Data]
Sources = Callable[[Entry], list[Source]]


def no_sources(entry: Entry) -> list[Source]:
    hint = f"Put its files into {entry.folder} below the data root."
    raise InputError("fetch", entry.name, "a dataset with known addresses", got="none", hint=hint)


@dataclass(frozen=True)
class RawFormat:
    """``read(folder, entry)`` gives the dataset; ``sources(entry)`` says what to download."""

    read: Reader
    sources: Sources = no_sources


RAW_FORMATS: Registry[RawFormat] = Registry("raw_format")


def raw_format(name: str, sources: Sources = no_sources) -> Callable[[Reader], Reader]:
    """``@raw_format("name", sources)`` above the reader of a format that catalogue entries name by ``format``."""

    def add(read: Reader) -> Reader:
        RAW_FORMATS.add(name, RawFormat(read, sources))
        return read

    return add
