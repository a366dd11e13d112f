"""Types of arguments that may be one number or one for each dimension, under PyTorch's names."""

from __future__ import annotations

from typing import Any, TypeVar, Union

from ..engine.core.tensor import Tensor

# `Union`: an alias with a TypeVar in it cannot be written with `|` and be given its type later.
T = TypeVar("T")
_scalar_or_tuple_any_t = Union[T, tuple[T, ...]]  # noqa: UP007
_scalar_or_tuple_1_t = Union[T, tuple[T]]  # noqa: UP007
_scalar_or_tuple_2_t = Union[T, tuple[T, T]]  # noqa: UP007
_scalar_or_tuple_3_t = Union[T, tuple[T, T, T]]  # noqa: UP007
_scalar_or_tuple_4_t = Union[T, tuple[T, T, T, T]]  # noqa: UP007
_scalar_or_tuple_5_t = Union[T, tuple[T, T, T, T, T]]  # noqa: UP007
_scalar_or_tuple_6_t = Union[T, tuple[T, T, T, T, T, T]]  # noqa: UP007

_size_any_t: Any = _scalar_or_tuple_any_t[int]
_size_1_t: Any = _scalar_or_tuple_1_t[int]
_size_2_t: Any = _scalar_or_tuple_2_t[int]
_size_3_t: Any = _scalar_or_tuple_3_t[int]
_size_4_t: Any = _scalar_or_tuple_4_t[int]
_size_5_t: Any = _scalar_or_tuple_5_t[int]
_size_6_t: Any = _scalar_or_tuple_6_t[int]
_ratio_2_t: Any = _scalar_or_tuple_2_t[float]
_ratio_3_t: Any = _scalar_or_tuple_3_t[float]
_ratio_any_t: Any = _scalar_or_tuple_any_t[float]
_maybe_indices_t: Any = _scalar_or_tuple_2_t[Tensor]
