"""The generators of CUDA devices: a seed and a place in Philox's stream, which draws move on.

The numbers themselves are made where they are needed (`kernels.device_sampling`). Invariant: a draw takes a multiple of
four words of each stream and says beforehand how many, so a state is two numbers, and a draw can be captured by a
graph: the place is then read from the device's memory, and each replay moves it on by what the whole graph takes.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np

from ..base.device import device as device_class
from ..core.tensor import Tensor, wrap
from ..kernels import philox
from ..library_name import library
from ..memory.placement import place_of
from . import cpu_generator, mersenne_twister

STATE, SEED_ONLY = 16, 8


class Counter:
    """A seed and a place; generators that share a state share this.

    Slots:
        seed: the key of the stream, 64 bits.
        offset: how many words of each stream are used.
        held: the address of two 64-bit numbers on the device, seed and offset, while a graph is captured; else 0.
        captured: how many words the graph takes so far.
    """

    __slots__ = ("captured", "held", "lock", "offset", "seed")

    def __init__(self, seed: int, offset: int = 0) -> None:
        self.seed, self.offset = seed, offset
        self.held = self.captured = 0
        self.lock = threading.RLock()

    def take(self, words: int) -> tuple[int, int, int]:
        """Where a draw finds its words: the address of a captured graph's numbers or 0, the seed, and the offset.

        Args:
            words: how many of each stream the draw uses; the next multiple of four is taken.
        """
        words += -words % 4
        with self.lock:
            if self.held:
                first, self.captured = self.captured, self.captured + words
                return self.held, 0, first
            first, self.offset = self.offset, self.offset + words
            return 0, self.seed, first

    def begin_capture(self, held: int) -> None:
        """Draw for a graph from now on; `held` is the address of its seed and offset on the device."""
        with self.lock:
            if self.held:
                raise RuntimeError("this generator is already drawing for a graph that is being captured")
            self.held, self.captured = held, 0

    def end_capture(self) -> int:
        """Draw for the program again; return how many words of each stream the graph takes at each replay."""
        with self.lock:
            self.held = 0
            return self.captured

    def before_replay(self, words: int) -> tuple[int, int]:
        """The seed and offset to put on the device before a replay, which then takes `words` of each stream."""
        with self.lock:
            seed, first = self.seed, self.offset
            self.offset += words
            return seed, first


class DeviceGenerator(cpu_generator.Generator):
    """The Generator of a CUDA device: `Generator(device="cuda")` makes one."""

    __slots__ = ("counter", "place")
    on_device = True

    def __init__(self, device: Any = "cuda") -> None:
        self.place = place_of(device, "Generator")
        self.device: device_class = self.place.device
        self.counter = Counter(mersenne_twister.DEFAULT_SEED)
        self.spare = None

    @property
    def lock(self) -> Any:  # type: ignore[override]
        """Held while words are drawn on the host."""
        return self.counter.lock

    def _restart(self, number: int) -> None:
        if self.counter.held:
            raise RuntimeError("cannot seed a generator while a CUDA graph that draws from it is captured")
        self.counter.seed, self.counter.offset = number, 0
        self.spare = None

    def seed(self) -> int:
        """Start an unpredictable stream and return its seed."""
        number = int.from_bytes(os.urandom(8), "little") >> 11  # 53 bits, as in PyTorch
        self._restart(number)
        return number

    def initial_seed(self) -> int:
        """The seed the present stream started from."""
        return self.counter.seed

    # ---- words on the host, for distributions that no kernel draws ----------------------------------------------
    def words(self, count: int) -> np.ndarray:
        """The next `count` words: four of each of the first streams. The caller holds `lock`."""
        if not count:
            return np.empty(0, np.uint32)
        held, seed, offset = self.counter.take(4)
        if held:
            raise RuntimeError(
                "this distribution is drawn on the host, so a CUDA graph cannot capture it; draw before the capture, "
                "or by uniform_, normal_, bernoulli_, exponential_, randint or dropout"
            )
        streams = np.arange(-(-count // 4), dtype=np.uint64)
        return np.stack(philox.blocks(seed, offset // 4, streams), 1).reshape(-1)[:count]

    def made(self, count: int, function: Any) -> np.ndarray:
        """A function of the next words. The caller holds `lock`."""
        return function(self.words(count))

    # ---- states ---------------------------------------------------------------------------------------------------
    def _bytes(self) -> np.ndarray:
        with self.counter.lock:
            return np.array([self.counter.seed, self.counter.offset], "<u8").view(np.uint8)

    def get_state(self) -> Any:
        """The seed and the offset, as 16 bytes, which `set_state` takes here and in PyTorch."""
        return wrap(self._bytes())

    def set_state(self, new_state: Any) -> DeviceGenerator:
        """Continue from a state that `get_state` returned; a seed alone begins its stream."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a {library}.ByteTensor, but got {type(new_state).__name__}")
        if new_state._data.dtype != np.uint8 or new_state._place.kind:
            raise TypeError(f"RNG state must be a {library}.ByteTensor")
        numbers = np.ascontiguousarray(new_state._data).reshape(-1)
        if numbers.size not in (STATE, SEED_ONLY):
            raise RuntimeError(
                f"RNG state is wrong size: a CUDA generator's state has {STATE} bytes, seed and offset, but this one "
                f"has {numbers.size}" + ("; it is a CPU generator's" if numbers.size == 5056 else "")
            )
        seed, offset = [*numbers.view("<u8").tolist(), 0][:2]
        _check_offset(offset)
        if self.counter.held:
            raise RuntimeError(
                "cannot set a generator's state while a CUDA graph that draws from it is captured"
            )
        with self.counter.lock:
            self.counter.seed, self.counter.offset = seed, offset
            self.spare = None
        return self

    def get_offset(self) -> int:
        """How many words of each stream are used."""
        return self.counter.offset

    def set_offset(self, offset: int) -> None:
        """Go to a place in the streams."""
        _check_offset(offset)
        self.counter.offset = int(offset)

    def clone_state(self) -> DeviceGenerator:
        """A new generator in the same state."""
        other = DeviceGenerator(self.device)
        other.counter.seed, other.counter.offset = self.counter.seed, self.counter.offset
        return other

    def graphsafe_get_state(self) -> DeviceGenerator:
        """A generator that shares this one's state."""
        other = DeviceGenerator(self.device)
        other.counter = self.counter
        return other

    def graphsafe_set_state(self, state: Any) -> DeviceGenerator:
        """Share the state of another generator from now on."""
        if not isinstance(state, DeviceGenerator):
            raise TypeError(
                f"graphsafe_set_state() takes a generator of a CUDA device, not {type(state).__name__}"
            )
        self.counter = state.counter
        return self

    def __reduce__(self) -> Any:
        return cpu_generator.restored, (self.device, self._bytes())

    def __deepcopy__(self, memo: dict) -> DeviceGenerator:
        return self.clone_state()


def _check_offset(offset: int) -> None:
    if offset % 4 or not 0 <= offset < 2**63:
        raise RuntimeError(f"offset must be a multiple of 4 from 0 to 2**63 - 1, got {offset}")


cpu_generator.for_type["cuda"] = DeviceGenerator
DeviceGenerator.__module__ = "vistorch"
