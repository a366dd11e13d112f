"""Recommenders: programs with a fault each, and their healthy counterparts.

Invariant: written by people who had read no rule.
"""

from .program import fault

fault(
    "negatives drawn from the wrong range",
    "negative items are drawn up to the number of users, so that most items are never negatives",
    ("other range",),
    (46,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
n_users, n_items, n_tastes = 120, 480, 6
taste = torch.randint(n_tastes, (n_users,))
genre = torch.randint(n_tastes, (n_items,))
likes = torch.where(genre.unsqueeze(0) == taste.unsqueeze(1), 0.3, 0.01)
seen = torch.rand(n_users, n_items) < likes
held = seen & (torch.rand(n_users, n_items) < 0.2)
users, items = (seen & ~held).nonzero(as_tuple=True)


class BPR(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.bias = nn.Embedding(n_items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)

    def rank_all(self):
        return self.user.weight @ self.item.weight.T + self.bias.weight.T


def evaluate(model):
    scores = model.rank_all().masked_fill(seen & ~held, -1e9)
    top = scores.topk(50, dim=1).indices
    hits = held.gather(1, top).sum()
    return (hits / held.sum()).item()


model = BPR()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
for epoch in range(20):
    order = torch.randperm(len(users))
    total = 0.0
    for chunk in order.split(256):
        u, pos = users[chunk], items[chunk]
        neg = torch.randint(0, n_items, (len(u),))
        loss = -F.logsigmoid(model(u, pos) - model(u, neg)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(u)
    if epoch % 4 == 3:
        with torch.no_grad():
            recall = evaluate(model)
        print(f"epoch {epoch + 1} bpr loss {total / len(users):.4f} recall@50 {recall:.3f}")
""",
    (
        "        neg = torch.randint(0, n_items, (len(u),))\n",
        "        neg = torch.randint(0, n_users, (len(u),))\n",
    ),
)

fault(
    "embedding weight replaced behind the optimizer",
    "a new Parameter takes the place of the item weights after the optimizer was given the old ones",
    ("not held",),
    (35, 31),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(17)
N_USERS, N_ITEMS, DIM = 150, 200, 12


class Ratings(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(N_USERS, DIM)
        self.items = nn.Embedding(N_ITEMS, DIM)
        self.user_bias = nn.Embedding(N_USERS, 1)
        self.mean = nn.Parameter(torch.tensor(3.0))
        nn.init.normal_(self.users.weight, std=0.1)
        nn.init.zeros_(self.user_bias.weight)

    def forward(self, u, i):
        dot = (self.users(u) * self.items(i)).sum(1)
        return self.mean + self.user_bias(u).squeeze(1) + dot


true_u, true_i = torch.randn(N_USERS, 4), torch.randn(N_ITEMS, 4)
u = torch.randint(N_USERS, (9000,))
i = torch.randint(N_ITEMS, (9000,))
r = 3.5 + 0.5 * (true_u[u] * true_i[i]).sum(1) + 0.2 * torch.randn(9000)
train = DataLoader(TensorDataset(u[:8000], i[:8000], r[:8000]), batch_size=200, shuffle=True)

model = Ratings()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

# start the items from their content vectors
content = torch.cat([true_i + 2.0 * torch.randn(N_ITEMS, 4), torch.randn(N_ITEMS, DIM - 4)], 1) * 0.2
with torch.no_grad():
    model.items.weight.copy_(content)

for epoch in range(15):
    squared = 0.0
    for user, item, rating in train:
        loss = nn.functional.mse_loss(model(user, item), rating)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        squared += loss.item() * len(user)
    with torch.no_grad():
        test = nn.functional.mse_loss(model(u[8000:], i[8000:]), r[8000:])
    if epoch % 3 == 2:
        print(f"epoch {epoch} train rmse {(squared / 8000) ** 0.5:.3f} test rmse {test.sqrt().item():.3f}")
""",
    (
        """\
with torch.no_grad():
    model.items.weight.copy_(content)
""",
        "model.items.weight = nn.Parameter(content)\n",
    ),
)

fault(
    "temperature multiplied",
    "the cosine similarities are multiplied by the temperature, so the softmax stays nearly uniform",
    ("flat scores",),
    (25,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(29)


class Tower(nn.Module):
    def __init__(self, inputs, dim=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class Retrieval(nn.Module):
    def __init__(self, temperature=0.07):
        super().__init__()
        self.query, self.document = Tower(24), Tower(40)
        self.temperature = temperature

    def forward(self, queries, documents):
        q, d = self.query(queries), self.document(documents)
        logits = q @ d.T / self.temperature
        labels = torch.arange(len(q))
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


mix_q, mix_d = torch.randn(10, 24), torch.randn(10, 40)


def pairs(n):
    topic = torch.randn(n, 10)
    return topic @ mix_q + torch.randn(n, 24), torch.tanh(topic @ mix_d / 3) + 0.3 * torch.randn(n, 40)


def recall_at_1(model, queries, documents):
    with torch.no_grad():
        scores = model.query(queries) @ model.document(documents).T
    return (scores.argmax(1) == torch.arange(len(queries))).float().mean().item()


model = Retrieval()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
test = pairs(500)
average = None
for step in range(1, 601):
    loss = model(*pairs(128))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average = loss.item() if average is None else 0.95 * average + 0.05 * loss.item()
    if step % 100 == 0:
        print(f"step {step} loss {average:.3f} recall@1 of 500: {recall_at_1(model, *test):.3f}")
""",
    ("        logits = q @ d.T / self.temperature\n", "        logits = q @ d.T * self.temperature\n"),
)
