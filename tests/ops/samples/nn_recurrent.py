"""Recurrent networks and cells, in functional form."""

from typing import Any

from tests.ops.record import Op, Sample, X

CRASH = "torch reads beyond its memory where shapes do not fit; what ours says is in tests/engine/ops/test_recurrent.py"
NAMES = "torch documents none; calls by name are among the samples"
LAYER = {
    "grad_fn": False,  # one node per layer and direction, where torch shows its loop
    "strides": False,
    "variants": False,  # torch's networks say other things of empty and 0-d inputs by their path
    "differs": {"bad_input": CRASH, "names": NAMES},
    "loose": (
        (r"expected m1 and m2|\"bmm\"", "torch multiplies by another function where there is no bias"),
        (r"mkldnn|primitive|itensor", "a library of kernels speaks"),
    ),
}
CELL = {"grad_fn": False, "strides": False, "differs": {"names": NAMES}, "loose": LAYER["loose"]}


def x(*shape: int) -> X:
    """An operand."""
    return X(shape, -1.0, 1.0)


def params(
    x: Any, gates: int, features: int, units: int, bias: bool, layers: int, both: bool, proj: int
) -> list:
    """The parameters of a network."""
    found: list = []
    ways = 2 if both else 1
    for layer in range(layers):
        for _ in range(ways):
            found += [x(gates * units, features if not layer else ways * (proj or units))]
            found += [x(gates * units, proj or units)]
            found += [x(gates * units), x(gates * units)] if bias else []
            found += [x(proj, units)] if proj else []
    return found


def network(
    gates: int,
    steps: int = 3,
    batch: int = 2,
    features: int = 3,
    units: int = 2,
    bias: bool = True,
    layers: int = 1,
    both: bool = False,
    first: bool = False,
    proj: int = 0,
    scale: float = 1.0,
) -> Sample:
    """One call of a network."""

    def x(*shape: int) -> X:
        """An operand, small enough to leave gates open."""
        return X(shape, -scale, scale)

    ways = layers * (2 if both else 1)
    h: Any = x(ways, batch, proj or units)
    hx = (h, x(ways, batch, units)) if gates == 4 else h
    given = x(batch, steps, features) if first else x(steps, batch, features)
    weights = params(x, gates, features, units, bias, layers, both, proj)
    return Sample((given, hx, weights, bias, layers, 0.0, False, both, first))


def named(sample: Sample, names: str) -> Sample:
    """The same call by names, all but the first."""
    first, *rest = zip(names.split(), sample.args, strict=True)
    return Sample((first[1],), dict(rest))


def of(gates: int) -> list[Sample]:
    """The calls of a network of this kind."""
    return [
        network(gates),
        network(gates, layers=2, first=True),
        network(gates, both=True, bias=False),
        named(
            network(gates, both=True),
            "input hx params has_biases num_layers dropout train bidirectional batch_first",
        ),
        network(gates, steps=1, batch=1, features=1, units=1),
        network(gates, steps=9, layers=2, both=True, scale=0.5),
    ]


def cell(gates: int, batch: int = 2, bias: tuple = (True, True), features: int = 3, units: int = 2) -> Sample:
    """One call of a cell."""
    h: Any = x(batch, units)
    hx = (h, x(batch, units)) if gates == 4 else h
    biases = [x(gates * units) if there else None for there in bias]
    return Sample((x(batch, features), hx, x(gates * units, features), x(gates * units, units), *biases))


def cells(gates: int) -> list[Sample]:
    """The calls of a cell of this kind."""
    return [
        cell(gates),
        cell(gates, bias=(False, False)),
        cell(gates, bias=(True, False)),
        named(cell(gates, bias=(False, True)), "input hx w_ih w_hh b_ih b_hh"),
        cell(gates, batch=1, features=1, units=1),
    ]


OPS: list[Op] = [
    Op("lstm", [*of(4), network(4, units=3, proj=2, both=True, layers=2)], **LAYER),
    Op("gru", of(3), **LAYER),
    Op("rnn_tanh", of(1), **LAYER),
    Op("rnn_relu", of(1), **LAYER),
    Op("lstm_cell", cells(4), **CELL),
    Op("gru_cell", cells(3), **CELL),
    Op("rnn_tanh_cell", cells(1), **CELL),
    Op("rnn_relu_cell", cells(1), **CELL),
]
