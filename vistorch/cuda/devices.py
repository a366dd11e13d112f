"""Which CUDA devices there are and which one is current: PyTorch's names over real or simulated devices.

Invariant: `is_available`, `device_count` and `diagnose` never raise; the rest raises why CUDA is not there.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..engine.base import cuda_probe
from ..engine.base.device import device as named_device
from ..engine.kernels import simulated
from ..engine.kernels.cuda import capture, faults
from ..engine.library_name import library
from ..engine.memory import device_faults, placement

WAITS = "waits for the device"


class Diagnosis(NamedTuple):
    """What `diagnose` says: is CUDA usable, how many devices were found, and why or why not.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> found = vistorch.cuda.diagnose()
        >>> found.ok, found.count
        (True, 2)
        >>> vistorch.cuda.simulate(None)
    """

    ok: bool
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]  (hides tuple.count, which nobody asks)
    reason: str


@dataclass(frozen=True)
class DeviceProperties:
    """What is known of a CUDA device; a simulated one has no capability and no processors: those are 0."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int = 0
    L2_cache_size: int = 0
    max_threads_per_multi_processor: int = 0

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, "
            f"multi_processor_count={self.multi_processor_count}, "
            f"L2_cache_size={self.L2_cache_size // 2**20}MB)"
        )


def is_available() -> bool:
    """Say whether CUDA can be used, really or simulated. Never raises; `diagnose()` says why not.

    Example:
        >>> simulate(2)
        >>> is_available(), device_count()
        (True, 2)
        >>> simulate(None)
    """
    return cuda_probe.find().ok


def diagnose() -> Diagnosis:
    """Look once more for CUDA and say what is there, or what is missing and how to get it.

    Example:
        >>> simulate(1)
        >>> diagnose().reason
        '1 simulated: numpy on the CPU, no speed claimed'
        >>> simulate(None)
    """
    found = cuda_probe.find(again=True)
    return Diagnosis(found.ok, found.number, found.reason)


def simulate(number: int | None) -> None:
    """Pretend CUDA devices: numpy arrays that refuse to mix with other devices as real ones do.

    They are for lessons and tests, and no faster than the CPU they run on. The environment variable
    `VISTORCH_SIMULATED_CUDA` does the same from the start.

    Args:
        number: how many; 0 for none, None for what the environment variable says.

    Raises:
        RuntimeError: if this process already uses a real CUDA device.

    Example:
        >>> simulate(4)
        >>> get_device_name(3)
        'Simulated CUDA device 3 (numpy on the CPU, no speed claimed)'
        >>> simulate(None)
    """
    placement.simulate(number)


def device_count() -> int:
    """Return how many CUDA devices can be used; 0 when there are none, for whatever reason.

    Example:
        >>> simulate(3)
        >>> device_count()
        3
        >>> simulate(None)
    """
    found = cuda_probe.find()
    return found.number if found.ok else 0


def init() -> None:
    """Start CUDA, which otherwise happens by itself at the first use; raise why if it cannot be used.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.init()
        >>> vistorch.cuda.is_initialized()
        True
        >>> vistorch.cuda.simulate(None)
    """
    placement.cuda_place(cuda_probe.current_index())


def is_initialized() -> bool:
    """Say whether a CUDA device, real or simulated, has been used.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> x = vistorch.ones(2, device="cuda")
        >>> vistorch.cuda.is_initialized()
        True
        >>> vistorch.cuda.simulate(None)
    """
    return placement.cuda_in_use()


def current_device() -> int:
    """Return the index of the current device of this thread.

    Example:
        >>> simulate(2)
        >>> with device(1):
        ...     current_device()
        1
        >>> simulate(None)
    """
    return cuda_probe.current_index()


def set_device(device: Any) -> None:
    """Make a device current in this thread; a negative number changes nothing.

    Args:
        device: a CUDA device, its string, or its index.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> vistorch.cuda.set_device(1)
        >>> vistorch.ones(2, device="cuda").device
        device(type='cuda', index=1)
        >>> vistorch.cuda.set_device(0)
        >>> vistorch.cuda.simulate(None)
    """
    index = index_of(device)
    if index >= 0:
        cuda_probe.set_current_index(index)


class device:
    """Make a CUDA device current inside a `with` statement.

    Args:
        device: a CUDA device, its string or its index; None and negative numbers change nothing.

    Example:
        >>> simulate(2)
        >>> with device("cuda:1"):
        ...     current_device()
        1
        >>> current_device()
        0
        >>> simulate(None)
    """

    def __init__(self, device: Any):
        self.idx = -1 if device is None else index_of(device, optional=True)
        self._entered: list[int] = []

    def __enter__(self) -> None:
        if self.idx >= 0:
            before = cuda_probe.current_index()
            cuda_probe.set_current_index(self.idx)
            self._entered.append(before)

    def __exit__(self, *exception: object) -> bool:
        if self.idx >= 0:
            cuda_probe.set_current_index(self._entered.pop())
        return False


class device_of(device):
    """Make the device of a tensor current inside a `with` statement; a tensor on the CPU changes nothing.

    Args:
        obj: a tensor.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> x = vistorch.ones(2, device="cuda:1")
        >>> with vistorch.cuda.device_of(x):
        ...     vistorch.cuda.current_device()
        1
        >>> vistorch.cuda.simulate(None)
    """

    def __init__(self, obj: Any):
        super().__init__(obj.device if obj.device.type == "cuda" else -1)


def synchronize(device: Any = None) -> None:
    """Wait until a CUDA device has finished all its work; a simulated one always has.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> y = vistorch.ones(2, device="cuda") * 2
        >>> vistorch.cuda.synchronize()  # a clock read now would show the work, not only its start
        >>> vistorch.cuda.simulate(None)
    """
    index = existing_index(device)
    if not simulated.count():
        import cupy

        capture.refuse(WAITS)
        with device_faults.waiting():
            cupy.cuda.Device(index).synchronize()
        faults.report()


def get_device_name(device: Any = None) -> str:
    """Return the name of a device; a simulated one says that it is.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> simulate(1)
        >>> get_device_name()
        'Simulated CUDA device 0 (numpy on the CPU, no speed claimed)'
        >>> simulate(None)
    """
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability, such as (9, 0); a simulated device has none and says (0, 0).

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.get_device_capability()
        (0, 0)
        >>> vistorch.cuda.simulate(None)
    """
    properties = get_device_properties(device)
    return properties.major, properties.minor


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Return what is known of a device; the memory of a simulated one is the host's.

    Args:
        device: the device, or None for the current one.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(1)
        >>> vistorch.cuda.get_device_properties(0).name
        'Simulated CUDA device 0 (numpy on the CPU, no speed claimed)'
        >>> vistorch.cuda.simulate(None)
    """
    index = existing_index(device)
    if simulated.count():
        return DeviceProperties(simulated.name(index), 0, 0, simulated.host_memory()[1], 0)
    known = cuda_probe.runtime().getDeviceProperties(index)
    name = known["name"]
    return DeviceProperties(
        name.decode() if isinstance(name, bytes) else name,
        known["major"],
        known["minor"],
        known["totalGlobalMem"],
        known["multiProcessorCount"],
        known["warpSize"],
        known["l2CacheSize"],
        known["maxThreadsPerMultiProcessor"],
    )


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Say whether one device can read another's memory without the host in between; simulated ones cannot.

    Args:
        device: the device that reads.
        peer_device: the device that is read.

    Example:
        >>> import vistorch
        >>> vistorch.cuda.simulate(2)
        >>> vistorch.cuda.can_device_access_peer(0, 1)
        False
        >>> vistorch.cuda.simulate(None)
    """
    reads, owns = existing_index(device), existing_index(peer_device)
    if simulated.count():
        return False
    return bool(cuda_probe.runtime().deviceCanAccessPeer(reads, owns))


def is_bf16_supported() -> bool:
    """Say whether the current device computes in bfloat16; False where there is no CUDA.

    Example:
        >>> simulate(1)
        >>> is_bf16_supported()
        True
        >>> simulate(None)
    """
    if not is_available():
        return False
    return bool(simulated.count()) or get_device_capability()[0] >= 8


def index_of(device: Any, optional: bool = False) -> int:
    """Return the index a device argument means, unchecked.

    Args:
        device: a CUDA device, its string, its index, or a `cuda.device`.
        optional: let None and a device without an index mean the current one.
    """
    if isinstance(device, int):
        return device
    if isinstance(device, (str, bytes)):
        device = named_device(device)
    if isinstance(device, named_device):
        if device.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {device}")
        if device.index is not None:
            return device.index
    elif isinstance(device, _class):
        return device.idx
    if optional and (device is None or isinstance(device, named_device)):
        return cuda_probe.current_index()
    raise ValueError(f"Expected a {library}.device with a specified index or an integer, but got:{device}")


def existing_index(device: Any = None) -> int:
    """Return the index of a device that is there, or raise; None is the current one."""
    cuda_probe.require()
    return cuda_probe.check_index(index_of(device, optional=True))


_class = device
