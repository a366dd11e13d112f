"""The archive itself: byte for byte what PyTorch writes, readable by any zip program, streamed."""

import io
import struct
import zipfile

import pytest

import vistorch
from vistorch.serialization import archive_in, archive_out

from .both import ours_read, sentence, theirs_read, torch, written


def objects(L):
    x = L.arange(6.0)
    return {
        "x": x,
        "part": x[2:],
        "empty": L.empty(0),
        "n": [1, 2.5, "text"],
        "b": L.ones(3, dtype=L.bfloat16),
    }


def without_id(data):
    """A file's bytes without the number that PyTorch calls serialization id, and its checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        info = next(i for i in z.infolist() if i.filename.endswith("serialization_id"))
        data = data.replace(z.read(info), b"id" * 20)
    return data.replace(struct.pack("<I", info.CRC), b"crc!")


def test_the_bytes_are_those_of_torch(tmp_path):
    assert without_id(written(vistorch.save, objects(vistorch))) == without_id(
        written(torch.save, objects(torch))
    )
    for L in (vistorch, torch):
        (tmp_path / L.__name__).mkdir()
        L.save(objects(L), tmp_path / L.__name__ / "model.v1.pt")
    ours, theirs = ((tmp_path / L.__name__ / "model.v1.pt").read_bytes() for L in (vistorch, torch))
    assert without_id(ours) == without_id(theirs) and b"model.v1/data.pkl" in ours


def test_other_programs_read_it():
    with zipfile.ZipFile(io.BytesIO(written(vistorch.save, objects(vistorch)))) as z:
        assert z.testzip() is None
        assert z.read("archive/version") == b"3\n" and z.read("archive/byteorder") == b"little"
        assert z.read("archive/.format_version") == b"1" and z.read("archive/.storage_alignment") == b"64"
        assert z.namelist()[:5] == [
            f"archive/{name}"
            for name in ("data.pkl", ".format_version", ".storage_alignment", "byteorder", "data/0")
        ]


def test_checksums_of_records_longer_than_a_chunk():
    data = written(vistorch.save, vistorch.arange(700_000))
    assert 700_000 * 8 > 2 * archive_out.CHUNK
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        assert z.testzip() is None
    with (
        vistorch.serialization.skip_data(),
        zipfile.ZipFile(io.BytesIO(written(vistorch.save, vistorch.arange(700_000)))) as z,
    ):
        assert z.testzip() is None


def test_torch_finds_the_records_by_their_lengths(tmp_path, monkeypatch):
    """Its fast way to map a file adds up what every record must take."""
    from torch.utils.serialization import config

    path = tmp_path / "x.pt"
    vistorch.save([vistorch.arange(10), vistorch.empty(0), vistorch.ones(3), vistorch.zeros(100)], path)
    monkeypatch.setenv("TORCH_SERIALIZATION_DEBUG", "1")
    with config.patch({"load.calculate_storage_offsets": True}):
        found = torch.load(path, mmap=True)
    assert [t.sum().item() for t in found] == [45, 0, 3, 0]


def test_every_record_begins_at_a_multiple_of_64():
    data = written(vistorch.save, objects(vistorch))
    reader = archive_in.ArchiveReader(io.BytesIO(data))
    assert len(reader.names()) == 9
    for name in reader.names():
        assert reader.place(name) % 64 == 0


def test_without_the_byte_order():
    data = written(vistorch.save, vistorch.arange(3), _disable_byteorder_record=True)
    assert b"byteorder" not in data and theirs_read(data).tolist() == ours_read(data).tolist() == [0, 1, 2]


def test_without_checksums():
    vistorch.serialization.set_crc32_options(False)
    try:
        data = written(vistorch.save, vistorch.arange(3))
    finally:
        vistorch.serialization.set_crc32_options(True)
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        assert {i.CRC for i in z.infolist()} == {0}
    assert theirs_read(data).tolist() == ours_read(data).tolist() == [0, 1, 2]


@pytest.mark.parametrize("large", [0, 100, 2000, 3000])
def test_sizes_and_offsets_of_64_bits(monkeypatch, large):
    """Files over 4 GiB have other fields; here everything over a few bytes has them."""
    monkeypatch.setattr(archive_out, "LARGE", large)
    pack = archive_out._CENTRAL.pack

    def central(*values):  # the marks that say "see the other fields" are all ones, whatever LARGE is
        return pack(*[0xFFFFFFFF if i in (8, 9, 16) and v == large else v for i, v in enumerate(values)])

    class Central:
        pack = staticmethod(central)

    monkeypatch.setattr(archive_out, "_CENTRAL", Central)
    value = {"x": vistorch.arange(1000.0), "y": vistorch.ones(3)}
    data = written(vistorch.save, value)
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        assert z.testzip() is None
    reader = archive_in.ArchiveReader(io.BytesIO(data))
    end = reader.place("data/0") + 4000
    form = "<4xI2Q" if large < 4000 else "<4x3I"
    assert data[end : end + 4] == b"PK\7\10" and struct.unpack_from(form, data, end)[1:] == (4000, 4000)
    for loaded in (ours_read(data), theirs_read(data)):
        assert loaded["x"].tolist() == list(range(1000)) and loaded["y"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "name", [".pt", "a.", "..x", "a b.pt", "x.tar.gz", "noext", ".hidden.pt", "Ünï.pt", "UPPER.PT"]
)
def test_the_folder_is_named_after_the_file(name, tmp_path):
    found = []
    for L in (vistorch, torch):
        path = tmp_path / name
        try:
            L.save(1, str(path))
            with zipfile.ZipFile(path) as z:
                found.append(z.namelist()[0])
        except RuntimeError as error:
            found.append("invalid file name" in str(error))
    assert found[0] == found[1]


class Pieces(io.RawIOBase):
    """A file that takes seven bytes at a time."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, part):
        self.data += bytes(part[:7])
        return min(len(part), 7)


def test_files_that_take_pieces_and_cannot_seek():
    file = Pieces()
    vistorch.save(vistorch.arange(100), file)
    assert theirs_read(bytes(file.data)).tolist() == list(range(100))


def test_the_elements_are_never_held_twice(tmp_path):
    import tracemalloc

    x = vistorch.zeros(5_000_000)  # 20 MB
    tracemalloc.start()
    try:
        vistorch.save({"x": x, "y": x[1:]}, tmp_path / "x.pt")
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
        tracemalloc.reset_peak()
        loaded = vistorch.load(tmp_path / "x.pt")
        assert tracemalloc.get_traced_memory()[1] < 22_000_000
        tracemalloc.reset_peak()
        del loaded
        before = tracemalloc.get_traced_memory()[0]
        mapped = vistorch.load(tmp_path / "x.pt", mmap=True)
        assert tracemalloc.get_traced_memory()[0] - before < 1_000_000 and mapped["y"].shape == (4_999_999,)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("f", [1, None, object()])
def test_what_is_no_file(f):
    assert sentence(lambda: vistorch.save(1, f)) == sentence(lambda: torch.save(1, f))
    assert sentence(lambda: vistorch.load(f)) == sentence(lambda: torch.load(f))


def test_paths_that_lead_nowhere(tmp_path):
    def both(call):
        assert sentence(lambda: call(vistorch)) == sentence(lambda: call(torch))

    both(lambda L: L.save(1, tmp_path / "no" / "x.pt"))
    both(lambda L: L.load(tmp_path / "x.pt"))


def test_a_write_that_is_no_function():
    class Odd:
        write = 3

    assert sentence(lambda: vistorch.save(1, Odd()))[0] == "TypeError"
    with pytest.raises(TypeError, match="has no callable attribute 'write'"):
        vistorch.save(1, Odd())


def test_a_text_file_is_refused(tmp_path):
    (tmp_path / "x.pt").write_bytes(written(vistorch.save, 1))
    with open(tmp_path / "x.pt", encoding="latin1") as file, pytest.raises(TypeError, match="binary mode"):
        vistorch.load(file)
