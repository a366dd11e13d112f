"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import healthy

healthy(
    "wasserstein critic with clipped weights",
    """\
import torch
from torch import nn

torch.manual_seed(31)
N_CRITIC, CLIP = 3, 0.1


def real_batch(n):
    # two dots per 6x6 image on a common row
    img = torch.zeros(n, 6, 6)
    rows = torch.randint(0, 6, (n,))
    img[torch.arange(n), rows, 1] = 1.0
    img[torch.arange(n), rows, 4] = 1.0
    return img.flatten(1) + 0.03 * torch.randn(n, 36)


gen = nn.Sequential(nn.Linear(8, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 36))
critic = nn.Sequential(nn.Linear(36, 96), nn.LeakyReLU(0.2), nn.Linear(96, 96), nn.LeakyReLU(0.2), nn.Linear(96, 1))
opt_gen = torch.optim.RMSprop(gen.parameters(), lr=1e-3)
opt_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
reference = real_batch(500)

for it in range(1, 901):
    for _ in range(N_CRITIC):
        with torch.no_grad():
            fake = gen(torch.randn(64, 8))
        gap = critic(real_batch(64)).mean() - critic(fake).mean()
        opt_critic.zero_grad()
        (-gap).backward()
        opt_critic.step()
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-CLIP, CLIP)

    loss_gen = -critic(gen(torch.randn(64, 8))).mean()
    opt_gen.zero_grad()
    loss_gen.backward()
    opt_gen.step()
    if it % 150 == 0:
        with torch.no_grad():
            d = torch.cdist(gen(torch.randn(300, 8)), reference).min(1).values.mean()
        print(f"{it} wasserstein estimate {gap.item():.4f} distance to data {d.item():.3f}")
""",
)

healthy(
    "domain adversarial training with gradient reversal",
    """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


def domain(n, target, g):
    y = torch.randint(0, 3, (n,), generator=g)
    angle = y.float() * 2.094
    shape = torch.stack([angle.cos(), angle.sin()], 1) * 2
    x = shape + 0.5 * torch.randn(n, 2, generator=g)
    style = 0.3 * torch.randn(n, 4, generator=g)
    if target:
        x = x + torch.tensor([1.2, 0.6])
        style = style + 1.0
    return torch.cat([x, style], 1), y


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 16))
        self.cls = nn.Linear(16, 3)
        self.dom = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, strength):
        f = self.feat(x)
        return self.cls(f), self.dom(Reverse.apply(f, strength)).squeeze(1)


def main(epochs=24):
    torch.manual_seed(1)
    g = torch.Generator().manual_seed(1)
    xs, ys = domain(1000, False, g)
    xt, yt = domain(1000, True, g)
    net = DANN()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-3)
    is_target = torch.cat([torch.zeros(50), torch.ones(50)])
    for epoch in range(epochs):
        lam = 0.5 * (2 / (1 + math.exp(-10 * epoch / epochs)) - 1)
        ps, pt = torch.randperm(1000), torch.randperm(1000)
        for i in range(0, 1000, 50):
            a, b = ps[i:i + 50], pt[i:i + 50]
            logits, dom = net(torch.cat([xs[a], xt[b]]), lam)
            # class labels are known for the source half only
            loss_cls = F.cross_entropy(logits[:50], ys[a])
            loss_dom = F.binary_cross_entropy_with_logits(dom, is_target)
            opt.zero_grad()
            (loss_cls + loss_dom).backward()
            opt.step()
        if epoch % 4 == 3:
            with torch.no_grad():
                acc_s = (net(xs, 0.0)[0].argmax(1) == ys).float().mean()
                acc_t = (net(xt, 0.0)[0].argmax(1) == yt).float().mean()
            print(f"{epoch} cls {loss_cls.item():.3f} dom {loss_dom.item():.3f} source {acc_s:.3f} target {acc_t:.3f}")


main()
""",
)

healthy(
    "coordinate network with hand-written momentum",
    """\
import math
import torch

torch.manual_seed(7)
OMEGA = 12.0


def siren_init(sizes):
    weights = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        bound = 1.0 / a if i == 0 else math.sqrt(6.0 / a) / OMEGA
        w = (torch.rand(b, a) * 2 - 1) * bound
        weights.append([w.requires_grad_(), torch.zeros(b, requires_grad=True)])
    return weights


def field(weights, xy):
    h = xy
    for w, b in weights[:-1]:
        h = torch.sin(OMEGA * (h @ w.t() + b))
    w, b = weights[-1]
    return h @ w.t() + b


def picture(side):
    axis = torch.linspace(-1, 1, side)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    value = torch.sin(9 * xx * yy) * 0.5 + ((xx ** 2 + yy ** 2) < 0.4).float() * 0.5
    return torch.stack([xx, yy], -1).view(-1, 2), value.view(-1, 1)


coords, pixels = picture(32)
params = siren_init([2, 64, 64, 1])
flat = [p for layer in params for p in layer]
velocity = [torch.zeros_like(p) for p in flat]
lr, mu = 2e-3, 0.95

for step in range(1, 1501):
    pick = torch.randint(0, len(coords), (512,))
    loss = (field(params, coords[pick]) - pixels[pick]).square().mean()
    grads = torch.autograd.grad(loss, flat)
    with torch.no_grad():
        for p, v, g in zip(flat, velocity, grads):
            v.mul_(mu).add_(g)
            p.sub_(lr * v)
    if step == 1000:
        lr *= 0.3
    if step % 250 == 0:
        with torch.no_grad():
            mse = (field(params, coords) - pixels).square().mean()
        print(f"{step} loss {loss.item():.5f} psnr {-10 * mse.log10().item():.2f}")
""",
)

healthy(
    "eval-mode fine-tuning, one image at a time",
    """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(12)
PATTERNS = torch.randn(9, 1, 9, 9)


def batch(classes, n, shift=0.0):
    y = torch.randint(0, len(classes), (n,))
    x = PATTERNS[torch.tensor(classes)[y]] + 0.9 * torch.randn(n, 1, 9, 9) + shift
    return x, y


class Backbone(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU(), nn.Dropout(0.1),
            nn.Flatten(), nn.Linear(16 * 16, 48), nn.BatchNorm1d(48), nn.ReLU(),
        )


body, head = Backbone(), nn.Linear(48, 6)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=2e-3)
for _ in range(150):
    x, y = batch(range(6), 64)
    opt.zero_grad()
    F.cross_entropy(head(body(x)), y).backward()
    opt.step()

# The new task comes with single images: running statistics of the pretraining are kept,
# the norm layers' affine parameters too, gradients are accumulated over 8 images.
body.eval()
for m in body.modules():
    if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):
        m.requires_grad_(False)
new_head = nn.Linear(48, 3)
nn.init.zeros_(new_head.weight)
nn.init.zeros_(new_head.bias)
opt = torch.optim.Adam([
    {"params": [p for p in body.parameters() if p.requires_grad], "lr": 2e-4},
    {"params": new_head.parameters(), "lr": 5e-3},
])
train_x, train_y = batch([6, 7, 8], 240, shift=0.2)
test_x, test_y = batch([6, 7, 8], 400, shift=0.2)
ACCUM = 8
for epoch in range(6):
    total = 0.0
    for k, i in enumerate(torch.randperm(240).tolist()):
        loss = F.cross_entropy(new_head(body(train_x[i:i + 1])), train_y[i:i + 1])
        (loss / ACCUM).backward()
        total += loss.item()
        if (k + 1) % ACCUM == 0:
            opt.step()
            opt.zero_grad()
    with torch.no_grad():
        acc = (new_head(body(test_x)).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch} loss {total / 240:.3f} test acc {acc:.3f}")
""",
)

healthy(
    "class images by gradient ascent on pixels",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
SIDE, CLASSES = 10, 4
axis = torch.linspace(-1, 1, SIDE)
yy, xx = torch.meshgrid(axis, axis, indexing="ij")
TEMPLATES = torch.stack([xx, yy, xx * yy * 2, 1 - 2 * (xx ** 2 + yy ** 2)])


def draw(n):
    y = torch.randint(0, CLASSES, (n,))
    return TEMPLATES[y].unsqueeze(1) + 0.7 * torch.randn(n, 1, SIDE, SIDE), y


def train_classifier():
    net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
                        nn.Flatten(), nn.Linear(12 * 25, CLASSES))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(200):
        x, y = draw(64)
        opt.zero_grad(set_to_none=True)
        F.cross_entropy(net(x), y).backward()
        opt.step()
    x, y = draw(500)
    print("classifier accuracy", (net(x).argmax(1) == y).float().mean().item())
    return net


def total_variation(img):
    return (img[..., 1:, :] - img[..., :-1, :]).pow(2).mean() + (img[..., :, 1:] - img[..., :, :-1]).pow(2).mean()


net = train_classifier()
for p in net.parameters():
    p.requires_grad_(False)
net.eval()

canvas = (0.01 * torch.randn(CLASSES, 1, SIDE, SIDE)).requires_grad_()
wanted = torch.arange(CLASSES)
painter = torch.optim.SGD([canvas], lr=40.0)
for step in range(1, 601):
    shift = torch.randint(-1, 2, (2,)).tolist()
    logits = net(torch.roll(canvas, shift, dims=(2, 3)))
    score = logits.gather(1, wanted.unsqueeze(1)).mean()
    loss = -0.01 * score + 0.1 * total_variation(canvas) + 0.02 * canvas.pow(2).mean()
    painter.zero_grad()
    loss.backward()
    painter.step()
    with torch.no_grad():
        canvas.clamp_(-1.5, 1.5)
    if step % 100 == 0:
        flat, ref = canvas.detach().flatten(1), TEMPLATES.flatten(1)
        corr = F.cosine_similarity(flat - flat.mean(1, True), ref - ref.mean(1, True)).mean()
        print(f"step {step} loss {loss.item():.4f} likeness to the class template {corr:.3f}")
""",
)

healthy(
    "two students teaching each other",
    """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(40)
W = torch.randn(24, 5)


def sample(n, label_noise=0.0):
    x = torch.randn(n, 24)
    y = (torch.tanh(x) @ W + 0.5 * torch.randn(n, 5)).argmax(1)
    scrambled = torch.randint(0, 5, (n,))
    return x, torch.where(torch.rand(n) < label_noise, scrambled, y)


class Student:
    def __init__(self, name, width, lr):
        self.name = name
        self.net = nn.Sequential(nn.Linear(24, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 5))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def learn(self, logits, peer_logits, y, weight):
        hard = F.cross_entropy(logits, y)
        soft = F.kl_div(F.log_softmax(logits, 1), F.log_softmax(peer_logits.detach(), 1),
                        reduction="batchmean", log_target=True)
        self.opt.zero_grad()
        (hard + weight * soft).backward()
        self.opt.step()
        return hard.item(), soft.item()

    @torch.no_grad()
    def accuracy(self, x, y):
        self.net.eval()
        acc = (self.net(x).argmax(1) == y).float().mean().item()
        self.net.train()
        return acc


# 40 percent of the training labels are random
x, y = sample(3000, label_noise=0.4)
test = sample(1000)
a, b = Student("a", 64, 2e-3), Student("b", 128, 1e-3)
for epoch in range(20):
    for idx in torch.randperm(len(x)).split(60):
        out_a, out_b = a.net(x[idx]), b.net(x[idx])
        stats_a = a.learn(out_a, out_b, y[idx], weight=1.0)
        stats_b = b.learn(out_b, out_a, y[idx], weight=1.0)
    if epoch % 4 == 3:
        print(f"{epoch} hard {stats_a[0]:.3f} {stats_b[0]:.3f} soft {stats_a[1]:.3f} {stats_b[1]:.3f} "
              f"test {a.accuracy(*test):.3f} {b.accuracy(*test):.3f}")
""",
)

healthy(
    "energy model with short Langevin chains",
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(19)


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1) + 0.1 * x.pow(2).sum(-1)


def data(n):
    corner = torch.tensor([[1.5, 1.5], [-1.5, -1.5], [1.5, -1.5]])
    return corner[torch.randint(0, 3, (n,))] + 0.3 * torch.randn(n, 2)


def langevin(energy, x, steps, size=0.03):
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        slope, = torch.autograd.grad(energy(x).sum(), x)
        x = x - size * slope + math.sqrt(2 * size) * torch.randn_like(x)
    return x.detach()


energy = Energy()
opt = torch.optim.Adam(energy.parameters(), lr=1e-3)
chains = 2 * torch.randn(1000, 2)

for it in range(1, 601):
    slot = torch.randint(0, len(chains), (128,))
    start = chains[slot]
    # a few chains start anew
    fresh = torch.rand(128, 1) < 0.05
    start = torch.where(fresh, 2 * torch.randn(128, 2), start)
    negative = langevin(energy, start, 10)
    chains[slot] = negative

    e_pos, e_neg = energy(data(128)), energy(negative)
    loss = e_pos.mean() - e_neg.mean() + 0.1 * (e_pos.pow(2) + e_neg.pow(2)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

    if it % 100 == 0:
        pts = langevin(energy, 2 * torch.randn(500, 2), 200)
        corner = torch.tensor([[1.5, 1.5], [-1.5, -1.5], [1.5, -1.5]])
        near = (torch.cdist(pts, corner).min(1).values < 0.9).float().mean()
        print(f"{it} loss {loss.item():+.3f} samples near the data {near:.2f}")
""",
)

healthy(
    "rare defect segmentation with weighted loss",
    """\
import torch
import torch.nn as nn

torch.manual_seed(23)
H = 16


def panels(n):
    img = 0.5 * torch.randn(n, 1, H, H)
    target = torch.zeros(n, 1, H, H)
    for i in range(n):
        # only every fourth panel has a scratch, of 1x4 pixels
        if i % 4 == 0:
            r, c = torch.randint(0, H, (1,)).item(), torch.randint(0, H - 4, (1,)).item()
            target[i, 0, r, c:c + 4] = 1
    return img + 2.0 * target, target


def soft_dice(prob, target):
    inter = (prob * target).sum()
    return 1 - (2 * inter + 1) / (prob.sum() + target.sum() + 1)


net = nn.Sequential(
    nn.Conv2d(1, 12, (1, 7), padding=(0, 3)), nn.ReLU(),
    nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
    nn.Conv2d(12, 1, 1),
)
# start from the base rate
nn.init.constant_(net[-1].bias, -5.0)
x, t = panels(400)
vx, vt = panels(200)
rate = t.mean().item()
print(f"share of defect pixels {rate:.4f}")
weight = torch.tensor(min(20.0, (1 - rate) / rate))
bce = nn.BCEWithLogitsLoss(pos_weight=weight)
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)

for epoch in range(12):
    for idx in torch.randperm(len(x)).split(40):
        logits = net(x[idx])
        loss = 0.5 * bce(logits, t[idx]) + soft_dice(logits.sigmoid(), t[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
    if epoch % 2 == 1:
        with torch.no_grad():
            hit = net(vx) > 0
            dice = 2 * (hit & (vt > 0)).sum() / (hit.sum() + vt.sum())
        print(f"epoch {epoch} loss {loss.item():.3f} dice {dice.item():.3f} all-background accuracy {1 - vt.mean().item():.4f}")
""",
)
