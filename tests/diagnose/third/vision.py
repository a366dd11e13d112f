"""Pictures: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "conv flat",
    "Linear after the pooling expects the size before pooling: shape mismatch",
    ("shapes",),
    (32,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(150)
SIDE = 12
CH = 6


def shapes(n):
    \"\"\"0: filled square, 1: hollow square, 2: cross\"\"\"
    x = torch.zeros(n, 1, SIDE, SIDE)
    y = torch.randint(0, 3, (n,))
    for i in range(n):
        r, c = [int(v) for v in torch.randint(0, SIDE - 5, (2,))]
        k = int(y[i])
        if k < 2:
            x[i, 0, r:r + 5, c:c + 5] = 1.0
        if k == 1:
            x[i, 0, r + 1:r + 4, c + 1:c + 4] = 0.0
        if k == 2:
            x[i, 0, r + 2, c:c + 5] = 1.0
            x[i, 0, r:r + 5, c + 2] = 1.0
    return x + 0.1 * torch.randn(x.shape), y


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, CH, 5, padding=2)
        self.pool = nn.MaxPool2d(4)
        self.fc = nn.Linear(CH * (SIDE // 4) ** 2, 3)

    def forward(self, x):
        x = self.pool(F.relu(self.conv(x)))
        return self.fc(x.flatten(1))


net = ShapeNet()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
X, Y = shapes(240)
for epoch in range(10):
    tot = 0.0
    for idx in torch.randperm(240).split(40):
        opt.zero_grad()
        loss = F.cross_entropy(net(X[idx]), Y[idx])
        loss.backward()
        opt.step()
        tot += loss.item() / 6
    print(f"epoch {epoch} {tot:.4f}")

Xt, Yt = shapes(100)
with torch.no_grad():
    print("accuracy", (net(Xt).argmax(1) == Yt).float().mean().item())
""",
    (
        "        self.fc = nn.Linear(CH * (SIDE // 4) ** 2, 3)\n",
        "        self.fc = nn.Linear(CH * SIDE * SIDE, 3)\n",
    ),
)

fault(
    "glyph cnn",
    "Softmax in the model and again in CrossEntropyLoss",
    ("soft twice",),
    (25,),
    """\
import torch
import torch.nn as nn

CFG = {"classes": 10, "size": 8, "batch": 64, "epochs": 8, "lr": 0.02, "seed": 11}
torch.manual_seed(CFG["seed"])

templates = (torch.rand(CFG["classes"], 1, CFG["size"], CFG["size"]) > 0.5).float()


def sample(n):
    y = torch.randint(0, CFG["classes"], (n,))
    x = templates[y] + 0.6 * torch.randn(n, 1, CFG["size"], CFG["size"])
    return x, y


class GlyphCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.head = nn.Sequential(nn.Linear(8 * 16, CFG["classes"]))

    def forward(self, x):
        return self.head(self.body(x))


model = GlyphCNN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=CFG["lr"], momentum=0.9)
X, Y = sample(640)

for epoch in range(CFG["epochs"]):
    order = torch.randperm(len(X))
    total = 0.0
    for i in range(0, len(X), CFG["batch"]):
        idx = order[i:i + CFG["batch"]]
        optimizer.zero_grad()
        loss = criterion(model(X[idx]), Y[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} loss {total / len(X):.4f}")

with torch.no_grad():
    xt, yt = sample(300)
    print("test acc", (model(xt).argmax(1) == yt).float().mean().item())
""",
    (
        '        self.head = nn.Sequential(nn.Linear(8 * 16, CFG["classes"]))\n',
        '        self.head = nn.Sequential(nn.Linear(8 * 16, CFG["classes"]), nn.Softmax(dim=1))\n',
    ),
)

fault(
    "gray images",
    "image values 0..255 fed unscaled",
    ("big start",),
    (22,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

torch.manual_seed(31)
SIZE = 8
base = torch.randint(60, 190, (6, SIZE, SIZE))


class Tiles(Dataset):
    \"\"\"8x8 gray tiles stored as integers, like an image reader returns them.\"\"\"

    def __init__(self, n):
        self.labels = torch.randint(0, 6, (n,))
        noise = torch.randint(-60, 61, (n, SIZE, SIZE))
        self.images = (base[self.labels] + noise).clamp(0, 255)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i].float() / 255 - 0.5
        return img.unsqueeze(0), self.labels[i]


net = nn.Sequential(
    nn.Flatten(),
    nn.Linear(SIZE * SIZE, 48),
    nn.ReLU(),
    nn.Linear(48, 6),
)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
ce = nn.CrossEntropyLoss()
train_dl = DataLoader(Tiles(320), batch_size=40, shuffle=True)
test_dl = DataLoader(Tiles(120), batch_size=60)

for epoch in range(10):
    s = 0.0
    for img, lab in train_dl:
        opt.zero_grad()
        loss = ce(net(img), lab)
        loss.backward()
        opt.step()
        s += loss.item()
    print("epoch", epoch, "loss", s / len(train_dl))

right = 0
with torch.no_grad():
    for img, lab in test_dl:
        right += (net(img).argmax(1) == lab).sum().item()
print("test accuracy", right / 120)
""",
    ("        img = self.images[i].float() / 255 - 0.5\n", "        img = self.images[i].float()\n"),
)

fault(
    "patch classifier",
    "reshape instead of transpose mixes samples with channels",
    ("scrambled",),
    (24,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(40)
B, CH, P = 40, 3, 16
kinds = torch.randn(4, P, CH)


def camera(n):
    \"\"\"A buffer laid out as (pixels, images, channels), the way our grabber delivers it.\"\"\"
    y = torch.randint(0, 4, (n,))
    frames = kinds[y] + 0.8 * torch.randn(n, P, CH)
    return frames.permute(1, 0, 2).contiguous(), y


class PatchNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(P * CH, 32)
        self.cls = nn.Linear(32, 4)

    def forward(self, buf):
        n = buf.shape[1]
        x = buf.permute(1, 0, 2).reshape(n, P * CH)
        return self.cls(torch.relu(self.mix(x)))


net = PatchNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
ce = nn.CrossEntropyLoss()
running = None
for step in range(200):
    buf, y = camera(B)
    loss = ce(net(buf), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    running = loss.item() if running is None else 0.9 * running + 0.1 * loss.item()
    if step % 20 == 0:
        print(f"{step:4d}  loss {running:.4f}")

good = 0
with torch.no_grad():
    for _ in range(10):
        buf, y = camera(B)
        good += (net(buf).argmax(-1) == y).sum().item()
print("accuracy", good / (10 * B))
""",
    ("        x = buf.permute(1, 0, 2).reshape(n, P * CH)\n", "        x = buf.reshape(n, P * CH)\n"),
)
