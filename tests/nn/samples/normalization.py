"""Layer, group, RMS and local response normalisation."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

LAYERS = [
    Layer(
        "LayerNorm",
        [
            B(4).on(S(X((2, 4))), S(X((2, 3, 4))), S(X((0, 4)))),
            B((3, 4), eps=0.1).on(S(X((2, 3, 4)))),
            B([40], bias=False).on(S(X((2, 40)))),
            B(4, elementwise_affine=False).on(S(X((4,)))),
        ],
        bad=[B(), B("a"), B(2.5), B(-1), B(4).on(S(X((2, 3))), S(X(())))],
    ),
    Layer(
        "GroupNorm",
        [
            B(2, 6).on(S(X((2, 6))), S(X((2, 6, 4))), S(X((2, 6, 2, 20)))),
            B(3, 6, eps=0.1).on(S(X((2, 6, 4)))),
            B(1, 6, affine=False).on(S(X((2, 6, 4)))),
            B(6, 6, bias=False).on(S(X((2, 6, 4)))),
        ],
        bad=[B(), B(4, 6), B(0, 6), B(2, 6).on(S(X((2, 5))), S(X((6,))))],
    ),
    Layer(
        "RMSNorm",
        [
            B(4).on(S(X((2, 4))), S(X((2, 3, 4)))),
            B((3, 4), eps=0.1).on(S(X((2, 3, 4)))),
            B([40], elementwise_affine=False).on(S(X((2, 40)))),
        ],
        bad=[B(), B("a"), B(4).on(S(X((2, 3))))],
    ),
    Layer(
        "LocalResponseNorm",
        [
            B(2).on(S(X((2, 5, 3))), S(X((2, 5, 3, 2)))),
            B(3, alpha=0.5, beta=0.5, k=2.0).on(S(X((2, 5, 3, 2)))),
        ],
        bad=[B(), B(2).on(S(X((2, 5))))],
    ),
    Layer(
        "CrossMapLRN2d",
        [
            B(3).on(S(X((2, 6, 3, 2)))),
            B(5, alpha=0.5, beta=0.5, k=2.0).on(S(X((2, 7, 3, 2))), S(X((2, 2, 3, 2)))),
            B(4, 0.5).on(S(X((1, 6, 2, 2)))),
        ],
        bad=[B(), B(3).on(S(X((2, 5, 3))))],
        grads=False,  # torch's gradient is of a window one channel off
    ),
]
