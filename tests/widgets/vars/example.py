"""Records of the table of variables: tensors, arrays, modules, none, a hostile name."""

import numpy as np

import vistorch
from vistorch import nn
from vistorch.debug.variables import survey


def several():
    """One of each."""
    vistorch.manual_seed(0)
    net = nn.Linear(3, 2)
    net(vistorch.ones(1, 3)).sum().backward()
    made = {"x": vistorch.arange(12.0).reshape(3, 4), "net": net, "<b>": np.eye(3), "w": net.weight}
    return survey({**made, "nan": vistorch.tensor([float("nan"), 1.0]), "empty": vistorch.zeros(0)})


EXAMPLES = {"several": several, "none": lambda: survey({})}
