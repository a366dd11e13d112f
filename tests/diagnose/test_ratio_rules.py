"""Clipped ratios of policies: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

MINIBATCHES = (
    HEAD
    + """\
from torch.distributions import Categorical
actor = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 4))
critic = nn.Linear(3, 1)
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=3e-3)
secret = torch.randn(3, 4)
def rollout(n=128):
    s = torch.randn(n, 3)
    with torch.no_grad():
        dist = Categorical(logits=actor(s))
        a = dist.sample()
        logp = dist.log_prob(a)
    return s, a, logp, ((s @ secret).argmax(1) == a).float() + 0.1 * torch.randn(n)
for it in range(6):
    states, actions, old_logp, rewards = rollout()
    with torch.no_grad():
        adv = rewards - critic(states).squeeze(1)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for epoch in range(3):
        for idx in torch.randperm(128).split(32):
            dist = Categorical(logits=actor(states[idx]))
            logp = dist.log_prob(actions[idx])
            ratio = torch.exp(logp - old_logp[idx])
            surr1 = ratio * adv[idx]
            surr2 = torch.clamp(ratio, 0.8, 1.2) * adv[idx]
            policy_loss = -torch.min(surr1, surr2).mean()
            value_loss = F.mse_loss(critic(states[idx]).squeeze(1), rewards[idx])
            loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
"""
)
NEGATED = (
    HEAD
    + """\
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 24), nn.ReLU())
        self.pi, self.v = nn.Linear(24, 3), nn.Linear(24, 1)
    def evaluate(self, obs, act):
        h = self.body(obs)
        logp = self.pi(h).log_softmax(-1).gather(1, act[:, None]).squeeze(1)
        return logp, self.v(h).squeeze(1)
    forward = evaluate
class Buffer:
    def fill(self, agent, n):
        self.obs = torch.randn(n, 5)
        with torch.no_grad():
            self.act = torch.multinomial(agent.pi(agent.body(self.obs)).softmax(-1), 1).squeeze(1)
            self.logp, v = agent.evaluate(self.obs, self.act)
        self.ret = (self.act == self.obs[:, :3].argmax(1)).float()
        self.adv = self.ret - v
agent, buffer, clip = Agent(), Buffer(), 0.2
optimizer = torch.optim.Adam(agent.parameters(), lr=2e-3)
def pg_loss(new, old, adv):
    ratio = (new - old).exp()
    unclipped = -adv * ratio
    clipped = -adv * ratio.clamp(1 - clip, 1 + clip)
    return torch.max(unclipped, clipped).mean()
for update in range(6):
    buffer.fill(agent, 64)
    for k in range(5):
        new, values = agent(buffer.obs, buffer.act)
        loss = pg_loss(new, buffer.logp, buffer.adv) + 0.5 * (values - buffer.ret).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
)
ANEW = (
    "            ratio = torch.exp(logp - old_logp[idx])\n",
    "            old = actor(states[idx]).log_softmax(1).gather(1, actions[idx][:, None]).squeeze(1).detach()\n"
    "            ratio = torch.exp(logp - old)\n",
)
ONCE = ("for epoch in range(3):", "for epoch in range(1):")
PLANTED = {
    "the larger of two": Planted(
        "clipped ratio", MINIBATCHES, (("-torch.min(", "-torch.max("),), "policy_loss = "
    ),
    "the larger, by its function": Planted(
        "clipped ratio",
        MINIBATCHES,
        (("-torch.min(surr1, surr2).mean()", "torch.maximum(surr1, surr2).mean() * -1"),),
        "policy_loss = ",
    ),
    "the smaller of negated ones": Planted(
        "clipped ratio", NEGATED, (("torch.max(", "torch.min("),), "torch.min("
    ),
    "no minus": Planted(
        "clipped ratio", MINIBATCHES, (("= -torch.min(", "= torch.min("),), "policy_loss = torch"
    ),
    "a clipped product": Planted(
        "clipped ratio",
        MINIBATCHES,
        (("torch.clamp(ratio, 0.8, 1.2) * adv[idx]", "torch.clamp(ratio * adv[idx], 0.8, 1.2)"),),
        "surr2 = ",
    ),
    "a clipped surrogate": Planted(
        "clipped ratio",
        MINIBATCHES,
        (("torch.clamp(ratio, 0.8, 1.2) * adv[idx]", "surr1.clamp(0.8, 1.2)"),),
        "surr2 = ",
    ),
    "old less new": Planted(
        "clipped ratio", MINIBATCHES, (("logp - old_logp[idx]", "old_logp[idx] - logp"),), "ratio = "
    ),
    "old by new": Planted(
        "clipped ratio", NEGATED, (("(new - old).exp()", "old.exp() / new.exp()"),), "ratio = "
    ),
    "a quotient of logarithms": Planted(
        "clipped ratio",
        MINIBATCHES,
        (("torch.exp(logp - old_logp[idx])", "logp / old_logp[idx]"),),
        "ratio = ",
    ),
    "a difference": Planted("clipped ratio", NEGATED, (("(new - old).exp()", "new - old"),), "ratio = "),
    "computed anew": Planted("clipped ratio", MINIBATCHES, (ANEW,), "ratio = "),
    "its own copy": Planted(
        "clipped ratio",
        NEGATED,
        (("pg_loss(new, buffer.logp, ", "pg_loss(new, new.detach(), "),),
        "ratio = (new",
    ),
}
HEALTHY = {
    "minibatches": MINIBATCHES,
    "negated advantages": NEGATED,
    "one epoch, computed anew": changed(MINIBATCHES, ANEW, ONCE),
    "one pass, its own copy": changed(
        NEGATED,
        ("for k in range(5):", "for k in range(1):"),
        ("pg_loss(new, buffer.logp, ", "pg_loss(new, new.detach(), "),
        ("range(6)", "range(30)"),
    ),
    "a quotient of probabilities": changed(NEGATED, ("(new - old).exp()", "new.exp() / old.exp()")),
    "a second clip": changed(
        MINIBATCHES,
        (
            "policy_loss = -torch.min(surr1, surr2).mean()",
            "least = torch.max(torch.min(surr1, surr2), 3.0 * adv[idx])\n"
            "            policy_loss = -torch.where(adv[idx] < 0, least, torch.min(surr1, surr2)).mean()",
        ),
    ),
    "a value that is clipped": changed(
        NEGATED,
        (
            "0.5 * (values - buffer.ret).pow(2).mean()",
            "0.5 * torch.max((values - buffer.ret).pow(2), (values.clamp(-1, 1) - buffer.ret).pow(2)).mean()",
        ),
    ),
    "it maximises": changed(
        MINIBATCHES,
        ("-torch.min(surr1, surr2)", "torch.min(surr1, surr2)"),
        ("+ 0.5 * value_loss - 0.01 *", "- 0.5 * value_loss + 0.01 *"),
        ("lr=3e-3)", "lr=3e-3, maximize=True)"),
    ),
    "actions that are numbers": changed(
        MINIBATCHES,
        ("import Categorical", "import Normal"),
        ("dist = Categorical(logits=actor(s))", "dist = Normal(actor(s)[:, 0], 1.0)"),
        ("dist = Categorical(logits=actor(states[idx]))", "dist = Normal(actor(states[idx])[:, 0], 1.0)"),
        ("((s @ secret).argmax(1) == a).float()", "-(a - s[:, 0]) ** 2"),
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
