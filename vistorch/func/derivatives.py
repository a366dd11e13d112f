"""Gradients as functions: `grad(f)` is the function whose value is the gradient of f.

An argument is replaced by a stand-in that nobody else knows. What `func` reaches by other ways is a constant to this
derivative, but not to one around it: a result keeps its history exactly where it depends on such a thing.

Invariant: nothing here writes to the `grad` of a tensor, or to an argument.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd import grad as backward
from ..engine.base.modes import enable_grad, is_grad_enabled, out_of_inference
from ..engine.batching import levels
from ..engine.core.graph import AccumulateGrad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor, wrap
from .trees import built, flat, mapped

__all__ = ["grad", "grad_and_value", "vjp"]

zeros_like = FUNCTIONS["zeros_like"]
OUTPUT = "output of function f should be a tuple: (output, aux) if has_aux is True"


def numbered(argnums: Any, count: int) -> Any:
    """The numbers of the arguments to derive by, from the front."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, int):
        if not -count <= argnums < count:
            raise RuntimeError(f"Got argnum={argnums}, but only {count} positional inputs")
        return argnums % count
    for n in argnums:
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
    found = tuple([numbered(n, count) for n in argnums])
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


class Stand:
    """Marks the stand-ins of one call; when the call is over they count for nothing to those around it."""

    over = False

    def __init__(self) -> None:
        self.recording = is_grad_enabled()  # around the call: within it, always

    def in_for(self, x: Any) -> Tensor:
        """A tensor of the same values that requires grad; where x has history, one that knows it."""
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        if levels.active() and levels.at_hand(x):
            x = levels.shared(x, levels.active())  # each sample has a derivative of its own
        if x.requires_grad and self.recording:
            return x.view_as(x)
        made = (wrap(x._data, x._place) if x.is_inference() else x.detach()).requires_grad_()
        made._stand = self
        return made


class Derived:
    """One call of a function on stand-ins, and whether its results depend on anything else that requires grad.

    Args:
        func: the function.
        args: its arguments.
        argnums: which of them to derive by; None for all.
        kwargs: its arguments by name.
    """

    def __init__(self, func: Callable, args: tuple, argnums: Any, kwargs: dict) -> None:
        chosen = args if argnums is None else self.chosen(args, numbered(argnums, len(args)))
        leaves, self.form = flat(chosen)
        self.stand = Stand()
        with enable_grad():
            self.inputs = [self.stand.in_for(x) for x in leaves]
            replaced = built(self.form, self.inputs)
            if argnums is None:
                args = replaced
            else:
                at = numbered(argnums, len(args))
                new = {at: replaced} if isinstance(at, int) else dict(zip(at, replaced, strict=True))
                args = tuple([new.get(i, arg) for i, arg in enumerate(args)])
            self.result = func(*args, **kwargs)

    @staticmethod
    def chosen(args: tuple, at: Any) -> Any:
        """The arguments with these numbers."""
        return args[at] if isinstance(at, int) else tuple([args[i] for i in at])

    def split(self, said: str) -> tuple[Any, Any]:
        """A result of two parts."""
        if not (isinstance(self.result, tuple) and len(self.result) == 2):
            raise RuntimeError(said)
        return self.result

    def reaches_out(self, outputs: list) -> bool:
        """Whether the outputs depend on a leaf that is none of the stand-ins, and an outer transform wants to know."""
        if not self.stand.recording:
            return False
        waiting = [_edge(t) for t in outputs if isinstance(t, Tensor) and t.requires_grad]
        known = {
            x.grad_fn for x in self.inputs if x.grad_fn is not None
        }  # an argument that requires grad outside
        seen = set()
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            if node in known:
                return True
            if isinstance(node, AccumulateGrad):
                stand = getattr(node.variable, "_stand", None)
                if stand is None or not (stand is self.stand or stand.over):
                    return True
            else:
                waiting.extend([n for n, _ in node.next_functions])
        return False

    def pulled(self, outputs: list, cotangents: Any, retain_graph: bool, create_graph: bool) -> list[Tensor]:
        """The gradients of the outputs with respect to the stand-ins; zeros where there is none."""
        if cotangents is None:
            cotangents = [None] * len(outputs)
        pairs = [(o, g) for o, g in zip(outputs, cotangents, strict=True) if o.requires_grad]
        if not pairs:
            return [zeros_like(x) for x in self.inputs]
        heads, weights = zip(*pairs, strict=True)
        found = backward(
            heads,
            self.inputs,
            weights if weights[0] is not None else None,
            retain_graph=retain_graph,
            create_graph=create_graph,
            allow_unused=True,
        )
        return [zeros_like(x) if g is None else g for g, x in zip(found, self.inputs, strict=True)]


def _edge(t: Tensor) -> Any:
    """The node of a tensor; of a leaf, the end of its path."""
    return t.view_as(t).grad_fn.next_functions[0][0] if t.is_leaf else t.grad_fn


def plain(tree: Any, keep: bool) -> Any:
    """A tree whose tensors have no history, unless it is to be kept."""
    return tree if keep else mapped(lambda x: x.detach() if isinstance(x, Tensor) else x, tree)


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The function whose value is the gradient of `func`.

    Args:
        func: gives a tensor of no dims.
        argnums: the argument to derive by, or a tuple of them; each a tensor, or nested tuples, lists and dicts.
        has_aux: `func` gives a pair, and the second part is passed on.

    Example:
        >>> import vistorch
        >>> vistorch.func.grad(lambda x: x.sin().sum())(vistorch.zeros(2))
        tensor([1., 1.])
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The function whose value is the gradient of `func` and the value of `func`.

    Args:
        func: gives a tensor of no dims.
        argnums: the argument to derive by, or a tuple of them.
        has_aux: `func` gives a pair, and the second part is passed on.

    Example:
        >>> import vistorch
        >>> vistorch.func.grad_and_value(lambda x: (x * x).sum())(vistorch.ones(2))
        (tensor([2., 2.]), tensor(2.))
    """

    @functools.wraps(func)
    @out_of_inference()
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        numbered(argnums, len(args))
        call = Derived(func, args, argnums, kwargs)
        output, aux = call.split(f"grad_and_value(f)(*args): {OUTPUT}") if has_aux else (call.result, None)
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
            )
        if output.dim() != 0:
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        keep = call.reaches_out([output])
        found = call.pulled([output], None, retain_graph=keep or bool(has_aux), create_graph=keep)
        found, output = built(call.form, found), plain(output, keep)
        aux = plain(aux, has_aux and call.reaches_out(flat(aux)[0]))
        call.stand.over = True
        return (found, (output, aux)) if has_aux else (found, output)

    return wrapper


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> Any:
    """The value of `func`, and the function that takes gradients of its results to gradients of its arguments.

    Args:
        func: gives a tensor, or nested tuples, lists and dicts of them.
        *primals: its arguments.
        has_aux: `func` gives a pair, and the second part is passed on as a third result.

    Example:
        >>> import vistorch
        >>> value, pull = vistorch.func.vjp(lambda x: x * x, vistorch.tensor([1.0, 2.0]))
        >>> pull(vistorch.ones(2))
        (tensor([2., 4.]),)
    """
    return vjp_by(func, primals, None, has_aux)


@out_of_inference()
def vjp_by(func: Callable, primals: tuple, argnums: Any, has_aux: bool) -> Any:
    """`vjp` with respect to some of the arguments."""
    call = Derived(func, primals, argnums, {})
    result, aux = call.split(f"vjp(f, *primals): {OUTPUT}") if has_aux else (call.result, None)
    outputs, form = flat(result)
    check_tensors(outputs, "vjp(f, *primals)")
    for out in outputs:
        if not (out.is_floating_point() or out.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{out.dtype}"
            )
    keep = call.reaches_out(outputs)
    call.stand.over = True

    @out_of_inference()
    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_form = flat(cotangents)
        if given_form != form:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {_shown(given_form)}, primal output: {_shown(form)}"
            )
        kept = keep or any(isinstance(g, Tensor) and g.requires_grad for g in given)
        recorded = is_grad_enabled() and kept if create_graph is None else create_graph
        found = call.pulled(outputs, given, retain_graph, recorded)
        return built(call.form, found)

    value = built(form, [plain(out, keep) for out in outputs])
    if not has_aux:
        return value, pull
    return value, pull, plain(aux, call.reaches_out(flat(aux)[0]))


def check_tensors(outputs: list, said: str) -> None:
    """Refuse results that are no tensors, or none at all."""
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(
            f"{said}: Expected f to be a function that has non-empty output (got output = {outputs})"
        )
    for out in outputs:
        if not isinstance(out, Tensor):
            raise RuntimeError(
                f"{said}: expected f(*primals) to return only tensors, got unsupported type {type(out)}"
            )


def _shown(form: Any) -> str:
    """A form as PyTorch writes it."""
    return repr(built(form, iter(lambda: _Star(), None)))


class _Star:
    def __repr__(self) -> str:
        return "*"
