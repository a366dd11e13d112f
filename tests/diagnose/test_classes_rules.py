"""Weights of classes and of samples that are upside down, or too few."""

import pytest

from .marked import guilty, said

RARE = """\
x = torch.randn(300, 4)
y = (x[:, 0] > 1.2).long() + (x[:, 0] > 1.9).long()
"""
LOOP = """\
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for rows in torch.randperm(300).split(30):
        loss = crit(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
COUNTS = RARE + "w = torch.bincount(y).float() / len(y)  # <-\ncrit = nn.CrossEntropyLoss(weight=w)\n" + LOOP
NORMALISED = (
    RARE
    + """\
import numpy as np
def balance(labels):
    counts = np.bincount(labels.numpy(), minlength=3)
    share = counts / counts.sum()
    return torch.tensor(share * 3, dtype=torch.float32)  # <-
weights = balance(y)
def crit(out, target):
    return F.nll_loss(F.log_softmax(out, dim=1), target, weight=weights)
"""
    + LOOP
)
ROOTS = (
    RARE
    + """\
class Focus(nn.Module):
    def __init__(self, labels):
        super().__init__()
        counts = torch.stack([(labels == k).sum() for k in range(3)]).float()
        scaled = counts.sqrt()  # <-
        self.register_buffer('w', scaled / scaled.mean())
    def forward(self, out, target):
        return (F.cross_entropy(out, target, reduction='none') * self.w[target]).mean()
crit = Focus(y)
"""
    + LOOP
)
ALARM = """\
class Alarms(torch.utils.data.Dataset):
    def __init__(self, n=200):
        self.x = torch.randn(n, 5)
        self.y = (self.x.sum(1) > 2.4).float()
    def __len__(self):
        return len(self.y)
    def __getitem__(self, i):
        return self.x[i], self.y[i]
data = Alarms()
positive, negative = data.y.sum(), (1 - data.y).sum()
ratio = positive / negative  # <-
lossf = nn.BCEWithLogitsLoss(pos_weight=ratio)
model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for a, b in torch.utils.data.DataLoader(data, batch_size=40, shuffle=True):
        opt.zero_grad()
        lossf(model(a).squeeze(1), b).backward()
        opt.step()
"""
LISTED = RARE + "w = [0.88, 0.09, 0.03]  # <-\ncrit = nn.CrossEntropyLoss(weight=torch.tensor(w))\n" + LOOP

DRAWN = """\
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler
x = torch.randn(200, 3)
y = (x[:, 0] > 1.0).long()
counts = torch.bincount(y).float()
weights = counts[y]  # <-
sampler = WeightedRandomSampler(weights, len(y))
loader = DataLoader(TensorDataset(x, y), batch_size=20, sampler=sampler)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in loader:
        loss = F.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
FEW = (
    DRAWN.replace("# <-", "")
    .replace("counts[y]", "1 / counts")
    .replace("sampler = Weigh", "sampler = Weigh")
    .replace("len(y))", "len(y))  # <-")
)
OWN = """\
import torch.utils.data as D
class Cells(D.Dataset):
    def __init__(self):
        self.cells = torch.randn(160, 6)
        self.kind = (self.cells[:, 1] > 0.9).long()
    def __len__(self):
        return 160
    def __getitem__(self, i):
        return self.cells[i], self.kind[i]
cells = Cells()
share = {k: float((cells.kind == k).float().mean()) for k in (0, 1)}
odds = [share[int(k)] for k in cells.kind]  # <-
def loader_of(data):
    draw = D.WeightedRandomSampler(odds, num_samples=160, replacement=True)
    return D.DataLoader(data, batch_sampler=D.BatchSampler(draw, 16, False))
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters())
for a, b in loader_of(cells):
    opt.zero_grad()
    F.nll_loss(net(a).log_softmax(1), b).backward()
    opt.step()
"""
HALVES = """\
import torch.utils.data as D
x, y = torch.randn(120, 3), (torch.rand(120) < 0.2).long()
train, test = D.random_split(D.TensorDataset(x, y), [100, 20])
per = 1.0 / torch.bincount(y).float()
odds = per[y[test.indices]]
net, seen = nn.Linear(3, 2), 0
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = D.DataLoader(train, 10, sampler=D.WeightedRandomSampler(odds.tolist(), 100))  # <-
for epoch in range(2):
    for a, b in loader:
        opt.zero_grad()
        nn.CrossEntropyLoss()(net(a), b).backward()
        opt.step()
        seen += len(a)
"""
WORDS = """\
rows = (torch.randint(1, 8, (300, 1)) + 2 * torch.arange(6)) % 7 + 1
words = rows.masked_fill(torch.arange(6) >= torch.randint(3, 7, (300, 1)), 0)
net = nn.Sequential(nn.Embedding(8, 16), nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 8))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    batch = words[torch.randint(0, 250, (25,))]
    asked = batch[:, 1:]
    loss = F.cross_entropy(net(batch[:, :-1]).transpose(1, 2), asked, ignore_index=0)
    opt.zero_grad()
    loss.backward()
    opt.step()
test = words[250:]
with torch.no_grad():
    guess, asked = net(test[:, :-1]).argmax(-1), test[:, 1:]
    right = guess == asked
    share = right.float().mean().item()
"""
LEFT_OUT = WORDS.replace(
    "net(batch[:, :-1]).transpose(1, 2), asked, ignore_index=0",
    "net(batch[:, :-1])[asked > 0], asked[asked > 0]",
)
ASKED = {
    "padding that the loss passes over": WORDS,
    "padding that counts as right": LEFT_OUT.replace(
        "right.float()", "(right | (asked == 0)).all(1).float()"
    ),
    "padding that is taken out": LEFT_OUT.replace("right.float()", "right[asked != 0].float()"),
    "padding that is multiplied away": LEFT_OUT.replace("right.float()", "(right * (asked > 0)).float()"),
    "padding in a mask of both": LEFT_OUT.replace("right.float()", "right.masked_select(asked > 0).float()"),
}
FAULTY = {
    "counts as weights": (COUNTS, "upside down"),
    "shares by numpy": (NORMALISED, "upside down"),
    "roots, by hand": (ROOTS, "upside down"),
    "positives by negatives": (ALARM, "upside down"),
    "written shares": (LISTED, "upside down"),
    "counts of samples": (DRAWN, "uneven draws"),
    "weights of classes": (FEW, "uneven draws"),
    "shares in a list": (OWN, "uneven draws"),
    "weights of another part": (HALVES, "uneven draws"),
}
EVEN = """\
x = torch.randn(300, 4)
y = torch.arange(300) % 3
"""
HEALTHY = {
    "inverse counts": COUNTS.replace(
        "torch.bincount(y).float() / len(y)", "len(y) / torch.bincount(y).float()"
    ),
    "inverse shares": NORMALISED.replace("counts / counts.sum()", "1 / (counts / counts.sum())"),
    "inverse roots": ROOTS.replace("counts.sqrt()", "counts.rsqrt()"),
    "negatives by positives": ALARM.replace("positive / negative", "negative / positive"),
    "weights by worth": LISTED.replace("[0.88, 0.09, 0.03]", "[1.0, 4.0, 2.0]"),
    "frequent elsewhere": EVEN
    + "crit = nn.CrossEntropyLoss(weight=torch.tensor([0.8, 0.15, 0.05]))\n"
    + LOOP,
    "a class that is left out": RARE + "crit = nn.CrossEntropyLoss(torch.tensor([1.0, 1.0, 0.0]))\n" + LOOP,
    "inverse odds": DRAWN.replace("counts[y]", "(1 / counts)[y]"),
    "odds that all differ": DRAWN.replace("counts[y]", "x[:, 1].exp()"),
    "clean ones more often": OWN.replace(
        "share[int(k)] for k in cells.kind", "3.0 if i % 5 else 1.0 for i in range(160)"
    ),
    "inverse odds in a list": OWN.replace("[share[int(k)] for", "[1 / share[int(k)] for"),
    "odds of its own part": HALVES.replace("y[test.indices]", "y[train.indices]"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_weights_that_are_wrong_are_found_where_they_are_made(name):
    text, rule = FAULTY[name]
    found = said(text, name)
    assert rule in found and guilty(text) & set(found[rule]), found


@pytest.mark.parametrize("name", HEALTHY)
def test_weights_that_make_up_for_rare_classes_are_not(name):
    assert said(HEALTHY[name], name) == {}


@pytest.mark.parametrize("name", ASKED)
def test_padding_that_is_left_out_is_no_class_that_was_never_asked(name):
    assert said(ASKED[name], name) == {}


def test_a_class_that_only_the_evaluation_asks_for_is_found():
    text = LEFT_OUT.replace("asked > 0], asked[asked > 0]", "asked > 1], asked[asked > 1]")
    assert "never asked" in said(
        text.replace("masked_fill(", "masked_fill(torch.tensor(False) & "), "left out"
    )
