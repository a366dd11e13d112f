"""Activations: relu and the like, softmax, gates, dropout.

Invariant: what draws random numbers starts from a seed, so that its values are compared too.
"""

import numpy as np

from tests.ops.record import Lib, Op, S, X

x23, x3, x0 = X((2, 3)), X((3,)), X(())
away = X((2, 3), avoid=(0,))
corners = X((2, 3), -5.0, 5.0, avoid=(-3, -1, -0.5, 0, 0.5, 1, 3))
small = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 2.5, np.nan]
odd = S(X(value=[*small, 100.0, -100.0, np.inf, -np.inf])).only("float").forward_only()
tame = S(X(value=[*small, 10.0, -10.0])).only("float").forward_only()
kinks = S(X(value=[0.0, 1.0, -1.0, 3.0, -3.0, 0.5, -0.5, 6.0])).only("float").kink()
# torch fails in its own Python, before a sentence about the argument
PYTHON = ((r"has no attribute|not supported between|unsupported operand", "torch fails in its own Python"),)

# torch multiplies a gradient of float64 by a sixth that it has rounded to float32
SIXTH = {"float64": (1e-7, 1e-8)}


def in_place(L, name, x, *args):
    """An in-place form on a copy, so that it has a gradient."""
    return getattr(L.nn.functional, name)(x.clone(), *args)


def through(name, *samples, **more):
    """A functional with `inplace=True`, on a copy."""

    def call(L, x, *args):
        y = x.clone()
        assert getattr(L.nn.functional, name)(y, *args, inplace=True) is y
        return y

    return Op(f"nn.functional.{name}", list(samples), fn=call, tag="inplace", **more)


def functional(name, *samples, **more):
    """A record of a function of torch.nn.functional."""
    return Op(f"nn.functional.{name}", list(samples), **more)


def underscored(name, *samples, **more):
    """A record of an in-place form that is a function."""
    return Op(
        f"nn.functional.{name}",
        list(samples),
        fn=lambda L, x, *args: in_place(L, name, x, *args),
        **more,
    )


POINTWISE = [
    Op("relu", [S(away), S(X((5,), avoid=(0,))), odd, kinks]),
    functional("relu", S(away), odd, kinks),
    functional("relu6", S(corners), S(X(value=[-1, 2, 7])).forward_only(), odd, kinks),
    functional(
        "hardtanh",
        S(corners),
        S(corners, -2.0, 2.0),
        S(corners, min_val=0.0),
        S(corners, 2.0, 1.0),
        S(corners, -2, 1.5),
        odd,
        kinks,
        loose=PYTHON,
    ),
    functional("hardsigmoid", S(corners), odd, kinks, tolerance=SIXTH),
    functional("hardswish", S(corners), odd, kinks),
    functional("elu", S(away), S(away, 0.5), S(away, alpha=2), S(away, -1.5), odd, kinks),
    Op("selu", [S(away), odd, kinks]),
    functional("selu", S(away), odd, kinks),
    Op("celu", [S(away), S(away, 2.0), S(away, alpha=0.5), S(away, 0), S(away, -1.5), odd, kinks]),
    functional("celu", S(away), S(away, 2.0), odd, kinks),
    functional("leaky_relu", S(away), S(away, 0.2), S(away, -0.5), S(away, 1.5), S(away, 0), odd, kinks),
    functional("silu", S(x23), odd),
    functional("mish", S(x23), odd),
    # torch's vector code gives nan for an infinite float32
    functional("gelu", S(x23), S(x23, approximate="tanh"), S(x23, approximate="none"), tame),
    functional(
        "gelu", S(X(value=small), approximate="tanh").only("float"), S(x23, approximate="fast"), tag="tanh"
    ),
    functional("softplus", S(x23), S(x23, 2), S(x23, 0.5, 0.25), S(x23, beta=3.0, threshold=1), odd),
    functional("softsign", S(away), loose=PYTHON),
    functional("tanhshrink", S(x23), loose=PYTHON),
    functional("tanh", S(x23), loose=PYTHON),
    functional("sigmoid", S(x23), loose=PYTHON),
    functional("softshrink", S(corners), S(corners, 1.0), S(corners, lambd=0), S(corners, -1), odd, kinks),
    Op("hardshrink", [S(corners), S(corners, 1.0), S(corners, lambd=0), S(corners, -1), odd, kinks]),
    functional("hardshrink", S(corners)),
    functional("logsigmoid", S(x23), odd),
    functional(
        "threshold",
        S(corners, 0.5, 7),
        S(corners, -1.0, 2.0),
        S(corners, 0, 0.0),
        S(away, threshold=0, value=2),
    ),
    Op(
        "threshold",
        [S(corners, 0.5, 7), S(corners, -1.0, 2.0), S(X(value=small), 0.5, 1).only("float").forward_only()],
    ),
]
IN_PLACE = [
    underscored("relu_", S(away)),
    underscored("selu_", S(away)),
    underscored("celu_", S(away), S(away, 2.0), S(away, -1.0)),
    underscored("elu_", S(away), S(away, 0.5), S(away, -1.0)),
    underscored("hardtanh_", S(corners), S(corners, -2.0, 2.0)),
    underscored("leaky_relu_", S(away), S(away, 0.2), S(away, 1.5), S(away, -0.5)),
    underscored("rrelu_", S(away), S(away, 0.1, 0.2)),
    underscored("threshold_", S(corners, 0.5, 7.0), S(corners, -1.0, -2.0)),
    *(through(name, S(away)) for name in ("relu", "selu", "mish")),
    # torch forgets a conjugate in the gradient of a complex one
    through("silu", S(away).only("float", "int", "bool"), S(away).only("complex").forward_only()),
    *(through(name, S(corners)) for name in ("relu6", "hardswish", "hardtanh")),
    through("hardsigmoid", S(corners), tolerance=SIXTH),
    *(through(name, S(away), S(away, 0.5)) for name in ("elu", "celu", "leaky_relu")),
    through("rrelu", S(away, 0.1, 0.3)),
    through("threshold", S(corners, 0.5, 7.0)),
]


def seeded(name, *samples, **more):
    """A function that draws random numbers, from a seed."""

    def call(L, *args, **kwargs):
        L.manual_seed(7)
        found = L
        for part in name.split("."):
            found = getattr(found, part)
        return found(*args, **kwargs)

    return Op(name, list(samples), fn=call, **more)


def seeded_in_place(name, *samples, **more):
    """The same for an in-place form."""

    def call(L, x, *args, **kwargs):
        L.manual_seed(7)
        y = x.clone()
        found = L
        for part in name.split("."):
            found = getattr(found, part)
        assert found(y, *args, **kwargs) is y
        return y

    return Op(name, list(samples), fn=call, tag="inplace", **more)


x45 = X((4, 5))
maps = X((2, 3, 4, 2))
DROPOUT = [
    seeded(
        "nn.functional.dropout",
        S(x45),
        S(x45, 0.2),
        S(x45, 0.2, False),
        S(x45, p=0.0),
        S(x45, 1.0),
        S(x45, 1.5),
        S(x45, -0.1),
        S(maps, 0.7, True),
        loose=PYTHON,
    ),
    seeded(
        "nn.functional.alpha_dropout", S(x45), S(x45, 0.2, True), S(x45, 1.0, True), S(x45, 2), loose=PYTHON
    ),
    seeded(
        "nn.functional.feature_alpha_dropout", S(maps), S(maps, 0.4, True), S(x3, 0.4, True), loose=PYTHON
    ),
    seeded("nn.functional.dropout1d", S(X((4, 5, 3))), S(x45, 0.3), S(maps), S(x3), S(x45, -1), loose=PYTHON),
    seeded("nn.functional.dropout2d", S(maps), S(X((4, 5, 3)), 0.3), S(x45), S(x3), loose=PYTHON),
    seeded("nn.functional.dropout3d", S(X((2, 3, 2, 1, 2))), S(maps, 0.3), S(x45), S(x3), loose=PYTHON),
    *(
        seeded(
            name,
            S(x45, 0.4, True),
            S(x45, 0.4, False),
            S(maps, 0.6, True),
            S(x45, 1, True),
            S(x45, 2.0, True),
        )
        for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
    ),
    *(
        seeded_in_place(name, S(x45, 0.4, True), S(x45, 0.4, False), S(maps, 0.6, True), S(x45, 1.0, True))
        for name in ("dropout_", "feature_dropout_", "alpha_dropout_", "feature_alpha_dropout_")
    ),
    seeded_in_place("nn.functional.dropout", S(x45, 0.4, True, True)),
    seeded_in_place("nn.functional.dropout1d", S(x45, 0.4, True, True)),
    seeded(
        "rrelu",
        S(away),
        S(away, 0.1, 0.3, True),
        S(away, 0.3, 0.3, True),
        S(away, 0.5, 0.1),
        S(away, 0.1, np.inf),
    ),
    seeded("nn.functional.rrelu", S(away), S(away, 0.1, 0.3, True), S(away, upper=0.5)),
    seeded_in_place("rrelu_", S(away), S(away, 0.1, 0.3, True)),
    seeded(
        "nn.functional.gumbel_softmax",
        S(x23),
        S(x23, 0.5),
        S(x23, tau=2.0, dim=0),
        S(x23, 1.0, True).kink(),
        S(x23, dim=5),
        loose=PYTHON,
    ),
]

wide = S(X(value=[[50.0, -110.0], [200.0, 100.0], [-300.0, -301.0]]), 1).only("float").forward_only()
infinite = (
    S(X(value=[[np.inf, 0.0], [-np.inf, 0.0], [-np.inf, -np.inf], [np.nan, 1.0]]), 1)
    .only("float")
    .forward_only()
)
big = S(X((70, 600), -1.0, 1.0), 1).only("float").forward_only()
SOFT = [
    *(
        Op(
            name,
            [
                S(x23, 1),
                S(x23, 0),
                S(X((2, 3, 2)), 1),
                S(X((2, 3, 2)), -1),
                S(x23, -1, dtype=Lib("float32")).forward_only(),
                S(x23, dim=1, dtype=Lib("float64")),
                S(x23, 1, Lib("float64")),
                S(x0, 0),
                S(x23, 2),
                wide,
                infinite,
                big,
            ],
        )
        for name in ("softmax", "log_softmax")
    ),
    *(
        functional(
            name,
            S(x23, 1),
            S(x23, 0),
            S(X((2, 3, 2)), dim=1),
            S(x23, -1, dtype=Lib("float64")),
            S(x23, 3),
            loose=PYTHON,
        )
        for name in ("softmax", "log_softmax", "softmin")
    ),
    functional(
        "softmax", S(x23), S(x3), S(x0), S(X((2, 2, 2))), S(X((1, 2, 1, 2))), tag="no dim", loose=PYTHON
    ),
]
GATES = [
    functional(
        "glu", S(X((2, 4))), S(X((4, 3)), 0), S(X((2, 4, 3)), dim=1), S(x23), S(X((2, 4)), 5), loose=PYTHON
    ),
    *(
        Op(
            name,
            [
                S(away, X((1,), 0.1, 0.4)),
                S(away, X((3,), 0.1, 0.4)),
                S(X((2, 3, 4), avoid=(0,)), X((3,), 0.1, 0.4)),
                S(away, X((), 0.1, 0.4)),
                S(X((3,), avoid=(0,)), X((1,), 0.1, 0.4)),
                S(X((), 0.5, 1.0), X((1,), 0.1, 0.4)),
                S(X((), 0.5, 1.0), X((3,), 0.1, 0.4)),
                S(away, X((2,), 0.1, 0.4)),
                S(away, X((2, 3), 0.1, 0.4)),
                S(away, X((1, 1), 0.1, 0.4)),
            ],
        )
        for name in ("prelu", "nn.functional.prelu")
    ),
]
OPS: list[Op] = [*POINTWISE, *IN_PLACE, *DROPOUT, *SOFT, *GATES]
