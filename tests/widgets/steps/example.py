"""Records of the stepper: a network, one without matrices."""

import vistorch
from vistorch import nn, vt


def network():
    """Two layers."""
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    return vt.step(net(vistorch.randn(2, 3)).pow(2).sum(), live="off").record


def small():
    """One op."""
    x = vistorch.ones(2, requires_grad=True)
    return vt.step((x * 3).sum(), live="off").record


EXAMPLES = {"network": network, "small": small}
