"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "order classifier with sinusoidal positions",
    "The position table of the sequence-first tutorial is cut by the batch size and broadcast over time, so every token of a sentence gets the same code (that of its row in the batch); order is invisible and accuracy stays at chance.",
    ("position by sample",),
    (21,),
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(4)
VOCAB, LENGTH = 30, 14
LEFT, RIGHT = 1, 2


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:x.size(1)].transpose(0, 1)


class OrderClassifier(nn.Module):
    # does the subject marker come before the object marker?
    def __init__(self, d_model=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d_model)
        self.positions = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.decide = nn.Linear(d_model, 2)

    def forward(self, tokens):
        x = self.positions(self.embed(tokens))
        return self.decide(self.encoder(x).mean(dim=1))


def make_batch(n):
    tokens = torch.randint(3, VOCAB, (n, LENGTH))
    places = torch.rand(n, LENGTH).argsort(1)[:, :2]
    rows = torch.arange(n)
    tokens[rows, places[:, 0]] = LEFT
    tokens[rows, places[:, 1]] = RIGHT
    return tokens, (places[:, 0] < places[:, 1]).long()


model = OrderClassifier()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

running = 0.0
for step in range(1, 241):
    tokens, label = make_batch(64)
    loss = criterion(model(tokens), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss.item()
    if step % 60 == 0:
        print(f"step {step} loss {running / 60:.4f}")
        running = 0.0

model.eval()
with torch.no_grad():
    tokens, label = make_batch(500)
    print("accuracy", (model(tokens).argmax(1) == label).float().mean().item())
""",
    ("x + self.pe[:x.size(1)].transpose(0, 1)", "x + self.pe[:x.size(0)]"),
)

fault(
    "sentence embeddings from pairs with a cosine loss",
    "CosineEmbeddingLoss wants targets 1 and -1; with 0 for different pairs these contribute nothing, nothing pushes sentences apart and all embeddings fall together.",
    ("odd targets",),
    (40,),
    """\
import torch
from torch import nn

torch.manual_seed(13)
TOPICS, WORDS_PER_TOPIC, COMMON = 10, 25, 50
VOCAB = TOPICS * WORDS_PER_TOPIC + COMMON


def sentences(topics):
    # two words of five belong to the topic, the others are common
    n = len(topics)
    special = topics[:, None] * WORDS_PER_TOPIC + torch.randint(WORDS_PER_TOPIC, (n, 4))
    common = TOPICS * WORDS_PER_TOPIC + torch.randint(COMMON, (n, 6))
    return torch.cat([special, common], 1)


def draw_pairs(n):
    left = torch.randint(TOPICS, (n,))
    shift = torch.randint(1, TOPICS, (n,))
    same = torch.rand(n) < 0.5
    right = torch.where(same, left, (left + shift) % TOPICS)
    return sentences(left), sentences(right), same


class SentenceEncoder(nn.Sequential):
    def __init__(self, dim=32):
        super().__init__(
            nn.EmbeddingBag(VOCAB, dim, mode="mean"),
            nn.Linear(dim, dim),
            nn.Tanh(),
            nn.Linear(dim, dim),
        )


def train(encoder, steps, batch):
    loss_fn = nn.CosineEmbeddingLoss(margin=0.2)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for step in range(steps):
        a, b, same = draw_pairs(batch)
        target = torch.where(same, 1.0, -1.0)
        loss = loss_fn(encoder(a), encoder(b), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 200 == 0:
            print(f"step {step + 1:4d} loss {loss.item():.4f}")


@torch.no_grad()
def report(encoder):
    a, b, same = draw_pairs(2000)
    cos = torch.cosine_similarity(encoder(a), encoder(b))
    said_same = cos > 0.5
    print(f"mean cosine: same {cos[same].mean():.3f}, different {cos[~same].mean():.3f}")
    print(f"pairs judged rightly: {(said_same == same).float().mean():.3f}")


encoder = SentenceEncoder()
report(encoder)
train(encoder, steps=600, batch=128)
report(encoder)
""",
    ("target = torch.where(same, 1.0, -1.0)", "target = same.float()"),
)

fault(
    "classifier moved to a domain with new words",
    "The optimizer is built before extend_vocabulary puts a new nn.Embedding in place, so it updates the old table only and the vectors of all words keep their values.",
    ("not held",),
    (68, 69),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

BASE_VOCAB, NEW_WORDS, DIM, CLASSES = 200, 240, 12, 6


class WordAverager(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.words = nn.Embedding(vocab_size, DIM)
        self.norm = nn.LayerNorm(DIM)
        self.classify = nn.Linear(DIM, CLASSES)

    def forward(self, docs):
        return self.classify(self.norm(self.words(docs).mean(1)))

    def extend_vocabulary(self, extra):
        old = self.words.weight.detach()
        bigger = nn.Embedding(old.size(0) + extra, DIM)
        with torch.no_grad():
            bigger.weight[: old.size(0)] = old
        self.words = bigger


class Domain:
    # each word of the domain leans to one class
    def __init__(self, low, high, seed):
        self.gen = torch.Generator().manual_seed(seed)
        self.low, self.high = low, high
        self.leaning = torch.randint(CLASSES, (high,), generator=self.gen)

    def sample(self, n, length=12):
        docs = torch.randint(self.low, self.high, (n, length), generator=self.gen)
        votes = F.one_hot(self.leaning[docs], CLASSES).sum(1).float()
        votes = votes + torch.linspace(0.5, 0, CLASSES)  # ties go to the lower class
        return docs, votes.argmax(1)


def run_epochs(model, optimizer, data, epochs):
    docs, labels = data
    for _ in range(epochs):
        for idx in torch.randperm(len(docs)).split(64):
            loss = F.cross_entropy(model(docs[idx]), labels[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


def score(model, data):
    docs, labels = data
    with torch.no_grad():
        return (model(docs).argmax(1) == labels).float().mean().item()


torch.manual_seed(8)
general = Domain(0, BASE_VOCAB, seed=1)
medical = Domain(BASE_VOCAB, BASE_VOCAB + NEW_WORDS, seed=2)

model = WordAverager(BASE_VOCAB)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
run_epochs(model, optimizer, general.sample(4000), epochs=8)
print(f"general domain accuracy {score(model, general.sample(1000)):.3f}")

# second phase: the medical reports
medical_train, medical_test = medical.sample(5000), medical.sample(1000)
model.extend_vocabulary(NEW_WORDS)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
for round_ in range(6):
    loss = run_epochs(model, optimizer, medical_train, epochs=2)
    print(f"round {round_} loss {loss:.3f} medical accuracy {score(model, medical_test):.3f}")
""",
    (
        "model.extend_vocabulary(NEW_WORDS)\noptimizer = torch.optim.Adam(model.parameters(), lr=2e-2)\n",
        "optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)\nmodel.extend_vocabulary(NEW_WORDS)\n",
    ),
)

fault(
    "bidirectional GRU over intents",
    "The final states, shaped (directions, batch, hidden), are reshaped to (batch, 2*hidden) with view, which puts states of different sentences in one row; features do not belong to their labels and accuracy stays near chance.",
    ("scrambled",),
    (38,),
    """\
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

INTENTS = {
    "weather": "will it rain snow tomorrow outside sunny",
    "music": "play some jazz song loud album",
    "alarm": "wake me set alarm at seven",
    "taxi": "book ride cab to airport now",
}
NOISE = "please could you hey thanks um well ok so just".split()
LABELS = sorted(INTENTS)
VOCAB = {w: i for i, w in enumerate(["<pad>"] + sorted({w for s in INTENTS.values() for w in s.split()} | set(NOISE)))}


class Utterances(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            y = int(torch.randint(len(LABELS), (1,), generator=g))
            own = INTENTS[LABELS[y]].split()
            length = int(torch.randint(4, 12, (1,), generator=g))
            coins = torch.rand(length, generator=g).tolist()
            picks = torch.randint(1000, (length,), generator=g).tolist()
            words = [own[p % len(own)] if c < 0.35 else NOISE[p % len(NOISE)] for c, p in zip(coins, picks)]
            self.items.append((torch.tensor([VOCAB[w] for w in words]), y))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def last_states(h_n):
    return torch.cat([h_n[0], h_n[1]], dim=1)


def collate(batch):
    seqs, ys = zip(*batch)
    return pad_sequence(seqs, batch_first=True), torch.tensor([len(s) for s in seqs]), torch.tensor(ys)


class IntentGRU(nn.Module):
    def __init__(self, emb=20, hid=24):
        super().__init__()
        self.emb = nn.Embedding(len(VOCAB), emb, padding_idx=0)
        self.gru = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hid, len(LABELS))

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        _, h_n = self.gru(packed)
        return self.fc(last_states(h_n))


torch.manual_seed(0)
train_dl = DataLoader(Utterances(1500, 1), batch_size=50, shuffle=True, collate_fn=collate)
test_dl = DataLoader(Utterances(500, 2), batch_size=50, collate_fn=collate)
model = IntentGRU()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
ce = nn.CrossEntropyLoss()

for epoch in range(8):
    model.train()
    for x, n, y in train_dl:
        opt.zero_grad()
        loss = ce(model(x, n), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(x, n).argmax(1) == y).sum().item() for x, n, y in test_dl)
    print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {hits / 500:.3f}")
""",
    (
        "    return torch.cat([h_n[0], h_n[1]], dim=1)",
        "    return h_n.view(h_n.size(1), -1)",
    ),
)

fault(
    "sequence to sequence, sorting digits",
    "The targets of the loss are the same tokens that the decoder is fed (not shifted by one), so it learns to copy its input: the loss goes to zero and free-running decoding repeats <bos>.",
    ("target given",),
    (59,),
    """\
import torch
from torch import nn

PAD, BOS, EOS = 0, 1, 2
DIGITS = list(range(3, 13))
SRC_LEN = 6


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(13, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True, bidirectional=True)
        self.project = nn.Linear(2 * dim, dim)
        self.start = nn.Linear(2 * dim, dim)

    def forward(self, src):
        out, h = self.gru(self.embed(src))
        return self.project(out), torch.tanh(self.start(torch.cat([h[0], h[1]], -1)))


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(13, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(2 * dim, 13)

    def forward(self, tokens, memory, h):
        states, h = self.gru(self.embed(tokens), h)
        weights = torch.softmax(states @ memory.transpose(1, 2), dim=-1)
        return self.out(torch.cat([states, weights @ memory], -1)), h


def make_pairs(n):
    src = torch.randint(3, 13, (n, SRC_LEN))
    ends = torch.full((n, 1), BOS), torch.full((n, 1), EOS)
    return src, torch.cat([ends[0], src.sort(1).values, ends[1]], 1)


def greedy(encoder, decoder, src):
    memory, h = encoder(src)
    h, token, said = h.unsqueeze(0), torch.full((len(src), 1), BOS), []
    for _ in range(SRC_LEN + 1):
        logits, h = decoder(token, memory, h)
        token = logits.argmax(-1)
        said.append(token)
    return torch.cat(said, 1)


torch.manual_seed(17)
encoder, decoder = Encoder(48), Decoder(48)
params = [*encoder.parameters(), *decoder.parameters()]
optimizer = torch.optim.Adam(params, lr=4e-3)
for step in range(1, 401):
    src, tgt = make_pairs(64)
    memory, h = encoder(src)
    logits, _ = decoder(tgt[:, :-1], memory, h.unsqueeze(0))
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), tgt[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 5.0)
    optimizer.step()
    if step % 80 == 0:
        with torch.no_grad():
            src, tgt = make_pairs(300)
            exact = (greedy(encoder, decoder, src) == tgt[:, 1:]).all(1).float().mean()
        print(f"step {step}: loss {loss.item():.4f} exact sequences {exact:.3f}")
""",
    (
        "cross_entropy(logits.transpose(1, 2), tgt[:, 1:])",
        "cross_entropy(logits.transpose(1, 2), tgt[:, :-1])",
    ),
)

fault(
    "named entity tagger with padded batches",
    "ignore_index is the padding id of the words, 0, which among the tags is the class O: no ordinary word is ever trained to be O and the tagger sees entities everywhere.",
    ("real padding",),
    (68,),
    """\
import random
import torch
from torch import nn

PAD_WORD = 0
TAGS = ["O", "PER", "LOC", "ORG", "<pad>"]
PAD_TAG = TAGS.index("<pad>")

PEOPLE = ["anna", "boris", "clara", "dmitri", "elena", "farid"]
PLACES = ["oslo", "paris", "quito", "rome", "sofia"]
FIRMS = ["acme", "globex", "initech", "umbrella"]
PLAIN = "the man went to see met in at with bought from visited works for and then later again home".split()
AMBIGUOUS = ["jordan", "austin", "sydney"]  # person after 'met', place after 'in'

WORD_ID = {w: i + 1 for i, w in enumerate(PEOPLE + PLACES + FIRMS + PLAIN + AMBIGUOUS)}


def make_sentence(rng):
    words, tags = [], []
    for _ in range(rng.randint(2, 6)):
        kind = rng.random()
        if kind < 0.12:
            piece = [(rng.choice(PEOPLE), "PER"), (rng.choice(["went", "works", "bought"]), "O")]
        elif kind < 0.24:
            piece = [("in", "O"), (rng.choice(PLACES + AMBIGUOUS), "LOC")]
        elif kind < 0.36:
            piece = [("met", "O"), (rng.choice(PEOPLE + AMBIGUOUS), "PER")]
        elif kind < 0.48:
            piece = [("for", "O"), (rng.choice(FIRMS), "ORG")]
        else:
            piece = [(rng.choice(PLAIN), "O") for _ in range(rng.randint(1, 3))]
        words += [w for w, _ in piece]
        tags += [t for _, t in piece]
    return [WORD_ID[w] for w in words], [TAGS.index(t) for t in tags]


def pad_batch(sentences):
    longest = max(len(w) for w, _ in sentences)
    words = [w + [PAD_WORD] * (longest - len(w)) for w, _ in sentences]
    tags = [t + [PAD_TAG] * (longest - len(t)) for _, t in sentences]
    return torch.tensor(words), torch.tensor(tags)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(WORD_ID) + 1, 24, padding_idx=PAD_WORD)
        self.context = nn.LSTM(24, 32, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(64, len(TAGS))

    def forward(self, words):
        return self.tag(self.context(self.words(words))[0])


def entity_scores(model, sentences):
    words, gold = pad_batch(sentences)
    with torch.no_grad():
        guess = model(words)[..., :PAD_TAG].argmax(-1)
    found, real = (guess > 0) & (words != PAD_WORD), (gold > 0) & (gold != PAD_TAG)
    right = (found & real & (guess == gold)).sum().item()
    return right / max(1, found.sum().item()), right / real.sum().item()


rng = random.Random(6)
torch.manual_seed(6)
train, dev = [make_sentence(rng) for _ in range(1200)], [make_sentence(rng) for _ in range(300)]
model = Tagger()
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD_TAG)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    rng.shuffle(train)
    for i in range(0, len(train), 32):
        words, tags = pad_batch(train[i:i + 32])
        loss = loss_fn(model(words).flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    precision, recall = entity_scores(model, dev)
    print(f"epoch {epoch} loss {loss.item():.4f} precision {precision:.3f} recall {recall:.3f}")
""",
    ("CrossEntropyLoss(ignore_index=PAD_TAG)", "CrossEntropyLoss(ignore_index=PAD_WORD)"),
)
