"""A loop that trains on torch, watched: the same numbers as on the engine, and nothing of the loop is changed."""

import copy
import gc
import io
import pickle
import weakref

import numpy as np
import pytest
import torch

import vistorch
from vistorch.debug.source import named
from vistorch.debug.watch import flow, watch
from vistorch.torch_source import losses, private


def classes(lib, run=None, epochs=2, validate=True):
    """A small classifier with a loader, a scheduler and a validation, on either library."""
    lib.manual_seed(0)
    x = lib.randn(96, 1, 8, 8)
    y = (x.mean((1, 2, 3)) > 0).long() + (x[:, 0, 0, 0] > 1).long()
    data = lib.utils.data.TensorDataset(x, y)
    train = lib.utils.data.DataLoader(data, batch_size=16, shuffle=True)
    check = lib.utils.data.DataLoader(data, batch_size=24)
    nn = lib.nn
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    optimizer = lib.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scheduler = lib.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    loss_of = nn.CrossEntropyLoss()
    with run or watch(classes=["low", "mid", "high"]) as run:
        for _ in range(epochs):
            net.train()
            for a, b in train:
                optimizer.zero_grad()
                loss_of(net(a), b).backward()
                optimizer.step()
            scheduler.step()
            net.eval()
            with lib.no_grad():
                for a, b in check if validate else ():
                    loss_of(net(a), b)
    return run, net


def test_the_numbers_are_those_of_the_same_loop_on_the_engine():
    (ours, _), (theirs, net) = classes(vistorch), classes(torch)
    assert theirs.says == [] and theirs.listener.root is net and theirs.step == ours.step == 12
    assert theirs.epoch == 2 and theirs.record().state["head"]["epoch_steps"] == 6
    for of in ("window", "validation"):
        a, b = ours.accuracy(of), theirs.accuracy(of)
        assert a["classes"] == b["classes"] == ["low", "mid", "high"]
        assert np.array_equal(a["right"], b["right"]) and np.array_equal(a["seen"], b["seen"]), of
        assert np.array_equal(ours.confusion(of), theirs.confusion(of))
    assert theirs.loss == pytest.approx(ours.loss, rel=1e-4)
    assert [c["loss"] for c in theirs.metrics.checks] == pytest.approx(
        [c["loss"] for c in ours.metrics.checks], rel=1e-4
    )
    assert (
        [layer["name"] for layer in theirs.health()]
        == [layer["name"] for layer in ours.health()]
        == ["0", "3"]
    )
    assert theirs.optimizers.rate == ours.optimizers.rate == 0.025
    assert theirs.text().splitlines()[0] == ours.text().splitlines()[0]
    assert set(theirs.metrics.units.layers) == set(ours.metrics.units.layers) == {"0"}


def test_misread_samples_have_their_pictures_and_places_in_the_dataset():
    run, _ = classes(torch)
    wrong = [one for cell in run.metrics.mistakes.cells.values() for one in cell]
    assert wrong and all(one.index is not None and 0 <= one.index < 96 for one in wrong)
    assert any(one.image is not None and one.image.shape == (8, 8, 1) for one in wrong)


def test_a_watched_loop_computes_the_same_bits():
    _, watched = classes(torch)
    real = torch.utils.data.DataLoader.__iter__
    run = watch()
    run.listeners.each = []  # nothing listens
    _, plain = classes(torch, run)
    assert torch.utils.data.DataLoader.__iter__ is real
    for a, b in zip(watched.state_dict().values(), plain.state_dict().values(), strict=True):
        assert torch.equal(a, b)


def test_what_was_put_into_torch_is_taken_out_again():
    step = torch.optim.lr_scheduler.StepLR.step
    base = torch.optim.lr_scheduler.LRScheduler.step
    iterate, following = (
        torch.utils.data.DataLoader.__iter__,
        torch.utils.data.dataloader._BaseDataLoaderIter.__next__,
    )
    backward, hooks = torch.autograd.backward, dict(torch.nn.modules.module._global_forward_hooks)
    _, net = classes(torch)
    assert torch.optim.lr_scheduler.StepLR.step is step and torch.optim.lr_scheduler.LRScheduler.step is base
    assert torch.utils.data.DataLoader.__iter__ is iterate and torch.autograd.backward is backward
    assert torch.utils.data.dataloader._BaseDataLoaderIter.__next__ is following
    assert dict(torch.nn.modules.module._global_forward_hooks) == hooks
    assert not net._forward_hooks and not net._forward_pre_hooks and private.top_mode() is None


def one_step(make_loss, size=4, **options):
    torch.manual_seed(0)
    net = torch.nn.Linear(3, size)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with watch(net, optimizer, **options) as run:
        for _ in range(3):
            optimizer.zero_grad()
            make_loss(net(torch.randn(8, 3))).backward()
            optimizer.step()
    assert run.says == [], run.says
    return run


F = torch.nn.functional
LABELS = torch.tensor([0, 1, 2, 3, 0, 1, 2, 3])
SEEN = {
    "cross_entropy": lambda out: F.cross_entropy(out, LABELS),
    "smoothed": lambda out: F.cross_entropy(out, LABELS, label_smoothing=0.1),
    "weighted": lambda out: F.cross_entropy(out, LABELS, weight=torch.ones(4)),
    "nll": lambda out: F.nll_loss(out.log_softmax(-1), LABELS),
    "of chances": lambda out: F.nll_loss((out.softmax(-1) + 1e-9).log(), LABELS),
    "scaled for accumulation": lambda out: F.cross_entropy(out, LABELS) / 4,
    "with a penalty": lambda out: F.cross_entropy(out, LABELS) + 1e-3 * out.square().mean(),
}


@pytest.mark.parametrize("case", SEEN)
def test_classes_are_seen_in_every_form_of_a_loss(case):
    run = one_step(SEEN[case])
    assert run.accuracy()["seen"].tolist() == [6, 6, 6, 6]


def test_samples_that_are_ignored_do_not_count():
    labels = LABELS.clone()
    labels[0] = -100
    run = one_step(lambda out: F.cross_entropy(out, labels))
    assert run.accuracy()["seen"].tolist() == [3, 6, 6, 6]


@pytest.mark.parametrize("name", ["binary_cross_entropy_with_logits", "binary_cross_entropy"])
def test_binary_losses(name):
    target = (LABELS > 1).float()[:, None]
    loss = getattr(F, name)
    run = one_step(lambda out: loss(out if "logits" in name else out.sigmoid(), target), size=1)
    assert run.accuracy()["seen"].tolist() == [12, 12]


TARGET = torch.linspace(-1, 2, 16).reshape(8, 2)
VALUES = {
    "mse_loss": lambda out: F.mse_loss(out, TARGET),
    "the target first": lambda out: F.mse_loss(TARGET, out),
    "smooth_l1_loss": lambda out: F.smooth_l1_loss(out, TARGET),
    "huber_loss": lambda out: F.huber_loss(out, TARGET),
    "by hand": lambda out: ((out - TARGET) ** 2).mean(),
    "by hand, absolute": lambda out: (TARGET - out).abs().mean(),
    "l1_loss": lambda out: F.l1_loss(out, TARGET),
}


@pytest.mark.parametrize("case", VALUES)
def test_predictions_and_targets_of_a_regression(case):
    run = one_step(VALUES[case], size=2)
    task = run.record().state["task"]
    assert task["kind"] == "regression", task
    assert run.tasks.blind == 0


def test_tokens_of_a_language_model():
    torch.manual_seed(0)

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = torch.nn.Embedding(11, 8), torch.nn.Linear(8, 11)

        def forward(self, tokens):
            return self.head(self.table(tokens))

    net = Small()
    optimizer = torch.optim.Adam(net.parameters())
    with watch(net) as run:
        for _ in range(3):
            tokens = torch.randint(0, 11, (4, 6))
            optimizer.zero_grad()
            F.cross_entropy(net(tokens).view(-1, 11), tokens.roll(-1, 1).view(-1)).backward()
            optimizer.step()
    assert run.record().state["task"]["kind"] == "language"


def test_pause_step_rate_snapshot_rewind_and_stop():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    def click():
        if run.status == "paused":
            run.step_once() if run.step < 4 else run.resume()

    states = {}
    run = watch(net, optimizer, snapshot_every=1, poll=click)
    with run:
        for i in range(12):
            optimizer.zero_grad()
            F.cross_entropy(net(torch.ones(4, 3)), torch.tensor([0, 1, 0, 1])).backward()
            if i == 1:
                run.pause()
            if i == 6:
                run.rewind(3)
            if i == 9:
                run.set_lr(0.5)
            if i == 10:
                run.stop()
            optimizer.step()
            scheduler.step()
            states.setdefault(run.step, []).append((copy.deepcopy(net.state_dict()), torch.rand(1)))
    assert run.status == "stopped" and [entry.what for entry in run.log.entries].count("one step") == 2
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.45)  # the scheduler went on from there
    first, again = states[5][:2]  # the same steps after the rewind, with the same masks
    assert first[1] == again[1] and all(torch.equal(first[0][k], again[0][k]) for k in first[0])


def test_a_loss_that_is_not_finite_is_an_alarm():
    run = one_step(lambda out: F.cross_entropy(out * float("nan"), LABELS))
    assert run.alarm.what == "loss" and run.alarm.kind == "NaN" and run.alarm.step == 1


def test_a_step_that_runs_its_pass_itself():
    """As loops have it that hand the optimizer a closure."""
    net = torch.nn.Linear(3, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch() as run:
        for _ in range(4):

            def closure():
                optimizer.zero_grad()
                loss = F.cross_entropy(net(torch.ones(8, 3)), LABELS)
                loss.backward()
                return loss

            optimizer.step(closure)
    assert run.step == 4 and run.accuracy()["seen"].sum() == 32 and run.metrics.known_norms() is not None


def test_a_model_is_copied_pickled_and_saved_without_the_hooks():
    net = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch(net, optimizer) as run:
        other = copy.deepcopy(net)
        again = pickle.loads(pickle.dumps(net))
        torch.save(net, io.BytesIO())
        for one in (other, again):
            one(torch.ones(1, 2)).sum().backward()
        assert run.pending.passes == []
        net(torch.ones(1, 2)).sum().backward()
        assert len(run.pending.passes) == 1


def test_a_pass_of_another_network_is_not_counted():
    net, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch(net, optimizer) as run:
        other(torch.ones(1, 2)).sum().backward()
        other(net(torch.ones(1, 2))).sum().backward()
        optimizer.step()
    assert run.step == 1 and run.record().state["loss"]["curve"]["mean"].shape[1] == 2


def test_accuracy_that_a_validation_counts_by_hand():
    net = torch.nn.Linear(3, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch(net, optimizer) as run:
        for _ in range(2):
            F.cross_entropy(net(torch.ones(8, 3)), LABELS).backward()
            optimizer.step()
            net.eval()
            with torch.no_grad():
                for _ in range(2):
                    with torch.device("cpu"):  # a mode of the program's, left in the middle
                        found = net(torch.ones(8, 3))
                    right = (found.argmax(1) == LABELS).sum()
            net.train()
    assert run.accuracy("validation")["seen"].sum() == 16 and right is not None
    assert private.top_mode() is None


def test_nothing_of_a_pass_is_kept():
    gc.disable()
    try:
        net = torch.nn.Linear(3, 4)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        with watch(net, optimizer) as run:
            for _ in range(3):
                x = torch.ones(8, 3)
                out = net(x)
                loss = F.cross_entropy(out, LABELS)
                loss.backward()
                optimizer.step()
            known = [weakref.ref(out), weakref.ref(loss)]
            del x, out, loss
            assert [one() for one in known] == [None, None]
        model = weakref.ref(net)
        del net, optimizer, run
        gc.collect()
        assert model() is None
    finally:
        gc.enable()


def test_stopping_ends_the_loop():
    net = torch.nn.Linear(3, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with watch(net, optimizer) as run:
        for _ in range(3):
            F.cross_entropy(net(torch.ones(8, 3)), LABELS).backward()
            run.stop()
            optimizer.step()
    assert run.step == 1 and run.status == "stopped"


def test_flow_of_a_model_of_torch():
    net = torch.nn.Linear(2, 1)
    net(torch.tensor([[3.0, 4.0]])).sum().backward()
    assert [(row["name"], row["norm"]) for row in flow(net).rows] == [("weight", 5.0), ("bias", 1.0)]
    net.weight.grad = None
    assert flow(net).rows[0]["state"] == "no gradient"


def test_private_names_of_watching():
    class Seen(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    ours, theirs = Seen(), Seen()
    with theirs:
        private.put_below(ours)
        assert private.top_mode() is theirs
    assert private.top_mode() is ours
    private.take_out(ours)
    private.take_out(ours)
    assert private.top_mode() is None
    x = torch.ones(2)
    written = private.Written(x)
    x += 1
    assert written.n == private.version_of(x) == 1
    assert losses.reaches((x.requires_grad_() * 2).grad_fn, {id(x)})
    assert not losses.reaches((x * 2).grad_fn, {0})
    assert named("torch").placed(x.detach())[0].tolist() == [2, 2]


def scaled_loop(scaled, parts):
    """Three steps whose weights stay, each of some passes; the loss that is shown, and the one that is."""
    torch.manual_seed(0)
    net, x = torch.nn.Linear(3, 4), torch.ones(8, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=scaled)
    with watch(net, optimizer) as run:
        for _ in range(3):
            optimizer.zero_grad()
            for _ in range(parts):
                scaler.scale(F.cross_entropy(net(x), LABELS) / parts).backward()
            scaler.step(optimizer)
            scaler.update()
    assert run.says == [] and run.step == 3 and run.accuracy()["seen"].sum() == 24 * parts
    return run.loss, F.cross_entropy(net(x), LABELS).item()


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("parts", [1, 4])
def test_the_loss_is_that_of_the_batch_whatever_is_done_for_its_gradients(scaled, parts):
    real = torch.amp.GradScaler.scale
    shown, true = scaled_loop(scaled, parts)
    assert shown == pytest.approx(true, rel=1e-6) and torch.amp.GradScaler.scale is real


def test_a_loss_divided_by_what_is_no_number_of_passes_is_shown_as_it_is():
    run = one_step(lambda out: F.cross_entropy(out, LABELS) / 4)
    assert run.loss < 1.0  # it is about 1.4 before that


class Labelled(torch.nn.Module):
    """A model that is given its labels and computes its loss itself, as those of transformers do."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.table, self.head = torch.nn.Embedding(7, 8), torch.nn.Linear(8, 7)

    def forward(self, tokens, labels=None):
        logits = self.head(self.table(tokens))
        if self.kind == "classes":
            logits = logits.mean(1)
        ahead = int(self.kind == "next")
        scores = logits[:, :-1] if ahead else logits
        loss = F.cross_entropy(scores.reshape(-1, 7), labels[..., ahead:].reshape(-1))
        return {"loss": loss, "logits": logits}


class Trainer:
    """A loop that one does not own: it trains and evaluates a model by its own rules."""

    def __init__(self, model, batches):
        self.model, self.batches = model, batches
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 0.9**step)

    def training_step(self, batch):
        self.model.train()
        loss = self.model(**batch)["loss"] / 2
        loss.backward()
        return loss.detach()

    def train(self, epochs=2):
        for _ in range(epochs):
            for i, batch in enumerate(self.batches):
                self.training_step(batch)
                if i % 2:
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.optimizer.step()
                    self.scheduler.step()
                    self.model.zero_grad()
            self.evaluate()

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            return [self.model(**batch)["loss"] for batch in self.batches]


@pytest.mark.parametrize("kind", ["classes", "next", "same"])
def test_a_loop_that_one_does_not_own_over_a_model_with_labels(kind):
    torch.manual_seed(0)
    batches = []
    for _ in range(4):
        tokens = torch.randint(0, 7, (6, 5))
        batches.append({"tokens": tokens, "labels": tokens[:, 0] if kind == "classes" else tokens})
    trainer = Trainer(Labelled(kind), batches)
    with watch() as run:
        trainer.train()
    assert run.says == [] and run.step == 4 and run.model is trainer.model
    true = [loss.item() for loss in trainer.evaluate()]
    assert run.metrics.checks[-1]["loss"] == pytest.approx(sum(true) / 4, rel=1e-4)
    logits = [trainer.model(**batch)["logits"].argmax(-1) for batch in batches]
    pairs = [
        (guess[:, :-1], batch["labels"][:, 1:]) if kind == "next" else (guess, batch["labels"])
        for guess, batch in zip(logits, batches, strict=True)
    ]
    right = sum((a == b).sum().item() for a, b in pairs)
    found = run.metrics.checks[-1]
    assert found["samples"] == sum(b.numel() for _, b in pairs)
    assert found["accuracy"] == pytest.approx(right / found["samples"])


def held(left):
    """Four steps, the third of which is stepped through: the weights after it, and the run."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    went = []

    def open_stepper(run, going, outputs):
        waits = run.probe.source.held_pass(going, outputs)
        assert waits.why_not() is None
        stepper = waits.stepper({})
        stepper.step()
        if left == "finish":
            went.append(len(list(iter(stepper.step, None))))
            stepper.finish()
        else:
            stepper.undo()
        waits.leave(left == "finish")
        return left == "finish"

    run = watch(net, optimizer)
    run.stepper = open_stepper
    with run:
        for i in range(4):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(torch.ones(8, 3)), LABELS)
            if i == 2 and left:
                run.command({"do": "stepper"})
            loss.backward()
            optimizer.step()
    assert run.says == [] and run.step == 4
    return [p.detach().clone() for p in net.parameters()], went


@pytest.mark.parametrize("left", ["finish", "undo"])
def test_a_stepper_in_a_running_loop_leaves_what_the_pass_leaves(left):
    (plain, _), (seen, went) = held(None), held(left)
    assert all(map(torch.equal, plain, seen)) and (went[0] > 5 if left == "finish" else not went)


def test_a_pass_that_cannot_be_stepped_says_why_and_runs():
    from vistorch.torch_source.passes import Going, HeldPass

    x = torch.ones(2, requires_grad=True)
    loss = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True).sum()
    assert "use_reentrant=False" in HeldPass(Going(loss, None, {})).why_not() and x.grad is None


def test_a_run_says_whose_model_it_trains_and_its_file_too(tmp_path):
    from vistorch.debug.watch import Run, load

    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with Run(net, opt) as run:
        net(torch.ones(1, 2)).sum().backward()
        opt.step()
    run.save(tmp_path / "run.zip")
    assert (
        load(tmp_path / "run.zip").wire()["head"]["library"]
        == f"PyTorch {'.'.join(torch.__version__.split('.')[:2])}"
    )
