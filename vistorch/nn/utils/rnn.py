"""Sequences of different lengths as one tensor: padded to the longest, or packed, step by step, without padding.

Invariant: a PackedSequence is sorted, longest sequence first; `unsorted_indices` restores the order it was given in.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ...engine.base import dtypes, errors
from ...engine.base.dims import flag
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.ops.recurrent import packed
from ..packed_sequence import PackedSequence, invert_permutation

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

arange, as_tensor, cat, sort, stack = (FUNCTIONS[n] for n in ("arange", "as_tensor", "cat", "sort", "stack"))
UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
    "need ONNX exportability."
)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences.

    Args:
        input: (time, batch, ...), or (batch, time, ...) with batch_first.
        lengths: of the sequences, on the CPU.
        batch_first: the first dim is the batch.
        enforce_sorted: the sequences must come longest first; if False they are sorted here.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 6]])
        >>> p = vistorch.nn.utils.rnn.pack_padded_sequence(x, [2, 1, 3], batch_first=True, enforce_sorted=False)
        >>> p.data
        tensor([4, 1, 3, 5, 2, 6])
    """
    batch_first = flag(batch_first, "_pack_padded_sequence", "batch_first", 3)
    lengths = (
        lengths.to(dtypes.int64) if isinstance(lengths, Tensor) else as_tensor(lengths, dtype=dtypes.int64)
    )
    order = None
    if not enforce_sorted:
        lengths, order = sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    batch_sizes = _batch_sizes(input, lengths, batch_first)
    if batch_first:
        input = input.transpose(0, 1)
    sizes, batch = tuple(batch_sizes.tolist()), input.shape[1]
    data = packed.pack(input[: len(sizes)], sizes, batch)
    return PackedSequence(data, batch_sizes, order, None)


def _batch_sizes(input: Tensor, lengths: Tensor, batch_first: bool) -> Tensor:
    """How many sequences each step has, after all checks."""
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if lengths.dim() != 1 or lengths.device.type != "cpu":
        kind = f"{lengths.dim()}D {lengths.device.type} {dtypes.of(lengths._data.dtype).scalar_name}"
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {kind} tensor")
    batch, steps = input.size(0 if batch_first else 1), input.size(1 if batch_first else 0)
    if lengths.numel() != batch:
        raise RuntimeError(
            "Expected `len(lengths)` to be equal to batch_size, but got "
            f"{lengths.numel()} (batch_size={batch})"
        )
    found = lengths.tolist()
    if found[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in pairwise(found)):
        raise RuntimeError(UNSORTED)
    if found[0] > steps:
        raise RuntimeError(
            f"Expected no length to be greater than the {steps} steps of the input, but got {found[0]}"
        )
    return (lengths > arange(found[0]).unsqueeze(1)).sum(1)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Pad packed sequences: the inverse of `pack_padded_sequence`. Returns the padded tensor and the lengths.

    Args:
        sequence: what to pad.
        batch_first: give (batch, time, ...).
        padding_value: what padding holds.
        total_length: so many steps, if not those of the longest sequence.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils.rnn import pack_sequence, pad_packed_sequence
        >>> p = pack_sequence([vistorch.tensor([1, 2, 3]), vistorch.tensor([4])])
        >>> pad_packed_sequence(p, batch_first=True)
        (tensor([[1, 2, 3],
                [4, 0, 0]]), tensor([3, 1]))
    """
    steps = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    found = sequence.batch_sizes.tolist()
    batch = found[0]
    sizes = (*found, *(0,) * (steps - len(found)))
    padded = packed.pad(sequence.data, sizes, batch, padding_value)
    lengths = (sequence.batch_sizes > arange(batch).unsqueeze(1)).sum(1)
    if batch_first:
        padded = padded.transpose(0, 1)
    back = sequence.unsorted_indices
    if back is not None:
        padded, lengths = padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stack tensors of different lengths, padded to the longest.

    Args:
        sequences: tensors (length, ...).
        batch_first: give (batch, time, ...), not (time, batch, ...).
        padding_value: what padding holds.
        padding_side: "right" or "left".

    Example:
        >>> import vistorch
        >>> a, b = vistorch.tensor([1, 2, 3]), vistorch.tensor([4])
        >>> vistorch.nn.utils.rnn.pad_sequence([a, b], batch_first=True)
        tensor([[1, 2, 3],
                [4, 0, 0]])
    """
    batch_first = flag(batch_first, "pad_sequence", "batch_first", 2)
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    given = tuple(sequences)
    for at, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {at} in argument 0, but got {errors.type_name(t)}")
    if not given:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    first = given[0]
    if not first.dim():
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    most, rest = max([t.size(0) for t in given]), tuple(first.shape[1:])
    padded = [_padded(t, most, rest, padding_value, padding_side, first.dtype) for t in given]
    return stack(padded, 0 if batch_first else 1)


def _padded(t: Tensor, most: int, rest: tuple, value: float, side: str, dtype: Any) -> Tensor:
    """One sequence, as long as the longest."""
    shape = (t.size(0), *rest)
    if tuple(t.shape) != shape:
        said = errors.broadcast(shape, tuple(t.shape))
        if said is not None:
            raise RuntimeError(said)
        t = t.expand(shape)
    if t.dtype is not dtype:
        t = t.to(dtype)
    if shape[0] == most:
        return t
    fill = t.new_full((most - shape[0], *rest), value)
    return cat((t, fill) if side == "right" else (fill, t))


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The tensors that `pad_sequence` padded.

    Args:
        padded_sequences: (time, batch, ...), or (batch, time, ...) with batch_first.
        lengths: of the sequences.
        batch_first: the first dim is the batch.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([[1, 2, 3], [4, 0, 0]])
        >>> vistorch.nn.utils.rnn.unpad_sequence(x, vistorch.tensor([3, 1]), batch_first=True)
        [tensor([1, 2, 3]), tensor([4])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    at = arange(padded_sequences.shape[1], device=lengths.device)
    return [t[at < n] for t, n in zip(padded_sequences.unbind(), lengths.unbind(), strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack tensors of different lengths.

    Args:
        sequences: tensors (length, ...).
        enforce_sorted: they must come longest first; if False they are sorted here.

    Example:
        >>> import vistorch
        >>> a, b = vistorch.tensor([1, 2]), vistorch.tensor([3, 4, 5])
        >>> vistorch.nn.utils.rnn.pack_sequence([a, b], enforce_sorted=False).data
        tensor([3, 1, 4, 2, 5])
    """
    lengths = as_tensor([t.size(0) for t in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The tensors that `pack_sequence` packed, in the order they were given.

    Args:
        packed_sequences: what to unpack.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils.rnn import pack_sequence, unpack_sequence
        >>> unpack_sequence(pack_sequence([vistorch.tensor([1, 2]), vistorch.tensor([3])]))
        [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
