"""The tests a condition is made of. Each answers for one moment of a pass, and says itself as text.

`needs` names what must have been noted for a test to be able to hold: "line", "module", "step".
Invariant: a test reads a moment and changes nothing; what is not known does not hold.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

MEASURES = ("absmax", "max", "mean", "min", "norm")
RELATIONS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
WORDS = {
    "nan": "a NaN",
    "inf": "an infinite value",
    "bad": "a value that is not finite",
    "zero": "only zeros",
    "unchanged": "a parameter left as it was",
}


@dataclass(frozen=True)
class Word:
    """One of the words of the language."""

    word: str

    @property
    def needs(self) -> frozenset[str]:
        """What must have been noted."""
        return frozenset(("step",)) if self.word == "unchanged" else frozenset()

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        return bool(getattr(moment, self.word))

    def __str__(self) -> str:
        return self.word


@dataclass(frozen=True)
class Measure:
    """A number of a gradient against a bound: it holds if any gradient the node sends satisfies it."""

    name: str
    relation: str
    bound: float
    needs = frozenset()

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        return any(RELATIONS[self.relation](value, self.bound) for value in moment.measured(self.name))

    def __str__(self) -> str:
        return f"grad.{self.name} {self.relation} {self.bound:g}"


@dataclass(frozen=True)
class Line:
    """The line that made the node."""

    number: int
    needs = frozenset(("line",))

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        return moment.line == self.number

    def __str__(self) -> str:
        return f"line {self.number}"


@dataclass(frozen=True)
class Op:
    """The node's name, as `grad_fn` prints it, with or without "Backward0"."""

    pattern: str
    needs = frozenset()

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        return self.matches(moment.name)

    def matches(self, name: str) -> bool:
        """Whether a node of this name is meant."""
        return fnmatchcase(name, self.pattern) or fnmatchcase(short(name), self.pattern)

    def __str__(self) -> str:
        return self.pattern


def short(name: str) -> str:
    """A node's name without "Backward0"."""
    return re.sub(r"Backward\d*$", "", name) or name


@dataclass(frozen=True)
class Always:
    """Every node: what stands before a lone `@`."""

    needs = frozenset()

    def holds(self, moment: Any) -> bool:
        """Always."""
        return True

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True)
class At:
    """A test of the nodes of some modules; `layer2.*` is all of layer2, itself included."""

    test: Any
    modules: str

    @property
    def needs(self) -> frozenset[str]:
        """What must have been noted."""
        return self.test.needs | {"module"}

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        path = moment.module
        return path is not None and self.inside(path) and self.test.holds(moment)

    def inside(self, path: str) -> bool:
        """Whether the module at a path is meant."""
        itself = self.modules.endswith(".*") and fnmatchcase(path, self.modules[:-2])
        return itself or fnmatchcase(path, self.modules)

    def __str__(self) -> str:
        before = f"({self.test})" if isinstance(self.test, (All, Any_)) else str(self.test)
        return f"{before} @ {self.modules}".lstrip()


@dataclass(frozen=True)
class Not:
    """The opposite."""

    test: Any

    @property
    def needs(self) -> frozenset[str]:
        """What must have been noted."""
        return self.test.needs

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        return not self.test.holds(moment)

    def __str__(self) -> str:
        return f"not ({self.test})" if isinstance(self.test, (All, Any_)) else f"not {self.test}"


@dataclass(frozen=True)
class All:
    """Several at once."""

    tests: tuple[Any, ...]

    @property
    def needs(self) -> frozenset[str]:
        """What must have been noted."""
        return frozenset().union(*[t.needs for t in self.tests])

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        return all(t.holds(moment) for t in self.tests)

    def __str__(self) -> str:
        return " and ".join(f"({t})" if isinstance(t, Any_) else str(t) for t in self.tests)


@dataclass(frozen=True)
class Any_:
    """One of several."""

    tests: tuple[Any, ...]

    @property
    def needs(self) -> frozenset[str]:
        """What must have been noted."""
        return frozenset().union(*[t.needs for t in self.tests])

    def holds(self, moment: Any) -> bool:
        """Whether it is so now."""
        return any(t.holds(moment) for t in self.tests)

    def __str__(self) -> str:
        return " or ".join(str(t) for t in self.tests)
