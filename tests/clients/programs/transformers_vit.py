"""A tiny ViT, pictures made ready for it, and a training."""

import torch
from reporting import report
from transformers import ViTConfig, ViTForImageClassification, ViTForMaskedImageModeling, ViTModel

torch.manual_seed(0)
config = ViTConfig(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    image_size=16,
    patch_size=4,
    num_labels=3,
    encoder_stride=4,
)
pictures, labels = torch.rand(4, 3, 16, 16), torch.tensor([0, 1, 2, 1])
net = ViTForImageClassification(config)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
losses = []
for _ in range(4):
    loss = net(pictures, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
report("losses", losses)
report("gradients", [p.grad for p in net.parameters()])
net.eval()
report("logits", net(pictures).logits)
report("larger", net.vit(torch.rand(1, 3, 24, 24), interpolate_pos_encoding=True).last_hidden_state)
torch.manual_seed(1)
masked = ViTForMaskedImageModeling(config)
out = masked(pictures, bool_masked_pos=torch.arange(16).expand(4, 16) % 3 == 0)
out.loss.backward()
report("masked", [out.loss, *[p.grad.norm() for p in masked.parameters() if p.grad is not None]])
report(
    "attentions",
    ViTModel._from_config(config, attn_implementation="eager")
    .eval()(pictures, output_attentions=True)
    .attentions,
)
