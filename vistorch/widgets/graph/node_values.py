"""What a graph's nodes hold, for a page that asks: forward value, gradient, a check by finite differences.

Invariant: a graph that the program lets go of is not kept alive, and to look changes no `.grad`: gradients that nobody
has any more come from a pass that is walked to the node and taken back.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

from ...debug import array as arrays
from ...debug.device_reads import brought
from ...debug.source import Source, own
from ...debug.steps.slopes import numbers_in
from ...engine.core.tensor import Tensor, wrap
from .._frame.user_error import first_line

FLOWS = 4  # gradients that a node sends, of which pictures are made

GONE = "the graph is gone from the kernel: give its tensor a name and show it again"


@dataclass
class Looked:
    """What is seen of a node.

    Args:
        views: displays and the arrays behind each.
        numbers: for inputs of the node, the formula of their gradient with this node's numbers.
    """

    views: list[tuple[Any, list[Any]]]
    numbers: list[list[str]] = field(default_factory=list)


class Inside:
    """The nodes below some tensors, by their numbers in the graph's record.

    Args:
        outputs: the tensors.
        names: what leaves are called, by tensor.
        source: the library that they belong to.
    """

    def __init__(
        self, outputs: list[Any], names: dict[Any, str] | None = None, source: Source | None = None
    ) -> None:
        self.source = own() if source is None else source
        self.outputs = [weakref.ref(t) for t in outputs]
        self.names = {id(t): name for t, name in (names or {}).items()}
        self.kept: list[Any] = []  # what the page looks at: it asks for parts of it

    def roots(self) -> tuple[Any, ...]:
        """The tensors, or `LookupError` where one is gone."""
        found = tuple([one() for one in self.outputs])
        if any(t is None for t in found):
            raise LookupError(GONE)
        return found

    def nodes(self, roots: tuple[Any, ...]) -> list[Any]:
        """The nodes in the order of the record's."""
        return self.source.order(roots)

    def _find(self, number: int) -> tuple[tuple[Any, ...], list[Any], Any]:
        roots = self.roots()
        nodes = self.nodes(roots)
        if number >= len(nodes):
            raise LookupError("no gradient flows here: there is nothing to look at")
        return roots, nodes, nodes[number]

    def check(self, number: int) -> list[tuple[bool, str]]:
        """A node against independent gradients."""
        roots, nodes, node = self._find(number)
        return checked(self.source, node, nodes, roots)

    def look(self, number: int) -> Looked:
        """A node's value beside the gradient that comes in, and what it sends to each of its inputs."""
        roots, nodes, node = self._find(number)
        source = self.source
        if source.nodes.is_leaf(node):
            t = source.nodes.variable(node)
            gradient, why = source.gradient(t), ""
            if gradient is None:
                gradient, why = self._pass(roots, node)[1:]
            with brought([t, gradient]):
                found = Looked([opened(source, node, t, gradient, self.names.get(id(t), ""), why)])
        else:
            forward = source.forward(nodes, roots)
            frame, gradient, why = self._pass(roots, node)
            flows = [] if frame is None else frame.outgoing
            read = [forward.of(node), gradient, *[flow.gradient for flow in flows]]
            with brought([*read, *forward.inputs(node).values()]):
                found = Looked([opened(source, node, forward.of(node), gradient, "", why)])
                for flow in flows[:FLOWS]:
                    found.views.append(self._sent(node, flow, forward))
                if frame is not None:
                    incoming = frame.incoming if frame.hooked is None else frame.hooked
                    known = forward.known(node, incoming)
                    by_input = {} if known is None else numbers_in(frame, known, incoming, source.vjp)
                    found.numbers = [[f.input, by_input[f.input].text] for f in flows if f.input in by_input]
        self.kept = [sources for _, sources in found.views]
        return found

    def _sent(self, node: Any, flow: Any, forward: Any) -> tuple[Any, list[Any]]:
        """What a node sends to one of its inputs, beside that input's value where it is known."""
        value = forward.inputs(node).get(flow.input)
        if getattr(value, "shape", None) != flow.gradient.shape:
            value = None
        return opened(self.source, node, value, flow.gradient, f"to {flow.input}", "")

    def _pass(self, roots: tuple[Any, ...], node: Any) -> tuple[Any, Any, str]:
        """A node's step in a pass that is taken back, the gradient that came into it, and why there is none."""
        try:
            stepper = self.source.stepper(roots[0] if len(roots) == 1 else roots, retain_graph=True)
        except (RuntimeError, ValueError) as error:
            return None, None, first_line(error)
        try:
            frame = stepper.run_to(node)
            found = None if frame is None else frame.incoming
        except Exception as error:
            return None, None, first_line(error)
        finally:
            stepper.undo()
        return frame, (found[0] if isinstance(found, list) else found), ""


def checked(source: Source, node: Any, nodes: list, outputs: tuple) -> list[tuple[bool, str]]:
    """A node against independent gradients: a line of each."""
    if source.nodes.is_leaf(node):
        raise LookupError("a leaf computes nothing: there is nothing to check")
    try:
        return source.check(node, nodes, outputs)
    except LookupError:
        raise
    except Exception as error:  # the user's own forward may raise anything
        raise LookupError(first_line(error)) from None


def opened(
    source: Source, node: Any, value: Any, gradient: Any, name: str, why: str
) -> tuple[Any, list[Any]]:
    """The display of what a node holds, and the arrays behind it.

    Args:
        source: the library it belongs to.
        node: the node.
        value: what forward computed, or None.
        gradient: what came in, or None.
        name: what it is called.
        why: why there is no gradient.
    """
    from .._frame.display import Display

    called = name or ("leaf" if source.nodes.is_leaf(node) else source.nodes.full_name(node))
    if value is not None and source is own() and not isinstance(value, Tensor):
        value = wrap(value, node.place)
    try:
        if value is not None and gradient is not None and tuple(value.shape) == tuple(gradient.shape):
            made = arrays.parameter(value, gradient, None, name=called, index=name or "value")
            made.says = []
            sources = [value, gradient]
        elif value is not None or gradient is not None:
            one, role = (value, "value") if value is not None else (gradient, "gradient")
            made = arrays.record(one, name=called, index=name or role, role=role)
            sources = [one]
        else:
            raise LookupError(why or "forward did not keep this value, and no gradient reaches it")
    except (TypeError, ValueError) as error:
        raise LookupError(first_line(error)) from None
    made.shown = ""  # the inspector stands beside it: no printed text
    if value is None:
        made.says.append("forward did not keep this value")
    elif gradient is None:
        made.says.append(f"no gradient: {why}" if why else "no gradient reaches it")
    return Display(made, called), sources
