"""What autograd records, and how to look at it."""

import torch
from torch.autograd import Variable

a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([6.0, 4.0], requires_grad=True)
Q = 3 * a**3 - b**2
Q.backward(gradient=torch.tensor([1.0, 1.0]))
print(9 * a**2 == a.grad, -2 * b == b.grad)

x = torch.rand(5, 5)
y = torch.rand(5, 5)
z = torch.rand((5, 5), requires_grad=True)
print((x + y).requires_grad, (x + z).requires_grad)

x = torch.ones(5)
y = torch.zeros(3)
w = torch.full((5, 3), 0.1, requires_grad=True)
b = torch.zeros(3, requires_grad=True)
z = torch.matmul(x, w) + b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
print(type(z.grad_fn).__name__, type(loss.grad_fn).__name__)
loss.backward()
print(w.grad, b.grad, sep="\n")
with torch.no_grad():
    print((torch.matmul(x, w) + b).requires_grad)
print(z.detach().requires_grad)

inp = torch.eye(4, 5, requires_grad=True)
out = (inp + 1).pow(2).t()
out.backward(torch.ones_like(out), retain_graph=True)
print(inp.grad)
out.backward(torch.ones_like(out), retain_graph=True)
print(inp.grad)
inp.grad.zero_()
out.backward(torch.ones_like(out))
print(inp.grad)
try:
    out.backward(torch.ones_like(out))
except RuntimeError as error:
    print(str(error).split(".")[0])

v = Variable(torch.FloatTensor([[1, 2], [3, 4]]), requires_grad=True)
v_out = torch.mean(v * v)
v_out.backward()
print(v.grad, v.data, v.data.numpy(), v_out.data.item())
try:
    v_out.data[0]
except IndexError as error:
    print(error)

x = torch.randn(3, requires_grad=True)
y = x * 2
while y.data.norm() < 1000:
    y = y * 2
y.backward(torch.tensor([0.1, 1.0, 0.0001]))
print((x.grad > 50).all())

g = torch.autograd.grad((a * a).sum(), a, create_graph=True)[0]
print(g, torch.autograd.grad(g.sum(), a)[0])
h = a.register_hook(lambda grad: grad * 2)
a.grad = None
(a * 3).sum().backward()
h.remove()
print(a.grad, a.is_leaf, a.grad_fn)
jac = torch.autograd.functional.jacobian(lambda x: x.exp(), torch.zeros(2))
print(jac)
with torch.autograd.set_grad_enabled(False):
    print((a * 2).requires_grad)
