"""Convolution by cuDNN's graphs, over a stand-in that computes what it is asked for."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import vistorch
from tests.cuda import frontend
from tests.cuda.test_own_kernels import TOLERANCE, both, close, numbers
from vistorch.engine.kernels.cuda import convolution
from vistorch.engine.kernels.cuda.settings import settings

torch = pytest.importorskip("torch")
F = vistorch.nn.functional


def forget():
    convolution.frontend.cache_clear()
    convolution.plan.cache_clear()
    convolution._timed.clear()
    convolution._handles.clear()


@pytest.fixture
def cudnn(strict_gpu, monkeypatch):
    """The stand-in in cuDNN's place."""
    made = frontend.make()
    monkeypatch.setitem(sys.modules, "cudnn", made)
    forget()
    yield made
    forget()


SHAPES = {  # input, weight, stride, padding, dilation, groups
    "1d": ((2, 3, 11), (4, 3, 3), 2, 1, 1, 1),
    "2d": ((2, 3, 9, 8), (5, 3, 3, 2), (2, 1), (1, 0), 1, 1),
    "3d": ((1, 2, 5, 6, 4), (3, 2, 2, 3, 2), 1, 1, 1, 1),
    "dilated": ((2, 2, 12, 12), (3, 2, 3, 3), 1, 2, 2, 1),
    "groups": ((2, 6, 7, 7), (9, 2, 3, 3), 1, 1, 1, 3),
    "depthwise": ((2, 4, 7, 7), (4, 1, 3, 3), 1, 1, 1, 4),
    "point": ((2, 4, 5, 5), (6, 4, 1, 1), 1, 0, 1, 1),
    "left over": ((1, 2, 10, 9), (3, 2, 3, 3), 3, 0, 1, 1),
}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", SHAPES)
def test_forward_and_gradients(cudnn, name, dtype):
    x, w, *rest = SHAPES[name]
    dims = len(x) - 2
    arrays = numbers(*x), numbers(*w, seed=1), numbers(w[0], seed=2)

    def build(lib, f, x, w, b):
        return getattr(f, f"conv{dims}d")(x, w, b, *rest)

    close(both(build, *arrays, dtype=dtype), dtype)
    assert {g.kind for g in cudnn.graphs} == {"forward", "input", "weight"}
    if dtype in ("float32", "float64"):
        kind = {"float32": "FLOAT", "float64": "DOUBLE"}[dtype]
        assert {g.options["io_data_type"] for g in cudnn.graphs} == {kind}
    forward = next(g for g in cudnn.graphs if g.kind == "forward")
    assert forward.added is not None and forward.steps.count("execute") == 1
    wanted = {"float16": "HALF", "bfloat16": "BFLOAT16", "float32": "FLOAT", "float64": "DOUBLE"}[dtype]
    assert forward.options["io_data_type"] == wanted
    assert forward.options["compute_data_type"] == ("DOUBLE" if dtype == "float64" else "FLOAT")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_transposed(cudnn, dtype):
    arrays = numbers(2, 4, 6, 5), numbers(4, 3, 3, 3, seed=1), numbers(3, seed=2)

    def build(lib, f, x, w, b):
        return f.conv_transpose2d(x, w, b, 2, 1, 1)

    close(both(build, *arrays, dtype=dtype), dtype)
    assert cudnn.graphs[0].kind == "input"


def test_twice_differentiated(cudnn):
    found = []
    for lib, device in ((vistorch, "cuda:0"), (torch, "cpu")):
        x, w = (
            lib.tensor(a).to(device).requires_grad_()
            for a in (numbers(1, 2, 5, 5), numbers(3, 2, 3, 3, seed=1))
        )
        y = lib.nn.functional.conv2d(x, w, padding=1)
        (g,) = lib.autograd.grad((y * y).sum(), x, create_graph=True)
        (h,) = lib.autograd.grad((g * g).sum(), w)
        found.append(h.cpu().numpy())
    assert np.allclose(*found, rtol=1e-9)


def test_channels_last_stay_last(cudnn):
    x = vistorch.tensor(numbers(2, 3, 6, 5)).float().to("cuda:0").to(memory_format=vistorch.channels_last)
    w = vistorch.tensor(numbers(4, 3, 3, 3, seed=1)).float().to("cuda:0")
    y = F.conv2d(x, w)
    assert y.is_contiguous(memory_format=vistorch.channels_last)
    assert np.allclose(y.cpu().numpy(), F.conv2d(x.cpu(), w.cpu()).numpy(), atol=1e-4)
    forward = cudnn.graphs[-1]
    assert all(t.about["stride"][1] == 1 for t in forward.tensors)


def test_plans_are_kept(cudnn):
    x, w = vistorch.ones(2, 3, 6, 6, device="cuda:0"), vistorch.ones(4, 3, 3, 3, device="cuda:0")
    for _ in range(3):
        F.conv2d(x, w)
    assert len(cudnn.graphs) == 1
    assert cudnn.graphs[0].steps.count("execute") == 3
    F.conv2d(x, w, padding=1)
    F.conv2d(x.double(), w.double())
    assert len(cudnn.graphs) == 3


def test_settings_choose_the_ways(cudnn, monkeypatch):
    flags = vistorch.backends.cudnn
    x, w = vistorch.ones(2, 3, 6, 6, device="cuda:0"), vistorch.ones(4, 3, 3, 3, device="cuda:0")

    def steps(data=x, weight=w):
        F.conv2d(data, weight)
        return cudnn.graphs[-1].steps

    assert not [s for s in steps() if s[0] == "without"]
    assert ("build", "HEURISTICS_CHOICE") in steps()
    monkeypatch.setattr(flags, "allow_tf32", False)
    assert ("without", "DOWN_CONVERT_INPUTS") in steps()
    assert not [s for s in steps(x.double(), w.double()) if s[0] == "without"]
    monkeypatch.setattr(flags, "deterministic", True)
    assert ("without", "NONDETERMINISTIC", "DOWN_CONVERT_INPUTS") in steps()
    monkeypatch.setattr(flags, "deterministic", False)
    vistorch.use_deterministic_algorithms(True)
    try:
        assert settings.options()[1]
    finally:
        vistorch.use_deterministic_algorithms(False)
    made = len(cudnn.graphs)
    monkeypatch.setattr(flags, "enabled", False)
    F.conv2d(x, w, padding=2)
    assert len(cudnn.graphs) == made
    assert settings.convolution is flags


def test_all_ways_are_timed_once(cudnn, monkeypatch):
    """Each a few times on the first call; the quickest stays."""
    times = iter([3.0, 1.0, 2.0])
    monkeypatch.setattr(sys.modules["cupy"].cuda, "get_elapsed_time", lambda start, end: next(times))
    monkeypatch.setattr(vistorch.backends.cudnn, "benchmark", True)
    x, w = vistorch.ones(2, 3, 6, 6, device="cuda:0"), vistorch.ones(4, 3, 3, 3, device="cuda:0")
    for _ in range(2):
        F.conv2d(x, w)
    (graph,) = cudnn.graphs
    assert ("build", "ALL") in graph.steps
    assert graph.chosen == 1
    assert graph.steps.count("execute") == 3 * (1 + convolution.REPEATS) + 2


def test_what_cudnn_has_no_way_for_goes_the_plain_way(cudnn, monkeypatch):
    cudnn.refuses = lambda graph: True
    for dtype in ("float32", "bfloat16"):
        close(
            both(lambda lib, f, x, w: f.conv2d(x, w), numbers(1, 2, 5, 5), numbers(3, 2, 3, 3), dtype=dtype),
            dtype,
        )
    assert not any("execute" in g.steps for g in cudnn.graphs)
    made = len(cudnn.graphs)
    assert (
        F.conv2d(
            vistorch.zeros(0, 2, 5, 5, device="cuda:0"), vistorch.ones(3, 2, 3, 3, device="cuda:0")
        ).shape[0]
        == 0
    )
    assert len(cudnn.graphs) == made


def test_a_bias_that_has_no_way_in_a_plan_is_added(cudnn):
    """The plan without it is made once, and both are kept."""
    cudnn.refuses = lambda graph: graph.added is not None
    arrays = numbers(1, 2, 5, 5), numbers(3, 2, 3, 3, seed=1), numbers(3, seed=2)
    for _ in range(2):
        close(both(lambda lib, f, x, w, b: f.conv2d(x, w, b), *arrays, dtype="float32"), "float32")
    forward = [g for g in cudnn.graphs if g.kind == "forward"]
    assert [g.added is None for g in forward] == [False, True]
    assert forward[1].steps.count("execute") == 2
    x, w, b = (vistorch.tensor(a).to("cuda:0") for a in arrays)
    y = F.conv2d(x.half(), w.half(), b.half())
    assert y.dtype == vistorch.float16


def test_memory_may_begin_at_any_element(cudnn):
    """A plan is made for memory that begins at a multiple of 16 bytes: other arrays are copied."""
    shapes = (1, 2, 5, 5), (3, 2, 3, 3), (3,)
    found = []
    for lead in (0, 1):
        held = []
        for i, shape in enumerate(shapes):
            size = int(np.prod(shape))
            memory = vistorch.zeros(size + 4, device="cuda:0")
            t = memory[lead : lead + size].view(shape)
            t.copy_(vistorch.tensor(numbers(*shape, seed=i)))
            held.append(t.requires_grad_())
        y = F.conv2d(*held)
        g = vistorch.zeros(y.numel() + 4, device="cuda:0")[lead : lead + y.numel()].view(y.shape)
        y.backward(g.copy_(y.detach()))
        found.append([t.tolist() for t in (y, *(t.grad for t in held))])
    assert found[0] == found[1]
    assert {g.kind for g in cudnn.graphs} == {"forward", "input", "weight"}


def test_a_bias_with_gaps(cudnn):
    arrays = numbers(1, 2, 5, 5), numbers(3, 2, 3, 3, seed=1), numbers(3, 2, seed=2)
    close(both(lambda lib, f, x, w, b: f.conv2d(x, w, b[:, 1]), *arrays, dtype="float32"), "float32")


def test_without_cudnn(strict_gpu, monkeypatch):
    """Nothing is asked twice, and products do the work."""
    forget()
    monkeypatch.setitem(sys.modules, "cudnn", None)
    assert convolution.frontend() is None
    assert vistorch.backends.cudnn.version() is None
    for dtype in ("float16", "float32"):
        close(
            both(lambda lib, f, x, w: f.conv2d(x, w), numbers(1, 2, 5, 5), numbers(3, 2, 3, 3), dtype=dtype),
            dtype,
        )
    forget()


@pytest.mark.parametrize("kind", ["forward", "input", "weight"])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("dtype", convolution.NAMES)
@pytest.mark.parametrize("shifted", [False, True])
def test_the_real_frontend_takes_the_graphs(kind, dims, dtype, shifted):
    """It checks them without a GPU."""
    cudnn = pytest.importorskip("cudnn", reason="needs a GPU: nvidia-cudnn-frontend is not installed")
    sizes = (9, 8, 7)[:dims]
    shapes = (2, 4, *sizes), (6, 2, *([3] * dims)), (2, 6, *sizes)
    for last in (False, True) if dims > 1 else (False,):
        laid = [convolution._laid(shape, last) for shape in shapes]
        ones = (1,) * max(dims, 2)
        pad = (0, 1) if dims == 1 else (1,) * dims
        work = convolution.Work(kind, 0, dtype, *laid, (ones, pad, ones), (True, False, False), shifted)
        graph = convolution.graph_of(cudnn, work, None)
        graph.validate()
        assert len(graph.nodes) == 1 + (shifted and kind == "forward")


# ---- TF32 ----------------------------------------------------------------------------------------------------------
def test_tf32_of_products_has_one_switch():
    matmul = vistorch.backends.cuda.matmul
    try:
        assert (matmul.allow_tf32, matmul.fp32_precision) == (False, "none")
        vistorch.set_float32_matmul_precision("medium")
        assert (matmul.allow_tf32, matmul.fp32_precision) == (True, "tf32")
        matmul.allow_tf32 = False
        assert vistorch.get_float32_matmul_precision() == "highest"
        matmul.allow_tf32 = True
        assert vistorch.get_float32_matmul_precision() == "high"
        matmul.fp32_precision = "ieee"
        assert not matmul.allow_tf32
    finally:
        vistorch.set_float32_matmul_precision("highest")


def test_cupy_follows_the_switch(strict_gpu, monkeypatch):
    class Kinds:
        COMPUTE_TYPE_DEFAULT, COMPUTE_TYPE_TF32 = 0, 6

    class Core:
        _routines_linalg = Kinds

        def __init__(self):
            self.seen = []

        def set_compute_type(self, dtype, kind):
            self.seen.append((np.dtype(dtype), kind))

    core = Core()
    monkeypatch.setattr(sys.modules["cupy"], "_core", core, raising=False)
    try:
        vistorch.backends.cuda.matmul.allow_tf32 = True
    finally:
        vistorch.backends.cuda.matmul.allow_tf32 = False
    assert core.seen == [(np.dtype("f4"), 6), (np.dtype("f4"), 0)]
