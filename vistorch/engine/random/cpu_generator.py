"""`Generator`: the public source of random numbers.

Invariant: on the CPU it draws PyTorch's CPU stream, word for word; the class of another kind of device enters itself.
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np

from ..base.device import device as device_class
from ..base.device import make
from ..core.tensor import Tensor, wrap
from ..library_name import library
from ..memory.placement import place_of
from . import mersenne_twister

# The class that `Generator(device)` makes, by the device's type where it is not this one.
for_type: dict[str, type] = {}
Some = TypeVar("Some", bound="Generator")


class Generator(mersenne_twister.Generator):
    """A source of random numbers with PyTorch's stream.

    Args:
        device: the device the numbers are for; a CUDA device has a stream of its own kind, as in PyTorch.

    Example:
        >>> import vistorch
        >>> g = vistorch.Generator().manual_seed(0)
        >>> vistorch.rand(2, generator=g)
        tensor([0.4963, 0.7682])
    """

    __slots__ = ()
    device: device_class

    def __new__(cls: type[Some], device: Any = "cpu") -> Some:
        """Choose the class by the device's type."""
        chosen: Any = cls
        if device != "cpu" and chosen is Generator:
            chosen = for_type.get(place_of(device, "Generator").device.type, Generator)
        return object.__new__(chosen)

    def __init__(self, device: Any = "cpu") -> None:
        where: Any = make("cpu", None) if device == "cpu" else place_of(device, "Generator").device
        super().__init__(where)

    def get_state(self) -> Any:
        """The state as a tensor of bytes, which `set_state` takes here and in PyTorch.

        Example:
            >>> import vistorch
            >>> g = vistorch.Generator().manual_seed(0)
            >>> before = g.get_state()
            >>> first = vistorch.rand(2, generator=g)
            >>> _ = g.set_state(before)
            >>> vistorch.rand(2, generator=g).equal(first)
            True
        """
        return wrap(super().get_state())

    def set_state(self, new_state: Any) -> Generator:
        """Continue from a state that `get_state` returned.

        Example:
            >>> import vistorch
            >>> g, other = vistorch.Generator().manual_seed(0), vistorch.Generator().manual_seed(7)
            >>> _ = vistorch.rand(5, generator=other)
            >>> g.set_state(other.get_state()).initial_seed()
            7
            >>> vistorch.rand(1, generator=g) == vistorch.rand(1, generator=other)
            tensor([True])
        """
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a {library}.ByteTensor, but got {type(new_state).__name__}")
        super().set_state(np.ascontiguousarray(new_state._data))
        return self

    def clone_state(self) -> Generator:
        """A new generator in the same state.

        Example:
            >>> import vistorch
            >>> g = vistorch.Generator().manual_seed(0)
            >>> other = g.clone_state()
            >>> vistorch.rand(2, generator=g), vistorch.rand(2, generator=other)
            (tensor([0.4963, 0.7682]), tensor([0.4963, 0.7682]))
        """
        return Generator(self.device).set_state(self.get_state())

    def graphsafe_get_state(self) -> Any:
        """Refused, as for PyTorch's CPU generators.

        Example:
            >>> import vistorch
            >>> vistorch.Generator().graphsafe_get_state()
            Traceback (most recent call last):
                ...
            NotImplementedError: graphsafe_get_state is not supported in this Generator
        """
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Any) -> Any:
        """Refused, as for PyTorch's CPU generators; a CUDA generator shares the state of another.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> g, other = vistorch.Generator("cuda"), vistorch.Generator("cuda").manual_seed(3)
            >>> g.graphsafe_set_state(other.graphsafe_get_state()).initial_seed()
            3
            >>> vistorch.cuda.simulate(None)
        """
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def get_offset(self) -> int:
        """How many words of each stream are used, of a generator of a CUDA device.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> g = vistorch.Generator("cuda")
            >>> _ = vistorch.rand(3, generator=g, device="cuda")
            >>> g.get_offset()
            4
            >>> vistorch.cuda.simulate(None)
        """
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """Go to a place in the streams of a CUDA device's generator.

        Args:
            offset: how many words of each stream count as used, a multiple of 4.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> g = vistorch.Generator("cuda")
            >>> first = vistorch.rand(3, generator=g, device="cuda")
            >>> g.set_offset(0)
            >>> vistorch.equal(first, vistorch.rand(3, generator=g, device="cuda"))
            True
            >>> vistorch.cuda.simulate(None)
        """
        raise RuntimeError("CPU Generator does not use offset")

    def __reduce__(self) -> Any:
        return restored, (self.device, super().get_state())

    def __deepcopy__(self, memo: dict) -> Generator:
        return restored(copy.deepcopy(self.device, memo), super().get_state())


def restored(device: Any, state: np.ndarray) -> Generator:
    """The generator a pickle describes."""
    return Generator(device).set_state(wrap(state))


Generator.__module__ = "vistorch"
