"""Files with whole objects go both ways too: every module, optimizers, schedules, and classes that a person wrote."""

import io
import sys
import types
import warnings

import pytest

import vistorch
from tests.nn.samples import LAYERS
from tests.nn.test_modules import build_in, same
from tests.ops.library import L, prepare
from vistorch.engine.base.paths import path_in_torch

from .both import ours_read, theirs_read, torch, written

CASES = [
    pytest.param(layer, build, id=f"{layer.name}-{i}")
    for layer in LAYERS
    for i, build in enumerate(layer.builds)
]
LEGACY = {"_use_new_zipfile_serialization": False}


def trusted():
    """Everything of `vistorch.nn`, as a careful person would name it."""
    named = [getattr(vistorch.nn, name) for name in dir(vistorch.nn)]
    functions = [getattr(vistorch.nn.functional, name) for name in dir(vistorch.nn.functional)]
    inside = [vistorch.nn.modules.linear.NonDynamicallyQuantizableLinear, vistorch.tanh, vistorch.relu]
    return [one for one in (*named, *functions, *inside) if isinstance(one, (type, types.FunctionType))]


def result(lib, module, feed):
    call = prepare(lib, feed, "float32")
    lib.manual_seed(3)
    return module(*call.args, **call.kwargs)


def compare(a, b, layer, build):
    """The same module in both libraries: its parts, and what it computes."""
    (lib_a, a), (lib_b, b) = a, b
    assert repr(a).replace("vistorch", "torch") == repr(b).replace("vistorch", "torch")
    assert list(a.state_dict()) == list(b.state_dict())
    for feed in build.feeds:
        same(result(lib_a, a, feed), result(lib_b, b, feed), "float32", layer)


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("layer, build", CASES)
def test_every_module_goes_both_ways(layer, build):
    mine, theirs = build_in(L, layer, build).eval(), build_in(torch, layer, build).eval()
    try:
        data = written(torch.save, theirs)
    except (AttributeError, TypeError) as error:  # a function without a name
        with pytest.raises((AttributeError, TypeError)):
            written(vistorch.save, mine)
        assert "lambda" in str(error) or "local" in str(error)
        return
    compare((L, ours_read(data, weights_only=False)), (torch, theirs), layer, build)
    if not layer.name.startswith("Lazy"):  # their hooks are methods, for which a file names getattr
        with vistorch.serialization.safe_globals(trusted()):
            careful = ours_read(data)
        assert type(careful) is type(mine)
        compare((L, careful), (torch, theirs), layer, build)
    data = written(vistorch.save, mine)
    assert b"vistorch" not in data
    compare((L, mine), (torch, theirs_read(data, weights_only=False)), layer, build)


@pytest.mark.parametrize("options", [{}, LEGACY], ids=["zip", "legacy"])
@pytest.mark.parametrize("protocol", [2, 4])
def test_forms_of_files(options, protocol):
    def net(lib):
        lib.manual_seed(0)
        return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.GELU(), lib.nn.Dropout(0.1), lib.nn.LSTM(4, 2))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there = theirs_read(
            written(vistorch.save, net(vistorch), pickle_protocol=protocol, **options), weights_only=False
        )
        here = ours_read(
            written(torch.save, net(torch), pickle_protocol=protocol, **options), weights_only=False
        )
    x, y = torch.ones(2, 3), vistorch.ones(2, 3)
    there.eval(), here.eval()
    expected = net(torch).eval()(x)[0]
    assert torch.allclose(there(x)[0], expected, rtol=1e-5, atol=1e-6)
    assert torch.allclose(torch.tensor(here(y)[0].tolist()), expected, rtol=1e-5, atol=1e-6)


class Net:
    """A class of a person's own, as it stands in their program: of one library or the other."""

    @staticmethod
    def of(lib):
        class Block(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = lib.nn.Linear(2, 2)
                self.act = lib.nn.functional.relu
                self.register_buffer("scale", lib.full((1,), 2.0))
                self.note = {"made": "by hand", "kind": lib.float32}

            def forward(self, x):
                return self.act(self.fc(x)) * self.scale

        Block.__module__, Block.__qualname__ = "their_program", "Block"
        return Block


def test_classes_of_a_program(monkeypatch):
    program = types.ModuleType("their_program")
    monkeypatch.setitem(sys.modules, "their_program", program)
    for source, target, read in ((vistorch, torch, theirs_read), (torch, vistorch, ours_read)):
        program.Block = Net.of(source)
        source.manual_seed(1)
        mine = program.Block().eval()
        data = written(source.save, mine)
        program.Block = Net.of(target)
        back = read(data, weights_only=False)
        assert type(back) is program.Block and back.note == {"made": "by hand", "kind": target.float32}
        expected = mine(source.ones(1, 2)).tolist()[0]
        assert back(target.ones(1, 2)).tolist()[0] == pytest.approx(expected, rel=1e-6)


OPTIMIZERS = "SGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD Adafactor".split()


def trained(lib, name):
    lib.manual_seed(0)
    net = lib.nn.Linear(3, 2)
    optimizer = getattr(lib.optim, name)(net.parameters(), lr=0.1)
    go(lib, net, optimizer)
    return net, optimizer


def go(lib, net, optimizer):
    def closure():
        optimizer.zero_grad()
        loss = net(lib.ones(4, 3)).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return [v for p in net.parameters() for v in p.flatten().tolist()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_go_on_on_the_other_side(name):
    """A network and its optimizer in one file share the weights, and the next step is the same."""
    for source, target, read in ((vistorch, torch, theirs_read), (torch, vistorch, ours_read)):
        mine = trained(source, name)
        net, optimizer = read(written(source.save, mine), weights_only=False)
        assert optimizer.param_groups[0]["params"][0] is net.weight
        assert go(target, net, optimizer) == pytest.approx(go(source, *mine), rel=1e-4, abs=1e-6)


SCHEDULES = {
    "StepLR": {"step_size": 1},
    "MultiStepLR": {"milestones": [1, 3]},
    "ExponentialLR": {"gamma": 0.5},
    "ConstantLR": {},
    "LinearLR": {},
    "PolynomialLR": {},
    "CosineAnnealingLR": {"T_max": 5},
    "CosineAnnealingWarmRestarts": {"T_0": 3},
    "OneCycleLR": {"max_lr": 0.5, "total_steps": 9},
    "CyclicLR": {"base_lr": 0.1, "max_lr": 0.4, "cycle_momentum": False},
    "ReduceLROnPlateau": {"patience": 0},
}


def next_rates(scheduler, name):
    rates = []
    for loss in (1.0, 1.0, 1.0):
        scheduler.optimizer.step()
        scheduler.step(*([loss] if name == "ReduceLROnPlateau" else []))
        rates.append(scheduler.optimizer.param_groups[0]["lr"])
    return rates


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.filterwarnings("ignore")
def test_schedules_go_on_on_the_other_side(name):
    for source, read in ((vistorch, theirs_read), (torch, ours_read)):
        optimizer = source.optim.SGD([source.nn.Parameter(source.ones(1))], lr=0.1)
        mine = getattr(source.optim.lr_scheduler, name)(optimizer, **SCHEDULES[name])
        back = read(written(source.save, mine), weights_only=False)
        assert next_rates(back, name) == pytest.approx(next_rates(mine, name))


def test_paths_are_those_of_torch():
    """Whatever has a path in PyTorch is there, under the same name."""
    import importlib

    parts = "nn nn.functional nn.modules optim optim.lr_scheduler optim.swa_utils utils.data distributions amp nn.init"
    seen = 0
    for package in parts.split():
        for name, thing in vars(importlib.import_module(f"vistorch.{package}")).items():
            there = path_in_torch(thing)
            if there is None or not hasattr(importlib.import_module(f"torch.{package}"), name):
                continue
            found = importlib.import_module(there[0])
            for part in there[1].split("."):
                found = getattr(found, part)
            assert isinstance(found, type) == isinstance(thing, type)
            seen += 1
    assert seen > 400


def test_a_careful_reader_names_one_class():
    data = written(torch.save, torch.nn.Dropout(0.25))
    with pytest.raises(Exception, match=r"Unsupported global: GLOBAL torch\.nn\.modules\.dropout\.Dropout"):
        vistorch.load(io.BytesIO(data))
    with vistorch.serialization.safe_globals([vistorch.nn.Dropout]):
        assert vistorch.load(io.BytesIO(data)).p == 0.25
        assert vistorch.load(io.BytesIO(written(vistorch.save, vistorch.nn.Dropout(0.5)))).p == 0.5
