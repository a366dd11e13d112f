"""Losses that compare: two scores, two vectors, a vector with a nearer and a farther one; and counts.

They are made of other ops, as in PyTorch, and their graph shows these. Invariant: no kernel of their own.
"""

from __future__ import annotations

import math

from ...base import errors
from ...base.casting import casting
from ...base.dims import flag
from ...core.registry import FUNCTIONS, public
from ...core.tensor import Tensor
from ..elementwise.choose import where
from ..elementwise.clamp import clamp_min, minimum
from .frame import finished, real, tensors, whole

full_like, zeros_like = FUNCTIONS["full_like"], FUNCTIONS["zeros_like"]


@public(method=False)
def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """The loss of distances: themselves where the target is 1, what is missing to a margin where it is -1.

    Args:
        input: distances.
        target: 1 for similar, -1 for dissimilar.
        margin: how far apart dissimilar ones should be.
        reduction: 0 for every element's loss, 1 for their mean, 2 for their sum.

    Example:
        >>> import vistorch
        >>> d = vistorch.tensor([0.5, 0.2])
        >>> vistorch.hinge_embedding_loss(d, vistorch.tensor([1, -1]))
        tensor([0.5000, 0.8000])
    """
    if casting.on and (recast := casting.ask(hinge_embedding_loss, locals())):
        return recast[0]
    tensors("hinge_embedding_loss", input=input, target=target)
    margin = real("hinge_embedding_loss", "margin", 3, margin)
    reduction = whole("hinge_embedding_loss", "reduction", 4, reduction)
    zeros = zeros_like(input)
    short = where(target != 1, clamp_min(full_like(input, margin) - input, 0), zeros)
    return finished(short + where(target != -1, input, zeros), reduction)


@public(method=False)
def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """How far pairs of scores are from being ranked as the target says, by at least a margin.

    Args:
        input1: scores.
        input2: scores of the same shape.
        target: 1 where the first should be higher, -1 where the second should.
        margin: by how much.
        reduction: 0 for every element's loss, 1 for their mean, 2 for their sum.

    Example:
        >>> import vistorch
        >>> a, b = vistorch.tensor([1.0, 2.0]), vistorch.tensor([0.0, 3.0])
        >>> vistorch.margin_ranking_loss(a, b, vistorch.tensor([1, 1]))
        tensor([0., 1.])
    """
    if casting.on and (recast := casting.ask(margin_ranking_loss, locals())):
        return recast[0]
    tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    margin = real("margin_ranking_loss", "margin", 4, margin)
    reduction = whole("margin_ranking_loss", "reduction", 5, reduction)
    lead = input1 - input2
    return finished(clamp_min(-target * lead + margin, 0), reduction)


_TINY = 1e-12


@public(method=False)
def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """The loss of the angle between vectors: 1 - cos where they belong together, cos over a margin where not.

    Args:
        input1: vectors, one or a batch.
        input2: as many.
        target: 1 for similar, -1 for dissimilar.
        margin: the cosine that dissimilar ones may have.
        reduction: 0 for every pair's loss, 1 for their mean, 2 for their sum.

    Example:
        >>> import vistorch
        >>> a, b = vistorch.tensor([[1.0, 0.0]]), vistorch.tensor([[1.0, 1.0]])
        >>> vistorch.cosine_embedding_loss(a, b, vistorch.tensor([1]))
        tensor([0.2929])
    """
    if casting.on and (recast := casting.ask(cosine_embedding_loss, locals())):
        return recast[0]
    name = "cosine_embedding_loss"
    tensors(name, input1=input1, input2=input2, target=target)
    margin, reduction = real(name, "margin", 4, margin), whole(name, "reduction", 5, reduction)
    n = target._data.ndim
    if n > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    shapes = input1._data.shape, input2._data.shape
    if len(shapes[0]) != n + 1 or len(shapes[1]) != n + 1:
        found = f"{errors.sizes(shapes[0])} and {errors.sizes(shapes[1])}"
        raise RuntimeError(
            f"{n}D target tensor expects {n + 1}D input tensors, but found inputs with sizes {found}."
        )
    products = (input1 * input2).sum(n)
    lengths = ((input1 * input1).sum(n) + _TINY) * ((input2 * input2).sum(n) + _TINY)
    cosines = products / lengths.sqrt()
    zeros = zeros_like(cosines)
    similar = where(target == 1, full_like(cosines, 1) - cosines, zeros)
    return finished(similar + where(target == -1, clamp_min(cosines - margin, 0), zeros), reduction)


def pair_distance(a: Tensor, b: Tensor, p: float = 2.0, eps: float = 1e-6) -> Tensor:
    """The p-norm of the differences along the last dim, each made a little larger so that no norm has a kink."""
    return (a - b + eps).norm(p, -1)


def check_dims(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    """Refuse triplets whose tensors differ in their number of dims."""
    a, p, n = anchor.ndim, positive.ndim, negative.ndim
    if not a == p == n:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {a}D, positive {p}D, and negative {n}D inputs"
        )


@public(method=False)
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    """How far the positive is from being nearer to the anchor than the negative is, by a margin.

    Args:
        anchor: vectors along the last dim.
        positive: what should be near.
        negative: what should be far.
        margin: by how much.
        p: the norm that measures distances.
        eps: added to every difference.
        swap: where the positive is nearer to the negative than the anchor is, take that distance.
        reduction: 0 for every triplet's loss, 1 for their mean, 2 for their sum.

    Example:
        >>> import vistorch
        >>> a, p, n = (vistorch.tensor([[v]]) for v in (0.0, 1.0, 1.5))
        >>> vistorch.triplet_margin_loss(a, p, n)
        tensor([0.5000])
    """
    if casting.on and (recast := casting.ask(triplet_margin_loss, locals())):
        return recast[0]
    name = "triplet_margin_loss"
    tensors(name, anchor=anchor, positive=positive, negative=negative)
    margin, p, eps = (
        real(name, label, at + 4, value)
        for at, (label, value) in enumerate((("margin", margin), ("p", p), ("eps", eps)))
    )
    swap = flag(swap, name, "swap", 7)
    reduction = whole(name, "reduction", 8, reduction)
    check_dims(anchor, positive, negative)
    near, far = pair_distance(anchor, positive, p, eps), pair_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pair_distance(positive, negative, p, eps))
    return finished(clamp_min(near + margin - far, 0), reduction)


@public(method=False)
def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """The negative log likelihood of counts under Poisson distributions.

    Args:
        input: the rates, or their logarithms.
        target: counts.
        log_input: whether `input` holds logarithms.
        full: add Stirling's approximation of log(target!).
        eps: added to the rates before their logarithm is taken.
        reduction: 0 for every element's loss, 1 for their mean, 2 for their sum.

    Example:
        >>> import vistorch
        >>> log_rate, count = vistorch.tensor([0.0, 1.0]), vistorch.tensor([1.0, 2.0])
        >>> vistorch.poisson_nll_loss(log_rate, count, True, False, 1e-8, 1)
        tensor(0.8591)
    """
    if casting.on and (recast := casting.ask(poisson_nll_loss, locals())):
        return recast[0]
    name = "poisson_nll_loss"
    tensors(name, input=input, target=target)
    log_input = flag(log_input, name, "log_input", 3)
    full = flag(full, name, "full", 4)
    eps, reduction = real(name, "eps", 5, eps), whole(name, "reduction", 6, reduction)
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return finished(losses, reduction)
