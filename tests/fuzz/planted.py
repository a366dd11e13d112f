"""Libraries with a bug on purpose, for the test that the fuzz finds it. Invariant: each is torch but for one thing."""

from types import SimpleNamespace
from typing import Any

import torch


def subclassed(name: str, **methods: Any) -> SimpleNamespace:
    """Torch with a Tensor whose methods are replaced."""
    kind = type(name, (torch.Tensor,), methods)

    def tensor(data: Any, requires_grad: bool = False, **more: Any) -> torch.Tensor:
        return torch.tensor(data, **more).as_subclass(kind).requires_grad_(requires_grad)

    names = [n for n in dir(torch) if not n.startswith("__")]
    library = SimpleNamespace(**{n: getattr(torch, n) for n in names})
    library.tensor, library.__name__ = tensor, "torch"
    return library


def forgets_to_bump(self: torch.Tensor, other: Any) -> torch.Tensor:
    """`mul_` that leaves the version as it was."""
    with torch.autograd._unsafe_preserve_version_counter(self):
        return torch.Tensor.mul_(self, other)


def off_by_a_factor(self: torch.Tensor) -> torch.Tensor:
    """`sin` with a gradient twice too large: 2 sin(x) - sin(x), the second without gradient."""
    return 2 * torch.Tensor.sin(self) - torch.Tensor.sin(self).detach()


def forgetful() -> SimpleNamespace:
    """In-place multiplication does not count versions."""
    return subclassed("Forgetful", mul_=forgets_to_bump)


def wrong() -> SimpleNamespace:
    """The gradient of the sine is wrong."""
    return subclassed("Wrong", sin=off_by_a_factor)
