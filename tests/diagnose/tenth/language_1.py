"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "intent classifier with a Trainer class",
    "forward returns softmax probabilities but nn.CrossEntropyLoss takes logits and applies log-softmax again, so the loss is squeezed near log(classes), gradients are tiny and it learns far more slowly and worse",
    ("soft twice",),
    (31, 48),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

N_INTENTS, VOCAB, LENGTH = 100, 1500, 8


def make_split(n, keywords, gen):
    intent = torch.randint(0, N_INTENTS, (n,), generator=gen)
    words = torch.randint(0, VOCAB, (n, LENGTH), generator=gen)
    # two slots of every utterance carry keywords of its intent
    for slot in (1, 4):
        which = torch.randint(0, 3, (n,), generator=gen)
        words[:, slot] = keywords[intent, which]
    return words, intent


class IntentNet(nn.Module):
    def __init__(self, dim=48, hidden=64, p=0.2):
        super().__init__()
        self.bag = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.fc = nn.Linear(dim, hidden)
        self.drop = nn.Dropout(p)
        self.out = nn.Linear(hidden, N_INTENTS)

    def forward(self, words):
        h = self.bag(words)
        h = F.relu(self.fc(h))
        h = self.drop(h)
        return self.out(h)


class Trainer:
    def __init__(self, model, train_set, test_set, lr=5e-3, batch_size=100):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.test_loader = DataLoader(test_set, batch_size=500)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def run_epoch(self):
        self.model.train()
        total, seen = 0.0, 0
        for words, intent in self.train_loader:
            self.optimizer.zero_grad()
            scores = self.model(words)
            loss = self.criterion(scores, intent)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(intent)
            seen += len(intent)
        return total / seen

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        hits = sum((self.model(w).argmax(1) == y).sum().item() for w, y in self.test_loader)
        return hits / len(self.test_loader.dataset)

    def fit(self, epochs):
        for epoch in range(epochs):
            loss = self.run_epoch()
            if epoch % 2 == 1:
                print(f"epoch {epoch + 1}: loss {loss:.3f}  test accuracy {self.accuracy():.3f}")


torch.manual_seed(3)
gen = torch.Generator().manual_seed(11)
keywords = torch.randperm(VOCAB, generator=gen)[: N_INTENTS * 3].view(N_INTENTS, 3)
train_set = TensorDataset(*make_split(8000, keywords, gen))
test_set = TensorDataset(*make_split(1500, keywords, gen))
trainer = Trainer(IntentNet(), train_set, test_set)
trainer.fit(8)
""",
    ("        return self.out(h)\n", "        return F.softmax(self.out(h), dim=1)\n"),
)

fault(
    "part-of-speech tagger on a time-major LSTM",
    "the scores are (time, batch, tags) but the gold tags are flattened batch-first, so every score is compared with the tag of another word and the tagger learns only tag frequencies",
    ("other order",),
    (51,),
    """\
import random
import torch
from torch import nn
import torch.nn.functional as F

random.seed(5)
torch.manual_seed(5)

TAGS = ["DET", "NOUN", "VERB", "ADJ", "ADV"]
nouns = ["n%d" % i for i in range(30)]
verbs = ["v%d" % i for i in range(30)]
both = ["b%d" % i for i in range(20)]       # noun after DET/ADJ, verb after NOUN/ADV
adjs = ["j%d" % i for i in range(15)]
advs = ["r%d" % i for i in range(10)]
dets = ["the", "a", "this"]


def sentence(n_words=12):
    pairs = []
    while len(pairs) < n_words:
        pairs.append((random.choice(dets), "DET"))
        if random.random() < 0.5:
            pairs.append((random.choice(adjs), "ADJ"))
        pairs.append((random.choice(nouns + both), "NOUN"))
        if random.random() < 0.4:
            pairs.append((random.choice(advs), "ADV"))
        pairs.append((random.choice(verbs + both), "VERB"))
    return pairs[:n_words]


word_ix = {w: i for i, w in enumerate(nouns + verbs + both + adjs + advs + dets)}
tag_ix = {t: i for i, t in enumerate(TAGS)}
corpus = [sentence() for _ in range(1200)]
words = torch.tensor([[word_ix[w] for w, _ in s] for s in corpus])
tags = torch.tensor([[tag_ix[t] for _, t in s] for s in corpus])
train_w, train_t, dev_w, dev_t = words[:1000], tags[:1000], words[1000:], tags[1000:]

embed = nn.Embedding(len(word_ix), 32)
lstm = nn.LSTM(32, 48)
project = nn.Linear(48, len(TAGS))
params = [*embed.parameters(), *lstm.parameters(), *project.parameters()]
optimizer = torch.optim.Adam(params, lr=5e-3)


def tag_scores(batch):
    hidden, _ = lstm(embed(batch.t()))      # (time, batch, hidden)
    return project(hidden)


def tagging_loss(scores, gold):
    return F.cross_entropy(scores.reshape(-1, len(TAGS)), gold.t().reshape(-1))


for epoch in range(10):
    order = torch.randperm(len(train_w))
    running = 0.0
    for ids in order.split(50):
        optimizer.zero_grad()
        loss = tagging_loss(tag_scores(train_w[ids]), train_t[ids])
        loss.backward()
        optimizer.step()
        running += loss.item() / 20
    with torch.no_grad():
        guess = tag_scores(dev_w).argmax(-1).t()
        acc = (guess == dev_t).float().mean().item()
    print("epoch %2d  loss %.3f  dev accuracy %.3f" % (epoch, running, acc))
""",
    ("gold.t().reshape(-1))", "gold.reshape(-1))"),
)

fault(
    "character language model with carried state",
    "the LSTM state is carried to the next chunk without detach, so the second backward runs into the freed graph of the first chunk and raises",
    ("second pass",),
    (62,),
    """\
import math
import random
import torch
import torch.nn as nn

SEED, BATCH, CHUNK, EPOCHS = 17, 24, 25, 12


class CharModel(nn.Module):
    def __init__(self, n_chars, emb=24, hidden=96):
        super().__init__()
        self.hidden = hidden
        self.emb = nn.Embedding(n_chars, emb)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_chars)

    def initial_state(self, batch):
        zeros = torch.zeros(1, batch, self.hidden)
        return zeros, zeros.clone()

    def forward(self, chars, state):
        features, state = self.lstm(self.emb(chars), state)
        return self.out(features), state


def make_text(n_sentences):
    subjects = ["the old man", "a small dog", "my neighbour", "the black cat", "her brother"]
    verbs = ["looks at", "runs after", "dreams of", "paints", "forgets"]
    objects = ["the garden", "two birds", "a red house", "the sea", "every book"]
    return "".join(
        f"{random.choice(subjects)} {random.choice(verbs)} {random.choice(objects)}. "
        for _ in range(n_sentences)
    )


def batchify(ids, batch):
    n = len(ids) // batch
    return ids[: n * batch].view(batch, n)


def chunks(stream):
    for start in range(0, stream.size(1) - 1, CHUNK):
        stop = min(start + CHUNK, stream.size(1) - 1)
        yield stream[:, start:stop], stream[:, start + 1 : stop + 1]


random.seed(SEED)
torch.manual_seed(SEED)
text = make_text(500)
alphabet = sorted(set(text))
lookup = {c: i for i, c in enumerate(alphabet)}
stream = batchify(torch.tensor([lookup[c] for c in text]), BATCH)
model = CharModel(len(alphabet))
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=6e-3)

for epoch in range(EPOCHS):
    state = model.initial_state(BATCH)
    total, n = 0.0, 0
    for x, y in chunks(stream):
        logits, new_state = model(x, state)
        state = tuple(s.detach() for s in new_state)
        loss = loss_fn(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
        n += 1
    print(f"epoch {epoch + 1:2d}  bits per character {total / n / math.log(2):.3f}")
""",
    ("        state = tuple(s.detach() for s in new_state)\n", "        state = new_state\n"),
)

fault(
    "sentence similarity regression with a siamese encoder",
    "the predictions are (batch, 1) and the gold scores (batch,), so the difference broadcasts to (batch, batch) and the model learns the mean score of the batch for every pair",
    ("broadcast",),
    (35, 60),
    """\
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(8)
torch.manual_seed(8)
N_TOPICS, WORDS_PER_TOPIC, SENT_LEN = 8, 10, 16
VOCAB = N_TOPICS * WORDS_PER_TOPIC


def draw_sentence(mix):
    topics = rng.choice(N_TOPICS, size=SENT_LEN, p=mix)
    return topics * WORDS_PER_TOPIC + rng.integers(0, WORDS_PER_TOPIC, SENT_LEN), topics


def draw_pair():
    a_mix, b_mix = rng.dirichlet(np.full(N_TOPICS, 0.2), 2)
    share = rng.random()
    b_mix = share * a_mix + (1 - share) * b_mix
    (a, ta), (b, tb) = draw_sentence(a_mix), draw_sentence(b_mix)
    ca, cb = np.bincount(ta, minlength=N_TOPICS), np.bincount(tb, minlength=N_TOPICS)
    score = ca @ cb / (np.linalg.norm(ca) * np.linalg.norm(cb))
    return a, b, 5.0 * score            # like the 0..5 scale of the annotators


class SimilarityModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.mix = nn.Sequential(nn.Linear(2 * dim, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, a, b):
        u, v = self.embed(a).mean(dim=1), self.embed(b).mean(dim=1)
        features = torch.cat([u * v, (u - v).abs()], dim=1)
        return self.mix(features).squeeze(1)


def to_tensors(pairs):
    a, b, s = zip(*pairs)
    return torch.tensor(np.array(a)), torch.tensor(np.array(b)), torch.tensor(s, dtype=torch.float32)


def pearson(model, a, b, gold):
    model.eval()
    with torch.no_grad():
        guess = model(a, b).flatten().numpy()
    return np.corrcoef(guess, gold.numpy())[0, 1]


A, B, S = to_tensors([draw_pair() for _ in range(4000)])
test = to_tensors([draw_pair() for _ in range(600)])
model = SimilarityModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-4)

for epoch in range(1, 13):
    model.train()
    losses = []
    for ids in torch.randperm(len(S)).split(64):
        predicted = model(A[ids], B[ids])
        loss = ((predicted - S[ids]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 2 == 0:
        print(f"epoch {epoch}: mse {np.mean(losses):.3f}, pearson on test {pearson(model, *test):.3f}")
""",
    ("return self.mix(features).squeeze(1)", "return self.mix(features)"),
)

fault(
    "GRU command parser in functional style",
    "F.dropout is called without training=..., whose default is True, so the dropout stays on under eval() and the test accuracy is measured on randomly dropped features",
    ("draws always",),
    (29,),
    """\
# Commands like "... mover 3 ... target 5 ...": the first marked word acts, the second is acted upon.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
N_THINGS, VOCAB, T = 10, 50, 10
N_CLASSES = N_THINGS * N_THINGS


def sample(n):
    x = torch.randint(N_THINGS, VOCAB, (n, T))
    first, second = torch.randint(0, N_THINGS, (2, n))
    spots = torch.rand(n, T).argsort(1)[:, :2].sort(1).values
    x[torch.arange(n), spots[:, 0]] = first
    x[torch.arange(n), spots[:, 1]] = second
    return x, first * N_THINGS + second


class CommandNet(nn.Module):
    def __init__(self, p_emb=0.35, p_out=0.5):
        super().__init__()
        self.p_emb, self.p_out = p_emb, p_out
        self.emb = nn.Embedding(VOCAB, 16)
        self.gru = nn.GRU(16, 40, batch_first=True)
        self.head = nn.Linear(40, N_CLASSES)

    def drop(self, h, p):
        return F.dropout(h, p, training=self.training)

    def forward(self, x):
        e = self.drop(self.emb(x), self.p_emb)
        _, h = self.gru(e)
        return self.head(self.drop(h.squeeze(0), self.p_out))


@torch.inference_mode()
def evaluate(net, x, y):
    net.eval()
    logits = net(x)
    net.train()
    return F.cross_entropy(logits, y).item(), (logits.argmax(-1) == y).float().mean().item()


x_train, y_train = sample(6000)
x_test, y_test = sample(1000)
net = CommandNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
step = 0
while step < 600:
    for ids in torch.randperm(len(x_train)).split(100):
        loss = F.cross_entropy(net(x_train[ids]), y_train[ids])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        opt.step()
        step += 1
        if step % 120 == 0:
            print(step, "train loss %.3f" % loss.item(), "test loss %.3f accuracy %.3f" % evaluate(net, x_test, y_test))
""",
    ("F.dropout(h, p, training=self.training)", "F.dropout(h, p)"),
)

fault(
    "transformer that translates words with synonyms",
    "the decoder is called without the causal tgt_mask, so in training each position sees the next gold token and copies it; the loss falls below the floor but greedy decoding gives poor translations",
    ("sees ahead",),
    (35,),
    """\
import math
import torch
from torch import nn

torch.manual_seed(1)
N_SRC, SYNONYMS, LEN, D = 12, 3, 6, 48
N_TGT = N_SRC * SYNONYMS
BOS, EOS, TGT_VOCAB = N_TGT, N_TGT + 1, N_TGT + 2


def batch_of(n):
    # the word order is reversed; word w may be rendered as 3w, 3w + 1 or 3w + 2
    src = torch.randint(0, N_SRC, (n, LEN))
    out = src.flip(1) * SYNONYMS + torch.randint(0, SYNONYMS, (n, LEN))
    bos, eos = torch.full((n, 1), BOS), torch.full((n, 1), EOS)
    return src, torch.cat([bos, out, eos], dim=1)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.src_tok = nn.Embedding(N_SRC, D)
        self.tgt_tok = nn.Embedding(TGT_VOCAB, D)
        self.pos = nn.Parameter(torch.randn(LEN + 2, D))
        enc = nn.TransformerEncoderLayer(D, 4, 96, dropout=0.0, batch_first=True)
        dec = nn.TransformerDecoderLayer(D, 4, 96, dropout=0.0, batch_first=True)
        self.encoder, self.decoder = nn.TransformerEncoder(enc, 1), nn.TransformerDecoder(dec, 1)
        self.proj = nn.Linear(D, TGT_VOCAB)

    def encode(self, src):
        return self.encoder(self.src_tok(src) + self.pos[: src.size(1)])

    def decode(self, memory, prefix):
        x = self.tgt_tok(prefix) + self.pos[: prefix.size(1)]
        n = prefix.size(1)
        causal = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
        h = self.decoder(x, memory, tgt_mask=causal)
        return self.proj(h)

    @torch.no_grad()
    def greedy(self, src):
        memory = self.encode(src)
        prefix = torch.full((src.size(0), 1), BOS)
        for _ in range(LEN):
            nxt = self.decode(memory, prefix)[:, -1].argmax(-1, keepdim=True)
            prefix = torch.cat([prefix, nxt], dim=1)
        return prefix[:, 1:]


model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
test_src, _ = batch_of(300)
print("lowest loss possible %.3f" % (math.log(SYNONYMS) * LEN / (LEN + 1)))

for step in range(1, 301):
    src, tgt = batch_of(64)
    logits = model.decode(model.encode(src), tgt[:, :-1])
    loss = criterion(logits.reshape(-1, TGT_VOCAB), tgt[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 0:
        model.eval()
        guess = model.greedy(test_src)
        model.train()
        good = (guess // SYNONYMS == test_src.flip(1)).all(1).float().mean().item()
        print(f"step {step}: loss {loss.item():.3f}  right sentences {good:.3f}")
""",
    (
        """\
        n = prefix.size(1)
        causal = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)
        h = self.decoder(x, memory, tgt_mask=causal)
""",
        """\
        h = self.decoder(x, memory)
""",
    ),
)
