"""Pictures in files."""

import numpy as np
import pytest

import vistorch
from vistorch.vision import io
from vistorch.vision.io import (
    ImageReadMode,
    decode_image,
    encode_jpeg,
    encode_png,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)


def picture(channels=3, seed=0):
    return vistorch.from_numpy(np.random.default_rng(seed).integers(0, 256, (channels, 9, 13), np.uint8))


@pytest.mark.parametrize("channels", [1, 3])
def test_png_there_and_back(tmp_path, channels):
    image = picture(channels)
    write_png(image, tmp_path / "a.png", compression_level=9)
    for found in (
        read_image(tmp_path / "a.png"),
        decode_image(read_file(tmp_path / "a.png")),
        decode_image(str(tmp_path / "a.png")),
        decode_image(encode_png(image)),
    ):
        assert found.dtype is vistorch.uint8
        np.testing.assert_array_equal(found.numpy(), image.numpy())
    np.testing.assert_array_equal(encode_png(image, 9).numpy(), read_file(tmp_path / "a.png").numpy())


def test_a_slice_and_a_transposed_picture(tmp_path):
    image = picture().transpose(1, 2)[:, ::2]
    write_png(image, str(tmp_path / "a.png"))
    np.testing.assert_array_equal(read_image(str(tmp_path / "a.png")).numpy(), image.numpy())


def test_jpeg(tmp_path):
    smooth = (vistorch.arange(64).reshape(8, 8) * 3).to(vistorch.uint8).expand(3, 8, 8)
    write_jpeg(smooth, tmp_path / "a.jpg", quality=95)
    found = read_image(tmp_path / "a.jpg")
    assert found.shape == (3, 8, 8) and (found.int() - smooth.int()).abs().max() < 8
    assert len(encode_jpeg(picture(), 10)) < len(encode_jpeg(picture())) < len(encode_jpeg(picture(), 100))
    assert bytes(encode_jpeg(smooth).tolist()[:3]) == b"\xff\xd8\xff"


def test_modes(tmp_path):
    from PIL import Image

    def saved(mode, value, **options):
        Image.new(mode, (4, 3), value).save(tmp_path / "a.png", **options)
        return tmp_path / "a.png"

    assert read_image(saved("RGBA", (1, 2, 3, 4))).shape == (4, 3, 4)
    assert read_image(saved("LA", (1, 2))).shape == (2, 3, 4)
    assert read_image(saved("1", 1))[0, 0, 0] == 255
    assert read_image(saved("P", 0)).shape == (3, 3, 4)
    assert read_image(saved("P", 0, transparency=0)).shape == (4, 3, 4)
    path = saved("RGB", (10, 20, 30))
    for mode, channels in (
        (ImageReadMode.GRAY, 1),
        ("gray_alpha", 2),
        ("RGB", 3),
        (ImageReadMode.RGB_ALPHA, 4),
    ):
        assert read_image(path, mode).shape == (channels, 3, 4)
    assert read_image(path, ImageReadMode.GRAY)[0, 0, 0].item() == 18
    assert ImageReadMode.UNCHANGED.value == 0 and ImageReadMode.RGB_ALPHA.value == 4


def test_the_way_the_camera_was_held(tmp_path):
    from PIL import Image

    image = Image.new("RGB", (4, 2))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "a.jpg", exif=exif)
    assert read_image(tmp_path / "a.jpg").shape == (3, 2, 4)
    assert read_image(tmp_path / "a.jpg", apply_exif_orientation=True).shape == (3, 4, 2)


def test_refusals(tmp_path):
    for act, error, sentence in [
        (
            lambda: write_png(picture().float(), tmp_path / "a"),
            RuntimeError,
            "dtype should be uint8, got vistorch.float32",
        ),
        (
            lambda: encode_jpeg(picture()[0]),
            RuntimeError,
            r"should be \(1 or 3 channels, height, width\), got \(9, 13\)",
        ),
        (lambda: encode_png(picture(2)), RuntimeError, r"got \(2, 9, 13\)"),
        (lambda: encode_png(picture(), 10), RuntimeError, "Compression level should be between 0 and 9"),
        (
            lambda: encode_jpeg(picture(), 0),
            ValueError,
            "Image quality should be a positive number between 1 and 100",
        ),
        (lambda: write_file(tmp_path / "a", picture()), ValueError, "one-dimensional tensor of uint8"),
        (lambda: decode_image(picture()), ValueError, "one-dimensional tensor of uint8"),
        (
            lambda: decode_image(vistorch.zeros(9, dtype=vistorch.uint8)),
            RuntimeError,
            "no picture format in what was given",
        ),
        (lambda: read_image(tmp_path / "none.png"), FileNotFoundError, "none.png"),
    ]:
        with pytest.raises(error, match=sentence):
            act()
    assert not (tmp_path / "a").exists()
    (tmp_path / "t.png").write_text("text")
    with pytest.raises(RuntimeError, match=rf"^Pillow knows no picture format in {tmp_path / 't.png'}$"):
        read_image(tmp_path / "t.png")


@pytest.mark.parametrize("read", ["read_image", "decode_image", "pil_loader"])
def test_damaged_pictures_are_one_error(tmp_path, read, monkeypatch):
    from PIL import Image

    from vistorch.vision.datasets.folder import pil_loader

    path = tmp_path / "t.png"

    def reading():
        if read == "decode_image":
            data = vistorch.from_numpy(np.frombuffer(path.read_bytes(), np.uint8).copy())
            return io.decode_image(data)
        return io.read_image(path) if read == "read_image" else pil_loader(path)

    noise = np.random.default_rng(0).integers(0, 256, (3, 20, 20), np.uint8)
    for write in (io.write_png, io.write_jpeg):
        write(vistorch.from_numpy(noise), path)
        whole = path.read_bytes()
        for at in range(4, len(whole), 7):
            for data in (whole[:at], whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]):
                path.write_bytes(data)
                try:
                    reading()
                except RuntimeError as error:
                    assert str(error)
    path.write_bytes(whole)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 399)
    with pytest.raises(RuntimeError, match=r"400 pixels"):
        reading()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(RuntimeError, match="exceeds limit of 200 pixels"):
        reading()
    with pytest.raises(FileNotFoundError):
        io.read_image(tmp_path / "no.png")


def test_no_program_is_run_for_a_picture(tmp_path, monkeypatch):
    import subprocess

    ran = []
    for name in ("check_call", "call", "run", "Popen"):
        monkeypatch.setattr(subprocess, name, lambda *args, **kwargs: ran.append(args))
    path = tmp_path / "x.png"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n")
    with pytest.raises(RuntimeError, match="Pillow knows no picture format"):
        io.read_image(path)
    assert not ran
