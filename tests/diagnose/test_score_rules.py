"""What a loss is given, what samples hold and what stays: faults beside the programs they were planted in."""

import pytest

from .planted import HEAD, Planted, accused, changed, healthy

VIEWS = (
    HEAD
    + """\
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
    def forward(self, x):
        return F.normalize(self.body(x), dim=1)
net = Encoder()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
tau = 0.1
for step in range(60):
    x = torch.randn(40, 12)
    a, b = net(x + 0.1 * torch.randn(40, 12)), net(x + 0.1 * torch.randn(40, 12))
    scores = a @ b.t() / tau
    loss = F.cross_entropy(scores, torch.arange(40))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

TWICE = (
    HEAD
    + """\
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
pairs = torch.arange(40).roll(20)
for step in range(60):
    x = torch.randn(20, 12)
    both = torch.cat([x, x]) + 0.1 * torch.randn(40, 12)
    z = F.normalize(net(both), dim=1)
    scores = z @ z.t() / 0.2
    scores = scores.masked_fill(torch.eye(40, dtype=torch.bool), -1e9)
    loss = F.cross_entropy(scores, pairs)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
MASKED = "    scores = scores.masked_fill(torch.eye(40, dtype=torch.bool), -1e9)\n"

QUANTILES = (
    HEAD
    + """\
x = torch.rand(400, 3)
y = x.sum(1) + torch.randn(400) * 0.2
levels = torch.tensor([0.1, 0.5, 0.9])
net = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
def pinball(prediction, target):
    error = target[:, None] - prediction
    return torch.maximum(levels * error, (levels - 1) * error).mean()
for epoch in range(8):
    for i in range(0, 400, 50):
        loss = pinball(net(x[i:i + 50]), y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
ONE_LEVEL = (
    ("levels = torch.tensor([0.1, 0.5, 0.9])\n", "q = 0.9\n"),
    ("nn.Linear(24, 3)", "nn.Linear(24, 1)"),
    ("torch.maximum(levels * error, (levels - 1) * error)", "torch.max(q * error, (q - 1) * error)"),
)

LABELS = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).float()
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(8):
    for i in range(0, 400, 50):
        p = net(x[i:i + 50]).squeeze(1)
        loss = F.binary_cross_entropy_with_logits(p, y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

PENALIZED = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
opt = torch.optim.SGD(
    net.parameters(),
    lr=0.05,
)
def size(model):
    return sum(p.pow(2).sum() for p in model.parameters())
for epoch in range(8):
    for i in range(0, 400, 50):
        loss = F.cross_entropy(net(x[i:i + 50]), y[i:i + 50]) + 1e-3 * size(net)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

PAIRS = (
    HEAD
    + """\
a = torch.randn(400, 8)
same = torch.randint(0, 2, (400,))
b = torch.where(same[:, None] == 1, a + 0.1 * torch.randn(400, 8), torch.randn(400, 8))
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.CosineEmbeddingLoss()
signs = same * 2 - 1
for epoch in range(4):
    for i in range(0, 400, 50):
        loss = criterion(net(a[i:i + 50]), net(b[i:i + 50]), signs[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

SHARES = (
    HEAD
    + """\
x = torch.randn(400, 6)
share = torch.sigmoid(x[:, 0] * 2)
y = share.float()
pixels = torch.randint(0, 256, (400, 6))
scaled = pixels / 255
net = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(6):
    for i in range(0, 400, 50):
        given = torch.cat([x[i:i + 50], scaled[i:i + 50]], dim=1).float()
        loss = F.binary_cross_entropy_with_logits(net(given).squeeze(1), y[i:i + 50].float())
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

MAPS = (
    HEAD
    + """\
class Cells(Dataset):
    def __init__(self, n=80):
        self.x = torch.randn(n, 1, 10, 10)
        self.y = (self.x[:, 0] > 0).float()
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        x, y = self.x[i], self.y[i]
        if torch.rand(1).item() < 0.5:
            x, y = x.flip(-1), y.flip(-1)
        return x, y
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(4):
    for x, y in DataLoader(Cells(), batch_size=16, shuffle=True):
        loss = F.binary_cross_entropy_with_logits(net(x)[:, 0], y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

ADAPTED = (
    HEAD
    + """\
w, b = torch.randn(4, 1) * 0.3, torch.zeros(1)
slow = [w.requires_grad_(), b.requires_grad_()]
opt = torch.optim.Adam(slow, lr=1e-2)
def predict(params, x):
    return x @ params[0] + params[1]
for step in range(40):
    x = torch.randn(20, 4)
    y = x @ torch.randn(4, 1)
    inner = F.mse_loss(predict(slow, x[:10]), y[:10])
    grads = torch.autograd.grad(inner, slow, create_graph=True)
    fast = [p - 0.1 * g for p, g in zip(slow, grads)]
    loss = F.mse_loss(predict(fast, x[10:]), y[10:])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BATCHES = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
yb = y[:50]
for epoch in range(5):
    for i in range(0, 400, 50):
        xb, target = x[i:i + 50], y[i:i + 50]
        out = net(xb)
        loss = F.cross_entropy(out, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

BY_HAND = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = x[:, :1] * 2
w = torch.randn(6, 1, requires_grad=True)
for epoch in range(5):
    for i in range(0, 400, 50):
        loss = ((x[i:i + 50] @ w - y[i:i + 50]) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
"""
)

SEQUENCES = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 16, batch_first=True)
        self.out = nn.Linear(16, 1)
    def forward(self, x, h=None):
        out, h = self.rnn(x, h)
        return self.out(out[:, -1]).squeeze(1), h
x = torch.randn(320, 10, 3)
y = x.sum((1, 2))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
h = None
for epoch in range(3):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        out, h = net(xb)
        h = h.detach()
        loss = F.mse_loss(out, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

TASKS = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 24)
        self.mid = nn.Linear(24, 24)
        self.heads = nn.ModuleList([nn.Linear(24, 1) for _ in range(3)])
    def forward(self, x):
        h = torch.relu(self.body(x))
        h2 = torch.relu(self.mid(h))
        return [head(h2).squeeze(1) for head in self.heads]
x = torch.randn(400, 6)
y = [x[:, k] * 2 for k in range(3)]
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(5):
    for i in range(0, 400, 50):
        outs = net(x[i:i + 50])
        loss = 0.0
        for k, out in enumerate(outs):
            loss = loss + F.mse_loss(out, y[k][i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

TUNED = (
    HEAD
    + """\
x = torch.randn(400, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
with torch.no_grad():
    net[0].weight.mul_(1.5)
for p in net[0].parameters():
    p.requires_grad_(False)
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=5e-3)
for epoch in range(8):
    if epoch == 3:
        net[0].requires_grad_(True)
        opt.add_param_group({"params": list(net[0].parameters())})
    for i in range(0, 400, 50):
        loss = F.cross_entropy(net(x[i:i + 50]), y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

SEEDED = (
    HEAD
    + """\
series = torch.sin(torch.arange(2000) / 9.0)
net = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
def batch():
    # seed
    starts = torch.randint(0, 1900, (32,))
    return torch.stack([series[i:i + 12] for i in starts]), torch.stack([series[i + 12] for i in starts])
for step in range(40):
    x, y = batch()
    loss = F.mse_loss(net(x).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

OVERLAP = (
    HEAD
    + """\
x = torch.randn(80, 1, 10, 10)
y = (F.avg_pool2d(x, 3, 1, 1) > 0.1).float()
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
def dice_loss(scores, target, eps=1.0):
    p = torch.sigmoid(scores)
    both = (p * target).sum((1, 2, 3))
    all = p.sum((1, 2, 3)) + target.sum((1, 2, 3))
    dice = (2 * both + eps) / (all + eps)
    return 1 - dice.mean()
for epoch in range(4):
    for i in range(0, 80, 20):
        loss = dice_loss(net(x[i:i + 20]), y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)

LIKELY = (
    HEAD
    + """\
x = torch.randn(200, 6)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(4):
    for i in range(0, 200, 20):
        logs = F.log_softmax(net(x[i:i + 20]), dim=1)
        loss = -logs[torch.arange(20), y[i:i + 20]].mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
BY_LABEL = (
    "-logs[torch.arange(20), y[i:i + 20]].mean()",
    "-(F.one_hot(y[i:i + 20], 2) * logs).sum(1).mean()",
)

PLAIN = (
    HEAD
    + """\
x = torch.randn(300, 5)
y = (x[:, 0] + x[:, 1] > 0).long()
w1 = (torch.randn(5, 16) * 0.3).requires_grad_()
b1 = torch.zeros(16, requires_grad=True)
w2 = (torch.randn(16, 2) * 0.3).requires_grad_()
params = [w1, b1, w2]
opt = torch.optim.SGD(params, lr=0.1)
for epoch in range(5):
    for i in range(0, 300, 50):
        loss = F.cross_entropy(torch.relu(x[i:i + 50] @ w1 + b1) @ w2, y[i:i + 50])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
"""
)

BY_TOKEN = (
    HEAD
    + """\
w = {"emb": (torch.randn(12, 16) * 0.3).requires_grad_(), "out": (torch.randn(16, 12) * 0.3).requires_grad_()}
def scores(w, x):
    return torch.tanh(w["emb"][x]) @ w["out"]
for step in range(60):
    x = torch.randint(0, 12, (20, 7))
    logs = scores(w, x).log_softmax(-1)
    loss = -logs.gather(-1, x.unsqueeze(-1)).mean()
    grads = torch.autograd.grad(loss, list(w.values()))
    with torch.no_grad():
        for p, g in zip(w.values(), grads):
            p -= 0.5 * g
"""
)

MOMENTUM = (
    HEAD
    + """\
w = [(torch.randn(6, 12) * 0.3).requires_grad_(), (torch.randn(12, 1) * 0.3).requires_grad_()]
kept = [torch.zeros_like(p) for p in w]
x = torch.randn(200, 6)
y = x[:, :1] * 2
for epoch in range(4):
    for i in range(0, 200, 20):
        loss = F.mse_loss(torch.tanh(x[i:i + 20] @ w[0]) @ w[1], y[i:i + 20])
        grads = torch.autograd.grad(loss, w)
        with torch.no_grad():
            for p, v, g in zip(w, kept, grads):
                v.mul_(0.9).add_(g)
                p -= 0.02 * v
"""
)

FREE = (
    HEAD
    + """\
x = torch.randn(200, 6)
y = (x[:, 0] > 0).long()
w = [(torch.randn(6, 24) * 0.3).requires_grad_(), (torch.randn(24, 2) * 0.3).requires_grad_()]
opt = torch.optim.Adam(w, lr=1e-2)
def net(x, training):
    h = F.dropout(torch.relu(x @ w[0]), 0.5, training=training)
    return h @ w[1]
for epoch in range(4):
    for i in range(0, 160, 20):
        loss = F.cross_entropy(net(x[i:i + 20], True), y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        print((net(x[160:], False).argmax(1) == y[160:]).float().mean().item())
"""
)

OVERLAP_OF_CLASSES = (
    HEAD
    + """\
pictures = torch.randn(60, 1, 8, 8)
maps = (pictures[:, 0] > 0.4).long() + (pictures[:, 0] > -0.4).long()
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
def overlap(logits, target):
    probs = logits.softmax(dim=1)
    marks = F.one_hot(target, 3).permute(0, 3, 1, 2).float()
    both = (probs * marks).sum(dim=(2, 3))
    return 1 - ((2 * both + 1) / (probs.sum(dim=(2, 3)) + marks.sum(dim=(2, 3)) + 1)).mean()
for epoch in range(4):
    for at in torch.randperm(60).split(15):
        out = net(pictures[at])
        loss = F.cross_entropy(out, maps[at]) + overlap(out, maps[at])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
)
PLANTED = {
    "no temperature": Planted("flat scores", VIEWS, ((" / tau", ""),), "scores = a @"),
    "a temperature on the wrong side": Planted("flat scores", VIEWS, ((" / tau", " * tau"),), "scores = a @"),
    "products by einsum": Planted(
        "flat scores", VIEWS, (("a @ b.t() / tau", 'torch.einsum("nd,md->nm", a, b) * tau'),), "scores ="
    ),
    "no mask of the diagonal": Planted("beside itself", TWICE, ((MASKED, ""),), "z @ z.t()"),
    "itself as the answer": Planted(
        "beside itself", TWICE, ((MASKED, ""), ("(scores, pairs)", "(scores, torch.arange(40))")), "z @ z.t()"
    ),
    "quantiles turned": Planted(
        "sides exchanged",
        QUANTILES,
        (("target[:, None] - prediction", "prediction - target[:, None]"),),
        "error = prediction",
    ),
    "one quantile turned": Planted(
        "sides exchanged",
        QUANTILES,
        (("target[:, None] - prediction", "prediction - target[:, None]"), *ONE_LEVEL),
        "error = prediction",
    ),
    "labels first": Planted(
        "sides exchanged",
        LABELS,
        (("(p, y[i:i + 50])", "(y[i:i + 50], p)"),),
        "F.binary_cross_entropy_with_logits(",
    ),
    "a penalty taken off": Planted("penalty turned", PENALIZED, ((" + 1e-3", " - 1e-2"),), "loss = F.cross"),
    "a negative factor": Planted("penalty turned", PENALIZED, ((" + 1e-3", " + -1e-2"),), "loss = F.cross"),
    "maximize": Planted(
        "wrong sign",
        PENALIZED,
        ((" + 1e-3 * size(net)", ""), ("    lr=0.05,", "    lr=0.05,\n    maximize=True,")),
        "maximize",
        also=True,
    ),
    "labels for signs": Planted("odd targets", PAIRS, (("same * 2 - 1", "same"),), "loss = criterion"),
    "labels made whole": Planted(
        "fractions cut", SHARES, (("share.float()", "share.long()"),), "share.long()"
    ),
    "pixels divided whole": Planted(
        "fractions cut", SHARES, (("pixels / 255", "pixels // 255"),), "pixels // 255"
    ),
    "a map left": Planted(
        "moved apart", MAPS, (("x, y = x.flip(-1), y.flip(-1)", "x = x.flip(-1)"),), "x.flip"
    ),
    "maps left in a batch": Planted(
        "moved apart",
        MAPS,
        (
            ("            x, y = x.flip(-1), y.flip(-1)", "            pass"),
            ("        loss = F.b", "        x = torch.rot90(x, 1, (2, 3))\n        loss = F.b"),
        ),
        "rot90",
    ),
    "adapted weights left": Planted(
        "gradients unused",
        ADAPTED,
        (("loss = F.mse_loss(predict(fast", "loss = F.mse_loss(predict(slow"),),
        "loss = F.mse_loss(predict(slow, x[10",
        both=False,
    ),
    "labels of another batch": Planted(
        "one stays", BATCHES, (("(out, target)", "(out, yb)"),), "loss = F.cross"
    ),
    "a prediction beside itself": Planted(
        "zero loss",
        LABELS,
        (("F.binary_cross_entropy_with_logits(p, y[i:i + 50])", "F.mse_loss(p, p)"),),
        "F.mse_loss(p, p)",
    ),
    "an update in a name": Planted(
        "not written",
        BY_HAND,
        (("            w -= 0.1 * w.grad", "            new = w - 0.1 * w.grad"),),
        "new = w",
    ),
    "a state of another batch": Planted(
        "carried over", SEQUENCES, (("net(xb)", "net(xb, h)"),), "self.rnn(x, h)"
    ),
    "terms overwritten": Planted("not reached", TASKS, (("loss = loss + F", "loss = F"),), "loss = F.mse"),
    "a layer left out": Planted("not reached", TASKS, (("head(h2)", "head(h)"),), "self.mid(h)"),
    "a layer made in forward": Planted(
        "made in forward",
        TASKS,
        (
            ("        h2 = torch.relu(self.mid(h))", "        h2 = torch.relu(nn.Linear(24, 24)(h))"),
            ("        self.mid = nn.Linear(24, 24)\n", ""),
        ),
        "nn.Linear(24, 24)(h)",
    ),
    "thawed and not held": Planted(
        "not held",
        TUNED,
        (('        opt.add_param_group({"params": list(net[0].parameters())})\n', ""),),
        "opt = torch.optim.Adam",
    ),
    "an overlap as a loss": Planted(
        "fit turned", OVERLAP, (("return 1 - dice", "return dice"),), "return dice"
    ),
    "a likelihood as a loss": Planted(
        "fit turned", LIKELY, (("loss = -logs", "loss = logs"),), "loss = logs"
    ),
    "a likelihood by labels": Planted(
        "fit turned", LIKELY, ((BY_LABEL[0], BY_LABEL[1][1:]),), "loss = (F.one_hot"
    ),
    "a tensor without a gradient": Planted(
        "frozen random",
        PLAIN,
        (("w1 = (torch.randn(5, 16) * 0.3).requires_grad_()", "w1 = torch.randn(5, 16) * 0.3"),),
        "w1 = torch",
    ),
    "parameters used up": Planted(
        "clipped nothing",
        BATCHES,
        (
            ("yb = y[:50]\n", "params = net.parameters()\nlist(params)\n"),
            ("        opt.step()", "        nn.utils.clip_grad_norm_(params, 1.0)\n        opt.step()"),
        ),
        "clip_grad_norm_(params",
    ),
    "an overlap along the width": Planted(
        "other pick", OVERLAP_OF_CLASSES, (("softmax(dim=1)", "softmax(dim=-1)"),), "softmax(dim=-1)"
    ),
    "an overlap over the samples": Planted(
        "other pick",
        OVERLAP_OF_CLASSES,
        (("logits.softmax(dim=1)", "torch.softmax(logits, 0)"),),
        "torch.softmax(logits, 0)",
    ),
    "along the steps": Planted(
        "other pick", BY_TOKEN, (("log_softmax(-1)", "log_softmax(1)"),), "log_softmax(1)", both=False
    ),
    "a momentum by name": Planted(
        "kept nowhere", MOMENTUM, (("v.mul_(0.9).add_(g)", "v = 0.9 * v + g"),), "v = 0.9", both=False
    ),
    "dropout in a function": Planted("draws outside", FREE, ((", training=training", ""),), "F.dropout("),
    "a seed in the batch": Planted(
        "seed again", SEEDED, (("# seed", "torch.manual_seed(7)"),), "manual_seed(7)"
    ),
}
HEALTHY = {
    "overlaps of classes": OVERLAP_OF_CLASSES,
    "overlaps of classes, the axis left out": changed(
        OVERLAP_OF_CLASSES, ("logits.softmax(dim=1)", "F.softmax(logits)")
    ),
    "overlaps of several labels": changed(OVERLAP_OF_CLASSES, ("logits.softmax(dim=1)", "logits.sigmoid()")),
    "weights of places": changed(
        OVERLAP_OF_CLASSES,
        (
            "probs = logits.softmax(dim=1)",
            "probs = logits.softmax(dim=1) * logits.flatten(2).softmax(-1).view(logits.shape)",
        ),
    ),
    "two views": VIEWS,
    "a learned scale": changed(VIEWS, ("tau = 0.1", "tau = nn.Parameter(torch.tensor(0.1))")),
    "few classes": changed(
        VIEWS,
        ("scores = a @ b.t() / tau", "scores = (a @ b.t())[:, :4] * 3"),
        ("torch.arange(40)", "torch.arange(40) % 4"),
    ),
    "a masked diagonal": TWICE,
    "quantiles": QUANTILES,
    "one quantile": changed(QUANTILES, *ONE_LEVEL),
    "quantiles of the error turned on purpose": changed(
        QUANTILES,
        ("target[:, None] - prediction", "prediction - target[:, None]"),
        ("levels * error, (levels - 1) * error", "(1 - levels) * error, -levels * error"),
    ),
    "labels": LABELS,
    "a penalty": PENALIZED,
    "signs": PAIRS,
    "shares": SHARES,
    "bins": changed(SHARES, ("share.float()", "(share * 9.99).long() / 9")),
    "a threshold": changed(SHARES, ("share.float()", "(share > 0.5).long()")),
    "maps moved with their pictures": MAPS,
    "classes of moved pictures": changed(
        MAPS,
        ("x, y = x.flip(-1), y.flip(-1)", "x = x.flip(-1)"),
        ("self.x[:, 0] > 0", "self.x.mean((1, 2, 3)) > 0"),
        ("net(x)[:, 0]", "net(x).mean((1, 2, 3))"),
    ),
    "adapted weights": ADAPTED,
    "a penalty on gradients": changed(
        ADAPTED,
        (
            "loss = F.mse_loss(predict(fast, x[10:]), y[10:])",
            "loss = inner + 0.1 * sum(g.pow(2).sum() for g in grads)",
        ),
    ),
    "batches": BATCHES,
    "a full batch with noise": changed(
        BATCHES, ("x[i:i + 50], y[i:i + 50]", "x + 0.1 * torch.randn_like(x), y")
    ),
    "updates by hand": BY_HAND,
    "updates through data": changed(
        BY_HAND, ("            w -= 0.1 * w.grad", "            w.data = w.data - 0.1 * w.grad")
    ),
    "copied updates": changed(
        BY_HAND, ("            w -= 0.1 * w.grad", "            w.copy_(w - 0.1 * w.grad)")
    ),
    "sequences": SEQUENCES,
    "one long sequence": changed(SEQUENCES, ("net(xb)", "net(xb, h)"), ("shuffle=True", "shuffle=False")),
    "tasks": TASKS,
    "thawed and added": TUNED,
    "along the tokens": BY_TOKEN,
    "a momentum": MOMENTUM,
    "a momentum that is stored": changed(
        MOMENTUM,
        ("in zip(w, kept, grads):", "in zip(w, range(2), grads):"),
        ("v.mul_(0.9).add_(g)", "kept[v] = 0.9 * kept[v] + g"),
        ("p -= 0.02 * v", "p -= 0.02 * kept[v]"),
    ),
    "dropout with a flag": FREE,
    "an average over draws": changed(
        FREE,
        (", training=training", ""),
        (
            "print((net(x[160:], False).argmax(1)",
            "print((torch.stack([net(x[160:], True) for _ in range(6)]).mean(0).argmax(1)",
        ),
    ),
    "an overlap": OVERLAP,
    "a likelihood": LIKELY,
    "a likelihood by labels": changed(LIKELY, BY_LABEL),
    "a policy": changed(
        LIKELY,
        (
            "loss = -logs[torch.arange(20), y[i:i + 20]].mean()",
            "reward = torch.randn(20)\n        loss = -(logs[torch.arange(20), y[i:i + 20]] * reward).mean()",
        ),
    ),
    "tensors": PLAIN,
    "a frozen Parameter": changed(
        PLAIN,
        ("params = [w1, b1, w2]", "params = [w1, b1, w2, nn.Parameter(torch.zeros(3), requires_grad=False)]"),
    ),
    "seeded once": SEEDED,
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
