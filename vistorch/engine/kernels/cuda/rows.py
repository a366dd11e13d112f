"""Which rows of the table have a kernel of the project's own on a CUDA device.

The counterpart of `fast/rows.py`: a kernel is made over the plain one, which it calls for types and shapes it does not
know. Invariant: a row that is not listed runs its plain kernel on cupy's arrays, untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import attention, convolution, gelu, halves, losses, matrices, norms, places, pooling, softmax

Make = Callable[[Callable[..., Any], Any], Callable[..., Any]]

KERNELS: dict[str, Make] = {
    "attention": attention.attention,
    "attention_noise": attention.noise,
    "dropped_attention": attention.dropped_attention,
    "masked_attention": attention.masked_attention,
    "addmm": matrices.added,
    "baddbmm": matrices.added,
    "bmm": matrices.product,
    "mm": matrices.product,
    **dict.fromkeys(("conv_bias_grad", "sum_to"), halves.summed),
    "convolution": convolution.convolution,
    "convolution_with_bias": convolution.convolution_with_bias,
    "convolution_transposed": convolution.input_grad,
    "convolution_transposed_with_bias": convolution.transposed_with_bias,
    "conv_input_grad": convolution.input_grad,
    "conv_weight_grad": convolution.weight_grad,
    "index": places.index,
    "index_put": places.index_put,
    "embedding_gradient": places.embedding_gradient,
    "gelu_backward": gelu.gradient("gelu_gradient"),
    "gelu_tanh_backward": gelu.gradient("gelu_tanh_gradient"),
    "group_norm": norms.group_norm,
    "native_batch_norm": norms.batch_norm,
    "native_group_norm": norms.group_norm,
    "native_layer_norm": norms.layer_norm,
    "rms_norm": norms.rms_norm,
    "log_softmax": softmax.forward(True),
    "log_softmax_backward_data": softmax.gradient(True),
    "softmax": softmax.forward(False),
    "softmax_backward_data": softmax.gradient(False),
    **{f"nll_loss{d}": losses.likelihood for d in ("", "2d")},
    **{f"nll_loss{d}_backward": losses.gradient for d in ("", "2d")},
    **{f"nll_loss{d}_weighted": losses.likelihood_weighted for d in ("", "2d")},
    **{f"nll_loss{d}_weighted_backward": losses.gradient_weighted for d in ("", "2d")},
    "max_pool1d": pooling.maximum,
    **{f"avg_pool{d}d": pooling.average for d in (2, 3)},
    **{f"avg_pool{d}d_backward": pooling.average_gradient for d in (2, 3)},
    **{f"adaptive_avg_pool{d}d": pooling.adaptive for d in (2, 3)},
    **{f"adaptive_avg_pool{d}d_backward": pooling.adaptive_gradient for d in (2, 3)},
    **{f"{a}max_pool{d}d": pooling.maximum for a in ("", "adaptive_") for d in (2, 3)},
    **{
        f"{a}max_pool{d}d_with_indices": pooling.maximum_with_indices
        for a in ("", "adaptive_")
        for d in (2, 3)
    },
    **{f"{a}max_pool{d}d_backward": pooling.maximum_gradient for a in ("", "adaptive_") for d in (2, 3)},
    **{f"{a}max_pool{d}d_picked": pooling.picked for a in ("", "adaptive_") for d in (2, 3)},
}
TOGETHER: dict[str, Callable[[Any], Any]] = {
    "attention": attention.gradients,
    "dropped_attention": attention.dropped_gradients,
    "masked_attention": attention.masked_gradients,
    "group_norm": norms.group_gradients,
    "native_batch_norm": norms.batch_gradients,
    "native_layer_norm": norms.layer_gradients,
    "rms_norm": norms.rms_gradients,
}


def chosen(name: str, plain: Callable[..., Any], xp: Any) -> Callable[..., Any]:
    """What a row runs on arrays of `xp`: the own kernel over the plain one, or the plain one."""
    make = KERNELS.get(name)
    if make is None:
        return plain
    takes = name in halves.KERNELS
    run: Any = make(halves.widening(plain) if takes else plain, xp)
    if takes:
        run.halves = True
    run.__name__ = getattr(plain, "__name__", "kernel")
    run.plain = plain
    return run


def chosen_together(name: str, plain: Any, xp: Any) -> Any:
    """The same for the function that gives all gradients of a row; on other arrays it stays what it was."""
    make = TOGETHER.get(name)
    if make is None or plain is None:
        return plain
    own = make(halves.widening_together(plain) if name in halves.FORMULAS else plain)

    def run(library: Any, *args: Any) -> Any:
        return (own if library is xp else plain)(library, *args)

    run.elsewhere = plain  # type: ignore[attr-defined]
    return run
