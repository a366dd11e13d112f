"""Source that runs as a notebook cell does: under a file name of its own, with its lines known to linecache."""

import itertools
import linecache

import vistorch as L
from vistorch.debug.trace import Trace
from vistorch.engine.base.events import listeners

_number = itertools.count(1)


def run(source, **names):
    """Run the lines as cell number 8; returns its variables. An exception goes on its way."""
    file = f"<ipython-input-8-{next(_number):012x}>"
    linecache.cache[file] = (len(source), None, [line + "\n" for line in source.splitlines()], file)
    scope = dict(names)
    exec(compile(source, file, "exec"), scope)
    return scope


def traced(source, bound=None, names=None, **given):
    trace = Trace(bound=bound, names=names)
    with trace:
        run(source, torch=L, **given)
    assert listeners.op is None and listeners.backward is None and listeners.phase is None
    return trace.record()


def states(record):
    return {
        (r["op"], r["line"]): (
            r["forward"] and r["forward"]["state"],
            r["backward"] and r["backward"]["state"],
        )
        for r in record.rows
    }
