"""States of recurrent networks that are lost between steps."""

import pytest

from .harness import run

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(96, 5, 4)
y = (x[:, :, 0].sum(1) > 0).long()
"""
BEFORE = len(HEAD.splitlines())
LOOP = """
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for pick in torch.randperm(96).split(16):
        loss = F.cross_entropy(net(x[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def said(text):
    """The rules that say something of a program, with their lines."""
    what = run("memory", HEAD + text)
    assert not what.failures and not what.error
    return {one.rule: [line.line - BEFORE for line in one.named] for one in what.findings}


CELL = (
    """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        for t in range(x.shape[1]):
            h = self.cell(x[:, t])
        return self.head(h)
net = Reader()
"""
    + LOOP
)
INSIDE = (
    """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
        self.head = nn.Linear(8, 2)
    def forward(self, x):
        outs = []
        for step in x.unbind(1):
            h, c = torch.zeros(len(x), 8), torch.zeros(len(x), 8)
            h, c = self.cell(step, (h, c))
            outs.append(h)
        return self.head(torch.stack(outs).mean(0))
net = Reader()
"""
    + LOOP
)
BY_STEP = (
    """\
rnn, head = nn.LSTM(4, 8, batch_first=True), nn.Linear(8, 2)
class Both(nn.ModuleList):
    def forward(self, x):
        state = None
        out = []
        for t in range(5):
            o, new = self[0](x[:, t : t + 1], state)
            out.append(o)
        return self[1](torch.cat(out, 1).mean(1))
net = Both([rnn, head])
"""
    + LOOP
)
BY_HAND = (
    """\
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer, self.head = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2)
    def forward(self, x):
        for t in range(x.size(1)):
            h = x.new_zeros(x.size(0), 8)
            h = torch.tanh(self.inner(x[:, t]) + self.outer(h))
        return self.head(h)
net = Own()
"""
    + LOOP
)
JOINED = (
    """\
class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(12, 8)
    def forward(self, now, state=None):
        if state is None:
            state = torch.zeros(now.size(0), 8)
        return torch.tanh(self.mix(torch.cat([now, state], 1)))
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.head = Step(), nn.Linear(8, 2)
    def forward(self, x):
        h = None
        for t in range(x.size(1)):
            h = self.step(x[:, t])
        return self.head(h)
net = Own()
"""
    + LOOP
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [(CELL, [8]), (INSIDE, [9, 10]), (BY_STEP, [7]), (BY_HAND, [7, 8]), (JOINED, [16, 8])],
    ids=["cell", "inside", "by step", "by hand", "joined"],
)
def test_a_state_that_is_cleared_at_each_step_is_found_where_it_is_lost(text, lines):
    assert said(text)["state cleared"] == lines


EACH = (
    """\
class Each(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(4, 8), nn.Linear(8, 2)
    def forward(self, x):
        return self.head(torch.stack([self.rnn(one.unsqueeze(1))[1][0, 0] for one in x]))
net = Each()
"""
    + LOOP
)
TWO = (
    """\
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.read, self.write, self.head = nn.GRUCell(4, 8), nn.GRUCell(4, 8), nn.Linear(8, 2)
        self.noise = nn.Linear(8, 8)
    def forward(self, x):
        h = torch.zeros(len(x), 8)
        for t in range(4):
            h = self.read(x[:, t], h)
        out = 0
        for t in range(3):
            h = self.write(torch.zeros(len(x), 4), h)
            out = out + h
        return self.head(out + self.noise(torch.zeros(len(x), 8)))
net = Pair()
"""
    + LOOP
)


@pytest.mark.parametrize(
    "text",
    [
        CELL.replace("self.cell(x[:, t])", "self.cell(x[:, t], h if t else None)"),
        INSIDE.replace("            h, c = torch.zeros(len(x), 8), torch.zeros(len(x), 8)\n", "").replace(
            "        outs = []\n", "        outs = []\n        h = c = torch.zeros(len(x), 8)\n"
        ),
        BY_STEP.replace("o, new", "o, state"),
        BY_HAND.replace("            h = x.new", "            h = h if t else x.new"),
        JOINED.replace("self.step(x[:, t])", "self.step(x[:, t], h)"),
        EACH,
        TWO,
    ],
    ids=["cell", "inside", "by step", "by hand", "joined", "each sample", "two"],
)
def test_a_state_that_is_handed_on_is_not_accused(text):
    assert said(text) == {}


BOTH = (
    """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 6, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 2)
    def forward(self, x):
        out, (h, c) = self.rnn(x)
        return self.head(
            out[:, -1]
        )
net = Reader()
"""
    + LOOP
)
TIME_FIRST = BOTH.replace("batch_first=True, ", "").replace("self.rnn(x)", "self.rnn(x.transpose(0, 1))")
TIME_FIRST = TIME_FIRST.replace("out[:, -1]", "torch.relu(out[-1])")
DEEP = BOTH.replace("LSTM(4, 6, ", "GRU(4, 6, num_layers=2, ").replace("out, (h, c)", "out, h")
DEEP = DEEP.replace("out[:, -1]", "F.dropout(out, 0.1)[:, x.shape[1] - 1, :]")


@pytest.mark.parametrize("text", [BOTH, TIME_FIRST, DEEP], ids=["batch first", "time first", "deep"])
def test_the_last_step_of_both_ways_is_found_where_it_is_read(text):
    assert said(text) == {"one half": [9]}


@pytest.mark.parametrize(
    "text",
    [
        BOTH.replace("out[:, -1]", "torch.cat([h[0], h[1]], 1)"),
        BOTH.replace("out[:, -1]", "torch.cat([out[:, -1, :6], out[:, 0, 6:]], 1)"),
        BOTH.replace("out[:, -1]", "out.mean(1)"),
        BOTH.replace("out[:, -1]", "out[:, -1] + out.max(1)[0]"),
        BOTH.replace("bidirectional=True", "num_layers=2").replace("(12, 2)", "(6, 2)"),
        DEEP.replace("F.dropout(out, 0.1)[:, x.shape[1] - 1, :]", "h[-2:].transpose(0, 1).flatten(1)"),
    ],
)
def test_what_has_seen_all_steps_is_not_accused(text):
    assert said(text) == {}


def test_final_states_that_are_dealt_out_anew_are_known_as_such():
    text = BOTH.replace("out[:, -1]", "h.view(x.shape[0], -1)")
    assert said(text) == {"scrambled": [9]}
