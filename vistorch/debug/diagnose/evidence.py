"""What is kept of a run for the rules: passes, steps, calls, modes, losses, and what was made where.

Everything is noted as it happens; a closer look, at the lineage of the loss and at values, is taken in the first
turns of the loop and now and then later. Invariant: nothing of the user's is changed and no random number is drawn;
what is noted costs a few microseconds an op.
"""

from __future__ import annotations

import ast
import linecache
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from inspect import CO_OPTIMIZED
from typing import Any

import numpy as np

from ...engine.base.errors import Unbatchable
from ...engine.base.events import KINDS, OUTSIDE, kind_of, where
from ...engine.base.modes import mode
from ...engine.core.graph import Leaf
from ..layers import is_module, is_optimizer, spoken
from ..line_lookup import Line, cell_of, line_of
from ..lineage import SETUP, SHAPED, Call, Lineage, Value, ancestors
from .course import Targets
from .ledger import Ledger
from .op_lines import OpLines
from .written import tree_of

PARTS = {"sum", "sum_all", "mul", "dot", "mv", "mm", "select"}  # between a gradient and a pass through it
BY_HAND = 4  # passes after which values are let go of, where no optimizer ends a turn
LEAVES = 200  # that are known at a time, of those that are in one pass alone
HABIT = 8  # gradients that are taken, before they count as passes
ENOUGH = 20  # looks after which rules that say so are asked no more
FIRST, EACH = 8, 8  # turns that are looked at closely: the first, then one of so many
LATE = 160  # turns after which it is one of four times as many
LOSSES = 100_000
NORMS = (
    "native_batch_norm",
    "native_layer_norm",
    "layer_norm",
    "group_norm",
    "native_group_norm",
    "instance_norm",
    "rms_norm",
)
LAYERS = frozenset(
    "addmm mm bmm baddbmm matmul linear convolution convolution_with_bias addmv mv bilinear "
    "lstm_layer gru_layer rnn_layer embedding gru_cell lstm_cell rnn_cell".split()
)
MOVES = SHAPED | {"stack", "cat", "gather", "source", "alias", "split", "split_with_sizes", "chunk", "unbind"}
ARITHMETIC = frozenset("add sub mul div pow neg exp log normal uniform addcmul addcdiv lerp".split())
LOOKUPS = ("embedding", "index", "gather", "select", "take")
OWNERS = 64  # memories that a data set changes
SIGNED = (
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "soft_margin_loss",
)  # their targets are 1 and -1
CONSTANT = ("zeros_", "ones_", "constant_", "eye_", "dirac_")


class Pass:
    """One backward pass.

    Slots:
        number, turn, place: which. root: the value it starts from. loss: its number, None where it is none.
        leaves: the variables it reaches. looked: whether this turn is looked at closely. accumulates: into `.grad`.
        calls: the outermost calls that its loss was computed from.
    """

    __slots__ = (
        "accumulates",
        "calls",
        "leaves",
        "looked",
        "loss",
        "number",
        "order",
        "place",
        "root",
        "turn",
    )


class Evidence(Lineage):
    """Listens to a run, and hands what it notes to rules.

    Args:
        rules: they are called as things happen.
        namespace: names that things have.

    Attributes:
        measures: whether sizes of gradients, weights and steps are taken, and what ops read is noted, for rules that
            ask for it.
    """

    measures = True
    lines_of_ops: OpLines | None = None  # notes where the ops of passes are called, if it is asked to
    ready = "vistorch."  # where the classes of layers are that a program finds ready

    def __init__(self, rules: Any, namespace: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.rules = [rule(self) for rule in rules]
        self.failed: dict[Any, Exception] = {}  # rules that went wrong: they are called no more
        self.broken: Exception | None = None  # what went wrong in here, which is no matter of the program's
        self.on_pass = self._hooks("at_pass")
        self.on_look = self._hooks("at_look")
        self.on_late_look = self._hooks("at_look", True)  # of those that have not seen enough by then
        self.looks = 0
        self.on_step = self._hooks("at_step")
        self.on_taken = self._hooks("at_taken")
        self.on_drew = self._hooks("at_drew")
        self.on_end = self._hooks("at_end")
        self.on_timed = self._hooks("at_timed")
        self.on_write = self._hooks("at_write")
        self.on_call = self._hooks("at_call")
        self.named = dict(namespace or {})
        self.seen_code: set = set()
        self.ledgers: dict[int, Ledger] = {}
        self.origins: dict[
            int, tuple[str, Any, Any, int]
        ] = {}  # what was made, by id: (what, subject, place, order)
        self.registered: dict[
            int, tuple[Any, str, Any, int, Any]
        ] = {}  # by parameter: module, name, place, order, it
        self.made_beside: dict[int, Any] = {}  # by parameter that is newer than an optimizer: see `_beside`
        self.loading: set[Any] = set()  # codes of functions that load a state, and of those that call them
        self.drawn_by: dict[
            int, Any
        ] = {}  # by parameter that was initialised later: the place in one of these
        self.begun: dict[
            int, tuple[str, Any, Any, int]
        ] = {}  # by parameter: initialised by, place, it, order
        self.modes: list[tuple[str, Any, Any, int]] = []  # train or eval, the outermost module, place, pass
        self.loaders: list[tuple[Any, Any]] = []  # iterations that began: loader, place
        self.clips: list[
            tuple[Any, bool, int]
        ] = []  # place, whether a pass had come since the last step, step
        self.clipped_none = 0  # calls that were given no parameter
        self.clipped_early = 0  # calls that were given some, none of which had a gradient
        self.clipped_last: list[Any] = []  # what the last of these was given
        self.clipped: list[tuple[Any, float, float]] = []  # place, norm before, bound, where it was looked at
        self.schedulers: dict[int, tuple[Any, int, Any]] = {}  # by id: scheduler, steps, place
        self.reported: dict[int, list[float]] = {}  # by scheduler: the measures it was stepped with
        self.loads: list[tuple[Any, set[str], Any, int]] = []  # module, names it was given, place, order
        self.signs: dict[
            tuple[str, Any], list
        ] = {}  # losses whose targets are signs, by name and place: looks, those with 0 among 0 and 1
        self.aliases: dict[
            int, dict[Any, tuple[int, Any]]
        ] = {}  # of variables: by place, the step at which the newest was taken, the variable
        self.losses: list[tuple[int, float, Any]] = []  # pass, loss, code of its place
        self.passes = self.steps = self.turn = 0
        self.turns: list[int] = []  # for each turn that is over, the number of its newest node
        self.newest = 0
        self.stepped: dict[int, int] = {}  # optimizers in this turn
        self.written: set[int] = set()  # their arrays, where something but an optimizer wrote them
        self.in_step = False
        self.older: list[
            tuple[int, int, Any, Any]
        ] = []  # ops that joined an older graph: (turn, age, place, shape)
        self.joined: dict[
            Any, tuple[int, bool]
        ] = {}  # by place: the node joined last, whether it should learn
        self.reached: dict[int, list] = {}  # by leaf: [variable, passes]
        self.lies: dict[int, int] = {}  # by leaf: its array
        self.used: dict[int, Any] = {}  # leaves that ops read, by id, in turns that were looked at
        self.cleared_at: Any = None  # place of a clearing since the last pass
        self.zeroed: dict[int, dict[Any, int]] = {}  # by optimizer: how often each line cleared its gradients
        self.since_pass = False  # a pass came since the last step
        self.drawn_calls: list[Call] = []
        self.pass_places: set[Any] = set()  # codes of places that started passes
        self.derived_at: set[Any] = set()  # those of passes through a gradient
        self.taken_alone = 0  # gradients of a loss that were taken before any pass into `.grad`
        self.by_grad = False  # whether the program trains by such gradients alone
        self.roots: dict[int, list] = {}  # outermost modules: [module, calls]
        self.parts: dict[int, list] = {}  # modules that were called: [module, calls]
        self.last: Pass | None = None
        self.trained_modules: dict[int, Any] = {}  # outermost modules that passes came from
        self.frozen_at: dict[int, Any] = {}  # by parameter: where requires_grad was set to False
        self.writes: dict[
            int, tuple[int, Any, Any]
        ] = {}  # leaves written but by an optimizer: order, first place, it
        self.arrays: dict[int, Any] = {}  # of the leaves that passes reached
        self.computed: dict[int, Any] = {}  # by variable: where its first values were computed
        self.leaves: dict[int, Any] = {}  # what optimizers hold and passes reach, by array
        self.error: BaseException | None = None
        self.targets = Targets()
        self.first_input_place: Any = None
        self.last_place: Any = None  # of the newest pass
        self.diverged: Any = None  # what NotFinite leaves to the rule that looks at the course
        self.any_norm = False
        self.divided = False  # whether losses are divided, or scaled down, before their pass
        self.activations: set[tuple[str, Any]] = set()
        self.tables: set[int] = set()  # parameters that are looked up by rows
        self.picked: set[int] = set()  # those, and all of which parts are picked
        self.overwritten: tuple | None = None
        self.wrote: dict[int, Any] = {}  # by version cell, in this turn: where its memory was written last
        self.hand: dict[int, int] = {}  # by leaf: how often something but an optimizer wrote it
        self.seeds: list[tuple] = []  # seed, place, turn, whether numbers were drawn before
        self.changed: dict[tuple, list] = {}  # by memory that `__getitem__` writes: times, op, what owns it
        self.filled: set[int] = set()  # owners that are filled there
        self.owners: dict[int, Any] = {}  # they are kept, so that no other has their number
        self.timed: dict[int, tuple[Any, tuple, Any]] = {}  # layers that run over time: module, shape, place
        self.heads_of: Any = None  # what the newest loss compares: its key, heads
        self.padded_at: Any = None  # the rows that are padded: pass, its root, what was found
        self.drawn: Any = None  # what the newest dropout or norm was given
        self.marks: list[
            tuple[int, Any]
        ] = []  # of the two newest passes: the newest value by then, their place
        self.prepared_with: dict[
            int, tuple
        ] = {}  # what has a history when the first pass begins, by its memory
        self.gave_nothing: dict[int, Any] = {}  # modules whose forward gave None, or raised
        self.no_leaves: dict[
            Any, list
        ] = {}  # by place where .grad of the result of an op is read: see `phase`
        self.near_of: Any = (None, [])  # the newest value that a number was taken out of, and what is near it

    def _hooks(self, name: str, late: bool = False) -> list[Callable[..., None]]:
        """A method of all rules that have it; what a rule raises there is no matter of the program's."""
        found = []
        for rule in self.rules:
            if late and getattr(rule, "most_looks", None) is not None:
                continue
            if (method := getattr(rule, name, None)) is not None:
                found.append(partial(self._ask, rule, method))
        return found

    def _ask(self, rule: Any, method: Callable[..., None], *given: Any) -> None:
        if rule not in self.failed:
            try:
                method(*given)
            except Unbatchable:
                return  # within vmap a value has no number of its own
            except Exception as error:
                self.failed[rule] = error

    def shield(self) -> None:
        """Keep what goes wrong in here from the program: the evidence then ends early."""
        for kind in KINDS:
            if (method := getattr(self, kind, None)) is not None:
                setattr(self, kind, partial(self._guarded, method))

    def _guarded(self, method: Callable[..., None], *given: Any) -> None:
        if self.broken is None:
            try:
                method(*given)
            except Unbatchable:
                return
            except Exception as error:
                self.broken = error

    @property
    def looked(self) -> bool:
        """Whether this turn is looked at closely."""
        return self.turn < FIRST or self.turn % (EACH if self.turn < LATE else 4 * EACH) == 0

    # ---- what happens ------------------------------------------------------------------------------------------
    def op(self, rule: Any, ins: tuple, consts: tuple, outs: tuple) -> None:
        """Enter what came out of an op."""
        super().op(rule, ins, consts, outs)
        if self.lines_of_ops is not None:
            self.lines_of_ops.op(self, rule, outs)

    def _source(self, t: Any, d: Any) -> Value:
        v = super()._source(t, d)
        leaf = self.leaves.get(id(d))
        # a view of it, or its values, may be what the op was given
        if leaf is not None and leaf is not t and leaf._data is d:
            v.tensor, v.needs = leaf, leaf._rg
        node = t._node
        if node is not None and self.turns and self.looked and getattr(node, "seq", 0) <= self.turns[-1]:
            call = self.here.call
            place = where() if call is None else call.place
            if len(self.older) < 1000 and not self._again(t, place):
                age = self.turn - bisect_left(self.turns, oldest(node))
                self.older.append((self.turn, age, place, v.shape))
        return v

    def _again(self, t: Any, place: Any) -> bool:
        """Whether a line has joined this very graph before, and no optimizer steps what it begins with: an input."""
        node = t._node.node if t._node.__class__.__name__ == "Out" else t._node
        seq, learns = self.joined.get(place, (None, True))
        if seq == node.seq:
            return not learns
        held = {i for one in self.ledgers.values() for i in one.held}
        if len(self.joined) < 1000:
            self.joined[place] = node.seq, any(id(v) in held for v in self.leaves_of(t))
        return False

    def made(self, what: str, subject: Any, *details: Any) -> None:
        """Something that lasts was made."""
        place, order = _outside(subject if what != "parameter" else None) or where(2), self._next()
        if what == "parameter":
            self.registered[id(details[1])] = (subject, details[0], place, order, details[1])
            if self.ledgers and not self.here.stack:
                self.made_beside[id(details[1])] = _beside(
                    {id(one.optimizer) for one in self.ledgers.values()}
                )
            return
        self.origins[id(subject)] = (what, subject, place, order)
        if what == "optimizer":
            self._holds(Ledger(subject, place, order, self.measures))

    def phase(self, name: str, subject: Any, *details: Any) -> None:
        """Follow modules, optimizers and what moves them."""
        if name == "forward" or name == "forward_end":
            if name == "forward":
                part = self.parts.get(id(subject))
                if part is None:
                    self.parts[id(subject)] = [subject, 1]
                else:
                    part[1] += 1
                first = getattr(subject, "batch_first", None)
                if first is not None and self.looked and details[0]:
                    shape = tuple(getattr(details[0][0], "shape", ()))
                    if len(shape) == 3:
                        self.timed[id(subject)] = (subject, shape, where(2))
                        for rule in self.on_timed:
                            rule(subject, details[0])
            elif details and details[0] is None:
                self.gave_nothing[id(subject)] = subject
            super().phase(name, subject, *details)
        elif name == "no leaf":
            self._reads_none(subject)
        elif name in ("settled", "copied"):
            super().phase(name, subject, *details)
        elif name == "step":
            self._step_begins(subject, where(2))
        elif name == "step_end":
            self._step_ends(subject)
        elif name == "zero_grad":
            self.cleared_at = where(2)
            for owner in self._cleared_by(subject):
                places = self.zeroed.setdefault(id(owner), {})
                places[self.cleared_at] = places.get(self.cleared_at, 0) + 1
            for ledger in self.ledgers.values():
                if self.since_pass:
                    ledger.zero_place = self.cleared_at
        elif name in ("train", "eval"):
            place = where(2)
            if self.modes and self.modes[-1][2] == place and self.modes[-1][3] == self.passes:
                self.modes.pop()  # its children come first
            self.modes.append((name, subject, place, self.passes))
            if len(self.modes) > 1000:
                del self.modes[1:500]
        elif name == "init":
            self.begun[id(subject)] = (details[0], where(2), subject, self._next())
            if self.loading:
                self.drawn_by[id(subject)] = _under(self.loading)
        elif name == "loader":
            self.loaders.append((subject, where(2)))
            if len(self.loaders) > 10_000:
                del self.loaders[:5000]
        elif name == "signs":
            if self.looked:
                self.signed(subject, details[0])
        elif name == "grads":
            ins = [self.of(t) for t in subject if hasattr(t, "_data")]
            consts = (self.are_inputs(details[1]), len(ins))
            for t in details[0]:
                if t is not None:
                    self._enter(Value(self._next(), "grad", ins, consts, where(2), t._data, t._rg), t._data)
        elif name == "seed":
            if len(self.seeds) < 10_000:
                self.seeds.append((details[0], where(2), self.turn, self._drew_since(subject)))
        elif name == "scheduler":
            _, count, _ = self.schedulers.get(id(subject), (subject, 0, None))
            self.schedulers[id(subject)] = (subject, count + 1, where(2))
            if details and len(known := self.reported.setdefault(id(subject), [])) < LOSSES:
                known.append(float(details[0]))
        elif name == "load":
            if len(self.loads) < 1000:
                self.loading |= {code for code, _, _ in _users()}
                self.loads.append((subject, set(details[0]), where(2), self._next()))
        elif name == "clip":
            if len(self.clips) < 10_000:
                self.clips.append((where(2), self.since_pass, self.steps))
                self.clipped_none += not subject
                if subject and self._has_none(subject):
                    self.clipped_early += 1
                    self.clipped_last = list(subject)
            bound = details[0] if details else None
            if self.looked and self.since_pass and isinstance(bound, (int, float)) and bound > 0:
                grads = [p._grad._data for p in subject if p._grad is not None]
                if grads and all(isinstance(g, np.ndarray) for g in grads) and len(self.clipped) < 1000:
                    self.clipped.append((where(2), sum(_norm(g) ** 2 for g in grads) ** 0.5, float(bound)))

    def are_inputs(self, given: Any) -> bool:
        """Whether gradients are taken of nothing but leaves that are no parameters, as coordinates are.

        Args:
            given: what they are of.
        """
        return all(
            getattr(t, "_data", None) is not None
            and t._node is None
            and t.__class__.__name__ != "Parameter"
            and not any(id(t) in one.held for one in self.ledgers.values())
            for t in given
        )

    def _has_none(self, parameters: Any) -> bool:
        """Whether no parameter has a gradient; one of zeros counts as none where something was cleared."""
        grads = [p._grad for p in parameters if p._grad is not None]
        return not grads or (self.cleared_at is not None and not any(g._data.any() for g in grads))

    def _reads_none(self, tensor: Any) -> None:
        """The gradient of the result of an op is read, which is None: where, how often, after how many passes."""
        place = where(3)
        entry = self.no_leaves.get(place)
        if entry is None and len(self.no_leaves) < 100:
            op, made = self.made_by(tensor)
            entry = self.no_leaves[place] = [tensor, op, made, set()]
        if entry is not None and len(entry[3]) < 8:
            entry[3].add(self.passes)

    def made_by(self, tensor: Any) -> tuple[str, Any]:
        """The op that gave a tensor, and where; "" and None where that is not known any more.

        Args:
            tensor: which.
        """
        v = self.of(tensor)
        if v.op not in ("source", "alias") or tensor._node is None:
            return v.op, v.place
        shape, op, place = self.prepared_with.get(_address(tensor._data), (None, "", None))
        return (op, place) if shape == tensor._data.shape else ("", None)

    def signed(self, name: str, target: Any) -> None:
        """A loss is computed whose targets should be signs.

        Args:
            name: of it.
            target: what it is given.
        """
        d = getattr(target, "_data", None)
        if isinstance(d, np.ndarray) and d.size and len(self.signs) < 100:
            entry = self.signs.setdefault((name, where(3)), [0, 0])
            entry[0] += 1
            entry[1] += set(np.unique(d).tolist()) == {0, 1}

    def _drew_since(self, generator: Any) -> bool:
        """Whether a generator, about to be seeded, has moved since it was seeded before."""
        if not self.seeds or not self.turn:
            return False
        fresh = type(generator)()
        fresh.manual_seed(self.seeds[-1][0])
        now, then = generator.get_state(), fresh.get_state()
        return bytes(np.asarray(getattr(now, "_data", now))) != bytes(
            np.asarray(getattr(then, "_data", then))
        )

    def _cleared_by(self, subject: Any) -> list[Any]:
        """The optimizers whose gradients an optimizer, or a module, clears."""
        if hasattr(subject, "param_groups"):
            return [subject]
        first = next(iter(subject.parameters()), None)
        return [one.optimizer for one in self.ledgers.values() if id(first) in one.held]

    def call_begins(self, call: Call) -> None:
        """An outermost module is called."""
        root = self.roots.setdefault(id(call.module), [call.module, 0])
        root[1] += 1
        if root[1] == 1:
            self.look_around()
        for rule in self.on_call:
            rule(call)

    def cut(self, kind: str, tensor: Any) -> None:
        """A history ends."""
        if kind == "requires_grad_(False)" and tensor is not None and tensor._node is None:
            self.frozen_at[id(tensor)] = where(2)
        if kind in ("detach", "data"):
            self.aliased(tensor)
        super().cut(kind, tensor)

    def aliased(self, tensor: Any) -> None:
        """Another name is given to the memory of a tensor, without its history.

        Args:
            tensor: which.
        """
        if tensor is not None and tensor._node is None and not self.in_step:
            if tensor._rg or tensor.__class__.__name__ == "Parameter" or id(tensor) in self.aliases:
                places = self.aliases.setdefault(id(tensor), {})
                places[where(3)] = self.steps, tensor

    def saved(self, node: Any, entry: Any, error: Any) -> None:
        """A saved value was overwritten."""
        self.overwritten = (node, entry)

    def newest_scalar(self) -> Value | None:
        """The newest value of one element: the loss, most likely."""
        return next(
            (v for v in reversed(self.values) if v.data is not None and v.data.size == 1 and v.model is None),
            None,
        )

    def drew(self, name: str, input: Any, training: bool, chance: float | None) -> None:
        """A dropout or a norm ran."""
        if chance == 0:
            return
        self.drawn = input
        here = self.here
        inner = here.stack[-1] if here.stack else None
        entry = (name, inner, where(2), chance)
        call = here.call
        if call is not None:
            (call.drew if training else call.kept).append(entry)
        for rule in self.on_drew:
            rule(entry, training, call)

    def taken_out(self, kind: str, value: Value, place: Any) -> None:
        """A number was taken out."""
        for rule in self.on_taken:
            rule(kind, value, place)

    def write(self, tensor: Any, rule: Any) -> None:
        """A memory was written."""
        if self.in_step and tensor._rg and tensor._node is None:
            self.table.pop(id(tensor._data), None)  # a new weight, whatever the optimizer made it of
            return
        super().write(tensor, rule)
        if self.in_step:
            return
        place = where(2)
        for look in self.on_write:
            look(tensor, self.values[-1] if self.values and rule is not None else None, place)
        if not tensor._rg and tensor._node is None and _in_item():
            self.item_changes(tensor, "" if rule is None else rule.name.rstrip("_"), place)
        if tensor._ver is not None:
            self.wrote[id(tensor._ver)] = place
        if tensor._node is None and (tensor._rg or tensor.__class__.__name__ == "Parameter"):
            order = self._next()
            self.writes[id(tensor)] = (order, place, tensor)
        if id(tensor._data) in self.arrays:  # also by `.data`
            self.updated(tensor, place)

    def _set(self, leaf: Any) -> None:
        """The program gave a leaf other memory since the last pass, by its `.data`."""
        before, d = self.lies[id(leaf)], leaf._data
        self.leaves.pop(before, None)
        self.arrays.pop(before, None)
        self.lies[id(leaf)], self.arrays[id(d)], self.leaves[id(d)] = id(d), d, leaf
        made = self.table.get(id(d))
        self.updated(leaf, None if made is None or made.data is not d else made.place)

    def updated(self, tensor: Any, place: Any) -> None:
        """The memory of a leaf was written by the program.

        Args:
            tensor: that it was written through.
            place: of the write.
        """
        d = tensor._data
        self.written.add(id(d))
        leaf = self.leaves.get(id(d))
        if leaf is not None:
            self.hand[id(leaf)] = self.hand.get(id(leaf), 0) + 1
            if place is not None:
                self.writes[id(leaf)] = (self._next(), place, leaf)

    def item_changes(self, tensor: Any, op: str, place: Any) -> None:
        """A data set writes into memory as it hands out a sample.

        Args:
            tensor: that is written.
            op: that writes; "" where it fills.
            place: of it.
        """
        owner, address = self.memory_of(tensor)
        if id(owner) not in self.owners:
            if len(self.owners) >= OWNERS:
                return
            self.owners[id(owner)] = owner
        if op in ("", "copy", "fill", "zero", "index_put", "setitem"):
            self.filled.add(id(owner))
        elif tensor._data.dtype.kind == "f" and tensor._data.size > 1 and len(self.changed) < 100_000:
            entry = self.changed.setdefault((id(owner), address, place), [0, op, owner])
            entry[0] += 1

    def memory_of(self, tensor: Any) -> tuple[Any, int]:
        """What owns the memory of a tensor, and where that lies.

        Args:
            tensor: which.
        """
        d = tensor._data
        owner = getattr(d, "base", None)
        return (d if owner is None else owner), _address(d)

    def backward(self, run: Any, outputs: tuple) -> None:
        """A pass is about to start."""
        place = where(2)
        if self.setup is None:
            self.prepared_with = {
                _address(v.data): (v.shape, v.op, v.place)
                for v in self.values[-SETUP:]
                if v.needs and v.place is not None and v.op not in ("source", "alias")
            }
            self.begin_loop()
            self.look_around()
        self.marks = [*self.marks[-1:], (self.seq, place)]
        p = Pass()
        p.number, p.turn, p.place, p.order = self.passes, self.turn, place, run.order
        self.newest = max(
            (getattr(n, "seq", 0) for n in run.order[:3] if n.__class__ is not Leaf), default=self.newest
        )
        p.accumulates, p.looked = run.accumulate, self.looked
        if self.lines_of_ops is not None:
            self.lines_of_ops.backward(self.graph_of(run.order))
        out = outputs[0]
        p.root = self.of(out) if hasattr(out, "_data") else None
        d = getattr(out, "_data", None)
        p.loss = float(d.reshape(-1)[0]) if d is not None and d.size == 1 and d.dtype.kind == "f" else None
        if p.loss is not None and self._derived(p.root, place):
            p.loss = None  # a pass through a gradient, for a Hessian: no loss
        if place is not None:
            self.pass_places.add(place)
        if not p.accumulates and p.loss is not None and not self.passes and not self.ledgers:
            self.taken_alone += 1
        if self.taken_alone > HABIT and (self.by_grad or not self.passes) and not self.ledgers:
            self.by_grad = True  # a program that trains by gradients it takes, and by nothing else
            p.accumulates = p.accumulates or p.loss is not None
        p.leaves = [n.variable for n in run.order if n.__class__ is Leaf and n.variable is not None]
        p.calls = [] if p.root is None else self.calls_of(p.root)
        if p.accumulates:
            self.passes += 1
            self.since_pass = True
            self.cleared_at = None
            for call in p.calls:
                call.trained = True
                self.trained_modules[id(call.module)] = call.module
            if p.loss is not None and len(self.losses) < LOSSES:
                self.losses.append((p.number, p.loss, None if place is None else (place[0], place[1])))
            known = {}
            for ledger in self.ledgers.values():
                known.update(ledger.held)
            for v in p.leaves:
                entry = self.reached.get(id(v))
                if entry is None:
                    entry = self.reached[id(v)] = [v, 0]
                    self.arrays[id(v._data)] = v._data
                    self.leaves[id(v._data)] = v
                    self.lies[id(v)] = id(v._data)
                elif not self.ledgers and self.lies.get(id(v)) != id(v._data):
                    self._set(v)
                entry[1] += 1
                held = known.get(id(v))
                if held is not None:
                    held.begins_pass(p.number)
            self.last_place = place
            if p.root is not None and p.root.op in ("div", "mul") and len(p.root.parents) < len(p.root.ins):
                self.divided = True
        self.last = p
        for rule in self.on_pass:
            rule(p)
        if p.looked:
            if p.root is not None and self.measures:
                self._note_used()
            self.looks += p.accumulates
            for rule in self.on_look if self.looks <= ENOUGH else self.on_late_look:
                rule(p)

    def backward_end(self, run: Any, outputs: tuple) -> None:
        """A pass is over."""
        p = self.last
        if p is None:
            return
        p.order = ()
        if p.accumulates:
            for ledger in self.ledgers.values():
                for v in p.leaves:
                    held = ledger.held.get(id(v))
                    if held is not None:
                        held.ends_pass()
        for rule in self.on_end:
            rule(p)
        by_hand = not self.ledgers or (not self.steps and self.passes > 64)
        if p.accumulates and by_hand and not self.passes % BY_HAND:
            self.forget()  # else each look would walk through all updates by hand since the first
            p.root, p.calls = None, []

    def forget(self) -> None:
        """Let go of older values, and of leaves that one pass had alone, as weights or inputs that are made anew."""
        super().forget()
        if len(self.reached) > LEAVES:
            for i, (_, times) in list(self.reached.items())[:-LEAVES]:
                if times == 1 and i not in self.registered:
                    del self.reached[i]
                    known = self.lies.pop(i)
                    self.leaves.pop(known, None)
                    self.arrays.pop(known, None)

    def _step_begins(self, optimizer: Any, place: Any) -> None:
        self.in_step = True
        ledger = self.ledgers.get(id(optimizer))
        if ledger is None:
            ledger = self._holds(Ledger(optimizer, None, -1, self.measures))
            for held in ledger.each:  # what came before is known by the passes
                held.since = self.reached.get(id(held.tensor), (None, 0))[1]
                if held.since and held.tensor._grad is not None:
                    held.inside = {self.passes - 1}
            self.look_around()
        ledger.update(self._next())
        ledger.step_place = place
        ledger.rates.append(float(optimizer.param_groups[0]["lr"]))
        looked = self.looked and self.measures
        for held in ledger.each:
            held.begins_step(self.cleared_at is not None)
            g = held.tensor._grad
            if looked and g is not None and isinstance(g._data, np.ndarray):
                held.norms.append((ledger.steps, _norm(g._data), _norm(held.tensor._data)))
                held.before = held.tensor._data.copy() if held.first is not None else None
        for rule in self.on_step:
            rule(ledger)

    def _step_ends(self, optimizer: Any) -> None:
        self.in_step = False
        ledger = self.ledgers.get(id(optimizer))
        if ledger is None:
            return
        for held in ledger.each:
            held.ends_step(ledger.steps)
        ledger.steps += 1
        self.steps += 1
        self.since_pass = False
        self.stepped[id(optimizer)] = self.stepped.get(id(optimizer), 0) + 1
        # in the first turn those that have not stepped yet are waited for, so that it ends with the last of them
        active = {i for i, one in self.ledgers.items() if one.steps or not self.turn}
        if active <= set(self.stepped) or max(self.stepped.values()) > 8:
            self._turn_ends()

    def _holds(self, ledger: Ledger) -> Ledger:
        """Another optimizer is known: how its parameters were filled is no matter of their history."""
        self.ledgers[id(ledger.optimizer)] = ledger
        for held in ledger.each:
            d = held.tensor._data
            self.leaves[id(d)] = held.tensor
            known = self.table.get(id(d))
            if known is not None and known.tensor is not held.tensor:
                self.computed[id(held.tensor)] = known.place
                del self.table[id(d)]
        return ledger

    def _turn_ends(self) -> None:
        self.stepped, self.wrote = {}, {}
        self.turn += 1
        self.turns.append(max(self.newest, self.turns[-1] if self.turns else 0))
        self.forget()
        if self.last is not None:
            self.last.root, self.last.calls = None, []
        if self.lines_of_ops is not None:
            self.lines_of_ops.forget()

    def graph_of(self, order: list) -> list:
        """The nodes of a pass as the source of this library reads them, the newest first.

        Args:
            order: the nodes, as a pass brings them.
        """
        return order

    def leaves_of(self, tensor: Any, most: int = 64) -> list[Any]:
        """The variables that the history of a tensor begins with.

        Args:
            tensor: which.
            most: nodes that are looked at.
        """
        found, seen, waiting = [], set(), [tensor._node]
        while waiting and most:
            node = waiting.pop()
            node = node.node if node.__class__.__name__ == "Out" else node
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            most -= 1
            if node.__class__ is Leaf:
                found.append(node.variable)
            else:
                waiting += node.edges
        return found

    @property
    def recording(self) -> bool:
        """Whether ops get a history now."""
        return bool(mode.on)

    def is_embedding(self, p: Any) -> bool:
        """Whether a parameter is looked up by rows.

        Args:
            p: which.
        """
        return id(p) in self.tables

    def _note_used(self) -> None:
        for v in self.values:
            if v.op in NORMS:
                self.any_norm = True
            elif v.op in ("relu", "sigmoid", "tanh"):
                self.activations.add((v.op, self.blamed(v)))
            elif v.op.startswith(LOOKUPS):
                found = [id(x.tensor) for x in v.parents if x.tensor is not None]
                self.picked.update(found)
                if v.op.startswith("embedding"):
                    self.tables.update(found)
            for parent in v.ins:
                if parent.__class__ is Value and parent.op == "source" and parent.tensor is not None:
                    self.used[id(parent.tensor)] = parent.tensor

    # ---- names and places --------------------------------------------------------------------------------------
    def look_around(self) -> None:
        """Learn what the user's frames call their modules, optimizers and loaders."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if kind_of(code.co_filename) == OUTSIDE and code not in self.seen_code:
                self.seen_code.add(code)
                own = frame.f_locals
                seen = [*frame.f_globals.items(), *own.items()]
                if own.__class__ is dict and code.co_flags & CO_OPTIMIZED:
                    own.clear()  # a copy that the frame keeps, and with it all that its variables held by now
                for name, value in seen:
                    if not name.startswith("_") and _is_thing(value):
                        self.named.setdefault(name, value)
                        if is_optimizer(value) and id(value) not in self.ledgers:
                            self._holds(Ledger(value, None, -1, self.measures))
            frame = frame.f_back

    def assigned(self, name: str, beside: Line | None = None) -> Line | None:
        """The line that gives a name its value, in the files that ran; None where none does, or several.

        Args:
            name: a variable.
            beside: a line, in whose file it is looked for first; without it, that of the newest pass.
        """
        if not name.isidentifier():
            return None
        beside = self.line(self.last_place) if beside is None else beside
        found: dict[str, int] = {}
        for file in sorted({code.co_filename for code in self.seen_code}):
            tree = tree_of(file)
            lines = [
                node.lineno
                for node in (() if tree is None else ast.walk(tree))
                if isinstance(node, ast.Assign)
                and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
            ]
            if len(lines) == 1:
                found[file] = lines[0]
        if beside is not None and beside.file in found:
            file = beside.file
        elif len(found) == 1:
            (file,) = found
        else:
            return None
        text = linecache.getline(file, found[file]).strip()
        return Line(file, found[file], "<module>", text, cell_of(file))

    def _derived(self, value: Value | None, place: Any) -> bool:
        """Whether a value is an entry or a product of a gradient that an earlier pass has given.

        Args:
            value: that a pass starts from.
            place: of the pass.
        """
        for _ in range(8):
            if value is None or value.call is not None:
                return False
            if value.place in self.pass_places:
                self.derived_at.add(place)
                return True
            if value.op not in PARTS and value.op not in MOVES and not value.op.startswith("index"):
                return False
            if not value.parents:  # what it came of was let go of
                return place in self.derived_at
            value = value.parents[0]
        return False

    def calls_of(self, value: Value, deep: int = 400) -> list[Call]:
        """The outermost calls that a value was computed from, with those that fed them.

        Args:
            value: a loss.
            deep: values that are looked at.
        """
        found: dict[int, Call] = {}
        seen, waiting = {id(value)}, [value]
        while waiting and deep:
            v = waiting.pop()
            deep -= 1
            onward = v.ins
            call = v.model if v.ins else None  # a weight that a call was the first to read is no result of it
            if call is not None:
                if id(call) in found:
                    continue
                found[id(call)] = call
                fed = call.inputs
                known = None if fed is None else self.table.get(id(fed._data))
                onward = () if known is None else (known,)
            for parent in onward:
                if parent.__class__ is Value and id(parent) not in seen:
                    seen.add(id(parent))
                    waiting.append(parent)
        return list(found.values())

    def name_of(self, parameter: Any) -> str:
        """What a parameter is called, as a person writes it; "" where nobody calls it anything."""
        best = ""
        for name, value in self.named.items():
            if value is parameter:
                return name
            if not is_module(value):
                continue
            for path, p in value.named_parameters():
                if p is parameter:
                    head, _, own = path.rpartition(".")
                    text = f"{spoken(head, value, name) if head else name}.{own}"
                    text = text if text.startswith(name) else f"{name}.{text}"
                    if not best or len(text) < len(best):
                        best = text
        if not best and id(parameter) in self.registered:
            module, own, *_ = self.registered[id(parameter)]
            return f"{self.module_name(module) or type(module).__name__}.{own}"
        return best

    def module_name(self, module: Any) -> str:
        """What a module is called."""
        best = ""
        for name, value in self.named.items():
            if value is module:
                return name
            if not is_module(value):
                continue
            for path, m in value.named_modules():
                if m is module and path:
                    text = spoken(path, value, name)
                    text = text if text.startswith(name) else f"{name}.{text}"
                    if not best or len(text) < len(best):
                        best = text
        return best

    def variable(self, thing: Any) -> str:
        """The name of an optimizer or another thing, "" if it has none."""
        return next((name for name, value in self.named.items() if value is thing), "")

    def is_random(self, p: Any) -> bool:
        """Whether a parameter still has values as a layer draws them: initialised in this run, or as if."""
        d = p._data
        if not isinstance(d, np.ndarray) or d.ndim < 2 or d.size < 16 or id(d) in self.written:
            return False
        begun = self.begun.get(id(p))
        if begun is not None:
            later = self.writes.get(id(p))
            return begun[0] not in CONSTANT and not (later is not None and later[0] > begun[3])
        bound = float(np.abs(d).max())
        if bound == 0 or id(p) in self.writes:
            return False
        scale = bound * np.sqrt(d[0].size)
        return bool(0.85 < scale <= 1.0001 and 0.85 < float(d.std()) * np.sqrt(3) / bound < 1.15)

    def blamed(self, v: Value) -> Any:
        """The line for a value: the one that calls its layer within a model of the user's, else where that was made.

        Args:
            v: which.
        """
        module = v.module
        if module is not None and type(module).__module__.startswith(self.ready):
            made = self.origins.get(id(module))
            if v.place is not None and v.call is not None and v.call.place is not None:
                here, outer = line_of(v.place), line_of(v.call.place)
                if here is not None and outer is not None and here.function == "forward" != outer.function:
                    if not self._contained(module):
                        return v.place
            if made is not None and made[2] is not None:
                return made[2]
        return v.place

    def _contained(self, module: Any) -> bool:
        """Whether a layer is called by a container that was seen, and not by the user's own code."""
        return any(
            type(owner).__name__ == "Sequential" and any(m is module for m in owner._modules.values())
            for owner, _ in self.parts.values()
        )

    def prepared(self, v: Value, computed: bool = False) -> Any:
        """The line before the loop that a value was last picked, joined or computed in; None where it is not seen.

        Args:
            v: of the loop.
            computed: prefer the line that computed it.
        """
        known = {id(one) for one in self.setup or ()}
        found = None
        for _ in range(32):
            moves = v.op in MOVES or v.op.startswith("index")
            if id(v) in known and v.place is not None and v.op not in ("source", "alias"):
                if not moves or not computed:
                    return v.place
                found = found or v.place
            parents = v.parents
            if not parents or not moves:
                break
            v = parents[0]
        return found

    def fed(self, p: Pass) -> list[Value]:
        """What the first layers of a pass were given: values without a gradient that meet a parameter.

        Args:
            p: which.
        """
        found, left = {}, 3000
        if p.root is None:
            return []
        for v in ancestors(p.root):
            left -= 1
            if not left:
                break
            if v.op in LAYERS and any(x.needs for x in v.parents):
                for x in v.parents:
                    if not x.needs and x.data is not None and x.shape:
                        found[id(x)] = x
        return list(found.values())

    def line(self, place: Any) -> Line | None:
        """The line of a place."""
        return line_of(place)


def _is_thing(value: Any) -> bool:
    """Whether a value is a module, an optimizer, or a tensor that learns."""
    if isinstance(value, type):
        return False
    return (
        is_module(value)
        or is_optimizer(value)
        or (hasattr(type(value), "_rg") and bool(value._rg) and value._node is None)  # of either library
    )


def _outside(subject: Any) -> Any:
    """The user's place that made something, past the `__init__` of its own class and of those that hold it."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if kind_of(code.co_filename) == OUTSIDE:
            names = code.co_varnames
            own = frame.f_locals.get(names[0]) if code.co_argcount and code.co_name == "__init__" else None
            if own is None or own is not subject:
                return code, frame.f_lasti
        frame = frame.f_back
    return None


def _users() -> Iterator[tuple[Any, int, Any]]:
    """The user's frames that run, the innermost first: code, instruction, frame."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        if kind_of(frame.f_code.co_filename) == OUTSIDE:
            yield frame.f_code, frame.f_lasti, frame
        frame = frame.f_back


def _under(codes: set[Any]) -> Any:
    """The innermost place of the user's in one of some functions."""
    return next(((code, at) for code, at, _ in _users() if code in codes), None)


def _beside(optimizers: set[int]) -> Any:
    """The innermost place of the user's in a function that knows one of some optimizers, by its ids.

    It knows what its variables are, and what its first argument keeps, if that is no module.
    """
    for code, at, frame in _users():
        own = frame.f_locals
        every = list(own.values())
        if own.__class__ is dict and code.co_flags & CO_OPTIMIZED:
            own.clear()  # see `look_around`
        first = every[0] if code.co_argcount and every else None
        every += [] if is_module(first) else list(getattr(first, "__dict__", {}).values())
        if any(id(one) in optimizers for one in every):
            return code, at
    return None


def _address(d: Any) -> int:
    """Where the memory of an array lies."""
    return d.__array_interface__["data"][0] if isinstance(d, np.ndarray) else id(d)


def _in_item() -> bool:
    """Whether a data set of the user's hands out a sample."""
    frame: Any = sys._getframe(2)
    for _ in range(16):
        if frame is None:
            return False
        code = frame.f_code
        if code.co_name == "__getitem__" and kind_of(code.co_filename) == OUTSIDE:
            return True
        frame = frame.f_back
    return False


def _norm(d: Any) -> float:
    return float(np.sqrt(np.vdot(d, d).real))


def oldest(node: Any, most: int = 200) -> int:
    """The number of the oldest node, leaves apart, that a node leads to.

    Args:
        node: where to begin.
        most: nodes that are looked at.
    """
    seen, waiting, found = {id(node)}, [node], getattr(node, "seq", 0)
    while waiting and most:
        n = waiting.pop(0)
        most -= 1
        for e in n.edges:
            e = getattr(e, "node", e) if e is not None and e.__class__.__name__ == "Out" else e
            if e is None or e.__class__ is Leaf or id(e) in seen:
                continue
            seen.add(id(e))
            found = min(found, e.seq)
            waiting.append(e)
    return int(found)
