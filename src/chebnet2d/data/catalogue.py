"""The catalogue: one entry per dataset, from which reading, fetching and checking follow. The facts are in ``catalogue.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from chebnet2d._checks import InputError, one_of


@dataclass(frozen=True)
class Statistics:
    """Counts of a dataset; None: not known. ``edges`` counts undirected edges, without loops and repetitions.

    ``homophily`` is the part of the edges between labelled nodes that joins equal labels. ``twins`` counts the nodes that have
    the (two or more) neighbours and the label of an earlier node, ``duplicates`` those that have its features too.
    """

    nodes: int | None = None
    edges: int | None = None
    features: int | None = None
    classes: int | None = None
    homophily: float | None = None
    isolated: int | None = None
    twins: int | None = None
    duplicates: int | None = None


@dataclass(frozen=True)
class Entry:
    """One dataset.

    Attributes:
        format: name of a raw format, see ``chebnet2d.data.raw_formats``.
        folder, files, optional: where its raw files lie below the data root; the optional ones may be missing.
        statistics: what the files hold: counted where there is a ``digest``, else what their authors say.
        paper: what the paper prints; None for a dataset that is not in it.
        metric: name of the metric that the literature reports.
        split: the split kind of the paper's experiments.
        fixed: describes the splits that come with the files; "" where there are none.
        trouble: what a user should know before trusting a result.
        sha256: sums of the raw files, by name, of those that are known.
        digest: of x, edge_index and y, as ``dataset_digest`` gives it; None where nobody has counted the files here.
        words: whether features are counts of words, which the literature divides by their sum.
        placeholder_class: the class that the literature gives to nodes without a label.
    """

    name: str
    title: str
    format: str
    folder: str
    files: tuple[str, ...]
    statistics: Statistics = Statistics()
    paper: Statistics | None = None
    metric: str = "accuracy"
    split: str = "uniform"
    fixed: str = ""
    licence: str = "none stated"
    source: str = ""
    optional: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()
    digest: str | None = None
    words: bool = False
    placeholder_class: int | None = None
    sha256: Mapping[str, str] = field(default_factory=dict, hash=False)


def _read_catalogue() -> dict[str, Entry]:
    """The entries of ``catalogue.toml``. A field that an ``Entry`` does not have is a TypeError."""
    content = tomllib.loads(files("chebnet2d.data").joinpath("catalogue.toml").read_text(encoding="utf-8"))
    entries = {}
    for name, own in content["dataset"].items():
        facts = content["common"].get(own["format"], {}) | own
        for key, value in facts.items():
            if isinstance(value, dict) and key != "sha256":
                facts[key] = Statistics(**value)
            elif isinstance(value, list):
                facts[key] = tuple(text.replace("{name}", name) for text in value)
        entries[name] = Entry(name, **facts)
    return entries


CATALOGUE = _read_catalogue()
EMBEDDED_TITLES = {"digits": "scikit-learn's digits", "csbm": "contextual stochastic block model"}


def known_name(name: object) -> str | None:
    """The name that the library has a dataset by, embedded ones included; None where there is no such dataset.

    >>> known_name("Arxiv"), known_name("Digits"), known_name("my-graph")
    ('ogbn-arxiv', 'digits', None)
    """
    key = _key(name)
    return key if isinstance(key, str) and (key in CATALOGUE or key in EMBEDDED_TITLES) else None


def find_entry(name: str, owner: str = "load") -> Entry:
    """The entry of that name or alias, in any case, with - or _.

    >>> find_entry("Roman_Empire").statistics.nodes
    22662
    """
    key = _key(name)
    if isinstance(key, str) and key in EMBEDDED_TITLES:
        raise InputError(owner, "name", "a dataset with files", got=f"{key!r}, which is embedded", hint="Load it as it is.")
    return CATALOGUE[one_of(owner, "name", key, (*EMBEDDED_TITLES, *CATALOGUE))]


def _key(name: object) -> object:
    if not isinstance(name, str):
        return name
    key = name.strip().lower().replace("_", "-")
    return next((entry.name for entry in CATALOGUE.values() if key in entry.aliases), key)
