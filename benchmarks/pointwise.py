"""Pointwise ops on a million floats: memory traffic and vector arithmetic."""

from benchmarks.rows import row

SIZE = 1_000_000


@row("pointwise", memory=True)
def add(lib):
    x, y = lib.rand(SIZE), lib.rand(SIZE)
    return lambda: x + y


@row("pointwise")
def mul_in_place(lib):
    x, y = lib.ones(SIZE), lib.ones(SIZE)
    return lambda: x.mul_(y)


@row("pointwise")
def exp(lib):
    x = lib.rand(SIZE)
    return lambda: x.exp()


@row("pointwise")
def tanh(lib):
    x = lib.rand(SIZE)
    return lambda: x.tanh()


@row("pointwise")
def clamp(lib):
    x = lib.rand(SIZE)
    return lambda: x.clamp(min=0.5)


@row("pointwise")
def broadcast_add(lib):
    x, y = lib.rand(1000, 1000), lib.rand(1000)
    return lambda: x + y


@row("pointwise")
def compare_and_where(lib):
    x, y = lib.rand(SIZE), lib.rand(SIZE)
    return lambda: lib.where(x > y, x, y)


@row("pointwise", memory=True)
def mul_tanh_forward_backward(lib):
    x, y = lib.rand(SIZE, requires_grad=True), lib.rand(SIZE, requires_grad=True)
    g = lib.ones(SIZE)

    def run():
        x.grad = y.grad = None
        (x * y).tanh().backward(g)

    return run
