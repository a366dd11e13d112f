"""What usually helps against a bad value, by the op that produced it.

Invariant: a cure is advice in one sentence and names the quantity to change; what stands in backticks is Python.
"""

from __future__ import annotations

import ast

_FORWARD = {
    "log": "take the log of a clamped value, such as `{0}.clamp_min(1e-12)`, before any where or mask",
    "log2": "take the log of a clamped value, such as `{0}.clamp_min(1e-12)`",
    "log10": "take the log of a clamped value, such as `{0}.clamp_min(1e-12)`",
    "log1p": "keep `{0}` above -1, for example with `clamp_min(-1 + 1e-7)`",
    "div": "keep the divisor away from zero, such as `{1}.clamp_min(1e-12)` or `{1} + eps`",
    "reciprocal": "keep `{0}` away from zero, such as `{0}.clamp_min(1e-12)`",
    "sqrt": "keep `{0}` above zero: `({0} + 1e-12).sqrt()`; at zero its derivative is infinite",
    "rsqrt": "add a small number under the root: `({0} + 1e-12).rsqrt()`",
    "exp": "subtract the largest value first (`{0} - {0}.amax(...)`), or use logsumexp or log_softmax",
    "expm1": "keep `{0}` below 88 (float32), or work with logarithms",
    "pow": "keep the base above zero and the exponent moderate; clamp `{0}`",
    "square": "scale `{0}` down, or compute in float64",
    "softmax": "a row whose entries are all -inf has no softmax: leave at least one entry unmasked",
    "log_softmax": "a row whose entries are all -inf has no log_softmax: leave at least one entry unmasked",
    "logsumexp": "a row whose entries are all -inf or that holds inf: leave at least one finite entry",
    "acos": "keep `{0}` inside [-1, 1]: `{0}.clamp(-1 + 1e-7, 1 - 1e-7)`",
    "asin": "keep `{0}` inside [-1, 1]: `{0}.clamp(-1 + 1e-7, 1 - 1e-7)`",
    "atanh": "keep `{0}` inside (-1, 1): `{0}.clamp(-1 + 1e-7, 1 - 1e-7)`",
    "logit": "give logit an `eps`, or stay with logits and a loss that takes them",
    "var": "a variance needs more than one element; pass correction=0 or a larger batch",
    "std": "a deviation needs more than one element; pass correction=0 or a larger batch",
    "mean": "the mean of no element is NaN: check that `{0}` is not empty, for example after a mask",
    "binary_cross_entropy": "use binary_cross_entropy_with_logits, which takes the logits themselves",
    "nll_loss": "check that not every target is ignored: the mean of no sample is NaN",
}
_BACKWARD = {
    "log": "take the log of a clamped value, such as `{0}.clamp_min(1e-12)`: a mask after it does not stop 0 / 0",
    "sqrt": "take the root of `{0} + 1e-12`: at zero its derivative is infinite",
    "norm": "the norm has no derivative at zero: use `({0}.pow(2).sum() + 1e-12).sqrt()`",
    "std": "the deviation has no derivative where all elements are equal: use `(var + eps).sqrt()`",
    "div": "keep the divisor away from zero before dividing; a mask afterwards does not stop 0 * inf",
    "pow": "keep the base away from zero where the exponent is below 1",
    "where": "choose before the risky op, not after it: `f(where(ok, x, safe))` instead of `where(ok, f(x), safe)`",
}
_DOMAINS = (
    "acos",
    "asin",
    "atanh",
    "div",
    "log",
    "log1p",
    "log2",
    "log10",
    "logit",
    "reciprocal",
    "rsqrt",
    "sqrt",
)
_MULTIPLIES = (
    "a gradient of 0 times an infinite factor is NaN: clamp the factor instead of masking the product"
)
STANDS = ("x", "divisor", "other")  # for inputs of which nothing is known, and numbers
_LARGE = "values grow beyond the type's range: lower the learning rate or the scale, or clip gradients"


def cure_of(
    op: str, backward: bool, inputs: list[str], overflowed: bool = False, diverged: bool = False
) -> str:
    """What usually helps.

    Args:
        op: the row's name.
        backward: whether the value came from backward.
        inputs: what the op's inputs are called.
        overflowed: whether it was given numbers that had grown large, and made them infinite.
        diverged: whether the loss had grown before: then the op is not to blame.
    """
    if diverged or (overflowed and (_is(op, "pow") or _is(op, "square"))):
        return _LARGE
    if _is(op, "div") and len(inputs) > 1 and _number(inputs[1]):
        return f"the divisor is the number {inputs[1]} itself: divide by one that is not zero"
    # a number that was written there is no tensor to call a method of
    said = [stand if _number(name) else entry(name) for name, stand in zip(inputs, STANDS, strict=False)]
    names = said + list(STANDS[len(said) :])
    stem = next(
        (k for k in sorted(_FORWARD.keys() | _BACKWARD.keys(), key=len, reverse=True) if _is(op, k)), ""
    )
    text = (_BACKWARD.get(stem) if backward else None) or (_FORWARD.get(stem) if not backward else None)
    if text is None:
        text = (
            _MULTIPLIES
            if backward and _is(op, "mul")
            else _FORWARD.get(stem, _LARGE)
            if not backward
            else _LARGE
        )
    return text.format(*names)


def leaves_domain(op: str) -> bool:
    """Whether an op gives bad values where its argument leaves its domain, however small the numbers are."""
    return any(_is(op, stem) for stem in _DOMAINS)


def entry(name: str) -> str:
    """What a person wrote, so that a method can follow: `(x - 1)`; `x` for what is no expression."""
    tree = _expression(name)
    if tree is None:
        return STANDS[0]
    simple = isinstance(tree, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return name if simple else f"({name})"


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _number(text: str) -> bool:
    """Whether a number stands there, with a sign or without."""
    tree = _expression(text)
    tree = tree.operand if isinstance(tree, ast.UnaryOp) else tree
    return isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float, complex))


def _is(op: str, stem: str) -> bool:
    return op == stem or op.startswith(stem + "_")
