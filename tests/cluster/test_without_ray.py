"""Without ray, only the sentences that ask for it."""

import re
import sys

import pytest

from chebnet2d import InputError
from chebnet2d.cluster import RayExecutor
from cli_runner import run

pytestmark = pytest.mark.filterwarnings("default")
NO_RAY = "cluster: the package ray must be installed, got none. Install it with: pip install 'chebnet2d[cluster]'"


class TestWithoutRay:
    @pytest.fixture(autouse=True)
    def _no_ray(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "ray", None)
        monkeypatch.chdir(tmp_path)

    def test_the_extra_is_named(self):
        with pytest.raises(InputError) as raised:
            list(RayExecutor("auto").run(len, [(1, ())]))
        assert str(raised.value) == NO_RAY

    @pytest.mark.parametrize(
        "arguments",
        [
            ("study", "run", "--methods", "mlp", "--datasets", "digits", "--ray", "auto"),
            ("search", "csbm", "--budget", 1, "--storage", "sqlite:///trials.db", "--ray", "auto"),
            ("precompute", "csbm", "--out", "bases", "--ray", "auto"),
        ],
        ids=lambda arguments: arguments[0],
    )
    def test_the_commands_name_it_and_leave_nothing_behind(self, tmp_path, arguments):
        done = run(*arguments, code=2)
        assert NO_RAY in " ".join(done.stderr.split())
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (
                ("study", "run", "--methods", "mlp", "--datasets", "digits", "--workers", 2),
                "--workers must be 1 beside --ray, .*, got 2",
            ),
            (("study", "run", "--table", 4), "--table must be 1 to 3 beside --ray, got 4, whose times are those of one machine"),
            (("precompute", "csbm", "--out", "bases", "--device", "cuda"), "--device must be cpu beside --ray, .*, got 'cuda'"),
        ],
    )
    def test_what_does_not_go_with_a_cluster(self, arguments, sentence):
        done = run(*arguments, "--ray", "auto", code=2)
        assert re.search(sentence, " ".join(done.stderr.split()))
