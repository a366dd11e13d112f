"""The same fit in all its forms: numpy, tensors, autograd, nn, optim, modules, shared weights."""

import math
import random

import numpy as np
import torch


def report(t, loss):
    if t % 100 == 99:
        print(t, f"{loss:.4f}")


x = np.linspace(-math.pi, math.pi, 200)
y = np.sin(x)
a, b, c, d = 0.1, 0.2, 0.3, 0.4
for t in range(200):
    y_pred = a + b * x + c * x**2 + d * x**3
    report(t, np.square(y_pred - y).sum())
    grad = 2.0 * (y_pred - y)
    a, b, c, d = (p - 1e-6 * (grad * x**i).sum() for i, p in enumerate((a, b, c, d)))

dtype = torch.float
torch.manual_seed(1)
x = torch.linspace(-math.pi, math.pi, 2000, dtype=dtype)
y = torch.sin(x)
a, b, c, d = (torch.randn((), dtype=dtype) for _ in range(4))
for t in range(200):
    y_pred = a + b * x + c * x**2 + d * x**3
    report(t, (y_pred - y).pow(2).sum().item())
    grad_y_pred = 2.0 * (y_pred - y)
    a -= 1e-6 * grad_y_pred.sum()
    b -= 1e-6 * (grad_y_pred * x).sum()
    c -= 1e-6 * (grad_y_pred * x**2).sum()
    d -= 1e-6 * (grad_y_pred * x**3).sum()
print(f"Result: y = {a.item():.4f} + {b.item():.4f} x + {c.item():.4f} x^2 + {d.item():.4f} x^3")

parameters = [torch.randn((), dtype=dtype, requires_grad=True) for _ in range(4)]
for t in range(200):
    y_pred = sum(p * x**i for i, p in enumerate(parameters))
    loss = (y_pred - y).pow(2).sum()
    report(t, loss.item())
    loss.backward()
    with torch.no_grad():
        for p in parameters:
            p -= 1e-6 * p.grad
            p.grad = None

xx = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
loss_fn = torch.nn.MSELoss(reduction="sum")
for t in range(200):
    loss = loss_fn(model(xx), y)
    report(t, loss.item())
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param -= 1e-6 * param.grad
print(f"Result: y = {model[0].bias.item():.4f} + {model[0].weight[:, 0].item():.4f} x")

optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for t in range(200):
    loss = loss_fn(model(xx), y)
    report(t, loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class DynamicNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d, self.e = (torch.nn.Parameter(torch.randn(())) for _ in range(5))

    def forward(self, x):
        y = self.a + self.b * x + self.c * x**2 + self.d * x**3
        for exp in range(4, random.randint(4, 6)):
            y = y + self.e * x**exp
        return y

    def string(self):
        return f"y = {self.a.item():.3f} + {self.b.item():.3f} x + {self.c.item():.3f} x^2"


random.seed(0)
model = DynamicNet()
criterion = torch.nn.MSELoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-8, momentum=0.9)
for t in range(200):
    loss = criterion(model(x), y)
    report(t, loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(model.string(), sum(p.numel() for p in model.parameters()))
