"""A changed program, run once more from where the copy stands.

Invariant: the code that runs is the user's with the change, and nothing else of it differs.
"""

from __future__ import annotations

import ast
import gc
import linecache
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Body:
    """What is run again.

    Args:
        kind: "cell" (a text in a namespace), "call" (a function), "block" (what stands in a `with`), "script".
        file: whose text is run; "" for a call.
        text: of that file, where it is not the file's own.
        space: names that it runs in.
        call: what is called.
        line: of the `with`.
        words: of a script's command line, itself first.
    """

    kind: str
    file: str = ""
    text: str = ""
    space: dict[str, Any] = field(default_factory=dict)
    call: Callable[[], Any] | None = None
    line: int = 0
    words: tuple[str, ...] = ()

    def run(self, changed: dict[str, str]) -> None:
        """Run it with changes.

        Args:
            changed: by file, its new text.
        """
        for file, text in changed.items():
            if file != self.file or self.kind != "script":
                patch(file, text, self.space, rerun=file != self.file)
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        text = changed.get(self.file, self.text)
        if self.call is not None:
            self.call()
            return
        if self.kind == "block":
            exec(self._block(text), self.space)
            return
        if self.kind == "script":
            sys.argv = list(self.words)
            sys.path.insert(0, os.path.dirname(self.file))
            main = types.ModuleType("__main__")
            main.__dict__.update(self.space)
            sys.modules["__main__"] = main
            self.space = main.__dict__
        exec(compile(text, self.file, "exec"), self.space)

    def _block(self, text: str) -> types.CodeType:
        """The statements of the same `with` as before, wherever its lines are now."""
        old = [n for n in ast.walk(ast.parse(self.text)) if isinstance(n, ast.With)]
        new = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.With)]
        at = max(
            (i for i, n in enumerate(old) if n.lineno <= self.line <= n.body[0].lineno),
            key=lambda i: old[i].lineno,
        )
        if len(old) != len(new):
            raise ValueError("the change takes a `with` away")
        return compile(ast.Module(new[at].body, []), self.file, "exec")


def patch(file: str, text: str, space: dict[str, Any], rerun: bool) -> None:
    """Give functions that exist the code of a changed file.

    Args:
        file: which.
        text: its new text.
        space: names in which statements of its top level that changed are run again.
        rerun: whether they are.
    """
    before = "".join(linecache.getlines(file))
    old, new = compile(before, file, "exec"), compile(text, file, "exec")
    pairs: dict[tuple[str, int], types.CodeType] = {}
    _pair(old, new, pairs)
    gc.unfreeze()  # what is frozen is not listed
    for function in gc.get_objects():
        # asked of its type: some objects do something when their class is looked at
        if type(function) is not types.FunctionType or function.__code__.co_filename != file:
            continue
        code = function.__code__
        other = pairs.get((code.co_name, code.co_firstlineno))
        if other is not None and other.co_freevars == code.co_freevars:
            function.__code__ = other
    if rerun:
        module = next(
            (m for m in list(sys.modules.values()) if getattr(m, "__dict__", {}).get("__file__") == file),
            None,
        )
        space = space if module is None else module.__dict__
        was = {ast.dump(s) for s in ast.parse(before).body}
        for statement in ast.parse(text).body:
            if ast.dump(statement) in was or isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            exec(compile(ast.Module([statement], []), file, "exec"), space)


def _pair(old: types.CodeType, new: types.CodeType, pairs: dict[tuple[str, int], types.CodeType]) -> None:
    inner = [[c for c in code.co_consts if isinstance(c, types.CodeType)] for code in (old, new)]
    if [c.co_name for c in inner[0]] != [c.co_name for c in inner[1]]:
        return
    for a, b in zip(*inner, strict=True):
        pairs[a.co_name, a.co_firstlineno] = b
        _pair(a, b, pairs)
