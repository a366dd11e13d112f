"""Making tensors: from Python values, filled, and random."""

from benchmarks.rows import add, row

SIZE = 1_000_000


@row("creation")
def tensor_from_list(lib):
    values = [float(i) for i in range(10)]
    return lambda: lib.tensor(values)


@row("creation")
def tensor_from_nested_list(lib):
    values = [[float(i + j) for j in range(100)] for i in range(100)]
    return lambda: lib.tensor(values)


@row("creation")
def zeros_small(lib):
    return lambda: lib.zeros(10)


@row("creation")
def zeros(lib):
    return lambda: lib.zeros(SIZE)


@row("creation")
def arange(lib):
    return lambda: lib.arange(SIZE)


@row("creation")
def rand_small(lib):
    return lambda: lib.rand(10)


@row("creation")
def rand(lib):
    return lambda: lib.rand(SIZE)


@row("creation")
def randn(lib):
    return lambda: lib.randn(SIZE)


@row("creation")
def randn_small(lib):
    return lambda: lib.randn(4)


@row("creation")
def randn_of_a_layer(lib):
    return lambda: lib.randn(100)


@row("creation")
def randint_small(lib):
    return lambda: lib.randint(0, 10, (4,))


@row("creation")
def randint(lib):
    return lambda: lib.randint(0, 1000, (SIZE,))


@row("creation")
def randperm(lib):
    return lambda: lib.randperm(100_000)


@row("creation")
def randperm_small(lib):
    return lambda: lib.randperm(1000)


def draws(make):
    """Sample a distribution of 20,000 numbers again and again."""
    return lambda lib: make(lib, lib.distributions).sample


def shapes(lib, low, high):
    """Parameters from one bound to the other."""
    return lib.linspace(low, high, 20_000)


GAMMAS = {
    "gamma": lambda lib, D: D.Gamma(lib.full((20_000,), 2.5), 1.0),
    "gamma, other shapes": lambda lib, D: D.Gamma(shapes(lib, 1.0, 10.0), 1.0),
    "gamma, shapes below 1": lambda lib, D: D.Gamma(lib.full((20_000,), 0.5), 1.0),
    "beta": lambda lib, D: D.Beta(lib.full((20_000,), 2.5), 2.5 * lib.ones(20_000)),
}
for name, make in GAMMAS.items():
    add("creation", name, draws(make))


@row("creation")
def bernoulli(lib):
    p = lib.full((SIZE,), 0.5)
    return lambda: lib.bernoulli(p)
