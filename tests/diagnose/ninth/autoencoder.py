"""Autoencoders: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "rectified output of a decoder",
    "the decoder ends in a ReLU although the standardised data are negative half of the time",
    ("bounded",),
    (22,),
    """\
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
factors = torch.randn(2000, 4)
mixing = torch.randn(4, 24)
raw = 3.0 + torch.tanh(factors @ mixing) * 2.0 + 0.1 * torch.randn(2000, 24)
data = (raw - raw.mean(0)) / raw.std(0)
train_loader = DataLoader(TensorDataset(data[:1600]), batch_size=64, shuffle=True)
held_out = data[1600:]


class AutoEncoder(nn.Module):
    def __init__(self, width, hidden, code):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, code))
        self.decoder = nn.Sequential(
            nn.Linear(code, hidden),
            nn.ReLU(),
            nn.Linear(hidden, width),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = AutoEncoder(24, 64, 4)
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
for epoch in range(1, 17):
    model.train()
    for (x,) in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), x)
        loss.backward()
        optimizer.step()
    if epoch % 4 == 0:
        model.eval()
        with torch.no_grad():
            error = criterion(model(held_out), held_out).item()
        print(f"Epoch {epoch:2d} | batch loss {loss.item():.4f} | held-out error {error:.4f}")
""",
    (
        "            nn.Linear(hidden, width),\n        )\n",
        "            nn.Linear(hidden, width),\n            nn.ReLU(),\n        )\n",
    ),
)

fault(
    "mean against sum in a variational bound",
    "the reconstruction is a mean over pixels and the divergence a sum over the code, so the code collapses",
    ("unlike sums",),
    (34, 35, 36),
    """\
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, pixels=64, hidden=96, latent=6):
        super().__init__()
        self.enc = nn.Linear(pixels, hidden)
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.dec1 = nn.Linear(latent, hidden)
        self.dec2 = nn.Linear(hidden, pixels)

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec2(F.relu(self.dec1(z))), mu, logvar


def blobs(count):
    grid = torch.arange(8).float()
    cy, cx = torch.rand(count, 1) * 7, torch.rand(count, 1) * 7
    rows = torch.exp(-((grid - cy) ** 2) / 3)
    cols = torch.exp(-((grid - cx) ** 2) / 3)
    images = (rows[:, :, None] * cols[:, None, :]).reshape(count, 64)
    return (images > 0.35).float()


def loss_function(logits, x, mu, logvar):
    batch = x.size(0)
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    total = (recon + kl) / batch
    return total, recon / x.numel(), kl / batch


torch.manual_seed(0)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(1, 801):
    x = blobs(64)
    logits, mu, logvar = model(x)
    loss, recon, kl = loss_function(logits, x, mu, logvar)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            x = blobs(256)
            wrong = ((model(x)[0] > 0) != (x > 0.5)).float().mean().item()
        print(f"step {step} loss {loss.item():.3f} kl {kl.item():.4f} wrong pixels {wrong:.4f}")
""",
    (
        '    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")\n    total = (recon + kl) / batch\n'
        "    return total, recon / x.numel(), kl / batch\n",
        "    recon = F.binary_cross_entropy_with_logits(logits, x)\n    total = recon + kl / batch\n"
        "    return total, recon, kl / batch\n",
    ),
)

healthy(
    "divergence weighed in slowly",
    """\
import torch
from torch import distributions as D
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 8))

    def forward(self, x):
        mean, spread = self.net(x).chunk(2, dim=-1)
        return D.Independent(D.Normal(mean, nn.functional.softplus(spread - 2) + 1e-4), 1)


torch.manual_seed(5)
basis = torch.randn(3, 20)


def draw(count):
    return torch.sin(torch.randn(count, 3) @ basis) + 0.05 * torch.randn(count, 20)


encoder = Encoder()
decoder = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 20))
log_scale = nn.Parameter(torch.tensor(-1.0))
prior = D.Independent(D.Normal(torch.zeros(4), torch.ones(4)), 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters(), log_scale], lr=3e-3)
warmup = 400
for step in range(700):
    beta = min(1.0, max(0.0, (step - 100) / warmup))
    x = draw(64)
    posterior = encoder(x)
    z = posterior.rsample()
    likelihood = D.Independent(D.Normal(decoder(z), log_scale.exp()), 1).log_prob(x)
    kl = D.kl_divergence(posterior, prior)
    loss = (beta * kl - likelihood).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 50.0)
    optimizer.step()
    if step % 100 == 99:
        bound = (likelihood - kl).mean().item()
        print(f"{step + 1} beta {beta:.2f} loss {loss.item():.2f} bound {bound:.2f} kl {kl.mean().item():.2f}")
""",
)

healthy(
    "straight-through codebook",
    """\
import torch
import torch.nn.functional as F
from torch import nn


class Quantizer(nn.Module):
    def __init__(self, size, width, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(size, width))
        self.register_buffer("counts", torch.ones(size))
        self.register_buffer("sums", self.codes.clone())

    def forward(self, z):
        picked = torch.cdist(z.detach(), self.codes).argmin(dim=1)
        quantized = self.codes[picked]
        if self.training:
            with torch.no_grad():
                onehot = F.one_hot(picked, len(self.codes)).to(z.dtype)
                self.counts.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
                self.sums.mul_(self.decay).add_(onehot.t() @ z, alpha=1 - self.decay)
                dead = self.counts < 0.05
                if dead.any():
                    self.sums[dead] = z[torch.randint(len(z), (int(dead.sum()),))]
                    self.counts[dead] = 1.0
                self.codes.copy_(self.sums / self.counts[:, None])
        commitment = F.mse_loss(z, quantized.detach())
        return z + (quantized - z).detach(), commitment, picked


torch.manual_seed(2)
centers = torch.randn(16, 10) * 1.5
encoder = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
quantizer = Quantizer(32, 3)
decoder = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
for step in range(1, 701):
    x = centers[torch.randint(16, (128,))] + 0.1 * torch.randn(128, 10)
    quantized, commitment, picked = quantizer(encoder(x))
    recon = F.mse_loss(decoder(quantized), x)
    loss = recon + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        used = picked.unique().numel()
        print(f"{step} reconstruction {recon.item():.4f} commitment {commitment.item():.4f} codes used {used}")
""",
)
