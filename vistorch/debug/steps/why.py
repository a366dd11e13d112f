"""Why a gradient is what it is, in one sentence an op: what a reader is shown who has guessed it.

Invariant: a sentence is true of every entry it is said of; where an op has none, the one for its kind of question is.
"""

from __future__ import annotations

SHAPE = "A gradient has the shape of the tensor it belongs to: one slope for each number."
NUMBER = "What arrived, times how strongly the operation responds to this input."
SIGN = "What arrived, times the slope: two signs that agree give +, two that differ give −."

WHY = {
    "Add": "A sum hands on to each of its terms what arrived, unchanged.",
    "Addmm": "Each weight and each input respond as strongly as what they were multiplied by.",
    "Amax": "Only the largest entry was passed on, so only it gets the gradient.",
    "BatchNorm": "A channel is centred and scaled, so what all its entries share is taken away from the gradient.",
    "BinaryCrossEntropyWithLogits": "The probability that came out, less the target: too high gives +, too low −.",
    "Clamp": "Between its bounds a clamp changes nothing; outside of them the output no longer moves.",
    "Cos": "The slope of a cosine is minus the sine.",
    "Div": "A quotient responds to its numerator as 1 over the denominator.",
    "Dot": "In a product each factor responds as strongly as the other one is large.",
    "Exp": "The slope of an exponential is its own value.",
    "Log": "The slope of a logarithm is 1 over the number: small numbers respond strongly.",
    "LogSoftmax": "A score is pushed by the probability it was given, less what arrived for it: the scores compete.",
    "Max": "Only the largest entry was passed on, so only it gets the gradient.",
    "MaxPool2D": "Only the largest entry of a window was passed on, so only it gets the gradient.",
    "Mean": "Each entry is one of n in the mean, so each gets an n-th of what arrived.",
    "Mm": "Each factor of a product responds as strongly as what it was multiplied by.",
    "MseLoss": "The slope of a squared error is twice the error; the mean divides it by how many there are.",
    "Mul": "In a product each factor responds as strongly as the other one is large.",
    "Neg": "A change of sign changes the sign of the gradient.",
    "NllLoss": "A higher score for the true class makes the loss smaller; the other classes are not read.",
    "Pow": "A power responds as its exponent times the power below: a square as twice the number.",
    "Sigmoid": "The slope of a sigmoid is y (1 − y), at most a quarter, and nearly nothing where it is flat.",
    "Sin": "The slope of a sine is the cosine.",
    "Softmax": "The entries of a softmax share one whole: what one gains the others lose.",
    "Sqrt": "The slope of a root is 1 over twice the root.",
    "Sub": "What is subtracted from gets what arrived; what is subtracted gets it with the other sign.",
    "Sum": "Each entry counts once in the sum, so each gets all that arrived.",
    "Tanh": "The slope of tanh is 1 − y²: nearly nothing where it is flat.",
}
OFF = "{op} gave 0 here, so this unit was off: it let nothing through, and nothing flows back."
LET = "{op} let this entry through as it was, and so it does with the gradient."


def why_of(op: str, kind: str, value: float | None) -> str:
    """The sentence for an answer.

    Args:
        op: the short name of the node's op.
        kind: what was asked: "number", "sign" or "shape".
        value: the answer, None for a shape.

    Example:
        >>> from vistorch.debug.steps.why import why_of
        >>> why_of("Sum", "number", -2.5)
        'Each entry counts once in the sum, so each gets all that arrived.'
    """
    if kind == "shape":
        return SHAPE
    if op in ("Relu", "Threshold"):
        return (OFF if value == 0 else LET).format(op="ReLU" if op == "Relu" else op)
    return WHY.get(op, SIGN if kind == "sign" else NUMBER)
