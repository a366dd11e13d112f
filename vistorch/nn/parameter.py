"""Tensors that a module owns: parameters, which are learned, and buffers, which are kept.

Invariant: `isinstance(t, Parameter)` is true for every tensor that carries `_is_param`, and a Parameter is a leaf.
"""

from __future__ import annotations

from typing import Any

from ..engine.base.dims import flag
from ..engine.core.graph import UNTRACKED, version
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor, become, new
from ..engine.core.views import expanded
from ..engine.library_name import library, named

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]

empty = FUNCTIONS["empty"]


def _seen_as(cls: type, data: Tensor) -> Any:
    """The memory of `data` as a leaf of class `cls`."""
    o = new(cls)
    o._data, o._place = data._data, data._place
    o._rg = False
    o._grad = o._node = o._view = o._more = None
    o._ver = data._ver if data._ver is UNTRACKED else version(data)  # a write to either is seen by both
    if cls.__module__ != __name__:
        become(o, cls)
    return expanded(o) if 0 in o._data.strides else o


class _Marked(type(Tensor)):
    """A class whose instances may also be known by a mark: any Tensor with `_is_param = True` is a Parameter."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if instance.__class__ is cls:
            return True
        if super().__instancecheck__(instance):
            return True
        mark = cls.__dict__.get("_mark")
        return mark is not None and isinstance(instance, Tensor) and getattr(instance, mark, False)


class Parameter(Tensor, metaclass=_Marked):
    """A tensor that a Module learns: assigned as an attribute, it is one of the module's `parameters()`.

    Args:
        data: its values; the memory is shared. None makes an empty one.
        requires_grad: whether a backward pass computes its gradient.

    Example:
        >>> import vistorch
        >>> vistorch.nn.Parameter(vistorch.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()
    _mark = "_is_param"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """See the class."""
        if data is None:
            data = empty(0)
        if type(data) is Tensor or isinstance(data, Parameter):
            o = _seen_as(cls, data)
        elif isinstance(data, Tensor):
            # any other subclass stays what it is, and is known by its mark
            o: Any = data.detach()
            if type(o) is not type(data):
                raise RuntimeError(
                    f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() "
                    f"returns an instance of the same type, but return type {type(o).__name__} was found instead. To "
                    f"use the type as a Parameter, please correct the detach() semantics defined by its "
                    "__torch_dispatch__() implementation."
                )
            o._is_param = True
        else:
            raise TypeError(
                f"Parameter data has to be a Tensor, but got {type(data).__name__}. Make it one with "
                f"{library}.tensor()."
            )
        requires_grad = flag(requires_grad, "Parameter", "requires_grad")
        kind = o.dtype
        if requires_grad and not (kind.is_floating_point or kind.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        o.requires_grad = requires_grad
        return o

    _shown_as = "tensor"

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self, tensor_contents=tensor_contents)  # type: ignore[call-arg]

    def __deepcopy__(self, memo: dict) -> Parameter:
        """A copy of the values, without the gradient, as PyTorch's."""
        found = memo.get(id(self))
        if found is None:
            values = self.data.clone()
            found = memo[id(self)] = type(self)(values, self.requires_grad)
        return found


class Buffer(Tensor, metaclass=_Marked):
    """A tensor that a Module keeps but does not learn.

    Args:
        data: its values; the memory is shared.
        persistent: whether it is part of the module's `state_dict()`.

    Example:
        >>> import vistorch
        >>> m = vistorch.nn.Module()
        >>> m.mean = vistorch.nn.Buffer(vistorch.zeros(2))
        >>> [name for name, _ in m.named_buffers()]
        ['mean']
    """

    __slots__ = ()
    _mark = "_is_buffer"

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """See the class."""
        if data is None:
            data = empty(0)
        t: Any = data.detach()
        t.requires_grad = data.requires_grad
        t.persistent = persistent
        t._is_buffer = True
        return t


_REFUSED = (
    "Attempted to use an uninitialized parameter in {}. This error happens when you are using a `LazyModule` or "
    "explicitly manipulating `vistorch.nn.parameter.{}` objects. When using LazyModules Call `forward` with a dummy "
    "batch to initialize the parameters before calling vistorch functions"
)
# What may be asked of a tensor that has no shape yet, as in PyTorch.
_ANSWERED = frozenset(
    "size copy_ is_complex is_floating_point half float double char short int long cuda cpu to get_device".split()
)
# Special methods that look at no elements.
_KEPT = frozenset("__new__ __init__ __getattr__ __setattr__ __setstate__ __deepcopy__ __copy__".split())
_ARITHMETIC = frozenset("add sub mul truediv matmul neg abs lt le gt ge".split())
_COMPARISONS = frozenset("__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __format__".split())


class _Waiting:
    """What a lazy parameter or buffer has in common: a type and a device, and no shape yet."""

    _data: Any
    cls_to_become: type = Tensor

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give it memory of this shape, uninitialised, and turn it into what it was waiting to be.

        Args:
            shape: its sizes.
            device: where, if not where it was declared.
            dtype: its type, if not the declared one.
        """
        me: Any = self
        made = empty(
            shape, device=me.device if device is None else device, dtype=me.dtype if dtype is None else dtype
        )
        me._data, me._place = made._data, made._place
        me.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Not known yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """Not possible yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _refusing(name: str) -> Any:
    """A method that says that there is nothing to compute with yet."""
    shown = f"<method {_called(name)!r} of '{{}}.Tensor' objects>"

    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(named(_REFUSED).format(shown.format(library), type(self).__name__))

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def _called(name: str) -> str:
    """The method that an operator stands for."""
    word = name.strip("_")
    for form, made in ((word, "{}"), (word[1:], "{}_" if word[:1] == "i" else "{}")):
        if name[:2] == "__" and form in _ARITHMETIC:
            return made.format("div" if form == "truediv" else form)
    return name


def _refuse_all() -> None:
    """Let what waits for its shape refuse every method of a tensor that PyTorch's refuses."""
    for name, held in list(vars(Tensor).items()):
        if not callable(held) or name in vars(_Waiting):
            continue
        special = name.startswith("__")
        if name in _COMPARISONS or (special and name not in _KEPT and name not in vars(object)):
            setattr(_Waiting, name, _refusing(name))
        elif not name.startswith("_") and name not in _ANSWERED:
            setattr(_Waiting, name, _refusing(name))


_refuse_all()


class UninitializedParameter(_Waiting, Parameter):
    """A parameter whose shape is not known yet; `materialize(shape)` gives it one.

    Args:
        requires_grad: whether a backward pass computes its gradient.
        device: where it will be.
        dtype: its type.

    Example:
        >>> import vistorch
        >>> p = vistorch.nn.UninitializedParameter()
        >>> p
        <UninitializedParameter>
        >>> p.materialize((2, 3))
        >>> p.shape
        vistorch.Size([2, 3])
    """

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """See the class."""
        o = _seen_as(cls, empty(0, device=device, dtype=dtype))
        o.requires_grad = requires_grad
        return o

    def __deepcopy__(self, memo: dict) -> UninitializedParameter:
        """Another one that waits."""
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return found


class UninitializedBuffer(_Waiting, Tensor):
    """A buffer whose shape is not known yet; `materialize(shape)` gives it one.

    Args:
        requires_grad: whether a backward pass computes its gradient.
        device: where it will be.
        dtype: its type.
        persistent: whether it is part of the module's `state_dict()`.

    Example:
        >>> import vistorch
        >>> buffer = vistorch.nn.UninitializedBuffer()
        >>> buffer.materialize((2, 3))
        >>> buffer.shape
        vistorch.Size([2, 3])
    """

    __slots__ = ()

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        """See the class."""
        o = _seen_as(cls, empty(0, device=device, dtype=dtype))
        o.requires_grad = requires_grad
        o.persistent = persistent
        o._is_buffer = True
        return o


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer still waits for its shape.

    Example:
        >>> from vistorch import nn
        >>> nn.parameter.is_lazy(nn.LazyLinear(2).weight), nn.parameter.is_lazy(nn.Linear(3, 2).weight)
        (True, False)
    """
    return isinstance(param, _Waiting)
