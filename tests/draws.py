"""Each test draws the same numbers, whichever ran before it."""

import random

import numpy as np

from tests.leftovers import libraries

_first = {}


def again(module):
    """Put every source of random numbers that a test may share with others back to its start.

    Args:
        module: the test's file; its own generators stand again where they stood when it was imported. None for an
            example in a docstring.
    """
    random.seed(0)
    np.random.seed(0)
    for library, _ in libraries():
        library.manual_seed(0)
    for value in vars(module).values() if module is not None else ():
        if isinstance(value, np.random.Generator):
            bits = value.bit_generator
            _, state = _first.setdefault(id(value), (value, bits.state))
            bits.state = state
