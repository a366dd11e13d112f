"""What classes of one family share beside a base: the name of an inherited constructor.

Invariant: a class that PyTorch gives a constructor of its own names itself when it is called wrongly.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, TypeVar

C = TypeVar("C", bound=type)


def named_init(cls: C) -> C:
    """A decorator: the inherited `__init__` as the class's own, so that a TypeError says `Conv2d.__init__()`.

    Args:
        cls: the class.
    """
    init: Any = cls.__init__
    own: Any = FunctionType(
        init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__
    )
    functools.update_wrapper(own, init)
    del own.__wrapped__
    own.__kwdefaults__ = init.__kwdefaults__
    own.__module__, own.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    cls.__init__ = own
    return cls
