"""`gradcheck` and `gradgradcheck`: the gradients of backward against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.core.tensor import Tensor, wrap
from .jacobians import Check, GradcheckError, as_tuple, differentiable
from .run import grad


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of a function against finite differences.

    Args:
        func: takes the inputs, returns a Tensor or a tuple of them.
        inputs: a Tensor or a tuple; those that require grad are checked and should be float64 or complex128.
        eps: the size of a step.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: raise instead of returning False.
        nondet_tol: how much two runs of the same backward may differ.
        check_undefined_grad: also check that an output without gradient counts as zero.
        check_grad_dtypes: refuse gradients of another type than their input.
        check_batched_grad: without effect: there is no vmap, batches of gradients are computed one by one.
        check_batched_forward_grad: without effect, for the same reason.
        check_forward_ad: refused: there is no forward mode.
        check_backward_ad: check backward.
        fast_mode: compare one random projection of each Jacobian instead of all of it.
        masked: without effect: there are no sparse tensors.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([0.5, 2.0], dtype=vistorch.float64, requires_grad=True)
        >>> vistorch.autograd.gradcheck(vistorch.exp, x)
        True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    if check_forward_ad:
        raise NotImplementedError("vistorch has no forward-mode automatic differentiation to check")
    check = Check(func, as_tuple(inputs), eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
    try:
        return check.run(check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the second derivatives of a function: the gradients of its gradients, and of grad_outputs.

    Args:
        func: takes the inputs, returns a Tensor or a tuple of them.
        inputs: a Tensor or a tuple.
        grad_outputs: gradients of the outputs; default: random ones.
        eps: the size of a step.
        atol: absolute tolerance.
        rtol: relative tolerance.
        gen_non_contig_grad_outputs: make the random ones non-contiguous.
        raise_exception: raise instead of returning False.
        nondet_tol: how much two runs of the same backward may differ.
        check_undefined_grad: also check that an output without gradient counts as zero.
        check_grad_dtypes: refuse gradients of another type than their input.
        check_batched_grad: without effect, as in gradcheck.
        check_fwd_over_rev: refused: there is no forward mode.
        check_rev_over_rev: check backward.
        fast_mode: compare random projections.
        masked: without effect.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([0.5, 2.0], dtype=vistorch.float64, requires_grad=True)
        >>> vistorch.autograd.gradgradcheck(vistorch.exp, x)
        True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    given = as_tuple(inputs)
    if grad_outputs is None:
        noise = np.random.default_rng(0)  # the user's random state stays as it is
        seeds = tuple([_random(o, noise, gen_non_contig_grad_outputs) for o in differentiable(func(*given))])
    else:
        seeds = as_tuple(grad_outputs)
    wanted = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]

    def gradients(*args: Any) -> tuple:
        ins, gs = args[: len(given)], args[len(given) :]
        outs = differentiable(func(*ins))
        found = grad(outs, tuple([ins[i] for i in wanted]), gs, create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(
        gradients,
        given + seeds,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random(like: Tensor, noise: Any, strided: bool) -> Tensor:
    shape = (*like._data.shape, 2) if strided else like._data.shape
    values = noise.uniform(-1, 1, shape)
    if like._data.dtype.kind == "c":
        values = values + 1j * noise.uniform(-1, 1, shape)
    d = like._place.xp.asarray(values.astype(like._data.dtype))
    t = wrap(d[..., 0] if strided else d, like._place)
    t.requires_grad = True
    return t


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
