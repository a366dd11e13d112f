"""Engines that train and evaluate, with handlers, metrics, schedules and checkpoints."""

import os
import tempfile

import torch
from ignite.contrib.handlers import PiecewiseLinear
from ignite.engine import Engine, Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping, EMAHandler, TerminateOnNan
from ignite.metrics import (
    Accuracy,
    ConfusionMatrix,
    Fbeta,
    Loss,
    Precision,
    Recall,
    RunningAverage,
    TopKCategoricalAccuracy,
)
from ignite.utils import manual_seed
from reporting import report
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

manual_seed(0)
data = TensorDataset(torch.randn(50, 6), torch.randint(3, (50,)))
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
trainer = create_supervised_trainer(net, optimizer, criterion)
precision, recall = Precision(average=False), Recall(average=False)
metrics = {
    "accuracy": Accuracy(),
    "loss": Loss(criterion),
    "f1": (precision * recall * 2 / (precision + recall + 1e-20)).mean(),
    "beta": Fbeta(2.0),
    "top2": TopKCategoricalAccuracy(2),
    "matrix": ConfusionMatrix(3),
}
evaluator = create_supervised_evaluator(net, metrics=metrics)
RunningAverage(output_transform=lambda loss: loss).attach(trainer, "average")
schedule = PiecewiseLinear(optimizer, "lr", [(0, 0.0), (10, 0.1), (30, 0.01)])
trainer.add_event_handler(Events.ITERATION_STARTED, schedule)
trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
EMAHandler(net, momentum=0.1).attach(trainer)
seen = []


@trainer.on(Events.ITERATION_COMPLETED(every=2))
def note(engine):
    seen.extend([engine.state.output, engine.state.metrics["average"], optimizer.param_groups[0]["lr"]])


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    evaluator.run(DataLoader(data, 16))
    found = evaluator.state.metrics
    report(
        f"epoch {engine.state.epoch}",
        [found[name] for name in sorted(found) if not isinstance(found[name], str)],
    )


folder = tempfile.mkdtemp()
saver = Checkpoint(
    {"model": net, "optimizer": optimizer, "trainer": trainer},
    DiskSaver(folder, require_empty=False),
    n_saved=2,
    score_function=lambda engine: engine.state.metrics["accuracy"],
    score_name="accuracy",
    global_step_transform=lambda *_: trainer.state.epoch,
)
evaluator.add_event_handler(Events.COMPLETED, saver)
evaluator.add_event_handler(
    Events.COMPLETED, EarlyStopping(5, lambda engine: engine.state.metrics["accuracy"], trainer)
)
trainer.run(DataLoader(data, 8, shuffle=True), max_epochs=4)
report("training", seen)
report("weights", list(net.parameters()))
report("checkpoint", os.path.basename(saver.last_checkpoint))
kept = torch.load(os.path.join(folder, saver.last_checkpoint))
Checkpoint.load_objects({"model": net, "optimizer": optimizer}, checkpoint=kept)
report("loaded", list(net.parameters()))
own = Engine(lambda engine, batch: batch * 2)
own.run([1, 2, 3])
report("own", own.state.output)
