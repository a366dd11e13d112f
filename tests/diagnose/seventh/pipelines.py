"""Data pipelines: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "augmented series dataset",
    "the augmentation adds its noise in place to a view of the stored data, which decays a little every epoch",
    ("worn",),
    (25, 23),
    """\
import math
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    \"\"\"Noisy waves of four frequencies, with shift and jitter when training.\"\"\"

    def __init__(self, n, augment):
        t = torch.linspace(0, 1, 48)
        self.y = torch.randint(0, 4, (n,))
        phase = torch.rand(n, 1) * 2 * math.pi
        self.x = torch.sin(2 * math.pi * (2.0 + self.y[:, None]) * t + phase) + 0.5 * torch.randn(n, 48)
        self.augment = augment

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        series = self.x[i]
        if self.augment:
            series = series + 0.8 * torch.randn(series.shape)
            series = series.roll(random.randrange(8))
        return series.unsqueeze(0), self.y[i]


def block(c_in, c_out):
    return nn.Sequential(nn.Conv1d(c_in, c_out, 9, padding=4), nn.BatchNorm1d(c_out), nn.ReLU())


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(0)
random.seed(0)
train = DataLoader(Waves(480, augment=True), batch_size=32, shuffle=True)
valid = DataLoader(Waves(512, augment=False), batch_size=128)
blocks = [block(1, 16), nn.MaxPool1d(2), block(16, 16), nn.AdaptiveMaxPool1d(1)]
model = nn.Sequential(*blocks, nn.Flatten(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(1, 21):
    for x, y in train:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch} train loss {loss.item():.3f} val acc {accuracy(model, valid):.3f}")
""",
    (
        "            series = series + 0.8 * torch.randn(series.shape)\n",
        "            series += 0.8 * torch.randn(series.shape)\n",
    ),
)

fault(
    "house prices",
    "the validation features are standardised with their own statistics, not with those of the training set",
    ("other scale",),
    (32,),
    """\
import numpy as np
import torch
from torch import nn


def load(seed=7):
    \"\"\"Area, age, distance and floors of houses ordered by the year of sale; the newest are far bigger.\"\"\"
    rng = np.random.default_rng(seed)
    year = np.linspace(0, 1, 1200)
    area = rng.normal(70 + 60 * year, 15)
    age = rng.exponential(30, 1200)
    distance = rng.gamma(2.0, 4.0, 1200)
    floors = np.clip(np.round(area / 25 + rng.normal(0, 0.7, 1200)), 1, None)
    price = 2.5 * area - 0.6 * age - 4.0 * distance + 12 * floors + rng.normal(0, 8, 1200)
    x = np.stack([area, age, distance, floors], axis=1).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(price.astype(np.float32))


class Standardizer:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0)
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std


x, price = load()
scale_x = Standardizer().fit(x[:900])
scale_y = Standardizer().fit(price[:900])
x_train, y_train = scale_x(x[:900]), scale_y(price[:900])
x_val = scale_x(x[900:])

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(1, 41):
    model.train()
    for idx in torch.randperm(900).split(60):
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    if epoch % 8 == 0:
        model.eval()
        with torch.no_grad():
            fit = (model(x_train) * scale_y.std + scale_y.mean - price[:900]).abs().mean().item()
            error = (model(x_val) * scale_y.std + scale_y.mean - price[900:]).abs().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} train MAE {fit:.1f}k val MAE {error:.1f}k")
""",
    ("x_val = scale_x(x[900:])\n", "x_val = Standardizer().fit(x[900:])(x[900:])\n"),
)

fault(
    "words of uneven length",
    "the batch is sorted by length for packing, but the labels keep the old order",
    ("apart",),
    (25, 26),
    """\
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

LETTERS = "abcdefgh"


def make_word(rng):
    word = "".join(rng.choice(LETTERS) for _ in range(rng.randint(3, 12)))
    if rng.random() < 0.6:
        k = rng.randrange(len(word))
        word = word[:k] + "ab" + word[k:]
    return word, int("ab" in word)


def encode(word):
    return torch.tensor([LETTERS.index(c) + 1 for c in word])


def collate(samples):
    \"\"\"Longest first, as packing wants them.\"\"\"
    samples = sorted(samples, key=lambda s: len(s[0]), reverse=True)
    words = [encode(w) for w, _ in samples]
    labels = torch.tensor([float(y) for _, y in samples])
    lengths = torch.tensor([len(w) for w in words])
    return pad_sequence(words, batch_first=True), lengths, labels


class Finder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS) + 1, 12, padding_idx=0)
        self.gru = nn.GRU(12, dim, batch_first=True)
        self.out = nn.Linear(dim, 1)

    def forward(self, padded, lengths):
        packed = pack_padded_sequence(self.embed(padded), lengths, batch_first=True)
        _, h = self.gru(packed)
        return self.out(h[-1]).squeeze(-1)


torch.manual_seed(1)
rng = random.Random(1)
loader = DataLoader([make_word(rng) for _ in range(800)], batch_size=32, shuffle=True, collate_fn=collate)
net = Finder()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(1, 8):
    right = 0
    for padded, lengths, labels in loader:
        logits = net(padded, lengths)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += ((logits > 0) == (labels > 0.5)).sum().item()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right / 800:.3f}")
""",
    (
        """\
    samples = sorted(samples, key=lambda s: len(s[0]), reverse=True)
    words = [encode(w) for w, _ in samples]
""",
        """\
    words = sorted((encode(w) for w, _ in samples), key=len, reverse=True)
""",
    ),
)
