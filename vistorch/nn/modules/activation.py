"""Activations as modules.

Invariant: a module holds its settings under the names of its arguments, and calls the function of its name.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import functional as F
from ..init import constant_
from ..parameter import Parameter
from .family import named_init
from .module import Module
from .multihead import MultiheadAttention

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]

empty = FUNCTIONS["empty"]


def _in_place(module: Any) -> str:
    """What the text of a module says about `inplace`, after other settings."""
    return ", inplace=True" if module.inplace else ""


def _alone(module: Any) -> str:
    """The same where there are no other settings."""
    return "inplace=True" if module.inplace else ""


def _renamed(old: str, new: str) -> None:
    warnings.warn(
        f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=3
    )


class _InPlaceSilent(Module):
    """What has no setting but `inplace`, and does not show it."""

    __constants__ = ("inplace",)
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _InPlace(_InPlaceSilent):
    """What has no setting but `inplace`."""

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return _alone(self)


@named_init
class ReLU(_InPlace):
    """Replaces what is below 0 by 0.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReLU()(vistorch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.relu(input, self.inplace)


class RReLU(Module):
    """Multiplies what is negative: in training by random numbers, else by the mean of their bounds.

    Args:
        lower: the least slope.
        upper: the largest slope.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.RReLU(0.25, 0.75).eval()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.5000,  2.0000])
    """

    __constants__ = ("lower", "upper", "inplace")
    lower: float
    upper: float
    inplace: bool

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"lower={self.lower}, upper={self.upper}{_in_place(self)}"


class LeakyReLU(Module):
    """Multiplies what is negative by a number.

    Args:
        negative_slope: the number.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LeakyReLU(0.5)(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.5000,  2.0000])
    """

    __constants__ = ("inplace", "negative_slope")
    negative_slope: float
    inplace: bool

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"negative_slope={self.negative_slope}{_in_place(self)}"


class PReLU(Module):
    """Multiplies what is negative by a learned number, one for all or one for each channel.

    Args:
        num_parameters: how many numbers: 1, or as many as there are channels.
        init: what they begin as.
        device: where they are.
        dtype: their type.

    Example:
        >>> import vistorch
        >>> vistorch.nn.PReLU()(vistorch.tensor([-1.0, 2.0])).tolist()
        [-0.25, 2.0]
    """

    __constants__ = ("num_parameters",)
    num_parameters: int

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Let the numbers begin anew.

        Example:
            >>> import vistorch
            >>> act = vistorch.nn.PReLU(init=0.5)
            >>> act.weight.data += 1  # as if it had learned
            >>> act.reset_parameters()
            >>> act.weight.tolist()
            [0.5]
        """
        constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"num_parameters={self.num_parameters}"


class Threshold(Module):
    """Replaces what is not above a bound.

    Args:
        threshold: the bound.
        value: what replaces.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Threshold(0.5, 7.0)(vistorch.tensor([-1.0, 2.0]))
        tensor([7., 2.])
    """

    __constants__ = ("threshold", "value", "inplace")
    threshold: float
    value: float
    inplace: bool

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"threshold={self.threshold}, value={self.value}{_in_place(self)}"


class Hardtanh(Module):
    """Holds every element between two bounds.

    Args:
        min_val: the lower bound.
        max_val: the upper bound.
        inplace: change the input itself.
        min_value: an older name of `min_val`.
        max_value: an older name of `max_val`.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardtanh()(vistorch.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """

    __constants__ = ("min_val", "max_val", "inplace")
    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        if min_value is not None:
            _renamed("min_value", "min_val")
            min_val = min_value
        if max_value is not None:
            _renamed("max_value", "max_val")
            max_val = max_value
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace
        if not max_val > min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"min_val={self.min_val}, max_val={self.max_val}{_in_place(self)}"


class ReLU6(Hardtanh):
    """Holds every element between 0 and 6.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReLU6()(vistorch.tensor([-2.0, 5.0, 7.0]))
        tensor([0., 5., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return _alone(self)


class _Alpha(Module):
    """What goes down as far as `alpha`."""

    __constants__ = ("alpha", "inplace")
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"alpha={self.alpha}{_in_place(self)}"


@named_init
class ELU(_Alpha):
    """`input` above 0, alpha (e^x - 1) below.

    Args:
        alpha: how far down it goes.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ELU()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.elu(input, self.alpha, self.inplace)


@named_init
class CELU(_Alpha):
    """`input` above 0, alpha (e^(x / alpha) - 1) below.

    Args:
        alpha: how far down it goes.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CELU(2.0)(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.7869,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.celu(input, self.alpha, self.inplace)


@named_init
class SELU(_InPlace):
    """ELU with the two constants that keep mean and variance of layers where they are.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.SELU()(vistorch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.selu(input, self.inplace)


@named_init
class Hardsigmoid(_InPlaceSilent):
    """A sigmoid of three straight lines: x / 6 + 1/2, held between 0 and 1.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardsigmoid()(vistorch.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardsigmoid(input, self.inplace)


@named_init
class Hardswish(_InPlaceSilent):
    """`input` times its hardsigmoid.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardswish()(vistorch.tensor([0.0, 1.5, 4.0]))
        tensor([0.0000, 1.1250, 4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardswish(input, self.inplace)


class _Shrink(Module):
    """What counts values up to `lambd` as small."""

    __constants__ = ("lambd",)
    lambd: float

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"{self.lambd}"


@named_init
class Hardshrink(_Shrink):
    """Replaces what lies between -lambd and lambd by 0.

    Args:
        lambd: what counts as small.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Hardshrink()(vistorch.tensor([-0.25, 2.0]))
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.hardshrink(input, self.lambd)


@named_init
class Softshrink(_Shrink):
    """Moves every element towards 0 by lambd, at most as far as 0.

    Args:
        lambd: how far.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softshrink()(vistorch.tensor([-0.25, 2.0]))
        tensor([0.0000, 1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softshrink(input, self.lambd)


class Sigmoid(Module):
    """Squashes to between 0 and 1: 1 / (1 + exp(-x)).

    Example:
        >>> import vistorch
        >>> vistorch.nn.Sigmoid()(vistorch.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.sigmoid(input)


class LogSigmoid(Module):
    """The logarithm of the sigmoid, without overflow.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LogSigmoid()(vistorch.tensor([0.0]))
        tensor([-0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.logsigmoid(input)


class Tanh(Module):
    """Takes the hyperbolic tangent.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Tanh()(vistorch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.tanh(input)


class Tanhshrink(Module):
    """Takes its tanh away from every element.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Tanhshrink()(vistorch.tensor([0.0, 2.0]))
        tensor([0.0000, 1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.tanhshrink(input)


@named_init
class SiLU(_InPlace):
    """`input` times its sigmoid.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.SiLU()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.silu(input, inplace=self.inplace)


@named_init
class Mish(_InPlace):
    """`input` times the tanh of its softplus.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Mish()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.mish(input, inplace=self.inplace)


class GELU(Module):
    """`input` times the area under the normal density left of it.

    Args:
        approximate: "none", or "tanh" for the form that takes the area from a tanh.

    Example:
        >>> import vistorch
        >>> vistorch.nn.GELU()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """

    __constants__ = ("approximate",)
    approximate: str

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"approximate={self.approximate!r}"


class GLU(Module):
    """The first half of `input` along a dim, times the sigmoid of the second.

    Args:
        dim: the dim to halve.

    Example:
        >>> import vistorch
        >>> vistorch.nn.GLU()(vistorch.tensor([2.0, 0.0]))
        tensor([1.])
    """

    __constants__ = ("dim",)
    dim: int

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"dim={self.dim}"


class Softplus(Module):
    """A smooth ReLU, log(1 + exp(beta x)) / beta.

    Args:
        beta: how sharp the bend is.
        threshold: from where of beta x on it is a line.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softplus()(vistorch.tensor([0.0]))
        tensor([0.6931])
    """

    __constants__ = ("beta", "threshold")
    beta: float
    threshold: float

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"beta={self.beta}, threshold={self.threshold}"


class Softsign(Module):
    """Divides every element by 1 + |x|.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softsign()(vistorch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softsign(input)


class _Shares(Module):
    """What works along a dim; a module made without one chooses it at each call, and a warning says so."""

    __constants__ = ("dim",)
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if not hasattr(self, "dim"):
            self.dim = None

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"dim={self.dim}"


@named_init
class Softmax(_Shares):
    """Shares that add up to 1 along a dim: exp(x) over the sum of exp(x).

    Args:
        dim: the dim along which the shares add up.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softmax(dim=0)(vistorch.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Takes softmax over the channels at each place of a picture.

    Shape:
        (N, C, H, W) or (C, H, W).

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softmax2d()(vistorch.zeros(2, 1, 1)).flatten()
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


@named_init
class Softmin(_Shares):
    """Takes softmax of `-input`: shares that add up to 1 along a dim.

    Args:
        dim: the dim along which the shares add up.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Softmin(dim=0)(vistorch.tensor([0.0, 0.0]))
        tensor([0.5000, 0.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.softmin(input, self.dim, _stacklevel=5)


@named_init
class LogSoftmax(_Shares):
    """The logarithm of softmax, without overflow.

    Args:
        dim: the dim along which the shares add up.

    Example:
        >>> import vistorch
        >>> vistorch.nn.LogSoftmax(dim=0)(vistorch.tensor([0.0, 0.0]))
        tensor([-0.6931, -0.6931])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.log_softmax(input, self.dim, _stacklevel=5)
