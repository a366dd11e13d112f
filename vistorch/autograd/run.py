"""`backward` and `grad`: arguments checked, then one `Pass` drained.

Invariant: everything is refused before the first node runs; what is refused while it runs is refused by the executor.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..engine.backward.backward_pass import Pass, drain, order_of, root_of
from ..engine.base import errors
from ..engine.base.dims import switch
from ..engine.base.events import listeners
from ..engine.batching import levels
from ..engine.core import views
from ..engine.core.base_ops import expand
from ..engine.core.graph import FREED, Out, edge
from ..engine.core.private_order import by_rows
from ..engine.core.registry import FUNCTIONS, public
from ..engine.core.rules import REC
from ..engine.core.tensor import Tensor, wrap
from ..engine.library_name import library
from ..engine.memory.placement import CPU
from .graph import GradientEdge, edge_of

EXPAND = expand.rule
SUMS = ("sum_all", "sum_dims")
SEEDS = {np.dtype(t): np.ones((), t) for t in ("f4", "f8")}
for _one in SEEDS.values():
    _one.flags.writeable = False

UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. Set "
    "allow_unused=True if this is the desired behavior."
)
CIRCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
    "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
    "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
    "to None after use to break the cycle and avoid the leak."
)
BATCHED = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
    "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
    "output, but a mismatch was detected: grad_output[{0}] has a shape of {1} and output[{0}] has a shape "
    "of {2}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
)
warned: set = set()  # what is said once per process


def _tuple(value: Any) -> tuple:
    return (value,) if isinstance(value, (Tensor, GradientEdge)) else tuple(value)


def _inputs(value: Any, func: str) -> tuple:
    """The `inputs` argument of `backward` and `grad` as a tuple; a dict by its values."""
    if isinstance(value, Mapping):
        if type(value) is not dict:
            raise TypeError(
                f"`inputs` argument to `{func}()` must be a dict, not {type(value).__name__}. Other Mapping "
                "types are not supported."
            )
        found = tuple(value.values())
    else:
        found = _tuple(value)
    if not found:
        raise RuntimeError(f"`inputs` argument to `{func}()` cannot be empty.")
    return found


def _grads(value: Any, n: int) -> tuple:
    return (None,) * n if value is None else (value,) if isinstance(value, Tensor) else tuple(value)


def _seed(nr: int, out: Any, g: Any, batched: bool) -> Any:
    """The gradient a pass starts with at one output: the one given, or one for a scalar."""
    meta = out.node if isinstance(out, GradientEdge) else out
    if isinstance(out, GradientEdge):
        token = edge_of(out, None if g is None else g[0] if batched else g)
        meta = out.node if token is None else token
        shape, dtype, place = tuple(meta.shape), meta.dtype, meta.place
    else:
        shape, dtype, place = out._data.shape, out._data.dtype, out._place
    if g is None:
        if not isinstance(out, GradientEdge) and not out.requires_grad:
            return None
        if any(n != 1 for n in shape):
            raise RuntimeError(errors.NOT_SCALAR)
        if dtype.kind in "biuc":
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {errors.dtypes.of(dtype)}"
            )
        return wrap(place.xp.ones(shape, dtype), place)
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    given = g._data.shape[1:] if batched else g._data.shape
    if given != shape:
        said = f"{library}.Size({list(g._data.shape)})", f"{library}.Size({list(shape)})"
        if batched:
            said = f"{library}.Size({list(given[1:])})", said[1]  # PyTorch leaves a dimension too many out
            raise RuntimeError(BATCHED.format(nr, *said))
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{nr}] has a shape of {said[0]} and output[{nr}] has a shape "
            f"of {said[1]}."
        )
    if (dtype.kind == "c") != (g._data.dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{nr}] has a dtype of {g.dtype} and output[{nr}] has a dtype of "
            f"{errors.dtypes.of(dtype)}."
        )
    return g


def _root(out: Any, g: Any, nr: int) -> Any:
    """The node a pass starts at."""
    if isinstance(out, GradientEdge):
        return edge_of(out, g)
    if not isinstance(out, Tensor):
        raise TypeError(f"element {nr} of tensors tuple is not a Tensor or a GradientEdge")
    return root_of(out, nr)


def _fit(g: Tensor, root: Any, nr: int, create_graph: bool) -> Any:
    """A starting gradient in the type of its root: an array, or a Tensor for a recorded pass."""
    if g._place is not root.place and not (create_graph and g._place.kind == errors.BATCHED):
        raise RuntimeError(
            f"invalid gradient at index {nr} - expected device {root.place.device} but got {g._place.device}"
        )
    if create_graph:
        return g if g._data.dtype == root.dtype else REC.cast(g, root.dtype)
    return g._data.astype(root.dtype, copy=False)


def _target(t: Any, roots: list) -> Any:
    """The edge at which the gradient of an input is caught."""
    if isinstance(t, GradientEdge):
        e = edge_of(t)
        if e is None:  # an output of which only the node is known: someone in the graph holds its edge
            for n in order_of(roots):
                if n.__class__ is Out and n.node is t.node and n.nr == t.output_nr:
                    return n
        return e
    if not isinstance(t, Tensor):
        raise TypeError("all inputs have to be Tensors or GradientEdges, but got " + type(t).__name__)
    e = edge(t)
    if not t._rg:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    former = () if t._more is None else t._more.former
    if former:  # a leaf that got another shape: a graph from before ends elsewhere
        reached = set(order_of(roots))
        if e not in reached:
            return next((end for one in former if (end := one()) in reached), e)
    return e


def prepare(
    tensors: Any,
    gradient: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
    journal: bool = False,
) -> Pass:
    """A backward pass, checked and ready to run, for its caller: `backward` below, or a stepper."""
    outputs = _tuple(tensors)
    wanted = None if inputs is None else _inputs(inputs, "backward")
    given = _grads(gradient, len(outputs))
    run = _pass(outputs, given, retain_graph, create_graph, wanted, True, journal)[0]
    if (emit := listeners.backward) is not None:
        emit(run, outputs)
    return run


def _pass(
    outputs: tuple,
    given: tuple,
    retain_graph: Any,
    create_graph: bool,
    inputs: tuple | None,
    accumulate: bool,
    journal: bool = False,
) -> tuple:
    """A pass that is ready to run, and its targets."""
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    func = "backward" if accumulate else "grad"
    create_graph = switch(create_graph, func, "create_graph")
    retain_graph = switch(retain_graph, func, "retain_graph", none=True)
    grads = [_seed(i, out, g, False) for i, (out, g) in enumerate(zip(outputs, given, strict=True))]
    roots = [_root(out, g, i) for i, (out, g) in enumerate(zip(outputs, grads, strict=True))]
    grads = [_fit(g, r, i, create_graph) for i, (g, r) in enumerate(zip(grads, roots, strict=True))]
    if accumulate:
        for t in inputs or ():
            if isinstance(t, Tensor):
                t.retain_grad()
    targets = None if inputs is None else [_target(t, roots) for t in inputs]
    run = Pass(
        roots,
        grads,
        create_graph=create_graph,
        retain_graph=create_graph if retain_graph is None else retain_graph,
        targets=targets,
        accumulate=accumulate,
        journal=journal,
    )
    return run, targets


def _drain(run: Pass, outputs: tuple) -> None:
    if (emit := listeners.backward) is not None:
        emit(run, outputs)
    drain(run)
    if (emit := listeners.backward_end) is not None:
        emit(run, outputs)


def _renamed(retain_variables: Any, retain_graph: Any) -> Any:
    """What a program of PyTorch's first versions asks for, under today's name."""
    warnings.warn(
        "`retain_variables` is the old name of `retain_graph`. Use `retain_graph` instead.",
        FutureWarning,
        stacklevel=3,
    )
    if retain_graph is not None:
        raise TypeError("backward() got both `retain_variables` and `retain_graph`, which are one argument")
    return switch(retain_variables, "backward", "retain_variables")


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    retain_variables: bool | None = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves below them.

    Args:
        tensors: one tensor or GradientEdge, or a sequence.
        grad_tensors: their gradients; may be left out for scalars.
        retain_graph: keep what the graph saved; default: the value of create_graph.
        create_graph: record the pass, so that it can be differentiated again.
        grad_variables: the old name of grad_tensors.
        inputs: only these get a gradient.
        retain_variables: the name of retain_graph in PyTorch's first versions.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0], requires_grad=True)
        >>> vistorch.autograd.backward((x * x).sum())
        >>> x.grad
        tensor([2., 4.])
    """
    if retain_variables is not None:
        retain_graph = _renamed(retain_variables, retain_graph)
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else _inputs(inputs, "backward")
    outputs = _tuple(tensors)
    create_graph = switch(create_graph, "backward", "create_graph")
    if create_graph and CIRCLE not in warned:
        warned.add(CIRCLE)
        warnings.warn(CIRCLE, UserWarning, stacklevel=2)
    given = _grads(grad_tensors, len(outputs))
    _drain(_pass(outputs, given, retain_graph, create_graph, wanted, True)[0], outputs)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, as a tuple; `.grad` stays as it is.

    Args:
        outputs: one tensor or GradientEdge, or a sequence.
        inputs: the same, or a dict; then the result is a dict with its keys.
        grad_outputs: gradients of the outputs; may be left out for scalars.
        retain_graph: keep what the graph saved; default: the value of create_graph.
        create_graph: record the pass, so that it can be differentiated again.
        only_inputs: has no effect (as in PyTorch).
        allow_unused: give None for inputs that the outputs do not depend on, instead of an error.
        is_grads_batched: the first dimension of grad_outputs is a batch; one pass computes all of it.
        materialize_grads: give zeros for unused inputs; implies allow_unused.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> vistorch.autograd.grad(x * x, x)
        (tensor(6.),)
    """
    create_graph = switch(create_graph, "grad", "create_graph")
    materialize_grads = switch(materialize_grads, "grad", "materialize_grads")
    allow_unused = switch(allow_unused, "grad", "allow_unused", none=True)
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    outs, ins = _tuple(outputs), _inputs(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            f"gradient for other parts of the graph, please use {library}.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    given = _grads(grad_outputs, len(outs))
    once = _batched if is_grads_batched else _caught
    results = once(outs, ins, given, retain_graph, create_graph, allow_unused)
    if not create_graph and (emit := listeners.phase) is not None:
        emit("grads", outs, results, ins)
    if materialize_grads:
        results = [_zeros(t, create_graph) if g is None else g for t, g in zip(ins, results, strict=True)]
    if isinstance(inputs, dict):
        return dict(zip(inputs, results, strict=True))
    return tuple(results)


def _caught(
    outs: tuple, ins: tuple, given: tuple, retain_graph: Any, create_graph: bool, allow_unused: bool
) -> list:
    """The gradients of one pass, None where none arrived."""
    records = create_graph
    if not create_graph and any(
        isinstance(g, Tensor)
        and g._place.kind == errors.BATCHED
        and getattr(out, "_place", None) is not g._place
        for out, g in zip(outs, given, strict=False)
    ):  # samples of gradients of a graph that has none: ops bring the two together
        retain_graph, create_graph = bool(retain_graph), True
    run, targets = _pass(outs, given, retain_graph, create_graph, ins, False)
    run.records = records
    _drain(run, outs)
    made: dict = {}  # an input given twice gets one gradient twice
    for i, e in enumerate(targets):
        if e not in made:
            g = run.caught.get(e)
            if g is None and not allow_unused:
                raise RuntimeError(UNUSED.format(i))
            made[e] = g if create_graph or g is None else _result(g, e, run.order)
    return [made[e] for e in targets]


def _result(g: Any, e: Any, nodes: list) -> Tensor:
    """A caught gradient as a Tensor; of a sum it is the expanded view that it is in PyTorch, else memory of its own."""
    if not views.aliased(g):
        return wrap(g if e.place.kind else by_rows(g), e.place)
    if not _of_a_sum(e, nodes):
        return wrap(e.place.xp.array(g, order="C"), e.place)
    own = g[tuple([slice(0, 1) if s == 0 else slice(None) for s in g.strides])]
    o = wrap(g, e.place)
    views.mark(o, wrap(own, e.place), (EXPAND, (g.shape,)))
    return o


def _of_a_sum(e: Any, nodes: list) -> bool:
    """Whether what reaches an edge comes from a sum alone, maybe through views."""
    givers: dict = {}
    for n in nodes:
        for below in getattr(n, "edges", ()):
            givers.setdefault(below, []).append(n)
    while len(found := givers.get(e, ())) == 1:
        e = found[0]
        rule = getattr(e, "rule", None)
        if rule is not None and rule.name in SUMS:
            return True
        if rule is not None and not rule.view:
            return False
    return False


def _zeros(t: Any, requires_grad: bool) -> Tensor:
    if isinstance(t, GradientEdge):
        raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
    o = wrap(t._place.xp.zeros_like(t._data), t._place)
    o._rg = requires_grad
    return o


def _batched(
    outs: tuple, ins: tuple, given: tuple, retain_graph: Any, create_graph: bool, allow_unused: bool
) -> list:
    """One pass for each entry of the batch, results stacked."""
    for i, (out, g) in enumerate(zip(outs, given, strict=False)):
        if g is not None:
            _seed(i, out, g, True)
    if all(g is None for g in given):
        raise ValueError("is_grads_batched=True needs grad_outputs: their first dimension is the batch")
    n = next(len(g) for g in given if g is not None)
    try:
        return _at_once(outs, ins, given, n, retain_graph, create_graph, allow_unused)
    except errors.Unbatchable:
        pass
    rows = [
        _caught(
            outs,
            ins,
            tuple([None if g is None else g[i] for g in given]),
            True if i < n - 1 else retain_graph,
            create_graph,
            allow_unused,
        )
        for i in range(n)
    ]
    return [None if col[0] is None else FUNCTIONS["stack"](list(col)) for col in zip(*rows, strict=True)]


def _at_once(
    outs: tuple, ins: tuple, given: tuple, n: int, retain_graph: Any, create_graph: bool, allow_unused: bool
) -> list:
    """One pass for the whole batch."""
    if not all(g is None or levels.at_hand(g) for g in given):
        raise errors.Unbatchable("another device")
    with levels.level(n) as level:
        inside = tuple([None if g is None else levels.entered(g, 0, level) for g in given])
        found = _caught(outs, ins, inside, True, create_graph, allow_unused)
    results = [None if g is None else levels.left(g, 0, level) for g in found]
    if not (create_graph if retain_graph is None else retain_graph):
        for node in order_of([_root(out, g, i) for i, (out, g) in enumerate(zip(outs, given, strict=True))]):
            if getattr(node, "rule", None) is not None and node.saved and node.rule.saves_tensors:
                node.saved = FREED
    return results


@public("backward", function=False)
def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence | None = None,
    retain_variables: bool | None = None,
) -> None:
    """Add the gradient of this tensor to the `.grad` of the leaves below it.

    Args:
        self: the tensor.
        gradient: the gradient of something with respect to this tensor; may be left out for a scalar.
        retain_graph: keep what the graph saved; default: the value of create_graph.
        create_graph: record the pass, so that it can be differentiated again.
        inputs: only these get a gradient.
        retain_variables: the name of retain_graph in PyTorch's first versions.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> (x * x).backward()
        >>> x.grad
        tensor(6.)
    """
    if retain_variables is not None:
        retain_graph = _renamed(retain_variables, retain_graph)
    if gradient is None and inputs is None and create_graph is False:
        seed = SEEDS.get(self._data.dtype)
        if seed is not None and self._data.ndim == 0 and self._place is CPU:  # the usual case: no ceremony
            e = edge(self)
            if self._rg:
                run = Pass(
                    [e], [seed], False, bool(switch(retain_graph, "backward", "retain_graph", none=True))
                )
                if (emit := listeners.backward) is not None:
                    emit(run, (self,))
                drain(run)
                if (emit := listeners.backward_end) is not None:
                    emit(run, (self,))
                return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)
