"""Dense predictions: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "image flipped without its mask",
    "the random augmentation flips the image but leaves the mask as it was, so half of the targets "
    "are mirrored",
    ("moved apart",),
    (31,),
    """\
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

random.seed(0)
torch.manual_seed(0)


def scene():
    image, mask = 0.25 * torch.randn(1, 16, 16), torch.zeros(1, 16, 16)
    r, c = random.randint(0, 9), random.randint(0, 9)
    image[:, r : r + 6, c : c + 6] += 1.0
    mask[:, r : r + 6, c : c + 6] = 1.0
    return image, mask


class BlobDataset(Dataset):
    def __init__(self, n, augment=False):
        self.items = [scene() for _ in range(n)]
        self.augment = augment

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        image, mask = self.items[index]
        if self.augment:
            if random.random() < 0.5:
                image, mask = image.flip(-1), mask.flip(-1)
            image = image + 0.05 * torch.randn_like(image)
        return image, mask


def conv(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU())


model = nn.Sequential(conv(1, 12), conv(12, 12), nn.Conv2d(12, 1, 1))
train_loader = DataLoader(BlobDataset(320, augment=True), batch_size=16, shuffle=True)
val_loader = DataLoader(BlobDataset(80), batch_size=40)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(6):
    model.train()
    train_loss = 0.0
    for image, mask in train_loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(image), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += loss.item() / len(train_loader)
    model.eval()
    inter, union = 0.0, 0.0
    with torch.no_grad():
        for image, mask in val_loader:
            pred = (model(image) > 0).float()
            inter, union = inter + (pred * mask).sum(), union + ((pred + mask) > 0).sum()
    print(f"epoch {epoch}: train loss {train_loss:.4f}, val IoU {inter / union:.3f}")
""",
    (
        "                image, mask = image.flip(-1), mask.flip(-1)\n",
        "                image = image.flip(-1)\n",
    ),
)

fault(
    "counts of two shapes",
    "predictions of shape (N, 1) are compared with targets of shape (N,), so every prediction is pulled "
    "to every target and the counter predicts the mean",
    ("broadcast",),
    (34, 25),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)


def draw(n):
    count = torch.randint(0, 10, (n,))
    images = torch.zeros(n, 1, 20, 20)
    for i in range(n):
        spots = torch.randperm(36)[: count[i]]
        images[i, 0, 2 + 3 * (spots // 6), 2 + 3 * (spots % 6)] = 1.0
    return F.avg_pool2d(images, 3, 1, 1) * 9 + 0.1 * torch.randn(n, 1, 20, 20), count.float()


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU())
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        density = self.body(x).sum((2, 3)) / 20
        return self.head(density).squeeze(1)


train_x, train_y = draw(600)
test_x, test_y = draw(200)
model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(1, 301):
    idx = torch.randint(0, 600, (48,))
    loss = ((model(train_x[idx]) - train_y[idx]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        with torch.no_grad():
            off = (model(test_x).flatten() - test_y).abs().mean()
        print(f"step {step}: loss {loss.item():.3f}, test count off by {off.item():.3f}")
""",
    ("        return self.head(density).squeeze(1)\n", "        return self.head(density)\n"),
)

fault(
    "empty cells masked by a product",
    "cells without an object have size zero, whose logarithm is minus infinity; the loss is multiplied by "
    "the mask and not indexed with it, and infinity times zero is nan",
    ("not finite",),
    (45, 43),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

GRID, CELL, ANCHOR = 4, 8, 6.0
torch.manual_seed(9)


def sample(n):
    images = 0.1 * torch.randn(n, 1, GRID * CELL, GRID * CELL)
    target = torch.zeros(n, 3, GRID, GRID)
    for i in range(n):
        for cell in torch.randperm(GRID * GRID)[:3].tolist():
            r, c = divmod(cell, GRID)
            h, w = torch.randint(3, CELL + 1, (2,)).tolist()
            images[i, 0, r * CELL : r * CELL + h, c * CELL : c * CELL + w] += 1.0
            target[i, :, r, c] = torch.tensor([1.0, h, w])
    return images, target


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 4, stride=4),
            nn.ReLU(),
            nn.Conv2d(16, 48, 2, stride=2),
            nn.ReLU(),
            nn.Conv2d(48, 48, 1),
            nn.ReLU(),
        )
        self.objectness = nn.Conv2d(48, 1, 1)
        self.size = nn.Conv2d(48, 2, 1)

    def forward(self, x):
        features = self.backbone(x)
        return self.objectness(features)[:, 0], self.size(features)


def detection_loss(objectness, size, target, box_weight=1.0):
    present = target[:, 0]
    obj_loss = F.binary_cross_entropy_with_logits(objectness, present)
    log_size = torch.log(target[:, 1:] / ANCHOR)
    mask = (present > 0).unsqueeze(1).expand_as(size)
    box_loss = F.mse_loss(size[mask], log_size[mask])
    return obj_loss + box_weight * box_loss, obj_loss, box_loss


images, target = sample(400)
model = Detector()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-3)
for step in range(1, 251):
    pick = torch.randperm(400)[:32]
    loss, obj, box = detection_loss(*model(images[pick]), target[pick])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 10.0)
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step:3d} loss {loss.item():.4f} objectness {obj.item():.4f} box {box.item():.4f}")
""",
    (
        "    mask = (present > 0).unsqueeze(1).expand_as(size)\n"
        "    box_loss = F.mse_loss(size[mask], log_size[mask])\n",
        "    mask = (present > 0).unsqueeze(1).expand_as(size).float()\n"
        '    box_loss = (F.mse_loss(size, log_size, reduction="none") * mask).sum() / mask.sum()\n',
    ),
)
