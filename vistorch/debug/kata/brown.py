"""The brown belt: it learns, but less than it could.

Invariant: a title names what is seen, never the fault.
"""

from __future__ import annotations

import numpy as np

from .kata import Kata
from .measures import fit

_sine, _sine_seen = fit(np.sin, -3, 3)
_double, _double_seen = fit(lambda x: np.sin(2 * x), -3, 3)
_triple, _triple_seen = fit(lambda x: np.sin(3 * x), -3, 3)

BROWN = (
    Kata(
        number=7,
        title="It learns, but too slowly",
        minutes=8,
        symptom="The loss falls fast for two epochs and then hardly at all. Another twenty epochs would change "
        "nothing.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 256).unsqueeze(1)
y = torch.sin(x)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)

for epoch in range(20):
    for batch in torch.randperm(256).split(16):
        optimizer.zero_grad()
        loss = ((net(x[batch]) - y[batch]) ** 2).mean()
        loss.backward()
        optimizer.step()
        schedule.step()""",
        seed=0,
        passes=320,
        rate=0.05,
        lines=(9, 17),
        nodes=(),
        why="`schedule.step()` is called with every batch: after 320 calls the learning rate is 0.05 · 0.9³²⁰, "
        "which is 0.",
        hints=(
            "`%%vt watch` shows the learning rate beside the loss. Where is it at the end of the second epoch?",
            "0.9 is meant for each epoch. How often does line 17 run in one epoch?",
        ),
        mended={17: "    schedule.step()"},
        lesson="A scheduler counts its own calls: decide whether a call is a batch or an epoch.",
        tools=("diagnose",),
        needs="net",
        called="squared error",
        measure=_sine,
        limit=0.01,
        picture=_sine_seen,
    ),
    Kata(
        number=8,
        title="Half the units are silent",
        minutes=10,
        symptom="The loss stops at 0.104, on a curve that 16 units can follow. Nine of them give 0 for every x "
        "before the "
        "first step, and eleven after the last.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 64).unsqueeze(1)
y = torch.sin(2 * x)
net = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))
nn.init.uniform_(net[0].bias, -5, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

for step in range(400):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()""",
        seed=0,
        passes=400,
        rate=0.02,
        lines=(8,),
        nodes=("Relu",),
        why="A bias below −3 keeps its unit below 0 for every x: ReLU gives 0, its gradient is 0, and it never "
        "comes back.",
        hints=(
            "`%vt show net[0](x).relu()` draws a column for each unit. How many columns are empty?",
            "A weight is at most 1 and x at most 3. From which bias on can a unit never be above 0?",
        ),
        mended={8: "nn.init.uniform_(net[0].bias, -3, 3)"},
        lesson="A dead ReLU stays dead: where no gradient flows, nothing is learned.",
        tools=("compare",),
        needs="net",
        called="squared error",
        measure=_double,
        limit=0.08,
        picture=_double_seen,
    ),
    Kata(
        number=9,
        title="The first layers never move",
        minutes=8,
        symptom="The loss falls a little, from 0.60 to 0.44. The weights of the first two layers are those they "
        "began with.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 64).unsqueeze(1)
y = torch.sin(3 * x)
body = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh())
head = nn.Linear(12, 1)
net = nn.Sequential(body, head)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

for step in range(500):
    optimizer.zero_grad()
    features = body(x).data
    loss = ((head(features) - y) ** 2).mean()
    loss.backward()
    optimizer.step()""",
        seed=0,
        passes=500,
        rate=0.02,
        lines=(14,),
        nodes=(),
        why="`.data` gives the values without their history: the backward pass ends there, and never reaches `body`.",
        hints=(
            "`%vt graph loss` shows which parameters the loss can reach. Which are missing?",
            "The graph begins at `features`. What in line 14 takes its history away?",
        ),
        mended={14: "    features = body(x)"},
        lesson="`.data` and `detach()` cut the graph: below the cut nothing learns.",
        tools=("diagnose",),
        needs="net",
        called="squared error",
        measure=_triple,
        limit=0.02,
        picture=_triple_seen,
    ),
)
