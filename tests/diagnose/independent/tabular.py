"""Tables: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "all zero init",
    "initialisation: all weights set to zero",
    ("equal units",),
    (7,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)

class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 3))
        self.apply(init_weights)

    def forward(self, x):
        return self.net(x)

torch.manual_seed(0)
X = torch.randn(500, 6)
y = X[:, :3].argmax(1)
model = MLP()
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(12):
    for idx in torch.randperm(500).split(50):
        opt.zero_grad()
        loss = F.cross_entropy(model(X[idx]), y[idx])
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        print("epoch", epoch, "loss", loss.item())
print("accuracy", (model(X).argmax(1) == y).float().mean().item())
""",
    ("        nn.init.xavier_uniform_(m.weight)\n", "        nn.init.zeros_(m.weight)\n"),
)

fault(
    "column dict",
    "parameters that are not trained: the embeddings of the columns are kept in a plain dict",
    ("not held",),
    (14,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
SIZES = {"city": 20, "day": 7, "device": 4}
rows = torch.stack([torch.randint(0, s, (900,)) for s in SIZES.values()], 1)
effect = [torch.randn(s) for s in SIZES.values()]
minutes = effect[0][rows[:, 0]] * effect[1][rows[:, 1]] + effect[2][rows[:, 2]]

class Tabular(nn.Module):
    def __init__(self, sizes, dim=3):
        super().__init__()
        self.embeddings = nn.ModuleDict({name: nn.Embedding(s, dim) for name, s in sizes.items()})
        self.net = nn.Sequential(nn.Linear(dim * len(sizes), 10), nn.ReLU(), nn.Linear(10, 1))

    def forward(self, x):
        columns = [emb(x[:, i]) for i, emb in enumerate(self.embeddings.values())]
        return self.net(torch.cat(columns, 1)).squeeze(1)

model = Tabular(SIZES)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
loader = DataLoader(TensorDataset(rows, minutes), batch_size=60, shuffle=True)
for epoch in range(25):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        print("epoch", epoch, "loss %.4f" % (total / len(loader)))
print("variance %.3f, last mean loss %.4f" % (minutes.var(), total / len(loader)))
""",
    (
        "        self.embeddings = nn.ModuleDict({name: nn.Embedding(s, dim) for name, s in sizes.items()})\n",
        "        self.embeddings = {name: nn.Embedding(s, dim) for name, s in sizes.items()}\n",
    ),
)

fault(
    "constant column",
    "NaN and infinity: division by the standard deviation of a constant column, which is 0",
    ("not finite",),
    (13,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
n = 300
rain = torch.rand(n) * 100
sun = torch.rand(n) * 12
station = torch.full((n,), 7.0)
table = torch.stack([rain, station, sun], dim=1)
crop = 0.02 * rain + 0.1 * sun

def standardise(t):
    return (t - t.mean(0)) / (t.std(0) + 1e-6)

x = standardise(table)
target = crop.unsqueeze(1)
net = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(200):
    loss = nn.functional.mse_loss(net(x), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 40 == 0:
        print("epoch", epoch, "loss", loss.item())
print("last loss", loss.item())
""",
    ("    return (t - t.mean(0)) / (t.std(0) + 1e-6)\n", "    return (t - t.mean(0)) / t.std(0)\n"),
)

fault(
    "distill probabilities",
    "outputs and loss do not fit: kl_div is given probabilities where it takes log-probabilities",
    ("kl without logs",),
    (19, 20),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(500, 10)
teacher = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 4))
for p in teacher.parameters():
    p.data *= 2
    p.requires_grad_(False)
student = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
T = 1.0

for epoch in range(40):
    for idx in torch.randperm(500).split(50):
        x = X[idx]
        p_teacher = F.softmax(teacher(x) / T, dim=1)
        p_student = F.log_softmax(student(x) / T, dim=1)
        loss = F.kl_div(p_student, p_teacher, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 0:
        print("epoch", epoch, "kl", loss.item())

with torch.no_grad():
    kl = F.kl_div(F.log_softmax(student(X), 1), F.softmax(teacher(X), 1), reduction="batchmean")
print("true divergence from the teacher %.4f" % kl.item())
""",
    (
        "        p_student = F.log_softmax(student(x) / T, dim=1)\n",
        "        p_student = F.softmax(student(x) / T, dim=1)\n",
    ),
)

fault(
    "eval with dropout",
    "modes: validation in training mode, model.eval() missing",
    ("draws in evaluation",),
    (19, 20),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
X = torch.randn(700, 12)
y = (X[:, :6].sum(1) > X[:, 6:].sum(1)).long()
train_set, val_set = random_split(TensorDataset(X, y), [400, 300])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)

model = nn.Sequential(
    nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.7),
    nn.Linear(32, 16), nn.ReLU(), nn.Dropout(0.6),
    nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

def validate():
    model.eval(); correct = 0
    with torch.no_grad():
        for x, t in val_loader:
            correct += (model(x).argmax(1) == t).sum().item()
    return correct / len(val_set)

for epoch in range(15):
    model.train()
    for x, t in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch} loss {loss.item():.3f} val acc {validate():.3f}")
print("three validations of the same model:", [round(validate(), 3) for _ in range(3)])
""",
    ("    model.eval(); correct = 0\n", "    correct = 0\n"),
)

fault(
    "float labels",
    "exceptions: labels of a floating dtype for CrossEntropyLoss",
    ("exception",),
    (9, 18),
    """\
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5)).astype(np.float32)
y = (X[:, 0] > X[:, 1]).astype(np.float32)
inputs = torch.from_numpy(X)
labels = torch.from_numpy(y).long()

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(20):
    for i in range(0, 300, 30):
        opt.zero_grad()
        loss = criterion(net(inputs[i:i + 30]), labels[i:i + 30])
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", loss.item())
print("last loss", loss.item())
""",
    ("labels = torch.from_numpy(y).long()\n", "labels = torch.from_numpy(y)\n"),
)

healthy(
    "eval inside",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(600, 10)
y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).long()
Xv, yv = X[450:], y[450:]
X, y = X[:450], y[:450]
net = nn.Sequential(nn.Linear(10, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)

@torch.no_grad()
def evaluate():
    was_training = net.training
    net.eval()
    acc = (net(Xv).argmax(1) == yv).float().mean().item()
    net.train(was_training)
    return acc

step = 0
for epoch in range(15):
    for idx in torch.randperm(450).split(45):
        loss = F.cross_entropy(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 25 == 0:
            print("step", step, "loss %.3f val %.3f" % (loss.item(), evaluate()))
print("val %.3f" % evaluate())
""",
)

healthy(
    "flag data",
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
x = torch.randn(1000, 4)
y = (x[:, 0] + x[:, 1] > 2.6).float()
order = y.argsort()
x, y = x[order], y[order]
weights = torch.where(y > 0, 1 / y.sum(), 1 / (1 - y).sum())
sampler = WeightedRandomSampler(weights.tolist(), num_samples=1000, replacement=True)
loader = DataLoader(TensorDataset(x, y), batch_size=50, sampler=sampler)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(6):
    for xb, yb in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(net(xb).squeeze(-1), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    found = net(x).squeeze(-1) > 0
print("rare rows %d, recall %.3f, accuracy %.3f" % (y.sum(), found[y > 0].float().mean(), (found == (y > 0)).float().mean()))
""",
)

healthy(
    "label smoothing",
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(500, 8)
y = (X @ torch.randn(8, 5)).argmax(1)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 5))
criterion = nn.CrossEntropyLoss(label_smoothing=0.3)
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
for epoch in range(25):
    for idx in torch.randperm(500).split(50):
        opt.zero_grad()
        loss = criterion(net(X[idx]), y[idx])
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        print("epoch", epoch, "loss %.4f" % loss.item())
print("loss %.3f accuracy %.3f" % (loss.item(), (net(X).argmax(1) == y).float().mean()))
""",
)

fault(
    "inplace gate",
    "exceptions: an in-place change of a sigmoid's output, which backward needs",
    ("in place",),
    (14,),
    """\
import torch
import torch.nn as nn

class Gated(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.value = nn.Linear(n_in, n_hidden)
        self.gate = nn.Linear(n_in, n_hidden)
        self.out = nn.Linear(n_hidden, 1)

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        v = torch.tanh(self.value(x))
        g = g + 0.1
        return self.out(g * v)

torch.manual_seed(0)
X = torch.randn(300, 4)
y = (X[:, :1] * torch.sigmoid(2 * X[:, 1:2])) + X[:, 2:3]
model = Gated(4, 20)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(150):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(X), y)
    loss.backward()
    optimizer.step()
    if epoch % 30 == 0:
        print("epoch", epoch, "loss", loss.item())
print("last loss", loss.item())
""",
    ("        g = g + 0.1\n", "        g += 0.1\n"),
)

fault(
    "linear stack",
    "activations: no non-linearity between the linear layers",
    ("nothing between",),
    (9, 10),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
points = torch.rand(600, 2) * 2 - 1
inside = (points.norm(dim=1) < 0.75).float().unsqueeze(1)

model = nn.Sequential(
    nn.Linear(2, 32), nn.ReLU(),
    nn.Linear(32, 32), nn.ReLU(),
    nn.Linear(32, 1),
)
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    for batch in torch.randperm(600).split(60):
        optimizer.zero_grad()
        loss = loss_fn(model(points[batch]), inside[batch])
        loss.backward()
        optimizer.step()
    if epoch % 4 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 4))
print("final loss %.4f" % loss_fn(model(points), inside).item())
""",
    (
        "    nn.Linear(2, 32), nn.ReLU(),\n    nn.Linear(32, 32), nn.ReLU(),\n",
        "    nn.Linear(2, 32),\n    nn.Linear(32, 32),\n",
    ),
)

fault(
    "log of zero",
    "NaN and infinity: log of a softmax that becomes 0",
    ("not finite",),
    (10,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(300, 6) * 40
y = (X[:, 0] + X[:, 1] > 0).long()
onehot = torch.eye(2)[y]

def cross_entropy(probs, target):
    return -(target * torch.log(probs + 1e-8)).sum(1).mean()

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2), nn.Softmax(dim=1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(20):
    for idx in torch.randperm(300).split(30):
        probs = model(X[idx])
        loss = cross_entropy(probs, onehot[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 0:
        print("epoch", epoch, "loss", loss.item())
print("loss %.3f accuracy %.3f" % (loss.item(), (model(X).argmax(1) == y).float().mean()))
""",
    (
        "    return -(target * torch.log(probs + 1e-8)).sum(1).mean()\n",
        "    return -(target * torch.log(probs)).sum(1).mean()\n",
    ),
)

fault(
    "missing class",
    "labels and data: the table is sorted by kind and split without shuffling, so one class is missing in training",
    ("never asked",),
    (11, 13),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
centres = torch.tensor([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.5, 2.0]])
X = torch.cat([c + 0.3 * torch.randn(50, 4) for c in centres])
y = torch.arange(3).repeat_interleave(50)
X = (X - X.mean(0)) / X.std(0)

order = torch.randperm(150)
X, y = X[order], y[order]
X_train, y_train = X[:100], y[:100]
X_test, y_test = X[100:], y[100:]

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(100):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(X_train), y_train)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    acc = (model(X_test).argmax(1) == y_test).float().mean()
print("train loss %.3f, test accuracy %.3f" % (loss.item(), acc))
""",
    ("order = torch.randperm(150)\n", "order = torch.arange(150)\n"),
)

fault(
    "never back to train",
    "modes: eval() in the check and never train() again, so the whole training runs in evaluation mode",
    ("trains in eval",),
    (15, 20, 22),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
readings = torch.randn(600, 5) * torch.tensor([1.0, 30.0, 0.1, 5.0, 200.0]) + torch.tensor([20.0, 900.0, 0.5, 40.0, 1000.0])
z = (readings - readings.mean(0)) / readings.std(0)
target = (z[:, 0] * z[:, 2] + z[:, 3] > 0).long()
x_train, x_val, y_train, y_val = readings[:450], readings[450:], target[:450], target[450:]

net = nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 24), nn.ReLU(), nn.BatchNorm1d(24), nn.Linear(24, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)

def check():
    net.eval()
    with torch.no_grad():
        out = net(x_val)
    return F.cross_entropy(out, y_val).item(), (out.argmax(1) == y_val).float().mean().item()

for epoch in range(15):
    loss_val, acc_val = check()
    net.train(); total = 0.0
    for idx in torch.randperm(450).split(30):
        opt.zero_grad()
        loss = F.cross_entropy(net(x_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
        total += loss.item() / 15
    if epoch % 5 == 4:
        print("epoch %d train %.3f val %.3f acc %.3f" % (epoch, total, loss_val, acc_val))
print("val loss %.3f acc %.3f" % check())
""",
    ("    net.train(); total = 0.0\n", "    total = 0.0\n"),
)

fault(
    "prior bias everywhere",
    "activations: a bias of -4.6, meant for the last layer, kills the ReLUs of all layers",
    ("dead units",),
    (16,),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
prior = 0.01
bias = -math.log((1 - prior) / prior)

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 32)
        self.out = nn.Linear(32, 1)
        for layer in (self.out,):
            nn.init.constant_(layer.bias, bias)

    def forward(self, x):
        return self.out(F.relu(self.fc2(F.relu(self.fc1(x))))).squeeze(1)

X = torch.randn(800, 10)
y = ((X[:, 0] > 0.5) & (X[:, 1] > 0)).float()
net = Detector()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(300):
    i = torch.randint(0, 800, (64,))
    loss = F.binary_cross_entropy_with_logits(net(X[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 60 == 0:
        print("step", step, "loss %.4f" % loss.item())
print("loss %.4f" % F.binary_cross_entropy_with_logits(net(X), y).item())
""",
    ("        for layer in (self.out,):\n", "        for layer in (self.fc1, self.fc2, self.out):\n"),
)

fault(
    "rare fraud",
    "labels and data: one class is very rare and neither weighted nor sampled more often",
    ("one class",),
    (20,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

def payments(n):
    fraud = (torch.rand(n) < 0.02).float()
    x = torch.randn(n, 5)
    x[:, 0] += 1.5 * fraud
    x[:, 1] -= 1.3 * fraud
    return x, fraud

def recall(model, x, y):
    with torch.no_grad():
        found = (model(x).squeeze(1) > 0).float()
    return (found * y).sum().item() / y.sum().item(), (found == y).float().mean().item()

torch.manual_seed(0)
x, y = payments(2000)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=(y == 0).sum() / (y == 1).sum())
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
for epoch in range(6):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
print("recall %.3f accuracy %.3f" % recall(model, *payments(4000)))
""",
    (
        "criterion = nn.BCEWithLogitsLoss(pos_weight=(y == 0).sum() / (y == 1).sum())\n",
        "criterion = nn.BCEWithLogitsLoss()\n",
    ),
)

fault(
    "row means",
    "shapes that broadcast by mistake: mean and standard deviation over the features, not over the rows",
    ("by row",),
    (13, 14),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
n = 500
height = 170 + 10 * torch.randn(n)
weight = 70 + 8 * torch.randn(n)
income = 40000 + 9000 * torch.randn(n)
table = torch.stack([height, weight, income], 1)
score = (height - 170) / 10 - (weight - 70) / 8 + (income - 40000) / 9000

mean = table.mean(dim=0, keepdim=True)
std = table.std(dim=0, keepdim=True)
inputs = (table - mean) / std

net = nn.Sequential(nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(400):
    pick = torch.randint(0, n, (64,))
    loss = F.mse_loss(net(inputs[pick]).squeeze(1), score[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print("step", step, "loss", round(loss.item(), 4))
print("mean squared error %.4f" % F.mse_loss(net(inputs).squeeze(1), score).item())
""",
    (
        "mean = table.mean(dim=0, keepdim=True)\nstd = table.std(dim=0, keepdim=True)\n",
        "mean = table.mean(dim=1, keepdim=True)\nstd = table.std(dim=1, keepdim=True)\n",
    ),
)

fault(
    "running loss",
    "history that grows: the running loss is a tensor with its graph, never .item()",
    ("joins older",),
    (24,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)
n = 400
t = torch.rand(n) * 6 + 0.5
y = torch.randint(0, 2, (n,))
angle = t + y * 3.1416
X = torch.stack([t * torch.cos(angle), t * torch.sin(angle)], 1) / 3
loader = DataLoader(TensorDataset(X, y), batch_size=20, shuffle=True)

model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
total_loss = 0
count = 0
for epoch in range(25):
    for xb, yb in loader:
        opt.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        opt.step()
        total_loss += loss.item()
        count += 1
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}, average loss so far {total_loss / count:.4f}")
""",
    ("        total_loss += loss.item()\n", "        total_loss += loss\n"),
)

fault(
    "sigmoid with logits",
    "outputs and loss do not fit: sigmoid before binary_cross_entropy_with_logits",
    ("soft twice",),
    (14, 26),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

class Churn(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.hidden = nn.Linear(n_in, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        x = F.relu(self.hidden(x))
        return self.out(x)

def main():
    torch.manual_seed(0)
    features = torch.randn(500, 6)
    leaves = ((features[:, 0] > 0) & (features[:, 1] < 0.5)).float().unsqueeze(1)
    loader = DataLoader(TensorDataset(features, leaves), batch_size=25, shuffle=True)
    model = Churn(6)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(15):
        running = 0.0
        for x, y in loader:
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}: {running / len(loader):.4f}")
    print(f"last mean loss {running / len(loader):.4f}")

main()
""",
    ("        return self.out(x)\n", "        return torch.sigmoid(self.out(x))\n"),
)

fault(
    "target in features",
    "labels and data: the target column is left among the features",
    ("target given",),
    (15,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
COLUMNS = ["people", "area", "bill", "insulation"]

def households(n):
    people, area, insulation = torch.randn(n), torch.randn(n), torch.randn(n)
    bill = people + 0.8 * area - 0.5 * insulation + 0.2 * torch.randn(n)
    return torch.stack([people, area, bill, insulation], 1)

table = households(400)
target = COLUMNS.index("bill")
features = [i for i, c in enumerate(COLUMNS) if i != target]
model = nn.Sequential(nn.Linear(len(features), 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    for rows in table[torch.randperm(400)].split(40):
        loss = F.mse_loss(model(rows[:, features]).squeeze(1), rows[:, target])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        print("epoch", epoch, "loss %.4f" % loss.item())
new = households(500)
bill = new[:, target].clone()
new[:, target] = 0.0
print("error on households whose bill is not known yet %.4f" % F.mse_loss(model(new[:, features]).squeeze(1), bill).item())
""",
    (
        "features = [i for i, c in enumerate(COLUMNS) if i != target]\n",
        "features = [i for i, c in enumerate(COLUMNS)]\n",
    ),
)

fault(
    "tensor of gates",
    "the history is cut: torch.tensor of a list of computed gate values",
    ("not reached",),
    (16,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(200, 4)
Y = torch.where(X[:, 3] > 0, 2 * X[:, 0], -2 * X[:, 0]).unsqueeze(1)

class Mixture(nn.Module):
    def __init__(self, experts=3):
        super().__init__()
        self.gate = nn.Linear(4, experts)
        self.experts = nn.ModuleList([nn.Linear(4, 1) for _ in range(experts)])

    def forward(self, x):
        scores = torch.softmax(self.gate(x), dim=1)
        weights = scores
        outs = torch.cat([e(x) for e in self.experts], dim=1)
        return (weights * outs).sum(dim=1, keepdim=True)

model = Mixture()
optim = torch.optim.Adam(model.parameters(), lr=0.03)
criterion = nn.MSELoss()
for epoch in range(150):
    perm = torch.randperm(200)
    for b in range(0, 200, 100):
        idx = perm[b:b + 100]
        optim.zero_grad()
        loss = criterion(model(X[idx]), Y[idx])
        loss.backward()
        optim.step()
    if epoch % 30 == 0:
        print('Epoch: {} Loss: {:.4f}'.format(epoch, loss.item()))
print('Loss at the end: {:.4f}'.format(loss.item()))
""",
    ("        weights = scores\n", "        weights = torch.tensor(scores.tolist())\n"),
)

fault(
    "two tasks",
    "backward or step missing or at the wrong place: backward on one of the two losses, not on their sum",
    ("not reached",),
    (30,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
X = torch.randn(600, 8)
price = X[:, 0] * X[:, 1] + X[:, 2]
quality = (X[:, 3] + X[:, 4] > 0).long()

class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.price_head = nn.Linear(32, 1)
        self.quality_head = nn.Linear(32, 2)

    def forward(self, x):
        h = self.trunk(x)
        return self.price_head(h).squeeze(-1), self.quality_head(h)

net = MultiTask()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(400):
    idx = torch.randint(0, 600, (50,))
    p, q = net(X[idx])
    loss_price = F.mse_loss(p, price[idx])
    loss_quality = F.cross_entropy(q, quality[idx])
    loss = loss_price + loss_quality
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(f"{step}: price {loss_price.item():.3f} quality {loss_quality.item():.3f}")
with torch.no_grad():
    p, q = net(X)
    print("price mse %.3f, quality accuracy %.3f" % (F.mse_loss(p, price), (q.argmax(1) == quality).float().mean()))
""",
    ("    loss.backward()\n", "    loss_price.backward()\n"),
)
