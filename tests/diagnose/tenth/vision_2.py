"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault, healthy

fault(
    "convolution-free VAE on bar images",
    "the reconstruction term is averaged over all pixels while the KL term is summed over the latent dimensions: the KL outweighs it a hundredfold and the posterior collapses to the prior (all reconstructions are the mean image)",
    ("unlike sums",),
    (46, 45),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def make_bars(n, size=12):
    # one horizontal and one vertical bar per image
    x = torch.zeros(n, size, size)
    rows = torch.randint(0, size - 1, (n,))
    cols = torch.randint(0, size - 1, (n,))
    for i in range(n):
        x[i, rows[i]:rows[i] + 2, :] = 1.0
        x[i, :, cols[i]:cols[i] + 2] = 1.0
    keep = (torch.rand_like(x) > 0.02).float()
    return (x * keep).flatten(1)


class VAE(nn.Module):
    def __init__(self, d_in=144, d_hidden=128, d_latent=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d_in, d_hidden), nn.ReLU(), nn.Linear(d_hidden, d_hidden), nn.ReLU())
        self.to_mu = nn.Linear(d_hidden, d_latent)
        self.to_logvar = nn.Linear(d_hidden, d_latent)
        self.decoder = nn.Sequential(
            nn.Linear(d_latent, d_hidden), nn.ReLU(),
            nn.Linear(d_hidden, d_hidden), nn.ReLU(),
            nn.Linear(d_hidden, d_in),
        )

    def encode(self, x):
        h = self.encoder(x)
        return self.to_mu(h), self.to_logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar


def vae_loss(logits, x, mu, logvar):
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1).mean()
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)
    return recon + kl, recon, kl


torch.manual_seed(42)
data = make_bars(2000)
held_out = make_bars(400)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(30):
    model.train()
    for batch in data[torch.randperm(len(data))].split(100):
        logits, mu, logvar = model(batch)
        loss, recon, kl = vae_loss(logits, batch, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            mu, _ = model.encode(held_out)
            shown = torch.sigmoid(model.decoder(mu))
            err = F.mse_loss(shown, held_out)
            base = F.mse_loss(data.mean(0).expand_as(held_out), held_out)
        print(f"epoch {epoch + 1} kl {kl.item():.3f} held-out mse {err:.4f} (mean image {base:.4f})")
""",
    (
        'F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)',
        "F.binary_cross_entropy_with_logits(logits, x)",
    ),
)

healthy(
    "vector-quantised autoencoder, codebook moved by running means",
    """\
import torch
from torch import nn
import torch.nn.functional as F


def steps_signal(n, length=32):
    '''Piecewise constant signals: four plateaus out of five levels.'''
    levels = torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0])
    plateau = levels[torch.randint(5, (n, 4))]
    return plateau.repeat_interleave(length // 4, dim=1) + 0.1 * torch.randn(n, length)


class Quantizer(nn.Module):
    def __init__(self, n_codes, dim, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codes", torch.randn(n_codes, dim))
        self.register_buffer("counts", torch.ones(n_codes))
        self.register_buffer("sums", self.codes.clone())

    def forward(self, z):
        index = torch.cdist(z.detach(), self.codes).argmin(dim=-1)
        picked = self.codes[index]
        if self.training:
            self.refresh(z.detach(), index)
        commit = F.mse_loss(z, picked)
        return z + (picked - z).detach(), commit, index

    @torch.no_grad()
    def refresh(self, z, index):
        one_hot = F.one_hot(index.flatten(), len(self.codes)).float()
        self.counts.lerp_(one_hot.sum(0), 1 - self.decay)
        self.sums.lerp_(one_hot.T @ z.flatten(0, 1), 1 - self.decay)
        unused = self.counts < 0.5
        if unused.any():
            pool = z.flatten(0, 1)
            fresh = pool[torch.randint(len(pool), (int(unused.sum()),))]
            self.sums[unused] = fresh
            self.counts[unused] = 1.0
        self.codes.copy_(self.sums / self.counts.unsqueeze(1))


class VQAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
        self.vq = Quantizer(8, 4)
        self.dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        z = self.enc(x.view(len(x), 4, 8))
        q, commit, index = self.vq(z)
        return self.dec(q).flatten(1), commit, index


torch.manual_seed(5)
train, test = steps_signal(3000), steps_signal(500)
model = VQAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(1, 1001):
    x = train[torch.randint(len(train), (64,))]
    out, commit, _ = model(x)
    loss = F.mse_loss(out, x) + 0.25 * commit
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 200 == 0:
        model.eval()
        with torch.no_grad():
            out, _, index = model(test)
            mse = F.mse_loss(out, test)
        print(f"{step}: train loss {loss.item():.4f} test mse {mse:.4f} codes in use {index.unique().numel()}")
        model.train()
""",
)

fault(
    "GAN on eight points on a ring",
    "the discriminator step clears the generator's gradients instead of the discriminator's: opt_d's gradients pile up (including those of the generator loss, which ask the discriminator to be fooled), and the generator does not find the ring",
    ("used twice",),
    (46, 47, 48),
    """\
import math
import torch
from torch import nn

torch.manual_seed(2)

angles = torch.arange(8) * (2 * math.pi / 8)
centers = 2.0 * torch.stack([angles.cos(), angles.sin()], dim=1)


def sample_real(n):
    return centers[torch.randint(8, (n,))] + 0.15 * torch.randn(n, 2)


def mlp(sizes, act):
    layers = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [nn.Linear(a, b), act()]
    return nn.Sequential(*layers[:-1])


def quality(points):
    dist = torch.cdist(points, centers)
    near, which = dist.min(dim=1)
    good = near < 0.5
    return good.float().mean().item(), which[good].unique().numel()


G = mlp([8, 96, 96, 2], nn.ReLU)
D = mlp([2, 96, 96, 1], lambda: nn.LeakyReLU(0.2))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()
batch = 128
ones = torch.ones(batch, 1)
zeros = torch.zeros(batch, 1)

for it in range(1, 1201):
    real = sample_real(batch)
    fake = G(torch.randn(batch, 8))

    # discriminator
    loss_real = bce(D(real), ones * 0.9)
    loss_fake = bce(D(fake.detach()), zeros)
    d_loss = loss_real + loss_fake
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    # generator
    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if it % 200 == 0:
        with torch.no_grad():
            share, modes = quality(G(torch.randn(1000, 8)))
        print(f"{it:5d} d {d_loss.item():.3f} g {g_loss.item():.3f} on the ring {share:.2f} modes {modes}/8")
""",
    ("    opt_d.zero_grad()\n", "    opt_g.zero_grad()\n"),
)

fault(
    "Wasserstein critic with gradient penalty",
    "the gradient for the penalty is taken without create_graph=True, so the penalty is a constant for backward: the critic is not kept 1-Lipschitz, its scores blow up and the generator is thrown about",
    ("term of gradients",),
    (43,),
    """\
import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z_dim=4, hidden=64):
        super().__init__()
        self.z_dim = z_dim
        self.net = nn.Sequential(
            nn.Linear(z_dim, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, n):
        return self.net(torch.randn(n, self.z_dim))


class Critic(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


class WGAN:
    def __init__(self, gp_weight=1.0, n_critic=4):
        self.gen, self.critic = Generator(), Critic()
        self.gp_weight, self.n_critic = gp_weight, n_critic
        self.g_opt = torch.optim.Adam(self.gen.parameters(), lr=5e-4, betas=(0.0, 0.9))
        self.c_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3, betas=(0.0, 0.9))

    def penalty(self, real, fake):
        eps = torch.rand(len(real), 1)
        mix = (eps * real + (1 - eps) * fake).requires_grad_(True)
        score = self.critic(mix)
        grad, = torch.autograd.grad(score.sum(), mix, create_graph=True)
        norm = grad.norm(2, dim=1)
        return ((norm - 1) ** 2).mean(), norm.mean().item()

    def critic_step(self, real):
        fake = self.gen(len(real)).detach()
        gp, norm = self.penalty(real, fake)
        loss = self.critic(fake).mean() - self.critic(real).mean() + self.gp_weight * gp
        self.c_opt.zero_grad()
        loss.backward()
        self.c_opt.step()
        return loss.item(), norm

    def generator_step(self, n):
        loss = -self.critic(self.gen(n)).mean()
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()


def two_moons(n):
    t = torch.rand(n) * 3.14159
    upper = torch.rand(n) < 0.5
    x = torch.where(upper, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(upper, torch.sin(t), 0.5 - torch.sin(t))
    return 2 * torch.stack([x - 0.5, y - 0.25], 1) + 0.05 * torch.randn(n, 2)


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


torch.manual_seed(7)
gan = WGAN()
for step in range(1, 501):
    for _ in range(gan.n_critic):
        c_loss, norm = gan.critic_step(two_moons(128))
    gan.generator_step(128)
    if step % 100 == 0:
        with torch.no_grad():
            dist = energy_distance(gan.gen(1000), two_moons(1000))
        print(f"step {step} critic {c_loss:.3f} grad norm {norm:.2f} energy distance {dist:.4f}")
""",
    (
        "torch.autograd.grad(score.sum(), mix, create_graph=True)",
        "torch.autograd.grad(score.sum(), mix, retain_graph=True)",
    ),
)

healthy(
    "hinge GAN on a banana, discriminator locked in the generator step",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import spectral_norm


def banana(n):
    a = torch.randn(n)
    b = 0.3 * torch.randn(n)
    return torch.stack([a, b + 0.7 * a * a - 0.7], dim=1)


def set_requires_grad(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


torch.manual_seed(13)
gen = nn.Sequential(nn.Linear(4, 64), nn.LeakyReLU(0.1), nn.Linear(64, 64), nn.LeakyReLU(0.1), nn.Linear(64, 2))
disc = nn.Sequential(
    spectral_norm(nn.Linear(2, 64)), nn.LeakyReLU(0.1),
    spectral_norm(nn.Linear(64, 64)), nn.LeakyReLU(0.1),
    nn.Linear(64, 1),
)
opt_g = torch.optim.Adam(gen.parameters(), lr=5e-4, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(disc.parameters(), lr=1e-3, betas=(0.0, 0.9))
avg_gen = torch.optim.swa_utils.AveragedModel(gen, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))

for it in range(600):
    set_requires_grad(disc, True)
    for _ in range(2):
        with torch.no_grad():
            fake = gen(torch.randn(128, 4))
        loss_d = F.relu(1 - disc(banana(128))).mean() + F.relu(1 + disc(fake)).mean()
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

    set_requires_grad(disc, False)
    loss_g = -disc(gen(torch.randn(128, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    avg_gen.update_parameters(gen)

    if (it + 1) % 100 == 0:
        with torch.no_grad():
            s, r = avg_gen(torch.randn(2000, 4)), banana(2000)
        gap = (2 * torch.cdist(s, r).mean() - torch.cdist(s, s).mean() - torch.cdist(r, r).mean()).item()
        print(f"{it + 1} loss_d {loss_d.item():.3f} loss_g {loss_g.item():+.3f} energy distance {gap:.4f}")
""",
)

fault(
    "pixel diffusion of blobs with a noise-predicting network",
    "q_sample is called without the noise and draws its own, so the noise in the image is not the one in the target: the loss stays at one and the samples are noise",
    ("other noise",),
    (77,),
    """\
import math
import torch
import torch.nn as nn

T = 40
SIZE = 8
BATCH = 32
STEPS = 600


def cosine_alpha_bar(steps):
    s = torch.linspace(0, 1, steps + 1)
    f = torch.cos((s + 0.008) / 1.008 * math.pi / 2) ** 2
    betas = (1 - f[1:] / f[:-1]).clamp(max=0.999)
    return betas, torch.cumprod(1 - betas, dim=0)


betas, alpha_bar = cosine_alpha_bar(T)


def q_sample(x0, t, noise=None):
    if noise is None:
        noise = torch.randn_like(x0)
    a = alpha_bar[t].view(-1, 1, 1, 1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


def render(cy, cx):
    grid = torch.arange(SIZE).float()
    gy = torch.exp(-(grid - cy[:, None]) ** 2 / 3)
    gx = torch.exp(-(grid - cx[:, None]) ** 2 / 3)
    return (2 * gy[:, :, None] * gx[:, None, :] - 1).unsqueeze(1)


def real_batch(n):
    return render(1.5 + 4 * torch.rand(n), 1.5 + 4 * torch.rand(n))


class Denoiser(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.time = nn.Embedding(T, width)
        self.inp = nn.Conv2d(1, width, 3, padding=1)
        self.mid = nn.ModuleList([nn.Conv2d(width, width, 5, padding=2) for _ in range(2)])
        self.out = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t)[:, :, None, None]
        for layer in self.mid:
            h = h + layer(nn.functional.silu(h))
        return self.out(nn.functional.silu(h))


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 1, SIZE, SIZE)
    for i in reversed(range(T)):
        eps = model(x, torch.full((n,), i))
        x0 = ((x - (1 - alpha_bar[i]).sqrt() * eps) / alpha_bar[i].sqrt()).clamp(-1, 1)
        prev = alpha_bar[i - 1] if i > 0 else torch.tensor(1.0)
        eps = (x - alpha_bar[i].sqrt() * x0) / (1 - alpha_bar[i]).sqrt()
        x = prev.sqrt() * x0 + (1 - prev).sqrt() * eps
    return x


torch.manual_seed(4)
cy, cx = torch.meshgrid(torch.linspace(1.5, 5.5, 17), torch.linspace(1.5, 5.5, 17), indexing="ij")
reference = render(cy.flatten(), cx.flatten()).flatten(1)
model = Denoiser()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=STEPS)
avg = 1.0
for step in range(1, STEPS + 1):
    x0 = real_batch(BATCH)
    t = torch.randint(0, T, (BATCH,))
    noise = torch.randn_like(x0)
    x_t = q_sample(x0, t, noise)
    loss = nn.functional.mse_loss(model(x_t, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    avg = 0.98 * avg + 0.02 * loss.item()
    if step % 120 == 0:
        made = sample(model, 48).flatten(1)
        gap = (torch.cdist(made, reference).min(dim=1).values ** 2 / SIZE ** 2).mean()
        print(f"step {step} loss {avg:.3f} mse to nearest blob {gap:.4f}")
""",
    ("x_t = q_sample(x0, t, noise)", "x_t = q_sample(x0, t)"),
)

healthy(
    "noise-conditional score model of a spiral",
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(17)


def spiral(n):
    u = torch.sqrt(torch.rand(n)) * 3 * math.pi
    xy = torch.stack([u * torch.cos(u), u * torch.sin(u)], dim=1) / 6
    return xy + 0.02 * torch.randn(n, 2)


class ScoreNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.register_buffer("freq", torch.randn(16))
        self.net = nn.Sequential(
            nn.Linear(2 + 32, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2),
        )

    def forward(self, x, sigma):
        phase = sigma.log() * self.freq
        scaled = x / (1 + sigma ** 2).sqrt()
        return self.net(torch.cat([scaled, phase.sin(), phase.cos()], dim=1)) / sigma


STEPS = 1800
S_MIN, S_MAX = 0.03, 3.0
net, shadow = ScoreNet(), ScoreNet()
shadow.load_state_dict(net.state_dict())
shadow.requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=1e-5)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=STEPS)
data = spiral(4000)


def annealed_langevin(model, n):
    x = S_MAX * torch.randn(n, 2)
    for s in torch.logspace(math.log10(S_MAX), math.log10(S_MIN), 40):
        sigma = s.expand(n, 1)
        step = 0.2 * s ** 2
        for _ in range(4):
            x = x + step * model(x, sigma) + (2 * step).sqrt() * torch.randn_like(x)
    return x + S_MIN ** 2 * model(x, sigma)


smooth = None
for it in range(1, STEPS + 1):
    x = data[torch.randint(len(data), (192,))]
    sigma = S_MIN * (S_MAX / S_MIN) ** torch.rand(192, 1)
    noise = torch.randn_like(x)
    score = net(x + sigma * noise, sigma)
    loss = ((sigma * score + noise) ** 2).sum(dim=1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    smooth = loss.item() if smooth is None else 0.97 * smooth + 0.03 * loss.item()
    with torch.no_grad():
        for a, b in zip(shadow.parameters(), net.parameters()):
            a.lerp_(b, 0.01)
    if it % 300 == 0:
        pts = annealed_langevin(shadow, 500)
        off = torch.cdist(pts, data).min(dim=1).values.mean()
        print(f"{it} loss {smooth:.3f} distance of samples to the spiral {off:.4f}")
""",
)
