"""CUDA graphs over a stand-in that captures: what is replayed, what is refused and named, products, whole steps."""

import numpy as np
import pytest

import vistorch
from tests.cuda import replay
from vistorch import cuda, nn
from vistorch.captured import CapturedStep
from vistorch.engine.base.events import Listener
from vistorch.engine.kernels.cuda import capture, products
from vistorch.engine.memory import device_memory


@pytest.fixture
def blas(strict_cupy, monkeypatch):
    """A device that captures; its cuBLAS."""
    tape, blas = replay.install(monkeypatch, strict_cupy)
    monkeypatch.setattr(products, "find", lambda: blas)
    monkeypatch.setattr(products, "_handles", {})
    monkeypatch.setattr(products, "WORKSPACE", 1 << 12)
    monkeypatch.setattr(cuda.graphs.graph, "default_capture_stream", None)
    blas.tape = tape
    cuda.init()
    return blas


def tensor(values):
    return vistorch.tensor(values).to("cuda")


def test_a_graph_is_replayed_on_the_same_memory(blas):
    x, w = tensor([1.0, 2.0, 3.0]), tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    g = cuda.CUDAGraph()
    assert not cuda.is_current_stream_capturing()
    with cuda.graph(g):
        assert cuda.is_current_stream_capturing()
        y = (w @ x).exp() * 2 + 1
        x.add_(1)
    assert not cuda.is_current_stream_capturing()
    assert x.tolist() == [1, 2, 3]  # nothing has run
    for start in ([1.0, 2.0, 3.0], [0.5, -1.0, 0.25]):
        x.copy_(vistorch.tensor(start))
        g.replay()
        expected = np.exp(np.array([[1, 2, 3], [4, 5, 6]], "f4") @ np.array(start, "f4")) * 2 + 1
        assert np.allclose(y.tolist(), expected, rtol=1e-6)
        assert x.tolist() == [v + 1 for v in start]
    assert "workspace" in blas.log
    assert device_memory.allocator.capturing == 0 and not capture._active
    g.replay()
    assert g.raw_cuda_graph() == 17 and g.raw_cuda_graph_exec() == 18


def test_what_a_replay_would_not_do_again_is_refused_with_its_name(blas):
    x = tensor([1.0, 2.0])
    cases = {
        "item": lambda: x.sum().item(),
        "cpu": lambda: x.cpu(),
        "to": lambda: vistorch.ones(2).to("cuda"),
        "synchronize": lambda: cuda.synchronize(),
        "tolist": lambda: x.tolist(),
    }
    for name, run in cases.items():
        g = cuda.CUDAGraph()
        with (
            pytest.raises(RuntimeError, match=r"cannot be captured in a CUDA graph: it ") as caught,
            cuda.graph(g),
        ):
            run()
        line = run.__code__.co_firstlineno
        assert f"{name} at test_graphs.py:{line} cannot be captured" in str(caught.value), caught.value
        assert not capture._active and device_memory.allocator.capturing == 0 and blas.tape.calls is None
        with pytest.raises(RuntimeError, match="without a preceding successful capture"):
            g.replay()
    with cuda.graph(cuda.CUDAGraph()):  # and the next one is well
        x * 2


def test_a_failure_of_cupys_own_is_named_too(blas):
    def failing(x):
        error = type("CUDARuntimeError", (RuntimeError,), {"__module__": "cupy_backends.cuda.api.runtime"})
        raise error("cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing")

    said = None
    try:
        vistorch.autograd.graph.saved_tensors_hooks(failing, failing)
        with vistorch.autograd.graph.saved_tensors_hooks(failing, failing):
            vistorch.ones(2, requires_grad=True).exp()
    except RuntimeError as error:
        said = cuda.graphs.explained(error)
    assert "cannot be captured in a CUDA graph: it waits for the device, or copies" in str(said)
    assert "test_graphs.py" in str(said)
    assert cuda.graphs.explained(ValueError("sizes do not fit")) is None


def test_errors_of_the_program_stay_what_they_are(blas):
    with pytest.raises(ZeroDivisionError), cuda.graph(cuda.CUDAGraph()):
        raise ZeroDivisionError
    assert not capture._active


def test_graph_refuses(blas):
    g = cuda.CUDAGraph()
    with pytest.raises(
        RuntimeError, match=r"^CUDA graphs must be captured on a non-default stream\. \(However"
    ):
        g.capture_begin()
    with cuda.graph(g):
        pass
    with pytest.raises(RuntimeError, match="already owns a captured graph"), cuda.graph(g):
        pass
    with pytest.raises(TypeError, match="takes a CUDAGraph, not int"):
        cuda.graph(3)
    with cuda.graph(cuda.CUDAGraph()), pytest.raises(RuntimeError, match="launches another graph"):
        g.replay()
    g.reset()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        g.replay()


def test_graphs_share_a_pool_and_hold_it(blas):
    first, second = cuda.CUDAGraph(), cuda.CUDAGraph()
    with cuda.graph(first):
        block = device_memory.allocator.malloc(4096)
    with cuda.graph(second, pool=first.pool()):
        pass
    assert first.pool() == second.pool()
    address = block.ptr
    del block
    cuda.empty_cache()
    assert device_memory.allocator.malloc(4096).ptr != address  # a replay works with it
    assert [s["address"] for s in cuda.memory_snapshot(first.pool())] == [address]
    del first
    second.reset()
    cuda.empty_cache()
    assert cuda.memory_snapshot() == [] or address not in [s["address"] for s in cuda.memory_snapshot()]


def test_what_other_streams_use_is_freed_after_the_capture(blas):
    allocator = device_memory.allocator
    g = cuda.CUDAGraph()
    side = cuda.Stream()
    array = type("Array", (), {})()
    with cuda.graph(g):
        array.data = allocator.malloc(4096)
        allocator.use(array, side._own, 0)
        del array.data
        assert not allocator.waiting  # an event recorded now would be the graph's
    ((events, _),) = allocator.waiting
    assert [event.stream for event in events] == [side._own]


def test_numbers_drawn_move_on_at_each_replay(blas, monkeypatch):
    class Counter:
        held, offset = 0, 40

        def begin_capture(self, held):
            self.held = held

        def end_capture(self):
            self.held = 0
            return 8

        def before_replay(self, words):
            first, self.offset = self.offset, self.offset + words
            return 7, first

    counter = Counter()
    generator = type("Generator", (), {"counter": counter})()
    monkeypatch.setattr(cuda.graphs.generators, "of_device", lambda index: generator)
    g = cuda.CUDAGraph()
    g.register_generator_state(generator)  # once is enough
    with cuda.graph(g):
        assert counter.held
    ((_, held, words),) = g._draws
    assert words == 8 and counter.held == 0
    g.replay()
    assert held.tolist() == [7, 40]
    g.replay()
    assert held.tolist() == [7, 48]


SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((1, 3), (3, 1)),
    ((2, 0), (0, 4)),
    ((0, 3), (3, 4)),
]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "f2"])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_products_of_our_own_handle(strict_gpu, left, right, dtype):
    blas = replay.Cublas()
    xp = strict_gpu.xp
    own = products.Products(blas, xp.empty(64, "u1"))
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in (left, right))
    turned = [(a, b)]
    if a.ndim > 1:
        turned.append((np.asarray(np.swapaxes(a, -1, -2), order="C").swapaxes(-1, -2), b))
        turned.append((np.repeat(a, 2, -1)[..., ::2], b))
    if b.ndim > 1:
        turned.append((a, np.asarray(np.swapaxes(b, -1, -2), order="C").swapaxes(-1, -2)))
        turned.append((a, np.concatenate([b, b], -1)[..., : b.shape[-1]]))
    tolerance = 1e-2 if dtype == "f2" else 1e-5
    for x, y in turned:
        mine = own.matmul(xp, *[xp.ndarray.around(v) for v in (x, y)])
        assert np.allclose(mine._a, np.matmul(x, y), rtol=tolerance, atol=tolerance)
        assert mine.shape == np.matmul(x, y).shape
    out = xp.ndarray.around(np.full_like(np.matmul(a, b), 3))
    assert own.matmul(xp, xp.ndarray.around(a), xp.ndarray.around(b), out) is out
    assert np.allclose(out._a, np.matmul(a, b), rtol=tolerance, atol=tolerance)


R = np.random.default_rng(4)
A, B, V, W = (R.standard_normal(shape).astype("f4") for shape in ((3, 4), (4, 5), (4,), (3,)))
P, Q = (R.standard_normal(shape).astype("f4") for shape in ((2, 3, 4), (2, 4, 5)))
M, N, X = (R.standard_normal(shape).astype("f4") for shape in ((3, 5), (3, 3), (2, 3, 5)))
HEADS = R.standard_normal((1, 2, 6, 300)).astype("f4")  # too deep for a tile
IMAGE, FILTER = R.standard_normal((2, 3, 6, 6)).astype("f4"), R.standard_normal((4, 3, 3, 3)).astype("f4")
PRODUCTS = {
    "@": (lambda a, b: a @ b, A, B),
    "@ of vectors": (lambda a, b: a @ b, V, V),
    "matmul": (vistorch.matmul, P, Q),
    "matmul by a vector": (vistorch.matmul, P, V),
    "mm": (vistorch.mm, A, B),
    "mv": (vistorch.mv, A, V),
    "bmm": (vistorch.bmm, P, Q),
    "dot": (vistorch.dot, V, V),
    "vdot": (vistorch.vdot, V, V),
    "inner": (vistorch.inner, A, V),
    "outer": (vistorch.outer, V, W),
    "kron": (vistorch.kron, A, B),
    "addmm": (vistorch.addmm, M, A, B),
    "addmv": (vistorch.addmv, W, A, V),
    "addr": (vistorch.addr, A, W, V),
    "addbmm": (vistorch.addbmm, M, P, Q),
    "baddbmm": (vistorch.baddbmm, X, P, Q),
    "einsum": (lambda a, b: vistorch.einsum("bij,bjk->ik", a, b), P, Q),
    "tensordot": (lambda a, b: vistorch.tensordot(a, b, ([0, 2], [0, 1])), P, Q),
    "chain": (lambda a, b: vistorch.linalg.multi_dot([a, b, b.mT]), A, B),
    "power": (lambda a: vistorch.matrix_power(a, 5), N),
    "linear": (lambda a, b, c: nn.functional.linear(a, b.mT, c), A, B, M[0]),
    "bilinear": (
        lambda a, b, c: nn.functional.bilinear(a, b, c),
        A,
        M,
        R.standard_normal((2, 4, 5)).astype("f4"),
    ),
    "cdist": (lambda a: vistorch.cdist(a, a + 1), A),
    "attention": (lambda x: nn.functional.scaled_dot_product_attention(x, x * 2, x + 1), HEADS[..., :8]),
    "deep attention": (lambda x: nn.functional.scaled_dot_product_attention(x, x * 2, x + 1), HEADS),
    "dropped": (
        lambda x: nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.25),
        HEADS[..., :8],
    ),
    "convolution": (lambda x, w: nn.functional.conv2d(x, w), IMAGE, FILTER),
    "transposed": (
        lambda x, w: nn.functional.conv_transpose2d(x, w),
        R.standard_normal((2, 4, 4, 4)).astype("f4"),
        FILTER,
    ),
    "batch norm": (lambda x: nn.functional.batch_norm(x, None, None, training=True), IMAGE),
    "affine": (
        lambda t: nn.functional.affine_grid(t, (2, 1, 4, 5), align_corners=False),
        R.standard_normal((2, 2, 3)).astype("f4"),
    ),
    "norm": (lambda a: vistorch.linalg.vector_norm(a, dim=1), A),
    "cosine": (lambda a, b: nn.functional.cosine_similarity(a, b), A, A + 1),
    "resize": (lambda x: nn.functional.interpolate(x, size=(9, 5), mode="bilinear"), IMAGE),
    **{
        name: (lambda x, kind=kind: kind(5, 3, batch_first=True)(x)[0], X)
        for name, kind in (("rnn", nn.RNN), ("gru", nn.GRU), ("lstm", nn.LSTM))
    },
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_way_to_a_product_is_captured(blas, name):
    """Forward and backward: a product goes by our own handle, and a replay computes it."""
    run, *arrays = PRODUCTS[name]
    if name in ("rnn", "gru", "lstm"):
        vistorch.manual_seed(1)
        net = getattr(nn, name.upper())(5, 3, batch_first=True).to("cuda")
        run = lambda x: net(x)[0]  # noqa: E731
    held = [tensor(a).requires_grad_() for a in arrays]

    def step():
        y = run(*held)
        grads = vistorch.autograd.grad((y * y).sum(), held)
        return y, *grads

    cuda.manual_seed(7)
    before = [t.tolist() for t in step()]
    g = cuda.CUDAGraph()
    with cuda.graph(g):
        made = step()
    cuda.manual_seed(7)
    g.replay()
    for one, was in zip(made, before, strict=True):
        assert np.allclose(one.tolist(), was, rtol=1e-4, atol=1e-5)


def test_products_that_do_not_fit(strict_gpu):
    own = products.Products(replay.Cublas(), strict_gpu.xp.empty(8, "u1"))
    with pytest.raises(ValueError, match=r"matmul: shapes \(2, 3\) and \(2, 3\) do not fit"):
        own.matmul(strict_gpu.xp, strict_gpu.xp.zeros((2, 3)), strict_gpu.xp.zeros((2, 3)))
    with pytest.raises(RuntimeError, match="cublasCreate answered 3: no memory"):
        products.check(3, "cublasCreate")


def test_tf32_is_asked_of_its_switch(strict_gpu, monkeypatch):
    blas = replay.Cublas()
    own = products.Products(blas, strict_gpu.xp.empty(8, "u1"))
    x = strict_gpu.xp.ones((2, 2), "f4")
    own.matmul(strict_gpu.xp, x, x)
    monkeypatch.setattr(products.settings, "precision", "high")
    own.matmul(strict_gpu.xp, x, x)
    assert blas.computes == [68, products.FAST_TF32]


# ---- whole steps ----------------------------------------------------------------------------------------------------
def network():
    vistorch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 5, bias=False), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 2))


def batches():
    rng = np.random.default_rng(3)
    return [
        (vistorch.tensor(rng.standard_normal((4, 3)).astype("f4")), vistorch.tensor([0, 1, 1, 0]))
        for _ in range(9)
    ]


def train(kind, device, wrap):
    net = network().to(device)
    optimizer = kind(net.parameters())
    schedule = vistorch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    loss_of = nn.CrossEntropyLoss()
    runs = []

    def step(x, y):
        runs.append(1)
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    call = wrap(step)
    losses = [call(x.to(device), y.to(device)).item() for x, y in batches()]
    state = {name: value.cpu().tolist() for name, value in net.state_dict().items()}
    return losses, state, len(runs), optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize(
    "kind",
    [
        lambda p: vistorch.optim.Adam(p, lr=0.05),
        lambda p: vistorch.optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: vistorch.optim.AdamW(p, lr=0.05),
    ],
    ids=["Adam", "SGD", "AdamW"],
)
def test_a_whole_step_trains_as_the_step_that_is_written(blas, kind):
    losses, state, runs, lr = train(kind, "cuda", lambda step: vistorch.compile(step, mode="reduce-overhead"))
    plain, expected, _, rate = train(kind, "cpu", lambda step: step)
    assert runs < len(batches())  # the rest was replayed
    assert np.allclose(losses, plain, rtol=1e-5)
    assert lr == rate
    for name, value in expected.items():
        assert np.allclose(state[name], value, rtol=1e-4, atol=1e-6), name


def test_a_step_that_cannot_be_captured_says_which_op_and_runs(blas):
    net = network().to("cuda")
    optimizer = vistorch.optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    call = vistorch.compile(step, mode="reduce-overhead")
    line = step.__code__.co_firstlineno + 5
    x = tensor(np.ones((4, 3), "f4").tolist())
    values = [call(x) for _ in range(4)]
    with pytest.warns(
        UserWarning, match=f"^item at test_graphs.py:{line} cannot be captured in a CUDA graph"
    ):
        values.append(call(x))
    values.append(call(x))
    other = network()
    reference = vistorch.optim.SGD(other.parameters(), lr=0.1)
    for value in values:
        reference.zero_grad()
        loss = other(vistorch.ones(4, 3)).sum()
        loss.backward()
        reference.step()
        assert np.isclose(loss.item(), value, rtol=1e-4)


def test_a_module_is_differentiated_through_its_graphs(blas):
    net, plain = network().to("cuda").eval(), network().eval()
    wrapped = vistorch.compile(net, mode="reduce-overhead")
    assert wrapped is net
    for x, _ in batches():
        there, here = x.to("cuda").requires_grad_(), x.clone().requires_grad_()
        for module, given in ((net, there), (plain, here)):
            module.zero_grad()
            (module(given) ** 2).sum().backward()
        assert np.allclose(there.grad.tolist(), here.grad.tolist(), rtol=1e-4, atol=1e-6)
        assert np.allclose(net[0].weight.grad.tolist(), plain[0].weight.grad.tolist(), rtol=1e-4, atol=1e-6)
    assert any(one is not None for one in net.forward.known.values())


def test_other_shapes_modes_and_listeners(blas):
    net = network().to("cuda")
    seen = []

    def step(x):
        seen.append(1)
        with vistorch.no_grad():
            return net(x)

    call = CapturedStep(step)
    x = tensor(np.ones((4, 3), "f4").tolist())
    for _ in range(8):
        call(x)
    before = len(seen)
    call(x)
    assert len(seen) == before
    net.eval()
    call(x)
    assert len(seen) == before + 1  # a module's mode is part of what was captured
    net.train()
    call(x[:2])
    assert len(seen) == before + 2
    with Listener():
        call(x)
    assert len(seen) == before + 2

    class Ops(Listener):
        def op(self, rule, ins, consts, outs):
            names.append(rule.name)

    names = []
    with Ops():
        call(x)
    assert len(seen) == before + 3 and "tanh" in names
    net[0].weight.data = net[0].weight.detach().clone()  # another memory
    call(x)
    assert len(seen) > before + 3


def test_graphed_callables(blas):
    net, plain = network().to("cuda").eval(), network().eval()
    sample = tensor(np.ones((4, 3), "f4").tolist()).requires_grad_()
    made = cuda.make_graphed_callables(net, (sample,))
    assert made is net
    for x, _ in batches()[:3]:
        there, here = x.to("cuda").requires_grad_(), x.clone().requires_grad_()
        made(there).exp().sum().backward()
        plain(here).exp().sum().backward()
        assert np.allclose(there.grad.tolist(), here.grad.tolist(), rtol=1e-4)
    sample = vistorch.ones_like(sample).requires_grad_()
    pair = cuda.make_graphed_callables((lambda x: x * 2, lambda x: x.exp()), ((sample,), (sample,)))
    assert np.allclose(pair[1](pair[0](sample)).tolist(), np.full((4, 3), np.exp(2)), rtol=1e-5)
    with pytest.raises(AssertionError, match="must contain only Tensors"):
        cuda.make_graphed_callables(net, (3,))
    net.register_forward_hook(lambda *a: None)
    with pytest.raises(AssertionError, match="must not have hooks"):
        cuda.make_graphed_callables(net, (sample,))


def test_adam_is_not_captured_by_hand(blas):
    p = tensor([1.0]).requires_grad_()
    p.grad = tensor([1.0])
    optimizer = vistorch.optim.Adam([p])
    optimizer.step()
    with (
        pytest.raises(RuntimeError, match=r"^Adam.step\(\) cannot be captured .* takes?|which does$"),
        cuda.graph(cuda.CUDAGraph()),
    ):
        optimizer.step()


def test_simulated_devices_capture_nothing():
    cuda.simulate(1)
    with (
        pytest.raises(RuntimeError, match="CUDA graphs need a real CUDA device"),
        cuda.graph(cuda.CUDAGraph()),
    ):
        pass
    net = nn.Linear(2, 2).to("cuda")
    assert cuda.make_graphed_callables(net, (vistorch.ones(1, 2, device="cuda"),)) is net
    call = vistorch.compile(lambda x: x * 2, mode="reduce-overhead")
    for _ in range(6):
        assert call(vistorch.ones(2, device="cuda")).tolist() == [2, 2]
