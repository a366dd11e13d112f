"""Nodes made, and what they saved unpacked, by functions that are generated from what a row saves.

`record.record` makes the node of any op and reads its row each time. Where grad mode is plainly on (nobody packs what
is saved, nobody asks where), `rule.make` does the same with the row's inputs, saved values and outputs unrolled. This
is the one place that knows how a node is laid out for speed. Rows that are laid out alike share their code, and
tracebacks show it.

Invariant: a made node is the node that `record` gives, and its unpacked values are those of `record.unpack_raw`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from functools import cache
from textwrap import indent
from typing import Any
from weakref import ref

from ..base.home import HOME
from .graph import CONST, DTYPE, IN, OUT, SHAPE, STRIDES, UNTRACKED, Out, Version, draw, leaf_of, new
from .private_order import READERS
from .record import record, save_input, unpack_raw

_NAMES = {
    "Out": Out,
    "UNTRACKED": UNTRACKED,
    "Version": Version,
    "draw": draw,
    "leaf_of": leaf_of,
    "new": new,
    "record": record,
    "ref": ref,
    "save_input": save_input,
    "unpack_raw": unpack_raw,
}


def maker(rule: Any, number: int | None = None) -> Callable[..., Any]:
    """The function `make(o, *inputs, consts)` that gives `o` the history `rule(inputs, consts)`.

    For a row with several outputs `o` is the tuple of them. The caller has brought the inputs' views up to date, and
    knows that one of those with a formula requires grad.

    Args:
        rule: the row.
        number: the input that is a plain number.
    """
    return _compiled(_Layout(rule, number).source())(rule, rule.node_class)


def unpacker(rule: Any) -> Callable[..., Any]:
    """The function `unpack(n, saved)` that gives the raw values of what a node of the row has saved, versions checked.

    Args:
        rule: the row.
    """
    names = ", ".join(f"s{at}" for at in range(len(rule.saves)))
    lines = []
    for at, (kind, i, _) in enumerate(rule.saves):
        if kind not in (IN, OUT):
            continue
        entry = f"unpack_raw(n, s{at}, {kind}, {i})"
        lines += [f"if s{at}.__class__ is tuple:"]
        if kind == IN:
            lines += [f"    t, was = s{at}", "    v = t._ver", "    if v is not None and v.n != was:"]
        else:
            lines += [f"    t, v, was = s{at}", "    if v.n != was:"]
        lines += [
            f"        {entry}",
            f"    s{at} = t{'._data' if kind == IN else ''}",
            "else:",
            f"    s{at} = {entry}",
        ]
    if not lines:
        return _compiled(
            "def build():\n    def unpack(n, saved):\n        return saved\n\n    return unpack\n"
        )()
    body = indent("\n".join([f"{names}, = saved", *lines, f"return {names},"]), " " * 8)
    unpack = _compiled(f"def build():\n    def unpack(n, saved):\n{body}\n\n    return unpack\n")()
    READERS.add(unpack.__code__)  # a formula takes what was saved in any order of memory
    return unpack


def deferred(rule: Any, name: str, make: Callable[..., Any], *more: Any) -> Callable[..., Any]:
    """A function that at its first call puts what `make(rule, ...)` gives in its own place, an attribute of the row."""

    def first(*args: Any) -> Any:
        found = make(rule, *more)
        setattr(rule, name, found)
        return found(*args)

    return first


def linker(rule: Any) -> Callable[..., Any]:
    """The function `link(edge, given, consts, shape, dtype, place)` that makes a node where there is no tensor.

    It is for steps between which no tensor is made. The row has one input, of shape `given`; the caller draws the
    node's number, after the node before it has its own.

    Args:
        rule: the row, which saves nothing but that shape and its constants.
    """
    layout = _Layout(rule, None)
    assert all(kind in (CONST, SHAPE) for kind, _, _ in rule.saves), f"{rule.name} saves {rule.saved_names}"
    source = f"""\
def build(rule, cls):
    def link(e, given, consts, shape, dtype, place):
        n = new(cls)
        n.edges, n.saved, n.consts = (e,), {layout.saved().replace("x0._data.shape", "given")}, consts
        n.shape, n.dtype, n.place, n.hooks = shape, dtype, place, None
        return n

    return link
"""
    return _compiled(source)(rule, rule.node_class)


@cache
def _compiled(source: str) -> Callable[..., Any]:
    """The function `build` of a source, entered where tracebacks look for lines."""
    file = f"{HOME}<node {_compiled.cache_info().currsize}>"  # not a line of the user's
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = dict(_NAMES)
    exec(compile(source, file, "exec"), space)
    return space["build"]


class _Layout:
    """What `record` does for a row, as source."""

    def __init__(self, rule: Any, number: int | None) -> None:
        self.rule, self.number = rule, number
        self.count = len(rule.inputs)
        self.edges = [i for i, vjp in enumerate(rule.vjps) if vjp is not None and i != number]
        self.many = rule.differentiable_outs != 1 or any(kind == OUT and i for kind, i, _ in rule.saves)

    def source(self) -> str:
        """The whole."""
        names = ", ".join(f"x{i}" for i in range(self.count))
        edges = ", ".join(f"e{i}" if i in self.edges else "None" for i in range(self.count))
        first = "o[0]" if self.many else "o"
        lines = [
            *self.found_edges(f"return record(rule, ({names},), consts, {'o' if self.many else '(o,)'})"),
            *self.kept(),
            "n = new(cls)",
            f"n.edges, n.saved, n.consts = ({edges},), {self.saved()}, consts",
            f"d = {first}._data",
            f"n.shape, n.dtype, n.place, n.hooks = d.shape, d.dtype, {first}._place, None",
            "n.seq = draw()",
            *self.handed_out(),
        ]
        body = indent("\n".join(lines), " " * 8)
        return f"def build(rule, cls):\n    def make(o, {names}, consts):\n{body}\n\n    return make\n"

    def found_edges(self, otherwise: str) -> Iterator[str]:
        """Where the gradient of each input goes; where none goes anywhere, `otherwise`."""
        for i in self.edges:
            lines = [f"e{i} = x{i}._node", f"if e{i} is None:", f"    e{i} = leaf_of(x{i})"]
            if self.count == 1:  # it requires grad
                yield from (*lines, "    if e0 is None:", f"        {otherwise}")
            else:
                yield from (f"e{i} = None", f"if x{i}._rg:", *[f"    {line}" for line in lines])
        if self.count > 1:
            yield from (f"if {' and '.join(f'e{i} is None' for i in self.edges)}:", f"    {otherwise}")

    def read(self, readers: tuple) -> str:
        """The condition that an input with an edge reads a saved value; "" where that is certain."""
        reading = [i for i in readers if i in self.edges]
        if reading == self.edges:
            return ""
        return " or ".join(f"e{i} is not None" for i in reading) or "False"

    def kept(self) -> Iterator[str]:
        """The tensors that are saved, each with the version it has."""
        for at, (kind, i, readers) in enumerate(self.rule.saves):
            if kind == IN and i != self.number:
                t = f"x{i}"
                lines = [
                    f"v = {t}._ver",
                    f"s{at} = save_input({t}) if v is UNTRACKED else ({t}, 0 if v is None else v.n)",
                ]
            elif kind == OUT:
                t = f"o[{i}]" if self.many else "o"
                lines = [
                    f"v = {t}._ver",
                    "if v is None:",
                    f"    v = {t}._ver = new(Version)",
                    "    v.n = 0",
                    f"s{at} = ({t}._data, v, v.n)",
                ]
            else:
                continue
            condition = self.read(readers)
            if condition:
                yield from (f"s{at} = None", f"if {condition}:", *[f"    {line}" for line in lines])
            else:
                yield from lines

    def saved(self) -> str:
        """The tuple of what is saved, None where no input with an edge would read it."""
        values = []
        for at, (kind, i, readers) in enumerate(self.rule.saves):
            if kind == OUT or (kind == IN and i != self.number):
                values.append(f"s{at}")
                continue
            value = {
                CONST: f"consts[{i}]",
                SHAPE: f"x{i}._data.shape",
                DTYPE: f"x{i}._data.dtype",
                STRIDES: f"x{i}._data.strides",
                IN: f"x{i}",
            }[kind]
            condition = self.read(readers)
            values.append(f"{value} if {condition} else None" if condition else value)
        consts = [f"consts[{i}]" for i in range(len(self.rule.consts))]
        if consts and values[-len(consts) :] == consts:
            values[-len(consts) :] = ["*consts"]
        return "consts" if values == ["*consts"] else f"({', '.join(values)},)" if values else "()"

    def handed_out(self) -> list[str]:
        """The outputs receive the node, or their edge of it."""
        outs = self.rule.differentiable_outs
        if outs == 1:
            first = "o[0]" if self.many else "o"
            return [f"{first}._node, {first}._rg = n, True"]
        return [
            f"n.outs = {'len(o)' if outs is None else outs}",
            "n.live = live = {}",
            "own, p, nr = (n,), n.place, 0",
            f"for t in {'o' if outs is None else f'o[:{outs}]'}:",
            "    d = t._data",
            "    u = new(Out)",
            "    u.node, u.nr, u.place, u.edges = n, nr, p, own",
            "    u.shape, u.dtype, u.hooks = d.shape, d.dtype, None",
            "    u.seq = draw()",
            "    live[nr] = ref(u)",
            "    t._node, t._rg = u, True",
            "    nr += 1",
        ]
