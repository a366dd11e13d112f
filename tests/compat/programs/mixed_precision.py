"""Mixed precision on whatever device there is, and a compiled model."""

import warnings

import torch
import torch.nn as nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
use_amp = device == "cuda"
net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
scaler = torch.cuda.amp.GradScaler(enabled=use_amp)
x, y = torch.randn(32, 16, device=device), torch.arange(32, device=device) % 4
for epoch in range(5):
    with torch.autocast(device_type=device, dtype=torch.float16, enabled=use_amp):
        loss = nn.functional.cross_entropy(net(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
    scaler.step(opt)
    scaler.update()
    opt.zero_grad(set_to_none=True)
    print(f"{loss.item():.4f}")
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = net(x)
print(out.dtype, scaler.state_dict())
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
torch.set_float32_matmul_precision("high")
print(
    torch.get_num_threads(),
    torch.are_deterministic_algorithms_enabled(),
    torch.get_float32_matmul_precision(),
)
