"""Training in evaluation mode, and what is tuned in it on purpose."""

import pytest

from .marked import guilty, said
from .planted import Planted, accused, changed, healthy

FAULTY = {
    "all of it": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
body.eval()  # <-
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-3)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(head(body(X[i:i + 20]).mean(1)), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "a head, after the first measure": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = body, head
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        return self.head(self.drop(self.body(x).mean(1)))
model = Model()
model.body.requires_grad_(False)
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(model(X[i:i + 20]), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()  # <-
    with torch.no_grad():
        print((model(X).argmax(1) == Y).float().mean().item())
""",
    "two optimizers, each a half": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
other = nn.Linear(16, 16)
net = nn.Sequential(body, other)
net.eval()  # <-
opt = torch.optim.Adam([*body.parameters(), *other.parameters(), *head.parameters()], lr=1e-3)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(head(net(X[i:i + 20]).mean(1)), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
}

HEALTHY = {
    "biases": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
body.eval()
for n, p in body.named_parameters():
    p.requires_grad_(n.endswith("bias"))
opt = torch.optim.Adam([*[p for p in body.parameters() if p.requires_grad], *head.parameters()], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(head(body(X[i:i + 20]).mean(1)), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "biases, all held": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
body.eval()
for n, p in body.named_parameters():
    p.requires_grad = "bias" in n
opt = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(head(body(X[i:i + 20]).mean(1)), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "norms alone, by the optimizer": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
body.eval()
opt = torch.optim.Adam([*body.norm1.parameters(), *body.norm2.parameters(), *head.parameters()], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(head(body(X[i:i + 20]).mean(1)), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "a head within the model": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = body, head
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        return self.head(self.drop(self.body(x).mean(1)))
model = Model()
model.body.requires_grad_(False)
model.eval()
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(model(X[i:i + 20]), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "prompts": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = body, head
        self.prompt = nn.Parameter(torch.randn(2, 16) * 0.1)
    def forward(self, x):
        return self.head(self.body(torch.cat([self.prompt.expand(len(x), 2, 16), x], 1)).mean(1))
model = Model()
model.body.requires_grad_(False)
model.eval()
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(model(X[i:i + 20]), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "an adapter": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = body, head
        self.down, self.up = nn.Linear(16, 4), nn.Linear(4, 16)
    def forward(self, x):
        h = self.body(x)
        return self.head((h + self.up(torch.relu(self.down(h)))).mean(1))
model = Model()
model.body.requires_grad_(False)
model.eval()
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(model(X[i:i + 20]), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "pretrained here, then biases": """\
def block(d):
    return nn.TransformerEncoderLayer(d, 2, 32, dropout=0.1, batch_first=True)
X = torch.randn(120, 6, 16)
Y = (X[:, 0, 0] > 0).long()
body, head = block(16), nn.Linear(16, 2)
first = torch.optim.Adam(body.parameters(), lr=1e-3)
for i in range(30):
    loss = (body(X[:20]) - X[:20]).pow(2).mean()
    first.zero_grad()
    loss.backward()
    first.step()
body.eval()
for n, p in body.named_parameters():
    p.requires_grad_(n.endswith("bias"))
opt = torch.optim.Adam([*[p for p in body.parameters() if p.requires_grad], *head.parameters()], lr=1e-2)
for epoch in range(4):
    for i in range(0, 120, 20):
        loss = F.cross_entropy(head(body(X[i:i + 20]).mean(1)), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_its_line_is_named(name):
    text = FAULTY[name]
    found = said(text, name)
    assert "trains in eval" in found, found
    assert any(abs(line - mark) <= 2 for line in found["trains in eval"] for mark in guilty(text)), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert "trains in eval" not in said(HEALTHY[name], name)


ATTENTION = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(240, 6, 16)
Y = (X[:, 0, 0] > X[:, 1, 1]).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.out = nn.Linear(16, 48), nn.Linear(16, 2)
    def forward(self, x):
        q, k, v = self.into(x).unsqueeze(1).chunk(3, -1)
        chance = 0.2 if self.training else 0.0
        h = F.scaled_dot_product_attention(q, k, v, dropout_p=chance)
        return self.out(h.squeeze(1).mean(1))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
def measure():
    net.eval()
    with torch.no_grad():
        right = (net(X[200:]).argmax(1) == Y[200:]).float().mean().item()
    net.train()
    return right
for epoch in range(4):
    for i in range(0, 200, 20):
        loss = F.cross_entropy(net(X[i:i + 20]), Y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(measure())
"""
BUILT = changed(
    ATTENTION,
    ("self.into, self.out = nn.Linear(16, 48)", "self.mix, self.out = nn.MultiheadAttention(16, 2, 0.2)"),
    ("q, k, v = self.into(x).unsqueeze(1).chunk(3, -1)", "x = x.transpose(0, 1)"),
    ("h = F.scaled_dot_product_attention(q, k, v, dropout_p=chance)", "h = self.mix(x, x, x)[0]"),
    ("h.squeeze(1).mean(1)", "h.mean(0)"),
)
DROPPED = {
    "always": Planted("draws always", ATTENTION, (("dropout_p=chance", "dropout_p=0.2"),), "h = "),
    "by its place, in a block": Planted(
        "draws always",
        changed(
            ATTENTION,
            ("net = Net()", "net = nn.Sequential(nn.Linear(16, 16), Net())"),
        ),
        (("q, k, v, dropout_p=chance", "q, k, v, None, 0.2"),),
        "h = ",
    ),
    "a mode that is not passed on": Planted(
        "draws always",
        BUILT,
        (
            (
                "self.mix(x, x, x)[0]",
                "F.multi_head_attention_forward(x, x, x, 16, 2, self.mix.in_proj_weight, self.mix.in_proj_bias, None, "
                "None, False, 0.2, self.mix.out_proj.weight, self.mix.out_proj.bias)[0]",
            ),
        ),
        "h = ",
    ),
    "in a function": Planted(
        "draws outside",
        changed(
            ATTENTION,
            ("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        ", ""),
            ("self.into, self.out = nn.Linear(16, 48), nn.Linear(16, 2)\n    def forward(self, x):", "MODEL"),
            ("self.into", "into"),
            ("self.out", "out"),
            ("if self.training", "if torch.is_grad_enabled()"),
            ("MODEL", "into, out = nn.Linear(16, 48), nn.Linear(16, 2)\ndef net(x):"),
            ("net = Net()\n", ""),
            ("net.parameters()", "[*into.parameters(), *out.parameters()]"),
            ("    net.eval()\n", ""),
            ("    net.train()\n", ""),
        ),
        (("dropout_p=chance", "dropout_p=0.2"),),
        "h = ",
    ),
}
FOLLOWS = {
    "as the module is": ATTENTION,
    "a layer of attention": BUILT,
    "an average over draws": changed(
        ATTENTION,
        ("dropout_p=chance", "dropout_p=0.2"),
        ("net(X[200:]).argmax(1)", "sum(net(X[200:]) for _ in range(8)).argmax(1)"),
    ),
    "in a function": DROPPED["in a function"].text,
    "a chance of 0": changed(ATTENTION, ("dropout_p=chance", "dropout_p=0.0")),
    "a transformer": changed(
        ATTENTION,
        (
            "net = Net()",
            "net = nn.Sequential(nn.TransformerEncoderLayer(16, 2, 32, 0.2, batch_first=True), Net())",
        ),
    ),
}


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", DROPPED)
def test_attention_that_always_drops_is_placed(name, engine):
    accused(engine, DROPPED[name])


@pytest.mark.parametrize("engine", ["vistorch", "torch"])
@pytest.mark.parametrize("name", FOLLOWS)
def test_attention_that_follows_its_mode_is_not_accused(name, engine):
    healthy(engine, name, FOLLOWS[name])
