"""`backward` and `grad`: arguments checked, then one `Pass` drained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.backward import Pass, drain, root_of
from ..engine.events import hear
from ..engine.face import public
from ..engine.graph import edge
from ..engine.modes import mode
from ..engine.places import CPU
from ..engine.tensor import Tensor, wrap


SEEDS = {np.dtype(t): np.ones((), t) for t in ("f4", "f8")}
for _seed in SEEDS.values():
    _seed.flags.writeable = False


def _tuple(value: Any) -> tuple:
    return (value,) if isinstance(value, Tensor) or value is None else tuple(value)


def seeds(outputs: tuple, given: tuple) -> list:
    """The gradients a pass starts with: those given, ones for scalars."""
    made = []
    for nr, (out, g) in enumerate(zip(outputs, given, strict=True)):
        if g is None:
            if out.requires_grad:
                if out._data.size != 1:
                    raise RuntimeError(errors.NOT_SCALAR)
                if not out.dtype.is_floating_point:
                    raise RuntimeError(
                        "grad can be implicitly created only for real scalar outputs but got "
                        f"{out.dtype}"
                    )
                g = wrap(out._place.xp.ones_like(out._data), out._place)
            made.append(g)
            continue
        if not isinstance(g, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
        if g._data.shape != out._data.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{nr}] has a shape of {g.shape} and output[{nr}] has a shape of {out.shape}."
            )
        if out.dtype.is_complex != g.dtype.is_complex:
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                f"grad_output[{nr}] has a dtype of {g.dtype} and output[{nr}] has a dtype of {out.dtype}."
            )
        made.append(g)
    return made


def _fit(g: Tensor, root: Any, create_graph: bool) -> Tensor:
    if g._data.dtype != root.dtype:
        return g.to(g.dtype) if create_graph else wrap(g._data.astype(root.dtype), g._place)
    return g


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves below them.

    Args:
        tensors: one tensor, or a sequence.
        grad_tensors: their gradients; may be left out for scalars.
        retain_graph: keep what the graph saved; default: the value of create_graph.
        create_graph: record the pass, so that it can be differentiated again.
        grad_variables: the old name of grad_tensors.
        inputs: only these tensors get a gradient.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0], requires_grad=True)
        >>> vistorch.autograd.backward((x * x).sum())
        >>> x.grad
        tensor([2., 4.])
    """
    if mode.node is None and grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    drain(
        prepare(tensors, grad_tensors, retain_graph=retain_graph, create_graph=create_graph, inputs=inputs)
    )


def _target(t: Any, index: int, func: str) -> Any:
    if not isinstance(t, Tensor):
        raise TypeError(f"{func}(): inputs must be Tensors, but got {type(t).__name__} at index {index}")
    e = edge(t)
    if not t._rg:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    if func == "backward":
        t.retain_grad()
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
    """A backward pass, checked and ready to run, for whoever drives it: `backward` below, or a stepper."""
    outputs = _tuple(tensors)
    given = (None,) * len(outputs) if gradient is None else _tuple(gradient)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    targets = None
    if inputs is not None:
        wanted = _tuple(inputs)
        if not wanted:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        targets = [_target(t, i, "backward") for i, t in enumerate(wanted)]
    run = _pass(outputs, given, retain_graph, create_graph, targets, True, journal)
    if (told := hear.backward) is not None:
        told(run, outputs)
    return run


def _pass(
    outputs: tuple,
    given: tuple,
    retain_graph: Any,
    create_graph: bool,
    targets: Any,
    accumulate: bool,
    journal: bool = False,
) -> Pass:
    grads = seeds(outputs, given)
    roots = [root_of(t, i) for i, t in enumerate(outputs)]
    grads = [_fit(g, r, create_graph) for g, r in zip(grads, roots, strict=True)]
    if not create_graph:
        grads = [g._data for g in grads]
    return Pass(
        roots,
        grads,
        create_graph=bool(create_graph),
        retain_graph=bool(create_graph if retain_graph is None else retain_graph),
        targets=targets,
        accumulate=accumulate,
        journal=journal,
    )


def _run(
    outputs: tuple, given: tuple, retain_graph: Any, create_graph: bool, targets: Any, accumulate: bool
) -> Pass:
    run = _pass(outputs, given, retain_graph, create_graph, targets, accumulate)
    if (told := hear.backward) is not None:
        told(run, outputs)
    drain(run)
    return run


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
) -> tuple:
    """The gradients of `outputs` with respect to `inputs`, as a tuple; `.grad` stays as it is.

    Args:
        outputs: one tensor, or a sequence.
        inputs: one tensor, or a sequence.
        grad_outputs: gradients of the outputs; may be left out for scalars.
        retain_graph: keep what the graph saved; default: the value of create_graph.
        create_graph: record the pass, so that it can be differentiated again.
        only_inputs: has no effect (as in PyTorch).
        allow_unused: give None for inputs that the outputs do not depend on, instead of an error.
        is_grads_batched: the first dimension of grad_outputs is a batch; one pass is run for each entry.
        materialize_grads: give zeros for unused inputs; implies allow_unused.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> vistorch.autograd.grad(x * x, x)
        (tensor(6.),)
    """
    del only_inputs
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
            )
        allow_unused = True
    outs, ins = _tuple(outputs), _tuple(inputs)
    given = (None,) * len(outs) if grad_outputs is None else _tuple(grad_outputs)
    if len(given) != len(outs):
        raise RuntimeError(f"got {len(outs)} tensors and {len(given)} gradients")
    if is_grads_batched:
        return _batched(outs, ins, given, retain_graph, create_graph, allow_unused, materialize_grads)
    targets = [_target(t, i, "grad") for i, t in enumerate(ins)]
    run = _run(outs, given, retain_graph, create_graph, targets, False)
    results = []
    for t, e in zip(ins, targets, strict=True):
        g = run.caught.get(e)
        if g is None:
            if not allow_unused:
                raise RuntimeError(
                    "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
                    "this is the desired behavior."
                )
            results.append(wrap(t._place.xp.zeros_like(t._data), t._place) if materialize_grads else None)
        else:
            results.append(g if create_graph else wrap(g, t._place))
    return tuple(results)


def _batched(outs, ins, given, retain_graph, create_graph, allow_unused, materialize_grads) -> tuple:
    from ..engine.face import FUNCTIONS

    n = next(g for g in given if g is not None).shape[0]
    rows = [
        grad(
            outs,
            ins,
            [None if g is None else g[i] for g in given],
            True if i < n - 1 else retain_graph,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
        for i in range(n)
    ]
    return tuple(None if col[0] is None else FUNCTIONS["stack"](list(col)) for col in zip(*rows, strict=True))


@public("backward", function=False)
def tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence | None = None,
) -> None:
    """Add the gradient of this tensor to the `.grad` of the leaves below it.

    Args:
        gradient: the gradient of something with respect to this tensor; may be left out for a scalar.
        retain_graph: keep what the graph saved; default: the value of create_graph.
        create_graph: record the pass, so that it can be differentiated again.
        inputs: only these tensors get a gradient.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor(3.0, requires_grad=True)
        >>> (x * x).backward()
        >>> x.grad
        tensor(6.)
    """
    if gradient is None and inputs is None and not create_graph and hear.backward is None:
        seed = SEEDS.get(self._data.dtype)
        if seed is not None and self._data.ndim == 0 and self._place is CPU:  # the usual case, without ceremony
            e = edge(self)
            if self._rg:
                drain(Pass([e], [seed], False, bool(retain_graph)))
                return
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)
