"""What a row must at least move and multiply, counted from its ops, and what the machine can do of both.

A forward op reads its inputs and writes its outputs; an op whose result requires a gradient is counted three times,
since its backward pass does about twice as much again.
Invariant: only what is counted in ops is counted; what an op does inside is not.
"""

import time
from math import prod

REPEATS = 5


def products(rule, ins, outs):
    """The multiplications and additions of one op, 0 for what is no product."""
    name = rule.name
    shapes = [tuple(getattr(t, "shape", ())) for t in ins]
    out = tuple(outs[0].shape)
    if name in ("mm", "bmm", "mv", "dot"):
        return 2 * prod(out) * shapes[0][-1]
    if name in ("addmm", "addmv", "baddbmm", "addbmm"):
        return 2 * prod(out) * shapes[1][-1]
    if name in ("convolution", "convolution_with_bias"):
        return 2 * prod(out) * prod(shapes[1][1:])
    if name == "scaled_dot_product":
        return 4 * prod(shapes[0]) * shapes[1][-2]
    if name in ("lstm_layer", "gru_layer"):
        return 2 * prod(shapes[0][:-1]) * sum(prod(s) for s in shapes if len(s) == 2 and s[0] > s[1])
    return 0


def counted(call):
    """Bytes and flops of one call, by listening to its ops."""
    from vistorch.engine.base.events import Listener

    total = {"bytes": 0, "flops": 0}

    class Counts(Listener):
        def op(self, rule, ins, consts, outs):
            times = 3 if any(t.requires_grad for t in outs) else 1
            seen = [t for t in (*ins, *outs) if hasattr(t, "element_size")]
            if not getattr(rule, "view", False):
                total["bytes"] += times * sum(t.numel() * t.element_size() for t in seen)
            total["flops"] += times * products(rule, ins, outs)

    with Counts():
        call()
    return total


def rates(lib):
    """Bytes that are copied, and flops of products, in a second."""
    size = 1024
    a, big, target = lib.ones(size, size), lib.ones(1 << 24), lib.ones(1 << 24)
    return {
        "flops": 2 * size**3 / best(lambda: a @ a),
        "bytes": 2 * 4 * (1 << 24) / best(lambda: target.copy_(big)),
    }


def best(call):
    """The shortest of some calls, in seconds."""
    call()
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)
