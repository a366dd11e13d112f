"""Regressions: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "angle acos",
    "NaN and infinity: the derivative of acos at 1",
    ("not finite",),
    (17,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
theta = torch.tensor(0.8)
R = torch.stack([torch.stack([theta.cos(), -theta.sin()]), torch.stack([theta.sin(), theta.cos()])])
points = F.normalize(torch.randn(200, 2), dim=1)
turned = points @ R.T

net = nn.Linear(2, 2, bias=False)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for step in range(300):
    idx = torch.randint(0, 200, (32,))
    out = F.normalize(net(points[idx]), dim=1)
    cosine = (out * turned[idx]).sum(dim=1)
    angle = torch.acos(cosine.clamp(-1 + 1e-6, 1 - 1e-6))
    loss = angle.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("step", step, "mean angle", loss.item())
print("last mean angle", loss.item())
""",
    (
        "    angle = torch.acos(cosine.clamp(-1 + 1e-6, 1 - 1e-6))\n",
        "    angle = torch.acos(cosine.clamp(-1, 1))\n",
    ),
)

fault(
    "bare tensor scale",
    "parameters that are not trained: a bare tensor that requires grad in place of nn.Parameter",
    ("not held",),
    (8,),
    """\
import torch
import torch.nn as nn

class FourierLayer(nn.Module):

    def __init__(self, n=12):
        super().__init__()
        self.w = nn.Parameter(torch.linspace(0.5, 1.5, n))
        self.p = nn.Parameter(torch.zeros(n))
        self.a = nn.Parameter(torch.randn(n) * 0.1)

    def forward(self, x):
        return (torch.sin(x.unsqueeze(1) * self.w + self.p) * self.a).sum(1)

def main():
    torch.manual_seed(0)
    x = torch.linspace(-3, 3, 200)
    y = torch.sin(3 * x) + 0.5 * torch.cos(4.5 * x)
    net = FourierLayer()
    opt = torch.optim.Adam(net.parameters(), lr=0.02)
    for i in range(600):
        opt.zero_grad()
        loss = torch.mean((net(x) - y) ** 2)
        loss.backward()
        opt.step()
        if i % 100 == 0:
            print("iter", i, "loss", float(loss))
    print("end", float(loss))

if __name__ == "__main__":
    main()
""",
    (
        "        self.w = nn.Parameter(torch.linspace(0.5, 1.5, n))\n",
        "        self.w = torch.linspace(0.5, 1.5, n, requires_grad=True)\n",
    ),
)

fault(
    "column against row",
    "shapes that broadcast by mistake: predictions (N, 1) against targets (N,)",
    ("broadcast",),
    (18,),
    """\
import torch
import torch.nn as nn
import warnings

warnings.filterwarnings("ignore")
torch.manual_seed(0)
cars = torch.randn(400, 4)
fuel = 2 * cars[:, 0] - cars[:, 1] + 0.5 * cars[:, 2] * cars[:, 3]

model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(20):
    perm = torch.randperm(400)
    for i in range(0, 400, 50):
        idx = perm[i:i + 50]
        outputs = model(cars[idx]).squeeze(1)
        loss = criterion(outputs, fuel[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch}, loss {loss.item():.3f}")
with torch.no_grad():
    print("error %.3f, variance %.3f" % (((model(cars).flatten() - fuel) ** 2).mean(), fuel.var()))
""",
    ("        outputs = model(cars[idx]).squeeze(1)\n", "        outputs = model(cars[idx])\n"),
)

fault(
    "double inputs",
    "exceptions: double inputs into a float net",
    ("exception",),
    (8, 19),
    """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

t = np.linspace(0, 4, 200)
wave = np.exp(-0.5 * t) * np.cos(4 * t)
x = torch.tensor(t, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(wave).float().unsqueeze(1)

class Curve(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(1, 40)
        self.hidden2 = nn.Linear(40, 40)
        self.out = nn.Linear(40, 1)

    def forward(self, x):
        h = torch.tanh(self.hidden(x))
        h = torch.tanh(self.hidden2(h))
        return self.out(h)

torch.manual_seed(0)
net = Curve()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(300):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 60 == 0:
        print("epoch", epoch, loss.item())
print("last loss", loss.item())
""",
    ("x = torch.tensor(t, dtype=torch.float32).unsqueeze(1)\n", "x = torch.tensor(t).unsqueeze(1)\n"),
)

healthy(
    "by hand",
    """\
import torch

torch.manual_seed(0)
x = torch.linspace(-2, 2, 200).unsqueeze(1)
y = x.abs() - 1
w1 = torch.randn(1, 30, requires_grad=True)
b1 = torch.randn(30, requires_grad=True)
w2 = (torch.randn(30, 1) / 30 ** 0.5).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
params = [w1, b1, w2, b2]
velocity = [torch.zeros_like(p) for p in params]

for step in range(300):
    hidden = (x @ w1 + b1).clamp(min=0)
    loss = (hidden @ w2 + b2 - y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p, v in zip(params, velocity):
            v.mul_(0.9).add_(p.grad)
            p -= 0.02 * v
            p.grad = None
    if step % 50 == 0:
        print(step, loss.item())
print("last loss", loss.item())
""",
)

healthy(
    "ema",
    """\
import copy
import torch
import torch.nn as nn

class EMA:
    def __init__(self, model, decay):
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.model.parameters(), model.parameters()):
            e.lerp_(p, 1 - self.decay)

torch.manual_seed(0)
X = torch.rand(400, 3) * 2 - 1
y = X[:, :1] * X[:, 1:2] + torch.sin(3 * X[:, 2:]) + 0.1 * torch.randn(400, 1)
net = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 1))
ema = EMA(net, 0.97)
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for step in range(400):
    pick = torch.randint(0, 400, (32,))
    loss = nn.functional.mse_loss(net(X[pick]), y[pick])
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update(net)
    if step % 80 == 0:
        print("step", step, loss.item())
with torch.no_grad():
    print("error now %.4f, of the average %.4f" % (nn.functional.mse_loss(net(X), y), nn.functional.mse_loss(ema.model(X), y)))
""",
)

healthy(
    "large units",
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

class Prices(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x) * self.std + self.mean

torch.manual_seed(0)
x = torch.randn(400, 4)
price = (300000 + 80000 * x[:, :1] - 30000 * x[:, 1:2] + 20000 * x[:, 2:3] * x[:, 3:] + 5000 * torch.randn(400, 1))
model = Prices(price.mean(), price.std())
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = DataLoader(TensorDataset(x, price), batch_size=40, shuffle=True)
for epoch in range(30):
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 6 == 0:
        print("epoch %d loss %.0f" % (epoch, loss.item()))
print("root of the mean square %.0f euros, deviation %.0f" % (nn.functional.mse_loss(model(x), price) ** 0.5, price.std()))
""",
)

healthy(
    "mc dropout",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Doubtful(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(1, 64), nn.Linear(64, 1)

    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.b(F.dropout(h, 0.1, training=True))

torch.manual_seed(0)
x = torch.rand(150, 1) * 2 - 1
y = 2 * x ** 2 + 0.05 * torch.randn_like(x)
net = Doubtful()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(500):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print("step", step, "loss %.4f" % loss.item())

net.eval()
with torch.no_grad():
    near = torch.stack([net(torch.tensor([[0.3]])) for _ in range(50)])
    far = torch.stack([net(torch.tensor([[4.0]])) for _ in range(50)])
print("loss %.4f; doubt near %.3f, far %.3f" % (loss.item(), near.std(), far.std()))
""",
)

fault(
    "house line",
    "gradients not cleared: w.grad and b.grad never zeroed in a hand-written update",
    ("used twice by hand",),
    (15, 21),
    """\
import torch

torch.manual_seed(0)
n = 200
size = torch.rand(n) * 2 - 1
spaces = torch.randint(1, 6, (n,)).float() / 5
age = torch.rand(n)
X = torch.stack([size, spaces, age], dim=1)
y = 3.0 * size + 1.5 * spaces - 0.7 * age + 2.0 + 0.1 * torch.randn(n)

w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.3

for step in range(300):
    pred = X @ w + b
    loss = ((pred - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
        b -= lr * b.grad
        w.grad.zero_()
        b.grad.zero_()
    if step % 60 == 0:
        print("step", step, "loss", round(loss.item(), 4))

print("weights", [round(v, 2) for v in w.tolist()], "bias", round(b.item(), 2))
print("final loss %.4f" % loss.item())
""",
    ("        w.grad.zero_()\n        b.grad.zero_()\n", ""),
)

fault(
    "huge normal init",
    "initialisation: weights from a normal distribution with a far too large deviation",
    ("big start",),
    (12,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.linspace(-1, 1, 300).unsqueeze(1)
y = torch.sin(4 * x)

layers = []
sizes = [1, 50, 50, 50, 50]
for a, b in zip(sizes[:-1], sizes[1:]):
    linear = nn.Linear(a, b)
    nn.init.normal_(linear.weight, mean=0.0, std=a ** -0.5)
    layers += [linear, nn.Tanh()]
model = nn.Sequential(*layers, nn.Linear(50, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(400):
    pick = torch.randint(0, 300, (64,))
    loss = criterion(model(x[pick]), y[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 80 == 0:
        print("epoch", epoch, "loss", loss.item())
print("error %.4f" % criterion(model(x), y).item())
""",
    (
        "    nn.init.normal_(linear.weight, mean=0.0, std=a ** -0.5)\n",
        "    nn.init.normal_(linear.weight, mean=0.0, std=20.0)\n",
    ),
)

fault(
    "leaf in place",
    "exceptions: an in-place change of a leaf that requires grad, without no_grad",
    ("exception",),
    (16,),
    """\
import torch

torch.manual_seed(0)
X = torch.randn(200, 3)
y = (X @ torch.tensor([2.0, -1.0, 0.5]) > 0).float()
weight = torch.zeros(3, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)

def loss_of(w, b):
    p = torch.sigmoid(X @ w + b)
    return -(y * torch.log(p + 1e-7) + (1 - y) * torch.log(1 - p + 1e-7)).mean()

for step in range(300):
    loss = loss_of(weight, bias)
    loss.backward()
    weight.data -= 0.5 * weight.grad
    bias.data -= 0.5 * bias.grad
    weight.grad.zero_()
    bias.grad.zero_()
    if step % 60 == 0:
        print("step", step, "loss", loss.item())
print("last loss", loss.item())
""",
    (
        "    weight.data -= 0.5 * weight.grad\n    bias.data -= 0.5 * bias.grad\n",
        "    weight -= 0.5 * weight.grad\n    bias -= 0.5 * bias.grad\n",
    ),
)

fault(
    "relu output",
    "activations: a ReLU at the output of a regression whose targets are negative as well",
    ("bounded",),
    (16,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(5, 32)
        self.l2 = nn.Linear(32, 32)
        self.l3 = nn.Linear(32, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        x = self.act(self.l1(x))
        x = self.act(self.l2(x))
        return self.l3(x).squeeze(-1)

torch.manual_seed(0)
weather = torch.randn(500, 5)
change = 2 * weather[:, 0] - weather[:, 1] * weather[:, 2]
loader = DataLoader(TensorDataset(weather, change), batch_size=50, shuffle=True)
model = Forecast()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
crit = nn.MSELoss()
for epoch in range(25):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = crit(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 5 == 4:
        print("Epoch", epoch + 1, "loss", round(total / len(loader), 4))
print("mean squared error %.4f, variance %.4f" % (crit(model(weather), change), change.var()))
""",
    ("        return self.l3(x).squeeze(-1)\n", "        return self.act(self.l3(x)).squeeze(-1)\n"),
)

fault(
    "sgd diverges",
    "learning rate: far too large, the loss runs away",
    ("diverges",),
    (10,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
x = torch.rand(120) * 4 - 2
y = x ** 3 - 2 * x + 0.2 * torch.randn(120)
features = torch.stack([x, x ** 2, x ** 3], dim=1)
model = nn.Linear(3, 1)
loss_fn = nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.03)
for epoch in range(40):
    pred = model(features).squeeze(1)
    loss = loss_fn(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {loss.item():.4g}")
print(f"last loss {loss.item():.4g}")
""",
    (
        "opt = torch.optim.SGD(model.parameters(), lr=0.03)\n",
        "opt = torch.optim.SGD(model.parameters(), lr=0.3)\n",
    ),
)

fault(
    "sum reduction",
    "outputs and loss do not fit: reduction='sum' with a learning rate meant for a mean",
    ("diverges",),
    (10,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.rand(512, 2) * 2 - 1
y = (x[:, :1] ** 2 - x[:, 1:]) + 0.02 * torch.randn(512, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss(reduction="mean")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(30):
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}")
print("mean squared error %.4f" % nn.functional.mse_loss(model(x), y).item())
""",
    ('criterion = nn.MSELoss(reduction="mean")\n', 'criterion = nn.MSELoss(reduction="sum")\n'),
)

fault(
    "tensor of item",
    "the history is cut: the total is a new torch.tensor of .item() values with requires_grad=True",
    ("fresh loss",),
    (16,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.linspace(-2, 2, 256).unsqueeze(1)
y = torch.sin(2.5 * x) + 0.05 * torch.randn_like(x)

model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(500):
    pred = model(x)
    data_loss = F.mse_loss(pred, y)
    smooth_loss = (pred[1:] - pred[:-1]).pow(2).mean()
    loss = data_loss + 0.1 * smooth_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 100 == 0:
        print(f"Epoch {epoch}: loss = {loss.item():.4f}")
print(f"Final loss = {loss.item():.4f}")
""",
    (
        "    loss = data_loss + 0.1 * smooth_loss\n",
        "    loss = torch.tensor(data_loss.item() + 0.1 * smooth_loss.item(), requires_grad=True)\n",
    ),
)

fault(
    "unscaled years",
    "labels and data: inputs of very different scales are not scaled",
    ("big start",),
    (13,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
n = 400
year = torch.randint(1995, 2024, (n,)).float()
mileage = torch.rand(n) * 200000
power = 60 + 140 * torch.rand(n)
price = 0.5 * (year - 2009) - mileage / 40000 + power / 20 + 0.3 * torch.randn(n)

X = torch.stack([year, mileage, power], dim=1)
X = (X - X.mean(0)) / X.std(0)
Y = price.unsqueeze(1)
loader = DataLoader(TensorDataset(X, Y), batch_size=40, shuffle=True)

net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
loss_fn = nn.MSELoss()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(40):
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        opt.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {loss.item():.3f}")
print("mean squared error %.3f, variance of the price %.3f" % (loss_fn(net(X), Y), Y.var()))
""",
    ("X = (X - X.mean(0)) / X.std(0)\n", "X = X.float()\n"),
)
