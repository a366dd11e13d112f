"""A node's formula with this node's numbers in it: `0.75 · 2 · 3 = 4.5`.

The formula's symbols get what the node saved and what came in; the tree is then computed and compared with what the
node really sent, so a formula is never shown with numbers that do not give its result.

Invariant: entries of small arrays are written out; of a large one, its largest entry and the arrays' shapes and norms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numpy_warnings import without_warnings
from ..numbers import host, norm_of, plain
from .latex import compute, of_matrices, pieces, read, simplified, symbols
from .words import index, number, shape

SMALL = 3  # rows and columns that are written out
MOST = 1 << 18  # elements up to which a formula is computed again
TERMS = 3  # terms of a sum that are written out
MANY = 1 << 30
NOTHING = "a sum of nothing"
CONSTANTS = {
    "alpha": "\\alpha",
    "beta": "\\beta",
    "value": "v",
    "weight": "w",
    "exponent": "n",
    "n": "n",
    "p": "p",
    "ord": "p",
    "threshold": "t",
    "min": "a",
    "max": "b",
}


@dataclass
class Numbers:
    r"""A formula with numbers.

    `text` is one line; `latex` the same as LaTeX with small matrices; `parts` what stands beside each other: pairs
    ("op", text), ("number", text) and ("array", {"symbol", "role", "rows" or None, "shape", "norm"}), roles "gradient",
    "forward", "result". `at` is the entry that `text` is about, None if it is about all.
    """

    text: str
    latex: str
    parts: list[tuple[str, Any]]
    at: tuple[int, ...] | None
    note: str

    def wire(self, rich: bool = True) -> dict[str, Any]:
        """As it travels; without what a long record has no room for where it is not rich."""
        if not rich:
            at = None if self.at is None else list(self.at)
            return {"text": self.text, "latex": "", "at": at, "note": self.note, "parts": []}
        parts = [{"kind": k, **(v if isinstance(v, dict) else {"text": v})} for k, v in self.parts]
        at = None if self.at is None else list(self.at)
        return {"text": self.text, "latex": self.latex, "parts": parts, "at": at, "note": self.note}


@dataclass
class Known:
    """What is known of one node when it runs, by the names of its row; `fixed`: inputs that take no gradient."""

    rule: Any
    incoming: Any
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    consts: dict[str, Any]
    fixed: frozenset[str] = frozenset()


def numbers_of(known: Known, name: str, result: Any) -> Numbers | None:
    """The formula of one input with numbers, or None if they are not known or do not give the result.

    Args:
        known: what is known of the node.
        name: the input.
        result: what the node sent there.
    """
    found = solved(known, name, result)
    return None if found is None else found.written()


@dataclass
class Solved:
    """A formula that gives what a node sent: its tree, the value and role of each symbol, and both results.

    `inputs` names the input that a symbol stands for, `raw` is what the tree computes before it is summed to `result`.
    """

    tree: Any
    values: dict[str, Any]
    roles: dict[str, str]
    inputs: dict[str, str]
    raw: np.ndarray
    result: np.ndarray

    def written(self, at: tuple[int, ...] | None = None) -> Numbers:
        """The formula with numbers, at an entry of what was sent: by default the largest."""
        at = place_of(self.result) if at is None else at
        return _written(self.tree, self.values, self.roles, self.inputs, self.raw, self.result, at)

    def products(self, at: tuple[int, ...]) -> int:
        """How many products, of those that are not zero, an entry is the sum of."""
        if of_matrices(self.tree):
            pairs = _pairs(self.tree, self.values, at)
            return MANY if pairs is None else max(1, int(((pairs[0] != 0) & (pairs[1] != 0)).sum()))
        if self.raw.size > self.result.size:
            return max(1, int((_summands(self.raw, self.result.shape, at) != 0).sum()))
        return 1 if self.raw.size else MANY

    def read(self, at: tuple[int, ...]) -> list[tuple[str, str, str, Any]]:
        """Each symbol of the formula with its role, the input it stands for, and its number at an entry.

        Of what was summed or multiplied as a matrix there is no such number: then it is None.
        """
        to, there = self.result.shape, at
        if self.raw.size == self.result.size and self.raw.shape != to:  # dims of size 1 are gone
            flat = int(np.ravel_multi_index(at, to)) if at else 0
            to, there = self.raw.shape, tuple(int(i) for i in np.unravel_index(flat, self.raw.shape))
        plain = not of_matrices(self.tree) and self.raw.size <= self.result.size
        found = []
        known_ones = symbols(self.tree) & self.values.keys()  # the e of an exponential is no one's value
        for symbol in sorted(known_ones, key=lambda s: (self.roles.get(s) != "gradient", s)):
            value = self.values[symbol]
            known = _pick(value, there, to) if plain or np.size(value) == 1 else None
            found.append((symbol, self.roles.get(symbol, ""), self.inputs.get(symbol, ""), known))
        return found


def solved(known: Known, name: str, result: Any) -> Solved | None:
    """The formula of one input, computed; None if it is not known or does not give the result.

    Args:
        known: what is known of the node.
        name: the input.
        result: what the node sent there.
    """
    latex = known.rule.formula.get(name)
    found = None if latex is None else read(latex)
    if found is None or isinstance(known.incoming, list) or known.incoming is None:
        return None
    if not 0 < size_of(result) <= MOST or size_of(known.incoming) > MOST:
        return None
    result = host(result)
    values, roles, inputs = _values(known, symbols(found[1]), result)
    tree = found[1]
    try:
        with without_warnings():
            raw = np.asarray(compute(tree, values))
            fitted = _fit(raw, result.shape)
            exact = plain(result)
            loose = 1e-2 if result.dtype.itemsize == 2 else 1e-4
            same = np.allclose(
                fitted, exact, rtol=loose, atol=loose * max(norm_of(result), 1e-30), equal_nan=True
            )
    except (KeyError, ValueError, TypeError):
        return None
    return Solved(simplified(tree, values), values, roles, inputs, raw, exact) if same else None


def size_of(value: Any) -> int:
    """How many elements an array or a tensor has; nothing of it is fetched."""
    return math.prod(value.shape)


def _values(known: Known, wanted: set[str], result: np.ndarray) -> tuple[dict, dict, dict]:
    """What each symbol stands for, whether it is the gradient, forward's, or a constant, and which input it is."""
    values: dict[str, Any] = {}
    roles: dict[str, str] = {}
    names = {}
    for name, latex in known.rule.formula.items():
        found = read(latex)
        if found is not None:
            names[name] = found[0]
    g = plain(host(known.incoming))
    gradient = next((s for s in wanted if s.startswith("\\bar") and s[5:] not in names.values()), None)
    out = "" if gradient is None else gradient[5:]
    for name, symbol in names.items():
        if name in known.inputs:
            values[symbol] = value = _number_or_array(known.inputs[name])
            if name in known.fixed and np.ndim(value) == 0:  # a number the person typed
                values[symbol] = value if isinstance(value, (int, float, complex)) else value.item()
            else:
                roles[symbol] = "forward"
    if gradient is not None:
        if "out" in known.outputs:
            values[out], roles[out] = _number_or_array(known.outputs["out"]), "forward"
            if known.rule.name == "relu" and "x" not in values:  # the output is positive where the input is
                values["x"], roles["x"] = values[out], "forward"
        values[gradient], roles[gradient] = _spread(g, known), "gradient"
    for name, value in known.consts.items():
        symbol = CONSTANTS.get(name)
        if symbol is not None and isinstance(value, (int, float)) and symbol not in values:
            values[symbol] = value
    if "n" in wanted and "n" not in values and g.size:
        values["n"] = result.size // g.size  # how many elements were averaged
    inputs = {symbol: name for name, symbol in names.items()}
    if out and out in values:
        inputs[out] = "out"
    return values, roles, inputs


def _number_or_array(value: Any) -> Any:
    if isinstance(value, (int, float, complex)):
        return value
    return plain(host(value))


def _spread(g: np.ndarray, known: Known) -> np.ndarray:
    """The gradient of a reduction with the dims it lost."""
    dims, keep = known.consts.get("dims"), known.consts.get("keepdim")
    if isinstance(dims, tuple) and keep is False and all(isinstance(d, int) for d in dims):
        return np.expand_dims(g, dims)
    return g


def _fit(raw: np.ndarray, to: tuple[int, ...]) -> np.ndarray:
    """Sum what was broadcast, repeat what was reduced."""
    if raw.shape == to:
        return raw
    if raw.ndim >= len(to):
        lead = raw.ndim - len(to)
        dims = tuple(d for d in range(raw.ndim) if d < lead or (to[d - lead] == 1 and raw.shape[d] != 1))
        summed = raw.sum(dims, keepdims=True)
        if summed.size == int(np.prod(to)):
            return summed.reshape(to)
    return np.broadcast_to(raw, to)


def place_of(result: np.ndarray) -> tuple[int, ...]:
    """The entry that is shown: the first that is not finite, or else the largest."""
    wrong = np.flatnonzero(~np.isfinite(result))
    flat = wrong[0] if wrong.size else np.argmax(np.abs(result))
    return tuple(int(i) for i in np.unravel_index(flat, result.shape))


def _written(
    tree: Any,
    values: dict,
    roles: dict,
    inputs: dict,
    raw: np.ndarray,
    result: np.ndarray,
    at: tuple[int, ...],
) -> Numbers:
    value = number(result[at].item())
    if of_matrices(tree):
        text = _matrix_entry(tree, values, at, result.shape) or _shapes(tree, values)
        alike = result.size == 1
    elif raw.size > result.size:
        text, alike = _terms(raw, result.shape, at), result.size == 1
    elif raw.size == 0:
        text, alike = NOTHING, True
    else:
        # where only dims of size 1 are gone, an entry keeps its number, and what the formula reads has them still
        to = raw.shape if raw.size == result.size else result.shape
        flat = np.ravel_multi_index(at, result.shape) if at else 0
        there = tuple(int(i) for i in np.unravel_index(flat, to))
        text = _entry(tree, values, there, to)
        alike = result.size <= 64 and all(_entry(tree, values, other, to) == text for other in np.ndindex(to))
    line = f"{text} = {value}"
    if not alike:
        line = f"{index(at)}: {line}"
    parts = [_part(kind, what, values, roles, inputs) for kind, what in pieces(tree)]
    if len(parts) == 1 and parts[0][0] == "array" and not (raw.size > result.size):
        line = value if alike else f"{index(at)}: {value}"
    parts += [("op", " = "), ("array", _array("", "result", result))]
    note = "".join(_noted(kind, what, values, roles) for kind, what in pieces(tree))
    return Numbers(line, _latex(parts), parts, None if alike else at, _note(note, tree, roles))


def _note(formula: str, tree: Any, roles: dict) -> str:
    read = sorted(s for s in symbols(tree) if roles.get(s) == "forward")
    if not read:
        return formula
    return f"{formula}, with the {' and '.join(read)} that forward saved"


def _noted(kind: str, what: Any, values: dict, roles: dict) -> str:
    if kind != "symbol":
        return what if kind == "op" else number(_whole(what))
    if what not in roles:
        return number(_whole(values[what]) if isinstance(values[what], float) else values[what])
    return "g" if roles[what] == "gradient" else what


def _pick(value: Any, at: tuple[int, ...], to: tuple[int, ...]) -> Any:
    """One entry of an array that is broadcast to a shape."""
    value = np.asarray(value)
    if value.size == 1:
        return value.reshape(-1)[0].item()
    return np.broadcast_to(value, to)[at].item()


def _entry(tree: Any, values: dict, at: tuple[int, ...], to: tuple[int, ...]) -> str:
    out, tokens = "", list(pieces(tree))
    for i, (kind, what) in enumerate(tokens):
        if kind == "op":
            out += what
            continue
        written = number(_pick(values[what], at, to) if kind == "symbol" else _whole(what))
        after = tokens[i + 1][1] if i + 1 < len(tokens) and tokens[i + 1][0] == "op" else ""
        if out.endswith("(") and after.startswith(")"):
            out += written
        elif written.endswith("j") and len(tokens) > 1:
            out += f"({written})"
        else:
            negative = written.startswith("-") and (after.startswith("^") or (out and not out.endswith("(")))
            out += f"({written})" if negative else written
    return out


def _whole(value: Any) -> Any:
    return value if isinstance(value, complex) or not float(value).is_integer() else int(value)


def sum_of(count: int, terms: list[str]) -> str:
    """The first terms of a sum, and how many there are."""
    text = terms[0]
    for term in terms[1:TERMS]:
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text + (f" + … ({count} terms)" if count > TERMS else "")


def _terms(raw: np.ndarray, to: tuple[int, ...], at: tuple[int, ...]) -> str:
    """What was summed to one entry, because an input was broadcast; terms that are zero are left out."""
    terms = _summands(raw, to, at)
    nonzero = terms[terms != 0]
    nonzero = nonzero if nonzero.size else terms[:1]
    return sum_of(nonzero.size, [number(t.item()) for t in nonzero[:TERMS]])


def _summands(raw: np.ndarray, to: tuple[int, ...], at: tuple[int, ...]) -> np.ndarray:
    """The entries that were summed to one."""
    lead = raw.ndim - len(to)
    where = tuple(
        slice(None) if d < lead or (to[d - lead] == 1 and raw.shape[d] != 1) else at[d - lead]
        for d in range(raw.ndim)
    )
    return raw[where].reshape(-1)


def _pairs(tree: Any, values: dict, at: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, list] | None:
    """The row and the column that meet in an entry of a product of two matrices, and the plain numbers before it."""
    factors = [compute(f, values) for _, f in tree[1]]
    matrices = [np.asarray(f) for f in factors if np.ndim(f)]
    if len(matrices) != 2 or any(m.ndim != 2 for m in matrices) or len(at) != 2:
        return None
    return matrices[0][at[0]], matrices[1][:, at[1]], [f for f in factors if not np.ndim(f)]


def _matrix_entry(tree: Any, values: dict, at: tuple[int, ...], to: tuple[int, ...]) -> str | None:
    """One entry of a product of matrices as the sum it is."""
    pairs = _pairs(tree, values, at)
    if pairs is None:
        return None
    left, right, scale = pairs
    if not left.size:
        return NOTHING
    keep = (left != 0) & (right != 0)
    if keep.any():
        left, right = left[keep], right[keep]
    else:
        left, right = left[:1], right[:1]
    first = zip(left[:TERMS], right[:TERMS], strict=True)
    text = sum_of(left.size, [f"{signed(a.item())} · {signed(b.item())}" for a, b in first])
    before = [number(s) for s in scale if s != 1]
    return f"{' · '.join(before)} · ({text})" if before else text


def signed(value: Any) -> str:
    """A number as a factor: in brackets where its sign would run into what stands before it."""
    text = number(value)
    return f"({text})" if text.startswith("-") or text.endswith("j") else text


def _shapes(tree: Any, values: dict) -> str:
    out = ""
    for kind, what in pieces(tree):
        out += (
            str(what) if kind == "op" else number(what) if kind == "number" else shape(np.shape(values[what]))
        )
    return out


def _part(kind: str, what: Any, values: dict, roles: dict, inputs: dict) -> tuple[str, Any]:
    if kind == "op":
        return "op", what
    if kind == "number":
        return "number", number(_whole(what))
    value = values[what]
    if np.ndim(value) == 0 and what not in roles:
        return "number", number(_whole(value) if isinstance(value, float) else value)
    array = _array(what, roles.get(what, ""), np.asarray(value))
    return "array", {**array, "input": inputs.get(what, "")}


def _array(symbol: str, role: str, value: np.ndarray) -> dict[str, Any]:
    rows = None
    if value.ndim <= 2 and all(n <= SMALL for n in value.shape) and value.size:
        rows = [[number(x.item()) for x in row] for row in np.atleast_2d(value)]
    return {"symbol": symbol, "role": role, "rows": rows, "shape": list(value.shape), "norm": norm_of(value)}


def _latex(parts: list[tuple[str, Any]]) -> str:
    return "".join(_LATEX[kind](what) for kind, what in parts)


def _latex_op(text: str) -> str:
    for sign, command in (
        ("·", "\\cdot"),
        ("√(", "\\sqrt{("),
        ("≤", "\\le"),
        ("≥", "\\ge"),
        ("≠", "\\ne"),
        ("ᵀ", "^T"),
    ):
        text = text.replace(sign, command)
    return text.replace("\\sqrt{(", "\\surd(")


def _latex_array(array: dict[str, Any]) -> str:
    rows = array["rows"]
    if rows is None:
        size = " \\times ".join(str(n) for n in array["shape"])
        symbol = "g" if array["role"] == "gradient" else array["symbol"] or "r"
        return f"{symbol}_{{{size}}}"
    if len(rows) == 1 and len(rows[0]) == 1:
        return rows[0][0]
    return "\\begin{pmatrix}" + " \\\\ ".join(" & ".join(r) for r in rows) + "\\end{pmatrix}"


_LATEX = {"op": _latex_op, "number": str, "array": _latex_array}
