"""What all distributions share, compared in both libraries: checks, subclasses, and the module's `utils`."""

import warnings
from typing import Any

import pytest

from tests.distributions.compare import agree
from tests.distributions.record import Law
from tests.ops.library import L, attempt, renamed, torch

PLAIN = Law("base", [], [])


def same(story: Any) -> None:
    """The story ends alike in both libraries, to the character."""
    mine, its = story(L), story(torch)
    assert its, "a story that reports nothing tests nothing"
    assert [repr(m) for m in mine] == [renamed(repr(i)) for i in its]


def test_bare() -> None:
    """A distribution that offers nothing."""

    def story(lib: Any) -> list:
        D = lib.distributions
        outcome = attempt(D.Distribution)
        seen: list = [outcome.warned, outcome.error]
        d = D.Distribution(validate_args=False)
        seen += [d.batch_shape, d.event_shape, d.has_rsample, d.has_enumerate_support]
        for name in ("mean", "variance", "stddev", "support", "arg_constraints"):
            seen.append(attempt(lambda name=name: getattr(d, name)).error)
        seen.append(attempt(lambda: d.mode).sentence)
        for name in ("log_prob", "cdf", "icdf"):
            seen.append(attempt(getattr(d, name), lib.zeros(1)).error)
        for name in ("sample", "rsample", "entropy", "perplexity", "enumerate_support"):
            seen.append(attempt(getattr(d, name)).error)
        return [*seen, attempt(d.expand, (2,)).error, attempt(lambda: repr(d)).error]

    same(story)


def test_ones_own() -> None:
    """A subclass with its own formulas is checked, shown and expanded as the library's are."""

    def story(lib: Any) -> list:
        D = lib.distributions

        class Coin(D.Distribution):
            arg_constraints = {"p": D.constraints.unit_interval}  # noqa: RUF012
            support = D.constraints.boolean

            def __init__(self, p: Any, validate_args: bool | None = None) -> None:
                (self.p,) = D.utils.broadcast_all(p)
                super().__init__(self.p.shape, validate_args=validate_args)

            def log_prob(self, value: Any) -> Any:
                if self._validate_args:
                    self._validate_sample(value)
                return lib.where(value == 1, self.p, 1 - self.p).log()

        class Silent(Coin):
            support = property(D.Distribution.support.fget)

        seen: list = [repr(Coin(0.5)), repr(Coin(lib.ones(2)))]
        seen += [attempt(Coin, 1.5).error, attempt(Coin(0.5).log_prob, lib.tensor(0.3)).error]
        seen += [attempt(Coin(lib.ones(2)).log_prob, lib.ones(3)).error, attempt(Coin(0.5).log_prob, 1).error]
        seen += [Coin(0.5).log_prob(lib.ones(1)), Coin(1.5, validate_args=False).p]
        return [*seen, len(attempt(Silent(0.5).log_prob, lib.ones(1)).warned)]

    same(story)


def test_subclasses_of_families() -> None:
    """`expand` keeps the class; one with an `__init__` of its own has to expand itself."""

    def story(lib: Any) -> list:
        D = lib.distributions

        class Named(D.Normal):
            pass

        class Standard(D.Normal):
            def __init__(self) -> None:
                super().__init__(0.0, 1.0)

        class Expanding(D.Normal):
            def __init__(self, loc: Any) -> None:
                self.extra = 3
                super().__init__(loc, 1.0)

            def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
                new = self._get_checked_instance(Expanding, _instance)
                new.extra = self.extra
                return super().expand(batch_shape, _instance=new)

        seen: list = [type(Named(0.0, 1.0).expand((2,))).__name__, attempt(Standard().expand, (2,)).error]
        wide = Expanding(0.0).expand((2,))
        seen += [type(wide).__name__, wide.extra, wide.batch_shape, wide]
        seen += [D.Normal(0.0, 1.0).expand((2, 3)).loc.stride(), D.Normal(0.0, 1.0).expand([2]).batch_shape]
        return [*seen, attempt(D.Normal(lib.zeros(2), 1.0).expand, (3,)).error is None]

    same(story)


def test_checks_on_and_off() -> None:
    def story(lib: Any) -> list:
        D = lib.distributions
        seen: list = [
            D.Distribution._validate_args,
            attempt(D.Distribution.set_default_validate_args, 3).error,
        ]
        try:
            D.Distribution.set_default_validate_args(False)
            seen += [
                D.Normal(0.0, -1.0),
                D.Normal(0.0, 1.0)._validate_args,
                attempt(D.Normal, 0.0, -1.0, True).error,
            ]
        finally:
            D.Distribution.set_default_validate_args(True)
        seen.append(attempt(D.Normal, 0.0, -1.0).error)
        off = D.Normal(0.0, -1.0, validate_args=False)
        return [*seen, off.log_prob(lib.tensor(0.5)), off.expand((2,))._validate_args]

    same(story)


def test_sample_n() -> None:
    def story(lib: Any) -> list:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            shape = lib.distributions.Normal(lib.zeros(3), 1.0).sample_n(2).shape
        return [shape, [(w.category.__name__, str(w.message)) for w in caught]]

    same(story)


def test_shapes_of_samples() -> None:
    """Any way to write a shape."""

    def story(lib: Any) -> list:
        D = lib.distributions
        d = D.Normal(lib.zeros(3), 1.0)
        shapes = ((), [2], (2, 1), lib.Size([4]))
        seen: list = [d.sample(shape).shape for shape in shapes] + [
            d.rsample(shape).shape for shape in shapes
        ]
        seen += [attempt(d.sample, 3).error is not None, d.sample().requires_grad, d._extended_shape((5,))]
        w = lib.ones(3, requires_grad=True)
        seen += [D.Normal(w, 1.0).sample().requires_grad, D.Normal(w, 1.0).rsample().requires_grad]
        return seen

    same(story)


def test_types() -> None:
    """Numbers are of the default type; a tensor among them decides."""

    def story(lib: Any) -> list:
        D = lib.distributions
        seen: list = [D.Normal(0, 1).loc.dtype, D.Normal(0, lib.ones(1, dtype=lib.float64)).sample().dtype]
        seen += [D.Bernoulli(lib.tensor(0.5, dtype=lib.float64)).sample().dtype, D.Uniform(0, 1).low.dtype]
        seen += [D.Categorical(lib.ones(2)).sample().dtype, D.OneHotCategorical(lib.ones(2)).sample().dtype]
        lib.set_default_dtype(lib.float64)
        try:
            seen += [
                D.Normal(0, 1).loc.dtype,
                D.Beta(1, 2).concentration1.dtype,
                D.Gamma(1, 2).sample().dtype,
            ]
        finally:
            lib.set_default_dtype(lib.float32)
        return seen

    same(story)


def test_policy_gradient() -> None:
    """The lines of a REINFORCE tutorial."""

    def story(lib: Any) -> list:
        lib.manual_seed(1)
        layer = lib.nn.Linear(4, 2)
        for parameter in layer.parameters():
            lib.nn.init.constant_(parameter, 0.3)
        chance = lib.softmax(layer(lib.ones(5, 4)) * lib.tensor([1.0, 2.0]), dim=-1)
        m = lib.distributions.Categorical(chance)
        action = m.sample()
        (-m.log_prob(action) * lib.arange(5.0) - 0.1 * m.entropy()).mean().backward()
        return [action, [round(float(g), 5) for g in layer.bias.grad]]

    same(story)


def test_broadcast_all() -> None:
    def story(lib: Any) -> list:
        both = lib.distributions.utils.broadcast_all
        seen: list = [
            both(1, 2.5),
            both(lib.zeros(2, 1), lib.ones(3), 1),
            both(True, lib.zeros(1, dtype=lib.float64)),
        ]
        return [*seen, attempt(both, "1", 2).error, attempt(both, lib.zeros(2), lib.zeros(3)).error]

    same(story)


def test_probabilities_and_logits() -> None:
    def story(lib: Any) -> list:
        utils = lib.distributions.utils
        p = lib.tensor([0.0, 0.25, 0.75, 1.0], dtype=lib.float64)
        seen: list = [
            utils.probs_to_logits(p),
            utils.probs_to_logits(p, is_binary=True),
            utils.clamp_probs(p),
        ]
        return [*seen, utils.logits_to_probs(p), utils.logits_to_probs(p, is_binary=True)]

    same(story)


def test_triangles_as_vectors() -> None:
    def story(lib: Any) -> list:
        utils = lib.distributions.utils
        mat = lib.arange(18.0).reshape(2, 3, 3)
        seen: list = []
        for diag in (-2, -1, 0, 1, 2):
            vec = utils.tril_matrix_to_vec(mat, diag)
            seen += [vec, attempt(utils.vec_to_tril_matrix, vec, diag).value]
        seen += [attempt(utils.tril_matrix_to_vec, mat, diag).error for diag in (-4, 3)]
        return [*seen, attempt(utils.vec_to_tril_matrix, lib.ones(5)).error]

    same(story)


def test_lazy_property() -> None:
    """Made once, with gradients even where they are off, and named as the method is."""

    def story(lib: Any) -> list:
        class Twice:
            made = 0

            def __init__(self, x: Any) -> None:
                self.x = x

            @lib.distributions.utils.lazy_property
            def double(self) -> Any:
                """Two of them."""
                self.made += 1
                return 2 * self.x

        t = Twice(lib.ones(1, requires_grad=True))
        with lib.no_grad():
            seen: list = [t.double.requires_grad]
        seen += [t.double is t.double, t.made, "double" in t.__dict__]
        return [*seen, isinstance(Twice.double, property), attempt(lambda: Twice.double.__doc__).value]

    same(story)


@pytest.mark.parametrize("name", ["Normal", "Gamma", "Bernoulli", "Exponential"])
def test_entropy_of_exponential_families(name: str) -> None:
    """What the base computes from the log-normalizer is what the closed form says."""
    D = L.distributions
    ways = {
        "Normal": lambda: D.Normal(L.tensor([0.5, -1.0]), L.tensor([1.0, 2.5])),
        "Gamma": lambda: D.Gamma(L.tensor([0.5, 2.0]), L.tensor([1.0, 2.5])),
        "Bernoulli": lambda: D.Bernoulli(L.tensor([0.2, 0.7])),
        "Exponential": lambda: D.Exponential(L.tensor([0.2, 0.7])),
    }
    d = ways[name]()
    its = getattr(torch.distributions, name)
    theirs = its(
        *(torch.tensor(getattr(d, limit).tolist()) for limit in d.arg_constraints if limit != "logits")
    )
    a, b = D.ExponentialFamily._entropy(d), torch.distributions.ExponentialFamily.entropy(theirs)
    assert L.allclose(a, L.tensor(b.tolist()), atol=1e-5)


def test_unchecked_parameters_stay_differentiable() -> None:
    """A second derivative through `log_prob`."""

    def ask(d: Any, t: Any) -> Any:
        (slope,) = t.lib.autograd.grad(d.log_prob(t.fixed([1.5])).sum(), [t.leaves[0]], create_graph=True)
        return slope

    for make in (
        lambda D, t: D.Normal(t([0.5]), t([1.5])),
        lambda D, t: D.Gamma(t([0.5]), t([1.5])),
        lambda D, t: D.StudentT(t([2.5]), t([1.5])),
        lambda D, t: D.LogNormal(t([0.5]), t([1.5])),
    ):
        agree(PLAIN, make, ask, "float32")
