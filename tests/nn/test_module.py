"""Module against torch's, story by story."""

import copy
import io
import pickle
import sys
import warnings
from collections import OrderedDict

import pytest

import vistorch
from tests.story import story


def net(L):
    return L.nn.Sequential(
        OrderedDict(first=L.nn.Linear(3, 4), inner=L.nn.Sequential(L.nn.Identity(), L.nn.Linear(4, 2)))
    )


@story
def test_attributes_go_to_their_tables(L, report):
    m = L.nn.Module()
    m.p = L.nn.Parameter(L.ones(2))
    m.b = L.nn.Buffer(L.zeros(2))
    m.register_buffer("loose", L.ones(1), persistent=False)
    m.child = L.nn.Identity()
    m.plain = L.ones(3)
    m.none = None
    m.register_parameter("empty", None)
    m.register_buffer("nothing", None)
    m.register_module("nobody", None)
    report(dict(m.named_parameters()), dict(m.named_buffers()), [n for n, _ in m.named_modules()])
    report(list(m.state_dict()), m.plain, m.none, m.empty, m.nothing, m.nobody)
    report([k for k in dir(m) if k in ("p", "b", "loose", "child", "plain", "empty", "nothing", "nobody")])
    m.p = None
    report(m.p, list(m.state_dict()))
    m.b = L.ones(1)
    report(m.b, sorted(k for k in vars(m) if not k.startswith("_")))
    m.plain = L.nn.Parameter(L.ones(1))
    report(sorted(k for k in vars(m) if not k.startswith("_")), [n for n, _ in m.named_parameters()])
    m.plain = None
    m.child = None
    report([n for n, _ in m.named_children()])
    del m.b, m.loose, m.plain
    report(list(m.state_dict()))
    report.raises(lambda: m.b)
    report.raises(lambda: delattr(m, "b"))


@story
def test_attributes_that_are_refused(L, report):
    class Early(L.nn.Module):
        def __init__(self, value):
            self.value = value
            super().__init__()

    for value in (L.nn.Parameter(L.ones(1)), L.nn.Identity(), L.ones(1), 3):
        report.raises(lambda value=value: Early(value).value)
    m = net(L)
    report.raises(lambda: setattr(m.first, "weight", L.ones(1)))
    report.raises(lambda: setattr(m.first, "weight", 3))
    report.raises(lambda: setattr(m, "first", 3))
    m.register_buffer("b", L.ones(1))
    report.raises(lambda: setattr(m, "b", 3))
    for what, value in (
        ("register_parameter", L.nn.Parameter(L.ones(1))),
        ("register_buffer", L.ones(1)),
        ("add_module", L.nn.Identity()),
    ):
        register = getattr(m, what)
        for name in ("a.b", "", 3, "forward", "first"):
            report.raises(lambda register=register, name=name, value=value: register(name, value))
        report.raises(lambda register=register: register("new", "text"))
    report.raises(lambda: m.register_parameter("grown", L.nn.Parameter(L.ones(1)) * 2))
    report.raises(lambda: L.nn.Module(3))
    report.raises(lambda: L.nn.Module(a=3))
    report.raises(lambda: L.nn.Module()(3))
    report.raises(lambda: m.nope)
    report.raises(lambda: m.train("yes"))


@story
def test_walking(L, report):
    m = net(L)
    m.again = m.first
    m.inner.own = L.nn.Parameter(L.ones(1))
    m.register_parameter("shared", m.inner.own)
    report([n for n, _ in m.named_modules()], [n for n, _ in m.named_modules(remove_duplicate=False)])
    report([n for n, _ in m.named_parameters()], [n for n, _ in m.named_parameters(remove_duplicate=False)])
    report([n for n, _ in m.named_parameters("p", recurse=False)], [n for n, _ in m.named_children()])
    report(len(list(m.modules())), len(list(m.children())), len(list(m.parameters())), len(list(m.buffers())))
    report(list(m.state_dict()))
    report(m.get_submodule(""), m.get_submodule("inner.1"), m.get_parameter("inner.1.bias"))
    for path in ("inner.2", "inner.own", "x.y", "inner.1.weight"):
        report.raises(lambda path=path: m.get_submodule(path))
        report.raises(lambda path=path: m.get_buffer(path))
    report.raises(lambda: m.get_parameter("inner"))
    m.set_submodule("inner.0", L.nn.Linear(4, 4))
    report(m)
    report.raises(lambda: m.set_submodule("", L.nn.Identity()))
    report.raises(lambda: m.set_submodule("inner.own", L.nn.Identity()))
    report.raises(lambda: m.set_submodule("inner.9", L.nn.Identity(), strict=True))
    report.raises(lambda: m.set_submodule("inner.0", 3))
    order = []
    m.apply(lambda module: order.append(type(module).__name__))
    report(order)


@story
def test_moving(L, report):
    m = net(L)
    m.register_buffer("count", L.tensor(3))
    m(L.ones(2, 3)).sum().backward()
    before = [id(p) for p in m.parameters()]
    for move in ("double", "half", "float", "bfloat16"):
        getattr(m, move)()
        report([str(t.dtype) for t in (*m.parameters(), *m.buffers())], m.first.weight.grad)
    m.to(L.float64)
    report([id(p) for p in m.parameters()] == before, m.first.weight.grad.dtype, m.count.dtype)
    report(m.to("cpu").first.weight.dtype, m.to(L.ones(1)).first.weight.dtype, m.type(L.float64).count.dtype)
    report(m.to(dtype=L.float32, device="cpu") is m)
    for wrong in (L.int64, "nowhere"):
        report.raises(lambda wrong=wrong: type(m.to(wrong)).__name__)
    report.warns(lambda: net(L).to(L.complex64))
    report([tuple(p.shape) for p in m.to_empty(device="cpu").parameters()])
    m.requires_grad_(False)
    report(
        [p.requires_grad for p in m.parameters()],
        m.eval().training,
        m.inner[0].training,
        m.train().inner[0].training,
    )


@story
def test_zero_grad(L, report):
    m = net(L)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a cycle between parameter and gradient
        m(L.ones(1, 3)).sum().backward(create_graph=True)
    m.zero_grad(set_to_none=False)
    report([(p.grad, p.grad.grad_fn) for p in m.parameters()])
    m.zero_grad()
    report([p.grad for p in m.parameters()])


@story
def test_state_dict(L, report):
    m = net(L)
    state = m.state_dict()
    report(list(state), type(state), dict(state._metadata), [v.requires_grad for v in state.values()])
    report([v.requires_grad for v in m.state_dict(keep_vars=True).values()], list(m.state_dict(prefix="x.")))
    into = OrderedDict()
    report(m.state_dict(destination=into) is into)
    report(list(report.warns(lambda: m.state_dict(OrderedDict(), "y.", True))))
    report(m.load_state_dict(state))
    other = net(L)
    other.load_state_dict(state)
    report(all(bool((a == b).all()) for a, b in zip(other.parameters(), m.parameters(), strict=True)))
    other.load_state_dict(state, assign=True)
    report(other.first.weight.data_ptr() == m.first.weight.data_ptr(), type(other.first.weight))
    fewer = {k: v for k, v in state.items() if k != "first.bias"}
    more = {**state, "first.extra": L.ones(1), "else": L.ones(1)}
    wrong = {**state, "first.bias": L.ones(7), "first.weight": "text"}
    for given in (fewer, more, wrong, {}, {**fewer, "first.biass": L.ones(1)}):
        report.raises(lambda given=given: m.load_state_dict(given))
    report(m.load_state_dict(fewer, strict=False), m.load_state_dict(more, strict=False))
    report.raises(lambda: m.load_state_dict(wrong, strict=False))
    report.raises(lambda: m.load_state_dict([1]))


def test_a_state_dict_that_does_not_fit_changes_nothing():
    m = net(vistorch)
    before = copy.deepcopy(m.state_dict())
    given = {k: v + 1 for k, v in before.items()}
    given["inner.1.bias"] = vistorch.ones(9)
    with pytest.raises(RuntimeError, match="size mismatch"):
        m.load_state_dict(given)
    assert all((before[k] == v).all() for k, v in m.state_dict().items())


@story
def test_extra_state_and_hooks_of_state_dicts(L, report):
    class Counted(L.nn.Linear):
        def __init__(self):
            super().__init__(1, 1)
            self.n = 4

        def get_extra_state(self):
            return {"n": self.n}

        def set_extra_state(self, state):
            self.n = state["n"] + 1

    m = L.nn.Sequential(Counted())
    seen = []
    m.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append(("pre", prefix, keep)))
    post = m[0].register_state_dict_post_hook(
        lambda module, state, prefix, meta: seen.append(("post", list(state), prefix))
    )
    m[0].register_load_state_dict_pre_hook(
        lambda module, state, prefix, *rest: seen.append(("load", list(state), prefix, rest[1]))
    )
    m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    state = m.state_dict()
    report(
        list(state),
        state["0._extra_state"],
        m.load_state_dict({k: v for k, v in state.items() if "bias" not in k}),
        m[0].n,
    )
    report(seen)
    post.remove()
    m[0].register_state_dict_post_hook(lambda *args: 3)
    report.raises(m.state_dict)
    plain = L.nn.Sequential(L.nn.Linear(1, 1))
    report.raises(lambda: plain.load_state_dict(state))
    report.raises(lambda: L.nn.Sequential(Counted()).load_state_dict(plain.state_dict()))


@story
def test_forward_hooks(L, report):
    m = net(L)
    seen = []
    x = L.ones(2, 3)
    a = m.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    b = m.register_forward_pre_hook(
        lambda module, args, kwargs: seen.append((len(args), kwargs)), with_kwargs=True, prepend=True
    )
    c = m.register_forward_hook(lambda module, args, out: out + 1)
    d = m.register_forward_hook(
        lambda module, args, kwargs, out: seen.append(tuple(out.shape)), with_kwargs=True
    )
    report(m(x), seen)
    for handle in (a, b, c, d):
        handle.remove()
    report(
        m(x),
        [len(getattr(m, t)) for t in ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs")],
    )
    m.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    report.raises(lambda: m(x))
    n = L.nn.Identity()
    n.register_forward_hook(lambda *args: seen.append("always"), always_call=True)
    n.register_forward_hook(lambda *args: seen.append("sometimes"))
    report.raises(n)
    report(seen, n(x))
    with L.nn.modules.module.register_module_forward_hook(
        lambda module, args, out: seen.append(type(module).__name__)
    ):
        net(L)(x)
    with L.nn.modules.module.register_module_forward_pre_hook(lambda module, args: (args[0] * 0,)):
        report(L.nn.Identity()(x))
    report(seen, L.nn.Identity()(x))


@story
def test_an_always_called_hook_that_raises_itself(L, report):
    class Fails(L.nn.Module):
        def forward(self, x):
            raise ValueError("first")

    m = Fails()

    def hook(*args):
        raise KeyError("second")

    m.register_forward_hook(hook, always_call=True)
    report.warns(lambda: report.raises(lambda: m(L.ones(1))))


@story
def test_full_backward_hooks(L, report):
    m = net(L)
    seen = []

    def note(module, grad_in, grad_out):
        seen.append((type(module).__name__, grad_in, grad_out))

    m.register_full_backward_hook(note)
    m.first.register_full_backward_hook(lambda module, gi, go: None if gi[0] is None else (gi[0] * 2,))
    m.inner[1].register_full_backward_pre_hook(lambda module, go: (go[0] * 3,))
    x = L.ones(2, 3, requires_grad=True)
    m(x).sum().backward()
    report(seen, x.grad, m.first.weight.grad, m.inner[1].weight.grad)
    report.warns(lambda: m(L.ones(2, 3)).sum().backward())
    report(seen)
    report.raises(lambda: m.register_backward_hook(note))
    m.register_full_backward_hook(lambda module, gi, go: (1, 2))
    report.raises(lambda: m(x).sum().backward())
    m = net(L)
    m.register_full_backward_pre_hook(lambda module, go: (1, 2))
    report.raises(lambda: m(x).sum().backward())
    with L.no_grad():
        report(m(x))
    with L.nn.modules.module.register_module_full_backward_hook(note):
        net(L)(x).sum().backward()
    report(seen)


@story
def test_full_backward_hooks_of_several_inputs_and_outputs(L, report):
    class Two(L.nn.Module):
        def forward(self, x, n, y):
            return x * y, y * n, n

    seen = []
    m = Two()
    m.register_full_backward_hook(lambda module, gi, go: seen.append((gi, go)))
    x, y = L.ones(2, requires_grad=True), L.full((2,), 3.0)
    a, b, n = m(x, 4, y)
    report(a.grad_fn.name(), b.requires_grad, n)
    a.sum().backward()
    report(seen, x.grad)
    m = L.nn.Identity()
    m.register_full_backward_hook(lambda module, gi, go: None)
    report.raises(lambda: m({"x": x}))


@story
def test_backward_hooks_of_the_old_kind(L, report):
    m = net(L)
    seen = []
    m.register_backward_hook(lambda module, gi, go: seen.append((len(gi), go)))
    x = L.ones(2, 3, requires_grad=True)
    report.warns(lambda: m(x).sum().backward())
    report(seen)
    report.raises(lambda: m.register_full_backward_hook(lambda *args: None))


@story
def test_copies(L, report):
    m = net(L)
    m.register_forward_hook(double)
    m(L.ones(1, 3)).sum().backward()
    x = L.ones(2, 3)
    for again in (
        copy.deepcopy(m),
        pickle.loads(pickle.dumps(m)),
        pickle.load(io.BytesIO(pickle.dumps(m, 2))),
    ):
        report(again, again(x), again.first.weight.grad is None, len(again._forward_hooks), again.training)
    shallow = copy.copy(m)
    report(shallow.first is m.first, shallow._parameters is m._parameters)


def double(module, args, out):
    return out * 2


@story
def test_registration_hooks(L, report):
    module = L.nn.modules.module
    seen = []
    with (
        module.register_module_parameter_registration_hook(lambda m, n, p: seen.append(("p", n))),
        module.register_module_buffer_registration_hook(lambda m, n, p: seen.append(("b", n))),
        module.register_module_module_registration_hook(lambda m, n, p: seen.append(("m", n))),
    ):
        m = L.nn.Sequential(L.nn.Linear(1, 1))
        m.register_buffer("x", L.ones(1))
    report(seen, module._addindent("a\nb", 2))


@story
def test_parameters(L, report):
    p = L.nn.Parameter(L.ones(2), requires_grad=False)
    report(
        repr(p), p, p.is_leaf, p * 2, type(p.data), type(p.detach()), type(p.clone()), isinstance(p, L.Tensor)
    )
    report(
        repr(L.nn.Parameter()),
        repr(copy.deepcopy(p)),
        repr(pickle.loads(pickle.dumps(L.nn.Parameter(L.ones(1))))),
    )
    source = L.zeros(2)
    shared = L.nn.Parameter(source)
    with L.no_grad():
        shared.add_(1)
    report(source, shared._version, source._version)
    report.raises(lambda: L.nn.Parameter(L.ones(2, dtype=L.int64)))
    lazy = L.nn.UninitializedParameter()
    report(repr(lazy), type(lazy), isinstance(lazy, L.nn.Parameter), L.nn.parameter.is_lazy(lazy), lazy.dtype)
    report.raises(lambda: lazy.shape)
    lazy.materialize((2, 3))
    report(type(lazy), tuple(lazy.shape), lazy.requires_grad)
    b = L.nn.Buffer(L.ones(1), persistent=False)
    report(
        repr(b),
        isinstance(b, L.nn.Buffer),
        isinstance(L.ones(1), L.nn.Buffer),
        isinstance(L.ones(1), L.nn.Parameter),
    )


def test_a_listener_gets_modules_and_their_path():
    seen = []

    class Listens(vistorch.engine.base.events.Listener):
        def phase(self, name, subject, *details):
            seen.append((name, type(subject).__name__))

    m = net(vistorch)
    with Listens():
        m(vistorch.ones(1, 3))
        m.eval()
        m.zero_grad()
    assert seen[:3] == [("forward", "Sequential"), ("forward", "Linear"), ("forward_end", "Linear")]
    assert [name for name, _ in seen].count("forward") == [name for name, _ in seen].count("forward_end") == 5
    assert seen[-1] == ("zero_grad", "Sequential")
    assert seen[-2] == ("eval", "Sequential")


def test_module_is_whole_and_declares_what_it_keeps():
    Module = vistorch.nn.Module
    assert Module.__mro__ == (Module, object)
    assert set(vars(Module())) <= set(Module.__annotations__)


def test_one_frame_lies_between_a_call_and_forward():
    class Where(vistorch.nn.Module):
        def forward(self):
            return sys._getframe(2)

    assert Where()() is sys._getframe()
