"""Pictures in files: read into tensors of bytes, written from them.

Invariant: a tensor is (channels, height, width) uint8; Pillow is imported when a picture is read or written.
"""

from __future__ import annotations

import io as streams
import os
from enum import Enum
from typing import Any

import numpy as np

import vistorch

from ..serialization.atomic import replacing
from .pictures import opened_picture

__all__ = [
    "ImageReadMode",
    "decode_image",
    "encode_jpeg",
    "encode_png",
    "read_file",
    "read_image",
    "write_file",
    "write_jpeg",
    "write_png",
]


class ImageReadMode(Enum):
    """Into which channels a picture is read.

    Example:
        >>> import vistorch
        >>> from vistorch.vision.io import ImageReadMode, decode_image, encode_png
        >>> file = encode_png(vistorch.zeros(3, 2, 4, dtype=vistorch.uint8))
        >>> decode_image(file, ImageReadMode.GRAY).shape
        vistorch.Size([1, 2, 4])
    """

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4


_CHANNELS = {
    ImageReadMode.GRAY: "L",
    ImageReadMode.GRAY_ALPHA: "LA",
    ImageReadMode.RGB: "RGB",
    ImageReadMode.RGB_ALPHA: "RGBA",
}


def _decoded(file: Any, mode: ImageReadMode | str, apply_exif_orientation: bool) -> vistorch.Tensor:
    """The picture in an open file."""
    from PIL import ImageOps

    if isinstance(mode, str):
        mode = ImageReadMode[mode.upper()]
    with opened_picture(file) as image:
        if apply_exif_orientation:
            image = ImageOps.exif_transpose(image)
        wanted = _CHANNELS.get(mode)
        if wanted is None and image.mode not in ("L", "LA", "RGB", "RGBA"):
            wanted = {"1": "L", "PA": "RGBA"}.get(image.mode, "RGB")
            if "transparency" in image.info:
                wanted = "RGBA"
        array = np.array(image if wanted in (None, image.mode) else image.convert(wanted))
    array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
    return vistorch.from_numpy(np.ascontiguousarray(array))


def read_image(
    path: str | os.PathLike,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> vistorch.Tensor:
    """Read a picture file into a tensor (channels, height, width) of uint8.

    Args:
        path: a PNG, a JPEG or another file that Pillow reads.
        mode: which channels to make of it.
        apply_exif_orientation: turn it the way the camera was held.

    Raises:
        RuntimeError: the file is damaged, none of Pillow's formats, or larger than Pillow's `MAX_IMAGE_PIXELS`.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.vision import io
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "one.png")
        ...     io.write_png(vistorch.full((1, 1, 2), 7, dtype=vistorch.uint8), path)
        ...     io.read_image(path)
        tensor([[[7, 7]]], dtype=vistorch.uint8)
    """
    with open(path, "rb") as file:
        return _decoded(file, mode, apply_exif_orientation)


def decode_image(
    input: vistorch.Tensor | str | os.PathLike,
    mode: ImageReadMode | str = ImageReadMode.UNCHANGED,
    apply_exif_orientation: bool = False,
) -> vistorch.Tensor:
    """Make a picture of the bytes of its file, or of the file itself.

    Args:
        input: a one-dimensional tensor of uint8, or a path.
        mode: which channels to make of it.
        apply_exif_orientation: turn it the way the camera was held.

    Raises:
        RuntimeError: as `read_image`.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import io
        >>> io.decode_image(io.encode_png(vistorch.full((1, 1, 2), 7, dtype=vistorch.uint8)))
        tensor([[[7, 7]]], dtype=vistorch.uint8)
    """
    if isinstance(input, (str, os.PathLike)):
        return read_image(input, mode, apply_exif_orientation)
    if input.dtype is not vistorch.uint8 or input.dim() != 1:
        raise ValueError(f"Expected a one-dimensional tensor of uint8, got {input.dim()} of {input.dtype}")
    return _decoded(streams.BytesIO(input.cpu().numpy().tobytes()), mode, apply_exif_orientation)


def read_file(path: str | os.PathLike) -> vistorch.Tensor:
    """The bytes of a file, as a tensor of uint8.

    Args:
        path: the file.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.vision import io
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "two.bytes")
        ...     io.write_file(path, vistorch.tensor([1, 2], dtype=vistorch.uint8))
        ...     io.read_file(path)
        tensor([1, 2], dtype=vistorch.uint8)
    """
    with open(path, "rb") as file:
        return vistorch.from_numpy(np.frombuffer(file.read(), np.uint8).copy())


def write_file(filename: str | os.PathLike, data: vistorch.Tensor) -> None:
    """Write a tensor of uint8 into a file, byte by byte.

    Args:
        filename: the file.
        data: a one-dimensional tensor of uint8.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.vision import io
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "two.bytes")
        ...     io.write_file(path, vistorch.tensor([1, 2], dtype=vistorch.uint8))
        ...     os.path.getsize(path)
        2
    """
    if data.dtype is not vistorch.uint8 or data.dim() != 1:
        raise ValueError(f"Expected a one-dimensional tensor of uint8, got {data.dim()} of {data.dtype}")
    with replacing(os.fspath(filename)) as file:
        file.write(data.cpu().numpy().tobytes())


def _encoded(input: vistorch.Tensor, format: str, **options: Any) -> vistorch.Tensor:
    """The bytes of a picture's file."""
    from PIL import Image

    if input.dtype is not vistorch.uint8:
        raise RuntimeError(f"Input tensor dtype should be uint8, got {input.dtype}")
    if input.dim() != 3 or input.size(0) not in (1, 3):
        raise RuntimeError(
            f"The picture should be (1 or 3 channels, height, width), got {tuple(input.shape)}"
        )
    array = input.detach().cpu().numpy()
    array = array[0] if array.shape[0] == 1 else array.transpose(1, 2, 0)
    stream = streams.BytesIO()
    Image.fromarray(np.ascontiguousarray(array)).save(stream, format=format, **options)
    return vistorch.from_numpy(np.frombuffer(stream.getvalue(), np.uint8).copy())


def encode_png(input: vistorch.Tensor, compression_level: int = 6) -> vistorch.Tensor:
    """The bytes of a PNG file of a picture.

    Args:
        input: (1 or 3, height, width), uint8.
        compression_level: from 0 (large, fast) to 9.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import io
        >>> bytes(io.encode_png(vistorch.zeros(3, 2, 4, dtype=vistorch.uint8))[1:4].tolist())
        b'PNG'
    """
    if not 0 <= compression_level <= 9:
        raise RuntimeError("Compression level should be between 0 and 9")
    return _encoded(input, "PNG", compress_level=compression_level)


def write_png(input: vistorch.Tensor, filename: str | os.PathLike, compression_level: int = 6) -> None:
    """Write a picture into a PNG file.

    Args:
        input: (1 or 3, height, width), uint8.
        filename: the file.
        compression_level: from 0 (large, fast) to 9.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.vision import io
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     io.write_png(vistorch.zeros(3, 2, 4, dtype=vistorch.uint8), os.path.join(folder, "one.png"))
        ...     os.listdir(folder)
        ['one.png']
    """
    write_file(filename, encode_png(input, compression_level))


def encode_jpeg(input: vistorch.Tensor, quality: int = 75) -> vistorch.Tensor:
    """The bytes of a JPEG file of a picture.

    Args:
        input: (1 or 3, height, width), uint8.
        quality: from 1 to 100.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import io
        >>> file = io.encode_jpeg(vistorch.zeros(3, 16, 16, dtype=vistorch.uint8), quality=90)
        >>> io.decode_image(file).shape
        vistorch.Size([3, 16, 16])
    """
    if not 1 <= quality <= 100:
        raise ValueError("Image quality should be a positive number between 1 and 100")
    return _encoded(input, "JPEG", quality=quality)


def write_jpeg(input: vistorch.Tensor, filename: str | os.PathLike, quality: int = 75) -> None:
    """Write a picture into a JPEG file.

    Args:
        input: (1 or 3, height, width), uint8.
        filename: the file.
        quality: from 1 to 100.

    Example:
        >>> import os, tempfile, vistorch
        >>> from vistorch.vision import io
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     io.write_jpeg(vistorch.zeros(3, 2, 4, dtype=vistorch.uint8), os.path.join(folder, "one.jpg"))
        ...     os.listdir(folder)
        ['one.jpg']
    """
    write_file(filename, encode_jpeg(input, quality))
