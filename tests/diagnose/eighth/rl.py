"""Reinforcement learning: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "returns in the wrong order",
    "the discounted returns are gathered from the last step back and never turned round, so step t gets the "
    "return of step T - t",
    ("returns forward",),
    (30, 31),
    """\
import math

import torch
from torch import nn
from torch.distributions import Categorical


class Pole:
    def __init__(self, limit=60, dt=0.05):
        self.limit, self.dt = limit, dt

    def reset(self):
        self.angle, self.speed = (0.1 * torch.rand(2) - 0.05).tolist()
        self.t = 0
        return torch.tensor([self.angle, self.speed])

    def step(self, action):
        push = 4.0 if action == 1 else -4.0
        self.speed += self.dt * (9.8 * math.sin(self.angle) + push)
        self.angle += self.dt * self.speed
        self.t += 1
        done = abs(self.angle) > 0.25 or self.t >= self.limit
        return torch.tensor([self.angle, self.speed]), 1.0, done


def discount(rewards, gamma):
    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    return (returns - returns.mean()) / (returns.std() + 1e-8)


torch.manual_seed(5)
env = Pole()
policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
lengths = []
for episode in range(1, 241):
    state, done, log_probs, rewards = env.reset(), False, [], []
    while not done:
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        state, reward, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        rewards.append(reward)
    loss = -(torch.stack(log_probs) * discount(rewards, 0.97)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lengths.append(len(rewards))
    if episode % 20 == 0:
        print(f"episode {episode} mean length {sum(lengths[-20:]) / 20:.1f}")
""",
    ("        returns.insert(0, running)\n", "        returns.append(running)\n"),
)

fault(
    "values against a column",
    "gather leaves q of shape (batch, 1), so subtracting the targets of shape (batch,) makes a batch x batch "
    "matrix and every q is drawn to the mean target",
    ("broadcast",),
    (47, 51),
    """\
import copy
import random
from collections import deque

import torch
from torch import nn


def step(pos, action):
    dx, dy = [(0, 1), (0, -1), (1, 0), (-1, 0)][action]
    pos = (min(max(pos[0] + dx, 0), 3), min(max(pos[1] + dy, 0), 3))
    if pos == (3, 3):
        return pos, 1.0, True
    if pos in {(1, 2), (2, 0)}:
        return pos, -1.0, True
    return pos, -0.02, False


def encode(positions):
    index = torch.tensor([4 * x + y for x, y in positions])
    return nn.functional.one_hot(index, 16).float()


random.seed(0)
torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=2e-3)
memory = deque(maxlen=2000)
gamma, batch_size, scores, score = 0.95, 64, [], 0.0
pos, length = (0, 0), 0

for t in range(1, 2501):
    epsilon = max(0.05, 1.0 - t / 1250)
    with torch.no_grad():
        greedy = q_net(encode([pos])).argmax().item()
    action = random.randrange(4) if random.random() < epsilon else greedy
    new_pos, reward, done = step(pos, action)
    memory.append((pos, action, reward, new_pos, float(done)))
    pos, score, length = new_pos, score + reward, length + 1
    if done or length >= 50:
        scores.append(score)
        pos, score, length = (0, 0), 0.0, 0

    if t >= 200 and t % 3 == 0:
        s, a, r, s2, d = zip(*random.sample(memory, batch_size))
        q = q_net(encode(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = target_net(encode(s2)).max(dim=1).values
            target = torch.tensor(r) + gamma * best * (1 - torch.tensor(d))
        loss = (q - target).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if t % 100 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if t % 500 == 0:
        print(f"step {t} loss {loss.item():.4f} mean score {sum(scores[-20:]) / len(scores[-20:]):.3f}")
""",
    (".gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)\n", ".gather(1, torch.tensor(a).unsqueeze(1))\n"),
)
