"""Targets that are the memory of inputs, and written: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

MASKED = (
    HEAD
    + """\
rows = (torch.randint(0, 12, (400, 1)) + torch.arange(8)) % 12 + 1
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.body = nn.Embedding(13, 16), nn.Linear(128, 64)
        self.out = nn.Linear(64, 8 * 13)
    def forward(self, ids):
        return self.out(torch.relu(self.body(self.embed(ids).flatten(1)))).view(-1, 8, 13)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(40):
    ids = rows[torch.randperm(400)[:32]]
    labels = ids.clone()
    hidden = torch.rand(ids.shape) < 0.3
    ids[hidden] = 0
    scores = net(ids)
    loss = F.cross_entropy(scores[hidden], labels[hidden])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
RETURNED = (
    HEAD
    + """\
data = torch.randn(300, 4) @ torch.randn(4, 12)
def damaged(x, share=0.3):
    x = x.clone()
    x.masked_fill_(torch.rand(x.shape) < share, 0.0)
    return x
net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 12))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(40):
    clean = data[torch.randint(0, 300, (32,))]
    broken = damaged(clean)
    loss = F.mse_loss(net(broken), clean)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
SAMPLES = (
    HEAD
    + """\
class Rows(Dataset):
    def __init__(self):
        self.rows = torch.randn(160, 4) @ torch.randn(4, 12)
    def __len__(self):
        return 160
    def __getitem__(self, i):
        row = self.rows[i].clone()
        target = row.clone()
        row[torch.randperm(12)[:4]] = 0
        return row, target
net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 12))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(3):
    for x, y in DataLoader(Rows(), batch_size=16, shuffle=True):
        loss = nn.MSELoss()(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
NOISY = changed(
    RETURNED,
    (
        "    x = x.clone()\n    x.masked_fill_(torch.rand(x.shape) < share, 0.0)\n",
        "    x = x + share * torch.randn_like(x)\n",
    ),
)

PLANTED = {
    "labels": Planted(
        "target overwritten", MASKED, (("labels = ids.clone()", "labels = ids"),), "labels = ids"
    ),
    "ids": Planted(
        "target overwritten",
        changed(
            MASKED, ("    ids = rows", "    labels = rows"), ("labels = ids.clone()", "ids = labels.clone()")
        ),
        (("ids = labels.clone()", "ids = labels.view(32, -1)"),),
        "ids = labels",
    ),
    "all places": Planted(
        "target overwritten",
        changed(MASKED, ("scores[hidden], labels[hidden]", "scores.transpose(1, 2), labels")),
        (("labels = ids.clone()", "labels = ids.detach()"),),
        "labels = ids",
    ),
    "a function that writes": Planted(
        "target overwritten", RETURNED, (("    x = x.clone()\n", ""),), "broken = damaged"
    ),
    "noise in place": Planted(
        "target overwritten",
        NOISY,
        (("x = x + share * torch.randn_like(x)", "x += share * torch.randn_like(x)"),),
        "broken = damaged",
    ),
    "samples": Planted(
        "target overwritten", SAMPLES, (("target = row.clone()", "target = row"),), "target = row"
    ),
}
HEALTHY = {
    "labels": MASKED,
    "damaged": RETURNED,
    "noise": NOISY,
    "samples": SAMPLES,
    "words dropped from both": changed(
        MASKED,
        ("    labels = ids.clone()\n", ""),
        ("net(ids)", "net(ids[:, :-1])"),
        ("    ids[hidden] = 0\n", "    ids[hidden] = 0\n    labels = ids[:, 1:]\n"),
        (
            "F.cross_entropy(scores[hidden], labels[hidden])",
            "F.cross_entropy(scores[:, :-1].transpose(1, 2), labels)",
        ),
        ("nn.Linear(128, 64)", "nn.Linear(112, 64)"),
    ),
    "an autoencoder of noisy data": changed(
        RETURNED,
        ("    broken = damaged(clean)\n", "    clean += 0.1 * torch.randn_like(clean)\n"),
        ("net(broken)", "net(clean)"),
    ),
    "scaled in place": changed(
        RETURNED,
        ("    x = x.clone()\n    x.masked_fill_(torch.rand(x.shape) < share, 0.0)\n", "    x.mul_(share)\n"),
    ),
    "damaged and kept under its name": changed(
        RETURNED,
        ("    x = x.clone()\n", ""),
        ("broken = damaged(clean)", "clean = damaged(clean)"),
        ("net(broken)", "net(clean)"),
    ),
    "a row that is filled": HEAD
    + """\
net = nn.Sequential(nn.Embedding(9, 12), nn.Linear(12, 9))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(30):
    batch = torch.zeros(16, 7, dtype=torch.long)
    start = batch
    start[:] = (torch.randint(0, 9, (16, 1)) + torch.arange(7)) % 9
    x, y = batch[:, :-1], batch[:, 1:]
    loss = F.cross_entropy(net(x).flatten(0, 1), y.flatten())
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
