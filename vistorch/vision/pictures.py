"""Opening a picture that someone else made.

Invariant: no program is run for it, no more pixels are unpacked than Pillow's `MAX_IMAGE_PIXELS`, and whatever is wrong
with it is one RuntimeError; what the system says of the file itself is left as it is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

RUNS = ("EPS",)  # formats that Pillow hands to another program: Ghostscript


@contextmanager
def opened_picture(file: BinaryIO) -> Iterator[Any]:
    """A picture of Pillow, read whole; what fails in the block is the picture's fault too.

    Args:
        file: a file object that can seek.

    Raises:
        RuntimeError: it is damaged, of no format that Pillow reads by itself, or too large.
    """
    from PIL import Image

    name = getattr(file, "name", "")
    said: Any = os.fspath(name) if isinstance(name, (str, os.PathLike)) and name else "what was given"
    Image.init()
    try:
        with Image.open(file, formats=[kind for kind in Image.ID if kind not in RUNS]) as image:
            most, pixels = Image.MAX_IMAGE_PIXELS, image.width * image.height
            if most is not None and pixels > most:  # up to twice as many Pillow only warns
                raise ValueError(f"it has {pixels:,} pixels, more than PIL.Image.MAX_IMAGE_PIXELS, {most:,}")
            image.load()
            yield image
    except Image.UnidentifiedImageError:
        raise RuntimeError(f"Pillow knows no picture format in {said}") from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # but a place before the file's start is the picture's fault
        raise RuntimeError(f"{said} cannot be read as a picture: {error or type(error).__name__}") from None
