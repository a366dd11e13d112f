"""One update rule, two executors: on arrays in place, block by block, and on Tensors, where a graph is wanted.

A third, for CUDA devices, writes the rule as a kernel: `fused`.

A rule is written with the names below, as `F.lerp_(m, g, 0.1)`. A name with an underscore writes into its first
operand, which is a parameter or its state. The others give a value: on arrays a piece of scratch memory that is kept
from step to step, so a step allocates nothing. `div`, `mul` and `shift` take a value that the rule made itself and give
it up for the result. All operands of a rule have one shape and one type.

Invariant: both executors round after each operation as PyTorch's do, so trajectories agree to rounding.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..engine.core.registry import FUNCTIONS
from ..engine.kernels import threads
from ..engine.kernels.fast import arithmetic

# Elements worked on at a time. A rule passes over its operands a dozen times: a block of all of them fits the cache.
BLOCK = 1 << 16


class Tensors:
    """The names of a rule on Tensors: ordinary recorded operations."""

    def add_(self, x: Any, y: Any, alpha: Any = 1) -> None:
        """`x += alpha * y`."""
        x.add_(y * alpha)

    def mul_(self, x: Any, y: Any) -> None:
        """`x *= y`."""
        x.mul_(y)

    def clamp_(self, x: Any, low: float, high: float) -> None:
        """Keep x between two numbers."""
        x.clamp_(low, high)

    def lerp_(self, x: Any, y: Any, weight: Any) -> None:
        """`x += weight * (y - x)`."""
        x.lerp_(y, weight)

    def addcmul_(self, x: Any, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y * z`."""
        x.add_(y * z * value)

    def addcdiv_(self, x: Any, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y / z`."""
        x.add_(y.clone() / z * value)  # y is saved here and written in the next step

    def average_(self, x: Any, keep: Any, y: Any, z: Any = None, value: Any = 1) -> None:
        """`x = keep * x + value * y * z`; without `z`, `value * y`."""
        self.mul_(x, keep)
        if z is None:
            self.add_(x, y, value)
        else:
            self.addcmul_(x, y, z, value)

    def maximum_(self, x: Any, y: Any) -> None:
        """The greater of both, in x."""
        x.copy_(FUNCTIONS["maximum"](x.clone(), y))

    def copy_(self, x: Any, y: Any) -> None:
        """The values of y, in x."""
        x.copy_(y.detach())  # what a state begins with has no history

    def added(self, x: Any, y: Any, alpha: Any = 1) -> Any:
        """`x + alpha * y`."""
        return x + y * alpha

    def times(self, x: Any, y: Any) -> Any:
        """`x * y`."""
        return x * y

    def over(self, x: Any, y: Any) -> Any:
        """`x / y`."""
        return x / y

    def neg(self, x: Any) -> Any:
        """`-x`."""
        return -x

    def abs(self, x: Any) -> Any:
        """`|x|`."""
        return x.abs()

    def sqrt(self, x: Any) -> Any:
        """The square root."""
        return x.sqrt()

    def root(self, x: Any, by: Any, plus: Any) -> Any:
        """`sqrt(x) / by + plus`."""
        return (x.sqrt() if by.__class__ is float and by == 1 else x.sqrt() / by) + plus

    def sign(self, x: Any) -> Any:
        """The sign."""
        return x.sign()

    def at_least(self, x: Any, number: float) -> Any:
        """Return the greater of x and a number."""
        return x.clamp_min(number)

    def shifted(self, x: Any, number: Any) -> Any:
        """`x + number`."""
        return x + number

    shift = shifted
    mul = times
    div = over


class Arrays:
    """The names of a rule on arrays of one library: every operation writes to memory that is there."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self.kept: dict[tuple, list] = {}
        self.free: list = []
        self.used = 0

    def begin(self, like: Any) -> None:
        """Start a rule on operands of this shape and type."""
        key = like.shape, like.dtype
        found = self.kept.get(key)
        if found is None:
            if len(self.kept) > 256:  # a program of very many shapes
                self.kept.clear()
            found = self.kept[key] = []
        self.free = found
        self.like = like
        self.used = 0

    def scratch(self) -> Any:
        """Memory for one more value of the rule."""
        i = self.used
        self.used = i + 1
        if i < len(self.free):
            return self.free[i]
        made = self._cut(i)
        self.free.append(made)
        return made

    def _cut(self, i: int) -> Any:
        """The i-th piece of scratch: blocks share one reservoir per type, whole arrays have their own."""
        like = self.like
        if like.size <= BLOCK and like.flags.c_contiguous:
            pools = self.kept.setdefault(("reservoir", like.dtype), [])
            while len(pools) <= i:
                pools.append(self.xp.empty(BLOCK, like.dtype))
            return pools[i][: like.size].reshape(like.shape)
        return self.xp.empty_like(like)

    # ---- in place ----------------------------------------------------------------------------------------------
    def add_(self, x: Any, y: Any, alpha: Any = 1) -> None:
        """`x += alpha * y`."""
        xp = self.xp
        if alpha != 1:
            t = self.scratch()
            xp.multiply(y, alpha, t)
            self.used -= 1
            y = t
        xp.add(x, y, x)

    def mul_(self, x: Any, y: Any) -> None:
        """`x *= y`."""
        self.xp.multiply(x, y, x)

    def clamp_(self, x: Any, low: float, high: float) -> None:
        """Keep x between two numbers."""
        self.xp.maximum(x, low, out=x)
        self.xp.minimum(x, high, out=x)

    def lerp_(self, x: Any, y: Any, weight: Any) -> None:
        """`x += weight * (y - x)`."""
        xp, t = self.xp, self.scratch()
        xp.subtract(y, x, t)
        xp.multiply(t, weight, t)
        xp.add(x, t, x)
        self.used -= 1

    def addcmul_(self, x: Any, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y * z`."""
        xp, t = self.xp, self.scratch()
        xp.multiply(y, z, t)
        if value != 1:
            xp.multiply(t, value, t)
        xp.add(x, t, x)
        self.used -= 1

    def addcdiv_(self, x: Any, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y / z`."""
        xp, t = self.xp, self.scratch()
        xp.divide(y, z, t)
        if value != 1:
            xp.multiply(t, value, t)
        xp.add(x, t, x)
        self.used -= 1

    def average_(self, x: Any, keep: Any, y: Any, z: Any = None, value: Any = 1) -> None:
        """`x = keep * x + value * y * z`; without `z`, `value * y`."""
        self.mul_(x, keep)
        if z is None:
            self.add_(x, y, value)
        else:
            self.addcmul_(x, y, z, value)

    def maximum_(self, x: Any, y: Any) -> None:
        """The greater of both, in x."""
        self.xp.maximum(x, y, out=x)

    def copy_(self, x: Any, y: Any) -> None:
        """The values of y, in x."""
        x[...] = y

    # ---- values ------------------------------------------------------------------------------------------------
    def added(self, x: Any, y: Any, alpha: Any = 1) -> Any:
        """`x + alpha * y`."""
        t = self.scratch()
        if alpha == 1:
            return self.xp.add(x, y, t)
        self.xp.multiply(y, alpha, t)
        return self.xp.add(x, t, t)

    def times(self, x: Any, y: Any) -> Any:
        """`x * y`."""
        return self.xp.multiply(x, y, self.scratch())

    def over(self, x: Any, y: Any) -> Any:
        """`x / y`."""
        return self.xp.divide(x, y, self.scratch())

    def neg(self, x: Any) -> Any:
        """`-x`."""
        return self.xp.negative(x, self.scratch())

    def abs(self, x: Any) -> Any:
        """`|x|`."""
        return self.xp.abs(x, self.scratch())

    def sqrt(self, x: Any) -> Any:
        """The square root."""
        return self.xp.sqrt(x, self.scratch())

    def root(self, x: Any, by: Any, plus: Any) -> Any:
        """`sqrt(x) / by + plus`."""
        t = self.sqrt(x)
        return self.shift(t if by == 1 else self.div(t, by), plus)

    def sign(self, x: Any) -> Any:
        """The sign."""
        return self.xp.sign(x, self.scratch())

    def at_least(self, x: Any, number: float) -> Any:
        """Return the greater of x and a number."""
        return self.xp.maximum(x, number, out=self.scratch())

    def shifted(self, x: Any, number: Any) -> Any:
        """`x + number`."""
        return self.xp.add(x, number, self.scratch())

    # ---- on values that the rule made ----------------------------------------------------------------------------
    def shift(self, x: Any, number: Any) -> Any:
        """`x + number`."""
        return self.xp.add(x, number, x)

    def mul(self, x: Any, y: Any) -> Any:
        """`x * y`."""
        return self.xp.multiply(x, y, x)

    def div(self, x: Any, y: Any) -> Any:
        """`x / y`."""
        return self.xp.divide(x, y, x)


class Shared(Arrays):
    """The same on long flat float32 blocks, each of which all threads work on.

    A block is as much longer than `BLOCK` as there are threads, so that the part of each fits its cache.
    """

    def __init__(self) -> None:
        super().__init__(arithmetic)
        self.memory: list = []

    def _cut(self, i: int) -> Any:
        n = self.like.size
        if i == len(self.memory):
            self.memory.append(None)
        if self.memory[i] is None or self.memory[i].size < n:
            self.memory[i] = self.xp.empty(n, self.like.dtype)
        return self.memory[i][:n]

    def add_(self, x: Any, y: Any, alpha: Any = 1) -> None:
        """`x += alpha * y`."""
        if alpha == 1:
            arithmetic.add(x, y, x)
        else:
            arithmetic.into(x, np.multiply, y, alpha)

    def lerp_(self, x: Any, y: Any, weight: Any) -> None:
        """`x += weight * (y - x)`."""
        arithmetic.into(x, np.subtract, y, x, weight)

    def addcmul_(self, x: Any, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y * z`."""
        arithmetic.into(x, np.multiply, y, z, value)

    def addcdiv_(self, x: Any, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y / z`."""
        arithmetic.into(x, np.divide, y, z, value)

    def average_(self, x: Any, keep: Any, y: Any, z: Any = None, value: Any = 1) -> None:
        """`x = keep * x + value * y * z`; without `z`, `value * y`."""
        if z is not None:
            arithmetic.into(x, np.multiply, y, z, value, keep)
        elif value == 1:
            arithmetic.scale_and_add(x, keep, y)
        else:  # a momentum may change at each step, and would then ask for a new primitive each time
            super().average_(x, keep, y, z, value)

    def root(self, x: Any, by: Any, plus: Any) -> Any:
        """`sqrt(x) / by + plus`."""
        return arithmetic.root(x, by, plus, self.scratch())

    @staticmethod
    def length(size: int) -> int:
        """How long blocks of an array of this size are."""
        count = max(size // (BLOCK * min(threads.count(), _MOST)), 1)
        return -(-size // count // _LINE) * _LINE


_MOST, _LINE = 8, 64  # more threads than this get no longer blocks; elements that blocks are multiples of
tensors = Tensors()
_mine = threading.local()  # scratch memory belongs to a thread


def arrays_of(place: Any) -> Arrays:
    """This thread's executor for arrays at a place."""
    try:
        return _mine.by_place[place]
    except (AttributeError, KeyError):
        if not hasattr(_mine, "by_place"):
            _mine.by_place = {}
        made = _mine.by_place[place] = Arrays(place.xp)
        return made


def shared() -> Shared | None:
    """The executor of this thread for long blocks, or None where there is no library for it."""
    if not arithmetic.ready():
        return None
    try:
        return _mine.shared
    except AttributeError:
        made = _mine.shared = Shared()
        return made
