"""Text: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "film ratings",
    "zero_grad is missing: gradients add up over all steps and the run swings away",
    ("used twice",),
    (39,),
    """\
import torch
from torch import nn


class Factors(nn.Module):
    \"\"\"rating = mean + user bias + item bias + <user, item>\"\"\"

    def __init__(self, users, items, k):
        super().__init__()
        self.u = nn.Embedding(users, k)
        self.v = nn.Embedding(items, k)
        self.bu = nn.Embedding(users, 1)
        self.bv = nn.Embedding(items, 1)
        self.mean = nn.Parameter(torch.zeros(1))
        for e in (self.u, self.v, self.bu, self.bv):
            nn.init.normal_(e.weight, std=0.1)

    def forward(self, user, item):
        dot = (self.u(user) * self.v(item)).sum(1)
        return self.mean + self.bu(user).squeeze(1) + self.bv(item).squeeze(1) + dot


torch.manual_seed(33)
USERS, ITEMS, K = 40, 30, 3
true_u, true_v = torch.randn(USERS, K), torch.randn(ITEMS, K)
pairs = torch.cartesian_prod(torch.arange(USERS), torch.arange(ITEMS))
pairs = pairs[torch.randperm(len(pairs))]
ratings = 3.0 + 0.6 * (true_u[pairs[:, 0]] * true_v[pairs[:, 1]]).sum(1) + 0.1 * torch.randn(len(pairs))
train, test = slice(0, 1000), slice(1000, None)

model = Factors(USERS, ITEMS, K)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.8)
print("spread of the ratings", round(ratings[test].var().item(), 3))

for epoch in range(40):
    total = 0.0
    for part in torch.arange(1000).split(250):
        loss = ((model(pairs[part, 0], pairs[part, 1]) - ratings[part]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 4
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:3d} loss {total:.4f}")

with torch.no_grad():
    guess = model(pairs[test, 0], pairs[test, 1])
    print("test mse", round(((guess - ratings[test]) ** 2).mean().item(), 4))
""",
    ("        optimizer.zero_grad()\n", ""),
)

fault(
    "news topics",
    "the model ends in Softmax and CrossEntropyLoss applies it again: weak gradients, loss stuck high",
    ("soft twice",),
    (24,),
    """\
import torch
from torch import nn

torch.manual_seed(21)
VOCAB, TOPICS, LENGTH = 300, 20, 12


def headlines(n):
    topic = torch.randint(0, TOPICS, (n,))
    own = topic[:, None] * 15 + torch.randint(0, 15, (n, LENGTH))
    common = torch.randint(0, VOCAB, (n, LENGTH))
    words = torch.where(torch.rand(n, LENGTH) < 0.5, own, common)
    return words, topic


class TopicModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.bag = nn.EmbeddingBag(VOCAB, dim, mode="mean")
        self.head = nn.Sequential(
            nn.Linear(dim, 32),
            nn.ReLU(),
            nn.Linear(32, TOPICS),
        )

    def forward(self, words):
        return self.head(self.bag(words))


train_w, train_t = headlines(1000)
test_w, test_t = headlines(300)
model = TopicModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(1, 16):
    model.train()
    total = 0.0
    for idx in torch.randperm(1000).split(50):
        loss = criterion(model(train_w[idx]), train_t[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 20
    if epoch % 3 == 0:
        with torch.no_grad():
            acc = (model(test_w).argmax(1) == test_t).float().mean().item()
        print(f"epoch {epoch}: loss {total:.3f}, test accuracy {acc:.3f}")
""",
    (
        "            nn.Linear(32, TOPICS),\n",
        "            nn.Linear(32, TOPICS),\n            nn.Softmax(dim=1),\n",
    ),
)

healthy(
    "tied lm",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)
text = ("a rose is a rose is a rose and a violet is blue as the sea is blue and the night is long " * 4).split()
vocab = sorted(set(text))
ids = torch.tensor([vocab.index(w) for w in text])
V, D, CONTEXT = len(vocab), 24, 3


class TiedLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(V, D)
        self.mix = nn.Sequential(nn.Linear(CONTEXT * D, 48), nn.Tanh(), nn.Linear(48, D))
        self.decode = nn.Linear(D, V)
        self.decode.weight = self.embed.weight

    def forward(self, ctx):
        return self.decode(self.mix(self.embed(ctx).flatten(1)))


windows = ids.unfold(0, CONTEXT + 1, 1)
contexts, following = windows[:, :-1], windows[:, -1]
lm = TiedLM()
print("parameters", sum(p.numel() for p in lm.parameters()))
opt = torch.optim.Adam(lm.parameters(), lr=5e-3)
for epoch in range(25):
    total = 0.0
    parts = torch.randperm(len(contexts)).split(16)
    for idx in parts:
        loss = F.cross_entropy(lm(contexts[idx]), following[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 4 == 0:
        print(f"epoch {epoch} perplexity {torch.tensor(total / len(parts)).exp().item():.2f}")

said = text[:CONTEXT]
with torch.no_grad():
    for _ in range(12):
        nxt = lm(torch.tensor([[vocab.index(w) for w in said[-CONTEXT:]]])).argmax().item()
        said.append(vocab[nxt])
print(" ".join(said))
""",
)
