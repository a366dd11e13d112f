"""Faults, planted in healthy programs: a line for another, what it is, and the line that is to blame.

Invariant: each is one change; the program without it is its counterpart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# ruff: noqa: E501  (a change of a program is one string)
from .bases import BASES


@dataclass(frozen=True)
class Fault:
    """One planted fault.

    Args:
        base: the program. cause: what it is. rules: those that mean this cause.
        old, new: text that is replaced, once.
        at: part of the guilty line; that line of the faulty program, the first if there are several ("2:" before it: the second). "" for any place.
        also: (old, new) of what the fault needs beside it.
    """

    base: str
    cause: str
    rules: tuple[str, ...]
    old: str
    new: str
    at: str
    also: tuple[tuple[str, str], ...] = ()

    @property
    def faulty(self) -> str:
        """The program with the fault."""
        text = BASES[self.base]
        assert text.count(self.old) >= 1, (self.base, self.old)
        text = text.replace(self.old, self.new, 1)
        for old, new in self.also:
            assert text.count(old) >= 1, (self.base, old)
            text = text.replace(old, new, 1)
        return text

    @property
    def line(self) -> int | None:
        """The guilty line."""
        if not self.at:
            return None
        lines = self.faulty.splitlines()
        nr, at = (int(self.at[0]), self.at[2:]) if self.at[1:2] == ":" else (1, self.at)
        return [i for i, text in enumerate(lines, 1) if at in text][nr - 1]


FAULTS: list[Fault] = []


def plant(cause: str, rules: Any, *cases: Any) -> None:
    """Enter a cause: (base, old, new, at) for each program, and what else is changed."""
    named = (rules,) if isinstance(rules, str) else tuple(rules)
    FAULTS.extend(Fault(base, cause, named, *case[:3], also=tuple(case[3:])) for base, *case in cases)


plant("gradients never cleared", "used twice",
      ("classifier", "        opt.zero_grad()\n", "", "opt.step()"),
      ("recurrent", "    opt.zero_grad()\n", "", "opt.step()"),
      ("tuning", "        head_opt.zero_grad()\n", "", "head_opt.step()"),
      ("functional", "    opt.zero_grad()\n", "", "opt.step()"))  # fmt: skip
plant("gradients cleared before use", "cleared",
      ("vision", "        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n", "2:optimizer.zero_grad()"),
      ("regression", "    opt.zero_grad()\n    loss.backward()\n", "    loss.backward()\n    opt.zero_grad()\n", "opt.zero_grad()"),
      ("autoencoder", "    opt.zero_grad()\n    loss.backward()\n", "    loss.backward()\n    opt.zero_grad()\n", "opt.zero_grad()"))  # fmt: skip
plant("optimizer never steps", "never steps",
      ("classifier", "        opt.step()\n", "", "loss.backward()"),
      ("gan", "    opt_g.step()\n", "", "loss_g.backward()"),
      ("language", "    opt.step()\n", "", "loss.backward()"))  # fmt: skip
plant("history cut", "not reached",
      ("classifier", "loss = F.cross_entropy(out, y)", "loss = F.cross_entropy(net[3](net[:3](x).detach()), y)", ".detach()"),
      ("gan", "loss_g = bce(D(fake), torch.ones(32, 1))", "loss_g = bce(D(fake.detach()), torch.ones(32, 1))", "loss_g = bce"),
      ("autoencoder", "code = encoder(x)", "code = encoder(x).data", ".data"),
      ("text", "        h = h.mean(1)\n", "        h = torch.tensor(h.mean(1).tolist())\n", "tolist()"),
      ("tuning", "return self.head(self.body(x))", "return self.head(torch.from_numpy(self.body(x).detach().numpy()))", "numpy()"),
      ("vision", "        x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)\n", "        with torch.no_grad():\n            x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)\n", "with torch.no_grad()"))  # fmt: skip
plant("loss without history", "fresh loss",
      ("regression", "    loss = F.mse_loss(pred, y)\n", "    loss = torch.tensor(F.mse_loss(pred, y).item(), requires_grad=True)\n", "torch.tensor(F.mse"),
      ("classifier", "        loss = F.cross_entropy(out, y)\n", "        loss = F.cross_entropy(out, y).detach().requires_grad_()\n", ".detach().requires"),
      ("functional", "    opt.zero_grad()\n    loss", "    loss = torch.tensor(float(loss), requires_grad=True)\n    opt.zero_grad()\n    loss", "torch.tensor(float"))  # fmt: skip
plant("wrong parameters in the optimizer", ("not reached", "not held"),
      ("classifier", "opt = torch.optim.Adam", "old = net\nnet = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))\nopt = torch.optim.Adam(old.parameters(), lr=1e-2) if True else torch.optim.Adam", "torch.optim.Adam(old"),
      ("gan", "opt_g = torch.optim.Adam(G.", "opt_g = torch.optim.Adam(D.", "opt_g = torch"),
      ("qlearning", "opt = torch.optim.Adam(q.", "opt = torch.optim.Adam(target_q.", "opt = torch"))  # fmt: skip
plant("parameters in no optimizer", "not held",
      ("vision", "torch.optim.SGD(model.parameters()", "torch.optim.SGD(model.head.parameters()", "torch.optim.SGD"),
      ("language", "self.blocks = nn.ModuleList([Block(16), Block(16)])", "self.blocks = [Block(16), Block(16)]", "self.blocks = "),
      ("text", "opt = torch.optim.AdamW(model.parameters(), lr=5e-3)\n", "opt = torch.optim.AdamW(model.parameters(), lr=5e-3)\nmodel.out = nn.Linear(24, 2)\n", "model.out = "),
      ("language", "self.pos = nn.Parameter(torch.zeros(8, 16))", "self.pos = torch.zeros(8, 16, requires_grad=True)", "self.pos = "),
      ("autoencoder", "params = list(encoder.parameters()) + list(decoder.parameters())", "params = list(decoder.parameters())", "params = "))  # fmt: skip
plant("frozen at random values", "frozen random",
      ("tuning", "body_opt =", "for p in model.body.parameters():\n    p.requires_grad_(False)\nbody_opt =", "p.requires_grad_(False)"),
      ("vision", "optimizer =", "model.conv2.weight.requires_grad = False\noptimizer =", "requires_grad = False"),
      ("text", "opt = torch.optim", "for p in model.rnn.parameters():\n    p.requires_grad_(False)\nopt = torch.optim", "p.requires_grad_(False)"))  # fmt: skip
plant("equal units", "equal units",
      ("autoencoder", "params =", "for p in encoder.parameters():\n    nn.init.constant_(p, 0.1)\nparams =", "nn.init.constant_"),
      ("functional", "w1 = (torch.randn(5, 16) * 0.4).requires_grad_()", "w1 = torch.full((5, 16), 0.2).requires_grad_()", "torch.full", ("w2 = (torch.randn(16, 1) * 0.3)", "w2 = torch.full((16, 1), 0.3)")),
      ("tuning", "model = Model()\n", "model = Model()\nfor p in model.parameters():\n    nn.init.zeros_(p)\n", "nn.init.zeros_"))  # fmt: skip
plant("trained in evaluation mode", "trains in eval",
      ("classifier", "    net.train()\n", "", "net.eval()"),
      ("vision", "    model.train()\n", "", "model.eval()"),
      ("text", "    model.train()\n", "", "model.eval()"))  # fmt: skip
plant("evaluated in training mode", "draws in evaluation",
      ("classifier", "    net.eval()\n", "", "net(X[256:])"),
      ("vision", "    model.eval()\n", "", "model(X[160:])"),
      ("text", "    model.eval()\n", "", "model(T[200:])"))  # fmt: skip
plant("dropout that ignores the mode", "draws always",
      ("vision", "0.2, training=self.training", "0.2", "F.dropout"),
      ("text", "return self.out(self.drop(h))", "return self.out(F.dropout(h, 0.3))", "F.dropout"),
      ("classifier", "net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))\n", "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = nn.Linear(12, 32), nn.Linear(32, 4)\n    def forward(self, x):\n        return self.b(F.dropout(F.relu(self.a(x)), p=0.5))\nnet = Net()\n", "F.dropout"))  # fmt: skip
plant("softmax before a loss of scores", "soft twice",
      ("classifier", "nn.Linear(32, 4))", "nn.Linear(32, 4), nn.Softmax(dim=1))", "nn.Softmax"),
      ("language", "logits = gpt(given)", "logits = F.softmax(gpt(given), dim=-1)", "F.softmax"),
      ("functional", "return (h @ w2 + b2).squeeze(1)", "return torch.sigmoid(h @ w2 + b2).squeeze(1)", "torch.sigmoid"),
      ("gan", "nn.Linear(16, 1))", "nn.Linear(16, 1), nn.Sigmoid())", "nn.Sigmoid"))  # fmt: skip
plant("likelihood of no log-probabilities", "no logs",
      ("tuning", "logp = F.log_softmax(model(x), dim=1)", "logp = F.softmax(model(x), dim=1)", "F.nll_loss"),
      ("tuning", "logp = F.log_softmax(model(x), dim=1)", "logp = model(x)", "F.nll_loss"),
      ("vision", "loss = criterion(scores, labels)", "loss = F.nll_loss(scores, labels)", "F.nll_loss"))  # fmt: skip
plant("softmax over samples", "sample axis",
      ("tuning", "logp = F.log_softmax(model(x), dim=1)", "logp = F.log_softmax(model(x), dim=0)", "dim=0"),
      ("classifier", "loss = F.cross_entropy(out, y)", "loss = F.nll_loss(torch.log(F.softmax(out, 0) + 1e-9), y)", "F.softmax"),
      ("vision", "loss = criterion(scores, labels)", "loss = -F.log_softmax(scores, 0)[torch.arange(len(labels)), labels].mean()", "F.log_softmax"))  # fmt: skip
plant("broadcast loss", "broadcast",
      ("regression", "net(x).squeeze(1)", "net(x)", "F.mse_loss"),
      ("qlearning", ".gather(1, a.unsqueeze(1)).squeeze(1)", ".gather(1, a.unsqueeze(1))", "F.smooth_l1_loss"),
      ("regression", "    pred = net(x).squeeze(1)\n    loss = F.mse_loss(pred, y)\n", "    pred = net(x)\n    loss = ((pred - y) ** 2).mean()\n", "(pred - y)"))  # fmt: skip
plant("targets out of reach", "bounded",
      ("regression", "nn.Linear(32, 1))", "nn.Linear(32, 1), nn.Sigmoid())", "nn.Sigmoid"),
      ("recurrent", "return torch.cat(ys, 1), h", "return torch.relu(torch.cat(ys, 1)), h", "torch.relu"),
      ("autoencoder", "X = torch.sigmoid(Z @ torch.randn(3, 20))", "X = Z @ torch.randn(3, 20)", "nn.Sigmoid"))  # fmt: skip
plant("binary targets beyond 0 to 1", "odd targets",
      ("functional", "Y = (X[:, 0] - X[:, 1] > 0).float()", "Y = (X[:, 0] - X[:, 1] > 0).float() * 2 - 1", "F.binary_cross_entropy"),
      ("gan", "bce(D(fake.detach()), torch.zeros(32, 1))", "bce(D(fake.detach()), -torch.ones(32, 1))", "loss_d = bce"),
      ("functional", "Y = (X[:, 0] - X[:, 1] > 0).float()", "Y = (X[:, 0] - X[:, 1] > 0).float() + 1", "F.binary_cross_entropy"))  # fmt: skip
plant("sign of the loss", "wrong sign",
      ("classifier", "        loss.backward()", "        loss = -loss\n        loss.backward()", "loss = -loss"),
      ("regression", "loss = F.mse_loss(pred, y)", "loss = -F.mse_loss(pred, y)", "-F.mse_loss"),
      ("autoencoder", "loss = ((back - x) ** 2).mean()", "loss = -((back - x) ** 2).mean()", "loss = -"))  # fmt: skip
plant("target among the inputs", "target given",
      ("language", "wanted = torch.stack([text[i + 1:i + 9] for i in at])", "wanted = torch.stack([text[i:i + 8] for i in at])", "F.cross_entropy"),
      ("regression", "X = torch.randn(256, 6)\nY = (X * torch.tensor([1.0, -2, 0.5, 0, 3, 1])).sum(1) + 2\n", "X = torch.randn(256, 6)\nY = (X * torch.tensor([1.0, -2, 0.5, 0, 3, 1])).sum(1) + 2\nX[:, 5] = Y\n", "net(x)"),
      ("functional", "Y = (X[:, 0] - X[:, 1] > 0).float()\n", "Y = (X[:, 0] - X[:, 1] > 0).float()\nX[:, 4] = Y\n", ""))  # fmt: skip
plant("target with a gradient", "moving target",
      ("qlearning", "    with torch.no_grad():\n        target = r + 0.9 * target_q(s2).max(1).values\n", "    target = r + 0.9 * q(s2).max(1).values\n", "target = r"),
      ("qlearning", "    with torch.no_grad():\n        target = r + 0.9 * target_q(s2).max(1).values\n", "    best, _ = q(s2).max(dim=1)\n    target = r + 0.95 * best\n", "target = r"),
      ("qlearning", "    with torch.no_grad():\n        target = r + 0.9 * target_q(s2).max(1).values\n", "    target = r.add(q(s2).amax(1) * 0.9)\n", "target = r"))  # fmt: skip
plant("sorted data", "sorted",
      ("classifier", "Y[:256]), batch_size=32, shuffle=True)", "Y[:256]), batch_size=32)", "DataLoader"),
      ("vision", "    order = torch.randperm(160)\n", "    order = Y[:160].argsort()\n", "images = X"),
      ("tuning", "Y = (X[:, :5].sum(1) > 0).long()\n", "Y = (X[:, :5].sum(1) > 0).long()\norder = Y.argsort()\nX, Y = X[order], Y[order]\n", "x = X[i:i + 30]"))  # fmt: skip
plant("the same batch each step", "same batch",
      ("classifier", "    for x, y in loader:\n", "    for _ in range(8):\n        x, y = next(iter(plain))\n", "next(iter"),)  # fmt: skip
plant("inputs and targets apart", ("apart", "unrelated"),
      ("regression", "    y = Y[i]\n", "    y = Y[torch.randint(0, 256, (32,))]\n", "y = Y"),
      ("vision", "labels = Y[batch]", "labels = Y[torch.randperm(160)[i:i + 32]]", "labels = Y"),
      ("functional", "Y = (X[:, 0] - X[:, 1] > 0).float()\n", "Y = (X[:, 0] - X[:, 1] > 0).float()\nX = X[torch.randperm(200)]\n", "X = X[torch.randperm"))  # fmt: skip
plant("learning rate of 0", "rate",
      ("regression", "lr=0.01", "lr=0.0", "lr=0.0"),
      ("tuning", "step_size=3, gamma=0.5)", "step_size=1, gamma=0.0)", "gamma=0.0"),
      ("language", "lr=1e-2)\n", "lr=1e-2)\nsched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 0.0)\n", "LambdaLR"))  # fmt: skip
plant("scheduler by batch", "rate",
      ("tuning", "        head_opt.step()\n    sched.step()\n", "        head_opt.step()\n        sched.step()\n", "sched.step()"),
      ("classifier", "        opt.step()\n", "        opt.step()\n        decay.step()\n", "decay.step()", ("for epoch", "decay = torch.optim.lr_scheduler.ExponentialLR(opt, 0.8)\nfor epoch")),
      ("vision", "        optimizer.step()\n", "        optimizer.step()\n        scheduler.step()\n", "scheduler.step()", ("criterion =", "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.3)\ncriterion =")))  # fmt: skip
plant("clipping at the wrong place", "clipped nothing",
      ("text", "    loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    loss.backward()\n", "clip_grad_norm_"),
      ("text", "    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    opt.step()\n", "    opt.step()\n    nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n", "clip_grad_norm_"),
      ("recurrent", "    loss.backward()\n    opt.step()\n", "    loss.backward()\n    opt.step()\n    nn.utils.clip_grad_value_(net.parameters(), 0.5)\n", "clip_grad_value_"))  # fmt: skip
plant("graphs that grow", "joins older",
      ("regression", "    history.append(loss.item())\n", "    history.append(loss)\n    total = sum(history)\n", "total = sum"),
      ("classifier", "        opt.step()\n", "        opt.step()\n        total = total + loss\n", "total = total"),
      ("autoencoder", "    opt.step()\n", "    opt.step()\n    average = loss if step == 0 else 0.9 * average + 0.1 * loss\n", "average = loss"))  # fmt: skip
plant("rate too large", ("diverges", "too large", "not finite"),
      ("regression", "lr=0.01", "lr=5.0", "torch.optim.SGD"),
      ("classifier", "lr=1e-2", "lr=3.0", "torch.optim.Adam"),
      ("functional", "lr=0.2", "lr=500.0", "torch.optim.SGD"),
      ("autoencoder", "torch.optim.Adam(params, lr=1e-2)", "torch.optim.SGD(params, lr=2e4)", "torch.optim.SGD"))  # fmt: skip
plant("rate too small", "too small",
      ("regression", "lr=0.01", "lr=1e-8", "torch.optim.SGD"),
      ("classifier", "lr=1e-2", "lr=1e-8", "torch.optim.Adam"),
      ("vision", "lr=0.05, momentum=0.9", "lr=1e-7", "torch.optim.SGD"))  # fmt: skip
plant("loss is a sum", ("diverges", "not finite"),
      ("regression", "loss = F.mse_loss(pred, y)", 'loss = F.mse_loss(pred, y, reduction="sum")', 'reduction="sum"'),
      ("regression", "loss = F.mse_loss(pred, y)", "loss = ((pred - y) ** 2).sum()", ".sum()"),
      ("vision", "criterion = nn.CrossEntropyLoss()", "criterion = nn.CrossEntropyLoss(reduction='sum')", "reduction='sum'"))  # fmt: skip
plant("decay too strong", "decay wins",
      ("regression", "lr=0.01", "lr=0.01, weight_decay=20.0", "weight_decay"),
      ("classifier", "lr=1e-2", "lr=1e-2, weight_decay=10.0", "weight_decay"),
      ("text", "lr=5e-3", "lr=5e-2, weight_decay=15.0", "weight_decay"))  # fmt: skip
plant("inputs not scaled", "big start",
      ("classifier", "X = torch.randn(320, 12)\n", "X = torch.randn(320, 12) * 40 + 128\n", "X = torch"),
      ("regression", "X = torch.randn(256, 6)\n", "X = torch.randn(256, 6) * 300 + 1000\n", "X = torch"),
      ("tuning", "X = torch.randn(240, 10)\n", "X = torch.randn(240, 10) * 1000\n", "X = torch"))  # fmt: skip
plant("weights too large at first", "big start",
      ("classifier", "opt = torch", "for p in net.parameters():\n    nn.init.normal_(p, 0, 5.0)\nopt = torch", "nn.init.normal_"),
      ("vision", "optimizer =", "nn.init.normal_(model.head.weight, std=30.0)\noptimizer =", "nn.init.normal_"),
      ("text", "opt = torch", "with torch.no_grad():\n    model.out.weight.mul_(200)\nopt = torch", ".mul_(200)"))  # fmt: skip
plant("units that are off", ("dead units", "diverges", "too large"),
      ("regression", "opt = torch", "nn.init.constant_(net[0].bias, -50.0)\nopt = torch", ""),
      ("tuning", "body_opt =", "with torch.no_grad():\n    model.body[2].bias.fill_(-100.0)\nbody_opt =", ""),
      ("vision", "        self.head = nn.Linear(8 * 2 * 2, 3)\n", "        self.head = nn.Linear(8 * 2 * 2, 3)\n        nn.init.constant_(self.conv2.bias, -40.0)\n", ""))  # fmt: skip
plant("not finite", "not finite",
      ("functional", "loss = F.binary_cross_entropy_with_logits(z, y)", "p = torch.sigmoid(z * 40)\n    loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()", "torch.log"),
      ("regression", "loss = F.mse_loss(pred, y)", "loss = torch.sqrt(((pred - pred.detach()) ** 2)).mean() + F.mse_loss(pred, y)", "torch.sqrt"),
      ("autoencoder", "    code = encoder(x)\n", "    code = encoder(x)\n    code = code / (code.abs() > 0.02).float().prod(1, keepdim=True)\n", "code / "),
      ("text", "    loss = F.cross_entropy(scores, labels)\n", "    weight = labels.float() / labels.float()\n    loss = (weight * F.cross_entropy(scores, labels, reduction='none')).mean()\n", "weight = labels"))  # fmt: skip
plant("op without a slope", ("flat", "not reached"),
      ("autoencoder", "code = encoder(x)", "code = torch.round(encoder(x))", "torch.round"),
      ("regression", "pred = net(x).squeeze(1)", "pred = net(x).squeeze(1).round()", ".round()"),
      ("functional", "h = torch.tanh(x @ w1 + b1)", "h = torch.sign(x @ w1 + b1)", "torch.sign"))  # fmt: skip
plant("exception: shapes", "shapes",
      ("classifier", "nn.Linear(32, 4))", "nn.Linear(33, 4))", "net(x)"),
      ("vision", "nn.Linear(8 * 2 * 2, 3)", "nn.Linear(8 * 4 * 4, 3)", "self.head(x)"),
      ("functional", "w2 = (torch.randn(16, 1)", "w2 = (torch.randn(15, 1)", "h @ w2"))  # fmt: skip
plant("exception: in place", "in place",
      ("functional", "    return (h @ w2 + b2)", "    h += 1\n    return (h @ w2 + b2)", "h += 1"),
      ("recurrent", "            ys.append(self.out(h))\n", "            h = torch.sigmoid(h)\n            ys.append(self.out(h))\n            h *= 0.9\n", "h *= 0.9"),
      ("autoencoder", "    back = decoder(code)\n", "    soft = code.exp()\n    back = decoder(soft)\n    soft.add_(1)\n", "soft.add_"))  # fmt: skip
plant("exception: no gradient", "no gradient",
      ("classifier", "        out = net(x)\n", "        out = net(x).detach()\n", ".detach()"),
      ("regression", "    pred = net(x).squeeze(1)\n", "    with torch.no_grad():\n        pred = net(x).squeeze(1)\n", "with torch.no_grad"),
      ("tuning", "logp = F.log_softmax(model(x), dim=1)\n        loss = F.nll_loss(logp, y)", "guess = model(x).argmax(1)\n        loss = (guess.float() - y.float()).pow(2).mean()", "argmax"))  # fmt: skip
plant("exception: labels", "out of range",
      ("classifier", "loss = F.cross_entropy(out, y)", "loss = F.cross_entropy(out, y + 1)", "y + 1"),
      ("vision", "labels = Y[batch]", "labels = Y[batch] * 2", "criterion(scores"),
      ("text", "nn.Embedding(20, 16)", "nn.Embedding(18, 16)", "self.embed(t)"))  # fmt: skip
plant("exception: second pass", "second pass",
      ("recurrent", "net(x, h.detach())", "net(x, h)", "net(x, h)"),)  # fmt: skip

# what some faults need beside their line
BASES["classifier"] = BASES["classifier"].replace("opt = torch", "plain = torch.utils.data.DataLoader(loader.dataset, batch_size=32)\nopt = torch", 1).replace(
    "for epoch", "total = 0.0\nfor epoch", 1)  # fmt: skip
BASES["classifier"] = BASES["classifier"].replace(
    "Y = (X @ torch.randn(12, 4)).argmax(1)\n",
    "Y = (X @ torch.randn(12, 4)).argmax(1)\norder = Y[:256].argsort()\nX[:256], Y[:256] = X[order], Y[order]\n",
)
