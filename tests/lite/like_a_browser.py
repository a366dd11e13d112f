"""CPython made to lack what a browser's Python lacks: threads, processes, the C library, 64-bit sizes.

`python -m pytest -p tests.lite.like_a_browser tests/ops` runs any tests so. Sizes: every call in vistorch of a numpy
function that answers with numpy's size type answers with 32 bits, as where a pointer has 32. The calls are found in the
source when a module is imported, because methods of arrays cannot be replaced.
Invariant: it must be loaded before vistorch is, and refuses to be otherwise.
"""

from __future__ import annotations

import _thread
import ast
import importlib.abc
import importlib.machinery
import os
import sys
import threading
from typing import Any

import ml_dtypes  # noqa: F401  C code that imports ctypes
import numpy as np

# Functions and methods whose answer has numpy's size type, or Python's `int` as numpy sees it.
SIZED = frozenset(
    "append arange argmax argmin argpartition argsort argwhere array asarray bincount count_nonzero cumprod cumsum "
    "diff digitize flatnonzero full indices lexsort nanargmax nanargmin nonzero prod ravel_multi_index repeat "
    "searchsorted sum tril_indices triu_indices unique unravel_index where".split()
)
ADDED = frozenset(
    ("sum", "prod", "cumsum", "cumprod", "diff")
)  # whole numbers below a size are added up as one
MADE = frozenset(("array", "asarray", "full", "where", "arange"))  # of Python's own numbers
GONE = ("_multiprocessing", "_posixshmem", "fcntl", "lzma", "_lzma", "resource", "zmq")


def narrow(name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
    """Call, and give what has numpy's size type in 32 bits.

    Args:
        name: of the function or method.
        call: the function or bound method itself.
        *args: its arguments.
        **kwargs: its named arguments.
    """
    owner = getattr(call, "__self__", None)
    module = getattr(call, "__module__", None) or getattr(owner, "__name__", "")
    if not (isinstance(owner, np.ndarray) or module.startswith("numpy")):
        return call(*args, **kwargs)
    if name == "repeat" and any(getattr(one, "dtype", None) == np.int64 for one in args[-1:]):
        raise TypeError(
            "Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'"
        )
    found = call(*args, **kwargs)
    operands = [owner, *args] if isinstance(owner, np.ndarray) else list(args)
    if "dtype" in kwargs or kwargs.get("out") is not None or any(_kind(one) for one in args[1:]):
        return found
    if name in ADDED and not _short(operands[0]):
        return found
    if name in MADE and any(isinstance(one, (np.ndarray, np.generic)) for one in _flat(operands[-2:])):
        return found
    if name == "append" and not all(_short(one) or isinstance(one, int) for one in operands):
        return found
    if name == "unique":
        return found if isinstance(found, np.ndarray) else (found[0], *map(_narrowed, found[1:]))
    return tuple(map(_narrowed, found)) if isinstance(found, tuple) else _narrowed(found)


def _kind(one: Any) -> bool:
    return isinstance(one, (np.dtype, type)) or (isinstance(one, str) and one in ("i8", "int64"))


def _flat(items: Any) -> list[Any]:
    return [x for one in items for x in (_flat(one) if isinstance(one, (list, tuple)) else [one])]


def _short(one: Any) -> bool:
    kind = getattr(one, "dtype", None)
    return kind is not None and kind.kind in "biu" and kind.itemsize < 8


def _narrowed(found: Any) -> Any:
    return found.astype(np.int32) if getattr(found, "dtype", None) == np.int64 else found


class _Calls(ast.NodeTransformer):
    """`x.argsort(0)` becomes `__narrow__("argsort", x.argsort, 0)`, and `np.intp` becomes `__intp__`."""

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if node.attr == "intp" and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Name("__intp__", ast.Load()), node)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in SIZED:
            name = ast.copy_location(ast.Constant(node.func.attr), node)
            asked = ast.copy_location(ast.Name("__narrow__", ast.Load()), node)
            return ast.copy_location(ast.Call(asked, [name, node.func, *node.args], node.keywords), node)
        return node


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        """Compile anew: what is cached knows nothing of this."""
        return self.source_to_code(self.get_data(self.path), self.path)

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        """Compile with the calls rewritten."""
        tree = ast.fix_missing_locations(_Calls().visit(ast.parse(data)))
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def exec_module(self, module: Any) -> None:
        """Give the module the function that its calls were rewritten to."""
        module.__narrow__, module.__intp__ = narrow, np.int32
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """Hide what is not there; load the engine by rewriting."""
        if name.split(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if not name.startswith("vistorch.engine"):
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if found is not None and isinstance(found.loader, importlib.machinery.SourceFileLoader):
            found.loader = _Loader(found.loader.name, found.loader.path)
        return found


def _no_thread(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("can't start new thread")


def _no_process(*args: Any, **kwargs: Any) -> Any:
    raise OSError(52, "Function not implemented")


def _no_library(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise SystemError("a library of the system was opened, which ends the Python of a browser")


def pretend(threads: bool = True) -> None:
    """Take away what a browser's Python does not have.

    Args:
        threads: take threads away too; the tests' own time limit wants one.
    """
    if "vistorch" in sys.modules:
        raise RuntimeError("vistorch was imported before: load this first")
    os.environ["VISTORCH_BROWSER"] = "1"
    import ctypes
    import multiprocessing.queues  # noqa: F401  a browser's Python can import it, too
    import subprocess

    for name in GONE:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Finder())
    ctypes.CDLL.__init__ = _no_library  # type: ignore[method-assign]
    subprocess.Popen.__init__ = _no_process  # type: ignore[method-assign]
    os.fork = _no_process
    if threads:
        _thread.start_new_thread = _no_thread  # type: ignore[assignment]
        for name in ("_start_new_thread", "_start_joinable_thread"):
            if hasattr(threading, name):
                setattr(threading, name, _no_thread)


def pytest_configure(config: Any) -> None:
    """As a plugin: for the whole run."""
    pretend()
