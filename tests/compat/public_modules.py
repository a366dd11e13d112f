"""PyTorch's public modules that vistorch has no file of: `python -m tests.compat.public_modules` writes their table.

The table is text, in `vistorch/torch_api/rare_modules.py`: a module, then lines of functions (`f`), classes (`c`),
plain values (`v`) and of what another module has under the same name (`=`). Invariant: a module that vistorch has
itself, or by a row of another table, is not in it.
"""

import contextlib
import importlib
import io
import os
import pkgutil
import sys
import textwrap
import types
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

import vistorch
from vistorch.torch_api import rare_modules, unbuilt

FILE = Path(rare_modules.__file__)
# What PyTorch has beside its modules: headers, programs, tests of its own.
NO_MODULES = {"bin", "csrc", "include", "lib", "share", "test"}
PLAIN = (bool, int, float, str, type(None))


def walk(paths: list[str], prefix: str = "") -> Iterator[str]:
    """Yield the public modules below some folders, without importing any."""
    for found in pkgutil.iter_modules(paths):
        if not found.name.startswith("_") and not (not prefix and found.name in NO_MODULES):
            yield prefix + found.name
            if found.ispkg:
                below = [os.path.join(path, found.name) for path in paths]
                yield from walk(below, f"{prefix}{found.name}.")


@cache
def modules() -> list[str]:
    """All of them, without `torch.`."""
    return list(walk(list(torch.__path__)))


def theirs(name: str) -> types.ModuleType:
    """A module of PyTorch's; some print as they are imported."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return importlib.import_module(f"torch.{name}")


def names(module: types.ModuleType) -> dict[str, Any]:
    """The public things of a module: what it says it offers, and what is written in it."""
    below = f"{module.__name__}."
    with warnings.catch_warnings():  # what is deprecated says so whatever is asked of it
        warnings.simplefilter("ignore")
        homes = {key: getattr(value, "__module__", None) for key, value in vars(module).items()}
    own = {key for key, home in homes.items() if f"{home}.".startswith(below)}
    said = {*getattr(module, "__all__", ()), *own}
    found = {name: getattr(module, name) for name in sorted(said) if name[0] != "_" and hasattr(module, name)}
    return {name: value for name, value in found.items() if not isinstance(value, types.ModuleType)}


def here(name: str) -> Any:
    """A module of ours that is not made from this table; None where there is none."""
    try:
        found = importlib.import_module(f"vistorch.{name}")
    except ModuleNotFoundError:
        return None
    made = found.__spec__ is not None and found.__spec__.origin == "not built"
    return None if made and name not in unbuilt.OPENED else found


@cache
def places() -> dict[int, list[tuple[str, str]]]:
    """Where PyTorch has a thing in modules that are here: by its identity, (module, name)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _places()


def _places() -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    for name in ["", *modules()]:
        ours = vistorch if not name else here(name)
        try:
            held = {} if ours is None else vars(theirs(name) if name else torch)
        except ImportError:  # of a library that is not installed
            continue
        for key, value in held.items():
            if not isinstance(value, types.ModuleType) and (isinstance(value, type) or callable(value)):
                if not key.startswith("_") and getattr(ours, key, None) is not None:
                    found.setdefault(id(value), []).append((name, key))
    return found


def row(name: str) -> str:
    """The rows of one module."""
    functions, classes, values, same = [], [], [], {}
    for key, value in names(theirs(name)).items():
        homes = [module for module, other in places().get(id(value), []) if other == key]
        home = str(getattr(value, "__module__", "")).removeprefix("torch.")
        callable_there = isinstance(value, type) or callable(value)
        if (
            not homes
            and callable_there
            and home != name
            and home in lacking()
            and vars(theirs(home)).get(key) is value
        ):
            homes = [home]  # the one module of the table that makes it
        if homes:
            nearest = max(homes, key=lambda home: (name.startswith(f"{home}."), len(home)))
            same.setdefault(nearest or "torch", []).append(key)
        elif isinstance(value, type):
            classes.append(key)
        elif callable(value):
            functions.append(key)
        elif isinstance(value, PLAIN) and len(repr(value)) < 60:
            values.append(f"{key}={value!r}".replace(" ", "\\x20"))
    lines = [name, *_line("f", functions), *_line("c", classes), *_line("v", values)]
    for home, keys in sorted(same.items()):
        lines += _line(f"= {home}:", keys)
    return "\n".join(lines)


def _line(head: str, words: list[str]) -> list[str]:
    indent = f" {head} "
    return (
        textwrap.wrap(" ".join(words), 110, initial_indent=indent, subsequent_indent=indent) if words else []
    )


@cache
def lacking() -> list[str]:
    """The modules that belong into the table."""
    return [name for name in modules() if here(name) is None]


def main() -> None:
    """Write the table."""
    table = "\n".join(row(name) for name in lacking())
    text = FILE.read_text("utf-8")
    before, _, rest = text.partition('TABLE = """\n')
    _, _, after = rest.partition('\n"""\n')
    FILE.write_text(f'{before}TABLE = """\n{table}\n"""\n{after}', "utf-8")


if __name__ == "__main__":
    sys.exit(main())
