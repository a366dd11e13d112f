"""The reference: a page for each section, made from the docstrings of what is really there when it is imported.

A generator of our own: most functions are made from rows of a table, and a tool that reads source text sees no `add`.

Invariant: the pages say nothing that a docstring does not; the same code gives the same pages.
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from types import ModuleType
from typing import Any

from . import sections
from .docstrings import escape, markdown, signature
from .entries import class_entry, described, entry
from .formulas import gradient


def pages() -> dict[str, str]:
    """Return every page of the reference by its path without a suffix."""
    made = {f"reference/{file}": _functions(title, file) for title, file, _ in sections.FUNCTIONS}
    if left := _in_section("other"):
        made["reference/other"] = _page("Other functions", "", _with_inplace(left))
    made["reference/tensor"] = _tensor()
    for title, file, names in sections.MODULES:
        made[f"reference/{file}"] = _modules(title, names)
    made["reference/index"] = _index(made)
    return made


def public(module: ModuleType) -> list[tuple[str, Any]]:
    """Return what a module offers: what it lists, or what it has that is its own, functions and classes only.

    Args:
        module: the module.
    """
    listed = getattr(module, "__all__", None)
    names = sorted(listed if listed is not None else (n for n in dir(module) if not n.startswith("_")))
    found = []
    for name in names:
        thing = getattr(module, name)
        ours = str(getattr(thing, "__module__", "")).startswith("vistorch")
        if name == "Tensor":  # `fft` lists it, as in PyTorch; it has a page of its own
            continue
        if (inspect.isclass(thing) or inspect.isroutine(thing)) and ours and inspect.getdoc(thing):
            found.append((name, thing))
    return found


def section_of(thing: Any) -> str:
    """Return the page of a function of `vistorch` itself; nothing for one that has none.

    Args:
        thing: the function.
    """
    code = getattr(inspect.unwrap(thing), "__code__", None)
    file = code.co_filename.replace("\\", "/").rpartition("vistorch/")[2] if code else ""
    if not file or file.startswith(sections.LEFT_OUT):
        return ""
    for _, page, places in sections.FUNCTIONS:
        if file.startswith(places):
            return page
    return "other"


def _in_section(page: str) -> list[tuple[str, Any]]:
    """Return the functions of `vistorch` itself that stand on a page; an in-place variant stands with its function."""
    vistorch = importlib.import_module("vistorch")
    found = []
    for name in sorted(n for n in dir(vistorch) if not n.startswith("_")):
        thing = getattr(vistorch, name)
        variant = name.endswith("_") and hasattr(vistorch, name[:-1])
        if inspect.isfunction(thing) and not variant and inspect.getdoc(thing) and section_of(thing) == page:
            found.append((name, thing))
    return found


def _functions(title: str, file: str) -> str:
    entries = _with_inplace(_in_section(file))
    if file == "settings":
        vistorch = importlib.import_module("vistorch")
        named = (
            "no_grad",
            "enable_grad",
            "inference_mode",
            "set_grad_enabled",
            "device",
            "dtype",
            "Generator",
        )
        entries += [
            class_entry(f"vistorch.{name}", getattr(vistorch, name), documented())
            for name in (*named, "Size", "finfo", "iinfo")
        ]
    says = "Functions of `vistorch`; most are methods of a tensor too, and those with one array as a result have an "
    return _page(title, says + "in-place variant of the same name with an underscore.", entries)


def _with_inplace(found: list[tuple[str, Any]]) -> list[str]:
    """Return the entries of functions; names of the same function, or of one described alike, share an entry."""
    same: dict[tuple[str, str], list[tuple[str, Any]]] = {}
    for name, thing in found:
        same.setdefault((signature(thing, ""), inspect.getdoc(thing) or ""), []).append((name, thing))
    entries = []
    for (how, doc), those in same.items():
        names = [name for name, _ in those]
        head = "\n".join([*(f"(vistorch.{name})=" for name in names), f"## {escape(', '.join(names))}"])
        calls = [f"vistorch.{name}{how}" for name in names]
        parts = [head, described("function", calls, those[0][1]), markdown(doc), gradient(*those[0])]
        entries.append("\n\n".join(part for part in parts if part))
    return entries


def _tensor() -> str:
    """Return the page of Tensor: in full what is only a method, by name what is a function too."""
    vistorch = importlib.import_module("vistorch")
    own, shared = [], []
    for name in sorted(n for n in dir(vistorch.Tensor) if not n.startswith("_")):
        thing = inspect.getattr_static(vistorch.Tensor, name)
        thing = getattr(thing, "fget", thing) or thing
        function = getattr(vistorch, name, None)
        if name.endswith("_") and hasattr(vistorch.Tensor, name[:-1]):
            continue
        if inspect.isfunction(function) and section_of(function):
            variant = name.endswith("_") and hasattr(vistorch, name[:-1])
            shared.append(f"[`{name}`](#vistorch.{name[:-1] if variant else name})")
        elif not inspect.isfunction(function) and inspect.getdoc(thing):
            property_ = not callable(thing) or isinstance(
                inspect.getattr_static(vistorch.Tensor, name), property
            )
            own.append(entry(f"Tensor.{name}", thing, called=not property_))
    head = markdown(inspect.getdoc(vistorch.Tensor) or "")
    twice = "## Methods that are functions too\n\nCalled on a tensor, which is their first argument:\n\n"
    return _page("vistorch.Tensor", head, [twice + ", ".join(shared) + ".", *own])


def _modules(title: str, names: tuple[str, ...]) -> str:
    parts: list[str] = []
    seen: set[int] = set()
    targets: set[str] = set()
    for name in names:
        module = importlib.import_module(name)
        groups = sections.GROUPS.get(name)
        entries: dict[str, list[str]] = {}
        depth = 3 if len(names) > 1 or groups else 2
        for own, thing in sorted(public(module), key=lambda pair: inspect.isclass(pair[1])):
            if id(thing) in seen:
                continue
            seen.add(id(thing))
            target = f"{name}.{own}"
            if target.lower() in targets:  # `stream` and `Stream`: targets know no case
                target += "-class"
            targets.add(target.lower())
            made = (
                class_entry(f"{name}.{own}", thing, documented(), depth, target)
                if inspect.isclass(thing)
                else entry(f"{name}.{own}", thing, depth, target=target)
            )
            entries.setdefault(sections.group_of(thing, groups), []).append(made)
        says = _first_paragraph(module)
        if len(names) > 1:
            parts.append("\n\n".join([f"## {name}", says, *entries.get("", [])]))
        else:
            parts += [says, *entries.get("", [])]
        for group, _ in groups or ():
            parts += [f"## {group}", *entries.get(group, [])]
    return _page(title, "", parts)


@cache
def documented() -> frozenset[type]:
    """Return the classes that have an entry of their own."""
    modules = (importlib.import_module(name) for _, _, names in sections.MODULES for name in names)
    classes = [thing for namespace in modules for _, thing in public(namespace) if inspect.isclass(thing)]
    return frozenset([importlib.import_module("vistorch").Tensor, *classes])


def _first_paragraph(module: ModuleType) -> str:
    """Return what a module's docstring begins with, without what is for who works on it."""
    return escape((inspect.getdoc(module) or "").partition("\n\n")[0])


def _page(title: str, says: str, parts: list[str]) -> str:
    return "\n\n".join(part for part in (f"# {title}", says, *parts) if part) + "\n"


def _index(made: dict[str, str]) -> str:
    """Return the page that leads to the others."""
    names = [path.removeprefix("reference/") for path in made]
    text = (
        "Every public name; the examples are tests. The pages are made from the docstrings, "
        "so `help(vistorch.add)` says the same.\n\nWhat PyTorch has and vistorch has not is on the page "
        "[what differs](../differences.md)."
    )
    tree = "\n".join(["```{toctree}", ":maxdepth: 1", "", *names, "```"])
    return f"# Reference\n\n{text}\n\n{tree}\n"
