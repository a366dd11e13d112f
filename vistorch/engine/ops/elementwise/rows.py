"""How this family enters a function: its row, its docstring and its public names in one call.

Invariant: whatever is entered here has an example that runs.
"""

from __future__ import annotations

from typing import Any

from ...core import inplace as _inplace
from ...core.pointwise import binary, unary
from ...core.registry import FUNCTIONS, METHODS, expose

# in-place forms that PyTorch offers as functions too, as vistorch.sin_(x)
IN_PLACE_FUNCTIONS = frozenset(
    "abs absolute acos arccos acosh arccosh asin arcsin asinh arcsinh atan arctan atanh arctanh ceil clamp clamp_max "
    "clamp_min clip conj_physical cos cosh deg2rad erf erfc exp exp2 expm1 fix floor frac gcd i0 lcm ldexp log log10 "
    "log1p log2 logit nan_to_num neg negative rad2deg reciprocal round rsqrt sigmoid sin sinc sinh sqrt square tan "
    "tanh trunc xlogy".split()
)

_DOC = """{meaning}

Args:
    {arguments}
    out: where to put the result.

Example:
    >>> import vistorch
    >>> {call}
    {gives}
"""


def describe(fn: Any, meaning: str, call: str, gives: str, arguments: str) -> Any:
    """Give a function made from a row its docstring."""
    fn.__doc__ = _DOC.format(meaning=meaning, call=f"vistorch.{call}", gives=gives, arguments=arguments)
    return fn


def offer(fn: Any, name: str | None = None, *, inplace: bool = True, aliases: str = "") -> Any:
    """Enter a function under its names, with in-place variants where PyTorch has them."""
    expose(fn, name, aliases=aliases)
    if inplace:
        for label in ((name or fn.__name__), *aliases.split()):
            variant = (
                _inplace.pointwise(fn) if hasattr(fn, "plain_types") else _inplace.general(fn, label + "_")
            )
            METHODS[label + "_"] = variant
            if label in IN_PLACE_FUNCTIONS:
                FUNCTIONS[label + "_"] = variant
    return fn


def one(
    name: str,
    kernel: Any,
    meaning: str,
    given: str,
    gives: str,
    *,
    inplace: bool = True,
    aliases: str = "",
    **row: Any,
) -> Any:
    """A function of one tensor; `row` as for `unary`."""
    fn = unary(name, kernel, **row)
    describe(fn, meaning, f"{name}(vistorch.tensor({given}))", gives, "input: a tensor.")
    return offer(fn, inplace=inplace, aliases=aliases)


def two(
    name: str,
    kernel: Any,
    meaning: str,
    given: str,
    gives: str,
    *,
    inplace: bool = True,
    aliases: str = "",
    **row: Any,
) -> Any:
    """A function of two operands; `row` as for `binary`. `given`: the call's arguments, as they are written."""
    fn = binary(name, kernel, **row)
    takes = fn.takes
    arguments = "input: a tensor" + (" or a number.\n    " if "input" in takes else ".\n    ")
    arguments += "other: a tensor" + (" or a number." if "other" in takes else ".")
    describe(fn, meaning, f"{name}({given})", gives, arguments)
    return offer(fn, inplace=inplace, aliases=aliases)
