"""Vision: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "probabilities into cross entropy",
    "the network ends in a softmax and its output goes to CrossEntropyLoss, which applies it a second time",
    ("soft twice",),
    (27,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
protos = torch.randn(10, 1, 12, 12)


def make(n):
    y = torch.randint(0, 10, (n,))
    return protos[y] + 1.2 * torch.randn(n, 1, 12, 12), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(24 * 3 * 3, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


train_loader = DataLoader(TensorDataset(*make(1600)), batch_size=64, shuffle=True)
test_x, test_y = make(400)
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(6):
    model.train()
    running = 0.0
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(test_x).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch}: loss {running / len(train_loader):.4f}, test accuracy {acc:.3f}")
""",
    ("        return self.fc2(x)\n", "        return torch.softmax(self.fc2(x), dim=1)\n"),
)

fault(
    "channels moved with a reshape",
    "images stored height, width, channel are brought to channel first with a reshape and not a permute, "
    "which scrambles the pixels",
    ("scrambled",),
    (28,),
    """\
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 18


def draw(n, seed):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 70, (n, SIZE, SIZE, 3), dtype=np.uint8)
    labels = rng.integers(0, 6, n)
    for i, label in enumerate(labels):
        r, c = rng.integers(1, SIZE - 8, 2)
        channel, upright = divmod(label, 2)
        for k in range(6):
            spot = (r + k, c + 3) if upright else (r + 3, c + k)
            images[i, spot[0], spot[1], channel] += rng.integers(50, 120, dtype=np.uint8)
    return images, labels


class Shapes(Dataset):
    def __init__(self, n, seed):
        images, labels = draw(n, seed)
        x = torch.from_numpy(images).float() / 255.0
        x = (x - x.mean()) / x.std()
        self.x = x.permute(0, 3, 1, 2).contiguous()
        self.y = torch.from_numpy(labels)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 24, 3, stride=2), nn.BatchNorm2d(24), nn.ReLU(),
    nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(24, 6),
)  # fmt: skip
loaders = {k: DataLoader(Shapes(n, s), 32, shuffle=k == "train") for k, n, s in [("train", 1200, 1), ("val", 400, 2)]}
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(5):
    for phase, loader in loaders.items():
        net.train(phase == "train")
        total, right, seen = 0.0, 0, 0
        for x, y in loader:
            with torch.set_grad_enabled(phase == "train"):
                out = net(x)
                loss = F.cross_entropy(out, y)
            if phase == "train":
                opt.zero_grad()
                loss.backward()
                opt.step()
            total, seen = total + loss.item() * len(y), seen + len(y)
            right += (out.argmax(1) == y).sum().item()
        print(f"{epoch} {phase}: loss {total / seen:.3f} acc {right / seen:.3f}")
""",
    (
        "        self.x = x.permute(0, 3, 1, 2).contiguous()\n",
        "        self.x = x.reshape(-1, 3, SIZE, SIZE)\n",
    ),
)

fault(
    "new head after the optimizer",
    "the classifier's last layer is replaced after the optimizer took the parameters, so the new one is never "
    "updated",
    ("not held",),
    (46, 45),
    """\
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(11)
base = torch.randn(10, 3, 10, 10)


def batch(classes, n=64):
    y = torch.randint(0, len(classes), (n,))
    return base[torch.tensor(classes)[y]] + 0.8 * torch.randn(n, 3, 10, 10), y


class SmallNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten()
        )
        self.fc = nn.Linear(32 * 4, num_classes)

    def forward(self, x):
        return self.fc(self.features(x))


def train(model, optimizer, classes, steps, tag):
    criterion = nn.CrossEntropyLoss()
    for step in range(1, steps + 1):
        x, y = batch(classes)
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            acc = (out.argmax(1) == y).float().mean().item()
            print(f"{tag} step {step}: loss {loss.item():.4f} acc {acc:.2f}")


model = SmallNet(num_classes=6)
train(model, optim.Adam(model.parameters(), lr=1e-3), [0, 1, 2, 3, 4, 5], 150, "pretrain")

for p in model.parameters():
    p.requires_grad = False
model.fc = nn.Linear(model.fc.in_features, 4)
optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
train(model, optimizer, [6, 7, 8, 9], 200, "finetune")
""",
    (
        "model.fc = nn.Linear(model.fc.in_features, 4)\n"
        "optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)\n",
        "optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)\n"
        "model.fc = nn.Linear(model.fc.in_features, 4)\n",
    ),
)
