"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "siamese self-supervised pretraining with a predictor",
    "the target branch is not detached, so both branches move towards each other and the embeddings collapse to a constant",
    ("collapses",),
    (39,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
N_CLUSTERS, SIDE = 10, 8
centres = torch.randn(N_CLUSTERS, 1, SIDE, SIDE)


def make_images(n):
    y = torch.randint(0, N_CLUSTERS, (n,))
    return centres[y] + 1.2 * torch.randn(n, 1, SIDE, SIDE), y


def augment(x):
    gain = 0.7 + 0.6 * torch.rand(len(x), 1, 1, 1)
    keep = (torch.rand_like(x) > 0.2).float()
    return gain * x * keep + 0.2 * torch.randn_like(x)


class Siamese(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Flatten(), nn.Linear(SIDE * SIDE, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(),
        )
        self.projector = nn.Sequential(
            nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim)
        )
        self.predictor = nn.Sequential(nn.Linear(dim, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, dim))

    def forward(self, v1, v2):
        z1 = self.projector(self.backbone(v1))
        z2 = self.projector(self.backbone(v2))
        return self.predictor(z1), self.predictor(z2), z1, z2


def similarity_loss(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


@torch.no_grad()
def probe(model, bank, queries):
    model.eval()
    fb = F.normalize(model.projector(model.backbone(bank[0])), dim=1)
    fq = F.normalize(model.projector(model.backbone(queries[0])), dim=1)
    nearest = (fq @ fb.t()).argmax(1)
    acc = (bank[1][nearest] == queries[1]).float().mean().item()
    model.train()
    return acc, fq.std(0).mean().item() * fq.shape[1] ** 0.5


unlabelled, _ = make_images(2000)
bank, queries = make_images(500), make_images(300)
model = Siamese()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
for epoch in range(15):
    for idx in torch.randperm(len(unlabelled)).split(100):
        p1, p2, z1, z2 = model(augment(unlabelled[idx]), augment(unlabelled[idx]))
        loss = 0.5 * (similarity_loss(p1, z2) + similarity_loss(p2, z1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        acc, spread = probe(model, bank, queries)
        print(f"epoch {epoch:2d} loss {loss.item():.4f} 1-NN accuracy {acc:.3f} spread {spread:.3f}")
""",
    ("z.detach(), dim=1", "z, dim=1"),
)

fault(
    "batch-hard triplet embedding",
    "the square root of the squared distances is taken where the diagonal is exactly zero; its derivative there is infinite, times zero gives NaN gradients and NaN weights after the first step",
    ("not finite",),
    (34,),
    """\
import torch
from torch import nn

rng = torch.Generator().manual_seed(2)
ID_VECTORS = torch.randn(20, 8, generator=rng)
RENDER = torch.randn(8, 40, generator=rng) / 8 ** 0.5


def photos(identities):
    # same person, other pose: identity mixed with a strong nuisance direction
    code = ID_VECTORS[identities] + 0.35 * torch.randn(len(identities), 8, generator=rng)
    pose = 2.0 * torch.randn(len(identities), 1, generator=rng)
    nuisance = torch.linspace(-1, 1, 40)
    return torch.tanh(code @ RENDER) + pose * nuisance


class PKSampler:
    def __init__(self, people, shots, batches):
        self.people, self.shots, self.batches = people, shots, batches

    def __iter__(self):
        for _ in range(self.batches):
            ids = torch.randperm(15, generator=rng)[: self.people].repeat_interleave(self.shots)
            yield photos(ids), ids


class BatchHardTriplet(nn.Module):
    def __init__(self, margin=0.3):
        super().__init__()
        self.margin = margin

    def forward(self, emb, ids):
        diff = emb.unsqueeze(0) - emb.unsqueeze(1)
        dist = diff.pow(2).sum(-1).clamp(min=1e-12).sqrt()
        same = ids.unsqueeze(0) == ids.unsqueeze(1)
        hardest_pos = (dist * same.float()).max(dim=1)[0]
        hardest_neg = dist.masked_fill(same, float("inf")).min(dim=1)[0]
        return torch.relu(hardest_pos - hardest_neg + self.margin).mean()


@torch.no_grad()
def recall_at_1(net):
    # people the net has not been trained on
    ids = torch.arange(15, 20).repeat_interleave(12)
    emb = net(photos(ids))
    d = torch.cdist(emb, emb)
    d.fill_diagonal_(1e9)
    return (ids[d.argmin(1)] == ids).float().mean().item()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(40, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 16))
criterion = BatchHardTriplet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
print("before", round(recall_at_1(net), 3))
for epoch in range(8):
    losses = []
    for x, ids in PKSampler(people=8, shots=4, batches=40):
        loss = criterion(net(x), ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} triplet loss {sum(losses) / len(losses):.4f} recall@1 {recall_at_1(net):.3f}")
""",
    (".sum(-1).clamp(min=1e-12).sqrt()", ".sum(-1).sqrt()"),
)

fault(
    "denoising diffusion on points of a ring",
    "the forward process adds uniform noise (rand_like) although sampling starts from and adds Gaussian noise, so the samples miss the data distribution",
    ("noise schedule",),
    (47,),
    """\
import math

import torch
import torch.nn as nn


class Schedule:
    def __init__(self, steps=60):
        self.steps = steps
        self.beta = torch.linspace(1e-3, 0.15, steps)
        self.alpha = 1.0 - self.beta
        self.alpha_bar = torch.cumprod(self.alpha, dim=0)


class EpsNet(nn.Module):
    def __init__(self, steps, width=96):
        super().__init__()
        self.t_embed = nn.Embedding(steps, 32)
        self.body = nn.Sequential(
            nn.Linear(2 + 32, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, 2),
        )

    def forward(self, x, t):
        return self.body(torch.cat([x, self.t_embed(t)], dim=1))


def ring(n):
    angle = 2 * math.pi * torch.rand(n)
    radius = 1.5 + 0.05 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1)


class Diffusion:
    def __init__(self, schedule, net):
        self.s = schedule
        self.net = net

    def q_sample(self, x0, t, noise):
        ab = self.s.alpha_bar[t].unsqueeze(1)
        return ab.sqrt() * x0 + (1 - ab).sqrt() * noise

    def training_loss(self, x0):
        t = torch.randint(0, self.s.steps, (x0.size(0),))
        noise = torch.randn_like(x0)
        predicted = self.net(self.q_sample(x0, t, noise), t)
        return (predicted - noise).pow(2).mean()

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, 2)
        for i in reversed(range(self.s.steps)):
            t = torch.full((n,), i, dtype=torch.long)
            eps = self.net(x, t)
            coef = self.s.beta[i] / (1 - self.s.alpha_bar[i]).sqrt()
            x = (x - coef * eps) / self.s.alpha[i].sqrt()
            if i > 0:
                x = x + self.s.beta[i].sqrt() * torch.randn_like(x)
        return x


def main():
    torch.manual_seed(13)
    schedule = Schedule()
    model = Diffusion(schedule, EpsNet(schedule.steps))
    optimizer = torch.optim.Adam(model.net.parameters(), lr=2e-3)
    running = None
    for step in range(1, 1601):
        loss = model.training_loss(ring(192))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
        if step % 400 == 0:
            pts = model.sample(1000)
            on_ring = ((pts.norm(dim=1) - 1.5).abs() < 0.25).float().mean().item()
            cx, cy = pts.mean(0).tolist()
            print(f"step {step} loss {running:.3f} on ring {on_ring:.2f} centre ({cx:+.2f}, {cy:+.2f})")


main()
""",
    ("noise = torch.randn_like(x0)", "noise = torch.rand_like(x0)"),
)

fault(
    "single box detector with horizontal flips",
    "the random flip mirrors the image but the box keeps its old x centre, so half of the training targets are false and the boxes drift to the middle",
    ("moved apart",),
    (35, 36),
    """\
import random

import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SIDE = 20


def paint(rng):
    canvas = [[rng.gauss(0, 0.15) for _ in range(SIDE)] for _ in range(SIDE)]
    w, h = rng.randint(4, 8), rng.randint(4, 8)
    x0, y0 = rng.randint(0, SIDE - w), rng.randint(0, SIDE - h)
    for r in range(y0, y0 + h):
        for c in range(x0, x0 + w):
            canvas[r][c] += 1.0
    box = [(x0 + w / 2) / SIDE, (y0 + h / 2) / SIDE, w / SIDE, h / SIDE]
    return torch.tensor([canvas]), torch.tensor(box)


class RandomHFlip:
    def __init__(self, p=0.5, seed=0):
        self.p = p
        self.rng = random.Random(seed)

    def __call__(self, image, box):
        if self.rng.random() < self.p:
            image, box = self.flip(image, box)
        return image, box

    @staticmethod
    def flip(image, box):
        # boxes are (cx, cy, w, h), relative to the image size
        cx, cy, w, h = box.unbind()
        image = torch.flip(image, dims=[2])
        box = torch.stack([1 - cx, cy, w, h])
        return image, box


class Boxes(Dataset):
    def __init__(self, n, seed, transform=None):
        rng = random.Random(seed)
        self.items = [paint(rng) for _ in range(n)]
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        image, box = self.items[i]
        if self.transform is not None:
            image, box = self.transform(image, box)
        return image, box


def mean_iou(a, b):
    lo = torch.maximum(a[:, :2] - a[:, 2:] / 2, b[:, :2] - b[:, 2:] / 2)
    hi = torch.minimum(a[:, :2] + a[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2)
    inter = (hi - lo).clamp(min=0).prod(1)
    return (inter / (a[:, 2:].prod(1) + b[:, 2:].prod(1) - inter)).mean().item()


torch.manual_seed(1)
train = DataLoader(Boxes(700, 10, RandomHFlip()), batch_size=32, shuffle=True)
test_x, test_b = map(torch.stack, zip(*Boxes(150, 11).items))
net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(24 * 25, 64), nn.ReLU(), nn.Linear(64, 4), nn.Sigmoid(),
)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
criterion = nn.SmoothL1Loss(beta=0.05)
for epoch in range(13):
    for image, box in train:
        opt.zero_grad()
        loss = criterion(net(image), box)
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        with torch.no_grad():
            print(f"epoch {epoch} loss {loss.item():.4f} test IoU {mean_iou(net(test_x), test_b):.3f}")
""",
    ("box = torch.stack([1 - cx, cy, w, h])", "box = torch.stack([cx, cy, w, h])"),
)

fault(
    "convolutional denoiser with step decay",
    "the epoch-wise StepLR is stepped once per batch, so the learning rate vanishes within the first epochs and training stops early",
    ("rate",),
    (55,),
    """\
import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(17)


def clean_patches(n, side=12):
    t = torch.linspace(0, 3.0, side)
    out = torch.zeros(n, 1, side, side)
    for k in range(3):
        fx, fy, ph = (torch.rand(n, 1, 1) * 2 - 1), (torch.rand(n, 1, 1) * 2 - 1), torch.rand(n, 1, 1) * 6.28
        out[:, 0] += torch.sin(2 * fx * t.view(1, 1, -1) + 2 * fy * t.view(1, -1, 1) + ph) / 2
    return out


class Denoiser(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.head = nn.Conv2d(1, ch, 5, padding=2)
        self.mid = nn.Conv2d(ch, ch, 5, padding=2)
        self.tail = nn.Conv2d(ch, 1, 5, padding=2)

    def forward(self, x):
        h = torch.relu(self.head(x))
        h = torch.relu(self.mid(h)) + h
        return self.tail(h)


class Trainer:
    def __init__(self, model, data, val, batch=32, sigma=0.5):
        self.model, self.data, self.val = model, data, val
        self.batch, self.sigma = batch, sigma
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        # halve every 6 epochs
        self.scheduler = StepLR(self.optimizer, step_size=6, gamma=0.5)
        self.val_noisy = val + sigma * torch.randn_like(val)

    def train_step(self, clean):
        noisy = clean + self.sigma * torch.randn_like(clean)
        loss = nn.functional.mse_loss(self.model(noisy), clean)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            perm = torch.randperm(len(self.data))
            losses = []
            for start in range(0, len(perm), self.batch):
                batch = self.data[perm[start:start + self.batch]]
                losses.append(self.train_step(batch))
            self.scheduler.step()
            if epoch % 4 == 3:
                print(f"epoch {epoch} train {sum(losses) / len(losses):.4f} val psnr {self.psnr():.2f} dB")

    @torch.no_grad()
    def psnr(self):
        self.model.eval()
        err = (self.model(self.val_noisy) - self.val).pow(2).mean()
        peak = self.val.max() - self.val.min()
        return (20 * torch.log10(peak) - 10 * torch.log10(err)).item()


trainer = Trainer(Denoiser(), clean_patches(320), clean_patches(100))
print(f"untrained psnr {trainer.psnr():.2f}")
trainer.run(16)
""",
    ("            self.scheduler.step()\n", "                self.scheduler.step()\n"),
)

fault(
    "fine-tuning on few noisy labels with early stopping",
    "best_state is model.state_dict() without a copy; its tensors are the live parameters, so the restored 'best' model is the overfitted last one",
    ("no copy",),
    (54,),
    """\
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def get_data():
    g = torch.Generator().manual_seed(6)
    w = torch.randn(30, 4, generator=g)

    def part(n, flip):
        x = torch.randn(n, 30, generator=g)
        y = (x @ w).argmax(1)
        noisy = torch.randint(0, 4, (n,), generator=g)
        use = torch.rand(n, generator=g) < flip
        return x, torch.where(use, noisy, y)

    return part(400, 0.3), part(300, 0.0), part(500, 0.0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(30, 256)
        self.fc2 = nn.Linear(256, 256)
        self.fc3 = nn.Linear(256, 4)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def evaluate(model, split):
    model.eval()
    with torch.no_grad():
        out = model(split[0])
        loss = F.cross_entropy(out, split[1]).item()
        acc = (out.argmax(1) == split[1]).float().mean().item()
    model.train()
    return loss, acc


def train(model, train_split, val_split, max_epochs=60, patience=25):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = train_split
    best_loss, best_epoch, best_state = float("inf"), -1, None
    for epoch in range(max_epochs):
        for idx in torch.randperm(len(x)).split(32):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        val_loss, val_acc = evaluate(model, val_split)
        if val_loss < best_loss:
            best_loss, best_epoch = val_loss, epoch
            best_state = copy.deepcopy(model.state_dict())
        if epoch % 6 == 0:
            print(f"epoch {epoch:3d} train {loss.item():.3f} val {val_loss:.3f} acc {val_acc:.3f}")
        if epoch - best_epoch >= patience:
            print("stopping at", epoch, "best epoch was", best_epoch)
            break
    return best_state, best_loss


def main():
    torch.manual_seed(0)
    train_split, val_split, test_split = get_data()
    model = Classifier()
    state, best = train(model, train_split, val_split)
    model.load_state_dict(state)
    print(f"best val loss {best:.3f}, val loss of the restored model {evaluate(model, val_split)[0]:.3f}")
    print("test loss {:.3f} acc {:.3f}".format(*evaluate(model, test_split)))


main()
""",
    ("copy.deepcopy(model.state_dict())", "model.state_dict()"),
    ("import copy\n\nimport torch\n", "import torch\n"),
)
