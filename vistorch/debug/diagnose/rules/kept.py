"""Values that are kept and put back: weights that were never copied, state that fits nothing, averages without buffers.

Invariant: what shares memory is known by where it lies; no name decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..finding import EXACT, WRONG, Finding, number
from ..written import calls_before, loaded
from .base import Rule
from .bookkeeping import names

PLACES = 64
MOVED = 8  # steps after which a norm that is trained has left where it began


class NoCopy(Rule):
    """Weights that were put aside are the live ones: putting them back changes nothing.

    Meaning: `state_dict()`, `detach()` and `.data` give the same memory another name; what is kept under it goes on
    changing with every step.
    Fires: when an op copies a parameter that an optimizer holds from its own memory, of the same shape and strides,
    that other name was taken at another line, and the optimizer has stepped since the run began; when that name was
    taken at the same line, and the line gives the state dict of one name to another name to load; or when in three
    turns an in-place op writes into such a parameter through another name that was taken in an earlier turn.
    Wrong if: weights are updated by hand through such a name; then no optimizer holds them.
    Healthy programs tried: best weights and backups that are cloned or deep-copied, averages of weights, target
    networks, a state dict that is loaded into another model or into its own at the line that takes it.
    """

    name, title, certainty, severity = "no copy", "weights kept without a copy", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[Any, list] = {}  # by place: times, parameter, steps by then
        self.one: dict[Any, Any] = {}  # by place of a copy that takes the name for itself: parameter
        self.through: dict[Any, list] = {}  # by place: turns, parameter

    def at_write(self, tensor: Any, value: Any, place: Any) -> None:
        """Whether what is written is what was there."""
        d = tensor._data
        if not isinstance(d, np.ndarray) or not d.size:
            return
        if value is not None and value.op == "copy" and len(value.parents) > 1:
            source = value.parents[1].data
            if source is not None and _same(d, source) and (leaf := self._held(d)) is not None:
                if not self._just(leaf, place):
                    entry = self.seen.setdefault(place, [0, leaf, self.ev.steps])
                    entry[0] += 1
                elif len(self.one) < PLACES:
                    self.one.setdefault(place, leaf)
                return
        leaf = self.ev.leaves.get(id(d))
        if leaf is None or leaf is tensor or tensor.__class__.__name__ == "Parameter":
            return
        newest = max((at for at, _ in self.ev.aliases.get(id(leaf), {}).values()), default=None)
        if newest is not None and newest < self.ev.steps - 1 and self._held(d) is leaf:
            entry = self.through.setdefault(place, [set(), leaf])
            entry[0].add(self.ev.turn)

    def _just(self, leaf: Any, place: Any) -> bool:
        """Whether the other name was taken for this copy alone: at its line, since the last step."""
        here = self.ev.line(place)
        for other, (step, _) in self.ev.aliases.get(id(leaf), {}).items():
            line = self.ev.line(other)
            if step == self.ev.steps and line is not None and here is not None:
                if (line.file, line.line) == (here.file, here.line):
                    return True
        return False

    def _held(self, d: Any) -> Any:
        """The parameter of an optimizer that has stepped, whose memory this is."""
        for ledger in self.ev.ledgers.values():
            if ledger.steps:
                for held in ledger.each:
                    if _same(held.tensor._data, d):
                        return held.tensor
        return None

    def findings(self) -> Iterator[Finding]:
        """Say where the other name was taken."""
        for place, (_, leaf, _) in self.seen.items():
            taken = self._taken(leaf, place)
            if taken is None:
                continue
            kept = sum(entry[0] for entry in self.seen.values())
            line = self.ev.line(taken)
            what = "state_dict()" if line is not None and "state_dict" in line.text else "This line"
            yield self.found(
                f"{what} makes no copy: what is put back is what the weights are by then, and changes nothing.",
                taken,
                "takes no copy",
                also=(place, "puts it back"),
                layer=self.ev.name_of(leaf),
                proof=[
                    ("parameters that were copied from their own memory", kept),
                    ("steps of optimizers in between", self.ev.steps),
                ],
                confirm=("kept[name].data_ptr() == parameter.data_ptr()", "True"),
                unless="",
                advice="Keep copies: copy.deepcopy(model.state_dict()), or p.detach().clone().",
                weight=8.0,
            )
            return
        for place, leaf in self.one.items():
            line = self.ev.line(place)
            pair = loaded(line)
            if line is None or pair is None or pair[0] == pair[1]:
                continue
            yield self.found(
                f"{pair[0]} is {pair[1]} itself: what is loaded is what is there.",
                pair[2] or line,
                "gives it another name",
                also=(line, "loads it into itself") if pair[2] is not None else (None, ""),
                layer=self.ev.name_of(leaf),
                proof=[("names of one model", 2), ("steps of optimizers", self.ev.steps)],
                confirm=(f"{pair[0]} is {pair[1]}", "True"),
                unless="",
                advice=f"Make a copy: copy.deepcopy({pair[1]}).",
                weight=8.0,
            )
            return
        for place, (turns, leaf) in self.through.items():
            taken = self._taken(leaf, place)
            if len(turns) < 3 or taken is None:
                continue
            yield self.found(
                f"This line writes into {self.ev.name_of(leaf) or 'a parameter'} itself: what was put aside of it "
                "is no copy.",
                taken,
                "takes no copy",
                also=(place, "writes into it"),
                layer=self.ev.name_of(leaf),
                proof=[("turns in which it did", len(turns))],
                confirm=("kept[name].data_ptr() == parameter.data_ptr()", "True"),
                unless="weights are changed on purpose.",
                advice="Keep a copy: p.detach().clone().",
                weight=6.0,
                explains=("diverges", "learns nothing"),
            )
            return

    def _taken(self, leaf: Any, place: Any) -> Any:
        """The line that gave the memory another name and kept it, as far as the text tells."""
        best, score = None, (-1, -1)
        here = self.ev.line(place)
        for other, (step, _) in self.ev.aliases.get(id(leaf), {}).items():
            line = self.ev.line(other)
            if line is None or (here is not None and (line.file, line.line) == (here.file, here.line)):
                continue
            if ".clone(" in line.text or "deepcopy" in line.text:
                continue
            keeps = 2 if "state_dict" in line.text else 1 if "=" in line.text.partition("#")[0] else 0
            if (keeps, step) > score:
                best, score = other, (keeps, step)
        return best


class LoadedNothing(Rule):
    """A state dict is loaded that fits nothing, or what was loaded is drawn anew.

    Meaning: `load_state_dict(..., strict=False)` passes over each name that only one side has, without a word.
    Fires: when a module was given names of which it has less than half, and some that it has not; or when nine of ten
    parameters that were loaded into a module were initialised afterwards, before the first step.
    Wrong if: only a small part was to be taken.
    Healthy programs tried: a body that is loaded without its head, a head that is drawn anew after loading, strict
    loading.
    """

    name, title, certainty, severity = "loaded nothing", "state that is loaded", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Compare names; then look at what came later."""
        for module, given, place, order in self.ev.loads:
            own = {name for name, _ in module.named_parameters()} | {
                name for name, _ in module.named_buffers()
            }
            fits = own & given
            if given and own and len(fits) < 0.5 * len(own) and given - own:
                wrong, wanted = sorted(given - own)[0], sorted(own - given)[0]
                yield self.found(
                    f"Of {len(own)} tensors of the model {len(fits)} are loaded: the state dict calls them otherwise "
                    f"({wrong}, not {wanted}).",
                    place,
                    "loads nothing" if not fits else "loads a part",
                    proof=[
                        ("tensors of the model", len(own)),
                        ("names that fit", len(fits)),
                        ("names that fit nothing", len(given - own)),
                    ],
                    confirm=("model.load_state_dict(state, strict=True)", "an error that names them"),
                    unless="only that part was to be taken.",
                    advice="Rename the keys, and leave strict=False out.",
                    weight=7.0,
                    explains=("learns nothing", "frozen random", "too small"),
                )
                return
            later = [
                (name, self.ev.drawn_by.get(id(p)) or self.ev.begun[id(p)][1])
                for name, p in module.named_parameters()
                if name in given and id(p) in self.ev.begun and self.ev.begun[id(p)][3] > order
            ]
            loaded = [name for name, _ in module.named_parameters() if name in given]
            if len(loaded) > 1 and len(later) >= 0.9 * len(loaded):
                yield self.found(
                    f"{names([name for name, _ in later], 2)} are drawn anew after they were loaded.",
                    later[0][1],
                    "draws anew",
                    also=(place, "loads them"),
                    proof=[("parameters loaded", len(loaded)), ("drawn anew", len(later))],
                    confirm=("the weights beside those of the state dict", "not equal"),
                    unless="only their shapes were wanted.",
                    advice="Initialise first, and load afterwards.",
                    weight=7.0,
                )
                return


class StatisticsLeft(Rule):
    """A model that is averaged or copied by its parameters is evaluated with the statistics its norms began with.

    Meaning: running means and variances are buffers; `parameters()` does not hold them.
    Fires: when a batch norm, evaluated after eight steps or more, still has a running mean of 0 and a running
    variance of 1 in all channels, its model is stepped by no optimizer and its parameters are written by hand, and
    another batch norm of as many channels has left that beginning.
    Wrong if: never that was seen.
    Healthy programs tried: averages that copy buffers, deep copies, models evaluated before they are trained, norms
    without statistics.
    """

    name, title, certainty, severity = "statistics left", "norms of averaged models", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[int, list] = {}  # by norm: it, times, where it is evaluated
        self.moved: set[int] = set()  # channels of norms that have left their beginning

    def at_drew(self, entry: tuple, training: bool, call: Any) -> None:
        """Look at the statistics of a norm that is evaluated."""
        module = entry[1]
        mean = getattr(module, "running_mean", None)
        if mean is None or self.ev.steps < MOVED:
            return
        if training:
            if len(self.moved) < 64 and np.any(mean._data):
                self.moved.add(mean._data.size)
            return
        variance = module.running_var._data
        if not np.any(mean._data) and np.all(variance == 1):
            place = entry[2] if call is None else call.place
            self.seen.setdefault(id(module), [module, 0, place])[1] += 1
        else:
            self.seen.pop(id(module), None)

    def findings(self) -> Iterator[Finding]:
        """Say of which model."""
        ev = self.ev
        held = {i for one in ev.ledgers.values() if one.steps for i in one.held}
        for module, times, place in self.seen.values():
            weights = list(module.parameters())
            if module.running_mean._data.size not in self.moved or any(id(p) in held for p in weights):
                continue
            root = next(
                (
                    one
                    for one, _ in ev.roots.values()
                    if hasattr(one, "modules") and any(m is module for m in one.modules())
                ),
                module,
            )
            parameters = list(root.parameters())
            written = [ev.writes[id(p)] for p in parameters if id(p) in ev.writes]
            if any(id(p) in held for p in parameters) or not written:
                continue
            write = ev.line(written[-1][1])
            yield self.found(
                f"{ev.module_name(module) or 'A batch norm'} is evaluated with the mean 0 and the variance 1 that it "
                "began with: only parameters are brought up to date.",
                calls_before(write, ("parameters", "named_parameters")) or write,
                "leaves the buffers",
                also=(place, "evaluates it"),
                layer=ev.module_name(module),
                proof=[
                    ("times it was evaluated", times),
                    ("running mean, largest", number(0.0)),
                    ("steps by then", ev.steps),
                ],
                confirm=("dict(model.named_buffers())", "means of 0, variances of 1"),
                unless="",
                advice="Copy buffers() as well, or the whole state_dict().",
                weight=7.0,
            )
            return


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays are one piece of memory, read alike."""
    return (
        isinstance(a, np.ndarray)
        and isinstance(b, np.ndarray)
        and a.shape == b.shape
        and a.strides == b.strides
        and a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    )


RULES = (NoCopy, LoadedNothing, StatisticsLeft)
