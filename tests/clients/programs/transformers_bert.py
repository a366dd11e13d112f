"""Tiny BERTs with heads: losses, gradients, a training, and files."""

import tempfile

import torch
from reporting import report
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    get_linear_schedule_with_warmup,
)

torch.manual_seed(0)
config = BertConfig(
    vocab_size=40,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    max_position_embeddings=20,
    num_labels=3,
)
words, mask = torch.randint(0, 40, (3, 9)), torch.ones(3, 9).long()
mask[1, 6:] = 0
for kind, labels in (
    (BertForSequenceClassification, torch.tensor([0, 2, 1])),
    (BertForTokenClassification, torch.randint(3, (3, 9))),
    (BertForMaskedLM, words),
):
    for attention in ("eager", "sdpa"):
        torch.manual_seed(1)
        net = kind._from_config(config, attn_implementation=attention).eval()
        out = net(words, attention_mask=mask, labels=labels, output_hidden_states=True)
        name = f"{kind.__name__} {attention}"
        report(f"{name}: loss", out.loss)
        report(f"{name}: logits", out.logits)
        report(f"{name}: hidden", out.hidden_states)
        out.loss.backward()
        report(f"{name}: gradients", [p.grad for p in net.parameters() if p.grad is not None])
net = BertForSequenceClassification(config)
report("text", str(net))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
schedule = get_linear_schedule_with_warmup(optimizer, 2, 6)
losses = []
for _ in range(5):
    loss = net(words, attention_mask=mask, labels=torch.tensor([0, 2, 1])).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    losses.append(loss.item())
report("training", losses)
folder = tempfile.mkdtemp()
net.eval().save_pretrained(folder)
again = BertForSequenceClassification.from_pretrained(folder).eval()
report("loaded", again(words, attention_mask=mask).logits - net(words, attention_mask=mask).logits)
base = BertModel.from_pretrained(folder).eval()
report("base", base(words).pooler_output)
net.gradient_checkpointing_enable()
net.train()
torch.manual_seed(2)
net(words, labels=torch.tensor([0, 2, 1])).loss.backward()
report("checkpointed", [p.grad.norm() for p in net.parameters() if p.grad is not None])
report(
    "attentions",
    BertModel._from_config(config, attn_implementation="eager")
    .eval()(words, output_attentions=True)
    .attentions,
)
