"""Training by hand: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault, healthy

fault(
    "step bound to the loop's name",
    "the update makes a new tensor under the loop's name, and the parameters stay as they were",
    ("not written",),
    (32,),
    """\
import math

import torch
import torch.nn.functional as F


def init_params(sizes):
    params = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:]):
        w = torch.randn(fan_in, fan_out) * math.sqrt(2.0 / fan_in)
        params += [w.requires_grad_(), torch.zeros(fan_out, requires_grad=True)]
    return params


def forward(params, x):
    for i in range(0, len(params) - 2, 2):
        x = torch.relu(x @ params[i] + params[i + 1])
    return x @ params[-2] + params[-1]


def spirals(count):
    arm = torch.randint(0, 3, (count,))
    r = torch.rand(count)
    angle = 4 * r + arm * 2 * math.pi / 3 + 0.15 * torch.randn(count)
    return torch.stack([r * torch.sin(angle), r * torch.cos(angle)], dim=1) * 2, arm


def update(params, grads, velocity, lr, momentum):
    with torch.no_grad():
        for p, g, v in zip(params, grads, velocity):
            v.mul_(momentum).add_(g)
            p -= lr * v


torch.manual_seed(0)
params = init_params([2, 64, 64, 3])
velocity = [torch.zeros_like(p) for p in params]
test_x, test_y = spirals(600)
steps = 600
for step in range(steps):
    x, y = spirals(64)
    loss = F.cross_entropy(forward(params, x), y)
    grads = torch.autograd.grad(loss, params)
    lr = 0.05 * 0.5 * (1 + math.cos(math.pi * step / steps))
    update(params, grads, velocity, lr, 0.9)
    if (step + 1) % 100 == 0:
        accuracy = (forward(params, test_x).argmax(1) == test_y).float().mean().item()
        print(f"{step + 1:4d} loss {loss.item():.4f} accuracy {accuracy:.3f} lr {lr:.4f}")
""",
    ("            p -= lr * v\n", "            p = p - lr * v\n"),
)

healthy(
    "full second-order steps",
    """\
import torch
import torch.nn.functional as F
from torch.func import grad, hessian, vmap

torch.manual_seed(0)
people, features = 12, 6
shared = torch.randn(features)
truth = shared + 0.5 * torch.randn(people, features)
x = torch.randn(people, 200, features)
y = torch.bernoulli(torch.sigmoid(torch.einsum("pnf,pf->pn", x, truth)))
train_x, test_x = x[:, :120], x[:, 120:]
train_y, test_y = y[:, :120], y[:, 120:]


def objective(w, prior, strength, inputs, targets):
    fit = F.binary_cross_entropy_with_logits(inputs @ w, targets, reduction="sum")
    return fit + 0.5 * strength * ((w - prior) ** 2).sum()


slope = vmap(grad(objective), in_dims=(0, None, None, 0, 0))
curvature = vmap(hessian(objective), in_dims=(0, None, None, 0, 0))
value = vmap(objective, in_dims=(0, None, None, 0, 0))

weights = torch.zeros(people, features)
prior, strength = torch.zeros(features), 4.0
for outer in range(15):
    for inner in range(5):
        g = slope(weights, prior, strength, train_x, train_y)
        h = curvature(weights, prior, strength, train_x, train_y)
        step = torch.linalg.solve(h, g)
        weights = weights - step
    prior = weights.mean(0)
    total = value(weights, prior, strength, train_x, train_y).sum().item()
    held_out = F.binary_cross_entropy_with_logits(torch.einsum("pnf,pf->pn", test_x, weights), test_y).item()
    error = (weights - truth).norm(dim=1).mean().item()
    if outer % 2 == 0:
        print(
            f"{outer:2d} objective {total:.3f} held-out {held_out:.4f} "
            f"last step {step.norm().item():.1e} error {error:.3f}"
        )
""",
)

healthy(
    "adaptation inside of the step",
    """\
import math

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
rates = {name.replace(".", "_"): nn.Parameter(torch.tensor(math.log(0.05))) for name, _ in model.named_parameters()}
optimizer = torch.optim.Adam(
    [{"params": list(model.parameters()), "lr": 2e-3}, {"params": list(rates.values()), "lr": 1e-2}]
)


def task():
    height, shift = 0.5 + 2 * torch.rand(1), math.pi * torch.rand(1)

    def draw(count):
        x = 6 * torch.rand(count, 1) - 3
        return x, height * torch.sin(x + shift)

    return draw


def error(weights, x, y):
    return nn.functional.mse_loss(functional_call(model, weights, (x,)), y)


def adapt(weights, x, y, steps, keep_graph):
    for _ in range(steps):
        grads = torch.autograd.grad(error(weights, x, y), list(weights.values()), create_graph=keep_graph)
        weights = {name: w - rates[name.replace(".", "_")].exp() * g for (name, w), g in zip(weights.items(), grads)}
    return weights


def evaluate(count=30):
    before, after = 0.0, 0.0
    for _ in range(count):
        draw = task()
        weights = dict(model.named_parameters())
        fast = adapt(weights, *draw(10), steps=3, keep_graph=False)
        x, y = draw(50)
        with torch.no_grad():
            before += error(weights, x, y).item() / count
            after += error(fast, x, y).item() / count
    return before, after


for iteration in range(1, 241):
    loss = 0.0
    for _ in range(4):
        draw = task()
        fast = adapt(dict(model.named_parameters()), *draw(10), steps=1, keep_graph=True)
        loss = loss + error(fast, *draw(10)) / 4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 40 == 0:
        before, after = evaluate()
        print(f"{iteration} meta loss {loss.item():.3f} unadapted {before:.3f} adapted {after:.3f}")
""",
)
