"""Encoders beside decoders, masks of what follows, and final states of padded sequences."""

import pytest

from .marked import guilty, said

TURNED = """\
words, steps, wide = 12, 6, 32
src = torch.randint(2, words, (120, steps))
tgt = src.flip(1)
def early(n):
    return torch.ones(n, n).triu(1).bool()
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(words, wide)
        self.p = nn.Parameter(torch.randn(steps, wide) * 0.1)
        self.tr = nn.Transformer(wide, 2, 1, 1, 64, dropout=0.0, batch_first=True)
        self.o = nn.Linear(wide, words)
    def forward(self, s, t):
        return self.o(self.tr(self.e(s) + self.p, self.e(t) + self.p, tgt_mask=early(t.size(1))))
net = Pair()
opt = torch.optim.Adam(net.parameters(), lr=0.003)
for epoch in range(4):
    for i in torch.randperm(120).split(30):
        given = torch.cat([torch.ones(len(i), 1, dtype=torch.long), tgt[i][:, :-1]], 1)
        loss = F.cross_entropy(net(src[i], given).reshape(-1, words), tgt[i].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
BOTH = """\
words, steps = 12, 6
src = torch.randint(2, words, (120, steps))
tgt = src.sort(1).values
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Embedding(words, 16), nn.Embedding(words, 16)
        self.enc = nn.GRU(16, 16, batch_first=True, bidirectional=True)
        self.dec = nn.GRU(16, 32, batch_first=True)
        self.q, self.k, self.w = nn.Linear(32, 24), nn.Linear(32, 24), nn.Linear(24, 1)
        self.o = nn.Linear(64, words)
    def forward(self, s, t):
        seen, h = self.enc(self.a(s))
        out, _ = self.dec(self.b(t), torch.cat([h[0], h[1]], 1).unsqueeze(0))
        SCORES
        return self.o(torch.cat([out, scores.softmax(-1) @ seen], -1))
net = Pair()
opt = torch.optim.Adam(net.parameters(), lr=0.003)
for epoch in range(4):
    for i in torch.randperm(120).split(30):
        given = torch.cat([torch.ones(len(i), 1, dtype=torch.long), tgt[i][:, :-1]], 1)
        loss = F.cross_entropy(net(src[i], given).reshape(-1, words), tgt[i].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
DOT = BOTH.replace("SCORES", "scores = self.q(out) @ self.k(seen).transpose(1, 2) / 5")
SUM = BOTH.replace(
    "SCORES", "scores = self.w(torch.tanh(self.q(out)[:, :, None] + self.k(seen)[:, None])).squeeze(-1)"
)


@pytest.mark.parametrize("text", [TURNED, DOT, SUM])
def test_an_encoder_that_sees_all_of_another_sequence_is_not_accused(text):
    assert "sees ahead" not in said(text)


@pytest.mark.parametrize(
    "mask",
    [
        "torch.triu(torch.ones(n, n), 1)",  # ones that are added to the scores
        "torch.ones(n, n).triu(2).bool()",
        "torch.ones(n, n).tril(-1).bool()",
        "(torch.arange(n)[:, None] > torch.arange(n) + 1)",
    ],
)
def test_a_mask_that_hides_something_else_is_named(mask):
    text = TURNED.replace("torch.ones(n, n).triu(1).bool()", f"{mask}  # <-")
    assert guilty(text) & set(said(text)["sees ahead"])


def test_a_decoder_without_a_mask_is_named():
    assert "sees ahead" in said(TURNED.replace(", tgt_mask=early(t.size(1))", ""))


@pytest.mark.parametrize(
    "mask",
    [
        "nn.Transformer.generate_square_subsequent_mask(n)",
        "torch.full((n, n), -1e9).triu(1)",
        "torch.arange(n)[:, None] < torch.arange(n)",
    ],
)
def test_a_mask_of_what_follows_is_not_accused(mask):
    assert said(TURNED.replace("torch.ones(n, n).triu(1).bool()", mask)) == {}


STATE = """\
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence
rows = [torch.randint(1, 20, (int(n),)) for n in torch.randint(3, 15, (240,))]
y = torch.tensor([int(s[0] > 10) for s in rows])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 16, padding_idx=0)
        self.rnn = nn.LSTM(16, 32, batch_first=True)
        self.out = nn.Linear(32, 2)
    def forward(self, x, lengths):
        _, (h, _) = self.rnn(self.table(x))  # <-
        return self.out(h[-1])
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.005)
for epoch in range(3):
    for i in torch.randperm(240).split(30):
        batch = [rows[j] for j in i.tolist()]
        x = pad_sequence(batch, batch_first=True)
        lengths = torch.tensor([len(s) for s in batch])
        loss = F.cross_entropy(net(x, lengths), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
PACK = "pack_padded_sequence(self.table(x), lengths, batch_first=True, enforce_sorted=False)"
PACKED = STATE.replace("self.table(x))", PACK + ")")
GATED = (
    STATE.replace("nn.LSTM(16, 32, batch_first=True)", "nn.GRU(16, 32, num_layers=2)")
    .replace("_, (h, _) =", "_, h =")
    .replace("self.table(x)", "self.table(x).transpose(0, 1)")
)


@pytest.mark.parametrize("text", [STATE, GATED, PACKED.replace("for s in batch])", "for s in x])")])
def test_a_final_state_after_padding_is_named(text):
    assert guilty(text) & set(said(text)["reads padding"])


STEPS = STATE.replace("_, (h, _) = self.rnn(self.table(x))", "o, (h, _) = self.rnn(self.table(x))")
READ = [
    PACKED,
    STATE.replace(
        "pad_sequence(batch, batch_first=True)",
        "pad_sequence([s.flip(0) for s in batch], batch_first=True).flip(1)",
    ),
    STEPS.replace("self.out(h[-1])", "self.out(o[torch.arange(len(o)), lengths - 1])"),
    STEPS.replace("self.out(h[-1])", "self.out(h[-1] + (o * (x != 0)[..., None]).sum(1) / lengths[:, None])"),
    STATE.replace("(3, 15,", "(13, 15,"),
]


@pytest.mark.parametrize("text", READ)
def test_a_state_that_has_seen_no_padding_is_not_accused(text):
    assert "reads padding" not in said(text)


def test_the_state_of_an_encoder_that_begins_a_decoder_is_not_accused():
    text = STATE.replace(
        "self.out = nn.Linear(32, 2)",
        "self.out, self.dec = nn.Linear(32, 2), nn.GRU(16, 32, batch_first=True)",
    )
    text = text.replace(
        "return self.out(h[-1])", "return self.out(self.dec(self.table(x[:, :1]), h)[0][:, 0])"
    )
    assert "reads padding" not in said(text)
