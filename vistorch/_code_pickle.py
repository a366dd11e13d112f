"""Code that travels by value and still knows the file it was written in.

cloudpickle leaves the file out from 3.1.3 on, and a traceback of another process would show no line of the notebook.
"""

from __future__ import annotations

import io
from collections import ChainMap
from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar

import cloudpickle

_known: Any = cloudpickle.Pickler.dispatch_table


def _code(code: CodeType) -> tuple:
    make, parts, *_ = _known[CodeType](code)
    return of_file, (make, parts, code.co_filename)


def of_file(make: Callable[..., CodeType], parts: tuple, file: str) -> CodeType:
    """Code as cloudpickle makes it, with the file it was written in."""
    return make(*parts).replace(co_filename=file)


class CodePickler(cloudpickle.Pickler):
    """cloudpickle whose code knows its file."""

    # read when the pickler is made: an instance's own would come too late
    dispatch_table: ClassVar[Any] = ChainMap({CodeType: _code}, _known)


def dumps(value: Any) -> bytes:
    """An object with the code it needs, as bytes."""
    file = io.BytesIO()
    CodePickler(file).dump(value)
    return file.getvalue()
