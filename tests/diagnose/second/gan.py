"""Adversaries: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "ring gan",
    "the generator's optimizer was given the discriminator's parameters: the generator never changes",
    ("not held",),
    (17,),
    """\
import torch
from torch import nn

torch.manual_seed(12)
Z = 4


def real_batch(n):
    angle = 2 * 3.14159265 * torch.rand(n)
    ring = torch.stack([angle.cos(), angle.sin()], dim=1)
    return torch.tensor([3.0, -2.0]) + 0.5 * ring + 0.03 * torch.randn(n, 2)


generator = nn.Sequential(nn.Linear(Z, 24), nn.ReLU(), nn.Linear(24, 2))
discriminator = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
d_opt = torch.optim.Adam(discriminator.parameters(), lr=4e-3, betas=(0.5, 0.99))
g_opt = torch.optim.Adam(generator.parameters(), lr=4e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
N = 48
ones, zeros = torch.ones(N, 1), torch.zeros(N, 1)

for it in range(450):
    # discriminator
    real = real_batch(N)
    fake = generator(torch.randn(N, Z)).detach()
    d_loss = bce(discriminator(real), ones) + bce(discriminator(fake), zeros)
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()

    # generator
    fake = generator(torch.randn(N, Z))
    g_loss = bce(discriminator(fake), ones)
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()

    if it % 75 == 0 or it == 449:
        c = fake.mean(0).tolist()
        print(f"it {it:4d}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  centre of fakes ({c[0]:.2f}, {c[1]:.2f})")

print("centre wanted (3.00, -2.00)")
""",
    (
        "g_opt = torch.optim.Adam(generator.parameters(), lr=4e-3, betas=(0.5, 0.99))\n",
        "g_opt = torch.optim.Adam(discriminator.parameters(), lr=4e-3, betas=(0.5, 0.99))\n",
    ),
)

healthy(
    "critic clamp",
    """\
import torch
import torch.nn as nn

torch.manual_seed(5)
Z, N, CLIP = 3, 48, 0.1


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(Z, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)


G, C = Generator(), Critic()
g_opt = torch.optim.RMSprop(G.parameters(), lr=2e-3)
c_opt = torch.optim.RMSprop(C.parameters(), lr=2e-3)


def real(n):
    return 4.0 + 0.6 * torch.randn(n, 1)


def noise(n):
    return torch.randn(n, Z)


for it in range(160):
    for _ in range(5):
        c_loss = C(G(noise(N)).detach()).mean() - C(real(N)).mean()
        c_opt.zero_grad()
        c_loss.backward()
        c_opt.step()
        with torch.no_grad():
            for p in C.parameters():
                p.clamp_(-CLIP, CLIP)
    g_loss = -C(G(noise(N))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    if it % 20 == 19:
        with torch.no_grad():
            s = G(noise(400))
        print(f"it {it + 1} critic {c_loss.item():+.4f} generator {g_loss.item():+.4f} "
              f"mean {s.mean().item():.2f} std {s.std().item():.2f}")
print("wanted mean 4.00 std 0.60")
""",
)
