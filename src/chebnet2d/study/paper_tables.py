"""Methods and datasets of the paper's tables."""

MEDIUM = ("cora", "citeseer", "pubmed", "computers", "photo", "chameleon", "squirrel", "texas", "cornell", "actor")
LARGE = ("ogbn-arxiv", "ogbn-products", "penn94", "genius", "twitch-gamers", "roman-empire", "tolokers", "amazon-ratings")
_METHODS = {
    1: "appnp gprgnn gnn-lf gnn-hf bernnet chebnetii optbasis dsgc specgn adc jacobiconv gcn gcnii pdegcn nodeformer glognn "
    "chebnet2d",
    2: "gcn appnp gprgnn specgn jacobiconv chebnetii optbasis linkx nodeformer glognn chebnet2d",
    3: "gprgnn:unified chebnetii:unified optbasis:unified specgn:unified jacobiconv:unified chebnet2d",
}
TABLE_METHODS = {number: tuple(names.split()) for number, names in _METHODS.items()}
TABLE_DATASETS = {
    1: MEDIUM,
    2: LARGE,
    3: ("cora", "computers", "ogbn-arxiv", "ogbn-products", "penn94", "twitch-gamers", "roman-empire", "amazon-ratings"),
}
