"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault, healthy

fault(
    "SimCLR on randomly shifted waveforms",
    "the two views are interleaved by stack/flatten, while the targets say that the partner of row i is row i + n: the positives are views of other signals and the encoder learns no useful invariance",
    ("other partner",),
    (47, 50),
    """\
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
LENGTH = 64
N_KINDS = 8
kinds = torch.randn(N_KINDS, 3, 2)


def make_signals(n):
    y = torch.randint(N_KINDS, (n,))
    time = torch.arange(LENGTH) * (2 * math.pi / LENGTH)
    x = torch.zeros(n, LENGTH)
    for k in range(3):
        a, b = kinds[y, k, 0], kinds[y, k, 1]
        x += a[:, None] * torch.sin((2 * k + 1) * time) + b[:, None] * torch.cos((2 * k + 1) * time)
    return roll_each(x, torch.randint(LENGTH, (n,))) + 0.3 * torch.randn(n, LENGTH), y


def roll_each(x, shift):
    idx = (torch.arange(LENGTH)[None] - shift[:, None]) % LENGTH
    return x.gather(1, idx)


def augment(x):
    x = roll_each(x, torch.randint(LENGTH, (len(x),)))
    return x * (0.8 + 0.4 * torch.rand(len(x), 1)) + 0.3 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(LENGTH, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, dim))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(dim, 32))

    def forward(self, x):
        h = self.backbone(x)
        return h, self.projector(h)


def nt_xent(z1, z2, temperature=0.2):
    n = len(z1)
    z1 = F.normalize(z1, dim=1)
    z2 = F.normalize(z2, dim=1)
    z = torch.cat([z1, z2], dim=0)
    sim = z @ z.t() / temperature
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), float("-inf"))
    targets = (torch.arange(2 * n) + n) % (2 * n)
    return F.cross_entropy(sim, targets)


@torch.no_grad()
def knn_accuracy(encoder, bank, query, k=5):
    (bx, by), (qx, qy) = bank, query
    hb = F.normalize(encoder(bx)[0], dim=1)
    hq = F.normalize(encoder(qx)[0], dim=1)
    votes = by[(hq @ hb.t()).topk(k, dim=1).indices]
    return (votes.mode(dim=1).values == qy).float().mean().item()


unlabeled, _ = make_signals(4000)
bank, query = make_signals(400), make_signals(400)
encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)

for epoch in range(24):
    total = 0.0
    for x in unlabeled[torch.randperm(len(unlabeled))].split(200):
        loss = nt_xent(encoder(augment(x))[1], encoder(augment(x))[1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 20
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} contrastive loss {total:.3f} knn accuracy {knn_accuracy(encoder, bank, query):.3f}")
""",
    ("z = torch.cat([z1, z2], dim=0)", "z = torch.stack([z1, z2], dim=1).flatten(0, 1)"),
)

healthy(
    "BYOL on digit-like images with a slowly following target",
    """\
import copy
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(9)
glyphs = (F.interpolate(torch.rand(6, 1, 4, 4), size=8) > 0.5).float()


def render(n):
    label = torch.randint(len(glyphs), (n,))
    canvas = torch.zeros(n, 1, 12, 12)
    for i, c in enumerate(label.tolist()):
        top, left = torch.randint(0, 5, (2,)).tolist()
        canvas[i, :, top:top + 8, left:left + 8] = glyphs[c]
    return canvas + 0.25 * torch.randn_like(canvas), label


def view_of(x):
    dy, dx = torch.randint(-3, 4, (2,)).tolist()
    x = torch.roll(x, (dy, dx), dims=(2, 3))
    gain = 0.6 + 0.8 * torch.rand(len(x), 1, 1, 1)
    return gain * x + 0.2 * torch.randn_like(x)


def head(din, dout):
    return nn.Sequential(nn.Linear(din, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, dout))


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 24, 3, stride=2, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.Flatten(),
        )
        self.projector = head(48 * 9, 32)

    def forward(self, x):
        return self.projector(self.encoder(x))


online = Branch()
predictor = head(32, 32)
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
optimizer = torch.optim.AdamW([*online.parameters(), *predictor.parameters()], lr=2e-3, weight_decay=1e-3)


def probe():
    online.eval()
    with torch.no_grad():
        a, b = online.encoder(bank_x), online.encoder(query_x)
    online.train()
    nearest = torch.cdist(F.normalize(b), F.normalize(a)).argmin(1)
    return (bank_y[nearest] == query_y).float().mean().item()


bank_x, bank_y = render(120)
query_x, query_y = render(400)
pool, _ = render(3000)
print(f"before: nearest neighbour accuracy {probe():.3f}")
for step in range(1, 301):
    x = pool[torch.randint(len(pool), (96,))]
    v1, v2 = view_of(x), view_of(x)
    with torch.no_grad():
        t1, t2 = target(v1), target(v2)
    loss = -(F.cosine_similarity(predictor(online(v1)), t2).mean() + F.cosine_similarity(predictor(online(v2)), t1).mean()) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p, q in zip(online.parameters(), target.parameters()):
            q.mul_(0.98).add_(p, alpha=0.02)
    if step % 60 == 0:
        print(f"{step} loss {loss.item():.3f} nearest neighbour accuracy {probe():.3f}")
""",
)

fault(
    "batch-hard triplets with a distance matrix",
    "the square root is taken of squared distances that are exactly zero on the diagonal: its derivative is infinite there, times zero gives NaN, and all weights are NaN after the first step",
    ("not finite",),
    (38,),
    """\
import torch

torch.manual_seed(100)
DIM, EMB, ID = 24, 12, 8
mixing = torch.randn(DIM, DIM) / DIM ** 0.5


def make_identities(count):
    return torch.randn(count, ID)


def photos(identity, per_id):
    rep = identity.repeat_interleave(per_id, dim=0)
    nuisance = torch.randn(len(rep), DIM - ID)
    x = torch.tanh(torch.cat([rep, nuisance], dim=1) @ mixing)
    y = torch.arange(len(identity)).repeat_interleave(per_id)
    return x, y


def init_layer(n_in, n_out):
    w = torch.randn(n_in, n_out) * (2 / n_in) ** 0.5
    return [w.requires_grad_(), torch.zeros(n_out, requires_grad=True)]


weights = init_layer(DIM, 96) + init_layer(96, 96) + init_layer(96, EMB)


def embed(x):
    w1, b1, w2, b2, w3, b3 = weights
    h = torch.relu(x @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    return h @ w3 + b3


def pairwise_distance(e):
    diff = e.unsqueeze(0) - e.unsqueeze(1)
    squared = diff.pow(2).sum(-1)
    return squared.clamp(min=1e-9).sqrt()


def batch_hard_loss(e, y, margin=0.5):
    d = pairwise_distance(e)
    same = y[:, None] == y[None, :]
    hardest_pos = (d * same).max(dim=1).values
    hardest_neg = (d + 1e6 * same).min(dim=1).values
    return torch.nn.functional.softplus(hardest_pos - hardest_neg + margin).mean()


def recall_at_1(e, y):
    d = pairwise_distance(e)
    d.fill_diagonal_(float("inf"))
    return (y[d.argmin(dim=1)] == y).float().mean().item()


people = make_identities(400)
strangers, who = photos(make_identities(30), 8)
optimizer = torch.optim.Adam(weights, lr=1e-3)
with torch.no_grad():
    print(f"raw recall@1 {recall_at_1(strangers, who):.3f}")
for step in range(1, 1001):
    x, y = photos(people[torch.randperm(len(people))[:16]], 4)
    loss = batch_hard_loss(embed(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        with torch.no_grad():
            r = recall_at_1(embed(strangers), who)
        print(f"step {step} loss {loss.item():.4f} recall@1 on new people {r:.3f}")
""",
    ("squared.clamp(min=1e-9).sqrt()", "squared.sqrt()"),
)

fault(
    "few-shot transfer from a DataParallel checkpoint",
    "the checkpoint keys carry the 'module.' prefix of DataParallel and are loaded with strict=False, so not one weight is loaded and the head is trained on a frozen random backbone",
    ("loaded nothing",),
    (70, 71),
    """\
import io
import torch
import torch.nn as nn
import torch.nn.functional as F

SIDE = 14


def glyph_set(n_classes, per_class, seed):
    shapes = torch.Generator().manual_seed(77)
    patterns = (torch.rand(14, 5, 5, generator=shapes) > 0.5).float()
    patterns = patterns[:10] if n_classes == 10 else patterns[10:]
    g = torch.Generator().manual_seed(seed)
    y = torch.arange(n_classes).repeat_interleave(per_class)
    x = 0.3 * torch.randn(len(y), 1, SIDE, SIDE, generator=g)
    for i, c in enumerate(y.tolist()):
        r, s = torch.randint(0, SIDE - 4, (2,), generator=g).tolist()
        x[i, 0, r:r + 5, s:s + 5] += patterns[c]
    return x, y


class GlyphNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 20, 3, padding=1), nn.ReLU(),
            nn.Conv2d(20, 32, 3, padding=1), nn.ReLU(),
            nn.AdaptiveMaxPool2d(1), nn.Flatten(),
        )
        self.head = nn.Linear(32, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def run_epochs(model, optimizer, x, y, epochs, batch):
    for _ in range(epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(batch):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def pretrain():
    x, y = glyph_set(10, 120, seed=1)
    model = nn.DataParallel(GlyphNet(10))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss = run_epochs(model, optimizer, x, y, epochs=10, batch=40)
    print(f"pretraining: loss {loss:.3f} train accuracy {accuracy(model, x, y):.3f}")
    buffer = io.BytesIO()
    torch.save({"model": model.state_dict(), "classes": 10}, buffer)
    buffer.seek(0)
    return buffer


def finetune(checkpoint_file):
    x, y = glyph_set(4, 15, seed=2)
    test_x, test_y = glyph_set(4, 150, seed=3)
    model = GlyphNet(n_classes=4)
    state = torch.load(checkpoint_file)["model"]
    state = {k.removeprefix("module."): v for k, v in state.items() if "head" not in k}
    model.load_state_dict(state, strict=False)
    for p in model.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)
    for part in range(4):
        loss = run_epochs(model, optimizer, x, y, epochs=40, batch=20)
        print(f"after {40 * (part + 1)} epochs loss {loss:.3f} target test accuracy {accuracy(model, test_x, test_y):.3f}")


torch.manual_seed(0)
finetune(pretrain())
""",
    ('k.removeprefix("module."): v', "k: v"),
)

healthy(
    "careful fine-tuning: frozen batch norm, tiny backbone rate, zero head",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


def textures(n, shift, seed):
    # four stripe patterns; the second camera is darker and blurred
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(4, (n,), generator=g)
    row = torch.arange(16).view(1, 16, 1).expand(n, 16, 16)
    col = torch.arange(16).view(1, 1, 16).expand(n, 16, 16)
    coord = torch.stack([row, col, row + col, row - col])[label, torch.arange(n)]
    phase = 6.28 * torch.rand(n, 1, 1, generator=g)
    x = torch.sin(1.3 * coord + phase) + 0.6 * torch.randn(n, 16, 16, generator=g)
    x = x.unsqueeze(1)
    if shift:
        x = 0.4 * F.avg_pool2d(x, 3, stride=1, padding=1) - 0.3
        label = (label + 2) % 4
    return x, label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.head = nn.Linear(32, 4)
        self.freeze_bn = False

    def train(self, mode=True):
        super().train(mode)
        if self.freeze_bn:
            for m in self.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def epoch(model, opt, x, y, batch):
    model.train()
    for idx in torch.randperm(len(x)).split(batch):
        opt.zero_grad()
        loss = F.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        opt.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(6)
src_x, src_y = textures(1200, False, 1)
tgt_x, tgt_y = textures(160, True, 2)
test_x, test_y = textures(600, True, 3)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(4):
    loss = epoch(model, opt, src_x, src_y, 40)
print(f"source loss {loss:.3f}")

model.freeze_bn = True
nn.init.zeros_(model.head.weight)
nn.init.zeros_(model.head.bias)
model.backbone.requires_grad_(False)
opt = torch.optim.Adam(model.head.parameters(), lr=2e-2)
for _ in range(30):
    loss = epoch(model, opt, tgt_x, tgt_y, 32)
print(f"head only: loss {loss:.3f} accuracy {accuracy(model, test_x, test_y):.3f}")

model.backbone.requires_grad_(True)
opt = torch.optim.AdamW([
    {"params": model.backbone.parameters(), "lr": 5e-5, "weight_decay": 0.0},
    {"params": model.head.parameters(), "lr": 2e-3},
])
for stage in range(3):
    for _ in range(15):
        loss = epoch(model, opt, tgt_x, tgt_y, 32)
    print(f"all layers, stage {stage}: loss {loss:.3f} accuracy {accuracy(model, test_x, test_y):.3f}")
""",
)

fault(
    "distilling a wide teacher into a small student",
    "F.kl_div gets the student's probabilities instead of log-probabilities: the loss is not a divergence (it goes negative) and is smallest for one-hot outputs, so the student does not match the teacher's distribution (nll almost three times as high, accuracy lower)",
    ("kl without logs",),
    (50, 51),
    """\
import torch
from torch import nn
import torch.nn.functional as F

N_CLASS, N_FEAT = 10, 20


class Blobs:
    '''Overlapping clusters, three per class.'''

    def __init__(self, seed):
        g = torch.Generator().manual_seed(seed)
        self.means = 1.3 * torch.randn(N_CLASS, 3, N_FEAT, generator=g)
        self.g = g

    def draw(self, n):
        y = torch.randint(N_CLASS, (n,), generator=self.g)
        part = torch.randint(3, (n,), generator=self.g)
        return self.means[y, part] + 1.5 * torch.randn(n, N_FEAT, generator=self.g), y


def mlp(width, depth, dropout=0.0):
    layers, d = [], N_FEAT
    for _ in range(depth):
        layers += [nn.Linear(d, width), nn.ReLU(), nn.Dropout(dropout)]
        d = width
    return nn.Sequential(*layers, nn.Linear(d, N_CLASS))


def fit_teacher(data, steps=700):
    teacher = mlp(192, 2, dropout=0.2)
    optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-3)
    for _ in range(steps):
        x, y = data.draw(128)
        loss = F.cross_entropy(teacher(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return teacher.eval()


class Distiller:
    def __init__(self, teacher, student, temperature=2.0, lr=3e-3):
        self.teacher, self.student, self.T = teacher, student, temperature
        self.optimizer = torch.optim.Adam(student.parameters(), lr=lr)

    def step(self, x):
        with torch.no_grad():
            soft = F.softmax(self.teacher(x) / self.T, dim=1)
        guess = F.log_softmax(self.student(x) / self.T, dim=1)
        loss = F.kl_div(guess, soft, reduction="batchmean") * self.T ** 2
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


@torch.no_grad()
def report(model, x, y):
    logits = model(x)
    return f"accuracy {(logits.argmax(1) == y).float().mean():.3f} nll {F.cross_entropy(logits, y):.3f}"


torch.manual_seed(55)
data = Blobs(seed=12)
test_x, test_y = data.draw(2000)
teacher = fit_teacher(data)
print("teacher:", report(teacher, test_x, test_y))

student = mlp(32, 1)
distiller = Distiller(teacher, student)
print("student before:", report(student, test_x, test_y))
for step in range(1, 1501):
    x, _ = data.draw(64)
    loss = distiller.step(x)
    if step % 300 == 0:
        print(f"step {step} kd loss {loss:.4f} student", report(student, test_x, test_y))
""",
    ("guess = F.log_softmax(", "guess = F.softmax("),
)

healthy(
    "two peers teaching each other",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)


def checker_images(n):
    '''Class = which of four quadrant layouts is bright, under heavy noise.'''
    layouts = torch.tensor([[1., 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]]).view(5, 1, 2, 2)
    y = torch.randint(5, (n,))
    x = F.interpolate(layouts[y], scale_factor=5, mode="nearest")
    return x + 1.7 * torch.randn_like(x), y


def wide():
    return nn.Sequential(nn.Flatten(), nn.Linear(100, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 5))


def conv():
    return nn.Sequential(nn.Conv2d(1, 12, 3, stride=2), nn.GELU(), nn.Flatten(), nn.Linear(12 * 16, 5))


peers = [wide(), conv()]
optimizers = [torch.optim.Adam(peers[0].parameters(), lr=1e-3),
              torch.optim.SGD(peers[1].parameters(), lr=0.05, momentum=0.9, nesterov=True)]
train_x, train_y = checker_images(2500)
test_x, test_y = checker_images(1000)


def mutual_step(x, y, weight):
    outs = [peer(x) for peer in peers]
    logs = [F.log_softmax(o, dim=1) for o in outs]
    losses = []
    for me, other in ((0, 1), (1, 0)):
        imitation = F.kl_div(logs[me], logs[other].detach(), log_target=True, reduction="batchmean")
        losses.append(F.nll_loss(logs[me], y) + weight * imitation)
    for opt, loss in zip(optimizers, losses):
        opt.zero_grad()
        loss.backward()
        opt.step()
    return [l.item() for l in losses]


for epoch in range(10):
    for p in peers:
        p.train()
    weight = min(1.0, epoch / 4)
    for idx in torch.randperm(len(train_x)).split(50):
        losses = mutual_step(train_x[idx], train_y[idx], weight)
    if epoch % 2 == 1:
        for p in peers:
            p.eval()
        with torch.no_grad():
            probs = [p(test_x).softmax(1) for p in peers]
        accs = [(q.argmax(1) == test_y).float().mean().item() for q in probs + [sum(probs)]]
        print(f"epoch {epoch} losses {losses[0]:.3f} {losses[1]:.3f} accuracy {accs[0]:.3f} {accs[1]:.3f} together {accs[2]:.3f}")
""",
)
