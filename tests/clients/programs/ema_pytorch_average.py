"""The running average of a net's weights while it trains, and what is done with it."""

import tempfile

import torch
from ema_pytorch import EMA, PostHocEMA
from reporting import report
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
ema = EMA(net, beta=0.9, update_after_step=2, update_every=2, power=2 / 3, ignore_names={"3.bias"})
by_list = EMA(net, beta=0.9, update_after_step=0, update_every=1, use_foreach=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(12):
    x = torch.randn(6, 5)
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
    ema.update()
    by_list.update()
report("average", ema.ema_model.state_dict())
report("by lists", by_list.ema_model.state_dict())
report("decay", ema.get_current_decay())
ema.eval()
report("output", ema(torch.ones(2, 5)))
report("state", [len(ema.state_dict()), ema.step])
ema.copy_params_from_model_to_ema()
report("copied", [bool(torch.equal(a, b)) for a, b in zip(ema.ema_model.parameters(), net.parameters())])
again = EMA(net)
again.load_state_dict(ema.state_dict())
report("loaded", again.ema_model.state_dict())
post = PostHocEMA(
    net,
    sigma_rels=(0.05, 0.3),
    update_every=1,
    checkpoint_every_num_steps=2,
    checkpoint_folder=tempfile.mkdtemp(),
)
for _ in range(6):
    with torch.no_grad():
        net[0].weight.add_(0.1)
    post.update()
report("afterwards", post.synthesize_ema_model(sigma_rel=0.15).ema_model.state_dict())
