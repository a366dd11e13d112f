"""A torch tensor as an array of numpy or ml_dtypes, and the words about it.

Every dtype and layout has a picture or one sentence. What is on a device comes over in one transfer, and only what was
asked for: what a view shows of a tensor is not more than its elements, so memory shared with others stays there.

Invariant: the tensor is only read; no graph, no hook and no version of it changes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np

from ..debug.array.source import Source
from ..debug.device_reads import unpacked
from ..debug.source import Facts, Unsupported
from ..engine.memory.placement import CPU
from . import private
from .real import torch

DENSE = 1 << 26  # elements that a sparse tensor may have to be drawn
# Types that numpy has from ml_dtypes; their bytes are read as integers of the same size.
FOREIGN = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
}
# Types that nothing is computed in: parts of a byte, several in one, or bits without a meaning.
BYTES = re.compile(r"u?int[1-7]|bits\w+|float4\w+")
_PLAIN = frozenset(
    (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool, torch.float16)
)
LAYOUTS = {
    "sparse_coo": "sparse (coo)",
    "sparse_csr": "sparse (csr)",
    "sparse_csc": "sparse (csc)",
    "sparse_bsr": "sparse (bsr)",
    "sparse_bsc": "sparse (bsc)",
    "_mkldnn": "mkldnn",
}


def name_of(dtype: Any) -> str:
    """A dtype's name: "float32"."""
    return str(dtype).removeprefix("torch.")


def refused(t: Any) -> str | None:
    """Why a tensor has no values that could be shown, in a sentence; None where it has."""
    if isinstance(t, torch.nn.parameter.UninitializedTensorMixin):
        return "it has no shape yet: the first forward gives it one"
    if t.is_nested:
        return "a nested tensor has no one shape: show its parts, as in [*x.unbind()]"
    shape = f" of shape {tuple(t.shape)}"
    if private.is_fake(t):
        return f"a fake tensor{shape} stands for one and has no values: make it outside of FakeTensorMode"
    if t.device.type == "meta":
        return f"a meta tensor{shape} has a shape and no values: x.to_empty(device='cpu') makes room for some"
    if private.is_wrapped(t):
        return (
            "it lives inside a transform of torch.func (vmap, grad, functionalize) and has no values of its own: show "
            "what the transform returns"
        )
    layout = name_of(t.layout)
    if layout != "strided" and t.numel() > DENSE:
        return (
            f"a {LAYOUTS.get(layout, layout)} tensor of {t.numel():,} elements is too large to be drawn dense: show "
            "its values, as in x.values()"
        )
    return None


def placed(t: Any) -> tuple[np.ndarray, Any]:
    """The values, sharing the tensor's memory where it is on the CPU, and the CPU.

    Args:
        t: the tensor.

    Raises:
        Unsupported: it has no values, and why.
    """
    plain = t.layout is torch.strided and t.device.type == "cpu" and t.dtype in _PLAIN
    if plain and not private.is_without_memory(t):
        try:
            return t.detach().numpy(), CPU
        except (RuntimeError, TypeError):  # conjugated, a subclass, without values
            pass
    return host(t), CPU


def host(t: Any) -> np.ndarray:
    """The values on the CPU, in a type of numpy or ml_dtypes.

    Args:
        t: the tensor.

    Raises:
        Unsupported: it has no values, and why.
    """
    return _host(t)[0]


def _host(t: Any) -> tuple[np.ndarray, list[str]]:
    """The values, and what was done to get them."""
    near, notes = ready(t)
    return _numpy(near), notes


def ready(t: Any) -> tuple[Any, list[str]]:
    """A tensor where it is, dense and in a type whose bytes numpy can read, and what was done to get it.

    Args:
        t: the tensor.

    Raises:
        Unsupported: it has no values, and why.
    """
    why = refused(t)
    if why is not None:
        raise Unsupported(why)
    notes: list[str] = []
    with torch.no_grad(), private.without_modes(), _readable(t):
        t = t.detach()
        layout = name_of(t.layout)
        name = name_of(t.dtype)
        if layout != "strided":
            notes.append(LAYOUTS.get(layout, layout) + _stored(t))
            t = t.to_dense()
        if t.is_quantized:
            notes.append(f"{name}, shown dequantized")
            t = t.dequantize()
        if private.is_without_memory(t):
            t = t.clone()
        if t.is_conj() or t.is_neg():
            t = t.resolve_conj().resolve_neg()
        name = name_of(t.dtype)
        if name == "complex32":
            t = t.to(torch.complex64)
            notes.append("shown as complex64")
        if BYTES.fullmatch(name):
            notes.append("shown as its bytes")
    return t, notes


@contextmanager
def _readable(t: Any) -> Iterator[None]:
    """Say in one sentence that a tensor cannot be read, where torch refuses."""
    try:
        yield
    except (RuntimeError, TypeError, NotImplementedError) as error:
        kind = "" if type(t) is torch.Tensor else f" of class {type(t).__name__}"
        raise Unsupported(f"a tensor of {name_of(t.dtype)}{kind} cannot be read: {_line(error)}") from None


def _numpy(t: Any) -> np.ndarray:
    """The values of a tensor that is ready."""
    with torch.no_grad(), private.without_modes(), _readable(t):
        t = t.cpu()
        as_bytes, as_numpy = _carrier(t)
        if as_bytes is None:
            return t.numpy()
        array = t.view(as_bytes).numpy()
        return array if as_numpy is None else array.view(as_numpy)


def _carrier(t: Any) -> tuple[Any, Any]:
    """The type whose bytes numpy takes in the place of a tensor's own, and the type they then are; None for its own."""
    name = name_of(t.dtype)
    if BYTES.fullmatch(name):
        return torch.uint8, None
    if name in FOREIGN:
        return (torch.uint8 if t.element_size() == 1 else torch.int16), FOREIGN[name]
    return None, None


def bring(tensors: list[Any]) -> list[np.ndarray]:
    """The values of tensors of one device, joined there: one transfer.

    Args:
        tensors: as `ready` gives them.
    """
    if len(tensors) == 1:
        return [_numpy(tensors[0])]
    with torch.no_grad(), private.without_modes():
        parts = []
        kinds: list[tuple[np.dtype, tuple[int, ...]]] = []
        for t in tensors:
            as_bytes, as_numpy = _carrier(t)
            plain = t if as_bytes is None else t.view(as_bytes)
            kind = as_numpy if as_numpy is not None else torch.empty(0, dtype=plain.dtype).numpy().dtype
            kinds.append((np.dtype(kind), tuple(plain.shape)))
            parts.append(plain.contiguous().reshape(-1).view(torch.uint8))
        data = torch.cat(parts).cpu().numpy()
    return unpacked(data, kinds)


def array(t: Any, text: bool) -> Source:
    """A tensor as an array to be shown.

    Args:
        t: the tensor.
        text: also make its text.
    """
    near = _near(t)
    data, notes = _host(near)
    if type(t) not in (torch.Tensor, torch.nn.Parameter):
        notes.insert(0, type(t).__name__)
    if t.requires_grad:
        notes.append("requires grad")
    repeated = _stored_of_expanded(t)
    if repeated is not None:
        notes.append(f"expanded: {repeated:,} stored")
    name = name_of(t.dtype)
    return Source(
        data,
        CPU,
        name,
        str(t.device),
        notes,
        _text_from(t, near) if text else "",
        isinstance(t, torch.nn.Parameter),
    )


def _near(t: Any) -> Any:
    """A tensor itself, or what comes over of one that is on a device: for its picture and for its text."""
    if t.device.type in ("cpu", "meta") or refused(t) is not None:
        return t
    with torch.no_grad(), private.without_modes():
        return t.detach().cpu()


def _text_from(t: Any, near: Any) -> str:
    """The text that torch prints of a tensor on a device, from what has come over."""
    if near is t:
        return text_of(t)
    end = ""
    if t.requires_grad:
        made = None if t.grad_fn is None else t.grad_fn.name().rpartition("::")[2]
        end = ", requires_grad=True" if made is None else f", grad_fn=<{made}>"
    text = text_of(near).removesuffix(")")
    found = re.search(r",\s+(?:size|dtype|layout|nnz|quantization_scheme)=", text)
    at = len(text) if found is None else found.start()
    head = "Parameter containing:\n" if isinstance(t, torch.nn.Parameter) else ""
    return f"{head}{text[:at]}, device='{t.device}'{text[at:]}{end})"


def facts(t: Any) -> Facts:
    """What a table says of a tensor.

    Args:
        t: the tensor.
    """
    why = refused(t) or ""
    lazy = isinstance(t, torch.nn.parameter.UninitializedTensorMixin)
    shape = () if t.is_nested or lazy else tuple([int(n) for n in t.shape])
    strided = t.layout is torch.strided and not t.is_nested
    nbytes = 0 if lazy else t.numel() * t.element_size() if strided else private.bytes_of(t)
    memory = 0 if why else private.bytes_of(t)
    return Facts(shape, name_of(t.dtype), str(t.device), nbytes, memory, t.requires_grad, why)


def text_of(t: Any) -> str:
    """The text that torch prints."""
    try:
        with torch.no_grad():
            return repr(t)
    except Exception as error:  # a subclass, a rare layout
        return f"{type(t).__name__} of shape {tuple(t.shape)}: {_line(error)}"


def norm(t: Any) -> float | None:
    """The norm of a tensor; None where it has none."""
    if t is None:
        return None
    try:
        with torch.no_grad():
            t = t.detach()
            if t.layout is not torch.strided:
                t = (t.coalesce() if name_of(t.layout) == "sparse_coo" else t).values()
            if not (t.is_floating_point() or t.is_complex()):
                t = t.to(torch.float32)
            elif t.element_size() <= 2:
                t = t.to(torch.float32)
            found = float(torch.linalg.vector_norm(t))
            if (found == 0 or not math.isfinite(found)) and t.numel():  # squares may have left the range
                found = float(
                    torch.linalg.vector_norm(t, dtype=torch.complex128 if t.is_complex() else torch.float64)
                )
            return found
    except (RuntimeError, NotImplementedError):
        return None


def square(t: Any) -> Any:
    """The sum of squares of a tensor, in double precision, as a number on its device.

    Args:
        t: the tensor.

    Raises:
        Unsupported: it has no values, and why.
    """
    near, _ = ready(t)
    with torch.no_grad(), private.without_modes(), _readable(t):
        near = near.abs() if near.is_complex() else near
        return near.to(torch.float64).square().sum()


def number(t: Any) -> float | None:
    """A tensor that is one real number, None for any other."""
    if (
        t is None
        or t.numel() != 1
        or t.is_complex()
        or t.layout is not torch.strided
        or t.device.type != "cpu"
    ):
        return None
    return None if refused(t) else float(t.detach())


def _stored(t: Any) -> str:
    count = private.stored(t)
    return "" if count is None else f", {count:,} stored"


def _stored_of_expanded(t: Any) -> int | None:
    """How many elements a tensor that repeats some has in memory; None where it repeats none."""
    if t.layout is not torch.strided or not t.numel():
        return None
    repeated = [n for n, stride in zip(t.shape, t.stride(), strict=True) if stride == 0 and n > 1]
    return t.numel() // math.prod(repeated) if repeated else None


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]
