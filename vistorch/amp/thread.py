"""What a thread casts: state alone, which `state.py` sets and `cast.py` reads.

Invariant: nothing here acts.
"""

from __future__ import annotations

import threading

from ..engine.base.dtypes import bfloat16, dtype, float16


class _Thread(threading.local):
    """What this thread casts. Class attributes are every thread's defaults."""

    enabled: tuple[str, ...] = ()  # the kinds of device for which casting is on
    dtypes: tuple[tuple[str, dtype], ...] = (("cpu", bfloat16), ("cuda", float16))
    nesting = 0
    caching = True
    cache: dict[int, tuple] | None = None  # casts of parameters, until the outermost region ends


thread = _Thread()
