"""What was done in the wrong order is placed at the line that calls it, where a function or a method did it."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

GROWN = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(10, 6), nn.Linear(6, 3)
    def forward(self, x):
        return self.out(self.words(x).mean(1))
    def extend(self, more):
        old = self.words.weight.detach()
        bigger = nn.Embedding(len(old) + more, 6)
        with torch.no_grad():
            bigger.weight[: len(old)] = old
        self.words = bigger
def new_head(model, classes):
    head = nn.Linear(model.out.in_features, classes)
    model.out = head
def train(model, optimizer, x, y, steps):
    for _ in range(steps):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
net = Net()
x, y = torch.randint(0, 16, (48, 5)), torch.randint(0, 3, (48,))
net.extend(6)
new_head(net, 4)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
train(net, opt, x, y, 20)
"""
)
INSIDE = (
    HEAD
    + """\
class Runner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2))
        self.change_head()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def change_head(self):
        layer = nn.Linear(12, 3)
        self.net[2] = layer
    def run(self, x, y):
        for step in range(20):
            loss = F.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
def main():
    runner = Runner()
    runner.run(torch.randn(40, 5), torch.randint(0, 3, (40,)))
main()
"""
)
LOADED = (
    HEAD
    + """\
def drawn(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, std=0.3)
        nn.init.zeros_(m.bias)
def redraw(net):
    for part in net.modules():
        drawn(part)
def made():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
def build(state):
    net = made()
    net.apply(drawn)
    net.load_state_dict(state)
    return net
x, y = torch.randn(60, 6), torch.randint(0, 2, (60,))
before = {k: v.clone() for k, v in made().state_dict().items()}
net = build(before)
# ready
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(40):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
PLANTED = {
    "a vocabulary": Planted(
        "not held",
        GROWN,
        (
            ("net.extend(6)\nnew_head(net, 4)\nopt", "new_head(net, 4)\nopt"),
            ("lr=1e-2)\n", "lr=1e-2)\nnet.extend(6)\n"),
        ),
        "net.extend(6)",
    ),
    "a head, by a function": Planted(
        "not held",
        GROWN,
        (("new_head(net, 4)\n", ""), ("lr=1e-2)\n", "lr=1e-2)\nnew_head(net, 4)\n")),
        "new_head(net, 4)",
    ),
    "a head, after some epochs": Planted(
        "not held",
        GROWN,
        (
            ("new_head(net, 4)\n", ""),
            (
                "    for _ in range(steps):\n",
                "    for step in range(steps):\n        if step == 5:\n            new_head(model, 4)\n",
            ),
        ),
        "new_head(model, 4)",
    ),
    "in a method": Planted(
        "not held",
        INSIDE,
        (
            ("        self.change_head()\n", ""),
            ("    def run(self, x, y):\n", "    def run(self, x, y):\n        self.change_head()\n"),
        ),
        "self.opt = ",
        also=True,
    ),
    "applied after loading": Planted(
        "loaded nothing",
        LOADED,
        (
            ("    net.apply(drawn)\n", ""),
            ("(state)\n    return", "(state)\n    net.apply(drawn)\n    return"),
        ),
        "net.apply(drawn)",
    ),
    "drawn where it was built": Planted(
        "loaded nothing",
        LOADED,
        (("    net.apply(drawn)\n", ""), ("# ready", "redraw(net)  # anew")),
        "# anew",
    ),
}
HEALTHY = {
    "grown": GROWN,
    "inside": INSIDE,
    "loaded": LOADED,
    "grown, then a second optimizer": changed(
        GROWN,
        (
            "net.extend(6)\nnew",
            "first = torch.optim.SGD(net.parameters(), lr=0.1)\ntrain(net, first, x % 10, y, 4)\nnet.extend(6)\nnew",
        ),
    ),
    "a group that is added": changed(
        GROWN,
        ("new_head(net, 4)\n", ""),
        ("lr=1e-2)\n", 'lr=1e-2)\nnew_head(net, 4)\nopt.add_param_group({"params": net.out.parameters()})\n'),
    ),
    "the head alone": changed(LOADED, ("# ready", "drawn(net[2])")),
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_the_call_is_named(name, engine):
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
