"""Reinforcement learning: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "returns in reversed order",
    "the returns are gathered from the last step backwards and never turned round, so they meet wrong actions",
    ("returns forward",),
    (33,),
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, length=7):
        self.length = length

    def reset(self):
        self.place, self.clock = 0, 0
        return self.look()

    def look(self):
        view = torch.zeros(self.length)
        view[self.place] = 1.0
        return view

    def step(self, action):
        reward = 0.0
        self.clock += 1
        if self.clock <= 8:
            reward = 1.0 if action == self.place % 3 else -1.0
        self.place = (self.place + 1) % self.length
        return self.look(), reward, self.clock >= 14


def discounted(rewards, gamma):
    returns = []
    running = 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    return returns - returns.mean()


torch.manual_seed(0)
env = Corridor()
policy = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
scores = []
for episode in range(1, 301):
    state, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        state, reward, done = env.step(action.item())
        rewards.append(reward)
    returns = discounted(rewards, 0.6)
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores.append(sum(rewards))
    if episode % 50 == 0:
        print(f"episode {episode} loss {loss.item():.3f} mean score {sum(scores[-50:]) / 50:.2f}")
""",
    ("        returns.insert(0, running)\n", "        returns.append(running)\n"),
)

fault(
    "one array for all remembered states",
    "the environment hands out the array it moves in place and the memory keeps it uncopied, so that every "
    "remembered state and its successor are the same",
    ("next is now",),
    (25, 17, 60),
    """\
import random
from collections import deque

import numpy as np
import torch
from torch import nn


class Grid:
    def __init__(self, size=5):
        self.size = size
        self.position = np.zeros(2, dtype=np.float32)

    def reset(self):
        self.position[:] = 0
        self.steps = 0
        return self.position.copy()

    def step(self, action):
        self.steps += 1
        axis, way = action // 2, 1 if action % 2 else -1
        self.position[axis] = min(max(self.position[axis] + way, 0), self.size - 1)
        found = bool((self.position == self.size - 1).all())
        reward = 1.0 if found else -0.05
        return self.position.copy(), reward, found, self.steps >= 40


def act(net, state, epsilon):
    if random.random() < epsilon:
        return random.randrange(4)
    with torch.no_grad():
        return net(torch.from_numpy(state) / 4).argmax().item()


def learn(net, target, optimizer, memory):
    states, actions, rewards, following, ends = zip(*random.sample(memory, 32))
    states, following = torch.from_numpy(np.stack(states)) / 4, torch.from_numpy(np.stack(following)) / 4
    rewards, ends = torch.tensor(rewards), torch.tensor(ends).float()
    q = net(states).gather(1, torch.tensor(actions)[:, None]).squeeze(1)
    with torch.no_grad():
        goal = rewards + 0.9 * (1 - ends) * target(following).max(1).values
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


random.seed(0)
torch.manual_seed(0)
env, memory = Grid(), deque(maxlen=1500)
net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))
target = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))
target.load_state_dict(net.state_dict())
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
state, score, scores, loss = env.reset(), 0.0, [], 0.0
for step in range(1, 1801):
    action = act(net, state, max(0.1, 1 - step / 900))
    following, reward, found, late = env.step(action)
    memory.append((state, action, reward, following, found))
    state, score = following, score + reward
    if found or late:
        scores.append(score)
        state, score = env.reset(), 0.0
    if len(memory) >= 100 and step % 2 == 0:
        loss = learn(net, target, optimizer, memory)
    if step % 50 == 0:
        target.load_state_dict(net.state_dict())
    if step % 300 == 0:
        print(f"{step} loss {loss:.5f} mean score of the last {np.mean(scores[-10:]):.3f} episodes {len(scores)}")
""",
    ("        return self.position.copy()\n\n    def step", "        return self.position\n\n    def step"),
    ("return self.position.copy(), reward", "return self.position, reward"),
)

healthy(
    "clipped policy steps over one batch",
    """\
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.full((2,), -0.5))
nn.init.uniform_(actor[-1].weight, -1e-3, 1e-3)
nn.init.zeros_(actor[-1].bias)
params = [*actor.parameters(), *critic.parameters(), log_std]
optimizer = torch.optim.Adam(params, lr=3e-3, eps=1e-5)
target = torch.tensor([[1.0, -0.5, 0.3], [0.2, 0.8, -1.0]])


def rollout(size):
    state = torch.randn(size, 3)
    with torch.no_grad():
        policy = Normal(actor(state), log_std.exp())
        action = policy.sample()
        reward = -((action - torch.tanh(state @ target.t())) ** 2).sum(1)
        return state, action, policy.log_prob(action).sum(1), reward, critic(state).squeeze(1)


for iteration in range(1, 61):
    state, action, old_log_prob, reward, value = rollout(256)
    advantage = reward - value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    first = None
    for _ in range(4):
        for index in torch.randperm(256).split(64):
            policy = Normal(actor(state[index]), log_std.exp())
            ratio = (policy.log_prob(action[index]).sum(1) - old_log_prob[index]).exp()
            clipped = ratio.clamp(0.8, 1.2)
            loss_actor = -torch.min(ratio * advantage[index], clipped * advantage[index]).mean()
            loss_critic = (critic(state[index]).squeeze(1) - reward[index]).pow(2).mean()
            loss = loss_actor + 0.5 * loss_critic - 0.001 * policy.entropy().sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(params, 0.5)
            optimizer.step()
            first = loss_actor.item() if first is None else first
    if iteration % 10 == 0:
        mean, spread = reward.mean().item(), log_std.exp().mean().item()
        print(f"{iteration} reward {mean:.3f} first {first:.4f} last {loss_actor.item():.4f} spread {spread:.3f}")
""",
)

healthy(
    "evolution strategy without gradients",
    """\
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
torch.set_grad_enabled(False)


def balance(policies, start, steps=40):
    w1, b1, w2 = policies
    angle, speed = start
    total = torch.zeros(angle.shape)
    for _ in range(steps):
        seen = torch.stack([angle, speed], dim=-1)
        hidden = torch.tanh(torch.baddbmm(b1[:, None], seen, w1.transpose(1, 2)))
        push = torch.tanh(hidden @ w2.transpose(1, 2)).squeeze(-1)
        speed = speed + 0.1 * (1.5 * torch.sin(angle) + 3.0 * push)
        angle = angle + 0.1 * speed
        total = total - angle.clamp(-3, 3) ** 2 - 0.01 * push**2
    return total.mean(dim=1) / steps


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 8)
        self.outer = nn.Linear(8, 1, bias=False)


def unpack(flat):
    return flat[:, :16].reshape(-1, 8, 2), flat[:, 16:24], flat[:, 24:].reshape(-1, 1, 8)


policy = Policy()
center = parameters_to_vector(policy.parameters())
optimizer = torch.optim.Adam([center], lr=0.03)
pairs, sigma = 32, 0.1
for generation in range(1, 121):
    noise = torch.randn(pairs, center.numel())
    population = torch.cat([center + sigma * noise, center - sigma * noise])
    start = 0.5 * torch.randn(2, 1, 8).expand(2, 2 * pairs, 8)
    fitness = balance(unpack(population), start)
    ranks = fitness.argsort().argsort().float() / (2 * pairs - 1) - 0.5
    slope = ((ranks[:pairs] - ranks[pairs:]) @ noise) / (pairs * sigma)
    center.grad = -slope
    optimizer.step()
    if generation == 1 or generation % 20 == 0:
        test = 0.5 * torch.randn(2, 1, 64)
        score = balance(unpack(center[None]), test).item()
        print(f"generation {generation} population {fitness.mean().item():.3f} center {score:.3f}")
vector_to_parameters(center, policy.parameters())
""",
)
