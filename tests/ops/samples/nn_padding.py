"""Borders."""

from tests.ops.record import Op, S, X

PAD = "nn.functional.pad"
A, B, C, D = (X(shape) for shape in ((2, 4), (2, 3, 4), (2, 2, 3, 4), (1, 2, 3, 4, 3)))


def own(mode: str, beyond: tuple = ()) -> Op:
    """The records of a mode that repeats the tensor's own elements."""
    samples = [
        S(B, (1, 2), mode),
        S(A, (3, 0), mode=mode),
        S(B, [0, 0], mode=mode),
        S(B, (2, 1, 1, 2), mode),
        S(C, (1, 1, 2, 0), mode, None),
        S(C, (1, 0, 0, 2, 1, 1), mode, 0),
        S(D, (1, 2, 0, 1, 1, 0), mode),
        S(B, (-1, 2), mode),
        S(B, (2, -1), mode),
        S(B, (-1, -1), mode),
        S(C, (1, -2, -1, 2), mode),
        S(D, (-1, 1, 1, -3, 0, 1), mode),
        S(C, (0, 1, -1, -2), mode),
        *[S(C, pads, mode) for pads in ((1, 1), (1, 1, 1), (1, -9, -9, 1), (9, 0, 0, 0), (0, 0, 9, 1))],
        *[S(D, pads, mode) for pads in ((1, 1, 1, 1, 0, -9), (0, 0, 0, 0, 9, 0), (1, 1, 1, 1))],
        S(B, (-3, -3), mode),
        S(B, (1, 1), mode, 1.0),
        S(X(()), (), mode),
        S(X((4,)), (1, 1), mode),
        *[S(B, pads, mode) for pads in beyond],
    ]
    return Op(PAD, samples, tag=mode)


OPS: list[Op] = [
    Op(
        PAD,
        [
            S(B, (1, 2)),
            S(X((3,)), [2, 0]),
            S(B, (1, 0, 0, 2), "constant", 1.5),
            S(B, (0, 0, 1, 1, 2, 2), value=2),
            S(C, (1, -2, -1, 1), mode="constant", value=0.5),
            S(C, (-1, -2)),
            S(C, (0, 0, 0, 0)),
            S(B, ()),
            S(B, (-4, 1), value=3.0),
            S(B, (-5, 6)),
            S(B, (1,)),
            S(B, (1,) * 8),
            S(B, (1, 1), "mirror"),
            S(B, (1, 1), value=float("inf")),
            S(B, (1, 1), value=-300),
            S(B, (1, 1), value=1e30).forward_only(),
            S(B, (1, 1), value=float("nan")).forward_only(),
        ],
    ),
    own("reflect", ((4, 0), (-5, 3))),
    own("replicate", ((7, 0), (-5, 3))),
    own("circular", ((4, 4), (5, 0), (-2, -2))),
    Op(
        "constant_pad_nd",
        [
            S(B, (1, 2)),
            S(B, [1, 0, 2, 1], 2),
            S(X(()), ()),
            S(B, pad=(1, -1), value=True),
            S(B, (1, 1), 1.5),
            S(B, (1, 1), 1j),
            S(B, (1, 1, 1)),
            S(X((2,)), (1, 1, 1, 1)),
        ],
    ),
]
