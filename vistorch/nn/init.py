"""How parameters begin: each function fills a tensor in place, outside any graph, and returns it.

Invariant: with the same seed the numbers are PyTorch's: they are drawn in its order, as many and of the same type.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from ..engine.base.events import listeners
from ..engine.base.modes import no_grad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.ops.linalg.qr_svd import qr

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

LINEAR = ("linear", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)))
EMPTY = "Initializing zero-element tensors is a no-op"

diag, empty_like, randperm, where = (FUNCTIONS[n] for n in ("diag", "empty_like", "randperm", "where"))


def begins(fn: Callable) -> Any:
    """Run a function without recording; listeners learn which tensor it has filled."""

    @functools.wraps(fn)
    def begin(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        with no_grad():
            fn(tensor, *args, **kwargs)
        if (emit := listeners.phase) is not None:
            emit("init", tensor, fn.__name__)
        return tensor

    return begin


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """By how much an activation shrinks the values that pass it: the factor that makes up for it.

    Args:
        nonlinearity: "relu", "tanh", "leaky_relu", "selu", "sigmoid", "linear", "conv2d" and so on.
        param: the slope of "leaky_relu".

    Example:
        >>> import vistorch
        >>> vistorch.nn.init.calculate_gain("tanh")
        1.6666666666666667
    """
    if nonlinearity in LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param**2))
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


@begins
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers drawn evenly between `a` and `b`.

    Args:
        tensor: the tensor to fill.
        a: the least value.
        b: the value all lie below.
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> vistorch.nn.init.uniform_(vistorch.empty(3), -1, 1, generator=chance)
        tensor([-0.0075,  0.5364, -0.8230])
    """
    return tensor.uniform_(a, b, generator=generator)


@begins
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers of a normal distribution.

    Args:
        tensor: the tensor to fill.
        mean: its mean.
        std: its standard deviation.
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> vistorch.nn.init.normal_(vistorch.empty(3), std=0.1, generator=chance)
        tensor([ 0.1541, -0.0293, -0.2179])
    """
    return tensor.normal_(mean, std, generator=generator)


@begins
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value.

    Args:
        tensor: the tensor to fill.
        val: the value.

    Example:
        >>> import vistorch
        >>> vistorch.nn.init.constant_(vistorch.empty(2), 0.3)
        tensor([0.3000, 0.3000])
    """
    return tensor.fill_(val)


@begins
def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Args:
        tensor: the tensor to fill.

    Example:
        >>> import vistorch
        >>> vistorch.nn.init.ones_(vistorch.empty(2))
        tensor([1., 1.])
    """
    return tensor.fill_(1.0)


@begins
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Args:
        tensor: the tensor to fill.

    Example:
        >>> import vistorch
        >>> vistorch.nn.init.zeros_(vistorch.empty(2))
        tensor([0., 0.])
    """
    return tensor.zero_()


@begins
def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on its diagonal and zeros elsewhere.

    Args:
        tensor: a matrix.

    Example:
        >>> import vistorch
        >>> vistorch.nn.init.eye_(vistorch.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    tensor.zero_().diagonal().fill_(1)
    return tensor


@begins
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it hands its input on.

    Args:
        tensor: a weight of 3, 4 or 5 dimensions.
        groups: the groups of the convolution.

    Example:
        >>> import vistorch
        >>> weight = vistorch.nn.init.dirac_(vistorch.empty(1, 1, 3))
        >>> weight
        tensor([[[0., 1., 0.]]])
        >>> vistorch.nn.functional.conv1d(vistorch.tensor([[1.0, 2.0, 3.0]]), weight, padding=1)
        tensor([[1., 2., 3.]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out, into, *kernel = tensor.shape
    if out % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    tensor.zero_()
    middle = tuple(k // 2 for k in kernel)
    for g in range(groups):
        for d in range(min(out // groups, into)):
            tensor[(g * (out // groups) + d, d, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many values go into one unit, and how many units one value goes into."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    out, into, *field = tensor.shape
    return into * math.prod(field), out * math.prod(field)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


@begins
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill evenly, so wide that values and gradients keep their size through a linear layer (Glorot and Bengio, 2010).

    Args:
        tensor: a weight.
        gain: a factor, from `calculate_gain`.
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> weight = vistorch.nn.init.xavier_uniform_(vistorch.empty(100, 50), generator=chance)
        >>> round(weight.max().item(), 2)  # sqrt(6 / (100 + 50))
        0.2
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return tensor.uniform_(-bound, bound, generator=generator)


@begins
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill normally, so wide that values and gradients keep their size through a linear layer.

    Args:
        tensor: a weight.
        gain: a factor, from `calculate_gain`.
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> weight = vistorch.nn.init.xavier_normal_(vistorch.empty(100, 100), generator=chance)
        >>> round(weight.std().item(), 2)  # sqrt(2 / (100 + 100))
        0.1
    """
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return tensor.normal_(0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator=generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn(EMPTY, UserWarning, stacklevel=4)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


@begins
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill evenly, so wide that values keep their size through a layer and its relu (He et al., 2015).

    Args:
        tensor: a weight.
        a: the slope of the leaky relu behind the layer.
        mode: "fan_in" keeps the size of values, "fan_out" that of gradients.
        nonlinearity: "relu" or "leaky_relu".
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> weight = vistorch.nn.init.kaiming_uniform_(vistorch.empty(100, 24), nonlinearity="relu", generator=chance)
        >>> round(weight.max().item(), 2)  # sqrt(6 / 24)
        0.5
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return tensor.uniform_(-bound, bound, generator=generator)


@begins
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill normally, so wide that values keep their size through a layer and its relu.

    Args:
        tensor: a weight.
        a: the slope of the leaky relu behind the layer.
        mode: "fan_in" keeps the size of values, "fan_out" that of gradients.
        nonlinearity: "relu" or "leaky_relu".
        generator: the source of chance.

    Example:
        >>> import vistorch
        >>> chance = vistorch.Generator().manual_seed(0)
        >>> weight = vistorch.nn.init.kaiming_normal_(vistorch.empty(100, 200), nonlinearity="relu", generator=chance)
        >>> round(weight.std().item(), 2)  # sqrt(2 / 200)
        0.1
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else tensor.normal_(0, std, generator=generator)


_OLD_NAME = """The old name of `{new}`, which says so.

Example:
    >>> import vistorch, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     weight = vistorch.nn.init.{old}({given})
    >>> print(caught[0].message)
    `nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.
"""


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


def _old_name(fn: Callable, more: str = "", shape: str = "(4, 3)") -> Callable:
    """The name of PyTorch before 0.4, without the underscore.

    Args:
        fn: the function by its name of today.
        more: what its example takes besides a tensor.
        shape: that of the tensor.
    """
    new = fn.__name__
    old = new[:-1]
    given = f"vistorch.empty({shape}){more}"

    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2
        )
        return fn(*args, **kwargs)

    deprecated.__name__ = deprecated.__qualname__ = old
    deprecated.__doc__ = _OLD_NAME.format(old=old, new=new, given=given)
    return deprecated


uniform, normal, constant = _old_name(uniform_), _old_name(normal_), _old_name(constant_, ", 0.5")
eye, dirac = _old_name(eye_), _old_name(dirac_, shape="(4, 3, 5)")
orthogonal, sparse = _old_name(orthogonal_), _old_name(sparse_, ", sparsity=0.5")
xavier_uniform, xavier_normal = _old_name(xavier_uniform_), _old_name(xavier_normal_)
kaiming_uniform, kaiming_normal = _old_name(kaiming_uniform_), _old_name(kaiming_normal_)
