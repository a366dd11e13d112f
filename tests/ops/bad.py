"""Calls that are wrong in one place, made from the records' samples.

Invariant: what is wrong is said without a library, so both libraries get the same bad call.
"""

import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.ops.cases import dtypes_of
from tests.ops.library import Call, prepare
from tests.ops.record import Op, Sample, X

THINGS = {
    "None": lambda: None,
    "text": lambda: "text",
    "a list": lambda: [1.0, 2.0],
    "an object": object,
    "strings": lambda: np.array(["a", "b"]),
}
NUMBERS = (10**3, -(10**3), 2.5, "text", 10**30)
# what kills or stops torch or fills the memory
LEFT_OUT = {
    ("linalg.eig", "nan"): "MKL writes to the terminal and may crash",
    ("linalg.eigvals", "nan"): "MKL writes to the terminal and may crash",
    ("binomial", "nan"): "torch does not come back",
    ("lstm", "0.1.0"): "torch reads past the end of a state that is too small, and may crash",
    ("lstm", "0.1.1"): "the same",
}
TOO_SLOW = {
    ("combinations", 10**3): "half a million rows of a thousand",
    **{
        (f"nn.functional.conv{transposed}{dims}d", 10**3): "a border of a thousand in every direction"
        for transposed in ("", "_transpose")
        for dims in (2, 3)
    },
    ("convolution", 10**3): "the same",
    ("nn.functional.unfold", 10**3): "the same",
}
WRONG_DTYPES = ("bool", "int64", "complex128", "float16")
SHAPES = ((), (2, 1, 2, 1, 2))
OUTS = {
    "out=text": lambda lib: "text",
    "out=a list": lambda lib: [1.0],
    "out=bool": lambda lib: lib.zeros((7, 7), dtype=lib.bool),
    "out=expanded": lambda lib: lib.zeros(1).expand(3),
}


@dataclass(frozen=True)
class Bad:
    """A sample, the dtype of its tensors, and what to put where after it is built."""

    sample: Sample
    label: str
    dtype: str
    path: tuple = ()
    put: Callable[[], Any] | None = None
    more: Callable[[Any], dict[str, Any]] | None = None

    def build(self, lib: Any) -> Call:
        """The bad call in a library."""
        call = prepare(lib, self.sample, self.dtype)
        if self.put is not None:
            root = changed([call.args, call.kwargs], self.path, lambda _: self.put())
            call.args, call.kwargs = root
        if self.more is not None:
            call.kwargs = {**call.kwargs, **self.more(lib)}
        return call


def changed(item: Any, path: tuple, change: Callable[[Any], Any]) -> Any:
    """A copy of nested arguments with the one at `path` changed."""
    if not path:
        return change(item)
    step, *rest = path
    if isinstance(item, dict):
        return {**item, step: changed(item[step], tuple(rest), change)}
    parts = list(item)
    parts[step] = changed(parts[step], tuple(rest), change)
    return type(item)(parts)


def leaves(item: Any, path: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """Every argument, and every part of a tuple or list, with its path."""
    if isinstance(item, dict):
        for key, part in item.items():
            yield from leaves(part, (*path, key))
    elif type(item) in (tuple, list):
        if len(path) == 2:
            yield path, item
        for at, part in enumerate(item):
            yield from leaves(part, (*path, at))
    else:
        yield path, item


def bad_calls(op: Op) -> Iterator[Bad]:
    """The bad calls of a record, always the same ones."""
    samples = op.samples[:1] + op.samples[2:5]
    for number, sample in enumerate(samples):
        dtype = next(iter(dtypes_of(op, sample)), "float64")
        dtype = "float64" if "float64" in dtypes_of(op, sample) else dtype
        arguments = [
            leaf for root in ((0, sample.args), (1, sample.kwargs)) for leaf in leaves(root[1], (root[0],))
        ]
        if number == 0 and not is_operator(op):
            yield Bad(sample, "unknown keyword", dtype, more=lambda lib: {"no_such_argument": 1})
            for label, make in OUTS.items():
                if op.fn is None:
                    yield Bad(sample, label, dtype, more=lambda lib, make=make: {"out": make(lib)})
        for path, value in arguments:
            where = ".".join(map(str, path))
            if isinstance(value, X):
                if number < 2:
                    for label, make in THINGS.items():
                        if op.name.startswith("Tensor.") and path == (0, 0):
                            continue  # a method of something else
                        yield Bad(sample, f"{where} is {label}", dtype, path, make)
                yield from wrong_tensors(op, sample, dtype, path, value, where)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                for thing in NUMBERS:
                    if (op.name, thing) in TOO_SLOW:
                        continue
                    yield Bad(sample, f"{where} is {thing!r}", dtype, path, lambda thing=thing: thing)
            elif number < 2:
                for label in ("None", "an object", "a list"):
                    yield Bad(sample, f"{where} is {label}", dtype, path, THINGS[label])
        if len(sample.args) + len(sample.kwargs) == 1 and number < 2 and not is_operator(op):
            longer = replace(sample, args=(*sample.args, 0))
            for thing in NUMBERS:
                yield Bad(longer, f"extra {thing!r}", dtype, (0, len(sample.args)), lambda thing=thing: thing)


def is_operator(op: Op) -> bool:
    """Whether it is a method that Python's operators call, and nobody by name."""
    return op.base.startswith("__")


def wrong_tensors(op: Op, sample: Sample, dtype: str, path: tuple, x: X, where: str) -> Iterator[Bad]:
    """The sample with one tensor of another shape or dtype, or full of values that are no integers."""

    def with_x(**change: Any) -> Sample:
        args, kwargs = changed([sample.args, sample.kwargs], path, lambda x: replace(x, **change))
        return replace(sample, args=args, kwargs=kwargs)

    shape = x.shape if x.value is None else np.shape(x.value)
    if x.value is None and x.finish is None and (op.name, where) not in LEFT_OUT:
        wider = [(*shape[:at], shape[at] + 1, *shape[at + 1 :]) for at in range(len(shape))]
        for other in (*SHAPES, *wider):
            yield Bad(with_x(shape=other), f"{where} has shape {other}", dtype)
    for other in WRONG_DTYPES:
        if other == "int64" and x.value is not None and not np.isfinite(x.value).all():
            continue
        if other != (x.dtype or dtype):
            yield Bad(with_x(dtype=other), f"{where} is of {other}", dtype)
    if (x.dtype or dtype).startswith("float") and (op.name, "nan") not in LEFT_OUT:
        yield Bad(with_x(value=np.full(shape, np.nan)), f"{where} is nan", dtype)
    if (x.dtype or dtype).startswith("int"):
        far = 10**4 if "polynomial" in op.name else 10**6  # a recurrence walks through every degree
        yield Bad(with_x(value=np.full(shape, far)), f"{where} is {far}", dtype)
        yield Bad(with_x(value=np.full(shape, -far)), f"{where} is {-far}", dtype)


@dataclass
class End:
    """How a call ended: a result, or an exception and the files of its frames, outermost first."""

    error: BaseException | None = None
    value: Any = None
    files: tuple[str, ...] = ()
    line: str = ""

    @property
    def said(self) -> str:
        """One line."""
        if self.error is None:
            return "a result"
        return f"{type(self.error).__name__}: {str(self.error).strip().splitlines()[:1]} {self.line}"


def ended(action: Callable[..., Any], *args: Any, **kwargs: Any) -> End:
    """Call, and keep how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return End(value=action(*args, **kwargs))
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            last = frames[-1]
            files = tuple(frame.filename for frame in frames)
            return End(
                error.with_traceback(None), None, files, f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            )
