"""Rewards: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "cartpole bc",
    "the forward pass of the training loop runs under no_grad: backward raises, nothing requires grad",
    ("no gradient",),
    (33,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(44)


def expert(state):
    \"\"\"A controller that balances the pole: push to where it falls.\"\"\"
    return (0.3 * state[:, 0] + 0.5 * state[:, 1] + 3.0 * state[:, 2] + 1.0 * state[:, 3] > 0).long()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, state):
        return self.layers(state)

    def act(self, state):
        return self(state).argmax(dim=1)


class Trainer:
    def __init__(self, policy, lr=5e-3):
        self.policy = policy
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def train_epoch(self, states, actions, size=50):
        total = 0.0
        for idx in torch.randperm(len(states)).split(size):
            logits = self.policy(states[idx])
            loss = self.loss_fn(logits, actions[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(idx)
        return total / len(states)

    @torch.no_grad()
    def agreement(self, states):
        return (self.policy.act(states) == expert(states)).float().mean().item()


demos = torch.randn(600, 4)
fresh = torch.randn(300, 4)
trainer = Trainer(Policy())
print("before: agreement with the expert", round(trainer.agreement(fresh), 3))
for epoch in range(15):
    loss = trainer.train_epoch(demos, expert(demos))
    if epoch % 3 == 0:
        print(f"epoch {epoch}: loss {loss:.4f} agreement {trainer.agreement(fresh):.3f}")
""",
    (
        "            logits = self.policy(states[idx])\n",
        "            with torch.no_grad():\n                logits = self.policy(states[idx])\n",
    ),
)

fault(
    "chain dqn",
    "optimizer.step() runs before loss.backward(), right after zero_grad: gradients are never used",
    ("cleared",),
    (55,),
    """\
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(2)
torch.manual_seed(2)
LENGTH, GAMMA = 6, 0.9


class Corridor:
    \"\"\"Walk right to the end for a reward of 1; left only costs time.\"\"\"

    def reset(self):
        self.s = 0
        self.t = 0
        return self.s

    def step(self, action):
        self.s = min(LENGTH - 1, self.s + 1) if action == 1 else max(0, self.s - 1)
        self.t += 1
        goal = self.s == LENGTH - 1
        return self.s, float(goal), goal, goal or self.t >= 20


def one_hot(states):
    return F.one_hot(torch.tensor(states), LENGTH).float()


def make():
    return nn.Sequential(nn.Linear(LENGTH, 24), nn.ReLU(), nn.Linear(24, 2))


q, target = make(), make()
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=5e-3)
env, memory, losses = Corridor(), [], []

for episode in range(40):
    s, over = env.reset(), False
    while not over:
        a = random.randint(0, 1)
        s2, r, goal, over = env.step(a)
        memory.append((s, a, r, s2, float(goal)))
        s = s2
        if len(memory) < 32:
            continue
        bs, ba, br, bs2, bd = zip(*random.sample(memory, 16))
        with torch.no_grad():
            best = target(one_hot(bs2)).max(1).values
            goal_q = torch.tensor(br) + GAMMA * best * (1 - torch.tensor(bd))
        now = q(one_hot(bs)).gather(1, torch.tensor(ba)[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(now, goal_q)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if episode % 4 == 0:
        target.load_state_dict(q.state_dict())
        print("episode", episode, "loss %.5f" % (sum(losses[-50:]) / max(1, len(losses[-50:]))))

with torch.no_grad():
    values = q(one_hot(list(range(LENGTH - 1))))
print("value of moving right:", [round(v, 2) for v in values[:, 1].tolist()])
print("should be            :", [round(GAMMA ** k, 2) for k in range(LENGTH - 2, -1, -1)])
""",
    ("        optimizer.zero_grad()\n", "        optimizer.zero_grad()\n        optimizer.step()\n"),
    ("        loss.backward()\n        optimizer.step()\n", "        loss.backward()\n"),
)

fault(
    "slot machines",
    "the sign of the policy gradient: log-probability times advantage is minimised, the best actions are unlearnt",
    ("reward turned",),
    (44,),
    """\
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(40)


class Casino:
    \"\"\"Four machines; which one pays depends on the colour of the light.\"\"\"

    def __init__(self, n_colours=3, n_machines=4):
        self.n = n_colours
        self.pay = torch.rand(n_colours, n_machines) * 0.4
        self.pay[torch.arange(n_colours), torch.tensor([2, 0, 3])] = 0.9

    def lights(self, n):
        return torch.randint(0, self.n, (n,))

    def pull(self, light, machine):
        return (torch.rand(len(light)) < self.pay[light, machine]).float()


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Embedding(3, 8), nn.Tanh(), nn.Linear(8, 4))

    def forward(self, light):
        return Categorical(logits=self.body(light))


casino, agent = Casino(), Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=0.02)
baseline, window = 0.0, []

for episode in range(1, 301):
    light = casino.lights(24)
    policy = agent(light)
    machine = policy.sample()
    reward = casino.pull(light, machine)
    advantage = reward - baseline
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()

    loss = -(policy.log_prob(machine) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    window.append(reward.mean().item())
    if episode % 50 == 0:
        print(f"episode {episode} loss {loss.item():+.4f} reward {sum(window) / len(window):.3f}")
        window.clear()

with torch.no_grad():
    print("choice per colour", agent(torch.arange(3)).probs.argmax(1).tolist(), "best [2, 0, 3]")
""",
    (
        "    loss = -(policy.log_prob(machine) * advantage).mean()\n",
        "    loss = (policy.log_prob(machine) * advantage).mean()\n",
    ),
)

healthy(
    "noisy bandit",
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(9)


class ActorCritic(nn.Module):
    def __init__(self, n_obs=4, n_act=3):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(n_obs, 24), nn.Tanh(), nn.Linear(24, n_act))
        self.v = nn.Sequential(nn.Linear(n_obs, 24), nn.Tanh(), nn.Linear(24, 1))


W = torch.randn(4, 3)


def observe(n):
    return torch.randn(n, 4)


def reward(obs, action):
    best = (obs @ W).argmax(1)
    return (action == best).float() + 3.0 * torch.randn(len(obs))


agent = ActorCritic()
opt = torch.optim.Adam(agent.parameters(), lr=0.01)
for it in range(300):
    obs = observe(128)
    dist = Categorical(logits=agent.pi(obs))
    act = dist.sample()
    r = reward(obs, act)
    value = agent.v(obs).squeeze(1)
    advantage = (r - value).detach()
    policy_loss = -(dist.log_prob(act) * advantage).mean()
    value_loss = (value - r).pow(2).mean()
    loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 49:
        with torch.no_grad():
            o = observe(500)
            good = (agent.pi(o).argmax(1) == (o @ W).argmax(1)).float().mean().item()
        print(f"it {it + 1} loss {loss.item():.3f} mean reward {r.mean().item():+.3f} best action chosen {good:.3f}")
""",
)

healthy(
    "soft target",
    """\
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(12)
torch.manual_seed(12)
SIDE, GAMMA, TAU = 4, 0.9, 0.05
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
GOAL = (3, 3)


def move(cell, a):
    r = min(SIDE - 1, max(0, cell[0] + MOVES[a][0]))
    c = min(SIDE - 1, max(0, cell[1] + MOVES[a][1]))
    return (r, c)


def encode(cells):
    return F.one_hot(torch.tensor([r * SIDE + c for r, c in cells]), SIDE * SIDE).float()


online = nn.Sequential(nn.Linear(SIDE * SIDE, 32), nn.ReLU(), nn.Linear(32, 4))
target = nn.Sequential(nn.Linear(SIDE * SIDE, 32), nn.ReLU(), nn.Linear(32, 4))
target.load_state_dict(online.state_dict())
for p in target.parameters():
    p.requires_grad = False
opt = torch.optim.Adam(online.parameters(), lr=5e-3)
everything = [((r, c), a) for r in range(SIDE) for c in range(SIDE) for a in range(4) if (r, c) != GOAL]

running = 0.0
for step in range(1, 601):
    chosen = random.sample(everything, 24)
    now = [s for s, _ in chosen]
    act = torch.tensor([a for _, a in chosen])
    nxt = [move(s, a) for s, a in chosen]
    done = torch.tensor([float(n == GOAL) for n in nxt])
    aim = (done + GAMMA * (1 - done) * target(encode(nxt)).max(1).values).detach()
    q = online(encode(now)).gather(1, act[:, None]).squeeze(1)
    loss = F.mse_loss(q, aim)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for t, o in zip(target.parameters(), online.parameters()):
            t.mul_(1 - TAU).add_(o, alpha=TAU)
    running += loss.item()
    if step % 100 == 0:
        print(f"step {step} loss {running / 100:.5f}")
        running = 0.0

cell, path = (0, 0), [(0, 0)]
with torch.no_grad():
    while cell != GOAL and len(path) < 15:
        cell = move(cell, online(encode([cell])).argmax().item())
        path.append(cell)
print("path of", len(path) - 1, "moves (6 is shortest):", path)
""",
)
