"""Activations as modules."""

from tests.nn.record import B, Layer
from tests.ops.record import S, X

x, flat = S(X((2, 4), avoid=(-3, -1, -0.5, 0, 0.5, 1, 3))), S(X((5,), avoid=(0,)))
maps = S(X((2, 3, 4, 2)))


def simple(name: str, *builds, **more) -> Layer:
    """A module whose default build is called on two shapes, and others, `B(alpha=2.0)`, on one."""
    return Layer(name, [B().on(x, flat), *(build.on(x) for build in builds)], **more)


# torch multiplies a gradient of float64 by a sixth that it has rounded to float32
SIXTH = {"float64": (1e-7, 1e-8)}

LAYERS = [
    Layer(
        "Threshold",
        [B(0.1, 20).on(x), B(0.1, -1.0, False).on(x), B(threshold=0.1, value=2, inplace=True)],
        bad=[B(0.1), B("a", 1).on(x)],
    ),
    simple("ReLU", B(inplace=False)),
    simple("RReLU", B(0.1, 0.3), B(0.25, 0.25, inplace=False)),
    simple("Hardtanh", B(-2, 2), B(-0.5, max_val=0.25), bad=[B(2, 1), B(1.0, 1.0)]),
    simple("ReLU6"),
    simple("Sigmoid"),
    simple("Hardsigmoid", tolerance=SIXTH),
    simple("Tanh"),
    simple("SiLU"),
    simple("Mish"),
    simple("Hardswish"),
    simple("ELU", B(0.5), B(alpha=2), bad=[B("a").on(x)]),
    simple("CELU", B(0.5), B(alpha=2), bad=[B(0).on(x)]),
    simple("SELU"),
    Layer("GLU", [B().on(x), B(0).on(x), B(dim=1).on(S(X((2, 4, 3))))], bad=[B(5).on(x), B().on(flat)]),
    simple("GELU", B("none"), B(approximate="tanh"), bad=[B("fast").on(x), B(3).on(x)]),
    simple("Hardshrink", B(1.0), B(lambd=0)),
    simple("LeakyReLU", B(0.2), B(negative_slope=2)),
    simple("LogSigmoid"),
    simple("Softplus", B(2), B(0.5, 0.25), B(beta=3.0, threshold=1)),
    simple("Softshrink", B(1.0), B(lambd=0), bad=[B(-1.0).on(x)]),
    Layer(
        "PReLU",
        [
            B().on(x, flat, S(X((), 0.5, 1.0))),
            B(4).on(x),
            B(3, 0.1).on(maps),
            B(num_parameters=1, init=1).on(x),
        ],
        bad=[B(3).on(x), B("a"), B(-1)],
    ),
    simple("Softsign"),
    simple("Tanhshrink"),
    *(
        Layer(name, [B(1).on(x), B(dim=0).on(x, flat)], bad=[B(4).on(x)])
        for name in ("Softmin", "Softmax", "LogSoftmax")
    ),
    Layer("Softmax2d", [B().on(maps, S(X((3, 4, 2))))], bad=[B().on(x)]),
]
