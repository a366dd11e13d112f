"""`vt.show` and `%vt show`: each kind of thing becomes the record that fits it, each wish is kept or refused."""

import gc
import math
import re
import types
import weakref

import numpy as np
import pytest

import vistorch
from vistorch import nn, vt
from vistorch.debug import updates
from vistorch.debug.updates import forget, remembered
from vistorch.engine.base.events import listeners
from vistorch.widgets._frame.display import Display, shown
from vistorch.widgets._frame.wire import pack


@pytest.fixture(autouse=True)
def fresh():
    shown.clear()
    yield
    shown.clear()
    vt.defaults.reset()
    forget()


def last_record():
    return shown.last.record


def items(x, **wishes):
    return vt.show(x, **wishes).record.items


def scale_of(item):
    return item.layers[0].scales[item.layers[0].scale]


def model():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 2))
    net(vistorch.randn(2, 3, 8, 8)).sum().backward()
    return net


@pytest.mark.parametrize(
    "x",
    [
        vistorch.ones(2, 3),
        vistorch.zeros(0, 3),
        vistorch.tensor(3.5),
        vistorch.tensor([True, False]),
        vistorch.tensor([1 + 2j]),
        vistorch.ones(3, dtype=vistorch.bfloat16),
        vistorch.ones(1).expand(4, 5),
        vistorch.randn(2, 3, 4, 5, 6),
        vistorch.tensor([math.nan, math.inf]),
        np.arange(6).reshape(2, 3),
        np.float32(2),
        2.5,
        [vistorch.ones(2), np.ones(3)],
        {"a": vistorch.ones(2), "b": {"c": vistorch.ones(1)}},
        nn.Linear(2, 3),
    ],
    ids=lambda x: f"{type(x).__name__}{list(getattr(x, 'shape', ''))}",
)
def test_everything_that_can_be_shown(x):
    display = vt.show(x)
    assert isinstance(display, Display)
    assert display.record.kind == "array"
    assert pack("array", display.record.wire())
    assert repr(display) == display.text()


def test_text_is_pytorch_s():
    x = vistorch.arange(4.0).reshape(2, 2)
    assert repr(vt.show(x)) == repr(x)


@pytest.mark.parametrize("x", ["text", object(), vistorch.ones, None, np.array(["a"]), np.array([{}])])
def test_what_cannot_be_shown_is_refused(x):
    with pytest.raises(vt.Refusal, match="cannot show a"):
        vt.show(x)


@pytest.mark.parametrize("x", [[], {}, {"a": "text"}, nn.ReLU()])
def test_nothing_in_it(x):
    with pytest.raises(vt.Refusal, match="it holds no tensor and no array to show"):
        vt.show(x, name="it")


def test_a_parameter_has_its_gradient_and_from_then_on_its_updates():
    net = model()
    weight = net[2].weight
    first = vt.show(weight, name="net[2].weight")
    assert first.record.layout == "linked"
    assert [item.role for item in first.record.items] == ["value", "gradient"]
    assert remembered(weight)
    vistorch.optim.SGD(net.parameters(), lr=0.5).step()
    second = items(weight)
    assert [item.role for item in second] == ["value", "gradient", "update"]
    np.testing.assert_allclose(second[2].layers[0].data, -0.5 * weight.grad.numpy(), rtol=1e-5, atol=1e-6)


TRAINED = """
import vistorch as torch
torch.manual_seed(seed)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
weight, held = net[1].weight, {"w": net[0].bias}
opt = getattr(torch.optim, name)(net.parameters(), lr=0.1)
def closure():
    opt.zero_grad()
    loss = net(torch.ones(5, 3)).square().sum()
    loss.backward()
    return loss
for _ in range(4):
    before = [p.detach().clone() for p in net.parameters()]
    opt.step(closure)
wanted = [p.detach() - b for p, b in zip(net.parameters(), before)]
"""
OPTIMIZERS = (
    "SGD Adam AdamW Adamax NAdam RAdam Adagrad Adadelta RMSprop Rprop ASGD Adafactor LBFGS Muon".split()
)


@pytest.mark.parametrize(
    ("optimizer", "typed"),
    [*((name, "net[1].weight") for name in OPTIMIZERS), ("SGD", "weight"), ("Adam", "net")],
)
def test_a_name_is_followed_to_the_parameters_of_a_cell_that_is_run_again(shell, type_in, optimizer, typed):
    shell.user_ns.update(seed=0, name=optimizer)
    source = TRAINED
    if optimizer == "Muon":  # it takes matrices only
        source = source.replace("(3, 4)", "(3, 4, bias=False)").replace("(4, 2)", "(4, 2, bias=False)")
        source = source.replace("net[0].bias", "net[0].weight")
    shell.run_cell(source)
    type_in(f"%vt show {typed}")
    roles = [item.role for item in last_record().items]
    assert "update" not in roles and "gradient" in roles
    for seed in (1, 2):
        shell.user_ns["seed"] = seed
        shell.run_cell(source)
        shown = type_in(f"%vt show {typed}")
        updates = [item.layers[0].data for item in last_record().items if item.role == "update"]
        wanted = shell.user_ns["wanted"]
        wanted = wanted if typed == "net" else [wanted[-1 if optimizer == "Muon" else 2]]
        assert len(updates) == len(wanted)
        for update, one in zip(updates, wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(update).reshape(one.shape), one.numpy())
        assert "no update" not in str(shown)
    shell.run_cell("%unload_ext vistorch")
    assert listeners.phase is None


def test_a_name_is_followed_by_names_and_indices_alone(shell, type_in):
    shell.user_ns.update(seed=0, name="SGD", calls=[])
    shell.run_cell(TRAINED + "def made():\n    calls.append(1)\n    return weight")
    for typed, follows in (
        ("weight", True),
        ("held['w']", True),
        ("net[-1].weight", True),
        ("made()", False),
        ("[weight][0]", False),
        ("weight.grad", False),
        ("weight.data", False),
    ):
        type_in(f"%vt show {typed}")
        assert (typed in updates._followed) == follows, typed
    shell.run_cell("del weight, net, held, opt; calls.clear()")
    shell.user_ns["name"] = "Adam"
    shell.run_cell(TRAINED)  # nothing is called, and a name that is gone for a while is no error
    assert shell.user_ns["calls"] == []
    type_in("%vt show weight")
    assert "update" in [item.role for item in last_record().items]


def test_a_parameter_alone_as_a_cell_s_value_is_its_value_and_nobody_listens():
    from vistorch.widgets.array.command import plain

    weight = nn.Linear(2, 2).weight
    record = plain(weight).record
    assert (record.layout, len(record.items)) == ("one", 1)
    assert not remembered(weight)


def test_the_gradient_instead():
    net = model()
    (item,) = items(net[0].weight, grad=True, name="w")
    assert (item.role, item.name, item.index) == ("gradient", "w.grad", "w.grad")
    assert scale_of(item).map == "ember"
    np.testing.assert_array_equal(item.layers[0].data, net[0].weight.grad.numpy())
    strip = items(net, grad=True)
    assert [item.name for item in strip] == ["0.weight.grad", "0.bias.grad", "2.weight.grad", "2.bias.grad"]
    assert {item.role for item in strip} == {"gradient"}
    assert {scale_of(item).map for item in strip} == {"ember"}


def test_no_gradient_says_how_to_get_one():
    x = vistorch.ones(2)
    leaf = vistorch.ones(2, requires_grad=True)
    for thing, says in (
        (x, r"w does not require a gradient: type w\.requires_grad_\(\)"),
        (leaf, r"w has no gradient yet: it is there after backward\(\)"),
        (leaf * 2, r"w was computed and keeps no gradient: type w\.retain_grad\(\) before backward\(\)"),
        (np.ones(2), r"w is a ndarray and has no gradient: leave out --grad"),
        (nn.Linear(1, 1), r"nothing in w has a gradient yet"),
    ):
        with pytest.raises(vt.Refusal, match=says):
            vt.show(thing, grad=True, name="w")


def test_a_module_is_a_strip_with_named_axes():
    net = model()
    net.zero_grad()
    record = vt.show(net, name="net").record
    assert record.layout == "strip" and {item.role for item in record.items} == {""}
    assert [(item.name, item.dims) for item in record.items] == [
        ("0.weight", ("out", "in", "kh", "kw")),
        ("0.bias", ("out",)),
        ("2.weight", ("out", "in")),
        ("2.bias", ("out",)),
    ]
    assert record.items[2].index == "net[2].weight"


def test_a_module_has_gradients_and_updates_beside_its_parameters():
    net = model()
    shown = vt.show(net, name="net")
    names = [name for name, _ in net.named_parameters()]
    pairs = [(name, role) for name in names for role in ("value", "gradient")]
    assert [(item.name, item.role) for item in shown.record.items] == pairs
    assert "0.weight.grad  " in str(shown) and str(shown).endswith("none came since; look again after one")
    before = net[2].bias.detach().clone()
    vistorch.optim.SGD(net.parameters(), lr=1.0).step()
    shown = vt.show(net, name="net")
    roles = ("value", "gradient", "update")
    assert [(item.name, item.role) for item in shown.record.items] == [(n, r) for n in names for r in roles]
    value, gradient, update = shown.record.items[-3:]
    assert value.layers[0].stats.max == pytest.approx(float(net[2].bias.detach().max()))
    assert gradient.layers[0].stats.max == pytest.approx(float(net[2].bias.grad.max()))
    assert update.layers[0].stats.max == pytest.approx(float((net[2].bias.detach() - before).max()))
    assert (gradient.index, scale_of(gradient).map, scale_of(update).map) == (
        "net[2].bias.grad",
        "ember",
        "tide",
    )
    assert "0.weight, update" in str(shown) and "no update" not in str(shown)


def test_a_large_module_is_not_copied_at_each_step_for_being_shown():
    net = vistorch.nn.Linear(3000, 1500)
    net(vistorch.ones(1, 3000)).sum().backward()
    assert "updates are kept for a parameter that is shown by itself" in str(vt.show(net, name="net"))


@pytest.mark.parametrize("scale", ["clip", "max", "log", "fixed"])
def test_scales(scale):
    x = vistorch.rand(5, 5)
    assert scale_of(items(x, scale=scale)[0]).id == scale
    assert all(scale_of(item).id == scale for item in items({"a": x, "b": x / 2}, scale=scale))


def test_a_scale_that_makes_no_sense_is_refused_with_those_that_do():
    with pytest.raises(
        vt.Refusal, match="the values of x have no scale 'fixed': type --scale clip, max or log"
    ):
        vt.show(vistorch.randn(50) * 100, scale="fixed")
    with pytest.raises(vt.Refusal, match="scale does not take 'lg'; did you mean log"):
        vt.show(vistorch.ones(2), scale="lg")


def test_maps():
    net = model()
    assert [scale_of(item).map for item in items(net[0].weight)] == ["tide", "ember"]
    assert [scale_of(item).map for item in items(net[0].weight, map="ember")] == ["ember", "ember"]
    assert scale_of(items(net[0].weight, grad=True, map="tide")[0]).map == "tide"
    vt.defaults.map = "ember"
    assert scale_of(items(vistorch.ones(2))[0]).map == "ember"
    assert scale_of(items(vistorch.ones(2), map="auto")[0]).map == "tide"
    phase = items(vistorch.tensor([1 + 2j]), map="ember")[0].layers[1]
    assert {scale.map for scale in phase.scales} == {"phase"}


def test_size_and_budget():
    x = vistorch.randn(300, 300)
    assert vt.show(x).record.size == 640
    assert vt.show(x, size=300).record.size == 300
    vt.defaults.size = 222
    assert vt.show(x).record.size == 222
    for size in (3, 10_000, 2.5, True, "300"):
        with pytest.raises(vt.Refusal, match="size is a number of pixels from 64 to 4096"):
            vt.show(x, size=size)
    before = items(x)[0].grid
    vt.defaults.budget = 10_000
    assert math.prod(items(x)[0].grid) < math.prod(before)


def test_axes():
    x = vistorch.randn(2, 3, 4, 5)
    assert items(x, dims="batch, channel,h,w")[0].dims == ("batch", "channel", "h", "w")
    assert items(x, dims=["a", "b", "c", "d"])[0].dims == ("a", "b", "c", "d")
    assert items(x, roles="rows,cols,across,slider")[0].roles == ("rows", "cols", "across", "slider")
    for wish, says in (
        ({"dims": "a,b"}, "dims names 2 axes of an array that has 4"),
        ({"roles": "rows,cols"}, "--roles says what each of 4 axes is, got 2: such as "),
        ({"roles": "rows,rows,cols,slider"}, "two axes cannot both be 'rows'"),
        ({"roles": "rows,col,across,down"}, "an axis cannot be 'col'; did you mean cols"),
        ({"roles": "channels,rows,cols,slider"}, "an axis is 'channels' only where"),
    ):
        with pytest.raises(vt.Refusal, match=says):
            vt.show(x, **wish)
    for wish in ("dims", "roles"):
        with pytest.raises(vt.Refusal, match="show one of them by its path"):
            vt.show({"x": x}, **{wish: "a,b,c,d"})


def test_pictures():
    x = vistorch.rand(3, 9, 9)
    assert items(x)[0].image.shown
    off = items(x, image="off")[0]
    assert not off.image.shown
    assert "channels" not in off.roles
    photo = nn.Parameter(x)
    assert not items(photo)[0].image.shown
    on = items(photo, image=True)[0]
    assert on.image.shown
    assert on.roles == ("channels", "rows", "cols")
    with pytest.raises(vt.Refusal, match="x is no picture: that is 1, 3 or 4 channels"):
        vt.show(vistorch.randn(3, 9, 9), image="on")


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("w", "w"),
        ("net.fc.weight", "net.fc.weight"),
        ("net[0].weight", "net[0].weight"),
        ("f(x)", "f(x)"),
        ("a + b", "(a + b)"),
        ("-x[0]", "(-x[0])"),
        ("x[0] + y[1]", "(x[0] + y[1])"),
        ("2", "(2)"),
        ("my layer", "x"),
    ],
)
def test_what_click_copies_can_be_typed(name, index):
    assert items(vistorch.ones(2), name=name)[0].index == index


def test_typed(type_in, shell):
    type_in(
        "import vistorch\nfrom vistorch import nn\nnet = nn.Sequential(nn.Conv2d(1, 2, 3))\nx = vistorch.eye(2)"
    )
    assert type_in("%vt show x").out == "tensor([[1., 0.],\n        [0., 1.]])\n"
    assert type_in("%vt show x[0, :] + 1 --scale log").out == "tensor([2., 1.])\n"
    assert type_in("%vt show {'a b': x}").out.splitlines()[1].startswith("a b ")
    assert "vt" not in shell.user_ns
    assert re.search(r"^0\.weight +2 × 1 × 3 × 3 ", type_in("%vt show net").out, re.M)


def test_typed_paths_name_the_axes_of_a_parameter(shell):
    from vistorch.vt.parse import read
    from vistorch.widgets._frame.command import Asked

    net = nn.ModuleDict({"a": nn.Sequential(nn.Linear(2, 3))})
    for typed, dims in (
        ("net['a'][0].weight", ("out", "in")),
        ("net.a[0].weight", ("out", "in")),
        ("list(net.parameters())[1]", ("out",)),
        ("net.a[0].weight * 2", None),
        ("net.a[0].weight.data", None),
        ("net.a[-1].weight", ("out", "in")),
    ):
        options = read(vt.COMMANDS["show"], typed, Asked({"net": net}))
        assert options["dims"] == dims, typed
        assert options["name"] == typed
    options = read(vt.COMMANDS["show"], "net.a[0].weight --dims p,q --name w", Asked({"net": net}))
    assert (options["dims"], options["name"], options["index"]) == ("p,q", "w", "net.a[0].weight")


def test_a_view_with_a_kernel_is_for_what_is_not_carried(monkeypatch):
    from vistorch.widgets.array import command as look

    made, held = [], []
    view = types.ModuleType("vistorch.widgets.array.live")
    view.ArrayView = lambda display, sources, hold: made.append(sources) or held.append(hold) or "alive"
    monkeypatch.setitem(__import__("sys").modules, "vistorch.widgets.array.live", view)
    big, small = vistorch.randn(500, 500), vistorch.ones(2)
    with pytest.raises(vt.Refusal, match="a live view needs a notebook's kernel: leave out --live on"):
        vt.show(small, live=True)
    assert isinstance(vt.show(big), Display)
    monkeypatch.setattr(look, "shell_of_user", lambda: types.SimpleNamespace(kernel=1, user_ns={"big": big}))
    assert vt.show(big) == "alive"
    assert made[-1][0] is big and held == [False]
    assert vt.show(big * 2) == "alive" and held == [False, True]  # nobody else holds it
    assert isinstance(vt.show(small), Display)
    assert isinstance(vt.show(big, live="off"), Display)
    vt.defaults.live = "off"
    assert isinstance(vt.show(big), Display)
    assert vt.show(small, live="on") == "alive"


def test_sources_are_those_of_the_items(monkeypatch):
    from vistorch.widgets.array.record_of import Wish, make

    net = model()
    sources = make(net[0].weight, Wish("w")).sources
    assert sources[0] is net[0].weight and sources[1] is net[0].weight.grad
    vistorch.optim.SGD(net.parameters(), lr=1.0).step()
    made = make(net[0].weight, Wish("w"))
    assert len(made.sources) == len(made.record.items) == 3
    gc.collect()
    assert weakref.ref(made.sources[2])() is not None
    made = make(net, Wish("net"))
    by_role = {role: [] for role in ("value", "gradient", "update")}
    for item, source in zip(made.record.items, made.sources, strict=True):
        by_role[item.role].append(source)
    parameters = list(net.parameters())
    assert [a is b for a, b in zip(by_role["value"], parameters, strict=True)] == [True] * 4
    assert [a is b.grad for a, b in zip(by_role["gradient"], parameters, strict=True)] == [True] * 4
    assert len(by_role["update"]) == 1  # of the one that was shown before the step
    things = {"a": [vistorch.ones(1), {"b": np.ones(2)}], "c": "text"}
    made = make(things, Wish("things"))
    assert made.sources[0] is things["a"][0] and made.sources[1] is things["a"][1]["b"]
    made = make(net, Wish("net", grad=True))
    assert made.sources[0] is net[0].weight.grad


def test_a_thing_within_itself_ends():
    loop = [vistorch.ones(1)]
    loop.append(loop)
    assert len(items(loop)) == 1


def test_showing_keeps_no_tensor_alive():
    x = vistorch.randn(10, 10)
    display = vt.show(x)
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None
    assert display.text()


def test_a_variable_s_name_is_its_name(type_in, shell):
    type_in(
        "from vistorch import nn, vt\nimport vistorch\n_h = w = vistorch.ones(2)\nnet = nn.Sequential(nn.Linear(2, 2))"
    )
    names = {
        "vt.show(w)": ("w", "w"),
        "vt.show(w, name='mine')": ("mine", "w"),
        "vt.show(w * 1)": ("x", "x"),
        "vt.show(w * 1, name='mine')": ("mine", "mine"),
        "vt.show(net[0].bias)": ("net[0].bias", "net[0].bias"),
        "vt.show(net)": ("net", "net"),
    }
    for line, (name, index) in names.items():
        display = shell.ev(line)
        assert display.name == name, line
        assert display.record.items[0].index.startswith(index), line
    assert shell.ev("vt.show(net[0].weight)").record.items[0].dims == ("out", "in")
    from vistorch.widgets.array.command import plain

    assert plain(shell.user_ns["w"]).record.items[0].index == "w"
    bias = plain(shell.user_ns["net"][0].bias).record.items[0]
    assert (bias.index, bias.dims) == ("net[0].bias", ("out",))
