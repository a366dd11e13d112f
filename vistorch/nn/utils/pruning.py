"""The pruning methods: each takes away some values or slices, by chance or by their size.

Invariant: a mask is computed on a copy; the one that a method is given stays as it is.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .pruning_base import BasePruningMethod

__all__ = [
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "RandomStructured",
    "RandomUnstructured",
]

kthvalue, rand, rand_like, topk, zeros_like = (
    FUNCTIONS[name] for name in ("kthvalue", "rand", "rand_like", "topk", "zeros_like")
)


def _check_amount(amount: Any) -> None:
    """Refuse what is neither a part nor a count."""
    if not isinstance(amount, Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, Integral) and float(amount) > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _count(amount: Any, size: int) -> int:
    """How many of `size` to prune."""
    count: Any = amount if isinstance(amount, Integral) else round(amount * size)
    if count > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return int(count)


def _count_of_slices(t: Tensor, dim: int, amount: Any) -> int:
    """How many slices along a dim to prune."""
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
    return _count(amount, t.shape[dim])


def _without(mask: Tensor, indices: Any) -> Tensor:
    """A mask without the values at these places, counted row by row."""
    mask = mask.clone() if mask.is_contiguous() else mask.contiguous()
    mask.view(-1)[indices] = 0
    return mask


def _only(t: Tensor, dim: int, kept: Any, mask: Tensor) -> Tensor:
    """A mask without all slices along a dim but those at `kept`."""
    result = zeros_like(t)
    every: list[Any] = [slice(None)] * t.dim()
    every[dim] = kept
    result[tuple(every)] = 1
    result *= mask.to(dtype=result.dtype)
    return result


class Identity(BasePruningMethod):
    """Takes nothing away.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.Identity.apply(vistorch.nn.Linear(2, 2), "weight").prune(vistorch.ones(2))
        tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask as it is."""
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> Any:
        """Prune a parameter; see `prune.identity`."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Takes away single values by chance.

    Args:
        amount: which part of them, or how many.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.RandomUnstructured(amount=3).prune(vistorch.ones(4)).sum()
        tensor(1.)
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without values that chance picks."""
        count = _count(self.amount, t.numel())
        if not count:
            return default_mask.clone()
        return _without(default_mask, topk(rand_like(t).view(-1), k=count).indices)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> Any:
        """Prune a parameter; see `prune.random_unstructured`."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """Takes away the values that are closest to zero.

    Args:
        amount: which part of them, or how many.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.L1Unstructured(amount=0.5).prune(vistorch.tensor([0.1, -2.0, 3.0, -0.2]))
        tensor([ 0., -2.,  3., -0.])
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the smallest values."""
        count = _count(self.amount, t.numel())
        if not count:
            return default_mask.clone()
        return _without(default_mask, topk(t.abs().view(-1), k=count, largest=False).indices)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, importance_scores: Tensor | None = None) -> Any:
        """Prune a parameter; see `prune.l1_unstructured`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Takes away slices along a dim by chance.

    Args:
        amount: which part of them, or how many.
        dim: the dim that counts the slices.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.RandomStructured(amount=1, dim=0).prune(vistorch.ones(3, 2)).sum()
        tensor(4.)
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without slices that chance picks."""
        count = _count_of_slices(t, self.dim, self.amount)
        if not count:
            return default_mask
        drawn = rand(t.shape[self.dim])
        return _only(t, self.dim, drawn > kthvalue(drawn, k=count).values, default_mask)

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> Any:
        """Prune a parameter; see `prune.random_structured`."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Takes away the slices along a dim that have the least norm.

    Args:
        amount: which part of them, or how many.
        n: which norm.
        dim: the dim that counts the slices.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.LnStructured(amount=1, n=2, dim=0).prune(vistorch.tensor([[0.1, -2.0], [3.0, 0.2]]))
        tensor([[0.0000, -0.0000],
                [3.0000, 0.2000]])
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask without the smallest slices."""
        count = _count_of_slices(t, self.dim, self.amount)
        if not count:
            return default_mask
        norms = t.norm(self.n, [d for d in range(t.dim()) if d != self.dim % t.dim()])
        return _only(t, self.dim, topk(norms, k=t.shape[self.dim] - count).indices, default_mask)

    @classmethod
    def apply(
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> Any:
        """Prune a parameter; see `prune.ln_structured`."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Takes away what a mask has zeros for.

    Args:
        mask: of the parameter's shape.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> prune.CustomFromMask(vistorch.tensor([1.0, 0.0])).prune(vistorch.tensor([5.0, 6.0]))
        tensor([5., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks together."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Tensor) -> Any:
        """Prune a parameter; see `prune.custom_from_mask`."""
        return super().apply(module, name, mask=mask)
