"""Storages that know the type of their elements, for old programs: `TypedStorage`, `FloatStorage` and the like.

Invariant: a TypedStorage is an UntypedStorage and a dtype, nothing else; there is one legacy class for each dtype.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

from ..base.dtypes import ALL, dtype, get_default_dtype
from ..base.dtypes import dtype as _dtype
from ..core.registry import FUNCTIONS
from ..library_name import library
from ..memory.placement import CPU, move
from ..memory.storage import UntypedStorage, lines_of

_REMOVAL = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
    "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()"
)
_warned = False


def warn_typed_storage_removal(stacklevel: int = 2) -> None:
    """Say once in a process that typed storages will go."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(_REMOVAL, UserWarning, stacklevel=stacklevel + 1)


class TypedStorage:
    """The memory behind a tensor, as elements of one type; `UntypedStorage` is its successor.

    Args:
        *args: how many elements, or a sequence of them.
        wrap_storage: an UntypedStorage to see so, instead.
        dtype: the type of the elements.
        device: where.

    Example:
        >>> import vistorch, warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     vistorch.tensor([1.5, 2.0]).storage()
         1.5
         2.0
        [vistorch.storage.TypedStorage(dtype=vistorch.float32, device=cpu) of size 2]
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     s = vistorch.FloatStorage([1.5, 2.0, 3.0])
        >>> s.size(), s.element_size(), s.nbytes(), s.device, s.is_cuda, s.pickle_storage_type()
        (3, 4, 12, device(type='cpu'), False, 'FloatStorage')
        >>> s.clone().fill_(7).tolist(), s.tolist()
        ([7.0, 7.0, 7.0], [1.5, 2.0, 3.0])
        >>> s.copy_(vistorch.zeros(3).untyped_storage()).tolist()
        [0.0, 0.0, 0.0]
        >>> [same.data_ptr() == s.data_ptr() for same in (s.untyped(), s.cpu(), s.to(device="cpu"))]
        [True, True, True]
        >>> s.is_shared(), s.share_memory_().is_shared()
        (False, True)
    """

    __slots__ = ("_untyped_storage", "dtype")
    __module__ = "vistorch.storage"
    _is_typed_storage = True
    is_sparse = False
    dtype: dtype

    def __init__(
        self,
        *args: Any,
        wrap_storage: Any = None,
        dtype: Any = None,
        device: Any = None,
        _internal: bool = False,
    ) -> None:
        if not _internal:
            warn_typed_storage_removal()
        self.dtype = get_default_dtype() if dtype is None else dtype
        if wrap_storage is not None:
            if args:
                raise _unfit(
                    RuntimeError, "No positional arguments should be given when using 'wrap_storage'"
                )
            if dtype is None:
                raise _unfit(RuntimeError, "Argument 'dtype' must be specified")
            if type(dtype) is not _dtype:
                raise _unfit(TypeError, f"Argument 'dtype' must be {library}.dtype, not {type(dtype)}")
            if device is not None:
                raise _unfit(
                    RuntimeError, "Argument 'device' should not be specified when 'wrap_storage' is given"
                )
            if not isinstance(wrap_storage, UntypedStorage):
                raise _unfit(
                    TypeError, f"Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"
                )
            self._untyped_storage = wrap_storage
        elif len(args) > 1:
            raise _unfit(RuntimeError, "Too many positional arguments")
        else:
            self._untyped_storage = _made(args[0] if args else 0, self.dtype, device)

    @property
    def _elements(self) -> Any:
        b = self._untyped_storage._bytes
        return b[: self._size() * self.dtype.itemsize].view(self.dtype.np)

    # ---- what it is ---------------------------------------------------------------------------------------------
    device = property(operator.attrgetter("_untyped_storage.device"), doc="Where the memory is.")
    is_cuda = property(
        operator.attrgetter("_untyped_storage.is_cuda"), doc="Whether the memory is on a CUDA device."
    )

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    def _size(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def size(self) -> int:
        """How many elements there are."""
        return self._size()

    __len__ = size

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def pickle_storage_type(self) -> str:
        """The name of the class for this dtype that PyTorch's files write."""
        return f"{self.dtype.scalar_name}Storage"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self._untyped_storage == other._untyped_storage

    def __hash__(self) -> int:
        return hash(self._untyped_storage)

    # ---- its elements -------------------------------------------------------------------------------------------
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._elements[self._position(index)].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements[index if isinstance(index, slice) else self._position(index)] = value

    def _position(self, index: Any) -> int:
        """An index that exists, counted from the front."""
        if not hasattr(index, "__index__"):
            raise RuntimeError(f"can't index a <class '{library}.storage.TypedStorage'> with {type(index)}")
        n = self._size()
        position = operator.index(index)
        if not -n <= position < n:
            raise IndexError(f"index {index} out of range for storage of size {n}")
        return position % n

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return move(self._elements, self._untyped_storage._place, CPU).tolist()

    def fill_(self, value: Any) -> TypedStorage:
        """Write one number into all elements."""
        self._elements[...] = value
        return self

    def copy_(self, source: Any, non_blocking: Any = None) -> TypedStorage:
        """Write another storage's bytes into this one.

        Args:
            source: a storage of as many bytes.
            non_blocking: accepted, as in PyTorch.
        """
        self._untyped_storage.copy_(source)
        return self

    # ---- between processes --------------------------------------------------------------------------------------
    def is_shared(self) -> bool:
        """Whether other processes can see the memory."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the memory, and all tensors on it, to where other processes can see it."""
        self._untyped_storage.share_memory_()
        return self

    # ---- copies -------------------------------------------------------------------------------------------------
    def _with(self, storage: UntypedStorage) -> TypedStorage:
        """Another memory with the same type."""
        return TypedStorage(wrap_storage=storage, dtype=self.dtype, _internal=True)

    def clone(self) -> TypedStorage:
        """A copy."""
        return self._with(self._untyped_storage.clone())

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> TypedStorage:
        return self._with(self._untyped_storage.__deepcopy__(memo))

    def to(self, *, device: Any, non_blocking: bool = False) -> TypedStorage:
        """The elements on a device.

        Args:
            device: the device.
            non_blocking: accepted, as in PyTorch.
        """
        return self._with(self._untyped_storage.to(device=device))

    def cpu(self) -> TypedStorage:
        """The elements on the CPU."""
        return self._with(self._untyped_storage.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """The elements on a CUDA device.

        Args:
            device: which one, the current one if None.
            non_blocking: accepted, as in PyTorch.

        Example:
            >>> import vistorch
            >>> import warnings
            >>> from vistorch.cuda import simulate
            >>> simulate(1)
            >>> with warnings.catch_warnings():
            ...     warnings.simplefilter("ignore")
            ...     vistorch.FloatStorage([1.5]).cuda().device
            device(type='cuda', index=0)
            >>> simulate(None)
        """
        return self._with(self._untyped_storage.cuda(device))

    def __reduce__(self) -> tuple:
        return _restored, (self._untyped_storage, self.dtype)

    def __repr__(self) -> str:
        return (
            f"{lines_of(self.tolist())}[{library}.storage.TypedStorage(dtype={self.dtype}, "
            f"device={self._untyped_storage._place.name}) of size {self._size()}]"
        )

    __str__ = __repr__


def _restored(storage: UntypedStorage, dtype: dtype) -> TypedStorage:
    """The storage that a pickle describes."""
    return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def _made(data: Any, dtype: dtype, device: Any) -> UntypedStorage:
    """New memory: so many elements, or those of a sequence."""
    if isinstance(data, int):
        return UntypedStorage(data * dtype.itemsize, device=device)
    if not hasattr(data, "__len__"):
        raise _unfit(TypeError, f"Argument type not recognized: {type(data)}")
    return FUNCTIONS["tensor"](list(data), dtype=dtype, device=device).untyped_storage()


def _unfit(kind: type, why: str) -> Exception:
    """PyTorch's error for arguments that fit no signature."""
    forms = (
        f"*, {library}.device device, {library}.dtype dtype",
        f"int size, *, {library}.device device, {library}.dtype dtype",
        f"Sequence data, *, {library}.device device, {library}.dtype dtype",
        f"*, UntypedStorage wrap_storage, {library}.dtype dtype",
    )
    listed = "\n".join(f" * ({form})" for form in forms)
    return kind(
        f"TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n{listed}\n{why}"
    )


class _Legacy(type):
    """A class whose instances are the typed storages of its dtype."""

    dtype: dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype and not instance.is_cuda

    def __call__(cls, *args: Any, wrap_storage: Any = None, **kwargs: Any) -> TypedStorage:
        return TypedStorage(*args, wrap_storage=wrap_storage, dtype=cls.dtype, **kwargs)


def _legacy(d: dtype) -> Any:
    """The class of one dtype, `FloatStorage` for float32."""
    return _Legacy(
        f"{d.scalar_name}Storage",
        (),
        {
            "dtype": d,
            "__module__": "vistorch",
            "__doc__": f"""Storages of {d} elements: `TypedStorage` under its old name.

            Example:
                >>> import vistorch
                >>> vistorch.zeros(2, dtype={d}).storage_type() is vistorch.{d.scalar_name}Storage
                True
            """,
        },
    )


STORAGE_CLASSES: dict[str, Any] = {f"{d.scalar_name}Storage": _legacy(d) for d in ALL}
"""By name, the class of each dtype."""
