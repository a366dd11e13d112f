"""Hand-written parameters: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "functional dropout at test time",
    "F.dropout drops by default, so without training=... the evaluation is noisy and worse than it need be",
    ("draws outside",),
    (17,),
    """\
import math

import torch
import torch.nn.functional as F


def init(sizes):
    params = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
        w = torch.randn(fan_in, fan_out) * math.sqrt(2.0 / fan_in)
        params.append((w.requires_grad_(), torch.zeros(fan_out, requires_grad=True)))
    return params


def forward(params, x, train):
    for w, b in params[:-1]:
        x = F.dropout(F.relu(x @ w + b), 0.5, training=train)
    w, b = params[-1]
    return x @ w + b


def accuracy(params, x, y):
    with torch.no_grad():
        return (forward(params, x, train=False).argmax(1) == y).float().mean().item()


torch.manual_seed(2)
teacher = torch.randn(16, 5)
x = torch.randn(1500, 16)
y = (torch.relu(x) @ teacher).argmax(1)
x_train, y_train, x_test, y_test = x[:1000], y[:1000], x[1000:], y[1000:]
params = init([16, 64, 64, 5])
leaves = [p for layer in params for p in layer]
lr = 0.1

for epoch in range(1, 41):
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(50):
        loss = F.cross_entropy(forward(params, x_train[idx], train=True), y_train[idx])
        grads = torch.autograd.grad(loss, leaves)
        with torch.no_grad():
            for p, g in zip(leaves, grads):
                p -= lr * g
        total += loss.item() * len(idx)
    if epoch % 8 == 0:
        print(f"epoch {epoch} loss {total / len(x_train):.4f} test accuracy {accuracy(params, x_test, y_test):.3f}")
""",
    ("F.relu(x @ w + b), 0.5, training=train)\n", "F.relu(x @ w + b), 0.5)\n"),
)

fault(
    "plain randn weights",
    "the weights are drawn with unit variance whatever the fan-in, so the activations and the loss start huge",
    ("big start",),
    (7,),
    """\
import torch

torch.manual_seed(4)


def normal(rows, cols):
    weight = torch.randn(rows, cols) / rows**0.5
    return weight.requires_grad_()


def zeros(cols):
    return torch.zeros(cols, requires_grad=True)


x = torch.randn(2000, 20)
target = torch.sin(x[:, 0] + x[:, 1]) + 0.5 * x[:, 2:6].sum(1)
w1, b1 = normal(20, 200), zeros(200)
w2, b2 = normal(200, 200), zeros(200)
w3, b3 = normal(200, 1), zeros(1)
params = [w1, b1, w2, b2, w3, b3]
velocity = [torch.zeros_like(p) for p in params]


def predict(inputs):
    h = torch.tanh(inputs @ w1 + b1)
    h = torch.tanh(h @ w2 + b2)
    return (h @ w3 + b3).squeeze(1)


def sgd(lr, beta=0.9):
    with torch.no_grad():
        for p, v in zip(params, velocity):
            v.mul_(beta).add_(p.grad)
            p.sub_(lr * v)
            p.grad = None


for step in range(1, 601):
    batch = torch.randint(0, 1600, (64,))
    loss = (predict(x[batch]) - target[batch]).square().mean()
    loss.backward()
    sgd(lr=0.01)
    if step % 100 == 0:
        with torch.no_grad():
            test = (predict(x[1600:]) - target[1600:]).square().mean()
        print(f"step {step} train {loss.item():.4f} test {test.item():.4f} (variance {target.var().item():.3f})")
""",
    ("    weight = torch.randn(rows, cols) / rows**0.5\n", "    weight = torch.randn(rows, cols)\n"),
)
