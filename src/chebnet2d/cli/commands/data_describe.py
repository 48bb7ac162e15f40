"""data describe: what is in a graph, and what each column becomes."""

from typing import Any

from chebnet2d.cli import options
from chebnet2d.cli.command import command


@command("data describe", order=145)
def describe(
    graph: options.GraphOptions,
    dataset: options.Dataset = "",
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Show the facts of a graph and what each of its columns becomes, before any training. All problems are told at once.

    Example: chebnet2d data describe my-graph/
    """
    from chebnet2d import data
    from chebnet2d.cli.console import print_json

    facts = data.describe(data.load_graph(dataset, data_root, **options.typed(graph)))
    if json:
        print_json(facts)
        return
    _print_facts(facts)
    for note in facts["notes"]:
        print(f"note: {note}")


def _print_facts(facts: dict[str, Any]) -> None:
    from chebnet2d.cli.tables import make_table, number, print_table

    degrees = facts["degrees"]
    table = make_table(facts["name"], "")
    rows = {
        "nodes": f"{number(facts['nodes'])}, {number(facts['isolated'])} without a neighbour",
        "edges": f"{number(facts['edges'])} ({number(facts['listed_edges'])} listed, {number(facts['self_loops'])} loops)",
        "components": f"{number(facts['components'])}, the largest has {number(facts['largest_component'])} nodes",
        "neighbours": f"{degrees['least']:g} to {degrees['most']:g}, median {degrees['median']:g}, mean {degrees['mean']:.2f}",
        "edges inside of a class": "" if facts["homophily"] is None else f"{100 * facts['homophily']:.1f} %",
        "same neighbours and label": f"{number(facts['twins'])}, and the same features: {number(facts['duplicates'])}",
        "labelled nodes": f"{number(facts['labelled'])} of {number(facts['nodes'])}",
    }
    for name, text in rows.items():
        table.add_row(name, text)
    for name, count in facts["classes"].items():
        table.add_row(f"  {name}", f"{number(count)} ({100 * count / max(facts['labelled'], 1):.1f} %)")
    print_table(table)
    if facts["columns"]:
        columns = make_table("column", "becomes", "features", "gaps", left=("column", "becomes"))
        for column in facts["columns"][:200]:
            columns.add_row(column["name"], column["became"], number(column["features"]), number(column["gaps"]))
        print_table(columns)
        if len(facts["columns"]) > 200:
            print(f"... and {len(facts['columns']) - 200} more; --json lists all")
    print(f"{facts['features']} features in all")
