"""Memories whose entries are one array: what an environment hands out and moves in place."""

import pytest

from .marked import guilty, said

FAULTY = {
    "numpy, reset copies": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, 2).astype(np.float32)
        return self.pos.copy()
    def step(self, a):
        self.pos[0] += 0.1 * (2 * a - 1) + 0.01 * random.random()
        self.t += 1
        return self.pos, -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = (lambda x: torch.from_numpy(np.stack(x)))(s), (lambda x: torch.from_numpy(np.stack(x)))(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  # <-
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
    "numpy, never copies": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, 2).astype(np.float32)
        return self.pos
    def step(self, a):
        self.pos[0] += 0.1 * (2 * a - 1) + 0.01 * random.random()
        self.t += 1
        return self.pos, -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), []
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = (lambda x: torch.from_numpy(np.stack(x)))(s), (lambda x: torch.from_numpy(np.stack(x)))(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  # <-
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
    "tensors": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = torch.rand(2) * 2 - 1
        return self.pos.clone()
    def step(self, a):
        self.pos[0] += 0.1 * (2 * a - 1) + 0.01 * random.random()
        self.t += 1
        return self.pos, -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = torch.stack(s), torch.stack(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  # <-
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
    "from_numpy of one array": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, 2).astype(np.float32)
        return torch.from_numpy(self.pos).clone()
    def step(self, a):
        self.pos[0] += 0.1 * (2 * a - 1) + 0.01 * random.random()
        self.t += 1
        return torch.from_numpy(self.pos), -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = torch.stack(s), torch.stack(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  # <-
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
}

HEALTHY = {
    "copies": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, 2).astype(np.float32)
        return self.pos.copy()
    def step(self, a):
        self.pos[0] += 0.1 * (2 * a - 1) + 0.01 * random.random()
        self.t += 1
        return self.pos.copy(), -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = (lambda x: torch.from_numpy(np.stack(x)))(s), (lambda x: torch.from_numpy(np.stack(x)))(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
    "new arrays": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, 2).astype(np.float32)
        return self.pos
    def step(self, a):
        self.pos = self.pos + 0.1 * (2 * a - 1)
        self.t += 1
        return self.pos, -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = (lambda x: torch.from_numpy(np.stack(x)))(s), (lambda x: torch.from_numpy(np.stack(x)))(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
    "stays": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, 2).astype(np.float32)
        return self.pos.copy()
    def step(self, a):
        self.pos[0] += 0 if random.random() < 0.85 else 0.1 * (2 * a - 1) + 0.01 * random.random()
        self.t += 1
        return self.pos.copy(), -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = (lambda x: torch.from_numpy(np.stack(x)))(s), (lambda x: torch.from_numpy(np.stack(x)))(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
    "stays nearly always": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
class Env:
    def reset(self):
        self.t = 0
        self.pos = np.random.uniform(-1, 1, 2).astype(np.float32)
        return self.pos.copy()
    def step(self, a):
        self.pos[0] += 0 if random.random() < 0.97 else 0.1 * (2 * a - 1) + 0.01 * random.random()
        self.t += 1
        return self.pos.copy(), -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = (lambda x: torch.from_numpy(np.stack(x)))(s), (lambda x: torch.from_numpy(np.stack(x)))(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
    "table of observations, stays": """\
import random
from collections import deque, namedtuple
import numpy as np
random.seed(0); np.random.seed(0)
TABLE = np.random.rand(7, 2).astype(np.float32)
class Env:
    def reset(self):
        self.t = 0
        self.at = 3; self.pos = TABLE[3]
        return self.pos
    def step(self, a):
        self.at = min(max(self.at + 2 * a - 1, 0), 6) if random.random() < 0.5 else self.at; self.pos = TABLE[self.at]
        self.t += 1
        return self.pos, -float(abs(self.pos[0])), self.t >= 30

q, target = [nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)) for _ in range(2)]
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
env, memory = Env(), deque(maxlen=5000)
def learn():
    s, a, r, s2, d = zip(*random.sample(memory, 32))
    s, s2 = (lambda x: torch.from_numpy(np.stack(x)))(s), (lambda x: torch.from_numpy(np.stack(x)))(s2)
    a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d).float()
    with torch.no_grad():
        y = r + 0.95 * (1 - d) * target(s2).max(1).values
    loss = F.mse_loss(q(s).gather(1, a[:, None]).squeeze(1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
for episode in range(25):
    s, done = env.reset(), False
    while not done:
        a = random.randrange(2)
        s2, r, done = env.step(a)
        memory.append((s, a, r, s2, done))  
        s = s2
        if len(memory) > 200:
            learn()
    if episode % 5 == 0:
        target.load_state_dict(q.state_dict())
""",
}


@pytest.mark.parametrize("name", FAULTY)
def test_the_line_that_remembers_is_named(name):
    text = FAULTY[name]
    found = said(text, name)
    assert "next is now" in found and set(found["next is now"]) & guilty(text), found


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_program_is_not_accused(name):
    assert "next is now" not in said(HEALTHY[name], name)
