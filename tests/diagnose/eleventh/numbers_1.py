"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault, healthy

fault(
    "next purchase from a bag of past purchases",
    "The padding number is 0, but 0 is the number of a real article (the bestseller): with padding_idx it is left out of every bag and its vector never trained, so customers who "
    "bought it are treated as if they had not.",
    ("real padding",),
    (10, 30, 42),
    """\
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

random.seed(2)
torch.manual_seed(2)
N_ITEMS = 40
PAD = N_ITEMS

# what goes together: every article has a few that are bought after it
follow_ups = [random.sample(range(N_ITEMS), 3) for _ in range(N_ITEMS)]
popularity = [1.0 / (rank + 1) for rank in range(N_ITEMS)]


def customer():
    count = random.choice([1, 1, 2, 3])
    basket = []
    while len(basket) < count:
        item = random.choices(range(N_ITEMS), popularity)[0]
        if item not in basket:
            basket.append(item)
    cause = random.choice(basket)
    return basket, random.choice(follow_ups[cause])


def collate(customers):
    baskets, bought = zip(*customers)
    padded = pad_sequence([torch.tensor(b) for b in baskets], batch_first=True, padding_value=PAD)
    return padded, torch.tensor(bought)


train = [customer() for _ in range(8000)]
test = [customer() for _ in range(2000)]


class NextItem(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        # row for the padding included
        self.bag = nn.EmbeddingBag(N_ITEMS + 1, dim, mode="mean", padding_idx=PAD)
        self.score = nn.Linear(dim, N_ITEMS, bias=False)

    def forward(self, baskets):
        return self.score(self.bag(baskets))


model = NextItem()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(8):
    random.shuffle(train)
    total = 0.0
    for i in range(0, len(train), 100):
        baskets, bought = collate(train[i:i + 100])
        loss = loss_fn(model(baskets), bought)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1}: loss {total / (len(train) // 100):.3f}")


def hit_rate(customers, k=3):
    baskets, bought = collate(customers)
    with torch.no_grad():
        top = model(baskets).topk(k, dim=1).indices
    return (top == bought[:, None]).any(1).float().mean().item()


best = [c for c in test if c[0] == [0]]
single = [c for c in test if len(c[0]) == 1]
print(f"hit@3 {hit_rate(test):.3f}, single-article baskets {hit_rate(single):.3f}, bestseller only {hit_rate(best):.3f}")
""",
    ("PAD = N_ITEMS\n", "PAD = 0\n"),
)

fault(
    "drawing a graph by stress",
    "The distance of a node to itself is sqrt(0), whose slope is infinite: times the zero weight of the diagonal this gives NaN in the gradient, and after the first step all "
    "positions are NaN.",
    ("not finite",),
    (39,),
    """\
import torch

torch.manual_seed(6)


def ring_of_cliques(cliques=6, size=5):
    n = cliques * size
    adjacency = torch.zeros(n, n)
    for c in range(cliques):
        members = range(c * size, (c + 1) * size)
        for a in members:
            for b in members:
                if a != b:
                    adjacency[a, b] = 1
        here, there = c * size, ((c + 1) % cliques) * size + 1
        adjacency[here, there] = adjacency[there, here] = 1
    return adjacency


def hop_distances(adjacency):
    n = len(adjacency)
    hops = torch.full((n, n), float("inf"))
    hops[adjacency > 0] = 1
    hops.fill_diagonal_(0)
    for k in range(n):
        hops = torch.minimum(hops, hops[:, k:k + 1] + hops[k:k + 1, :])
    return hops


adjacency = ring_of_cliques()
hops = hop_distances(adjacency)
n = len(hops)
weights = torch.where(hops > 0, 1 / hops.clamp(min=1) ** 2, torch.zeros(()))


def pair_distances(points):
    diff = points.unsqueeze(0) - points.unsqueeze(1)
    squared = diff.pow(2).sum(-1)
    return (squared + 1e-9).sqrt()


def stress(points):
    return (weights * (pair_distances(points) - hops) ** 2).sum() / weights.sum()


points = torch.nn.Parameter(torch.randn(n, 2))
optimizer = torch.optim.Adam([points], lr=0.05)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=800)
for step in range(800):
    optimizer.zero_grad()
    loss = stress(points)
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 200 == 0:
        print(f"step {step}: stress {loss.item():.4f}")

with torch.no_grad():
    drawn = pair_distances(points)
    off = ~torch.eye(n, dtype=torch.bool)
    corr = torch.corrcoef(torch.stack([drawn[off], hops[off]]))[0, 1]
print(f"final stress {stress(points).item():.4f}, correlation of drawn and graph distance {corr:.3f}")
""",
    ("(squared + 1e-9).sqrt()", "squared.sqrt()"),
)

fault(
    "network that solves a damped oscillator",
    "The second time derivative is taken with retain_graph=True in place of create_graph=True, so it is a constant for the loss: the residual is differentiated only through the lower "
    "terms, the gradient is wrong and the solution is not found.",
    ("flat derivative",),
    (25, 26),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(9)
OMEGA, DAMPING = 2.0, 0.2
T_END = 2.0


class Displacement(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, t):
        # released at rest: u(0) = 1, u'(0) = 0 are built in
        return 1.0 + t ** 2 * self.net(t / T_END)


def residual(model, t):
    t = t.requires_grad_(True)
    u = model(t)
    velocity, = torch.autograd.grad(u.sum(), t, create_graph=True)
    # one more derivative for the acceleration
    acceleration, = torch.autograd.grad(
        velocity.sum(), t, create_graph=True)
    return acceleration + 2 * DAMPING * velocity + OMEGA ** 2 * u


def exact(t):
    w = math.sqrt(OMEGA ** 2 - DAMPING ** 2)
    return torch.exp(-DAMPING * t) * (torch.cos(w * t) + DAMPING / w * torch.sin(w * t))


model = Displacement()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1200)
for step in range(1, 1201):
    t = torch.rand(40, 1) * T_END
    loss = residual(model, t).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 300 == 0:
        print(f"step {step:5d}  residual {loss.item():.2e}")

grid = torch.linspace(0, T_END, 101).unsqueeze(1)
with torch.no_grad():
    error = (model(grid) - exact(grid)).abs().max().item()
print(f"largest error {error:.4f} (solution spans {exact(grid).min():.2f} to {exact(grid).max():.2f})")
""",
    ("velocity.sum(), t, create_graph=True", "velocity.sum(), t, retain_graph=True"),
)

fault(
    "fitting a damped pendulum by hand",
    "The offset is missing in the tensors whose gradients are cleared: its gradient accumulates over all steps, so the offset swings "
    "around its value for ever instead of settling and spoils the fit.",
    ("used twice by hand",),
    (37, 43),
    """\
import torch

torch.manual_seed(12)

# what the camera saw
t = torch.linspace(0, 8, 500)
TRUE = dict(amplitude=1.4, damping=0.25, frequency=2.6, phase=0.4, offset=0.5)


def swing(t, amplitude, damping, frequency, phase, offset):
    return offset + amplitude * torch.exp(-damping * t) * torch.cos(frequency * t + phase)


angle = swing(t, **TRUE) + 0.03 * torch.randn(t.shape)

# rough guesses from the plot
amplitude = torch.tensor(1.0, requires_grad=True)
damping = torch.tensor(0.1, requires_grad=True)
frequency = torch.tensor(2.5, requires_grad=True)
phase = torch.tensor(0.0, requires_grad=True)
offset = torch.tensor(0.0, requires_grad=True)

rate = 0.02
losses = []
for step in range(4000):
    frames = torch.randint(len(t), (50,))
    fitted = swing(t[frames], amplitude, damping, frequency, phase, offset)
    loss = ((fitted - angle[frames]) ** 2).mean()
    loss.backward()
    losses.append(loss.item())

    with torch.no_grad():
        amplitude -= rate * amplitude.grad
        damping -= rate * damping.grad
        frequency -= rate * frequency.grad
        phase -= rate * phase.grad
        offset -= rate * offset.grad

    # fresh gradients for the next step
    amplitude.grad.zero_()
    damping.grad.zero_()
    frequency.grad.zero_()
    phase.grad.zero_()
    offset.grad.zero_()

    if step % 800 == 0:
        print(f"{step:5d}  loss {loss.item():.5f}  offset {offset.item():.3f}")

found = dict(amplitude=amplitude, damping=damping, frequency=frequency, phase=phase, offset=offset)
print(f"mean loss of the last 500 steps {sum(losses[-500:]) / 500:.5f} (noise {0.03 ** 2:.5f})")
for name, value in found.items():
    print(f"{name:10s} {value.item():7.3f}   true {TRUE[name]:.3f}")
""",
    ("    offset.grad.zero_()\n", ""),
)

fault(
    "functional two-layer net with torch.func",
    "All weights of a layer start with the same number: the hidden units are identical, get identical gradients and stay identical, so the wide network acts as one with a single unit per layer.",
    ("equal units",),
    (14,),
    """\
import math
import torch
from torch.func import grad_and_value, vmap

gen = torch.Generator().manual_seed(30)


def init_params(sizes):
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        # keeps the size of the activations about the same
        scale = 1 / math.sqrt(n_in)
        params.append({
            "w": scale * torch.randn(n_in, n_out, generator=gen),
            "b": torch.zeros(n_out),
        })
    return params


def net(params, x):
    *hidden, last = params
    for layer in hidden:
        x = torch.tanh(x @ layer["w"] + layer["b"])
    return (x @ last["w"] + last["b"]).squeeze(-1)


def loss_one(params, x, y):
    return (net(params, x) - y) ** 2


def loss(params, x, y):
    return vmap(loss_one, in_dims=(None, 0, 0))(params, x, y).mean()


def sgd(params, velocity, grads, rate=0.05, momentum=0.9):
    new_params, new_velocity = [], []
    for p, v, g in zip(params, velocity, grads):
        v = {k: momentum * v[k] - rate * g[k] for k in p}
        new_velocity.append(v)
        new_params.append({k: p[k] + v[k] for k in p})
    return new_params, new_velocity


def terrain(n):
    xy = torch.rand(n, 2, generator=gen) * 4 - 2
    height = torch.sin(1.5 * xy[:, 0]) * torch.cos(1.5 * xy[:, 1])
    return xy, height + 0.1 * torch.randn(n, generator=gen)


x_train, y_train = terrain(1200)
x_test, y_test = terrain(500)
params = init_params([2, 40, 40, 1])
velocity = [{k: torch.zeros_like(v) for k, v in layer.items()} for layer in params]
step_fn = grad_and_value(loss)

for epoch in range(50):
    for idx in torch.randperm(len(x_train), generator=gen).split(60):
        grads, value = step_fn(params, x_train[idx], y_train[idx])
        params, velocity = sgd(params, velocity, grads)
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1}: loss {value.item():.4f}")

print(f"test mse {loss(params, x_test, y_test).item():.4f}, variance {y_test.var().item():.4f}")
""",
    ("scale * torch.randn(n_in, n_out, generator=gen)", "torch.ones(n_in, n_out) / n_in"),
)

healthy(
    "pairwise ranking with sparse vectors and two optimizers",
    """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(18)
USERS, ITEMS, DIM = 300, 400, 16

with torch.no_grad():
    taste = torch.randn(USERS, 4)
    kind = torch.randn(ITEMS, 4)
    content = torch.cat([kind[:, :2] + 0.5 * torch.randn(ITEMS, 2), torch.randn(ITEMS, 4)], dim=1)
    popularity = torch.randn(ITEMS)
    appeal = 1.5 * taste @ kind.t() + popularity
    seen = torch.stack([torch.multinomial(row.softmax(0), 30) for row in appeal])
train, test = seen[:, :24], seen[:, 24:]
pairs = torch.stack([torch.arange(USERS).repeat_interleave(24), train.flatten()], dim=1)

user_vec = nn.Embedding(USERS, DIM, sparse=True)
item_vec = nn.Embedding(ITEMS, DIM, sparse=True)
item_bias = nn.Embedding(ITEMS, 1, sparse=True)
tower = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, DIM))
nn.init.normal_(user_vec.weight, std=0.1)
nn.init.zeros_(item_vec.weight)
nn.init.zeros_(item_bias.weight)
tables = nn.ModuleList([user_vec, item_vec, item_bias])

opt_tables = torch.optim.SparseAdam(list(tables.parameters()), lr=5e-3)
opt_tower = torch.optim.Adam(tower.parameters(), lr=2e-3)


def score(user, item):
    vector = item_vec(item) + tower(content[item])
    return (user_vec(user) * vector).sum(-1) + item_bias(item).squeeze(-1)


def recall_at_20():
    with torch.no_grad():
        users = torch.arange(USERS)
        scores = torch.stack([score(torch.full((ITEMS,), u), torch.arange(ITEMS)) for u in users.tolist()])
        scores.scatter_(1, train, float("-inf"))
        top = scores.topk(20, dim=1).indices
        return (test[:, :, None] == top[:, None, :]).any(-1).float().mean().item()


print(f"untrained recall@20 {recall_at_20():.3f}")
for epoch in range(10):
    total = 0.0
    for batch in pairs[torch.randperm(len(pairs))].split(128):
        user, liked = batch[:, 0], batch[:, 1]
        # now and then this draws an article the user knows, which hardly matters
        other = torch.randint(ITEMS, liked.shape)
        loss = F.softplus(score(user, other) - score(user, liked)).mean()
        opt_tables.zero_grad()
        opt_tower.zero_grad()
        loss.backward()
        opt_tables.step()
        opt_tower.step()
        total += loss.item() * len(batch)
    if epoch % 3 == 0:
        print(f"epoch {epoch + 1}: {total / len(pairs):.3f}")
print(f"trained recall@20 {recall_at_20():.3f} (by chance 0.053)")
""",
)

healthy(
    "graph network with a fixed random projection and few labels",
    """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(40)
GROUPS, PER_GROUP, WORDS = 4, 100, 200
n = GROUPS * PER_GROUP

group = torch.arange(GROUPS).repeat_interleave(PER_GROUP)
same = group[:, None] == group[None, :]
edges = torch.rand(n, n) < torch.where(same, 0.06, 0.006)
adjacency = torch.triu(edges, 1).float()
adjacency = adjacency + adjacency.t() + torch.eye(n)
degree = adjacency.sum(1)
adjacency = adjacency / (degree[:, None] * degree[None, :]).sqrt()

topics = torch.rand(GROUPS, WORDS) * 0.1
words = torch.bernoulli(topics[group])

labelled = torch.cat([torch.randperm(PER_GROUP)[:5] + g * PER_GROUP for g in range(GROUPS)])
unseen = torch.ones(n, dtype=torch.bool)
unseen[labelled] = False


class RandomProjectionGCN(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        # stays as it is drawn
        self.register_buffer("projection", torch.randn(WORDS, width) / WORDS ** 0.5)
        self.mix = nn.Linear(width, 32)
        self.out = nn.Linear(32, GROUPS)

    def forward(self, words, adjacency):
        h = adjacency @ (adjacency @ (words @ self.projection))
        h = F.relu(self.mix(h * 5))
        h = F.dropout(h, 0.5, self.training)
        return adjacency @ self.out(h)


model = RandomProjectionGCN()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-3)
for step in range(500):
    model.train()
    logits = model(words, adjacency)
    loss = F.cross_entropy(logits[labelled], group[labelled], label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 99:
        model.eval()
        with torch.no_grad():
            right = model(words, adjacency).argmax(1) == group
        print(f"{step + 1}: loss {loss.item():.3f}, labelled {right[labelled].float().mean():.3f}, "
              f"unseen {right[unseen].float().mean():.3f}")
""",
)

healthy(
    "evolution strategy for a step-shaped objective",
    """\
import torch
from torch.func import vmap

torch.manual_seed(50)
torch.set_grad_enabled(False)

INPUTS, HIDDEN = 4, 8
SHAPES = [(INPUTS, HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,)]
SIZES = [torch.Size(s).numel() for s in SHAPES]
DIM = sum(SIZES)


def decide(theta, x):
    w1, b1, w2, b2 = [part.view(shape) for part, shape in zip(theta.split(SIZES), SHAPES)]
    return (torch.tanh(x @ w1 + b1) @ w2 + b2).squeeze(-1) > 0


def profit(theta, x, gain):
    \"\"\"A buyer either takes an offer or leaves it: no slope anywhere.\"\"\"
    return (decide(theta, x) * gain).mean()


def offers(n):
    x = torch.randn(n, INPUTS)
    gain = x[:, 0] * x[:, 1] + 0.7 * x[:, 2] + 0.3 * torch.randn(n)
    return x, gain


population, sigma, rate = 64, 0.2, 0.06
theta = 0.3 * torch.randn(DIM)
m, v = torch.zeros(DIM), torch.zeros(DIM)
x_test, gain_test = offers(4000)
evaluate = vmap(profit, in_dims=(0, None, None))

for generation in range(1, 501):
    x, gain = offers(400)
    noise = torch.randn(population, DIM)
    noise = torch.cat([noise, -noise])
    fitness = evaluate(theta + sigma * noise, x, gain)
    rank = fitness.argsort().argsort().float() / (len(fitness) - 1) - 0.5
    direction = (rank[:, None] * noise).mean(0) / sigma

    # Adam, uphill
    m.mul_(0.9).add_(direction, alpha=0.1)
    v.mul_(0.99).addcmul_(direction, direction, value=0.01)
    theta += rate * (m / (1 - 0.9 ** generation)) / ((v / (1 - 0.99 ** generation)).sqrt() + 1e-8)
    theta *= 0.999
    if generation % 100 == 0:
        print(f"generation {generation}: profit {profit(theta, x_test, gain_test).item():.3f}")

ideal = gain_test.clamp(min=0).mean().item()
print(f"take everything {gain_test.mean().item():.3f}, trained {profit(theta, x_test, gain_test).item():.3f}, oracle {ideal:.3f}")
""",
)

healthy(
    "spring stiffness in newtons per metre",
    """\
import torch

torch.manual_seed(60)

# laboratory data in SI units: force in N, elongation in m
STIFFNESS, OFFSET = 5200.0, 4.0e-4
force = torch.linspace(2.0, 40.0, 200, dtype=torch.float64)
elongation = force / STIFFNESS + OFFSET + 5e-5 * torch.randn(200, dtype=torch.float64)

stiffness = torch.tensor(4000.0, dtype=torch.float64, requires_grad=True)
offset = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)

# a metre is huge and a newton per metre is tiny, so each has a rate of its own
rates = {stiffness: 5e10, offset: 0.1}


def mean_square_error():
    return (force / stiffness + offset - elongation).square().mean()


for step in range(12001):
    loss = mean_square_error()
    grads = torch.autograd.grad(loss, list(rates))
    with torch.no_grad():
        for (tensor, rate), g in zip(rates.items(), grads):
            tensor.sub_(rate * g)
    if step % 3000 == 0:
        print(f"step {step}: loss {loss.item():.3e} m^2, k = {stiffness.item():.1f} N/m, x0 = {offset.item() * 1e3:.3f} mm")

print(f"found k = {stiffness.item():.1f} (true {STIFFNESS:.1f}), x0 = {offset.item() * 1e3:.3f} mm (true {OFFSET * 1e3:.3f}), "
      f"rms {loss.item() ** 0.5:.2e} m (noise 5.0e-05)")
""",
)
