"""CUDA graphs: what a device did once, played again as one launch.

A replay runs the device's work alone: the same kernels on the same memory, no Python and no events. Invariant: memory
that a graph works with belongs to a private pool, which lives as long as the graph.
"""

from __future__ import annotations

import importlib
import itertools
import threading
from typing import Any

from ..engine.base.events import listeners
from ..engine.kernels import simulated
from ..engine.kernels.cuda import capture, faults, products
from ..engine.library_name import library, named
from ..engine.memory import device_memory, placement
from ..engine.random import generators
from .devices import current_device, synchronize
from .streams import Stream, StreamContext, current_stream, default_stream
from .usage import empty_cache

_pool_numbers = itertools.count(1).__next__
MODES = ("global", "thread_local", "relaxed")
NEEDS_A_GPU = (
    "CUDA graphs need a real CUDA device; simulated devices run each step as it is written. "
    "`vistorch.compile(step, mode='reduce-overhead')` works on both"
)


def is_current_stream_capturing() -> bool:
    """Say whether the work of this thread is being captured.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.is_current_stream_capturing()
        False
    """
    return capture.current() is not None


def graph_pool_handle() -> tuple[int, int]:
    """Return the name of a new private pool, for graphs that are to share their memory.

    Example:
        >>> import vistorch
        >>> first, second = vistorch.cuda.graph_pool_handle(), vistorch.cuda.graph_pool_handle()
        >>> first == second
        False
    """
    return (_pool_numbers(), 0)


def _pool_of(handle: Any) -> device_memory.PrivatePool:
    """The private pool behind a name; it lives as long as a graph holds it."""
    allocator = device_memory.allocator
    assert allocator is not None, "a real device is in use"
    own = getattr(handle, "_private", None)
    if own is not None:  # a MemPool
        found = own()
        assert found is not None
        return found
    key = tuple(handle)
    known = next((p for ref in allocator.private if (p := ref()) is not None and p.identity == key), None)
    return allocator.new_pool(key) if known is None else known


class CUDAGraph:
    """What a device did once, played again as one launch. `graph` captures it.

    Args:
        keep_graph: keep what was captured beside what runs, for `raw_cuda_graph`; it is always kept.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> g = vistorch.cuda.CUDAGraph()
        >>> with vistorch.cuda.graph(g):
        ...     pass
        Traceback (most recent call last):
            ...
        RuntimeError: CUDA graphs need a real CUDA device; simulated devices run each step as it is written. ...
        >>> vistorch.cuda.simulate(None)
    """

    def __init__(self, keep_graph: bool = False):
        self._keep = keep_graph
        self._own: Any = None  # cupy's graph
        self._pool: device_memory.PrivatePool | None = None
        self._capture: capture.Capture | None = None
        self._within: Any = None
        self._device = 0
        self._generators: list[Any] = []
        self._draws: list[
            tuple[Any, Any, int]
        ] = []  # counter, its numbers on the device, words a replay takes

    def register_generator_state(self, generator: Any) -> None:
        """Let the numbers of a generator of one's own move on at each replay; the device's default one does anyway.

        Args:
            generator: a generator of the device.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.cuda.CUDAGraph().register_generator_state(vistorch.Generator("cuda"))
            >>> vistorch.cuda.simulate(None)
        """
        self._generators.append(generator)

    def capture_begin(
        self, pool: Any = None, capture_error_mode: str = "global", check_input_liveness: bool = False
    ) -> None:
        """Capture what is put into the current stream from now on.

        Args:
            pool: take memory of this pool: `graph_pool_handle()`, another graph's `pool()`, a `MemPool`.
            capture_error_mode: accepted; what must not be captured is refused in this thread, whatever it says.
            check_input_liveness: accepted, as in PyTorch.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.simulate(1)
            >>> vistorch.cuda.CUDAGraph().capture_begin(capture_error_mode="strict")
            Traceback (most recent call last):
                ...
            RuntimeError: Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got strict
            >>> vistorch.cuda.simulate(None)
        """
        if capture_error_mode not in MODES:
            raise RuntimeError(
                "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, "
                f"got {capture_error_mode}"
            )
        if simulated.count():
            raise RuntimeError(named(NEEDS_A_GPU))
        if self._own is not None:
            raise RuntimeError(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
            )
        if capture.current() is not None:
            raise RuntimeError("this thread is already capturing a CUDA graph")
        stream = current_stream()
        if stream == default_stream():
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. "
                "(However, after capture, it's ok to replay them on the default stream.)"
            )
        import cupy

        self._device = device = current_device()
        allocator = device_memory.allocator
        assert allocator is not None, "CUDA is in use"
        products.prepare(placement.cuda_place(device).xp, device).on(int(stream._own.ptr))
        self._pool = _pool_of(graph_pool_handle() if pool is None else pool)
        draws = self._begin_draws(device)
        self._capture = capture.Capture(device, threading.get_ident())
        self._within = allocator.within(device, self._pool)
        self._within.__enter__()
        allocator.capturing += 1
        self._draws = draws
        try:
            stream._own.begin_capture(cupy.cuda.runtime.streamCaptureModeRelaxed)
        except BaseException:
            self._over()
            raise
        self._capture.begin()

    def _begin_draws(self, device: int) -> list:
        """Let generators of the device read their place from its memory."""
        found: list = []
        xp = placement.cuda_place(device).xp
        for generator in [generators.of_device(device), *self._generators]:
            counter = getattr(generator, "counter", None)
            if counter is not None and counter not in [known for known, _, _ in found]:
                held = xp.zeros(2, "u8")
                counter.begin_capture(int(held.data.ptr))
                found.append((counter, held, 0))
        return found

    def _over(self) -> None:
        """The capture has ended, well or not."""
        allocator = device_memory.allocator
        assert allocator is not None
        self._within.__exit__(None, None, None)
        self._within = None
        allocator.capturing -= 1
        self._draws = [(counter, held, counter.end_capture()) for counter, held, _ in self._draws]

    def capture_end(self) -> None:
        """End the capture.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().capture_end()
            Traceback (most recent call last):
                ...
            RuntimeError: capture_end() without capture_begin()
        """
        if self._within is None or self._capture is None:
            raise RuntimeError("capture_end() without capture_begin()")
        allocator = device_memory.allocator
        assert allocator is not None and self._pool is not None
        self._capture.end()
        try:
            self._own = current_stream()._own.end_capture()
        finally:
            self._over()
            allocator.captured()
        self._pool.graphs += 1

    def _abandon(self) -> None:
        """End a capture in which something failed; what it holds is let go."""
        try:
            self.capture_end()
        except Exception:
            pass  # the capture was invalid already: the first failure is the one to tell
        self.reset()

    def instantiate(self) -> None:
        """Do nothing: a captured graph can be launched.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().instantiate()
            Traceback (most recent call last):
                ...
            RuntimeError: Called CUDAGraph::instantiate without a preceding successful capture.
        """
        self._captured("instantiate")

    def _captured(self, name: str) -> Any:
        if self._own is None:
            raise RuntimeError(f"Called CUDAGraph::{name} without a preceding successful capture.")
        return self._own

    def replay(self) -> None:
        """Do on the device, in the current stream, what was captured.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().replay()
            Traceback (most recent call last):
                ...
            RuntimeError: Called CUDAGraph::replay without a preceding successful capture.
        """
        own = self._captured("replay")
        if capture.current() is not None:
            raise capture.refusal("launches another graph", capture.place_here())
        with placement.cuda_place(self._device):
            for counter, held, words in self._draws:
                if words:
                    seed, offset = counter.before_replay(words)
                    held[0:1].fill(seed)
                    held[1:2].fill(offset)
            own.launch(stream=current_stream(self._device)._own)
        if (emit := listeners.phase) is not None:
            emit("replay", self)

    def reset(self) -> None:
        """Let go of what was captured.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().reset()
        """
        if self._own is not None and self._pool is not None:
            self._pool.graphs -= 1
        self._own = self._pool = self._capture = None
        self._draws = []

    def __del__(self) -> None:
        if self._own is not None and self._pool is not None:
            self._pool.graphs -= 1

    def pool(self) -> tuple[int, int]:
        """Return the name of the pool that its memory is of.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().pool()
            Traceback (most recent call last):
                ...
            RuntimeError: Called CUDAGraph::pool() without a preceding successful capture.
        """
        if self._pool is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._pool.identity

    def enable_debug_mode(self) -> None:
        """Do nothing: what was captured is always kept.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().enable_debug_mode()
        """

    def debug_dump(self, debug_path: Any) -> None:
        """Write the graph into a file, in Graphviz's language.

        Args:
            debug_path: the file.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().debug_dump("graph.dot")
            Traceback (most recent call last):
                ...
            RuntimeError: Called CUDAGraph::debug_dump without a preceding successful capture.
        """
        text = self._captured("debug_dump").debug_dot_str()
        with open(debug_path, "w", encoding="utf-8") as file:
            file.write(text)

    def raw_cuda_graph(self) -> int:
        """Return the address of the captured graph.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().raw_cuda_graph()
            Traceback (most recent call last):
                ...
            RuntimeError: Called CUDAGraph::raw_cuda_graph without a preceding successful capture.
        """
        return int(self._captured("raw_cuda_graph").graph)

    def raw_cuda_graph_exec(self) -> int:
        """Return the address of what is launched.

        Example:
            >>> import vistorch
            >>> vistorch.cuda.CUDAGraph().raw_cuda_graph_exec()
            Traceback (most recent call last):
                ...
            RuntimeError: Called CUDAGraph::raw_cuda_graph_exec without a preceding successful capture.
        """
        return int(self._captured("raw_cuda_graph_exec").graphExec)


class graph:
    """Capture the device's work inside a `with` statement into a `CUDAGraph`.

    Args:
        cuda_graph: the graph.
        pool: take memory of this pool; one of its own if None.
        stream: the stream to capture; a side stream if None.
        capture_error_mode: accepted, as in PyTorch.
        enable_annotations: accepted.
        check_input_liveness: accepted.

    Example:
        >>> import vistorch
        >>> if vistorch.cuda.is_available():
        ...     x, g = vistorch.ones(3, device="cuda"), vistorch.cuda.CUDAGraph()
        ...     with vistorch.cuda.graph(g):
        ...         y = x * 2
        ...     _ = x.fill_(5)
        ...     g.replay()  # y is 10 now
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Any = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ):
        if not isinstance(cuda_graph, CUDAGraph):
            raise TypeError(f"graph() takes a CUDAGraph, not {type(cuda_graph).__name__}")
        self.cuda_graph, self.pool, self.capture_stream = cuda_graph, pool, stream
        self.capture_error_mode = capture_error_mode
        self._context: StreamContext | None = None

    def __enter__(self) -> None:
        if simulated.count():
            raise RuntimeError(named(NEEDS_A_GPU))
        synchronize()
        empty_cache()
        stream = self.capture_stream
        if stream is None:
            cls = graph
            if (
                cls.default_capture_stream is None
                or cls.default_capture_stream.device.index != current_device()
            ):
                cls.default_capture_stream = Stream()
            stream = cls.default_capture_stream
        before = current_stream()
        stream.wait_stream(before)
        self._context = StreamContext(stream)
        self._context.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self._context.__exit__()
            raise

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        assert self._context is not None
        try:
            if error is None:
                self.cuda_graph.capture_end()
            else:
                self.cuda_graph._abandon()
        finally:
            self._context.__exit__()
        if error is not None and (said := explained(error)) is not None:
            raise said from error


def explained(error: BaseException) -> BaseException | None:
    """What to say of a failure in a capture: the op that cannot be captured; None where its own words are right."""
    if isinstance(error, (capture.CaptureError, faults.DeviceIndexError)):
        return None
    module = type(error).__module__.partition(".")[0]
    if module not in ("cupy", "cupy_backends") and "captur" not in str(error).lower():
        return None
    where, trace = ("", 0, ()), error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if not capture._ours(frame.f_code.co_filename):
            inner, functions = trace.tb_next, []
            while inner is not None and capture._ours(inner.tb_frame.f_code.co_filename):
                functions.append(inner.tb_frame.f_code.co_name)
                inner = inner.tb_next
            if functions:
                where = (frame.f_code.co_filename, trace.tb_lineno, tuple(reversed(functions)))
        trace = trace.tb_next
    line = str(error).strip().partition("\n")[0]
    return capture.refusal(f"waits for the device, or copies from or to the host ({line})", where)


def __getattr__(name: str) -> Any:
    if name == "make_graphed_callables":  # it stands on autograd, which stands on this package
        return importlib.import_module("vistorch.graphed").make_graphed_callables
    raise AttributeError(f"module '{library}.cuda.graphs' has no attribute {name!r}")
