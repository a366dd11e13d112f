"""Thirty ops on 10 floats, one after another, forward and backward."""

from benchmarks.rows import row

ROUNDS = 10


@row("chain", budget=1.0)
def thirty_ops(lib):
    x = (lib.arange(10, dtype=lib.float32) / 10).requires_grad_(True)
    w = lib.full((10,), 0.9)
    g = lib.ones(10)

    def run():
        x.grad = None
        y = x
        for _ in range(ROUNDS):
            y = (y * w + x).tanh()
        y.backward(g)

    return run


@row("chain", budget=1.0)
def thirty_ops_double_backward(lib):
    x = (lib.arange(10, dtype=lib.float32) / 10).requires_grad_(True)
    w = lib.full((10,), 0.9)

    def run():
        y = x
        for _ in range(ROUNDS):
            y = (y * w + x).tanh()
        (first,) = lib.autograd.grad(y.sum(), x, create_graph=True)
        lib.autograd.grad(first.sum(), x)

    return run
