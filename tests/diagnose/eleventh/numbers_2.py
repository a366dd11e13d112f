"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault, healthy

fault(
    "one step actor-critic, corridor of walkers",
    "The critic returns (N, 1) while rewards, done flags and log probabilities are (N,): target, TD error and actor loss broadcast to (N, N), so every action is "
    "credited with the average value of the whole batch and only the immediate reward counts; the critic learns averages.",
    ("broadcast",),
    (36, 57, 58),
    """\
import torch
from torch import nn

torch.manual_seed(3)
LENGTH, WALKERS, GAMMA = 11, 32, 0.95


class Corridor:
    \"\"\"Many walkers at once. The right end pays 1 and puts the walker back, the left wall pays a few cents.\"\"\"

    def __init__(self, n):
        self.pos = torch.full((n,), LENGTH // 2)

    def obs(self):
        return nn.functional.one_hot(self.pos, LENGTH).float()

    def step(self, action):
        slip = torch.rand(len(action)) < 0.1
        move = torch.where(slip, 1 - action, action) * 2 - 1
        wanted = self.pos + move
        reward = 0.03 * (wanted < 0).float()
        done = wanted >= LENGTH - 1
        reward = reward + done.float()
        self.pos = wanted.clamp(0, LENGTH - 1)
        seen = self.obs()
        self.pos = torch.where(done, torch.tensor(LENGTH // 2), self.pos)
        return seen, reward, done.float()


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LENGTH, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, obs):
        return self.body(obs).squeeze(-1)


actor = nn.Sequential(nn.Linear(LENGTH, 32), nn.Tanh(), nn.Linear(32, 2))
critic = Critic()
optimizer = torch.optim.Adam([
    {"params": actor.parameters(), "lr": 3e-3},
    {"params": critic.parameters(), "lr": 1e-2},
])

env = Corridor(WALKERS)
obs = env.obs()
income = []
for step in range(1000):
    policy = torch.distributions.Categorical(logits=actor(obs))
    action = policy.sample()
    next_obs, reward, done = env.step(action)

    value = critic(obs)
    with torch.no_grad():
        next_value = critic(next_obs)
        target = reward + GAMMA * next_value * (1 - done)
    td_error = target - value
    critic_loss = td_error.pow(2).mean()
    actor_loss = -(policy.log_prob(action) * td_error.detach()).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.01 * policy.entropy().mean()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    income.append(reward.mean().item())
    obs = env.obs()
    if (step + 1) % 200 == 0:
        print(f"step {step + 1}: income per step {sum(income[-200:]) / 200:.3f}, critic loss {critic_loss.item():.4f}")

with torch.no_grad():
    everywhere = torch.eye(LENGTH)[: LENGTH - 1]
    print("values ", [round(v, 2) for v in critic(everywhere).flatten().tolist()])
    print("P(right)", [round(p, 2) for p in actor(everywhere).softmax(-1)[:, 1].tolist()])
""",
    ("return self.body(obs).squeeze(-1)", "return self.body(obs)"),
)

fault(
    "news bandit with a softmax policy",
    "The policy already ends in a softmax, and its probabilities are handed to Categorical as logits: they are squashed a second time, so the policy sampled from can never be "
    "far from uniform and the reward stays low.",
    ("soft twice",),
    (25, 31),
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

gen = torch.Generator().manual_seed(11)
torch.manual_seed(11)

N_ARTICLES = 10
N_FEATURES = 6
true_taste = torch.randn(N_FEATURES, N_ARTICLES, generator=gen)


def visitors(n):
    return torch.randn(n, N_FEATURES, generator=gen)


def click_probability(context):
    return torch.sigmoid(2.0 * context @ true_taste - 2.5)


policy = nn.Sequential(
    nn.Linear(N_FEATURES, 32),
    nn.ReLU(),
    nn.Linear(32, N_ARTICLES),
    nn.Softmax(dim=-1),
)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.005)


def choose(context):
    dist = Categorical(probs=policy(context))
    article = dist.sample()
    return article, dist.log_prob(article)


baseline = 0.0
clicks_shown = []
for day in range(1, 1001):
    context = visitors(64)
    article, log_prob = choose(context)
    p = click_probability(context).gather(1, article[:, None]).squeeze(1)
    click = torch.bernoulli(p, generator=gen)

    advantage = click - baseline
    loss = -(log_prob * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    baseline = 0.95 * baseline + 0.05 * click.mean().item()
    clicks_shown.append(click.mean().item())
    if day % 200 == 0:
        recent = clicks_shown[-100:]
        print(f"day {day:4d}  click rate {sum(recent) / len(recent):.3f}")

with torch.no_grad():
    context = visitors(5000)
    p = click_probability(context)
    article, _ = choose(context)
    got = p.gather(1, article[:, None]).mean()
print(f"policy {got:.3f}   random article {p.mean():.3f}   best article {p.max(1).values.mean():.3f}")
""",
    ("Categorical(probs=policy(context))", "Categorical(logits=policy(context))"),
)

fault(
    "Q-learning with replay, drone to its pad",
    "The environment changes its state tensor in place and hands out that same tensor, so all transitions of an episode in the replay memory share one tensor that holds the "
    "last state: state equals next state in every stored transition and Q learns nothing about the moves.",
    ("next is now",),
    (31, 35, 73),
    """\
import random
from collections import deque

import torch
from torch import nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)


class DroneEnv:
    moves = torch.tensor([[0.2, 0.0], [-0.2, 0.0], [0.0, 0.2], [0.0, -0.2]])
    max_steps = 25

    def __init__(self):
        self.state = torch.zeros(2)
        self.steps = 0

    def reset(self):
        self.state = torch.rand(2) * 2 - 1
        while self.distance() < 0.3:
            self.state = torch.rand(2) * 2 - 1
        self.steps = 0
        return self.state

    def distance(self):
        return self.state.norm().item()

    def step(self, action):
        self.state = self.state + self.moves[action]
        self.steps += 1
        landed = self.distance() < 0.2
        reward = 1.0 if landed else -0.1
        return self.state, reward, landed, self.steps >= self.max_steps


def make_net():
    return nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))


q_net, target_net = make_net(), make_net()
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-3)
memory = deque(maxlen=5000)


def learn(batch_size=64, gamma=0.95):
    states, actions, rewards, next_states, landed = zip(*random.sample(memory, batch_size))
    states, next_states = torch.stack(states), torch.stack(next_states)
    q = q_net(states).gather(1, torch.tensor(actions).unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best_next = target_net(next_states).max(1).values
        target = torch.tensor(rewards) + gamma * best_next * (1 - torch.tensor(landed).float())
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


env = DroneEnv()
updates = 0
for episode in range(150):
    state = env.reset()
    over = False
    epsilon = max(0.05, 1 - episode / 80)
    while not over:
        if random.random() < epsilon:
            action = random.randrange(4)
        else:
            action = q_net(state).argmax().item()
        next_state, reward, landed, timeout = env.step(action)
        memory.append((state, action, reward, next_state, landed))
        state = next_state
        over = landed or timeout
        if len(memory) >= 200:
            learn()
            updates += 1
            if updates % 100 == 0:
                target_net.load_state_dict(q_net.state_dict())

landings = 0
for trial in range(100):
    state, over = env.reset(), False
    while not over:
        state, _, landed, timeout = env.step(q_net(state).argmax().item())
        over = landed or timeout
    landings += landed
print(f"greedy policy lands in {landings} of 100 flights ({updates} updates)")
""",
    ("self.state = self.state + self.moves[action]", "self.state += self.moves[action]"),
)

healthy(
    "policy gradient for a stock of goods",
    """\
import torch
from torch import nn

torch.manual_seed(5)
CAPACITY, HORIZON, SHOPS = 12, 20, 64


def simulate(policy, sample=True):
    \"\"\"Returns log probabilities and rewards, both (HORIZON, SHOPS).\"\"\"
    stock = torch.full((SHOPS,), 4.0)
    log_probs, rewards = [], []
    for day in range(HORIZON):
        features = torch.stack([stock / CAPACITY, torch.full_like(stock, day / HORIZON)], dim=1)
        dist = torch.distributions.Categorical(logits=policy(features))
        order = dist.sample()
        log_probs.append(dist.log_prob(order))
        arrived = torch.minimum(stock + order, torch.tensor(float(CAPACITY)))
        demand = torch.poisson(torch.full((SHOPS,), 2.5))
        sold = torch.minimum(arrived, demand)
        stock = arrived - sold
        rewards.append(3.0 * sold - 1.0 * order - 0.3 * stock)
    return torch.stack(log_probs), torch.stack(rewards)


policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 6))
with torch.no_grad():
    policy[-1].weight.mul_(0.01)
    policy[-1].bias.zero_()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)

print("untrained", round(simulate(policy)[1].sum(0).mean().item(), 2))
for iteration in range(150):
    log_probs, rewards = simulate(policy)
    # reward to go, compared with the other shops on the same day
    to_go = rewards.flip(0).cumsum(0).flip(0)
    advantage = (to_go - to_go.mean(1, keepdim=True)) / (to_go.std(1, keepdim=True) + 1e-6)
    loss = -(log_probs * advantage).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if (iteration + 1) % 30 == 0:
        print(f"{iteration + 1:4d}  surrogate {loss.item():+.4f}  profit {rewards.sum(0).mean().item():.2f}")

with torch.no_grad():
    profits = torch.cat([simulate(policy)[1].sum(0) for _ in range(10)])
print(f"trained {profits.mean():.2f}")
""",
)
