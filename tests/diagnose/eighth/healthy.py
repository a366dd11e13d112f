"""Programs that only look suspicious: programs that are right.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "adversarial training by ascent on the input",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
signs = torch.randint(0, 2, (2, 24)).float() * 2 - 1
y = torch.randint(0, 2, (1500,))
x = signs[y] + 0.8 * torch.randn(1500, 24)
x_train, y_train, x_test, y_test = x[:1000], y[:1000], x[1000:], y[1000:]


def attack(model, inputs, labels, eps=0.4, alpha=0.15, steps=5):
    delta = torch.empty_like(inputs).uniform_(-eps, eps)
    for _ in range(steps):
        delta.requires_grad_(True)
        loss = F.cross_entropy(model(inputs + delta), labels)
        (grad,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + alpha * grad.sign()).clamp(-eps, eps)
    return (inputs + delta).detach()


def accuracy(model, inputs, labels):
    with torch.no_grad():
        return (model(inputs).argmax(1) == labels).float().mean().item()


model = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(12):
    for idx in torch.randperm(1000).split(50):
        adversarial = attack(model, x_train[idx], y_train[idx])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(adversarial), y_train[idx])
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        robust = accuracy(model, attack(model, x_test, y_test), y_test)
        clean = accuracy(model, x_test, y_test)
        print(f"epoch {epoch + 1}: adversarial loss {loss.item():.4f} clean {clean:.3f} robust {robust:.3f}")
""",
)

healthy(
    "sharpness-aware steps by hand",
    """\
import torch
import torch.nn.functional as F
from torch import nn


class SAM:
    def __init__(self, params, base, rho=0.05):
        self.params, self.base, self.rho = list(params), base, rho
        self.moves = []

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm()
        self.moves = [p.grad * (self.rho / (norm + 1e-12)) for p in self.params]
        for p, move in zip(self.params, self.moves):
            p.add_(move)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, move in zip(self.params, self.moves):
            p.sub_(move)
        self.base.step()
        self.base.zero_grad()


torch.manual_seed(8)
angle = torch.rand(900) * 6.0
label = torch.randint(0, 2, (900,))
radius = 0.3 * angle + 0.2
phase = angle + 3.1416 * label
x = torch.stack([radius * phase.cos(), radius * phase.sin()], 1) + 0.08 * torch.randn(900, 2)
model = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
sam = SAM(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))

for step in range(1, 601):
    idx = torch.randint(0, 700, (64,))
    loss = F.cross_entropy(model(x[idx]), label[idx])
    loss.backward()
    sam.climb()
    F.cross_entropy(model(x[idx]), label[idx]).backward()
    sam.descend()
    if step % 100 == 0:
        with torch.no_grad():
            acc = (model(x[700:]).argmax(1) == label[700:]).float().mean().item()
        print(f"step {step} loss {loss.item():.4f} test accuracy {acc:.3f}")
""",
)

healthy(
    "evolution strategy without gradients",
    """\
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(1)
x = torch.randn(512, 6)
y = (x @ torch.randn(6) > 0).float()
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
for p in model.parameters():
    p.requires_grad_(False)
optimum = parameters_to_vector(model.parameters()).clone()
sigma, lr, pairs = 0.1, 0.1, 20


def fitness(vector, idx):
    vector_to_parameters(vector, model.parameters())
    guess = torch.sigmoid(model(x[idx]).squeeze(1))
    return -(guess - y[idx]).pow(2).mean()


with torch.no_grad():
    for generation in range(1, 151):
        idx = torch.randint(0, 400, (128,))
        noise = torch.randn(pairs, optimum.numel())
        plus = torch.stack([fitness(optimum + sigma * n, idx) for n in noise])
        minus = torch.stack([fitness(optimum - sigma * n, idx) for n in noise])
        slope = plus - minus
        optimum += lr * (slope / (slope.std() + 1e-8)) @ noise / pairs
        if generation % 30 == 0:
            vector_to_parameters(optimum, model.parameters())
            correct = ((model(x[400:]).squeeze(1) > 0).float() == y[400:]).float().mean()
            print(f"generation {generation} fitness {plus.mean().item():.4f} accuracy {correct.item():.3f}")
""",
)

healthy(
    "actor and critic with a slow copy and an entropy bonus",
    """\
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
ACTIONS = 4
actor = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, ACTIONS))
critic = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, ACTIONS))
slow = copy.deepcopy(critic)
for p in slow.parameters():
    p.requires_grad = False
actor_opt = torch.optim.Adam(actor.parameters(), lr=2e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=5e-3)
rule = torch.randn(6, ACTIONS)
alpha, tau = 0.05, 0.02
history = []

for step in range(1, 801):
    state = torch.randn(64, 6)
    with torch.no_grad():
        action = torch.distributions.Categorical(logits=actor(state)).sample()
        reward = (action == (state @ rule).argmax(1)).float() + 0.3 * torch.randn(64)
    history.append(reward.mean().item())

    value = critic(state).gather(1, action[:, None]).squeeze(1)
    critic_loss = F.mse_loss(value, reward)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    log_p = actor(state).log_softmax(1)
    actor_loss = (log_p.exp() * (alpha * log_p - slow(state))).sum(1).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()

    with torch.no_grad():
        for s, p in zip(slow.parameters(), critic.parameters()):
            s.lerp_(p, tau)
    if step % 100 == 0:
        mean = sum(history[-50:]) / 50
        print(f"step {step} reward {mean:.3f} actor {actor_loss.item():.3f} critic {critic_loss.item():.3f}")
""",
)

healthy(
    "sparse table with a rate of forty",
    """\
import torch

torch.manual_seed(6)
users, items, rank = 300, 200, 4
left, right = torch.randn(users, rank), torch.randn(items, rank)
pairs = torch.stack([torch.randint(0, users, (12000,)), torch.randint(0, items, (12000,))], 1)
ratings = (left[pairs[:, 0]] * right[pairs[:, 1]]).sum(1) / 2 + 0.1 * torch.randn(12000)
train, test = pairs[:10000], pairs[10000:]
r_train, r_test = ratings[:10000], ratings[10000:]

u = (0.3 * torch.randn(users, rank)).requires_grad_()
v = (0.3 * torch.randn(items, rank)).requires_grad_()


def score(p):
    return (u[p[:, 0]] * v[p[:, 1]]).sum(1)


# the mean over a batch leaves a row with 1/500 of a rating's gradient, hence the rate
lr, batch = 40.0, 500
for epoch in range(1, 41):
    total = 0.0
    for idx in torch.randperm(len(train)).split(batch):
        loss = (score(train[idx]) - r_train[idx]).square().mean()
        grad_u, grad_v = torch.autograd.grad(loss, (u, v))
        with torch.no_grad():
            u -= lr * grad_u
            v -= lr * grad_v
        total += loss.item() * len(idx)
    if epoch % 5 == 0:
        with torch.no_grad():
            error = (score(test) - r_test).square().mean().sqrt().item()
        print(f"epoch {epoch} train mse {total / len(train):.4f} test rmse {error:.4f}")
""",
)

healthy(
    "gradual unfreezing with frozen statistics",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)


def block(i, o):
    return nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU())


def freeze(module):
    for p in module.parameters():
        p.requires_grad = False


centers = 1.2 * torch.randn(10, 16)
y_source = torch.randint(0, 10, (2000,))
x_source = centers[y_source] + torch.randn(2000, 16)
y_target = torch.randint(0, 10, (900,))
x_target = 1.5 * centers[y_target] + torch.randn(900, 16) + 0.5
body = nn.Sequential(block(16, 64), block(64, 32))
head = nn.Linear(32, 10)
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=3e-3)
for _ in range(250):
    idx = torch.randint(0, 2000, (64,))
    optimizer.zero_grad()
    F.cross_entropy(head(body(x_source[idx])), y_source[idx]).backward()
    optimizer.step()

freeze(body)
body.eval()
head = nn.Linear(32, 10)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
accumulate, micro = 4, 16
for step in range(1, 1001):
    if step == 501:
        for p in body[1][0].parameters():
            p.requires_grad = True
        optimizer.add_param_group({"params": body[1][0].parameters(), "lr": 1e-4})
    idx = torch.randint(0, 400, (micro,))
    loss = F.cross_entropy(head(body(x_target[idx])), y_target[idx])
    (loss / accumulate).backward()
    if step % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
    if step % 200 == 0:
        with torch.no_grad():
            acc = (head(body(x_target[400:])).argmax(1) == y_target[400:]).float().mean().item()
        print(f"step {step} loss {loss.item():.4f} target accuracy {acc:.3f}")
""",
)

healthy(
    "reservoir with a fixed recurrent part and a huge rate",
    """\
import torch
from torch import nn

torch.manual_seed(0)


class Reservoir(nn.Module):
    # echo state network: the recurrent part is random and stays so, only a readout is learnt
    def __init__(self, size=100, radius=0.9):
        super().__init__()
        self.inner = nn.Linear(size, size, bias=False)
        self.drive = nn.Linear(1, size)
        with torch.no_grad():
            self.inner.weight.normal_()
            self.inner.weight.mul_(radius / torch.linalg.eigvals(self.inner.weight).abs().max())
        self.inner.requires_grad_(False)
        self.drive.requires_grad_(False)

    @torch.no_grad()
    def states(self, signal):
        h = torch.zeros(self.inner.in_features)
        rows = []
        for value in signal:
            h = torch.tanh(self.inner(h) + self.drive(value.view(1)))
            rows.append(h)
        return torch.stack(rows)


t = torch.arange(0, 1200).float()
signal = torch.sin(0.2 * t) * torch.cos(0.031 * t) + 0.05 * torch.randn(1200)
net = Reservoir()
states, targets = net.states(signal[:-1])[100:], signal[101:].unsqueeze(1)
mean, (_, _, directions) = states.mean(0), torch.linalg.svd(states - states.mean(0), full_matrices=False)
whitened = (states - mean) @ directions[:20].T
whitened = whitened / (whitened.std(0) * whitened.shape[1])
readout = nn.Linear(20, 1)
# inputs are whitened to a variance of 1 / 400, so the steepest curvature of the weights is 1 / 200
optimizer = torch.optim.SGD(
    [{"params": [readout.weight], "lr": 100.0}, {"params": [readout.bias], "lr": 0.5}],
)
for step in range(200):
    loss = nn.functional.mse_loss(readout(whitened[:900]), targets[:900])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in (0, 5, 20, 50, 100, 199):
        with torch.no_grad():
            later = nn.functional.mse_loss(readout(whitened[900:]), targets[900:])
        print(f"step {step + 1}: train {loss.item():.2e} later {later.item():.2e}")
""",
)

healthy(
    "stateful recurrent net without shuffling",
    """\
import torch
from torch import nn

torch.manual_seed(1)
STREAMS, CHUNK = 16, 10


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x, state=None):
        y, state = self.lstm(x, state)
        return self.out(y).squeeze(-1), state


def streams(length):
    # rare pulses up and down; the direction of the latest must be shown at every step
    pulses = (torch.rand(STREAMS, length) < 0.1) * torch.randn(STREAMS, length).sign()
    pulses[:, 0] = 1.0
    latest = torch.where(pulses != 0, torch.arange(length), 0).cummax(1).values
    return pulses.unsqueeze(-1), (pulses.gather(1, latest) > 0).float()


x, y = streams(1500)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
seen = 0
for epoch in range(3):
    state = None  # the streams begin anew
    for start in range(0, x.size(1), CHUNK):
        part, wanted = x[:, start : start + CHUNK], y[:, start : start + CHUNK]
        logits, state = model(part, state)
        state = tuple(s.detach() for s in state)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen += 1
        if seen % 50 == 0:
            right = ((logits > 0) == (wanted > 0.5)).float().mean().item()
            print(f"epoch {epoch} chunk {seen}: loss {loss.item():.3f} right {right:.3f}")
""",
)

healthy(
    "curriculum whose loss climbs at each stage",
    """\
import torch
from torch import nn

torch.manual_seed(2)


def batch(length, n=64):
    bits = torch.randint(0, 2, (n, length)).float()
    return bits.unsqueeze(-1), bits.sum(1)


class Adder(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        states, _ = self.gru(x)
        return self.out(states[:, -1]).squeeze(-1)


model = Adder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.SmoothL1Loss()
for length in (3, 6, 10, 15):
    # longer sums are harder: the loss jumps here and comes down again
    for step in range(150):
        x, total = batch(length)
        loss = loss_fn(model(x), total)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (0, 149):
            print(f"length {length:2d} step {step:3d}: loss {loss.item():.4f}")
with torch.no_grad():
    x, total = batch(15, 500)
    print(f"sums of 15 right: {(model(x).round() == total).float().mean().item():.3f}")
""",
)

healthy(
    "evolution strategy for a regressor",
    """\
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(3)
x = torch.linspace(-2, 2, 80).unsqueeze(1)
y = torch.sin(2 * x)
net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))


@torch.no_grad()
def fitness(vector):
    vector_to_parameters(vector, net.parameters())
    return -nn.functional.mse_loss(net(x), y)


center = parameters_to_vector(net.parameters()).detach().clone().requires_grad_(True)
optimizer = torch.optim.Adam([center], lr=0.02)
sigma, pairs = 0.05, 20
for generation in range(300):
    noise = torch.randn(pairs, center.numel())
    gains = torch.stack([fitness(center + sigma * n) - fitness(center - sigma * n) for n in noise])
    # no backward: the gradient of the smoothed fitness is estimated from mirrored trials
    center.grad = -(gains.unsqueeze(1) * noise).mean(0) / (2 * sigma)
    optimizer.step()
    if generation % 50 == 49:
        print(f"generation {generation + 1}: mse {-fitness(center).item():.4f}")
vector_to_parameters(center.detach(), net.parameters())
print(f"final mse {nn.functional.mse_loss(net(x), y).item():.4f}")
""",
)

healthy(
    "Langevin sampling of a linear regression's weights",
    """\
import math

import torch

torch.manual_seed(4)
NOISE, PRIOR = 0.5, 10.0
truth = torch.tensor([1.5, -2.0, 0.5])
x = torch.randn(200, 3)
y = x @ truth + NOISE * torch.randn(200)

precision = x.T @ x / NOISE**2 + torch.eye(3) / PRIOR**2
exact_mean = torch.linalg.solve(precision, x.T @ y / NOISE**2)
exact_std = torch.linalg.inv(precision).diagonal().sqrt()

weights = torch.zeros(3, requires_grad=True)
rate = 2e-4
kept = []
for step in range(1000):
    energy = ((x @ weights - y) ** 2).sum() / (2 * NOISE**2) + (weights**2).sum() / (2 * PRIOR**2)
    (grad,) = torch.autograd.grad(energy, weights)
    with torch.no_grad():
        # the noise is the point: the weights wander over the posterior instead of settling
        weights -= rate * grad
        weights += math.sqrt(2 * rate) * torch.randn(3)
    if step >= 100:
        kept.append(weights.detach().clone())
    if step % 100 == 0:
        print(f"step {step}: energy {energy.item():.1f}")
samples = torch.stack(kept)
print("mean", [round(v, 3) for v in samples.mean(0).tolist()], "exact", [round(v, 3) for v in exact_mean.tolist()])
print("std ", [round(v, 3) for v in samples.std(0).tolist()], "exact", [round(v, 3) for v in exact_std.tolist()])
""",
)

healthy(
    "sentiment from frozen word vectors with accumulation and an average of weights",
    """\
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
WORDS, LENGTH, PAD, ACCUMULATE = 60, 15, 0, 4
vectors = torch.randn(WORDS, 16)
vectors[PAD] = 0
direction = torch.randn(16)


def reviews(n):
    tokens = torch.randint(1, WORDS, (n, LENGTH))
    lengths = torch.randint(5, LENGTH + 1, (n, 1))
    tokens = tokens.masked_fill(torch.arange(LENGTH) >= lengths, PAD)
    return tokens, ((vectors[tokens] @ direction).sum(1) > 0).float()


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        # pretrained vectors, kept as they are
        self.words = nn.Embedding.from_pretrained(vectors, freeze=True, padding_idx=PAD)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, tokens):
        count = (tokens != PAD).sum(1, keepdim=True)
        return self.mlp(self.words(tokens).sum(1) / count).squeeze(1)


model = Sentiment()
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=5e-3)
loader = DataLoader(TensorDataset(*reviews(2048)), batch_size=16, shuffle=True)
test_x, test_y = reviews(500)
for epoch in range(7):
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        (loss / ACCUMULATE).backward()
        if (i + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), model.parameters()):
                    slow.lerp_(fast, 0.05)
    with torch.no_grad():
        accuracy = ((average(test_x) > 0) == (test_y > 0.5)).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f} accuracy of the average {accuracy:.3f}")
""",
)
