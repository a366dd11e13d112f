"""What a program chooses about products and convolutions of devices: `backends.cudnn`, `backends.cuda.matmul`.

Invariant: reading a setting imports nothing; cupy, which has a switch of its own, follows when it is there.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

# PyTorch's defaults; `backends.cudnn` puts itself here when it is imported.
DEFAULTS = SimpleNamespace(enabled=True, benchmark=False, deterministic=False, allow_tf32=True)


class Settings:
    """The switches.

    Slots:
        convolution: has enabled, benchmark, deterministic and allow_tf32, as `backends.cudnn`.
        deterministic: whether `use_deterministic_algorithms` asks for sums in one order.
        precision: of products of float32: "highest", or "high" and "medium", which round operands to TF32.
    """

    __slots__ = ("convolution", "deterministic", "precision")

    def __init__(self) -> None:
        self.convolution: Any = DEFAULTS
        self.deterministic = False
        self.precision = "highest"

    def options(self) -> tuple[bool, bool, bool]:
        """Of a convolution: whether TF32 is allowed, only one order of sums, and all ways are timed."""
        now = self.convolution
        return bool(now.allow_tf32), bool(now.deterministic or self.deterministic), bool(now.benchmark)


settings = Settings()


def set_precision(precision: str) -> None:
    """Choose the precision of products of float32, by PyTorch's names."""
    settings.precision = precision
    apply()


def tf32() -> bool:
    """Whether products of float32 may round their operands to TF32."""
    return settings.precision != "highest"


def apply() -> None:
    """Set cupy's switch as ours is, if cupy is in use."""
    core = getattr(sys.modules.get("cupy"), "_core", None)
    choose = getattr(core, "set_compute_type", None)
    if core is not None and choose is not None:
        kinds = core._routines_linalg
        choose(np.float32, kinds.COMPUTE_TYPE_TF32 if tf32() else kinds.COMPUTE_TYPE_DEFAULT)
