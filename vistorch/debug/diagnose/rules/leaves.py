"""Tensors that should learn and are no leaves.

Invariant: that a gradient is read is an event; what is done with it is read in the program's text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...line_lookup import Line
from ..finding import EXACT, WRONG, Finding
from ..written import scope_of, tree_of
from .base import Rule

READ = 3  # passes after which it was read
KEPT = ("data", "clone", "detach")  # what of a gradient is still one
SHOWN = ("print", "len", "isinstance", "type", "id")


class NoLeaf(Rule):
    """A tensor is to be changed by its `.grad`, and is the result of an op: no pass fills that.

    Meaning: gradients gather in leaves, tensors that no op made; `torch.randn(3, requires_grad=True) * 0.1` is none.
    Fires: when at one line the `.grad` of a result of an op, which was not asked to retain it, was read and was None,
    after three different numbers of passes, and the function around that line computes with the `.grad` of what the
    line calls it: it stands beside an operator, is assigned, or is given to a function other than one that shows it.
    Wrong if: the gradients are only to be looked at.
    Healthy programs tried: leaves in a list with tensors that need no gradient, gradients of activations that are
    retained, `.grad` of results that is only printed or compared with None, results that are read once, weights drawn
    anew with `requires_grad_()` at the end.
    """

    name, title, certainty, severity, cheap = "no leaf", "tensors that are no leaves", EXACT, WRONG, True

    def findings(self) -> Iterator[Finding]:
        """Say what made it."""
        for place, (tensor, op, made, passes) in self.ev.no_leaves.items():
            line = self.ev.line(place)
            if len(passes - {0}) < READ or line is None or not computes(line):
                continue
            at = self.ev.line(made)
            name = self.ev.variable(tensor)
            yield self.found(
                f"{name or 'A tensor'} is the result of {op or 'an op'}, not a leaf: its .grad stays None, and it "
                "learns nothing.",
                at or line,
                "no leaf",
                also=None if at is None else (line, "reads its .grad"),
                layer=name,
                proof=[
                    ("passes after which .grad was None", f"{len(passes)} or more"),
                    ("shape", " × ".join(map(str, tensor.shape)) or "()"),
                ],
                confirm=(f"{name or 'tensor'}.is_leaf", "False"),
                unless="the gradients are only to be looked at.",
                advice="Call requires_grad_() last: (torch.randn(3, 1) * 0.1).requires_grad_().",
                weight=8.0,
                explains=("learns nothing", "too small", "never moves"),
            )
            return


def computes(line: Line) -> bool:
    """Whether the function around a line computes with a `.grad` that the line reads.

    Args:
        line: that reads one.
    """
    tree = tree_of(line.file)
    if tree is None:
        return False
    scope = scope_of(tree, line.line)
    reads = [n for n in ast.walk(scope) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    read = {ast.unparse(n.value) for n in reads if n.lineno <= line.line <= (n.end_lineno or n.lineno)}
    above = {child: node for node in ast.walk(scope) for child in ast.iter_child_nodes(node)}
    for node in reads:
        if not isinstance(node.ctx, ast.Load) or ast.unparse(node.value) not in read:
            continue
        one: ast.AST = node
        parent = above.get(node)
        while (isinstance(parent, ast.Attribute) and parent.attr in KEPT) or (
            isinstance(parent, ast.Call) and parent.func is one and getattr(one, "attr", "") in KEPT
        ):
            one, parent = parent, above.get(parent)
        if isinstance(parent, (ast.BinOp, ast.UnaryOp)) and not isinstance(
            getattr(parent, "op", None), ast.Not
        ):
            return True
        if isinstance(parent, (ast.Assign, ast.AugAssign, ast.NamedExpr)) and parent.value is one:
            return True
        if isinstance(parent, ast.Call) and one in parent.args:
            if getattr(parent.func, "id", "") not in SHOWN:
                return True
    return False


RULES = (NoLeaf,)
