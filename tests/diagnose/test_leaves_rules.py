"""Tensors that should learn and are no leaves, where no exception says so."""

import pytest

from vistorch.debug.diagnose.cures import cures_of

from .harness import run
from .marked import HEAD, guilty, said

FAULTY = {
    "silent, reshape": """\
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
params = [torch.randn(4, requires_grad=True).reshape(4, 1), torch.zeros(1, requires_grad=True)]  # <-
for step in range(40):
    loss = ((x @ params[0] + params[1] - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in params:
            if p.grad is not None:
                p -= 0.05 * p.grad
                p.grad.zero_()
""",
    "silent, function, float": """\
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
W = {}
def init(n, m):
    w = torch.randn(n, m, dtype=torch.float64, requires_grad=True)
    W["a"] = w.float()  # <-
    W["b"] = torch.zeros(m, requires_grad=True)
def update(params, lr):
    for name, p in params.items():
        g = p.grad
        if g is None:
            continue
        p.data.add_(g, alpha=-lr)
        p.grad = None
init(4, 1)
q = 1
for step in range(40):
    loss = ((x @ W["a"] + W["b"] - y) ** 2).mean()
    loss.backward()
    update(W, 0.05)
""",
    "attribute, transposed": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 8)
        self.mix = nn.Parameter(torch.randn(8, 3)).t()  # <-
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        return self.out(torch.relu(self.lin(x)) + x @ self.mix)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
for step in range(40):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "silent, retained graph": """\
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
w = torch.randn(4, 1, requires_grad=True) * 0.1  # <-
b = torch.zeros(1, requires_grad=True)
for step in range(40):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward(retain_graph=True)
    for p in (w, b):
        if p.grad is None: continue
        p.data = p.data - 0.05 * p.grad.data
        p.grad = None
""",
}

HEALTHY = {
    "printed": """\
x = torch.randn(64, 4)
w = torch.randn(4, 1, requires_grad=True)
for step in range(30):
    h = x @ w
    loss = (h ** 2).mean()
    loss.backward()
    print(h.grad is None, h.grad)
    with torch.no_grad():
        w -= 0.05 * w.grad
    w.grad = None
""",
    "times of a PINN": """\
t = torch.linspace(0, 1, 50, requires_grad=True).reshape(-1, 1)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = ((du + u) ** 2).mean() + (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    if t.grad is not None:
        t.grad.zero_()
    opt.step()
""",
    "retained": """\
x = torch.randn(64, 4)
w = torch.randn(4, 3, requires_grad=True)
for step in range(30):
    h = x @ w
    h.retain_grad()
    loss = (h ** 2).mean()
    loss.backward()
    scale = h.grad * 2
    with torch.no_grad():
        w -= 0.05 * w.grad
    w.grad = None
""",
    "mask beside leaves": """\
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
mask = torch.ones(4, 1)
w = (torch.randn(4, 1) * 0.1).requires_grad_()
for step in range(30):
    loss = ((x @ (w * mask) - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in [w, mask]:
            if p.grad is not None:
                p -= 0.05 * p.grad
                p.grad = None
""",
    "cached attribute": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 8)
        self.out = nn.Linear(8, 1)
        self.last = None
    def forward(self, x):
        self.last = torch.relu(self.lin(x))
        return self.out(self.last)
net = Net()
opt = torch.optim.SGD([*net.lin.parameters()], lr=0.05)
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
for p in net.out.parameters():
    p.requires_grad_(False)
for step in range(40):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_what_made_it_is_named(name):
    text = FAULTY[name]
    found = said(text, name)
    lines = found.get("no leaf", []) + found.get("not held", [])
    assert any(abs(line - mark) <= 2 for line in lines for mark in guilty(text)), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert said(HEALTHY[name], name) == {}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("silent, reshape", "params = [torch.randn(4).reshape(4, 1).requires_grad_(),"),
        ("silent, function, float", 'W["a"] = w.float().detach().requires_grad_()'),
        ("silent, retained graph", "w = (torch.randn(4, 1) * 0.1).requires_grad_()"),
    ],
)
def test_the_cure_asks_for_a_gradient_last(name, line):
    (one,) = [f for f in run(name, HEAD + FAULTY[name]).findings if f.rule == "no leaf"]
    cure = cures_of(one, {})[0]
    assert line in cure.text
    assert "no leaf" not in said(cure.text.removeprefix(HEAD), f"{name}, mended")
