"""`Function`: an operation whose forward and backward the user writes.

A call makes two objects: the context `ctx`, where the user keeps whatever they like under any name, and the node that
the executor runs. Invariant: the node holds the context and the context knows the node only weakly, so a graph with
custom functions is freed by reference counts like any other.
"""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from ..engine import errors
from ..engine.events import hear
from ..engine.graph import (
    FREED,
    Base,
    Packed,
    continued,
    draw,
    edge,
    out_of,
    overwritten,
    save_input,
    unpacked,
    version,
)
from ..engine.hooks import pack, remember
from ..engine.modes import mode, no_grad, recording
from ..engine.tensor import Tensor, wrap
from .outputs import attach

LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
    "static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
DIFFERENTIATED_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


class FunctionCtx:
    """What `forward` and `backward` of one call share: saved tensors, flags, and any attribute of the user's."""

    to_save: tuple | None = None
    dirty_tensors: tuple | None = None
    non_differentiable: tuple | None = None
    materialize_grads: bool = True
    needs_input_grad: tuple = ()
    _weak: Any = None

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keep tensors for `backward`, where `ctx.saved_tensors` gives them back after a check of their versions.

        Args:
            *tensors: inputs, outputs or tensors made in between; None is kept as None.

        Example:
            >>> import vistorch
            >>> class Square(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.save_for_backward(x)
            ...         return x * x
            ...     @staticmethod
            ...     def backward(ctx, grad_output):
            ...         (x,) = ctx.saved_tensors
            ...         return grad_output * x * 2
            >>> x = vistorch.tensor(3.0, requires_grad=True)
            >>> Square.apply(x).backward()
            >>> x.grad
            tensor(6.)
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor) -> None:
        """Accepted for programs that also define `jvp`; nothing reads it, because there is no forward mode."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs `forward` wrote into; each of them must also be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `backward` gets None instead of zeros for outputs that received no gradient."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` kept."""
        node = self._weak() if self._weak is not None else None
        return () if node is None else node.unpack()

    saved_variables = saved_tensors

    def __getattr__(self, name: str) -> Any:
        # `name()`, `next_functions`, `metadata`, `register_hook` and the like are the node's
        node = self._weak() if self._weak is not None else None
        if node is not None and name in _OF_THE_NODE:
            return getattr(node, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


_OF_THE_NODE = frozenset(
    ("name", "next_functions", "metadata", "register_hook", "register_prehook", "_sequence_nr")
)


class BackwardCFunction(Base):
    """The node of one call of a custom function. Each Function has its own subclass, named `<Function>Backward`."""

    __slots__ = ("alive", "ctx", "edges", "given", "infos", "kept", "live", "outs", "seq")

    forward_cls: Any = None
    __repr__ = object.__repr__

    # The executor asks for `saved` and frees it; a custom node may run again as long as it reads nothing saved.
    @property
    def saved(self) -> tuple:
        """The saved entries that are still there."""
        return self.kept if self.alive else ()

    @saved.setter
    def saved(self, value: Any) -> None:
        self.alive = value is not FREED
        self.kept = value if self.alive else ()

    def _sequence_nr(self) -> int:
        return int(self.seq)

    def __getattr__(self, name: str) -> Any:
        if name in ("ctx", "live", "outs"):  # a slot nobody filled
            raise AttributeError(name)
        return getattr(self.ctx, name)

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` kept."""
        return self.unpack()

    def unpack(self) -> tuple:
        """The saved tensors, their versions checked."""
        if not self.alive:
            raise RuntimeError(errors.FREED_TWICE)
        return tuple([None if entry is None else self._unpacked(*entry) for entry in self.kept])

    def _unpacked(self, entry: Any, e: Any, nr: int | None) -> Tensor:
        if entry.__class__ is Packed:
            t = unpacked(entry)
            if nr is not None:
                e = self.output(nr, t)
            return t if e is None else continued(t, e)
        if nr is None:
            t, then = entry
            v = t._ver
            if v is not None and v.n != then:
                raise overwritten(self, entry, errors.modified(t._data, t._place, t._node, v.n, then))
            return t
        d, place, v, then = entry
        if v.n != then:
            raise overwritten(self, entry, errors.modified(d, place, self, v.n, then, nr))
        t = wrap(d, place)
        t._ver = v
        t._node, t._rg = self.output(nr, t), True
        return t

    def output(self, nr: int, t: Tensor) -> Any:
        """Where the gradient of output `nr` goes; `t` has its shape."""
        return self if len(self.infos) == 1 else out_of(self, nr, t._data, t._place)

    def run(self, g: Any, create_graph: bool) -> list:
        """Call the user's backward; one gradient per edge, arrays in a plain pass and Tensors in a recorded one."""
        grads = g if g.__class__ is list else [g]
        given = []
        for gi, info in zip(grads, self.infos, strict=True):
            if gi is not None:
                given.append(gi if create_graph else wrap(gi, info[2]))
            elif info is None or not self.ctx.materialize_grads:
                given.append(None)
            else:
                given.append(wrap(info[2].xp.zeros(info[0], info[1]), info[2]))
        before, mode.on = mode.on, recording() if create_graph else False
        try:
            results = _backward_of(self.forward_cls)(self.ctx, *given)
        finally:
            mode.on = before
        return self._checked(results if isinstance(results, tuple) else (results,), create_graph)

    def _checked(self, results: tuple, create_graph: bool) -> list:
        """Each argument's gradient checked, and those of the tensors among the arguments returned."""
        wanted, name = self.given, type(self).__name__
        if len(results) != len(wanted):
            # more than asked for is fine as long as the rest is None
            if len(results) < len(wanted) or any(r is not None for r in results[len(wanted) :]):
                raise RuntimeError(
                    f"function {name} returned an incorrect number of gradients (expected {len(wanted)}, got "
                    f"{len(results)})"
                )
        found = []
        for i, is_tensor in enumerate(wanted):
            r = results[i]
            if not is_tensor:
                if r is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if r is not None and not isinstance(r, Tensor):
                raise RuntimeError(f"expected Variable or None (got {errors.type_name(r)})")
            found.append(r)
        return [
            None if e is None or r is None else self._fitting(i, r, e, create_graph)
            for i, (r, e) in enumerate(zip(found, self.edges, strict=True))
        ]

    def _fitting(self, i: int, r: Tensor, e: Any, create_graph: bool) -> Any:
        d = r._data
        start = f"Function {type(self).__name__} returned an invalid gradient at index {i} - "
        if d.shape != e.shape and not _expandable(e.shape, d.shape):
            raise RuntimeError(
                f"{start}got {errors.sizes(d.shape)} but expected shape compatible with {errors.sizes(e.shape)}"
            )
        if r._place is not e.place:
            raise RuntimeError(f"{start}expected device {e.place.device} but got {r._place.device}")
        return r if create_graph else d


def _expandable(small: tuple, large: tuple) -> bool:
    """Whether `small` broadcasts to `large`."""
    if len(small) > len(large):
        return False
    return all(s in (1, n) for s, n in zip(reversed(small), reversed(large), strict=False))


def _backward_of(cls: Any) -> Callable:
    """The user's backward, under either of its two names."""
    vjp, backward = cls.vjp, cls.backward
    if vjp is Function.vjp:
        return backward
    if backward is not Function.backward:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one "
            "of them."
        )
    return vjp


class Told:
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
    """Gives each Function the class of its nodes and the class of its contexts."""

    def __init__(cls, name: str, bases: tuple, namespace: dict) -> None:
        super().__init__(name, bases, namespace)
        label = name + "Backward"
        told = {"__slots__": (), "forward_cls": cls, "__module__": "vistorch.autograd.function"}
        cls._backward_cls: Any = type(label, (BackwardCFunction,), told)
        cls._ctx_cls: Any = type(label, (FunctionCtx,), {"__module__": "vistorch.autograd.function"})


class Function(metaclass=FunctionMeta):
    """Base class of operations with a backward of their own; used through `apply`, never instantiated.

    A subclass defines two static methods: `forward(ctx, *args)` (or `forward(*args)` with
    `setup_context(ctx, inputs, output)`) and `backward(ctx, *grad_outputs)`, which returns one gradient per argument
    of forward, None where there is none.

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
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future version "
            "of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse the call of an instance."""
        raise RuntimeError(LEGACY)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; to be written by the user."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Fill `ctx` after `forward(*args)`; defining it chooses the style in which forward gets no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments; to be written by the user."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Forward mode, which is not there."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Vectorisation, which is not there."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

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
        if (told := hear.op) is not None:
            told(Told(cls), tuple(inputs), (args,), tuple([o for o in outs if isinstance(o, Tensor)]))
        for used in ("to_save", "dirty_tensors", "non_differentiable"):
            ctx.__dict__.pop(used, None)
        return outs if many else outs[0]


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

    def run(self, g: Any, create_graph: bool) -> list:
        """Refuse."""
        raise RuntimeError(DIFFERENTIATED_TWICE)


def once_differentiable(fn: Callable) -> Callable:
    """Decorator of a backward that is not itself differentiable: a second derivative is then an error, not a wrong value.

    Args:
        fn: the static method `backward(ctx, *grad_outputs)`.
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        if not mode.on or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        many = outputs if isinstance(outputs, tuple) else (outputs,)
        barred = tuple([_barred(t) if isinstance(t, Tensor) else t for t in many])
        return barred if isinstance(outputs, tuple) else barred[0]

    return wrapper


def _barred(t: Tensor) -> Tensor:
    o = wrap(t._data, t._place)
    n = Error()
    n.edges, n.saved, n.hooks = (), (), None
    n.shape, n.dtype, n.place = t._data.shape, t._data.dtype, t._place
    n.seq = draw()
    o._node, o._rg = n, True
    return o


class InplaceFunction(Function):
    """The old base class of functions that write into their inputs."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


__all__ = ["Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]
