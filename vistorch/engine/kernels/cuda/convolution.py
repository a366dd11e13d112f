"""Convolution and its gradients by cuDNN's graphs, where `nvidia-cudnn-frontend` is installed.

A plan is made once for each shape, order of memory, type and setting, and kept. Arrays are described by their own
strides, so channels may come last; dims, strides, types and names are set on every tensor, outputs too. A bias is part
of the plan where cuDNN has a way for both, else it is added to the result. Invariant: what
cuDNN does not take (another type, no elements, windows that do not follow from the sizes), or has no way for, goes to
the plain kernel: products of matrices.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..conv import out_size
from . import launch
from .settings import settings

Kernel = Any
IMAGE, WEIGHT, RESULT, BIAS = 1, 2, 3, 4  # the names of a graph's tensors
NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF", "bfloat16": "BFLOAT16"}
KEPT = 2048
ALIGNED = 16  # bytes: what a plan takes for granted of every address
REPEATS = 3  # runs of a way that is timed


class Work(NamedTuple):
    """What a plan is kept by: which of the three products, of what, where, under which settings.

    Slots:
        kind: "forward", "input" or "weight".
        device: the index of the device.
        dtype: the name of the type.
        image: shape and strides, in elements, of the images.
        weight: of the kernel.
        result: of what a forward pass gives.
        geometry: stride, padding, dilation.
        settings: TF32, deterministic, benchmark.
        shifted: whether a bias is added to the result of a forward pass.
    """

    kind: str
    device: int
    dtype: str
    image: tuple
    weight: tuple
    result: tuple
    geometry: tuple
    settings: tuple
    shifted: bool = False


class Plan(NamedTuple):
    """A graph that is ready to run, and the bytes it works in."""

    graph: Any
    workspace: int


_lock = threading.RLock()
_handles: dict[int, Any] = {}


@functools.cache
def frontend() -> Any:
    """CuDNN's Python module, or None where it is not installed or does not load."""
    try:
        return importlib.import_module("cudnn")
    except Exception:  # a missing library says so in many ways
        return None


def _handle(cudnn: Any, xp: Any, device: int) -> Any:
    """The handle of the current device, on the current stream."""
    handle = _handles.get(device)
    if handle is None:
        handle = _handles[device] = cudnn.create_handle()
    cudnn.set_stream(handle=handle, stream=xp.cuda.get_current_stream().ptr)
    return handle


def graph_of(cudnn: Any, work: Work, handle: Any) -> Any:
    """The graph of one product: two tensors, the operation, its result; with a bias a third and the sum."""
    kind = getattr(cudnn.data_type, NAMES[work.dtype])
    wide = cudnn.data_type.DOUBLE if work.dtype == "float64" else cudnn.data_type.FLOAT
    graph = cudnn.pygraph(
        io_data_type=kind, intermediate_data_type=wide, compute_data_type=wide, handle=handle
    )

    def tensor(uid: int, name: str) -> Any:
        shape, strides = getattr(work, name)
        return graph.tensor(name=name, dim=list(shape), stride=list(strides), data_type=kind, uid=uid)

    stride, padding, dilation = [list(values) for values in work.geometry]
    options = {
        "pre_padding": padding,
        "post_padding": padding,
        "stride": stride,
        "dilation": dilation,
        "compute_data_type": wide,
    }
    if work.kind == "forward":
        uid, name = RESULT, "result"
        out = graph.conv_fprop(image=tensor(IMAGE, "image"), weight=tensor(WEIGHT, "weight"), **options)
        if work.shifted:
            channels = work.weight[0][0]
            dims = [1, channels, *[1] * len(work.geometry[0])]
            strides = [channels, 1, *[1] * len(work.geometry[0])]
            bias = graph.tensor(name="bias", dim=dims, stride=strides, data_type=kind, uid=BIAS)
            out.set_data_type(wide)  # between the two nothing is rounded
            out = graph.bias(input=out, bias=bias, compute_data_type=wide)
    elif work.kind == "input":
        uid, name = IMAGE, "image"
        out = graph.conv_dgrad(loss=tensor(RESULT, "result"), filter=tensor(WEIGHT, "weight"), **options)
    else:
        uid, name = WEIGHT, "weight"
        out = graph.conv_wgrad(image=tensor(IMAGE, "image"), loss=tensor(RESULT, "result"), **options)
    shape, strides = getattr(work, name)
    out.set_output(True).set_uid(uid).set_dim(list(shape)).set_stride(list(strides)).set_data_type(kind)
    return graph


def _without(cudnn: Any, work: Work) -> list:
    """What a way must not do under these settings."""
    tf32, deterministic, _ = work.settings
    notes = cudnn.numerical_note
    found = [notes.NONDETERMINISTIC] if deterministic else []
    return found if tf32 or work.dtype != "float32" else [*found, notes.DOWN_CONVERT_INPUTS]


@functools.lru_cache(KEPT)
def plan(work: Work) -> Plan | None:
    """A way to compute a product, by cuDNN's own order of preference; None if it has none."""
    cudnn = frontend()
    try:
        graph = graph_of(cudnn, work, _handles[work.device])
        graph.validate()
        graph.build_operation_graph()
        graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
        left_out = _without(cudnn, work)
        if left_out:
            graph.deselect_numeric_notes(left_out)
        graph.check_support()
        policy = cudnn.build_plan_policy
        graph.build_plans(policy.ALL if work.settings[2] else policy.HEURISTICS_CHOICE)
        return Plan(graph, graph.get_workspace_size())
    except (RuntimeError, ValueError):  # cuDNN's errors: not supported, no engine
        return None


def _fastest(xp: Any, found: Plan, pack: dict, handle: Any) -> Plan:
    """The quickest of all ways of a graph, each run a few times on the arrays of the first call."""
    graph, best = found.graph, None
    for index in range(graph.get_execution_plan_count()):
        try:
            graph.build_plan_at_index(index)
            space = xp.empty(max(graph.get_workspace_size(), 1), np.uint8)
            graph.execute(pack, int(space.data.ptr), handle=handle)
            start = xp.cuda.get_current_stream().record()
            for _ in range(REPEATS):
                graph.execute(pack, int(space.data.ptr), handle=handle)
            end = xp.cuda.get_current_stream().record()
            end.synchronize()
            took = xp.cuda.get_elapsed_time(start, end)
        except RuntimeError:
            continue
        if best is None or took < best[0]:
            best = took, index
    if best is not None:
        graph.build_plan_at_index(best[1])
    return Plan(graph, graph.get_workspace_size())


_timed: dict[Work, Plan] = {}


def _is_last(xp: Any, a: Any) -> bool:
    """Whether an array has its channels last in memory, and could not be said to have them second."""
    return a.ndim > 3 and not a.flags.c_contiguous and bool(xp.moveaxis(a, 1, -1).flags.c_contiguous)


def _laid(shape: tuple, last: bool) -> tuple[tuple, tuple]:
    """Shape and strides, in elements; a single dim becomes two, as cuDNN has it."""
    sizes = [int(n) for n in shape]
    shape = tuple(sizes if len(sizes) > 3 else [*sizes[:2], 1, *sizes[2:]])
    order = (0, *range(2, len(shape)), 1) if last else tuple(range(len(shape)))
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d], step = step, step * shape[d]
    return shape, tuple(strides)


def _begun(xp: Any, a: Any) -> Any:
    """An array without gaps that begins where cuDNN may read 16 bytes at once: a copy if it does not yet."""
    a = xp.ascontiguousarray(a)
    return a.copy() if int(a.data.ptr) % ALIGNED else a


def _as_laid(xp: Any, a: Any, last: bool) -> Any:
    """The array, or a copy that lies so."""
    return xp.moveaxis(_begun(xp, xp.moveaxis(a, 1, -1)), -1, 1) if last else _begun(xp, a)


def _empty(xp: Any, shape: tuple, dtype: Any, last: bool) -> Any:
    if not last:
        return xp.empty(shape, dtype)
    return xp.moveaxis(xp.empty((shape[0], *shape[2:], shape[1]), dtype), -1, 1)


def _takes(first: Any, second: Any, image: tuple, weight: tuple, out: tuple, geometry: tuple) -> bool:
    """Whether cuDNN is there and has such products."""
    return (
        settings.convolution.enabled
        and launch.known(first, second)
        and 1 <= len(out) <= 3
        and prod(image) > 0
        and prod(weight) > 0
        and prod(out) > 0
        and out_size(image[2:], weight[2:], *geometry) == tuple(out)
        and frontend() is not None
    )


def _run(xp: Any, kind: str, last: bool, arrays: dict, geometry: tuple, bias: Any = None) -> bool:
    """Fill one of the three arrays of a product; False where cuDNN has no way."""
    image = arrays["image"]
    if image.ndim == 3:
        geometry = tuple([(v, *values) for v, values in zip((1, 0, 1), geometry, strict=True)])
    options = settings.options()
    shapes = {name: _laid(a.shape, last) for name, a in arrays.items()}
    device = image.device.id
    work = Work(
        kind,
        device,
        image.dtype.name,
        geometry=geometry,
        settings=options,
        shifted=bias is not None,
        **shapes,
    )
    with _lock:
        handle = _handle(frontend(), xp, device)
        found = _timed.get(work) or plan(work)
        if found is None:
            return False
        uids = {"image": IMAGE, "weight": WEIGHT, "result": RESULT}
        pack = {uid: int(arrays[name].data.ptr) for name, uid in uids.items()}
        if bias is not None:
            pack[BIAS] = int(bias.data.ptr)
        if options[2] and work not in _timed:
            found = _timed[work] = _fastest(xp, found, pack, handle)
        space = xp.empty(max(found.workspace, 1), np.uint8)
        found.graph.execute(pack, int(space.data.ptr), handle=handle)
    return True


def _computed(xp: Any, kind: str, given: dict, shape: tuple, geometry: tuple, bias: Any = None) -> Any:
    """The product of two arrays by name, or None where cuDNN has no way."""
    last = any(_is_last(xp, a) for a in given.values())
    arrays = {name: _as_laid(xp, a, last) for name, a in given.items()}
    (name,) = {"image", "weight", "result"} - set(arrays)
    arrays[name] = _empty(xp, shape, next(iter(arrays.values())).dtype, last)
    if bias is not None and _run(xp, kind, last, arrays, geometry, bias):
        return arrays[name]
    if not _run(xp, kind, last, arrays, geometry):
        return None
    return arrays[name] if bias is None else _shifted(arrays[name], bias)


def _forward(
    xp: Any, x: Any, w: Any, stride: tuple, padding: tuple, dilation: tuple, bias: Any = None
) -> Any:
    """A convolution and the bias, in one plan if cuDNN has one for both."""
    geometry = stride, padding, dilation
    out = out_size(x.shape[2:], w.shape[2:], *geometry)
    if not _takes(x, w, x.shape, w.shape, out, geometry):
        return None
    shape = (x.shape[0], w.shape[0], *out)
    if bias is not None and bias.dtype != x.dtype:
        y = _computed(xp, "forward", {"image": x, "weight": w}, shape, geometry)
        return None if y is None else _shifted(y, bias)
    bias = None if bias is None else _begun(xp, bias)
    return _computed(xp, "forward", {"image": x, "weight": w}, shape, geometry, bias)


def _to_input(
    xp: Any, g: Any, w: Any, size: tuple, stride: tuple, padding: tuple, dilation: tuple, groups: int
) -> Any:
    geometry = stride, padding, dilation
    shape = (g.shape[0], w.shape[1] * groups, *size)
    if not _takes(g, w, shape, w.shape, g.shape[2:], geometry):
        return None
    return _computed(xp, "input", {"result": g, "weight": w}, shape, geometry)


def _marked(kernel: Callable) -> Callable:
    kernel.halves = True  # type: ignore[attr-defined]
    return kernel


def _widened(*arrays: Any) -> tuple[list, Any]:
    """Arrays for the plain kernel, which computes half types in float32, and the type to round to."""
    half = arrays[0].dtype if arrays[0].dtype.itemsize == 2 else None
    return ([a.astype(np.float32) for a in arrays] if half is not None else list(arrays)), half


def _plainly(plain: Kernel, arrays: tuple, *consts: Any) -> Any:
    given, half = _widened(*arrays)
    out = plain(*given, *consts)
    return out if half is None else out.astype(half)


def _shifted(y: Any, bias: Any) -> Any:
    y += bias.reshape((-1,) + (1,) * (y.ndim - 2))
    return y


def convolution(plain: Kernel, xp: Any) -> Kernel:
    """`convolution`."""

    def kernel(input: Any, weight: Any, stride: tuple, padding: tuple, dilation: tuple, groups: int) -> Any:
        y = _forward(xp, input, weight, stride, padding, dilation)
        return _plainly(plain, (input, weight), stride, padding, dilation, groups) if y is None else y

    return _marked(kernel)


def convolution_with_bias(plain: Kernel, xp: Any) -> Kernel:
    """`convolution_with_bias`."""

    def kernel(
        input: Any, weight: Any, bias: Any, stride: tuple, padding: tuple, dilation: tuple, groups: int
    ) -> Any:
        y = _forward(xp, input, weight, stride, padding, dilation, bias)
        if y is None:
            return _plainly(plain, (input, weight, bias), stride, padding, dilation, groups)
        return y

    return _marked(kernel)


def input_grad(plain: Kernel, xp: Any) -> Kernel:
    """`conv_input_grad`, and `convolution_transposed`, which is the same."""

    def kernel(
        input: Any, weight: Any, size: tuple, stride: tuple, padding: tuple, dilation: tuple, groups: int
    ) -> Any:
        x = _to_input(xp, input, weight, size, stride, padding, dilation, groups)
        if x is None:
            return _plainly(plain, (input, weight), size, stride, padding, dilation, groups)
        return x

    return _marked(kernel)


def transposed_with_bias(plain: Kernel, xp: Any) -> Kernel:
    """`convolution_transposed_with_bias`."""

    def kernel(
        input: Any,
        weight: Any,
        bias: Any,
        size: tuple,
        stride: tuple,
        padding: tuple,
        dilation: tuple,
        groups: int,
    ) -> Any:
        x = _to_input(xp, input, weight, size, stride, padding, dilation, groups)
        if x is None:
            return _plainly(plain, (input, weight, bias), size, stride, padding, dilation, groups)
        return _shifted(x, bias)

    return _marked(kernel)


def weight_grad(plain: Kernel, xp: Any) -> Kernel:
    """`conv_weight_grad`."""

    def kernel(
        input: Any, other: Any, kernel: tuple, stride: tuple, padding: tuple, dilation: tuple, groups: int
    ) -> Any:
        geometry = stride, padding, dilation
        shape = (input.shape[1], other.shape[1] // groups, *kernel)
        w = None
        if _takes(input, other, other.shape, shape, input.shape[2:], geometry):
            w = _computed(xp, "weight", {"result": input, "image": other}, shape, geometry)
        return _plainly(plain, (input, other), kernel, stride, padding, dilation, groups) if w is None else w

    return _marked(kernel)
