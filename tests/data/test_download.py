"""Downloads of a file: resumed, verified, whole or not at all."""

import io
import json
import urllib.request

import pytest

from chebnet2d import InputError
from chebnet2d.data.download import NotFound, _Redirects, download

BODY = bytes(range(256)) * 4000


def test_a_file_arrives_whole_with_progress(site, tmp_path):
    site.files["a.bin"] = BODY
    seen = []
    path = download(f"{site.url}/a.bin", tmp_path / "deep" / "a.bin", lambda *step: seen.append(step))
    assert path.read_bytes() == BODY
    assert [file.name for file in path.parent.iterdir()] == ["a.bin"]
    assert seen[-1] == ("a.bin", len(BODY), len(BODY))
    assert [step[1] for step in seen] == sorted(step[1] for step in seen)


def test_a_broken_connection_is_resumed_within_one_call(site, tmp_path):
    site.files["a.bin"] = BODY
    site.cut_after = 400_000
    path = download(f"{site.url}/a.bin", tmp_path / "a.bin")
    assert path.read_bytes() == BODY
    assert [asked for _, asked in site.asked] == [None, "bytes=400000-", "bytes=800000-"]


def test_a_broken_connection_is_resumed_by_the_next_call(site, tmp_path):
    site.files["a.bin"] = BODY
    site.cut_after = 300_000
    with pytest.raises(InputError, match=r"a.bin must be reachable, got .* in 1 attempts. Run the command again: it continues"):
        download(f"{site.url}/a.bin", tmp_path / "a.bin", attempts=1)
    assert not (tmp_path / "a.bin").exists()
    assert (tmp_path / "a.bin.part").stat().st_size == 300_000
    site.cut_after = None
    assert download(f"{site.url}/a.bin", tmp_path / "a.bin").read_bytes() == BODY
    assert site.asked[-1] == ("a.bin", "bytes=300000-")
    assert [file.name for file in tmp_path.iterdir()] == ["a.bin"]


@pytest.mark.parametrize("change", ["another version", "no version", "no ranges"])
def test_a_part_that_does_not_fit_is_thrown_away(site, tmp_path, change):
    site.files["a.bin"] = b"x" * 500_000
    site.cut_after = 100_000
    site.etag = None if change == "no version" else site.etag
    with pytest.raises(InputError, match="must be reachable"):
        download(f"{site.url}/a.bin", tmp_path / "a.bin", attempts=1)
    site.files["a.bin"], site.cut_after = BODY, None
    site.etag = '"two"' if change == "another version" else site.etag
    site.ranges = change != "no ranges"
    assert download(f"{site.url}/a.bin", tmp_path / "a.bin").read_bytes() == BODY


def test_a_part_as_long_as_the_file_is_started_again(site, tmp_path):
    site.files["a.bin"] = BODY[:1000]
    (tmp_path / "a.bin.part").write_bytes(b"y" * 1000)
    (tmp_path / "a.bin.part.json").write_text(json.dumps({"url": f"{site.url}/a.bin", "version": '"one"'}))
    assert download(f"{site.url}/a.bin", tmp_path / "a.bin").read_bytes() == BODY[:1000]


def test_missing_files_and_broken_servers_get_one_sentence(site, tmp_path):
    with pytest.raises(NotFound, match=r"fetch: http://127.0.0.1:\d+/a.bin must be a file that exists, got HTTP 404"):
        download(f"{site.url}/a.bin", tmp_path / "a.bin")
    site.status = 503
    with pytest.raises(InputError, match=r"must be reachable, got HTTP 503 in 3 attempts"):
        download(f"{site.url}/a.bin", tmp_path / "a.bin")
    assert len(site.asked) == 4
    with pytest.raises(InputError, match="must be reachable, got"):
        download("http://127.0.0.1:9/a.bin", tmp_path / "a.bin", attempts=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/a.bin", "file:///etc/hostname", "FTP://127.0.0.1/a.bin"])
def test_a_redirection_to_another_scheme_is_refused(site, tmp_path, target):
    site.redirects["a.bin"] = target
    with pytest.raises(InputError, match="must be redirected to https only|got HTTP 302"):
        download(f"{site.url}/a.bin", tmp_path / "a.bin", attempts=1)
    assert not list(tmp_path.iterdir())


def test_https_is_not_left_and_other_redirections_are_followed(site, tmp_path):
    request = urllib.request.Request("https://example.org/a.bin")
    with pytest.raises(InputError, match=r"must be redirected to https only, got http://example.org/b.bin"):
        _Redirects().redirect_request(request, io.BytesIO(), 302, "Found", {}, "http://example.org/b.bin")
    site.files["b.bin"] = BODY
    site.redirects["a.bin"] = f"{site.url}/b.bin"
    assert download(f"{site.url}/a.bin", tmp_path / "a.bin").read_bytes() == BODY


@pytest.mark.parametrize("wrong", [{"tag_of_parts": '"two"'}, {"content_range": "bytes 7-9/10"}, {"content_range": "bytes */9"}])
def test_a_part_of_another_file_is_not_put_behind_this_one(site, tmp_path, wrong):
    """The server answers 206, and sends something else than the rest: the next attempt begins anew."""
    site.files["a.bin"] = BODY
    site.cut_after = 400_000
    with pytest.raises(InputError, match="must be reachable"):
        download(f"{site.url}/a.bin", tmp_path / "a.bin", attempts=1)
    site.cut_after = None
    for name, value in wrong.items():
        setattr(site, name, value)
    assert download(f"{site.url}/a.bin", tmp_path / "a.bin").read_bytes() == BODY
    assert [asked for _, asked in site.asked] == [None, "bytes=400000-", None]


@pytest.mark.parametrize("length", ["many", "-5", "1e3", "9" * 30])
def test_a_wrong_length_is_a_sentence(site, tmp_path, length):
    site.files["a.bin"], site.length = BODY, length
    with pytest.raises(InputError, match=f"the Content-Length of http.* must be a number of bytes, got '{length}'"):
        download(f"{site.url}/a.bin", tmp_path / "a.bin", attempts=1)
