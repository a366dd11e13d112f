"""Names for annotations."""

from __future__ import annotations

import os
from typing import IO, Any, Union

from vistorch.engine.base.device import device
from vistorch.engine.core.tensor import Tensor
from vistorch.storage import TypedStorage, UntypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number = int | float | bool
Device = Union[str, int, device, None]  # noqa: UP007  `device | None` is no type before 3.14
FileLike = Union[str, os.PathLike, IO[bytes]]  # noqa: UP007
Storage = Union[TypedStorage, UntypedStorage]  # noqa: UP007
_Tensor = Tensor
_device = device
_dtype = Any
_size = Any
_int, _float, _bool, _complex = int, float, bool, complex
