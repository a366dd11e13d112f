"""A module in training and in evaluation: what its parameters learn, and what forgets their gradients.

Invariant: `train` and `eval` reach every module below, so that a whole network is in one of the two.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ...engine.events import hear
from ...engine.tensor import Tensor

REPLICA = (
    "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are copied (in a "
    "differentiable manner) from the original module. This means they are not leaf nodes in autograd and so don't "
    "accumulate gradients. If you need gradients in your forward method, consider using autograd.grad instead."
)


class Training:
    """The part of Module that is trained."""

    training: bool
    children: Callable
    parameters: Callable

    def train(self, mode: bool = True) -> Any:
        """Switch to training, which matters to dropout and batch normalisation.

        Args:
            mode: False switches to evaluation.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Dropout().eval().training
            False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        if (told := hear.phase) is not None:
            told("train" if mode else "eval", self)
        return self

    def eval(self) -> Any:
        """Switch to evaluation: the same as `train(False)`.

        Example:
            >>> import vistorch
            >>> drop = vistorch.nn.Dropout(0.9)
            >>> drop.eval()(vistorch.ones(4))
            tensor([1., 1., 1., 1.])
            >>> drop.training
            False
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set `requires_grad` of all parameters.

        Args:
            requires_grad: False freezes them.

        Example:
            >>> import vistorch
            >>> body, head = vistorch.nn.Linear(2, 2), vistorch.nn.Linear(2, 1)
            >>> body = body.requires_grad_(False)
            >>> head(body(vistorch.ones(1, 2))).sum().backward()
            >>> body.weight.grad is None, head.weight.grad is None
            (True, False)
        """
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Args:
            set_to_none: forget them; False fills them with zeros.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 1)
            >>> m(vistorch.ones(1, 2)).sum().backward()
            >>> m.weight.grad
            tensor([[1., 1.]])
            >>> m.zero_grad(set_to_none=False)
            >>> m.weight.grad
            tensor([[0., 0.]])
            >>> m.zero_grad()
            >>> m.weight.grad is None
            True
        """
        if getattr(self, "_is_replica", False):
            warnings.warn(REPLICA, UserWarning, stacklevel=2)
        if (told := hear.phase) is not None:
            told("zero_grad", self)
        for p in self.parameters():
            clear_grad(p, set_to_none)

    def apply(self, fn: Callable[[Any], None]) -> Any:
        """Call `fn(module)` for all modules below, then for this one.

        Args:
            fn: a function of a module, often one that initialises its parameters.

        Example:
            >>> import vistorch
            >>> from vistorch import nn
            >>> def begin(m):
            ...     if isinstance(m, nn.Linear):
            ...         nn.init.ones_(m.weight)
            >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).apply(begin)
            >>> net[0].weight.tolist()
            [[1.0, 1.0], [1.0, 1.0]]
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Accepted as PyTorch's; there is no compiler here, and nothing changes.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 1)
            >>> before = m(vistorch.ones(2))
            >>> m.compile()
            >>> m(vistorch.ones(2)).equal(before)
            True
        """


def clear_grad(p: Tensor, set_to_none: bool) -> None:
    """Forget a gradient, or fill it with zeros outside any graph."""
    g = p._grad
    if g is None:
        return
    if set_to_none:
        p.grad = None
        return
    if g.grad_fn is not None:
        g.detach_()
    else:
        g.requires_grad_(False)
    g.zero_()
