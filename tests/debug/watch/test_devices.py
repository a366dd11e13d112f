"""On a device nothing is waited for but once a refresh: shown on pretended devices, where crossings are counted."""

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, conv_net, pictures
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import watch
from vistorch.debug.watch.transfer import Transfer


@pytest.fixture
def device():
    vistorch.cuda.simulate(2)
    yield "cuda:1"
    vistorch.cuda.simulate(0)


def train(place, steps=6):
    net, (x, y) = conv_net().to(place), pictures(24)
    x, y = x.to(place), y.to(place)
    opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    with always(watch(net, opt)) as run:
        run.refresher.next_refresh = float("inf")
        for i in range(steps):
            part = slice(8 * (i % 3), 8 * (i % 3) + 8)
            opt.zero_grad()
            F.cross_entropy(net(x[part]), y[part]).backward()
            opt.step()
            run.refresher.next_refresh = float("inf")
        before = run.transfer.crossings
        run.refresh()
        once = run.transfer.crossings - before
        with vistorch.no_grad():
            F.cross_entropy(net(x), y)
    assert run.says == []
    return run, before, once


@pytest.fixture
def plain_kernels():
    """Numbers of two devices are compared bit by bit: the stand-in has numpy's kernels alone."""
    with vistorch.backends.mkldnn.flags(enabled=False):
        yield


def test_one_crossing_a_refresh_and_the_same_numbers(device, plain_kernels):
    run, before, once = train(device)
    # always() takes a snapshot each step, and each refreshes; the last refresh crosses once
    assert once <= 1 and before <= run.step
    vistorch.cuda.simulate(0)
    plain, none, zero = train("cpu")
    assert none == zero == 0
    a, b = run.state(), plain.state()
    assert np.array_equal(a["loss"]["curve"]["mean"], b["loss"]["curve"]["mean"], equal_nan=True)
    assert a["accuracy"]["window"]["right"].tolist() == b["accuracy"]["window"]["right"].tolist()
    assert a["validation"] == b["validation"] and a["head"]["device"] == device
    assert a["flow"]["now"] == pytest.approx(b["flow"]["now"], rel=1e-5)
    assert a["filters"]["weight"]["scale"] == pytest.approx(b["filters"]["weight"]["scale"])
    for x, y in zip(a["health"]["layers"], b["health"]["layers"], strict=True):
        assert x["ratio"] == pytest.approx(y["ratio"], rel=1e-5) and x["seen"] == y["seen"]
    shown = {(m["label"], m["read"], m["step"], m["where"]) for m in a["mistakes"]["items"]}
    assert shown and all(m["image"].shape == (12, 12, 3) for m in a["mistakes"]["items"])


def test_steps_alone_cross_nothing(device):
    net, (x, y) = conv_net().to(device), pictures(24)
    x, y = x.to(device), y.to(device)
    opt = optim.SGD(net.parameters(), lr=0.05)
    with always(watch(net, opt, snapshot_every=0)) as run:
        counts = []
        for _ in range(5):
            run.refresher.next_refresh = float("inf")
            F.cross_entropy(net(x), y).backward()
            opt.step()
            counts.append(run.transfer.crossings)
        run.refresh()
        assert counts == [0] * 5 and run.transfer.crossings == 1
        assert len(run.metrics.recent) == 5 and run.tally().samples == 120


def test_two_devices_cross_once_each(device):
    transfer = Transfer()
    a, b = vistorch.arange(3, device="cuda:0"), vistorch.ones(2, 2, device="cuda:1")
    tickets = [transfer.put(t._data, t._place) for t in (a, b, a * 2)]
    assert tickets[0].value is None
    transfer.send()
    assert transfer.crossings == 2 and tickets[2].value.tolist() == [0, 2, 4]
    assert tickets[0].value.dtype == np.int64 and tickets[1].value.shape == (2, 2)
    transfer.send()
    assert transfer.crossings == 2


def values_and_tokens(place):
    vistorch.manual_seed(0)
    x, ids = vistorch.linspace(-1, 1, 24).reshape(-1, 2).to(place), vistorch.arange(45).reshape(5, 9) % 7
    line, words = nn.Linear(2, 2).to(place), nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 7)).to(place)
    ids, found = ids.to(place), []
    losses = {
        "mse": (line, lambda: F.mse_loss(line(x), x * 2)),
        "hand": (line, lambda: ((line(x) - x * 2) ** 2).mean()),
        "l1": (line, lambda: F.l1_loss(line(x), x * 2)),
        "words": (words, lambda: F.cross_entropy(words(ids[:, :-1]).view(-1, 7), ids[:, 1:].reshape(-1))),
    }
    for net, loss in losses.values():
        opt = optim.SGD(net.parameters(), lr=0.1)
        with always(watch(net, opt, snapshot_every=0)) as run:
            for _ in range(4):
                run.refresher.next_refresh = float("inf")
                opt.zero_grad()
                loss().backward()
                opt.step()
            before = run.transfer.crossings
            run.refresh()
            assert run.transfer.crossings - before <= 1
            with vistorch.no_grad():
                loss()
        assert run.says == []
        found.append((run.state()["task"], run.state()["validation"]))
    return found


def test_values_and_tokens_are_those_of_the_host(device):
    there = values_and_tokens(device)
    vistorch.cuda.simulate(0)
    for (task, checks), (plain, expected) in zip(there, values_and_tokens("cpu"), strict=True):
        assert task["kind"] == plain["kind"] != ""
        of, on = (one["values"] or one["tokens"] for one in (task, plain))
        for name in ("window", "validation"):
            a, b = of[name], on[name]
            assert a.keys() == b.keys() and (a["n"], a["bad"]) == (b["n"], b["bad"])
            for key in {"r2", "perplexity", "accuracy"} & a.keys():
                assert a[key] == pytest.approx(b[key], rel=1e-5)
            for key in ("predicted", "target", "position"):
                if key in a:
                    np.testing.assert_allclose(a[key], b[key], rtol=1e-5, atol=1e-6)
        assert [one["loss"] for one in checks] == pytest.approx([one["loss"] for one in expected], rel=1e-5)


def test_observed_labels_must_be_where_the_scores_are(device):
    with watch(conv_net()) as run:
        with pytest.raises(ValueError, match="outputs are on cuda:1, labels on cpu"):
            run.observe(vistorch.zeros(2, 3, device=device), vistorch.tensor([0, 1]))


def test_each_refresh_of_a_whole_training_crosses_once(device, monkeypatch):
    net, (x, y) = conv_net().to(device), pictures(24)
    x, y = x.to(device), y.to(device)
    opt = optim.Adam(net.parameters(), lr=0.01)
    with always(watch(net, opt, snapshot_every=0)) as run:
        crossed, sent = [], run.transfer.send

        def send():
            before, waiting = run.transfer.crossings, bool(run.transfer.waiting)
            sent()
            crossed.append((run.transfer.crossings - before, waiting))

        monkeypatch.setattr(run.transfer, "send", send)
        for i in range(1, 19):
            run.refresher.next_refresh = 0.0 if i % 3 == 0 else float("inf")
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            opt.step()
            run.refresher.next_refresh = float("inf")
        assert run.says == [] and crossed == [(1, True)] * 6
    # pictures of the samples chosen at the last refresh came with one more
    assert sum(n for n, _ in crossed) <= 8 and run.metrics.mistakes.number and run.step == 18
    assert run.state()["flow"]["columns"]["mean"].shape[1] == 19 and len(run.metrics.recent) == 18
