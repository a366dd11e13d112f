"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import healthy

healthy(
    "shuffled-answer classifier, hand-written Nesterov",
    """\
# 50 % of the training answers are replaced by a random class. The training loss cannot go
# far below its floor (1.23 here, while ln 5 = 1.61); the clean test set tells more.
import torch
import torch.nn.functional as F

torch.manual_seed(23)
K, P = 5, 64
prototypes = torch.randn(K, P)


def make(n):
    y = torch.randint(0, K, (n,))
    gain = 0.5 + torch.rand(n, 1)
    return gain * prototypes[y] + 1.5 * torch.randn(n, P), y


x, y_true = make(6000)
flip = torch.rand(len(x)) < 0.5
y = torch.where(flip, torch.randint(0, K, (len(x),)), y_true)
x_test, y_test = make(1000)


def parameter(*shape, scale):
    return (scale * torch.randn(*shape)).requires_grad_()


w1, b1 = parameter(P, 32, scale=P ** -0.5), torch.zeros(32, requires_grad=True)
w2, b2 = parameter(32, K, scale=0.01), torch.zeros(K, requires_grad=True)
params = [w1, b1, w2, b2]
velocity = [torch.zeros_like(p) for p in params]


def net(inputs):
    return torch.relu(inputs @ w1 + b1) @ w2 + b2


lr, mu = 0.02, 0.9
for epoch in range(7):
    seen = 0.0
    for idx in torch.randperm(len(x)).split(100):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for p, v, g in zip(params, velocity, grads):
                g = g + 4e-3 * p
                v.mul_(mu).add_(g)
                p.sub_(lr * (g + mu * v))
        seen += loss.item() * len(idx)
    lr *= 0.85
    if epoch % 2 == 0:
        with torch.no_grad():
            right = (net(x_test).argmax(1) == y_test).double().mean()
        print(f"epoch {epoch}: training loss {seen / len(x):.3f}, clean accuracy {right:.3f}")
""",
)

healthy(
    "rare lesions, unlabelled rim, accumulated micro-batches",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

VOID = 255
torch.manual_seed(50)


def scans(n, size=24):
    g = torch.arange(size)
    yy, xx = torch.meshgrid(g, g, indexing="ij")
    cy, cx = torch.randint(3, size - 3, (2, n, 1, 1))
    dist = ((yy - cy) ** 2 + (xx - cx) ** 2).float().sqrt()
    has = (torch.rand(n, 1, 1) < 0.6).float()
    image = 0.7 * torch.randn(n, size, size) + has * 1.8 * torch.exp(-(dist / 2.2) ** 2)
    label = ((dist <= 2) & (has > 0)).long()
    rim = (dist > 2) & (dist <= 2.8) & (has > 0)
    label[rim] = VOID
    return image.unsqueeze(1), label


class LesionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 5, padding=2)
        self.norm1 = nn.GroupNorm(3, 12)
        self.conv2 = nn.Conv2d(12, 12, 3, padding=2, dilation=2)
        self.head = nn.Conv2d(12, 2, 1)
        # one pixel in about seventy is a lesion: start there
        nn.init.zeros_(self.head.weight)
        with torch.no_grad():
            self.head.bias.copy_(torch.tensor([0.0, -4.0]))

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.conv2(x))
        return self.head(x)


net = LesionNet()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
images, labels = scans(300)
val_images, val_labels = scans(150)
weight = torch.tensor([1.0, 6.0])
MICRO, GROUP = 6, 4

for epoch in range(8):
    order = torch.randperm(len(images)).split(MICRO)
    pixel_loss, pixels = 0.0, 0
    for k in range(0, len(order), GROUP):
        group = order[k:k + GROUP]
        valid = sum(int((labels[idx] != VOID).sum()) for idx in group)
        for idx in group:
            loss = F.cross_entropy(net(images[idx]), labels[idx], weight=weight, ignore_index=VOID, reduction="sum")
            (loss / valid).backward()
            pixel_loss += loss.item()
        opt.step()
        opt.zero_grad()
        pixels += valid
    with torch.no_grad():
        guess = net(val_images).argmax(1)
    keep = val_labels != VOID
    tp = ((guess == 1) & (val_labels == 1)).sum().item()
    missed = ((guess == 1) != (val_labels == 1))[keep].sum().item()
    print(f"epoch {epoch} loss {pixel_loss / pixels:.4f} dice {2 * tp / max(2 * tp + missed, 1):.3f}")
""",
)

healthy(
    "quantised autoencoder with an averaged codebook",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Codebook(nn.Module):
    def __init__(self, size, dim, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(size, dim))
        self.register_buffer("count", torch.ones(size))
        self.register_buffer("total", self.codes.clone())

    def forward(self, z):
        with torch.no_grad():
            index = torch.cdist(z, self.codes).argmin(dim=1)
            if self.training:
                hot = F.one_hot(index, len(self.codes)).float()
                self.count.lerp_(hot.sum(0), 1 - self.decay)
                self.total.lerp_(hot.t() @ z, 1 - self.decay)
                self.codes.copy_(self.total / self.count.clamp(min=1e-3).unsqueeze(1))
                # put codes that nobody uses onto some encoder outputs
                dead = (self.count < 0.05).nonzero().flatten()
                if len(dead):
                    fresh = z[torch.randint(0, len(z), (len(dead),))]
                    self.codes[dead] = fresh
                    self.total[dead] = fresh
                    self.count[dead] = 1.0
            q = self.codes[index]
        commitment = F.mse_loss(z, q)
        return z + (q - z).detach(), commitment, index


class QuantisedAE(nn.Module):
    def __init__(self, pixels, parts=4, dim=6, size=32):
        super().__init__()
        self.parts, self.dim = parts, dim
        self.encoder = nn.Sequential(nn.Linear(pixels, 96), nn.ReLU(), nn.Linear(96, parts * dim))
        self.book = Codebook(size, dim)
        self.decoder = nn.Sequential(nn.Linear(parts * dim, 96), nn.ReLU(), nn.Linear(96, pixels))

    def forward(self, x):
        z = self.encoder(x).view(-1, self.dim)
        q, commitment, index = self.book(z)
        return self.decoder(q.view(len(x), -1)), commitment, index


def bars(n, size=8):
    rows = (torch.rand(n, size, 1) < 0.2).float()
    cols = (torch.rand(n, 1, size) < 0.2).float()
    return torch.maximum(rows, cols).expand(n, size, size).reshape(n, -1)


torch.manual_seed(12)
train, test = bars(3000), bars(500)
model = QuantisedAE(64)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(18):
    model.train()
    for batch in train[torch.randperm(len(train))].split(100):
        out, commitment, _ = model(batch)
        loss = F.mse_loss(out, batch) + 0.1 * commitment
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 1:
        model.eval()
        with torch.no_grad():
            out, commitment, index = model(test)
        share = (F.mse_loss(out, test) / test.var(0).mean()).item()
        print(f"epoch {epoch} unexplained {share:.3f} commitment {commitment.item():.3f} codes used {index.unique().numel()}")
""",
)

healthy(
    "student of a dropout teacher sampled on purpose",
    """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(61)


def two_arms(n):
    label = torch.randint(0, 3, (n,))
    t = torch.rand(n) * 2.5 + 0.3
    angle = 1.3 * t + label * 2 * torch.pi / 3
    xy = torch.stack([t * torch.cos(angle), t * torch.sin(angle)], dim=1)
    return xy + 0.25 * torch.randn(n, 2), label


def network(width, p):
    return nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Dropout(p),
                         nn.Linear(width, width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, 3))


@torch.no_grad()
def predictive(teacher, x, draws=8):
    # the dropout stays on here: the mean over masks is the answer we distil
    teacher.train()
    logs = torch.stack([F.log_softmax(teacher(x), dim=1) for _ in range(draws)])
    return torch.logsumexp(logs, dim=0) - math.log(draws)


x, y = two_arms(500)
x_test, y_test = two_arms(2000)
pool = 2.2 * torch.randn(3000, 2)        # no labels, not even the same distribution

teacher = network(128, 0.3)
opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for epoch in range(60):
    loss = F.cross_entropy(teacher(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
logp = predictive(teacher, x_test, draws=30)
print(f"teacher: accuracy {(logp.argmax(1) == y_test).float().mean():.3f} nll {F.nll_loss(logp, y_test):.3f}")

student = network(24, 0.0)
opt = torch.optim.Adam(student.parameters(), lr=5e-3)
for epoch in range(16):
    gap = 0.0
    for points in pool[torch.randperm(len(pool))].split(100):
        goal = predictive(teacher, points)
        loss = F.kl_div(F.log_softmax(student(points), dim=1), goal, reduction="batchmean", log_target=True)
        opt.zero_grad()
        loss.backward()
        opt.step()
        gap += loss.item() * len(points) / len(pool)
    if epoch % 5 == 0:
        with torch.no_grad():
            logp = F.log_softmax(student(x_test), dim=1)
        print(f"epoch {epoch} kl {gap:.4f} accuracy {(logp.argmax(1) == y_test).float().mean():.3f} nll {F.nll_loss(logp, y_test):.3f}")
""",
)

healthy(
    "noise regression from a zero output layer, warm-up per step",
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(19)
STEPS = 60
log_snr = torch.linspace(7.0, -6.0, STEPS)
signal, sigma = torch.sigmoid(log_snr).sqrt(), torch.sigmoid(-log_snr).sqrt()

mix = torch.tensor([[1.0, 0.8, 0.0, -0.5], [0.0, 0.4, 1.0, 0.6]])


def source(n):
    sign = torch.randint(0, 2, (n, 2)).float() * 2 - 1
    return (sign + 0.1 * torch.randn(n, 2)) @ mix


class Net(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = nn.Embedding(STEPS, width)
        self.inp = nn.Linear(4, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 4)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        h = torch.nn.functional.silu(self.inp(x) + self.time(t))
        return self.out(h + torch.nn.functional.silu(self.mid(h)))


def generate(net, n):
    x = torch.randn(n, 4)
    with torch.no_grad():
        for k in range(STEPS - 1, -1, -1):
            eps = net(x, torch.full((n,), k, dtype=torch.long))
            x0 = ((x - sigma[k] * eps) / signal[k]).clamp(-4, 4)
            if k == 0:
                return x0
            eps = (x - signal[k] * x0) / sigma[k]
            x = signal[k - 1] * x0 + sigma[k - 1] * eps


def energy(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


total_steps, warmup = 1200, 150
net = Net()
smooth = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: min(1.0, (s + 1) / warmup) * 0.5 * (1 + math.cos(math.pi * s / total_steps)))

recent = 1.0
for step in range(1, total_steps + 1):
    x0 = source(128)
    t = torch.randint(0, STEPS, (128,))
    eps = torch.randn_like(x0)
    loss = (net(signal[t, None] * x0 + sigma[t, None] * eps, t) - eps).square().mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    sched.step()
    smooth.update_parameters(net)
    recent = 0.99 * recent + 0.01 * loss.item()
    if step % 240 == 0:
        print(f"step {step} loss {recent:.3f} energy distance {energy(generate(smooth, 800), source(800)):.4f}")
""",
)

healthy(
    "two networks agree without negatives, momentum target",
    """\
import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(77)
random.seed(77)
basis = torch.randn(6, 24)


def signals(n):
    kind = torch.randint(0, 6, (n,))
    return basis[kind] + 0.5 * torch.randn(n, 24), kind


nuisance = torch.randn(8, 24)


def view(x):
    # what may change without changing the kind: eight directions and the scale
    return random.uniform(0.7, 1.4) * x + 1.5 * torch.randn(len(x), 8) @ nuisance / 2 + 0.3 * torch.randn_like(x)


def projector(n_in, hidden, n_out):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, n_out))


online = nn.Sequential(projector(24, 96, 32), nn.ReLU(), projector(32, 64, 16))
predictor = projector(16, 64, 16)
target = copy.deepcopy(online).requires_grad_(False)

optimizer = torch.optim.SGD([
    {"params": online.parameters(), "lr": 0.05},
    {"params": predictor.parameters(), "lr": 0.5, "weight_decay": 0.0},
], momentum=0.9, weight_decay=5e-4)


def agreement(a, b):
    return -F.cosine_similarity(predictor(online(a)), target(b).detach(), dim=1).mean()


def knn(train, test, k=15):
    f = online[0].eval()
    with torch.no_grad():
        a, b = F.normalize(f(train[0]), dim=1), F.normalize(f(test[0]), dim=1)
    online[0].train()
    near = (b @ a.t()).topk(k, dim=1).indices
    return (train[1][near].mode(dim=1).values == test[1]).float().mean().item()


def observed(n):
    x, kind = signals(n)
    return view(x), kind


unlabelled = signals(3000)[0]
memory, query = observed(600), observed(400)
print(f"knn at the start {knn(memory, query):.3f}")
for epoch in range(12):
    value = 0.0
    for idx in torch.randperm(len(unlabelled)).split(150):
        a, b = view(unlabelled[idx]), view(unlabelled[idx])
        loss = agreement(a, b) + agreement(b, a)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), online.parameters()):
                slow.mul_(0.98).add_(fast, alpha=0.02)
        value += loss.item() / (len(unlabelled) // 150)
    if epoch % 3 == 2:
        with torch.no_grad():
            spread = F.normalize(target(unlabelled[:500]), dim=1).std(0).mean().item()
        print(f"epoch {epoch} loss {value:.3f} spread {spread:.3f} knn {knn(memory, query):.3f}")
""",
)

healthy(
    "bias-only tuning of a network in eval mode",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
task = torch.randn(10, 4)


def batch_of(n, offset=0.0):
    x = torch.randn(n, 10)
    y = (torch.tanh(x + offset) @ task).argmax(dim=1)
    return x, y


body = nn.Sequential(
    nn.Linear(10, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 4),
)


def score(x, y):
    body.eval()
    with torch.no_grad():
        return (body(x).argmax(1) == y).float().mean().item()


# stage one: plenty of data
x, y = batch_of(6000)
opt = torch.optim.Adam(body.parameters(), lr=3e-3)
for _ in range(6):
    body.train()
    for idx in torch.randperm(len(x)).split(100):
        loss = F.cross_entropy(body(x[idx]), y[idx])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
print("source accuracy", round(score(*batch_of(1000)), 3))

# stage two: 200 examples of a task with another offset. Weights, running statistics and dropout rest,
# so that batches of five cannot upset them; only the biases are tuned.
offset = 1.4 * torch.randn(10)
small_x, small_y = batch_of(200, offset)
test_x, test_y = batch_of(2000, offset)
print("before tuning", round(score(test_x, test_y), 3))

tunable = []
for name, p in body.named_parameters():
    p.requires_grad = name.endswith(".bias")
    if p.requires_grad:
        tunable.append(p)
print(sum(p.numel() for p in tunable), "of", sum(p.numel() for p in body.parameters()), "values are tuned")

opt = torch.optim.SGD(tunable, lr=0.03, momentum=0.8)
body.eval()
for epoch in range(30):
    mean_loss = 0.0
    for idx in torch.randperm(200).split(5):
        loss = F.cross_entropy(body(small_x[idx]), small_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        mean_loss += loss.item() / 40
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1} loss {mean_loss:.3f} accuracy {score(test_x, test_y):.3f}")
""",
)

healthy(
    "two heads, one behind a reversed gradient",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class ScanNet(nn.Module):
    \"\"\"Tissue from a scan, by features that do not tell which scanner took it.\"\"\"

    def __init__(self, n_in, n_tissue, n_scanner):
        super().__init__()
        self.features = nn.Linear(n_in, 6)
        self.tissue = nn.Linear(6, n_tissue)
        self.scanner = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, n_scanner))

    def forward(self, x, strength):
        f = self.features(x)
        return self.tissue(f), self.scanner(Reverse.apply(f, strength))


torch.manual_seed(15)
TISSUES, SCANNERS, DIM = 3, 4, 24
profile = torch.randn(TISSUES, DIM)
tint = torch.randn(SCANNERS, DIM)


def scans(n):
    tissue = torch.randint(0, TISSUES, (n,))
    scanner = torch.randint(0, SCANNERS, (n,))
    return profile[tissue] + tint[scanner] + 1.2 * torch.randn(n, DIM), tissue, scanner


def scanner_probe(net, train, test):
    # a fresh classifier on the frozen features
    with torch.no_grad():
        f, g = net.features(train[0]), net.features(test[0])
    probe = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, SCANNERS))
    opt = torch.optim.Adam(probe.parameters(), lr=1e-2)
    for _ in range(100):
        opt.zero_grad()
        F.cross_entropy(probe(f), train[2]).backward()
        opt.step()
    return (probe(g).argmax(1) == test[2]).float().mean().item()


train, test = scans(3000), scans(800)
net = ScanNet(DIM, TISSUES, SCANNERS)
opt = torch.optim.Adam([
    {"params": net.features.parameters(), "lr": 1e-3},
    {"params": net.tissue.parameters(), "lr": 1e-3},
    {"params": net.scanner.parameters(), "lr": 1e-2},
])
for epoch in range(20):
    strength = 0.0 if epoch < 4 else 0.3
    sums = torch.zeros(2)
    for idx in torch.randperm(len(train[0])).split(60):
        tissue, scanner = net(train[0][idx], strength)
        losses = torch.stack([F.cross_entropy(tissue, train[1][idx]), F.cross_entropy(scanner, train[2][idx])])
        opt.zero_grad()
        losses.sum().backward()
        opt.step()
        sums += losses.detach() / 50
    if epoch % 4 == 3:
        with torch.no_grad():
            acc = (net(test[0], 0.0)[0].argmax(1) == test[1]).float().mean().item()
        print(f"epoch {epoch} tissue loss {sums[0]:.3f} scanner loss {sums[1]:.3f} "
              f"tissue accuracy {acc:.3f} probe for the scanner {scanner_probe(net, train, test):.3f}")
""",
)
