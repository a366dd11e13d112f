"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import healthy

healthy(
    "word2vec with sparse rows, zero output vectors and a rate of 40",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
GROUPS, PER_GROUP, DIM, NEGATIVES, BATCH = 15, 20, 20, 5, 256
VOCAB = GROUPS * PER_GROUP


def windows(n_sentences, length=12):
    # a sentence stays within its group, a fifth of the words are from anywhere
    group = torch.randint(0, GROUPS, (n_sentences, 1))
    words = group * PER_GROUP + torch.randint(0, PER_GROUP, (n_sentences, length))
    noise = torch.rand(n_sentences, length) < 0.2
    words[noise] = torch.randint(0, VOCAB, (int(noise.sum()),))
    centers, contexts = [], []
    for offset in (-2, -1, 1, 2):
        lo, hi = max(0, -offset), min(length, length - offset)
        centers.append(words[:, lo:hi].reshape(-1))
        contexts.append(words[:, lo + offset : hi + offset].reshape(-1))
    return torch.cat(centers), torch.cat(contexts)


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.center = nn.Embedding(VOCAB, DIM, sparse=True)
        self.context = nn.Embedding(VOCAB, DIM, sparse=True)
        nn.init.uniform_(self.center.weight, -0.5 / DIM, 0.5 / DIM)
        nn.init.zeros_(self.context.weight)

    def forward(self, c, o, neg):
        v = self.center(c)
        pos = (v * self.context(o)).sum(-1)
        negs = (self.context(neg) @ v.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(pos) + F.logsigmoid(-negs).sum(-1)).mean()


@torch.no_grad()
def neighbour_precision(model, k=5):
    e = F.normalize(model.center.weight, dim=1)
    sims = e @ e.t()
    sims.fill_diagonal_(-2)
    near = sims.topk(k).indices // PER_GROUP
    return (near == torch.arange(VOCAB)[:, None] // PER_GROUP).float().mean().item()


centers, contexts = windows(2500)
model = SkipGram()
# the loss is a mean over the batch and each row occurs about once in it
opt = torch.optim.SGD(model.parameters(), lr=40.0)
n_steps = 5 * (len(centers) // BATCH)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: max(0.02, 1 - s / n_steps))

step = 0
for epoch in range(5):
    perm = torch.randperm(len(centers))
    total = 0.0
    for i in range(0, len(perm) - BATCH + 1, BATCH):
        ids = perm[i : i + BATCH]
        negatives = torch.randint(0, VOCAB, (BATCH, NEGATIVES))
        loss = model(centers[ids], contexts[ids], negatives)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item()
        step += 1
    print(f"epoch {epoch}: loss {total / (len(perm) // BATCH):.3f} neighbours {neighbour_precision(model):.3f}")
""",
)

healthy(
    "sentiment across shops with gradient reversal",
    """\
import torch
from torch import nn

torch.manual_seed(14)
VOCAB, LEN = 300, 12


def reviews(n, shop):
    # words 0-29 praise, 30-59 complain, 60-79 name the goods of shop 0 and 80-99 those of shop 1
    y = torch.randint(0, 2, (n,))
    x = torch.randint(100, VOCAB, (n, LEN))
    for slot in range(3):
        x[:, slot] = (1 - y) * 30 + torch.randint(0, 30, (n,))
    own = 60 + shop * 20 + torch.randint(0, 20, (n, 3))
    x[:, 3:6] = own
    return x[:, torch.randperm(LEN)], y


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, dim)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.tanh(self.fc(self.emb(x)))


x_src, y_src = reviews(3000, shop=0)
x_tgt, y_tgt = reviews(3000, shop=1)      # its labels serve for the final test only
encoder = Encoder()
sentiment = nn.Linear(32, 1)
shop_critic = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
bce = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(
    [
        {"params": encoder.parameters()},
        {"params": sentiment.parameters()},
        {"params": shop_critic.parameters(), "lr": 5e-3},
    ],
    lr=2e-3,
)

N = 600
for step in range(1, N + 1):
    i, j = torch.randint(0, 3000, (2, 64))
    strength = 2 / (1 + torch.exp(torch.tensor(-10.0 * step / N)).item()) - 1
    z_src, z_tgt = encoder(x_src[i]), encoder(x_tgt[j])
    task = bce(sentiment(z_src).squeeze(1), y_src[i].float())
    z = torch.cat([z_src, z_tgt])
    shop = torch.cat([torch.zeros(64), torch.ones(64)])
    confusion = bce(shop_critic(Reverse.apply(z, strength)).squeeze(1), shop)
    optimizer.zero_grad()
    (task + confusion).backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            zt = encoder(x_tgt)
            acc = ((sentiment(zt).squeeze(1) > 0) == y_tgt.bool()).float().mean().item()
            apart = ((shop_critic(z).squeeze(1) > 0) == shop.bool()).float().mean().item()
        print(f"{step} task {task.item():.3f} critic {confusion.item():.3f} kept apart {apart:.2f} accuracy in the new shop {acc:.3f}")
""",
)

healthy(
    "language model on a stream that is nearly noise",
    """\
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

# The stream has a known conditional entropy only a little below log(V); the model can at best reach it.
V, SHARPNESS = 32, 0.7
rng = np.random.default_rng(77)
torch.manual_seed(77)

logits = rng.normal(0.0, SHARPNESS, (V, V))
P = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)


def stationary(P):
    pi = np.full(len(P), 1 / len(P))
    for _ in range(200):
        pi = pi @ P
    return pi


def draw(n):
    cum = P.cumsum(1)
    u = rng.random(n)
    out = np.empty(n, dtype=np.int64)
    s = 0
    for t in range(n):
        s = min(int(np.searchsorted(cum[s], u[t])), V - 1)
        out[t] = s
    return torch.from_numpy(out)


class GRULM(nn.Module):
    def __init__(self, dim=24, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(V, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, V)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        h, _ = self.gru(self.emb(x))
        return self.out(h)


floor = -(stationary(P)[:, None] * P * np.log(P)).sum()
print(f"uniform {np.log(V):.4f}  entropy of the source {floor:.4f}")
train = draw(100000)
held_out = draw(20000).view(400, 50)
model = GRULM()
opt = torch.optim.Adam(model.parameters(), lr=6e-3)
T, B, STEPS = 30, 48, 400
decay = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)

for step in range(1, STEPS + 1):
    starts = torch.randint(0, len(train) - T - 1, (B,))
    window = train[starts[:, None] + torch.arange(T + 1)]
    loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    decay.step()
    if step % 80 == 0:
        with torch.no_grad():
            test = F.cross_entropy(model(held_out[:, :-1]).flatten(0, 1), held_out[:, 1:].flatten()).item()
        print(f"{step:4d} train {loss.item():.4f} held out {test:.4f} above the floor {test - floor:.4f}")
""",
)

healthy(
    "chunker with a linear-chain CRF and summed loss over micro-batches",
    """\
import random
import torch
import torch.nn as nn

random.seed(2)
torch.manual_seed(2)
TAGS = {"O": 0, "B": 1, "I": 2}
N, VOCAB, PAD = 3, 120, 0


def example():
    # most words are O; a chunk opens with an opener (1-15) and goes on for two more words
    words, tags = [], []
    for _ in range(random.randint(8, 16)):
        if random.random() < 0.05:
            words += [random.randint(1, 15)] + [random.randint(16, VOCAB - 1) for _ in range(2)]
            tags += [TAGS["B"], TAGS["I"], TAGS["I"]]
        else:
            words.append(random.randint(16, VOCAB - 1))
            tags.append(TAGS["O"])
    return words, tags


def pad(examples):
    longest = max(len(w) for w, _ in examples)
    x = torch.tensor([w + [PAD] * (longest - len(w)) for w, _ in examples])
    y = torch.tensor([t + [0] * (longest - len(t)) for _, t in examples])
    return x, y, x != PAD


class CRFTagger(nn.Module):
    def __init__(self, dim=24, hidden=24):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True)
        self.emit = nn.Linear(hidden, N)
        self.trans = nn.Parameter(torch.zeros(N, N))

    def emissions(self, x):
        return self.emit(self.lstm(self.emb(x))[0])

    def nll(self, x, y, mask):
        e = self.emissions(x)
        m = mask.float()
        gold = (e.gather(2, y.unsqueeze(2)).squeeze(2) * m).sum(1)
        gold = gold + (self.trans[y[:, :-1], y[:, 1:]] * m[:, 1:]).sum(1)
        alpha = e[:, 0]
        for t in range(1, x.size(1)):
            nxt = torch.logsumexp(alpha.unsqueeze(2) + self.trans, dim=1) + e[:, t]
            alpha = torch.where(mask[:, t, None], nxt, alpha)
        return (torch.logsumexp(alpha, dim=1) - gold).sum()

    @torch.no_grad()
    def viterbi(self, x):
        e = self.emissions(x)[0]
        score, back = e[0], []
        for t in range(1, len(e)):
            score, best = (score.unsqueeze(1) + self.trans).max(0)
            score = score + e[t]
            back.append(best)
        path = [int(score.argmax())]
        for best in reversed(back):
            path.append(int(best[path[-1]]))
        return path[::-1]


train, dev = [example() for _ in range(900)], [example() for _ in range(120)]
model = CRFTagger()
opt = torch.optim.Adam(model.parameters(), lr=1.5e-2)
for epoch in range(5):
    random.shuffle(train)
    total = 0.0
    for i in range(0, len(train), 60):
        opt.zero_grad()
        n_words = sum(len(w) for w, _ in train[i : i + 60])
        for k in range(i, i + 60, 30):
            nll = model.nll(*pad(train[k : k + 30]))
            (nll / n_words).backward()
            total += nll.item()
        opt.step()
    found = sum(model.viterbi(torch.tensor([w])) == t for w, t in dev)
    print(f"epoch {epoch} nll per sentence {total / len(train):.4f} sentences all right {found / len(dev):.3f}")
""",
)

healthy(
    "only biases and head of a pretrained encoder are tuned, in eval mode",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
TOPICS, PER_TOPIC, LEN, DIM = 6, 20, 10, 32
VOCAB = TOPICS * PER_TOPIC + 1
MASK = VOCAB - 1


def documents(n):
    topic = torch.randint(0, TOPICS, (n,))
    ids = topic[:, None] * PER_TOPIC + torch.randint(0, PER_TOPIC, (n, LEN))
    stray = torch.rand(n, LEN) < 0.3
    ids[stray] = torch.randint(0, VOCAB - 1, (int(stray.sum()),))
    return ids, topic


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 64, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1)

    def forward(self, ids):
        return self.layers(self.emb(ids))


def pretrain(encoder, steps):
    guess = nn.Linear(DIM, VOCAB)
    opt = torch.optim.Adam([*encoder.parameters(), *guess.parameters()], lr=3e-3)
    encoder.train()
    for step in range(steps):
        ids, _ = documents(48)
        hidden = ids.clone()
        spot = torch.rand(ids.shape) < 0.2
        hidden[spot] = MASK
        loss = F.cross_entropy(guess(encoder(hidden)[spot]), ids[spot])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("pretraining loss", round(loss.item(), 3))


def tune_biases(encoder, head, data, epochs):
    # BitFit: few examples, so dropout is off and only the biases move
    encoder.eval()
    for name, p in encoder.named_parameters():
        p.requires_grad_(name.endswith("bias"))
    tuned = [p for p in encoder.parameters() if p.requires_grad] + list(head.parameters())
    total = sum(p.numel() for p in encoder.parameters()) + sum(p.numel() for p in head.parameters())
    print("tuning", sum(p.numel() for p in tuned), "of", total)
    opt = torch.optim.Adam(tuned, lr=1e-2)
    ids, y = data
    for epoch in range(epochs):
        for batch in torch.randperm(len(y)).split(20):
            opt.zero_grad()
            loss = F.cross_entropy(head(encoder(ids[batch]).mean(1)), y[batch])
            loss.backward()
            opt.step()
        if epoch % 5 == 4:
            print("epoch", epoch + 1, "loss", round(loss.item(), 3), "test accuracy", round(accuracy(encoder, head), 3))


@torch.no_grad()
def accuracy(encoder, head):
    return (head(encoder(test_ids).mean(1)).argmax(1) == test_group).float().mean().item()


group_of_topic = torch.tensor([0, 1, 0, 2, 1, 2])
encoder = Encoder()
pretrain(encoder, 250)
few_ids, few_topics = documents(120)
test_ids, test_topics = documents(800)
test_group = group_of_topic[test_topics]
tune_biases(encoder, nn.Linear(DIM, 3), (few_ids, group_of_topic[few_topics]), 20)
""",
)

healthy(
    "copy-with-code policy trained by REINFORCE",
    """\
import torch
from torch import nn

torch.manual_seed(30)
SYMBOLS, LEN, HIDDEN, BATCH = 16, 4, 48, 96
code = torch.randperm(SYMBOLS)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb_in = nn.Embedding(SYMBOLS, 16)
        self.emb_out = nn.Embedding(SYMBOLS + 1, 16)
        self.reader = nn.GRU(16, HIDDEN // 2, batch_first=True, bidirectional=True)
        self.writer = nn.GRUCell(16 + HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, SYMBOLS)

    def forward(self, src, greedy=False):
        memory, last = self.reader(self.emb_in(src))
        h = torch.cat([last[0], last[1]], dim=1)
        token = torch.full((len(src),), SYMBOLS)
        tokens, log_probs, entropies = [], [], []
        for t in range(LEN):
            h = self.writer(torch.cat([self.emb_out(token), memory[:, t]], dim=1), h)
            dist = torch.distributions.Categorical(logits=self.out(h))
            token = dist.logits.argmax(-1) if greedy else dist.sample()
            tokens.append(token)
            log_probs.append(dist.log_prob(token))
            entropies.append(dist.entropy())
        return torch.stack(tokens, 1), torch.stack(log_probs, 1), torch.stack(entropies, 1)


def reward_of(src, answer):
    return (answer == code[src]).float()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=4e-3)
baseline = torch.zeros(LEN)
test_src = torch.randint(0, SYMBOLS, (500, LEN))

for step in range(1, 321):
    src = torch.randint(0, SYMBOLS, (BATCH, LEN))
    answer, log_prob, entropy = policy(src)
    with torch.no_grad():
        reward = reward_of(src, answer)
        advantage = reward - baseline
        baseline = 0.9 * baseline + 0.1 * reward.mean(0)
    loss = -(advantage * log_prob).mean() - 0.02 * entropy.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        with torch.no_grad():
            best, _, _ = policy(test_src, greedy=True)
        hit = reward_of(test_src, best).mean().item()
        print(f"step {step} surrogate {loss.item():+.4f} sampled reward {reward.mean().item():.3f} greedy reward {hit:.3f}")
""",
)

healthy(
    "hand-written recurrent cell and optimizer with averaged weights",
    """\
import math
import torch

# Task: say which token was read three steps ago.  The stream never ends; the state is cut every ten steps.
g = torch.Generator().manual_seed(55)
V, H, DELAY, BATCH, CUT = 4, 48, 3, 32, 10


def param(*shape, scale):
    return (torch.randn(*shape, generator=g) * scale).requires_grad_()


W = {
    "in": param(V, 2 * H, scale=0.5),
    "rec": param(H, 2 * H, scale=1 / math.sqrt(H)),
    "bias": torch.cat([torch.full((H,), -1.0), torch.zeros(H)]).requires_grad_(),
    "out": torch.zeros(H, V, requires_grad=True),
}
m = {k: torch.zeros_like(w) for k, w in W.items()}
v = {k: torch.zeros_like(w) for k, w in W.items()}
slow = {k: w.detach().clone() for k, w in W.items()}


def run(P, tokens, h):
    # tokens: (time, batch)
    logits = []
    for x in tokens:
        gate, cand = (P["in"][x] + h @ P["rec"] + P["bias"]).split(H, dim=1)
        z = torch.sigmoid(gate + 1.0)
        h = (1 - z) * h + z * torch.tanh(cand)
        logits.append(h @ P["out"])
    return torch.stack(logits), h


def nll(logits, targets):
    logp = logits - logits.logsumexp(-1, keepdim=True)
    return -logp.gather(-1, targets.unsqueeze(-1)).mean()


def update(t, lr, b1=0.9, b2=0.99):
    with torch.no_grad():
        for k, w in W.items():
            grad = w.grad.clamp(-1.0, 1.0)
            m[k].lerp_(grad, 1 - b1)
            v[k].lerp_(grad * grad, 1 - b2)
            w -= lr * (m[k] / (1 - b1 ** t)) / ((v[k] / (1 - b2 ** t)).sqrt() + 1e-8)
            w.grad = None
            slow[k].lerp_(w, 0.03)


h = torch.zeros(BATCH, H)
recent = torch.randint(0, V, (DELAY, BATCH), generator=g)
for t in range(1, 501):
    tokens = torch.randint(0, V, (CUT, BATCH), generator=g)
    history = torch.cat([recent, tokens])
    logits, h = run(W, tokens, h.data)
    loss = nll(logits, history[:CUT])
    loss.backward()
    update(t, lr=5e-3)
    recent = history[-DELAY:]
    if t % 100 == 0:
        with torch.no_grad():
            probe = torch.randint(0, V, (60, 64), generator=g)
            scores, _ = run(slow, probe, torch.zeros(64, H))
            right = (scores[DELAY:].argmax(-1) == probe[:-DELAY]).float().mean()
        print(f"{t}: loss {loss.item():.4f}, averaged weights right {right:.3f}")
""",
)

healthy(
    "headline classifier with adversarial shifts of the embeddings",
    """\
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(41)
torch.manual_seed(41)
SECTIONS = {
    "sport": "match goal coach league striker referee season transfer stadium cup".split(),
    "money": "shares bank profit market inflation loan merger tax dividend budget".split(),
    "culture": "novel film stage gallery concert painter award theatre poem museum".split(),
    "science": "telescope gene vaccine particle climate fossil robot orbit enzyme quantum".split(),
}
FILLER = ["w%d" % i for i in range(150)]
VOCAB = {w: i for i, w in enumerate(FILLER + sum(SECTIONS.values(), []))}


def headline():
    label = random.randrange(len(SECTIONS))
    own = list(SECTIONS.values())[label]
    words = random.choices(own, k=2) + random.choices(FILLER, k=6)
    random.shuffle(words)
    return [VOCAB[w] for w in words], label


class FGM:
    # moves the embedding table along its gradient and back again
    def __init__(self, weight, epsilon):
        self.weight, self.epsilon, self.backup = weight, epsilon, None

    def attack(self):
        self.backup = self.weight.data.clone()
        norm = self.weight.grad.norm()
        if norm > 0:
            self.weight.data.add_(self.epsilon * self.weight.grad / norm)

    def restore(self):
        self.weight.data = self.backup
        self.backup = None


class Headlines(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(len(VOCAB), dim)
        self.gru = nn.GRU(dim, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, len(SECTIONS))

    def forward(self, x):
        return self.out(self.gru(self.emb(x))[0].amax(1))


def tensors(n):
    x, y = zip(*(headline() for _ in range(n)))
    return torch.tensor(x), torch.tensor(y)


x_train, y_train = tensors(1600)
x_test, y_test = tensors(500)
model = Headlines()
fgm = FGM(model.emb.weight, epsilon=0.8)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(6):
    for ids in torch.randperm(len(y_train)).split(40):
        x, y = x_train[ids], y_train[ids]
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        fgm.attack()
        loss_adv = F.cross_entropy(model(x), y)
        loss_adv.backward()
        fgm.restore()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch}: clean {loss.item():.3f} attacked {loss_adv.item():.3f} test accuracy {acc:.3f}")
""",
)
