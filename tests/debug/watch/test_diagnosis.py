"""What is said of layers: nothing of healthy trainings (`python -m tests.debug.watch.healthy` runs all), and the right
thing of a layer that no optimizer holds, whose history is cut, or whose steps are out of range."""

import numpy as np
import pytest

import vistorch
from tests.debug.watch import healthy
from tests.debug.watch.loops import F, blobs, small_net
from tests.debug.watch.test_measures import always
from vistorch import nn, optim
from vistorch.debug.watch import flow, watch

PROGRAMS = list(healthy.programs())


@pytest.mark.parametrize("share", range(3))
def test_nothing_is_said_of_healthy_programs(share):
    assert len(PROGRAMS) >= 30
    seen = {}
    for program in PROGRAMS[share::3]:
        first, last, said = healthy.accused(program, seed=share, steps=120)
        if said:
            seen[program[0]] = said
        if program[0] != "already learnt":
            assert last < 0.9 * first, program[0]
    assert not seen


def states(net, opt, steps=80, forward=None, x=None):
    given, y = blobs(60)
    given = given if x is None else x
    run = always(watch(net, opt, snapshot_every=0))
    with run:
        for _ in range(steps):
            opt.zero_grad()
            F.cross_entropy((forward or net)(given), y).backward()
            opt.step()
            run.refresh()
    assert run.says == []
    return {h["name"]: (h["state"], h["cure"]) for h in run.health()}


def test_weights_of_zero_are_not_called_not_finite():
    net = healthy._zeroed(small_net())
    found = states(net, optim.SGD(net.parameters(), lr=0.1), steps=3)
    assert {state for state, _ in found.values()} == {"in range"}


def test_a_layer_that_no_optimizer_holds():
    net = small_net()
    found = states(net, optim.SGD(net[2].parameters(), lr=0.1))
    assert found["0"][0] == "in no optimizer" and "give them to one" in found["0"][1]
    assert found["2"][0] == "in range"


def test_a_layer_that_is_cut_off_and_where():
    net = small_net()

    def forward(x):
        hidden = net[1](net[0](x))
        hidden = hidden.detach()
        return net[2](hidden)

    at = forward.__code__.co_firstlineno + 2
    found = states(net, optim.SGD(net.parameters(), lr=0.1), forward=lambda x: (net(x[:0]), forward(x))[1])
    assert found["0"][0] == f"cut by detach() in line {at}" and "history ends there" in found["0"][1]


def test_a_layer_that_is_not_in_the_loss_is_not_said_to_be_cut():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.spare = small_net(), nn.Linear(4, 4)

        def forward(self, x):
            self.spare(x).detach().sum().item()  # looked at, not learnt from
            return self.used(x)

    net = Net()
    found = states(net, optim.SGD(net.parameters(), lr=0.1))
    assert found["spare"][0].startswith("cut by detach() in line ") and found["used.0"][0] == "in range"
    Net.forward = lambda self, x: self.used(x)
    net = Net()
    assert states(net, optim.SGD(net.parameters(), lr=0.1))["spare"][0] == "no gradient"


def test_a_rate_of_zero_and_a_gradient_of_zero():
    net = small_net()
    groups = [{"params": net[0].parameters(), "lr": 0.0}, {"params": net[2].parameters()}]
    found = states(net, optim.SGD(groups, lr=0.1))
    assert (found["0"][0], found["2"][0]) == ("no step", "in range")
    net = small_net()
    found = states(net, optim.SGD(net.parameters(), lr=0.1), forward=lambda x: net(x) * 0.0)
    assert found["0"][0] == "gradient is 0"


def test_steps_that_are_out_of_range_where_nothing_is_learnt():
    net = small_net()
    assert states(net, optim.SGD(net.parameters(), lr=1e-5))["2"][0] == "step too small"
    vistorch.manual_seed(0)
    x = vistorch.randn(64, 4)
    net = nn.Linear(4, 1)
    opt = optim.SGD(net.parameters(), lr=0.86)  # beyond what a quadratic of this curvature bears
    with always(watch(net, opt, snapshot_every=0)) as run:
        for _ in range(60):
            opt.zero_grad()
            (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
            opt.step()
            run.refresh()
    assert run.metrics.course.word() == "rises" and run.alarm.kind == "diverged"
    assert run.health()[0]["state"] == "step too large"


def test_gradients_are_large_or_small_beside_the_others():
    net = nn.Sequential(*[m for _ in range(9) for m in (nn.Linear(4, 4), nn.Sigmoid())], nn.Linear(4, 3))
    with vistorch.no_grad():
        for p in net.parameters():
            p.mul_(0.2)
    found = states(net, optim.SGD(net.parameters(), lr=1e-3))
    assert found["0"][0] == "gradient vanishes" and found["18"][0] == "in range"
    x = vistorch.randn(32, 4)
    for scale in (1e-6, 1.0, 1e6):  # the units of the targets are nobody's fault
        one = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        (one(x) - scale).pow(2).mean().mul(scale).backward()
        assert {row["state"] for row in flow(one).rows} == {"in range"}
    one = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    one(x).sum().backward()
    one[0].weight.grad *= 1e6
    assert [row["state"] for row in flow(one).rows].count("gradient explodes") == 1


def test_the_course_of_a_loss_is_not_made_of_noise():
    from vistorch.debug.watch.course import Course

    rng = np.random.default_rng(0)
    for trend, word in (("falls", "falls"), ("stays", "stays"), ("rises", "rises")):
        for _ in range(20):
            course = Course()
            slope = {"falls": -0.004, "stays": 0.0, "rises": 0.02}[trend]
            course.add([2 + slope * i + rng.normal(0, 0.02) for i in range(200)])
            assert course.word() == word
