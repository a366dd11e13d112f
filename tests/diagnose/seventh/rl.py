"""Reinforcement learning: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "reinforce on a line",
    "the returns are gathered walking backwards and never turned round, so they meet the wrong steps",
    ("returns forward",),
    (41, 42),
    """\
import random

import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    \"\"\"Reach cell 6 of a ring of 11, left or right, in at most 25 steps; each step costs.\"\"\"

    def reset(self):
        self.pos, self.t = random.choice([0, 1, 2, 3, 4, 5, 7, 8, 9, 10]), 0
        return self.obs()

    def obs(self):
        return nn.functional.one_hot(torch.tensor(self.pos), 11).float()

    def step(self, action):
        self.pos = (self.pos + (1 if action == 1 else -1)) % 11
        self.t += 1
        won = self.pos == 6
        return self.obs(), 1.0 if won else -0.1, won or self.t == 25


def play(env, policy):
    state, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        state, reward, done = env.step(action.item())
        log_probs.append(dist.log_prob(action))
        rewards.append(reward)
    return torch.stack(log_probs), rewards


def discounted(rewards, gamma=0.7):
    returns, running = [], 0.0
    for r in reversed(rewards):
        running = r + gamma * running
        returns.insert(0, running)
    return torch.tensor(returns)


random.seed(1)
torch.manual_seed(1)
env, policy = Corridor(), nn.Sequential(nn.Linear(11, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
lengths = []
for episode in range(400):
    log_probs, rewards = play(env, policy)
    loss = -(log_probs * discounted(rewards)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lengths.append(len(rewards))
    if (episode + 1) % 80 == 0:
        print(f"episode {episode + 1} mean length {sum(lengths[-80:]) / 80:.1f} last loss {loss.item():.2f}")
""",
    ("        returns.insert(0, running)\n", "        returns.append(running)\n"),
)

fault(
    "q learning with a replay",
    "the bootstrapped target ignores done, so the end of an episode is worth what a next state would be",
    ("beyond the end",),
    (47,),
    """\
import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

random.seed(0)
torch.manual_seed(0)
GAMMA = 0.98


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 3))

    def forward(self, x):
        return self.layers(x)


def step(pos, vel, action):
    \"\"\"Park a cart at the right: leave by the right edge for +1, by the left for -1.\"\"\"
    vel = 0.8 * vel + 0.15 * (action - 1) + random.gauss(0, 0.02)
    pos = pos + vel
    done = abs(pos) > 1
    return pos, vel, (1.0 if pos > 1 else -1.0) if done else -0.01, done


q, target = QNet(), QNet()
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=2e-3)
memory = deque(maxlen=5000)
pos, vel = 0.0, 0.0
for t in range(1, 1501):
    if random.random() < max(0.05, 1 - t / 800):
        action = random.randrange(3)
    else:
        action = q(torch.tensor([pos, vel])).argmax().item()
    new_pos, new_vel, reward, done = step(pos, vel, action)
    memory.append((pos, vel, action, reward, new_pos, new_vel, float(done)))
    pos, vel = (random.uniform(-0.8, 0.8), 0.0) if done else (new_pos, new_vel)
    if t >= 100:
        batch = torch.tensor(random.sample(memory, 64))
        s, a, r, s2, d = batch[:, :2], batch[:, 2].long(), batch[:, 3], batch[:, 4:6], batch[:, 6]
        with torch.no_grad():
            goal = r + GAMMA * target(s2).max(1).values * (1 - d)
        loss = F.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if t % 50 == 0:
        target.load_state_dict(q.state_dict())
    if t % 250 == 0:
        with torch.no_grad():
            print(f"step {t} loss {loss.item():.4f} mean value {q(s).max(1).values.mean().item():.3f}")
""",
    ("target(s2).max(1).values * (1 - d)\n", "target(s2).max(1).values\n"),
)

fault(
    "actor and critic on targets",
    "values keep a last dimension of one, so returns minus values is a square matrix of all pairs",
    ("broadcast",),
    (24, 42),
    """\
import torch
from torch import nn, optim
from torch.distributions import Normal


class ActorCritic(nn.Module):
    \"\"\"A Gaussian policy and a value on a shared trunk.\"\"\"

    def __init__(self, obs_dim, act_dim, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, act_dim)
        self.log_std = nn.Parameter(torch.full((act_dim,), -0.7))
        self.critic = nn.Sequential(
            nn.Linear(obs_dim, hidden),
            nn.Tanh(),
            nn.Linear(hidden, 1),
        )

    def policy(self, obs):
        return Normal(self.mu(self.trunk(obs)), self.log_std.exp())

    def value(self, obs):
        return self.critic(obs).squeeze(-1)


def reward_of(obs, action):
    # goal differs by state, and so does what a state is worth
    goal = torch.stack([obs[:, 0], -obs[:, 1]], 1)
    return 3 * obs[:, 2] + obs[:, 3] ** 2 - (action - goal).pow(2).sum(1)


torch.manual_seed(5)
agent = ActorCritic(4, 2)
opt = optim.Adam(agent.parameters(), lr=3e-3)

for it in range(1, 601):
    obs = torch.randn(64, 4)
    dist = agent.policy(obs)
    action = dist.sample()
    returns = reward_of(obs, action)
    advantage = returns - agent.value(obs)

    critic_loss = advantage.pow(2).mean()
    actor_loss = -(dist.log_prob(action).sum(-1) * advantage.detach()).mean()
    entropy = dist.entropy().sum(-1).mean()
    loss = actor_loss + 0.5 * critic_loss - 1e-3 * entropy

    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 5.0)
    opt.step()

    if it % 100 == 0:
        with torch.no_grad():
            probe = torch.randn(512, 4)
            greedy = agent.policy(probe).mean
            regret = (reward_of(probe, greedy) - 3 * probe[:, 2] - probe[:, 3] ** 2).mean()
        print(f"iter {it} critic {critic_loss.item():.3f} distance to goal {-regret.item():.3f}")
""",
    ("        return self.critic(obs).squeeze(-1)\n", "        return self.critic(obs)\n"),
)
