"""Primitives of oneDNN made once for each shape, thread and number of threads, and run on numpy's memory.

A primitive divides its work when it is made, and its memory objects are set anew for each run: so a `Call` belongs to
one thread and to one number of threads. It is dropped, with what the library holds for it, when a thread has too many.
Invariant: memory whose layout a primitive does not want passes through scratch memory that this thread keeps.
"""

from __future__ import annotations

import ctypes as C
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..addresses import address
from ..strides import channels_last
from ..threads import state as chosen
from .library import INT, Argument, Library, Refused, dims, opened

FLOAT, BYTES = 3, 6  # float32, uint8
SRC, SRC1, SRC2, DST, DST1, DST2 = 1, 2, 3, 17, 18, 19
WEIGHTS, WEIGHTS1, BIAS, MEAN, VARIANCE, SCALE, SHIFT, WORKSPACE = 33, 34, 41, 49, 50, 51, 52, 64
D_SRC, D_SRC1, D_SRC2, D_DST, D_DST1, D_DST2 = 129, 130, 131, 145, 146, 147
D_WEIGHTS, D_WEIGHTS1, D_BIAS, D_SCALE, D_SHIFT = 161, 162, 169, 255, 256
TRAINING, INFERENCE, BACKWARD, BACKWARD_DATA = 64, 96, 128, 160
_ANY = 1
_NAME, _INPUTS, _ARGUMENT = 8, 3, 255
LIMIT = 512  # calls that a thread keeps; when there are more, the older half goes
RECENT, OFTEN = 128, 8  # the last ones of a kind that are looked at, and how many uses are often
KEPT = 1 << 28  # bytes of scratch memory beyond which a thread gives it back after use

lib: Library = opened()
_end: Any = {
    name: getattr(lib.c, f"dnnl_{name}_destroy")
    for name in ("memory", "primitive", "primitive_desc", "memory_desc")
}
F4 = np.dtype("f4")


class Described:
    """A memory description or a primitive's, freed with the last who uses it."""

    __slots__ = ("_free", "at")

    def __init__(self, kind: str, at: int) -> None:
        self.at, self._free = at, _end[kind]

    def __del__(self) -> None:
        self._free(self.at)


# ---- memory ---------------------------------------------------------------------------------------------------------
_described: dict = {}


def strides_of(shape: tuple) -> tuple:
    """The strides of dense memory, in elements."""
    out, n = [], 1
    for d in reversed(shape):
        out.append(n)
        n *= d
    return tuple(out[::-1])


def last_strides(shape: tuple) -> tuple:
    """The strides of dense memory whose channels, the second dim, lie last."""
    inner = strides_of((shape[0], *shape[2:], shape[1]))
    return (inner[0], inner[-1], *inner[1:-1])


def plain(shape: tuple, strides: tuple | None = None, kind: int = FLOAT) -> Described:
    """The description of dense or strided memory."""
    key = shape, strides, kind
    found = _described.get(key)
    if found is None:
        steps = dims(strides or strides_of(shape))
        at = lib.made("memory_desc_create_with_strides", len(shape), dims(shape), kind, steps)
        found = _remember(key, Described("memory_desc", at))
    return found


def free(shape: tuple) -> Described:
    """A description that leaves the layout to the primitive."""
    key = shape, None, "any"
    found = _described.get(key)
    if found is None:
        at = lib.made("memory_desc_create_with_tag", len(shape), dims(shape), FLOAT, _ANY)
        found = _remember(key, Described("memory_desc", at))
    return found


def _remember(key: tuple, made: Described) -> Described:
    if len(_described) >= 8 * LIMIT:
        _described.clear()  # what is in use is held by those who use it
    _described[key] = made
    return made


def described(name: str, *args: Any) -> Described:
    """A primitive's description."""
    ready = [a.at if a.__class__ is Described else a for a in args]
    return Described("primitive_desc", lib.described(name, *ready))


def size(md: Described) -> int:
    """How many bytes memory of this description has."""
    return lib.c.dnnl_memory_desc_get_size(md.at)


def same(a: Described, b: Described) -> bool:
    """Whether two descriptions say the same layout."""
    return bool(lib.c.dnnl_memory_desc_equal(a.at, b.at))


def wants(pd: Described, argument: int) -> Described:
    """The layout that a primitive chose for one of its arguments."""
    md = lib.c.dnnl_primitive_desc_query_md(pd.at, _ARGUMENT, argument)
    if not md:
        raise Refused("query")
    return Described("memory_desc", lib.made("memory_desc_clone", md))


def name_of(pd: Described) -> str:
    """The name of the kernel that was chosen: "jit:avx512_core", "brgconv:...", "ref:any"."""
    out = C.c_char_p()
    lib.c.dnnl_primitive_desc_query(pd.at, _NAME, 0, C.byref(out))
    return (out.value or b"?").decode()


def inputs_of(pd: Described) -> int:
    """How many inputs a primitive takes."""
    out = INT(-1)
    lib.c.dnnl_primitive_desc_query(pd.at, _INPUTS, 0, C.byref(out))
    return out.value


def good(pd: Described) -> Described:
    """The same, unless it would be run by the reference code, which is slower than numpy."""
    if name_of(pd).startswith("ref"):
        raise Refused("reference code only")
    return pd


# ---- the order of images ---------------------------------------------------------------------------------------------
def order_of(a: Any) -> tuple:
    """An array that a primitive can read as it lies, and whether its channels, the second dim, lie last."""
    if a.flags.c_contiguous:
        return a, False
    return (a, True) if channels_last(a) else (np.ascontiguousarray(a), False)


def ordered(a: Any, last: bool) -> Any:
    """The array in the order that is wanted."""
    if not last:
        return np.ascontiguousarray(a)
    if channels_last(a):
        return a
    out = new(a.shape, True)
    out[...] = a
    return out


def new(shape: tuple, last: bool) -> Any:
    """Memory for a result, in one order or the other."""
    if not last:
        return np.empty(shape, F4)
    n, c, *size = shape
    return np.empty((n, *size, c), F4).transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


# ---- calls ----------------------------------------------------------------------------------------------------------
class Habit:
    """Whether a kind of primitive is made for shapes that come again; one takes as long as it saves in many calls.

    A program whose shapes change all the time (sentences of all lengths) would make them for nothing. When few of the
    last ones were used often, a shape is to be asked for some times before one is made for it.
    """

    __slots__ = ("asked", "recent")

    def __init__(self) -> None:
        self.recent: deque = deque(maxlen=RECENT)
        self.asked: dict = {}

    def refuses(self, key: tuple) -> bool:
        """Whether no primitive is made for this shape yet."""
        recent = self.recent
        if len(recent) < RECENT or sum(call.uses >= OFTEN for call in recent) >= RECENT // 4:
            return False
        if len(self.asked) > 8 * LIMIT:
            self.asked.clear()
        times = self.asked[key] = self.asked.get(key, 0) + 1
        return times < OFTEN


class _Mine(threading.local):
    """What a thread keeps: its calls and its scratch memory."""

    def __init__(self) -> None:
        self.kept: dict = {}
        self.habits: dict = {}
        self.memory: list = []  # as bytes, one array for each piece that a call needs at the same time


_mine = _Mine()


def _scratch(i: int, nbytes: int) -> Any:
    """The i-th piece of this thread's scratch memory, at least so long; it begins on a cache line."""
    memory = _mine.memory
    while len(memory) <= i:
        memory.append(np.empty(0, np.uint8))
    if memory[i].nbytes < nbytes:
        raw = np.empty(nbytes + nbytes // 8 + 64, np.uint8)
        memory[i] = raw[-address(raw) % 64 :]
    return memory[i]


class Call:
    """A primitive with its memory objects: `call(*addresses)`, in the order of inputs and then outputs.

    Args:
        pd: the primitive's description.
        inputs: pairs (argument, description of the memory that is given).
        outputs: the same for what is written.
        threads: for how many threads it was described.
        fixed: all layouts are as given, so that none is asked for.
        zeroed: outputs that the primitive adds to; where they are not packed, the caller zeroes them.
    """

    __slots__ = (
        "_args",
        "_at",
        "_execute",
        "_handle",
        "_kept",
        "_primitive",
        "_stream",
        "after",
        "before",
        "count",
        "large",
        "memories",
        "places",
        "threads",
        "uses",
    )

    def __init__(
        self,
        pd: Described,
        inputs: tuple,
        outputs: tuple,
        threads: int,
        fixed: bool = False,
        zeroed: tuple = (),
    ) -> None:
        self._primitive, self.memories, self.uses = 0, (), 0
        self._primitive = lib.made("primitive_create", pd.at)
        given = inputs + outputs
        chosen = given if fixed else tuple([(k, wants(pd, k)) for k, _ in given])
        self.memories = tuple([lib.made("memory_create", md.at, lib.engine, None) for _, md in chosen])
        pairs = [Argument(k, m) for (k, _), m in zip(chosen, self.memories, strict=True)]
        self._args = (Argument * len(pairs))(*pairs)
        self._at, self.count, self.threads = C.addressof(self._args), len(pairs), threads
        self._handle, self._execute, self._stream = lib.handle, lib.execute, lib.stream
        self.before, self.after, places, self.large = [], [], [], 0
        for i, ((kind, mine), (_, md)) in enumerate(zip(given, chosen, strict=True)):
            if fixed or same(mine, md):
                continue
            nbytes = size(md)
            places.append((i, len(places), nbytes, kind in zeroed))
            self.large += nbytes
            if i < len(inputs):
                self.before.append((i, reorder(mine, md, threads)))
            else:
                self.after.append((i, reorder(md, mine, threads)))
        self.places = tuple(places)
        self._kept = pd, chosen

    def __call__(self, *addresses: int) -> None:
        """Compute, from and into the memory at these addresses."""
        threads = self.threads
        self.uses += 1
        was = lib.enter(threads)
        if self.places:
            failed = self._through(addresses)
        else:
            failed = self._run(addresses)
        if was != threads:
            lib.leave(was, threads)
        if failed:
            raise Refused("execute")

    def _run(self, addresses: Any) -> int:
        handle = self._handle
        for memory, at in zip(self.memories, addresses):  # noqa: B905  hot
            handle(memory, at)
        return self._execute(self._primitive, self._stream, self.count, self._at)

    def _through(self, addresses: tuple) -> int:
        """The same, with the arguments that lie otherwise packed before and unpacked after."""
        inner = list(addresses)
        for i, piece, nbytes, zeroed in self.places:
            memory = _scratch(piece, nbytes)
            inner[i] = address(memory)
            if zeroed:
                memory[:nbytes] = 0
        failed = 0
        for i, copy in self.before:
            failed |= copy._run((addresses[i], inner[i]))
        failed |= self._run(inner)
        for i, copy in self.after:
            failed |= copy._run((inner[i], addresses[i]))
        if self.large > KEPT:
            _mine.memory.clear()
        return failed

    def __del__(self, end: Any = _end) -> None:  # at the end of Python the module's names are gone
        for memory in self.memories:
            end["memory"](memory)
        if self._primitive:
            end["primitive"](self._primitive)


def reorder(source: Described, target: Described, threads: int) -> Call:
    """Memory copied from one layout into another."""
    at = lib.made("reorder_primitive_desc_create", source.at, lib.engine, target.at, lib.engine, None)
    pd = Described("primitive_desc", at)
    return Call(pd, ((SRC, source),), ((DST, target),), threads, fixed=True)


def cached(make: Callable, sparing: bool = True) -> Callable:
    """`make(threads, *key)` once for each key, thread of the program and number of threads.

    What is returned gives None where oneDNN refuses, so that numpy's kernel is taken.

    Args:
        make: makes a call, or a call and what belongs to it.
        sparing: whether shapes that do not come again may get none: not where the plain kernel could not go on.
    """

    def get(threads: int, *key: Any) -> Any:
        threads = lib.allowed(threads)
        kept = _mine.kept
        whole = (make, threads, key)
        try:
            return kept[whole]
        except KeyError:
            pass
        habit = _mine.habits.get(make)
        if habit is None:
            habit = _mine.habits[make] = Habit()
        # Which kernel runs would depend on the shapes that came before, and with it the rounding.
        if sparing and not chosen.deterministic and habit.refuses(key):
            return None
        was = lib.enter(threads)
        try:
            made = make(threads, *key)
            habit.recent.append(made[0] if made.__class__ is tuple else made)
        except Refused:
            made = None
        finally:
            lib.leave(was, threads)
        if len(kept) >= LIMIT:
            for old in list(kept)[: LIMIT // 2]:
                del kept[old]
        kept[whole] = made
        return made

    return get


def forget() -> None:
    """Drop what this thread keeps."""
    _mine.kept.clear()
    _mine.habits.clear()
    _mine.memory.clear()


def _forked() -> None:
    lib.forked()
    forget()
