"""Optimizers on a device: one launch for all parameters of a type, on the paths that torch takes."""

import numpy as np
import pytest

import vistorch
from tests.optim.records import RECORDS
from vistorch.engine.kernels.cuda import launch, many
from vistorch.optim import fused

torch = pytest.importorskip("torch")
CASES = [
    (name, options) for name, many in RECORDS.items() for options in many if "differentiable" not in options
]


@pytest.fixture(autouse=True)
def gpu(strict_gpu, ran):
    """The stand-in, with a list of the kernels that ran."""
    compiled = fused._compiled
    compiled.cache_clear()
    many.tables.clear()
    yield ran
    compiled.cache_clear()
    many.tables.clear()


def path(lib, name, options, dtype, device):
    rng = np.random.default_rng(3)
    kind = getattr(lib, dtype)
    params = [
        lib.tensor(rng.standard_normal(shape)).to(kind).to(device).requires_grad_()
        for shape in ((3, 5), (70,), (), (2, 0))
    ]
    optimizer = getattr(lib.optim, name)(params, lr=0.05, **options)
    for step in range(3):
        for p in params:
            p.grad = lib.tensor(rng.standard_normal(tuple(p.shape)) * (step + 1)).to(kind).to(device)
        optimizer.step()
    return [p.detach().double().cpu().numpy() for p in params]


@pytest.mark.parametrize("name, options", CASES, ids=[f"{n}-{i}" for i, (n, _) in enumerate(CASES)])
def test_paths(gpu, name, options):
    mine, theirs = (
        path(vistorch, name, options, "float64", "cuda:0"),
        path(torch, name, options, "float64", "cpu"),
    )
    for a, b in zip(mine, theirs, strict=True):
        assert np.allclose(a, b, rtol=1e-9, atol=1e-11)
    assert gpu.count("rule_step") == 3  # one for each step, whatever the number of parameters


def test_traced_rules_compile(gpu, compiler, monkeypatch):
    """What is written while the program runs, by NVRTC, for the oldest and the newest architecture."""
    texts = {}
    compiled = fused._compiled
    monkeypatch.setattr(fused, "_compiled", lambda text, dtype: texts.setdefault(text, compiled(text, dtype)))
    for name in RECORDS:
        path(vistorch, name, {}, "float32", "cuda:0")
    assert len(texts) >= len(RECORDS)
    for text in texts:
        assert compiler.compile(launch.around(text, "float32"), "sm_75") > 0
    assert compiler.compile(launch.around(text, "bfloat16"), "sm_100") > 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_narrow_types(gpu, dtype):
    """Computed in float and rounded once, as on the processor."""
    mine = path(vistorch, "Adam", {"eps": 1e-3}, dtype, "cuda:0")
    theirs = path(vistorch, "Adam", {"eps": 1e-3}, dtype, "cpu")
    for a, b in zip(mine, theirs, strict=True):
        assert np.allclose(a, b, rtol=2e-2 if dtype != "float32" else 1e-5, atol=1e-5)


def test_a_new_learning_rate_needs_no_new_kernel(gpu):
    p = vistorch.zeros(3, device="cuda:0", requires_grad=True)
    p.grad = vistorch.ones(3, device="cuda:0")
    optimizer = vistorch.optim.SGD([p], lr=0.5)
    before = p._version
    optimizer.step()
    optimizer.param_groups[0]["lr"] = 0.25
    optimizer.step()
    assert p.tolist() == [-0.75] * 3
    assert p._version == before + 2
    assert fused._compiled.cache_info().misses == 1


def test_what_does_not_lie_flat_runs_alone(gpu):
    a = vistorch.zeros(3, 4, device="cuda:0").t().requires_grad_()
    a.grad = vistorch.ones(4, 3, device="cuda:0")
    vistorch.optim.SGD([a], lr=1.0).step()
    assert a.tolist() == [[-1.0] * 3] * 4
    assert "rule_step" not in gpu
