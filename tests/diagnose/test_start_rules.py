"""Weights that begin too large, and are held in no module: the line that made them."""

import pytest

from .planted import Planted, accused, changed, healthy

HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
CELL = (
    HEAD
    + """\
def param(*shape, scale):
    return (torch.randn(*shape) * scale).requires_grad_()


def zeros(n):
    return torch.zeros(n, requires_grad=True)


into = param(6, 64, scale=1 / math.sqrt(6))
again = param(64, 64, scale=1 / math.sqrt(64))
shift = zeros(64)


def read(x):
    h = torch.zeros(x.shape[0], 64)
    for t in range(x.shape[1]):
        h = torch.tanh(into[x[:, t]] + h @ again + shift)
    return h


out = param(64, 6, scale=1 / math.sqrt(64))
opt = torch.optim.Adam([into, again, shift, out], lr=2e-3)
for step in range(160):
    x = torch.randint(6, (32, 20))
    loss = F.cross_entropy(read(x) @ out, x[:, 0])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
BARE = changed(
    CELL,
    (
        "again = param(64, 64, scale=1 / math.sqrt(64))\nshift",
        "again = (torch.randn(64, 64) / 8).requires_grad_()\nshift",
    ),
)
PLANTED = {
    "by a helper": Planted(
        "big start",
        CELL,
        (("again = param(64, 64, scale=1 / math.sqrt(64))", "again = param(64, 64, scale=1.2)"),),
        "again = ",
    ),
    "at its line": Planted(
        "big start", BARE, (("torch.randn(64, 64) / 8", "torch.randn(64, 64) * 1.2"),), "again = "
    ),
    "of a normal distribution": Planted(
        "big start",
        changed(BARE, ("(torch.randn(64, 64) / 8)", "torch.normal(0.0, 0.1, (64, 64))")),
        (("0.0, 0.1", "0.0, 1.2"),),
        "again = ",
    ),
    "in a list": Planted(
        "big start",
        changed(
            BARE,
            ("again = (", "weights = [(torch.randn(6, 64) / 3).requires_grad_()]\nweights.append(("),
            ("/ 8).requires_grad_()", "/ 8).requires_grad_())"),
            ("into = param(6, 64, scale=1 / math.sqrt(6))\n", ""),
            ("into[x[:, t]] + h @ again", "weights[0][x[:, t]] + h @ weights[1]"),
            ("[into, again, shift, out]", "[*weights, shift, out]"),
        ),
        (("torch.randn(64, 64) / 8", "torch.randn(64, 64) * 1.2"),),
        "weights.append",
    ),
}
HEALTHY = {"a cell by hand": CELL, "without a helper": BARE, "in a list": PLANTED["in a list"].text}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_the_line_that_made_a_weight_is_named(name, engine):
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
