"""Multi-head attention as a module.

Invariant: parameters have PyTorch's names and are drawn in its order: the projections' first linear layer draws, then
the weights are drawn anew by Xavier's rule.
"""

from __future__ import annotations

from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import functional as F
from .. import init
from ..functional.attention import _canonical_mask, _none_or_dtype
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]

empty = FUNCTIONS["empty"]


class MultiheadAttention(Module):
    """Several attentions side by side, each in its own part of the features.

    Args:
        embed_dim: size of queries and of the result.
        num_heads: how many heads share it.
        dropout: the share of weights that is dropped in training.
        bias: whether the projections have biases.
        add_bias_kv: whether to add one more key and value, learned.
        add_zero_attn: whether to add a key and a value of zeros.
        kdim: size of keys, where not `embed_dim`.
        vdim: size of values, where not `embed_dim`.
        batch_first: whether the batch is the first dim of inputs and results, not the second.
        device: where the parameters are.
        dtype: their type.

    Shape:
        query (L, N, E), key (S, N, E), value (S, N, E) to (L, N, E) and weights (N, L, S).

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(5, 2, 8)
        >>> out, weights = vistorch.nn.MultiheadAttention(8, 2)(x, x, x)
        >>> out.shape, weights.shape
        (vistorch.Size([5, 2, 8]), vistorch.Size([2, 5, 5]))
    """

    __constants__ = ("batch_first",)
    in_proj_weight: Any
    in_proj_bias: Any
    q_proj_weight: Any
    k_proj_weight: Any
    v_proj_weight: Any
    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()

        def blank(*shape: int) -> Parameter:
            return Parameter(empty(shape, device=device, dtype=dtype))

        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = blank(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = blank(embed_dim, embed_dim)
            self.k_proj_weight = blank(embed_dim, self.kdim)
            self.v_proj_weight = blank(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = blank(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        if add_bias_kv:
            self.bias_k, self.bias_v = blank(1, 1, embed_dim), blank(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state: dict) -> None:
        """States of PyTorch 1.1 do not say whether keys and values have the size of queries: they have."""
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            query: who asks.
            key: what is compared with.
            value: what is averaged.
            key_padding_mask: (N, S): keys to leave out (True), or numbers to add to their scores.
            need_weights: whether to return the weights too; without them it is faster.
            attn_mask: (L, S) or (N * num_heads, L, S): what not to see (True), or numbers to add to scores.
            average_attn_weights: whether the weights returned are the mean of the heads.
            is_causal: a hint that `attn_mask` hides what comes later.
        """
        batched = query.dim() == 3
        key_padding_mask = _canonical_mask(
            key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
        )
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        if self.batch_first and batched:
            same_key, same = query is key, key is value
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same else value.transpose(1, 0)
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        if self.batch_first and batched:
            out = out.transpose(1, 0)
        return out, weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one, with its kind: 1 for padding alone, 2 for (N, heads, L, L), None for no mask.

        Args:
            attn_mask: (L, L) or (N * num_heads, L, L).
            key_padding_mask: (N, L).
            query: (N, L, E).

        Example:
            >>> import vistorch
            >>> attention = vistorch.nn.MultiheadAttention(4, 2, batch_first=True)
            >>> late = vistorch.tensor([[0.0, -1.0], [0.0, 0.0]])  # the first sees the second less
            >>> padding = vistorch.tensor([[0.0, -5.0]])  # the second of the only sequence is padding
            >>> mask, kind = attention.merge_masks(late, padding, vistorch.ones(1, 2, 4))
            >>> mask[0, 0], kind
            (tensor([[ 0., -6.],
                    [ 0., -5.]]), 2)
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2
