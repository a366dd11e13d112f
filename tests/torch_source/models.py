"""Networks of torch, written by hand, and a loss of each: what people debug."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


class LeNet(nn.Module):
    """Convolutions, pooling, three linear layers."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(torch.tanh(self.conv1(x)), 2)
        x = F.max_pool2d(torch.tanh(self.conv2(x)), 2).flatten(1)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after)
        self.conv2, self.bn2 = nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after)
        self.down = None
        if stride > 1 or before != after:
            self.down = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x):
        around = x if self.down is None else self.down(x)
        x = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(self.bn2(self.conv2(x)) + around)


class ResNet18(nn.Module):
    """The network of that name."""

    def __init__(self, width=16, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        )
        before = width
        for i in range(4):
            after = width << i
            made = nn.Sequential(Block(before, after, 1 if i == 0 else 2), Block(after, after, 1))
            setattr(self, f"layer{i + 1}", made)
            before = after
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(before, classes)

    def forward(self, x):
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
        return self.fc(self.pool(x).flatten(1))


class Attention(nn.Module):
    """Causal attention by the fused function."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class GPT(nn.Module):
    """A small one; the last layer has the weight of the first."""

    def __init__(self, words=17, dim=16, blocks=2, checkpointed=False):
        super().__init__()
        self.checkpointed = checkpointed
        self.words, self.places = nn.Embedding(words, dim), nn.Embedding(32, dim)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "ln1": nn.LayerNorm(dim),
                    "attn": Attention(dim, 2),
                    "ln2": nn.LayerNorm(dim),
                    "mlp": nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)),
                }
            )
            for _ in range(blocks)
        )
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = checkpoint(_block, block, x, use_reentrant=False) if self.checkpointed else _block(block, x)
        return self.head(self.norm(x))


def _block(block, x):
    x = x + block["attn"](block["ln1"](x))
    return x + block["mlp"](block["ln2"](x))


class Tagger(nn.Module):
    """Two LSTM layers."""

    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.out = (
            nn.Embedding(11, 6),
            nn.LSTM(6, 8, 2, batch_first=True),
            nn.Linear(8, 3),
        )

    def forward(self, tokens):
        return self.out(self.lstm(self.words(tokens))[0])


def lenet():
    net = LeNet()
    return net, lambda: F.cross_entropy(net(torch.randn(4, 1, 28, 28)), torch.tensor([3, 1, 4, 1]))


def resnet():
    net = ResNet18()
    return net, lambda: F.cross_entropy(net(torch.randn(3, 3, 32, 32)), torch.tensor([3, 1, 4]))


def gpt(checkpointed=False):
    net = GPT(checkpointed=checkpointed)

    def loss():
        tokens = torch.randint(0, 17, (2, 9))
        return F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    return net, loss


def lstm():
    net = Tagger()

    def loss():
        out = net(torch.randint(0, 11, (3, 5)))
        return F.cross_entropy(out.flatten(0, 1), torch.randint(0, 3, (15,)))

    return net, loss


MODELS = {
    "LeNet": lenet,
    "ResNet-18": resnet,
    "GPT": gpt,
    "GPT with checkpoints": lambda: gpt(True),
    "LSTM": lstm,
}
