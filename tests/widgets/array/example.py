"""Records of arrays: a plain one with what is not finite, complex numbers, a parameter with its gradient, a strip."""

import numpy as np

import vistorch
from vistorch import nn
from vistorch.debug.array import parameter, record, strip


def plain():
    """A matrix with NaN and infinity."""
    values = np.linspace(-3, 3, 70 * 50, dtype=np.float32).reshape(70, 50)
    values[2, 3], values[4, 5] = np.nan, np.inf
    return record(vistorch.from_numpy(values), name="w")


def linked():
    """A parameter with its gradient and its last update."""
    values = vistorch.arange(12.0).reshape(3, 4)
    return parameter(nn.Parameter(values), values * 2, values - 5)


def image():
    """A picture."""
    return record(vistorch.linspace(0, 1, 3 * 12 * 10).reshape(3, 12, 10), name="picture")


EXAMPLES = {
    "plain": plain,
    "whole": lambda: record(vistorch.arange(24).reshape(2, 3, 4) - 2**60, name="n"),
    "number": lambda: record(vistorch.tensor(0.5), name="loss"),
    "empty": lambda: record(vistorch.zeros(0, 3), name="none"),
    "complex": lambda: record(vistorch.complex(vistorch.ones(4, 5), vistorch.zeros(4, 5)), name="z"),
    "linked": linked,
    "image": image,
    "large": lambda: record(vistorch.arange(500 * 400.0).reshape(500, 400), name="large"),
    "strip": lambda: strip({"a": vistorch.ones(3, 3), "b": np.eye(4)}),
}
