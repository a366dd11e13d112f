"""Reinforcement learning: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

BANDIT = (
    HEAD
    + """\
from torch.distributions import Categorical
policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for step in range(60):
    state = torch.randn(32, 4)
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    reward = (action == state[:, :3].argmax(1)).float()
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
BY_HAND = (
    (
        "    dist = Categorical(logits=policy(state))\n    action = dist.sample()\n",
        "    probs = policy(state).softmax(1)\n    action = torch.multinomial(probs, 1).squeeze(1)\n",
    ),
    ("dist.log_prob(action)", "probs.log().gather(1, action.unsqueeze(1)).squeeze(1)"),
)
METHOD = (
    HEAD
    + """\
from torch.distributions import Normal
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(3, 1)
        self.critic = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
        self.log_std = nn.Parameter(torch.zeros(1))
    def forward(self, state):
        return Normal(self.mean(state), self.log_std.exp()), self.critic(state).squeeze(1)
agent = Agent()
opt = torch.optim.Adam(agent.parameters(), lr=3e-3)
for step in range(50):
    state = torch.randn(40, 3)
    dist, value = agent(state)
    action = dist.sample()
    returns = -(action.squeeze(1) - state[:, 0]) ** 2
    log_prob = dist.log_prob(action).squeeze(1)
    advantage = (returns - value).detach()
    actor = -(log_prob * advantage).mean()
    loss = actor + 0.5 * F.mse_loss(value, returns)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
REPLAY = (
    HEAD
    + """\
import random
random.seed(0)
net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 2))
target_net = copy.deepcopy(net)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
memory, place, gamma = [], 2, 0.95
def act(place, action):
    place += 2 * action - 1
    done = place in (0, 5)
    return place, (1.0 if place == 5 else 0.0), done
def seen(place):
    return [place / 5, 1.0]
for step in range(160):
    action = random.randrange(2)
    new, reward, done = act(place, action)
    memory.append((seen(place), action, reward, seen(new), float(done)))
    place = 2 if done else new
    if step >= 40:
        s, a, r, n, ends = (torch.tensor(x) for x in zip(*random.sample(memory, 24)))
        with torch.no_grad():
            coming = target_net(n).max(1).values
            target = r + gamma * coming * (1 - ends)
        q = net(s).gather(1, a[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(q, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if step % 20 == 0:
        target_net.load_state_dict(net.state_dict())
"""
)
TARGET = "            target = r + gamma * coming * (1 - ends)\n"
CRITIC = (
    HEAD
    + """\
critic = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
def step_of(state):
    new = state + 0.3 * torch.randn_like(state)
    done = new.abs().max(1).values > 2
    return new, torch.where(done, 1.0, 0.0), done
state = torch.zeros(30, 2)
for step in range(80):
    new, reward, done = step_of(state)
    with torch.no_grad():
        target = reward + 0.9 * critic(new).squeeze(1) * (~done)
    loss = F.mse_loss(critic(state).squeeze(1), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    state = torch.where(done[:, None], torch.zeros_like(new), new)
"""
)

PLANTED = {
    "a draw inside": Planted(
        "other draw", BANDIT, (("dist.log_prob(action)", "dist.log_prob(dist.sample())"),), "loss = -(dist"
    ),
    "a draw by name": Planted(
        "other draw",
        METHOD,
        (
            (
                "    log_prob = dist.log_prob(action)",
                "    again = dist.sample()\n    log_prob = dist.log_prob(again)",
            ),
        ),
        "log_prob = dist",
    ),
    "a draw by hand": Planted(
        "other draw",
        changed(BANDIT, *BY_HAND),
        (("gather(1, action.unsqueeze(1))", "gather(1, torch.multinomial(probs, 1))"),),
        "loss = -(probs",
    ),
    "a replay": Planted("beyond the end", REPLAY, ((" * (1 - ends)", ""),), "target = r +"),
    "an array of environments": Planted(
        "beyond the end",
        CRITIC,
        (
            (" * (~done)", ""),
            (
                "    state = torch.where(done[:, None], torch.zeros_like(new), new)\n",
                "    state = new if step % 8 else torch.zeros(30, 2)\n",
            ),
        ),
        "target = reward +",
    ),
    "a method": Planted(
        "beyond the end",
        REPLAY,
        (
            (TARGET, "            target = aim(r, n)\n"),
            ("            coming = target_net(n).max(1).values\n", ""),
            (
                "def seen(",
                "def aim(rewards, following):\n    best, _ = target_net(following).max(dim=1)\n"
                "    return rewards + best * gamma\ndef seen(",
            ),
        ),
        "return rewards + best",
    ),
    "an advantage": Planted(
        "advantage moves", METHOD, (("(returns - value).detach()", "returns - value"),), "advantage = returns"
    ),
    "an advantage in the product": Planted(
        "advantage moves", METHOD, (("(log_prob * advantage)", "(log_prob * (returns - value))"),), "actor ="
    ),
    "rewards": Planted("reward turned", BANDIT, (("loss = -(dist", "loss = (dist"),), "loss = (dist"),
    "an advantage's sign": Planted("reward turned", METHOD, (("actor = -(", "actor = ("),), "actor ="),
}
EPISODE = (
    HEAD
    + """\
policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
gamma = 0.9
def discount(rewards):
    returns, total = [], 0.0
    for r in reversed(rewards):
        total = r + gamma * total
        returns.append(total)
    return torch.tensor(returns[::-1])
for episode in range(30):
    log_probs, rewards = [], []
    for _ in range(6):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action))
    loss = -(torch.stack(log_probs) * discount(rewards)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
SLOW = (
    "    if step % 20 == 0:\n        target_net.load_state_dict(net.state_dict())\n",
    "    with torch.no_grad():\n        for p, q in zip(net.parameters(), target_net.parameters()):\n"
    "            q.copy_(0.05 * p + 0.95 * q)\n",
)
ARRAYS = (  # an environment that moves an array in place
    ("random.seed(0)\n", "import numpy as np\nrandom.seed(0)\nwhere = np.ones(2, dtype=np.float32)\n"),
    (
        "def seen(place):\n    return [place / 5, 1.0]\n",
        "def seen(place):\n    where[0] = place / 5\n    return where.copy()\n",
    ),
    ("(torch.tensor(x) for x in", "(torch.from_numpy(np.stack(x)).float() for x in"),
    ("a[:, None]", "a[:, None].long()"),
)
PLANTED |= {
    "a target network that stays": Planted("target stays", REPLAY, ((SLOW[0], ""),), "target_net = copy"),
    "shares exchanged": Planted(
        "follows at once",
        changed(REPLAY, SLOW),
        (("0.05 * p + 0.95 * q", "0.95 * p + 0.05 * q"),),
        "q.copy_(",
    ),
    "shares exchanged in place": Planted(
        "follows at once",
        changed(REPLAY, SLOW),
        (("q.copy_(0.05 * p + 0.95 * q)", "q.lerp_(p, 0.98)"),),
        "q.lerp_(",
    ),
    "one array for all states": Planted(
        "next is now",
        changed(REPLAY, *ARRAYS),
        (("return where.copy()", "return where"),),
        "memory.append(",
        also=True,
    ),
    "returns from the first reward": Planted(
        "returns forward",
        EPISODE,
        (("in reversed(rewards)", "in rewards"), ("returns[::-1]", "returns")),
        "for r in rewards",
    ),
    "returns in reversed order": Planted(
        "returns forward", EPISODE, (("returns[::-1]", "returns"),), "returns.append(total)"
    ),
}
HEALTHY = {
    "a slow target": changed(REPLAY, SLOW),
    "an episode": EPISODE,
    "an episode with insert": changed(
        EPISODE, ("returns.append(total)", "returns.insert(0, total)"), ("returns[::-1]", "returns")
    ),
    "a bandit": BANDIT,
    "a bandit by hand": changed(BANDIT, *BY_HAND),
    "costs": changed(
        BANDIT,
        (
            "loss = -(dist.log_prob(action) * (reward - reward.mean())).mean()",
            "cost = 1 - reward\n    loss = (dist.log_prob(action) * (cost - cost.mean())).mean()",
        ),
    ),
    "a draw for the entropy": changed(
        BANDIT,
        ("loss = -(dist", "entropy = -dist.log_prob(dist.sample()).mean().detach()\n    loss = -(dist"),
    ),
    "an actor and a critic": METHOD,
    "a replay": REPLAY,
    "a replay of arrays": changed(REPLAY, *ARRAYS),
    "a wall": changed(
        REPLAY, ("    done = place in (0, 5)\n", "    place = min(max(place, 1), 5)\n    done = place == 5\n")
    ),
    "a condition": changed(
        REPLAY, (TARGET, "            target = torch.where(ends > 0, r, r + gamma * coming)\n")
    ),
    "a mask": changed(
        REPLAY, (TARGET, "            coming[ends > 0] = 0.0\n            target = r + gamma * coming\n")
    ),
    "no ends": changed(
        REPLAY,
        ("s, a, r, n, ends =", "s, a, r, n, _ ="),
        (" * (1 - ends)", ""),
        (
            "    done = place in (0, 5)\n    return place, (1.0 if place == 5 else 0.0), done\n",
            "    place = min(max(place, 0), 5)\n    return place, (1.0 if place == 5 else 0.0)\n",
        ),
        ("new, reward, done = act", "new, reward = act"),
        ("seen(new), float(done)))", "seen(new), 0.0))"),
        ("place = 2 if done else new", "place = new"),
    ),
    "an array of environments": CRITIC,
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_placed(name, engine):
    if engine == "torch" and not PLANTED[name].both:
        return
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
