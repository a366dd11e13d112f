"""Fine-tuning: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "head replaced after the optimizer",
    "the new head is put in after the optimizer was made, so the optimizer still holds the old head's weights",
    ("not held",),
    (50, 49),
    """\
import torch
import torch.nn as nn
import torch.optim as optim


class Net(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(32, num_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def train(model, optimizer, x, y, steps):
    criterion = nn.CrossEntropyLoss()
    model.train()
    for step in range(steps):
        idx = torch.randint(0, len(x), (64,))
        optimizer.zero_grad()
        loss = criterion(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        if (step + 1) % 100 == 0:
            print(f"  step {step + 1} loss {loss.item():.4f}")


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=1) == y).float().mean().item()


torch.manual_seed(1)
centers = torch.randn(8, 20)
source_y = torch.randint(0, 4, (2000,))
source_x = centers[source_y] + torch.randn(2000, 20)
target_y = torch.randint(0, 8, (700,))
target_x = centers[target_y] + torch.randn(700, 20)

model = Net(num_classes=4)
print("pretraining")
train(model, optim.Adam(model.parameters(), lr=1e-3), source_x, source_y, 300)
print(f"source accuracy {accuracy(model, source_x, source_y):.3f}")

for p in model.backbone.parameters():
    p.requires_grad = False
model.head = nn.Linear(model.head.in_features, 8)
optimizer = optim.Adam(model.parameters(), lr=5e-4)
print("fine-tuning")
train(model, optimizer, target_x[:400], target_y[:400], 500)
print(f"target accuracy {accuracy(model, target_x[400:], target_y[400:]):.3f}")
""",
    (
        "model.head = nn.Linear(model.head.in_features, 8)\noptimizer = optim.Adam(model.parameters(), lr=5e-4)\n",
        "optimizer = optim.Adam(model.parameters(), lr=5e-4)\nmodel.head = nn.Linear(model.head.in_features, 8)\n",
    ),
)

fault(
    "checkpoint prefix not stripped",
    "the checkpoint's keys carry 'module.' and strict=False passes them all by, so nothing of it is loaded",
    ("loaded nothing",),
    (42, 43),
    """\
import torch
import torch.nn.functional as F
from torch import nn


class Classifier(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.encoder = make_encoder()
        self.classifier = nn.Linear(24, n_classes)

    def forward(self, x):
        return self.classifier(self.encoder(x))


def make_encoder():
    return nn.Sequential(nn.Linear(40, 96), nn.ReLU(), nn.Linear(96, 24), nn.ReLU())


def sample(n):
    z = torch.randn(n, 3)
    return torch.tanh(z @ mixing) + 0.3 * torch.randn(n, 40), z


def pretrain(steps=800):
    encoder, probe = nn.DataParallel(make_encoder()), nn.Linear(24, 3)
    opt = torch.optim.Adam([*encoder.parameters(), *probe.parameters()], lr=2e-3)
    for _ in range(steps):
        x, z = sample(128)
        loss = F.mse_loss(probe(encoder(x)), z)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"pretraining loss {loss.item():.4f}")
    return {"epoch": steps, "state_dict": encoder.state_dict()}


torch.manual_seed(11)
mixing = torch.randn(3, 40)
state = pretrain()["state_dict"]
model = Classifier(4)
state = {key.replace("module.", "encoder."): value for key, value in state.items()}
model.load_state_dict(state, strict=False)  # the classifier is new
model.encoder.requires_grad_(False)
x, z = sample(1100)
y = (z[:, 0] > 0).long() + 2 * (z[:, 1] + z[:, 2] > 0).long()
opt = torch.optim.Adam(model.classifier.parameters(), lr=1e-2)
for step in range(1, 401):
    loss = F.cross_entropy(model(x[:100]), y[:100])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 80 == 0:
        with torch.no_grad():
            acc = (model(x[100:]).argmax(1) == y[100:]).float().mean()
        print(f"step {step}: train loss {loss.item():.4f} test accuracy {acc.item():.3f}")
""",
    (
        'state = {key.replace("module.", "encoder."): value for key, value in state.items()}\n',
        'state = {"encoder." + key: value for key, value in state.items()}\n',
    ),
)
