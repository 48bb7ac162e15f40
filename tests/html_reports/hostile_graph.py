"""A graph of a user's own whose ids, features and classes are markup."""

import random

CLASSES = ['<script>alert("x")</script>', "cats & dogs", "$\\no$ 'formula'"]


def write_hostile_graph(folder, nodes=60):
    rng = random.Random(0)
    folder.mkdir()
    labels = [i % 3 for i in range(nodes)]
    ids = [f"<b onclick=x>{i}</b>" for i in range(nodes)]
    pairs = [(i, (i + 3) % nodes) for i in range(nodes)] + [(i, rng.randrange(nodes)) for i in range(nodes)]
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{ids[i]},{ids[j]}\n" for i, j in pairs if i != j))
    rows = [f"{ids[i]},{rng.gauss(labels[i], 1):.3f},{rng.gauss(0, 1):.3f},{quoted(CLASSES[labels[i]])}\n" for i in range(nodes)]
    (folder / "nodes.csv").write_text("id,<i>size</i>,weight,label\n" + "".join(rows))
    return folder


def quoted(text):
    return '"' + text.replace('"', '""') + '"'
