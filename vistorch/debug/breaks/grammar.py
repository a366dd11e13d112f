"""Conditions as text: a small language, read by hand and never executed.

    condition = either {"or" either}                  either = both {"and" both}
    both      = "not" both | placed                   placed = test ["@" modules] | "@" modules
    test      = "(" condition ")" | word | "grad." measure relation number | "line" number | node pattern

`@` belongs to the test or the bracket directly before it. A node pattern is a name as `grad_fn` prints it, with `*` and
`?`; it may leave out "Backward0".

Invariant: a text gives a tree of tests or a ConditionError, and nothing else happens.
"""

from __future__ import annotations

import re
from typing import Any

from .errors import ConditionError, nearest
from .kinds import MEASURES, RELATIONS, WORDS, All, Always, Any_, At, Line, Measure, Not, Op, Word

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.*?]))"
    r"|(?P<relation>>=|<=|==|!=|>|<)"
    r"|(?P<mark>[()@])"
    r"|(?P<word>[^\s()@<>=!]+)"
    r"|(?P<wrong>\S))"
)
_LINKS = ("and", "or", "not")
_LONGEST = 2000
_DEEPEST = 50  # brackets and "not" within each other


def parse(text: str) -> Any:
    """The tests that a text asks for.

    Args:
        text: such as `nan`, `grad.norm > 1e3 @ layer2.*`, `ReluBackward0 and not zero`.

    Raises:
        ConditionError: with one sentence that says where and why.
    """
    if not isinstance(text, str):
        raise TypeError(f"a condition is text or a function of a frame, not {type(text).__name__}")
    if len(text) > _LONGEST:
        raise ConditionError(text[:40] + "…", _LONGEST, f"a condition has at most {_LONGEST} characters")
    return _Reader(text).all()


class _Reader:
    """The tokens of one text, and how far they were read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        for found in _TOKEN.finditer(text):
            kind = str(found.lastgroup)
            self.tokens.append((kind, found.group(kind), found.start(kind)))
        self.tokens.append(("end", "", len(text)))
        self.at = self.deep = 0

    @property
    def here(self) -> tuple[str, str, int]:
        return self.tokens[self.at]

    def takes(self, what: str) -> bool:
        """Step over a token if it comes next."""
        kind, word, _ = self.here
        if word != what or kind not in ("mark", "word"):
            return False
        self.at += 1
        return True

    def fail(self, why: str, at: int | None = None) -> ConditionError:
        return ConditionError(self.text, self.here[2] if at is None else at, why)

    def got(self) -> str:
        return "the end" if self.here[0] == "end" else repr(self.here[1])

    def all(self) -> Any:
        tree = self.either()
        if self.here[0] != "end":
            raise self.fail(f"expected 'and', 'or', '@' or the end, got {self.got()}")
        return tree

    def either(self) -> Any:
        found = [self.both()]
        while self.takes("or"):
            found.append(self.both())
        return found[0] if len(found) == 1 else Any_(tuple(found))

    def both(self) -> Any:
        found = [self.placed()]
        while self.takes("and"):
            found.append(self.placed())
        return found[0] if len(found) == 1 else All(tuple(found))

    def placed(self) -> Any:
        self.deep += 1
        if self.deep > _DEEPEST:
            raise self.fail(f"more than {_DEEPEST} brackets or 'not' within each other")
        try:
            if self.takes("not"):
                return Not(self.placed())
            test = Always() if self.here[1] == "@" else self.test()
            if not self.takes("@"):
                return test
            kind, word, at = self.here
            if kind not in ("word", "number") or word in _LINKS:
                raise self.fail(f"expected a module's path after '@', such as layer2.*, got {self.got()}", at)
            self.at += 1
            return At(test, word)
        finally:
            self.deep -= 1

    def test(self) -> Any:
        kind, word, at = self.here
        if self.takes("("):
            tree = self.either()
            if not self.takes(")"):
                raise self.fail(f"expected ')', got {self.got()}")
            return tree
        if kind != "word" or word in _LINKS:
            raise self.fail(
                f"expected a condition, such as nan, grad.norm > 1e3 or ReluBackward0, got {self.got()}"
            )
        self.at += 1
        if word in WORDS:
            return Word(word)
        if word == "line":
            return self.line()
        if word.startswith("grad."):
            return self.measure(word, at)
        if self.here[0] == "relation":
            raise self.fail(f"{word!r} is not measured; expected grad.{', grad.'.join(sorted(MEASURES))}", at)
        if "Backward" in word or "*" in word or "?" in word or word[0].isupper():
            return Op(word)
        raise self.fail(f"{word!r} is no condition; {nearest(word, (*WORDS, 'line', 'grad.norm'))}", at)

    def line(self) -> Any:
        kind, word, _ = self.here
        if kind != "number" or not word.isdigit():
            raise self.fail(f"expected a line number after 'line', got {self.got()}")
        self.at += 1
        return Line(int(word))

    def measure(self, word: str, at: int) -> Any:
        name = word[5:]
        if name not in MEASURES:
            raise self.fail(f"{name!r} is no measure of grad; {nearest(name, MEASURES)}", at + 5)
        kind, relation, _ = self.here
        if kind != "relation":
            raise self.fail(f"expected one of {' '.join(RELATIONS)} after {word!r}, got {self.got()}")
        self.at += 1
        kind, number, _ = self.here
        if kind != "number" and number not in ("inf", "-inf"):
            raise self.fail(f"expected a number after {relation!r}, got {self.got()}")
        self.at += 1
        return Measure(name, relation, float(number))
