"""Optimizers against torch's: the path of 50 steps for every option, state, text, files, groups, graphs."""

import copy
import importlib
import inspect
import pickle
import tracemalloc

import numpy as np
import pytest

import vistorch
from tests.optim.records import BAD, RECORDS
from tests.story import story, torch

CASES = [
    pytest.param(name, options, id=f"{name}-{i}")
    for name, all_ in RECORDS.items()
    for i, options in enumerate(all_)
]
OTHERS = {"LBFGS", "SparseAdam", "Adafactor", "Muon"}


def network(L, dtype="float64"):
    """A small net, and a loss that an optimizer can bring down."""
    L.manual_seed(3)
    kind = getattr(L, dtype)
    net = L.nn.Sequential(L.nn.Linear(6, 8), L.nn.Linear(8, 3)).to(kind)
    rng = np.random.default_rng(0)
    x, y = (L.tensor(rng.normal(size=(20, n))).to(kind) for n in (6, 3))

    def loss():
        return ((net(x).tanh() - y) ** 2).mean()

    return net, loss


def walk(L, name, options, steps=50, dtype="float64", lr=0.01):
    net, loss = network(L, dtype)
    optimizer = getattr(L.optim, name)(net.parameters(), lr=lr, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    return net, optimizer, loss


def values(net):
    return np.concatenate([p.detach().numpy().ravel() for p in net.parameters()])


@pytest.mark.parametrize("name, options", CASES)
# In float32 ten steps: then the rounding of a gradient near zero, whose sign or size alone counts, shows in the path.
@pytest.mark.parametrize(("dtype", "steps", "rtol"), [("float64", 50, 1e-10), ("float32", 10, 1e-4)])
def test_fifty_steps(name, options, dtype, steps, rtol):
    ours, theirs = (values(walk(L, name, options, steps, dtype)[0]) for L in (vistorch, torch))
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol / 10)


def test_every_option_of_every_constructor_is_in_a_record():
    for name, records in RECORDS.items():
        theirs = list(inspect.signature(getattr(torch.optim, name)).parameters)
        ours = inspect.signature(getattr(vistorch.optim, name)).parameters
        assert list(ours) == theirs
        used = {option for options in records for option in options}
        assert set(theirs) - used <= {"params", "lr"}, name
    known = {n for n, c in vars(torch.optim).items() if inspect.isclass(c) and n != "Optimizer"}
    assert known == set(RECORDS) | OTHERS


@pytest.mark.parametrize("name, options", CASES)
def test_texts_and_states(name, options):
    @story(rtol=1e-10, atol=1e-12)
    def compare(L, report):
        _net, optimizer, _ = walk(L, name, options, steps=3)
        report(repr(optimizer), optimizer.defaults, optimizer.state_dict())

    compare()


@pytest.mark.parametrize("name, options", CASES)
def test_a_state_of_torch_goes_on_here_and_back(name, options):
    """Three steps there, the state taken over, three more here: as six steps there."""

    def converted(L, value):
        if isinstance(value, dict):
            return {k: converted(L, v) for k, v in value.items()}
        return L.tensor(value.numpy()) if hasattr(value, "numpy") else value

    whole = values(walk(torch, name, options, steps=6)[0])
    for first, second in ((torch, vistorch), (vistorch, torch)):
        net, before, _ = walk(first, name, options, steps=3)
        other, loss = network(second)
        other.load_state_dict({k: second.tensor(v.numpy()) for k, v in net.state_dict().items()})
        optimizer = getattr(second.optim, name)(other.parameters(), lr=0.3, **options)
        optimizer.load_state_dict(converted(second, before.state_dict()))
        for _ in range(3):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
        # a state is cast to its parameter's type on loading, which single numbers in it are not before
        np.testing.assert_allclose(values(other), whole, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", RECORDS)
def test_a_step_allocates_nothing_after_the_first(name):
    p = vistorch.nn.Parameter(vistorch.ones(400, 300))
    p.grad = vistorch.ones(400, 300)
    optimizer = getattr(vistorch.optim, name)([p])
    for _ in range(2):
        optimizer.step()
    tracemalloc.start()
    optimizer.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000 < p.nbytes


@pytest.mark.parametrize("name", RECORDS)
@story(rtol=1e-9, atol=1e-10)
def test_complex_parameters(L, report, name):
    values = np.array([[1 + 2j, -1j], [0.5, 3 - 1j]])
    p = L.nn.Parameter(L.tensor(values))
    q = L.nn.Parameter(L.tensor(values).t())  # not flat in memory
    optimizer = getattr(L.optim, name)([p, q], lr=0.1)
    for _ in range(4):
        optimizer.zero_grad()
        ((p * p).abs().sum() + (q * 3j).abs().pow(2).sum()).backward()
        optimizer.step()
    report(p, q)


@pytest.mark.parametrize("name", RECORDS)
@story(rtol=1e-9, atol=1e-10)
def test_layouts_and_versions(L, report, name):
    base = L.zeros(3, 4, 5, dtype=L.float64)
    p = L.nn.Parameter((base + 1).transpose(0, 2))
    q = L.nn.Parameter(L.ones(2, 8, dtype=L.float64)[:, ::2])
    alone = L.nn.Parameter(L.ones((), dtype=L.float64))
    empty = L.nn.Parameter(L.ones(0, dtype=L.float64))
    unused = L.nn.Parameter(L.ones(1, dtype=L.float64))
    optimizer = getattr(L.optim, name)([p, q, alone, empty, unused])
    for _ in range(2):
        optimizer.zero_grad()
        ((p**3).sum() + (q**2).sum() + alone * 2 + empty.sum()).backward()
        optimizer.step()
    report(p, q, alone, unused, p._version > 0, p.stride(), sorted(optimizer.state_dict()["state"]))


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_moves_and_keeps_its_type(name, dtype):
    p = vistorch.nn.Parameter(vistorch.ones(5, dtype=getattr(vistorch, dtype)))
    optimizer = getattr(vistorch.optim, name)([p], lr=100 if name == "Adadelta" else 0.1)
    before = p.detach().clone()
    for _ in range(3):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
    assert p.dtype == before.dtype
    assert bool((p < before).all())


@pytest.mark.parametrize("name", sorted(set(RECORDS) - {"Rprop"}))  # torch's Rprop overwrites what it saved
@story(rtol=1e-5, atol=1e-7)  # torch corrects Adam's averages by a power in float32 here
def test_gradients_through_a_differentiable_step(L, report, name):
    start = L.tensor([1.0, 2.0], dtype=L.float64, requires_grad=True)
    p = start.clone()
    optimizer = getattr(L.optim, name)([p], lr=0.1, differentiable=True)
    for _ in range(1 if name == "Adamax" else 2):  # torch's second step overwrites what its first saved
        p.grad = (start**3).clone()
        optimizer.step()
    (p * p).sum().backward()
    report(p, start.grad)


@pytest.mark.parametrize("name", RECORDS)
@story
def test_bad_options(L, report, name):
    for options in BAD[name]:
        report.raises(lambda options=options: getattr(L.optim, name)([L.nn.Parameter(L.ones(1))], **options))


@story
def test_groups(L, report):
    a, b, c = (L.nn.Parameter(L.ones(1) * n) for n in range(3))
    optimizer = L.optim.SGD([{"params": [a], "lr": 0.5}, {"params": b}], lr=0.1, momentum=0.9)
    report(repr(optimizer))
    optimizer.add_param_group({"params": [c], "nesterov": True})
    report([g["lr"] for g in optimizer.param_groups], optimizer.state_dict())
    named = L.optim.SGD([("x", a), ("y", b)], lr=0.1)
    report(named.param_groups[0]["param_names"], named.state_dict())
    new = lambda: L.nn.Parameter(L.ones(1))  # noqa: E731
    for wrong in ([], L.ones(1), [3], [a * 2], [{"lr": 1}], 3, [{"params": {a}}], [("x", a), b]):
        report.raises(lambda wrong=wrong: L.optim.SGD(wrong, lr=0.1))
    for wrong in ({"params": [a]}, {"params": [("z", new())]}, [new()], {"params": [new() * 2]}):
        report.raises(lambda wrong=wrong: optimizer.add_param_group(wrong))
    report.raises(lambda: named.add_param_group({"params": [new()]}))
    report(len(optimizer.param_groups), len(named.param_groups))
    report.warns(lambda: L.optim.SGD([a, a], lr=0.1))
    for wrong in (
        {"state": {}, "param_groups": []},
        {"state": {}, "param_groups": [{"params": [0, 1, 2]}] * 3},
    ):
        report.raises(lambda wrong=wrong: optimizer.load_state_dict(wrong))


@story
def test_hooks(L, report):
    p = L.nn.Parameter(L.ones(1))
    p.grad = L.ones(1)
    seen = []
    optimizer = L.optim.SGD([p], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", len(args), kwargs)))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(("post", len(args))))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("saving"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(sorted(state)))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    module = importlib.import_module(f"{L.__name__}.optim.optimizer")
    with (
        module.register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append("every pre")),
        module.register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append("every post")),
    ):
        optimizer.step()
    loss = optimizer.step(lambda: L.ones(1) * 3)
    optimizer.load_state_dict(optimizer.state_dict())
    report(seen, loss, p)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 5), {}))
    report(optimizer.step())


@story
def test_closures_and_copies(L, report):
    net, loss = network(L)
    optimizer = L.optim.Adam(net.parameters())

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    with L.no_grad():
        report(optimizer.step(closure), net[0].weight.grad)
    again = copy.deepcopy(optimizer)
    report(repr(again) == repr(optimizer), len(again.state))
    report(repr(pickle.loads(pickle.dumps(optimizer))) == repr(optimizer))
    optimizer.zero_grad(set_to_none=False)
    report([p.grad for p in net.parameters()])


@story
def test_own_optimizers(L, report):
    class Own(L.optim.Optimizer):
        def __init__(self, params, lr=None):
            required = importlib.import_module(f"{L.__name__}.optim.optimizer").required
            super().__init__(params, {"lr": required if lr is None else lr})

        @L.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["n"] = self.state[p].get("n", 0) + 1
                    p.add_(p.grad, alpha=-group["lr"])

    p = L.nn.Parameter(L.ones(2))
    p.grad = L.ones(2)
    optimizer = Own([p], lr=0.5)
    optimizer.step()
    report(p, optimizer.state_dict(), repr(optimizer))
    report.raises(lambda: Own([p]))
    report.raises(lambda: L.optim.Optimizer([p], {}).step())


def test_a_listener_gets_steps():
    seen = []

    class Listens(vistorch.engine.base.events.Listener):
        def phase(self, name, subject, *details):
            seen.append(name)

        def write(self, tensor, rule):
            seen.append("write")

    p = vistorch.nn.Parameter(vistorch.ones(2))
    p.grad = vistorch.ones(2)
    optimizer = vistorch.optim.SGD([p])
    with Listens():
        optimizer.step()
        optimizer.zero_grad()
    assert seen == ["step", "write", "step_end", "zero_grad"]
