"""Padding that is read, attended to or learned: rows whose last step is empty, masks that are the wrong way round."""

import pytest

from .harness import run

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
torch.manual_seed(0)
lengths = torch.randint(2, 8, (96,))
lengths[::8] = 7
rows = [torch.randint(1, 12, (int(n),)) for n in lengths]
tokens = pad_sequence(rows, batch_first=True)
labels = torch.tensor([int((r > 6).sum() * 2 > len(r)) for r in rows])
"""
BEFORE = len(HEAD.splitlines())
LOOP = """
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(96).split(16):
        loss = F.cross_entropy(net(tokens[pick], lengths[pick]), labels[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def said(text):
    """The rules that say something of a program, with their lines."""
    what = run("padding", HEAD + text)
    assert not what.failures and not what.error
    return {one.rule: [line.line - BEFORE for line in one.named] for one in what.findings}


def guilty(text):
    """The lines that are marked."""
    return {i for i, one in enumerate(text.splitlines(), 1) if "# <-" in one}


PACKED = (
    """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(12, 8, padding_idx=0)
        self.rnn = nn.LSTM(8, 12, batch_first=True)
        self.head = nn.Linear(12, 2)
    def forward(self, x, n):
        packed = pack_padded_sequence(self.table(x), n, batch_first=True, enforce_sorted=False)
        out, (h, c) = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        last = out[:, -1]
        return self.head(last)
net = Reader()
"""
    + LOOP
)
TIME_FIRST = (
    """\
table, rnn, head = nn.Embedding(12, 8), nn.GRU(8, 12), nn.Linear(12, 2)
class Parts(nn.ModuleList):
    def forward(self, x, n):
        packed = pack_padded_sequence(self[0](x).transpose(0, 1), n, enforce_sorted=False)
        states = pad_packed_sequence(self[1](packed)[0])[0]
        return self[2](
            torch.relu(states[-1])
        )
net = Parts([table, rnn, head])
"""
    + LOOP
)
FACTOR = (
    """\
class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.conv = nn.Embedding(12, 8), nn.Conv1d(8, 10, 3, padding=1)
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(10, 2))
    def forward(self, x, n):
        there = (torch.arange(x.shape[1]) < n[:, None]).float()
        seen = self.conv(self.table(x).transpose(1, 2)).transpose(1, 2)
        seen = seen * there.unsqueeze(-1)
        final = seen[:, x.shape[1] - 1, :]
        return self.head(final)
net = Steps()
"""
    + LOOP
)
ATTEND = (
    """\
def keep(x):
    return x.ne(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(12, 8, padding_idx=0)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.head = nn.Linear(8, 2)
    def forward(self, x, n):
        h = self.table(x)
        left_out = keep(x)
        h, _ = self.attend(h, h, h, key_padding_mask=left_out)
        return self.head(h.mean(1))
net = Net()
"""
    + LOOP
)
BY_HAND = (
    """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(12, 8, padding_idx=0)
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
        self.head = nn.Linear(8, 2)
    def forward(self, x, n):
        h = self.table(x)
        pad = x == 0
        scores = self.q(h) @ self.k(h).transpose(1, 2) / 8**0.5
        scores = scores.masked_fill(~pad.unsqueeze(1), -1e9)
        mixed = scores.softmax(-1) @ self.v(h)
        return self.head(mixed.masked_fill(pad.unsqueeze(-1), 0.0).sum(1) / n[:, None])
net = Net()
"""
    + LOOP
)
READY = (
    """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.v, self.head = nn.Embedding(12, 8), nn.Linear(8, 8), nn.Linear(8, 2)
    def forward(self, x, n):
        h = self.table(x)
        allowed = torch.arange(x.shape[1])[None] >= n[:, None]
        h = F.scaled_dot_product_attention(h, h, self.v(h), attn_mask=allowed[:, None])
        return self.head(h[:, 0])
net = Net()
"""
    + LOOP
)
POOL = (
    """\
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.inner, self.head = nn.Embedding(12, 8), nn.Linear(8, 8), nn.Linear(8, 2)
    def forward(self, x, n):
        h = torch.tanh(self.inner(self.table(x)))
        mask = (x == 0).float().unsqueeze(-1)
        mean = (h * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.head(mean)
net = Bag()
"""
    + LOOP
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [(PACKED, [11]), (TIME_FIRST, [7]), (FACTOR, [10])],
    ids=["packed", "time first", "factor"],
)
def test_a_last_step_that_is_padding_is_found_where_it_is_read(text, lines):
    assert said(text)["last padded step"] == lines


ENDS = "last = out[torch.arange(len(x)), n - 1]"


@pytest.mark.parametrize(
    "text",
    [
        PACKED.replace("last = out[:, -1]", ENDS),
        PACKED.replace("last = out[:, -1]", "last = h[-1]"),
        PACKED.replace("last = out[:, -1]", "last = out.sum(1) / n[:, None]"),
        PACKED.replace("last = out[:, -1]", "last = out.max(1)[0]"),
        TIME_FIRST.replace("states[-1]", "states[n - 1, torch.arange(len(n))]"),
        FACTOR.replace(
            "seen[:, x.shape[1] - 1, :]", "sum(seen[:, t] for t in range(x.shape[1])) / n[:, None]"
        ),
        FACTOR.replace("seen[:, x.shape[1] - 1, :]", "seen.flip(1)[:, -1]"),
    ],
)
def test_what_reads_the_end_of_each_row_is_not_accused(text):
    assert said(text) == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [(ATTEND, 2), (BY_HAND, 11), (READY, 7), (POOL, 7)],
    ids=["module", "by hand", "ready", "pool"],
)
def test_a_mask_that_is_the_wrong_way_round_is_found_where_it_is_made_or_given(text, line):
    found = said(text)
    assert next(iter(found)) == "wrong way round"
    assert line in found["wrong way round"]


def test_both_lines_of_a_mask_are_named():
    assert said(ATTEND)["wrong way round"] == [2, 12]
    assert said(READY)["wrong way round"] == [7, 8]


@pytest.mark.parametrize(
    "text",
    [
        ATTEND.replace("x.ne(0)", "x.eq(0)"),
        BY_HAND.replace("~pad.un", "pad.un"),
        READY.replace(">=", "<"),
        POOL.replace("x == 0", "x != 0"),
        ATTEND.replace("key_padding_mask=left_out", "key_padding_mask=~left_out"),
        BY_HAND.replace(
            "scores = scores.masked_fill(~pad.unsqueeze(1), -1e9)\n",
            "scores = scores + -1e9 * pad[:, None].float()\n",
        ),
        POOL.replace("(h * mask)", "(h * (1 - mask) + mask * self.inner.bias)").replace(
            "mask.sum(1)", "n[:, None]"
        ),
    ],
)
def test_a_mask_that_leaves_out_the_padding_is_not_accused(text):
    assert said(text) == {}


TAGS = """\
kinds = (tokens > 6).long() + (tokens > 0).long()
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn = nn.Embedding(12, 8, padding_idx=0), nn.GRU(8, 12, batch_first=True)
        self.head = nn.Linear(12, 3)
    def forward(self, x):
        return self.head(self.rnn(self.table(x))[0])
net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
rule = nn.CrossEntropyLoss()
for epoch in range(4):
    for pick in torch.randperm(96).split(16):
        out = net(tokens[pick])
        loss = rule(out.transpose(1, 2), kinds[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
FLAT = TAGS.replace(
    "rule(out.transpose(1, 2), kinds[pick])", "F.cross_entropy(out.reshape(-1, 3), kinds[pick].view(-1))"
)
NEXT = """\
lines = torch.zeros(96, 9, dtype=torch.long)
for i, one in enumerate(rows):
    lines[i, : len(one) + 1] = torch.cat([one, torch.tensor([12])])
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn = nn.Embedding(13, 8), nn.LSTM(8, 12, batch_first=True)
        self.head = nn.Linear(12, 13)
    def forward(self, x):
        return self.head(self.rnn(self.table(x))[0])
net = Model()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    for pick in torch.randperm(96).split(16):
        given, wanted = lines[pick, :-1], lines[pick, 1:]
        scores = net(given).log_softmax(-1)
        loss = F.nll_loss(scores.flatten(0, 1), wanted.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("text", "lines"), [(TAGS, [15, 11]), (FLAT, [15]), (NEXT, [17])], ids=["made", "flat", "next"]
)
def test_padding_that_a_loss_counts_is_found_where_it_does(text, lines):
    assert said(text) == {"padding counted": lines}


@pytest.mark.parametrize(
    "text",
    [
        TAGS.replace("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(ignore_index=0)"),
        TAGS.replace("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(weight=torch.tensor([0.0, 1, 1]))"),
        FLAT.replace("kinds[pick].view(-1))", "kinds[pick].view(-1), weight=torch.tensor([0.0, 1, 1]))"),
        FLAT.replace(
            "F.cross_entropy(out.reshape(-1, 3), kinds[pick].view(-1))",
            "(F.cross_entropy(out.mT, kinds[pick], reduction='none') * (kinds[pick] > 0)).sum() / 64",
        ),
        FLAT.replace(
            "out.reshape(-1, 3), kinds[pick].view(-1)", "out[kinds[pick] > 0], kinds[pick][kinds[pick] > 0]"
        ),
        NEXT.replace("torch.tensor([12])", "torch.tensor([0])"),
        NEXT.replace("wanted.flatten())", "wanted.flatten(), ignore_index=0)"),
    ],
)
def test_a_loss_that_leaves_the_padding_out_is_not_accused(text):
    assert said(text) == {}


BOTH = """\
lines = torch.randint(0, 9, (64, 7))
table, rnn, head = nn.Embedding(9, 8), nn.GRU(8, 12, batch_first=True, bidirectional=True), nn.Linear(24, 9)  # <-
opt = torch.optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()], lr=0.01)
for epoch in range(3):
    for batch in lines.split(16):
        loss = F.cross_entropy(head(rnn(table(batch[:, :-1]))[0]).flatten(0, 1), batch[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
ADDED = """\
lines = torch.randint(0, 9, (64, 7))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.three, self.head = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9)
        self.weigh, self.far = nn.Linear(8, 1), nn.Embedding(12, 1)
    def forward(self, x):
        n = x.shape[1]
        q, k, v = self.three(self.table(x)).chunk(3, -1)
        scores = self.weigh(torch.tanh(q[:, :, None] + k[:, None]))[..., 0]
        gap = torch.arange(n)[:, None] - torch.arange(n) + 5
        scores = scores + self.far(gap)[..., 0]
        return self.head(scores.softmax(-1) @ v)  # <-
net = Model()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for batch in lines.split(16):
        loss = F.cross_entropy(net(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
DECODES = """\
def pairs(n):
    src = torch.randint(3, 12, (n, 7))
    out = src.flip(1)
    return src, torch.cat([torch.ones(n, 1, dtype=torch.long), out[:, :-1]], 1), out
class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.words, self.places = nn.Embedding(12, d), nn.Parameter(torch.randn(7, d) * 0.1)
        self.e, self.c, self.s = nn.Linear(d, 3 * d), nn.Linear(d, 3 * d), nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, 12)
    def attend(self, q, k, v, mask=None):
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        return scores.softmax(-1) @ v  # <-
    def forward(self, src, tgt):
        x = self.words(src) + self.places
        x = x + self.attend(*self.e(x).chunk(3, -1))
        y = self.words(tgt) + self.places
        y = y + self.attend(*self.s(y).chunk(3, -1))
        q = self.c(y).chunk(3, -1)[0]
        k, v = self.c(x).chunk(3, -1)[1:]
        return self.out(y + self.attend(q, k, v))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for step in range(60):
    src, given, wanted = pairs(48)
    loss = F.cross_entropy(net(src, given).flatten(0, 1), wanted.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
SORTS = """\
def pairs(n):
    src = torch.randint(3, 13, (n, 6))
    first, last = torch.full((n, 1), 1), torch.full((n, 1), 2)
    return src, torch.cat([first, src.sort(1).values, last], 1)
class Reads(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn = nn.Embedding(13, 16), nn.GRU(16, 16, batch_first=True, bidirectional=True)
        self.join, self.start = nn.Linear(32, 16), nn.Linear(32, 16)
    def forward(self, src):
        out, h = self.rnn(self.table(src))
        return self.join(out), torch.tanh(self.start(torch.cat([h[0], h[1]], -1)))
class Says(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.rnn, self.out = nn.Embedding(13, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(32, 13)
    def forward(self, tokens, memory, h):
        states, _ = self.rnn(self.table(tokens), h)
        weights = torch.softmax(states @ memory.transpose(1, 2), dim=-1)
        return self.out(torch.cat([states, weights @ memory], -1))
reads, says = Reads(), Says()
opt = torch.optim.Adam([*reads.parameters(), *says.parameters()], lr=4e-3)
for step in range(60):
    src, tgt = pairs(32)
    memory, h = reads(src)
    loss = F.cross_entropy(says(tgt[:, :-1], memory, h[None]).transpose(1, 2), tgt[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
READS = """\
def pairs(n):
    src = torch.randint(3, 12, (n, 6))
    return src, torch.cat([torch.full((n, 1), 1), src, torch.full((n, 1), 2)], 1)
words = nn.Embedding(12, 24)
enc = nn.LSTM(24, 12, batch_first=True, bidirectional=True)
dec = nn.LSTM(24, 24, batch_first=True)
out = nn.Linear(48, 12)
every = [*words.parameters(), *enc.parameters(), *dec.parameters(), *out.parameters()]
opt = torch.optim.Adam(every, lr=5e-3)
for step in range(60):
    src, tgt = pairs(32)
    memory, _ = enc(words(src))
    states, _ = dec(words(tgt[:, :-1]))
    read = F.scaled_dot_product_attention(states, memory, memory)
    loss = F.cross_entropy(out(torch.cat([states, read], -1)).transpose(1, 2), tgt[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
TAGGED = """\
words = torch.randint(0, 9, (128, 8))
tags = ((words + words.roll(-1, 1)) % 3)
table, rnn, head = nn.Embedding(9, 16), nn.LSTM(16, 24, batch_first=True, bidirectional=True), nn.Linear(48, 3)
opt = torch.optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()], lr=1e-2)
for epoch in range(10):
    for pick in torch.randperm(128).split(32):
        loss = F.cross_entropy(head(rnn(table(words[pick]))[0]).flatten(0, 1), tags[pick].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
AHEAD = """\
lines = torch.randint(0, 9, (64, 7))
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.three, self.head = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9)
        seen = torch.tril(torch.ones(10, 10), diagonal=1)
        self.register_buffer("seen", seen == 1)
    def forward(self, x):
        q, k, v = self.three(self.table(x)).chunk(3, -1)
        scores = q @ k.transpose(1, 2)
        scores = scores.masked_fill(~self.seen[: x.shape[1], : x.shape[1]], float("-inf"))
        return self.head(scores.softmax(-1) @ v)
net = Model()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for batch in lines.split(16):
        loss = F.cross_entropy(net(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


def test_a_mask_with_a_wrong_diagonal_is_named_where_it_is_made():
    assert said(AHEAD) == {"sees ahead": [12, 6]}
    assert said(AHEAD.replace("diagonal=1", "diagonal=0")) == {}


@pytest.mark.parametrize("text", [BOTH, ADDED, DECODES], ids=["both ways", "added", "decoder"])
def test_what_computes_from_tokens_to_come_is_found(text):
    found = said(text)
    assert guilty(text) & set(found["sees ahead"]), found


@pytest.mark.parametrize(
    "text",
    [
        SORTS,
        READS,
        TAGGED,
        DECODES.replace("mask=None", "mask=None, ahead=None").replace(
            "self.s(y).chunk(3, -1))", "self.s(y).chunk(3, -1), mask=torch.ones(7, 7).triu(1).bool())"
        ),
    ],
    ids=["sorts", "reads", "tags", "transformer"],
)
def test_an_encoder_of_another_sequence_may_see_all_of_it(text):
    assert said(text) == {}
