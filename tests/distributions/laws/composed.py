"""Distributions made of others."""

from tests.distributions.record import Law

LAWS = [
    Law(
        "Independent",
        builds=[
            lambda D, t: D.Independent(D.Normal(t([[0.5, -1.0]]), t([[1.0], [2.5]])), 1),
            lambda D, t: D.Independent(D.Normal(t([0.5, -1.0]), 2.0), 0),
            lambda D, t: D.Independent(D.Bernoulli(t([[0.5, 0.2], [0.1, 0.9]])), 2),
            lambda D, t: D.Independent(D.Bernoulli(t([0.5, 0.2])), 0),
        ],
        values=[[[0.0, 1.0]], [[1.0, 1.0]]],
        bad=[lambda D, t: D.Independent(D.Normal(t([0.5]), 1.0), 2)],
        outside=[float("nan")],
        extra=[lambda d: d.base_dist, lambda d: d.reinterpreted_batch_ndims],
    ),
    Law(
        "TransformedDistribution",
        builds=[
            lambda D, t: D.TransformedDistribution(D.Normal(t([0.5, -1.0]), t([1.0, 0.5])), D.ExpTransform()),
            lambda D, t: D.TransformedDistribution(
                D.Uniform(t([0.1]), 1.0), [D.AffineTransform(t([1.0, 2.0]), -2.0), D.TanhTransform().inv.inv]
            ),
            lambda D, t: D.TransformedDistribution(
                D.Normal(t([0.5, -1.0]), 1.0), [D.AffineTransform(0.5, t([2.0, -3.0])), D.SigmoidTransform()]
            ),
            lambda D, t: D.TransformedDistribution(D.Normal(t([0.5, -1.0]), 1.0), []),
            lambda D, t: D.TransformedDistribution(
                D.Independent(D.Normal(t([0.5, -1.0]), 1.0), 1), D.AffineTransform(t([[0.5], [1.0]]), 2.0)
            ),
            lambda D, t: D.TransformedDistribution(
                D.Independent(D.Normal(t([0.5, -1.0]), t([2.0, 1.0])), 1), D.AffineTransform(t(0.5), 2.0, 1)
            ),
        ],
        values=[[0.25, 0.3], [0.5, 0.8]],
        bad=[
            lambda D, t: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
            lambda D, t: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
            lambda D, t: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
        ],
        extra=[lambda d: d.base_dist, lambda d: d.transforms],
        tolerance={"float32": (1e-4, 1e-5)},  # through float32 numbers near bounds
    ),
    Law(
        "TransformedDistribution",
        builds=[
            lambda D, t: D.TransformedDistribution(
                D.Normal(t([[0.5, -1.0]]), 1.0), D.ReshapeTransform((2,), (2, 1))
            )
        ],
        values=[[[0.25], [0.3]]],
    ),
    Law(
        "MixtureSameFamily",
        builds=[
            lambda D, t: D.MixtureSameFamily(
                D.Categorical(t([0.3, 0.7])), D.Normal(t([0.5, -1.0]), t([1.0, 2.0]))
            ),
            lambda D, t: D.MixtureSameFamily(
                D.Categorical(logits=t([[0.3, 0.7], [1.0, 2.0]])),
                D.Gamma(t([[0.5, 1.0], [2.0, 3.0]]), t(1.5)),
            ),
            lambda D, t: D.MixtureSameFamily(
                D.Categorical(t([0.3, 0.7])), D.Independent(D.Normal(t([[0.5, -1.0], [0.0, 2.0]]), 1.0), 1)
            ),
        ],
        values=[[0.25, 0.3], [1.5, 2.8]],
        bad=[
            lambda D, t: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(t([0.5, -1.0]), 1.0)),
            lambda D, t: D.MixtureSameFamily(D.Categorical(t([0.3, 0.7])), 3),
            lambda D, t: D.MixtureSameFamily(D.Categorical(t([0.3, 0.7])), D.Normal(t([0.5, 0.0, 0.0]), 1.0)),
            lambda D, t: D.MixtureSameFamily(
                D.Categorical(t([[0.3, 0.7]] * 2)), D.Normal(t([[0.5, 0.0]] * 3), 1.0)
            ),
        ],
        outside=[float("nan")],
        extra=[lambda d: d.mixture_distribution, lambda d: d.component_distribution],
    ),
]
