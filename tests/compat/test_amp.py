"""Autocast regions and the gradient scaler: stories against torch on the CPU; on CUDA, simulated, by torch's lists."""

import functools
import inspect
import sys
import threading

import numpy as np
import pytest

import vistorch
from tests.story import story
from vistorch.amp import listed, lists, state
from vistorch.engine.base.casting import casting


@pytest.fixture
def cuda():
    before = vistorch.cuda.device_count()
    vistorch.cuda.simulate(1)
    yield "cuda"
    vistorch.cuda.simulate(before)


@story
def test_regions(L, report):
    x = L.arange(6.0).reshape(2, 3)
    w = L.ones(3, 2, requires_grad=True)
    with L.autocast("cpu") as region:
        report(region.device, region.fast_dtype, L.is_autocast_enabled("cpu"), L.get_autocast_dtype("cpu"))
        y = x @ w
        report(y, y.grad_fn.name(), y.grad_fn.next_functions[1][0].name())
        with L.autocast("cpu", enabled=False):
            report(L.is_autocast_enabled("cpu"), x @ w)
        with L.autocast("cpu", dtype=L.float16):
            # torch would find the parameter's bfloat16 cast here, and stumble over it
            report(x @ w.detach(), L.get_autocast_dtype("cpu"))
        report(x @ w)
        loss = L.nn.functional.mse_loss(y, L.ones(2, 2))
        report(loss)
    loss.backward()
    report(w.grad, x @ w, L.is_autocast_enabled("cpu"))


@story
def test_left_by_an_error(L, report):
    with pytest.raises(ZeroDivisionError), L.autocast("cpu"):
        raise ZeroDivisionError
    report(L.is_autocast_enabled("cpu"), L.ones(2, 2) @ L.ones(2, 2))


@story
def test_decorator(L, report):
    @L.autocast("cpu", dtype=L.bfloat16)
    def product(x):
        """Named."""
        return x @ x

    report(product(L.ones(2, 2)), product.__name__, product.__doc__)
    report.raises(lambda: L.autocast("cpu")(3))


@story
def test_refusals(L, report):
    report.raises(lambda: L.autocast(3))
    report.raises(lambda: L.autocast("cpu", L.bfloat16, False)(None))
    report.warns(lambda: L.autocast("cpu", dtype=L.float32))
    with L.autocast("cpu", enabled=False, dtype=L.float64):
        report(L.ones(1, 1) @ L.ones(1, 1))
    report.raises(lambda: L.amp.custom_fwd(device_type=3))


@story
def test_a_parameter_is_cast_once(L, report):
    w = L.ones(2, 2, requires_grad=True)
    with L.autocast("cpu"):
        a, b = w @ w, w @ w
        casts = {id(edge[0]) for y in (a, b) for edge in y.grad_fn.next_functions}
        report(len(casts))
        with L.no_grad():
            report((w @ w).requires_grad)
        (a + b).sum().backward()
    report(w.grad)


@story
def test_no_cast_without_history_is_kept(L, report):
    w = L.ones(2, 2, requires_grad=True)
    with L.autocast("cpu"):
        with L.no_grad():
            w @ w
        (w @ w).sum().backward()
    report(w.grad)


@story
def test_custom_function(L, report):
    class Double(L.autograd.Function):
        @staticmethod
        @L.amp.custom_fwd(device_type="cpu", cast_inputs=L.float32)
        def forward(ctx, x):
            report("inside", L.is_autocast_enabled("cpu"), x.dtype)
            return x * 2

        @staticmethod
        @L.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            report("back", L.is_autocast_enabled("cpu"), g.dtype)
            return g * 2

    x = L.ones(2, dtype=L.bfloat16, requires_grad=True)
    with L.autocast("cpu"):
        y = Double.apply(x)
        report(y)
    y.sum().backward()
    report(x.grad)
    report(Double.apply(x))


@story
def test_scaler(L, report):
    w = L.tensor([1.0, 2.0], requires_grad=True)
    optimizer = L.optim.SGD([w], lr=0.5)
    scaler = L.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
    report(scaler.get_scale(), scaler.state_dict(), scaler.is_enabled())
    for step in range(5):
        optimizer.zero_grad()
        loss = (w * w).sum()
        scaler.scale(loss).backward()
        if step == 2:
            w.grad[0] = float("inf")
        if step == 3:
            scaler.unscale_(optimizer)
            report(w.grad)
        scaler.step(optimizer)
        scaler.update()
        report(w, scaler.get_scale(), scaler.state_dict())
    other = L.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    report(other.state_dict(), other.scale([L.ones(1), (L.ones(2),)]))
    scaler.update(8.0)
    report(
        scaler.get_scale(),
        scaler.get_growth_factor(),
        scaler.get_backoff_factor(),
        scaler.get_growth_interval(),
    )


@story
def test_scaler_refusals(L, report):
    scaler = L.amp.GradScaler("cpu")
    w = L.ones(1, requires_grad=True)
    optimizer = L.optim.SGD([w], lr=0.1)
    report.raises(lambda: scaler.step(optimizer))
    report.raises(lambda: scaler.update())
    report.raises(lambda: scaler.scale(3))
    report.raises(lambda: scaler.load_state_dict({}))
    report.raises(lambda: L.amp.GradScaler("cpu", growth_factor=1.0))
    report.raises(lambda: L.amp.GradScaler("cpu", backoff_factor=1.0))
    scaler.scale(w.sum()).backward()
    report.raises(lambda: scaler.update())
    scaler.unscale_(optimizer)
    report.raises(lambda: scaler.unscale_(optimizer))
    scaler.step(optimizer)
    report.raises(lambda: scaler.step(optimizer))
    report.raises(lambda: scaler.unscale_(optimizer))
    report.raises(lambda: scaler.step(optimizer, closure=lambda: 1))
    off = L.amp.GradScaler("cpu", enabled=False)
    report(off.scale(3), off.get_scale(), off.state_dict())


@story
def test_fused_optimizers(L, report):
    for fused in (False, True):
        w = L.tensor([1.0, 2.0], requires_grad=True)
        optimizer = L.optim.SGD([w], lr=0.5, fused=fused)
        scaler = L.amp.GradScaler("cpu", init_scale=4.0)
        for bad in (False, True):
            optimizer.zero_grad()
            scaler.scale((w * w).sum()).backward()
            if bad:
                w.grad[0] = float("nan")
            scaler.step(optimizer)
            scaler.update()
            report(w, scaler.get_scale())


def test_functions_stay_what_they_are():
    matmul = vistorch.matmul
    own, signature = matmul.__code__, inspect.signature(matmul)
    with vistorch.autocast("cpu"):
        assert vistorch.matmul is matmul and matmul.__code__ is own and inspect.signature(matmul) == signature
        assert matmul(vistorch.ones(1, 1), vistorch.ones(1, 1)).dtype is vistorch.bfloat16
    assert state._open == [0] and casting.on is None


def some_arguments(function):
    """Arguments of the right number, which a function that asks first never looks at."""
    x = vistorch.ones(1, dtype=vistorch.float16)  # the kind that leaves the fast path of a pointwise function
    kinds = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    args = [x for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    return args, {p.name: x for p in kinds if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize("function", listed.listed(), ids=lambda function: function.__qualname__)
def test_every_listed_function_asks_by_its_own_name(function, monkeypatch):
    args, kwargs = some_arguments(function)
    asked = []

    def on(who, given):
        asked.append((who, listed._arguments(who, given)))
        return ("answer",)

    monkeypatch.setattr(casting, "on", on)
    assert function(*args, **kwargs) == "answer"
    assert asked[0][0] is function
    bound = inspect.signature(function).bind(*asked[0][1][0], **asked[0][1][1])
    plain = inspect.signature(function).bind(*args, **kwargs)
    plain.apply_defaults()
    bound.apply_defaults()
    assert str(bound) == str(plain)


def test_fast_paths_that_do_not_ask_are_never_cast_on_the_cpu():
    pointwise = [f for f in listed.listed() if f.__code__.co_filename.endswith("pointwise.py")]
    assert len(pointwise) > 10
    assert {device for f in pointwise for device, _ in listed.listed()[f]} == {"cuda"}


def test_every_form_of_a_function_casts():
    x, held = vistorch.ones(2, 2), vistorch.matmul
    forms = [
        lambda: held(x, x),
        lambda: vistorch.matmul(x, other=x),
        lambda: x.matmul(x),
        lambda: x @ x,
        lambda: x.__rmatmul__(x),
        lambda: functools.partial(held, x)(x),
        lambda: vistorch.nn.functional.linear(x, x),
        lambda: vistorch.nn.Linear(2, 2)(x),
    ]
    with vistorch.autocast("cpu"):
        assert {form().dtype for form in forms} == {vistorch.bfloat16}
        assert vistorch.matmul(x, x, out=vistorch.empty(2, 2)).dtype is vistorch.float32


def test_a_profiler_sees_the_functions_own_code():
    seen = set()
    x = vistorch.ones(2, 2)

    def profile(frame, event, arg):
        if frame.f_code.co_name == "matmul":
            seen.add(frame.f_code)

    with vistorch.autocast("cpu"):
        sys.setprofile(profile)
        try:
            vistorch.matmul(x, x)
        finally:
            sys.setprofile(None)
    assert seen == {vistorch.matmul.__code__}


def test_other_threads_do_not_cast():
    found = []
    with vistorch.autocast("cpu"):
        x = vistorch.ones(2, 2)
        worker = threading.Thread(target=lambda: found.append((x @ x).dtype))
        worker.start()
        worker.join()
        assert (x @ x).dtype is vistorch.bfloat16
    assert found == [vistorch.float32]


def test_every_listed_name_is_a_function():
    assert vistorch.nn.functional  # it is opened when it is asked for
    assert not sorted(name for name in lists.rules() if not listed.functions(name))


@pytest.mark.parametrize("name", ["exp", "log", "pow", "softmax", "sum", "cumsum", "prod", "norm"])
def test_full_on_cuda(cuda, name):
    x = vistorch.ones(2, 2, dtype=vistorch.float16, device=cuda) * 3
    more = {"pow": (2,), "softmax": (0,), "cumsum": (0,)}.get(name, ())
    with vistorch.autocast("cuda"):
        assert getattr(vistorch, name)(x, *more).dtype is vistorch.float32
        here = x.cpu()
        assert getattr(vistorch, name)(here, *more).dtype is getattr(vistorch, name)(here, *more).dtype
    assert getattr(vistorch, name)(x, *more).dtype is vistorch.float16


def test_a_step_of_training_on_cuda(cuda):
    nn, F = vistorch.nn, vistorch.nn.functional
    vistorch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)
    ).to(cuda)
    optimizer = vistorch.optim.SGD(model.parameters(), lr=0.1)
    scaler = vistorch.amp.GradScaler("cuda", init_scale=1024.0)
    x, y = vistorch.randn(8, 1, 6, 6, device=cuda), vistorch.arange(8, device=cuda) % 3
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        with vistorch.autocast("cuda"):
            out = model(x)
            loss = F.cross_entropy(out, y)
        assert out.dtype is vistorch.float16 and loss.dtype is vistorch.float32
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert all(p.dtype is vistorch.float32 and p.grad.dtype is vistorch.float32 for p in model.parameters())
    assert losses[-1] < 0.3 * losses[0]


def test_unsafe_and_widest_on_cuda(cuda):
    half = vistorch.full((2,), 0.5, dtype=vistorch.float16, device=cuda)
    full = vistorch.full((2,), 0.5, device=cuda)
    with vistorch.autocast("cuda"):
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            vistorch.nn.functional.binary_cross_entropy(full, full)
        assert vistorch.cat([half, full]).dtype is vistorch.float32
        assert vistorch.cat([half, half]).dtype is vistorch.float16
        assert vistorch.dot(half, full).dtype is vistorch.float32
        assert (half.sum(dtype=vistorch.float64)).dtype is vistorch.float64
    np.testing.assert_allclose(vistorch.cat([half, full]).cpu().numpy(), 0.5)
