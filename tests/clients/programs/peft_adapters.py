"""peft: adapters on a tiny GPT-2 and on a plain net, trained, merged, saved, loaded and switched off."""

import tempfile

import torch
from peft import (
    AdaLoraConfig,
    IA3Config,
    LoraConfig,
    OFTConfig,
    PeftModel,
    PrefixTuningConfig,
    PromptTuningConfig,
    get_peft_model,
    get_peft_model_state_dict,
)
from reporting import report
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

SIZES = {"vocab_size": 40, "n_positions": 24, "n_embd": 16, "n_layer": 2, "n_head": 2}
torch.manual_seed(0)
words = torch.randint(3, 40, (3, 9))


def language_model():
    """The same weights each time."""
    torch.manual_seed(1)
    return GPT2LMHeadModel(GPT2Config(**SIZES, bos_token_id=1, eos_token_id=2))


def train(model, steps=4):
    """The losses of some steps."""
    model.train(False)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(input_ids=words, labels=words).loss
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses


for name, config in (
    ("lora", LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], task_type="CAUSAL_LM")),
    ("dora", LoraConfig(r=2, use_dora=True, target_modules=["c_attn", "c_proj"], task_type="CAUSAL_LM")),
    (
        "ia3",
        IA3Config(target_modules=["c_attn", "c_fc"], feedforward_modules=["c_fc"], task_type="CAUSAL_LM"),
    ),
    ("prompt", PromptTuningConfig(num_virtual_tokens=3, task_type="CAUSAL_LM")),
    ("prefix", PrefixTuningConfig(num_virtual_tokens=3, task_type="CAUSAL_LM")),
):
    torch.manual_seed(2)
    model = get_peft_model(language_model(), config)
    report(name, train(model))
    report(f"{name} adapter", list(get_peft_model_state_dict(model).values()))
    report(f"{name} trainable", list(map(float, model.get_nb_trainable_parameters())))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = PeftModel.from_pretrained(language_model(), folder)
        report(f"{name} loaded", again.eval()(input_ids=words).logits)
    if name in ("lora", "dora", "ia3"):
        with model.disable_adapter():
            report(f"{name} off", model(input_ids=words).logits)
        report(f"{name} merged", model.merge_and_unload()(input_ids=words).logits)


class Net(nn.Module):
    """Linear and convolutional layers."""

    def __init__(self):
        super().__init__()
        self.conv, self.first, self.last = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(64, 16), nn.Linear(16, 5)

    def forward(self, x):
        """Classify."""
        return self.last(torch.tanh(self.first(torch.relu(self.conv(x)).flatten(1))))


data, target = torch.randn(6, 3, 4, 4), torch.randint(5, (6,))
for name, config in (
    ("net lora", LoraConfig(r=3, target_modules=["conv", "first"], modules_to_save=["last"])),
    ("net rslora", LoraConfig(r=3, use_rslora=True, bias="lora_only", target_modules=["first"])),
    ("net adalora", AdaLoraConfig(init_r=4, target_r=2, total_step=20, target_modules=["first"])),
    ("net oft", OFTConfig(oft_block_size=4, target_modules=["first"], use_cayley_neumann=False)),
):
    torch.manual_seed(4)
    model = get_peft_model(Net(), config)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    report(name, losses)
    report(f"{name} adapter", [p for p in model.parameters() if p.requires_grad])
