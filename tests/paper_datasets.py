"""The datasets of the paper."""

PAPER = [
    *("cora", "citeseer", "pubmed", "computers", "photo", "chameleon", "squirrel", "actor", "texas", "cornell"),
    *("ogbn-arxiv", "ogbn-products", "penn94", "genius", "twitch-gamers", "roman-empire", "tolokers", "amazon-ratings"),
]
