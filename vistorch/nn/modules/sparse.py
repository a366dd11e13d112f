"""Learned tables, read by index.

Invariant: the row of `padding_idx` begins as zeros and gets no gradient.
"""

from __future__ import annotations

from typing import Any

from ...engine.base.modes import no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]

empty = FUNCTIONS["empty"]


class _Table(Module):
    """What tables have in common: (rows, width) values drawn from a normal distribution."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Any

    def _begin(self, weight: Any, padding_idx: int | None, said: str, device: Any, dtype: Any) -> None:
        rows = self.num_embeddings
        if padding_idx is not None:
            if padding_idx and not -rows <= padding_idx < rows:
                raise AssertionError(said)
            if padding_idx < 0:
                padding_idx += rows
        self.padding_idx = padding_idx
        if weight is None:
            self.weight = Parameter(empty((rows, self.embedding_dim), device=device, dtype=dtype))
            self.reset_parameters()
            return
        if list(weight.shape) != [rows, self.embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(weight)

    def reset_parameters(self) -> None:
        """Draw the table anew.

        Example:
            >>> import vistorch
            >>> table = vistorch.nn.Embedding(3, 2, padding_idx=0)
            >>> vistorch.nn.init.ones_(table.weight).shape
            vistorch.Size([3, 2])
            >>> table.reset_parameters()
            >>> table.weight[0].tolist(), (table.weight == 1).any()
            ([0.0, 0.0], tensor(False))
        """
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """A learned table: one row of numbers for each index.

    Args:
        num_embeddings: how many rows.
        embedding_dim: how many numbers in a row.
        padding_idx: a row of zeros that gets no gradient.
        max_norm: shrink the rows that are read to this norm, in the table itself.
        norm_type: which norm.
        scale_grad_by_freq: divide each row's gradient by how often it was named.
        sparse: accepted; the gradient is dense.
        _weight: the table itself.
        _freeze: whether it is not to be learned.
        device: where the table is.
        dtype: its type.

    Shape:
        indices of any shape (*), to (*, embedding_dim).

    Example:
        >>> import vistorch
        >>> vistorch.nn.Embedding(10, 3)(vistorch.tensor([[1, 2], [4, 3]])).shape
        vistorch.Size([2, 2, 3])
    """

    __constants__ = (
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
    )

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._begin(_weight, padding_idx, "Padding_idx must be within num_embeddings", device, dtype)
        self.weight.requires_grad = not _freeze
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        """Read.

        Args:
            input: indices, of any shape.
        """
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        parts = [str(self.num_embeddings), str(self.embedding_dim)]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        if self.sparse is not False:
            parts.append("sparse=True")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Any:
        """An Embedding of a table that is already there; the memory is shared.

        Args:
            embeddings: the table, (rows, width).
            freeze: whether it is not to be learned.
            padding_idx: a row that gets no gradient.
            max_norm: shrink the rows that are read to this norm, in the table itself.
            norm_type: which norm.
            scale_grad_by_freq: divide each row's gradient by how often it was named.
            sparse: accepted; the gradient is dense.

        Example:
            >>> import vistorch
            >>> table = vistorch.nn.Embedding.from_pretrained(vistorch.tensor([[1.0, 2.0], [3.0, 4.0]]))
            >>> table(vistorch.tensor([1]))
            tensor([[3., 4.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """A learned table, of which whole bags of rows are read: their sum, mean or maximum.

    Args:
        num_embeddings: how many rows.
        embedding_dim: how many numbers in a row.
        max_norm: shrink the rows that are read to this norm, in the table itself.
        norm_type: which norm.
        scale_grad_by_freq: divide each row's gradient by how often it was named.
        mode: "sum", "mean" or "max".
        sparse: accepted; the gradient is dense.
        _weight: the table itself.
        include_last_offset: whether offsets end with the number of indices.
        padding_idx: an index that counts for nothing.
        device: where the table is.
        dtype: its type.

    Example:
        >>> import vistorch
        >>> table = vistorch.nn.EmbeddingBag.from_pretrained(vistorch.tensor([[1.0], [10.0]]), mode="sum")
        >>> table(vistorch.tensor([[0, 1, 1]]))
        tensor([[21.]])
    """

    __constants__ = (
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    )

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._begin(_weight, padding_idx, "padding_idx must be within num_embeddings", device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Read.

        Args:
            input: (bags, length), or all bags one after the other, with `offsets`.
            offsets: where each bag begins.
            per_sample_weights: a factor for each index; for sums.
        """
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """The settings, for `repr`."""
        parts = [repr(self.num_embeddings), repr(self.embedding_dim)]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm!r}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type!r}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq!r}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx!r}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Any:
        """An EmbeddingBag of a table that is already there; the memory is shared.

        Args:
            embeddings: the table, (rows, width).
            freeze: whether it is not to be learned.
            max_norm: shrink the rows that are read to this norm, in the table itself.
            norm_type: which norm.
            scale_grad_by_freq: divide each row's gradient by how often it was named.
            mode: "sum", "mean" or "max".
            sparse: accepted; the gradient is dense.
            include_last_offset: whether offsets end with the number of indices.
            padding_idx: an index that counts for nothing.

        Example:
            >>> import vistorch
            >>> table = vistorch.nn.EmbeddingBag.from_pretrained(vistorch.tensor([[1.0], [3.0]]))
            >>> table(vistorch.tensor([[0, 1]]))
            tensor([[2.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made
