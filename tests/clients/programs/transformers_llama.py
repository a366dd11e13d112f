"""A tiny Llama (rotary positions, grouped heads): loss, gradients, text, half precision, files."""

import tempfile

import torch
from reporting import report
from transformers import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=50,
    hidden_size=32,
    intermediate_size=56,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)
words = torch.randint(3, 50, (2, 10))
mask = torch.ones_like(words)
mask[0, :3] = 0
for attention in ("eager", "sdpa"):
    torch.manual_seed(1)
    net = LlamaForCausalLM._from_config(config, attn_implementation=attention)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(3):
        loss = net(words, attention_mask=mask, labels=words).loss
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    report(f"{attention}: losses", losses)
    report(f"{attention}: gradients", [p.grad for p in net.parameters()])
    net.eval()
    report(
        f"{attention}: greedy", net.generate(words, attention_mask=mask, max_new_tokens=8, do_sample=False)
    )
    torch.manual_seed(2)
    report(
        f"{attention}: sample",
        net.generate(words, attention_mask=mask, max_new_tokens=8, do_sample=True, top_k=5),
    )
    report(f"{attention}: beams", net.generate(words, attention_mask=mask, max_new_tokens=5, num_beams=2))
report("text", str(net))
folder = tempfile.mkdtemp()
net.save_pretrained(folder, max_shard_size="20KB")
again = LlamaForCausalLM.from_pretrained(folder)
report("loaded", again(words).logits)
half = LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
report("dtype", f"{half.dtype} {half(words).logits.dtype}")
scaled = LlamaConfig(
    **{**config.to_dict(), "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}}
)
torch.manual_seed(4)
report("scaled", LlamaForCausalLM(scaled).eval()(words).logits)
torch.manual_seed(5)
judge = LlamaForSequenceClassification(LlamaConfig(**{**config.to_dict(), "num_labels": 2}))
out = judge(words, labels=torch.tensor([0, 1]))
out.loss.backward()
report("classes", [out.loss, *[p.grad.norm() for p in judge.parameters()]])
