"""Branches of one network that are pulled together."""

import pytest

from .marked import guilty, said

FAULTY = {
    "squares": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    loss = (pred(a) - b).pow(2).sum(1).mean()  # <-
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "mse both ways": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    loss = F.mse_loss(pred(a), b) + F.mse_loss(pred(b), a)  # <-
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "unit rows": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    p, z = F.normalize(pred(a), dim=1), F.normalize(b, dim=1)
    loss = 2 - 2 * (p * z).sum(1).mean()  # <-
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "cosine, plain": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    sim = F.cosine_similarity(a, b)
    loss = 1 - sim.mean()  # <-
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
}

HEALTHY = {
    "detached": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    loss = (pred(a) - b.detach()).pow(2).sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "detached cosine": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    loss = -0.5 * (F.cosine_similarity(pred(a), b.detach()).mean() + F.cosine_similarity(pred(b), a.detach()).mean())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "variance terms": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    z = torch.cat([a, b])
    loss = F.mse_loss(a, b) + F.relu(1 - z.std(0)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "contrastive": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    s = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / 0.2
    loss = F.cross_entropy(s, torch.arange(64))
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "supervised beside": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    y = (x[:, 0] > 0).long()
    loss = F.cross_entropy(a, y) + F.mse_loss(a, b)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "negatives": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    loss = (a - b).pow(2).sum(1).mean() - 0.1 * (a - b.roll(1, 0)).pow(2).sum(1).clamp(max=4).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "siamese regression": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    y = (x[:, 0] > 0).float()
    loss = ((a - b).pow(2).sum(1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "reconstruction by another pass": """\
X = torch.randn(400, 12)
enc = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
pred = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.Adam([*enc.parameters(), *pred.parameters()], lr=3e-3)
def view(x):
    return x + 0.3 * torch.randn_like(x)
for step in range(300):
    x = X[torch.randint(0, 400, (64,))]
    a, b = enc(view(x)), enc(view(x))
    rec = F.mse_loss(pred(enc(x)), x[:, :8])
    opt.zero_grad()
    rec.backward()
    a, b = enc(view(x)), enc(view(x))
    loss = F.mse_loss(a, b)
    loss.backward()
    opt.step()
""",
    "residual with a boundary": """\
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 2))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(300):
    t = torch.rand(64, 1, requires_grad=True)
    u = net(t)
    du = torch.stack([torch.autograd.grad(u[:, i].sum(), t, create_graph=True)[0][:, 0] for i in range(2)], 1)
    loss = F.mse_loss(du, -u) + (net(torch.zeros(1, 1)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_its_line_is_named(name):
    text = FAULTY[name]
    found = said(text, name)
    assert "collapses" in found, found
    assert any(abs(line - mark) <= 2 for line in found["collapses"] for mark in guilty(text)), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert "collapses" not in said(HEALTHY[name], name)
