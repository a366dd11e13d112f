"""The entries of PyTorch's operator database that a program can call.

Invariant: an entry is left out only for a reason written here.
"""

import contextlib
import functools
import sys
import types
import unittest
from collections.abc import Iterator
from typing import Any

PRIVATE = ("_", "torch._", "torch.ops.")
PUBLIC = ("__getitem__", "__r")
AWAY = {
    "jiterator_unary": "compiled for CUDA alone",
    "jiterator_binary": "compiled for CUDA alone",
    "jiterator_4inputs_with_extra_args": "compiled for CUDA alone",
    "jiterator_binary_return_by_ref": "compiled for CUDA alone",
    "jiterator_2inputs_2outputs": "compiled for CUDA alone",
    "slice": "an overload of aten without a public name",
    "native_dropout_backward": "an overload of aten without a public name",
    "max_pool2d_with_indices_backward": "an overload of aten without a public name",
}


def label(entry: Any) -> str:
    """The name of an entry and, after a colon, of its variant."""
    return f"{entry.name}:{entry.variant_test_name}" if entry.variant_test_name else entry.name


def is_public(name: str) -> bool:
    """Whether a program can call it by a name that is documented."""
    return name not in AWAY and (name.startswith(PUBLIC) or not name.startswith(PRIVATE))


@contextlib.contextmanager
def expecttest() -> Iterator[None]:
    """A stand-in for the package whose test class PyTorch's own tests derive from; the database does not use it."""
    try:
        import expecttest  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError:
        made = types.ModuleType("expecttest")
        made.TestCase = unittest.TestCase  # type: ignore[attr-defined]
        sys.modules["expecttest"] = made
        try:
            yield
        finally:
            del sys.modules["expecttest"]
    else:
        yield


@functools.cache
def entries() -> dict[str, Any]:
    """Every public entry that runs on a processor, by its label."""
    with expecttest():
        from torch.testing._internal.common_methods_invocations import op_db
    return {label(entry): entry for entry in op_db if is_public(entry.name) and entry.dtypes}


@functools.cache
def optimizers() -> dict[str, Any]:
    """Every optimizer of PyTorch's database of them, by the name of its class."""
    with expecttest():
        from torch.testing._internal.common_optimizers import optim_db
    return {info.optim_cls.__name__: info for info in optim_db}


@functools.cache
def layers() -> dict[str, Any]:
    """Every layer of PyTorch's database of them that vistorch builds, by its name."""
    with expecttest():
        from torch.testing._internal.common_modules import module_db
    return {info.name: info for info in module_db if info.module_cls.__module__.startswith("torch.nn")}
