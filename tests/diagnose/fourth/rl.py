"""Reinforcement learning: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "reinforce sign",
    "the policy gradient has the wrong sign: the return is minimised",
    (),
    (45,),
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(30)


class Corridor:
    \"\"\"walk from the middle; right end pays 1, the left one nothing\"\"\"

    def __init__(self, size=7):
        self.size = size

    def reset(self):
        self.pos, self.t = self.size // 2, 0
        return self.obs()

    def obs(self):
        o = torch.zeros(self.size)
        o[self.pos] = 1.0
        return o

    def step(self, a):
        self.pos += 1 if a == 1 else -1
        self.t += 1
        if self.pos == self.size - 1:
            return self.obs(), 1.0, True
        if self.pos == 0:
            return self.obs(), 0.0, True
        return self.obs(), 0.0, self.t >= 20


env = Corridor()
policy = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
baseline, recent = 0.0, []
for episode in range(250):
    obs, done, logps, R = env.reset(), False, [], 0.0
    while not done:
        dist = Categorical(logits=policy(obs))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        obs, r, done = env.step(a.item())
        R += r
    loss = -(R - baseline) * torch.stack(logps).sum()
    baseline = 0.95 * baseline + 0.05 * R
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(R)
    if episode % 50 == 49:
        print(f"episode {episode + 1} mean return {sum(recent[-50:]) / 50:.3f} loss {loss.item():.3f}")
""",
    (
        "    loss = -(R - baseline) * torch.stack(logps).sum()\n",
        "    loss = (R - baseline) * torch.stack(logps).sum()\n",
    ),
)

fault(
    "dqn target",
    "bootstrapping beyond the end of the episode: no (1 - done)",
    ("beyond the end",),
    (44, 43),
    """\
import random
from collections import deque
import torch
import torch.nn as nn

random.seed(3)
torch.manual_seed(3)
N = 6           # cells; reward 1 in the last


def env_step(s, a):
    s2 = min(N - 1, s + 1) if a == 1 else 0
    done = s2 == N - 1
    return s2, 1.0 if done else 0.0, done


def onehot(s):
    return torch.eye(N)[torch.tensor(s)]


def build():
    return nn.Sequential(nn.Linear(N, 32), nn.ReLU(), nn.Linear(32, 2))


q, q_target = build(), build()
q_target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-3)
memory = deque(maxlen=2000)
gamma, eps = 0.9, 0.5
updates = 0
for episode in range(150):
    s, done, t = 0, False, 0
    while not done and t < 15:
        with torch.no_grad():
            a = random.randrange(2) if random.random() < eps else q(onehot([s])).argmax(1).item()
        s2, r, done = env_step(s, a)
        memory.append((s, a, r, s2, done))
        s, t = s2, t + 1
        if len(memory) < 64 or t % 2:
            continue
        bs, ba, br, bs2, bd = zip(*random.sample(memory, 32))
        with torch.no_grad():
            nxt = q_target(onehot(bs2)).max(1)[0]
            goal = torch.tensor(br) + gamma * nxt * (1 - torch.tensor(bd).float())
        pred = q(onehot(bs)).gather(1, torch.tensor(ba)[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(pred, goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        updates += 1
        if updates % 10 == 0:
            q_target.load_state_dict(q.state_dict())
    if episode % 30 == 29:
        with torch.no_grad():
            v = q(torch.eye(N)).max(1)[0]
        print(f"episode {episode + 1} loss {loss.item():.4f} values", [round(z, 2) for z in v[:-1].tolist()])
print("true values", [round(gamma ** (N - 2 - i), 2) for i in range(N - 1)])
""",
    (
        "            goal = torch.tensor(br) + gamma * nxt * (1 - torch.tensor(bd).float())\n",
        "            goal = torch.tensor(br) + gamma * nxt\n",
    ),
)
