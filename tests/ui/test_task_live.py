"""Trainings that are no classification, in a real notebook: the panel takes the shape of what the loop is about."""

import re

import pytest
from playwright.sync_api import expect

START = """%load_ext vistorch
import vistorch as torch
from vistorch import nn, vt
import vistorch.nn.functional as F
torch.manual_seed(0)"""
SINE = """%%vt watch --name run --classes ["sine","line"]
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.linspace(-3, 3, 128).reshape(-1, 1)
y = torch.cat([torch.sin(x), 2 * x], 1)
for step in range(4000):
    optimizer.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()"""
LETTERS = """text = "the quick brown fox jumps over the lazy dog\\n" * 40
letters = sorted(set(text)); V = len(letters)
ids = torch.tensor([letters.index(c) for c in text])
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attend = nn.MultiheadAttention(d, 2, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
    def forward(self, x):
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1]), 1).bool()
        q = self.n1(x)
        x = x + self.attend(q, q, q, attn_mask=mask, need_weights=False)[0]
        return x + self.feed(self.n2(x))
class GPT(nn.Module):
    def __init__(self, d=32, T=24):
        super().__init__()
        self.tokens, self.places = nn.Embedding(V, d), nn.Embedding(T, d)
        self.blocks, self.head = nn.Sequential(Block(d), Block(d)), nn.Linear(d, V)
    def forward(self, x):
        return self.head(self.blocks(self.tokens(x) + self.places(torch.arange(x.shape[1]))))
gpt = GPT(); optimizer = torch.optim.Adam(gpt.parameters(), lr=3e-3)"""
SPELL = """%%vt watch --name run --classes letters
for step in range(150):
    at = torch.randint(0, len(text) - 25, (16,)).tolist()
    batch = torch.stack([ids[i:i + 25] for i in at])
    optimizer.zero_grad()
    loss = F.cross_entropy(gpt(batch[:, :-1]).view(-1, V), batch[:, 1:].reshape(-1))
    loss.backward()
    optimizer.step()"""
GAME = """%%vt watch --name run
make, judge = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
a, b = torch.optim.Adam(make.parameters(), lr=1e-3), torch.optim.Adam(judge.parameters(), lr=1e-3)
loss = F.binary_cross_entropy_with_logits
for step in range(600):
    b.zero_grad()
    real = loss(judge(torch.randn(32, 2) + 2), torch.ones(32, 1))
    (real + loss(judge(make(torch.randn(32, 2)).detach()), torch.zeros(32, 1))).backward()
    b.step()
    a.zero_grad()
    loss(judge(make(torch.randn(32, 2))), torch.ones(32, 1)).backward()
    a.step()"""


def opened(notebook, *cells):
    """Run cells in a notebook, and give the panel of the last one while it runs."""
    nb = notebook(START, *cells)
    for i in range(len(cells)):
        nb.run(i)
    nb.start(len(cells))
    panel = nb.output(len(cells)).locator(".vt-watch").first
    expect(panel).to_be_visible(timeout=20_000)
    return nb, panel


def tabs(panel):
    return panel.locator(".vt-w-tabs > button:visible").evaluate_all("all => all.map(b => b.dataset.key)")


@pytest.mark.parametrize(
    ("cells", "shown", "first", "text"),
    [
        ((SINE,), "prediction against target", "residuals", r"R²"),
        ((LETTERS, SPELL), "loss by position", "tokens", r"Perplexity"),
    ],
    ids=["regression", "language"],
)
def test_the_panel_follows_the_task(notebook, shoot, cells, shown, first, text):
    nb, panel = opened(notebook, *cells)
    beside = panel.locator(f'section[aria-label="{shown}"]')
    expect(beside).to_be_visible(timeout=20_000)
    expect(beside.locator(".vt-w-big")).to_have_text(re.compile(r"\d"), timeout=20_000)
    shoot("running", panel)
    nb.wait(len(cells))
    expect(panel.locator(".vt-status")).to_have_text(re.compile("finished", re.I), timeout=20_000)
    expect(beside).to_contain_text(re.compile(text))
    assert (
        tabs(panel)[:2] == ["findings", first]
        and "confusion" not in tabs(panel)
        and "result" not in tabs(panel)
    )
    assert panel.locator(".vt-w-pane:visible .vt-w-tr").count() > 4
    shoot("finished", panel)


def test_a_game_of_two_networks_is_a_curve(notebook, shoot):
    nb, panel = opened(notebook, GAME)
    nb.wait(1)
    expect(panel.locator(".vt-w-mainrow")).to_contain_text("nothing to predict", timeout=20_000)
    assert not panel.locator(".vt-class").count() and tabs(panel)[:2] == ["findings", "flow"]
    shoot("finished", panel)
