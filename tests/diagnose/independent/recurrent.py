"""Recurrent networks: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "adam lr one",
    "learning rate: far too large for Adam",
    ("too large",),
    (19,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 8)
        self.gru = nn.GRU(8, 16, batch_first=True)
        self.fc = nn.Linear(16, 2)

    def forward(self, x):
        _, h = self.gru(self.emb(x))
        return self.fc(h[-1])

net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
losses = []
for step in range(130):
    x = torch.randint(0, 10, (32, 6))
    y = (x[:, -1] > x[:, -2]).long()
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 20 == 0:
        print(step, loss.item())
print("mean of the last 20 losses %.4f" % (sum(losses[-20:]) / 20))
""",
    (
        "optimizer = torch.optim.Adam(net.parameters(), lr=0.01)\n",
        "optimizer = torch.optim.Adam(net.parameters(), lr=1)\n",
    ),
)

fault(
    "data hidden",
    "the history is cut: .data on the hidden state at every time step",
    ("cut each step",),
    (15,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Memory(nn.Module):
    def __init__(self, symbols, hidden):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(symbols, hidden)
        self.fc = nn.Linear(hidden, symbols)

    def forward(self, x):
        h = torch.zeros(x.size(0), self.hidden)
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
        return self.fc(h)

def main():
    torch.manual_seed(0)
    model = Memory(4, 12)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    accs = []
    for it in range(200):
        ids = torch.randint(0, 4, (32, 6))
        x = F.one_hot(ids, 4).float()
        logits = model(x)
        loss = F.cross_entropy(logits, ids[:, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accs.append((logits.argmax(1) == ids[:, 0]).float().mean().item())
        if it % 50 == 0:
            print("it", it, "loss", loss.item())
    print("accuracy of the last 20: %.3f" % (sum(accs[-20:]) / 20))

if __name__ == "__main__":
    main()
""",
    ("            h = self.cell(x[:, t], h)\n", "            h = self.cell(x[:, t], h.data)\n"),
)

healthy(
    "tied weights",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = "she sells sea shells by the sea shore the shells she sells are sea shells for sure " * 12
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(c) for c in text])

class TiedLM(nn.Module):
    def __init__(self, n, d=24):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, n, bias=False)
        self.out.weight = self.emb.weight
        nn.init.normal_(self.emb.weight, std=0.3)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])

lm = TiedLM(len(vocab))
opt = torch.optim.Adam(lm.parameters(), lr=0.015)
for step in range(120):
    at = torch.randint(0, len(ids) - 17, (16,))
    seq = torch.stack([ids[a:a + 17] for a in at])
    loss = F.cross_entropy(lm(seq[:, :-1]).flatten(0, 1), seq[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print("step", step, "loss", loss.item())
print("last loss", loss.item())
""",
)

healthy(
    "truncated bptt",
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
t = torch.arange(801).float()
series = torch.sin(0.3 * t) + 0.3 * torch.sin(0.05 * t)
lstm = nn.LSTM(1, 16, batch_first=True)
fc = nn.Linear(16, 1)
opt = torch.optim.Adam([*lstm.parameters(), *fc.parameters()], lr=0.01)
for epoch in range(3):
    state = None
    for i in range(0, 800, 20):
        x, y = series[i:i + 20].view(1, -1, 1), series[i + 1:i + 21].view(1, -1, 1)
        if state is not None:
            state = tuple(s.detach() for s in state)
        out, state = lstm(x, state)
        loss = nn.functional.mse_loss(fc(out), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
print("last loss", loss.item())
""",
)

fault(
    "lm unshifted",
    "labels and data: the targets are not shifted, so the input itself is the target",
    ("target given",),
    (23,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
text = "one two three four five six seven eight nine ten " * 20
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(c) for c in text])

class CharRNN(nn.Module):
    def __init__(self, v, h=32):
        super().__init__()
        self.emb = nn.Embedding(v, 12)
        self.rnn = nn.GRU(12, h, batch_first=True)
        self.out = nn.Linear(h, v)

    def forward(self, x, h=None):
        y, h = self.rnn(self.emb(x), h)
        return self.out(y), h

def get_batch(n=16, length=16):
    start = torch.randint(0, len(ids) - length - 1, (n,))
    x = torch.stack([ids[s:s + length] for s in start])
    y = torch.stack([ids[s + 1:s + length + 1] for s in start])
    return x, y

model = CharRNN(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(120):
    x, y = get_batch()
    logits, _ = model(x)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print("step", step, "loss %.3f" % loss.item())
with torch.no_grad():
    logits, _ = model(ids[:200].unsqueeze(0))
    right = (logits[0, 10:-1].argmax(1) == ids[11:200]).float().mean()
print("letters foretold rightly %.3f" % right)
""",
    (
        "    y = torch.stack([ids[s + 1:s + length + 1] for s in start])\n",
        "    y = torch.stack([ids[s:s + length] for s in start])\n",
    ),
)

fault(
    "lstm not batch first",
    "shapes that broadcast by mistake: batches (batch, time, features) into an LSTM without batch_first",
    ("other axis",),
    (8,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

class GestureNet(nn.Module):
    def __init__(self, channels, hidden, classes):
        super().__init__()
        self.lstm = nn.LSTM(channels, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.fc(out[:, -1])

def recordings(n, length=12):
    kind = torch.randint(0, 3, (n,))
    t = torch.arange(length).float()
    start = torch.rand(n, 1) * 6.28
    speed = (0.3 + 0.4 * kind.float()).unsqueeze(1)
    x = torch.stack([torch.sin(start + speed * t), torch.cos(start + speed * t)], 2)
    return x + 0.1 * torch.randn_like(x), kind

torch.manual_seed(0)
X, Y = recordings(384)
loader = DataLoader(TensorDataset(X, Y), batch_size=32, shuffle=True)
model = GestureNet(2, 16, 3)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(12):
    total, correct = 0.0, 0
    for x, y in loader:
        out = model(x)
        loss = loss_fn(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        correct += (out.argmax(1) == y).sum().item()
    if epoch % 3 == 2:
        print("epoch %d loss %.3f accuracy %.3f" % (epoch + 1, total / len(loader), correct / 384))
print("accuracy of the last epoch %.3f" % (correct / 384))
""",
    (
        "        self.lstm = nn.LSTM(channels, hidden, batch_first=True)\n",
        "        self.lstm = nn.LSTM(channels, hidden)\n",
    ),
)

fault(
    "sine gru",
    "backward or step missing or at the wrong place: step called before backward on gradients just cleared",
    ("cleared",),
    (31,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)

class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out)

def waves(n, length=21):
    start = torch.rand(n, 1) * 6.28
    speed = 0.3 + 0.2 * torch.rand(n, 1)
    t = torch.arange(length).float()
    return torch.sin(start + speed * t).unsqueeze(2)

model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
mse = nn.MSELoss()
losses = []
for step in range(90):
    seq = waves(24)
    inputs, targets = seq[:, :-1], seq[:, 1:]
    loss = mse(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 15 == 0:
        print(step, losses[-1])
print("mean of the last ten: %.4f" % (sum(losses[-10:]) / 10))
""",
    ("    optimizer.zero_grad()\n", "    optimizer.zero_grad()\n    optimizer.step()\n"),
    ("    loss.backward()\n    optimizer.step()\n", "    loss.backward()\n"),
)

fault(
    "state over batches",
    "history that grows: the hidden state goes to the next window without detach",
    ("second pass",),
    (20,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
t = torch.arange(1201).float()
signal = torch.sin(0.2 * t) * torch.sin(0.031 * t)
window = 20

rnn = nn.GRU(1, 16)
readout = nn.Linear(16, 1)
params = list(rnn.parameters()) + list(readout.parameters())
opt = torch.optim.Adam(params, lr=5e-3)
mse = nn.MSELoss()

for epoch in range(2):
    hidden = torch.zeros(1, 1, 16)
    for start in range(0, 1200, window):
        x = signal[start:start + window].view(window, 1, 1)
        y = signal[start + 1:start + window + 1].view(window, 1, 1)
        out, hidden = rnn(x, hidden.detach())
        loss = mse(readout(out), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
print("loss", loss.item())
""",
    ("        out, hidden = rnn(x, hidden.detach())\n", "        out, hidden = rnn(x, hidden)\n"),
)

fault(
    "tanh output",
    "activations: a tanh at the output of targets that reach from -4 to 4",
    ("bounded",),
    (14,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)

class Pendulum(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, 24, batch_first=True)
        self.head = nn.Linear(24, 1)

    def forward(self, push):
        h, _ = self.rnn(push)
        return self.head(h)

push = torch.randn(64, 12, 1)
angle = torch.zeros(64, 12, 1)
state = torch.zeros(64, 1)
for t in range(12):
    state = 0.8 * state + push[:, t]
    angle[:, t] = state
model = Pendulum()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(200):
    loss = ((model(push) - angle) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 40 == 0:
        print("epoch", epoch, "loss", loss.item())
print("last loss %.4f" % loss.item())
""",
    ("        return self.head(h)\n", "        return torch.tanh(self.head(h))\n"),
)

fault(
    "tight clip",
    "learning rate: gradient clipping far too small",
    ("clipped away",),
    (32,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

def adding_problem(n, length=6):
    numbers = torch.rand(n, length)
    marks = torch.zeros(n, length)
    for i in range(n):
        marks[i, torch.randperm(length)[:2]] = 1
    return torch.stack([numbers, marks], 2), (numbers * marks).sum(1)

class AddNet(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.gru = nn.GRU(2, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc(self.gru(x)[0][:, -1]).squeeze(1)

X, Y = adding_problem(600)
Y = (Y - Y.mean()) / Y.std()
net = AddNet()
opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
for it in range(250):
    idx = torch.randint(0, 600, (32,))
    loss = F.mse_loss(net(X[idx]), Y[idx])
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if it % 50 == 0:
        print("it", it, "loss %.4f" % loss.item())
with torch.no_grad():
    print("error %.4f" % F.mse_loss(net(X), Y).item())
""",
    (
        "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n",
        "    nn.utils.clip_grad_norm_(net.parameters(), 1e-4)\n",
    ),
)

fault(
    "window with answer",
    "labels and data: off by one, the window contains the value that is to be forecast",
    ("target given",),
    (15,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
noise = torch.randn(700)
series = [0.0, 0.0]
for i in range(700):
    series.append(0.6 * series[-1] - 0.5 * series[-2] + noise[i].item() * 0.5)
series = torch.tensor(series)

window = 8
xs, ys = [], []
for i in range(len(series) - window - 1):
    xs.append(series[i:i + window])
    ys.append(series[i + window])
x = torch.stack(xs).unsqueeze(-1)
y = torch.stack(ys)

rnn = nn.RNN(1, 16, batch_first=True)
fc = nn.Linear(16, 1)
opt = torch.optim.Adam(list(rnn.parameters()) + list(fc.parameters()), lr=5e-3)
for epoch in range(8):
    for idx in torch.randperm(len(x)).split(32):
        out, _ = rnn(x[idx])
        loss = ((fc(out[:, -1]).squeeze(1) - y[idx]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss %.4f" % loss.item())
with torch.no_grad():
    pred = fc(rnn(x)[0][:, -1]).squeeze(1)
    nxt = series[window:window + len(x)]
    print("train error %.4f, error for the step that comes %.4f (variance %.4f)" % (((pred - y) ** 2).mean(), ((pred - nxt) ** 2).mean(), nxt.var()))
""",
    ("    ys.append(series[i + window])\n", "    ys.append(series[i + window - 1])\n"),
)
