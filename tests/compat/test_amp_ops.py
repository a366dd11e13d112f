"""Every record of an op under autocast on the CPU: the types of the results are torch's."""

from tests.ops.library import L, Report, attempt, dtype_name, function_of, prepare, tensors_of, torch
from tests.ops.record import Op
from tests.ops.samples import for_each

# Where a composed function of torch meets its lists at another place than ours does.
DIFFERS = {
    "linalg.pinv": "its last product is not rounded here",
    "nn.functional.l1_loss": "with a weight torch computes the loss in Python, of what it is given",
    "nn.functional.mse_loss": "with a weight torch computes the loss in Python, of what it is given",
    "nn.functional.local_response_norm": "bfloat16 is refused outside the region's lists",
    "lstm": "with projections torch forgets that its state was cast",
    "nn.functional.max_pool3d": "with its indices torch forgets to cast",
}


def types(op, lib, sample, dtype):
    """The types of a call's results under autocast, or that it raised."""
    call = prepare(lib, sample, dtype)
    function = function_of(op, lib)
    with lib.autocast("cpu"):
        outcome = attempt(lambda: function(*call.args, **call.kwargs))
    if outcome.error is not None:
        return None
    return [dtype_name(t.dtype) for t in tensors_of(outcome.value, lib)]


@for_each("forward")
def test_result_types(op: Op) -> None:
    """float32, bfloat16 and float64 operands: cast where torch casts, and nowhere else."""
    report = Report(op)
    for sample in op.samples:
        for dtype in ("float32", "bfloat16", "float64"):
            theirs = types(op, torch, sample, dtype)
            if theirs is None:
                continue
            ours = types(op, L, sample, dtype)
            message = "" if ours == theirs else f"gives {ours}, torch {theirs}"
            report.add(message, sample, dtype)
    if op.id in DIFFERS:
        assert report.failures, "no longer differs: take it off the list"
    elif report.checked:
        report.finish()
