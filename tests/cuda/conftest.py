"""Fixtures of the CUDA tests: a clean state, a stand-in for cupy made of numpy, and the real CUDA compiler.

The stand-in proves which call reaches which device, never kernels, numerics or speed.
"""

import contextlib
import ctypes
import importlib.util
import math
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from tests.cuda import emulator, strict
from tests.cuda.pool import make_memory
from vistorch.cuda import random, streams
from vistorch.engine.base import cuda_probe
from vistorch.engine.base.device import default
from vistorch.engine.core import rules
from vistorch.engine.kernels import device_sampling, simulated
from vistorch.engine.kernels.cuda import faults, launch
from vistorch.engine.memory import device_memory, placement
from vistorch.engine.random import generators


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    """No device chosen, nothing probed, nothing in the environment; all of it given back afterwards."""
    monkeypatch.delenv(simulated.VARIABLE, raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for module, name, value in (
        (simulated, "_count", None),
        (simulated, "_complaint", ""),
        (cuda_probe, "_kept", None),
        (cuda_probe, "_counted", False),
        (cuda_probe, "_forked", False),
        (placement, "_known", {}),
        (placement, "_real", {}),
        (placement, "_pretended", {}),
        (generators, "_of_devices", {}),
        (random, "_seeds", {}),
        (random, "_of_all", random._DEFAULT),
        (random, "listeners", []),
        (device_memory, "allocator", None),
    ):
        monkeypatch.setattr(module, name, value)
    yield
    simulated._current.index = 0
    streams._current.streams.clear()
    placement._before.stack.clear()
    default.base, default.stack[:] = None, []
    default.settle()
    unbind()


def unbind():
    """Take the rows' second kernels away: they are bound to a stand-in."""
    rules.RAW[1].__dict__.clear()
    rules.RAW[1].xp = None
    launch.function.cache_clear()
    launch._module.cache_clear()
    device_sampling._held.cache_clear()
    faults._flags.clear()
    for rule in rules.TABLE.values():
        rule.kernels[1] = None
        rule.together = getattr(rule.together, "elsewhere", rule.together)


class RuntimeFailure(Exception):
    """What cupy raises: an error with a status number."""

    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


class Runtime:
    """The CUDA runtime calls in use, over a number of pretended GPUs."""

    def __init__(self, count=2, driver=13000, failure=None):
        self.count, self.driver, self.failure, self.device = count, driver, failure, 0

    def driverGetVersion(self):
        return self.driver

    def runtimeGetVersion(self):
        return 13000

    def getDeviceCount(self):
        if self.failure:
            raise self.failure
        return self.count

    def getDevice(self):
        return self.device

    def setDevice(self, index):
        assert 0 <= index < self.count
        self.device = index

    def memGetInfo(self):
        return 100 + self.device, 1000

    def getDeviceProperties(self, index):
        return {
            "name": b"Stand-in GPU %d" % index,
            "major": 9,
            "minor": 0,
            "totalGlobalMem": 2**30,
            "multiProcessorCount": 132,
            "warpSize": 32,
            "l2CacheSize": 2**20,
            "maxThreadsPerMultiProcessor": 2048,
        }

    def deviceCanAccessPeer(self, reads, owns):
        return int(reads != owns)


def make_cupy(runtime):
    """Make modules that stand in for cupy and cupyx."""
    log = []

    class Array(np.ndarray):
        _id, _pointer = 0, None

        def __array_finalize__(self, made_from):
            self._id = getattr(made_from, "_id", runtime.device)

        @property
        def data(self):
            if isinstance(self.base, Array):
                whole = self.base.data
                apart = self.__array_interface__["data"][0] - self.base.__array_interface__["data"][0]
                return memory.MemoryPointer(whole.mem, whole.offset + apart)
            if self._pointer is None:  # made when it is first asked for
                before, runtime.device = runtime.device, self._id
                self._pointer = memory.allocator(self.nbytes)
                runtime.device = before
            return self._pointer

        @property
        def device(self):
            return types.SimpleNamespace(id=self._id)

        def get(self, stream=None, order="C", out=None, blocking=True):
            log.append(("get", runtime.device, blocking))
            if out is None:
                return np.array(np.asarray(self), order=order)
            out[...] = np.asarray(self)
            return out

        def set(self, values, stream=None):
            log.append(("set", runtime.device, stream.ptr))
            np.asarray(self)[...] = values

        def copy(self, order="C"):
            if self._id != runtime.device and not (self.flags.c_contiguous or self.flags.f_contiguous):
                raise NotImplementedError("CuPy cannot copy non-contiguous array between devices.")
            return made(self, order)

    Array.__module__ = "cupy"

    def made(values, order="C", blocking=False):
        log.append(("array", runtime.device, blocking))
        out = np.array(np.asarray(values), order=order).view(Array)
        out._id = runtime.device
        return out

    class Stream:
        numbers = iter(range(64, 10**6, 64))

        def __init__(self, null=False, non_blocking=False, priority=None):
            self.ptr = 0 if null else next(self.numbers)
            self.id, self.done = runtime.device, True

        def record(self, event=None):
            event = Event() if event is None else event
            event.record(self)
            return event

        def wait_event(self, event):
            log.append(("wait", runtime.device, event.stream.ptr))

        def use(self):
            current[runtime.device] = self

        def synchronize(self):
            log.append(("synchronize stream", self.ptr))

    class Event:
        done = True

        def __init__(self, block=False, disable_timing=False, interprocess=False):
            self.block, self.disable_timing, self.interprocess = block, disable_timing, interprocess
            self.ptr = next(Stream.numbers)

        def record(self, stream):
            self.stream = stream
            log.append(("record", runtime.device, stream.ptr))

        def synchronize(self):
            log.append(("synchronize event", self.stream.ptr))

    class Device:
        def __init__(self, index):
            self.index, self.before = index, None

        def __enter__(self):
            self.before = runtime.device
            runtime.setDevice(self.index)

        def __exit__(self, *exception):
            runtime.setDevice(self.before)

        def synchronize(self):
            log.append(("synchronize device", self.index))

    class Pinned(bytearray):
        @property
        def ptr(self):
            return ctypes.addressof(ctypes.c_char.from_buffer(self))

    Stream.null = Stream(null=True)
    current = {}

    def get_current_stream(index=None):
        return current.get(runtime.device if index is None else index, Stream.null)

    memory = make_memory(runtime, get_current_stream)

    class ElementwiseKernel:
        def __init__(self, inputs, outputs, operation, name, preamble=""):
            self.inputs, self.name = inputs, name

        def __call__(self, *args):
            return self.name, args

    def scatter_add(a, where, value):
        np.add.at(np.asarray(a), where, np.asarray(value))

    cupy = types.ModuleType("cupy")
    cupy.empty = lambda shape, dtype=float, order="C": np.empty(shape, dtype, order).view(Array)
    cupy.__getattr__ = lambda name: getattr(np, name)  # so that the rows can be bound
    cupy.__version__ = "14.0"
    cupy.ndarray, cupy.array, cupy.ogrid, cupy.log = Array, made, np.ogrid, log
    cupy.asnumpy = lambda array, order="C": np.array(np.asarray(array), order=order)
    cupy.ElementwiseKernel = ElementwiseKernel
    cupy.get_default_pinned_memory_pool = lambda: types.SimpleNamespace(
        free_all_blocks=lambda: log.append(("free pinned",))
    )
    cupy.cuda = types.SimpleNamespace(
        runtime=runtime,
        Device=Device,
        Stream=Stream,
        Event=Event,
        memory=memory,
        MemoryPool=memory.MemoryPool,
        set_allocator=lambda allocator: setattr(memory, "allocator", allocator),
        alloc_pinned_memory=Pinned,
        get_current_stream=get_current_stream,
        get_elapsed_time=lambda start, end: 12.5,
    )
    cupyx = types.ModuleType("cupyx")
    cupyx.scatter_add = scatter_add
    cupyx.empty_pinned = lambda shape, dtype=float, order="C": np.empty(shape, dtype, order)
    special = types.ModuleType("cupyx.scipy.special")
    special.erf = np.vectorize(math.erf, otypes="f")
    special.gammaln = np.vectorize(math.lgamma, otypes="f")
    special.digamma = lambda x: x * 0 + 7
    special.zeta = np.vectorize(lambda s, x: sum((x + k) ** -s for k in range(4000)), otypes="d")
    scipy = types.ModuleType("cupyx.scipy")
    scipy.special, cupyx.scipy = special, scipy
    nvrtc = types.ModuleType("cupy_backends.cuda.libs.nvrtc")
    nvrtc.getVersion = lambda: (13, 0)
    modules = {
        "cupy": cupy,
        "cupyx": cupyx,
        "cupyx.scipy": scipy,
        "cupyx.scipy.special": special,
        "cupy_backends": types.ModuleType("cupy_backends"),
        "cupy_backends.cuda": types.ModuleType("cupy_backends.cuda"),
        "cupy_backends.cuda.libs": types.ModuleType("cupy_backends.cuda.libs"),
        "cupy_backends.cuda.libs.nvrtc": nvrtc,
        "cupy_backends.cuda.libs.cublas": types.ModuleType("cupy_backends.cuda.libs.cublas"),
    }
    return modules


@pytest.fixture
def install(monkeypatch):
    """A function that puts a stand-in for cupy in place; status and words: why counting fails."""

    def put(count=2, driver=13000, status=None, words=""):
        runtime = Runtime(count, driver, None if status is None else RuntimeFailure(status, words))
        for name, module in make_cupy(runtime).items():
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.delitem(sys.modules, "vistorch.engine.kernels.cupy_", raising=False)
        return sys.modules["cupy"]

    yield put
    # It is bound to the stand-in: nobody else may find it.
    sys.modules.pop("vistorch.engine.kernels.cupy_", None)


@pytest.fixture
def two_gpus(install):
    """A stand-in for cupy with two GPUs."""
    return install(2)


@pytest.fixture
def strict_cupy(install):
    """A cupy that refuses what the real one refuses (see strict.py), with one device that is not in use."""
    if emulator.compiler() is None:
        pytest.skip("needs a C++ compiler, which runs the CUDA kernels without a GPU: install g++ or clang++")
    cupy = install(1)
    del cupy.__getattr__
    strict.fill(cupy)
    cupy.RawModule = emulator.RawModule
    sys.modules["cupyx"].errstate = lambda **_: contextlib.nullcontext()
    strict.special(sys.modules["cupyx.scipy.special"])
    return cupy


@pytest.fixture
def strict_gpu(strict_cupy):
    """The one place of that cupy."""
    return placement.place_of("cuda:0")


@pytest.fixture
def ran(monkeypatch):
    """The names of the kernels that the emulator ran, in order."""
    calls = []
    run = emulator.Function.__call__

    def counted(self, *args, **kwargs):
        calls.append(self.name)
        return run(self, *args, **kwargs)

    monkeypatch.setattr(emulator.Function, "__call__", counted)
    return calls


class Compiler:
    """NVIDIA's run-time compiler by ctypes: it needs neither a driver nor cupy."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))

    def compile(self, source, architecture):
        """Return the size of the machine code, or fail with the compiler's words."""
        program = ctypes.c_void_p()
        assert (
            self.library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
            == 0
        )
        try:
            options = [b"--gpu-architecture=" + architecture.encode(), b"--std=c++17"]
            code = self.library.nvrtcCompileProgram(program, 2, (ctypes.c_char_p * 2)(*options))
            size = ctypes.c_size_t()
            if code:
                self.library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
                words = ctypes.create_string_buffer(size.value)
                self.library.nvrtcGetProgramLog(program, words)
                raise ValueError(words.value.decode())
            assert self.library.nvrtcGetCUBINSize(program, ctypes.byref(size)) == 0
            return size.value
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))


def find_compiler():
    """Return the path of the compiler that the package nvidia-cuda-nvrtc brings, or None."""
    with contextlib.suppress(ImportError, ValueError):
        found = importlib.util.find_spec("nvidia")
        for folder in found.submodule_search_locations if found else ():
            for pattern in ("**/libnvrtc.so*", "**/nvrtc64_*.dll"):
                for path in sorted(Path(folder).glob(pattern)):
                    if "builtins" not in path.name and ".alt." not in path.name:
                        return path
    return None


@pytest.fixture(scope="session")
def compiler():
    """The CUDA compiler; the package is in the test extra, on Linux and Windows."""
    path = find_compiler()
    if path is None:
        pytest.skip("nvidia-cuda-nvrtc is not installed")
    return Compiler(path)
