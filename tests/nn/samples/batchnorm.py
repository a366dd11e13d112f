"""Batch normalisation."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

FORMS = {
    "BatchNorm1d": ((4, 3), (4, 3, 5), (2, 3, 40)),
    "BatchNorm2d": ((2, 3, 4, 2),),
    "BatchNorm3d": ((2, 3, 2, 2, 3),),
    "SyncBatchNorm": ((4, 3), (2, 3, 2, 2, 3)),
}
BAD = {
    "BatchNorm1d": ((3,), (2, 4, 3), (4, 3, 2, 2), (1, 3, 1)),
    "BatchNorm2d": ((3,), (2, 4, 3), (2, 4, 3, 3), (1, 3, 1, 1)),
    "BatchNorm3d": ((2, 4, 3, 3), (2, 4, 3, 3, 1), (1, 3, 1, 1, 1)),
    "SyncBatchNorm": ((3,), (2, 4), (1, 3), (2, 0, 3)),
}


def layer(name: str) -> Layer:
    """All ways to build one."""
    feeds = [S(X(shape)) for shape in FORMS[name]]
    return Layer(
        name,
        [
            B(3).on(*feeds),
            B(3, eps=0.1, momentum=0.3).on(*feeds),
            B(3, momentum=None).on(*feeds[:1], *feeds[:1]),
            B(3, affine=False).on(*feeds),
            B(3, track_running_stats=False).on(*feeds),
            B(3, bias=False).on(*feeds[:1]),
            B(3, 1e-3, 0.2, False, False).on(*feeds[:1]),
            B(0),
        ],
        bad=[
            B(),
            B(-1),
            B("3"),
            B(3).on(*[S(X(shape)) for shape in BAD[name]]),
        ],
        loose=(("missing 1 required positional", "names the class that the constructor is written in"),),
    )


LAYERS = [layer(name) for name in FORMS]
LAYERS += [
    Layer(
        f"Lazy{name}",
        [
            B().on(*[S(X(shape)) for shape in FORMS[name]]),
            B(eps=0.1, momentum=None, bias=False).on(S(X(FORMS[name][0]))),
            B(track_running_stats=False),
        ],
        bad=[B(1, 2, 3, 4, 5, 6, 7), B().on(S(X((3,))))],
    )
    for name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d")
]
