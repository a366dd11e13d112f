"""Constraints and the transforms that end in them, against torch."""

from typing import Any

import pytest

from tests.distributions.compare import agree
from tests.distributions.record import Law, Make, Tensors
from tests.ops.library import L, attempt, renamed, torch

NUMBERS = [[-1.5, 0.0, 0.3], [1.0, 2.0, float("nan")]]
WHOLE = [[-1.0, 0.0, 1.0], [3.0, 5.0, 2.5]]
ROWS = [[0.2, 0.3, 0.5], [0.2, 0.3, 0.6], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [-0.5, 1.0, 0.5]]
MATRICES = [
    [[1.0, 0.0], [0.0, 1.0]],
    [[1.0, 0.0], [0.6, 0.8]],
    [[2.0, 0.5], [0.5, 1.0]],
    [[1.0, 2.0], [2.0, 1.0]],
    [[1.0, 1.0], [1.0, 1.0]],
    [[1.0, 0.3], [0.0, 1.0]],
    [[-1.0, 0.0], [0.4, 1.0]],
]
CONSTRAINTS: dict[str, tuple[Make, Any]] = {
    "boolean": (lambda c, t: c.boolean, WHOLE),
    "cat": (lambda c, t: c.cat([c.positive, c.real, c.unit_interval], -1), NUMBERS),
    "cat of lengths": (lambda c, t: c.cat([c.positive, c.real], 1, [2, 1]), NUMBERS),
    "corr_cholesky": (lambda c, t: c.corr_cholesky, MATRICES),
    "greater_than": (lambda c, t: c.greater_than(0.3), NUMBERS),
    "greater_than a tensor": (lambda c, t: c.greater_than(t.fixed([-2.0, 0.0, 0.0])), NUMBERS),
    "greater_than_eq": (lambda c, t: c.greater_than_eq(1), NUMBERS),
    "half_open_interval": (lambda c, t: c.half_open_interval(0.0, 1.0), NUMBERS),
    "independent": (lambda c, t: c.independent(c.positive, 1), NUMBERS),
    "independent of two": (lambda c, t: c.independent(c.real, 2), NUMBERS),
    "integer_interval": (lambda c, t: c.integer_interval(0, 3), WHOLE),
    "interval": (lambda c, t: c.interval(-2, 1.5), NUMBERS),
    "interval of tensors": (lambda c, t: c.interval(t.fixed([-2.0, 0.0, 0.0]), t.fixed(1.5)), NUMBERS),
    "less_than": (lambda c, t: c.less_than(1.0), NUMBERS),
    "lower_cholesky": (lambda c, t: c.lower_cholesky, MATRICES),
    "lower_triangular": (lambda c, t: c.lower_triangular, MATRICES),
    "mixture": (lambda c, t: c.MixtureSameFamilyConstraint(c.interval(t.fixed([-2.0, 0.0]), 2.0)), NUMBERS),
    "multinomial": (lambda c, t: c.multinomial(1), ROWS),
    "nonnegative": (lambda c, t: c.nonnegative, NUMBERS),
    "nonnegative_integer": (lambda c, t: c.nonnegative_integer, WHOLE),
    "one_hot": (lambda c, t: c.one_hot, ROWS),
    "positive": (lambda c, t: c.positive, NUMBERS),
    "positive_definite": (lambda c, t: c.positive_definite, [MATRICES[2], MATRICES[3]]),
    "positive_definite, not symmetric": (lambda c, t: c.positive_definite, MATRICES),
    "positive_integer": (lambda c, t: c.positive_integer, WHOLE),
    "positive_semidefinite": (lambda c, t: c.positive_semidefinite, [MATRICES[2], MATRICES[3], MATRICES[4]]),
    "positive_semidefinite, not symmetric": (lambda c, t: c.positive_semidefinite, MATRICES),
    "real": (lambda c, t: c.real, NUMBERS),
    "real_vector": (lambda c, t: c.real_vector, NUMBERS),
    "simplex": (lambda c, t: c.simplex, ROWS),
    "square": (lambda c, t: c.square, MATRICES),
    "not square": (lambda c, t: c.symmetric, NUMBERS),
    "stack": (lambda c, t: c.stack([c.positive, c.unit_interval], 0), NUMBERS),
    "stack of events": (lambda c, t: c.stack([c.real_vector, c.simplex], 0), NUMBERS),
    "symmetric": (lambda c, t: c.symmetric, MATRICES),
    "unit_interval": (lambda c, t: c.unit_interval, NUMBERS),
}
PLAIN = Law("constraint", [], [])
names = pytest.mark.parametrize("name", CONSTRAINTS)


def check(name: str, ask: Any, must: bool = True) -> None:
    """Ask about a constraint and values for it."""
    make, values = CONSTRAINTS[name]
    agree(
        PLAIN,
        lambda D, t: (make(D.constraints, t), t.fixed(values), D),
        lambda all_three, t: ask(*all_three),
        "float64",
        must=must,
        grads=False,
    )


def test_the_names_of_torch() -> None:
    assert set(L.distributions.constraints.__all__) == set(torch.distributions.constraints.__all__)
    assert {name.split()[0].strip(",") for name in CONSTRAINTS} >= (
        set(torch.distributions.constraints.__all__)
        - {"Constraint", "MixtureSameFamilyConstraint", "dependent", "dependent_property", "is_dependent"}
    )


@names
def test_check(name: str) -> None:
    check(name, lambda c, values, D: [c.check(values), c.check(values).dtype])


@names
def test_description(name: str) -> None:
    check(name, lambda c, values, D: [type(c).__name__, repr(c), c.is_discrete, c.event_dim])


@names
def test_transforms_that_end_there(name: str) -> None:
    """The registries give the same transforms, and refuse the same constraints."""
    for registry in ("biject_to", "transform_to"):

        def ask(c: Any, values: Any, D: Any, registry: str = registry) -> list:
            f = getattr(D, registry)(c)
            x = values.new_full((3, 2, 3), 0.4).cumsum(-1)
            inside = attempt(lambda: c.check(f(x)).all()).value
            return [repr(f), f(x), inside]

        check(name, ask, must=False)


def test_registering() -> None:
    def story(lib: Any) -> list:
        D = lib.distributions
        registry = D.constraint_registry.ConstraintRegistry()

        class Odd(D.constraints.Constraint):
            pass

        registry.register(Odd, lambda c: "by the class")
        seen = [registry(Odd())]

        @registry.register(D.constraints.real)
        def _factory(constraint: Any) -> str:
            return "by an instance"

        seen += [registry(D.constraints.real), attempt(registry.register, 3, lambda c: None).sentence]
        seen += [attempt(registry, D.constraints.simplex).sentence, attempt(registry, 3).sentence]
        return [*seen, attempt(lambda: repr(Odd().check(1))).sentence, repr(Odd())]

    assert story(L) == [renamed(text) for text in story(torch)]


def test_dependent() -> None:
    """A constraint that only an instance knows."""

    def story(lib: Any) -> list:
        c = lib.distributions.constraints

        class Ball:
            radius = 2.0

            @c.dependent_property(is_discrete=False, event_dim=1)
            def support(self) -> Any:
                return c.interval(-self.radius, self.radius)

            @c.dependent_property
            def other(self) -> Any:
                return c.real

        seen: list = [repr(Ball().support), c.is_dependent(Ball.support), Ball.support.event_dim]
        seen += [Ball.support.is_discrete, attempt(lambda: Ball.other.event_dim).sentence]
        seen += [
            attempt(lambda: Ball.other.is_discrete).sentence,
            attempt(lambda: c.dependent.check(3)).sentence,
        ]
        seen += [
            c.dependent(event_dim=3).event_dim,
            attempt(lambda: c.dependent(event_dim=3).is_discrete).sentence,
        ]
        seen += [c.is_dependent(c.dependent), c.is_dependent(c.real), repr(c.dependent)]
        return seen

    assert story(L) == story(torch)


BAD: list[Make] = [
    lambda c, t: c.independent(3, 1),
    lambda c, t: c.independent(c.real, 1.0),
    lambda c, t: c.independent(c.real, -1),
    lambda c, t: c.independent(c.real, 3).check(t(NUMBERS)),
    lambda c, t: c.MixtureSameFamilyConstraint(3),
    lambda c, t: c.cat([3]),
    lambda c, t: c.cat([c.real], lengths=[1, 2]),
    lambda c, t: c.cat([c.real], 5).check(t(NUMBERS)),
    lambda c, t: c.cat([c.real] * 4, 1).check(t(NUMBERS)),
    lambda c, t: c.stack([3]),
    lambda c, t: c.stack([c.real], 5).check(t(NUMBERS)),
    lambda c, t: c.Constraint().check(t(NUMBERS)),
]


@pytest.mark.parametrize("i", range(len(BAD)))
def test_refusals(i: int) -> None:
    assert attempt(BAD[i], torch.distributions.constraints, Tensors(torch, "float32")).error is not None
    agree(PLAIN, lambda D, t: BAD[i](D.constraints, t), lambda made, t: "made", "float32")
