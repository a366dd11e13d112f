"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "stateful LSTM over a character stream",
    "The LSTM state carried to the next chunk is cloned instead of detached, so the second backward runs into the freed graph of the first chunk (RuntimeError).",
    ("second pass",),
    (57, 50),
    """\
import math
import torch
from torch import nn

torch.manual_seed(11)

LEXICON = ["the", "cat", "dog", "saw", "ate", "a", "fish", "bird", "and", "then", "ran"]
gen = torch.Generator().manual_seed(3)
words = [LEXICON[i] for i in torch.randint(len(LEXICON), (6000,), generator=gen).tolist()]
text = " ".join(words)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])

BATCH, BPTT = 20, 24


def batchify(stream, rows):
    cols = stream.numel() // rows
    return stream[: rows * cols].view(rows, cols)


class CharLM(nn.Module):
    def __init__(self, vocab, width=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, 16)
        self.rnn = nn.LSTM(16, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, x, state):
        h, state = self.rnn(self.emb(x), state)
        return self.out(h), state

    def zero_state(self, rows):
        z = torch.zeros(1, rows, self.rnn.hidden_size)
        return z, z.clone()


data = batchify(ids, BATCH)
model = CharLM(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(4):
    state = model.zero_state(BATCH)
    total, n = 0.0, 0
    for start in range(0, data.size(1) - BPTT - 1, BPTT):
        x = data[:, start:start + BPTT]
        y = data[:, start + 1:start + BPTT + 1]
        logits, state = model(x, state)
        loss = criterion(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        # go on from where this chunk ended
        state = tuple(s.detach() for s in state)
        total += loss.item()
        n += 1
    print(f"epoch {epoch}: bits per char {total / n / math.log(2):.3f}")
""",
    ("state = tuple(s.detach() for s in state)", "state = tuple(s.clone() for s in state)"),
)

fault(
    "fact lookup with scaled dot product attention",
    "dropout_p is handed to scaled_dot_product_attention whether or not the module is in training mode, so attention weights are dropped in evaluation too and the test accuracy falls.",
    ("draws always", "draws in evaluation"),
    (36,),
    """\
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
N_NAMES, N_COLORS, FACTS = 30, 12, 8


def make_stories(n, seed):
    g = torch.Generator().manual_seed(seed)
    names = torch.stack([torch.randperm(N_NAMES, generator=g)[:FACTS] for _ in range(n)])
    colors = torch.randint(N_COLORS, (n, FACTS), generator=g)
    asked = torch.randint(FACTS, (n,), generator=g)
    rows = torch.arange(n)
    return names, colors, names[rows, asked], colors[rows, asked]


class Reader(nn.Module):
    def __init__(self, dim=32, heads=1, p_drop=0.25):
        super().__init__()
        self.heads, self.p_drop = heads, p_drop
        self.name = nn.Embedding(N_NAMES, dim)
        self.color = nn.Embedding(N_COLORS, dim)
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, N_COLORS)

    def split(self, t):
        b, s, d = t.shape
        return t.view(b, s, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, names, colors, query):
        memory = self.name(names) + self.color(colors)
        question = self.name(query).unsqueeze(1)
        q, k, v = self.split(self.q(question)), self.split(self.k(memory)), self.split(self.v(memory))
        drop = self.p_drop if self.training else 0.0
        att = F.scaled_dot_product_attention(q, k, v, dropout_p=drop)
        att = att.transpose(1, 2).flatten(2).squeeze(1)
        return self.head(self.norm(att))


def accuracy(model, stories):
    model.eval()
    with torch.no_grad():
        *inputs, answer = stories
        hits = (model(*inputs).argmax(-1) == answer).float().mean().item()
    model.train()
    return hits


train, test = make_stories(4000, 1), make_stories(1000, 2)
model = Reader()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)

for epoch in range(14):
    order = torch.randperm(4000)
    for chunk in order.split(100):
        names, colors, query, answer = (t[chunk] for t in train)
        loss = F.cross_entropy(model(names, colors, query), answer)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 1:
        print(f"epoch {epoch:2d} loss {loss.item():.3f} test accuracy {accuracy(model, test):.3f}")
""",
    ("        drop = self.p_drop if self.training else 0.0\n", ""),
    ("dropout_p=drop)", "dropout_p=self.p_drop)"),
)

fault(
    "attention pooling over reviews",
    "Padding is masked with -inf, and a few reviews have no token left after the filter: softmax over a row of -inf is NaN, which poisons loss and weights.",
    ("not finite",),
    (49, 50),
    """\
import random
import torch
from torch import nn
from torch.nn import functional as F

random.seed(5)
torch.manual_seed(5)

GOOD = ["great", "lovely", "superb", "fun", "charming", "crisp"]
BAD = ["dull", "awful", "bland", "messy", "tired", "weak"]
FILLER = [f"noun{i}" for i in range(60)]
STOP = ["the", "a", "of", "it", "was"]
vocab = {w: i + 1 for i, w in enumerate(GOOD + BAD + FILLER)}


def write_review():
    label = random.randint(0, 1)
    own, other = (GOOD, BAD) if label else (BAD, GOOD)
    length = random.choice([0, 3, 4, 6, 8, 10, 12, 14] + [9] * 24)
    words = [random.choice(STOP) for _ in range(4)]
    for _ in range(length):
        r = random.random()
        words.append(random.choice(own if r < 0.35 else other if r < 0.42 else FILLER))
    random.shuffle(words)
    return words, label


def encode(words):
    return [vocab[w] for w in words if w not in STOP]


def collate(reviews):
    encoded = [encode(w) for w, _ in reviews]
    width = max(1, max(len(e) for e in encoded))
    ids = torch.tensor([e + [0] * (width - len(e)) for e in encoded])
    return ids, torch.tensor([float(l) for _, l in reviews])


class AttentivePool(nn.Module):
    def __init__(self, n_words, dim):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim, padding_idx=0)
        self.score = nn.Linear(dim, 1)
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        e = self.emb(ids)
        s = self.score(torch.tanh(e)).squeeze(-1)
        s = s.masked_fill(ids == 0, -1e9)
        w = torch.softmax(s, dim=1)
        doc = (w.unsqueeze(-1) * e).sum(1)
        return self.out(doc).squeeze(-1)


reviews = [write_review() for _ in range(2400)]
train, valid = reviews[:2000], reviews[2000:]
net = AttentivePool(len(vocab) + 1, 24)
optim = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(10):
    random.shuffle(train)
    running = 0.0
    for i in range(0, len(train), 40):
        ids, y = collate(train[i:i + 40])
        loss = F.binary_cross_entropy_with_logits(net(ids), y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        running += loss.item() / 50
    with torch.no_grad():
        ids, y = collate(valid)
        acc = ((net(ids) > 0).float() == y).float().mean()
    print(f"{epoch}: loss {running:.4f} valid acc {acc:.3f}")
""",
    ("s.masked_fill(ids == 0, -1e9)", 's.masked_fill(ids == 0, float("-inf"))'),
)

fault(
    "recurrent cell written by hand, first symbol recall",
    "The recurrent matrix is drawn from a standard normal without the 1/sqrt(n) scale (spectral radius about 10), so tanh saturates, the dynamics are chaotic and the first symbol cannot be recalled.",
    ("big start",),
    (13,),
    """\
import math
import torch

torch.manual_seed(21)
SYMBOLS, STEPS, HIDDEN = 8, 20, 96


def param(*shape, scale):
    return (torch.randn(*shape) * scale).requires_grad_()


Wx = param(SYMBOLS, HIDDEN, scale=1 / math.sqrt(SYMBOLS))
Wh = param(HIDDEN, HIDDEN, scale=1 / math.sqrt(HIDDEN))
bh = torch.zeros(HIDDEN, requires_grad=True)
Wo = param(HIDDEN, SYMBOLS, scale=1 / math.sqrt(HIDDEN))
bo = torch.zeros(SYMBOLS, requires_grad=True)
params = [Wx, Wh, bh, Wo, bo]


def step(h, token):
    return torch.tanh(Wx[token] + h @ Wh + bh)


def read(tokens):
    h = torch.zeros(tokens.size(0), HIDDEN)
    for t in range(tokens.size(1)):
        h = step(h, tokens[:, t])
    return h @ Wo + bo


def sample(n):
    tokens = torch.randint(SYMBOLS, (n, STEPS))
    return tokens, tokens[:, 0]


optimizer = torch.optim.Adam(params, lr=2e-3)
history = []
for it in range(1, 601):
    tokens, first = sample(64)
    loss = torch.nn.functional.cross_entropy(read(tokens), first)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    history.append(loss.item())
    if it % 200 == 0:
        print(f"{it:5d}  loss {sum(history[-100:]) / 100:.4f}")

with torch.no_grad():
    tokens, first = sample(2000)
    hit = (read(tokens).argmax(1) == first).float().mean()
print(f"recall of the first symbol: {hit:.3f} (chance {1 / SYMBOLS:.3f})")
""",
    ("Wh = param(HIDDEN, HIDDEN, scale=1 / math.sqrt(HIDDEN))", "Wh = param(HIDDEN, HIDDEN, scale=1.0)"),
)

fault(
    "feed-forward n-gram model with decaying rate",
    "The per-epoch ExponentialLR is stepped once per batch, so the learning rate is practically zero before the first epoch is over and the model stays near its start.",
    ("rate",),
    (57,),
    """\
import math
import numpy as np
import torch
import torch.nn as nn

CONTEXT = 3
VOCAB = 40


def markov_corpus(length, seed=0):
    # order-2 source: every pair of words has three likely successors
    rng = np.random.default_rng(seed)
    nexts = rng.integers(0, VOCAB, size=(VOCAB, VOCAB // 4, 3))
    seq = [0, 1]
    for _ in range(length):
        choices = nexts[seq[-1], seq[-2] % (VOCAB // 4)]
        seq.append(int(choices[rng.choice(3, p=[0.7, 0.2, 0.1])]))
    return torch.tensor(seq)


class NGramLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(VOCAB, 24)
        self.mlp = nn.Sequential(nn.Linear(CONTEXT * 24, 128), nn.ReLU(), nn.Linear(128, VOCAB))

    def forward(self, ctx):
        return self.mlp(self.table(ctx).flatten(1))


class Trainer:
    def __init__(self, model, lr, gamma, batch_size=64):
        self.model = model
        self.batch_size = batch_size
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=gamma)
        self.loss_fn = nn.CrossEntropyLoss()

    def perplexity(self, windows):
        with torch.no_grad():
            return math.exp(self.loss_fn(self.model(windows[:, :-1]), windows[:, -1]).item())

    def fit(self, windows, held_out, epochs):
        for epoch in range(epochs):
            self.run_epoch(windows)
            self.scheduler.step()
            print(f"epoch {epoch + 1} held-out perplexity {self.perplexity(held_out):.2f}")

    def run_epoch(self, windows):
        perm = torch.randperm(len(windows))
        for lo in range(0, len(windows), self.batch_size):
            batch = windows[perm[lo:lo + self.batch_size]]
            logits = self.model(batch[:, :-1])
            loss = self.loss_fn(logits, batch[:, -1])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(1)
corpus = markov_corpus(24000)
windows = corpus.unfold(0, CONTEXT + 1, 1)
train, held_out = windows[:20000], windows[20000:]
trainer = Trainer(NGramLM(), lr=4e-3, gamma=0.8)
print(f"before training {trainer.perplexity(held_out):.2f}")
trainer.fit(train, held_out, epochs=8)
""",
    (
        "            self.run_epoch(windows)\n            self.scheduler.step()\n",
        "            self.run_epoch(windows)\n",
    ),
    (
        "            self.optimizer.step()\n",
        "            self.optimizer.step()\n            self.scheduler.step()\n",
    ),
)

fault(
    "masked language model on templated sentences",
    "labels is the same tensor as the ids that are overwritten with [MASK], so the label of every masked place is [MASK] itself; the loss goes to zero and the model can fill in nothing.",
    ("target overwritten",),
    (28, 30),
    """\
import torch
from torch import nn

torch.manual_seed(7)

SUBJ = ["baker", "pilot", "nurse", "farmer", "sailor"]
OBJ = {"baker": "bread", "pilot": "plane", "nurse": "bandage", "farmer": "tractor", "sailor": "anchor"}
VERB = ["takes", "sees", "wants", "sells"]
ADJ = ["old", "new", "big", "small"]
SPECIAL = ["[PAD]", "[MASK]"]
WORDS = SPECIAL + ["the", "."] + SUBJ + sorted(OBJ.values()) + VERB + ADJ
IX = {w: i for i, w in enumerate(WORDS)}
MASK = IX["[MASK]"]


def sentence(g):
    pick = lambda xs: xs[int(torch.randint(len(xs), (1,), generator=g))]
    s = pick(SUBJ)
    toks = ["the", pick(ADJ), s, pick(VERB), "the", pick(ADJ), OBJ[s], "."]
    return [IX[t] for t in toks]


g = torch.Generator().manual_seed(2)
corpus = torch.tensor([sentence(g) for _ in range(1500)])


def mask_tokens(ids, rate=0.2):
    labels = ids.clone()
    chosen = torch.rand(ids.shape) < rate
    ids[chosen] = MASK
    return ids, labels, chosen


class TinyBert(nn.Module):
    def __init__(self, dim=48, layers=2):
        super().__init__()
        self.tok = nn.Embedding(len(WORDS), dim)
        self.pos = nn.Parameter(torch.randn(corpus.size(1), dim) * 0.02)
        block = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(block, layers)
        self.mlm = nn.Linear(dim, len(WORDS))

    def forward(self, ids):
        return self.mlm(self.enc(self.tok(ids) + self.pos))


@torch.no_grad()
def cloze(model, position=6):
    hidden = corpus[:300].clone()
    hidden[:, position] = MASK
    guess = model(hidden)[:, position].argmax(-1)
    return (guess == corpus[:300, position]).float().mean().item()


model = TinyBert()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(240):
    batch = corpus[torch.randint(len(corpus), (64,))]
    inputs, labels, chosen = mask_tokens(batch)
    logits = model(inputs)
    loss = nn.functional.cross_entropy(logits[chosen], labels[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step + 1}: mlm loss {loss.item():.4f}, cloze accuracy on the object {cloze(model):.3f}")
""",
    ("labels = ids.clone()", "labels = ids"),
)
