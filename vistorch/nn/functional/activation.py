"""What a unit does with its sum: relu and the like, gates.

Invariant: with `inplace=True` the input itself is changed and returned.
"""

from __future__ import annotations

from ...engine.base import dims as _dims
from ...engine.base import errors
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.activation import exponential, gates, hard, leaky, logistic, rectify
from ...engine.ops.activation.gaussian import gelu
from ...engine.ops.activation.logistic import logsigmoid, softplus
from ...engine.ops.activation.shrink import softshrink
from .soft import gumbel_softmax, log_softmax, softmax, softmin

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

hardshrink, prelu = FUNCTIONS["hardshrink"], FUNCTIONS["prelu"]
relu_, selu_, celu_ = rectify.relu_, exponential.selu_, exponential.celu_
rrelu_, threshold_ = leaky.rrelu_, rectify.threshold_
_relu, _threshold = rectify.relu_row, rectify.threshold
_sigmoid, _tanh = FUNCTIONS["sigmoid"], FUNCTIONS["tanh"]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Replace what is below 0 by 0.

    Args:
        input: a tensor.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.relu(vistorch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return relu_(input) if inplace else _relu(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Replace what is not above a bound.

    Args:
        input: a tensor.
        threshold: the bound.
        value: what replaces.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.threshold(vistorch.tensor([-1.0, 2.0]), 0.5, 7.0)
        tensor([7., 2.])
    """
    return threshold_(input, threshold, value) if inplace else _threshold(input, threshold, value)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Hold every element between two bounds.

    Args:
        input: a tensor.
        min_val: the lower bound.
        max_val: the upper bound.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.hardtanh(vistorch.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hard.hardtanh_(input, min_val, max_val) if inplace else hard.hardtanh(input, min_val, max_val)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh` in place.

    Args:
        input: the tensor to change.
        min_val: the lower bound.
        max_val: the upper bound.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.hardtanh_(vistorch.tensor([-2.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    return hard.hardtanh_(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Hold every element between 0 and 6.

    Args:
        input: a tensor.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.relu6(vistorch.tensor([-2.0, 5.0, 7.0]))
        tensor([0., 5., 6.])
    """
    return hard.hardtanh_(input, 0.0, 6.0, "relu6_") if inplace else hard.hardtanh(input, 0.0, 6.0, "relu6")


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """A sigmoid of three straight lines: x / 6 + 1/2, held between 0 and 1.

    Args:
        input: a tensor.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.hardsigmoid(vistorch.tensor([-4.0, 0.0, 1.5]))
        tensor([0.0000, 0.5000, 0.7500])
    """
    return hard.hardsigmoid_(input) if inplace else hard.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input` times its hardsigmoid.

    Args:
        input: a tensor.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.hardswish(vistorch.tensor([0.0, 1.5, 4.0]))
        tensor([0.0000, 1.1250, 4.0000])
    """
    return hard.hardswish_(input) if inplace else hard.hardswish(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` above 0, alpha (e^x - 1) below.

    Args:
        input: a tensor.
        alpha: how far down it goes.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.elu(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return exponential.elu_(input, alpha) if inplace else exponential.elu(input, alpha)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu` in place.

    Args:
        input: the tensor to change.
        alpha: how far down it goes.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.elu_(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return exponential.elu_(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """An elu with the two constants that keep mean and variance of layers where they are.

    Args:
        input: a tensor.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.selu(vistorch.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return selu_(input) if inplace else exponential.selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` above 0, alpha (e^(x / alpha) - 1) below.

    Args:
        input: a tensor.
        alpha: how far down it goes.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.celu(vistorch.tensor([-1.0, 2.0]), 2.0)
        tensor([-0.7869,  2.0000])
    """
    return celu_(input, alpha) if inplace else exponential.celu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input`, multiplied by a number where it is negative.

    Args:
        input: a tensor.
        negative_slope: the number.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.leaky_relu(vistorch.tensor([-1.0, 2.0]), 0.5)
        tensor([-0.5000,  2.0000])
    """
    return leaky.leaky_relu_(input, negative_slope) if inplace else leaky.leaky_relu(input, negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu` in place.

    Args:
        input: the tensor to change.
        negative_slope: what negative elements are multiplied by.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.leaky_relu_(vistorch.tensor([-1.0, 2.0]), 0.5)
        tensor([-0.5000,  2.0000])
    """
    return leaky.leaky_relu_(input, negative_slope)


def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """`input`, multiplied where it is negative: in training by random numbers, else by the mean of their bounds.

    Args:
        input: a tensor.
        lower: the least slope.
        upper: the largest slope.
        training: whether slopes are random.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.rrelu(vistorch.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    _dims.flag(training, "rrelu", "training", 4)
    return (rrelu_ if inplace else leaky.rrelu)(input, lower, upper, training)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`input` times its sigmoid.

    Args:
        input: a tensor.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.silu(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """
    return logistic.silu_(input) if inplace else logistic.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input` times the tanh of its softplus.

    Args:
        input: a tensor.
        inplace: change the input itself.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.mish(vistorch.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """
    return logistic.mish_(input) if inplace else logistic.mish(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of `input` along a dim, times the sigmoid of the second.

    Args:
        input: a tensor.
        dim: the dim to halve.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.glu(vistorch.tensor([2.0, 0.0]))
        tensor([1.])
    """
    return gates.glu(input, dim)


def softsign(input: Tensor) -> Tensor:
    """Divide every element by 1 + |x|.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.softsign(vistorch.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("softsign", "input", 1, input)
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """Take its tanh away from every element.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.tanhshrink(vistorch.tensor([0.0, 2.0]))
        tensor([0.0000, 1.0360])
    """
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("tanhshrink", "input", 1, input)
    return input - input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """Squash to between 0 and 1: 1 / (1 + exp(-x)).

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.sigmoid(vistorch.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """
    return _sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Take the hyperbolic tangent.

    Args:
        input: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.tanh(vistorch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    return _tanh(input)
