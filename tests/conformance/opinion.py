"""A second opinion, where a result is not PyTorch's: whether mathematics asks for this one.

What has fewer digits is asked of PyTorch in double precision. Of equal elements any may be chosen. What is left is a
table of places where a sentence of `docs/differences.md` says what PyTorch does instead, each proven by a test.
Invariant: a result that is neither PyTorch's nor right by one of these is wrong.
"""

import contextlib
import warnings
from typing import Any

import numpy as np
import torch

from tests.ops.library import flat, numpy_of

WIDER = dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float64) | {
    torch.complex64: torch.complex128
}
TOLERANCE = {
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
    torch.float32: (1e-4, 1e-5),
    torch.complex64: (1e-4, 2e-5),
}
SUMS = dict.fromkeys((torch.float32, torch.complex64), 1e-6)  # of the largest element
# Where the dim stands among the arguments after the tensor, of what puts elements in order.
DIM_AT = {"sort": 0, "argsort": 0, "topk": 1, "kthvalue": 1, "mode": 0}
# By column and entry: how the sentence of docs/differences.md begins that says so.
DIFFERS = {
    ("forward", "special.bessel_j0"): "**Bessel functions**",
    ("forward", "special.bessel_y1"): "**Bessel functions**",
    ("forward mode", "cholesky_inverse"): "**Derivatives in a direction**",
    ("forward mode", "logcumsumexp"): "**Derivatives in a direction**",
    **{("vmap", f"special.bessel_{name}"): "**Bessel functions**" for name in ("j0", "j1", "y0", "y1")},
    ("gradients", "as_strided_scatter"): "**`as_strided_scatter`**",
    ("second order", "nn.functional.linear_cross_entropy:chunked"): "**`linear_cross_entropy`**",
    ("second order", "nn.functional.linear_cross_entropy:chunked_none"): "**`linear_cross_entropy`**",
    ("second order", "linalg.norm:subgradients_at_zero"): "**Norms at zero**",
}


def agrees(name: str, sample: Any, op: Any, mine: Any, other: Any) -> bool:
    """Whether a result is right although PyTorch's is another."""
    with contextlib.suppress(Exception), np.errstate(all="ignore"):
        if name in DIM_AT:
            return tied(name, sample, flat(mine), flat(other))
        return rounded_once(sample, op, flat(mine), flat(other))
    return False


def tied(name: str, sample: Any, mine: list, other: list) -> bool:
    """Whether the indices name equal elements, and no element twice where all are named."""
    if any(not np.array_equal(numpy_of(a), numpy_of(b)) for a, b in zip(mine[:-1], other[:-1], strict=True)):
        return False
    x, at = sample.input, DIM_AT[name]
    dim = sample.kwargs.get("dim", sample.args[at] if len(sample.args) > at else -1)
    left, right = torch.from_numpy(numpy_of(mine[-1]).astype(np.int64)), other[-1]
    if left.shape != right.shape:
        return False
    if name in ("sort", "argsort") and not torch.equal(left.sort(dim).values, right.sort(dim).values):
        return False
    if left.ndim < x.ndim:
        left, right = left.unsqueeze(dim), right.unsqueeze(dim)
    return torch.equal(x.gather(dim, left).nan_to_num(7.5), x.gather(dim, right).nan_to_num(7.5))


def rounded_once(sample: Any, op: Any, mine: list, other: list) -> bool:
    """Whether a result is the one that PyTorch has in double precision, rounded, or at least no further from it."""
    narrow = [t.dtype for t in other if isinstance(t, torch.Tensor) and t.dtype in WIDER]
    if not narrow:
        return False
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = flat(op(doubled(sample.input), *doubled(sample.args), **doubled(sample.kwargs)))
    rtol, atol = TOLERANCE[narrow[0]]
    for a, b, c in zip(mine, exact, other, strict=True):
        ours, right, theirs = numpy_of(a), numpy_of(b.detach().to(c.dtype)), numpy_of(c)
        if np.allclose(ours, right, rtol, atol, equal_nan=True):
            continue
        # where large terms cancel, rounding is as large as they are
        off, largest = np.abs(ours - right).max(), np.abs(right).max()
        if not off <= max(np.abs(theirs - right).max(), SUMS.get(c.dtype, 0) * largest):
            return False
    return True


def doubled(x: Any) -> Any:
    """The same arguments in double precision."""
    if isinstance(x, torch.Tensor):
        return x.detach().to(WIDER.get(x.dtype, x.dtype))
    if isinstance(x, torch.dtype):
        return WIDER.get(x, x)
    if type(x) in (tuple, list):
        return type(x)(doubled(part) for part in x)
    return {key: doubled(part) for key, part in x.items()} if type(x) is dict else x
