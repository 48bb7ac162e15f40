"""One reader for each raw format: from a folder of files, as their authors publish them, to a ``Data``."""

from collections.abc import Callable
from pathlib import Path

from torch_geometric.data import Data

from chebnet2d.data.catalogue import Entry
from chebnet2d.data.raw_formats.csv import read_ogb, read_twitch_gamers
from chebnet2d.data.raw_formats.mat import read_facebook100, read_genius
from chebnet2d.data.raw_formats.npz import read_amazon, read_heterophilous
from chebnet2d.data.raw_formats.planetoid import read_planetoid

READERS: dict[str, Callable[[Path, Entry], Data]] = {
    "planetoid": read_planetoid,
    "amazon": read_amazon,
    "heterophilous": read_heterophilous,
    "facebook100": read_facebook100,
    "genius": read_genius,
    "twitch-gamers": read_twitch_gamers,
    "ogb": read_ogb,
}

__all__ = ["READERS"]
