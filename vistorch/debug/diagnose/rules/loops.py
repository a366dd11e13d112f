"""What a loop uses up, makes anew or overwrites, read from the program's text and confirmed by what ran.

Invariant: the text alone accuses nobody: steps, optimizers or rates of the run have to agree with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...line_lookup import Line
from ..finding import EXACT, WRONG, Finding, number
from ..written import LOOPS, SCOPES, at_line, given_by, scopes, tree_of
from .base import Rule

ONCE = ("zip", "map", "filter", "iter", "enumerate", "reversed")  # what can be gone through once
ROUNDS = ("epoch", "epochs", "ep")


class UsedUp(Rule):
    """A loop over batches goes through an iterator that the first epoch has used up: later epochs see nothing.

    Meaning: `zip`, `map`, `iter` and generators can be gone through once; a list or a loader again and again.
    Fires: when an optimizer steps, four times or more, in a loop over a name that the program gives its value once,
    outside of the loop around that loop, by zip, map, filter, iter, enumerate, reversed, a generator expression or a
    generator of its own without `while`; that loop is not left by a break or a return, and the outer one goes round
    more than once as far as its text says.
    Wrong if: the iterator has no end.
    Healthy programs tried: lists of batches, loaders, iterators made in the loop, endless generators.
    """

    name, title, certainty, severity = "used up", "iterators that are used up", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Look for such a loop around each step."""
        for ledger in self.ev.ledgers.values():
            line = self.ev.line(ledger.step_place)
            tree = None if line is None else tree_of(line.file)
            if tree is None or line is None or ledger.steps < 4:
                continue
            around = _around(tree, line.line)
            inner = next((n for n in reversed(around) if isinstance(n, ast.For)), None)
            if inner is None or not isinstance(inner.iter, ast.Name):
                continue
            outer = [n for n in around if isinstance(n, LOOPS) and n is not inner and n.lineno < inner.lineno]
            made: list[Any] = [n for n in ast.walk(tree) if _gives(n, inner.iter.id)]
            if len(made) != 1 or not outer or outer[0].lineno < made[0].lineno <= (outer[0].end_lineno or 0):
                continue
            what = _once(tree, made[0].value)
            leaves = any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(inner))
            if not what or leaves or _rounds(outer[-1]) in (0, 1):
                continue
            yield self.found(
                f"{inner.iter.id} can be gone through once: after the first round this loop does nothing.",
                at_line(line, inner.lineno),
                "nothing is left",
                also=(at_line(line, made[0].lineno), "made once"),
                proof=[("steps", ledger.steps), ("made by", what)],
                confirm=(f"list({inner.iter.id}), twice", "the second time []"),
                unless="it has no end.",
                advice=f"Make it a list, {inner.iter.id} = list(...), or make it within the loop.",
                weight=7.0,
                explains=("too small", "learns nothing"),
            )


class MadeEachRound(Rule):
    """The model itself is made anew in each round of the loop that trains it.

    Meaning: what an epoch has learned is in the weights; a new model has none of it.
    Fires: when one line made three optimizers or more that stepped, each with other parameters, and that line and one
    that calls a class of modules stand in one loop whose variable is called epoch, and in no condition there.
    Wrong if: each round is a run of its own.
    Healthy programs tried: folds, seeds, trials and widths in a loop, networks that grow, meta-learning.
    """

    name, title, certainty, severity = "made each round", "models that are made in a loop", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Say where."""
        by: dict[Any, list] = {}
        for ledger in self.ev.ledgers.values():
            if ledger.place is not None and ledger.steps:
                by.setdefault(ledger.place, []).append(ledger)
        for place, made in by.items():
            line = self.ev.line(place)
            tree = None if line is None else tree_of(line.file)
            if len(made) < 3 or tree is None or line is None:
                continue
            if len({next(iter(one.held), 0) for one in made}) < len(made):
                continue
            loops = [n for n in _around(tree, line.line) if isinstance(n, ast.For)]
            loop = next((n for n in loops if isinstance(n.target, ast.Name) and n.target.id in ROUNDS), None)
            if loop is None:
                continue
            kinds = {type(m).__name__ for m, _ in self.ev.roots.values()}
            branches = [n for n in ast.walk(loop) if isinstance(n, ast.If)]
            if any(n.lineno <= line.line <= (n.end_lineno or 0) for n in branches):
                continue
            calls = [
                n.lineno
                for n in ast.walk(loop)
                if isinstance(n, ast.Call)
                and getattr(n.func, "id", getattr(n.func, "attr", "")) in kinds
                and n.lineno <= line.line
            ]
            if not calls:
                continue
            yield self.found(
                f"The model is made anew in each round: {len(made)} models were trained, each from its beginning.",
                at_line(line, calls[0]),
                "made in the loop",
                related=self.lines((at_line(line, loop.lineno), "in each round")),
                proof=[("models", len(made)), ("most steps of one", max(one.steps for one in made))],
                confirm=("id(model) in each round", "another one"),
                unless="each round is a run of its own.",
                advice="Make it once, before the loop.",
                weight=7.0,
                explains=("made anew", "too small", "learns nothing"),
            )


class RateOverwritten(Rule):
    """A learning rate is written into an optimizer, and loading its state writes another over it.

    Meaning: an optimizer's state dict holds its learning rates.
    Fires: when a function writes "lr" into the groups of an optimizer, loads a state dict into the same optimizer
    later on, writes no rate after that, and an optimizer steps afterwards.
    Wrong if: the rate of the state is wanted; then the line before is of no use.
    Healthy programs tried: rates that are written after loading, states that are loaded at the beginning.
    """

    name, title, certainty, severity = "rate overwritten", "rates and loaded states", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Read the functions of files in which optimizers step."""
        stepped = [one for one in self.ev.ledgers.values() if one.steps]
        files = {line.file: line for one in stepped if (line := self.ev.line(one.step_place)) is not None}
        for line in files.values():
            for body in scopes(tree_of(line.file)):
                yield from self._in(body, line)

    def _in(self, body: list[ast.AST], line: Line) -> Iterator[Finding]:
        loads = {
            ast.unparse(n.func.value): n.lineno
            for n in body
            if isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr == "load_state_dict"
        }
        writes: dict[str, list[int]] = {}
        for n in body:
            if isinstance(n, ast.For) and isinstance(n.iter, ast.Attribute) and n.iter.attr == "param_groups":
                for inner in ast.walk(n):
                    if isinstance(inner, ast.Assign) and any(_is_rate(t) for t in inner.targets):
                        writes.setdefault(ast.unparse(n.iter.value), []).append(inner.lineno)
            elif isinstance(n, ast.Assign) and len(n.targets) == 1 and _is_rate(n.targets[0]):
                groups = n.targets[0].value  # type: ignore[attr-defined]
                while isinstance(groups, ast.Subscript):
                    groups = groups.value
                if isinstance(groups, ast.Attribute) and groups.attr == "param_groups":
                    writes.setdefault(ast.unparse(groups.value), []).append(n.lineno)
        for optimizer, at in loads.items():
            before = writes.get(optimizer, [])
            if not before or max(before) > at:
                continue
            known = [one for one in self.ev.ledgers.values() if one.steps]
            yield self.found(
                f"{optimizer}.load_state_dict() writes the learning rate of the state over the one that was just "
                "written.",
                at_line(line, at),
                "writes over it",
                also=(at_line(line, max(before)), "written here"),
                proof=[("learning rate in the end", number(known[-1].rates[-1]))],
                confirm=(f"{optimizer}.param_groups[0]['lr']", "that of the state"),
                unless="the rate of the state is wanted.",
                advice="Load the state first, and write the rate afterwards.",
                weight=7.0,
                explains=("too small", "learns nothing", "rate"),
            )


class KeepsWorst(Rule):
    """What is kept as the best is the worst, or nothing ever is: a comparison with the best runs the wrong way.

    Meaning: of losses and errors the smallest is the best, of accuracies and scores the largest.
    Fires: when a condition compares a value with a name that holds "best", the branch gives that name the value and
    keeps weights (a state dict, a deep copy, clones), and the value, by its name or by that of what it was computed
    from (of an argument, by what all calls of its function or method give it), is a loss that has to be larger, or a
    score that has to be smaller; or when the best begins at a number that no such value comes beyond: a loss below 0,
    a score above infinity.
    Wrong if: the name says otherwise than what it holds.
    Healthy programs tried: losses with `<`, scores with `>`, negative losses, patience counters, classes that stop
    early and are given losses, scores, or losses with a minus.
    """

    name, title, certainty, severity = "keeps worst", "what is kept as the best", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Read the conditions of the files in which optimizers step."""
        lines = (self.ev.line(one.step_place) for one in self.ev.ledgers.values() if one.steps)
        for line in {line.file: line for line in lines if line is not None}.values():
            tree = tree_of(line.file)
            for node in [] if tree is None else ast.walk(tree):
                if isinstance(node, ast.If):
                    yield from self._branch(tree, node, line)

    def _branch(self, tree: Any, node: ast.If, line: Line) -> Iterator[Finding]:
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        keeps = _keeps(node.body)
        for test in tests:
            if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not keeps:
                continue
            a, op, b = test.left, test.ops[0], test.comparators[0]
            more = isinstance(op, (ast.Gt, ast.GtE))
            if not more and not isinstance(op, (ast.Lt, ast.LtE)):
                continue
            if "best" in ast.unparse(a).lower():
                a, b, more = b, a, not more
            best = ast.unparse(b)
            if (
                "best" not in best.lower()
                or "best" in ast.unparse(a).lower()
                or not _updates(node.body, best, a)
            ):
                continue
            kind = _kind(tree, a)
            begins = _begins(tree, best)
            wrong = (kind == "loss" and more) or (kind == "score" and not more)
            never = (kind == "loss" and not more and begins is not None and begins <= 0) or (
                kind == "score" and more and begins is not None and begins >= 1e6
            )
            if wrong or never:
                word = ast.unparse(a)
                yield self.found(
                    f"{word} is kept as the best where it is {'larger' if more else 'smaller'}: the worst is kept."
                    if wrong
                    else f"{best} begins at {number(begins or 0.0)}, and {word} never gets beyond it: none is kept.",
                    at_line(line, test.lineno),
                    "the wrong way" if wrong else "is never so",
                    proof=[("comparison", ast.unparse(test))],
                    confirm=(
                        best,
                        "the largest loss of all" if kind == "loss" else "the smallest score of all",
                    )
                    if wrong
                    else (best, number(begins or 0.0)),
                    advice=f"Compare with {'<' if kind == 'loss' else '>'}"
                    + (", and begin at infinity." if kind == "loss" else ", and begin at 0."),
                    weight=6.0,
                )
                return


class KeptNowhere(Rule):
    """An update by hand computes a new momentum under the name of a loop, and keeps it nowhere.

    Meaning: `v = beta * v + g` in a loop over lists gives a name to a new tensor; the list keeps the old one.
    Fires: when a loop over several lists at once gives one of its own names a product of that name plus something,
    writes another of its names in place with it, and neither appends it nor stores it anywhere; and passes, or
    gradients that are taken, come.
    Wrong if: each round is to begin anew.
    Healthy programs tried: momentum in place, lists that are built anew, batches that are moved and scaled.
    """

    name, title, certainty, severity = "kept nowhere", "momentum by hand", EXACT, WRONG

    def findings(self) -> Iterator[Finding]:
        """Read the files that ran."""
        last = self.ev.line(self.ev.last_place) or self._taken()
        tree = None if last is None else tree_of(last.file)
        if tree is None or last is None:
            return
        for loop in ast.walk(tree):
            if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Tuple):
                continue
            names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
            for n in loop.body:
                if (
                    not isinstance(n, ast.Assign)
                    or len(n.targets) != 1
                    or not isinstance(n.targets[0], ast.Name)
                ):
                    continue
                own = n.targets[0].id
                if own in names and _decays(n.value, own) and self._used(loop, n, own, names):
                    yield self.found(
                        f"{own} is a new tensor under a name of the loop, and is kept nowhere: each step begins with "
                        "the old one.",
                        at_line(last, n.lineno),
                        "is not kept",
                        proof=[("statement", ast.unparse(n)), ("places that keep it", 0)],
                        confirm=(f"the list that {own} comes from, after a step", "unchanged"),
                        unless="each round is to begin anew.",
                        advice=f"Change it in place: {own}.mul_(...).add_(...).",
                        weight=6.0,
                        explains=("too small",),
                    )
                    return

    def _taken(self) -> Line | None:
        """Where gradients were taken, in a program without passes into `.grad`."""
        last = self.ev.last
        return None if last is None else self.ev.line(last.place)

    @staticmethod
    def _used(loop: ast.For, made: ast.Assign, own: str, names: set[str]) -> bool:
        """Whether another name of the loop is written with it, and it is kept nowhere."""
        writes = False
        for n in ast.walk(loop):
            if n is made:
                continue
            if isinstance(n, ast.Assign) and any(
                isinstance(t, (ast.Subscript, ast.Attribute)) for t in n.targets
            ):
                if any(isinstance(x, ast.Name) and x.id == own for x in ast.walk(n.value)):
                    owner = ast.unparse(n.targets[0])
                    if not owner.endswith(".data") or owner.split(".")[0] not in names:
                        return False
                    writes = True
            uses = any(isinstance(x, ast.Name) and x.id == own for x in ast.walk(n))
            if isinstance(n, ast.AugAssign) and uses and _root(n.target) in names - {own}:
                writes = True
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and uses:
                if n.func.attr in ("append", "extend", "copy_") and _root(n.func.value) in ({own} | set()):
                    return False
                if n.func.attr == "append":
                    return False
                if n.func.attr.endswith("_") and _root(n.func.value) in names - {own}:
                    writes = True
        return writes


def _root(node: ast.AST) -> str:
    """The name that an expression begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _decays(value: ast.AST, name: str) -> bool:
    """Whether an expression is a product of a name plus something."""
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Add, ast.Sub)):
        return False
    for side in (value.left, value.right):
        if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mult):
            if any(isinstance(x, ast.Name) and x.id == name for x in (side.left, side.right)):
                return True
    return False


LOSSES = ("loss", "err", "cross_entropy", "mse", "mae", "rmse", "nll", "perplexity", "ppl")
SCORES = ("acc", "score", "f1", "auc", "iou", "dice", "psnr", "bleu", "r2", "recall", "precision", "reward")


def _keeps(body: list[ast.stmt]) -> bool:
    """Whether a branch keeps weights."""
    text = " ".join(ast.unparse(one) for one in body)
    return any(word in text for word in ("state_dict", "deepcopy", ".clone()", "torch.save"))


def _updates(body: list[ast.stmt], best: str, value: ast.AST) -> bool:
    """Whether a branch makes a value the best."""
    for one in body:
        for n in ast.walk(one):
            if isinstance(n, ast.Assign):
                pairs = given_by(n)
                if any(ast.unparse(t) == best and ast.unparse(v) == ast.unparse(value) for t, v in pairs):
                    return True
    return False


def _kind(tree: ast.AST, value: ast.AST, deep: int = 0) -> str:
    """Whether a value is a loss or a score, by its name, or by what it was computed from; "" where both or neither."""
    texts = [ast.unparse(value)]
    if isinstance(value, ast.Name):
        texts += [
            ast.unparse(n.value) for n in ast.walk(tree) if isinstance(n, ast.Assign) and _gives(n, value.id)
        ]
    for text in texts:
        text = text.lower()
        if text.startswith("-") or "exp(-" in text:
            return ""
        loss, score = any(w in text for w in LOSSES), any(w in text for w in SCORES)
        if loss != score:
            return "loss" if loss else "score"
        if loss:
            return ""
    if isinstance(value, ast.Name) and not deep:
        kinds = {_kind(tree, one, 1) for one in _arguments(tree, value)}
        return kinds.pop() if len(kinds) == 1 else ""
    return ""


def _arguments(tree: ast.AST, name: ast.Name) -> Iterator[ast.AST]:
    """What the calls of a function, or of a method, give an argument of it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not any(n is name for n in ast.walk(node)):
            continue
        every = [a.arg for a in node.args.args]
        if name.id not in every:
            continue
        at, called = every.index(name.id), node.name
        if every[0] == "self":
            at -= 1
        if node.name == "__call__":
            owner = next((c for c in ast.walk(tree) if isinstance(c, ast.ClassDef) and node in c.body), None)
            own = "" if owner is None else owner.name
            names = {
                ast.unparse(t)
                for n in ast.walk(tree)
                if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)
                if ast.unparse(n.value.func) == own
                for t in n.targets
            }
        else:
            names = set()
        for call in ast.walk(tree):
            if isinstance(call, ast.Call):
                function = call.func
                text = getattr(function, "attr", getattr(function, "id", ""))
                if ast.unparse(function) in names if names else text == called:
                    given = [k.value for k in call.keywords if k.arg == name.id]
                    yield from given or call.args[at : at + 1]


def _begins(tree: ast.AST, best: str) -> float | None:
    """The number that the best begins at, where that is written once."""
    found = []
    for n in ast.walk(tree):
        if isinstance(n, (ast.Assign, ast.AnnAssign)):
            found += [_literal(v) for t, v in given_by(n) if ast.unparse(t) == best]
    known = [x for x in found if x is not None]
    return known[0] if len(known) == 1 else None


def _literal(node: ast.AST) -> float | None:
    text = ast.unparse(node).replace("'", '"')
    if text in ('float("inf")', "math.inf", "np.inf", "inf", "torch.inf"):
        return float("inf")
    if text in ('-float("inf")', 'float("-inf")', "-math.inf", "-np.inf", "-inf", "-torch.inf"):
        return -float("inf")
    try:
        value = ast.literal_eval(node)
    except (ValueError, SyntaxError):
        return None
    return float(value) if isinstance(value, (int, float)) else None


def _around(tree: ast.AST, line: int) -> list[Any]:
    """The loops around a line, the outermost first, those around calls of its function included."""
    found: list[Any] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if getattr(child, "lineno", line + 1) <= line <= (getattr(child, "end_lineno", 0) or 0):
                if isinstance(child, SCOPES):
                    found = []
                if isinstance(child, LOOPS) and child.lineno < line:
                    found.append(child)
                waiting.append(child)
    return found


def _gives(node: ast.AST, name: str) -> bool:
    """Whether a statement gives a name its value."""
    return isinstance(node, ast.Assign) and any(
        isinstance(t, ast.Name) and t.id == name for t in node.targets
    )


def _once(tree: ast.AST, value: ast.AST) -> str:
    """What gives an iterator that can be gone through once; "" where it is something else."""
    if isinstance(value, ast.GeneratorExp):
        return "a generator expression"
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        return ""
    if value.func.id in ONCE:
        return value.func.id
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == value.func.id:
            inside = list(ast.walk(node))
            if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in inside):
                return "" if any(isinstance(n, ast.While) for n in inside) else f"{node.name}(), a generator"
    return ""


def _rounds(loop: Any) -> int | None:
    """How often a loop goes round, where that is a number in the text."""
    it = getattr(loop, "iter", None)
    if (
        isinstance(it, ast.Call)
        and isinstance(it.func, ast.Name)
        and it.func.id == "range"
        and len(it.args) == 1
    ):
        many = getattr(it.args[0], "value", None)
        return many if isinstance(many, int) else None
    return None


def _is_rate(target: ast.AST) -> bool:
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and target.slice.value == "lr"
    )


RULES = (UsedUp, MadeEachRound, RateOverwritten, KeepsWorst, KeptNowhere)
