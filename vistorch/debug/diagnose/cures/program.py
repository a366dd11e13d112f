"""A file of the user's, as text that can be changed at a node of its syntax tree.

Invariant: what is not changed stays as it was written, comments and spaces included.
"""

from __future__ import annotations

import ast
import difflib
import linecache
from collections.abc import Iterator
from typing import NamedTuple, cast


class Edit(NamedTuple):
    """A stretch of a text that is replaced.

    Slots:
        start, end: offsets in the text. text: what stands there afterwards.
    """

    start: int
    end: int
    text: str


class Program:
    r"""One file, or one cell.

    Args:
        file: its name, as code objects have it.
        text: its text; without it, what `linecache` knows.

    Example:
        >>> from vistorch.debug.diagnose.cures.program import Program
        >>> program = Program("a.py", "for x in data:\n    step(x)  # one\n")
        >>> (call,) = program.calls(2, "step")
        >>> print(program.changed(program.after(program.statement(call), "clear()")))
        for x in data:
            step(x)  # one
            clear()
        <BLANKLINE>
    """

    def __init__(self, file: str, text: str | None = None) -> None:
        self.file = file
        self.text = "".join(linecache.getlines(file)) if text is None else text
        self.tree = ast.parse(self.text)
        self.lines = self.text.splitlines(keepends=True)
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))
        self.parents: dict[ast.AST, ast.AST] = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }

    # ---- where things are ----------------------------------------------------------------------------------------
    def offset(self, line: int, column: int) -> int:
        """The place in the text of a line and a column, which the tree counts in bytes.

        Args:
            line: from 1.
            column: in bytes.
        """
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return self._starts[line - 1] + len(text.encode()[:column].decode(errors="ignore"))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands in the text, an expression with the parentheses around it left out.

        Args:
            node: which.
        """
        at = cast(ast.expr, node)
        first = list(getattr(node, "decorator_list", ()))
        start = (first[0].lineno, first[0].col_offset - 1) if first else (at.lineno, at.col_offset)
        return self.offset(*start), self.offset(at.end_lineno or at.lineno, at.end_col_offset or 0)

    def of(self, node: ast.AST) -> str:
        """A node as it was written.

        Args:
            node: which.
        """
        start, end = self.span(node)
        return self.text[start:end]

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node is part of.

        Args:
            node: which.
        """
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def at(self, line: int) -> list[ast.stmt]:
        """The innermost statements that a line belongs to.

        Args:
            line: from 1.
        """
        found = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
        ]
        outer = {self.parents[node] for node in found}
        return sorted((node for node in found if node not in outer), key=lambda n: (n.lineno, n.col_offset))

    def nodes(self, line: int, kind: type) -> Iterator:
        """The nodes of a kind on a line, the innermost last.

        Args:
            line: from 1.
            kind: a class of nodes.
        """
        for statement in self.at(line):
            inside = ast.walk(statement)
            if isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef)):
                heads = [n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt)]
                inside = (n for head in heads for n in ast.walk(head))
            for node in inside:
                at = cast(ast.expr, node)
                if isinstance(node, kind) and at.lineno <= line <= (at.end_lineno or at.lineno):
                    yield node

    def calls(self, line: int, *names: str) -> list[ast.Call]:
        """The calls on a line of functions or methods with one of these names.

        Args:
            line: from 1.
            *names: without what stands before the dot.
        """
        return [call for call in self.nodes(line, ast.Call) if name_of(call) in names]

    def within(self, node: ast.AST, *kinds: type) -> Iterator:
        """What a node is part of, of some kinds, the innermost first; nothing beyond the function it stands in.

        Args:
            node: which.
            *kinds: classes of nodes.
        """
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, kinds):
                yield node
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return

    def suite(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that one stands among.

        Args:
            statement: which.
        """
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            found = getattr(parent, name, None)
            if isinstance(found, list) and statement in found:
                return found
        return [statement]

    def alias(self, module: str) -> str:
        """What a module of torch is called in this file, as `nn` for `torch.nn`.

        Args:
            module: its path below torch.
        """
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in LIBRARIES:
                base = ".".join(node.module.split(".")[1:])
                for one in node.names:
                    if f"{base}.{one.name}".strip(".") == module:
                        return one.asname or one.name
            if isinstance(node, ast.Import):
                for one in node.names:
                    head, _, rest = one.name.partition(".")
                    if head in LIBRARIES and rest == module and one.asname:
                        return one.asname
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    head, _, rest = one.name.partition(".")
                    if head in LIBRARIES and (not rest or not one.asname):
                        return f"{one.asname or head}.{module}"
        known = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        short = {"nn.functional": "F", "nn": "nn"}.get(module, "")
        return short if short in known else f"torch.{module}"

    # ---- changes -------------------------------------------------------------------------------------------------
    def indent(self, statement: ast.stmt) -> str:
        """The spaces before a statement's line.

        Args:
            statement: which.
        """
        text = self.lines[self._line(statement) - 1]
        return text[: len(text) - len(text.lstrip())]

    @staticmethod
    def _line(statement: ast.stmt) -> int:
        decorators = getattr(statement, "decorator_list", ())
        return decorators[0].lineno if decorators else statement.lineno

    def alone(self, statement: ast.stmt) -> bool:
        """Whether a statement has its lines for itself, comments apart.

        Args:
            statement: which.
        """
        start, end = self.span(statement)
        before = self.text[self._starts[self._line(statement) - 1] : start]
        after = self.text[end : self._starts[statement.end_lineno or statement.lineno]]
        return not before.strip() and (not after.strip() or after.lstrip().startswith("#"))

    def replaced(self, node: ast.AST, text: str) -> list[Edit]:
        """Another text in a node's place.

        Args:
            node: which.
            text: of it.
        """
        return [Edit(*self.span(node), text)]

    def before(self, statement: ast.stmt, text: str) -> list[Edit]:
        """A new statement before one.

        Args:
            statement: which.
            text: of the new one.
        """
        start, _ = self.span(statement)
        if not self.alone(statement):
            return [Edit(start, start, f"{text}; ")]
        at = self._starts[self._line(statement) - 1]
        return [Edit(at, at, "".join(f"{self.indent(statement)}{line}\n" for line in text.split("\n")))]

    def after(self, statement: ast.stmt, text: str) -> list[Edit]:
        """A new statement after one.

        Args:
            statement: which.
            text: of the new one.
        """
        _, end = self.span(statement)
        simple = not hasattr(statement, "body")
        if simple and not self.alone(statement):
            return [Edit(end, end, f"; {text}")]
        at = self._starts[statement.end_lineno or statement.lineno]
        new = "".join(f"{self.indent(statement)}{line}\n" for line in text.split("\n"))
        return [Edit(at, at, new if self.text[:at].endswith("\n") else "\n" + new.rstrip("\n"))]

    def without(self, statement: ast.stmt) -> list[Edit]:
        """A statement taken out.

        Args:
            statement: which.
        """
        start, end = self.span(statement)
        if len(self.suite(statement)) == 1 and not isinstance(self.parents[statement], ast.Module):
            return [Edit(start, end, "pass")]
        if self.alone(statement):
            last = statement.end_lineno or statement.lineno
            return [Edit(self._starts[self._line(statement) - 1], self._starts[last], "")]
        after = self.text[end:]
        rest = after.lstrip(" ")
        if rest.startswith(";"):
            more = len(after) - len(rest) + 1
            more += len(rest[1:]) - len(rest[1:].lstrip(" "))
            return [Edit(start, end + more, "")]
        before = self.text[:start].rstrip(" ")
        return [Edit(len(before) - 1 if before.endswith(";") else start, end, "")]

    def changed(self, edits: list[Edit]) -> str:
        """The whole text with some changes.

        Args:
            edits: which; they do not overlap.
        """
        text = self.text
        for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return text

    def shown(self, edits: list[Edit]) -> list[tuple[int, str, str]]:
        """The lines that a change takes out and puts in: (number, "-" or "+", text).

        Args:
            edits: which.
        """
        old, new = self.text.splitlines(), self.changed(edits).splitlines()
        out: list[tuple[int, str, str]] = []
        for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                out += [(i + 1, "-", old[i]) for i in range(a, b)]
                out += [(i + 1, "+", new[i]) for i in range(c, d)]
        return out


LIBRARIES = ("torch", "vistorch")


def name_of(call: ast.AST) -> str:
    """The name of what is called, without what stands before its last dot.

    Args:
        call: a call.
    """
    function = call.func if isinstance(call, ast.Call) else call
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
