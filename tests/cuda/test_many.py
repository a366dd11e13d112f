"""Many arrays in one launch: gradients unscaled and looked at, their norm, their clipping."""

import numpy as np
import pytest

import vistorch
from vistorch.engine.kernels.cuda import many

torch = pytest.importorskip("torch")
SHAPES = (3, 5), (70,), (), (2, 0), (300, 300)


@pytest.fixture(autouse=True)
def gpu(strict_gpu, ran):
    """The stand-in, with a list of the kernels that ran."""
    many.tables.clear()
    yield ran
    many.tables.clear()


def parameters(lib, dtype="float32", bad=None, device=None):
    rng = np.random.default_rng(1)
    found = []
    for i, shape in enumerate(SHAPES):
        p = lib.zeros(
            shape, dtype=getattr(lib, dtype), device=device or ("cuda:0" if lib is vistorch else "cpu")
        )
        g = rng.standard_normal(shape) * 8
        if bad is not None and i == 4:
            g[123, 200] = bad
        p.requires_grad_()
        p.grad = lib.tensor(g).to(p.dtype).to(p.device)
        found.append(p)
    return found


def grads(params):
    return [p.grad.double().cpu().numpy() for p in params]


@pytest.mark.parametrize("bad", [None, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_unscaling(gpu, dtype, bad):
    """In one launch for each type; a step is left out where torch leaves it out."""
    found = []
    for lib in (vistorch, torch):
        params = parameters(lib, dtype, bad)
        optimizer = lib.optim.SGD(params, lr=1.0)
        scaler = lib.amp.GradScaler("cuda" if lib is vistorch else "cpu", init_scale=8.0, growth_interval=1)
        scaler.scale(params[0].sum())
        before = [p.grad._version for p in params]
        gpu.clear()
        scaler.unscale_(optimizer)
        if lib is vistorch:
            assert gpu.count("unscale") == 1
            assert all(p.grad._version == b + 1 for p, b in zip(params, before, strict=True))
        scaler.step(optimizer)
        scaler.update()
        found.append((grads(params), [p.detach().double().cpu().numpy() for p in params], scaler.get_scale()))
    (g, p, scale), (their_g, their_p, their_scale) = found
    assert scale == their_scale == (4.0 if bad is not None else 16.0)
    for a, b in zip((*g, *p), (*their_g, *their_p), strict=True):
        assert np.allclose(a, b, rtol=1e-2 if dtype == "bfloat16" else 1e-6, equal_nan=True)


def test_halves_are_refused(gpu):
    p = vistorch.zeros(3, device="cuda:0", dtype=vistorch.float16, requires_grad=True)
    p.grad = vistorch.ones(3, device="cuda:0", dtype=vistorch.float16)
    scaler = vistorch.amp.GradScaler("cuda")
    scaler.scale(p.sum())
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(vistorch.optim.SGD([p], lr=1.0))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_norm_and_the_clipping(gpu, dtype):
    mine, theirs = parameters(vistorch, dtype), parameters(torch, dtype)
    a = vistorch.nn.utils.clip_grad_norm_(mine, 2.0)
    b = torch.nn.utils.clip_grad_norm_(theirs, 2.0)
    assert np.isclose(a.item(), b.item(), rtol=1e-5)
    for x, y in zip(grads(mine), grads(theirs), strict=True):
        assert np.allclose(x, y, rtol=1e-5, atol=1e-7)
    assert (gpu.count("squares"), gpu.count("multiply")) == (1, 1)
    assert all(p.grad._version == 1 for p in mine)


def test_what_does_not_lie_flat_is_done_alone(gpu):
    p = vistorch.zeros(4, 3, device="cuda:0", requires_grad=True)
    p.grad = vistorch.full((3, 4), 2.0, device="cuda:0").t()
    vistorch.nn.utils.clip_grad_norm_([p], 1.0)
    assert np.isclose(np.linalg.norm(p.grad.cpu().numpy()), 1, rtol=1e-4)
    scaler = vistorch.amp.GradScaler("cuda", init_scale=2.0)
    scaler.scale(p.sum())
    before = p.grad.clone()
    scaler.unscale_(vistorch.optim.SGD([p], lr=1.0))
    assert vistorch.equal(p.grad * 2, before)
