"""`%vt step`: a backward pass that is stepped by hand, both ways, with its numbers.

Invariant: what moves is `debug.Stepper`; `.grad` is what it is after the steps that are taken, and to leave finishes
the pass or undoes it, as is said.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...debug.breaks.errors import ConditionError
from ...debug.source import has, lacking
from ...debug.walked_pass import WalkedPass
from .._frame.command import EXPRESSION, Asked, Command, Parser
from .._frame.defaults import SWITCH, defaults
from .._frame.display import Display
from .._frame.shell import has_front_end, shell_of_user
from .._frame.user_error import Refusal, first_line
from ..graph.command import _around, _tensors, leaves, of_tensors
from ..graph.node_values import Looked, checked, opened

GONE = (
    "the graph was freed by a backward pass: run the forward pass again, and step it before backward() "
    "or after backward(retain_graph=True)"
)
GRAPH = 4000  # nodes; a larger graph is stepped without its picture


def step(
    x: Any,
    *,
    break_: str | Callable | Sequence[Any] | None = None,
    live: str | bool | None = None,
    ran: bool = False,
    ask: bool = False,
    namespace: Mapping[str, Any] | None = None,
) -> Any:
    """Step through `x.backward()` node by node, forwards and backwards, with the numbers of each.

    In a notebook the pass is walked in the kernel: `.grad` of the leaves follows each step, `finish()` runs the rest
    and `undo()` takes all back. Elsewhere nothing is left changed: the display holds every step.

    Args:
        x: a tensor with history, or a list of them.
        break_: conditions where a run stops, such as "nan" or "grad.norm > 1e3 @ layer2.*"; or functions of a frame.
        live: "off" leaves nothing of the pass open: only what was recorded is stepped.
        ran: let PyTorch run the pass now, with everything that belongs to it, and step through what it did.
        ask: hide what leaves a node until you have guessed it: a number, a sign, a shape. In a terminal the questions
            are asked one after the other; `record.quiz()` is the same for a program.
        namespace: variables by name, for the names of tensors and modules; the notebook's, or the caller's.

    Returns:
        A display: the last value of a cell shows itself, `print` shows its text.

    Example:
        >>> import vistorch
        >>> from vistorch import vt
        >>> x = vistorch.ones(2, 2, requires_grad=True)
        >>> print(vt.step((3 * (x + 2) ** 2).mean(), namespace={"x": x}))
        backward(): 4 steps, 1 leaf
        1 of 4  MeanBackward0  1 / 4 = 0.25
        2 of 4  MulBackward0   0.25 · 3 = 0.75
        3 of 4  PowBackward0   0.75 · 2 · 3 = 4.5
        4 of 4  AddBackward0   4.5
                -> x.grad: 0 + 4.5
    """
    from ...debug.breaks.points import breakpoints_of
    from ...debug.breaks.unmatched import unmatched

    around = _around(namespace, sys._getframe(1))
    roots = _tensors(x, "step")
    source = of_tensors(roots)
    undone = _undo_open(roots)
    try:
        source.listen()
        root = roots[0] if len(roots) == 1 else roots
        if ran and not has(source, "replay"):
            raise Refusal(lacking(source, "replay"))
        if ran:
            replayed: Any = source
            stepper, live = replayed.replayed(root, leaves(around, source)), "off"
        else:
            stepper = source.stepper(root, leaves(around, source))
        if any(source.nodes.is_freed(n) for n in stepper.nodes if not source.nodes.is_leaf(n)):
            stepper.undo()
            raise Refusal(GONE)
        points = breakpoints_of(break_ or ())
        return shown(stepper, around, points, live, [*undone, *unmatched(points, stepper)], ask)
    except ConditionError as error:
        raise Refusal(str(error)) from None
    except Refusal:
        raise
    except (RuntimeError, ValueError, TypeError) as error:
        said = first_line(error).partition(": ")[2]
        if said.startswith("grad can be implicitly created only for"):
            kinds = ", ".join(" × ".join(map(str, t.shape)) or str(t.dtype) for t in roots)
            said += f", and this is {kinds}: step what is one real number, as in %vt step x.sum()"
        raise Refusal(said) from None


def shown(
    stepper: WalkedPass,
    around: Mapping[str, Any],
    conditions: Sequence[Any],
    live: Any,
    says: Sequence[str] = (),
    ask: bool = False,
    waits: bool = False,
) -> Any:
    """Show a stepper where it stands; without a page that asks the kernel it is undone.

    Args:
        stepper: the stepper.
        around: variables by name.
        conditions: where a run stops.
        live: as for `step`.
        says: sentences to add.
        ask: hide what leaves each node until it was guessed.
        waits: the cell that runs waits until the pass is left.
    """
    from ...debug.steps.build import record

    graph, places = None, []
    if stepper.outputs and len(stepper.nodes) <= GRAPH:
        graph = stepper.source.capture(list(stepper.outputs), around)
        number = {n: i for i, n in enumerate(stepper.source.order(stepper.outputs))}
        places = [number.get(n, -1) for n in stepper.nodes]
    title = graph.title if graph is not None else "backward()"
    made = record(stepper, title=title, graph=graph, places=places, namespace=around)
    made.graph = graph if graph is None else _with_norms(graph, places, made)
    made.ask, made.held = ask, waits
    made.stops = stops_of(stepper, conditions, {f["node"]: i for i, f in enumerate(made.frames)})
    made.says += says
    display = Display(made, made.title)
    live = defaults.live if live is None else live
    if live not in ("off", False) and has_front_end(shell_of_user()):
        try:
            from .live import StepsView

            walker = Walker(stepper)
            view = StepsView(display, walker)
        except (ImportError, FileNotFoundError):  # `%vt doctor` says what is missing
            pass
        else:
            _open.add(walker)
            return view
    stepper.undo()
    if ask and shell_of_user() is not None and not has_front_end(shell_of_user()) and sys.stdin.isatty():
        print(made.quiz().play())  # a terminal has no page that asks
        made.ask = False
    return display


def _with_norms(graph: Any, places: list[int], made: Any) -> Any:
    """The graph with the norms that its leaves will have: its boxes are as wide as they will need to be."""
    norms = {}
    for frame in made.frames:
        for grad in frame["grads"]:
            if grad["after"] is not None:
                norms[places[grad["node"]]] = float(made.values[grad["after"]]["norm"])
    nodes = tuple([replace(n, grad=norms[i]) if i in norms else n for i, n in enumerate(graph.nodes)])
    return replace(graph, nodes=nodes)


def stops_of(stepper: WalkedPass, conditions: Sequence[Any], place: dict[int, int]) -> list[list[Any]]:
    """The frames before which conditions stop a run: the pass is walked for it and taken back to where it stood.

    Args:
        stepper: the stepper.
        conditions: texts, functions of a frame, breakpoints.
        place: the number of a node's frame.
    """
    if not conditions:
        return []
    from ...debug.breaks.points import breakpoints_of

    points = breakpoints_of(list(conditions))
    stood, found = stepper.position, []
    stepper.first()
    try:
        while (stop := stepper.run_to_break(points)) is not None:
            if stop.frame.index in place:
                found.append([place[stop.frame.index], str(stop.breakpoint)])
    except Exception as error:  # a hook, or a predicate of the user's: as far as it came
        found.append([len(stepper.ran), first_line(error)])
    while stepper.position > stood:
        stepper.back()
    while stepper.position < stood and stepper.step() is not None:
        pass
    return found


class Walker:
    """What a page asks a stepper to do, and what it asks about its nodes.

    Args:
        stepper: the stepper; kept alive until it is finished or undone.
    """

    def __init__(self, stepper: WalkedPass) -> None:
        from ...debug.steps import Walk

        self.stepper, self.walk = stepper, Walk(stepper)
        self.kept: list[Any] = []
        self.on_close: Callable[[str], None] = lambda how: None

    def go(self, to: int) -> tuple[int, str]:
        """Move until so many steps are taken; where it stands then, and why it is not there."""
        if self.stepper.closed:
            return self.walk.at, "the pass was left: type %vt step for a new one"
        try:
            return self.walk.to(to), ""
        except Exception as error:  # a hook of the user's: the state before the step stands
            return self.walk.at, first_line(error)

    def leave(self, how: str) -> str:
        """Finish or undo the pass; why not, or nothing."""
        if self.stepper.closed:
            return ""
        try:
            self.stepper.finish() if how == "finish" else self.stepper.undo()
        except Exception as error:
            return first_line(error)
        _open.discard(self)
        self.on_close(how)
        return ""

    def check(self, number: int) -> list[tuple[bool, str]]:
        """A node against independent gradients."""
        stepper = self.stepper
        return checked(stepper.source, stepper.nodes[number], stepper.nodes, stepper.outputs)

    def look(self, number: int) -> Looked:
        """A node's value and the gradient that came into it, where it has run; the page has the rest."""
        stepper, node = self.stepper, self.stepper.nodes[number]
        source = stepper.source
        if source.nodes.is_leaf(node):
            value = source.nodes.variable(node)
            name = stepper.names.get(value, "")
        else:
            value, name = source.forward(stepper.nodes, stepper.outputs).of(node), ""
        gradient = stepper.incoming(node) if not stepper.closed else None
        shown, self.kept = opened(source, node, value, gradient, name, "it has not come yet")
        return Looked([(shown, self.kept)])


_open: weakref.WeakSet[Walker] = weakref.WeakSet()


def _undo_open(roots: list[Any]) -> list[str]:
    """Undo passes over the same tensors that were left standing: their steps would count twice."""
    says = []
    for walker in list(_open):
        if any(t is o for t in roots for o in walker.stepper.outputs):
            walker.leave("undo")
            says.append("a pass over this tensor stood open: it was undone first")
    return says


def _arguments(parser: Parser) -> None:
    parser.takes("x", "a tensor with history", kind=EXPRESSION, metavar="EXPRESSION")
    parser.takes(
        "--break",
        "where a run stops, such as nan; may be repeated",
        action="append",
        metavar="TEXT",
        dest="break_",
    )
    parser.takes("--ask", "guess what leaves each node before it is shown", action="store_true")
    parser.takes("--live", "walk the pass in the kernel", choices=SWITCH)
    parser.takes("--ran", "let PyTorch run the pass, and step through what it did", action="store_true")


def _prepare(options: dict[str, Any], asked: Asked) -> dict[str, Any]:
    return {"namespace": asked.namespace, **options}


COMMANDS = (
    Command(
        name="step",
        summary="Step through a backward pass, both ways",
        function=step,
        arguments=_arguments,
        prepare=_prepare,
        examples=(
            ("step loss", "node by node, with the numbers of each"),
            ("step loss --ask", "guess what leaves each node, then see it"),
            ("step loss --break nan", "a run stops before the first NaN is used"),
            ('step loss --break "grad.norm > 1e3 @ layer2.*"', "or where a gradient grows large in a module"),
        ),
        about="the backward pass, node by node, forwards and back",
        rank=40,
    ),
)
