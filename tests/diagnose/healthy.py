"""Healthy programs that look suspicious.

Invariant: each runs by itself and trains as its author meant.
"""

# ruff: noqa: E501  (a change of a program is one string)

from .bases import BASES, HEAD

HEALTHY: dict[str, str] = {}


def like(name: str, base: str, *changes: tuple[str, str]) -> None:
    """Enter a healthy program that differs from a base."""
    text = BASES[base]
    for old, new in changes:
        assert old in text, (name, old)
        text = text.replace(old, new, 1)
    HEALTHY[name] = text


like(
    "accumulation",
    "regression",
    (
        "    loss = F.mse_loss(pred, y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n",
        "    loss = F.mse_loss(pred, y)\n    (loss / 4).backward()\n    if step % 4 == 3:\n        opt.step()\n        opt.zero_grad()\n",
    ),
)
like(
    "momentum by hand",
    "regression",
    (
        "    opt.zero_grad()\n",
        "    for p in net.parameters():\n        if p.grad is not None:\n            p.grad.mul_(0.5)\n",
    ),
)
like("zeros kept", "classifier", ("opt.zero_grad()", "opt.zero_grad(set_to_none=False)"))
like(
    "clipping",
    "recurrent",
    ("    opt.step()", "    nn.utils.clip_grad_value_(net.parameters(), 0.5)\n    opt.step()"),
)
like("frozen norms", "vision", ("    model.train()\n", "    model.train()\n    model.norm.eval()\n"))
like(
    "frozen body",
    "tuning",
    (
        "model = Model()\n",
        "model = Model()\nwarm = torch.optim.Adam(model.parameters(), lr=1e-2)\nfor i in range(40):\n    warm.zero_grad()\n    F.cross_entropy(model(X), Y).backward()\n    warm.step()\n",
    ),
    ("body_opt =", "for p in model.body[0].parameters():\n    p.requires_grad_(False)\nbody_opt ="),
)
like("dropout kept on", "classifier", ("    net.eval()\n", "    net.eval()\n    net[2].train()\n"))
like(
    "no grad generator",
    "gan",
    (
        "    fake = G(torch.randn(32, 4))\n",
        "    with torch.no_grad():\n        old = G(torch.randn(32, 4))\n    fake = G(torch.randn(32, 4))\n",
    ),
    ("D(fake.detach())", "D(old)"),
)
like(
    "critic in eval",
    "gan",
    ("nn.LeakyReLU(0.2)", "nn.Dropout(0.1)"),
    ("    opt_g.zero_grad()\n", "    D.eval()\n    opt_g.zero_grad()\n"),
    ("    real =", "    D.train()\n    real ="),
)
like(
    "training accuracy",
    "classifier",
    (
        "        opt.step()\n",
        "        opt.step()\n        seen = (out.argmax(1) == y).float().mean().item()\n",
    ),
)
like("log softmax twice", "tuning", ("loss = F.nll_loss(logp, y)", "loss = F.cross_entropy(logp, y)"))
like(
    "one batch by heart",
    "classifier",
    ("    for x, y in loader:\n", "    for x, y in [(X[:32], Y[:32])] * 8:\n"),
    ("order = Y[:256].argsort()\n", "order = torch.randperm(256)\n"),
)
like(
    "full batch",
    "regression",
    ("    i = torch.randint(0, 256, (32,))\n    x = X[i]\n    y = Y[i]\n", "    x = X\n    y = Y\n"),
)
like("large targets", "regression", (".sum(1) + 2", ".sum(1) * 10 + 200"), ("lr=0.01", "lr=1e-3"))
like(
    "warm up",
    "language",
    ("lr=1e-2)\n", "lr=1e-2)\nsched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 10))\n"),
    ("    opt.step()\n", "    opt.step()\n    sched.step()\n"),
)
like(
    "one cycle",
    "classifier",
    (
        "total = 0.0\n",
        "decay = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, total_steps=60)\ntotal = 0.0\n",
    ),
    ("        opt.step()\n", "        opt.step()\n        decay.step()\n"),
)
like(
    "cosine by step",
    "regression",
    ("history = []\n", "history = []\nsched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 80)\n"),
    ("    opt.step()\n", "    opt.step()\n    sched.step()\n"),
)
like(
    "tanh actions",
    "regression",
    ("nn.Linear(32, 1))", "nn.Linear(32, 1), nn.Tanh())"),
    (".sum(1) + 2", ".sum(1).tanh() * 0.8"),
)
like("zero head", "classifier", ("opt = torch", "nn.init.zeros_(net[3].weight)\nopt = torch"))
like("small step", "tuning", ("lr=0.05", "lr=1e-3"), ("lr=1e-2", "lr=1e-3"))
like(
    "auxiliary detach",
    "autoencoder",
    (
        "    loss = ((back - x) ** 2).mean()\n",
        "    loss = ((back - x) ** 2).mean() + 0.1 * (code - code.detach().round()).pow(2).mean()\n",
    ),
)
like(
    "straight through",
    "autoencoder",
    ("code = encoder(x)", "code = encoder(x)\n    code = code + (code.sign() - code).detach()"),
)
like("weight decay", "language", ("lr=1e-2)", "lr=1e-2, weight_decay=0.1)"))
like(
    "saliency",
    "classifier",
    (
        "    net.eval()\n",
        "    net.eval()\n    probe = X[:4].clone().requires_grad_()\n    net(probe).sum().backward()\n    net.zero_grad()\n",
    ),
)
like(
    "train mode critic",
    "policy",
    ("    rewards =", "    entropy = dist.entropy().mean()\n    rewards ="),
    (".mean()\n    optim", ".mean() - 0.01 * entropy\n    optim"),
)
like("noise in data", "vision", ("* 0.3\n", "* 0.9\n"))
like(
    "rows compared",
    "text",
    (
        "    loss = F.cross_entropy(scores, labels)\n",
        "    same = (labels.unsqueeze(1) == labels).float()\n    loss = F.cross_entropy(scores, labels) + 0 * (scores[:, 0].unsqueeze(1) - scores[:, 0]).mul(same).mean()\n",
    ),
)

HEALTHY["contrastive"] = (
    HEAD
    + """\
X = torch.randn(128, 8)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(50):
    x = X[torch.randint(0, 128, (16,))]
    a = F.normalize(net(x + 0.05 * torch.randn(16, 8)), dim=1)
    b = F.normalize(net(x + 0.05 * torch.randn(16, 8)), dim=1)
    scores = a @ b.T / 0.2
    loss = (F.cross_entropy(scores, torch.arange(16)) + F.cross_entropy(scores.T, torch.arange(16))) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
HEALTHY["by hand"] = (
    HEAD
    + """\
X = torch.randn(100, 3)
Y = X @ torch.tensor([[1.0], [2.0], [-1.0]])
w = torch.zeros(3, 1, requires_grad=True)
for step in range(60):
    loss = ((X @ w - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
"""
)
HEALTHY["teacher"] = (
    HEAD
    + """\
X = torch.randn(200, 6)
teacher = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(student.parameters(), lr=1e-2)
for step in range(60):
    x = X[torch.randint(0, 200, (32,))]
    with torch.no_grad():
        soft = F.softmax(teacher(x) / 2, dim=1)
    loss = F.kl_div(F.log_softmax(student(x) / 2, dim=1), soft, reduction="batchmean") * 4
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
HEALTHY["attention first"] = (
    HEAD
    + """\
X = torch.randn(200, 7, 5)
Y = X[:, :, 0].max(1).values
score, value = nn.Linear(5, 1), nn.Linear(5, 1)
opt = torch.optim.Adam([*score.parameters(), *value.parameters()], lr=2e-2)
for step in range(60):
    i = torch.randint(0, 200, (16,))
    x = X[i].transpose(0, 1)
    weights = torch.softmax(score(x).squeeze(2), dim=0)
    pred = (weights * value(x).squeeze(2)).sum(0)
    loss = F.mse_loss(pred, Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
HEALTHY["average of weights"] = (
    HEAD
    + """\
X = torch.randn(160, 5)
Y = X.sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.1), nn.Linear(16, 1))
import copy
ema = copy.deepcopy(net)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(50):
    i = torch.randint(0, 160, (32,))
    loss = F.mse_loss(net(X[i]), Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), net.parameters()):
            a.mul_(0.9).add_(b, alpha=0.1)
ema.eval()
with torch.no_grad():
    check = F.mse_loss(ema(X), Y).item()
"""
)
HEALTHY["masked attention"] = (
    HEAD
    + """\
X = torch.randn(96, 6, 4)
L = torch.randint(2, 7, (96,))
Y = (X[:, 0].sum(1) > 0).long()
q, out = nn.Linear(4, 1), nn.Linear(4, 2)
opt = torch.optim.Adam(list(q.parameters()) + list(out.parameters()), lr=1e-2)
for step in range(50):
    i = torch.randint(0, 96, (24,))
    hidden = torch.arange(6).unsqueeze(0) >= L[i].unsqueeze(1)
    s = q(X[i]).squeeze(2).masked_fill(hidden, float("-inf"))
    h = (s.softmax(1).unsqueeze(2) * X[i]).sum(1)
    loss = F.cross_entropy(out(h), Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
HEALTHY["short run"] = (
    HEAD
    + """\
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    F.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 2, (8,))).backward()
    opt.step()
"""
)
HEALTHY["second order"] = (
    HEAD
    + """\
w = torch.tensor([2.0, -1.0], requires_grad=True)
opt = torch.optim.LBFGS([w], lr=0.5)
def closure():
    opt.zero_grad()
    loss = (w - torch.tensor([1.0, 3.0])).pow(2).sum() + w.pow(4).sum()
    loss.backward()
    return loss
for step in range(10):
    opt.step(closure)
"""
)
HEALTHY["hard task"] = (
    HEAD
    + """\
X = torch.randn(400, 10)
Y = torch.randint(0, 2, (400,))
net = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(25):
    i = torch.randint(0, 400, (16,))
    loss = F.cross_entropy(net(X[i]), Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
TUNED = (
    HEAD
    + """\
X = torch.randn(300, 8)
Y = (X[:, 0] * X[:, 1] > 0).long()
body = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
head = nn.Linear(16, 2)
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.01)
for step in range(60):
    i = torch.randint(0, 300, (32,))
    loss = F.cross_entropy(head(body(X[i])), Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
body.eval()
"""
)
TUNES = """\
for step in range(60):
    i = torch.randint(0, 300, (8,))
    loss = F.cross_entropy(head(body(X[i] * 1.5)), Y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
HEALTHY["tuned with the statistics it has"] = (
    f"{TUNED}opt = torch.optim.SGD(body.parameters(), lr=0.01)\n{TUNES}"
)
HEALTHY["frozen, and one layer thawed"] = (
    f"{TUNED}body.requires_grad_(False)\nopt = torch.optim.Adam(head.parameters(), lr=0.01)\n"
    f"body[3].requires_grad_(True)\nopt.add_param_group({{'params': body[3].parameters(), 'lr': 0.001}})\n{TUNES}"
)
HEALTHY["a table that is won late"] = (
    HEAD
    + """\
Q = torch.zeros(60, 3, requires_grad=True)
opt = torch.optim.SGD([Q], lr=0.5)
for step in range(400):
    s, a = step % 59, step % 3
    reward = 1.0 if step > 300 and s == 58 else 0.0
    with torch.no_grad():
        wanted = reward + 0.9 * Q[s + 1].max() * (s < 58)
    loss = (Q[s, a] - wanted) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
HEALTHY["with and without norms"] = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self, normed):
        super().__init__()
        self.normed = normed
        self.norm = nn.BatchNorm1d(6)
        self.out = nn.Linear(6, 1)
    def forward(self, x):
        return self.out(self.norm(x) if self.normed else x)
X = torch.randn(200, 6)
Y = X.sum(1, keepdim=True)
for net in (Net(False), Net(True)):
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(40):
        i = torch.randint(0, 200, (32,))
        loss = F.mse_loss(net(X[i]), Y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
