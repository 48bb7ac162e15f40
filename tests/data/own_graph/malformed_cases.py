"""Malformed graphs by their names: the files, the arguments and the sentence that says what is wrong."""

from pathlib import Path
from typing import Any

import pytest

from chebnet2d import InputError
from chebnet2d.data.own_graph import read_graph
from file_contents import Content, snapshot


class Cases(dict[str, tuple[dict[str, Content], dict[str, Any], str]]):
    """Called with a case, it takes it up."""

    def __call__(self, name: str, files: dict[str, Content], expected: str, **arguments: Any) -> None:
        assert name not in self
        self[name] = (files, {"path": ".", **arguments}, expected)

    def check(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The files are refused with the sentence, and stay as they are."""
        files, arguments, expected = self[name]
        folder = tmp_path / "graph"
        folder.mkdir()
        monkeypatch.chdir(folder)
        for file, content in files.items():
            Path(file).write_bytes(content.encode() if isinstance(content, str) else content)
        before = snapshot(tmp_path)
        with pytest.raises(InputError) as caught:
            read_graph(**arguments)
        # The end of some sentences is the word of another library.
        assert str(caught.value).startswith(expected[:-3]) if expected.endswith("...") else str(caught.value) == expected
        assert snapshot(tmp_path) == before
