"""What `out=` may be: every op with it, and tensors of every kind of memory, beside torch.

Invariant: shape, strides, warnings, errors and what the memory around `out` holds afterwards are torch's.
"""

import re
from collections.abc import Callable
from typing import Any

from tests.ops.forms import call_out, has_out, with_out
from tests.ops.library import (
    L,
    Outcome,
    Report,
    attempt,
    dense_strides,
    dtype_name,
    error_mismatch,
    flat,
    mismatch,
    prepare,
    renamed,
    run,
    torch,
)
from tests.ops.record import Op
from tests.ops.samples import for_each

Maker = Callable[[Any, tuple, Any], Any]


def ones(lib: Any, shape: tuple, dtype: Any) -> Any:
    return lib.ones(shape, dtype=dtype)


def order(lib: Any, shape: tuple, dtype: Any) -> Any:
    """The dims in the opposite order in memory."""
    return ones(lib, shape[::-1], dtype).permute(tuple(range(len(shape)))[::-1])


def leaf(lib: Any, shape: tuple, dtype: Any) -> Any:
    o = ones(lib, shape, dtype)
    return o.requires_grad_() if o.is_floating_point() or o.is_complex() else o


def other(shape: tuple) -> tuple:
    """A shape of fewer elements that is not this one."""
    return (1,) if shape != (1,) else (2, 2)


MAKERS: dict[str, Maker] = {
    "a view": lambda lib, shape, dtype: ones(lib, (2, *shape), dtype)[1],
    "with gaps": lambda lib, shape, dtype: ones(lib, (*shape, 2), dtype)[..., 1],
    "in another order": order,
    "in another order, resized": lambda lib, shape, dtype: order(lib, (*shape, 2), dtype),
    "a larger view": lambda lib, shape, dtype: ones(lib, (3, *shape, 2), dtype)[1],
    "a smaller view": lambda lib, shape, dtype: ones(lib, (200,), dtype)[3 : 3 + (2 if shape != (2,) else 1)],
    "a smaller one": lambda lib, shape, dtype: ones(lib, other(shape), dtype),
    "a number": lambda lib, shape, dtype: ones(lib, (), dtype),
    "expanded": lambda lib, shape, dtype: ones(lib, (1,) * len(shape), dtype).expand(shape),
    "a leaf": leaf,
}

# (op, memory) as patterns, and why ours ends otherwise.
DIFFERENT = (
    (
        r"sum|prod|histc|cummax|cummin|tril|triu|bmm|mm|mv|matmul|linalg\.vecdot|frobenius_norm|threshold|randperm",
        r"expanded",
        "torch writes one element over and over",
    ),
    (
        r"nn\.functional\.avg_pool3d|narrow_copy",
        r".",
        "torch writes as if there were no strides, into foreign memory",
    ),
    (r"nonzero_static", r"gaps|expanded", "nothing is written, and nothing is without strides"),
    (r"split(_with_sizes)?_copy", r"leaf", "torch overwrites a leaf, and loses the gradient"),
    (r"matmul|addbmm|isin|lu|svd|kron", r".", "torch's warnings are about what it computes on the way"),
    (r"fft\.r?fftfreq", r"gaps", "torch writes past the gaps"),
    (
        r"linalg\..*|qr|lu_solve|lu_factor.*|cholesky.*|inverse|triangular_solve|geqrf",
        r"larger|smaller|resized|number",
        "a matrix that a factorisation resized lies by columns in torch",
    ),
    (r"frobenius_norm|orgqr|linalg\.solve_ex|diag|svd", r"leaf", "torch names the function within"),
    (r"slice_scatter|scatter", r"leaf", "without a prefix, as for an operand"),
    (r"fft\.i.*fft|special\.ndtr|linalg\.eigvals", r"leaf", "torch refuses it in the words of what it calls"),
)


def is_known(op: Op, label: str) -> bool:
    """Whether the two are meant to end in different ways."""
    return any(re.fullmatch(name, op.name) and re.search(kind, label) for name, kind, _ in DIFFERENT)


def state(out: Any) -> list:
    """Shape, strides and place of each tensor, and whether it is a view, a leaf, and requires grad."""
    return [
        (
            tuple(o.shape),
            dense_strides(o),
            o.storage_offset() if o.numel() else 0,
            o._is_view() or not o.numel(),
            o.is_leaf,
            o.requires_grad,
        )
        for o in flat(out)
    ]


def sized(outcome: Outcome) -> set[str]:
    """What was said of sizes."""
    return {renamed(warned) for warned in outcome.warned if "resized" in warned}


def differs(op: Op, sample: Any, dtype: str, like: Any, make: Maker) -> str:
    """One call in both libraries, or nothing to say."""
    calls, outs, wholes = [], [], []
    for lib in (L, torch):
        made = [make(lib, tuple(t.shape), getattr(lib, dtype_name(t.dtype))) for t in flat(like)]
        wholes.append([o if o._base is None else o._base for o in made])
        outs.append(tuple(made) if isinstance(like, tuple | list) else made[0])
        calls.append(prepare(lib, sample, dtype))
    mine, theirs = (attempt(call_out, op, call, out) for call, out in zip(calls, outs, strict=True))
    if message := error_mismatch(op, mine, theirs):
        return message
    if theirs.error is not None:
        return ""
    if sized(mine) != sized(theirs):
        return f"warns {sized(mine)}, torch warns {sized(theirs)}"
    if state(outs[0]) != state(outs[1]):
        return f"is {state(outs[0])}, torch's is {state(outs[1])}"
    return mismatch(op, wholes[0], wholes[1], op.values and op.gauge is None)


@for_each("out_memory", has_out)
def test_out_memory(op: Op) -> None:
    """Every kind of memory in its turn."""
    report = Report(op)
    sample, dtype = next(with_out(op))
    like = run(op, prepare(torch, sample, dtype)).value
    for label, make in MAKERS.items():
        if not is_known(op, label):
            report.add(differs(op, sample, dtype, like, make), sample, dtype, label)
    report.finish(0)
