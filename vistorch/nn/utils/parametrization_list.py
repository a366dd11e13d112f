"""The parametrizations of one tensor, one after the other, and what is learned in its place.

Invariant: what is learned is changed only after everything that a `right_inverse` gave was compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.base.modes import no_grad
from ...engine.core.tensor import Tensor
from ..modules.container import ModuleList
from ..modules.module import Module
from ..parameter import Parameter
from .parametrized import checked, enter, same_kind

__all__ = ["ParametrizationList"]

NO_TENSOR = "A parametrization must return a tensor. Got {}."


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor in the order of their use, and what is learned in its place.

    `original` is what is learned; or `original0`, `original1` and so on, where the first parametrization takes several
    tensors. A parametrization may have `right_inverse(tensor)`, which gives what the tensor is computed from.

    Args:
        modules: the parametrizations; at least one.
        original: the tensor to parametrize.
        unsafe: whether they may change the tensor's type or shape.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils.parametrize import ParametrizationList
        >>> class Square(vistorch.nn.Module):
        ...     def forward(self, x):
        ...         return x * x
        ...     def right_inverse(self, y):
        ...         return y.sqrt()
        >>> computed = ParametrizationList([Square()], vistorch.nn.Parameter(vistorch.tensor([4.0])))
        >>> computed.original, computed().detach()
        (Parameter containing:
        tensor([2.], requires_grad=True), tensor([4.]))
        >>> computed.right_inverse(vistorch.tensor([9.0]))
        >>> computed.original.detach(), computed.forward().detach()
        (tensor([3.]), tensor([9.]))
    """

    __module__ = "vistorch.nn.utils.parametrize"
    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            source: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        source = module.right_inverse(source)
                    except NotImplementedError:
                        pass
        if not isinstance(source, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(source).__name__}"
            )
        self.is_tensor = isinstance(source, Tensor)
        if isinstance(source, Tensor):
            self.ntensors = 1
            self._learn_one(original, source)
        else:
            self.ntensors = len(source)
            self._learn_several(original, source)
        if not unsafe:
            checked(
                self(),
                shape,
                dtype,
                NO_TENSOR,
                "Registering a parametrization may not change the {} of the tensor, unless `unsafe` flag is enabled.",
                ("unparametrized {}", "parametrized {}"),
            )

    def _learn_one(self, original: Tensor, source: Tensor) -> None:
        for what in ("dtype", "device"):
            before, after = getattr(original, what), getattr(source, what)
            if before != after:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                    f"original.{what}: {before}\nright_inverse(original).{what}: {after}"
                )
        with no_grad():
            original.set_(source)
        enter(self, "original", original)

    def _learn_several(self, original: Tensor, sources: Sequence) -> None:
        for i, source in enumerate(sources):
            if not isinstance(source, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(source).__name__}."
                )
            if isinstance(original, Parameter):
                source = Parameter(source, original.requires_grad)
            source.requires_grad_(original.requires_grad)
            enter(self, f"original{i}", source)

    def right_inverse(self, value: Tensor) -> None:
        """Set what is learned so that the tensor becomes `value`; this is what an assignment does.

        Args:
            value: the tensor.
        """
        with no_grad():
            source: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                source = module.right_inverse(source)
            for old, new in self._matched(source):
                old.set_(new)

    def _matched(self, source: Any) -> list[tuple[Tensor, Tensor]]:
        """Each learned tensor and what it is to be; all are compared before one is changed."""
        if self.is_tensor:
            if not isinstance(source, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(source).__name__}")
            said = "The tensor returned by `right_inverse`"
            return [same_kind(said, "`original`", self.original, source)]
        if not isinstance(source, Sequence):
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors. Got {type(source).__name__}."
            )
        if len(source) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. "
                f"Got a sequence of length {len(source)}."
            )
        pairs = []
        for i, new in enumerate(source):
            if not isinstance(new, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. "
                    f"Got element {i} of type {type(new).__name__}."
                )
            said = f"Tensor {i} returned by `right_inverse`"
            pairs.append(same_kind(said, f"`original{i}`", getattr(self, f"original{i}"), new))
        return pairs

    def forward(self) -> Any:
        """The tensor, computed."""
        first, *others = self
        sources = (
            [self.original]
            if self.is_tensor
            else [getattr(self, f"original{i}") for i in range(self.ntensors)]
        )
        x = first(*sources)
        for module in others:
            x = module(x)
        return x
