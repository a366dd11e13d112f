"""Every optimizer of torch-optimizer on the valley of Rosenbrock and on a small net."""

import torch
import torch_optimizer
from reporting import report
from torch import nn


def valley(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


names = sorted(n for n in torch_optimizer.__all__ if n[0].isupper() and n not in ("Optimizer",))
for name in names:
    kind = getattr(torch_optimizer, name)
    at = torch.tensor([-1.0, 1.5], requires_grad=True)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(), nn.Linear(9, 1))
    try:
        for parameters, loss_of in (
            ([at], lambda: valley(at)),
            (list(net.parameters()), lambda: net(torch.ones(2, 2, 4)).square().mean()),
        ):
            if name == "Lookahead":
                optimizer = kind(torch_optimizer.Yogi(parameters, lr=1e-3), k=2)
            elif name == "Shampoo":  # without it, its matrix of one gradient cannot be inverted
                optimizer = kind(parameters, lr=1e-3, epsilon=1.0)
            else:
                optimizer = kind(parameters, lr=1e-3)
            for _ in range(6):
                optimizer.zero_grad()
                loss = loss_of()
                loss.backward(create_graph=name == "Adahessian")
                optimizer.step()
        report(name, [at, *net.parameters()])
        report(f"{name}: state", str(sorted(optimizer.state_dict())))
    except Exception as error:
        report(name, f"{type(error).__name__}: {error}")
