"""Distributions of positive numbers."""

from tests.distributions.record import BY_POLYNOMIALS, Law, column

POSITIVE = column(0.1, 1.5, 4.0)


def pairs(name: str, **more) -> Law:
    """A law with two positive parameters."""
    return Law(
        name,
        builds=[
            lambda D, t: getattr(D, name)(t([0.5, 3.0]), t([1.0, 2.5])),
            lambda D, t: getattr(D, name)(t([[1.5], [4.5]]), 0.7),
            lambda D, t: getattr(D, name)(3.0, 2.0),
        ],
        values=POSITIVE,
        bad=[
            lambda D, t: getattr(D, name)(t([0.5, 1.0]), t([1.0, -1.0])),
            lambda D, t: getattr(D, name)(t([0.0, 1.0]), t([1.0, 1.0])),
        ],
        outside=[-1.0],
        **more,
    )


def scales(name: str, **more) -> Law:
    """A law with one positive parameter."""
    return Law(
        name,
        builds=[
            lambda D, t: getattr(D, name)(t([0.5, 3.0])),
            lambda D, t: getattr(D, name)(t([[2.0], [1.0]]), validate_args=False),
            lambda D, t: getattr(D, name)(3.0),
        ],
        values=POSITIVE,
        bad=[lambda D, t: getattr(D, name)(t([0.5, -1.0])), lambda D, t: getattr(D, name)(0.0)],
        outside=[-1.0],
        **more,
    )


LAWS = [
    scales("Exponential"),
    scales("HalfNormal", extra=[lambda d: d.scale]),
    scales("HalfCauchy", extra=[lambda d: d.scale]),
    scales("Chi2", slopes=BY_POLYNOMIALS, extra=[lambda d: d.df]),
    pairs("Gamma", slopes=BY_POLYNOMIALS, extra=[lambda d: d.log_prob(2.0)]),
    pairs(
        "InverseGamma",
        slopes=BY_POLYNOMIALS,
        extra=[lambda d: d.concentration, lambda d: d.rate],
        tolerance={"float32": (1e-4, 1e-5)},  # one over small gamma numbers
    ),
    pairs("FisherSnedecor", slopes=BY_POLYNOMIALS, tolerance={"float32": (5e-5, 5e-6)}),
    pairs("Weibull", tolerance={"float32": (1e-4, 1e-5)}),  # powers of float32 numbers
    Law(
        "Pareto",
        builds=[
            lambda D, t: D.Pareto(t([0.5, 1.0]), t([0.5, 3.0])),
            lambda D, t: D.Pareto(0.5, t([[1.5], [2.5]])),
            lambda D, t: D.Pareto(0.5, 2.0),
        ],
        values=column(1.5, 3.0, 4.0),
        bad=[lambda D, t: D.Pareto(t([-0.5]), t([1.0])), lambda D, t: D.Pareto(1.0, 0.0)],
        outside=[0.1],
        tolerance={"float32": (1e-4, 1e-5)},  # exponentials of float32 numbers
    ),
    Law(
        "GeneralizedPareto",
        builds=[
            lambda D, t: D.GeneralizedPareto(t([0.0, -1.0, 0.5]), t([1.0, 2.0, 1.5]), t([0.3, 0.0, -0.2])),
            lambda D, t: D.GeneralizedPareto(0.0, 1.0, 0.6),
            lambda D, t: D.GeneralizedPareto(t(0.0), t([1.0, 2.0]), t([[1.5], [0.2]])),
        ],
        values=column(0.75, 1.5, 1.9),
        bad=[lambda D, t: D.GeneralizedPareto(t([-0.5]), t([-1.0]), t([1.0]))],
        outside=[-3.0, 50.0],
        extra=[lambda d: d.log_cdf(1.5 + 0 * d.loc), lambda d: d.log_survival_function(1.5 + 0 * d.loc)],
        dtypes=("float32",),  # torch compares the concentration with a float32 zero, and fails in float64
    ),
]
