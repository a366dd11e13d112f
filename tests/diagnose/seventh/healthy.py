"""Programs that only look suspicious: programs that are right.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "domain confusion by reversed gradients",
    """\
import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


def sample(n, shift):
    y = torch.randint(0, 2, (n,))
    x = torch.randn(n, 8)
    x[:, 0] += 3.0 * y - 1.5
    x[:, 1] = x[:, 1] * 0.3 + shift * 2.0
    x[:, 2] += (1 + shift) * (1.5 * y - 0.75)
    return x, y


torch.manual_seed(0)
features = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
classifier, critic = nn.Linear(16, 2), nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
parts = nn.ModuleList([features, classifier, critic])
optimizer = torch.optim.Adam(parts.parameters(), lr=1e-3)
cross_entropy, bce = nn.CrossEntropyLoss(), nn.BCEWithLogitsLoss()
domain = torch.cat([torch.zeros(64, 1), torch.ones(64, 1)])
x_test, y_test = sample(1000, -1.0)

for step in range(1, 601):
    xs, ys = sample(64, 1.0)
    xt, _ = sample(64, -1.0)
    h = features(torch.cat([xs, xt]))
    task_loss = cross_entropy(classifier(h[:64]), ys)
    strength = min(0.5, step / 600)
    domain_loss = bce(critic(Reverse.apply(h, strength)), domain)
    optimizer.zero_grad()
    (task_loss + domain_loss).backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            acc = (classifier(features(x_test)).argmax(1) == y_test).float().mean().item()
        print(f"{step} task {task_loss.item():.3f} domain {domain_loss.item():.3f} target acc {acc:.3f}")
""",
)

healthy(
    "teacher by moving average",
    """\
import copy

import torch
import torch.nn.functional as F
from torch import nn


def make_net():
    return nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))


@torch.no_grad()
def update_teacher(teacher, student, decay):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(decay).add_(s, alpha=1 - decay)


def moons(n):
    angle = torch.rand(n) * torch.pi
    y = torch.randint(0, 2, (n,))
    x = torch.stack([angle.cos(), angle.sin()], 1)
    x = torch.where(y[:, None] == 1, torch.tensor([1.0, 0.4]) - x, x)
    return x + 0.1 * torch.randn(n, 2), y


torch.manual_seed(1)
x_lab, y_lab = moons(80)
x_unl, _ = moons(600)
x_test, y_test = moons(1000)
student = make_net()
teacher = copy.deepcopy(student).requires_grad_(False)
opt = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)

for step in range(1, 601):
    idx = torch.randint(0, 600, (64,))
    with torch.no_grad():
        goal = teacher(x_unl[idx] + 0.05 * torch.randn(64, 2)).softmax(1)
    probs = student(x_unl[idx] + 0.05 * torch.randn(64, 2)).softmax(1)
    supervised = F.cross_entropy(student(x_lab), y_lab)
    consistency = F.mse_loss(probs, goal)
    weight = 2.0 * min(1.0, step / 300)
    opt.zero_grad()
    (supervised + weight * consistency).backward()
    opt.step()
    update_teacher(teacher, student, decay=min(0.99, 1 - 1 / (step + 1)))
    if step % 100 == 0:
        with torch.no_grad():
            acc = (teacher(x_test).argmax(1) == y_test).float().mean().item()
        print(f"{step} sup {supervised.item():.4f} cons {consistency.item():.5f} teacher acc {acc:.3f}")
""",
)

healthy(
    "sharpness aware with two passes",
    """\
import torch
from torch import nn


class SAM:
    \"\"\"Climb to the worst point nearby, take its gradient, come back and step with it.\"\"\"

    def __init__(self, params, base, rho=0.05):
        self.params, self.base, self.rho = list(params), base, rho

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.moves = [p.grad * (self.rho / norm) for p in self.params]
        for p, e in zip(self.params, self.moves):
            p.add_(e)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for p, e in zip(self.params, self.moves):
            p.sub_(e)
        self.base.step()
        self.base.zero_grad()


torch.manual_seed(0)
x = torch.randn(2000, 12)
y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).long()
flip = torch.rand(1000) < 0.1
x_train, y_train = x[:1000], torch.where(flip, 1 - y[:1000], y[:1000])
x_test, y_test = x[1000:], y[1000:]
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 2))
sam = SAM(model.parameters(), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), rho=0.2)
criterion = nn.CrossEntropyLoss()
for epoch in range(1, 26):
    for idx in torch.randperm(1000).split(50):
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        sam.climb()
        criterion(model(x_train[idx]), y_train[idx]).backward()
        sam.descend()
    if epoch % 5 == 0:
        with torch.no_grad():
            acc = (model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} test acc {acc:.3f}")
""",
)

healthy(
    "logistic regression by newton",
    """\
import torch
import torch.nn.functional as F

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
N, D = 2000, 12
true_w = torch.randn(D)
x = torch.randn(N, D) * torch.logspace(-2, 2, D)
y = torch.bernoulli(torch.sigmoid(x @ (true_w / torch.logspace(-2, 2, D))))


def objective(w, idx):
    return F.binary_cross_entropy_with_logits(x[idx] @ w, y[idx]) + 1e-6 * w.dot(w)


w = torch.zeros(D)
for step in range(1, 121):
    idx = torch.randint(0, N, (500,)) if step <= 100 else torch.arange(N)
    w.requires_grad_(True)
    loss = objective(w, idx)
    (grad,) = torch.autograd.grad(loss, w, create_graph=True)
    hessian = torch.stack([torch.autograd.grad(g, w, retain_graph=True)[0] for g in grad])
    direction = torch.linalg.solve(hessian, grad.detach())
    rate = 1.0 if step <= 5 or step > 100 else 1 / (step - 4)
    w = w.detach() - rate * direction
    if step % 20 == 0:
        with torch.no_grad():
            error = ((x @ w > 0) != (y > 0.5)).double().mean().item()
        print(f"step {step} loss {loss.item():.5f} grad norm {grad.norm().item():.2e} error {error:.3f}")
""",
)

healthy(
    "evolution of a controller",
    """\
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def rollout(net, starts):
    \"\"\"Mean reward of balancing a rod for 30 steps.\"\"\"
    angle, speed = starts[:, 0].clone(), starts[:, 1].clone()
    reward = torch.zeros(len(starts))
    for _ in range(30):
        push = net(torch.stack([angle, speed], 1)).squeeze(1).tanh().sign()
        speed = speed + 0.1 * (2.0 * angle.sin() + 2.0 * push)
        angle = angle + 0.1 * speed
        reward += (angle.abs() < 0.8).float()
    return reward.mean().item() / 30


torch.manual_seed(2)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
theta = parameters_to_vector(net.parameters()).detach()
optimizer = torch.optim.Adam([theta.requires_grad_()], lr=0.02)
sigma, pairs = 0.1, 6

with torch.no_grad():
    for generation in range(1, 61):
        starts = torch.randn(24, 2) * 0.4
        noise = torch.randn(pairs, len(theta))
        estimate = torch.zeros_like(theta)
        for eps in noise:
            scores = []
            for sign in (1, -1):
                vector_to_parameters(theta + sign * sigma * eps, net.parameters())
                scores.append(rollout(net, starts))
            estimate += (scores[0] - scores[1]) / (2 * sigma * pairs) * eps
        theta.grad = -estimate
        optimizer.step()
        if generation % 6 == 0:
            vector_to_parameters(theta, net.parameters())
            print(f"generation {generation} reward {rollout(net, torch.randn(256, 2) * 0.4):.3f}")
""",
)

healthy(
    "warm restarts",
    """\
import copy

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.rand(1000, 3) * 2 - 1
y = torch.sin(3 * x[:, :1]) * x[:, 1:2] + x[:, 2:] ** 2
loader = DataLoader(TensorDataset(x[:800], y[:800]), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Linear(3, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=8, T_mult=2, eta_min=1e-5)
loss_fn = nn.MSELoss()

# only the weights at the end of a cycle are kept
snapshot = None
for epoch in range(56):
    for i, (xb, yb) in enumerate(loader):
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        scheduler.step(epoch + (i + 1) / len(loader))
    if epoch + 1 in (8, 24, 56):
        snapshot = copy.deepcopy(model.state_dict())
    if epoch % 4 == 3:
        with torch.no_grad():
            val = loss_fn(model(x[800:]), y[800:]).item()
        print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.4f} loss {loss.item():.5f} val {val:.5f}")
model.load_state_dict(snapshot)
with torch.no_grad():
    print(f"snapshot val {loss_fn(model(x[800:]), y[800:]).item():.6f}")
""",
)

healthy(
    "frozen backbone in evaluation mode",
    """\
import torch
from torch import nn


class Transfer(nn.Module):
    \"\"\"A pretrained body whose weights and running statistics stay as they are, and a new head.\"\"\"

    def __init__(self, body, width, n_classes):
        super().__init__()
        self.body = body.requires_grad_(False)
        self.head = nn.Linear(width, n_classes)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            h = self.body(x)
        return self.head(h)


def fit(model, params, x, y, steps, lr):
    opt = torch.optim.Adam(params, lr=lr)
    model.train()
    for step in range(1, steps + 1):
        idx = torch.randint(0, len(x), (64,))
        out = model(x[idx])
        loss = nn.functional.cross_entropy(out, y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(f"step {step} loss {loss.item():.3f} acc {(out.argmax(1) == y[idx]).float().mean().item():.3f}")


torch.manual_seed(6)
centres = torch.randn(15, 24)
label = torch.randint(0, 15, (4000,))
x = centres[label] + 0.9 * torch.randn(4000, 24)
body = nn.Sequential(nn.Linear(24, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 32), nn.ReLU())
pretrained = nn.Sequential(body, nn.Linear(32, 15))
fit(pretrained, pretrained.parameters(), x[:3000], label[:3000], 400, 2e-3)

few = label % 5
model = Transfer(body, 32, 5)
fit(model, model.head.parameters(), x[3000:3300], few[3000:3300], 300, 1e-2)
model.eval()
with torch.no_grad():
    print(f"test acc {(model(x[3300:]).argmax(1) == few[3300:]).float().mean().item():.3f}")
""",
)

healthy(
    "meta learning of sines",
    """\
import torch
import torch.nn.functional as F

torch.manual_seed(0)


def net(p, x):
    h = torch.tanh(x @ p[0] + p[1])
    h = torch.tanh(h @ p[2] + p[3])
    return h @ p[4] + p[5]


def task():
    amplitude, phase = 0.5 + 1.5 * torch.rand(()), 3.0 * torch.rand(())

    def draw(n):
        x = torch.rand(n, 1) * 6 - 3
        return x, amplitude * torch.sin(x + phase)

    return draw


def adapt(p, x, y, steps, create_graph):
    for _ in range(steps):
        grads = torch.autograd.grad(F.mse_loss(net(p, x), y), p, create_graph=create_graph)
        p = [w - 0.05 * g for w, g in zip(p, grads)]
    return p


sizes = [(1, 32), (32,), (32, 32), (32,), (32, 1), (1,)]
params = [(torch.randn(s) / s[0] ** 0.5 if len(s) == 2 else torch.zeros(s)).requires_grad_() for s in sizes]
optimizer = torch.optim.Adam(params, lr=5e-3)
for it in range(1, 201):
    optimizer.zero_grad()
    total = 0.0
    for _ in range(4):
        draw = task()
        fast = adapt(params, *draw(10), steps=1, create_graph=True)
        x, y = draw(10)
        loss = F.mse_loss(net(fast, x), y) / 4
        loss.backward()
        total += loss.item()
    optimizer.step()
    if it % 40 == 0:
        before = after = 0.0
        for _ in range(40):
            draw = task()
            shots, (x, y) = draw(10), draw(50)
            fast = adapt(params, *shots, steps=3, create_graph=False)
            before += F.mse_loss(net(params, x), y).item() / 40
            after += F.mse_loss(net(fast, x), y).item() / 40
        print(f"{it} meta loss {total:.3f} before adapting {before:.3f} after {after:.3f}")
""",
)

healthy(
    "curriculum of longer sums",
    """\
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Adder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.rnn = nn.GRU(2, dim, batch_first=True)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[1][-1]).squeeze(1)


def batch(n, length):
    \"\"\"Values and two marks: the answer is the sum of the two marked values.\"\"\"
    values, marks = torch.rand(n, length), torch.zeros(n, length)
    half = length // 2
    rows = torch.arange(n)
    first, second = torch.randint(0, half, (n,)), torch.randint(half, length, (n,))
    marks[rows, first] = marks[rows, second] = 1.0
    return torch.stack([values, marks], 2), values[rows, first] + values[rows, second]


torch.manual_seed(4)
model = Adder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
length, smooth = 4, 0.2
ACCUMULATE = 2
for step in range(1, 261):
    total = 0.0
    for _ in range(ACCUMULATE):
        x, y = batch(32, length)
        loss = (model(x) - y).pow(2).mean() / ACCUMULATE
        loss.backward()
        total += loss.item()
    clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    optimizer.zero_grad()
    smooth = 0.9 * smooth + 0.1 * total
    if smooth < 0.01 and length < 16:
        length, smooth = length + 4, 0.1
    if step % 50 == 0:
        print(f"step {step} length {length} loss {total:.4f}")
""",
)

healthy(
    "langevin samples of a posterior",
    """\
import math

import torch
from torch.optim import Optimizer


class SGLD(Optimizer):
    \"\"\"Gradient steps on the energy of all the data with noise of the right size: samples, not a minimum.\"\"\"

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-0.5 * group["lr"])
                p.add_(torch.randn_like(p), alpha=math.sqrt(group["lr"]))


torch.manual_seed(0)
N = 500
x = torch.cat([torch.randn(N, 3), torch.ones(N, 1)], 1)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.3]) + 0.5 * torch.randn(N)
precision = x.T @ x / 0.25 + torch.eye(4)
exact = torch.linalg.solve(precision, x.T @ y / 0.25)
exact_std = torch.linalg.inv(precision).diagonal().sqrt()

w = torch.zeros(4, requires_grad=True)
sampler = SGLD([w], lr=5e-5)
samples = []
for step in range(1, 1001):
    idx = torch.randperm(N)[:250]
    likelihood = 0.5 * (x[idx] @ w - y[idx]).pow(2).sum() / 0.25
    energy = likelihood * (N / len(idx)) + 0.5 * w.dot(w)
    sampler.zero_grad()
    energy.backward()
    sampler.step()
    if step > 200:
        samples.append(w.detach().clone())
    if step % 200 == 0:
        print(f"step {step} energy {energy.item():.1f}")
chain = torch.stack(samples)
print("mean", chain.mean(0).numpy().round(3), "exact", exact.numpy().round(3))
print("std", chain.std(0).numpy().round(4), "exact", exact_std.numpy().round(4))
""",
)

healthy(
    "clipped surrogate whose loss hovers about zero",
    """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
key = torch.randn(5, 3)
policy = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 3))
baseline = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
opt_policy = torch.optim.Adam(policy.parameters(), lr=3e-3)
opt_baseline = torch.optim.Adam(baseline.parameters(), lr=1e-2)


def rollout(count):
    obs = torch.randn(count, 5)
    with torch.no_grad():
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        reward = (obs @ key).gather(1, action.unsqueeze(1)).squeeze(1)
        return obs, action, reward, dist.log_prob(action)


for update in range(1, 81):
    obs, action, reward, old_log_prob = rollout(256)
    with torch.no_grad():
        advantage = reward - baseline(obs).squeeze(1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(4):
        dist = Categorical(logits=policy(obs))
        ratio = (dist.log_prob(action) - old_log_prob).exp()
        clipped = ratio.clamp(0.8, 1.2)
        surrogate = torch.min(ratio * advantage, clipped * advantage).mean()
        loss = -surrogate - 0.001 * dist.entropy().mean()
        opt_policy.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        opt_policy.step()
        value_loss = F.mse_loss(baseline(obs).squeeze(1), reward)
        opt_baseline.zero_grad()
        value_loss.backward()
        opt_baseline.step()
    if update % 16 == 0:
        print(f"update {update} reward {reward.mean():.3f} loss {loss.item():.4f} value loss {value_loss.item():.3f}")
""",
)

healthy(
    "evolution strategy on a flat vector without gradients",
    """\
import torch


def unpack(flat):
    w1, b1, w2, b2 = flat.split([3 * 12, 12, 12, 1], dim=-1)
    return w1.unflatten(-1, (3, 12)), b1.unsqueeze(-2), w2.unflatten(-1, (12, 1)), b2.unsqueeze(-2)


def forward(flat, x):
    w1, b1, w2, b2 = unpack(flat)
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def fitness(flat, x, y):
    return -((forward(flat, x) - y) ** 2).mean(dim=(-2, -1))


def centred_ranks(scores):
    return scores.argsort().argsort().float() / (len(scores) - 1) - 0.5


torch.manual_seed(4)
x = torch.randn(256, 3)
y = (torch.sin(x[:, 0]) + 0.5 * x[:, 1] * torch.sigmoid(x[:, 2])).unsqueeze(1)
theta = 0.3 * torch.randn(61)
sigma, lr = 0.05, 0.5
with torch.no_grad():
    for generation in range(1, 401):
        half = torch.randn(50, 61)
        noise = torch.cat([half, -half])
        scores = fitness(theta + sigma * noise, x, y)
        direction = centred_ranks(scores) @ noise / len(noise)
        theta = theta + lr * direction
        lr *= 0.99
        if generation % 50 == 0:
            print(f"generation {generation} fitness {fitness(theta, x, y).item():.5f} step {lr:.4f}")
""",
)
