"""`norm`, which PyTorch keeps for old programs: a norm of vectors, or the nuclear norm of matrices."""

from __future__ import annotations

from typing import Any

from ...base.casting import casting
from ...core import out_argument
from ...core.registry import public
from ...core.tensor import Tensor
from ...core.type_promotion import floating
from ..reduce.frame import copied_into, label, same_type, tensor
from ..reduce.norms import vector_norm
from .norms import matrix_norm


def _nuclear(x: Tensor, dim: Any, keepdim: bool, out: Any, dtype: Any) -> Tensor:
    """The sum of the singular values."""
    name, kind = "linalg.matrix_norm", x._data.dtype
    if x._data.ndim > 1:
        if not floating(kind):
            raise RuntimeError(
                f"{name}: Expected a floating point or complex tensor as input. Got {label(kind)}"
            )
        if kind.itemsize == 2:
            raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {label(kind)}")
    o = matrix_norm(x, "nuc", dim, keepdim, dtype=dtype)
    if out is None:
        return o
    if out._data.dtype != o._data.dtype:
        raise RuntimeError(
            f"{name} expected out tensor dtype {label(o._data.dtype)} but got: {label(out._data.dtype)}"
        )
    return copied_into(out, o)


@public()
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """A norm of all elements, or over dims.

    Args:
        input: a floating point or complex tensor.
        p: the order: a number, "fro" (2) or "nuc" (of a matrix: the sum of its singular values).
        dim: a dim, several, or None for all.
        keepdim: keep the dims with size 1.
        out: where to put the result.
        dtype: convert to this type first.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([3.0, 4.0]).norm()
        tensor(5.)
    """
    if casting.on and (recast := casting.ask(norm, locals())):
        return recast[0]
    tensor("norm", input)
    if p == "nuc":
        return _nuclear(input, (-2, -1) if dim is None else dim, keepdim, out, dtype)
    if out is not None:
        out_argument.check_out("linalg_vector_norm", out, (input,))
    if isinstance(p, str):
        if p != "fro":
            raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
        p = 2
    o = vector_norm(input, 2 if p is None else p, dim, keepdim, dtype)
    if out is not None:
        same_type(out, o._data.dtype)
        return out_argument.deliver(out, o)
    return o
