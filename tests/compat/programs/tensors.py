"""First steps with tensors."""

import numpy as np
import torch

torch.manual_seed(0)
x_data = torch.tensor([[1, 2], [3, 4]])
x_np = torch.from_numpy(np.array([[1, 2], [3, 4]]))
print(torch.ones_like(x_data), torch.rand_like(x_data, dtype=torch.float))
shape = (2, 3)
print(torch.rand(shape), torch.zeros(shape), sep="\n")

tensor = torch.rand(3, 4)
print(tensor.shape, tensor.dtype, tensor.device)
if torch.cuda.is_available():
    tensor = tensor.to("cuda")
if torch.accelerator.is_available():
    tensor = tensor.to(torch.accelerator.current_accelerator())

tensor = torch.ones(4, 4)
tensor[:, 1] = 0
print(tensor, tensor[0], tensor[..., -1], sep="\n")
print(torch.cat([tensor, tensor], dim=1).shape)
y1 = tensor @ tensor.T
y2 = tensor.matmul(tensor.T)
y3 = torch.rand_like(y1)
torch.matmul(tensor, tensor.T, out=y3)
print(y1.equal(y2), torch.equal(y1, y3), tensor.mul(tensor).sum().item())
tensor.add_(5)
print(tensor)

t = torch.ones(5)
n = t.numpy()
t.add_(1)
print(n)
n = np.ones(5)
t = torch.from_numpy(n)
np.add(n, 1, out=n)
print(t)
print(x_data.view(-1), x_np.float().mean(), torch.is_tensor(t), x_data.type())
print(torch.empty(2, 0).shape, torch.arange(12).reshape(3, 4)[1:, ::2])
