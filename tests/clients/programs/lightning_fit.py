"""A LightningModule under Trainer.fit: validation, callbacks, checkpoints, testing and prediction."""

import logging
import os
import tempfile
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.utilities.model_summary import ModelSummary
from reporting import report
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Net(L.LightningModule):
    """Two layers that learn a linear law."""

    def __init__(self, hidden=8, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 1))
        self.seen = []

    def forward(self, x):
        """One number for each row."""
        return self.net(x)

    def _loss(self, batch):
        return nn.functional.mse_loss(self(batch[0]), batch[1])

    def training_step(self, batch, at):
        """Its loss."""
        loss = self._loss(batch)
        self.log("train_loss", loss, on_epoch=True, prog_bar=True)
        self.seen.append(loss.item())
        return loss

    def validation_step(self, batch, at):
        """The loss of data that are not trained on."""
        self.log("val_loss", self._loss(batch), prog_bar=True)

    test_step = validation_step

    def configure_optimizers(self):
        """Adam, slower from epoch to epoch."""
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
        return {
            "optimizer": optimizer,
            "lr_scheduler": torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.7),
        }


L.seed_everything(0, verbose=False)
x = torch.randn(64, 4)
data = TensorDataset(x, x @ torch.tensor([[1.0], [2.0], [-1.0], [0.5]]))
folder = tempfile.mkdtemp()
kept = ModelCheckpoint(folder, monitor="val_loss", save_last=True)
trainer = L.Trainer(
    max_epochs=4,
    accelerator="cpu",
    callbacks=[kept, EarlyStopping("val_loss", patience=3), LearningRateMonitor()],
    logger=CSVLogger(folder),
    gradient_clip_val=1.0,
    accumulate_grad_batches=2,
    enable_progress_bar=False,
    log_every_n_steps=1,
)
net = Net()
report("summary", str(ModelSummary(net)))
trainer.fit(net, DataLoader(data, 8, shuffle=True), DataLoader(data, 16))
report("losses", net.seen)
report("metrics", {name: trainer.callback_metrics[name] for name in sorted(trainer.callback_metrics)})
report("steps", [trainer.global_step, trainer.current_epoch])
report("best", kept.best_model_score)
report("weights", list(net.parameters()))
report("test", trainer.test(net, DataLoader(data, 16), verbose=False)[0])
again = Net.load_from_checkpoint(kept.best_model_path)
report("loaded", list(again.parameters()))
report("hyperparameters", str(dict(again.hparams)))
more = L.Trainer(
    max_epochs=6, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False
)
L.seed_everything(1, verbose=False)
further = Net()
more.fit(further, DataLoader(data, 8), ckpt_path=os.path.join(folder, "last.ckpt"))
report("resumed", further.seen)

fabric = L.Fabric(accelerator="cpu")
fabric.launch()
L.seed_everything(2, verbose=False)
line = nn.Linear(4, 1)
line, optimizer = fabric.setup(line, torch.optim.SGD(line.parameters(), lr=0.1))
for batch in fabric.setup_dataloaders(DataLoader(data, 16)):
    optimizer.zero_grad()
    fabric.backward(nn.functional.mse_loss(line(batch[0]), batch[1]))
    optimizer.step()
report("fabric", list(line.parameters()))
