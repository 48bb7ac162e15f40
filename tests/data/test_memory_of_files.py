"""Small files that ask for much memory, and files that end the process which reads them: refused before, in a sentence."""

import io
import struct
import sys
import tempfile
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io

import raw_formats as raw
from chebnet2d import InputError
from chebnet2d.data import load
from chebnet2d.data.own_graph import read_graph
from chebnet2d.data.own_graph.parquet_footer import column_parts
from chebnet2d.data.raw_formats import mat_reader, raw_files
from chebnet2d.data.raw_formats.unpickler import RefusedPickle, load_arrays
from chebnet2d.data.reading_limit import VARIABLE, check_size, reading_limit
from file_contents import INDEX, npz
from mutations import damaged
from sandbox import forked

pytestmark = pytest.mark.usefixtures("own_cache")
LIMIT = 64 * 2**20


@pytest.fixture(autouse=True)
def _limit(monkeypatch):
    monkeypatch.setenv(VARIABLE, "64MiB")


def compressed(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def repeated(count: int) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"id": np.arange(count), "f": np.zeros(count)}), buffer)
    return buffer.getvalue()


def long_texts() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"source": ["x" * 100_000] * 5000, "target": ["y"] * 5000}), buffer)
    return buffer.getvalue()


def continued_texts() -> bytes:
    buffer = io.BytesIO()
    table = pa.table({"source": ["x" * 50_000 + str(k) for k in range(3000)], "target": ["y"] * 3000})
    pq.write_table(table, buffer, use_dictionary=False, column_encoding={"source": "DELTA_BYTE_ARRAY", "target": "PLAIN"})
    return buffer.getvalue()


def many_attributes() -> bytes:
    keys = "".join(f'<key id="d{k}" for="node" attr.name="a{k}" attr.type="double"/>' for k in range(2000))
    nodes = "".join(f'<node id="n{k}"><data key="d{k}">1</data></node>' for k in range(2000))
    return f"<graphml>{keys}<graph>{nodes}</graph></graphml>".encode()


def giant_member() -> bytes:
    """A member whose header asks for 8 TB, of which nothing is there."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("edge_index.npy", header.getvalue())
    return buffer.getvalue()


GREEDY = {
    "npz, compressed": ("g.npz", lambda: compressed(x=np.zeros((20_000, 1000), np.int8), edge_index=INDEX)),
    "npz, a header without numbers": ("g.npz", giant_member),
    "npz, a node far away": ("g.npz", lambda: npz(edge_index=[[0], [10**10]], y=np.zeros((1, 1)))),
    "npz, a wide matrix": (
        "g.npz",
        lambda: npz(edge_index=INDEX, x_data=[1.0], x_indices=[0], x_indptr=[0, 1, 1], x_shape=[2, 10**12]),
    ),
    "parquet, repeated values": ("edges.parquet", lambda: repeated(5_000_000)),
    "parquet, long texts": ("edges.parquet", long_texts),
    "parquet, texts that continue": ("edges.parquet", continued_texts),
    "graphml, many attributes": ("g.graphml", many_attributes),
}


@pytest.mark.parametrize("case", GREEDY)
def test_a_small_file_cannot_ask_for_much_memory(tmp_path, case):
    name, content = GREEDY[case]
    path = tmp_path / name
    path.write_bytes(content())
    with pytest.raises(InputError, match=r"must take at most 64 MiB of memory, got .* by its own account. The limit is"):
        read_graph(path, features="degree" if name.startswith("edges") else None)


def test_the_limit_follows_the_machine_or_the_user(monkeypatch):
    assert reading_limit() == LIMIT
    check_size("file", "it", LIMIT)
    monkeypatch.delenv(VARIABLE)
    assert reading_limit() > 2**20
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(InputError, match="must be a size like 8GiB"):
        reading_limit()


def test_raw_archives_are_checked_too(root):
    path = raw.write_heterophilous(root)["path"]
    arrays = dict(np.load(path))
    path.write_bytes(compressed(**{**arrays, "node_features": np.zeros((20_000, 1000), np.int8)}))
    with pytest.raises(InputError, match="must take at most 64 MiB"):
        load("roman-empire", root)


@pytest.mark.parametrize("shape", ["(True, 3)", "(-1, 3)", "(3.0,)", "(2**70,)", "('a',)", "((3,),)", "(10**12,)"])
def test_odd_shapes_of_arrays(tmp_path, shape):
    (tmp_path / "e.csv").write_text("0,1\n")
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(117).encode() + b"\n"
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(24))
    with pytest.raises(InputError, match="x.npy must be a file that can be read"):
        read_graph(edges=tmp_path / "e.csv", features=tmp_path / "x.npy")


def test_lists_that_are_all_empty(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    table = pa.table({"id": ["a", "b"], "v": pa.array([[], []], pa.list_(pa.float64())), "f": [1.0, 2.0]})
    pq.write_table(table, tmp_path / "nodes.parquet")
    assert read_graph(tmp_path, preprocess="none").x.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "encoding", ["utf-7", "utf-16", "big5", "rot13", "idna", "undefined", "punycode", "unicode_escape", "hz"]
)
def test_odd_encodings_of_graphml(tmp_path, encoding):
    body = '<graphml><graph><node id="a"/><edge source="a" target="a"/></graph></graphml>'
    (tmp_path / "g.graphml").write_text(f'<?xml version="1.0" encoding="{encoding}"?>{body}')
    with pytest.raises(InputError, match="g.graphml, line 1: the file must be"):
        read_graph(tmp_path / "g.graphml", features="degree")
    for known in ("UTF-8", "iso-8859-1", "windows-1252", "us-ascii"):
        (tmp_path / "g.graphml").write_text(f'<?xml version="1.0" encoding="{known}"?>{body}')
        assert read_graph(tmp_path / "g.graphml", features="degree").num_nodes == 1


class TestPickles:
    def test_a_memo_index_takes_no_memory(self):
        assert load_arrays(b"Nr\xff\xff\xff\xff.") is None

    def test_lists_of_lists_do_not_grow(self):
        """Each list holds the one before ten times: 10^40 items in 300 bytes."""
        program = b"]q\x00" + b"".join(b"0](" + bytes([ord("h"), k]) * 10 + b"eq" + bytes([k + 1]) for k in range(40))
        with pytest.raises(RefusedPickle, match="more values than its length can hold"):
            load_arrays(program + b".")

    def test_a_list_in_itself(self):
        with pytest.raises((RefusedPickle, RecursionError)):
            load_arrays(b"]q\x00h\x00a.")

    def test_keys_are_hashed_in_no_time(self):
        """Tuples of tuples, whose hash takes 2^40 steps."""
        program = b")q\x00" + b"".join(b"0" + bytes([ord("h"), k]) * 2 + b"\x86q" + bytes([k + 1]) for k in range(40))
        with pytest.raises(RefusedPickle, match="a dictionary with other keys"):
            load_arrays(b"}" + program + b"Ns.")

    @pytest.mark.parametrize("name", ["cnumpy.core.multiarray\n_reconstruct\n", "ccollections\ndefaultdict\n", "cnumpy\ndtype\n"])
    def test_no_function_can_be_changed(self, name):
        with pytest.raises(RefusedPickle, match="a change of something else than a new array"):
            load_arrays(name.encode() + b"N}X\x0c\x00\x00\x00__defaults__)s\x86b.")

    def test_texts_are_not_copied_without_end(self):
        text = b"X\x00\x10\x00\x00" + b"a" * 4096
        program = b"(" + text + b"q\x01" + b"c_codecs\nencode\nq\x02h\x01\x85R" * 100 + b"t."
        with pytest.raises(RefusedPickle, match="more values than its length can hold"):
            load_arrays(program)


class TestMatlab:
    def test_the_death_of_the_reader_is_a_sentence(self, root, tmp_path, monkeypatch):
        raw.write_facebook100(root)
        script = tmp_path / "reader.py"
        script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
        monkeypatch.setattr(mat_reader, "__file__", str(script))
        with pytest.raises(InputError, match=r"data.mat must be a MATLAB file .*got signal 11 in the process that read it"):
            load("penn94", root)

    def test_memory_has_a_limit(self, tmp_path, monkeypatch):
        path = tmp_path / "data.mat"
        scipy.io.savemat(path, {"A": np.zeros((6000, 100_000), np.uint8)}, do_compression=True)
        assert path.stat().st_size < 2**20
        monkeypatch.setattr(raw_files, "_LIBRARIES", 2**29)
        scipy.io.savemat(tmp_path / "small.mat", {"A": np.zeros((25, 1000), np.uint8)})
        assert raw_files.read_mat(tmp_path / "small.mat", ("A",))["A"].shape == (25, 1000)
        with pytest.raises(InputError, match=r"data.mat must be a MATLAB file .*got (MemoryError|signal)"):
            raw_files.read_mat(path, ("A",))

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks")
    def test_lower_limits_of_the_user_stay(self, tmp_path):
        """As of ``ulimit -t 20``: a limit cannot be raised, and the file is no worse for it."""

        def read():
            tempfile.tempdir = str(tmp_path)
            raw_files.read_mat(tmp_path / "data.mat", ("A",))

        scipy.io.savemat(tmp_path / "data.mat", {"A": np.eye(3)})
        end = forked(tmp_path, read, seconds=20)
        assert (end.code, end.text) == (0, "")

    def test_objects_are_refused(self, tmp_path):
        scipy.io.savemat(tmp_path / "data.mat", {"A": np.array([{"a": 1}], dtype=object)})
        with pytest.raises(InputError, match="ValueError: A is neither an array of numbers nor a sparse matrix"):
            raw_files.read_mat(tmp_path / "data.mat", ("A",))

    @pytest.mark.parametrize("seed", [20, 32, 55, 541])
    def test_files_that_end_scipy(self, tmp_path, seed):
        """Damage of these seeds ends a process that calls scipy's ``loadmat`` (segmentation fault or bus error)."""
        sound = (raw.write_facebook100(tmp_path / "root")["folder"] / "data.mat").read_bytes()
        (tmp_path / "data.mat").write_bytes(damaged(sound, seed))
        with pytest.raises(InputError, match=r"data.mat must be a MATLAB file"):
            raw_files.read_mat(tmp_path / "data.mat", ("A", "local_info"))


def test_texts_in_every_encoding_are_read(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    for encoding in ("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"):
        table = pa.table({"source": ["a", "ab", "abc"], "target": ["ab", "abc", "a"]})
        names = dict.fromkeys(table.column_names, encoding)
        pq.write_table(table, tmp_path / "edges.parquet", use_dictionary=False, column_encoding=names)
        assert list(read_graph(tmp_path / "edges.parquet", features="degree").node_ids) == ["a", "ab", "abc"]


def test_the_footer_of_parquet_is_read_as_pyarrow_reads_it(tmp_path):
    table = pa.table({"a": [1, 2, 3], "v": [[1.0], [2.0, 3.0], []], "s.t": ["x", None, "y"]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    metadata = pq.read_metadata(tmp_path / "t.parquet")
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    columns = [group.column(k) for group in groups for k in range(group.num_columns)]
    found = column_parts(tmp_path / "t.parquet")
    assert [(".".join(part.path), part.values, part.uncompressed) for part in found] == [
        (column.path_in_schema, column.num_values, column.total_uncompressed_size) for column in columns
    ]
    assert {part.path[0] for part in found} == {"a", "v", "s.t"}
