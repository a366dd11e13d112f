"""What index tensors must be: PyTorch's sentences for their dtype, dims, sizes and range.

Invariant: nothing here changes a tensor; what passes can be given to numpy, which never sees an index out of range.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import dims, dtypes, errors
from ...base.modes import mode
from ...core import out_argument, views
from ...core.graph import sync_rg, version
from ...core.inplace import replace
from ...core.registry import METHODS
from ...core.tensor import Tensor, wrap
from ...memory.lanes import Lanes
from ...memory.placement import BATCHED, CPU

LONG = np.dtype("i8")
INT = np.dtype("i4")
UNSIGNED = np.dtype("u8")
# How C++ calls the types in these sentences.
CPP = {
    "float32": "float",
    "float64": "double",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}
# What PyTorch finds only after it has found that the written tensor overlaps itself.
LATE = (
    "index ",
    "out of range: tried",
    "index_copy_():",
    "reduce argument",
    "Number of elements",
    "The expanded size",
    "masked_scatter:",
)


def tensors(func: str, *given: tuple) -> None:
    """Refuse arguments that are no tensors: (argument, position, value)."""
    for argument, position, value in given:
        if value.__class__ is not Tensor and not isinstance(value, Tensor):
            raise errors.must_be_tensor(func, argument, position, value)


def scalar_name(t: Tensor) -> str:
    """`Float`, as the sentences name a dtype."""
    return dtypes.of(t._data.dtype).scalar_name


def reach(index: Any, size: int, place: Any, low: int = 0, func: str = "index") -> Any:
    """The first index outside `low` <= i < `size`, or None. A device looks by itself, and `func` is blamed later."""
    if index.__class__ is Lanes:
        index = index.array.reshape(-1)
    elif place.kind == BATCHED:
        pass
    elif place.kind:
        from ...kernels.cuda import places

        places.check(place.xp, index, low, size, func)
        return None
    if not index.size:
        return None
    if not low and index.dtype is LONG and index.flags.c_contiguous:
        whole = index.view(UNSIGNED)  # a negative one is huge: one look instead of two
        if whole.item(whole.argmax()) < size:  # on short indices `max` takes four times as long
            return None
    elif index.min() >= low and index.max() < size:
        return None
    flat = index.reshape(-1)
    return flat[((flat < low) | (flat >= size)).argmax()]


def out_of_bounds(bad: Any, dim: int, size: int) -> str:
    """The sentence for an index outside its dimension."""
    return f"index {bad} is out of bounds for dimension {dim} with size {size}"


def cpp_name(t: Tensor) -> str:
    """`long int`, as some sentences name a dtype."""
    return CPP[dtypes.of(t._data.dtype).name]


def check_out(func: str, out: Any, input: Tensor, operands: tuple = (), said: str = "") -> None:
    """`out=` of the very dtype of the input; `said` is the sentence where it is not the common one."""
    out_argument.check_out(func, out, (input, *operands))
    out_argument.refuse_overlap(out, (input,))
    disjoint(out, operands)
    if views.aliased(out._data):
        raise RuntimeError(errors.WRITE_ALIASED)
    if isinstance(input, Tensor) and out._data.dtype != input._data.dtype:
        said = said or f"Expected out tensor to have dtype {cpp_name(input)}, but got {cpp_name(out)} instead"
        raise RuntimeError(said)


disjoint = out_argument.refuse_shared


def in_place(fn: Callable) -> Callable:
    """Offer `fn_` as a method: an expanded tensor is refused where PyTorch looks for it."""

    def call(input, *args, **kwargs):
        if isinstance(input, Tensor) and fn.__name__ not in ("masked_scatter", "masked_fill"):
            disjoint(input, (*args, *kwargs.values()))
        try:
            return replace(input, fn, args, kwargs)
        except (RuntimeError, IndexError) as refusal:
            if isinstance(input, Tensor) and views.aliased(input._data) and str(refusal).startswith(LATE):
                raise RuntimeError(errors.WRITE_ALIASED) from None
            raise

    call.__name__ = call.__qualname__ = fn.__name__ + "_"
    METHODS[call.__name__] = call
    return fn


def written(fn: Callable, x: Any, args: tuple) -> Tensor:
    """`fn_` for fills, which write into an expanded tensor too, with a warning."""
    if not isinstance(x, Tensor) or not views.aliased(x._data):
        return replace(x, fn, args, {})
    inner = wrap(x._data.copy(), x._place)
    records = bool(mode.on) and sync_rg(x)
    views.before_write(x, records)
    if records:
        inner._node, inner._rg = views.origin_of(x), True
    result = fn(inner, *args)
    warnings.warn(
        f"Use of {fn.__name__}_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
        "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar",
        UserWarning,
        stacklevel=4,
    )
    # every element of one memory location is written once: the location is filled if any of them is
    changed = result._data != x._data
    x._data[changed] = result._data[changed]
    version(x).n += 1
    if result._rg:
        views.rebase(x, result)
    return x


def scatter_index(func: str, input: Tensor, dim: int, index: Tensor, src: Tensor | None, what: str) -> None:
    """Gather and scatter: dtype, dims and sizes of an index, and of the source that goes with it."""
    i = index._data
    if i.dtype != LONG and i.dtype != INT and i.size:
        raise RuntimeError(f"{func}(): Expected dtype int32/int64 for index")
    if src is not None and src._data.dtype != input._data.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not i.size:
        return
    x = input._data
    if (i.ndim or 1) != (x.ndim or 1):
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as {'input' if func == 'gather' else what} tensor"
        )
    if func == "gather":
        for d, n in enumerate(i.shape if x.ndim else ()):
            if d != dim and n > x.shape[d]:
                raise RuntimeError(
                    f"Size does not match at dimension {d} expected index {errors.sizes(i.shape)} to be no larger "
                    "than self "
                    f"{errors.sizes(x.shape)} apart from dimension {dim}"
                )
        return
    wrong = any(d != dim and n > x.shape[d] for d, n in enumerate(i.shape if x.ndim else ()))
    if src is None:
        larger = ""
    else:
        s = src._data.shape
        for d, n in enumerate(i.shape or (1,)):
            if not wrong and s:
                dims.one(d, len(s))
            wrong = wrong or n > (s[d] if s else 1)
        if (len(s) or 1) != (i.ndim or 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
        larger = f" and to be no larger size than src {errors.sizes(s)}"
    if wrong:
        raise RuntimeError(
            f"Expected index {errors.sizes(i.shape)} to be no larger than self {errors.sizes(x.shape)} apart "
            "from dimension "
            f"{dim}{larger}"
        )


def bounded(func: str, input: Tensor, dim: int, index: Tensor, error: Any = RuntimeError) -> None:
    """Refuse positions outside the dimension; negative ones do not count from the end."""
    size = input._data.shape[dim] if input._data.ndim else 1
    bad = reach(index._data, size, input._place, 0, func)
    if bad is not None:
        raise error(out_of_bounds(bad, dim, size))


def flat_index(func: str, input: Tensor, index: Tensor) -> None:
    """Take and put: long positions in the flat tensor, negative ones from the end."""
    i = index._data
    if i.dtype != LONG:
        raise RuntimeError(f"{func}(): Expected a long tensor for index, but got {scalar_name(index)}")
    n = input._data.size
    if func == "take" and n == 0 and i.size:
        raise IndexError("take(): tried to take from an empty tensor")
    bad = reach(i, n, input._place, -n, func)
    if bad is not None:
        raise IndexError(f"out of range: tried to access index {bad} on a tensor of {n} elements.")


def same_place(func: str, input: Tensor, *others: Tensor) -> None:
    """Refuse tensors of two devices."""
    for t in others:
        if t._place is not input._place:
            errors.check_devices(input._place, t._place, func)


def is_cpu_number(t: Tensor) -> bool:
    """Whether a tensor is a number in disguise, which may join a tensor of any device."""
    return t._data.ndim == 0 and t._place is CPU


def scatter(name: str, input: Any, dim: Any, index: Any, src: Any) -> tuple[int, Any]:
    """The normalised dim of a scatter and the source in the index's rank, after every check but the index's range."""
    tensors(name, ("input", 1, input), ("index", 3, index), ("src", 4, src))
    dim = dims.one(dim, input._data.ndim, name, position=2)
    same_place(name, input, index, src)
    scatter_index("scatter", input, dim, index, src, "self")
    if src._data.ndim != index._data.ndim and index._data.size:  # a number counts as one dim of length one
        src = METHODS["reshape"](src, (-1,))
        src = src if index._data.ndim else src[0]
    return dim, src
