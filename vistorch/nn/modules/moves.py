"""A module on another device or in another type.

Invariant: the parameters stay the same objects, so an optimizer that holds them goes on working.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ...engine import dtypes
from ...engine.face import FUNCTIONS
from ...engine.modes import no_grad
from ...engine.ops.shape.convert import asked, converted
from ...engine.tensor import Tensor
from ..parameter import is_lazy

COMPLEX_MODULE = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not "
    "work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
    "expected."
)


class Moves:
    """The part of Module that moves it."""

    _parameters: dict
    _buffers: dict
    children: Callable

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Put `fn(t)` in the place of every parameter, gradient and buffer."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            grad = param.grad
            with no_grad():
                moved = fn(param)
                moved_grad = None if grad is None else fn(grad)
            if grad is not None:
                param.grad = None  # the old one does not fit between the two assignments
            param.data = moved
            if grad is not None:
                grad.data = moved_grad
                param.grad = grad
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                buffer.data = fn(buffer)  # it goes on waiting for its shape
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move the module and convert its floating-point members, in place.

        Args:
            *args: a device, a floating-point dtype, both, or a tensor to take both from; then `non_blocking`.
            **kwargs: the same by name, and `memory_format`.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).to(vistorch.float64).weight.dtype
            vistorch.float64
        """
        kind, place, _, form = asked(args, kwargs)
        if kind is not None:
            shown = dtypes.of(kind)
            if not (shown.is_floating_point or shown.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={shown}"
                )
            if shown.is_complex:
                warnings.warn(COMPLEX_MODULE, UserWarning, stacklevel=2)

        def move(t: Tensor) -> Tensor:
            floats = t.is_floating_point() or t.is_complex()
            return converted(t, kind if floats else None, place, False, form if t.ndim in (4, 5) else None)

        return self._apply(move)

    def cpu(self) -> Any:
        """Move the module to the CPU.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).cpu().weight.device
            device(type='cpu')
        """
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Move the module to a CUDA device.

        Args:
            device: which one; None for the current one.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Linear(2, 3)
            >>> if vistorch.cuda.is_available():
            ...     net = net.cuda()
            >>> net.weight.is_cuda == vistorch.cuda.is_available()
            True
        """
        return self._apply(lambda t: t.cuda(device))

    def type(self, dst_type: Any) -> Any:
        """Convert all members.

        Args:
            dst_type: a dtype or the name of a tensor type.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).type(vistorch.float64).weight.dtype
            vistorch.float64
        """
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Convert the floating-point members to float32.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).double().float().weight.dtype
            vistorch.float32
        """
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        """Convert the floating-point members to float64.

        Example:
            >>> import vistorch
            >>> norm = vistorch.nn.BatchNorm1d(2).double()
            >>> norm.weight.dtype, norm.num_batches_tracked.dtype  # integers stay as they are
            (vistorch.float64, vistorch.int64)
        """
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Any:
        """Convert the floating-point members to float16.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).half().weight.dtype
            vistorch.float16
        """
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        """Convert the floating-point members to bfloat16.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).bfloat16().weight.dtype
            vistorch.bfloat16
        """
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Move the module without its values.

        Args:
            device: where to.
            recurse: the modules below, too.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).to_empty(device="cpu").weight.shape  # whatever values are there
            vistorch.Size([3, 2])
        """
        return self._apply(lambda t: FUNCTIONS["empty_like"](t, device=device), recurse=recurse)

    def share_memory(self) -> Any:
        """Move all members to memory that other processes can share.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Linear(2, 3).share_memory()
            >>> net.weight.is_shared()
            True
        """
        return self._apply(lambda t: t.share_memory_())
