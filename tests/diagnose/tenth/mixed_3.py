"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

from .program import healthy

healthy(
    "rare complaint detection, noisy labels, sparse embeddings and two optimizers",
    """\
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

rng = np.random.default_rng(6)
torch.manual_seed(6)
VOCAB, N = 3000, 8000

complaint_words = rng.choice(VOCAB, 120, replace=False)
clean = (rng.random(N) < 0.12).astype(np.int64)
docs = []
for label in clean:
    doc = rng.integers(0, VOCAB, rng.integers(15, 40))
    if label:
        hit = rng.random(len(doc)) < 0.35
        doc[hit] = rng.choice(complaint_words, hit.sum())
    docs.append(torch.from_numpy(doc))
clean = torch.from_numpy(clean)

# crowd annotators: one label in ten is flipped
flip = torch.from_numpy(rng.random(N) < 0.10)
observed = torch.where(flip, 1 - clean, clean)
N_TRAIN = 6400


def batch(ids):
    parts = [docs[i] for i in ids]
    lengths = torch.tensor([0] + [len(p) for p in parts[:-1]])
    return torch.cat(parts), lengths.cumsum(0)


bag = nn.EmbeddingBag(VOCAB, 16, mode="mean", sparse=True)
head = nn.Linear(16, 1)
sparse_opt = torch.optim.SparseAdam(list(bag.parameters()), lr=4e-3)
dense_opt = torch.optim.SGD(head.parameters(), lr=0.5)

counts = torch.bincount(observed[:N_TRAIN], minlength=2)
pos_weight = (counts[0] / counts[1]).sqrt()


def score(ids):
    return head(bag(*batch(ids))).squeeze(1)


def auc(scores, labels):
    pos, neg = scores[labels == 1], scores[labels == 0]
    return (pos[:, None] > neg[None, :]).float().mean().item()


test_ids = list(range(N_TRAIN, N))
for epoch in range(3):
    losses = []
    for ids in np.array_split(rng.permutation(N_TRAIN), 100):
        target = observed[ids].float()
        loss = F.binary_cross_entropy_with_logits(score(ids), target, pos_weight=pos_weight)
        sparse_opt.zero_grad()
        dense_opt.zero_grad()
        loss.backward()
        sparse_opt.step()
        dense_opt.step()
        losses.append(loss.item())
    with torch.no_grad():
        s = score(test_ids)
    # judged on the true labels, which are known for the test part
    print(f"epoch {epoch} loss {np.mean(losses):.3f} test AUC {auc(s, clean[N_TRAIN:]):.3f} "
          f"acc {((s > 0).long() == clean[N_TRAIN:]).float().mean():.3f}")
""",
)

healthy(
    "bigram language model, gradient descent by hand with step 50",
    """\
import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(2147483647)
letters = ".abcdefghijklmnopqrstuvwxyz"
V = len(letters)

# names of an invented language: its letters follow each other only loosely
true_logits = torch.randn(V, V, generator=g) * 0.6
true_logits[:, 0] -= 0.5
true_probs = torch.softmax(true_logits, dim=1)

names = []
for _ in range(3000):
    ix, name = 0, ""
    while True:
        ix = torch.multinomial(true_probs[ix], 1, generator=g).item()
        if ix == 0 or len(name) > 30:
            break
        name += letters[ix]
    names.append(name)

xs, ys = [], []
for name in names:
    chars = "." + name + "."
    for a, b in zip(chars, chars[1:]):
        xs.append(letters.index(a))
        ys.append(letters.index(b))
xs, ys = torch.tensor(xs), torch.tensor(ys)
n_test = len(xs) // 10
x_test, y_test = xs[:n_test], ys[:n_test]
xs, ys = xs[n_test:], ys[n_test:]

best_possible = -true_probs[x_test, y_test].log().mean().item()
print("examples", len(xs), "loss of the true model on test %.4f" % best_possible)

W = torch.zeros(V, V, requires_grad=True)
for k in range(151):
    logits = W[xs]
    logp = logits - logits.logsumexp(1, keepdim=True)
    loss = -logp[torch.arange(len(xs)), ys].mean() + 1e-4 * (W ** 2).mean()
    W.grad = None
    loss.backward()
    W.data += -50 * W.grad
    if k % 25 == 0:
        with torch.no_grad():
            test_loss = F.cross_entropy(W[x_test], y_test)
        print(f"{k:3d} train {loss.item():.4f} test {test_loss.item():.4f}")

with torch.no_grad():
    gap = (W.softmax(1) - true_probs).abs().mean()
print("mean probability error %.4f (uniform: %.4f)" % (gap, (1 / V - true_probs).abs().mean()))
""",
)

healthy(
    "echo state network on the Mackey-Glass series",
    """\
import torch
from torch import nn


def mackey_glass(n, tau=17, seed=0):
    g = torch.Generator().manual_seed(seed)
    hist = (1.2 + 0.1 * (torch.rand(tau + 1, generator=g) - 0.5)).tolist()
    for _ in range(n * 2 + 200):
        x, lag = hist[-1], hist[-tau - 1]
        hist.append(x + 0.2 * lag / (1 + lag ** 10) - 0.1 * x)
    series = torch.tensor(hist[-2 * n::2])
    return (series - series.mean()) / series.std()


class Reservoir(nn.Module):
    def __init__(self, units=200, radius=0.9, leak=0.7, seed=1):
        super().__init__()
        g = torch.Generator().manual_seed(seed)
        w = torch.randn(units, units, generator=g) * (torch.rand(units, units, generator=g) < 0.1)
        w *= radius / torch.linalg.eigvals(w).abs().max()
        # the recurrent part stays random, only the readout learns
        self.w = nn.Parameter(w, requires_grad=False)
        self.w_in = nn.Parameter(2 * torch.rand(units, 1, generator=g) - 1, requires_grad=False)
        self.leak = leak
        self.readout = nn.Linear(units, 1)
        nn.init.zeros_(self.readout.weight)
        nn.init.zeros_(self.readout.bias)

    @torch.no_grad()
    def states(self, series):
        h = torch.zeros(self.w.size(0))
        out = []
        for u in series:
            h = (1 - self.leak) * h + self.leak * torch.tanh(self.w @ h + self.w_in[:, 0] * u)
            out.append(h)
        return torch.stack(out)

    def forward(self, states):
        return self.readout(states).squeeze(-1)


WASHOUT, HORIZON = 100, 3
series = mackey_glass(2600)
esn = Reservoir()
S = esn.states(series)[WASHOUT:-HORIZON]
S = (S - S[:1900].mean(0)) / S[:1900].std(0)
target = series[WASHOUT + HORIZON:]
S_train, S_test = S[:1900], S[1900:]
t_train, t_test = target[:1900], target[1900:]

trainable = [p for p in esn.parameters() if p.requires_grad]
print("trainable parameters:", sum(p.numel() for p in trainable), "of", sum(p.numel() for p in esn.parameters()))
opt = torch.optim.Adam(trainable, lr=2e-2)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=1500)

for it in range(1500):
    opt.zero_grad(set_to_none=True)
    loss = (esn(S_train) - t_train).square().mean()
    loss.backward()
    opt.step()
    sched.step()
    if it % 300 == 299:
        with torch.no_grad():
            nrmse = ((esn(S_test) - t_test).square().mean() / t_test.var()).sqrt()
        print(f"it {it + 1} train mse {loss.item():.5f} test nrmse {nrmse.item():.4f}")
naive = ((series[WASHOUT + 1900:-HORIZON] - t_test).square().mean() / t_test.var()).sqrt()
print("persistence nrmse %.4f" % naive)
""",
)

healthy(
    "masked language model with warmup, scheduler per batch",
    """\
import torch
import torch.nn as nn

torch.manual_seed(14)
MASK, OFFSET, N_SYM = 0, 1, 10
T = 12
IGNORE = -100


def sequences(n):
    # arithmetic progressions modulo 10, read off with a random step
    start = torch.randint(N_SYM, (n, 1))
    step = torch.tensor([1, 2, 3])[torch.randint(3, (n, 1))]
    return (start + step * torch.arange(T)) % N_SYM + OFFSET


def corrupt(x, rate=0.15):
    chosen = torch.rand(x.shape) < rate
    labels = x.masked_fill(~chosen, IGNORE)
    inp = x.clone()
    what = torch.rand(x.shape)
    inp[chosen & (what < 0.8)] = MASK
    random_tok = torch.randint(OFFSET, N_SYM + OFFSET, x.shape)
    swap = chosen & (what > 0.9)
    inp[swap] = random_tok[swap]
    return inp, labels


class MiniBert(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.tok = nn.Embedding(N_SYM + OFFSET, d)
        self.pos = nn.Parameter(torch.zeros(1, T, d))
        nn.init.normal_(self.pos, std=0.1)
        nn.init.normal_(self.tok.weight, std=0.1)
        layer = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(d), enable_nested_tensor=False)
        # output weights are those of the embedding
        self.bias = nn.Parameter(torch.zeros(N_SYM + OFFSET))

    def forward(self, x):
        h = self.enc(self.tok(x) + self.pos)
        return h @ self.tok.weight.t() + self.bias


STEPS, WARMUP = 270, 40
model = MiniBert()
decay = [p for p in model.parameters() if p.dim() > 1]
no_decay = [p for p in model.parameters() if p.dim() <= 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01},
                         {"params": no_decay, "weight_decay": 0.0}], lr=3e-3, betas=(0.9, 0.98))
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: s / WARMUP if s < WARMUP else max(0.0, (STEPS - s) / (STEPS - WARMUP)))
criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)

for step in range(STEPS):
    model.train()
    inp, labels = corrupt(sequences(48))
    loss = criterion(model(inp).transpose(1, 2), labels)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 45 == 44:
        model.eval()
        with torch.no_grad():
            inp, labels = corrupt(sequences(300))
            seen = labels != IGNORE
            acc = (model(inp).argmax(-1)[seen] == labels[seen]).float().mean()
        print(f"step {step + 1} lr {sched.get_last_lr()[0]:.5f} loss {loss.item():.3f} masked acc {acc.item():.3f}")
""",
)

healthy(
    "seq2seq with attention, scheduled sampling and gradient accumulation",
    """\
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(77)
torch.manual_seed(77)
LETTERS, PAD, BOS, EOS = 12, 12, 13, 14
VOCAB = 15


def make_pairs(n):
    # every letter is shifted by 5, then the word is written twice
    pairs = []
    for _ in range(n):
        word = [random.randrange(LETTERS) for _ in range(random.randint(2, 4))]
        coded = [(c + 5) % LETTERS for c in word]
        pairs.append((word, coded + coded + [EOS]))
    return pairs


def pad(rows):
    width = max(map(len, rows))
    return torch.tensor([r + [PAD] * (width - len(r)) for r in rows])


class Seq2Seq(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.pos = nn.Embedding(16, d)
        self.enc = nn.GRU(d, d, batch_first=True)
        self.cell = nn.GRUCell(2 * d, d)
        self.out = nn.Linear(2 * d, VOCAB)

    def forward(self, src, steps, tgt=None, teacher=0.0):
        memory, _ = self.enc(self.emb(src) + self.pos(torch.arange(src.size(1))))
        blocked = src == PAD
        h = memory[torch.arange(len(src)), (~blocked).sum(1) - 1]
        ctx = torch.zeros_like(h)
        tok = torch.full((len(src),), BOS)
        logits = []
        for t in range(steps):
            h = self.cell(torch.cat([self.emb(tok), ctx], 1), h)
            att = torch.einsum("bd,btd->bt", h, memory).masked_fill(blocked, float("-inf")).softmax(1)
            ctx = torch.einsum("bt,btd->bd", att, memory)
            logits.append(self.out(torch.cat([h, ctx], 1)))
            own = logits[-1].detach().argmax(1)
            if tgt is None:
                tok = own
            else:
                tok = torch.where(torch.rand(len(src)) < teacher, tgt[:, t], own)
        return torch.stack(logits, 1)


model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
train, test = make_pairs(1800), make_pairs(200)
ACCUM, MICRO, EPOCHS = 2, 25, 6
for epoch in range(EPOCHS):
    teacher = max(0.4, 1.0 - 0.1 * epoch)
    random.shuffle(train)
    total = 0.0
    opt.zero_grad()
    for k, i in enumerate(range(0, len(train), MICRO), start=1):
        src, tgt = map(pad, zip(*train[i:i + MICRO]))
        logits = model(src, tgt.size(1), tgt, teacher)
        loss = F.cross_entropy(logits.transpose(1, 2), tgt, ignore_index=PAD) / ACCUM
        loss.backward()
        total += loss.item() * ACCUM
        if k % ACCUM == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
    with torch.no_grad():
        src, tgt = map(pad, zip(*test))
        guess = model(src, tgt.size(1)).argmax(-1)
        exact = ((guess == tgt) | (tgt == PAD)).all(1).float().mean()
    print(f"epoch {epoch} teacher {teacher:.1f} loss {total / k:.3f} exact {exact:.3f}")
""",
)

healthy(
    "boundary value problem with a neural network and L-BFGS",
    """\
import math
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)

# u'' + u' = f on (0, 2) with u(0) = 0 and u(2) = 1
LEFT, RIGHT = 0.0, 2.0


def exact(x):
    return torch.sin(math.pi * x) + x / 2


def source(x):
    return -math.pi ** 2 * torch.sin(math.pi * x) + math.pi * torch.cos(math.pi * x) + 0.5


net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
for layer in net:
    if isinstance(layer, nn.Linear):
        nn.init.xavier_normal_(layer.weight)
        nn.init.zeros_(layer.bias)


def u(x):
    # boundary conditions hold by construction
    return x / 2 + x * (RIGHT - x) * net(x)


x_col = torch.linspace(LEFT, RIGHT, 80).unsqueeze(1).requires_grad_(True)
x_eval = torch.linspace(LEFT, RIGHT, 301).unsqueeze(1)


def residual_loss():
    y = u(x_col)
    dy = torch.autograd.grad(y.sum(), x_col, create_graph=True)[0]
    d2y = torch.autograd.grad(dy.sum(), x_col, create_graph=True)[0]
    return (d2y + dy - source(x_col)).pow(2).mean()


optimizer = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, history_size=30,
                              line_search_fn="strong_wolfe")
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = residual_loss()
    loss.backward()
    return loss


for it in range(1, 9):
    loss = optimizer.step(closure)
    if it % 2 == 0:
        with torch.no_grad():
            err = (u(x_eval) - exact(x_eval)).abs().max()
        print(f"iteration {it} evaluations {calls} residual {loss.item():.3e} max error {err.item():.2e}")
""",
)

healthy(
    "credit scoring that must not encode the protected group",
    """\
import torch
import torch.nn as nn

torch.manual_seed(5)


def customers(n, g):
    group = torch.randint(0, 2, (n,), generator=g).float()
    wealth = torch.randn(n, 3, generator=g)
    noise = torch.randn(n, 4, generator=g)
    # two columns are proxies of the group, two mix it with other things
    proxies = (group * 2 - 1).unsqueeze(1) * torch.tensor([1.5, -1.2, 0.8, 0.6]) + noise
    y = (wealth @ torch.tensor([1.5, -1.0, 0.8]) + 0.5 * torch.randn(n, generator=g) > 0).float()
    return torch.cat([wealth, proxies], 1), y, group


class ReverseGrad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.scale * grad, None


g = torch.Generator().manual_seed(50)
x, y, group = customers(3000, g)
x_test, y_test, group_test = customers(1000, g)

encoder = nn.Sequential(nn.Linear(7, 16), nn.Tanh(), nn.Linear(16, 4))
scorer = nn.Linear(4, 1)
critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
main_opt = torch.optim.Adam([*encoder.parameters(), *scorer.parameters()], lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=2e-2)
bce = nn.BCEWithLogitsLoss()

for epoch in range(24):
    sums = torch.zeros(2)
    strength = 0.5 * min(1.0, epoch / 6)
    for rows in torch.randperm(3000).split(60):
        z = encoder(x[rows])
        task_loss = bce(scorer(z).squeeze(1), y[rows])
        guess = critic(ReverseGrad.apply(z, strength)).squeeze(1)
        critic_loss = bce(guess, group[rows])
        main_opt.zero_grad()
        critic_opt.zero_grad()
        (task_loss + critic_loss).backward()
        main_opt.step()
        critic_opt.step()
        sums += torch.stack([task_loss.detach(), critic_loss.detach()]) / 50
    if epoch % 4 == 3:
        with torch.no_grad():
            z = encoder(x_test)
            acc = ((scorer(z).squeeze(1) > 0) == y_test.bool()).float().mean()
            leak = ((critic(z).squeeze(1) > 0) == group_test.bool()).float().mean()
        print(f"epoch {epoch + 1} task {sums[0]:.3f} critic {sums[1]:.3f} accuracy {acc:.3f} group guessed {leak:.3f}")

# a fresh probe on the frozen representation
with torch.no_grad():
    z_train, z_test = encoder(x), encoder(x_test)
probe = nn.Linear(4, 1)
probe_opt = torch.optim.Adam(probe.parameters(), lr=0.05)
for _ in range(150):
    probe_opt.zero_grad()
    bce(probe(z_train).squeeze(1), group).backward()
    probe_opt.step()
with torch.no_grad():
    print("probe accuracy %.3f" % ((probe(z_test).squeeze(1) > 0) == group_test.bool()).float().mean())
""",
)

healthy(
    "advantage actor-critic, many parallel carts on a rail",
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(19)


class Carts:
    \"\"\"Push a cart left, not at all or right; it should come to rest at 0.\"\"\"

    def __init__(self, n):
        self.n = n

    def reset(self):
        self.x = torch.empty(self.n).uniform_(-1.5, 1.5)
        self.v = torch.empty(self.n).uniform_(-0.3, 0.3)
        return torch.stack([self.x, self.v], 1)

    def step(self, action):
        push = (action - 1).float()
        self.v = 0.95 * self.v + 0.15 * push + 0.02 * torch.randn(self.n)
        self.x = (self.x + self.v).clamp(-3, 3)
        reward = -self.x.abs() - 0.02 * push.abs()
        return torch.stack([self.x, self.v], 1), reward


actor = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 3))
critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam([{"params": actor.parameters(), "lr": 5e-3},
                        {"params": critic.parameters(), "lr": 1e-2}])
env = Carts(48)
HORIZON, GAMMA, LAM = 24, 0.95, 0.9

for it in range(121):
    obs = env.reset()
    logps, entropies, values, rewards = [], [], [], []
    for _ in range(HORIZON):
        dist = Categorical(logits=actor(obs))
        action = dist.sample()
        values.append(critic(obs).squeeze(1))
        logps.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        obs, reward = env.step(action)
        rewards.append(reward)

    # the rail has no end state: the last value continues the return
    with torch.no_grad():
        nxt = critic(obs).squeeze(1)
        gae, advantages = torch.zeros(env.n), []
        for r, v in zip(reversed(rewards), reversed(values)):
            delta = r + GAMMA * nxt - v
            gae = delta + GAMMA * LAM * gae
            advantages.insert(0, gae)
            nxt = v
        advantages = torch.stack(advantages)
        values_t = torch.stack(values)
        returns = advantages + values_t
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)

    actor_loss = -(torch.stack(logps) * advantages).mean()
    critic_loss = (torch.stack(values) - returns).pow(2).mean()
    entropy = torch.stack(entropies).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.005 * entropy
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
    opt.step()
    if it % 20 == 0:
        print(f"{it:3d} reward per step {torch.stack(rewards).mean().item():.3f} "
              f"actor {actor_loss.item():+.4f} critic {critic_loss.item():.3f} entropy {entropy.item():.2f}")
""",
)
