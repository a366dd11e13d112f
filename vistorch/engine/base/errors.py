"""The sentences PyTorch fixes and the engine's core raises; a family's own sentences stand beside its ops.

Invariant: the wording is PyTorch 2.13's with `vistorch` for `torch`, pinned by tests against the real library.
"""

from __future__ import annotations

import re
import warnings
from math import prod
from typing import Any

from ..library_name import named
from . import dtypes, type_names
from .modes import mode

FREED_TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward."
)
INFERENCE_SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
    "in autograd, or use `vistorch.no_grad()` instead of `vistorch.inference_mode()`."
)
INFERENCE_WRITTEN = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
    "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)
NOT_A_LEAF = "you can only change requires_grad flags of leaf variables."
USE_DETACH = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = "
    "var.detach()."
)
LEAF_WRITTEN = "a leaf Variable that requires grad is being used in an in-place operation."
LEAF_VIEW_WRITTEN = "a view of a leaf Variable that requires grad is being used in an in-place operation."
WRITE_ALIASED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)
WRITE_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
UNPACKED_NO_TENSOR = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}"
PACK_WROTE = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
    "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to "
    "perform in-place operations on the input to a pack hook."
)
NO_GRAD_FN = "element {} of tensors does not require grad and does not have a grad_fn"
NOT_SCALAR = "grad can be implicitly created only for scalar outputs"

_NO_GRAD_VIEW = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving "
    "both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) "
    "or both outside (if you want the inplace to be tracked)."
)
_MULTI_VIEW = (
    " This view is the output of a function that returns multiple views. Such functions do not allow the output "
    "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
_CUSTOM_VIEW = (
    " This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic "
    "to handle view+inplace would override the custom backward associated with the custom Function, leading to "
    "incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
)


_BACKWARD = re.compile(r"Backward0?(?=\d*$)")
MODIFIED_HIDDEN = (
    "enable anomaly detection to find the operation that failed to compute its gradient, with "
    "vistorch.autograd.set_detect_anomaly(True, check_nan=False)."
)
MODIFIED_SHOWN = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
    "changed in there or anywhere later. Good luck!"
)


def type_name(value: Any) -> str:
    """The name of a value's type as PyTorch's C++ side prints it: with its module for other C types."""
    kind = type(value)
    heap = kind.__flags__ & (1 << 9)  # types made by a class statement are printed without their module
    return kind.__name__ if heap or kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def sizes(shape: tuple) -> str:
    """A shape as PyTorch's messages print it: "[2, 3]"."""
    return "[" + ", ".join(map(str, shape)) + "]"


def modified(data: Any, place: Any, source: Any, now: int, then: int, nr: int | None = None) -> str:
    """A saved value was overwritten before backward read it."""
    what = f"[{type_names.type_name(dtypes.of(data.dtype), place.device.type)} {sizes(data.shape)}]"
    if source is not None and (source.rule is not None or source.edges):
        node, given = source.endpoint()
        what += f", which is output {given if nr is None else nr} of {op_name(node)},"
    hint = MODIFIED_SHOWN if mode.anomaly else named(MODIFIED_HIDDEN)
    return (
        f"one of the variables needed for gradient computation has been modified by an inplace operation: {what} is "
        f"at version {now}; expected version {then} instead. Hint: {hint}"
    )


def op_name(node: Any) -> str:
    """A node's name as these sentences print it: "Mul" for MulBackward0, "Prod1" for ProdBackward1."""
    return _BACKWARD.sub("", node.name())


def view_written(meta: str, source: Any, indirect: bool) -> str:
    """A view whose history cannot be rebuilt is written, or its base is."""
    node, nr = (None, 0) if source is None else source.endpoint()
    who = "A view" if node is None else f"Output {nr} of {op_name(node)} is a view"
    if indirect:
        done = "its base or another view of its base has been modified inplace"
    else:
        done = "is being modified inplace"
    if node is None or meta in ("no_grad", "inference"):
        where, now = (
            ("inference", " in normal mode")
            if meta == "inference"
            else ("no_grad", " with grad mode enabled")
        )
        origin = f"was created in {where} mode and {done}{now}."
        start = f"{who} {origin}" if node is None else f"{who} of a view which {origin}"
    else:
        start = f"{who} and {done}."
    if meta == "inference":
        return start + _NO_GRAD_VIEW.replace("no_grad block", "inference_mode block")
    return start + {"multi": _MULTI_VIEW, "custom": _CUSTOM_VIEW}.get(meta, _NO_GRAD_VIEW)


def grad_dtype(given: Any, expected: Any) -> str:
    """`x.grad = g` with another dtype."""
    alias = {
        "Float": "float",
        "Double": "double",
        "Half": "c10::Half",
        "BFloat16": "c10::BFloat16",
        "Long": "long int",
    }
    g, e = dtypes.of(given).scalar_name, dtypes.of(expected).scalar_name
    return (
        f"attempting to assign a gradient with dtype '{alias.get(g, g.lower())}' to a tensor with grad_dtype "
        f"'{e}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
        "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
        "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they "
        "match."
    )


def warn_non_leaf_grad() -> None:
    """`.grad` of a non-leaf is read."""
    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
        UserWarning,
        stacklevel=3,
    )


GRADIENT_SHAPE = (
    "a gradient of shape {} arrives where one compatible with {} is expected: the tensor got another shape after the "
    "forward pass"
)
FORMULA_UNFIT = (
    "the gradient of {} cannot be computed, since what was saved for it does not fit together: {}. Was the `.data` of "
    "a tensor replaced by one of another shape between the forward pass and this one?"
)
LEAF_RESHAPED = (
    "The leaf that this gradient is for had shape {} when the graph was made, and has another now (or another device): "
    "run the forward pass again, or change the leaf after the backward pass."
)


def broadcast(a: tuple, b: tuple) -> str | None:
    """The sentence for two shapes that do not broadcast, or None if they do."""
    n = max(len(a), len(b))
    for i in range(n - 1, -1, -1):
        p = a[i - n + len(a)] if i - n + len(a) >= 0 else 1
        q = b[i - n + len(b)] if i - n + len(b) >= 0 else 1
        if p != q and p != 1 and q != 1:
            return f"The size of tensor a ({p}) must match the size of tensor b ({q}) at non-singleton dimension {i}"
    return None


BATCHED = 2  # the kind of a place whose arrays have batch dims that do not show: a call of `vmap`


class Unbatchable(Exception):
    """Something looks at the memory of a batched tensor: the samples must go one by one."""


VMAP_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
    "please try to rewrite what you're doing with other operations."
)
VMAP_IN_PLACE = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "
    "that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped "
    "over in a vmap. Please try to use out-of-place operators instead of inplace arithmetic."
)
VMAP_CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that "
    "yet; choose between two results with where()."
)


def devices(a: Any, b: Any, func: str = "") -> str:
    """Tensors of two devices met in one op."""
    if a.kind == BATCHED or b.kind == BATCHED:
        raise Unbatchable("one of them has batch dims")
    return f"Expected all tensors to be on the same device, but found at least two devices, {a.device} and {b.device}!"


def check_devices(a: Any, b: Any, func: str = "") -> None:
    """Refuse tensors of two devices; those that only differ in batch dims are brought together by the op."""
    if a.kind != BATCHED and b.kind != BATCHED:
        raise RuntimeError(devices(a, b, func))


class OutOfMemoryError(RuntimeError):
    """A CUDA device has no memory left for an array.

    Example:
        >>> import vistorch
        >>> issubclass(vistorch.OutOfMemoryError, RuntimeError)
        True
    """


class AcceleratorError(RuntimeError):
    """Something went wrong on a CUDA device.

    Example:
        >>> import vistorch
        >>> issubclass(vistorch.AcceleratorError, RuntimeError)
        True
    """


OutOfMemoryError.__module__ = AcceleratorError.__module__ = "vistorch"


def no_memory(exc: MemoryError) -> RuntimeError:
    """What PyTorch says where numpy, or cupy, found no memory for an array."""
    if isinstance(exc, OutOfMemoryError):
        return exc
    if type(exc).__module__.startswith("cupy"):
        return OutOfMemoryError(f"CUDA out of memory. {exc}")
    shape, dtype = getattr(exc, "shape", None), getattr(exc, "dtype", None)
    size = (
        f"{prod(shape) * dtype.itemsize} bytes"
        if shape is not None and dtype is not None
        else "too many bytes"
    )
    return RuntimeError(
        f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {size}. "
        "Error code 12 (Cannot allocate memory)"
    )


def must_be_str(func: str, argument: str, position: int, given: Any) -> TypeError:
    """A TypeError for an argument that should have been a str; position 0 for one that is only named."""
    kind = "NoneType" if given is None else type(given).__name__
    where = f" (position {position})" if position else ""
    return TypeError(f"{func}(): argument '{argument}'{where} must be str, not {kind}")


def must_be_tensor(func: str, argument: str, position: int, given: Any) -> TypeError:
    """A TypeError for an argument that should have been a Tensor."""
    kind = "NoneType" if given is None else type(given).__name__
    return TypeError(f"{func}(): argument '{argument}' (position {position}) must be Tensor, not {kind}")


def no_tensor(name: str, *given: Any) -> TypeError:
    """An op of two operands that was given none that is a Tensor."""
    kinds = ", ".join(map(type_name, given))
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({kinds}), but at least one must be a Tensor"
    )


def not_built(name: str, why: str) -> NotImplementedError:
    """What exists by name only, and what to do instead."""
    return NotImplementedError(named(f"{name} is not built: {why}"))
