"""Connectionist temporal classification: the likelihood of a label sequence under all its alignments.

The states of a sequence are its labels with a blank before, between and behind them. One loop over time carries the
forward and the backward variables of all samples at once, the backward ones as the forward ones of everything
reversed. Invariant: what lies behind a sample's own length never reaches its loss or its gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import dims, errors
from ...base.casting import casting
from ...core.op_factory import HALVES, op
from ...core.registry import public
from ...core.tensor import Tensor, wrap
from ..elementwise.choose import where
from ..elementwise.division import undifferentiable
from ..elementwise.dtype_checks import missing
from ..index.add_at import add_at
from .frame import MEAN, NONE, SUM, label_of, whole

_LOW = -1e30  # stands for -inf where a difference of two of them would be nan


# ---- kernels -----------------------------------------------------------------------------------------------------
def _states(xp: Any, targets: Any, lengths: Any, blank: int) -> tuple[Any, Any]:
    """The label of each state (rows, 2 S + 1), and where it may be reached from the second to last, as 0 or -inf."""
    rows, longest = targets.shape
    labels = xp.full((rows, 2 * longest + 1), blank, np.int64)
    inside = xp.arange(longest) < lengths[:, None]
    labels[:, 1::2] = xp.where(inside, targets, blank)
    skips = xp.full(labels.shape, -np.inf)
    skips[:, 2:][labels[:, 2:] != labels[:, :-2]] = 0  # never from blank to blank
    return labels, skips


def _reversed(xp: Any, targets: Any, lengths: Any) -> Any:
    """Each row's first `lengths` entries in reverse order."""
    if not targets.shape[1]:
        return targets
    at = xp.maximum(lengths[:, None] - 1 - xp.arange(targets.shape[1]), 0)
    return xp.take_along_axis(targets, at, 1)


def _chains(xp: Any, emitted: Any, skips: Any) -> Any:
    """The forward variables (time, rows, states) of log-probabilities in the same layout."""
    steps, rows, states = emitted.shape
    out = xp.full((steps, rows, states + 2), -np.inf, emitted.dtype)
    out[0, :, 2:4] = emitted[0, :, :2]
    skips = skips.astype(emitted.dtype, copy=False)
    for t in range(1, steps):
        last, now = out[t - 1], out[t, :, 2:]
        stay, step, jump = last[:, 2:], last[:, 1:-1], last[:, :-2] + skips
        top = xp.maximum(xp.maximum(stay, step), jump)
        xp.maximum(top, _LOW, out=top)
        total = xp.exp(stay - top)
        total += xp.exp(step - top)
        total += xp.exp(jump - top)
        xp.log(total, out=total)
        total += top
        xp.add(total, emitted[t], out=now)
    return out[:, :, 2:]


def _ctc(xp, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity, both_ways):
    steps, rows, _ = log_probs.shape
    labels, skips = _states(xp, targets, target_lengths, blank)
    emitted = xp.take_along_axis(log_probs, labels[None], 2)
    if both_ways:
        back_labels, back_skips = _states(xp, _reversed(xp, targets, target_lengths), target_lengths, blank)
        times = xp.maximum(input_lengths - 1 - xp.arange(steps)[:, None], 0)
        behind = log_probs[times[:, :, None], xp.arange(rows)[:, None], back_labels]
        paths = _chains(xp, xp.concatenate((emitted, behind), 1), xp.concatenate((skips, back_skips)))
    else:
        paths = _chains(xp, emitted, skips)
    each = xp.arange(rows)
    end = paths[xp.maximum(input_lengths - 1, 0), each]
    last = end[each, 2 * target_lengths]
    before = xp.where(target_lengths > 0, end[each, xp.maximum(2 * target_lengths - 1, 0)], -np.inf)
    top = xp.maximum(xp.maximum(last, before), _LOW)
    loss = -(xp.log(xp.exp(last - top) + xp.exp(before - top)) + top)
    loss = xp.where(input_lengths > 0, loss, xp.where(target_lengths > 0, np.inf, -0.0))
    return loss.astype(log_probs.dtype), paths


def _ctc_backward(
    xp, grad, log_probs, targets, input_lengths, target_lengths, loss, paths, blank, zero_infinity
):
    steps, rows, classes = log_probs.shape
    labels, _ = _states(xp, targets, target_lengths, blank)
    states = labels.shape[1]
    ahead = paths[:, :rows]
    times = xp.maximum(input_lengths - 1 - xp.arange(steps)[:, None], 0)
    back = xp.maximum(2 * target_lengths[:, None] - xp.arange(states), 0)
    behind = paths[times[:, :, None], (rows + xp.arange(rows))[:, None], back]
    emitted = xp.take_along_axis(log_probs, labels[None], 2)
    share = xp.exp(ahead + behind - xp.maximum(emitted, _LOW) + loss[:, None])
    within = xp.arange(steps)[:, None] < input_lengths
    there = within[:, :, None] & (xp.arange(states) <= 2 * target_lengths[:, None])
    share = xp.where(there & (ahead > -np.inf) & (behind > -np.inf), share, 0).astype(log_probs.dtype)
    out = xp.exp(log_probs)
    lines = xp.arange(steps * rows).reshape(steps, rows, 1) * classes
    add_at(xp, out.reshape(-1), (lines + labels).reshape(-1), -share.reshape(-1))
    grad = grad.astype(log_probs.dtype, copy=False)
    impossible = xp.isinf(loss)
    out *= xp.where(impossible & bool(zero_infinity), 0, xp.where(impossible, np.nan, grad))[:, None]
    return xp.where(within[:, :, None], out, log_probs.dtype.type(0))


_row = op(
    "ctc_loss",
    _ctc,
    inputs="log_probs targets input_lengths target_lengths",
    formula=r"\bar x_{t,c} = \bar z\,\bigl(e^{x_{t,c}} - P(c \text{ at } t \mid y)\bigr)",
    log_probs=lambda F, g, log_probs, targets, input_lengths, target_lengths, out, out1, blank, zero_infinity: (
        F.ctc_loss_backward(
            g, log_probs, targets, input_lengths, target_lengths, out, out1, blank, zero_infinity
        )
    ),
)
op(
    "ctc_loss_backward",
    _ctc_backward,
    inputs="grad log_probs targets input_lengths target_lengths loss paths",
    name_in_graph="NotImplemented",
    grad=undifferentiable("_ctc_loss_backward"),
    log_probs=undifferentiable("_ctc_loss_backward"),
)


# ---- the public op -----------------------------------------------------------------------------------------------
_no_kernel = missing("ctc_loss_cpu", "ibc")
_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"
_LARGE = 2**63 - 1


def _lengths(name: str, given: Any) -> Any:
    """A lengths argument as a numpy array of one dim."""
    if isinstance(given, Tensor):
        if given._data.dtype.kind not in "iu":
            raise RuntimeError(f"{name} must be integral")
        return np.asarray(given.cpu()._data, np.int64).reshape(-1)
    return np.asarray([dims.whole(n, "ctc_loss", name) for n in given], np.int64)


def _check_lengths(name: str, lengths: Any, rows: int, most: int) -> None:
    if len(lengths) != rows:
        raise RuntimeError(f"{name} must be of size batch_size")
    for n in lengths.tolist():
        if not 0 <= n <= most:
            bound = f"at least 0, but got value {n}" if n < 0 else f"at most {most}, but got value {n}"
            raise RuntimeError(f"Expected {name} to have value {bound} {_CHECKING}")


def _padded(targets: Any, lengths: Any, rows: int) -> Any:
    """The targets as a numpy matrix, one row per sample, whichever of its two forms they came in."""
    longest = int(lengths.max()) if rows else 0
    about = f"for argument #2 'targets' {_CHECKING}"
    if targets.ndim == 1:
        total = int(lengths.sum())
        if len(targets) != total:
            raise RuntimeError(
                f"Expected tensor to have size {total} at dimension 0, but got size {len(targets)} {about}"
            )
        out = np.zeros((rows, longest), np.int64)
        out[np.arange(longest) < lengths[:, None]] = targets
        return out
    if targets.ndim != 2:
        raise RuntimeError(f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor {about}")
    if targets.shape[0] != rows:
        raise RuntimeError(
            f"Expected tensor to have size {rows} at dimension 0, but got size {targets.shape[0]} {about}"
        )
    if targets.shape[1] < longest:
        raise RuntimeError(
            f"Expected tensor to have size at least {longest} at dimension 1, but got size {targets.shape[1]} {about}"
        )
    return targets[:, :longest]


def _check_forms(given: tuple) -> None:
    """PyTorch has two forms: both lengths as tensors, or both as sequences of ints."""
    log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity = given
    lengths = isinstance(input_lengths, Tensor), isinstance(target_lengths, Tensor)
    sequences = all(
        isinstance(given, (tuple, list)) and not any(isinstance(n, (float, str)) or n is None for n in given)
        for given in (input_lengths, target_lengths)
    )
    fine = isinstance(log_probs, Tensor) and isinstance(targets, Tensor) and (all(lengths) or sequences)
    for number in (blank, reduction):
        fine = fine and isinstance(number, (int, np.integer)) and not isinstance(number, bool)
    if not fine or not isinstance(zero_infinity, bool):
        names = ", ".join("NoneType" if v is None else errors.type_name(v) for v in given)
        raise TypeError(
            f"ctc_loss() received an invalid combination of arguments - got ({names}), but expected one of:\n"
            " * (Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank = 0, int "
            "reduction = 1, bool zero_infinity = False)\n"
            " * (Tensor log_probs, Tensor targets, tuple of ints input_lengths, tuple of ints target_lengths, int "
            "blank = 0, int reduction = 1, bool zero_infinity = False)\n"
        )


@public(method=False)
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    """The negative log-likelihood of label sequences, summed over all their alignments with the input.

    Args:
        log_probs: log-probabilities of classes, (T, N, C) or (T, C).
        targets: labels, (N, S) with padding, or all of them one after another.
        input_lengths: how many time steps of each sample count.
        target_lengths: how many labels each sample has.
        blank: the class that stands for no label.
        reduction: 0 for every sample's loss, 1 for the mean of losses per label, 2 for their sum.
        zero_infinity: count samples that no alignment fits as nothing.

    Example:
        >>> import vistorch
        >>> log_probs = vistorch.zeros(4, 1, 3).log_softmax(2)
        >>> vistorch.ctc_loss(log_probs, vistorch.tensor([[1, 2]]), (4,), (2,), reduction=2)
        tensor(1.6864)
    """
    if casting.on and (recast := casting.ask(ctc_loss, locals())):
        return recast[0]
    _check_forms((log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity))
    blank, reduction = whole("ctc_loss", "blank", 5, blank), whole("ctc_loss", "reduction", 6, reduction)
    if targets.requires_grad:
        raise RuntimeError(
            "The function '_ctc_loss' is not differentiable with respect to argument 'targets'. This input cannot have "
            "requires_grad True."
        )
    batched = log_probs._data.ndim == 3
    given = log_probs if batched or not log_probs._data.ndim else log_probs.unsqueeze(1)
    found = given._data.ndim
    inputs, labels = _lengths("input_lengths", input_lengths), _lengths("target_lengths", target_lengths)
    _no_kernel(given._data.dtype)
    if given._data.dtype in HALVES:
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{label_of(given)}'")
    if found != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {found}-dimensional tensor for argument #1 'log_probs' {_CHECKING}"
        )
    steps, rows, classes = given._data.shape
    if not given._data.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    _check_lengths("input_lengths", inputs, rows, steps)
    _check_lengths("target_lengths", labels, rows, _LARGE)
    flat = targets.cpu()._data
    if not batched and flat.ndim == 0:
        flat = flat.reshape(1)
    rectangle = _padded(flat.astype(np.int64), labels, rows)
    used = rectangle[np.arange(rectangle.shape[1]) < labels[:, None]]
    wrong = used[(used < 0) | (used >= classes)]
    if wrong.size:
        raise IndexError(f"Target {int(wrong[0])} is out of bounds.")
    place = given._place
    arrays = [wrap(place.xp.asarray(a), place) for a in (rectangle, inputs, labels)]
    loss = _row(given, *arrays, blank, zero_infinity, given.requires_grad)[0]
    if zero_infinity:
        loss = where(loss == float("inf"), wrap(place.xp.zeros((), given._data.dtype), place), loss)
    if reduction == MEAN:
        counts = wrap(place.xp.asarray(np.maximum(labels, 1).astype(given._data.dtype)), place)
        return (loss / counts).mean()
    if reduction == SUM:
        return loss.sum()
    return loss if batched or reduction != NONE else loss.squeeze(0)
