"""Pictures: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "batchnorm test one class",
    "modes: test in training mode, so batch norm normalises each class by itself",
    ("draws in evaluation",),
    (37,),
    """\
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)

def pictures(label, n):
    img = 0.3 * torch.randn(n, 1, 8, 8)
    img[:, :, :4] += 0.8 * (label - 1)
    return img

class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(),
            nn.Conv2d(6, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten())
        self.fc = nn.Linear(6 * 16, 3)

    def forward(self, x):
        return self.fc(self.layers(x))

X = torch.cat([pictures(c, 100) for c in range(3)])
Y = torch.arange(3).repeat_interleave(100)
net = ConvNet()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(6):
    order = torch.randperm(300)
    for idx in order.split(30):
        optimizer.zero_grad()
        loss = loss_fn(net(X[idx]), Y[idx])
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "train loss %.4f" % loss.item())

net.eval()
with torch.no_grad():
    accs = [(net(pictures(c, 50)).argmax(1) == c).float().mean().item() for c in range(3)]
print("test accuracy by class", [round(a, 2) for a in accs])
""",
    ("net.eval()\n", ""),
)

fault(
    "blob mask",
    "backward or step missing or at the wrong place: optimizer.step() never called",
    ("never steps",),
    (29,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Segmenter(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = nn.Conv2d(1, width, 3, padding=1)
        self.mid = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        x = F.relu(self.down(x))
        x = F.relu(self.mid(x))
        return self.out(x)

def batch(n=16, size=14):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cy = torch.randint(3, size - 3, (n, 1, 1))
    cx = torch.randint(3, size - 3, (n, 1, 1))
    mask = ((yy - cy) ** 2 + (xx - cx) ** 2 < 9).float()
    return (mask + 0.6 * torch.randn(n, size, size)).unsqueeze(1), mask.unsqueeze(1)

def train_step(model, optimizer, images, masks):
    model.train()
    optimizer.zero_grad()
    logits = model(images)
    loss = F.binary_cross_entropy_with_logits(logits, masks)
    loss.backward()
    optimizer.step()
    return loss.item()

def main():
    torch.manual_seed(0)
    model = Segmenter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(100):
        loss = train_step(model, optimizer, *batch())
        if step % 20 == 0:
            print(f"step {step:3d}  loss {loss:.4f}")
    print(f"final loss {loss:.4f}")

main()
""",
    ("    optimizer.step()\n", ""),
)

fault(
    "deep sigmoid",
    "activations: eight layers of sigmoids, through which no gradient comes",
    ("vanishes",),
    (14,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
faces = torch.randn(4, 6, 6)
y = torch.randint(0, 4, (400,))
x = (faces[y] + 0.6 * torch.randn(400, 6, 6)).unsqueeze(1)

def make_net(depth=8, width=24):
    layers = [nn.Flatten()]
    n_in = 36
    for _ in range(depth):
        layers += [nn.Linear(n_in, width), nn.Tanh()]
        n_in = width
    return nn.Sequential(*layers, nn.Linear(width, 4))

net = make_net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(12):
    for idx in torch.randperm(400).split(40):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print("epoch %d loss %.4f" % (epoch, loss.item()))
print("final loss %.4f" % F.cross_entropy(net(x), y).item())
""",
    (
        "        layers += [nn.Linear(n_in, width), nn.Tanh()]\n",
        "        layers += [nn.Linear(n_in, width), nn.Sigmoid()]\n",
    ),
)

fault(
    "detached features",
    "the history is cut: the features are detached before the head",
    ("not reached",),
    (21,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, stride=2)
        self.fc = nn.Linear(8 * 4 * 4, 3)

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).flatten(1))

class Classifier(nn.Module):
    def __init__(self, encoder, n_classes):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(3, n_classes)

    def forward(self, x):
        feats = self.encoder(x)
        return self.head(feats)

def squares(n):
    y = torch.randint(0, 4, (n,))
    img = 0.4 * torch.randn(n, 1, 10, 10)
    for i in range(n):
        r, c = int(y[i]) // 2 * 5, int(y[i]) % 2 * 5
        img[i, 0, r + 1:r + 4, c + 1:c + 4] += 1
    return img, y

torch.manual_seed(0)
X, Y = squares(300)
model = Classifier(Encoder(), 4)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(20):
    for xb, yb in zip(X.split(50), Y.split(50)):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        print(epoch, loss.item())
print("accuracy", (model(X).argmax(1) == Y).float().mean().item())
""",
    ("        feats = self.encoder(x)\n", "        feats = self.encoder(x).detach()\n"),
)

fault(
    "distance of equals",
    "NaN and infinity: sqrt at 0, in backward, for pairs of equal points",
    ("not finite",),
    (15,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 16, 2)

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).flatten(1))

def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-8)

def contrastive(a, b, same, margin=2.0):
    d = distance(a, b)
    return (same * d ** 2 + (1 - same) * F.relu(margin - d) ** 2).mean()

torch.manual_seed(0)
kinds = torch.randn(3, 1, 6, 6)
label = torch.randint(0, 3, (90,))
images = kinds[label] + 0.3 * torch.randn(90, 1, 6, 6)
net = Embedder()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(150):
    i, j = torch.randint(0, 90, (32,)), torch.randint(0, 90, (32,))
    same = (label[i] == label[j]).float()
    loss = contrastive(net(images[i]), net(images[j]), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print("step", step, "loss %.4f" % loss.item())
print("last loss %.4f" % loss.item())
""",
    (
        "    return torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-8)\n",
        "    return torch.sqrt(((a - b) ** 2).sum(dim=1))\n",
    ),
)

fault(
    "flatten size",
    "exceptions: the linear layer after flatten expects another size",
    ("shapes",),
    (10, 17),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3)
        self.fc1 = nn.Linear(8 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, 2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)

torch.manual_seed(0)
y = torch.randint(0, 2, (240,))
x = 0.5 * torch.randn(240, 1, 12, 12)
x[y == 1, :, 3:9, 3:9] += 0.7
model = LeNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for i in range(0, 240, 24):
        loss = F.cross_entropy(model(x[i:i + 24]), y[i:i + 24])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
print("accuracy", (model(x).argmax(1) == y).float().mean().item())
""",
    ("        self.fc1 = nn.Linear(8 * 2 * 2, 32)\n", "        self.fc1 = nn.Linear(8 * 3 * 3, 32)\n"),
)

healthy(
    "frozen trunk",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
shapes = torch.randn(6, 1, 8, 8)
y = torch.randint(0, 6, (360,))
x = shapes[y] + 0.8 * torch.randn(360, 1, 8, 8)

trunk = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 24), nn.ReLU())
old_head = nn.Linear(24, 3)
opt = torch.optim.Adam([*trunk.parameters(), *old_head.parameters()], lr=5e-3)
for step in range(40):
    i = torch.randint(0, 360, (32,))
    loss = F.cross_entropy(old_head(trunk(x[i])), y[i] // 2)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("pretraining", loss.item())

trunk.requires_grad_(False)
trunk.eval()
head = nn.Linear(24, 6)
opt = torch.optim.Adam(head.parameters(), lr=2e-2)
for step in range(120):
    i = torch.randint(0, 360, (32,))
    with torch.no_grad():
        features = trunk(x[i])
    loss = F.cross_entropy(head(features), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("step", step, "loss", loss.item())
print("accuracy %.3f" % (head(trunk(x)).argmax(1) == y).float().mean())
""",
)

healthy(
    "log softmax ce",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, bias=False)
        self.bn = nn.BatchNorm2d(6)
        self.fc = nn.Linear(54, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)

torch.manual_seed(0)
marks = torch.randn(4, 1, 8, 8)
y = torch.randint(0, 4, (256,))
x = marks[y] + torch.randn(256, 1, 8, 8)
net = Net()
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(8):
    for i in range(0, 256, 32):
        loss = loss_fn(net(x[i:i + 32]), y[i:i + 32])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
net.eval()
print("accuracy", (net(x).argmax(1) == y).float().mean().item())
""",
)

healthy(
    "stop gradient",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
base = torch.randn(5, 36)
label = torch.randint(0, 5, (300,))
pictures = base[label] + 0.3 * torch.randn(300, 36)
encoder = nn.Sequential(nn.Linear(36, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.BatchNorm1d(16))
predictor = nn.Sequential(nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 16))
opt = torch.optim.SGD([*encoder.parameters(), *predictor.parameters()], lr=0.05, momentum=0.9)

def view(x):
    return x + 0.4 * torch.randn_like(x)

for step in range(200):
    x = pictures[torch.randint(0, 300, (50,))]
    z1, z2 = encoder(view(x)), encoder(view(x))
    p1, p2 = predictor(z1), predictor(z2)
    loss = -(F.cosine_similarity(p1, z2.detach()).mean() + F.cosine_similarity(p2, z1.detach()).mean()) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        print("step", step, "loss %.4f" % loss.item())
encoder.eval()
with torch.no_grad():
    z = F.normalize(encoder(pictures), dim=1)
    near = (z @ z.T - 2 * torch.eye(300)).argmax(1)
print("loss %.3f, nearest neighbour of the same kind %.3f" % (loss.item(), (label[near] == label).float().mean()))
""",
)

healthy(
    "zero residual",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1)
        self.norm = nn.GroupNorm(2, c)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1)
        nn.init.zeros_(self.conv2.weight)
        nn.init.zeros_(self.conv2.bias)

    def forward(self, x):
        return x + self.conv2(F.relu(self.norm(self.conv1(x))))

torch.manual_seed(0)
y = torch.randint(0, 3, (200,))
x = 0.4 * torch.randn(200, 1, 8, 8)
for i in range(200):
    x[i, 0, :, 2 * int(y[i]) + 1] += 1
    x[i, 0] = x[i, 0].roll(int(torch.randint(0, 2, (1,))), 1)
net = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), Residual(6), Residual(6), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(96, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(8):
    for idx in torch.randperm(200).split(25):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", round(loss.item(), 4))
print("accuracy", (net(x).argmax(1) == y).float().mean().item())
""",
)

fault(
    "momentum 999",
    "learning rate: momentum far too strong, 0.999",
    ("diverges",),
    (20,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

def spots(n):
    count = torch.randint(0, 4, (n,))
    img = 0.1 * torch.randn(n, 1, 10, 10)
    for i, c in enumerate(count.tolist()):
        cells = torch.randperm(25)[:c]
        for cell in cells.tolist():
            img[i, 0, cell // 5 * 2, cell % 5 * 2] += 1
    return img, count

torch.manual_seed(0)
X, Y = spots(400)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
    nn.Flatten(), nn.Linear(200, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(30):
    for i in range(0, 400, 40):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(X[i:i + 40]), Y[i:i + 40])
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
print(f"final loss {F.cross_entropy(model(X), Y).item():.4f}")
""",
    (
        "optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)\n",
        "optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.999)\n",
    ),
)

fault(
    "new head",
    "parameters that are not trained: the last layer is replaced after the optimizer was made",
    ("not reached",),
    (25,),
    """\
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)
protos = torch.randn(5, 1, 8, 8)
labels = torch.randint(0, 5, (400,))
images = protos[labels] + 1.2 * torch.randn(400, 1, 8, 8)

class SmallNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.classifier = nn.Linear(6 * 4 * 4, num_classes)

    def forward(self, x):
        return self.classifier(self.features(x))

model = SmallNet(10)
for p in model.features.parameters():
    p.requires_grad = False
criterion = nn.CrossEntropyLoss()
model.classifier = nn.Linear(6 * 4 * 4, 5)
optimizer = optim.SGD(model.classifier.parameters(), lr=0.05, momentum=0.9)

for epoch in range(8):
    order = torch.randperm(400)
    for i in range(0, 400, 40):
        idx = order[i:i + 40]
        optimizer.zero_grad()
        loss = criterion(model(images[idx]), labels[idx])
        loss.backward()
        optimizer.step()
    print('epoch', epoch, 'loss', loss.item())
print('accuracy', (model(images).argmax(1) == labels).float().mean().item())
""",
    (
        "criterion = nn.CrossEntropyLoss()\n",
        "criterion = nn.CrossEntropyLoss()\noptimizer = optim.SGD(model.classifier.parameters(), lr=0.05, momentum=0.9)\n",
    ),
    (
        "model.classifier = nn.Linear(6 * 4 * 4, 5)\noptimizer = optim.SGD(model.classifier.parameters(), lr=0.05, momentum=0.9)\n",
        "model.classifier = nn.Linear(6 * 4 * 4, 5)\n",
    ),
)

fault(
    "rand weights",
    "initialisation: torch.rand weights, all positive and large",
    ("big start",),
    (8,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class MyLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter((torch.rand(n_in, n_out) - 0.5) * 2 / n_in ** 0.5)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.weight + self.bias

torch.manual_seed(0)
glyphs = torch.rand(6, 10, 10)
y = torch.randint(0, 6, (480,))
x = (glyphs[y] + 0.2 * torch.randn(480, 10, 10)).view(480, -1)
net = nn.Sequential(MyLinear(100, 40), nn.ReLU(), MyLinear(40, 40), nn.ReLU(), MyLinear(40, 6))
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for epoch in range(10):
    for i in range(0, 480, 40):
        loss = F.cross_entropy(net(x[i:i + 40]), y[i:i + 40])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 2 == 0:
        print("epoch", epoch, "loss", loss.item())
print("final loss %.4f" % F.cross_entropy(net(x), y).item())
""",
    (
        "        self.weight = nn.Parameter((torch.rand(n_in, n_out) - 0.5) * 2 / n_in ** 0.5)\n",
        "        self.weight = nn.Parameter(torch.rand(n_in, n_out))\n",
    ),
)

fault(
    "reshape for permute",
    "shapes that broadcast by mistake: reshape in place of permute scrambles the channels",
    ("scrambled",),
    (26,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

def colour_patches(n):
    label = torch.randint(0, 3, (n,))
    img = 0.5 * torch.rand(n, 9, 9, 3)
    for i in range(n):
        r, c = torch.randint(0, 6, (2,)).tolist()
        img[i, r:r + 4, c:c + 4, label[i]] += 0.5
    return img, label

class ColourNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        x = F.relu(self.conv(x))
        return self.fc(x.amax(dim=(2, 3)))

images, labels = colour_patches(256)
images = images.permute(0, 3, 1, 2)
net = ColourNet()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(12):
    for idx in torch.randperm(256).split(32):
        loss = F.cross_entropy(net(images[idx]), labels[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        print("epoch", epoch, "loss", loss.item())
print("accuracy %.3f" % (net(images).argmax(1) == labels).float().mean())
""",
    ("images = images.permute(0, 3, 1, 2)\n", "images = images.reshape(256, 3, 9, 9)\n"),
)

fault(
    "softmax then ce",
    "outputs and loss do not fit: Softmax as the last layer before CrossEntropyLoss",
    ("soft twice",),
    (20, 29),
    """\
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)
templates = (torch.rand(10, 8, 8) > 0.5).float()
y = torch.randint(0, 10, (600,))
x = templates[y] + 0.7 * torch.randn(600, 8, 8)

class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, 10)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = torch.relu(self.fc1(self.flatten(x)))
        return self.fc2(x)

model = DigitNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(5):
    for i in range(0, 600, 30):
        optimizer.zero_grad()
        outputs = model(x[i:i + 30])
        loss = criterion(outputs, y[i:i + 30])
        loss.backward()
        optimizer.step()
    print(f'Epoch {epoch + 1}, loss: {loss.item():.4f}')
print('final loss: %.4f' % criterion(model(x), y).item())
""",
    ("        return self.fc2(x)\n", "        return self.softmax(self.fc2(x))\n"),
)

fault(
    "sorted batches",
    "labels and data: the batches are sorted by class, the loader does not shuffle",
    ("sorted",),
    (22,),
    """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

class Corners(Dataset):
    def __init__(self, per_class):
        self.items = []
        for label in range(4):
            for _ in range(per_class):
                img = 0.9 * torch.randn(1, 8, 8)
                r, c = 4 * (label // 2), 4 * (label % 2)
                img[0, r:r + 4, c:c + 4] += 0.7
                self.items.append((img, label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

torch.manual_seed(0)
train_loader = DataLoader(Corners(160), batch_size=20, shuffle=True)
test_loader = DataLoader(Corners(25), batch_size=100)
net = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(54, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(5):
    for img, label in train_loader:
        opt.zero_grad()
        loss = loss_fn(net(img), label)
        loss.backward()
        opt.step()
        print(round(loss.item(), 3), end=" ")
    print("epoch", epoch)
with torch.no_grad():
    for img, label in test_loader:
        out = net(img)
        print("test loss %.3f accuracy %.3f" % (loss_fn(out, label), (out.argmax(1) == label).float().mean()))
""",
    (
        "train_loader = DataLoader(Corners(160), batch_size=20, shuffle=True)\n",
        "train_loader = DataLoader(Corners(160), batch_size=20, shuffle=False)\n",
    ),
)

fault(
    "stripe cnn",
    "gradients not cleared: zero_grad once an epoch, outside the batch loop",
    ("used twice",),
    (33, 34),
    """\
import torch
from torch import nn, optim
import torch.nn.functional as F

torch.manual_seed(1)

def make_data(n):
    y = torch.randint(0, 3, (n,))
    grid = torch.arange(12).float()
    phase = torch.rand(n) * 6
    rows = grid.view(1, 12, 1) + phase.view(-1, 1, 1)
    cols = grid.view(1, 1, 12) + phase.view(-1, 1, 1)
    a = (y != 1).float().view(-1, 1, 1)
    b = (y != 0).float().view(-1, 1, 1)
    img = torch.sin(a * rows + b * cols) + 0.5 * torch.randn(n, 12, 12)
    return img.unsqueeze(1), y

class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.fc1 = nn.Linear(6 * 5 * 5, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return self.fc1(x.flatten(1))

x_train, y_train = make_data(320)
x_test, y_test = make_data(200)
net = Net()
opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(12):
    running = 0.0
    for i in range(0, 320, 16):
        xb, yb = x_train[i:i + 16], y_train[i:i + 16]
        opt.zero_grad()
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
net.eval()
with torch.no_grad():
    acc = (net(x_test).argmax(1) == y_test).float().mean().item()
print(f"test accuracy {acc:.3f}")
""",
    ("    running = 0.0\n", "    opt.zero_grad()\n"),
    ("        opt.zero_grad()\n", ""),
)

fault(
    "tiny init cnn",
    "initialisation: weights far too small for a deep net, the signal dies on its way",
    ("small start",),
    (26,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

def make(n):
    y = torch.randint(0, 2, (n,))
    img = 0.3 * torch.randn(n, 1, 9, 9)
    ring = torch.zeros(9, 9)
    ring[2:7, 2:7] = 1
    ring[3:6, 3:6] = 0
    cross = torch.zeros(9, 9)
    cross[4, 1:8] = 1
    cross[1:8, 4] = 1
    img[:, 0] += torch.where(y.view(-1, 1, 1) == 1, ring, cross)
    return img, y

class DeepNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(1 if i == 0 else width, width, 3, padding=1) for i in range(5)])
        self.fc = nn.Linear(width, 2)
        for m in self.modules():
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                nn.init.kaiming_normal_(m.weight)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        for conv in self.convs:
            x = F.relu(conv(x))
        return self.fc(x.mean((2, 3)))

net = DeepNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for step in range(80):
    img, y = make(32)
    loss = F.cross_entropy(net(img), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print("step", step, "loss %.4f" % loss.item())
print("last loss %.4f" % loss.item())
""",
    (
        "                nn.init.kaiming_normal_(m.weight)\n",
        "                nn.init.normal_(m.weight, std=0.001)\n",
    ),
)
