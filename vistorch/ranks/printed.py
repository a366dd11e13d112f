"""What a rank has printed, and whether it has been read: mpiexec passes it on, and drops what is left at an abort.

Invariant: waiting ends after a second, whatever the reader does.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from array import array

_LONGEST = 1.0  # seconds until a reader is given up
_PASSED_ON = 0.2  # seconds that a manager may take from what it has read to its own output


def wait_for_reader() -> None:
    """Return when nothing printed lies in a pipe any more, and what has been read was probably passed on."""
    sys.stdout.flush()
    sys.stderr.flush()
    end = time.monotonic() + _LONGEST
    while any(map(_unread, (1, 2))) and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(_PASSED_ON)


def _unread(stream: int) -> bool:
    try:
        import fcntl
        import termios

        if not stat.S_ISFIFO(os.fstat(stream).st_mode):
            return False
        waiting = array("i", [0])
        fcntl.ioctl(stream, termios.FIONREAD, waiting)
    except (ImportError, OSError):  # no such thing on this system, or the stream is closed
        return False
    return waiting[0] > 0
