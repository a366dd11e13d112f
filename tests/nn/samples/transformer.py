"""Multi-head attention, the Transformer and its layers.

Invariant: builds that warn are in tests/nn/test_transformer.py; here a warning is an error.
"""

from typing import Any

import numpy as np

from tests.nn.record import B, Layer, Of
from tests.ops.record import S, X

x, y, flat = X((3, 2, 8)), X((5, 2, 8)), X((3, 8))
b, m = X((2, 3, 8)), X((2, 5, 8))
causal = X((3, 3), value=np.triu(np.ones((3, 3)), 1), dtype="bool", grad=False)
padded = X((2, 3), value=[[0, 0, 1], [0, 0, 0]], dtype="bool", grad=False)
scattered = X((2, 3), value=[[0, 1, 0], [0, 0, 0]], dtype="bool", grad=False)
longer = X((2, 5), value=[[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]], dtype="bool", grad=False)
numbers = X((3, 5), grad=False)


def there(results: Any) -> list:
    """The results that are not None."""
    return [t for t in results if t is not None] if isinstance(results, tuple) else [results]


def encoder(**more: Any) -> Of:
    """A small encoder layer."""
    return Of(lambda L: L.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, **more))


def decoder(**more: Any) -> Of:
    """A small decoder layer."""
    return Of(lambda L: L.nn.TransformerDecoderLayer(8, 2, 12, batch_first=True, **more))


norm = Of(lambda L: L.nn.LayerNorm(8))
small = {"dim_feedforward": 12}
stacks = {"num_encoder_layers": 1, "num_decoder_layers": 2, "dim_feedforward": 12, "batch_first": True}

LAYERS = [
    Layer(
        "MultiheadAttention",
        [
            B(8, 2).on(
                S(x, y, X((5, 2, 8))),
                S(x, y, y, need_weights=False),
                S(x, y, y, average_attn_weights=False, key_padding_mask=longer),
                S(x, y, y, attn_mask=numbers, need_weights=False),
                S(flat, X((5, 8)), X((5, 8)), attn_mask=numbers),
                S(x, x, x, attn_mask=causal, is_causal=True, need_weights=False),
            ),
            B(8, 2, dropout=0.5, batch_first=True).on(
                S(b, m, m), S(b, m, m, need_weights=False), S(flat, flat, flat)
            ),
            B(8, 4, bias=False, add_bias_kv=True, add_zero_attn=True).on(
                S(x, y, y, attn_mask=numbers), S(x, y, y, key_padding_mask=longer, need_weights=False)
            ),
            B(8, 2, kdim=3, vdim=5).on(S(x, X((5, 2, 3)), X((5, 2, 5)))),
            B(8, 1, bias=False, vdim=5, batch_first=True).on(S(b, m, X((2, 5, 5)))),
        ],
        bad=[
            B(7, 2),
            B(0, 2),
            B(8, 0),
            B(8, 2).on(
                S(X((2, 3, 2, 8)), y, y),
                S(x, X((5, 8)), y),
                S(X((3, 2, 6)), y, y),
                S(x, y, X((4, 2, 8))),
                S(x, y, y, X((5,))),
                S(x, y, y, X((2, 4))),
                S(x, y, y, X((2, 5), dtype="int32", grad=False)),
                S(x, y, y, attn_mask=X((3, 4))),
                S(x, y, y, attn_mask=X((2, 3, 5))),
                S(x, y, y, attn_mask=X((5,))),
                S(x, y, y, is_causal=True),
            ),
            B(8, 2, kdim=3).on(S(x, y, y), S(x, X((5, 2, 3)), X((4, 2, 8)))),
        ],
        flatten=there,
    ),
    Layer(
        "TransformerEncoderLayer",
        [
            B(8, 2, 12).on(S(x), S(x, src_mask=causal, is_causal=True), S(flat)),
            B(8, 2, **small, activation="gelu", norm_first=True, batch_first=True).on(
                S(b, src_key_padding_mask=padded)
            ),
            B(8, 1, **small, dropout=0.0, bias=False, layer_norm_eps=1e-3).on(S(x, causal)),
            B(8, 2, **small, activation=Of(lambda L: L.nn.GELU())).on(S(x)),
            B(8, 2, **small, activation=Of(lambda L: L.nn.Tanh())).on(S(x)),
        ],
        bad=[B(8, 3), B(8, 2, activation="tanh"), B(8, 2, 4).on(S(X((3, 2, 6))), S(x, X((2, 2))))],
    ),
    Layer(
        "TransformerDecoderLayer",
        [
            B(8, 2, 12).on(S(x, y), S(x, y, tgt_mask=causal, tgt_is_causal=True), S(flat, X((5, 8)))),
            B(8, 2, **small, activation="gelu", norm_first=True, batch_first=True).on(
                S(b, m, tgt_key_padding_mask=padded, memory_key_padding_mask=longer)
            ),
            B(8, 1, **small, dropout=0.0, bias=False).on(S(x, y, causal, numbers)),
        ],
        bad=[B(8, 3), B(8, 2, activation="tanh"), B(8, 2, 4).on(S(x, X((5, 2, 6))))],
    ),
    Layer(
        "TransformerEncoder",
        [
            B(encoder(), 2).on(
                S(b),
                S(b, mask=causal),
                S(b, src_key_padding_mask=padded),
                S(b, src_key_padding_mask=scattered),
                S(b, causal, padded),
            ),
            B(encoder(dropout=0.0, norm_first=True), 1, norm, enable_nested_tensor=False).on(
                S(b, causal, is_causal=True)
            ),
        ],
    ),
    Layer(
        "TransformerDecoder",
        [
            B(decoder(), 2).on(S(b, m), S(b, m, causal, memory_key_padding_mask=longer)),
            B(decoder(dropout=0.0, norm_first=True), 1, norm).on(S(b, m, causal, numbers, padded)),
        ],
    ),
    Layer(
        "Transformer",
        [
            B(8, 2, **stacks).on(S(b, m), S(b, X((2, 3, 8)), tgt_mask=causal, src_key_padding_mask=padded)),
            B(8, 2, **stacks, activation="gelu", layer_norm_eps=1e-4).on(S(flat, X((5, 8)))),
        ],
        bad=[B(8, 2, **stacks).on(S(b, X((3, 5, 8))), S(b, X((2, 5, 6))))],
    ),
]
