"""Samplers of CUDA devices: PyTorch's CUDA numbers for the same seed, made where they are needed.

On a real device a kernel makes them (`cuda/source/philox.cu`), on a simulated one numpy, by the same rules: a draw of
`size` numbers uses `lanes` streams, each block of a stream gives four numbers (doubles: two), and number i of block k
of stream s is element (k * per + i) * lanes + s. As many streams as PyTorch's kernel has threads, so the numbers are
its own: those of a tensor that keeps a card busy more than once (on an H100, above 270,336 elements) depend on the
card's size, as they do there. Invariant: nothing here depends on how a kernel is launched, and nothing waits for the
device but the check of probabilities that are tensors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vistorch.engine.kernels import philox, sampling_normal
from vistorch.engine.kernels import sampling_checks as checks
from vistorch.engine.kernels.cuda import launch

GROUP = 256  # threads of a block of PyTorch's kernels
SIMULATED = 132 * 2048  # threads that an H100 holds: a simulated device counts as one
F4, F8, I8 = np.dtype("f4"), np.dtype("f8"), np.dtype("i8")
WIDE_RANGE = 1 << 28  # from here on a whole number takes two words
Shape = Sequence[int]


@functools.cache
def _held(index: int) -> int:
    """The threads that a device holds at once, in whole blocks."""
    import cupy  # pyright: ignore[reportMissingImports]

    properties = cupy.cuda.runtime.getDeviceProperties(index)
    return properties["multiProcessorCount"] * (properties["maxThreadsPerMultiProcessor"] // GROUP) * GROUP


def lanes_for(generator: Any, size: int) -> int:
    """How many streams a draw of `size` numbers uses."""
    most = _held(generator.place.index) if generator.place.kind else SIMULATED
    return min(-(-size // GROUP) * GROUP, most)


def _blocks(size: int, lanes: int, per: int) -> int:
    """How many blocks of each stream a draw uses."""
    return (size - 1) // (lanes * per) + 1


def _single(dtype: np.dtype) -> bool:
    """Whether numbers of a dtype are computed in float32."""
    return dtype != F8


# ---- made by numpy -------------------------------------------------------------------------------------------------
def _uniform(words: tuple, single: bool) -> list:
    """Numbers in (0, 1] of four words each."""
    if single:
        return [w.astype(F4) * np.float32(2**-32) + np.float32(2**-33) for w in words]
    return [_long(words[i], words[i + 1]) * 2.0**-53 + 2.0**-54 for i in (0, 2)]


def _long(low: Any, high: Any) -> Any:
    return (low.astype(np.uint64) ^ (high.astype(np.uint64) << np.uint64(21))).astype(F8)


TURN = np.float32(2**-32) * np.float32(6.2831855)


def _normal(words: tuple, single: bool) -> list:
    """Standard normal numbers by Box and Muller, the sine first."""
    out = []
    for i in (0, 2) if single else (0,):
        if single:
            u = words[i].astype(F4) * np.float32(2**-32) + np.float32(2**-33)
            v = (words[i + 1].astype(F4).astype(F8) * TURN + TURN / 2).astype(F4)
        else:
            u = _long(words[0], words[1]) * 2.0**-53 + 2.0**-54
            v = (_long(words[2], words[3]) * 2.0**-52 + 2.0**-53) * math.pi
        s = np.sqrt(-2 * np.log(u))
        out += [np.sin(v) * s, np.cos(v) * s]
    return out


def _filled(stream: tuple, size: int, lanes: int, per: int, make: Callable, dtype: np.dtype) -> Any:
    """The numbers of a draw: `make` turns the four words of many blocks into `per` arrays."""
    _, seed, offset = stream
    out = np.empty(size, dtype)
    for block in range(_blocks(size, lanes, per)):
        start = block * per * lanes
        count = min(lanes, size - start)
        words = philox.blocks(seed, offset // 4 + block, np.arange(count, dtype=np.uint64))
        for i, values in enumerate(make(words)):
            target = out[start + i * lanes : start + i * lanes + count]
            if not target.size:
                break
            target[...] = values[: target.size]
    return out


# ---- both ways -----------------------------------------------------------------------------------------------------
def _launched(
    generator: Any, kernel: str, out: Any, stream: tuple, lanes: int, args: tuple, kind: Any = F4
) -> Any:
    size = out.size
    launch.launch("philox", kernel, kind, launch.each(size), launch.BLOCK, (out, size, lanes, *stream, *args))
    return out


def _drawn(
    generator: Any,
    shape: Shape,
    dtype: np.dtype,
    kernel: str,
    numbers: tuple,
    source: Callable,
    rule: Callable,
) -> Any:
    """Numbers of a distribution: by a kernel, or by `rule(values)` of what `source` makes of words.

    Args:
        generator: of a CUDA device.
        shape: the shape of the result.
        dtype: its dtype; what is no float is computed in float32.
        kernel: the name of the kernel.
        numbers: its last arguments.
        source: `_uniform` or `_normal`.
        rule: what it makes of each.
    """
    size = math.prod(shape)
    place = generator.place
    kind = dtype if dtype.name in launch.TYPES else F4
    if not size:
        return place.xp.empty(tuple(shape), dtype)
    single = _single(kind)
    per, lanes = (4 if single else 2), lanes_for(generator, size)
    with generator.lock:
        stream = generator.counter.take(4 * _blocks(size, lanes, per))
    if not place.kind:
        with np.errstate(all="ignore"):

            def make(words: tuple) -> list:
                return [rule(values) for values in source(words, single)]

            return _filled(stream, size, lanes, per, make, kind).astype(dtype, copy=False).reshape(shape)
    with place:
        out = _launched(generator, kernel, place.xp.empty(size, kind), stream, lanes, numbers, kind)
        return out.astype(dtype, copy=False).reshape(tuple(shape))


def _wide(dtype: np.dtype) -> type:
    return np.float32 if _single(dtype) else np.float64


def _fused(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c`, rounded once as the device does."""
    if a.dtype == F8:
        return sampling_normal.fused(a, float(b), float(c))
    return (a.astype(F8) * F8.type(b) + F8.type(c)).astype(F4)


def _parts(draw: Callable, generator: Any, shape: Shape, dtype: np.dtype, *numbers: float) -> Any:
    """Complex numbers: real and imaginary parts side by side."""
    flat = draw(generator, (2 * math.prod(shape),), np.dtype(f"f{dtype.itemsize // 2}"), *numbers)
    return flat.view(dtype).reshape(tuple(shape))


def uniform(generator: Any, shape: Shape, dtype: Any, low: float = 0.0, high: float = 1.0) -> Any:
    """Numbers uniform in [low, high)."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return _parts(uniform, generator, shape, dtype, low, high)
    checks.check_uniform(dtype, low, high)
    wide = _wide(dtype)
    first, last = wide(dtype.type(low)), wide(dtype.type(high))
    width = wide(dtype.type(last - first))

    def rule(u: Any) -> Any:
        values = _fused(u, width, first).astype(dtype)
        values[values == dtype.type(high)] = dtype.type(low)
        return values

    return _drawn(generator, shape, dtype, "uniform", (float(low), float(high)), _uniform, rule)


def normal(
    generator: Any, shape: Shape, dtype: Any, mean: float = 0.0, std: float = 1.0, serial: bool = False
) -> Any:
    """Normal numbers; `serial` makes no difference here."""
    dtype = np.dtype(dtype)
    checks.check_normal(std)
    if dtype.kind == "c":
        return _parts(normal, generator, shape, dtype, mean, std / math.sqrt(2))
    checks.unsupported("normal_kernel_cuda", dtype)
    wide = _wide(dtype)
    rule = functools.partial(_fused, b=wide(std), c=wide(mean))
    return _drawn(generator, shape, dtype, "normal", (float(mean), float(std)), _normal, rule)


def log_normal(generator: Any, shape: Shape, dtype: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    """Numbers whose logarithm is normal."""
    dtype = np.dtype(dtype)
    checks.require(std > 0, f"log_normal_ expects std > 0.0, but found std={std:g}")
    checks.unsupported("log_normal_cuda", dtype)
    wide = _wide(dtype)
    numbers = float(mean), float(std)
    return _drawn(
        generator,
        shape,
        dtype,
        "log_normal",
        numbers,
        _normal,
        lambda z: np.exp(_fused(z, wide(std), wide(mean))),
    )


def exponential(generator: Any, shape: Shape, dtype: Any, lambd: float = 1.0) -> Any:
    """Exponential numbers of rate `lambd`, never 0."""
    dtype = np.dtype(dtype)
    checks.check_exponential(dtype, lambd)
    wide = _wide(dtype)
    eps = np.finfo(wide).eps

    def rule(u: Any) -> Any:
        return wide(-1) / wide(lambd) * np.where(u >= 1 - eps / 2, -eps / 2, np.log(u))

    return _drawn(generator, shape, dtype, "exponential", (float(lambd), float(eps)), _uniform, rule)


def cauchy(generator: Any, shape: Shape, dtype: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    """Cauchy numbers."""
    dtype = np.dtype(dtype)
    checks.check_cauchy(dtype, sigma)
    wide = _wide(dtype)
    eps = np.finfo(wide).eps

    def rule(u: Any) -> Any:
        inside = np.clip(u, eps, 1 - eps) if wide is np.float32 else u
        return wide(median) + wide(sigma) * np.tan(wide(math.pi) * (inside - wide(0.5)))

    numbers = float(median), float(sigma), float(eps)
    return _drawn(generator, shape, dtype, "cauchy", numbers, _uniform, rule)


def geometric(generator: Any, shape: Shape, dtype: Any, p: float) -> Any:
    """The number of trials until the first success of probability p."""
    dtype = np.dtype(dtype)
    checks.check_geometric(p)
    checks.unsupported("geometric_cuda", dtype, integers=True)
    miss = np.log1p(_wide(dtype)(-p))
    return _drawn(
        generator, shape, dtype, "geometric", (float(miss),), _uniform, lambda u: np.ceil(np.log(u) / miss)
    )


def bernoulli(generator: Any, p: Any, shape: Shape, dtype: Any) -> Any:
    """Ones with probability p, a number or an array of the device that broadcasts to `shape`; else zeros."""
    dtype = np.dtype(dtype)
    if isinstance(p, (int, float, np.number)):
        checks.check_bernoulli(float(p))
        checks.unsupported("bernoulli_scalar_cuda_", dtype, integers=True, boolean=True)
        bound = _wide(dtype)(p)
        return _drawn(generator, shape, dtype, "bernoulli", (float(p),), _uniform, lambda u: u < bound)
    checks.unsupported("bernoulli_tensor_cuda_self_", dtype, integers=True, boolean=True)
    checks.unsupported("bernoulli_tensor_cuda_p_", p.dtype)
    place, size = generator.place, math.prod(shape)
    with place:
        checks.require(
            bool(((p >= 0) & (p <= 1)).all()),
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)",
        )
        kind = dtype if dtype.name in launch.TYPES else F4
        chances = place.xp.broadcast_to(p, tuple(shape)).astype(_wide(kind))
        chances = place.xp.ascontiguousarray(chances).reshape(-1)
        with generator.lock:
            stream = generator.counter.take(10)
        if place.kind:
            out = place.xp.empty(size, kind)
            out = _launched(generator, "coins", out, stream, 1, (chances,), kind)
        else:
            words = philox.blocks(stream[1], stream[2] // 4, np.arange(-(-size // 4), dtype=np.uint64))
            u = np.stack(_uniform(words, True), 1).reshape(-1)[:size]
            out = u <= chances
        return out.astype(dtype, copy=False).reshape(tuple(shape))


def _whole(generator: Any, shape: Shape, base: int, count: int, two: bool) -> Any:
    """Whole numbers from `base` on as 64 bits: remainders by `count` of one word, or of two."""
    size, place = math.prod(shape), generator.place
    if not size:
        return place.xp.empty(tuple(shape), I8)
    per, lanes = (2 if two else 4), lanes_for(generator, size)
    with generator.lock:
        stream = generator.counter.take(4 * _blocks(size, lanes, per))
    if place.kind:
        with place:
            bits = count - 2**64 if count >= 2**63 else count  # 2**64 is 0: no remainder
            numbers = (base, bits, int(two))
            out = _launched(generator, "whole", place.xp.empty(size, I8), stream, lanes, numbers)
            return out.reshape(tuple(shape))

    def make(words: tuple) -> list:
        if not two:
            return [(w % np.uint32(count)).astype(I8) + base for w in words]
        pairs = [(words[i].astype(np.uint64) << np.uint64(32)) | words[i + 1] for i in (0, 2)]
        pairs = pairs if count == 2**64 else [v % np.uint64(count) for v in pairs]
        return [(v + np.uint64(base % 2**64)).view(I8) for v in pairs]

    with np.errstate(over="ignore"):
        return _filled(stream, size, lanes, per, make, I8).reshape(shape)


def randint(generator: Any, shape: Shape, low: int, high: int | None, dtype: Any) -> Any:
    """Whole numbers in [low, high); `high` None means up to the largest the dtype counts to."""
    dtype = np.dtype(dtype)
    low, count = checks.integer_bounds(dtype, low, high)
    return _whole(generator, shape, low, count, count >= WIDE_RANGE).astype(dtype, copy=False)


def random_full(generator: Any, shape: Shape, dtype: Any) -> Any:
    """Whole numbers from 0 to the largest the dtype counts to without gaps."""
    dtype = np.dtype(dtype)
    checks.unsupported("random_kernel_cuda", dtype, integers=True, boolean=True)
    bits = checks.KINDS[dtype][2]
    count = 2 if dtype.kind == "b" else 2**bits + 1 if bits else int(np.iinfo(dtype).max) + 1
    return _whole(generator, shape, 0, count, dtype.itemsize == 8).astype(dtype, copy=False)


def permutation(generator: Any, n: int, dtype: Any = np.int64) -> Any:
    """The numbers 0 to n - 1 in a random order: of keys, and of those that are equal in an order drawn anew."""
    dtype = np.dtype(dtype)
    checks.check_permutation(n, dtype)
    place = generator.place
    if not n:
        return place.xp.empty(0, dtype)
    # so many bits that all keys differ nine times in ten
    bits = min(64, max(0, math.ceil(math.log2(n - (6 * n * n + 1) / (12 * math.log(0.9))))))
    size = 32 if bits <= 32 else 64
    with place:
        keys = _whole(generator, (n,), -(2 ** (size - 1)), 2**size - 1, True)
        if bits < size:
            keys &= (1 << bits) - 1
        order = keys.argsort(kind="stable") if place.kind == 0 else place.xp.argsort(keys)
        keys = keys[order]
        order = order.astype(I8, copy=False)
        with generator.lock:
            stream = generator.counter.take(n)
        if n > 1:
            if place.kind:
                args = (order, keys, n, *stream)
                launch.launch("philox", "shuffle_equals", F4, launch.each(n), launch.BLOCK, args)
            else:
                _shuffle_equals(order, keys, stream)
        return order.astype(dtype, copy=False)


def _shuffle_equals(order: Any, keys: Any, stream: tuple) -> None:
    same = np.append(keys[1:] == keys[:-1], False)
    starts = np.flatnonzero(same & ~np.append(False, same[:-1]))
    for start in starts.tolist():
        end = start + 1
        while end < keys.size and keys[end] == keys[start]:
            end += 1
        for drawn, i in enumerate(range(end - start - 1, 0, -1)):
            words = philox.blocks(stream[1], stream[2] // 4 + drawn // 4, np.array([start], np.uint64))
            j = int(words[drawn % 4][0]) % (i + 1)
            order[[start + i, start + j]] = order[[start + j, start + i]]


def race(generator: Any, weights: Any, num_samples: int) -> Any:
    """Different categories drawn with the weights of each row, the last dim of an array of the device.

    The largest weight over an exponential number wins: a race that needs no cumulative sums.
    """
    xp = generator.place.xp
    with generator.place:
        checks.check_weights(weights, num_samples, False)
        if not weights.size:
            checks.require(
                weights.shape[-1] > 0,
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.",
            )
            return xp.empty((*weights.shape[:-1], num_samples), I8)
        checks.require(
            bool(((weights >= 0) & xp.isfinite(weights)).all()),
            "probability tensor contains either `inf`, `nan` or element < 0",
        )
        checks.require(
            bool((weights.sum(-1) != 0).all()), "invalid multinomial distribution (sum of probabilities <= 0)"
        )
        speed = weights / exponential(generator, weights.shape, weights.dtype)
        if num_samples == 1:
            return speed.argmax(-1).astype(I8, copy=False)[..., None]
        return xp.argsort(-speed, axis=-1)[..., :num_samples].astype(I8, copy=False)


# ---- dropout -------------------------------------------------------------------------------------------------------
def run_of(size: int, itemsize: int) -> int:
    """How many neighbouring elements PyTorch's dropout of an array without gaps hands to a thread."""
    run = 16 // itemsize
    while run > 1 and size % run:
        run //= 2
    return run


def dropout(xp: Any, x: Any, stream: tuple, lanes: int, run: int, keep: float) -> tuple[Any, Any]:
    """What stays of a contiguous array, scaled, and the mask of what stays.

    Args:
        xp: numpy or cupy.
        x: the array.
        stream: where the words are, of `Counter.take`.
        lanes: how many streams.
        run: how many neighbouring elements share a block.
        keep: the probability of an element to stay.
    """
    if xp is not np:
        y, mask = xp.empty(x.shape, x.dtype), xp.empty(x.shape, bool)
        args = (x, y, mask, x.size, lanes, *stream, run, float(keep), 1.0 / keep)
        launch.launch("philox", "dropout", x.dtype, launch.each(x.size), launch.BLOCK, args)
        return y, mask
    mask = _staying(stream, x.size, lanes, run, keep).reshape(x.shape)
    return dropout_gradient(xp, x, mask, 1.0 / keep), mask


def dropout_stream(generator: Any, size: int) -> tuple[tuple, int]:
    """Where a dropout of `size` elements finds its words, and how many streams it uses."""
    lanes = lanes_for(generator, size)
    with generator.lock:
        return generator.counter.take(4 * _blocks(size, lanes, 4)), lanes


def _staying(stream: tuple, size: int, lanes: int, run: int, keep: float) -> Any:
    bound = np.float32(keep)
    _, seed, offset = stream
    if run == 1:
        return _filled(
            stream, size, lanes, 4, lambda w: [u < bound for u in _uniform(w, True)], np.dtype(bool)
        )
    blocks = 2 if run == 8 else 1
    out = np.empty(size, bool)
    for turn in range(-(-size // (run * lanes))):
        start = turn * run * lanes
        streams = np.arange(min(lanes, (size - start) // run), dtype=np.uint64)
        words = [
            w for b in range(blocks) for w in philox.blocks(seed, offset // 4 + turn * blocks + b, streams)
        ]
        kept = np.stack([u < bound for u in _uniform(tuple(words[:run]), True)], 1)
        out[start : start + kept.size] = kept.reshape(-1)
    return out


def dropout_gradient(xp: Any, g: Any, mask: Any, scale: float) -> Any:
    """An array where a mask is true, scaled; zero elsewhere, but for infinities and nan."""
    if xp is not np and launch.known(g) and g.size:
        g, mask = xp.ascontiguousarray(g), xp.ascontiguousarray(mask)
        out = xp.empty(g.shape, g.dtype)
        args = (g, mask, out, g.size, float(scale))
        launch.launch("philox", "dropout_gradient", g.dtype, launch.each(g.size), launch.BLOCK, args)
        return out
    wide = g if g.dtype.kind == "c" else g.astype(_wide(g.dtype), copy=False)
    return (wide * mask * wide.real.dtype.type(scale)).astype(g.dtype, copy=False)
