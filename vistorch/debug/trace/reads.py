"""Which of its inputs an op reads: one that overwrites everything never saw what its target held before.

Invariant: a rule that is not named here reads all of its inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numbers import host, plain

# what is bad in an input of these always shows in their output, so inputs need no look of their own
PASS_ON = frozenset(
    (
        "add",
        "addmm",
        "addmv",
        "bmm",
        "convolution",
        "linear",
        "mean_all",
        "mm",
        "mul",
        "mv",
        "neg",
        "sub",
        "sum_all",
        "t",
        "view",
    )
)
# the first input is a target, and no element of it reaches the output
OVERWRITES = frozenset(
    (
        "bernoulli_number",
        "bernoulli_tensor",
        "cauchy_",
        "copy",
        "exponential_",
        "fill_in_place",
        "fill_in_place_by",
        "geometric_",
        "log_normal_",
        "normal_",
        "random_0",
        "random_1",
        "random_2",
        "uniform_",
        "written",
        "zero",
    )
)
# the first input is a target, and what is not written stays as it was
KEEPS = frozenset(
    (
        "as_strided_scatter",
        "diagonal_scatter",
        "index_copy",
        "index_fill",
        "index_put",
        "masked_fill",
        "masked_scatter",
        "put",
        "scatter",
        "select_scatter",
        "slice_scatter",
    )
)
# writes that compute nothing: what is bad after them was bad before, or was given
MOVES = frozenset(("copy", "index_put", "written", "zero"))
NAMES = {"index_put": "setitem", "written": "setitem", "zero": "fill_"}
# finite numbers may overflow in these, but never make a NaN
NO_NAN = frozenset(
    ("abs", "add", "clamp", "clamp_max", "clamp_min", "exp", "mul", "neg", "relu", "sigmoid", "sub", "tanh")
)


def _named(rule: Any, consts: tuple) -> dict[str, Any]:
    """The constants of a call by their names in the kernel."""
    names: Any = getattr(rule, "consts", ())
    return dict(zip(names, consts, strict=False))


def read(rule: Any, ins: tuple, consts: tuple) -> tuple:
    """The inputs whose values an op uses; all of them as they are, if it uses all."""
    if rule.name in OVERWRITES:
        return ins[1:]
    return ins[1:] if _named(rule, consts).get("beta") == 0 else ins


def retains(rule: Any, consts: tuple) -> bool:
    """Whether an op computes nothing with its first input: a view of it, or a copy of which a part is written."""
    if getattr(rule, "view", False) or rule.name in KEEPS:
        return True
    return _named(rule, consts).get("include_self") is False


def needs_nan(rule: Any, d: Any) -> bool:
    """Whether the result of an op says that something bad went in."""
    return rule.name in NO_NAN and bool(np.isnan(plain(host(d))).any())
