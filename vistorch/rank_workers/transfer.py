"""What a cell needs of the notebook, on its way to the ranks: the names it reads, with all that they need.

Functions arrive as functions of the rank's own main module: what they call there by name is what the rank has. So their
globals are not copied into them, as cloudpickle would do; each name that they read travels once, as a name.

Invariant: packing changes nothing in the notebook, and runs no code of it but what pickling its objects runs.
"""

from __future__ import annotations

import ast
import functools
import io
import linecache
import pickle
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from .._code_pickle import CodePickler

_GLOBALS = "globals"
_ROUNDS = 50


class CannotTravel(ValueError):
    """A value of the notebook that cannot be pickled, by its name."""


def names_read(source: str) -> tuple[set[str], set[str]]:
    r"""The names that a piece of code reads, functions in it included, and those that it binds at its top.

    Args:
        source: Python, the magics of a cell already turned into calls.

    Example:
        >>> from vistorch.rank_workers.transfer import names_read
        >>> read, bound = names_read("def f(x):\n    return x + lr\ny = f(2)")
        >>> sorted(read), sorted(bound)
        (['f', 'lr', 'x'], ['f', 'y'])
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # the ranks say so themselves
        return set(), set()
    read, bound = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Store):
                read.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            read.add(node.target.id)
    for node in _at_top(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return read, bound


def _at_top(body: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All nodes that run when the code runs, not those inside of functions and classes."""
    stack = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))


def _globals_of(code: types.CodeType) -> set[str]:
    """The names that a function's code may look up in its module; attributes are among them, which does no harm."""
    found = set(code.co_names)
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            found |= _globals_of(one)
    return found


class _Packer(CodePickler):
    """cloudpickle, but the notebook's namespace is the rank's."""

    def __init__(self, file: Any, namespace: dict[str, Any]) -> None:
        super().__init__(file)
        self.namespace, self.wanted = namespace, set()
        self.files: set[str] = set()

    def persistent_id(self, obj: Any) -> Any:
        """The namespace itself is not packed."""
        return _GLOBALS if obj is self.namespace else None

    def reducer_override(self, obj: Any) -> Any:
        """How functions of the notebook are packed; all else is cloudpickle's."""
        if type(obj) is types.FunctionType and obj.__globals__ is self.namespace:
            code = obj.__code__
            self.wanted |= _globals_of(code)
            self.files.add(code.co_filename)
            state = {
                "closure": obj.__closure__ or (),
                "dict": obj.__dict__,
                **{name: getattr(obj, name) for name in _FIELDS},
            }
            return make_function, (code, self.namespace, obj.__name__), state, None, None, fill_function
        if isinstance(obj, _CACHED) and obj.__module__ == "__main__":  # pickle would only name it
            return make_cached, (obj.__wrapped__, obj.cache_parameters())
        return super().reducer_override(obj)


_CACHED = type(functools.lru_cache(len))
_FIELDS = (
    "__defaults__",
    "__kwdefaults__",
    "__annotations__",
    "__doc__",
    "__module__",
    "__qualname__",
)


def make_function(code: types.CodeType, namespace: dict[str, Any], name: str) -> types.FunctionType:
    """A function whose closure is still empty: what it encloses may be the function itself.

    Args:
        code: its code.
        namespace: its globals.
        name: its name.
    """
    cells = tuple(types.CellType() for _ in code.co_freevars)
    return types.FunctionType(code, namespace, name, None, cells)


def fill_function(function: types.FunctionType, state: dict[str, Any]) -> None:
    """Give a function what it encloses, its defaults and its texts.

    Args:
        function: made by `make_function`.
        state: what the packer noted.
    """
    for ours, given in zip(function.__closure__ or (), state["closure"], strict=True):
        try:
            ours.cell_contents = given.cell_contents
        except ValueError:  # empty there too
            pass
    function.__dict__.update(state["dict"])
    for name in _FIELDS:
        setattr(function, name, state[name])


def make_cached(function: Any, parameters: dict[str, Any]) -> Any:
    """A function with a cache of its own, still empty.

    Args:
        function: what is computed.
        parameters: of `functools.lru_cache`.
    """
    return functools.lru_cache(**parameters)(function)


class _Unpacker(pickle.Unpickler):
    """Reads what `pack` wrote; the namespace is this process's main module's."""

    def persistent_load(self, pid: Any) -> Any:
        """The namespace."""
        return vars(sys.modules["__main__"])


def pack(
    names: Iterable[str],
    namespace: dict[str, Any],
    known: Mapping[str, Any] | Iterable[str] = (),
    optional: Iterable[str] = (),
) -> tuple[bytes, dict[str, Any]]:
    """The values of some names, and of all that they need, as bytes; and what travels, by name.

    Args:
        names: what a cell reads.
        namespace: the notebook's; other names are left to Python.
        known: the names that the ranks have already.
        optional: names whose values may stay behind where they cannot be pickled.

    Raises:
        CannotTravel: with the name of what cannot be pickled.
    """
    known, left = set(known), set()
    wanted = {name for name in names if name in namespace and name not in known}
    data, packer = b"", None
    for _ in range(_ROUNDS):
        values = {name: namespace[name] for name in sorted(wanted - left)}
        try:
            data, packer = _packed(values, namespace)
        except Exception as error:
            name, why = _culprit(values, namespace, error)
            if name not in optional:
                raise CannotTravel(
                    f"`{name}` of the notebook cannot be sent to the ranks ({why}): make it in a cell that runs on them"
                ) from None
            left.add(name)
            continue
        more = {name for name in packer.wanted if name in namespace} - known - wanted
        if not more:
            break
        wanted |= more
    values = {name: namespace[name] for name in sorted(wanted - left)}
    sources = {
        file: linecache.cache[file]
        for file in sorted(packer.files if packer else ())
        if file in linecache.cache and len(linecache.cache[file]) == 4
    }
    return pickle.dumps((data, sources)), values


def _packed(values: dict[str, Any], namespace: dict[str, Any]) -> tuple[bytes, _Packer]:
    file = io.BytesIO()
    packer = _Packer(file, namespace)
    packer.dump(values)
    return file.getvalue(), packer


def _culprit(values: dict[str, Any], namespace: dict[str, Any], error: Exception) -> tuple[str, str]:
    """Which of the values cannot be pickled, and why."""
    for name, value in values.items():
        try:
            _packed({name: value}, namespace)
        except Exception as why:
            return name, f"{type(why).__name__}: {why}"
    return ", ".join(values), f"{type(error).__name__}: {error}"


def unpack(data: bytes) -> dict[str, Any]:
    """Read what `pack` wrote, and the source of the functions in it, which tracebacks show.

    Args:
        data: from this process's own parent.
    """
    packed, sources = pickle.loads(data)
    for file, entry in sources.items():
        # without a time of change, so that linecache does not look for such a file
        linecache.cache[file] = (entry[0], None, *entry[2:])
    return _Unpacker(io.BytesIO(packed)).load()
