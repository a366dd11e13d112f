"""`DataParallel` against the network alone, on simulated devices and on the CPU in threads."""

import copy
import threading
from collections import namedtuple

import pytest
import torch

import vistorch
from vistorch import nn
from vistorch.nn import parallel

PLACES = {"cpu": (["cpu"] * 4, "cpu"), "cuda": (None, "cuda:0"), "named": (["cuda:0", "cuda:2", 3], "cuda:0")}


@pytest.fixture(autouse=True)
def four_devices():
    vistorch.cuda.simulate(4)
    yield
    vistorch.cuda.simulate(None)


def close(a, b, tolerance=1e-5):
    assert a.shape == b.shape and a.device == b.device
    assert bool(((a - b).abs() <= tolerance * (1 + b.abs())).all()), (a - b).abs().max()


def both(make, where, *sizes):
    """A network alone and in parallel, and an input for each."""
    vistorch.manual_seed(0)
    devices, home = PLACES[where]
    alone = make().to(home)
    shared = copy.deepcopy(alone)
    x = vistorch.randn(*sizes).to(home)
    return alone, nn.DataParallel(shared, devices), x.clone().requires_grad_(), x.clone().requires_grad_()


NETS = {
    "convolutions": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 3, groups=2), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(36, 5), nn.LogSoftmax(1),
        ),
        (10, 3, 10, 10),
    ),
    "transposed": (lambda: nn.Sequential(nn.ConvTranspose2d(2, 3, 3), nn.GroupNorm(1, 3), nn.PReLU()), (9, 2, 4, 4)),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), (6, 5, 8)),
    "tied": (lambda: Tied(), (7, 4)),
}  # fmt: skip


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight
        self.list = nn.ParameterList([nn.Parameter(vistorch.ones(4))])
        self.frozen = nn.Parameter(vistorch.ones(4), requires_grad=False)
        self.none = None

    def forward(self, x):
        return self.second(self.first(x).tanh()) * self.list[0] + self.frozen


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("name", NETS)
def test_outputs_and_gradients_are_those_of_the_network_alone(name, where):
    make, sizes = NETS[name]
    alone, shared, x, y = both(make, where, *sizes)
    out, ours = alone(x), shared(y)
    close(ours, out)
    (out**2).sum().backward()
    (ours**2).sum().backward()
    close(y.grad, x.grad)
    for p, q in zip(alone.parameters(), shared.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None)
        if p.grad is not None:
            close(q.grad, p.grad, 1e-4)


@pytest.mark.parametrize("where", PLACES)
def test_second_derivatives(where):
    alone, shared, x, y = both(
        lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), where, 7, 3
    )
    for net, given in ((alone, x), (shared, y)):
        (g,) = vistorch.autograd.grad(net(given).sum(), given, create_graph=True)
        (g**2).sum().backward()
    close(y.grad, x.grad)
    for p, q in zip(alone.parameters(), shared.parameters(), strict=True):
        # a parameter that is not reached gets zeros from its replicas
        close(q.grad, vistorch.zeros_like(p) if p.grad is None else p.grad, 1e-4)


@pytest.mark.parametrize("batch", [1, 2, 3, 4, 5, 30])
@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_batches_are_cut_as_torch_cuts_them(batch, where):
    seen = {}

    class See(nn.Module):
        def forward(self, x):
            seen[x[0].item()] = len(x)
            return x

    devices, home = PLACES[where]
    x = vistorch.arange(batch, device=home)
    assert nn.DataParallel(See(), devices)(x).tolist() == list(range(batch))
    expected = {chunk[0].item(): len(chunk) for chunk in torch.arange(batch).chunk(4)}
    assert seen == expected
    if batch == 30:
        assert [seen[k] for k in sorted(seen)] == [8, 8, 8, 6]


def test_each_replica_has_its_device_and_its_thread():
    seen = []

    class See(nn.Module):
        def forward(self, x):
            made = vistorch.zeros(1, device="cuda")
            seen.append(
                (str(x.device), str(made.device), vistorch.cuda.current_device(), threading.get_ident())
            )
            return x

    nn.DataParallel(See())(vistorch.ones(4, device="cuda"))
    seen.sort()
    assert [s[:3] for s in seen] == [(f"cuda:{i}", f"cuda:{i}", i) for i in range(4)]
    assert threading.get_ident() not in {s[3] for s in seen}
    assert vistorch.cuda.current_device() == 0


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_nested_arguments_and_outputs(where):
    class Nest(nn.Module):
        def forward(self, pair, *, more, flag):
            a, (b, text) = pair.a, pair.b
            assert (flag, text) == (None, "t") and isinstance(more["list"], list)
            return {"pair": Pair(a + b, [a * more["list"][0]]), "none": None, "deep": ((b,),)}

    devices, home = PLACES[where]
    x = vistorch.arange(6.0, device=home)
    out = nn.DataParallel(Nest(), devices)(Pair(x, (x * 2, "t")), more={"list": [x]}, flag=None)
    assert type(out["pair"]) is Pair and out["pair"].a.tolist() == (x * 3).tolist()
    assert out["pair"].b[0].tolist() == (x * x).tolist() and out["none"] is None
    assert out["deep"][0][0].tolist() == (x * 2).tolist() and str(out["pair"].a.device) == home


def test_only_named_arguments_or_none_at_all():
    class Named(nn.Module):
        def forward(self, x=None):
            return vistorch.ones(2, device="cuda") if x is None else x + 1

    net = nn.DataParallel(Named())
    assert net(x=vistorch.zeros(5, device="cuda")).tolist() == [1] * 5
    assert net().tolist() == [1, 1]


def test_another_dimension_and_another_device():
    x = vistorch.arange(12.0, device="cuda").reshape(2, 6)
    out = nn.DataParallel(nn.Identity(), [0, 1], output_device="cuda:1", dim=1)(x)
    assert out.tolist() == x.tolist() and str(out.device) == "cuda:1"
    out = nn.DataParallel(nn.Identity(), [0, 1], output_device=-1)(x)
    assert str(out.device) == "cpu"


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_statistics_come_from_the_first_device(where):
    alone, shared, x, _ = both(lambda: nn.BatchNorm1d(3), where, 11, 3)
    held = shared.module.running_mean
    shared(x)
    alone(x[:3])
    close(shared.module.running_mean, alone.running_mean)
    close(shared.module.running_var, alone.running_var)
    assert shared.module.num_batches_tracked == 1 and shared.module.running_mean is held
    shared.eval()
    alone.eval()
    close(shared(x), alone(x))


def test_recurrent_networks():
    alone, shared, x, y = both(lambda: nn.LSTM(3, 4, 2, batch_first=True), "cuda", 8, 5, 3)
    out, ours = alone(x)[0], shared(y)[0]
    close(ours, out)
    out.sum().backward()
    ours.sum().backward()
    for p, q in zip(alone.parameters(), shared.parameters(), strict=True):
        close(q.grad, p.grad, 1e-4)


def test_hooks_run_in_every_replica():
    net = nn.Linear(2, 2).cuda()
    calls = []
    net.register_forward_hook(lambda m, args, out: calls.append(("forward", len(args[0]), m is net)))
    net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    net.weight.register_hook(lambda g: calls.append("gradient"))
    x = vistorch.ones(8, 2, device="cuda")
    shared = nn.DataParallel(net)
    shared.register_forward_hook(lambda m, args, out: calls.append("whole"))
    out = shared(x)
    close(out, nn.functional.linear(x * 2, net.weight, net.bias))
    out.sum().backward()
    assert calls == [("forward", 2, False)] * 4 + ["whole", "gradient"]


def test_modes_are_the_callers():
    seen = []

    class See(nn.Module):
        def forward(self, x):
            seen.append((vistorch.is_grad_enabled(), self.training, vistorch.is_anomaly_enabled()))
            return x * 2

    net = nn.DataParallel(See())
    x = vistorch.ones(4, device="cuda", requires_grad=True)
    with vistorch.no_grad():
        assert not net.eval()(x).requires_grad
    with vistorch.enable_grad():
        assert net.train()(x).requires_grad
    with vistorch.autograd.set_detect_anomaly(True):
        net(x)
    assert seen == [(False, False, False)] * 4 + [(True, True, False)] * 4 + [(True, True, True)] * 4
    linear = nn.DataParallel(nn.Linear(1, 1).cuda())
    with vistorch.no_grad():
        replicas = linear.replicate(linear.module, [0, 1])
    assert replicas[0].weight is linear.module.weight and not replicas[1].weight.requires_grad


def test_an_error_names_its_replica_and_keeps_its_traceback():
    class Bad(nn.Module):
        def __init__(self, error):
            super().__init__()
            self.error = error

        def forward(self, x):
            if x.get_device() == 1:
                raise self.error
            return x

    x = vistorch.ones(4, device="cuda")
    with pytest.raises(ValueError) as caught:
        nn.DataParallel(Bad(ValueError("not this one")))(x)
    text = str(caught.value)
    assert text.startswith(
        "Caught ValueError in replica 1 on device 1.\nOriginal Traceback (most recent call last):\n"
    )
    assert "raise self.error" in text and text.endswith("ValueError: not this one\n")
    with pytest.raises(KeyError) as caught:
        nn.DataParallel(Bad(KeyError("key")))(x)
    assert "\nKeyError: 'key'" in str(caught.value)  # lines, not their repr
    with pytest.raises(RuntimeError, match="Caught UnicodeDecodeError in replica 1"):
        nn.DataParallel(Bad(UnicodeDecodeError("utf-8", b"", 0, 1, "wants five arguments")))(x)
    with pytest.raises(
        RuntimeError, match="in replica 0, no device was provided and no tensor input was found"
    ):
        parallel.parallel_apply([nn.Identity()] * 2, [(1,), (2,)])


def test_names_and_state():
    net = nn.DataParallel(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda())
    assert net.device_ids == [0, 1, 2, 3] and net.output_device == 0 and net.dim == 0
    assert net.src_device_obj == vistorch.device("cuda:0")
    assert all(name.startswith("module.") for name in net.state_dict())
    other = nn.DataParallel(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda())
    other.load_state_dict(net.state_dict())
    assert bool((other.module[0].weight == net.module[0].weight).all())
    assert repr(net).startswith("DataParallel(\n  (module): Sequential(")
    with pytest.raises(AttributeError, match="'DataParallel' object has no attribute 'weight'"):
        _ = net.weight


def test_training_is_training_alone():
    alone, shared, x, _ = both(
        lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), "cuda", 13, 4
    )
    target = vistorch.arange(13, device="cuda") % 2
    for net in (alone, shared):
        optimizer = vistorch.optim.Adam(net.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x.detach()), target).backward()
            optimizer.step()
    for p, q in zip(alone.parameters(), shared.parameters(), strict=True):
        close(q, p, 1e-3)


def test_a_network_on_the_wrong_device():
    start = r"module must have its parameters and buffers on device cuda:0 \(device_ids\[0\]\) but "
    sentence = start + "found one of them "
    with pytest.raises(RuntimeError, match=sentence + "on device: cpu"):
        nn.DataParallel(nn.Linear(2, 2))(vistorch.ones(4, 2))
    with pytest.raises(RuntimeError, match=sentence + "on device: cuda:1"):
        parallel.data_parallel(nn.Linear(2, 2).cuda(1), vistorch.ones(4, 2))
    with pytest.raises(ValueError, match="Expected a non cpu device, but got: cpu"):
        nn.DataParallel(nn.Linear(2, 2), ["cpu", 0])


def test_one_device_and_none():
    net = nn.Linear(2, 2)
    assert nn.DataParallel(net, [1])(vistorch.ones(3, 2)).device == vistorch.device("cuda:1")
    assert str(net.weight.device) == "cuda:1"
    vistorch.cuda.simulate(0)
    plain = nn.DataParallel(nn.Linear(2, 2), [0, 1])
    assert plain.device_ids == [] and plain(vistorch.ones(3, 2)).shape == (3, 2)
    with pytest.raises(RuntimeError, match="device type could not be determined"):
        parallel.data_parallel(nn.Identity(), vistorch.ones(2))
    assert nn.DataParallel(nn.Identity(), ["cpu"] * 2)(vistorch.ones(3)).tolist() == [1, 1, 1]


def test_the_function():
    net = nn.Linear(2, 3).cuda()
    x = vistorch.randn(7, 2, device="cuda", requires_grad=True)
    close(parallel.data_parallel(net, x), net(x))
    close(parallel.data_parallel(net, (), module_kwargs={"input": x}, device_ids=[0, 3]), net(x))
    assert parallel.data_parallel(net, x, output_device="cuda:2").device.index == 2
    assert str(parallel.data_parallel(nn.ReLU(), -x.cpu(), ["cpu"] * 3).device) == "cpu"


def test_scalars_become_a_vector():
    class Mean(nn.Module):
        def forward(self, x):
            return x.mean()

    x = vistorch.arange(8.0, device="cuda", requires_grad=True)
    with pytest.warns(
        UserWarning, match="Was asked to gather along dimension 0, but all input tensors were scalars"
    ):
        out = nn.DataParallel(Mean())(x)
    assert out.tolist() == [0.5, 2.5, 4.5, 6.5]
    out.sum().backward()
    assert x.grad.tolist() == [0.5] * 8


def test_replicas():
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda()
    net.register_buffer("learned", vistorch.ones(2, device="cuda", requires_grad=True))
    first, second = parallel.replicate(net, [0, 2])
    assert list(first.parameters()) == [] and second[0].weight.grad_fn.name() == "BroadcastBackward"
    assert first[1].running_mean is net[1].running_mean and second[1].running_mean is not net[1].running_mean
    assert str(second[1].running_mean.device) == "cuda:2" and second[0] is not net[0]
    assert (
        second.learned.requires_grad
        and second._is_replica
        and list(second[0]._former_parameters) == ["weight", "bias"]
    )
    with pytest.warns(
        UserWarning, match=r"Calling .zero_grad\(\) from a module created with nn.DataParallel\(\)"
    ):
        second.zero_grad()
    assert parallel.replicate(net, []) == []


def test_replicas_are_freed_by_reference_counts():
    import gc
    import weakref

    net = nn.DataParallel(nn.Sequential(nn.Linear(2, 2), nn.Tanh()).cuda())
    seen = []
    net.module.register_forward_hook(lambda m, args, out: seen.append(weakref.ref(m)))
    gc.collect()
    gc.disable()
    try:
        net(vistorch.ones(4, 2, device="cuda")).sum().backward()
        assert len(seen) == 4 and all(ref() is None for ref in seen)
    finally:
        gc.enable()


def test_many_threads_at_once_compute_the_same():
    alone, shared, x, y = both(NETS["convolutions"][0], "cpu", 8, 3, 10, 10)
    expected = alone(x)
    for _ in range(20):
        close(shared(y), expected)


def test_dropout_on_devices_is_repeatable():
    net = nn.DataParallel(nn.Dropout())
    x = vistorch.ones(400, device="cuda")
    vistorch.manual_seed(3)
    first = net(x)
    vistorch.manual_seed(3)
    assert net(x).tolist() == first.tolist() and 100 < first.count_nonzero() < 300


def test_distributed_needs_a_group():
    with pytest.raises(
        ValueError, match="Default process group has not been initialized, please make sure to"
    ):
        parallel.DistributedDataParallel(nn.Linear(1, 1))


@pytest.mark.parametrize(("where", "kind"), [("cpu", "cpu"), ("cuda", "cuda")])
@pytest.mark.parametrize("dtype", [None, vistorch.bfloat16])
def test_autocast_reaches_the_replicas(where, kind, dtype):
    seen = []

    class Net(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            with vistorch.autocast(kind, enabled=False):
                off = super().forward(x).dtype
            seen.append((y.dtype, off, vistorch.is_autocast_enabled(kind)))
            return y

    alone, shared, a, b = both(lambda: Net(4, 4), where, 8, 4)
    with vistorch.autocast(kind, dtype=dtype):
        one, several = alone(a), shared(b)
        assert len(seen) == 5 and set(seen) == {(one.dtype, vistorch.float32, True)}
        assert one.dtype is (dtype or vistorch.get_autocast_dtype(kind))
        close(several.float(), one.float(), 1e-2)
    several.float().sum().backward()
    assert shared.module.weight.grad.dtype is vistorch.float32
    seen.clear()
    shared(b)
    assert [found[0] for found in seen] == [vistorch.float32] * 4 and not vistorch.is_autocast_enabled(kind)
