"""Which rows of the table have a fast kernel on the processor.

A fast kernel is listed here because it was measured to be faster than the plain one from the size on at which it
begins; `python -m benchmarks` shows it. Invariant: a row that is not listed runs its plain kernel, untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import elementwise, images, matrices, recurrent, spread, vectors

Make = Callable[[Callable[..., Any]], Callable[..., Any]]

KERNELS: dict[str, Make] = {
    "avg_pool2d": images.avg_pool,
    "avg_pool2d_backward": images.avg_pool_backward,
    "avg_pool3d": images.avg_pool,
    "avg_pool3d_backward": images.avg_pool_backward,
    "bmm": lambda plain: matrices.matmul,
    "clamp": elementwise.clamp,
    "conv_input_grad": images.conv_input_grad,
    "conv_weight_grad": images.conv_weight_grad,
    "convolution": images.convolution,
    "convolution_transposed": images.conv_input_grad,
    "convolution_transposed_with_bias": images.transposed_with_bias,
    "convolution_with_bias": images.convolution_with_bias,
    "gelu": vectors.one("GELU", "gelu"),
    "gelu_backward": vectors.one_back("GELU", "gelu"),
    "gelu_tanh": vectors.one("GELU_TANH", "gelu"),
    "gelu_tanh_backward": vectors.one_back("GELU_TANH", "gelu"),
    "hardswish": vectors.one("HARDSWISH"),
    "hardswish_backward": vectors.one_back("HARDSWISH"),
    "log_softmax": vectors.softmax("LOG_SOFTMAX"),
    "log_softmax_backward_data": vectors.softmax_back("LOG_SOFTMAX"),
    "lstm_layer": recurrent.lstm,
    "max_pool2d": images.max_pool,
    "max_pool2d_backward": images.max_pool_backward,
    "max_pool3d": images.max_pool,
    "max_pool3d_backward": images.max_pool_backward,
    "mm": lambda plain: matrices.dot,
    "native_batch_norm": images.batch_norm,
    "group_norm": vectors.group_norm,
    "native_group_norm": vectors.group_norm,
    "native_layer_norm": vectors.layer_norm,
    **dict.fromkeys(
        (
            "linalg_det",
            "linalg_ldl_factor_ex",
            "linalg_lu",
            "linalg_lu_factor_ex",
            "linalg_lu_solve",
            "linalg_slogdet",
            "linalg_solve_triangular",
            "cholesky_solve",
        ),
        matrices.solver,
    ),
    "relu_backward": lambda plain: elementwise.kept(spread.large(plain)),
    "sigmoid": vectors.one("LOGISTIC"),
    "sigmoid_backward": lambda plain: vectors.one_back("LOGISTIC_FROM_OUT", "each")(spread.large(plain)),
    "silu": vectors.one("SWISH"),
    "silu_backward": vectors.one_back("SWISH"),
    "softmax": vectors.softmax("SOFTMAX"),
    "softmax_backward_data": vectors.softmax_back("SOFTMAX"),
    "tanh_backward": lambda plain: vectors.one_back("TANH_FROM_OUT", "each")(spread.large(plain)),
}
TOGETHER: dict[str, Make] = {
    "lstm_layer": recurrent.lstm_gradients,
    "native_batch_norm": images.batch_norm_gradients,
    "native_layer_norm": vectors.layer_norm_gradients,
}


def chosen(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """What a row runs on numpy's arrays: the fast kernel over the plain one, or the plain one."""
    make = KERNELS.get(name)
    if make is not None:
        return _marked(make(plain), plain)
    if getattr(plain, "raises", False):
        return _marked(matrices.solver(plain), plain)
    return plain


def of_formula(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """What a formula calls for a row: a ufunc does not look at the size itself."""
    return spread.shared(kernel) if kernel in elementwise.FUNCTIONS else kernel


def chosen_together(name: str, plain: Any) -> Any:
    """The same for the function that gives all gradients of a row at once."""
    make = TOGETHER.get(name)
    return plain if make is None or plain is None else make(plain)


def _marked(run: Any, plain: Any) -> Any:
    """The kernel with what the table asks of a kernel, and the plain one for those who compare."""
    if run in (matrices.dot, matrices.matmul):
        return run
    run.__name__ = getattr(plain, "__name__", "kernel")
    run.raises = getattr(plain, "raises", False)
    run.plain = plain
    run.threaded = True
    return run


PLAIN = {"mm": np.dot, "bmm": np.matmul}
