"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault, healthy

fault(
    "grating orientation classifier, Trainer class with StepLR",
    "scheduler.step() is called once per batch while StepLR(step_size=3) is meant in epochs: the learning rate is divided away within the first epoch and the network stops learning",
    ("rate",),
    (52, 42),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
NUM_CLASSES = 8


def make_gratings(n, size=16):
    labels = torch.randint(0, NUM_CLASSES, (n,))
    theta = labels.float() * math.pi / NUM_CLASSES + 0.05 * torch.randn(n)
    phase = torch.rand(n) * 2 * math.pi
    ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    wave = xs * torch.cos(theta).view(-1, 1, 1) + ys * torch.sin(theta).view(-1, 1, 1)
    images = torch.sin(1.1 * wave + phase.view(-1, 1, 1))
    images = images + 0.7 * torch.randn_like(images)
    return images.unsqueeze(1), labels


class SmallCNN(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(32 * 4 * 4, num_classes)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Trainer:
    def __init__(self, model, train_set, test_set, epochs=7, lr=0.02):
        self.model = model
        self.epochs = epochs
        self.train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
        self.test_loader = DataLoader(test_set, batch_size=200)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=3, gamma=0.2)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for images, labels in self.train_loader:
            loss = F.cross_entropy(self.model(images), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(labels)
        return total / len(self.train_loader.dataset)

    @torch.no_grad()
    def test(self):
        self.model.eval()
        hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.test_loader)
        return hits / len(self.test_loader.dataset)

    def fit(self):
        for epoch in range(self.epochs):
            loss = self.train_epoch()
            self.scheduler.step()
            print(f"epoch {epoch}: loss {loss:.3f}  test acc {self.test():.3f}")


train_set = TensorDataset(*make_gratings(1600))
test_set = TensorDataset(*make_gratings(400))
Trainer(SmallCNN(NUM_CLASSES), train_set, test_set).fit()
""",
    (
        "            self.optimizer.step()\n",
        "            self.optimizer.step()\n            self.scheduler.step()\n",
    ),
    (
        "            loss = self.train_epoch()\n            self.scheduler.step()\n",
        "            loss = self.train_epoch()\n",
    ),
)

fault(
    "material patches, per-class accuracy report",
    "model.eval() is missing in the evaluation, which feeds one class at a time: batch norm normalises with the statistics of that class alone (and dropout stays on), so the reported accuracy is far too low and the running statistics are spoilt",
    ("draws in evaluation",),
    (33, 37),
    """\
import torch
from torch import nn

MATERIALS = ["sand", "grass", "brick", "water", "asphalt"]
BASE = torch.tensor([[.8, .7, .5], [.3, .6, .2], [.7, .3, .2], [.2, .4, .7], [.35, .35, .35]])


def sample_patches(count, gen):
    which = torch.randint(len(MATERIALS), (count,), generator=gen)
    light = 0.7 + 0.6 * torch.rand(count, 1, 1, 1, generator=gen)
    patch = BASE[which].view(count, 3, 1, 1) * light
    grain = 0.25 * torch.randn(count, 3, 12, 12, generator=gen)
    return patch + grain, which


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU())


def build_model():
    return nn.Sequential(
        conv_block(3, 16),
        nn.MaxPool2d(2),
        conv_block(16, 32),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(32, len(MATERIALS)),
    )


@torch.no_grad()
def per_class_accuracy(model, images, labels):
    model.eval()
    result = {}
    for idx, name in enumerate(MATERIALS):
        subset = images[labels == idx]
        guess = model(subset).argmax(dim=1)
        result[name] = (guess == idx).float().mean().item()
    return result


def train_one_epoch(model, optimizer, images, labels, batch=50):
    model.train()
    order = torch.randperm(len(images))
    running = 0.0
    for start in range(0, len(order), batch):
        pick = order[start:start + batch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[pick]), labels[pick])
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / (len(order) / batch)


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(5)
    train_x, train_y = sample_patches(1500, gen)
    val_x, val_y = sample_patches(500, gen)
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    for epoch in range(6):
        loss = train_one_epoch(model, optimizer, train_x, train_y)
        scores = per_class_accuracy(model, val_x, val_y)
        mean = sum(scores.values()) / len(scores)
        print(f"epoch {epoch} train loss {loss:.3f} mean class accuracy {mean:.3f}")
    print({k: round(v, 2) for k, v in scores.items()})


main()
""",
    ("    model.eval()\n", ""),
)

fault(
    "disc and square segmentation with a small U-Net",
    "the logits (N, C, H, W) are flattened with reshape(-1, C) without moving the class axis last, so pixels and classes are mixed up in the cross entropy and the net cannot learn the masks",
    ("other order",),
    (58,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N_CLASSES = 3
SIZE = 24


def draw_scene():
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    mask = torch.zeros(SIZE, SIZE, dtype=torch.long)
    cy, cx = torch.randint(5, SIZE - 5, (2,)).tolist()
    r = torch.randint(3, 6, (1,)).item()
    mask[(yy - cy) ** 2 + (xx - cx) ** 2 <= r * r] = 1
    top, left = torch.randint(0, SIZE - 8, (2,)).tolist()
    side = torch.randint(5, 8, (1,)).item()
    mask[top:top + side, left:left + side] = 2
    levels = torch.tensor([0.0, 1.0, -1.0])
    image = levels[mask] + 0.5 * torch.randn(SIZE, SIZE)
    return image[None], mask


scenes = [draw_scene() for _ in range(300)]
images = torch.stack([s[0] for s in scenes])
masks = torch.stack([s[1] for s in scenes])
train_images, val_images = images[:240], images[240:]
train_masks, val_masks = masks[:240], masks[240:]


class UNet(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enc = self.block(1, width)
        self.mid = self.block(width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.dec = self.block(2 * width, width)
        self.head = nn.Conv2d(width, N_CLASSES, 1)

    @staticmethod
    def block(cin, cout):
        return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(),
                             nn.Conv2d(cout, cout, 3, padding=1), nn.ReLU())

    def forward(self, x):
        skip = self.enc(x)
        deep = self.mid(F.max_pool2d(skip, 2))
        return self.head(self.dec(torch.cat([self.up(deep), skip], dim=1)))


net = UNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(8):
    net.train()
    for idx in torch.randperm(len(train_images)).split(16):
        logits = net(train_images[idx])
        flat_logits = logits.permute(0, 2, 3, 1).reshape(-1, N_CLASSES)
        flat_target = train_masks[idx].reshape(-1)
        loss = F.cross_entropy(flat_logits, flat_target)
        opt.zero_grad()
        loss.backward()
        opt.step()

    net.eval()
    with torch.no_grad():
        pred = net(val_images).argmax(dim=1)
    ious = []
    for c in range(N_CLASSES):
        inter = ((pred == c) & (val_masks == c)).sum().item()
        union = ((pred == c) | (val_masks == c)).sum().item()
        ious.append(inter / max(union, 1))
    print(f"epoch {epoch}  loss {loss.item():.4f}  mIoU {sum(ious) / N_CLASSES:.3f}")
""",
    ("logits.permute(0, 2, 3, 1).reshape(-1, N_CLASSES)", "logits.reshape(-1, N_CLASSES)"),
)

fault(
    "lesion dataset with random flips",
    "image and mask are flipped by two separate calls that draw their own coins, so in three quarters of the training pairs the mask is mirrored against its image and the net learns no mask",
    ("drawn twice",),
    (38, 39),
    """\
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader


def random_flip(t):
    if random.random() < 0.5:
        t = torch.flip(t, dims=[-1])
    if random.random() < 0.5:
        t = torch.flip(t, dims=[-2])
    return t


class LesionDataset(Dataset):
    '''Noisy slices with one elliptic lesion each and its binary mask.'''

    def __init__(self, n, augment, seed, size=20):
        rng = np.random.default_rng(seed)
        self.augment = augment
        self.images, self.masks = [], []
        rows, cols = np.mgrid[0:size, 0:size]
        for _ in range(n):
            cy, cx = rng.uniform(4, size - 4, 2)
            ry, rx = rng.uniform(2, 4, 2)
            mask = (((rows - cy) / ry) ** 2 + ((cols - cx) / rx) ** 2 <= 1).astype(np.float32)
            image = 1.2 * mask + rng.normal(0, 0.5, mask.shape).astype(np.float32)
            self.images.append(torch.from_numpy(image.astype(np.float32))[None])
            self.masks.append(torch.from_numpy(mask)[None])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if self.augment:
            image, mask = random_flip(torch.cat([image, mask])).split(1)
            image = image * random.uniform(0.9, 1.1)
        return image, mask


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=2, dilation=2), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 1, 1),
        )

    def forward(self, x):
        return self.body(x)


def dice(pred, target):
    inter = (pred * target).sum((1, 2, 3))
    return (2 * inter / (pred.sum((1, 2, 3)) + target.sum((1, 2, 3)) + 1e-6)).mean().item()


def validate(model, loader):
    model.eval()
    scores = []
    with torch.no_grad():
        for image, mask in loader:
            scores.append(dice((model(image) > 0).float(), mask))
    return sum(scores) / len(scores)


torch.manual_seed(1)
random.seed(1)
train_loader = DataLoader(LesionDataset(320, True, seed=0), batch_size=16, shuffle=True)
val_loader = DataLoader(LesionDataset(80, False, seed=1), batch_size=40)
model = SegNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(8):
    model.train()
    losses = []
    for image, mask in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(image), mask)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"[{epoch}] bce {np.mean(losses):.4f} val dice {validate(model, val_loader):.3f}")
""",
    (
        "            image, mask = random_flip(torch.cat([image, mask])).split(1)\n",
        "            image = random_flip(image)\n            mask = random_flip(mask)\n",
    ),
)

healthy(
    "rare-blob segmentation: Dice only, ignored border, micro-batches",
    """\
import torch
from torch import nn

IGNORE = 255


def make_split(n, seed, size=24):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    images = 0.4 * torch.randn(n, 1, size, size, generator=g)
    labels = torch.zeros(n, size, size, dtype=torch.long)
    for i in range(n):
        cy, cx = torch.randint(3, size - 3, (2,), generator=g).tolist()
        d = (yy - cy) ** 2 + (xx - cx) ** 2
        images[i, 0] += 1.5 * torch.exp(-d / 3.0)
        labels[i][d <= 8] = IGNORE      # annotators did not agree on the rim
        labels[i][d <= 4] = 1
    return images, labels


class SoftDice(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, labels):
        valid = labels != IGNORE
        prob = torch.sigmoid(logits.squeeze(1)) * valid
        truth = (labels == 1).float()
        overlap = (prob * truth).sum()
        return 1 - (2 * overlap + self.smooth) / (prob.sum() + truth.sum() + self.smooth)


torch.manual_seed(21)
train_x, train_y = make_split(256, seed=100)
test_x, test_y = make_split(64, seed=101)
net = nn.Sequential(
    nn.Conv2d(1, 12, 5, padding=2), nn.GroupNorm(3, 12), nn.SiLU(),
    nn.Conv2d(12, 12, 5, padding=2), nn.GroupNorm(3, 12), nn.SiLU(),
    nn.Conv2d(12, 1, 1),
)
nn.init.constant_(net[-1].bias, -3.0)     # foreground is about two percent
loss_fn = SoftDice()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
ACCUM = 4

opt.zero_grad()
micro = 0
for epoch in range(10):
    epoch_loss = 0.0
    for idx in torch.randperm(256).split(8):
        loss = loss_fn(net(train_x[idx]), train_y[idx])
        (loss / ACCUM).backward()
        epoch_loss += loss.item() / 32
        micro += 1
        if micro % ACCUM == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
    with torch.no_grad():
        hit = (net(test_x).squeeze(1) > 0) & (test_y != IGNORE)
        truth = test_y == 1
        iou = (hit & truth).sum() / (hit | truth).sum()
    print(f"epoch {epoch} dice loss {epoch_loss:.3f} IoU {iou:.3f}")
""",
)

healthy(
    "symbol images with forty percent flipped labels, Lion by hand",
    """\
import torch
import torch.nn.functional as F

torch.manual_seed(8)
K = 6
templates = torch.randn(K, 1, 10, 10)


def draw(n, flip):
    true = torch.randint(K, (n,))
    x = templates[true] + 1.0 * torch.randn(n, 1, 10, 10)
    given = true.clone()
    swap = torch.rand(n) < flip
    given[swap] = torch.randint(K, (int(swap.sum()),))
    return x, true, given


def he(*shape):
    fan_in = shape[1] * (shape[2] * shape[3] if len(shape) == 4 else 1)
    return (torch.randn(*shape) * (2 / fan_in) ** 0.5).requires_grad_()


params = {
    "w1": he(16, 1, 3, 3), "b1": torch.zeros(16, requires_grad=True),
    "w2": he(48, 16 * 16), "b2": torch.zeros(48, requires_grad=True),
    "w3": torch.zeros(K, 48, requires_grad=True), "b3": torch.zeros(K, requires_grad=True),
}
moment = {k: torch.zeros_like(p) for k, p in params.items()}


def net(x):
    h = F.max_pool2d(F.relu(F.conv2d(x, params["w1"], params["b1"])), 2).flatten(1)
    h = F.relu(F.linear(h, params["w2"], params["b2"]))
    return F.linear(h, params["w3"], params["b3"])


@torch.no_grad()
def lion_step(lr, b1=0.9, b2=0.98, decay=0.1):
    for k, p in params.items():
        direction = (b1 * moment[k] + (1 - b1) * p.grad).sign()
        p.mul_(1 - lr * decay).sub_(lr * direction)
        moment[k].mul_(b2).add_(p.grad, alpha=1 - b2)
        p.grad = None


test_x, test_true, _ = draw(1000, 0.0)
train_x, _, train_given = draw(12000, 0.4)
for step in range(1500):
    lr = 1e-3 * (1 - step / 1500)
    pick = torch.randint(len(train_x), (64,))
    loss = F.cross_entropy(net(train_x[pick]), train_given[pick], label_smoothing=0.1)
    loss.backward()
    lion_step(lr)
    if step % 250 == 249:
        with torch.no_grad():
            clean = (net(test_x).argmax(1) == test_true).float().mean()
        print(f"step {step + 1} loss {loss.item():.3f} clean accuracy {clean:.3f}")
""",
)
