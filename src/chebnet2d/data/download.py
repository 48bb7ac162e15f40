"""One file from the web: resumed where it stopped, whole or not at all, over verified connections."""

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chebnet2d._checks import InputError

DownloadProgress = Callable[[str, int, int | None], None]
"""Called with (file name, bytes so far, bytes in all or None)."""

_CHUNK = 1 << 18
_BROKEN = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)


class _Stale(ConnectionError):
    """What the server sent does not continue what has arrived: the next attempt begins anew."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirection to https, or to the scheme that was asked for; urllib would also go to ftp and from https to http."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        scheme = urllib.parse.urlsplit(newurl).scheme.lower()
        if scheme not in ("https", req.type):
            fp.close()
            raise InputError("fetch", req.full_url, "redirected to https only", got=newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


class NotFound(InputError):
    """The server has no such file (any more)."""


def download(url: str, path: Path, progress: DownloadProgress | None = None, *, attempts: int = 3, timeout: float = 30.0) -> Path:
    """Download to ``path``. What has arrived lies in ``path.part`` until the file is whole; the next call continues there.

    A server names a version of a file by its ETag or its time of change. A part of another version, or of an unknown one, is
    thrown away.
    """
    part = path.with_name(path.name + ".part")
    note = path.with_name(path.name + ".part.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    reason: Any = None
    for attempt in range(attempts):
        if attempt:
            time.sleep(min(0.2 * 4**attempt, 5.0))
        try:
            _continue(url, part, note, path.name, progress, timeout)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (404, 410):
                raise NotFound("fetch", url, "a file that exists", got=f"HTTP {error.code}") from None
            if error.code == 416:  # the part does not fit the file: start again
                part.unlink(missing_ok=True)
            reason = f"HTTP {error.code}"
        except _BROKEN as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(error, _Stale):
                part.unlink(missing_ok=True)
        else:
            part.replace(path)
            note.unlink(missing_ok=True)
            return path
    hint = "Run the command again: it continues where it stopped."
    raise InputError("fetch", url, "reachable", got=f"{reason} in {attempts} attempts", hint=hint)


def _continue(url: str, part: Path, note: Path, name: str, progress: DownloadProgress | None, timeout: float) -> None:
    done, version = _state(part, note, url)
    request = urllib.request.Request(url, headers={"User-Agent": "chebnet2d", "Accept-Encoding": "identity"})
    if done and version:
        request.add_header("Range", f"bytes={done}-")
        request.add_header("If-Range", version)
    with _OPENER.open(request, timeout=timeout) as answer:  # urllib verifies certificates by default
        tag = answer.headers.get("ETag") or ""
        strong = tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")
        if answer.status != 206:
            done = 0
        elif not done or strong != version or not (answer.headers.get("Content-Range") or "").startswith(f"bytes {done}-"):
            raise _Stale("a part of another file than the one that was begun")
        length = answer.headers.get("Content-Length")
        if length is not None and not (length.isascii() and length.strip().isdigit() and len(length) < 19):
            raise InputError("fetch", f"the Content-Length of {url}", "a number of bytes", length)
        total = done + int(length) if length is not None else None
        note.write_text(json.dumps({"url": url, "version": strong}), encoding="utf-8")
        with part.open("ab" if done else "wb") as stream:
            while chunk := answer.read(_CHUNK):
                stream.write(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(name, done, total)
            stream.flush()
            os.fsync(stream.fileno())
    if total is not None and done != total:
        raise http.client.IncompleteRead(b"", total - done)


def _state(part: Path, note: Path, url: str) -> tuple[int, str | None]:
    """How many bytes have arrived, and of which version of the file."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["url"] == url and known["version"]:
            return part.stat().st_size, str(known["version"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return 0, None
