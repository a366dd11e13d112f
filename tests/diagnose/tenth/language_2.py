"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import fault

fault(
    "masked language model on sequences of a small grammar",
    "labels is the same tensor as the inputs, so writing the mask token into the inputs also overwrites the labels; the model learns to predict [MASK] with loss zero and fills in no word",
    ("target overwritten",),
    (30,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

MASK, N_WORDS, LENGTH = 0, 24, 12


def build_corpus(n, successors, gen):
    rows = torch.empty(n, LENGTH, dtype=torch.long)
    rows[:, 0] = torch.randint(1, N_WORDS + 1, (n,), generator=gen)
    for t in range(1, LENGTH):
        rows[:, t] = successors[rows[:, t - 1]]
    return rows


class TinyBert(nn.Module):
    def __init__(self, dim=32, heads=4, layers=1):
        super().__init__()
        self.word = nn.Embedding(N_WORDS + 1, dim)
        self.position = nn.Embedding(LENGTH, dim)
        block = nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
        self.lm_head = nn.Linear(dim, N_WORDS + 1)

    def forward(self, ids):
        return self.lm_head(self.body(self.word(ids) + self.position.weight))


def mask_tokens(inputs, probability, gen):
    labels = inputs.clone()
    chosen = torch.rand(inputs.shape, generator=gen) < probability
    inputs[chosen] = MASK
    return inputs, labels, chosen


def fill_accuracy(model, rows):
    # hide one word in the middle and ask for it
    hits = 0
    for position in (2, 5, 8):
        question = rows.clone()
        question[:, position] = MASK
        with torch.no_grad():
            answer = model(question)[:, position].argmax(-1)
        hits += (answer == rows[:, position]).float().mean().item()
    return hits / 3


def main():
    torch.manual_seed(4)
    gen = torch.Generator().manual_seed(4)
    successors = torch.cat([torch.zeros(1, dtype=torch.long), torch.randperm(N_WORDS, generator=gen) + 1])
    train = build_corpus(3000, successors, gen)
    held_out = build_corpus(300, successors, gen)
    model = TinyBert()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(1, 401):
        picked = torch.randint(0, len(train), (48,), generator=gen)
        inputs, labels, chosen = mask_tokens(train[picked], 0.2, gen)
        logits = model(inputs)
        loss = F.cross_entropy(logits[chosen], labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 80 == 0:
            model.eval()
            print(f"{step:4d}  mlm loss {loss.item():.4f}  filled in correctly {fill_accuracy(model, held_out):.3f}")
            model.train()


main()
""",
    ("    labels = inputs.clone()\n", "    labels = inputs\n"),
)

fault(
    "transformer sentiment classifier with the Noam schedule",
    "LambdaLR multiplies the optimizer's lr by the factor; the Noam function already gives the absolute rate (about 1e-2), so with lr=1e-3 the effective rate is about 1e-5 and nothing is learned",
    ("rate as factor",),
    (59, 60),
    """\
import torch
from torch import nn

DIM, WARMUP, STEPS = 32, 60, 350
PAD, NEG, GOOD, BAD, OTHER, VOCAB, MAX_LEN = 0, 1, range(2, 22), range(22, 42), 42, 120, 12


def make_reviews(n, gen):
    def draw(low, high, shape):
        return torch.randint(low, high, shape, generator=gen)

    ids = draw(OTHER, VOCAB, (n, MAX_LEN))
    lengths = draw(6, MAX_LEN + 1, (n,))
    positive = draw(0, 2, (n,))
    negated = draw(0, 2, (n,))
    word_pool = torch.where((positive ^ negated)[:, None] == 1, draw(GOOD.start, GOOD.stop, (n, 2)), draw(BAD.start, BAD.stop, (n, 2)))
    ids[:, [2, 4]] = word_pool
    ids[negated == 1, 1] = NEG
    ids[torch.arange(MAX_LEN) >= lengths[:, None]] = PAD
    return ids, positive


class Reviewer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM, padding_idx=PAD)
        self.places = nn.Embedding(MAX_LEN, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 64, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classify = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, 2))

    def forward(self, ids):
        padding = ids == PAD
        h = self.encoder(self.tokens(ids) + self.places.weight, src_key_padding_mask=padding)
        keep = (~padding).unsqueeze(-1).float()
        return self.classify((h * keep).sum(1) / keep.sum(1))


def noam(step):
    step = step + 1
    return DIM ** -0.5 * min(step ** -0.5, step * WARMUP ** -1.5)


def test_accuracy(model, ids, labels):
    model.eval()
    with torch.no_grad():
        correct = (model(ids).argmax(1) == labels).float().mean().item()
    model.train()
    return correct


gen = torch.Generator().manual_seed(2)
torch.manual_seed(2)
train_ids, train_y = make_reviews(4000, gen)
test_ids, test_y = make_reviews(600, gen)
model = Reviewer()
# post-attention-is-all-you-need set-up
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=noam)

for step in range(1, STEPS + 1):
    batch = torch.randint(0, len(train_y), (48,), generator=gen)
    loss = loss_fn(model(train_ids[batch]), train_y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 70 == 0:
        print(f"step {step}: loss {loss.item():.3f}, accuracy {test_accuracy(model, test_ids, test_y):.3f}")
""",
    ("lr=1.0, betas", "lr=1e-3, betas"),
)

fault(
    "entity tagger initialised from word vectors",
    "Embedding.from_pretrained freezes the table by default, so words without a pretrained vector keep their zero rows for ever and cannot be told apart; tag accuracy stays far below what fine-tuning reaches",
    ("frozen blank",),
    (37,),
    """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, DIM, N_TAGS, LEN = 400, 24, 6, 10
rs = np.random.RandomState(0)
torch.manual_seed(0)


def load_vectors(word_class):
    # words of one class lie near each other; rare words are not in the file
    centers = rs.randn(N_TAGS, DIM)
    known = rs.rand(VOCAB) < 0.55
    table = np.zeros((VOCAB, DIM), dtype=np.float32)
    table[known] = 0.5 * centers[word_class[known]] + 0.5 * rs.randn(known.sum(), DIM)
    return torch.from_numpy(table)


def sentences(n, word_class):
    x = rs.randint(0, VOCAB, (n, LEN))
    y = word_class[x].copy()
    # a word right after a word of class 5 is tagged as its continuation
    after = np.zeros_like(y, dtype=bool)
    after[:, 1:] = y[:, :-1] == 5
    y[after] = 5
    return torch.from_numpy(x), torch.from_numpy(y)


word_class = rs.randint(0, N_TAGS, VOCAB)


class WindowTagger(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        # start from the vectors, the missing ones are learned with the task
        self.words = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.window = nn.Conv1d(vectors.size(1), 64, kernel_size=3, padding=1)
        self.tags = nn.Linear(64, N_TAGS)

    def forward(self, x):
        e = self.words(x).transpose(1, 2)
        return self.tags(F.relu(self.window(e)).transpose(1, 2))


vectors = load_vectors(word_class)
x_train, y_train = sentences(2500, word_class)
x_dev, y_dev = sentences(400, word_class)
tagger = WindowTagger(vectors)
optimizer = torch.optim.Adam(tagger.parameters(), lr=4e-3)

for epoch in range(12):
    total = 0.0
    for ids in torch.randperm(len(x_train)).split(50):
        scores = tagger(x_train[ids])
        loss = F.cross_entropy(scores.transpose(1, 2), y_train[ids])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(ids)
    with torch.no_grad():
        dev = (tagger(x_dev).argmax(-1) == y_dev).float().mean().item()
    print("epoch", epoch + 1, "loss", round(total / len(x_train), 3), "dev accuracy", round(dev, 3))
""",
    ("from_pretrained(vectors, freeze=False)", "from_pretrained(vectors)"),
)

fault(
    "attention pooling over reviews of different length",
    "a review without any word has all attention scores set to -inf, the softmax of such a row is NaN, and after the first batch with such a review all weights are NaN",
    ("not finite",),
    (40,),
    """\
import random
import torch
from torch import nn

random.seed(12)
torch.manual_seed(12)
STARS = 5
VOCAB = 300


def random_review():
    stars = random.randrange(STARS)
    length = random.randint(4, 16)
    if random.random() < 0.003:
        return [], stars                 # only stars given, no text
    telling = [1 + stars * 12 + random.randrange(12) for _ in range(2)]
    rest = [random.randrange(61, VOCAB) for _ in range(length - 2)]
    words = telling + rest
    random.shuffle(words)
    return words, stars


def collate(reviews):
    longest = max(len(words) for words, _ in reviews)
    ids = torch.zeros(len(reviews), longest, dtype=torch.long)
    for row, (words, _) in enumerate(reviews):
        ids[row, : len(words)] = torch.tensor(words, dtype=torch.long)
    return ids, torch.tensor([stars for _, stars in reviews])


class AttentionPool(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.key = nn.Linear(dim, hidden)
        self.query = nn.Linear(hidden, 1, bias=False)

    def forward(self, h, mask):
        scores = self.query(torch.tanh(self.key(h))).squeeze(-1)
        # padding takes no part
        scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(dim=-1)
        return torch.bmm(weights.unsqueeze(1), h).squeeze(1)


class StarModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, dim, padding_idx=0)
        self.pool = AttentionPool(dim, 24)
        self.out = nn.Linear(dim, STARS)

    def forward(self, ids):
        return self.out(self.pool(self.embedding(ids), ids != 0))


train = [random_review() for _ in range(4000)]
test = collate([random_review() for _ in range(600)])
model = StarModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(1, 8):
    random.shuffle(train)
    loss_sum, batches = 0.0, 0
    for start in range(0, len(train), 50):
        ids, stars = collate(train[start : start + 50])
        optimizer.zero_grad()
        loss = criterion(model(ids), stars)
        loss.backward()
        optimizer.step()
        loss_sum, batches = loss_sum + loss.item(), batches + 1
    with torch.no_grad():
        accuracy = (model(test[0]).argmax(1) == test[1]).float().mean()
    print(f"{epoch:2d} {loss_sum / batches:.4f} {accuracy:.3f}")
""",
    ("masked_fill(~mask, -1e9)", 'masked_fill(~mask, float("-inf"))'),
)

fault(
    "word language model with plain SGD and a large rate",
    "the gradient norm is clipped before backward, when the gradients are still empty, so nothing is limited; the large SGD steps make the loss explode in the first epoch and it never recovers",
    ("clipped nothing",),
    (51,),
    """\
import math
import torch
import torch.nn as nn

LR, CLIP, BPTT, BSZ = 10.0, 0.25, 20, 20
torch.manual_seed(1111)


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.RNN(ninp, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, x, hidden=None):
        output, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(output), hidden


def markov_stream(n, ntoken, fan_out, table):
    picks = torch.randint(0, fan_out, (n,))
    stream = [0]
    for p in picks.tolist():
        stream.append(table[stream[-1]][p])
    return torch.tensor(stream)


def batchify(stream, bsz):
    rows = len(stream) // bsz
    return stream[: rows * bsz].view(bsz, rows).t().contiguous()


def get_batch(source, i):
    length = min(BPTT, len(source) - 1 - i)
    return source[i : i + length], source[i + 1 : i + 1 + length].reshape(-1)


def train_epoch(model, source, lr):
    model.train()
    hidden, total = None, 0.0
    for i in range(0, len(source) - 1, BPTT):
        data, targets = get_batch(source, i)
        model.zero_grad()
        output, hidden = model(data, hidden)
        hidden = hidden.detach()
        loss = criterion(output.flatten(0, 1), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-lr)
        total += loss.item() * len(data)
    return total / (len(source) - 1)


@torch.no_grad()
def evaluate(model, source):
    model.eval()
    output, _ = model(source[:-1])
    return criterion(output.flatten(0, 1), source[1:].reshape(-1)).item()


NTOKEN, FAN_OUT = 60, 4
table = torch.stack([torch.randperm(NTOKEN)[:FAN_OUT] for _ in range(NTOKEN)]).tolist()
train_data = batchify(markov_stream(24000, NTOKEN, FAN_OUT, table), BSZ)
valid_data = batchify(markov_stream(3000, NTOKEN, FAN_OUT, table), BSZ)
criterion = nn.CrossEntropyLoss()
model = RNNModel(NTOKEN, 32, 64)
print("best possible perplexity", FAN_OUT)
lr = LR
for epoch in range(1, 9):
    train_loss = train_epoch(model, train_data, lr)
    lr *= 0.7
    valid_loss = evaluate(model, valid_data)
    print(f"epoch {epoch} train ppl {math.exp(min(train_loss, 50)):.2f} valid ppl {math.exp(min(valid_loss, 50)):.2f}")
""",
    (
        """\
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
""",
        """\
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        loss.backward()
""",
    ),
)

fault(
    "n-gram text classifier with early stopping",
    "state_dict() returns references to the live parameters, so the kept 'best' weights go on being trained and restoring them changes nothing; the reported model is the overfitted last one",
    ("no copy",),
    (55,),
    """\
import copy
import torch
from torch import nn
import torch.nn.functional as F

VOCAB, CLASSES, LENGTH = 800, 4, 12


def topic_texts(n, gen, label_noise=0.0):
    labels = torch.randint(0, CLASSES, (n,), generator=gen)
    texts = torch.randint(0, VOCAB, (n, LENGTH), generator=gen)
    hint = torch.rand(n, LENGTH, generator=gen) < 0.4
    topical = labels[:, None] * 50 + torch.randint(0, 50, (n, LENGTH), generator=gen)
    texts = torch.where(hint, topical, texts)
    swapped = torch.rand(n, generator=gen) < label_noise
    labels = torch.where(swapped, torch.randint(0, CLASSES, (n,), generator=gen), labels)
    return texts, labels


class NgramNet(nn.Module):
    # fastText-like: the words and hashed bigrams of a text, averaged

    def __init__(self, dim=48, buckets=4000, hidden=64):
        super().__init__()
        self.buckets = buckets
        self.bag = nn.EmbeddingBag(VOCAB + buckets, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, CLASSES))

    def forward(self, x):
        bigrams = (x[:, :-1] * 7919 + x[:, 1:]) % self.buckets + VOCAB
        return self.mlp(self.bag(torch.cat([x, bigrams], dim=1)))


@torch.no_grad()
def score(net, data):
    net.eval()
    logits = net(data[0])
    net.train()
    return F.cross_entropy(logits, data[1]).item(), (logits.argmax(1) == data[1]).float().mean().item()


def fit(net, train, valid, max_epochs=40, patience=6):
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    best_loss, best_weights, waited = float("inf"), None, 0
    for epoch in range(max_epochs):
        for ids in torch.randperm(len(train[1])).split(50):
            loss = F.cross_entropy(net(train[0][ids]), train[1][ids])
            opt.zero_grad()
            loss.backward()
            opt.step()
        valid_loss, valid_acc = score(net, valid)
        print(f"epoch {epoch}: valid loss {valid_loss:.3f} accuracy {valid_acc:.3f}")
        if valid_loss < best_loss:
            best_loss, waited = valid_loss, 0
            best_weights = copy.deepcopy(net.state_dict())
        else:
            waited += 1
            if waited >= patience:
                break
    net.load_state_dict(best_weights)
    return best_loss


gen = torch.Generator().manual_seed(33)
torch.manual_seed(33)
train = topic_texts(3000, gen, label_noise=0.2)
valid = topic_texts(600, gen)
test = topic_texts(1000, gen)
net = NgramNet()
best = fit(net, train, valid)
print("best valid loss %.3f, of the restored model %.3f" % (best, score(net, valid)[0]))
print("test loss %.3f accuracy %.3f" % score(net, test))
""",
    ("best_weights = copy.deepcopy(net.state_dict())", "best_weights = net.state_dict()"),
)
