"""The black belt: the training is right, and what is done with it is not.

Invariant: a title names what is seen, never the fault.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kata import Kata, Picture
from .measures import bars, fit

_sine, _sine_seen = fit(np.sin, -3, 3)
_KINDS = ["sun", "moon", "star"]


def _numbers(names: dict[str, Any]) -> tuple[list[int], list[int]]:
    """The classes of the 90 new points, thirty of each, and what was said of them."""
    said = names["said"]
    said = np.asarray(said.tolist() if hasattr(said, "tolist") else list(said)).reshape(-1)
    if len(said) != 90:
        raise ValueError(f"`said` should have one class for each of the 90 points, and has {len(said)}")
    return [i // 30 for i in range(90)], said.astype(int).tolist()


def _called(names: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Which names the 300 points have, and which were said."""
    said = list(names["said"])
    if len(said) != 300:
        raise ValueError(f"`said` should have one name for each of the 300 points, and has {len(said)}")
    return [i % 3 for i in range(300)], [_KINDS.index(one) if one in _KINDS else -1 for one in said]


def _share(both: tuple[list[int], list[int]]) -> float:
    return float(np.mean(np.asarray(both[0]) == np.asarray(both[1])))


def _fives(names: dict[str, Any]) -> Picture:
    return bars(["0", "1", "2"], *_numbers(names))


def _names(names: dict[str, Any]) -> Picture:
    return bars(_KINDS, *_called(names))


BLACK = (
    Kata(
        number=10,
        title="Good in training, bad in use",
        minutes=10,
        symptom="In training the loss goes down to 0.001. In use, with new points that come class by class, one "
        "of three "
        "is right.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
y = torch.arange(300) % 3
angle = y * 2 * torch.pi / 3
x = torch.stack([angle.cos(), angle.sin()], 1) + 0.25 * torch.randn(300, 2)
net = nn.Sequential(nn.Linear(2, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

for step in range(150):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()

angle = torch.arange(90) // 30 * 2 * torch.pi / 3
new = torch.stack([angle.cos(), angle.sin()], 1) + 0.25 * torch.randn(90, 2)
with torch.no_grad():
    said = torch.cat([net(part).argmax(1) for part in new.split(5)])""",
        seed=0,
        passes=150,
        rate=0.02,
        lines=(19, 20),
        nodes=(),
        why="The network is still in training mode: BatchNorm takes mean and variance from five points of one "
        "class, and "
        "what tells the classes apart is gone.",
        hints=(
            "What does `net.training` say at the end of the cell? `%%vt diagnose` looks at the mode of what is "
            "measured.",
            "BatchNorm subtracts the mean of the batch. What is left of five points of one class?",
        ),
        mended={19: "net.eval()\nwith torch.no_grad():"},
        lesson="`net.eval()` before you use a network, `net.train()` before you go on: dropout and norms ask for it.",
        tools=(),
        needs="said",
        called="share right",
        measure=lambda names: _share(_numbers(names)),
        limit=0.95,
        above=True,
        picture=_fives,
    ),
    Kata(
        number=11,
        title="Right picture, wrong name",
        minutes=10,
        symptom="The loss goes down to nearly 0: the network knows every point. And not one of the 300 names "
        "is right.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
kinds = ["sun", "moon", "star"]
classes = sorted(kinds)  # as a folder of pictures is numbered
y = torch.tensor([classes.index(kinds[i % 3]) for i in range(300)])
angle = torch.arange(300) % 3 * 2 * torch.pi / 3
x = torch.stack([angle.cos(), angle.sin()], 1) + 0.1 * torch.randn(300, 2)
net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

for step in range(150):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()

said = [kinds[i] for i in net(x).argmax(1).tolist()]""",
        seed=0,
        passes=150,
        rate=0.02,
        lines=(6, 7, 19),
        nodes=(),
        why="The classes are numbered by `classes`, which is sorted, and named by `kinds`, which is not.",
        hints=(
            "No view of the graph will show it: compare `net(x).argmax(1)` with `y`. Is a single number wrong?",
            "`classes.index` makes a number of a name in line 7. Which list makes a name of a number in line 19?",
        ),
        mended={19: "said = [classes[i] for i in net(x).argmax(1).tolist()]"},
        lesson="A class is a number, and its name a convention: use one list in both directions.",
        tools=(),
        needs="said",
        called="share right",
        measure=lambda names: _share(_called(names)),
        limit=0.95,
        above=True,
        picture=_names,
    ),
    Kata(
        number=12,
        title="The best model is the last one",
        minutes=12,
        symptom="The lowest error on unseen points was 0.27, and the best state is loaded at the end. Measured "
        "again, the "
        "error is 0.41: that of the last step.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
x = torch.linspace(-3, 3, 40).unsqueeze(1)
y = torch.sin(x) + 0.5 * torch.randn(40, 1)
seen, unseen = slice(0, 40, 2), slice(1, 40, 2)
net = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
lowest = float("inf")

for step in range(400):
    optimizer.zero_grad()
    loss = ((net(x[seen]) - y[seen]) ** 2).mean()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        error = ((net(x[unseen]) - y[unseen]) ** 2).mean().item()
    if error < lowest:
        lowest, best = error, net.state_dict()

net.load_state_dict(best)""",
        seed=0,
        passes=400,
        rate=0.01,
        lines=(20,),
        nodes=(),
        why="`state_dict()` copies nothing: its tensors are the parameters themselves, and every later step "
        "writes into "
        "them.",
        hints=(
            "Compare `best` with `net.state_dict()` at the last step, before line 22. Which entries differ?",
            "`best['0.weight'].data_ptr() == net[0].weight.data_ptr()` says whether they are one memory.",
        ),
        mended={
            20: "        lowest, best = error, {name: value.clone() for name, value in net.state_dict().items()}"
        },
        lesson="A state dict shares its memory with the model: clone what you want to keep.",
        tools=("diagnose",),
        needs="net",
        called="squared error",
        measure=_sine,
        limit=0.08,
        picture=_sine_seen,
    ),
)
