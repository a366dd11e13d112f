"""Small public things of PyTorch that programs hardly use, built: flags, decorators, questions and their answers.

Invariant: each does what its namesake does; `rare_names.py` says where it is found.
"""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Any

import vistorch
from vistorch.engine.library_name import library
from vistorch.engine.methods.typed_storage import STORAGE_CLASSES

no, yes, nothing, zero = False, True, None, 0
no_tuple: tuple[Any, ...] = ()
one_bit = vistorch.uint1
Tensor = vistorch.Tensor
private_ops = ("unique_dim",)
interpolation_modes = {"bilinear": 0, "nearest": 1, "bicubic": 2}
padding_modes = {"zeros": 0, "border": 1, "reflection": 2}


# ---- kinds of quantization, which programs compare ------------------------------------------------------------------
class qscheme:
    """A way to quantize, by name alone: no tensor is quantized here.

    Example:
        >>> import vistorch
        >>> vistorch.per_tensor_affine, isinstance(vistorch.per_tensor_affine, vistorch.qscheme)
        (vistorch.per_tensor_affine, True)
    """

    __slots__ = ("_name",)
    _name: str

    def __new__(cls, *args: Any, **kwargs: Any) -> qscheme:
        """Refuse: the ways are those that have a name."""
        raise TypeError(f"cannot create '{library}.qscheme' instances")

    def __repr__(self) -> str:
        return f"{library}.{self._name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (vistorch, self._name)


def _scheme(name: str) -> qscheme:
    made = object.__new__(qscheme)
    made._name = name
    return made


per_tensor_affine = _scheme("per_tensor_affine")
per_tensor_symmetric = _scheme("per_tensor_symmetric")
per_channel_affine = _scheme("per_channel_affine")
per_channel_symmetric = _scheme("per_channel_symmetric")
per_channel_affine_float_qparams = _scheme("per_channel_affine_float_qparams")


# ---- vistorch -------------------------------------------------------------------------------------------------------
class FatalError(RuntimeError):
    """An error after which PyTorch's own process ends; never raised here.

    Example:
        >>> import vistorch
        >>> issubclass(vistorch.FatalError, RuntimeError)
        True
    """


class classproperty:
    """A property of a class.

    Args:
        func: the function of the class that gives it.

    Example:
        >>> import vistorch
        >>> class Here:
        ...     @vistorch.classproperty
        ...     def name(cls):
        ...         return cls.__name__
        >>> Here.name
        'Here'
    """

    def __init__(self, func: Callable) -> None:
        self.func = func

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.func(type(instance) if owner is None else owner)


def get_file_path(*path_components: str) -> str:
    """A path below the folder that the package lies in.

    Args:
        *path_components: its parts.

    Example:
        >>> import vistorch
        >>> vistorch.get_file_path("vistorch", "nn").endswith("nn")
        True
    """
    return os.path.join(os.path.dirname(os.path.dirname(vistorch.__file__)), *path_components)


def init_num_threads() -> None:
    """Nothing to do: the threads are there from the first call that needs them.

    Example:
        >>> import vistorch
        >>> vistorch.init_num_threads()
    """


def sym_sqrt(a: Any) -> float:
    """The square root of a number: every size is a number here.

    Args:
        a: the number.

    Example:
        >>> import vistorch
        >>> vistorch.sym_sqrt(4)
        2.0
    """
    import math

    return math.sqrt(a)


def sym_constrain_range(size: int, *, min: int | None = None, max: int | None = None) -> None:
    """Refuse a size outside of a range.

    Args:
        size: the size.
        min: the smallest that is allowed.
        max: the largest that is allowed.

    Example:
        >>> import vistorch
        >>> vistorch.sym_constrain_range(3, min=1, max=5)
        >>> vistorch.sym_constrain_range(3, min=1, max=2)
        Traceback (most recent call last):
            ...
        RuntimeError: Invalid value range for 3 between [1, 2].
    """
    low = -(2**63) if min is None else min
    high = 2**63 - 1 if max is None else max
    if high < low:
        raise RuntimeError(
            f"Max must be greater than or equal to min, got min={low} max={high}"
        )  # before the size is looked at, as in PyTorch
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


def sym_constrain_range_for_size(size: int, *, min: int | None = None, max: int | None = None) -> None:
    """Refuse a size outside of a range; from zero on, if no smallest one is given.

    Args:
        size: the size.
        min: the smallest that is allowed.
        max: the largest that is allowed.

    Example:
        >>> import vistorch
        >>> vistorch.sym_constrain_range_for_size(3, max=5)
    """
    sym_constrain_range(size, min=0 if min is None else min, max=max)


def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    """Dropout, and which elements it kept.

    Args:
        input: a tensor.
        p: how probable it is that an element is set to zero.
        train: whether to drop anything.

    Example:
        >>> import vistorch
        >>> vistorch.native_dropout(vistorch.ones(2), 0.5, False)
        (tensor([1., 1.]), tensor([True, True]))
    """
    if train is False or p == 0:  # None, as PyTorch takes it, is in training
        return input.clone(), vistorch.ones_like(input, dtype=vistorch.bool)
    if p == 1:
        return vistorch.zeros_like(input), vistorch.zeros_like(input, dtype=vistorch.bool)
    kept = vistorch.empty_like(input, dtype=vistorch.bool).bernoulli_(1 - p)
    return input * kept * (1 / (1 - p)), kept


def cudnn_is_acceptable(tensor: Any) -> bool:
    """False: no kernel of cuDNN's is chosen here.

    Args:
        tensor: the tensor that would be given to it.

    Example:
        >>> import vistorch
        >>> vistorch.cudnn_is_acceptable(vistorch.ones(1))
        False
    """
    return False


def batch_norm_update_stats(
    input: Any, running_mean: Any, running_var: Any, momentum: float
) -> tuple[Any, Any]:
    """The mean and the variance of each channel; running ones are moved towards them.

    Args:
        input: a batch, its channels in dim 1.
        running_mean: a tensor of one number for each channel, or None.
        running_var: the same for the variance, which is taken without bias.
        momentum: how far they are moved.

    Example:
        >>> import vistorch
        >>> vistorch.batch_norm_update_stats(vistorch.tensor([[1.0], [3.0]]), None, None, 0.1)
        (tensor([2.]), tensor([1.]))
    """
    dims = [dim for dim in range(input.dim()) if dim != 1]
    mean, variance = input.mean(dims), input.var(dims, correction=0)
    count = input.numel() // max(input.size(1), 1)
    with vistorch.no_grad():
        if running_mean is not None:
            running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
        if running_var is not None:
            running_var.mul_(1 - momentum).add_(variance * (count / (count - 1)), alpha=momentum)
    return mean, variance


def mkldnn_convolution(
    input: Any, weight: Any, bias: Any, padding: Any, stride: Any, dilation: Any, groups: int
) -> Any:
    """A convolution; which kernel runs is chosen as for every other one.

    Args:
        input: a batch.
        weight: the filters.
        bias: one number for each filter, or None.
        padding: zeros on both sides of each dim.
        stride: the steps.
        dilation: the distances between the filter's elements.
        groups: how many groups of channels are kept apart.

    Example:
        >>> import vistorch
        >>> image, filter = vistorch.ones(1, 1, 2, 2), vistorch.ones(1, 1, 2, 2)
        >>> vistorch.mkldnn_convolution(image, filter, None, (0, 0), (1, 1), (1, 1), 1)
        tensor([[[[4.]]]])
    """
    return vistorch.convolution(
        input, weight, bias, stride, padding, dilation, False, [0] * len(padding), groups
    )


_AUTOCAST = """{what} on {kind}s, which are not here: PyTorch's former name of `{new}`.

Args:
    value: what is set.

Example:
    >>> import vistorch
    >>> vistorch.{name}({given})
    {out}
"""


def _autocast(kind: str) -> dict[str, Callable]:
    state: dict[str, Any] = {
        "enabled": False,
        "dtype": vistorch.float16 if kind == "ipu" else vistorch.bfloat16,
    }

    def get(what: str) -> Callable:
        def ask() -> Any:
            return state[what]

        return ask

    def put(what: str) -> Callable:
        def set(value: Any) -> None:
            state[what] = value

        return set

    made = {}
    for name, call, given, out in (
        (f"get_autocast_{kind}_dtype", get("dtype"), "", f"vistorch.{state['dtype'].name}"),
        (f"set_autocast_{kind}_dtype", put("dtype"), f"vistorch.{state['dtype'].name}", ""),
        (f"is_autocast_{kind}_enabled", get("enabled"), "", "False"),
        (f"set_autocast_{kind}_enabled", put("enabled"), "False", ""),
    ):
        call.__name__ = call.__qualname__ = name
        call.__doc__ = (
            _AUTOCAST.format(
                what="The type that autocast would use"
                if "dtype" in name
                else "Whether autocast would be on",
                kind=kind.upper(),
                new=name.replace(f"_{kind}", ""),
                name=name,
                given=given,
                out=out,
            ).rstrip()
            + "\n"
        )
        made[name] = call
    return made


globals().update(_autocast("ipu"), **_autocast("xla"))


# ---- autograd -------------------------------------------------------------------------------------------------------
class set_multithreading_enabled(ContextDecorator):
    """Remembered until the end of a `with` block: a backward pass has one thread here.

    Args:
        mode: whether.

    Example:
        >>> import vistorch
        >>> with vistorch.autograd.set_multithreading_enabled(False):
        ...     vistorch.ones(1, requires_grad=True).sum().backward()
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        """Nothing changes."""

    def __exit__(self, *exc: object) -> None:
        """Nothing changes."""

    def clone(self) -> Any:
        """The same once more.

        Example:
            >>> import vistorch
            >>> vistorch.autograd.set_multithreading_enabled(False).clone().mode
            False
        """
        return type(self)(self.mode)


class enforce_grad_layout_policy(set_multithreading_enabled):
    """Remembered until the end of a `with` block: a gradient's strides stay what they would be.

    Args:
        enable: whether a gradient takes the strides of its tensor.

    Example:
        >>> import vistorch
        >>> with vistorch.autograd.enforce_grad_layout_policy(False):
        ...     vistorch.ones(1, requires_grad=True).sum().backward()
    """

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """The tensor itself: a tensor inside of `vmap` or `grad` shows its values here as any other does.

    Args:
        tensor: a tensor.
        recurse: changes nothing.

    Example:
        >>> import vistorch
        >>> vistorch.func.debug_unwrap(vistorch.ones(1))
        tensor([1.])
    """
    return tensor


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """The function itself: no compiler must be kept from seeing writes.

    Args:
        func: a function of tensors.
        remove: "mutations" or "mutations_and_views".

    Example:
        >>> import vistorch
        >>> vistorch.func.functionalize(lambda x: x.clone().add_(1))(vistorch.ones(1))
        tensor([2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for remove=. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            "with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be "
            "replaced with their non-aliasing counterparts, {view}_copy.\n"
        )
    return func


# ---- backends and devices -------------------------------------------------------------------------------------------
_attention = {"reduced": False}


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Remembered: attention computes half precision as it does.

    Args:
        enabled: whether.

    Example:
        >>> from vistorch.backends import cuda
        >>> cuda.allow_fp16_bf16_reduction_math_sdp(False)
    """
    _attention["reduced"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """What was set.

    Example:
        >>> from vistorch.backends import cuda
        >>> cuda.fp16_bf16_reduction_math_sdp_allowed()
        False
    """
    return _attention["reduced"]


class SDPAParams:
    """What attention would be called with, to ask whether a kernel can do it.

    Args:
        query: a tensor.
        key: a tensor.
        value: a tensor.
        attn_mask: a tensor, or None.
        dropout: how probable it is that a weight is set to zero.
        is_causal: whether a place sees the places before it only.
        enable_gqa: whether several heads of the query share one of the key.

    Example:
        >>> import vistorch
        >>> x = vistorch.ones(1, 1, 2, 2)
        >>> asked = vistorch.backends.cuda.SDPAParams(x, x, x, None, 0.0, True, False)
        >>> vistorch.backends.cuda.can_use_flash_attention(asked)
        False
    """

    def __init__(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any,
        dropout: float,
        is_causal: bool,
        enable_gqa: bool,
    ) -> None:
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


_CAN = """False: attention here chooses its way itself.

Args:
    params: an `SDPAParams`.
    debug: changes nothing.

Example:
    >>> import vistorch
    >>> vistorch.backends.cuda.{name}(None)
    False
"""


def _cannot(name: str) -> Callable:
    def ask(params: Any, debug: bool = False) -> bool:
        return False

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = _CAN.format(name=name)
    return ask


can_use_flash_attention = _cannot("can_use_flash_attention")
can_use_efficient_attention = _cannot("can_use_efficient_attention")
can_use_cudnn_attention = _cannot("can_use_cudnn_attention")


def list_flash_attention_impls() -> list[str]:
    """None: no other kernel of attention can be put in the place of the one that is here.

    Example:
        >>> import vistorch
        >>> vistorch.nn.attention.list_flash_attention_impls()
        []
    """
    return []


def current_flash_attention_impl() -> str | None:
    """None: the kernel of attention is the one that is here.

    Example:
        >>> import vistorch
        >>> vistorch.nn.attention.current_flash_attention_impl() is None
        True
    """
    return None


def restore_flash_attention_impl() -> None:
    """Nothing to do: the kernel of attention is the one that is here.

    Example:
        >>> import vistorch
        >>> vistorch.nn.attention.restore_flash_attention_impl()
    """


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Nothing changes: no stream is captured while a graph is recorded for backward.

    Args:
        enabled: whether.

    Example:
        >>> import vistorch
        >>> vistorch.autograd.graph.set_override_stale_capture_stream(True)
    """


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Nothing changes: a gradient waits for the stream that it came from.

    Args:
        enabled: whether.

    Example:
        >>> import vistorch
        >>> vistorch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    """


_backend = ["inductor"]


def get_default_backend() -> str:
    """What was set: nothing is compiled.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.get_default_backend()
        'inductor'
    """
    return _backend[0]


def set_default_backend(backend: str) -> None:
    """Remembered: nothing is compiled.

    Args:
        backend: its name.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.set_default_backend("inductor")
    """
    _backend[0] = backend


def nested_compile_region(fn: Any = None, *args: Any, **options: Any) -> Any:
    """Gives the function itself: nothing is compiled.

    Args:
        fn: a function; none where options are given first.
        *args: change nothing.
        **options: change nothing.

    Example:
        >>> import vistorch
        >>> vistorch.compiler.nested_compile_region(abs)(-1)
        1
    """
    return fn if callable(fn) else (lambda given: given)


class CudaError(RuntimeError):
    """An error of CUDA's own, by its number.

    Args:
        code: the number.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.CudaError(2)
        CudaError('CUDA error (2)')
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"CUDA error ({code})")


class DeferredCudaCallError(Exception):
    """A call that waited for CUDA failed; never raised here, where none waits.

    Example:
        >>> import vistorch
        >>> issubclass(vistorch.cuda.DeferredCudaCallError, Exception)
        True
    """


def check_error(res: int) -> None:
    """Refuse a number of CUDA's that is not zero.

    Args:
        res: what a function of CUDA's returned.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.check_error(0)
    """
    if int(res) != 0:
        raise CudaError(int(res))


def get_arch_list() -> list[str]:
    """The architectures that kernels are compiled for: that of the devices that are here, as NVRTC compiles for it.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.get_arch_list() if not vistorch.cuda.is_available() else []
        []
    """
    cuda = vistorch.cuda
    if not cuda.is_available():
        return []
    found = {cuda.get_device_capability(index) for index in range(cuda.device_count())}
    return [f"sm_{major}{minor}" for major, minor in sorted(found)]


def get_gencode_flags() -> str:
    """The same as flags of nvcc.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.get_gencode_flags() if not vistorch.cuda.is_available() else ""
        ''
    """
    numbers = [arch.partition("_")[2] for arch in get_arch_list()]
    return " ".join(f"-gencode compute=compute_{number},code=sm_{number}" for number in numbers)


_sync = [0]


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Remembered: no call waits for the device but those that say so.

    Args:
        debug_mode: "default", "warn" or "error", or 0, 1 or 2.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.set_sync_debug_mode("default")
    """
    names = {"default": 0, "warn": 1, "error": 2}
    if isinstance(debug_mode, str):
        if debug_mode not in names:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        debug_mode = names[debug_mode]
    _sync[0] = debug_mode


def get_sync_debug_mode() -> int:
    """What was set.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.get_sync_debug_mode()
        0
    """
    return _sync[0]


def host_memory_stats() -> OrderedDict:
    """Nothing: the host's memory is Python's, and not counted apart.

    Example:
        >>> import vistorch
        >>> len(vistorch.cuda.host_memory_stats())
        0
    """
    return OrderedDict()


def host_memory_stats_as_nested_dict() -> dict:
    """Nothing: the host's memory is Python's, and not counted apart.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.host_memory_stats_as_nested_dict()
        {}
    """
    return {}


def reset_host_memory_stats() -> None:
    """Nothing to do: the host's memory is not counted apart.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.reset_peak_host_memory_stats()
    """


def _accelerated() -> Any:
    if not vistorch.cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return vistorch.cuda


def accelerator_memory_stats(device_index: Any = None, /) -> Any:
    """The counts of `cuda.memory_stats`.

    Args:
        device_index: of which device; the current one by default.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> "allocated_bytes.all.current" in vistorch.accelerator.memory_stats()
        True
        >>> vistorch.cuda.simulate(None)
    """
    return _accelerated().memory_stats(device_index)


def accelerator_reset_accumulated(device_index: Any = None, /) -> None:
    """Let the accumulated counts begin at zero.

    Args:
        device_index: of which device; the current one by default.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.accelerator.reset_accumulated_memory_stats()
        >>> vistorch.cuda.simulate(None)
    """
    _accelerated().reset_accumulated_memory_stats(device_index)


def accelerator_empty_host_cache() -> None:
    """Nothing to do: the host's memory is not kept.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.accelerator.empty_host_cache()
        >>> vistorch.cuda.simulate(None)
    """
    _accelerated()


# ---- nn.functional --------------------------------------------------------------------------------------------------
def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable,
    if_false: Callable,
    module_name: str,
    func_name: str,
) -> Callable:
    """One of two functions, by an argument.

    Args:
        arg_name: the argument's name.
        arg_index: its place.
        default: what it is where it is not given.
        if_true: the function that is called if it holds.
        if_false: the function that is called otherwise.
        module_name: the module of the new function, or None.
        func_name: the name of the new function, or None.

    Example:
        >>> import vistorch
        >>> call = vistorch.nn.functional.boolean_dispatch("up", 1, True, max, min, None, "end")
        >>> call([1, 2]), call.__name__
        (2, 'end')
    """

    def fn(*args: Any, **kwargs: Any) -> Any:
        if arg_name in kwargs:
            chosen = kwargs.pop(arg_name) if not _takes(if_true, arg_name) else kwargs[arg_name]
        else:
            chosen = args[arg_index] if arg_index < len(args) else default
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__doc__ = if_true.__doc__ or if_false.__doc__
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    return fn


def _takes(function: Callable, name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """Refuse what is neither a number nor a pair.

    Args:
        arg: the argument.
        arg_name: its name.
        message: the sentence, with `{}` for the name.

    Example:
        >>> import vistorch
        >>> vistorch.nn.functional.assert_int_or_pair((1, 2), "size", "{} must be a number or a pair")
    """
    if not (isinstance(arg, int) or len(arg) == 2):
        raise AssertionError(message.format(arg_name))


# ---- serialization --------------------------------------------------------------------------------------------------
class StorageType:
    """The class of a storage, as a file names it.

    Args:
        name: such as "FloatStorage".

    Example:
        >>> import vistorch
        >>> vistorch.serialization.StorageType("FloatStorage")
        StorageType(dtype=vistorch.float32)
    """

    def __init__(self, name: str) -> None:
        self._dtype = STORAGE_CLASSES[name].dtype

    @property
    def dtype(self) -> Any:
        """The type of its elements.

        Example:
            >>> import vistorch
            >>> vistorch.serialization.StorageType("LongStorage").dtype
            vistorch.int64
        """
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"

    __repr__ = __str__


def normalize_storage_type(storage_type: Any) -> Any:
    """The class of storages on the CPU of a class's name.

    Args:
        storage_type: a class of storages.

    Example:
        >>> import vistorch
        >>> vistorch.serialization.normalize_storage_type(vistorch.FloatStorage) is vistorch.FloatStorage
        True
    """
    return getattr(vistorch, storage_type.__name__)


@contextmanager
def mkdtemp() -> Iterator[str]:
    """A folder that is there inside of a `with` block.

    Example:
        >>> import os, vistorch
        >>> with vistorch.serialization.mkdtemp() as folder:
        ...     os.path.isdir(folder)
        True
        >>> os.path.isdir(folder)
        False
    """
    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Whether a module's version is not below another one.

    Args:
        module: the module.
        req_version_tuple: the parts of the other version.
        error_if_malformed: refuse a version of another form; otherwise warn, and say yes.

    Example:
        >>> import numpy, vistorch
        >>> vistorch.serialization.check_module_version_greater_or_equal(numpy, (1, 20))
        True
    """
    try:
        parts = module.__version__.split(".")
        found = tuple(type(wanted)(parts[index]) for index, wanted in enumerate(req_version_tuple))
    except Exception as error:
        sentence = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared"
            f" with tuple {req_version_tuple!s}"
        )
        if error_if_malformed:
            raise RuntimeError(sentence) from error
        warnings.warn(f"{sentence}, but continuing assuming that requirement is met", stacklevel=2)
        return True
    return found >= req_version_tuple


# ---- utils ----------------------------------------------------------------------------------------------------------
def unserializable_hook(f: Callable) -> Callable:
    """Mark a hook, so that nothing is said when its tensor is saved without it.

    Args:
        f: the hook.

    Example:
        >>> import vistorch
        >>> @vistorch.utils.hooks.unserializable_hook
        ... def hook(grad):
        ...     return grad
        >>> hook(1)
        1
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook that will not be saved with a tensor.

    Args:
        tensor: the tensor.

    Example:
        >>> import vistorch
        >>> vistorch.utils.hooks.warn_if_has_hooks(vistorch.ones(1))
    """
    more = tensor._more
    for hook in () if more is None or more.hooks is None else more.hooks.tensor.values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                f"function with @{library}.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )
