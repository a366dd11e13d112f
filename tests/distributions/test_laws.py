"""Every distribution against torch's, from its record."""

import copy
import inspect
import pickle
from typing import Any

import pytest

from tests.distributions.compare import agree
from tests.distributions.laws import LAWS
from tests.distributions.record import Law, Make, Tensors, column
from tests.ops.library import L, attempt, torch

BASES = {"Distribution", "ExponentialFamily"}


def cases(template: str, typed: bool = True) -> pytest.MarkDecorator:
    """Parametrise a template by all ways to make all distributions, in all their types."""
    found = [
        pytest.param(law, make, dtype, id=f"{law.name}-{i}-{dtype}")
        for law in LAWS
        if template not in law.differs
        for i, make in enumerate(law.builds)
        for dtype in (law.dtypes if typed else law.dtypes[:1])
    ]
    return pytest.mark.parametrize("law, make, dtype", found)


def test_every_class_has_a_record() -> None:
    module = torch.distributions
    classes = {
        name
        for name in module.__all__
        if inspect.isclass(getattr(module, name)) and issubclass(getattr(module, name), module.Distribution)
    }
    assert {law.name for law in LAWS} == classes - BASES


def test_the_module_has_the_names_of_torch() -> None:
    assert sorted(L.distributions.__all__) == sorted(torch.distributions.__all__)
    missing = [name for name in torch.distributions.__all__ if not hasattr(L.distributions, name)]
    assert missing == []


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_signatures(law: Law) -> None:
    """The names and defaults of the arguments, and the bases that people ask about."""
    mine, its = (getattr(lib.distributions, law.name) for lib in (L, torch))
    for name in ("__init__", "expand", "sample", "rsample", "log_prob", "enumerate_support", "entropy"):
        a, b = (
            [
                (p.name, repr(p.default) if p.name != "sample_shape" else "")
                for p in inspect.signature(getattr(cls, name)).parameters.values()
            ]
            for cls in (mine, its)
        )
        assert a == b, name
    for base in ("ExponentialFamily", "TransformedDistribution", "Gamma", "OneHotCategorical"):
        mine_is, its_is = (
            issubclass(c, getattr(lib.distributions, base)) for c, lib in ((mine, L), (its, torch))
        )
        assert mine_is == its_is, base


@cases("description", typed=False)
def test_description(law: Law, make: Make, dtype: str) -> None:
    """Text, shapes, constraints and what it offers."""

    def ask(d: Any, t: Tensors) -> list:
        return [
            repr(d),
            d.batch_shape,
            d.event_shape,
            d.has_rsample,
            d.has_enumerate_support,
            repr(d.support),
            d.support.is_discrete,
            d.support.event_dim,
            [f"{name}: {limit!r}" for name, limit in d.arg_constraints.items()],
            [name for name in ("probs", "logits") if name in d.__dict__],
        ]

    agree(law, make, ask, dtype, grads=False)


MOMENTS = ("mean", "mode", "variance", "stddev", "entropy", "perplexity")


@pytest.mark.parametrize("what", MOMENTS)
@cases("moments")
def test_moments(law: Law, make: Make, dtype: str, what: str) -> None:
    """Moments and entropies, and their gradients."""

    def ask(d: Any, t: Tensors) -> Any:
        found = getattr(d, what)
        return found() if callable(found) else found

    agree(law, make, ask, dtype)


@pytest.mark.parametrize("what", ["log_prob", "cdf", "icdf"])
@cases("densities")
def test_densities(law: Law, make: Make, dtype: str, what: str) -> None:
    """Densities and distribution functions, and their gradients by parameters and values."""

    def ask(d: Any, t: Tensors) -> Any:
        values = column(*law.probs) if what == "icdf" else law.values
        return getattr(d, what)(t(values, grad=not law.whole))

    agree(law, make, ask, dtype, must=what == "log_prob")


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)], ids=str)
@cases("samples")
def test_samples(law: Law, make: Make, dtype: str, shape: tuple) -> None:
    """The same numbers from one seed, and as many numbers drawn."""
    agree(law, make, lambda d, t: [d.sample(shape), t.lib.rand(3)], dtype, must=True)


@cases("rsample")
def test_rsample(law: Law, make: Make, dtype: str) -> None:
    """The same numbers, with the same gradients."""
    agree(law, make, lambda d, t: d.rsample(), dtype, slopes=True)


@cases("rsamples")
def test_rsamples(law: Law, make: Make, dtype: str) -> None:
    agree(law, make, lambda d, t: d.rsample((2, 2)), dtype, slopes=True)


@cases("extra", typed=False)
def test_own_attributes(law: Law, make: Make, dtype: str) -> None:
    """What only this distribution has."""
    agree(law, make, lambda d, t: [type(d).__name__, *(extra(d) for extra in law.extra)], dtype)


@cases("expand", typed=False)
def test_expand(law: Law, make: Make, dtype: str) -> None:
    """A larger batch: shapes, text, parameters without copies, samples, densities."""

    def ask(d: Any, t: Tensors) -> list:
        wide = d.expand((2, *d.batch_shape))
        again = wide.expand(t.lib.Size((3, *wide.batch_shape)))
        return [
            repr(wide),
            wide.batch_shape,
            wide.event_shape,
            wide._validate_args,
            type(wide).__name__,
            wide.sample((2,)),
            wide.log_prob(wide.sample()),
            repr(again),
            again.batch_shape,
        ]

    agree(law, make, ask, dtype, must=True)
    agree(law, make, lambda d, t: d.expand((2, *d.batch_shape)).mean, dtype)


@pytest.mark.parametrize("expand", [True, False])
@cases("enumerate_support", typed=False)
def test_enumerate_support(law: Law, make: Make, dtype: str, expand: bool) -> None:
    agree(law, make, lambda d, t: d.enumerate_support(expand), dtype)


@pytest.mark.parametrize(
    "law, make",
    [pytest.param(law, bad, id=f"{law.name}-{i}") for law in LAWS for i, bad in enumerate(law.bad)],
)
def test_bad_parameters(law: Law, make: Make) -> None:
    """Refused, in torch's words."""
    assert attempt(make, torch.distributions, Tensors(torch, "float32")).error is not None
    agree(law, make, lambda d, t: "made", "float32")


@pytest.mark.parametrize(
    "law, value",
    [pytest.param(law, v, id=f"{law.name}-{i}") for law in LAWS for i, v in enumerate(law.outside)],
)
def test_bad_values(law: Law, value: Any) -> None:
    """Refused in torch's words where checks are on; answered where they are off."""
    refused = attempt(lambda: law.builds[0](torch.distributions, Tensors(torch, "float32")).log_prob(value))
    assert refused.error is not None
    for make in law.builds:
        agree(law, make, lambda d, t: d.log_prob(t.fixed(value)), "float32")
    agree(law, law.builds[0], lambda d, t: d.log_prob("no tensor"), "float32")

    def unchecked(d: Any, t: Tensors) -> Any:
        d._validate_args = False
        return d.log_prob(t.fixed(value))

    agree(law, law.builds[0], unchecked, "float32", grads=False)


@cases("pickle", typed=False)
def test_pickle_and_deepcopy(law: Law, make: Make, dtype: str) -> None:
    """Copies answer as the first one does."""
    d = make(L.distributions, Tensors(L, dtype).fixed_only())
    value, text = attempt(d.sample).value, repr(d)
    for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert repr(other) == text
        assert other.batch_shape == d.batch_shape
        assert other.event_shape == d.event_shape
        assert L.equal(other.log_prob(value), d.log_prob(value))
