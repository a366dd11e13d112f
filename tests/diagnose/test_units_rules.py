"""Equal units in weights that are tensors in a dict, a list or a function, and are stepped by hand."""

import pytest

from .planted import Planted, accused, changed, healthy

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"
DATA = """\
x = torch.randn(200, 3)
y = torch.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:]
"""
PLAIN = (
    HEAD
    + DATA
    + """\
weights = {
    "a": torch.randn(3, 24) / 3,
    "b": torch.zeros(24),
    "c": torch.randn(24, 1) / 24,
}
for w in weights.values():
    w.requires_grad_()
for step in range(60):
    i = torch.randint(200, (40,))
    h = torch.tanh(x[i] @ weights["a"] + weights["b"])
    loss = ((h @ weights["c"] - y[i]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for w in weights.values():
            w -= 0.05 * w.grad
            w.grad = None
"""
)
TAKEN = (
    HEAD
    + DATA
    + """\
def layer(n, m):
    return torch.randn(m, n) / n ** 0.5, torch.zeros(m)
def net(params, x):
    for w, b in params[:-1]:
        x = torch.relu(F.linear(x, w, b))
    return F.linear(x, *params[-1])
params = [tuple(t.requires_grad_() for t in layer(n, m)) for n, m in ((3, 16), (16, 16), (16, 1))]
for step in range(60):
    i = torch.randint(200, (40,))
    loss = F.mse_loss(net(params, x[i]), y[i])
    grads = iter(torch.autograd.grad(loss, [t for pair in params for t in pair]))
    params = [tuple((t - 0.05 * next(grads)).detach().requires_grad_() for t in pair) for pair in params]
"""
)
FUNC = (
    HEAD
    + DATA
    + """\
from torch.func import functional_call, grad, vmap
net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
params = {k: v.detach().clone() for k, v in net.named_parameters()}
def cost(params, x, y):
    return ((functional_call(net, params, (x,)) - y) ** 2).mean()
for step in range(60):
    i = torch.randint(200, (40,))
    grads = grad(cost)(params, x[i], y[i])
    params = {k: v - 0.05 * grads[k] for k, v in params.items()}
"""
)
PLANTED = {
    "a dict": Planted(
        "equal units",
        PLAIN,
        (
            ("torch.randn(3, 24) / 3", "torch.ones(3, 24) * 0.3"),
            ("torch.randn(24, 1) / 24", "torch.ones(24, 1) / 24"),
        ),
        '"a": torch',
        also=True,
    ),
    "rows alone are different": Planted(
        "equal units",
        changed(PLAIN, ('"c": torch.randn(24, 1) / 24', '"c": torch.zeros(24, 1)')),
        (("torch.randn(3, 24) / 3", "torch.randn(3, 1).repeat(1, 24)"),),
        '"a": torch',
    ),
    "pairs in a list": Planted(
        "equal units", TAKEN, (("torch.randn(m, n) / n ** 0.5", "torch.ones(m, n) / n"),), "return torch"
    ),
    "torch.func": Planted(
        "equal units",
        FUNC,
        (("v.detach().clone()", "torch.ones_like(v) * 0.1"),),
        "params = {k: torch",
        both=False,
    ),
}
HEALTHY = {
    "a dict": PLAIN,
    "pairs in a list": TAKEN,
    "torch.func": FUNC,
    "a last layer that begins at 0": changed(PLAIN, ("torch.randn(24, 1) / 24", "torch.zeros(24, 1)")),
    "a last layer of equal numbers": changed(PLAIN, ("torch.randn(24, 1) / 24", "torch.ones(24, 1) / 24")),
    "one unit": changed(
        PLAIN,
        ("torch.randn(3, 24) / 3", "torch.ones(3, 1)"),
        ("zeros(24)", "zeros(1)"),
        ("torch.randn(24, 1)", "torch.ones(1, 1)"),
    ),
    "a small matrix beside a large one": HEAD
    + DATA
    + """\
base = torch.randn(3, 8)
down, up = torch.randn(8, 2) / 3, torch.zeros(2, 1)
head = torch.randn(8, 1) / 8
y = torch.tanh(x @ base) @ (head + 0.3)
for t in (down, up):
    t.requires_grad_()
for step in range(60):
    h = torch.tanh(x @ base)
    loss = ((h @ head + h @ down @ up - y) ** 2).mean()
    g = torch.autograd.grad(loss, (down, up))
    with torch.no_grad():
        down -= 0.05 * g[0]
        up -= 0.05 * g[1]
""",
    "a linear model that begins at 0": HEAD
    + DATA
    + """\
y = x @ torch.tensor([[1.0], [2.0], [-1.0]])
w, b = torch.zeros(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for step in range(60):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for t in (w, b):
            t -= 0.1 * t.grad
            t.grad = None
""",
    "means that are only read": changed(
        PLAIN,
        ("x[i] @ weights", "(x[i] @ mix @ mix.t() / 4) @ weights"),
        ("weights = {", "mix = torch.ones(3, 4, requires_grad=True)\nweights = {"),
    ),
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_equal_units_by_hand_are_placed(name, engine):
    if engine == "vistorch" or PLANTED[name].both:
        accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
