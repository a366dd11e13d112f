"""Rewards: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "critic bandit",
    "policy-gradient loss has the wrong sign (minimises reward)",
    (),
    (37,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(2)

N_STATES, N_ACTIONS = 6, 4
best_action = torch.tensor([2, 0, 3, 1, 1, 2])


def reward_of(state, action):
    hit = (best_action[state] == action).float()
    return hit + 0.1 * torch.randn(state.shape[0])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(N_STATES, 16)
        self.head = nn.Linear(16, N_ACTIONS)

    def forward(self, s):
        return torch.softmax(self.head(torch.tanh(self.table(s))), dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
baseline = 0.0

for it in range(150):
    state = torch.randint(0, N_STATES, (64,))
    probs = policy(state)
    with torch.no_grad():
        action = torch.multinomial(probs, 1).squeeze(1)
    r = reward_of(state, action)
    baseline = 0.9 * baseline + 0.1 * r.mean().item()
    logp = torch.log(probs.gather(1, action.unsqueeze(1)).squeeze(1) + 1e-8)
    loss = -(logp * (r - baseline)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 25 == 24:
        print(f"iter {it + 1} loss {loss.item():+.4f} mean reward {r.mean().item():.3f}")

with torch.no_grad():
    greedy = policy(torch.arange(N_STATES)).argmax(1)
print("greedy correct:", (greedy == best_action).float().mean().item())
""",
    ("    loss = -(logp * (r - baseline)).mean()\n", "    loss = (logp * (r - baseline)).mean()\n"),
)

fault(
    "dqn corridor",
    "target network never synchronised (missing sync in the loop)",
    ("target stays",),
    (35,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
LENGTH, GAMMA, SYNC = 8, 0.9, 20

# a corridor: start anywhere, action 1 moves right, action 0 left, reward at the right end
eye = torch.eye(LENGTH)


def transitions(n):
    s = torch.randint(0, LENGTH - 1, (n,))
    a = torch.randint(0, 2, (n,))
    s2 = (s + 2 * a - 1).clamp(0, LENGTH - 1)
    done = (s2 == LENGTH - 1).float()
    return s, a, done.clone(), s2, done


q = nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Linear(32, 2))
q_target = nn.Sequential(nn.Linear(LENGTH, 32), nn.ReLU(), nn.Linear(32, 2))
q_target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=5e-3)

for step in range(400):
    s, a, r, s2, done = transitions(48)
    with torch.no_grad():
        best_next = q_target(eye[s2]).max(dim=1).values
        goal = r + GAMMA * (1 - done) * best_next
    value = q(eye[s]).gather(1, a.unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % SYNC == 0:
        q_target.load_state_dict(q.state_dict())
    if step % 50 == 49:
        print("step", step + 1, "td loss", round(loss.item(), 5))

with torch.no_grad():
    values = q(eye).max(1).values[:-1]
    exact = torch.tensor([GAMMA ** (LENGTH - 2 - i) for i in range(LENGTH - 1)])
    policy = q(eye).argmax(1)[:-1]
print("value error", (values - exact).abs().mean().item(), "policy", policy.tolist())
""",
    ("    if step % SYNC == 0:\n        q_target.load_state_dict(q.state_dict())\n", ""),
)

healthy(
    "noisy rl",
    """\
import torch

torch.manual_seed(10)
means = torch.tensor([0.0, 0.1, 0.3, 0.05, 0.2])
SIGMA = 1.0
prefs = torch.zeros(5, requires_grad=True)
opt = torch.optim.Adam([prefs], lr=0.02)
baseline = 0.0

for it in range(400):
    logp = torch.log_softmax(prefs, dim=0)
    with torch.no_grad():
        arms = torch.multinomial(logp.exp(), 256, replacement=True)
        reward = means[arms] + SIGMA * torch.randn(256)
        adv = reward - baseline
        baseline = 0.95 * baseline + 0.05 * reward.mean().item()
    entropy = -(logp.exp() * logp).sum()
    loss = -(logp[arms] * adv).mean() - 0.005 * entropy
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 0:
        print(f"it {it} loss {loss.item():+.4f} mean reward {reward.mean().item():+.3f}")

p = torch.softmax(prefs, 0).detach()
print("best arm", p.argmax().item(), "expected reward", (p * means).sum().item(), "uniform", means.mean().item())
""",
)

healthy(
    "td detach",
    """\
import torch
import torch.nn as nn

torch.manual_seed(11)
N, GAMMA = 7, 0.9
eye = torch.eye(N)
value = nn.Sequential(nn.Linear(N, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(value.parameters(), lr=0.005)

exact = torch.tensor([GAMMA ** (N - 2 - i) for i in range(N - 1)])
for step in range(500):
    s = torch.randint(0, N - 1, (40,))
    s2 = s + 1
    done = (s2 == N - 1).float().unsqueeze(1)
    goal = (done + GAMMA * (1 - done) * value(eye[s2])).detach()
    loss = ((value(eye[s]) - goal) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        with torch.no_grad():
            err = (value(eye[:-1]).squeeze(1) - exact).abs().mean().item()
        print("step", step, "loss", loss.item(), "value error", err)
with torch.no_grad():
    print("values", [round(v, 3) for v in value(eye[:-1]).squeeze(1).tolist()])
""",
)
