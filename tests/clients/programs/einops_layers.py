"""A net of einops layers that trains, and the functions that it is made of."""

import torch
from einops import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from reporting import report
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=4, p2=4),
    nn.Linear(48, 32),
    EinMix("b t c -> b t k", weight_shape="c k", bias_shape="k", c=32, k=24),
    nn.GELU(),
    EinMix("b t c -> b s c", weight_shape="t s", t=4, s=6),
    Reduce("b t c -> b c", "mean"),
    nn.Linear(24, 5),
)
report("layers", str(net))
x, y = torch.randn(16, 3, 8, 8), torch.randint(5, (16,))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
report("losses", losses)
report("weights", list(net.parameters()))

a = torch.randn(2, 3, 4, requires_grad=True)
packed, shapes = pack([a, torch.ones(2, 5, 4), torch.zeros(2, 4)], "b * c")
report("pack", packed)
report("unpack", unpack(packed, shapes, "b * c"))
report("repeat", repeat(a, "b h w -> b (h 2) w k", k=3).sum((1, 3)))
report("einsum", einsum(a, a, "b i c, b j c -> b i j"))
report("max", reduce(a, "b h w -> h", "max"))
report("shape", str(parse_shape(a, "b _ w")))
(rearrange(a, "b h w -> (w b) h") ** 2).sum().backward()
report("gradient", a.grad)
for wrong in ("b h -> h b", "b h w -> b h", "b h (w 3) -> b h w"):
    try:
        rearrange(a, wrong)
    except Exception as error:
        report(wrong, f"{type(error).__name__}: {error}")
