"""Scaled dot-product attention and multi-head attention.

Invariant: PyTorch takes its fused kernel for four dims and the composition for others; both are here with every mask.
"""

from typing import Any

import numpy as np

from tests.ops.record import Op, S, Sample, X

q, k, v = X((2, 3, 4, 5)), X((2, 3, 6, 5)), X((2, 3, 6, 5))
q3, k3, v3 = X((3, 4, 5)), X((3, 6, 5)), X((3, 6, 2))
q2, k2, v2 = X((4, 5)), X((6, 5)), X((6, 3))
seen = X((4, 6), value=np.arange(24).reshape(4, 6) % 3 != 0, dtype="bool", grad=False)
nothing = X((4, 6), value=np.arange(24).reshape(4, 6) > 5, dtype="bool", grad=False)
wide = X((2, 1, 1, 6), value=np.arange(12).reshape(2, 1, 1, 6) % 4 != 1, dtype="bool", grad=False)
added = X((4, 6), grad=False)
FREE = {"variants": False}
HALVES = {"float16": (6e-3, 6e-3), "bfloat16": (4e-2, 4e-2)}
# torch's fused kernel takes what does not fit together and reads past the end, or fails inside
LOOSE = ((r"not implemented for", "which of its kernels refuses depends on the memory order"),)

CALLS = [
    S(q, k, v),
    S(q, k, v, is_causal=True),
    S(q, k, v, seen),
]
# which of PyTorch's steps refuses integers depends on the shapes
FLOATING = [
    S(q, k, v, nothing),
    S(q, k, v, wide),
    S(q, k, v, added),
    S(q, k, v, seen, is_causal=True),
    S(q, k, v, scale=0.3),
    S(q, k, v, scale=-2.0),
    S(X((2, 6, 4, 5)), k, v, enable_gqa=True),
    S(X((1, 2, 130, 4)), X((1, 2, 130, 4)), X((1, 2, 130, 4)), is_causal=True),
    S(X((1, 1, 300, 2)), X((1, 1, 3, 2)), X((1, 1, 3, 2)), is_causal=True),
    S(X((1, 1, 2, 3), 20, 30), X((1, 1, 4, 3), 20, 30), X((1, 1, 4, 3))).forward_only(),
    S(q3, k3, v3),
    S(q3, k3, v3, seen),
    S(q3, k3, v3, nothing),
    S(q3, k3, v3, is_causal=True),
    S(q3, k3, v3, X((4, 6))),
    S(q, k, v, X((3, 4, 6))),
    S(q, k, X((2, 3, 6, 2)), seen),
    S(q3, X((1, 6, 5)), X((1, 6, 2)), enable_gqa=True),
    S(q2, k2, v2),
    S(q2, k2, v2, is_causal=True, scale=-0.5),
    S(q, X((2, 1, 6, 5)), X((2, 1, 6, 5))),
    S(q, X((2, 3, 0, 5)), X((2, 3, 0, 5))).forward_only(),
    S(X((0, 3, 4, 5)), X((0, 3, 6, 5)), X((0, 3, 6, 5))).forward_only(),
    S(q3, k3, v3, added, is_causal=True),
    S(q, k, X((2, 3, 6, 2)), dropout_p=1.5),
    S(q, k, v, X((4, 5))),
    S(q, X((2, 3, 6, 3)), v),
    S(q3, X((3, 6, 3)), v3),
    S(X((6,)), k, v),
    S(q, X((2, 2, 6, 5)), X((2, 2, 6, 5)), enable_gqa=True),
    S(q, k, v, X((4, 6), value=np.ones((4, 6)), dtype="int32", grad=False)),
]
SDPA = Op(
    "nn.functional.scaled_dot_product_attention",
    [
        *CALLS,
        *(s.only("float") for s in FLOATING),
    ],
    tolerance=HALVES,
    loose=LOOSE,
    **FREE,
)


def heads(L: Any, *args: Any, **kwargs: Any) -> Any:
    """`multi_head_attention_forward` with the results that are there."""
    return [t for t in L.nn.functional.multi_head_attention_forward(*args, **kwargs) if t is not None]


E, H = 6, 2
x, y = X((3, 2, E)), X((5, 2, E))
W, WB, WO, OB = X((3 * E, E)), X((3 * E,)), X((E, E)), X((E,))
one = X((1, 1, E))
padding = X((2, 5), value=[[0, 0, 1, 0, 1], [0, 0, 0, 0, 1]], dtype="bool", grad=False)
hidden = X((3, 5), value=np.arange(15).reshape(3, 5) % 4 == 3, dtype="bool", grad=False)
PLAIN: tuple = (E, H, W, WB, None, None, False, 0.0, WO, OB)


def mha(*first: Any, rest: tuple = PLAIN, **more: Any) -> Sample:
    """A call whose results are those of floating point only."""
    return S(*first, *rest, **more).only("float")


MHA = Op(
    "nn.functional.multi_head_attention_forward",
    [
        mha(x, y, y),
        mha(x, y, y, need_weights=False),
        mha(x, y, y, average_attn_weights=False),
        mha(x, y, X((5, 2, E)), key_padding_mask=padding),
        mha(x, y, y, key_padding_mask=padding, attn_mask=hidden, need_weights=False),
        mha(x, y, y, attn_mask=X((H * 2, 3, 5), grad=False)),
        mha(
            x,
            y,
            y,
            rest=(E, H, W, WB, one, one, True, 0.0, WO, OB),
            key_padding_mask=padding,
            attn_mask=hidden,
        ),
        mha(x, y, y, rest=(E, H, W, None, None, None, False, 0.0, WO, None)),
        mha(X((3, E)), X((5, E)), X((5, E)), attn_mask=hidden),
        mha(x, y, y, static_k=X((4, 5, 3)), static_v=X((4, 5, 3))),
        mha(
            x,
            X((5, 2, 4)),
            X((5, 2, 3)),
            rest=(E, H, None, WB, None, None, False, 0.0, WO, OB),
            use_separate_proj_weight=True,
            q_proj_weight=X((E, E)),
            k_proj_weight=X((E, 4)),
            v_proj_weight=X((E, 3)),
        ),
        mha(x, y, X((4, 2, E))),
        mha(x, y, y, rest=(E, H, W, WB, one, None, False, 0.0, WO, OB)),
        mha(x, y, y, rest=(E, H, None, WB, None, None, False, 0.0, WO, OB)),
        mha(x, y, y, rest=(E, 4, W, WB, None, None, False, 0.0, WO, OB)),
        mha(x, y, y, rest=(E + 1, H, W, WB, None, None, False, 0.0, WO, OB)),
        mha(x, y, y, attn_mask=X((3, 4), grad=False)),
        mha(x, y, y, attn_mask=X((3, 3, 5), grad=False)),
        mha(x, y, y, key_padding_mask=X((2, 4), grad=False)),
        mha(x, y, y, is_causal=True),
        mha(x, y, y, static_k=X((3, 5, 3))),
        mha(x, y, X((5, E))),
        mha(X((3, E)), X((5, E)), X((5, E)), attn_mask=X((3, 3, 5), grad=False)),
    ],
    fn=heads,
    tolerance=HALVES,
    **FREE,
)

OPS = [SDPA, MHA]
