"""Training loops: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "sine fit with decay",
    "the scheduler meant for epochs is stepped after every batch, so the rate is nil in a few epochs",
    ("rate",),
    (41, 30),
    """\
import math

import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_data(n=1280):
    x = torch.rand(n, 2) * 4 - 2
    y = torch.sin(0.5 * math.pi * x[:, 0]) * torch.cos(x[:, 1])
    return TensorDataset(x, y[:, None] + 0.02 * torch.randn(n, 1))


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    total = sum(nn.functional.mse_loss(net(x), y, reduction="sum").item() for x, y in loader)
    net.train()
    return total / len(loader.dataset)


torch.manual_seed(3)
train_set, val_set = random_split(make_data(), [1024, 256])
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
val_loader = DataLoader(val_set, batch_size=256)

net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=1e-4)
scheduler = ExponentialLR(optimizer, gamma=0.9)

for epoch in range(40):
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        running += loss.item() * len(x)
    scheduler.step()
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1:2d} train {running / len(train_set):.4f} val {evaluate(net, val_loader):.4f}")
""",
    (
        "        running += loss.item() * len(x)\n    scheduler.step()\n",
        "        running += loss.item() * len(x)\n        scheduler.step()\n",
    ),
)

fault(
    "classifier with early stopping",
    "the best state is a reference to the live tensors, so restoring it gives the last weights",
    ("no copy",),
    (25, 56),
    """\
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(30, width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        return self.out(F.relu(self.fc2(F.relu(self.fc1(x)))))


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.state = patience, float("inf"), 0, None

    def update(self, value, model):
        if value < self.best:
            self.best = value
            self.bad = 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


def batches(x, y, size):
    order = torch.randperm(len(x))
    for idx in order.split(size):
        yield x[idx], y[idx]


torch.manual_seed(0)
x = torch.randn(900, 30)
y = ((x[:, 0] + x[:, 1] * x[:, 2] + 0.7 * torch.randn(900)) > 0).long()
x_train, y_train, x_val, y_val = x[:300], y[:300], x[300:], y[300:]
model = Net(64)
stopper = EarlyStopping(patience=25)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(200):
    for xb, yb in batches(x_train, y_train, 32):
        opt.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        opt.step()
    with torch.no_grad():
        val = F.cross_entropy(model(x_val), y_val).item()
    if epoch % 5 == 0:
        print(f"{epoch:3d} val loss {val:.3f} best {stopper.best:.3f}")
    if stopper.update(val, model):
        print(f"stopped at epoch {epoch}")
        break
model.load_state_dict(stopper.state)
with torch.no_grad():
    print(f"restored model: val loss {F.cross_entropy(model(x_val), y_val).item():.3f}")
""",
    ("import copy\n\nimport torch\n", "import torch\n"),
    ("self.state = copy.deepcopy(model.state_dict())\n", "self.state = model.state_dict()\n"),
)

fault(
    "transfer to six classes",
    "the optimizer is made before the head is replaced, so the new head is never trained",
    ("not held",),
    (48, 49),
    """\
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Linear(20, 96),
            nn.ReLU(),
            nn.Linear(96, 32),
            nn.ReLU(),
        )
        self.head = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.head(self.features(x))


def fit(model, optimizer, x, y, epochs, tag):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, epochs + 1):
        correct = total = 0
        for idx in torch.randperm(len(x)).split(100):
            logits = model(x[idx])
            loss = criterion(logits, y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += (logits.argmax(1) == y[idx]).sum().item()
            total += len(idx)
        if epoch % 5 == 0:
            print(f"[{tag}] epoch {epoch} loss {loss.item():.3f} acc {correct / total:.3f}")


torch.manual_seed(11)
source, target = torch.randn(10, 20), torch.randn(6, 20)
y_src = torch.randint(0, 10, (3000,))
y_tgt = torch.randint(0, 6, (600,))
x_src = source[y_src] + 0.8 * torch.randn(3000, 20)
x_tgt = target[y_tgt] + 0.8 * torch.randn(600, 20)

model = Classifier(10)
fit(model, torch.optim.Adam(model.parameters(), lr=1e-3), x_src, y_src, 10, "pretrain")

for param in model.features.parameters():
    param.requires_grad = False
model.head = nn.Linear(32, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
fit(model, optimizer, x_tgt, y_tgt, 40, "finetune")
""",
    (
        """\
    param.requires_grad = False
model.head = nn.Linear(32, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
""",
        """\
    param.requires_grad = False
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
model.head = nn.Linear(32, 6)
""",
    ),
)
