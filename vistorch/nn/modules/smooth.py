"""Activations as modules: sigmoid and tanh, the smooth ones made of them, gates.

Invariant: a module holds its settings under the names of its arguments, and calls the function of its name.
"""

from __future__ import annotations

from ...engine.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = [
    "GELU",
    "GLU",
    "LogSigmoid",
    "Mish",
    "SiLU",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]


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


class SiLU(Module):
    """`input` times its sigmoid.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.SiLU()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """

    __constants__ = ("inplace",)
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.silu(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return "inplace=True" if self.inplace else ""


class Mish(Module):
    """`input` times the tanh of its softplus.

    Args:
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Mish()(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """

    __constants__ = ("inplace",)
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Apply it."""
        return F.mish(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        """The settings, for the module's text."""
        return "inplace=True" if self.inplace else ""


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
