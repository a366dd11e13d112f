"""Exceptions whose cause stands on another line than where they are raised."""

import pytest

from .harness import run
from .marked import HEAD, guilty

PROGRAMS = {
    "no leaf, a list": """\
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
w = torch.randn(3, 1, requires_grad=True) * 0.1  # <-
b = torch.zeros(1, requires_grad=True)
for step in range(10):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in [w, b]:
            p -= 0.1 * p.grad
            p.grad.zero_()
""",
    "no leaf, zero_": """\
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
w = torch.randn(3, requires_grad=True).reshape(3, 1)  # <-
for step in range(10):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    g = w.grad.clone()
    w.data -= 0.1 * g
    w.grad.zero_()
""",
    "no leaf, .data of grad": """\
class Model:
    def __init__(self):
        self.w1 = torch.randn(3, 8, requires_grad=True, dtype=torch.float64).float()  # <-
        self.w2 = torch.zeros(8, 1, requires_grad=True)
    def __call__(self, x):
        return torch.relu(x @ self.w1) @ self.w2
net = Model()
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
for step in range(10):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    net.w2.data -= 0.1 * net.w2.grad.data
    net.w1.data -= 0.1 * net.w1.grad.data
""",
    "no leaf, optimizer": """\
def draw(*shape):
    return torch.randn(*shape, requires_grad=True) / 10  # <-
w1 = draw(3, 8)
w2 = draw(8, 1)
opt = torch.optim.SGD([w1, w2], lr=0.1)
""",
    "no leaf, rebound": """\
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
w = torch.zeros(3, 1, requires_grad=True)
lr = 0.1
for step in range(10):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w = w - lr * w.grad  # <-
""",
    "no leaf, silent": """\
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
params = []
for shape in [(3, 16), (16, 1)]:
    params.append(torch.randn(*shape, requires_grad=True) * 0.3)  # <-
    params.append(torch.zeros(shape[1], requires_grad=True))
w1, b1, w2, b2 = params
for step in range(40):
    h = torch.tanh(x @ w1 + b1)
    loss = ((h @ w2 + b2 - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in params:
            if p.grad is not None:
                p -= 0.05 * p.grad
                p.grad.zero_()
""",
    "no leaf, silent in a function": """\
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
W = {"a": torch.randn(3, 1, requires_grad=True).mul(0.01), "b": torch.zeros(1, requires_grad=True)}  # <-
def update(params, lr):
    for name, p in params.items():
        g = p.grad
        if g is None:
            continue
        p.data.add_(g, alpha=-lr)
        p.grad = None
for step in range(40):
    loss = ((x @ W["a"] + W["b"] - y) ** 2).mean()
    loss.backward()
    update(W, 0.05)
""",
    "no leaf, module attribute": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 8)
        self.scale = nn.Parameter(torch.randn(8)) * 0.1  # <-
        self.out = nn.Linear(8, 1)
    def forward(self, x):
        return self.out(torch.relu(self.lin(x)) * self.scale)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
for step in range(40):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "grads cleared before they are read": """\
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
for step in range(10):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.zero_grad()  # <-
    total = 0.0
    w = 0
    v = 0
    for p in net.parameters():
        total += p.grad.norm().item() ** 2
    opt.step()
""",
    "a layer nobody calls": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 8)
        self.b = nn.Linear(8, 8)  # <-
        self.c = nn.Linear(8, 1)
    def forward(self, x):
        return self.c(torch.relu(self.a(x)))
net = Net()
x = torch.randn(64, 3)
y = x.sum(1, keepdim=True)
for step in range(10):
    loss = F.mse_loss(net(x), y)
    net.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad
""",
    "two layers": """\
net = nn.Sequential(
    nn.Linear(10, 20),
    nn.ReLU(),
    nn.Linear(30, 5),  # <-
)
x = torch.randn(8, 10)
q = 1
r = 2
out = net(x)
""",
    "flatten": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 5 * 5, 3)  # <-
        self.n = 0
        self.m = 0
    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = x.flatten(1)
        return self.fc(x)
net = Net()
out = net(torch.randn(2, 1, 16, 16))
""",
    "labels are floats": """\
x = torch.randn(20, 4)
y = (x.sum(1) > 0).float()  # <-
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
""",
    "labels are floats in a data set": """\
from torch.utils.data import Dataset, DataLoader
class Data(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], torch.tensor(self.y[i], dtype=torch.float32)  # <-
x = torch.randn(20, 4)
y = (x.sum(1) > 0).long().tolist()
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for a, b in DataLoader(Data(x, y), batch_size=5):
    opt.zero_grad()
    loss = F.cross_entropy(net(a), b)
    loss.backward()
""",
    "doubles of numpy": """\
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
Y = X.sum(1)
x = torch.from_numpy(X)  # <-
y = torch.from_numpy(Y).float()
q = 1
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
for i in range(2):
    out = net(x[:10])
""",
    "embedding too small": """\
words = "a b c d e f g".split()
index = {w: i + 1 for i, w in enumerate(words)}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(index), 4)  # <-
        self.out = nn.Linear(4, 2)
    def forward(self, t):
        h = self.emb(t)
        return self.out(h.mean(1))
net = Net()
t = torch.tensor([[index[w] for w in "a b g".split()]])
out = net(t)
""",
    "positions too few": """\
class Net(nn.Module):
    def __init__(self, most=8):  # <-
        super().__init__()
        self.tok = nn.Embedding(10, 4)
        self.pos = nn.Embedding(most, 4)
        self.out = nn.Linear(4, 10)
        self.a = self.b = 0
    def forward(self, t):
        places = torch.arange(t.shape[1])
        return self.out(self.tok(t) + self.pos(places))
net = Net()
out = net(torch.randint(0, 10, (2, 12)))
""",
    "forward gives nothing back": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    def forward(self, x):
        x = torch.relu(self.fc(x))  # <-
net = Net()
x = torch.randn(20, 4)
y = torch.randint(0, 2, (20,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    out = net(x)
    loss = F.cross_entropy(out, y)
    loss.backward()
""",
    "forward gives nothing back, attribute": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    def forward(self, x):
        x = torch.relu(self.fc(x))  # <-
net = Net()
x = torch.randn(20, 4)
y = torch.randint(0, 2, (20,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    out = net(x)
    p = out.softmax(1)
""",
    "a block gives nothing back": """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        h = torch.relu(self.fc(x))
        x + h  # <-
net = nn.Sequential(Block(), nn.Linear(4, 2))
x = torch.randn(20, 4)
q = 1
r = 2
out = net(x)
""",
    "one sample": """\
from torch.utils.data import TensorDataset, DataLoader
x = torch.randn(33, 4)
y = torch.randn(33, 1)
dl = DataLoader(TensorDataset(x, y), batch_size=8)  # <-
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in dl:
        loss = F.mse_loss(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "one sample, slices": """\
x = torch.randn(33, 4)
y = torch.randn(33, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for i in range(0, 33, 8):  # <-
        a = x[i:i + 8]
        b = y[i:i + 8]
        opt.zero_grad()
        loss = F.mse_loss(net(a), b)
        loss.backward()
        opt.step()
""",
    "item before backward": """\
net = nn.Linear(4, 1)
x = torch.randn(20, 4)
y = torch.randn(20, 1)
def loss_of(a, b):
    return F.mse_loss(net(a), b).item()  # <-
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    loss = loss_of(x, y)
    opt.zero_grad()
    loss.backward()
""",
    "state of an RNN": """\
cell = nn.GRUCell(2, 4)
out = nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *out.parameters()], lr=0.1)
h = torch.zeros(1, 4)
for i in range(5):
    x = torch.randn(1, 2)
    h = cell(x, h)  # <-
    loss = out(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "two losses": """\
body, a, b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
x = torch.randn(20, 4)
for i in range(5):
    h = torch.tanh(body(x))
    la = a(h).pow(2).mean()
    lb = (b(h) - 1).pow(2).mean()
    opt.zero_grad()
    la.backward()  # <-
    lb.backward()
    opt.step()
""",
    "made before the loop": """\
net = nn.Linear(4, 1)
table = nn.Parameter(torch.randn(5, 4))
opt = torch.optim.SGD([*net.parameters(), table], lr=0.1)
feats = torch.tanh(table)  # <-
q = 1
r = 1
for i in range(5):
    loss = net(feats).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "frozen all": """\
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for p in net.parameters():
    p.requires_grad = False  # <-
x, y = torch.randn(20, 4), torch.randint(0, 2, (20,))
q = 1
r = 1
for i in range(5):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
""",
    "argmax": """\
net = nn.Linear(4, 3)
x, y = torch.randn(20, 4), torch.randint(0, 3, (20,))
q = 1
for i in range(5):
    guess = net(x).argmax(1).float()  # <-
    hits = guess.eq(y)
    r = 1
    loss = 1 - hits.float().mean()
    loss.backward()
""",
    "new tensor": """\
net = nn.Linear(4, 3)
x, y = torch.randn(20, 4), torch.randint(0, 3, (20,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(5):
    losses = []
    for j in range(20):
        losses.append(F.cross_entropy(net(x[j:j + 1]), y[j:j + 1]).item())  # <-
    opt.zero_grad()
    r = 1
    loss = torch.tensor(losses).mean()
    loss.backward()
""",
    "no grad": """\
net = nn.Linear(4, 3)
x, y = torch.randn(20, 4), torch.randint(0, 3, (20,))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
@torch.no_grad()  # <-
def scores(x):
    h = x * 2
    h = h + 1
    return net(h)
for i in range(5):
    loss = F.cross_entropy(scores(x), y)
    loss.backward()
""",
    "no grad for good": """\
net = nn.Linear(4, 3)
x, y = torch.randn(20, 4), torch.randint(0, 3, (20,))
torch.set_grad_enabled(False)  # <-
print(net(x).argmax(1).eq(y).float().mean())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
q = 1
for i in range(5):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
""",
    "empty optimizer": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 2)]  # <-
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
""",
    "batch sizes": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 14 * 7, 3)
    def forward(self, x):
        x = F.relu(self.conv(x))
        x = x.view(-1, 4 * 14 * 7)  # <-
        return self.fc(x)
net = Net()
x, y = torch.randn(8, 1, 16, 16), torch.randint(0, 3, (8,))
q = 1
out = net(x)
loss = F.cross_entropy(out, y)
""",
    "unequal samples": """\
from torch.utils.data import Dataset, DataLoader
class Data(Dataset):
    def __len__(self):
        return 10
    def __getitem__(self, i):
        return torch.ones(i + 1), i % 2  # <-
dl = DataLoader(Data(), batch_size=2)
q = 1
r = 1
for a, b in dl:
    print(a.shape)
""",
    "length of a data set": """\
from torch.utils.data import Dataset, DataLoader
class Data(Dataset):
    def __init__(self):
        self.x = torch.randn(20, 4)
        self.w = 4
    def __len__(self):
        return self.x.numel()  # <-
    def pair(self, i):
        return self.x[i], self.x[i + 1]
    def get(self, i):
        return self.pair(i)
    def __getitem__(self, i):
        return self.get(i)
dl = DataLoader(Data(), batch_size=4)
for a, b in dl:
    print(a.shape)
""",
    "a tuple of an LSTM": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 8, batch_first=True)
        self.out = nn.Linear(8, 2)
    def forward(self, x):
        h = self.rnn(x)  # <-
        n = len(x)
        m = n + 1
        k = m + 1
        return self.out(h[:, -1])
net = Net()
out = net(torch.randn(4, 5, 3))
""",
    "one hot into a layer": """\
x = torch.randint(0, 5, (20,))
hot = F.one_hot(x, 5)  # <-
net = nn.Linear(5, 2)
q = 1
r = 1
out = net(hot)
""",
    "ids are floats": """\
ids = torch.zeros(4, 6)  # <-
for i in range(4):
    for j in range(6):
        ids[i, j] = (i * j) % 5
emb = nn.Embedding(5, 3)
q = 1
out = emb(ids)
""",
    "no super": """\
class Net(nn.Module):
    def __init__(self, n):  # <-
        self.n = n
        self.fc = nn.Linear(n, 2)
    def forward(self, x):
        return self.fc(x)
net = Net(3)
""",
    "beyond 0 to 1": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 1)
    def forward(self, x):
        return self.b(torch.relu(self.a(x))).squeeze(1)  # <-
net = Net()
x = torch.randn(20, 4)
y = (x.sum(1) > 0).float()
q = 1
for i in range(3):
    loss = F.binary_cross_entropy(net(x), y)
""",
    "classes too few": """\
x = torch.randn(20, 4)
y = torch.randint(1, 4, (20,))
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))  # <-
q = 1
r = 1
loss = F.cross_entropy(net(x), y)
""",
    "residual of other width": """\
class Block(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.one = nn.Linear(a, b)  # <-
        self.two = nn.Linear(b, b)
        self.k = 1
        self.l = 1
    def forward(self, x):
        h = torch.relu(self.one(x))
        return x + self.two(h)
net = nn.Sequential(Block(4, 4), Block(4, 8))
out = net(torch.randn(3, 4))
""",
    "numpy with a gradient": """\
net = nn.Linear(2, 1)
x = torch.linspace(0, 1, 10).reshape(5, 2)
out = net(x)
q = 1
curve = out.numpy()  # <-
""",
    "a fake batch with its history": """\
gen, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3)
for step in range(5):
    fake = gen(torch.randn(16, 4))
    real = torch.randn(16, 2)
    opt_c.zero_grad()
    up = critic(real).mean()
    down = critic(fake).mean()  # <-
    gap = down - up
    gap.backward()
    opt_c.step()
    opt_g.zero_grad()
    score = -critic(fake).mean()
    score.backward()
    opt_g.step()
""",
    "a fake batch with its history, the generator first": """\
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)
    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.b(h)
class Maker(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)
    def forward(self, z):
        return torch.tanh(self.body(z))
maker, critic = Maker(), Critic()
first = torch.optim.SGD(maker.parameters(), lr=1e-2)
second = torch.optim.SGD(critic.parameters(), lr=1e-2)
bce = nn.BCEWithLogitsLoss()
def play(real, ones, zeros):
    fake = maker(torch.randn(16, 4))
    loss = bce(critic(fake), ones)
    first.zero_grad()
    loss.backward()
    first.step()
    right = critic(real)


    wrong = critic(fake)  # <-


    loss = bce(right, ones) + bce(wrong, zeros)
    second.zero_grad()
    loss.backward()
    second.step()
for step in range(5):
    play(torch.randn(16, 2), torch.ones(16, 1), torch.zeros(16, 1))
""",
    "features with their history": """\
body, probe, head = nn.Linear(6, 8), nn.Linear(8, 3), nn.Linear(8, 1)
opt_probe = torch.optim.SGD(probe.parameters(), lr=0.1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
x, y, kind = torch.randn(32, 6), torch.randn(32, 1), torch.randint(0, 3, (32,))
for step in range(5):
    features = torch.relu(body(x))


    guess = F.linear(features, probe.weight, probe.bias)  # <-


    loss = F.cross_entropy(guess, kind)
    opt_probe.zero_grad()
    loss.backward()
    opt_probe.step()
    loss = F.mse_loss(head(features), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "dim of a tuple": """\
def encode(x):
    h = x * 2
    return h, x.mean()
x = torch.randn(3, 4)
q = 1
z = encode(x)  # <-
w = 1
print(z.shape)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_of_the_cause_is_named(name):
    text = PROGRAMS[name]
    found = run(name, HEAD + text)
    assert found.error and not found.failures, found.failures
    lines = [line.line for line in found.findings[0].named]
    assert any(abs(line - mark) <= 2 for line in lines for mark in guilty(text)), found.findings[0]
