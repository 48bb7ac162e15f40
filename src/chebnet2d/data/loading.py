"""``load(name)``: one name, one ``Data``, wherever it comes from."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch_geometric.data import Data

from chebnet2d._checks import InputError, flag, one_of
from chebnet2d.data.cache import cache_path, read_cache, write_cache
from chebnet2d.data.catalogue import CATALOGUE, Entry, find_entry
from chebnet2d.data.embedded import csbm, digits
from chebnet2d.data.folders import cache_folder, data_root
from chebnet2d.data.generated import GENERATED, generated_facts
from chebnet2d.data.raw_formats import RAW_FORMATS

EMBEDDED: dict[str, Callable[..., Data]] = {"digits": digits, "csbm": csbm}


def load(name: str, root: str | Path | None = None, **options: Any) -> Data:
    """The dataset of that name.

    Embedded: "digits", and "csbm" with the options of ``csbm``. All others are read from the raw files below ``root`` (or
    ``$CHEBNET2D_DATA``) and kept in the cache folder (``$CHEBNET2D_CACHE``) in a form that loads at once.

    The ``Data`` has ``x`` (float32; CSR if a dense one were larger than 256 MiB), ``edge_index`` (both directions of every
    edge, sorted, without loops), ``y`` (int64, -1 = no label), ``num_classes``, ``name`` and ``metric``; where they exist
    also ``class_names`` and the fixed splits as ``train_mask``, ``val_mask``, ``test_mask`` (N x S). Features are raw: see
    ``chebnet2d.data.TRANSFORMS``. Of a graph that ``generate`` wrote in the place of the dataset, ``generated`` is True and
    ``name`` ends in "(generated)".

    >>> load("digits").num_nodes
    1797
    """
    key = name.strip().lower() if isinstance(name, str) else ""
    if key in EMBEDDED:
        maker = EMBEDDED[key]
        for option in options:
            one_of(f"load({key!r})", "an option", option, tuple(inspect.signature(maker).parameters))
        return maker(**options)
    entry = find_entry(name)
    admitted = ("placeholder_labels",) if entry.placeholder_class is not None else ()
    for option in options:
        if option not in admitted:
            choices = f"one of {admitted}" if admitted else "none"
            raise InputError(f"load({entry.name!r})", "options", choices, option)
    placeholder = flag(f"load({entry.name!r})", "placeholder_labels", options.get("placeholder_labels", True))
    base = data_root(root)
    data = _cached(entry, base)
    if generated_facts(entry, base) is not None:
        data.generated = True
        data.name += GENERATED
    return with_placeholders(data, entry) if placeholder else data


def with_placeholders(data: Data, entry: Entry) -> Data:
    """The labels that the literature gives to nodes without one, where it does."""
    if entry.placeholder_class is not None:
        data.y = torch.where(data.y < 0, entry.placeholder_class, data.y)
    return data


def files_of(entry: Entry, root: Path) -> list[Path] | None:
    """The raw files of a dataset below the root, optional ones included; None if a required one is missing."""
    folder = root / entry.folder
    required = [folder / file for file in entry.files]
    if not all(path.is_file() for path in required):
        return None
    return required + [path for path in (folder / file for file in entry.optional) if path.is_file()]


def available(root: str | Path | None = None) -> list[str]:
    """Names of the datasets whose raw files are below the root."""
    folder = data_root(root)
    return [name for name, entry in CATALOGUE.items() if files_of(entry, folder) is not None]


def _cached(entry: Entry, root: Path) -> Data:
    raw = files_of(entry, root)
    if raw is None:
        missing = next(path for path in (root / entry.folder / file for file in entry.files) if not path.is_file())
        hint = f"Download it with: chebnet2d data fetch {entry.name}, or name another root by {{}} or CHEBNET2D_DATA."
        got = f"no file {missing}"
        raise InputError("load", entry.name, f"below the data root {root}", got=got, hint=hint, mentions=("root",))
    path = cache_path(cache_folder(), entry, raw)
    data = read_cache(path)
    if data is None:
        data = RAW_FORMATS[entry.format].read(root / entry.folder, entry)
        write_cache(path, data)
    return data
