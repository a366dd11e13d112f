"""Data that are changed in place, epoch by epoch: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

WAVES = (
    HEAD
    + """\
signals = torch.sin(torch.linspace(0, 6, 24) * torch.randint(1, 4, (120, 1)) + 6 * torch.rand(120, 1))
def corrupt(batch, sigma):
    noisy = batch + sigma * torch.randn_like(batch)
    return noisy * (torch.rand_like(batch) > 0.1)
net = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 24))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(12):
    for start in range(0, 120, 30):
        clean = signals[start:start + 30]
        loss = F.mse_loss(net(corrupt(clean, 0.3)), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
LABELLED = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.out = nn.Linear(10, 24), nn.Linear(24, 3)
    def forward(self, x):
        return self.out(torch.relu(self.body(x)))
labels = torch.randint(0, 3, (96,))
images = 0.5 * torch.randn(96, 10) + torch.randn(3, 10)[labels]
parts = list(zip(images.split(32), labels.split(32)))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def train_epoch():
    for x, y in parts:
        hidden = torch.rand(x.shape) < 0.1
        x = x.masked_fill(hidden, 0.0)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
for epoch in range(10):
    train_epoch()
"""
)
WHOLE = (
    HEAD
    + """\
x = torch.randn(64, 6)
y = x @ torch.randn(6, 1)
w1, w2 = nn.Parameter(0.3 * torch.randn(6, 16)), nn.Parameter(0.3 * torch.randn(16, 1))
opt = torch.optim.Adam([w1, w2], lr=1e-2)
for epoch in range(40):
    noise = 0.05 * torch.randn(x.shape)
    seen = x + noise
    loss = ((torch.tanh(seen @ w1) @ w2 - y) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
PLANTED = {
    "a function that adds": Planted(
        "data spoiled",
        WAVES,
        (
            (
                "    noisy = batch + sigma * torch.randn_like(batch)\n",
                "    batch += sigma * torch.randn_like(batch)\n",
            ),
            ("return noisy", "return batch"),
        ),
        "batch +=",
    ),
    "add_ of noise": Planted(
        "data spoiled",
        WAVES,
        (("corrupt(clean, 0.3)", "clean.add_(0.3 * torch.randn(30, 24))"),),
        "clean.add_(",
    ),
    "a target that is a copy": Planted(
        "data spoiled",
        WAVES,
        (
            (
                "        clean = signals[start:start + 30]\n",
                "        rows = signals[start:start + 30]\n"
                "        clean = rows.clone()\n        rows += 0.3 * torch.randn(30, 24)\n",
            ),
            ("corrupt(clean, 0.3)", "rows"),
        ),
        "rows +=",
    ),
    "a mask": Planted(
        "data spoiled",
        LABELLED,
        (("x = x.masked_fill(hidden, 0.0)", "x[hidden] = 0.0"),),
        "x[hidden]",
    ),
    "masked_fill_": Planted(
        "data spoiled",
        LABELLED,
        (("x = x.masked_fill(hidden, 0.0)", "x.masked_fill_(hidden, 0.0)"),),
        "x.masked_fill_",
    ),
    "mul_ by a mask": Planted(
        "data spoiled",
        LABELLED,
        (
            ("hidden = torch.rand(x.shape) < 0.1", "kept = (torch.rand(x.shape) > 0.1).float()"),
            ("x = x.masked_fill(hidden, 0.0)", "x.mul_(kept)"),
        ),
        "x.mul_",
    ),
    "all of them": Planted(
        "data spoiled",
        WHOLE,
        (("    seen = x + noise\n", "    x += noise\n"), ("seen @ w1", "x @ w1")),
        "x += noise",
    ),
}
CHAIN = (
    HEAD
    + """\
data = torch.randn(64, 4) + 2
chains = torch.randn(32, 4)
net = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(40):
    x = chains.clone().requires_grad_()
    slope, = torch.autograd.grad(net(x).sum(), x)
    chains += -0.05 * slope + 0.1 * torch.randn(32, 4)
    real = data[torch.randint(0, 64, (32,))]
    up, down = net(chains), net(real)
    loss = down.mean() - up.mean() + 0.1 * (up ** 2 + down ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
HEALTHY = {
    "waves": WAVES,
    "labelled": LABELLED,
    "whole": WHOLE,
    "a clone": changed(
        WAVES,
        (
            "    noisy = batch + sigma * torch.randn_like(batch)\n",
            "    noisy = batch.clone()\n    noisy += sigma * torch.randn_like(batch)\n",
        ),
    ),
    "rows picked by a list": changed(
        WAVES,
        (
            "        clean = signals[start:start + 30]\n",
            "        rows = torch.randperm(120)[:30]\n"
            "        clean = signals[rows]\n        given = signals[rows]\n"
            "        given.add_(0.2 * torch.randn(30, 24))\n",
        ),
        ("corrupt(clean, 0.3)", "given"),
    ),
    "shuffled anew in each epoch": changed(
        LABELLED,
        (
            "    for x, y in parts:\n",
            "    order = torch.randperm(96)\n    for x, y in zip(images[order].split(32), labels[order].split(32)):\n",
        ),
        ("x = x.masked_fill(hidden, 0.0)", "x[hidden] = 0.0"),
    ),
    "batches of a loader": changed(
        LABELLED,
        (
            "parts = list(zip(images.split(32), labels.split(32)))",
            "parts = DataLoader(TensorDataset(images, labels), batch_size=32)",
        ),
        ("x = x.masked_fill(hidden, 0.0)", "x.masked_fill_(hidden, 0.0)"),
    ),
    "a buffer that is filled again": changed(
        LABELLED,
        ("parts = list", "space = torch.zeros(32, 10)\nparts = list"),
        ("        hidden = ", "        space.copy_(x)\n        x = space\n        hidden = "),
        ("x = x.masked_fill(hidden, 0.0)", "x.masked_fill_(hidden, 0.0)"),
    ),
    "a buffer that is filled by rows": changed(
        LABELLED,
        ("parts = list", "space = torch.zeros(32, 10)\nparts = list"),
        (
            "        hidden = ",
            "        for i in range(32):\n            space[i] = x[i]\n        x = space\n        hidden = ",
        ),
        ("x = x.masked_fill(hidden, 0.0)", "x.masked_fill_(hidden, 0.0)"),
    ),
    "chains": CHAIN,
    "a walk that is predicted": HEAD
    + """\
state = torch.zeros(40, 3)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(60):
    part = state[10 * (step % 4):10 * (step % 4) + 10]
    before = part.clone()
    part += 0.1 - 0.1 * part + 0.05 * torch.randn(10, 3)
    loss = F.mse_loss(net(before), part - before)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "noise with a memory": changed(
        WHOLE,
        ("w1, w2 = nn", "noise = torch.zeros(64, 6)\nw1, w2 = nn"),
        (
            "    noise = 0.05 * torch.randn(x.shape)\n",
            "    noise.mul_(0.9).add_(0.02 * torch.randn(64, 6))\n",
        ),
    ),
    "normalised once": changed(
        WHOLE,
        ("y = x @", "x -= x.mean(0)\nx /= x.std(0)\nx += 0.01 * torch.randn_like(x)\ny = x @"),
    ),
    "a perturbation that is learned": changed(
        WHOLE,
        ("w1, w2 = nn", "delta = torch.zeros(64, 6)\nw1, w2 = nn"),
        (
            "    seen = x + noise\n",
            "    probe = (x + delta).requires_grad_()\n"
            "    slope, = torch.autograd.grad(((torch.tanh(probe @ w1) @ w2 - y) ** 2).sum(), probe)\n"
            "    delta += 0.01 * slope.sign() + 0.001 * torch.randn(64, 6)\n"
            "    delta.clamp_(-0.1, 0.1)\n"
            "    seen = x + delta\n",
        ),
    ),
    "centres that drift": HEAD
    + """\
centres = 3 * torch.randn(4, 2)
labels = torch.arange(48) % 4
net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    centres += 0.01 * torch.randn(4, 2)
    x = centres[labels] + 0.3 * torch.randn(48, 2)
    loss = F.cross_entropy(net(x), labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a replay memory": HEAD
    + """\
memory, answers = torch.zeros(64, 3), torch.zeros(64, 1)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(80):
    at = 8 * (step % 8)
    memory[at:at + 8] = torch.randn(8, 3)
    answers[at:at + 8] = memory[at:at + 8].sum(1, keepdim=True)
    rows = torch.randint(0, min(64, at + 8), (16,))
    loss = F.mse_loss(net(memory[rows]), answers[rows])
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
