"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault, healthy

fault(
    "convolutional forecast of a weather station",
    "view() instead of transpose() makes (batch, channels, time) out of (batch, time, channels): the numbers are re-read in memory order, channels and times are mixed up, and the "
    "convolution along time no longer sees a series, so the forecast is hardly better than the mean.",
    ("scrambled",),
    (40,),
    """\
import math
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
WINDOW = 48
N_SENSORS = 4


def make_station(n):
    t = torch.arange(n).float()
    wind = torch.zeros(n)
    rain = torch.zeros(n)
    noise = torch.randn(n, 4)
    for i in range(1, n):
        wind[i] = 0.8 * wind[i - 1] + 0.6 * noise[i, 0]
        rain[i] = 0.5 * rain[i - 1] + 0.8 * noise[i, 1]
    pressure = torch.sin(2 * math.pi * t / 37) + 0.1 * noise[:, 2]
    level = torch.zeros(n)
    # the river answers to rain after nine hours and to wind after five
    level[9:] = 0.9 * rain[:-9] - 0.7 * wind[4:-5] + 0.5 * pressure[9:]
    level = level + 0.1 * noise[:, 3]
    return torch.stack([wind, rain, pressure, level], dim=1)


class ConvForecaster(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(N_SENSORS, channels, 3), nn.ReLU(),
            nn.Conv1d(channels, channels, 3, dilation=2), nn.ReLU(),
            nn.Conv1d(channels, channels, 3, dilation=4), nn.ReLU(),
        )
        self.head = nn.Linear(channels, 1)

    def forward(self, x):
        # Conv1d wants (batch, channels, time)
        batch = x.size(0)
        x = x.transpose(1, 2)
        h = self.net(x)
        return self.head(h[:, :, -1]).squeeze(1)


series = make_station(3000)
mean, std = series[:2400].mean(0), series[:2400].std(0)
series = (series - mean) / std
windows = series.unfold(0, WINDOW, 1).transpose(1, 2).contiguous()[:-1]
target = series[WINDOW:, 3]
split = 2400 - WINDOW
train_set = TensorDataset(windows[:split], target[:split])
test_x, test_y = windows[2400:], target[2400:]

model = ConvForecaster()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loader = DataLoader(train_set, batch_size=64, shuffle=True)
for epoch in range(12):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(x)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: train mse {total / len(train_set):.3f}")

model.eval()
with torch.no_grad():
    mse = nn.functional.mse_loss(model(test_x), test_y).item()
print(f"test mse {mse:.3f}, variance of the target {test_y.var():.3f}")
""",
    ("x = x.transpose(1, 2)\n        h", "x = x.view(batch, N_SENSORS, WINDOW)\n        h"),
)

fault(
    "mean network and noise network with an optimizer each",
    "Copied line: the second optimizer is built over the parameters of the mean network too, so the noise network is never updated (its gradients pile up unused) and the "
    "predicted spread stays what its random start gives.",
    ("not held",),
    (32,),
    """\
import torch
from torch import nn

torch.manual_seed(8)


def measure(n):
    x = torch.rand(n, 1) * 4 - 2
    spread = 0.05 + 0.6 * torch.sigmoid(4 * x)
    y = torch.sin(2 * x) + 0.3 * x + spread * torch.randn(n, 1)
    return x, y, spread


def mlp(width):
    return nn.Sequential(
        nn.Linear(1, width), nn.Tanh(),
        nn.Linear(width, width), nn.Tanh(),
        nn.Linear(width, 1),
    )


def gaussian_nll(mean, log_var, y):
    return 0.5 * (log_var + (y - mean) ** 2 / log_var.exp()).mean()


x_train, y_train, _ = measure(1500)
x_test, y_test, true_spread = measure(1000)

mean_net = mlp(32)
noise_net = mlp(16)
opt_mean = torch.optim.Adam(mean_net.parameters(), lr=3e-3)
opt_noise = torch.optim.Adam(noise_net.parameters(), lr=3e-3)

for epoch in range(40):
    order = torch.randperm(len(x_train))
    for idx in order.split(100):
        x, y = x_train[idx], y_train[idx]
        loss = gaussian_nll(mean_net(x), noise_net(x), y)
        opt_mean.zero_grad()
        opt_noise.zero_grad()
        loss.backward()
        opt_mean.step()
        opt_noise.step()
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1}  nll {loss.item():.3f}")

with torch.no_grad():
    mean = mean_net(x_test)
    sigma = (0.5 * noise_net(x_test)).exp()
    nll = gaussian_nll(mean, noise_net(x_test), y_test).item()
    inside = ((y_test - mean).abs() < 1.96 * sigma).float()
    quiet, loud = true_spread < 0.2, true_spread >= 0.5
print(f"test nll {nll:.3f}")
print(f"95% band holds {inside[quiet].mean():.2f} of the quiet and {inside[loud].mean():.2f} of the loud points")
print(f"mean predicted sigma: quiet {sigma[quiet].mean():.2f} (true {true_spread[quiet].mean():.2f}), "
      f"loud {sigma[loud].mean():.2f} (true {true_spread[loud].mean():.2f})")
""",
    (
        "opt_noise = torch.optim.Adam(noise_net.parameters(), lr=3e-3)",
        "opt_noise = torch.optim.Adam(mean_net.parameters(), lr=3e-3)",
    ),
)

fault(
    "Trainer for loan defaults, raw table columns",
    "evaluate() puts the model into eval mode and nothing ever puts it back: since it is called before the first epoch, all training runs in eval mode, batch norm never collects "
    "statistics (identity on raw columns of very different size) and the model stays poor.",
    ("trains in eval",),
    (37, 45),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def loan_table(n, seed):
    g = torch.Generator().manual_seed(seed)
    age = 20 + 45 * torch.rand(n, generator=g)
    income = torch.exp(10.3 + 0.5 * torch.randn(n, generator=g))
    debt = income * torch.rand(n, generator=g) * 0.8
    late = torch.poisson(torch.full((n,), 1.2), generator=g)
    score = 5 * (debt / income - 0.4) + 0.8 * (late - 1.2) - 0.05 * (age - 42)
    default = torch.rand(n, generator=g) < torch.sigmoid(2 * score)
    return torch.stack([age, income, debt, late], 1), default.float()


class LoanNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.hidden = nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1))
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(self.hidden(self.norm(x))).squeeze(-1)


class Trainer:
    def __init__(self, model, train_data, valid_data, lr=0.005, batch_size=64):
        self.model = model
        self.train_loader = DataLoader(train_data, batch_size, shuffle=True, drop_last=True)
        self.valid_loader = DataLoader(valid_data, 256)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.BCEWithLogitsLoss()

    def evaluate(self):
        self.model.eval()
        right = total = 0
        with torch.no_grad():
            for x, y in self.valid_loader:
                right += ((self.model(x) > 0) == (y > 0.5)).sum().item()
                total += len(y)
        return right / total

    def train_epoch(self):
        self.model.train()
        running = 0.0
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.loss_fn(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            running += loss.item()
        return running / len(self.train_loader)

    def fit(self, epochs):
        print(f"before training: accuracy {self.evaluate():.3f}")
        for epoch in range(1, epochs + 1):
            loss = self.train_epoch()
            print(f"epoch {epoch:2d}: loss {loss:.3f}, accuracy {self.evaluate():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = loan_table(5000, seed=17)
    train_data, valid_data = random_split(TensorDataset(x, y), [4000, 1000])
    print(f"share of defaults {y.mean():.3f}")
    Trainer(LoanNet(), train_data, valid_data).fit(12)
""",
    ("        self.model.train()\n", ""),
)

fault(
    "house price regression with a plateau schedule",
    "ReduceLROnPlateau watches the validation loss but is set up with mode='max': a falling loss counts as no progress, the rate is cut every few epochs and is practically zero "
    "long before the model has learned.",
    ("watched wrong way",),
    (48, 50),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(4)


def friedman(n):
    \"\"\"Ten columns, five of them matter.\"\"\"
    x = torch.rand(n, 10)
    y = (10 * torch.sin(torch.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
         + 10 * x[:, 3] + 5 * x[:, 4])
    return x, y + 0.5 * torch.randn(n)


def build_model():
    return nn.Sequential(
        nn.Linear(10, 64), nn.ReLU(),
        nn.Linear(64, 64), nn.ReLU(),
        nn.Linear(64, 1),
        nn.Flatten(0),
    )


def run_epoch(model, x, y, optimizer, batch=100):
    perm = torch.randperm(len(x))
    total = 0.0
    for start in range(0, len(x), batch):
        pick = perm[start:start + batch]
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[pick]), y[pick])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(pick)
    return total / len(x)


x_all, y_all = friedman(2600)
x_all = (x_all - 0.5) * 3.46
scale = y_all[:2000].std()
y_all = (y_all - y_all[:2000].mean()) / scale
x_train, x_valid, x_test = x_all[:2000], x_all[2000:2300], x_all[2300:]
y_train, y_valid, y_test = y_all[:2000], y_all[2000:2300], y_all[2300:]

model = build_model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.8, weight_decay=1e-4)
scheduler = ReduceLROnPlateau(
    optimizer,
    mode="min", factor=0.3, patience=4, min_lr=1e-6)

for epoch in range(60):
    train_loss = run_epoch(model, x_train, y_train, optimizer)
    with torch.no_grad():
        valid_loss = F.mse_loss(model(x_valid), y_valid).item()
    scheduler.step(valid_loss)
    if epoch % 10 == 9:
        lr = optimizer.param_groups[0]["lr"]
        print(f"{epoch + 1:3d}  train {train_loss:.4f}  valid {valid_loss:.4f}  lr {lr:.1e}")

with torch.no_grad():
    error = F.mse_loss(model(x_test), y_test).item()
print(f"test mse {error:.4f} (noise floor {(0.5 / scale.item()) ** 2:.4f})")
""",
    ('mode="min"', 'mode="max"'),
)

healthy(
    "stateful GRU on long noisy streams",
    """\
import torch
import torch.nn as nn

torch.manual_seed(33)
STREAMS, STEPS, CHUNK = 16, 2400, 30


def make_streams():
    \"\"\"A slow signal buried in noise that nobody can predict.\"\"\"
    hidden = torch.zeros(STREAMS)
    rows = []
    for _ in range(STEPS):
        hidden = 0.97 * hidden + 0.25 * torch.randn(STREAMS)
        rows.append(hidden + 1.5 * torch.randn(STREAMS))
    return torch.stack(rows, dim=1).unsqueeze(-1)


class Tracker(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.rnn = nn.GRU(1, size, batch_first=True)
        self.out = nn.Linear(size, 1)

    def forward(self, x, state):
        seq, state = self.rnn(x, state)
        return self.out(seq), state


data = make_streams()
train, test = data[:, :1800], data[:, 1800:]
model = Tracker()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(6):
    state = None
    losses = []
    # chunks follow each other in time, the state is carried over but not the graph
    for start in range(0, train.size(1) - CHUNK, CHUNK):
        x = train[:, start:start + CHUNK]
        y = train[:, start + 1:start + CHUNK + 1]
        pred, state = model(x, state)
        state = state.detach()
        loss = nn.functional.mse_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        losses.append(loss.item())
    print(f"epoch {epoch + 1}  mse {sum(losses) / len(losses):.3f}")

with torch.no_grad():
    pred, _ = model(test[:, :-1], None)
    skip = 50
    mse = (pred - test[:, 1:])[:, skip:].pow(2).mean().item()
    naive = (test[:, :-1] - test[:, 1:])[:, skip:].pow(2).mean().item()
    mean = test[:, skip:].var().item()
print(f"test mse {mse:.3f}; last value {naive:.3f}; mean {mean:.3f}; noise alone {1.5 ** 2:.3f}")
""",
)

healthy(
    "fine-tuning Trainer in eval mode with accumulation",
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def plant(n, site, rare, g):
    \"\"\"Sensor rows of a plant; the second site has other offsets, and failures are rare there.\"\"\"
    y = (torch.rand(n, generator=g) < rare).long()
    x = torch.randn(n, 12, generator=g)
    x[:, :4] += 1.6 * y[:, None]
    x[:, 4] += 2.0 * y * torch.sign(x[:, 5])
    if site == 2:
        x = x + 0.8 * torch.linspace(-1, 1, 12)
    return x, y


def balanced_accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        hit = model(x).argmax(1) == y
    return 0.5 * (hit[y == 0].float().mean() + hit[y == 1].float().mean()).item()


class Trainer:
    def __init__(self, model, optimizer, accumulate=1, keep_statistics=False):
        self.model, self.optimizer = model, optimizer
        self.accumulate, self.keep_statistics = accumulate, keep_statistics
        self.criterion = nn.CrossEntropyLoss(reduction="sum")

    def fit(self, loader, epochs):
        for _ in range(epochs):
            # small batches from a new site: the statistics of the old site are kept
            self.model.train(not self.keep_statistics)
            self.optimizer.zero_grad()
            seen = 0
            for i, (x, y) in enumerate(loader, 1):
                self.criterion(self.model(x), y).backward()
                seen += len(x)
                if i % self.accumulate == 0 or i == len(loader):
                    for p in self.model.parameters():
                        if p.grad is not None:
                            p.grad.div_(seen)
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    seen = 0


torch.manual_seed(1)
g = torch.Generator().manual_seed(2)
body = nn.Sequential(nn.Linear(12, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 48), nn.BatchNorm1d(48), nn.ReLU())
model = nn.Sequential(body, nn.Linear(48, 2))

x, y = plant(3000, 1, 0.5, g)
Trainer(model, torch.optim.Adam(model.parameters(), lr=2e-3)).fit(
    DataLoader(TensorDataset(x, y), 100, shuffle=True), 6)
print(f"site 1: {balanced_accuracy(model, *plant(2000, 1, 0.5, g)):.3f}")

x, y = plant(600, 2, 0.06, g)
test = plant(6000, 2, 0.06, g)
print(f"site 2 before tuning: {balanced_accuracy(model, *test):.3f}")

for name, p in model.named_parameters():
    p.requires_grad_(not name.startswith("0.0"))
weights = torch.where(y == 1, 1.0 / (y == 1).sum(), 1.0 / (y == 0).sum())
loader = DataLoader(TensorDataset(x, y), 4, sampler=WeightedRandomSampler(weights.tolist(), len(y)))
tuner = torch.optim.SGD([
    {"params": [p for p in body.parameters() if p.requires_grad], "lr": 2e-3},
    {"params": model[1].parameters(), "lr": 2e-2},
], momentum=0.9)
Trainer(model, tuner, accumulate=8, keep_statistics=True).fit(loader, 10)
print(f"site 2 after tuning: {balanced_accuracy(model, *test):.3f}")
""",
)

healthy(
    "salary model with a multiplier that climbs",
    """\
import torch
from torch import nn

torch.manual_seed(14)
N = 2000
group = (torch.rand(N) < 0.4).float()
skill = torch.randn(N, 3)
proxy = group + 0.5 * torch.randn(N)
X = torch.cat([skill, proxy[:, None]], dim=1)
y = skill @ torch.tensor([0.8, -0.4, 0.3]) - 0.9 * group + 0.2 * torch.randn(N)

model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
multiplier = torch.zeros((), requires_grad=True)
ALLOWED_GAP = 0.05

primal = torch.optim.Adam(model.parameters(), lr=5e-3)
dual = torch.optim.SGD([multiplier], lr=0.02, maximize=True)


def gap_between_groups(pred):
    return (pred[group == 1].mean() - pred[group == 0].mean()).abs()


for step in range(1200):
    pred = model(X).squeeze(1)
    mse = (pred - y).pow(2).mean()
    gap = gap_between_groups(pred)
    lagrangian = mse + multiplier * (gap - ALLOWED_GAP)

    primal.zero_grad()
    dual.zero_grad()
    lagrangian.backward()
    primal.step()
    dual.step()
    with torch.no_grad():
        multiplier.clamp_(min=0.0)

    if step in (0, 49, 199, 399, 799, 1199):
        print(f"{step + 1:5d}  lagrangian {lagrangian.item():.4f}  mse {mse.item():.4f}  "
              f"gap {gap.item():.3f}  multiplier {multiplier.item():.3f}")

with torch.no_grad():
    pred = model(X).squeeze(1)
    print(f"variance {y.var():.3f}, mse {(pred - y).pow(2).mean():.3f}, "
          f"gap {gap_between_groups(pred):.3f} where the data have {gap_between_groups(y):.3f}")
""",
)
