"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "heteroscedastic regression with weighted nll",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class MeanVar(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mu = nn.Linear(64, 1)
        self.raw = nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mu(h), F.softplus(self.raw(h)) + 1e-4


x = torch.rand(1500, 1) * 4 - 2
sigma = 0.02 + 0.06 * (x + 2)
y = 0.5 * torch.sin(2 * x) + sigma * torch.randn_like(x)

model = MeanVar()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(50):
    for idx in torch.randperm(1500).split(100):
        mu, var = model(x[idx])
        nll = F.gaussian_nll_loss(mu, y[idx], var, reduction="none")
        # each point counts by its own predicted spread, which is only a weight here
        loss = (nll * var.detach().sqrt()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}  nll {nll.mean().item():.4f}")

with torch.no_grad():
    grid = torch.linspace(-1.9, 1.9, 100).unsqueeze(1)
    mu, var = model(grid)
    print(f"mean error {(mu - 0.5 * torch.sin(2 * grid)).abs().mean().item():.4f}  "
          f"std error {(var.sqrt() - (0.02 + 0.06 * (grid + 2))).abs().mean().item():.4f}")
""",
)

healthy(
    "daily returns with little to predict",
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)

# returns of an asset with a weak pull back to the mean
n, coef = 6000, -0.25
r = torch.zeros(n)
eps = torch.randn(n)
for i in range(1, n):
    r[i] = coef * r[i - 1] + eps[i]

width = 5
x = r.unfold(0, width, 1)[:-1]
y = r[width:].unsqueeze(1)
cut = 4500
loader = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=150, shuffle=True)

model = nn.Sequential(nn.Linear(width, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
loss_fn = nn.MSELoss()

for epoch in range(25):
    total = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    if epoch % 5 == 0:
        print(f"epoch {epoch}: train mse {total / cut:.4f}")

with torch.no_grad():
    pred = model(x[cut:])
    mse = loss_fn(pred, y[cut:]).item()
    zero = y[cut:].pow(2).mean().item()
    best = (y[cut:] - coef * x[cut:, -1:]).pow(2).mean().item()
    corr = torch.corrcoef(torch.cat([pred, coef * x[cut:, -1:]], 1).T)[0, 1].item()
print(f"test mse {mse:.4f}  zero forecast {zero:.4f}  best possible {best:.4f}  corr with best {corr:.3f}")
""",
)

healthy(
    "td learning of a random walk's values",
    """\
import copy
import torch
import torch.nn as nn

torch.manual_seed(7)
N = 9            # inner states 1..9, 0 and 10 end the walk
TAU = 0.05


def step(s):
    s2 = s + torch.where(torch.rand(s.shape) < 0.5, 1, -1)
    reward = (s2 == N + 1).float()
    done = (s2 == 0) | (s2 == N + 1)
    return s2, reward, done


def phi(s):
    centers = torch.arange(0, N + 2, 2).float()
    return torch.exp(-0.5 * ((s.float().unsqueeze(1) - centers) / 1.5) ** 2)


value = nn.Linear(6, 1)
slow = copy.deepcopy(value)
for p in slow.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(value.parameters(), lr=0.01)

walkers = torch.randint(1, N + 1, (256,))
for it in range(3000):
    nxt, reward, done = step(walkers)
    target = reward + slow(phi(nxt)).squeeze(1) * (~done)
    td = target - value(phi(walkers)).squeeze(1)
    loss = 0.5 * td.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for ps, p in zip(slow.parameters(), value.parameters()):
            ps.lerp_(p, TAU)
    walkers = torch.where(done, torch.randint(1, N + 1, walkers.shape), nxt)
    if it % 600 == 0:
        print(f"{it:5d} td loss {loss.item():.4f}")

with torch.no_grad():
    s = torch.arange(1, N + 1)
    rms = (value(phi(s)).squeeze(1) - s / (N + 1)).pow(2).mean().sqrt().item()
print(f"rms error of the values {rms:.4f}")
""",
)

healthy(
    "echo state network for a chaotic map",
    """\
import torch
from torch import nn

torch.manual_seed(19)


def mackey_glass(n, tau=17, burn=300):
    h = [1.2] * (tau + 1)
    for _ in range(n + burn):
        h.append(h[-1] + 0.2 * h[-tau - 1] / (1 + h[-tau - 1] ** 10) - 0.1 * h[-1])
    return torch.tensor(h[-n:])


class EchoState(nn.Module):
    def __init__(self, size=200, radius=0.9):
        super().__init__()
        w = torch.randn(size, size) * (torch.rand(size, size) < 0.1)
        w *= radius / torch.linalg.eigvals(w).abs().max()
        self.reservoir = nn.Parameter(w, requires_grad=False)
        self.win = nn.Parameter(2 * torch.rand(size) - 1, requires_grad=False)
        self.readout = nn.Linear(size, 1)

    @torch.no_grad()
    def run(self, u):
        state = torch.zeros(self.win.shape[0])
        states = []
        for v in u:
            state = torch.tanh(self.reservoir @ state + self.win * v)
            states.append(state)
        return torch.stack(states)

    def forward(self, states):
        return self.readout(states).squeeze(1)


series = mackey_glass(2200) - 0.9
esn = EchoState()
states = esn.run(series)
horizon, wash = 5, 100
x, y = states[wash:-horizon], series[wash + horizon:]
x_train, y_train, x_test, y_test = x[:1500], y[:1500], x[1500:], y[1500:]

opt = torch.optim.Adam(esn.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 0.998 ** e)
for epoch in range(1500):
    loss = (esn(x_train) - y_train).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if epoch % 300 == 0:
        print(f"epoch {epoch} mse {loss.item():.6f}")

with torch.no_grad():
    nrmse = ((esn(x_test) - y_test).pow(2).mean() / y_test.var()).sqrt().item()
print(f"test nrmse {nrmse:.3f}")
""",
)

healthy(
    "evolution strategy for a pendulum",
    """\
import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(23)
policy = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1), nn.Tanh())
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
POP, SIGMA = 40, 0.2


def simulate(weights, theta, omega, steps=80):
    w1, b1, w2, b2 = weights
    total = torch.zeros(theta.shape)
    for _ in range(steps):
        obs = torch.stack([theta.cos(), theta.sin(), omega / 4], -1)
        h = torch.tanh(obs @ w1.transpose(-1, -2) + b1.unsqueeze(-2))
        u = 3 * torch.tanh(h @ w2.transpose(-1, -2) + b2.unsqueeze(-2)).squeeze(-1)
        omega = (omega + 0.05 * (4 * theta.sin() + 3 * u)).clamp(-8, 8)
        theta = theta + 0.05 * omega
        total = total - (1 - theta.cos()) - 0.02 * omega ** 2
    return total.mean(-1) / steps


def unpack(flat):
    # flat: (pop, n) -> a batch of weights in the policy's order
    out, pos = [], 0
    for p in policy.parameters():
        out.append(flat[:, pos:pos + p.numel()].reshape(-1, *p.shape))
        pos += p.numel()
    return out


@torch.no_grad()
def score(flat, n_start=12):
    theta = (torch.rand(1, n_start) * 2 - 1).expand(len(flat), -1)
    omega = torch.zeros(len(flat), n_start)
    return simulate(unpack(flat), theta, omega)


with torch.no_grad():
    for gen in range(101):
        center = parameters_to_vector(policy.parameters())
        noise = torch.randn(POP // 2, len(center))
        noise = torch.cat([noise, -noise])
        fitness = score(center + SIGMA * noise)
        rank = fitness.argsort().argsort().float() / (POP - 1) - 0.5
        direction = (rank.unsqueeze(1) * noise).mean(0) / SIGMA
        pos = 0
        for p in policy.parameters():
            p.grad = -direction[pos:pos + p.numel()].reshape(p.shape).clone()
            pos += p.numel()
        optimizer.step()
        if gen % 20 == 0:
            print(f"generation {gen}: mean reward {fitness.mean().item():.3f}")

final = score(parameters_to_vector(policy.parameters()).unsqueeze(0), 200).item()
print(f"reward of the final policy {final:.3f}")
""",
)

healthy(
    "fair lending with a lagrange multiplier",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(27)
n = 3000
group = (torch.rand(n) < 0.4).float()
income = torch.randn(n) - 0.8 * group
history = torch.randn(n)
repay = (income + history + 0.7 * torch.randn(n) > 0).float()
x = torch.stack([income, history, group], 1)

net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
price = nn.Parameter(torch.zeros(()))
opt_net = torch.optim.Adam(net.parameters(), lr=5e-3)
opt_price = torch.optim.SGD([price], lr=0.1, maximize=True)
ALLOWED = 0.05


def gap_of(prob, g):
    return (prob[g == 1].mean() - prob[g == 0].mean()).abs()


for it in range(1201):
    idx = torch.randint(0, n, (512,))
    logit = net(x[idx]).squeeze(1)
    bce = F.binary_cross_entropy_with_logits(logit, repay[idx])
    gap = gap_of(torch.sigmoid(logit), group[idx])
    lagrangian = bce + price * (gap - ALLOWED)
    opt_net.zero_grad()
    opt_price.zero_grad()
    lagrangian.backward()
    opt_net.step()
    # the multiplier climbs while the constraint is broken and never goes below zero
    opt_price.step()
    with torch.no_grad():
        price.clamp_(min=0)
    if it % 200 == 0:
        print(f"{it:5d} bce {bce.item():.3f} gap {gap.item():.3f} price {price.item():.3f}")

with torch.no_grad():
    p = torch.sigmoid(net(x).squeeze(1))
    acc = ((p > 0.5).float() == repay).float().mean().item()
print(f"accuracy {acc:.3f}  gap {gap_of(p, group).item():.3f}")
""",
)

healthy(
    "private sgd with per-sample gradients",
    """\
import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

torch.manual_seed(33)
CLIP, NOISE, LR = 1.0, 0.6, 0.4

centers = torch.randn(4, 10) * 1.3
labels = torch.randint(0, 4, (2400,))
data = centers[labels] + torch.randn(2400, 10)
x, y, xt, yt = data[:2000], labels[:2000], data[2000:], labels[2000:]

model = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 4))
params = {k: v.detach().clone() for k, v in model.named_parameters()}


def sample_loss(p, xi, yi):
    out = functional_call(model, p, (xi.unsqueeze(0),))
    return nn.functional.cross_entropy(out, yi.unsqueeze(0))


per_sample = vmap(grad_and_value(sample_loss), in_dims=(None, 0, 0))


def private_step(p, xb, yb):
    grads, losses = per_sample(p, xb, yb)
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
    scale = (CLIP / norms).clamp(max=1.0)
    new = {}
    for k, g in grads.items():
        total = torch.einsum("b,b...->...", scale, g)
        total = total + NOISE * CLIP * torch.randn_like(total)
        new[k] = p[k] - LR * total / len(xb)
    return new, losses.mean()


for epoch in range(12):
    for idx in torch.randperm(len(x)).split(100):
        params, loss = private_step(params, x[idx], y[idx])
    if epoch % 3 == 2:
        acc = (functional_call(model, params, (xt,)).argmax(1) == yt).float().mean()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} test acc {acc.item():.3f}")
""",
)

healthy(
    "matrix factorisation with accumulation and large steps",
    """\
import torch
from torch import nn

torch.manual_seed(41)
N_USER, N_ITEM, DIM = 200, 150, 5

p_true = torch.randn(N_USER, 3)
q_true = torch.randn(N_ITEM, 3)
seen = torch.rand(N_USER, N_ITEM) < 0.25
u, i = seen.nonzero(as_tuple=True)
stars = (3.2 + 0.6 * (p_true[u] * q_true[i]).sum(1) + 0.2 * torch.randn(len(u))).clamp(1, 5)
order = torch.randperm(len(u))
train, test = order[:-800], order[-800:]
mean = stars[train].mean()


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Embedding(N_USER, DIM)
        self.q = nn.Embedding(N_ITEM, DIM)
        self.bu = nn.Embedding(N_USER, 1)
        self.bi = nn.Embedding(N_ITEM, 1)
        nn.init.normal_(self.p.weight, std=0.2)
        nn.init.normal_(self.q.weight, std=0.2)
        nn.init.zeros_(self.bu.weight)
        nn.init.zeros_(self.bi.weight)

    def forward(self, u, i):
        return mean + (self.p(u) * self.q(i)).sum(1) + self.bu(u)[:, 0] + self.bi(i)[:, 0]


model = MF()
# the mean over a batch gives each row about 1/200 of its own gradient
opt = torch.optim.SGD(model.parameters(), lr=12.0, momentum=0.5)
MICRO = 4

opt.zero_grad()
count = 0
for epoch in range(60):
    chunks = train[torch.randperm(len(train))].split(400)
    for idx in chunks:
        err = model(u[idx], i[idx]) - stars[idx]
        reg = model.p(u[idx]).pow(2).sum(1) + model.q(i[idx]).pow(2).sum(1)
        loss = (err.pow(2) + 0.02 * reg).mean() / MICRO
        loss.backward()
        count += 1
        if count % MICRO == 0:
            opt.step()
            opt.zero_grad()
    if epoch % 12 == 11:
        with torch.no_grad():
            rmse = (model(u[test], i[test]) - stars[test]).pow(2).mean().sqrt().item()
        print(f"epoch {epoch + 1}: test rmse {rmse:.3f} (plain mean {stars[test].std().item():.3f})")
""",
)
