"""Vision: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "image layout",
    "HWC image is reshaped to CHW instead of permuted, which scrambles it",
    ("scrambled",),
    (33,),
    """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader


def draw(rng: np.random.Generator, label: int) -> np.ndarray:
    img = rng.integers(0, 60, size=(12, 12, 3))
    r, c = rng.integers(1, 8, size=2)
    colour = rng.integers(120, 255, size=3)
    if label == 0:
        img[r, c:c + 4] = colour
    elif label == 1:
        img[r:r + 4, c] = colour
    else:
        for k in range(4):
            img[r + k, c + k] = colour
    return img.astype(np.uint8)


class Strokes(Dataset):
    def __init__(self, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 3, size=n)
        self.images = [draw(rng, int(k)) for k in self.labels]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int):
        img = torch.from_numpy(self.images[i]).float() / 255
        return img.permute(2, 0, 1), int(self.labels[i])


torch.manual_seed(1)
train = DataLoader(Strokes(300, 1), batch_size=30, shuffle=True)
test = DataLoader(Strokes(120, 2), batch_size=60)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
    nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    losses = []
    for xb, yb in train:
        opt.zero_grad()
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {np.mean(losses):.3f}")
with torch.no_grad():
    hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
print("test accuracy", hits / 120)
""",
    (
        "        return img.permute(2, 0, 1), int(self.labels[i])\n",
        "        return img.reshape(3, 12, 12), int(self.labels[i])\n",
    ),
)

fault(
    "digits floor",
    "integer division of pixels: nearly all features become 0",
    ("fractions cut",),
    (10,),
    """\
import torch
from torch import nn
torch.manual_seed(5)

K, D, N = 6, 64, 480
protos = torch.randint(0, 190, (K, D))
lab = torch.randint(0, K, (N,))
raw = (protos[lab] + torch.randint(-70, 71, (N, D))).clamp(0, 255)

x = raw / 255
tr, te = slice(0, 400), slice(400, N)
x = x.float()
x = x - x[tr].mean(0)

net = nn.Sequential(nn.Linear(D, 32), nn.Tanh(), nn.Linear(32, K))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for ep in range(25):
    perm = torch.randperm(400)
    tot = 0.
    for i in range(0, 400, 40):
        idx = perm[i:i + 40]
        loss = nn.functional.cross_entropy(net(x[tr][idx]), lab[tr][idx])
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() / 10
    if ep % 5 == 0: print(ep, "%.4f" % tot)

acc = (net(x[te]).argmax(-1) == lab[te]).float().mean().item()
print("held out", acc)
""",
    ("x = raw / 255\n", "x = raw // 255\n"),
)

fault(
    "cnn sched",
    "an epoch-wise scheduler is stepped at every batch: the rate dies in the first epoch",
    ("rate",),
    (34, 46, 11),
    """\
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--gamma", type=float, default=0.7)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=16)
    return p.parse_args([])


def blobs(n):
    y = torch.randint(0, 4, (n,))
    x = 0.6 * torch.randn(n, 1, 10, 10)
    for i, k in enumerate(y.tolist()):
        r, c = 5 * (k // 2), 5 * (k % 2)
        x[i, 0, r:r + 5, c:c + 5] += 0.6
    return TensorDataset(x, y)


def train(model, loader, optimizer, scheduler):
    model.train()
    running = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / len(loader)


def main():
    args = get_args()
    torch.manual_seed(1)
    loader = DataLoader(blobs(480), batch_size=args.batch_size, shuffle=True)
    model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Flatten(), nn.Linear(96, 24), nn.ReLU(), nn.Linear(24, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=args.gamma)
    for epoch in range(1, args.epochs + 1):
        print(f"epoch {epoch} loss {train(model, loader, optimizer, scheduler):.4f}")
        scheduler.step()


if __name__ == "__main__":
    main()
""",
    (
        """\
        optimizer.step()
        running += loss.item()
""",
        """\
        optimizer.step()
        scheduler.step()
        running += loss.item()
""",
    ),
    (
        """\
        print(f"epoch {epoch} loss {train(model, loader, optimizer, scheduler):.4f}")
        scheduler.step()

""",
        """\
        print(f"epoch {epoch} loss {train(model, loader, optimizer, scheduler):.4f}")

""",
    ),
)

fault(
    "bn momentum",
    "BatchNorm momentum with the other framework's meaning: running statistics hardly move, evaluation is wrong",
    (),
    (11,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(23)


def conv_block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout, momentum=0.1, eps=1e-3),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


class SmallNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.stem = nn.Sequential(conv_block(1, 8), conv_block(8, 12))
        self.head = nn.Linear(12 * 9, classes)

    def forward(self, x):
        return self.head(self.stem(x).flatten(1))


def gratings(n):
    y = torch.randint(0, 3, (n,))
    r = torch.arange(12).float()
    rows, cols = r[:, None].expand(12, 12), r[None].expand(12, 12)
    bank = torch.stack([torch.sin(rows * 1.6), torch.sin(cols * 1.6), torch.sin((rows + cols) * 1.1)])
    x = 90 + 35 * bank[y] + 40 * torch.randn(n, 12, 12)
    return x[:, None], y


x, y = gratings(320)
xv, yv = gratings(160)
net = SmallNet()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(8):
    net.train()
    total = 0.0
    for b in torch.randperm(len(x)).split(32):
        opt.zero_grad()
        loss = F.cross_entropy(net(x[b]), y[b])
        loss.backward()
        opt.step()
        total += loss.item() / 10
    net.eval()
    with torch.no_grad():
        out = net(xv)
    print(f"{epoch} train {total:.3f} val {F.cross_entropy(out, yv).item():.3f} acc {(out.argmax(1) == yv).float().mean().item():.3f}")
""",  # noqa: E501
    (
        "        nn.BatchNorm2d(cout, momentum=0.1, eps=1e-3),\n",
        "        nn.BatchNorm2d(cout, momentum=0.001, eps=1e-3),\n",
    ),
)

fault(
    "double softmax",
    "softmax in the model before CrossEntropyLoss",
    ("soft twice",),
    (11, 32),
    """\
import torch
import torch.nn as nn

torch.manual_seed(16)


class ImageClassifier(nn.Module):
    def __init__(self, n_classes: int = 10) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(8 * 16, 32), nn.ReLU(), nn.Linear(32, n_classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.conv(x))


def data(n: int):
    g = torch.Generator().manual_seed(5)
    proto = torch.randn(10, 1, 8, 8, generator=g)
    y = torch.randint(0, 10, (n,))
    return proto[y] + 0.8 * torch.randn(n, 1, 8, 8), y


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


x, y = data(500)
xt, yt = data(200)
model = ImageClassifier()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(1, 11):
    losses = []
    for b in torch.randperm(500).split(25):
        loss = criterion(model(x[b]), y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d} loss {sum(losses) / len(losses):.4f} test {accuracy(model, xt, yt):.3f}")
""",
    (
        """\
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(8 * 16, 32), nn.ReLU(), nn.Linear(32, n_classes))
""",
        """\
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(8 * 16, 32), nn.ReLU(), nn.Linear(32, n_classes), nn.Softmax(dim=1))
""",  # noqa: E501
    ),
)

fault(
    "conv flatten",
    "the first linear layer expects 192 features and gets 48",
    ("shapes",),
    (14, 20),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 12, 3)
        self.fc1 = nn.Linear(12 * 2 * 2, 40)
        self.fc2 = nn.Linear(40, 2)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = x.view(x.size(0), -1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def discs_and_rings(n, side=16):
    g = torch.arange(side).float() - side / 2 + 0.5
    rho = (g[:, None] ** 2 + g[None] ** 2).sqrt()
    y = torch.randint(0, 2, (n,))
    radius = 3 + 3 * torch.rand(n, 1, 1)
    disc = (rho < radius).float()
    ring = ((rho - radius).abs() < 1).float()
    x = torch.where(y[:, None, None] == 0, disc, ring)
    return (x + 0.4 * torch.randn(n, side, side)).unsqueeze(1), y


images, labels = discs_and_rings(256)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(8):
    running_loss = 0.0
    for i in range(0, 256, 32):
        optimizer.zero_grad()
        outputs = net(images[i:i + 32])
        loss = criterion(outputs, labels[i:i + 32])
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print("[%d] loss: %.3f" % (epoch + 1, running_loss / 8))
print("Finished Training")
""",
    ("        self.fc1 = nn.Linear(12 * 2 * 2, 40)\n", "        self.fc1 = nn.Linear(12 * 4 * 4, 40)\n"),
)
