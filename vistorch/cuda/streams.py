"""Streams and events: cupy's where devices are real; no effect on simulated ones, where work is done at once.

Invariant: the current stream is one for each thread and device, and cupy itself keeps it for real devices.
"""

import itertools
import threading
import time
from typing import Any

from ..engine.base import cuda_probe
from ..engine.base.device import device as named_device
from ..engine.base.device import make
from ..engine.kernels import simulated
from ..engine.kernels.cuda import capture, faults
from ..engine.library_name import library
from ..engine.memory import device_faults
from .devices import WAITS, existing_index
from .devices import device as on_device

_handles = itertools.count(1).__next__


class _Current(threading.local):
    """The current stream of each simulated device, for one thread."""

    def __init__(self):
        self.streams: dict[int, Stream] = {}


_current = _Current()


class Stream:
    """A queue of work on a CUDA device; queues run beside each other.

    On a simulated device work is done before the call returns, so a stream there is always empty.

    Args:
        device: the device, or None for the current one.
        priority: a negative number asks for a higher priority.

    Example:
        >>> from vistorch.cuda import simulate
        >>> simulate(1)
        >>> s = Stream()
        >>> with stream(s):
        ...     current_stream() == s
        True
        >>> s.query()
        True
        >>> simulate(None)
    """

    __slots__ = ("_own", "cuda_stream", "device")

    def __init__(self, device: Any = None, priority: int = 0):
        self.device: named_device = make("cuda", existing_index(device))
        self._own: Any = None
        if simulated.count():
            self.cuda_stream = _handles()
        else:
            import cupy

            with on_device(self.device):
                self._own = cupy.cuda.Stream(non_blocking=True, priority=priority or None)
            self.cuda_stream = self._own.ptr

    def synchronize(self) -> None:
        """Wait until all work in this stream is done.

        Example:
            >>> import vistorch
            >>> from vistorch import cuda
            >>> cuda.simulate(1)
            >>> s = cuda.Stream()
            >>> with cuda.stream(s):
            ...     x = vistorch.ones(2, device="cuda").sum()
            >>> s.synchronize()
            >>> s.query(), x.item()
            (True, 2.0)
            >>> cuda.simulate(None)
        """
        if self._own is not None:
            capture.refuse(WAITS)
            with device_faults.waiting():
                self._own.synchronize()
            faults.report()

    def query(self) -> bool:
        """Say whether all work in this stream is done."""
        return self._own is None or self._own.done

    def record_event(self, event: "Event | None" = None) -> "Event":
        """Record an event, a new one if none is given, behind the work now in this stream; return it.

        Example:
            >>> import vistorch
            >>> from vistorch import cuda
            >>> cuda.simulate(1)
            >>> s = cuda.Stream()
            >>> with cuda.stream(s):
            ...     x = vistorch.ones(2, device="cuda") * 3
            >>> event = s.record_event()
            >>> event.synchronize()
            >>> event.query()
            True
            >>> cuda.simulate(None)
        """
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """Let the work put into this stream from now on wait for an event.

        Example:
            >>> import vistorch
            >>> from vistorch import cuda
            >>> cuda.simulate(1)
            >>> first, second = cuda.Stream(), cuda.Stream()
            >>> with cuda.stream(first):
            ...     x = vistorch.ones(2, device="cuda")
            >>> second.wait_event(first.record_event())
            >>> with cuda.stream(second):  # finds x made, whichever stream is faster
            ...     y = x + 1
            >>> y.tolist()
            [2.0, 2.0]
            >>> cuda.simulate(None)
        """
        event.wait(self)

    def wait_stream(self, stream: "Stream") -> None:
        """Let the work put into this stream from now on wait for the work now in another.

        Example:
            >>> import vistorch
            >>> from vistorch import cuda
            >>> cuda.simulate(1)
            >>> side = cuda.Stream()
            >>> side.wait_stream(cuda.current_stream())
            >>> with cuda.stream(side):
            ...     x = vistorch.ones(2, device="cuda") * 2
            >>> cuda.current_stream().wait_stream(side)
            >>> x.tolist()
            [2.0, 2.0]
            >>> cuda.simulate(None)
        """
        self.wait_event(stream.record_event())

    def __enter__(self) -> "Stream":
        context = StreamContext(self)
        context.__enter__()
        _entered.contexts.append(context)
        return self

    def __exit__(self, *exception: object) -> None:
        _entered.contexts.pop().__exit__(*exception)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Stream):
            return self.cuda_stream == other.cuda_stream and self.device is other.device
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device))

    def __repr__(self) -> str:
        return f"<{library}.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class _Entered(threading.local):
    """The `with stream:` blocks a thread is in."""

    def __init__(self):
        self.contexts: list[StreamContext] = []


_entered = _Entered()


class Event:
    """A mark in a stream: others can wait for it, and two of them measure the time between.

    On a simulated device the time is the wall clock's, of numpy on the CPU: it says nothing about a GPU.

    Args:
        enable_timing: keep the time of the mark.
        blocking: let `synchronize` sleep instead of spin.
        interprocess: let other processes wait for it, by `ipc_handle()`; it keeps no time then.
        external: not supported.

    Example:
        >>> import vistorch
        >>> from vistorch.cuda import Event, Stream, simulate
        >>> simulate(1)
        >>> start, end = Event(enable_timing=True), Event(enable_timing=True)
        >>> start.record()
        >>> y = vistorch.ones(100, device="cuda").exp()
        >>> end.record()
        >>> end.synchronize()  # the program waits until the work before the mark is done
        >>> end.query(), start.elapsed_time(end) >= 0
        (True, True)
        >>> end.wait(Stream())  # that stream alone waits, the program goes on
        >>> simulate(None)
    """

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
        external: bool = False,
    ):
        if external:
            raise NotImplementedError(f"{library}.cuda.Event has no external events")
        if interprocess and enable_timing:
            raise RuntimeError(
                "an event for other processes keeps no time: leave enable_timing or interprocess out"
            )
        self.interprocess = interprocess
        self.enable_timing = enable_timing
        self.blocking = blocking
        self._own: Any = None
        self._time: float | None = None

    def record(self, stream: "Stream | None" = None) -> None:
        """Put the mark behind the work now in a stream, the current one if none is given."""
        stream = current_stream() if stream is None else stream
        self._time = time.perf_counter()
        if stream._own is not None:
            import cupy

            with on_device(stream.device):
                if self._own is None:
                    more = {"interprocess": True} if self.interprocess else {}
                    self._own = cupy.cuda.Event(
                        block=self.blocking, disable_timing=not self.enable_timing, **more
                    )
                self._own.record(stream._own)

    def ipc_handle(self) -> bytes:
        """Return what another process opens by `from_ipc_handle`; the event must have been recorded.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.Event(interprocess=True).ipc_handle()
            Traceback (most recent call last):
                ...
            RuntimeError: an event has a handle for other processes if it was made with interprocess=True and ...
        """
        if self._own is None or not self.interprocess:
            raise RuntimeError(
                "an event has a handle for other processes if it was made with interprocess=True and recorded on a "
                "real device"
            )
        return cuda_probe.runtime().ipcGetEventHandle(self._own.ptr)

    @classmethod
    def from_ipc_handle(cls, device: Any, handle: bytes) -> "Event":
        """Return the event behind another process's handle.

        Args:
            device: the device that it was recorded on.
            handle: what `ipc_handle` returned there.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.cuda.Event.from_ipc_handle(0, b"of another process")
            Traceback (most recent call last):
                ...
            RuntimeError: a simulated device has no events of other processes
            >>> vistorch.cuda.simulate(None)
        """
        made, index = cls(), existing_index(device)
        if simulated.count():
            raise RuntimeError("a simulated device has no events of other processes")
        with on_device(index):
            made._own = _Opened(cuda_probe.runtime(), handle)
        made._time = time.perf_counter()
        return made

    def wait(self, stream: "Stream | None" = None) -> None:
        """Let the work put into a stream from now on, the current one if none is given, wait for the mark."""
        if self._own is not None:
            stream = current_stream() if stream is None else stream
            stream._own.wait_event(self._own)

    def query(self) -> bool:
        """Say whether the work before the mark is done; True before the event is recorded."""
        return self._own is None or self._own.done

    def synchronize(self) -> None:
        """Wait until the work before the mark is done."""
        if self._own is not None:
            capture.refuse(WAITS)
            with device_faults.waiting():
                self._own.synchronize()
            faults.report()

    def elapsed_time(self, end_event: "Event") -> float:
        """Return the milliseconds from this mark to another."""
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if not (self.enable_timing and end_event.enable_timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        if self._own is None or end_event._own is None:
            return (end_event._time - self._time) * 1000.0
        if not (self.query() and end_event.query()):
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        import cupy

        return cupy.cuda.get_elapsed_time(self._own, end_event._own)

    def __repr__(self) -> str:
        return f"<{library}.cuda.Event {'uninitialized' if self._time is None else 'recorded'}>"


class _Opened:
    """Another process's event, in the form of cupy's.

    Args:
        runtime: cupy's calls.
        handle: the event's.
    """

    def __init__(self, runtime: Any, handle: bytes):
        self.runtime, self.ptr = runtime, runtime.ipcOpenEventHandle(handle)

    @property
    def done(self) -> bool:
        """Whether the work before it is done."""
        return self.runtime.eventQuery(self.ptr) == 0

    def synchronize(self) -> None:
        """Wait for it."""
        self.runtime.eventSynchronize(self.ptr)

    def __del__(self) -> None:
        self.runtime.eventDestroy(self.ptr)


class StreamContext:
    """Make a stream the current one of its device inside a `with` statement; None changes nothing.

    Args:
        stream: the stream.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> side = vistorch.cuda.Stream()
        >>> with vistorch.cuda.StreamContext(side):
        ...     vistorch.cuda.current_stream() == side
        True
        >>> vistorch.cuda.simulate(None)
    """

    def __init__(self, stream: Stream | None):
        self.stream = stream
        self._before: list[Stream] = []

    def __enter__(self) -> None:
        if self.stream is not None:
            here = current_stream()
            there = current_stream(self.stream.device)
            self._before += [there, here]
            set_stream(self.stream)

    def __exit__(self, *exception: object) -> None:
        if self.stream is not None:
            here = self._before.pop()
            set_stream(self._before.pop())
            set_stream(here)


def stream(stream: Stream | None) -> StreamContext:
    """Return a context in which a stream is the current one; None changes nothing.

    Args:
        stream: the stream.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> side = vistorch.cuda.Stream()
        >>> with vistorch.cuda.stream(side):
        ...     y = vistorch.ones(2, device="cuda") * 2
        >>> vistorch.cuda.current_stream().wait_stream(side)  # before `y` is read here
        >>> vistorch.cuda.simulate(None)
    """
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Make a stream current, and its device too; None changes nothing.

    Args:
        stream: the stream.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> before, side = vistorch.cuda.current_stream(), vistorch.cuda.Stream()
        >>> vistorch.cuda.set_stream(side)
        >>> vistorch.cuda.current_stream() == side
        True
        >>> vistorch.cuda.set_stream(before)
        >>> vistorch.cuda.simulate(None)
    """
    if stream is None:
        return
    cuda_probe.set_current_index(stream.device.index or 0)
    if stream._own is None:
        _current.streams[stream.device.index or 0] = stream
    else:
        stream._own.use()


def current_stream(device: Any = None) -> Stream:
    """Return the current stream of a device.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.current_stream() == vistorch.cuda.default_stream()
        True
        >>> vistorch.cuda.simulate(None)
    """
    index = existing_index(device)
    if simulated.count():
        return _current.streams.get(index) or default_stream(index)
    import cupy

    return _wrapped(index, cupy.cuda.get_current_stream(index))


def default_stream(device: Any = None) -> Stream:
    """Return the stream a device works in when no other was chosen.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> vistorch.cuda.default_stream(1).device
        device(type='cuda', index=1)
        >>> vistorch.cuda.simulate(None)
    """
    index = existing_index(device)
    if simulated.count():
        return _wrapped(index, None)
    import cupy

    return _wrapped(index, cupy.cuda.Stream.null)


def _wrapped(index: int, own: Any) -> Stream:
    """Return a Stream around one that exists; None is the default stream of a simulated device."""
    made = object.__new__(Stream)
    made.device = make("cuda", index)
    made._own = own
    made.cuda_stream = 0 if own is None else own.ptr
    return made
