"""Recurrent nets: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "two directions' last states viewed as one",
    "the last states (directions, batch, hidden) are viewed as (batch, 2 * hidden), which mixes examples",
    ("scrambled",),
    (26,),
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
STEPS, HIDDEN = 16, 24


def waves(n):
    kind = torch.randint(0, 3, (n,))
    t = torch.linspace(0, 1, STEPS)
    phase = torch.rand(n, 1) * 0.5
    speed = (kind + 1).unsqueeze(1).float()
    x = torch.sin(6.28 * (speed * t + phase)) + 0.2 * torch.randn(n, STEPS)
    return x.unsqueeze(-1), kind


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, HIDDEN, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * HIDDEN, 3)

    def forward(self, x):
        _, (h_n, _) = self.lstm(x)
        features = torch.cat([h_n[0], h_n[1]], dim=1)
        return self.fc(features)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    loader = DataLoader(TensorDataset(*waves(1500)), batch_size=50, shuffle=True)
    test_x, test_y = waves(400)
    model = WaveNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5)
    for epoch in range(8):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        scheduler.step()
        test_loss, accuracy = evaluate(model, test_x, test_y)
        print(f"epoch {epoch + 1}: test loss {test_loss:.3f}, accuracy {accuracy:.3f}")


main()
""",
    (
        "        features = torch.cat([h_n[0], h_n[1]], dim=1)\n",
        "        features = h_n.view(x.size(0), -1)\n",
    ),
)

fault(
    "last step of padded sequences read",
    "the answer is read off the last padded step, which is zero for all but the longest sequences, instead of "
    "each sequence's own last step",
    ("last padded step",),
    (42,),
    """\
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

random.seed(0)
torch.manual_seed(0)


class Brackets(Dataset):
    def __init__(self, n):
        self.items = []
        for _ in range(n):
            length = random.randint(3, 14)
            steps = torch.tensor([random.choice([-1.0, 1.0]) for _ in range(length)])
            self.items.append((steps.unsqueeze(1), steps.sum() / 4))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    sequences, targets = zip(*batch)
    lengths = torch.tensor([len(s) for s in sequences])
    return pad_sequence(sequences, batch_first=True), lengths, torch.stack(targets)


class Counter(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        last = states[torch.arange(len(x)), lengths - 1]
        return self.out(last).squeeze(1)


loader = DataLoader(Brackets(1200), batch_size=40, shuffle=True, collate_fn=collate)
model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.MSELoss()
for epoch in range(8):
    running = 0.0
    for x, lengths, target in loader:
        loss = criterion(model(x, lengths), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch}: mse {running / len(loader):.4f}")
""",
    (
        "        last = states[torch.arange(len(x)), lengths - 1]\n",
        "        last = states[:, -1]\n",
    ),
)
