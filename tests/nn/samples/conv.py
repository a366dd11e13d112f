"""Convolutions, their transposes, and those that wait for their first input."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

SETS = (r"padding_mode must be|Invalid padding string", "torch prints a set, in the order of the day")

ONE = S(X((2, 4, 8)))
TWO = S(X((2, 4, 7, 6)))
THREE = S(X((1, 4, 5, 4, 5)))


def padded(rank: int, feed: S, kernel: int = 3) -> list:
    """Borders of every kind."""
    modes = ("reflect", "replicate", "circular")
    return [
        *(B(4, 6, kernel, padding=1, padding_mode=mode).on(feed) for mode in modes),
        B(4, 2, 4, padding="same", padding_mode="circular").on(feed),
        B(4, 2, kernel, padding="valid", padding_mode="replicate").on(feed),
        B(4, 2, kernel, padding=(0, 2, 1)[:rank], padding_mode="reflect").on(feed),
    ]


LAYERS = [
    Layer(
        "Conv1d",
        [
            B(4, 6, 3).on(ONE, S(X((4, 8))), S(X((0, 4, 8)))),
            B(4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False).on(ONE),
            B(4, 2, (3,), padding="same", dilation=(2,)).on(ONE),
            *padded(1, ONE),
        ],
    ),
    Layer(
        "Conv2d",
        [
            B(4, 6, 3).on(TWO, S(X((4, 5, 5)))),
            B(4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2, False).on(TWO),
            B(4, 4, 3, padding=1, groups=4).on(TWO),
            B(4, 8, 1, stride=2).on(TWO),
            B(4, 2, 3, padding="same").on(TWO),
            B(4, 2, 3, padding="same", dilation=(1, 2)).on(TWO),
            *padded(2, TWO),
        ],
        bad=[
            B(4, 6, 3, groups=3),
            B(4, 6, 3, groups=4),
            B(4, 6, 3, groups=0),
            B(4, 6, 3, padding="some"),
            B(4, 6, 3, padding="same", stride=2),
            B(4, 6, 3, padding_mode="mirror"),
            B(-4, 6, 3),
            B(4, 6, "a"),
            B(4, 6, 3).on(S(X((2, 3, 7, 6))), S(X((2, 4))), S(X((2, 4, 2, 6)))),
            B(4, 6, (3, 3, 3)).on(TWO),
            B(4, 6, 3, stride=0).on(TWO),
            B(4, 6, 3, padding=-1).on(TWO),
            B(4, 6, 3, padding=7, padding_mode="reflect").on(TWO),
        ],
        loose=(SETS,),
    ),
    Layer(
        "Conv3d",
        [
            B(4, 2, 2).on(THREE, S(X((4, 3, 3, 3)))),
            B(4, 2, (3, 1, 2), stride=(1, 2, 1), padding=(1, 0, 1), groups=2).on(THREE),
            *padded(3, THREE),
        ],
    ),
    Layer(
        "ConvTranspose1d",
        [
            B(4, 6, 3).on(ONE, S(X((4, 5)))),
            B(4, 6, 3, 2, 1, 1, 2, False, 2).on(ONE, S(X((2, 4, 8)), output_size=(18,))),
        ],
    ),
    Layer(
        "ConvTranspose2d",
        [
            B(4, 6, 3).on(TWO, S(X((4, 5, 5)))),
            B(4, 6, (3, 2), stride=2, padding=1).on(TWO, S(X((2, 4, 7, 6)), [13, 11])),
            B(4, 6, 3, stride=2).on(S(X((2, 4, 3, 3)), (2, 6, 8, 7)), S(X((4, 3, 3)), output_size=(7, 8))),
            B(4, 6, 3, stride=3, output_padding=(1, 2), dilation=2, groups=2, bias=False).on(TWO),
        ],
        bad=[
            B(4, 6, 3, padding_mode="circular"),
            B(4, 6, 3, groups=3),
            B(4, 6, 3, output_padding=1).on(TWO),
            B(4, 6, 3, stride=2).on(
                S(X((2, 4, 3, 3)), (9, 9)),
                S(X((2, 4, 3, 3)), (9,)),
                S(X((4, 3, 3)), (1, 1, 8, 8)),
                S(X((2, 3, 3, 3))),
            ),
        ],
    ),
    Layer(
        "ConvTranspose3d", [B(4, 2, 2, stride=2).on(THREE), B(4, 2, (1, 2, 3), padding=(0, 1, 1)).on(THREE)]
    ),
    Layer(
        "LazyConv1d",
        [
            B(6, 3).on(ONE, S(X((4, 8)))),
            B(6, 3, stride=2, groups=2, bias=False, padding_mode="circular", padding=1).on(ONE),
        ],
    ),
    Layer(
        "LazyConv2d",
        [B(6, 3).on(TWO), B(6, (3, 5), padding="same", bias=False).on(TWO)],
        bad=[B(6, 3, groups=3).on(TWO), B(6, 3).on(S(X((4, 5))))],
    ),
    Layer("LazyConv3d", [B(2, 2).on(THREE)]),
    Layer("LazyConvTranspose1d", [B(6, 3, stride=2).on(ONE)]),
    Layer(
        "LazyConvTranspose2d", [B(6, 3, stride=2, output_padding=1, groups=2).on(TWO), B(6, 3, bias=False)]
    ),
    Layer("LazyConvTranspose3d", [B(2, 2).on(THREE)]),
]
