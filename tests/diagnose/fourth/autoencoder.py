"""Autoencoders: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "masked sensors",
    "the overridden train() ignores mode: masking stays on in evaluation",
    (),
    (14, 18),
    """\
import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(2)

class Denoiser(nn.Module):
    \"\"\"masked autoencoder for sensor vectors\"\"\"
    def __init__(self, d=20, z=6, drop=0.4):
        super().__init__()
        self.drop = drop
        self.enc = nn.Sequential(nn.Linear(d, 40), nn.ELU(), nn.Linear(40, z))
        self.dec = nn.Sequential(nn.Linear(z, 40), nn.ELU(), nn.Linear(40, d))

    def train(self, mode=True):
        self.masking = mode
        return super().train(mode)

    def forward(self, x):
        if self.masking:
            x = x * (torch.rand_like(x) > self.drop).float() / (1 - self.drop)
        return self.dec(self.enc(x))

basis = torch.randn(2, 20)
def sensors(n): return torch.tanh(torch.randn(n, 2) @ basis / 1.5)

model = Denoiser().train()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for i in range(800):
    x = sensors(64)
    loss = F.mse_loss(model(x), x)
    opt.zero_grad(); loss.backward(); opt.step()
    if i % 200 == 199: print(i + 1, "train", round(loss.item(), 4))

model.eval()
clean = sensors(300)
with torch.no_grad():
    err = F.mse_loss(model(clean), clean).item()
    jitter = (model(clean) - model(clean)).abs().mean().item()
print("reconstruction of clean data %.4f, jitter %.4f" % (err, jitter))
""",
    ("        self.masking = mode\n", "        self.masking = True\n"),
)

fault(
    "vae logvar",
    "sigma can be negative: its log is NaN",
    ("not finite",),
    (18, 20, 13),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)


class VAE(nn.Module):
    def __init__(self, d_in=16, d_h=48, d_z=3):
        super().__init__()
        self.enc = nn.Linear(d_in, d_h)
        self.mu = nn.Linear(d_h, d_z)
        self.sigma = nn.Linear(d_h, d_z)
        self.dec = nn.Sequential(nn.Linear(d_z, d_h), nn.Tanh(), nn.Linear(d_h, d_in))

    def forward(self, x):
        h = torch.tanh(self.enc(x))
        mu, sigma = self.mu(h), F.softplus(self.sigma(h)) + 1e-4
        z = mu + sigma * torch.randn_like(mu)
        kl = 0.5 * (mu ** 2 + sigma ** 2 - 1 - 2 * torch.log(sigma)).sum(1).mean()
        return self.dec(z), kl


mix = torch.randn(3, 16)
data = torch.sin(torch.randn(500, 3) @ mix / 2)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=3e-3)
for epoch in range(90):
    r_sum = k_sum = 0.0
    for idx in torch.randperm(500).split(50):
        x = data[idx]
        recon, kl = vae(x)
        rec = ((recon - x) ** 2).sum(1).mean()
        loss = rec + 0.1 * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        r_sum += rec.item() / 10
        k_sum += kl.item() / 10
    if epoch % 15 == 14:
        print(f"epoch {epoch + 1} recon {r_sum:.3f} kl {k_sum:.3f}")
""",
    (
        "        mu, sigma = self.mu(h), F.softplus(self.sigma(h)) + 1e-4\n",
        "        mu, sigma = self.mu(h), self.sigma(h)\n",
    ),
)

fault(
    "vae balance",
    "reconstruction is a mean and KL a sum: the posterior collapses",
    ("unlike sums",),
    (26, 27),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(24)
config = {"latent": 4, "hidden": 64, "lr": 3e-3, "epochs": 30, "batch": 64}


class VAE(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc1 = nn.Linear(64, c["hidden"])
        self.fc21 = nn.Linear(c["hidden"], c["latent"])
        self.fc22 = nn.Linear(c["hidden"], c["latent"])
        self.fc3 = nn.Linear(c["latent"], c["hidden"])
        self.fc4 = nn.Linear(c["hidden"], 64)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.fc4(F.relu(self.fc3(z))), mu, logvar


def loss_function(logits, x, mu, logvar):
    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


def bars(n):
    x = torch.zeros(n, 8, 8)
    for i in range(n):
        x[i, int(torch.randint(0, 8, (1,)))] = 1
        x[i, :, int(torch.randint(0, 8, (1,)))] = 1
    return x.reshape(n, 64)


data = bars(512)
model = VAE(config)
optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
for epoch in range(1, config["epochs"] + 1):
    total = 0.0
    for x in data[torch.randperm(512)].split(config["batch"]):
        optimizer.zero_grad()
        loss = loss_function(*((lambda o: (o[0], x, o[1], o[2]))(model(x))))
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 0:
        with torch.no_grad():
            out, mu, _ = model(data)
        wrong = ((out > 0).float() - data).abs().mean().item()
        print(f"epoch {epoch} loss {total:.3f} wrong pixels {wrong:.3f} spread of mu {mu.std(0).mean().item():.4f}")
""",
    (
        '    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")\n',
        "    bce = F.binary_cross_entropy_with_logits(logits, x)\n",
    ),
)
