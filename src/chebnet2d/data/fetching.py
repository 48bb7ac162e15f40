"""``fetch(name)``: download the raw files of a dataset, count what they hold, and only then put them in their place.

The raw format of the dataset knows the addresses. The transfer does not use torch_geometric's dataset classes, because they
cannot resume, write under the final name from the first byte, do not verify certificates, and unpickle what they receive.
"""

import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chebnet2d._checks import InputError
from chebnet2d._targets import lock_handle
from chebnet2d.data.catalogue import Entry, find_entry
from chebnet2d.data.checking import check, compare
from chebnet2d.data.download import DownloadProgress, NotFound, download
from chebnet2d.data.folders import busy, data_root, locked_beside, put_in_place
from chebnet2d.data.generated import generated_facts
from chebnet2d.data.loading import files_of, with_placeholders
from chebnet2d.data.raw_formats import RAW_FORMATS


def fetch(name: str, root: str | Path | None = None, progress: DownloadProgress | None = None, *, force: bool = False) -> Path:
    """The folder with the raw files, downloaded if they are not there (or ``force``).

    Everything arrives in ``.fetch/NAME`` below the root, is read and counted there, and is moved to its place when the counts
    are the catalogue's. After a broken connection the same call continues; after wrong counts nothing is kept.
    """
    entry = find_entry(name, "fetch")
    base = data_root(root)
    folder = base / entry.folder
    if files_of(entry, base) is not None and not force:
        found = check(entry.name, base)
        if not found.ok:
            hint = "Replace them by {}."
            got = "; ".join(found.mismatches)
            rule = "the catalogue's counts"
            raise InputError("fetch", f"the files in {folder}", rule, got=got, hint=hint, mentions=("force",), verb="have")
        with suppress(OSError), locked_beside(folder):  # deletes what a killed call has left, where it may
            return folder
    staging = base / ".fetch" / entry.name
    try:
        staging.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("fetch", f"the data root {base}", "a folder that can be written to", got=error.strerror) from None
    with _alone(staging, entry):
        arrived = _download_all(entry, staging, progress)
        try:
            data = with_placeholders(RAW_FORMATS[entry.format].read(staging, entry), entry)
            mismatches = compare(entry, data, staging).mismatches
        except InputError as error:
            mismatches = (str(error),)
        if mismatches:
            shutil.rmtree(staging)
            got = "; ".join(mismatches).rstrip(".")
            raise InputError("fetch", entry.name, "the catalogue's counts", got=got, hint="Nothing was kept.", verb="have")
        _keep_only(staging, arrived)
        if generated_facts(entry, base) is None:  # its note and its splits must not stay beside the dataset
            _add_others(staging, folder)
        try:
            with locked_beside(folder) as alone:
                if not alone:
                    raise busy("fetch", folder)
                put_in_place(staging, folder)
        except OSError as error:
            raise InputError("fetch", str(folder), "writable", got=error.strerror or str(error)) from None
    return folder


def _keep_only(staging: Path, files: list[str]) -> None:
    """Archives and notes of the download are not needed any more."""
    for path in sorted(staging.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(staging).as_posix() not in files:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def _add_others(staging: Path, folder: Path) -> None:
    """What the user keeps beside the files of the dataset stays."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        target = staging / path.relative_to(folder)
        if path.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)


def _download_all(entry: Entry, staging: Path, progress: DownloadProgress | None) -> list[str]:
    """Names of the files of the dataset that are in the staging folder now."""
    arrived = []
    for source in RAW_FORMATS[entry.format].sources(entry):
        path = staging / source.file
        if not path.is_file():  # a file without .part is whole: from an earlier call
            try:
                download(source.url, path, progress)
            except NotFound as error:
                if source.optional:
                    continue
                hint = f"Known trouble of {entry.name}: dead links; see docs/data.md."
                raise InputError("fetch", error.argument, error.rule, got=error.got, hint=hint) from None
        if source.archive:
            arrived += _unpacked(path, staging, entry)
        else:
            arrived.append(source.file)
    return arrived


def _unpacked(archive: Path, staging: Path, entry: Entry) -> list[str]:
    """The wanted members, wherever they lie in the archive, under their own names. zipfile checks their CRC."""
    try:
        with zipfile.ZipFile(archive) as packed:
            for file in entry.files:
                member = next((name for name in packed.namelist() if f"/{name}".endswith(f"/{file}")), None)
                if member is None:
                    raise zipfile.BadZipFile(f"no {file} inside")
                target = staging / file
                target.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(member) as stream, target.open("wb") as out:
                    shutil.copyfileobj(stream, out, 1 << 20)
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        shutil.rmtree(staging)
        what = f"{archive.name} of {entry.name}"
        raise InputError("fetch", what, "a whole zip archive", got=str(error), hint="Nothing was kept.") from None
    return list(entry.files)


@contextmanager
def _alone(staging: Path, entry: Entry) -> Iterator[None]:
    """A lock, because two downloads into one folder would mix. It is released when the process ends, however that happens."""
    lock = staging.with_name(f"{entry.name}.lock")
    handle = os.open(lock, os.O_CREAT | os.O_RDWR)
    try:
        if not lock_handle(handle):
            raise InputError("fetch", entry.name, "fetched by one process at a time", got="another one at work")
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            if not any(lock.parent.iterdir()):
                lock.parent.rmdir()
    finally:
        os.close(handle)
