"""The grid that an affine map makes of the output's positions."""

from __future__ import annotations

from math import prod
from typing import Any

from ...base import dims, errors
from ...base.casting import casting
from ...core.op_factory import op
from ...core.registry import public
from ..linalg import checks


def _base(xp: Any, sizes: tuple, align: bool, dtype: Any) -> Any:
    """Every position as a row (x, y[, z], 1), from -1 to 1."""
    out = xp.ones((*sizes, len(sizes) + 1), dtype)
    for d, n in enumerate(sizes):
        line = xp.linspace(-1, 1, n).astype(dtype) if n > 1 else xp.zeros(n, dtype)
        if not align:
            line *= dtype.type((n - 1) / n)
        out[..., len(sizes) - 1 - d] = line.reshape(-1, *([1] * (len(sizes) - 1 - d)))
    return out.reshape(prod(sizes), len(sizes) + 1)


def _grid(xp, theta, sizes, align):
    base = _base(xp, sizes, align, theta.dtype)
    return xp.matmul(base, theta.swapaxes(1, 2)).reshape(theta.shape[0], *sizes, len(sizes))


def _grid_back(xp, g, sizes, align):
    base = _base(xp, sizes, align, g.dtype)
    return xp.matmul(g.reshape(g.shape[0], prod(sizes), len(sizes)).swapaxes(1, 2), base)


_row = op(
    "affine_grid_generator",
    _grid,
    formula=r"\bar x = \bar y^T P",
    theta=lambda F, g, sizes, align: F.affine_grid_back(g, sizes, align),
)
op(
    "affine_grid_back",
    _grid_back,
    name_in_graph="AffineGridGeneratorBackwardBackward0",
    formula=r"\bar x = P \bar y^T",
    g=lambda F, g_, sizes, align: F.affine_grid_generator(g_, sizes, align),
)


@public(method=False)
def affine_grid_generator(theta, size, align_corners):
    """Where an affine map takes each position of an output; `nn.functional.affine_grid` checks more.

    Args:
        theta: (N, 2, 3) or (N, 3, 4), one map for each sample.
        size: the output's sizes, (N, C, H, W) or (N, C, D, H, W).
        align_corners: whether -1 and 1 are the centres of the outermost elements, not their outer edges.

    Example:
        >>> import vistorch
        >>> same = vistorch.tensor([[[1., 0., 0.], [0., 1., 0.]]])
        >>> vistorch.affine_grid_generator(same, (1, 1, 1, 2), True)
        tensor([[[[-1.,  0.],
                  [ 1.,  0.]]]])
    """
    if casting.on and (recast := casting.ask(affine_grid_generator, locals())):
        return recast[0]
    checks.tensors("affine_grid_generator", theta=theta)
    align_corners = dims.flag(align_corners, "affine_grid_generator", "align_corners", 3)
    sizes = dims.sequence(size, "affine_grid_generator")
    if len(sizes) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    shape, n = theta._data.shape, len(sizes) - 2
    if theta._data.dtype.kind == "b":
        raise checks.not_implemented("linspace_cpu", theta)
    if any(s < 0 for s in sizes[2:]):
        base = errors.sizes((sizes[0], *sizes[2:], n + 1))
        worst = next(s for s in sizes[2:] if s < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {worst}: {base}")
    if len(shape) != 3 or shape[0] != sizes[0] or shape[2] != len(sizes) - 1:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"{errors.sizes((sizes[0], len(sizes) - 1))} but got: {errors.sizes((shape[0], shape[-1]))}."
        )
    if shape[1] != n:
        grid = (*sizes[:1], *sizes[2:], n)
        raise RuntimeError(
            f"shape '{errors.sizes(grid)}' is invalid for input of size {prod(grid[:-1]) * shape[1]}"
        )
    return _row(theta, sizes[2:], bool(align_corners))
