"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "SimSiam on small synthetic pictures, linear probe",
    "the target branch is not detached (stop-gradient missing), so both branches are pulled together and the representation collapses to a constant; the loss looks perfect, the probe is at chance",
    ("collapses",),
    (48, 46),
    """\
import torch
from torch import nn
from torch.nn import functional as F

SIZE, N_CLASS, DIM = 12, 8, 32


class Pictures:
    def __init__(self):
        axis = torch.linspace(-1, 1, SIZE)
        self.grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"))
        self.prototypes = F.interpolate(torch.randn(N_CLASS, 1, 5, 5), size=SIZE, mode="bilinear")

    def shade(self, x):
        # uneven lighting: a random ramp over the picture
        slope = 2.0 * torch.randn(len(x), 2)
        return x + torch.einsum("nk,khw->nhw", slope, self.grid).unsqueeze(1)

    def draw(self, n):
        y = torch.randint(0, N_CLASS, (n,))
        return self.prototypes[y] + 0.8 * torch.randn(n, 1, SIZE, SIZE), y

    def view(self, x):
        gain = 0.7 + 0.6 * torch.rand(len(x), 1, 1, 1)
        keep = (torch.rand_like(x) > 0.3).float()
        return self.shade(x * gain * keep) + 0.2 * torch.randn_like(x)


def layer(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out), nn.ReLU())


def neg_cosine(p, z):
    return -F.cosine_similarity(p, z, dim=-1).mean()


class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Flatten(), layer(SIZE * SIZE, 128), layer(128, 64), nn.Linear(64, DIM)
        )
        self.predictor = nn.Sequential(layer(DIM, 16), nn.Linear(16, DIM))

    def forward(self, v1, v2):
        z1, z2 = self.encoder(v1), self.encoder(v2)
        p1, p2 = self.predictor(z1), self.predictor(z2)
        z1, z2 = z1.detach(), z2.detach()
        return 0.5 * (neg_cosine(p1, z2) + neg_cosine(p2, z1))


def linear_probe(model, pictures):
    model.eval()
    with torch.no_grad():
        sets = []
        for n in (1000, 500):
            x, y = pictures.draw(n)
            sets.append((F.normalize(model.encoder(pictures.shade(x)), dim=1), y))
    model.train()
    (z, y), (z_test, y_test) = sets
    probe = nn.Linear(DIM, N_CLASS)
    opt = torch.optim.SGD(probe.parameters(), lr=1.0)
    for _ in range(200):
        opt.zero_grad()
        F.cross_entropy(probe(z), y).backward()
        opt.step()
    return (probe(z_test).argmax(1) == y_test).float().mean().item()


torch.manual_seed(21)
pictures = Pictures()
model = SimSiam()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
print(f"probe before training {linear_probe(model, pictures):.3f}")
for step in range(1, 601):
    x, _ = pictures.draw(128)
    loss = model(pictures.view(x), pictures.view(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(f"step {step}  loss {loss.item():.3f}  probe {linear_probe(model, pictures):.3f}")
""",
    ("        z1, z2 = z1.detach(), z2.detach()\n", ""),
)

fault(
    "face attributes: age and gender in one net",
    "the age head returns (N, 1) and is compared with targets (N,), which broadcasts to N x N: the head learns the mean age of the batch",
    ("broadcast",),
    (59,),
    """\
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    n_train: int = 3000
    n_test: int = 600
    features: int = 30
    batch_size: int = 64
    epochs: int = 10
    lr: float = 2e-3
    age_weight: float = 1.0


class FaceTable:
    \"\"\"Landmark features with age (years) and gender.\"\"\"

    def __init__(self, cfg, n, seed):
        g = torch.Generator().manual_seed(seed)
        base = torch.Generator().manual_seed(99)
        w_age = torch.randn(cfg.features, generator=base)
        w_gender = torch.randn(cfg.features, generator=base)
        self.x = torch.randn(n, cfg.features, generator=g)
        trend = self.x @ w_age / cfg.features ** 0.5
        self.age = 42 + 14 * torch.tanh(trend) + 2 * torch.randn(n, generator=g)
        self.gender = (self.x @ w_gender + torch.randn(n, generator=g) > 0).long()

    def batches(self, size):
        for idx in torch.randperm(len(self.x)).split(size):
            yield self.x[idx], self.age[idx], self.gender[idx]


class AttributeNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(cfg.features, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 32), nn.ReLU()
        )
        self.age_head = nn.Linear(32, 1)
        self.gender_head = nn.Linear(32, 2)

    def forward(self, x):
        h = self.trunk(x)
        return self.age_head(h), self.gender_head(h)


class MultiTaskLoss:
    def __init__(self, cfg, ages):
        self.mean, self.std = ages.mean(), ages.std()
        self.weight = cfg.age_weight
        self.ce = nn.CrossEntropyLoss()

    def __call__(self, outputs, age, gender):
        age_out, gender_logits = outputs
        target = (age - self.mean) / self.std
        age_loss = (age_out.squeeze(1) - target).pow(2).mean()
        return self.weight * age_loss + self.ce(gender_logits, gender)

    def to_years(self, age_out):
        return age_out.flatten() * self.std + self.mean


cfg = Config()
torch.manual_seed(1)
train, test = FaceTable(cfg, cfg.n_train, 1), FaceTable(cfg, cfg.n_test, 2)
net = AttributeNet(cfg)
criterion = MultiTaskLoss(cfg, train.age)
optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)

for epoch in range(cfg.epochs):
    net.train()
    for x, age, gender in train.batches(cfg.batch_size):
        optimizer.zero_grad()
        loss = criterion(net(x), age, gender)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        age_out, logits = net(test.x)
    mae = (criterion.to_years(age_out) - test.age).abs().mean().item()
    acc = (logits.argmax(1) == test.gender).float().mean().item()
    print(f"epoch {epoch}: age MAE {mae:.2f} years, gender acc {acc:.3f}")
""",
    ("(age_out.squeeze(1) - target)", "(age_out - target)"),
)

fault(
    "conv net from plain tensors, SGD by hand",
    "requires_grad=True is set before the scaling, so the weights are results of a multiplication and not leaves: their .grad stays None and the update raises a TypeError",
    ("no leaf",),
    (8, 9),
    """\
import math
import torch
import torch.nn.functional as F


def he(*shape):
    fan_in = math.prod(shape[1:])
    w = torch.randn(*shape) * math.sqrt(2.0 / fan_in)
    return w.requires_grad_()


def zeros(n):
    return torch.zeros(n, requires_grad=True)


def init_params():
    return {
        "conv1.w": he(8, 1, 3, 3), "conv1.b": zeros(8),
        "conv2.w": he(16, 8, 3, 3), "conv2.b": zeros(16),
        "fc.w": he(3, 16 * 4 * 4), "fc.b": zeros(3),
    }


def forward(p, x):
    x = F.relu(F.conv2d(x, p["conv1.w"], p["conv1.b"], padding=1))
    x = F.max_pool2d(x, 2)
    x = F.relu(F.conv2d(x, p["conv2.w"], p["conv2.b"], padding=1))
    x = F.max_pool2d(x, 2)
    return F.linear(x.flatten(1), p["fc.w"], p["fc.b"])


def make_images(n):
    # 0: horizontal line, 1: vertical line, 2: cross
    x = 0.5 * torch.randn(n, 1, 16, 16)
    y = torch.randint(0, 3, (n,))
    for i, k in enumerate(y.tolist()):
        r, c = torch.randint(2, 14, (2,)).tolist()
        if k != 1:
            x[i, 0, r, :] += 1
        if k != 0:
            x[i, 0, :, c] += 1
    return x, y


def sgd_step(params, lr):
    with torch.no_grad():
        for p in params.values():
            p -= lr * p.grad
            p.grad = None


def accuracy(params, x, y):
    with torch.no_grad():
        return (forward(params, x).argmax(1) == y).float().mean().item()


torch.manual_seed(4)
x_train, y_train = make_images(2000)
x_test, y_test = make_images(500)
params = init_params()

for epoch in range(6):
    lr = 0.06 * 0.8 ** epoch
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(50):
        loss = F.cross_entropy(forward(params, x_train[idx]), y_train[idx])
        loss.backward()
        sgd_step(params, lr)
        total += loss.item() * len(idx)
    print(f"epoch {epoch}  loss {total / len(x_train):.4f}  test acc {accuracy(params, x_test, y_test):.3f}")
""",
    (
        """\
    w = torch.randn(*shape) * math.sqrt(2.0 / fan_in)
    return w.requires_grad_()
""",
        """\
    w = torch.randn(*shape, requires_grad=True)
    return w * math.sqrt(2.0 / fan_in)
""",
    ),
)

fault(
    "fine-tuning with one optimizer for the body and one for the new head",
    "the optimizers are made before the head is replaced, so opt_head updates the parameters of the discarded head and the new head stays at its random start",
    ("not held",),
    (67, 68),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

IN, WIDTH = 32, 64


class Net(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(IN, WIDTH), nn.LayerNorm(WIDTH), nn.GELU(),
            nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.GELU(),
        )
        self.head = nn.Linear(WIDTH, n_classes)

    def forward(self, x):
        return self.head(self.body(x))


class Texture:
    def __init__(self):
        g = torch.Generator().manual_seed(77)
        self.factors = torch.randn(4, IN, generator=g)

    def source(self, n):
        # 16 classes: all sign patterns of the four factors
        s = torch.randint(0, 2, (n, 4))
        y = (s * torch.tensor([8, 4, 2, 1])).sum(1)
        return self.render(s), y

    def target(self, n):
        s = torch.randint(0, 2, (n, 4))
        y = 2 * (s[:, 0] ^ s[:, 1]) + (s[:, 2] & s[:, 3])
        return self.render(s), y

    def render(self, s):
        z = 2.0 * s - 1 + 0.3 * torch.randn(s.shape)
        return z @ self.factors + 0.5 * torch.randn(len(s), IN)


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def pretrain(model, data, steps=300):
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        x, y = data.source(64)
        opt.zero_grad()
        F.cross_entropy(model(x), y).backward()
        opt.step()
    print(f"pretraining acc {accuracy(model, *data.source(1000)):.3f}")


torch.manual_seed(8)
data = Texture()
model = Net(n_classes=16)
pretrain(model, data)

x_few, y_few = data.target(256)
x_test, y_test = data.target(1000)

# small steps for the body, larger ones for the head
model.head = nn.Linear(WIDTH, 4)
opt_body = torch.optim.Adam(model.body.parameters(), lr=1e-5)
opt_head = torch.optim.Adam(model.head.parameters(), lr=5e-3)

for epoch in range(40):
    for idx in torch.randperm(len(x_few)).split(32):
        loss = F.cross_entropy(model(x_few[idx]), y_few[idx])
        opt_body.zero_grad()
        opt_head.zero_grad()
        loss.backward()
        opt_body.step()
        opt_head.step()
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f} target acc {accuracy(model, x_test, y_test):.3f}")
""",
    (
        """\
model.head = nn.Linear(WIDTH, 4)
opt_body = torch.optim.Adam(model.body.parameters(), lr=1e-5)
opt_head = torch.optim.Adam(model.head.parameters(), lr=5e-3)
""",
        """\
opt_body = torch.optim.Adam(model.body.parameters(), lr=1e-5)
opt_head = torch.optim.Adam(model.head.parameters(), lr=5e-3)
model.head = nn.Linear(WIDTH, 4)
""",
    ),
)

fault(
    "Trainer with step decay of the learning rate",
    "scheduler.step() is called after each batch though step_size counts epochs, so the learning rate is practically zero before the first epoch ends",
    ("rate",),
    (46,),
    """\
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset, random_split


def rings_dataset(n=2400, n_rings=5, seed=0):
    gen = torch.Generator().manual_seed(seed)
    label = torch.randint(0, n_rings, (n,), generator=gen)
    direction = torch.randn(n, 4, generator=gen)
    direction = direction / direction.norm(dim=1, keepdim=True)
    radius = 0.6 * (label + 1) + 0.06 * torch.randn(n, generator=gen)
    return TensorDataset(direction * radius[:, None], label)


class RingNet(nn.Sequential):
    def __init__(self, n_classes):
        super().__init__(
            nn.Linear(4, 96), nn.ReLU(),
            nn.Linear(96, 96), nn.ReLU(),
            nn.Linear(96, n_classes),
        )


class Trainer:
    def __init__(self, model, train_set, val_set, lr=0.1, batch_size=32):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.val_loader = DataLoader(val_set, batch_size=256)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        # divide the learning rate by 5 every 6 epochs
        self.scheduler = StepLR(self.optimizer, step_size=6, gamma=0.2)
        self.history = []

    def train_epoch(self):
        self.model.train()
        total, count = 0.0, 0
        for x, y in self.train_loader:
            loss = self.criterion(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * x.size(0)
            count += x.size(0)
        self.scheduler.step()
        return total / count

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        correct = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.val_loader)
        return correct / len(self.val_loader.dataset)

    def fit(self, epochs):
        for epoch in range(epochs):
            train_loss = self.train_epoch()
            acc = self.validate()
            self.history.append((train_loss, acc))
            if epoch % 3 == 2:
                print(f"[{epoch + 1:02d}/{epochs}] train loss {train_loss:.4f}  val acc {acc:.3f}")
        return max(acc for _, acc in self.history)


if __name__ == "__main__":
    torch.manual_seed(17)
    full = rings_dataset()
    train_set, val_set = random_split(full, [2000, 400])
    trainer = Trainer(RingNet(5), train_set, val_set, lr=0.05)
    best = trainer.fit(15)
    print(f"best validation accuracy {best:.3f}")
""",
    (
        """\
            count += x.size(0)
        self.scheduler.step()
""",
        """\
            count += x.size(0)
            self.scheduler.step()
""",
    ),
)

fault(
    "wave direction classifier with noisy labels, best weights kept",
    "the best weights are kept as model.state_dict(), which refers to the live tensors, so 'restoring' them gives the overfitted last weights",
    ("no copy",),
    (61,),
    """\
import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def waves(n, gen, size=12, label_noise=0.0):
    yy, xx = torch.meshgrid(torch.linspace(0, 1, size), torch.linspace(0, 1, size), indexing="ij")
    y = torch.randint(0, 4, (n,), generator=gen)
    angle = (y.float() + 0.6 * torch.rand(n, generator=gen)) * math.pi / 4
    phase = 2 * math.pi * torch.rand(n, generator=gen)
    along = xx * angle.cos()[:, None, None] + yy * angle.sin()[:, None, None]
    x = torch.sin(4 * math.pi * along + phase[:, None, None]) + 0.4 * torch.randn(n, size, size, generator=gen)
    noisy = torch.rand(n, generator=gen) < label_noise
    y = torch.where(noisy, torch.randint(0, 4, (n,), generator=gen), y)
    return x.unsqueeze(1), y


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 9, 64), nn.ReLU(), nn.Linear(64, 4),
    )


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = math.inf
        self.waited = 0

    def improved(self, value):
        if value < self.best:
            self.best, self.waited = value, 0
            return True
        self.waited += 1
        return False

    @property
    def stop(self):
        return self.waited >= self.patience


def fit(model, train, val, max_epochs=40, patience=15):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    stopper = EarlyStopping(patience)
    best_state = None

    def epoch_pass(x, y):
        for i in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            F.cross_entropy(model(x[i]), y[i]).backward()
            optimizer.step()

    for epoch in range(max_epochs):
        epoch_pass(*train)
        with torch.no_grad():
            val_loss = F.cross_entropy(model(val[0]), val[1]).item()
        if stopper.improved(val_loss):
            best_state = copy.deepcopy(model.state_dict())
        if stopper.stop:
            print(f"stopped after epoch {epoch}, last val loss {val_loss:.3f}")
            break

    model.load_state_dict(best_state)
    return stopper.best


torch.manual_seed(3)
gen = torch.Generator().manual_seed(3)
model = build()
val = waves(400, gen)
best = fit(model, waves(600, gen, label_noise=0.3), val)
x_test, y_test = waves(1000, gen)
with torch.no_grad():
    print(f"best val loss {best:.3f}, val loss of returned model {F.cross_entropy(model(val[0]), val[1]).item():.3f}")
    logits = model(x_test)
    print(f"test loss {F.cross_entropy(logits, y_test).item():.3f} acc {(logits.argmax(1) == y_test).float().mean():.3f}")
""",
    ("best_state = copy.deepcopy(model.state_dict())", "best_state = model.state_dict()"),
    ("import copy\n", ""),
)
