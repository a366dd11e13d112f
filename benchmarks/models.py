"""Small networks that the training rows build in either library."""


def lenet(nn):
    """LeNet for 32x32 colour images."""
    return nn.Sequential(
        nn.Conv2d(3, 6, 5),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Linear(16 * 5 * 5, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def resnet18(nn):
    """ResNet-18 with a stem for 32x32 images: a 3x3 convolution and no pooling."""

    class Block(nn.Module):
        def __init__(self, channels, filters, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(filters)
            self.conv2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(filters)
            self.relu = nn.ReLU(inplace=True)
            self.shortcut = None
            if stride != 1 or channels != filters:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(channels, filters, 1, stride, bias=False), nn.BatchNorm2d(filters)
                )

        def forward(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(y + (x if self.shortcut is None else self.shortcut(x)))

    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    channels = 64
    for filters, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(channels, filters, stride), Block(filters, filters, 1)]
        channels = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def gpt(lib, vocabulary=256, width=128, heads=4, blocks=2, length=64):
    """A causal language model of two Transformer blocks."""
    nn = lib.nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = self.qkv(x).view(b, t, 3, heads, width // heads).permute(2, 0, 3, 1, 4).unbind(0)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(b, t, width))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = Attention()
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            x = x + self.attention(self.ln1(x))
            return x + self.mlp(self.ln2(x))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(*[Block() for _ in range(blocks)])
            self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

        def forward(self, tokens):
            x = self.tokens(tokens) + self.places(lib.arange(tokens.shape[1], device=tokens.device))
            return self.head(self.ln(self.blocks(x)))

    return GPT()


def language_lstm(lib, vocabulary=1000, width=200):
    """A language model on a two-layer LSTM."""
    nn = lib.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width)
            self.lstm = nn.LSTM(width, width, num_layers=2)
            self.head = nn.Linear(width, vocabulary)

        def forward(self, tokens):
            return self.head(self.lstm(self.tokens(tokens))[0])

    return Model()
