"""Generators and discriminators: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "gan detached generator",
    "the history is cut: the generator's loss is computed on the detached samples",
    ("not reached",),
    (20,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
gen = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
disc = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
loss_fn = nn.BCELoss()
g_opt = torch.optim.Adam(gen.parameters(), lr=2e-3, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(disc.parameters(), lr=4e-3, betas=(0.5, 0.999))

def train_discriminator(real, fake):
    d_opt.zero_grad()
    loss = loss_fn(disc(real), torch.ones(len(real), 1)) + loss_fn(disc(fake.detach()), torch.zeros(len(fake), 1))
    loss.backward()
    d_opt.step()
    return loss.item()

def train_generator(fake):
    g_opt.zero_grad()
    loss = loss_fn(disc(fake), torch.ones(len(fake), 1))
    loss.backward()
    g_opt.step()
    return loss.item()

for step in range(500):
    real = 3 + 0.5 * torch.randn(64, 1)
    fake = gen(torch.randn(64, 2))
    d = train_discriminator(real, fake)
    g = train_generator(fake)
    if step % 100 == 0:
        print(f"step {step} d {d:.3f} g {g:.3f} fake mean {fake.mean().item():.3f}")
print(f"mean of the fakes, 3 is right: {gen(torch.randn(500, 2)).mean().item():.2f}")
""",
    (
        "    loss = loss_fn(disc(fake), torch.ones(len(fake), 1))\n",
        "    loss = loss_fn(disc(fake.detach()), torch.ones(len(fake), 1))\n",
    ),
)

healthy(
    "gan",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 2))
D = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.1), nn.Linear(24, 1))
g_opt = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.0, 0.9))
d_opt = torch.optim.Adam(D.parameters(), lr=4e-3, betas=(0.0, 0.9))

def segment(n):
    t = torch.rand(n, 1)
    return torch.cat([1 + t, 2 - t], 1) + 0.03 * torch.randn(n, 2)

for step in range(300):
    for _ in range(2):
        real, fake = segment(48), G(torch.randn(48, 3)).detach()
        d_loss = F.relu(1 - D(real)).mean() + F.relu(1 + D(fake)).mean()
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()
    g_loss = -D(G(torch.randn(48, 3))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    if step % 60 == 0:
        print("step %d D %.3f G %.3f" % (step, d_loss.item(), g_loss.item()))
with torch.no_grad():
    print("mean of the fakes, 1.5 is right:", [round(v, 2) for v in G(torch.randn(500, 3)).mean(0).tolist()])
""",
)

fault(
    "ring gan",
    "gradients not cleared: the discriminator keeps what the generator's backward left in it",
    ("left over", "used twice"),
    (19, 23),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(0)
Z = 4

def real_points(n):
    t = torch.rand(n) * 2 * math.pi
    return torch.stack([2 * torch.cos(t), 2 * torch.sin(t)], 1) + 0.05 * torch.randn(n, 2)

G = nn.Sequential(nn.Linear(Z, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
bce = nn.BCEWithLogitsLoss()
optG = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(500):
    real = real_points(64)
    fake = G(torch.randn(64, Z))
    optD.zero_grad()
    lossD = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    lossD.backward()
    optD.step()

    optG.zero_grad()
    lossG = bce(D(fake), ones)
    lossG.backward()
    optG.step()
    if step % 50 == 0:
        print(step, "D %.3f G %.3f" % (lossD.item(), lossG.item()))

with torch.no_grad():
    r = G(torch.randn(1000, Z)).norm(dim=1)
    print("mean distance from the ring %.3f" % (r - 2).abs().mean())
""",
    ("    optD.zero_grad()\n", ""),
)

fault(
    "sigmoid generator",
    "activations: the generator ends in a sigmoid, so it cannot reach the negative half of the data",
    ("bounded",),
    (14,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 32)
        self.fc2 = nn.Linear(32, 8)

    def forward(self, z):
        return torch.tanh(self.fc2(F.relu(self.fc1(z))))

class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)

def real(n):
    phase = torch.rand(n, 1) * 0.8
    return 0.9 * torch.sin(phase + torch.linspace(0, 6, 8))

G, D = Generator(), Discriminator()
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
for it in range(450):
    x, fake = real(32), G(torch.randn(32, 4))
    d_loss = F.softplus(-D(x)).mean() + F.softplus(D(fake.detach())).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = F.softplus(-D(fake)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if it % 75 == 0:
        print("it", it, "D", round(d_loss.item(), 3), "G", round(g_loss.item(), 3))
with torch.no_grad():
    gap = (G(torch.randn(500, 4)).mean(0) - real(500).mean(0)).abs().mean()
print("distance of the mean curves %.3f" % gap)
""",
    (
        "        return torch.tanh(self.fc2(F.relu(self.fc1(z))))\n",
        "        return torch.sigmoid(self.fc2(F.relu(self.fc1(z))))\n",
    ),
)
