"""Drawings of a training and of gradient flow: the same bytes each time, every state drawn, text that stays text."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import small_net, small_training
from vistorch import nn
from vistorch.debug.watch import flow, watch
from vistorch.widgets._frame.display import Display
from vistorch.widgets.watch import picture as picture

NAMES = ["<cat>", "dog & co", "bird"]


def trained(steps=30, **more):
    net, opt, loop = small_training()
    with watch(net, opt, classes=NAMES, **more) as run:
        loop(steps)
    return run


def drawn(record, theme="light"):
    mime, data = Display(record).picture(theme)
    assert mime == "image/svg+xml"
    ElementTree.fromstring(data)  # well formed
    return data.decode()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_same_training_gives_the_same_bytes(theme):
    first, second = (drawn(trained(title="blobs").record(), theme) for _ in range(2))
    assert first == second
    assert "&lt;cat&gt;" in first and "dog &amp; co" in first and "<cat>" not in first
    assert "step 30" in first and "Finished. Loss" in first


def test_themes_differ():
    record = trained().record()
    assert drawn(record) != drawn(record, "dark")


def test_bars_are_as_long_as_shares():
    run = trained(60)
    tally = run.accuracy()
    share = tally["right"] / tally["seen"]
    worst = int(np.argmin(share))
    text = drawn(run.record())
    bars = re.findall(r'<rect x="496" y="[\d.]+" width="([\d.]+)" height="9" rx="2" fill="#14705f"', text)
    expected = sorted(max(1, 150 * s) for s in share if s)
    assert [float(b) for b in bars] == pytest.approx(expected, abs=0.02)
    first = re.search(r"(&lt;cat&gt;|dog &amp; co|bird)</text>", text)
    assert first is not None
    assert first[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == NAMES[worst]


def test_before_the_first_step_and_without_classes():
    assert "no loss was seen yet" in drawn(watch().record())
    net = nn.Linear(4, 1)
    opt = vistorch.optim.SGD(net.parameters(), lr=0.1)
    with watch(net, opt) as run:
        for _ in range(5):
            net(vistorch.ones(2, 4)).pow(2).mean().backward()
            opt.step()
    text = drawn(run.record())
    assert "accuracy" not in text and "loss by step" in text


def test_an_error_a_validation_and_a_rewind_are_drawn():
    net, opt, loop = small_training()
    with pytest.raises(RuntimeError), watch(net, opt, snapshot_every=0) as run:
        loop(10)
        run.snapshot()
        loop(10)
        run.rewind()
        loop(5)
        net.eval()
        with vistorch.no_grad():
            nn.functional.cross_entropy(net(vistorch.ones(6, 4)), vistorch.zeros(6, dtype=vistorch.int64))
        net.train()
        loop(1)
        raise RuntimeError("<oh no>")
    text = drawn(run.record())
    assert "Error." in text and "&lt;oh no&gt;" in text
    assert "stroke-dasharray" in text and "undone by a rewind" in text
    assert "<circle" in text and "○ validation" in text
    assert "rewound from step" in text


def test_how_late_a_pause_was_is_not_drawn():
    run = trained(3)
    run.log.write(2, "paused", "9 ms after the click")
    text = drawn(run.record())
    assert "paused" in text and "9 ms" not in text


def test_long_curves_are_thinned_and_no_peak_is_lost():
    run = trained(2)
    steps = list(range(1, 5001))
    run.metrics.loss = type(run.metrics.loss)()
    losses = [1.0] * 5000
    losses[1234] = 50.0
    run.metrics.add_losses(steps, losses)
    run.progress.step = 5000
    state = run.record().wire()
    found, _, _, high = picture._thin(state["loss"]["curve"])
    assert len(found) <= picture.POINTS and high.max() == 50
    assert len(drawn(run.record())) < 40_000


def test_losses_that_are_not_finite_are_counted():
    run = trained(2)
    run.metrics.add_losses([3, 4, 5], [float("nan"), float("inf"), 2.0])
    run.progress.step = 5
    assert "2 not finite" in drawn(run.record())


def net_with_gradients():
    net = small_net()
    x = vistorch.ones(3, 4)
    nn.functional.cross_entropy(net(x), vistorch.tensor([0, 1, 2])).backward()
    return net


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_flow_draws_every_state(theme):
    net = net_with_gradients()
    fine = drawn(flow(net), theme)
    assert fine == drawn(flow(net), theme)
    assert "Every gradient of 4 parameters is in range." in fine
    net[0].weight.grad *= 1e-12
    net[0].bias.grad = None
    net[2].weight.grad *= 0
    net[2].bias.grad[0] = float("nan")
    net.append(nn.Linear(1, 1)).requires_grad_()
    net[3].bias.grad = vistorch.ones(1)  # small and large are so beside the others
    text = drawn(flow(net, "<b>"), theme)
    for said in ("vanishes in 1 of 6", "exactly zero", "1 not finite", "no gradient", "&lt;b&gt;"):
        assert said in text


def test_a_module_without_gradients_is_drawn():
    assert "No parameter has a gradient." in drawn(flow(small_net()))


def test_many_parameters_are_counted():
    net = nn.Sequential(*[nn.Linear(1, 1) for _ in range(40)])
    assert "and 32 more parameters" in drawn(flow(net))
