"""Networks that are written once for both libraries, each with differences that can be planted in one of the runs."""

import math


def lenet(lib, plant=""):
    nn, F = lib.nn, lib.nn.functional

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            padding = {"circular": "circular", "reflect": "reflect"}.get(plant, "zeros")
            self.conv1 = nn.Conv2d(1, 6, 5, padding=2, padding_mode=padding)
            self.conv2 = nn.Conv2d(6, 16, 5)
            self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

        def forward(self, x):
            x = F.max_pool2d(lib.tanh(self.conv1(x)), 2)
            x = (F.avg_pool2d if plant == "average" else F.max_pool2d)(lib.tanh(self.conv2(x)), 2)
            x = lib.relu(self.fc1(x.flatten(1)))
            x = self.fc2(x)
            return self.fc3(F.leaky_relu(x, 0.01) if plant == "leaky" else lib.relu(x))

    net, x = LeNet(), lib.randn(4, 1, 28, 28)
    smoothing = 0.1 if plant == "smoothing" else 0.0
    return net, lambda: F.cross_entropy(net(x), lib.tensor([3, 1, 4, 1]), label_smoothing=smoothing)


def resnet(lib, plant=""):
    nn, F = lib.nn, lib.nn.functional

    class Block(nn.Module):
        def __init__(self, narrow, wide, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(narrow, wide, 3, stride, 1, bias=False), nn.BatchNorm2d(wide)
            self.conv2, self.bn2 = nn.Conv2d(wide, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide)
            if plant == "eps" and wide == 16:
                self.bn1.eps = 1e-3
            self.down = None
            if stride > 1 or narrow != wide:
                self.down = nn.Sequential(
                    nn.Conv2d(narrow, wide, 1, stride, bias=False), nn.BatchNorm2d(wide)
                )

        def forward(self, x):
            around = x if self.down is None else self.down(x)
            x = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
            return F.relu(x) + around if plant == "relu before the sum" else F.relu(x + around)

    class ResNet18(nn.Module):
        def __init__(self, width=8):
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
                blocks = nn.Sequential(Block(before, after, 1 if i == 0 else 2), Block(after, after, 1))
                setattr(self, f"layer{i + 1}", blocks)
                before = after
            self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(before, 10)

        def forward(self, x):
            x = self.layer4(self.layer3(self.layer2(self.layer1(self.stem(x)))))
            return self.fc(self.pool(x).flatten(1))

    net, x = ResNet18(), lib.randn(3, 3, 32, 32)
    if plant == "eval":
        net.layer3.eval()
    return net, lambda: F.cross_entropy(net(x), lib.tensor([3, 1, 4]))


def gpt(lib, plant=""):
    nn, F = lib.nn, lib.nn.functional

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.qkv, self.out = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

        def forward(self, x):
            b, t, d = x.shape
            q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
            if plant in ("by hand", "by hand without scale"):
                scores = q @ k.transpose(-2, -1)
                if plant == "by hand":
                    scores = scores / math.sqrt(q.shape[-1])
                y = scores.masked_fill(lib.ones(t, t).tril() == 0, -math.inf).softmax(-1) @ v
            else:
                scale = 1.0 if plant == "scale" else None
                y = F.scaled_dot_product_attention(q, k, v, is_causal=plant != "no mask", scale=scale)
            return self.out(y.transpose(1, 2).reshape(b, t, d))

    class Block(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.ln1, self.attn = nn.LayerNorm(dim), Attention(dim, 2)
            self.ln2 = nn.LayerNorm(dim, eps=1e-3 if plant == "eps" else 1e-5)
            gelu = nn.GELU(approximate="tanh" if plant == "gelu" else "none")
            self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), gelu, nn.Linear(4 * dim, dim))

        def forward(self, x):
            x = x + self.attn(self.ln1(x))
            return x + self.mlp(self.ln2(x))

    class GPT(nn.Module):
        def __init__(self, words=17, dim=16):
            super().__init__()
            self.words, self.places = nn.Embedding(words, dim), nn.Embedding(32, dim)
            self.blocks = nn.Sequential(Block(dim), Block(dim))
            self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, words, bias=False)
            if plant != "untied":
                self.head.weight = self.words.weight

        def forward(self, tokens):
            x = self.words(tokens)
            if plant == "embedding scaled":
                x = x * 4
            return self.head(self.norm(self.blocks(x + self.places(lib.arange(tokens.shape[1])))))

    net, tokens = GPT(), lib.randint(0, 17, (2, 9))
    return net, lambda: F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def lstm(lib, plant=""):
    nn, F = lib.nn, lib.nn.functional

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            both = plant == "both ways"
            self.words = nn.Embedding(11, 6)
            self.lstm = nn.LSTM(6, 8, 2, batch_first=True, bidirectional=both)
            self.out = nn.Linear(16 if both else 8, 3)

        def forward(self, tokens):
            h = self.words(tokens)
            return self.out(self.lstm(h.flip(1) if plant == "backwards" else h)[0])

    net = Tagger()
    if plant == "forget bias":
        with lib.no_grad():
            net.lstm.bias_ih_l1[8:16].fill_(1.0)
    tokens, labels = lib.randint(0, 11, (3, 5)), lib.randint(0, 3, (15,))
    reduction = "sum" if plant == "sum" else "mean"
    return net, lambda: F.cross_entropy(net(tokens).flatten(0, 1), labels, reduction=reduction)


NETS = {"LeNet": lenet, "ResNet-18": resnet, "GPT": gpt, "LSTM": lstm}
# (net, what is planted, what the sentence names)
PLANTED = [
    ("LeNet", "circular", ["only", "more (number 1, in conv1)", "convolution_with_bias", "in conv1"]),
    ("LeNet", "reflect", ["reflection_pad2d (number 1, in conv1)", "convolution_with_bias"]),
    ("LeNet", "average", ["max_pool2d", "avg_pool2d (number 6)", "inherited"]),
    ("LeNet", "leaky", ["relu", "leaky_relu (number 13)", "addmm", "in fc3", "inherited"]),
    ("LeNet", "smoothing", ["(number 18)", "the backward of nll_loss", "inherited"]),
    ("ResNet-18", "eps", ["native_batch_norm", "in layer2[0].bn1", "by its own doing"]),
    ("ResNet-18", "relu before the sum", ["relu (number 13, in layer1[0])", "add (number 14)", "inherited"]),
    ("ResNet-18", "eval", ["native_batch_norm", "in layer3[0].down[1]", "by its own doing"]),
    ("GPT", "by hand", ["attention", "(number 18, in blocks[0].attn)", "all others agree"]),
    ("GPT", "by hand without scale", ["attention", "(number 18, in blocks[0].attn)", "inherited"]),
    ("GPT", "scale", ["in attention", "in blocks[0].attn", "by its own doing"]),
    ("GPT", "no mask", ["in attention", "in blocks[0].attn", "by its own doing"]),
    ("GPT", "eps", ["native_layer_norm", "in blocks[0].ln2", "by its own doing"]),
    ("GPT", "gelu", ["gelu", "in blocks[0].mlp[1]", "by its own doing"]),
    ("GPT", "untied", ["in head", "the runs gave it different numbers", "[17, 16]"]),
    ("GPT", "embedding scaled", ["mul (number 3)", "add", "inherited"]),
    ("LSTM", "backwards", ["flip (number 2)", "in lstm", "inherited"]),
    ("LSTM", "forget bias", ["lstm_layer", "its b_ih of shape [32] differs"]),
    ("LSTM", "both ways", ["lstm_layer", "in lstm"]),
    ("LSTM", "sum", ["nll_loss", "by its own doing"]),
]
