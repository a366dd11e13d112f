"""Steps that come too seldom or go too far, and those that only look like it."""

import pytest

from .marked import guilty, said

FAULTY = {
    "a step for an epoch, clipped": (
        """\
x, y = torch.randn(160, 6), torch.randint(0, 3, (160,))
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(160).split(16):
        opt.zero_grad()
        F.cross_entropy(net(x[pick]), y[pick]).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()  # <-
""",
        "unused",
    ),
    "a step for an epoch, by a helper": (
        """\
x = torch.randn(120, 4)
y = x.sum(1)
line = nn.Linear(4, 1)
opt = torch.optim.SGD(line.parameters(), lr=0.05)
def one(a, b):
    opt.zero_grad(set_to_none=False)
    loss = F.mse_loss(line(a)[:, 0], b)
    loss.backward()
    return loss.item()
for epoch in range(3):
    losses = [one(a, b) for a, b in zip(x.split(10), y.split(10))]
    opt.step()  # <-
    print(sum(losses) / len(losses))
""",
        "unused",
    ),
    "a rate of 3": (
        """\
x = torch.randn(256, 8)
y = torch.sin(3 * x[:, :1]) * x[:, 1:2]
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=3.0)  # <-
for step in range(60):
    pick = torch.randint(0, 256, (32,))
    loss = F.mse_loss(net(x[pick]), y[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        "too large",
    ),
    "small weights, a rate of 4": (
        """\
x = torch.randn(300, 10)
y = (x[:, 0] * x[:, 1] > 0).long()
w1 = (torch.randn(10, 24) * 0.02).requires_grad_()
w2 = (torch.randn(24, 2) * 0.02).requires_grad_()
opt = torch.optim.Adam([w1, w2], lr=4.0)  # <-
for step in range(80):
    pick = torch.randint(0, 300, (50,))
    loss = F.cross_entropy(torch.tanh(x[pick] @ w1) @ w2, y[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
        "too large",
    ),
}
HEALTHY = {
    "ridge read-out by L-BFGS": """\
x = torch.randn(300, 4)
w = torch.randn(4, 40)
feats = torch.tanh(x @ w)
y = torch.sin(x[:, 0]) + 0.1 * x[:, 1]
head = nn.Linear(40, 1)
f_train, f_test, y_train, y_test = feats[:200], feats[200:], y[:200], y[200:]
opt = torch.optim.LBFGS(head.parameters(), max_iter=15, line_search_fn="strong_wolfe")
def closure():
    opt.zero_grad()
    loss = F.mse_loss(head(f_train)[:, 0], y_train) + 1e-4 * sum(p.square().sum() for p in head.parameters())
    loss.backward()
    return loss
for call in range(5):
    opt.step(closure)
    with torch.no_grad():
        print(F.mse_loss(head(f_test)[:, 0], y_test).item())
""",
    "fisher after each task": """\
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
pull, anchor = {}, {}
for task in range(2):
    x = torch.randn(120, 6) + task
    y = (x[:, task] > task).long()
    for pick in torch.randperm(120).split(12):
        loss = F.cross_entropy(net(x[pick]), y[pick])
        for name, p in net.named_parameters():
            if name in pull:
                loss = loss + (pull[name] * (p - anchor[name]) ** 2).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    fisher = {n: torch.zeros_like(p) for n, p in net.named_parameters()}
    for a, b in zip(x, y):
        net.zero_grad()
        F.cross_entropy(net(a[None]), b[None]).backward()
        for n, p in net.named_parameters():
            fisher[n] += p.grad.detach() ** 2 / len(x)
    pull, anchor = fisher, {n: p.detach().clone() for n, p in net.named_parameters()}
""",
    "noise scale of gradients": """\
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(64, 5)
y = x @ torch.tensor([1.0, -2, 0, 0.5, 1]) + 0.1 * torch.randn(64)
for step in range(12):
    rows = []
    for a, b in zip(x[:16], y[:16]):
        opt.zero_grad(set_to_none=False)
        F.mse_loss(net(a), b[None]).backward()
        rows.append(net.weight.grad.flatten().clone())
    opt.zero_grad()
    F.mse_loss(net(x)[:, 0], y).backward()
    opt.step()
print(torch.stack(rows).var(0).sum().item())
""",
    "backtracking with a pass for each try": """\
x = torch.randn(100, 5)
y = x @ torch.tensor([1.0, -2, 0, 0.5, 1]) + 0.05 * torch.randn(100)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=1.0)
def loss_of():
    return F.mse_loss(net(x)[:, 0], y)
for step in range(10):
    rate = 2.0
    start = [p.detach().clone() for p in net.parameters()]
    opt.zero_grad()
    first = loss_of()
    first.backward()
    way = [p.grad.clone() for p in net.parameters()]
    slope = sum((g * g).sum() for g in way)
    for _ in range(12):
        with torch.no_grad():
            for p, s, g in zip(net.parameters(), start, way):
                p.copy_(s - rate * g)
        opt.zero_grad()
        now = loss_of()
        now.backward()
        along = sum((p.grad * g).sum() for p, g in zip(net.parameters(), way))
        if now.item() <= first.item() - 1e-4 * rate * slope.item() and along.item() < 0.9 * slope.item():
            break
        rate /= 2
    with torch.no_grad():
        for p, s in zip(net.parameters(), start):
            p.copy_(s)
    for p, g in zip(net.parameters(), way):
        p.grad = g
    for group in opt.param_groups:
        group["lr"] = rate
    opt.step()
""",
    "reinforce with a baseline, zero head": """\
arms = torch.tensor([0.1, 0.5, 0.9, 0.3])
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))
nn.init.zeros_(policy[2].weight)
nn.init.zeros_(policy[2].bias)
opt = torch.optim.Adam(policy.parameters(), lr=0.03)
baseline = 0.0
for step in range(200):
    kind = torch.randint(0, 4, (32,))
    dist = torch.distributions.Categorical(logits=policy(F.one_hot(kind, 4).float()))
    act = dist.sample()
    reward = (torch.rand(32) < arms[(act + kind) % 4]).float()
    loss = -(dist.log_prob(act) * (reward - baseline)).mean()
    baseline += 0.1 * (reward.mean().item() - baseline)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "small head in a hard task": """\
x = torch.randn(256, 10)
y = torch.randint(0, 2, (256,)).float()
net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
with torch.no_grad():
    net[2].weight.mul_(1e-3)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(40):
    pick = torch.randint(0, 256, (32,))
    loss = F.binary_cross_entropy_with_logits(net(x[pick])[:, 0], y[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "weight penalty by hand": """\
x = torch.randn(200, 6)
y = x[:, :3].argmax(1)
net = nn.Linear(6, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
x_val = torch.randn(100, 6)
y_val = x_val[:, :3].argmax(1)
for epoch in range(20):
    with torch.no_grad():
        print((net(x_val).argmax(1) == y_val).float().mean().item())
    loss = F.cross_entropy(net(x), y) + 1e-3 * net.weight.abs().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a stock space": """\
space = 12.0
def simulate(policy, days=20, shops=64):
    stock, logs, gains = torch.full((shops,), 4.0), [], []
    for day in range(days):
        seen = torch.stack([stock / space, torch.full_like(stock, day / days)], dim=1)
        dist = torch.distributions.Categorical(logits=policy(seen))
        order = dist.sample()
        logs.append(dist.log_prob(order))
        there = torch.minimum(stock + order, torch.tensor(space))
        sold = torch.minimum(there, torch.poisson(torch.full((shops,), 2.5)))
        stock = there - sold
        gains.append(3.0 * sold - 1.0 * order - 0.3 * stock)
    return torch.stack(logs), torch.stack(gains)
policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 6))
with torch.no_grad():
    policy[-1].weight.mul_(0.01)
    policy[-1].bias.zero_()
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for step in range(150):
    logs, gains = simulate(policy)
    to_go = gains.flip(0).cumsum(0).flip(0)
    better = (to_go - to_go.mean(1, keepdim=True)) / (to_go.std(1, keepdim=True) + 1e-6)
    loss = -(logs * better).mean()
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_its_line_is_named(name):
    text, rule = FAULTY[name]
    found = said(text, name)
    assert rule in found and guilty(text) & set(found[rule]), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert said(HEALTHY[name], name) == {}
