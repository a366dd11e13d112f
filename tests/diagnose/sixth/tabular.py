"""Tables: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "wine kinds",
    "the net ends in a softmax and the cross-entropy takes logits, so the softmax is applied twice",
    ("soft twice",),
    (27, 33, 41),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
KINDS, COLUMNS = 12, 8
centres = torch.randn(KINDS, COLUMNS)


def draw(n):
    kind = torch.randint(0, KINDS, (n,))
    table = centres[kind] + 0.45 * torch.randn(n, COLUMNS)
    return TensorDataset(table, kind)


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(COLUMNS, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, KINDS)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = self.dropout(torch.relu(self.fc2(x)))
        return self.fc3(x)


train_loader = DataLoader(draw(1500), batch_size=32, shuffle=True)
valid_loader = DataLoader(draw(500), batch_size=250)
model = WineNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(1, 21):
    model.train()
    train_loss = 0.0
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * inputs.size(0)
    model.eval()
    correct = 0
    with torch.no_grad():
        for inputs, labels in valid_loader:
            correct += (model(inputs).argmax(dim=1) == labels).sum().item()
    if epoch % 4 == 0:
        print(f"Epoch {epoch}/20 loss={train_loss / 1500:.4f} valid_acc={correct / 500:.4f}")
""",
    ("        return self.fc3(x)\n", "        return torch.softmax(self.fc3(x), dim=1)\n"),
)

fault(
    "loans with columns of all sizes",
    "mean and spread are taken over the whole table instead of column by column, so small columns vanish",
    ("by row",),
    (22, 23),
    """\
import torch
import torch.nn as nn

torch.manual_seed(4)


def applicants(n):
    income = 30_000 + 15_000 * torch.rand(n)
    age = 20 + 50 * torch.rand(n)
    debt_ratio = torch.rand(n)
    late = torch.poisson(torch.full((n,), 1.5))
    score = 4 * (debt_ratio - 0.5) + (late - 1.5) - (age - 45) / 20 - (income - 37_500) / 10_000
    default = (score + 0.3 * torch.randn(n) > 0).float()
    return torch.stack([income, age, debt_ratio, late], dim=1), default


class Scaler:
    def __init__(self):
        self.mean, self.std = 0.0, 1.0

    def fit(self, table):
        self.mean = table.mean(dim=0)
        self.std = table.std(dim=0)
        return self

    def transform(self, table):
        return (table - self.mean) / self.std


train_table, train_y = applicants(3000)
test_table, test_y = applicants(1000)
scaler = Scaler().fit(train_table)
train_x, test_x = scaler.transform(train_table), scaler.transform(test_table)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
bce = nn.BCEWithLogitsLoss()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
print(f"share of defaults: {test_y.mean().item():.3f}")
for epoch in range(16):
    model.train()
    for rows in torch.randperm(len(train_x)).split(100):
        loss = bce(model(train_x[rows]), train_y[rows])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    model.eval()
    with torch.inference_mode():
        logits = model(test_x)
        test_loss, test_acc = bce(logits, test_y), ((logits > 0) == (test_y > 0)).float().mean()
    if epoch % 3 == 0:
        print(f"[{epoch:02d}] train {loss.item():.3f} test {test_loss.item():.3f} acc {test_acc.item():.3f}")
""",
    ("        self.mean = table.mean(dim=0)\n", "        self.mean = table.mean()\n"),
    ("        self.std = table.std(dim=0)\n", "        self.std = table.std()\n"),
)

fault(
    "factors of shop, day and product",
    "the embeddings are kept in a plain list, so they are no parameters of the model and are never trained",
    ("not held",),
    (12,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZES = {"shop": 60, "day": 7, "product": 150}


class Demand(nn.Module):
    def __init__(self, sizes, n_numeric, dim=4, hidden=32):
        super().__init__()
        self.numeric = nn.Sequential(nn.Linear(n_numeric, hidden), nn.ReLU())
        self.embeddings = nn.ModuleList([nn.Embedding(size, dim) for size in sizes.values()])
        self.head = nn.Linear(hidden + dim * len(sizes), 1)

    def forward(self, codes, numbers):
        factors = [embed(codes[:, i]) for i, embed in enumerate(self.embeddings)]
        h = torch.cat([self.numeric(numbers), *factors], dim=1)
        return self.head(h).squeeze(1)


class Sales(Dataset):
    def __init__(self, effects, n):
        self.codes = torch.stack([torch.randint(0, size, (n,)) for size in SIZES.values()], dim=1)
        self.numbers = torch.randn(n, 3)
        base = sum(effect[self.codes[:, i]] for i, effect in enumerate(effects))
        self.sold = base + 0.5 * self.numbers[:, 0] - 0.3 * self.numbers[:, 1].abs() + 0.1 * torch.randn(n)

    def __len__(self):
        return len(self.sold)

    def __getitem__(self, i):
        return self.codes[i], self.numbers[i], self.sold[i]


torch.manual_seed(9)
effects = [torch.randn(size) for size in SIZES.values()]
train_set, test_set = Sales(effects, 3000), Sales(effects, 600)
loader = DataLoader(train_set, batch_size=50, shuffle=True)
model = Demand(SIZES, n_numeric=3)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.3)
for epoch in range(12):
    total = 0.0
    for codes, numbers, sold in loader:
        optimizer.zero_grad()
        loss = criterion(model(codes, numbers), sold)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(sold)
    scheduler.step()
    with torch.no_grad():
        test = criterion(model(test_set.codes, test_set.numbers), test_set.sold).item()
    print(f"epoch {epoch}: train mse {total / len(train_set):.4f}, test mse {test:.4f}")
""",
    (
        "nn.ModuleList([nn.Embedding(size, dim) for size in sizes.values()])\n",
        "[nn.Embedding(size, dim) for size in sizes.values()]\n",
    ),
)
