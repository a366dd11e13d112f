"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "shape segmentation, small fully convolutional net",
    "NCHW logits are reshaped to (-1, classes) without moving the class axis last, so pixels, channels and labels are mixed up and the net cannot learn the masks",
    ("other order",),
    (51,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
NUM_CLASSES = 3
SIZE = 16


def draw_scene(gen):
    img = torch.randn(1, SIZE, SIZE, generator=gen) * 0.2
    mask = torch.zeros(SIZE, SIZE, dtype=torch.long)
    ys, xs = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    cy, cx = torch.randint(3, 13, (2,), generator=gen).tolist()
    disc = (ys - cy) ** 2 + (xs - cx) ** 2 <= 8
    img[0][disc] += 1.0
    mask[disc] = 1
    y0, x0 = torch.randint(0, 11, (2,), generator=gen).tolist()
    img[0, y0:y0 + 5, x0:x0 + 5] = -1.0 + 0.2 * torch.randn(5, 5, generator=gen)
    mask[y0:y0 + 5, x0:x0 + 5] = 2
    return img, mask


def make_split(n, seed):
    gen = torch.Generator().manual_seed(seed)
    scenes = [draw_scene(gen) for _ in range(n)]
    return torch.stack([s[0] for s in scenes]), torch.stack([s[1] for s in scenes])


class TinyFCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1 = nn.Conv2d(1, 16, 3, padding=1)
        self.enc2 = nn.Conv2d(16, 32, 3, padding=1)
        self.dec = nn.Conv2d(48, 24, 3, padding=1)
        self.out = nn.Conv2d(24, NUM_CLASSES, 1)

    def forward(self, x):
        a = F.relu(self.enc1(x))
        b = F.relu(self.enc2(F.max_pool2d(a, 2)))
        up = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.out(F.relu(self.dec(torch.cat([a, up], dim=1))))


def iou(pred, mask, c):
    inter = ((pred == c) & (mask == c)).sum().float()
    return (inter / ((pred == c) | (mask == c)).sum().clamp(min=1)).item()


def pixel_loss(logits, mask):
    flat = logits.permute(0, 2, 3, 1).reshape(-1, NUM_CLASSES)
    return F.cross_entropy(flat, mask.reshape(-1))


train_x, train_y = make_split(256, 0)
val_x, val_y = make_split(64, 1)
net = TinyFCN()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(8):
    total = 0.0
    for idx in torch.randperm(len(train_x)).split(32):
        loss = pixel_loss(net(train_x[idx]), train_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    with torch.no_grad():
        pred = net(val_x).argmax(1)
    scores = [iou(pred, val_y, c) for c in range(NUM_CLASSES)]
    print(f"epoch {epoch} loss {total / len(train_x):.3f} mIoU {sum(scores) / 3:.3f}")
""",
    ("logits.permute(0, 2, 3, 1).reshape(-1, NUM_CLASSES)", "logits.reshape(-1, NUM_CLASSES)"),
)

fault(
    "transfer learning, new head on a frozen backbone",
    "the optimizer is created from the old head's parameters before the head is replaced, so the new head is never updated and accuracy stays at chance",
    ("not held",),
    (66, 67),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def textures(classes, per_class, seed):
    # every class is an oriented grating with its own frequency
    g = torch.Generator().manual_seed(seed)
    grid = torch.arange(12).float()
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    images, labels = [], []
    for label, (angle, freq) in enumerate(classes):
        theta = torch.tensor(angle)
        wave = freq * (xx * torch.cos(theta) + yy * torch.sin(theta))
        phase = torch.rand(per_class, 1, 1, generator=g) * 6.283
        img = torch.sin(wave + phase) + 0.4 * torch.randn(per_class, 12, 12, generator=g)
        images.append(img.unsqueeze(1))
        labels += [label] * per_class
    return TensorDataset(torch.cat(images), torch.tensor(labels))


SOURCE = [(0.0, 0.7), (0.0, 1.5), (0.8, 0.7), (0.8, 1.5), (1.6, 0.7), (1.6, 1.5), (2.4, 0.7), (2.4, 1.5)]
TARGET = [(0.4, 1.1), (1.2, 1.1), (2.0, 1.1), (2.8, 1.1)]


class Net(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 24, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten(),
        )
        self.head = nn.Linear(48, n_classes)

    def forward(self, x):
        return self.head(self.features(x))


def fit(model, loader, optimizer, epochs):
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, dataset):
    x, y = dataset.tensors
    return (model(x).argmax(1) == y).float().mean().item()


def pretrain():
    model = Net(len(SOURCE))
    loader = DataLoader(textures(SOURCE, 60, 0), batch_size=32, shuffle=True)
    fit(model, loader, torch.optim.Adam(model.parameters(), lr=3e-3), epochs=10)
    print("source accuracy", round(accuracy(model, textures(SOURCE, 40, 1)), 3))
    return model


def adapt(model):
    model.features.requires_grad_(False)
    model.head = nn.Linear(48, len(TARGET))
    optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)
    loader = DataLoader(textures(TARGET, 40, 2), batch_size=16, shuffle=True)
    for round_ in range(4):
        last = fit(model, loader, optimizer, epochs=5)
        print(f"target round {round_} loss {last:.3f} acc {accuracy(model, textures(TARGET, 50, 3)):.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    adapt(pretrain())
""",
    (
        """\
    model.head = nn.Linear(48, len(TARGET))
    optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)
""",
        """\
    optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)
    model.head = nn.Linear(48, len(TARGET))
""",
    ),
)

fault(
    "GAN on 8x8 bar images",
    "the generated batch is detached when it is made and the same tensor is used in the generator's loss, so no gradient ever reaches the generator",
    ("not reached",),
    (41,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(11)
Z, BATCH, STEPS = 16, 64, 1200


def real_images(n):
    # one bright bar per image, horizontal or vertical
    img = torch.full((n, 8, 8), -0.8)
    pos = torch.randint(0, 7, (n,))
    vertical = torch.rand(n) < 0.5
    for i in range(n):
        p = int(pos[i])
        if vertical[i]:
            img[i, :, p:p + 2] = 0.8
        else:
            img[i, p:p + 2, :] = 0.8
    return (img + 0.05 * torch.randn_like(img)).view(n, 64)


G = nn.Sequential(nn.Linear(Z, 128), nn.BatchNorm1d(128), nn.ReLU(),
                  nn.Linear(128, 128), nn.BatchNorm1d(128), nn.ReLU(),
                  nn.Linear(128, 64), nn.Tanh())
D = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2),
                  nn.Linear(128, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=5e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)
pool = real_images(2000)


def nearest_real(samples):
    return torch.cdist(samples, pool).min(1).values.mean().item()


for step in range(STEPS):
    real = pool[torch.randint(0, len(pool), (BATCH,))]
    z = torch.randn(BATCH, Z)
    fake = G(z)

    # discriminator
    opt_d.zero_grad()
    loss_d = bce(D(real), ones * 0.9) + bce(D(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()

    # generator
    opt_g.zero_grad()
    loss_g = bce(D(fake), ones)
    loss_g.backward()
    opt_g.step()

    if step % 200 == 199:
        G.eval()
        with torch.no_grad():
            dist = nearest_real(G(torch.randn(200, Z)))
        G.train()
        print(f"{step + 1:5d} D {loss_d.item():.3f} G {loss_g.item():.3f} distance to nearest real {dist:.2f}")
""",
    ("    fake = G(z)\n", "    fake = G(z).detach()\n"),
    ("D(fake.detach())", "D(fake)"),
)

fault(
    "VAE on blob images",
    "reconstruction term is averaged over pixels and batch while the KL is summed over latents, so the KL dominates and the posterior collapses to the prior",
    ("unlike sums",),
    (42,),
    """\
import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, side=14, latent=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(side * side, 200), nn.ReLU())
        self.mu = nn.Linear(200, latent)
        self.logvar = nn.Linear(200, latent)
        self.dec = nn.Sequential(
            nn.Linear(latent, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, side * side)
        )

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar


def blobs(n, side=14):
    ys = torch.arange(side).float().view(1, side, 1)
    xs = torch.arange(side).float().view(1, 1, side)
    cy = 3 + 8 * torch.rand(n, 1, 1)
    cx = 3 + 8 * torch.rand(n, 1, 1)
    width = 1.5 + torch.rand(n, 1, 1)
    img = torch.exp(-((ys - cy) ** 2 + (xs - cx) ** 2) / (2 * width ** 2))
    return img.reshape(n, -1)


def per_sample_mse(model, x):
    logits, mu, _ = model(x)
    mean_image = x.mean(0, keepdim=True)
    err = (model.dec(mu).sigmoid() - x).pow(2).mean().item()
    return err, (x - mean_image).pow(2).mean().item()


def elbo_terms(logits, x, mu, logvar):
    n = x.size(0)
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / n
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp()) / n
    return recon, kl


torch.manual_seed(21)
data, held_out = blobs(2048), blobs(256)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(15):
    order = torch.randperm(len(data))
    for i in range(0, len(data), 64):
        x = data[order[i:i + 64]]
        logits, mu, logvar = vae(x)
        recon, kl = elbo_terms(logits, x, mu, logvar)
        loss = recon + kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            err, base = per_sample_mse(vae, held_out)
        print(f"epoch {epoch}: recon {recon.item():.3f} kl {kl.item():.3f} mse {err:.4f} (mean image {base:.4f})")
""",
    (
        'F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / n',
        "F.binary_cross_entropy_with_logits(logits, x)",
    ),
)

fault(
    "texture classifier with batch norm, class-wise test report",
    "evaluation leaves the network in training mode, so batch norm normalises each single-class test batch with its own statistics and the reported accuracy is far too low",
    ("draws in evaluation",),
    (60, 64),
    """\
import torch
import torch.nn as nn
import torch.optim as optim

CLASSES = ["flat", "bright", "dark", "rough", "stripes"]


def sample_class(name, n, rng):
    base = torch.randn(n, 1, 10, 10, generator=rng)
    if name == "flat":
        return 0.3 * base
    if name == "bright":
        return 0.3 * base + 0.5
    if name == "dark":
        return 0.3 * base - 0.5
    if name == "rough":
        return 0.9 * base
    stripe = torch.ones(10)
    stripe[::2] = -1
    return 0.3 * base + 0.4 * stripe


class Data:
    def __init__(self, per_class, seed):
        rng = torch.Generator().manual_seed(seed)
        self.by_class = [sample_class(c, per_class, rng) for c in CLASSES]

    def shuffled_batches(self, size):
        x = torch.cat(self.by_class)
        y = torch.arange(len(CLASSES)).repeat_interleave(len(self.by_class[0]))
        perm = torch.randperm(len(x))
        for idx in perm.split(size):
            yield x[idx], y[idx]


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, bias=False), nn.BatchNorm2d(cout), nn.ReLU())


def build():
    return nn.Sequential(
        conv_block(1, 16), conv_block(16, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, len(CLASSES))
    )


def train_epoch(model, data, optimizer):
    model.train()
    running, seen = 0.0, 0
    for x, y in data.shuffled_batches(50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
        seen += len(y)
    return running / seen


@torch.no_grad()
def class_report(model, data):
    # one batch per class, so that the recall of each class is at hand
    model.eval()
    recalls = []
    for label, x in enumerate(data.by_class):
        pred = model(x).argmax(dim=1)
        recalls.append((pred == label).float().mean().item())
    return recalls


def main():
    torch.manual_seed(5)
    train, test = Data(120, 0), Data(60, 1)
    model = build()
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(10):
        loss = train_epoch(model, train, optimizer)
        recalls = class_report(model, test)
        print(f"{epoch} loss {loss:.3f} test accuracy {sum(recalls) / len(recalls):.3f}")
    print({c: round(r, 2) for c, r in zip(CLASSES, recalls)})


main()
""",
    ("    model.eval()\n", ""),
)

fault(
    "distilling an ensemble into a small student",
    "F.kl_div is given the student's probabilities instead of log-probabilities, so the loss is no divergence (it goes negative) and the student does not match the teacher's distribution",
    ("kl without logs",),
    (48, 49),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
DIM, K, TEMP = 36, 6, 2.0
prototypes = torch.randn(K, DIM) * 0.45


def draw(n):
    y = torch.randint(0, K, (n,))
    return prototypes[y] + torch.randn(n, DIM), y


def mlp(width):
    return nn.Sequential(nn.Linear(DIM, width), nn.ReLU(), nn.Linear(width, K))


def train_teacher(x, y):
    net = mlp(96)
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.1)
    for _ in range(6):
        for idx in torch.randperm(len(x)).split(64):
            opt.zero_grad()
            F.cross_entropy(net(x[idx]), y[idx]).backward()
            opt.step()
    return net.eval().requires_grad_(False)


class Ensemble(nn.Module):
    def __init__(self, nets):
        super().__init__()
        self.nets = nn.ModuleList(nets)

    def forward(self, x):
        return torch.stack([net(x) for net in self.nets]).mean(0)


train_x, train_y = draw(3000)
test_x, test_y = draw(1000)
teacher = Ensemble([train_teacher(train_x, train_y) for _ in range(3)])
student = mlp(24)
opt = torch.optim.Adam(student.parameters(), lr=3e-3)


def distill_loss(student_logits, teacher_logits):
    target = F.softmax(teacher_logits / TEMP, dim=1)
    pred = F.log_softmax(student_logits / TEMP, dim=1)
    return F.kl_div(pred, target, reduction="batchmean") * TEMP ** 2


def report(epoch, loss):
    with torch.no_grad():
        s, t = student(test_x), teacher(test_x)
        gap = (t.softmax(1) * (t.log_softmax(1) - s.log_softmax(1))).sum(1).mean()
        nll = F.cross_entropy(s, test_y)
        acc = (s.argmax(1) == test_y).float().mean()
    print(f"epoch {epoch:2d} loss {loss:.4f} KL to teacher {gap:.4f} test nll {nll:.3f} acc {acc:.3f}")


with torch.no_grad():
    print("teacher nll", round(F.cross_entropy(teacher(test_x), test_y).item(), 3))
for epoch in range(20):
    for idx in torch.randperm(len(train_x)).split(64):
        with torch.no_grad():
            soft = teacher(train_x[idx])
        loss = distill_loss(student(train_x[idx]), soft)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 4 == 3:
        report(epoch, loss.item())
""",
    ("pred = F.log_softmax(student_logits / TEMP, dim=1)", "pred = F.softmax(student_logits / TEMP, dim=1)"),
)
