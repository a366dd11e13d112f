"""Records of gradient flow: in range, vanishing, exploding, zero, not finite, absent."""

import vistorch
from vistorch import nn
from vistorch.debug.watch import flow


def deep():
    """A network of sigmoids, whose gradients vanish, with a NaN, a zero and a frozen parameter."""
    vistorch.manual_seed(0)
    layers = [layer for _ in range(5) for layer in (nn.Linear(6, 6), nn.Sigmoid())]
    net = nn.Sequential(*layers, nn.Linear(6, 2))
    net[2].bias.requires_grad_(False)
    net(vistorch.randn(8, 6)).pow(2).sum().backward()
    net[0].weight.grad.mul_(1e-6)
    net[4].weight.grad[0, 0] = float("nan")
    net[6].bias.grad.zero_()
    return flow(net, "a deep <network>")


def fresh():
    """Without a backward pass."""
    return flow(nn.Linear(2, 2))


EXAMPLES = {"deep": deep, "fresh": fresh}
