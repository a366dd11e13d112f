"""Distributions of vectors and matrices."""

from tests.distributions.record import BY_POLYNOMIALS, TRIGAMMA, Law

CHANCES = [lambda d: d.probs, lambda d: d.logits, lambda d: d.param_shape]
FACTORS = [lambda d: d.scale_tril, lambda d: d.covariance_matrix, lambda d: d.precision_matrix]
SIMPLEX = [[[0.2, 0.3, 0.5]], [[0.6, 0.15, 0.25]]]
ROWS = [[[1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]]]
REAL = [[[0.2, -0.3]], [[1.6, 0.15]]]
COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]
SEVERAL = [[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.3], [-0.3, 0.5]], [[0.7, 0.0], [0.0, 3.0]]]
TRIANGLE = [[1.5, 0.0], [-0.4, 0.7]]


def categories(name: str, **more) -> Law:
    """A law of rows of categories."""
    return Law(
        name,
        builds=[
            lambda D, t: getattr(D, name)(t([1.0, 3.0, 2.0])),
            lambda D, t: getattr(D, name)(t([[0.1, 0.0, 0.9], [0.2, 0.5, 0.3]])),
            lambda D, t: getattr(D, name)(logits=t([[[0.1, 0.0, 0.9], [-0.2, 0.5, 0.3]]])),
        ],
        values=ROWS,
        bad=[
            lambda D, t: getattr(D, name)(),
            lambda D, t: getattr(D, name)(t(0.5)),
            lambda D, t: getattr(D, name)(t([0.5, -0.5, 1.0])),
        ],
        outside=[[1.0, 1.0, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0]],
        extra=CHANCES,
        **more,
    )


LAWS = [
    categories("OneHotCategorical"),
    categories("OneHotCategoricalStraightThrough"),
    Law(
        "Multinomial",
        builds=[
            lambda D, t: D.Multinomial(4, t([1.0, 3.0, 2.0])),
            lambda D, t: D.Multinomial(5, t([[0.1, 0.2, 0.7], [0.2, 0.5, 0.3]])),
            lambda D, t: D.Multinomial(3, logits=t([0.1, 0.0, 0.9])),
        ],
        values=[[[2.0, 0.0, 1.0]], [[0.0, 1.0, 2.0]]],
        bad=[
            lambda D, t: D.Multinomial(t.whole([1, 2]), t([0.5, 0.5])),
            lambda D, t: D.Multinomial(2),
            lambda D, t: D.Multinomial(2, t([-0.5, 0.5])),
        ],
        outside=[[9.0, 0.0, 0.0], [-1.0, 0.0, 1.0]],
        extra=[*CHANCES, lambda d: d.total_count],
    ),
    Law(
        "Dirichlet",
        builds=[
            lambda D, t: D.Dirichlet(t([0.5, 1.5, 3.0])),
            lambda D, t: D.Dirichlet(t([[2.0, 1.5, 3.0], [0.2, 0.9, 0.4]])),
        ],
        values=SIMPLEX,
        bad=[lambda D, t: D.Dirichlet(t(1.0)), lambda D, t: D.Dirichlet(t([1.0, -1.0]))],
        outside=[[0.2, 0.3, 0.6], [-0.2, 0.7, 0.5]],
        slopes=BY_POLYNOMIALS,
        tolerance=TRIGAMMA,
    ),
    Law(
        "LogisticNormal",
        builds=[
            lambda D, t: D.LogisticNormal(t([0.5, -1.0]), t([1.0, 0.5])),
            lambda D, t: D.LogisticNormal(t([[0.5, -1.0], [0.0, 1.0]]), t([[1.0], [2.0]])),
        ],
        values=SIMPLEX,
        bad=[lambda D, t: D.LogisticNormal(t([0.5, -1.0]), t([1.0, -0.5]))],
        outside=[[0.2, 0.3, 0.6]],
        extra=[lambda d: d.loc, lambda d: d.scale],
        tolerance={"float32": (1e-4, 1e-5)},  # a chain of products of float32 numbers
    ),
    Law("LogisticNormal", builds=[lambda D, t: D.LogisticNormal(t(0.5), t(1.0))], values=[[0.2, 0.8]]),
    Law(
        "RelaxedOneHotCategorical",
        builds=[
            lambda D, t: D.RelaxedOneHotCategorical(t(0.7), t([1.0, 3.0, 2.0])),
            lambda D, t: D.RelaxedOneHotCategorical(t([2.0]), logits=t([[0.1, 0.0, 0.9], [-0.2, 0.5, 0.3]])),
        ],
        values=SIMPLEX,
        bad=[
            lambda D, t: D.RelaxedOneHotCategorical(t(0.7)),
            lambda D, t: D.RelaxedOneHotCategorical(t(0.7), t([0.5, -0.5, 1.0])),
        ],
        outside=[[0.2, 0.3, 0.6]],
        extra=[lambda d: d.logits, lambda d: d.probs, lambda d: d.temperature, lambda d: d.base_dist],
        tolerance={"float32": (1e-4, 1e-5)},  # logarithms of float32 weights
    ),
    Law(
        "MultivariateNormal",
        builds=[
            lambda D, t: D.MultivariateNormal(t([0.5, -1.0]), t(COVARIANCE)),
            lambda D, t: D.MultivariateNormal(t([[0.5, -1.0], [0.0, 1.0]]), precision_matrix=t(COVARIANCE)),
            lambda D, t: D.MultivariateNormal(t([0.5, -1.0]), scale_tril=t(TRIANGLE)),
            lambda D, t: D.MultivariateNormal(t([[[0.5, -1.0]], [[0.0, 1.0]]]), t(SEVERAL)),
        ],
        values=REAL,
        bad=[
            lambda D, t: D.MultivariateNormal(t(0.5), t(COVARIANCE)),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0])),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0]), t(COVARIANCE), t(COVARIANCE)),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0]), t([1.0, 2.0])),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0]), precision_matrix=t([1.0, 2.0])),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0]), scale_tril=t([1.0, 2.0])),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0]), t([[1.0, 2.0], [2.0, 1.0]])),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0]), t([[1.0, 2.0], [0.0, 1.0]])),
            lambda D, t: D.MultivariateNormal(t([0.5, 0.0]), scale_tril=t(COVARIANCE)),
        ],
        outside=[[float("nan"), 0.0], [1.0, 2.0, 3.0]],
        extra=FACTORS,
        tolerance={"float32": (1e-4, 1e-5)},  # factors and inverses in float32
    ),
    Law(
        "LowRankMultivariateNormal",
        builds=[
            lambda D, t: D.LowRankMultivariateNormal(t([0.5, -1.0]), t([[1.0], [0.4]]), t([0.5, 2.0])),
            lambda D, t: D.LowRankMultivariateNormal(
                t([[0.5, -1.0], [0.0, 1.0], [2.0, 2.0]]), t([[1.0, 0.3], [0.4, -1.0]]), t([0.5, 2.0])
            ),
        ],
        values=REAL,
        bad=[
            lambda D, t: D.LowRankMultivariateNormal(t(0.5), t([[1.0], [0.4]]), t([0.5, 2.0])),
            lambda D, t: D.LowRankMultivariateNormal(t([0.5, 1.0]), t([1.0, 0.4]), t([0.5, 2.0])),
            lambda D, t: D.LowRankMultivariateNormal(t([0.5, 1.0]), t([[1.0, 0.4]]), t([0.5, 2.0])),
            lambda D, t: D.LowRankMultivariateNormal(t([0.5, 1.0]), t([[1.0], [0.4]]), t([0.5])),
            lambda D, t: D.LowRankMultivariateNormal(t([0.5, 1.0]), t([[1.0], [0.4]]), t([0.5, -0.2])),
            lambda D, t: D.LowRankMultivariateNormal(
                t([[0.5, 1.0]] * 2), t([[[1.0], [0.4]]] * 3), t([0.5, 0.2])
            ),
        ],
        extra=FACTORS,
        tolerance={"float32": (1e-4, 1e-5)},  # factors and inverses in float32
    ),
    Law(
        "LKJCholesky",
        builds=[
            lambda D, t: D.LKJCholesky(3, t([0.5, 2.0])),
            lambda D, t: D.LKJCholesky(3),
            lambda D, t: D.LKJCholesky(3, t([[1.5]])),
        ],
        values=[[[[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [-0.48, 0.6, 0.64]]]],
        bad=[lambda D, t: D.LKJCholesky(1), lambda D, t: D.LKJCholesky(2, t([-1.0]))],
        outside=[[[1.0, 0.0, 0.0], [0.6, 0.9, 0.0], [-0.48, 0.6, 0.64]]],
    ),
    Law(
        "Wishart",
        builds=[
            lambda D, t: D.Wishart(t(3.5), t(COVARIANCE)),
            lambda D, t: D.Wishart(t([2.5, 4.0, 3.0]), precision_matrix=t(SEVERAL)),
            lambda D, t: D.Wishart(3, scale_tril=t(TRIANGLE)),
        ],
        values=[[[[2.0, 0.3], [0.3, 1.5]]]],
        bad=[
            lambda D, t: D.Wishart(t(3.5)),
            lambda D, t: D.Wishart(t(0.5), t(COVARIANCE)),
            lambda D, t: D.Wishart(t(3.5), t([1.0, 2.0])),
            lambda D, t: D.Wishart(t(3.5), t([[1.0, 2.0], [2.0, 1.0]])),
            lambda D, t: D.Wishart(t(1.5), t([[1.0, 2.0], [2.0, 1.0]])),
        ],
        outside=[[[1.0, 2.0], [2.0, 1.0]]],
        extra=[*FACTORS, lambda d: d.df, lambda d: d._log_normalizer(*d._natural_params)],
        slopes=BY_POLYNOMIALS,
        tolerance={"float32": (1e-4, 1e-5)},  # factors and inverses in float32
        differs={"rsamples": "torch cannot differentiate them: it changes a mask in place that it has kept"},
    ),
]
