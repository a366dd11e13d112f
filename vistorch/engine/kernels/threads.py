"""How many threads compute, for everything that computes: BLAS, oneDNN and the blocks of large numpy calls.

The number is the first one of `OMP_NUM_THREADS`, else that of the cores this process may run on; hyperthreads of one
core count once, as in PyTorch. In a forked child OpenMP's threads are gone and would be waited for without end: see
`forked`.
Invariant: two pools of threads never work for one thread of the program at the same time.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .. import browser

# What sets, and what tells, the number of threads of the BLAS libraries that numpy is built with.
_BLAS = (
    ("scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_"),
    ("scipy_openblas_set_num_threads", "scipy_openblas_get_num_threads"),
    ("openblas_set_num_threads64_", "openblas_get_num_threads64_"),
    ("openblas_set_num_threads", "openblas_get_num_threads"),
    ("MKL_Set_Num_Threads", "MKL_Get_Max_Threads"),
    ("bli_thread_set_num_threads", "bli_thread_get_num_threads"),
)
_NAMES = ("openblas", "mkl_rt", "libblis")
LEAST = 25_000  # nanoseconds of work below which another thread costs more than it brings
WAKE = 65_000  # nanoseconds until one more thread of Python computes: it sleeps, and then waits for the interpreter
_PARTS = 32  # the share of a long piece of work that tells how long the rest will take
LONG = LEAST / (
    1 << 15
)  # of an element, where one operation on each is all there is: PyTorch's length of a block


class _State:
    """What was asked for and what is known."""

    asked: int | None = None  # by set_num_threads
    cores: int | None = None
    deterministic = False
    blas: list | None = None  # functions that set and tell BLAS's threads, once they were looked for
    given: list | None = None  # what BLAS had before it was kept to one thread; None where it is not
    users = 1  # threads of the program that compute side by side
    alone = False  # BLAS is to keep to one thread, because oneDNN has the others


state = _State()


def count() -> int:
    """How many threads one operation may use."""
    if state.asked is not None:
        return state.asked
    if state.cores is None:
        state.cores = 1 if browser.HERE else _asked_by_environment() or _cores()
    return state.cores


def share(nanoseconds: float) -> int:
    """How many threads a piece of work deserves, from how long one would take."""
    n = state.asked or count()
    if n == 1 or nanoseconds < 2 * LEAST or pool.busy:
        return 1
    return max(min(n // state.users, int(nanoseconds) // LEAST), 1)


def steady(nanoseconds: float) -> int:
    """The same where the rounding depends on the number: one, when results are to be deterministic."""
    return 1 if state.deterministic else share(nanoseconds)


def set_count(n: int) -> None:
    """Use `n` threads from now on; in a browser there is only the one."""
    state.asked = n = 1 if browser.HERE else n
    _set_blas(n if state.given is None else 1)


def among(processes: int) -> None:
    """In one of several processes that compute side by side: take a part of the cores, if no number was asked for."""
    if state.asked is None and not _asked_by_environment():
        state.cores = max(_cores() // max(processes, 1), 1)
        _set_blas(state.cores if state.given is None else 1)


@contextmanager
def beside(users: int) -> Iterator[None]:
    """While several threads of the program compute side by side, each takes a part of the threads."""
    before, state.users = state.users, state.users * max(users, 1)
    try:
        yield
    finally:
        state.users = before


def _asked_by_environment() -> int:
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdecimal() else 0


def _cores() -> int:
    """The cores this process may run on, without their second threads."""
    try:
        mine = os.sched_getaffinity(0)
    except (AttributeError, OSError):
        return os.cpu_count() or 1
    found = set()
    for cpu in mine:
        try:
            path = f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
            with open(path, encoding="ascii") as file:
                found.add(file.read().strip())
        except OSError:
            found.add(cpu)
    return max(len(found), 1)


# ---- BLAS ----------------------------------------------------------------------------------------------------------
def loaded(names: tuple) -> list[str]:
    """The paths of the libraries in this process whose file names hold one of `names`."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = {line.split(maxsplit=5)[-1].rstrip("\n") for line in maps if "/" in line}
    except OSError:
        return []
    return sorted(p for p in paths if any(name in os.path.basename(p) for name in names))


def _find_blas() -> list:
    """Pairs (set, get) for each BLAS that is loaded and can be asked."""
    if browser.HERE:
        return []
    found = []
    for path in loaded(_NAMES):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for put, get in _BLAS:
            if hasattr(library, put) and hasattr(library, get):
                found.append((getattr(library, put), getattr(library, get)))
                break
    if found or os.path.exists("/proc/self/maps"):
        return found
    try:
        threadpoolctl = importlib.import_module("threadpoolctl")
    except ImportError:
        return []
    return [
        (pool.set_num_threads, lambda pool=pool: pool.num_threads)
        for pool in threadpoolctl.ThreadpoolController().lib_controllers
        if pool.user_api == "blas"
    ]


def _blas() -> list:
    if state.blas is None:
        state.blas = _find_blas()
    return state.blas


def blas_counts() -> list[int]:
    """How many threads each BLAS in this process uses now."""
    return [get() for _, get in _blas()]


def _set_blas(n: int) -> None:
    for put, _ in _blas():
        put(n)


def blas_alone() -> None:
    """Keep BLAS to one thread from now on: the large products go to oneDNN, whose threads are others."""
    state.alone = True
    _settle_blas()


def blas_free() -> None:
    """Give BLAS its threads back."""
    state.alone = False
    _settle_blas()


def set_deterministic(on: bool) -> None:
    """Whether what is rounded by the number of threads keeps to one: BLAS divides its sums by that number."""
    state.deterministic = on
    _settle_blas()


def _settle_blas() -> None:
    """Keep BLAS to one thread while there is a reason, and give it back what it had afterwards."""
    one = state.alone or state.deterministic
    if one and state.given is None:
        state.given = blas_counts()
        _set_blas(1)
    elif not one and state.given is not None:
        for (put, _), n in zip(_blas(), state.given, strict=False):
            put(count() if state.asked is not None else n)
        state.given = None


@contextmanager
def blas() -> Iterator[None]:
    """All threads for BLAS within a `with`: for what oneDNN does not do, products in double precision and LAPACK."""
    if not state.alone or state.deterministic or count() == 1:
        yield
        return
    _set_blas(count())
    try:
        yield
    finally:
        _set_blas(1)


# ---- blocks of numpy calls ----------------------------------------------------------------------------------------
class _Run:
    """The jobs that are left of one call, what failed, and which helpers have ended."""

    __slots__ = ("ended", "failed", "jobs")

    def __init__(self, jobs: list) -> None:
        self.jobs, self.failed, self.ended = jobs[::-1], [], []

    def drain(self) -> None:
        """Take jobs as long as there are any."""
        jobs = self.jobs
        while True:
            try:
                job = jobs.pop()  # atomic
            except IndexError:
                return
            try:
                job()
            except BaseException as exc:
                self.failed.append(exc)
                jobs.clear()


class Pool:
    """Threads that sleep until there are jobs: `pool.run([job, ...])`; the caller works too.

    They belong to the process that made them, so a forked child makes its own. While one thread of the program uses
    them, another runs its jobs itself.
    """

    def __init__(self) -> None:
        self.wake: list = []
        self.now = _Run([])
        self.done = threading.Semaphore(0)
        self.taken = threading.Lock()
        self.busy = False  # then no block shares its own work out again

    def _loop(self, wake: threading.Semaphore) -> None:
        import numpy as np

        with np.errstate(all="ignore"):
            while True:
                wake.acquire()
                run = self.now
                run.drain()
                run.ended.append(True)
                self.done.release()

    def run(self, jobs: list, threads: int) -> None:
        """Run calls without arguments on at most so many threads; an error is raised when all have ended."""
        if threads < 2 or len(jobs) < 2 or not self.taken.acquire(blocking=False):
            for job in jobs:
                job()
            return
        try:
            self.busy = True
            self._run(_Run(jobs), min(threads, len(jobs)) - 1)
        finally:
            self.busy = False
            self.taken.release()

    def _run(self, run: _Run, helpers: int) -> None:
        while len(self.wake) < helpers:
            wake = threading.Semaphore(0)
            threading.Thread(target=self._loop, args=(wake,), name="vistorch-compute", daemon=True).start()
            self.wake.append(wake)
        self.now = run
        woken = 0
        try:
            for wake in self.wake[:helpers]:
                wake.release()
                woken += 1
            run.drain()
        except (
            BaseException
        ) as exc:  # an interrupt: what the others write must not go on behind the caller's back
            run.failed.append(exc)
            run.jobs.clear()
        while len(run.ended) < woken:
            try:
                self.done.acquire(timeout=0.1)
            except BaseException as exc:
                run.failed.append(exc)
                run.jobs.clear()
        if run.failed:
            raise run.failed[0]


pool = Pool()


def split(
    run: Callable[[int, int], None], n: int, nanoseconds: float, unit: int = 1024, most: int = 1 << 10
) -> None:
    """`run(start, stop)` over the range of `n`, in blocks on several threads where it is long enough.

    How long it takes is measured on a first part, where there are parts enough: a processor, and a kernel, can be five
    times as fast as another, and threads that are woken for too little make it slower.

    Args:
        run: what to do with a block; blocks are independent.
        n: how many elements (or rows) there are.
        nanoseconds: what all of it takes on one thread, roughly.
        unit: blocks begin at its multiples.
        most: how many threads at most: the shorter the calls of a block, the more they wait for the interpreter's lock.
    """
    threads, done = min(share(nanoseconds / 4), n // unit, most), 0
    if threads > 1 and n // unit >= _PARTS // 2:
        done = max(n // unit // _PARTS, 1) * unit
        began = time.perf_counter_ns()
        run(0, done)
        left = (time.perf_counter_ns() - began) * (n - done) // done
        threads = min(threads, math.isqrt(left // WAKE))  # where work / threads + WAKE * threads is least
    if threads < 2:
        run(done, n)
        return
    step = -(-(n - done) // (2 * threads))
    step = -(-step // unit) * unit
    pool.run([_job(run, start, min(start + step, n)) for start in range(done, n, step)], threads)


def _job(run: Callable[[int, int], None], start: int, stop: int) -> Callable[[], None]:
    return lambda: run(start, stop)


def _forked() -> None:
    global pool
    pool = Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
