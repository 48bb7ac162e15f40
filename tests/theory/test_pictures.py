"""Every picture is drawn, with something in it."""

import pytest
from matplotlib.colors import to_hex

from chebnet2d._figures import COLOURS
from chebnet2d.theory import PICTURES, degree_curve, save_pictures
from chebnet2d.theory.example_graphs import path


@pytest.mark.parametrize("name", PICTURES)
def test_picture(name):
    figure = PICTURES[name](1)
    assert figure.get_suptitle()
    for axis in figure.axes:
        assert axis.lines or axis.patches
        assert axis.get_xlabel() or axis.get_xticklabels()
        used = {to_hex(line.get_color()) for line in axis.lines} | {to_hex(bar.get_facecolor()) for bar in axis.patches}
        assert used <= {colour.lower() for colour in COLOURS} | {to_hex("0.7")}, "the colour-blind see the same picture"


def test_all_below_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("chebnet2d.theory.pictures.PICTURES", {"section4.1": PICTURES["section4.1"]})
    curve = degree_curve(path(6), [[1.0], [2], [0], [1], [3], [5]], [[1.0], [0], [0], [2], [1], [1]])
    saved = save_pictures(tmp_path / "new", {"path": curve}, seed=2)
    assert [file.name for file in saved] == ["section4.1.png", "degree.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in saved)
