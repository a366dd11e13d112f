"""Gradients that are not finite though the loss is: branches that are hidden, and slopes at an edge."""

import pytest

from .marked import guilty, said

FAULTY = {
    "sqrt in a branch, own variable": """\
x, y = torch.linspace(-1, 1, 21), torch.ones(21)
w = nn.Parameter(torch.tensor(1.0))
def model(x):
    z = w * x
    root = z.sqrt()  # <-
    return torch.where(z >= 0, root, torch.zeros_like(root))

opt = torch.optim.Adam([w], lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "division times a mask": """\
x, y = torch.linspace(-2, 2, 9), torch.ones(9)
w = nn.Parameter(torch.tensor(1.0))
def model(x):
    z = w * x
    ratio = z.sin() / z  # <-
    out = torch.where(z == 0, torch.ones_like(z), ratio)
    return out

opt = torch.optim.Adam([w], lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "masked_fill after log": """\
x, y = torch.rand(4, 6).round(), torch.ones(4, 6)
w = nn.Parameter(torch.tensor(1.0))
def model(x):
    p = w * x
    lp = p.log()  # <-
    return lp.masked_fill(p == 0, 0.0)

opt = torch.optim.SGD([w], lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "acos at the edge": """\
x, y = F.normalize(torch.randn(20, 3), dim=1), torch.zeros(20)
w = nn.Parameter(torch.eye(3))
def model(x):
    c = (F.normalize(x @ w, dim=1) * x).sum(1).clamp(-1, 1)
    return torch.acos(c)  # <-

opt = torch.optim.SGD([w], lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "by hand": """\
x, y = torch.linspace(-1, 1, 21), torch.ones(21)
w = torch.tensor(1.3, requires_grad=True)
b = torch.tensor(0.7, requires_grad=True)
for step in range(10):
    z = w * x
    out = torch.where(z > 0, z ** b, torch.zeros(21))  # <-
    loss = ((out - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.01 * p.grad
            p.grad = None
""",
    "norm of distances by hand": """\
x, y = torch.randn(6, 2), torch.ones(6, 6)
w = nn.Linear(2, 2)
def model(x):
    h = w(x)
    d = ((h[:, None] - h[None]) ** 2).sum(-1)
    return d.sqrt()  # <-

opt = torch.optim.SGD(w.parameters(), lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "exp overflow untaken": """\
x, y = torch.linspace(-200, 200, 41), torch.ones(41)
w = nn.Parameter(torch.tensor(1.0))
def model(x):
    z = w * x
    soft = torch.log(1 + torch.exp(z))  # <-
    return torch.where(z > 20, z, soft)

opt = torch.optim.SGD([w], lr=1e-5)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "entropy p log p nan_to_num": """\
x, y = torch.randn(8, 4), torch.zeros(8)
w = nn.Linear(4, 5)
def model(x):
    p = F.relu(w(x))
    p = p / (p.sum(1, keepdim=True) + 1e-6)
    h = -(p * torch.log(p))  # <-
    return torch.nan_to_num(h).sum(1)

opt = torch.optim.SGD(w.parameters(), lr=1e-3)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "std of a constant column, sqrt": """\
x, y = torch.cat([torch.randn(16, 3), torch.zeros(16, 1)], 1), torch.zeros(16, 4)
w = nn.Parameter(torch.ones(4))
def model(x):
    h = x * w
    s = h.var(0).sqrt()  # <-
    return (h - h.mean(0)) / (s + 1e-5)

opt = torch.optim.SGD([w], lr=1e-3)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a root beside a mask that is meant": """\
x, y = torch.randn(4, 6), torch.zeros(4, 6)
keep = torch.rand(4, 6) > 0.3
keep[:, 0] = True
w = nn.Linear(6, 6)
def model(x):
    h = w(x)
    a = h.masked_fill(~keep, float("-inf")).softmax(-1)
    q = (h - h.detach()).abs()
    r = 1
    return a + q.sqrt()  # <-
opt = torch.optim.SGD(w.parameters(), lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
}

HEALTHY = {
    "log in a branch": """\
x, y = torch.randn(50), torch.randn(50)
a = torch.tensor(0.5, requires_grad=True)
def model(x):
    u = a * x
    return torch.where(u > 0, torch.log(u), u)

opt = torch.optim.SGD([a], lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "softmax of an empty row": """\
x, y = torch.randn(4, 6), torch.zeros(4, 6)
keep = torch.ones(4, 6, dtype=torch.bool)
keep[2] = False
w = nn.Linear(6, 6)
def model(x):
    s = w(x).masked_fill(~keep, float("-inf"))
    a = s.softmax(-1)
    return torch.where(keep, a, torch.zeros_like(a))

opt = torch.optim.SGD(w.parameters(), lr=1e-3)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "kept from the edge before the choice": """\
x, y = torch.linspace(-1, 1, 21), torch.ones(21)
w = nn.Parameter(torch.tensor(1.0))
def model(x):
    z = w * x
    root = z.clamp(min=1e-6).sqrt()
    return torch.where(z >= 0, root, torch.zeros_like(root))

opt = torch.optim.Adam([w], lr=0.01)
for step in range(8):
    loss = ((model(x) - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a mask before a softmax": """\
x, y = torch.randn(4, 6), torch.zeros(4, 6)
keep = torch.rand(4, 6) > 0.3
keep[:, 0] = True
w = nn.Linear(6, 6)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
for step in range(8):
    a = w(x).masked_fill(~keep, float("-inf")).softmax(-1)
    loss = ((a - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "by hand, base above 0": """\
x, y = torch.linspace(-1, 1, 21), torch.ones(21)
w = torch.tensor(1.3, requires_grad=True)
b = torch.tensor(0.7, requires_grad=True)
for step in range(10):
    z = w * x
    out = torch.where(z > 0, z.clamp(min=1e-3) ** b, torch.zeros(21))
    loss = ((out - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.01 * p.grad
            p.grad = None
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_its_line_is_named(name):
    text = FAULTY[name]
    found = said(text, name)
    assert "not finite" in found, found
    assert any(abs(line - mark) <= 2 for line in found["not finite"] for mark in guilty(text)), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert "not finite" not in said(HEALTHY[name], name)
