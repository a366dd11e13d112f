"""Data pipelines: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "augmentation written into the stored data",
    "the item is a view of the stored data and the noise is added in place, so that the data get "
    "noisier every epoch",
    ("worn",),
    (24, 22),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)
centres = torch.randn(5, 12) * 1.2


def sample(n):
    y = torch.randint(0, 5, (n,))
    return centres[y] + 0.5 * torch.randn(n, 12), y


class Signals(Dataset):
    def __init__(self, x, y, jitter=0.0):
        self.x, self.y, self.jitter = x, y, jitter

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        signal = self.x[index]
        if self.jitter:
            signal = signal + self.jitter * torch.randn_like(signal)
        return signal, self.y[index]


def run_epoch(model, loader, optimizer=None):
    loss_sum, right, count = 0.0, 0, 0
    for x, y in loader:
        with torch.set_grad_enabled(optimizer is not None):
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        loss_sum += loss.item() * len(y)
        right += (logits.argmax(1) == y).sum().item()
        count += len(y)
    return loss_sum / count, right / count


train_loader = DataLoader(Signals(*sample(800), jitter=1.0), batch_size=32, shuffle=True)
valid_loader = DataLoader(Signals(*sample(400)), batch_size=200)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(25):
    train_loss, train_accuracy = run_epoch(model, train_loader, optimizer)
    valid_loss, valid_accuracy = run_epoch(model, valid_loader)
    if epoch % 4 == 0:
        print(f"{epoch:2d} train {train_loss:.3f} {train_accuracy:.3f} valid {valid_loss:.3f} {valid_accuracy:.3f}")
""",
    (
        "            signal = signal + self.jitter * torch.randn_like(signal)\n",
        "            signal += self.jitter * torch.randn_like(signal)\n",
    ),
)

fault(
    "sampler given a weight per class",
    "the weighted sampler is given one weight for each class instead of one for each row, so that only the "
    "first rows are ever drawn",
    ("uneven draws",),
    (30,),
    """\
from collections import Counter

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(8)


def make(counts):
    xs, ys = [], []
    for label, n in enumerate(counts):
        angle = torch.tensor(label * 1.57)
        centre = 2.0 * torch.stack([angle.cos(), angle.sin()])
        xs.append(centre + 0.7 * torch.randn(n, 2))
        ys.append(torch.full((n,), label))
    order = torch.randperm(sum(counts))
    return torch.cat(xs)[order], torch.cat(ys)[order]


def per_class(logits, y):
    guess = logits.argmax(1)
    return [round((guess[y == k] == k).float().mean().item(), 2) for k in range(4)]


x_train, y_train = make([1200, 300, 120, 60])
x_test, y_test = make([200, 200, 200, 200])
counts = Counter(y_train.tolist())
class_weights = torch.tensor([1.0 / counts[k] for k in range(4)])
sample_weights = class_weights[y_train]
sampler = WeightedRandomSampler(sample_weights, num_samples=len(y_train), replacement=True)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=60, sampler=sampler)

model = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
for epoch in range(10):
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    with torch.no_grad():
        logits = model(x_test)
        test_loss = nn.functional.cross_entropy(logits, y_test).item()
    print(f"{epoch}: train {total / len(loader):.3f} test {test_loss:.3f} per class {per_class(logits, y_test)}")
""",
    (
        "sampler = WeightedRandomSampler(sample_weights, num_samples=len(y_train), replacement=True)\n",
        "sampler = WeightedRandomSampler(class_weights, num_samples=len(y_train), replacement=True)\n",
    ),
    ("sample_weights = class_weights[y_train]\n", ""),
)
