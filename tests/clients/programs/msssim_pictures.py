"""pytorch-msssim: similarity of pictures at one scale and at several, its gradients, and a picture found by it."""

import torch
from pytorch_msssim import MS_SSIM, SSIM, ms_ssim, ssim
from reporting import report

torch.manual_seed(0)
x, y = torch.rand(2, 3, 176, 180), torch.rand(2, 3, 176, 180)
near = (x + 0.1 * y).clamp(0, 1)
for name, other in (("near", near), ("far", y)):
    picture = x.clone().requires_grad_()
    values = ssim(picture, other, data_range=1.0, size_average=False)
    values.sum().backward()
    report(f"ssim {name}", [values, picture.grad])
    picture = x.clone().requires_grad_()
    values = ms_ssim(picture, other, data_range=1.0, size_average=False)
    values.sum().backward()
    report(f"ms_ssim {name}", [values, picture.grad])
report(
    "modules",
    [SSIM(data_range=1.0, nonnegative_ssim=True)(x, y), MS_SSIM(data_range=1.0, win_size=9)(x, near)],
)
report(
    "volumes",
    ssim(
        x[:, :, None, :24, :24].expand(-1, -1, 24, -1, -1),
        y[:, :, None, :24, :24].expand(-1, -1, 24, -1, -1),
        1.0,
    ),
)
found = torch.full((1, 3, 32, 32), 0.5, requires_grad=True)
optimizer = torch.optim.Adam([found], lr=0.05)
losses = []
for _ in range(10):
    optimizer.zero_grad()
    loss = 1 - ssim(found, x[:1, :, :32, :32], data_range=1.0)
    loss.backward()
    optimizer.step()
    losses.append(loss)
report("search", losses)
