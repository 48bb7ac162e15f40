"""What the catalogue knows about a dataset."""

from dataclasses import dataclass


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
