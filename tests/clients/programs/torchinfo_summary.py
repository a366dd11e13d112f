"""The tables that torchinfo prints of nets of several kinds."""

import torch
from reporting import report
from torch import nn
from torchinfo import summary


class Tagger(nn.Module):
    """An embedding, a recurrent layer in two directions, and a part that is used twice."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.mix = nn.Linear(24, 24)
        self.tags = nn.ModuleDict({"noun": nn.Linear(24, 3), "verb": nn.Linear(24, 2)})
        self.scale = nn.Parameter(torch.ones(24))

    def forward(self, words, lengths=None):
        """The scores of each tag."""
        x, _ = self.lstm(self.embedding(words))
        x = self.mix(self.mix(x).relu()) * self.scale
        return {name: layer(x) for name, layer in self.tags.items()}


class Block(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, n, m, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(n, m, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(m)
        self.conv2 = nn.Conv2d(m, m, 3, padding=1, groups=m)
        self.down = nn.Conv2d(n, m, 1, stride) if n != m else nn.Identity()

    def forward(self, x):
        """Their sum."""
        return torch.relu(self.conv2(torch.relu(self.bn1(self.conv1(x)))) + self.down(x))


columns = (
    "input_size",
    "output_size",
    "num_params",
    "params_percent",
    "kernel_size",
    "mult_adds",
    "trainable",
)
net = nn.Sequential(Block(3, 8, 1), Block(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
report("convolutions", str(summary(net, (2, 3, 16, 16), depth=4, col_names=columns, verbose=0)))
net[0].requires_grad_(False)
report("frozen", str(summary(net, (2, 3, 16, 16), row_settings=("depth", "var_names"), verbose=0)))
words = torch.randint(50, (4, 7))
report("tagger", str(summary(Tagger(), input_data=[words], col_names=columns, depth=3, verbose=0)))
report("types", str(summary(Tagger(), (4, 7), dtypes=[torch.long], verbose=0)))
attention = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
report("transformer", str(summary(attention, (2, 5, 16), depth=4, verbose=0)))
report("without a run", str(summary(net, verbose=0)))
found = summary(net, (1, 3, 32, 32), verbose=0)
report("totals", [found.total_params, found.trainable_params, found.total_mult_adds, found.total_input])
