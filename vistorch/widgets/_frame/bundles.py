"""The built pages of the front end, as they lie beside this file.

Invariant: a bundle is read once; what is missing is said in one sentence with the command that makes it.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parents[1] / "static"


def source(kind: str) -> Path:
    """The file of one kind of page."""
    path = STATIC / f"{kind}.js"
    if not path.is_file():
        raise FileNotFoundError(
            f"the page for '{kind}' is not built: run `make js`, or `pip install .`, which builds it"
        )
    return path


def deflated(data: bytes) -> str:
    """Raw deflate as base64: what `DecompressionStream('deflate-raw')` reads."""
    packer = zlib.compressobj(9 if len(data) < 1 << 16 else 6, zlib.DEFLATED, -15)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


@cache
def _packed(path: Path, stamp: int) -> tuple[str, str]:
    data = path.read_bytes()
    return deflated(data), hashlib.sha256(data).hexdigest()[:12]


def packed(kind: str) -> tuple[str, str]:
    """A page's module, deflated, and a short name that changes when it does."""
    path = source(kind)
    return _packed(path, path.stat().st_mtime_ns)  # rebuilt while a kernel runs: read again
