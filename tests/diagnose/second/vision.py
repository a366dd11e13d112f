"""Pictures: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "big batch",
    "gradients of 16 micro-batches are added without dividing the loss by 16: the step is 16 times too long, training diverges",
    ("diverges",),
    (39,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(80)
ACCUMULATE = 16
MICRO = 8


def stripes(n):
    kind = torch.randint(0, 4, (n,))
    k = 1.0 + kind.float()
    pos = torch.linspace(0, 3.14159 * 2, 10)
    img = torch.sin(k[:, None] * pos + 6.28 * torch.rand(n, 1))
    return (img[:, None, :, None] + 0.3 * torch.randn(n, 1, 10, 10)), kind


images, kinds = stripes(512)
test_images, test_kinds = stripes(160)
loader = DataLoader(TensorDataset(images, kinds), batch_size=MICRO, shuffle=True, drop_last=True)

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8, 8, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(8 * 25, 4),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(12):
    running = 0.0
    optimizer.zero_grad()
    for i, (image, kind) in enumerate(loader):
        loss = criterion(model(image), kind)
        (loss / ACCUMULATE).backward()
        running += loss.item()
        if (i + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        acc = (model(test_images).argmax(1) == test_kinds).float().mean().item()
    print(f"epoch {epoch:2d} loss {running / len(loader):.4f} test accuracy {acc:.3f}")
""",
    ("        (loss / ACCUMULATE).backward()\n", "        loss.backward()\n"),
)

fault(
    "bird calls",
    "species are numbered from 1, the head has outputs 0 to 5: label 6 is out of range",
    ("out of range",),
    (25,),
    """\
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SPECIES = {"wren": 1, "robin": 2, "thrush": 3, "tit": 4, "finch": 5, "owl": 6}


class Calls(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        names = list(SPECIES)
        self.items = []
        band = torch.arange(24).float()
        for i in range(n):
            name = names[int(torch.randint(0, len(names), (1,), generator=g))]
            centre = 3.0 + 3.2 * SPECIES[name]
            spectrum = torch.exp(-((band - centre) / 2.5) ** 2) + 0.25 * torch.randn(24, generator=g)
            self.items.append((spectrum, name))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        spectrum, name = self.items[i]
        return spectrum, SPECIES[name] - 1


torch.manual_seed(1)
train_loader = DataLoader(Calls(300, seed=1), batch_size=30, shuffle=True)
test_loader = DataLoader(Calls(120, seed=2), batch_size=60)

net = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, len(SPECIES)))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(10):
    net.train()
    total = 0.0
    for spectrum, label in train_loader:
        loss = loss_fn(net(spectrum), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(train_loader):.4f}")

net.eval()
with torch.no_grad():
    hits = sum((net(s).argmax(1) == l).sum().item() for s, l in test_loader)
print("test accuracy", hits / 120)
""",
    ("        return spectrum, SPECIES[name] - 1\n", "        return spectrum, SPECIES[name]\n"),
)

fault(
    "digits mlp",
    "images and labels are shuffled by two different permutations",
    ("apart",),
    (22,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

# %% data
glyphs = torch.tensor([
    [0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0],
    [0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0],
    [1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1],
    [1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0],
    [1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0],
]).float().view(5, 1, 4, 4)
glyphs = F.interpolate(glyphs, scale_factor=2, mode="nearest").view(5, 64)
labels = torch.arange(5).repeat(120)
images = glyphs[labels] + 0.35 * torch.randn(600, 64)

# %% shuffle and split
perm = torch.randperm(600)
images = images[perm]
labels = labels[perm]
xtr, ytr, xte, yte = images[:500], labels[:500], images[500:], labels[500:]
print(xtr.shape, ytr.shape, torch.bincount(ytr))

# %% model
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

# %% train
history = []
for epoch in range(12):
    for b in range(0, 500, 25):
        xb, yb = xtr[b:b + 25], ytr[b:b + 25]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    print(epoch, "loss", round(sum(history[-20:]) / 20, 4))

# %% test
with torch.no_grad():
    pred = model(xte).argmax(dim=1)
print("test accuracy", (pred == yte).float().mean().item())
""",
    ("labels = labels[perm]\n", "labels = labels[torch.randperm(600)]\n"),
)

fault(
    "leaf cnn",
    "StepLR counts epochs but is stepped after every batch: the learning rate is 0 after two epochs",
    ("rate",),
    (47,),
    """\
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(31)


class Leaves(Dataset):
    \"\"\"Ellipses in four orientations and a good deal of noise.\"\"\"

    def __init__(self, n):
        self.label = torch.randint(0, 4, (n,))
        turn = self.label.float() * 0.785
        g = torch.linspace(-1, 1, 12)
        yy, xx = torch.meshgrid(g, g, indexing="ij")
        c, s = torch.cos(turn).view(n, 1, 1), torch.sin(turn).view(n, 1, 1)
        long, short = c * xx + s * yy, -s * xx + c * yy
        self.image = torch.exp(-2 * long ** 2 - 12 * short ** 2).unsqueeze(1) + 0.5 * torch.randn(n, 1, 12, 12)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.image[i], self.label[i]


train = DataLoader(Leaves(320), batch_size=16, shuffle=True)
test = Leaves(160)

net = nn.Sequential(
    nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
    nn.Conv2d(8, 12, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Linear(12 * 3 * 3, 4),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
scheduler = StepLR(optimizer, step_size=6, gamma=0.1)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(12):
    total = 0.0
    for image, label in train:
        optimizer.zero_grad()
        loss = loss_fn(net(image), label)
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    print(f"epoch {epoch:2d}  loss {total / len(train):.4f}")

net.eval()
with torch.no_grad():
    acc = (net(test.image).argmax(1) == test.label).float().mean().item()
print(f"test accuracy {acc:.3f}")
""",
    ("        optimizer.step()\n", "        optimizer.step()\n        scheduler.step()\n"),
    ("        total += loss.item()\n    scheduler.step()\n", "        total += loss.item()\n"),
)

fault(
    "mineral scan",
    "model.eval() is missing before the evaluation: BatchNorm uses the statistics of the test batches, which hold one class each",
    ("draws in evaluation",),
    (44,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(15)
KINDS = ["quartz", "feldspar", "mica", "calcite"]


def scan(kind, n):
    \"\"\"8x8 patches; minerals differ in brightness and in grain.\"\"\"
    level = [0.2, 0.4, 0.6, 0.8][kind]
    patch = level + 0.1 * torch.randn(n, 1, 8, 8)
    return patch


def training_set(per_kind=100):
    x = torch.cat([scan(k, per_kind) for k in range(4)])
    y = torch.arange(4).repeat_interleave(per_kind)
    return x, y


net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(2),
    nn.Flatten(),
    nn.Linear(32, 4),
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = training_set()

net.train()
for epoch in range(15):
    total = 0.0
    for idx in torch.randperm(len(x)).split(40):
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, "loss", round(total / 10, 4))

# each drawer of the museum holds one mineral
net.eval()
hits = 0
with torch.no_grad():
    for k, name in enumerate(KINDS):
        drawer = scan(k, 40)
        found = (net(drawer).argmax(1) == k).sum().item()
        hits += found
        print(f"{name:9s} {found}/40")
print("accuracy", hits / 160)
""",
    ("net.eval()\n", ""),
)

fault(
    "shapes cnn",
    "learning rate far too high (SGD 2.0 with momentum): the loss explodes, then the units are dead",
    ("diverges",),
    (5,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

cfg = dict(lr=0.05, momentum=0.9, batch_size=32, epochs=6, seed=0)
torch.manual_seed(cfg["seed"])


def draw(n, size=10):
    x = torch.zeros(n, 1, size, size)
    y = torch.randint(0, 3, (n,))
    for i in range(n):
        a, b = torch.randint(1, 5, (2,)).tolist()
        if y[i] == 0:
            x[i, 0, a, b:b + 5] = 1            # horizontal
        elif y[i] == 1:
            x[i, 0, a:a + 5, b] = 1            # vertical
        else:
            for k in range(5):
                x[i, 0, a + k, b + k] = 1      # diagonal
    return x + 0.15 * torch.randn_like(x), y


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
        )
        self.classifier = nn.Linear(8 * 5 * 5, 3)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


x, y = draw(320)
xv, yv = draw(120)
loader = DataLoader(TensorDataset(x, y), batch_size=cfg["batch_size"], shuffle=True)
model = ShapeNet()
opt = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=cfg["momentum"])
loss_fn = nn.CrossEntropyLoss()

for epoch in range(cfg["epochs"]):
    tot = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        tot += loss.item()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch}: loss {tot / len(loader):.4f}  val acc {acc:.3f}")
""",
    (
        "cfg = dict(lr=0.05, momentum=0.9, batch_size=32, epochs=6, seed=0)\n",
        "cfg = dict(lr=2.0, momentum=0.9, batch_size=32, epochs=6, seed=0)\n",
    ),
)

fault(
    "thumbnails",
    "the mean is subtracted while the images are still uint8: the values wrap around",
    ("wraps",),
    (17,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)


def photos(n):
    \"\"\"bright centre, dark centre: 12x12, one byte per pixel\"\"\"
    kind = torch.randint(0, 2, (n,))
    img = 128 + 25 * torch.randn(n, 1, 1, 1) + 14 * torch.randn(n, 1, 12, 12)
    img[:, :, 3:9, 3:9] += (kind.float() * 2 - 1).view(n, 1, 1, 1) * 7
    return img.clamp(0, 255).round().to(torch.uint8), kind


def to_input(img):
    return (img.float() - 128) / 32


train_img, train_y = photos(512)
test_img, test_y = photos(200)
loader = DataLoader(TensorDataset(to_input(train_img), train_y), batch_size=32, shuffle=True)

net = nn.Sequential(
    nn.Conv2d(1, 6, 3, stride=2, padding=1),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(6 * 6 * 6, 2),
)
optim = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
lossf = nn.CrossEntropyLoss()

for epoch in range(8):
    net.train()
    total = seen = 0
    for xb, yb in loader:
        optim.zero_grad()
        loss = lossf(net(xb), yb)
        loss.backward()
        optim.step()
        total += loss.item() * len(xb)
        seen += len(xb)
    net.eval()
    with torch.no_grad():
        acc = (net(to_input(test_img)).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch} loss {total / seen:.3f} test acc {acc:.3f}")
""",
    ("    return (img.float() - 128) / 32\n", "    return (img - 128).float() / 32\n"),
)

fault(
    "tile net",
    "the linear layer expects 16*5*5 inputs, after two poolings of a 16x16 image there are 16*4*4",
    ("shapes",),
    (14,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class LeNetish(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def tiles(n):
    \"\"\"Bathroom tiles: one colour channel carries the checks.\"\"\"
    y = torch.randint(0, 3, (n,))
    x = 0.3 * torch.randn(n, 3, 16, 16)
    checks = ((torch.arange(16)[:, None] // 4 + torch.arange(16)[None] // 4) % 2).float()
    x[torch.arange(n), y] += checks
    return x, y


x, y = tiles(160)
xt, yt = tiles(80)
net = LeNetish()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(6):
    loss_sum = 0.0
    for idx in torch.randperm(160).split(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        loss_sum += loss.item()
    print("epoch", epoch, "loss", round(loss_sum / 8, 4))

with torch.no_grad():
    print("accuracy", (net(xt).argmax(1) == yt).float().mean().item())
""",
    ("        self.fc1 = nn.Linear(16 * 4 * 4, 32)\n", "        self.fc1 = nn.Linear(16 * 5 * 5, 32)\n"),
)

healthy(
    "finetune bn",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)


def blobs(n, classes, shift=0.0):
    y = torch.randint(0, classes, (n,))
    x = 1.0 * torch.randn(n, 1, 8, 8) + shift
    for i in range(n):
        r, c = divmod(int(y[i]), 2)
        x[i, 0, 4 * r + 1:4 * r + 3, 4 * c + 1:4 * c + 3] += 1.5
    return x, y


net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
    nn.Linear(8 * 16, 4),
)


def freeze_statistics(module):
    for m in module.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.eval()


def fit(x, y, size, lr, epochs, tiny):
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        net.train()
        if tiny:
            freeze_statistics(net)
        losses = []
        for idx in torch.randperm(len(x)).split(size):
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"  epoch {epoch} loss {sum(losses) / len(losses):.4f}")


print("pre-training")
fit(*blobs(320, 4), size=32, lr=0.05, epochs=4, tiny=False)
print("fine-tuning, two images at a time, darker pictures")
fit(*blobs(40, 4, shift=-0.5), size=2, lr=0.01, epochs=4, tiny=True)
net.eval()
with torch.no_grad():
    x, y = blobs(200, 4, shift=-0.5)
    print("accuracy", (net(x).argmax(1) == y).float().mean().item())
""",
)

healthy(
    "frozen features",
    """\
import torch
from torch import nn

torch.manual_seed(2)


def gratings(n, kinds):
    k = torch.randint(0, len(kinds), (n,))
    w = torch.tensor(kinds)[k].view(n, 1, 1)
    g = torch.arange(10).float()
    img = torch.sin(w * g.view(1, 10, 1) + 6.28 * torch.rand(n, 1, 1)) + 0 * g.view(1, 1, 10)
    return img.unsqueeze(1) + 0.3 * torch.randn(n, 1, 10, 10), k


backbone = nn.Sequential(
    nn.Conv2d(1, 12, 5), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(12, 16, 3), nn.ReLU(), nn.Flatten()
)


def fit(params, head, data, labels, epochs):
    opt = torch.optim.Adam(params, lr=3e-3)
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(data)).split(32):
            loss = nn.functional.cross_entropy(head(backbone(data[idx])), labels[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"  epoch {epoch} loss {total / (len(data) // 32):.4f}")


print("pre-training on many gratings")
x, y = gratings(320, [0.5, 0.9, 1.4, 2.0, 2.6])
old_head = nn.Linear(16, 5)
fit([*backbone.parameters(), *old_head.parameters()], old_head, x, y, 6)

print("new task, new head, the rest frozen")
for p in backbone.parameters():
    p.requires_grad_(False)
x, y = gratings(96, [0.7, 1.7])
new_head = nn.Linear(16, 2)
fit(new_head.parameters(), new_head, x, y, 12)

with torch.no_grad():
    xt, yt = gratings(200, [0.7, 1.7])
    print("accuracy", (new_head(backbone(xt)).argmax(1) == yt).float().mean().item())
""",
)

healthy(
    "zero branches",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)


class Branch(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = nn.Conv2d(c, c, 3, padding=1)
        self.b = nn.Conv2d(c, c, 3, padding=1)
        nn.init.zeros_(self.b.weight)
        nn.init.zeros_(self.b.bias)

    def forward(self, x):
        return x + self.b(F.relu(self.a(x)))


class ResNet(nn.Module):
    def __init__(self, c=8, depth=2):
        super().__init__()
        self.stem = nn.Conv2d(1, c, 3, padding=1)
        self.body = nn.Sequential(*(Branch(c) for _ in range(depth)))
        self.head = nn.Linear(c, 3)
        nn.init.zeros_(self.head.weight)

    def forward(self, x):
        return self.head(F.relu(self.body(self.stem(x))).mean(dim=(2, 3)))


def textures(n):
    y = torch.randint(0, 3, (n,))
    noise = torch.randn(n, 1, 8, 8)
    smooth = F.avg_pool2d(F.pad(noise, (1, 1, 1, 1), mode="circular"), 3, stride=1) * 3
    rows = noise.roll(1, 3) * 0.7 + noise * 0.7
    return torch.where(y.view(n, 1, 1, 1) == 0, noise, torch.where(y.view(n, 1, 1, 1) == 1, smooth, rows)), y


x, y = textures(384)
xt, yt = textures(200)
net = ResNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(12):
    total = 0.0
    for idx in torch.randperm(384).split(32):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 12
    if epoch % 2 == 1:
        with torch.no_grad():
            acc = (net(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch + 1} loss {total:.4f} test accuracy {acc:.3f}")
""",
)
