"""Metric learning: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "each view its own target",
    "the targets point at the diagonal, so each view is to find itself and not its other view",
    ("beside itself",),
    (26, 27, 25),
    """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


class Encoder(nn.Module):
    def __init__(self, width=30, hidden=64, out=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.projection = nn.Linear(hidden, out)

    def forward(self, x):
        return F.normalize(self.projection(self.trunk(x)), dim=1)


class NTXent(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, a, b):
        n = len(a)
        z = torch.cat([a, b])
        similarity = z @ z.t() / self.temperature
        positives = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
        itself = torch.eye(2 * n, dtype=torch.bool)
        logits = similarity.masked_fill(itself, float("-inf"))
        return F.cross_entropy(logits, positives)


def augment(x):
    x = x * (torch.rand_like(x) > 0.3)
    return x + 0.4 * torch.randn_like(x)


@torch.no_grad()
def retrieval(encoder, x):
    a, b = encoder(augment(x)), encoder(augment(x))
    return ((a @ b.t()).argmax(dim=1) == torch.arange(len(x))).float().mean().item()


torch.manual_seed(0)
mixing = torch.randn(8, 30)
data = torch.randn(1000, 8) @ mixing
encoder = Encoder()
criterion = NTXent(temperature=0.1)
optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)
scheduler = CosineAnnealingLR(optimizer, T_max=400)
for step in range(1, 401):
    batch = data[torch.randint(0, 800, (96,))]
    loss = criterion(encoder(augment(batch)), encoder(augment(batch)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 80 == 0:
        print(f"step {step}: loss {loss.item():.3f}, retrieval {retrieval(encoder, data[800:]):.3f}")
""",
    ("torch.cat([torch.arange(n, 2 * n), torch.arange(n)])", "torch.arange(2 * n)"),
    (
        "        itself = torch.eye(2 * n, dtype=torch.bool)\n"
        '        logits = similarity.masked_fill(itself, float("-inf"))\n'
        "        return F.cross_entropy(logits, positives)\n",
        "        return F.cross_entropy(similarity, positives)\n",
    ),
)

fault(
    "root of distances of zero",
    "the distance matrix takes the root of the exact zeros on its diagonal, whose gradient is not a number",
    ("not finite",),
    (19,),
    """\
import torch
from torch import nn


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8))

    def forward(self, x):
        return self.layers(x)


def pairwise_distances(z):
    dots = z @ z.t()
    norms = dots.diagonal()
    squares = norms[:, None] - 2 * dots + norms[None, :]
    squares = squares.clamp(min=0.0)
    return torch.sqrt(squares + 1e-8)


def batch_hard_triplet(z, labels, margin):
    d = pairwise_distances(z)
    same = labels[:, None] == labels[None, :]
    hardest_positive = (d * same).max(dim=1).values
    hardest_negative = (d + 1e6 * same).min(dim=1).values
    return torch.relu(hardest_positive - hardest_negative + margin).mean()


torch.manual_seed(7)
centers = torch.randn(10, 5)
lift = torch.randn(5, 16)


def sample(per_class):
    labels = torch.arange(10).repeat_interleave(per_class)
    return (centers[labels] + 0.2 * torch.randn(len(labels), 5)) @ lift, labels


def nearest_neighbour_accuracy(model):
    x, labels = sample(20)
    with torch.no_grad():
        d = torch.cdist(model(x), model(x))
    d.fill_diagonal_(float("inf"))
    return (labels[d.argmin(dim=1)] == labels).float().mean().item()


model = Embedder()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1, 501):
    x, labels = sample(6)
    loss = batch_hard_triplet(model(x), labels, margin=1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 1 or step % 100 == 0:
        print(f"{step:3d} loss {loss.item():.4f} nearest neighbour {nearest_neighbour_accuracy(model):.3f}")
""",
    ("torch.sqrt(squares + 1e-8)", "torch.sqrt(squares)"),
)

healthy(
    "two views with a slowly following teacher",
    """\
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn


def mlp(a, hidden, b):
    return nn.Sequential(nn.Linear(a, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, b))


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = mlp(24, 64, 32)
        self.projector = mlp(32, 64, 16)
        self.predictor = mlp(16, 64, 16)

    def forward(self, x):
        return self.predictor(self.projector(self.encoder(x)))


torch.manual_seed(0)
student = Student()
teacher = copy.deepcopy(nn.Sequential(student.encoder, student.projector)).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
classes = torch.randn(6, 24) * 1.2


def views(count):
    y = torch.randint(0, 6, (count,))
    x = classes[y] + 0.5 * torch.randn(count, 24)
    return [x * (torch.rand(count, 24) > 0.25) + 0.3 * torch.randn(count, 24) for _ in range(2)] + [y]


def regression_loss(p, t):
    return 2 - 2 * F.cosine_similarity(p, t.detach(), dim=1).mean()


@torch.no_grad()
def follow(momentum):
    online = [*student.encoder.parameters(), *student.projector.parameters()]
    for slow, fast in zip(teacher.parameters(), online):
        slow.lerp_(fast, 1 - momentum)


@torch.no_grad()
def neighbours():
    student.eval()
    x, _, y = views(300)
    h = F.normalize(student.encoder(x), dim=1)
    similarity = (h @ h.t()).fill_diagonal_(-2)
    student.train()
    return (y[similarity.argmax(1)] == y).float().mean().item(), h.std(0).mean().item()


total = 300
for step in range(1, total + 1):
    a, b, _ = views(128)
    loss = 0.5 * (regression_loss(student(a), teacher(b)) + regression_loss(student(b), teacher(a)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    follow(1 - 0.04 * (math.cos(math.pi * step / total) + 1) / 2)
    if step % 60 == 0:
        print(f"step {step} loss {loss.item():.4f} neighbours and spread", *[round(v, 3) for v in neighbours()])
""",
)

healthy(
    "queue of old keys",
    """\
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)


class Memory:
    def __init__(self, size, width):
        self.keys = F.normalize(torch.randn(size, width), dim=1)
        self.head = 0

    def push(self, keys):
        self.keys[self.head : self.head + len(keys)] = keys
        self.head = (self.head + len(keys)) % len(self.keys)


def two_views(count):
    x = torch.randn(count, 6) @ mixing
    return x + 0.5 * torch.randn_like(x), x + 0.5 * torch.randn_like(x)


mixing = torch.randn(6, 20)
query_net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
key_net = copy.deepcopy(query_net)
for p in key_net.parameters():
    p.requires_grad = False
memory = Memory(512, 16)
optimizer = torch.optim.SGD(query_net.parameters(), lr=0.2, momentum=0.9, weight_decay=1e-4)
temperature = 0.1
for step in range(1, 601):
    a, b = two_views(32)
    q = F.normalize(query_net(a), dim=1)
    with torch.no_grad():
        for slow, fast in zip(key_net.parameters(), query_net.parameters()):
            slow.mul_(0.98).add_(fast, alpha=0.02)
        k = F.normalize(key_net(b), dim=1)
    positive = (q * k).sum(dim=1, keepdim=True)
    negative = q @ memory.keys.clone().t()
    logits = torch.cat([positive, negative], dim=1) / temperature
    loss = F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.push(k)
    if step == 1 or step % 100 == 0:
        with torch.no_grad():
            a, b = two_views(200)
            similarity = F.normalize(query_net(a), dim=1) @ F.normalize(query_net(b), dim=1).t()
        found = (similarity.argmax(1) == torch.arange(200)).float().mean().item()
        print(f"step {step} loss {loss.item():.3f} found {found:.3f}")
""",
)
