"""Group normalisation: over the channels of a group and their places, for each sample.

Invariant: each channel of each sample is a row of a matrix; a group is some neighbouring rows.
"""

from __future__ import annotations

from math import prod
from typing import Any

from ...base import dims, errors
from ...base.casting import casting
from ...core.op_factory import op
from ...core.registry import public
from ...core.tensor import wrap
from ..reduce.frame import size_of
from . import checks, passes
from .passes import F8
from .standard import absent, there


def _layout(shape: tuple) -> tuple:
    return shape[0], shape[1], prod(shape[2:])


def _column(xp: Any, c: Any, dtype: Any) -> Any:
    """A coefficient for each row."""
    return c.reshape(-1, 1).astype(dtype)


def _group_norm(xp, input, weight, bias, groups, eps):
    batch, channels, inner = _layout(input.shape)
    dtype, members = passes.wide(input.dtype), channels // groups
    x = passes.contiguous(xp, input, batch * channels, inner)
    mean, square = passes.moments(xp, x)
    mean, var = passes.pooled(
        mean.reshape(batch, groups, members), square.reshape(batch, groups, members), inner, 2
    )
    inverse = 1 / xp.sqrt(var + eps)
    scale = xp.repeat(inverse, members, 1)
    if there(weight) is not None:
        scale = scale * weight
    shift = -xp.repeat(mean, members, 1) * scale
    if there(bias) is not None:
        shift = shift + bias
    out = passes.scaled(xp, x, _column(xp, scale, dtype), _column(xp, shift, dtype), input.shape)
    return out, mean.astype(dtype), inverse.astype(dtype)


def _gradients(xp, g, wants, input, weight, out1, out2, groups):
    batch, channels, inner = _layout(input.shape)
    dtype, members = g.dtype, channels // groups
    x = passes.contiguous(xp, input, batch * channels, inner)
    g = passes.contiguous(xp, g, batch * channels, inner)
    mean, inverse = [xp.repeat(t.astype(F8), members, 1) for t in (out1, out2)]
    close = passes.near(xp, mean, 1 / (inverse * inverse))
    m = _column(xp, mean, dtype)
    total, along = [s.reshape(batch, channels) for s in passes.sums(xp, g, x, m, close)]
    grads: list = [None] * 3
    if wants[1]:
        grads[1] = (along * inverse).sum(0).astype(dtype)
    if wants[2]:
        grads[2] = total.sum(0).astype(dtype)
    if wants[0]:
        scale = inverse if there(weight) is None else inverse * weight
        if there(weight) is not None:
            total, along = total * weight, along * weight
        n = max(members * inner, 1)
        total, along = [
            xp.repeat(s.reshape(batch, groups, members).sum(2) / n, members, 1) for s in (total, along)
        ]
        coefficients = (scale, -(inverse**3) * along, -inverse * total)
        of_g, of_x, shift = [_column(xp, c, dtype) for c in coefficients]
        grads[0] = passes.combined(xp, g, x, m, of_g, of_x, shift, close, input.shape)
    return grads


def _grouped(F: Any, x: Any, groups: int) -> Any:
    batch, channels, inner = _layout(x.shape)
    return F.as_shape(x, (batch, groups, channels // groups * inner))


def _ahead(F: Any, c: Any, shape: tuple) -> Any:
    return F.as_shape(c, (1, shape[1], *[1] * (len(shape) - 2)))


def _input_vjp(F, g, input, weight, groups, eps):
    if there(weight) is not None:
        g = g * _ahead(F, weight, input.shape)
    made = F.standard_gradient(_grouped(F, g, groups), _grouped(F, input, groups), (2,), eps, True)
    return F.as_shape(made, input.shape)


def _over(F: Any, x: Any) -> Any:
    return F.sum_dims(x, (0, *range(2, len(x.shape))), False)


def _weight_vjp(F, g, input, groups, eps):
    return _over(F, g * F.as_shape(F.standard(_grouped(F, input, groups), (2,), eps, True), input.shape))


_FORMULA = {
    "input": r"\bar x = \frac{1}{\sigma}\left(w\bar y - \mathrm{mean}(w\bar y)"
    r" - \hat x\,\mathrm{mean}(w\bar y\,\hat x)\right)",
    "weight": r"\bar w = \textstyle\sum \bar y\,\hat x",
    "bias": r"\bar b = \textstyle\sum \bar y",
}
group_norm_row = op(
    "group_norm",
    _group_norm,
    inputs="input weight bias",
    widen=False,
    name_in_graph="NativeGroupNormBackward0",
    formula=_FORMULA,
    together=_gradients,
    input=_input_vjp,
    weight=_weight_vjp,
    bias=lambda F, g: _over(F, g),
)


def _with_statistics(F, g, input, weight, groups, eps):
    """The gradient of the input where that of the mean or of the inverse deviation counts too."""
    made = None if g[0] is None else _input_vjp(F, g[0], input, weight, groups, eps)
    x = _grouped(F, input, groups)
    n = size_of(x.shape, (2,)) or 1
    parts = []
    if g[1] is not None:
        parts.append(F.expand(F.as_shape(g[1], (*x.shape[:2], 1)) / n, x.shape))
    if g[2] is not None:
        s = F.inverse_deviation(x, (2,), eps, True)
        parts.append(F.standard(x, (2,), eps, True) * (F.as_shape(g[2], s.shape) * s * s * (-1.0 / n)))
    for part in parts:
        part = F.as_shape(part, input.shape)
        made = part if made is None else made + part
    return made


native_group_norm_row = op(
    "native_group_norm",
    _group_norm,
    inputs="input weight bias",
    outs=3,
    widen=False,
    formula=_FORMULA,
    input=_with_statistics,
    weight=lambda F, g, input, groups, eps: (
        None if g[0] is None else _weight_vjp(F, g[0], input, groups, eps)
    ),
    bias=lambda F, g: None if g[0] is None else _over(F, g[0]),
)


def _check(input: Any, weight: Any, bias: Any, groups: int) -> None:
    shape = input._data.shape
    if groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {groups}")
    if shape[1] % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{errors.sizes(shape)} and num_groups={groups}"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._data.shape != (shape[1],):
            # PyTorch names the shape of the weight here, whichever it means
            given = (0,) if weight is None else weight._data.shape
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {errors.sizes(given)} and input of shape {errors.sizes(shape)}"
            )
    checks.same_types(input, (weight, bias))
    checks.floating("GroupNormKernelImpl", input)
    checks.same_place(input, weight, bias)


@public(method=False)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """The channels of each group brought to mean zero and variance one, for each sample.

    Args:
        input: (batch, channels, ...).
        num_groups: how many groups of neighbouring channels there are.
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        eps: added to the variance.
        cudnn_enabled: accepted, and without effect.

    Example:
        >>> import vistorch
        >>> vistorch.group_norm(vistorch.tensor([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
        tensor([[-1.,  1., -1.,  1.]])
    """
    if casting.on and (recast := casting.ask(group_norm, locals())):
        return recast[0]
    checks.tensor("group_norm", "input", 1, input)
    groups = dims.whole(num_groups, "group_norm", "num_groups", 2)
    checks.tensor("group_norm", "weight", 3, weight, True)
    checks.tensor("group_norm", "bias", 4, bias, True)
    eps = checks.real("group_norm", "eps", 5, eps)
    dims.flag(cudnn_enabled, "group_norm", "cudnn_enabled", 6)
    ndim = input._data.ndim
    if ndim < 2:
        raise checks.no_channels(ndim, 0)
    _check(input, weight, bias, groups)
    blank = None if weight is not None and bias is not None else absent(input)
    return group_norm_row(
        input, blank if weight is None else weight, blank if bias is None else bias, groups, eps
    )[0]


@public(method=False)
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """`group_norm`, and the mean and inverse deviation of each group.

    Args:
        input: (batch, channels, ...).
        weight: a factor for each channel, or None.
        bias: an offset for each channel, or None.
        N: the batch size.
        C: the number of channels.
        HxW: the number of places of one channel.
        group: how many groups there are.
        eps: added to the variance.

    Example:
        >>> import vistorch
        >>> vistorch.native_group_norm(vistorch.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)[1]
        tensor([[2.]])
    """
    func = "native_group_norm"
    checks.tensor(func, "input", 1, input)
    checks.tensor(func, "weight", 2, weight, True)
    checks.tensor(func, "bias", 3, bias, True)
    sizes = [dims.whole(v, func, n, i) for i, (v, n) in enumerate(((N, "N"), (C, "C"), (HxW, "HxW")), 4)]
    group = dims.whole(group, func, "group", 7)
    eps = checks.real(func, "eps", 8, eps)
    if input._data.size != prod(sizes):
        raise RuntimeError("Expected X.numel() == N * C * HxW to be true, but got false.")
    if group <= 0 or sizes[1] % group:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got C={C} and group={group}"
        )
    x = input if input._data.ndim > 1 and input._data.shape[:2] == tuple(sizes[:2]) else input.reshape(sizes)
    _check(x, weight, bias, group)
    blank = None if weight is not None and bias is not None else absent(input)
    o, mean, inverse = native_group_norm_row(
        x, blank if weight is None else weight, blank if bias is None else bias, group, eps
    )
    kind = next((t for t in (weight, bias) if t is not None), input)._data.dtype
    if mean._data.dtype != kind:
        mean, inverse = (
            mean.to(wrap(mean._data.astype(kind)).dtype),
            inverse.to(wrap(mean._data.astype(kind)).dtype),
        )
    return o if x is input else o.reshape(input.shape), mean, inverse
