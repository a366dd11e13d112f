"""lion-pytorch: its optimizer on a small net, with weight decay, with a schedule, and from a saved state."""

import torch
from lion_pytorch import Lion
from reporting import report
from torch import nn

torch.manual_seed(0)
data, target = torch.randn(32, 6), torch.randn(32, 2)


def net():
    """A net with weights of its own."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.LayerNorm(12), nn.Linear(12, 2))


def train(model, optimizer, steps=12, schedule=None):
    """The losses of some steps."""
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        losses.append(loss.item())
    return losses


for name, options in (
    ("plain", {}),
    ("decay", {"weight_decay": 0.1}),
    ("decoupled", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("betas", {"betas": (0.8, 0.9)}),
):
    model = net()
    report(name, train(model, Lion(model.parameters(), lr=1e-3, **options)))
    report(f"{name} weights", list(model.parameters()))
model = net()
groups = [{"params": model[0].parameters(), "lr": 3e-3}, {"params": model[2:].parameters()}]
optimizer = Lion(groups, lr=1e-3, betas=(0.95, 0.98))
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
report("schedule", train(model, optimizer, schedule=schedule))
again, state = net(), optimizer.state_dict()
again.load_state_dict(model.state_dict())
other = Lion(again.parameters(), lr=1e-3)
first = [state["state"][key]["exp_avg"] for key in sorted(state["state"])]
report("state", first)
report("goes on", train(model, optimizer, 4))
report("other", train(again, other, 4))
