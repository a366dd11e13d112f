"""Libraries with a bug on purpose: the fuzz must find it. Invariant: each is torch but for one method."""

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch

PLAIN_MUL, PLAIN_SIN = torch.Tensor.mul_, torch.Tensor.sin


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

    names = [n for n in dir(torch) if not n.startswith("__")]
    return SimpleNamespace(**{n: getattr(torch, n) for n in names}, planted=planted, __name__="torch")


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
