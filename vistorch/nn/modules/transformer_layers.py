"""One layer of the Transformer's encoder, one of its decoder.

Invariant: every sublayer is `x + dropout(block(x))`, normalised after the sum, or before the block with `norm_first`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.base.argument_docs import arguments
from ...engine.core.tensor import Tensor
from .. import functional as F
from ..functional.activation import gelu, relu
from ..functional.attention import _canonical_mask, _none_or_dtype
from .activation import GELU, ReLU
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead import MultiheadAttention
from .normalization import LayerNorm

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]

ARGUMENTS = {
    "d_model": "size of the features.",
    "nhead": "how many heads share them.",
    "dim_feedforward": "size of the hidden layer.",
    "dropout": "the share of values that is dropped in training.",
    "activation": 'of the hidden layer: "relu", "gelu" or a function.',
    "layer_norm_eps": "`eps` of the normalisations.",
    "batch_first": "whether the batch is the first dim, not the second.",
    "norm_first": "whether to normalise before each block, not after it.",
    "bias": "whether layers have biases.",
    "device": "where the parameters are.",
    "dtype": "their type.",
}


def _activation(given: Any) -> Any:
    """A function by its name; anything else as it is."""
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return relu if given == "relu" else gelu


class _Layer(Module):
    """What both layers have: a feedforward block, and attention blocks that drop."""

    linear1: Any
    linear2: Any
    dropout: Any
    activation: Any

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if "activation" not in self.__dict__ and "activation" not in self._modules:
            self.activation = relu  # states older than the argument

    def _forward_block(self, x: Tensor, drop: Module) -> Tensor:
        hidden = self.dropout(self.activation(self.linear1(x)))
        return drop(self.linear2(hidden))


def _attended(attention: Any, x: Tensor, other: Tensor, mask: Any, padding: Any, causal: bool) -> Tensor:
    out = attention(
        x, other, other, attn_mask=mask, key_padding_mask=padding, is_causal=causal, need_weights=False
    )
    return out[0]


@arguments(ARGUMENTS)
class TransformerEncoderLayer(_Layer):
    """Self-attention, then a feedforward block.

    Example:
        >>> import vistorch
        >>> vistorch.nn.TransformerEncoderLayer(8, 2)(vistorch.ones(5, 2, 8)).shape
        vistorch.Size([5, 2, 8])
    """

    __constants__ = ("norm_first",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        where: dict = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **where)
        self.linear1 = Linear(d_model, dim_feedforward, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **where)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        activation = _activation(activation)
        self.activation_relu_or_gelu = 0
        if activation == F.relu or isinstance(activation, ReLU):
            self.activation_relu_or_gelu = 1
        elif activation == F.gelu or isinstance(activation, GELU):
            self.activation_relu_or_gelu = 2
        self.activation = activation

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Pass the input through the layer.

        Args:
            src: the sequence.
            src_mask: what each position may not see (True), or numbers to add to scores.
            src_key_padding_mask: which positions are padding (True).
            is_causal: a hint that `src_mask` hides what comes later.
        """
        padding = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(src_mask), "src_mask", src.dtype
        )
        mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, check_other=False)

        def attend(x: Tensor) -> Tensor:
            return self.dropout1(_attended(self.self_attn, x, x, mask, padding, is_causal))

        if self.norm_first:
            x = src + attend(self.norm1(src))
            return x + self._forward_block(self.norm2(x), self.dropout2)
        x = self.norm1(src + attend(src))
        return self.norm2(x + self._forward_block(x, self.dropout2))


@arguments(ARGUMENTS)
class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's result, then a feedforward block.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.TransformerDecoderLayer(8, 2)
        >>> layer(vistorch.ones(4, 2, 8), vistorch.ones(5, 2, 8)).shape
        vistorch.Size([4, 2, 8])
    """

    __constants__ = ("norm_first",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        where: dict = {"bias": bias, "device": device, "dtype": dtype}
        heads: dict = {"dropout": dropout, "batch_first": batch_first, **where}
        self.self_attn = MultiheadAttention(d_model, nhead, **heads)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **where)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, **where)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Pass the input and the encoder's result through the layer.

        Args:
            tgt: the sequence.
            memory: what the encoder made of the other sequence.
            tgt_mask: what each position of `tgt` may not see of `tgt`.
            memory_mask: what it may not see of `memory`.
            tgt_key_padding_mask: which positions of `tgt` are padding (True).
            memory_key_padding_mask: which positions of `memory` are.
            tgt_is_causal: a hint that `tgt_mask` hides what comes later.
            memory_is_causal: the same hint for `memory_mask`.
        """

        def itself(x: Tensor) -> Tensor:
            out = _attended(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            return self.dropout1(out)

        def other(x: Tensor) -> Tensor:
            masks = memory_mask, memory_key_padding_mask, memory_is_causal
            return self.dropout2(_attended(self.multihead_attn, x, memory, *masks))

        if self.norm_first:
            x = tgt + itself(self.norm1(tgt))
            x = x + other(self.norm2(x))
            return x + self._forward_block(self.norm3(x), self.dropout3)
        x = self.norm1(tgt + itself(tgt))
        x = self.norm2(x + other(x))
        return self.norm3(x + self._forward_block(x, self.dropout3))
