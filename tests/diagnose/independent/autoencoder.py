"""Autoencoders: programs with a fault each, and healthy ones.

Invariant: written by someone who had read no rule.
"""

# ruff: noqa: E501  (a program is text)

from .program import fault, healthy

fault(
    "code and decode",
    "backward or step missing or at the wrong place: the encoder's optimizer steps twice, the decoder's never",
    ("never steps", "used twice"),
    (24,),
    """\
import torch
import torch.nn as nn

torch.manual_seed(5)
mix = torch.randn(3, 20)
data = torch.tanh(torch.randn(1000, 3) @ mix)

encoder = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
decoder = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 20))
enc_optim = torch.optim.Adam(encoder.parameters(), lr=4e-3)
dec_optim = torch.optim.Adam(decoder.parameters(), lr=4e-3)
distance = nn.MSELoss()

for it in range(400):
    idx = torch.randint(0, 1000, (64,))
    x = data[idx]
    enc_optim.zero_grad()
    dec_optim.zero_grad()
    code = encoder(x)
    rec = decoder(code)
    loss = distance(rec, x)
    loss.backward()
    enc_optim.step()
    dec_optim.step()
    if it % 50 == 0:
        print('[%3d] loss: %.4f' % (it, loss.item()))

with torch.no_grad():
    print('final: %.4f (variance of the data %.4f)' % (distance(decoder(encoder(data)), data), data.var()))
""",
    ("    dec_optim.step()\n", "    enc_optim.step()\n"),
)

fault(
    "denoise ae",
    "gradients not cleared: zero_grad between backward and step",
    ("cleared",),
    (20,),
    """\
import torch
import torch.nn as nn

def bumps(n, width=32):
    pos = torch.linspace(0, 1, width)
    centre = torch.rand(n, 1)
    return torch.exp(-((pos - centre) ** 2) / 0.02)

def train(model, data, epochs=15, batch_size=50):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(epochs):
        total = 0
        for i in range(0, len(data), batch_size):
            clean = data[i:i + batch_size]
            noisy = clean + 0.2 * torch.randn_like(clean)
            out = model(noisy)
            loss = loss_fn(out, clean)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch %d, mean loss %.4f" % (epoch + 1, total / (len(data) / batch_size)))

if __name__ == "__main__":
    torch.manual_seed(3)
    model = nn.Sequential(
        nn.Linear(32, 24), nn.ReLU(),
        nn.Linear(24, 4),
        nn.Linear(4, 24), nn.ReLU(),
        nn.Linear(24, 32),
    )
    train(model, bumps(500))
""",
    (
        "            loss = loss_fn(out, clean)\n",
        "            loss = loss_fn(out, clean)\n            loss.backward()\n",
    ),
    (
        "            optimizer.zero_grad()\n            loss.backward()\n",
        "            optimizer.zero_grad()\n",
    ),
)

fault(
    "eval half",
    "modes: only the decoder is put in evaluation mode",
    ("draws in evaluation",),
    (14,),
    """\
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
decoder = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 16))
plane = torch.randn(3, 16)
train_x = torch.randn(600, 3) @ plane
test_x = torch.randn(200, 3) @ plane
opt = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()), lr=5e-3)
loss_fn = nn.MSELoss()

def test_error():
    encoder.eval(); decoder.eval()
    with torch.no_grad():
        err = loss_fn(decoder(encoder(test_x)), test_x).item()
    encoder.train()
    decoder.train()
    return err

for epoch in range(30):
    for x in train_x.split(60):
        opt.zero_grad()
        loss = loss_fn(decoder(encoder(x)), x)
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        print("epoch", epoch + 1, "train", round(loss.item(), 4), "test", round(test_error(), 4))
print("test error %.4f" % test_error())
""",
    ("    encoder.eval(); decoder.eval()\n", "    decoder.eval()\n"),
)

fault(
    "exp overflow",
    "NaN and infinity: exp of an unbounded log-variance overflows",
    ("not finite",),
    (14, 17),
    """\
import torch
import torch.nn as nn

torch.manual_seed(0)
data = torch.randn(400, 3) @ torch.randn(3, 10)
data[::50] *= 1000

enc = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
dec = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=5e-3)

for epoch in range(30):
    for x in data[torch.randperm(400)].split(50):
        mu, logvar = enc(x)[:, :2], enc(x)[:, 2:].clamp(-8, 4)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        rec = (dec(z) - x).abs().mean()
        kl = -0.5 * (1 + logvar - mu ** 2 - logvar.exp()).mean()
        loss = rec + 0.01 * kl
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(list(enc.parameters()) + list(dec.parameters()), 5.0)
        opt.step()
    if epoch % 5 == 0:
        print("epoch", epoch, "loss", loss.item(), "rec", rec.item())
with torch.no_grad():
    usual = data[data.abs().amax(1) < 30]
    print("error on the usual rows %.3f, their deviation %.3f" % ((dec(enc(usual)[:, :2]) - usual).abs().mean(), usual.std()))
""",
    (
        "        mu, logvar = enc(x)[:, :2], enc(x)[:, 2:].clamp(-8, 4)\n",
        "        mu, logvar = enc(x).chunk(2, dim=1)\n",
    ),
)

healthy(
    "input is target",
    """\
import torch
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
t = torch.linspace(0, 1, 24)
curves = torch.stack([a * torch.sin(6.28 * t + p) for a, p in zip(torch.rand(320) + 0.5, 6.28 * torch.rand(320))])
model = nn.Sequential(nn.Linear(24, 16), nn.GELU(), nn.Linear(16, 2), nn.Linear(2, 16), nn.GELU(), nn.Linear(16, 24))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(30):
    for batch in DataLoader(curves, batch_size=32, shuffle=True):
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 6 == 0:
        print("epoch", epoch, "loss %.5f" % loss.item())
print("last loss %.5f, variance %.3f" % (loss.item(), curves.var()))
""",
)

healthy(
    "mixed losses",
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
data = torch.sigmoid(3 * torch.randn(400, 2) @ torch.randn(2, 20))
enc = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
dec = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 20))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=5e-3)
for epoch in range(30):
    beta = min(1.0, epoch / 15)
    for x in data[torch.randperm(400)].split(40):
        mu, logvar = enc(x).chunk(2, 1)
        z = mu + (0.5 * logvar).exp() * torch.randn_like(mu)
        rec = F.binary_cross_entropy_with_logits(dec(z), x, reduction="none").sum(1).mean()
        kl = 0.5 * (mu ** 2 + logvar.exp() - 1 - logvar).sum(1).mean()
        loss = rec + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        print("epoch %d rec %.3f kl %.3f loss %.3f" % (epoch, rec.item(), kl.item(), loss.item()))
floor = F.binary_cross_entropy(data, data, reduction="none").sum(1).mean()
print("rec %.3f (cannot go below %.3f; a constant gives %.3f)" % (rec.item(), floor, F.binary_cross_entropy(data.mean(0).expand_as(data), data, reduction="none").sum(1).mean()))
""",
)

fault(
    "heavy decay",
    "learning rate: weight decay far too strong",
    ("decay wins",),
    (22,),
    """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
spots = {1: [4], 2: [0, 8], 3: [0, 4, 8], 4: [0, 2, 6, 8], 5: [0, 2, 4, 6, 8], 6: [0, 2, 3, 5, 6, 8]}
faces = torch.zeros(6, 9)
for k, cells in spots.items():
    faces[k - 1, cells] = 1.0
dice = faces[torch.randint(0, 6, (400,))] + 0.1 * torch.randn(400, 9)

class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 9))

    def forward(self, x):
        return self.decoder(self.encoder(x))

ae = AutoEncoder()
optimizer = torch.optim.SGD(ae.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-5)
for step in range(500):
    batch = dice[torch.randint(0, 400, (40,))]
    loss = F.mse_loss(ae(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print("step", step, "loss %.4f" % loss.item())
print("last loss %.4f" % loss.item())
""",
    (
        "optimizer = torch.optim.SGD(ae.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-5)\n",
        "optimizer = torch.optim.SGD(ae.parameters(), lr=0.1, momentum=0.9, weight_decay=0.5)\n",
    ),
)

fault(
    "kept outputs",
    "history that grows: losses and outputs are appended with their graphs",
    ("kept",),
    (19, 20),
    """\
import torch
import torch.nn as nn

def main():
    torch.manual_seed(0)
    basis = torch.randn(4, 30)
    data = torch.randn(500, 4) @ basis / 2
    encoder = nn.Linear(30, 4)
    decoder = nn.Linear(4, 30)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
    history = {"loss": [], "output": []}
    for step in range(400):
        batch = data[torch.randint(0, len(data), (50,))]
        output = decoder(encoder(batch))
        loss = ((output - batch) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history["loss"].append(loss.item())
        history["output"].append(output[:2].detach())
        if step % 100 == 0:
            print("step", step, "loss", float(loss))
    print("mean of the last 50 losses %.5f" % (sum(float(v) for v in history["loss"][-50:]) / 50))

main()
""",
    (
        '        history["loss"].append(loss.item())\n        history["output"].append(output[:2].detach())\n',
        '        history["loss"].append(loss)\n        history["output"].append(output[:2])\n',
    ),
)

fault(
    "two backwards",
    "exceptions: a second backward through the encoder's graph, which is freed",
    ("second pass",),
    (23, 24),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
centres = torch.randn(3, 12)
label = torch.randint(0, 3, (300,))
data = centres[label] + 0.3 * torch.randn(300, 12)

encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))
decoder = nn.Linear(4, 12)
classifier = nn.Linear(4, 3)
opt_rec = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=5e-3)
opt_cls = torch.optim.Adam(classifier.parameters(), lr=5e-3)

for step in range(250):
    idx = torch.randint(0, 300, (32,))
    code = encoder(data[idx])
    rec_loss = F.mse_loss(decoder(code), data[idx])
    cls_loss = F.cross_entropy(classifier(code), label[idx])
    opt_rec.zero_grad()
    opt_cls.zero_grad()
    rec_loss.backward(retain_graph=True)
    cls_loss.backward()
    opt_rec.step()
    opt_cls.step()
    if step % 50 == 0:
        print("step", step, "rec", rec_loss.item(), "cls", cls_loss.item())
print("rec %.3f cls %.3f" % (rec_loss.item(), cls_loss.item()))
""",
    ("    rec_loss.backward(retain_graph=True)\n", "    rec_loss.backward()\n"),
)

fault(
    "vae mean and sum",
    "outputs and loss do not fit: reconstruction averaged over pixels, KL summed over the batch",
    ("unlike sums",),
    (19,),
    """\
import torch
import torch.nn as nn
import torch.nn.functional as F

class VAE(nn.Module):
    def __init__(self, d_in=36, h=48, z=4):
        super().__init__()
        self.enc = nn.Linear(d_in, h)
        self.mu, self.logvar = nn.Linear(h, z), nn.Linear(h, z)
        self.dec = nn.Sequential(nn.Linear(z, h), nn.ReLU(), nn.Linear(h, d_in))

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.dec(z), mu, logvar

def vae_loss(logits, x, mu, logvar):
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return rec + kl

torch.manual_seed(0)
imgs = torch.zeros(300, 6, 6)
for i in range(300):
    k = int(torch.randint(0, 6, (1,)))
    if i % 2:
        imgs[i, k] = 1
    else:
        imgs[i, :, k] = 1
data = imgs.flatten(1)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=5e-3)
for epoch in range(40):
    for x in data[torch.randperm(300)].split(50):
        loss = vae_loss(*(lambda o: (o[0], x, o[1], o[2]))(vae(x)))
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 0:
        print("epoch", epoch, "loss %.3f" % (loss.item() / len(x)))
with torch.no_grad():
    rec = F.binary_cross_entropy_with_logits(vae(data)[0], data).item()
    print("reconstruction, in bits of a pixel: %.3f" % (rec / 0.6931))
""",
    (
        '    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")\n',
        '    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="mean")\n',
    ),
)
