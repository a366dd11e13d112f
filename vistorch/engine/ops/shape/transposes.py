"""Transposes by other names: t, T, H, mT, mH, adjoint; and the in-place variants of the views that reorder dims.

Invariant: what is not conjugated is memory of its input.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...core.base_ops import conj
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from ...library_name import library
from . import rows
from .inplace import reshaped
from .views import permute_of, squeeze, swapaxes, tensor, transpose, transpose_of, unsqueeze

_warned: set = set()
t_of = rows.t.of


@public()
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a tensor of less than two dims as it is.

    Args:
        input: the tensor.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1, 2]]).t()
        tensor([[1],
                [2]])
    """
    d = tensor(input, "t")
    if d.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {d.ndim}D")
    return t_of(input, d.T, ())


def _once(text: str) -> None:
    """A warning PyTorch gives once in a process."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, UserWarning, stacklevel=3)


def _T(self: Tensor) -> Tensor:
    """The tensor with its dims reversed.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 3).T.shape
        vistorch.Size([3, 2])
    """
    d = self._data
    n = d.ndim
    if n != 2:
        if n:
            _once(
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it "
                "will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
                f"`x.permute(*{library}.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
            )
        else:
            _once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    return permute_of(self, d.T, (tuple(range(n - 1, -1, -1)) if n != 2 else (1, 0),))


def _conjugated(x: Tensor) -> Tensor:
    return conj(x) if x._data.dtype.kind == "c" else x


def _matrices(x: Tensor, name: str) -> Tensor:
    d = tensor(x, "adjoint")
    n = d.ndim
    if n < 2:
        if n == 0 and name != "adjoint()":
            _once(
                f"Tensor.{name} is deprecated on 0-D tensors. Consider using x.conj()."
                if name == "mH"
                else f"Tensor.{name} is deprecated on 0-D tensors. This function is the identity in these cases."
            )
        if n == 0:
            return x
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got {n}-D tensor."
        )
    return transpose_of(x, d.swapaxes(n - 2, n - 1), (n - 2, n - 1))


def _H(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1j, 2]]).H
        tensor([[0.-1.j],
                [2.-0.j]])
    """
    n = self._data.ndim
    if n == 2:
        return _conjugated(rows.transpose(self, 0, 1))
    if n == 0:
        _once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return _conjugated(self)
    more = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
    raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{more}")


@public()
def adjoint(input: Tensor) -> Tensor:
    """The last two dims exchanged, and complex elements conjugated.

    Args:
        input: a matrix or a batch of matrices.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1j, 2]]).adjoint()
        tensor([[0.-1.j],
                [2.-0.j]])
    """
    return _conjugated(_matrices(input, "adjoint()"))


METHODS["T"] = property(_T, doc=_T.__doc__)
METHODS["H"] = property(_H, doc=_H.__doc__)
METHODS["mT"] = property(
    lambda self: _matrices(self, "mT"),
    doc="""The last two dims exchanged.

    Example:
        >>> import vistorch
        >>> vistorch.zeros(2, 3, 4).mT.shape
        vistorch.Size([2, 4, 3])
    """,
)
METHODS["mH"] = property(
    lambda self: _conjugated(_matrices(self, "mH")),
    doc="""The last two dims exchanged and conjugated.

    Example:
        >>> import vistorch
        >>> vistorch.tensor([[1j, 2]]).mH
        tensor([[0.-1.j],
                [2.-0.j]])
    """,
)


def _t_in_place(self: Tensor) -> Tensor:
    n = self._data.ndim
    if n > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {n}D")
    return rows.t(self)


def _squeeze_in_place(self: Tensor, *dim: Any, **named: Any) -> Tensor:
    """`squeeze_` takes several dims one by one too; `squeeze` does not."""
    return squeeze(self, *((dim,) if len(dim) > 1 else dim), **named)


METHODS["t_"] = reshaped(_t_in_place, "t_")
for _label, _fn in (
    ("squeeze_", _squeeze_in_place),
    ("unsqueeze_", unsqueeze),
    ("transpose_", transpose),
    ("swapdims_", transpose),
    ("swapaxes_", swapaxes),
):
    METHODS[_label] = reshaped(_fn, _label)
