"""What is measured was never trained: another module was, or copies of its parameters.

Invariant: a module counts as untrained when all its weights were drawn in this run and nothing has written them since.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from typing import Any

from ....engine.base.events import OUTSIDE, kind_of
from ...layers import is_module
from ...line_lookup import Line
from ..finding import LINEAGE, WRONG, Finding
from ..written import at_line, scope_of, tree_of
from .base import Rule

PASSES = 8  # of a training
MOST = 200  # modules that are kept an eye on
DEEP = 400  # values behind a number that are looked at
CUTS = ("detach", "data", "no history")
COPIES = ("stack_module_state", "named_parameters", "state_dict", "make_functional")


class NeverTrained(Rule):
    """A module is measured that has the values it was drawn with, while another one of its kind was trained.

    Meaning: what is trained and what is measured must be one object, or share their values.
    Fires: when a number was taken out of a call, without gradients, of a module all of whose weights of two axes or
    more, one at least, were drawn in this run and written by nobody since; no pass reached a parameter of it, no
    optimizer that stepped holds one, and one of these is seen. No loss was computed from what it gave, a module of the
    same class, with parameters of the same shapes, was reached by eight passes or more, no such module but untrained
    ones was called without gradients since the first pass, and all numbers that were taken out are losses or come
    from calls of others. Or there were no passes, but for gradients that the program takes itself, and in the file of
    the call a variable that is given `stack_module_state`, `named_parameters`, `state_dict` or `make_functional` of
    something gets new values in a loop, and is read nowhere else after it.
    Wrong if: the untrained one is what is asked about.
    Healthy programs tried: measures before a training, and a random baseline beside the trained module; random
    targets of a distillation, frozen random features, target networks, averages of weights, loaded and copied
    modules, tangent kernels of untrained networks, ensembles that are measured by the copies that were trained.
    """

    name, title, certainty, severity = "never trained", "modules that are measured", LINEAGE, WRONG

    def __init__(self, evidence: Any) -> None:
        super().__init__(evidence)
        self.seen: dict[
            int, list
        ] = {}  # by module called without gradients: it, place, where chosen, passes, measured
        self.used: set[int] = set()  # modules with a part in a loss
        self.graded: set[int] = (
            set()
        )  # trained modules that may have been measured: numbers but losses were taken out

    def at_call(self, call: Any) -> None:
        """Keep an eye on what runs without gradients."""
        if call.grad or not call.owns:
            return
        entry = self.seen.get(id(call.module))
        if entry is not None:
            entry[3] = self.ev.passes
        elif len(self.seen) < MOST and is_module(call.module):
            self.seen[id(call.module)] = [call.module, call.place, chosen(call), self.ev.passes, 0]

    def at_pass(self, p: Any) -> None:
        """What has a part in a loss."""
        for call in p.calls:
            self.used.add(id(call.module))

    def at_taken(self, kind: str, value: Any, place: Any) -> None:
        """Of what a number is taken out."""
        trained = self.ev.trained_modules
        if len(self.graded) >= len(trained) and all(entry[4] for entry in self.seen.values()):
            return
        if value.op in CUTS and value.parents:
            value = value.parents[0]
        calls = self.ev.calls_of(value, DEEP)
        if not calls and not value.needs:
            self.graded.update(trained)  # of what was let go of: it may be theirs
        for call in calls:
            entry = self.seen.get(id(call.module))
            if entry is not None and not call.grad:
                entry[4] += 1
            elif call.grad and not value.needs and id(call.module) in trained:
                self.graded.add(id(call.module))  # not its loss: a guess, an action

    def findings(self) -> Iterator[Finding]:
        """Say which is called."""
        ev = self.ev
        for module, place, picked, passes, measured in self.seen.values():
            if not measured or passes < ev.passes or not self._untrained(module):
                continue
            by_passes = not ev.by_grad and id(module) not in self.used
            other = self._counterpart(module) if by_passes else None
            copied = _copies(ev.line(place)) if not ev.passes or ev.by_grad else None
            if other is None and copied is None:
                continue
            name = ev.module_name(module) or f"A {type(module).__name__}"
            what = "another of its class is" if other is not None else "copies of its parameters are"
            own, made = (None if m is None else ev.origins.get(id(m)) for m in (module, other))
            own, made = (None if one is None else one[2] for one in (own, made))
            also = (
                (place, "is called")
                if picked is not None
                else (own, "made here")
                if own != made
                else (None, "")
            )
            if copied is not None:
                also = copied, "makes copies"
            yield self.found(
                f"{name} is measured and still has the values it was drawn with: {what} trained.",
                picked or place,
                "was never trained",
                also=also,
                related=self.lines((made, "made here, is trained")),
                layer=ev.module_name(module),
                proof=[
                    ("passes that reached it", 0),
                    ("passes", ev.passes),
                    ("weights as they were drawn", sum(p.ndim > 1 for p in module.parameters())),
                ],
                confirm=("its weights before the training and after it", "the same"),
                unless="the untrained one is what is asked about.",
                advice="Measure what was trained, or load its values first: load_state_dict(...).",
                weight=7.0,
            )
            return

    def _untrained(self, module: Any) -> bool:
        ev = self.ev
        every = list(module.parameters())
        if any(one[0] is module for one in ev.loads):
            return False
        held = {i for one in ev.ledgers.values() if one.steps for i in one.held}
        if any(id(p) in ev.reached or id(p) in held for p in every):
            return False
        weights = [p for p in every if p.ndim > 1]
        return bool(weights) and all(self._as_drawn(p) for p in weights)

    def _as_drawn(self, p: Any) -> bool:
        begun, later = self.ev.begun.get(id(p)), self.ev.writes.get(id(p))
        if begun is None or id(p._data) in self.ev.written:
            return False
        return later is None or later[0] <= begun[3]

    def _counterpart(self, module: Any) -> Any:
        """A trained module of the same kind, if none of its kind but untrained ones was ever measured."""
        kind = _kind_of(module)
        for one, _, _, passes, _ in self.seen.values():
            if passes and _kind_of(one) == kind and not self._untrained(one):
                return None
        alike = [m for m in self.ev.trained_modules.values() if is_module(m) and _kind_of(m) == kind]
        if not alike or any(id(m) in self.graded for m in alike):
            return None
        most = [
            max((self.ev.reached.get(id(p), (p, 0))[1] for p in m.parameters()), default=0) for m in alike
        ]
        return alike[0] if max(most) >= PASSES else None


def _kind_of(module: Any) -> tuple:
    return type(module), tuple(tuple(p.shape) for p in module.parameters())


def chosen(call: Any) -> Line | None:
    """The line that gave a module to the function that calls it, as an argument; None where no function was given it.

    Args:
        call: of the module.
    """
    frame: Any = sys._getframe(1)
    found = None
    for _ in range(40):
        if frame is None:
            break
        code = frame.f_code
        if kind_of(code.co_filename) == OUTSIDE:
            if found is not None:
                number = frame.f_lineno
                found = at_line(Line(code.co_filename, number, code.co_name, ""), number)
            own = frame.f_locals
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            given = any(own.get(n) is call.module for n in names) and "self" not in names[:1]
            if own.__class__ is dict and code.co_flags & CO_OPTIMIZED:
                own.clear()  # a copy that the frame keeps, and with it all that its variables held by now
            if not given:
                return found
            found = found or Line(code.co_filename, frame.f_lineno, code.co_name, "")
        frame = frame.f_back
    return None


def _copies(line: Line | None) -> Line | None:
    """The line that makes copies of parameters, of a file in which these are changed in a loop and read no more."""
    tree = None if line is None else tree_of(line.file)
    if tree is None or line is None:
        return None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not _calls(node.value, COPIES):
            continue
        target = node.targets[0]
        first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
        if isinstance(first, ast.Name) and _trained_alone(tree, first.id, node.lineno):
            return at_line(line, node.lineno)
    return None


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    return any(
        isinstance(n, ast.Call) and getattr(n.func, "attr", getattr(n.func, "id", "")) in names
        for n in ast.walk(node)
    )


def _trained_alone(tree: ast.Module, name: str, line: int) -> bool:
    """Whether a variable gets new values in a loop of its function, and is read neither later nor in another one."""
    scope = scope_of(tree, line)
    loops = [n for n in ast.walk(scope) if isinstance(n, (ast.For, ast.While)) and n.lineno > line]
    changing = [
        loop
        for loop in loops
        if any(
            isinstance(n, ast.Assign)
            and name in {x.id for t in n.targets for x in ast.walk(t) if isinstance(x, ast.Name)}
            for n in ast.walk(loop)
        )
    ]
    if not changing:
        return False
    end = max(loop.end_lineno or loop.lineno for loop in changing)
    for n in ast.walk(tree):
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load):
            own = scope_of(tree, n.lineno)
            if own is scope:
                if n.lineno > end:
                    return False
            elif not _binds(own, name):
                return False
    return True


def _binds(function: ast.AST, name: str) -> bool:
    """Whether a function has a variable of its own of that name."""
    args: Any = getattr(function, "args", None)
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs] if args is not None else []
    return any(a.arg == name for a in every) or any(
        isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in ast.walk(function)
    )


RULES = (NeverTrained,)
