"""Names of backends: which there are, and which one answers.

Invariant: a name of PyTorch's is accepted, or refused with the sentence that says what to take.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from . import wiring

NAMES = ("undefined", "gloo", "nccl", "xccl", "ucc", "mpi")
_NOT_HERE = {"xccl": "Intel's GPUs: there are none here", "ucc": "not built: use mpi or nccl"}


class Backend(str):
    """The name of a backend, in small letters.

    Args:
        name: "mpi" for CPUs, "nccl" for CUDA devices; "gloo" is answered by MPI.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.Backend("MPI"), dist.Backend.NCCL
        ('mpi', 'nccl')
    """

    UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI = "undefined", "gloo", "nccl", "xccl", "ucc", "mpi"
    backend_list = list(NAMES)  # noqa: RUF012
    default_device_backend_map = {"cpu": "gloo", "cuda": "nccl"}  # noqa: RUF012

    def __new__(cls, name: str) -> Backend:
        """See the class."""
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


def by_device(backend: str | None) -> dict[str, str]:
    """Which backend moves the tensors of which device.

    Args:
        backend: a name, or "cpu:gloo,cuda:nccl"; None is the default of each device.
    """
    if backend is None or backend.lower() == "undefined":
        found = {"cpu": "mpi"}
        return {**found, "cuda": "nccl"} if is_nccl_available() else found
    if ":" in backend:
        found = {}
        for pair in backend.lower().split(","):
            parts = pair.split(":")
            if len(parts) != 2:
                raise ValueError(
                    f"Invalid device:backend pairing: {pair}. The custom backend string argument is invalid: "
                    f"{backend}. Custom backend string is an experimental feature where the backend string must be "
                    'in the format: "<device_type1>:<backend1>,<device_type2>:<backend2>...". e.g. '
                    "'cpu:gloo,cuda:nccl'"
                )
            if parts[0] in found:
                raise ValueError(f"Duplicate device type {parts[0]} in backend string: {backend}.")
            found[parts[0]] = _known(parts[1])
        return found
    name = _known(backend.lower())
    return {"cpu": name} if name != "nccl" else {"cuda": "nccl", "cpu": "mpi"}


def _known(name: str) -> str:
    if name in _NOT_HERE:
        raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in: {_NOT_HERE[name]}")
    if name not in NAMES:
        raise AssertionError(f"Unknown backend type {name}: take 'mpi' for CPUs, 'nccl' for CUDA devices.")
    if name == "nccl" and not is_nccl_available():
        raise RuntimeError(
            "Distributed package doesn't have NCCL built in: it needs cupy with NCCL and a CUDA device. Take 'mpi'."
        )
    return name


def is_available() -> bool:
    """True: processes can train together.

    Example:
        >>> import vistorch
        >>> vistorch.distributed.is_available()
        True
    """
    return True


def is_mpi_available() -> bool:
    """Whether mpi4py is installed.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.is_mpi_available() == dist.is_backend_available("mpi")
        True
    """
    return wiring.is_there()


def is_gloo_available() -> bool:
    """Whether "gloo" is answered: by MPI.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.is_gloo_available() == dist.is_mpi_available()
        True
    """
    return wiring.is_there()


def is_nccl_available() -> bool:
    """Whether cupy is installed with NCCL and there is a CUDA device.

    Example:
        >>> from vistorch import distributed as dist
        >>> isinstance(dist.is_nccl_available(), bool)
        True
    """
    if importlib.util.find_spec("cupy") is None:
        return False
    from ..engine.base import cuda_probe

    if not cuda_probe.find().ok:
        return False
    nccl: Any = importlib.import_module("cupy.cuda.nccl")
    return bool(nccl.available)


def is_ucc_available() -> bool:
    """False.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.is_ucc_available(), dist.is_xccl_available()
        (False, False)
    """
    return False


def is_xccl_available() -> bool:
    """False.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.is_xccl_available()
        False
    """
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a backend can be used here.

    Args:
        backend: its name.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.is_backend_available("ucc")
        False
    """
    check = globals().get(f"is_{backend.lower()}_available")
    return bool(check and check())


def get_default_backend_for_device(device: Any) -> str:
    """The backend that moves the tensors of a device.

    Args:
        device: a device or its name.

    Example:
        >>> from vistorch import distributed as dist
        >>> dist.get_default_backend_for_device("cpu")
        'gloo'
    """
    kind = str(device).partition(":")[0]
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]
