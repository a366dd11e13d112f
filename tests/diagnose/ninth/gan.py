"""GANs: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "generator rewarded for being caught",
    "the generator's step asks the discriminator to call its samples fake, so it is trained to be caught",
    ("opponents",),
    (47,),
    """\
import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, noise):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(nn.Linear(noise, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, z):
        return self.net(z)


def real_batch(size):
    x = torch.randn(size, 1)
    y = 0.5 * x**2 - 1 + 0.2 * torch.randn(size, 1)
    return torch.cat([x, y], dim=1)


def curve_error(points):
    x, y = points.unbind(1)
    return (y - 0.5 * x**2 + 1).abs().mean().item()


torch.manual_seed(1)
netG = Generator(4)
netD = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
criterion = nn.BCEWithLogitsLoss()
optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
optG = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.999))
batch = 128
ones, zeros = torch.ones(batch, 1), torch.zeros(batch, 1)

for step in range(1, 601):
    optD.zero_grad()
    real = real_batch(batch)
    fake = netG(torch.randn(batch, netG.noise))
    loss_real = criterion(netD(real), ones)
    loss_fake = criterion(netD(fake.detach()), zeros)
    lossD = loss_real + loss_fake
    lossD.backward()
    optD.step()

    optG.zero_grad()
    fake = netG(torch.randn(batch, netG.noise))
    lossG = criterion(netD(fake), ones)
    lossG.backward()
    optG.step()

    if step % 100 == 0:
        with torch.no_grad():
            sample = netG(torch.randn(500, netG.noise))
        spread = sample.std(0).mean().item()
        error = curve_error(sample)
        print(f"[{step}] D {lossD.item():.3f} G {lossG.item():.3f} curve error {error:.3f} spread {spread:.3f}")
""",
    ("criterion(netD(fake), ones)", "criterion(netD(fake), zeros)"),
)

healthy(
    "critic with clipped weights",
    """\
import torch
from torch import nn, optim

torch.manual_seed(0)
clip, critic_steps = 0.1, 4


def mlp(sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def real(size):
    which = torch.randint(0, 2, (size, 1)).float()
    return which * 3.0 - 1.5 + 0.3 * torch.randn(size, 1)


def distance(a, b):
    return (a.flatten().sort().values - b.flatten().sort().values).abs().mean().item()


generator, critic = mlp([2, 64, 64, 1]), mlp([1, 64, 64, 1])
opt_c = optim.RMSprop(critic.parameters(), lr=2e-3)
opt_g = optim.RMSprop(generator.parameters(), lr=1e-3)

for step in range(1, 401):
    for _ in range(critic_steps):
        with torch.no_grad():
            fake = generator(torch.randn(64, 2))
        gap = critic(real(64)).mean() - critic(fake).mean()
        opt_c.zero_grad()
        (-gap).backward()
        opt_c.step()
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-clip, clip)
    loss = -critic(generator(torch.randn(64, 2))).mean()
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
    if step % 80 == 0:
        with torch.no_grad():
            apart = distance(generator(torch.randn(2000, 2)), real(2000))
        print(f"step {step} critic gap {gap.item():.5f} generator {loss.item():.5f} distance {apart:.3f}")
""",
)

healthy(
    "reversed gradient to forget the domain",
    """\
import math

import torch
import torch.nn.functional as F
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 16), nn.ReLU())
        self.label = nn.Linear(16, 3)
        self.domain = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, strength):
        h = self.features(x)
        return self.label(h), self.domain(Reverse.apply(h, strength)).squeeze(1)


torch.manual_seed(4)
means = torch.randn(3, 8) * 1.5


def draw(count, target):
    y = torch.randint(0, 3, (count,))
    content = means[y] + 1.6 * torch.randn(count, 8)
    hint = 2.0 * F.one_hot((y + 1) % 3 if target else y, 3) + 0.5 * torch.randn(count, 3)
    mark = torch.full((count, 1), 1.0 if target else -1.0) + 0.3 * torch.randn(count, 1)
    return torch.cat([content, hint, mark], dim=1), y


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
steps = 600
for step in range(1, steps + 1):
    strength = 2 / (1 + math.exp(-10 * step / steps)) - 1
    source, labels = draw(64, False)
    target, _ = draw(64, True)
    logits, domain_s = net(source, strength)
    _, domain_t = net(target, strength)
    domain = torch.cat([domain_s, domain_t])
    side = torch.cat([torch.zeros(64), torch.ones(64)])
    loss_label = F.cross_entropy(logits, labels)
    loss_domain = F.binary_cross_entropy_with_logits(domain, side)
    optimizer.zero_grad()
    (loss_label + loss_domain).backward()
    optimizer.step()
    if step % 100 == 0:
        x, y = draw(500, True)
        accuracy = (net(x, 0.0)[0].argmax(1) == y).float().mean().item()
        print(f"{step} label {loss_label.item():.3f} domain {loss_domain.item():.3f} target accuracy {accuracy:.3f}")
""",
)
