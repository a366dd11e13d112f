"""Autoencoders: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "summed prior term against averaged pixels",
    "the reconstruction error is averaged over the pixels while the KL term is summed, so the latent "
    "collapses onto the prior and every reconstruction is the mean image",
    ("unlike sums",),
    (38, 40, 39),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
grid = torch.stack(torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij"))
centers = 2 + 8 * torch.rand(1024, 2)
images = torch.exp(-((grid[None] - centers[:, :, None, None]) ** 2).sum(1) / 5.0).flatten(1)


class VAE(nn.Module):
    def __init__(self, dim=144, hidden=128, latent=4):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc_mu = nn.Linear(hidden, latent)
        self.fc_logvar = nn.Linear(hidden, latent)
        self.fc3 = nn.Linear(latent, hidden)
        self.fc4 = nn.Linear(hidden, dim)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc_mu(h), self.fc_logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum") / len(x)
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / len(x)
    return bce + kld


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True)
for epoch in range(1, 31):
    total = 0.0
    for (x,) in loader:
        recon, mu, logvar = model(x)
        loss = loss_function(recon, x, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 0:
        with torch.no_grad():
            error = F.mse_loss(model.decode(model.encode(images)[0]), images).item()
        print(f"epoch {epoch}: loss {total / len(loader):.3f}, reconstruction error {error:.4f}")
""",
    (
        '    bce = F.binary_cross_entropy(recon, x, reduction="sum") / len(x)\n',
        "    bce = F.binary_cross_entropy(recon, x)\n",
    ),
)

fault(
    "sigmoid decoder for standardised data",
    "the decoder ends in a sigmoid while the inputs it must reproduce are standardised, negative as often as "
    "positive",
    ("bounded",),
    (30,),
    """\
import math
import random

import torch
from torch import nn

random.seed(4)
torch.manual_seed(4)


def signal():
    t = torch.linspace(0, 1, 48)
    freq, phase, offset = random.uniform(1, 3), random.uniform(0, 2 * math.pi), random.uniform(-1, 1)
    return 3.0 * torch.sin(2 * math.pi * freq * t + phase) + offset + 20.0


data = torch.stack([signal() for _ in range(700)])
mean, std = data.mean(), data.std()
data = ((data - mean) / std).unsqueeze(1)
train, valid = data[:600], data[600:]

encoder = nn.Sequential(
    nn.Conv1d(1, 16, 5, stride=2, padding=2),
    nn.GELU(),
    nn.Flatten(),
    nn.Linear(16 * 24, 64),
    nn.GELU(),
    nn.Linear(64, 6),
)
decoder = nn.Sequential(nn.Linear(6, 64), nn.GELU(), nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 48))
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.AdamW(params, lr=2e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=400)

for step in range(400):
    batch = train[torch.randint(0, 600, (50,))]
    recon = decoder(encoder(batch)).unsqueeze(1)
    loss = (recon - batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 5.0)
    optimizer.step()
    scheduler.step()
    if step % 40 == 39:
        with torch.no_grad():
            val = (decoder(encoder(valid)).unsqueeze(1) - valid).pow(2).mean()
        print(f"{step + 1:4d}  train {loss.item():.4f}  valid {val.item():.4f}")
""",
    (
        "nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 48))\n",
        "nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 48), nn.Sigmoid())\n",
    ),
)

fault(
    "straight through the wrong way",
    "the straight-through line of the VQ-VAE detaches the whole sum and not the difference, so the "
    "reconstruction error never reaches the encoder",
    ("through nothing",),
    (26,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
mixing = torch.randn(8, 60)


def sample(n):
    codes = torch.randint(0, 2, (n, 8)).float()
    return torch.tanh(0.7 * (codes * 2 - 1) @ mixing / 2) + 0.05 * torch.randn(n, 60)


class VectorQuantizer(nn.Module):
    def __init__(self, num_codes, dim, beta=0.25):
        super().__init__()
        self.embedding = nn.Embedding(num_codes, dim)
        nn.init.uniform_(self.embedding.weight, -0.5, 0.5)
        self.beta = beta

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        indices = torch.cdist(flat, self.embedding.weight).argmin(1)
        quantized = self.embedding(indices).view_as(z)
        loss = F.mse_loss(quantized, z.detach()) + self.beta * F.mse_loss(z, quantized.detach())
        quantized = z + (quantized - z).detach()
        return quantized, loss, indices


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(60, 64), nn.ReLU(), nn.Linear(64, 8 * 4))
        self.vq = VectorQuantizer(16, 4)
        self.decoder = nn.Sequential(nn.Linear(8 * 4, 64), nn.ReLU(), nn.Linear(64, 60))

    def forward(self, x):
        z = self.encoder(x).view(-1, 8, 4)
        q, vq_loss, indices = self.vq(z)
        return self.decoder(q.flatten(1)), vq_loss, indices


model = VQVAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(1, 801):
    x = sample(64)
    recon, vq_loss, indices = model(x)
    recon_loss = F.mse_loss(recon, x)
    loss = recon_loss + vq_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(f"step {step}: recon {recon_loss.item():.4f} vq {vq_loss.item():.4f} codes {len(indices.unique())}")
""",
    (
        "        quantized = z + (quantized - z).detach()\n",
        "        quantized = (z + (quantized - z)).detach()\n",
    ),
)
