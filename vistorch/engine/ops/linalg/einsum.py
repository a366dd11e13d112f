"""einsum: a subscript for every dim, products where subscripts meet, sums over those the output leaves out.

Operands are brought to one order of dims (those of the output, then those to sum), then contracted from left to right:
what both have and the output has not is the inner dim of one batched product. Invariant: every step is a recorded op.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

from ...base.casting import casting
from ...core.registry import METHODS, public
from ...core.tensor import Tensor
from ..shape.rows import diagonal, permute, reshape, unsqueeze, view
from .products import bmm

DOTS = "..."


def _subscript(label: Any) -> str:
    """One entry of a subscript list as a letter."""
    if label is Ellipsis:
        return DOTS
    if isinstance(label, int) and 0 <= label < 52:
        return chr(ord("A") + label) if label < 26 else chr(ord("a") + label - 26)
    raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")


def _arguments(args: tuple) -> tuple[str, tuple]:
    """Equation and operands from either calling convention."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):
        equation = ",".join("".join(map(_subscript, labels)) for labels in args[1::2])
        if len(args) % 2:
            equation += "->" + "".join(map(_subscript, args[-1]))
            return _arguments((equation, *args[:-1][::2]))
        return _arguments((equation, *args[::2]))
    equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        return _arguments((equation, *operands[0]))
    if not isinstance(equation, str):
        kind = type(equation).__name__
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {kind}")
    for i, t in enumerate(operands):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(t).__name__}")
    return equation, operands


def _dots(text: str, i: int, found: bool, where: str, again: str) -> int:
    """Read an ellipsis at `text[i]`; returns the place after it."""
    if found:
        raise RuntimeError(f"einsum(): found '.' for {where} {again}")
    if text[i : i + 3] != DOTS:
        raise RuntimeError(
            f"einsum(): found '.' for {where} that is not part of any ellipsis"
            + (" (...)" if where == "output" else "")
        )
    return i + 3


def _labels(equation: str, ndims: tuple) -> tuple[list, int, list | None]:
    """The subscripts of every operand, the width of the ellipsis, and the output's where the equation gives it."""
    count = len(ndims)
    given, arrow, right = equation.partition("->")
    inputs: list = [[]]
    i = 0
    while i < len(given):
        c = given[i]
        if c == ".":
            i = _dots(
                given,
                i,
                DOTS in inputs[-1],
                f"operand {len(inputs) - 1}",
                "for which an ellipsis was already found",
            )
            inputs[-1].append(DOTS)
            continue
        if c == ",":
            inputs.append([])
            if len(inputs) > count:
                raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
        elif c != " ":
            _letter(c, i)
            inputs[-1].append(c)
        i += 1
    if len(inputs) < count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    wide = _width(inputs, ndims)
    if not arrow:
        return inputs, wide, None
    output: list = []
    i = 0
    while i < len(right):
        c = right[i]
        if c == ".":
            i = _dots(right, i, DOTS in output, "output", "but an ellipsis (...) was already found")
            output.append(DOTS)
            continue
        if c != " ":
            _letter(c, len(given) + 2 + i)
            known = any(c in labels for labels in inputs)
            if not known or c in output:
                why = (
                    "appears more than once in the output"
                    if c in output
                    else "does not appear in the equation for any input operand"
                )
                raise RuntimeError(f"einsum(): output subscript {c} {why}")
            output.append(c)
        i += 1
    return inputs, wide, output


def _letter(c: str, at: int) -> None:
    if not (c.isascii() and c.isalpha()):
        raise RuntimeError(
            f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must be in [a-zA-Z]"
        )


def _width(inputs: list, ndims: tuple) -> int:
    """How many dims the longest ellipsis stands for."""
    wide = 0
    for i, (labels, n) in enumerate(zip(inputs, ndims, strict=True)):
        k = len(labels)
        if DOTS in labels:
            k -= 1
            if k > n:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({k}) is more than the number of dimensions "
                    f"({n}) for operand {i}"
                )
            wide = max(wide, n - k)
        elif k != n:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({k}) does not match the number of dimensions "
                f"({n}) for operand {i} and no ellipsis was given"
            )
    return wide


@lru_cache(512)
def _parsed(equation: str, ndims: tuple) -> tuple:
    """The subscripts of the operands, their common order of dims, and how many of these the output keeps.

    The dims of an ellipsis are the subscripts 0, 1, ... counted so that the last is the last.
    """
    inputs, wide, output = _labels(equation, ndims)
    spread = [
        [
            x
            for label in labels
            for x in (range(wide - n + len(labels) - 1, wide) if label == DOTS else (label,))
        ]
        for labels, n in zip(inputs, ndims, strict=True)
    ]
    letters = sorted({x for labels in inputs for x in labels if x != DOTS})
    if output is None:
        once = [c for c in letters if sum(labels.count(c) for labels in inputs) == 1]
        kept: list = [*range(wide), *once]
    else:
        kept = [x for label in output for x in (range(wide) if label == DOTS else (label,))]
    rest = [x for x in [*range(wide), *letters] if x not in kept]
    return spread, [*kept, *rest], len(kept)


def _aligned(i: int, t: Tensor, labels: list, order: list, sizes: dict) -> Tensor:
    """An operand with its dims in the common order, a dim of one where it has none."""
    first: dict = {}
    dim = 0
    for label in labels:
        n = t._data.shape[dim]
        if label in first:
            m = t._data.shape[first[label]]
            if n != m:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {i} but the sizes don't match, {n} != {m}"
                )
            t = diagonal(t, 0, first[label], dim)
            last, at = t._data.ndim - 1, first[label]
            t = permute(t, (*range(at), last, *range(at, last)))
            continue
        if n != 1:
            before = sizes.setdefault(label, n)
            if before != n:
                raise RuntimeError(_misfit(i, dim, label, n, before))
        first[label] = dim
        dim += 1
    for label in order:
        if label not in first:
            first[label] = t._data.ndim
            t = unsqueeze(t, t._data.ndim)
    return permute(t, tuple(first[label] for label in order))


def _misfit(i: int, dim: int, label: Any, n: int, before: int) -> str:
    if isinstance(label, str):
        return (
            f"einsum(): subscript {label} has size {n} for operand {i} which does not broadcast with previously seen "
            f"size {before}"
        )
    return (
        f"einsum(): dimension {dim} covered by ellipsis in operand {i}has size {n} which does not broadcast with "
        f"previously seen ellipsis with size {before} for the respective dimension"
    )


def _product(x: Any, y: Any, inner: list) -> Tensor:
    """The product of two aligned operands, summed over `inner`, whose dims stay as ones."""
    if not inner:
        return x * y
    a, b = x._data.shape, y._data.shape
    both: list = []
    left: list = []
    right: list = []
    for d in range(len(a)):
        if d not in inner:
            (both if a[d] != 1 and b[d] != 1 else left if a[d] != 1 else right).append(d)

    def size(shape: tuple, dims: list) -> int:
        n = 1
        for d in dims:
            n *= shape[d]
        return n

    batch, met = size(a, both), size(a, inner)
    p = reshape(permute(x, (*both, *left, *inner, *right)), (batch, size(a, left), met))
    q = reshape(permute(y, (*both, *inner, *right, *left)), (batch, met, size(b, right)))
    made = [*both, *left, *inner, *right]
    shape = [*[a[d] for d in (*both, *left)], *[1] * len(inner), *[b[d] for d in right]]
    return permute(view(bmm(p, q), tuple(shape)), tuple(made.index(d) for d in range(len(a))))


@lru_cache(maxsize=256)
def _contraction(equation: str, ranks: tuple) -> tuple | None:
    """How two operands are one batched product: the dims of each and of the result in order, and what they are called.

    None where it takes more: an ellipsis, a subscript twice in an operand, one summed in a single operand, none met.
    """
    read, arrow, output = equation.replace(" ", "").partition("->")
    terms = read.split(",")
    if not arrow or len(terms) != 2 or tuple(map(len, terms)) != ranks:
        return None
    if any(len(set(text)) != len(text) or not text.isalpha() for text in (*terms, output)):
        return None
    a, b = terms
    if set(output) - set(a) - set(b):
        return None
    both, left = [c for c in output if c in a and c in b], [c for c in output if c in a and c not in b]
    right, inner = [c for c in output if c not in a], [c for c in a if c in b and c not in output]
    if (
        not inner
        or len(left) + len(both) + len(inner) != len(a)
        or len(right) + len(both) + len(inner) != len(b)
    ):
        return None
    made = [*both, *left, *right]
    return (
        tuple(a.index(c) for c in (*both, *left, *inner)),
        tuple(b.index(c) for c in (*both, *inner, *right)),
        tuple(made.index(c) for c in output),
        (len(both), len(left), len(inner)),
    )


def _turned(t: Tensor, order: tuple) -> Tensor:
    return t if order == tuple(range(len(order))) else permute(t, order)


def _contracted(equation: str, x: Tensor, y: Tensor) -> Tensor | None:
    """The product of two operands where `_contraction` knows it and no dim is one, which would broadcast."""
    a, b = x._data.shape, y._data.shape
    plan = _contraction(equation, (len(a), len(b)))
    if plan is None or 1 in a or 1 in b:
        return None
    of_x, of_y, of_out, (both, left, inner) = plan
    a, b = [a[d] for d in of_x], [b[d] for d in of_y]
    if a[:both] != b[:both] or a[both + left :] != b[both : both + inner]:
        return None
    x, y = _turned(x, of_x), _turned(y, of_y)
    sizes = prod(a[:both]), prod(a[both : both + left]), prod(a[both + left :]), prod(b[both + inner :])
    if both != 1 or left != 1 or inner != 1:
        x = reshape(x, sizes[:3])
    if both != 1 or inner != 1 or len(b) != 3:
        y = reshape(y, (sizes[0], *sizes[2:]))
    out, shape = bmm(x, y), (*a[: both + left], *b[both + inner :])
    if of_out == tuple(range(len(shape))):
        return view(out, shape)
    out = permute(out if out._data.shape == shape else view(out, shape), of_out)
    return view(out, out._data.shape)


@public(method=False)
def einsum(*args):
    """Sums of products by Einstein's convention.

    Args:
        *args: the equation ("ij,jk->ik") and the operands; or each operand with the list of its subscripts (0 to 51),
            and last, if wanted, the output's.

    Example:
        >>> import vistorch
        >>> a = vistorch.tensor([[1, 2], [3, 4]])
        >>> vistorch.einsum("ij,jk->ik", a, a)
        tensor([[ 7, 10],
                [15, 22]])
        >>> vistorch.einsum("ii", a)
        tensor(5)
    """
    if casting.on and (recast := casting.ask(einsum, locals())):
        return recast[0]
    equation, operands = _arguments(args)
    if len(operands) == 2 and (out := _contracted(equation, *operands)) is not None:
        return out
    labels, order, kept = _parsed(equation, tuple([t._data.ndim for t in operands]))
    sizes: dict = {}
    ops = [
        _aligned(i, t, found, order, sizes) for i, (t, found) in enumerate(zip(operands, labels, strict=True))
    ]
    n = len(order)
    x = ops[0]
    if len(ops) == 1:
        return METHODS["sum"](x, tuple(range(kept, n))) if n > kept else x
    # in how many operands a dim to sum is more than one: with two left, it is summed by their product
    counts = {d: sum(t._data.shape[d] != 1 for t in ops) for d in range(kept, n)}
    for y in ops[1:]:
        inner, alone_x, alone_y = [], [], []
        for d in range(kept, n):
            a, b = x._data.shape[d] != 1, y._data.shape[d] != 1
            if a and b:
                counts[d] -= 1
                if counts[d] == 1:
                    inner.append(d)
                    counts[d] = 0
            elif counts[d] == 1 and (a or b):
                (alone_x if a else alone_y).append(d)
                counts[d] = 0
        if alone_x:
            x = METHODS["sum"](x, tuple(alone_x), True)
        if alone_y:
            y = METHODS["sum"](y, tuple(alone_y), True)
        x = _product(x, y, inner)
    return view(x, x._data.shape[:kept]) if n > kept else x
