"""GANs: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "generator judged on detached fakes",
    "the generator's loss is computed on the detached fakes, so no gradient reaches the generator",
    ("not reached",),
    (35,),
    """\
import math

import torch
import torch.nn as nn

torch.manual_seed(0)


def real_batch(n):
    angle = torch.randint(0, 6, (n,)) * (2 * math.pi / 6)
    return 1.5 * torch.stack([angle.cos(), angle.sin()], 1) + 0.08 * torch.randn(n, 2)


generator = nn.Sequential(nn.Linear(8, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 2))
discriminator = nn.Sequential(
    nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1)
)
criterion = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
batch_size = 128
ones, zeros = torch.ones(batch_size, 1), torch.zeros(batch_size, 1)

for it in range(800):
    real = real_batch(batch_size)
    fake = generator(torch.randn(batch_size, 8))

    fake_d = fake.detach()
    opt_d.zero_grad()
    d_loss = criterion(discriminator(real), ones) + criterion(discriminator(fake_d), zeros)
    d_loss.backward()
    opt_d.step()

    opt_g.zero_grad()
    g_loss = criterion(discriminator(fake), ones)
    g_loss.backward()
    opt_g.step()

    if it % 100 == 99:
        with torch.no_grad():
            out = generator(torch.randn(1000, 8))
        radius = out.norm(dim=1)
        print(
            f"it {it + 1} D {d_loss.item():.3f} G {g_loss.item():.3f} "
            f"radius {radius.mean().item():.3f} +- {radius.std().item():.3f}"
        )
""",
    (
        "    g_loss = criterion(discriminator(fake), ones)\n",
        "    g_loss = criterion(discriminator(fake_d), ones)\n",
    ),
)

fault(
    "penalty without a graph",
    "the gradients of the WGAN-GP penalty are taken without create_graph, so the penalty is a constant and "
    "constrains nothing",
    (
        "term of gradients",
        "diverges",
    ),
    (23, 29),
    """\
import torch
from torch import autograd, nn, optim

LAMBDA = 1.0
torch.manual_seed(1)


def mlp(n_in, n_out, hidden=48):
    return nn.Sequential(
        nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_out)
    )


def real_data(n):
    x = torch.randn(n, 1)
    return torch.cat([x, 0.5 * x**2 - 0.5], 1) + 0.1 * torch.randn(n, 2)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    scores = critic(mixed)
    grads = autograd.grad(
        outputs=scores,
        inputs=mixed,
        grad_outputs=torch.ones_like(scores),
        create_graph=True,
        retain_graph=True,
    )[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


gen, critic = mlp(4, 2), mlp(2, 1)
opt_g = optim.Adam(gen.parameters(), lr=5e-4, betas=(0.0, 0.9))
opt_c = optim.Adam(critic.parameters(), lr=2e-3, betas=(0.0, 0.9))

for step in range(1, 301):
    for _ in range(3):
        real = real_data(128)
        fake = gen(torch.randn(128, 4)).detach()
        gp = gradient_penalty(critic, real, fake)
        distance = critic(real).mean() - critic(fake).mean()
        loss_c = -distance + LAMBDA * gp
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -critic(gen(torch.randn(128, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 50 == 0:
        with torch.no_grad():
            x, y = gen(torch.randn(1000, 4)).unbind(1)
        off = (y - 0.5 * x**2 + 0.5).abs().mean().item()
        print(f"step {step}: distance {distance.item():.3f} gp {gp.item():.4f} off the curve {off:.3f}")
""",
    ("        create_graph=True,\n", ""),
)

fault(
    "discriminator gradients never cleared",
    "the discriminator's gradients are not zeroed before its step, so they hold all earlier steps' gradients, "
    "those of the generator's loss included",
    (
        "used twice",
        "left over",
    ),
    (33, 34),
    """\
import torch
import torch.nn as nn


def make_nets(z_dim):
    gen = nn.Sequential(nn.Linear(z_dim, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
    gen.extend([nn.Linear(64, 64), nn.Tanh(), nn.Unflatten(1, (1, 8, 8))])
    disc = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 3, 2, 1), nn.LeakyReLU(0.2))
    disc.extend([nn.Flatten(), nn.Linear(32 * 4, 1), nn.Sigmoid()])
    return gen, disc


class Trainer:
    def __init__(self, z_dim=10, lr=1e-3):
        self.z_dim = z_dim
        self.G, self.D = make_nets(z_dim)
        self.g_opt = torch.optim.Adam(self.G.parameters(), lr, betas=(0.5, 0.999))
        self.d_opt = torch.optim.Adam(self.D.parameters(), lr, betas=(0.5, 0.999))
        self.bce = nn.BCELoss()

    def real(self, n):
        level = torch.rand(n, 1, 1, 1) * 0.8
        image = -torch.ones(n, 1, 8, 8)
        image[:, :, 2:6, 2:6] = level
        return image

    def noise(self, n):
        return torch.randn(n, self.z_dim)

    def train_d(self, n):
        real, fake = self.real(n), self.G(self.noise(n)).detach()
        loss = self.bce(self.D(real), torch.full((n, 1), 0.9)) + self.bce(self.D(fake), torch.zeros(n, 1))
        self.d_opt.zero_grad()
        loss.backward()
        self.d_opt.step()
        return loss.item()

    def train_g(self, n):
        loss = self.bce(self.D(self.G(self.noise(n))), torch.ones(n, 1))
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()
        return loss.item()


torch.manual_seed(5)
trainer = Trainer()
for step in range(1, 401):
    d, g = trainer.train_d(64), trainer.train_g(64)
    if step % 50 == 0:
        with torch.no_grad():
            mean_image = trainer.G(trainer.noise(256)).mean(0)
        error = (mean_image - trainer.real(256).mean(0)).abs().mean().item()
        print(f"[{step}] D {d:.3f} G {g:.3f} mean image off by {error:.3f}")
""",
    ("        self.d_opt.zero_grad()\n", ""),
)
