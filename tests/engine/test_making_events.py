"""What the engine and the packages above it emit of things that last: data, modules, parameters, ends of passes."""

import numpy as np
import pytest

import vistorch as L
from vistorch import nn
from vistorch.debug import line_of
from vistorch.engine.base.events import Listener, listeners, where


class Notes(Listener):
    """Writes down one kind of event and its lines."""

    def __init__(self, kind):
        self.noted, self.lines = [], []
        setattr(self, kind, self._note)

    def _note(self, *given):
        self.noted.append(given)
        place = line_of(where())
        self.lines.append(place.text if place else None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.tensor([1.0, 2.0]),
        lambda: L.tensor(3),
        lambda: L.tensor(np.ones(2), dtype=L.float64),
        lambda: L.as_tensor([1.0]),
        lambda: L.as_tensor(np.ones(3)),
        lambda: L.from_numpy(np.ones(3)),
        lambda: L.asarray([1, 2]),
        lambda: L.frombuffer(bytearray(8), dtype=L.float32),
        lambda: L.ones(2).new_tensor([1, 2]),
    ],
)
def test_a_tensor_of_outside_data_is_emitted_once_with_its_line(make):
    with Notes("data") as notes:
        t = make()
    assert len(notes.noted) == 1
    assert notes.noted[0][0]._data is t._data
    assert notes.lines[0].startswith("lambda:")


def test_tensors_that_ops_or_tensors_made_are_no_outside_data():
    x = L.ones(2)
    with Notes("data") as notes:
        x + 1, x.clone(), L.as_tensor(x), L.zeros(3), x.detach()
    assert notes.noted == []


def test_modules_parameters_optimizers_and_schedulers_are_emitted_as_they_are_made():
    with Notes("made") as notes:
        net = nn.Linear(2, 1)
        opt = L.optim.SGD(net.parameters(), lr=0.1)
        steps = L.optim.lr_scheduler.StepLR(opt, 1)
        plateau = L.optim.lr_scheduler.ReduceLROnPlateau(opt)
        net.scale = nn.Parameter(L.ones(1))
    seen = [(what, *(d if isinstance(d, str) else id(d) for d in more)) for what, *more in notes.noted]
    assert seen == [
        ("module", id(net)),
        ("parameter", id(net), "weight", id(net.weight)),
        ("parameter", id(net), "bias", id(net.bias)),
        ("optimizer", id(opt)),
        ("scheduler", id(steps)),
        ("scheduler", id(plateau)),
        ("parameter", id(net), "scale", id(net.scale)),
    ]
    assert notes.lines[0] == "net = nn.Linear(2, 1)"
    assert notes.lines[3] == "opt = L.optim.SGD(net.parameters(), lr=0.1)"
    assert notes.lines[-1] == "net.scale = nn.Parameter(L.ones(1))"


@pytest.mark.parametrize("passes", [lambda y: y.backward(), lambda y: L.autograd.backward([y])])
def test_the_end_of_a_pass_comes_when_gradients_are_there(passes):
    x = L.ones(2, requires_grad=True)
    found = []

    class End(Listener):
        def backward_end(self, run, outputs):
            found.append((x.grad.tolist(), len(outputs)))

    with End():
        passes((x * 3).sum())
    assert found == [([3.0, 3.0], 1)]


def test_grad_has_an_end_too_and_a_pass_that_raised_has_none():
    x = L.ones(2, requires_grad=True)
    with Notes("backward_end") as notes:
        L.autograd.grad((x * 3).sum(), x)
        y = (x * x).sum()
        y.backward()
        with pytest.raises(RuntimeError):
            y.backward()
    assert len(notes.noted) == 2


def test_what_draws_says_so_in_every_form():
    F = nn.functional
    x = L.ones(4, 3, 2)
    with Notes("drew") as notes:
        nn.Dropout(0.25)(x)
        nn.Dropout(0.25).eval()(x)
        F.dropout(x, 0.5, training=False)
        F.feature_alpha_dropout(x, 0.5, training=True)
        nn.BatchNorm1d(3)(x)
        nn.BatchNorm1d(3).eval()(x)
        F.batch_norm(x, L.zeros(3), L.ones(3), training=True)
    assert [(name, training, chance) for name, _, training, chance in notes.noted] == [
        ("dropout", True, 0.25),
        ("dropout", False, 0.25),
        ("dropout", False, 0.5),
        ("feature_alpha_dropout", True, 0.5),
        ("batch_norm", True, None),
        ("batch_norm", False, None),
        ("batch_norm", True, None),
    ]


def test_nothing_is_called_where_nobody_listens():
    assert all(getattr(listeners, kind) is None for kind in ("backward_end", "data", "drew", "made"))
