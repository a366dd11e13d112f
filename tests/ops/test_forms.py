"""The other ways to write an op: method, in place, `out=`, and what memory a result shares.

Invariant: a form that raises has changed nothing.
"""

import numpy as np

from tests.ops.cases import dtypes_of, pairs
from tests.ops.forms import (
    call_out,
    fresh,
    has_in_place,
    has_method,
    has_out,
    method,
    starts_with_tensor,
    with_out,
)
from tests.ops.gradients import noise
from tests.ops.library import (
    L,
    Report,
    attempt,
    build,
    close,
    coarsest,
    describe,
    dtype_name,
    error_mismatch,
    flat,
    is_foreign,
    mismatch,
    numpy_of,
    prepare,
    renamed,
    run,
    tensors_of,
    torch,
)
from tests.ops.record import Op, Sample
from tests.ops.samples import for_each

IN_PLACE_PAIRS = (
    ("float64", "int64"),
    ("int64", "float64"),
    ("float32", "float64"),
    ("bool", "int64"),
    ("float64", "complex128"),
    ("float16", "float32"),
    ("uint8", "int64"),
    ("int64", "bool"),
)


def equal(before: list[np.ndarray], after: list[np.ndarray]) -> bool:
    """Whether nothing changed."""
    return all(
        np.array_equal(a, b, equal_nan=a.dtype.kind in "fc") for a, b in zip(before, after, strict=True)
    )


@for_each("method", has_method)
def test_method(op: Op) -> None:
    """`x.op(...)` is the function."""
    report = Report(op)
    for sample in filter(starts_with_tensor, op.samples):
        for dtype in ("float64", "int64"):
            if dtype not in dtypes_of(op, sample):
                continue
            theirs = attempt(method(op, prepare(torch, sample, dtype)))
            mine = attempt(method(op, prepare(L, sample, dtype)))
            message = error_mismatch(op, mine, theirs)
            if not message and theirs.error is None:
                values = [
                    v if op.gauge is None else op.gauge(lib, v)
                    for lib, v in ((L, mine.value), (torch, theirs.value))
                ]
                message = mismatch(op, *values, op.values)
            report.add(message, sample, dtype)
    report.finish()


@for_each("in_place", has_in_place)
def test_in_place(op: Op) -> None:
    """The value, `self` itself, the version, and torch's refusals, after which nothing has changed."""
    report = Report(op)
    for sample in filter(starts_with_tensor, op.samples):
        mixed = set(pairs(op, sample))
        cases = [*dtypes_of(op, sample), *(pair for pair in IN_PLACE_PAIRS if pair in mixed)]
        for dtypes in cases:
            for layout in ("plain", "strided", "expanded") if dtypes == "float64" else ("plain",):
                compare_in_place(op, sample, dtypes, layout, report)
    report.finish()


def compare_in_place(op: Op, sample: Sample, dtypes, layout: str, report: Report) -> None:
    """One in-place call in both libraries."""
    reference, call = prepare(torch, sample, dtypes, layout), prepare(L, sample, dtypes, layout)
    before = call.snapshot()
    start, their_start = call.args[0]._version, reference.args[0]._version
    theirs = attempt(method(op, reference, op.base + "_"))
    mine = attempt(method(op, call, op.base + "_"))
    message = error_mismatch(op, mine, theirs)
    if not message and theirs.error is not None:
        # torch itself stops halfway at an integer division by zero
        kept = L is torch or equal(before, call.snapshot())
        message = "" if kept else "an operand changed although the call raised"
    elif not message:
        message = mismatch(op, call.args[0], reference.args[0], op.values)
        if (mine.value is call.args[0]) != (theirs.value is reference.args[0]):
            message = (
                "does not return self"
                if theirs.value is reference.args[0]
                else "returns self, torch does not"
            )
        bumps, expected = call.args[0]._version - start, reference.args[0]._version - their_start
        # some of torch's composites bump several times: what counts is that it is noticed
        if (bumps > 0) != (expected > 0):
            message = f"_version goes up by {bumps}, torch's by {expected}"
        if not equal(before[1:], call.snapshot()[1:]) and not message:
            message = "another operand changed"
    report.add(message, sample, op.base + "_", dtypes, layout)


@for_each("in_place_gradient", has_in_place)
def test_in_place_gradient(op: Op) -> None:
    """The gradient through an in-place call on a result, the node's name, and the refusal for a leaf."""
    report = Report(op)
    for sample in filter(starts_with_tensor, op.samples):
        if not sample.grad:
            continue
        for dtype in ("float64", "complex128"):
            if dtype in dtypes_of(op, sample):
                sides = [attempt(gradient_in_place, op, lib, sample, dtype) for lib in (L, torch)]
                message = error_mismatch(op, *sides)
                if not message and sides[1].error is None:
                    message = compare_gradients(op, sides[0].value, sides[1].value, dtype)
                report.add(message, sample, op.base + "_", dtype)
                leaf = [
                    attempt(method(op, prepare(lib, sample, dtype, needs_grad=True), op.base + "_"))
                    for lib in (L, torch)
                ]
                report.add(error_mismatch(op, *leaf), sample, op.base + "_", dtype, "on a leaf")
    report.finish(0)


def gradient_in_place(op: Op, lib, sample: Sample, dtype: str):
    """Gradients of `y = x.clone(); y.op_(...)`, and the name of y's node."""
    call = prepare(lib, sample, dtype, needs_grad=True)
    y = call.args[0].clone()
    call.args = (y, *call.args[1:])
    method(op, call, op.base + "_")()
    if not y.requires_grad:
        return "not recorded", []
    cotangent = build(lib, noise(y.shape, dtype, 3), dtype_name(y.dtype))
    gradients = lib.autograd.grad(y, call.grads, cotangent, allow_unused=True)
    return type(y.grad_fn).__name__, [None if g is None else numpy_of(g) for g in gradients]


def compare_gradients(op: Op, mine, theirs, dtype: str) -> str:
    """Say what differs."""
    if mine[0] != theirs[0] and op.grad_fn:
        return f"grad_fn {mine[0]}, torch has {theirs[0]}"
    for index, (a, b) in enumerate(zip(mine[1], theirs[1], strict=True)):
        if (a is None) != (b is None) or (a is not None and not close(a, b, dtype, op)):
            return f"gradient {index} is {a}, torch has {b}"
    return ""


@for_each("out", has_out)
def test_out(op: Op) -> None:
    """Right and wrong dtypes, an empty and a wrongly shaped tensor, a leaf that wants a gradient."""
    report = Report(op)
    for sample, dtype in with_out(op):
        like = run(op, prepare(torch, sample, dtype)).value
        first = tensors_of(like, torch)[0]
        wrong = ("float32", "int64", "bool", "complex128", "float16")
        makers = {
            "as the result": {},
            "empty": {"shape": (0,)},
            "of another shape": {"shape": (*first.shape, 2)},
        }
        makers |= {f"of {name}": {"dtype": name} for name in wrong}
        for label, change in makers.items():
            compare_out(op, sample, dtype, like, change, label, report)
        for label in ("an operand", "out"):
            refusals = [attempt(out_with_grad, op, lib, sample, dtype, like, label) for lib in (L, torch)]
            report.add(error_mismatch(op, *refusals), sample, dtype, f"{label} requires grad")
    report.finish()


def out_with_grad(op: Op, lib, sample: Sample, dtype: str, like, label: str):
    """A call with `out=` where autograd is in the way."""
    call = prepare(lib, sample, dtype, needs_grad=label == "an operand")
    out = fresh(lib, like)
    if label == "out":
        for tensor in flat(out):
            if tensor.is_floating_point() or tensor.is_complex():
                tensor.requires_grad_()
    call_out(op, call, out)


def _name(tensor) -> str:
    return dtype_name(tensor.dtype)


def compare_out(op: Op, sample: Sample, dtype: str, like, change: dict, label: str, report: Report) -> None:
    """One call with `out=` in both libraries."""
    reference, call = prepare(torch, sample, dtype), prepare(L, sample, dtype)
    their_out, out = fresh(torch, like, **change), fresh(L, like, **change)
    before, start = call.snapshot(), [numpy_of(tensor) for tensor in flat(out)]
    theirs = attempt(call_out, op, reference, their_out)
    mine = attempt(call_out, op, call, out)
    message = error_mismatch(op, mine, theirs)
    if not message and theirs.error is None:
        # computed in the result's dtype, whatever `out` has
        exact = {} if label != "of complex128" else {"dtype": coarsest("complex128", *map(_name, flat(like)))}
        message = mismatch(op, out, their_out, op.values and op.gauge is None, **exact)
        if not message and all(a is b for a, b in zip(flat(theirs.value), flat(their_out), strict=True)):
            returned = all(a is b for a, b in zip(flat(mine.value), flat(out), strict=True))
            message = "" if returned else "does not return out"
        resized = [[w for w in side.warned if "resized" in w] for side in (mine, theirs)]
        if not message and bool(resized[0]) != bool(resized[1]):
            message = f"warns {resized[0]}, torch warns {resized[1]}"
        if not message and resized[1] and resized[0][0] != renamed(resized[1][0]):
            message = f"warns {resized[0][0]}, torch warns {resized[1][0]}"
    elif not message:
        kept = [numpy_of(tensor) for tensor in flat(out)]
        if [k.shape for k in kept] == [s.shape for s in start] and not equal(start, kept) and L is not torch:
            # torch's mean writes before it refuses
            message = "out changed although the call raised"
    if not message and not equal(before, call.snapshot()):
        message = "an operand changed"
    report.add(message, sample, dtype, f"out {label}")


@for_each("sharing", lambda op: any(sample.xs() for sample in op.samples))
def test_sharing(op: Op) -> None:
    """A write through the result is seen in the input exactly when in torch; identity and `_base` too."""
    report = Report(op)
    for sample in op.samples:
        dtypes = [dtype for dtype in ("float64", "complex128", "int64") if dtype in dtypes_of(op, sample)]
        for dtype in dtypes:
            for layout in ("plain", "transposed") if op.layouts else ("plain",):
                theirs = attempt(sharing, op, torch, sample, dtype, layout)
                if theirs.error is None and theirs.value is not None:
                    mine = attempt(sharing, op, L, sample, dtype, layout)
                    same = mine.error is None and mine.value == theirs.value
                    seen = describe(mine) if mine.error else mine.value
                    report.add("" if same else f"{seen}, torch {theirs.value}", sample, dtype, layout)
    report.finish(0)


def sharing(op: Op, lib, sample: Sample, dtype: str, layout: str):
    """For each result: which operands it is, which it is a view of, and which a write through it changes."""
    call = prepare(lib, sample, dtype, layout)
    outcome = run(op, call)
    if outcome.error is not None:
        return None
    if lib is torch and is_foreign(outcome):
        return None
    found = []
    for out in tensors_of(outcome.value, lib):
        identical = [i for i, tensor in enumerate(call.tensors) if tensor is out]
        is_view = out._base is not None
        array = out.detach().numpy(force=True) if out.is_conj() or out.is_neg() else out.detach().numpy()
        before = call.snapshot()
        if array.size and array.flags.writeable:
            array[...] = ~array if array.dtype == bool else array + 1
        changed = [i for i, old in enumerate(before) if not equal([old], [numpy_of(call.tensors[i])])]
        found.append({"is": identical, "view": is_view, "shares": changed})
    return found
