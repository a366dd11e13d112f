"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "noise prediction on a spiral, learning rate decayed over epochs",
    "scheduler.step() sits in the batch loop although StepLR counts epochs, so the learning rate is halved every 8 batches and is practically "
    "zero before the first epoch ends; the denoiser stops learning and the samples are poor",
    ("rate",),
    (64,),
    """\
import math
import torch
from torch import nn


def spiral(n, generator):
    t = 3 * math.pi * (0.25 + 0.75 * torch.rand(n, generator=generator).sqrt())
    xy = torch.stack([t * torch.cos(t), t * torch.sin(t)], dim=1) / 6.0
    return xy + 0.02 * torch.randn(n, 2, generator=generator)


T = 100
betas = torch.linspace(1e-4, 0.1, T)
alphas = 1.0 - betas
alpha_bar = torch.cumprod(alphas, dim=0)


class Denoiser(nn.Module):
    def __init__(self, hidden=128, freqs=8):
        super().__init__()
        self.register_buffer("freqs", 2.0 ** torch.arange(freqs) * math.pi / 2)
        self.register_buffer("xfreqs", 2.0 ** torch.arange(4))
        self.body = nn.Sequential(
            nn.Linear(2 + 16 + 2 * freqs, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, x, t):
        angle = (t.float() / T).unsqueeze(1) * self.freqs
        place = (x.unsqueeze(2) * self.xfreqs).flatten(1)
        return self.body(torch.cat([x, place.sin(), place.cos(), angle.sin(), angle.cos()], dim=1))


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for step in reversed(range(T)):
        t = torch.full((n,), step)
        eps = model(x, t)
        x = (x - betas[step] / (1 - alpha_bar[step]).sqrt() * eps) / alphas[step].sqrt()
        if step > 0:
            x = x + betas[step].sqrt() * torch.randn_like(x)
    return x


torch.manual_seed(2)
data = spiral(4000, torch.Generator().manual_seed(8))
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.5)

for epoch in range(24):
    total, batches = 0.0, 0
    for x0 in data[torch.randperm(len(data))].split(100):
        t = torch.randint(0, T, (len(x0),))
        noise = torch.randn_like(x0)
        a = alpha_bar[t].unsqueeze(1)
        loss = ((model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t) - noise) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, batches = total + loss.item(), batches + 1
    scheduler.step()
    if epoch % 6 == 5:
        gap = torch.cdist(sample(model, 500), data).min(dim=1).values.mean().item()
        print(f"epoch {epoch + 1} loss {total / batches:.3f} distance of samples to spiral {gap:.3f}")
""",
    (
        "        total, batches = total + loss.item(), batches + 1\n    scheduler.step()\n",
        "        scheduler.step()\n        total, batches = total + loss.item(), batches + 1\n",
    ),
)

fault(
    "contrastive pretraining with two views and a linear probe",
    "the two views are stacked interleaved (a0,b0,a1,b1,...) while the targets expect the halves one after the other (i pairs with i+N), so "
    "the positives are views of unrelated images and the features become useless",
    ("other partner",),
    (32, 36),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES, SIDE = 5, 12
proto_gen = torch.Generator().manual_seed(40)
PROTOS = F.interpolate(torch.randn(CLASSES, 1, 4, 4, generator=proto_gen), size=SIDE, mode="bicubic")


def dataset(n):
    y = torch.randint(CLASSES, (n,))
    x = 0.8 * PROTOS[y] + 0.3 * torch.randn(n, 1, SIDE, SIDE)
    # lighting: a random ramp per picture, much stronger than the pattern
    ramp = torch.linspace(-1, 1, SIDE)
    light = torch.randn(n, 3)
    x = x + 2.5 * (light[:, 0].view(-1, 1, 1, 1) + light[:, 1].view(-1, 1, 1, 1) * ramp.view(1, 1, 1, -1)
                   + light[:, 2].view(-1, 1, 1, 1) * ramp.view(1, 1, -1, 1))
    return x, y


def augment(x):
    n = len(x)
    ramp = torch.linspace(-1, 1, SIDE)
    k = 2.5 * torch.randn(3, n, 1, 1, 1)
    x = x + k[0] + k[1] * ramp.view(1, 1, 1, -1) + k[2] * ramp.view(1, 1, -1, 1)
    shift = int(torch.randint(-1, 2, (1,)))
    return torch.roll(x, shift, dims=-1) + 0.1 * torch.randn_like(x)


def info_nce(encoder, head, x, tau=0.2):
    n = len(x)
    views = torch.cat([augment(x), augment(x)])
    z = F.normalize(head(encoder(views)), dim=1)
    sim = z @ z.t() / tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    target = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, target)


def probe(encoder, train, test, steps=150):
    with torch.no_grad():
        ftr, fte = encoder(train[0]), encoder(test[0])
    mean, std = ftr.mean(0), ftr.std(0) + 1e-6
    ftr, fte = (ftr - mean) / std, (fte - mean) / std
    clf = nn.Linear(ftr.size(1), CLASSES)
    opt = torch.optim.Adam(clf.parameters(), lr=1e-2, weight_decay=1e-3)
    for _ in range(steps):
        loss = F.cross_entropy(clf(ftr), train[1])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return (clf(fte).argmax(1) == test[1]).float().mean().item()


torch.manual_seed(4)
unlabelled, _ = dataset(2000)
few, test = dataset(40), dataset(600)
encoder = nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU())
head = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 16))
print(f"probe before pretraining {probe(encoder, few, test):.3f}")

optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=2e-3)
for epoch in range(25):
    losses = []
    for idx in torch.randperm(len(unlabelled)).split(125):
        loss = info_nce(encoder, head, unlabelled[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 6 == 0:
        print(f"epoch {epoch} nce {sum(losses) / len(losses):.3f}")
print(f"probe after pretraining {probe(encoder, few, test):.3f}")
""",
    ("torch.cat([augment(x), augment(x)])", "torch.stack([augment(x), augment(x)], dim=1).flatten(0, 1)"),
)

fault(
    "batch-hard triplet embedding of noisy codes",
    "the square root of the pairwise squared distances is taken without an epsilon: on the diagonal the distance is exactly 0 and the "
    "gradient of sqrt there is 0/0, so all weights are NaN after the first step",
    ("not finite",),
    (21,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(13)
N_ID, DIM = 12, 40
centres = torch.randn(N_ID, DIM)
mixing = torch.randn(DIM, DIM)


def draw_batch(ids_per_batch=6, shots=6):
    ids = torch.randperm(N_ID)[:ids_per_batch].repeat_interleave(shots)
    return observe(ids), ids


def observe(ids):
    return torch.tanh((centres[ids] + 1.1 * torch.randn(len(ids), DIM)) @ mixing / 6)


def pairwise_distance(e):
    sq = (e.unsqueeze(1) - e.unsqueeze(0)).pow(2).sum(dim=-1)
    return (sq + 1e-8).sqrt()


def batch_hard(e, ids, margin=0.5):
    dist = pairwise_distance(e)
    same = ids.unsqueeze(0) == ids.unsqueeze(1)
    furthest_pos = (dist * same).max(dim=1).values
    nearest_neg = dist.masked_fill(same, float("inf")).min(dim=1).values
    return torch.relu(furthest_pos - nearest_neg + margin).mean()


@torch.no_grad()
def one_nearest(net):
    g = torch.arange(N_ID).repeat(5)
    q = torch.arange(N_ID).repeat(25)
    eg, eq = net(observe(g)), net(observe(q))
    return (g[torch.cdist(eq, eg).argmin(dim=1)] == q).float().mean().item()


net = nn.Sequential(nn.Linear(DIM, 128), nn.ReLU(), nn.Linear(128, 24))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
print(f"recall@1 untrained {one_nearest(net):.3f}")
for step in range(1, 801):
    x, ids = draw_batch()
    loss = batch_hard(net(x), ids)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 0:
        print(f"step {step} triplet loss {loss.item():.3f} recall@1 {one_nearest(net):.3f}")
""",
    ("(sq + 1e-8).sqrt()", "sq.sqrt()"),
)

fault(
    "texture backbone reused for a small target task",
    "the weight initialiser is applied to the whole net after the pretrained backbone has been loaded, which overwrites the pretrained "
    "weights; the frozen backbone is random and the target accuracy much lower",
    ("loaded nothing",),
    (45,),
    """\
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


# ---- data.py -------------------------------------------------------------
def textures(n, angles, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, len(angles), (n,), generator=g)
    ang = torch.tensor(angles)[y].view(-1, 1, 1) + 0.06 * torch.randn(n, 1, 1, generator=g)
    r = torch.arange(14).float()
    along = r.view(1, -1, 1) * torch.sin(ang) + r.view(1, 1, -1) * torch.cos(ang)
    phase = 2 * math.pi * torch.rand(n, 1, 1, generator=g)
    img = torch.sin(1.9 * along + phase) + 0.8 * torch.randn(n, 14, 14, generator=g)
    return img.unsqueeze(1), y


# ---- model.py ------------------------------------------------------------
class TextureNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 12, 5), nn.ReLU(), nn.Conv2d(12, 12, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(),
        )
        self.head = nn.Linear(12, n_out)

    def forward(self, x):
        return self.head(self.backbone(x))


def init_weights(m):
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
        nn.init.zeros_(m.bias)


def build_target_net(source_state, n_out):
    net = TextureNet(n_out)
    wanted = {k: v for k, v in source_state.items() if not k.startswith("head.")}
    missing = net.load_state_dict(wanted, strict=False).missing_keys
    assert all(k.startswith("head.") for k in missing)
    net.backbone.requires_grad_(False)
    net.head.apply(init_weights)
    return net


# ---- train.py ------------------------------------------------------------
def fit(net, x, y, epochs, lr, batch):
    opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=lr)
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(batch):
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


@torch.no_grad()
def accuracy(net, x, y):
    return (net(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(31)
    source_angles = [k * math.pi / 8 for k in range(8)]
    xs, ys = textures(2500, source_angles, seed=1)
    source = TextureNet(8)
    fit(source, xs, ys, epochs=8, lr=3e-3, batch=50)
    print("source accuracy", round(accuracy(source, *textures(500, source_angles, seed=2)), 3))

    target_angles = [math.pi / 16, 5 * math.pi / 16, 9 * math.pi / 16, 13 * math.pi / 16]
    xt, yt = textures(100, target_angles, seed=3)
    net = build_target_net(source.state_dict(), 4)
    print("last loss", round(fit(net, xt, yt, epochs=60, lr=1e-2, batch=25), 3))
    print("target accuracy", round(accuracy(net, *textures(600, target_angles, seed=4)), 3))


main()
""",
    ("    net.head.apply(init_weights)", "    net.apply(init_weights)"),
)

fault(
    "small student taught by soft answers of a larger net",
    "F.kl_div gets the student's probabilities where it takes log-probabilities, so the loss is linear in them and is lowest when the student puts "
    "everything on the likeliest class: overconfident, far from the teacher's distribution",
    ("kl without logs",),
    (41, 42),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(17)
K, D = 5, 10
means = 1.0 * torch.randn(K, D)


def draw(n):
    label = torch.randint(0, K, (n,))
    return means[label] + 1.3 * torch.randn(n, D), label


class MLP(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        sizes = [D] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, K)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.out(x)


def train_teacher(x, y):
    teacher = MLP(96, 2)
    opt = torch.optim.Adam(teacher.parameters(), lr=1e-3, weight_decay=1e-4)
    for _ in range(3):
        for i in torch.randperm(len(x)).split(64):
            opt.zero_grad()
            F.cross_entropy(teacher(x[i]), y[i]).backward()
            opt.step()
    return teacher.eval().requires_grad_(False)


def distill_loss(student_logits, teacher_logits, temperature):
    p_teacher = F.softmax(teacher_logits / temperature, dim=1)
    p_student = F.log_softmax(student_logits / temperature, dim=1)
    return F.kl_div(p_student, p_teacher, reduction="batchmean") * temperature ** 2


def report(tag, net, teacher, x, y):
    with torch.no_grad():
        s, t = F.log_softmax(net(x), 1), F.log_softmax(teacher(x), 1)
    acc = (s.argmax(1) == y).float().mean().item()
    divergence = (t.exp() * (t - s)).sum(1).mean().item()
    print(f"{tag}: acc {acc:.3f} nll {F.nll_loss(s, y).item():.3f} kl to teacher {divergence:.3f} "
          f"mean confidence {s.exp().max(1).values.mean().item():.3f}")


xtr, ytr = draw(4000)
xte, yte = draw(2000)
teacher = train_teacher(xtr, ytr)
report("teacher", teacher, teacher, xte, yte)

student = MLP(12, 1)
opt = torch.optim.Adam(student.parameters(), lr=5e-3)
for epoch in range(20):
    for i in torch.randperm(len(xtr)).split(100):
        loss = distill_loss(student(xtr[i]), teacher(xtr[i]), temperature=2.0)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        report(f"student, epoch {epoch + 1}", student, teacher, xte, yte)
""",
    ("p_student = F.log_softmax(", "p_student = F.softmax("),
)

fault(
    "digit-like strips: class and tilt from one trunk",
    "the tilt head gives (N,1) and the targets are (N,), so the squared error broadcasts to an (N,N) matrix and the head learns the mean tilt only",
    ("broadcast",),
    (41,),
    """\
import random

import torch
import torch.nn as nn


class TwoTaskNet(nn.Module):
    def __init__(self, n_in, n_classes, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.kind = nn.Linear(width, n_classes)
        self.tilt = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.tilt(h)


def make_strips(n):
    base = torch.randn(4, 30, generator=torch.Generator().manual_seed(6))
    slope = torch.linspace(-1, 1, 30)
    rows, kinds, tilts = [], [], []
    for _ in range(n):
        k = random.randrange(4)
        a = random.uniform(-2, 2)
        rows.append(base[k] + a * slope + 0.4 * torch.randn(30))
        kinds.append(k)
        tilts.append(a)
    return torch.stack(rows), torch.tensor(kinds), torch.tensor(tilts)


def train(net, data, epochs, lr, tilt_weight=1.0):
    x, kind, tilt = data
    ce, mse = nn.CrossEntropyLoss(), nn.MSELoss()
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    for epoch in range(1, epochs + 1):
        sums = [0.0, 0.0]
        for idx in torch.randperm(len(x)).split(32):
            kind_out, tilt_out = net(x[idx])
            loss_kind = ce(kind_out, kind[idx])
            loss_tilt = mse(tilt_out.squeeze(1), tilt[idx])
            opt.zero_grad()
            (loss_kind + tilt_weight * loss_tilt).backward()
            opt.step()
            sums[0] += loss_kind.item() * len(idx)
            sums[1] += loss_tilt.item() * len(idx)
        print(f"epoch {epoch}: kind {sums[0] / len(x):.4f} tilt {sums[1] / len(x):.4f}")


def evaluate(net, data):
    x, kind, tilt = data
    with torch.no_grad():
        kind_out, tilt_out = net(x)
    acc = (kind_out.argmax(1) == kind).float().mean()
    residual = tilt - tilt_out.flatten()
    r2 = 1 - residual.pow(2).sum() / (tilt - tilt.mean()).pow(2).sum()
    return acc.item(), r2.item()


random.seed(9)
torch.manual_seed(9)
train_set, test_set = make_strips(2000), make_strips(400)
net = TwoTaskNet(30, 4)
train(net, train_set, epochs=8, lr=0.02)
print("test accuracy %.3f, test R2 of the tilt %.3f" % evaluate(net, test_set))
""",
    ("mse(tilt_out.squeeze(1), tilt[idx])", "mse(tilt_out, tilt[idx])"),
)
