"""Differential equations solved by every solver, and a neural one trained through the adjoint."""

import torch
from reporting import report
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)


class Field(nn.Module):
    """A field that a small net learns."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.calls = 0

    def forward(self, t, y):
        """The speed at y."""
        self.calls += 1
        return self.net(y**3)


start, times = torch.tensor([[2.0, 0.0]]), torch.linspace(0.0, 1.0, 6)
spiral = odeint(lambda t, y: y**3 @ torch.tensor([[-0.1, 2.0], [-2.0, -0.1]]), start, times, method="dopri5")
report("truth", spiral)
METHODS = """
dopri5 dopri8 bosh3 fehlberg2 adaptive_heun euler midpoint heun2 heun3 rk4 explicit_adams implicit_adams
""".split()
for method in METHODS:
    for solve in (odeint, odeint_adjoint):
        torch.manual_seed(1)
        field = Field()
        options = (
            {}
            if method in ("dopri5", "dopri8", "bosh3", "fehlberg2", "adaptive_heun")
            else {"step_size": 0.1}
        )
        extra = {"options": options} if options else {"rtol": 1e-4, "atol": 1e-5}
        loss = (solve(field, start, times, method=method, **extra) - spiral).abs().mean()
        loss.backward()
        report(f"{method} {solve.__name__}", [loss, *[p.grad for p in field.parameters()]])

torch.manual_seed(2)
field = Field()
optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
losses = []
for _ in range(6):
    optimizer.zero_grad()
    loss = (odeint_adjoint(field, start, times, rtol=1e-4, atol=1e-5) - spiral).abs().mean()
    loss.backward()
    optimizer.step()
    losses += [loss.item(), field.calls]
report("training", losses)
height = torch.tensor([10.0, 0.0], requires_grad=True)
when, where = odeint_event(
    lambda t, y: torch.stack([y[1], torch.tensor(-9.8)]),
    height,
    torch.tensor(0.0),
    event_fn=lambda t, y: y[0],
    atol=1e-6,
    rtol=1e-6,
)
when.backward()
report("fall", [when, where, height.grad])
