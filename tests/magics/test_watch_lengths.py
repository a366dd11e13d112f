"""How many steps and epochs a cell says it will make, against what it makes when it is run."""

import pytest

from vistorch.widgets.watch.loops import lengths

HERE = {"n": 12, "names": ["a", "b"], "batch": 5, "other": object()}


class Optimizer:
    steps = 0

    def step(self):
        self.steps += 1


def made(cell):
    opt = Optimizer()
    names = {
        **HERE,
        "opt": opt,
        "scheduler": Optimizer(),
        "tqdm": lambda x, **_: x,
        "trange": range,
        "data": [0] * 23,
    }
    exec(cell, names)
    return opt.steps


SAYS = [
    ("for i in range(20):\n    opt.step()", 20),
    ("for i in range(n):\n    opt.step()\n    scheduler.step()", 12),
    ("for i in tqdm(range(2, n, 3), desc='it'):\n    opt.step()", 4),
    ("for i in trange(7):\n    opt.step()", 7),
    ("for i, name in enumerate(names):\n    for j in range(3):\n        opt.step()", 6),
    ("for a, b in zip(range(9), names):\n    opt.step()", 2),
    ("epochs = 4\nfor e in range(epochs):\n    for i in range(0, len(data), batch):\n        opt.step()", 20),
    (
        "for e in range(2):\n    with open('/dev/null'):\n        for i in range(n // 5):\n            opt.step()",
        4,
    ),
    (
        "for e in range(3):\n    for i in range(2):\n        opt.step()\n    for i in range(9):\n        pass",
        6,
    ),
    ("for i in [1, 2, 3]:\n    opt.step()", 3),
]


@pytest.mark.parametrize(("cell", "steps"), SAYS)
def test_what_is_said_is_what_is_made(cell, steps):
    assert lengths(cell, {**HERE, "data": [0] * 23}) == (steps, None) and made(cell) == steps


@pytest.mark.parametrize(
    ("cell", "epochs"),
    [
        ("for e in range(3):\n    for x, y in train_loader:\n        opt.step()", 3),
        (
            "for e in range(3):\n    for i, (x, y) in enumerate(tqdm(DataLoader(d, 4))):\n        opt.step()",
            3,
        ),
        ("for x, y in DataLoader(d, 4):\n    opt.step()", 1),
        ("for e in range(2):\n    for x, y in loader:\n        if i % 4 == 3:\n            opt.step()", 2),
        (
            "for e in range(2):\n    for x, y in loader:\n        opt.step()\n    for b in loader:\n        pass",
            2,
        ),
        ("dl = DataLoader(d, 4)\nfor e in range(5):\n    for x, y in dl:\n        opt.step()", 5),
    ],
)
def test_epochs_over_a_loader(cell, epochs):
    assert lengths(cell, HERE) == (None, epochs)


@pytest.mark.parametrize(
    "cell",
    [
        "while True:\n    opt.step()",
        "for i in range(m):\n    opt.step()",  # no such name
        "n = int(input())\nfor i in range(n):\n    opt.step()",  # set by the cell
        "for k in range(2):\n    n = k\n    for i in range(n):\n        opt.step()",
        "for i in range(9):\n    if i % 2:\n        opt.step()",
        "for i in range(9):\n    opt.step()\nfor i in range(5):\n    opt.step()",
        "def train():\n    for i in range(9):\n        opt.step()\ntrain()\ntrain()",
        "for i in range(9):\n    train()",
        "for i in other:\n    opt.step()",
        "for i in range(0, 5, 0):\n    opt.step()",
        "for i in range(3:\n",
        "%time x",
        "scheduler.step()",
        "for i in range(*names):\n    opt.step()",
    ],
)
def test_what_is_not_said_is_not_guessed(cell):
    assert lengths(cell, HERE) == (None, None)
