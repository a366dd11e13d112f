"""The project's CUDA kernels on the processor: the same text, compiled as C++ behind `device.h`.

It stands in for `cupy.RawModule` where arrays are those of `strict_array`: every array is checked to be contiguous and
of the kernel's type, bytes around what a kernel may write are checked too. Invariant: it proves numbers and barriers,
never speed, and not what only NVRTC or a device can refuse.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
CACHE = Path(tempfile.gettempdir()) / "vistorch-emulated-kernels"
KERNEL = re.compile(r'extern "C" __global__ void (\w+)\(')
# Contraction of a product and a sum is the device's own; here results must not depend on the processor.
FLAGS = "-std=c++17 -O1 -shared -fPIC -w -U_FORTIFY_SOURCE -fno-stack-protector -ffp-contract=off".split()
ORDERS = (0, 1, 2)  # the threads of a block in turn, from behind, and far apart


def compiler() -> str | None:
    """The C++ compiler of this machine, or None."""
    return next(filter(None, map(shutil.which, ("g++", "clang++", "c++"))), None)


def source(code: str) -> str:
    """The text to compile: the device, the kernels, and a way in to each."""
    ways = [
        f'extern "C" const char* letters_{name}() {{ return emulator::letters({name}); }}\n'
        f"static void call_{name}(void** args) {{ emulator::call({name}, args); }}\n"
        f'extern "C" const char* run_{name}(void** args, const unsigned* sizes, size_t shared, int order) '
        f"{{ return emulator::run(call_{name}, args, sizes, shared, order); }}\n"
        for name in KERNEL.findall(code)
    ]
    return "".join(['#include "device.h"\n', code, "\n#undef T\n#undef A\n", *ways])


@functools.cache
def library(code: str) -> ctypes.CDLL:
    """The compiled text; kept on the disk, by its contents."""
    whole, header = source(code), (HERE / "device.h").read_text()
    key = hashlib.sha256("\0".join([whole, header, *FLAGS]).encode()).hexdigest()[:24]
    path = CACHE / f"{key}.so"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            text = Path(folder) / "kernels.cpp"
            text.write_text(whole)
            made = Path(folder) / "kernels.so"
            command = [str(compiler()), *FLAGS, f"-I{HERE}", str(text), "-o", str(made)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr)
            made.replace(path)
    return ctypes.CDLL(str(path))


class Function:
    """`cupy.RawKernel`."""

    order = 0  # which of ORDERS; a test turns it

    def __init__(self, code: str, name: str) -> None:
        self.name = name
        self.run = getattr(library(code), f"run_{name}")
        self.run.restype = ctypes.c_char_p
        letters = getattr(library(code), f"letters_{name}")
        letters.restype = ctypes.c_char_p
        self.letters = letters().decode()

    def __call__(self, grid, block, args, *, shared_mem=0):
        assert len(args) == len(self.letters), (
            f"{self.name} takes {len(self.letters)} arguments, not {len(args)}"
        )
        values = [self.value(letter, v) for letter, v in zip(self.letters, args, strict=True)]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        sizes = (ctypes.c_uint * 6)(*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3])
        wrong = self.run(pointers, sizes, ctypes.c_size_t(shared_mem), Function.order)
        if wrong:
            raise RuntimeError(f"{self.name}: {wrong.decode()}")

    def value(self, letter, v):
        """An argument as cupy passes it: a Python number is 64 bits wide, an array a pointer."""
        if letter == "d":
            assert type(v) is float, f"{self.name}: a double was given as {type(v).__name__}"
            return ctypes.c_double(v)
        if type(v) is int:
            assert letter == "q" or v == 0 or v > 4096, f"{self.name}: {v} is no address"
            return ctypes.c_longlong(v)
        assert letter == "p", f"{self.name}: a number was given as {type(v).__name__}"
        array = getattr(v, "_a", v)
        assert isinstance(array, np.ndarray), f"{self.name}: {type(v).__name__} is no argument"
        assert array.flags.c_contiguous or array.size < 2, f"{self.name}: an array has gaps"
        return ctypes.c_void_p(array.ctypes.data)


class RawModule:
    """`cupy.RawModule` of a text."""

    def __init__(self, code, options=()):
        self.code = code

    def get_function(self, name):
        return Function(self.code, name)
