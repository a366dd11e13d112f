"""A small U-Net that learns to take noise away, and the pictures that it makes of noise."""

import torch
from denoising_diffusion_pytorch import GaussianDiffusion, GaussianDiffusion1D, Unet, Unet1D
from reporting import report

torch.manual_seed(0)
net = Unet(dim=8, dim_mults=(1, 2), flash_attn=False)
for objective in ("pred_v", "pred_noise"):
    diffusion = GaussianDiffusion(net, image_size=16, timesteps=10, sampling_timesteps=3, objective=objective)
    optimizer = torch.optim.Adam(diffusion.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        loss = diffusion(torch.rand(2, 3, 16, 16))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    report(objective, losses)
    report(f"{objective}: sample", diffusion.sample(batch_size=1))
full = GaussianDiffusion(net, image_size=16, timesteps=4, beta_schedule="cosine")
report("every step", full.sample(batch_size=1))
report("between", full.interpolate(torch.rand(1, 3, 16, 16), torch.rand(1, 3, 16, 16), t=2))
line = GaussianDiffusion1D(Unet1D(dim=8, dim_mults=(1, 2), channels=2), seq_length=16, timesteps=6)
loss = line(torch.rand(2, 2, 16))
loss.backward()
report("one dimension", [loss, *[p.grad.norm() for p in line.parameters() if p.grad is not None]])
report("its sample", line.sample(batch_size=1))
