"""How variables vary together: covariances and correlations.

Invariant: rows are variables, columns observations; everything is made of other public ops.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...base import dims
from ...core.registry import FUNCTIONS, METHODS, public
from ...core.tensor import Tensor
from ...core.type_promotion import floating
from .frame import label, tensor


def _weights(name: str, w: Any, count: int, whole: bool) -> Tensor:
    """The weights of the observations, after PyTorch's checks."""
    if not isinstance(w, Tensor):
        raise TypeError(f"cov(): argument '{name}' must be Tensor, not {type(w).__name__}")
    a = w._data
    if a.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {a.ndim} dimensions"
        )
    if whole and (a.dtype.kind not in "iu" or floating(a.dtype)):
        raise RuntimeError(
            f"cov(): expected {name} to have integral dtype but got {name} with {label(a.dtype)} dtype"
        )
    if not whole and (a.dtype.kind == "c" or not floating(a.dtype)):
        raise RuntimeError(
            f"cov(): expected {name} to have floating point dtype but got {name} with {label(a.dtype)} dtype"
        )
    if a.size != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{a.size} != {count}"
        )
    if not (a >= 0).all():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return w


@public()
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of variables.

    Args:
        input: one variable, or one in each row.
        correction: what is taken off the number of observations.
        fweights: how often each observation occurs.
        aweights: how important each observation is.

    Example:
        >>> import vistorch
        >>> vistorch.cov(vistorch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    a = tensor("cov", input)
    correction = dims.whole(correction, "cov", "correction", 2)
    if a.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {a.ndim} dimensions"
        )
    if a.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x: Any = input if a.ndim == 2 else METHODS["reshape"](input, (1, -1))
    count = x._data.shape[1]
    w: Any = None
    if fweights is not None:
        w = _weights("fweights", fweights, count, True)
    if aweights is not None:
        aweights = _weights("aweights", aweights, count, False)
        w = aweights if w is None else w * aweights
    total: Any = count
    if w is not None:
        total = w.sum()
        if total._data == 0:
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    weighed = x if w is None else x * w
    middle = METHODS["true_divide"](weighed.sum(1), total)
    if w is None or aweights is None or correction == 0:
        freedom = total - correction
    else:
        freedom = total - correction * METHODS["true_divide"]((w * aweights).sum(), total)
    if (freedom._data if isinstance(freedom, Tensor) else freedom) <= 0:
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            UserWarning,
            stacklevel=2,
        )
        freedom = freedom.clone().zero_() if isinstance(freedom, Tensor) else 0
    x = x - middle.unsqueeze(1)
    product = METHODS["mm"](x, (x if w is None else x * w).t().conj())
    if x._data.shape[0] == 1 and product._data.dtype.kind == "c":  # a variance: real, whatever rounding says
        real = FUNCTIONS["view_as_real"](product).select(-1, 0)
        product = FUNCTIONS["complex"](real, real.detach().clone().zero_())
    return METHODS["true_divide"](product, freedom).squeeze()


@public()
def corrcoef(input):
    """The correlations of variables: covariances divided by both standard deviations.

    Args:
        input: one variable, or one in each row.

    Example:
        >>> import vistorch
        >>> vistorch.corrcoef(vistorch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    a = tensor("corrcoef", input)
    if a.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {a.ndim} dimensions"
        )
    c: Any = cov(input)
    if c._data.ndim == 0:
        return c / c
    d = c.diag()
    spread = d.real if d._data.dtype.kind == "c" else d
    spread = spread.sqrt()
    c = c / spread.view(-1, 1)
    c = c / spread.view(1, -1)
    if c._data.dtype.kind == "c":
        return FUNCTIONS["complex"](c.real.clip(-1, 1), c.imag.clip(-1, 1))
    return c.clip(-1, 1)
