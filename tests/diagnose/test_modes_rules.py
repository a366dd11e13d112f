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
    "the first measure, the same optimizer": """\
x = torch.randn(400, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    for pick in torch.randperm(400).split(16):
        loss = F.cross_entropy(net(x[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()  # <-
    with torch.no_grad():
        print((net(x).argmax(1) == y).float().mean().item())
""",
    "another optimizer, left in it by a measure": """\
x = torch.randn(400, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
def train(opt, epochs):
    for epoch in range(epochs):
        for pick in torch.randperm(400).split(16):
            loss = F.cross_entropy(net(x[pick]), y[pick])
            opt.zero_grad()
            loss.backward()
            opt.step()
train(torch.optim.Adam(net.parameters(), lr=1e-2), 2)
net.eval()  # <-
with torch.no_grad():
    print((net(x).argmax(1) == y).float().mean().item())
train(torch.optim.SGD(net.parameters(), lr=1e-2), 4)
""",
    "never in training mode": """\
x = torch.randn(400, 8) * torch.linspace(1, 30, 8) + 5
y = (x[:, 0] > 5).long()
net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(4):
    net.eval()  # <-
    for pick in torch.randperm(400).split(40):
        loss = F.cross_entropy(net(x[pick]), y[pick])
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
    "fine-tuned with kept statistics, new optimizer": """\
x = torch.randn(600, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
body = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(body.parameters(), lr=1e-2)
def accuracy(a, b):
    body.eval()
    with torch.no_grad():
        return (body(a).argmax(1) == b).float().mean().item()
for epoch in range(8):
    body.train()
    for pick in torch.randperm(600).split(100):
        loss = F.cross_entropy(body(x[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(accuracy(x, y))
shifted = x[:40] + 0.3
tune = torch.optim.SGD(body.parameters(), lr=1e-2)
for epoch in range(5):
    body.eval()
    for a, b in zip(shifted.split(4), y[:40].split(4)):
        loss = F.cross_entropy(body(a), b)
        tune.zero_grad()
        loss.backward()
        tune.step()
    print(accuracy(shifted, y[:40]))
""",
    "loaded, measured, tuned in evaluation mode": """\
def make():
    return nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
x = torch.randn(400, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
teacher = make()
with torch.no_grad():
    for part in x.split(40):
        teacher(part)
net = make()
net.load_state_dict(teacher.state_dict())
net.eval()
with torch.no_grad():
    print("before", (net(x).argmax(1) == y).float().mean().item())
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(6):
    for pick in torch.randperm(400).split(8):
        loss = F.cross_entropy(net(x[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print((net(x).argmax(1) == y).float().mean().item())
""",
    "frozen trunk in evaluation mode, loaded": """\
trunk = nn.Sequential(nn.Linear(8, 24), nn.BatchNorm1d(24), nn.ReLU())
trunk.load_state_dict(trunk.state_dict())
trunk.eval().requires_grad_(False)
head = nn.Linear(24, 3)
x = torch.randn(300, 8)
y = x[:, :3].argmax(1)
opt = torch.optim.Adam(head.parameters(), lr=2e-2)
for epoch in range(10):
    for pick in torch.randperm(300).split(50):
        loss = F.cross_entropy(head(trunk(x[pick])), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print((head(trunk(x)).argmax(1) == y).float().mean().item())
""",
}

DRAWS = {
    "the network that learns": """\
import copy
def view(x):
    return x + 0.3 * torch.randn_like(x)
x = torch.randn(6, 12)[torch.randint(0, 6, (600,))] + 0.2 * torch.randn(600, 12)
online = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
predict = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
target = copy.deepcopy(online)
for w in target.parameters():
    w.requires_grad = False
opt = torch.optim.SGD([*online.parameters(), *predict.parameters()], lr=0.05, momentum=0.9)
for epoch in range(6):
    for pick in torch.randperm(600).split(60):
        a, b = view(x[pick]), view(x[pick])
        with torch.no_grad():
            goal = F.normalize(target(b), dim=1)
            spread = goal.std(0).mean().item()
        loss = -(F.normalize(predict(online(a)), dim=1) * goal).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), online.parameters()):
                slow.lerp_(fast, 0.05)
    with torch.no_grad():
        print(epoch, online(x[:200]).std(0).mean().item())  # <-
""",
    "a frozen trunk": """\
x = torch.randn(300, 8)
y = x[:, :3].argmax(1)
trunk = nn.Sequential(nn.Linear(8, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.3))
trunk.requires_grad_(False)
head = nn.Linear(24, 3)
opt = torch.optim.Adam(head.parameters(), lr=2e-2)
for epoch in range(8):
    for pick in torch.randperm(300).split(50):
        loss = F.cross_entropy(head(trunk(x[pick])), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print((head(trunk(x)).argmax(1) == y).float().mean().item())  # <-
""",
}

FOLLOWS = {
    "byol, lerp": """\
import copy
def view(x):
    return x + 0.3 * torch.randn_like(x)
x = torch.randn(6, 12)[torch.randint(0, 6, (600,))] + 0.2 * torch.randn(600, 12)
online = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
predict = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
target = copy.deepcopy(online)
for w in target.parameters():
    w.requires_grad = False
opt = torch.optim.SGD([*online.parameters(), *predict.parameters()], lr=0.05, momentum=0.9)
for epoch in range(6):
    for pick in torch.randperm(600).split(60):
        a, b = view(x[pick]), view(x[pick])
        with torch.no_grad():
            goal = F.normalize(target(b), dim=1)
            spread = goal.std(0).mean().item()
        loss = -(F.normalize(predict(online(a)), dim=1) * goal).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), online.parameters()):
                slow.lerp_(fast, 0.05)
    with torch.no_grad():
        print(epoch, target(x[:200]).std(0).mean().item())
""",
    "byol, data": """\
import copy
def view(x):
    return x + 0.3 * torch.randn_like(x)
x = torch.randn(6, 12)[torch.randint(0, 6, (600,))] + 0.2 * torch.randn(600, 12)
online = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
predict = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
target = copy.deepcopy(online)
for w in target.parameters():
    w.requires_grad = False
opt = torch.optim.SGD([*online.parameters(), *predict.parameters()], lr=0.05, momentum=0.9)
for epoch in range(6):
    for pick in torch.randperm(600).split(60):
        a, b = view(x[pick]), view(x[pick])
        with torch.no_grad():
            goal = F.normalize(target(b), dim=1)
            pass
        loss = -(F.normalize(predict(online(a)), dim=1) * goal).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for slow, fast in zip(target.parameters(), online.parameters()):
            slow.data = 0.95 * slow.data + 0.05 * fast.data
    with torch.no_grad():
        print(epoch, target(x[:200]).std(0).mean().item())
""",
    "byol, loaded": """\
import copy
def view(x):
    return x + 0.3 * torch.randn_like(x)
x = torch.randn(6, 12)[torch.randint(0, 6, (600,))] + 0.2 * torch.randn(600, 12)
online = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
predict = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
target = copy.deepcopy(online)
for w in target.parameters():
    w.requires_grad = False
opt = torch.optim.SGD([*online.parameters(), *predict.parameters()], lr=0.05, momentum=0.9)
for epoch in range(6):
    for pick in torch.randperm(600).split(60):
        a, b = view(x[pick]), view(x[pick])
        with torch.no_grad():
            goal = F.normalize(target(b), dim=1)
            pass
        loss = -(F.normalize(predict(online(a)), dim=1) * goal).sum(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        new = online.state_dict()
        mixed = {k: 0.9 * v + 0.1 * new[k] if v.is_floating_point() else v for k, v in target.state_dict().items()}
        target.load_state_dict(mixed)
    with torch.no_grad():
        print(epoch, target(x[:200]).std(0).mean().item())
""",
    "mean teacher": """\
import copy
x = torch.randn(400, 6)
y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
student = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=5e-3)
for step in range(80):
    pick = torch.randint(0, 40, (16,))
    free = torch.randint(0, 400, (48,))
    student.train()
    loss = F.cross_entropy(student(x[pick]), y[pick])
    with torch.no_grad():
        aim = teacher(x[free] + 0.1 * torch.randn(48, 6)).softmax(1)
    gap = F.mse_loss(student(x[free]).softmax(1), aim)
    (loss + gap).backward()
    opt.step()
    opt.zero_grad()
    with torch.no_grad():
        for slow, fast in zip(teacher.parameters(), student.parameters()):
            slow.mul_(0.97).add_(fast, alpha=0.03)
    if step % 20 == 19:
        agreed = (aim.argmax(1) == y[free]).float().mean().item()
        student.eval()
        with torch.no_grad():
            print(agreed, (student(x).argmax(1) == y).float().mean().item())
""",
    "dqn with a target in training mode": """\
import copy
q = nn.Sequential(nn.Linear(3, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 2))
aim = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-2)
s = torch.randn(400, 3)
a = torch.randint(0, 2, (400,))
r = torch.where(a == 0, s[:, 0], -s[:, 0])
n = torch.randn(400, 3)
for step in range(100):
    pick = torch.randint(0, 400, (64,))
    with torch.no_grad():
        goal = r[pick] + 0.5 * aim(n[pick]).max(1).values
    loss = F.smooth_l1_loss(q(s[pick]).gather(1, a[pick, None])[:, 0], goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        aim.load_state_dict(q.state_dict())
        with torch.no_grad():
            print(aim(s).max(1).values.mean().item())
""",
    "moco, a queue": """\
import copy
base = torch.randn(8, 10)
def batch(n):
    x = base[torch.randint(0, 8, (n,))] + 0.2 * torch.randn(n, 10)
    return x + 0.2 * torch.randn(n, 10), x + 0.2 * torch.randn(n, 10)
q = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
k = copy.deepcopy(q)
for w in k.parameters():
    w.requires_grad_(False)
with torch.no_grad():
    queue = F.normalize(k(batch(128)[0]), dim=1)
opt = torch.optim.SGD(q.parameters(), lr=0.1, momentum=0.9)
for step in range(60):
    a, b = batch(32)
    with torch.no_grad():
        for slow, fast in zip(k.parameters(), q.parameters()):
            slow.data = slow.data * 0.95 + fast.data * 0.05
        key = F.normalize(k(b), dim=1)
    query = F.normalize(q(a), dim=1)
    scores = torch.cat([(query * key).sum(1, keepdim=True), query @ queue.t()], 1) / 0.2
    loss = F.cross_entropy(scores, torch.zeros(32, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    queue = torch.cat([queue[32:], key])
    if step % 20 == 19:
        print(loss.item(), key.std(0).mean().item())
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
PASSES_ON = {
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
@pytest.mark.parametrize("name", PASSES_ON)
def test_attention_that_follows_its_mode_is_not_accused(name, engine):
    healthy(engine, name, PASSES_ON[name])


@pytest.mark.parametrize("name", DRAWS)
def test_a_measure_in_training_mode_is_found(name):
    found = said(DRAWS[name], name)
    assert any(abs(line - mark) <= 2 for line in found["draws in evaluation"] for mark in guilty(DRAWS[name]))


@pytest.mark.parametrize("name", FOLLOWS)
def test_a_network_that_follows_another_is_no_evaluation(name):
    assert said(FOLLOWS[name], name) == {}
