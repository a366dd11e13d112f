"""What a reader clicks while a cell runs: handled at step boundaries, on the thread that runs the cell.

A kernel reads its next message when the cell has ended. A loop that wants to be paused, stopped or looked into
meanwhile calls `pump()` at each step: messages to widgets that have arrived are handled then, at most 30 times a
second. Outside a kernel, on another thread and in a forked process it does nothing; `why_not()` says so in words.
In a cell that awaits, ipykernel 7.1 to 7.3 takes what arrives meanwhile itself, and clicks wait for the end of the
cell.

Invariant: only messages of comms are taken ahead of their turn, in their order. Every other one, a cell to run above
all, keeps its place. Nothing here imports IPython, ipykernel or zmq: in a kernel they are there.
"""

import asyncio
import os
import signal
import sys
import threading
from collections import deque
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from ...engine import browser

COMM_MESSAGES = {"comm_open", "comm_msg", "comm_close"}
INTERVAL = 1 / 30
LIMIT = 64


def _kernel() -> Any:
    """Return the kernel this process is, or None."""
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive else None
    kernel = getattr(shell, "kernel", None)
    # A forked process inherits the kernel's sockets, and may not touch them.
    return kernel if kernel is not None and _pid(kernel) == os.getpid() else None


def _pid(kernel) -> int | None:
    """Return the process that a kernel's messages come to; a kernel in a browser has no session, and is this one."""
    return os.getpid() if browser.HERE else getattr(getattr(kernel, "session", None), "pid", None)


def _type_of(kernel, frames):
    """Return the type of a message without taking it for read: a signature is accepted only once."""
    try:
        _, parts = kernel.session.feed_identities(list(frames), copy=False)
        return kernel.session.unpack(parts[1].bytes)["msg_type"]
    except Exception:  # what is no message is for the kernel to judge
        return None


class QueueInbox:
    """ipykernel 6: the thread that runs cells also reads the shell channel, into a queue."""

    def __init__(self, kernel):
        self.kernel, self.ready = kernel, deque()
        self.queue, self.stream = kernel.msg_queue, kernel.shell_stream
        if not all(hasattr(self.queue, name) for name in ("get_nowait", "put_nowait", "qsize")):
            raise AttributeError("not a queue")

    def collect(self, limit):
        """Move the messages of comms to `ready`; the others stay in their order."""
        self.stream.flush(sys.modules["zmq"].POLLIN)
        for _ in range(self.queue.qsize()):
            item = self.queue.get_nowait()
            arguments = item[-1]
            ours = (
                len(self.ready) < limit and arguments and _type_of(self.kernel, arguments[0]) in COMM_MESSAGES
            )
            (self.ready.append if ours else self.queue.put_nowait)(item)

    def take(self):
        """Return the next message of a comm."""
        return self.ready.popleft()[-1][0]

    def give_back(self):
        """Leave what an interrupt kept from being handled to the kernel."""
        while self.ready:
            self.queue.put_nowait(self.ready.popleft())


class PairInbox:
    """ipykernel 7: a thread of its own reads the shell channel and passes messages on through a pair of sockets.

    The kernel goes on reading from the pair whenever its loop runs, so what it reads passes through here too: first
    what was held, which is older.
    """

    def __init__(self, kernel):
        pair = kernel.shell_channel_thread.manager.get_shell_channel_to_subshell_pair(None)
        self.kernel, self.ready, self.held = kernel, deque(), deque()
        self.asked, self.behind, self.tasks = False, 0, set()
        self.socket, self.stream = pair.to_socket, pair.to_stream
        self.loop = kernel.io_loop.asyncio_loop
        # With it a cell runs in the one context of all cells, so that what one sets, the next one sees.
        self.receive = self.stream._recv_callback
        if not callable(self.receive):
            raise AttributeError("no one receives")
        self.stream.on_recv(self._received, copy=False)

    def collect(self, limit):
        """Move the messages of comms to `ready`; the others are held for the kernel, in their order."""
        zmq = sys.modules["zmq"]
        for _ in range(limit):
            try:
                frames = self.socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            # Where the cell awaits, the kernel may have taken earlier ones, which then wait behind the cell.
            ours = not self.behind and _type_of(self.kernel, frames) in COMM_MESSAGES
            (self.ready if ours else self.held).append(frames)
            if not self.asked:
                self.asked = True
                self.loop.call_soon(self._deliver)  # once the cell ends or awaits

    def take(self):
        """Return the next message of a comm."""
        return self.ready.popleft()

    def give_back(self):
        """Nothing to do: what is left is delivered when the cell has ended."""

    def _deliver(self):
        """Hand the kernel what was held, and wake its stream: the sign that messages wait was ours to see."""
        self.asked = False
        self._hand_back()
        self.stream.flush(sys.modules["zmq"].POLLIN)

    def _hand_back(self):
        for waiting in (self.ready, self.held):
            while waiting:
                task = asyncio.ensure_future(self._pass_on(waiting.popleft()), loop=self.loop)
                self.tasks.add(task)  # the loop itself keeps a task only weakly
                task.add_done_callback(self.tasks.discard)

    def _received(self, frames):
        """Take a message that the kernel's loop has read."""
        self._hand_back()
        return self._pass_on(frames)

    def _pass_on(self, frames):
        """Return what handles a message as the kernel does."""
        if _type_of(self.kernel, frames) not in COMM_MESSAGES:
            return self.receive(frames)
        self.behind += 1
        return self._counted(frames)

    async def _counted(self, frames):
        try:
            await self.receive(frames)
        finally:
            self.behind -= 1


def _open_inbox(kernel) -> Any:
    """Find where a kernel keeps its messages; None where none of the places we know is there."""
    for needed in (
        "set_parent",
        "get_parent",
        "_parent_ident",
        "_publish_status",
        "shell_handlers",
        "session",
        "io_loop",
    ):
        if not hasattr(kernel, needed):
            return None
    try:
        if getattr(kernel, "shell_channel_thread", None) is not None:
            return PairInbox(kernel)
        return QueueInbox(kernel)
    except AttributeError:
        return None


@contextmanager
def _end_of_cell_unseen(shell):
    """Keep what waits for the end of a cell from running.

    A comm's callback comes with IPython's events of a cell, and matplotlib, when one has ended, shows and closes the
    figures which the running cell is still drawing.
    """
    callbacks = shell.events.callbacks
    kept = {name: callbacks[name] for name in ("pre_execute", "post_execute")}
    callbacks.update({name: [] for name in kept})
    try:
        yield
    finally:
        for name, before in kept.items():
            callbacks[name] = before + callbacks[name]


@contextmanager
def _uninterrupted():
    """Let an interrupt wait: one in the midst of sorting messages would lose some."""
    usual, waiting = signal.getsignal(signal.SIGINT), []
    if not callable(usual):
        yield
        return
    signal.signal(signal.SIGINT, lambda *arguments: waiting.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if waiting:
            usual(*waiting[0])


class Pump:
    """The pump of one kernel; `pump()` keeps it."""

    def __init__(self, kernel):
        self.kernel, self.inbox, self.handed = kernel, _open_inbox(kernel), deque()
        self.working = False

    def why_not(self):
        """Say why it cannot work here and now; an empty string where it can."""
        if browser.HERE:
            return "Clicks wait for the end of the cell: Python in a browser takes one message at a time."
        if threading.current_thread() is not threading.main_thread():
            name = threading.current_thread().name
            return f"Clicks wait for the end of the cell: they are handled on the main thread, and this is {name!r}."
        if self.inbox is None:
            version = getattr(sys.modules.get("ipykernel"), "__version__", "unknown")
            return f"Clicks wait for the end of the cell: ipykernel {version} keeps them where vistorch does not look."
        return ""

    def __call__(self, limit=LIMIT):
        """Handle what has arrived; return how many messages that were."""
        if self.working or self.why_not():
            return 0
        self.working = True
        try:
            with _uninterrupted():
                self.inbox.collect(limit)
            return self._handle_all() if self.inbox.ready or self.handed else 0
        finally:
            self.inbox.give_back()
            self.working = False

    def _handle_all(self):
        """Handle what is ready, and let the cell be the one that runs again."""
        kernel, count = self.kernel, 0
        parent, sender = kernel.get_parent("shell"), kernel._parent_ident["shell"]
        _flush()
        try:
            with _end_of_cell_unseen(kernel.shell):
                while self.handed:
                    self.handle_handed()
                    count += 1
                while self.inbox.ready:
                    count += self._handle(self.inbox.take())
        finally:
            kernel.set_parent(sender, parent, channel="shell")
            kernel._publish_status("busy", "shell")  # the page has just got "idle"
        return count

    def _handle(self, frames):
        """Handle one message as the kernel does after a cell; return 1, or 0 where it is no good."""
        kernel = self.kernel
        senders, parts = kernel.session.feed_identities(frames, copy=False)
        try:
            message = kernel.session.deserialize(parts, content=True, copy=False)
        except Exception:
            kernel.log.error("Invalid Message", exc_info=True)
            return 0
        kernel.set_parent(senders, message, channel="shell")
        kernel._publish_status("busy", "shell")
        kernel.shell_handlers[message["header"]["msg_type"]](None, senders, message)
        _flush()
        kernel._publish_status("idle", "shell")  # a page sends a widget's next change only after this
        return 1

    def hand_over(self, handle, message):
        """Take a message that reached another thread; it is handled at the next step, or when the cell has ended."""
        self.handed.append((handle, message))
        self.kernel.io_loop.add_callback(self._after_the_cell)

    def handle_handed(self):
        """Handle one message from another thread."""
        handle, message = self.handed.popleft()
        self.kernel.set_parent([], message, channel="shell")
        try:
            handle(message)
        except Exception:
            self.kernel.log.error("Exception in comm_msg", exc_info=True)
        _flush()

    def _after_the_cell(self):
        """Handle what no step has handled meanwhile."""
        while self.handed:
            self.handle_handed()


def _flush():
    """Send what was printed under the message that printed it."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


_pump = None


def _pump_here():
    """Return the pump of this process's kernel, or None outside a kernel."""
    global _pump
    kernel = _kernel()
    if kernel is None:
        return None
    if _pump is None or _pump.kernel is not kernel:
        _pump = Pump(kernel)
    return _pump


_next = 0.0


def pump():
    """Handle the messages to widgets that have arrived, at most 30 times a second.

    Call it as often as you like: at the end of each step of a loop, say.

    Returns:
        How many messages were handled.

    Example:
        >>> from vistorch.widgets._frame.pump import pump
        >>> pump()  # outside a kernel
        0
    """
    global _next
    now = perf_counter()
    if now < _next or threading.current_thread() is not threading.main_thread():
        return 0
    here = _pump_here()
    count = here() if here else 0
    _next = perf_counter() + INTERVAL
    return count


def why_not():
    """Say why clicks wait for the end of the cell here; an empty string where `pump()` handles them.

    Example:
        >>> from vistorch.widgets._frame.pump import why_not
        >>> why_not()
        'Nobody can click here: this is not a notebook kernel.'
    """
    here = _pump_here()
    return here.why_not() if here else "Nobody can click here: this is not a notebook kernel."


def route(comm):
    """Let a comm's messages be handled on the main thread, whichever thread the page or the kernel sends them to.

    A page may send them to a subshell, which has a thread of its own, and ipykernel 7.4 sends them to whichever
    thread last published on the comm. A callback there would know nothing of the running cell.

    Args:
        comm: the comm, `widget.comm` of a widget.

    Returns:
        The same comm.
    """
    if getattr(comm, "_vistorch_routed", False):
        return comm
    here = _pump_here()
    if here is None or not hasattr(comm, "handle_msg"):
        return comm
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda data, default: None
    handle = comm.handle_msg

    def on_main_thread(message):
        if threading.current_thread() is threading.main_thread():
            handle(message)
        else:
            here.hand_over(handle, message)

    comm.handle_msg = on_main_thread
    comm._vistorch_routed = True
    return comm
