"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "reversing digit strings with an encoder-decoder GRU",
    "the decoder outputs are stacked time-first (T, B, V) and flattened against targets that are (B, T), so each logit is scored with the target of another example and position",
    ("other order",),
    (40, 53),
    """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(8)
DIGITS, BOS = 10, 10
SRC_LEN = 5


def get_batch(n):
    src = torch.randint(DIGITS, (n, SRC_LEN))
    return src, src.flip(1)


class Encoder(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.emb = nn.Embedding(DIGITS, 32)
        self.gru = nn.GRU(32, hid, batch_first=True)

    def forward(self, src):
        return self.gru(self.emb(src))[1][0]


class Decoder(nn.Module):
    def __init__(self, hid):
        super().__init__()
        self.emb = nn.Embedding(DIGITS + 1, 32)
        self.cell = nn.GRUCell(32, hid)
        self.out = nn.Linear(hid, DIGITS)

    def forward(self, h, tgt):
        # teacher forcing
        tok = torch.full((tgt.size(0),), BOS)
        steps = []
        for t in range(tgt.size(1)):
            h = self.cell(self.emb(tok), h)
            steps.append(self.out(h))
            tok = tgt[:, t]
        return torch.stack(steps, dim=1)

    def greedy(self, h, length):
        tok = torch.full((h.size(0),), BOS)
        result = []
        for _ in range(length):
            h = self.cell(self.emb(tok), h)
            tok = self.out(h).argmax(-1)
            result.append(tok)
        return torch.stack(result, dim=1)


def loss_on(logits, tgt):
    return F.cross_entropy(logits.reshape(-1, DIGITS), tgt.reshape(-1))


enc, dec = Encoder(96), Decoder(96)
params = list(enc.parameters()) + list(dec.parameters())
opt = torch.optim.Adam(params, lr=3e-3)
test_src, test_tgt = get_batch(300)
ema = None
for it in range(1, 401):
    src, tgt = get_batch(80)
    loss = loss_on(dec(enc(src), tgt), tgt)
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    ema = loss.item() if ema is None else 0.95 * ema + 0.05 * loss.item()
    if it % 100 == 0:
        with torch.no_grad():
            guess = dec.greedy(enc(test_src), SRC_LEN)
        exact = (guess == test_tgt).all(1).float().mean().item()
        print(f"iter {it} loss {ema:.3f} exact match {exact:.3f}")
""",
    ("return torch.stack(steps, dim=1)", "return torch.stack(steps)"),
)

fault(
    "concrete strength regression with a weighted Huber loss",
    "predictions (B, 1) and targets (B,) broadcast to a (B, B) error matrix, so every prediction is pulled to the batch's mean and the fit explains nothing",
    ("broadcast",),
    (38, 22),
    """\
import torch
from torch import Tensor

gen = torch.Generator().manual_seed(17)


def strength(x: Tensor) -> Tensor:
    cement, water, age, slag = x.unbind(1)
    ratio = cement / water
    return 18.0 * ratio + 7.0 * torch.log(age) * (1 + 0.3 * slag) - 12.0 + 4.0 * torch.sin(6 * slag)


x = torch.rand(1500, 4, generator=gen)
x = x * torch.tensor([1.2, 0.5, 80.0, 1.0]) + torch.tensor([0.8, 0.5, 3.0, 0.0])
y = strength(x) + torch.randn(1500, generator=gen)
x[:, 2] = x[:, 2].log()
x = (x - x.mean(0)) / x.std(0)
y = (y - y.mean()) / y.std()


def weighted_huber(pred, target, weight, delta=1.0):
    err = (pred - target).abs()
    quad = err.clamp(max=delta)
    return (weight * (0.5 * quad ** 2 + delta * (err - quad))).mean()


def init(n_in, n_out):
    w = torch.randn(n_in, n_out, generator=gen) * (2.0 / n_in) ** 0.5
    return w.requires_grad_(), torch.zeros(n_out, requires_grad=True)


(w1, b1), (w2, b2), (w3, b3) = init(4, 48), init(48, 48), init(48, 1)


def predict(inp):
    h = torch.relu(inp @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    return (h @ w3 + b3).squeeze(1)


params = [w1, b1, w2, b2, w3, b3]
moments = [torch.zeros_like(p) for p in params]
# fresh samples are measured more exactly
weights = torch.where(torch.rand(1500, generator=gen) < 0.5, 1.0, 0.6)
train, test = slice(0, 1200), slice(1200, 1500)


def fit_score(part):
    with torch.no_grad():
        residual = y[part] - predict(x[part]).view(-1)
        return 1 - residual.var() / y[part].var()


for epoch in range(60):
    for rows in torch.randperm(1200, generator=gen).split(48):
        loss = weighted_huber(predict(x[rows]), y[rows], weights[rows])
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            for p, g, m in zip(params, grads, moments):
                m.mul_(0.9).add_(g)
                p.sub_(0.01 * m)
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1}  loss {loss.item():.4f}  explained {fit_score(test).item():.3f}")
""",
    ("return (h @ w3 + b3).squeeze(1)", "return h @ w3 + b3"),
)

fault(
    "next-hour energy forecast on standardised windows",
    "each window is divided by its own standard deviation, which is exactly zero while the machine is off, so 0/0 puts NaN into the batch and then into all weights",
    ("not finite",),
    (30, 31),
    """\
import math
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader, Subset

torch.manual_seed(4)


def machine_load(hours):
    g = torch.Generator().manual_seed(9)
    t = torch.arange(hours).float()
    load = 5 + 2 * torch.sin(2 * math.pi * t / 24) + torch.sin(2 * math.pi * t / 8)
    load = load + 0.15 * torch.randn(hours, generator=g)
    # maintenance: the machine is switched off
    for start in (700, 1500, 2400):
        load[start:start + 60] = 0.0
    return load


class Windows(Dataset):
    def __init__(self, series, size=36):
        self.series, self.size = series, size

    def __len__(self):
        return len(self.series) - self.size

    def __getitem__(self, i):
        w = self.series[i:i + self.size + 1]
        past, nxt = w[:-1], w[-1]
        mean, std = past.mean(), past.std().clamp(min=0.1)
        return (past - mean) / std, (nxt - mean) / std


class ConvForecaster(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, ch, 5, padding=2), nn.ReLU(),
            nn.Conv1d(ch, ch, 5, stride=2, padding=2), nn.ReLU(),
            nn.Flatten(), nn.Linear(ch * 18, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x.unsqueeze(1)).squeeze(-1)


def main():
    data = Windows(machine_load(3000))
    train_set = Subset(data, range(0, 2300))
    val_set = Subset(data, range(2500, len(data)))
    train_dl = DataLoader(train_set, batch_size=64, shuffle=True)
    val_dl = DataLoader(val_set, batch_size=256)
    model = ConvForecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.HuberLoss()
    for epoch in range(6):
        model.train()
        train_loss = 0.0
        for past, nxt in train_dl:
            optimizer.zero_grad()
            loss = criterion(model(past), nxt)
            loss.backward()
            optimizer.step()
            train_loss += loss.item() / len(train_dl)
        model.eval()
        with torch.no_grad():
            err = torch.cat([(model(p) - n).abs() for p, n in val_dl])
        print(f"epoch {epoch} train {train_loss:.4f} val MAE {err.mean():.3f}")


if __name__ == "__main__":
    main()
""",
    ("past.std().clamp(min=0.1)", "past.std()"),
)

fault(
    "river level forecast with early stopping",
    "best_state keeps references to the live parameters because state_dict() is not copied, so restoring it gives back the last, overfitted weights and not the best ones",
    ("no copy",),
    (67,),
    """\
import copy
import math
import torch
import torch.nn as nn

torch.manual_seed(30)


def river(n, seed):
    g = torch.Generator().manual_seed(seed)
    rain = torch.relu(torch.randn(n, generator=g) - 0.6)
    level = torch.zeros(n)
    for t in range(1, n):
        season = 0.3 * math.sin(2 * math.pi * t / 90)
        level[t] = 0.75 * level[t - 1] + 0.8 * rain[t - 1] * (1 + season) + 0.1 * season
    return rain, level + 0.25 * torch.randn(n, generator=g)


def lagged(rain, level, lags=14, horizon=2):
    xs, ys = [], []
    for t in range(lags, len(level) - horizon):
        xs.append(torch.cat([rain[t - lags:t], level[t - lags:t]]))
        ys.append(level[t + horizon - 1])
    return torch.stack(xs), torch.stack(ys).unsqueeze(1)


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.bad_epochs = 0
        self.best_epoch = 0

    def update(self, value, epoch):
        if value < self.best:
            self.best, self.best_epoch, self.bad_epochs = value, epoch, 0
            return True
        self.bad_epochs += 1
        return False

    @property
    def stop(self):
        return self.bad_epochs >= self.patience


x_train, y_train = lagged(*river(320, 1))
x_val, y_val = lagged(*river(700, 2))
x_test, y_test = lagged(*river(700, 3))

model = nn.Sequential(nn.Linear(28, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
mse = nn.MSELoss()
stopper = EarlyStopping(patience=40)
best_state = None

for epoch in range(400):
    model.train()
    for idx in torch.randperm(len(x_train)).split(32):
        opt.zero_grad()
        loss = mse(model(x_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val = mse(model(x_val), y_val).item()
    if stopper.update(val, epoch):
        best_state = copy.deepcopy(model.state_dict())
    if stopper.stop:
        break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    print(f"stopped after {epoch + 1} epochs, best epoch {stopper.best_epoch}, best val mse {stopper.best:.4f}")
    print("restored model: val mse %.4f test mse %.4f (variance %.4f)" % (
        mse(model(x_val), y_val), mse(model(x_test), y_test), y_test.var()))
""",
    ("best_state = copy.deepcopy(model.state_dict())", "best_state = model.state_dict()"),
)

fault(
    "DQN on a corridor with two exits",
    "the TD target bootstraps through the end of an episode (no (1 - done) factor), so values run on into the next episode and the agent takes the near, small reward",
    ("beyond the end",),
    (71,),
    """\
import random
from collections import deque
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(12)
torch.manual_seed(12)


class Corridor:
    \"\"\"0 is the near exit (+0.4), 8 the far exit (+1); resets itself as vector environments do.\"\"\"
    size = 9

    def reset(self):
        self.pos, self.t = 2, 0
        return self.pos

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        self.t += 1
        reward, done = 0.0, False
        if self.pos == 0:
            reward, done = 0.4, True
        elif self.pos == self.size - 1:
            reward, done = 1.0, True
        obs = self.reset() if done else self.pos
        return obs, reward, done


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(Corridor.size, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, pos):
        return self.body(F.one_hot(pos, Corridor.size).float())


def greedy_return(q, limit=30):
    env = Corridor()
    pos = env.reset()
    for _ in range(limit):
        pos, reward, done = env.step(int(q(torch.tensor([pos])).argmax()))
        if done:
            return reward
    return 0.0


GAMMA = 0.97
q, q_target = QNet(), QNet()
q_target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
memory = deque(maxlen=4000)
env = Corridor()
pos = env.reset()

for step in range(1, 3001):
    eps = max(0.3, 1.0 - step / 2000)
    with torch.no_grad():
        action = random.randrange(2) if random.random() < eps else int(q(torch.tensor([pos])).argmax())
    nxt, reward, done = env.step(action)
    memory.append((pos, action, reward, nxt, float(done)))
    pos = nxt
    if step > 200 and step % 2 == 0:
        s, a, r, s2, d = zip(*random.sample(memory, 48))
        s, a, s2 = torch.tensor(s), torch.tensor(a), torch.tensor(s2)
        r, d = torch.tensor(r), torch.tensor(d)
        with torch.no_grad():
            best_next = q_target(s2).max(1).values
            target = r + GAMMA * (1 - d) * best_next
        value = q(s).gather(1, a[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(value, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if step % 100 == 0:
        q_target.load_state_dict(q.state_dict())
    if step % 500 == 0:
        with torch.no_grad():
            start_value = q(torch.tensor([2])).max().item()
            print(f"step {step} value of start {start_value:.2f} greedy return {greedy_return(q):.2f}")
""",
    ("target = r + GAMMA * (1 - d) * best_next", "target = r + GAMMA * best_next"),
)

fault(
    "GRU for the adding problem with a step schedule",
    "scheduler.step() is called for every batch though step_size is meant in epochs, so the learning rate is cut to almost nothing within the first epoch",
    ("rate",),
    (55,),
    """\
import torch
import torch.nn as nn

SEQ = 16


def adding_data(n, seed):
    g = torch.Generator().manual_seed(seed)
    values = torch.rand(n, SEQ, generator=g)
    marks = torch.zeros(n, SEQ)
    first = torch.randint(0, SEQ // 2, (n,), generator=g)
    second = torch.randint(SEQ // 2, SEQ, (n,), generator=g)
    rows = torch.arange(n)
    marks[rows, first] = 1.0
    marks[rows, second] = 1.0
    return torch.stack([values, marks], dim=2), values[rows, first] + values[rows, second]


class Adder(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.rnn.weight_hh_l0)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.head(h[-1]).flatten()


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


def train(epochs=13, batch=40):
    torch.manual_seed(2)
    x, y = adding_data(1600, seed=100)
    x_val, y_val = adding_data(400, seed=200)
    model = Adder()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.3)
    for epoch in range(epochs):
        model.train()
        perm = torch.randperm(len(x))
        total = 0.0
        for i in range(0, len(x), batch):
            b = perm[i:i + batch]
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[b]), y[b])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(b)
        scheduler.step()
        print(f"epoch {epoch:2d} train {total / len(x):.4f} val {evaluate(model, x_val, y_val):.4f}")
    return model


if __name__ == "__main__":
    train()
""",
    (
        "            total += loss.item() * len(b)\n        scheduler.step()\n",
        "            scheduler.step()\n            total += loss.item() * len(b)\n",
    ),
)
