"""A tiny GPT-2: loss, gradients, and text by every way of choosing the next word."""

import torch
from reporting import report
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=40,
    n_positions=32,
    n_embd=32,
    n_layer=2,
    n_head=4,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)
net = GPT2LMHeadModel(config)
words = torch.randint(3, 40, (2, 8))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
losses = []
for _ in range(4):
    loss = net(words, labels=words).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
report("losses", losses)
net.eval()
out = net(words, labels=words, use_cache=True)
report("logits", out.logits)
net.zero_grad()
out.loss.backward()
report("gradients", [p.grad for p in net.parameters()])
step = net(words[:, -1:], past_key_values=out.past_key_values)
report("cached", step.logits)
mask = torch.ones_like(words)
for name, options in {
    "greedy": {"do_sample": False},
    "sample": {"do_sample": True, "top_k": 10, "top_p": 0.9, "temperature": 0.8},
    "beams": {"num_beams": 3, "num_return_sequences": 2},
    "beams drawn": {"num_beams": 2, "do_sample": True},
    "no repeats": {"no_repeat_ngram_size": 2, "repetition_penalty": 1.3},
    "min_p": {"do_sample": True, "min_p": 0.05, "typical_p": 0.9},
    "no cache": {"use_cache": False},
    "static": {"cache_implementation": "static"},
}.items():
    torch.manual_seed(3)
    try:
        found = net.generate(words, attention_mask=mask, max_new_tokens=6, min_new_tokens=3, **options)
        report(name, found)
    except Exception as error:
        report(name, f"{type(error).__name__}: {error}")
found = net.generate(
    words, attention_mask=mask, max_new_tokens=4, return_dict_in_generate=True, output_scores=True
)
report("scores", found.scores)
