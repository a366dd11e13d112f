"""A graph of 10,000 nodes: depth must cost time only in proportion, and no recursion."""

from benchmarks.rows import row

NODES = 10_000


def deep(lib, x):
    """Record 10,000 nodes in a row."""
    w = lib.full((10,), 0.9999)
    y = x
    for _ in range(NODES):
        y = y * w
    return y


@row("graph", budget=1.0)
def backward_10000_nodes(lib):
    x = lib.ones(10).requires_grad_(True)
    y = deep(lib, x)
    g = lib.ones(10)

    def run():
        x.grad = None
        y.backward(g, retain_graph=True)

    return run


@row("graph", budget=1.0, memory=True)
def record_backward_free_10000_nodes(lib):
    x = lib.ones(10).requires_grad_(True)
    g = lib.ones(10)

    def run():
        x.grad = None
        deep(lib, x).backward(g)

    return run
