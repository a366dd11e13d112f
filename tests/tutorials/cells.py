"""The exercises of a notebook, read from its file: each answer can be put in, and its check run.

Invariant: what is run is what the reader runs. An exercise is the code cell before the one that calls
`exercise(number, ...)`; besides these two, only the imports, functions and classes of the cells above are run.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

from vistorch.tutorials import exercise

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SOLUTION = re.compile(r"<details><summary>Solution</summary>\n\n```python\n(.*?)\n```\n", re.DOTALL)


@functools.cache
def sources(notebook: str) -> list[str]:
    """The code cells of `notebooks/NAME.ipynb`, lines of magics and shell commands blank."""
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [plain("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]


def plain(source: str) -> str:
    """The Python of a cell: a cell magic's first line goes, and so does every line that is a magic."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in source.split("\n"))


def checked(source: str) -> int | None:
    """The number of the exercise that a cell checks."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exercise":
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, int):
                return first.value
    return None


def numbers(notebook: str) -> list[int]:
    """The exercises of a notebook, in their order."""
    return [number for source in sources(notebook) if (number := checked(source)) is not None]


def definitions(source: str) -> str:
    """The imports, functions and classes at the top of a cell."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return "\n".join(ast.unparse(node) for node in ast.parse(source).body if isinstance(node, kinds))


def places(source: str) -> list[tuple[int, int]]:
    """Where a `...` stands for an answer: its line and column, in bytes. One in an index is not meant."""
    tree = ast.parse(source)
    indices = {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        for inside in ast.walk(node.slice)
    }
    found = [
        (node.lineno, node.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value is ... and id(node) not in indices
    ]
    return sorted(found)


def solved(source: str, answers: tuple[str, ...]) -> str:
    """The exercise's cell with each `...` that stands for an answer replaced, in order."""
    where = places(source)
    if len(where) != len(answers):
        raise ValueError(f"{len(answers)} answers for {len(where)} places:\n{source}")
    lines = source.encode().split(b"\n")
    for (line, column), answer in reversed(list(zip(where, answers, strict=True))):
        text = lines[line - 1]
        lines[line - 1] = text[:column] + answer.encode() + text[column + 3 :]
    return b"\n".join(lines).decode()


def solution(notebook: str, number: int) -> str:
    """The code that is folded below the check of an exercise."""
    cells = json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    for (kind, source), (_, below) in itertools.pairwise(texts):
        if kind == "code" and checked(plain(source)) == number and (found := SOLUTION.match(below)):
            return found[1]
    raise LookupError(f"no solution is folded below exercise {number} of {notebook}")


def said(
    notebook: str,
    number: int,
    *answers: str,
    before: str = "",
    after: str = "",
    given: dict[str, Any] | None = None,
):
    """Put `answers`, Python texts, in the places of the exercise's `...`, run its check, and return what it prints.

    `before` is code that runs first (an answer that needs several lines), `after` what is typed below the exercise's
    cell; `given` holds what cells above computed. Without answers the exercise stays open.
    """
    cells = sources(notebook)
    at = next(i for i, source in enumerate(cells) if checked(source) == number)
    names: dict[str, Any] = {"__name__": "__main__", "exercise": exercise, **(given or {})}
    above = [definitions(source) for source in cells[: at - 1] if checked(source) is None]
    cell = solved(cells[at - 1], answers) if answers else cells[at - 1]
    with contextlib.redirect_stdout(io.StringIO()):
        for source in [*above, before, cell, after]:
            exec(compile(source, f"<{notebook}, exercise {number}>", "exec"), names)
    seen = io.StringIO()
    with contextlib.redirect_stdout(seen):
        exec(compile(cells[at], f"<{notebook}, check {number}>", "exec"), names)
    return seen.getvalue()
