"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "concrete strength regression with a Trainer",
    "predictions of shape (B, 1) minus targets of shape (B,) broadcast to (B, B), so every sample is pulled to the batch mean and R2 stays near 0",
    ("broadcast",),
    (42, 43),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_num_threads(1)


def make_mixes(n):
    # cement, slag, water, superplasticizer, age (all already scaled to about unit range)
    x = torch.rand(n, 5)
    ratio = x[:, 2] / (0.4 + x[:, 0] + 0.5 * x[:, 1])
    strength = 55 * torch.exp(-1.3 * ratio) * (0.4 + 0.6 * torch.log1p(4 * x[:, 4])) + 8 * x[:, 3] * (1 - x[:, 2])
    return x, strength + 1.5 * torch.randn(n)


class StrengthNet(nn.Module):
    def __init__(self, n_in, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.body(x))


class Trainer:
    def __init__(self, model, train_set, val_set, lr=2e-3, batch_size=64):
        self.model = model
        self.loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.val_x, self.val_y = val_set.tensors
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-4)
        self.history = []

    def loss_fn(self, pred, target):
        return (pred - target).pow(2).mean()

    def train_epoch(self):
        self.model.train()
        running = 0.0
        for xb, yb in self.loader:
            pred = self.model(xb).squeeze(1)
            loss = self.loss_fn(pred, yb)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            running += loss.item() * len(xb)
        return running / len(self.loader.dataset)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        pred = self.model(self.val_x).squeeze(1)
        resid = ((pred - self.val_y) ** 2).sum()
        total = ((self.val_y - self.val_y.mean()) ** 2).sum()
        return (1 - resid / total).item()

    def fit(self, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch()
            r2 = self.evaluate()
            self.history.append((loss, r2))
            if epoch % 10 == 9:
                print(f"epoch {epoch + 1:3d}  train mse {loss:.4f}  val R2 {r2:.3f}")


x, y = make_mixes(2400)
mean, std = y[:2000].mean(), y[:2000].std()
y = (y - mean) / std
train_set = TensorDataset(x[:2000], y[:2000])
val_set = TensorDataset(x[2000:], y[2000:])

trainer = Trainer(StrengthNet(5), train_set, val_set)
trainer.fit(50)
print("final R2", round(trainer.history[-1][1], 3))
""",
    ("            pred = self.model(xb).squeeze(1)\n", "            pred = self.model(xb)\n"),
)

fault(
    "insurance claim counts with a Poisson loss",
    "the network returns rates but nn.PoissonNLLLoss() takes logarithms of rates by default (log_input=True), so the net learns log-rates clipped at 0 and predicted totals are far off",
    ("rates for logs",),
    (50, 60, 36),
    """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(11)
torch.manual_seed(11)
torch.set_num_threads(1)

N = 6000
age = rng.uniform(18, 80, N)
power = rng.integers(4, 12, N)
region = rng.integers(0, 6, N)
km = rng.gamma(3.0, 5.0, N)

region_effect = np.array([-0.3, 0.0, 0.4, 0.1, -0.1, 0.6])
log_rate = 0.1 + 1.1 * np.exp(-((age - 18) / 12)) + 0.06 * (power - 7) + region_effect[region] + 0.03 * (km - 15)
claims = rng.poisson(np.exp(log_rate))

num = np.stack([(age - 49) / 18, (power - 7.5) / 2.3, (km - 15) / 8.7], axis=1)
num = torch.tensor(num, dtype=torch.float32)
cat = torch.tensor(region)
y = torch.tensor(claims, dtype=torch.float32)


class ClaimNet(nn.Module):
    def __init__(self, n_num, n_regions):
        super().__init__()
        self.emb = nn.Embedding(n_regions, 3)
        self.fc1 = nn.Linear(n_num + 3, 32)
        self.fc2 = nn.Linear(32, 1)

    def forward(self, num, cat):
        h = torch.cat([num, self.emb(cat)], dim=1)
        h = F.elu(self.fc1(h))
        return F.softplus(self.fc2(h)).squeeze(-1)


def deviance(rate, y):
    rate = rate.clamp(min=1e-6)
    log_term = torch.where(y > 0, y * torch.log(y.clamp(min=1.0) / rate), torch.zeros_like(y))
    return 2 * (log_term - (y - rate)).mean().item()


perm = torch.randperm(N)
train_idx, test_idx = perm[:5000], perm[5000:]

model = ClaimNet(num.shape[1], 6)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.PoissonNLLLoss(log_input=False)

for epoch in range(25):
    model.train()
    order = train_idx[torch.randperm(len(train_idx))]
    epoch_loss = 0.0
    for start in range(0, len(order), 100):
        idx = order[start:start + 100]
        optimizer.zero_grad()
        rate = model(num[idx], cat[idx])
        loss = criterion(rate, y[idx])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(idx)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {epoch_loss / len(order):.4f}")

model.eval()
with torch.no_grad():
    rate = model(num[test_idx], cat[test_idx])
base = torch.full_like(rate, y[train_idx].mean().item())
print("deviance  model %.3f  constant %.3f" % (deviance(rate, y[test_idx]), deviance(base, y[test_idx])))
print("claims  predicted %.0f  observed %.0f" % (rate.sum().item(), y[test_idx].sum().item()))
""",
    ("nn.PoissonNLLLoss(log_input=False)", "nn.PoissonNLLLoss()"),
)

fault(
    "matrix factorisation of ratings with a decaying learning rate",
    "the per-epoch ExponentialLR is stepped after every batch, so the learning rate is practically zero within the second epoch and the factors stop far from the solution",
    ("rate",),
    (61,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)

n_users, n_items, rank = 300, 200, 4


def synth_ratings(n_obs):
    g = torch.Generator().manual_seed(42)
    pu = torch.randn(n_users, rank, generator=g) / rank ** 0.5
    qi = torch.randn(n_items, rank, generator=g)
    bu = 0.3 * torch.randn(n_users, generator=g)
    bi = 0.5 * torch.randn(n_items, generator=g)
    u = torch.randint(n_users, (n_obs,), generator=g)
    i = torch.randint(n_items, (n_obs,), generator=g)
    r = 3.3 + bu[u] + bi[i] + (pu[u] * qi[i]).sum(1) + 0.25 * torch.randn(n_obs, generator=g)
    return u, i, r


class MF(nn.Module):
    def __init__(self, n_users, n_items, dim, mu):
        super().__init__()
        self.P = nn.Embedding(n_users, dim)
        self.Q = nn.Embedding(n_items, dim)
        self.bu = nn.Embedding(n_users, 1)
        self.bi = nn.Embedding(n_items, 1)
        for emb in (self.P, self.Q):
            nn.init.normal_(emb.weight, std=0.1)
        for emb in (self.bu, self.bi):
            nn.init.zeros_(emb.weight)
        self.mu = mu

    def forward(self, u, i):
        inter = (self.P(u) * self.Q(i)).sum(dim=1)
        return self.mu + self.bu(u).squeeze(1) + self.bi(i).squeeze(1) + inter


users, items, ratings = synth_ratings(24000)
split = 20000
mu = ratings[:split].mean().item()

model = MF(n_users, n_items, dim=6, mu=mu)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.92)
mse = nn.MSELoss()

for epoch in range(25):
    perm = torch.randperm(split)
    total = 0.0
    for idx in perm.split(256):
        pred = model(users[idx], items[idx])
        loss = mse(pred, ratings[idx])
        reg = model.P(users[idx]).pow(2).mean() + model.Q(items[idx]).pow(2).mean()

        opt.zero_grad()
        (loss + 0.02 * reg).backward()
        opt.step()
        total += loss.item() * len(idx)
    sched.step()

    if epoch % 4 == 0:
        with torch.no_grad():
            test = mse(model(users[split:], items[split:]), ratings[split:]).sqrt().item()
        print(f"epoch {epoch:2d}  train rmse {(total / split) ** 0.5:.4f}  test rmse {test:.4f}")

with torch.no_grad():
    final = mse(model(users[split:], items[split:]), ratings[split:]).sqrt().item()
    const = (ratings[split:] - mu).pow(2).mean().sqrt().item()
print(f"test rmse {final:.4f} (predicting the mean: {const:.4f})")
""",
    (
        "        total += loss.item() * len(idx)\n    sched.step()\n",
        "        total += loss.item() * len(idx)\n        sched.step()\n",
    ),
)

fault(
    "REINFORCE for a heating controller",
    "returns are accumulated backwards in time but appended without turning the list round, so step t is credited with the return of step T-1-t and the policy learns much less and more slowly",
    ("returns forward",),
    (58, 59),
    '''\
import math
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(5)
torch.set_num_threads(1)

N_ENVS, HORIZON, GAMMA = 16, 30, 0.7
POWER = torch.tensor([-4.0, 0.0, 4.0])


class House:
    """Many houses at once: keep the temperature near the set point, which moves during the day."""

    def reset(self):
        self.t = 0
        self.temp = 20 + 4 * torch.randn(N_ENVS)
        self.want = 20 + 4 * torch.randn(N_ENVS)
        return self.observe()

    def observe(self):
        clock = 2 * math.pi * self.t / HORIZON
        extra = torch.tensor([math.sin(clock), math.cos(clock)]).expand(N_ENVS, 2)
        return torch.cat([((self.temp - 20) / 5)[:, None], ((self.want - 20) / 5)[:, None], extra], dim=1)

    def step(self, action):
        self.temp = self.temp + POWER[action] + 0.5 * (20 - self.temp) + 0.3 * torch.randn(N_ENVS)
        reward = -(self.temp - self.want).abs() / 4
        self.t += 1
        jump = torch.rand(N_ENVS) < 0.8
        self.want = torch.where(jump, 20 + 4 * torch.randn(N_ENVS), self.want)
        return self.observe(), reward


policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = House()


def run_episode():
    log_probs, rewards = [], []
    obs = env.reset()
    for _ in range(HORIZON):
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        obs, reward = env.step(action)
        rewards.append(reward)
    return torch.stack(log_probs), rewards


def discounted(rewards):
    returns = []
    running = torch.zeros(N_ENVS)
    for r in reversed(rewards):
        running = r + GAMMA * running
        returns.append(running)
    returns.reverse()
    return torch.stack(returns)


scores = []
for update in range(160):
    log_probs, rewards = run_episode()
    returns = discounted(rewards)
    advantage = (returns - returns.mean(dim=1, keepdim=True)) / (returns.std() + 1e-6)
    loss = -(log_probs * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores.append(torch.stack(rewards).sum(0).mean().item())
    if update % 20 == 19:
        print(f"update {update + 1:3d}  mean score {sum(scores[-20:]) / 20:.2f}")

print("first 20: %.2f   last 20: %.2f" % (sum(scores[:20]) / 20, sum(scores[-20:]) / 20))
''',
    ("        returns.append(running)\n    returns.reverse()\n", "        returns.append(running)\n"),
)

fault(
    "advantage actor-critic in a small maze",
    "the policy loss uses the log-probabilities stored during the no_grad rollout instead of the freshly computed ones, so the actor gets no policy gradient (only the value and entropy terms train) and stays random",
    ("constant term",),
    (83,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import namedtuple
from torch.distributions import Categorical

torch.manual_seed(1)
torch.set_num_threads(1)

MAZE = ["S....#", ".##..#", ".#...#", ".#.#..", "...#.G"]
H, W = len(MAZE), len(MAZE[0])
WALL = torch.tensor([[c == "#" for c in row] for row in MAZE])
GOAL = torch.tensor([4, 5])
MOVES = torch.tensor([[-1, 0], [1, 0], [0, -1], [0, 1]])
Rollout = namedtuple("Rollout", "obs actions logp rewards dones last_obs")


class MazeEnv:
    def __init__(self, n):
        self.n = n
        self.pos = torch.zeros(n, 2, dtype=torch.long)
        self.age = torch.zeros(n, dtype=torch.long)
        self.finished = []

    def obs(self):
        return F.one_hot(self.pos[:, 0] * W + self.pos[:, 1], H * W).float()

    def step(self, action):
        new = self.pos + MOVES[action]
        new = torch.stack([new[:, 0].clamp(0, H - 1), new[:, 1].clamp(0, W - 1)], 1)
        free = ~WALL[new[:, 0], new[:, 1]]
        self.pos = torch.where(free[:, None], new, self.pos)
        self.age += 1
        hit = (self.pos == GOAL).all(1)
        done = hit | (self.age >= 60)
        self.finished += self.age[done].tolist()
        self.pos[done] = 0
        self.age[done] = 0
        return self.obs(), hit.float() - 0.02, done.float()


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh())
        self.pi = nn.Linear(64, n_act)
        self.v = nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


@torch.no_grad()
def collect(env, model, steps):
    obs, store = env.obs(), []
    for _ in range(steps):
        dist, _ = model(obs)
        a = dist.sample()
        nxt, r, d = env.step(a)
        store.append((obs, a, dist.log_prob(a), r, d))
        obs = nxt
    return Rollout(*(torch.stack(col) for col in zip(*store)), obs)


def n_step_returns(roll, model, gamma=0.97):
    with torch.no_grad():
        ret = model(roll.last_obs)[1]
    out = []
    for r, d in zip(roll.rewards.flip(0), roll.dones.flip(0)):
        ret = r + gamma * ret * (1 - d)
        out.insert(0, ret)
    return torch.stack(out)


env, model = MazeEnv(32), ActorCritic(H * W, 4)
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for it in range(300):
    roll = collect(env, model, 10)
    target = n_step_returns(roll, model)
    dist, value = model(roll.obs)
    adv = (target - value).detach()
    policy_loss = -(dist.log_prob(roll.actions) * adv).mean()
    value_loss = F.mse_loss(value, target)
    loss = policy_loss + 0.5 * value_loss - 0.003 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 49:
        print(f"iter {it + 1}  value loss {value_loss.item():.4f}  episode length {sum(env.finished[-100:]) / 100:.1f}")
""",
    ("policy_loss = -(dist.log_prob(roll.actions) * adv).mean()", "policy_loss = -(roll.logp * adv).mean()"),
)

fault(
    "DQN for a cart that must stop at the origin",
    "env.step returns its own state array, which later steps change in place, so all transitions of an episode in the replay buffer show the same (last) state and Q-learning learns from nonsense",
    ("next is now", "one buffer"),
    (31, 28, 74),
    '''\
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(7)
np.random.seed(7)
random.seed(7)
torch.set_num_threads(1)


class CartEnv:
    """Push a cart on a line, stop it at 0."""

    forces = (-1.0, 0.0, 1.0)

    def reset(self):
        self.state = np.array([np.random.uniform(-1.5, 1.5), 0.0], dtype=np.float32)
        self.steps = 0
        return self.state.copy()

    def step(self, action):
        x, v = self.state
        v = 0.95 * v + 0.15 * self.forces[action]
        x = x + 0.3 * v
        self.state[:] = (x, v)
        self.steps += 1
        reward = 1.0 if abs(x) < 0.2 else -0.3 * min(abs(x), 2.0)
        return self.state.copy(), reward, abs(x) > 3 or self.steps >= 50


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))

    def forward(self, s):
        return self.layers(s)


q, q_target = QNet(), QNet()
q_target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=10000)
env = CartEnv()
gamma = 0.95


def learn(batch_size=64):
    s, a, r, s2, done = zip(*random.sample(memory, batch_size))
    s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
    a = torch.tensor(a).unsqueeze(1)
    r, done = torch.tensor(r), torch.tensor(done, dtype=torch.float32)
    with torch.no_grad():
        target = r + gamma * (1 - done) * q_target(s2).max(dim=1).values
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def play(eps, train=True):
    s, total, done = env.reset(), 0.0, False
    while not done:
        if random.random() < eps:
            a = random.randrange(3)
        else:
            with torch.no_grad():
                a = q(torch.from_numpy(s)).argmax().item()
        s2, r, done = env.step(a)
        if train:
            memory.append((s, a, r, s2, done and env.steps < 50))
        s, total = s2, total + r
        if train and len(memory) > 500:
            learn()
    return total


for episode in range(80):
    play(eps=max(0.05, 1 - episode / 50))
    if episode % 4 == 0:
        q_target.load_state_dict(q.state_dict())
    if episode % 16 == 15:
        print(f"episode {episode + 1}  greedy score {np.mean([play(0.0, train=False) for _ in range(5)]):.1f}")

print("final greedy score %.1f" % np.mean([play(0.0, train=False) for _ in range(20)]))
''',
    ("        return self.state.copy(), reward,", "        return self.state, reward,"),
)
