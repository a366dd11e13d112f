"""Reductions of a million floats: all of them, along the contiguous axis, along the other."""

from benchmarks.rows import add, row

SIDE = 1000


def reduction(call):
    """Prepare one reduction of a square of random floats."""

    def prepare(lib):
        x = lib.rand(SIDE, SIDE)
        return lambda: call(x)

    return prepare


add("reductions", "sum", reduction(lambda x: x.sum()))
add("reductions", "sum last dim", reduction(lambda x: x.sum(dim=1)))
add("reductions", "sum first dim", reduction(lambda x: x.sum(dim=0)))
add("reductions", "mean", reduction(lambda x: x.mean()))
add("reductions", "var last dim", reduction(lambda x: x.var(dim=1)))
add("reductions", "max", reduction(lambda x: x.max()))
add("reductions", "max last dim", reduction(lambda x: x.max(dim=1)))
add("reductions", "argmax last dim", reduction(lambda x: x.argmax(dim=1)))
add("reductions", "logsumexp last dim", reduction(lambda x: x.logsumexp(dim=1)))
add("reductions", "cumsum last dim", reduction(lambda x: x.cumsum(dim=1)))


@row("reductions", memory=True)
def sum_forward_backward(lib):
    x = lib.rand(SIDE, SIDE, requires_grad=True)

    def run():
        x.grad = None
        x.sum(dim=1).sum().backward()

    return run
