"""Rows of a table, one by one or in bags, and classes as rows of zeros and a one."""

from __future__ import annotations

import warnings
from typing import Any

from ...engine.base import dims as _dims
from ...engine.base import dtypes
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import wrap
from ...engine.memory.lanes import all_samples
from ...engine.ops.norm import checks

__all__ = ["embedding", "embedding_bag", "one_hot"]

_embedding, _bag, _renorm_ = (FUNCTIONS[n] for n in ("embedding", "embedding_bag", "embedding_renorm_"))
_arange = FUNCTIONS["arange"]


def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """The rows of a table that the input names.

    Args:
        input: indices, of any shape.
        weight: the table, (rows, width).
        padding_idx: a row that gets no gradient.
        max_norm: shrink the rows that are read to this norm, in the table itself.
        norm_type: which norm.
        scale_grad_by_freq: divide each row's gradient by how often it was named.
        sparse: accepted; the gradient is dense.

    Example:
        >>> import vistorch
        >>> table = vistorch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> vistorch.nn.functional.embedding(vistorch.tensor([1]), table)
        tensor([[3., 4.]])
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows and padding_idx:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += rows
    if max_norm is not None:
        _renorm_(weight.detach(), input, max_norm, norm_type)
    _dims.flag(scale_grad_by_freq, "embedding", "scale_grad_by_freq", 4)
    _dims.flag(sparse, "embedding", "sparse", 5)
    return _embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


_MODES = {"sum": 0, "mean": 1, "max": 2}


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type: float = 2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or maximum of the rows of a table that each bag of indices names.

    Args:
        input: (bags, length), or all bags one after the other, with `offsets`.
        weight: the table, (rows, width).
        offsets: where each bag begins.
        max_norm: shrink the rows that are read to this norm, in the table itself.
        norm_type: which norm.
        scale_grad_by_freq: divide each row's gradient by how often it was named.
        mode: "sum", "mean" or "max".
        sparse: accepted; the gradient is dense.
        per_sample_weights: a factor for each index; for sums.
        include_last_offset: whether `offsets` ends with the number of indices.
        padding_idx: an index that counts for nothing.

    Example:
        >>> import vistorch
        >>> table = vistorch.tensor([[1.0], [10.0]])
        >>> vistorch.nn.functional.embedding_bag(vistorch.tensor([[0, 1, 1]]), table, mode="sum")
        tensor([[21.]])
    """
    checks.tensor("embedding_bag", "input", 1, input)
    checks.tensor("embedding_bag", "weight", 2, weight)
    if weight.dtype is dtypes.int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    checks.tensor("embedding_bag", "per_sample_weights", 9, per_sample_weights, True)
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        offsets = _arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        include_last_offset = False
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    number = _mode(mode, scale_grad_by_freq, sparse)
    if max_norm is not None:
        _renorm_(weight.detach(), input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    return _bag(
        weight,
        input,
        offsets,
        scale_grad_by_freq,
        number,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )[0]


def _mode(mode: Any, scaled: bool, sparse: bool) -> int:
    if mode == "max":
        if scaled:
            raise ValueError("max mode does not support scaling the gradient by the frequency")
        if sparse:
            raise ValueError("max mode does not support sparse weights")
    elif mode not in ("sum", "mean"):
        raise ValueError("mode has to be one of sum, mean or max")
    return _MODES[mode]


def one_hot(input, num_classes=-1):
    """Classes as rows of zeros with a one at the class.

    Args:
        input: int64 classes, of any shape.
        num_classes: the length of a row; one more than the largest class where -1.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.one_hot(vistorch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    checks.tensor("one_hot", "input", 1, input)
    num_classes = _dims.whole(num_classes, "one_hot", "num_classes", 2)
    if input.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    d = input._data
    if not d.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
    else:
        if all_samples(d).min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if num_classes == -1:
            num_classes = int(d.max()) + 1
        elif all_samples(d).max() >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    xp = input._place.xp
    return wrap((d[..., None] == xp.arange(num_classes)).astype(d.dtype), input._place)
