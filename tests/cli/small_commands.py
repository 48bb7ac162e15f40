"""Flags and a graph with which a command takes a moment."""

QUICK = ["--epochs", "30", "--degree", "3", "--hidden", "8"]


def small_graph(folder, header="id,a,b,label", label=lambda i: "cat" if i % 2 else "dog"):
    folder.mkdir()
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{(i + 2) % 40}\n" for i in range(40)))
    rows = "".join(f"n{i},{i % 2},{(i * 7) % 5},{label(i)}\n" for i in range(40))
    (folder / "nodes.csv").write_text(header + "\n" + rows)
    return folder
