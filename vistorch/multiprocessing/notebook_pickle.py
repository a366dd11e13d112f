"""What was defined in a notebook or an interactive session, on its way to a process that cannot import it.

Invariant: nothing here acts where the main module is a file: there a new process imports it, as Python does.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
import types
from collections import ChainMap
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler
from typing import Any, ClassVar

MISSING = (
    "what is defined in a notebook or an interactive session travels to other processes with cloudpickle, which is not "
    "installed: `pip install cloudpickle`, or define it in a module, or use the start method 'fork'"
)


def interactive() -> bool:
    """Whether the main module is a notebook, a prompt or a string: nothing a new process could import."""
    main = sys.modules.get("__main__")
    if getattr(main, "__spec__", None) is not None:
        return False
    path = getattr(main, "__file__", None)
    return path is None or (path.startswith("<") and not os.path.exists(path))


@contextlib.contextmanager
def nameless_main() -> Iterator[None]:
    """A main module that was read from a pipe calls itself "<stdin>", which a new process would try to open."""
    main = vars(sys.modules["__main__"])
    path = main.pop("__file__", None) if interactive() else None
    try:
        yield
    finally:
        if path is not None:
            main["__file__"] = path


class Carried:
    """An object that is pickled with the code it needs; called, it calls the object.

    Args:
        value: anything cloudpickle can pickle, tensors, queues and locks included.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what is carried."""
        return self.value(*args, **kwargs)

    def __reduce__(self) -> tuple:
        return unpacked, (packed(self.value),)


def carried(function: Any) -> Any:
    """`function`, with its code if a new process could not import it."""
    return Carried(function) if interactive() and not isinstance(function, Carried) else function


def packed(value: Any) -> bytes:
    """An object with the code it needs, as bytes."""
    try:
        from .._code_pickle import CodePickler
    except ImportError:
        raise ImportError(MISSING) from None

    known: Any = CodePickler.dispatch_table
    travels: Any = dict(ForkingPickler(io.BytesIO()).dispatch_table)

    class Packer(CodePickler):
        """cloudpickle that knows how tensors travel, and notes which definitions it packed."""

        # read when the pickler is made: an instance's own would come too late
        dispatch_table: ClassVar[Any] = ChainMap(travels, known)

        def reducer_override(self, obj: Any) -> Any:
            found = super().reducer_override(obj)
            defines = isinstance(obj, (type, types.FunctionType)) and obj.__module__ == "__main__"
            if defines and found is not NotImplemented and "." not in obj.__qualname__:
                definitions.append(obj)
            return found

    definitions: list = []
    file = io.BytesIO()
    packer = Packer(file)
    packer.dump((value, os.getpid(), definitions))  # the list is reached last, when it is complete
    return file.getvalue()


def unpacked(data: bytes) -> Carried:
    """What `packed` packed. Its definitions become the main module's, so that later messages may name them."""
    value, sender, definitions = pickle.loads(data)
    if sender != os.getpid():
        vars(sys.modules["__main__"]).update({made.__name__: made for made in definitions})
    return Carried(value)
