"""Arguments of a wrong kind: each is refused with one sentence, and never with an exception from deep inside."""

import inspect
import pathlib

import numpy as np
import pytest

import vistorch as L
from vistorch import vt

FUNCTIONS = {name: getattr(vt, name) for name in vt.__all__ if inspect.isfunction(getattr(vt, name))}
SWITCHES = ("bool", "bool | None")  # anything with a truth is one
WRONG = {
    "a number": 3,
    "a word": "nope",
    "an object": object(),
    "a list": [1],
    "a module": L.nn.Linear(2, 2),
    "a class": L.nn.Linear,
    "an array": np.eye(2),
    "integers": L.ones(2, dtype=L.int64),
    "a function": len,
    "an optimizer": L.optim.SGD([L.ones(1, requires_grad=True)], lr=0.1),
    "an iterator": iter([1]),
}


def options():
    for name, function in FUNCTIONS.items():
        for option in inspect.signature(function).parameters.values():
            if option.annotation not in SWITCHES and option.name != "namespace":
                yield name, option.name


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    vt.break_(clear=True)
    L.set_default_device(None)
    vt.defaults.reset()


# What diagnose is given is called: what can be called is of the right kind, and its errors are its own.
CALLED = {("diagnose", "function")}
CASES = [
    pytest.param(name, option, wrong, id=f"{name}-{option}-{wrong}")
    for name, option in options()
    for wrong, value in WRONG.items()
    if not (callable(value) and (name, option) in CALLED)
]


@pytest.mark.parametrize(("name", "option", "wrong"), CASES)
def test_a_wrong_kind_is_refused_in_a_sentence(name, option, wrong, capsys):
    function = FUNCTIONS[name]
    given = {
        one.name: (L.ones(2, requires_grad=True) * 2).sum()
        for one in inspect.signature(function).parameters.values()
        if one.default is one.empty
    }
    given[option] = WRONG[wrong]
    try:
        function(**given)
    except vt.Refusal as refusal:
        assert "\n" not in str(refusal) and len(str(refusal)) <= 300
    assert not list(pathlib.Path.cwd().iterdir()) or option in ("path", "save")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: vt.show(L.ones(2), name=3), "name is text, not int: type name='weights'"),
        (
            lambda: vt.show(L.ones(2), dims=3),
            "dims has a word for each axis, not int: type rows,cols or a list",
        ),
        (lambda: vt.show(L.ones(2), scale=3), "scale does not take 3: type clip, max, log or fixed"),
        (
            lambda: vt.diagnose(3),
            "diagnose takes a function that trains, not int: write vt.diagnose(train, model), or with "
            "vt.diagnose(): around a loop",
        ),
        (lambda: vt.vars(L.ones(2)), "vars takes a dict of names, such as globals(), not Tensor"),
        (
            lambda: vt.vars(sort=3),
            "there is no column 3: type name, kind, shape, dtype, device, bytes or grad",
        ),
        (lambda: vt.trace(bound="x"), "bound is a number above 0, not 'x': type --bound 1e4"),
        (lambda: vt.record("a", save=3), "save is a file's name, not int: type save='run.vtr'"),
        (
            lambda: vt.watch(L.nn.Linear),
            "watch takes a module, not the class Linear: give what Linear(...) made",
        ),
        (lambda: vt.torch(3), "`torch` takes on or off, not int"),
    ],
)
def test_the_sentences(call, says):
    with pytest.raises(vt.Refusal) as refused:
        call()
    assert str(refused.value).startswith(says)
