"""Axes that are taken for others, and weights of samples: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

PLACES = (
    HEAD
    + """\
class Places(nn.Module):
    def __init__(self, dim, most=200):
        super().__init__()
        at = torch.arange(most).unsqueeze(1) * torch.exp(-torch.arange(0, dim, 2) / dim * math.log(10000.0))
        pe = torch.zeros(most, 1, dim)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(at), torch.cos(at)
        self.register_buffer("pe", pe)
    def forward(self, x):
        return x + self.pe[:x.size(1)].transpose(0, 1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.places = nn.Embedding(12, 16), Places(16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(16, 2)
    def forward(self, x):
        return self.out(self.layer(self.places(self.embed(x))).mean(1))
x = torch.randint(0, 12, (240, 9))
y = (x[:, 0] < x[:, 8]).long()
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(3):
    for i in range(0, 240, 24):
        loss = F.cross_entropy(net(x[i:i + 24]), y[i:i + 24])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
VIEWS = (
    HEAD
    + """\
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
def unit(z):
    return F.normalize(z, dim=1)
for step in range(40):
    x = torch.randn(30, 12)
    a, b = unit(net(x)), unit(net(x + 0.1 * torch.randn(30, 12)))
    loss = F.cross_entropy(a @ b.t() / 0.1, torch.arange(30))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
FOCAL = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).float()
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
def focal(scores, target, gamma=2.0):
    losses = F.binary_cross_entropy_with_logits(scores, target, reduction="none")
    p = torch.exp(-losses)
    weight = (1 - p) ** gamma
    return (weight * losses).mean()
for epoch in range(5):
    for i in range(0, 400, 50):
        loss = focal(net(x[i:i + 50]).squeeze(1), y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

PLANTED = {
    "by sample": Planted(
        "position by sample",
        PLACES,
        (("self.pe[:x.size(1)].transpose(0, 1)", "self.pe[:x.size(0)]"),),
        "return x + self.pe",
    ),
    "by a learned table": Planted(
        "position by sample",
        PLACES,
        (
            ("self.pe[:x.size(1)].transpose(0, 1)", "self.pe[:len(x)]"),
            ('self.register_buffer("pe", pe)', "self.pe = nn.Parameter(pe)"),
        ),
        "return x + self.pe",
    ),
    "a norm": Planted("norm over samples", VIEWS, (("dim=1", "dim=0"),), "F.normalize"),
    "a norm by hand": Planted(
        "norm over samples",
        VIEWS,
        (("F.normalize(z, dim=1)", "z / z.norm(dim=0, keepdim=True)"),),
        "z / z.norm",
        both=False,
    ),
    "a focal loss": Planted("easy first", FOCAL, (("(1 - p) ** gamma", "p ** gamma"),), "weight = p"),
}
HEALTHY = {
    "by step": PLACES,
    "unit vectors": VIEWS,
    "hard samples": FOCAL,
    "weights of samples": changed(FOCAL, ("(1 - p) ** gamma", "torch.rand_like(p)")),
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
