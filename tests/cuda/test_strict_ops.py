"""Every record on the real CUDA path, over a cupy that refuses what the real one refuses: values and gradients.

Nothing here says that a GPU computes right; it says that what is asked of cupy is cupy's.
"""

import numpy as np
import pytest

from tests.ops.cases import dtypes_of, gradient_dtypes
from tests.ops.gradients import is_recorded, noise
from tests.ops.library import (
    L,
    Report,
    attempt,
    build,
    close,
    describe,
    dtype_name,
    mismatch,
    numpy_of,
    prepare,
    run,
    tensors_of,
    torch,
)
from tests.ops.record import Op, Sample
from tests.ops.samples import for_each
from vistorch.engine.core import rules
from vistorch.engine.random import device_generator

PLACE = "cuda:0"
# torch wants these indices on the CPU; `type()` says where a tensor is.
ON_THE_HOST = ("tensor_split", "Tensor.type", "random")


def there(index: int) -> str:
    """Every tensor is on the device."""
    return PLACE


TAKEN: list[int] = []


@pytest.fixture(autouse=True)
def draws_are_counted(monkeypatch) -> None:
    """What draws gives PyTorch's numbers of a card, not those of the CPU: it is compared but for its values."""
    take = device_generator.Counter.take

    def counted(self, words: int) -> tuple[int, int, int]:
        TAKEN.append(words)
        return take(self, words)

    monkeypatch.setattr(device_generator.Counter, "take", counted)


def gauged(op: Op, lib, value):
    """A result, made unique where it is defined only up to a factor."""
    return value if op.gauge is None else op.gauge(lib, value)


def gradients(op: Op, lib, sample: Sample, create_graph: bool = False) -> list | None:
    """The gradients of all inputs, None where nothing of the result is recorded."""
    call = prepare(lib, sample, "float64", needs_grad=True, devices=there if lib is L else None)
    outcome = run(op, call)
    if outcome.error is not None:
        if lib is L:
            raise outcome.error
        return None
    outs = [o for o in tensors_of(gauged(op, lib, outcome.value), lib) if is_recorded(o)]
    if not outs or not call.grads:
        return None
    downstream = []
    for i, o in enumerate(outs):
        dtype = dtype_name(o.dtype)
        device = str(o.device) if lib is L else None
        downstream.append(build(lib, noise(o.shape, dtype, 31 + i), dtype, device=device))
    return list(lib.autograd.grad(outs, call.grads, downstream, create_graph=create_graph, allow_unused=True))


def compare_gradients(op: Op, sample: Sample) -> str:
    """Raw and recorded gradients against torch's."""
    expected = attempt(gradients, op, torch, sample)
    if expected.error is not None or expected.value is None:
        return ""
    for create_graph in (False, True):
        before = len(TAKEN)
        got = attempt(gradients, op, L, sample, create_graph)
        compared = len(TAKEN) == before
        if got.error is not None:
            return f"create_graph={create_graph}: {describe(got)}"
        for a, b in zip(got.value, expected.value, strict=True):
            if (a is None) != (b is None):
                return f"create_graph={create_graph}: a gradient is missing"
            if a is not None and compared and not close(numpy_of(a), numpy_of(b), "float64", op):
                return f"create_graph={create_graph}: {a}, torch has {b}"
    return ""


@for_each("strict", lambda op: op.name not in ON_THE_HOST and any(sample.xs() for sample in op.samples))
def test_what_is_asked_of_cupy(op: Op, strict_gpu) -> None:
    """Forward in float32, float64 and int64; gradients, raw and recorded, in float64."""
    report = Report(op)
    for sample in op.samples:
        for dtype in [d for d in ("float32", "float64", "int64") if d in dtypes_of(op, sample)]:
            theirs = run(op, prepare(torch, sample, dtype))
            if theirs.error is not None:
                continue
            before = len(TAKEN)
            mine = run(op, prepare(L, sample, dtype, devices=there))
            compared = op.values and len(TAKEN) == before
            message = describe(mine) if mine.error else ""
            if not message:
                values = (gauged(op, L, mine.value), gauged(op, torch, theirs.value))
                message = mismatch(op, *values, compared)
            report.add(message, sample, dtype)
        if "float64" in gradient_dtypes(op, sample):
            report.add(compare_gradients(op, sample), sample, "gradient")
    report.finish(0)


def test_the_rows_are_bound_before_the_first_op(strict_gpu) -> None:
    """All of them, when the place is made."""
    assert all(rule.kernels[1] is not None for rule in rules.TABLE.values())
    assert set(rules.TABLE) <= set(vars(rules.RAW[1]))


def test_printing_and_numbers(strict_gpu) -> None:
    """Text, numbers and lists come from one copy to the host each."""
    x = L.arange(6.0).reshape(2, 3).to(PLACE)
    assert repr(x) == repr(x.cpu())[:-1] + ", device='cuda:0')"
    assert repr(L.zeros(2000, device=PLACE)).startswith("tensor([0., 0., 0.,  ..., 0., 0., 0.]")
    assert (x[1, 2].item(), x.tolist()[0], float(x.sum()), bool((x > 4).any())) == (
        5.0,
        [0, 1, 2],
        15.0,
        True,
    )
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        x.numpy()


def test_training_and_writing_in_place(strict_gpu) -> None:
    """A leaf's step, a view written in place, accumulation and a half type."""
    for dtype in (L.float32, L.bfloat16):
        w = L.ones(3, 4, device=PLACE, dtype=dtype).requires_grad_()
        x = L.ones(2, 3, device=PLACE, dtype=dtype)
        for _ in range(2):
            y = x @ w
            y[0].mul_(2)
            y.sum().backward()
        assert w.grad.device == L.device(PLACE)
        assert w.grad.float().tolist() == [[6.0] * 4] * 3
        with L.no_grad():
            w -= 0.5 * w.grad
        assert w.float().tolist() == [[-2.0] * 4] * 3


@pytest.mark.parametrize("make", [np.add, np.sum, np.asarray, np.shares_memory])
def test_the_stand_in_refuses_numpy(strict_gpu, make) -> None:
    """So that a kernel bound to numpy cannot pass."""
    a = strict_gpu.xp.asarray([1.0, 2.0])
    with pytest.raises(TypeError):
        make(a, a)
    with pytest.raises(TypeError, match="Unsupported type"):
        a + np.ones(2)
    with pytest.raises(TypeError):
        a.max(initial=0)
    with pytest.raises(AttributeError):
        strict_gpu.xp.nanmedian(a)
