"""Downloads: whole or not at all, going on where they were cut."""

import hashlib
import os
import sys
import threading

import pytest

from vistorch.vision.datasets import fetching
from vistorch.vision.datasets.checksums import check_integrity, check_md5, fault_of, kind_of
from vistorch.vision.datasets.utils import calculate_md5, download_url

CONTENT = hashlib.sha256(b"x").digest() * 40_000  # 1.28 MB: more than one piece


def md5(content):
    return hashlib.md5(content).hexdigest()


@pytest.mark.parametrize("kind", ["md5", "sha1", "sha256", None])
@pytest.mark.parametrize("says_length", [True, False])
def test_whole(server, tmp_path, kind, says_length):
    server.says_length = says_length
    url, path = server.add("a/b.bin", CONTENT), tmp_path / "new" / "b.bin"
    checksum = kind and hashlib.new(kind, CONTENT).hexdigest()
    fetching.fetch(url, str(path), checksum)
    assert path.read_bytes() == CONTENT and os.listdir(path.parent) == ["b.bin"]
    fetching.fetch(url, str(path), checksum)
    assert len(server.asked) == 1, "a file that is there is not asked for again"


def test_goes_on_after_cuts(server, tmp_path):
    server.cuts = [500_000, 0, 0, 300_000, 100]
    path = tmp_path / "b.bin"
    fetching.fetch(server.add("b.bin", CONTENT), str(path), md5(CONTENT))
    assert path.read_bytes() == CONTENT and os.listdir(tmp_path) == ["b.bin"]
    spans = [span for _, span in server.asked]
    assert spans == [None, *["bytes=500000-"] * 3, "bytes=800000-", "bytes=800100-"]


def test_gives_up_and_goes_on_later(server, tmp_path):
    server.cuts = [700_000, 0, 0, 0, 0]
    url, path = server.add("b.bin", CONTENT), tmp_path / "b.bin"
    with pytest.raises(fetching.Unreachable) as caught:
        fetching.fetch(url, str(path), md5(CONTENT))
    assert str(caught.value) == (
        f"Could not download {url} (tried 5 times: the connection ended after 700,000 of 1,280,000 bytes); without a "
        f"network, get the file elsewhere and put it at {path}"
    )
    assert os.listdir(tmp_path) == ["b.bin.part"] and not path.exists()
    fetching.fetch(url, str(path), md5(CONTENT))
    assert path.read_bytes() == CONTENT and server.asked[-1][1] == "bytes=700000-"


def test_all_that_is_missing_is_the_name(server, tmp_path):
    path = tmp_path / "b.bin"
    (tmp_path / "b.bin.part").write_bytes(CONTENT)
    fetching.fetch(server.add("b.bin", CONTENT), str(path), md5(CONTENT))
    assert path.read_bytes() == CONTENT and os.listdir(tmp_path) == ["b.bin"]


@pytest.mark.parametrize("rest", [b"z" * 1000, b"z" * 2_000_000])
def test_the_half_of_another_file(server, tmp_path, rest):
    path = tmp_path / "b.bin"
    (tmp_path / "b.bin.part").write_bytes(rest)
    fetching.fetch(server.add("b.bin", CONTENT), str(path), md5(CONTENT))
    assert path.read_bytes() == CONTENT and os.listdir(tmp_path) == ["b.bin"]


def test_without_a_checksum_no_old_half_is_used(server, tmp_path):
    path = tmp_path / "b.bin"
    (tmp_path / "b.bin.part").write_bytes(b"z" * 1000)
    fetching.fetch(server.add("b.bin", CONTENT), str(path))
    assert path.read_bytes() == CONTENT and server.asked == [("/b.bin", None)]


def test_a_server_without_ranges(server, tmp_path):
    server.ranges, server.cuts = False, [600_000]
    path = tmp_path / "b.bin"
    fetching.fetch(server.add("b.bin", CONTENT), str(path), md5(CONTENT))
    assert path.read_bytes() == CONTENT


def test_a_file_that_changes_between_two_tries(server, tmp_path, monkeypatch):
    """If-Range asks for the rest of the same file only."""
    server.cuts = [600_000]
    url, path = server.add("b.bin", CONTENT), tmp_path / "b.bin"
    other = CONTENT[::-1]
    monkeypatch.setattr(fetching.time, "sleep", lambda seconds: server.add("b.bin", other))
    fetching.fetch(url, str(path))
    assert path.read_bytes() == other


@pytest.mark.parametrize("old", [None, b"what was there"])
def test_a_wrong_checksum(server, tmp_path, old):
    url, path = server.add("b.bin", CONTENT), tmp_path / "b.bin"
    if old:
        path.write_bytes(old)
    with pytest.raises(fetching.Broken) as caught:
        fetching.fetch(url, str(path), "0" * 32)
    assert str(caught.value) == (
        f"What {url} gave is not the expected file: {path}.part (1,280,000 bytes) is broken: its md5 is {md5(CONTENT)}"
        f", expected {'0' * 32}; nothing was kept"
    )
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == (
        {"b.bin": old} if old else {}
    )


def test_a_broken_file_is_replaced(server, tmp_path):
    path = tmp_path / "b.bin"
    path.write_bytes(CONTENT[:-1])
    fetching.fetch(server.add("b.bin", CONTENT), str(path), md5(CONTENT))
    assert path.read_bytes() == CONTENT


def test_answers_that_pass_and_answers_that_stay(server, tmp_path):
    url, path = server.add("b.bin", CONTENT), str(tmp_path / "b.bin")
    server.errors = [503, 429]
    fetching.fetch(url, path)
    assert len(server.asked) == 3
    with pytest.raises(fetching.Unreachable, match=r"none \(tried once: the server answers 404 Not Found\)"):
        fetching.fetch(f"{server.address}/none", str(tmp_path / "none"))
    server.errors = [403] * 9
    with pytest.raises(fetching.Unreachable, match="tried once: the server answers 403 Forbidden"):
        fetching.fetch(url, str(tmp_path / "c"))
    assert len(server.asked) == 5 and os.listdir(tmp_path) == ["b.bin"]


def test_no_network(server, tmp_path, monkeypatch):
    def no_name(*args, **kwargs):
        raise OSError(-3, "Temporary failure in name resolution")

    monkeypatch.setattr("socket.create_connection", no_name)
    url, path = "https://pictures.example/b.bin", tmp_path / "b.bin"
    with pytest.raises(fetching.Unreachable) as caught:
        download_url(url, tmp_path)
    assert str(caught.value) == (
        f"Could not download {url} (tried 4 times: [Errno -3] Temporary failure in name resolution); without a network"
        f", get the file elsewhere and put it at {path}"
    )
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_not_the_network(server, tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetching, "_begin", full)
    with pytest.raises(OSError, match="No space left") as caught:
        fetching.fetch(server.add("b.bin", CONTENT), str(tmp_path / "b.bin"))
    assert type(caught.value) is OSError and len(server.asked) == 1


@pytest.mark.parametrize(
    "url", ["http://pictures.example/a", "ftp://pictures.example/a", "file:" + "///etc/passwd", "/a"]
)
def test_addresses_that_anybody_could_change(server, tmp_path, url):
    for address in (url, f"{server.address}/away"):
        server.redirects["/away"] = url
        with pytest.raises((ValueError, fetching.Unreachable)) as caught:
            fetching.fetch(address, str(tmp_path / "a"))
        if url == "/a" and address != url:
            assert "tried once: the server answers 404 Not Found" in str(caught.value)
        elif url.startswith("file:") and address != url:  # refused by urllib before anybody asks here
            assert f"Redirection to url '{url}' is not allowed" in str(caught.value)
        else:
            assert str(caught.value) == f"Only https addresses are downloaded from, not {url!r}"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("says_length", [True, False])
def test_too_large(server, tmp_path, says_length):
    server.says_length = says_length
    url = server.add("b.bin", CONTENT)
    with pytest.raises(
        fetching.Broken, match=r"is larger than the 1,000,000 bytes allowed; nothing was kept"
    ):
        fetching.fetch(url, str(tmp_path / "b.bin"), most=1_000_000)
    assert os.listdir(tmp_path) == []
    fetching.fetch(url, str(tmp_path / "b.bin"), most=len(CONTENT))


def test_many_at_once(server, tmp_path):
    url, path, failures = server.add("b.bin", CONTENT), tmp_path / "b.bin", []

    def load():
        try:
            fetching.fetch(url, str(path), md5(CONTENT))
            assert path.read_bytes() == CONTENT
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=load) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and os.listdir(tmp_path) == ["b.bin"]
    assert len(server.asked) == 1, "the others wait for the first"


def test_the_bar(server, tmp_path, capsys, monkeypatch):
    url = server.add("b.bin", CONTENT)
    fetching.fetch(url, str(tmp_path / "b.bin"))
    assert "b.bin: 100%" in capsys.readouterr().err
    fetching.fetch(url, str(tmp_path / "c.bin"), progress=False)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    fetching.fetch(url, str(tmp_path / "d.bin"))
    captured = capsys.readouterr()
    assert captured.err == captured.out == "" and (tmp_path / "d.bin").read_bytes() == CONTENT


def test_download_url_names(server, tmp_path):
    url = server.add("a/b.bin", CONTENT)
    download_url(url, tmp_path / "x")
    download_url(url, str(tmp_path), "c.bin", md5(CONTENT))
    assert (tmp_path / "x" / "b.bin").read_bytes() == (tmp_path / "c.bin").read_bytes() == CONTENT
    with pytest.raises(ValueError, match="names no file: pass filename="):
        download_url(server.address + "/", tmp_path)


def test_checksums(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(CONTENT)
    assert calculate_md5(path) == md5(CONTENT)
    assert check_md5(path, md5(CONTENT).upper()) and not check_md5(path, "0" * 32)
    assert (
        check_integrity(path) and check_integrity(path, md5(CONTENT)) and not check_integrity(path, "0" * 64)
    )
    assert not check_integrity(tmp_path) and not check_integrity(tmp_path / "none", md5(CONTENT))
    assert (
        fault_of(path, None) is None
        and fault_of(tmp_path / "b", None) == f"there is no file {tmp_path / 'b'}"
    )
    with pytest.raises(ValueError, match="is not an md5"):
        kind_of("12")
