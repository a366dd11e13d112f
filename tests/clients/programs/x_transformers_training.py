"""A small decoder that learns to copy, with the library's options, and what it then generates."""

import torch
from reporting import report
from x_transformers import (
    AutoregressiveWrapper,
    ContinuousTransformerWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
    XTransformer,
)

torch.manual_seed(0)
for name, options in {
    "plain": {},
    "rotary": {"rotary_pos_emb": True, "use_rmsnorm": True, "ff_glu": True},
    "alibi": {"alibi_pos_bias": True, "attn_qk_norm": True},
    "kv heads": {"attn_one_kv_head": True, "ff_swish": True, "ff_glu": True, "sandwich_norm": True},
    "flash": {"attn_flash": True},
    "relative": {"rel_pos_bias": True, "shift_tokens": 1},
}.items():
    torch.manual_seed(0)
    net = AutoregressiveWrapper(
        TransformerWrapper(
            num_tokens=20, max_seq_len=32, attn_layers=Decoder(dim=24, depth=2, heads=3, **options)
        )
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    half = torch.randint(1, 20, (4, 8))
    losses = []
    for _ in range(4):
        loss = net(torch.cat([half, half], 1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    report(f"{name}: losses", losses)
    net.eval()
    report(f"{name}: generated", net.generate(half[:2], 6, temperature=0.0))
    torch.manual_seed(1)
    report(
        f"{name}: drawn", net.generate(half[:1], 6, temperature=0.8, filter_kwargs={"frac_num_tokens": 0.5})
    )

torch.manual_seed(0)
vit = ViTransformerWrapper(
    image_size=16, patch_size=4, num_classes=5, attn_layers=Encoder(dim=16, depth=2, heads=2)
)
report("image", vit(torch.randn(2, 3, 16, 16)))
line = ContinuousTransformerWrapper(
    dim_in=3, dim_out=2, max_seq_len=10, attn_layers=Encoder(dim=16, depth=1, heads=2)
)
report("continuous", line(torch.randn(2, 7, 3), mask=torch.ones(2, 7).bool()))
both = XTransformer(
    dim=16,
    enc_num_tokens=12,
    enc_depth=1,
    enc_heads=2,
    enc_max_seq_len=8,
    dec_num_tokens=12,
    dec_depth=1,
    dec_heads=2,
    dec_max_seq_len=8,
)
source, target = torch.randint(0, 12, (2, 8)), torch.randint(0, 12, (2, 8))
loss = both(source, target, mask=torch.ones(2, 8).bool())
loss.backward()
report("translation", [loss, *[p.grad.norm() for p in both.parameters() if p.grad is not None]])
