"""The same records on a simulated CUDA device.

Invariant: a device changes where a result lives, never what it is.
"""

import pytest

from tests.ops.cases import dtypes_of
from tests.ops.draws import TAKEN, draws_are_counted  # noqa: F401  the fixture counts draws
from tests.ops.library import L, Report, describe, mismatch, prepare, run, tensors_of, torch
from tests.ops.record import Op, Sample
from tests.ops.samples import OPS, for_each

# Where a call on the CPU alone says nothing about devices.
MIXED = "Expected all tensors to be on the same device, but "


@pytest.fixture(autouse=True)
def two_devices():
    """Two simulated devices; torch itself has none, so there is nothing to run against torch alone."""
    if L is torch:
        pytest.skip("torch has no simulated devices")
    L.cuda.simulate(2)
    yield
    L.cuda.simulate(None)


@for_each("device", lambda op: any(sample.xs() for sample in op.samples))
def test_same_values_on_a_device(op: Op) -> None:
    """Values, but of what draws, and dtype as torch has them on the CPU; results on the device of the operands."""
    report = Report(op)
    for sample in op.samples:
        for dtype in [d for d in ("float64", "int64") if d in dtypes_of(op, sample)]:
            theirs = run(op, prepare(torch, sample, dtype))
            if theirs.error is not None:
                continue
            before = len(TAKEN)
            mine = run(op, prepare(L, sample, dtype, devices=lambda index: "cuda:0"))
            compared = op.values and len(TAKEN) == before
            message = describe(mine) if mine.error else ""
            if not message:
                values = [
                    v if op.gauge is None else op.gauge(lib, v)
                    for lib, v in ((L, mine.value), (torch, theirs.value))
                ]
                message = mismatch(op, *values, compared)
            places = [str(tensor.device) for tensor in tensors_of(mine.value, L)]
            # a device that is named counts, and numbers read from a list or a bound say nothing of a device
            made_there = (
                bool(sample.xs())
                and "device" not in sample.kwargs
                and not (op.name == "linspace" or isinstance(next(iter(sample.args), None), list))
            )
            if not message and made_there and any(place != "cuda:0" for place in places):
                message = f"results on {places}"
            report.add(message, sample, dtype)
    report.finish(0)


def mixable(op: Op) -> list[Sample]:
    """Samples with two tensors of at least one dim (a 0-d CPU tensor may join a device's)."""
    return [sample for sample in op.samples if sum(bool(x.shape) for x in sample.xs() if x.value is None) > 1]


@pytest.mark.parametrize("order", [("cpu", "cuda:0"), ("cuda:0", "cpu"), ("cuda:0", "cuda:1")], ids="-".join)
@for_each("mixed_devices", mixable)
def test_devices_do_not_mix(op: Op, order: tuple[str, str]) -> None:
    """The sentence of torch, and no operand changed."""
    report = Report(op)
    for sample in mixable(op)[:2]:
        if run(op, prepare(torch, sample)).error is not None:
            continue
        call = prepare(L, sample, devices=lambda index: order[min(index, 1)])
        before = [tensor.cpu().tolist() for tensor in call.tensors]
        mine = run(op, call)
        right = isinstance(mine.error, RuntimeError) and mine.sentence.startswith(MIXED)
        report.add("" if right else describe(mine), sample, order)
        assert before == [tensor.cpu().tolist() for tensor in call.tensors]
    report.finish(0)


def test_there_is_something_to_mix() -> None:
    """The filter above finds records."""
    assert any(mixable(op) for op in OPS)
