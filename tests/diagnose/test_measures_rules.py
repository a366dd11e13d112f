"""Evaluations that measure something else: answers over samples, thresholds of the other scale, rows trained on."""

import pytest

from .marked import guilty, said

BLOBS = """\
N = 10
x = torch.randn(200, 6)
y = x[:, :4].argmax(1)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for a, b in zip(x.split(20), y.split(20)):
        loss = F.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
SQUARE = (
    BLOBS
    + """\
net.eval()
right = 0
with torch.no_grad():
    for a, b in zip(x.split(4), y.split(4)):
        right += (net(a).argmax(dim=0) == b).sum().item()  # <-
print(right / 200)
"""
)
SINGLE = (
    BLOBS
    + """\
def accuracy(model, inputs, labels):
    hits = 0
    for one, label in zip(inputs, labels):
        with torch.no_grad():
            score, answer = torch.max(model(one.unsqueeze(0)), 0)  # <-
        hits += int((answer == label).float().mean() > 0.5)
    return hits / len(labels)
print(accuracy(net, x[:40], y[:40]))
"""
)
LISTS = (
    BLOBS
    + """\
with torch.no_grad():
    scores = F.softmax(net(x), dim=1)
guess = scores.argmax(0).tolist()  # <-
truth = y.tolist()
print(sum(g == t for g, t in zip(guess, truth)) / len(guess))
"""
)
SOFT = (
    BLOBS
    + """\
@torch.no_grad()
def score(batch, labels):
    share = torch.softmax(net(batch), dim=0)  # <-
    return (share.max(1)[1] == labels).float().mean().item()
print(score(x, y))
"""
)
YES = """\
x = torch.randn(240, 5)
y = (x.sum(1) > 0.5).float()
class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 12), nn.Linear(12, 1)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
judge = Judge()
opt = torch.optim.Adam(judge.parameters(), lr=0.01)
for epoch in range(3):
    for rows in torch.randperm(240).split(40):
        opt.zero_grad()
        LOSS(judge(x[rows]).squeeze(1), y[rows]).backward()
        opt.step()
with torch.no_grad():
    out = judge(x).squeeze(1)
"""
HALF = (
    YES.replace("LOSS(", "F.binary_cross_entropy_with_logits(")
    + "    print(((out > 0.5).float() == y).float().mean().item())  # <-\n"
)
ROUND = (
    YES.replace("LOSS(", "nn.BCEWithLogitsLoss(pos_weight=torch.tensor(1.2))(")
    + """\
    guess = torch.round(out)  # <-
right = (guess == y).sum()
print(right.item() / len(y))
"""
)
ZERO = (
    YES.replace("LOSS(", "F.binary_cross_entropy_with_logits(")
    + """\
chance = torch.sigmoid(out)
yes = chance > 0  # <-
print((yes * y).sum().item() / y.sum().item())
"""
)
CUT = (
    YES.replace("LOSS(", "F.binary_cross_entropy(")
    .replace("self.b(torch", "torch.sigmoid(self.b(torch")
    .replace("(x)))", "(x))))")
    + "    errors = (out.int() != y.int()).sum()  # <-\nprint(errors.item())\n"
)
HAND = """\
x = torch.randn(150, 3)
y = (x[:, 0] - x[:, 1] > 0.4).float()
w, b = torch.zeros(3, requires_grad=True), torch.zeros(1, requires_grad=True)
w2 = torch.randn(3, 1, requires_grad=True)
opt = torch.optim.SGD([w2, b], lr=0.5)
for step in range(30):
    score = x.mm(w2) + b
    loss = F.binary_cross_entropy_with_logits(score[:, 0], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    score = x.mm(w2) + b
    print((score[:, 0].ge(0.5).float() - y).abs().mean().item())  # <-
"""
LARGEST = (
    BLOBS
    + """\
total = 0
with torch.no_grad():
    for a, b in zip(x.split(50), y.split(50)):
        best, _ = net(a).max(1)  # <-
        total += (best == b).sum().item()
print(total)
"""
)
VALUES = (
    BLOBS
    + """\
def evaluate(model):
    model.eval()
    answers = torch.topk(model(x), 1, dim=1).values.squeeze(1)  # <-
    return answers.eq(y).float().mean()
print(float(evaluate(net)))
"""
)
RAW = HALF.replace("(out > 0.5).float()", "torch.sigmoid(out)")
SLICED = """\
x = torch.randn(200, 4)
y = x.sum(1, keepdim=True)
x_train, y_train = x[:160], y[:160]
x_val, y_val = x[100:], y[100:]  # <-
net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(6):
    loss = F.mse_loss(net(x_train), y_train)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        print(F.mse_loss(net(x_val), y_val).item())
"""
TWICE = """\
from torch.utils.data import DataLoader, Subset, TensorDataset, random_split
def sets():
    x = torch.rand(150, 5)
    return TensorDataset(x, (x.sum(1) > 2.5).long())
data = sets()
train_set, _ = random_split(data, [110, 40])
_, val_set = random_split(data, [110, 40])  # <-
train_loader = DataLoader(train_set, batch_size=22, shuffle=True)
val_loader = DataLoader(val_set, batch_size=20)
net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def evaluate(model, loader):
    model.eval()
    right = 0
    with torch.no_grad():
        for a, b in loader:
            right += (model(a).argmax(1) == b).sum().item()
    return right / len(loader.dataset)
for epoch in range(3):
    net.train()
    for a, b in train_loader:
        loss = F.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(evaluate(net, train_loader), evaluate(net, val_loader))
    print(evaluate(net, val_loader))
"""
WHOLE = """\
from torch.utils.data import DataLoader, TensorDataset, random_split
class Fit:
    def __init__(self, data):
        train, test = random_split(data, [90, 30])
        self.loader = DataLoader(data, batch_size=30, shuffle=True)  # <-
        self.test_loader = DataLoader(test, batch_size=30)
        self.model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
        self.opt = torch.optim.Adam(self.model.parameters())
    def learn(self):
        for a, b in self.loader:
            self.opt.zero_grad()
            F.mse_loss(self.model(a), b).backward()
            self.opt.step()
    @torch.no_grad()
    def measure(self):
        self.model.eval()
        return sum(F.mse_loss(self.model(a), b).item() for a, b in self.test_loader)
x = torch.randn(120, 3)
fit = Fit(TensorDataset(x, x.sin().sum(1, keepdim=True)))
fit.learn()
print(fit.measure())
"""
SERIES = """\
wave = torch.sin(torch.arange(300) * 0.13) + 0.1 * torch.randn(300)
windows = wave.unfold(0, 9, 1)
inputs, targets = windows[:, :8], windows[:, 8:]
order = torch.randperm(len(inputs))
held_out = torch.randperm(len(inputs))[:60]  # <-
fit = order[60:]
rnn = nn.GRU(1, 6, batch_first=True)
head = nn.Linear(6, 1)
class Next(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = rnn, head
    def forward(self, x):
        return self.head(self.rnn(x.unsqueeze(-1))[0][:, -1])
net = Next()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(8):
    loss = (net(inputs[fit]) - targets[fit]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
net.eval()
with torch.inference_mode():
    print((net(inputs[held_out]) - targets[held_out]).square().mean().item())
"""
PHASES = """\
import torch.utils.data as D
x = torch.randn(100, 4)
parts = D.TensorDataset(x, (x[:, 0] > 0).float())
where = list(range(100))
loaders = {
    "train": D.DataLoader(D.Subset(parts, where[:70]), batch_size=35, shuffle=True),
    "val": D.DataLoader(D.Subset(parts, where[40:70]), batch_size=30),  # <-
}
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for phase in ["train", "val"]:
        net.train(phase == "train")
        with torch.set_grad_enabled(phase == "train"):
            for a, b in loaders[phase]:
                loss = F.binary_cross_entropy_with_logits(net(a).squeeze(1), b)
                if phase == "train":
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
                else:
                    print(loss.item())
"""
OVER = (
    """\
from torch.utils.data import DataLoader, TensorDataset
"""
    + BLOBS
    + """\
loader = DataLoader(TensorDataset(x, y), batch_size=25)
def test(model, batches):
    model.eval()
    correct = 0
    with torch.no_grad():
        for a, b in batches:
            correct += (model(a).argmax(1) == b).sum().item()
    accuracy = correct / len(batches)  # <-
    return accuracy
print(test(net, loader))
"""
)
ROUNDS = (
    BLOBS
    + """\
hits, rounds = 0, 0
for a, b in zip(x.split(40), y.split(40)):
    hits += int((net(a).max(1)[1] == b).sum())
    rounds += 1
print("accuracy", 100 * hits / rounds)  # <-
"""
)
METHOD = (
    BLOBS
    + """\
class Score:
    def __init__(self):
        self.right = 0
    def run(self, model, batches):
        for i, (a, b) in enumerate(batches):
            same = torch.eq(model(a).argmax(-1), b)
            self.right += same.float().sum().item()
        return {"acc": self.right / len(batches)}  # <-
print(Score().run(net, list(zip(x.split(50), y.split(50)))))
"""
)
FAULTY = {
    "by a loader": (OVER, "wrong count"),
    "by rounds": (ROUNDS, "wrong count"),
    "by batches": (METHOD, "wrong count"),
    "as many as classes": (SQUARE, "answer axis"),
    "one by one": (SINGLE, "answer axis"),
    "lists": (LISTS, "answer axis"),
    "softmax over samples": (SOFT, "answer axis"),
    "scores beside a half": (HALF, "threshold"),
    "rounded scores": (ROUND, "threshold"),
    "sigmoid beside 0": (ZERO, "threshold"),
    "sigmoid as a whole number": (CUT, "threshold"),
    "scores by hand": (HAND, "threshold"),
    "largest scores": (LARGEST, "never equal"),
    "values of topk": (VALUES, "never equal"),
    "probabilities": (RAW, "never equal"),
    "slices that overlap": (SLICED, "seen rows"),
    "two random splits": (TWICE, "seen rows"),
    "trained on all": (WHOLE, "seen rows"),
    "two permutations": (SERIES, "seen rows"),
    "a part of the other": (PHASES, "seen rows"),
}
TURNED = """\
signal = torch.randn(6, 3, 8)
kind = torch.randint(0, 4, (6, 8))
conv = nn.Conv1d(3, 4, 3, padding=1)
opt = torch.optim.Adam(conv.parameters(), lr=0.01)
for epoch in range(3):
    for one, labels in zip(signal, kind):
        loss = F.cross_entropy(conv(one).t(), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    print(sum((conv(s).argmax(0) == k).sum().item() for s, k in zip(signal, kind)))
"""
PAIRS = """\
left, right = nn.Linear(5, 4), nn.Linear(6, 4)
a = torch.randn(12, 5)
b = torch.cat([a, a[:, :1]], 1)
opt = torch.optim.Adam([*left.parameters(), *right.parameters()], lr=0.01)
same = torch.arange(12)
for step in range(12):
    scores = F.normalize(left(a), dim=1) @ F.normalize(right(b), dim=1).t() / 0.1
    loss = (F.cross_entropy(scores, same) + F.cross_entropy(scores.t(), same)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    print((scores.argmax(0) == same).float().mean().item(), (scores.argmax(1) == same).float().mean().item())
"""
EXCITED = (
    BLOBS
    + """\
with torch.no_grad():
    out = net(x)
print(out.argmax(0).tolist(), y[out.argmax(0)].tolist(), (out.argmax(1) == y).float().mean().item())
"""
)
FITTED = """\
x = torch.randn(100, 3)
y = (x[:, 0] > 0).float()
line = nn.Linear(3, 1)
opt = torch.optim.SGD(line.parameters(), lr=0.1)
for step in range(40):
    loss = F.mse_loss(line(x)[:, 0], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(((line(x)[:, 0] > 0.5) == y.bool()).float().mean().item(), (line(x)[:, 0].round() == y).sum().item())
"""
FOLDS = """\
x = torch.randn(120, 4)
y = x[:, :1] * 2
start = nn.Linear(4, 1)
net = nn.Linear(4, 1)
for fold in range(3):
    val = torch.arange(120) % 3 == fold
    net.load_state_dict(start.state_dict())
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(5):
        loss = F.mse_loss(net(x[~val]), y[~val])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        x_val = x[val]
        print(F.mse_loss(net(x_val), y[val]).item())
"""
FIRST = """\
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    test_x = torch.randn(30, 4)
    with torch.no_grad():
        print(F.mse_loss(net(test_x), test_x.sum(1, keepdim=True)).item())
    loss = F.mse_loss(net(test_x), test_x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
LOOSE = """\
x = torch.randn(200, 6)
y = x[:, :3].argmax(1)
dev = torch.device("cpu")
net = nn.Linear(6, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
train_loss = 0
for epoch in range(6):
    loss = F.cross_entropy(net(x.to(dev)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for name, val in {"all": x[:100]}.items():
            print(name, net(val.to(dev)).argmax(1).eq(y[:100]).float().mean().item())
        valid = x[:, 0] > 0
        print(net(x[valid]).argmax(1).eq(y[valid]).float().mean().item())
"""
SCALED = """\
x = torch.randn(300, 6)
y = x[:, :3].argmax(1)
x_train, x_val = x[:200], x[200:]
net = nn.Linear(6, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(12):
    loss = F.cross_entropy(net(x_train), y[:200])
    opt.zero_grad()
    loss.backward()
    opt.step()
class Warmth(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Parameter(torch.ones(1))
    def forward(self, scores):
        return scores / self.t
warmth = Warmth()
tune = torch.optim.SGD(warmth.parameters(), lr=0.05)
with torch.no_grad():
    val_scores = net(x_val)
for step in range(20):
    loss = F.cross_entropy(warmth(val_scores), y[200:])
    tune.zero_grad()
    loss.backward()
    tune.step()
with torch.no_grad():
    print(F.cross_entropy(warmth(val_scores), y[200:]).item())
"""
HEALTHY = {
    "by its samples": OVER.replace("len(batches)", "len(batches.dataset)"),
    "means by rounds": ROUNDS.replace(
        "int((net(a).max(1)[1] == b).sum())", "(net(a).max(1)[1] == b).float().mean().item()"
    ),
    "by the size as well": OVER.replace("len(batches)", "len(batches) / batches.batch_size"),
    "batches of one": OVER.replace("batch_size=25", "batch_size=1"),
    "right ones of a batch": METHOD.replace('{"acc"', '{"right"'),
    "values, valid rows and a device": LOOSE,
    "a temperature": SCALED,
    "slices that meet": SLICED.replace("100:", "160:"),
    "called train": SLICED.replace("net(x_val), y_val", "net(x_train), y_train"),
    "called nothing": SLICED.replace("net(x_val), y_val", "net(x), y"),
    "one split": TWICE.replace("train_set, _ =", "train_set, val_set =").replace(
        "_, val_set = random", "_, other = random"
    ),
    "trained on its part": WHOLE.replace("DataLoader(data,", "DataLoader(train,"),
    "one set": SLICED.replace("x[:160], y[:160]", "x, y").replace("x[100:], y[100:]", "x, y"),
    "one permutation": SERIES.replace("torch.randperm(len(inputs))[:60]", "order[:60]"),
    "parts": PHASES.replace("where[40:70]", "where[70:]"),
    "folds that begin anew": FOLDS,
    "tested before it is trained on": FIRST,
    "as many as classes": SQUARE.replace("dim=0", "dim=1"),
    "one by one": SINGLE.replace("unsqueeze(0)), 0)", "unsqueeze(0)), 1)"),
    "one without a batch": SINGLE.replace("model(one.unsqueeze(0))", "model(one)"),
    "lists": LISTS.replace("argmax(0)", "argmax(1)"),
    "softmax over classes": SOFT.replace("dim=0", "dim=1"),
    "classes first": TURNED,
    "both directions": PAIRS,
    "most excited": EXCITED,
    "scores beside 0": HALF.replace("out > 0.5", "out > 0"),
    "probabilities beside a half": HALF.replace("out > 0.5", "out.sigmoid() > 0.5"),
    "rounded probabilities": ROUND.replace("round(out)", "round(out.sigmoid())"),
    "probabilities": ZERO.replace("chance > 0 ", "chance > 0.5 "),
    "scores by hand": HAND.replace("ge(0.5)", "ge(0)"),
    "a regression on 0 and 1": FITTED,
    "a margin": HALF.replace("(out > 0.5).float() == y", "out.abs() > 0.5"),
    "indices": LARGEST.replace("best, _", "_, best"),
    "indices of topk": VALUES.replace(".values", ".indices"),
    "the largest score": LARGEST.replace("best == b", "best > 0.5"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_measures_of_something_else_are_found(name):
    text, rule = FAULTY[name]
    found = said(text, name)
    assert rule in found and guilty(text) & set(found[rule]), found


@pytest.mark.parametrize("name", HEALTHY)
def test_measures_that_are_meant_are_not(name):
    assert said(HEALTHY[name], name) == {}
