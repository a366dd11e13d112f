"""Training loops: programs with a fault each, and their healthy counterparts.

Invariant: written by people who had read no rule.
"""

from .program import fault

fault(
    "lambda gives a rate and not a factor",
    "the function of LambdaLR returns a learning rate, which is multiplied once more by the base rate",
    ("rate as factor",),
    (21, 30),
    """\
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


@dataclass
class Config:
    lr: float = 3e-3
    warmup: int = 40
    steps: int = 400
    batch: int = 64


def warmup_cosine(cfg):
    def schedule(step):
        rise = min(1.0, (step + 1) / cfg.warmup)
        progress = max(0, step - cfg.warmup) / (cfg.steps - cfg.warmup)
        return rise * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))

    return schedule


class Trainer:
    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
        self.scheduler = LambdaLR(self.optimizer, warmup_cosine(cfg))

    def train(self, x, y):
        for step in range(self.cfg.steps):
            rows = torch.randint(0, len(x), (self.cfg.batch,))
            loss = nn.functional.cross_entropy(self.model(x[rows]), y[rows])
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            if step % 50 == 49:
                print(f"step {step + 1} loss {loss.item():.4f}")

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(12)
centres = torch.randn(6, 16)
y = torch.randint(0, 6, (2400,))
x = centres[y] + 0.7 * torch.randn(2400, 16)
trainer = Trainer(nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 6)), Config())
trainer.train(x[:2000], y[:2000])
print(f"held-out accuracy {trainer.accuracy(x[2000:], y[2000:]):.3f}")
""",
    ("return rise * 0.5 * (", "return cfg.lr * rise * 0.5 * ("),
)

fault(
    "best weights kept without a copy",
    "the state dict kept as the best shares its memory with the model, so the last weights are restored",
    ("no copy",),
    (19,),
    """\
import copy

import torch
import torch.nn.functional as F
from torch import nn


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best_loss = float("inf")
        self.best_epoch = -1
        self.best_state = None

    def update(self, epoch, loss, model):
        if loss < self.best_loss:
            self.best_loss = loss
            self.best_epoch = epoch
            self.best_state = copy.deepcopy(model.state_dict())
        return epoch - self.best_epoch >= self.patience


torch.manual_seed(31)
weight = torch.randn(30)


def regression(n):
    x = torch.randn(n, 30)
    return x, (x @ weight).unsqueeze(1) + 3.0 * torch.randn(n, 1)


train_x, train_y = regression(100)
val_x, val_y = regression(300)
model = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
stopper = EarlyStopping(patience=60)
for epoch in range(200):
    model.train()
    for rows in torch.randperm(100).split(25):
        loss = F.mse_loss(model(train_x[rows]), train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = F.mse_loss(model(val_x), val_y).item()
    if epoch % 20 == 0:
        print(f"epoch {epoch} train {loss.item():.3f} val {val_loss:.3f}")
    if stopper.update(epoch, val_loss, model):
        break
model.load_state_dict(stopper.best_state)
with torch.no_grad():
    final = F.mse_loss(model(val_x), val_y).item()
print(f"stopped at {epoch}, best epoch {stopper.best_epoch} ({stopper.best_loss:.3f}), restored model {final:.3f}")
""",
    ("copy.deepcopy(model.state_dict())", "copy.copy(model.state_dict())"),
)

fault(
    "backup of the weights is an alias",
    "the backup holds the parameters' own tensors, so the averaged weights stay in the model after validation",
    ("no copy",),
    (20,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.backup = {}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].lerp_(p, 1 - self.decay)

    @torch.no_grad()
    def swap_in(self, model):
        for name, p in model.named_parameters():
            self.backup[name] = p.detach().clone()
            p.copy_(self.shadow[name])

    @torch.no_grad()
    def swap_out(self, model):
        for name, p in model.named_parameters():
            p.copy_(self.backup[name])


torch.manual_seed(9)
teacher = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
x = torch.randn(1600, 8)
with torch.no_grad():
    y = 4 * teacher(x) + 0.05 * torch.randn(1600, 1)
loader = DataLoader(TensorDataset(x[:1280], y[:1280]), batch_size=64, shuffle=True)
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
ema = EMA(net, decay=0.99)
for epoch in range(30):
    running = 0.0
    for xb, yb in loader:
        loss = nn.functional.mse_loss(net(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(net)
        running += loss.item() / len(loader)
    ema.swap_in(net)
    with torch.no_grad():
        val = nn.functional.mse_loss(net(x[1280:]), y[1280:]).item()
    ema.swap_out(net)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} train {running:.4f} averaged weights val {val:.4f}")
""",
    ("self.backup[name] = p.detach().clone()", "self.backup[name] = p.detach()"),
)

fault(
    "best weights kept by reference",
    "the best state is not copied, so it goes on changing and the last weights are restored",
    ("no copy",),
    (36,),
    """\
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(40)


class Trainer:
    def __init__(self, model, lr=1e-3, patience=25):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.MSELoss()
        self.patience = patience
        self.best_loss = float("inf")
        self.best_state = None

    def train_epoch(self, loader):
        self.model.train()
        for x, y in loader:
            self.optimizer.zero_grad()
            self.loss_fn(self.model(x), y).backward()
            self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, x, y):
        self.model.eval()
        return self.loss_fn(self.model(x), y).item()

    def fit(self, loader, valid, epochs=200):
        waited = 0
        for epoch in range(epochs):
            self.train_epoch(loader)
            loss = self.evaluate(*valid)
            if loss < self.best_loss:
                self.best_loss, waited = loss, 0
                self.best_state = copy.deepcopy(self.model.state_dict())
            else:
                waited += 1
            if epoch % 10 == 0:
                print(f"epoch {epoch} valid {loss:.4f} best {self.best_loss:.4f}")
            if waited >= self.patience:
                print(f"stopping early at epoch {epoch}")
                break
        self.model.load_state_dict(self.best_state)


def draw(n):
    x = torch.randn(n, 10)
    return x, (torch.sin(x[:, :1]) + x[:, 1:2] * 0.5 + 0.5 * torch.randn(n, 1))


train, valid, test = draw(150), draw(300), draw(1000)
net = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
trainer = Trainer(net)
trainer.fit(DataLoader(TensorDataset(*train), batch_size=15, shuffle=True), valid)
again = trainer.evaluate(*valid)
print(f"best valid {trainer.best_loss:.4f} restored valid {again:.4f} test {trainer.evaluate(*test):.4f}")
""",
    (
        """\
import copy

""",
        "",
    ),
    (
        "                self.best_state = copy.deepcopy(self.model.state_dict())\n",
        "                self.best_state = self.model.state_dict()\n",
    ),
)

fault(
    "schedule that returns a rate",
    "the lambda returns a learning rate where LambdaLR wants a factor, so the rate is squared",
    ("rate as factor",),
    (25, 27, 39),
    """\
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


@dataclass
class Config:
    lr: float = 3e-3
    warmup: int = 60
    steps: int = 600
    batch: int = 64
    seed: int = 9


config = Config()
torch.manual_seed(config.seed)


def lr_at(step):
    if step < config.warmup:
        return (step + 1) / config.warmup
    done = (step - config.warmup) / (config.steps - config.warmup)
    return 0.5 * (1 + math.cos(math.pi * done))


def rings(n):
    label = torch.randint(3, (n,))
    angle = torch.rand(n) * 2 * math.pi
    radius = label + 1 + 0.2 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), label


model = nn.Sequential(nn.Linear(2, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
scheduler = LambdaLR(optimizer, lr_at)
x_test, y_test = rings(1000)
for step in range(config.steps):
    x, y = rings(config.batch)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if (step + 1) % 100 == 0:
        with torch.no_grad():
            accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"step {step + 1} loss {loss.item():.3f} test accuracy {accuracy:.3f}")
""",
    (
        "        return (step + 1) / config.warmup\n",
        "        return config.lr * (step + 1) / config.warmup\n",
    ),
    (
        "    return 0.5 * (1 + math.cos(math.pi * done))\n",
        "    return config.lr * 0.5 * (1 + math.cos(math.pi * done))\n",
    ),
)

fault(
    "averaged model without its buffers",
    "the EMA copies parameters only, so its batch norm statistics stay as they were at the start",
    ("statistics left",),
    (17,),
    """\
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(50)


class EMA:
    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        pairs = zip(self.shadow.state_dict().values(), model.state_dict().values())
        for mine, theirs in pairs:
            if mine.is_floating_point():
                mine.lerp_(theirs, 1 - self.decay)
            else:
                mine.copy_(theirs)


def accuracy(model, x, y):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(1) == y).float().mean().item()
    model.train(was_training)
    return right


scale = torch.logspace(-1, 1.5, 12)
offset = torch.randn(12) * 3
centres = torch.randn(4, 12)


def draw(n):
    y = torch.randint(4, (n,))
    return (centres[y] + 0.9 * torch.randn(n, 12) + offset) * scale, y


x, y = draw(1500)
x_test, y_test = draw(600)
net = nn.Sequential(nn.BatchNorm1d(12), nn.Linear(12, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 4))
ema = EMA(net)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True, drop_last=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
for epoch in range(10):
    total = 0.0
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net)
        total += loss.item()
    plain, averaged = accuracy(net, x_test, y_test), accuracy(ema.shadow, x_test, y_test)
    print(f"epoch {epoch} loss {total / len(loader):.3f} accuracy {plain:.3f} averaged {averaged:.3f}")
""",
    (
        "        pairs = zip(self.shadow.state_dict().values(), model.state_dict().values())\n",
        "        pairs = zip(self.shadow.parameters(), model.parameters())\n",
    ),
)

fault(
    "task losses overwritten",
    "the loss of each task takes the place of the sum so far, so only the last task trains the network",
    ("not reached",),
    (46,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(61)
mix = torch.randn(10, 5)


def houses(n):
    x = torch.randn(n, 10)
    z = torch.tanh(x @ mix / 3)
    price = z[:, 0] * 2 - z[:, 1] + 0.1 * torch.randn(n)
    sold = (z[:, 2] + z[:, 3] + 0.2 * torch.randn(n) > 0).float()
    district = z.argmax(dim=1)
    return x, {"price": price, "sold": sold, "district": district}


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        outputs = {"price": 1, "sold": 1, "district": 5}
        self.heads = nn.ModuleDict({name: nn.Linear(64, n) for name, n in outputs.items()})

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared).squeeze(-1) for name, head in self.heads.items()}


criteria = {"price": F.mse_loss, "sold": F.binary_cross_entropy_with_logits, "district": F.cross_entropy}
weights = {"price": 0.5, "sold": 1.0, "district": 1.0}
model = MultiTask()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
test_x, test_y = houses(800)


def task_losses(x, y):
    out = model(x)
    return {task: criteria[task](out[task], y[task]) for task in criteria}


for step in range(601):
    losses = task_losses(*houses(64))
    loss = torch.zeros(())
    for task in losses:
        loss = loss + weights[task] * losses[task]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            shown = " ".join(f"{k} {v.item():.3f}" for k, v in task_losses(test_x, test_y).items())
        print(f"step {step} total {loss.item():.3f} test {shown}")
""",
    ("        loss = loss + weights[task] * losses[task]\n", "        loss = weights[task] * losses[task]\n"),
)

fault(
    "adapted weights left unused",
    "the query loss of the outer step is of the unadapted weights, so nothing learns to adapt",
    ("gradients unused",),
    (46,),
    """\
import math

import torch
import torch.nn.functional as F

torch.manual_seed(70)


def init(*sizes):
    params = []
    for a, b in zip(sizes, sizes[1:]):
        params += [torch.randn(a, b) * a**-0.5, torch.zeros(b)]
    return [p.requires_grad_() for p in params]


def forward(params, x):
    *body, w, b = params
    for weight, bias in zip(body[::2], body[1::2]):
        x = torch.tanh(x @ weight + bias)
    return x @ w + b


def adapt(params, x, y, lr=0.05, steps=2):
    fast = params
    for _ in range(steps):
        loss = F.mse_loss(forward(fast, x), y)
        grads = torch.autograd.grad(loss, fast, create_graph=True)
        fast = [p - lr * g for p, g in zip(fast, grads)]
    return fast


def task(n=20):
    height, phase = torch.rand(1) + 0.5, torch.rand(1) * math.pi
    x = torch.rand(n, 1) * 4 - 2
    return x, height * torch.sin(x + phase)


params = init(1, 40, 40, 1)
optimizer = torch.optim.Adam(params, lr=3e-3)
tests = [task(60) for _ in range(40)]
for step in range(321):
    outer = torch.zeros(())
    for _ in range(6):
        x, y = task()
        fast = adapt(params, x[:10], y[:10])
        outer = outer + F.mse_loss(forward(fast, x[10:]), y[10:])
    optimizer.zero_grad()
    (outer / 6).backward()
    torch.nn.utils.clip_grad_norm_(params, 5.0)
    optimizer.step()
    if step % 80 == 0:
        before = after = 0.0
        for x, y in tests:
            tuned = adapt(params, x[:10], y[:10])
            before += F.mse_loss(forward(params, x[10:]), y[10:]).item() / len(tests)
            after += F.mse_loss(forward(tuned, x[10:]), y[10:]).item() / len(tests)
        print(f"step {step} outer {outer.item() / 6:.3f} unseen tasks: before {before:.3f} adapted {after:.3f}")
""",
    (
        "        outer = outer + F.mse_loss(forward(fast, x[10:]), y[10:])\n",
        "        outer = outer + F.mse_loss(forward(params, x[10:]), y[10:])\n",
    ),
)

fault(
    "rate set before the checkpoint is loaded",
    "loading the optimizer's state puts back the decayed rate of the first phase over the new one",
    ("rate overwritten",),
    (45, 44),
    """\
import copy

import torch
from torch import nn

torch.manual_seed(80)
base = torch.randn(8, 16)


def batch(weights, n=64):
    x = torch.randn(n, 8)
    return x, torch.tanh(x @ weights[:, :8] / 3).sum(1, keepdim=True) + 0.05 * torch.randn(n, 1)


def build():
    return nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))


def fit(model, optimizer, weights, steps, name, gamma=1.0):
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma)
    recent = 0.0
    for step in range(1, steps + 1):
        x, y = batch(weights)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        recent += loss.item() / 100
        if step % 100 == 0:
            print(f"{name} step {step} loss {recent:.4f}")
            recent = 0.0


def save(model, optimizer):
    return copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})


def resume(checkpoint, lr):
    model = build()
    model.load_state_dict(checkpoint["model"])
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.load_state_dict(checkpoint["optimizer"])
    for group in optimizer.param_groups:
        group["lr"] = lr
    return model, optimizer


model = build()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
fit(model, optimizer, base, 500, "first", gamma=0.985)
checkpoint = save(model, optimizer)

moved = base + 0.8 * torch.randn(8, 16)
model, optimizer = resume(checkpoint, lr=1e-3)
fit(model, optimizer, moved, 500, "second")
""",
    (
        """\
    optimizer.load_state_dict(checkpoint["optimizer"])
    for group in optimizer.param_groups:
        group["lr"] = lr
""",
        """\
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.load_state_dict(checkpoint["optimizer"])
""",
    ),
)
