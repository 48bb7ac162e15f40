"""A server on this machine, and a folder for data."""

import http.server
import threading
from dataclasses import dataclass, field

import pytest


@dataclass
class Site:
    """What the server does: files by path, where to cut an answer, and what it was asked for."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: int | None = None
    etag: str | None = '"one"'
    ranges: bool = True
    status: int = 200
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    length: str | None = None
    content_range: str | None = None
    tag_of_parts: str | None = None
    redirects: dict[str, str] = field(default_factory=dict)
    url: str = ""


@pytest.fixture
def site(monkeypatch):
    state = Site()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.lstrip("/")
            asked = self.headers.get("Range")
            state.asked.append((path, asked))
            if path in state.redirects:
                self.send_response(302)
                self.send_header("Location", state.redirects[path])
                self.end_headers()
                return
            if state.status != 200 or path not in state.files:
                self.send_error(state.status if state.status != 200 else 404)
                return
            body, start = state.files[path], 0
            if asked and state.ranges and self.headers.get("If-Range") == state.etag:
                start = int(asked.removeprefix("bytes=").rstrip("-"))
                if start >= len(body):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header("Content-Range", state.content_range or f"bytes {start}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", state.length or str(len(body) - start))
            if state.etag:
                self.send_header("ETag", state.tag_of_parts if start and state.tag_of_parts else state.etag)
            self.end_headers()
            end = len(body) if state.cut_after is None else min(len(body), start + state.cut_after)
            self.wfile.write(body[start:end])

        def log_message(self, *_arguments):
            pass

    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("chebnet2d.data.download.time.sleep", lambda _seconds: None)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    server.server_close()
    thread.join(timeout=5)


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"
