"""Adversaries: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "gan ring",
    "the generator's optimizer holds the discriminator's parameters",
    ("not held",),
    (19,),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(14)
Z, BS = 4, 64


def real(n):
    return torch.tensor([2.0, -1.0]) + 0.3 * torch.randn(n, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 24), nn.LeakyReLU(0.2), nn.Linear(24, o))


G, D = mlp(Z, 2), mlp(2, 1)
opt_d = torch.optim.Adam(D.parameters(), lr=4e-3, betas=(0.5, 0.9))
opt_g = torch.optim.Adam(G.parameters(), lr=4e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BS, 1), torch.zeros(BS, 1)

for step in range(501):
    fake = G(torch.randn(BS, Z))
    loss_d = bce(D(real(BS)), ones) + bce(D(fake.detach()), zeros)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()

    loss_g = bce(D(fake), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 100 == 0:
        m = fake.detach().mean(0).tolist()
        print(f"{step} D {loss_d.item():.3f} G {loss_g.item():.3f} fake mean ({m[0]:.2f}, {m[1]:.2f})")
with torch.no_grad():
    gap = (G(torch.randn(500, Z)).mean(0) - real(500).mean(0)).norm().item()
print("distance of the means", round(gap, 3))
""",
    (
        "opt_g = torch.optim.Adam(G.parameters(), lr=4e-3, betas=(0.5, 0.9))\n",
        "opt_g = torch.optim.Adam(D.parameters(), lr=4e-3, betas=(0.5, 0.9))\n",
    ),
)
