"""The backward pass: one generator, `Pass.steps()`, that every other way of running it drives.

Gradients that wait for their node are in `Pass.pending`. With a journal, each step writes down the references it
replaced, so that undoing it is re-assignment: nothing is then accumulated in place, stolen or freed.
"""

from __future__ import annotations

import operator
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base import errors
from ..base.modes import mode, recording
from ..base.numpy_warnings import without_warnings
from ..core.graph import FREED, REPLACED, Leaf, Out, edge, version
from ..core.hooks import run_accumulated, run_node_hook, run_tensor_hooks, tensor_of
from ..core.rules import RAW, REC
from ..core.tensor import Tensor, ndarray, wrap
from ..memory.placement import CPU
from .accumulate import as_array, check_sum, copied, own, owned, total
from .anomaly import blame, check_nan
from .nested_passes import Deeper
from .node_vjp import F4, F8, cast, fit, in_turn, recorded_values, softened, summed, unfit, vjps_of

HOST = RAW[0]
_adding = threading.Lock()  # `.grad += g` of one leaf from two threads


def _sole() -> int:
    """What `sys.getrefcount(g)` says in `Pass._leaf`, on this interpreter, of an array nobody else holds."""
    take = {0: np.ones(1)}.pop

    def called(leaf: Any, g: Any, undo: Any) -> int:
        return sys.getrefcount(g)

    g = take(0, None)
    return called(0, g, None)


SOLE = _sole()
_newest = operator.attrgetter("seq")


def order_of(roots: list) -> list:
    """Every node below the roots, newest first; each leaf directly after the last node that feeds it."""
    nodes = list(roots)
    seen = set(nodes)
    if len(seen) != len(nodes):  # a root given twice runs once
        nodes = list(dict.fromkeys(nodes))
    last: dict = {}
    push, add = nodes.append, seen.add
    for n in nodes:  # grows while it is walked
        for e in n.edges:
            if e is not None:
                if e.__class__ is Leaf:
                    feeder = last.get(e)
                    if feeder is None:
                        last[e] = n
                    elif n.seq < feeder.seq:
                        del last[e]  # so that a node's leaves stand in the order of its edges
                        last[e] = n
                elif e not in seen:
                    add(e)
                    push(e)
    if len(nodes) > 1:
        nodes.sort(key=_newest, reverse=True)
    if not last:
        return nodes
    after: dict = {}
    for leaf, feeder in last.items():
        if feeder in after:
            after[feeder].append(leaf)
        else:
            after[feeder] = [leaf]
    order = []
    put, get = order.append, after.get
    for n in nodes:
        if n.__class__ is Leaf and n in last:
            continue  # a root that is also fed by another root: it runs after its feeder
        put(n)
        leaves = get(n)
        if leaves is not None:
            order += leaves
    return order


class Pass:
    """One backward pass: what runs, what waits, what was caught, and, with a journal, the way back."""

    __slots__ = (
        "__weakref__",
        "accumulate",
        "at",
        "caught",
        "create_graph",
        "ends",
        "free",
        "journal",
        "makers",
        "needed",
        "order",
        "owned",
        "pending",
        "records",
        "roots",
        "targets",
        "wanted",
    )

    def __init__(
        self,
        roots: list,
        grads: list,
        create_graph: bool = False,
        retain_graph: bool = False,
        targets: list | None = None,
        accumulate: bool = True,
        journal: bool = False,
    ) -> None:
        """Prepare a pass.

        Args:
            roots: nodes to start from.
            grads: their gradients (arrays; Tensors with create_graph).
            create_graph: record the pass itself.
            retain_graph: do not free what nodes saved.
            targets: with `accumulate`, the only leaves that get a gradient; without, where gradients are
                caught.
            accumulate: add to `.grad` (backward) instead of catching (grad).
            journal: keep the way back.
        """
        self.create_graph, self.accumulate = create_graph, accumulate
        self.records = (
            True  # a pass of samples over a graph without computes with tensors, and may leave no graph
        )
        self.free = not (retain_graph or journal)
        self.order = order_of(roots)
        self.owned = set()
        self.caught: dict = {}
        self.journal: list | None = [] if journal else None
        self.ends: list | None = None
        self.at = 0
        if targets is None:
            self.targets = self.needed = self.roots = self.wanted = self.makers = None
        else:
            self.targets, self.roots = set(targets), frozenset(roots)
            self.needed = self._needed()
            # no gradient is computed for nothing, except where someone watches; a root's hooks always run
            self.wanted = None if journal else {*self.needed, *self.targets, *self.roots}
        self.pending = pending = {}
        for root, g in zip(roots, grads):  # noqa: B905  hot
            held = pending.get(root)
            pending[root] = g if held is None else held + g

    def _needed(self) -> set:
        """The nodes that must run for the targets' sake.

        As in PyTorch, a target of `backward` that is no leaf counts itself: its node runs, with its hooks and its
        refusals, and sends nothing on. Beside a target the other outputs of its node are reached too.
        """
        needed: set = set()
        self.makers = makers = {t.node if t.__class__ is Out else t for t in self.targets or ()}
        if self.accumulate:
            needed.update([n for n in makers if n.__class__ is not Leaf])
        for n in reversed(self.order):
            for e in n.edges:
                if e is not None and (e in needed or e in makers):
                    needed.add(n)
                    break
        return needed

    def steps(self) -> Iterator[Any]:
        """Run the pass from where it stands, one node at a time; yields each node after it ran."""
        create_graph, journal, free = self.create_graph, self.journal, self.free
        pending, owned, needed, targets = self.pending, self.owned, self.needed, self.targets
        get, take = pending.get, pending.pop
        wanted = self.wanted
        steal = journal is None and not create_graph
        order = self.order
        undo: list | None = None
        if self.at:
            order = order[self.at :]
        anomaly = mode.anomaly
        for n in order:
            if journal is not None:
                self.at += 1
            g = take(n, None)
            if g is None:
                continue
            if journal is not None:
                undo = [(pending, n, g)]
                journal.append((self.at - 1, n, g, undo))
            cls = n.__class__
            if cls is Leaf:
                if targets is None or n in targets:
                    gi = p = results = values = None  # so that `g` may be the only reference to its array
                    self._leaf(n, g, undo)
                    yield n
                elif n.hooks is not None and n in self.roots:
                    self._of_tensor(n, n.hooks, g, undo)
                continue
            hooks = n.hooks
            if targets is not None:
                if n not in needed or (cls is Out and n.node not in needed):
                    if hooks is not None and (
                        n in targets
                        or n in self.roots  # the hooks of a root are always called
                        or (cls is Out and n.node in self.makers)
                    ):
                        g = self._of_tensor(n, hooks, g, undo)
                    if n in targets:
                        self._catch(n, g, undo)
                    continue
                if n in targets:  # a node that runs on is caught before its hooks, as in PyTorch
                    if hooks is not None and hooks.tensor and not self.create_graph:
                        g = tensor_of(g, n.place)._data  # a hook that writes it writes what was caught
                    self._catch(n, g, undo)
            if hooks is not None:
                g = self._before(n, hooks, g, undo)
                if g is None:
                    continue
                if journal is not None:
                    journal[-1] = (*journal[-1], g)  # what the hooks made of it, for who looks at the journal
            if cls is Out:
                self._gather(n, g, undo)
                continue
            saved = n.saved
            if saved is FREED:
                if any(e is not None for e in n.edges):
                    raise RuntimeError(errors.FREED_TWICE)
                continue  # nothing flows on from here: nothing was needed
            rule = n.rule
            if create_graph and rule is not None and hooks is None and not anomaly:
                self._recorded(n, rule, g, wanted, undo)
            elif rule is None or hooks is not None or anomaly or rule.together is not None:
                results = self._careful(n, rule, g, hooks, wanted)
                for e, gi in zip(n.edges, results, strict=True):
                    if e is not None and gi is not None:
                        self._send(e, gi, undo)
            else:
                F = HOST if n.place is CPU else RAW[n.place.kind]
                dt = n.dtype
                values = rule.unpack(n, saved) if saved else ()
                if dt is not F4 and dt is not F8:
                    g, values = softened(rule, g, values, dt, n.place)
                for e, vjp, pick in zip(n.edges, rule.vjps, rule.picks):  # noqa: B905  hot
                    if e is None or (wanted is not None and e not in wanted):
                        continue
                    try:
                        if not pick:
                            gi = vjp(F, g)
                        elif len(pick) == 1:
                            gi = vjp(F, g, values[pick[0]])
                        else:
                            gi = vjp(F, g, *[values[i] for i in pick])
                    except (ValueError, IndexError) as exc:
                        raise unfit(n, exc) from exc
                    if gi is None:
                        continue
                    if gi.shape != e.shape:
                        gi = summed(F, gi, e.shape)
                    if gi.dtype is not e.dtype:
                        gi = cast(F, gi, e.dtype)
                    p = get(e)
                    if undo is not None:
                        undo.append((pending, e, p, gi))
                    if p is None:
                        pending[e] = gi
                    elif steal and e in owned:
                        p += gi
                        pending[e] = p
                    else:
                        pending[e] = p + gi
                        owned.add(e)
            if free and saved and (rule is None or rule.saves_tensors):
                # a node that nothing flows on from has saved nothing, unless its row saves regardless
                if n.edges[0] is not None or any(x is not None for x in saved):
                    n.saved = FREED
            yield n
        while self.ends:  # which may queue others
            self.ends.pop(0)()

    def will_run(self, n: Any) -> bool:
        """Whether this pass comes to a node (or a leaf's end)."""
        if self.targets is None:
            return n in self.order
        return n in self.targets or n in self.needed

    def undo(self) -> Any:
        """Take back the newest step; returns its node."""
        if not self.journal:
            raise RuntimeError("nothing to undo: the pass stands at its beginning")
        at, n, _, changes = self.journal.pop()[:4]
        for change in reversed(changes):
            holder, key, before = change[:3]
            if isinstance(holder, dict):
                if before is None:
                    holder.pop(key, None)
                else:
                    holder[key] = before
            else:
                setattr(holder, key, before)
        self.at = at
        return n

    # ---- the parts of a step that are not on the fast path ----------------------------------------------------
    def _gather(self, out: Out, g: Any, undo: list | None) -> None:
        """One output's gradient joins its siblings at their node."""
        node = out.node
        held = self.pending.get(node)
        if undo is not None:
            undo.append((self.pending, node, held))
        gs = [None] * node.outs if held is None else list(held) if undo is not None else held
        before = gs[out.nr]
        gs[out.nr] = g if before is None else before + g
        self.pending[node] = gs

    def _recorded(self, n: Any, rule: Any, g: Any, wanted: Any, undo: list | None) -> None:
        """One plain node of a pass that is itself recorded."""
        if rule.together is not None and rule.together is rule.vjps[0]:
            for e, gi in zip(n.edges, vjps_of(n, g, True), strict=True):
                if e is not None and gi is not None and (wanted is None or e in wanted):
                    self._send(e, gi, undo)
            return
        for e, gi in zip(n.edges, in_turn(n, rule, g, recorded_values(n, rule), wanted), strict=True):
            if gi is not None:
                self._send(e, gi, undo)

    def _send(self, e: Any, gi: Any, undo: list | None) -> None:
        """Fit a gradient to an edge and add it to what waits there."""
        gi = fit(gi, e, self.create_graph)
        p = self.pending.get(e)
        if undo is not None:
            undo.append((self.pending, e, p, gi))
        self.pending[e] = gi if p is None else p + gi
        if p is not None and not self.create_graph:
            self.owned.add(e)

    # ---- where gradients end ----------------------------------------------------------------------------------
    def _retain(self, t: Tensor, g: Any, undo: list | None) -> None:
        if undo is not None:
            undo.append((t, "_grad", t._grad))
        new = REC.clone(g) if self.create_graph else wrap(g.copy(), t._place)
        t._grad = new if t._grad is None else total(t._grad, new, self.create_graph)

    def _catch(self, n: Any, g: Any, undo: list | None) -> None:
        if self.accumulate and n.__class__ is not Leaf:
            return
        if undo is not None:
            undo.append((self.caught, n, self.caught.get(n)))
        self.caught[n] = g

    def _leaf(self, leaf: Leaf, g: Any, undo: list | None) -> None:
        """Add to `.grad`, or catch."""
        hooks = leaf.hooks
        if not self.accumulate:
            if hooks is not None:
                g = self._of_tensor(leaf, hooks, g, undo)
            self._catch(leaf, g, undo)
            return
        if hooks is not None:
            g = self._before(leaf, hooks, g, undo)
            if g is None:
                return
            if self.journal is not None:
                self.journal[-1] = (*self.journal[-1], g)
        t = leaf.variable
        if not t._rg:
            return  # requires_grad was switched off since
        if t._node is not None and t._view is None:
            if t._node is REPLACED:
                raise RuntimeError(errors.LEAF_RESHAPED.format(errors.sizes(t._data.shape)))
            raise RuntimeError("leaf variable has been moved into the graph interior")
        with _adding:
            before = t._grad
            if self.create_graph:
                t._grad = copied(g) if before is None else before + g
            elif before is None:
                # a gradient nobody else holds becomes .grad itself; anything else is copied once
                whole = None
                if (
                    g.__class__ is ndarray
                    and undo is None
                    and sys.getrefcount(g) <= SOLE
                    and g.flags.c_contiguous
                    and t._data.flags.c_contiguous
                ):
                    whole = g if g.base is None else owned(g)
                t._grad = wrap(own(g, t._data, t._place) if whole is None else whole, t._place)
            elif undo is not None:
                t._grad = wrap(as_array(before._data + g, t._place), t._place)
            else:
                d = before._data
                if d.shape != g.shape:
                    check_sum(d.shape, g.shape)
                d += g
                v = before._ver
                if v is None:
                    v = version(before)
                v.n += 1
            if undo is not None:
                undo.append((t, "_grad", before, t._grad))
        if hooks is not None:
            run_accumulated(hooks, t)
            for hook in list(hooks.after.values()):
                run_node_hook(hook, ((), (tensor_of(g, t._place),)), ())

    # ---- hooks and anomaly mode ------------------------------------------------------------------------------
    def _before(self, n: Any, hooks: Any, g: Any, undo: list | None) -> Any:
        """The hooks of the tensor, then the node's pre-hooks."""
        if g.__class__ is not list:
            g = self._of_tensor(n, hooks, g, undo)
        return self._prehooks(n, hooks, g) if hooks.before else g

    def _of_tensor(self, n: Any, hooks: Any, g: Any, undo: list | None) -> Any:
        """Tensor hooks in their order, then retained gradients."""
        if hooks.tensor:
            g = run_tensor_hooks(hooks, g, n.place, self.create_graph)
        for ref in hooks.retained:
            t = ref()
            if t is not None:
                self._retain(t, g, undo)
        return g

    def _prehooks(self, n: Any, hooks: Any, g: Any) -> Any:
        many = g.__class__ is list
        given = tuple([tensor_of(x, n.place) for x in (g if many else [g])])
        for hook in list(hooks.before.values()):
            given = run_node_hook(hook, (given,), given)
        back = [x if self.create_graph or x is None else x._data for x in given]
        return back if many else back[0]

    def _careful(self, n: Any, rule: Any, g: Any, hooks: Any, wanted: Any) -> list:
        """One node off the fast path: recorded, hooked, custom or watched by anomaly mode."""
        before, mode.node = mode.node, n
        try:
            if rule is None:
                results = n.run(g, self.create_graph)
            else:
                results = vjps_of(n, g, self.create_graph, wanted)
        except Exception as exc:
            if mode.anomaly:
                blame(n, exc)
            raise
        finally:
            mode.node = before
        if mode.anomaly:
            check_nan(n, results, g)
        if hooks is not None and hooks.after:
            results = self._posthooks(n, hooks, g, results)
        return results

    def _posthooks(self, n: Any, hooks: Any, g: Any, results: list) -> list:
        """Hooks see a gradient for each of the node's `next_functions`, fitted to it."""
        given = tuple([tensor_of(x, n.place) for x in (g if g.__class__ is list else [g])])
        at = n._gradient_slots()
        results = [
            gi if e is None or gi is None else fit(gi, e, self.create_graph)
            for e, gi in zip(n.edges, results, strict=True)
        ]
        got = tuple([tensor_of(results[i], n.place) for i in at])
        for hook in list(hooks.after.values()):
            got = run_node_hook(hook, (got, given), got)
        for i, x in zip(at, got, strict=True):
            results[i] = x if self.create_graph or x is None else x._data
        return results


def queue_callback(callback: Callable[[], Any]) -> None:
    """Have something called when the pass that runs now has come to its end; not if it fails.

    Args:
        callback: called without arguments.
    """
    run = mode.run
    if run is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    if run.ends is None:
        run.ends = []
    run.ends.append(callback)


def drain(run: Pass) -> None:
    """Run a pass to its end at full speed, in the grad mode it asks for."""
    before, outer = mode.on, mode.run
    mode.on, mode.run = recording() if run.create_graph and run.records else False, run
    try:
        if outer is None:
            with without_warnings():
                deque(run.steps(), maxlen=0)
        else:
            with without_warnings(), Deeper():
                deque(run.steps(), maxlen=0)
    finally:
        mode.on, mode.run = before, outer


def root_of(t: Any, index: int) -> Any:
    """The node a backward pass from `t` starts at."""
    e = edge(t) if t.requires_grad else None
    if e is None:
        raise RuntimeError(errors.NO_GRAD_FN.format(index))
    return e
