"""What a program names and does not do, loops that end at once, orders drawn twice, folds that share a model."""

import pytest

from .marked import guilty, said

BEGIN = """\
x = torch.randn(120, 4)
y = (x[:, 0] > 0).long()
body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3))
net = nn.Sequential(body, nn.Linear(8, 2))
"""
TRAIN = """\
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
for epoch in range(3):
    for a, b in zip(x.split(20), y.split(20)):
        loss = F.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
MEASURE = """\
net.eval()
with torch.no_grad():
    print((net(x).argmax(1) == y).float().mean().item())
"""
EVAL = BEGIN + TRAIN + MEASURE.replace("net.eval()", "net.eval  # <-")
STEP = BEGIN + TRAIN.replace("opt.step()", "opt.step  # <-") + MEASURE
CLEAR = """\
class Trainer:
    def __init__(self):
        self.net = nn.Linear(3, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.01)
    def fit(self, x):
        for one in x:
            self.opt.zero_grad  # <-
            (self.net(one) - one.sum(1, keepdim=True)).square().mean().backward()
            self.opt.step()
Trainer().fit(torch.randn(12, 10, 3))
"""
FROZEN = BEGIN + "body.requires_grad = False  # <-\n" + TRAIN + MEASURE
LAYERS = BEGIN + "for layer in body:\n    layer.requires_grad_ = False  # <-\n" + TRAIN + MEASURE
MISSPELT = BEGIN + "for p in body.parameters():\n    p.require_grad = False  # <-\n" + TRAIN + MEASURE
METHOD = (
    BEGIN
    + """\
def freeze(module):
    for name, p in module.named_parameters():
        p.requires_grad_ = False  # <-
freeze(body)
"""
    + TRAIN
    + MEASURE
)
SWITCHED = BEGIN + TRAIN + MEASURE.replace("net.eval()", "net.training = False  # <-")
SLIP = (
    BEGIN
    + TRAIN
    + """\
def evaluate(model, inputs, labels):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for a, b in zip(inputs.split(30), labels.split(30)):
            right += (model(a).argmax(1) == b).sum().item()
            total += len(b)
            return right / total  # <-
print(evaluate(net, x, y))
"""
)
EPOCH = """\
from torch.utils.data import DataLoader, TensorDataset
x = torch.randn(90, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=15, shuffle=True)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
def epoch():
    losses = []
    for a, b in loader:
        opt.zero_grad()
        loss = F.mse_loss(net(a), b)
        loss.backward()
        opt.step()
        losses.append(loss.item())
        return losses  # <-
for _ in range(6):
    print(epoch())
"""
BROKEN = EPOCH.replace(
    "        return losses  # <-", "        break  # <-\n    return sum(losses) / len(loader)"
)
LISTS = """\
import random
random.seed(0)
samples = [torch.randn(3) for _ in range(60)]
labels = [int(s[0] > 0) for s in samples]
random.shuffle(samples)
random.shuffle(labels)  # <-
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for one, label in zip(samples, labels):
    opt.zero_grad()
    F.cross_entropy(net(one).unsqueeze(0), torch.tensor([label])).backward()
    opt.step()
"""
ORDERS = """\
def prepare(n):
    inputs = torch.randn(n, 4)
    targets = inputs.sum(1, keepdim=True)
    inputs = inputs[torch.randperm(n)]
    targets = targets[torch.randperm(n)]  # <-
    return torch.utils.data.TensorDataset(inputs, targets)
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for a, b in torch.utils.data.DataLoader(prepare(80), batch_size=10):
    opt.zero_grad()
    F.mse_loss(net(a), b).backward()
    opt.step()
"""
ARRAYS = """\
import numpy as np
np.random.seed(1)
X = np.random.randn(100, 5).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int64)
first = np.random.permutation(100)
second = np.random.permutation(100)
X = X[first]
Y = Y[second]  # <-
net = nn.Linear(5, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(0, 100, 20):
    loss = F.cross_entropy(net(torch.from_numpy(X[i:i + 20])), torch.from_numpy(Y[i:i + 20]))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CODES = """\
import random
random.seed(0)
words = [random.choice("abcdefgh") for _ in range(90)]
train_words, val_words = words[:60], words[60:]
def vocabulary(rows):
    found = {}
    for row in rows:
        if row not in found:
            found[row] = len(found)
    return found
def coded(rows, table):
    return torch.tensor([table[row] for row in rows])
table = vocabulary(train_words)
x, val_x = coded(train_words, table), coded(val_words, vocabulary(val_words))  # <-
net = nn.Sequential(nn.Embedding(8, 4), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(6):
    loss = (net(x).squeeze(1) - (x > 3).float()).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print((net(val_x).squeeze(1) - (val_x > 3).float()).square().mean().item())
"""
LETTERS = """\
import random
random.seed(0)
letters = [random.choice("abcdefgh") for _ in range(90)]
train, test = letters[:60], letters[60:]
codes = {c: i for i, c in enumerate(dict.fromkeys(train))}
test_codes = {c: i for i, c in enumerate(dict.fromkeys(test))}  # <-
x = torch.tensor([codes[c] for c in train])
y = (x % 2).float()
net = nn.Embedding(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for a, b in zip(x.split(10), y.split(10)):
    loss = F.binary_cross_entropy_with_logits(net(a).squeeze(1), b)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(net(torch.tensor([test_codes[c] for c in test])).sum().item())
"""
GROWING = """\
class Words:
    def __init__(self):
        self.known = {}
    def encode(self, rows):
        return torch.tensor([self.known.setdefault(row, len(self.known)) for row in rows])
words = Words()
train_rows, test_rows = list("abcabdabe" * 8), list("ebcad" * 4)
x, test_x = words.encode(train_rows), words.encode(test_rows)
net = nn.Sequential(nn.Embedding(8, 4), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(6):
    loss = (net(x).squeeze(1) - (x > 3).float()).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
FOLDS = """\
x = torch.randn(90, 4)
y = x.sum(1, keepdim=True)
parts = torch.arange(90) % 3
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))  # <-
for fold in range(3):
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    kept = parts != fold
    for step in range(6):
        opt.zero_grad()
        F.mse_loss(net(x[kept]), y[kept]).backward()
        opt.step()
    with torch.no_grad():
        print(fold, F.mse_loss(net(x[~kept]), y[~kept]).item())
"""
SPLITS = """\
def build():
    return nn.Linear(3, 2)
def fit(model, inputs, labels):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        opt.zero_grad()
        F.cross_entropy(model(inputs), labels).backward()
        opt.step()
@torch.no_grad()
def check(model, inputs, labels):
    return (model(inputs).argmax(1) == labels).float().mean().item()
x = torch.randn(60, 3)
y = (x[:, 1] > 0).long()
model = build()
order = torch.randperm(60).chunk(4)
scores = []
for k in range(4):  # <-
    val = order[k]
    rest = torch.cat([order[j] for j in range(4) if j != k])
    fit(model, x[rest], y[rest])
    scores.append(check(model, x[val], y[val]))
"""
KFOLD = """\
class KFold:
    def __init__(self, n):
        self.n = n
    def split(self, count):
        for i in range(self.n):
            held = torch.arange(count) % self.n == i
            yield (~held).nonzero().squeeze(1), held.nonzero().squeeze(1)
data = torch.rand(80, 5)
goal = data.prod(1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 1)
    def forward(self, x):
        return self.a(x)[:, 0]
model = Net()  # <-
for fit, held in KFold(4).split(80):
    opt = torch.optim.RMSprop(model.parameters(), lr=0.001)
    model.train()
    for rows in fit.split(20):
        loss = (model(data[rows]) - goal[rows]).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        print((model(data[held]) - goal[held]).abs().mean().item())
"""
EXPLORES = """\
import random
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
eps, eps_min, decay = 1.0, 0.05, 0.9
for episode in range(30):
    s = torch.randn(16, 4)
    a = torch.randint(0, 2, (16,)) if random.random() < eps else net(s).argmax(1)
    loss = F.mse_loss(net(s).gather(1, a[:, None]).squeeze(1), s[:, 0] * a)
    opt.zero_grad()
    loss.backward()
    opt.step()
    eps = max(eps_min, eps * decay)
"""
AGENT = """\
import random
class Agent:
    def __init__(self, epsilon_end=0.01, epsilon_decay=0.99):
        self.epsilon = 1.0
        self.epsilon_end, self.epsilon_decay = epsilon_end, epsilon_decay
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=1e-3)
    def act(self, s):
        return torch.randint(0, 2, (16,)) if random.random() < self.epsilon else self.net(s).argmax(1)
    def learn(self, s, a):
        loss = F.mse_loss(self.net(s).gather(1, a[:, None]).squeeze(1), s[:, 0] * a)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.cool()
    def cool(self):
        self.epsilon = max(self.epsilon * self.epsilon_decay, self.epsilon_end)
agent = Agent()
for episode in range(30):
    s = torch.randn(16, 4)
    agent.learn(s, agent.act(s))
"""
FAULTY = {
    "the smaller": (
        EXPLORES.replace("eps = max(eps_min, eps * decay)", "eps = min(eps_min, eps * decay)  # <-"),
        "falls at once",
    ),
    "the smaller of fields": (
        AGENT.replace(
            "max(self.epsilon * self.epsilon_decay, self.epsilon_end)",
            "min(self.epsilon * self.epsilon_decay, self.epsilon_end)  # <-",
        ),
        "falls at once",
    ),
    "the larger": (
        EXPLORES.replace("1.0, 0.05, 0.9\n", "0.1, 0.95, 1.1\n").replace(
            "eps = max(eps_min, eps * decay)", "eps = max(eps_min, decay * eps)  # <-"
        ),
        "falls at once",
    ),
    "eval": (EVAL, "not called"),
    "step": (STEP, "not called"),
    "zero_grad": (CLEAR, "not called"),
    "a module's attribute": (FROZEN, "idle name"),
    "a method of modules": (LAYERS, "idle name"),
    "misspelt": (MISSPELT, "idle name"),
    "a method of parameters": (METHOD, "idle name"),
    "training of one module": (SWITCHED, "idle name"),
    "a sum": (SLIP, "once round"),
    "a list": (EPOCH, "once round"),
    "a break": (BROKEN, "once round"),
    "lists": (LISTS, "shuffled apart"),
    "orders": (ORDERS, "shuffled apart"),
    "arrays": (ARRAYS, "shuffled apart"),
    "folds": (FOLDS, "one model for folds"),
    "parts": (SPLITS, "one model for folds"),
    "a class of folds": (KFOLD, "one model for folds"),
    "codes of a function": (CODES, "coded anew"),
    "codes in place": (LETTERS, "coded anew"),
}
TABLES = """\
import random
horses, zebras = [torch.randn(3) for _ in range(40)], [torch.randn(3) + 1 for _ in range(40)]
random.shuffle(horses)
random.shuffle(zebras)
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for a, b in zip(horses, zebras):
    opt.zero_grad()
    (net(a).mean() - b.mean()).square().backward()
    opt.step()
"""
DOMAINS = """\
source, target = torch.randn(60, 3), torch.randn(60, 3) + 1
source = source[torch.randperm(60)]
target = target[torch.randperm(60)]
net = nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for a, b in zip(source.split(10), target.split(10)):
    opt.zero_grad()
    (net(a).mean(0) - net(b).mean(0)).square().sum().backward()
    opt.step()
"""
MARGINALS = """\
x = torch.randn(200, 1)
y = x + 0.3 * torch.randn(200, 1)
net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(20):
    a = x[torch.randperm(200)]
    b = y[torch.randperm(200)]
    joint, apart = net(torch.cat([x, y], 1)), net(torch.cat([a, b], 1))
    loss = torch.logsumexp(apart, 0).squeeze() - joint.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
OWN = """\
class Table(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.requires_grad = False
        self.layer = nn.Linear(size, 1)
    def forward(self, x):
        return self.layer(x.requires_grad_(True) if self.requires_grad else x)
net = Table(3)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(10):
    x = torch.randn(12, 3)
    opt.zero_grad()
    F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    opt.step()
"""
HEALTHY = {
    "a floor": EXPLORES,
    "a floor of fields": AGENT,
    "a ceiling": EXPLORES.replace("1.0, 0.05, 0.9\n", "0.1, 0.95, 1.1\n").replace("eps = max(", "eps = min("),
    "a bound above": EXPLORES.replace("1.0, 0.05, 0.9\n", "0.5, 0.8, 0.9\n").replace(
        "eps = max(", "eps = min("
    ),
    "a bound that moves": EXPLORES.replace(
        "eps = max(eps_min,", "eps_min = eps_min / 2\n    eps = min(eps_min,"
    ),
    "begun anew": EXPLORES.replace("eps = max(", "eps = min(").replace(
        "    s = torch", "    eps = 0.04 if episode else eps\n    s = torch"
    ),
    "two domains": DOMAINS,
    "marginals": MARGINALS,
    "an attribute that is read": OWN,
    "eval": EVAL.replace("net.eval ", "net.eval() "),
    "a method that is passed on": BEGIN
    + TRAIN.replace("opt.step()", "go = opt.step\n        go()")
    + MEASURE,
    "zero_grad": CLEAR.replace("self.opt.zero_grad ", "self.opt.zero_grad() "),
    "frozen as it should be": FROZEN.replace("body.requires_grad = False", "body.requires_grad_(False)")
    .replace("body = nn", "torch.manual_seed(1)\nbody = nn")
    .replace("nn.Linear(4, 8), nn.ReLU()", "nn.Identity()")
    .replace("nn.Linear(8, 2)", "nn.Linear(4, 2)"),
    "each parameter": BEGIN + "body[0].bias.requires_grad = False\n" + TRAIN + MEASURE,
    "attributes of one's own": BEGIN
    + "for p in body.parameters():\n    p.frozen = p.decay = False\n"
    + TRAIN
    + MEASURE,
    "every module": BEGIN
    + TRAIN
    + MEASURE.replace("net.eval()", "for m in net.modules():\n    m.training = False"),
    "a sum": SLIP.replace("            return", "    return"),
    "a list": EPOCH.replace("        return losses", "    return losses"),
    "one batch": EPOCH.replace("losses.append(loss.item())", "last = loss.item()").replace(
        "        return losses", "        break"
    ),
    "a return under a condition": EPOCH.replace(
        "        return losses", "        if len(losses) > 3:\n            return losses"
    ),
    "one order": ORDERS.replace(
        "inputs = inputs[torch.randperm(n)]", "order = torch.randperm(n)\n    inputs = inputs[order]"
    ).replace("targets[torch.randperm(n)]", "targets[order]"),
    "pairs": LISTS.replace("random.shuffle(samples)", "pairs = list(zip(samples, labels))")
    .replace("random.shuffle(labels)", "random.shuffle(pairs)")
    .replace("zip(samples, labels):", "pairs:"),
    "seeded alike": LISTS.replace("random.shuffle(labels)", "random.seed(0)\nrandom.shuffle(labels)").replace(
        "random.shuffle(samples)", "random.seed(0)\nrandom.shuffle(samples)"
    ),
    "domains that are not paired": TABLES,
    "a new model": FOLDS.replace(
        "for fold in range(3):\n", "for fold in range(3):\n    net = nn.Linear(4, 1)\n"
    ),
    "first weights": FOLDS.replace(
        "for fold", "first = {k: v.clone() for k, v in net.state_dict().items()}\nfor fold"
    ).replace("    kept =", "    net.load_state_dict(first)\n    kept ="),
    "reset": FOLDS.replace(
        "    kept =",
        "    for m in net:\n        if hasattr(m, 'reset_parameters'):\n            m.reset_parameters()\n    kept =",
    ),
    "one vocabulary": CODES.replace("vocabulary(val_words)", "table"),
    "one that grows": GROWING,
    "sorted": LETTERS.replace("dict.fromkeys(test)", "sorted(set(test))").replace(
        "dict.fromkeys(train)", "sorted(set(train))"
    ),
    "a vocabulary of each language": CODES.replace("train_words, val_words", "english_words, val_words")
    .replace("val_words", "french_words")
    .replace("train_words", "english_words"),
    "a copy": SPLITS.replace("    fit(model, x", "    model = build()\n    fit(model, x"),
    "stages": FOLDS.replace("fold in", "stage in")
    .replace("!= fold", "!= stage")
    .replace("print(fold,", "print(stage,"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_what_is_named_and_not_done_is_found(name):
    text, rule = FAULTY[name]
    found = said(text, name)
    assert rule in found and guilty(text) & set(found[rule]), found


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_done_is_not(name):
    assert said(HEALTHY[name], name) == {}
