"""A loop under an Accelerator: accumulation, clipping, schedules, states on disk, metrics of all processes."""

import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration, send_to_device, set_seed
from reporting import report
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
folder = tempfile.mkdtemp()
accelerator = Accelerator(
    cpu=True,
    gradient_accumulation_steps=2,
    project_config=ProjectConfiguration(folder, automatic_checkpoint_naming=True),
)
report("device", str(accelerator.device))
data = TensorDataset(torch.randn(60, 6), torch.randint(3, (60,)))
net = nn.Sequential(nn.Linear(6, 16, bias=False), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
net, optimizer, loader, schedule = accelerator.prepare(
    net, optimizer, DataLoader(data, 8, shuffle=True), schedule
)
losses = []
for epoch in range(3):
    net.train()
    for x, y in loader:
        with accelerator.accumulate(net):
            loss = nn.functional.cross_entropy(net(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                losses.append(accelerator.clip_grad_norm_(net.parameters(), 0.5))
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    net.eval()
    right = [accelerator.gather_for_metrics((net(x).argmax(1), y)) for x, y in loader]
    report("accuracy", torch.cat([a == b for a, b in right]).double().mean())
report("losses", losses)
accelerator.save_state()
before = [p.detach().clone() for p in net.parameters()]
with torch.no_grad():
    for p in net.parameters():
        p.zero_()
accelerator.load_state()
report("loaded", [bool(torch.equal(a, b)) for a, b in zip(before, net.parameters())])
report("state", accelerator.get_state_dict(net))
report("unwrapped", str(accelerator.unwrap_model(net)))
accelerator.save_model(net, folder)
report("moved", send_to_device({"a": [torch.ones(2)]}, accelerator.device)["a"])
