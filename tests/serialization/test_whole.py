"""Every file that is written appears whole or not at all: stopped, killed, or out of space in the middle."""

import errno
import io
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

import vistorch
from vistorch.serialization.atomic import replacing, whole

from . import writers

LOOKS = 10
posix = pytest.mark.skipif(os.name != "posix", reason="signals")


def child(folder, *more):
    command = [sys.executable, "-m", "tests.serialization.writers", str(folder), *map(str, more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@posix
def test_a_process_that_is_stopped_and_killed_while_it_writes(tmp_path):
    with child(tmp_path) as process:
        try:
            assert process.stdout.readline() == "0\n"
            for look in range(LOOKS):
                time.sleep(0.013 * (1 + look % 5))
                process.send_signal(signal.SIGSTOP)
                writers.check(tmp_path)
                process.send_signal(signal.SIGCONT)
        finally:
            process.kill()
    assert writers.check(tmp_path) == set(writers.WRITERS)


@posix
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path):
    for name, (write, _) in writers.WRITERS.items():
        write(str(tmp_path / name))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    with child(tmp_path, 100_000) as process:
        said = process.stdout.read()
    assert said.splitlines() == [f"{name} {errno.EFBIG}" for name in writers.WRITERS]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    writers.check(tmp_path)


@pytest.mark.parametrize("name", [name for name in writers.WRITERS if name != "events"])
def test_permissions_and_links_stay(tmp_path, name):
    write, read = writers.WRITERS[name]
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / name, tmp_path / name
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    write(str(link))
    assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    read(str(real))
    assert os.listdir(real.parent) == [name]


@pytest.mark.parametrize("name", ["a.vtr", "a.vtw", "grid.png"])
def test_a_file_object_gets_all_or_nothing(name, monkeypatch):
    write, read = writers.WRITERS[name]
    file = io.BytesIO()
    if name == "grid.png":
        file.name = name
    write(file)
    file.seek(0)
    (
        read
        if name != "grid.png"
        else lambda f: vistorch.vision.io.decode_image(vistorch.tensor(list(f.read()), dtype=vistorch.uint8))
    )(file)
    sink = io.BytesIO()
    with pytest.raises(KeyboardInterrupt), whole(sink) as held:
        held.write(b"half")
        raise KeyboardInterrupt
    assert not sink.getvalue()


def test_an_unbuffered_file_gets_all(tmp_path):
    class Sips(io.RawIOBase):
        got = b""

        def writable(self):
            return True

        def write(self, part):
            self.got += bytes(part[:7])
            return min(7, len(part))

    sips = Sips()
    with whole(sips) as held:
        held.write(bytes(range(100)))
    assert sips.got == bytes(range(100))


def test_a_folder_that_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"), replacing(str(tmp_path / "no" / "x")):
        pass


def test_a_new_file_takes_no_place(tmp_path, monkeypatch):
    path = tmp_path / "x"
    with replacing(str(path), new=True) as file:
        file.write(b"1")
    with pytest.raises(FileExistsError), replacing(str(path), new=True) as file:
        raise AssertionError("it was opened")
    later = tmp_path / "y"
    with pytest.raises(FileExistsError), replacing(str(later), new=True) as file:
        later.write_bytes(b"other")
        file.write(b"2")
    assert (path.read_bytes(), later.read_bytes(), sorted(os.listdir(tmp_path))) == (
        b"1",
        b"other",
        ["x", "y"],
    )
