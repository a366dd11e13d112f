"""Reinforcement learning: what was played and what is scored, what lies beyond an end, and signs.

Invariant: names in the text are evidence beside the history of a loss, never alone.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections import deque
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import ModuleType
from typing import Any

import numpy as np

from ....engine.base.events import OUTSIDE, kind_of
from ...line_lookup import Line
from ...lineage import SHAPED, Value, ancestors, beyond
from ..finding import DOUBTFUL, LINEAGE, WRONG, Finding
from ..heads import VALUES, Head, signed
from ..written import at_line, scope_of, scopes, tree_of
from .base import Counting
from .meaning import Heads

DRAWS = ("sample", "rsample", "multinomial", "bernoulli")
SCORED = ("log_prob", "gather")
ENDS = re.compile(
    r"^(is_|not_|non_)?(done|terminal|nonterminal|terminated|ended|end|finished|over|game_over|dead|died|fallen|fell"
    r"|crashed|goal_reached|end_of_episode|finish)s?$"
)
GAINS = re.compile(
    r"reward|return|advantage|\badv\b|\badvs\b|gain|\brets?\b|\bR\b|\bG\b|score|earned|payoff|prize"
)
TAKEN_OFF = re.compile(r"([\w.\])]*)\s*-\s*(?:" + GAINS.pattern + ")")  # what something good is taken off
HARMS = re.compile(r"cost|regret|penalt|loss_weight")
LARGEST = (
    "max",
    "amax",
    "max_dim",
    "gather",
    "squeeze",
    "squeeze_dim",
    "minimum",
    "index",
    "select",
    "mean_dims",
    "mul",
)
MEMORIES = ("append", "push", "add", "store", "remember", "insert", "save")
CUTS = ("detach", "data", "no history", "no_grad")
STAYS = 0.75  # of the rows of a batch, that are their own successors


class OtherDraw(Counting):
    """The log-probability is that of a second draw, and not of the action that was played.

    Meaning: a policy gradient weighs the log-probability of what was done by what came of it.
    Fires: when a line gives `log_prob` or `gather` a draw that it makes itself, or one that nothing else uses, the
    same distribution is drawn from in the same function by another call, and in three looks the loss holds what that
    line computed.
    Wrong if: the second draw is what is weighed, as one of a model of its own.
    Healthy programs tried: log-probabilities of what was played, entropies by draws, divergences by draws, policies
    that draw for the next step.
    """

    name, title, certainty, severity = "other draw", "log-probabilities of draws", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.lines: dict[str, dict[int, int]] = {}  # type: ignore[assignment]  # by file: guilty lines, the other draw
        self.hits: dict[tuple[str, int], list] = {}

    def at_look(self, p: Any) -> None:
        """Whether the loss holds what such a line computed."""
        if p.root is None or not p.accumulates:
            return
        found: set[tuple[str, int]] = set()
        for v in itertools.islice(ancestors(p.root, lambda v: v.needs), 1500):
            if v.op == "broadcast_tensors" or not v.needs:
                continue
            if v.place is None or v.model is not None or all(x.needs for x in v.parents):
                continue  # what a distribution keeps is computed where it is asked for first
            file = v.place[0].co_filename
            if file not in self.lines:
                self.lines[file] = _other_draws(file)
            if self.lines[file]:
                line = self.ev.line(v.place)
                if line is not None and line.line in self.lines[file]:
                    found.add((file, line.line))
                    self.hits.setdefault((file, line.line), [0, line])
        for key in found:
            self.hits[key][0] += 1

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for (file, number), (times, line) in self.hits.items():
            if times >= 3:
                other = at_line(line, self.lines[file][number])
                yield self.found(
                    "The log-probability is that of a second draw, and not of the action that was played.",
                    line,
                    "draws again",
                    related=[(other, "draws what is played")],
                    proof=[("looks", times), ("draws from one distribution", 2)],
                    confirm=("the action beside the one that is scored", "not always the same"),
                    unless="the second draw is what is weighed.",
                    advice="Give log_prob the action that was played.",
                    weight=7.0,
                    explains=("learns nothing", "too small"),
                )


def _other_draws(file: str) -> dict[int, int]:
    """By line: the line of another draw from the distribution whose draw it scores and nothing else uses."""
    tree = tree_of(file)
    found: dict[int, int] = {}
    for body in scopes(tree):
        draws: dict[str, list[tuple[int, str]]] = {}  # by what is drawn from: line, the name it is given
        names = _named(body)
        for n in body:
            if isinstance(n, ast.Call) and (source := _source(n)):
                draws.setdefault(source, []).append((n.lineno, names.get(id(n), "")))
        reads: dict[str, int] = {}
        for n in body:
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                reads[n.id] = reads.get(n.id, 0) + 1
        for n in body:
            if not isinstance(n, ast.Call) or getattr(n.func, "attr", "") not in SCORED or not n.args:
                continue
            scored = n.args[-1]
            while (
                isinstance(scored, ast.Call)
                and not _source(scored)
                and isinstance(scored.func, ast.Attribute)
            ):
                scored = scored.func.value  # .unsqueeze(1) and its like
            if isinstance(scored, ast.Call) and (source := _source(scored)):
                others = [at for at, name in draws.get(source, []) if name and at != scored.lineno]
                if others:
                    found[n.lineno] = others[0]
            elif isinstance(scored, ast.Name) and reads.get(scored.id, 0) == 1:
                for each in draws.values():
                    mine = [at for at, name in each if name == scored.id]
                    others = [at for at, name in each if name and name != scored.id and reads.get(name, 0)]
                    if len(mine) == 1 and others:
                        found[n.lineno] = others[0]
    return found


def _source(call: ast.Call) -> str:
    """What a call draws from; "" where it draws nothing."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in DRAWS:
        return ""
    owner = ast.unparse(call.func.value)
    if call.func.attr in ("multinomial", "bernoulli"):
        return ast.unparse(call.args[0]) if owner in ("torch", "th") and call.args else owner
    return "" if owner in ("random", "rng", "np.random") or (call.args[:1] and owner == "random") else owner


def _named(body: list[ast.AST]) -> dict[int, str]:
    """By call: the name that its result is given; those that have none, or are scored at once, are left out."""
    found: dict[int, str] = {}
    for n in body:
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
            inside = [x for x in ast.walk(n.value) if isinstance(x, ast.Call)]
            if not any(getattr(x.func, "attr", "") in SCORED for x in inside):
                found.update((id(x), n.targets[0].id) for x in inside)
    return found


def discounted(v: Value, factors: bool = False) -> Any:
    """The call of a model whose result, or the largest or one of it, a value is times a number; None where it is not.

    Args:
        v: which.
        factors: whether other factors may stand beside.
    """
    numbers = [x for x in v.ins if x.__class__ is not Value]
    if v.op != "mul" or not v.parents:
        return None
    if not factors and (len(v.parents) != 1 or len(numbers) != 1 or not 0.5 <= abs(numbers[0]) <= 1):
        return None
    waiting, left = list(v.parents), 16
    while waiting and left:
        left -= 1
        x = waiting.pop()
        if x.model is not None:
            return x.model
        if x.op in LARGEST or x.op in SHAPED or x.op in CUTS:
            if x.op == "mul" and len(x.parents) > 1 and not factors:
                return None
            waiting += x.parents[: None if factors and x.op == "mul" else 1]
    return None


def modelled(v: Value) -> bool:
    """Whether a model has a part in a value."""
    return any(a.model is not None for a in itertools.islice(ancestors(v), 24))


class BeyondTheEnd(Heads):
    """A target adds the value of the next state even where the episode has ended.

    Meaning: after the end nothing comes; a value there that is learned from itself grows without measure.
    Fires: when in three looks the target of a distance is something without a model plus a number between 0.5 and 1
    times what a model gave, or the largest or one of it, without another factor, a mask or a choice; the program has
    a variable called done, terminated or the like; and neither the statement of that line, nor one that gives a value
    to a name in it, nor a condition around it reads that variable.
    Wrong if: episodes are only cut off.
    Healthy programs tried: factors of 1 - done, masks, next states that are None, conditions, targets without ends,
    episodes that are cut off.
    """

    name, title, certainty, severity = "beyond the end", "values after an end", LINEAGE, WRONG

    def look(self, head: Head, p: Any) -> None:
        """Look at how a target was computed."""
        t = head.target
        if head.kind != VALUES or t is None:
            return
        for v in itertools.islice(ancestors(t, lambda a: a.op in SHAPED or a.op in CUTS), 12):
            if v.op == "add" and len(v.parents) == 2:
                for reward, coming in (v.parents, v.parents[::-1]):
                    if discounted(coming) is not None and not modelled(reward):
                        self.note(v.place, head.value.place)
                        return

    def findings(self) -> Iterator[Finding]:
        """Say where, if the program has ends and that line does not ask for them."""
        for place, (times, (loss,)) in self.times.items():
            line = self.ev.line(place)
            if times < 3 or line is None or (ends := _ends(line)) is None:
                continue
            yield self.found(
                f"The target adds the value of the next state also where the episode has ended: {ends} is not asked.",
                line,
                "goes beyond the end",
                related=self.lines((loss, "compares")),
                proof=[("looks", times), ("factors beside the discount", 0)],
                confirm=(f"target where {ends} is true, less the reward", "not 0"),
                unless="episodes are only cut off.",
                advice=f"Multiply the next value by (1 - {ends}).",
                weight=6.0,
                explains=("diverges", "learns nothing", "too small", "course"),
            )


def _ends(line: Line) -> str | None:
    """What the program calls an end, where the function around a line asks for none; else None."""
    tree = tree_of(line.file)
    if tree is None:
        return None
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and ENDS.match(n.id.lower())}
    names |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg) and ENDS.match(n.arg.lower())}
    if not names:
        return None
    scope = scope_of(tree, line.line)
    body = next(scopes(tree)) if scope is tree else ast.walk(scope)
    inside = [n for n in body if isinstance(n, ast.stmt)]
    for n in inside:
        if isinstance(n, ast.If) and n.lineno <= line.line <= (n.end_lineno or 0) and _reads(n.test) & names:
            return None
    plain = [
        n for n in inside if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr))
    ]
    mine = [n for n in plain if n.lineno <= line.line <= (n.end_lineno or 0)]
    wanted = set().union(*(_reads(n) for n in mine)) if mine else set()
    for n in plain:
        changes = n.value.func if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) else None
        if isinstance(changes, ast.Attribute) and changes.attr.endswith("_") and _reads(changes) & wanted:
            return None
        targets = getattr(n, "targets", [])
        if any(isinstance(t, ast.Subscript) and _reads(t.value) & wanted for t in targets):
            return None
        if (n in mine or _writes(n) & wanted) and _reads(n) & names:
            return None
    return sorted(names, key=lambda name: (len(name), name))[0]


def _reads(node: ast.AST) -> set[str]:
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}


def _writes(node: ast.AST) -> set[str]:
    """The names that a statement gives a value, or a part of one."""
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return {x.id for t in targets if t is not None for x in ast.walk(t) if isinstance(x, ast.Name)}


class AdvantageMoves(Counting):
    """What log-probabilities are weighed by has a gradient: the policy's loss moves the critic as well.

    Meaning: the advantage says how good an action was; the critic learns that from its own loss.
    Fires: when in three looks a loss holds the log-probability of what was drawn times a number without a gradient
    minus what a model gave, which has one.
    Wrong if: the critic is to learn from both.
    Healthy programs tried: detached advantages, advantages under no_grad, reparameterised actions, distances between
    returns and values.
    """

    name, title, certainty, severity = "advantage moves", "weights of log-probabilities", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Look for such products."""
        if p.root is None or not p.accumulates:
            return
        for v in itertools.islice(ancestors(p.root, lambda v: v.model is None or v is p.root), 1500):
            if v.op != "mul" or len(v.parents) != 2 or not all(x.needs for x in v.parents):
                continue
            for logs, weight in (v.parents, v.parents[::-1]):
                w = beyond(weight)
                if w.op == "sub" and len(w.parents) == 2 and not w.parents[0].needs and w.parents[1].needs:
                    if scores_a_draw(logs, self.ev) and beyond(w.parents[1]).model is not None:
                        entry = self.times.setdefault(w.place, [0, v.place, set()])
                        entry[2].add(p.number)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for place, (_, product, passes) in self.times.items():
            if len(passes) >= 3:
                yield self.found(
                    "The advantage has a gradient: the loss of the policy moves the critic to make it look right.",
                    place,
                    "keeps its gradient",
                    also=(product, "weighs by it"),
                    proof=[("looks", len(passes))],
                    confirm=("advantage.requires_grad", "True"),
                    unless="the critic is to learn from both.",
                    advice="Detach it: (returns - values).detach().",
                    weight=6.0,
                    explains=("learns nothing", "too small", "diverges"),
                )
                return


def scores_a_draw(v: Value, ev: Any) -> bool:
    """Whether a value is the log-probability of something drawn: picked out of logarithms, or so called.

    Args:
        v: which.
        ev: the evidence.
    """
    for a in itertools.islice(ancestors(v, lambda a: a.model is None), 24):
        line = ev.line(a.place) if a.place is not None and a.model is None else None
        if line is not None and ("log_prob" in line.text or "logp" in line.text):
            return True
        if (
            a.op in ("gather", "index")
            and a.parents
            and beyond(a.parents[0]).op in ("log_softmax", "sub", "log")
        ):
            return True
    return False


class RewardTurned(Counting):
    """Log-probabilities are weighed by rewards with a positive sign: what is rewarded becomes rarer.

    Meaning: a policy's loss is minus the log-probability times the return.
    Fires: when in three looks a loss holds the log-probability of what was drawn times something without a gradient
    with a positive sign; the program calls the latter a reward, a return, an advantage or the like, and neither a
    cost nor a regret; and it is no difference in which a return is taken off.
    Wrong if: the name says otherwise than what it holds.
    Healthy programs tried: REINFORCE with and without a baseline, costs, surrogates with ratios, entropy bonuses.
    """

    name, title, certainty, severity = "reward turned", "signs of policies", LINEAGE, WRONG

    def at_look(self, p: Any) -> None:
        """Follow the signs to weighed log-probabilities."""
        if p.root is None or not p.accumulates:
            return
        found = set()
        for v, sign, _ in signed(p.root, 1500):
            if v.op != "mul" or len(v.parents) != 2:
                continue
            for logs, weight in (v.parents, v.parents[::-1]):
                if logs.needs and not weight.needs and scores_a_draw(logs, self.ev):
                    turned, w = sign, weight
                    while w.op in SHAPED or (w.op in (*CUTS, "neg", "div", "stack", "cat") and w.parents):
                        turned = -turned if w.op == "neg" else turned
                        if not w.parents:
                            break
                        w = w.parents[0]
                    inner = next((x for x in logs.ins if x.__class__ is Value), None)
                    if logs.op == "neg" and inner is not None:
                        turned = -turned
                    if turned > 0 and self._gain(v, weight, w):
                        found.add((v.place, p.root.place))
        for key in found:
            self.times[key] = self.times.get(key, 0) + 1

    def _gain(self, v: Value, weight: Value, w: Value) -> bool:
        """Whether the program calls it something good, and takes nothing good off it."""
        if w.op == "sub" and w.parents and beyond(w.parents[0], SHAPED | set(CUTS)).model is not None:
            return False  # a value less a return
        line = self.ev.line(v.place)
        text = "" if line is None else line.text
        return (
            bool(GAINS.search(text))
            and not HARMS.search(text)
            and not any(not GAINS.search(before) for before in TAKEN_OFF.findall(text))
        )

    def findings(self) -> Iterator[Finding]:
        """Say where the minus is missing."""
        for (place, root), times in self.times.items():
            if times >= 3:
                yield self.found(
                    "Log-probabilities are weighed by what is earned, with a plus: rewarded actions become rarer.",
                    place,
                    "lacks its minus",
                    also=(root, "is made small"),
                    severity=DOUBTFUL,
                    proof=[("looks", times)],
                    confirm=("the mean reward over the steps", "it does not rise"),
                    unless="what is weighed by is a cost.",
                    advice="Put a minus before it: loss = -(log_probs * returns).mean().",
                    weight=5.0,
                    explains=("learns nothing", "too small"),
                )
                return


class TargetStays(Heads):
    """The network that gives the values of next states is never brought up to date.

    Meaning: a target network follows the one that learns, slowly or by copies; one that never does gives the values
    of its beginning.
    Fires: when in three looks the target of a distance is a reward plus a number between 0.5 and 1 times what a
    network gave that no pass trains, another one with as many parameters is trained, and after a hundred steps none
    of the parameters of the first has changed since it was looked at first.
    Wrong if: that network was trained before and is to stay.
    Healthy programs tried: copies every few steps, slow averages, one network for both, teachers.
    """

    name, title, certainty, severity = "target stays", "networks of targets", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.prints: dict[int, int] = {}  # by network: its parameters when they were seen first

    def look(self, head: Head, p: Any) -> None:
        """Look whose values a target holds."""
        t = head.target
        if head.kind != VALUES or t is None:
            return
        for v in itertools.islice(ancestors(t), 200):
            if v.op == "add" and len(v.parents) == 2:
                for reward, coming in (v.parents, v.parents[::-1]):
                    call = discounted(coming, True)
                    if call is not None and not modelled(reward):
                        self.note(id(call.module), call, p.turn)
                        if id(call.module) not in self.prints and hasattr(call.module, "parameters"):
                            self.prints[id(call.module)] = _print(list(call.module.parameters()))
                        return

    def findings(self) -> Iterator[Finding]:
        """Say which network."""
        ev = self.ev
        held = {i for one in ev.ledgers.values() if one.steps for i in one.held}
        for times, (call, _) in self.times.values():
            module = call.module
            own = list(module.parameters()) if hasattr(module, "parameters") else []
            if times < 3 or ev.steps < 100 or not own or any(id(q) in held for q in own):
                continue
            trained = [m for m in ev.trained_modules.values() if hasattr(m, "parameters") and m is not module]
            alike = any([q.shape for q in m.parameters()] == [q.shape for q in own] for m in trained)
            if not alike or self.prints.get(id(module)) != _print(own):
                continue
            named = ev.module_name(module) or type(module).__name__
            yield self.found(
                f"{named} gives the values that are learned, and is never brought up to date.",
                ev.assigned(named, ev.line(call.place)) or call.place,
                "stays as it was",
                also=(call.place, "gives the values"),
                layer=named,
                proof=[("steps", ev.steps), ("parameters of it that changed", 0)],
                confirm=("its parameters before and after the loop", "the same numbers"),
                unless="it was trained before and is to stay.",
                advice=f"Every few steps: {named}.load_state_dict(...) of the network that learns.",
                weight=5.0,
            )
            return


def _print(parameters: list) -> int:
    """What tells that parameters have changed."""
    return hash(tuple(np.ascontiguousarray(q._data).reshape(-1)[:256].tobytes() for q in parameters))


class FollowsAtOnce(Counting):
    """An average of weights takes nearly all of the newest ones: its two shares are exchanged.

    Meaning: a slow copy keeps most of what it was, such as 0.995, and takes the rest of the new weights.
    Fires: when in five turns a tensor that no optimizer holds, of the shape of a parameter that one does, moved, not
    all the way, between a fifth of its distance or less from that parameter and none.
    Wrong if: an average over very few steps is wanted.
    Healthy programs tried: decays of 0.5 to 0.999, full copies, means over all steps.
    """

    name, title, certainty, severity = "follows at once", "averages of weights", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.tracked: dict[int, list] = {}  # tensor, place, its values at the pass before, turns

    def at_write(self, tensor: Any, value: Any, place: Any) -> None:
        """Track what is written beside the optimizers."""
        d = tensor._data
        if id(tensor) in self.tracked:
            self.tracked[id(tensor)][1] = place
        elif (
            len(self.tracked) < 4
            and id(tensor) not in self.ev.reached
            and getattr(d, "ndim", 0) == 2
            and 4 < d.size <= 1 << 14
        ):
            if (
                not any(id(tensor) in one.held for one in self.ev.ledgers.values())
                and self._near(d) is not None
            ):
                self.tracked[id(tensor)] = [tensor, place, None, []]

    def _near(self, d: Any) -> Any:
        """The nearest parameter of its shape that an optimizer holds."""
        found = [
            h.tensor._data
            for one in self.ev.ledgers.values()
            if one.steps
            for h in one.each
            if h.tensor._data.shape == d.shape and h.tensor._data is not d
        ]
        found = [w for w in found if isinstance(w, np.ndarray)]
        return min(found, key=lambda w: float(np.abs(w - d).sum()), default=None)

    def at_pass(self, p: Any) -> None:
        """Compare with what it was before."""
        if not self.tracked or not p.accumulates or not p.looked:
            for one in self.tracked.values():
                one[2] = None
            return
        for one in self.tracked.values():
            d, before = one[0]._data, one[2]
            target = self._near(d)
            if (
                before is not None
                and target is not None
                and before.shape == d.shape
                and not np.array_equal(d, before)
            ):
                far, left = before - target, d - target
                size = float((far * far).sum())
                kept = float((far * left).sum()) / size if size > 0 else 1.0
                if left.any() and size > 0:
                    one[3].append(kept)
            one[2] = d.copy()

    def findings(self) -> Iterator[Finding]:
        """Say where it is written."""
        for tensor, place, _, kept in self.tracked.values():
            if len(kept) >= 5 and 0 < max(kept[-5:]) <= 0.2:
                yield self.found(
                    f"The average keeps {100 * float(np.median(kept)):.1f} % of what it was at each step: it follows "
                    "the newest weights at once.",
                    place,
                    "shares exchanged",
                    layer=self.ev.name_of(tensor),
                    proof=[("share that is kept", f"{float(np.median(kept)):.3f}"), ("looks", len(kept))],
                    confirm=("the average beside the weights", "nearly the same"),
                    unless="an average over very few steps is wanted.",
                    advice="Exchange the two shares: keep most of the average.",
                    weight=5.0,
                )
                return


class ReturnsForward(Counting):
    """Discounted returns are summed from the first reward on, or stand in the wrong order.

    Meaning: the return of a step is its reward and what comes after it; it is summed from the last reward backwards.
    Fires: when a loop over a list that the program calls rewards, which is not reversed, gives a name the reward plus
    a factor times that name, and appends it; or when the list is reversed, and what is appended is never turned back;
    and passes come.
    Wrong if: what is summed is the past.
    Healthy programs tried: reversed loops with insert, reversed loops that are turned back, running means.
    """

    name, title, certainty, severity = "returns forward", "orders of returns", LINEAGE, WRONG

    def findings(self) -> Iterator[Finding]:
        """Read the files that ran."""
        last = self.ev.line(self.ev.last_place)
        tree = None if last is None else tree_of(last.file)
        if tree is None or last is None:
            return
        for loop in ast.walk(tree):
            if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
                continue
            turned, source = _turned(loop.iter)
            if not re.search(r"reward|rews\b|\brs\b", source.lower()):
                continue
            total = _discounts(loop, loop.target.id)
            added = [
                n
                for n in ast.walk(loop)
                if isinstance(n, ast.Call)
                and isinstance(n.func, ast.Attribute)
                and n.func.attr == "append"
                and n.args
                and isinstance(n.args[0], ast.Name)
                and n.args[0].id == total
            ]
            if not total or not added:
                continue
            kept = ast.unparse(added[0].func.value)  # type: ignore[attr-defined]
            if turned and _turned_back(tree, kept):
                continue
            at = added[0].lineno if turned else loop.lineno
            yield self.found(
                f"{kept} stands in reversed order: the return of the last step comes first."
                if turned
                else f"{kept} is summed from the first reward on: each step is given its past, and not what comes.",
                at_line(last, at),
                "the wrong order",
                proof=[
                    ("order", "reversed, and never turned back" if turned else "from the first reward on")
                ],
                confirm=(f"{kept}[-1] beside the last reward", "not the same"),
                unless="what is summed is the past.",
                advice=f"Go over reversed({source}) and insert at 0, or turn the list back in the end.",
                weight=6.0,
                explains=("learns nothing", "too small"),
            )
            return


def _turned(node: ast.AST) -> tuple[bool, str]:
    """Whether a list is gone through from its end, and what it is."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "reversed" and node.args:
        return True, ast.unparse(node.args[0])
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None:
        return True, ast.unparse(node.value)
    return False, ast.unparse(node)


def _discounts(loop: ast.For, reward: str) -> str:
    """The name that is given a reward plus a factor times itself; "" where there is none."""
    for n in loop.body:
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
            value, name = n.value, n.targets[0].id
            if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
                for a, b in ((value.left, value.right), (value.right, value.left)):
                    times = isinstance(b, ast.BinOp) and isinstance(b.op, ast.Mult)
                    if isinstance(a, ast.Name) and a.id == reward and times and name in _reads(b):
                        return name
    return ""


def _turned_back(tree: ast.AST, name: str) -> bool:
    """Whether a list is reversed anywhere."""
    text = ast.unparse(tree)
    forms = (
        f"{name}.reverse()",
        f"{name}[::-1]",
        f"reversed({name})",
        f"{name}.flip",
        f"flip({name}",
        f"flipud({name}",
    )
    return any(form in text for form in forms) or f"{name}.insert(0" in text or ".flip(" in text


class NextIsNow(Heads):
    """The next state is the state itself in every row: what remembers them was given one array twice.

    Meaning: a step leads from a state to another; an environment that moves its array in place has to hand out copies.
    Fires: when in four looks or more, and in all of them, what the model was given whose result a target adds times a
    number is, in eight rows or more, the same as what the prediction was computed from, in another array, and there
    are two states or more. Where a few rows have moved, as those that begin with a copy, a quarter of them at most,
    one more thing is asked: a list or a deque of the program's, of 32 entries or more, holds the same memory in the
    same place of its entries, in a quarter of up to 64 that are looked at.
    Wrong if: nothing ever moves.
    Healthy programs tried: states that stay at a wall, one state for all, targets of the same states, states that
    move in a few steps alone, memories whose entries share a goal.
    """

    name, title, certainty, severity = "next is now", "states and next states", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.moves = False
        self.partly = False  # whether some rows did
        self.shares = False  # whether a memory was seen whose entries are one array
        self.states: set[bytes] = set()

    def look(self, head: Head, p: Any) -> None:
        """Compare what the two calls were given."""
        if head.kind != VALUES or head.target is None or self.moves:
            return
        below = itertools.islice(ancestors(head.target, lambda a: a.model is None), 24)
        coming = next((c for v in below if (c := discounted(v, True)) is not None), None)
        now = next(
            (v.model for v in itertools.islice(ancestors(head.prediction), 24) if v.model is not None), None
        )
        if coming is None or now is None or coming is now or coming.inputs is None or now.inputs is None:
            return
        a, b = now.inputs._data, coming.inputs._data
        if a is b or not isinstance(a, np.ndarray) or a.shape != getattr(b, "shape", ()) or len(a) < 8:
            return
        if np.shares_memory(a, b):
            return
        stays = (a == b).reshape(len(a), -1).all(1)
        self.moves = float(stays.mean()) < STAYS
        self.partly = self.partly or not stays.all()
        self.shares = self.shares or (self.partly and not self.moves and one_memory())
        self.states.update(row.tobytes() for row in a[:16])
        self.note(head.value.place, coming.place, len(a))

    def findings(self) -> Iterator[Finding]:
        """Say where they are remembered."""
        for place, (times, (call, rows)) in self.times.items():
            line = self.ev.line(place)
            if times < 4 or self.moves or line is None or len(self.states) < 2:
                continue
            if self.partly and not self.shares:
                continue
            at = _remembers(line)
            yield self.found(
                "The next state is the state itself in nearly every row: one array is remembered many times."
                if self.partly
                else "The next state is the state itself in every row: one array was remembered twice.",
                at or call,
                "remembers one array twice",
                also=(_hands_out(line), "hands out its own"),
                related=self.lines((call, "is given it as what comes next")),
                proof=[
                    ("looks", times),
                    ("rows", rows),
                    ("rows in which the state has moved", "a quarter at most" if self.partly else 0),
                ],
                confirm=("(states == following).all()", "True"),
                unless="nothing ever moves.",
                advice="Hand out, or remember, a copy of the array: state.copy().",
                weight=7.0,
                explains=("learns nothing", "too small", "diverges"),
            )


def one_memory() -> bool:
    """Whether a list or a deque of the program that runs holds, in one place of its entries, one array again and again.

    Its variables are looked through, and the fields of its own objects.
    """
    frame: Any = sys._getframe(1)
    seen: set[int] = set()
    while frame is not None:
        code = frame.f_code
        if kind_of(code.co_filename) == OUTSIDE and not code.co_filename.startswith("<frozen"):
            own = frame.f_locals
            values = [*own.values(), *frame.f_globals.values()]
            if own.__class__ is dict and code.co_flags & CO_OPTIMIZED:
                own.clear()  # a copy that the frame keeps, and with it all that its variables held by now
            for value in values:
                fields = getattr(value, "__dict__", None)
                if isinstance(value, (type, ModuleType)) or callable(value):
                    fields = None
                memories: list[Any] = [
                    x for x in (value, *(fields or {}).values()) if type(x) in (list, deque)
                ]
                for one in memories:
                    if len(one) >= 32 and id(one) not in seen and len(seen) < 64:
                        seen.add(id(one))
                        if _repeats(one):
                            return True
        frame = frame.f_back
    return False


def _repeats(memory: Any) -> bool:
    """Whether entries of a memory have the same array in the same place, in a quarter of those looked at or more."""
    entries = list(itertools.islice(memory, 0, None, max(1, len(memory) // 64)))[:64]
    known: dict[Any, list] = {}
    for entry in entries:
        parts = (
            entry
            if isinstance(entry, (tuple, list))
            else entry.values()
            if isinstance(entry, dict)
            else getattr(entry, "__dict__", {}).values()
        )
        for k, part in enumerate(itertools.islice(parts, 8)):
            d = getattr(part, "_data", part)
            if isinstance(d, np.ndarray) and d.size > 1:
                known.setdefault(k, []).append((d.__array_interface__["data"][0], d.shape))
    return any(len(at) >= 32 and len(set(at)) <= 0.75 * len(at) for at in known.values())


def _remembers(line: Line) -> Line | None:
    """The only line of a file that adds a state, what was done and what came of it to a memory."""
    tree, found = tree_of(line.file), set()
    for n in () if tree is None else ast.walk(tree):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in MEMORIES:
            given = n.args[0].elts if len(n.args) == 1 and isinstance(n.args[0], ast.Tuple) else n.args
            if len(given) >= 4:
                found.add(n.lineno)
    return at_line(line, found.pop()) if len(found) == 1 else None


def _hands_out(line: Line) -> Line | None:
    """The last line of a file that returns a field, which its class changes in place."""
    tree, found = tree_of(line.file), set()
    for owner in () if tree is None else ast.walk(tree):
        if not isinstance(owner, ast.ClassDef):
            continue
        nodes = list(ast.walk(owner))
        targets = [n.target for n in nodes if isinstance(n, ast.AugAssign)]
        targets += [
            t for n in nodes if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Subscript)
        ]
        changed = {ast.unparse(t.value if isinstance(t, ast.Subscript) else t) for t in targets}
        for n in nodes:
            if not isinstance(n, ast.Return):
                continue
            value = n.value
            first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
            if isinstance(first, ast.Attribute) and ast.unparse(first) in changed:
                found.add(n.lineno)
    return at_line(line, max(found)) if found else None


RULES = (
    OtherDraw,
    BeyondTheEnd,
    AdvantageMoves,
    RewardTurned,
    TargetStays,
    FollowsAtOnce,
    ReturnsForward,
    NextIsNow,
)
