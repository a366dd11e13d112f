"""Adversaries: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "gan sides",
    "the generator's optimizer holds the discriminator's parameters",
    ("not held",),
    (27,),
    """\
import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z_dim: int, out_dim: int):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z_dim, 24), nn.ReLU(), nn.Linear(24, out_dim))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, in_dim: int):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)


torch.manual_seed(160)
Z, DIM, B = 3, 1, 64
gen, disc = Generator(Z, DIM), Discriminator(DIM)
optimizer_d = torch.optim.Adam(disc.parameters(), lr=3e-3, betas=(0.5, 0.99))
optimizer_g = torch.optim.Adam(gen.parameters(), lr=3e-3, betas=(0.5, 0.99))
criterion = nn.BCEWithLogitsLoss()

for step in range(300):
    real = 4.0 + 0.7 * torch.randn(B, DIM)

    optimizer_d.zero_grad()
    fake = gen(torch.randn(B, Z)).detach()
    loss_d = criterion(disc(real), torch.ones(B, 1)) + criterion(disc(fake), torch.zeros(B, 1))
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    fake = gen(torch.randn(B, Z))
    loss_g = criterion(disc(fake), torch.ones(B, 1))
    loss_g.backward()
    optimizer_g.step()

    if step % 40 == 0:
        print(f"{step} loss_d {loss_d.item():.3f} loss_g {loss_g.item():.3f} mean of fakes {fake.mean().item():.3f}")

with torch.no_grad():
    print("final mean of fakes", gen(torch.randn(1000, Z)).mean().item(), "wanted 4.0")
""",
    (
        "optimizer_g = torch.optim.Adam(gen.parameters(), lr=3e-3, betas=(0.5, 0.99))\n",
        "optimizer_g = torch.optim.Adam(disc.parameters(), lr=3e-3, betas=(0.5, 0.99))\n",
    ),
)

fault(
    "ring gan",
    "generator step uses detached fakes, no gradient reaches the generator",
    ("not reached",),
    (32,),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(4)

cfg = dict(latent=4, hidden=24, batch=64, steps=350, lr_g=2e-3, lr_d=2e-3)
TARGET = torch.tensor([2.0, -1.0])

G = nn.Sequential(nn.Linear(cfg["latent"], cfg["hidden"]), nn.ReLU(), nn.Linear(cfg["hidden"], 2))
D = nn.Sequential(nn.Linear(2, cfg["hidden"]), nn.LeakyReLU(0.2), nn.Linear(cfg["hidden"], 1))
opt_g = torch.optim.Adam(G.parameters(), lr=cfg["lr_g"], betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=cfg["lr_d"], betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(cfg["batch"], 1), torch.zeros(cfg["batch"], 1)


def real_batch():
    return TARGET + 0.5 * torch.randn(cfg["batch"], 2)


for step in range(cfg["steps"]):
    z = torch.randn(cfg["batch"], cfg["latent"])
    fake = G(z)

    opt_d.zero_grad()
    d_loss = bce(D(real_batch()), ones) + bce(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = bce(D(fake), ones)
    g_loss.backward()
    opt_g.step()

    if step % 50 == 0:
        centre = fake.mean(0).tolist()
        print(f"step {step} d {d_loss.item():.3f} g {g_loss.item():.3f} centre {centre[0]:.2f},{centre[1]:.2f}")

with torch.no_grad():
    c = G(torch.randn(500, cfg["latent"])).mean(0)
    print("distance of the centre:", math.sqrt(((c - TARGET) ** 2).sum().item()))
""",
    ("    g_loss = bce(D(fake), ones)\n", "    g_loss = bce(D(fake.detach()), ones)\n"),
)
