"""Is it true of all, of any, of how many.

Invariant: nothing here is differentiable; uint8 answers are uint8, all others bool.
"""

from __future__ import annotations

from typing import Any

from ...base.dims import flag
from ...core import out_argument
from ...core.op_factory import op
from ...core.registry import METHODS, public
from ..shape.views import one_by_one
from .frame import axes_of, label, numpy_names, tensor

all_dims = op(
    "all_dims", lambda xp, input, dims, keepdim: input.astype(bool).all(dims, keepdims=keepdim), widen=False
)
any_dims = op(
    "any_dims", lambda xp, input, dims, keepdim: input.astype(bool).any(dims, keepdims=keepdim), widen=False
)
count_dims = op(
    "count_dims",
    lambda xp, input, dims: input.astype(bool).sum(dims, dtype=xp.int64),
    widen=False,
)
_true = op("truth", lambda xp, input: input.astype(bool), widen=False)
_as_byte = op("as_byte", lambda xp, input: input.astype(xp.uint8), widen=False)


def _answer(name: str, prim: Any, input: Any, dim: Any, keepdim: Any, out: Any, names: dict) -> Any:
    if names:
        dim, keepdim = numpy_names(name, names, dim, keepdim)
    a = tensor(name, input)
    if out is not None:
        out_argument.check_out(name, out)
        if out._data.dtype.kind != "b" and out._data.dtype.str != "|u1":
            raise RuntimeError(f"{name} only supports bool tensor for result, got: {label(out._data.dtype)}")
    # an empty tuple reduces nothing here: each element for itself
    o = _true(input) if dim == () else prim(input, axes_of(input, dim, name), flag(keepdim, name, "keepdim"))
    if a.dtype.str == "|u1":
        o = _as_byte(o)
    return o if out is None else out_argument.deliver(out, o)


@public()
def all(input, dim=None, keepdim=False, *, out=None, **names):
    """Whether all elements are true (not zero), or all along dims.

    Args:
        input: a tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 1], [0, 1]]).all(1)
        tensor([ True, False])
    """
    return _answer("all", all_dims, input, dim, keepdim, out, names)


@public()
def any(input, dim=None, keepdim=False, *, out=None, **names):
    """Whether any element is true (not zero), or any along dims.

    Args:
        input: a tensor.
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        out: where to put the result.
        **names: numpy's `axis` and `keepdims`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[0, 0], [0, 1]]).any(1)
        tensor([False,  True])
    """
    return _answer("any", any_dims, input, dim, keepdim, out, names)


@public(method=False)
def count_nonzero(input, dim=None, **names):
    """How many elements are not zero, in all or along dims.

    Args:
        input: a tensor.
        dim: a dim, several, or None for all.
        **names: numpy's `axis`.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([0.0, 1.0, 2.0]).count_nonzero()
        tensor(2)
    """
    if names:
        dim, _ = numpy_names("count_nonzero", names, dim)
    tensor("count_nonzero", input)
    return count_dims(input, axes_of(input, dim, "count_nonzero"))


METHODS["count_nonzero"] = one_by_one(count_nonzero)
