"""Libraries with a bug on purpose: the fuzz must find it. Invariant: each is torch but for one function."""

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch

PLAIN_MUL, PLAIN_SIN = torch.Tensor.mul_, torch.Tensor.sin
PLAIN_VAR, PLAIN_NORM = torch.Tensor.var, torch.Tensor.norm


def torch_with(planted: Callable[[], Any], **changed: Any) -> SimpleNamespace:
    """Torch, with some of its names changed, and a context to run programs in."""
    names = {n: getattr(torch, n) for n in dir(torch) if not n.startswith("__")}
    return SimpleNamespace(**{**names, **changed}, planted=planted, __name__="torch")


def patched(name: str, method: Callable[..., Any]) -> SimpleNamespace:
    """Torch with one method replaced, as long as the context `planted` is open."""

    @contextlib.contextmanager
    def planted() -> Iterator[None]:
        plain = getattr(torch.Tensor, name)
        setattr(torch.Tensor, name, method)
        try:
            yield
        finally:
            setattr(torch.Tensor, name, plain)

    return torch_with(planted)


def forgets_to_bump(self: torch.Tensor, other: Any) -> torch.Tensor:
    """`mul_` that leaves the version as it was."""
    with torch.autograd._unsafe_preserve_version_counter(self):
        return PLAIN_MUL(self, other)


def off_by_a_factor(self: torch.Tensor) -> torch.Tensor:
    """`sin` with a gradient twice too large."""
    out = PLAIN_SIN(self)
    if out.requires_grad:
        out.register_hook(lambda g: 2 * g)
    return out


def forgetful() -> SimpleNamespace:
    """In-place multiplication does not count versions."""
    return patched("mul_", forgets_to_bump)


def wrong() -> SimpleNamespace:
    """The gradient of the sine is wrong."""
    return patched("sin", off_by_a_factor)


def forgetful_func() -> SimpleNamespace:
    """A gradient that `func.grad` gives does not know the tensors that its function found outside."""
    func = SimpleNamespace(**{**vars(torch.func), "grad": lambda f: lambda x: torch.func.grad(f)(x).detach()})
    return torch_with(contextlib.nullcontext, func=func)


def derivable_once() -> SimpleNamespace:
    """The derivative of a variance is a constant."""

    class Variance(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, dim: int) -> torch.Tensor:
            ctx.save_for_backward(x)
            ctx.dim = dim
            return PLAIN_VAR(x, dim)

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> tuple:
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                y = x.detach().requires_grad_()
                return torch.autograd.grad(PLAIN_VAR(y, ctx.dim), y, g.detach())[0], None

    return patched("var", Variance.apply)


def careless_norm() -> SimpleNamespace:
    """A norm that saves a copy of its result, and does not notice when the result is written."""

    class Norm(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            out = PLAIN_NORM(x)
            ctx.save_for_backward(x, out.clone())
            return out

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            x, out = ctx.saved_tensors
            return g * x / out

    return patched("norm", Norm.apply)


def counts_twice(self: torch.Tensor, other: Any) -> torch.Tensor:
    """`mul_` that counts two writes."""
    return PLAIN_MUL(PLAIN_MUL(self, other), 1)


def eager() -> SimpleNamespace:
    """In-place multiplication counts versions twice."""
    return patched("mul_", counts_twice)
