"""As programs were written in PyTorch's first years."""

import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.parallel
import torch.optim as optim
import torch.utils.data
import torch.utils.data.distributed
from torch.autograd import Variable
from torch.utils.data.dataloader import default_collate

torch.set_default_tensor_type("torch.FloatTensor")
torch.manual_seed(3)
cudnn.benchmark = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 3)

    def forward(self, x):
        x = F.tanh(self.fc1(x))
        x = F.dropout(x, p=0.5, training=self.training)
        return F.log_softmax(self.fc2(x))


def adjust_learning_rate(optimizer, epoch):
    for param_group in optimizer.param_groups:
        param_group["lr"] = 0.1 * (0.5**epoch)


class OldAdam(optim.Optimizer):
    """The arithmetic as it was written when numbers came first."""

    def __init__(self, params, lr=1e-2, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    def step(self, closure=None):
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for p in group["params"]:
                grad, state = p.grad.data, self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = grad.new().resize_as_(grad).zero_()
                    state["exp_avg_sq"] = grad.new().resize_as_(grad).zero_()
                state["step"] += 1
                beta1, beta2 = group["betas"]
                state["exp_avg"].mul_(beta1).add_(1 - beta1, grad)
                state["exp_avg_sq"].mul_(beta2).addcmul_(1 - beta2, grad, grad)
                denom = state["exp_avg_sq"].sqrt().add_(group["eps"])
                step_size = group["lr"] * (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
                p.data.addcdiv_(-step_size, state["exp_avg"], denom)
        return loss


model = Net()
data = torch.randn(64, 4)
labels = (data[:, 0] > 0).long() + (data[:, 1] > 0).long()
dataset = torch.utils.data.TensorDataset(data, labels)
train_loader = torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True, **({"pin_memory": False}))
for optimizer in (optim.SGD(model.parameters(), lr=0.1, momentum=0.5), OldAdam(model.parameters())):
    for epoch in range(3):
        model.train()
        adjust_learning_rate(optimizer, epoch)
        for batch_idx, (x, target) in enumerate(train_loader):
            x, target = Variable(x), Variable(target)
            optimizer.zero_grad()
            output = model(x)
            loss = F.nll_loss(output, target)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if batch_idx % 2 == 0:
                print(f"Epoch: {epoch} [{batch_idx}/{len(train_loader)}]\tLoss: {loss.item():.6f}")
model.eval()
test_loss, correct = 0, 0
with torch.no_grad():
    for x, target in train_loader:
        x, target = Variable(x, volatile=True), Variable(target)
        output = model(x)
        test_loss += F.nll_loss(output, target, size_average=False).item()
        pred = output.data.max(1, keepdim=True)[1]
        correct += pred.eq(target.data.view_as(pred)).cpu().sum()
print(f"Average loss: {test_loss / len(dataset):.4f}, Accuracy: {correct}/{len(dataset)}")
print(F.sigmoid(torch.zeros(2)), nn.MSELoss(size_average=False)(data[:2], data[2:4]))
print(default_collate([{"a": 1, "b": [1.5]}, {"a": 2, "b": [2.5]}]), torch.initial_seed())
