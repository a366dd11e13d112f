"""Gradients of convolutions by themselves: with respect to the input or the weight, from that of the result.

Invariant: the gradient is the engine's own, of a convolution of zeros; a convolution's gradient in one operand does not
depend on that operand's values.
"""

from __future__ import annotations

from typing import Any

from ..autograd import grad
from ..engine.base.modes import enable_grad
from ..engine.core.registry import FUNCTIONS
from . import functional

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]


def _of(dims: int, wanted: int) -> Any:
    name = f"conv{dims}d_{('input', 'weight')[wanted]}"

    def call(*args: Any, **options: Any) -> Any:
        sizes, given = (args[0], args[1]) if wanted == 0 else (args[1], args[0])
        grad_output = args[2]
        names = ("stride", "padding", "dilation", "groups")
        options = {**dict(zip(names, args[3:], strict=False)), **options}
        with enable_grad():
            blank = FUNCTIONS["zeros"](tuple(sizes), dtype=given.dtype, device=given.device).requires_grad_()
            operands = (blank, given) if wanted == 0 else (given, blank)
            out = getattr(functional, f"conv{dims}d")(*operands, **options)
        return grad(out, blank, grad_output, create_graph=False)[0]

    def of_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return call(input_size, weight, grad_output, stride, padding, dilation, groups)

    def of_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return call(input, weight_size, grad_output, stride, padding, dilation, groups)

    made: Any = of_input if wanted == 0 else of_weight
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"""The gradient of `conv{dims}d` with respect to its {("input", "weight")[wanted]}.

    Args:
        {"input_size: the input's sizes." if wanted == 0 else "input: the input."}
        {"weight: the weight." if wanted == 0 else "weight_size: the weight's sizes."}
        grad_output: the gradient of the result.
        stride: as for the convolution.
        padding: as for the convolution.
        dilation: as for the convolution.
        groups: as for the convolution.

    Example:
        >>> import vistorch
        >>> x, w = vistorch.ones(1, 1{", 4" * dims}), vistorch.ones(1, 1{", 3" * dims})
        >>> g = vistorch.ones(1, 1{", 2" * dims})
        >>> vistorch.nn.grad.{name}({"x.shape, w, g" if wanted == 0 else "x, w.shape, g"}).sum()
        tensor({6**dims}.)
    """
    return made


conv1d_input, conv1d_weight = _of(1, 0), _of(1, 1)
conv2d_input, conv2d_weight = _of(2, 0), _of(2, 1)
conv3d_input, conv3d_weight = _of(3, 0), _of(3, 1)
