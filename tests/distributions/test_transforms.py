"""Transforms against torch: maps both ways, how they stretch, shapes, caches, equality, copies."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from tests.distributions.compare import agree
from tests.distributions.record import Law, Make, Tensors
from tests.ops.library import L, attempt, numpy_of, renamed, torch

NUMBERS = [[0.3, -1.2], [2.0, 0.1]]
POSITIVE = [[0.3, 1.2], [2.0, 0.1]]
MATRICES = [[[0.3, 0.5], [-0.2, 1.1]], [[-0.3, 9.0], [0.7, 0.4]]]
# how to make it, and arguments for it
WAYS: dict[str, tuple[Make, Any]] = {
    "exp": (lambda D, t: D.ExpTransform(), NUMBERS),
    "exp inverse": (lambda D, t: D.ExpTransform().inv, POSITIVE),
    "power": (lambda D, t: D.PowerTransform(t([2.0, -0.5])), POSITIVE),
    "power of a number": (lambda D, t: D.PowerTransform(t.fixed(3.0)), POSITIVE),
    "sigmoid": (lambda D, t: D.SigmoidTransform(), NUMBERS),
    "far sigmoid": (lambda D, t: D.SigmoidTransform(), [[30.0, -30.0], [200.0, -200.0]]),
    "softplus": (lambda D, t: D.SoftplusTransform(), NUMBERS),
    "tanh": (lambda D, t: D.TanhTransform(), NUMBERS),
    "abs": (lambda D, t: D.AbsTransform(), NUMBERS),
    "affine": (lambda D, t: D.AffineTransform(t([0.5, 1.0]), t([-2.0, 0.3])), NUMBERS),
    "affine of numbers": (lambda D, t: D.AffineTransform(0.5, -2), NUMBERS),
    "affine of events": (lambda D, t: D.AffineTransform(0.5, t([3.0, -1.0]), event_dim=1), NUMBERS),
    "softmax": (lambda D, t: D.SoftmaxTransform(), NUMBERS),
    "sticks": (lambda D, t: D.StickBreakingTransform(), NUMBERS),
    "sticks inverse": (lambda D, t: D.StickBreakingTransform().inv, [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]),
    "cholesky": (lambda D, t: D.LowerCholeskyTransform(), MATRICES),
    "positive definite": (lambda D, t: D.PositiveDefiniteTransform(), MATRICES),
    "correlation": (lambda D, t: D.CorrCholeskyTransform(), [[0.3, -1.2, 0.5], [2.0, 0.1, -0.7]]),
    "correlation of one": (lambda D, t: D.CorrCholeskyTransform(), [[0.3], [2.0]]),
    "reshape": (lambda D, t: D.ReshapeTransform((2,), (1, 2)), NUMBERS),
    "identity": (lambda D, t: D.identity_transform, NUMBERS),
    "chain": (
        lambda D, t: D.ComposeTransform(
            [D.AffineTransform(0.5, t(0.6)), D.TanhTransform(), D.ExpTransform()]
        ),
        NUMBERS,
    ),
    "chain of events": (
        lambda D, t: D.ComposeTransform([D.AffineTransform(0.5, t(2.0)), D.StickBreakingTransform()]),
        NUMBERS,
    ),
    "inverse of a chain": (
        lambda D, t: D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0.5, t(2.0))]).inv,
        [[0.9, 1.2], [2.0, 0.6]],
    ),
    "independent": (
        lambda D, t: D.IndependentTransform(D.AffineTransform(t(0.5), t([2.0, 3.0])), 1),
        NUMBERS,
    ),
    "cat": (lambda D, t: D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1), NUMBERS),
    "cat of lengths": (
        lambda D, t: D.CatTransform([D.ExpTransform(), D.AffineTransform(t(0.5), 2.0)], 1, [2, 1]),
        [[0.3, -1.2, 0.4], [2.0, 0.1, 1.0]],
    ),
    "cat of events": (
        lambda D, t: D.CatTransform([D.AffineTransform(0.0, 2.0, 1), D.ExpTransform()], -1, [2, 1]),
        [[0.3, -1.2, 0.4], [2.0, 0.1, 1.0]],
    ),
    "stack": (
        lambda D, t: D.StackTransform([D.ExpTransform(), D.AffineTransform(t(0.5), 2.0)], dim=1),
        NUMBERS,
    ),
    "stack in front": (lambda D, t: D.StackTransform([D.ExpTransform(), D.TanhTransform()]), NUMBERS),
    "distribution function": (
        lambda D, t: D.CumulativeDistributionTransform(D.Normal(t([0.5, 0.0]), t(1.5))),
        NUMBERS,
    ),
}
EXACT = Law("transform", [], [], tolerance={"float32": (5e-5, 5e-6)})
ways = pytest.mark.parametrize("name", WAYS)
both_types = pytest.mark.parametrize("dtype", ["float32", "float64"])


def test_every_transform_is_here() -> None:
    made = {type(make(L.distributions, Tensors(L, "float32"))).__name__ for make, _ in WAYS.values()}
    names = set(torch.distributions.transforms.__all__) - {"Transform", "identity_transform"}
    assert made >= names


def check(name: str, ask: Any, dtype: str = "float32", must: bool = True, grads: bool = True) -> None:
    """Ask about a transform and its argument."""
    make, values = WAYS[name]
    agree(
        EXACT,
        lambda D, t: (make(D, t), t(values)),
        lambda both, t: ask(both[0], both[1]),
        dtype,
        must=must,
        grads=grads,
    )


@ways
def test_description(name: str) -> None:
    def ask(f: Any, x: Any) -> list:
        limits = [f.domain, f.codomain]
        return [
            repr(f),
            repr(f.inv),
            f.bijective,
            [repr(limit) for limit in limits],
            [limit.event_dim for limit in limits],
            [limit.is_discrete for limit in limits],
        ]

    check(name, ask, grads=False)
    check(name, lambda f, x: [f.domain.check(x), f.codomain.check(f(x))], must=False, grads=False)


@pytest.mark.parametrize("what", ["sign", "event_dim", "length", "_cache_size"])
@ways
def test_attributes(name: str, what: str) -> None:
    check(name, lambda f, x: getattr(f, what), must=False, grads=False)


@ways
@both_types
def test_both_ways(name: str, dtype: str) -> None:
    """Results, their inverses, and the gradients of both."""
    check(name, lambda f, x: f(x), dtype)
    check(name, lambda f, x: f.inv(f(x).detach()), dtype)
    check(name, lambda f, x: f.inv.inv(x), dtype)


@pytest.mark.parametrize("name", [name for name in WAYS if name != "far sigmoid"])  # which rounds to 1
def test_an_inverse_takes_back(name: str) -> None:
    """Not torch, but the definition."""
    make, values = WAYS[name]
    t = Tensors(L, "float64")
    f, x = make(L.distributions, t), t(values)
    y = f(x)
    # `inv` of what is no bijection gives one of the arguments
    np.testing.assert_allclose(numpy_of(f(f.inv(y))), numpy_of(y), rtol=1e-9)
    if f.bijective:
        np.testing.assert_allclose(numpy_of(f.inv(y)), numpy_of(x), rtol=1e-6, atol=1e-12)


@ways
@both_types
def test_stretching(name: str, dtype: str) -> None:
    check(name, lambda f, x: f.log_abs_det_jacobian(x, f(x)), dtype, must=False)
    check(name, lambda f, x: f.inv.log_abs_det_jacobian(f(x), x), dtype, must=False)


SQUARE = ["exp", "power", "sigmoid", "softplus", "tanh", "affine of events", "chain", "inverse of a chain"]


@pytest.mark.parametrize("name", [*SQUARE, "independent", "distribution function"])
def test_stretching_is_the_determinant(name: str) -> None:
    """Not torch, but the definition: the determinant of the Jacobian that autograd gives."""
    make, values = WAYS[name]
    t = Tensors(L, "float64")
    f, x = make(L.distributions, t), L.tensor(values[0], dtype=L.float64)
    jacobian = L.autograd.functional.jacobian(f, x)
    assert isinstance(jacobian, L.Tensor)
    expected = jacobian.det().abs().log()
    stretched = f.log_abs_det_jacobian(x, f(x)).sum()
    np.testing.assert_allclose(numpy_of(stretched), numpy_of(expected), rtol=1e-7)


@pytest.mark.parametrize("shape", [(), (2,), (3, 2), (3, 3), (2, 1, 2), (4, 3)], ids=str)
@ways
def test_shapes(name: str, shape: tuple) -> None:
    check(name, lambda f, x: tuple(f.forward_shape(shape)), must=False, grads=False)
    check(name, lambda f, x: tuple(f.inverse_shape(shape)), must=False, grads=False)


@pytest.mark.parametrize("shape", [(), (1,), (2,), (3, 3), (2, 1, 2), (4, 3)], ids=str)
@ways
def test_arguments_of_other_shapes(name: str, shape: tuple) -> None:
    """Answered or refused as torch does."""
    check(name, lambda f, x: f(x.new_full(shape, 0.3)), must=False, grads=False)


@ways
def test_caches(name: str) -> None:
    """With a cache, the very objects come back; without, new ones; and a cache is asked for only once."""

    def ask(f: Any, x: Any) -> list:
        kept = f.with_cache()
        y = kept(x)
        seen = [kept is f, kept._cache_size, f._cache_size, kept.with_cache() is kept, type(kept).__name__]
        seen += [kept(x) is y, kept.inv(y) is x, kept.inv.inv is kept, f.inv is f.inv, f(x) is f(x)]
        other = x.clone()
        seen += [kept(other) is y, kept(x) is y]
        return [*seen, kept.inv.with_cache(0)._cache_size]

    check(name, ask, must=False, grads=False)


def test_equality() -> None:
    """All against all: equal where torch's are."""

    def story(lib: Any) -> list:
        made = [make(lib.distributions, Tensors(lib, "float32")) for make, _ in WAYS.values()]
        again = [make(lib.distributions, Tensors(lib, "float32")) for make, _ in WAYS.values()]
        return [[attempt(lambda a=a, b=b: (a == b, a != b)).value for b in again] for a in made]

    mine, its = story(L), story(torch)
    for a, row, its_row in zip(WAYS, mine, its, strict=True):
        for b, equal, its_equal in zip(WAYS, row, its_row, strict=True):
            assert equal == its_equal, (a, b)


@pytest.mark.parametrize("name", [name for name in WAYS if name != "distribution function"])
def test_copies(name: str) -> None:
    """Copies map as the first one does, inverses included."""
    make, values = WAYS[name]
    t = Tensors(L, "float32").fixed_only()
    f, x = make(L.distributions, t), t(values)
    y, text = f(x), repr(f)
    _ = f.inv
    for other in (copy.deepcopy(f), pickle.loads(pickle.dumps(f)), pickle.loads(pickle.dumps(f.inv)).inv):
        assert repr(other) == text
        assert L.equal(other(x), y)
        assert L.equal(other.inv(y), f.inv(y))


BAD: list[Make] = [
    lambda D, t: D.ExpTransform(cache_size=2),
    lambda D, t: D.ReshapeTransform((2,), (3,)),
    lambda D, t: D.CatTransform([D.ExpTransform(), 3]),
    lambda D, t: D.StackTransform([3]),
    lambda D, t: D.CatTransform([D.ExpTransform()], lengths=[1, 2]),
    lambda D, t: D.CatTransform([D.ExpTransform()], dim=3)(t(NUMBERS)),
    lambda D, t: D.CatTransform([D.ExpTransform()], dim=0)(t(NUMBERS)),
    lambda D, t: D.CatTransform([D.ExpTransform()], dim=0).inv(t(NUMBERS)),
    lambda D, t: D.CatTransform([D.ExpTransform()] * 2, dim=0).log_abs_det_jacobian(t(NUMBERS), t([1.0])),
    lambda D, t: D.CatTransform([D.ExpTransform()] * 2, dim=0).log_abs_det_jacobian(t([1.0]), t(NUMBERS)),
    lambda D, t: D.StackTransform([D.ExpTransform()], dim=3)(t(NUMBERS)),
    lambda D, t: D.StackTransform([D.ExpTransform()], dim=0)(t(NUMBERS)),
    lambda D, t: D.StackTransform([D.ExpTransform()], dim=0).inv(t(NUMBERS)),
    lambda D, t: D.StackTransform([D.ExpTransform()] * 2, dim=0).log_abs_det_jacobian(t(NUMBERS), t([1.0])),
    lambda D, t: D.PowerTransform("2"),
    lambda D, t: D.Transform()(t(NUMBERS)),
    lambda D, t: D.Transform().inv(t(NUMBERS)),
    lambda D, t: D.Transform().sign,
    lambda D, t: D.Transform().log_abs_det_jacobian(t(NUMBERS), t(NUMBERS)),
    lambda D, t: D.StickBreakingTransform().event_dim + D.CorrCholeskyTransform().event_dim,
]


@pytest.mark.parametrize("i", range(len(BAD)))
def test_refusals(i: int) -> None:
    assert attempt(BAD[i], torch.distributions, Tensors(torch, "float32")).error is not None
    agree(EXACT, BAD[i], lambda made, t: "made", "float32")


def test_one_of_ones_own() -> None:
    """A subclass with `_call` and `_inverse` has all the rest; one with its own `__init__` says how to cache."""

    def story(lib: Any) -> list:
        D = lib.distributions

        class Twice(D.Transform):
            domain = codomain = D.constraints.real
            bijective = True

            def _call(self, x: Any) -> Any:
                return 2 * x

            def _inverse(self, y: Any) -> Any:
                return y / 2

            def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
                return lib.full_like(x, 0.6931472)

        class Times(Twice):
            def __init__(self, factor: float, cache_size: int = 0) -> None:
                super().__init__(cache_size=cache_size)
                self.factor = factor

        d = D.TransformedDistribution(D.Normal(lib.zeros(2), 1.0), [Twice(), D.ExpTransform()])
        value = lib.tensor([0.5, 2.0])
        seen = [
            repr(Twice()),
            Twice().with_cache()._cache_size,
            Twice() == Twice(),
            Twice().inv(value).tolist(),
        ]
        seen.append(np.round(d.log_prob(value).tolist(), 5).tolist())
        return [*seen, attempt(lambda: Times(3.0).with_cache()).sentence.split(".")[-2:], repr(d)]

    assert repr(story(L)) == renamed(repr(story(torch)))
