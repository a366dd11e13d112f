"""Making tensors: from Python values, filled, and random."""

from benchmarks.rows import row

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
def randint(lib):
    return lambda: lib.randint(0, 1000, (SIZE,))


@row("creation")
def randperm(lib):
    return lambda: lib.randperm(100_000)


@row("creation")
def bernoulli(lib):
    p = lib.full((SIZE,), 0.5)
    return lambda: lib.bernoulli(p)
