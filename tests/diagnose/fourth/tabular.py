"""Tables: programs with a fault each, and their healthy counterparts.

Invariant: written by someone who had read no rule.
"""

from .program import fault

fault(
    "iris shuffle",
    "features and labels are shuffled by two different permutations",
    (),
    (15, 14),
    """\
import numpy as np
import torch
from torch import nn

torch.manual_seed(3)
rng = np.random.default_rng(3)

N_PER = 80
means = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
X = np.concatenate([rng.normal(m, 0.3, size=(N_PER, 4)) for m in means])
y = np.repeat(np.arange(3), N_PER)

# In[4]: shuffle and split
perm = rng.permutation(len(X))
X, y = X[perm], y[perm]
n_train = 180
X_train, X_test = X[:n_train], X[n_train:]
y_train, y_test = y[:n_train], y[n_train:]

mu, sd = X_train.mean(0), X_train.std(0)
X_train = torch.tensor((X_train - mu) / sd, dtype=torch.float32)
X_test = torch.tensor((X_test - mu) / sd, dtype=torch.float32)
y_train = torch.tensor(y_train, dtype=torch.long)
y_test = torch.tensor(y_test, dtype=torch.long)

# In[5]: model
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

# In[6]: train
for epoch in range(150):
    optimizer.zero_grad()
    out = model(X_train)
    loss = criterion(out, y_train)
    loss.backward()
    optimizer.step()
    if epoch % 30 == 0 or epoch == 149:
        print(f"epoch {epoch:3d}  loss {loss.item():.4f}")

with torch.no_grad():
    acc = (model(X_test).argmax(1) == y_test).float().mean()
print(f"test accuracy {acc.item():.3f}")
""",
    (
        """\
perm = rng.permutation(len(X))
X, y = X[perm], y[perm]
""",
        """\
X = X[rng.permutation(len(X))]
y = y[rng.permutation(len(y))]
""",
    ),
)
