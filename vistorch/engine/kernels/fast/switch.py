"""Whether oneDNN is in use: opened at the first call that is large enough, switched off and on, and why it is not.

Invariant: it is tried once in a process; what went wrong is kept as a sentence, and numpy's kernels stay.
"""

from __future__ import annotations

import importlib
import os
import threading
from typing import Any

from ... import browser
from .. import threads

_PACKAGE = f"{__name__.rpartition('.fast.')[0]}.onednn"
_MODULES = (
    "arithmetic",
    "convolution",
    "copies",
    "normalization",
    "pointwise",
    "pooling",
    "products",
    "recurrent",
)
_lock = threading.Lock()


class _OneDNN:
    """The kernels by module, once `ready` has found them."""

    arithmetic: Any = None
    convolution: Any = None
    copies: Any = None
    normalization: Any = None
    pointwise: Any = None
    pooling: Any = None
    products: Any = None
    recurrent: Any = None
    primitives: Any = None

    tried = False
    wanted = True
    on = False  # tried, there, and wanted
    why = ""  # why it is not there, one sentence

    def ready(self) -> bool:
        """Whether the kernels may be used; opens the library at the first question."""
        if self.on:
            return True
        if self.tried or not self.wanted:
            return False
        with _lock:
            if not self.tried:
                self._open()
        return self.on

    def _open(self) -> None:
        if browser.HERE:
            self.why, self.tried = "Python in a browser opens no library of the system", True
            return
        try:
            primitives = importlib.import_module(f"{_PACKAGE}.primitives")
            for name in _MODULES:
                setattr(self, name, importlib.import_module(f"{_PACKAGE}.{name}"))
            self.primitives = primitives
        except Exception as exc:
            self.why = str(exc)
        else:
            self.on = True
            threads.blas_alone()
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=primitives._forked)
        self.tried = True

    def want(self, wanted: bool) -> None:
        """Switch the kernels on or off for this process."""
        self.wanted = wanted
        there = self.primitives is not None
        self.on = wanted and there
        if there:
            (threads.blas_alone if wanted else threads.blas_free)()

    def available(self) -> bool:
        """Whether the library is there, whether it is wanted or not."""
        if not self.tried:
            with _lock:
                if not self.tried:
                    self._open()
                    if not self.wanted:
                        self.want(False)
        return self.primitives is not None

    def describe(self) -> str:
        """One line for a person: which oneDNN is in use, or why there is none."""
        if not self.available():
            return self.why
        lib = self.primitives.lib
        state = "" if self.wanted else " (switched off)"
        return f"oneDNN {lib.version} from {lib.path}{state}"


class _Sizes:
    """From which size on a fast kernel is asked: below, its call costs more than it saves (as measured)."""

    batch = 1 << 19  # multiplications of a batch of small matrices
    each = 1 << 15  # elements of an elementwise operation that numpy does in one pass, or of a sum
    convolution = 1 << 16  # elements of the input times elements of the kernel
    gelu = 1 << 5  # elements, where numpy takes a dozen passes
    layer = 1 << 7  # elements
    matrices = 1 << 12  # entries of a batch of matrices
    point = 1 << 11  # elements
    pool = 1 << 12  # elements of the input
    recurrent = 1 << 16  # elements of the input times units
    solver = 1 << 10  # rows of a matrix that LAPACK takes apart with several threads; by QR nothing is gained
    product = 1 << 18  # multiplications; OpenBLAS takes one thread up to there, whatever it may


onednn = _OneDNN()
sizes = _Sizes()
