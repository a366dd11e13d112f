"""Sums over batches that are never begun anew, or set instead of added to; and what is kept as the best by a class."""

import pytest

from .marked import guilty, said

NET = """\
x = torch.randn(240, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
train = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[:160], y[:160]), 40, shuffle=True)
test = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[160:], y[160:]), 20)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
def learn(a, b):
    loss = F.cross_entropy(net(a), b)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss
"""
PLAIN = """\
running = 0.0  # <-
for epoch in range(4):
    for a, b in train:
        loss = F.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    print(epoch, running / len(train))
"""
SHARE = """\
def fit(epochs):
    right, history = 0, []  # <-
    for epoch in range(epochs):
        seen = 0
        net.train()
        for a, b in train:
            out = net(a)
            loss = F.cross_entropy(out, b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            right += (out.argmax(1) == b).sum().item()
            seen += len(b)
        history.append(100 * right / seen)
    return history
fit(4)
"""
HELD = """\
total, count = 0.0, 0  # <-
for epoch in range(4):
    for a, b in train:
        learn(a, b)
    with torch.no_grad():
        for a, b in test:
            total += F.cross_entropy(net(a), b, reduction="sum").item()
    mean = total / len(test.dataset)
    print(f"{epoch}: {mean:.3f}")
"""


@pytest.mark.parametrize("text", [PLAIN, SHARE])
def test_a_sum_that_is_never_set_back_is_named(text):
    assert guilty(NET + text) & set(said(NET + text)["never reset"])


RESET = [
    PLAIN.replace("running = 0.0  # <-\n", "").replace("    for a, b", "    running = 0.0\n    for a, b"),
    PLAIN.replace("running / len(train)", "running / len(train) / (epoch + 1)"),
    PLAIN.replace("running / len(train)", "running / ((epoch + 1) * len(train))"),
    PLAIN.replace("running / len(train)", "running"),
    PLAIN.replace("range(4)", "range(1)"),
    PLAIN.replace("        running += loss.item()\n", "        running += loss.item()\n        steps += 1\n")
    .replace("running = 0.0  # <-\n", "running, steps = 0.0, 0\n")
    .replace("running / len(train)", "running / steps"),
    PLAIN.replace(
        "    print(epoch",
        "    print(epoch, running / len(train) - before)\n    before = running / len(train)\n    pass  # (",
    ).replace("running = 0.0  # <-\n", "running = before = 0.0\n"),
    PLAIN.replace("running / len(train))", "running / len(train))\n    if epoch > 1:\n        running = 0.0"),
    PLAIN.replace("running / len(train)", "running / len(known)")
    .replace("running = 0.0  # <-\n", "running, known = 0.0, []\n")
    .replace("        opt.step()\n", "        opt.step()\n        known.append(0)\n        len(known)\n"),
    SHARE.replace("        seen = 0\n", "        right = seen = 0\n"),
    SHARE.replace("        seen = 0\n", "").replace(
        "right, history = 0, []", "right, seen, history = 0, 0, []"
    ),
]


@pytest.mark.parametrize("text", RESET)
def test_a_sum_that_begins_anew_or_is_of_all_rounds_is_not_accused(text):
    assert "never reset" not in said(NET + text)


LAST = """\
def measure():
    net.eval()
    right = total = 0
    with torch.no_grad():
        for a, b in test:
            guess = net(a).argmax(1)
            right = (guess == b).sum().item()  # <-
            total += b.size(0)
    net.train()
    return right / total
for epoch in range(3):
    for a, b in train:
        learn(a, b)
    print(measure())
"""
MEAN = """\
for epoch in range(3):
    whole = 0.0
    for a, b in train:
        loss = learn(a, b)
        out = net(a)
        whole = loss.item() * 1.0  # <-
    print(epoch, 100.0 * whole / len(train))
"""


@pytest.mark.parametrize("text", [LAST, MEAN])
def test_a_sum_that_is_set_is_named(text):
    assert guilty(NET + text) & set(said(NET + text)["set, not added"])


ADDED = [
    LAST.replace("right = (", "right += ("),
    LAST.replace("right = (", "right = right + ("),
    LAST.replace("total += b.size(0)", "total = b.size(0)"),
    LAST.replace("            total +=", "            print(right)\n            total +="),
    LAST.replace("    right = total = 0\n", "    total = 0\n"),
    MEAN.replace("whole / len(train)", "whole"),
    MEAN.replace("whole / len(train)", "whole / len(x)"),
    MEAN.replace("whole = loss.item() * 1.0", "whole = max(whole, loss.item())"),
]


@pytest.mark.parametrize("text", ADDED)
def test_a_sum_that_is_added_to_is_not_accused(text):
    assert "set, not added" not in said(NET + text)


STOPS = """\
import copy
class Stops:
    def __init__(self, patience=3):
        self.patience, self.best, self.bad, self.kept = patience, None, 0, None
    def __call__(self, value, model):
        if self.best is None or value > self.best:  # <-
            self.best, self.bad = value, 0
            self.kept = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience
stops = Stops()
for epoch in range(6):
    for a, b in train:
        learn(a, b)
    with torch.no_grad():
        held = F.cross_entropy(net(x[160:]), y[160:]).item()
    if stops(held, net):
        break
net.load_state_dict(stops.kept)
"""
NAMED = STOPS.replace("def __call__(self, value, model)", "def update(self, value, model)").replace(
    "stops(held, net)", "stops.update(value=held, model=net)"
)


@pytest.mark.parametrize("text", [STOPS, NAMED])
def test_a_class_that_keeps_the_worst_is_named(text):
    assert guilty(NET + text) & set(said(NET + text)["keeps worst"])


@pytest.mark.parametrize(
    "text",
    [
        STOPS.replace("value > self.best", "value < self.best"),
        STOPS.replace("stops(held, net)", "stops(-held, net)"),
        STOPS.replace(
            "F.cross_entropy(net(x[160:]), y[160:])", "(net(x[160:]).argmax(1) == y[160:]).float().mean()"
        ),
        STOPS.replace("stops(held, net)", "stops(held, net) or stops(accuracy(), net)"),
        NAMED.replace("value > self.best", "value < self.best"),
    ],
)
def test_a_class_that_keeps_the_best_is_not_accused(text):
    text = text.replace("stops = Stops()", "accuracy = lambda: 0.5\nstops = Stops()")
    assert "keeps worst" not in said(NET + text)
