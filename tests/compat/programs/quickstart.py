"""A model, a loop, saving and loading."""

import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
print(f"Using {device} device")


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.linear_relu_stack = nn.Sequential(
            nn.Linear(8 * 8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)
        )

    def forward(self, x):
        return self.linear_relu_stack(self.flatten(x))


def train(dataloader, model, loss_fn, optimizer):
    size = len(dataloader.dataset)
    model.train()
    for batch, (X, y) in enumerate(dataloader):
        X, y = X.to(device), y.to(device)
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 4 == 0:
            loss, current = loss.item(), (batch + 1) * len(X)
            print(f"loss: {loss:>7f}  [{current:>5d}/{size:>5d}]")


def test(dataloader, model, loss_fn):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).type(torch.float).sum().item()
    print(
        f"Accuracy: {100 * correct / len(dataloader.dataset):>0.1f}%, Avg loss: {test_loss / len(dataloader):>8f}"
    )


torch.manual_seed(0)
X = torch.rand(128, 1, 8, 8)
y = (X.mean((1, 2, 3)) * 200).long() % 10
loader = DataLoader(TensorDataset(X, y), batch_size=16)
for X0, y0 in loader:
    print(f"Shape of X [N, C, H, W]: {X0.shape}", y0.shape, y0.dtype)
    break
model = NeuralNetwork().to(device)
print(model)
for name, param in model.named_parameters():
    print(f"Layer: {name} | Size: {param.size()} | Values : {param[:2]} \n")
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-1)
for t in range(3):
    print(f"Epoch {t + 1}\n-------------------------------")
    train(loader, model, loss_fn, optimizer)
    test(loader, model, loss_fn)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pth")
    torch.save(model.state_dict(), path)
    again = NeuralNetwork()
    print(again.load_state_dict(torch.load(path, weights_only=True)))
    torch.testing.assert_close(again(X), model(X))
    torch.save({"epoch": 3, "optimizer": optimizer.state_dict(), "model": model.state_dict()}, path)
    checkpoint = torch.load(path)
    optimizer.load_state_dict(checkpoint["optimizer"])
    print(checkpoint["epoch"], sorted(checkpoint), checkpoint["optimizer"]["param_groups"][0]["lr"])
    torch.save(model, path)
    whole = torch.load(path, weights_only=False)
    whole.eval()
    print(type(whole).__name__, torch.equal(whole(X), model(X)))

x, target = X[0], y[0]
print(f'Predicted: "{nn.Softmax(dim=1)(model(x)).argmax(1).item()}", Actual: "{target}"')
