"""Results of convolutions that lie with channels last: faster, and seen by nobody.

Invariant: every look at such a tensor shows what the same program shows where it lies row by row, and on torch.
"""

import copy
import io
import pickle
import threading
import weakref

import numpy as np
import pytest

import vistorch
from tests.engine.kernels.fast import every_size
from tests.story import torch
from vistorch.engine.core.private_order import Private
from vistorch.engine.kernels.fast.switch import onednn
from vistorch.engine.kernels.strides import scope

pytestmark = pytest.mark.skipif(not onednn.ready(), reason="needs oneDNN")
N, C, SIZE = 2, 16, 8


def image(L, seed=0, channels=3, grad=False):
    values = np.random.default_rng(seed).normal(size=(N, channels, SIZE, SIZE)).astype("f4")
    return L.tensor(values, requires_grad=grad)


def weight(L, seed=1, channels=3):
    values = np.random.default_rng(seed).normal(size=(C, channels, 3, 3)).astype("f4") / 5
    return L.tensor(values)


@pytest.fixture(autouse=True)
def inside():
    """As inside the call of a module; what is private stays so."""
    scope.open, scope.made = True, []
    yield
    scope.open = scope.made = None


def made(L, grad=False):
    """The result of a convolution; here its order is private."""
    if L is not vistorch:
        return L.nn.functional.conv2d(image(L, grad=grad), weight(L), padding=1)
    with every_size():
        y = L.nn.functional.conv2d(image(L, grad=grad), weight(L), padding=1)
    assert y.__class__ is Private
    return y


def through_pickle(L, y):
    return pickle.loads(pickle.dumps(y.detach()))


def through_a_file(L, y):
    file = io.BytesIO()
    L.save(y.detach(), file)
    file.seek(0)
    return L.load(file)


LOOKS = {
    "stride": lambda L, y: y.stride(),
    "stride of one dim": lambda L, y: y.stride(1),
    "is_contiguous": lambda L, y: y.is_contiguous(),
    "is channels last": lambda L, y: y.is_contiguous(memory_format=L.channels_last),
    "dim_order": lambda L, y: y.dim_order(),
    "numpy": lambda L, y: y.detach().numpy().strides,
    "asarray": lambda L, y: np.asarray(y.detach()).strides,
    "view": lambda L, y: y.view(N, -1).stride(),
    "reshape": lambda L, y: y.reshape(N, C, -1).stride(),
    "flatten": lambda L, y: y.flatten(1).stride(),
    "permute": lambda L, y: y.permute(0, 2, 3, 1).stride(),
    "transpose": lambda L, y: y.transpose(1, 2).stride(),
    "index": lambda L, y: (y[0].stride(), y[:, 1].stride(), y[..., 0].stride()),
    "unbind": lambda L, y: [t.stride() for t in y.unbind(0)],
    "chunk": lambda L, y: [t.stride() for t in y.chunk(2, 1)],
    "as_strided": lambda L, y: y.as_strided((2, 3), (3, 1)).tolist(),
    "detach": lambda L, y: y.detach().stride(),
    "data": lambda L, y: y.data.stride(),
    "clone": lambda L, y: y.clone().stride(),
    "contiguous": lambda L, y: y.contiguous().stride(),
    "to channels last": lambda L, y: y.to(memory_format=L.channels_last).stride(),
    "double": lambda L, y: y.double().stride(),
    "deepcopy": lambda L, y: copy.deepcopy(y.detach()).stride(),
    "copy": lambda L, y: copy.copy(y.detach()).stride(),
    "pickle": lambda L, y: through_pickle(L, y).stride(),
    "file": lambda L, y: through_a_file(L, y).stride(),
    "storage": lambda L, y: list(y.detach().untyped_storage())[:40],
    "dlpack": lambda L, y: L.from_dlpack(y.detach()).stride(),
    "tolist": lambda L, y: np.array(y.tolist()).shape,
    "repr": lambda L, y: repr(y.detach().round(decimals=1)),
    "exp": lambda L, y: y.exp().stride(),
    "add a number": lambda L, y: (y + 1).stride(),
    "add a row": lambda L, y: (y + L.ones(SIZE)).stride(),
    "add itself": lambda L, y: (y + y).stride(),
    "add another": lambda L, y: (y + L.ones(N, C, SIZE, SIZE)).stride(),
    "add one that is turned": lambda L, y: (y * L.ones(N, C, SIZE, SIZE).transpose(2, 3)).stride(),
    "compare": lambda L, y: (y > 0).stride(),
    "leaky relu": lambda L, y: L.nn.functional.leaky_relu(y).stride(),
    "batch norm": lambda L, y: L.nn.functional.batch_norm(y, None, None, training=True).stride(),
    "max pool": lambda L, y: L.nn.functional.max_pool2d(y, 2).stride(),
    "indices": lambda L, y: [t.stride() for t in L.nn.functional.max_pool2d(y, 2, return_indices=True)],
    "average pool": lambda L, y: L.nn.functional.avg_pool2d(y, 2).stride(),
    "cat": lambda L, y: L.cat([y, y], 1).stride(),
    "zeros_like": lambda L, y: L.zeros_like(y).stride(),
    "sum": lambda L, y: y.sum(1).stride(),
    "convolution": lambda L, y: L.nn.functional.conv2d(y, L.ones(C, C, 1, 1)).stride(),
}
# What a name alone tells, and may be asked without giving the order up.
QUIET = {
    "shape": lambda L, y: tuple(y.shape),
    "size": lambda L, y: (tuple(y.size()), y.size(1)),
    "dim": lambda L, y: (y.dim(), y.ndim, y.numel(), y.nelement()),
    "dtype": lambda L, y: str(y.dtype).rpartition(".")[2],
    "device": lambda L, y: str(y.device),
    "class": lambda L, y: (isinstance(y, L.Tensor), type(y).__name__),
    "graph": lambda L, y: (y.requires_grad, y.is_leaf, y._version),
}


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("after", ["a convolution", "relu", "a sum"])
def test_a_look_shows_what_torch_shows(name, after):
    def run(L):
        y = made(L)
        if after == "relu":
            y = L.relu(y)
        elif after == "a sum":
            y = y + y
        if L is vistorch:
            assert y.__class__ is Private
        return LOOKS[name](L, y)

    ours, theirs = run(vistorch), run(torch)
    if name in ("as_strided", "storage"):
        np.testing.assert_allclose(
            np.array(ours, dtype=float),
            np.array(theirs, dtype=float),
            atol=1e-5 if name == "as_strided" else 2,
        )
    else:
        assert ours == theirs


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda y: pickle.loads(pickle.dumps(y)),
    "detach": lambda y: y.detach(),
    "data": lambda y: y.data,
    "clone": lambda y: y.clone(),
    "alias": lambda y: y.alias() if hasattr(y, "alias") else y.view_as(y),
    "weakly": lambda y: weakref.ref(y)(),
    "list": lambda y: vistorch.tensor(y.tolist()),
    "parameter": lambda y: vistorch.nn.Parameter(y),
    "subclass": lambda y: y.as_subclass(vistorch.Tensor),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_whole_tensors(name):
    y = made(vistorch)
    z = COPIES[name](y)
    pooled = vistorch.nn.functional.max_pool2d(z, 2)
    np.testing.assert_allclose(pooled.detach().numpy(), torch.max_pool2d(made(torch), 2).numpy(), atol=1e-5)
    assert type(z) in (vistorch.Tensor, vistorch.nn.Parameter) or z is y
    assert z.is_contiguous()


@pytest.mark.parametrize("name", QUIET)
def test_what_gives_the_order_away_to_nobody(name):
    y = made(vistorch, grad=True)
    assert QUIET[name](vistorch, y) == QUIET[name](torch, made(torch, grad=True))
    assert y.__class__ is Private


def test_after_a_look_it_is_an_ordinary_tensor_whose_views_share_its_memory():
    y = made(vistorch)
    v = y.view(-1)
    assert y.__class__ is vistorch.Tensor
    v[0] = 7.0
    assert y[0, 0, 0, 0] == 7.0
    assert v.data_ptr() == y.data_ptr() == y.detach().data_ptr()


def test_writes_in_place_keep_the_order_and_count():
    ours, theirs = (made(L) for L in (vistorch, torch))
    for y in (ours, theirs):
        y.relu_()
        y += y
        y.mul_(2.0)
        y.tanh_()
    assert ours.__class__ is Private
    assert ours._version == theirs._version
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_was_saved_and_is_overwritten_is_refused(when):
    y = made(vistorch, grad=True)
    if when == "before":
        y.stride()
    z = y.exp()
    if when == "after":
        z.stride()
    z.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def network(L):
    F = L.nn.functional
    names = ("relu", "elu", "silu", "gelu", "leaky_relu", "softplus", "sigmoid", "tanh", "hardswish")

    def run(x, w, u, g, b):
        y = F.conv2d(x, w, padding=1)
        for name in names:
            y = y + getattr(F, name)(y) * 0.1 if hasattr(F, name) else y + getattr(L, name)(y)
        y = F.batch_norm(y, None, None, g, b, True)
        y = F.max_pool2d(F.relu(y, inplace=True), 2) + F.avg_pool2d(y, 2) * 0.5
        y = y * g.view(1, -1, 1, 1) + b[:, None, None]
        y = F.conv2d(y, u, stride=2, padding=1)
        y = F.conv2d(F.group_norm(y, 4), u, padding=1) + y.mean((2, 3), keepdim=True)
        return F.adaptive_avg_pool2d(y, 1).flatten(1)

    return run


def parameters(L):
    rng = np.random.default_rng(5)
    shapes = [(N, 3, SIZE, SIZE), (C, 3, 3, 3), (C, C, 3, 3), (C,), (C,)]
    return [L.tensor(rng.normal(size=s).astype("f4") / 2, requires_grad=True) for s in shapes]


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_of_a_network_are_torchs(create_graph):
    found, strides = [], []
    for L in (vistorch, torch):
        ps = parameters(L)
        with every_size():
            out = network(L)(*ps)
            grads = L.autograd.grad((out * out).sum(), ps, create_graph=create_graph)
            if create_graph:
                grads = L.autograd.grad(sum((g * g).sum() for g in grads[:3]), ps[1:])
        found.append([g.detach().numpy() for g in grads])
        strides.append([g.stride() for g in grads])
    assert create_graph or strides[0] == strides[1]  # torch's of a second pass lie otherwise
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-3, atol=2e-4 * np.abs(theirs).max())


@pytest.mark.parametrize("asked", ["hook", "retain_grad", "grad", "node"])
def test_gradients_that_someone_sees_lie_row_by_row(asked):
    x, w = image(vistorch, grad=True), weight(vistorch)
    seen = []
    with every_size():
        y = vistorch.relu(vistorch.nn.functional.conv2d(x, w, padding=1))
        z = vistorch.nn.functional.conv2d(y, weight(vistorch, 2, C), padding=1).relu()
        z = vistorch.nn.functional.max_pool2d(z, 2)
        if asked == "hook":
            y.register_hook(lambda g: seen.append(g.stride()))
        elif asked == "retain_grad":
            y.retain_grad()
        elif asked == "node":
            y.grad_fn.register_hook(lambda grads, given: seen.append(given[0].stride()))
        if asked == "grad":
            seen.append(vistorch.autograd.grad(z.sum(), y)[0].stride())
        else:
            z.sum().backward()
    if asked == "retain_grad":
        seen.append(y.grad.stride())
    assert seen == [(C * SIZE * SIZE, SIZE * SIZE, SIZE, 1)]


def test_saved_tensors_hooks_and_checkpoints_see_ordinary_tensors():
    F = vistorch.nn.functional
    packed = []
    with every_size():
        x, w = image(vistorch, grad=True), weight(vistorch)
        with vistorch.autograd.graph.saved_tensors_hooks(
            lambda t: packed.append(t.stride()) or t.numpy().copy(), vistorch.from_numpy
        ):
            F.conv2d(x.detach(), w.requires_grad_(), padding=1).relu().exp().sum().backward()
    assert {s[-1] for s in packed} == {1}


def test_an_explicit_order_of_the_users_own_is_not_private():
    x = image(vistorch).to(memory_format=vistorch.channels_last)
    assert (x + 1).stride() == x.stride()
    assert vistorch.relu(x).stride() == x.stride()


def test_inference_and_evaluation():
    ours, theirs = [], []
    for L, out in ((vistorch, ours), (torch, theirs)):
        bn = L.nn.BatchNorm2d(C).eval()
        with every_size(), L.inference_mode():
            y = L.nn.functional.conv2d(image(L), weight(L), padding=1)
            bn.running_mean.fill_(0.3)
            bn.running_var.fill_(2.0)
            out.append(bn(y).numpy())
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5, atol=1e-6)


def test_looks_from_many_threads_at_once_agree():
    for _ in range(20):
        y = made(vistorch)
        seen = []

        def look(y=y, seen=seen):
            seen.append((y.stride(), y.data_ptr()))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(set(seen)) == 1


def test_an_attribute_that_is_not_there_is_missed_as_on_any_tensor():
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        made(vistorch).nothing  # noqa: B018
    y = made(vistorch)
    y.note = 3
    y.stride()
    assert y.note == 3


def block(L, seen=None, hooked=False):
    """A module that keeps what it computed on the way."""
    L.manual_seed(0)
    nn = L.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.bn = nn.Conv2d(3, C, 3, padding=1), nn.BatchNorm2d(C)
            self.act = nn.ReLU(inplace=True)

        def forward(self, x):
            self.kept = self.first(x)
            y = self.bn(self.kept)
            return {"out": self.act(y), "list": [y + self.kept]}

    net = Net()
    if hooked:
        for module in net.modules():
            module.register_forward_hook(
                lambda m, args, out: seen.extend([*args, *([out] if isinstance(out, L.Tensor) else [])])
            )
        net.act.register_forward_pre_hook(lambda m, args: seen.append(args[0]))
    return net


@pytest.mark.parametrize("hooked", [False, True])
def test_whatever_leaves_a_module_is_an_ordinary_tensor(hooked):
    scope.open = scope.made = None
    seen = []
    net = block(vistorch, seen, hooked)
    types = []
    if hooked:
        net.bn.register_forward_hook(lambda m, args, out: types.extend([type(args[0]), type(out)]))
    with every_size():
        found = net(image(vistorch))
    held = [found["out"], found["list"][0], net.kept, *seen]
    assert {type(t) for t in held} | set(types) == {vistorch.Tensor}
    assert all(t.is_contiguous() for t in held)
    assert len(seen) == (0 if not hooked else 8)
    want = block(torch)
    want.load_state_dict({k: torch.tensor(v.numpy()) for k, v in block(vistorch).state_dict().items()})
    theirs = want(image(torch))
    for ours, his in (
        (found["out"], theirs["out"]),
        (found["list"][0], theirs["list"][0]),
        (net.kept, want.kept),
    ):
        np.testing.assert_allclose(ours.detach().numpy(), his.detach().numpy(), rtol=1e-4, atol=1e-5)
    with every_size():
        y = vistorch.nn.functional.conv2d(image(vistorch), weight(vistorch), padding=1)
        z = vistorch.nn.Conv2d(3, C, 3)(image(vistorch))
    assert type(y) is type(z) is vistorch.Tensor


def test_an_exception_leaves_ordinary_tensors_and_the_next_call_works():
    scope.open = scope.made = None
    net = block(vistorch)
    forward = net.act.forward

    def fails(x):
        raise ValueError("no")

    net.act.forward = fails
    with every_size(), pytest.raises(ValueError, match="no"):
        net(image(vistorch))
    assert type(net.kept) is vistorch.Tensor and scope.open is None
    net.act.forward = forward
    with every_size():
        assert type(net(image(vistorch))["out"]) is vistorch.Tensor


def test_what_a_node_shows_of_what_it_saved_is_an_ordinary_tensor():
    scope.open = scope.made = None
    with every_size():
        out = block(vistorch)(image(vistorch))["out"]
    node, seen = out.grad_fn, []
    while node is not None:
        for name in ("_saved_input", "_saved_self", "_saved_result"):
            try:
                seen.append(getattr(node, name))
            except (AttributeError, RuntimeError):
                continue
        node = next((n for n, _ in node.next_functions if n is not None), None)
    images = [t for t in seen if isinstance(t, vistorch.Tensor) and t.ndim == 4]
    assert images
    assert all(type(t) is vistorch.Tensor and t.is_contiguous() for t in images)


def test_another_thread_never_sees_the_private_order():
    y = made(vistorch, grad=True)
    stop, wrong = threading.Event(), []

    def watch():
        while not stop.is_set():
            if y.__class__ is not Private:
                wrong.append(y.__class__)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(300):
        vistorch.relu(y + y)
    stop.set()
    watcher.join()
    assert not wrong
