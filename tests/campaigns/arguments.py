"""Each argument of each function wrong in its turn, against PyTorch: the calls of the tests of bad input, counted."""

import random

from tests.ops.bad import bad_calls
from tests.ops.samples import OPS
from tests.ops.test_bad_input import compare

from .result import Result


def arguments(tries: int, seed: int = 0) -> Result:
    """Make that many bad calls, spread over all records: torch's kind of exception, no numpy words, nothing changed."""
    result, draw = Result(), random.Random(seed)
    calls = [(op, bad) for op in OPS for bad in bad_calls(op)]
    draw.shuffle(calls)
    for op, bad in calls[:tries]:
        wrong = compare(op, bad)
        result.add(wrong and f"{op.name}, {bad.label}: {wrong}")
    result.notes.append(f"{len({op.name for op, _ in calls[:tries]})} functions of {len(OPS)}")
    return result
