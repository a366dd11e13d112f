"""`im2col` and `col2im`, which `nn.functional` calls unfold and fold: each is the other's gradient.

Invariant: a tap is a row of the columns, a position of the window is a column.
"""

from __future__ import annotations

from typing import Any

from ...base import dims, dtypes, errors
from ...core.op_factory import HALVES, op
from ...core.tensor import Tensor
from ...kernels import conv_unfold as kernels
from .arguments import named

_im2col = op(
    "im2col",
    lambda xp, input, kernel, dilation, padding, stride: kernels.im2col(
        xp, input, kernel, dilation, padding, stride
    ),
    inputs="input",
    widen=False,
    name_in_graph="Im2ColBackward0",
    formula=r"\bar x = \mathrm{fold}(\bar y)",
    input=lambda F, g, kernel, dilation, padding, stride, input_shape: F.col2im(
        g, input_shape[-2:], kernel, dilation, padding, stride
    ),
)
_col2im = op(
    "col2im",
    lambda xp, input, size, kernel, dilation, padding, stride: kernels.col2im(
        xp, input, size, kernel, dilation, padding, stride
    ),
    inputs="input",
    name_in_graph="Col2ImBackward0",
    formula=r"\bar x = \mathrm{unfold}(\bar y)",
    input=lambda F, g, kernel, dilation, padding, stride: F.im2col(g, kernel, dilation, padding, stride),
)


def _pair(value: Any, func: str, name: str, position: int) -> tuple:
    """Two ints."""
    if value.__class__ is int:
        return (dims.fits(value),) * 2
    if not isinstance(value, (tuple, list)):
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            kind = "NoneType" if value is None else type(value).__name__
            raise TypeError(
                f"{func}(): argument '{name}' (position {position}) must be tuple of ints, but found element of type "
                f"{kind} at pos 0"
            )
        return (dims.whole(value, func, name, position),) * 2
    return dims.sizes((tuple(value),), func, name, position)


def _arguments(func: str, kernel: Any, dilation: Any, padding: Any, stride: Any, position: int) -> tuple:
    kernel = _pair(kernel, func, "kernel_size", position)
    dilation = _pair(dilation, func, "dilation", position + 1)
    padding = _pair(padding, func, "padding", position + 2)
    stride = _pair(stride, func, "stride", position + 3)
    for name, value in (
        ("kernel_size", kernel),
        ("dilation", dilation),
        ("padding", padding),
        ("stride", stride),
    ):
        if len(value) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    return kernel, dilation, padding, stride


def _positive(kernel: tuple, dilation: tuple, padding: tuple, stride: tuple) -> None:
    if min(kernel) <= 0:
        raise RuntimeError(f"kernel size should be greater than zero, but got {named('kernel', kernel)}")
    if min(dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {named('dilation', dilation)}")
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {named('pad', padding)}")
    if min(stride) <= 0:
        raise RuntimeError(f"stride should be greater than zero, but got {named('stride', stride)}")


def _sizes(values: Any) -> str:
    return "(" + ", ".join(map(str, values)) + ")"


def _blocks(size: tuple, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple) -> list[int]:
    """How many windows fit; C++ rounds a negative quotient toward zero."""
    return [
        int((n + 2 * p - (d * (k - 1) + 1)) / s) + 1
        for n, k, d, p, s in zip(size, kernel, dilation, padding, stride, strict=True)
    ]


def _supported(name: str, t: Tensor) -> None:
    dtype = t._data.dtype
    if dtype.kind in "iu" and dtype not in HALVES:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for '{dtypes.of(dtype).scalar_name}'")


def im2col(input: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    """The windows of images as columns."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("im2col", "input", 1, input)
    kernel, dilation, padding, stride = _arguments("im2col", kernel_size, dilation, padding, stride, 2)
    _positive(kernel, dilation, padding, stride)
    shape = input._data.shape
    if not shape:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    if len(shape) == 1 or (len(shape) == 2 and shape[1]):
        dims.one(len(shape), len(shape))  # raises: there is no such dim
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {errors.sizes(shape)}"
        )
    size = shape[-2:]
    blocks = _blocks(size, kernel, dilation, padding, stride)
    if min(blocks) < 1:
        raise RuntimeError(
            f"Given input with spatial size {_sizes(size)}, kernel_size={_sizes(kernel)}, dilation={_sizes(dilation)}, "
            f"padding={_sizes(padding)}, calculated shape of the array of sliding blocks as {_sizes(blocks)}, but its "
            "components must be at least one."
        )
    _supported("im2col", input)
    return _im2col(input, kernel, dilation, padding, stride)


def col2im(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Tensor:
    """The sum of columns as windows of images."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor("col2im", "input", 1, input)
    size = _pair(output_size, "col2im", "output_size", 2)
    if len(size) != 2:
        raise RuntimeError(f"It is expected output_size equals to 2, but got size {len(size)}")
    kernel, dilation, padding, stride = _arguments("col2im", kernel_size, dilation, padding, stride, 3)
    _positive(kernel, dilation, padding, stride)
    shape = input._data.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {errors.sizes(shape)}"
        )
    at = len(shape) - 2
    if shape[at] % (kernel[0] * kernel[1]):
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[at]} and kernel_size={_sizes(kernel)}."
        )
    blocks = _blocks(size, kernel, dilation, padding, stride)
    start = (
        f"Given output_size={_sizes(size)}, kernel_size={_sizes(kernel)}, dilation={_sizes(dilation)}, "
        f"padding={_sizes(padding)}, stride={_sizes(stride)}, expected "
    )
    if shape[at + 1] != blocks[0] * blocks[1]:
        raise RuntimeError(
            f"{start}size of input's dimension 2 to match the calculated number of sliding blocks {blocks[0]} * "
            f"{blocks[1]} = {blocks[0] * blocks[1]}, but got input.size(2)={shape[at + 1]}."
        )
    if min(blocks) < 1:
        raise RuntimeError(
            f"{start}the calculated shape of the array of sliding blocks as {_sizes(blocks)} to have components of at "
            "least one."
        )
    if min(size) < 1:
        raise RuntimeError(f"output size should be greater than zero, but got {named('output', size)}")
    _supported("col2im", input)
    return _col2im(input, size, kernel, dilation, padding, stride)
