"""Numbers before tensors: `x.add_(alpha, y)`, `addmm(beta, m, alpha, a, b)`, as the first PyTorch was written.

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
        raise too_many(name, tensors, len(given))
    typed = ", ".join(f"Tensor {one}" for one in names)
    if name.endswith("_"):
        _warn(name, f"Number {number}, {typed}", f"{typed}, *, Number {number} = 1")
    else:
        old = f"Tensor input, Number {number}, {typed}, *, Tensor out = None"
        _warn(name, old, f"Tensor input, {typed}, *, Number {number} = 1, Tensor out = None")
    return first, rest


def too_many(name: str, tensors: str, count: int) -> TypeError:
    """The error of a call that is of no form, new or old.

    Args:
        name: the function's.
        tensors: the names of the tensors after the first, separated by blanks.
        count: how many arguments came after the first.
    """
    own = 0 if name.endswith("_") else 1  # of a method, the tensor itself does not count
    most = len(tensors.split()) + own
    return TypeError(
        f"{name}() takes {most} positional argument{'s' * (most > 1)} but {count + own} were given"
    )


# Where the numbers stood: of a function, and of a method.
_ORDERS = frozenset(("nTnTT", "nTTT", "TnnTT", "TnTT"))


def factors_between(name: str, tensors: str, given: tuple) -> tuple[list, dict]:
    """The arguments of an old form of a product that is added: its three tensors, and `beta` and `alpha` by name.

    Args:
        name: the function's.
        tensors: their names, separated by blanks.
        given: what came.
    """
    order = "".join(
        ["T" if isinstance(one, Tensor) else "?n"[type_promotion.number(one) is not None] for one in given]
    )
    if order not in _ORDERS:
        raise too_many(name, " ".join(tensors.split()[1:]), len(given) - 1)
    factors = dict(
        zip(("beta", "alpha"), [one for one in given if not isinstance(one, Tensor)], strict=False)
    )
    x, a, b = [f"Tensor {one}" for one in tensors.split()]
    words = ["Number beta", x, *["Number alpha"] * (len(factors) - 1), a, b]
    now = f"{x}, {a}, {b}, *, Number beta = 1, Number alpha = 1, Tensor out = None"
    _warn(name, f"{', '.join(words)}, *, Tensor out = None", now)
    return [one for one in given if isinstance(one, Tensor)], factors


def _warn(name: str, given: str, now: str) -> None:
    warnings.warn(
        f"This overload of {name} is deprecated:\n\t{name}({given})\n"
        f"Consider using one of the following signatures instead:\n\t{name}({now})",
        UserWarning,
        stacklevel=user_level(),
    )
