"""Distributions of whole numbers."""

from tests.distributions.record import Law, column

CHANCES = [lambda d: d.probs, lambda d: d.logits, lambda d: d.param_shape]


def chances(name: str, **more) -> Law:
    """A law with `probs` or `logits`."""
    return Law(
        name,
        builds=[
            lambda D, t: getattr(D, name)(t([0.2, 0.5, 0.9])),
            lambda D, t: getattr(D, name)(logits=t([[-1.0], [0.0], [2.0]])),
            lambda D, t: getattr(D, name)(0.25),
            lambda D, t: getattr(D, name)(logits=0.25),
        ],
        bad=[
            lambda D, t: getattr(D, name)(),
            lambda D, t: getattr(D, name)(t([0.5]), t([0.5])),
            lambda D, t: getattr(D, name)(t([0.5, 1.5])),
            lambda D, t: getattr(D, name)(t([0.5, -0.5])),
            lambda D, t: getattr(D, name)(logits=t([0.5, float("nan")])),
        ],
        whole=True,
        **more,
    )


def counted(name: str, **more) -> Law:
    """A law with `total_count`, and `probs` or `logits`."""
    return Law(
        name,
        builds=[
            lambda D, t: getattr(D, name)(4, t([0.2, 0.5, 0.9])),
            lambda D, t: getattr(D, name)(t.fixed([4.0, 6.0]), logits=t([[-1.0], [0.0], [2.0]])),
            lambda D, t: getattr(D, name)(t.whole([5, 5]), t([0.2, 0.4])),
            lambda D, t: getattr(D, name)(5, logits=t(0.5)),
        ],
        values=column(0.0, 1.0, 4.0),
        bad=[
            lambda D, t: getattr(D, name)(4),
            lambda D, t: getattr(D, name)(4, t([0.5]), t([0.5])),
            lambda D, t: getattr(D, name)(4, t([0.5, 1.5])),
            lambda D, t: getattr(D, name)(-1, t([0.5])),
            lambda D, t: getattr(D, name)(t.fixed([4.0, 6.0]), t([0.5, 0.5, 0.5])),
        ],
        extra=[*CHANCES, lambda d: d.total_count],
        whole=True,
        **more,
    )


LAWS = [
    chances("Bernoulli", values=column(0.0, 1.0), outside=[0.5, 2.0], extra=CHANCES),
    chances("Geometric", values=column(0.0, 1.0, 7.0), outside=[0.5, -1.0], extra=CHANCES[:2]),
    counted("Binomial", outside=[0.5, -1.0, 9.0], tolerance={"float32": (5e-5, 5e-6)}),
    counted("NegativeBinomial", outside=[0.5, -1.0], tolerance={"float32": (5e-5, 5e-6)}),
    Law(
        "Poisson",
        builds=[
            lambda D, t: D.Poisson(t([0.5, 3.0, 40.0])),
            lambda D, t: D.Poisson(t([[1.5], [0.1]])),
            lambda D, t: D.Poisson(2.5),
        ],
        values=column(0.0, 1.0, 7.0),
        bad=[lambda D, t: D.Poisson(t([0.5, -1.0]))],
        outside=[0.5, -1.0],
        whole=True,
    ),
    Law(
        "Categorical",
        builds=[
            lambda D, t: D.Categorical(t([1.0, 3.0, 2.0])),
            lambda D, t: D.Categorical(t([[0.1, 0.0, 0.9], [0.2, 0.5, 0.3]])),
            lambda D, t: D.Categorical(logits=t([[[0.1, 0.0, 0.9], [-0.2, 0.5, 0.3]]])),
        ],
        values=column(0.0, 1.0, 2.0),
        bad=[
            lambda D, t: D.Categorical(),
            lambda D, t: D.Categorical(t([0.5]), t([0.5])),
            lambda D, t: D.Categorical(t(0.5)),
            lambda D, t: D.Categorical(logits=t(0.5)),
            lambda D, t: D.Categorical(t([0.5, -0.5, 1.0])),
            lambda D, t: D.Categorical(logits=t([0.5, float("nan")])),
        ],
        outside=[3.0, 0.5, -1.0],
        extra=CHANCES,
        whole=True,
    ),
]
