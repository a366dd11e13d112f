"""What refuses a saved state is as it was before: optimizers, schedules, scalers, generators."""

import copy

import pytest

import vistorch
from vistorch import nn, optim
from vistorch.optim import lr_scheduler as s

OPTIMIZERS = {
    "SGD": {"momentum": 0.9},
    "Adam": {"amsgrad": True},
    "AdamW": {},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {"centered": True, "momentum": 0.5},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
    "LBFGS": {},
    "Muon": {},
}
WRONG = (None, "x", [], {}, True, -1, 10**400, vistorch.ones(5), vistorch.full((3, 2), 9.0), object(), b"x")


def trained(name):
    vistorch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 2, bias=name != "Muon"), nn.Linear(2, 2, bias=False))
    made = getattr(optim, name)(
        net.parameters(), **({} if name == "LBFGS" else {"lr": 0.1}), **OPTIMIZERS[name]
    )
    for _ in range(2):
        step(net, made)
    return net, made


def step(net, optimizer):
    def closure():
        optimizer.zero_grad()
        loss = net(vistorch.ones(4, 3)).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)


def seen(value):
    """A state as something that compares: tensors by their elements and where they lie."""
    if isinstance(value, vistorch.Tensor):
        return value.data_ptr(), value.tolist()
    if isinstance(value, dict):
        return {str(k): seen(v) for k, v in value.items()}
    return [seen(v) for v in value] if isinstance(value, (list, tuple)) else repr(value)


def changed(state):
    """The state with each part replaced by what does not belong there, or missing."""

    def walk(value, path):
        items = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, item in items:
            yield (*path, key)
            yield from walk(item, (*path, key))

    for path in list(walk(state, ())):
        for wrong in (*WRONG, changed):
            made = copy.deepcopy(state)
            at = made
            for key in path[:-1]:
                at = at[key]
            if wrong is changed:
                del at[path[-1]]
            else:
                at[path[-1]] = wrong
            # other numbers than the ones that are there, so that half of a load would show
            for entries in made["state"].values() if isinstance(made.get("state"), dict) else ():
                for k, v in entries.items() if isinstance(entries, dict) else ():
                    if isinstance(v, vistorch.Tensor) and v.is_floating_point() and v is not wrong:
                        entries[k] = v + 1
            yield path, made


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_that_refuses_is_as_it_was(name):
    net, optimizer = trained(name)
    refused = 0
    good = optimizer.state_dict()
    before = seen(good)
    for path, made in changed(copy.deepcopy(good)):
        try:
            optimizer.load_state_dict(made)
        except (ValueError, TypeError) as error:
            assert str(error), path
            refused += 1
            assert seen(optimizer.state_dict()) == before, path
        else:
            optimizer.load_state_dict(good)
    assert refused > 20
    step(net, optimizer)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name not in ("LBFGS", "Adafactor", "Muon")])
def test_what_is_taken_can_be_stepped_with(name):
    net, optimizer = trained(name)
    good = copy.deepcopy(optimizer.state_dict())
    for path, made in changed(good):
        if path[0] != "state":
            continue
        try:
            optimizer.load_state_dict(made)
        except (ValueError, TypeError):
            continue
        step(net, optimizer)


def test_the_sentences():
    _, optimizer = trained("Adam")
    state = optimizer.state_dict()
    for change, sentence in (
        (
            lambda d: d["state"][0].update(exp_avg=vistorch.ones(3, 2)),
            r"parameter 0 has a tensor of shape \(3, 2\) as",
        ),
        (lambda d: d["state"].update({1: "x"}), "loaded state of parameter 1 must be a dict, got str"),
        (lambda d: d["state"][0].update(step="x"), "has 'x' as 'step', expected a tensor of shape"),
        (
            lambda d: d["param_groups"][0].update(lr="x"),
            "group 0 of the loaded state dict has 'x' as 'lr', this one 0.1",
        ),
        (lambda d: d["param_groups"][0].pop("lr"), "group 0 of the loaded state dict has no 'lr'"),
        (lambda d: d.pop("state"), "must have a dict under 'state', got nothing"),
    ):
        made = copy.deepcopy(state)
        change(made)
        with pytest.raises(ValueError, match=sentence):
            optimizer.load_state_dict(made)


class Half:
    """A function of a step with a number of its own."""

    def __init__(self):
        self.base = 0.5

    def __call__(self, step):
        return self.base**step


SCHEDULES = {
    "StepLR": lambda o: s.StepLR(o, 3),
    "MultiStepLR": lambda o: s.MultiStepLR(o, [2, 5]),
    "CosineAnnealingLR": lambda o: s.CosineAnnealingLR(o, 9),
    "CosineAnnealingWarmRestarts": lambda o: s.CosineAnnealingWarmRestarts(o, 4),
    "OneCycleLR": lambda o: s.OneCycleLR(o, 0.5, total_steps=20),
    "CyclicLR": lambda o: s.CyclicLR(o, 0.1, 0.5, scale_fn=Half()),
    "ReduceLROnPlateau": lambda o: s.ReduceLROnPlateau(o),
    "LambdaLR": lambda o: s.LambdaLR(o, Half()),
    "SequentialLR": lambda o: s.SequentialLR(o, [s.StepLR(o, 3), s.LambdaLR(o, Half())], [2]),
    "ChainedScheduler": lambda o: s.ChainedScheduler([s.StepLR(o, 3), s.LambdaLR(o, Half())]),
    "SWALR": lambda o: optim.swa_utils.SWALR(o, 0.05),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_that_refuses_is_as_it_was(name):
    def made():
        optimizer = optim.SGD([nn.Parameter(vistorch.ones(1))], lr=0.1, momentum=0.9)
        return SCHEDULES[name](optimizer)

    scheduler, other = made(), made()
    other.optimizer.step()
    other.step(*([1.0] if name == "ReduceLROnPlateau" else []))
    good, before = other.state_dict(), seen(scheduler.state_dict())
    refused = 0
    for path in [(key,) for key in good] + ([("_schedulers", 1)] if "_schedulers" in good else []):
        for wrong in (None, "x", [], {}, 3, object()):
            state = copy.deepcopy(good)
            at = state
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = wrong
            try:
                scheduler.load_state_dict(state)
            except (ValueError, TypeError):
                refused += 1
                assert seen(scheduler.state_dict()) == before, (path, wrong)
            else:
                scheduler = made()
    for state in ({"optimizer": 1}, {"step": 1}, 3, None, {1: 2}):
        with pytest.raises(ValueError):
            scheduler.load_state_dict(state)
        assert seen(scheduler.state_dict()) == before
    assert refused > 10
    scheduler.load_state_dict(good)
    assert seen(scheduler.state_dict()) == seen(good)


def test_a_scaler_that_refuses_is_as_it_was():
    scaler = vistorch.amp.GradScaler("cpu")
    good = scaler.state_dict()
    for name in good:
        for wrong in (None, "x", -1.0, True, float("nan")):
            with pytest.raises(ValueError, match=name):
                scaler.load_state_dict({**good, "scale": 4.0, name: wrong})
            assert scaler.state_dict() == good
    scaler.load_state_dict({**good, "scale": 4.0})
    assert scaler.get_scale() == 4


def test_generators_that_refuse_are_as_they_were():
    vistorch.cuda.simulate(2)
    try:
        before = [t.tolist() for t in vistorch.cuda.get_rng_state_all()]
        vistorch.cuda.manual_seed_all(5)
        states = vistorch.cuda.get_rng_state_all()
        vistorch.cuda.manual_seed_all(9)
        before = [t.tolist() for t in vistorch.cuda.get_rng_state_all()]
        with pytest.raises((TypeError, RuntimeError)):
            vistorch.cuda.set_rng_state_all([states[0], vistorch.ones(3)])
        assert [t.tolist() for t in vistorch.cuda.get_rng_state_all()] == before
    finally:
        vistorch.cuda.simulate(None)
