"""Programs that only look suspicious: programs that are right.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "reservoir with a trained readout",
    """\
import math

import torch
from torch import nn

torch.manual_seed(0)


class EchoState(nn.Module):
    # The recurrent part stays as drawn; only the readout learns.
    def __init__(self, size=150, radius=0.9):
        super().__init__()
        self.core = nn.RNN(1, size, batch_first=True)
        with torch.no_grad():
            weight = torch.randn(size, size)
            self.core.weight_hh_l0.copy_(weight * radius / torch.linalg.eigvals(weight).abs().max())
            self.core.weight_ih_l0.uniform_(-0.5, 0.5)
        self.core.requires_grad_(False)
        self.readout = nn.Linear(size, 1)

    def forward(self, x):
        with torch.no_grad():
            states, _ = self.core(x)
        return self.readout(states[:, 20:])


def series(n, length=100):
    t = torch.arange(length + 1) * 0.3 + 2 * math.pi * torch.rand(n, 1)
    y = torch.sin(t) * torch.cos(0.37 * t)
    return y[:, :-1, None], y[:, 21:, None]


model = EchoState()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=5e-3)
for step in range(1, 301):
    x, y = series(16)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        print(f"step {step}: one-step-ahead mse {loss.item():.5f}")
""",
)

healthy(
    "longer series as it learns",
    """\
import torch
from torch import nn

torch.manual_seed(1)


class Parity(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, bits):
        return self.out(self.gru(bits.unsqueeze(-1) * 2 - 1)[0]).squeeze(-1)


def batch(length, n=64):
    bits = torch.randint(0, 2, (n, length)).float()
    return bits, bits.cumsum(1) % 2


model = Parity()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
length, steps_here, smooth = 2, 0, 0.7
for step in range(1, 401):
    bits, parity = batch(length)
    loss = nn.functional.binary_cross_entropy_with_logits(model(bits), parity)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    smooth = 0.9 * smooth + 0.1 * loss.item()
    steps_here += 1
    if smooth < 0.1 and steps_here > 20 and length < 24:
        print(f"step {step}: loss {smooth:.4f} at length {length}, going on to {min(24, 2 * length)}")
        length, steps_here, smooth = min(24, 2 * length), 0, 0.7
with torch.no_grad():
    bits, parity = batch(24, 500)
    right = ((model(bits) > 0) == (parity > 0)).float().mean().item()
print(f"final length {length}, loss {smooth:.4f}, accuracy at 24: {right:.3f}")
""",
)

healthy(
    "logistic regression by a second-order method",
    """\
import torch
import torch.nn.functional as F

torch.manual_seed(2)
x = torch.randn(800, 10, dtype=torch.float64)
true_w = torch.randn(10, dtype=torch.float64)
y = torch.bernoulli(torch.sigmoid(x @ true_w))
x_test = torch.randn(400, 10, dtype=torch.float64)
y_test = torch.bernoulli(torch.sigmoid(x_test @ true_w))

w = torch.zeros(10, dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=1.0, max_iter=1, tolerance_change=0.0, line_search_fn="strong_wolfe")


def objective():
    return F.binary_cross_entropy_with_logits(x @ w, y) + 5e-4 * w.square().sum()


def closure():
    optimizer.zero_grad()
    loss = objective()
    loss.backward()
    return loss


for iteration in range(1, 61):
    loss = optimizer.step(closure)
    if iteration % 15 == 0 or iteration < 4:
        with torch.no_grad():
            acc = ((x_test @ w > 0) == (y_test > 0)).double().mean()
        print(f"iteration {iteration}: objective {loss.item():.10f}, |grad| {w.grad.norm():.1e}, test acc {acc:.3f}")
""",
)

healthy(
    "small batches added up",
    """\
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(3)
VOCAB, PAD, ACCUMULATE = 20, 0, 8
follow = torch.cat([torch.zeros(1, dtype=torch.long), torch.randperm(VOCAB - 1) + 1])


def sentence():
    words = [int(torch.randint(1, VOCAB, ()))]
    for _ in range(int(torch.randint(4, 15, ()))):
        noise = torch.rand(()) < 0.05
        words.append(int(torch.randint(1, VOCAB, ())) if noise else int(follow[words[-1]]))
    return torch.tensor(words)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 24, padding_idx=PAD)
        self.lstm = nn.LSTM(24, 48, batch_first=True)
        self.out = nn.Linear(48, VOCAB)

    def forward(self, x):
        return self.out(self.lstm(self.embed(x))[0])


corpus = [sentence() for _ in range(1024)]
micro = [pad_sequence(corpus[i : i + 4], batch_first=True, padding_value=PAD) for i in range(0, 1024, 4)]
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")
for epoch in range(3):
    order = torch.randperm(len(micro)).tolist()
    for start in range(0, len(order), ACCUMULATE):
        group = [micro[i] for i in order[start : start + ACCUMULATE]]
        n_tokens = sum(int((tokens[:, 1:] != PAD).sum()) for tokens in group)
        total = 0.0
        optimizer.zero_grad()
        for tokens in group:
            logits = model(tokens[:, :-1])
            loss = criterion(logits.flatten(0, 1), tokens[:, 1:].flatten()) / n_tokens
            loss.backward()
            total += loss.item()
        optimizer.step()
        if (start // ACCUMULATE) % 8 == 7:
            print(f"epoch {epoch}, update {start // ACCUMULATE + 1}: loss per token {total:.3f}")
""",
)

healthy(
    "teacher that follows its student",
    """\
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)


def moons(n):
    angle, side = torch.rand(n) * 3.1416, torch.randint(0, 2, (n,))
    x = torch.stack([angle.cos() + side * 1.0, angle.sin() * (1 - 2 * side) + side * 0.5], dim=1)
    return x + 0.1 * torch.randn(n, 2), side


few_x, few_y = moons(24)
many_x, _ = moons(1000)
test_x, test_y = moons(1000)
student = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)


def accuracy(net):
    with torch.no_grad():
        return (net(test_x).argmax(1) == test_y).float().mean().item()


for step in range(1, 501):
    rows = torch.randint(0, len(many_x), (64,))
    noisy_a = many_x[rows] + 0.1 * torch.randn(64, 2)
    noisy_b = many_x[rows] + 0.1 * torch.randn(64, 2)
    with torch.no_grad():
        wanted = teacher(noisy_b).softmax(1)
    ramp = min(1.0, step / 200)
    supervised = F.cross_entropy(student(few_x), few_y)
    consistency = F.mse_loss(student(noisy_a).softmax(1), wanted)
    loss = supervised + 5.0 * ramp * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        decay = min(0.99, 1 - 1 / (step + 1))
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.mul_(decay).add_(fast, alpha=1 - decay)
    if step % 100 == 0:
        print(
            f"step {step}: supervised {supervised.item():.4f}, consistency {consistency.item():.4f}, "
            f"student {accuracy(student):.3f}, teacher {accuracy(teacher):.3f}"
        )
""",
)

healthy(
    "flat minima by two passes",
    """\
import torch
from torch import nn

torch.manual_seed(5)


class SAM:
    # Climbs to the worst point nearby, takes the gradient there and steps from where it stood.
    def __init__(self, params, base, rho=0.05):
        self.params, self.base, self.rho = list(params), base, rho

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.saved = [p.clone() for p in self.params]
        for p in self.params:
            p.add_(p.grad, alpha=self.rho / norm.item())
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, old in zip(self.params, self.saved):
            p.copy_(old)
        self.base.step()
        self.base.zero_grad()


w = torch.randn(15)
table = torch.randn(1400, 15)
labels = ((table @ w + table[:, 0] * table[:, 1]) > 0).long()
train_x, train_y, test_x, test_y = table[:600], labels[:600], table[600:], labels[600:]
model = nn.Sequential(nn.Linear(15, 64), nn.ReLU(), nn.Linear(64, 2))
criterion = nn.CrossEntropyLoss()
sam = SAM(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
for epoch in range(1, 26):
    for rows in torch.randperm(600).split(50):
        loss = criterion(model(train_x[rows]), train_y[rows])
        loss.backward()
        sam.climb()
        criterion(model(train_x[rows]), train_y[rows]).backward()
        sam.descend()
    if epoch % 5 == 0:
        with torch.no_grad():
            train_loss = criterion(model(train_x), train_y).item()
            acc = (model(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch}: train loss {train_loss:.4f}, test accuracy {acc:.3f}")
""",
)

healthy(
    "evolution of a small net",
    """\
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(6)
torch.set_grad_enabled(False)
x = torch.rand(256, 1) * 4 - 2
y = x.pow(2) - x
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
SIGMA, PAIRS = 0.05, 16


def fitness(vector):
    vector_to_parameters(vector, model.parameters())
    return -nn.functional.mse_loss(model(x), y)


for generation in range(1, 301):
    centre = parameters_to_vector(model.parameters())
    noise = torch.randn(PAIRS, centre.numel())
    plus = torch.stack([fitness(centre + SIGMA * e) for e in noise])
    minus = torch.stack([fitness(centre - SIGMA * e) for e in noise])
    scores = (plus - minus) / (torch.cat([plus, minus]).std() + 1e-8)
    direction = scores @ noise / (2 * PAIRS * SIGMA)
    vector_to_parameters(centre, model.parameters())
    offset = 0
    for p in model.parameters():
        p.grad = -direction[offset : offset + p.numel()].view_as(p)
        offset += p.numel()
    optimizer.step()
    if generation % 50 == 0:
        mse = nn.functional.mse_loss(model(x), y).item()
        print(f"generation {generation}: best {plus.max():.4f}, mean {plus.mean():.4f}, mse now {mse:.4f}")
""",
)

healthy(
    "features that hide the domain",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.weight * grad, None


def rows(n, shifted):
    label = torch.randint(0, 2, (n,))
    signal = (2 * label - 1).float().unsqueeze(1) + 0.5 * torch.randn(n, 3)
    site = torch.randn(n, 3) + (1.0 if shifted else -1.0)
    return torch.cat([signal, site], dim=1), label


features = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 8))
label_head = nn.Linear(8, 2)
domain_head = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(
    [
        {"params": [*features.parameters(), *label_head.parameters()], "lr": 5e-4},
        {"params": domain_head.parameters(), "lr": 5e-3},
    ]
)
domain = torch.cat([torch.zeros(64), torch.ones(64)])
for step in range(1, 601):
    source_x, source_y = rows(64, False)
    target_x, _ = rows(64, True)
    h = features(torch.cat([source_x, target_x]))
    weight = min(1.0, step / 200)
    label_loss = F.cross_entropy(label_head(h[:64]), source_y)
    domain_logits = domain_head(Reverse.apply(h, weight)).squeeze(1)
    domain_loss = F.binary_cross_entropy_with_logits(domain_logits, domain)
    loss = label_loss + domain_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            x, y = rows(500, True)
            acc = (label_head(features(x)).argmax(1) == y).float().mean().item()
        print(f"step {step}: label {label_loss:.3f}, domain {domain_loss:.3f}, target accuracy {acc:.3f}")
""",
)

healthy(
    "posterior by noisy steps",
    """\
import math

import torch

torch.manual_seed(8)
n, noise_std, prior_std = 200, 0.5, 2.0
design = torch.stack([torch.ones(n), torch.linspace(-1, 1, n)], dim=1)
target = design @ torch.tensor([0.7, -1.2]) + noise_std * torch.randn(n)
precision = design.T @ design / noise_std**2 + torch.eye(2) / prior_std**2
exact_mean = torch.linalg.solve(precision, design.T @ target / noise_std**2)
exact_std = torch.linalg.inv(precision).diagonal().sqrt()


def energy(theta):
    # Minus the log of the posterior of every chain, up to a constant.
    misfit = (target - theta @ design.T).square().sum(1) / (2 * noise_std**2)
    return misfit + theta.square().sum(1) / (2 * prior_std**2)


chains = torch.randn(32, 2, requires_grad=True)
optimizer = torch.optim.SGD([chains], lr=2e-4)
kept = []
for step in range(1, 1001):
    loss = energy(chains).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        chains.add_(torch.randn_like(chains), alpha=math.sqrt(2 * 2e-4))
    if step > 200 and step % 5 == 0:
        kept.append(chains.detach().clone())
    if step % 200 == 0:
        print(f"step {step}: mean energy {loss.item() / 32:.3f}")
samples = torch.cat(kept)
print(f"mean {samples.mean(0).tolist()} (exact {exact_mean.tolist()})")
print(f"std {samples.std(0).tolist()} (exact {exact_std.tolist()})")
""",
)

healthy(
    "word vectors from rare and common words",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
VOCAB, TOPICS, DIM, NEGATIVES = 2000, 8, 16, 5
topic = torch.arange(VOCAB) % TOPICS
frequency = 1.0 / (torch.arange(VOCAB) + 10.0)


def pairs(n):
    centre = torch.multinomial(frequency, n, replacement=True)
    context = torch.multinomial(frequency, n, replacement=True)
    return centre, context - topic[context] + topic[centre]


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.centre = nn.Embedding(VOCAB, DIM, sparse=True)
        self.context = nn.Embedding(VOCAB, DIM, sparse=True)
        nn.init.uniform_(self.centre.weight, -0.5 / DIM, 0.5 / DIM)
        nn.init.zeros_(self.context.weight)

    def forward(self, centre, context, wrong):
        c = self.centre(centre)
        good = (c * self.context(context)).sum(-1)
        bad = torch.einsum("bd,bkd->bk", c, self.context(wrong))
        return -(F.logsigmoid(good) + F.logsigmoid(-bad).sum(1)).mean()


model = SkipGram()
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.02)
for step in range(1, 401):
    centre, context = pairs(256)
    wrong = torch.multinomial(frequency**0.75, 256 * NEGATIVES, replacement=True).view(256, NEGATIVES)
    loss = model(centre, context, wrong)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        with torch.no_grad():
            vectors = F.normalize(model.centre.weight[:200], dim=1)
            near = (vectors @ vectors.T - 2 * torch.eye(200)).argmax(1)
            same = (topic[near] == topic[:200]).float().mean().item()
        print(f"step {step}: loss {loss.item():.3f}, neighbours of the same topic {same:.2f}")
""",
)

healthy(
    "adversarial training with PGD",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
protos = torch.randn(6, 1, 10, 10)
EPS, ALPHA, STEPS = 0.15, 0.05, 5


def batch(n):
    y = torch.randint(0, 6, (n,))
    return 0.4 * protos[y] + 0.5 * torch.randn(n, 1, 10, 10), y


def attack(model, x, y):
    delta = torch.empty_like(x).uniform_(-EPS, EPS)
    for _ in range(STEPS):
        delta.requires_grad_(True)
        loss = F.cross_entropy(model(x + delta), y)
        (grad,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + ALPHA * grad.sign()).clamp(-EPS, EPS)
    return (x + delta).detach()


model = nn.Sequential(
    nn.Conv2d(1, 12, 3), nn.ReLU(), nn.Conv2d(12, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 9, 6)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(1, 201):
    x, y = batch(64)
    x_adv = attack(model, x, y)
    loss = F.cross_entropy(model(x_adv), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        x, y = batch(300)
        x_adv = attack(model, x, y)
        with torch.no_grad():
            clean = (model(x).argmax(1) == y).float().mean().item()
            robust = (model(x_adv).argmax(1) == y).float().mean().item()
        print(f"step {step}: loss {loss.item():.4f} clean {clean:.3f} robust {robust:.3f}")
""",
)

healthy(
    "linear probe on a frozen backbone in eval mode",
    """\
import torch
import torch.nn as nn

torch.manual_seed(1)
protos = torch.randn(12, 1, 12, 12)


def batch(low, high, n=64):
    y = torch.randint(low, high, (n,))
    return protos[y] + 1.5 * torch.randn(n, 1, 12, 12), y - low


backbone = nn.Sequential(
    nn.Conv2d(1, 16, 3, stride=2, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
    nn.Conv2d(16, 32, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten(), nn.Dropout(0.2),
)  # fmt: skip
old_head = nn.Linear(32 * 9, 8)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam([*backbone.parameters(), *old_head.parameters()], lr=1e-3)
for step in range(1, 151):
    x, y = batch(0, 8)
    loss = criterion(old_head(backbone(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"pretraining {step}: loss {loss.item():.4f}")

backbone.requires_grad_(False)
backbone.eval()
probe = nn.Linear(32 * 9, 4)
nn.init.zeros_(probe.weight)
nn.init.zeros_(probe.bias)
optimizer = torch.optim.SGD(probe.parameters(), lr=0.03, momentum=0.9)
for step in range(1, 151):
    x, y = batch(8, 12)
    with torch.no_grad():
        features = backbone(x)
    logits = probe(features)
    loss = criterion(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        x, y = batch(8, 12, 400)
        with torch.no_grad():
            acc = (probe(backbone(x)).argmax(1) == y).float().mean().item()
        print(f"probe {step}: loss {loss.item():.4f} test accuracy {acc:.3f}")
""",
)

healthy(
    "balanced GAN with flat losses",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LinearLR

torch.manual_seed(2)
mix = torch.tensor([[1.2, 0.4], [0.0, 0.5]])
shift = torch.tensor([2.0, -1.0])
G = nn.Linear(2, 2)
D = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
g_opt = torch.optim.Adam(G.parameters(), lr=1e-2, betas=(0.5, 0.99))
d_opt = torch.optim.Adam(D.parameters(), lr=5e-3, betas=(0.5, 0.99), weight_decay=1e-3)
schedules = [LinearLR(opt, 1.0, 0.05, total_iters=700) for opt in (g_opt, d_opt)]

for step in range(1, 701):
    real = torch.randn(128, 2) @ mix.T + shift
    fake = G(torch.randn(128, 2))

    d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake.detach())).mean()
    d_opt.zero_grad(set_to_none=True)
    d_loss.backward()
    d_opt.step()

    for p in D.parameters():
        p.requires_grad_(False)
    g_loss = F.softplus(-D(fake)).mean()
    g_opt.zero_grad(set_to_none=True)
    g_loss.backward()
    g_opt.step()
    for p in D.parameters():
        p.requires_grad_(True)
    for schedule in schedules:
        schedule.step()

    if step % 100 == 0:
        with torch.no_grad():
            off = (G.bias - shift).norm().item()
            cov = (G.weight @ G.weight.T - mix @ mix.T).norm().item()
        print(f"{step}: D {d_loss.item():.3f} G {g_loss.item():.3f} | mean off by {off:.3f} covariance by {cov:.3f}")
""",
)

healthy(
    "beta-VAE with a warm-up that raises the loss",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, kl_divergence

torch.manual_seed(3)
grid = torch.linspace(-1, 1, 10)
yy, xx = torch.meshgrid(grid, grid, indexing="ij")


def sample(n):
    c = torch.rand(n, 2, 1, 1) * 1.4 - 0.7
    return torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / 0.15).flatten(1)


class VAE(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(100, 96), nn.SiLU(), nn.Linear(96, 2 * latent))
        self.dec = nn.Sequential(nn.Linear(latent, 96), nn.SiLU(), nn.Linear(96, 100))

    def forward(self, x):
        mu, raw = self.enc(x).chunk(2, dim=1)
        posterior = Normal(mu, F.softplus(raw) + 1e-4)
        return self.dec(posterior.rsample()), posterior


model = VAE()
prior = Normal(0.0, 1.0)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
total_steps = 800
for step in range(1, total_steps + 1):
    beta = min(1.0, max(0.0, (step - 200) / 400))
    x = sample(64)
    recon, posterior = model(x)
    nll = ((recon - x) ** 2).sum(1).mean() / (2 * 0.15**2)
    kl = kl_divergence(posterior, prior).sum(1).mean()
    loss = nll + beta * kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step} beta {beta:.2f} loss {loss.item():.3f} nll {nll.item():.3f} kl {kl.item():.3f}")
""",
)

healthy(
    "segmentation with accumulated gradients",
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Discs(Dataset):
    def __init__(self, n, seed, size=16):
        g = torch.Generator().manual_seed(seed)
        axis = torch.arange(size)
        center = torch.randint(3, size - 3, (n, 2, 1, 1), generator=g)
        radius = torch.randint(2, 5, (n, 1, 1), generator=g)
        distance = (axis[:, None] - center[:, 0]) ** 2 + (axis[None, :] - center[:, 1]) ** 2
        self.masks = (distance <= radius**2).float().unsqueeze(1)
        self.images = self.masks + 0.5 * torch.randn(self.masks.shape, generator=g)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


def dice_loss(logits, target, eps=1.0):
    prob = logits.sigmoid()
    inter = (prob * target).sum((1, 2, 3))
    return 1 - ((2 * inter + eps) / (prob.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


torch.manual_seed(4)
train_loader = DataLoader(Discs(320, 0), batch_size=4, shuffle=True, drop_last=True)
val_loader = DataLoader(Discs(64, 1), batch_size=64)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(),
    nn.Conv2d(8, 16, 3, padding=2, dilation=2), nn.ReLU(),
    nn.Conv2d(16, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1),
)  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
accumulate = 4
for epoch in range(6):
    running = 0.0
    optimizer.zero_grad()
    for i, (image, mask) in enumerate(train_loader, start=1):
        loss = dice_loss(model(image), mask)
        (loss / accumulate).backward()
        running += loss.item()
        if i % accumulate == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        val = sum(dice_loss(model(image), mask).item() for image, mask in val_loader) / len(val_loader)
    print(f"epoch {epoch}: train dice loss {running / len(train_loader):.4f} val {val:.4f}")
""",
)

healthy(
    "sharpness aware steps",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM:
    def __init__(self, params, base, rho=0.05):
        self.params = [p for p in params if p.requires_grad]
        self.base, self.rho = base, rho

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm()
        self.moves = [p.grad * (self.rho / (norm + 1e-12)) for p in self.params]
        for p, move in zip(self.params, self.moves):
            p.add_(move)

    @torch.no_grad()
    def descend(self):
        for p, move in zip(self.params, self.moves):
            p.sub_(move)
        self.base.step()


torch.manual_seed(5)
protos = torch.randn(8, 3, 8, 8)
y_train = torch.randint(0, 8, (640,))
x_train = protos[y_train] + 1.8 * torch.randn(640, 3, 8, 8)
y_test = torch.randint(0, 8, (400,))
x_test = protos[y_test] + 1.8 * torch.randn(400, 3, 8, 8)
net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16 * 9, 8))
base = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
sam = SAM(net.parameters(), base)
for epoch in range(8):
    order = torch.randperm(640)
    for pick in order.split(64):
        x, y = x_train[pick], y_train[pick]
        net.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        sam.climb()
        net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        sam.descend()
    with torch.no_grad():
        acc = (net(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.4f} test accuracy {acc:.3f}")
""",
)

healthy(
    "self-distillation with a momentum target",
    """\
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
protos = torch.randn(5, 64)


def views(n):
    y = torch.randint(0, 5, (n,))
    x = protos[y]
    return x + 1.4 * torch.randn_like(x), x + 1.4 * torch.randn_like(x), y


def mlp(a, b, c):
    return nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Linear(b, c))


online, predictor = mlp(64, 64, 16), mlp(16, 32, 16)
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam([*online.parameters(), *predictor.parameters()], lr=1e-3)


def distance(p, z):
    return 2 - 2 * F.cosine_similarity(p, z.detach(), dim=1).mean()


for step in range(1, 401):
    a, b, _ = views(128)
    with torch.no_grad():
        za, zb = target(a), target(b)
    loss = distance(predictor(online(a)), zb) + distance(predictor(online(b)), za)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for po, pt in zip(online.parameters(), target.parameters()):
            pt.lerp_(po, 0.01)
    if step % 80 == 0:
        online.eval()
        with torch.no_grad():
            a, _, ya = views(400)
            b, _, yb = views(400)
            fa, fb = F.normalize(online(a), dim=1), F.normalize(online(b), dim=1)
            knn = (yb[(fa @ fb.T).argmax(1)] == ya).float().mean().item()
            spread = fa.std(0).mean().item()
        online.train()
        print(f"step {step}: loss {loss.item():.4f} nearest neighbour {knn:.3f} spread {spread:.3f}")
""",
)

healthy(
    "evolved convolution kernels",
    """\
import torch
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_grad_enabled(False)
POP, SIGMA, LR = 40, 0.1, 0.1
edge = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]]).view(1, 1, 3, 3) / 4


def shape_like(flat):
    return flat[:9].view(1, 1, 3, 3), flat[9:10]


def fitness(flat, x, y):
    kernel, bias = shape_like(flat)
    return -F.mse_loss(F.conv2d(x, kernel, bias), y)


theta = torch.zeros(10, requires_grad=False)
for generation in range(1, 201):
    x = torch.randn(16, 1, 12, 12)
    y = F.conv2d(x, edge) + 0.3
    half = torch.randn(POP // 2, 10)
    noise = torch.cat([half, -half])
    scores = torch.stack([fitness(theta + SIGMA * e, x, y) for e in noise])
    ranks = scores.argsort().argsort().float() / (POP - 1) - 0.5
    theta += LR * (ranks @ noise) / (POP * SIGMA) * 0.5 * 0.99**generation
    if generation % 40 == 0:
        print(f"generation {generation}: best {scores.max().item():.4f} center {fitness(theta, x, y).item():.7f}")
print("kernel", [round(v, 2) for v in shape_like(theta)[0].flatten().tolist()])
""",
)

healthy(
    "image optimised through a frozen classifier",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
protos = F.avg_pool2d(torch.randn(5, 1, 14, 14), 3, stride=1) * 2


def batch(n):
    y = torch.randint(0, 5, (n,))
    return protos[y] + 0.7 * torch.randn(n, 1, 12, 12), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 12, 3, padding=1), nn.Conv2d(12, 16, 3, stride=2)
        self.fc = nn.Linear(16 * 25, 5)

    def forward(self, x):
        return self.fc(F.softplus(self.c2(F.softplus(self.c1(x)))).flatten(1))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(1, 201):
    x, y = batch(64)
    x = x.lerp(torch.randn_like(x), 0.5 * torch.rand(64, 1, 1, 1))
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"classifier {step}: {loss.item():.4f}")

net.eval().requires_grad_(False)
image = nn.Parameter(0.01 * torch.randn(5, 1, 12, 12))
ascent = torch.optim.SGD([image], lr=20.0, maximize=True)
wanted = torch.arange(5)
for step in range(1, 151):
    ascent.zero_grad()
    score = net(image)[wanted, wanted].mean() - 0.05 * image.square().sum((1, 2, 3)).mean()
    score.backward()
    image.grad /= image.grad.norm() * 10
    ascent.step()
    for group in ascent.param_groups:
        group["lr"] *= 0.98
    if step % 30 == 0:
        alike = F.cosine_similarity(image.detach().flatten(1), protos.flatten(1)).mean().item()
        print(f"ascent {step}: score {score.item():.3f} likeness {alike:.3f}")
""",
)

healthy(
    "clipped Wasserstein critic",
    """\
import torch
from torch import nn

torch.manual_seed(9)
CLIP, CRITIC_STEPS = 0.1, 5


def real(n):
    return torch.randn(n, 2) * torch.tensor([0.6, 0.2]) + torch.tensor([3.0, -2.0])


def block(i, o):
    return nn.Sequential(nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, o))


generator, critic = block(3, 2), block(2, 1)
g_opt = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
c_opt = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for it in range(1, 251):
    for _ in range(CRITIC_STEPS):
        with torch.no_grad():
            fake = generator(torch.randn(64, 3))
        c_loss = critic(fake).mean() - critic(real(64)).mean()
        c_opt.zero_grad()
        c_loss.backward()
        c_opt.step()
        with torch.no_grad():
            for w in critic.parameters():
                w.clamp_(-CLIP, CLIP)
    g_loss = -critic(generator(torch.randn(64, 3))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    if it % 50 == 0:
        with torch.no_grad():
            out = generator(torch.randn(2000, 3))
        print(f"{it}: critic {c_loss.item():.4f} generator {g_loss.item():.4f} mean {out.mean(0).tolist()}")
""",
)
