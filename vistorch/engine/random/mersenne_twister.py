"""The random state: PyTorch's CPU generator, word for word.

A `Generator` is a Mersenne Twister (mt19937) read through a block of 624 finished words. numpy's bit
generator only ever stands at a block border; the words inside the block are handed out as slices, so that
ten numbers cost a slice and not a call. Nothing is read ahead of the block PyTorch itself would have
computed, which keeps `get_state` exact.

Invariant: `_block` is the tempered image of the state PyTorch would hold, and `_at` is how many of its
words are used.

How words become numbers is the business of `vistorch.engine.kernels.sampling`.
"""

from __future__ import annotations

import contextlib
import copy
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from operator import index

import numpy as np

from ..library_name import library

__all__ = [
    "DEFAULT_SEED",
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

DEFAULT_SEED = 67280421310721
BLOCK = 624
HALF_WORD = np.uint64(32)
# The record PyTorch writes: the old Torch7 layout (the state words are 64 bits wide), then one cached float.
STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (BLOCK,)),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),
        ("normal_rho", "<f8"),
        ("normal_is_valid", "<i4"),
        ("padding", "<i4"),
        ("float_normal", "<f4"),
        ("float_normal_is_valid", "<u4"),
    ]
)


def _temper(words: np.ndarray) -> np.ndarray:
    """The output words of mt19937 for the given state words."""
    y = words.astype(np.uint32)
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y ^= y >> np.uint32(18)
    return y


def _untemper(words: np.ndarray) -> np.ndarray:
    """The inverse of `_temper`."""
    y = words.astype(np.uint32)
    y ^= y >> np.uint32(18)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    # Each round makes seven more low bits right: five rounds cover all 32.
    x = y
    for _ in range(5):
        x = y ^ ((x << np.uint32(7)) & np.uint32(0x9D2C5680))
    return x ^ (x >> np.uint32(11)) ^ (x >> np.uint32(22))


def _checked_seed(seed: int) -> int:
    """The seed as an unsigned 64-bit number, or PyTorch's error."""
    if isinstance(seed, (bool, np.bool_)) or not hasattr(seed, "__index__"):
        raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
    number = index(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError("Overflow when unpacking long long")
    return number % 2**64


class Generator:
    """A source of random words with PyTorch's CPU stream.

    The same seed gives the same words as `torch.Generator`, and states can be exchanged with it. A
    generator of a simulated device uses the same stream.

    Args:
        device: the device the numbers are for; kept as given.

    Example:
        >>> g = Generator()
        >>> _ = g.manual_seed(0)
        >>> g.words(2).tolist()
        [2357136044, 2546248239]
    """

    __slots__ = (
        "__weakref__",
        "_at",
        "_bits",
        "_block",
        "_float_spare",
        "_made",
        "_next",
        "_seed",
        "_seeder",
        "device",
        "lock",
        "spare",
    )

    on_device = False  # whether draws are made on a CUDA device

    def __init__(self, device="cpu"):
        """Start the stream of PyTorch's default seed."""
        self.device = device
        self.lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        # RandomState is numpy's public way to seed with init_genrand; MT19937(seed) hashes the seed first.
        self._seeder = np.random.RandomState(self._bits)
        self._restart(DEFAULT_SEED)

    def _restart(self, number: int) -> None:
        """Start the stream of a checked seed."""
        with self.lock:
            self._seeder.seed(number & 0xFFFFFFFF)
            self._seed = number
            self._block: np.ndarray | None = None
            self._at = BLOCK
            self._next = 0
            self._made: tuple[np.ndarray | None, dict] = (None, {})
            self.spare: float | None = None
            self._float_spare = (0.0, 0)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed` and return the generator.

        Args:
            seed: from -2**63 to 2**64 - 1; a negative one stands for `2**64 + seed`.

        Example:
            >>> Generator().manual_seed(-1).initial_seed()
            18446744073709551615
        """
        self._restart(_checked_seed(seed))
        return self

    def seed(self) -> int:
        """Start an unpredictable stream and return its seed.

        Example:
            >>> import vistorch
            >>> g = vistorch.Generator()
            >>> g.seed() == g.initial_seed()
            True
        """
        number = int.from_bytes(os.urandom(8), "little")
        self._restart(number)
        return number

    def initial_seed(self) -> int:
        """The seed the present stream started from.

        Example:
            >>> import vistorch
            >>> vistorch.Generator().initial_seed(), vistorch.Generator().manual_seed(5).initial_seed()
            (67280421310721, 5)
        """
        return self._seed

    def words(self, count: int) -> np.ndarray:
        """The next `count` 32-bit words, not to be written to. The caller holds `lock`."""
        if not count:
            return np.empty(0, np.uint32)
        end = self._at + count
        block = self._block
        if end <= BLOCK and block is not None:
            out = block[self._at : end]
            self._at = self._next = end
            return out
        head = None if block is None or self._at == BLOCK else block[self._at :]
        missing = count if head is None else count - head.size
        blocks = -(-missing // BLOCK)
        fresh = self._bits.random_raw(blocks * BLOCK).astype(np.uint32)
        # A copy, or a small block would keep a large array alive.
        self._block = fresh if blocks == 1 else fresh[-BLOCK:].copy()
        self._at = self._next = missing - (blocks - 1) * BLOCK
        return fresh[:missing] if head is None else np.concatenate((head, fresh[:missing]))

    def made(self, count: int, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """A function of each of the next `count` 32-bit words, not to be written to. The caller holds `lock`.

        It is asked for whole blocks, and its answer kept: a few numbers then cost a slice.

        Args:
            count: how many words.
            function: of an array of words; the last dim of what it gives is theirs.

        Example:
            >>> g = Generator().manual_seed(0)
            >>> with g.lock:
            ...     (g.made(1, lambda words: words % 10).tolist(), g.made(2, lambda words: words % 10).tolist())
            ([4], [9, 3])
        """
        start, end, block = self._at, self._at + count, self._block
        if end > BLOCK or block is None:
            return function(self.words(count))
        if self._made[0] is not block:
            self._made = (block, {})
        kept = self._made[1]
        values = kept.get(function)
        if values is None:
            values = kept[function] = function(block)
        self._at = self._next = end
        return values[..., start:end]

    def words64(self, count: int) -> np.ndarray:
        """The next `count` 64-bit words, each the high and then the low half. The caller holds `lock`.

        Example:
            >>> import vistorch
            >>> g, other = vistorch.Generator().manual_seed(0), vistorch.Generator().manual_seed(0)
            >>> high, low = g.words(2).tolist()
            >>> other.words64(1).tolist() == [high * 2**32 + low]
            True
        """
        # A slice may start at an odd word: numpy reads such an unaligned view, only slower.
        both = self.words(2 * count).astype("<u4", copy=False).view("<u8")
        return (both << HALF_WORD) | (both >> HALF_WORD)

    def get_state(self) -> np.ndarray:
        """The state as 5056 bytes, in PyTorch's layout."""
        with self.lock:
            record = np.zeros((), STATE)
            record["seed"], record["seeded"], record["left"] = self._seed, 1, BLOCK + 1 - self._at
            record["next"] = self._next
            key = self._bits.state["state"]["key"] if self._block is None else _untemper(self._block)
            record["words"] = key
            if self.spare is not None:
                record["normal_y"], record["normal_is_valid"] = self.spare, 1
            record["float_normal"], record["float_normal_is_valid"] = self._float_spare
            return np.frombuffer(record.tobytes(), np.uint8).copy()

    def set_state(self, new_state: np.ndarray) -> Generator:
        """Continue from a state that `get_state`, here or in PyTorch, returned."""
        if not isinstance(new_state, np.ndarray):
            raise TypeError(f"expected a {library}.ByteTensor, but got {type(new_state).__name__}")
        if new_state.dtype != np.uint8:
            raise TypeError(f"RNG state must be a {library}.ByteTensor")
        if new_state.size != STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE.itemsize} "
                f"but found the input RNG state size to be {new_state.size}"
            )
        record = np.frombuffer(new_state.tobytes(), STATE)[0]
        left, following = int(record["left"]), int(record["next"])
        if record["seeded"] != 1 or not 0 < left <= BLOCK or following > BLOCK:
            raise RuntimeError("Invalid mt19937 state")
        key = record["words"].astype(np.uint32)
        with self.lock:
            self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": BLOCK}}
            self._seed = int(record["seed"])
            self._block = _temper(key)
            # One word left means that the next draw computes a new block, wherever `next` points.
            self._at = BLOCK if left == 1 else following
            self._next = following
            self.spare = float(record["normal_y"]) if record["normal_is_valid"] else None
            self._float_spare = (float(record["float_normal"]), int(record["float_normal_is_valid"]))
        return self

    def clone_state(self) -> Generator:
        """A new generator in the same state."""
        return Generator(self.device).set_state(self.get_state())

    def __reduce__(self):
        """Pickle the device and the state; the lock is made anew."""
        return _restored, (self.device, self.get_state())

    def __deepcopy__(self, memo: dict) -> Generator:
        """An independent generator in the same state."""
        return _restored(copy.deepcopy(self.device, memo), self.get_state())


def _restored(device, state: np.ndarray) -> Generator:
    """The generator a pickle describes."""
    return Generator(device).set_state(state)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default stream of `seed` and return the default generator.

    Args:
        seed: anything `int` accepts, from -2**63 to 2**64 - 1.
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start an unpredictable default stream and return its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed the default stream started from."""
    return default_generator.initial_seed()


def get_rng_state() -> np.ndarray:
    """The default generator's state as bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: np.ndarray) -> None:
    """Continue the default stream from `new_state`."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(generators: Iterable[Generator] = (), enabled: bool = True) -> Iterator[None]:
    """Give the random states back as they were when the block ends.

    Args:
        generators: further generators to protect; the default one always is.
        enabled: with False the block changes nothing.

    Example:
        >>> before = get_rng_state()
        >>> with fork_rng():
        ...     _ = manual_seed(3)
        >>> bool((get_rng_state() == before).all())
        True
    """
    kept = [(g, g.get_state()) for g in (default_generator, *generators)] if enabled else []
    try:
        yield
    finally:
        for generator, state in kept:
            generator.set_state(state)
