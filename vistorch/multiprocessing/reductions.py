"""How tensors travel between processes: as a note that says where their memory is.

Invariant: what is sent and what arrives are the same memory. Sending moves a tensor, and all that share its memory,
to shared memory first; gradients stay at home.
"""

from __future__ import annotations

import multiprocessing.context as context
import warnings
from multiprocessing import reduction
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ..cuda import ipc
from ..engine.core import views
from ..engine.core.tensor import Tensor, subclass_listeners, wrap
from ..engine.kernels import simulated
from ..engine.kernels.strides import lay
from ..engine.library_name import library
from ..engine.memory.array_memory import reach
from ..engine.memory.memory_users import share
from ..engine.memory.placement import CPU, place_of
from ..engine.memory.shared_memory import Piece, Segment, ledger
from ..engine.memory.storage import UntypedStorage
from ..engine.methods.copy_pickle import _reduce as reduce_by_value
from ..nn.parameter import Parameter, is_lazy
from .memory_server import Offer, server

# A fork server hands over at most 256 descriptors with a new process; the rest is fetched from the memory server.
_WITH_A_PROCESS = 200
NON_LEAF = (
    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
    "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
    "(e.g., putting it on the queue)."
)


# ---- segments -------------------------------------------------------------------------------------------------------
def reduce_segment(segment: Segment) -> tuple:
    """A descriptor that a new process inherits, or a note for one that runs."""
    popen: Any = context.get_spawning_popen()
    if popen is not None and len(getattr(popen, "_fds", ())) < _WITH_A_PROCESS:
        return rebuild_segment, (reduction.DupFd(segment.fd), segment.size)
    return rebuild_offered, (server.offer(segment),)


def rebuild_segment(df: Any, size: int) -> Segment:
    """The segment behind a descriptor that this process inherited."""
    return ledger.adopt(df.detach(), size)


def rebuild_offered(offer: Offer) -> Segment:
    """The segment that a note stands for."""
    return server.take(offer)


def reduce_piece(piece: Piece) -> tuple:
    """A piece by its segment, which is sent once in a message however many pieces of it there are."""
    if not piece.size:
        return rebuild_empty, ()
    return rebuild_piece, (piece.segment, piece.offset, piece.size)


def rebuild_empty() -> Piece:
    """The piece of a storage without bytes."""
    return ledger.new(0)


def rebuild_piece(segment: Segment, offset: int, size: int) -> Piece:
    """A piece of a segment."""
    return segment.piece(offset, size)


# ---- storages and tensors -------------------------------------------------------------------------------------------
def reduce_storage(storage: UntypedStorage) -> tuple:
    """A storage by its memory."""
    if storage.is_cuda and not storage._place.simulated:
        raise RuntimeError("Cannot pickle CUDA storage; try pickling a CUDA tensor instead")
    piece = share(storage)
    low, length = reach(storage._array)
    offset = low - piece.array().__array_interface__["data"][0] if length else 0
    return rebuild_storage, (piece, offset, length, storage._place.name, simulated.count())


def rebuild_storage(piece: Piece, offset: int, length: int, name: str, devices: int) -> UntypedStorage:
    """A storage on shared memory."""
    return UntypedStorage._of(piece.array()[offset : offset + length], _place(name, devices))


def reduce_tensor(tensor: Tensor) -> tuple:
    """A tensor by its memory, and how it lies in it; on a real CUDA device by a handle of it."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(NON_LEAF)
    _warn_of_hooks(tensor)
    cls, place = type(tensor), tensor._place
    if is_lazy(tensor):
        return reduce_by_value(tensor, 2)
    if place.kind:
        own = None if cls is Tensor or cls is Parameter else dict(tensor.__dict__)
        return rebuild_on_device, (cls, ipc.sent(tensor), tensor.requires_grad, own)
    piece = share(tensor)
    a = tensor._data
    offset = a.__array_interface__["data"][0] - piece.__array_interface__["data"][0] if a.size else 0
    plain = cls is Tensor or cls is Parameter
    attributes = None if plain else dict(tensor.__dict__)
    where = None if place is CPU else (place.name, simulated.count())
    return rebuild_tensor, (
        cls,
        piece,
        offset,
        a.shape,
        a.strides,
        a.dtype,
        tensor.requires_grad,
        where,
        attributes,
    )


def rebuild_tensor(
    cls: type,
    piece: Piece,
    offset: int,
    shape: tuple,
    strides: tuple,
    dtype: Any,
    requires_grad: bool,
    where: Any,
    attributes: dict | None,
) -> Tensor:
    """A tensor on shared memory."""
    array = lay(piece.array(), shape, dtype, offset, strides)
    made = views.expanded(wrap(array, CPU if where is None else _place(*where)))
    return _as(cls, made, requires_grad, attributes)


def rebuild_on_device(cls: type, parts: tuple, requires_grad: bool, attributes: dict | None) -> Tensor:
    """A tensor on another process's memory of a CUDA device."""
    return _as(cls, views.expanded(ipc.received(*parts)), requires_grad, attributes)


def _as(cls: type, made: Tensor, requires_grad: bool, attributes: dict | None) -> Tensor:
    """A tensor of that class."""
    if cls is Parameter:
        return Parameter(made, requires_grad=requires_grad)
    if cls is not Tensor:
        made.__class__ = cls
    made._rg = requires_grad
    if attributes:
        made.__dict__.update(attributes)
    return made


def _place(name: str, devices: int) -> Any:
    """The place of that name; a process that has no devices yet pretends those of the sender."""
    if name != "cpu" and simulated.count() < devices:
        simulated.set_count(devices)
    return place_of(name)


def _warn_of_hooks(tensor: Tensor) -> None:
    extras = tensor._more
    hooks = None if extras is None else extras.hooks
    for hook in () if hooks is None else hooks.tensor.values():
        if not getattr(hook, "__torch_unserializable__", False):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                f"function with @{library}.utils.hooks.unserializable_hook to suppress this warning",
                UserWarning,
                stacklevel=3,
            )


# ---- registration ----------------------------------------------------------------------------------------------------
def register(cls: type) -> None:
    """Let a subclass of Tensor travel so too, unless it says itself how it is pickled."""
    if cls.__reduce_ex__ is Tensor.__reduce_ex__ and cls.__reduce__ is object.__reduce__:
        ForkingPickler.register(cls, reduce_tensor)


def _below(cls: type) -> Any:
    for sub in type.__subclasses__(cls):
        yield sub
        yield from _below(sub)


def init_reductions() -> None:
    """Teach Python's multiprocessing how tensors and storages travel."""
    ForkingPickler.register(Segment, reduce_segment)
    ForkingPickler.register(Piece, reduce_piece)
    ForkingPickler.register(UntypedStorage, reduce_storage)
    ForkingPickler.register(Tensor, reduce_tensor)
    for cls in _below(Tensor):
        register(cls)
    subclass_listeners.append(register)
