"""Seeds of CUDA devices: which seed each one was given, kept until its generator is made.

Invariant: seeding is allowed before CUDA is in use and where there is none, as in PyTorch.
"""

import secrets
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ..engine.base import cuda_probe
from ..engine.core.tensor import Tensor
from ..engine.random import generators
from .devices import existing_index

_DEFAULT = 67280421310721  # PyTorch's default seed

_of_all = _DEFAULT
_seeds: dict[int, int] = {}
# Called with (index, seed) at each seeding.
listeners: list[Callable[[int, int], None]] = []


def manual_seed(seed: int) -> None:
    """Seed the generator of the current CUDA device; ignored where there is no CUDA.

    Args:
        seed: a whole number.

    Example:
        >>> from vistorch.cuda import simulate
        >>> simulate(2)
        >>> manual_seed(7)
        >>> initial_seed()
        7
        >>> simulate(None)
    """
    number = int(seed)
    if cuda_probe.find().ok:
        _set(cuda_probe.current_index(), number)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all CUDA devices; remembered for devices that appear later.

    Args:
        seed: a whole number.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> before = vistorch.cuda.initial_seed()
        >>> vistorch.cuda.manual_seed_all(7)
        >>> with vistorch.cuda.device(1):
        ...     vistorch.cuda.initial_seed()
        7
        >>> vistorch.cuda.manual_seed_all(before)
        >>> vistorch.cuda.simulate(None)
    """
    global _of_all
    _of_all = int(seed)
    _seeds.clear()
    found = cuda_probe.find()
    for index in range(found.number if found.ok else 0):
        _set(index, _of_all)


def seed() -> None:
    """Seed the generator of the current CUDA device with a random number.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> before = vistorch.cuda.initial_seed()
        >>> vistorch.cuda.seed()
        >>> vistorch.cuda.initial_seed() == before
        False
        >>> vistorch.cuda.manual_seed(before)
        >>> vistorch.cuda.simulate(None)
    """
    manual_seed(secrets.randbits(53))


def seed_all() -> None:
    """Seed the generators of all CUDA devices with one random number.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> before = vistorch.cuda.initial_seed()
        >>> vistorch.cuda.seed_all()
        >>> first, second = vistorch.rand(3, device="cuda:0"), vistorch.rand(3, device="cuda:1")
        >>> vistorch.equal(first.cpu(), second.cpu())
        True
        >>> vistorch.cuda.manual_seed_all(before)
        >>> vistorch.cuda.simulate(None)
    """
    manual_seed_all(secrets.randbits(53))


def initial_seed() -> int:
    """Return the seed of the current CUDA device.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> before = vistorch.cuda.initial_seed()
        >>> vistorch.cuda.manual_seed(3)
        >>> vistorch.cuda.initial_seed()
        3
        >>> vistorch.cuda.manual_seed(before)
        >>> vistorch.cuda.simulate(None)
    """
    return seed_of(cuda_probe.current_index())


def seed_of(index: int) -> int:
    """Return the seed a CUDA device was given last."""
    return _seeds.get(index, _of_all)


def get_rng_state(device: Any = "cuda") -> Tensor:
    """Return the state of a CUDA device's generator.

    Args:
        device: the device.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.get_rng_state().dtype
        vistorch.uint8
        >>> vistorch.cuda.simulate(None)
    """
    return _generator(device).get_state()


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Put the generator of a CUDA device into a state.

    Args:
        new_state: what `get_rng_state` returned.
        device: the device.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> state = vistorch.cuda.get_rng_state()
        >>> first = vistorch.rand(3, device="cuda")
        >>> vistorch.cuda.set_rng_state(state)
        >>> vistorch.equal(first, vistorch.rand(3, device="cuda"))
        True
        >>> vistorch.cuda.simulate(None)
    """
    _generator(device).set_state(new_state)


def get_rng_state_all() -> list[Tensor]:
    """Return the states of the generators of all CUDA devices.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> len(vistorch.cuda.get_rng_state_all())
        2
        >>> vistorch.cuda.simulate(None)
    """
    found = cuda_probe.find()
    return [get_rng_state(index) for index in range(found.number if found.ok else 0)]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Put the generators of all CUDA devices into states.

    Args:
        new_states: what `get_rng_state_all` returned.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> states = vistorch.cuda.get_rng_state_all()
        >>> first = vistorch.rand(3, device="cuda:1")
        >>> vistorch.cuda.set_rng_state_all(states)
        >>> vistorch.equal(first, vistorch.rand(3, device="cuda:1"))
        True
        >>> vistorch.cuda.simulate(None)
    """
    before = get_rng_state_all()
    try:
        for index, state in enumerate(new_states):
            set_rng_state(state, index)
    except BaseException:
        for index, state in enumerate(before):
            set_rng_state(state, index)
        raise


def _generator(device: Any) -> generators.Generator:
    return generators.of_device(existing_index(device))


def _set(index: int, number: int) -> None:
    """Keep a device's seed, seed its generator if it has one, and call the listeners."""
    _seeds[index] = number
    generators.reseed(index, number)
    for listener in listeners:
        listener(index, number)


generators.cuda_seeds = sys.modules[__name__]
