"""Tables looked up by rows: categories that are taken for padding, fields without offsets, draws from another range."""

import pytest

from .harness import run

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
USERS, ITEMS = 12, 40
kind = torch.randint(0, 6, (128,))
x = torch.randn(128, 3)
y = x[:, :1] + torch.tensor([-1.0, 1, 2, -2, 0.5, 1])[kind][:, None]
"""
BEFORE = len(HEAD.splitlines())
STEP = """
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def said(text):
    """The rules that say something of a program, with their lines."""
    what = run("tables", HEAD + text)
    assert not what.failures and not what.error
    return {one.rule: [line.line - BEFORE for line in one.named] for one in what.findings}


ONE = (
    """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds = nn.Embedding(6, 4, padding_idx=0)
        self.body = nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 1))
    def forward(self, x, k):
        return self.body(torch.cat([x, self.kinds(k)], 1))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(128).split(32):
        loss = F.mse_loss(net(x[pick], kind[pick]), y[pick])
"""
    + STEP
)
MIDDLE = (
    """\
words = torch.randint(0, 8, (128, 6))
table, head = nn.Embedding(8, 6, 0), nn.Linear(6, 1)
opt = torch.optim.Adam([*table.parameters(), *head.parameters()], lr=0.01)
for epoch in range(4):
    for w, t in DataLoader(TensorDataset(words, (words > 3).float().mean(1, keepdim=True)), 32, shuffle=True):
        loss = F.mse_loss(head(table(w).mean(1)), t)
"""
    + STEP
)
IGNORED = (
    """\
target = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3))
rule = nn.CrossEntropyLoss(ignore_index=0)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(128).split(32):
        loss = rule(net(x[pick]), target[pick])
"""
    + STEP
)
FIELDS = (
    """\
sizes = [4, 9, 7]
fields = torch.stack([torch.randint(0, n, (256,)) for n in sizes], 1)
worth = fields.float().sum(1, keepdim=True) / 10
class Machine(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.table = nn.Embedding(sum(sizes), 4)
        self.register_buffer("offsets", torch.tensor([0, *sizes[:-1]]).cumsum(0))
        self.head = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 1))
    def forward(self, f):
        rows = self.table(f)
        return self.head(rows.flatten(1))
net = Machine(sizes)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(256).split(64):
        loss = F.mse_loss(net(fields[pick]), worth[pick])
"""
    + STEP
)
COLUMNS = FIELDS.replace(
    "rows = self.table(f)", "rows = torch.stack([self.table(f[:, i]) for i in range(f.shape[1])], 1)"
)
WEIGHT = (
    """\
f = torch.stack([torch.randint(0, 5, (200,)), torch.randint(0, 8, (200,))], 1)
worth = f.float().sum(1)
weight = nn.Parameter(0.1 * torch.randn(13, 1))
bias = nn.Parameter(torch.zeros(1))
opt = torch.optim.SGD([weight, bias], lr=0.05)
for epoch in range(5):
    for a, b in DataLoader(TensorDataset(f, worth), 50, shuffle=True):
        loss = ((F.embedding(a, weight).sum((1, 2)) + bias - b) ** 2).mean()
"""
    + STEP
)
PAIRS = (
    """\
who, what = torch.randint(0, USERS, (256,)), torch.randint(0, ITEMS, (256,))
class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.u, self.i = nn.Embedding(USERS, 4), nn.Embedding(ITEMS, 4)
    def forward(self, u, i):
        return (self.u(u) * self.i(i)).sum(1)
net = Factors()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(256).split(64):
        u, good = who[pick], what[pick]
        bad = torch.randint(0, USERS, (len(u),))
        loss = -F.logsigmoid(net(u, good) - net(u, bad)).mean()
"""
    + STEP
)
SEVERAL = (
    """\
pairs = torch.stack([torch.randint(0, USERS, (256,)), torch.randint(0, ITEMS, (256,))], 1)
users, items = nn.Embedding(USERS, 4), nn.Embedding(ITEMS, 4)
def sampled(n, k, most):
    return torch.randint(most, (n, k))
opt = torch.optim.Adam([*users.parameters(), *items.parameters()], lr=0.01)
for epoch in range(4):
    for (batch,) in DataLoader(TensorDataset(pairs), 64, shuffle=True):
        a = users(batch[:, 0])
        others = sampled(len(batch), 5, users.num_embeddings)
        worse = (a[:, None] * items(others)).sum(2) - (a * items(batch[:, 1])).sum(1, keepdim=True)
        loss = F.softplus(worse).mean()
"""
    + STEP
)
LINE = (
    """\
who, what = torch.randint(12, (256,)), torch.randint(40, (256,))
u, i = (nn.Parameter(0.1 * torch.randn(n, 4)) for n in (12, 40))
opt = torch.optim.SGD([u, i], lr=0.1)
for epoch in range(4):
    for pick in torch.randperm(256).split(64):
        good = F.embedding(what[pick], i)
        bad = F.embedding(torch.randint(0, 20, (64,)), i)
        mine = F.embedding(who[pick], u)
        loss = F.softplus((mine * (bad - good)).sum(1)).mean()
"""
    + STEP
)


BAGS = """\
rows = torch.randint(0, 12, (128, 4))
rows[::3, 2:] = 0
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(12, 4, mode="mean", padding_idx=0)
        self.body = nn.Linear(4, 1)
    def forward(self, r):
        return self.body(self.bag(r))
net = Net()
target = torch.randn(12)[rows].mean(1, keepdim=True)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(10):
    for at in torch.randperm(128).split(32):
        loss = F.mse_loss(net(rows[at]), target[at])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
PADDED = BAGS.replace("randint(0, 12, (128, 4))\nrows[::3, 2:]", "randint(1, 12, (128, 4))\nrows[::3, 2:]")


@pytest.mark.parametrize(
    "text",
    [
        PADDED,
        PADDED.replace("rows[::3, 2:]", "rows[::3, :2]"),
        BAGS.replace(", padding_idx=0", ""),
        PADDED.replace(
            "        loss = F.mse_loss(net(rows[at]), target[at])\n",
            "        given = rows[at]\n"
            "        given[torch.rand(given.shape) < 0.1] = 0\n"
            "        loss = F.mse_loss(net(given), target[at])\n",
        ),
        PADDED.replace(
            "net(rows[at])", "net(torch.where(torch.rand(len(at), 4) < 0.1, torch.zeros(4).long(), rows[at]))"
        ),
        PADDED.replace("rows[::3, 2:] = 0", "rows[::3, 2:] = 0\nrows[5, 1] = rows[8, 2] = 0"),
        PADDED.replace("rows[::3, 2:] = 0", "rows[::3] = 0"),
    ],
)
def test_padding_of_bags_is_no_category(text):
    assert "real padding" not in said(text)


def test_a_category_that_is_the_padding_of_bags_is_found():
    assert said(BAGS) == {"real padding": [6]}


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        (ONE, "real padding", 4),
        (MIDDLE, "real padding", 2),
        (IGNORED, "real padding", 3),
        (FIELDS, "no offsets", 11),
        (COLUMNS, "no offsets", 11),
        (WEIGHT, "no offsets", 8),
        (PAIRS, "other range", 13),
        (SEVERAL, "other range", 4),
        (LINE, "other range", 7),
    ],
)
def test_a_table_that_is_looked_up_wrongly_is_found_with_its_line(text, rule, line):
    assert said(text) == {rule: [line]}


PADDED = (
    """\
many = torch.randint(2, 7, (128,))
words = torch.randint(1, 8, (128, 6)) * (torch.arange(6) < many[:, None])
table, head = nn.Embedding(8, 6, padding_idx=0), nn.Linear(6, 1)
opt = torch.optim.Adam([*table.parameters(), *head.parameters()], lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(128).split(32):
        w = words[pick]
        loss = F.mse_loss(head(table(w).sum(1)), (w > 3).float().sum(1, keepdim=True))
"""
    + STEP
)


@pytest.mark.parametrize(
    "text",
    [
        ONE.replace(", padding_idx=0", ""),
        ONE.replace("(6, 4,", "(7, 4,").replace("kind[pick])", "kind[pick] + 1)"),
        MIDDLE.replace("6, 0)", "6)"),
        MIDDLE.replace("words = torch.randint(0,", "words = torch.randint(1,"),
        PADDED,
        PADDED.replace("table(w).sum(1)", "sum(table(w[:, t]) for t in range(6))"),
        PADDED.replace("table(w).sum(1)", "table(w.flatten()).view(-1, 6, 6).sum(1)"),
        PADDED.replace("table(w)", "table(w.masked_fill(torch.rand(w.shape) < 0.15, 0))"),
        IGNORED.replace("ignore_index=0", "ignore_index=-1"),
        FIELDS.replace("self.table(f)", "self.table(f + self.offsets)"),
        COLUMNS.replace("self.table(f[:, i])", "self.table(f[:, i] + self.offsets[i])"),
        WEIGHT.replace("F.embedding(a, w", "F.embedding(a + torch.tensor([0, 5]), w"),
        PADDED.replace("nn.Embedding(8, 6, padding_idx=0)", "nn.Embedding(48, 6)"),
        PAIRS.replace("randint(0, USERS, (len", "randint(0, ITEMS, (len"),
        SEVERAL.replace("users.num_embeddings", "items.num_embeddings"),
        LINE.replace("torch.randint(0, 20, (64,))", "torch.randint(40, (64,))"),
    ],
)
def test_a_table_that_is_looked_up_well_is_not_accused(text):
    assert said(text) == {}
