"""Whose frames stand in a traceback: those of the engine, or of the real PyTorch, and what an op of either was given.

PyTorch's ops are no Python: what one was given is known from the module that called it, from a function mode of ours
that saw the call, or from the names in the user's own line.
Invariant: nothing is imported and nothing is run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ...engine.base.home import HOME
from ...engine.base.namespace import real_torch
from ...engine.core.tensor import Tensor
from ..graph.failed_forward import MODULES, VARARGS, _module, _name

Given = list[tuple[str, Any]]  # what an op was given, by argument

# What PyTorch calls the first arguments of functions that are no Python, where it is not "input" and "other".
ARGUMENTS = {
    "linear": ("input", "weight", "bias"),
    "embedding": ("weight", "indices"),
    "addmm": ("input", "mat1", "mat2"),
    "baddbmm": ("input", "batch1", "batch2"),
    "mm": ("input", "mat2"),
    "bmm": ("input", "mat2"),
    "cat": ("tensors",),
    "stack": ("tensors",),
    "__getitem__": ("input", "index"),
    "__setitem__": ("input", "index", "value"),
    **dict.fromkeys(
        [f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)], ("input", "weight", "bias")
    ),
}
PAIR = ("input", "other")
LETTERS = {
    "float32": "float",
    "float64": "double",
    "float16": "half",
    "int64": "long",
    "int32": "int",
    "int16": "short",
    "int8": "char",
    "uint8": "byte",
    "complex64": "complexfloat",
    "complex128": "complexdouble",
}


@dataclass(frozen=True)
class Library:
    """One of the two.

    Args:
        homes: where its files stand, and those of ours that its calls go through.
        modules: where its modules stand.
        tensor: its class of tensors.
        python: whether its ops are Python, so that a frame holds what each was given.
    """

    homes: tuple[str, ...]
    modules: str
    tensor: Any
    python: bool

    def is_inside(self, frame: FrameType) -> bool:
        """Whether a frame is the library's."""
        return frame.f_code.co_filename.startswith(self.homes)

    def calls_ops(self, frame: FrameType) -> bool:
        """Whether a frame is the user's, or that of a module: what it calls are ops."""
        return not self.is_inside(frame) or frame.f_code.co_filename.startswith(self.modules)

    def kind(self, tensor: Any) -> str:
        """The type of a tensor's elements as PyTorch's sentences call it, in small letters."""
        if isinstance(tensor, Tensor):
            return tensor.dtype.scalar_name.lower()
        name = str(tensor.dtype).rpartition(".")[2]
        return LETTERS.get(name, name)

    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of this library."""
        return isinstance(value, self.tensor)

    def operands(self, frames: list[FrameType]) -> tuple[Given, str]:
        """What the failing op was given, and its name: the outermost function of the library that got tensors.

        Args:
            frames: below the one that called it.
        """
        for frame in frames:
            seen = called_through(frame)
            given, name = (
                (seen, frame.f_locals["func"].__name__) if seen else (arguments(frame), _name(frame))
            )
            if found := self.tensors(given):
                return found, name
        return [], ""

    def tensors(self, given: Given) -> Given:
        """The tensors among what a function was given, those in lists one by one."""
        found: Given = []
        for name, value in given:
            if self.is_tensor(value):
                found.append((name, value))
            elif isinstance(value, (list, tuple)) and len(value) <= 64:
                found += [(f"{name}[{i}]", one) for i, one in enumerate(value) if self.is_tensor(one)]
        return found

    def of_module(self, frame: FrameType) -> tuple[Given, str]:
        """What a module was given that raised itself, and the name of its op where that is no Python."""
        given, module = self.tensors(arguments(frame)), _module(frame)
        if self.python or module is None or not given:
            return given, ""
        own = vars(module).get("_parameters", {})
        return [*given, *[(k, p) for k, p in own.items() if self.is_tensor(p)]], type(module).__name__.lower()


OURS = Library((HOME,), MODULES, Tensor, True)


def libraries(frames: list[tuple[FrameType, int]]) -> list[Library]:
    """The engine, and the real PyTorch where a program has imported it; that one alone where it is in a traceback.

    Args:
        frames: of the traceback.
    """
    torch = real_torch()
    if torch is None:
        return [OURS]
    folder = os.path.join(os.path.dirname(torch.__file__), "")
    real = Library((folder, HOME), os.path.join(folder, "nn", "modules", ""), torch.Tensor, False)
    seen = any(f.f_code.co_filename.startswith(folder) or called_through(f) for f, _ in frames)
    return [real] if seen else [OURS, real]


def arguments(frame: FrameType) -> Given:
    """What the function of a frame was given, as far as its variables still hold it."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & VARARGS)
    return [(name, frame.f_locals.get(name)) for name in code.co_varnames[:count]]


def called_through(frame: FrameType) -> Given:
    """What a function of PyTorch was given, in a frame of a function mode of ours; empty in any other."""
    if frame.f_code.co_name != "__torch_function__" or not frame.f_code.co_filename.startswith(HOME):
        return []
    name = getattr(frame.f_locals.get("func"), "__name__", "")
    given, words = frame.f_locals.get("args") or (), frame.f_locals.get("kwargs") or {}
    names = ARGUMENTS.get(name, PAIR)
    return [
        *[(names[i] if i < len(names) else f"argument {i + 1}", value) for i, value in enumerate(given)],
        *words.items(),
    ]
