"""What is kept, loaded, scheduled, used up or overwritten: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

FIT = (
    HEAD
    + """\
x = torch.randn(300, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
def build():
    return nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 2))
model = build()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
best, kept = float("inf"), None
for epoch in range(8):
    total = 0.0
    for i in range(0, 250, 50):
        loss = F.cross_entropy(model(x[i:i + 50]), y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        val_loss = F.cross_entropy(model(x[250:]), y[250:]).item()
        accuracy = (model(x[250:]).argmax(1) == y[250:]).float().mean().item()
    if val_loss < best:
        best = val_loss
        kept = copy.deepcopy(model.state_dict())
    # epoch
model.load_state_dict(kept)
"""
)
KEPT = "        kept = copy.deepcopy(model.state_dict())\n"
SAVER = "    if val_loss < best:\n        best = val_loss\n" + KEPT

AVERAGE = (
    HEAD
    + """\
class Average:
    def __init__(self, net, decay=0.9):
        self.net, self.decay = net, decay
        self.shadow = {name: p.detach().clone() for name, p in net.named_parameters()}
        self.aside = {}
    @torch.no_grad()
    def update(self):
        for name, p in self.net.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p, alpha=1 - self.decay)
    @torch.no_grad()
    def apply(self):
        for name, p in self.net.named_parameters():
            self.aside[name] = p.data.clone()
            p.copy_(self.shadow[name])
    @torch.no_grad()
    def restore(self):
        for name, p in self.net.named_parameters():
            p.copy_(self.aside[name])
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
average = Average(net)
x = torch.randn(240, 6)
y = x[:, :1] * 2 - x[:, 1:2]
for epoch in range(6):
    for i in range(0, 240, 40):
        loss = F.mse_loss(net(x[i:i + 40]), y[i:i + 40])
        opt.zero_grad()
        loss.backward()
        opt.step()
        average.update()
    average.apply()
    with torch.no_grad():
        print(F.mse_loss(net(x), y).item())
    average.restore()
"""
)

NORMED = (
    HEAD
    + """\
def build():
    return nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
net = build()
slow = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(240, 6) * 2 + 1
y = x[:, :1] * 2 - x[:, 1:2]
@torch.no_grad()
def follow(tau=0.2):
    for p, q in zip(net.parameters(), slow.parameters()):
        q.lerp_(p, tau)
    # buffers
    for p, q in zip(net.buffers(), slow.buffers()):
        q.copy_(p)
for epoch in range(6):
    net.train()
    for i in range(0, 240, 40):
        loss = F.mse_loss(net(x[i:i + 40]), y[i:i + 40])
        opt.zero_grad()
        loss.backward()
        opt.step()
        follow()
    slow.eval()
    with torch.no_grad():
        print(F.mse_loss(slow(x), y).item())
"""
)
COPIED = "    # buffers\n    for p, q in zip(net.buffers(), slow.buffers()):\n        q.copy_(p)\n"

LOADED = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.head = nn.Linear(24, 2)
    def forward(self, x):
        return self.head(self.body(x))
x = torch.randn(300, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
def fit(net, steps):
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(steps):
        at = torch.randint(0, 300, (40,))
        loss = F.cross_entropy(net(x[at]), y[at])
        opt.zero_grad()
        loss.backward()
        opt.step()
first = Net()
fit(first, 30)
state = {name: t.clone() for name, t in first.state_dict().items()}
net = Net()
# begin
net.load_state_dict(state, strict=False)
# after
fit(net, 12)
"""
)
INIT = """\
def begin(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        nn.init.zeros_(m.bias)
net.apply(begin)
"""

SCHEDULED = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
base = 0.003
opt = torch.optim.AdamW(net.parameters(), lr=base)
def factor(step):
    if step < 10:
        return (step + 1) / 10
    return 0.5 * (1 + math.cos(math.pi * step / 120))
sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)
for epoch in range(15):
    for i in range(0, 400, 50):
        loss = F.cross_entropy(net(x[i:i + 50]), y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
"""
)
SMALL = (
    ("return (step + 1) / 10", "return base * (step + 1) / 10"),
    ("return 0.5 * (1 +", "return base * 0.5 * (1 +"),
)

PLATEAU = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", patience=1)
for epoch in range(40):
    for i in range(0, 400, 50):
        loss = F.cross_entropy(net(x[i:i + 50]), y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        val_acc = (net(x).argmax(1) == y).float().mean().item()
    sched.step(val_acc)
"""
)

LOOP = (
    HEAD
    + """\
x = torch.randn(300, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 16), nn.Linear(16, 2)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
batches = list(zip(x.split(50), y.split(50)))
for epoch in range(6):
    # anew
    for xb, yb in batches:
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

RESUMED = (
    HEAD
    + """\
x = torch.randn(300, 6)
y = x[:, :1] * 3
def fit(net, opt, steps):
    for step in range(steps):
        at = torch.randint(0, 300, (30,))
        loss = F.mse_loss(net(x[at]), y[at])
        opt.zero_grad()
        loss.backward()
        opt.step()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
fit(net, opt, 20)
saved = copy.deepcopy(opt.state_dict())
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
opt.load_state_dict(saved)
for group in opt.param_groups:
    group["lr"] = 0.05
fit(net, opt, 20)
"""
)
WRITES = 'for group in opt.param_groups:\n    group["lr"] = 0.05\n'

PLANTED = {
    "a state dict": Planted(
        "no copy", FIT, (("copy.deepcopy(model.state_dict())", "model.state_dict()"),), "kept = model"
    ),
    "one network by two names": Planted(
        "no copy",
        FIT,
        (
            ("    # epoch\n", "    slow.load_state_dict(model.state_dict())\n"),
            ("for epoch in", "slow = model\nfor epoch in"),
        ),
        "slow = model",
    ),
    "one network by two names, in a function": Planted(
        "no copy",
        FIT,
        (
            ("    # epoch\n", "    update(slow, model)\n"),
            (
                "for epoch in",
                "slow = model\ndef update(to, of):\n    to.load_state_dict(of.state_dict())\nfor epoch in",
            ),
        ),
        "to.load_state_dict",
    ),
    "a shallow copy": Planted("no copy", FIT, (("copy.deepcopy(", "dict("),), "kept = dict"),
    "parameters by name": Planted(
        "no copy",
        FIT,
        (
            ("copy.deepcopy(model.state_dict())", "[p.data for p in model.parameters()]"),
            (
                "model.load_state_dict(kept)\n",
                "with torch.no_grad():\n    for p, q in zip(model.parameters(), kept):\n        p.copy_(q)\n",
            ),
        ),
        "kept = [p.data",
    ),
    "a backup": Planted("no copy", AVERAGE, (("p.data.clone()", "p.data"),), "self.aside[name] = p.data"),
    "a shadow": Planted("no copy", AVERAGE, (("p.detach().clone()", "p.detach()"),), "self.shadow = {"),
    "averaged parameters": Planted("statistics left", NORMED, ((COPIED, ""),), "net.parameters(), slow"),
    "other names": Planted(
        "loaded nothing", LOADED, (("{name: t", "{'module.' + name: t"),), "net.load_state_dict", both=True
    ),
    "drawn anew": Planted("loaded nothing", LOADED, (("# after\n", INIT),), "net.apply(begin)"),
    "a rate": Planted("rate as factor", SCHEDULED, SMALL, "return base * 0.5"),
    "a rate in a lambda": Planted(
        "rate as factor",
        SCHEDULED,
        (("LambdaLR(opt, factor)", "LambdaLR(opt, lambda step: base * 0.99 ** step)"),),
        "lambda step",
    ),
    "a long warm-up": Planted(
        "rate as factor", SCHEDULED, (("(step + 1) / 10", "(step + 1) / 5000"), ("< 10", "< 5000")), "/ 120"
    ),
    "an accuracy": Planted(
        "watched wrong way", PLATEAU, (('mode="max", ', ""),), "ReduceLROnPlateau(opt, patience"
    ),
    "a zip": Planted(
        "used up",
        LOOP,
        (("list(zip(x.split(50), y.split(50)))", "zip(x.split(50), y.split(50))"),),
        "in batches:",
    ),
    "a generator": Planted(
        "used up",
        LOOP,
        (("list(zip(x.split(50), y.split(50)))", "((x[i:i + 50], y[i:i + 50]) for i in range(0, 300, 50))"),),
        "in batches:",
    ),
    "a model in the loop": Planted(
        "made each round",
        LOOP,
        (("    # anew\n", "    model = Net()\n    opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"),),
        "    model = Net()",
    ),
    "a rate before the state": Planted(
        "rate overwritten",
        RESUMED,
        ((WRITES, ""), ("opt.load_state_dict(saved)\n", WRITES + "opt.load_state_dict(saved)\n")),
        "opt.load_state_dict",
    ),
    "the largest loss": Planted(
        "keeps worst",
        FIT,
        (("val_loss < best", "val_loss > best"), ('float("inf")', "0.0")),
        "val_loss > best",
    ),
    "the smallest score": Planted(
        "keeps worst",
        FIT,
        (("if val_loss < best", "if accuracy < best"), ("best = val_loss", "best = accuracy")),
        "accuracy < best",
    ),
    "never a best": Planted(
        "keeps worst",
        FIT,
        (('float("inf")', "0.0"), ("model.load_state_dict(kept)\n", "")),
        "if val_loss < best",
    ),
}
HEALTHY = {
    "best weights": FIT,
    "best accuracy": changed(
        FIT,
        ("if val_loss < best", "if accuracy > best"),
        ("best = val_loss", "best = accuracy"),
        ('float("inf")', "0.0"),
    ),
    "clones": changed(
        FIT, ("copy.deepcopy(model.state_dict())", "{k: v.clone() for k, v in model.state_dict().items()}")
    ),
    "a copy for another model": changed(
        FIT, ("    # epoch\n", "    other = build()\n    other.load_state_dict(model.state_dict())\n")
    ),
    "loaded at once": changed(FIT, ("    # epoch\n", "    model.load_state_dict(model.state_dict())\n")),
    "a target network in a function": changed(
        FIT,
        ("    # epoch\n", "    update(slow, model)\n"),
        (
            "for epoch in",
            "slow = copy.deepcopy(model)\ndef update(to, of):\n    to.load_state_dict(of.state_dict())\nfor epoch in",
        ),
    ),
    "a target network": changed(
        FIT,
        ("best, kept", "target = build()\nbest, kept"),
        ("    # epoch\n", "    target.load_state_dict(model.state_dict())\n"),
    ),
    "averages": AVERAGE,
    "averages with buffers": NORMED,
    "averages of a whole state": changed(
        NORMED,
        (
            "    for p, q in zip(net.parameters(), slow.parameters()):\n        q.lerp_(p, tau)\n",
            "    state = slow.state_dict()\n",
        ),
        (COPIED, "    for k, v in net.state_dict().items():\n        state[k].copy_(v)\n"),
    ),
    "loaded": LOADED,
    "a body without its head": changed(
        LOADED,
        ("state = {name: t.clone()", "state = {name: t.clone()"),
        ("first.state_dict().items()}", 'first.state_dict().items() if "body" in name}'),
    ),
    "a head drawn anew": changed(LOADED, ("# after\n", "nn.init.xavier_uniform_(net.head.weight)\n")),
    "drawn before": changed(LOADED, ("# begin\n", INIT)),
    "factors": SCHEDULED,
    "rates of an optimizer made with 1": changed(SCHEDULED, *SMALL, ("lr=base)", "lr=1.0)")),
    "a score": PLATEAU,
    "a loss": changed(PLATEAU, ('mode="max", ', ""), ("sched.step(val_acc)", "sched.step(loss.item())")),
    "a list": LOOP,
    "a zip in the loop": changed(
        LOOP,
        ("list(zip(x.split(50), y.split(50)))", "None"),
        ("in batches:", "in zip(x.split(50), y.split(50)):"),
    ),
    "a zip gone through once": changed(
        LOOP,
        ("list(zip(x.split(50), y.split(50)))", "zip(x.split(50), y.split(50))"),
        ("range(6)", "range(1)"),
    ),
    "models of folds": changed(
        LOOP,
        ("for epoch in range(6)", "for fold in range(6)"),
        ("    # anew\n", "    model = Net()\n    opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"),
    ),
    "a state before the rate": RESUMED,
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_placed(name, engine):
    if engine == "torch" and not PLANTED[name].both:
        return
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
