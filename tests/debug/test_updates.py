"""The last update of a parameter: right, only for whom it was asked, gone with its parameter."""

import copy
import gc
import weakref

import pytest

import vistorch
from vistorch import nn, optim
from vistorch.debug import updates, watch
from vistorch.debug.array import parameter
from vistorch.debug.updates import forget, last_update, remember, remembered, steps_seen, why_none
from vistorch.engine.base.events import listeners


@pytest.fixture(autouse=True)
def clean():
    forget()
    yield
    forget()
    assert listeners.phase is None


def step(p, opt):
    opt.zero_grad()
    (p * p).sum().backward()
    before = p.detach().clone()
    opt.step()
    return p.detach() - before


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD([p], lr=0.1, momentum=0.9),
        lambda p: optim.Adam([p], lr=0.1),
        lambda p: optim.AdamW([{"params": [p], "weight_decay": 0.1}]),
    ],
)
def test_each_step_replaces_the_last(make):
    p = nn.Parameter(vistorch.randn(3, 4))
    opt = make(p)
    remember(p)
    assert last_update(p) is None and steps_seen(p) == 0
    for i in range(3):
        wanted = step(p, opt)
        assert vistorch.equal(last_update(p), wanted)
        assert steps_seen(p) == i + 1
    assert not last_update(p).requires_grad


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize(
    "name", "SGD Adam Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD Adafactor LBFGS".split()
)
def test_what_a_view_says_after_a_training(name, watched):
    """Steps before the first look are not kept, and the view says so; what it promises then comes true."""
    net = nn.Linear(3, 2)
    opt = getattr(optim, name)(net.parameters(), lr=0.1)

    def closure():
        opt.zero_grad()
        loss = net(vistorch.ones(4, 3)).square().sum()
        loss.backward()
        return loss

    def train():
        for _ in range(3):
            before = net.weight.detach().clone()
            opt.step(closure)
        return net.weight.detach() - before

    def look():
        shown = parameter(net.weight)
        return [item.role for item in shown.items], shown.says

    def run():
        train()
        roles, says = look()
        assert roles == ["value", "gradient"] and "debug.updates.remember(parameter)" in says[0]
        train()
        assert look() == (roles, says)  # to look at a record keeps nothing, and it promises nothing
        remember(net.weight)
        roles, says = look()
        assert roles == ["value", "gradient"] and says == [why_none(net.weight)]
        assert "look again after one" in says[0]
        wanted = train()
        roles, says = look()
        assert roles == ["value", "gradient", "update"] and says == []
        assert vistorch.equal(last_update(net.weight), wanted)

    if watched:
        with watch.watch(net, opt):
            run()
    else:
        run()


def test_nobody_listens_unless_asked():
    p = nn.Parameter(vistorch.ones(2))
    assert listeners.phase is None
    remember(p)
    assert listeners.phase is not None
    forget(p)
    assert listeners.phase is None and not remembered(p)


def test_only_those_that_were_asked_for():
    p, q = nn.Parameter(vistorch.ones(2)), nn.Parameter(vistorch.ones(2))
    remember(p)
    opt = optim.SGD([p, q], lr=0.5)
    (p + q).sum().backward()
    opt.step()
    assert last_update(p).tolist() == [-0.5, -0.5]
    assert last_update(q) is None and not remembered(q)


def test_a_parameter_that_is_gone_is_forgotten():
    p = nn.Parameter(vistorch.ones(1000))
    gone = weakref.ref(p)
    opt = optim.Adam([p])
    remember(p)
    step(p, opt)
    del p, opt
    gc.collect()
    assert gone() is None and not updates._kept and listeners.phase is None


def test_a_copy_is_another_parameter():
    net = nn.Linear(2, 2)
    remember(net.weight)
    again = copy.deepcopy(net)
    assert not remembered(again.weight)
    step(again.weight, optim.SGD([again.weight], lr=0.1))
    assert last_update(again.weight) is None and last_update(net.weight) is None


def test_an_id_that_is_used_again_is_no_mistake():
    p, q = nn.Parameter(vistorch.ones(1)), nn.Parameter(vistorch.ones(1))
    remember(p)
    updates._kept[id(q)] = updates._kept[id(p)]  # as if q had been made where p was
    step(q, optim.SGD([q], lr=0.1))
    assert last_update(p) is None and last_update(q) is None and not remembered(q)
    remember(q)
    step(q, optim.SGD([q], lr=0.1))
    assert last_update(q) is not None and last_update(p) is None


def test_not_more_than_a_number():
    many = [nn.Parameter(vistorch.ones(1)) for _ in range(updates.MOST + 5)]
    for p in many:
        remember(p)
    assert [remembered(p) for p in many] == [False] * 5 + [True] * updates.MOST
    remember(many[5])
    remember(many[0])
    assert remembered(many[5]) and not remembered(many[6])


def test_a_step_that_fails_and_one_that_changes_the_shape():
    p = nn.Parameter(vistorch.ones(2))

    class Odd(optim.Optimizer):
        def step(self):
            if self.defaults["fail"]:
                raise KeyError("no")
            p.data = vistorch.ones(3)

    remember(p)
    with pytest.raises(KeyError):
        Odd([p], {"fail": True}).step()
    Odd([p], {"fail": False}).step()
    assert last_update(p) is None
    step(p, optim.SGD([p], lr=0.1))
    assert last_update(p).shape == (3,)


def test_half_precision_and_another_device():
    vistorch.cuda.simulate(1)
    try:
        p = nn.Parameter(vistorch.ones(3, dtype=vistorch.bfloat16, device="cuda"))
        remember(p)
        p.grad = vistorch.ones_like(p)
        optim.SGD([p], lr=0.25).step()
        update = last_update(p)
        assert update.device == p.device and update.dtype == p.dtype
        assert update.tolist() == [-0.25] * 3
    finally:
        vistorch.cuda.simulate(0)
