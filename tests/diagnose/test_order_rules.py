"""Rows in another order than what they are compared with: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

TAGGER = (
    HEAD
    + """\
words = torch.randint(0, 20, (240, 9))
tags = (words % 4 + (words.roll(1, 1) > 12).long()) % 4
embed, lstm, out = nn.Embedding(20, 16), nn.LSTM(16, 24), nn.Linear(24, 4)
params = [*embed.parameters(), *lstm.parameters(), *out.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
for epoch in range(4):
    for i in torch.randperm(240).split(30):
        h, _ = lstm(embed(words[i].t()))
        scores = out(h)
        loss = F.cross_entropy(scores.reshape(-1, 4), tags[i].t().reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
DECODER = (
    HEAD
    + """\
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(9, 12), nn.GRUCell(12, 20), nn.Linear(20, 8)
    def forward(self, y):
        h, token, steps = torch.zeros(len(y), 20), torch.full((len(y),), 8), []
        for t in range(y.shape[1]):
            h = self.cell(self.embed(token), h)
            steps.append(h)
            token = y[:, t]
        states = torch.stack(steps, 1)
        flat = states.flatten(0, 1)
        return self.out(torch.relu(flat))
net = Decoder()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(30):
    y = (torch.randint(0, 8, (25, 1)) + torch.arange(6)) % 8
    opt.zero_grad()
    nn.CrossEntropyLoss()(net(y), y.flatten()).backward()
    opt.step()
"""
)
SERIES = (
    HEAD
    + """\
x = torch.randn(200, 7, 3).cumsum(1)
y = x.sum(2) + torch.sin(x[..., 0])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(3, 16), nn.Linear(16, 1)
    def forward(self, x):
        return self.out(self.rnn(x.transpose(0, 1))[0]).squeeze(-1)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(4):
    for i in range(0, 200, 25):
        answers, asked = net(x[i:i + 25]), y[i:i + 25]
        loss = F.mse_loss(answers.t().reshape(-1), asked.reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
PIXELS = (
    HEAD
    + """\
x = torch.randn(96, 1, 7, 6)
y = (F.avg_pool2d(x, 3, 1, 1)[:, 0] > 0).long() + (x[:, 0] > 1).long()
net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 3, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(5):
    for i in range(0, 96, 16):
        scores = net(x[i:i + 16])
        rows = scores.permute(0, 2, 3, 1).reshape(-1, 3)
        loss = F.cross_entropy(rows, y[i:i + 16].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
VIEWS = (
    HEAD
    + """\
data = torch.randn(160, 10)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Linear(32, 8))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
def view(x):
    return x * (0.9 + 0.2 * torch.rand(len(x), 1)) + 0.1 * torch.randn_like(x)
def contrast(z):
    n = len(z) // 2
    scores = (z @ z.t() / 0.2).masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    asked = (torch.arange(2 * n) + n) % (2 * n)
    return F.cross_entropy(scores, asked)
for step in range(40):
    x = data[torch.randperm(160)[:20]]
    z = F.normalize(net(torch.cat([view(x), view(x)])), dim=1)
    loss = contrast(z)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
TURNS = changed(
    VIEWS,
    ("torch.cat([view(x), view(x)])", "torch.stack([view(x), view(x)], 1).view(-1, 10)"),
    ("(torch.arange(2 * n) + n) % (2 * n)", "torch.arange(2 * n) ^ 1"),
)

SHIFTED = changed(
    VIEWS,
    (
        "def view(x):\n    return x * (0.9 + 0.2 * torch.rand(len(x), 1)) +",
        "probe = nn.Linear(8, 2)\nfew = torch.optim.Adam(probe.parameters(), lr=1e-2)\n"
        "with torch.no_grad():\n    seen = net(data)\n"
        "for step in range(120):\n    few.zero_grad()\n"
        "    F.cross_entropy(probe(seen), (data[:, 0] > 0).long()).backward()\n    few.step()\n"
        "def view(x):\n    return torch.roll(x, int(torch.randint(-1, 2, (1,))), dims=-1).flip(-1) +",
    ),
    ("for step in range(40):\n    x", "for step in range(400):\n    x"),
)

PLANTED = {
    "gold tags as they are": Planted(
        "other order", TAGGER, (("tags[i].t().reshape(-1)", "tags[i].reshape(-1)"),), "loss = F.cross_entropy"
    ),
    "words that were masked": Planted(
        "other order",
        changed(
            TAGGER,
            (
                "scores.reshape(-1, 4), tags[i].t().reshape(-1)",
                "scores.view(-1, 4)[kept], tags[i].t().flatten()[kept]",
            ),
            ("        scores = out(h)\n", "        scores, kept = out(h), torch.rand(len(i) * 9) < 0.8\n"),
        ),
        (("tags[i].t().flatten()", "tags[i].flatten()"),),
        "loss = F.cross_entropy",
    ),
    "log-probabilities": Planted(
        "other order",
        TAGGER,
        (
            (
                "F.cross_entropy(scores.reshape(-1, 4), tags[i].t().reshape(-1))",
                "F.nll_loss(F.log_softmax(scores, -1).flatten(0, 1), tags[i].flatten())",
            ),
        ),
        "loss = F.nll_loss",
    ),
    "stacked steps": Planted(
        "other order",
        DECODER,
        (("torch.stack(steps, 1)", "torch.stack(steps)"),),
        "flat = states",
    ),
    "numbers": Planted(
        "other order", SERIES, (("answers.t().reshape(-1)", "answers.reshape(-1)"),), "loss = F.mse"
    ),
    "numbers by hand": Planted(
        "other order",
        SERIES,
        (
            (
                "F.mse_loss(answers.t().reshape(-1), asked.reshape(-1))",
                "((answers.flatten() - asked.flatten()) ** 2).mean()",
            ),
        ),
        "loss = ((answers",
    ),
    "classes in the middle": Planted(
        "other order",
        PIXELS,
        (("scores.permute(0, 2, 3, 1).reshape(-1, 3)", "scores.reshape(-1, 3)"),),
        "rows = ",
    ),
    "classes of steps in the middle": Planted(
        "other order",
        changed(
            PIXELS,
            ("scores.permute(0, 2, 3, 1).reshape(-1, 3)", "scores.permute(0, 2, 1).reshape(-1, 3)"),
            ("net(x[i:i + 16])", "net(x[i:i + 16]).flatten(2)"),
        ),
        (("scores.permute(0, 2, 1).reshape(-1, 3)", "scores.reshape(-1, 3)"),),
        "rows = ",
    ),
    "height and width": Planted(
        "other order", PIXELS, (("permute(0, 2, 3, 1)", "permute(0, 3, 2, 1)"),), "rows = "
    ),
    "views in turn": Planted(
        "other partner",
        VIEWS,
        (("torch.cat([view(x), view(x)])", "torch.stack([view(x), view(x)], 1).view(-1, 10)"),),
        "z = F.normalize",
    ),
    "encoded views in turn": Planted(
        "other partner",
        changed(
            VIEWS,
            (
                "z = F.normalize(net(torch.cat([view(x), view(x)])), dim=1)",
                "a, b = (F.normalize(net(view(x)), dim=1) for _ in range(2))\n    z = torch.cat((a, b), 0)",
            ),
        ),
        (("torch.cat((a, b), 0)", "torch.stack((a, b), dim=1).flatten(0, 1)"),),
        "z = torch.stack",
    ),
    "views that are shifted, after a probe": Planted(
        "other partner",
        SHIFTED,
        (("torch.cat([view(x), view(x)])", "torch.stack([view(x), view(x)], 1).flatten(0, 1)"),),
        "z = F.normalize",
    ),
    "halves that are asked for neighbours": Planted(
        "other partner",
        TURNS,
        (("torch.stack([view(x), view(x)], 1).view(-1, 10)", "torch.cat([view(x), view(x)])"),),
        "z = F.normalize",
    ),
}
HEALTHY = {
    "tags with the time first": TAGGER,
    "scores with the batch first": changed(
        TAGGER,
        ("scores.reshape", "scores.transpose(0, 1).reshape"),
        ("tags[i].t().reshape(-1)", "tags[i].reshape(-1)"),
    ),
    "stacked steps": DECODER,
    "numbers": SERIES,
    "classes last": PIXELS,
    "classes as they are": changed(
        PIXELS, ("F.cross_entropy(rows, y[i:i + 16].reshape(-1))", "F.cross_entropy(scores, y[i:i + 16])")
    ),
    "one target for a row": changed(
        TAGGER,
        (
            "tags = (words % 4 + (words.roll(1, 1) > 12).long()) % 4",
            "tags = (words[:, :1] % 4).expand(-1, 9)",
        ),
    ),
    "a share of each answer": changed(
        SERIES,
        ("answers.t().reshape(-1), asked.reshape(-1)", "answers.t().mean(1), asked.mean(1)"),
    ),
    "answers of several heads": HEAD
    + """\
x = torch.randn(200, 6)
y = (x[:, 0] > 0).long()
heads = nn.ModuleList([nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)) for _ in range(5)])
opt = torch.optim.Adam(heads.parameters(), lr=1e-2)
for epoch in range(5):
    for i in range(0, 200, 20):
        scores = torch.stack([head(x[i:i + 20]) for head in heads])
        loss = F.cross_entropy(scores.reshape(-1, 2), y[i:i + 20].repeat(5))
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "views in halves": VIEWS,
    "views in turn": TURNS,
    "views that are shifted": SHIFTED,
    "views in turn that are shifted": changed(
        SHIFTED,
        ("torch.cat([view(x), view(x)])", "torch.stack([view(x), view(x)], 1).flatten(0, 1)"),
        ("(torch.arange(2 * n) + n) % (2 * n)", "torch.arange(2 * n) ^ 1"),
    ),
    "one view with the other": changed(
        VIEWS,
        (
            "(z @ z.t() / 0.2).masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)",
            "z[:n] @ z[n:].t() / 0.2",
        ),
        ("(torch.arange(2 * n) + n) % (2 * n)", "torch.arange(n)"),
    ),
    "pairs that come in turn, in two chunks": changed(
        TURNS,
        (
            "z = F.normalize(net(torch.stack([view(x), view(x)], 1).view(-1, 10)), dim=1)",
            "pairs = torch.stack([view(x), view(x)], 1).view(-1, 10)\n"
            "    z = F.normalize(torch.cat([net(pairs[:20]), net(pairs[20:])]), dim=1)",
        ),
    ),
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_placed(name, engine):
    accused(engine, PLANTED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_relative_is_not_accused(name, engine):
    healthy(engine, name, HEALTHY[name])
