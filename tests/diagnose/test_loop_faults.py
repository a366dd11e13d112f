"""Faults of a loop, its data, its schedule and its terms, each beside the mended program, on both engines."""

import contextlib
import io
import linecache
import warnings

import pytest
import torch  # noqa: F401  (the programs import it)

from vistorch.debug.diagnose import Diagnosis
from vistorch.debug.diagnose.trial import standby

from .harness import judge, run
from .test_cures import diagnosed, linux

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"

CLASSES = (
    HEAD
    + """\
centres = torch.randn(6, 16)
y = torch.randint(0, 6, (600,))
x = centres[y] + 0.7 * torch.randn(600, 16)
model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 6))
opt = torch.optim.SGD(model.parameters(), lr=0.02)
# schedule
for epoch in range(12):
    for i in range(0, 600, 50):
        opt.zero_grad()
        loss = F.cross_entropy(model(x[i:i + 50]), y[i:i + 50])
        loss.backward()
        opt.step()
        # batch
    # epoch
"""
)


def scheduled(made="", batch="", epoch=""):
    """The program with a schedule."""
    text = CLASSES.replace("# schedule\n", made + "\n" if made else "")
    text = text.replace("        # batch\n", f"        {batch}\n" if batch else "")
    return text.replace("    # epoch\n", f"    {epoch}\n" if epoch else "")


CYCLE = "sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.05, total_steps=144, div_factor=1000)"
COSINE = "sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max={})"
WARM = "sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: {})"
EPOCHS = "for epoch in range(12):"
HALF = "opt.param_groups[0]['lr'] *= 0.5"

ITEMS = (
    HEAD
    + """\
from torch.utils.data import DataLoader, Dataset
class Spectra(Dataset):
    def __init__(self, n):
        self.labels = torch.randint(0, 3, (n,))
        peaks = torch.tensor([0.25, 0.5, 0.75])[self.labels].unsqueeze(1)
        self.data = torch.exp(-((torch.linspace(0, 1, 40) - peaks) ** 2) / 0.01)
        self.store = torch.zeros(2, 40)
        self.known = set()
    def __len__(self):
        return len(self.labels)
    def __getitem__(self, i):
        x = self.data[i]
        CHANGE
        return x, self.labels[i]
loader = DataLoader(Spectra(80), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(40, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

NOISE = (
    HEAD
    + """\
def noisy(batch):
    SEED
    return batch + 0.5 * torch.randn_like(batch)
signals = torch.sin(torch.linspace(0, 6.28, 24) + torch.rand(320, 1) * 6.28)
net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 24))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(6):
    for clean in signals.split(64):
        loss = F.mse_loss(net(noisy(clean)), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

ROWS = (
    HEAD
    + """\
level = torch.randn(400, 1)
x = 20 + 5 * level + 1.5 * torch.randn(400, 8)
y = TARGET
mean = x.mean(dim=DIM, keepdim=True)
x = (x - mean) / x.std(dim=DIM, keepdim=True)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    order = torch.randperm(400)
    for i in range(0, 400, 50):
        pick = order[i:i + 50]
        loss = F.mse_loss(net(x[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

ATTENTION = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(12, 64), nn.Embedding(10, 64)
        self.q, self.k, self.v = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 64)
        self.head = nn.Linear(64, 12)
    def forward(self, t):
        h = self.tok(t) + self.pos(torch.arange(10))
        q, k, v = self.q(h), self.k(h), self.v(h)
        scores = SCORES
        return self.head(h + torch.softmax(scores, dim=-1) @ v)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(20):
    t = torch.randint(0, 12, (16, 10))
    loss = F.cross_entropy(net(t).reshape(-1, 12), t.flip(1).reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

PENALTY = (
    HEAD
    + """\
G = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
C = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
oc = torch.optim.Adam(C.parameters(), lr=1e-3, betas=(0.0, 0.9))
for step in range(12):
    real, fake = torch.randn(32, 2) + 1, G(torch.randn(32, 3)).detach()
    mid = (0.5 * real + 0.5 * fake).requires_grad_(True)
    slope = torch.autograd.grad(C(mid).sum(), midOPTIONS)[0]
    term = TERM
    loss = C(fake).mean() - C(real).mean() + term
    oc.zero_grad()
    loss.backward()
    oc.step()
    loss_g = -C(G(torch.randn(32, 3))).mean()
    og.zero_grad()
    loss_g.backward()
    og.step()
"""
)
GAP = "10.0 * ((slope.norm(2, dim=1) - 1) ** 2).mean()"

MASKED = (
    HEAD
    + """\
X = torch.sigmoid(torch.randn(300, 3) @ torch.randn(3, 18))
net = nn.Sequential(nn.Linear(18, 8), nn.Tanh(), nn.Linear(8, 18))
opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
for epoch in range(6):
    for xb in ORDERED.split(50):
        out = net(INPUT)
        loss = F.mse_loss(out, xb)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)


def masked(given, ordered="X[torch.randperm(300)]"):
    """An autoencoder that is given changed inputs."""
    return MASKED.replace("ORDERED", ordered).replace("INPUT", given)


def on_torch(name, text):
    """What is said of a program that runs on PyTorch itself."""
    file = f"<real {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    diagnosis = Diagnosis()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with diagnosis:
            exec(compile(text, file, "exec"), {"__name__": "__main__"})
    return diagnosis.findings(), diagnosis.failures


FAULTY = {
    "made for batches, stepped by epoch": (scheduled(CYCLE, epoch="sched.step()"), "rate", "sched.step()"),
    "cosine for batches": (scheduled(COSINE.format(144), epoch="sched.step()"), "rate", "sched.step()"),
    "cosine for epochs": (scheduled(COSINE.format(12), batch="sched.step()"), "rate", "sched.step()"),
    "cosine for epochs, by name": (
        scheduled(f"EPOCHS = 12\n{COSINE.format('EPOCHS')}", batch="sched.step()").replace(
            EPOCHS, "for epoch in range(1, EPOCHS + 1):"
        ),
        "rate",
        "sched.step()",
    ),
    "a warm-up that is cut off": (
        scheduled(WARM.format("min(1.0, (step + 1) // 30)"), batch="sched.step()"),
        "rate as factor",
        "//",
    ),
    "a warm-up that is cut off, in a function": (
        scheduled(
            "warm = 40\ndef factor(step):\n    if step >= 60:\n        return 0.9\n"
            "    return min(step // warm, 1)\nsched = torch.optim.lr_scheduler.LambdaLR(opt, factor)",
            batch="sched.step()",
        ),
        "rate as factor",
        "//",
    ),
    "halved with every batch": (scheduled(batch=HALF), "rate", "*= 0.5"),
    "a sample changed in place": (ITEMS.replace("CHANGE", "x += torch.randn(40)"), "worn", "x += "),
    "a sample scaled in place": (ITEMS.replace("CHANGE", "x.mul_(0.5)"), "worn", "x.mul_"),
    "seeded with every batch": (
        NOISE.replace("SEED", "torch.manual_seed(3)"),
        "seed again",
        "manual_seed(3)",
    ),
    "the answer taken off": (
        ROWS.replace("DIM", "1").replace("TARGET", "2 * level + 0.2 * torch.randn(400, 1)"),
        "by row",
        "mean = ",
    ),
    "scores made larger": (
        ATTENTION.replace("SCORES", "q @ k.transpose(1, 2) * 64 ** 0.5"),
        "scaled up",
        "scores = ",
    ),
    "scores divided by less": (
        ATTENTION.replace("SCORES", "q @ k.transpose(1, 2) / 64 ** -0.5"),
        "scaled up",
        "scores = ",
    ),
    "a penalty without its graph": (
        PENALTY.replace("OPTIONS", "").replace("TERM", GAP),
        "term of gradients",
        "slope = ",
    ),
}

HEALTHY = {
    "made for batches": scheduled(CYCLE, batch="sched.step()"),
    "made for epochs": scheduled(COSINE.format(12), epoch="sched.step()"),
    "halved with every epoch": scheduled(epoch=HALF),
    "a cosine that goes up and down": scheduled(COSINE.format(18), batch="sched.step()"),
    "a warm-up": scheduled(WARM.format("min(1.0, step / 30)"), batch="sched.step()"),
    "a warm-up in steps": scheduled(WARM.format("min(1.0, step // 10 / 4)"), batch="sched.step()"),
    "a late start": scheduled(
        WARM.format("0.0 if step < 20 else 0.5 ** (step // 100)"), batch="sched.step()"
    ),
    "a late start, by its power": scheduled(
        WARM.format("0.0 if step < 50 else 0.5 ** (step // 50 - 1)"), batch="sched.step()"
    ),
    "a copy changed": ITEMS.replace("CHANGE", "x = x + torch.randn(40)"),
    "a clone changed": ITEMS.replace("CHANGE", "x = x.clone(); x += torch.randn(40)"),
    "bounds again": ITEMS.replace("CHANGE", "x.clamp_(0, 1)"),
    "a buffer that is filled": ITEMS.replace(
        "CHANGE", "self.store[0].copy_(x); x = self.store[0]; x += 0.1; x = x.clone()"
    ),
    "a change that is made once": ITEMS.replace(
        "CHANGE", "_ = None if i in self.known else (self.known.add(i), x.mul_(2))"
    ),
    "seeds by their name": NOISE.replace(
        "SEED", "torch.manual_seed(seed=1000 * epoch + int(100 * batch[0, 0]))"
    ),
    "no seed": NOISE.replace("SEED", "pass"),
    "a seed for each epoch": NOISE.replace("    SEED\n", "").replace(
        "    for clean", "    torch.manual_seed(epoch)\n    for clean"
    ),
    "columns": ROWS.replace("DIM", "0").replace("TARGET", "2 * level"),
    "rows that do not tell": ROWS.replace("DIM", "1").replace("TARGET", "torch.randn(400, 1)"),
    "scores divided": ATTENTION.replace("SCORES", "q @ k.transpose(1, 2) / 64 ** 0.5"),
    "normalised scores": ATTENTION.replace(
        "SCORES", "F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(1, 2) * 8"
    ),
    "a penalty with its graph": PENALTY.replace("OPTIONS", ", create_graph=True").replace("TERM", GAP),
    "a weight of gradients": PENALTY.replace("OPTIONS", "").replace(
        "TERM", "slope.norm() * C(real).pow(2).mean()"
    ),
    "masked": masked("xb * (torch.rand(50, 1) > 0.1)"),
    "tied weights measured without gradients": masked("xb").replace(
        "        opt.step()\n",
        "        opt.step()\n        with torch.no_grad():\n"
        "            F.mse_loss(torch.tanh(xb @ net[0].weight.t()) @ net[0].weight, xb).item()\n",
    ),
    "noise": masked("xb + 0.1 * torch.randn_like(xb)"),
}


@pytest.mark.parametrize("name", FAULTY)
@pytest.mark.parametrize("real", [False, True], ids=["vistorch", "torch"])
def test_a_fault_of_a_loop_is_placed(name, real):
    text, rule, word = FAULTY[name]
    line = next(i for i, one in enumerate(text.splitlines(), 1) if word in one)
    if real:
        found, failures = on_torch(name, text)
    else:
        said = run(name, text)
        found, failures = said.findings, said.failures
        assert judge(said, (rule,), line) == (True, True), [(f.rule, f.where, f.text) for f in found]
    assert not failures
    assert [(f.rule, f.place.line) for f in found[:1]] == [(rule, line)], [(f.rule, f.where) for f in found]


@linux
@pytest.mark.parametrize("name", [name for name, (_, rule, _) in FAULTY.items() if rule != "by row"])
def test_its_cure_is_tried_and_mends(name, monkeypatch):
    monkeypatch.setattr(standby, "SECONDS", 60.0)
    record, _ = diagnosed(f"{name}, cured", FAULTY[name][0])
    one = record.findings[0]
    assert one.rule == FAULTY[name][1] and one.cure, (one.rule, one.cure)
    assert one.tried is not None and not one.tried.refused and "gone" in one.tried.after


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("real", [False, True], ids=["vistorch", "torch"])
def test_a_healthy_one_beside_it_is_not_accused(name, real):
    if real:
        found, failures = on_torch(name, HEALTHY[name])
    else:
        said = run(name, HEALTHY[name])
        found, failures = said.findings, said.failures
        assert not said.error
    said_of = [f.rule for f in found if name != "rows that do not tell" or f.rule == "by row"]
    assert not said_of and not failures


def test_an_order_of_the_targets_alone_is_still_a_fault():
    text = masked("xb + 0.1").replace("net = nn", "Y = X[torch.randperm(300)]\nnet = nn")
    text = text.replace("F.mse_loss(out, xb)", "F.mse_loss(out, X[50 * k:50 * k + 50])")
    text = text.replace("for xb in X[torch.randperm(300)].split(50):", "for k, xb in enumerate(Y.split(50)):")
    assert "apart" in [f.rule for f in run("apart still", text).findings]
