"""What only a real GPU can show of streams, memory and graphs: overlap, replays, whole steps, two processes."""

import multiprocessing

import numpy as np
import pytest

import vistorch
from tests.cuda import test_graphs as captured
from vistorch import cuda, nn
from vistorch.engine.memory import device_memory

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def gpu(clean):
    """Skip with the reason the diagnosis gives."""
    if not cuda.is_available():
        pytest.skip(f"needs a GPU: {cuda.diagnose().reason}")


def test_counts_and_peaks_are_the_allocators():
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    before = cuda.memory_allocated()
    x = vistorch.zeros(1 << 20, device="cuda")
    assert cuda.memory_allocated() == before + (4 << 20)
    del x
    assert cuda.memory_allocated() == before
    assert cuda.max_memory_allocated() >= before + (4 << 20)
    assert sum(s["total_size"] for s in cuda.memory_snapshot()) == cuda.memory_reserved()


def test_memory_used_by_another_stream_is_not_written_early():
    side = cuda.Stream()
    big = vistorch.ones(1 << 26, device="cuda")
    cuda.synchronize()
    for _ in range(20):
        x = vistorch.full((1 << 22,), 3.0, device="cuda")
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            for _ in range(8):
                big = big * 1.0  # keeps the stream busy
            total = x.sum()
        x.record_stream(side)
        del x
        vistorch.full((1 << 22,), 5.0, device="cuda")  # would take the memory
        side.synchronize()
        assert total.item() == 3.0 * (1 << 22)


def test_copies_overlap_with_work():
    """A copy of page-locked memory on a side stream beside a product takes less than both one after another."""
    a = vistorch.rand(4096, 4096, device="cuda")
    host = vistorch.rand(1 << 26).pin_memory()
    side = cuda.Stream()

    def timed(copy, work):
        cuda.synchronize()
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        start.record()
        side.wait_stream(cuda.current_stream())
        if copy:
            with cuda.stream(side):
                there = host.to("cuda", non_blocking=True)
                there.record_stream(side)
        if work:
            for _ in range(20):
                a @ a
        cuda.current_stream().wait_stream(side)
        end.record()
        cuda.synchronize()
        return start.elapsed_time(end)

    timed(True, True)
    both = min(timed(True, True) for _ in range(5))
    apart = min(timed(True, False) for _ in range(5)) + min(timed(False, True) for _ in range(5))
    assert both < 0.85 * apart


def test_out_of_memory_and_on():
    _, total = cuda.mem_get_info()
    with pytest.raises(cuda.OutOfMemoryError, match=r"^CUDA out of memory\. Tried to allocate"):
        vistorch.empty(total, device="cuda")
    assert vistorch.ones(3, device="cuda").sum().item() == 3


def test_a_graph_is_replayed():
    x = vistorch.arange(6.0, device="cuda").reshape(2, 3)
    w = vistorch.rand(3, 4, device="cuda")
    (x @ w).tanh()
    g = cuda.CUDAGraph()
    with cuda.graph(g):
        y = (x @ w).tanh().softmax(1)
    for seed in range(3):
        x.copy_(vistorch.tensor(np.random.default_rng(seed).standard_normal((2, 3)).astype("f4")))
        g.replay()
        expected = torch.tensor(x.tolist()).mm(torch.tensor(w.tolist())).tanh().softmax(1)
        assert np.allclose(y.tolist(), expected.numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", captured.PRODUCTS)
def test_every_way_to_a_product_is_captured(name):
    captured.test_every_way_to_a_product_is_captured(None, name)


def test_dropout_draws_anew_at_each_replay():
    x = vistorch.ones(1000, device="cuda")
    nn.functional.dropout(x, 0.5)
    g = cuda.CUDAGraph()
    with cuda.graph(g):
        y = nn.functional.dropout(x, 0.5)
    g.replay()
    first = y.tolist()
    g.replay()
    assert y.tolist() != first


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_a_whole_step_is_captured(kind):
    def losses(device, wrap):
        vistorch.manual_seed(0)
        net = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 36, 10)
        ).to(device)
        optimizer = getattr(vistorch.optim, kind)(net.parameters(), lr=0.01)

        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        call, rng = wrap(step), np.random.default_rng(1)
        found = []
        for _ in range(12):
            x = vistorch.tensor(rng.standard_normal((8, 1, 14, 14)).astype("f4")).to(device)
            found.append(call(x, vistorch.arange(8).to(device)).item())
        return found

    captured = losses("cuda", lambda step: vistorch.compile(step, mode="reduce-overhead"))
    assert np.allclose(captured, losses("cpu", lambda step: step), rtol=1e-3)


def _child(queue, back):
    x = queue.get()
    x.mul_(2)
    cuda.synchronize()
    back.put(float(x.sum().item()))
    back.put(x[1])
    back.get()


def test_two_processes_share_memory():
    context = multiprocessing.get_context("spawn")
    import vistorch.multiprocessing

    queue, back = context.Queue(), context.Queue()
    child = context.Process(target=_child, args=(queue, back))
    child.start()
    x = vistorch.arange(8.0, device="cuda").reshape(2, 4)
    queue.put(x)
    assert back.get(timeout=60) == 56.0
    assert x.tolist() == [[0, 2, 4, 6], [8, 10, 12, 14]]
    assert back.get(timeout=60).tolist() == [8, 10, 12, 14]
    child.terminate()
    child.join()
    assert device_memory.allocator is not None


def test_torch_and_dlpack():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU: torch has no CUDA here")
    x = vistorch.arange(4.0, device="cuda")
    theirs = torch.from_dlpack(x)
    theirs += 1
    torch.cuda.synchronize()
    assert x.tolist() == [1, 2, 3, 4]
    back = vistorch.from_dlpack(theirs * 2)
    assert back.device.type == "cuda" and back.tolist() == [2, 4, 6, 8]
