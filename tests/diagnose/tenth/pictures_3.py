"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "rare lesion segmentation, frozen BatchNorm encoder kept in eval, void pixels",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

VOID = 255


def scans(n, size=20):
    x = torch.randn(n, 1, size, size)
    x = F.avg_pool2d(x, 3, 1, 1) * 1.5
    y = torch.zeros(n, size, size, dtype=torch.long)
    for i in range(n):
        r, c = torch.randint(2, size - 4, (2,)).tolist()
        x[i, 0, r:r + 3, c:c + 3] += 2.2
        y[i, r - 1:r + 4, c - 1:c + 4] = VOID
        y[i, r:r + 3, c:c + 3] = 1
    return x, y


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(),
            nn.Conv2d(12, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(),
        )
        self.rec = nn.Conv2d(12, 1, 1)
        self.head = nn.Sequential(nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 1))

    def freeze_encoder(self):
        self.encoder.requires_grad_(False)
        self.frozen = True

    frozen = False

    def train(self, mode=True):
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def forward(self, x):
        return self.head(self.encoder(x))


def dice(logits, y):
    pred = logits.argmax(1)
    ok = y != VOID
    p, t = (pred == 1) & ok, (y == 1) & ok
    return (2 * (p & t).sum() / (p.sum() + t.sum()).clamp(min=1)).item()


torch.manual_seed(0)
net = Segmenter()
# encoder is pretrained to denoise unlabelled scans
pre = torch.optim.Adam([*net.encoder.parameters(), *net.rec.parameters()], lr=3e-3)
for _ in range(60):
    x, _ = scans(16)
    loss = F.mse_loss(net.rec(net.encoder(x + 0.3 * torch.randn_like(x))), x)
    pre.zero_grad()
    loss.backward()
    pre.step()
print(f"pretraining mse {loss.item():.3f}")

net.freeze_encoder()
# start from the prior of the rare class
with torch.no_grad():
    net.head[-1].weight.mul_(0.1)
    net.head[-1].bias.copy_(torch.tensor([0.0, -3.5]))
weight = torch.tensor([1.0, 8.0])
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=5e-3)
x_val, y_val = scans(100)
for epoch in range(6):
    net.train()
    x_train, y_train = scans(160)
    for i in torch.arange(160).split(8):
        loss = F.cross_entropy(net(x_train[i]), y_train[i], weight=weight, ignore_index=VOID)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch} loss {loss.item():.3f} dice {dice(net(x_val), y_val):.3f}")
""",
)

healthy(
    "least squares GAN in one dimension with requires_grad toggling",
    """\
import torch
from torch import nn


def toggle(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


def real_samples(n):
    # waiting times
    return torch.distributions.Gamma(3.0, 1.5).sample((n, 1))


class Generator(nn.Module):
    def __init__(self, z=4):
        super().__init__()
        self.z = z
        self.net = nn.Sequential(nn.Linear(z, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, n):
        return nn.functional.softplus(self.net(torch.randn(n, self.z)))


def make_discriminator():
    return nn.Sequential(nn.Linear(1, 48), nn.LeakyReLU(0.1), nn.Linear(48, 48), nn.LeakyReLU(0.1), nn.Linear(48, 1))


def quantile_gap(gen, ref):
    q = torch.linspace(0.05, 0.95, 19)
    with torch.no_grad():
        fake = gen(4000)
    return (torch.quantile(fake.flatten(), q) - torch.quantile(ref.flatten(), q)).abs().mean().item()


torch.manual_seed(13)
gen, disc = Generator(), make_discriminator()
opt_d = torch.optim.Adam(disc.parameters(), lr=2e-3, betas=(0.5, 0.99))
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.99))
decay_g = torch.optim.lr_scheduler.LinearLR(opt_g, 1.0, 0.05, total_iters=1500)
decay_d = torch.optim.lr_scheduler.LinearLR(opt_d, 1.0, 0.05, total_iters=1500)
reference = real_samples(4000)
print(f"start: quantile gap {quantile_gap(gen, reference):.3f}")

for it in range(1, 1501):
    # discriminator: real -> 0.9, fake -> 0
    toggle(disc, True)
    real = real_samples(128)
    with torch.no_grad():
        fake = gen(128)
    d_loss = 0.5 * ((disc(real) - 0.9) ** 2).mean() + 0.5 * (disc(fake) ** 2).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    # generator: fake -> 0.9, the discriminator only passes gradients through
    toggle(disc, False)
    g_loss = 0.5 * ((disc(gen(128)) - 0.9) ** 2).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    decay_d.step()
    decay_g.step()

    if it % 300 == 0:
        print(f"{it}: d {d_loss.item():.3f} g {g_loss.item():.3f} quantile gap {quantile_gap(gen, reference):.3f}")
""",
)

healthy(
    "VQ autoencoder with straight-through codes and a moving-average codebook",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class EMAQuantizer(nn.Module):
    def __init__(self, n_codes, dim, decay=0.95, beta=0.25):
        super().__init__()
        self.decay, self.beta = decay, beta
        self.register_buffer("codes", torch.randn(n_codes, dim))
        self.register_buffer("count", torch.ones(n_codes))
        self.register_buffer("total", self.codes.clone())

    @torch.no_grad()
    def update(self, flat, index):
        onehot = F.one_hot(index, len(self.codes)).float()
        self.count.mul_(self.decay).add_(onehot.sum(0), alpha=1 - self.decay)
        self.total.mul_(self.decay).add_(onehot.t() @ flat, alpha=1 - self.decay)
        self.codes.copy_(self.total / self.count.clamp(min=1e-2).unsqueeze(1))
        # move dead codes onto random encodings
        dead = self.count < 0.05
        if dead.any():
            pick = torch.randint(0, len(flat), (int(dead.sum()),))
            self.codes[dead] = flat[pick]
            self.total[dead] = flat[pick]
            self.count[dead] = 1.0

    def forward(self, z):
        flat = z.reshape(-1, z.size(-1))
        index = torch.cdist(flat.detach(), self.codes).argmin(1)
        q = self.codes[index].view_as(z)
        if self.training:
            self.update(flat.detach(), index)
        commit = self.beta * F.mse_loss(z, q)
        return z + (q - z).detach(), commit, index


class VQAE(nn.Module):
    def __init__(self, patch=8, dim=6, n_codes=32):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(patch, 48), nn.ReLU(), nn.Linear(48, dim))
        self.vq = EMAQuantizer(n_codes, dim)
        self.dec = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, patch))

    def forward(self, x):
        q, commit, index = self.vq(self.enc(x))
        return self.dec(q), commit, index


def signals(n):
    # every signal is four patches out of a set of 16 motifs
    motif = torch.randint(0, 16, (n, 4))
    return MOTIFS[motif] + 0.1 * torch.randn(n, 4, 8)


torch.manual_seed(2)
MOTIFS = torch.randn(16, 8)
model = VQAE()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(1, 1001):
    x = signals(64)
    out, commit, index = model(x)
    loss = F.mse_loss(out, x) + commit
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 0:
        used = index.unique().numel()
        print(f"step {step} loss {loss.item():.4f} commit {commit.item():.4f} codes in use {used}")

model.eval()
with torch.no_grad():
    x = signals(500)
    print(f"test mse {F.mse_loss(model(x)[0], x).item():.4f}, signal variance {x.var().item():.3f}")
""",
)

healthy(
    "BYOL with a momentum target, then a linear probe on frozen features",
    """\
import copy
import torch
from torch import nn
import torch.nn.functional as F


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-2], sizes[-1]))


class BYOL(nn.Module):
    def __init__(self, n_in, tau=0.98):
        super().__init__()
        self.tau = tau
        self.online = mlp([n_in, 96, 32])
        self.predictor = mlp([32, 48, 32])
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update_target(self):
        for po, pt in zip(self.online.parameters(), self.target.parameters()):
            pt.lerp_(po, 1 - self.tau)

    def loss(self, a, b):
        def one_way(u, v):
            p = F.normalize(self.predictor(self.online(u)), dim=1)
            with torch.no_grad():
                t = F.normalize(self.target(v), dim=1)
            return 2 - 2 * (p * t).sum(1)

        return (one_way(a, b) + one_way(b, a)).mean()


class Spectra:
    \"\"\"Peaks at class dependent places over a strong random baseline.\"\"\"

    def __init__(self, bins=60, classes=10):
        self.grid = torch.linspace(0, 1, bins)
        self.places = torch.rand(classes, 3)
        self.classes = classes

    def baseline(self, n):
        c = 3 * torch.randn(n, 3)
        return c[:, :1] + c[:, 1:2] * self.grid + c[:, 2:] * self.grid ** 2

    def draw(self, n):
        y = torch.randint(0, self.classes, (n,))
        d = self.grid - self.places[y].unsqueeze(-1)
        return torch.exp(-(d / 0.03) ** 2).sum(1) + 0.1 * torch.randn(n, len(self.grid)), y

    def observe(self, clean):
        gain = 0.6 + 0.8 * torch.rand(len(clean), 1)
        return gain * clean + self.baseline(len(clean)) + 0.2 * torch.randn_like(clean)


def probe(features, data, steps=150):
    x, y = data.draw(600)
    xt, yt = data.draw(400)
    with torch.no_grad():
        f, ft = features(data.observe(x)), features(data.observe(xt))
    lin = nn.Linear(f.size(1), data.classes)
    opt = torch.optim.Adam(lin.parameters(), lr=0.05)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(lin(f), y).backward()
        opt.step()
    return (lin(ft).argmax(1) == yt).float().mean().item()


torch.manual_seed(6)
data = Spectra()
byol = BYOL(60)
opt = torch.optim.AdamW([p for p in byol.parameters() if p.requires_grad], lr=2e-3, weight_decay=1e-4)
print(f"probe on untrained features {probe(byol.online, data):.3f}")
for step in range(1, 501):
    x, _ = data.draw(128)
    loss = byol.loss(data.observe(x), data.observe(x))
    opt.zero_grad()
    loss.backward()
    opt.step()
    byol.update_target()
    if step % 100 == 0:
        print(f"step {step} loss {loss.item():.3f}")
byol.eval()
print(f"probe on byol features {probe(byol.online, data):.3f}")
""",
)

healthy(
    "private softmax regression: clipped per-example gradients, noise added, torch.func",
    """\
import torch
import torch.nn.functional as F
from torch.func import grad_and_value, vmap

CLIP = 0.05
SIGMA = 1.0
LR = 40.0
MOMENTUM = 0.8


def patches(n, protos, gen):
    y = torch.randint(0, len(protos), (n,), generator=gen)
    x = protos[y] + 1.2 * torch.randn(n, protos.size(1), generator=gen)
    # unit rows scaled down: features are small
    return 0.1 * F.normalize(x, dim=1), y


def loss_one(params, x, y):
    logits = x @ params["W"] + params["b"]
    return F.cross_entropy(logits.unsqueeze(0), y.unsqueeze(0))


per_example = vmap(grad_and_value(loss_one), in_dims=(None, 0, 0))


def private_gradient(params, x, y, gen):
    grads, losses = per_example(params, x, y)
    sq = sum(g.flatten(1).pow(2).sum(1) for g in grads.values())
    scale = (CLIP / sq.sqrt().clamp(min=1e-8)).clamp(max=1.0)
    out = {}
    for name, g in grads.items():
        summed = torch.einsum("n,n...->...", scale, g)
        noise = SIGMA * CLIP * torch.randn(summed.shape, generator=gen)
        out[name] = (summed + noise) / len(x)
    return out, losses.mean().item()


def update(params, velocity, grads):
    velocity = {k: MOMENTUM * velocity[k] + grads[k] for k in params}
    params = {k: params[k] - LR * velocity[k] for k in params}
    return params, velocity


gen = torch.Generator().manual_seed(31)
protos = torch.randn(6, 40, generator=gen)
x, y = patches(3000, protos, gen)
x_test, y_test = patches(1000, protos, gen)
params = {"W": torch.zeros(40, 6), "b": torch.zeros(6)}
velocity = {k: torch.zeros_like(v) for k, v in params.items()}

for step in range(1, 301):
    # Poisson sampling of the batch
    idx = (torch.rand(len(x), generator=gen) < 0.1).nonzero().flatten()
    grads, loss = private_gradient(params, x[idx], y[idx], gen)
    params, velocity = update(params, velocity, grads)
    if step % 60 == 0:
        acc = ((x_test @ params["W"] + params["b"]).argmax(1) == y_test).float().mean().item()
        print(f"step {step} loss {loss:.3f} test acc {acc:.3f}")
""",
)

healthy(
    "domain-adversarial net with gradient reversal",
    """\
import math
import torch
from torch import nn
from torch.autograd import Function
import torch.nn.functional as F


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.lam * grad, None


class DANN(nn.Module):
    def __init__(self, n_in=12, n_class=3):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(n_in, 48), nn.ReLU(), nn.Linear(48, 16), nn.ReLU())
        self.label = nn.Linear(16, n_class)
        self.domain = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, lam):
        f = self.features(x)
        return self.label(f), self.domain(Reverse.apply(f, lam)).squeeze(1)


def make_domain(n, proto, shifted):
    y = torch.randint(0, 3, (n,))
    x = torch.zeros(n, 12)
    x[:, :6] = proto[y] + 0.5 * torch.randn(n, 6)
    # style part: follows the label in the source domain only
    if shifted:
        x[:, 6:] = 2.5 + 0.8 * torch.randn(n, 6)
    else:
        x[:, 6:] = F.one_hot(y, 3).float().repeat(1, 2) + 0.3 * torch.randn(n, 6)
    return x, y


def run(use_domain):
    torch.manual_seed(9)
    proto = 0.9 * torch.randn(3, 6)
    xs, ys = make_domain(2000, proto, False)
    xt, yt = make_domain(2000, proto, True)
    net = DANN()
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    steps = 1000
    for step in range(steps):
        p = step / steps
        lam = 2 / (1 + math.exp(-10 * p)) - 1 if use_domain else 0.0
        for group in opt.param_groups:
            group["lr"] = 0.02 / (1 + 10 * p) ** 0.75
        i, j = torch.randint(0, 2000, (64,)), torch.randint(0, 2000, (64,))
        logits, dom_s = net(xs[i], lam)
        _, dom_t = net(xt[j], lam)
        cls = F.cross_entropy(logits, ys[i])
        dom = F.binary_cross_entropy_with_logits(
            torch.cat([dom_s, dom_t]), torch.cat([torch.zeros(64), torch.ones(64)])
        )
        opt.zero_grad()
        (cls + dom).backward()
        opt.step()
        if use_domain and step % 200 == 199:
            print(f"  step {step + 1} class loss {cls.item():.3f} domain loss {dom.item():.3f}")
    with torch.no_grad():
        acc_s = (net(xs, 0.0)[0].argmax(1) == ys).float().mean().item()
        acc_t = (net(xt, 0.0)[0].argmax(1) == yt).float().mean().item()
    return acc_s, acc_t


print("source only: source %.3f target %.3f" % run(False))
print("adversarial: source %.3f target %.3f" % run(True))
""",
)

healthy(
    "Trainer with accumulation, clipping, OneCycle and half of the labels random",
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ResidualBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.a = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.na = nn.GroupNorm(4, ch)
        self.b = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.nb = nn.GroupNorm(4, ch)
        # every block starts as the identity
        nn.init.zeros_(self.nb.weight)

    def forward(self, x):
        return torch.relu(x + self.nb(self.b(torch.relu(self.na(self.a(x))))))


def build_net(n_classes):
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2, padding=1), ResidualBlock(16), ResidualBlock(16),
        nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(144, n_classes),
    )


class Trainer:
    def __init__(self, net, loader, epochs, accumulate=4, max_lr=1e-2):
        self.net, self.loader, self.accumulate, self.epochs = net, loader, accumulate, epochs
        self.loss = nn.CrossEntropyLoss(reduction="sum")
        self.opt = torch.optim.AdamW(net.parameters(), lr=max_lr, weight_decay=0.02)
        updates = -(-len(loader) // accumulate) * epochs
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, max_lr, total_steps=updates)

    def flush(self, seen):
        # sums of gradients -> mean over the examples of the group
        for p in self.net.parameters():
            p.grad.div_(seen)
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.opt.step()
        self.sched.step()
        self.opt.zero_grad()

    def run(self, x_test, y_test):
        for epoch in range(self.epochs):
            self.net.train()
            seen, total, count = 0, 0.0, 0
            for i, (x, y) in enumerate(self.loader, 1):
                loss = self.loss(self.net(x), y)
                loss.backward()
                seen += len(y)
                total, count = total + loss.item(), count + len(y)
                if i % self.accumulate == 0 or i == len(self.loader):
                    self.flush(seen)
                    seen = 0
            self.net.eval()
            with torch.no_grad():
                acc = (self.net(x_test).argmax(1) == y_test).float().mean().item()
            print(f"epoch {epoch} loss {total / count:.3f} test acc {acc:.3f}")


def blobs(n, gen, random_labels):
    y = torch.randint(0, 4, (n,), generator=gen)
    x = 0.7 * torch.randn(n, 1, 12, 12, generator=gen)
    for i, k in enumerate(y.tolist()):
        r, c = (k // 2) * 6 + 1, (k % 2) * 6 + 1
        dr, dc = torch.randint(0, 2, (2,), generator=gen).tolist()
        x[i, 0, r + dr:r + dr + 3, c + dc:c + dc + 3] += 1.2
    swap = torch.rand(n, generator=gen) < random_labels
    return x, torch.where(swap, torch.randint(0, 4, (n,), generator=gen), y)


torch.manual_seed(0)
gen = torch.Generator().manual_seed(1)
train = TensorDataset(*blobs(2000, gen, random_labels=0.5))
loader = DataLoader(train, batch_size=16, shuffle=True)
Trainer(build_net(4), loader, epochs=6).run(*blobs(500, gen, random_labels=0.0))
""",
)

healthy(
    "center loss with its own SGD, center gradients rescaled",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class CenterLoss(nn.Module):
    def __init__(self, n_classes, dim):
        super().__init__()
        self.centers = nn.Parameter(torch.zeros(n_classes, dim))

    def forward(self, features, labels):
        return (features - self.centers[labels]).pow(2).sum(1).mean() / 2


class Extractor(nn.Module):
    def __init__(self, n_in, dim, n_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 96), nn.PReLU(), nn.Linear(96, 96), nn.PReLU(), nn.Linear(96, dim))
        self.logits = nn.Linear(dim, n_classes, bias=False)

    def forward(self, x):
        f = self.body(x)
        return f, self.logits(f)


def sample(n, mix, sign):
    y = torch.randint(0, len(sign), (n,))
    z = sign[y] + 0.6 * torch.randn(n, sign.size(1))
    return torch.sin(z @ mix) + 0.1 * torch.randn(n, mix.size(1)), y


def compactness(net, x, y):
    with torch.no_grad():
        f, logits = net(x)
        means = torch.stack([f[y == k].mean(0) for k in range(7)])
        within = (f - means[y]).norm(dim=1).mean()
        between = F.pdist(means).mean()
        acc = (logits.argmax(1) == y).float().mean()
    return acc.item(), (within / between).item()


def train(lambda_center, seed=14):
    torch.manual_seed(seed)
    mix, sign = 0.4 * torch.randn(8, 24), 2.2 * torch.randn(7, 8)
    x, y = sample(3000, mix, sign)
    x_test, y_test = sample(700, mix, sign)
    net, center_loss = Extractor(24, 4, 7), CenterLoss(7, 4)
    opt_net = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    opt_center = torch.optim.SGD(center_loss.parameters(), lr=0.5)
    for epoch in range(15):
        for idx in torch.randperm(len(x)).split(50):
            f, logits = net(x[idx])
            loss = F.cross_entropy(logits, y[idx]) + lambda_center * center_loss(f, y[idx])
            opt_net.zero_grad()
            opt_center.zero_grad()
            loss.backward()
            # the weight of the center term is for the features, not for the centers
            if lambda_center > 0:
                center_loss.centers.grad.mul_(1.0 / lambda_center)
            opt_center.step()
            opt_net.step()
        if epoch % 5 == 4:
            acc, ratio = compactness(net, x_test, y_test)
            print(f"  epoch {epoch + 1} loss {loss.item():.3f} test acc {acc:.3f} within/between {ratio:.3f}")


for lam in (0.0, 0.02):
    print("lambda", lam)
    train(lam)
""",
)
