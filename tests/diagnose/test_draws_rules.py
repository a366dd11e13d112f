"""One draw for what belongs together: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 2))
    def forward(self, x, t):
        return self.body(torch.cat([x, t.float().view(-1, 1) / 50], 1))
data = torch.randn(512, 2) * torch.tensor([1.0, 0.3]) + torch.tensor([1.0, 0.0])
kept = torch.cumprod(1 - torch.linspace(1e-3, 0.2, 50), 0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
"""
DIFFUSION = (
    HEAD
    + NET
    + """\
def noisy(x, t, noise=None):
    noise = torch.randn_like(x) if noise is None else noise
    a = kept[t].unsqueeze(1)
    return a.sqrt() * x + (1 - a).sqrt() * noise
for step in range(60):
    x = data[torch.randint(0, 512, (64,))]
    t = torch.randint(0, 50, (64,))
    noise = torch.randn_like(x)
    x_t = noisy(x, t, noise)
    loss = F.mse_loss(net(x_t, t), noise)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
WITHIN = (
    HEAD
    + NET
    + """\
class Diffusion(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
    def add_noise(self, x, t):
        eps = torch.randn(x.shape)
        a = kept[t].view(-1, 1)
        return x * a.sqrt() + eps * (1 - a).sqrt(), eps
    def forward(self, x):
        t = torch.randint(50, (len(x),))
        mixed, eps = self.add_noise(x, t)
        return ((self.net(mixed, t) - eps) ** 2).mean()
model = Diffusion(net)
for step in range(60):
    loss = model(data[torch.randint(0, 512, (64,))])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
FLOW = (
    HEAD
    + NET
    + """\
for step in range(60):
    x = data[torch.randperm(512)[:64]]
    t = torch.rand(64, 1)
    noise = torch.randn(64, 2)
    mixed = (1 - t) * noise + t * x
    loss = (net(mixed, t) - (x - noise)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
SCORE = changed(
    FLOW,
    ("    mixed = (1 - t) * noise + t * x\n", "    mixed = x + noise * (0.1 + t)\n"),
    ("(net(mixed, t) - (x - noise)).pow(2).mean()", "F.mse_loss(net(mixed, t), -noise / (0.1 + t))"),
)

MAPS = """\
def pictures(n):
    at = torch.stack(torch.meshgrid(torch.arange(10.0), torch.arange(10.0), indexing="ij"))
    middle = 2 + 6 * torch.rand(n, 2, 1, 1)
    far = (at - middle).pow(2).sum(1, keepdim=True)
    maps = (far < 5).float()
    return maps + 0.3 * torch.randn(n, 1, 10, 10), maps
def net_of():
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
"""
COINS = (
    "import random\n"
    + HEAD
    + "random.seed(0)\n"
    + MAPS
    + """\
def mirrored(t):
    if random.random() < 0.5:
        t = t.flip(-1)
    if torch.rand(()) < 0.5:
        t = torch.flip(t, dims=(1,))
    return t
class Data(Dataset):
    def __init__(self, n):
        self.x, self.y = pictures(n)
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        both = mirrored(torch.cat([self.x[i], self.y[i]]))
        x, y = both[:1], both[1:]
        return x + 0.1 * torch.randn(1, 10, 10), y
net = net_of()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(3):
    for x, y in DataLoader(Data(96), batch_size=16, shuffle=True):
        loss = F.binary_cross_entropy_with_logits(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
TURNED = (
    "import random\n"
    + HEAD
    + "random.seed(0)\n"
    + MAPS
    + """\
class Turn:
    def __call__(self, *both):
        k = random.randrange(4)
        out = [torch.rot90(t, k, (1, 2)) for t in both]
        return out if len(out) > 1 else out[0]
class Data(Dataset):
    def __init__(self, n, turn):
        (self.x, self.y), self.turn = pictures(n), turn
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        x, y = self.turn(self.x[i], self.y[i])
        return {"picture": x, "map": y}
net = net_of()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loader = DataLoader(Data(96, Turn()), batch_size=16, shuffle=True)
for epoch in range(3):
    for batch in loader:
        loss = F.mse_loss(net(batch["picture"]), batch["map"])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
CROPPED = (
    HEAD
    + MAPS
    + """\
def cut(x, y):
    i, j = torch.randint(0, 4, (2,)).tolist()
    return x[..., i:i + 7, j:j + 7], y[..., i:i + 7, j:j + 7]
x, y = pictures(160)
net = net_of()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for i in torch.randperm(160).split(16):
        a, b = cut(x[i], y[i])
        loss = F.binary_cross_entropy_with_logits(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
ROLLED = (
    HEAD
    + MAPS
    + """\
def moved(t, by):
    return torch.roll(t, by, -1)
x, y = pictures(160)
net = net_of()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for i in torch.randperm(160).split(16):
        by = int(torch.randint(0, 10, ()))
        a, b = moved(x[i], by), moved(y[i], by)
        loss = F.binary_cross_entropy_with_logits(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

PLANTED = {
    "drawn within": Planted(
        "other noise", DIFFUSION, (("noisy(x, t, noise)\n", "noisy(x, t)\n"),), "x_t = noisy(x, t)"
    ),
    "drawn where it is asked for": Planted(
        "other noise",
        DIFFUSION,
        (("net(x_t, t), noise)", "net(x_t, t), torch.randn_like(x))"),),
        "loss = F.mse",
    ),
    "drawn where it is mixed in": Planted(
        "other noise",
        DIFFUSION,
        (("noisy(x, t, noise)\n", "noisy(x, t, torch.randn_like(x))\n"),),
        "x_t = noisy(",
    ),
    "two names": Planted(
        "other noise",
        FLOW,
        (
            (
                "    noise = torch.randn(64, 2)\n",
                "    noise = torch.randn(64, 2)\n    eps = torch.randn(64, 2)\n",
            ),
            ("(1 - t) * noise", "(1 - t) * eps"),
        ),
        "mixed = ",
    ),
    "drawn again in a class": Planted(
        "other noise",
        WITHIN,
        (("mixed, eps = self.add_noise(x, t)", "mixed, eps = self.add_noise(x, t)[0], torch.randn_like(x)"),),
        "mixed, eps = self",
    ),
    "a score": Planted(
        "other noise", SCORE, (("-noise / (0.1 + t)", "-torch.randn(64, 2) / (0.1 + t)"),), "loss = F.mse"
    ),
    "flips of samples": Planted(
        "drawn twice",
        COINS,
        (
            (
                "        both = mirrored(torch.cat([self.x[i], self.y[i]]))\n        x, y = both[:1], both[1:]\n",
                "        x = mirrored(self.x[i])\n        y = mirrored(self.y[i])\n",
            ),
        ),
        "x = mirrored",
    ),
    "turns of samples": Planted(
        "drawn twice",
        TURNED,
        (("x, y = self.turn(self.x[i], self.y[i])", "x, y = self.turn(self.x[i]), self.turn(self.y[i])"),),
        "x, y = self.turn",
    ),
    "coins in a row": Planted(
        "drawn twice",
        COINS,
        (
            (
                "        both = mirrored(torch.cat([self.x[i], self.y[i]]))\n        x, y = both[:1], both[1:]\n",
                "        x, y = self.x[i], self.y[i]\n        if random.random() < 0.5:\n            x = x.flip(2)\n"
                "        if random.random() < 0.5:\n            y = y.flip(-1)\n",
            ),
        ),
        "y = y.flip",
    ),
    "cuts of batches": Planted(
        "drawn twice",
        CROPPED,
        (
            ("def cut(x, y):", "def cut(x):"),
            ("return x[..., i:i + 7, j:j + 7], y[..., i:i + 7, j:j + 7]", "return x[..., i:i + 7, j:j + 7]"),
            ("a, b = cut(x[i], y[i])", "a, b = cut(x[i]), cut(y[i])"),
        ),
        "a, b = cut",
    ),
    "rolls of batches": Planted(
        "drawn twice",
        ROLLED,
        (
            ("def moved(t, by):\n", "def moved(t):\n    by = int(torch.randint(0, 10, ()))\n"),
            ("        by = int(torch.randint(0, 10, ()))\n", ""),
            ("moved(x[i], by), moved(y[i], by)", "moved(x[i]), moved(y[i])"),
        ),
        "a, b = moved",
    ),
}
HEALTHY = {
    "noise that is given": DIFFUSION,
    "noise that is given back": WITHIN,
    "a flow": FLOW,
    "a score": SCORE,
    "noise in place": changed(
        DIFFUSION,
        (
            "    return a.sqrt() * x + (1 - a).sqrt() * noise\n",
            "    return (a.sqrt() * x).add_((1 - a).sqrt() * noise)\n",
        ),
    ),
    "noise in place, and another for the data": changed(
        DIFFUSION,
        (
            "    return a.sqrt() * x + (1 - a).sqrt() * noise\n",
            "    out = a.sqrt() * x\n    out += (1 - a).sqrt() * noise\n    return out\n",
        ),
        ("    t = torch.randint", "    x = x + 0.5 * torch.randn_like(x)\n    t = torch.randint"),
    ),
    "the data is asked for": changed(DIFFUSION, ("net(x_t, t), noise)", "net(x_t, t), x)")),
    "inputs and targets that are noisy": changed(
        FLOW,
        ("    mixed = (1 - t) * noise + t * x\n", "    mixed = x + noise\n"),
        ("(x - noise)", "(x + torch.randn(64, 2))"),
    ),
    "random targets of random inputs": HEAD
    + """\
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
opt = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(6):
    x, y = torch.randn(16, 8), torch.randn(16, 8)
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "samples flipped together": COINS,
    "samples turned together": TURNED,
    "batches cut together": CROPPED,
    "batches rolled together": ROLLED,
    "one coin for two lines": changed(
        COINS,
        (
            "        both = mirrored(torch.cat([self.x[i], self.y[i]]))\n        x, y = both[:1], both[1:]\n",
            "        x, y = self.x[i], self.y[i]\n        if random.random() < 0.5:\n"
            "            x, y = x.flip(2), y.flip(2)\n",
        ),
    ),
    "a seed before each call": changed(
        COINS,
        (
            "        both = mirrored(torch.cat([self.x[i], self.y[i]]))\n        x, y = both[:1], both[1:]\n",
            "        seed = random.randrange(1 << 20)\n        random.seed(seed)\n        torch.manual_seed(seed)\n"
            "        x = mirrored(self.x[i])\n        random.seed(seed)\n        torch.manual_seed(seed)\n"
            "        y = mirrored(self.y[i])\n        random.seed()\n",
        ),
    ),
    "the next picture": changed(
        ROLLED,
        (
            "        by = int(torch.randint(0, 10, ()))\n",
            "        by, v = torch.randint(0, 10, (2,)).tolist()\n",
        ),
        ("moved(y[i], by)", "moved(x[i], by + v)"),
        ("F.binary_cross_entropy_with_logits(net(a), b)", "F.mse_loss(net(a), b)"),
    ),
    "two views": "import random\n"
    + HEAD
    + "random.seed(0)\n"
    + MAPS
    + """\
def view(t):
    return t.flip(-1) if random.random() < 0.5 else t
x, _ = pictures(160)
net = nn.Sequential(nn.Flatten(), nn.Linear(100, 24), nn.ReLU(), nn.Linear(24, 8))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for i in torch.randperm(160).split(16):
        a, b = (F.normalize(net(view(x[i])), dim=1) for _ in range(2))
        loss = F.cross_entropy(a @ b.t() / 0.2, torch.arange(16))
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_placed(name, engine):
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
