"""Random programs of torch: the same seed gives the same leaves and the same loss.

`python -m tests.torch_source.programs 1000` runs many, each walked there and back and compared with `backward()`.
"""

import random
import sys

import torch
from torch import nn


class Twice(torch.autograd.Function):
    """Two outputs, one of which is often not used."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2, x.sin()

    @staticmethod
    def backward(ctx, a, b):
        (x,) = ctx.saved_tensors
        return a * 2 + b * x.cos()


class Picky(torch.autograd.Function):
    """Takes gradients that are not there as None."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, a, b):
        x, y = ctx.saved_tensors
        if a is None:
            return b, (None if b is None else b * 1)
        return a * y if b is None else a * y + b, a * x


UNARY = [
    torch.exp, torch.tanh, torch.sin, torch.relu, torch.sigmoid, torch.abs, torch.square,
    lambda x: x * 3, lambda x: 2 - x, lambda x: x / 2, lambda x: x**2, lambda x: x.softmax(-1),
    lambda x: x.log_softmax(0), lambda x: x.cumsum(1), lambda x: x.sort(dim=1)[0], lambda x: x.clamp(-1, 1),
    lambda x: x.flip(0), lambda x: nn.functional.gelu(x), lambda x: nn.functional.layer_norm(x, x.shape[-1:]),
    lambda x: x.t().contiguous().t(), lambda x: x.double().float(), lambda x: x.detach() * x, lambda x: x.clone(),
    lambda x: Twice.apply(x)[0], lambda x: Twice.apply(x)[1], lambda x: sum(Twice.apply(x)),
    lambda x: x - x.mean(0), lambda x: x / (1 + x.norm()), lambda x: torch.where(x > 0, x, x * 0.1),
    lambda x: x.unbind(0)[1].expand(x.shape), lambda x: x.max(1, keepdim=True)[0] * x,
    lambda x: torch.cat([x[:1], x[1:]]), lambda x: x.bfloat16().float(), lambda x: (x * (1 + 2j)).real,
]  # fmt: skip
BINARY = [
    torch.add, torch.mul, torch.sub, torch.maximum, lambda x, y: x @ y.t() @ y, lambda x, y: Picky.apply(x, y)[0],
    lambda x, y: Picky.apply(x, y)[1], lambda x, y: torch.stack([x, y]).mean(0), lambda x, y: x.lerp(y, 0.3),
    lambda x, y: torch.cat([x, y], 1)[:, : x.shape[1]], lambda x, y: x + y[0],
    lambda x, y: torch.addmm(x, x @ y.t(), y),
    lambda x, y: nn.functional.mse_loss(x, y) * x,
]  # fmt: skip


def _add_one(p):
    p.grad.add_(1)


def _in_place(rng, x):
    x = x.clone(memory_format=torch.contiguous_format)
    how = rng.randrange(4)
    if how == 0:
        x[rng.randrange(x.shape[0])].mul_(3)
    elif how == 1:
        x[:, 1:] = x[:, :-1] * 2
    elif how == 2:
        x.add_(x.detach().tanh())
    else:
        x.t()[::2].neg_()
    return x


def _hooked(rng, x):
    x = x * 1
    how = rng.randrange(5)
    if how == 0:
        x.register_hook(lambda g: g * 2)
    elif how == 1:
        x.grad_fn.register_prehook(lambda g: (g[0] * 0.5,))
    elif how == 2:
        x.grad_fn.register_hook(lambda gin, gout: (gin[0] + 1, *gin[1:]))
    elif how == 3:
        x.retain_grad()
    else:
        x.register_hook(lambda g: None)
    return x


def program(seed):
    """Leaves, tensors that keep their gradient, and a loss."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    shape = (rng.randint(2, 4), rng.randint(2, 5))
    leaves = [torch.randn(shape, requires_grad=True) for _ in range(rng.randint(1, 3))]
    for leaf in leaves:
        if rng.random() < 0.2:
            leaf.register_hook(lambda g: g * 3)
        if rng.random() < 0.2:
            leaf.register_post_accumulate_grad_hook(_add_one)
        if rng.random() < 0.3:
            leaf.grad = torch.randn(shape)
    made = list(leaves)
    for _ in range(rng.randint(2, 14)):
        x = rng.choice(made[-4:])
        what = rng.random()
        if what < 0.5:
            y = rng.choice(UNARY)(x)
        elif what < 0.8:
            y = rng.choice(BINARY)(x, rng.choice(made))
        elif what < 0.9:
            y = _in_place(rng, x)
        else:
            y = _hooked(rng, x)
        made.append(y if y.shape == shape else y.expand(shape))
    if rng.random() < 0.1:
        (inner,) = torch.autograd.grad(
            made[-1].square().mean(), leaves[:1], create_graph=True, allow_unused=True
        )
        if inner is not None:
            made.append(inner)
    kept = [t for t in made if not t.is_leaf and t.retains_grad]
    ends = rng.sample(made, min(len(made), rng.randint(1, 3))) + made[-1:]
    loss = sum(rng.choice((0.5, 1.0, -2.0)) * t.tanh().sum() for t in ends)
    return leaves, kept, loss


def grads(tensors):
    """Copies of `.grad`, with where they lie."""
    return [None if t.grad is None else (t.grad.clone(), t.grad.stride()) for t in tensors]


def same(a, b):
    """Whether gradients are equal bit by bit, and lie in memory in the same way."""
    return all(
        (x is None and y is None)
        or (x is not None and y is not None and x[1] == y[1] and torch.equal(bits(x[0]), bits(y[0])))
        for x, y in zip(a, b, strict=True)
    )


def bits(t):
    """The bits of a tensor, as integers; a NaN is a NaN."""
    t = t.to_dense() if t.layout is not torch.strided else t
    t = torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
    t = torch.where(t.isnan(), torch.full_like(t, torch.nan), t)
    return t.contiguous().view({8: torch.int64, 4: torch.int32, 2: torch.int16}[t.element_size()])


def walked(make, stepper, rng):
    """Walk a program there and back in random strides, and to its end: its gradients, or what went wrong."""
    leaves, kept, loss = make()
    was, held = grads(leaves), [t.grad for t in kept]
    objects = [t.grad for t in leaves]
    walk = stepper(loss)
    total = len(walk.nodes)
    for _ in range(3):
        for _ in range(rng.randint(0, total)):
            if walk.step() is None:
                break
        for _ in range(rng.randint(0, walk.position)):
            walk.back()
    walk.first()
    if not same(grads(leaves), was) or any(t.grad is not g for t, g in zip(leaves, objects, strict=True)):
        return "taking all back does not give what was there", None, None
    if any(t.grad is not g for t, g in zip(kept, held, strict=True)):
        return "a kept gradient was not taken back", None, None
    walk.finish()
    return None, grads([*leaves, *kept]), [t.grad is g for t, g in zip(leaves, objects, strict=True)]


def compare(seed, stepper):
    """Why a program's walk is not its `backward()`, None where it is."""
    leaves, kept, loss = program(seed)
    objects = [t.grad for t in leaves]
    try:
        loss.backward()
    except RuntimeError as error:
        return _raises(seed, stepper, str(error))
    want = grads([*leaves, *kept])
    in_place = [t.grad is g for t, g in zip(leaves, objects, strict=True)]
    why, got, placed = walked(lambda: program(seed), stepper, random.Random(seed))
    if why is None and not same(want, got):
        why = f"gradients differ: {want} and {got}"
    if why is None and placed != in_place:
        why = f"`.grad` is the object it was: {placed}, and after backward(): {in_place}"
    return why


def _raises(seed, stepper, sentence):
    """A pass that fails: the walk fails with the same words, and can still be taken back."""
    leaves, _, loss = program(seed)
    was = [t.grad for t in leaves]
    walk = stepper(loss)
    try:
        walk.finish()
    except RuntimeError as error:
        if str(error) != sentence:
            return f"torch says {sentence!r}, the walk {error!s}"
    else:
        return f"torch refuses this pass, the walk does not: {sentence}"
    walk.undo()
    return None if all(t.grad is g for t, g in zip(leaves, was, strict=True)) else "not taken back"


if __name__ == "__main__":
    from vistorch.torch_source.stepper import TorchStepper

    bad = 0
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 500):
        if number % 100 == 0:
            print(f"{number} programs", flush=True)
        found = compare(number, TorchStepper)
        if found is not None:
            bad += 1
            print(number, found[:400])
    sys.exit(bad > 0)
