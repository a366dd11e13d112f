"""Each test draws the same numbers, whichever ran before it."""

import random
import sys

import numpy as np

import vistorch

_first = {}


def again(module):
    """Put every source of random numbers that a test may share with others back to its start.

    Args:
        module: the test's file; its own generators stand again where they stood when it was imported. None for an
            example in a docstring.
    """
    random.seed(0)
    np.random.seed(0)
    vistorch.manual_seed(0)
    if (torch := sys.modules.get("torch")) is not None:
        # Its manual_seed also queues a call for each accelerator, with a traceback, and forgets none of them.
        torch.default_generator.manual_seed(0)
    for value in vars(module).values() if module is not None else ():
        if isinstance(value, np.random.Generator):
            bits = value.bit_generator
            _, state = _first.setdefault(id(value), (value, bits.state))
            bits.state = state
