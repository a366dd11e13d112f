"""The default random generators, one for the CPU and one for each CUDA device, and which of them a call draws from.

Invariant: the CPU draws PyTorch's CPU stream, a CUDA device, real or simulated, PyTorch's CUDA stream of its own seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..base import cuda_probe
from ..base.events import listeners
from ..core.tensor import Tensor
from ..library_name import library
from ..memory.placement import BATCHED, CPU, META, cuda_place, place_of
from .cpu_generator import Generator
from .cpu_generator import restored as _restored  # noqa: F401  pickles of generators name it
from .device_generator import DeviceGenerator

default_generator = Generator()
# What tensors without values draw from: nothing of it is seen, and the other streams stay where they are.
of_nothing = Generator()
_of_devices: dict[int, DeviceGenerator] = {}
# The seeds of the CUDA devices: `vistorch.cuda.random` enters itself here.
cuda_seeds: Any = None


def of_device(index: int) -> DeviceGenerator:
    """The default generator of a CUDA device, started from the seed that device was given."""
    found = _of_devices.get(index)
    if found is None:
        found = _of_devices[index] = DeviceGenerator(cuda_place(index).device)
        if cuda_seeds is not None:
            found.manual_seed(cuda_seeds.seed_of(index))
    return found


def reseed(index: int, number: int) -> None:
    """A CUDA device was given a seed."""
    if index in _of_devices:
        _of_devices[index].manual_seed(number)


def pick(generator: Any, place: Any, name: str) -> Any:
    """The generator to draw from: the given one if it fits the place, else the place's own."""
    if place is META:
        return of_nothing
    if generator is None:
        if place is CPU or place.kind == BATCHED:
            return default_generator
        return of_device(place.device.index)
    if not isinstance(generator, Generator):
        raise TypeError(
            f"{name}(): argument 'generator' must be {library}.Generator, not {type(generator).__name__}"
        )
    if generator.device.type != place.device.type:
        raise RuntimeError(
            f"Expected a '{place.device.type}' device type for generator but found '{generator.device.type}'"
        )
    return generator


def manual_seed(seed: Any) -> Generator:
    """Start the default streams, of the CPU and of all CUDA devices, of `seed`; return the CPU's generator.

    Args:
        seed: anything `int` accepts, from -2**63 to 2**64 - 1.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> vistorch.rand(2)
        tensor([0.4963, 0.7682])
    """
    number = int(seed)
    if (emit := listeners.phase) is not None:
        emit("seed", default_generator, number)
    default_generator.manual_seed(number)
    if cuda_seeds is not None:
        cuda_seeds.manual_seed_all(number)
    return default_generator


def seed() -> int:
    """Start unpredictable default streams and return their seed.

    Example:
        >>> import vistorch
        >>> with vistorch.random.fork_rng():
        ...     vistorch.seed() == vistorch.initial_seed()
        True
    """
    number = default_generator.seed()
    manual_seed(number)
    return number


def initial_seed() -> int:
    """The seed the CPU's default stream started from.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(3)
        >>> vistorch.initial_seed()
        3
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the CPU's default generator, as a tensor of bytes.

    Example:
        >>> import vistorch
        >>> state = vistorch.get_rng_state()
        >>> first = vistorch.rand(3)
        >>> vistorch.set_rng_state(state)
        >>> bool((vistorch.rand(3) == first).all())
        True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Continue the CPU's default stream from a state that `get_rng_state` returned.

    Args:
        new_state: the state.

    Example:
        >>> import vistorch
        >>> state = vistorch.get_rng_state()
        >>> first = vistorch.rand(3)
        >>> vistorch.set_rng_state(state)
        >>> vistorch.equal(first, vistorch.rand(3))
        True
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Sequence[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Give the random states back as they were when the block ends.

    Args:
        devices: CUDA devices whose states are kept too; without it, all there are.
        enabled: with False the block changes nothing.
        _caller: accepted, as in PyTorch.
        _devices_kw: accepted, as in PyTorch.
        device_type: the type of `devices`.

    Example:
        >>> import vistorch
        >>> _ = vistorch.manual_seed(0)
        >>> with vistorch.random.fork_rng():
        ...     _ = vistorch.rand(10)
        >>> vistorch.rand(1)
        tensor([0.4963])
    """
    if not enabled:
        yield
        return
    if devices is None:
        found = cuda_probe.find()
        indices: list[Any] = list(range(found.number if found.ok else 0))
    else:
        indices = [place_of(d, "fork_rng").device.index for d in devices]
    generators = [default_generator, *[of_device(index) for index in indices]]
    states = [g.get_state() for g in generators]
    try:
        yield
    finally:
        for g, state in zip(generators, states, strict=True):
            g.set_state(state)
