"""Derivatives of functions rather than of graphs: Jacobians, Hessians and their products with vectors.

Every function here works on fresh stand-ins of the inputs, so that what `func` reaches by other ways than its arguments
counts as a constant. Invariant: without `create_graph` nothing that is returned has history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.base.modes import enable_grad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.library_name import library, named
from .fresh_inputs import NOT_STRICT, check_history, given_back, grads, outputs, single, stand_ins, tensors
from .products import hvp, jvp, vhp, vjp

FORWARD = (
    'vistorch.autograd.functional.jacobian: `{}=True` and `strategy="forward-mode"` are not supported together (yet). '
    'Please either set `{}=False` or `strategy="reverse-mode"`.'
)


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian of a function, shaped `output.shape + input.shape`.

    Args:
        func: takes tensors, returns a Tensor or a tuple of them.
        inputs: a Tensor or a tuple.
        create_graph: give a result that can be differentiated.
        strict: refuse a function that does not depend on an input, instead of giving zeros.
        vectorize: accepted; the rows are computed one after the other.
        strategy: "reverse-mode" or "forward-mode"; both are computed in reverse mode.

    Example:
        >>> import vistorch
        >>> vistorch.autograd.functional.jacobian(lambda a: a * a, vistorch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more '
            'outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(named(FORWARD).format("create_graph", "create_graph"))
        if strict:
            raise RuntimeError(named(FORWARD).format("strict", "strict"))
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`."
            )
    with enable_grad():
        many, ins = tensors(inputs, "inputs", "jacobian")
        ins = stand_ins(ins, create_graph, True)
        many_outs, outs = outputs(func(*ins), "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                f"{library}.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
                "supported together. Please either set `strict=False` or `vectorize=False`."
            )
        rows = tuple([_rows(i, o, ins, create_graph, strict) for i, o in enumerate(outs)])
    nested = tuple([given_back(row, many, create_graph) for row in rows])
    return nested if many_outs else nested[0]


def _rows(nr: int, out: Tensor, inputs: tuple, create_graph: bool, strict: bool) -> tuple:
    """The Jacobians of one output with respect to every input."""
    columns: list[list] = [[] for _ in inputs]
    flat = out.reshape(-1)
    for j in range(out._data.size):
        found = grads((flat[j],), inputs, None, create_graph, retain_graph=True)
        for i, (g, t, column) in enumerate(zip(found, inputs, columns, strict=True)):
            if g is None:
                if strict:
                    raise RuntimeError(
                        f"Output {nr} of the user-provided function is independent of input {i}." + NOT_STRICT
                    )
                g = FUNCTIONS["zeros_like"](t)
            elif strict and create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {nr}. This is not "
                    "allowed in strict mode when create_graph=True."
                )
            column.append(g)
    return tuple(
        [
            FUNCTIONS["stack"](column, 0).reshape(tuple(out.shape) + tuple(t.shape))
            if column
            else FUNCTIONS["zeros"](tuple(out.shape) + tuple(t.shape), dtype=t.dtype, device=t.device)
            for column, t in zip(columns, inputs, strict=True)
        ]
    )


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function with one scalar output: the Jacobian of its gradient.

    Args:
        func: takes tensors, returns a Tensor of one element.
        inputs: a Tensor or a tuple.
        create_graph: give a result that can be differentiated.
        strict: refuse a function whose gradient does not depend on an input.
        vectorize: accepted, as in jacobian.
        outer_jacobian_strategy: accepted, as in jacobian.

    Example:
        >>> import vistorch
        >>> vistorch.autograd.functional.hessian(lambda a: (a * a * a).sum(), vistorch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    many, ins = tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*args: Any) -> Tensor:
        (out,) = single(func(*args), "hessian", strict)
        return out.reshape(())

    def gradient(*args: Any) -> Any:
        found = jacobian(scalar, args, create_graph=True)
        if strict:
            check_history(found, "jacobian")
        return found

    result = jacobian(gradient, ins, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if many else result[0][0]


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
