"""Is there CUDA, how many devices, and if not, why: each cause has its own sentence.

Invariant: nothing is probed when this module is imported, and `find` never raises; `require` does.
"""

import importlib
import importlib.util
import os
import sys
import warnings
from typing import Any, NamedTuple

from ..kernels import simulated
from ..library_name import named

INSTALL = (
    'pip install "vistorch[cuda13]" (or "vistorch[cuda12]" for an NVIDIA driver older than 580) '
    "brings cupy with the libraries it needs"
)
OLDEST = 14
NO_GPU_NEEDED = (
    "Simulated devices need no GPU: call vistorch.cuda.simulate(4), "
    f"or set {simulated.VARIABLE}=4 before the start."
)

# What cudaGetDeviceCount answers when it does not count.
_STATUS = {
    3: "the driver could not be initialised: is the GPU reachable from this container?",
    35: "the NVIDIA driver is older than cupy's CUDA; update it, or install the cupy of an older CUDA",
    46: "all CUDA devices are busy or unavailable (an exclusive process holds them?)",
    100: "the NVIDIA driver is installed, but it sees no CUDA device",
    803: "the NVIDIA driver's library and its kernel module have different versions; restart the machine",
    804: "the CUDA compatibility package does not support this GPU",
}


class Finding(NamedTuple):
    """What a probe found; `error` is the exception type PyTorch raises for such a cause."""

    ok: bool
    number: int
    reason: str
    error: type[Exception] = RuntimeError


_kept: Finding | None = None
_counted = False  # the driver was asked in this process: a child made by fork cannot use CUDA any more
_forked = False


def _after_fork() -> None:
    """Remember, in a child, that its parent had already started CUDA."""
    global _forked
    _forked = _counted


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def find(again: bool = False) -> Finding:
    """Return what there is: simulated devices if any are asked for, else the real ones.

    Args:
        again: ask once more even if the last answer, a failure, is still known.
    """
    number = simulated.count()
    if number:
        return Finding(True, number, f"{number} simulated: numpy on the CPU, no speed claimed")
    try:
        finding = _real(again)
    except Exception as error:  # is_available() never raises, whatever a broken installation does
        finding = Finding(False, 0, f"looking for CUDA failed: {_first_line(error)}")
    if simulated.complaint():
        finding = finding._replace(reason=f"{finding.reason}; {simulated.complaint()}")
    return finding


def require() -> Finding:
    """Return what was found, or raise why CUDA cannot be used and how to go on without a GPU."""
    finding = find()
    if not finding.ok:
        raise finding.error(f"CUDA is not available: {finding.reason}. {named(NO_GPU_NEEDED)}")
    return finding


def check_index(index: int) -> int:
    """Return the index if such a CUDA device is there; else raise, with PyTorch's sentence first."""
    number = require().number
    if not 0 <= index < number:
        there = "only cuda:0 is" if number == 1 else f"cuda:0 to cuda:{number - 1} are"
        raise RuntimeError(f"CUDA error: invalid device ordinal (cuda:{index} was asked for, {there} there)")
    return index


def current_index() -> int:
    """Return the index of the CUDA device that is current in this thread."""
    require()
    if simulated.count():
        return simulated.current()
    return runtime().getDevice()


def set_current_index(index: int) -> None:
    """Make a CUDA device current in this thread."""
    check_index(index)
    if simulated.count():
        simulated.set_current(index)
    else:
        runtime().setDevice(index)


def runtime() -> Any:
    """Return cupy's module of CUDA runtime calls."""
    return importlib.import_module("cupy").cuda.runtime


def _real(again: bool) -> Finding:
    """Look for real devices: environment, package, import, driver, devices, libraries, in this order."""
    global _kept
    if _forked:
        return Finding(
            False,
            0,
            "Cannot re-initialize CUDA in forked subprocess: this process was forked from one that had "
            "already used CUDA. To use CUDA with multiprocessing, you must use the 'spawn' start method",
        )
    mask = os.environ.get("CUDA_VISIBLE_DEVICES")
    if mask is not None and mask.strip() in ("", "-1"):
        return Finding(False, 0, f"hidden by CUDA_VISIBLE_DEVICES={mask!r}")
    if sys.modules.get("cupy") is None and importlib.util.find_spec("cupy") is None:
        return Finding(False, 0, f"cupy is not installed; {INSTALL}", AssertionError)
    if _kept is None or (again and not _kept.ok):
        _kept = _ask_cupy()
    return _kept


def _ask_cupy() -> Finding:
    """Import cupy and ask it for the driver, the devices and the libraries a kernel needs."""
    global _counted
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runtime_calls = runtime()
    except Exception as error:
        return Finding(False, 0, f"cupy import failed: {_first_line(error)}; {INSTALL}", AssertionError)
    release = importlib.import_module("cupy").__version__
    if int(release.partition(".")[0]) < OLDEST:
        why = f"cupy {release} is too old: {OLDEST} is the first that knows bfloat16"
        return Finding(False, 0, f"{why}; {INSTALL}", AssertionError)
    version = runtime_calls.driverGetVersion()
    if version == 0:
        return Finding(
            False,
            0,
            "no NVIDIA driver: Found no NVIDIA driver on your system; install one, or take another machine",
        )
    try:
        number = runtime_calls.getDeviceCount()
    except Exception as error:
        status = getattr(error, "status", None)
        why = (
            _STATUS.get(status, "the CUDA driver refused to count its devices")
            if status
            else "counting failed"
        )
        speaks = f"the driver speaks CUDA {version // 1000}.{version % 1000 // 10}"
        return Finding(False, 0, f"{why} ({speaks}; {_first_line(error)})")
    _counted = True
    if number == 0:
        return Finding(False, 0, _STATUS[100])
    return _missing_library(number) or Finding(
        True, number, f"{number} CUDA device{'s' * (number > 1)} through cupy"
    )


def _missing_library(number: int) -> Finding | None:
    """Load the libraries without which the first kernel or matmul would fail; None if all are there."""
    for module, what in (
        ("nvrtc", "NVRTC, which compiles kernels"),
        ("cublas", "cuBLAS, which multiplies matrices"),
    ):
        try:
            library = importlib.import_module(f"cupy_backends.cuda.libs.{module}")
            library.getVersion() if module == "nvrtc" else None
        except Exception as error:
            found = f"{number} CUDA device{'s' * (number > 1)} found, but {what}, cannot be loaded"
            return Finding(False, number, f"{found}: {_first_line(error)}; {INSTALL}")
    return None


def _first_line(error: BaseException) -> str:
    """Return the first line of the error that started a chain: cupy wraps its own in a banner."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip()}" if lines else type(error).__name__
