"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "message passing on a friendship graph",
    "agg[dst] += msg does not add up repeated indices, so each node keeps one neighbour's message only instead of the sum",
    ("last stays",),
    (25,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
N = 600
# random undirected graph given as an edge list
a = torch.randint(0, N, (2400,))
b = torch.randint(0, N, (2400,))
keep = a != b
edges = torch.cat([torch.stack([a[keep], b[keep]]), torch.stack([b[keep], a[keep]])], dim=1)
deg = torch.bincount(edges[1], minlength=N).clamp(min=1).float().unsqueeze(1)


class SageLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.nbr = nn.Linear(d_in, d_out, bias=False)

    def forward(self, h, edges, deg):
        src, dst = edges
        msg = h[src]
        agg = torch.zeros_like(h)
        agg.index_add_(0, dst, msg)
        return self.own(h) + self.nbr(agg / deg)


class Net(nn.Module):
    def __init__(self, d_in, hidden, n_class):
        super().__init__()
        self.l1 = SageLayer(d_in, hidden)
        self.l2 = nn.Linear(hidden, n_class)

    def forward(self, x, edges, deg):
        return self.l2(F.relu(self.l1(x, edges, deg)))


# a person's group follows from the mean opinion among the friends and a little from the own one
x = torch.randn(N, 5)
adj = torch.zeros(N, N)
adj.index_put_((edges[1], edges[0]), torch.ones(edges.shape[1]), accumulate=True)
opinion = (adj @ x)[:, 0] / deg.squeeze(1) + 0.1 * x[:, 1]
y = torch.bucketize(opinion, torch.quantile(opinion, torch.tensor([0.33, 0.66])))

mask = torch.zeros(N, dtype=torch.bool)
mask[torch.randperm(N)[:400]] = True
model = Net(5, 32, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)

for epoch in range(1, 301):
    model.train()
    logits = model(x, edges, deg)
    loss = F.cross_entropy(logits[mask], y[mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 60 == 0:
        model.eval()
        with torch.no_grad():
            hit = model(x, edges, deg).argmax(1) == y
        print(f"{epoch}: loss {loss.item():.3f} train {hit[mask].float().mean():.3f} "
              f"test {hit[~mask].float().mean():.3f}")
""",
    ("agg.index_add_(0, dst, msg)", "agg[dst] += msg"),
)

fault(
    "network that solves a growth equation",
    "the time derivative is taken without create_graph, so it is a constant for the loss and the residual trains the network as if only the u term could move",
    ("flat derivative",),
    (21,),
    """\
import torch
from torch import nn

torch.manual_seed(2)

# bacteria in a dish with a daily rhythm: u'(t) = r (1 + cos 4t) u,  u(0) = U0
R, U0, T_END = 0.6, 0.5, 2.0


def exact(t):
    return U0 * torch.exp(R * (t + torch.sin(4 * t) / 4))


net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)


def residual(t):
    t = t.requires_grad_(True)
    u = net(t)
    du, = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)
    return du - R * (1 + torch.cos(4 * t)) * u


t0 = torch.zeros(1, 1)
for it in range(1501):
    t = torch.rand(128, 1) * T_END
    physics = residual(t).pow(2).mean()
    start = (net(t0) - U0).pow(2).mean()
    loss = physics + 10 * start
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 300 == 0:
        print(f"{it:5d}  physics {physics.item():.5f}  start {start.item():.5f}")

with torch.no_grad():
    grid = torch.linspace(0, T_END, 61).unsqueeze(1)
    worst = (net(grid) - exact(grid)).abs().max().item()
print(f"largest error on the grid {worst:.4f}")
""",
    ("torch.ones_like(u), create_graph=True)", "torch.ones_like(u), retain_graph=True)"),
)

fault(
    "throwing policy through a differentiable flight",
    "the action is drawn with sample(), which has no gradient, so the cost never reaches the policy's mean and only the entropy term trains",
    ("not reached",),
    (38,),
    """\
import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(14)
G = 9.81


def flight(speed, angle, steps=40):
    # explicit integration with a little air drag, until a fixed time; returns the place at landing
    vx, vy = speed * torch.cos(angle), speed * torch.sin(angle)
    land = 2 * vy / G
    dt = land / steps
    x = torch.zeros_like(speed)
    for _ in range(steps):
        x = x + vx * dt
        vx = vx - 0.05 * vx * dt
    return x


class ThrowPolicy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.tensor(-1.0))

    def forward(self, obs):
        mean = 10 + 4 * self.body(obs).squeeze(-1)
        return Normal(mean, self.log_std.clamp(-4, 0).exp())


def rollout(policy, n):
    goal = 4 + 10 * torch.rand(n)
    angle = 0.5 + 0.5 * torch.rand(n)
    obs = torch.stack([(goal - 9) / 3, (angle - 0.75) * 6], dim=1)
    dist = policy(obs)
    # speed of the throw
    speed = dist.rsample()
    miss = flight(speed, angle) - goal
    return miss, dist


policy = ThrowPolicy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for it in range(601):
    miss, dist = rollout(policy, 128)
    cost = miss.pow(2).mean()
    loss = cost - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 100 == 0:
        print(f"iter {it}: cost {cost.item():.3f}  std {dist.stddev.mean().item():.3f}")

with torch.no_grad():
    miss, _ = rollout(policy, 2000)
print(f"mean miss {miss.abs().mean().item():.3f} m")
""",
    ("speed = dist.rsample()", "speed = dist.sample()"),
)

fault(
    "positions of beacons from their distances",
    "the square root is taken of exact zeros on the diagonal, whose derivative is infinite, and 0 * inf makes all gradients NaN from the first backward",
    ("not finite",),
    (21,),
    """\
import torch

torch.manual_seed(31)


def random_beacons(n):
    xy = torch.rand(n, 2) * 10
    height = torch.rand(n, 1) * 2
    return torch.cat([xy, height], dim=1)


def measured_distances(p, noise):
    d = torch.cdist(p, p)
    e = torch.randn_like(d) * noise
    e = torch.triu(e, diagonal=1)
    return d + e + e.T


def pairwise(p):
    diff = p.unsqueeze(0) - p.unsqueeze(1)
    return torch.sqrt(diff.pow(2).sum(-1) + 1e-9)


def stress(p, d_obs):
    return (pairwise(p) - d_obs).pow(2).sum() / (len(p) * (len(p) - 1))


beacons = random_beacons(40)
observed = measured_distances(beacons, noise=0.02)

guess = torch.nn.Parameter(torch.randn(40, 3) * 3)
optimizer = torch.optim.Adam([guess], lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=800)

for i in range(800):
    optimizer.zero_grad()
    loss = stress(guess, observed)
    loss.backward()
    optimizer.step()
    scheduler.step()
    if i % 160 == 0:
        print(f"{i:4d} stress {loss.item():.4f}")

final = stress(guess.detach(), observed)
gap = (torch.cdist(guess.detach(), guess.detach()) - torch.cdist(beacons, beacons)).abs().mean()
print(f"final stress {final.item():.5f}, mean distance error {gap.item():.4f}")
""",
    ("diff.pow(2).sum(-1) + 1e-9)", "diff.pow(2).sum(-1))"),
)

fault(
    "quantile forecaster with its own trainer",
    "the pinball losses are packed by torch.tensor(..., requires_grad=True), a new leaf cut off from the network, so backward gives no gradient to any weight",
    ("fresh loss",),
    (40,),
    """\
import torch
import torch.nn as nn

QUANTILES = (0.1, 0.5, 0.9)


def make_series(n=1500):
    g = torch.Generator().manual_seed(6)
    t = torch.arange(n).float()
    level = torch.sin(t / 9) + 0.4 * torch.sin(t / 31)
    return level + (0.1 + 0.15 * level.abs()) * torch.randn(n, generator=g)


def windows(s, width):
    x = s.unfold(0, width, 1)[:-1]
    return x, s[width:]


class Forecaster(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, len(QUANTILES)))

    def forward(self, x):
        return self.net(x)


class QuantileTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-3)

    def pinball(self, pred, y, q):
        e = y - pred
        return torch.maximum(q * e, (q - 1) * e).mean()

    def compute_loss(self, x, y):
        out = self.model(x)
        losses = [self.pinball(out[:, j], y, q) for j, q in enumerate(QUANTILES)]
        total = torch.stack(losses)
        return total.mean()

    def fit(self, x, y, epochs, batch=64):
        for ep in range(epochs):
            self.model.train()
            seen = 0.0
            for idx in torch.randperm(len(x)).split(batch):
                self.opt.zero_grad()
                loss = self.compute_loss(x[idx], y[idx])
                loss.backward()
                self.opt.step()
                seen += loss.item() * len(idx)
            if (ep + 1) % 8 == 0:
                print(f"epoch {ep + 1}: pinball {seen / len(x):.4f}")

    @torch.no_grad()
    def coverage(self, x, y):
        self.model.eval()
        out = self.model(x)
        return ((y >= out[:, 0]) & (y <= out[:, 2])).float().mean().item()


torch.manual_seed(1)
series = make_series()
x, y = windows(series, 24)
trainer = QuantileTrainer(Forecaster(24), lr=3e-3)
trainer.fit(x[:1100], y[:1100], epochs=40)
with torch.no_grad():
    test_loss = trainer.compute_loss(x[1100:], y[1100:]).item()
print(f"test pinball {test_loss:.4f}, 80% band covers {trainer.coverage(x[1100:], y[1100:]):.2f}")
""",
    ("total = torch.stack(losses)", "total = torch.tensor(losses, requires_grad=True)"),
)

fault(
    "vmapped ensemble for uncertainty",
    "[build()] * MEMBERS is one network listed eight times, and all see the same data, so the members stay identical and the ensemble's spread is zero everywhere",
    ("same layer",),
    (26,),
    """\
import copy
import torch
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(17)
MEMBERS = 8


def build():
    net = nn.Sequential(nn.Linear(1, 50), nn.Tanh(), nn.Linear(50, 1))
    nn.init.normal_(net[0].weight, std=3.0)
    nn.init.uniform_(net[0].bias, -4.0, 4.0)
    return net


def response(x):
    return torch.tanh(2 * x) + 0.2 * torch.sin(5 * x)


# measured on both sides, nothing in between
x = torch.cat([torch.rand(80, 1) * 0.8 - 1.5, torch.rand(80, 1) * 0.8 + 0.7])
y = response(x) + 0.03 * torch.randn_like(x)

# the members differ by their start only
models = [build() for _ in range(MEMBERS)]
params, buffers = stack_module_state(models)
params = {k: v.detach() for k, v in params.items()}
base = copy.deepcopy(models[0]).to("meta")


def predict(p, b, inp):
    return functional_call(base, (p, b), (inp,))


def loss_fn(p, b, inp, target):
    return (predict(p, b, inp) - target).pow(2).mean()


train_grads = vmap(grad_and_value(loss_fn), in_dims=(0, 0, None, None))
velocity = {k: torch.zeros_like(v) for k, v in params.items()}

lr, mu = 0.03, 0.9
for it in range(801):
    g, losses = train_grads(params, buffers, x, y)
    velocity = {k: mu * velocity[k] + g[k] for k in params}
    params = {k: params[k] - lr * velocity[k] for k in params}
    if it % 200 == 0:
        print(it, "mean loss", round(losses.mean().item(), 5))

ensemble = vmap(predict, in_dims=(0, 0, None))
gap = torch.linspace(-0.4, 0.4, 50).unsqueeze(1)
out_gap, out_near = ensemble(params, buffers, gap), ensemble(params, buffers, x)
inside = ((out_gap.mean(0) - response(gap)).abs() < 2 * out_gap.std(0) + 0.03).float().mean().item()
print(f"spread on data {out_near.std(0).mean().item():.4f}, spread in the gap {out_gap.std(0).mean().item():.4f}, "
      f"truth within two spreads {inside:.2f}")
""",
    ("models = [build() for _ in range(MEMBERS)]", "models = [build()] * MEMBERS"),
)
