"""Gradients of first and second order, against torch and against finite differences.

Invariant: one formula, two executions: the raw gradient and the one that is itself recorded are equal.
"""

from functools import cache

import numpy as np

from tests.ops.cases import gradient_dtypes, layouts_of, shape_variants
from tests.ops.gradients import (
    compare_lists,
    differentiate,
    differentiate_again,
    filled,
    forward,
    gradient_projection,
    is_recorded,
    noise,
    projection,
    same_names,
)
from tests.ops.library import (
    L,
    Report,
    attempt,
    close,
    describe,
    dtype_name,
    function_of,
    numpy_of,
    prepare,
    run,
    seeds,
    tensors_of,
    torch,
)
from tests.ops.record import Op, Sample
from tests.ops.samples import for_each

STEP = 1e-6


def is_there(op: Op) -> bool:
    """Whether the installed torch has an op: older ones lack some."""
    try:
        function_of(op, torch)
    except AttributeError:
        return False
    return True


@cache
def is_differentiable(op: Op) -> bool:
    """Whether torch records anything for some sample."""
    if not op.values or not is_there(op):
        return False
    for sample in op.samples:
        for dtype in gradient_dtypes(op, sample):
            reference = forward(op, torch, sample, dtype)
            if reference is not None and reference.outs:
                return True
    return False


def both(op: Op, sample: Sample, dtypes, report: Report, layout: str = "plain", which=True):
    """The forward of both libraries, or None where torch has nothing to differentiate."""
    theirs = forward(op, torch, sample, dtypes, layout, which)
    if theirs is None:
        return None
    attempted = attempt(forward, op, L, sample, dtypes, layout, which)
    mine = attempted.value
    recorded, wanted = len(mine.outs) if mine else 0, len(theirs.outs)
    if mine is None or recorded != wanted:
        reason = (
            f"the call raises ({describe(attempted)})" if mine is None else f"{recorded} recorded results"
        )
        report.add(f"{reason}, torch has {wanted} recorded results", sample, dtypes, layout)
        return None
    return (mine, theirs) if theirs.outs else None


def compare_first(op: Op, sample: Sample, dtypes, report: Report, layout: str = "plain", which=True) -> None:
    """First derivatives of one case."""
    pair = both(op, sample, dtypes, report, layout, which)
    if pair is None:
        return
    mine, theirs = pair
    expected = attempt(differentiate, torch, theirs)
    got = attempt(differentiate, L, mine)
    if got.error is not None or expected.error is not None:
        equal = got.error is not None and expected.error is not None
        report.add("" if equal else f"{describe(got)}, torch {describe(expected)}", sample, dtypes, layout)
        return
    message = compare_lists(op, mine.first, theirs.first, close, theirs.call.grads, True, dtypes)
    report.add(message, sample, dtypes, layout)


@for_each("gradient", is_differentiable)
def test_gradient(op: Op) -> None:
    """All inputs at once, and each input alone."""
    report = Report(op)
    for sample in op.samples:
        for dtypes in gradient_dtypes(op, sample):
            compare_first(op, sample, dtypes, report)
            if len(sample.xs()) > 1:
                for index in range(len(sample.xs())):
                    compare_first(op, sample, dtypes, report, which=lambda i, index=index: i == index)
    report.finish()


@for_each("gradient_layouts", is_differentiable)
def test_gradient_of_layouts_and_shapes(op: Op) -> None:
    """0-d, empty, transposed, strided and expanded inputs."""
    report = Report(op)
    for sample in op.samples:
        if "float64" not in gradient_dtypes(op, sample):
            continue
        for layout in layouts_of(op, sample):
            compare_first(op, sample, "float64", report, layout)
        for variant in shape_variants(op, sample):
            compare_first(op, variant, "float64", report)
    report.finish(0)


def twice(lib, derivative):
    """Both orders."""
    differentiate(lib, derivative, True)
    differentiate_again(lib, derivative)


@for_each("second", is_differentiable)
def test_second_order(op: Op) -> None:
    """The gradient of a random projection of the gradient, for inputs and cotangents."""
    report = Report(op)
    for sample in op.samples:
        for dtypes in gradient_dtypes(op, sample):
            pair = both(op, sample, dtypes, report)
            if pair is None:
                continue
            mine, theirs = pair
            expected = attempt(twice, torch, theirs)
            if expected.error is not None:
                # torch has no second derivative here: finite differences judge ours
                continue
            got = attempt(twice, L, mine)
            like = [*theirs.call.grads, *theirs.cotangents]
            message = f"{describe(got)} (torch returns)"
            if got.error is None:
                a, b = (d.second or [None] * len(like) for d in (mine, theirs))
                message = compare_lists(op, a, b, close, like, False, dtypes)
            report.add(message, sample, dtypes)
    report.finish(0)


def gradients_as_arrays(derivative, create_graph: bool) -> list:
    """The library's gradients, as arrays."""
    outcome = attempt(differentiate, L, derivative, create_graph)
    if outcome.error is not None:
        raise outcome.error
    return [None if g is None else numpy_of(g) for g in outcome.value]


@for_each("raw_recorded", is_differentiable)
def test_raw_equals_recorded(op: Op) -> None:
    """The same gradient with and without `create_graph`."""
    report = Report(op)
    for sample in op.samples:
        for dtypes in gradient_dtypes(op, sample):
            if (theirs := forward(op, torch, sample, dtypes)) is None or not theirs.outs:
                continue
            if attempt(differentiate, torch, theirs).error is not None:
                continue
            mine = forward(op, L, sample, dtypes)
            raw = gradients_as_arrays(mine, create_graph=False)
            recorded = gradients_as_arrays(mine, create_graph=True)
            for index, (a, b) in enumerate(zip(raw, recorded, strict=True)):
                rtol = 1e-5 if "float32" in dtypes else 1e-10
                same = a is b if a is None or b is None else np.allclose(a, b, rtol, 1e-12, equal_nan=True)
                report.add("" if same else f"gradient {index}: raw {a}, recorded {b}", sample, dtypes)
    report.finish(0)


def moved(data: list[np.ndarray], directions: list, step: float) -> list[np.ndarray]:
    """The inputs a step along the directions; an input without one stays."""
    return [a if d is None else a + step * d for a, d in zip(data, directions, strict=True)]


def directions_for(call, sample: Sample, seed: int) -> list:
    """A random direction for each `X` that wants a gradient."""
    wanted = {id(tensor) for tensor in call.grads}
    directions: list = []
    for index, x in enumerate(sample.xs()):
        tensor = call.tensors[index]
        direction = noise(tensor.shape, "complex128" if tensor.is_complex() else "float64", seed + index)
        if x.hermitian:
            direction = (direction + np.conj(np.swapaxes(direction, -1, -2))) / 2
        directions.append(direction if id(tensor) in wanted else None)
    return directions


def along(gradients: list, directions: list) -> float:
    """The change a gradient predicts for a unit step along the directions."""
    used = [d for d in directions if d is not None]
    return sum(float(np.sum(np.real(np.conj(g) * d))) for g, d in zip(gradients, used, strict=True))


def is_exact(tensor) -> bool:
    """Whether finite differences can work with it: finite doubles."""
    return dtype_name(tensor.dtype) in ("float64", "complex128") and bool(np.isfinite(numpy_of(tensor)).all())


@np.errstate(all="ignore")
def differences(op: Op, second: bool) -> None:
    """Compare the library's derivative with central differences along random directions."""
    report = Report(op)
    for sample in op.samples:
        for dtypes in gradient_dtypes(op, sample):
            mine = forward(op, L, sample, dtypes) if sample.smooth else None
            if mine is None or not mine.outs or not all(is_exact(o) for o in mine.outs):
                continue
            if not all(is_exact(x) for x in mine.call.grads):
                continue
            gradients = attempt(differentiate, L, mine, second)
            if gradients.error is not None:
                continue
            shown = [i for i, g in enumerate(mine.first) if g is not None and is_recorded(g)]
            if second and not shown:
                continue
            if second:
                again = attempt(differentiate_again, L, mine)
                if again.error is not None:
                    if L is not torch:
                        report.add(describe(again), sample, dtypes)
                    continue
            found = filled((mine.second if second else mine.first)[: len(mine.call.grads)], mine.call.grads)
            data = seeds(sample, dtypes)
            for seed in (5, 6, 7):
                directions = directions_for(mine.call, sample, 100 * seed)

                def scalar(
                    step: float, directions=directions, data=data, shown=shown, dtypes=dtypes, sample=sample
                ):
                    at = moved(data, directions, step)
                    if second:
                        return attempt(gradient_projection, op, L, sample, dtypes, at, shown).value
                    return projection(op, L, sample, dtypes, at)

                expected = (scalar(STEP) - scalar(-STEP)) / (2 * STEP)
                got = along(found, directions)
                near = np.isnan(got) and np.isnan(expected)
                near = near or abs(got - expected) <= 1e-5 * max(1.0, abs(expected), abs(got))
                report.add(
                    "" if near else f"derivative {got:.8g}, differences say {expected:.8g}", sample, dtypes
                )
    report.finish(0)


@for_each("gradcheck", is_differentiable)
def test_finite_differences(op: Op) -> None:
    """First derivatives, independent of torch."""
    differences(op, second=False)


@for_each("gradgradcheck", is_differentiable)
def test_finite_differences_of_the_gradient(op: Op) -> None:
    """Second derivatives, independent of torch."""
    differences(op, second=True)


@for_each("grad_fn", lambda op: op.grad_fn and op.gauge is None and is_differentiable(op))
def test_grad_fn_name(op: Op) -> None:
    """The node's class and `name()` are torch's."""
    report = Report(op)
    for sample in op.samples:
        for dtype in gradient_dtypes(op, sample):
            theirs = run(op, prepare(torch, sample, dtype, needs_grad=True))
            if theirs.error is None and (expected := tensors_of(theirs.value, torch)):
                mine = run(op, prepare(L, sample, dtype, needs_grad=True))
                message = describe(mine) if mine.error else same_names(tensors_of(mine.value, L), expected)
                report.add(message, sample, dtype)
    report.finish()
