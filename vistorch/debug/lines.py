"""Which line made a node, wrote a memory, cut a history: a listener that notes it while it listens.

Invariant: what is noted is raw (code and instruction) until it is looked up, because a line costs more than a small op.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..engine.base.events import Listener, where
from ..engine.base.modes import mode
from ..engine.core.graph import UNTRACKED, Out, Version
from ..engine.core.record import Promoted
from .line_lookup import Line, line_of


@dataclass(frozen=True)
class Cut:
    """One place where a history ended: `kind` as in the vocabulary of events, the tensor's shape, the line.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Lines
        >>> with Lines() as lines:
        ...     y = vistorch.ones(2, requires_grad=True).detach()
        >>> [(cut.kind, cut.shape) for cut in lines.cuts]
        [('detach', (2,))]
    """

    kind: str
    shape: tuple[int, ...] | None
    line: Line | None


class Lines(Listener):
    """Notes the line that made each node, wrote each memory and cut each history.

    While it listens, the error for a saved value that was overwritten carries both lines as notes.

    Args:
        values: also keep each node's inputs, so that it can be checked at them.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Lines, note_of
        >>> x = vistorch.ones(2, requires_grad=True)
        >>> with Lines():
        ...     y = x.exp()
        >>> note_of(y.grad_fn)["line"] is None
        False
    """

    open = 0  # how many listen: one that is alone need not look at what others noted

    def __init__(self, values: bool = False) -> None:
        self.values = values
        self._cuts: list = []

    def __enter__(self) -> Lines:
        """Start to listen."""
        Lines.open += 1
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        """Stop listening."""
        super().__exit__(*exc)
        Lines.open -= 1

    @property
    def cuts(self) -> list[Cut]:
        """The newest cuts, at most 10,000.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Lines
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> with Lines() as lines:
            ...     total = x.sum().item()
            ...     with vistorch.no_grad():
            ...         y = x * 2
            >>> for cut in lines.cuts:
            ...     print(f"{cut.kind}: {cut.line.text}")
            item: total = x.sum().item()
            no_grad: with vistorch.no_grad():
        """
        return [Cut(kind, shape, line_of(place)) for kind, shape, place in self._cuts]

    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Note where a node was made.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Lines, line_of, note_of
            >>> with Lines(values=True):
            ...     y = vistorch.ones(2, requires_grad=True).exp()
            >>> note = note_of(y.grad_fn)
            >>> line_of(note["line"]).text, note["ins"][0].tolist()
            ('y = vistorch.ones(2, requires_grad=True).exp()', [1.0, 1.0])
        """
        node = outs[0]._node if outs else None
        if node is None:
            node = _recorded(outs)
            if node is None:
                return
        if node.__class__ is Out:
            node = node.node
        if self.values:
            versions = tuple([_version(t) for t in ins])
            note = {"line": where(2), "rule": rule, "ins": ins, "consts": consts, "versions": versions}
        else:
            note = {"line": where(2)}
        if Lines.open == 1 and not mode.anomaly:
            node.note = note  # fresh from its op: nobody else has noted anything
        else:
            node.note = {**note_of(node), **note}

    def write(self, tensor: Any, rule: Any) -> None:
        """Note where a memory was written; the nodes of an assignment are known by this alone.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Lines, line_of, note_of
            >>> y = vistorch.ones(3, requires_grad=True) * 2
            >>> with Lines():
            ...     y[0] = 5.0
            >>> line_of(note_of(y.grad_fn)["line"]).text
            'y[0] = 5.0'
        """
        place = where(2)
        if tensor._ver is not UNTRACKED:
            tensor._ver.by = place
        base = tensor if tensor._view is None else tensor._view.base
        made = [tensor._node, base._node]
        if base is not tensor and base._node is not None:
            # what was put into the base may be a node of this write, too
            made += [n for n in base._node.edges if n is not None and n.rule is not None and n.rule is rule]
        for node in made:
            if node is not None and node.__class__ is not Out and "line" not in (note := note_of(node)):
                node.note = {**note, "line": place}

    def cut(self, kind: str, tensor: Any) -> None:
        """Note where a history ended.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Lines
            >>> class Strict(Lines):
            ...     def cut(self, kind, tensor):
            ...         super().cut(kind, tensor)
            ...         if kind == "detach":
            ...             raise RuntimeError("no detach() in here")
            >>> with Strict():
            ...     vistorch.ones(2, requires_grad=True).detach()
            Traceback (most recent call last):
            RuntimeError: no detach() in here
        """
        self._cuts.append((kind, None if tensor is None else tuple(tensor._data.shape), where(2)))
        if len(self._cuts) > 10_000:
            del self._cuts[:5_000]

    def saved(self, node: Any, entry: Any, error: RuntimeError) -> None:
        """Add to the error about to be raised which line saved and which one wrote.

        Example:
            >>> import vistorch
            >>> from vistorch.debug import Lines
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> with Lines():
            ...     y = x.exp()
            ...     _ = y.add_(1)
            ...     try:
            ...         y.sum().backward()
            ...     except RuntimeError as error:
            ...         for note in error.__notes__:  # what, at which line of which file
            ...             print(note.partition(" at ")[0], "->", note.rpartition(": ")[2])
            saved for backward -> y = x.exp()
            overwritten -> _ = y.add_(1)
        """
        lines = overwritten(node, entry)
        for what, line in (("saved for backward at", lines.saved), ("overwritten at", lines.written)):
            if line is not None:
                add_note(error, f"{what} {line}")


@dataclass(frozen=True)
class Overwritten:
    """The two lines behind "modified by an inplace operation": who saved, who wrote last; None if nobody listened.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Lines, overwritten
        >>> with Lines():
        ...     y = vistorch.ones(2, requires_grad=True).exp()
        ...     _ = y.detach().zero_()
        >>> found = overwritten(y.grad_fn, y.grad_fn.saved[0])
        >>> found.saved is None, found.written is None
        (False, False)
    """

    saved: Line | None
    written: Line | None


def overwritten(node: Any, entry: Any) -> Overwritten:
    """Which line saved an entry of a node, and which one wrote to its memory last.

    Args:
        node: the node that saved it.
        entry: one of `node.saved`.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Lines, overwritten
        >>> with Lines():
        ...     y = vistorch.ones(2, requires_grad=True).exp()
        ...     _ = y.detach().zero_()
        >>> found = overwritten(y.grad_fn, y.grad_fn.saved[0])
        >>> found.written.line - found.saved.line
        1
    """
    if isinstance(entry, Promoted) or (isinstance(entry, tuple) and isinstance(entry[0], tuple)):
        return overwritten(node, entry.saved if isinstance(entry, Promoted) else entry[0])
    cell = next((x for x in entry if isinstance(x, Version)), None) if isinstance(entry, tuple) else None
    if cell is None and isinstance(entry, tuple):
        cell = getattr(entry[0], "_ver", None)
    return Overwritten(line_of(note_of(node).get("line")), line_of(getattr(cell, "by", None)))


def note_of(node: Any) -> dict:
    """What was noted at a node; empty if nobody listened when it was made.

    Args:
        node: a recorded node, such as a tensor's `grad_fn`.

    Example:
        >>> import vistorch
        >>> from vistorch.debug import Lines, note_of
        >>> with Lines():
        ...     y = vistorch.ones(2, requires_grad=True) * 2
        >>> "line" in note_of(y.grad_fn)
        True
    """
    try:
        return type(node).note.__get__(node)  # past `__getattr__`, which a custom function's node has
    except AttributeError:
        return {}


def _recorded(outs: tuple) -> Any:
    return next((t._node for t in outs if t._node is not None), None)


def _version(t: Any) -> int | None:
    v = getattr(t, "_ver", None)
    return 0 if v is None else None if v is UNTRACKED else v.n


def add_note(error: BaseException, text: str) -> None:
    """Add a note to an exception, as Python 3.11 does."""
    add = getattr(error, "add_note", None)
    if add is not None:
        add(text)
    else:  # Python 3.10
        error.__notes__ = [*getattr(error, "__notes__", []), text]  # type: ignore[attr-defined]
