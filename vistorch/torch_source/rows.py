"""Our row for a torch node: its input names, its formula, what it reads.

The engine names its nodes as PyTorch does, so a row is found by the name of the node; of several rows with one name it
is the first whose differentiable inputs are as many as the node has. Where no row is known the inputs still have the
names of PyTorch's schema.

Invariant: a row is never guessed from the number of inputs alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..debug.formula import Formula
from ..engine.core.rules import TABLE, Rule
from .arguments import ARGUMENTS

OURS = {"self": "input"}  # PyTorch's name of an argument -> a row's
# Nodes of PyTorch that compute what a row under another name computes: overloads for plain numbers, other devices.
SAME = {
    "AddBackward1": "AddBackward0",
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
    return _row(node.name(), arguments_of(node))


@cache
def _row(name: str, arguments: tuple[str, ...]) -> Rule | None:
    wanted = [own_name(one) for one in arguments]
    for rule in _rows().get(SAME.get(name, name), ()):
        if not wanted or any(name not in rule.inputs for name in wanted):
            continue
        if all(rule.vjps[rule.inputs.index(name)] is not None for name in wanted):
            return rule
    return None


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
