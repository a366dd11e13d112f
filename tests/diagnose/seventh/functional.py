"""Hand-written parameters: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "two layers by hand",
    "the gradients are never cleared after the hand-made update, so each step adds all the earlier ones",
    ("used twice by hand",),
    (35, 32),
    """\
import math

import torch


def init_layer(fan_in, fan_out):
    w = torch.randn(fan_in, fan_out) * math.sqrt(2.0 / fan_in)
    b = torch.zeros(fan_out)
    return w.requires_grad_(), b.requires_grad_()


def forward(params, x):
    w1, b1, w2, b2 = params
    return torch.relu(x @ w1 + b1) @ w2 + b2


def loss_fn(params, x, y):
    return (forward(params, x) - y).pow(2).mean()


torch.manual_seed(0)
x = torch.randn(512, 6)
y = (x[:, :1] * x[:, 1:2] + x[:, 2:3].abs()) + 0.05 * torch.randn(512, 1)
x_val, y_val = x[400:], y[400:]
x, y = x[:400], y[:400]

params = [*init_layer(6, 64), *init_layer(64, 1)]
lr = 0.02
for step in range(1, 601):
    idx = torch.randint(0, len(x), (64,))
    loss = loss_fn(params, x[idx], y[idx])
    loss.backward()
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad
            p.grad.zero_()
    if step % 100 == 0:
        with torch.no_grad():
            print(f"step {step} train {loss.item():.4f} val {loss_fn(params, x_val, y_val).item():.4f}")
""",
    ("            p -= lr * p.grad\n            p.grad.zero_()\n", "            p -= lr * p.grad\n"),
)

fault(
    "convolutions as functions",
    "F.dropout is called without training=, so it drops half of the features in validation too",
    ("draws outside",),
    (23,),
    """\
import torch
import torch.nn.functional as F


def make_images(n, gen):
    labels = torch.randint(0, 6, (n,), generator=gen)
    images = 0.9 * torch.randn(n, 1, 12, 12, generator=gen)
    for k in range(n):
        c = int(labels[k])
        if c < 3:
            images[k, 0, 2 + 3 * c, 2:10] += 1.5
        else:
            images[k, 0, 2:10, 3 * c - 7] += 1.5
    return images, labels


def net(p, x, training):
    x = F.relu(F.conv2d(x, p["conv1.w"], p["conv1.b"], padding=1))
    x = F.max_pool2d(x, 2)
    x = F.relu(F.conv2d(x, p["conv2.w"], p["conv2.b"], padding=1))
    x = F.max_pool2d(x, 2).flatten(1)
    x = F.relu(F.linear(x, p["fc1.w"], p["fc1.b"]))
    x = F.dropout(x, 0.6, training=training)
    return F.linear(x, p["fc2.w"], p["fc2.b"])


def make_params(gen):
    shapes = {"conv1": (8, 1, 3, 3), "conv2": (12, 8, 3, 3), "fc1": (24, 108), "fc2": (6, 24)}
    p = {}
    for name, shape in shapes.items():
        fan_in = torch.Size(shape[1:]).numel()
        p[f"{name}.w"] = torch.randn(shape, generator=gen) * (2 / fan_in) ** 0.5
        p[f"{name}.b"] = torch.zeros(shape[0])
    return {k: v.requires_grad_() for k, v in p.items()}


gen = torch.Generator().manual_seed(4)
torch.manual_seed(4)
x_train, y_train = make_images(1000, gen)
x_test, y_test = make_images(500, gen)
params = make_params(gen)
opt = torch.optim.Adam(params.values(), lr=2e-3)

for epoch in range(1, 13):
    for idx in torch.randperm(len(x_train)).split(50):
        loss = F.cross_entropy(net(params, x_train[idx], training=True), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        out = net(params, x_test, training=False)
        acc = (out.argmax(1) == y_test).float().mean().item()
        test_loss = F.cross_entropy(out, y_test).item()
    print(f"epoch {epoch:2d} train loss {loss.item():.3f} test loss {test_loss:.3f} acc {acc:.3f}")
""",
    ("    x = F.dropout(x, 0.6, training=training)\n", "    x = F.dropout(x, 0.6)\n"),
)

fault(
    "attention by hand",
    "the log-softmax of the loss is over the positions of the sequence, not over the vocabulary",
    ("other pick",),
    (31,),
    """\
import math

import torch
from torch import Tensor

Params = dict[str, Tensor]


def init(vocab: int, dim: int, scale: float = 1.0) -> Params:
    params = {"emb": torch.randn(vocab, dim) * 0.5, "out_b": torch.zeros(vocab)}
    for name in ("q", "k", "v", "mlp"):
        params[name] = torch.randn(dim, dim) * scale / math.sqrt(dim)
    params["out"] = torch.randn(dim, vocab) * scale / math.sqrt(dim)
    return params


def attend(params: Params, h: Tensor) -> Tensor:
    q, k, v = h @ params["q"], h @ params["k"], h @ params["v"]
    scores = q @ k.transpose(1, 2) / math.sqrt(h.shape[-1])
    return scores.softmax(dim=-1) @ v


def logits_of(params: Params, tokens: Tensor) -> Tensor:
    h = params["emb"][tokens]
    h = h + attend(params, h)
    h = h + torch.tanh(h @ params["mlp"])
    return h @ params["out"] + params["out_b"]


def nll(params: Params, tokens: Tensor, target: Tensor) -> Tensor:
    logp = logits_of(params, tokens).log_softmax(-1)
    return -logp.gather(-1, target.unsqueeze(-1)).mean()


def batch(n: int) -> tuple[Tensor, Tensor]:
    # every position must name the largest token of its sequence
    tokens = torch.randint(0, 16, (n, 10))
    return tokens, tokens.max(dim=1, keepdim=True).values.expand(-1, 10)


torch.manual_seed(2)
params = init(16, 32)
state = {k: (torch.zeros_like(v), torch.zeros_like(v)) for k, v in params.items()}
for t in range(1, 401):
    tokens, target = batch(32)
    leaves = {k: v.detach().requires_grad_() for k, v in params.items()}
    loss = nll(leaves, tokens, target)
    grads = torch.autograd.grad(loss, list(leaves.values()))
    for (k, p), g in zip(params.items(), grads):
        m, v = state[k]
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.99).addcmul_(g, g, value=0.01)
        p -= 5e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.99**t)).sqrt() + 1e-8)
    if t % 80 == 0:
        tokens, target = batch(200)
        right = (logits_of(params, tokens).argmax(-1) == target).float().mean().item()
        print(f"step {t} loss {loss.item():.3f} accuracy {right:.3f}")
""",
    (
        "    logp = logits_of(params, tokens).log_softmax(-1)\n",
        "    logp = logits_of(params, tokens).log_softmax(1)\n",
    ),
)
