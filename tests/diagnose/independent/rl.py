"""Rewards: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "a2c broadcast",
    "shapes that broadcast by mistake: returns (N,) minus values (N, 1) gives a matrix",
    ("broadcast",),
    (25,),
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

class ActorCritic(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 32), nn.Tanh())
        self.pi = nn.Linear(32, actions)
        self.v = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h)

torch.manual_seed(0)
agent = ActorCritic(4, 4)
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
rewards = []
for update in range(250):
    obs = torch.randn(48, 4)
    dist, values = agent(obs)
    actions = dist.sample()
    returns = (actions == obs.argmax(1)).float() + 3 * obs[:, 0]
    advantages = returns - values.squeeze(1)
    policy_loss = -(dist.log_prob(actions) * advantages.detach()).mean()
    value_loss = advantages.pow(2).mean()
    loss = policy_loss + 0.5 * value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rewards.append((actions == obs.argmax(1)).float().mean().item())
    if update % 50 == 0:
        print(f"update {update} loss {loss.item():.3f} right {rewards[-1]:.3f}")
print(f"right choices {sum(rewards[-30:]) / 30:.3f}, error of the values {(values.squeeze(1) - returns).pow(2).mean():.3f}")
""",
    ("    advantages = returns - values.squeeze(1)\n", "    advantages = returns - values\n"),
)

healthy(
    "clamp",
    """\
import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(0)
mean_net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
log_std = nn.Parameter(torch.zeros(1))
value_net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
params = [*mean_net.parameters(), log_std, *value_net.parameters()]
optimizer = torch.optim.Adam(params, lr=5e-3)
for it in range(50):
    obs = torch.rand(128, 2) * 2 - 1
    with torch.no_grad():
        dist = Normal(mean_net(obs), log_std.exp())
        action = dist.sample()
        old_logp = dist.log_prob(action)
        reward = -(action - obs.sum(1, keepdim=True)) ** 2
        adv = reward - value_net(obs)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(6):
        dist = Normal(mean_net(obs), log_std.clamp(-3, 1).exp())
        ratio = (dist.log_prob(action) - old_logp).exp()
        clipped = ratio.clamp(0.8, 1.2)
        policy_loss = -torch.min(ratio * adv, clipped * adv).mean()
        value_loss = nn.functional.mse_loss(value_net(obs), reward)
        loss = policy_loss + 0.5 * value_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()
    if it % 10 == 0:
        print("it %d loss %.3f reward %.3f" % (it, loss.item(), reward.mean()))
print("reward at the end %.3f" % reward.mean())
""",
)

healthy(
    "noisy start",
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
baseline, history = 0.0, []
for episode in range(400):
    obs = torch.randn(16, 3)
    dist = Categorical(logits=policy(obs))
    action = dist.sample()
    reward = obs.gather(1, action[:, None]).squeeze(1) + 0.5 * torch.randn(16)
    loss = -(dist.log_prob(action) * (reward - baseline)).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline += 0.05 * (reward.mean().item() - baseline)
    history.append(reward.mean().item())
    if episode % 50 == 0:
        print(f"episode {episode} loss {loss.item():.3f} reward {history[-1]:.3f}")
print("reward of the first 40 %.3f, of the last 40 %.3f" % (sum(history[:40]) / 40, sum(history[-40:]) / 40))
""",
)

healthy(
    "target network",
    """\
import copy
import random
from collections import deque
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
random.seed(0)
SIZE = 6
q_net = nn.Sequential(nn.Linear(SIZE, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(q_net)
for p in target_net.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(q_net.parameters(), lr=3e-3)
memory = deque(maxlen=500)
eye = torch.eye(SIZE)
state, finished = 0, 0

for step in range(700):
    epsilon = max(0.1, 1 - step / 300)
    if random.random() < epsilon:
        action = random.randrange(2)
    else:
        with torch.no_grad():
            action = q_net(eye[state]).argmax().item()
    nxt = min(max(state + (1 if action else -1), 0), SIZE - 1)
    done = nxt == SIZE - 1
    memory.append((state, action, float(done), nxt, done))
    finished += done
    state = 0 if done else nxt
    if len(memory) < 64 or step % 2:
        continue
    s, a, r, n, d = (torch.tensor(v) for v in zip(*random.sample(memory, 32)))
    with torch.no_grad():
        goal = r + 0.9 * target_net(eye[n]).max(1).values * (~d)
    loss = F.smooth_l1_loss(q_net(eye[s]).gather(1, a[:, None]).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, t in zip(q_net.parameters(), target_net.parameters()):
            t.mul_(0.95).add_(0.05 * p)
    if step % 100 == 0:
        print("step", step, "td loss %.4f" % loss.item(), "episodes", finished)
print("greedy moves, all 1 is right:", q_net(eye[:-1]).argmax(1).tolist())
""",
)

fault(
    "moving reward",
    "history that grows: the moving average of the loss is never detached",
    ("joins older",),
    (29,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
ARMS = 6
means = torch.linspace(-1, 1, ARMS)

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, ARMS))

    def forward(self, context):
        return torch.log_softmax(self.net(context), dim=-1)

policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
average = torch.zeros(())
baseline = 0.0
for step in range(400):
    logp = policy(torch.ones(16, 3))
    arms = torch.multinomial(logp.exp(), 1)
    reward = means[arms] + 0.1 * torch.randn(16, 1)
    loss = -(logp.gather(1, arms) * (reward - baseline)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    average = 0.99 * average + 0.01 * loss.detach()
    if step % 80 == 0:
        print("step", step, "average loss %.4f reward %.3f" % (average.item(), reward.mean().item()))
print("mean reward at the end %.3f" % baseline)
""",
    ("    average = 0.99 * average + 0.01 * loss.detach()\n", "    average = 0.99 * average + 0.01 * loss\n"),
)

fault(
    "walk actor critic",
    "gradients not cleared: the actor is cleared twice, the critic never",
    ("used twice",),
    (34,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(2)
LENGTH = 7

def one_hot(s):
    return F.one_hot(s, LENGTH).float()

actor = nn.Sequential(nn.Linear(LENGTH, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(LENGTH, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=0.01)
critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
gamma = 0.9
state = torch.randint(0, LENGTH - 1, (32,))

for it in range(300):
    s = one_hot(state)
    dist = Categorical(logits=actor(s))
    action = dist.sample()
    nxt = (state + 2 * action - 1).clamp(min=0)
    done = nxt == LENGTH - 1
    reward = done.float()
    value = critic(s).squeeze(1)
    with torch.no_grad():
        target = reward + gamma * critic(one_hot(nxt)).squeeze(1) * (~done)
    advantage = target - value

    critic_loss = advantage.pow(2).mean()
    actor_loss = -(dist.log_prob(action) * advantage.detach()).mean() - 0.01 * dist.entropy().mean()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    actor_loss.backward()
    critic_loss.backward()
    actor_opt.step()
    critic_opt.step()
    state = torch.where(done, torch.randint(0, LENGTH - 1, (32,)), nxt)
    if it % 50 == 0:
        print(it, "critic", critic_loss.item(), "reward", reward.mean().item())

with torch.no_grad():
    v = critic(torch.eye(LENGTH)).squeeze(1)[:LENGTH - 1]
    best = gamma ** torch.arange(LENGTH - 2, -1, -1).float()
print("error of the values %.3f" % (v - best).abs().mean())
""",
    ("    critic_opt.zero_grad()\n", "    actor_opt.zero_grad()\n"),
)

fault(
    "wrong net dqn",
    "parameters that are not trained: the optimizer was given the target network's parameters",
    ("not reached", "not held"),
    (9,),
    """\
import copy
import torch
import torch.nn as nn

torch.manual_seed(1)
N_STATES, N_ACTIONS, GAMMA = 8, 2, 0.8
policy_net = nn.Sequential(nn.Linear(N_STATES, 24), nn.ReLU(), nn.Linear(24, N_ACTIONS))
target_net = copy.deepcopy(policy_net)
optimizer = torch.optim.Adam(policy_net.parameters(), lr=5e-3)
eye = torch.eye(N_STATES)

def environment(state, action):
    nxt = (state + torch.where(action == 1, 1, N_STATES - 1)) % N_STATES
    return nxt, (nxt == 0).float()

for episode in range(400):
    state = torch.randint(0, N_STATES, (32,))
    action = torch.randint(0, N_ACTIONS, (32,))
    nxt, reward = environment(state, action)
    q = policy_net(eye[state]).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = reward + GAMMA * target_net(eye[nxt]).max(1).values
    loss = nn.functional.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 20 == 0:
        target_net.load_state_dict(policy_net.state_dict())
    if episode % 80 == 0:
        print(f"episode {episode} td loss {loss.item():.4f}")

with torch.no_grad():
    print("Q at the state before the goal", [round(v, 2) for v in policy_net(eye[7]).tolist()], "td loss %.4f" % loss.item())
""",
    (
        "optimizer = torch.optim.Adam(policy_net.parameters(), lr=5e-3)\n",
        "optimizer = torch.optim.Adam(target_net.parameters(), lr=5e-3)\n",
    ),
)

fault(
    "zero times inf",
    "NaN and infinity: 0 times the infinite log-probability of an illegal move in the entropy",
    ("not finite",),
    (13, 18),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
ACTIONS = 5
policy = nn.Sequential(nn.Linear(ACTIONS, 24), nn.Tanh(), nn.Linear(24, ACTIONS))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
pay = torch.tensor([0.0, 0.2, 0.4, 0.6, 1.0])

for step in range(200):
    legal = torch.rand(32, ACTIONS) < 0.6
    legal[:, 0] = True
    logits = policy(legal.float()).masked_fill(~legal, -1e9)
    logp = torch.log_softmax(logits, dim=1)
    p = logp.exp()
    move = torch.multinomial(p.detach(), 1)
    reward = pay[move]
    entropy = -(p * logp).sum(1).mean()
    loss = -((reward - 0.5) * logp.gather(1, move)).mean() - 0.01 * entropy
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 0:
        print("step", step, "loss", loss.item(), "reward", reward.mean().item())
    if torch.isnan(loss):
        break
print("last step", step, "loss %.3f reward %.3f" % (loss.item(), reward.mean().item()))
""",
    (
        "    logits = policy(legal.float()).masked_fill(~legal, -1e9)\n",
        '    logits = policy(legal.float()).masked_fill(~legal, float("-inf"))\n',
    ),
)
