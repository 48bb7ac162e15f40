"""data list: what there is, and what is on this machine."""

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("data list", order=110)
def list_datasets(json: options.Json = False, data_root: options.DataRoot = None) -> None:
    """Show all datasets, with their statistics, and which of them are on this machine.

    Example: chebnet2d data list --data-root ~/graphs
    """
    from dataclasses import asdict

    from chebnet2d import data
    from chebnet2d.cli.console import print_json
    from chebnet2d.cli.tables import make_table, number, print_table
    from chebnet2d.data.catalogue import EMBEDDED_TITLES
    from chebnet2d.data.generated import generated_statistics

    here = set(data.available(data_root))
    generated = {name: found for name in here if (found := generated_statistics(name, data_root)) is not None}
    counts = {name: generated.get(name, entry.statistics) for name, entry in data.CATALOGUE.items()}
    if json:
        embedded = [{"name": name, "title": title, "here": True, "embedded": True} for name, title in EMBEDDED_TITLES.items()]
        entries = [
            {
                **asdict(entry),
                "statistics": asdict(counts[name]),
                "here": name in here,
                "generated": name in generated,
                "embedded": False,
            }
            for name, entry in data.CATALOGUE.items()
        ]
        print_json({"root": str(data.data_root(data_root)), "datasets": embedded + entries})
        return
    table = make_table("dataset", "nodes", "edges", "features", "classes", "homophily", "metric", "split", "here")
    for name in EMBEDDED_TITLES:
        table.add_row(name, "", "", "", "", "", "accuracy", "uniform", "embedded")
    for name, entry in data.CATALOGUE.items():
        known = counts[name]
        cells = [number(value) for value in (known.nodes, known.edges, known.features, known.classes, known.homophily)]
        mark = "generated" if name in generated else "yes" if name in here else "no"
        table.add_row(name if entry.paper else f"{name} *", *cells, entry.metric, entry.split, mark)
    left_out = print_table(table, droppable=("split", "metric", "homophily"))
    print(f"data root: {data.data_root(data_root)}")
    if left_out:
        print(f"left out, for want of width: {', '.join(left_out)}.")
    print("digits: 1,797 images as a nearest-neighbour graph. csbm: random graphs of any size and homophily.")
    if generated:
        print("generated: a random graph that `data generate` wrote in the place of the dataset, with its own counts.")
    print("* not in the paper. Edges are undirected. Get one with: chebnet2d data fetch NAME")
