"""Memory formats and layouts: names of how elements lie in memory.

Invariant: there is one object of each name, so they are compared with `is`.
"""

from __future__ import annotations

from typing import Any

from ..library_name import library


class _Named:
    """A constant that prints its name."""

    __slots__ = ("_name",)
    _name: str

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refuse: the constants are those of this module."""
        raise TypeError(f"cannot create '{library}.{cls.__name__}' instances")

    def __repr__(self) -> str:
        return f"{library}.{self._name}"

    def __reduce__(self) -> str:
        """Travel as the name of a global, so that it comes back as the same object."""
        return self._name

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class memory_format(_Named):
    """In which order the dimensions of a dense tensor lie in memory.

    Example:
        >>> import vistorch
        >>> vistorch.empty(2, 3, 4, 4, memory_format=vistorch.channels_last).stride()
        (48, 1, 12, 3)
    """

    __slots__ = ()


class layout(_Named):
    """Whether a tensor is dense; every tensor here is `vistorch.strided`.

    Example:
        >>> import vistorch
        >>> vistorch.ones(2).layout
        vistorch.strided
    """

    __slots__ = ()


def _make(kind: type, name: str) -> Any:
    """Build one constant."""
    made = object.__new__(kind)
    made._name = name
    return made


contiguous_format = _make(memory_format, "contiguous_format")
legacy_contiguous_format = contiguous_format
preserve_format = _make(memory_format, "preserve_format")
channels_last = _make(memory_format, "channels_last")
channels_last_3d = _make(memory_format, "channels_last_3d")
strided = _make(layout, "strided")
# No tensor here has one of these: programs ask whether `x.layout` is one before they decide.
sparse_coo, sparse_csr, sparse_csc = [_make(layout, f"sparse_{end}") for end in ("coo", "csr", "csc")]
sparse_bsr, sparse_bsc, jagged = (
    _make(layout, "sparse_bsr"),
    _make(layout, "sparse_bsc"),
    _make(layout, "jagged"),
)

RANKS = {channels_last: 4, channels_last_3d: 5}
"""How many dimensions a format needs."""


def axes_last(rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The permutation that brings channels last, and the way back."""
    return (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))


def check_rank(form: Any, ndim: int) -> None:
    """Refuse a channels-last format for a tensor of another rank."""
    if RANKS[form] != ndim:
        raise RuntimeError(f"required rank {RANKS[form]} tensor to use {form._name} format")


memory_format.__module__ = layout.__module__ = "vistorch"
