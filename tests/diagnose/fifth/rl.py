"""Reinforcement learning: programs with a fault each, and their healthy counterparts.

Invariant: written by people who had read no rule.
"""

from .program import fault

fault(
    "log probability of another sample",
    "the log probability is that of a second draw and not of the action that was played and rewarded",
    ("other draw",),
    (37,),
    """\
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, n, size=7):
        self.n, self.size = n, size

    def reset(self):
        self.pos = torch.randint(1, self.size - 1, (self.n,))
        self.goal = torch.randint(0, 2, (self.n,)) * (self.size - 1)
        return self.observe()

    def observe(self):
        place = nn.functional.one_hot(self.pos, self.size).float()
        return torch.cat([place, (self.goal > 0).float()[:, None]], dim=1)

    def step(self, action):
        before = (self.pos - self.goal).abs()
        self.pos = (self.pos + 2 * action - 1).clamp(0, self.size - 1)
        return self.observe(), (before - (self.pos - self.goal).abs()).float()


torch.manual_seed(6)
env = Corridor(32)
policy = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
gamma, smoothed = 0.95, 0.0
for episode in range(1, 201):
    obs, log_probs, rewards = env.reset(), [], []
    for _ in range(6):
        dist = Categorical(logits=policy(obs))
        action = dist.sample()
        obs, reward = env.step(action)
        rewards.append(reward)
        log_probs.append(dist.log_prob(action))
    returns, running = [], torch.zeros(env.n)
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.insert(0, running)
    returns = torch.stack(returns)
    advantage = returns - returns.mean(dim=1, keepdim=True)
    loss = -(torch.stack(log_probs) * advantage).sum(0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    smoothed = 0.9 * smoothed + 0.1 * torch.stack(rewards).sum(0).mean().item()
    if episode % 40 == 0:
        print(f"episode {episode} smoothed return {smoothed:.2f}")
""",
    ("log_probs.append(dist.log_prob(action))", "log_probs.append(dist.log_prob(dist.sample()))"),
)

fault(
    "bootstrap past the end of an episode",
    "the target adds the value of the next state even where the episode has ended",
    ("beyond the end",),
    (50,),
    """\
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)


def reset():
    return [random.uniform(-0.9, 0.9)]


def act_on(state, action):
    x = state[0] + (-0.15, 0.15)[action] + random.gauss(0.0, 0.01)
    done = abs(x) >= 1.0
    reward = (1.0 if x > 0 else 0.3) if done else -0.1
    return [x], reward, done


def greedy_return(net, episodes=40):
    total = 0.0
    for _ in range(episodes):
        state = reset()
        for _ in range(30):
            state, reward, done = act_on(state, net(torch.tensor(state)).argmax().item())
            total += reward / episodes
            if done:
                break
    return total


q_net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=2e-3)
memory, gamma, state = deque(maxlen=2000), 0.98, reset()
for step in range(1, 1001):
    epsilon = max(0.2, 1.0 - step / 500)
    greedy = q_net(torch.tensor(state)).argmax().item()
    action = random.randrange(2) if random.random() < epsilon else greedy
    new_state, reward, done = act_on(state, action)
    memory.append((state, action, reward, new_state, float(done)))
    state = reset() if done else new_state
    if len(memory) >= 64:
        s, a, r, s2, d = (torch.tensor(col) for col in zip(*random.sample(memory, 64)))
        with torch.no_grad():
            target = r + gamma * target_net(s2).max(dim=1).values * (1 - d)
        loss = F.smooth_l1_loss(q_net(s).gather(1, a[:, None]).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if step % 20 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if step % 200 == 0:
        with torch.no_grad():
            print(f"step {step} value {q_net(torch.zeros(1)).max():.2f} greedy return {greedy_return(q_net):.2f}")
""",
    (".max(dim=1).values * (1 - d)", ".max(dim=1).values"),
)

fault(
    "log-probability of another draw",
    "the log-probability is of a fresh sample instead of the action that earned the reward",
    ("other draw",),
    (38,),
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(6)


class Shop:
    \"\"\"A contextual bandit: four adverts, the best one depends on the customer.\"\"\"

    def __init__(self, features=6, adverts=4):
        self.weights = torch.randn(features, adverts)
        self.features = features

    def customers(self, n):
        return torch.randn(n, self.features)

    def clicks(self, customers, adverts):
        chance = torch.sigmoid(2 * customers @ self.weights)
        return torch.bernoulli(chance.gather(1, adverts.unsqueeze(1)).squeeze(1))

    def best(self, customers):
        return (customers @ self.weights).argmax(1)


shop = Shop()
actor = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(actor.parameters(), lr=5e-3)
baseline = 0.5
history = []
for step in range(600):
    customers = shop.customers(64)
    policy = Categorical(logits=actor(customers))
    action = policy.sample()
    reward = shop.clicks(customers, action)
    advantage = reward - baseline
    baseline = 0.95 * baseline + 0.05 * reward.mean().item()
    loss = -(policy.log_prob(action) * advantage).mean()
    loss = loss - 0.005 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(reward.mean().item())
    if step % 100 == 99:
        visitors = shop.customers(500)
        with torch.no_grad():
            match = (actor(visitors).argmax(1) == shop.best(visitors)).float().mean().item()
        print(f"step {step + 1} click rate {sum(history[-100:]) / 100:.3f} best advert chosen {match:.3f}")
""",
    (
        "    loss = -(policy.log_prob(action) * advantage).mean()\n",
        "    loss = -(policy.log_prob(policy.sample()) * advantage).mean()\n",
    ),
)

fault(
    "bootstrapping past the end",
    "the target adds the value of the state after the reset, as if the episode had not ended",
    ("beyond the end",),
    (49,),
    """\
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
SIZE, START, GAMMA = 10, 2, 0.97


class Corridor:
    def __init__(self):
        self.place = START

    def step(self, action):
        self.place += 1 if action == 1 else -1
        done = self.place in (0, SIZE - 1)
        reward = {0: 0.4, SIZE - 1: 1.0}.get(self.place, 0.0)
        if done:
            self.place = START
        return reward, self.place, done


def one_hot(places):
    return F.one_hot(torch.tensor(places), SIZE).float()


q_net = nn.Sequential(nn.Linear(SIZE, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=3e-3)
memory = deque(maxlen=3000)
env, state, earned = Corridor(), START, []
for step in range(1, 2001):
    epsilon = max(0.1, 1 - step / 800)
    action = random.randrange(2) if random.random() < epsilon else int(q_net(one_hot([state])).argmax())
    reward, after, done = env.step(action)
    memory.append((state, action, reward, after, float(done)))
    state = after
    if done:
        earned.append(reward)
    if step > 200 and step % 2 == 0:
        s, a, r, n, d = zip(*random.sample(memory, 64))
        reward, ended = torch.tensor(r), torch.tensor(d)
        with torch.no_grad():
            best = target_net(one_hot(n)).max(1).values
            target = reward + GAMMA * best * (1 - ended)
        value = q_net(one_hot(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(value, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if step % 50 == 0:
        target_net.load_state_dict(q_net.state_dict())
    if step % 400 == 0:
        left, right = q_net(one_hot([START]))[0].tolist()
        print(f"step {step} mean prize {sum(earned[-20:]) / 20:.3f} Q(start) left {left:.2f} right {right:.2f}")
""",
    (
        "            target = reward + GAMMA * best * (1 - ended)\n",
        "            target = reward + GAMMA * best\n",
    ),
)

fault(
    "advantage of returns against a column",
    "returns of shape (N,) less values of shape (N, 1) make an N by N table: the critic learns the mean",
    ("broadcast",),
    (19, 48),
    """\
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(31)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 48), nn.Tanh())
        self.actor = nn.Linear(48, 1)
        self.critic = nn.Linear(48, 1)
        self.log_std = nn.Parameter(torch.tensor(-0.5))

    def forward(self, obs):
        trunk = self.body(obs)
        mean = self.actor(trunk).squeeze(-1)
        value = self.critic(trunk).squeeze(-1)
        return Normal(mean, self.log_std.exp()), value


def rollout(agent, carts=16, steps=12, gamma=0.9):
    place, goal = torch.randn(carts) * 2, torch.randn(carts)
    speed = torch.zeros(carts)
    seen, actions, rewards = [], [], []
    for t in range(steps):
        obs = torch.stack([place, goal, speed, torch.full((carts,), t / steps)], dim=1)
        with torch.no_grad():
            action = agent(obs)[0].sample()
        speed = 0.5 * speed + 0.5 * action.clamp(-2, 2)
        place = place + speed
        seen.append(obs)
        actions.append(action)
        rewards.append(-(place - goal).abs())
    returns, running = [], torch.zeros(carts)
    for reward in reversed(rewards):
        running = reward + gamma * running
        returns.insert(0, running)
    return torch.cat(seen), torch.cat(actions), torch.cat(returns), torch.stack(rewards).mean().item()


agent = ActorCritic()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
for update in range(401):
    obs, actions, returns, score = rollout(agent)
    policy, value = agent(obs)
    advantage = returns - value
    actor_loss = -(policy.log_prob(actions) * advantage.detach()).mean()
    critic_loss = advantage.pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.001 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 1.0)
    optimizer.step()
    if update % 50 == 0:
        explained = 1 - critic_loss.item() / returns.var().item()
        print(f"update {update} reward {score:.3f} critic loss {critic_loss.item():.3f} explained {explained:.2f}")
""",
    ("        value = self.critic(trunk).squeeze(-1)\n", "        value = self.critic(trunk)\n"),
)
