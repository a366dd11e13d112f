"""Source that runs as a notebook cell does: under a file name of its own, with its lines known to linecache."""

import itertools
import linecache

_number = itertools.count(1)


def run(source, **names):
    """Run the lines as cell number 8; returns its variables. An exception goes on its way."""
    file = f"<ipython-input-8-{next(_number):012x}>"
    linecache.cache[file] = (len(source), None, [line + "\n" for line in source.splitlines()], file)
    scope = dict(names)
    exec(compile(source, file, "exec"), scope)
    return scope
