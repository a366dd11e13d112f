"""Images made larger."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

x1, x2, x3 = X((2, 3, 5)), X((2, 3, 4, 5)), X((1, 2, 3, 2, 4))
LAYERS = [
    Layer(
        "Upsample",
        [
            B(scale_factor=2).on(S(x1), S(x2), S(x3)),
            B(size=(3, 7)).on(S(x2)),
            B(7, mode="linear", align_corners=True).on(S(x1)),
            B(scale_factor=(1.5, 2), mode="bilinear").on(S(x2)),
            B(scale_factor=1.3, mode="bicubic", align_corners=False, recompute_scale_factor=True).on(S(x2)),
            B(scale_factor=2, mode="trilinear").on(S(x3)),
        ],
        bad=[
            B().on(S(x2)),
            B(3, 2).on(S(x2)),
            B(3, align_corners=True).on(S(x2)),
            B(3, mode="linear").on(S(x2)),
            B((3, 4)).on(S(x1)),
        ],
    ),
    Layer("UpsamplingNearest2d", [B(scale_factor=2).on(S(x2)), B(size=(3, 7)).on(S(x2)), B(3).on(S(x2))]),
    Layer("UpsamplingBilinear2d", [B(scale_factor=2).on(S(x2)), B(size=(3, 7)).on(S(x2)), B(3).on(S(x2))]),
]
