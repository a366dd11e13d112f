"""`%vt graph`: the graph that a backward pass runs, folded by module, with what each node does and keeps.

Invariant: to show a graph computes nothing and changes nothing of it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...debug.source import Source, has, lacking, own, source_of
from .._frame.command import EXPRESSION, Asked, Command, Parser
from .._frame.defaults import SWITCH, defaults
from .._frame.shell import has_front_end, shell_of_user
from .._frame.user_error import Refusal, first_line


def graph(
    x: Any = None,
    *,
    last: bool = False,
    constants: bool = False,
    open: str | None = None,
    live: str | bool | None = None,
    namespace: Mapping[str, Any] | None = None,
) -> Any:
    """Show the graph that `x.backward()` runs: ops, parameters, shapes, what is saved, and by which line.

    Ops stand in frames of the modules that made them; a frame is closed and opened by a click. After a backward pass
    an edge is as wide as its gradient is large.

    Args:
        x: a tensor with history, or a list of them.
        last: the partial graph that the last exception left, up to the op that failed.
        constants: also show tensors without gradient that ops kept.
        open: the path of a module to open, "all" or "none".
        live: "off" asks the kernel for nothing: no values, no check.
        namespace: variables by name, for the names of tensors and modules; the notebook's, or the caller's.

    Returns:
        A display: the last value of a cell shows itself, `print` shows its text.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> w = vistorch.ones(3, requires_grad=True)
        >>> [n.op for n in vt.graph((w * 2).sum(), namespace={"w": w}).record.nodes]
        ['Sum', 'Mul', 'AccumulateGrad']
    """
    from ...debug.graph import capture_last

    around = _around(namespace, sys._getframe(1))
    try:
        source = own() if last else of_tensors(_tensors(x))
        if constants and not has(source, "constants"):
            raise Refusal(lacking(source, "constants"))
        began = source.listen()
        if last:
            record = capture_last(_last_error(), namespace=around)
        else:
            record = source.capture(_tensors(x), around, constants=constants)
        record = _opened(record, open)
    except Refusal:
        raise
    except (TypeError, ValueError) as error:
        raise Refusal(str(error)) from None
    if began and not any(n.line for n in record.nodes):
        said = "Lines and modules are noted from now on: run the forward pass again to see which line made a node."
        record = replace(record, says=(*record.says, said))
    return _shown(record, x, last, live, around, source)


def _shown(record: Any, x: Any, last: bool, live: Any, around: Mapping[str, Any], source: Source) -> Any:
    from .._frame.display import Display

    display = Display(record, record.title)
    live = defaults.live if live is None else live
    if live in ("off", False) or last or not has_front_end(shell_of_user()):
        return display
    try:
        from .live import GraphView
        from .node_values import Inside

        return GraphView(display, Inside(_tensors(x), leaves(around, source), source))
    except (ImportError, FileNotFoundError):  # `%vt doctor` says what is missing
        return display


def leaves(around: Mapping[str, Any], source: Source | None = None) -> dict[Any, str]:
    """The names of tensors and parameters, as a stepper takes them."""
    from ...debug.graph.names import Names

    source = own() if source is None else source
    known = Names(namespace=around, source=source)
    found = {t: known.leaves.get(id(t), "") for t in known.alive if source.is_tensor(t)}
    for _, module in known.roots:
        found |= {p: known.leaves.get(id(p), name) for name, p in module.named_parameters()}
    return {t: name for t, name in found.items() if name}


def _around(namespace: Mapping[str, Any] | None, frame: Any) -> Mapping[str, Any]:
    """The variables that give names: what was handed, the notebook's, or the caller's."""
    if namespace is not None:
        return namespace
    shell = shell_of_user()
    return {**frame.f_globals, **frame.f_locals} if shell is None else {**shell.user_ns, **frame.f_locals}


def of_tensors(tensors: list[Any]) -> Source:
    """The one source of some tensors; refused where they are of two."""
    found = list(dict.fromkeys([source for t in tensors if (source := source_of(t)) is not None]))
    if len(found) > 1:
        raise Refusal(f"these tensors are of {' and '.join(s.chip for s in found)}: a graph has those of one")
    return found[0]


def _tensors(x: Any, command: str = "graph") -> list[Any]:
    """One tensor or several as a list, or a refusal."""
    found = list(x) if isinstance(x, (list, tuple)) else [x]
    if x is None or not found:
        raise Refusal(f"name the tensor whose graph is to be shown: type %vt {command} loss")
    for t in found:
        source = source_of(t)
        if source is None or not source.is_tensor(t):
            raise Refusal(f"a graph belongs to a tensor, and this is {_called(t)}: type %vt {command} loss")
    return found


def _called(x: Any) -> str:
    """What a thing is, for a sentence that refuses it."""
    return f"the class {x.__name__}" if isinstance(x, type) else f"of type {type(x).__name__}"


def _last_error() -> BaseException | None:
    """The exception of the last cell: IPython keeps it as Python does."""
    return getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)


def _opened(record: Any, open: str | None) -> Any:
    if open is None:
        return record
    try:
        return record.unfold() if open == "all" else record.fold() if open == "none" else record.unfold(open)
    except ValueError as error:
        raise Refusal(f"{first_line(error).partition(': ')[2]}: name one of them, all or none") from None


def _arguments(parser: Parser) -> None:
    parser.takes("x", "a tensor with history", kind=EXPRESSION, metavar="EXPRESSION", nargs="?")
    parser.takes("--last", "what the last exception left, up to the op that failed", action="store_true")
    parser.takes("--constants", "also tensors without gradient that ops kept", action="store_true")
    parser.takes("--open", "the path of a module to open, all or none", metavar="PATH")
    parser.takes("--live", "ask the kernel for values and checks", choices=SWITCH)


def _prepare(options: dict[str, Any], asked: Asked) -> dict[str, Any]:
    return {"namespace": asked.namespace, **options}


COMMANDS = (
    Command(
        name="graph",
        summary="The graph of a backward pass, folded by module",
        function=graph,
        arguments=_arguments,
        prepare=_prepare,
        examples=(
            ("graph loss", "what loss.backward() will run, or ran"),
            ("graph loss --open layer2", "with this module open"),
            ("graph --last", "after an exception: up to the op that failed"),
        ),
        about="the graph that `backward()` will run, folded by module",
        rank=30,
    ),
)
