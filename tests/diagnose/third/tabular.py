"""Classes, tables and losses: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "accum reg",
    "gradients accumulated over 16 micro batches without dividing, update is 16 times too large",
    ("diverges",),
    (25,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(64)
ACCUM = 16
LR = 0.1

w_true = torch.tensor([[1.5], [-2.0], [0.7], [0.0], [3.0]])


def micro_batch(k=8):
    x = torch.randn(k, 5)
    return x, x @ w_true + 0.5 * (x[:, :1] * x[:, 1:2])


model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.5)
loss_fn = nn.MSELoss()

window = 0.0
opt.zero_grad()
for i in range(1, 60 * ACCUM + 1):
    x, y = micro_batch()
    loss = loss_fn(model(x), y)
    (loss / ACCUM).backward()
    window += loss.item()
    if i % ACCUM == 0:
        opt.step()
        opt.zero_grad()
        if (i // ACCUM) % 5 == 0:
            print(f"update {i // ACCUM} loss {window / ACCUM:.4f}")
        window = 0.0

x, y = micro_batch(300)
with torch.no_grad():
    print("test mse", loss_fn(model(x), y).item(), "variance", y.var().item())
""",
    ("    (loss / ACCUM).backward()\n", "    loss.backward()\n"),
)

fault(
    "binary churn",
    "BCEWithLogitsLoss receives probabilities (sigmoid already applied)",
    ("soft twice",),
    (23,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(101)
n = 800
usage = torch.randn(n)
tickets = torch.rand(n) * 4
tenure = torch.randn(n)
score = 2.0 * usage - 1.0 * tickets + 0.7 * tenure + usage * tenure - 0.2
churn = (score + 0.2 * torch.randn(n) > 0).float().unsqueeze(1)
X = torch.stack([usage, (tickets - 2) / 1.2, tenure], dim=1)

train_dl = DataLoader(TensorDataset(X[:600], churn[:600]), batch_size=60, shuffle=True)


class ChurnModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)

    def predict(self, x):
        with torch.no_grad():
            p = torch.sigmoid(self.net(x))
        return p


model = ChurnModel()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(6):
    losses = []
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1:2d}  loss {sum(losses) / len(losses):.4f}")

p = model.predict(X[600:])
t = churn[600:]
print("accuracy", ((p > 0.5).float() == t).float().mean().item())
print("log loss", -(t * (p + 1e-6).log() + (1 - t) * (1 - p + 1e-6).log()).mean().item())
""",
    ("        return self.net(x)\n", "        return torch.sigmoid(self.net(x))\n"),
)

fault(
    "class mse",
    "MSE on class ids (regressing an unordered class number) instead of cross entropy",
    (),
    (25,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(99)
NUM = 7


def blobs(n, mu):
    y = torch.randint(0, NUM, (n,))
    return mu[y] + 0.35 * torch.randn(n, 2), y


angle = torch.tensor([0.0, 3.1, 1.2, 5.2, 2.1, 4.2, 0.6]) * 1.0
mu = torch.stack([angle.cos(), angle.sin()], 1) * 2

X, Y = blobs(600, mu)
Xv, Yv = blobs(300, mu)

net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, NUM))
opt = torch.optim.Adam(net.parameters(), lr=0.01)


def objective(out, y):
    return F.cross_entropy(out, y)


for epoch in range(20):
    tot = 0.0
    for idx in torch.randperm(600).split(60):
        opt.zero_grad()
        loss = objective(net(X[idx]), Y[idx])
        loss.backward()
        opt.step()
        tot += loss.item() / 10
    if epoch % 2 == 0:
        print("epoch", epoch, "objective", round(tot, 4))

with torch.no_grad():
    print("val acc", (net(Xv).argmax(1) == Yv).float().mean().item())
""",
    (
        "    return F.cross_entropy(out, y)\n",
        "    return F.mse_loss((out.softmax(1) * torch.arange(NUM)).sum(1), y.float())\n",
    ),
)

fault(
    "decay cls",
    "weight decay of 5 pulls all weights to zero",
    ("decay wins",),
    (20,),
    """\
import torch
from torch import nn, optim
from torch.nn import functional as F

torch.manual_seed(1)

K, DIM = 8, 16
anchors = F.normalize(torch.randn(K, DIM), dim=1) * 3


def get(n):
    label = torch.randint(K, (n,))
    return anchors[label] + torch.randn(n, DIM) * 0.8, label


train_x, train_y = get(512)
test_x, test_y = get(256)

model = nn.Sequential(nn.Linear(DIM, 40), nn.ReLU(), nn.Linear(40, K))
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)


def train_epoch():
    model.train()
    seen, total, right = 0, 0.0, 0
    for idx in torch.randperm(512).split(64):
        optimizer.zero_grad()
        out = model(train_x[idx])
        loss = F.cross_entropy(out, train_y[idx])
        loss.backward()
        optimizer.step()
        seen += len(idx)
        total += loss.item() * len(idx)
        right += (out.argmax(1) == train_y[idx]).sum().item()
    return total / seen, right / seen


for epoch in range(10):
    l, a = train_epoch()
    print(f"epoch {epoch}: loss={l:.4f} acc={a:.3f}")

model.eval()
with torch.no_grad():
    print("test acc", (model(test_x).argmax(1) == test_y).float().mean().item())
""",
    (
        "optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)\n",
        "optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5.0)\n",
    ),
)

fault(
    "dense dropout",
    "evaluation without model.eval(), dropout stays active when testing",
    ("draws in evaluation",),
    (40,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)


class Net(nn.Module):
    def __init__(self, p=0.7):
        super().__init__()
        self.a = nn.Linear(12, 48)
        self.b = nn.Linear(48, 6)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.b(self.drop(F.relu(self.a(x))))


protos = torch.randn(6, 12)


def draw(n):
    y = torch.randint(0, 6, (n,))
    return protos[y] + 0.7 * torch.randn(n, 12), y


def fit(net, x, y, epochs=40):
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    net.train()
    for e in range(epochs):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        if e % 5 == 0:
            print("epoch", e, "loss", round(loss.item(), 4))


def score(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


net = Net()
x, y = draw(400)
fit(net, x, y)
xt, yt = draw(400)
for trial in range(3):
    print("test", score(net, xt, yt))
""",
    ("    net.eval()\n", ""),
)

fault(
    "distance metric",
    "gradient of sqrt at exactly zero distance is infinite/NaN",
    ("not finite",),
    (23,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(50)

CLASSES, DIM = 5, 8
protos = torch.randn(CLASSES, DIM)
labels = torch.arange(60) % CLASSES
points = protos[labels] + 0.5 * torch.randn(60, DIM)

embed = nn.Sequential(nn.Linear(DIM, 24), nn.ReLU(), nn.Linear(24, 4))
opt = torch.optim.Adam(embed.parameters(), lr=0.01)
MARGIN = 2.0

same = labels.unsqueeze(0) == labels.unsqueeze(1)
off_diag = 1.0 - torch.eye(60)
pos_w = same.float() * off_diag
neg_w = (~same).float()


def pairwise(z):
    diff = z.unsqueeze(0) - z.unsqueeze(1)
    return ((diff ** 2).sum(dim=-1) + 1e-8).sqrt()


for step in range(60):
    z = embed(points)
    d = pairwise(z)
    pull = (d * pos_w).sum() / pos_w.sum()
    push = (torch.relu(MARGIN - d) * neg_w).sum() / neg_w.sum()
    loss = pull + push
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 6 == 0:
        print(f"step {step} pull {pull.item():.4f} push {push.item():.4f}")

with torch.no_grad():
    query_y = torch.randint(0, CLASSES, (100,))
    q = embed(protos[query_y] + 0.5 * torch.randn(100, DIM))
    z = embed(points)
    near = ((q.unsqueeze(1) - z.unsqueeze(0)) ** 2).sum(-1).argmin(1)
    print("1-nn accuracy", (labels[near] == query_y).float().mean().item())
""",
    ("    return ((diff ** 2).sum(dim=-1) + 1e-8).sqrt()\n", "    return (diff ** 2).sum(dim=-1).sqrt()\n"),
)

fault(
    "distill",
    "kl_div receives probabilities instead of log-probabilities",
    ("kl without logs",),
    (21,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(181)
TEMP = 2.0

teacher = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 5))
with torch.no_grad():
    for p in teacher.parameters():
        p.mul_(2.5)
teacher.requires_grad_(False)
teacher.eval()

student = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 5))
opt = torch.optim.Adam(student.parameters(), lr=0.01)


def distill_loss(s_logits, t_logits):
    t = F.softmax(t_logits / TEMP, dim=1)
    s = F.log_softmax(s_logits / TEMP, dim=1)
    return F.kl_div(s, t, reduction="batchmean") * TEMP ** 2


for step in range(250):
    x = torch.randn(80, 6)
    with torch.no_grad():
        t_logits = teacher(x)
    loss = distill_loss(student(x), t_logits)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print("step", step, "loss", loss.item())

x = torch.randn(800, 6)
with torch.no_grad():
    s, t = student(x), teacher(x)
    agree = (s.argmax(1) == t.argmax(1)).float().mean().item()
    gap = (F.softmax(s, 1) - F.softmax(t, 1)).abs().sum(1).mean().item()
print("agreement", agree, "mean probability gap", gap)
""",
    ("    s = F.log_softmax(s_logits / TEMP, dim=1)\n", "    s = F.softmax(s_logits / TEMP, dim=1)\n"),
)

fault(
    "expert stack",
    "layers kept in a plain Python list, not registered, never trained",
    ("not held",),
    (15,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)
D, H, C, DEPTH = 10, 6, 5, 3


class Stack(nn.Module):
    \"\"\"Residual blocks, one after another.\"\"\"

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(D, H)
        self.blocks = nn.ModuleList([nn.Linear(H, H) for _ in range(DEPTH)] + [nn.Linear(H, C)])

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks[:-1]:
            x = x + F.relu(b(x))
        return self.blocks[-1](x)


centers = torch.randn(15, D) * 1.2
owner = torch.arange(15) % C


def data(n):
    k = torch.randint(0, 15, (n,))
    return centers[k] + 0.4 * torch.randn(n, D), owner[k]


xs, ys = data(600)
xv, yv = data(200)
net = Stack()
optim = torch.optim.Adam(net.parameters(), lr=0.01)

for epoch in range(30):
    perm = torch.randperm(600)
    losses = []
    for chunk in perm.split(60):
        optim.zero_grad()
        loss = F.cross_entropy(net(xs[chunk]), ys[chunk])
        loss.backward()
        optim.step()
        losses.append(loss.item())
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")

with torch.no_grad():
    print("valid acc", (net(xv).argmax(1) == yv).float().mean().item())
""",
    (
        "        self.blocks = nn.ModuleList([nn.Linear(H, H) for _ in range(DEPTH)] + [nn.Linear(H, C)])\n",
        "        self.blocks = [nn.Linear(H, H) for _ in range(DEPTH)] + [nn.Linear(H, C)]\n",
    ),
)

fault(
    "first batch",
    "next(iter(loader)) on an unshuffled loader gives the same first batch at every step",
    ("same batch",),
    (12,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(55)

proj = torch.randn(12, 4)
X = torch.randn(640, 12)
Y = (X @ proj).argmax(1)
ds_train = TensorDataset(X[:480], Y[:480])
loader = DataLoader(ds_train, batch_size=16, shuffle=True)
X_val, Y_val = X[480:], Y[480:]

model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)


def validate():
    model.eval()
    with torch.no_grad():
        out = model(X_val)
        res = F.cross_entropy(out, Y_val).item(), (out.argmax(1) == Y_val).float().mean().item()
    model.train()
    return res


for step in range(300):
    xb, yb = next(iter(loader))
    opt.zero_grad()
    loss = F.cross_entropy(model(xb), yb)
    loss.backward()
    opt.step()
    if step % 50 == 49:
        vl, va = validate()
        print(f"step {step + 1}: train {loss.item():.4f} val {vl:.4f} acc {va:.3f}")
""",
    (
        "loader = DataLoader(ds_train, batch_size=16, shuffle=True)\n",
        "loader = DataLoader(ds_train, batch_size=16)\n",
    ),
)

fault(
    "frozen bn",
    "model.eval() in the validation function, never back to train(): net stays in eval from the evaluation before training, BatchNorm statistics stay 0/1",
    ("trains in eval",),
    (42,),
    """\
import torch
import torch.nn as nn
from torch.nn import functional as F

torch.manual_seed(111)

mean_feat = torch.tensor([6.0, -3.0, 10.0, 0.0])
scale_feat = torch.tensor([0.5, 0.2, 2.0, 0.1])


def sample(n):
    u = torch.randn(n, 4)
    y = ((u[:, 0] * u[:, 1] + u[:, 2] - u[:, 3]) > 0).long()
    return mean_feat + scale_feat * u, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.f1 = nn.Linear(4, 32)
        self.f2 = nn.Linear(32, 2)

    def forward(self, x):
        return self.f2(F.relu(self.f1(self.bn(x))))


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


X, Y = sample(512)
Xv, Yv = sample(256)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

print("before training:", evaluate(net, Xv, Yv))
for epoch in range(15):
    net.train()
    tot = 0.0
    for idx in torch.randperm(512).split(32):
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 16
    vl, va = evaluate(net, Xv, Yv)
    print(f"epoch {epoch} train {tot:.4f} val {vl:.4f} acc {va:.3f}")
""",
    ("    net.train()\n", ""),
)

fault(
    "iris like",
    "labels permuted independently of the features",
    ("apart",),
    (16,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(17)


class Flowers(Dataset):
    def __init__(self, n, means):
        self.y = torch.arange(n) % 3
        self.x = means[self.y] + 0.5 * torch.randn(n, 4)

    def shuffle(self):
        order = torch.randperm(len(self.y))
        self.x = self.x[order]
        self.y = self.y[order]
        return self

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


means = torch.randn(3, 4) * 1.5
train = Flowers(150, means).shuffle()
test = Flowers(90, means)
loader = DataLoader(train, batch_size=30)

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

for epoch in range(30):
    net.train()
    epoch_loss = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    if epoch % 5 == 4:
        print("epoch", epoch + 1, "loss", epoch_loss / len(loader))

net.eval()
with torch.no_grad():
    acc = (net(test.x).argmax(1) == test.y).float().mean().item()
print("accuracy on new flowers", acc)
""",
    ("        self.y = self.y[order]\n", "        self.y = self.y[torch.randperm(len(self.y))]\n"),
)

fault(
    "lr schedule",
    "scheduler stepped per batch with gamma meant per epoch, learning rate vanishes",
    ("rate",),
    (34,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ExponentialLR

torch.manual_seed(77)


def checkerboard(n):
    x = torch.rand(n, 2) * 4
    y = (x.floor().sum(1) % 2).long()
    return x - 2, y


X, Y = checkerboard(800)
Xt, Yt = checkerboard(300)

net = nn.Sequential(
    nn.Linear(2, 64), nn.ReLU(),
    nn.Linear(64, 64), nn.ReLU(),
    nn.Linear(64, 2),
)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
sched = ExponentialLR(opt, gamma=0.9)

for epoch in range(40):
    total = 0.0
    for idx in torch.randperm(800).split(80):
        opt.zero_grad()
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        loss.backward()
        opt.step()
        total += loss.item()
    sched.step()
    if epoch % 4 == 0:
        print("epoch", epoch, "loss", round(total / 10, 4))

with torch.no_grad():
    print("test accuracy", (net(Xt).argmax(1) == Yt).float().mean().item())
""",
    ("    sched.step()\n", "        sched.step()\n"),
)

fault(
    "manual momentum",
    "momentum of 1.0: the velocity never decays, the weights oscillate",
    (),
    (29,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(190)

X = torch.randn(300, 5)
coef = torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0])
Y = (X @ coef + 0.7).unsqueeze(1) + 0.05 * torch.randn(300, 1)


class MyMomentum:
    def __init__(self, params, lr, momentum):
        self.params = list(params)
        self.lr, self.momentum = lr, momentum
        self.v = [torch.zeros_like(p) for p in self.params]

    def zero_grad(self):
        for p in self.params:
            p.grad = None

    def step(self):
        with torch.no_grad():
            for p, v in zip(self.params, self.v):
                v.mul_(self.momentum).add_(p.grad)
                p.sub_(self.lr * v)


model = nn.Linear(5, 1)
opt = MyMomentum(model.parameters(), lr=0.02, momentum=0.9)

for step in range(200):
    loss = nn.functional.mse_loss(model(X), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step:3d} loss {loss.item():.5f}")

with torch.no_grad():
    print("final loss", nn.functional.mse_loss(model(X), Y).item())
    print("weights", [round(w, 2) for w in model.weight[0].tolist()])
""",
    (
        "opt = MyMomentum(model.parameters(), lr=0.02, momentum=0.9)\n",
        "opt = MyMomentum(model.parameters(), lr=0.02, momentum=1.0)\n",
    ),
)

fault(
    "mixed types",
    "inputs are float64 (from a double computation), weights float32: dtype mismatch",
    ("exception",),
    (19,),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(140)


def simulate(n):
    t = torch.rand(n, dtype=torch.float64) * 2 * math.pi
    amp = 0.5 + torch.rand(n, dtype=torch.float64)
    obs = torch.stack([amp * torch.cos(t), amp * torch.sin(t)], dim=1)
    obs = obs + 0.02 * torch.randn(n, 2, dtype=torch.float64)
    return obs, amp.unsqueeze(1)


obs, amp = simulate(500)
centre = obs.mean(dim=0)
spread = obs.std(dim=0)
inputs = ((obs - centre) / spread).float()
targets = amp.float()

model = nn.Sequential(
    nn.Linear(2, 32),
    nn.Tanh(),
    nn.Linear(32, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
criterion = nn.MSELoss()

for epoch in range(100):
    optimizer.zero_grad()
    loss = criterion(model(inputs[:400]), targets[:400])
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch}: {loss.item():.5f}")

with torch.no_grad():
    print("test", criterion(model(inputs[400:]), targets[400:]).item(), "variance", targets[400:].var().item())
""",
    ("inputs = ((obs - centre) / spread).float()\n", "inputs = (obs - centre) / spread\n"),
)

fault(
    "moons order",
    "zero_grad between backward and step, the update is always zero",
    ("cleared",),
    (25, 26),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(38)


def moons(n):
    t = torch.rand(n) * math.pi
    up = torch.stack([torch.cos(t), torch.sin(t)], 1)
    down = torch.stack([1 - torch.cos(t), 0.4 - torch.sin(t)], 1)
    y = torch.randint(0, 2, (n,))
    x = torch.where(y.unsqueeze(1) == 0, up, down)
    return x + 0.1 * torch.randn(n, 2), y


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.loss_fn = nn.CrossEntropyLoss()

    def step(self, x, y):
        loss = self.loss_fn(self.model(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def accuracy(self, x, y):
        with torch.no_grad():
            return (self.model(x).argmax(1) == y).float().mean().item()


trainer = Trainer(nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)), lr=0.2)
for step in range(200):
    loss = trainer.step(*moons(64))
    if step % 20 == 0:
        print(f"step {step} loss {loss:.4f}")
print("accuracy", trainer.accuracy(*moons(400)))
""",
    (
        "        loss = self.loss_fn(self.model(x), y)\n",
        "        loss = self.loss_fn(self.model(x), y)\n        loss.backward()\n",
    ),
    ("        self.opt.zero_grad()\n        loss.backward()\n", "        self.opt.zero_grad()\n"),
)

fault(
    "norm split",
    "test inputs are not normalised with the training statistics",
    ("other scale",),
    (22,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(200)


def patients(n):
    age = 50 + 15 * torch.randn(n)
    bmi = 27 + 4 * torch.randn(n)
    glucose = 105 + 20 * torch.randn(n)
    pulse = 72 + 9 * torch.randn(n)
    risk = 0.04 * (age - 50) + 0.1 * (bmi - 27) + 0.05 * (glucose - 105)
    return torch.stack([age, bmi, glucose, pulse], dim=1), (risk > 0.0).long()


x_train, y_train = patients(500)
x_test, y_test = patients(200)

mean, std = x_train.mean(0), x_train.std(0)
x_train = (x_train - mean) / std
x_test = (x_test - mean) / std

loader = DataLoader(TensorDataset(x_train, y_train), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
ce = nn.CrossEntropyLoss()

for epoch in range(12):
    model.train()
    tr = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = ce(model(xb), yb)
        loss.backward()
        opt.step()
        tr += loss.item() / len(loader)
    model.eval()
    with torch.no_grad():
        out = model(x_test)
        te = ce(out, y_test).item()
        acc = (out.argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch} train {tr:.4f} test {te:.4f} acc {acc:.3f}")
""",
    ("x_test = (x_test - mean) / std\n", ""),
)

fault(
    "poly fit",
    "the whole training step runs under no_grad, backward raises",
    ("no gradient",),
    (20,),
    """\
import torch

torch.manual_seed(0)

xs = torch.linspace(-2, 2, 80).unsqueeze(1)
ys = 0.5 * xs ** 3 - xs + 0.3
ys = ys + 0.05 * torch.randn(80, 1)

powers = torch.cat([xs ** k for k in range(4)], dim=1)
w = torch.zeros(4, 1, requires_grad=True)
lr = 0.03


def predict(design):
    return design @ w


def train(n_iter):
    for it in range(n_iter):
        with torch.enable_grad():
            loss = ((predict(powers) - ys) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w.sub_(lr * w.grad)
            w.grad.zero_()
        if it % 30 == 0:
            print(f"it {it}: {loss.item():.5f}")


train(300)
print("coefficients", [round(v, 3) for v in w.detach().flatten().tolist()])
""",
    ("        with torch.enable_grad():\n", "        with torch.no_grad():\n"),
)

fault(
    "scores inplace",
    "in-place edit of a tensor that backward still needs (sigmoid output)",
    ("in place",),
    (17,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(70)


class Gate(nn.Module):
    \"\"\"Feature gating: x * g, with a floor under the gate.\"\"\"

    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)

    def forward(self, x):
        g = torch.sigmoid(self.lin(x))
        g = g + 0.05
        return x * g


class GatedNet(nn.Module):
    def __init__(self, d=9, k=3):
        super().__init__()
        self.gate = Gate(d)
        self.hidden = nn.Linear(d, 20)
        self.out = nn.Linear(20, k)

    def forward(self, x):
        return self.out(F.silu(self.hidden(self.gate(x))))


mix = torch.randn(9, 3)


def draw(n):
    x = torch.randn(n, 9)
    return x, (x.abs() @ mix).argmax(1)


net = GatedNet()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(200):
    x, y = draw(64)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print(step, loss.item())

with torch.no_grad():
    x, y = draw(400)
    print("accuracy", (net(x).argmax(1) == y).float().mean().item())
""",
    ("        g = g + 0.05\n", "        g += 0.05\n"),
)

fault(
    "slow linear",
    "learning rate of 1e-7, far too small",
    ("too small",),
    (10,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(46)

args = {
    "n": 400,
    "dim": 6,
    "hidden": 16,
    "lr": 1e-2,
    "epochs": 20,
    "batch": 40,
}

true_w = torch.randn(args["dim"], 3) * 2
X = torch.randn(args["n"], args["dim"])
Y = (X @ true_w + 0.3 * torch.randn(args["n"], 3)).argmax(dim=1)
Xt = torch.randn(200, args["dim"])
Yt = (Xt @ true_w).argmax(dim=1)

net = nn.Sequential(nn.Linear(args["dim"], args["hidden"]), nn.GELU(), nn.Linear(args["hidden"], 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=args["lr"])
criterion = nn.CrossEntropyLoss()

for epoch in range(args["epochs"]):
    perm = torch.randperm(args["n"])
    losses = []
    for k in range(0, args["n"], args["batch"]):
        sel = perm[k:k + args["batch"]]
        optimizer.zero_grad()
        loss = criterion(net(X[sel]), Y[sel])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 2 == 0:
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.5f}")

with torch.no_grad():
    print("test acc", (net(Xt).argmax(1) == Yt).float().mean().item())
""",
    ('    "lr": 1e-2,\n', '    "lr": 1e-7,\n'),
)

fault(
    "softplus flow",
    "exp overflows in a hand-written softmax/log-sum-exp (no max subtracted)",
    ("not finite",),
    (17,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(61)

# raw photon counts per channel, brightness between 0 and a few hundred
spectra = torch.rand(6, 10) * 200


def measure(n):
    y = torch.randint(0, 6, (n,))
    return spectra[y] + 15 * torch.randn(n, 10), y


def nll(scores, y):
    picked = scores.gather(1, y.unsqueeze(1)).squeeze(1)
    z = torch.logsumexp(scores, dim=1)
    return (z - picked).mean()


model = nn.Linear(10, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
xs, ys = measure(300)

for epoch in range(40):
    for idx in torch.randperm(300).split(50):
        optimizer.zero_grad()
        loss = nll(model(xs[idx]), ys[idx])
        loss.backward()
        optimizer.step()
    if epoch % 4 == 0:
        print(f"epoch {epoch} last loss {loss.item():.4f}")

xt, yt = measure(200)
with torch.no_grad():
    print("accuracy", (model(xt).argmax(1) == yt).float().mean().item())
""",
    ("    z = torch.logsumexp(scores, dim=1)\n", "    z = scores.exp().sum(dim=1).log()\n"),
)

fault(
    "spirals mlp",
    "no activation between the linear layers",
    ("nothing between",),
    (26, 27),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def make_rings(n):
    r = torch.cat([torch.rand(n) * 1.0, 1.5 + torch.rand(n) * 0.8])
    a = torch.rand(2 * n) * 2 * math.pi
    x = torch.stack([r * torch.cos(a), r * torch.sin(a)], dim=1)
    y = torch.cat([torch.zeros(n), torch.ones(n)]).long()
    perm = torch.randperm(2 * n)
    return x[perm], y[perm]


class RingNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(2, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.out(x)


x_train, y_train = make_rings(200)
x_test, y_test = make_rings(100)
model = RingNet()
opt = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(150):
    opt.zero_grad()
    loss = F.cross_entropy(model(x_train), y_train)
    loss.backward()
    opt.step()
    if epoch % 15 == 0:
        print(f"epoch {epoch:3d} loss {loss.item():.4f}")

with torch.no_grad():
    acc = (model(x_test).argmax(1) == y_test).float().mean().item()
print(f"test accuracy {acc:.3f}")
""",
    (
        "        x = F.relu(self.fc1(x))\n        x = F.relu(self.fc2(x))\n",
        "        x = self.fc1(x)\n        x = self.fc2(x)\n",
    ),
)

fault(
    "sum loss",
    'reduction="sum" with a learning rate chosen for the mean: diverges',
    ("diverges",),
    (11,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(210)

BATCH = 100
f = lambda x: torch.sin(2 * x[:, :1]) * x[:, 1:]

net = nn.Sequential(nn.Linear(2, 40), nn.Tanh(), nn.Linear(40, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
crit = nn.MSELoss(reduction="mean")

x_eval = torch.rand(300, 2) * 4 - 2
y_eval = f(x_eval)


def evaluate():
    with torch.no_grad():
        return ((net(x_eval) - y_eval) ** 2).mean().item()


for step in range(400):
    x = torch.rand(BATCH, 2) * 4 - 2
    opt.zero_grad()
    loss = crit(net(x), f(x))
    loss.backward()
    opt.step()
    if step % 40 == 0:
        print("step", step, "loss", loss.item(), "eval", evaluate())

print("final eval", evaluate(), "variance", y_eval.var().item())
""",
    ('crit = nn.MSELoss(reduction="mean")\n', 'crit = nn.MSELoss(reduction="sum")\n'),
)

fault(
    "tune head",
    "optimizer was given the parameters of the old head, the new head never learns",
    ("not held",),
    (36, 37),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(25)

backbone = nn.Sequential(nn.Linear(8, 32), nn.Tanh())
model = nn.ModuleDict({"backbone": backbone, "head": nn.Linear(32, 2)})


def run(x):
    return model["head"](model["backbone"](x))


W = torch.randn(8, 5)


def task(n, classes):
    x = torch.randn(n, 8)
    return x, (x @ W[:, :classes]).argmax(1)


# stage 1: two classes
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = task(300, 2)
for i in range(60):
    opt.zero_grad()
    loss = F.cross_entropy(run(x), y)
    loss.backward()
    opt.step()
print("stage 1 loss", loss.item())

# stage 2: five classes, backbone kept
for p in model["backbone"].parameters():
    p.requires_grad_(False)
model["head"] = nn.Linear(32, 5)
opt = torch.optim.Adam(model["head"].parameters(), lr=0.02)

x, y = task(500, 5)
for i in range(100):
    opt.zero_grad()
    loss = F.cross_entropy(run(x), y)
    loss.backward()
    opt.step()
    if i % 10 == 0:
        print("stage 2", i, loss.item())

xt, yt = task(300, 5)
with torch.no_grad():
    print("accuracy", (run(xt).argmax(1) == yt).float().mean().item())
""",
    (
        "    p.requires_grad_(False)\n",
        '    p.requires_grad_(False)\nopt = torch.optim.Adam(model["head"].parameters(), lr=0.02)\n',
    ),
    (
        'model["head"] = nn.Linear(32, 5)\nopt = torch.optim.Adam(model["head"].parameters(), lr=0.02)\n',
        'model["head"] = nn.Linear(32, 5)\n',
    ),
)

fault(
    "two views",
    "features of the first branch pass through .detach(), the branch never learns",
    ("not reached",),
    (18,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(131)


class TwoBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.audio = nn.Sequential(nn.Linear(20, 6), nn.ReLU(), nn.Linear(6, 3))
        self.video = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))
        self.fuse = nn.Linear(11, 4)

    def forward(self, a, v):
        fa = self.audio(a)
        fv = self.video(v)
        both = torch.cat([fa, fv], dim=1)
        return self.fuse(torch.tanh(both))


wa = torch.randn(20, 2)
wv = torch.randn(6, 1)


def clips(n):
    a, v = torch.randn(n, 20), torch.randn(n, 6)
    s = a @ wa
    y = 2 * (s[:, 0] * s[:, 1] > 0).long() + (v @ wv > 0).long().squeeze(1)
    return a, v, y


model = TwoBranch()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
mean = 1.4
for step in range(400):
    a, v, y = clips(100)
    loss = F.cross_entropy(model(a, v), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mean = 0.95 * mean + 0.05 * loss.item()
    if step % 40 == 39:
        print(f"{step + 1:4d} {mean:.4f}")

with torch.no_grad():
    a, v, y = clips(600)
    print("acc", (model(a, v).argmax(1) == y).float().mean().item())
""",
    ("        both = torch.cat([fa, fv], dim=1)\n", "        both = torch.cat([fa.detach(), fv], dim=1)\n"),
)

fault(
    "zero init",
    "all weights initialised to the same constant, hidden units stay identical",
    ("equal units",),
    (9,),
    """\
import torch
from torch import nn

torch.manual_seed(13)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)


model = nn.Sequential(
    nn.Linear(2, 24),
    nn.Tanh(),
    nn.Linear(24, 24),
    nn.Tanh(),
    nn.Linear(24, 1),
)
model.apply(init_weights)

# exclusive or, with noise
x = torch.rand(400, 2) * 2 - 1
y = ((x[:, :1] > 0) != (x[:, 1:] > 0)).float()
x_val = torch.rand(200, 2) * 2 - 1
y_val = ((x_val[:, :1] > 0) != (x_val[:, 1:] > 0)).float()

optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
loss_fn = nn.BCEWithLogitsLoss()

for it in range(200):
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    optimizer.step()
    if it % 20 == 0:
        print("iteration", it, "loss", loss.item())

with torch.no_grad():
    hit = ((model(x_val) > 0).float() == y_val).float().mean().item()
print("validation accuracy", hit)
""",
    ("        nn.init.xavier_uniform_(m.weight)\n", "        nn.init.constant_(m.weight, 0.1)\n"),
)

healthy(
    "accumulate",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
EVERY = 4

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.8)
proj = torch.randn(8, 3)
X = torch.randn(960, 8)
Y = (X @ proj).argmax(1)

for epoch in range(6):
    perm = torch.randperm(len(X))
    total = 0.0
    opt.zero_grad()
    for i, idx in enumerate(perm.split(20)):
        loss = F.cross_entropy(model(X[idx]), Y[idx]) / EVERY
        loss.backward()
        total += loss.item()
        if (i + 1) % EVERY == 0:
            opt.step()
            opt.zero_grad()
    print(f"epoch {epoch}: {total / (i + 1) * EVERY:.4f}")

Xt = torch.randn(400, 8)
with torch.no_grad():
    print("accuracy", (model(Xt).argmax(1) == (Xt @ proj).argmax(1)).float().mean().item())
""",
)

healthy(
    "alternate",
    """\
import torch
import torch.nn as nn

torch.manual_seed(5)
USERS, ITEMS, RANK = 40, 30, 3
full = torch.randn(USERS, RANK) @ torch.randn(RANK, ITEMS)
seen = torch.rand(USERS, ITEMS) < 0.6


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.u = nn.Parameter(0.3 * torch.randn(USERS, RANK))
        self.v = nn.Parameter(0.3 * torch.randn(RANK, ITEMS))

    def forward(self):
        return self.u @ self.v


model = Factors()
opt_u = torch.optim.Adam([model.u], lr=0.1)
opt_v = torch.optim.Adam([model.v], lr=0.1)
mask = seen.float()

for step in range(300):
    opt = opt_u if step % 2 == 0 else opt_v
    opt_u.zero_grad()
    opt_v.zero_grad()
    loss = (((model() - full) ** 2) * mask).sum() / mask.sum()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("step", step, "loss", loss.item())

with torch.no_grad():
    hidden = 1 - mask
    print("unseen mse", ((((model() - full) ** 2) * hidden).sum() / hidden.sum()).item(), "variance", full.var().item())
""",
)

healthy(
    "big decay",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
D = 60
w = torch.zeros(D, 1)
w[:4] = 1.5


def draw(n):
    x = torch.randn(n, D)
    return x, (x @ w > 0).float()


x, y = draw(400)
xt, yt = draw(500)
net = nn.Linear(D, 1)
opt = torch.optim.AdamW(net.parameters(), lr=0.02, weight_decay=1.0)
for epoch in range(100):
    loss = F.binary_cross_entropy_with_logits(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 10 == 0:
        print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    print("test accuracy", ((net(xt) > 0).float() == yt).float().mean().item())
""",
)

healthy(
    "bn eval",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
net = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
W1, W2 = torch.randn(6, 3), torch.randn(6, 3)


def draw(n, w):
    x = torch.randn(n, 6)
    return x, (x @ w).argmax(1)


def fit(steps, n, w, lr):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for s in range(steps):
        x, y = draw(n, w)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if s % (steps // 5) == 0:
            print("  step", s, "loss", loss.item())


print("pretraining")
net.train()
fit(120, 64, W1, 0.01)
print("fine-tuning on a related task")
net.train()
for m in net.modules():
    if isinstance(m, nn.BatchNorm1d):
        m.eval()
fit(250, 4, W1 + 0.4 * W2, 0.003)
net.eval()
x, y = draw(500, W1 + 0.4 * W2)
with torch.no_grad():
    print("accuracy", (net(x).argmax(1) == y).float().mean().item())
""",
)

healthy(
    "label noise",
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
FLIP = 0.3


def points(n):
    x = torch.randn(n, 5)
    y = (x[:, 0] + 0.5 * x[:, 1] - x[:, 2] > 0).long()
    return x, y


x, y = points(1000)
flip = torch.rand(1000) < FLIP
y_noisy = torch.where(flip, 1 - y, y)
xt, yt = points(400)

dl = DataLoader(TensorDataset(x, y_noisy), batch_size=100, shuffle=True)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=1e-3)
crit = nn.CrossEntropyLoss()

for epoch in range(15):
    tot = 0.0
    for xb, yb in dl:
        opt.zero_grad()
        loss = crit(net(xb), yb)
        loss.backward()
        opt.step()
        tot += loss.item()
    print("epoch", epoch, "loss", round(tot / len(dl), 4))

with torch.no_grad():
    print("clean test accuracy", (net(xt).argmax(1) == yt).float().mean().item())
""",
)

healthy(
    "manual ema",
    """\
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
avg = copy.deepcopy(net)
for p in avg.parameters():
    p.requires_grad_(False)
lr, decay = 0.1, 0.98


def batch(n=48):
    x = torch.randn(n, 3)
    return x, (x[:, :1] * x[:, 1:2] - x[:, 2:]) + 0.3 * torch.randn(n, 1)


for step in range(500):
    x, y = batch()
    loss = F.mse_loss(net(x), y)
    grads = torch.autograd.grad(loss, list(net.parameters()))
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads):
            p -= lr * g
        for a, p in zip(avg.parameters(), net.parameters()):
            a.mul_(decay).add_(p, alpha=1 - decay)
    if step % 50 == 0:
        print("step", step, "loss", loss.item())
x, y = batch(500)
with torch.no_grad():
    print("raw", F.mse_loss(net(x), y).item(), "averaged", F.mse_loss(avg(x), y).item(), "variance", y.var().item())
""",
)

healthy(
    "zero last",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b = nn.Linear(d, d), nn.Linear(d, d)
        nn.init.zeros_(self.b.weight)
        nn.init.zeros_(self.b.bias)

    def forward(self, x):
        return x + self.b(F.relu(self.a(x)))


net = nn.Sequential(nn.Linear(2, 24), Block(24), Block(24), nn.Linear(24, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)


def draw(n):
    x = torch.rand(n, 2) * 2 - 1
    return x, (x[:, 0] * x[:, 1] > 0).long()


for step in range(200):
    x, y = draw(64)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print("step", step, "loss", loss.item())
x, y = draw(500)
with torch.no_grad():
    print("accuracy", (net(x).argmax(1) == y).float().mean().item())
""",
)
