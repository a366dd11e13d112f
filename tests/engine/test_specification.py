"""`Pass.steps` against the twenty lines that say what it computes, on random graphs, bit for bit."""

import random

import numpy as np
import pytest

import vistorch as L
from vistorch.engine.backward import specification
from vistorch.engine.backward.backward_pass import Pass, drain, root_of
from vistorch.engine.base.numpy_warnings import without_warnings
from vistorch.engine.core.graph import leaf_of

DTYPES = (L.float32, L.float32, L.float64, L.bfloat16, L.float16, L.complex64)
SHAPES = ((), (3,), (1, 3), (4, 3), (4, 1), (2, 4, 3), (1, 1, 3))


class Twice(L.autograd.Function):
    """A node with a `run` of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2, x + 1

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return g * 2 + h * x


def several(r, x, y):
    """An op with several outputs, of which some stay unused."""
    if x.ndim and x.shape[-1] > 1:
        outs = r.choice((lambda: x.unbind(-1), lambda: x.chunk(2, -1), lambda: x.split(1, -1)))()
        return r.choice(outs) * r.choice(outs) if r.random() < 0.6 else r.choice(outs)
    return sum(r.sample(Twice.apply(x), r.choice((1, 2))))


def written(r, x, y):
    """A write through a view."""
    z = x * 1
    if z.ndim and z.shape[0] > 1:
        z[1:] *= z[:1].detach() + 2
        z[0].add_(1)
    else:
        z.mul_(3)
    return z


def matrix(r, x, y):
    """A product of matrices, or of a matrix and itself."""
    return x @ x.transpose(-1, -2) if x.ndim > 1 else x.reshape(-1, 1) @ x.reshape(1, -1)


OPS = (
    lambda r, x, y: x * y,
    lambda r, x, y: x + y,
    lambda r, x, y: x - y * 2,
    lambda r, x, y: x / (y * y.conj() + 1.5),
    lambda r, x, y: x * x,
    lambda r, x, y: x + x,
    lambda r, x, y: (x * 0.2).exp(),
    lambda r, x, y: x.tanh() if not x.is_complex() else x.conj(),
    lambda r, x, y: x.sigmoid() if not x.is_complex() else x.abs(),
    lambda r, x, y: x**2,
    lambda r, x, y: 2 - x,
    lambda r, x, y: x.sum(-1, keepdim=True) if x.ndim else x.sum(),
    lambda r, x, y: x.mean(),
    lambda r, x, y: x.expand(2, *x.shape).contiguous() if x.ndim < 3 else x[0],
    lambda r, x, y: x.transpose(0, -1).contiguous() if x.ndim else x[None],
    lambda r, x, y: x[..., :1] * y if x.ndim else x * y,
    lambda r, x, y: x[[0, -1, 0]] if x.ndim else x,
    lambda r, x, y: L.cat([x, x * 2]) if x.ndim else L.stack([x, x]),
    lambda r, x, y: L.where(x.abs() > 0.5, x, x * 2),
    lambda r, x, y: x.to(r.choice((L.float32, L.float64))) if not x.is_complex() else x,
    lambda r, x, y: x.cumsum(0) if x.ndim else x,
    lambda r, x, y: x.softmax(-1) if x.ndim and not x.is_complex() else x,
    lambda r, x, y: x.max(0)[0] if x.ndim and not x.is_complex() else x,
    lambda r, x, y: L.addcmul(x, x, x, value=0.5),
    several,
    several,
    written,
    matrix,
)


def graph(seed):
    """Leaves, and outputs with history, of a random program; both depend on the seed alone."""
    r = random.Random(seed)
    L.manual_seed(seed)
    kind = r.choice(DTYPES)
    leaves = [L.randn(r.choice(SHAPES), dtype=kind, requires_grad=True) for _ in range(r.randint(1, 4))]
    pool = list(leaves)
    for _ in range(r.randint(3, 14)):
        x, y = r.choice(pool[-4:]), r.choice(pool)
        try:
            z = r.choice(OPS)(r, x, y)
        except (RuntimeError, IndexError):  # shapes that do not fit
            continue
        if z.numel() <= 200:
            pool.append(z)
    made = [t for t in pool if t.grad_fn is not None]
    return leaves, r.sample(made, min(len(made), r.randint(1, 3)))


def same(found, expected):
    return (
        found.dtype == expected.dtype
        and found.shape == expected.shape
        and np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(expected).tobytes()
    )


def specified(leaves, roots, grads):
    with without_warnings(), L.no_grad():
        found = specification.gradients(roots, [g.copy() for g in grads])
    return [found.get(leaf) for leaf in leaves]


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_a_pass_computes_what_is_specified(first):
    reached = 0
    for seed in range(first, first + 100):
        leaves, outs = graph(seed)
        if not outs:
            continue
        roots = list(dict.fromkeys(root_of(t, 0) for t in outs))
        grads = [L.randn(root.shape, dtype=L.engine.base.dtypes.of(root.dtype))._data for root in roots]
        expected = specified(leaves, roots, grads)
        for options in (
            {"accumulate": False, "targets": [leaf_of(t) for t in leaves], "retain_graph": True},
            {"journal": True},  # as the debugger runs it
            {"retain_graph": True},
            {},
        ):
            for t in leaves:
                t.grad = None
            run = Pass(roots, [g.copy() for g in grads], **options)
            drain(run)
            for t, asked in zip(leaves, expected, strict=True):
                found = run.caught.get(leaf_of(t)) if options.get("accumulate") is False else t.grad
                found = found._data if isinstance(found, L.Tensor) else found
                assert (found is None) == (asked is None), (seed, options)
                assert found is None or same(found, asked), (seed, options, found, asked)
                reached += found is not None
    assert reached > 400
