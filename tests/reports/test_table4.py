"""Table 4 on small graphs: every line is measured, on bases and in full batches, and what is there is used again."""

from dataclasses import replace

import pytest

from chebnet2d import InputError
from chebnet2d.reports.timings import format_timings, table4

pytestmark = pytest.mark.usefixtures("own_cache")


def test_lines(tmp_path):
    seen = []
    asked = {"datasets": ("ogbn-arxiv", "genius"), "methods": ("chebnet2d", "optbasis"), "epochs": 2, "scale": 0.005}
    lines = table4(tmp_path, **asked, done=seen.append)
    assert seen == lines
    assert [(line.dataset, line.method, line.reading) for line in lines] == [
        ("ogbn-arxiv", "chebnet2d", "filter-first"),
        ("ogbn-arxiv", "optbasis", "filter-first"),
        ("genius", "chebnet2d", "full-batch"),
        ("genius", "optbasis", "full-batch"),
    ]
    for line in lines:
        assert line.generated
        assert line.epochs == 2
        assert line.total_seconds == pytest.approx(2 * line.epoch_seconds)
        assert 50 < line.peak_mib < 5000
        assert (line.precompute_seconds is None) == (line.dataset == "genius")
    assert lines[0].nodes == 847
    assert lines[0].parameters == 11 * 128 * 128 + (128 * 512 + 512) + (512 * 512 + 512) + (512 * 40 + 40)
    text = format_timings(lines)
    assert text.count("\n") == 6
    assert "| ogbn-arxiv (generated) | chebnet2d | filter-first |" in text
    assert "| filter-first |" in text
    chebnetii = replace(lines[2], method="chebnetii", epoch_seconds=lines[2].epoch_seconds / 2)
    assert f"| {lines[2].epoch_seconds:.3g} | 2.00 | 1.03 |" in format_timings([lines[2], chebnetii]), "51.3 of 49.7 ms"
    again = table4(tmp_path, datasets=("ogbn-arxiv",), methods=("chebnet2d",), epochs=1)
    assert again[0].precompute_seconds is None  # the bases were there
    assert again[0].nodes == 847


def test_wrong_calls(tmp_path):
    with pytest.raises(InputError, match="methods must be one of 'chebnet2d', 'chebnetii', 'optbasis', 'gprgnn', got 'gcn'"):
        table4(tmp_path, methods=("gcn",))
    with pytest.raises(InputError, match="datasets must be one of"):
        table4(tmp_path, datasets=("cora",))
    with pytest.raises(InputError, match="epochs must be an integer >= 1"):
        table4(tmp_path, epochs=0)
