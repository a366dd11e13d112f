"""Schedulers against torch's: 60 steps for every option, states, resumption, warnings, errors."""

import importlib
import inspect
import warnings

import numpy as np
import pytest

import vistorch
from tests.story import story, torch

exact = story(rtol=1e-12, atol=1e-15)


class Falls:
    """A function of the step with something to save."""

    def __init__(self, rate=0.97):
        self.rate = rate

    def __call__(self, step):
        return self.rate**step


def damped(step):
    return 1 / (1 + 0.1 * step)


RECORDS = {
    "LambdaLR": [
        {"lr_lambda": damped},
        {"lr_lambda": [damped, Falls()]},
        {"lr_lambda": Falls()},
    ],
    "MultiplicativeLR": [{"lr_lambda": damped}, {"lr_lambda": (Falls(0.99), damped)}],
    "StepLR": [{"step_size": 7}, {"step_size": 1, "gamma": 0.9}],
    "MultiStepLR": [{"milestones": [3, 9, 9, 40]}, {"milestones": (50, 1), "gamma": 0.5}],
    "ConstantLR": [{}, {"factor": 0.7, "total_iters": 30}],
    "LinearLR": [{}, {"start_factor": 0.1, "end_factor": 0.6, "total_iters": 35}, {"end_factor": 0.0}],
    "ExponentialLR": [{"gamma": 0.9}, {"gamma": 1.01}],
    "PolynomialLR": [{}, {"total_iters": 44, "power": 2.5}],
    "CosineAnnealingLR": [{"T_max": 10}, {"T_max": 37, "eta_min": 0.02}],
    "CosineAnnealingWarmRestarts": [{"T_0": 10}, {"T_0": 4, "T_mult": 2, "eta_min": 0.01}],
    "CyclicLR": [
        {"base_lr": 0.01, "max_lr": 0.5, "step_size_up": 8},
        {"base_lr": [0.01, 0.03], "max_lr": (0.5, 0.7), "step_size_up": 5, "step_size_down": 9},
        {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 6, "mode": "triangular2", "base_momentum": 0.3},
        {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 6, "mode": "exp_range", "gamma": 0.95},
        {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4, "scale_fn": Falls(0.8), "max_momentum": 0.99},
        {
            "base_lr": 0.1,
            "max_lr": 0.5,
            "step_size_up": 4,
            "scale_fn": damped,
            "scale_mode": "iterations",
            "cycle_momentum": False,
        },
    ],
    "OneCycleLR": [
        {"max_lr": 0.5, "total_steps": 70},
        {"max_lr": [0.5, 0.6], "epochs": 7, "steps_per_epoch": 9, "anneal_strategy": "linear"},
        {"max_lr": 0.5, "total_steps": 60, "three_phase": True, "pct_start": 0.4, "div_factor": 5.0},
        {"max_lr": 0.5, "total_steps": 60, "cycle_momentum": False, "final_div_factor": 10.0},
        {"max_lr": 0.5, "total_steps": 60, "base_momentum": 0.5, "max_momentum": [0.9, 0.8]},
    ],
    "ReduceLROnPlateau": [
        {"patience": 3},
        {"mode": "max", "patience": 2, "factor": 0.5, "cooldown": 4},
        {"threshold": 0.2, "threshold_mode": "abs", "patience": 1, "min_lr": 0.01},
        {"mode": "max", "threshold_mode": "abs", "threshold": 0.3, "patience": 0, "min_lr": [0.02, 0.03]},
        {"eps": 0.02, "patience": 2},
    ],
    "SWALR": [
        {"swa_lr": 0.01},
        {"swa_lr": [0.01, 0.7], "anneal_epochs": 25, "anneal_strategy": "linear"},
        {"swa_lr": 0.02, "anneal_epochs": 0},
    ],
}
CASES = [
    pytest.param(name, given, id=f"{name}-{i}")
    for name, all_ in RECORDS.items()
    for i, given in enumerate(all_)
]
METRICS = 2 + np.sin(np.arange(60.0)) - np.minimum(np.arange(60.0), 20) / 20


def two_groups(L, kind="SGD", tensor_lr=False, **options):
    lrs = [L.tensor(0.1, dtype=L.float64), L.tensor(0.3, dtype=L.float64)] if tensor_lr else [0.1, 0.3]
    if kind == "SGD":
        options.setdefault("momentum", 0.9)
    params = [L.nn.Parameter(L.ones(1)) for _ in range(2)]
    groups = [{"params": [p], "lr": lr} for p, lr in zip(params, lrs, strict=True)]
    return getattr(L.optim, kind)(groups, lr=0.5, **options)


def made(L, name, optimizer, given):
    api = L.optim.swa_utils if name == "SWALR" else L.optim.lr_scheduler
    return getattr(api, name)(optimizer, **given)


def walk(scheduler, steps, start=0):
    """The learning rates and momenta of some steps."""
    seen = []
    for i in range(start, start + steps):
        groups = scheduler.optimizer.param_groups
        seen.append([(g["lr"], g.get("momentum"), g.get("betas")) for g in groups])
        scheduler.optimizer.step()
        scheduler.step(*[METRICS[i]] * (type(scheduler).__name__ == "ReduceLROnPlateau"))
    return seen


def test_every_scheduler_and_option_is_in_a_record():
    known = set(torch.optim.lr_scheduler.__all__) - {"LRScheduler", "SequentialLR", "ChainedScheduler"}
    assert known | {"SWALR"} == set(RECORDS)
    assert set(vistorch.optim.lr_scheduler.__all__) == set(torch.optim.lr_scheduler.__all__)
    assert set(vistorch.optim.swa_utils.__all__) == set(torch.optim.swa_utils.__all__)
    for name, records in RECORDS.items():
        modules = [L.optim.swa_utils if name == "SWALR" else L.optim.lr_scheduler for L in (vistorch, torch)]
        ours, theirs = (inspect.signature(getattr(api, name)).parameters for api in modules)
        assert {k: v.default for k, v in ours.items()} == {k: v.default for k, v in theirs.items()}
        assert list(ours) == list(theirs)
        used = {option for given in records for option in given}
        assert set(theirs) - used <= {"optimizer", "last_epoch"}, name


@pytest.mark.parametrize("name, given", CASES)
@pytest.mark.parametrize("kind, tensor_lr", [("SGD", False), ("Adam", False), ("SGD", True)])
@exact
def test_sixty_steps(L, report, name, given, kind, tensor_lr):
    if kind == "Adam" or tensor_lr:
        given = {k: v for k, v in given.items() if not isinstance(v, Falls)} or given
    optimizer = two_groups(L, kind, tensor_lr)
    report.raises(lambda: report(walk(made(L, name, optimizer, given), 60)))
    report([sorted(k for k in g if k != "params") for g in optimizer.param_groups])


@pytest.mark.parametrize("name, given", CASES)
@exact
def test_states_and_texts(L, report, name, given):
    scheduler = made(L, name, two_groups(L), given)
    report(scheduler, scheduler.get_last_lr(), scheduler.base_lrs if hasattr(scheduler, "base_lrs") else 0)
    walk(scheduler, 5)
    report(scheduler.state_dict(), scheduler.get_last_lr())
    report.warns(lambda: report.raises(scheduler.get_lr))


@pytest.mark.parametrize("name, given", CASES)
def test_a_state_of_torch_goes_on_here_and_back(name, given):
    whole = walk(made(torch, name, two_groups(torch), given), 40)
    for first, second in ((torch, vistorch), (vistorch, torch)):
        before = made(first, name, two_groups(first), given)
        begun = walk(before, 15)
        optimizer = two_groups(second)
        after = made(second, name, optimizer, given)
        state = before.state_dict()
        kept = dict(state)
        after.load_state_dict(state)
        assert state == kept or second is torch  # torch's CyclicLR takes something out of it
        for group, saved in zip(
            optimizer.param_groups, before.optimizer.state_dict()["param_groups"], strict=True
        ):
            group.update({k: v for k, v in saved.items() if k != "params"})
        assert [str(x) for x in begun + walk(after, 25, 15)] == [str(x) for x in whole]


@pytest.mark.parametrize("name, given", CASES)
@exact
def test_last_epoch_and_the_closed_form(L, report, name, given):
    if name == "ReduceLROnPlateau":
        scheduler = made(L, name, two_groups(L), given)
        report.warns(lambda: scheduler.step(1.0, 7))
        report(scheduler.last_epoch)
        return
    optimizer = two_groups(L)
    report.raises(lambda: made(L, name, two_groups(L), {**given, "last_epoch": 3}))
    walk(made(L, name, optimizer, given), 4)
    report.raises(lambda: report(walk(made(L, name, optimizer, {**given, "last_epoch": 3}), 6)))
    scheduler = made(L, name, two_groups(L), given)
    for epoch in (3, 11, 30, 0):
        report.warns(lambda epoch=epoch: scheduler.step(epoch))
        report(scheduler.last_epoch, scheduler.get_last_lr())


@pytest.mark.parametrize("last", [0, 4, 9])
@exact
def test_sequences(L, report, last):
    api = L.optim.lr_scheduler
    optimizer = two_groups(L)
    parts = [
        api.ConstantLR(optimizer, 0.1, total_iters=9),
        api.ChainedScheduler([api.ExponentialLR(optimizer, 0.9)]) if last == 9 else api.StepLR(optimizer, 3),
        api.CosineAnnealingLR(optimizer, 20),
        api.LinearLR(optimizer, total_iters=7),
    ]
    if last == 9:
        report.raises(lambda: walk(api.SequentialLR(optimizer, parts, [4, 12, 40]), 6))
        return
    scheduler = api.SequentialLR(optimizer, parts, [4, 12, 40], last_epoch=last - 1)
    report(walk(scheduler, 60), scheduler.state_dict(), scheduler.get_last_lr())


@exact
def test_chains_and_their_states(L, report):
    api = L.optim.lr_scheduler

    def chain(optimizer):
        sequence = api.SequentialLR(
            optimizer, [api.LinearLR(optimizer), api.ExponentialLR(optimizer, 0.95)], [10]
        )
        return api.ChainedScheduler(
            [sequence, api.MultiStepLR(optimizer, [5, 20]), api.CyclicLR(optimizer, 0.1, 0.2, 3)]
            if optimizer.defaults["nesterov"]
            else [api.ExponentialLR(optimizer, 0.98), api.StepLR(optimizer, 9, 0.5), sequence],
            optimizer,
        )

    for nesterov in (False, True):
        scheduler = chain(two_groups(L, nesterov=nesterov))
        report(walk(scheduler, 30), scheduler.get_last_lr())
        state = scheduler.state_dict()
        report(state)
        again = chain(two_groups(L, nesterov=nesterov))
        again.load_state_dict(state)
        report(again.state_dict(), walk(again, 20), sorted(state) == sorted(scheduler.state_dict()))


@exact
def test_groups_added_before_and_after(L, report):
    api = L.optim.lr_scheduler
    optimizer = two_groups(L)
    optimizer.add_param_group({"params": [L.nn.Parameter(L.ones(1))], "lr": 0.7})
    schedulers = [api.StepLR(optimizer, 2), api.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.1] * 3)]
    optimizer.step()
    schedulers[0].step()
    report([g["lr"] for g in optimizer.param_groups])
    schedulers.append(api.ReduceLROnPlateau(optimizer, patience=0))
    schedulers.append(api.LambdaLR(optimizer, damped))
    optimizer.add_param_group({"params": [L.nn.Parameter(L.ones(1))]})
    for scheduler in schedulers:
        for _ in range(3):
            report.raises(lambda s=scheduler: s.step(*[1.0] * isinstance(s, api.ReduceLROnPlateau)))
        report([g["lr"] for g in optimizer.param_groups])


@exact
def test_tensors_stay_the_same_tensor(L, report):
    lr = L.tensor([0.5])
    optimizer = L.optim.SGD([L.nn.Parameter(L.ones(1))], lr=lr)
    scheduler = L.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    report(optimizer.param_groups[0]["lr"] is lr, lr, scheduler.get_last_lr(), scheduler.base_lrs)
    report(scheduler.get_last_lr()[0] is lr)


@story
def test_warnings(L, report):
    api = L.optim.lr_scheduler
    optimizer = two_groups(L)
    scheduler = api.StepLR(optimizer, 2)
    for _ in range(2):
        report.warns(scheduler.step)
    optimizer = two_groups(L)
    scheduler = api.StepLR(optimizer, 2)
    optimizer.step = lambda: None
    for _ in range(2):
        report.warns(scheduler.step)
    optimizer = two_groups(L)
    first, second = api.StepLR(optimizer, 2), api.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    report.warns(first.step)
    report.warns(second.step)
    report.warns(lambda: second.step(3))


def test_warnings_name_the_line_of_the_user():
    scheduler = vistorch.optim.lr_scheduler.StepLR(two_groups(vistorch), 2)
    plateau = vistorch.optim.lr_scheduler.ReduceLROnPlateau(two_groups(vistorch))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scheduler.step()
        scheduler.step(4)
        plateau.step(1.0, 3)
        scheduler.get_lr()
    assert [w.filename for w in caught] == [__file__] * 4


@story
def test_errors(L, report):
    api = L.optim.lr_scheduler
    optimizer, other = two_groups(L), two_groups(L)
    for act in (
        lambda: api.LRScheduler(optimizer),
        lambda: api.LRScheduler("x"),
        lambda: api.LambdaLR(optimizer, [damped]),
        lambda: api.MultiplicativeLR(optimizer, [damped]),
        lambda: api.MultiplicativeLR(optimizer, 3),
        lambda: api.ConstantLR(optimizer, factor=1.5),
        lambda: api.LinearLR(optimizer, start_factor=0),
        lambda: api.LinearLR(optimizer, end_factor=2),
        lambda: api.CosineAnnealingWarmRestarts(optimizer, 0),
        lambda: api.CosineAnnealingWarmRestarts(optimizer, 2, 0),
        lambda: api.CosineAnnealingWarmRestarts(optimizer, 2, eta_min="x"),
        lambda: api.CosineAnnealingWarmRestarts(optimizer, 2).step(-1),
        lambda: api.ReduceLROnPlateau(optimizer, factor=1.0),
        lambda: api.ReduceLROnPlateau(3),
        lambda: api.ReduceLROnPlateau(optimizer, min_lr=[1]),
        lambda: api.ReduceLROnPlateau(optimizer, mode="x"),
        lambda: api.ReduceLROnPlateau(optimizer, threshold_mode="x"),
        lambda: api.CyclicLR("x", 0.1, 0.2),
        lambda: api.CyclicLR(optimizer, [0.1], 0.2),
        lambda: api.CyclicLR(optimizer, 0.1, 0.2, mode="x"),
        lambda: api.CyclicLR(two_groups(L, "Adagrad"), 0.1, 0.2),
        lambda: api.OneCycleLR(None, 0.1),
        lambda: api.OneCycleLR(optimizer, 0.1),
        lambda: api.OneCycleLR(optimizer, 0.1, epochs=2),
        lambda: api.OneCycleLR(optimizer, 0.1, total_steps=1.5),
        lambda: api.OneCycleLR(optimizer, 0.1, epochs=0, steps_per_epoch=2),
        lambda: api.OneCycleLR(optimizer, 0.1, epochs=2, steps_per_epoch=-1),
        lambda: api.OneCycleLR(optimizer, 0.1, total_steps=5, pct_start=2),
        lambda: api.OneCycleLR(optimizer, 0.1, total_steps=5, anneal_strategy="x"),
        lambda: api.OneCycleLR(optimizer, [0.1], total_steps=5),
        lambda: api.OneCycleLR(two_groups(L, "Adagrad"), 0.1, total_steps=5),
        lambda: walk(api.OneCycleLR(two_groups(L), 0.1, total_steps=5), 7),
        lambda: api.SequentialLR(optimizer, [], []),
        lambda: api.SequentialLR(optimizer, [3], []),
        lambda: api.SequentialLR(optimizer, [api.StepLR(optimizer, 1)], [3]),
        lambda: api.SequentialLR(optimizer, [api.StepLR(other, 1)], []),
        lambda: api.SequentialLR(optimizer, [api.ReduceLROnPlateau(optimizer)], []),
        lambda: api.ChainedScheduler([]),
        lambda: api.ChainedScheduler([api.StepLR(optimizer, 1), api.StepLR(other, 1)]),
        lambda: api.ChainedScheduler([api.ReduceLROnPlateau(optimizer)]),
        lambda: api.ChainedScheduler([3], optimizer),
        lambda: L.optim.swa_utils.SWALR(optimizer, 0.1, anneal_epochs=-1),
        lambda: L.optim.swa_utils.SWALR(optimizer, 0.1, anneal_strategy="x"),
        lambda: L.optim.swa_utils.SWALR(optimizer, [0.1]),
    ):
        report.raises(lambda act=act: bool(act()))


@exact
def test_own_schedulers_and_the_old_name(L, report):
    class Own(importlib.import_module(f"{L.__name__}.optim.lr_scheduler")._LRScheduler):
        def get_lr(self):
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

    scheduler = Own(two_groups(L))
    report(
        walk(scheduler, 5), scheduler.state_dict(), isinstance(scheduler, L.optim.lr_scheduler.LRScheduler)
    )


@exact
def test_places_between_steps(L, report):
    for given in ({"T_0": 5}, {"T_0": 5, "T_mult": 3}):
        scheduler = L.optim.lr_scheduler.CosineAnnealingWarmRestarts(two_groups(L), **given)
        for place in (0.25, 4.75, 5, 7.5, 25.1, 3):
            scheduler.step(place)
            report(scheduler.get_last_lr(), scheduler.state_dict())


def test_a_listener_gets_each_step_and_not_the_first_value():
    seen = []

    class Listens(vistorch.engine.base.events.Listener):
        def phase(self, name, subject, *details):
            seen.append((name, type(subject).__name__, details))

    api = vistorch.optim.lr_scheduler
    optimizer = two_groups(vistorch)
    with Listens():
        step = api.StepLR(optimizer, 2)
        assert seen == []
        optimizer.step()
        seen.clear()
        plateau, warm = api.ReduceLROnPlateau(optimizer), api.CosineAnnealingWarmRestarts(optimizer, 3)
        step.step()
        plateau.step(2.0)
        warm.step()
        api.ChainedScheduler([step]).step()
    names = ["StepLR", "ReduceLROnPlateau", "CosineAnnealingWarmRestarts", "StepLR", "ChainedScheduler"]
    given = {"ReduceLROnPlateau": (2.0,)}
    assert seen == [("scheduler", name, given.get(name, ())) for name in names]
