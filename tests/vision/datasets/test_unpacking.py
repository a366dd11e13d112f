"""Archives: inside the folder, whole or not at all."""

import bz2
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile

import pytest

from vistorch.vision.datasets import unpacking
from vistorch.vision.datasets.unpacking import Refused, unpack
from vistorch.vision.datasets.utils import download_and_extract_archive, extract_archive

FILES = {"top.txt": b"top", "d/a.bin": os.urandom(3000), "d/e/f.bin": b"", "d/e/ä b.bin": b"x" * 5000}


def tar_of(path, members, mode="w"):
    """A tar archive; a member is bytes, or what a TarInfo needs."""
    with tarfile.open(path, mode) as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
            else:
                for key, value in content.items():
                    setattr(member, key, value)
                tar.addfile(member)
    return path


def zip_of(path, members):
    """A zip archive; a member is bytes, or (bytes, external attributes)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            info = zipfile.ZipInfo("placeholder")
            info.filename = name  # the constructor would tidy it
            info.compress_type = zipfile.ZIP_DEFLATED
            if isinstance(content, tuple):
                content, info.external_attr = content
            packed.writestr(info, content)
    return path


def tree(folder):
    """All files under a folder."""
    return {
        str(path.relative_to(folder).as_posix()): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip"])
def test_whole(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    if ending == ".zip":
        zip_of(path, [("d/", b""), *FILES.items()])
    else:
        mode = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}[
            ending
        ]
        tar_of(
            path, [("./", {"type": tarfile.DIRTYPE}), ("d", {"type": tarfile.DIRTYPE}), *FILES.items()], mode
        )
    assert extract_archive(path, tmp_path / "out") == str(tmp_path / "out")
    assert tree(tmp_path / "out") == FILES
    assert extract_archive(path, tmp_path / "out", remove_finished=True) == str(tmp_path / "out")
    assert tree(tmp_path / "out") == FILES and not path.exists()


def test_files_there_are_replaced_and_others_stay(tmp_path):
    out = tmp_path / "out"
    (out / "d").mkdir(parents=True)
    (out / "top.txt").write_bytes(b"old")
    (out / "d" / "mine").write_bytes(b"mine")
    unpack(tar_of(tmp_path / "a.tar", FILES.items()), out)
    assert tree(out) == {**FILES, "d/mine": b"mine"}


@pytest.mark.parametrize(("ending", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_single_files(tmp_path, ending, module):
    path = tmp_path / f"train-labels-idx1-ubyte{ending}"
    path.write_bytes(module.compress(b"labels" * 1000))
    assert extract_archive(path) == str(tmp_path / "train-labels-idx1-ubyte")
    assert (tmp_path / "train-labels-idx1-ubyte").read_bytes() == b"labels" * 1000
    path.write_bytes(module.compress(b"labels" * 1000)[:-9])
    with pytest.raises(
        Refused, match=r"was not unpacked: it is broken \(.*\); delete it and download again$"
    ):
        extract_archive(path)
    assert (tmp_path / "train-labels-idx1-ubyte").read_bytes() == b"labels" * 1000
    assert sorted(os.listdir(tmp_path)) == ["train-labels-idx1-ubyte", path.name]


OUTSIDE = {
    "/evil": "has an absolute path",
    "C:/evil": "has an absolute path",
    "C:evil": "has an absolute path",
    "\\evil": "has an absolute path",
    "\\\\server\\evil": "has an absolute path",
    "../evil": "leads out of the folder",
    "d/../../evil": "leads out of the folder",
    "d/../evil": "leads out of the folder",
    "d\\..\\..\\evil": "leads out of the folder",
    "n" * 300: "has a name that no file can have",
    "/".join("d" * 150): "has a name that no file can have",
    ".": "has no name",
}


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_paths_that_leave(tmp_path, kind, name):
    make = tar_of if kind == "tar" else zip_of
    path = make(tmp_path / f"a.{kind}", [("good.txt", b"good"), (name, b"evil")])
    before = tree(tmp_path)
    with pytest.raises(Refused) as caught:
        unpack(path, tmp_path / "out")
    assert str(caught.value) == f"{path} was not unpacked: its member {name[:200]!r} {OUTSIDE[name]}"
    assert tree(tmp_path) == before and os.listdir(tmp_path / "out") == []


@pytest.mark.parametrize(
    "type", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE]
)
def test_tar_links_and_devices(tmp_path, type):
    path = tar_of(
        tmp_path / "a.tar",
        [("good", b"good"), ("d", {"type": type, "linkname": "/tmp"}), ("d/evil", b"evil")],
    )
    with pytest.raises(Refused, match=r"its member 'd' is a link, a device or another special file$"):
        unpack(path, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


@pytest.mark.parametrize("mode", [0o120777, 0o060666, 0o020666, 0o010666, 0o140666])
def test_zip_links_and_devices(tmp_path, mode):
    path = zip_of(tmp_path / "a.zip", [("good", b"good"), ("d", (b"/tmp", mode << 16))])
    with pytest.raises(Refused, match=r"its member 'd' is a link, a device or another special file$"):
        unpack(path, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_permissions_are_not_taken(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        member = tarfile.TarInfo("run")
        member.mode = 0o6777
        tar.addfile(member)
    unpack(tmp_path / "a.tar", tmp_path / "out")
    assert (tmp_path / "out" / "run").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize("members", [[("d", b"x"), ("d/a", b"y")], [("d/a", b"x"), ("d", b"y")]])
def test_a_file_that_is_a_folder_too(tmp_path, members):
    with pytest.raises(Refused, match="is both a file and a folder"):
        unpack(tar_of(tmp_path / "a.tar", members), tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_nothing_of_another_kind_is_replaced(tmp_path):
    out = tmp_path / "out"
    (out / "top.txt").mkdir(parents=True)
    (out / "top.txt" / "mine").write_bytes(b"mine")
    with pytest.raises(Refused, match="would replace"):
        unpack(tar_of(tmp_path / "a.tar", FILES.items()), out)
    assert tree(out) == {"top.txt/mine": b"mine"} and os.listdir(out) == ["top.txt"]


@pytest.mark.parametrize("ending", ["tar.gz", "zip", "gz"])
def test_bombs(tmp_path, ending, monkeypatch):
    path, bomb = tmp_path / f"a.{ending}", bytes(3_000_000)
    if ending == "gz":
        path.write_bytes(gzip.compress(bomb))
    elif ending == "zip":
        zip_of(path, [("a", bomb[:1_500_000]), ("b", bomb[:1_500_000])])
    else:
        tar_of(path, [("a", bomb[:1_500_000]), ("b", bomb[:1_500_000])], "w:gz")
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(unpacking, "FREE", 2_000_000)
    with pytest.raises(
        Refused, match=r"it grows to more than 2,\d\d\d,\d\d\d bytes; if that is right, pass most="
    ):
        unpack(path, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []
    unpack(path, tmp_path / "out", most=3_000_000)
    assert sum(map(len, tree(tmp_path / "out").values())) == 3_000_000


def test_a_header_without_end(tmp_path):
    """What describes a member would be read into memory whole."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 64 << 20
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(header.tobuf() + bytes(64 << 20), 1))
    with pytest.raises(Refused, match=r"it has a header of 67,108,864 bytes"):
        unpack(path, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_a_tar_with_the_wrong_ending(tmp_path):
    """What a file begins with says how it is compressed."""
    unpack(tar_of(tmp_path / "a.tar", FILES.items(), "w:xz"), tmp_path / "out")
    assert tree(tmp_path / "out") == FILES


def test_a_zip_that_lies_about_its_size(tmp_path):
    path = zip_of(tmp_path / "a.zip", [("a", bytes(100_000))])
    raw = path.read_bytes()
    lie = raw.replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert lie != raw
    path.write_bytes(lie)
    with pytest.raises(Refused, match="it is broken"):
        unpack(path, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_too_many_members(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_MEMBERS", 3)
    with pytest.raises(Refused, match="it has more than 3 members"):
        unpack(tar_of(tmp_path / "a.tar", FILES.items()), tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "zip"])
def test_broken(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    if ending == "zip":
        zip_of(path, FILES.items())
    else:
        tar_of(path, FILES.items(), "w:gz" if ending == "tar.gz" else "w")
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], whole[:100], b"", b"nothing like it" * 100):
        path.write_bytes(broken)
        with pytest.raises(Refused, match=r"was not unpacked: it is broken \("):
            unpack(path, tmp_path / "out")
        assert os.listdir(tmp_path / "out") == []


def test_encrypted_and_unknown(tmp_path):
    path = zip_of(tmp_path / "a.zip", [("a", b"secret")])
    raw = bytearray(path.read_bytes())
    raw[6] |= 1
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(Refused, match="its member 'a' is encrypted"):
        unpack(path, tmp_path)
    with pytest.raises(RuntimeError, match=r"'a\.rar' is no archive by its name; known endings are: \.bz2, "):
        unpack(tmp_path / "a.rar", tmp_path)


def test_download_and_extract(server, tmp_path):
    url = server.add("x/a.zip", zip_of(tmp_path / "a.zip", FILES.items()).read_bytes())
    download_and_extract_archive(url, tmp_path / "in", tmp_path / "out", remove_finished=True)
    assert tree(tmp_path / "out") == FILES and os.listdir(tmp_path / "in") == []


def test_a_member_without_a_name(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(zipfile.ZipInfo("x"), b"1")
    data = path.read_bytes().replace(b"x", b"")  # the name itself, in both headers
    data = bytearray(data)
    for magic, at in ((b"PK\3\4", 26), (b"PK\1\2", 28)):
        data[data.find(magic) + at] = 0
    end = data.find(b"PK\5\6")
    data[end + 12 : end + 20] = struct.pack("<II", 46, data.find(b"PK\1\2"))
    path.write_bytes(data)
    with pytest.raises(Refused, match="its member '' has no name"):
        unpack(path, tmp_path / "out")


def test_members_before_the_start_of_the_file(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("x", b"1")
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\5\6") + 16
    data[at : at + 4] = struct.pack("<I", struct.unpack_from("<I", data, at)[0] + 1000)
    path.write_bytes(data)
    with pytest.raises(Refused, match="it is broken"):
        unpack(path, tmp_path / "out")
