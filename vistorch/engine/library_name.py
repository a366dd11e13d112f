"""The name under which a program knows this library: "vistorch", or "torch" while `import torch` gives it.

Invariant: every text that names a thing of the library asks here, when it is written.
"""

from __future__ import annotations

import re


class Library:
    """The library in a text: `f"{library}.float32"`."""

    __slots__ = ("name",)

    def __init__(self) -> None:
        self.name = "vistorch"

    def __str__(self) -> str:
        return self.name


library = Library()
_OWN_NAME = re.compile(r"\bvistorch(?:\.vision)?(?=\.\w)")


def named(sentence: str) -> str:
    """A constant sentence of ours with the names that the program must type.

    Args:
        sentence: it says `vistorch.` and `vistorch.vision.`; a bare `vistorch` stays, that is what runs.

    Example:
        >>> named("use vistorch.cat; vistorch has no other.")
        'use vistorch.cat; vistorch has no other.'
    """
    if library.name == "vistorch":
        return sentence
    return _OWN_NAME.sub(lambda found: of_module(found[0]), sentence)


def of_module(name: str) -> str:
    """A module of this library's as the program calls it.

    Args:
        name: such as "vistorch.cuda".
    """
    if library.name == "torch" and f"{name}.".startswith("vistorch.vision."):
        return "torchvision" + name[len("vistorch.vision") :]
    return library.name + name[len("vistorch") :]
