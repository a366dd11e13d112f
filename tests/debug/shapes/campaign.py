"""Every bad call of every op's record, explained: `python -m tests.debug.shapes.campaign` walks all of them.

Invariant: an explanation never raises, is the same each time, and its marks are sides that exist.
"""

import json
import warnings

from tests.ops.bad import bad_calls
from tests.ops.library import L, function_of
from tests.ops.samples import OPS
from vistorch.debug.shapes import found
from vistorch.widgets.shape.picture import paint


def campaign(ops):
    """How many calls failed, and how many failures were explained."""
    tried = explained = 0
    for op in ops:
        for bad in bad_calls(op):
            call = bad.build(L)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    function_of(op, L)(*call.args, **call.kwargs)
            except Exception as error:
                tried += 1
                before = str(error)
                shown = found._explained(error) if isinstance(error, found.KINDS) else None
                if shown is not None:
                    explained += 1
                    check(shown)
                assert str(error) == before
    return tried, explained


def check(shown):
    """What every explanation is."""
    json.dumps(shown.wire())
    assert shown.text() and b"</svg>" in paint(shown)
    for one in shown.operands:
        assert all(0 <= mark < len(one.shape) for mark in one.marks), shown.text()
        assert all(isinstance(n, int) for n in one.shape)
    if len(shown.sides) == 2:
        (_, p), (_, q) = shown.sides
        assert p != q, shown.text()


if __name__ == "__main__":
    failed, seen = campaign(OPS)
    print(f"{failed} calls failed, {seen} were explained")
