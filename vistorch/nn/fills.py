"""Ways to begin that take more than one draw: a bounded normal distribution, orthogonal rows, sparse columns.

Invariant: with the same seed the numbers are PyTorch's: they are drawn in its order, as many and of the same type.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from ..engine.events import hear
from ..engine.face import FUNCTIONS
from ..engine.modes import no_grad
from ..engine.ops.linalg.factor import qr
from ..engine.tensor import Tensor

diag, empty_like, randperm, where = (FUNCTIONS[n] for n in ("diag", "empty_like", "randperm", "where"))


def begins(fn: Callable) -> Any:
    """Run a function without recording, and tell who listens which tensor it has begun."""

    @functools.wraps(fn)
    def begin(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        with no_grad():
            fn(tensor, *args, **kwargs)
        if (told := hear.phase) is not None:
            told("init", tensor, fn.__name__)
        return tensor

    return begin


@begins
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with numbers of a normal distribution that lie between `a` and `b`; others are drawn again.

    Args:
        tensor: the tensor to fill.
        mean: the mean of the whole distribution.
        std: its standard deviation.
        a: the least value.
        b: the greatest value.
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> x = vistorch.nn.init.trunc_normal_(vistorch.empty(1000), a=-0.5, b=0.5, generator=chance)
        >>> bool(x.abs().max() <= 0.5)
        True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            UserWarning,
            stacklevel=3,
        )
    below = [(1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0 for x in (a, b)]
    if below[1] - below[0] > 0.3:  # most draws of the whole distribution will do
        low, high = (tensor.new_tensor(x, device="cpu").item() for x in (a, b))
        return _redrawn(
            tensor,
            lambda t: t.normal_(mean, std, generator=generator),
            lambda t: (t < low) | (t > high),
        )
    # Few would: draw evenly between the bounds, and keep a value as often as the density there says.
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    chance = empty_like(tensor)

    def refused(t: Tensor) -> Tensor:
        density = t.clone().sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
        return chance.uniform_(generator=generator).log_().gt(density)

    return _redrawn(tensor, lambda t: t.uniform_(a, b, generator=generator), refused)


def _redrawn(tensor: Tensor, draw: Callable, refused: Callable) -> Tensor:
    """Draw whole tensors until no element is refused; those that were good at once stay."""
    result = draw(tensor)
    waiting = refused(result)
    while waiting.any():
        fresh = draw(empty_like(tensor))
        result = where(waiting, fresh, result)
        waiting = waiting & refused(fresh)
    return tensor if result is tensor else tensor.copy_(result)


@begins
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill a matrix with orthonormal rows or columns (Saxe et al., 2013).

    Args:
        tensor: a tensor of at least two dimensions; all but the first count as one.
        gain: a factor.
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> w = vistorch.nn.init.orthogonal_(vistorch.empty(2, 3), generator=chance)
        >>> vistorch.allclose(w @ w.T, vistorch.eye(2), atol=1e-6)
        True
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    drawn = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
    wide = rows < cols
    q, r = qr(drawn.t() if wide else drawn)
    q = q * diag(r, 0).sign()  # the one decomposition whose distribution is even
    return tensor.copy_((q.t() if wide else q).reshape(tensor.shape)).mul_(gain)


@begins
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix normally and set a fraction of each column to zero (Martens, 2010).

    Args:
        tensor: a matrix.
        sparsity: the fraction of each column that becomes zero.
        std: the standard deviation of the others.
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> (vistorch.nn.init.sparse_(vistorch.empty(4, 3), sparsity=0.5) == 0).sum(0)
        tensor([2, 2, 2])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(cols):
        tensor[randperm(rows)[:zeros], column] = 0
    return tensor
