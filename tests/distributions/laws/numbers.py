"""Distributions of numbers of either sign, and of bounded ones."""

from tests.distributions.record import BY_POLYNOMIALS, TRIGAMMA, Law, column

REAL = column(-1.5, 0.25, 2.0)
UNIT = column(0.05, 0.4, 0.93)
POSITIVE = column(0.1, 1.5, 4.0)


def locations(name: str, values: list = REAL, **more) -> Law:
    """A law with `loc` and `scale`."""
    return Law(
        name,
        builds=[
            lambda D, t: getattr(D, name)(t([0.5, -1.0]), t([1.0, 2.5])),
            lambda D, t: getattr(D, name)(0.5, t([[1.0], [0.2]])),
            lambda D, t: getattr(D, name)(0.5, 2.0),
            lambda D, t: getattr(D, name)(t(0.5), t([2.0, 1.0]), validate_args=False),
        ],
        values=values,
        bad=[
            lambda D, t: getattr(D, name)(t([0.5, 0.0]), t([1.0, -1.0])),
            lambda D, t: getattr(D, name)(float("nan"), 1.0),
            lambda D, t: getattr(D, name)("0", 1.0),
            lambda D, t: getattr(D, name)(t([0.5, 0.0]), t([1.0, 1.0, 1.0])),
        ],
        outside=[float("nan")],
        **more,
    )


LAWS = [
    locations("Normal"),
    locations("Laplace"),
    locations("Cauchy"),
    locations(
        "LogNormal",
        POSITIVE,
        extra=[lambda d: d.loc, lambda d: d.scale],
        tolerance={"float32": (1e-4, 1e-5)},  # exponentials of float32 numbers
    ),
    # torch's float32 chain of transforms loses digits on the way to the samples
    locations("Gumbel", tolerance={"float32": (1e-4, 1e-5)}),
    Law(
        "StudentT",
        builds=[
            lambda D, t: D.StudentT(t([0.5, 1.5, 3.0]), t([0.0, 1.0, 2.0]), t([1.0, 2.0, 0.5])),
            lambda D, t: D.StudentT(4.0),
            lambda D, t: D.StudentT(t(2.5), 1.0, t([[1.0], [2.0]])),
        ],
        values=REAL,
        bad=[lambda D, t: D.StudentT(t([-1.0])), lambda D, t: D.StudentT(t([1.0]), scale=t([0.0]))],
        slopes=BY_POLYNOMIALS,
        tolerance=TRIGAMMA,
    ),
    Law(
        "Uniform",
        builds=[
            lambda D, t: D.Uniform(t([-2.0, -3.0]), t([2.5, 3.0])),
            lambda D, t: D.Uniform(-2.0, 3.0),
            lambda D, t: D.Uniform(t([[-2.0], [-4.0]]), 2.5),
        ],
        values=REAL,
        bad=[lambda D, t: D.Uniform(t([1.0]), t([1.0])), lambda D, t: D.Uniform(2.0, 1.0)],
        outside=[-5.0, 3.5],
    ),
    Law(
        "VonMises",
        builds=[
            lambda D, t: D.VonMises(t([0.5, -1.0]), t([1.0, 8.5])),
            lambda D, t: D.VonMises(t([0.5]), t([[0.01], [3.0]])),
        ],
        values=REAL,
        bad=[lambda D, t: D.VonMises(t([0.5]), t([-1.0]))],
        # torch's Bessel functions are polynomials of six digits
        tolerance={"float32": (2e-5, 4e-6), "float64": (4e-6, 4e-6)},
    ),
    Law(
        "Beta",
        builds=[
            lambda D, t: D.Beta(t([0.5, 2.0]), t([1.5, 3.0])),
            lambda D, t: D.Beta(0.5, 2.0),
            lambda D, t: D.Beta(t([[0.5], [0.9]]), t(0.7)),
        ],
        values=UNIT,
        bad=[lambda D, t: D.Beta(t([0.5, -1.0]), t([1.0, 1.0])), lambda D, t: D.Beta(1.0, 0.0)],
        outside=[-0.5, 1.5],
        extra=[lambda d: d.concentration1, lambda d: d.concentration0],
        slopes=BY_POLYNOMIALS,
        tolerance=TRIGAMMA,
    ),
    Law(
        "Kumaraswamy",
        builds=[
            lambda D, t: D.Kumaraswamy(t([0.5, 2.0]), t([1.5, 3.0])),
            lambda D, t: D.Kumaraswamy(2.0, 2.0),
            lambda D, t: D.Kumaraswamy(t([[1.5], [2.0]]), t(3.0)),
        ],
        values=UNIT,
        bad=[lambda D, t: D.Kumaraswamy(t([0.5, -1.0]), t([1.0, 1.0]))],
        outside=[-0.5, 1.5],
        tolerance={"float32": (1e-4, 1e-5)},  # powers of what is left to 1
    ),
    Law(
        "ContinuousBernoulli",
        builds=[
            lambda D, t: D.ContinuousBernoulli(t([0.1, 0.4995, 0.7])),
            lambda D, t: D.ContinuousBernoulli(logits=t([[-2.0], [0.001], [3.0]])),
            lambda D, t: D.ContinuousBernoulli(0.3),
            lambda D, t: D.ContinuousBernoulli(logits=0.3),
            lambda D, t: D.ContinuousBernoulli(t([0.45]), lims=(0.4, 0.6)),
            lambda D, t: D.ContinuousBernoulli(t([0.0, 1.0, 0.2]), validate_args=True),
        ],
        values=[*UNIT, *column(0.0, 1.0)],
        bad=[
            lambda D, t: D.ContinuousBernoulli(t([1.5]), validate_args=True),
            lambda D, t: D.ContinuousBernoulli(),
            lambda D, t: D.ContinuousBernoulli(t([0.5]), t([0.5])),
        ],
        outside=[-0.5, 1.5],
        extra=[
            lambda d: d.logits,
            lambda d: d.probs,
            lambda d: d.param_shape,
            lambda d: d._log_normalizer(*d._natural_params),
        ],
        tolerance={"float32": (2e-4, 2e-5)},  # closed forms near one half cancel, in either library
    ),
    Law(
        "RelaxedBernoulli",
        builds=[
            lambda D, t: D.RelaxedBernoulli(t(0.7), t([0.2, 0.6])),
            lambda D, t: D.RelaxedBernoulli(t([2.0]), logits=t([[0.5], [-1.0]])),
            lambda D, t: D.RelaxedBernoulli(t(0.7), t(0.3)),
        ],
        values=UNIT,
        bad=[
            lambda D, t: D.RelaxedBernoulli(t(0.7), t([1.2])),
            lambda D, t: D.RelaxedBernoulli(t(0.7)),
            lambda D, t: D.RelaxedBernoulli(t(0.7), t(0.5), t(0.5)),
        ],
        outside=[-0.5],
        extra=[lambda d: d.logits, lambda d: d.probs, lambda d: d.temperature, lambda d: d.base_dist],
        tolerance={"float32": (1e-4, 1e-5)},  # log-odds of float32 numbers near 1
    ),
]
