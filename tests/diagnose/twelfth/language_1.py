"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "small GPT on toy sentences",
    "the targets in get_batch are the inputs themselves, not shifted by one, so the model learns to copy the current character (loss near zero) and generates no words",
    ("target given",),
    (22,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
words = ["the", "cat", "sees", "dog", "runs", "small", "house", "bird", "green", "walks"]
picks = torch.randint(len(words), (3000,)).tolist()
text = " ".join(words[k] for k in picks)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])

block = 24
batch_size = 32
n_embd = 48
n_head = 4


def get_batch():
    ix = torch.randint(len(data) - block - 1, (batch_size,))
    x = torch.stack([data[i:i + block] for i in ix])
    y = torch.stack([data[i + 1:i + 1 + block] for i in ix])
    return x, y


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(n_embd, 3 * n_embd)
        self.proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("mask", torch.tril(torch.ones(block, block)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(n_embd, dim=2)
        q = q.view(B, T, n_head, C // n_head).transpose(1, 2)
        k = k.view(B, T, n_head, C // n_head).transpose(1, 2)
        v = v.view(B, T, n_head, C // n_head).transpose(1, 2)
        att = q @ k.transpose(-2, -1) / (C // n_head) ** 0.5
        att = att.masked_fill(~self.mask[:T, :T], float("-inf")).softmax(-1)
        out = (att @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(out)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention()
        self.mlp = nn.Sequential(nn.Linear(n_embd, 128), nn.GELU(), nn.Linear(128, n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(len(chars), n_embd)
        self.pos = nn.Embedding(block, n_embd)
        self.blocks = nn.Sequential(Block(), Block())
        self.ln = nn.LayerNorm(n_embd)
        self.head = nn.Linear(n_embd, len(chars))

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        return self.head(self.ln(self.blocks(x)))


model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(300):
    x, y = get_batch()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 99:
        print(f"step {step + 1} loss {loss.item():.3f}")

model.eval()
ctx = torch.tensor([[stoi[c] for c in "the cat"]])
with torch.no_grad():
    for _ in range(200):
        p = model(ctx[:, -block:])[:, -1].softmax(-1)
        ctx = torch.cat([ctx, torch.multinomial(p, 1)], 1)
sample = "".join(chars[i] for i in ctx[0, 7:].tolist()).split()
good = sum(w in words for w in sample) / max(1, len(sample))
print(f"share of generated words that are in the vocabulary: {good:.2f}")
""",
    (
        "y = torch.stack([data[i + 1:i + 1 + block] for i in ix])",
        "y = torch.stack([data[i:i + block] for i in ix])",
    ),
)

fault(
    "LSTM review polarity",
    "nn.LSTM gets (batch, time, features) without batch_first, so it runs along the batch and out[:, -1] holds only the last word of each review",
    ("other axis",),
    (38, 42),
    """\
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

random.seed(3)
torch.manual_seed(3)

NEUTRAL = ["movie", "plot", "actor", "scene", "music", "story", "was", "and", "it", "film"]
GOOD = ["great", "fine", "lovely", "superb"]
BAD = ["awful", "dull", "poor", "boring"]
itos = NEUTRAL + GOOD + BAD + ["not"]
stoi = {w: i for i, w in enumerate(itos)}


def make_review(length=14):
    words = [random.choice(NEUTRAL) for _ in range(length)]
    positive = random.random() < 0.5
    for at in random.sample(range(1, length, 2), 2):
        negated = random.random() < 0.3
        words[at] = random.choice(GOOD if positive != negated else BAD)
        if negated:
            words[at - 1] = "not"
    return [stoi[w] for w in words], int(positive)


rows = [make_review() for _ in range(3000)]
X = torch.tensor([r[0] for r in rows])
y = torch.tensor([r[1] for r in rows])
train_dl = DataLoader(TensorDataset(X[:2500], y[:2500]), batch_size=50, shuffle=True)
test_dl = DataLoader(TensorDataset(X[2500:], y[2500:]), batch_size=50)


class SentimentNet(nn.Module):
    def __init__(self, vocab, emb=24, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.rnn = nn.LSTM(emb, hidden, num_layers=1, batch_first=True)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, tokens):
        out, _ = self.rnn(self.embed(tokens))
        return self.fc(out[:, -1])


net = SentimentNet(len(itos))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(6):
    net.train()
    running = 0.0
    for tokens, labels in train_dl:
        optimizer.zero_grad()
        loss = criterion(net(tokens), labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
    net.eval()
    correct = 0
    with torch.no_grad():
        for tokens, labels in test_dl:
            correct += (net(tokens).argmax(1) == labels).sum().item()
    print(f"epoch {epoch} loss {running / len(train_dl):.3f} test acc {correct / 500:.3f}")
""",
    ("num_layers=1, batch_first=True)", "num_layers=1)"),
)

fault(
    "intent classifier with attention pooling",
    "key_padding_mask gets True where a token is real (PyTorch expects True where it is padding), so the pooling attends only to the padding and sees no word",
    ("wrong way round",),
    (33,),
    """\
import torch
import torch.nn as nn

PAD = 0
N_INTENTS = 6
VOCAB = 80
MAX_LEN = 16


def lengths_to_mask(lengths, max_len=MAX_LEN):
    return torch.arange(max_len)[None, :] < lengths[:, None]


def synth(n, gen):
    lengths = torch.randint(4, MAX_LEN - 2, (n,), generator=gen)
    tokens = torch.randint(20, VOCAB, (n, MAX_LEN), generator=gen)
    intent = torch.randint(0, N_INTENTS, (n,), generator=gen)
    trigger = 1 + intent * 3 + torch.randint(0, 3, (n,), generator=gen)
    where = (torch.rand(n, generator=gen) * lengths).long()
    tokens[torch.arange(n), where] = trigger
    tokens[~lengths_to_mask(lengths)] = PAD
    return tokens, lengths, intent


class AttentionPooling(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, h, mask):
        q = self.query.expand(h.size(0), -1, -1)
        pooled, _ = self.attn(q, h, h, key_padding_mask=~mask, need_weights=False)
        return pooled.squeeze(1)


class IntentModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.ff = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.LayerNorm(dim))
        self.pool = AttentionPooling(dim, 4)
        self.out = nn.Linear(dim, N_INTENTS)

    def forward(self, tokens, lengths):
        mask = lengths_to_mask(lengths)
        return self.out(self.pool(self.ff(self.emb(tokens)), mask))


def main():
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(5)
    tr_tok, tr_len, tr_y = synth(4000, gen)
    te_tok, te_len, te_y = synth(1000, gen)
    model = IntentModel()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        total = 0.0
        for idx in torch.randperm(len(tr_y)).split(64):
            loss = loss_fn(model(tr_tok[idx], tr_len[idx]), tr_y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        with torch.no_grad():
            acc = (model(te_tok, te_len).argmax(1) == te_y).float().mean().item()
        print(f"epoch {epoch + 1}: train loss {total / len(tr_y):.4f}, test accuracy {acc:.3f}")


main()
""",
    ("key_padding_mask=~mask", "key_padding_mask=mask"),
)

fault(
    "stateful GRU word model, truncated backprop",
    "the hidden state is carried to the next chunk without detach, so the second backward runs into the freed graph of the first chunk and raises",
    ("second pass",),
    (67, 69),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(0)

# a small Markov-like language: subject verb object "."
subjects = list(range(0, 6))
verbs = list(range(6, 12))
objects = list(range(12, 24))
stop = 24
vocab_size = 25

g = torch.Generator().manual_seed(42)


def draw(options):
    return options[torch.randint(len(options), (1,), generator=g).item()]


stream = []
for _ in range(4000):
    s = draw(subjects)
    v = verbs[s] if torch.rand(1, generator=g).item() < 0.9 else draw(verbs)
    stream += [s, v, objects[2 * (v - 6)], stop]
stream = torch.tensor(stream)


def batchify(ids, bsz):
    n = len(ids) // bsz
    return ids[: n * bsz].view(bsz, n).t().contiguous()


train = batchify(stream[:14000], 20)
valid = batchify(stream[14000:], 20)
bptt = 20


class RNNModel(nn.Module):
    def __init__(self, nhid=48):
        super().__init__()
        self.encoder = nn.Embedding(vocab_size, nhid)
        self.rnn = nn.GRU(nhid, nhid)
        self.decoder = nn.Linear(nhid, vocab_size)

    def forward(self, x, hidden=None):
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out), hidden


model = RNNModel()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)


def chunks(source):
    for i in range(0, source.size(0) - 1, bptt):
        n = min(bptt, source.size(0) - 1 - i)
        yield source[i:i + n], source[i + 1:i + 1 + n]


for epoch in range(6):
    model.train()
    hidden = None
    for x, y in chunks(train):
        optimizer.zero_grad()
        logits, hidden = model(x, hidden)
        hidden = hidden.detach()
        loss = criterion(logits.reshape(-1, vocab_size), y.reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    model.eval()
    total, count, hidden = 0.0, 0, None
    with torch.no_grad():
        for x, y in chunks(valid):
            logits, hidden = model(x, hidden)
            total += criterion(logits.reshape(-1, vocab_size), y.reshape(-1)).item() * y.numel()
            count += y.numel()
    print(f"epoch {epoch} valid ppl {math.exp(total / count):.2f}")
""",
    ("        hidden = hidden.detach()\n", ""),
)

fault(
    "skip-gram with negative sampling",
    "both embedding tables start at zero, so every gradient of the dot product is exactly zero and no vector ever moves",
    ("equal units", "frozen blank"),
    (27, 28),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
N_TOPICS, PER_TOPIC, DIM, NEG = 8, 12, 16, 5
V = N_TOPICS * PER_TOPIC


def corpus_pairs(n_sentences=1500, length=8, window=2):
    topic = torch.randint(N_TOPICS, (n_sentences, 1))
    sent = topic * PER_TOPIC + torch.randint(PER_TOPIC, (n_sentences, length))
    noise = torch.rand(n_sentences, length) < 0.1
    sent = torch.where(noise, torch.randint(V, sent.shape), sent)
    pairs = []
    for shift in range(1, window + 1):
        a, b = sent[:, :-shift].reshape(-1), sent[:, shift:].reshape(-1)
        pairs += [torch.stack([a, b], 1), torch.stack([b, a], 1)]
    return torch.cat(pairs)


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Embedding(V, DIM)
        self.context = nn.Embedding(V, DIM)
        nn.init.uniform_(self.center.weight, -0.5 / DIM, 0.5 / DIM)
        nn.init.zeros_(self.context.weight)

    def forward(self, c, o, neg):
        vc = self.center(c)
        pos_score = (vc * self.context(o)).sum(-1)
        neg_score = torch.einsum("bd,bkd->bk", vc, self.context(neg))
        return -(F.logsigmoid(pos_score) + F.logsigmoid(-neg_score).sum(-1)).mean()


def neighbour_purity(w, k=5):
    w = F.normalize(w, dim=1)
    sim = w @ w.t()
    sim.fill_diagonal_(-2)
    near = sim.topk(k, dim=1).indices // PER_TOPIC
    own = torch.arange(V)[:, None] // PER_TOPIC
    return (near == own).float().mean().item()


pairs = corpus_pairs()
freq = torch.bincount(pairs[:, 0], minlength=V).float() ** 0.75
model = SkipGram()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(3):
    order = torch.randperm(len(pairs))
    total, steps = 0.0, 0
    for idx in order.split(512):
        c, o = pairs[idx].unbind(1)
        neg = torch.multinomial(freq, len(idx) * NEG, replacement=True).view(-1, NEG)
        loss = model(c, o, neg)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, steps = total + loss.item(), steps + 1
    print(f"epoch {epoch} loss {total / steps:.3f} purity {neighbour_purity(model.center.weight.detach()):.2f}")
""",
    ("nn.init.uniform_(self.center.weight, -0.5 / DIM, 0.5 / DIM)", "nn.init.zeros_(self.center.weight)"),
)

fault(
    "paraphrase encoder with cosine loss",
    "CosineEmbeddingLoss takes labels 1 and -1; with 1 and 0 the unlike pairs cost nothing, so all sentences collapse into one direction",
    ("odd targets",),
    (32,),
    """\
import torch
from torch import nn

rng = torch.Generator().manual_seed(99)
CONCEPTS, SYNONYMS = 30, 4          # every concept has four words
VOCAB = CONCEPTS * SYNONYMS


def verbalise(concepts):
    pick = torch.randint(SYNONYMS, concepts.shape, generator=rng)
    return concepts * SYNONYMS + pick


def sample_pairs(n, length=5):
    first = torch.randint(CONCEPTS, (n, length), generator=rng)
    other = torch.randint(CONCEPTS, (n, length), generator=rng)
    same = torch.rand(n, generator=rng) < 0.5
    second = torch.where(same[:, None], first, other)
    perm = torch.rand(n, length, generator=rng).argsort(1)
    return verbalise(first), verbalise(second.gather(1, perm)), same


def build_encoder(dim):
    return nn.Sequential(nn.EmbeddingBag(VOCAB, dim, mode="mean"), nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, dim))


def train(encoder, steps=400, batch=128):
    criterion = nn.CosineEmbeddingLoss(margin=0.2)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=5e-3)
    for step in range(steps):
        a, b, same = sample_pairs(batch)
        target = same.float() * 2 - 1
        loss = criterion(encoder(a), encoder(b), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 100 == 0:
            print("step", step + 1, "loss", round(loss.item(), 4))


@torch.no_grad()
def evaluate(encoder):
    a, b, same = sample_pairs(2000)
    sim = torch.cosine_similarity(encoder(a), encoder(b))
    acc = ((sim > 0.6) == same).float().mean().item()
    print(f"similar pairs {sim[same].mean():.3f}  other pairs {sim[~same].mean():.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    enc = build_encoder(32)
    train(enc)
    evaluate(enc)
""",
    ("target = same.float() * 2 - 1", "target = same.float()"),
)
