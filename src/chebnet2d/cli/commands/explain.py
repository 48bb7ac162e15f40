"""explain: why nodes of a graph get the class that a saved model gives them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from chebnet2d.cli import options
from chebnet2d.cli.command import command
from chebnet2d.cli.flags import Also


@dataclass(frozen=True)
class Asked:
    """Arguments of ``explain``."""

    class_name: Annotated[
        str | None, typer.Option("--class", help="Explain the logit of this class; default: of the predicted one.")
    ] = None
    top: Annotated[int, typer.Option(help="Nodes and features that are shown.")] = 10
    feature_shares: Annotated[
        str, typer.Option(help="gradient, permutation (shuffles the top features too) or none."), Also("explain.features")
    ] = "gradient"


@command("explain", order=25)
def explain(
    model: options.ModelFolder,
    graph: options.GraphOptions,
    node: Annotated[
        list[str],
        typer.Option(help="Id of a node, as in your graph; may be given several times."),
        Also("explain.node", "explain.nodes"),
    ],
    asked: Asked,
    dataset: options.Dataset = "",
    out: Annotated[
        Path | None,
        typer.Option(help="Page (.html) or .json of all nodes, or a picture (.png, .svg, .pdf) of one."),
        Also("explain.path"),
    ] = None,
    method: options.OutsideMethod = None,
    force: options.Force = False,
    json: options.Json = False,
    data_root: options.DataRoot = None,
) -> None:
    """Tell which nodes, hops, frequencies and features a logit comes from, for and against. Exact for every method that is an MLP
    and one convolution; for others gradient times input, and the output says which it is.

    Example: chebnet2d explain my-model digits --node 7 --out explained.png

    Example: chebnet2d explain my-model digits --node 7 --node 12 --out explained.html
    """
    from chebnet2d._checks import InputError
    from chebnet2d._figures import FORMATS, check_picture_file
    from chebnet2d.cli.console import print_json, say
    from chebnet2d.data.any_graph import files_of
    from chebnet2d.explanations import check_explanations_file, write_explanations
    from chebnet2d.explanations import explain as explained
    from chebnet2d.html_reports.explained import write_explanation_page
    from chebnet2d.html_reports.rendering import check_report_file
    from chebnet2d.models import load
    from chebnet2d.plots import plot_explanation, save_figure
    from chebnet2d.predictions import read_for

    reading, top = options.typed(graph), asked.top
    keep = files_of(dataset, reading)
    ending = "" if out is None else out.suffix.lower()
    if out is not None and ending not in (*FORMATS, ".html", ".json"):
        raise InputError("explain", "out", f"in {', '.join(FORMATS)}, .html or .json", str(out), verb="end")
    if out is not None and ending == ".json":
        check_explanations_file(out, keep, force=force)
    elif out is not None and ending == ".html":
        check_report_file(out, keep, force=force, owner="explain")
    elif out is not None:
        if len(node) > 1:
            raise InputError("explain", "out", ".html or .json for several nodes: a picture shows one", str(out))
        check_picture_file("explain", "out", out, keep=keep, force=force)
    loaded: Any = load(model, method=method)
    source = read_for(loaded, dataset, data_root, **reading)
    found = explained(loaded, source, node, class_name=asked.class_name, features=asked.feature_shares, top=top)
    for explanation in found:
        if not json:
            _say(explanation, top)
    if out is not None and ending == ".json":
        write_explanations(found, out, top, force=force)
    elif out is not None and ending == ".html":
        write_explanation_page(found, out, top, force=force)
    elif out is not None:
        save_figure(plot_explanation(found[0], top=top), out)
    if out is not None:
        say(f"explanation written to {out}", quiet=json)
    if json:
        written = {} if out is None else {"out": str(out)}
        print_json({"explanations": [explanation.to_json(top) for explanation in found], **written})


def _say(explanation: Any, top: int) -> None:
    """Lines and tables for people."""
    from chebnet2d.cli.console import say
    from chebnet2d.cli.tables import make_table, print_table
    from chebnet2d.explanations import SENTENCES

    e = explanation
    say(f"node {e.node}: predicted {e.predicted!r}; logit of {e.class_name!r} {e.logit:.4f}, of which constant {e.constant:.4f}")
    say(SENTENCES[e.kind])
    if e.by:
        say(e.by)
    nodes = make_table("node", "hops", "share")
    for name, hops, share in e.top_nodes(top):
        nodes.add_row(str(name), "" if hops < 0 else str(hops), f"{share:+.4f}")
    print_table(nodes)
    say("by hops: " + ", ".join(f"{d}: {share:+.4f}" for d, share in enumerate(e.hops)))
    if e.bands is not None:
        edges = "" if e.bands_exact else " (bands overlap: by polynomials)"
        say("by frequency, 0 smooth to 2 alternating: " + e.bands_in_words() + edges)
    if e.features is not None:
        table = make_table("feature", "share", *(["fall when shuffled"] if e.permuted is not None else []))
        for name, share in e.top_features(top):
            fall = [] if e.permuted is None else [f"{e.permuted[name]:+.4f}" if name in e.permuted else ""]
            table.add_row(name, f"{share:+.4f}", *fall)
        print_table(table)
