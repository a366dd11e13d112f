"""Programs of several kinds: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "returns left in reverse",
    "the discounted returns are gathered from the last step backwards and never turned round, so each step's "
    "log-probability is weighted with another step's return",
    ("returns forward",),
    (29, 28, 26),
    """\
import torch
from torch import nn
from torch.distributions import Categorical


class Signals:
    def __init__(self, length=20):
        self.length = length
        self.key = torch.randn(6, 4)

    def reset(self):
        self.t = 0
        self.obs = torch.randn(6)
        return self.obs

    def step(self, action):
        reward = 1.0 if action == (self.obs @ self.key).argmax().item() else 0.0
        self.t += 1
        self.obs = torch.randn(6)
        return self.obs, reward, self.t >= self.length


def discounted(rewards, gamma):
    returns = []
    running = 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.append(running)
    returns.reverse()
    return torch.tensor(returns)


torch.manual_seed(3)
env = Signals()
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
history = []
for episode in range(1, 241):
    obs, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward, done = env.step(action.item())
        rewards.append(reward)
    returns = discounted(rewards, gamma=0.3)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.stack(log_probs) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(sum(rewards))
    if episode % 40 == 0:
        print(f"episode {episode} mean reward {sum(history[-40:]) / 40:.2f} of {env.length}")
""",
    ("    returns.reverse()\n", ""),
)

fault(
    "bootstrap across the end of an episode",
    "the target adds the value of the next observation for terminal steps too, the start of a new episode",
    ("beyond the end",),
    (54,),
    """\
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

SIZE, START, GAMMA = 9, 2, 0.95


def env_step(pos, action):
    pos = pos + (1 if action == 1 else -1)
    if pos == 0:
        return START, 0.5, 1.0
    if pos == SIZE - 1:
        return START, 1.0, 1.0
    return pos, 0.0, 0.0


def encode(positions):
    return F.one_hot(torch.as_tensor(positions), SIZE).float()


def greedy_return(net):
    pos = START
    for k in range(20):
        pos, reward, done = env_step(pos, net(encode([pos])).argmax(1).item())
        if done:
            return reward * GAMMA**k
    return 0.0


random.seed(0)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(SIZE, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = nn.Sequential(nn.Linear(SIZE, 32), nn.ReLU(), nn.Linear(32, 2))
target_net.load_state_dict(net.state_dict())
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
memory = deque(maxlen=5000)
pos = START
for step in range(1, 2401):
    epsilon = max(0.3, 1.0 - step / 1500)
    with torch.no_grad():
        action = random.randrange(2) if random.random() < epsilon else net(encode([pos])).argmax(1).item()
    nxt, reward, done = env_step(pos, action)
    memory.append((pos, action, reward, nxt, done))
    pos = nxt
    if step > 200 and step % 3 == 0:
        s, a, r, s2, d = zip(*random.sample(memory, 64))
        r, d = torch.tensor(r), torch.tensor(d)
        q = net(encode(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = target_net(encode(s2)).max(dim=1).values
            target = r + GAMMA * (1.0 - d) * best
        loss = F.smooth_l1_loss(q, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if step % 60 == 0:
        target_net.load_state_dict(net.state_dict())
    if step % 600 == 0:
        print(f"step {step} greedy return {greedy_return(net):.3f} value of start {net(encode([START])).max():.3f}")
""",
    ("            target = r + GAMMA * (1.0 - d) * best\n", "            target = r + GAMMA * best\n"),
)

fault(
    "velocity bound to a loop name",
    "the new velocity is bound to the loop's own name and not kept, so the momentum starts at zero each step",
    ("kept nowhere",),
    (23,),
    """\
import torch


def init_params(sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        params.append((torch.randn(n_in, n_out) / n_in**0.5).requires_grad_())
        params.append(torch.zeros(n_out, requires_grad=True))
    return params


def forward(params, x):
    pairs = list(zip(params[::2], params[1::2]))
    for w, b in pairs[:-1]:
        x = torch.tanh(x @ w + b)
    w, b = pairs[-1]
    return x @ w + b


def update(params, velocity, grads, lr, beta):
    with torch.no_grad():
        for p, v, g in zip(params, velocity, grads):
            v.mul_(beta).add_(g)
            p.sub_(lr * v)


torch.manual_seed(1)
x = torch.rand(1024, 2) * 4 - 2
y = torch.sin(2 * x[:, :1]) * torch.cos(x[:, 1:])
params = init_params([2, 48, 48, 1])
velocity = [torch.zeros_like(p) for p in params]
for step in range(1, 801):
    idx = torch.randint(0, len(x), (128,))
    loss = ((forward(params, x[idx]) - y[idx]) ** 2).mean()
    grads = torch.autograd.grad(loss, params)
    update(params, velocity, grads, lr=0.02, beta=0.95)
    if step % 100 == 0:
        with torch.no_grad():
            full = ((forward(params, x) - y) ** 2).mean()
        print(f"step {step} mse {full:.5f}")
""",
    ("            v.mul_(beta).add_(g)\n", "            v = beta * v + g\n"),
)

fault(
    "functional dropout always on",
    "F.dropout is on unless it is switched off, so it also drops units when the model is evaluated",
    ("draws outside",),
    (16,),
    """\
import torch
import torch.nn.functional as F


def make_params(n_in, hidden, n_out):
    return {
        "w1": (torch.randn(hidden, n_in) * (2 / n_in) ** 0.5).requires_grad_(),
        "b1": torch.zeros(hidden, requires_grad=True),
        "w2": (torch.randn(n_out, hidden) * (1 / hidden) ** 0.5).requires_grad_(),
        "b2": torch.zeros(n_out, requires_grad=True),
    }


def model(params, x, training):
    h = F.relu(F.linear(x, params["w1"], params["b1"]))
    h = F.dropout(h, p=0.5, training=training)
    return F.linear(h, params["w2"], params["b2"])


def evaluate(params, x, y):
    with torch.no_grad():
        logits = model(params, x, training=False)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


torch.manual_seed(5)
centres = torch.randn(10, 16)
labels = torch.randint(0, 10, (3000,))
features = centres[labels] + 0.6 * torch.randn(3000, 16)
train_x, train_y = features[:2000], labels[:2000]
val_x, val_y = features[2000:], labels[2000:]

params = make_params(16, 32, 10)
optimizer = torch.optim.Adam(params.values(), lr=3e-3)
for epoch in range(1, 13):
    order = torch.randperm(len(train_x))
    for idx in order.split(64):
        loss = F.cross_entropy(model(params, train_x[idx], training=True), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        val_loss, val_acc = evaluate(params, val_x, val_y)
        print(f"epoch {epoch} train loss {loss.item():.3f} val loss {val_loss:.3f} val acc {val_acc:.3f}")
""",
    ("p=0.5, training=training)\n", "p=0.5)\n"),
)
