"""What only a real GPU can show: moving, streams, memory, and the numbers of the cupy kernels."""

import importlib
import math

import numpy as np
import pytest

import vistorch
from vistorch import cuda
from vistorch.engine.memory.placement import CPU, array_place, move, place_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def gpu(clean):
    """Skip with the reason the diagnosis gives; a kernel may need its libraries, so those count too."""
    if not cuda.is_available():
        pytest.skip(f"needs a GPU: {cuda.diagnose().reason}")
    return place_of("cuda:0")


@pytest.mark.parametrize("kind", ["c", "f", "permuted", "strided", "expanded", "0-d", "empty"])
def test_round_trip(gpu, kind):
    base = np.arange(24.0).reshape(2, 3, 4)
    array = {
        "c": base,
        "f": np.asfortranarray(base),
        "permuted": base.transpose(1, 2, 0),
        "strided": base[:, ::2, ::-1],
        "expanded": np.broadcast_to(np.arange(4.0), (2, 3, 4)),
        "0-d": np.array(3.0),
        "empty": np.zeros((0, 3)),
    }[kind]
    there = move(array, CPU, gpu, non_blocking=True)
    assert array_place(there) is gpu
    again = move(there, gpu, gpu, copy=True)
    assert again.data.ptr != there.data.ptr or array.size == 0
    back = move(again, gpu, CPU)
    assert np.array_equal(back, array)
    if kind in ("c", "f", "permuted"):
        assert there.strides == back.strides == array.strides


@pytest.mark.multi_gpu
def test_between_gpus(gpu):
    if cuda.device_count() < 2:
        pytest.skip("needs several GPUs: 1 here")
    other = place_of("cuda:1")
    array = np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)
    over = move(move(array, CPU, gpu), gpu, other)
    assert array_place(over) is other
    assert over.strides == array.strides
    assert np.array_equal(move(over, other, CPU), array)
    kernels = importlib.import_module("vistorch.engine.kernels.cupy_")
    assert array_place(kernels.guard(kernels.overrides["sigmoid"])(over)) is other
    assert cuda.current_device() == 0


REFERENCES = {
    "digamma": torch.digamma,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "erfinv": lambda x: torch.erfinv(x / 4),
    "lgamma": torch.lgamma,
    "sigmoid": torch.sigmoid,
    "log_sigmoid": torch.nn.functional.logsigmoid,
    "softplus": lambda x: torch.nn.functional.softplus(x, 2.0, 5.0),
    "silu": torch.nn.functional.silu,
    "mish": torch.nn.functional.mish,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}
TOLERANCE = {"float16": 2e-3, "float32": 3e-6, "float64": 1e-12}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", REFERENCES)
def test_kernels_against_double(gpu, name, dtype):
    kernels = importlib.import_module("vistorch.engine.kernels.cupy_")
    x = np.linspace(-3.9, 3.9, 401).astype(dtype)
    scalars = (2.0, 5.0) if name == "softplus" else ()
    given = x / 4 if name == "erfinv" else x
    out = move(kernels.overrides[name](move(given, CPU, gpu), *scalars), gpu, CPU)
    assert out.dtype == x.dtype
    expected = REFERENCES[name](torch.tensor(x.astype("f8"))).numpy()
    if name in ("digamma", "lgamma"):  # near a pole a rounding of x counts more than the function's
        keep = x > 0.5
        out, expected = out[keep], expected[keep]
    assert np.allclose(out.astype("f8"), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["sigmoid", "log_sigmoid", "softplus", "silu", "mish", "gelu", "gelu_tanh"])
def test_kernels_at_the_ends(gpu, name):
    kernels = importlib.import_module("vistorch.engine.kernels.cupy_")
    x = np.array([1e30, math.inf, math.nan, -80.0, -0.0])
    scalars = (2.0, 5.0) if name == "softplus" else ()
    out = move(kernels.overrides[name](move(x, CPU, gpu), *scalars), gpu, CPU)
    expected = REFERENCES[name](torch.tensor(x)).numpy()
    assert np.allclose(out, expected, rtol=1e-12, atol=1e-30, equal_nan=True)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_polygamma(gpu, n):
    kernels = importlib.import_module("vistorch.engine.kernels.cupy_")
    x = np.linspace(0.5, 8, 50)
    out = move(kernels.polygamma_at(move(x, CPU, gpu), n), gpu, CPU)
    assert np.allclose(out, torch.polygamma(n, torch.tensor(x)).numpy(), rtol=1e-10)


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8"]
)
def test_scattered_addition(gpu, dtype):
    rng = np.random.default_rng(0)
    x, source = rng.integers(0, 20, (4, 3, 5)), rng.integers(0, 9, (4, 4, 5))
    index, grid = np.array([2, 0, 2, 1]), rng.integers(0, 3, (2, 3, 4))

    def both(lib, device):
        a, b = (lib.tensor(v).to(getattr(lib, dtype)).to(device) for v in (x, source))
        i, j = (lib.tensor(v).to(device) for v in (index, grid))
        turned = a.transpose(0, 1)
        outs = turned.index_add(1, i, b.transpose(0, 1)[:3]), a.scatter_add(0, j, b)
        return [out.cpu().double().tolist() for out in outs]

    assert both(vistorch, "cuda:0") == both(torch, "cpu")


def test_every_kind_of_kernel_once(gpu):
    """A first look at a new machine: one op of each family, forward and backward, against torch on the CPU."""
    x = np.linspace(-0.9, 1.4, 12).reshape(3, 4)

    def run(lib, device):
        a = lib.tensor(x).to(device).requires_grad_()
        square = a @ a.transpose(0, 1) + 3 * lib.eye(3, dtype=lib.float64).to(device)
        parts = [
            (a.sigmoid() * a.exp()).sum(0),
            a.sort(1)[0].cumsum(0).max(1)[0],
            lib.linalg.solve(square, a).logsumexp(1),
            lib.linalg.svdvals(square),
            lib.fft.rfft(a).abs().sum(1),
            a[:, [0, 0, 2]].prod(1),
            lib.where(a > 0, a, a * a).std(1),
            a.as_strided((3, 3), (2, 1)).erf().mean(1),
        ]
        lib.cat(parts).sum().backward()
        return [p.detach().cpu().tolist() for p in parts], a.grad.cpu().tolist()

    (mine, grad), (theirs, expected) = run(vistorch, "cuda:0"), run(torch, "cpu")
    for a, b in zip(mine, theirs, strict=True):
        assert np.allclose(a, b, rtol=1e-9)
    assert np.allclose(grad, expected, rtol=1e-8)


def test_memory_and_events(gpu):
    cuda.reset_peak_memory_stats()
    before = cuda.memory_allocated()
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    stream = cuda.Stream()
    with cuda.stream(stream):
        start.record()
        array = move(np.zeros(2**20), CPU, gpu)
        end.record()
    cuda.current_stream().wait_stream(stream)
    cuda.synchronize()
    assert start.elapsed_time(end) > 0
    assert cuda.memory_allocated() >= before + array.nbytes
    assert cuda.max_memory_allocated() >= before + array.nbytes
    del array
    assert cuda.memory_allocated() == before
    free, total = cuda.mem_get_info()
    assert 0 < free < total == cuda.get_device_properties().total_memory


def test_simulating_is_refused(gpu):
    with pytest.raises(RuntimeError, match="real CUDA devices are in use"):
        cuda.simulate(2)


@pytest.mark.parametrize("size", [40, 900])
def test_what_is_seen_of_a_card_is_what_is_seen_of_the_host(gpu, size, monkeypatch):
    from tests.cuda.test_seen import alike
    from vistorch.debug import Stepper, device_reads
    from vistorch.debug.array import record, strip
    from vistorch.debug.steps import record as steps
    from vistorch.debug.variables import survey

    crossed = []
    bring = device_reads._bring
    monkeypatch.setattr(
        device_reads, "_bring", lambda place, parts: crossed.append(len(parts)) or bring(place, parts)
    )
    values = np.random.default_rng(0).standard_normal((size, size)).astype("f4")
    values[3, 5], values[7, 1] = np.nan, -40

    def pictures(device):
        x = vistorch.tensor(values, device=device)
        clean_x = vistorch.tensor(np.nan_to_num(values), device=device).requires_grad_()
        loss = (clean_x * clean_x).sum()
        yield lambda: record(x).items[0].layers[0].stats
        yield lambda: strip({"a": x, "b": x[0], "c": x > 0}).wire()["says"]
        yield lambda: survey({"a": x, "b": x[0], "s": x[0, 0]}, seconds=60).wire()
        yield lambda: [frame["says"] for frame in steps(Stepper(loss)).frames]

    for here, there in zip(pictures("cpu"), pictures("cuda"), strict=True):
        expected = here()
        crossed.clear()
        found = there()
        assert 1 <= len(crossed) <= 2
        if hasattr(found, "count"):
            assert (found.count, found.nan, found.min, found.max) == (
                expected.count,
                expected.nan,
                expected.min,
                expected.max,
            )
            assert found.mean == pytest.approx(expected.mean, rel=1e-6)
        elif isinstance(found, dict):
            alike(found, expected, rel=1e-4)
        else:
            assert found == expected or size > 40  # the last digit of a norm may differ
