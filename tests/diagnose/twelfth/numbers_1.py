"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "bike rental demand regression",
    "the network returns (N, 1) while the targets are (N,), so mse_loss broadcasts to N x N and the model can only learn the mean",
    ("broadcast",),
    (29, 50),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)

# hourly bike rentals: hour of day, temperature, humidity, wind, holiday flag
n = 3000
hour = torch.rand(n) * 24
temp = torch.randn(n) * 8 + 15
hum = torch.rand(n)
wind = torch.rand(n) * 10
holiday = (torch.rand(n) < 0.1).float()
rentals = (120 + 80 * torch.sin((hour - 8) / 24 * 6.283) + 4 * (temp - 15)
           - 60 * hum - 3 * wind - 40 * holiday + torch.randn(n) * 8)


class DemandNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, 64), nn.ReLU(),
            nn.Linear(64, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


feats = torch.stack([torch.sin(hour / 24 * 6.283), torch.cos(hour / 24 * 6.283),
                     temp, hum, wind, holiday], dim=1)
n_train = 2400
mean, std = feats[:n_train].mean(0), feats[:n_train].std(0)
feats = (feats - mean) / std
y_mean, y_std = rentals[:n_train].mean(), rentals[:n_train].std()
target = (rentals - y_mean) / y_std

train_loader = DataLoader(TensorDataset(feats[:n_train], target[:n_train]), batch_size=64, shuffle=True)
x_test, y_test = feats[n_train:], target[n_train:]

model = DemandNet(feats.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(20):
    running = 0.0
    for xb, yb in train_loader:
        pred = model(xb)
        loss = F.mse_loss(pred, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(xb)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: train mse {running / n_train:.4f}")

model.eval()
with torch.no_grad():
    p = model(x_test).flatten()
r2 = 1 - ((p - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()
print(f"test R2 {r2.item():.3f}")
""",
    ("return self.net(x).squeeze(-1)", "return self.net(x)"),
)

fault(
    "stateful GRU on a power load signal",
    "the hidden state is carried over to the next chunk with its graph, so the second backward runs into the freed graph of the first and raises",
    ("second pass",),
    (44, 46),
    """\
import math
import torch
from torch import nn

torch.manual_seed(3)

# one long signal per station: daily and weekly rhythm plus noise
T, stations = 960, 16
t = torch.arange(T).float()
phase = torch.rand(stations, 1) * 6.28
load = (torch.sin(2 * math.pi * t / 24 + phase)
        + 0.5 * torch.sin(2 * math.pi * t / 168 + phase)
        + 0.05 * torch.randn(stations, T))


class LoadGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, h):
        out, h = self.gru(x, h)
        return self.head(out), h


def chunks(signal, size):
    for start in range(0, signal.shape[1] - size - 1, size):
        x = signal[:, start:start + size].unsqueeze(-1)
        y = signal[:, start + 1:start + size + 1].unsqueeze(-1)
        yield x, y


model = LoadGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(8):
    h = torch.zeros(1, stations, 32)
    total, count = 0.0, 0
    for x, y in chunks(load, 32):
        # the state of the previous chunk starts the next one
        optimizer.zero_grad()
        out, h = model(x, h)
        loss = criterion(out, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        h = h.detach()
        total += loss.item()
        count += 1
    print(f"epoch {epoch}: one-step mse {total / count:.4f}")

print(f"variance of the signal {load.var().item():.4f}, last mse {total / count:.4f}")
""",
    ("        h = h.detach()\n", ""),
)

fault(
    "trainer for concrete strength",
    "scheduler.step() is called for every batch although StepLR is meant to count epochs, so the learning rate is gone within the first epochs",
    ("rate",),
    (49,),
    """\
import torch
import torch.nn as nn


def make_concrete(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 8, generator=g)
    cement, slag, ash, water, sp, coarse, fine, age = x.unbind(1)
    y = 30 * cement + 12 * slag - 25 * water + 10 * torch.log1p(20 * age) + 15 * cement * age
    y = y + 6 * torch.sin(6 * sp) + 3 * ash * fine - 2 * coarse
    return x, y.unsqueeze(1) + torch.randn(n, 1, generator=g)


class Scaler:
    def fit(self, a):
        self.mu, self.sd = a.mean(0), a.std(0)
        return self

    def __call__(self, a):
        return (a - self.mu) / self.sd

    def back(self, a):
        return a * self.sd + self.mu


class Trainer:
    def __init__(self, model, optimizer, scheduler, epochs, batch_size):
        self.model = model
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.epochs = epochs
        self.batch_size = batch_size
        self.loss_fn = nn.MSELoss()
        self.history = []

    def training_step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run_epoch(self, x, y):
        self.model.train()
        losses = []
        order = torch.randperm(len(x))
        for idx in order.split(self.batch_size):
            losses.append(self.training_step(x[idx], y[idx]))
        return sum(losses) / len(losses)

    def fit(self, x, y):
        for epoch in range(self.epochs):
            self.history.append(self.run_epoch(x, y))
            self.scheduler.step()
            if (epoch + 1) % 8 == 0:
                print(f"epoch {epoch + 1:3d} loss {self.history[-1]:.4f}")

    @torch.no_grad()
    def rmse(self, x, y, scaler):
        self.model.eval()
        return (scaler.back(self.model(x)) - scaler.back(y)).pow(2).mean().sqrt().item()


torch.manual_seed(0)
x, y = make_concrete(1600, 1)
xt, yt = make_concrete(400, 2)
sx, sy = Scaler().fit(x), Scaler().fit(y)
net = nn.Sequential(nn.Linear(8, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=8, gamma=0.4)
trainer = Trainer(net, opt, sched, epochs=40, batch_size=32)
trainer.fit(sx(x), sy(y))
print(f"test rmse {trainer.rmse(sx(xt), sy(yt), sy):.2f} MPa (spread {yt.std().item():.2f})")
""",
    (
        "            losses.append(self.training_step(x[idx], y[idx]))\n",
        "            losses.append(self.training_step(x[idx], y[idx]))\n            self.scheduler.step()\n",
    ),
    (
        "            self.history.append(self.run_epoch(x, y))\n            self.scheduler.step()\n",
        "            self.history.append(self.run_epoch(x, y))\n",
    ),
)

fault(
    "click model for movies",
    "forward already applies the sigmoid but BCEWithLogitsLoss and the evaluation apply it again, so no probability can leave 0.5 to 0.73",
    ("soft twice",),
    (31, 36, 44),
    """\
import torch
import torch.nn as nn

torch.manual_seed(21)
n_users, n_items, k = 120, 80, 6

# hidden tastes decide who clicks on what
taste = torch.randn(n_users, k)
style = torch.randn(n_items, k)
truth = 1.6 * (taste @ style.T) - 1.0
clicks = torch.bernoulli(torch.sigmoid(truth))

users, items = torch.meshgrid(torch.arange(n_users), torch.arange(n_items), indexing="ij")
pairs = torch.stack([users.flatten(), items.flatten()], 1)
labels = clicks.flatten()
perm = torch.randperm(len(pairs))
train_idx, test_idx = perm[:7600], perm[7600:]


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, 6)
        self.item = nn.Embedding(n_items, 6)
        self.bias = nn.Embedding(n_items, 1)
        for e in (self.user, self.item, self.bias):
            nn.init.normal_(e.weight, std=0.1)

    def forward(self, u, i):
        score = (self.user(u) * self.item(i)).sum(1) + self.bias(i).squeeze(1)
        return score


model = ClickModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-4)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(9):
    order = train_idx[torch.randperm(len(train_idx))]
    total = 0.0
    for idx in order.split(128):
        u, i = pairs[idx, 0], pairs[idx, 1]
        out = model(u, i)
        loss = criterion(out, labels[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 3 == 2:
        print("epoch", epoch, "log loss", round(total / len(order), 4))

with torch.no_grad():
    u, i = pairs[test_idx, 0], pairs[test_idx, 1]
    prob = torch.sigmoid(model(u, i))
    y = labels[test_idx]
    logloss = nn.functional.binary_cross_entropy(prob, y).item()
    acc = ((prob > 0.5).float() == y).float().mean().item()
print(f"click rate {y.mean().item():.3f}  test log loss {logloss:.3f}  accuracy {acc:.3f}")
""",
    ("        return score\n", "        return torch.sigmoid(score)\n"),
)

fault(
    "encoder and decoder with an optimizer each",
    "only the decoder's optimizer clears its gradients, so the encoder's gradients pile up over all steps and its updates run away",
    ("used twice",),
    (46, 47, 48),
    """\
import torch
import torch.nn as nn

torch.manual_seed(5)


def sensor_readings(n):
    # 20 sensors that see 3 hidden machine states
    state = torch.randn(n, 3)
    mix = torch.randn(3, 20, generator=torch.Generator().manual_seed(9))
    return torch.tanh(state @ mix * 0.6) + 0.03 * torch.randn(n, 20)


class Encoder(nn.Module):
    def __init__(self, d_in, d_code):
        super().__init__()
        self.fc1 = nn.Linear(d_in, 40)
        self.fc2 = nn.Linear(40, d_code)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class Decoder(nn.Module):
    def __init__(self, d_code, d_out):
        super().__init__()
        self.fc1 = nn.Linear(d_code, 40)
        self.fc2 = nn.Linear(40, d_out)

    def forward(self, z):
        return self.fc2(torch.tanh(self.fc1(z)))


train, test = sensor_readings(2000), sensor_readings(400)
enc, dec = Encoder(20, 3), Decoder(3, 20)
opt_enc = torch.optim.SGD(enc.parameters(), lr=0.1, momentum=0.9)
opt_dec = torch.optim.SGD(dec.parameters(), lr=0.2, momentum=0.9)
mse = nn.MSELoss()

step = 0
for epoch in range(25):
    for batch in train[torch.randperm(len(train))].split(50):
        code = enc(batch)
        rebuilt = dec(code)
        loss = mse(rebuilt, batch)
        opt_enc.zero_grad()
        opt_dec.zero_grad()
        loss.backward()
        opt_enc.step()
        opt_dec.step()
        step += 1
        if step % 200 == 0:
            print(f"step {step}: rebuild error {loss.item():.4f}")

with torch.no_grad():
    err = mse(dec(enc(test)), test).item()
print(f"test error {err:.4f}, share of variance explained {1 - err / test.var().item():.3f}")
""",
    ("        opt_enc.zero_grad()\n", ""),
)

fault(
    "q-learning in a corridor with two exits",
    "the TD target bootstraps from the state after an episode's end (the env has already reset it) instead of stopping at done, so values are far too high and the near small exit is preferred",
    ("beyond the end",),
    (66,),
    """\
import copy
import random
from collections import deque

import torch
import torch.nn as nn

random.seed(4)
torch.manual_seed(4)
GAMMA = 0.95


class Corridor:
    # cells 0..7; exit on the left pays little, exit on the right pays more
    def __init__(self):
        self.pos = 1

    def reset(self):
        self.pos = 1
        return self.pos

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        if self.pos == 0:
            return self.reset(), 0.4, True
        if self.pos == 7:
            return self.reset(), 1.0, True
        return self.pos, 0.0, False


def encode(positions):
    return nn.functional.one_hot(torch.as_tensor(positions), 8).float()


def act(net, s, eps):
    if random.random() < eps:
        return random.randrange(2)
    with torch.no_grad():
        return net(encode([s])).argmax(1).item()


q_net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=2e-3)
memory = deque(maxlen=3000)

env = Corridor()
s = env.reset()
for step in range(3500):
    eps = max(0.3, 1.0 - step / 2000)
    a = act(q_net, s, eps)
    s2, r, done = env.step(a)
    memory.append((s, a, r, s2, done))
    s = s2
    if len(memory) < 200:
        continue

    batch = random.sample(memory, 64)
    bs, ba, br, bs2, bd = zip(*batch)
    rewards = torch.tensor(br)
    dones = torch.tensor(bd, dtype=torch.float32)
    actions = torch.tensor(ba).unsqueeze(1)
    q = q_net(encode(bs)).gather(1, actions).squeeze(1)
    with torch.no_grad():
        best_next = target_net(encode(bs2)).max(1).values
        target = rewards + GAMMA * best_next * (1 - dones)
    loss = nn.functional.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        target_net.load_state_dict(q_net.state_dict())

s, ret, disc = env.reset(), 0.0, 1.0
value = q_net(encode([s])).max().item()
for _ in range(30):
    s, r, done = env.step(act(q_net, s, 0.0))
    ret += disc * r
    disc *= GAMMA
    if done:
        break
print(f"predicted value of start {value:.3f}, discounted return of the greedy policy {ret:.3f}")
""",
    ("GAMMA * best_next * (1 - dones)", "GAMMA * best_next"),
)
