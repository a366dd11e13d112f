r"""The LaTeX of a formula as a tree that can be computed and written with numbers.

Only the part of LaTeX in which the rows of the engine are written: sums, products, quotients, powers, `\frac`, some
functions, `[x > 0]`. What is outside of it is None, and the formula is then shown without numbers.

Invariant: nothing is executed; a tree is tuples of strings and numbers.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

_TOKEN = re.compile(
    r"\s*(?:\\[,;:! ])*\s*(?:"
    r"(?P<half>\\tfrac(?P<top>\d)(?P<low>\d))"
    r"|(?P<bar>\\bar\s*(?:\\[a-z]+|[A-Za-z]))"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<command>\\[A-Za-z]+)"
    r"|(?P<letter>[A-Za-z])"
    r"|(?P<mark>[-+/^()\[\]{}|<>,=])"
    r"|(?P<wrong>\S))"
)
_FUNCTIONS = {
    "\\ln": ("ln", np.log),
    "\\cos": ("cos", np.cos),
    "\\sin": ("sin", np.sin),
    "\\tan": ("tan", np.tan),
    "\\cosh": ("cosh", np.cosh),
    "\\sinh": ("sinh", np.sinh),
    "\\tanh": ("tanh", np.tanh),
    "\\sqrt": ("√", np.sqrt),
    "sgn": ("sgn", np.sign),
    "\\sigma": ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    "abs": ("abs", np.abs),
    "T": ("T", np.transpose),
}
_RELATIONS = {
    ">": np.greater,
    "<": np.less,
    "\\le": np.less_equal,
    "\\ge": np.greater_equal,
    "\\ne": np.not_equal,
    "=": np.equal,
}
_SIGNS = {"\\le": "≤", "\\ge": "≥", "\\ne": "≠"}


class _Unknown(Exception):
    """LaTeX that is not read here."""


def read(latex: str) -> tuple[str, Any] | None:
    r"""What a formula says: the symbol on its left and the tree on its right; None if it is not read.

    Args:
        latex: such as `\bar x = \bar z\, y`.
    """
    left, equals, right = latex.partition("=")
    if not equals:
        return None
    try:
        reader = _Reader(right)
        tree = reader.sum()
        if reader.here != ("end", ""):
            return None
    except _Unknown:
        return None
    # an index on the left alone says "each entry"
    return re.sub(r"\\bar\s*|_\w|_\{[^}]*\}", "", left).strip(), tree


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        for m in _TOKEN.finditer(re.sub(r"\\textstyle|\\left|\\right", " ", text)):
            kind = str(m.lastgroup)
            if m.group("half"):
                self.tokens += [("command", "\\frac"), *_group(m.group("top")), *_group(m.group("low"))]
            elif kind == "bar":
                self.tokens.append(("symbol", "\\bar " + m.group("bar")[4:].strip()))
            else:
                self.tokens.append((kind, m.group(kind)))
        self.tokens.append(("end", ""))
        self.at = 0

    @property
    def here(self) -> tuple[str, str]:
        return self.tokens[self.at]

    def takes(self, word: str) -> bool:
        if self.here[1] != word or self.here[0] == "end":
            return False
        self.at += 1
        return True

    def must(self, word: str) -> None:
        if not self.takes(word):
            raise _Unknown

    def sum(self) -> Any:
        terms = [("neg", self.product()) if self.takes("-") else self.product()]
        while self.here[1] in ("+", "-") and self.here[0] == "mark":
            minus = self.takes("-")
            if not minus:
                self.must("+")
            terms.append(("neg", self.product()) if minus else self.product())
        return terms[0] if len(terms) == 1 else ("sum", tuple(terms))

    def product(self) -> Any:
        factors = [("·", self.power())]
        while True:
            kind, word = self.here
            if word == "/" and kind == "mark":
                self.at += 1
                factors.append(("/", self.power()))
            elif kind in ("symbol", "number", "letter", "command") or word in ("(", "["):
                if word in _RELATIONS:
                    break
                factors.append(("·", self.power()))
            else:
                break
        return factors[0][1] if len(factors) == 1 else ("product", tuple(factors))

    def power(self) -> Any:
        base = self.atom()
        if not self.takes("^"):
            return base
        if self.takes("T") or self.takes("\\top"):
            return ("function", "T", base)
        exponent = self.group() if self.here[1] == "{" else self.atom()
        if exponent == ("symbol", "\\mathsf"):
            raise _Unknown
        return ("power", base, exponent)

    def group(self) -> Any:
        self.must("{")
        inside = self.sum()
        self.must("}")
        return inside

    def atom(self) -> Any:
        kind, word = self.here
        self.at += 1
        if kind == "symbol":
            return ("symbol", word)
        if kind == "number":
            return ("number", float(word))
        if word == "(":
            inside = self.sum()
            self.must(")")
            return inside
        if word == "|":
            inside = self.sum()
            self.must("|")
            return ("function", "abs", inside)
        if word == "[":
            return self.indicator()
        if kind == "letter":
            return ("symbol", word)
        if kind == "command":
            return self.command(word)
        raise _Unknown

    def indicator(self) -> Any:
        first = self.sum()
        relation = self.here[1]
        if relation not in _RELATIONS:
            raise _Unknown
        self.at += 1
        second = self.sum()
        self.must("]")
        return ("compare", relation, first, second)

    def command(self, word: str) -> Any:
        if word in ("\\frac", "\\tfrac"):
            return ("product", (("·", self.group()), ("/", self.group())))
        if word == "\\pi":
            return ("number", np.pi)
        if word == "\\mathrm":
            self.must("{")
            name = ""
            while not self.takes("}"):
                if self.here[0] != "letter":
                    raise _Unknown
                name += self.here[1]
                self.at += 1
            if name not in _FUNCTIONS:
                raise _Unknown
            return ("function", name, self.atom())
        if word in _FUNCTIONS:
            return ("function", word, self.group() if self.here[1] == "{" else self.power())
        if word in ("\\alpha", "\\beta", "\\lambda", "\\epsilon", "\\varepsilon", "\\gamma"):
            return ("symbol", word)
        raise _Unknown


def _group(word: str) -> list[tuple[str, str]]:
    return [("mark", "{"), ("number", word), ("mark", "}")]


def symbols(tree: Any) -> set[str]:
    """The symbols of a tree."""
    if tree[0] == "symbol":
        return {tree[1]}
    found: set[str] = set()
    for part in tree[1:]:
        if isinstance(part, tuple):
            for x in part if part and isinstance(part[0], tuple) else (part,):
                if isinstance(x, tuple):
                    found |= symbols(x[1] if x[0] in ("·", "/") else x)
    return found


def is_exp(tree: Any) -> bool:
    """Whether a tree is e to a power."""
    return tree[0] == "power" and tree[1] == ("symbol", "e")


def compute(tree: Any, values: dict[str, Any]) -> Any:
    """The value of a tree: arrays and numbers by numpy's rules of broadcasting; a product with `T` is one of matrices.

    Raises:
        KeyError: a symbol has no value.
    """
    kind = tree[0]
    if kind == "symbol":
        return values[tree[1]]
    if kind == "number":
        return tree[1]
    if kind == "neg":
        return -compute(tree[1], values)
    if kind == "sum":
        total = compute(tree[1][0], values)
        for term in tree[1][1:]:
            total = total + compute(term, values)
        return total
    if kind == "product":
        matrices = of_matrices(tree)
        total = None
        for sign, factor in tree[1]:
            value = compute(factor, values)
            if total is None:
                total = value
            elif sign == "/":
                total = total / value
            elif matrices and np.ndim(total) and np.ndim(value):
                total = np.matmul(total, value)
            else:
                total = total * value
        return total
    if kind == "power":
        exponent = compute(tree[2], values)
        return np.exp(exponent) if is_exp(tree) else np.power(compute(tree[1], values), exponent)
    if kind == "function":
        return _FUNCTIONS[tree[1]][1](compute(tree[2], values))
    return np.asarray(_RELATIONS[tree[1]](compute(tree[2], values), compute(tree[3], values))).astype(
        np.float64
    )


def simplified(tree: Any, values: dict[str, Any]) -> Any:
    """The tree with exponents that are numbers computed, and without factors that are one."""
    kind = tree[0]
    if kind in ("symbol", "number"):
        return tree
    if kind == "power" and not is_exp(tree):
        base, exponent = simplified(tree[1], values), compute(tree[2], values)
        if np.ndim(exponent) == 0:
            exponent = complex(exponent) if np.iscomplexobj(exponent) else float(exponent)
            return base if exponent == 1 else ("power", base, ("number", exponent))
        return ("power", base, simplified(tree[2], values))
    if kind == "product":
        kept = [
            (sign, simplified(f, values))
            for sign, f in tree[1]
            if not (
                f[0] == "symbol" and np.ndim(values[f[1]]) == 0 and f[1][0] == "\\" and f[1][:4] != "\\bar"
            )
            or values[f[1]] != 1
        ]
        if not kept or kept[0][0] == "/":
            kept.insert(0, ("·", ("number", 1.0)))
        return kept[0][1] if len(kept) == 1 else ("product", tuple(kept))
    if kind == "sum":
        return ("sum", tuple(simplified(t, values) for t in tree[1]))
    if kind == "neg":
        return ("neg", simplified(tree[1], values))
    return (*tree[:2], *(simplified(t, values) for t in tree[2:]))


def of_matrices(tree: Any) -> bool:
    """Whether a product is one of matrices: one of its factors is transposed."""
    return tree[0] == "product" and any(f[0] == "function" and f[1] == "T" for _, f in tree[1])


def pieces(tree: Any, around: int = 0) -> list[tuple[str, Any]]:
    """A tree as what stands beside each other: ("op", text), ("symbol", name), ("number", value).

    Args:
        tree: what `read` gave.
        around: how tightly what stands around it binds: 0 nothing, 1 a sum, 2 a product, 3 a power.
    """
    kind = tree[0]
    if kind in ("symbol", "number"):
        return [(kind, tree[1])]
    if kind == "neg":
        return _wrapped([("op", "-"), *pieces(tree[1], 2)], around > 1)
    if kind == "sum":
        out = pieces(tree[1][0], 1)
        for term in tree[1][1:]:
            minus = term[0] == "neg"
            out += [("op", " - " if minus else " + "), *pieces(term[1] if minus else term, 2 if minus else 1)]
        return _wrapped(out, around > 1)
    if kind == "product":
        out = []
        for i, (sign, factor) in enumerate(gradient_first(tree[1])):
            tight = 3 if sign == "/" else 2
            out += [*([("op", f" {sign} ")] if i else []), *pieces(factor, tight)]
        return _wrapped(out, around > 2)
    if kind == "power":
        if is_exp(tree):
            return [("op", "exp("), *pieces(tree[2]), ("op", ")")]
        return [*pieces(tree[1], 3), ("op", "^"), *pieces(tree[2], 3)]
    if kind == "function":
        if tree[1] == "T":
            return [*pieces(tree[2], 3), ("op", "ᵀ")]
        return [("op", _FUNCTIONS[tree[1]][0] + "("), *pieces(tree[2]), ("op", ")")]
    sign = _SIGNS.get(tree[1], tree[1])
    return [("op", "["), *pieces(tree[2]), ("op", f" {sign} "), *pieces(tree[3]), ("op", "]")]


def _wrapped(out: list, brackets: bool) -> list:
    return [("op", "("), *out, ("op", ")")] if brackets else out


def gradient_first(factors: tuple) -> list:
    """The factors of a plain product with the gradient in front, as people read the chain rule."""
    if of_matrices(("product", factors)):
        return list(factors)
    front = [f for f in factors if f[0] == "·" and f[1][0] == "symbol" and f[1][1].startswith("\\bar")]
    return front + [f for f in factors if f not in front]
