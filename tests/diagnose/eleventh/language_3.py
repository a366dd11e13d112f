"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import healthy

healthy(
    "echo state network with a fixed reservoir",
    """\
import torch
from torch import nn

torch.manual_seed(0)
UNITS, WASHOUT = 200, 50


def narma(length, seed):
    g = torch.Generator().manual_seed(seed)
    u = torch.rand(length, generator=g) * 0.5
    y = torch.zeros(length)
    for t in range(9, length - 1):
        y[t + 1] = 0.3 * y[t] + 0.05 * y[t] * y[t - 9:t + 1].sum() + 1.5 * u[t - 9] * u[t] + 0.1
    return u, y


class Reservoir(nn.Module):
    def __init__(self):
        super().__init__()
        W = torch.randn(UNITS, UNITS) * (torch.rand(UNITS, UNITS) < 0.1)
        W = W * (0.9 / torch.linalg.eigvals(W).abs().max())
        self.register_buffer("W", W)
        self.register_buffer("W_in", (torch.rand(UNITS) - 0.5) * 0.8)
        self.register_buffer("bias", (torch.rand(UNITS) - 0.5) * 0.4)
        self.readout = nn.Linear(UNITS + 1, 1)

    @torch.no_grad()
    def states(self, u):
        h, rows = torch.zeros(UNITS), []
        for value in u:
            h = torch.tanh(self.W @ h + self.W_in * value + self.bias)
            rows.append(torch.cat([h, value[None]]))
        return torch.stack(rows)

    def forward(self, states):
        return self.readout(states).squeeze(-1)


u, y = narma(4000, seed=1)
net = Reservoir()
states = net.states(u)
x_train, y_train = states[WASHOUT:3000], y[WASHOUT:3000]
x_test, y_test = states[3000:], y[3000:]

optimizer = torch.optim.LBFGS(net.readout.parameters(), lr=1, max_iter=60, history_size=20, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    # ridge penalty on the readout
    loss = ((net(x_train) - y_train) ** 2).mean() + 1e-7 * net.readout.weight.pow(2).sum()
    loss.backward()
    return loss


for call in range(6):
    loss = optimizer.step(closure)
    with torch.no_grad():
        error = net(x_test) - y_test
        nrmse = (error.pow(2).mean() / y_test.var()).sqrt()
    print(f"call {call}: loss {loss.item():.6f} test NRMSE {nrmse:.3f}")
""",
)

healthy(
    "skip-gram with gradients by hand",
    """\
import torch

torch.manual_seed(2)
torch.set_grad_enabled(False)

TOPICS, PER_TOPIC, DIM, NEG = 8, 20, 16, 5
V = TOPICS * PER_TOPIC


def corpus(n_sentences, length=10):
    topic = torch.randint(TOPICS, (n_sentences, 1))
    words = topic * PER_TOPIC + torch.randint(PER_TOPIC, (n_sentences, length))
    stray = torch.rand(n_sentences, length) < 0.15
    return torch.where(stray, torch.randint(V, words.shape), words)


def skipgrams(sents, window=2):
    left, right = [], []
    for d in range(1, window + 1):
        a, b = sents[:, :-d].reshape(-1), sents[:, d:].reshape(-1)
        left += [a, b]
        right += [b, a]
    return torch.cat(left), torch.cat(right)


center_vec = (torch.rand(V, DIM) - 0.5) / DIM
context_vec = torch.zeros(V, DIM)


def sgns_step(c, o, lr):
    k = torch.randint(V, (len(c), NEG))
    targets = torch.cat([o[:, None], k], 1)
    y = torch.zeros(len(c), 1 + NEG)
    y[:, 0] = 1.0
    vc, vo = center_vec[c], context_vec[targets]
    score = torch.einsum("bd,bkd->bk", vc, vo)
    err = score.sigmoid() - y
    loss = -torch.nn.functional.logsigmoid(torch.where(y > 0, score, -score)).sum(1).mean()
    step = -lr / len(c)
    center_vec.index_add_(0, c, step * torch.einsum("bk,bkd->bd", err, vo))
    context_vec.index_add_(0, targets.flatten(), step * (err[..., None] * vc[:, None]).flatten(0, 1))
    return loss.item()


def neighbour_purity(k=5):
    unit = center_vec / center_vec.norm(dim=1, keepdim=True)
    sim = unit @ unit.T
    sim.fill_diagonal_(-1)
    near = sim.topk(k, dim=1).indices // PER_TOPIC
    return (near == torch.arange(V)[:, None] // PER_TOPIC).float().mean().item()


c, o = skipgrams(corpus(1500))
print(f"{len(c)} pairs, purity at start {neighbour_purity():.3f}")
for epoch in range(6):
    total, batches = 0.0, torch.randperm(len(c)).split(256)
    for i, idx in enumerate(batches):
        total += sgns_step(c[idx], o[idx], lr=12.0 * (1 - epoch / 6))
    print(f"epoch {epoch} loss {total / len(batches):.3f} neighbour purity {neighbour_purity():.3f}")
""",
)

healthy(
    "sentiment across shops with gradient reversal",
    """\
import math
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(9)
SHARED, OWN = 80, 60  # words of both shops, words of one shop
VOCAB = SHARED + 2 * OWN


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


def reviews(n, shop):
    # polarity shows in the shared words only; the shop's own words are neutral
    y = torch.randint(2, (n,))
    shared = torch.randint(SHARED // 2, (n, 6))
    flip = torch.rand(n, 6) < 0.2
    polarity = torch.where(flip, 1 - y[:, None], y[:, None])
    own = SHARED + shop * OWN + torch.randint(OWN, (n, 6))
    return torch.cat([shared + polarity * (SHARED // 2), own], 1), y


class Net(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.features = nn.Sequential(nn.EmbeddingBag(VOCAB, dim), nn.Linear(dim, dim), nn.ReLU())
        self.sentiment = nn.Linear(dim, 2)
        self.shop = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, docs, strength):
        f = self.features(docs)
        return self.sentiment(f), self.shop(Reverse.apply(f, strength))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
(src_x, src_y), (dst_x, _) = reviews(2000, 0), reviews(2000, 1)
test_x, test_y = reviews(1000, 1)
side = torch.cat([torch.zeros(64), torch.ones(64)]).long()

STEPS = 700
for step in range(STEPS):
    strength = 2 / (1 + math.exp(-6 * step / STEPS)) - 1
    i, j = torch.randint(2000, (64,)), torch.randint(2000, (64,))
    sent, shop = net(torch.cat([src_x[i], dst_x[j]]), strength)
    # no labels from the second shop
    task = F.cross_entropy(sent[:64], src_y[i])
    domain = F.cross_entropy(shop, side)
    opt.zero_grad()
    (task + domain).backward()
    opt.step()
    if step % 100 == 99:
        with torch.no_grad():
            acc = (net(test_x, 0.0)[0].argmax(1) == test_y).float().mean()
        print(f"{step + 1:4d} task {task.item():.3f} domain {domain.item():.3f} second shop accuracy {acc:.3f}")
""",
)

healthy(
    "language model of a nearly random source",
    """\
import math
import torch
from torch import nn

torch.manual_seed(31)
VOCAB = 24
STICKY = 0.15


def source(rows, length):
    # with probability STICKY the next token follows a fixed map, else it is uniform
    table = (torch.arange(VOCAB) * 7 + 3) % VOCAB
    seq = [torch.randint(VOCAB, (rows,))]
    for _ in range(length - 1):
        follow = torch.rand(rows) < STICKY
        seq.append(torch.where(follow, table[seq[-1]], torch.randint(VOCAB, (rows,))))
    return torch.stack(seq, 1)


p_hit = STICKY + (1 - STICKY) / VOCAB
p_rest = (1 - STICKY) / VOCAB
ENTROPY = -(p_hit * math.log(p_hit) + (VOCAB - 1) * p_rest * math.log(p_rest))


class CharGRU(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width)
        self.cell = nn.GRU(width, width, batch_first=True)
        self.logits = nn.Linear(width, VOCAB)

    def forward(self, x):
        return self.logits(self.cell(self.embed(x))[0])


def nll(model, seq):
    return nn.functional.cross_entropy(model(seq[:, :-1]).flatten(0, 1), seq[:, 1:].flatten())


model = CharGRU()
optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
held_out = source(400, 41)
print(f"uniform {math.log(VOCAB):.4f} nats, entropy of the source {ENTROPY:.4f} nats")

for step in range(1, 321):
    loss = nll(model, source(64, 41))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        with torch.no_grad():
            h = nll(model, held_out).item()
            top = (model(held_out[:, :-1]).argmax(-1) == held_out[:, 1:]).float().mean().item()
        print(f"step {step}: held out {h:.4f} (excess {h - ENTROPY:.4f}) top-1 {top:.3f} of {p_hit:.3f} possible")
""",
)

healthy(
    "rare term tagging with noisy annotation",
    """\
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(14)
torch.manual_seed(14)
VOCAB, LENGTH = 120, 20
TRIGGERS, TERMS = np.arange(0, 8), np.arange(20, 60)


def documents(n, noise):
    # a term counts only right behind a trigger word: about 3 % of the tokens
    words = rng.integers(60, VOCAB, (n, LENGTH))
    words = np.where(rng.random((n, LENGTH)) < 0.15, rng.choice(TERMS, (n, LENGTH)), words)
    words = np.where(rng.random((n, LENGTH)) < 0.17, rng.choice(TRIGGERS, (n, LENGTH)), words)
    gold = np.zeros((n, LENGTH), dtype=np.int64)
    gold[:, 1:] = np.isin(words[:, :-1], TRIGGERS) & np.isin(words[:, 1:], TERMS)
    # annotators overlook a quarter of the terms and now and then mark a word too many
    given = np.where(gold == 1, rng.random(gold.shape) > 0.25 * noise, rng.random(gold.shape) < 0.01 * noise)
    return torch.from_numpy(words), torch.from_numpy(gold), torch.from_numpy(given.astype(np.float32))


class WindowTagger(nn.Module):
    def __init__(self, dim=16, hidden=32):
        super().__init__()
        self.word = nn.Embedding(VOCAB, dim)
        self.conv = nn.Conv1d(dim, hidden, kernel_size=3, padding=1)
        self.out = nn.Conv1d(hidden, 1, kernel_size=1)

    def forward(self, words):
        x = self.word(words).transpose(1, 2)
        return self.out(torch.relu(self.conv(x))).squeeze(1)


def f1(logits, gold):
    guess = logits > 0
    hit = (guess & (gold == 1)).sum().item()
    return 2 * hit / max(1, guess.sum().item() + (gold == 1).sum().item())


train_words, _, train_tags = documents(2500, noise=1)
dev_words, dev_gold, _ = documents(600, noise=0)
share = train_tags.mean().item()
print(f"share of marked tokens {share:.4f}")

tagger = WindowTagger()
nn.init.constant_(tagger.out.bias, float(np.log(share / (1 - share))))
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(4.0))
optimizer = torch.optim.AdamW(tagger.parameters(), lr=4e-3, weight_decay=0.01)

for epoch in range(10):
    losses = []
    for idx in torch.randperm(len(train_words)).split(50):
        loss = criterion(tagger(train_words[idx]), train_tags[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        print(f"epoch {epoch} loss {np.mean(losses):.4f} clean dev F1 {f1(tagger(dev_words), dev_gold):.3f}")
""",
)

healthy(
    "low-rank adapters on a frozen transformer in eval mode",
    """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(5)
VOCAB, LENGTH, CLASSES = 40, 10, 4


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features ** 0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t() @ self.B.t())


class Block(nn.Module):
    def __init__(self, dim, p=0.3):
        super().__init__()
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.n1, self.n2, self.drop = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.Dropout(p)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).chunk(3, -1)
        x = x + self.drop(self.proj(F.scaled_dot_product_attention(q, k, v)))
        return x + self.drop(self.down(F.gelu(self.up(self.n2(x)))))


class Model(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.blocks = nn.Sequential(Block(dim), Block(dim))
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, x):
        return self.head(self.blocks(self.emb(x)).mean(1))


def batch(n, groups):
    # the group seen most often gives the class
    x = torch.randint(VOCAB, (n, LENGTH))
    counts = F.one_hot(groups[x], CLASSES).sum(1)
    return x, (counts + torch.linspace(0.3, 0, CLASSES)).argmax(1)


def fit(model, params, lr, groups, steps):
    opt = torch.optim.Adam(params, lr=lr)
    for step in range(steps):
        x, y = batch(64, groups)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % (steps // 4) == 0:
            print(f"  step {step + 1} loss {loss.item():.3f}")


def accuracy(model, groups):
    with torch.no_grad():
        x, y = batch(1000, groups)
        return (model.eval()(x).argmax(1) == y).float().mean().item()


old, new = torch.arange(VOCAB) % CLASSES, torch.arange(VOCAB) // (VOCAB // CLASSES)
model = Model()
fit(model, model.parameters(), 3e-3, old, 250)
print(f"old task {accuracy(model, old):.3f}, new task {accuracy(model, new):.3f}")

model.requires_grad_(False)
for block in model.blocks:
    block.qkv, block.up, block.down = (LoRALinear(m) for m in (block.qkv, block.up, block.down))
model.eval()  # adapters are tuned without dropout
adapters = [p for p in model.parameters() if p.requires_grad]
print(f"training {sum(p.numel() for p in adapters)} of {sum(p.numel() for p in model.parameters())} parameters")
fit(model, adapters, 1e-2, new, 350)
print(f"new task {accuracy(model, new):.3f}")
""",
)

healthy(
    "number spelling with scheduled sampling",
    """\
import random
import torch
from torch import nn

random.seed(1)
torch.manual_seed(1)
ONES = "zero one two three four five six seven eight nine".split()
LETTERS = ["<pad>", "<s>", "</s>", " "] + sorted(set("".join(ONES)))
CH = {c: i for i, c in enumerate(LETTERS)}
PAD, BOS, EOS = 0, 1, 2


def spell(digits):
    return [CH[c] for c in " ".join(ONES[d] for d in digits)] + [EOS]


def make(n, size=2):
    src = [[random.randrange(10) for _ in range(size)] for _ in range(n)]
    out = [spell(s) for s in src]
    width = size * 6
    tgt = torch.tensor([o + [PAD] * (width - len(o)) for o in out])
    return torch.tensor(src), tgt


class Speller(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.digit = nn.Embedding(10, dim)
        self.letter = nn.Embedding(len(LETTERS), dim)
        self.read = nn.GRU(dim, dim, batch_first=True)
        self.write = nn.GRUCell(2 * dim, dim)
        self.out = nn.Linear(dim, len(LETTERS))

    def forward(self, src, tgt=None, width=12, p_own=0.0):
        memory, h = self.read(self.digit(src))
        h, token = h[0], torch.full((len(src),), BOS)
        steps = []
        for t in range(width):
            weights = torch.softmax((memory @ h.unsqueeze(-1)).squeeze(-1), 1)
            glance = (weights.unsqueeze(-1) * memory).sum(1)
            h = self.write(torch.cat([self.letter(token), glance], 1), h)
            logits = self.out(h)
            steps.append(logits)
            own = logits.detach().argmax(1)
            if tgt is None:
                token = own
            else:
                token = torch.where(torch.rand(len(src)) < p_own, own, tgt[:, t])
        return torch.stack(steps, 1)


def exact(model, src, tgt):
    with torch.no_grad():
        said = model(src).argmax(-1)
    return ((said == tgt) | (tgt == PAD)).all(1).float().mean().item()


model = Speller()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
STEPS = 240
for step in range(STEPS):
    src, tgt = make(48)
    # hand over from the teacher to the model's own letters
    p_own = min(0.5, step / STEPS)
    logits = model(src, tgt, p_own=p_own)
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), tgt, ignore_index=PAD)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1} p_own {p_own:.2f} loss {loss.item():.4f} exact {exact(model, *make(300)):.3f}")
""",
)

healthy(
    "hashed n-gram classifier with sparse table and two optimizers",
    """\
import random
import zlib
import torch
from torch import nn

random.seed(77)
torch.manual_seed(77)
BUCKETS, DIM, ACCUMULATE = 5000, 12, 4

SYLLABLES = {
    "north": ["sk", "tho", "orn", "bj", "gr", "ulf", "dal"],
    "south": ["ola", "ci", "mar", "ian", "rosa", "lu", "del"],
    "east": ["yu", "shi", "ki", "tan", "mo", "ren", "ka"],
}
CLASSES = list(SYLLABLES)
EVERYWHERE = ["an", "er", "in", "el"]


def name():
    label = random.randrange(len(CLASSES))
    parts = [random.choice(SYLLABLES[CLASSES[label]] if random.random() < 0.6 else EVERYWHERE) for _ in range(4)]
    return "".join(parts), label


def grams(word):
    word = f"<{word}>"
    return [zlib.crc32(word[i:i + n].encode()) % BUCKETS for n in (2, 3) for i in range(len(word) - n + 1)]


def to_tensors(samples):
    bags = [grams(w) for w, _ in samples]
    offsets = torch.tensor([0] + [len(b) for b in bags[:-1]]).cumsum(0)
    return torch.tensor([g for b in bags for g in b]), offsets, torch.tensor([l for _, l in samples])


table = nn.EmbeddingBag(BUCKETS, DIM, mode="mean", sparse=True)
nn.init.uniform_(table.weight, -1 / DIM, 1 / DIM)
head = nn.Linear(DIM, len(CLASSES))
nn.init.zeros_(head.weight)

table_opt = torch.optim.SGD(table.parameters(), lr=25.0)
head_opt = torch.optim.Adam(head.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

train, test = [name() for _ in range(4000)], [name() for _ in range(800)]
for epoch in range(8):
    random.shuffle(train)
    total, micro = 0.0, 0
    for i in range(0, len(train), 20):
        flat, offsets, y = to_tensors(train[i:i + 20])
        loss = criterion(head(table(flat, offsets)), y)
        (loss / ACCUMULATE).backward()
        total += loss.item()
        micro += 1
        if micro % ACCUMULATE:
            continue
        table_opt.step()
        head_opt.step()
        table_opt.zero_grad()
        head_opt.zero_grad()
        with torch.no_grad():
            table.weight.clamp_(-3.0, 3.0)
    with torch.no_grad():
        flat, offsets, y = to_tensors(test)
        acc = (head(table(flat, offsets)).argmax(1) == y).float().mean()
    print(f"epoch {epoch} loss {total / micro:.4f} test accuracy {acc:.3f}")
""",
)
