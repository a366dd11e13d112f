"""Sequences of different lengths, packed step by step: what recurrent networks take and `nn.utils.rnn` makes.

Invariant: a PackedSequence is sorted, longest sequence first; `unsorted_indices` restores the order it was given in. It
is pickled as `vistorch.nn.utils.rnn.PackedSequence`, PyTorch's name for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.base import dtypes
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor

arange, empty_like = (FUNCTIONS[n] for n in ("arange", "empty_like"))
NOT_ON_CPU = (
    "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be "
    "instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. "
    "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
)


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Sequences packed step by step: what `pack_sequence` gives and recurrent networks take and return.

    Args:
        data: the rows of all steps, one after another.
        batch_sizes: how many sequences each step still has; always on the CPU.
        sorted_indices: the order, longest first, that the sequences were brought into.
        unsorted_indices: the way back.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils.rnn import pack_sequence
        >>> p = pack_sequence([vistorch.tensor([1, 2, 3]), vistorch.tensor([4])])
        >>> p.batch_sizes
        tensor([2, 1, 1])
        >>> p.double().data
        tensor([1., 4., 2., 3.], dtype=vistorch.float64)
        >>> others = p.float(), p.half(), p.long(), p.int(), p.short(), p.char(), p.byte()
        >>> [q.data.dtype.itemsize for q in others]
        [4, 2, 8, 4, 2, 1, 1]
        >>> vistorch.cuda.simulate(1)
        >>> q = p.to("cuda")
        >>> q.is_cuda, p.cuda().is_cuda, q.cpu().is_cuda, p.pin_memory().is_pinned()
        (True, True, False, True)
        >>> vistorch.cuda.simulate(None)
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        """See the class."""
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is not None:
            if batch_sizes.device.type != "cpu":
                raise ValueError(NOT_ON_CPU)
        else:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)  # type: ignore[arg-type]

    def _with(self, data: Tensor, **moved: Any) -> PackedSequence:
        """The same sequence with other data, its indices beside them."""
        if data is self.data:
            return self
        indices = [None if t is None else t.to(data.device, **moved) for t in self[2:]]
        return type(self)(data, self.batch_sizes, *indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequence in another type or at another device; itself where nothing changes.

        Args:
            *args: as for `Tensor.to`.
            **kwargs: as for `Tensor.to`.
        """
        named = {k: v for k, v in kwargs.items() if k in ("non_blocking", "copy")}
        return self._with(self.data.to(*args, **kwargs), **named)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequence at a CUDA device; the arguments are those of `Tensor.cuda`."""
        return self._with(self.data.cuda(*args, **kwargs))

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequence on the CPU; arguments are accepted."""
        return self._with(self.data.cpu())

    def pin_memory(self) -> PackedSequence:
        """The sequence in pinned memory, where the data's `pin_memory()` knows of such."""
        indices = [None if t is None else t.pin_memory() for t in self[2:]]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *indices)

    def double(self) -> PackedSequence:
        """The data as float64."""
        return self.to(dtype=dtypes.float64)

    def float(self) -> PackedSequence:
        """The data as float32."""
        return self.to(dtype=dtypes.float32)

    def half(self) -> PackedSequence:
        """The data as float16."""
        return self.to(dtype=dtypes.float16)

    def long(self) -> PackedSequence:
        """The data as int64."""
        return self.to(dtype=dtypes.int64)

    def int(self) -> PackedSequence:
        """The data as int32."""
        return self.to(dtype=dtypes.int32)

    def short(self) -> PackedSequence:
        """The data as int16."""
        return self.to(dtype=dtypes.int16)

    def char(self) -> PackedSequence:
        """The data as int8."""
        return self.to(dtype=dtypes.int8)

    def byte(self) -> PackedSequence:
        """The data as uint8."""
        return self.to(dtype=dtypes.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data are at a CUDA device."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data are in pinned memory."""
        return self.data.is_pinned()


PackedSequence.__module__ = "vistorch.nn.utils.rnn"


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another; None of None.

    Args:
        permutation: each of 0 ... n - 1 once.

    Example:
        >>> import vistorch
        >>> vistorch.nn.utils.rnn.invert_permutation(vistorch.tensor([2, 0, 1]))
        tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    at = arange(0, permutation.numel(), device=permutation.device, dtype=permutation.dtype)
    return empty_like(permutation).scatter_(0, permutation, at)
