"""Healthy programs, which faults are planted in: each trains something else, in another style.

Invariant: a program is text that runs by itself, on `torch`, in about a second.
"""

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
"""

BASES = {}

BASES["classifier"] = (
    HEAD
    + """\
X = torch.randn(320, 12)
Y = (X @ torch.randn(12, 4)).argmax(1)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X[:256], Y[:256]), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(6):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        out = net(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        right = (net(X[256:]).argmax(1) == Y[256:]).float().mean().item()
"""
)

BASES["vision"] = (
    HEAD
    + """\
Y = torch.arange(192) % 3
X = torch.randn(192, 1, 8, 8) * 0.3
X[Y == 0, :, :4] += 1
X[Y == 1, :, :, :4] += 1
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Linear(8 * 2 * 2, 3)
    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.dropout(x.flatten(1), 0.2, training=self.training)
        return self.head(x)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    model.train()
    order = torch.randperm(160)
    for i in range(0, 160, 32):
        batch = order[i:i + 32]
        images = X[batch]
        labels = Y[batch]
        optimizer.zero_grad()
        scores = model(images)
        loss = criterion(scores, labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        check = criterion(model(X[160:]), Y[160:]).item()
"""
)

BASES["regression"] = (
    HEAD
    + """\
X = torch.randn(256, 6)
Y = (X * torch.tensor([1.0, -2, 0.5, 0, 3, 1])).sum(1) + 2
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
history = []
for step in range(80):
    i = torch.randint(0, 256, (32,))
    x = X[i]
    y = Y[i]
    pred = net(x).squeeze(1)
    loss = F.mse_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss.item())
"""
)

BASES["text"] = (
    HEAD
    + """\
T = torch.randint(0, 20, (240, 10))
Y = (T == 3).any(1).long()
T[Y == 1, 0] = 3
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.rnn = nn.LSTM(16, 24, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(24, 2)
    def forward(self, t):
        h, _ = self.rnn(self.embed(t))
        h = h.mean(1)
        return self.out(self.drop(h))
model = Tagger()
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
def train(step):
    model.train()
    rows = torch.randint(0, 200, (24,))
    tokens = T[rows]
    labels = Y[rows]
    scores = model(tokens)
    loss = F.cross_entropy(scores, labels)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    return loss.item()
def evaluate():
    model.eval()
    with torch.no_grad():
        scores = model(T[200:])
        return (scores.argmax(1) == Y[200:]).float().mean().item()
for step in range(60):
    train(step)
    if step % 15 == 14:
        evaluate()
"""
)

BASES["language"] = (
    HEAD
    + """\
text = torch.arange(400) * 7 % 11
text = (text + torch.arange(400) // 3) % 11
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.norm2 = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
    def forward(self, x):
        mask = torch.triu(torch.full((x.size(1), x.size(1)), float("-inf")), 1)
        h = self.norm1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(11, 16)
        self.pos = nn.Parameter(torch.zeros(8, 16))
        self.blocks = nn.ModuleList([Block(16), Block(16)])
        self.head = nn.Linear(16, 11)
    def forward(self, t):
        x = self.tok(t) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(x)
gpt = GPT()
opt = torch.optim.AdamW(gpt.parameters(), lr=1e-2)
for step in range(50):
    at = torch.randint(0, 380, (12,))
    given = torch.stack([text[i:i + 8] for i in at])
    wanted = torch.stack([text[i + 1:i + 9] for i in at])
    logits = gpt(given)
    loss = F.cross_entropy(logits.reshape(-1, 11), wanted.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["autoencoder"] = (
    HEAD
    + """\
Z = torch.randn(256, 3)
X = torch.sigmoid(Z @ torch.randn(3, 20))
encoder = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 3))
decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 20), nn.Sigmoid())
params = list(encoder.parameters()) + list(decoder.parameters())
opt = torch.optim.Adam(params, lr=1e-2)
for step in range(80):
    x = X[torch.randint(0, 256, (32,))]
    code = encoder(x)
    back = decoder(code)
    loss = ((back - x) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["gan"] = (
    HEAD
    + """\
G = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3)
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for step in range(40):
    real = torch.randn(32, 2) * 0.5 + 2
    fake = G(torch.randn(32, 4))
    opt_d.zero_grad()
    loss_d = bce(D(real), torch.ones(32, 1)) + bce(D(fake.detach()), torch.zeros(32, 1))
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = bce(D(fake), torch.ones(32, 1))
    loss_g.backward()
    opt_g.step()
"""
)

BASES["policy"] = (
    HEAD
    + """\
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optim = torch.optim.Adam(policy.parameters(), lr=1e-2)
truth = torch.randn(4, 3)
for episode in range(40):
    states = torch.randn(24, 4)
    logits = policy(states)
    dist = torch.distributions.Categorical(logits=logits)
    actions = dist.sample()
    rewards = ((states @ truth).argmax(1) == actions).float()
    advantage = rewards - rewards.mean()
    loss = -(dist.log_prob(actions) * advantage).mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
"""
)

BASES["qlearning"] = (
    HEAD
    + """\
q = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
target_q = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
target_q.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=3e-3)
for step in range(60):
    s = torch.randn(32, 4)
    a = torch.randint(0, 2, (32,))
    r = s[:, 0] * (a * 2 - 1).float()
    s2 = s * 0.9 + 0.1 * torch.randn(32, 4)
    value = q(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = r + 0.9 * target_q(s2).max(1).values
    loss = F.smooth_l1_loss(value, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        target_q.load_state_dict(q.state_dict())
"""
)

BASES["functional"] = (
    HEAD
    + """\
X = torch.randn(200, 5)
Y = (X[:, 0] - X[:, 1] > 0).float()
w1 = (torch.randn(5, 16) * 0.4).requires_grad_()
b1 = torch.zeros(16, requires_grad=True)
w2 = (torch.randn(16, 1) * 0.3).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([w1, b1, w2, b2], lr=0.2)
def forward(x):
    h = torch.tanh(x @ w1 + b1)
    return (h @ w2 + b2).squeeze(1)
for step in range(60):
    pick = torch.randint(0, 200, (40,))
    x = X[pick]
    y = Y[pick]
    z = forward(x)
    loss = F.binary_cross_entropy_with_logits(z, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["recurrent"] = (
    HEAD
    + """\
wave = torch.sin(torch.arange(600) * 0.2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(1, 16)
        self.out = nn.Linear(16, 1)
    def forward(self, x, h):
        ys = []
        for t in range(x.size(1)):
            h = self.cell(x[:, t:t + 1], h)
            ys.append(self.out(h))
        return torch.cat(ys, 1), h
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
h = torch.zeros(8, 16)
for step in range(40):
    at = torch.arange(8) * 20 + step * 5
    x = torch.stack([wave[i:i + 5] for i in at])
    y = torch.stack([wave[i + 1:i + 6] for i in at])
    out, h = net(x, h.detach())
    loss = (out - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)

BASES["tuning"] = (
    HEAD
    + """\
X = torch.randn(240, 10)
Y = (X[:, :5].sum(1) > 0).long()
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU())
        self.head = nn.Linear(16, 2)
    def forward(self, x):
        return self.head(self.body(x))
model = Model()
body_opt = torch.optim.SGD(model.body.parameters(), lr=0.05)
head_opt = torch.optim.Adam(model.head.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.StepLR(body_opt, step_size=3, gamma=0.5)
for epoch in range(8):
    for i in range(0, 240, 30):
        x = X[i:i + 30]
        y = Y[i:i + 30]
        logp = F.log_softmax(model(x), dim=1)
        loss = F.nll_loss(logp, y)
        body_opt.zero_grad()
        head_opt.zero_grad()
        loss.backward()
        body_opt.step()
        head_opt.step()
    sched.step()
"""
)
