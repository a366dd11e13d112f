"""entmax: sparse probabilities along any dimension, their losses, and a classifier that trains with one."""

import entmax
import torch
from reporting import report

torch.manual_seed(0)
x = torch.randn(4, 7, 5, dtype=torch.float64)
for name, function in (
    ("sparsemax", entmax.sparsemax),
    ("entmax15", entmax.entmax15),
    ("sparsemax_bisect", entmax.sparsemax_bisect),
    ("entmax_bisect", lambda x, dim: entmax.entmax_bisect(x, alpha=1.3, dim=dim)),
):
    for dim in (-1, 1):
        inputs = x.clone().requires_grad_()
        out = function(inputs, dim=dim)
        (out * torch.arange(5.0)).sum().backward()
        report(f"{name} {dim}", [out, inputs.grad])
alpha = torch.tensor(1.4, dtype=torch.float64, requires_grad=True)
entmax.entmax_bisect(x, alpha, dim=-1).pow(2).sum().backward()
report("alpha", alpha.grad)
budget = x[:, :, 0].clone().requires_grad_()
entmax.budget_bisect(budget, budget=3, dim=-1).pow(2).sum().backward()
report("budget", budget.grad)
scores, target = torch.randn(6, 9, requires_grad=True), torch.randint(9, (6,))
for kind in (entmax.SparsemaxLoss, entmax.Entmax15Loss, entmax.SparsemaxBisectLoss, entmax.EntmaxBisectLoss):
    scores.grad = None
    loss = kind()(scores, target)
    loss.backward()
    report(kind.__name__, [loss, scores.grad])
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
data, classes = torch.randn(30, 8), torch.randint(3, (30,))
losses = []
for _ in range(15):
    optimizer.zero_grad()
    loss = entmax.entmax15_loss(model(data), classes).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss)
report("training", losses)
report("weights", list(model.parameters()))
