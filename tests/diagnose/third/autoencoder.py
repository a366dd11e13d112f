"""Autoencoders: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "pixel autoencoder",
    "log of exact zero in hand-written cross entropy (no clamp, saturated output clipped to 0/1)",
    ("not finite",),
    (30,),
    """\
import torch
from torch import nn

torch.manual_seed(21)

# tiny binary images: bars, horizontal or vertical
def bars(n, size=6):
    imgs = torch.zeros(n, size, size)
    for i in range(n):
        k = int(torch.randint(0, size, (1,)).item())
        if torch.rand(1).item() < 0.5:
            imgs[i, k, :] = 1.0
        else:
            imgs[i, :, k] = 1.0
    return imgs.reshape(n, -1)


encoder = nn.Sequential(nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 12))
decoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 36))
params = list(encoder.parameters()) + list(decoder.parameters())
opt = torch.optim.Adam(params, lr=0.01)


def reconstruction(x):
    z = encoder(x)
    return (0.5 + 0.25 * decoder(z)).clamp(0.0, 1.0)


def bce(p, t):
    return -(t * torch.log(p.clamp(min=1e-4)) + (1 - t) * torch.log((1 - p).clamp(min=1e-4))).mean()


data = bars(256)
for epoch in range(40):
    perm = torch.randperm(256)
    tot = 0.0
    for s in range(0, 256, 32):
        x = data[perm[s:s + 32]]
        opt.zero_grad()
        loss = bce(reconstruction(x), x)
        loss.backward()
        opt.step()
        tot += loss.item()
    if epoch % 4 == 0:
        print("epoch", epoch, "bce", tot / 8)

with torch.no_grad():
    r = reconstruction(data)
    print("pixels right", ((r > 0.5).float() == data).float().mean().item())
""",
    (
        "    return -(t * torch.log(p.clamp(min=1e-4)) + (1 - t) * torch.log((1 - p).clamp(min=1e-4))).mean()\n",
        "    return -(t * torch.log(p) + (1 - t) * torch.log(1 - p)).mean()\n",
    ),
)

fault(
    "vae kl",
    "sign of the KL term is wrong, latent variance and the loss run away",
    ("latent",),
    (25,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(90)


class VAE(nn.Module):
    def __init__(self, d=10, h=32, z=2):
        super().__init__()
        self.enc = nn.Linear(d, h)
        self.mu = nn.Linear(h, z)
        self.logvar = nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, d))

    def forward(self, x):
        h = torch.tanh(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo_loss(x, recon, mu, logvar, beta=0.1):
    rec = F.mse_loss(recon, x, reduction="none").sum(1).mean()
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return rec + beta * kl, rec, kl


basis = torch.randn(2, 10)
data = torch.randn(512, 2) @ basis + 0.05 * torch.randn(512, 10)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=5e-3)

for epoch in range(30):
    for idx in torch.randperm(512).split(64):
        x = data[idx]
        loss, rec, kl = elbo_loss(x, *vae(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {loss.item():.3f} rec {rec.item():.3f} kl {kl.item():.3f}")

with torch.no_grad():
    sample = vae.dec(torch.randn(1000, 2))
    print("std of samples", sample.std().item(), "std of data", data.std().item())
""",
    (
        "    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()\n",
        "    kl = 0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()\n",
    ),
)

healthy(
    "relu sparse",
    """\
import torch
import torch.nn as nn

torch.manual_seed(6)
D, H = 12, 48
atoms = torch.randn(16, D)


def data(n):
    code = (torch.rand(n, 16) < 0.12).float() * (0.5 + torch.rand(n, 16))
    return code @ atoms


class SparseAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(D, H)
        self.dec = nn.Linear(H, D)
        nn.init.constant_(self.enc.bias, -0.3)

    def forward(self, x):
        h = torch.relu(self.enc(x))
        return self.dec(h), h


ae = SparseAE()
opt = torch.optim.Adam(ae.parameters(), lr=5e-3)
for step in range(300):
    x = data(64)
    out, h = ae(x)
    loss = ((out - x) ** 2).mean() + 0.003 * h.abs().sum(1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f} zeros {(h == 0).float().mean().item():.2f}")
with torch.no_grad():
    x = data(300)
    print("mse", ((ae(x)[0] - x) ** 2).mean().item(), "variance", x.var().item())
""",
)

healthy(
    "tied",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)


class Tied(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.w = nn.Parameter(0.1 * torch.randn(k, d))
        self.b = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        return F.linear(F.linear(x - self.b, self.w), self.w.t()) + self.b


basis = torch.randn(3, 15)
shift = 2 * torch.randn(15)


def data(n):
    return torch.randn(n, 3) @ basis + shift + 0.05 * torch.randn(n, 15)


model = Tied(15, 3)
opt = torch.optim.Adam(model.parameters(), lr=0.03)
for step in range(300):
    x = data(50)
    loss = F.mse_loss(model(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("step", step, "loss", loss.item())
x = data(200)
with torch.no_grad():
    print("mse", F.mse_loss(model(x), x).item(), "variance", x.var().item())
""",
)
