"""Tensors without dims, where numpy makes scalars: every method of one to three operands, against torch's.

Invariant: what torch computes has the same values, shape and type here, and what a method ending in "_" was called on
holds them.
"""

import itertools
import warnings
from typing import Any

import pytest
import torch

import vistorch

POINTWISE = """
    abs acos acosh add addcdiv addcmul angle arctan2 asin asinh atan atan2 atanh bitwise_and ceil clamp clamp_max
    clamp_min conj_physical copysign cos cosh deg2rad digamma div eq erf erfc erfinv exp exp2 expm1 float_power
    floor floor_divide fmax fmin fmod frac gcd ge gt heaviside hypot i0 igamma igammac isclose lcm ldexp le lerp lgamma
    log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor logit lt maximum minimum mul
    mvlgamma ne neg nextafter polygamma pow rad2deg reciprocal relu remainder round rsqrt sgn sigmoid sign sin sinc
    sinh sqrt square sub tan tanh trunc xlogy addcmul_ addcdiv_ lerp_ nextafter_ add_ sub_ mul_ div_ pow_ atan2_ clamp_
    copysign_ fmod_ remainder_ hypot_ xlogy_ float_power_ heaviside_ igamma_ ldexp_ lt_ logical_and_ fill_ copy_ zero_
    masked_fill masked_fill_ masked_scatter where cumsum cumprod cumsum_ sort argsort max min sum mean prod var std
    median kthvalue topk logsumexp softmax norm gather scatter scatter_add index_add index_copy index_fill
    index_select take put flip roll unique nonzero amax amin aminmax all any
""".split()
# a deprecated order of arguments, ambiguous values, and what torch's half type has no complex for
LEFT_OUT = {"add", "sub", "add_", "sub_", "unique", "norm", "var", "std"}
FIRST = (
    "L.tensor(1.5)",
    "L.tensor(1.5, dtype=L.float64)",
    "L.tensor(1.5, dtype=L.float16)",
    "L.tensor(1.5 + 2j)",
)
OTHERS = (
    "L.tensor(0.75)",
    "L.tensor(0.75, dtype=L.float64)",
    "L.tensor(0.75 + 1j)",
    "L.tensor(0)",
    "L.tensor([0.75])",
    "0.5",
)


def outcome(L: Any, text: str, first: str) -> Any:
    scope = {"L": L, "x": eval(first, {"L": L})}
    try:
        made = eval(text, scope)
    except (RuntimeError, TypeError, IndexError, NotImplementedError) as refusal:
        return type(refusal)
    found = []
    for t in (*(made if isinstance(made, tuple) else (made,)), scope["x"]):
        if isinstance(t, L.Tensor):
            wide = t.to(L.complex128 if t.is_complex() else L.float64)
            found.append((tuple(t.shape), str(t.dtype).rpartition(".")[2], wide.tolist()))
    return found


def close(a: Any, b: Any) -> bool:
    return str(a) == str(b) or (
        len(a) == len(b)
        and all(
            x[:2] == y[:2] and x[2] == pytest.approx(y[2], rel=2e-3, abs=1e-6, nan_ok=True)
            for x, y in zip(a, b, strict=True)
        )
    )


@pytest.mark.parametrize("name", POINTWISE)
def test_same(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first in FIRST:
            for args in itertools.chain(*(itertools.product(OTHERS, repeat=k) for k in range(3))):
                if name in LEFT_OUT and len(args) > 1:
                    continue
                text = f"x.{name}({', '.join(args)})"
                theirs = outcome(torch, text, first)
                if isinstance(theirs, list) and "complex32" not in str(theirs):
                    ours = outcome(vistorch, text, first)
                    assert isinstance(ours, list) and close(ours, theirs), (text, first, ours, theirs)


@pytest.mark.parametrize("name", ["add_", "mul_", "addcmul_", "addcdiv_", "lerp_", "clamp_", "pow_", "div_"])
def test_in_place_equals_out_of_place(name: str) -> None:
    for count, first in itertools.product((1, 2), ("()", "(1,)", "(2,)")):
        x = vistorch.full(eval(first), 2.0)
        operands = [vistorch.tensor(3.0)] * count
        try:
            want = getattr(x, name[:-1])(*operands)
        except TypeError:
            continue
        assert vistorch.equal(getattr(x.clone(), name)(*operands), want)
