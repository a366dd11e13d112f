"""Logic of truth values and of bits.

Invariant: logical ops read any dtype as zero or not zero; ops of bits refuse floats.
"""

from __future__ import annotations

from ...base.modes import mode
from ...core.inplace import replace
from ...core.registry import METHODS
from .dtype_checks import missing
from .rows import one, two

PAIR = "vistorch.tensor([True, True, False]), vistorch.tensor([True, False, False])"


def _truth(xp, array):
    """An array as bools; numpy's logical functions do not know bfloat16."""
    return array if array.dtype.kind == "b" else array != 0


def _in_place(fn):
    """The in-place form leaves history alone, even on leaves: truth values have no gradient."""

    def write(input, *other):
        before, mode.on = mode.on, mode.on and False
        try:
            return replace(input, fn, other, {})
        finally:
            mode.on = before

    METHODS[fn.rule.name + "_"] = write
    return fn


def _logical(name, ufunc, meaning, gives):
    fn = two(
        name,
        lambda xp, input, other: getattr(xp, ufunc)(_truth(xp, input), _truth(xp, other)),
        meaning,
        PAIR,
        gives,
        inplace=False,
        kind="logic",
        numbers="",
    )
    return _in_place(fn)


logical_and = _logical(
    "logical_and", "logical_and", "Tell where both are not zero.", "tensor([ True, False, False])"
)
logical_or = _logical(
    "logical_or", "logical_or", "Tell where at least one is not zero.", "tensor([ True,  True, False])"
)
logical_xor = _logical(
    "logical_xor", "logical_xor", "Tell where exactly one is not zero.", "tensor([False,  True, False])"
)
logical_not = one(
    "logical_not",
    lambda xp, input: xp.asarray(input == 0),
    "Tell where elements are zero.",
    "[0, 1, 2]",
    "tensor([ True, False, False])",
    inplace=False,
    ints="bool",
)
_in_place(logical_not)


def _bitwise(name, ufunc, meaning, gives):
    return two(
        name,
        ufunc,
        meaning,
        "vistorch.tensor([4, 5, 6]), 3",
        gives,
        floats=False,
        refuse=missing(f"{name}_cpu", "fc"),
    )


bitwise_and = _bitwise("bitwise_and", "bitwise_and", "Keep the bits set in both.", "tensor([0, 1, 2])")
bitwise_or = _bitwise("bitwise_or", "bitwise_or", "Keep the bits set in at least one.", "tensor([7, 7, 7])")
bitwise_xor = _bitwise("bitwise_xor", "bitwise_xor", "Keep the bits set in exactly one.", "tensor([7, 6, 5])")
bitwise_not = one(
    "bitwise_not",
    "invert",
    "Turn every bit over.",
    "[0, 1, 2]",
    "tensor([-1, -2, -3])",
    ints="same",
    floats=False,
    check=missing("bitwise_not_cpu", "fc"),
)


def _left(xp, input, other):
    """Bits shifted out are lost; a shift by too much, or by less than nothing, leaves 0."""
    bits = input.dtype.itemsize * 8
    outside = (other < 0) | (other >= bits)
    return xp.where(outside, xp.zeros((), input.dtype), xp.left_shift(input, xp.where(outside, 0, other)))


def _right(xp, input, other):
    """The sign fills up; a shift by too much, or by less than nothing, leaves only the sign."""
    last = input.dtype.itemsize * 8 - (1 if input.dtype.kind == "i" else 0)
    if input.dtype.kind == "u":
        outside = (other < 0) | (other >= last)
        return xp.where(
            outside, xp.zeros((), input.dtype), xp.right_shift(input, xp.where(outside, 0, other))
        )
    return xp.right_shift(input, xp.where((other < 0) | (other >= last), last, other))


def _shift(name, kernel, refused, meaning, gives):
    return two(
        name,
        kernel,
        meaning,
        "vistorch.tensor([1, 2, 4]), 1",
        gives,
        floats=False,
        refuse=missing(refused, "fcb"),
    )


bitwise_left_shift = _shift(
    "bitwise_left_shift", _left, "lshift_cpu", "Shift bits to the left.", "tensor([2, 4, 8])"
)
bitwise_right_shift = _shift(
    "bitwise_right_shift", _right, "rshift_cpu", "Shift bits to the right.", "tensor([0, 1, 2])"
)
