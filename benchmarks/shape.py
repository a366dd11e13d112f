"""Shapes: views that should cost nothing, and the copies that must be made."""

from benchmarks.rows import row

SIDE = 1000


@row("shape")
def transpose(lib):
    x = lib.rand(SIDE, SIDE)
    return lambda: x.transpose(0, 1)


@row("shape")
def permute(lib):
    x = lib.rand(10, 100, SIDE)
    return lambda: x.permute(2, 0, 1)


@row("shape")
def reshape_view(lib):
    x = lib.rand(SIDE, SIDE)
    return lambda: x.reshape(10, 100, SIDE)


@row("shape")
def expand(lib):
    x = lib.rand(SIDE, 1)
    return lambda: x.expand(SIDE, SIDE)


@row("shape")
def chunk(lib):
    x = lib.rand(SIDE, SIDE)
    return lambda: x.chunk(4, dim=1)


@row("shape")
def contiguous_transposed(lib):
    x = lib.rand(SIDE, SIDE).transpose(0, 1)
    return lambda: x.contiguous()


@row("shape")
def cat(lib):
    x, y = lib.rand(SIDE, SIDE), lib.rand(SIDE, SIDE)
    return lambda: lib.cat([x, y], dim=1)


@row("shape")
def stack(lib):
    x, y = lib.rand(SIDE, SIDE), lib.rand(SIDE, SIDE)
    return lambda: lib.stack([x, y])


@row("shape")
def cat_small(lib):
    parts = [lib.rand(4) for _ in range(8)]
    return lambda: lib.cat(parts)


@row("shape")
def stack_small(lib):
    parts = [lib.rand(4) for _ in range(8)]
    return lambda: lib.stack(parts)


@row("shape")
def stack_scalars(lib):
    parts = list(lib.rand(16).unbind())
    return lambda: lib.stack(parts)


@row("shape")
def views_forward_backward(lib):
    x = lib.rand(100, 100, requires_grad=True)
    g = lib.ones(100, 100)

    def run():
        x.grad = None
        x.transpose(0, 1).reshape(10, 10, 100).permute(2, 1, 0).reshape(100, 100).backward(g)

    return run
