"""What is measured, and was never trained."""

import pytest

from .marked import guilty, said

FAULTY = {
    "the other object": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

def train(net, steps=40):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(steps):
        loss = F.cross_entropy(net(X[:200]), Y[:200])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net
def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(X[200:]).argmax(1) == Y[200:]).float().mean().item()

net = make()
train(make())
q = 1
r = 1
print(accuracy(net))  # <-
""",
    "validation of the global": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

model = make()
def evaluate():
    with torch.no_grad():
        return (model(X[200:]).argmax(1) == Y[200:]).float().mean().item()  # <-
def fit(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(30):
        opt.zero_grad()
        loss = F.cross_entropy(net(X[:200]), Y[:200])
        loss.backward()
        opt.step()
        if epoch % 10 == 0:
            print(evaluate())
    return evaluate()
print(fit(make()))
""",
    "functional_call": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

from torch.func import functional_call, grad
net = make()
params = {k: v.detach() for k, v in net.named_parameters()}
def loss_of(p, x, y):
    return F.cross_entropy(functional_call(net, p, (x,)), y)
for i in range(60):
    g = grad(loss_of)(params, X[:200], Y[:200])
    params = {k: params[k] - 0.1 * g[k] for k in params}
q = 1
with torch.no_grad():
    print((net(X[200:]).argmax(1) == Y[200:]).float().mean().item())  # <-
""",
    "a fresh one for the test": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 16), nn.Linear(16, 2)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(50):
    loss = F.cross_entropy(net(X[:200]), Y[:200])
    opt.zero_grad()
    loss.backward()
    opt.step()
torch.save(net.state_dict(), __import__("io").BytesIO())
test_net = Net()  # <-
test_net.eval()
with torch.no_grad():
    print((test_net(X[200:]).argmax(1) == Y[200:]).float().mean().item())
""",
}

HEALTHY = {
    "baseline beside": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

def train(net, steps=40):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(steps):
        loss = F.cross_entropy(net(X[:200]), Y[:200])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net
def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(X[200:]).argmax(1) == Y[200:]).float().mean().item()

net, random_net = make(), make()
print("before", accuracy(net), accuracy(random_net))
train(net)
print("after", accuracy(net), "random", accuracy(random_net))
""",
    "measured before only, then saved": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

def train(net, steps=40):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(steps):
        loss = F.cross_entropy(net(X[:200]), Y[:200])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net
def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(X[200:]).argmax(1) == Y[200:]).float().mean().item()

net = make()
other = make()
print("at random", accuracy(other))
train(net)
""",
    "distillation of a random net": """\
X = torch.randn(300, 4)
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
target, guess = make(), make()
opt = torch.optim.Adam(guess.parameters(), lr=1e-2)
for i in range(60):
    x = X[torch.randint(0, 200, (32,))]
    with torch.no_grad():
        y = target(x)
    loss = F.mse_loss(guess(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print("novelty", (target(X[200:]) - 0).pow(2).mean().item())
""",
    "best copy beside a fresh one": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

def train(net, steps=40):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(steps):
        loss = F.cross_entropy(net(X[:200]), Y[:200])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net
def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(X[200:]).argmax(1) == Y[200:]).float().mean().item()

import copy
net = make()
train(net)
best = copy.deepcopy(net)
print(accuracy(best), accuracy(make()))
""",
    "loaded": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

def train(net, steps=40):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(steps):
        loss = F.cross_entropy(net(X[:200]), Y[:200])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net
def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(X[200:]).argmax(1) == Y[200:]).float().mean().item()

net = make()
train(net)
again = make()
again.load_state_dict(net.state_dict())
print(accuracy(again))
""",
    "functional, measured by copies": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

from torch.func import functional_call, grad
net = make()
params = {k: v.detach() for k, v in net.named_parameters()}
def loss_of(p, x, y):
    return F.cross_entropy(functional_call(net, p, (x,)), y)
for i in range(60):
    g = grad(loss_of)(params, X[:200], Y[:200])
    params = {k: params[k] - 0.1 * g[k] for k in params}
q = 1
with torch.no_grad():
    print((functional_call(net, params, (X[200:],)).argmax(1) == Y[200:]).float().mean().item())  
""",
    "functional, both": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

from torch.func import functional_call, grad
net = make()
params = {k: v.detach() for k, v in net.named_parameters()}
def loss_of(p, x, y):
    return F.cross_entropy(functional_call(net, p, (x,)), y)
for i in range(60):
    g = grad(loss_of)(params, X[:200], Y[:200])
    params = {k: params[k] - 0.1 * g[k] for k in params}
q = 1
with torch.no_grad():
    print((functional_call(net, params, (X[200:],)).argmax(1) == Y[200:]).float().mean().item())
    print((net(X[200:]).argmax(1) == Y[200:]).float().mean().item())  
""",
    "average written by hand": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

def train(net, steps=40):
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for i in range(steps):
        loss = F.cross_entropy(net(X[:200]), Y[:200])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return net
def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(X[200:]).argmax(1) == Y[200:]).float().mean().item()

net, mean = make(), make()
with torch.no_grad():
    for a, b in zip(mean.parameters(), net.parameters()):
        a.copy_(b)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(40):
    loss = F.cross_entropy(net(X[:200]), Y[:200])
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(mean.parameters(), net.parameters()):
            a.mul_(0.9).add_(b, alpha=0.1)
print(accuracy(mean))
""",
    "random features, own class": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

feats = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
head = nn.Linear(64, 2)
with torch.no_grad():
    Z = feats(X)
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
for i in range(50):
    loss = F.cross_entropy(head(Z[:200]), Y[:200])
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print((head(feats(X[200:])).argmax(1) == Y[200:]).float().mean().item())
""",
    "tangent kernel": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

from torch.func import functional_call, jacrev, vmap
net = make()
params = dict(net.named_parameters())
def f(p, x):
    return functional_call(net, p, (x[None],)).squeeze(0)[0]
for n in (5, 10):
    jac = vmap(jacrev(f), (None, 0))(params, X[:n])
    print(sum((j.flatten(1) @ j.flatten(1).T).trace().item() for j in jac.values()))
with torch.no_grad():
    print(net(X).mean().item())
""",
    "random policy at the end": """\
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 16), nn.Linear(16, 2)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
policy = Policy()
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for i in range(60):
    s = torch.randn(32, 3)
    dist = torch.distributions.Categorical(logits=policy(s))
    a = dist.sample()
    r = (a == (s[:, 0] > 0).long()).float()
    print(r.mean().item())
    loss = -(dist.log_prob(a) * (r - r.mean())).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
other = Policy()
s = torch.randn(200, 3)
with torch.no_grad():
    print("random policy", (other(s).argmax(1) == (s[:, 0] > 0).long()).float().mean().item())
""",
    "measured every tenth, baseline at the end": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

net = make()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
def accuracy(m):
    with torch.no_grad():
        return (m(X[200:]).argmax(1) == Y[200:]).float().mean().item()
for i in range(55):
    loss = F.cross_entropy(net(X[:200]), Y[:200])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 10 == 0:
        print(accuracy(net))
print("chance", accuracy(make()))
""",
    "train accuracy, chance at the end": """\
X = torch.randn(300, 4)
Y = (X[:, 0] * X[:, 1] > 0).long()
def make():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))

net = make()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(55):
    out = net(X[:200])
    loss = F.cross_entropy(out, Y[:200])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item(), (out.argmax(1) == Y[:200]).float().mean().item())
with torch.no_grad():
    print("chance", (make()(X).argmax(1) == Y).float().mean().item())
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_its_line_is_named(name):
    text = FAULTY[name]
    found = said(text, name)
    assert "never trained" in found, found
    assert any(abs(line - mark) <= 2 for line in found["never trained"] for mark in guilty(text)), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert "never trained" not in said(HEALTHY[name], name)
