"""Saving to a path: the old file or the new one, never half of one, and nothing beside it."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
from contextlib import suppress

import pytest

import vistorch
from vistorch.serialization import archive_out, atomic


@pytest.fixture
def old(tmp_path):
    """A file that is there already."""
    path = tmp_path / "x.pt"
    vistorch.save("old", path)
    return path


def only(path):
    """What the file holds, if it is alone in its folder."""
    assert os.listdir(path.parent) == [path.name]
    return vistorch.load(path)


@pytest.fixture(params=["nameless", "named"])
def way(request, monkeypatch):
    """Both ways of writing beside a file: without a name, where the system can, and with one."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_nameless", lambda folder: None)


def test_a_new_file_takes_the_place(old, way):
    vistorch.save("new", old)
    assert only(old) == "new"


def test_what_cannot_be_pickled(old, way):
    with pytest.raises(Exception, match=r"pickle"):
        vistorch.save(lambda: None, old)
    assert only(old) == "old"


def test_a_write_that_fails(old, way, monkeypatch):
    put, count = archive_out.ArchiveWriter._put, [0]

    def failing(self, part):
        count[0] += 1
        if count[0] > 5:
            raise OSError(28, "No space left on device")
        put(self, part)

    monkeypatch.setattr(archive_out.ArchiveWriter, "_put", failing)
    with pytest.raises(OSError, match="No space left"):
        vistorch.save(vistorch.ones(3), old)
    assert only(old) == "old"


@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_an_end_that_fails(old, way, monkeypatch, name):
    def failing(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(os, name, failing)
        with pytest.raises(KeyboardInterrupt):
            vistorch.save("new", old)
    assert only(old) == "old"


def test_the_new_file_is_on_the_disk_before_it_takes_the_place(old, way, monkeypatch):
    order = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append("fsync"), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("replace"), replace(a, b)))
    vistorch.save("new", old)
    assert order[:2] == ["fsync", "replace"]


def test_a_system_that_names_no_nameless_files(old, monkeypatch):
    def failing(*args, **kwargs):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", failing)
    vistorch.save(vistorch.arange(1000), old)
    assert only(old).tolist() == list(range(1000))


@pytest.mark.skipif(sys.platform != "linux", reason="the nameless file is Linux's")
def test_a_killed_process_leaves_the_old_file_and_nothing_else(old):
    program = f"""
        import os, signal, vistorch
        from vistorch.serialization import archive_out
        put, count = archive_out.ArchiveWriter._put, 0
        def dying(self, part):
            global count
            count += 1
            if count > 30:
                os.kill(os.getpid(), signal.SIGKILL)
            put(self, part)
        archive_out.ArchiveWriter._put = dying
        vistorch.save(vistorch.zeros(10_000_000), {str(old)!r})
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env={**os.environ, "PYTHONPATH": os.getcwd()}
    )
    assert done.returncode == -signal.SIGKILL
    assert vistorch.load(old) == "old"
    if atomic._nameless(str(old.parent)) is not None:
        assert only(old) == "old"


def test_permissions_stay(old, way):
    os.chmod(old, 0o640)
    vistorch.save("new", old)
    assert stat.S_IMODE(os.stat(old).st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any(tmp_path, way):
    (tmp_path / "any").write_bytes(b"")
    vistorch.save("new", tmp_path / "x.pt")
    assert os.stat(tmp_path / "x.pt").st_mode == os.stat(tmp_path / "any").st_mode


def test_a_link_stays_a_link(old, way, tmp_path):
    link = tmp_path / "sub" / "link.pt"
    link.parent.mkdir()
    link.symlink_to(old)
    vistorch.save("new", link)
    assert link.is_symlink() and vistorch.load(old) == "new" and os.listdir(link.parent) == ["link.pt"]


def test_a_relative_path(tmp_path, monkeypatch, way):
    monkeypatch.chdir(tmp_path)
    vistorch.save("new", "x.pt")
    assert only(tmp_path / "x.pt") == "new"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(OSError, match="Is a directory"):
        vistorch.save(1, tmp_path)


def test_a_pipe_is_written_directly(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        vistorch.save(vistorch.arange(4), tmp_path / "pipe")
        (tmp_path / "x.pt").write_bytes(os.read(reader, 1 << 16))
    finally:
        os.close(reader)
    assert vistorch.load(tmp_path / "x.pt").tolist() == [0, 1, 2, 3]
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_file_object_is_left_open_and_written_in_place(tmp_path):
    with open(tmp_path / "x.pt", "w+b") as file:
        vistorch.save([1, 2], file)
        assert not file.closed
        file.seek(0)
        assert vistorch.load(file) == [1, 2]


def test_a_failed_save_writes_nothing_to_a_file_object():
    import io

    file = io.BytesIO()
    with suppress(Exception):
        vistorch.save([vistorch.ones(3), lambda: None], file)
    assert file.getvalue() == b""
