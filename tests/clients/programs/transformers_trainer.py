"""A tiny GPT-2 under transformers' Trainer: epochs, evaluation, files, and a training that goes on."""

import logging
import os
import tempfile

import torch
from reporting import report
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from transformers.utils import logging as theirs

theirs.set_verbosity(logging.ERROR)
theirs.disable_progress_bar()
set_seed(0)
config = GPT2Config(
    vocab_size=30, n_positions=16, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=2
)
data = [{"input_ids": row, "labels": row} for row in torch.randint(3, 30, (24, 10))]
folder = tempfile.mkdtemp()
options = TrainingArguments(
    folder,
    num_train_epochs=2,
    per_device_train_batch_size=4,
    gradient_accumulation_steps=2,
    learning_rate=1e-2,
    warmup_steps=1,
    eval_strategy="epoch",
    save_strategy="epoch",
    logging_steps=1,
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(GPT2LMHeadModel(config), options, train_dataset=data, eval_dataset=data[:6])
trainer.train()
kept = ("loss", "eval_loss", "grad_norm", "learning_rate")
report("log", [row[name] for row in trainer.state.log_history for name in kept if name in row])
report("weights", list(trainer.model.parameters()))
report("prediction", trainer.predict(data[:4]).predictions)
trainer.save_model(os.path.join(folder, "last"))
report("loaded", list(GPT2LMHeadModel.from_pretrained(os.path.join(folder, "last")).parameters()))
more = Trainer(GPT2LMHeadModel(config), options, train_dataset=data, eval_dataset=data[:6])
first = sorted(name for name in os.listdir(folder) if name.startswith("checkpoint"))[0]
more.train(resume_from_checkpoint=os.path.join(folder, first))
report("resumed", list(more.model.parameters()))
