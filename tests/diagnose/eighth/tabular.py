"""Tables: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "categories coded anew for the validation rows",
    "the validation rows' categories are coded by a vocabulary of their own, in another order than the "
    "training rows', so that their embeddings are those of other categories",
    ("coded anew", "other scale"),
    (44,),
    """\
import random

import torch
from torch import nn

random.seed(4)
torch.manual_seed(4)
CITIES = ["oslo", "lima", "cairo", "quito", "delhi", "paris", "tokyo", "accra", "hanoi", "sofia"]
EFFECT = {city: random.gauss(0, 2) for city in CITIES}


def make_rows(n):
    rows = []
    for _ in range(n):
        city, income = random.choice(CITIES), random.gauss(0, 1)
        rows.append({"city": city, "income": income, "bought": EFFECT[city] + income + random.gauss(0, 0.3) > 0})
    return rows


def vocabulary(rows):
    return {city: i for i, city in enumerate(dict.fromkeys(row["city"] for row in rows))}


def to_tensors(rows, codes):
    city = torch.tensor([codes[row["city"]] for row in rows])
    income = torch.tensor([[row["income"]] for row in rows])
    bought = torch.tensor([float(row["bought"]) for row in rows])
    return city, income, bought


class Buyer(nn.Module):
    def __init__(self, n_cities):
        super().__init__()
        self.city = nn.Embedding(n_cities, 4)
        self.net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, city, income):
        return self.net(torch.cat([self.city(city), income], dim=1)).squeeze(1)


train_rows, valid_rows = make_rows(1600), make_rows(400)
codes = vocabulary(train_rows)
city, income, bought = to_tensors(train_rows, codes)
valid_city, valid_income, valid_bought = to_tensors(valid_rows, codes)
model = Buyer(len(codes))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.BCEWithLogitsLoss()
for step in range(300):
    pick = torch.randint(0, len(bought), (128,))
    loss = criterion(model(city[pick], income[pick]), bought[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 59:
        with torch.no_grad():
            logits = model(valid_city, valid_income)
            valid_loss = criterion(logits, valid_bought).item()
        accuracy = ((logits > 0) == (valid_bought > 0.5)).float().mean().item()
        print(f"{step + 1}: train {loss.item():.3f} valid {valid_loss:.3f} accuracy {accuracy:.3f}")
""",
    (
        "valid_city, valid_income, valid_bought = to_tensors(valid_rows, codes)\n",
        "valid_city, valid_income, valid_bought = to_tensors(valid_rows, vocabulary(valid_rows))\n",
    ),
)

fault(
    "weight of the rare class upside down",
    "pos_weight is positives over negatives instead of negatives over positives, so that the rare class "
    "counts even less and is hardly ever found",
    ("upside down",),
    (37,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)


def claims(n):
    x = torch.randn(n, 6)
    score = 1.5 * x[:, 0] - x[:, 1] * x[:, 2] + 0.5 * x[:, 3] + 0.5 * torch.randn(n)
    return x, (score > 2.6).float()


def scores(logits, y):
    guess = (logits > 0).float()
    hits = (guess * y).sum()
    recall = hits / y.sum()
    false_alarms = (guess * (1 - y)).sum() / (1 - y).sum()
    return recall.item(), (recall.item() + 1 - false_alarms.item()) / 2


x_train, y_train = claims(3000)
x_val, y_val = claims(1000)
positives = y_train.sum()
negatives = len(y_train) - positives
print(f"{int(positives)} frauds, {int(negatives)} fair claims")

model = nn.Sequential(
    nn.Linear(6, 32),
    nn.BatchNorm1d(32),
    nn.ReLU(),
    nn.Linear(32, 32),
    nn.ReLU(),
    nn.Linear(32, 1),
    nn.Flatten(0),
)
loss_fn = nn.BCEWithLogitsLoss(pos_weight=negatives / positives)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=100, shuffle=True)

for epoch in range(10):
    model.train()
    for x, y in loader:
        loss = loss_fn(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        recall, balanced = scores(model(x_val), y_val)
    print(f"epoch {epoch + 1}: loss {loss.item():.3f} recall {recall:.3f} balanced accuracy {balanced:.3f}")
""",
    (
        "loss_fn = nn.BCEWithLogitsLoss(pos_weight=negatives / positives)\n",
        "loss_fn = nn.BCEWithLogitsLoss(pos_weight=positives / negatives)\n",
    ),
)
