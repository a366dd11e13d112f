"""Records of shape errors: a product, a broadcast, in a layer."""

import vistorch
from vistorch import nn
from vistorch.debug.shapes import explain


def failing(does):
    """The record of what was raised."""
    try:
        does()
    except RuntimeError as error:
        return explain(error)
    raise AssertionError("nothing was raised")


EXAMPLES = {
    "product": lambda: failing(lambda: vistorch.ones(2, 3) @ vistorch.ones(4, 5)),
    "broadcast": lambda: failing(lambda: vistorch.ones(2, 3) + vistorch.ones(4)),
    "layer": lambda: failing(lambda: nn.Linear(3, 2)(vistorch.ones(5, 4))),
}
