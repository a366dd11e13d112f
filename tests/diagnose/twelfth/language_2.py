"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "transformer word-by-word translator with Noam schedule",
    "scheduler.step() is called once per epoch though the warm-up is counted in steps, so the rate stays at a few percent of its peak for the whole training",
    ("rate as factor",),
    (50,),
    """\
import torch
import torch.nn as nn

SRC, TGT, LEN, D = 40, 40, 8, 48
torch.manual_seed(2024)
lexicon = torch.randperm(TGT)


def translate(src):
    # target language: words mapped by the lexicon, neighbours swapped
    out = lexicon[src].view(-1, LEN // 2, 2)
    return out.flip(2).reshape(-1, LEN)


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(SRC, D)
        self.pos = nn.Parameter(torch.randn(LEN, D) * 0.5)
        layer = nn.TransformerEncoderLayer(D, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(D, TGT)

    def forward(self, src):
        return self.out(self.enc(self.emb(src) + self.pos))


class Trainer:
    def __init__(self, model, peak_lr=4e-3, warmup=80):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=peak_lr, betas=(0.9, 0.98), eps=1e-9)
        self.sched = torch.optim.lr_scheduler.LambdaLR(
            self.opt, lambda s: min((s + 1) / warmup, (warmup / (s + 1)) ** 0.5))
        self.loss = nn.CrossEntropyLoss()

    def train_step(self, src):
        tgt = translate(src)
        loss = self.loss(self.model(src).transpose(1, 2), tgt)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        return loss.item()

    def fit(self, data, epochs, batch_size=64):
        for epoch in range(epochs):
            losses = []
            for src in data[torch.randperm(len(data))].split(batch_size):
                losses.append(self.train_step(src))
                self.sched.step()
            lr = self.sched.get_last_lr()[0]
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f} lr {lr:.2e}")

    @torch.no_grad()
    def accuracy(self, src):
        self.model.eval()
        return (self.model(src).argmax(-1) == translate(src)).float().mean().item()


sentences = torch.randint(SRC, (3000, LEN))
trainer = Trainer(Translator())
trainer.fit(sentences[:2560], epochs=8)
print(f"held-out word accuracy {trainer.accuracy(sentences[2560:]):.3f}")
""",
    ("                self.sched.step()\n", "            self.sched.step()\n"),
)

fault(
    "adapting a classifier to a new domain vocabulary",
    "the optimizer is made before the embedding table is replaced by a larger one, so it holds the old table and the new words are never trained",
    ("not held",),
    (65, 66),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

BASE_VOCAB, NEW_WORDS, CLASSES = 60, 60, 4


class TopicClassifier(nn.Module):
    def __init__(self, vocab_size, dim=24):
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, dim)
        self.hidden = nn.Linear(dim, 32)
        self.out = nn.Linear(32, CLASSES)

    def forward(self, ids):
        h = self.embeddings(ids).mean(1)
        return self.out(F.relu(self.hidden(h)))

    def resize_token_embeddings(self, new_size):
        old = self.embeddings.weight.data
        new = nn.Embedding(new_size, old.size(1))
        # new words start at the mean of the known ones
        new.weight.data[:] = old.mean(0)
        new.weight.data[: len(old)] = old
        self.embeddings = new


def make_docs(n, first_word, n_words, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(CLASSES, (n,), generator=g)
    per_class = n_words // CLASSES
    on_topic = torch.rand(n, 12, generator=g) < 0.4
    topical = y[:, None] * per_class + torch.randint(per_class, (n, 12), generator=g)
    anything = torch.randint(n_words, (n, 12), generator=g)
    return first_word + torch.where(on_topic, topical, anything), y


def run_epochs(model, optimizer, docs, labels, epochs):
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(docs)).split(32):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(docs[idx]), labels[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        print(f"  epoch {epoch} loss {total / len(docs):.4f}")


def accuracy(model, docs, labels):
    with torch.no_grad():
        return (model(docs).argmax(-1) == labels).float().mean().item()


torch.manual_seed(8)
news, news_y = make_docs(2000, 0, BASE_VOCAB, seed=1)
medical, medical_y = make_docs(2400, BASE_VOCAB, NEW_WORDS, seed=2)

model = TopicClassifier(BASE_VOCAB)
print("news")
run_epochs(model, torch.optim.Adam(model.parameters(), lr=0.01), news, news_y, 4)
print(f"  news accuracy {accuracy(model, news, news_y):.3f}")

print("medical")
model.resize_token_embeddings(BASE_VOCAB + NEW_WORDS)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
run_epochs(model, optimizer, medical[:2000], medical_y[:2000], 6)
print(f"  medical accuracy {accuracy(model, medical[2000:], medical_y[2000:]):.3f}")
""",
    (
        "model.resize_token_embeddings(BASE_VOCAB + NEW_WORDS)\noptimizer = torch.optim.Adam(model.parameters(), lr=0.01)\n",
        "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)\nmodel.resize_token_embeddings(BASE_VOCAB + NEW_WORDS)\n",
    ),
)

fault(
    "language identification with packed GRU",
    "collate sorts the sequences by length but returns the labels in the old order, so words and labels no longer belong together",
    ("unrelated", "apart"),
    (40,),
    """\
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

LANGS = ["aa", "bb", "cc", "dd"]
N_CHARS = 20


class WordDataset(Dataset):
    # every language is a Markov chain over the same letters

    def __init__(self, n, chains, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            lang = torch.randint(len(LANGS), (1,), generator=g).item()
            length = torch.randint(5, 15, (1,), generator=g).item()
            u = torch.randint(3, (length,), generator=g)
            c = torch.randint(N_CHARS, (1,), generator=g).item()
            chars = [c]
            for k in u.tolist():
                c = chains[lang][c][k]
                chars.append(c)
            self.items.append((torch.tensor(chars) + 1, lang))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    seqs, labels = zip(*batch)
    lengths = torch.tensor([len(s) for s in seqs])
    labels = torch.tensor(labels)
    lengths, order = lengths.sort(descending=True)
    padded = pad_sequence([seqs[i] for i in order], batch_first=True)
    return padded, lengths, labels[order]


class LangID(nn.Module):
    def __init__(self, emb=16, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(N_CHARS + 1, emb, padding_idx=0)
        self.gru = nn.GRU(emb, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, len(LANGS))

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True)
        _, h = self.gru(packed)
        return self.head(torch.cat([h[0], h[1]], dim=1))


def main():
    torch.manual_seed(31)
    chains = [[torch.randperm(N_CHARS)[:3].tolist() for _ in range(N_CHARS)] for _ in LANGS]
    train_loader = DataLoader(WordDataset(2400, chains, 1), 32, shuffle=True, collate_fn=collate)
    test_set = WordDataset(400, chains, 2)
    model = LangID()
    optim = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(5):
        model.train()
        seen = 0.0
        for x, lengths, y in train_loader:
            loss = nn.functional.cross_entropy(model(x, lengths), y)
            optim.zero_grad()
            loss.backward()
            optim.step()
            seen += loss.item() * len(y)
        print(f"epoch {epoch} train loss {seen / 2400:.3f}")
    model.eval()
    hits = 0
    with torch.no_grad():
        for seq, lang in test_set:
            pred = model(seq[None], torch.tensor([len(seq)])).argmax(1)
            hits += int(pred.item() == lang)
    print(f"test accuracy {hits / len(test_set):.3f}")


main()
""",
    ("return padded, lengths, labels[order]", "return padded, lengths, labels"),
)

fault(
    "CRF tagger with own forward algorithm",
    "the partition function is computed with exp and log instead of logsumexp; the scores overflow as they grow and the loss becomes inf and then NaN",
    ("not finite",),
    (38,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(4)
TAGS, WORDS, T = 5, 60, 40

# hidden Markov data: tags follow each other cyclically most of the time
gen = torch.Generator().manual_seed(17)


def sample(n):
    tags = torch.zeros(n, T, dtype=torch.long)
    tags[:, 0] = torch.randint(TAGS, (n,), generator=gen)
    for t in range(1, T):
        stay = torch.rand(n, generator=gen) < 0.3
        tags[:, t] = torch.where(stay, tags[:, t - 1], (tags[:, t - 1] + 1) % TAGS)
    own = tags * (WORDS // TAGS) + torch.randint(WORDS // TAGS, (n, T), generator=gen)
    any_word = torch.randint(WORDS, (n, T), generator=gen)
    ambiguous = torch.rand(n, T, generator=gen) < 0.4
    return torch.where(ambiguous, any_word, own), tags


class CRF(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(WORDS, 24)
        self.emit = nn.Linear(24, TAGS)
        self.trans = nn.Parameter(torch.zeros(TAGS, TAGS))
        nn.init.normal_(self.emb.weight, std=0.1)

    def emissions(self, words):
        return self.emit(self.emb(words))

    def log_partition(self, em):
        alpha = em[:, 0]
        for t in range(1, em.size(1)):
            scores = alpha.unsqueeze(2) + self.trans + em[:, t].unsqueeze(1)
            alpha = torch.logsumexp(scores, dim=1)
        return torch.logsumexp(alpha, dim=1)

    def path_score(self, em, tags):
        s = em.gather(2, tags.unsqueeze(2)).squeeze(2).sum(1)
        return s + self.trans[tags[:, :-1], tags[:, 1:]].sum(1)

    def neg_log_likelihood(self, words, tags):
        em = self.emissions(words)
        return (self.log_partition(em) - self.path_score(em, tags)).mean()

    def viterbi(self, words):
        em = self.emissions(words)
        score, back = em[:, 0], []
        for t in range(1, em.size(1)):
            best, idx = (score.unsqueeze(2) + self.trans).max(1)
            score = best + em[:, t]
            back.append(idx)
        path = [score.argmax(1)]
        for idx in reversed(back):
            path.append(idx.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        return torch.stack(path[::-1], 1)


words, tags = sample(1200)
crf = CRF()
opt = torch.optim.Adam(crf.parameters(), lr=0.03)
for epoch in range(5):
    for i in range(0, 1000, 25):
        loss = crf.neg_log_likelihood(words[i:i + 25], tags[i:i + 25])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (crf.viterbi(words[1000:]) == tags[1000:]).float().mean()
    print(f"epoch {epoch} nll {loss.item():.2f} tag accuracy {acc:.3f}")
""",
    ("alpha = torch.logsumexp(scores, dim=1)", "alpha = torch.log(torch.exp(scores).sum(dim=1))"),
)

fault(
    "convolutional sentence classifier",
    "F.dropout is called without training=self.training, so it stays on under model.eval() and predictions on the dev set are made with most features dropped",
    ("draws always",),
    (18,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class TextCNN(nn.Module):
    def __init__(self, vocab, n_classes, dim=24, channels=12, widths=(2, 3), p=0.7):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.convs = nn.ModuleList([nn.Conv1d(dim, channels, w) for w in widths])
        self.fc = nn.Linear(channels * len(widths), n_classes)
        self.p = p

    def forward(self, x):
        e = self.emb(x).transpose(1, 2)
        feats = [F.relu(conv(e)).max(dim=2).values for conv in self.convs]
        z = torch.cat(feats, dim=1)
        z = F.dropout(z, self.p, training=self.training)
        return self.fc(z)


def make_data(n, vocab, n_classes, bigrams, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randint(vocab, (n, 15), generator=g)
    y = torch.randint(n_classes, (n,), generator=g)
    for k in (1, 8):
        which = torch.randint(3, (n,), generator=g)
        at = k + torch.randint(5, (n,), generator=g)
        pair = bigrams[y, which]
        x[torch.arange(n), at] = pair[:, 0]
        x[torch.arange(n), at + 1] = pair[:, 1]
    return x, y


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    model.train()
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


torch.manual_seed(12)
VOCAB, CLASSES = 50, 6
bigrams = torch.randperm(VOCAB)[: CLASSES * 6].view(CLASSES, 3, 2)
x_train, y_train = make_data(4000, VOCAB, CLASSES, bigrams, 1)
x_dev, y_dev = make_data(800, VOCAB, CLASSES, bigrams, 2)

model = TextCNN(VOCAB, CLASSES)
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(10):
    for idx in torch.randperm(len(x_train)).split(50):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        dev_loss, dev_acc = evaluate(model, x_dev, y_dev)
        print(f"epoch {epoch + 1} dev loss {dev_loss:.3f} dev acc {dev_acc:.3f}")
""",
    ("z = F.dropout(z, self.p, training=self.training)", "z = F.dropout(z, self.p)"),
)

fault(
    "encoder-decoder with dot attention, dates to ISO",
    "Adam with a rate of 0.5, about a hundred times too high: the weights blow up, the GRUs saturate and the loss stays hundreds of times the healthy version's, no date comes out right",
    ("too large",),
    (63,),
    """\
import random
import torch
import torch.nn as nn

random.seed(10)
torch.manual_seed(10)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
CHARS = ["<s>"] + sorted(set("".join(MONTHS) + "0123456789 -"))
char_id = {c: i for i, c in enumerate(CHARS)}


def encode(s):
    return [char_id[c] for c in s]


def random_date():
    d, m, y = random.randint(1, 28), random.randint(1, 12), random.randint(0, 99)
    return f"{d:02d} {MONTHS[m - 1]} {y:02d}", f"{y:02d}-{m:02d}-{d:02d}"


def dataset(n):
    src, tgt = zip(*(random_date() for _ in range(n)))
    return torch.tensor([encode(s) for s in src]), torch.tensor([encode(t) for t in tgt])


class Seq2Seq(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(len(CHARS), dim)
        self.encoder = nn.GRU(dim, dim // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(2 * dim, len(CHARS))

    def encode(self, src):
        memory, h = self.encoder(self.emb(src))
        return memory, torch.cat([h[0], h[1]], 1).unsqueeze(0)

    def decode(self, prev, memory, h):
        states, h = self.decoder(self.emb(prev), h)
        weights = (states @ memory.transpose(1, 2)).softmax(-1)
        return self.out(torch.cat([states, weights @ memory], -1)), h

    def forward(self, src, tgt):
        memory, h = self.encode(src)
        start = torch.zeros_like(tgt[:, :1])
        logits, _ = self.decode(torch.cat([start, tgt[:, :-1]], 1), memory, h)
        return logits

    @torch.no_grad()
    def translate(self, src, steps):
        memory, h = self.encode(src)
        token, result = torch.zeros(len(src), 1, dtype=torch.long), []
        for _ in range(steps):
            logits, h = self.decode(token, memory, h)
            token = logits.argmax(-1)
            result.append(token)
        return torch.cat(result, 1)


src, tgt = dataset(3000)
test_src, test_tgt = dataset(300)
model = Seq2Seq()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    total = 0.0
    perm = torch.randperm(len(src))
    for batch in perm.split(50):
        logits = model(src[batch], tgt[batch])
        loss = criterion(logits.reshape(-1, len(CHARS)), tgt[batch].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 60
    exact = (model.translate(test_src, 8) == test_tgt).all(1).float().mean().item()
    print(f"epoch {epoch} loss {total:.3f} exact match {exact:.3f}")
""",
    ("lr=0.005", "lr=0.5"),
)
