"""Training in evaluation mode, and what is tuned in it on purpose."""

import pytest

from .marked import guilty, said

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
