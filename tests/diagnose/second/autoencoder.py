"""Autoencoders: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "bars vae",
    'reduction="sum" with a learning rate meant for the mean: steps 64 times too large, the loss explodes',
    ("diverges",),
    (32,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(26)


def bars(n, side=6):
    \"\"\"Bars and stripes: each row (or each column) is on or off.\"\"\"
    on = (torch.rand(n, side) < 0.5).float()
    rows = on[:, :, None].expand(n, side, side)
    cols = on[:, None, :].expand(n, side, side)
    pick = (torch.rand(n, 1, 1) < 0.5).float()
    return (pick * rows + (1 - pick) * cols).reshape(n, side * side)


class VAE(nn.Module):
    def __init__(self, n=36, h=48, z=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n, h), nn.Tanh())
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.Tanh(), nn.Linear(h, n))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def objective(logits, x, mu, logvar, beta=0.01):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="mean")
    kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).mean()
    return rec + beta * kl


data, held = bars(640), bars(160)
vae = VAE()
opt = torch.optim.SGD(vae.parameters(), lr=1.0, momentum=0.9)

for epoch in range(30):
    total = 0.0
    for idx in torch.randperm(640).split(64):
        x = data[idx]
        logits, mu, logvar = vae(x)
        loss = objective(logits, x, mu, logvar)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 10
    if epoch % 5 == 0:
        print(f"epoch {epoch}: loss {total:.4f}")

with torch.no_grad():
    logits, _, _ = vae(held)
    print("pixels right: %.3f" % ((logits > 0).float() == held).float().mean().item())
""",
    (
        '    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="mean")\n',
        '    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")\n',
    ),
)

fault(
    "denoise tones",
    "next(iter(loader)) inside the loop starts the loader anew each time: with shuffle=False it is always the first batch",
    ("same batch",),
    (36, 37),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(60)
LENGTH = 32


def tones(pitch):
    t = torch.linspace(0, 1, LENGTH)
    phase = torch.rand(len(pitch), 1) * 6.283
    return torch.sin(6.283 * pitch[:, None] * t + phase)


# the recordings come sorted by pitch
pitch = torch.linspace(1, 6, 512)
clean = tones(pitch)
noisy = clean + 0.4 * torch.randn_like(clean)
loader = DataLoader(TensorDataset(noisy, clean), batch_size=32, shuffle=False)

test_clean = tones(1 + 5 * torch.rand(200))
test_noisy = test_clean + 0.4 * torch.randn_like(test_clean)

model = nn.Sequential(
    nn.Linear(LENGTH, 48),
    nn.ReLU(),
    nn.Linear(48, 16),
    nn.Linear(16, LENGTH),
)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
mse = nn.MSELoss()

steps_per_epoch = len(loader)
for epoch in range(30):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = mse(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}  train {total / steps_per_epoch:.4f}")

with torch.no_grad():
    before = mse(test_noisy, test_clean).item()
    after = mse(model(test_noisy), test_clean).item()
print(f"noise left in the test: before {before:.4f}, after {after:.4f}")
""",
    (
        "    for x, y in loader:\n",
        "    for step in range(steps_per_epoch):\n        x, y = next(iter(loader))\n",
    ),
)

fault(
    "embed codes",
    "the code is detached before it is decoded: the encoder never gets a gradient",
    ("not reached",),
    (17,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(4)


class AutoEncoder(nn.Module):
    def __init__(self, n_in=32, n_code=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n_in, 24), nn.Tanh(), nn.Linear(24, n_code))
        self.decoder = nn.Sequential(nn.Linear(n_code, 24), nn.Tanh(), nn.Linear(24, n_in))
        self.last_code = None

    def forward(self, x):
        code = self.encoder(x)
        self.last_code = code.detach()
        return self.decoder(code)


# spectra: 32 channels, three hidden causes, most of the energy in channels that vary little together
mixing = torch.randn(3, 32)
noise_dir = torch.randn(8, 32) * 0.15
latent = torch.randn(640, 3)
signal = torch.tanh(latent) @ mixing
signal = signal + torch.randn(640, 8) @ noise_dir

train = DataLoader(signal[:512], batch_size=32, shuffle=True)
valid = signal[512:]
print("variance of the data: %.4f" % valid.var(dim=0).mean().item())

ae = AutoEncoder()
optimizer = torch.optim.Adam(ae.parameters(), lr=5e-3)

for epoch in range(25):
    ae.train()
    total = 0.0
    for batch in train:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(ae(batch), batch)
        loss.backward()
        optimizer.step()
        total += loss.item()
    ae.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(ae(valid), valid).item()
    if epoch % 4 == 0:
        print("epoch %2d  train %.4f  valid %.4f  code std %.3f" % (
            epoch, total / len(train), v, ae.last_code.std().item()))
""",
    ("        self.last_code = code.detach()\n", "        self.last_code = code = code.detach()\n"),
)

healthy(
    "sparse code",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
ATOMS, DIM = 40, 16
dictionary = F.normalize(torch.randn(ATOMS, DIM), dim=1)


def signals(n):
    on = (torch.rand(n, ATOMS) < 0.05).float()
    return (on * (0.5 + torch.rand(n, ATOMS))) @ dictionary


class Sparse(nn.Module):
    def __init__(self, units=80):
        super().__init__()
        self.enc = nn.Linear(DIM, units)
        self.dec = nn.Linear(units, DIM, bias=False)
        nn.init.constant_(self.enc.bias, -0.3)

    def forward(self, x):
        code = F.relu(self.enc(x))
        return self.dec(code), code


model = Sparse()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = signals(1024)
xv = signals(256)
for epoch in range(30):
    total = 0.0
    for idx in torch.randperm(1024).split(64):
        back, code = model(x[idx])
        loss = F.mse_loss(back, x[idx]) + 2e-3 * code.abs().sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 16
    if epoch % 5 == 4:
        with torch.no_grad():
            back, code = model(xv)
        print(f"epoch {epoch + 1} loss {total:.4f} error {F.mse_loss(back, xv).item():.4f} "
              f"zeros in the code {(code == 0).float().mean().item():.3f}")
print("variance of the signals", round(xv.var().item(), 4))
""",
)
