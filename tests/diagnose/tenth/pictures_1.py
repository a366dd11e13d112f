"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "colour of a shape, small CNN on HWC images",
    "NHWC images are brought to NCHW with view instead of permute, which scrambles colours and rows, so the CNN cannot tell colours well",
    ("scrambled",),
    (27,),
    """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ["red", "green", "blue", "grey"]
COLORS = np.array([[130, 80, 80], [80, 130, 80], [80, 80, 130], [97, 97, 97]])


def draw(n, size=20, seed=0):
    rng = np.random.default_rng(seed)
    images = np.zeros((n, size, size, 3), dtype=np.uint8)
    labels = rng.integers(0, len(CLASSES), n)
    for i in range(n):
        canvas = rng.normal(70, 12, (size, size, 3))
        r = rng.integers(3, 6)
        cy, cx = rng.integers(r, size - r, 2)
        yy, xx = np.mgrid[:size, :size]
        inside = (yy - cy) ** 2 + (xx - cx) ** 2 <= r * r
        canvas[inside] = COLORS[labels[i]] + rng.normal(0, 20, (inside.sum(), 3))
        images[i] = canvas.clip(0, 255)
    return images, labels


def to_dataset(images, labels):
    x = torch.from_numpy(images).float() / 255
    x = x.permute(0, 3, 1, 2).contiguous()
    x = (x - 0.3) / 0.15
    return TensorDataset(x, torch.from_numpy(labels))


class SmallNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(24, n_classes)

    def forward(self, x):
        return self.classifier(self.features(x).amax(dim=(2, 3)))


def evaluate(net, loader):
    net.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (net(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


torch.manual_seed(0)
train = DataLoader(to_dataset(*draw(800, seed=1)), batch_size=32, shuffle=True)
test = DataLoader(to_dataset(*draw(400, seed=2)), batch_size=200)
net = SmallNet(len(CLASSES))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    net.train()
    running = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
    print(f"epoch {epoch}: loss {running / 800:.3f}  test acc {evaluate(net, test):.3f}")
""",
    ("x = x.permute(0, 3, 1, 2).contiguous()", "x = x.view(len(x), 3, x.shape[1], x.shape[2])"),
)

fault(
    "cell segmentation with random flips and rotations",
    "the random transform is called separately for image and mask, each draws its own flip and rotation, so masks do not lie on their images and the net learns blurred averages",
    ("drawn twice",),
    (42, 43),
    """\
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader


class RandomFlipRot:
    def __call__(self, t):
        if random.random() < 0.5:
            t = t.flip(-1)
        if random.random() < 0.5:
            t = t.flip(-2)
        return torch.rot90(t, random.randrange(4), (-2, -1))


class Cells(Dataset):
    def __init__(self, n, size=24, transform=None, seed=0):
        g = torch.Generator().manual_seed(seed)
        grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")).float()
        self.items = []
        for _ in range(n):
            mask = torch.zeros(1, size, size)
            for _ in range(3):
                center = torch.rand(2, generator=g) * size
                axes = 2.5 + 2.5 * torch.rand(2, generator=g)
                d = (grid - center[:, None, None]) / axes[:, None, None]
                mask[0][d.pow(2).sum(0) < 1] = 1
            img = 0.8 * mask + 0.5 * torch.randn(1, size, size, generator=g)
            img = F.avg_pool2d(img[None], 3, 1, 1)[0]
            self.items.append((img, mask))
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = self.items[i]
        if self.transform is None:
            return img, mask
        both = self.transform(torch.cat([img, mask]))
        img, mask = both[:1], both[1:]
        return img, mask


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(), nn.Conv2d(cout, cout, 3, padding=1), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.mid, self.dec = block(1, 8), block(8, 16), block(24, 8)
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        e = self.enc(x)
        m = self.mid(F.max_pool2d(e, 2))
        m = F.interpolate(m, scale_factor=2, mode="nearest")
        return self.out(self.dec(torch.cat([e, m], 1)))


def iou(model, loader):
    inter = union = 0.0
    with torch.no_grad():
        for img, mask in loader:
            pred = model(img) > 0
            inter += (pred & (mask > 0.5)).sum().item()
            union += (pred | (mask > 0.5)).sum().item()
    return inter / union


random.seed(0)
torch.manual_seed(0)
train_loader = DataLoader(Cells(320, transform=RandomFlipRot(), seed=1), batch_size=16, shuffle=True)
val_loader = DataLoader(Cells(64, seed=2), batch_size=64)
model = TinyUNet()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(5):
    for img, mask in train_loader:
        loss = F.binary_cross_entropy_with_logits(model(img), mask)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.3f} val IoU {iou(model, val_loader):.3f}")
""",
    (
        """\
        both = self.transform(torch.cat([img, mask]))
        img, mask = both[:1], both[1:]
""",
        """\
        img = self.transform(img)
        mask = self.transform(mask)
""",
    ),
)

fault(
    "VAE on bar images",
    "the reconstruction term is averaged over all pixels while the KL term is summed over the latents, so the KL term outweighs it and the posterior collapses: all reconstructions are the mean image",
    ("unlike sums",),
    (46,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_bars(n, size=12):
    # one horizontal and one vertical bar per image
    imgs = torch.zeros(n, size, size)
    rows = torch.randint(1, size - 1, (n,))
    cols = torch.randint(1, size - 1, (n,))
    for i in range(n):
        imgs[i, rows[i] - 1:rows[i] + 2, :] = 1.0
        imgs[i, :, cols[i] - 1:cols[i] + 2] = 1.0
    flip = torch.rand_like(imgs) < 0.02
    return torch.where(flip, 1 - imgs, imgs).flatten(1)


class VAE(nn.Module):
    def __init__(self, n_in=144, hidden=128, latent=6):
        super().__init__()
        self.latent = latent
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_in)
        )

    def encode(self, x):
        h = self.body(x)
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar


def vae_loss(logits, x, mu, logvar):
    # negative ELBO
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    bce = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)
    return bce + kl, bce, kl


def main():
    torch.manual_seed(3)
    data = make_bars(3000)
    held_out = make_bars(500)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    for epoch in range(1, 26):
        model.train()
        for idx in torch.randperm(len(data)).split(64):
            x = data[idx]
            logits, mu, logvar = model(x)
            loss, bce, kl = vae_loss(logits, x, mu, logvar)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d}  loss {loss.item():.3f}  bce {bce.item():.3f}  kl {kl.item():.3f}")

    model.eval()
    with torch.no_grad():
        mu, _ = model.encode(held_out)
        recon = torch.sigmoid(model.decoder(mu))
        err = (recon - held_out).pow(2).mean().item()
        base = (data.mean(0) - held_out).pow(2).mean().item()
    print(f"reconstruction mse {err:.4f} (mean image {base:.4f})")


if __name__ == "__main__":
    main()
""",
    (
        """F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)""",
        """F.binary_cross_entropy_with_logits(logits, x)""",
    ),
)

fault(
    "WGAN-GP on a ring of points",
    "the gradient penalty is computed without create_graph=True, so it is a constant with no gradient: the critic is unconstrained, its slope and scores blow up",
    ("term of gradients",),
    (29,),
    """\
import math
import torch
from torch import nn, autograd

torch.manual_seed(0)
LAMBDA = 1.0
N_CRITIC = 2
BATCH = 128


def real_batch(n):
    angle = torch.rand(n) * 2 * math.pi
    radius = 1.5 + 0.05 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1)


def mlp(n_in, n_out, width=48):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.LeakyReLU(0.2),
        nn.Linear(width, width), nn.LeakyReLU(0.2),
        nn.Linear(width, n_out),
    )


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mixed)
    grads = autograd.grad(
        outputs=score,
        inputs=mixed,
        grad_outputs=torch.ones_like(score),
        retain_graph=True,
        create_graph=True,
    )[0]
    norm = grads.norm(2, dim=1)
    return ((norm - 1) ** 2).mean(), norm.mean().item()


G, D = mlp(4, 2), mlp(2, 1)
opt_G = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_D = torch.optim.Adam(D.parameters(), lr=5e-3, betas=(0.0, 0.9))

for it in range(1000):
    for _ in range(N_CRITIC):
        real = real_batch(BATCH)
        fake = G(torch.randn(BATCH, 4)).detach()
        gp, slope = gradient_penalty(D, real, fake)
        loss_D = D(fake).mean() - D(real).mean() + LAMBDA * gp
        opt_D.zero_grad()
        loss_D.backward()
        opt_D.step()

    loss_G = -D(G(torch.randn(BATCH, 4))).mean()
    opt_G.zero_grad()
    loss_G.backward()
    opt_G.step()

    if it % 200 == 199:
        with torch.no_grad():
            w = (D(real).mean() - D(fake).mean()).item()
        print(f"{it + 1:4d}  W {w:8.3f}  slope {slope:7.3f}  loss_G {loss_G.item():8.3f}")

with torch.no_grad():
    samples = G(torch.randn(2000, 4))
    off = (samples.norm(dim=1) - 1.5).abs().mean().item()
    angle = torch.atan2(samples[:, 1], samples[:, 0])
    hist = torch.histc(angle, 12, -math.pi, math.pi) / 2000
    print(f"mean distance from ring {off:.3f}, smallest/largest sector {hist.min():.3f}/{hist.max():.3f}")
""",
    (
        """\
        grad_outputs=torch.ones_like(score),
        retain_graph=True,
        create_graph=True,
""",
        """\
        grad_outputs=torch.ones_like(score),
        retain_graph=True,
""",
    ),
)

fault(
    "DDPM on a two-arm spiral",
    "q_sample is called without the noise it should mix in and draws its own, so the net is asked for a noise that is not in its input: the loss stays at 1 and samples are garbage",
    ("other noise",),
    (32,),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class GaussianDiffusion:
    def __init__(self, model, timesteps=60, beta_start=1e-3, beta_end=0.2):
        self.model = model
        self.T = timesteps
        self.betas = torch.linspace(beta_start, beta_end, timesteps)
        self.alphas = 1.0 - self.betas
        abar = torch.cumprod(self.alphas, 0)
        self.sqrt_abar = abar.sqrt()
        self.sqrt_one_minus_abar = (1 - abar).sqrt()

    @staticmethod
    def extract(table, t):
        return table[t].unsqueeze(-1)

    def q_sample(self, x0, t, noise=None):
        if noise is None:
            noise = torch.randn_like(x0)
        a = self.extract(self.sqrt_abar, t)
        b = self.extract(self.sqrt_one_minus_abar, t)
        return a * x0 + b * noise

    def p_losses(self, x0):
        t = torch.randint(0, self.T, (x0.size(0),))
        noise = torch.randn_like(x0)
        # diffuse to step t and predict the noise
        x_t = self.q_sample(x0, t, noise)
        pred = self.model(x_t, t)
        return F.mse_loss(pred, noise)

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 2)
        for step in reversed(range(self.T)):
            t = torch.full((n,), step)
            eps = self.model(x, t)
            x = (x - self.betas[step] / self.sqrt_one_minus_abar[step] * eps) / self.alphas[step].sqrt()
            if step > 0:
                x = x + self.betas[step].sqrt() * torch.randn_like(x)
        return x


class Denoiser(nn.Module):
    def __init__(self, width=96, n_freq=8):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, math.log(60.0), n_freq)))
        self.inp = nn.Linear(2 + 2 * n_freq, width)
        self.hid = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        ang = (t.float() / 60)[:, None] * self.freq
        h = F.silu(self.inp(torch.cat([x, ang.sin(), ang.cos()], 1)))
        for layer in self.hid:
            h = h + F.silu(layer(h))
        return self.out(h)


def spiral(n):
    r = torch.rand(n).sqrt() * 3 * math.pi / 2 + 0.4
    arm = torch.randint(0, 2, (n,)) * math.pi
    pts = torch.stack([r * torch.cos(r + arm), r * torch.sin(r + arm)], 1) / 2.2
    return pts + 0.03 * torch.randn(n, 2)


torch.manual_seed(0)
data = spiral(4000)
diffusion = GaussianDiffusion(Denoiser())
opt = torch.optim.Adam(diffusion.model.parameters(), lr=2e-3)
for step in range(1500):
    batch = data[torch.randint(0, len(data), (256,))]
    loss = diffusion.p_losses(batch)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 250 == 0:
        print(f"step {step:4d} loss {loss.item():.3f}")

samples = diffusion.sample(500)
print("mean distance of samples to data:", round(torch.cdist(samples, data).min(1).values.mean().item(), 3))
""",
    ("x_t = self.q_sample(x0, t, noise)", "x_t = self.q_sample(x0, t)"),
)

fault(
    "batch-hard triplet embedding of digit-like vectors",
    "the distance matrix takes sqrt of an exact zero on its diagonal: the gradient is 0 * inf = NaN at the first backward and all weights become NaN",
    ("not finite",),
    (26,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

N_ID, DIM = 20, 40


class IdentityData:
    \"\"\"Samples P identities with K noisy views each.\"\"\"

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.centers = torch.randn(N_ID, 6, generator=self.g)
        self.mix = torch.randn(6, DIM, generator=self.g)

    def pk_batch(self, p, k):
        ids = torch.randperm(N_ID, generator=self.g)[:p].repeat_interleave(k)
        z = self.centers[ids] + 0.25 * torch.randn(p * k, 6, generator=self.g)
        x = torch.tanh(z @ self.mix) + 0.4 * torch.randn(p * k, DIM, generator=self.g)
        return x, ids


def pairwise_distances(emb):
    diff = emb.unsqueeze(0) - emb.unsqueeze(1)
    sq = diff.pow(2).sum(dim=2)
    return sq.clamp(min=1e-12).sqrt()


def batch_hard_triplet(emb, ids, scale=0.4):
    dist = pairwise_distances(emb)
    same = ids.unsqueeze(0) == ids.unsqueeze(1)
    hardest_pos = dist.masked_fill(~same, 0.0).max(dim=1).values
    hardest_neg = dist.masked_fill(same, 1e6).min(dim=1).values
    return F.softplus((hardest_pos - hardest_neg) / scale).mean()


class Embedder(nn.Module):
    def __init__(self, out=16):
        super().__init__()
        self.fc1 = nn.Linear(DIM, 128)
        self.fc2 = nn.Linear(128, out)

    def forward(self, x):
        return F.normalize(self.fc2(F.relu(self.fc1(x))), dim=1)


def recall_at_1(net, x, ids):
    with torch.no_grad():
        d = torch.cdist(net(x), net(x))
    d.fill_diagonal_(float("inf"))
    return (ids[d.argmin(1)] == ids).float().mean().item()


torch.manual_seed(5)
source = IdentityData(seed=5)
net = Embedder()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x_val, id_val = source.pk_batch(20, 10)
print(f"recall@1 before training {recall_at_1(net, x_val, id_val):.3f}")

for step in range(1, 501):
    x, ids = source.pk_batch(p=16, k=4)
    loss = batch_hard_triplet(net(x), ids)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}  loss {loss.item():.4f}  recall@1 {recall_at_1(net, x_val, id_val):.3f}")
""",
    ("return sq.clamp(min=1e-12).sqrt()", "return sq.sqrt()"),
)
