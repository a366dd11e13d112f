"""Activations as modules: relu and its kin. The others have files of their own: straight, smooth, soft.

Invariant: a module holds its settings under the names of its arguments, and calls the function of its name.
"""

from __future__ import annotations

from typing import Any

from ...engine.face import FUNCTIONS
from ...engine.tensor import Tensor
from .. import functional as F
from ..init import constant_
from ..parameter import Parameter
from .module import Module
from .multihead import MultiheadAttention
from .smooth import GELU, GLU, LogSigmoid, Mish, Sigmoid, SiLU, Softplus, Softsign, Tanh, Tanhshrink
from .soft import LogSoftmax, Softmax, Softmax2d, Softmin
from .straight import Hardshrink, Hardsigmoid, Hardswish, Hardtanh, ReLU6, Softshrink

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


class ReLU(Module):
    """Replaces what is below 0 by 0.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ReLU()(vistorch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    __constants__ = ("inplace",)
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return _alone(self)


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


class ELU(Module):
    """`input` above 0, alpha (e^x - 1) below.

    Args:
        alpha: how far down it goes.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.ELU()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

    __constants__ = ("alpha", "inplace")
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"alpha={self.alpha}{_in_place(self)}"


class CELU(Module):
    """`input` above 0, alpha (e^(x / alpha) - 1) below.

    Args:
        alpha: how far down it goes.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.CELU(2.0)(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.7869,  2.0000])
    """

    __constants__ = ("alpha", "inplace")
    alpha: float
    inplace: bool

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return f"alpha={self.alpha}{_in_place(self)}"


class SELU(Module):
    """ELU with the two constants that keep mean and variance of layers where they are.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.SELU()(vistorch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """

    __constants__ = ("inplace",)
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.selu(input, self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return _alone(self)
