"""Our row for a torch node: its input names, its formula, what it reads.

The engine names its nodes as PyTorch does, so a row is found by the name of the node. Of several rows with one name it
is the one that is called as PyTorch's function is and that has the same constants. Where no row is known, the inputs
have the names of PyTorch's schema.

Invariant: a row is never guessed from the number of inputs alone.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ..debug.formula import Formula
from ..engine.core.rules import TABLE, Rule
from . import constants, private
from .arguments import ARGUMENTS

_SNAKE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
OURS = {"self": "input", "exponent": "other"}  # PyTorch's name of an argument -> a row's
# Nodes of PyTorch that compute what a row under another name computes: overloads for plain numbers, other devices.
SAME = {
    "AddBackward1": "AddBackward0",
    "PowBackward0": "PowBackward1",
    "PowBackward2": "PowBackward1",
    "SubBackward1": "SubBackward0",
    "MulBackward1": "MulBackward0",
    "RsubBackward1": "RsubBackward0",
    "CudnnConvolutionBackward0": "ConvolutionBackward0",
    "MkldnnConvolutionBackward0": "ConvolutionBackward0",
    "MpsConvolutionBackward0": "ConvolutionBackward0",
    "ConvolutionOverrideableBackward0": "ConvolutionBackward0",
    "CudnnBatchNormBackward0": "NativeBatchNormBackward0",
    "MiopenBatchNormBackward0": "NativeBatchNormBackward0",
    "ReshapeAliasBackward0": "ViewBackward0",
    "UnsafeSplitBackward0": "SplitBackward0",
}


def arguments_of(node: Any) -> tuple[str, ...]:
    """The differentiable arguments of a node, in PyTorch's words, one for each of its gradients; () if unknown."""
    named = ARGUMENTS.get(node.name(), ())
    if not any(name.endswith("*") for name in named):
        return named
    lists = [name for name in named if name.endswith("*")]
    many = len(node.next_functions) - (len(named) - len(lists))
    if len(lists) != 1 or many < 0:
        return ()
    found: list[str] = []
    for name in named:
        found += [name] if not name.endswith("*") else [f"{name[:-1]}[{i}]" for i in range(many)]
    return tuple(found)


def inputs_of(node: Any) -> tuple[str, ...]:
    """What the inputs of a node are called, one for each of its gradients, as our rows call them."""
    return tuple([own_name(name) if "[" not in name else name for name in arguments_of(node)])


def own_name(argument: str) -> str:
    """What a row calls an argument of PyTorch's; of a member of a list, the list."""
    name = argument.partition("[")[0]
    return OURS.get(name, name)


def row_of(node: Any) -> Rule | None:
    """Our row for a node; None where none is known."""
    arguments = arguments_of(node)
    sent = tuple(
        [
            name
            for name, (target, _) in zip(arguments, node.next_functions, strict=False)
            if target is not None
        ]
    )
    return _row(node.name(), arguments, sent, tuple(private.saved_names(node)))


def called(name: str) -> str:
    """PyTorch's name of the function that makes a node of this name: "log_softmax" of "LogSoftmaxBackward0"."""
    return _SNAKE.sub("_", SAME.get(name, name).rpartition("Backward")[0]).lower()


@cache
def _row(name: str, arguments: tuple[str, ...], sent: tuple[str, ...], kept: tuple[str, ...]) -> Rule | None:
    name, base = SAME.get(name, name), called(name)
    wanted = [own_name(one) for one in sent]
    best: tuple[Any, Rule | None] = ((), None)
    for rule in _rows().get(name, ()):
        if not wanted or any(one not in rule.inputs for one in wanted):
            continue
        if any(rule.vjps[rule.inputs.index(one)] is None for one in wanted):
            continue
        # the row that is called as the function is, and that is given the same besides tensors
        missing = sum(not constants.said(rule.name, const, kept) for const in rule.consts)
        ungiven = sum(
            one in constants.GIVEN and one not in rule.consts and own_name(one) not in rule.inputs
            for one in kept
        )
        alike = rule.name == base or rule.name.startswith(f"{base}_")
        more = sum(one not in wanted and one in map(own_name, arguments) for one in rule.inputs)
        score = (alike, -missing - ungiven - more, len(rule.consts))
        if not best[0] or score > best[0]:
            best = (score, rule)
    return best[1]


@cache
def _rows() -> dict[str, list[Rule]]:
    from ..nn import functional  # noqa: F401  its rows are in the table once it is loaded

    found: dict[str, list[Rule]] = {}
    for rule in TABLE.values():
        found.setdefault(rule.grad_name, []).append(rule)
    return found


def formulas_of(node: Any) -> list[Formula]:
    """A formula for each input of a node; without LaTeX where no row is known."""
    names, rule = inputs_of(node), row_of(node)
    found = []
    for i in range(len(node.next_functions)):
        name = names[i] if i < len(names) else f"input {i}"
        own = own_name(name)
        if rule is None or own not in rule.inputs:
            found.append(Formula(name, None, ()))
            continue
        pick = rule.picks[rule.inputs.index(own)]
        reads = tuple([rule.saved_names[p] for p in pick])
        found.append(Formula(name, rule.formula.get(own), reads))
    return found
