"""Tensor: its slots and metadata. Its methods are set by the families of ops, which stand above it.

Invariant: `_data` is an array of the library of `_place`; `_rg` is True exactly when the tensor has history in
`_node` or is a leaf the user wants a gradient for (for a view, after `View.sync`).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes, errors, events
from ..base.dims import flag
from ..base.modes import mode
from ..base.size import Size, size_of
from ..memory.placement import CPU
from . import graph

ndarray = np.ndarray
asarray = np.asarray
new = object.__new__
# Called with each subclass that is made, and with that of each tensor that is made as one.
subclass_listeners: list[Callable[[type], None]] = []
instance_listeners: list[Callable[[type], None]] = []


def become(tensor: Any, cls: type) -> Any:
    """Make a tensor one of a subclass.

    Args:
        tensor: the tensor.
        cls: the class.
    """
    tensor.__class__ = cls
    for notice in instance_listeners:
        notice(cls)
    return tensor


class Tensor:
    """A multi-dimensional array that remembers how it was made.

    Args:
        *data: sizes, or a sequence of numbers; `vistorch.tensor` is the usual way to make one.

    Example:
        >>> import vistorch
        >>> vistorch.Tensor([1, 2])
        tensor([1., 2.])
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_data",
        "_grad",
        "_more",
        "_node",
        "_place",
        "_rg",
        "_ver",
        "_view",
    )

    if TYPE_CHECKING:  # methods, operators and the constructor are bound from the op table

        def __new__(cls, *data: Any, **kwargs: Any) -> Any: ...  # noqa: D102
        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Any: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...

    __array_priority__ = 1000  # numpy's operators leave the operation to ours

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for notice in subclass_listeners:
            notice(cls)

    # ---- metadata -------------------------------------------------------------------------------------------
    @property
    def shape(self) -> Size:
        """The sizes.

        Example:
            >>> import vistorch
            >>> vistorch.ones(2, 3).shape
            vistorch.Size([2, 3])
        """
        return size_of(self._data.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The element type.

        Example:
            >>> import vistorch
            >>> vistorch.tensor([1, 2]).dtype
            vistorch.int64
        """
        return dtypes.of(self._data.dtype)

    device = property(
        attrgetter("_place.device"),
        doc="""Where the elements are.

        Example:
            >>> import vistorch
            >>> vistorch.ones(2).device
            device(type='cpu')
        """,
    )
    ndim = property(
        attrgetter("_data.ndim"),
        doc="""The number of dimensions.

        Example:
            >>> import vistorch
            >>> vistorch.ones(2, 3).ndim
            2
        """,
    )
    itemsize = property(
        attrgetter("_data.itemsize"),
        doc="""Bytes of one element.

        Example:
            >>> import vistorch
            >>> vistorch.ones(2, 3).itemsize
            4
        """,
    )
    nbytes = property(
        attrgetter("_data.nbytes"),
        doc="""Bytes of all elements.

        Example:
            >>> import vistorch
            >>> vistorch.ones(2, 3).nbytes
            24
        """,
    )

    # ---- autograd's face ------------------------------------------------------------------------------------
    @property
    def requires_grad(self) -> bool:
        """Whether a backward pass computes a gradient for this tensor.

        Example:
            >>> import vistorch
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> x.requires_grad, (x * 2).requires_grad, x.detach().requires_grad
            (True, True, False)
        """
        v = self._view
        if v is None or self._node is not None or self._ver is graph.UNTRACKED:
            return self._rg
        extras = self._more
        return v.base._rg or (extras is not None and extras.own)  # a view without history asks its base

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise RuntimeError("requires_grad must be a bool")
        if self._node is not None:
            raise RuntimeError(errors.NOT_A_LEAF if value else errors.NOT_A_LEAF + errors.USE_DETACH)
        if value:
            kind = self.dtype
            if not (kind.is_floating_point or kind.is_complex):
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
            if self._ver is graph.UNTRACKED and mode.on is not None:
                raise RuntimeError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
                )
        if not value and self._rg and (emit := events.listeners.cut) is not None:
            emit("requires_grad_(False)", self)
        self._rg = bool(value)
        v = self._view
        if v is not None:
            graph.more(self).own = self._rg  # a view that asks for itself, not through its base
            if v.hidden and v.base._node is None:
                v.base._rg = self._rg  # what the older views of a reshaped leaf ask

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` and return the tensor.

        Args:
            requires_grad: whether backward passes compute its gradient.

        Example:
            >>> import vistorch
            >>> vistorch.ones(2).requires_grad_()
            tensor([1., 1.], requires_grad=True)
        """
        flag(requires_grad, "requires_grad_", "requires_grad")
        if self._node is None or requires_grad is not True:
            self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor.

        Example:
            >>> import vistorch
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> x.is_leaf, (x * 2).is_leaf
            (True, False)
        """
        return self.grad_fn is None

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor, or None for a leaf.

        Example:
            >>> import vistorch
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> x.grad_fn, (x * 2).grad_fn.name()
            (None, 'MulBackward0')
        """
        if self._view is not None:
            self._view.sync(self, True)
        n = self._node
        return n.node if n.__class__ is graph.Out else n

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this is.

        Example:
            >>> import vistorch
            >>> a, b = vistorch.ones(2, requires_grad=True).unbind()
            >>> a.output_nr, b.output_nr
            (0, 1)
        """
        n = self._node
        return n.nr if n.__class__ is graph.Out else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by backward passes.

        Example:
            >>> import vistorch
            >>> x = vistorch.tensor([1.0, 2.0], requires_grad=True)
            >>> (x * x).sum().backward()
            >>> x.grad
            tensor([2., 4.])
        """
        if self._grad is None and self._node is not None and not self.retains_grad:
            if (emit := events.listeners.phase) is not None:
                emit("no leaf", self)
            errors.warn_non_leaf_grad()
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_dtype(self) -> Any:
        """The type of a leaf's gradient: the leaf's own.

        Example:
            >>> import vistorch
            >>> vistorch.ones(2, requires_grad=True).grad_dtype
            vistorch.float32
        """
        if self._node is not None:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        return self.dtype

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        if self._node is not None:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value is not self.dtype:
            raise errors.not_built(
                f"vistorch.Tensor.grad_dtype = {value!r}",
                "a gradient has the type of its tensor; convert it in a hook of register_post_accumulate_grad_hook.",
            )

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad()` was asked of a non-leaf.

        Example:
            >>> import vistorch
            >>> y = vistorch.ones(2, requires_grad=True) * 2
            >>> y.retain_grad()
            >>> y.retains_grad
            True
        """
        return self._more is not None and self._more.retains

    @property
    def _version(self) -> int:
        v = self._ver
        if v is graph.UNTRACKED:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if v is None else v.n

    @property
    def _base(self) -> Tensor | None:
        v = self._view
        if v is None or v.hidden or self._ver is graph.UNTRACKED:
            return None
        base = v.base
        extras = base._more
        shown = None if extras is None or extras.shown is None else extras.shown()
        return base if shown is None else shown

    def _is_view(self) -> bool:
        return self._base is not None

    def is_inference(self) -> bool:
        """Whether the tensor was made in inference mode.

        Example:
            >>> import vistorch
            >>> with vistorch.inference_mode():
            ...     x = vistorch.ones(2)
            >>> x.is_inference()
            True
        """
        return self._ver is graph.UNTRACKED

    @property
    def data(self) -> Tensor:
        """The same memory with no history and a version count of its own.

        Example:
            >>> import vistorch
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> x.data.add_(1)
            tensor([2., 2.])
            >>> x
            tensor([2., 2.], requires_grad=True)
        """
        o = wrap(self._data, self._place)
        o._ver = None if self._ver is not graph.UNTRACKED else graph.loose(o)
        if (emit := events.listeners.cut) is not None:
            emit("data", self)
        return o if self._view is None else self._view.alias(o)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        kind = value.dtype
        if self._rg and not (kind.is_floating_point or kind.is_complex):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        d, new = self._data, value._data
        if d.shape != new.shape or self._place is not value._place:
            graph.let_go(self)
        if self._ver is not None and (d.shape != new.shape or d.strides != new.strides):
            graph.more(self).moved = True
        self._data, self._place = new, value._place
        if self._view is not None and self._view.hidden and self._node is None:
            self._view: Any = None  # its former self keeps the old memory
        if self._view is None and value._view is not None:
            value._view.alias(self)
            if self._view is not None:
                graph.more(self).own = self._rg

    # ---- hash and truth are Python's, not the elements' -------------------------------------------------------
    __hash__ = object.__hash__


def wrap(data: Any, place: Any = CPU) -> Tensor:
    """A Tensor without history around an array (or a numpy scalar, which becomes a 0-d array)."""
    o = new(Tensor)
    o._data = data if data.__class__ is ndarray or place.kind else asarray(data)
    o._place = place
    o._rg = False
    o._grad = o._node = o._view = o._more = None
    o._ver = None if mode.on is not None else graph.UNTRACKED
    return o


def _check_grad(t: Tensor, value: Any) -> None:
    """Refuse a gradient that does not fit `t`."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
        )
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    g, d = value._data, t._data
    if g.dtype != d.dtype:
        raise RuntimeError(errors.grad_dtype(g.dtype, d.dtype))
    if value._place is not t._place:
        raise RuntimeError(
            "attempting to assign a gradient with device type "
            f"'{value._place.device.type}' to a tensor with device type '{t._place.device.type}'. Please ensure "
            "that the gradient and the tensor are on the same device"
        )
    if g.shape != d.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{errors.sizes(g.shape)}' to a tensor of size "
            f"'{errors.sizes(d.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )
