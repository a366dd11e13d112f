"""The Transformer: stacks of encoder and decoder layers, and the two together.

Invariant: a stack holds deep copies of the layer it is given, so all its layers begin with the same numbers.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

from ...engine.base.modes import mode
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .. import init
from ..functional.attention import _canonical_mask, _none_or_dtype
from .container import ModuleList
from .module import Module
from .normalization import LayerNorm
from .transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer, relu
from .transformer_layers import _activation as _get_activation_fn  # noqa: F401  PyTorch's name, which programs take

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def _clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _square_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    full = FUNCTIONS["full"]((size, size), -math.inf, dtype=dtype, device=device)
    return FUNCTIONS["triu"](full, diagonal=1)


def _length(x: Tensor, batch_first: bool) -> int:
    return x._data.shape[1 if batch_first and x.dim() > 2 else 0]


def _is_causal(mask: Any, hint: bool | None, size: int) -> bool:
    """The hint, or, where there is none, whether the mask hides exactly what comes later."""
    if hint is not None or mask is None:
        return hint is True
    causal = _square_mask(size, mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())


class TransformerEncoder(Module):
    """Encoder layers in a row.

    Args:
        encoder_layer: what is copied.
        num_layers: how often.
        norm: applied at the end.
        enable_nested_tensor: accepted; without gradients, where PyTorch's fast path would leave out padded
            positions, they are 0 in the result as there.
        mask_check: whether to check that padding is at the end before doing so.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.TransformerEncoderLayer(8, 2, batch_first=True)
        >>> vistorch.nn.TransformerEncoder(layer, 2)(vistorch.ones(2, 5, 8)).shape
        vistorch.Size([2, 5, 8])
    """

    __constants__ = ("norm",)

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why = _why_not_nested(encoder_layer)
        if enable_nested_tensor and why:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why}",
                stacklevel=2,
            )
            self.use_nested_tensor = False

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Pass the input through all layers.

        Args:
            src: the sequence.
            mask: what each position may not see (True), or numbers to add to scores.
            src_key_padding_mask: which positions are padding (True).
            is_causal: a hint that `mask` hides what comes later; looked up in the mask where not given.
        """
        padding = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(mask), "mask", src.dtype
        )
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, check_other=False)
        first: Any = self.layers[0]
        dropped = self._left_out(first, src, mask, padding)
        causal = _is_causal(mask, is_causal, _length(src, first.self_attn.batch_first))
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if dropped is not None:
            out = out.masked_fill(dropped.unsqueeze(-1), 0.0)
        return out if self.norm is None else self.norm(out)

    def _left_out(self, first: Any, src: Tensor, mask: Any, padding: Any) -> Any:
        """The positions that PyTorch's nested tensors leave out, or None where it takes the plain way."""
        if not self.use_nested_tensor or first.training or src.dim() != 3 or padding is None:
            return None
        seen = padding == 0
        if self.mask_check and bool((seen[:, 1:] & ~seen[:, :-1]).any()):
            return None  # padding is not at the end
        if mask is not None or (mode.on and any(t.requires_grad for t in (src, *first.parameters()))):
            return None
        return ~seen


def _why_not_nested(layer: Any) -> str:
    """Why PyTorch would not use nested tensors in a stack of this layer, in its words."""
    name = "encoder_layer"
    if not isinstance(layer, TransformerEncoderLayer):
        return f"{name} was not TransformerEncoderLayer"
    attention: Any = layer.self_attn
    if layer.norm_first:
        return f"{name}.norm_first was True"
    if not attention.batch_first:
        said = f"{name}.self_attn.batch_first was not True"
        return said + "(use batch_first for better inference performance)"
    if not attention._qkv_same_embed_dim:
        return f"{name}.self_attn._qkv_same_embed_dim was not True"
    if attention.in_proj_bias is None:
        return f"{name}.self_attn was passed bias=False"
    if not layer.activation_relu_or_gelu:
        return f"{name}.activation_relu_or_gelu was not True"
    if layer.norm1.eps != layer.norm2.eps:
        return f"{name}.norm1.eps was not equal to {name}.norm2.eps"
    return f"{name}.self_attn.num_heads is odd" if attention.num_heads % 2 else ""


class TransformerDecoder(Module):
    """Decoder layers in a row.

    Args:
        decoder_layer: what is copied.
        num_layers: how often.
        norm: applied at the end.

    Example:
        >>> import vistorch
        >>> layer = vistorch.nn.TransformerDecoderLayer(8, 2)
        >>> decoder = vistorch.nn.TransformerDecoder(layer, 2)
        >>> decoder(vistorch.ones(4, 2, 8), vistorch.ones(5, 2, 8)).shape
        vistorch.Size([4, 2, 8])
    """

    __constants__ = ("norm",)

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Pass the input and the encoder's result through all layers.

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
        first: Any = self.layers[0]
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, first.self_attn.batch_first))
        out = tgt
        for layer in self.layers:
            out = layer(
                out,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder and a decoder.

    Args:
        d_model: size of the features.
        nhead: how many heads share them.
        num_encoder_layers: layers of the encoder.
        num_decoder_layers: layers of the decoder.
        dim_feedforward: size of the hidden layers between attentions.
        dropout: the share of values that is dropped in training.
        activation: of the hidden layers: "relu", "gelu" or a function.
        custom_encoder: takes the place of the encoder.
        custom_decoder: takes the place of the decoder.
        layer_norm_eps: `eps` of the normalisations.
        batch_first: whether the batch is the first dim, not the second.
        norm_first: whether to normalise before each block, not after it.
        bias: whether layers have biases.
        device: where the parameters are.
        dtype: their type.

    Shape:
        src (S, N, E) and tgt (T, N, E) to (T, N, E).

    Example:
        >>> import vistorch
        >>> model = vistorch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        >>> model(vistorch.ones(2, 5, 8), vistorch.ones(2, 4, 8)).shape
        vistorch.Size([2, 4, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable = relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        where: dict = {"device": device, "dtype": dtype}
        numbers = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first)

        def stack(layer: type, whole: type, count: int) -> Module:
            one = layer(*numbers, norm_first, bias, **where)
            return whole(one, count, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where))

        self.encoder = custom_encoder
        if custom_encoder is None:
            self.encoder = stack(TransformerEncoderLayer, TransformerEncoder, num_encoder_layers)
        self.decoder = custom_decoder
        if custom_decoder is None:
            self.decoder = stack(TransformerDecoderLayer, TransformerDecoder, num_decoder_layers)
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """Draw the matrices anew."""
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode one sequence and decode the other with it; masks as in the encoder and the decoder.

        Args:
            src: the sequence to encode.
            tgt: the sequence to decode.
            src_mask: what positions of `src` may not see of `src`.
            tgt_mask: what positions of `tgt` may not see of `tgt`.
            memory_mask: what positions of `tgt` may not see of the encoded `src`.
            src_key_padding_mask: which positions of `src` are padding (True).
            tgt_key_padding_mask: which positions of `tgt` are.
            memory_key_padding_mask: which positions of the encoded `src` are.
            src_is_causal: a hint that `src_mask` hides what comes later.
            tgt_is_causal: the same hint for `tgt_mask`.
            memory_is_causal: the same hint for `memory_mask`.
        """
        dim = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(dim) != tgt.size(dim):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask to add that hides what comes later: -inf above the diagonal, 0 elsewhere.

        Args:
            sz: the length of the sequence.
            device: where the mask is.
            dtype: its type.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Transformer.generate_square_subsequent_mask(2)
            tensor([[0., -inf],
                    [0., 0.]])
        """
        return _square_mask(sz, device, dtype)
