"""Norms, ratios, units and filters against numpy."""

import numpy as np
import pytest

import vistorch
from tests.debug.watch.loops import F, blobs, conv_net, pictures, small_training
from vistorch import nn, optim
from vistorch.debug.watch import flow, watch
from vistorch.debug.watch.advice import CURES, Layer, state_of
from vistorch.debug.watch.budget import Budget
from vistorch.debug.watch.filters import coded
from vistorch.debug.watch.units import Activity


def always(run):
    """Look at everything at every step, whatever it costs."""
    for job in run.budget.jobs.values():
        job.share, job.every = 1e9, 1
    run.budget.share = 1e9
    return run


def size(t):
    return float(np.sqrt((np.asarray(t.detach().numpy(), np.float64) ** 2).sum()))


def test_gradient_norms_and_ratios():
    net, opt, _ = small_training()
    x, y = blobs(30)
    with always(watch(net, opt)) as run:
        for _ in range(3):
            opt.zero_grad()
            F.cross_entropy(net(x), y).backward()
            norms = [size(p.grad) for p in net.parameters()]
            before = [p.detach().clone() for p in net.parameters()]
            opt.step()
    assert run.says == []
    state = run.state()
    assert state["flow"]["now"].tolist() == pytest.approx(norms, rel=1e-5)
    columns = state["flow"]["columns"]
    assert columns["high"].shape == (4, 4) and columns["high"][:, 3].tolist() == pytest.approx(
        norms, rel=1e-5
    )
    layers = {h["name"]: h for h in state["health"]["layers"]}
    for layer, own in (("0", (0, 1)), ("2", (2, 3))):
        added = sum(size(list(net.parameters())[i] - before[i]) ** 2 for i in own) ** 0.5
        weight = sum(size(before[i]) ** 2 for i in own) ** 0.5
        assert layers[layer]["ratio"] == pytest.approx(added / weight, rel=1e-5)
    assert (
        layers["0"]["parameters"] == 40 and layers["0"]["low"] <= layers["0"]["mean"] <= layers["0"]["high"]
    )


def test_a_parameter_without_gradient_and_one_that_is_not_finite():
    net, opt, _ = small_training()
    x, y = blobs(30)
    with always(watch(net, opt)) as run:
        F.cross_entropy(net(x), y).backward()
        net[0].bias.grad = None
        net[2].bias.grad.fill_(float("nan"))
        opt.step()
    now = run.state()["flow"]["now"]
    assert np.isnan(now[[1, 3]]).all() and np.isfinite(now[[0, 2]]).all()


def test_dead_units_are_those_that_gave_nothing():
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 6), nn.Tanh(), nn.Linear(6, 3))
    with vistorch.no_grad():
        net[0].bias[:3] = -100.0
        net[2].bias[0] = 50.0
    opt = optim.SGD(net.parameters(), lr=0.0)
    x, y = blobs(256)
    hidden = net[1](net[0](x)).detach().numpy()
    with always(watch(net, opt)) as run:
        for i in range(4):
            assert i < 3 or not any(h["dead"].any() for h in run.health() if h["dead"] is not None)
            F.cross_entropy(net(x), y).backward()
            opt.step()
    first, second, last = run.health()
    assert first["kind"] == "rectifier" and first["seen"] == 1024
    assert first["dead"].tolist() == (hidden.max(0) <= 0).astype(int).tolist() and first["dead"][:3].all()
    assert first["state"] == "dead units" and first["cure"]
    assert first["units"].tolist() == np.ceil((hidden > 0).mean(0) * 10 - 1e-9).tolist()
    assert second["kind"] == "ends" and second["saturated"].tolist() == [1, 0, 0, 0, 0, 0]
    assert last["kind"] == "" and last["units"] is None


def test_the_cure_of_dead_units_cures_them():
    """Inputs far from 0 kill a layer at once; what the sentence says helps, and what it does not say would not."""
    vistorch.manual_seed(0)
    x = vistorch.randn(256, 2)
    y, raw = (x[:, 0] * x[:, 1] > 0).long(), 5 * x + 50

    def learn(points, activation=nn.ReLU, lr=0.1):
        vistorch.manual_seed(0)
        net = nn.Sequential(nn.Linear(2, 32), activation(), nn.Linear(32, 2))
        opt = optim.SGD(net.parameters(), lr=lr)
        with always(watch(net, opt)) as run:
            for _ in range(150):
                opt.zero_grad()
                F.cross_entropy(net(points), y).backward()
                opt.step()
        return run.health()[0], float((net(points).argmax(1) == y).float().mean())

    ill, guessing = learn(raw)
    assert ill["state"] == "dead units" and ill["dead"].all() and guessing < 0.6
    assert "mean 0 and deviation 1" in ill["cure"] and "lower the learning rate" in ill["cure"]
    well, right = learn((raw - raw.mean(0)) / raw.std(0))
    assert well["state"] == "in range" and not well["dead"].any() and right > 0.9
    slower, better = learn(raw, lr=0.01)
    assert not slower["dead"].all() and better > 0.65
    assert "LeakyReLU" not in ill["cure"] and learn(raw, nn.LeakyReLU)[1] < 0.6


def test_units_of_a_convolution_are_its_channels():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm, self.fc = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(100, 3)

        def forward(self, x):
            x = F.relu(F.max_pool2d(self.norm(self.conv(x)), 2))
            return self.fc(x.flatten(1))

    net, (x, y) = Net(), pictures(16)
    with vistorch.no_grad():
        net.norm.bias[1] = -100.0
    opt = optim.SGD(net.parameters(), lr=0.0)
    with always(watch(net, opt)) as run:
        for _ in range(64):
            F.cross_entropy(net(x), y).backward()
            opt.step()
    assert run.says == [] and set(run.metrics.units.layers) == {"norm"}
    assert run.metrics.units.layers["norm"].dead().tolist() == [False, True, False, False]


def test_a_unit_that_wakes_is_dead_no_more_and_one_that_dies_is_dead_later():
    activity = Activity("rectifier", 2)
    sleeps, wakes = np.array([[0.0, 5], [0, 1]]), np.array([[3.0, 0], [1, 0]])
    for _ in range(3):
        activity.add(sleeps, 512, 512)
    assert activity.dead().tolist() == [True, False]
    activity.add(wakes, 512, 512)
    assert activity.dead().tolist() == [False, False]
    for _ in range(6):
        activity.add(wakes, 512, 512)
    assert activity.dead().tolist() == [False, True]


def test_filters_beside_their_gradients():
    net, (x, y) = conv_net(), pictures(8)
    opt = optim.SGD(net.parameters(), lr=0.1)
    with always(watch(net, opt)) as run:
        F.cross_entropy(net(x), y).backward()
        weight, gradient = net[0].weight.detach().numpy().copy(), net[0].weight.grad.numpy().copy()
        opt.step()
    found = run.state()["filters"]
    assert found["chosen"] == "0.weight" and found["choices"] == [{"name": "0.weight", "shape": [4, 3, 3, 3]}]
    for sent, real in ((found["weight"], weight), (found["gradient"], gradient)):
        back = (sent["codes"].astype(float) - 128) / 127 * sent["scale"]
        assert (
            sent["scale"] == np.abs(real).max() and np.abs(back - real).max() <= sent["scale"] / 254 * 1.001
        )
    with pytest.raises(ValueError, match=r"no filters are called 'x'; there are: 0\.weight"):
        run.command({"do": "filters", "name": "x"})


def test_codes_of_nothing_and_of_bad_values():
    assert coded(np.zeros((1, 1, 2, 2)))["codes"].tolist() == [[[[128, 128], [128, 128]]]]
    assert coded(np.array([np.nan, -2.0, 2.0]))["codes"].tolist() == [0, 1, 255]


WIDE = {"bounds": (1e-6, 1e3)}


@pytest.mark.parametrize(
    ("known", "state"),
    [
        ({"ratio": 1e-3, "norm": 1.0}, "in range"),
        ({"ratio": 0.5, "norm": 1.0, "course": "falls"}, "in range"),  # it learns
        ({"ratio": 0.5, "norm": 1.0, "course": ""}, "in range"),  # too early to say
        ({"ratio": 0.5, "norm": 1.0, "course": "rises"}, "step too large"),
        ({"ratio": 1e-7, "norm": 1.0, "course": "falls"}, "in range"),
        ({"ratio": 1e-7, "norm": 1.0, "course": "stays", "relative": 0.1}, "step too small"),
        ({"ratio": 1e-7, "norm": 1e-7, "course": "stays", "relative": 1e-7}, "in range"),  # it is done
        ({"ratio": 0.0, "still": True, "norm": 1.0}, "no step"),
        ({"ratio": 0.0, "still": True, "norm": 0.0}, "gradient is 0"),
        ({"ratio": 0.0, "norm": 1.0}, "in range"),
        ({"ratio": 0.0, "held": False}, "in no optimizer"),
        ({"ratio": 0.0, "reached": False}, "no gradient"),
        ({"ratio": 1e-3, "norm": 1e-8, **WIDE}, "gradient vanishes"),
        ({"ratio": 1e-3, "norm": 1e4, **WIDE}, "gradient explodes"),
        ({"ratio": 1e-3, "norm": 1e4, "bounds": (1e-2, 1e7)}, "in range"),  # targets in large units
        ({"ratio": 1e-3, "norm": 1e4, "bounds": (1e-2, 1e7), "peak": 1.0}, "gradient explodes"),
        ({"bad": True, "norm": 1.0}, "not finite"),
        ({}, "in range"),
    ],
)
def test_states_and_their_cures(known, state):
    found, cure = state_of(Layer(**known))
    assert found == state and cure == CURES.get(state, "") and (cure.endswith(".") or state == "in range")


# ---- what it costs -------------------------------------------------------------------------------------------------
def test_a_kind_of_looking_backs_off_when_its_share_is_spent():
    now = [0.0]
    budget = Budget(0.04, clock=lambda: now[0])
    budget.job("norms", 0.5, 1)
    looked = 0
    for step in range(1, 10_001):
        now[0] += 1e-3
        if budget.may("norms", step):
            looked += 1
            now[0] += 2e-3
            budget.charge("norms", 2e-3)
    assert 0.015 < budget.overhead() <= 0.021 and 80 < looked < 130


def test_all_together_stay_below_their_share():
    now = [0.0]
    budget = Budget(0.04, clock=lambda: now[0])
    for name in "abcdef":
        budget.job(name, 0.5, 1)
    for step in range(1, 5001):
        now[0] += 1e-3
        for name in "abcdef":
            if budget.may(name, step):
                now[0] += 1e-3
                budget.charge(name, 1e-3)
    assert 0.045 < budget.overhead() <= 1.25 * 0.04 + 6e-3 / budget.elapsed()  # and one look each


def test_work_inside_work_is_charged_once():
    now = [0.0]
    budget = Budget(clock=lambda: now[0])
    budget.job("outer", 1), budget.job("inner", 1)
    begun = budget.begin()
    now[0] += 1
    budget.charge("inner", 0.75)
    budget.end("outer", begun)
    assert (budget.jobs["outer"].spent, budget.jobs["inner"].spent, budget.spent()) == (0.25, 0.75, 1.0)


def test_hooks_of_one_step_stand_for_those_of_the_others():
    budget = Budget(clock=lambda: 0.0)
    for step in range(1, 101):
        budget.hook_seconds += budget.each
        if step % 10 == 1:
            # the first takes long and stands for few; one was interrupted
            budget.stepped({1: 1.0, 51: 5.0}.get(step, 1e-3))
    assert budget.each == pytest.approx(1e-3, rel=0.5)
    steady = 90 * 1e-3
    assert 10 * 1.0 + steady <= budget.hook_seconds + 1e-9 <= 10 * 1.0 + 2 * steady
    assert budget.spent() == 2 * budget.hook_seconds and budget.wire() == {}


def test_every_kind_of_work_is_in_the_number_and_none_is_there_twice():

    net, opt, loop = small_training()
    with always(watch(net, opt, snapshot_every=0)) as run:
        loop(30)
        run.refresh()
        cost, spent = run.budget.wire(), run.budget.spent()
    assert all(cost[name] > 0 for name in ("listen", "refresh", "norms", "ratios", "units", "mistakes"))
    assert sum(cost.values()) == pytest.approx(spent * 1000, abs=0.02)  # rounded by kind
    assert 0 < run.budget.each < 0.01


# ---- flow ----------------------------------------------------------------------------------------------------------
def test_flow_of_the_last_pass():
    net, _, _ = small_training()
    x, y = blobs(30)
    assert "call backward() first" in flow(net).text()
    F.cross_entropy(net(x), y).backward()
    with vistorch.no_grad():
        net[2].weight.grad.mul_(1e-9)
        net[2].bias.grad[0] = float("inf")
    net[0].bias.grad = None
    rows = flow(net).rows
    assert [r["state"] for r in rows] == ["in range", "no gradient", "gradient vanishes", "not finite"]
    g, w = net[0].weight.grad.numpy(), net[0].weight.detach().numpy()
    assert rows[0]["norm"] == pytest.approx(np.linalg.norm(g), rel=1e-6)
    assert rows[0]["relative"] == pytest.approx(np.linalg.norm(g) / np.linalg.norm(w), rel=1e-6)
    assert (rows[0]["max"], rows[0]["zeros"]) == (np.abs(g).max(), (g == 0).mean())
    assert rows[3]["bad"] == 1 and rows[3]["max"] == pytest.approx(np.abs(net[2].bias.grad.numpy()[1:]).max())
    text = flow(net).text()
    assert "1 parameter without a gradient." in text and CURES["gradient vanishes"] in text
    with pytest.raises(TypeError, match="takes a module, not int"):
        flow(3)
