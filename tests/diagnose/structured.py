"""More programs, for the rules on how models are put together, on data and on what is left over.

Invariant: as in `faults` and `healthy`: one change each, and every base is healthy by itself.
"""

# ruff: noqa: E501  (a change of a program is one string)

from __future__ import annotations

from .bases import BASES, HEAD
from .faults import plant
from .healthy import like

BASES["sequence"] = (
    HEAD
    + """\
KIND = torch.randint(0, 3, (240,))
X = torch.sin(torch.arange(10).float() * (0.3 + 0.5 * KIND.float()).unsqueeze(1) + torch.rand(240, 1) * 6).unsqueeze(2)
X = torch.cat([X, X.roll(1, 1)], 2) + 0.05 * torch.randn(240, 10, 2)
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 16, batch_first=True)
        self.out = nn.Linear(16, 3)
    def forward(self, x):
        states, last = self.rnn(x)
        return self.out(states[:, -1])
reader = Reader()
opt = torch.optim.Adam(reader.parameters(), lr=2e-2)
for epoch in range(6):
    for rows in torch.randperm(240).split(24):
        loss = F.cross_entropy(reader(X[rows]), KIND[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

BASES["attention"] = (
    HEAD
    + """\
class Attend(nn.Module):
    def __init__(self, d=24, heads=3):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
    def forward(self, x):
        b, t, d = x.shape
        q = self.q(x).view(b, t, self.heads, -1).transpose(1, 2)
        k = self.k(x).view(b, t, self.heads, -1).transpose(1, 2)
        v = self.v(x).view(b, t, self.heads, -1).transpose(1, 2)
        a = (q @ k.transpose(-2, -1) / 8 ** 0.5).softmax(-1)
        y = (a @ v).transpose(1, 2).reshape(b, t, d)
        return self.o(y)
class Finder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 24)
        self.attend = Attend()
        self.norm = nn.LayerNorm(24)
        self.head = nn.Linear(24, 2)
    def forward(self, ids):
        x = self.embed(ids)
        x = self.norm(x + self.attend(x))
        return self.head(x.mean(1))
finder = Finder()
opt = torch.optim.AdamW(finder.parameters(), lr=3e-3)
for step in range(60):
    ids = torch.randint(0, 12, (40, 7))
    y = (ids == 5).any(1).long()
    loss = F.cross_entropy(finder(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["variational"] = (
    HEAD
    + """\
X = torch.sigmoid(torch.randn(300, 3) @ torch.randn(3, 20) * 2)
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(20, 32)
        self.mean, self.scale = nn.Linear(32, 3), nn.Linear(32, 3)
        self.back = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 20))
    def forward(self, x):
        h = torch.tanh(self.body(x))
        m, s = self.mean(h), self.scale(h)
        return self.back(m + torch.randn_like(m) * (s / 2).exp()), m, s
coder = Coder()
opt = torch.optim.Adam(coder.parameters(), lr=5e-3)
for epoch in range(10):
    for i in range(0, 300, 50):
        x = X[i:i + 50]
        back, m, s = coder(x)
        fit = F.mse_loss(back, x, reduction="sum") / 50
        far = -0.5 * (1 + s - m ** 2 - s.exp()).sum() / 50
        loss = fit + 0.1 * far
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

BASES["table"] = (
    HEAD
    + """\
age = 40 + 12 * torch.randn(400)
income = 30000 + 8000 * torch.randn(400)
distance = 5 + 2 * torch.randn(400)
table = torch.stack([age, income, distance], 1)
wanted = (age - 40) / 12 + (income - 30000) / 8000 - (distance - 5) / 2
scaled = (table - table.mean(0)) / table.std(0)
net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(120):
    at = torch.randint(0, 400, (40,))
    loss = F.mse_loss(net(scaled[at]).squeeze(1), wanted[at])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["two tasks"] = (
    HEAD
    + """\
X = torch.randn(300, 9)
depth = X[:, 0] - X[:, 1] * X[:, 2]
kind = (X[:, 3] > X[:, 4]).float()
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 32), nn.ReLU())
        self.depth, self.kind = nn.Linear(32, 1), nn.Linear(32, 1)
    def forward(self, x):
        h = self.trunk(x)
        return self.depth(h).squeeze(1), self.kind(h).squeeze(1)
both = Both()
opt = torch.optim.Adam(both.parameters(), lr=5e-3)
for step in range(80):
    at = torch.randperm(300)[:50]
    d, k = both(X[at])
    near = F.l1_loss(d, depth[at])
    sort = F.binary_cross_entropy_with_logits(k, kind[at])
    loss = near + 0.5 * sort
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["by hand"] = (
    HEAD
    + """\
X = torch.randn(150, 4)
Y = torch.tanh(X @ torch.tensor([1.0, -1.0, 0.5, 0.0]))
w = torch.zeros(4, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for step in range(50):
    loss = ((torch.tanh(X @ w + b) - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.3 * p.grad
            p.grad = None
"""
)

BASES["rings"] = (
    HEAD
    + """\
X = torch.randn(320, 2)
Y = (X.norm(dim=1) > 1.2).long()
train_x, train_y, test_x, test_y = X[:240], Y[:240], X[240:], Y[240:]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 24)
        self.second = nn.Linear(24, 24)
        self.last = nn.Linear(24, 2)
    def forward(self, x):
        x = F.relu(self.first(x))
        x = F.relu(self.second(x))
        return self.last(x)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
for epoch in range(12):
    for i in range(0, 240, 40):
        loss = F.cross_entropy(net(train_x[i:i + 40]), train_y[i:i + 40])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        right = (net(test_x).argmax(1) == test_y).float().mean().item()
"""
)

BASES["adversaries"] = (
    HEAD
    + """\
maker = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4))
judge = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
maker_opt = torch.optim.Adam(maker.parameters(), lr=2e-3)
judge_opt = torch.optim.Adam(judge.parameters(), lr=2e-3)
for step in range(60):
    real = torch.randn(32, 4) * 0.5 - 1.5
    made = maker(torch.randn(32, 3))
    both = judge(torch.cat([real, made.detach()]))
    loss_j = F.relu(1 - both[:32]).mean() + F.relu(1 + both[32:]).mean()
    judge_opt.zero_grad()
    loss_j.backward()
    judge_opt.step()
    loss_m = -judge(made).mean()
    maker_opt.zero_grad()
    loss_m.backward()
    maker_opt.step()
"""
)

BASES["forecast"] = (
    HEAD
    + """\
series = torch.randn(400).cumsum(0) * 0.1
past = torch.stack([series[i:i + 6] for i in range(390)])
coming = torch.stack([series[i + 6] for i in range(390)])
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(60):
    at = torch.randint(0, 390, (30,))
    loss = (net(past[at]).squeeze(1) - coming[at]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

STEP = "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
IN_BATCH = "        opt.zero_grad()\n        loss.backward()\n        opt.step()\n"

plant("gradients of another's pass", ("left over", "used twice"),
      ("adversaries", "    judge_opt.zero_grad()\n    loss_j.backward()\n    judge_opt.step()\n", "    loss_j.backward()\n    judge_opt.step()\n    judge_opt.zero_grad()\n", "judge_opt.step()"),
      ("gan", "    opt_d.zero_grad()\n", "", "opt_d.step()"))  # fmt: skip
plant("a step for many passes", "unused",
      ("sequence", IN_BATCH, "        opt.zero_grad()\n        loss.backward()\n    opt.step()\n", "opt.step()"),
      ("rings", IN_BATCH, "        opt.zero_grad()\n        loss.backward()\n    opt.step()\n", "opt.step()"))  # fmt: skip
plant("updates by hand without clearing", "used twice by hand",
      ("by hand", "            p.grad = None\n", "", "p -= 0.3"),
      ("by hand", "            p -= 0.3 * p.grad\n            p.grad = None\n", "            p.data.sub_(p.grad, alpha=0.3)\n", "p.data.sub_"))  # fmt: skip
plant("results kept with their graphs", "kept",
      ("forecast", STEP, STEP + "    curve.append(loss)\n", "curve.append", ("opt =", "curve = []\nopt =")),
      ("attention", STEP, STEP + '    log["loss"].append(loss)\n', 'log["loss"]', ("opt =", 'log = {"loss": []}\nopt =')))  # fmt: skip
plant("nothing between linear layers", "nothing between",
      ("rings", "        x = F.relu(self.first(x))\n        x = F.relu(self.second(x))\n", "        x = self.first(x)\n        x = self.second(x)\n", "self.second(x)"),
      ("two tasks", "nn.Sequential(nn.Linear(9, 32), nn.ReLU())", "nn.Sequential(nn.Linear(9, 32), nn.Dropout(0.1), nn.Linear(32, 32))", "self.trunk = "),
      ("table", "nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1)", "nn.Linear(3, 24), nn.Linear(24, 24), nn.Linear(24, 1)", "nn.Linear(3", ("- (distance - 5) / 2", "* (distance - 5) / 2")))  # fmt: skip
plant("time and batch confused", "other axis",
      ("sequence", "nn.GRU(2, 16, batch_first=True)", "nn.GRU(2, 16)", "nn.GRU"),
      ("sequence", "self.rnn = nn.GRU(2, 16, batch_first=True)", "self.rnn = nn.LSTM(2, 16, num_layers=2)", "nn.LSTM"))  # fmt: skip
plant("a reshape for a permute", "scrambled",
      ("attention", "(a @ v).transpose(1, 2).reshape(b, t, d)", "(a @ v).reshape(b, t, d)", "y = (a @ v)"),
      ("attention", "q = self.q(x).view(b, t, self.heads, -1).transpose(1, 2)", "q = self.q(x).view(b, self.heads, t, -1)", "q = self.q"),
      ("sequence", "states, last = self.rnn(x)\n", "states, last = self.rnn(x.reshape(x.shape[0], 2, 10).reshape(x.shape))\n", "self.rnn(x"))  # fmt: skip
plant("a mean and a sum in one loss", "unlike sums",
      ("variational", 'F.mse_loss(back, x, reduction="sum") / 50', "F.mse_loss(back, x)", "fit = ", ("s.exp()).sum() / 50", "s.exp()).sum()")),
      ("variational", 'F.mse_loss(back, x, reduction="sum") / 50', "((back - x) ** 2).mean()", "fit = ", ("far = -0.5 * (1 + s - m ** 2 - s.exp()).sum() / 50", "far = torch.sum(m ** 2 + s.exp() - s - 1) * 0.5")))  # fmt: skip
plant("a state that is cut at each step", "cut each step",
      ("recurrent", "            h = self.cell(x[:, t:t + 1], h)\n            ys.append(self.out(h))\n        return torch.cat(ys, 1), h", "            h = self.cell(x[:, t:t + 1], h.detach())\n        return self.out(h), h", "self.cell(x", ("[wave[i + 1:i + 6] for", "[wave[i + 5:i + 6] for")),
      ("recurrent", "            h = self.cell(x[:, t:t + 1], h)\n            ys.append(self.out(h))\n        return torch.cat(ys, 1), h", "            h = self.cell(x[:, t:t + 1], h.data)\n        return self.out(h), h", "h.data", ("[wave[i + 1:i + 6] for", "[wave[i + 5:i + 6] for")))  # fmt: skip
plant("a loss that no pass starts from", "not reached",
      ("two tasks", "    loss.backward()\n", "    near.backward()\n", "near.backward"),
      ("two tasks", "    loss = near + 0.5 * sort\n", "    loss = sort\n", "loss.backward"))  # fmt: skip
plant("numbers instead of history", "not reached",
      ("sequence", "self.out(states[:, -1])", "self.out(torch.from_numpy(states.detach().numpy()[:, -5:].mean(axis=1)))", "self.out(torch"),
      ("attention", "self.head(x.mean(1))", "self.head(torch.tensor([[sum(c) for c in zip(*row)] for row in x.tolist()]))", "x.tolist"))  # fmt: skip
plant("a frozen layer on the way", "frozen random",
      ("rings", "opt =", "for p in net.second.parameters():\n    p.requires_grad = False\nopt =", "p.requires_grad"),
      ("sequence", "opt = torch.optim.Adam(reader.parameters(),", "reader.out.requires_grad_(False)\nopt = torch.optim.Adam(reader.rnn.parameters(),", "requires_grad_"))  # fmt: skip
plant("a scheduler that never moves", "rate",
      ("sequence", "for epoch", "warm = torch.optim.lr_scheduler.LinearLR(opt, 0.01, total_iters=20)\nfor epoch", "opt.step()"),
      ("rings", "for epoch", "cycle = torch.optim.lr_scheduler.OneCycleLR(opt, 0.3, total_steps=72)\nfor epoch", "opt.step()"))  # fmt: skip
plant("gradients clipped away", "clipped away",
      ("rings", "        loss.backward()\n", "        loss.backward()\n        nn.utils.clip_grad_norm_(net.parameters(), 1e-5)\n", "clip_grad"),
      ("functional", "    loss.backward()\n", "    loss.backward()\n    torch.nn.utils.clip_grad_norm_([w1, b1, w2, b2], 1e-4)\n", "clip_grad"))  # fmt: skip
plant("weights of one sign", "big start",
      ("tuning", "body_opt =", "for m in model.modules():\n    if isinstance(m, nn.Linear):\n        nn.init.uniform_(m.weight, 0.0, 2.0)\nbody_opt =", "nn.init.uniform_"),
      ("rings", "opt =", "with torch.no_grad():\n    net.second.weight.copy_(torch.rand(24, 24) * 9)\nopt =", ".copy_(torch.rand"))  # fmt: skip
plant("units that begin at their ends", "big start",
      ("functional", "w1 = (torch.randn(5, 16) * 0.4).requires_grad_()", "w1 = nn.init.normal_(nn.Parameter(torch.empty(5, 16)), std=30.0)", "nn.init.normal_"),
      ("variational", "opt =", "nn.init.normal_(coder.body.weight, std=25.0)\nopt =", "nn.init.normal_"))  # fmt: skip
plant("what a generator cannot reach", "bounded",
      ("adversaries", "nn.Linear(16, 4))", "nn.Linear(16, 4), nn.ReLU())", "maker = "),
      ("adversaries", "nn.Linear(16, 4))", "nn.Linear(16, 4), nn.Tanh())", "nn.Tanh"))  # fmt: skip
plant("a window with its target", "target given",
      ("forecast", "series[i + 6] for", "series[i + 5] for", "coming ="),
      ("forecast", "series[i:i + 6] for i in range(390)])", "series[i + 3:i + 9] for i in range(390)])", "past ="))  # fmt: skip
plant("a rare class", "one class",
      ("two tasks", "kind = (X[:, 3] > X[:, 4]).float()", "kind = (X[:, 3] > 2.2 - 0.01 * X[:, 4]).float()", "sort = ", ("    loss = near + 0.5 * sort\n", "    loss = sort\n"), ("X = torch.randn(300, 9)", "X = torch.randn(3000, 9)"), ("torch.randperm(300)[:50]", "torch.randint(0, 3000, (100,))"), ("    near = F.l1_loss(d, depth[at])\n", ""), ("opt = torch.optim.Adam(both.parameters(), lr=5e-3)", "opt = torch.optim.Adam([*both.trunk.parameters(), *both.kind.parameters()], lr=1e-3)")),)  # fmt: skip
plant("a class that is never asked", "never asked",
      ("rings", "Y = (X.norm(dim=1) > 1.2).long()\n", "Y = (X.norm(dim=1) > 1.2).long() + (X.norm(dim=1) > 1.8).long()\norder = Y.argsort()\nX, Y = X[order], Y[order]\n", "train_x, train_y", ("nn.Linear(24, 2)", "nn.Linear(24, 3)"), ("    for i in range(0, 240, 40):\n        loss = F.cross_entropy(net(train_x[i:i + 40]), train_y[i:i + 40])\n", "    for i in torch.randperm(240).split(40):\n        loss = F.cross_entropy(net(train_x[i]), train_y[i])\n")),)  # fmt: skip
plant("a table scaled by rows", "by row",
      ("table", "(table - table.mean(0)) / table.std(0)", "(table - table.mean(1, keepdim=True)) / table.std(1, keepdim=True)", "scaled ="),
      ("table", "scaled = (table - table.mean(0)) / table.std(0)\n", "centre = table.mean(-1).unsqueeze(1)\nscaled = (table - centre) / 1000\n", "centre ="))  # fmt: skip
plant("too much momentum", ("diverges", "too large"),
      ("rings", "momentum=0.9", "momentum=0.999", "torch.optim.SGD"),
      ("regression", "lr=0.01", "lr=0.01, momentum=0.999", "torch.optim.SGD"))  # fmt: skip
plant("a bias that turns units off", "dead units",
      ("rings", "opt =", "for layer in (net.first, net.second):\n    nn.init.constant_(layer.bias, -9.0)\nopt =", "nn.init.constant_"),
      ("vision", "optimizer =", "with torch.no_grad():\n    model.conv2.bias.fill_(-40.0)\noptimizer =", "fill_"))  # fmt: skip

BASES["next token"] = (
    HEAD
    + """\
text = torch.tensor([0, 1, 2, 3, 4, 5, 2, 6] * 30)
class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 16)
        self.place = nn.Parameter(torch.zeros(6, 16))
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.out = nn.Linear(16, 7)
    def forward(self, ids):
        x = self.embed(ids) + self.place
        score = self.q(x) @ self.k(x).transpose(1, 2) / 4
        later = torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)
        score = score.masked_fill(later, float("-inf"))
        weight = F.softmax(score, dim=-1)
        return self.out(x + weight @ self.v(x))
speaker = Speaker()
opt = torch.optim.Adam(speaker.parameters(), lr=1e-2)
for step in range(60):
    at = torch.randint(0, 230, (16,))
    ids = torch.stack([text[i:i + 6] for i in at])
    goal = torch.stack([text[i + 1:i + 7] for i in at])
    loss = F.cross_entropy(speaker(ids).flatten(0, 1), goal.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["recurrent letters"] = (
    HEAD
    + """\
text = torch.tensor([0, 1, 2, 3, 4, 5, 2, 6] * 30)
class Letters(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 12)
        self.rnn = nn.GRU(12, 12, batch_first=True)
        self.out = nn.Linear(12, 7)
    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])
letters = Letters()
opt = torch.optim.Adam(letters.parameters(), lr=1e-2)
for step in range(60):
    at = torch.randint(0, 230, (16,))
    ids = torch.stack([text[i:i + 6] for i in at])
    goal = torch.stack([text[i + 1:i + 7] for i in at])
    loss = F.cross_entropy(letters(ids).transpose(1, 2), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

plant("weights over queries", "query axis",
      ("attention", "8 ** 0.5).softmax(-1)", "8 ** 0.5).softmax(-2)", "softmax(-2)"),
      ("next token", "F.softmax(score, dim=-1)", "F.softmax(score, dim=1)", "F.softmax", ('float("-inf")', "-1e4")))  # fmt: skip
plant("a model that sees what it is to say", "sees ahead",
      ("next token", '        score = score.masked_fill(later, float("-inf"))\n', "", "F.softmax"),
      ("next token", "torch.triu(torch.ones(6, 6, dtype=torch.bool), 1)", "torch.tril(torch.ones(6, 6, dtype=torch.bool), -1)", "F.softmax"),
      ("recurrent letters", "nn.GRU(12, 12, batch_first=True)", "nn.GRU(12, 12, batch_first=True, bidirectional=True)", "nn.GRU", ("nn.Linear(12, 7)", "nn.Linear(24, 7)")))  # fmt: skip
plant("one layer several times", "same layer",
      ("autoencoder", "nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 3)", "nn.Linear(20, 16), *[nn.Linear(16, 16), nn.ReLU()] * 3, nn.Linear(16, 3)", "* 3"),
      ("regression", "nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)", "nn.Linear(6, 32), *([nn.Linear(32, 32)] * 2), nn.ReLU(), nn.Linear(32, 1)", "* 2"))  # fmt: skip
plant("an optimizer that is made anew", "made anew",
      ("regression", "    opt.zero_grad()\n", "    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)\n    opt.zero_grad()\n", "    opt = torch"),
      ("rings", "    for i in range(0, 240, 40):\n", "    opt = torch.optim.Adam(net.parameters(), lr=0.01)\n    for i in range(0, 240, 40):\n", "    opt = torch"))  # fmt: skip
plant("samples that are all alike", "alike",
      ("rings", "train_x, train_y, test_x", "X = (X / 255).long().float()\ntrain_x, train_y, test_x", "X = (X"),
      ("regression", "x = X[i]", "x = X[0].expand(32, 6)", "x = X[0]"))  # fmt: skip
plant("an evaluation on another scale", "other scale",
      ("rings", "net(test_x)", "net(test_x * 255)", "net(test_x"),
      ("classifier", "net(X[256:])", "net(X[256:] / 255.0)", "net(X[256:]"))  # fmt: skip
plant("dropped predictions", "dropped output",
      ("regression", "nn.Linear(32, 1))", "nn.Linear(32, 1), nn.Dropout(0.3))", "nn.Dropout"),
      ("rings", "        return self.last(x)\n", "        return F.dropout(self.last(x), 0.2, training=self.training)\n", "F.dropout"))  # fmt: skip
plant("a dropout that drops most", "drops most",
      ("classifier", "nn.Dropout(0.2)", "nn.Dropout(0.98)", "nn.Dropout"),
      ("rings", "        x = F.relu(self.second(x))\n", "        x = F.dropout(F.relu(self.second(x)), 0.97, training=self.training)\n", "F.dropout"))  # fmt: skip

like(
    "slots",
    "attention",
    (
        "a = (q @ k.transpose(-2, -1) / 8 ** 0.5).softmax(-1)",
        "a = (q @ k.transpose(-2, -1) / 8 ** 0.5).softmax(-2)\n        a = a / a.sum(-1, keepdim=True)",
    ),
)
like(
    "masked by a bias",
    "next token",
    ('score.masked_fill(later, float("-inf"))', "score + later.float() * -1e9"),
)
like(
    "a middle token",
    "recurrent letters",
    ("nn.GRU(12, 12, batch_first=True)", "nn.GRU(12, 12, batch_first=True, bidirectional=True)"),
    ("nn.Linear(12, 7)", "nn.Linear(24, 7)"),
    (
        "    goal = torch.stack([text[i + 1:i + 7] for i in at])\n",
        "    goal = ids.clone()\n    ids[:, 3] = 0\n",
    ),
    ("letters(ids).transpose(1, 2), goal)", "letters(ids)[:, 3], goal[:, 3])"),
)
like(
    "one activation in several places",
    "autoencoder",
    ("encoder =", "act = nn.ReLU()\nencoder ="),
    ("nn.Linear(20, 16), nn.ReLU()", "nn.Linear(20, 16), act"),
    ("nn.Linear(3, 16), nn.ReLU()", "nn.Linear(3, 16), act"),
)
like(
    "an optimizer for each fold",
    "forecast",
    (
        "net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))\nopt = torch.optim.Adam(net.parameters(), lr=1e-2)\nfor step in range(60):\n",
        "for step in range(60):\n    if step % 10 == 0:\n        net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))\n        opt = torch.optim.Adam(net.parameters(), lr=1e-2)\n",
    ),
)
like(
    "columns that are constant",
    "rings",
    ("train_x, train_y, test_x", "X = torch.cat([X, torch.ones(320, 3)], 1)\ntrain_x, train_y, test_x"),
    ("nn.Linear(2, 24)", "nn.Linear(5, 24)"),
)
like("a farther test", "rings", ("net(test_x)", "net(test_x * 2)"))
like(
    "noise in training",
    "rings",
    ("net(train_x[i:i + 40])", "net(train_x[i:i + 40] + 0.5 * torch.randn(40, 2))"),
)
like("dropped inputs", "autoencoder", ("code = encoder(x)", "code = encoder(F.dropout(x, 0.9))"))

like("both optimizers after both passes", "adversaries",
     ("    judge_opt.zero_grad()\n    loss_j.backward()\n    judge_opt.step()\n    loss_m = -judge(made).mean()\n    maker_opt.zero_grad()\n    loss_m.backward()\n    maker_opt.step()\n",
      "    loss_m = F.mse_loss(maker(torch.randn(32, 3)), real)\n    judge_opt.zero_grad()\n    maker_opt.zero_grad()\n    loss_j.backward()\n    loss_m.backward()\n    judge_opt.step()\n    maker_opt.step()\n"))  # fmt: skip
like("adversarial examples", "rings",
     ("        opt.zero_grad()\n", "        x = train_x[i:i + 40].clone().requires_grad_()\n        for _ in range(5):\n            opt.zero_grad()\n            F.cross_entropy(net(x), train_y[i:i + 40]).backward()\n            x = (x + 0.01 * x.grad.sign()).detach().requires_grad_()\n        loss = F.cross_entropy(net(x.detach()), train_y[i:i + 40])\n        opt.zero_grad()\n"))  # fmt: skip
like("cleared by zero", "by hand", ("            p.grad = None\n", "            p.grad.zero_()\n"))
like("momentum by hand over a copy", "by hand",
     ("            p -= 0.3 * p.grad\n", "            moved[p] = 0.5 * moved.get(p, 0) + p.grad\n            p -= 0.2 * moved[p]\n"),
     ("for step", "moved = {}\nfor step"))  # fmt: skip
like("results kept without graphs", "forecast",
     (STEP, STEP + "    curve.append(loss.detach())\n    last = [loss, loss * 2]\n"), ("opt =", "curve = []\nopt ="))  # fmt: skip
like("summed at the end", "forecast",
     ("for step in range(60):\n", "for step in range(60):\n    parts = []\n    for _ in range(3):\n        at = torch.randint(0, 390, (10,))\n        parts.append((net(past[at]).squeeze(1) - coming[at]).pow(2).mean())\n"),
     (STEP, "    loss = loss + sum(parts)\n" + STEP))  # fmt: skip
like(
    "low rank",
    "table",
    ("nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1)", "nn.Linear(3, 1), nn.Linear(1, 8), nn.Linear(8, 1)"),
)
like("linear coder", "autoencoder", ("nn.ReLU(), ", ""), ("nn.ReLU(), ", "")) if BASES["autoencoder"].count("nn.ReLU(), ") > 1 else None  # fmt: skip
like("linear projection before the head", "rings", ("        return self.last(x)\n", "        return self.last(self.mid(x))\n"),
     ("        self.last =", "        self.mid = nn.Linear(24, 24)\n        self.last ="))  # fmt: skip
like(
    "time first",
    "sequence",
    ("nn.GRU(2, 16, batch_first=True)", "nn.GRU(2, 16)"),
    ("self.rnn(x)", "self.rnn(x.transpose(0, 1))"),
    ("states[:, -1]", "states[-1]"),
)
like(
    "tagging",
    "sequence",
    ("self.out(states[:, -1])", "self.out(states).transpose(1, 2)"),
    ("KIND[rows])", "KIND[rows].unsqueeze(1).expand(-1, 10))"),
)
like(
    "one long row",
    "sequence",
    (
        "for rows in torch.randperm(240).split(24):\n        loss = F.cross_entropy(reader(X[rows]), KIND[rows])",
        "for rows in torch.randperm(240).split(1):\n        loss = F.cross_entropy(reader(X[rows]), KIND[rows])",
    ),
)
like("windows", "forecast", ("net(past[at])", "net(past[at].reshape(-1, 2, 3).flatten(1))"))
like(
    "patches",
    "vision",
    (
        "        scores = model(images)\n",
        "        tiles = images.reshape(-1, 1, 2, 4, 2, 4).permute(0, 1, 2, 4, 3, 5)\n        images = tiles.permute(0, 1, 2, 4, 3, 5).reshape(-1, 1, 8, 8)\n        scores = model(images)\n",
    ),
)
like(
    "sums and a penalty",
    "variational",
    (
        "loss = fit + 0.1 * far",
        "loss = F.mse_loss(back, x) + 0.002 * far + 1e-4 * sum((p ** 2).sum() for p in coder.parameters())",
    ),
)
like(
    "small factor of a sum",
    "variational",
    ('F.mse_loss(back, x, reduction="sum") / 50', "F.mse_loss(back, x)"),
    ("s.exp()).sum() / 50", "s.exp()).sum()"),
    ("0.1 * far", "1e-4 * far"),
)
like("refinement", "forecast",
     ("    loss = (net(past[at]).squeeze(1) - coming[at]).pow(2).mean()\n", "    guess, loss = past[at, -1], 0.0\n    for _ in range(4):\n        guess = guess.detach() + 0.5 * net(past[at] - guess.detach().unsqueeze(1)).squeeze(1)\n        loss = loss + (guess - coming[at]).pow(2).mean()\n"))  # fmt: skip
like("windows of a state", "recurrent",
     ("    opt.zero_grad()\n    loss.backward()\n    opt.step()\n", "    loss.backward()\n    if step % 5 == 4:\n        opt.step()\n        opt.zero_grad()\n"))  # fmt: skip
like(
    "a measured task",
    "two tasks",
    ("    loss = near + 0.5 * sort\n", "    loss = near\n"),
    ("both.parameters(), lr", "[*both.trunk.parameters(), *both.depth.parameters()], lr"),
)
like(
    "random features",
    "rings",
    (
        "opt = torch.optim.SGD(net.parameters()",
        "net.first.requires_grad_(False)\nopt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad]",
    ),
)
like(
    "a scheduler by epoch",
    "rings",
    ("for epoch", "slower = torch.optim.lr_scheduler.StepLR(opt, 6, 0.5)\nfor epoch"),
    ("    with torch.no_grad():\n", "    slower.step()\n    with torch.no_grad():\n"),
)
like(
    "tight bounds",
    "rings",
    (
        "        loss.backward()\n",
        "        loss.backward()\n        nn.utils.clip_grad_norm_(net.parameters(), 0.05)\n",
    ),
)
like(
    "tight bounds under Adam",
    "sequence",
    (
        "        loss.backward()\n",
        "        loss.backward()\n        nn.utils.clip_grad_norm_(reader.parameters(), 1e-4)\n",
    ),
)
like(
    "positive weights",
    "forecast",
    ("opt =", "with torch.no_grad():\n    net[0].weight.copy_(torch.rand(24, 6).softmax(1))\nopt ="),
)
like("far out rows", "autoencoder", ("for step", "X[::60] *= 200\nfor step")) if "X = " in BASES["autoencoder"] else None  # fmt: skip
like(
    "bounded by design",
    "adversaries",
    ("nn.Linear(16, 4))", "nn.Linear(16, 4), nn.Tanh())"),
    ("torch.randn(32, 4) * 0.5 - 1.5", "torch.tanh(torch.randn(32, 4) - 0.5)"),
)
like(
    "columns of one kind",
    "table",
    ("    loss =", "    rows = scaled[at] - scaled[at].mean(1, keepdim=True)\n    loss ="),
    ("net(scaled[at])", "net(torch.cat([rows, scaled[at]], 1))"),
    ("nn.Linear(3, 24)", "nn.Linear(6, 24)"),
)
like("high momentum that learns", "rings", ("lr=0.3, momentum=0.9", "lr=0.01, momentum=0.97"))
like(
    "average over draws",
    "classifier",
    (
        "        right =",
        "        net.train()\n        doubt = torch.stack([net(X[256:257]) for _ in range(30)]).std().item()\n        net.eval()\n        right =",
    ),
)
like(
    "rare and found",
    "two tasks",
    ("kind = (X[:, 3] > X[:, 4]).float()", "kind = (X[:, 3] > 1.0).float()"),
    ("range(80)", "range(200)"),
)
