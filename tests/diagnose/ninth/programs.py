"""Programs of several kinds: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "house prices with a broadcast loss",
    "predictions of shape (B, 1) are compared with targets of shape (B,), so the error broadcasts to (B, B)",
    ("broadcast",),
    (25, 39, 29),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)

n = 1200
area = torch.rand(n) * 2 - 1
beds = torch.randint(1, 7, (n,)).float() / 3 - 1
age = torch.rand(n) * 2 - 1
features = torch.stack([area, beds, age], dim=1)
price = 2.0 * area + 0.8 * beds - torch.sin(2 * age) + 0.1 * torch.randn(n)

train_set = TensorDataset(features[:1000], price[:1000])
val_x, val_y = features[1000:], price[1000:]
loader = DataLoader(train_set, batch_size=50, shuffle=True)


class PriceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


def huber(pred, target, delta=1.0):
    error = (pred - target).abs()
    return torch.where(error < delta, 0.5 * error**2, delta * (error - 0.5 * delta)).mean()


model = PriceNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(20):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = huber(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        rmse = (model(val_x).flatten() - val_y).pow(2).mean().sqrt().item()
    print(f"epoch {epoch + 1}: train {total / len(loader):.4f}  val rmse {rmse:.4f}")
""",
    ("return self.body(x).squeeze(-1)\n", "return self.body(x)\n"),
)

fault(
    "sensor dataset with jitter",
    "the augmentation adds its noise in place to a view of the stored row, so the data drift over epochs",
    ("worn",),
    (20, 16),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class SensorDataset(Dataset):
    def __init__(self, readings, target, jitter=0.0):
        self.readings = readings
        self.target = target
        self.jitter = jitter

    def __len__(self):
        return len(self.readings)

    def __getitem__(self, index):
        reading = self.readings[index]
        label = self.target[index]
        if self.jitter > 0:
            noise = torch.randn(reading.shape) * self.jitter
            reading = reading + noise
        return reading, label


torch.manual_seed(11)
readings = torch.randn(700, 6)
mix = torch.randn(6)
target = (readings @ mix + 0.7 * readings[:, 0] * readings[:, 1]).unsqueeze(1)

train_loader = DataLoader(SensorDataset(readings[:500], target[:500], jitter=0.2), batch_size=25, shuffle=True)
val_loader = DataLoader(SensorDataset(readings[500:], target[500:]), batch_size=100)

net = nn.Sequential(nn.Linear(6, 48), nn.Tanh(), nn.Linear(48, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=40)
mse = nn.MSELoss()

for epoch in range(40):
    net.train()
    running, seen = 0.0, 0
    for x, y in train_loader:
        opt.zero_grad()
        loss = mse(net(x), y)
        loss.backward()
        opt.step()
        running += loss.item() * len(x)
        seen += len(x)
    sched.step()
    net.eval()
    with torch.no_grad():
        val = sum(mse(net(x), y).item() for x, y in val_loader) / len(val_loader)
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1:2d}  train {running / seen:.4f}  val {val:.4f}")
""",
    ("            reading = reading + noise\n", "            reading += noise\n"),
)

fault(
    "city codes of two splits",
    "the category codes of the validation rows come from their own vocabulary, not from that of training",
    ("coded anew",),
    (37,),
    """\
import random

import torch
from torch import nn

random.seed(5)
torch.manual_seed(5)

CITIES = ["oslo", "lima", "rome", "cairo", "delhi", "paris", "quito", "tokyo", "accra", "dakar"]
RENT = {city: random.uniform(-2, 2) for city in CITIES}


def build_vocab(rows):
    vocab = {}
    for city, _, _ in rows:
        vocab.setdefault(city, len(vocab))
    return vocab


def make_rows(count):
    rows = []
    for _ in range(count):
        city, size = random.choice(CITIES), random.uniform(-1, 1)
        rows.append((city, size, RENT[city] + 1.5 * size + random.gauss(0, 0.1)))
    return rows


def encode(rows, vocab):
    codes = torch.tensor([vocab[city] for city, _, _ in rows])
    sizes = torch.tensor([[size] for _, size, _ in rows])
    rents = torch.tensor([[rent] for _, _, rent in rows])
    return codes, sizes, rents


train_rows, val_rows = make_rows(800), make_rows(200)
vocab = build_vocab(train_rows)
train, val = encode(train_rows, vocab), encode(val_rows, vocab)


class RentModel(nn.Module):
    def __init__(self, n_cities):
        super().__init__()
        self.city = nn.Embedding(n_cities, 4)
        self.head = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, codes, sizes):
        return self.head(torch.cat([self.city(codes), sizes], dim=1))


model = RentModel(len(vocab))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1, 401):
    pick = torch.randint(0, 800, (64,))
    loss = nn.functional.mse_loss(model(train[0][pick], train[1][pick]), train[2][pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        with torch.no_grad():
            val_loss = nn.functional.mse_loss(model(val[0], val[1]), val[2])
        print(f"step {step}: train {loss.item():.4f} val {val_loss.item():.4f}")
""",
    (
        "train, val = encode(train_rows, vocab), encode(val_rows, vocab)\n",
        "train, val = encode(train_rows, vocab), encode(val_rows, build_vocab(val_rows))\n",
    ),
)

fault(
    "standardised loan table",
    "mean and deviation are taken over the columns of each row (dim=1), not over the rows of each column",
    ("by row",),
    (16, 17),
    """\
import torch
import torch.nn.functional as F
from torch import nn, optim

torch.manual_seed(21)


def make_table(n):
    income = 40000 + 12000 * torch.randn(n)
    years = 10 + 4 * torch.randn(n)
    debt = 0.3 + 0.1 * torch.randn(n)
    return torch.stack([income, years, debt], dim=1)


table = make_table(1500)
mean = table.mean(dim=0, keepdim=True)
std = table.std(dim=0, keepdim=True)
inputs = (table - mean) / std

income, years, debt = table.unbind(1)
score = (income - 40000) / 12000 + 0.8 * (years - 10) / 4 - 1.2 * ((debt - 0.3) / 0.1) + 0.1 * torch.randn(1500)
score = score.unsqueeze(1)

order = torch.randperm(1500)
train_idx, test_idx = order[:1200], order[1200:]

model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.9)


def r2(pred, true):
    return 1 - ((pred - true) ** 2).sum() / ((true - true.mean()) ** 2).sum()


for epoch in range(15):
    shuffled = train_idx[torch.randperm(len(train_idx))]
    losses = []
    for rows in shuffled.split(60):
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs[rows]), score[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        fit = r2(model(inputs[test_idx]), score[test_idx])
    print(f"epoch {epoch:2d} loss {sum(losses) / len(losses):.4f} test R2 {fit.item():.3f}")
""",
    (
        "mean = table.mean(dim=0, keepdim=True)\nstd = table.std(dim=0, keepdim=True)\n",
        "mean = table.mean(dim=1, keepdim=True)\nstd = table.std(dim=1, keepdim=True)\n",
    ),
)
