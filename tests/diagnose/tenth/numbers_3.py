"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "discount policy under a budget with a Lagrange multiplier",
    """\
import torch
from torch import nn

torch.manual_seed(12)
torch.set_num_threads(1)

N, BUDGET = 4000, 0.25

# customers: three features, each reacts differently to a discount between 0 and 1
feat = torch.randn(N, 3)
sensitivity = torch.exp(0.8 * feat[:, 0])
value = 1.0 + torch.relu(feat[:, 1] + 0.5 * feat[:, 2])


def profit(discount, sens, val):
    return val * (1 - torch.exp(-sens * 3 * discount))


class DiscountNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
        # start from small discounts
        nn.init.constant_(self.net[-1].bias, -2.0)

    def forward(self, x):
        return torch.sigmoid(self.net(x)).squeeze(1)


policy = DiscountNet()
price = torch.zeros(1, requires_grad=True)  # multiplier of the budget constraint

opt_policy = torch.optim.Adam(policy.parameters(), lr=5e-3)
opt_price = torch.optim.SGD([price], lr=0.1, maximize=True)

for step in range(1, 1501):
    idx = torch.randint(N, (256,))
    discount = policy(feat[idx])
    gain = profit(discount, sensitivity[idx], value[idx]).mean()
    overspend = discount.mean() - BUDGET
    lagrangian = -gain + (price * overspend).squeeze()

    opt_policy.zero_grad()
    opt_price.zero_grad()
    lagrangian.backward()
    opt_policy.step()
    opt_price.step()
    with torch.no_grad():
        price.clamp_(min=0.0)

    if step % 300 == 0:
        print(f"step {step}  lagrangian {lagrangian.item():.3f}  gain {gain.item():.3f}  "
              f"spend {discount.mean().item():.3f}  price {price.item():.2f}")

with torch.no_grad():
    discount = policy(feat)
    flat = torch.full((N,), BUDGET)
    print(f"spend {discount.mean().item():.3f} of {BUDGET}")
    print(f"gain with the policy {profit(discount, sensitivity, value).mean().item():.3f}, "
          f"same discount for all {profit(flat, sensitivity, value).mean().item():.3f}")
""",
)

healthy(
    "learning to rank from all pairs of a query",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
torch.set_num_threads(1)

QUERIES, DOCS, FEATS = 240, 20, 10
w_doc = torch.randn(FEATS)


def make_queries(n):
    x = torch.randn(n, DOCS, FEATS) + 2 * torch.randn(n, 1, FEATS)
    centered = x - x.mean(1, keepdim=True)
    score = centered @ w_doc + 1.5 * torch.tanh(centered[..., 0] * centered[..., 1])
    score = score + 0.5 * torch.randn(n, DOCS)
    grade = (score > 0.5).long() + (score > 3).long() + (score > 6).long()
    return x, grade


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(FEATS, 48)
        self.b = nn.Linear(48, 1, bias=False)

    def forward(self, docs):
        docs = docs - docs.mean(dim=0)
        return self.b(torch.relu(self.a(docs)))[:, 0]


def pairwise_loss(s, grade):
    diff = s[:, None] - s
    better = (grade[:, None] > grade).float()
    gap = (grade[:, None] - grade).abs()
    # ties count nothing, larger gaps more
    loss = F.binary_cross_entropy_with_logits(diff, better, weight=gap.float(), reduction="sum")
    return loss / gap.sum().clamp(min=1)


def ndcg(s, grade, k=5):
    gain = 2.0 ** grade - 1
    disc = 1 / torch.log2(torch.arange(k) + 2.0)
    got = (gain[s.argsort(descending=True)[:k]] * disc).sum()
    best = (gain.sort(descending=True).values[:k] * disc).sum()
    return (got / best).item() if best > 0 else 1.0


x, grade = make_queries(QUERIES)
x_test, grade_test = make_queries(80)
scorer = Scorer()
optimizer = torch.optim.Adam(scorer.parameters(), lr=3e-3)

for epoch in range(12):
    total = 0.0
    # one query at a time, pairs never cross queries
    for q in torch.randperm(QUERIES).tolist():
        loss = pairwise_loss(scorer(x[q]), grade[q])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        with torch.no_grad():
            quality = sum(ndcg(scorer(a), g) for a, g in zip(x_test, grade_test)) / len(x_test)
        print(f"epoch {epoch + 1}  pair loss {total / QUERIES:.4f}  ndcg@5 {quality:.3f}")

print("ndcg@5 of a random order %.3f" % (sum(ndcg(torch.rand(DOCS), g) for g in grade_test) / len(grade_test)))
""",
)

healthy(
    "evolution strategy for balancing a pole",
    '''\
import math
import torch

torch.manual_seed(17)
torch.set_num_threads(1)
torch.set_grad_enabled(False)

DT, STEPS = 0.05, 100
SHAPES = [(4, 8), (8,), (8, 1), (1,)]
SIZE = sum(math.prod(s) for s in SHAPES)


def unpack(flat):
    """flat: (population, SIZE) -> list of weights with a leading population axis"""
    parts, at = [], 0
    for shape in SHAPES:
        n = math.prod(shape)
        parts.append(flat[:, at:at + n].reshape(flat.size(0), *shape))
        at += n
    return parts


def act(weights, obs):
    w1, b1, w2, b2 = weights
    h = torch.tanh(torch.bmm(obs, w1) + b1[:, None])
    return torch.tanh(torch.bmm(h, w2) + b2[:, None]).squeeze(-1)


def rollout(flat, start):
    weights = unpack(flat)
    state = start.expand(flat.size(0), *start.shape).clone()
    alive = torch.ones(state.shape[:2])
    score = torch.zeros(state.shape[:2])
    for _ in range(STEPS):
        x, v, th, om = state.unbind(-1)
        force = 8.0 * act(weights, state)
        acc = 9.8 * torch.sin(th) - torch.cos(th) * force
        om = om + DT * acc
        th = th + DT * om
        v = v + DT * (force - 0.3 * acc * torch.cos(th))
        x = x + DT * v
        state = torch.stack([x, v, th, om], -1)
        alive = alive * ((th.abs() < 0.6) & (x.abs() < 2.4))
        score += alive * (1 - 0.1 * x.abs())
    return score.mean(1)


def starts(n):
    return 0.15 * torch.randn(n, 4)


theta = torch.zeros(SIZE)
momentum = torch.zeros(SIZE)
sigma, lr, pairs = 0.15, 0.06, 24

for generation in range(1, 61):
    noise = torch.randn(pairs, SIZE)
    population = torch.cat([theta + sigma * noise, theta - sigma * noise])
    fitness = rollout(population, starts(6))
    # centred ranks instead of raw scores
    rank = fitness.argsort().argsort().float() / (len(fitness) - 1) - 0.5
    direction = ((rank[:pairs] - rank[pairs:]) @ noise) / (pairs * sigma)
    momentum = 0.8 * momentum + direction
    theta = theta + lr * momentum
    if generation % 15 == 0:
        print(f"generation {generation}  population mean {fitness.mean().item():.1f}  "
              f"centre {rollout(theta[None], starts(50)).item():.1f} of {STEPS}")

print("untrained", round(rollout(torch.zeros(1, SIZE), starts(50)).item(), 1))
''',
)

healthy(
    "trainer with accumulation over sequences of different length",
    """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(23)
torch.set_num_threads(1)


def make_trip(_):
    # speed of a vehicle -> smoothed engine temperature
    n = int(torch.randint(6, 25, (1,)))
    speed = torch.rand(n).cumsum(0) * 0.2 + 0.5 * torch.randn(n)
    temp, level = [], 0.0
    for s in speed:
        level = 0.7 * level + 0.3 * torch.relu(s).item()
        temp.append(level)
    return speed[:, None], torch.tensor(temp) + 0.05 * torch.randn(n)


def collate(batch):
    xs, ys = zip(*batch)
    lengths = torch.tensor([len(y) for y in ys])
    return pad_sequence(xs, batch_first=True), pad_sequence(ys, batch_first=True), lengths


class TempNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 24, batch_first=True)
        self.head = nn.Linear(24, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=x.size(1))
        return self.head(h).squeeze(-1)


class Trainer:
    def __init__(self, model, loader, accumulate, lr):
        self.model, self.loader, self.accumulate = model, loader, accumulate
        self.optim = torch.optim.Adam(model.parameters(), lr=lr)
        self.optim.zero_grad()
        self.pending = 0

    def batch_sum(self, x, y, lengths):
        mask = torch.arange(x.size(1)) < lengths[:, None]
        err = (self.model(x, lengths) - y).pow(2)
        return (err * mask).sum(), int(lengths.sum())

    def apply(self):
        # the losses were summed, so divide by the number of time steps in the group
        for p in self.model.parameters():
            p.grad /= self.pending
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optim.step()
        self.optim.zero_grad()
        self.pending = 0

    def epoch(self):
        total, count = 0.0, 0
        for i, (x, y, lengths) in enumerate(self.loader, start=1):
            loss, n = self.batch_sum(x, y, lengths)
            loss.backward()
            self.pending += n
            total, count = total + loss.item(), count + n
            if i % self.accumulate == 0:
                self.apply()
        if self.pending:
            self.apply()
        return total / count


trips = [make_trip(i) for i in range(700)]
loader = DataLoader(trips[:600], batch_size=8, shuffle=True, collate_fn=collate)
trainer = Trainer(TempNet(), loader, accumulate=4, lr=1e-2)
for e in range(1, 11):
    mse = trainer.epoch()
    if e % 2 == 0:
        with torch.no_grad():
            s, n = trainer.batch_sum(*collate(trips[600:]))
        print(f"epoch {e}  train {mse:.4f}  test {s.item() / n:.4f}")
print("variance of the target %.4f" % torch.cat([t[1] for t in trips[600:]]).var().item())
""",
)

healthy(
    "off-policy bandit learning from logged recommendations",
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(9)
torch.set_num_threads(1)

CONTEXT, ARMS, LOGS = 6, 5, 30000
true_w = torch.randn(CONTEXT, ARMS)


def reward_prob(ctx):
    return torch.sigmoid(1.2 * (ctx @ true_w) - 2.0)


# the old system picked arms by a poor but known softmax policy
@torch.no_grad()
def logging_policy(ctx):
    logits = 0.5 * ctx[:, :ARMS].flip(1)
    probs = 0.7 * torch.softmax(logits, dim=1) + 0.3 / ARMS
    arm = torch.multinomial(probs, 1)
    return arm, probs.gather(1, arm)


ctx = torch.randn(LOGS, CONTEXT)
arm, propensity = logging_policy(ctx)
reward = torch.bernoulli(reward_prob(ctx).gather(1, arm))

policy = nn.Linear(CONTEXT, ARMS)
nn.init.zeros_(policy.weight)
nn.init.zeros_(policy.bias)
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3, weight_decay=1e-4)


def value_of(probs, c):
    return (probs * reward_prob(c)).sum(1).mean().item()


test_ctx = torch.randn(5000, CONTEXT)
baseline = reward.mean()

for epoch in range(1, 11):
    total = 0.0
    for idx in torch.randperm(LOGS).split(250):
        probs = F.softmax(policy(ctx[idx]), dim=1)
        chosen = probs.gather(1, arm[idx])
        weight = (chosen / propensity[idx]).clamp(max=8.0)
        # inverse propensity estimate of the gain, higher is better
        loss = -((reward[idx] - baseline) * weight).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 2 == 0:
        with torch.no_grad():
            v = value_of(F.softmax(policy(test_ctx), dim=1), test_ctx)
        print(f"epoch {epoch}  loss {total / LOGS:.4f}  click rate {v:.3f}")

best = reward_prob(test_ctx).max(1).values.mean().item()
print(f"click rate in the logs {baseline.item():.3f}, of the best arms {best:.3f}")
""",
)

healthy(
    "linear forecast of raw daily returns by plain gradient descent",
    '''\
import torch

torch.manual_seed(41)
torch.set_num_threads(1)

LAGS, ASSETS, DAYS = 5, 8, 6000
VOL = 0.01


def simulate():
    """Daily returns with a very weak memory, as fractions (0.01 = one percent)."""
    coef = torch.tensor([-0.16, 0.08, 0.0, 0.05, -0.03])
    r = VOL * torch.randn(DAYS, ASSETS)
    for t in range(LAGS, DAYS):
        past = r[t - LAGS:t].flip(0)
        r[t] += (coef[:, None] * past).sum(0)
    return r, coef


returns, true_coef = simulate()
windows = returns.unfold(0, LAGS + 1, 1).reshape(-1, LAGS + 1)
X, y = windows[:, :LAGS].flip(1), windows[:, LAGS]
n_train = int(0.8 * len(X))
X_train, y_train, X_test, y_test = X[:n_train], y[:n_train], X[n_train:], y[n_train:]

w = torch.zeros(LAGS, requires_grad=True)
b = torch.zeros((), requires_grad=True)

# inputs have a variance of 1e-4, so the curvature is tiny and the step is large
lr_w, lr_b = 1000.0, 0.1


def mse(X, y):
    return (X @ w + b - y).pow(2).mean()


for step in range(1, 151):
    idx = torch.randint(n_train, (8000,))
    loss = mse(X_train[idx], y_train[idx])
    w.grad = b.grad = None
    loss.backward()
    with torch.no_grad():
        w -= lr_w / (1 + step / 30) * w.grad
        b -= lr_b * b.grad
    if step % 30 == 0:
        with torch.no_grad():
            r2 = 1 - mse(X_test, y_test) / y_test.var()
        print(f"step {step}  loss {loss.item():.4e}  out-of-sample R2 {r2.item():.4f}")

print("coefficients", [round(v, 3) for v in w.tolist()])
print("true        ", [round(v, 3) for v in true_coef.tolist()])
oracle = 1 - (X_test @ true_coef - y_test).pow(2).mean() / y_test.var()
print(f"R2 with the true coefficients {oracle.item():.4f}")
''',
)

healthy(
    "frozen tabular encoder with batch norm and a new head",
    """\
import torch
from torch import nn

torch.manual_seed(19)
torch.set_num_threads(1)

scales = torch.tensor([1.0, 50.0, 0.02, 300.0, 5.0, 1.0, 8.0, 0.5])
mix = torch.randn(8, 4) / 8 ** 0.5


def make_table(n):
    z = torch.randn(n, 8)
    factors = torch.tanh(1.5 * z @ mix)
    return z * scales + 3 * scales, factors


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm1d(8), nn.Linear(8, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 12)
        )

    def forward(self, x):
        return self.layers(x)


class ChurnModel(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.head = nn.Linear(12, 1)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x))).squeeze(1)


# large table with several targets: learn the encoder there
encoder = Encoder()
aux_head = nn.Linear(12, 4)
x, factors = make_table(6000)
opt = torch.optim.Adam([*encoder.parameters(), *aux_head.parameters()], lr=3e-3)
for epoch in range(8):
    for idx in torch.randperm(len(x)).split(100):
        loss = (aux_head(torch.relu(encoder(x[idx]))) - factors[idx]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"pretraining loss {loss.item():.4f}")


def churn(n):
    x, f = make_table(n)
    logit = 4 * f[:, 0] - 3 * f[:, 1] + 2 * f[:, 3] - 3.5
    return x, torch.bernoulli(torch.sigmoid(logit))


# few customers, about one in five leaves
x_small, y_small = churn(300)
x_test, y_test = churn(4000)
model = ChurnModel(encoder)
opt = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2, weight_decay=1e-3)
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0))

for step in range(1, 601):
    model.train()
    loss = criterion(model(x_small), y_small)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 150 == 0:
        model.eval()
        with torch.no_grad():
            p = model(x_test)
        recall = (p[y_test == 1] > 0).float().mean().item()
        false_alarm = (p[y_test == 0] > 0).float().mean().item()
        print(f"step {step}  loss {loss.item():.3f}  recall {recall:.3f}  false alarms {false_alarm:.3f}")
print(f"share of churners {y_test.mean().item():.3f}")
""",
)

healthy(
    "first-order MAML on sine waves with torch.func",
    """\
import math
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(29)
torch.set_num_threads(1)

net = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
meta = {k: v.detach().clone() for k, v in net.named_parameters()}
INNER_LR, INNER_STEPS, TASKS, SHOTS = 0.05, 3, 12, 10


def sample_tasks(n):
    amp = 0.5 + 2 * torch.rand(n, 1, 1)
    phase = math.pi * torch.rand(n, 1, 1)
    x = 8 * torch.rand(n, 2 * SHOTS, 1) - 4
    y = amp * torch.sin(x + phase)
    return x[:, :SHOTS], y[:, :SHOTS], x[:, SHOTS:], y[:, SHOTS:]


def loss_fn(params, x, y):
    return (functional_call(net, params, (x,)) - y).pow(2).mean()


def adapt(params, x, y, steps=INNER_STEPS):
    for _ in range(steps):
        g = grad(loss_fn)(params, x, y)
        params = {k: p - INNER_LR * g[k].detach() for k, p in params.items()}
    return params


def task_gradient(params, xs, ys, xq, yq):
    # first order: the gradient at the adapted point is applied to the start point
    fast = {k: v.detach() for k, v in adapt(params, xs, ys).items()}
    return grad(loss_fn)(fast, xq, yq), loss_fn(fast, xq, yq)


batched = vmap(task_gradient, in_dims=(None, 0, 0, 0, 0))
evaluate = vmap(lambda p, xs, ys, xq, yq, s: loss_fn(adapt(p, xs, ys, s), xq, yq),
                in_dims=(None, 0, 0, 0, 0, None))
m = {k: torch.zeros_like(v) for k, v in meta.items()}
s = {k: torch.zeros_like(v) for k, v in meta.items()}

held_out = sample_tasks(200)
for it in range(1, 601):
    grads, losses = batched(meta, *sample_tasks(TASKS))
    for k in meta:
        g = grads[k].mean(0)
        m[k] = 0.9 * m[k] + 0.1 * g
        s[k] = 0.99 * s[k] + 0.01 * g * g
        m_hat, s_hat = m[k] / (1 - 0.9 ** it), s[k] / (1 - 0.99 ** it)
        meta[k] = meta[k] - 3e-3 * m_hat / (s_hat.sqrt() + 1e-8)
    if it % 100 == 0:
        before = evaluate(meta, *held_out, 0).mean().item()
        after = evaluate(meta, *held_out, INNER_STEPS).mean().item()
        print(f"iter {it}  new tasks: {before:.3f} before, {after:.3f} after {INNER_STEPS} steps")

fresh = {k: v.detach() for k, v in net.named_parameters()}
print(f"random start after {INNER_STEPS} steps: {evaluate(fresh, *held_out, INNER_STEPS).mean().item():.3f}")
""",
)
