"""A finding whose cure is looked for, and what a cure is.

Invariant: a cure is a change of one file; it is text, and nothing of it has run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from ...line_lookup import Line
from ..finding import Finding
from .program import Edit, Program, name_of


@dataclass
class Cure:
    """A change of a file.

    Args:
        program: the file.
        edits: what is changed.
    """

    program: Program
    edits: list[Edit]

    @property
    def lines(self) -> list[tuple[int, str, str]]:
        """As it is shown: (number, "-" or "+", text)."""
        return self.program.shown(self.edits)

    @property
    def text(self) -> str:
        """The whole file with it."""
        return self.program.changed(self.edits)


@dataclass
class Case:
    """A finding, and the files that it speaks of.

    Args:
        finding: which.
        named: modules and optimizers, by the names that the program has for them.
    """

    finding: Finding
    named: dict[str, Any] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)

    @property
    def place(self) -> Line:
        """The guilty line."""
        assert self.finding.place is not None
        return self.finding.place

    @property
    def line(self) -> int:
        """Its number."""
        return self.place.line

    @property
    def program(self) -> Program:
        """The file of the guilty line."""
        return self.file(self.place)

    def file(self, line: Line) -> Program:
        """The file of a line.

        Args:
            line: which.
        """
        known = self.programs.get(line.file)
        if known is None:
            known = self.programs[line.file] = Program(line.file)
        return known

    def related(self, *labels: str) -> Line | None:
        """The related line with one of these labels.

        Args:
            *labels: which are looked for, in this order.
        """
        for label in labels:
            for line, said in self.finding.related:
                if said == label:
                    return line
        return None

    def call(self, line: Line | None, *names: str) -> tuple[Program, ast.Call] | None:
        """The first call on a line of something with one of these names, and its file.

        Args:
            line: which.
            *names: of functions and methods.
        """
        if line is None:
            return None
        program = self.file(line)
        found = program.calls(line.line, *names)
        return (program, found[0]) if found else None

    def proof(self, name: str) -> str:
        """A row of the proof; "" where there is none.

        Args:
            name: what was counted.
        """
        return next((str(value) for key, value in self.finding.proof if key == name), "")


def receiver(program: Program, call: ast.Call) -> str:
    """What a method is called on, as it was written.

    Args:
        program: the file.
        call: the call.
    """
    return program.of(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def keyword(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """The argument of a call by its keyword, or by its position.

    Args:
        call: the call.
        name: of the keyword.
        position: counted from 0.
    """
    for one in call.keywords:
        if one.arg == name:
            return one.value
    if (
        position is not None
        and position < len(call.args)
        and not isinstance(call.args[position], ast.Starred)
    ):
        return call.args[position]
    return None


def argued(program: Program, call: ast.Call, name: str, text: str, position: int | None = None) -> list[Edit]:
    """A call with an argument set.

    Args:
        program: the file.
        call: the call.
        name: of the argument.
        text: of its value.
        position: where it stands without its name.
    """
    known = keyword(call, name, position)
    if known is not None:
        return program.replaced(known, text)
    _, end = program.span(call)
    inside = bool(call.args or call.keywords)
    trailing = program.text[: end - 1].rstrip().endswith(",")
    return [Edit(end - 1, end - 1, f"{' ' if trailing else ', ' if inside else ''}{name}={text}")]


def dropped(program: Program, call: ast.Call, node: ast.AST) -> list[Edit]:
    """A call without one of its arguments.

    Args:
        program: the file.
        call: the call.
        node: the argument.
    """
    every = sorted([*call.args, *call.keywords], key=lambda a: program.span(a)[0])
    at = every.index(node)  # type: ignore[arg-type]
    start, end = program.span(node)
    if at:
        start = program.span(every[at - 1])[1]
    elif len(every) > 1:
        end = program.span(every[1])[0]
    return [Edit(start, end, "")]


def bracketed(program: Program, node: ast.AST) -> str:
    """An expression as it was written, in parentheses where a dot or a product after it needs them.

    Args:
        program: the file.
        node: the expression.
    """
    plain = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant, ast.List, ast.Tuple)
    return program.of(node) if isinstance(node, plain) else f"({program.of(node)})"


__all__ = [
    "Case",
    "Cure",
    "Edit",
    "Program",
    "argued",
    "bracketed",
    "dropped",
    "keyword",
    "name_of",
    "receiver",
]
