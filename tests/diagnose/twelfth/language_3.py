"""Programs with a fault each, their healthy counterparts, and others that only look suspicious.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (what is wrong is one string)

from .program import healthy

healthy(
    "bigram model of a noisy source, loss near its entropy",
    """\
import torch
import torch.nn.functional as F

torch.manual_seed(21)
V = 30
source = torch.softmax(torch.randn(V, V) * 0.8, dim=1)


def walk(n, length):
    seq = torch.zeros(n, length, dtype=torch.long)
    seq[:, 0] = torch.randint(V, (n,))
    for t in range(1, length):
        seq[:, t] = torch.multinomial(source[seq[:, t - 1]], 1).squeeze(1)
    return seq


train, test = walk(1500, 40), walk(300, 40)

stationary = torch.full((V,), 1 / V)
for _ in range(100):
    stationary = stationary @ source
floor = -(stationary[:, None] * source * source.log()).sum().item()
print(f"entropy rate of the source {floor:.4f}, log V {torch.tensor(float(V)).log():.4f}")

table = torch.zeros(V, V, requires_grad=True)
opt = torch.optim.Adam([table], lr=0.05)
for step in range(401):
    rows = train[torch.randint(len(train), (64,))]
    x, y = rows[:, :-1].reshape(-1), rows[:, 1:].reshape(-1)
    loss = F.cross_entropy(table[x], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        with torch.no_grad():
            held_out = F.cross_entropy(table[test[:, :-1].reshape(-1)], test[:, 1:].reshape(-1))
        print(f"{step:4d} train {loss.item():.4f} test {held_out.item():.4f}")

kl = (source * (source.log() - table.detach().log_softmax(1))).sum(1).mean()
print(f"mean KL to the source {kl:.4f}")
""",
)

healthy(
    "domain-adversarial text classifier",
    """\
import torch
import torch.nn as nn

torch.manual_seed(6)


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.lam * grad, None


def reviews(n, domain, gen):
    # words 0-19 carry sentiment in both domains, 20-39 belong to domain 0, 40-59 to domain 1
    y = torch.randint(2, (n,), generator=gen)
    sentiment = y[:, None] * 10 + torch.randint(10, (n, 10), generator=gen)
    style = 20 + domain * 20 + torch.randint(20, (n, 10), generator=gen)
    x = torch.where(torch.rand(n, 10, generator=gen) < 0.4, sentiment, style)
    return x, y, torch.full((n,), domain)


gen = torch.Generator().manual_seed(0)
books_x, books_y, books_d = reviews(2000, 0, gen)
films_x, films_y, films_d = reviews(2000, 1, gen)

features = nn.Sequential(nn.EmbeddingBag(60, 24), nn.Linear(24, 24), nn.ReLU())
label_head = nn.Linear(24, 2)
domain_head = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))
params = [*features.parameters(), *label_head.parameters(), *domain_head.parameters()]
opt = torch.optim.Adam(params, lr=2e-3)
ce = nn.CrossEntropyLoss()

STEPS = 900
for step in range(STEPS):
    lam = min(1.0, 2 * step / STEPS)
    b = torch.randint(1600, (64,))
    u = torch.randint(1600, (64,))
    fb, fu = features(books_x[b]), features(films_x[u])
    task = ce(label_head(fb), books_y[b])      # films have no labels here
    both = torch.cat([fb, fu])
    dom = ce(domain_head(GradReverse.apply(both, lam)), torch.cat([books_d[b], films_d[u]]))
    opt.zero_grad()
    (task + dom).backward()
    opt.step()
    if step % 180 == 179:
        print(f"step {step + 1} task {task.item():.3f} domain {dom.item():.3f}")

with torch.no_grad():
    acc = (label_head(features(films_x[1600:])).argmax(1) == films_y[1600:]).float().mean()
    guess = domain_head(features(torch.cat([books_x[1600:], films_x[1600:]]))).argmax(1)
    dacc = (guess == torch.cat([books_d[1600:], films_d[1600:]])).float().mean()
print(f"accuracy on films {acc:.3f}, domain guessed right {dacc:.3f}")
""",
)

healthy(
    "sentence generator trained with REINFORCE",
    """\
import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(9)
VOCAB, LENGTH = 12, 8


class Generator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB + 1, 16)
        self.cell = nn.GRUCell(16, hidden)
        self.out = nn.Linear(hidden, VOCAB)
        self.hidden = hidden

    def rollout(self, n):
        h = torch.zeros(n, self.hidden)
        token = torch.full((n,), VOCAB)
        tokens, logps, ents = [], [], []
        for _ in range(LENGTH):
            h = self.cell(self.embed(token), h)
            dist = Categorical(logits=self.out(h))
            token = dist.sample()
            tokens.append(token)
            logps.append(dist.log_prob(token))
            ents.append(dist.entropy())
        return torch.stack(tokens, 1), torch.stack(logps, 1), torch.stack(ents, 1)


def score(tokens):
    # a sentence is good when each word follows its predecessor in the alphabet
    follows = (tokens[:, 1:] - tokens[:, :-1]) % VOCAB == 1
    return follows.float().mean(1)


policy = Generator()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
baseline = 0.0
for it in range(160):
    tokens, logps, ents = policy.rollout(96)
    reward = score(tokens)
    baseline = 0.9 * baseline + 0.1 * reward.mean().item()
    advantage = reward - baseline
    loss = -(advantage * logps.sum(1)).mean() - 0.05 * ents.mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    if it % 40 == 39:
        print(f"iter {it + 1} reward {reward.mean():.3f} loss {loss.item():+.3f}")

with torch.no_grad():
    print(f"final reward {score(policy.rollout(500)[0]).mean():.3f}")
""",
)

healthy(
    "echo state network recalls symbols",
    """\
import torch
import torch.nn as nn

torch.manual_seed(40)
SIZE, SYMBOLS, LENGTH = 200, 4, 30


class Reservoir(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(SYMBOLS, SIZE, batch_first=True)
        with torch.no_grad():
            w = torch.randn(SIZE, SIZE) * (torch.rand(SIZE, SIZE) < 0.1)
            radius = torch.linalg.eigvals(w).abs().max()
            self.rnn.weight_hh_l0.copy_(0.9 * w / radius)
            self.rnn.weight_ih_l0.normal_(0, 0.5)
            self.rnn.bias_ih_l0.zero_()
            self.rnn.bias_hh_l0.zero_()
        for p in self.rnn.parameters():
            p.requires_grad_(False)
        self.readout = nn.Linear(SIZE, 3)

    def forward(self, onehot):
        with torch.no_grad():
            states, _ = self.rnn(onehot)
        return self.readout(states)


def sequences(n):
    # the label at each place: which of the symbols 0, 1 and 2 came two steps ago (3 counts as 0)
    s = torch.randint(SYMBOLS, (n, LENGTH))
    lag = torch.zeros_like(s)
    lag[:, 2:] = s[:, :-2]
    return torch.eye(SYMBOLS)[s], lag % 3


net = Reservoir()
trainable = [p for p in net.parameters() if p.requires_grad]
print("trained", sum(p.numel() for p in trainable), "of", sum(p.numel() for p in net.parameters()))
opt = torch.optim.Adam(trainable, lr=0.01)
for step in range(250):
    x, y = sequences(32)
    loss = nn.functional.cross_entropy(net(x)[:, 2:].flatten(0, 1), y[:, 2:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        print(step + 1, f"{loss.item():.4f}")
x, y = sequences(200)
print("accuracy", (net(x).argmax(-1) == y)[:, 2:].float().mean().item())
""",
)

healthy(
    "char RNN with hand-made momentum and accumulated gradients",
    """\
import math
import random
import torch

random.seed(5)
torch.manual_seed(5)
names = []
for _ in range(1600):
    names.append("".join(random.choice(c) for c in ("bdklmr", "aeiou", "nst", "aeiou", "nrs")) + ".")
alphabet = "." + "abcdefghijklmnopqrstuvwxyz"
index = {c: i for i, c in enumerate(alphabet)}
ids = torch.tensor([[0] + [index[c] for c in n] for n in names])
train_ids, dev_ids = ids[:1400], ids[1400:]

V, H = len(alphabet), 40
params = {
    "E": torch.randn(V, H) * 0.1,
    "W": torch.eye(H) * 0.9,
    "b": torch.zeros(H),
    "U": torch.zeros(H, V),
    "c": torch.zeros(V),
}
for p in params.values():
    p.requires_grad_()
velocity = {k: torch.zeros_like(p) for k, p in params.items()}


def nll(batch):
    h = torch.zeros(len(batch), H)
    total = 0.0
    for t in range(batch.size(1) - 1):
        h = torch.tanh(params["E"][batch[:, t]] + h @ params["W"] + params["b"])
        logp = (h @ params["U"] + params["c"]).log_softmax(1)
        total = total - logp.gather(1, batch[:, t + 1:t + 2]).sum()
    return total


def update(lr, mu=0.9, max_norm=2.0):
    with torch.no_grad():
        norm = math.sqrt(sum(p.grad.pow(2).sum().item() for p in params.values()))
        scale = min(1.0, max_norm / norm)
        for k, p in params.items():
            velocity[k].mul_(mu).add_(p.grad, alpha=scale)
            p -= lr * velocity[k]
            p.grad = None


MICRO, ACCUM = 10, 4
for epoch in range(12):
    lr = 0.05 * 0.85 ** epoch
    order = torch.randperm(len(train_ids)).split(MICRO)
    for k, idx in enumerate(order):
        loss = nll(train_ids[idx]) / (MICRO * ACCUM)
        loss.backward()
        if (k + 1) % ACCUM == 0:
            update(lr)
    with torch.no_grad():
        dev_nll = nll(dev_ids).item() / len(dev_ids)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: {dev_nll:.3f} nats per name")
print(f"the source has {math.log(6 * 5 * 3 * 5 * 3):.3f} nats per name")
""",
)

healthy(
    "word LSTM, SGD with rate 20, clipping and annealing",
    """\
import math
import torch
import torch.nn as nn

torch.manual_seed(1111)
NTOKEN, BPTT, BATCH = 50, 16, 20
g = torch.Generator().manual_seed(3)
followers = torch.stack([torch.randperm(NTOKEN, generator=g)[:3] for _ in range(NTOKEN)])
stream, w = [], 0
for r in torch.randint(3, (24000,), generator=g).tolist():
    w = followers[w, r].item()
    stream.append(w)
data = torch.tensor(stream)
train = data[:20000].view(BATCH, -1).t().contiguous()
val = data[20000:].view(BATCH, -1).t().contiguous()


class LM(nn.Module):
    def __init__(self, nhid=64):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.encoder = nn.Embedding(NTOKEN, nhid)
        self.rnn = nn.LSTM(nhid, nhid)
        self.decoder = nn.Linear(nhid, NTOKEN)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, x, state):
        out, state = self.rnn(self.drop(self.encoder(x)), state)
        return self.decoder(self.drop(out)), state


def repackage(state):
    return tuple(s.detach() for s in state)


def evaluate(model, source):
    model.eval()
    total, state = 0.0, (torch.zeros(1, BATCH, 64), torch.zeros(1, BATCH, 64))
    with torch.no_grad():
        for i in range(0, len(source) - 1, BPTT):
            x, y = source[i:i + BPTT][: len(source) - 1 - i], source[i + 1:i + 1 + BPTT]
            out, state = model(x, state)
            total += nn.functional.cross_entropy(out.flatten(0, 1), y.flatten(), reduction="sum").item()
    return total / source[1:].numel()


model = LM()
lr, best = 20.0, None
for epoch in range(9):
    model.train()
    state = (torch.zeros(1, BATCH, 64), torch.zeros(1, BATCH, 64))
    for i in range(0, len(train) - 1, BPTT):
        x, y = train[i:i + BPTT][: len(train) - 1 - i], train[i + 1:i + 1 + BPTT]
        model.zero_grad()
        state = repackage(state)
        out, state = model(x, state)
        loss = nn.functional.cross_entropy(out.flatten(0, 1), y.flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
    val_loss = evaluate(model, val)
    print(f"epoch {epoch + 1} lr {lr} valid ppl {math.exp(val_loss):.2f}")
    if best is None or val_loss < best:
        best = val_loss
    else:
        lr /= 4.0
""",
)

healthy(
    "bias-only tuning of a frozen encoder in eval mode",
    """\
import copy
import torch
import torch.nn as nn

torch.manual_seed(77)
VOCAB, DIM, LEN = 50, 32, 10


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.body = nn.Sequential(
            nn.Linear(DIM, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2))

    def forward(self, ids):
        return self.body(self.emb(ids).mean(1))


def task(n, grouping):
    # the class is the group that most of the words belong to
    y = torch.randint(int(grouping.max()) + 1, (n,))
    ids = torch.randint(VOCAB, (n, LEN))
    for c in range(int(grouping.max()) + 1):
        members = (grouping == c).nonzero().squeeze(1)
        rows = (y == c).nonzero().squeeze(1)
        ids[rows, : LEN // 2] = members[torch.randint(len(members), (len(rows), LEN // 2))]
    return ids, y


def fit(encoder, head, params, ids, y, epochs, lr):
    opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for _ in range(epochs):
        for idx in torch.randperm(len(y)).split(64):
            loss = nn.functional.cross_entropy(head(encoder(ids[idx])), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def accuracy(encoder, head, ids, y):
    return (head(encoder(ids)).argmax(1) == y).float().mean().item()


pretrain_groups = torch.arange(VOCAB) % 10
ids, y = task(4000, pretrain_groups)
encoder, head = Encoder(), nn.Linear(64, 10)
fit(encoder, head, [*encoder.parameters(), *head.parameters()], ids, y, 8, 3e-3)

encoder.eval()
print(f"pre-training task {accuracy(encoder, head, ids, y):.3f}")
frozen = copy.deepcopy(encoder)

# the new task merges the old groups
new_ids, new_y = task(2400, pretrain_groups % 5)
for name, p in encoder.named_parameters():
    p.requires_grad_(name.endswith("bias"))
new_head = nn.Linear(64, 5)
tuned = [p for p in encoder.parameters() if p.requires_grad]
print("tuned numbers", sum(p.numel() for p in tuned), "of", sum(p.numel() for p in encoder.parameters()))
for stage in range(3):
    last = fit(encoder, new_head, tuned + list(new_head.parameters()), new_ids[:2000], new_y[:2000], 4, 3e-3)
    print(f"stage {stage} loss {last:.3f} accuracy {accuracy(encoder, new_head, new_ids[2000:], new_y[2000:]):.3f}")
same = all(torch.equal(a, b) for (n, a), b in zip(frozen.named_parameters(), encoder.parameters()) if n.endswith("weight"))
print("weights unchanged", same)
""",
)

healthy(
    "masked language model, few targets per sentence",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)
PAIRS, LEN, MASK = 16, 12, 32
VOCAB = 33


def sentences(n):
    # each sentence uses three words and their partners (w and w + 16), in a fixed mirrored order
    left = torch.randint(PAIRS, (n, LEN // 2))
    return torch.cat([left, left.flip(1) + PAIRS], 1)


def corrupt(ids, rate=0.15):
    chosen = torch.rand(ids.shape) < rate
    labels = torch.where(chosen, ids, torch.full_like(ids, -100))
    r = torch.rand(ids.shape)
    noisy = torch.where(chosen & (r < 0.8), torch.full_like(ids, MASK), ids)
    noisy = torch.where(chosen & (r > 0.9), torch.randint(PAIRS * 2, ids.shape), noisy)
    return noisy, labels


class TinyBert(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.word = nn.Embedding(VOCAB, d)
        self.place = nn.Embedding(LEN, d)
        layer = nn.TransformerEncoderLayer(d, 2, 96, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)
        nn.init.normal_(self.word.weight, std=0.3)
        nn.init.normal_(self.place.weight, std=0.3)
        self.bias = nn.Parameter(torch.zeros(VOCAB))

    def forward(self, ids):
        h = self.word(ids) + self.place.weight
        return self.norm(self.encoder(h)) @ self.word.weight.t() + self.bias


model = TinyBert()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, total_steps=500)
for step in range(500):
    noisy, labels = corrupt(sentences(64))
    loss = F.cross_entropy(model(noisy).transpose(1, 2), labels, ignore_index=-100)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 100 == 99:
        print(f"step {step + 1} mlm loss {loss.item():.3f}")

model.eval()
with torch.no_grad():
    clean = sentences(500)
    where = torch.randint(LEN, (500,))
    noisy = clean.clone()
    noisy[torch.arange(500), where] = MASK
    pred = model(noisy)[torch.arange(500), where].argmax(-1)
    print(f"masked word found {(pred == clean[torch.arange(500), where]).float().mean():.3f}")
""",
)
