"""A process that can change nothing but itself: what it inherited is cut off, what reaches outside is refused.

Invariant: it is for a forked child alone, and cannot be undone there.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import os
import stat
import sys
from typing import Any, NoReturn

SHARED = "rw-s"  # a mapping that other processes see, in /proc/self/maps
HARMLESS = ("/dev/shm/sem.", "/dev/zero", "/memfd:")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
REFUSED = {
    "subprocess.Popen": "starts another program",
    "os.system": "starts another program",
    "os.exec": "starts another program",
    "os.posix_spawn": "starts another program",
    "os.spawn": "starts another program",
    "os.fork": "starts other processes",
    "os.forkpty": "starts other processes",
    "os.kill": "sends signals",
    "os.killpg": "sends signals",
    "socket.connect": "uses the network",
    "socket.bind": "uses the network",
    "socket.sendto": "uses the network",
    "socket.sendmsg": "uses the network",
    "sqlite3.connect": "opens a database",
    "webbrowser.open": "opens a browser",
    "os.remove": "removes files",
    "os.rename": "renames files",
    "os.rmdir": "removes folders",
    "os.mkdir": "makes folders",
    "os.link": "links files",
    "os.symlink": "links files",
    "os.truncate": "writes files",
    "os.chmod": "changes files",
    "os.chown": "changes files",
    "os.utime": "changes files",
    "os.setxattr": "changes files",
    "os.removexattr": "changes files",
    "pty.spawn": "starts another program",
}


class Outside(BaseException):
    """The program reached for something outside of itself; no `except Exception` catches it."""


class Seal:
    """What is refused from here on.

    Attributes:
        reached: what the program reached for first, in words; "" for nothing.
    """

    def __init__(self) -> None:
        self.reached = ""

    def close(self, keep: tuple[int, ...]) -> None:
        """Cut off what was inherited, swallow what is printed, and refuse the rest.

        Args:
            keep: file descriptors that stay.
        """
        sys.dont_write_bytecode = True
        sys.settrace(None)
        sys.setprofile(None)
        sys.stdout = sys.stderr = io.TextIOWrapper(io.FileIO(os.devnull, "w"), write_through=True)
        sys.stdin = io.StringIO()
        _unplug(keep)
        _mute()
        builtins.input = _no_input  # type: ignore[assignment]
        sys.addaudithook(self.audit)

    def audit(self, event: str, given: tuple[Any, ...]) -> None:
        """Refuse what reaches outside.

        Args:
            event: its name.
            given: what came with it.
        """
        why = REFUSED.get(event, "")
        if event == "open" and len(given) == 3:
            path, mode, flags = given
            writes = bool(flags & WRITES) if isinstance(flags, int) else False
            writes = writes or (isinstance(mode, str) and any(c in mode for c in "wax+"))
            if writes and path not in (os.devnull, "/dev/null"):
                why = f"writes {path!s:.80}"
        elif event.startswith(("shutil.", "ftplib.", "smtplib.", "telnetlib.")):
            why = "changes files" if event.startswith("shutil.") else "uses the network"
        if why:
            self.reached = self.reached or why
            raise Outside(why)


def _no_input(*given: Any) -> NoReturn:
    raise EOFError


def shares_memory() -> str:
    """What this process shares with others by its memory, in words; "" for nothing."""
    try:
        with open("/proc/self/maps") as maps:
            for line in maps:
                parts = line.split(None, 5)
                path = parts[5].strip() if len(parts) > 5 else ""
                if parts[1] == SHARED and not path.startswith(HARMLESS):
                    return "a device" if path.startswith("/dev/") and "shm" not in path else "other processes"
    except OSError:
        return "processes that cannot be listed"
    return ""


def _unplug(keep: tuple[int, ...]) -> None:
    """Put nothing in the place of every file, pipe and socket that the parent uses too."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd in (*keep, nothing):
            continue
        try:
            info = os.fstat(fd)
            if stat.S_ISREG(info.st_mode) and not os.readlink(f"/proc/self/fd/{fd}").startswith("/memfd:"):
                flags = _flags(fd)
                if flags & (os.O_WRONLY | os.O_RDWR) == 0:
                    # the parent's place in the file is its own
                    at = os.lseek(fd, 0, os.SEEK_CUR)
                    own = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
                    os.lseek(own, at, os.SEEK_SET)
                    os.dup2(own, fd)
                    os.close(own)
                    continue
            elif stat.S_ISCHR(info.st_mode) and fd > 2:
                continue
            os.dup2(nothing, fd)
        except OSError:
            continue


def _flags(fd: int) -> int:
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETFL)


def _mute() -> None:
    """Nothing that is displayed reaches a notebook."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    if shell is None:
        return
    with contextlib.suppress(Exception):
        shell.display_pub.publish = _nothing
        shell.displayhook = type("Silent", (), {"__call__": _nothing})()
        sys.displayhook = _nothing
    with contextlib.suppress(Exception):
        shell.kernel.session.send = _nothing


def _nothing(*given: Any, **named: Any) -> None:
    """In the place of what would be shown."""
