"""A rule over many parameters of a CUDA device in one launch: its steps are traced and become one kernel.

The third executor of a rule beside those of `executors`: it writes C++ instead of computing. Every plain number that a
rule hands to a step is an argument of the kernel, so a kernel is compiled once for each way through the rule, not for
each learning rate. Invariant: what cannot be traced, or does not lie flat in memory, runs by the arrays' executor.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..engine.kernels.cuda import launch
from ..engine.kernels.cuda.many import BLOCK, CHUNK, table_of

TEXT = """
extern "C" __global__ void rule_step(const i64* table, const i64* pieces{arguments}) {{
  const i64* own = table + {width} * pieces[2 * (i64)blockIdx.x];
  const i64 first = pieces[2 * (i64)blockIdx.x + 1];
  const i64 last = first + {chunk} < own[{operands}] ? first + {chunk} : own[{operands}];
  for (i64 i = first + threadIdx.x; i < last; i += blockDim.x) {{
{body}
  }}
}}
"""


class Value:
    """An element of an operand, or what a step made of some: a variable of the kernel."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Trace:
    """The names of a rule, each of which writes a line."""

    def __init__(self, operands: int) -> None:
        self.operands = [Value(f"x{i}") for i in range(operands)]
        self.lines: list[str] = []
        self.numbers: list[float] = []
        self.made = 0

    def text(self, y: Any) -> str:
        """An operand of a line: a variable, or a number that becomes an argument."""
        if isinstance(y, Value):
            return y.name
        self.numbers.append(float(y))
        return f"A(s{len(self.numbers) - 1})"

    def value(self, text: str) -> Value:
        """A new variable."""
        self.made += 1
        self.lines.append(f"A v{self.made} = {text};")
        return Value(f"v{self.made}")

    def _scaled(self, text: str, factor: Any) -> str:
        return text if factor.__class__ in (int, float) and factor == 1 else f"({text}) * {self.text(factor)}"

    def _set(self, x: Value, text: str) -> Value:
        self.lines.append(f"{x.name} = {text};")
        return x

    # ---- in place --------------------------------------------------------------------------------------------------
    def add_(self, x: Value, y: Any, alpha: Any = 1) -> None:
        """`x += alpha * y`."""
        self._set(x, f"{x.name} + {self._scaled(self.text(y), alpha)}")

    def mul_(self, x: Value, y: Any) -> None:
        """`x *= y`."""
        self._set(x, f"{x.name} * {self.text(y)}")

    def clamp_(self, x: Value, low: float, high: float) -> None:
        """Keep x between two numbers; nan stays."""
        a, b = self.text(low), self.text(high)
        self._set(x, f"{x.name} < {a} ? {a} : {x.name} > {b} ? {b} : {x.name}")

    def lerp_(self, x: Value, y: Any, weight: Any) -> None:
        """`x += weight * (y - x)`."""
        self._set(x, f"{x.name} + ({self.text(y)} - {x.name}) * {self.text(weight)}")

    def addcmul_(self, x: Value, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y * z`."""
        self._set(x, f"{x.name} + {self._scaled(f'{self.text(y)} * {self.text(z)}', value)}")

    def addcdiv_(self, x: Value, y: Any, z: Any, value: Any = 1) -> None:
        """`x += value * y / z`."""
        self._set(x, f"{x.name} + {self._scaled(f'{self.text(y)} / {self.text(z)}', value)}")

    def maximum_(self, x: Value, y: Any) -> None:
        """The greater of both, in x; nan of either."""
        self._set(x, self._greater(x.name, self.text(y)))

    def average_(self, x: Value, keep: Any, y: Any, z: Any = None, value: Any = 1) -> None:
        """`x = keep * x + value * y * z`; without `z`, `value * y`."""
        self.mul_(x, keep)
        if z is None:
            self.add_(x, y, value)
        else:
            self.addcmul_(x, y, z, value)

    def copy_(self, x: Value, y: Any) -> None:
        """The values of y, in x."""
        self._set(x, self.text(y))

    # ---- values ----------------------------------------------------------------------------------------------------
    @staticmethod
    def _greater(a: str, b: str) -> str:
        return f"({a} != {a} || {a} > {b}) ? {a} : {b}"

    def added(self, x: Any, y: Any, alpha: Any = 1) -> Value:
        """`x + alpha * y`."""
        return self.value(f"{self.text(x)} + {self._scaled(self.text(y), alpha)}")

    def times(self, x: Any, y: Any) -> Value:
        """`x * y`."""
        return self.value(f"{self.text(x)} * {self.text(y)}")

    def over(self, x: Any, y: Any) -> Value:
        """`x / y`."""
        return self.value(f"{self.text(x)} / {self.text(y)}")

    def neg(self, x: Any) -> Value:
        """`-x`."""
        return self.value(f"-{self.text(x)}")

    def abs(self, x: Any) -> Value:
        """`|x|`."""
        return self.value(f"fabs({self.text(x)})")

    def sqrt(self, x: Any) -> Value:
        """The square root."""
        return self.value(f"sqrt({self.text(x)})")

    def root(self, x: Any, by: Any, plus: Any) -> Value:
        """`sqrt(x) / by + plus`."""
        t = self.sqrt(x)
        if by.__class__ not in (int, float) or by != 1:
            t = self.over(t, by)
        return self.shifted(t, plus)

    def sign(self, x: Any) -> Value:
        """The sign; of nan, nan."""
        t = self.text(x)
        return self.value(f"{t} > A(0) ? A(1) : {t} < A(0) ? A(-1) : {t}")

    def at_least(self, x: Any, number: float) -> Value:
        """Return the greater of x and a number."""
        return self.value(self._greater(self.text(x), self.text(number)))

    def shifted(self, x: Any, number: Any) -> Value:
        """`x + number`."""
        return self.value(f"{self.text(x)} + {self.text(number)}")

    # ---- on values that the rule made ------------------------------------------------------------------------------
    def shift(self, x: Value, number: Any) -> Value:
        """`x + number`."""
        return self._set(x, f"{x.name} + {self.text(number)}")

    def mul(self, x: Value, y: Any) -> Value:
        """`x * y`."""
        return self._set(x, f"{x.name} * {self.text(y)}")

    def div(self, x: Value, y: Any) -> Value:
        """`x / y`."""
        return self._set(x, f"{x.name} / {self.text(y)}")

    def kernel(self) -> str:
        """The text of the kernel; the gradient, operand 1, is only read."""
        n = len(self.operands)
        held = [f"T* p{i} = (T*)own[{i}]; A x{i} = WIDE(p{i}[i]);" for i in range(n)]
        kept = [f"p{i}[i] = NARROW(x{i});" for i in range(n) if i != 1]
        body = "\n".join("    " + line for line in (*held, *self.lines, *kept))
        arguments = "".join(f", double s{i}" for i in range(len(self.numbers)))
        return TEXT.format(arguments=arguments, width=n + 1, chunk=CHUNK, operands=n, body=body)


def traced(update: Callable, operands: int, numbers: tuple) -> Trace | None:
    """The trace of a rule, or None where it does what no line says."""
    trace = Trace(operands)
    try:
        update(trace, *trace.operands, *numbers)
    except (AttributeError, TypeError):
        return None
    return trace


@functools.lru_cache(512)
def _compiled(text: str, dtype: str) -> Any:
    return launch.compiled(text, dtype).get_function("rule_step")


def flat(operands: list, as_real: bool) -> list | None:
    """The arrays of a parameter as the kernel takes them, or None."""
    first = operands[0]
    if not all(a.flags.c_contiguous and a.dtype == first.dtype and a.size == first.size for a in operands):
        return None
    if first.dtype.kind == "c" and as_real:
        operands = [a.reshape(-1).view("f4" if first.dtype.itemsize == 8 else "f8") for a in operands]
    return operands if operands[0].dtype.name in launch.TYPES else None


def step(xp: Any, device: int, update: Callable, works: list[list], numbers: tuple) -> bool:
    """Run a rule on the flat arrays of many parameters of one type; False where it cannot be traced."""
    trace = traced(update, len(works[0]), numbers)
    if trace is None:
        return False
    rows = [[*[int(a.data.ptr) for a in work], int(work[0].size)] for work in works]
    table, pieces, blocks = table_of(xp, device, rows)
    if blocks:
        run = _compiled(trace.kernel(), works[0][0].dtype.name)
        run((blocks,), (BLOCK,), (table, pieces, *trace.numbers), shared_mem=0)
    return True
