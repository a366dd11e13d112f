"""Images: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "view instead of permute",
    "channels-last images are reshaped to channels-first, which scrambles pixels and channels",
    ("scrambled",),
    (33,),
    """\
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIDE = 16


def draw(rng, label):
    image = rng.normal(110, 25, size=(SIDE, SIDE, 3))
    row, col = rng.integers(1, SIDE - 6, size=2)
    shape, channel = divmod(label, 3)
    if shape == 0:
        image[row : row + 5, col : col + 5, channel] += 70
    else:
        for k in range(5):
            image[row + k, col + k, channel] += 110
            image[row + k, col + 4 - k, channel] += 110
    return image.clip(0, 255).astype(np.uint8)


class Shapes(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 6, size=n)
        self.images = np.stack([draw(rng, label) for label in self.labels])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = torch.from_numpy(self.images[i]).float() / 255
        image = image.permute(2, 0, 1)
        return (image - 0.45) / 0.15, int(self.labels[i])


torch.manual_seed(0)
train_loader = DataLoader(Shapes(640, seed=1), batch_size=32, shuffle=True)
test_loader = DataLoader(Shapes(200, seed=2), batch_size=100)
conv = [nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, padding=1), nn.ReLU()]
model = nn.Sequential(*conv, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(24, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(images).argmax(1) == labels).sum().item() for images, labels in test_loader)
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}, test accuracy {hits / len(test_loader.dataset):.3f}")
""",
    ("        image = image.permute(2, 0, 1)\n", "        image = image.view(3, SIDE, SIDE)\n"),
)

fault(
    "class by class without shuffling",
    "the set is ordered by class, as a folder listing is, and the loader does not shuffle, so the net swings to "
    "whichever class came last",
    ("sorted",),
    (36,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_class(label, n, templates):
    images = templates[label].expand(n, 1, 12, 12).clone()
    shifts = torch.randint(-1, 2, (n, 2))
    for i, (dy, dx) in enumerate(shifts.tolist()):
        images[i] = images[i].roll((dy, dx), dims=(1, 2))
    return images + 0.4 * torch.randn_like(images)


def make_set(per_class, templates):
    classes = range(len(templates))
    images = torch.cat([make_class(c, per_class, templates) for c in classes])
    labels = torch.arange(len(templates)).repeat_interleave(per_class)
    return TensorDataset(images, labels)


class SmallCNN(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()
        )
        self.classifier = nn.Linear(32 * 6 * 6, classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


torch.manual_seed(7)
templates = (torch.rand(5, 1, 12, 12) > 0.6).float()
train_set, test_set = make_set(160, templates), make_set(60, templates)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=100)
model = SmallCNN(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(1, 9):
    model.train()
    running = 0.0
    for images, labels in train_loader:
        loss = loss_fn(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for images, labels in test_loader:
            correct += (model(images).argmax(dim=1) == labels).sum().item()
    print(f"epoch {epoch}: loss {running / len(train_loader):.4f} test accuracy {correct / len(test_set):.3f}")
""",
    ("batch_size=32, shuffle=True)\n", "batch_size=32)\n"),
)
