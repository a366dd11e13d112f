"""`Function`: an operation whose forward and backward the user writes.

Invariant: a call of `apply` makes one node or none, and its edges are those its inputs had before forward ran.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
import weakref
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from ..engine.base import errors
from ..engine.base.events import listeners
from ..engine.base.modes import mode, no_grad
from ..engine.core.graph import Base, draw, edge, version
from ..engine.core.record import pack, remember, save_input
from ..engine.core.tensor import Tensor, wrap
from ..engine.library_name import of_module
from .custom import BackwardCFunction, FunctionCtx
from .outputs import attach

LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
    "function with static forward method. (Example: "
    "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
DIFFERENTIATED_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


class FunctionRow:
    """What a listener is given as the rule of a custom function; its one constant is all it was called with."""

    __slots__ = ("function", "grad_name", "name")
    formula: Any = MappingProxyType({})
    inputs = ()
    consts = ("args",)
    view = False

    def __init__(self, function: Any) -> None:
        self.function, self.name = function, function.__name__
        self.grad_name = self.name + "Backward"


class FunctionMeta(type):
    """Gives each Function the class of its nodes and the class of its contexts.

    Example:
        >>> import vistorch
        >>> class Same(vistorch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x.clone()
        >>> type(Same)
        <class 'vistorch.autograd.function.FunctionMeta'>
        >>> type(Same.apply(vistorch.ones(1, requires_grad=True)).grad_fn)
        <class 'vistorch.autograd.function.SameBackward'>
    """

    def __init__(cls, name: str, bases: tuple, namespace: dict) -> None:
        super().__init__(name, bases, namespace)
        label, home = name + "Backward", of_module("vistorch.autograd.function")
        emit = {"__slots__": (), "forward_cls": cls, "__module__": home}
        cls._backward_cls: Any = type(label, (BackwardCFunction,), emit)
        cls._ctx_cls: Any = type(label, (FunctionCtx,), {"__module__": home})


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base class of operations with a backward of their own; used through `apply`.

    A subclass defines two static methods: `forward(ctx, *args)` (or `forward(*args)` with
    `setup_context(ctx, inputs, output)`) and `backward(ctx, *grad_outputs)`, which returns one gradient per argument
    of forward, None where there is none.

    An instance can be called only where forward is not static, as in PyTorch's first versions: it is the context
    itself then (`self.save_for_backward`, `self.saved_tensors`, `self.needs_input_grad`), with a warning.

    Example:
        >>> import vistorch
        >>> class Double(vistorch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, grad_output):
        ...         return grad_output * 2
        >>> x = vistorch.tensor(1.0, requires_grad=True)
        >>> Double.apply(x).backward()
        >>> x.grad
        tensor(2.)
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if _old().old_style(type(self)):  # warned about when it is called
            return
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so "
            "you should invoke them on the class itself. Instantiating an autograd function will raise an "
            "error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run an old-style function, whose forward is not static; refuse the call of any other instance."""
        if not _old().old_style(type(self)):
            raise RuntimeError(LEGACY)
        if kwargs:
            raise TypeError(f"{type(self).__name__}() takes no keyword arguments")
        return _old().call(self, args)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; to be written by the user.

        Example:
            >>> import vistorch
            >>> class Extremes(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         return x.min(), x.max()
            >>> Extremes.apply(vistorch.tensor([3.0, 1.0, 2.0]))
            (tensor(1.), tensor(3.))
        """
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Fill `ctx` after `forward(*args)`; defining it chooses the style in which forward gets no ctx.

        Example:
            >>> import vistorch
            >>> class Square(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(x):
            ...         return x * x
            ...     @staticmethod
            ...     def setup_context(ctx, inputs, output):
            ...         ctx.save_for_backward(*inputs)
            ...     @staticmethod
            ...     def backward(ctx, grad_output):
            ...         (x,) = ctx.saved_tensors
            ...         return 2 * x * grad_output
            >>> x = vistorch.tensor(3.0, requires_grad=True)
            >>> Square.apply(x).backward()
            >>> x.grad
            tensor(6.)
        """
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments; to be written by the user.

        Example:
            >>> import vistorch
            >>> class Reverse(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x, strength):
            ...         ctx.strength = strength
            ...         return x.clone()
            ...     vjp = staticmethod(lambda ctx, grad: (-ctx.strength * grad, None))  # the same by another name
            >>> x = vistorch.tensor(3.0, requires_grad=True)
            >>> Reverse.apply(x, 0.5).backward()
            >>> x.grad
            tensor(-0.5000)
        """
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Forward mode, which is not there.

        Example:
            >>> import vistorch
            >>> vistorch.autograd.Function.jvp(None)  # doctest: +ELLIPSIS
            Traceback (most recent call last):
                ...
            NotImplementedError: You must implement the jvp function for custom autograd.Function ...
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Vectorisation, which is not there.

        Example:
            >>> import vistorch
            >>> vistorch.autograd.Function.vmap(None, (0,))  # doctest: +ELLIPSIS
            Traceback (most recent call last):
                ...
            NotImplementedError: To use autograd.Function with vmap, you must either override the vmap ...
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def _user_backward(cls) -> Callable:
        """The user's backward, under either of its two names."""
        if cls.vjp is Function.vjp:
            return cls.backward
        if cls.backward is not Function.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
                "only implement one of them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` on the arguments and record the call if an argument requires grad.

        Args:
            *args: what forward takes after ctx.
            **kwargs: only with `setup_context`: arguments of forward by name.
        """
        apart = cls.setup_context is not Function.setup_context
        if apart:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if kwargs:
            raise TypeError(f"{cls.__name__}.apply() takes no keyword arguments")
        ctx = cls._ctx_cls()
        is_tensor = tuple([isinstance(a, Tensor) for a in args])
        inputs = [a for a, t in zip(args, is_tensor, strict=True) if t]
        ctx.needs_input_grad = tuple(
            [a.requires_grad if t else False for a, t in zip(args, is_tensor, strict=True)]
        )
        node = None
        if mode.on and True in ctx.needs_input_grad:
            node = _node_of(cls, ctx, inputs, is_tensor)
        before = mode.on
        mode.on = None if before is None else False
        try:
            if apart:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        finally:
            mode.on = before
        many = isinstance(output, tuple)
        outs = attach(ctx, node, inputs, output if many else (output,), apart)
        if node is not None:
            _save(ctx, node, inputs)
            if mode.anomaly:
                remember(node)
        if (emit := listeners.op) is not None:
            emit(FunctionRow(cls), tuple(inputs), (args,), tuple([o for o in outs if isinstance(o, Tensor)]))
        for used in ("to_save", "dirty_tensors", "non_differentiable"):
            ctx.__dict__.pop(used, None)
        return outs if many else outs[0]


def _old() -> Any:
    """The module of old-style functions, which few programs have."""
    return importlib.import_module("vistorch.autograd.old_functions")


def _node_of(cls: Any, ctx: FunctionCtx, inputs: list, is_tensor: tuple) -> BackwardCFunction:
    """A node whose edges are where the inputs' gradients go now, before forward may write into them."""
    node = cls._backward_cls()
    node.ctx, ctx._weak = ctx, weakref.ref(node)
    node.edges = tuple([edge(t) if t.requires_grad else None for t in inputs])
    node.given, node.hooks, node.kept, node.alive = is_tensor, None, (), True
    node.seq = draw()
    return node


def _save(ctx: FunctionCtx, node: Any, inputs: list) -> None:
    """Turn `ctx.to_save` into entries (what is kept, its edge, which output it is)."""
    if ctx.to_save is None:
        return
    if not isinstance(ctx.to_save, tuple):
        raise TypeError(f"saved tensors argument should be a tuple, but is {errors.type_name(ctx.to_save)}")
    dirty = ctx.dirty_tensors or ()
    kept = []
    for i, t in enumerate(ctx.to_save):
        if t is None:
            kept.append(None)
            continue
        if not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {errors.type_name(t)}"
            )
        nr = _which_output(t, node, dirty)
        if nr is None:
            kept.append((save_input(t), edge(t) if t.requires_grad else None, None))
        elif mode.packers:
            kept.append((pack(t.detach()), None, nr))
        else:
            v = version(t)
            kept.append(((t._data, t._place, v, v.n), None, nr))
    node.kept = tuple(kept)


def _which_output(t: Tensor, node: Any, dirty: tuple) -> int | None:
    n = t._node
    if n is node:
        return 0
    if n is not None and getattr(n, "node", None) is node and n.rule is None:
        return n.nr
    # a view that was written hangs on the put into its base, which would be a circle
    return 0 if t._view is not None and any(t is d for d in dirty) else None


class Error(Base):
    """Raises when a second derivative is asked of a function that has only one."""

    __slots__ = ("edges", "saved", "seq")
    sentence = DIFFERENTIATED_TWICE

    def run(self, g: Any, create_graph: bool) -> list:
        """Refuse."""
        raise RuntimeError(self.sentence)


def once_differentiable(fn: Callable) -> Callable:
    """Decorator of a backward that is not differentiable itself: a second derivative is then an error.

    Args:
        fn: the static method `backward(ctx, *grad_outputs)`.

    Example:
        >>> import vistorch
        >>> from vistorch.autograd.function import once_differentiable
        >>> class Square(vistorch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     @once_differentiable
        ...     def backward(ctx, grad_output):
        ...         return grad_output * 2 * ctx.saved_tensors[0]
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> (slope,) = vistorch.autograd.grad(Square.apply(x).exp(), x, create_graph=True)
        >>> slope.backward()
        Traceback (most recent call last):
            ...
        RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not mode.on or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        many = outputs if isinstance(outputs, tuple) else (outputs,)
        refusing = tuple([barred(t, Error()) if isinstance(t, Tensor) else t for t in many])
        return refusing if isinstance(outputs, tuple) else refusing[0]

    return wrapper


def barred(t: Tensor, n: Error) -> Tensor:
    """The same memory, with a history that refuses to be used."""
    o = wrap(t._data, t._place)
    n.edges, n.saved = (), ()
    n.hooks = None  # type: ignore[assignment]
    n.shape, n.dtype, n.place = t._data.shape, t._data.dtype, t._place
    n.seq = draw()
    o._node, o._rg = n, True
    return o


class InplaceFunction(Function):
    """The old base class of functions that write into their inputs.

    Example:
        >>> import vistorch
        >>> class Cleared(vistorch.autograd.function.InplaceFunction):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.mark_dirty(x)
        ...         return x.zero_()
        ...     @staticmethod
        ...     def backward(ctx, grad_output):
        ...         return vistorch.zeros_like(grad_output)
        >>> x = vistorch.ones(2)
        >>> Cleared.apply(x) is x, x
        (True, tensor([0., 0.]))
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


__all__ = ["Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]
