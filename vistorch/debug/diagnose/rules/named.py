"""What a program's text names and does not do: attributes for calls, methods without brackets, loops that end at once.

Invariant: the text alone accuses nobody: the code has to have run, and what it was to do is seen not to be done.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from ...layers import is_module
from ...line_lookup import Line
from ..finding import DOUBTFUL, EXACT, LINEAGE, WRONG, Finding, number
from ..written import assigned_to, at_line, called_name, constant, fields, functions_of, scope_of, tree_of
from .base import Rule
from .classes import assigned
from .measures import HELD, TAUGHT, words_of
from .modes import drops

METHODS = ("step", "zero_grad", "backward", "eval", "train")
ASKED = frozenset("y ys label labels target targets classes answers tgt truth outputs".split())
RESEEDS = ("seed", "state", "generator", "RandomState", "default_rng", "Random")
SHUFFLES, ORDERS = ("shuffle", "shuffle_"), ("randperm", "permutation")
FOLDS = frozenset("fold folds kfold".split())


class Texts(Rule):
    """Base of the rules that read the text of what ran: places of calls of models, of passes and of steps."""

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.places: dict[Any, None] = {}  # in the order that they were seen

    def at_call(self, call: Any) -> None:
        """Where a model was called."""
        if call.place is not None and len(self.places) < 500:
            self.places.setdefault(call.place)

    def at_pass(self, p: Any) -> None:
        """Where a pass started."""
        if p.place is not None and len(self.places) < 500:
            self.places.setdefault(p.place)

    def ran(self) -> dict[str, tuple[ast.Module, list[Line]]]:
        """The files of these places: their trees, and the lines that are known to have run."""
        found: dict[str, tuple[ast.Module, list[Line]]] = {}
        every = [*self.places, *(one.step_place for one in self.ev.ledgers.values())]
        for place in every:
            line = self.ev.line(place)
            if line is None:
                continue
            if line.file not in found:
                tree = tree_of(line.file)
                if tree is None:
                    continue
                found[line.file] = (tree, [])
            found[line.file][1].append(line)
        return found


def within(node: ast.AST, line: int) -> bool:
    """Whether a node covers a line.

    Args:
        node: of a tree.
        line: its number.
    """
    return getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", 0) or 0)


def dotted(node: ast.AST) -> str:
    """A name, or a chain of attributes of one; "" for all else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


class NotCalled(Texts):
    """A statement names a method and does not call it: nothing happens.

    Meaning: `model.eval` is the method; `model.eval()` calls it.
    Fires: when a statement is nothing but `step`, `zero_grad`, `backward`, `eval` or `train` of a name or of an
    attribute, in a function, or outside of all functions in a file, in which a model was called, a pass started or an
    optimizer stepped, and the file defines no property of that name.
    Wrong if: the attribute does something by itself.
    Healthy programs tried: methods that are passed on, assigned or called, properties.
    """

    name, title, certainty, severity = "not called", "methods that are named only", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for tree, lines in self.ran().values():
            own = {
                n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.decorator_list
            }  # a property, perhaps
            scopes = {id(scope_of(tree, line.line)) for line in lines}
            for node in ast.walk(tree):
                value = node.value if isinstance(node, ast.Expr) else None
                if (
                    not isinstance(node, ast.Expr)
                    or not isinstance(value, ast.Attribute)
                    or value.attr not in METHODS
                    or value.attr in own
                ):
                    continue
                text = dotted(value)
                if not text or id(scope_of(tree, node.lineno)) not in scopes:
                    continue
                yield self.found(
                    f"{text} is named and not called: this line does nothing.",
                    at_line(lines[0], node.lineno),
                    "does nothing",
                    proof=[("statement", text), ("calls in it", 0)],
                    confirm=(text, "a bound method"),
                    unless="the attribute does something by itself.",
                    advice=f"Call it: {text}().",
                    weight=9.5,
                    explains=(
                        "never steps",
                        "used twice",
                        "draws in evaluation",
                        "trains in eval",
                        "learns nothing",
                        "rate",
                        "diverges",
                        "course",
                        "not reached",
                    ),
                )


class IdleName(Texts):
    """An attribute is set that nothing reads: what it was to freeze learns on, or what it was to switch stays.

    Meaning: a module is frozen by `requires_grad_(False)`, which sets it on each parameter; `eval()` reaches the
    modules within.
    Fires: when a module that was called has an attribute `requires_grad` of its own that is False, though passes
    reached parameters of it or of what it holds; when a parameter that passes reached has an attribute
    `requires_grad_` that is no method, or one that is spelt almost as `requires_grad`; likewise a module; or when a
    dropout or a batch norm ran as in training in a call of a module that is not in training mode and that never saw
    `eval()`, and the text sets `training` of something but `self` to False outside of a loop over modules. The line
    is the one that assigns that attribute, if any does; one that a class reads of itself does not count.
    Wrong if: never that was seen.
    Healthy programs tried: parameters frozen one by one, `requires_grad_(False)`, modes set for each of `modules()`,
    dropouts kept on after `eval()`, attributes of other names.
    """

    name, title, certainty, severity = "idle name", "attributes that nothing reads", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.drawn: list[Any] = []

    def at_drew(self, entry: tuple, training: bool, call: Any) -> None:
        """A dropout or a norm in a model that is not in training mode."""
        inner = entry[1]
        if training and call is not None and not call.training and inner is not None and drops(inner):
            if (
                len(self.drawn) < 8
                and inner is not call.module
                and not any(m is call.module for m in self.drawn)
            ):
                if not any(name == "eval" and subject is call.module for name, subject, *_ in self.ev.modes):
                    self.drawn.append(call.module)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        ran = self.ran()
        for attr, what, count in self._attributes():
            line = self._assigns(ran, attr, False)
            if line is None:
                continue
            on = "module" if what == "module" else "parameter"
            yield self.found(
                f"{attr} of a {on} is a name that nothing reads: {count} parameter{'s' * (count != 1)} still "
                "learn.",
                line,
                "freezes nothing",
                proof=[("attribute", attr), ("parameters that passes still reach", count)],
                confirm=("[p.requires_grad for p in module.parameters()]", "True"),
                advice="Call module.requires_grad_(False), or set p.requires_grad = False for each parameter.",
                weight=7.0,
            )
        if self.drawn:
            line = self._assigns(ran, "training", True)
            if line is not None:
                yield self.found(
                    "training is set on one module only: the dropouts and norms within stay in training mode.",
                    line,
                    "reaches one module",
                    proof=[("models so switched whose layers draw", len(self.drawn))],
                    confirm=("[m.training for m in model.modules()]", "not all False"),
                    advice="Call model.eval(), which reaches the modules within.",
                    weight=7.0,
                    explains=("draws in evaluation",),
                )

    def _attributes(self) -> Iterator[tuple[str, str, int]]:
        """Attributes that do nothing, what has them, and how many parameters they were to freeze."""
        seen: dict[tuple[str, str], set[int]] = {}
        modules = {id(m): m for root, _ in self.ev.roots.values() if is_module(root) for m in root.modules()}
        for module in modules.values():
            for attr, value in vars(module).items():
                if value is False and (attr in ("requires_grad", "requires_grad_") or _misspelt(attr)):
                    reached = {id(p) for p in module.parameters() if p._rg and id(p) in self.ev.reached}
                    seen.setdefault((attr, "module"), set()).update(reached)
        for entry in self.ev.reached.values():
            p = entry[0]
            for attr, value in getattr(p, "__dict__", {}).items():
                if value is False and (attr == "requires_grad_" or _misspelt(attr)) and p._rg:
                    seen.setdefault((attr, "parameter"), set()).add(id(p))
        for (attr, what), reached in seen.items():
            if reached:
                yield attr, what, len(reached)

    @staticmethod
    def _assigns(ran: dict[str, tuple[ast.Module, list[Line]]], attr: str, mode: bool) -> Line | None:
        """The line that sets an attribute of something but a parameter, or of each module, to False."""
        for tree, lines in ran.values():
            over: set[str] = set()
            read = {
                dotted(n)
                for n in ast.walk(tree)
                if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.For) and attr in ("requires_grad", "training"):
                    text = ast.unparse(node.iter)
                    if "parameters" in text or (mode and "modules" in text) or (mode and "children" in text):
                        over |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            for node in ast.walk(tree):
                if not isinstance(node, ast.Assign):
                    continue
                value = node.value
                if not (isinstance(value, ast.Constant) and value.value is False):
                    continue
                for target in node.targets:
                    if isinstance(target, ast.Attribute) and target.attr == attr:
                        base = dotted(target.value)
                        if base == "self" and f"self.{attr}" in read:
                            continue
                        leaf = attr == "requires_grad" and base.rpartition(".")[2] in ("weight", "bias")
                        if base not in over and not leaf and not (mode and base == "self"):
                            return at_line(lines[0], node.lineno)
        return None


def _misspelt(attr: str) -> bool:
    """Whether an attribute is almost `requires_grad`."""
    plain = attr.replace("_", "").lower()
    if attr in ("requires_grad", "_requires_grad") or ("grad" not in plain and "gard" not in plain):
        return False
    return SequenceMatcher(None, plain, "requiresgrad").ratio() > 0.85


class OnceRound(Texts):
    """A loop over batches returns or breaks at the end of its first round: it sees only the first batch.

    Meaning: what a loop adds up is given back after it.
    Fires: when a model was called directly in a `for` loop whose body ends with a `return`, or a `break`, without a
    condition, has no `continue` and no `yield`, adds with `+=` to a variable, or appends to a list, from before the
    loop, and that is what is returned, or, for a `break`, is used after the loop; and the loop does not run over a
    loader of one batch.
    Wrong if: one round is wanted, as a trial; then nothing is added up.
    Healthy programs tried: one batch by `break`, a return under a condition, searches, sums that are returned after
    the loop.
    """

    name, title, certainty, severity = "once round", "loops that end at once", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for tree, lines in self.ran().values():
            for loop in ast.walk(tree):
                if not isinstance(loop, ast.For) or not isinstance(loop.body[-1], (ast.Return, ast.Break)):
                    continue
                last = loop.body[-1]
                if not any(loop.lineno < line.line < last.lineno for line in lines):
                    continue
                inner = [n for one in loop.body for n in ast.walk(one)]
                if any(isinstance(n, (ast.Continue, ast.Yield, ast.YieldFrom)) for n in inner):
                    continue
                names = self._gathered(loop)
                used = {dotted(n) for n in ast.walk(last)}
                if isinstance(last, ast.Break):
                    scope = scope_of(tree, loop.lineno)
                    used = {
                        dotted(n)
                        for n in ast.walk(scope)
                        if isinstance(n, (ast.Name, ast.Attribute))
                        and isinstance(n.ctx, ast.Load)
                        and n.lineno > last.lineno
                    }
                if not names & used or self._single(loop, lines[0]):
                    continue
                word = "return" if isinstance(last, ast.Return) else "break"
                yield self.found(
                    f"This {word} ends the loop in its first round: {min(names & used)} holds one batch.",
                    at_line(lines[0], last.lineno),
                    "ends the loop",
                    severity=WRONG if word == "return" else DOUBTFUL,
                    also=(at_line(lines[0], loop.lineno), "goes round once"),
                    proof=[("rounds", 1), ("gathered", ", ".join(sorted(names & used)))],
                    confirm=("a counter in that loop", "1"),
                    unless="one round is wanted.",
                    advice=f"Put the {word} behind the loop." if word == "return" else "Take the break out.",
                    weight=7.0,
                    explains=("same batch",),
                )

    @staticmethod
    def _gathered(loop: ast.For) -> set[str]:
        """What the body of a loop adds to."""
        found = set()
        fresh = {
            n.id
            for one in loop.body
            if isinstance(one, ast.Assign)
            for t in one.targets
            for n in ast.walk(t)
            if isinstance(n, ast.Name)
        }
        for one in loop.body:
            for n in ast.walk(one):
                if isinstance(n, ast.AugAssign) and dotted(n.target):
                    found.add(dotted(n.target))
                elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
                    if n.func.attr in ("append", "extend") and dotted(n.func.value):
                        found.add(dotted(n.func.value))
        return found - fresh

    def _single(self, loop: ast.For, line: Line) -> bool:
        """Whether the loop runs over a loader of one batch, or one number."""
        if ast.unparse(loop.iter) in ("range(1)", "range(0, 1)"):
            return True
        for loader, place in self.ev.loaders[-50:]:
            at = self.ev.line(place)
            if at is not None and at.file == line.file and at.line == loop.lineno:
                try:
                    return len(loader) < 2
                except TypeError:
                    return False
        return False


class ShuffledApart(Texts):
    """Inputs and labels are shuffled by two calls: they no longer belong together.

    Meaning: each call draws an order of its own; pairs need one order for both.
    Fires: when in one block of a program, six statements apart at most, two variables are shuffled in place, indexed
    by `randperm` or `permutation` of its own each, or permuted by such a call, one of them is called labels, targets,
    y or the like, neither is called source or another part (train, val, test) than the other, what they were before
    is not used any more, nothing is seeded in between, and
    both are then used in one statement that trains: `zip`, a data set, or with the same index.
    Wrong if: the pairs are to be drawn at random.
    Healthy programs tried: one order for both, zipped before they are shuffled, two data sets, negatives, domains
    that are not paired, marginals beside pairs, a source and a target domain, generators that are seeded alike.
    """

    name, title, certainty, severity = "shuffled apart", "orders of inputs and labels", LINEAGE, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        if not self.ev.steps:
            return
        for tree, lines in self.ran().values():
            calls = {
                getattr(n.func, "attr", getattr(n.func, "id", ""))
                for n in ast.walk(tree)
                if isinstance(n, ast.Call)
            }
            for node in ast.walk(tree):
                body = getattr(node, "body", None)
                if not isinstance(body, list) or (
                    isinstance(node, ast.FunctionDef) and not self._used(node, calls)
                ):
                    continue
                shuffled = [(i, *found) for i, one in enumerate(body) if (found := self._shuffled(one))[0]]
                if len(shuffled) < 2:
                    continue
                scope = node if isinstance(node, ast.Module) else scope_of(tree, getattr(node, "lineno", 1))
                if isinstance(scope, ast.FunctionDef) and not self._used(scope, calls):
                    continue
                for one, other in self._pairs(body, shuffled, scope):
                    yield self.found(
                        f"{one[1]} and {other[1]} are shuffled by two calls, each in an order of its own.",
                        at_line(lines[0], other[0]),
                        "another order",
                        also=(at_line(lines[0], one[0]), "one order"),
                        proof=[("orders drawn", 2)],
                        confirm=("a few samples beside their labels, after that line", "they do not fit"),
                        unless="pairs are to be drawn at random.",
                        advice="Draw one order for both: order = torch.randperm(n); x, y = x[order], y[order].",
                        weight=7.0,
                        explains=(
                            "apart",
                            "unrelated",
                            "learns nothing",
                            "one class",
                            "mean",
                            "too small",
                            "diverges",
                        ),
                    )

    @staticmethod
    def _used(function: ast.FunctionDef, calls: set[str]) -> bool:
        return function.name in calls or function.name.startswith("__")

    def _pairs(
        self, body: list[ast.stmt], found: list[tuple[int, str, str, str]], scope: ast.AST
    ) -> Iterator[tuple[tuple, tuple]]:
        for (i, name, new, order), (j, second, newer, other) in pairwise(found):
            if name == second or j - i > 6:
                continue
            if order and order == other and not self._drawn(body[i + 1 : j], order, other):
                continue
            if bool(order) != bool(other) or (order and not self._drawn(body[:j], order, other)):
                continue
            if any(word in ast.unparse(one) for one in body[i + 1 : j] for word in RESEEDS):
                continue
            a, b = words_of(name.replace(".", "_")), words_of(second.replace(".", "_"))
            if bool(a & ASKED) == bool(b & ASKED) or (a & (HELD | TAUGHT)) != (b & (HELD | TAUGHT)):
                continue
            if (a | b) & {"source", "src"}:
                continue  # two domains
            after = body[j].end_lineno or body[j].lineno
            if {name, second} - {new, newer} and any(
                isinstance(n, (ast.Name, ast.Attribute))
                and dotted(n) in {name, second} - {new, newer}
                and n.lineno > after
                for n in ast.walk(scope)
            ):
                continue  # what belongs together is used beside it
            if self._together(scope, new, newer, after):
                yield (body[i].lineno, name), (body[j].lineno, second)

    @staticmethod
    def _drawn(body: list[ast.stmt], order: str, other: str) -> bool:
        """Whether two variables, by which rows are picked, are orders that were drawn one by one."""
        drawn = {}
        for one in body:
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) and len(one.targets) == 1:
                if getattr(one.value.func, "attr", getattr(one.value.func, "id", "")) in ORDERS:
                    drawn[dotted(one.targets[0])] = one.lineno
        return order in drawn and other in drawn

    @staticmethod
    def _shuffled(one: ast.stmt) -> tuple[str, str, str]:
        """What a statement shuffles, what that is called then, and the variable that holds its order."""
        none = ("", "", "")
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            call = one.value
            named = getattr(call.func, "attr", getattr(call.func, "id", ""))
            seeded = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
            if named not in SHUFFLES or seeded or len(call.args) != 1 or call.keywords:
                return none
            name = dotted(call.args[0])
            return name, name, ""
        if not isinstance(one, ast.Assign) or len(one.targets) != 1:
            return none
        new, value = dotted(one.targets[0]), one.value
        if not new:
            return none
        if isinstance(value, ast.Subscript):
            index = value.slice
            if isinstance(index, ast.Call):
                named = getattr(index.func, "attr", getattr(index.func, "id", ""))
                if named in ORDERS and not any(k.arg == "generator" for k in index.keywords):
                    if not (isinstance(index.func, ast.Attribute) and isinstance(index.func.value, ast.Call)):
                        return dotted(value.value), new, ""
            elif isinstance(index, ast.Name):
                return dotted(value.value), new, index.id
            return none
        if isinstance(value, ast.Call) and value.args and not value.keywords:
            named = getattr(value.func, "attr", getattr(value.func, "id", ""))
            seeded = isinstance(value.func, ast.Attribute) and isinstance(value.func.value, ast.Call)
            if named == "permutation" and not seeded and dotted(value.args[0]):
                return dotted(value.args[0]), new, ""
            if named == "sample" and len(value.args) == 2 and ast.unparse(value.args[1]).startswith("len("):
                return dotted(value.args[0]), new, ""
        return none

    @staticmethod
    def _together(scope: ast.AST, one: str, other: str, after: int) -> bool:
        """Whether two variables are then used in one statement: a call that is given both, or with one index."""
        for n in ast.walk(scope):
            if not isinstance(n, (ast.Call, ast.Tuple, ast.For)) or getattr(n, "lineno", 0) <= after:
                continue
            parts = n.args if isinstance(n, ast.Call) else n.elts if isinstance(n, ast.Tuple) else []
            if isinstance(n, ast.For):
                held = [x for x in ast.walk(n) if isinstance(x, ast.Subscript)]
                index = [
                    {ast.unparse(x.slice) for x in held if dotted(x.value) == name} for name in (one, other)
                ]
                if index[0] & index[1]:
                    return True
                continue
            if isinstance(n, ast.Call) and getattr(n.func, "id", "") in ("print", "len", "assert_equal"):
                continue
            inside = [{dotted(x) for x in ast.walk(part)} for part in parts]
            if any(one in a for a in inside) and any(other in a for a in inside):
                return True
        return False


class OneModelForFolds(Texts):
    """The folds of a cross-validation train one model on and on: later folds have seen what they are measured on.

    Meaning: each fold is a training of its own; its model begins anew.
    Fires: when a `for` loop whose variable, or what it runs over, is called fold or kfold, or whose variable picks
    what is called val, test or the like and is left out elsewhere (`!= k`, `[:k]`), made two optimizers or
    more in one line for the same parameters, each of which stepped twice or more, the program wrote these parameters
    at no time after the first step, the model was made before the loop, and was called in the loop without a history
    or in evaluation mode.
    Wrong if: the model is to be tuned on, fold by fold.
    Healthy programs tried: a new model for each fold, weights that are loaded again, parameters that are reset, a
    copy for each fold, stages.
    """

    name, title, certainty, severity = "one model for folds", "models of folds", EXACT, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.measured: dict[Any, None] = {}

    def at_call(self, call: Any) -> None:
        """Where a model was measured."""
        super().at_call(call)
        if call.place is not None and not (call.grad and call.training) and len(self.measured) < 200:
            self.measured.setdefault(call.place)

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        by: dict[Any, list[Any]] = {}
        for ledger in self.ev.ledgers.values():
            if ledger.place is not None and ledger.steps >= 2:
                first = next(iter(ledger.held), 0)
                by.setdefault((ledger.place, first, len(ledger.held)), []).append(ledger)
        for (place, _, _), made in by.items():
            if len(made) < 2 or any(self._anew(h.tensor, made[0].order) for h in made[0].each):
                continue
            loop, at = self._loop(self.ev.line(place)), self._model(made[0])
            if loop is None or at is None:
                continue
            start, end, line = loop
            if at.file == line.file and start <= at.line <= end:
                continue
            yield self.found(
                f"One model is trained through {len(made)} folds: it has seen what the later ones measure it on.",
                at,
                "made once",
                also=(at_line(line, start), "makes no new model"),
                related=self.lines((place, "a new optimizer")),
                proof=[("folds", len(made)), ("models", 1)],
                confirm=("the parameters at the start of each fold", "those of the fold before"),
                unless="the model is to be tuned on, fold by fold.",
                advice="Make the model in the loop, or load its first weights again.",
                weight=7.0,
                explains=("made anew", "seen rows"),
            )

    def _anew(self, p: Any, order: int) -> bool:
        """Whether a parameter was written, or filled, after an optimizer was made for it."""
        begun, later = self.ev.begun.get(id(p)), self.ev.writes.get(id(p))
        return (
            id(p._data) in self.ev.written
            or (begun is not None and begun[3] > order)
            or (later is not None and later[0] > order)
        )

    def _model(self, ledger: Any) -> Line | None:
        """The line that made the model of an optimizer, or that gave it its name."""
        first = next(iter(ledger.held.values()), None)
        for module, _ in self.ev.roots.values():
            if (
                first is not None
                and is_module(module)
                and any(p is first.tensor for p in module.parameters())
            ):
                made = self.ev.origins.get(id(module))
                line = None if made is None else self.ev.line(made[2])
                if line is not None and line.function != "<module>":  # a function that makes models
                    line = assigned(line, self.ev.variable(module)) or line
                return line
        return None

    def _loop(self, line: Line | None) -> tuple[int, int, Line] | None:
        """The loop over folds around a line, also around a call of the function that it stands in."""
        tree = None if line is None else tree_of(line.file)
        if tree is None or line is None:
            return None
        numbers = [line.line]
        scope = scope_of(tree, line.line)
        if isinstance(scope, ast.FunctionDef):
            numbers += [
                n.lineno
                for n in ast.walk(tree)
                if isinstance(n, ast.Call)
                and getattr(n.func, "attr", getattr(n.func, "id", "")) == scope.name
            ]
        for node in ast.walk(tree):
            if not isinstance(node, ast.For) or not any(within(node, n) and n > node.lineno for n in numbers):
                continue
            words: set[str] = set()
            for n in [*ast.walk(node.target), *ast.walk(node.iter)]:
                words |= words_of(getattr(n, "id", getattr(n, "attr", "")) or "")
            if words & FOLDS or self._parts(node):
                return node.lineno, node.end_lineno or node.lineno, line
        return None

    @staticmethod
    def _parts(loop: ast.For) -> bool:
        """Whether a loop counts parts, each of which is held out in its turn and left out of the others."""
        counted = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
        picks = leaves = False
        for n in ast.walk(loop):
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Subscript):
                names = {x.id for t in n.targets for x in ast.walk(t) if isinstance(x, ast.Name)}
                used = {x.id for x in ast.walk(n.value.slice) if isinstance(x, ast.Name)}
                picks = picks or bool(used & counted and any(words_of(name) & HELD for name in names))
            elif isinstance(n, ast.Compare) and isinstance(n.ops[0], ast.NotEq):
                leaves = leaves or bool(counted & {x.id for x in ast.walk(n) if isinstance(x, ast.Name)})
            elif isinstance(n, ast.Slice) and n.upper is not None and n.lower is None:
                leaves = leaves or bool(
                    counted & {x.id for x in ast.walk(n.upper) if isinstance(x, ast.Name)}
                )
        return picks and leaves


class CodedAnew(Texts):
    """The categories of held-out rows are coded by a vocabulary of their own: their codes mean other categories.

    Meaning: a row of an embedding belongs to one category, whatever rows ask for it.
    Fires: when a vector was looked up by rows, and one function of the program, or one expression, that numbers what
    it meets in the order in which it comes (`setdefault` with a length, `enumerate` in a table, a length as a value)
    is given rows once that are called val, valid, test or the like, and once rows that are not.
    Wrong if: both hold the same categories in the same order.
    Healthy programs tried: one vocabulary for both, one of all rows, sorted categories, a vocabulary for each language.
    """

    name, title, certainty, severity = "coded anew", "vocabularies of held-out rows", LINEAGE, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        if not self.ev.steps or not self.ev.tables:
            return
        for tree, lines in self.ran().values():
            owners = {id(f): c.name for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for f in c.body}
            makers = {
                owners.get(id(f), f.name) if f.name == "__init__" else f.name
                for f in functions_of(tree)
                if any(_numbers(n, f) for n in ast.walk(f))
            }
            taught: dict[str, int] = {}
            held: dict[str, tuple[int, str]] = {}
            for n in ast.walk(tree):
                maker, given = self._given(n, makers)
                words = set().union(*(words_of(name) for name in given))
                if not maker or not given:
                    continue
                if words & HELD and not words & TAUGHT:
                    held.setdefault(maker, (n.lineno, given[0]))  # type: ignore[attr-defined]
                elif not words & HELD:
                    taught.setdefault(maker, n.lineno)  # type: ignore[attr-defined]
            for maker in held.keys() & taught.keys():
                at, name = held[maker]
                yield self.found(
                    f"The categories of {name} are numbered anew: their codes are not those of the training.",
                    at_line(lines[0], at),
                    "numbers them anew",
                    also=(at_line(lines[0], taught[maker]), "numbers those of the training"),
                    proof=[("vocabularies", 2)],
                    confirm=("both vocabularies, side by side", "other numbers for the same category"),
                    unless="both hold the same categories in the same order.",
                    advice="Code them by the vocabulary of the training rows.",
                    weight=6.0,
                    explains=("other scale",),
                )

    @staticmethod
    def _given(n: ast.AST, makers: set[str]) -> tuple[str, list[str]]:
        """What numbers categories here, and the names of what it is given."""
        if isinstance(n, ast.Call) and getattr(n.func, "attr", getattr(n.func, "id", "")) in makers:
            names = [dotted(a) for a in [*n.args, *(k.value for k in n.keywords)]]
            return getattr(n.func, "attr", getattr(n.func, "id", "")), [name for name in names if name]
        if isinstance(n, ast.DictComp) and _numbers(n):
            inside = [x.id for g in n.generators for x in ast.walk(g.iter) if isinstance(x, ast.Name)]
            return "an expression", [x for x in inside if words_of(x) & (HELD | TAUGHT)]
        return "", []


def _numbers(n: ast.AST, function: ast.AST | None = None) -> bool:
    """Whether a node numbers what it meets, in the order in which it comes, in a table that begins empty there."""
    if isinstance(n, ast.DictComp):
        over = n.generators[0].iter
        plain = isinstance(over, ast.Call) and getattr(over.func, "id", "") == "enumerate"
        names = {getattr(x, "id", "") for x in ast.walk(over)}
        return plain and isinstance(n.value, ast.Name) and not names & {"sorted", "range"}
    table = ""
    if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "setdefault":
        table = dotted(n.func.value) if len(n.args) == 2 and _length(n.args[1]) else ""
    elif isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Subscript) and _length(n.value):
        table = dotted(n.targets[0].value)
    return bool(table and function) and any(
        dotted(t) == table
        for one in ast.walk(function)  # type: ignore[arg-type]
        if isinstance(one, (ast.Assign, ast.AnnAssign))
        for t in (one.targets if isinstance(one, ast.Assign) else [one.target])
    )


def _length(n: ast.AST) -> bool:
    """Whether an expression is a length, or one more."""
    n = n.left if isinstance(n, ast.BinOp) else n
    return isinstance(n, ast.Call) and getattr(n.func, "id", "") == "len"


class FallsAtOnce(Texts):
    """A number that is to shrink slowly to a bound is brought to the bound at once: `min` stands for `max`.

    Meaning: `max(low, x * 0.99)` lets x shrink as far as low; `min(low, x * 0.99)` is low or less from the first time.
    Fires: when a variable or a field is given the `min` of two, of which one is itself times a number between 0 and
    1, and the other a number above 0 and below the number that it begins at; or the `max` of two, of which one is
    itself times a number above 1, and the other a number above the one, above 0, that it begins at; it is assigned
    nothing else but that first number in the file, all these are written as numbers, or as names that are given one
    once; and the line stands in a scope in which a model was called, a pass started or an optimizer stepped, or in a
    function that the file calls by its name.
    Wrong if: a jump at its first time is meant.
    Healthy programs tried: rates that shrink to a floor or grow to a ceiling, bounds on the far side, values that are
    begun anew.
    """

    name, title, certainty, severity = "falls at once", "numbers that shrink slowly", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        for tree, lines in self.ran().values():
            scopes = {id(scope_of(tree, line.line)) for line in lines}
            called = {called_name(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
            for node in ast.walk(tree):
                if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                    continue
                seen = _jump(tree, node)
                scope = scope_of(tree, node.lineno)
                if seen is None or not (id(scope) in scopes or getattr(scope, "name", "") in called):
                    continue
                text, bound, begun, which = seen
                other = "max" if which == "min" else "min"
                yield self.found(
                    f"{text} begins at {number(begun)}, and {which} brings it to {number(bound)} the first time.",
                    at_line(lines[0], node.lineno),
                    f"takes the {which}",
                    proof=[("begins at", number(begun)), ("bound", number(bound))],
                    confirm=(f"{text}, after the first time", f"{number(bound)}"),
                    unless="a jump is meant.",
                    advice=f"Take {other} for {which}.",
                    weight=5.0,
                )


def _jump(tree: ast.Module, node: ast.Assign) -> tuple[str, float, float, str] | None:
    """What jumps, its bound, where it begins, and whether by min or max."""
    call = node.value
    if len(node.targets) != 1 or not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
        return None
    target, which = node.targets[0], getattr(call.func, "id", "")
    if which not in ("min", "max") or not isinstance(target, (ast.Name, ast.Attribute)):
        return None
    text = ast.unparse(target)
    for bound, product in (call.args, call.args[::-1]):
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        sides = [x for x in (product.left, product.right) if ast.unparse(x) != text]
        if len(sides) != 1:
            continue
        factor, least = constant(tree, sides[0]), constant(tree, bound)
        given = fields(tree, target.attr) if isinstance(target, ast.Attribute) else assigned_to(tree, text)
        begins = [v for v in given if v is not call]
        begun = constant(tree, begins[0]) if len(begins) == 1 and len(given) == 2 else None
        if factor is None or least is None or begun is None or least <= 0 or begun <= 0:
            continue
        if (which == "min" and 0 < factor < 1 and least < begun) or (
            which == "max" and factor > 1 and least > begun
        ):
            return text, least, begun, which
    return None


RULES = (NotCalled, IdleName, OnceRound, ShuffledApart, OneModelForFolds, CodedAnew, FallsAtOnce)
