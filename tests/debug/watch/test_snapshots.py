"""There and back: rewinding and going on gives the same bits."""

import random

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, conv_net, pictures, small_training
from vistorch import nn, optim
from vistorch.debug.watch import watch
from vistorch.debug.watch.snapshots import Snapshot, Snapshots
from vistorch.debug.watch.words import table_text
from vistorch.utils.data import DataLoader, TensorDataset


def made(kind, seed=0):
    vistorch.manual_seed(seed)
    net = nn.Sequential(conv_net(seed), nn.BatchNorm1d(3), nn.Dropout(0.3), nn.Linear(3, 3))
    opt = {
        "sgd": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
        "adam": lambda p: optim.Adam(p, lr=1e-2, amsgrad=True),
        "adamw": lambda p: optim.AdamW(p, lr=1e-2),
        "rmsprop": lambda p: optim.RMSprop(p, lr=1e-3, momentum=0.5, centered=True),
        "lbfgs": lambda p: optim.LBFGS(p, lr=0.1, max_iter=2),
    }[kind](net.parameters())
    return net, opt, optim.lr_scheduler.StepLR(opt, 3, 0.5)


def one_step(net, opt, scheduler):
    """A step whose batch, noise and dropout come from the generators."""
    x, y = pictures(8, seed=random.randrange(1000))
    x = x + 0.1 * vistorch.randn(x.shape) + float(np.random.rand())

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss

    if isinstance(opt, optim.LBFGS):
        loss = opt.step(closure)
    else:
        loss = closure()
        opt.step()
    scheduler.step()
    return loss.item()


@pytest.mark.parametrize("kind", ["sgd", "adam", "adamw", "rmsprop", "lbfgs"])
def test_rewinding_and_going_on_gives_the_same_bits(kind):
    net, opt, scheduler = made(kind)
    random.seed(1), np.random.seed(1)
    with watch(net, opt, snapshot_every=0) as run:
        for i in range(1, 16):
            if i == 5:
                run.snapshot()
            one_step(net, opt, scheduler)
        assert run.snapshots.steps == [5] and run.step == 15
        run.rewind(5)
        one_step(net, opt, scheduler)  # its end is the boundary that goes back to the end of step 5
        assert run.step == 5 and opt.param_groups[0]["lr"] == scheduler.get_last_lr()[0]
        first = [one_step(net, opt, scheduler) for _ in range(6)]
        weights = [t.clone() for t in net.state_dict().values()]
        run.rewind(5)
        one_step(net, opt, scheduler)
        again = [one_step(net, opt, scheduler) for _ in range(6)]
    assert run.says == [] and run.step == 11
    assert again == first
    assert all((a == b).all() for a, b in zip(weights, net.state_dict().values(), strict=True))
    # and the same bits as a run that was never rewound
    net, opt, scheduler = made(kind)
    random.seed(1), np.random.seed(1)
    plain = [one_step(net, opt, scheduler) for _ in range(11)]
    assert plain[5:] == first


def test_what_the_run_knew_goes_back_too():
    net, opt, loop = small_training()

    def at(i):
        if i == 3:
            run.snapshot()
        if i == 5:
            run.set_lr(5.0)
        if i == 7:
            run.rewind(4)

    with watch(net, opt, snapshot_every=0) as run:
        losses = loop(10, at)
        versions = run.version
    state = run.state()
    assert run.step == 6  # 8 steps, back to 4, 2 more
    curve = state["loss"]["curve"]["mean"][0]
    assert curve[1:].tolist() == np.float32([*losses[:4], *losses[8:]]).tolist()
    undone = state["loss"]["undone"]
    assert len(undone) == 1 and undone[0]["from"] == 5
    assert undone[0]["mean"][0].tolist() == np.float32(losses[4:8]).tolist()
    assert opt.param_groups[0]["lr"] == 0.1
    log = state["log"]["items"]
    assert [(e["step"], e["what"]) for e in log] == [
        (4, "snapshot"),
        (6, "learning rate 0.1 → 5"),
        (8, "rewound from step 8 to snapshot 4"),
    ]
    assert log[1]["undone"] and log[1]["effect"].endswith("undone by the rewind") and not log[0]["undone"]
    assert log[2]["effect"] == "weights, optimizer and generators restored; learning rate back to 0.1"
    assert run.tally().samples == 60 and versions


def test_large_numbers_of_steps_are_written_alike_everywhere():
    net, opt, loop = small_training()
    with watch(net, opt, snapshot_every=0) as run:
        loop(1003, lambda i: run.rewind(1000) if i == 1002 else run.snapshot() if i == 999 else None)
    assert [e["what"] for e in run.state()["log"]["items"]][1] == "rewound from step 1,003 to snapshot 1,000"
    assert run.say == "Finished after step 1,000."
    assert table_text(run).startswith("Finished after step 1,000")


def test_rewinding_after_the_end():
    net, opt, loop = small_training()
    with watch(net, opt, snapshot_every=0) as run:
        loop(6, lambda i: run.snapshot() if i == 2 else None)
    kept = [c.clone() for _, c in run.snapshots.kept[0].tensors]
    run.rewind()
    assert all((a == b).all() for a, b in zip(kept, net.parameters(), strict=True))
    assert run.state()["head"]["say"] == "The model holds the weights of step 3." and run.step == 3
    with pytest.raises(ValueError, match="there is no snapshot of step 5; there are: 3"):
        run.rewind(5)


def test_a_model_that_has_changed_is_refused_as_a_whole():
    net, opt, loop = small_training()
    with watch(net, opt, snapshot_every=0) as run:
        loop(3, lambda i: run.snapshot() if i == 2 else None)
    net[2].weight.data = vistorch.zeros(5, 8)
    before = net[0].weight.detach().clone()
    with vistorch.no_grad():
        net[0].weight.add_(1)
    run.rewind()
    assert (net[0].weight == before + 1).all() and run.step == 3
    assert run.log.entries[-1].what == "rewind refused" and "is now (5, 8)" in run.log.entries[-1].effect


def test_a_snapshot_is_untouched_by_going_on_from_it():
    net, opt, loop = small_training()
    with watch(net, opt, snapshot_every=0) as run:
        loop(3, lambda i: run.snapshot() if i == 2 else None)
        kept = run.snapshots.kept[0]
        values = [c.clone() for _, c in kept.tensors]
        buffers = [s["momentum_buffer"].clone() for s in kept.optimizers[0][1]["state"].values()]
        run.rewind(3)
        loop(4)
    assert all((a == c).all() for a, (_, c) in zip(values, kept.tensors, strict=True))
    now = [s["momentum_buffer"] for s in kept.optimizers[0][1]["state"].values()]
    assert all((a == b).all() for a, b in zip(buffers, now, strict=True)) and len(now) == 4


class Weight:
    def __init__(self, step, nbytes=10, asked=False):
        self.step, self.nbytes, self.asked = step, nbytes, asked


def test_the_snapshots_keep_its_budget_and_spreads_what_it_keeps():
    snapshots = Snapshots(50)
    for step in range(10, 210, 10):
        assert snapshots.add(Weight(step, asked=step == 70))
        assert snapshots.nbytes <= 50 and snapshots.steps[-1] == step
    assert 70 in snapshots.steps and len(snapshots.steps) == 5
    gaps = np.diff([0, *snapshots.steps])
    assert gaps.max() <= 100
    assert not snapshots.add(Weight(300, nbytes=51)) and "more than the budget" in snapshots.refused
    with pytest.raises(ValueError, match="there is no snapshot of step 1"):
        snapshots.of(1)


def test_by_itself_it_takes_some_within_the_budget():
    net, opt, loop = small_training()
    with watch(net, opt, snapshot_bytes=200_000, snapshot_every=10) as run:
        run.budget.jobs["snapshots"].share = 1e9
        run.budget.share = 1e9
        loop(200)
    assert len(run.snapshots.kept) > 2 and run.snapshots.nbytes <= 200_000
    assert isinstance(run.snapshots.kept[0], Snapshot)
    with watch(net, opt, snapshot_bytes=10) as run:
        loop(5, lambda i: run.snapshot() if i == 2 else None)
    assert run.snapshots.kept == [] and "more than the budget" in run.why_not("rewind")
    assert run.log.entries[-1].what == "snapshot refused"


@pytest.mark.parametrize("own", [False, True])
def test_an_epoch_of_a_shuffling_loader_is_done_again_bit_by_bit(own):
    x, y = pictures(26)

    def made_all():
        vistorch.manual_seed(3)
        net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.4))
        net.append(nn.Linear(400, 3))
        opt = optim.Adam(net.parameters(), lr=1e-2)
        chance = vistorch.Generator().manual_seed(8) if own else None
        loader = DataLoader(TensorDataset(x, y), batch_size=7, shuffle=True, generator=chance)
        return net, opt, optim.lr_scheduler.ExponentialLR(opt, 0.7), loader

    def epoch(net, opt, scheduler, loader, last=None):
        losses = []
        for i, (a, b) in enumerate(loader, 1):
            if last is not None and i == len(loader):
                last()
            opt.zero_grad()
            loss = F.cross_entropy(net(a), b)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        scheduler.step()
        return losses, opt.param_groups[0]["lr"]

    parts = made_all()
    plain = [epoch(*parts) for _ in range(3)]
    parts = made_all()
    with watch(*parts[:2], snapshot_every=0) as run:
        first = epoch(*parts, last=run.snapshot)
        second = epoch(*parts, last=run.rewind)
        assert run.step == 4  # back at the end of the first epoch, before its scheduler's step
        again = epoch(*parts)
        third = epoch(*parts)
    assert run.says == [] and run.snapshots.steps == [4]
    assert second[0] == again[0] and [first, again, third] == plain
    assert (
        run.state()["loss"]["curve"]["mean"][0, 1:].tolist()
        == np.float32([loss for losses, _ in plain for loss in losses]).tolist()
    )


def test_steps_that_were_undone_are_not_waited_for():
    """The loader goes on where it is, so a run that went back ends that many steps earlier."""
    net, x = nn.Linear(4, 1), vistorch.randn(40, 4)
    opt = optim.SGD(net.parameters(), lr=0.1)
    with watch(net, opt, epochs=2, snapshot_every=0) as run:
        for _ in range(2):
            for (batch,) in DataLoader(TensorDataset(x), batch_size=4):
                opt.zero_grad()
                net(batch).pow(2).mean().backward()
                opt.step()
                if run.step == 3 and not run.pace.undone:
                    run.snapshot()
                if run.step == 7 and not run.pace.undone:
                    run.rewind()
                    assert run.steps == 20
    assert run.pace.undone == 4 and run.step == run.steps == 16


def test_one_story_after_a_rewind():
    """Steps, tries, epochs, ticks and speed agree: no half epoch is a measure, no undone step makes it look slow."""
    net, opt, _ = small_training()
    x, y = blobs(60)
    with watch(net, opt, epochs=5, snapshot_every=7) as run:
        for epoch in range(5):
            for batch, labels in DataLoader(TensorDataset(x, y), batch_size=6):  # ten steps an epoch
                opt.zero_grad()
                F.cross_entropy(net(batch), labels).backward()
                opt.step()
                run.refresh()
                if epoch == 2 and run.step == 26 and run.pace.tries == 1:
                    run.rewind(1)
                elif run.pace.tries == 2 and run.step == 2:
                    head = run.state()["head"]
                    assert (head["step"], head["steps"], head["epoch"], head["tries"]) == (2, 24, 3, 2)
                    assert head["begins"] == [[1, 0, 1], [3, 1, 0]] and head["speed"] > 0
    assert run.step == run.steps == 24 and run.status == "finished"
    ends = [(e["epoch"], e["step"], int(e["seen"].sum())) for e in run.state()["accuracy"]["epochs"]]
    assert ends == [
        (4, 14, 60),
        (5, 24, 60),
    ]  # not the first, of one batch, nor the third, of which a part was undone


def test_snapshots_that_were_asked_for_are_taken():
    net, opt, loop = small_training()
    with watch(net, opt, snapshot_every=3) as run:
        loop(30)
    assert run.snapshots.steps == list(range(1, 31, 3))
