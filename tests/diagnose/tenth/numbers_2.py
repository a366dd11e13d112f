"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "forecasting a river level from three gauges with an LSTM",
    "nn.LSTM is built without batch_first=True but gets (batch, time, feature), so it runs along the batch and sees only the last time step of each window",
    ("other axis",),
    (34, 43),
    """\
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

torch.manual_seed(2)
torch.set_num_threads(1)


def simulate(n_days):
    rain = torch.relu(torch.randn(n_days, 2) - 0.3) * 2
    level = torch.zeros(n_days)
    for t in range(8, n_days):
        inflow = 0.5 * rain[t - 3, 0] + 0.7 * rain[t - 6, 1] + 0.1 * rain[t - 5, 0] * rain[t - 6, 1]
        level[t] = 0.4 * level[t - 1] + inflow + 0.1 * torch.randn(())
    return torch.cat([rain, level[:, None]], dim=1)[8:]


class Windows(Dataset):
    def __init__(self, series, window=10):
        self.series = series
        self.window = window

    def __len__(self):
        return len(self.series) - self.window

    def __getitem__(self, i):
        past = self.series[i:i + self.window]
        return past, self.series[i + self.window, 2]


class LevelForecaster(nn.Module):
    def __init__(self, n_features=3, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(
            n_features,
            hidden,
            num_layers=1,
            batch_first=True,
        )
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1]).squeeze(-1)


series = simulate(2000)
n_train = 1600
mean, std = series[:n_train].mean(0), series[:n_train].std(0)
series = (series - mean) / std
train_loader = DataLoader(Windows(series[:n_train]), batch_size=32, shuffle=True)
test_loader = DataLoader(Windows(series[n_train:]), batch_size=64)

model = LevelForecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()


def validate():
    model.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for past, target in test_loader:
            err += ((model(past) - target) ** 2).sum().item()
            n += len(target)
    return err / n


for epoch in range(1, 21):
    model.train()
    for past, target in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(past), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch} last batch {loss.item():.4f} test mse {validate():.4f}")

naive = ((series[n_train + 10:, 2] - series[n_train + 9:-1, 2]) ** 2).mean().item()
print(f"test mse {validate():.4f}, yesterday's level as forecast {naive:.4f}")
""",
    ("            batch_first=True,\n", ""),
)

fault(
    "message passing on a citation-like graph",
    "out[dst] += messages with repeated indices does not accumulate: each node receives only one of its neighbours' messages, so the sum over neighbours cannot be learned",
    ("last stays",),
    (30,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(21)

NODES, EDGES, FEATS = 1500, 9000, 6
src = torch.randint(NODES, (EDGES,), generator=gen)
dst = torch.randint(NODES, (EDGES,), generator=gen)
keep = src != dst
src, dst = src[keep], dst[keep]
x = torch.randn(NODES, FEATS, generator=gen)

# influence of a node: what its neighbours send, passed through their own weights
sent = torch.sigmoid(2 * x[:, 0]) * x[:, 1] + 0.5 * x[:, 2]
influence = torch.zeros(NODES).index_add(0, dst, sent[src]) + 0.3 * x[:, 3]
y = (influence - influence.mean()) / influence.std() + 0.05 * torch.randn(NODES, generator=gen)


class NeighbourSum(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, n_out))
        self.own = nn.Linear(n_in, n_out)

    def forward(self, h, src, dst):
        msg = self.message(h)[src]
        out = torch.zeros(h.size(0), msg.size(1))
        out.index_add_(0, dst, msg)
        return self.own(h) + out


class GraphRegressor(nn.Module):
    def __init__(self, n_in, width=16):
        super().__init__()
        self.conv = NeighbourSum(n_in, width)
        self.readout = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 16), nn.Tanh())
        self.final = nn.Linear(16 + width, 1)

    def forward(self, x, src, dst):
        h = self.conv(x, src, dst)
        return self.final(torch.cat([h, self.readout(h)], dim=1)).squeeze(1)


def r2(pred, target):
    return (1 - (pred - target).pow(2).sum() / (target - target.mean()).pow(2).sum()).item()


torch.manual_seed(4)
perm = torch.randperm(NODES)
train_nodes, test_nodes = perm[:1100], perm[1100:]
net = GraphRegressor(FEATS)
opt = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=1e-4)

for step in range(400):
    net.train()
    pred = net(x, src, dst)
    loss = F.mse_loss(pred[train_nodes], y[train_nodes])
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 80 == 79:
        net.eval()
        with torch.no_grad():
            pred = net(x, src, dst)
        print(f"step {step + 1}: train R2 {r2(pred[train_nodes], y[train_nodes]):.3f} "
              f"test R2 {r2(pred[test_nodes], y[test_nodes]):.3f}")
""",
    ("        out.index_add_(0, dst, msg)\n", "        out[dst] += msg\n"),
)

fault(
    "physics-informed net for a damped pendulum",
    "the second derivative is taken with retain_graph=True instead of create_graph=True, so it is a constant for backward and the ODE residual pushes the net in a wrong direction",
    ("flat derivative",),
    (34,),
    """\
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

DAMPING, STIFFNESS = 0.3, 2.0
THETA0, OMEGA0 = 1.2, 0.0
T_END = 4.0


class Pendulum(nn.Module):
    def __init__(self, width=24, depth=2):
        super().__init__()
        layers, n_in = [], 1
        for _ in range(depth):
            layers += [nn.Linear(n_in, width), nn.Tanh()]
            n_in = width
        layers.append(nn.Linear(n_in, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, t):
        # start angle and start speed are built in
        return THETA0 + OMEGA0 * t + t ** 2 / (1 + t ** 2) * self.net(t - T_END / 2)


model = Pendulum()


def residual(t):
    t = t.requires_grad_(True)
    theta = model(t)
    omega = torch.autograd.grad(theta, t, torch.ones_like(theta), create_graph=True)[0]
    alpha = torch.autograd.grad(omega, t, torch.ones_like(omega), create_graph=True)[0]
    return alpha + DAMPING * omega + STIFFNESS * torch.sin(theta)


def runge_kutta(n_steps):
    def deriv(s):
        return torch.stack([s[1], -DAMPING * s[1] - STIFFNESS * torch.sin(s[0])])

    h, state, path = T_END / n_steps, torch.tensor([THETA0, OMEGA0]), [THETA0]
    for _ in range(n_steps):
        k1 = deriv(state)
        k2 = deriv(state + h / 2 * k1)
        k3 = deriv(state + h / 2 * k2)
        k4 = deriv(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state[0].item())
    return torch.tensor(path)


optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=500, gamma=0.5)

for step in range(1, 1501):
    loss = residual(T_END * torch.rand(64, 1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 250 == 0:
        print(f"step {step:5d}  residual loss {loss.item():.2e}")

with torch.no_grad():
    t = torch.linspace(0, T_END, 201).unsqueeze(1)
    err = (model(t).squeeze(1) - runge_kutta(200)).abs()
print(f"max angle error {err.max().item():.4f}, mean {err.mean().item():.4f}")
""",
    ("torch.ones_like(omega), create_graph=True)", "torch.ones_like(omega), retain_graph=True)"),
)

fault(
    "vmapped ensemble with torch.func for uncertainty",
    "stack_module_state copies the parameters, training updates the copies, and the prediction calls the original modules, which are still untrained",
    ("never trained",),
    (63,),
    """\
import copy
import torch
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(8)
torch.set_num_threads(1)

N_MODELS = 6


def make_net():
    return nn.Sequential(nn.Linear(2, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))


def terrain(xy):
    return torch.sin(2 * xy[:, 0]) * torch.cos(1.5 * xy[:, 1]) + 0.3 * xy[:, 0]


# soundings are dense in the middle of the lake and missing at the edges
train_xy = 0.8 * torch.randn(800, 2)
train_z = terrain(train_xy) + 0.05 * torch.randn(800)

models = [make_net() for _ in range(N_MODELS)]
params, buffers = stack_module_state(models)
skeleton = copy.deepcopy(models[0]).to("meta")


def forward_one(p, b, xy):
    return functional_call(skeleton, (p, b), (xy,)).squeeze(-1)


def loss_one(p, b, xy, z):
    return ((forward_one(p, b, xy) - z) ** 2).mean()


ensemble_grad = vmap(grad_and_value(loss_one), in_dims=(0, 0, 0, 0))


def sgd_momentum(params, grads, velocity, lr, beta=0.9):
    new_params, new_velocity = {}, {}
    for name in params:
        new_velocity[name] = beta * velocity[name] + grads[name]
        new_params[name] = (params[name] - lr * new_velocity[name]).detach()
    return new_params, new_velocity


velocity = {k: torch.zeros_like(v) for k, v in params.items()}
params = {k: v.detach() for k, v in params.items()}

for step in range(1, 1201):
    # every member gets its own bootstrap batch
    idx = torch.randint(len(train_xy), (N_MODELS, 64))
    grads, losses = ensemble_grad(params, buffers, train_xy[idx], train_z[idx])
    lr = 0.05 if step <= 900 else 0.01
    params, velocity = sgd_momentum(params, grads, velocity, lr)
    if step % 300 == 0:
        print(f"step {step}  losses {[round(v, 4) for v in losses.tolist()]}")


def predict(xy):
    with torch.no_grad():
        out = vmap(forward_one, in_dims=(0, 0, None))(params, buffers, xy)
    return out.mean(0), out.std(0)


inner = 0.8 * torch.randn(400, 2)
outer = torch.rand(400, 2) * 2 + 2
mean, spread = predict(inner)
rmse = (mean - terrain(inner)).pow(2).mean().sqrt().item()
print(f"inner rmse {rmse:.3f} (spread of the data {terrain(inner).std().item():.3f})")
print(f"uncertainty inner {spread.mean().item():.3f}, outer {predict(outer)[1].mean().item():.3f}")
""",
    (
        "        out = vmap(forward_one, in_dims=(0, 0, None))(params, buffers, xy)\n",
        "        out = torch.stack([m(xy).squeeze(-1) for m in models])\n",
    ),
)

fault(
    "click prediction with sparse embeddings and two optimizers",
    "only the dense optimizer's gradients are cleared, the sparse embedding gradients pile up over all steps, so the embeddings are moved by stale sums and the steps get slower and slower",
    ("used twice",),
    (59, 60),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
torch.set_num_threads(1)

N_USERS, N_ADS, DIM = 400, 250, 8


class ClickLog:
    def __init__(self, n):
        taste = torch.randn(N_USERS, 3)
        topic = torch.randn(N_ADS, 3)
        appeal = 0.6 * torch.randn(N_ADS)
        self.user = torch.randint(N_USERS, (n,))
        self.ad = torch.randint(N_ADS, (n,))
        self.ctx = torch.randn(n, 4)
        logit = 1.2 * (taste[self.user] * topic[self.ad]).sum(1) + appeal[self.ad]
        logit = logit + 0.8 * self.ctx[:, 0] - 0.5 * self.ctx[:, 1] * self.ctx[:, 2] - 0.8
        self.click = torch.bernoulli(torch.sigmoid(logit))

    def batch(self, idx):
        return self.user[idx], self.ad[idx], self.ctx[idx], self.click[idx]


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user_emb = nn.Embedding(N_USERS, DIM, sparse=True)
        self.ad_emb = nn.Embedding(N_ADS, DIM, sparse=True)
        nn.init.normal_(self.user_emb.weight, std=0.2)
        nn.init.normal_(self.ad_emb.weight, std=0.2)
        self.ctx_net = nn.Sequential(nn.Linear(4 + 2 * DIM, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, user, ad, ctx):
        u, a = self.user_emb(user), self.ad_emb(ad)
        return (u * a).sum(1) + self.ctx_net(torch.cat([ctx, u, a], 1)).squeeze(1)


def auc(score, label):
    rank = score.argsort().argsort().float() + 1
    pos = label.sum()
    return ((rank[label == 1].sum() - pos * (pos + 1) / 2) / (pos * (len(label) - pos))).item()


log = ClickLog(30000)
train_idx, test_idx = torch.arange(25000), torch.arange(25000, 30000)
model = TwoTower()
sparse_params = [model.user_emb.weight, model.ad_emb.weight]
opt_sparse = torch.optim.SparseAdam(sparse_params, lr=0.02)
opt_dense = torch.optim.Adam(model.ctx_net.parameters(), lr=2e-3)

for epoch in range(1, 5):
    total = 0.0
    for idx in train_idx[torch.randperm(len(train_idx))].split(500):
        user, ad, ctx, click = log.batch(idx)
        loss = F.binary_cross_entropy_with_logits(model(user, ad, ctx), click)
        opt_dense.zero_grad()
        opt_sparse.zero_grad()
        loss.backward()
        opt_dense.step()
        opt_sparse.step()
        total += loss.item() * len(idx)
    with torch.no_grad():
        user, ad, ctx, click = log.batch(test_idx)
        test_auc = auc(model(user, ad, ctx), click)
    print(f"epoch {epoch}  log loss {total / len(train_idx):.4f}  test AUC {test_auc:.4f}")
""",
    ("        opt_sparse.zero_grad()\n", ""),
)

fault(
    "fitting a depinning threshold curve",
    "torch.where hides the NaN of a negative base to a fractional power in forward only; in backward the untaken branch gives 0 * NaN = NaN, all parameters become NaN after the first step",
    ("not finite",),
    (29, 28),
    """\
import torch

torch.manual_seed(6)
torch.set_num_threads(1)

# wall velocity against driving field: zero below a threshold, a power law above it
TRUE = {"amp": 2.3, "field_c": 1.1, "beta": 1.6}


def measure(n):
    field = torch.linspace(0.2, 4.0, n)
    above = (field - TRUE["field_c"]).clamp(min=0)
    velocity = TRUE["amp"] * above ** TRUE["beta"]
    return field, velocity + 0.08 * torch.randn(n)


field, velocity = measure(240)
scale = velocity.std()

log_amp = torch.zeros((), requires_grad=True)
field_c = torch.tensor(2.0, requires_grad=True)
log_beta = torch.zeros((), requires_grad=True)


def curve(f):
    amp, beta = log_amp.exp(), log_beta.exp()
    excess = f - field_c
    law = amp * excess.clamp(min=1e-6) ** beta
    return torch.where(excess > 0, law, torch.zeros_like(f))


def report(step, loss):
    print(
        f"step {step:5d}  loss {loss.item():.5f}  amp {log_amp.exp().item():.3f}  "
        f"threshold {field_c.item():.3f}  beta {log_beta.exp().item():.3f}"
    )


optimizer = torch.optim.Adam(
    [
        {"params": [log_amp, log_beta], "lr": 0.03},
        {"params": [field_c], "lr": 0.03},
    ]
)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2500)

for step in range(1, 2501):
    optimizer.zero_grad()
    residual = (curve(field) - velocity) / scale
    loss = residual.square().mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step == 1 or step % 500 == 0:
        report(step, loss)

print("true values", TRUE)
""",
    ("    law = amp * excess.clamp(min=1e-6) ** beta\n", "    law = amp * excess ** beta\n"),
)
