"""From the text of a kernel to its launch: one compiled module for each file and type of elements.

Invariant: a launch neither copies to the device nor waits for it; cupy compiles a module at its first launch and keeps
the result on the disk. Arrays travel as pointers, so they must be contiguous; whole numbers as 64 bits, others as
double.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("source")
TYPES = {  # the type in memory and the type computed in
    "float32": ("float", "float"),
    "float64": ("double", "double"),
    "float16": ("half_t", "float"),
    "bfloat16": ("bfloat_t", "float"),
}
OPTIONS = ("--std=c++17",)
BLOCK = 256
MOST_BLOCKS = 1 << 16  # threads of larger grids would have too little to do


@functools.cache
def text(file: str, dtype: str) -> str:
    """The whole text of a module for one type of elements."""
    memory, wide = TYPES[dtype]
    parts = [SOURCE.joinpath(name).read_text() for name in ("common.cuh", f"{file}.cu")]
    return "".join([f"#define T {memory}\n#define A {wide}\n", *parts])


@functools.cache
def function(file: str, name: str, dtype: str) -> Any:
    """A kernel, which cupy compiles for each device at its first launch there."""
    return _module(file, dtype).get_function(name)


@functools.cache
def _module(file: str, dtype: str) -> Any:
    import cupy  # pyright: ignore[reportMissingImports]

    # "T" and "A" are names of headers that cupy's own text includes: nothing of it goes in front of ours.
    return cupy.RawModule(code=text(file, dtype), options=OPTIONS)


def known(*arrays: Any) -> bool:
    """Whether all arrays have one type that the kernels know."""
    first = arrays[0].dtype
    return first.name in TYPES and all(a.dtype == first for a in arrays)


def each(count: int) -> int:
    """How many blocks walk over so many items, one to a thread."""
    return max(1, min(-(-count // BLOCK), MOST_BLOCKS))


def rows(count: int) -> int:
    """How many blocks walk over so many rows, one to a block."""
    return max(1, min(count, MOST_BLOCKS))


def threads(n: int, most: int = 1024) -> int:
    """Threads for a row of n elements: whole warps, each thread with a few elements."""
    wanted = 32
    while wanted < most and wanted * 4 < n:
        wanted *= 2
    return wanted


def launch(file: str, name: str, dtype: Any, grid: int, block: int, args: tuple, shared: int = 0) -> None:
    """Put a kernel into the current stream; a missing array is 0."""
    function(file, name, dtype.name)((grid,), (block,), args, shared_mem=shared)
