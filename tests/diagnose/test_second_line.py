"""Where a wrong value was written, the second line of a finding, and rules on bytes, norms over one sample."""

import linecache
import textwrap

import pytest

from vistorch.debug.diagnose.finding import EXACT, WRONG, Finding
from vistorch.debug.diagnose.record import DiagnoseRecord, wire_of
from vistorch.debug.diagnose.written import batches, literal, returned, without_gradients
from vistorch.debug.line_lookup import Line

from .harness import run

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\ntorch.manual_seed(0)\n"


def line_in(text, holding):
    """A line of a text that can be looked up."""
    file = f"<written {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    number = next(i for i, one in enumerate(text.splitlines(), 1) if holding in one)
    return Line(file, number, "<module>", "", None)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("rate = 1e-7\nopt = SGD(p, lr=rate)\n", 1),
        ("rate = 1e-7\nopt = SGD(p, rate)\n", 1),
        ("cfg = dict(\n    lr=1e-7,\n)\nopt = SGD(p, lr=cfg['lr'])\n", 2),
        ("cfg = {'a': 1,\n    'lr': 1e-7}\nopt = SGD(p, lr=cfg['lr'])\n", 2),
        ("cfg = {}\ncfg['lr'] = 1e-7\nopt = SGD(p, lr=cfg['lr'])\n", 2),
        ("class C:\n    a = 1\n    lr = 1e-7\nc = C()\nopt = SGD(p, lr=c.lr)\n", 3),
        ("def go(lr=1e-7):\n    return SGD(p, lr=lr)\ngo()\n", 1),
        ("def go(lr=1e-3):\n    return SGD(p, lr=lr)\ngo(\n    lr=1e-7)\n", 4),
        ("class M:\n    def __init__(self, lr):\n        self.o = SGD(p, lr=lr)\nn = 3 - 1\nM(n)\n", 4),
        ("opt = SGD(p, lr=1e-7)\n", None),
        ("rate = 1e-7\nrate = 1e-3\nopt = SGD(p, lr=rate)\n", None),
        ("def go(lr):\n    return SGD(p, lr=lr)\ngo(1)\ngo(2)\n", None),
        ("opt = SGD(p, lr=find())\n", None),
    ],
)
def test_where_an_argument_was_written(text, at):
    found = literal(line_in(text, "SGD("), ("lr",), 1)
    assert (None if found is None else found.line) == at


def test_what_stands_around_a_line():
    text = textwrap.dedent(
        """\
        @torch.no_grad()
        def f(x):
            return model(x)
        def train():
            for epoch in range(3):
                for x in loader:
                    g(x)
        for i in range(3):
            train()
        with torch.no_grad():
            go()
        """
    )
    assert without_gradients(line_in(text, "return model")).line == 1
    assert without_gradients(line_in(text, "go()")).line == 10
    assert without_gradients(line_in(text, "g(x)")) is None
    assert batches(line_in(text, "g(x)")).line == 6
    assert batches(line_in(text, "return model")) is None
    assert returned(len) is None


def test_a_second_line_is_shown_in_text_and_on_the_page():
    text = "rate = 1e-7\nopt = SGD(p, lr=rate)\n"
    one = Finding(
        "x",
        WRONG,
        EXACT,
        "Too small.",
        line_in(text, "SGD"),
        "used",
        also=(line_in(text, "rate ="), "is written"),
    )
    assert one.where.endswith(":2 or 1") and [line.line for line in one.named] == [2, 1]
    marked = [row for row in wire_of(one)["source"] if row["role"] == "guilty"]
    assert [(row["line"], row["label"]) for row in marked] == [(1, "is written"), (2, "used")]
    report = DiagnoseRecord("t", [one], 1, [], 3, 3, []).text()
    assert ">    1" in report and ">    2" in report


def rules(text):
    """The rules that say something of a program, with their lines."""
    said = run("second line", HEAD + text)
    assert not said.failures
    return {one.rule: [line.line - 4 for line in one.named] for one in said.findings}


BYTES = """\
raw = torch.randint(0, 256, (200, 6)).to(torch.uint8)
x = (raw - 100).float() / 50
y = raw.float().mean(1, keepdim=True) / 50
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for rows in torch.randperm(200).split(25):
        loss = F.mse_loss(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
SUM = """\
def mixed(a, b):
    return a + b
a, b = (torch.randint(0, 200, (120, 1, 5, 5)).to(torch.uint8) for _ in range(2))
pictures = mixed(a, b).float() / 255
code = nn.Sequential(nn.Flatten(), nn.Linear(25, 4), nn.Tanh(), nn.Linear(4, 25))
opt = torch.optim.SGD(code.parameters(), lr=0.1)
for step in range(20):
    loss = ((code(pictures) - pictures.flatten(1)) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "at"),
    [
        (BYTES, "(raw - 100).float()", "(raw.float() - 100)", 2),
        (SUM, "a + b", "a // 2 + b // 2", 2),
    ],
)
def test_bytes_that_wrap_are_found_where_they_do(text, old, new, at):
    assert rules(text)["wraps"][0] == at
    assert rules(text.replace(old, new)) == {}


NORM = """\
SIZE = 1
class Level(torch.utils.data.Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 1, 6, 6) + 2 * torch.randn(n, 1, 1, 1)
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], self.x[i].mean()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        return self.out(F.relu(self.norm(self.conv(x))).mean((2, 3))).squeeze(1)
net = Net()
loader = torch.utils.data.DataLoader(Level(60), batch_size=SIZE)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for x, y in loader:
    opt.zero_grad()
    F.mse_loss(net(x), y).backward()
    opt.step()
net.eval()
x = torch.randn(20, 1, 6, 6)
with torch.no_grad():
    print(F.mse_loss(net(x), x.mean((1, 2, 3))).item())
"""
SIGNALS = """\
waves = torch.randn(40, 2, 12) + torch.randn(40, 1, 1)
kind = (waves.mean((1, 2)) > 0).long()
model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(40, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for i in range(30):
    model.train()
    loss = F.cross_entropy(model(waves[i:i + 1]), kind[i:i + 1])
    opt.zero_grad()
    loss.backward()
    opt.step()
model.eval()
with torch.no_grad():
    print((model(waves[30:]).argmax(1) == kind[30:]).float().mean().item())
"""


@pytest.mark.parametrize(
    ("text", "old", "new", "at"),
    [
        (NORM, "SIZE = 1\n", "SIZE = 12\n", [1, 13]),
        (NORM, "nn.BatchNorm2d(4)", "nn.InstanceNorm2d(4)", [1, 13]),
        (SIGNALS, "nn.BatchNorm1d(4)", "nn.GroupNorm(1, 4)", [7, 3]),
        (SIGNALS, "waves[i:i + 1]), kind[i:i + 1]", "waves[:1]), kind[:1]", [7, 3]),
    ],
)
def test_a_norm_over_one_sample_is_found_and_others_are_not(text, old, new, at):
    assert rules(text)["norm of one"] == at
    assert "norm of one" not in rules(text.replace(old, new))


WIDE = """\
area = torch.rand(200, 2)
income = 30000 * area.sum(1) + 5000
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(60):
    rows = torch.randint(0, 200, (40,))
    loss = F.mse_loss(model(area[rows]).squeeze(1), income[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
HALF = """\
x = torch.randn(64, 3).half()
x[:, 0] = 0
model = nn.Linear(3, 1).half()
y = x.sum(1, keepdim=True)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    loss = ((model(x) - y) ** 2).mean() * 0.001
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
DIVISOR = """\
w = torch.rand(5, 4, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(6):
    small = 1e-32 * w
    share = small / small.sum(1, keepdim=True)
    loss = (1e8 * share.square()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_an_epsilon_that_is_0_in_half_precision_is_named():
    assert rules(HALF)["diverges"][0] == 5
    assert "diverges" not in rules(HALF.replace("lr=0.01", "lr=0.01, eps=1e-4"))


def test_a_divisor_whose_square_is_0_is_named():
    assert rules(DIVISOR)["not finite"] == [5]
    assert "not finite" not in rules(DIVISOR.replace("1e-32", "1e-3"))


def test_targets_that_are_not_scaled_are_named_before_the_rate():
    assert rules(WIDE)["diverges"][-1] in (2, 4) and rules(WIDE)["diverges"][0] == 2
    assert rules(WIDE.replace("income = 30000 * area.sum(1) + 5000", "income = 3 * area.sum(1) - 3")) == {}
