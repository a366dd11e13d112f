"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "glyph classifier with a weight average for evaluation",
    "the EMA copy averages only parameters(), so its BatchNorm running mean/variance stay at their initial 0/1 and the averaged model, "
    "evaluated in eval mode, is far worse than the live one",
    ("statistics left",),
    (26,),
    """\
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def make_glyphs(n, gen):
    protos = torch.rand(6, 1, 12, 12, generator=torch.Generator().manual_seed(99))
    y = torch.randint(0, 6, (n,), generator=gen)
    img = 110.0 * protos[y] + 60.0 * torch.randn(n, 1, 12, 12, generator=gen) + 90.0
    return img / 64.0, y


class WeightAverage:
    \"\"\"Exponential moving average of a network, used for evaluation.\"\"\"

    def __init__(self, net, decay=0.95):
        self.decay = decay
        self.net = copy.deepcopy(net).eval()
        for p in self.net.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, net):
        for a, v in zip(self.net.state_dict().values(), net.state_dict().values()):
            if a.is_floating_point():
                a.lerp_(v, 1 - self.decay)
            else:
                a.copy_(v)


def conv_net():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1, bias=False), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(),
        nn.Flatten(), nn.Linear(24 * 36, 6),
    )


def accuracy(net, x, y):
    was_training = net.training
    net.eval()
    with torch.no_grad():
        acc = (net(x).argmax(1) == y).float().mean().item()
    net.train(was_training)
    return acc


torch.manual_seed(0)
gen = torch.Generator().manual_seed(1)
xtr, ytr = make_glyphs(1200, gen)
xte, yte = make_glyphs(500, gen)

net = conv_net()
avg = WeightAverage(net)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)

for epoch in range(6):
    running = 0.0
    for idx in torch.randperm(len(xtr)).split(60):
        loss = F.cross_entropy(net(xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        avg.update(net)
        running += loss.item() * len(idx)
    print(f"epoch {epoch} loss {running / len(xtr):.3f} ema acc {accuracy(avg.net, xte, yte):.3f}")
print("live acc", round(accuracy(net, xte, yte), 3))
""",
    (
        "zip(self.net.state_dict().values(), net.state_dict().values())",
        "zip(self.net.parameters(), net.parameters())",
    ),
)

fault(
    "three-class shape segmentation with a flattened pixel loss",
    "the (N,C,H,W) logits are reshaped to (-1,C) without moving the channel axis last, so rows mix pixels of one channel and are matched "
    "with the wrong labels; the network cannot learn the masks",
    ("other order",),
    (39,),
    """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(7)
NUM_CLASSES = 3      # background, disc, bar
SIZE = 20


def draw(n):
    yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    cy = torch.randint(4, SIZE - 4, (n, 1, 1))
    cx = torch.randint(4, SIZE - 4, (n, 1, 1))
    radius = torch.randint(3, 5, (n, 1, 1))
    row = torch.randint(0, SIZE - 3, (n, 1, 1))
    mask = torch.zeros(n, SIZE, SIZE, dtype=torch.long)
    mask[(yy - cy) ** 2 + (xx - cx) ** 2 <= radius ** 2] = 1
    mask[((yy >= row) & (yy < row + 3)).expand(n, SIZE, SIZE)] = 2
    colours = torch.tensor([[0.1, 0.2, 0.1], [0.8, 0.3, 0.2], [0.3, 0.3, 0.9]])
    image = colours[mask].permute(0, 3, 1, 2) + 0.25 * torch.randn(n, 3, SIZE, SIZE)
    return image, mask


class TinySeg(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.inp = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.out = nn.Conv2d(2 * width, NUM_CLASSES, 1)

    def forward(self, x):
        a = F.relu(self.inp(x))
        b = F.relu(self.up(F.relu(self.down(a))))
        return self.out(torch.cat([a, b], dim=1))


def pixel_loss(logits, mask):
    flat = logits.permute(0, 2, 3, 1).reshape(-1, NUM_CLASSES)
    return F.cross_entropy(flat, mask.reshape(-1))


@torch.no_grad()
def mean_iou(net, image, mask):
    pred = net(image).argmax(dim=1)
    ious = []
    for c in range(NUM_CLASSES):
        inter = ((pred == c) & (mask == c)).sum()
        union = ((pred == c) | (mask == c)).sum()
        ious.append((inter / union.clamp(min=1)).item())
    return sum(ious) / len(ious)


train_x, train_m = draw(320)
val_x, val_m = draw(100)
net = TinySeg()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(6):
    net.train()
    total = 0.0
    for batch in torch.randperm(len(train_x)).split(16):
        optimizer.zero_grad()
        loss = pixel_loss(net(train_x[batch]), train_m[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    net.eval()
    print(f"epoch {epoch + 1}: loss {total / len(train_x):.4f}  mIoU {mean_iou(net, val_x, val_m):.3f}")
""",
    ("logits.permute(0, 2, 3, 1).reshape(-1, NUM_CLASSES)", "logits.reshape(-1, NUM_CLASSES)"),
)

fault(
    "denoising autoencoder on slices of a training tensor",
    "corrupt() adds the noise in place to a slice of the training tensor, so the clean target becomes the noisy input and the stored data "
    "get noisier with every epoch; the network learns to copy noise",
    ("data spoiled", "target overwritten", "worn"),
    (20,),
    """\
import math

import torch
import torch.nn as nn

torch.manual_seed(11)


def waves(count, length=48):
    t = torch.linspace(0, 2 * math.pi, length)
    freq = torch.randint(1, 4, (count, 1)).float()
    phase = 2 * math.pi * torch.rand(count, 1)
    amp = 0.5 + torch.rand(count, 1)
    return amp * torch.sin(freq * t + phase)


def corrupt(batch, sigma):
    # additive noise, then drop a few samples
    keep = (torch.rand_like(batch) > 0.1).float()
    batch = batch + sigma * torch.randn_like(batch)
    return batch * keep


SIGMA = 0.4
signals = waves(1500)
test_clean = waves(300)
test_noisy = (test_clean + SIGMA * torch.randn_like(test_clean)) * (torch.rand_like(test_clean) > 0.1)

encoder = nn.Sequential(nn.Linear(48, 96), nn.ReLU(), nn.Linear(96, 10))
decoder = nn.Sequential(nn.Linear(10, 96), nn.ReLU(), nn.Linear(96, 48))
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.Adam(params, lr=2e-3)
criterion = nn.MSELoss()

batch_size = 50
for epoch in range(40):
    epoch_loss = 0.0
    for start in range(0, len(signals), batch_size):
        clean = signals[start:start + batch_size]
        noisy = corrupt(clean, SIGMA)
        restored = decoder(encoder(noisy))
        loss = criterion(restored, clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    if epoch % 8 == 7:
        with torch.no_grad():
            test = criterion(decoder(encoder(test_noisy)), test_clean).item()
        print(f"epoch {epoch + 1:2d} train {epoch_loss * batch_size / len(signals):.4f} test {test:.4f}")
print(f"noisy input itself: {criterion(test_noisy, test_clean).item():.4f}")
""",
    ("batch = batch + sigma * torch.randn_like(batch)", "batch += sigma * torch.randn_like(batch)"),
)

fault(
    "VAE of small blobs",
    "the reconstruction term is averaged over all pixels and images while the KL term is a sum, so the KL outweighs it some thousand times "
    "and the posterior collapses to the prior: every reconstruction is the mean image",
    ("unlike sums",),
    (38, 39, 40),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def blobs(n, seed, size=10):
    g = torch.Generator().manual_seed(seed)
    centre = 2.0 + (size - 5.0) * torch.rand(n, 2, generator=g)
    width = 0.8 + 0.6 * torch.rand(n, 1, 1, generator=g)
    axis = torch.arange(size).float()
    dy = (axis.view(1, -1, 1) - centre[:, 0].view(-1, 1, 1)) ** 2
    dx = (axis.view(1, 1, -1) - centre[:, 1].view(-1, 1, 1)) ** 2
    return torch.exp(-(dy + dx) / (2 * width ** 2)).view(n, -1)


class VAE(nn.Module):
    def __init__(self, pixels=100, hidden=128, latent=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.dec = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, pixels))

    def encode(self, x):
        h = self.enc(x)
        return self.mu(h), self.logvar(h)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu
        if self.training:
            z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar


def elbo_loss(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (rec + kl) / x.size(0)


torch.manual_seed(5)
train, test = blobs(2000, 1), blobs(400, 2)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=3e-3)

for epoch in range(12):
    vae.train()
    for idx in torch.randperm(len(train)).split(50):
        logits, mu, logvar = vae(train[idx])
        loss = elbo_loss(logits, train[idx], mu, logvar)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if (epoch + 1) % 3 == 0:
        vae.eval()
        with torch.no_grad():
            logits, mu, _ = vae(test)
            err = F.mse_loss(torch.sigmoid(logits), test).item() / test.var(0).mean().item()
        print(f"epoch {epoch + 1}: unexplained variance {err:.3f}, spread of codes {mu.std(0).tolist()}")
""",
    ('logits, x, reduction="sum")', "logits, x)"),
)

fault(
    "two-player game on a ring of points",
    "the fake batch is not detached in the discriminator step, so d_loss.backward() runs through and frees the generator's graph; the "
    "generator's backward on the same fake batch raises 'backward through the graph a second time'",
    ("second pass",),
    (41,),
    """\
import math
import random

import numpy as np
import torch
import torch.nn as nn

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)

Z = 8


def ring(n):
    angle = 2 * math.pi * np.random.rand(n)
    radius = 2.0 + 0.05 * np.random.randn(n)
    pts = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return torch.from_numpy(pts).float()


def mlp(n_in, n_out, act):
    return nn.Sequential(nn.Linear(n_in, 64), act(), nn.Linear(64, 64), act(), nn.Linear(64, n_out))


G = mlp(Z, 2, nn.ReLU)
D = mlp(2, 1, lambda: nn.LeakyReLU(0.2))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()

batch = 128
ones, zeros = torch.ones(batch, 1), torch.zeros(batch, 1)

for it in range(1500):
    real = ring(batch)
    fake = G(torch.randn(batch, Z))

    # discriminator
    opt_d.zero_grad()
    d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    # generator
    opt_g.zero_grad()
    g_loss = bce(D(fake), ones)
    g_loss.backward()
    opt_g.step()

    if (it + 1) % 300 == 0:
        with torch.no_grad():
            pts = G(torch.randn(2000, Z))
        r = pts.norm(dim=1)
        bins = torch.histc(torch.atan2(pts[:, 1], pts[:, 0]), bins=12, min=-math.pi, max=math.pi)
        off = (r - 2.0).abs().mean()
        print(f"{it + 1} d {d_loss.item():.3f} g {g_loss.item():.3f} "
              f"distance to ring {off:.3f} sectors hit {(bins > 20).sum().item()}/12")
""",
    ("bce(D(fake.detach()), zeros)", "bce(D(fake), zeros)"),
)

fault(
    "Wasserstein critic with gradient penalty in a trainer class",
    "the gradient in the penalty is taken without create_graph=True, so the penalty is a constant without gradient: the critic is not "
    "held to slope 1, its slope and scores grow without bound",
    ("term of gradients",),
    (39,),
    """\
import torch
import torch.nn as nn


class WassersteinTrainer:
    def __init__(self, data, latent=4, gp_weight=1.0, n_critic=5, lr=1e-3):
        self.data = data
        self.latent = latent
        self.gp_weight = gp_weight
        self.n_critic = n_critic
        dim = data.size(1)
        self.gen = nn.Sequential(nn.Linear(latent, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim))
        self.critic = nn.Sequential(nn.Linear(dim, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2),
                                    nn.Linear(64, 1))
        self.opt_gen = torch.optim.Adam(self.gen.parameters(), lr=0.5 * lr, betas=(0.0, 0.9))
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=lr, betas=(0.0, 0.9))

    def sample(self, n):
        return self.gen(torch.randn(n, self.latent))

    def real_batch(self, n):
        return self.data[torch.randint(0, len(self.data), (n,))]

    def critic_step(self, n):
        real = self.real_batch(n)
        with torch.no_grad():
            fake = self.sample(n)
        gap = self.critic(fake).mean() - self.critic(real).mean()
        loss = gap + self.gp_weight * self.penalty(real, fake)
        self.opt_critic.zero_grad()
        loss.backward()
        self.opt_critic.step()
        return -gap.item()

    def penalty(self, real, fake):
        mix = torch.rand(len(real), 1)
        between = (mix * real + (1 - mix) * fake).requires_grad_(True)
        score = self.critic(between).sum()
        slope, = torch.autograd.grad(score, between, create_graph=True)
        return ((slope.norm(dim=1) - 1) ** 2).mean()

    def gen_step(self, n):
        loss = -self.critic(self.sample(n)).mean()
        self.opt_gen.zero_grad()
        loss.backward()
        self.opt_gen.step()

    def slope_at_data(self):
        x = self.real_batch(500).requires_grad_(True)
        g, = torch.autograd.grad(self.critic(x).sum(), x)
        return g.norm(dim=1).mean().item()

    def fit(self, steps, n=64):
        for step in range(1, steps + 1):
            for _ in range(self.n_critic):
                distance = self.critic_step(n)
            self.gen_step(n)
            if step % (steps // 5) == 0:
                with torch.no_grad():
                    a, b = self.sample(800), self.real_batch(800)
                    energy = 2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()
                print(f"step {step} wasserstein {distance:.3f} slope {self.slope_at_data():.2f} energy {energy:.4f}")


torch.manual_seed(21)
t = 4 * torch.rand(4000) - 2
points = torch.stack([t, 0.6 * t ** 2 - 1], dim=1) + 0.1 * torch.randn(4000, 2) + torch.tensor([1.0, 1.0])
WassersteinTrainer(points).fit(steps=450)
""",
    ("torch.autograd.grad(score, between, create_graph=True)", "torch.autograd.grad(score, between)"),
)
