"""The two objects of a custom function's call: the context, which is the user's, and the node, which is the executor's.

Invariant: the node holds the context and the context knows the node only weakly, so a graph with custom functions is
freed by reference counts like any other. They are two so that the user may call an attribute `shape` or `saved`.
"""

from __future__ import annotations

from typing import Any

from ..engine.base import errors
from ..engine.base.modes import mode, recording
from ..engine.core.graph import FREED, Base, out_of
from ..engine.core.hooks import tensor_of
from ..engine.core.record import Packed, continued, overwritten, unpacked
from ..engine.core.tensor import Tensor, wrap

_OF_THE_NODE = frozenset(
    (
        "_sequence_nr",
        "metadata",
        "name",
        "next_functions",
        "previous_functions",
        "register_hook",
        "register_prehook",
    )
)


class FunctionCtx:
    """What `forward` and `backward` of one call share: saved tensors, flags, and any attribute of the user's.

    Example:
        >>> import vistorch
        >>> class Power(vistorch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x, n):
        ...         ctx.n = n
        ...         ctx.save_for_backward(x)
        ...         return x**n
        ...     @staticmethod
        ...     def backward(ctx, grad_output):
        ...         (x,) = ctx.saved_tensors
        ...         print(ctx.needs_input_grad)
        ...         return grad_output * ctx.n * x ** (ctx.n - 1), None
        >>> x = vistorch.tensor(2.0, requires_grad=True)
        >>> Power.apply(x, 3).backward()
        (True, False)
        >>> x.grad
        tensor(12.)
    """

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
        """Accepted for programs that also define `jvp`; nothing reads it, because there is no forward mode.

        Example:
            >>> import vistorch
            >>> class Double(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.save_for_forward(x)
            ...         return x * 2
            ...     @staticmethod
            ...     def backward(ctx, grad_output):
            ...         return grad_output * 2
            >>> Double.apply(vistorch.ones(2))
            tensor([2., 2.])
        """
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs `forward` wrote into; each of them must also be returned.

        Example:
            >>> import vistorch
            >>> class DoubleInPlace(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.mark_dirty(x)
            ...         return x.mul_(2)
            ...     @staticmethod
            ...     def backward(ctx, grad_output):
            ...         return grad_output * 2
            >>> leaf = vistorch.ones(2, requires_grad=True)
            >>> x = leaf.clone()
            >>> DoubleInPlace.apply(x) is x  # the written input carries on the history
            True
            >>> x.sum().backward()
            >>> leaf.grad
            tensor([2., 2.])
        """
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs carry no gradient.

        Example:
            >>> import vistorch
            >>> class Sorted(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         values, order = x.sort()
            ...         ctx.mark_non_differentiable(order)
            ...         ctx.save_for_backward(order)
            ...         return values, order
            ...     @staticmethod
            ...     def backward(ctx, grad_values, grad_order):
            ...         (order,) = ctx.saved_tensors
            ...         return vistorch.empty_like(grad_values).scatter_(0, order, grad_values)
            >>> values, order = Sorted.apply(vistorch.tensor([3.0, 1.0], requires_grad=True))
            >>> values.requires_grad, order.requires_grad
            (True, False)
        """
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """With False, `backward` gets None instead of zeros for outputs that received no gradient.

        Example:
            >>> import vistorch
            >>> class Twice(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.set_materialize_grads(False)
            ...         return x.clone(), x.clone()
            ...     @staticmethod
            ...     def backward(ctx, first, second):
            ...         print(first, second)
            ...         return first
            >>> used, unused = Twice.apply(vistorch.tensor(1.0, requires_grad=True))
            >>> used.backward()
            tensor(1.) None
        """
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """What `save_for_backward` kept.

        Example:
            >>> import vistorch
            >>> class Exp(vistorch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         y = x.exp()
            ...         ctx.save_for_backward(y)
            ...         return y
            ...     @staticmethod
            ...     def backward(ctx, grad_output):
            ...         print(ctx.saved_tensors[0].detach())
            ...         return grad_output * ctx.saved_tensors[0]
            >>> Exp.apply(vistorch.tensor(0.0, requires_grad=True)).backward()
            tensor(1.)
        """
        node = self._weak() if self._weak is not None else None
        return () if node is None else node.saved_tensors

    saved_variables = saved_tensors

    def __getattr__(self, name: str) -> Any:
        # `name()`, `next_functions`, `metadata`, `register_hook` and the like are the node's
        node = self._weak() if self._weak is not None else None
        if node is not None and name in _OF_THE_NODE:
            return getattr(node, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class BackwardCFunction(Base):
    """The node of one call of a custom function. Each Function has its own subclass, named `<Function>Backward`.

    Example:
        >>> import vistorch
        >>> class Square(vistorch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, grad_output):
        ...         return grad_output * 2 * ctx.saved_tensors[0].item()
        >>> y = Square.apply(vistorch.tensor(3.0, requires_grad=True))
        >>> isinstance(y.grad_fn, vistorch.autograd.function.BackwardCFunction), y.grad_fn.name()
        (True, 'SquareBackward')
        >>> y.grad_fn.saved_tensors
        (tensor(3., requires_grad=True),)
        >>> y.grad_fn.run(vistorch.tensor(1.0), create_graph=True)  # what a pass does with it
        [tensor(6.)]
        >>> y.backward()
        >>> y.grad_fn.saved  # the pass has freed them
        ()
    """

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
        """What `save_for_backward` kept, its versions checked."""
        if not self.alive:
            raise RuntimeError(errors.FREED_TWICE)
        return tuple([None if entry is None else self._unpacked(*entry) for entry in self.kept])

    def _unpacked(self, entry: Any, e: Any, nr: int | None) -> Tensor:
        if entry.__class__ is Packed:
            t = unpacked(entry)
            if nr is not None:
                e = self._output(nr, t)
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
        t._node, t._rg = self._output(nr, t), True
        return t

    def _output(self, nr: int, t: Tensor) -> Any:
        """Where the gradient of output `nr` goes; `t` has its shape."""
        return self if len(self.infos) == 1 else out_of(self, nr, t._data, t._place)

    def run(self, g: Any, create_graph: bool) -> list:
        """Call the user's backward; one gradient per edge, arrays in a plain pass and Tensors in a recorded one."""
        grads = g if g.__class__ is list else [g]
        given = []
        for gi, info in zip(grads, self.infos, strict=True):
            if gi is not None:
                given.append(tensor_of(gi, info[2]))
            elif info is None or not self.ctx.materialize_grads:
                given.append(None)
            else:
                given.append(wrap(info[2].xp.zeros(info[0], info[1]), info[2]))
        before, mode.on = mode.on, recording() if create_graph else False
        try:
            results = self.forward_cls._user_backward()(self.ctx, *given)
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
        if errors.BATCHED in (r._place.kind, e.place.kind):
            if r._place is not e.place and not create_graph:
                raise errors.Unbatchable("a gradient that all samples share")
        elif r._place is not e.place:
            raise RuntimeError(f"{start}expected device {e.place.device} but got {r._place.device}")
        return r if create_graph else d


def _expandable(small: tuple, large: tuple) -> bool:
    """Whether `small` broadcasts to `large`."""
    if len(small) > len(large):
        return False
    return all(s in (1, n) for s, n in zip(reversed(small), reversed(large), strict=False))
