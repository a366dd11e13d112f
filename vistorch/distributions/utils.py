"""What distributions share: broadcasting of parameters, probabilities and their logarithms, values made when asked for.

Invariant: what is a public name of `torch.distributions.utils` is one here, with its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import vistorch

from ..engine.base.size import Size
from ..engine.core.tensor import Tensor
from ..engine.library_name import library
from ..nn import functional as F

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.5772156649015329
NUMBERS = (int, float, bool)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors and numbers as tensors of one shape.

    Args:
        *values: a number takes the type of the first tensor, and the default one where there is none.

    Example:
        >>> import vistorch
        >>> broadcast_all(1.0, vistorch.zeros(2))
        (tensor([1., 1.]), tensor([0., 0.]))
    """
    if not all(_is_tensor(v) or isinstance(v, NUMBERS) for v in values):
        raise ValueError(
            f"Input arguments must all be instances of Number, {library}.Tensor or objects implementing "
            "__torch_function__."
        )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    like: dict = {"dtype": vistorch.get_default_dtype()}
    if first is not None:
        like = {"dtype": first.dtype, "device": first.device}
    tensors = [v if _is_tensor(v) else vistorch.tensor(v, **like) for v in values]
    return tuple(vistorch.broadcast_tensors(*tensors))


def standard_normal(shape: Any, like: Tensor) -> Tensor:
    """Standard normal numbers of the type and at the place of another tensor."""
    return vistorch.empty(shape, dtype=like.dtype, device=like.device).normal_()


def sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over so many dims at the right."""
    return value if dim == 0 else value.reshape((*value.shape[:-dim], -1)).sum(-1)


_standard_normal = lambda shape, dtype, device: vistorch.empty(shape, dtype=dtype, device=device).normal_()  # noqa: E731
_sum_rightmost = sum_rightmost


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from their logarithms, or from log-odds.

    Args:
        logits: logarithms up to a constant in each row, or log-odds.
        is_binary: whether they are log-odds.

    Example:
        >>> import vistorch
        >>> logits_to_probs(vistorch.zeros(4))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return logits.sigmoid() if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1, by the rounding of their type.

    Args:
        probs: probabilities.

    Example:
        >>> import vistorch
        >>> clamp_probs(vistorch.tensor([0.0, 0.5]))
        tensor([1.1921e-07, 5.0000e-01])
    """
    eps = vistorch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logarithms of probabilities, or log-odds.

    Args:
        probs: probabilities.
        is_binary: whether log-odds are asked for.

    Example:
        >>> import vistorch
        >>> probs_to_logits(vistorch.tensor([0.5, 0.9]), is_binary=True)
        tensor([0.0000, 2.1972])
    """
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


class lazy_property:
    """An attribute that is made, with gradients, the first time it is asked for.

    Args:
        wrapped: a method of no arguments.
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return _LazyPropertyOfClass(self.wrapped)
        with vistorch.enable_grad():
            value = self.wrapped(instance)
        # From now on the instance's own attribute is found first.
        setattr(instance, self.wrapped.__name__, value)
        return value


class _LazyPropertyOfClass(lazy_property, property):
    """What a class shows: a property to those who ask for one."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def _lower(n: int, diag: int, device: Any) -> Tensor:
    """Which elements of an n x n matrix lie on or below a diagonal."""
    at = vistorch.arange(n, device=device)
    return at < at.view(-1, 1) + (diag + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangles of square matrices, row by row, as vectors.

    Args:
        mat: the matrices.
        diag: the last diagonal that belongs to the triangle.

    Example:
        >>> import vistorch
        >>> tril_matrix_to_vec(vistorch.tensor([[1, 2], [3, 4]]))
        tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _lower(n, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Lower triangular matrices from the vectors that `tril_matrix_to_vec` gives.

    Args:
        vec: the vectors.
        diag: the last diagonal that belongs to the triangle.

    Example:
        >>> import vistorch
        >>> vec_to_tril_matrix(vistorch.tensor([1, 3, 4]).float())
        tensor([[1., 0.],
                [3., 4.]])
    """
    odd = 1 + 2 * diag
    n = ((odd * odd + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5 - odd) / 2
    if round(n) - n > vistorch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of "
            "a square D x D matrix."
        )
    n = round(n)
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., _lower(n, diag, vec.device)] = vec
    return mat


def size_of(shape: Any) -> Size:
    """A shape as a Size."""
    return shape if isinstance(shape, Size) else Size(shape)
