"""Random graphs with everything that makes a backward pass hard, the same one for the same seed.

Invariant: two cases of one seed are equal in every bit and share no tensor.
"""

import random
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import vistorch as L


class Twice(L.autograd.Function):
    """Two outputs, of which a graph may use one."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x.sin()

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y + h * x.cos(), g * x


class Halved(L.autograd.Function):
    """One output, nothing saved."""

    @staticmethod
    def forward(ctx, x):
        return x * 0.5

    @staticmethod
    def backward(ctx, g):
        return g * 0.5


def written(x, y):
    """A copy of `x` with one row overwritten and another scaled, through views."""
    z = x.clone()
    z[0].mul_(1.5)
    z[-1] = y.sum().tanh()
    return z


def unbound(x, y):
    """The product of all pieces but the last, which nobody uses."""
    pieces = x.unbind(0)
    return pieces[0].sin() * pieces[0] if len(pieces) < 3 else pieces[0] * pieces[1]


def divided(x, y):
    """Pieces of different length, one of them twice."""
    first, rest = x.split([1, x.shape[0] - 1])
    return first.sum() * rest + rest


ANY = (
    lambda x, y: x * x,
    lambda x, y: x.sin(),
    lambda x, y: (x * 0.5).exp(),
    lambda x, y: x.sum(),
    lambda x, y: x.float().double(),
    lambda x, y: x + 1.5,
    lambda x, y: 2 - x,
    lambda x, y: Halved.apply(x),
    lambda x, y: Twice.apply(x, x + 1)[0],
    lambda x, y: sum(Twice.apply(x, x * 2)),
    lambda x, y: x.view(-1),
    lambda x, y: x * y.sum(),
    lambda x, y: x.detach() * x,
)
DIMS = (
    written,
    unbound,
    divided,
    lambda x, y: x[0],
    lambda x, y: x.transpose(0, -1),
    lambda x, y: x.mean(0, keepdim=True) * x,
    lambda x, y: sum(L.std_mean(x, 0, correction=0)),
    lambda x, y: L.cat([x, x * 2]),
    lambda x, y: x.expand(2, *x.shape),
)
MATRICES = (lambda x, y: x @ x.t(), lambda x, y: L.stack([x, x]).sum(0))


@dataclass
class Case:
    """Something to run backward, and all tensors whose `.grad` it may change."""

    roots: list
    arguments: dict[str, Any]
    tensors: list
    log: list = field(default_factory=list)

    def backward(self, **more):
        """The plain way."""
        given = dict(self.arguments)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Using backward.. with create_graph=True")
            L.autograd.backward(self.roots, given.pop("gradient"), **given, **more)

    def grads(self):
        """Every `.grad`, as it is."""
        return [t._grad for t in self.tensors]


def bits(value):
    """What must be equal bit for bit."""
    if value is None:
        return None
    if isinstance(value, list):
        return [bits(v) for v in value]
    data = value._data if isinstance(value, L.Tensor) else value
    return data.dtype.str, data.shape, data.tobytes()


def build(seed, **fixed):
    """The case of this seed; `fixed`: arguments of backward that are not to be random."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)

    def leaf(shape, dtype="float64"):
        return L.tensor(numbers.uniform(-1, 1, shape).astype(dtype)).requires_grad_()

    leaves = [leaf((2, 3)), leaf((3,)), leaf((2, 1), "float32"), leaf(())]
    case = Case([], {}, [])
    pool = list(leaves)
    for t in leaves:
        if rng.random() < 0.4:
            t.grad = L.tensor(numbers.uniform(-1, 1, tuple(t.shape)).astype(t._data.dtype))
    for _ in range(rng.randint(3, 14)):
        x, y = rng.choice(pool[-5:]), rng.choice(pool)
        ways = list(ANY)
        if x.dim() and len(x.shape) < 3 and x.shape[0] > 1:
            ways += DIMS * 2
        if x.dim() == 2:
            ways += MATRICES * 2
        if fits(x, y):
            ways += [lambda x, y: x * y, lambda x, y: x - y, lambda x, y: L.maximum(x, y)] * 2
        made = rng.choice(ways)(x, y)
        made = made.tanh() if rng.random() < 0.5 else made
        pool.append(made)
        decorate(rng, case, made)
    for t in leaves:
        decorate_leaf(rng, case, t)
    finish(rng, case, pool, leaves, fixed)
    case.tensors = pool
    return case


def decorate(rng, case, t):
    """Hooks and retained gradients of a tensor with history."""
    log = case.log
    if rng.random() < 0.15:
        t.retain_grad()
    if rng.random() < 0.15:
        t.register_hook(lambda g: g * 1.25)
    if rng.random() < 0.1:
        t.register_hook(lambda g: log.append(("hook", bits(g))))
    if rng.random() < 0.1:
        t.grad_fn.register_hook(lambda given, got: tuple(None if g is None else g * 0.5 for g in given))
    if rng.random() < 0.1:
        t.grad_fn.register_prehook(lambda got: tuple(None if g is None else g * 3 for g in got))


def decorate_leaf(rng, case, t):
    """Hooks of a leaf."""
    log = case.log
    if rng.random() < 0.2:
        t.register_hook(lambda g: -g)
    if rng.random() < 0.2:
        t.register_post_accumulate_grad_hook(lambda p: log.append(("grad", bits(p.grad))))
    if rng.random() < 0.1:
        t.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", p.grad * 2))
    if rng.random() < 0.1:
        t.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))


def finish(rng, case, pool, leaves, fixed):
    """Roots and arguments."""
    given = [None]
    case.roots = [sum(t.double().sum() * (i + 1) for i, t in enumerate(pool))]
    if rng.random() < 0.4:  # a second root, which may lie below the first or be it
        second = rng.choice([*pool, case.roots[0]])
        case.roots.append(second)
        given.append(L.ones_like(second).detach() * 0.5)
    create_graph = rng.random() < 0.3
    inputs = None
    if rng.random() < 0.4:
        inputs = rng.sample(pool, rng.randint(1, 3))
    case.arguments = {"gradient": given, "create_graph": create_graph, "inputs": inputs, **fixed}


def fits(x, y):
    """Whether two tensors broadcast to something small."""
    try:
        return len(np.broadcast_shapes(tuple(x.shape), tuple(y.shape))) < 3
    except ValueError:
        return False
