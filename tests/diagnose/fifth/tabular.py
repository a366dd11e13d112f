"""Tables and regression: programs with a fault each, and their healthy counterparts.

Invariant: written by people who had read no rule.
"""

from .program import fault

fault(
    "padding index on a real category",
    "padding_idx=0 freezes the vector of store 0, which is a real store, at zeros",
    ("real padding",),
    (16,),
    """\
import torch
from torch import nn

torch.manual_seed(4)
N_STORES, N_PRODUCTS, RANK = 6, 40, 3
true_store = torch.randn(N_STORES, RANK)
true_product = torch.randn(N_PRODUCTS, RANK)
store = torch.randint(0, N_STORES, (4000,))
product = torch.randint(0, N_PRODUCTS, (4000,))
sales = (true_store[store] * true_product[product]).sum(1) + 0.1 * torch.randn(4000)


class SalesModel(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.store = nn.Embedding(N_STORES, dim)
        self.product = nn.Embedding(N_PRODUCTS, dim)
        self.product_bias = nn.Embedding(N_PRODUCTS, 1)
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, s, p):
        match = (self.store(s) * self.product(p)).sum(1)
        return match + self.product_bias(p).squeeze(1) + self.bias


train, val = slice(0, 3200), slice(3200, 4000)
model = SalesModel()
opt = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-5)
for epoch in range(12):
    order = torch.randperm(3200)
    total = 0.0
    for idx in order.split(128):
        loss = nn.functional.mse_loss(model(store[idx], product[idx]), sales[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    with torch.no_grad():
        errors = (model(store[val], product[val]) - sales[val]) ** 2
        by_store = [errors[store[val] == s].mean().item() for s in range(N_STORES)]
    print(f"epoch {epoch + 1:2d} train {total / 3200:.4f} val {errors.mean():.4f} worst store {max(by_store):.4f}")
""",
    ("self.store = nn.Embedding(N_STORES, dim)", "self.store = nn.Embedding(N_STORES, dim, padding_idx=0)"),
)

fault(
    "quantile loss with the residual turned round",
    "the pinball loss takes prediction minus target, so the 0.9 output learns the 0.1 quantile and so on",
    ("sides exchanged",),
    (13, 14),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class QuantileLoss(nn.Module):
    def __init__(self, quantiles):
        super().__init__()
        self.register_buffer("q", torch.tensor(quantiles))

    def forward(self, pred, target):
        target = target.unsqueeze(1)
        diff = target - pred
        return torch.maximum(self.q * diff, (self.q - 1) * diff).mean()


def fit(model, loss_fn, loader, epochs, lr):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    for epoch in range(epochs):
        mean = 0.0
        for features, target in loader:
            optimizer.zero_grad()
            loss = loss_fn(model(features), target)
            loss.backward()
            optimizer.step()
            scheduler.step()
            mean += loss.item() / len(loader)
        print(f"epoch {epoch + 1} pinball {mean:.4f}")


torch.manual_seed(21)
x = torch.rand(3000, 5) * 2 - 1
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 1.5]) + torch.randn(3000) * (0.3 + x[:, 0].abs())
train_set, test_set = random_split(TensorDataset(x, y), [2400, 600])
quantiles = [0.05, 0.5, 0.8, 0.95]
net = nn.Sequential(nn.Linear(5, 32), nn.SiLU(), nn.Linear(32, len(quantiles)))
fit(net, QuantileLoss(quantiles), DataLoader(train_set, batch_size=60, shuffle=True), epochs=12, lr=0.01)
test_x, test_y = test_set[:]
with torch.no_grad():
    covered = (test_y[:, None] <= net(test_x)).float().mean(0)
print("wanted ", " ".join(f"{q:.2f}" for q in quantiles))
print("covered", " ".join(f"{c:.2f}" for c in covered.tolist()))
""",
    ("diff = target - pred", "diff = pred - target"),
)

fault(
    "only the last task is counted",
    "the sum over the tasks is overwritten at each turn, so only the last task is trained",
    ("not reached",),
    (34,),
    """\
import torch
import torch.nn.functional as F
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, n_in, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(48, size) for name, size in tasks.items()})

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared) for name, head in self.heads.items()}


def price_loss(out, y):
    return F.smooth_l1_loss(out.squeeze(-1), y)


def churn_loss(out, y):
    return F.binary_cross_entropy_with_logits(out.squeeze(-1), y)


criteria = {"segment": F.cross_entropy, "price": price_loss, "churn": churn_loss}
weights = {"segment": 1.0, "price": 1.0, "churn": 0.5}


def combined_loss(outputs, targets):
    total, parts = 0.0, {}
    for name, criterion in criteria.items():
        loss = criterion(outputs[name], targets[name])
        parts[name] = loss.item()
        total = total + weights[name] * loss
    return total, parts


torch.manual_seed(8)
x = torch.randn(2000, 10)
targets = {
    "segment": (x @ torch.randn(10, 4)).argmax(1),
    "price": x[:, 0] * x[:, 1] + x[:, 2],
    "churn": (x[:, 3] + x[:, 4] > 0).float(),
}
model = MultiTask(10, {"segment": 4, "price": 1, "churn": 1})
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(1, 501):
    rows = torch.randint(0, 2000, (64,))
    total, parts = combined_loss(model(x[rows]), {k: v[rows] for k, v in targets.items()})
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, f"total {total.item():.3f}", " ".join(f"{k} {v:.3f}" for k, v in parts.items()))
""",
    ("total = total + weights[name] * loss", "total = weights[name] * loss"),
)

fault(
    "fields share one table without offsets",
    "the ids of all fields go into one table without their offsets, so user 3 and item 3 are one vector",
    ("no offsets",),
    (18, 19),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class FactorizationMachine(nn.Module):
    def __init__(self, field_sizes, dim):
        super().__init__()
        sizes = torch.tensor(field_sizes)
        self.register_buffer("offsets", sizes.cumsum(0) - sizes)
        self.embedding = nn.Embedding(sum(field_sizes), dim)
        self.linear = nn.Embedding(sum(field_sizes), 1)
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.normal_(self.embedding.weight, std=0.1)
        nn.init.zeros_(self.linear.weight)

    def forward(self, fields):
        ids = fields + self.offsets
        v = self.embedding(ids)
        pairs = 0.5 * (v.sum(1).pow(2) - v.pow(2).sum(1)).sum(1)
        return self.bias + self.linear(ids).sum((1, 2)) + pairs


def clicks(n, field_sizes, factors):
    fields = torch.stack([torch.randint(0, size, (n,)) for size in field_sizes], dim=1)
    user, item, place = (f[fields[:, i]] for i, f in enumerate(factors))
    score = 1.5 * (user * item).sum(1) + (item * place).sum(1)
    return fields, torch.bernoulli(torch.sigmoid(2 * score))


torch.manual_seed(2)
field_sizes = [30, 30, 6]
factors = [torch.randn(size, 3) for size in field_sizes]
train = TensorDataset(*clicks(6000, field_sizes, factors))
val_fields, val_y = clicks(1500, field_sizes, factors)
model = FactorizationMachine(field_sizes, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
bce = nn.BCEWithLogitsLoss()
for epoch in range(8):
    total = 0.0
    for fields, y in DataLoader(train, batch_size=100, shuffle=True):
        loss = bce(model(fields), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    with torch.no_grad():
        logits = model(val_fields)
    accuracy = ((logits > 0).float() == val_y).float().mean()
    print(f"epoch {epoch} train {total / 6000:.4f} val {bce(logits, val_y):.4f} accuracy {accuracy:.3f}")
""",
    ("ids = fields + self.offsets", "ids = fields"),
)

fault(
    "class weights upside down",
    "the weight of a class grows with its frequency, so the rare classes are given up",
    ("upside down",),
    (20, 21),
    """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(4)
torch.manual_seed(4)
sizes = [1800, 200, 60]
centres = rng.normal(size=(3, 8)) * 0.9
rows = np.concatenate([centres[c] + rng.normal(size=(n, 8)) for c, n in enumerate(sizes)])
target = np.concatenate([np.full(n, c) for c, n in enumerate(sizes)])
order = rng.permutation(len(rows))
X = torch.tensor(rows[order], dtype=torch.float32)
y = torch.tensor(target[order], dtype=torch.long)
cut = int(0.75 * len(X))
mean, std = X[:cut].mean(0), X[:cut].std(0)
X = (X - mean) / std

counts = torch.bincount(y[:cut], minlength=3).float()
weights = counts.sum() / (len(counts) * counts)
criterion = nn.CrossEntropyLoss(weight=weights)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
loader = DataLoader(TensorDataset(X[:cut], y[:cut]), batch_size=64, shuffle=True)

for epoch in range(20):
    model.train()
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 4 == 3:
        model.eval()
        with torch.no_grad():
            guess = model(X[cut:]).argmax(1)
        recall = [(guess[y[cut:] == c] == c).float().mean().item() for c in range(3)]
        shown = " ".join(f"{r:.2f}" for r in recall)
        print(f"epoch {epoch} loss {running / len(loader):.3f} recall {shown} balanced {sum(recall) / 3:.3f}")
""",
    ("weights = counts.sum() / (len(counts) * counts)\n", "weights = counts / counts.sum() * len(counts)\n"),
)

fault(
    "pinball error with the sign turned",
    "the pinball loss takes prediction minus target, so that it learns the opposite quantiles",
    ("sides exchanged",),
    (13, 14),
    """\
import torch
import torch.nn as nn

torch.manual_seed(21)


class PinballLoss(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.register_buffer("levels", torch.tensor(levels))

    def forward(self, pred, target):
        error = target.unsqueeze(1) - pred
        return torch.maximum(self.levels * error, (self.levels - 1) * error).mean()


def houses(n):
    area = torch.rand(n) * 4
    age = torch.rand(n)
    noise = (0.3 + 0.5 * area) * torch.randn(n).exp()
    return torch.stack([area, age], 1), 2 * area - 1.5 * age + noise


levels = [0.1, 0.5, 0.9]
x, y = houses(2000)
x_test, y_test = houses(1000)
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, len(levels)))
loss_fn = PinballLoss(levels)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=600)

for step in range(600):
    pick = torch.randint(len(x), (128,))
    loss = loss_fn(net(x[pick]), y[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 100 == 99:
        with torch.no_grad():
            q = net(x_test)
        below = (y_test.unsqueeze(1) < q).float().mean(0)
        report = ", ".join(f"{want:.0%}: {got:.1%}" for want, got in zip(levels, below.tolist()))
        inside = ((y_test > q[:, 0]) & (y_test < q[:, 2])).float().mean()
        print(f"step {step + 1} loss {loss.item():.3f} | share below {report} | inside the band {inside:.1%}")
""",
    ("        error = target.unsqueeze(1) - pred\n", "        error = pred - target.unsqueeze(1)\n"),
)
