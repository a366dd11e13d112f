"""Programs that only look suspicious: programs that are right.

Invariant: written by people who had read no rule.
"""

from .program import healthy

healthy(
    "gradient reversal between two domains",
    """\
import math

import torch
import torch.nn.functional as F
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


def domain_batch(n, target):
    label = torch.randint(0, 2, (n,))
    x = torch.randn(n, 6)
    x[:, 0] += 3.0 * (2 * label - 1)
    x[:, 1] += 3.0 if target else -3.0
    x[:, 2] += 0.0 if target else 2.0 * (2 * label - 1)
    return x, label


torch.manual_seed(0)
features = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
classifier = nn.Linear(16, 2)
critic = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
params = [*features.parameters(), *classifier.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(params, lr=1e-3)
domains = torch.cat([torch.zeros(64), torch.ones(64)]).long()
test_x, test_y = domain_batch(1000, target=True)
steps = 500
for step in range(steps):
    source, label = domain_batch(64, target=False)
    target, _ = domain_batch(64, target=True)
    strength = 2 / (1 + math.exp(-10 * step / steps)) - 1
    h = features(torch.cat([source, target]))
    task = F.cross_entropy(classifier(h[:64]), label)
    domain = F.cross_entropy(critic(Reverse.apply(h, strength)), domains)
    optimizer.zero_grad()
    (task + domain).backward()
    optimizer.step()
    if step % 50 == 49:
        with torch.no_grad():
            acc = (classifier(features(test_x)).argmax(1) == test_y).float().mean()
        print(f"{step + 1} task {task.item():.4f} domain {domain.item():.4f} target accuracy {acc:.3f}")
""",
)

healthy(
    "low-rank adapters on a frozen model",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
VOCAB = 16
old_rule, new_rule = torch.randperm(VOCAB), torch.randperm(VOCAB)


class LowRank(nn.Module):
    def __init__(self, base, rank=8, alpha=16):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * F.linear(F.linear(x, self.down), self.up)


def sequences(rule, n=32, length=12):
    rows = [torch.randint(0, VOCAB, (n,))]
    for _ in range(length):
        jump = torch.rand(n) < 0.1
        rows.append(torch.where(jump, torch.randint(0, VOCAB, (n,)), rule[rows[-1]]))
    return torch.stack(rows, dim=1)


def run(model, rule, optimizer, steps, name):
    for step in range(1, steps + 1):
        text = sequences(rule)
        loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"{name} {step} loss {loss.item():.4f}")


lm = nn.Sequential(nn.Embedding(VOCAB, 32), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, VOCAB))
run(lm, old_rule, torch.optim.Adam(lm.parameters(), lr=5e-3), 200, "pretraining")
for p in lm.parameters():
    p.requires_grad_(False)
lm[1], lm[3] = LowRank(lm[1]), LowRank(lm[3])
adapters = [p for p in lm.parameters() if p.requires_grad]
print("trainable", sum(p.numel() for p in adapters), "of", sum(p.numel() for p in lm.parameters()))
run(lm, new_rule, torch.optim.AdamW(adapters, lr=1e-2, weight_decay=0.0), 300, "adapters")
""",
)

healthy(
    "actor and critic with slow targets",
    """\
import copy

import torch
import torch.nn.functional as F
from torch import nn


def mlp(n_in, n_out, *tail):
    return nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, n_out), *tail)


def move(state, action):
    new = (state + 0.4 * action + 0.02 * torch.randn_like(state)).clamp(-2, 2)
    return new, -(new**2).sum(1, keepdim=True)


@torch.no_grad()
def episode_return(policy):
    state, total = torch.rand(64, 2) * 4 - 2, 0.0
    for _ in range(10):
        state, reward = move(state, policy(state))
        total += reward.mean().item()
    return total


torch.manual_seed(5)
actor, critic = mlp(2, 2, nn.Tanh()), mlp(4, 1)
slow_actor, slow_critic = copy.deepcopy(actor).requires_grad_(False), copy.deepcopy(critic).requires_grad_(False)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-3)
gamma, tau = 0.8, 0.02
print(f"before training, return {episode_return(actor):.2f}")
for step in range(1, 501):
    state = torch.rand(64, 2) * 4 - 2
    with torch.no_grad():
        action = (actor(state) + 0.3 * torch.randn(64, 2)).clamp(-1, 1)
        after, reward = move(state, action)
        target = reward + gamma * slow_critic(torch.cat([after, slow_actor(after)], dim=1))
    critic_loss = F.mse_loss(critic(torch.cat([state, action], dim=1)), target)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()

    critic.requires_grad_(False)
    actor_loss = -critic(torch.cat([state, actor(state)], dim=1)).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
    critic.requires_grad_(True)

    with torch.no_grad():
        for fast, slow in ((actor, slow_actor), (critic, slow_critic)):
            for p, q in zip(fast.parameters(), slow.parameters()):
                q.lerp_(p, tau)
    if step % 100 == 0:
        print(f"{step} critic {critic_loss:.3f} actor {actor_loss:.3f} return {episode_return(actor):.2f}")
""",
)

healthy(
    "state carried through a long text",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
VOCAB, STREAMS, SPAN, CHUNKS = 12, 16, 10, 4
period = torch.randint(0, VOCAB, (STREAMS, 7))
text = period.repeat(1, 200)[:, :1201]
noisy = torch.rand(text.shape) < 0.02
text = torch.where(noisy, torch.randint(0, VOCAB, text.shape), text)
labels = text.masked_fill(noisy, -100)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB + 4, 24)
        self.rnn = nn.LSTM(24, 64, batch_first=True)
        self.out = nn.Linear(64, VOCAB)

    def forward(self, x, state):
        h, state = self.rnn(self.emb(x), state)
        return self.out(h), tuple(s.detach() for s in state)


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(5):
    state, total, count = None, 0.0, 0
    for first in range(0, 1200, SPAN * CHUNKS):
        tokens = (labels[:, first + 1 : first + SPAN * CHUNKS + 1] != -100).sum()
        for start in range(first, first + SPAN * CHUNKS, SPAN):
            logits, state = model(text[:, start : start + SPAN], state)
            target = labels[:, start + 1 : start + SPAN + 1]
            loss = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=-100, reduction="sum")
            (loss / tokens).backward()
            total += loss.item()
        count += tokens.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    print(f"epoch {epoch + 1} nats per token {total / count:.3f}")
""",
)

healthy(
    "evolution strategy for a policy",
    """\
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def rollout(policy, starts, steps=30):
    angle, speed = starts.clone(), torch.zeros_like(starts)
    score = torch.zeros_like(starts)
    for _ in range(steps):
        push = policy(torch.stack([angle, speed], dim=1)).argmax(1).float() * 2 - 1
        speed = speed + 0.1 * (2.0 * torch.sin(angle) + 3.0 * push) + 0.02 * torch.randn_like(speed)
        angle = angle + 0.1 * speed
        score += (angle.abs() < 0.3).float() - 0.1 * angle.abs().clamp(max=3)
    return score.mean().item()


torch.manual_seed(14)
torch.set_grad_enabled(False)
policy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
theta = parameters_to_vector(policy.parameters())
velocity = torch.zeros_like(theta)
pairs, sigma, lr = 12, 0.2, 0.02
for generation in range(1, 61):
    starts = (torch.rand(24) - 0.5) * 2.0
    noise = torch.randn(pairs, theta.numel())
    scores = []
    for direction in torch.cat([noise, -noise]):
        vector_to_parameters(theta + sigma * direction, policy.parameters())
        scores.append(rollout(policy, starts))
    ranks = torch.tensor(scores).argsort().argsort().float() / (2 * pairs - 1) - 0.5
    step = ((ranks[:pairs] - ranks[pairs:])[:, None] * noise).sum(0) / (pairs * sigma)
    velocity = 0.8 * velocity + step
    theta = theta + lr * velocity
    if generation % 10 == 0 or generation == 1:
        vector_to_parameters(theta, policy.parameters())
        print(f"generation {generation} samples {sum(scores) / len(scores):.2f} mean {rollout(policy, starts):.2f}")
""",
)

healthy(
    "second-order fit from zero weights",
    """\
import numpy as np
import torch
import torch.nn.functional as F

rng = np.random.default_rng(17)
torch.manual_seed(17)
raw = rng.normal(size=(1500, 12)) * np.logspace(-2, 2, 12) + rng.normal(size=12)
truth = rng.normal(size=12) / np.logspace(-2, 2, 12)
chance = 1 / (1 + np.exp(-(raw - raw.mean(0)) @ truth))
labels = torch.tensor(rng.random(1500) < chance, dtype=torch.float64)
train, test = slice(0, 1000), slice(1000, 1500)
mean, std = raw[train].mean(0), raw[train].std(0)
x = torch.tensor((raw - mean) / std)
weight = torch.zeros(12, dtype=torch.float64, requires_grad=True)
bias = torch.zeros((), dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.LBFGS([weight, bias], lr=1.0, max_iter=2, history_size=8, line_search_fn="strong_wolfe")
l2 = 1e-3


def closure():
    optimizer.zero_grad()
    logits = x[train] @ weight + bias
    loss = F.binary_cross_entropy_with_logits(logits, labels[train]) + l2 * weight.square().sum()
    loss.backward()
    return loss


for step in range(60):
    loss = optimizer.step(closure)
    if step % 10 == 0 or step < 5:
        with torch.no_grad():
            logits = x[test] @ weight + bias
            held_out = F.binary_cross_entropy_with_logits(logits, labels[test])
            accuracy = ((logits > 0) == (labels[test] > 0.5)).double().mean()
        print(f"step {step} objective {loss.item():.6f} test {held_out:.4f} accuracy {accuracy:.3f}")
print(f"largest gradient {weight.grad.abs().max():.1e}")
""",
)

healthy(
    "fixed random features under a trained readout",
    """\
import math

import torch
from torch import nn

torch.manual_seed(1)


class Reservoir(nn.Module):
    \"\"\"An echo state network: the recurrent part is random and stays so, only the readout learns.\"\"\"

    def __init__(self, size=150, radius=0.9):
        super().__init__()
        w = torch.randn(size, size) / math.sqrt(size)
        self.w_in = nn.Parameter(torch.randn(1, size) * 0.5, requires_grad=False)
        self.w = nn.Parameter(w * radius, requires_grad=False)
        self.readout = nn.Linear(size, 1)

    @torch.no_grad()
    def states(self, series):
        h, kept = torch.zeros(self.w.size(0)), []
        for value in series:
            h = torch.tanh(value.view(1) @ self.w_in + h @ self.w)
            kept.append(h)
        return torch.stack(kept)

    def forward(self, states):
        return self.readout(states).squeeze(-1)


time = torch.arange(1600) * 0.15
series = torch.sin(time) * torch.cos(0.37 * time) + 0.5 * torch.sin(2.3 * time)
net = Reservoir()
states = net.states(series[:-1])
goal = series[1:]
washout, cut = 100, 1200
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=5e-3)
for step in range(601):
    pick = torch.randint(washout, cut, (128,))
    loss = nn.functional.mse_loss(net(states[pick]), goal[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            later = nn.functional.mse_loss(net(states[cut:]), goal[cut:])
        print(f"step {step} train {loss.item():.5f} later {later.item():.5f}")
""",
)

healthy(
    "very large rate for a sparse table under a mean loss",
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
USERS, ITEMS, DIM, BATCH = 300, 250, 8, 1000
true_user, true_item = torch.randn(USERS, 3), torch.randn(ITEMS, 3)
user, item = torch.randint(USERS, (20000,)), torch.randint(ITEMS, (20000,))
rating = (true_user[user] * true_item[item]).sum(1) + 0.1 * torch.randn(20000)


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, DIM, sparse=True)
        self.item = nn.Embedding(ITEMS, DIM, sparse=True)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(1)


model = Factors()
# a row is in three or four of the thousand terms of the mean: its gradient is some 300 times too small
optimizer = torch.optim.SGD(model.parameters(), lr=20.0)
loader = DataLoader(TensorDataset(user[:18000], item[:18000], rating[:18000]), batch_size=BATCH, shuffle=True)
for epoch in range(13):
    total = 0.0
    for u, i, r in loader:
        loss = nn.functional.mse_loss(model(u, i), r)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 4 == 0:
        with torch.no_grad():
            test = nn.functional.mse_loss(model(user[18000:], item[18000:]), rating[18000:])
        print(f"epoch {epoch} train {total / len(loader):.3f} test {test.item():.3f} of {rating.var().item():.3f}")
""",
)

healthy(
    "evolution strategy without any backward",
    """\
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(3)
torch.set_grad_enabled(False)


class Pendulums:
    \"\"\"A batch of poles to be held upright; the score is how upright they stay.\"\"\"

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.angle = torch.randn(n, generator=g) * 0.3
        self.speed = torch.randn(n, generator=g) * 0.3

    def play(self, policy, steps=30):
        score = torch.zeros(())
        for _ in range(steps):
            push = policy(torch.stack([self.angle, self.speed], 1)).squeeze(1).clamp(-3, 3)
            self.speed = self.speed + 0.1 * (2 * torch.sin(self.angle) + push)
            self.angle = self.angle + 0.1 * self.speed
            score += torch.cos(self.angle.clamp(-3.1, 3.1)).mean()
        return score / steps


policy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
centre = parameters_to_vector(policy.parameters())
optimizer = torch.optim.Adam([centre], lr=0.05)
sigma, half = 0.2, 6


def fitness(vector, seed):
    vector_to_parameters(vector, policy.parameters())
    return Pendulums(16, seed).play(policy)


for generation in range(61):
    noise = torch.randn(half, len(centre))
    moves = sigma * noise
    gains = torch.stack([fitness(centre + m, generation) - fitness(centre - m, generation) for m in moves])
    gains = gains / (gains.std() + 1e-8)
    centre.grad = -(gains.unsqueeze(1) * noise).mean(0) / (2 * sigma)
    optimizer.step()
    if generation % 10 == 0:
        print(f"generation {generation} upright {fitness(centre, 10_000).item():.3f}")
""",
)

healthy(
    "two backward passes a step for sharpness",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)


class SAM:
    def __init__(self, params, base, rho=0.05, **options):
        self.params = list(params)
        self.base = base(self.params, **options)
        self.rho = rho
        self.moves = []

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.moves = [p.grad * (self.rho / norm) for p in self.params]
        for p, move in zip(self.params, self.moves):
            p.add_(move)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, move in zip(self.params, self.moves):
            p.sub_(move)
        self.base.step()
        self.base.zero_grad()


centres = torch.randn(5, 15)


def draw(n):
    y = torch.randint(5, (n,))
    x = torch.tanh(centres[y]) + 0.8 * torch.randn(n, 15)
    return x, y


x, y = draw(1000)
x_test, y_test = draw(1000)
model = nn.Sequential(nn.Linear(15, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = SAM(model.parameters(), torch.optim.SGD, rho=0.1, lr=0.05, momentum=0.9)
for step in range(401):
    pick = torch.randint(len(x), (64,))
    loss = F.cross_entropy(model(x[pick]), y[pick])
    loss.backward()
    optimizer.climb()
    F.cross_entropy(model(x[pick]), y[pick]).backward()
    optimizer.descend()
    if step % 80 == 0:
        with torch.no_grad():
            accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"step {step} loss {loss.item():.3f} test accuracy {accuracy:.3f}")
""",
)

healthy(
    "gradient reversed on purpose",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.label = nn.Linear(16, 2)
        self.domain = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x, strength=0.0):
        z = self.features(x)
        return self.label(z), self.domain(Reverse.apply(z, strength)).squeeze(1)


def bank(n, other):
    y = torch.randint(2, (n,))
    x = torch.randn(n, 6)
    x[:, 0] += 2.4 * y - 1.2
    x[:, 1] += 2.0 * y - 1.0 if not other else 3.0
    return x, y


model = DANN()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
x_test, y_test = bank(2000, other=True)
sides = torch.cat([torch.zeros(64), torch.ones(64)])
for step in range(501):
    strength = min(1.0, step / 200)
    (xs, ys), (xt, _) = bank(64, other=False), bank(64, other=True)
    label_logits, domain_logits = model(torch.cat([xs, xt]), strength)
    label_loss = F.cross_entropy(label_logits[:64], ys)
    domain_loss = F.binary_cross_entropy_with_logits(domain_logits, sides)
    optimizer.zero_grad()
    (label_loss + domain_loss).backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            right = (model(x_test)[0].argmax(1) == y_test).float().mean().item()
        print(f"step {step} label {label_loss.item():.3f} domain {domain_loss.item():.3f} other bank {right:.3f}")
""",
)

healthy(
    "policy loss that goes nowhere while reward grows",
    """\
import torch
from torch import nn
from torch.distributions import Bernoulli

torch.manual_seed(6)
ITEMS, ROOM = 12, 10.0


def knapsacks(n):
    return torch.rand(n, ITEMS) * 4, torch.rand(n, ITEMS) * 3


def worth(take, value, weight):
    over = ((take * weight).sum(1) - ROOM).clamp(min=0)
    return (take * value).sum(1) - 5 * over


policy = nn.Sequential(nn.Linear(2 * ITEMS, 64), nn.ReLU(), nn.Linear(64, ITEMS))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
value_test, weight_test = knapsacks(500)
window = []
for step in range(1, 801):
    value, weight = knapsacks(64)
    dist = Bernoulli(logits=policy(torch.cat([value, weight], 1)))
    with torch.no_grad():
        takes = dist.sample((4,))
        rewards = torch.stack([worth(take, value, weight) for take in takes])
        advantage = rewards - rewards.mean(0)
        advantage = advantage / (advantage.std() + 1e-6)
    # the loss is a handle for the gradient and says nothing of how good the policy is
    loss = -(dist.log_prob(takes).sum(-1) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    window.append(rewards.mean().item())
    if step % 100 == 0:
        with torch.no_grad():
            greedy = (policy(torch.cat([value_test, weight_test], 1)) > 0).float()
            test = worth(greedy, value_test, weight_test).mean().item()
        print(f"step {step} loss {loss.item():+.3f} sampled {sum(window[-100:]) / 100:.2f} greedy test {test:.2f}")
""",
)

healthy(
    "accumulation with a last short group and a rate of zero at first",
    """\
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
ACCUMULATE, EPOCHS, MICRO = 4, 12, 16
x = torch.randn(1000, 12)
y = torch.relu(x[:, :4]).sum(1) - (x[:, 4:8] ** 2).mean(1) + 0.1 * torch.randn(1000)
train = DataLoader(TensorDataset(x[:800], y[:800]), batch_size=MICRO, shuffle=True)

model = nn.Sequential(nn.Linear(12, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
decay = [p for p in model.parameters() if p.ndim > 1]
others = [p for p in model.parameters() if p.ndim == 1]
groups = [{"params": decay, "weight_decay": 0.02}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=5e-3)
updates = EPOCHS * -(-len(train) // ACCUMULATE)
warmup = updates // 10
scheduler = LambdaLR(optimizer, lambda u: u / warmup if u < warmup else (updates - u) / (updates - warmup))

for epoch in range(EPOCHS):
    optimizer.zero_grad()
    total = 0.0
    for number, (xb, yb) in enumerate(train):
        first = number - number % ACCUMULATE
        group = min(ACCUMULATE, len(train) - first)
        loss = nn.functional.mse_loss(model(xb).squeeze(1), yb)
        (loss / group).backward()
        total += loss.item()
        if number + 1 == first + group:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    with torch.no_grad():
        test = nn.functional.mse_loss(model(x[800:]).squeeze(1), y[800:]).item()
    print(f"epoch {epoch} train {total / len(train):.4f} test {test:.4f} rate {scheduler.get_last_lr()[0]:.5f}")
""",
)

healthy(
    "mean teacher that gets no gradient",
    """\
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)


def moons(n):
    y = torch.randint(2, (n,))
    angle = torch.rand(n) * torch.pi
    x = torch.stack([angle.cos(), angle.sin()], 1)
    x = torch.where(y.unsqueeze(1) == 1, torch.tensor([1.0, 0.4]) - x, x)
    return x + 0.08 * torch.randn(n, 2), y


student = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
few_x, few_y = moons(12)
many_x, _ = moons(2000)
test_x, test_y = moons(1000)
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)


def follow(step):
    decay = min(0.99, step / (step + 10))
    with torch.no_grad():
        for old, new in zip(teacher.parameters(), student.parameters()):
            old.mul_(decay).add_(new, alpha=1 - decay)


def score(net):
    with torch.no_grad():
        return (net(test_x).argmax(1) == test_y).float().mean().item()


for step in range(701):
    unlabelled = many_x[torch.randint(len(many_x), (128,))]
    ramp = min(1.0, step / 300)
    target = teacher(unlabelled + 0.1 * torch.randn_like(unlabelled)).softmax(1)
    guess = student(unlabelled + 0.1 * torch.randn_like(unlabelled)).softmax(1)
    consistency = F.mse_loss(guess, target)
    supervised = F.cross_entropy(student(few_x + 0.05 * torch.randn_like(few_x)), few_y)
    loss = supervised + 5 * ramp * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    follow(step)
    if step % 100 == 0:
        shown = f"supervised {supervised.item():.3f} consistency {consistency.item():.4f}"
        print(f"step {step} {shown} student {score(student):.3f} teacher {score(teacher):.3f}")
""",
)
