"""Numbers before tensors: `x.add_(alpha, y)`, as PyTorch's first optimizers were written.

Invariant: a form that PyTorch still takes works, with its warning; it costs the new form nothing but a test.
"""

from __future__ import annotations

import warnings

from ..base.warn_once import user_level
from . import type_promotion
from .tensor import Tensor


def number_first(name: str, number: str, tensors: str, given: tuple) -> tuple:
    """The arguments of an old form: (number, tensors); TypeError if it is not one.

    Args:
        name: the function's.
        number: the number's name.
        tensors: their names, separated by blanks.
        given: what came.
    """
    first, *rest = given
    names = tensors.split()
    if type_promotion.number(first) is None or (
        len(rest) > 1 and not all(isinstance(one, Tensor) for one in rest)
    ):
        raise TypeError(
            f"{name}() takes {len(names)} positional argument{'s' * (len(names) > 1)} but {len(given)} were given"
        )
    typed = ", ".join(f"Tensor {one}" for one in names)
    warnings.warn(
        f"This overload of {name} is deprecated:\n\t{name}(Number {number}, {typed})\n"
        f"Consider using one of the following signatures instead:\n\t{name}({typed}, *, Number {number} = 1)",
        UserWarning,
        stacklevel=user_level(),
    )
    return first, rest
