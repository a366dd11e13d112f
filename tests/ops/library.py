"""The two sides of a comparison: building tensors in a library, running a call, and comparing what came out.

Invariant: torch is the reference; of the library under test nothing but torch's public names is used.
"""

import importlib
import os
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.ops.record import DTYPES, Lib, Op, Sample, X, kind_of, swap

torch = pytest.importorskip("torch", reason="torch is the reference of these tests")
# several worker processes share the cores
torch.set_num_threads(1)
L = importlib.import_module(os.environ.get("VISTORCH_TEST_LIB", "vistorch"))

TOLERANCE = {
    "float16": (2e-3, 2e-3),
    "bfloat16": (1.6e-2, 1.6e-2),
    "float32": (2e-5, 2e-6),
    "complex64": (2e-5, 4e-6),
    "float64": (1e-9, 1e-11),
    "complex128": (1e-9, 1e-11),
}
NUMPY = {
    "bfloat16": ml_dtypes.bfloat16,
    **{name: getattr(np, name) for name in DTYPES if name not in ("bfloat16", "bool")},
}
NUMPY["bool"] = np.bool_
LOCATION = re.compile(r" \(Triggered internally at .*")  # torch adds the line of its source to a warning
LOOSEST = ("bfloat16", "float16", "float32", "complex64", "float64", "complex128")


def coarsest(*dtypes: str) -> str:
    """The dtype whose rounding decides how exact a value can be that went through all of these."""
    return min((d for d in dtypes if d in LOOSEST), key=LOOSEST.index, default=dtypes[0])


# Sentences that speak of torch's own insides: only the exception's type is compared.
INSIDES = re.compile(
    r"INTERNAL ASSERT|The only supported types are|received an invalid combination of arguments|aten::|"
    r"Please (report|open)|ComplexHalf"
)


# What a call may raise that is refused.
REFUSALS = (TypeError, ValueError, RuntimeError, IndexError)


def dtype_name(dtype: Any) -> str:
    """float32 for L.float32."""
    return str(dtype).rpartition(".")[2]


def build(lib: Any, array: np.ndarray, dtype: str, layout: str = "plain", device: str | None = None) -> Any:
    """A tensor of the library with these values, laid out in memory as asked.

    plain: contiguous. transposed: outer dims swapped. strided: every second element of a larger one.
    expanded: the last dim has stride 0 (the first value repeats).
    """
    array = np.asarray(array)
    if array.dtype != NUMPY[dtype]:
        with np.errstate(all="ignore"):
            array = array.astype(NUMPY[dtype])
    if dtype == "bfloat16":
        array = array.astype(np.float32)

    def finished(values: np.ndarray) -> Any:
        tensor = lib.tensor(np.ascontiguousarray(values).reshape(values.shape))
        tensor = tensor.to(getattr(lib, dtype)) if dtype == "bfloat16" else tensor
        return tensor if device is None else tensor.to(device)

    if layout == "transposed" and array.ndim > 1:
        return finished(np.swapaxes(array, 0, -1)).transpose(0, -1)
    if layout in ("transposed", "strided"):
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1) if array.ndim else (3,), array.dtype)
        if array.ndim == 0:
            wide[1] = array
            return finished(wide)[1]
        wide[..., 1::2] = array
        return finished(wide)[..., 1::2]
    if layout == "expanded" and array.ndim and array.shape[-1] > 0:
        return finished(array[..., :1]).expand(array.shape)
    return finished(array)


def numpy_of(tensor: Any) -> np.ndarray:
    """The values of a tensor as an array numpy can compute with."""
    # cloned: a tensor that gave its memory to numpy can no longer be resized
    tensor = tensor.detach().clone()
    if dtype_name(tensor.dtype) == "bfloat16":
        tensor = tensor.float()
    # force: torch keeps conjugation, negation and all-zero tensors lazy
    return tensor.numpy(force=True)


@dataclass
class Call:
    """A sample built in one library: arguments, and the tensors among them with their first values."""

    lib: Any
    args: tuple
    kwargs: dict[str, Any]
    tensors: list
    grads: list

    def snapshot(self) -> list[np.ndarray]:
        """The values of all tensors now."""
        return [numpy_of(tensor) for tensor in self.tensors]


def prepare(
    lib: Any,
    sample: Sample,
    dtypes: str | tuple[str, ...] = "float64",
    layout: str = "plain",
    needs_grad: Callable[[int], bool] | bool = False,
    devices: Callable[[int], str] | None = None,
    data: list[np.ndarray] | None = None,
) -> Call:
    """Build a sample. `dtypes`: one for all `X`, or one each (the last repeats); `data` overrides values."""
    tensors: list = []
    grads: list = []
    many = dtypes if isinstance(dtypes, tuple) else (dtypes,)
    count = 0

    def one(item: X) -> Any:
        nonlocal count
        dtype = item.dtype or many[min(count, len(many) - 1)]
        array = item.data(dtype, 7919 * (count + 1)) if data is None else data[count]
        tensor = build(lib, array, dtype, layout, devices(count) if devices else None)
        wanted = needs_grad(count) if callable(needs_grad) else needs_grad
        if wanted and item.grad and kind_of(dtype) in ("float", "complex"):
            tensor = tensor.detach().requires_grad_()
            grads.append(tensor)
        tensors.append(tensor)
        count += 1
        return tensor

    def finish(item: Any) -> Any:
        if isinstance(item, Lib):
            return getattr(lib, item.name)
        if isinstance(item, np.ndarray):
            tensor = lib.tensor(item)
            tensor = tensor.to(devices(0)) if devices else tensor
            tensors.append(tensor)
            return tensor
        if isinstance(item, dict):
            return {key: finish(part) for key, part in item.items()}
        if isinstance(item, slice):
            return slice(finish(item.start), finish(item.stop), finish(item.step))
        if type(item) in (tuple, list):
            return type(item)(finish(part) for part in item)
        return item

    args, kwargs = swap((sample.args, sample.kwargs), one)
    return Call(lib, finish(args), finish(kwargs), tensors, grads)


def seeds(sample: Sample, dtypes: str | tuple[str, ...]) -> list[np.ndarray]:
    """The values `prepare` would use, for a caller that moves them."""
    many = dtypes if isinstance(dtypes, tuple) else (dtypes,)
    return [x.data(x.dtype or many[min(i, len(many) - 1)], 7919 * (i + 1)) for i, x in enumerate(sample.xs())]


def function_of(op: Op, lib: Any) -> Callable[..., Any]:
    """The op as a function of its arguments."""
    if op.fn is not None:
        return lambda *args, **kwargs: op.fn(lib, *args, **kwargs)
    if op.reference is not None and lib is torch:
        return lambda *args, **kwargs: with_forms(op.reference, args, kwargs)
    first, _, rest = op.name.partition(".")
    if first == "Tensor":
        plain = getattr(L.Tensor if op.reference is not None else torch.Tensor, rest)
        if callable(plain):
            return lambda x, *args, **kwargs: getattr(x, rest)(*args, **kwargs)
        return lambda x: getattr(x, rest)
    found = lib
    for part in op.name.split("."):
        found = getattr(found, part)
    return found


def with_forms(reference: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call a reference; `out=`, which it need not know, is filled as torch fills it.

    A product with True is the value itself, in its dtype: torch then casts, resizes and refuses as in any op.
    """
    if "out" not in kwargs:
        return reference(*args, **kwargs)
    out = kwargs["out"]
    if not all(isinstance(one, torch.Tensor) for one in flat(out)):
        raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
    found = reference(*args, **{name: one for name, one in kwargs.items() if name != "out"})
    for value, place in zip(flat(found), flat(out), strict=True):
        torch.mul(value, True, out=place)
    return out


def in_place(reference: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """What the in-place method of a function with this reference does to its first argument."""
    x = args[0]
    found = reference(x.clone(), *args[1:], **kwargs)  # what torch saves for the gradient stays as it is
    if not torch.can_cast(found.dtype, x.dtype):
        raise RuntimeError(f"result type {found.dtype} can't be cast to the desired output type {x.dtype}")
    if found.shape != x.shape:
        raise RuntimeError(f"output with shape {list(x.shape)} doesn't match the shape {list(found.shape)}")
    return x.copy_(found)


@dataclass
class Outcome:
    """What a call did: a result, or an exception with its first line, and the warnings on the way."""

    value: Any = None
    error: BaseException | None = None
    warned: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The first line of the exception."""
        return str(self.error).strip().split("\n")[0]


def attempt(action: Callable[..., Any], *args: Any) -> Outcome:
    """Call, and keep whatever came."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, error = action(*args), None
        except Exception as raised:
            # the traceback would keep every tensor of the frame alive
            value, error = None, raised.with_traceback(None)
    return Outcome(
        value, error, tuple(LOCATION.sub("", str(w.message).strip().split("\n")[0]) for w in caught)
    )


def run(op: Op, call: Call) -> Outcome:
    """Call the op."""
    function = function_of(op, call.lib)
    return attempt(lambda: function(*call.args, **call.kwargs))


def renamed(text: str) -> str:
    """A sentence of torch as the library would say it."""
    return re.sub(r"\btorch(\.|::)", rf"{L.__name__}\1", text)


def flat(value: Any) -> list:
    """The tensors and other leaves of a result, in order."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in flat(part)]
    if isinstance(value, list | tuple) and type(value).__name__ != "Size":
        return [leaf for part in value for leaf in flat(part)]
    return [value]


def tensors_of(value: Any, lib: Any) -> list:
    """Only the tensors of a result."""
    return [leaf for leaf in flat(value) if isinstance(leaf, lib.Tensor)]


def close(mine: np.ndarray, theirs: np.ndarray, dtype: str, op: Op) -> bool:
    """Equal, or within the dtype's tolerance."""
    if kind_of(dtype) in ("int", "bool"):
        return bool(np.array_equal(mine, theirs))
    rtol, atol = op.tolerance.get(dtype, TOLERANCE[dtype])
    with np.errstate(all="ignore"):
        return bool(np.allclose(mine, theirs, rtol=rtol, atol=atol, equal_nan=True))


def mismatch(
    op: Op, mine: Any, theirs: Any, values: bool = True, strides: bool = False, dtype: str | None = None
) -> str:
    """Say how a result of the library differs from torch's, or nothing. `dtype` sets the tolerance."""
    left, right = flat(mine), flat(theirs)
    if len(left) != len(right):
        return f"{len(left)} results, torch has {len(right)}"
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        place = f"result {index}: " if len(left) > 1 else ""
        if not isinstance(b, torch.Tensor):
            if isinstance(b, float) and isinstance(a, float):
                if not np.isclose(a, b, equal_nan=True, rtol=1e-6):
                    return f"{place}{a!r}, torch has {b!r}"
            elif repr(a) != renamed(repr(b)):
                return f"{place}{a!r}, torch has {b!r}"
            continue
        if not isinstance(a, L.Tensor):
            return f"{place}a {type(a).__name__}, torch has a tensor"
        if dtype_name(a.dtype) != dtype_name(b.dtype):
            return f"{place}dtype {a.dtype}, torch has {b.dtype}"
        if tuple(a.shape) != tuple(b.shape):
            return f"{place}shape {tuple(a.shape)}, torch has {tuple(b.shape)}"
        if strides and b.numel() and dense_strides(a) != dense_strides(b):
            return f"{place}strides {a.stride()}, torch has {b.stride()}"
        if values:
            x, y = numpy_of(a), numpy_of(b)
            if not close(x, y, dtype or dtype_name(b.dtype), op):
                return f"{place}values\n    {x.tolist()}\n  torch has\n    {y.tolist()}"
    return ""


def dense_strides(tensor: Any) -> tuple[int, ...]:
    """The strides that matter: of dims longer than one."""
    return tuple(s for n, s in zip(tensor.shape, tensor.stride(), strict=True) if n > 1)


def error_mismatch(op: Op, mine: Outcome, theirs: Outcome) -> str:
    """Say how the exceptions differ, or nothing. Neither raising counts as equal."""
    if (mine.error is None) != (theirs.error is None):
        return f"{describe(mine)}, torch {describe(theirs)}"
    if theirs.error is None:
        return ""
    if op.reference is not None:
        return "" if isinstance(mine.error, REFUSALS) else describe(mine)
    if type(mine.error).__name__ != type(theirs.error).__name__:
        return f"{describe(mine)}, torch {describe(theirs)}"
    if INSIDES.search(theirs.sentence) or op.is_loose(theirs.sentence):
        return ""
    return "" if mine.sentence == renamed(theirs.sentence) else f"{describe(mine)}, torch {describe(theirs)}"


def is_foreign(outcome: Outcome) -> bool:
    """Whether torch answered in, or complains of, a dtype the library leaves out (complex32, uint16, ...)."""
    if outcome.error is not None:
        return "'ComplexHalf'" in outcome.sentence
    return any(dtype_name(tensor.dtype) not in DTYPES for tensor in tensors_of(outcome.value, torch))


def describe(outcome: Outcome) -> str:
    """One line for a failure message."""
    if outcome.error is None:
        return "returns a result"
    return f"raises {type(outcome.error).__name__}: {outcome.sentence}"


class Report:
    """Collects the failures of one (record, template), so that one run shows all of them."""

    def __init__(self, op: Op) -> None:
        """Start empty."""
        self.op = op
        self.failures: list[str] = []
        self.checked = 0

    def add(self, message: str, sample: Any, *context: Any) -> None:
        """Note a comparison; an empty message is a pass."""
        self.checked += 1
        if message:
            self.failures.append(f"{self.op.name}{sample} {' '.join(map(str, context))}: {message}")

    def finish(self, at_least: int = 1) -> None:
        """Fail with the first failures."""
        if self.failures:
            shown = "\n".join(self.failures[:6])
            pytest.fail(f"{len(self.failures)} of {self.checked} differ:\n{shown}", pytrace=False)
        if self.checked < at_least:
            pytest.fail(f"the samples of {self.op.name} exercise nothing here", pytrace=False)
