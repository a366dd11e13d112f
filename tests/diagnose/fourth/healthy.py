"""Programs that only look suspicious: each is right as it is.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "accumulate",
    """\
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(4)
ACCUM = 8
x = torch.randn(512, 10)
y = torch.tanh(x @ torch.randn(10, 1))
loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(36):
    running = 0.0
    for k, (xb, yb) in enumerate(loader, start=1):
        loss = nn.functional.mse_loss(model(xb), yb)
        (loss / ACCUM).backward()
        running += loss.item()
        if k % ACCUM:
            continue
        optimizer.step()
        optimizer.zero_grad()
    if epoch % 6 == 5:
        print(epoch + 1, running / len(loader))
""",
)

healthy(
    "adversarial",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
EPS, K = 0.3, 3
proto = torch.randn(4, 20)


def get(n):
    y = torch.randint(0, 4, (n,))
    return proto[y] + 0.4 * torch.randn(n, 20), y


def attack(net, x, y):
    d = torch.zeros_like(x, requires_grad=True)
    for _ in range(K):
        g, = torch.autograd.grad(F.cross_entropy(net(x + d), y), d)
        with torch.no_grad():
            d += EPS / 2 * g.sign()
            d.clamp_(-EPS, EPS)
    return (x + d).detach()


net = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(201):
    x, y = get(64)
    x = attack(net, x, y)
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        print(step, round(loss.item(), 4))
x, y = get(300)
print("clean", (net(x).argmax(1) == y).float().mean().item(),
      "attacked", (net(attack(net, x, y)).argmax(1) == y).float().mean().item())
""",
)

healthy(
    "big lr",
    """\
import torch
import torch.nn as nn

torch.manual_seed(11)
# displacement in metres, time in milliseconds
t = torch.linspace(0, 1, 200)[:, None]
d = 0.004 * torch.sin(6 * t) + 0.0001 * torch.randn(200, 1)

freq = torch.tensor([6.0])
amp = torch.zeros(1, requires_grad=True)
off = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([{"params": [amp], "lr": 1.5}, {"params": [off], "lr": 0.4}])
for step in range(61):
    fit = 0.01 * amp * torch.sin(freq * t) + 0.01 * off
    loss = 1e4 * ((fit - d) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(step, f"loss {loss.item():.5f} amplitude {0.01 * amp.item():.5f}")
""",
)

healthy(
    "ema teacher",
    """\
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(18)


def moons(n):
    y = torch.randint(0, 2, (n,))
    a = 3.1416 * torch.rand(n)
    x = torch.stack([torch.cos(a) + y, torch.sin(a) * (1 - 2 * y) + 0.4 * y], 1)
    return x + 0.08 * torch.randn(n, 2), y


student = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=4e-3)
few_x, few_y = moons(12)
pool, _ = moons(500)
for step in range(401):
    u = pool[torch.randint(0, 500, (64,))]
    sup = F.cross_entropy(student(few_x), few_y)
    con = F.mse_loss(student(u + 0.1 * torch.randn_like(u)).softmax(1), teacher(u).softmax(1))
    opt.zero_grad()
    (sup + min(1.0, step / 200) * con).backward()
    opt.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.lerp_(s, 0.02)
    if step % 80 == 0:
        print(step, f"supervised {sup.item():.4f} consistency {con.item():.5f}")
x, y = moons(500)
print("teacher accuracy", (teacher(x).argmax(1) == y).float().mean().item())
""",
)

healthy(
    "frozen bn",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


def stripes(n, classes):
    y = torch.randint(0, classes, (n,))
    g = torch.arange(8).float()
    waves = torch.stack([torch.sin(g * (0.6 + 0.7 * k)) for k in range(classes)])
    x = waves[y][:, None, None, :].expand(n, 1, 8, 8) + 0.5 * torch.randn(n, 1, 8, 8)
    return x, y


backbone = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten())
head = nn.Linear(512, 3)
opt = torch.optim.Adam(list(backbone.parameters()) + list(head.parameters()), lr=3e-3)
for step in range(60):
    x, y = stripes(64, 3)
    loss = F.cross_entropy(head(backbone(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("pretrained", round(loss.item(), 4))

# new task, tiny batches: the backbone stays as it is
backbone.eval()
for p in backbone.parameters():
    p.requires_grad_(False)
head = nn.Linear(512, 4)
opt = torch.optim.Adam(head.parameters(), lr=3e-3)
for step in range(301):
    x, y = stripes(4, 4)
    loss = F.cross_entropy(head(backbone(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 60 == 0:
        print(step, round(loss.item(), 4))
x, y = stripes(400, 4)
with torch.no_grad():
    print("accuracy", (head(backbone(x)).argmax(1) == y).float().mean().item())
""",
)

healthy(
    "gauss nll",
    """\
import torch
from torch import nn

torch.manual_seed(2)


class Hetero(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 32), nn.Tanh())
        self.mean = nn.Linear(32, 1)
        self.log_std = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_std(h).clamp(-6, 2)


def nll(m, ls, y):
    return (ls + 0.5 * ((y - m) / ls.exp()) ** 2).mean()


x = torch.rand(500, 1) * 2 - 1
sigma = 0.02 + 0.08 * (x > 0).float()
y = 0.3 * x ** 2 + sigma * torch.randn(500, 1)
model = Hetero()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(400):
    m, ls = model(x)
    loss = nll(m, ls, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 50 == 49:
        print(f"epoch {epoch + 1} loss {loss.item():.3f}")
with torch.no_grad():
    _, ls = model(torch.tensor([[-0.5], [0.5]]))
print("std left and right of zero", ls.exp().flatten().tolist())
""",
)

healthy(
    "lbfgs",
    """\
import torch
import torch.nn as nn

torch.manual_seed(19)
# physics informed: u' = -2 u, u(0) = 1; no data at all
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
t = torch.linspace(0, 2, 40)[:, None].requires_grad_()
zero = torch.zeros(1, 1)
opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=10, line_search_fn="strong_wolfe")


def closure():
    opt.zero_grad()
    u = net(t)
    du, = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = ((du + 2 * u) ** 2).mean() + (net(zero) - 1).pow(2).sum()
    loss.backward()
    return loss


for it in range(12):
    loss = opt.step(closure)
    if it % 2 == 1:
        print(it + 1, f"{loss.item():.2e}")
with torch.no_grad():
    print("largest error", (net(t) - torch.exp(-2 * t)).abs().max().item())
""",
)

healthy(
    "manual sgd",
    """\
import torch
torch.manual_seed(17)

x = torch.randn(300, 5)
w_true = torch.tensor([1., -2., 0., 3., .5])
y = (x @ w_true + .3 > 0).float()

w = torch.zeros(5, requires_grad=True)
b = torch.zeros((), requires_grad=True)
vel = [torch.zeros(5), torch.zeros(())]
lr, mom = .5, .9
for step in range(200):
    z = x @ w + b
    loss = (torch.clamp(z, min=0) - z * y + torch.log1p(torch.exp(-z.abs()))).mean()
    grads = torch.autograd.grad(loss, [w, b])
    with torch.no_grad():
        for p, v, g in zip([w, b], vel, grads):
            v.mul_(mom).add_(g)
            p.sub_(lr * v)
    if step % 40 == 0 or step == 199:
        print(step, round(loss.item(), 4), "accuracy", ((z > 0).float() == y).float().mean().item())
""",
)

healthy(
    "mc dropout",
    """\
import torch
import torch.nn as nn

torch.manual_seed(1)
x = torch.cat([torch.rand(120, 1) * 2 - 3, torch.rand(120, 1) * 2 + 1])
y = torch.sin(x) + 0.05 * torch.randn(240, 1)

net = nn.Sequential(
    nn.Linear(1, 64), nn.ReLU(), nn.Dropout(0.1),
    nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(600):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    if step % 100 == 0 or step == 599:
        print(step, round(loss.item(), 4))

# uncertainty: many stochastic passes
net.train()
grid = torch.tensor([[-2.0], [0.0], [2.0], [6.0]])
with torch.no_grad():
    draws = torch.stack([net(grid) for _ in range(200)])
for g, m, s in zip(grid[:, 0].tolist(), draws.mean(0)[:, 0].tolist(), draws.std(0)[:, 0].tolist()):
    print(f"x {g:5.1f}  mean {m:6.3f}  std {s:.3f}")
""",
)

healthy(
    "overfit batch",
    """\
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(14)
full = TensorDataset(torch.randn(512, 1, 8, 8), torch.randint(0, 10, (512,)))
loader = DataLoader(full, batch_size=16, shuffle=False)

# sanity check before the long run: can the network learn one batch by heart?
xb, yb = next(iter(loader))
model = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(768, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(101):
    loss = nn.functional.cross_entropy(model(xb), yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, round(loss.item(), 4))
assert loss.item() < 0.05, "cannot even memorise one batch"
print("ok")
""",
)

healthy(
    "padding",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(20)
PAD, IGN = 0, -100


def tagged(n):
    \"\"\"tag 1 where a token is larger than the one before\"\"\"
    xs, ys = [], []
    for _ in range(n):
        k = int(torch.randint(3, 11, (1,)))
        s = torch.randint(1, 15, (k,))
        xs.append(s)
        ys.append(torch.cat([torch.tensor([IGN]), (s[1:] > s[:-1]).long()]))
    pad = nn.utils.rnn.pad_sequence
    return pad(xs, batch_first=True, padding_value=PAD), pad(ys, batch_first=True, padding_value=IGN)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(15, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, 2)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


x, y = tagged(240)
net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(16):
    tot = 0.0
    for b in torch.randperm(240).split(24):
        loss = F.cross_entropy(net(x[b]).flatten(0, 1), y[b].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 10
    if epoch % 3 == 0:
        print(epoch, round(tot, 4))
with torch.no_grad():
    hit = (net(x).argmax(2) == y)[y != IGN].float().mean().item()
print("tag accuracy", hit)
""",
)

healthy(
    "pca net",
    """\
import torch
import torch.nn as nn

torch.manual_seed(6)
basis = torch.linalg.qr(torch.randn(12, 3))[0]
data = torch.randn(400, 3) * torch.tensor([3.0, 2.0, 1.0]) @ basis.T + 0.05 * torch.randn(400, 12)
data = data - data.mean(0)

model = nn.Sequential(nn.Linear(12, 3, bias=False), nn.Linear(3, 12, bias=False))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(601):
    loss = nn.functional.mse_loss(model(data), data)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 5))
span = torch.linalg.qr(model[1].weight.detach())[0]
print("overlap with the true subspace", torch.linalg.svdvals(span.T @ basis).min().item())
""",
)

healthy(
    "reinforce",
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(16)
# contextual bandit: four contexts, three arms
payoff = torch.tensor([[.1, .9, .2], [.8, .1, .1], [.2, .3, .9], [.1, .8, .3]])
policy = nn.Linear(4, 3)
opt = torch.optim.Adam(policy.parameters(), lr=0.03)
avg = 0.5
for step in range(401):
    ctx = torch.randint(0, 4, (32,))
    dist = Categorical(logits=policy(torch.eye(4)[ctx]))
    arm = dist.sample()
    reward = torch.bernoulli(payoff[ctx, arm])
    loss = -((reward - avg) * dist.log_prob(arm)).mean() - 0.01 * dist.entropy().mean()
    avg = 0.9 * avg + 0.1 * reward.mean().item()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 80 == 0:
        print(step, f"loss {loss.item():+.4f} average reward {avg:.3f}")
""",
)

healthy(
    "reversal",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.lam * grad, None


def domain(n, shift):
    y = torch.randint(0, 2, (n,))
    x = torch.randn(n, 6) * 0.5
    x[:, 0] += 2.0 * y.float() - 1
    x[:, 1] += shift
    return x, y


feat = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 8))
label, dom = nn.Linear(8, 2), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam([*feat.parameters(), *label.parameters(), *dom.parameters()], lr=3e-3)
for it in range(501):
    (xs, ys), (xt, _) = domain(64, 0.0), domain(64, 2.0)
    f = feat(torch.cat([xs, xt]))
    side = torch.cat([torch.zeros(64), torch.ones(64)]).long()
    loss_y = F.cross_entropy(label(f[:64]), ys)
    loss_d = F.cross_entropy(dom(Reverse.apply(f, 1.0)), side)
    opt.zero_grad()
    (loss_y + loss_d).backward()
    opt.step()
    if it % 100 == 0:
        print(f"{it} label {loss_y.item():.3f} domain {loss_d.item():.3f}")
xt, yt = domain(500, 2.0)
with torch.no_grad():
    print("target accuracy", (label(feat(xt)).argmax(1) == yt).float().mean().item())
""",
)

healthy(
    "simsiam",
    """\
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(10)

class_means = torch.randn(3, 16)
def views(n):
    y = torch.randint(0, 3, (n,))
    base = class_means[y]
    return base + .4 * torch.randn(n, 16), base + .4 * torch.randn(n, 16), y

enc = nn.Sequential(nn.Linear(16, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8, bias=False), nn.BatchNorm1d(8, affine=False))
pred = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
opt = torch.optim.SGD([*enc.parameters(), *pred.parameters()], lr=.1, momentum=.9, weight_decay=1e-4)

def neg_cos(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()

for it in range(301):
    a, b, _ = views(96)
    za, zb = enc(a), enc(b)
    loss = .5 * neg_cos(pred(za), zb) + .5 * neg_cos(pred(zb), za)
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 60 == 0:
        print(it, f"loss {loss.item():.4f} spread {F.normalize(za, dim=1).std(0).mean().item():.3f}")

enc.eval()
x, _, y = views(400)
with torch.no_grad(): z = enc(x)
c = torch.stack([z[y == k].mean(0) for k in range(3)])
print("nearest centroid accuracy", (torch.cdist(z, c).argmin(1) == y).float().mean().item())
""",  # noqa: E501
)

healthy(
    "two losses",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 40), nn.ReLU())
        self.kind, self.size = nn.Linear(40, 3), nn.Linear(40, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.size(h).squeeze(-1)


def toys(n):
    x = torch.randn(n, 8)
    return x, x[:, :3].argmax(1), x[:, 3] * 2 + x[:, 4].abs()


net = TwoHeads()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(401):
    x, kind, size = toys(64)
    a, b = net(x)
    l1 = F.cross_entropy(a, kind)
    l2 = F.mse_loss(b, size)
    opt.zero_grad()
    l1.backward(retain_graph=True)
    l2.backward()
    opt.step()
    if step % 80 == 0:
        print(step, round(l1.item(), 4), round(l2.item(), 4))
""",
)

healthy(
    "vq",
    """\
import torch
from torch import nn

torch.manual_seed(9)


class VQ(nn.Module):
    def __init__(self, n_codes=8, d=2):
        super().__init__()
        self.book = nn.Parameter(torch.randn(n_codes, d))
        self.enc, self.dec = nn.Linear(6, d), nn.Sequential(nn.Linear(d, 24), nn.ReLU(), nn.Linear(24, 6))

    def forward(self, x):
        z = self.enc(x)
        idx = torch.cdist(z, self.book).argmin(1)
        e = self.book[idx]
        q = z + (e - z).detach()
        aux = ((e - z.detach()) ** 2).mean() + 0.25 * ((e.detach() - z) ** 2).mean()
        return self.dec(q), aux, idx


means = 2 * torch.randn(4, 6)
data = means[torch.randint(0, 4, (400,))] + 0.1 * torch.randn(400, 6)
net = VQ()
with torch.no_grad():
    net.book.copy_(net.enc(data[:8]))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(30):
    for b in torch.randperm(400).split(40):
        out, aux, idx = net(data[b])
        rec = ((out - data[b]) ** 2).mean()
        opt.zero_grad()
        (rec + aux).backward()
        opt.step()
    if epoch % 5 == 4:
        print(epoch + 1, f"recon {rec.item():.4f} codes used {len(idx.unique())}")
""",
)

healthy(
    "warmup",
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(15)
V, T, C = 10, 8, 32
WARM, TOTAL = 40, 240


class SortNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, C)
        nn.init.normal_(self.emb.weight, std=0.2)
        self.pos = nn.Parameter(torch.zeros(T, C))
        layer = nn.TransformerEncoderLayer(C, 4, 64, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(C, V)
        self.out.weight = self.emb.weight

    def forward(self, x):
        return self.out(self.enc(self.emb(x) + self.pos))


def factor(step):
    if step < WARM:
        return step / WARM
    return 0.5 * (1 + math.cos(math.pi * (step - WARM) / (TOTAL - WARM)))


net = SortNet()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)
for step in range(TOTAL):
    x = torch.randint(0, V, (32, T))
    y = x.sort(1)[0]
    loss = nn.functional.cross_entropy(net(x).transpose(1, 2), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 40 == 0 or step == TOTAL - 1:
        print(step, f"lr {sched.get_last_lr()[0]:.5f} loss {loss.item():.4f}")
""",
)

healthy(
    "wgan",
    """\
import torch
import torch.nn as nn

torch.manual_seed(13)
n_critic, clip = 4, 0.1


def sample(n):
    k = torch.randn(n, 1)
    return 2.0 + 0.5 * k


gen = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
critic = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
og = torch.optim.RMSprop(gen.parameters(), lr=1e-3)
oc = torch.optim.RMSprop(critic.parameters(), lr=3e-3)
for it in range(301):
    for _ in range(n_critic):
        lc = critic(gen(torch.randn(64, 3)).detach()).mean() - critic(sample(64)).mean()
        oc.zero_grad()
        lc.backward()
        oc.step()
        with torch.no_grad():
            for w in critic.parameters():
                w.clamp_(-clip, clip)
    lg = -critic(gen(torch.randn(64, 3))).mean()
    og.zero_grad()
    lg.backward()
    og.step()
    if it % 60 == 0:
        with torch.no_grad():
            f, r = gen(torch.randn(400, 3)).sort(0)[0], sample(400).sort(0)[0]
        print(f"{it} critic {lc.item():.4f} generator {lg.item():.4f} wasserstein {(f - r).abs().mean().item():.3f}")
""",
)

healthy(
    "zero residual",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b = nn.Linear(d, d), nn.Linear(d, d)
        nn.init.zeros_(self.b.weight)
        nn.init.zeros_(self.b.bias)

    def forward(self, x):
        return x + self.b(F.gelu(self.a(x)))


class ResMLP(nn.Module):
    def __init__(self, d=24, depth=6):
        super().__init__()
        self.inp = nn.Linear(2, d)
        self.blocks = nn.Sequential(*[Block(d) for _ in range(depth)])
        self.out = nn.Linear(d, 1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


x = torch.rand(300, 2) * 4 - 2
y = ((x ** 2).sum(1, keepdim=True) < 2).float()
net = ResMLP()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for it in range(251):
    logit = net(x)
    loss = F.binary_cross_entropy_with_logits(logit, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 50 == 0:
        print(it, f"loss {loss.item():.4f} acc {((logit > 0).float() == y).float().mean().item():.3f}")
""",
)
