"""Instance normalisation."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

FORMS = {
    "InstanceNorm1d": ((2, 3, 4), (3, 40)),
    "InstanceNorm2d": ((2, 3, 4, 2), (3, 2, 2)),
    "InstanceNorm3d": ((2, 3, 2, 2, 3), (3, 2, 2, 3)),
}
BAD = {
    "InstanceNorm1d": ((3,), (2, 4, 3), (4, 3), (2, 3, 1), (2, 3, 2, 2)),
    "InstanceNorm2d": ((3,), (2, 4, 3), (2, 4, 3, 3), (2, 3, 1, 1)),
    "InstanceNorm3d": ((2, 3, 4), (2, 4, 3, 3, 1), (2, 3, 1, 1, 1)),
}


def layer(name: str) -> Layer:
    """All ways to build one."""
    feeds = [S(X(shape)) for shape in FORMS[name]]
    return Layer(
        name,
        [
            B(3).on(*feeds),
            B(3, affine=True).on(*feeds),
            B(3, eps=0.1, momentum=0.3, affine=True, track_running_stats=True).on(*feeds),
            B(3, track_running_stats=True, momentum=None).on(*feeds[:1]),
            B(3, affine=True, bias=False).on(*feeds[:1]),
        ],
        bad=[
            B(),
            B(3, affine=True).on(*[S(X(shape)) for shape in BAD[name]]),
        ],
    )


LAYERS = [layer(name) for name in FORMS]
LAYERS += [
    Layer(
        f"Lazy{name}",
        [
            B().on(S(X(FORMS[name][0]))),
            B(eps=0.1, affine=True, track_running_stats=True).on(S(X(FORMS[name][0]))),
        ],
        bad=[B(1, 2, 3, 4, 5, 6, 7)],
    )
    for name in FORMS
]
