"""Vision: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "channels reshaped to the front",
    "height-width-channel pictures are reshaped, not permuted, to channels first, which scrambles the pixels",
    ("scrambled",),
    (37,),
    """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def draw(count, seed):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 150, size=(count, 16, 16, 3), dtype=np.uint8)
    labels = rng.integers(0, 4, size=count)
    for i in range(count):
        r, c = rng.integers(2, 14, size=2)
        ink = rng.integers(100, 230, size=3)
        for k in range(-2, 3):
            if labels[i] == 0:
                images[i, r, (c + k) % 16] = ink
            elif labels[i] == 1:
                images[i, (r + k) % 16, c] = ink
            elif labels[i] == 2:
                images[i, (r + k) % 16, (c + k) % 16] = ink
            else:
                images[i, (r + k) % 16, (c - k) % 16] = ink
    return images, labels


class Strokes(Dataset):
    def __init__(self, count, seed):
        self.images, self.labels = draw(count, seed)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index]).float() / 255.0
        h, w, c = image.shape
        label = int(self.labels[index])
        image = image.permute(2, 0, 1)
        return (image - 0.3) / 0.2, label


torch.manual_seed(0)
train = DataLoader(Strokes(1200, 1), batch_size=50, shuffle=True)
test = DataLoader(Strokes(300, 2), batch_size=100)
model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(16, 24, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveMaxPool2d(1),
    nn.Flatten(),
    nn.Linear(24, 4),
)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(6):
    total = 0.0
    for x, y in train:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in test)
    print(f"epoch {epoch} loss {total / len(train):.3f} test accuracy {right / 300:.3f}")
""",
    ("image.permute(2, 0, 1)\n", "image.reshape(c, h, w)\n"),
)

fault(
    "scaling left out of validation",
    "pictures are scaled to about unit size for training, but validated as raw bytes",
    ("other scale",),
    (34,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split


class SmallNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(16)
        self.fc = nn.Linear(16 * 9, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


def make_data(count):
    templates = torch.randint(0, 256, (5, 1, 12, 12)).float()
    labels = torch.randint(0, 5, (count,))
    images = 0.5 * templates[labels] + 0.5 * torch.randint(0, 256, (count, 1, 12, 12))
    return TensorDataset(images.to(torch.uint8), labels)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, right, seen = 0.0, 0, 0
    for images, labels in loader:
        images = images.float().div(255).sub(0.5).div(0.25)
        logits = model(images)
        loss += F.cross_entropy(logits, labels, reduction="sum").item()
        right += (logits.argmax(dim=1) == labels).sum().item()
        seen += len(labels)
    return loss / seen, right / seen


torch.manual_seed(3)
train_set, val_set = random_split(make_data(1500), [1200, 300])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=64)
model = SmallNet(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(4):
    model.train()
    running = 0.0
    for images, labels in train_loader:
        inputs = (images.float() / 255 - 0.5) / 0.25
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    val_loss, val_acc = evaluate(model, val_loader)
    print(f"epoch {epoch}: train {running / len(train_loader):.4f}, val {val_loss:.4f}, acc {val_acc:.3f}")
""",
    ("        images = images.float().div(255).sub(0.5).div(0.25)\n", "        images = images.float()\n"),
)

healthy(
    "frozen backbone with norm layers held in eval",
    """\
import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
        )

    def forward(self, x):
        return self.body(x)


class Classifier(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(128, classes))
        for p in self.backbone.parameters():
            p.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features)


def batch(patterns, size):
    y = torch.randint(0, len(patterns), (size,))
    return patterns[y] + 0.7 * torch.randn(size, 1, 10, 10), y


def fit(model, params, patterns, steps, lr):
    optimizer = torch.optim.Adam(params, lr=lr)
    for step in range(steps):
        model.train()
        x, y = batch(patterns, 32)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            model.eval()
            x, y = batch(patterns, 256)
            with torch.no_grad():
                print(step + 1, f"loss {loss.item():.3f} accuracy {(model(x).argmax(1) == y).float().mean():.3f}")


torch.manual_seed(0)
backbone = Backbone()
source, target = torch.randn(8, 1, 10, 10), torch.randn(4, 1, 10, 10)
pretraining = nn.Sequential(backbone, nn.Linear(128, 8))
fit(pretraining, pretraining.parameters(), source, 150, 3e-3)
model = Classifier(backbone, 4)
fit(model, model.head.parameters(), target, 200, 1e-2)
""",
)

healthy(
    "cutmix with accumulation",
    """\
import random

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
random.seed(0)
classes = 6
prototypes = torch.randn(classes, 3, 12, 12)


def sample(count):
    labels = torch.randint(0, classes, (count,))
    return prototypes[labels] * 0.8 + torch.randn(count, 3, 12, 12), labels


def cutmix(x, y):
    share = random.betavariate(1.0, 1.0)
    side = int(12 * (1 - share) ** 0.5)
    top, left = random.randint(0, 12 - side), random.randint(0, 12 - side)
    order = torch.randperm(len(x))
    x = x.clone()
    x[:, :, top : top + side, left : left + side] = x[order, :, top : top + side, left : left + side]
    return x, y, y[order], 1 - side * side / 144


model = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2, padding=1, bias=False),
    nn.GroupNorm(4, 16),
    nn.SiLU(),
    nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=False),
    nn.GroupNorm(4, 32),
    nn.SiLU(),
    nn.Flatten(),
    nn.Linear(288, classes),
)
decay = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() == 1]
groups = [{"params": decay, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-3)
accumulate, updates = 4, 120
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=updates)
val_x, val_y = sample(500)
running = 0.0
for micro in range(1, accumulate * updates + 1):
    x, first, second, share = cutmix(*sample(16))
    logits = model(x)
    loss = share * F.cross_entropy(logits, first) + (1 - share) * F.cross_entropy(logits, second)
    (loss / accumulate).backward()
    running += loss.item()
    if micro % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
    if micro % 80 == 0:
        with torch.no_grad():
            out = model(val_x)
        accuracy = (out.argmax(1) == val_y).float().mean()
        print(f"{micro:4d} train {running / 80:.3f} val {F.cross_entropy(out, val_y):.3f} accuracy {accuracy:.3f}")
        running = 0.0
""",
)
