"""Probabilities given to distributions as scores, and logarithms given as probabilities, over both libraries."""

import pytest

from .planted import Planted, accused, changed, healthy

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Bernoulli, Categorical, OneHotCategorical
torch.manual_seed(0)
"""
BANDIT = (
    HEAD
    + """\
taste = torch.randn(6, 5)
policy = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 5))
opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
for step in range(60):
    x = torch.randn(32, 6)
    scores = policy(x)
    dist = Categorical(logits=scores)
    action = dist.sample()
    reward = (x @ taste).gather(1, action[:, None]).squeeze(1)
    loss = -(dist.log_prob(action) * (reward - reward.mean())).mean() - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
EPISODES = (
    HEAD
    + """\
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.out = nn.Linear(4, 24), nn.Linear(24, 3)
    def forward(self, s):
        return F.softmax(self.out(torch.tanh(self.body(s))), dim=-1)
actor = Actor()
opt = torch.optim.Adam(actor.parameters(), lr=5e-3)
def act(state):
    chances = actor(state)
    m = Categorical(chances)
    a = m.sample()
    return a, m.log_prob(a)
for episode in range(20):
    state, kept, gains = torch.randn(4), [], []
    for t in range(6):
        a, logp = act(state)
        kept.append(logp)
        gains.append(float(state[int(a)]))
        state = torch.randn(4)
    gains = torch.tensor(gains)
    loss = -(torch.stack(kept) * (gains - gains.mean())).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
COINS = (
    HEAD
    + """\
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(40):
    x = torch.randn(32, 4)
    out = net(x)
    coins = Bernoulli(logits=out)
    drawn = coins.sample()
    gain = (drawn * x[:, :3]).sum(1)
    loss = -(coins.log_prob(drawn).sum(1) * (gain - gain.mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

PLANTED = {
    "a softmax in the policy": Planted(
        "given chances", BANDIT, (("nn.Linear(16, 5))", "nn.Linear(16, 5), nn.Softmax(-1))"),), "dist = "
    ),
    "a softmax in a function": Planted(
        "given chances", EPISODES, (("Categorical(chances)", "Categorical(logits=chances)"),), "m = "
    ),
    "a softmax written by hand": Planted(
        "given chances",
        changed(
            BANDIT,
            ("scores = policy(x)", "e = policy(x).exp()\n    scores = e / e.sum(1, keepdim=True)"),
            ("Categorical(logits=scores)", "Categorical(scores)"),
        ),
        (("Categorical(scores)", "Categorical(None, scores)"),),
        "dist = ",
    ),
    "one of several": Planted(
        "given chances",
        changed(
            BANDIT,
            ("Categorical(logits=scores)", "OneHotCategorical(logits=scores)"),
            ("action[:, None]).squeeze(1)", "action.argmax(1)[:, None]).squeeze(1)"),
        ),
        (("scores = policy(x)", "scores = torch.softmax(policy(x), 1)"),),
        "dist = ",
    ),
    "logarithms as probabilities": Planted(
        "given chances",
        changed(BANDIT, ("scores = policy(x)", "scores = F.log_softmax(policy(x), dim=-1)")),
        (("Categorical(logits=scores)", "Categorical(scores)"),),
        "dist = ",
    ),
    "coins": Planted("soft twice", COINS, (("out = net(x)", "out = net(x).sigmoid()"),), "out = "),
}
HEALTHY = {
    "scores": BANDIT,
    "probabilities": EPISODES,
    "coins": COINS,
    "coins by chance": changed(COINS, ("Bernoulli(logits=out)", "Bernoulli(out.sigmoid())")),
    "log-probabilities as scores": changed(
        BANDIT, ("scores = policy(x)", "scores = F.log_softmax(policy(x), dim=-1)")
    ),
    "logarithms of probabilities": changed(
        BANDIT, ("scores = policy(x)", "scores = torch.softmax(policy(x), -1).clamp(min=1e-8).log()")
    ),
    "scaled probabilities": changed(BANDIT, ("scores = policy(x)", "scores = policy(x).softmax(-1) / 0.05")),
    "a cross entropy by hand": HEAD
    + """\
x = torch.randn(160, 6)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for i in range(0, 160, 20):
        z = net(x[i:i + 20])
        logp = z - torch.logsumexp(z, 1, keepdim=True)
        loss = -logp.gather(1, y[i:i + 20, None]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "attention within the policy": changed(
        BANDIT,
        (
            "policy = nn.Sequential(nn.Linear(6, 16)",
            "gate = nn.Linear(6, 6)\npolicy = nn.Sequential(nn.Linear(6, 16)",
        ),
        ("policy.parameters()", "[*policy.parameters(), *gate.parameters()]"),
        ("scores = policy(x)", "scores = policy(x * gate(x).softmax(-1))"),
    ),
    "shares of chances that were masked": changed(
        EPISODES,
        (
            "m = Categorical(chances)",
            "seen = chances * torch.tensor([1.0, 1.0, 0.5])\n    m = Categorical(seen / seen.sum())",
        ),
    ),
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_placed(name, engine):
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
