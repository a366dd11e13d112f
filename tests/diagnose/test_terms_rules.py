"""Terms without a history, what losses take, clipping by hand, writes that lose values, and frozen tables."""

import contextlib
import io
import sys

import pytest

from .harness import run
from .marked import HEAD, guilty, said

STEP = """
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ACTOR = (
    """\
from torch.distributions import Categorical
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.pi, self.v = nn.Linear(16, 3), nn.Linear(16, 1)
    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    state = torch.randn(32, 4)
    with torch.no_grad():
        dist, value = net(state)
        action = dist.sample()
        old = dist.log_prob(action)
        gain = (action == (state[:, 0] > 0).long()).float()
        target = gain + 0.9 * value
    dist, value = net(state)
    advantage = (target - value).detach()
    actor = -(old * advantage).mean()  # <-
    loss = actor + 0.5 * F.mse_loss(value, target) - 0.01 * dist.entropy().mean()
"""
    + STEP
)
STORED = (
    """\
body = nn.Sequential(nn.Linear(4, 16), nn.ReLU())
pi, v = nn.Linear(16, 3), nn.Linear(16, 1)
params = [*body.parameters(), *pi.parameters(), *v.parameters()]
opt = torch.optim.Adam(params, lr=0.01)
@torch.no_grad()
def play(states):
    logs, gains, values = [], [], []
    for s in states:
        h = body(s)
        chances = F.log_softmax(pi(h), -1)
        a = torch.multinomial(chances.exp(), 1)
        logs.append(chances.gather(1, a).squeeze(1))
        gains.append((a.squeeze(1) == 1).float())
        values.append(v(h).squeeze(1))
    return torch.stack(logs), torch.stack(gains), torch.stack(values)
for step in range(12):
    states = torch.randn(5, 16, 4)
    logs, gains, values = play(states)
    h = body(states)
    now = F.log_softmax(pi(h), -1)
    entropy = -(now.exp() * now).sum(-1)
    each = -logs * (gains - values)  # <-
    error = (v(h).squeeze(-1) - gains).pow(2)
    loss = (each + 0.5 * error - 0.01 * entropy).mean()
"""
    + STEP
)
LATENT = (
    """\
class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 6), nn.Linear(3, 8)
    def forward(self, x):
        mu, spread = self.inner(x).chunk(2, -1)
        z = mu + torch.randn_like(mu) * (0.5 * spread).exp()
        return self.outer(z), mu.detach(), spread.detach()
net = Coder()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(32, 8)
    back, mu, spread = net(x)
    kl = -0.5 * (1 + spread - mu ** 2 - spread.exp()).sum(1).mean()  # <-
    loss = F.mse_loss(back, x) + 0.1 * kl
"""
    + STEP
)
ITEM = (
    """\
body, one, two = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *one.parameters(), *two.parameters()], lr=0.01)
for step in range(12):
    x = torch.randn(16, 4)
    h = torch.tanh(body(x))
    loss = F.mse_loss(one(h), x.sin().sum(1, True)) + 0.1 * two(h).pow(2).mean()
    other = F.l1_loss(two(torch.tanh(body(-x))), x.cos().sum(1, True))
    loss += other.item()  # <-
"""
    + STEP
)
PENDULUM = (
    """\
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    t = torch.rand(32, 1).requires_grad_()
    u = net(t)
    speed = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    force = torch.autograd.grad(speed.sum(), t, retain_graph=True)[0]  # <-
    rest = force + 0.3 * speed + 2 * torch.sin(u)
    loss = rest.pow(2).mean() + (net(torch.zeros(1, 1)) - 1).pow(2).mean()
"""
    + STEP
)
HEAT = (
    """\
class Heat(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(2, 12), nn.Linear(12, 1)
    def forward(self, x, t):
        return self.two(torch.tanh(self.one(torch.cat([x, t], 1))))
def slope(y, x, keep=True):
    ones = torch.ones_like(y)
    found = torch.autograd.grad(outputs=y, inputs=x, grad_outputs=ones, create_graph=keep, retain_graph=True)  # <-
    return found[0]
net = Heat()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    x, t = torch.rand(32, 1, requires_grad=True), torch.rand(32, 1, requires_grad=True)
    u = net(x, t)
    left = slope(u, t)
    right = 0.1 * slope(slope(u, x), x, keep=False)
    loss = F.mse_loss(left, right) + u[:4].square().mean()
"""
    + STEP
)
COUNTS = (
    """\
x = torch.randn(64, 3)
y = torch.poisson(torch.exp(x[:, 0] - 0.5))
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1), nn.Softplus())
rule = nn.PoissonNLLLoss()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(8):
    loss = rule(net(x).squeeze(1) + 1e-6, y)  # <-
"""
    + STEP
)
RATES = (
    """\
x, hours = torch.randn(64, 3), torch.rand(64) + 0.5
y = torch.poisson(hours * torch.exp(x[:, 0]))
w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
for step in range(8):
    rate = torch.exp(x @ w) * hours
    loss = F.poisson_nll_loss(rate, y, full=True)  # <-
"""
    + STEP
)
SPOKEN = (
    """\
net = nn.Linear(5, 6)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
rule = nn.CTCLoss()
lengths, many = torch.full((8,), 12), torch.full((8,), 3)
for step in range(8):
    out = net(torch.randn(12, 8, 5)).softmax(2)
    loss = rule(out, torch.randint(1, 6, (8, 3)), lengths, many)  # <-
"""
    + STEP
)
SCORED = SPOKEN.replace(".softmax(2)", "").replace("rule(out", "F.ctc_loss(out")
LABELS = (
    """\
x = torch.randn(64, 5)
y = (x[:, :4] > 0).long()
net = nn.Linear(5, 4)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(8):
    loss = F.multilabel_margin_loss(net(x), y)  # <-
"""
    + STEP
)
SIGNS = LABELS.replace(
    "multilabel_margin_loss(net(x), y)", "multilabel_soft_margin_loss(net(x), 2.0 * y - 1)"
)
CLIPPED = """\
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
for step in range(8):
    x = torch.randn(16, 4)
    loss = F.mse_loss(net(x), x.sin().sum(1, True))
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)  # <-
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad
            p.grad = None
"""
ZEROED = """\
net = nn.Linear(4, 1)
w = list(net.parameters())
for step in range(8):
    x = torch.randn(16, 4)
    net.zero_grad(set_to_none=False)
    nn.utils.clip_grad_norm_(w, 0.5)  # <-
    F.mse_loss(net(x), x.sin().sum(1, True)).backward()
    for p in w:
        p.data.add_(p.grad, alpha=-0.1)
"""
GRAPH = (
    """\
source, to = torch.randint(20, (90,)), torch.randint(20, (90,))
x = torch.randn(20, 4)
y = x.sum(1, keepdim=True)
class Layer(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.own, self.sent = nn.Linear(a, b), nn.Linear(a, b)
    def forward(self, h):
        out = torch.zeros(len(h), self.sent.out_features)
        out[to] += self.sent(h[source])  # <-
        return self.own(h) + out
net = nn.Sequential(Layer(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(6):
    loss = F.mse_loss(net(x), y)
"""
    + STEP
)
PAIRS = GRAPH.replace(
    "torch.randint(20, (90,)), torch.randint(20, (90,))", "torch.randint(20, (40,)), torch.arange(40) % 20"
).replace("out[to] += self.sent(h[source])", "out[to] = out[to] + self.sent(h)[source]")
AGAIN = GRAPH.replace("out[to] += self.sent(h[source])", "out[to] = out[to] + self.sent(h)[source]")
BEFORE = (
    """\
source, to = torch.randint(20, (90,)), torch.randint(20, (90,))
x = torch.randn(20, 4)
around = torch.zeros(20, 4)
around[to] += x[source]  # <-
net = nn.Linear(8, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(6):
    loss = F.mse_loss(net(torch.cat([x, around], 1)), x.sin().sum(1, True))
"""
    + STEP
)
WORDS = (
    """\
vectors = torch.randn(60, 6) * (torch.rand(60, 1) < 0.6)
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors)  # <-
        self.head = nn.Linear(6, 2)
    def forward(self, ids):
        return self.head(self.words(ids).mean(1))
net = Bag()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(8):
    ids = torch.randint(60, (32, 5))
    loss = F.cross_entropy(net(ids), (ids[:, 0] > 30).long())
"""
    + STEP
)
ALONE = (
    """\
table = nn.Embedding.from_pretrained(torch.randn(60, 6) * (torch.rand(60, 1) < 0.6), padding_idx=0)  # <-
head = nn.Linear(6, 2)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for step in range(8):
    ids = torch.randint(60, (32,))
    loss = F.cross_entropy(head(table(ids)), (ids > 30).long())
"""
    + STEP
)
FAULTY = {
    "log-probabilities of a rollout": (ACTOR, "constant term"),
    "log-probabilities in lists": (STORED, "constant term"),
    "detached latents": (LATENT, "constant term"),
    "a number is added": (ITEM, "constant term"),
    "second derivative of a pendulum": (PENDULUM, "flat derivative"),
    "second derivative in a helper": (HEAT, "flat derivative"),
    "softplus to a Poisson loss": (COUNTS, "rates for logs"),
    "exponential to a Poisson loss": (RATES, "rates for logs"),
    "probabilities to sequences": (SPOKEN, "paths without logs"),
    "scores to sequences": (SCORED, "paths without logs"),
    "marks for classes": (LABELS, "marks for labels"),
    "signs for marks": (SIGNS, "marks for labels"),
    "clipping by hand": (CLIPPED, "clipped nothing"),
    "clipping what is cleared": (ZEROED, "clipped nothing"),
    "messages": (GRAPH, "last stays"),
    "messages written out": (AGAIN, "last stays"),
    "messages in pairs": (PAIRS, "last stays"),
    "neighbours before the loop": (BEFORE, "last stays"),
    "word vectors": (WORDS, "frozen blank"),
    "a table alone": (ALONE, "frozen blank"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_it_is_found_with_its_line(name):
    text, rule = FAULTY[name]
    found = said(text)
    assert list(found) == [rule] and set(found[rule]) & guilty(text), found


PPO = ACTOR.replace("-(old * advantage)", "-((dist.log_prob(action) - old).exp() * advantage)").replace(
    "    loss = actor", "    drift = (old - dist.log_prob(action)).mean()\n    loss = actor + 0.1 * drift"
)
STEPS_BETWEEN = LATENT.replace("mu.detach(), spread.detach()", "mu, spread")
ADVERSARY = """\
maker, critic = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
a, b = torch.optim.Adam(maker.parameters(), lr=0.01), torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(12):
    real = torch.randn(16, 4) + 1
    fake = maker(torch.randn(16, 3))
    loss = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
    b.zero_grad()
    loss.backward()
    b.step()
    with torch.no_grad():
        good = critic(real)
    loss = F.softplus(-critic(fake)).mean() + F.softplus(good).mean()
    a.zero_grad()
    loss.backward()
    a.step()
"""
SHOWN = (
    """\
net, teacher = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), nn.Linear(4, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(16, 4)
    out = net(x)
    loss = F.cross_entropy(out, (x[:, 0] > 0).long())
    weights = sum((p ** 2).sum() for p in net.parameters())
    loss = loss + 1e-4 * weights.detach() + out.pow(2).mean().detach()
    with torch.no_grad():
        soft = teacher(x).softmax(1)
        mine = net(x + 0.1 * torch.randn_like(x)).log_softmax(1)
    loss = loss + (soft * soft.log()).sum(1).mean() - (soft * out.log_softmax(1)).sum(1).mean()
    loss = loss + (mine.exp() * mine).sum(1).mean() - (mine.exp() * out.log_softmax(1)).sum(1).mean()
    loss = loss - loss.detach() + loss.item() + 1.5
"""
    + STEP
)
KERNELS = (
    """\
net = nn.Linear(4, 6)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
def kernel(a, b):
    return (-(a[:, None] - b[None]).pow(2).sum(-1)).exp().mean()
for step in range(12):
    one, two = net(torch.randn(12, 4)), net(torch.randn(12, 4) + 1).detach()
    among = (-(two[:, None] - two[None]).pow(2).sum(-1)).exp().mean()
    loss = kernel(one, one) + among - 2 * kernel(one, two) + 0.1 * one.mean().pow(2)
"""
    + STEP
)
CODES = (
    """\
inner, outer, book = nn.Linear(4, 3), nn.Linear(3, 4), torch.randn(8, 3)
opt = torch.optim.Adam([*inner.parameters(), *outer.parameters()], lr=0.01)
for step in range(12):
    x = torch.randn(16, 4)
    z = inner(x)
    near = torch.cdist(z.detach(), book).argmin(1)
    q = book[near]
    codes = F.mse_loss(q, z.detach())
    commit = F.mse_loss(q.detach(), z)
    loss = F.mse_loss(outer(z + (q - z).detach()), x) + codes + 0.25 * commit
"""
    + STEP
)
WARM = LATENT.replace("mu.detach(), spread.detach()", "mu, spread").replace(
    "    kl = -0.5", "    with torch.set_grad_enabled(step > 20):\n      kl = -0.5"
)
SHIFTED = (
    """\
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(16, 4)
    out = net(x)
    near, exact = out.pow(2), (out - x[:, :1]).abs()
    loss = near.mean() + (exact - near).detach().mean() + (out * (1 + out - out.detach())).mean()
"""
    + STEP
)
FORCES = (
    """\
def energy(x):
    return (x ** 4 - x ** 2).sum()
net, other = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)), nn.Linear(2, 1)
opt = torch.optim.Adam([*net.parameters(), *other.parameters()], lr=0.01)
for step in range(12):
    x = torch.randn(16, 2, requires_grad=True)
    wanted = -torch.autograd.grad(energy(x), x)[0]
    slope = torch.autograd.grad(other(x).pow(2).sum(), x)[0]
    given = net(x)
    loss = F.mse_loss(given, wanted) + (given - slope).abs().mean() + other(x).mean().pow(2)
"""
    + STEP
)
ADAPTED = (
    """\
w = torch.randn(4, 1, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
for step in range(12):
    x = torch.randn(16, 4)
    y = x[:, :1]
    (g,) = torch.autograd.grad((x @ w - y).pow(2).mean(), w)
    z = x.clone().requires_grad_()
    (h,) = torch.autograd.grad((z @ w - y).pow(2).mean(), z)
    loss = (x @ (w - 0.1 * g) - y).pow(2).mean() + ((z + 0.1 * h.sign()) @ w - y).pow(2).mean()
"""
    + STEP
)
UNROLLED = (
    """\
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
A = torch.randn(6, 4)
for step in range(12):
    truth = torch.randn(16, 4)
    seen = truth @ A.T
    x = net(torch.zeros(16, 4))
    for k in range(2):
        (g,) = torch.autograd.grad(0.5 * (x @ A.T - seen).pow(2).sum(), x, retain_graph=True)
        x = x - 0.05 * g + net(x)
    loss = (x - truth).pow(2).mean()
"""
    + STEP
)
LATER = """\
net = nn.Linear(4, 1)
for step in range(8):
    nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * (p.grad if step else torch.zeros_like(p))
    net.zero_grad()
    x = torch.randn(16, 4)
    F.mse_loss(net(x), x.sin().sum(1, True)).backward()
"""
HEALTHY = {
    "a policy with fresh log-probabilities": ACTOR.replace("old * adv", "dist.log_prob(action) * adv"),
    "ratios and drifts": PPO,
    "a latent with its history": STEPS_BETWEEN,
    "a generator beside what its critic says": ADVERSARY,
    "terms that are shown": SHOWN,
    "kernels": KERNELS,
    "codes": CODES,
    "a term that is warmed up": WARM,
    "values that are shifted": SHIFTED,
    "numbers that are subtracted": ITEM.replace("loss += other.item()", "loss = loss + other - loss.item()"),
    "a pendulum with graphs": PENDULUM.replace("retain_graph=True", "create_graph=True"),
    "heat with graphs": HEAT.replace(", keep=False", ""),
    "gradients as targets": FORCES,
    "adapted weights": ADAPTED,
    "unrolled steps": UNROLLED,
    "logarithms of rates": COUNTS.replace(", nn.Softplus()", ""),
    "rates": COUNTS.replace("PoissonNLLLoss()", "PoissonNLLLoss(log_input=False)"),
    "rates by name": RATES.replace("full=True", "log_input=False"),
    "logarithms with an offset": RATES.replace("torch.exp(x @ w) * hours", "x @ w + hours.log()"),
    "rates that are logarithms again": RATES.replace(
        "poisson_nll_loss(rate,", "poisson_nll_loss(rate.log(),"
    ),
    "sequences": SPOKEN.replace("softmax", "log_softmax"),
    "sequences of logarithms": SPOKEN.replace("softmax(2)", "softmax(2).log()"),
    "lists of classes": LABELS.replace("y)", "y.topk(4, 1)[1].masked_fill(torch.arange(4) >= 2, -1))"),
    "marks": LABELS.replace(
        "multilabel_margin_loss(net(x), y)", "multilabel_soft_margin_loss(net(x), y.float())"
    ),
    "clipping between": CLIPPED.replace("    loss.backward()\n", "").replace(
        "    nn.utils", "    loss.backward()\n    nn.utils"
    ),
    "sums of messages": GRAPH.replace(
        "out[to] += self.sent(h[source])", "out = out.index_add(0, to, self.sent(h[source]))"
    ),
    "sums by index": GRAPH.replace(
        "out[to] += self.sent(h[source])", "out.index_put_((to,), self.sent(h[source]), accumulate=True)"
    ),
    "each place once": GRAPH.replace("[to] +=", "[torch.arange(90) % 20] +=")
    .replace("h[source]", "h")
    .replace("torch.arange(90) % 20", "torch.randperm(20)"),
    "padding shares a place": GRAPH.replace("(90,))\nx", "(90,))\nto = torch.arange(90).clamp(max=20)\nx")
    .replace("zeros(len(h),", "zeros(len(h) + 1,")
    .replace("+ out\n", "+ out[:-1]\n"),
    "averages": BEFORE.replace("+= x[source]", "+= 0.5 * (x[source] - around[to])"),
    "what was seen": BEFORE.replace("+= x[source]", "+= 1.0"),
    "masks": BEFORE.replace("around[to] += x[source]", "around[x[:, 0] > 0] += x[x[:, 0] > 0]"),
    "word vectors that learn": WORDS.replace("(vectors)", "(vectors, freeze=False)"),
    "word vectors that stay": WORDS.replace("(vectors)", "(vectors, freeze=True)"),
    "word vectors of all words": WORDS.replace(" * (torch.rand(60, 1) < 0.6)", ""),
    "two words without": WORDS.replace("torch.rand(60, 1) < 0.6", "torch.arange(60)[:, None] > 1"),
    "what learns is picked": WORDS.replace("Adam(net.parameters()", "Adam(net.head.parameters()"),
    "clipping at the beginning of the next step": LATER,
}
MINE = {rule for _, rule in FAULTY.values()}


@pytest.mark.parametrize("name", HEALTHY)
def test_what_is_right_is_not_accused(name):
    assert not MINE & set(said(HEALTHY[name]))


CURED = [name for name, (_, rule) in FAULTY.items() if rule not in ("constant term",)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program is copied on Linux")
@pytest.mark.parametrize("name", CURED)
def test_a_cure_mends_it(name):
    """One of its cures, put into the program, leaves nothing to say of it."""
    from vistorch.debug.diagnose.cures import cures_of

    text, rule = FAULTY[name]
    with contextlib.redirect_stderr(io.StringIO()):
        (one,) = [f for f in run("cured", HEAD + text).findings if f.rule == rule]
        mended = [run(f"mended {i}", cure.text) for i, cure in enumerate(cures_of(one, {}))]
    assert any(not m.error and rule not in [f.rule for f in m.findings] for m in mended), [
        m.error for m in mended
    ]
