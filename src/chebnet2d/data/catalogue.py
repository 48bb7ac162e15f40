"""The catalogue: one entry per dataset, from which reading, fetching and checking follow."""

from chebnet2d._checks import InputError, one_of
from chebnet2d.data.entry import Entry, Statistics

PLANETOID_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
_LINKX = "github.com/CUAI/Non-Homophily-Large-Scale"
_PLATONOV = "github.com/yandex-research/heterophilous-graphs"
_TWINS = (
    "{twins} of the {nodes} nodes repeat the neighbours and the label of another one (Platonov et al. 2023): a random split puts "
    "copies of test nodes into train. Results are for comparison with the literature only."
)
_FILTERED_SPLITS = "10, about 48/32/20"
_FILTERED = (
    "{} without most of the nodes that repeat another one, as Platonov et al. 2023 filtered it; {} nodes still repeat the "
    "neighbours and the label of another one."
)


def _same(counted: Statistics) -> Statistics:
    """What the paper prints, where it agrees with the files."""
    return Statistics(counted.nodes, counted.edges, counted.features, counted.classes)


def _ogb_files(kind: str) -> tuple[str, ...]:
    raw = tuple(f"raw/{part}.csv.gz" for part in ("edge", "node-feat", "node-label"))
    return raw + tuple(f"split/{kind}/{part}.csv.gz" for part in ("train", "valid", "test"))


def _planetoid(
    title: str,
    statistics: Statistics,
    paper: Statistics,
    digest: str,
    trouble: tuple[str, ...] = (),
    placeholder: int | None = None,
) -> Entry:
    name = title.lower()
    return Entry(
        name=name,
        title=title,
        format="planetoid",
        folder=f"planetoid/{title}/raw",
        files=tuple(f"ind.{name}.{part}" for part in PLANETOID_PARTS),
        optional=tuple(f"{name}_split_0.6_0.2_{s}.npz" for s in range(10)),
        statistics=statistics,
        paper=paper,
        fixed="1, public split of Planetoid",
        licence="MIT (repository)",
        source="github.com/kimiyoung/planetoid",
        trouble=trouble,
        digest=digest,
        words=True,
        placeholder_class=placeholder,
    )


def _gnn_benchmark(
    title: str, folder: str, file: str, statistics: Statistics, digest: str, alias: str, *, paper: bool = False
) -> Entry:
    return Entry(
        name=title.lower(),
        title=title,
        format="gnn-benchmark",
        folder=f"{folder}/raw",
        files=(f"{file}.npz",),
        statistics=statistics,
        paper=_same(statistics) if paper else None,
        licence="MIT (repository)",
        source="github.com/shchur/gnn-benchmark",
        aliases=(alias,),
        trouble=(f"{statistics.isolated} nodes have no edge.",) if statistics.isolated else (),
        digest=digest,
        words=True,
    )


def _heterophilous(
    title: str,
    statistics: Statistics,
    *,
    digest: str | None = None,
    new: bool = False,
    metric: str = "accuracy",
    fixed: str = "10, 48/32/20, as in Geom-GCN",
    trouble: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    paper: bool = True,
) -> Entry:
    """``new``: of the 2023 collection, with its splits 50/25/25; the older graphs there carry those of Geom-GCN, 48/32/20."""
    name = title.lower()
    file = name.replace("-", "_")
    return Entry(
        name=name,
        title=title,
        format="heterophilous",
        folder=f"heterophilous/{file}/raw",
        files=(f"{file}.npz",),
        statistics=statistics,
        paper=_same(statistics) if paper else None,
        metric=metric,
        split="uniform-50" if new else "uniform",
        fixed="10, 50/25/25, of Platonov et al." if new else fixed,
        licence="MIT (repository)",
        source=_PLATONOV,
        aliases=aliases,
        trouble=trouble,
        digest=digest,
        words=not new,
    )


def _facebook(
    title: str, statistics: Statistics, *, unlabelled: str, paper: Statistics | None = None, digest: str | None = None
) -> Entry:
    name = title.lower().replace(" ", "")
    return Entry(
        name=name,
        title=title,
        format="facebook100",
        folder=f"linkx/{name}/raw",
        files=("data.mat",),
        optional=(f"fb100-{title}-splits.npy",) if paper else (),
        statistics=statistics,
        paper=paper,
        split="fixed" if paper else "uniform",
        fixed="5, 50/25/25, of LINKX" if paper else "",
        source=f"{_LINKX} (facebook100)",
        aliases=(f"fb100-{name}",),
        trouble=(f"{unlabelled} nodes have no label (-1); they stay in the graph and are in no split.",),
        digest=digest,
    )


_ENTRIES: tuple[Entry, ...] = (
    _planetoid(
        "Cora",
        Statistics(2708, 5278, 1433, 7, 0.81, 0, 52, 15),
        Statistics(2708, 5278, 1433, 7),
        "387c0bf33d129e01",
        ("The balanced split leaves two classes out of validation and test.",),
    ),
    _planetoid(
        "CiteSeer",
        Statistics(3327, 4552, 3703, 6, 0.7355, 48, 60, 2),
        Statistics(3327, 4552, 3703, 6),
        "830911b835bb5dd2",
        (
            "15 nodes have neither features nor a label in the files. The literature counts them as class 0, and so does this "
            "library; load('citeseer', placeholder_labels=False) leaves them unlabelled.",
        ),
        placeholder=0,
    ),
    _planetoid(
        "PubMed",
        Statistics(19717, 44324, 500, 3, 0.8024, 0, 324, 0),
        Statistics(19717, 44324, 500, 5),
        "7c747e6d08405d60",
        ("The paper prints 5 classes; there are 3.",),
    ),
    _gnn_benchmark(
        "Computers",
        "amazon/Computers",
        "amazon_electronics_computers",
        Statistics(13752, 245861, 767, 10, 0.7772, 281, 3, 0),
        "71fbacc43c5b0427",
        "amazon-computers",
        paper=True,
    ),
    _gnn_benchmark(
        "Photo",
        "amazon/Photo",
        "amazon_electronics_photo",
        Statistics(7650, 119081, 745, 8, 0.8272, 115, 8, 0),
        "12ec6ea7e2eaf26e",
        "amazon-photo",
        paper=True,
    ),
    _heterophilous(
        "Chameleon",
        Statistics(2277, 31371, 2325, 5, 0.2299, 0, 983, 102),
        digest="87ee5f2a7d5d2ac4",
        trouble=(
            _TWINS.format(twins=983, nodes=2277),
            "torch_geometric's WikipediaNetwork with geom_gcn_preprocess=True has other edges.",
        ),
    ),
    _heterophilous(
        "Squirrel",
        Statistics(5201, 198353, 2089, 5, 0.2221, 0, 1810, 7),
        digest="222cde893694b117",
        trouble=(
            _TWINS.format(twins=1810, nodes=5201),
            "torch_geometric's WikipediaNetwork with geom_gcn_preprocess=True has other edges.",
        ),
    ),
    _heterophilous("Actor", Statistics(7600, 26659, 932, 5, 0.2167, 0, 11, 0), digest="0f5e1cf2da62af4a", aliases=("film",)),
    _heterophilous(
        "Texas",
        Statistics(183, 279, 1703, 5, 0.0609, 0, 10, 0),
        digest="3b6393d30f77278b",
        trouble=("One class has a single node. A test set of 38 nodes moves an accuracy in steps of 2.6 points.",),
    ),
    _heterophilous(
        "Cornell",
        Statistics(183, 277, 1703, 5, 0.1227, 0, 2, 0),
        digest="5e8d44a449de88ac",
        trouble=(
            "Two Cornells are in use: the file that most repositories carried until mid-2022 held Texas's features and labels. "
            "This is the corrected one.",
        ),
    ),
    Entry(
        name="ogbn-arxiv",
        title="ogbn-arxiv",
        format="ogb",
        folder="ogb/ogbn_arxiv",
        files=_ogb_files("time"),
        statistics=Statistics(169343, 1157799, 128, 40),
        paper=Statistics(169343, 1166243, 128, 40),
        split="fixed",
        fixed="1, by year, of OGB",
        licence="ODC-BY",
        source="ogb.stanford.edu",
        aliases=("arxiv",),
        trouble=("The paper counts 1,166,243 directed citations; without directions and repetitions there are 1,157,799 edges.",),
    ),
    Entry(
        name="ogbn-products",
        title="ogbn-products",
        format="ogb",
        folder="ogb/ogbn_products",
        files=_ogb_files("sales_ranking"),
        statistics=Statistics(2449029, 61859076, 100, 47),
        paper=Statistics(2449029, 61859140, 100, 47),
        split="fixed",
        fixed="1, by sales rank, of OGB",
        licence="Amazon licence",
        source="ogb.stanford.edu",
        aliases=("products",),
        trouble=("The dense x alone has 1 GB. The paper counts 61,859,140 listed edges; 61,859,076 remain without loops.",),
    ),
    _facebook("Penn94", Statistics(41554, 1362229, 4814, 2), paper=Statistics(41554, 1362229, 4814, 2), unlabelled="Some"),
    Entry(
        name="genius",
        title="Genius",
        format="genius",
        folder="linkx/genius/raw",
        files=("data.mat",),
        optional=("genius-splits.npy",),
        statistics=Statistics(421961, 922868, 12, 2),
        paper=Statistics(421961, 984979, 12, 2),
        metric="roc_auc",
        split="fixed",
        fixed="5, 50/25/25, of LINKX",
        source=_LINKX,
        trouble=(
            "The classes are unequal (about 80/20): the metric is ROC-AUC, with accuracy recorded beside it.",
            "The paper counts 984,979 listed edges; 922,868 are different undirected ones.",
        ),
    ),
    Entry(
        name="twitch-gamers",
        title="Twitch-gamers",
        format="twitch-gamers",
        folder="twitch-gamers/raw",
        files=("large_twitch_edges.csv", "large_twitch_features.csv"),
        optional=("twitch-gamer-splits.npy",),
        statistics=Statistics(168114, 6797557, 7, 2),
        paper=Statistics(168114, 6797557, 7, 2),
        split="fixed",
        fixed="5, 50/25/25, of LINKX",
        licence="MIT (repository)",
        source="snap.stanford.edu/data/twitch_gamers.html",
        aliases=("twitch-gamer", "gamers"),
        trouble=(
            "The drive links of LINKX for it are dead; the files come from SNAP. torch_geometric has no class for it.",
            "Features are z-scores already, as in LINKX.",
        ),
    ),
    _heterophilous("Roman-empire", Statistics(22662, 32927, 300, 18), new=True),
    _heterophilous(
        "Tolokers",
        Statistics(11758, 519000, 10, 2, 0.5945, 0, 2, 0),
        digest="7a6e596fbceca1c7",
        new=True,
        metric="roc_auc",
        trouble=("78.18 % of the nodes are of one class: the metric is ROC-AUC, with accuracy recorded beside it.",),
    ),
    _heterophilous("Amazon-ratings", Statistics(24492, 93050, 300, 5), new=True),
    _heterophilous(
        "Minesweeper",
        Statistics(10000, 39402, 7, 2, 0.6828, 0, 0, 0),
        digest="8503b9c3c07dcb94",
        new=True,
        metric="roc_auc",
        trouble=("80 % of the nodes are of one class: the metric is ROC-AUC, with accuracy recorded beside it.",),
        paper=False,
    ),
    _heterophilous(
        "Chameleon-filtered",
        Statistics(890, 8854, 2325, 5, 0.2361, 0, 22, 8),
        digest="a0e7e5f9a0161d1c",
        fixed=_FILTERED_SPLITS,
        trouble=(_FILTERED.format("Chameleon", 22),),
        paper=False,
    ),
    _heterophilous(
        "Squirrel-filtered",
        Statistics(2223, 46998, 2089, 5, 0.2072, 0, 3, 0),
        digest="349e5003bbf00a5f",
        fixed=_FILTERED_SPLITS,
        trouble=(_FILTERED.format("Squirrel", 3),),
        paper=False,
    ),
    _gnn_benchmark(
        "Coauthor-CS",
        "coauthor/CS",
        "ms_academic_cs",
        Statistics(18333, 81894, 6805, 15, 0.8081, 0, 39, 0),
        "a2c509c5d0687930",
        "cs",
    ),
    _gnn_benchmark(
        "Coauthor-Physics",
        "coauthor/Physics",
        "ms_academic_phy",
        Statistics(34493, 247962, 8415, 5, 0.9314, 0, 46, 0),
        "6ad1287fde123f37",
        "physics",
    ),
    _facebook("Reed98", Statistics(962, 18812, 745, 2, 0.5216, 0, 0, 0), digest="880e1449862c7436", unlabelled="97"),
    _facebook("Johns Hopkins55", Statistics(5180, 186586, 2406, 2, 0.5488, 0, 0, 0), digest="cd9321818b373783", unlabelled="418"),
    _facebook("Cornell5", Statistics(18660, 790777, 4735, 2, 0.5464, 0, 1, 1), digest="32be4d72c54d11bb", unlabelled="1838"),
)

CATALOGUE: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}
EMBEDDED_TITLES = {"digits": "scikit-learn's digits", "csbm": "contextual stochastic block model"}
_ALIASES = {alias: entry.name for entry in _ENTRIES for alias in entry.aliases}


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
    key = name.strip().lower().replace("_", "-") if isinstance(name, str) else name
    return _ALIASES.get(key, key) if isinstance(key, str) else key
