"""The white belt: one line is wrong, and the loss shows it from the first steps.

Invariant: a title names what is seen, never the fault.
"""

from __future__ import annotations

import numpy as np

from .kata import Kata
from .measures import fit

_line, _line_seen = fit(lambda x: 2 * x - 1, -2, 2)
_sine, _sine_seen = fit(np.sin, -3, 3)

WHITE = (
    Kata(
        number=1,
        title="The loss that climbs",
        minutes=5,
        symptom="The loss begins at 7.9 and grows without end. The data lie on a straight line, and the network "
        "is a line.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
x = torch.linspace(-2, 2, 64).unsqueeze(1)
y = 2 * x - 1
net = nn.Linear(1, 1)

for step in range(60):
    net.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p += 0.05 * p.grad""",
        seed=0,
        passes=60,
        rate=None,
        lines=(15,),
        nodes=(),
        why="The gradient points to where the loss grows. Each parameter is moved along it, and should be moved "
        "against it.",
        hints=(
            "The graph and the gradients are right: `%vt step loss` on one forward pass, then Check, says so at every "
            "node. So look at what is done with the gradients.",
            "`w.grad` is negative where a larger `w` makes the loss smaller. In which direction does line 15 "
            "move `w` then?",
        ),
        mended={15: "            p -= 0.05 * p.grad"},
        lesson="A gradient points uphill: training subtracts it.",
        tools=(),
        needs="net",
        called="squared error",
        measure=_line,
        limit=0.01,
        picture=_line_seen,
    ),
    Kata(
        number=2,
        title="Nothing moves",
        minutes=5,
        symptom="The loss is 0.774 at the first step and 0.774 at the last. No weight has changed by a single bit.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 64).unsqueeze(1)
y = torch.sin(x)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)

for step in range(200):
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()""",
        seed=0,
        passes=200,
        rate=0.05,
        lines=(13, 14),
        nodes=(),
        why="The gradients are cleared after `backward` has made them and before `step` can use them.",
        hints=(
            "`%%vt diagnose` above the cell counts what each step of the optimizer found in `.grad`.",
            "Put `print(net[0].weight.grad)` between each two of lines 11 to 14. After which line is the "
            "gradient gone?",
        ),
        mended={13: "    optimizer.step()", 14: "    optimizer.zero_grad()"},
        lesson="The order is backward, step, zero_grad: make the gradient, use it, clear it.",
        tools=("diagnose",),
        needs="net",
        called="squared error",
        measure=_sine,
        limit=0.01,
        picture=_sine_seen,
    ),
    Kata(
        number=3,
        title="Every answer is the same",
        minutes=8,
        symptom="The loss falls for 20 steps, then stays at 0.524. The network gives about 0 for every x, on data that "
        "are easy to fit.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 64).unsqueeze(1)
y = torch.sin(x).squeeze(1) + 0.05 * torch.randn(64)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)

for step in range(200):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()""",
        seed=0,
        passes=200,
        rate=0.05,
        lines=(12,),
        nodes=("Sub", "Pow"),
        why="`net(x) - y` is 64 × 1 minus 64: broadcast to 64 × 64, every answer against every target.",
        hints=(
            "Nothing raises and nothing is NaN, so ask for the shapes. `%vt graph loss` writes one on every "
            "arrow: which "
            "of them did you not expect?",
            "`y` has 64 values, `net(x)` has 64 rows of one. Look at line 12 with `%vt step loss`: the gradient that "
            "arrives at Sub is 64 × 64.",
        ),
        mended={12: "    loss = ((net(x).squeeze(1) - y) ** 2).mean()"},
        lesson="A shape that fits by accident is a quiet fault: no exception, no NaN, only a loss that stops at the "
        "variance of the targets.",
        tools=("diagnose", "compare"),
        needs="net",
        called="squared error",
        measure=_sine,
        limit=0.01,
        picture=_sine_seen,
    ),
)
