"""P_d = p_d(M) X in blocks of columns: columns do not know each other, so a block needs N x b buffers and nothing more."""

import errno
import io
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from chebnet2d._checks import InputError, integer, one_of
from chebnet2d._device import checked_device
from chebnet2d._version import __version__
from chebnet2d.bases.operators import OPERATORS, large_operator
from chebnet2d.bases.plan import (
    DTYPES,
    FORMAT,
    TILE,
    BasesError,
    Plan,
    basis_parameters,
    block_name,
    digest,
    features_digest,
    operator_digest,
    read_plan,
    write_plan,
)
from chebnet2d.bases.recurrence import block_terms, buffers_needed
from chebnet2d.bases.sizes import free_bytes, parse_bytes, resident_bytes, show_bytes
from chebnet2d.bases.store import Bases
from chebnet2d.graph import SparseOperator
from chebnet2d.polynomials import Basis, get_basis

WIDEST = 64
"""Columns of a block at most: wider ones are not faster, and more is lost when the work is interrupted."""
_SLACK = 192 * 2**20  # rows on their way to the disk, and the libraries' own needs
_WRITE = 32 * 2**20
_LINE = 16  # numbers of a line of the cache
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class PrecomputeProgress:
    """After every term: columns x terms done and in all, and the block at work."""

    done: int
    total: int
    block: int
    blocks: int


Report = Callable[[PrecomputeProgress], None]


def precompute(
    graph: Any,
    x: Any = None,
    *,
    out: str | Path,
    basis: str | Basis = "chebyshev",
    degree: int = 10,
    operator: str = "L_hat",
    dtype: str = "float32",
    rows: Any = "labelled",
    memory: int | str | None = None,
    block: int | None = None,
    device: str | torch.device = "cpu",
    progress: Report | None = None,
) -> Bases:
    """Compute P_d = p_d(M) X for d = 0..degree and keep the rows asked for in the folder ``out``.

    A call that was interrupted, even killed, goes on where it was when it is made again: finished blocks of columns are kept.
    A folder that holds these very bases is opened at once; one that holds others (of another graph, degree, dtype, ...) is
    refused.

    Args:
        graph: a ``Data`` (x, edge_index, perhaps edge_weight, y and masks), or M itself as a ``SparseOperator``.
        x: N x F, dense or sparse; default: that of the data. Sparse features are made dense by blocks of columns only.
        basis: a name or an object of ``chebnet2d.polynomials``. Bases that are orthonormal for the signal work by columns too.
        operator: M for a ``Data``: "L_hat", "P" (= -L_hat) or "P~" (with self loops).
        dtype: of the files, "float32" or "float16". The recurrence runs in float32.
        rows: "labelled" (all, where nothing has labels), "all", or the nodes to keep, in the order in which they are stored.
        memory: what this process may hold at most, the graph and all it has already included ("8GiB", or bytes); default: half
            of what the system has free beyond it. The width of the blocks follows from it.
        block: columns of a block, where ``memory`` should not decide.
        device: where the products are computed.
    """
    where = checked_device("precompute", device)
    limit = None if memory is None else parse_bytes(memory, "precompute")
    work = prepare(graph, x, out=out, basis=basis, degree=degree, operator=operator, dtype=dtype, rows=rows)
    if work.finished():
        return Bases.open(out)
    with locked(work.out):
        if work.finished():  # by the process that had the lock
            return Bases.open(out)
        widest = _widest(work, limit) if block is None else integer("precompute", "block", block, 1)
        work = begin(work, widest)
        write_blocks(replace(work, matrix=work.matrix.to(device=where)), progress=progress)
        finish(work)
    return Bases.open(out)


@dataclass(frozen=True)
class Work:
    """What is to be computed, checked."""

    matrix: SparseOperator
    features: Tensor | SparseOperator
    basis: Basis
    plan: Plan
    kept: Any
    labels: Any
    parts: Any
    out: Path

    def finished(self) -> bool:
        return (self.out / "manifest.json").is_file()


def prepare(
    graph: Any, x: Any, *, out: str | Path, basis: str | Basis, degree: int, operator: str, dtype: str, rows: Any
) -> Work:
    """The checks. A folder that holds other bases is refused here."""
    integer("precompute", "degree", degree, 0)
    one_of("precompute", "dtype", dtype, DTYPES)
    chosen = get_basis(basis)
    matrix, features, kind, facts = _inputs(graph, x, operator)
    kept, labels, parts = _rows(facts, rows, matrix.shape[0])
    plan = Plan(
        format=FORMAT,
        basis=chosen.name,
        parameters=basis_parameters(chosen),
        operator=kind,
        degree=degree,
        dtype=dtype,
        nodes=matrix.shape[0],
        features=features.shape[1],
        rows=kept.size,
        graph_digest=operator_digest(matrix),
        features_digest=features_digest(features),
        rows_digest=digest([kept]),
        tile=TILE,
        blocks=[],
        name=str(getattr(facts, "name", None) or ""),
        metric=str(getattr(facts, "metric", None) or "accuracy"),
        classes=_classes(facts),
        version=__version__,
    )
    _refuse_other(plan, Path(out))
    return Work(matrix, features, chosen, plan, kept, labels, parts, Path(out))


def write_blocks(work: Work, *, indices: Sequence[int] | None = None, progress: Report | None = None) -> None:
    """Compute the blocks that are not there yet. Each is written beside and renamed when it is on the disk."""
    plan, out = work.plan, work.out
    wanted = range(len(plan.blocks)) if indices is None else indices
    todo = [index for index in wanted if not (out / block_name(index)).is_file()]
    if not todo:
        return
    _check_space(plan, out, todo)
    widest = max(stop - start for start, stop in plan.blocks)
    flat = [torch.empty(plan.nodes * widest, device=work.matrix.device) for _ in range(2)]
    source = Columns(work.features)
    terms = plan.degree + 1
    total = terms * plan.features
    done = total - terms * sum(plan.blocks[index][1] - plan.blocks[index][0] for index in todo)
    saved: list[Future[None]] = []
    # The disk is waited for while the next block is computed.
    with ThreadPoolExecutor(1) as disk:
        for index in todo:
            start, stop = plan.blocks[index]
            width = stop - start
            first, spare = (buffer[: plan.nodes * width].view(plan.nodes, width) for buffer in flat)
            source.copy(start, stop, first)
            with writing(plan, index, out) as block:
                for d, term in enumerate(block_terms(work.matrix, work.basis, first, spare, plan.degree)):
                    block.write(d, term, work.kept)
                    done += width
                    if progress is not None:
                        progress(PrecomputeProgress(done, total, index, len(plan.blocks)))
                for future in saved:
                    future.result()
                saved = [disk.submit(block.save)]
        with sentences(out):
            for future in saved:
                future.result()


def finish(work: Work) -> None:
    """The manifest: from now on the folder is whole."""
    plan, out = work.plan, work.out
    missing = [index for index in range(len(plan.blocks)) if not (out / block_name(index)).is_file()]
    if missing:
        raise BasesError(
            "precompute", str(out), f"all {len(plan.blocks)} blocks", got=f"no {block_name(missing[0])}", verb="have"
        )
    with sentences(out):
        write_plan(plan, out / "manifest.json")
    (out / "plan.json").unlink(missing_ok=True)


class Columns:
    """Columns of X as dense blocks, whatever X is."""

    def __init__(self, x: Tensor | SparseOperator) -> None:
        self.dense = x if isinstance(x, Tensor) else None
        # By columns, so that a block is a slice. As large as the stored entries, not as N x F.
        self.sparse = None if isinstance(x, Tensor) else scipy.sparse.csc_array(x.to_scipy())

    def copy(self, start: int, stop: int, target: Tensor) -> None:
        if self.dense is not None:
            target.copy_(self.dense[:, start:stop])
            return
        if target.device.type != "cpu":
            block = torch.empty(target.shape)
            self.copy(start, stop, block)
            target.copy_(block)
            return
        part: Any = self.sparse
        target.zero_()
        first, last = part.indptr[start], part.indptr[stop]
        columns = np.repeat(np.arange(stop - start), np.diff(part.indptr[start : stop + 1]))
        rows = part.indices[first:last].astype(np.int64)
        # Entries are unique: a SparseOperator has its duplicates summed.
        target.view(-1)[torch.from_numpy(rows * (stop - start) + columns)] = torch.from_numpy(part.data[first:last]).to(
            target.dtype
        )


class BlockFile:
    """A block on its way to the disk: a hidden file until ``save``.

    Written by ``pwrite`` and not through a memory map, whose pages would count as this process's memory.
    """

    def __init__(self, plan: Plan, index: int, out: Path) -> None:
        start, stop = plan.blocks[index]
        self.plan = plan
        self.path = out / block_name(index)
        self.temporary = out / f".{self.path.name}.{uuid.uuid4().hex[:8]}.tmp"
        self.dtype = np.dtype(plan.dtype)
        self.largest = float(np.finfo(self.dtype).max)
        self.shape = (plan.tiles, plan.degree + 1, plan.tile, stop - start)
        self.piece = plan.tile * (stop - start) * self.dtype.itemsize
        stream = io.BytesIO()
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(stream, header)
        self.offset = stream.tell()
        self.descriptor = os.open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            _reserve(self.descriptor, self.offset + plan.block_bytes[index])
            os.pwrite(self.descriptor, stream.getvalue(), 0)
        except BaseException:
            self.drop()
            raise

    def write(self, degree: int, term: Tensor, kept: Any) -> None:
        """One term: a piece for each tile."""
        tile, width = self.plan.tile, self.shape[-1]
        group = max(1, _WRITE // (tile * width * 4))  # tiles that are gathered together
        for first in range(0, self.shape[0], group):
            rows = kept[first * tile : (first + group) * tile]
            if rows[-1] - rows[0] == rows.size - 1 and (rows[1:] > rows[:-1]).all():
                values = term[rows[0] : rows[-1] + 1]
            else:
                values = term.index_select(0, torch.from_numpy(rows).to(term.device))
            low, high = (float(bound) for bound in torch.aminmax(values))
            if not (-self.largest <= low and high <= self.largest):  # so that NaN is caught too
                raise InputError(
                    "precompute",
                    "the terms",
                    str(self.plan.dtype),
                    got=f"{low:g} to {high:g} at degree {degree}",
                    hint="Scale the features (see chebnet2d.data.standardize) or take float32 and the Chebyshev basis.",
                    verb="fit",
                )
            stored = values.cpu().to(torch.float16 if self.plan.dtype == "float16" else torch.float32).contiguous().numpy()
            content = stored.reshape(-1).view(np.uint8).data
            for number in range(-(-len(rows) // tile)):
                piece = content[number * self.piece : (number + 1) * self.piece]
                place = self.offset + ((first + number) * self.shape[1] + degree) * self.piece
                while piece:
                    written = os.pwrite(self.descriptor, piece, place)
                    piece, place = piece[written:], place + written

    def save(self) -> None:
        try:
            os.fsync(self.descriptor)
        finally:
            os.close(self.descriptor)
        self.temporary.replace(self.path)

    def drop(self) -> None:
        os.close(self.descriptor)
        self.temporary.unlink(missing_ok=True)


def _reserve(descriptor: int, size: int) -> None:
    """A full disk is told before the work, where the file system can reserve space."""
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno in _FULL:
            raise
        os.ftruncate(descriptor, size)
    except AttributeError:  # not on this system
        os.ftruncate(descriptor, size)


@contextmanager
def writing(plan: Plan, index: int, out: Path) -> Iterator[BlockFile]:
    """A block file that is gone if anything fails before it is saved."""
    with sentences(out):
        block = BlockFile(plan, index, out)
        try:
            yield block
        except BaseException:
            block.drop()
            raise


@contextmanager
def sentences(out: Path) -> Iterator[None]:
    """What a disk can do to us, as one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise BasesError(
                "precompute",
                f"the disk of {out}",
                "room for the bases",
                reason=error.strerror,
                hint="Free some space and call it again: finished blocks are kept.",
                verb="have",
            ) from None
        raise BasesError("precompute", str(out), "writable", reason=str(error.strerror or error)) from None


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """One writer at a time; the lock goes with the process, however it ends."""
    import fcntl

    with sentences(out):
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BasesError("precompute", str(out), "one writer", got="another process at work in it", verb="have") from None
        yield
    finally:
        os.close(descriptor)


# ---- what is asked for -----------------------------------------------------------------------------------------------


def _inputs(graph: Any, x: Any, kind: str) -> tuple[SparseOperator, Tensor | SparseOperator, str, Any]:
    """(M, X, its kind, the data)."""
    facts = None
    if isinstance(graph, SparseOperator):
        matrix, kind = graph, "given" if kind == "L_hat" else kind
        if not graph.symmetric:
            raise InputError("precompute", "the operator", "symmetric, with its spectrum in [-1, 1]")
    else:
        facts = graph
        if getattr(graph, "edge_index", None) is None:
            raise InputError("precompute", "graph", "a Data with an edge_index, or a SparseOperator", graph)
        one_of("precompute", "operator", kind, OPERATORS)
        weight = getattr(graph, "edge_weight", None)
        matrix = large_operator(graph.edge_index, int(graph.num_nodes), kind, weight)
        x = graph.x if x is None else x
    if isinstance(x, Tensor) and x.layout != torch.strided:
        x = SparseOperator.from_torch(x)
    if not isinstance(x, Tensor | SparseOperator) or len(x.shape) != 2 or x.shape[0] != matrix.shape[0] or x.shape[1] == 0:
        raise InputError("precompute", "x", f"an N x F tensor or SparseOperator with N = {matrix.shape[0]}", x)
    values = x if isinstance(x, Tensor) else x.values
    if not bool(torch.isfinite(values).all()):
        raise InputError("precompute", "x", "finite", got="NaN or infinite values", hint="Fill or drop them first.")
    return matrix.to(dtype=torch.float32, device="cpu"), x, kind, facts


def _rows(facts: Any, rows: Any, nodes: int) -> tuple[Any, Any, Any]:
    """Nodes to keep, with their labels and parts of the fixed splits where there are any."""
    y = getattr(facts, "y", None)
    labels = None if y is None else y.numpy()
    if isinstance(rows, str):
        one_of("precompute", "rows", rows, ("labelled", "all"))
        every = np.arange(nodes, dtype=np.int64)
        kept = every if rows == "all" or labels is None else every[labels >= 0]
    else:
        kept = np.asarray(rows)
        if kept.ndim != 1 or kept.size == 0 or not np.issubdtype(kept.dtype, np.integer):
            raise InputError("precompute", "rows", "'labelled', 'all' or a vector of nodes", rows)
        kept = kept.astype(np.int64)
        if kept.min() < 0 or kept.max() >= nodes or np.unique(kept).size != kept.size:
            raise InputError("precompute", "rows", f"different nodes from 0 to {nodes - 1}", got="others among them")
    if kept.size == 0:
        raise InputError("precompute", "rows='labelled'", "a node with a label", got="none", hint="Use rows='all'.", verb="leave")
    masks = [getattr(facts, f"{part}_mask", None) for part in ("train", "val", "test")]
    parts = None
    if labels is not None and all(mask is not None for mask in masks):
        tables = [np.asarray(mask).reshape(nodes, -1)[kept] for mask in masks]
        parts = np.zeros((kept.size, max(table.shape[1] for table in tables)), dtype=np.uint8)
        for number, table in enumerate(tables, start=1):
            parts[np.broadcast_to(table, parts.shape)] = number
        parts[labels[kept] < 0] = 0
    return kept, None if labels is None else labels[kept], parts


def _classes(facts: Any) -> int | None:
    stored = getattr(facts, "num_classes", None)
    if stored is not None:
        return int(stored)
    y = getattr(facts, "y", None)
    return None if y is None else int(y.max()) + 1


# ---- the folder ------------------------------------------------------------------------------------------------------


def _refuse_other(plan: Plan, out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise BasesError("precompute", str(out), "a folder", got="a file")
    for name in ("manifest.json", "plan.json"):
        found = read_plan(out / name)
        if found is not None:
            different = plan.difference(found)
            if different:
                raise BasesError(
                    "precompute", str(out), str(different), hint="Name another folder, or delete this one.", verb="hold"
                )
            return
    if out.is_dir() and any(path.name != ".lock" for path in out.iterdir()):
        raise BasesError("precompute", str(out), "a new or empty folder, or one with these bases", got="other files in it")


def begin(work: Work, widest: int) -> Work:
    """With blocks: those of an interrupted call if they are narrow enough, else new ones. Under the lock of the folder."""
    plan, out = work.plan, work.out
    for path in out.glob(".block-*.tmp"):  # of a killed process; nobody else is at work here
        path.unlink()
    found = read_plan(out / "plan.json")
    if found is not None and max(stop - start for start, stop in found.blocks) <= widest:
        return replace(work, plan=found)
    for path in out.glob("block-*.npy"):
        path.unlink()
    count = -(-plan.features // widest)
    width = -(-plan.features // count)
    if widest >= _LINE:  # rows that begin with a line of the cache
        width = min(widest // _LINE, -(-width // _LINE)) * _LINE
    starts = range(0, plan.features, width)
    plan = replace(plan, blocks=[[start, min(start + width, plan.features)] for start in starts])
    with sentences(out):
        for name, array in (("rows", work.kept), ("labels", work.labels), ("parts", work.parts)):
            if array is not None:
                np.save(out / f"{name}.npy", array, allow_pickle=False)
        write_plan(plan, out / "plan.json")
    return replace(work, plan=plan)


def _widest(work: Work, limit: int | None) -> int:
    held = resident_bytes()
    if isinstance(work.features, SparseOperator):
        held += 12 * work.features.nnz  # their copy by columns
    room = free_bytes() // 2 if limit is None else limit - held
    each = 4 * work.plan.nodes * buffers_needed(work.basis)
    width = (room - _SLACK) // each
    if width < 1:
        raise InputError(
            "precompute",
            "memory",
            f"at least {show_bytes(held + _SLACK + each)} for this graph, of which {show_bytes(held)} are in use already",
            got=show_bytes(held + room),
        )
    return min(int(width), WIDEST)


def _check_space(plan: Plan, out: Path, todo: list[int]) -> None:
    needed = sum(plan.block_bytes[index] for index in todo)
    free = shutil.disk_usage(out).free
    if needed > free:
        raise BasesError(
            "precompute",
            f"the disk of {out}",
            f"{show_bytes(needed)} free for the bases",
            got=show_bytes(free),
            hint="Keep fewer rows, or use float16.",
            verb="have",
        )
