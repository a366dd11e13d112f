"""The grey belt: numbers that stop being numbers, and a loss with a floor.

Invariant: a title names what is seen, never the fault.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kata import Kata, Picture
from .measures import answers, right, ring


def _sides() -> tuple[np.ndarray, np.ndarray]:
    """Two clouds of points, left below and right above."""
    rng = np.random.default_rng(1)
    y = np.arange(200) % 2
    return rng.standard_normal((200, 2)) + 6.0 * y[:, None] - 3, y


def _between(places: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(len(places), 1)
    return np.sqrt(((places[first] - places[second]) ** 2).sum(1))


def _map(names: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The distances that are wanted, sorted, and those of `z`."""
    wanted = _between(np.asarray([[i % 4 / 4, i // 4 / 4] for i in range(12)]))
    got = _between(np.asarray(names["z"].tolist(), np.float64).reshape(12, 2))
    order = np.argsort(wanted, kind="stable")
    return wanted[order], got[order]


def _off(names: dict[str, Any]) -> float:
    wanted, got = _map(names)
    return float(np.mean((wanted - got) ** 2))


def _distances(names: dict[str, Any]) -> Picture:
    wanted, got = _map(names)
    return Picture("fit", [float(i) for i in range(len(wanted))], wanted.tolist(), got.tolist(), [])


_two, _two_seen = right(*_sides(), ["left", "right"])
_TEN = [str(i) for i in range(10)]
_ten_data = ring(10, 20, 0.06)
_, _ten_seen = right(*_ten_data, _TEN)


def _entropy(names: dict[str, Any]) -> float:
    """The larger of the loss as the cell has it, and of the cross entropy that its scores have."""
    x, y = _ten_data
    scores = answers(names["net"], x)
    scores = scores - scores.max(1, keepdims=True)
    logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    mine = -float(np.mean(logs[np.arange(len(y)), y]))
    return max(mine, float(names["loss"].item()))


GREY = (
    Kata(
        number=4,
        title="Ten steps, then NaN",
        minutes=8,
        symptom="The loss falls nicely for ten steps. Then it is NaN, and so is every weight.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
y = (torch.arange(200) % 2).float()
x = torch.randn(200, 2) + 6 * y.unsqueeze(1) - 3
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)

for step in range(40):
    optimizer.zero_grad()
    p = net(x).squeeze(1).sigmoid()
    loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()
    loss.backward()
    optimizer.step()""",
        seed=0,
        passes=40,
        rate=0.2,
        lines=(12, 13),
        nodes=("Log", "Sigmoid"),
        why="In float32 the sigmoid of 18 is exactly 1. Then `(1 - p).log()` is −inf, and 0 · −inf is NaN.",
        hints=(
            "`%%vt trace` above the cell stops at the first number that is not finite, and names the op that made it.",
            "Which values does `p` take at step 10? What is the logarithm of `1 - p` where `p` is exactly 1?",
        ),
        mended={
            13: "    loss = nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y)",
        },
        lesson="Give a loss the scores, not their logarithms: the function that takes both together never rounds to 0.",
        tools=("trace", "diagnose", "compare"),
        needs="net",
        called="share right",
        measure=_two,
        limit=0.98,
        above=True,
        picture=_two_seen,
    ),
    Kata(
        number=5,
        title="NaN in the gradient only",
        minutes=8,
        symptom="The first loss is 2.39, a number like any other. After one step all 24 coordinates are NaN.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
places = torch.tensor([[i % 4 / 4, i // 4 / 4] for i in range(12)])
wanted = torch.cdist(places, places)
z = nn.Parameter(torch.randn(12, 2))
optimizer = torch.optim.Adam([z], lr=0.05)

for step in range(300):
    optimizer.zero_grad()
    apart = z.unsqueeze(1) - z.unsqueeze(0)
    distance = (apart**2).sum(2).sqrt()
    loss = ((distance - wanted) ** 2).mean()
    loss.backward()
    optimizer.step()""",
        seed=0,
        passes=300,
        rate=0.05,
        lines=(13,),
        nodes=("Sqrt",),
        why="Each place is 0 away from itself, and the slope of the square root at 0 is infinite: 0 · ∞ is NaN.",
        hints=(
            "Forward, every number is finite. `%%vt trace` follows the backward pass, too: at which node does "
            "the first "
            "NaN leave?",
            "`distance` has zeros on its diagonal. What is the slope of `sqrt` there?",
        ),
        mended={13: "    distance = ((apart**2).sum(2) + 1e-9).sqrt()"},
        lesson="A value can be finite where its slope is not: keep the roots, logarithms and norms that you "
        "differentiate "
        "away from 0.",
        tools=("trace", "diagnose", "compare"),
        needs="z",
        called="squared error of the distances",
        measure=_off,
        limit=0.01,
        picture=_distances,
    ),
    Kata(
        number=6,
        title="It stops at 1.46",
        minutes=10,
        symptom="Ten classes, well apart. The loss falls from 2.30 and stops at 1.46, however long you wait.",
        code="""\
import vistorch as torch
from vistorch import nn

torch.manual_seed(0)
y = torch.arange(600) % 10
angle = y * 2 * torch.pi / 10
x = torch.stack([angle.cos(), angle.sin()], 1) + 0.06 * torch.randn(600, 2)
net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)

for step in range(200):
    optimizer.zero_grad()
    guess = net(x).softmax(1)
    loss = nn.functional.cross_entropy(guess, y)
    loss.backward()
    optimizer.step()""",
        seed=0,
        passes=200,
        rate=0.02,
        lines=(13, 14),
        nodes=("Softmax", "LogSoftmax"),
        why="`cross_entropy` takes scores and has a softmax inside. Of probabilities, the best it can give is "
        "−log(e / (e + 9)) = 1.461.",
        hints=(
            "`%vt graph loss` shows every op between the scores and the loss. Is one of them there twice?",
            "`cross_entropy` expects scores of any size. Between which two numbers do the values of `guess` lie?",
        ),
        mended={13: "    guess = net(x)"},
        lesson="`cross_entropy` wants logits, the raw scores: the softmax is its own.",
        tools=("diagnose", "compare"),
        needs="net",
        called="loss",
        measure=_entropy,
        limit=0.05,
        picture=_ten_seen,
    ),
)
