"""The `Args:` section of class docstrings, written from one table for a whole family.

Invariant: every argument of a documented constructor has a sentence, and they stand in the order of its signature.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import TypeVar

C = TypeVar("C", bound=type)

_NEXT = re.compile(r"^( *)(Shape|Example):$", re.MULTILINE)  # what stands behind the arguments
_WIDTH = 120


def arguments(table: Mapping[str, str], **own: str) -> Callable[[C], C]:
    """A decorator of a class: put an `Args:` section into its docstring, before `Shape:` or `Example:`.

    Args:
        table: argument -> its sentence, for all classes of the family.
        **own: sentences that differ for this class.
    """

    def document(cls: C) -> C:
        if cls.__doc__ is None:  # python -OO
            return cls
        behind = _NEXT.search(cls.__doc__)
        if behind is None:
            raise TypeError(f"the docstring of {cls.__qualname__} needs `Shape:` or `Example:`")
        code = cls.__init__.__code__
        indent = behind.group(1)
        lines = [f"{indent}Args:"]
        for name in code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]:
            sentence = own.get(name) or table.get(name)
            if sentence is None:
                raise TypeError(f"argument {name!r} of {cls.__qualname__} has no sentence")
            lines += textwrap.wrap(
                f"{name}: {sentence}",
                _WIDTH,
                initial_indent=f"{indent}    ",
                subsequent_indent=f"{indent}        ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        start = behind.start()
        cls.__doc__ = "\n".join([cls.__doc__[:start] + lines[0], *lines[1:], "", cls.__doc__[start:]])
        return cls

    return document
