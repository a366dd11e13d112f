"""Forward against torch: values, dtypes, shapes, strides, exceptions; every dtype, layout and shape variant.

Invariant: an op never changes an operand, whether it returns or raises.
"""

import numpy as np

from tests.ops.cases import dtypes_of, layouts_of, pairs, shape_variants
from tests.ops.library import (
    NUMPY,
    L,
    Outcome,
    Report,
    attempt,
    close,
    describe,
    error_mismatch,
    function_of,
    is_foreign,
    mismatch,
    numpy_of,
    prepare,
    run,
    seeds,
    tensors_of,
    torch,
)
from tests.ops.names import accepted, has_names, signatures
from tests.ops.record import Op, Sample, X
from tests.ops.samples import for_each

HALVES = ("float16", "bfloat16")


def compare(op: Op, sample: Sample, report: Report, dtypes="float64", layout: str = "plain") -> None:
    """One call in both libraries."""
    reference = prepare(torch, sample, dtypes, layout)
    theirs = run(op, reference)
    if is_foreign(theirs):
        return
    built = attempt(prepare, L, sample, dtypes, layout)
    if built.error is not None:
        report.add(
            f"cannot build the inputs: {type(built.error).__name__}: {built.error}", sample, dtypes, layout
        )
        return
    call = built.value
    before, versions = call.snapshot(), [tensor._version for tensor in call.tensors]
    mine = run(op, call)
    message = error_mismatch(op, mine, theirs)
    if not message and theirs.error is None:
        strides = op.strides and layout == "plain"
        message = mismatch(op, gauged(op, L, mine), gauged(op, torch, theirs), op.values, strides)
        if message and dtypes in HALVES and not mismatch(op, mine.value, theirs.value, False, strides):
            message = message if wrong(op, sample, dtypes, layout, mine) else ""
    report.add(message, sample, dtypes, layout)
    after = call.snapshot()
    for index, tensor in enumerate(call.tensors):
        if not unchanged(before[index], after[index]) or tensor._version != versions[index]:
            report.add(f"the call changed its operand {index}", sample, dtypes, layout)


def wrong(op: Op, sample: Sample, dtype: str, layout: str, mine: Outcome) -> str:
    """How a result in a half type differs from torch's in float64 for the same numbers, or nothing.

    On processors without instructions for half types torch adds up some results in them.
    """
    wide = [array.astype(NUMPY[dtype]).astype("float64") for array in seeds(sample, dtype)]
    exact = run(op, prepare(torch, sample, "float64", layout, data=wide))
    for a, b in zip(tensors_of(mine.value, L), tensors_of(exact.value, torch), strict=True):
        if not close(numpy_of(a).astype("float64"), numpy_of(b), dtype, op):
            return f"values {numpy_of(a).tolist()}, in float64 torch has {numpy_of(b).tolist()}"
    return ""


def unchanged(before: np.ndarray, after: np.ndarray) -> bool:
    """Whether the values are the same; the same bytes are."""
    if before.dtype == after.dtype and before.shape == after.shape and before.tobytes() == after.tobytes():
        return True
    return np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")


def gauged(op: Op, lib, outcome):
    """The result, made unique where it is defined only up to a factor."""
    return outcome.value if op.gauge is None else op.gauge(lib, outcome.value)


@for_each("forward")
def test_every_dtype(op: Op) -> None:
    """Values, dtype, shape, contiguity; where torch raises, the same exception."""
    report = Report(op)
    for sample in op.samples:
        for dtype in dtypes_of(op, sample):
            compare(op, sample, report, dtype)
    report.finish()


def mixing(op: Op) -> list[Sample]:
    """Samples with several free tensors, two at most."""
    return [sample for sample in op.samples if next(pairs(op, sample), None)][:4:3]


@for_each("mixed", mixing)
def test_mixed_dtypes(op: Op) -> None:
    """Type promotion, or torch's refusal, for every pair of dtypes."""
    report = Report(op)
    for sample in mixing(op):
        for pair in pairs(op, sample):
            compare(op, sample, report, pair)
    report.finish()


@for_each("layouts", lambda op: any(sample.xs() for sample in op.samples))
def test_layouts_and_shapes(op: Op) -> None:
    """0-d, empty, transposed, strided and expanded inputs."""
    report = Report(op)
    for sample in op.samples:
        dtypes = [dtype for dtype in ("float64", "int64") if dtype in dtypes_of(op, sample)]
        for dtype in dtypes or list(dtypes_of(op, sample))[:1]:
            for layout in layouts_of(op, sample):
                compare(op, sample, report, dtype, layout)
            for variant in shape_variants(op, sample):
                compare(op, variant, report, dtype)
    report.finish(0)


@for_each("names", has_names)
def test_argument_names(op: Op) -> None:
    """Every call of the record again with all arguments named as torch's documentation names them."""
    report = Report(op)
    own = 1 if op.name.startswith("Tensor.") else 0
    forms = [names if not own or names[:1] != ["self"] else names[1:] for names in signatures(op)]
    for sample in op.samples:
        if len(sample.args) <= own:
            continue
        for names in forms:
            if len(names) < len(sample.args) - own:
                continue
            named = dict(zip(names, sample.args[own:], strict=False))
            if set(named) & set(sample.kwargs):
                continue
            renamed = Sample(sample.args[:own], {**named, **sample.kwargs}, sample.kinds)
            if (dtype := accepted(op, sample, renamed)) is not None:
                mine = run(op, prepare(L, renamed, dtype))
                report.add(describe(mine) if mine.error else "", renamed, dtype)
                break
    report.finish()


def test_a_difference_is_seen() -> None:
    """The comparison itself can fail: values, dtype, shape, number of results."""
    op, x = Op("add", []), torch.ones(2, 3)
    mine = L.ones(2, 3)
    assert not mismatch(op, mine, x)
    for other in (x + 1, x.double(), x[:1], (x, x)):
        assert mismatch(op, mine, other)
    assert mismatch(op, mine, x.t().contiguous().t(), strides=True)


def test_a_half_type_may_be_nearer_to_the_truth_than_torch_and_not_further_from_it() -> None:
    op, sample = Op("add", []), Sample((X((3, 4)), X((3, 4))), {})
    mine = run(op, prepare(L, sample, "float16"))
    assert not wrong(op, sample, "float16", "plain", mine)
    mine.value.add_(0.02)
    assert "in float64 torch has" in wrong(op, sample, "float16", "plain", mine)


def test_helpers() -> None:
    """What the templates stand on."""
    x = torch.ones(2, 3)
    assert tensors_of({"a": [x, 1]}, torch)[0] is x
    assert function_of(Op("Tensor.T", []), torch)(x).shape == (3, 2)
    values = X((100,), avoid="integers").data("float64", 0)
    assert (abs(values - values.round()) > 0.09).all()
