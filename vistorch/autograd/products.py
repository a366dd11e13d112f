"""Products of Jacobians and Hessians with vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.base.modes import enable_grad, is_grad_enabled, set_grad_enabled
from .fresh_inputs import (
    SINGLE_INPUT,
    check_history,
    filled,
    given_back,
    grads,
    one_element,
    outputs,
    single,
    stand_ins,
    tensors,
    vectors,
    zeros,
)


def vjp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The product of a vector with the Jacobian of a function: `(func(inputs), v J)`.

    Args:
        func: takes tensors, returns a Tensor or a tuple of them.
        inputs: a Tensor or a tuple.
        v: shaped like the outputs; may be left out if the output has one element.
        create_graph: give results that can be differentiated.
        strict: refuse a function that does not depend on an input, instead of giving zeros.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0])
        >>> vistorch.autograd.functional.vjp(lambda a: a * a, x, vistorch.ones(2))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        many, ins = tensors(inputs, "inputs", "vjp")
        ins = stand_ins(ins, create_graph, True)
        many_outs, outs = outputs(func(*ins), "vjp", strict)
        if v is not None:
            v = vectors(v, outs, many_outs, create_graph, "vjp")
        elif not one_element(outs):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with "
                "a single element."
            )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = filled(grads(outs, ins, v, create_graph), ins, strict, create_graph, "back")
    return given_back(outs, many_outs, create_graph), given_back(found, many, create_graph)


def jvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The product of the Jacobian of a function with a vector: `(func(inputs), J v)`.

    It is computed by differentiating the backward pass with respect to the gradient it starts with.

    Args:
        func: takes tensors, returns a Tensor or a tuple of them.
        inputs: a Tensor or a tuple.
        v: shaped like the inputs; may be left out if the input has one element.
        create_graph: give results that can be differentiated.
        strict: refuse a function that does not depend on an input, instead of giving zeros.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0])
        >>> vistorch.autograd.functional.jvp(lambda a: a * a, x, vistorch.ones(2))
        (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        many, ins = tensors(inputs, "inputs", "jvp")
        ins = stand_ins(ins, create_graph, True)
        if v is not None:
            v = vectors(v, ins, many, create_graph, "jvp")
        elif not one_element(ins):
            raise RuntimeError(SINGLE_INPUT)
        many_outs, outs = outputs(func(*ins), "jvp", strict)
        starts = tuple([zeros(o) for o in outs])  # backward is linear in it: any value does
        gradients = grads(outs, ins, starts, True)
        if strict:
            check_history(gradients, "grad_inputs")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = grads(gradients, starts, v, create_graph)
        found = filled(found, outs, strict, create_graph, "back_trick")
    return given_back(outs, many_outs, create_graph), given_back(found, many_outs, create_graph)


def _gradient(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str) -> tuple:
    """What vhp and hvp share: inputs, vectors, the output and its recorded gradient."""
    many, ins = tensors(inputs, "inputs", name)
    ins = stand_ins(ins, create_graph, True)
    if v is not None:
        v = vectors(v, ins, many, create_graph, name)
    elif not one_element(ins):
        raise RuntimeError(SINGLE_INPUT)
    outs = single(func(*ins), name, strict)
    gradient = grads(outs, ins, None, True)
    if strict:
        check_history(gradient, "jacobian")
    return many, ins, v, outs, gradient


def vhp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The product of a vector with the Hessian of a scalar function: `(func(inputs), v H)`.

    Args:
        func: takes tensors, returns a Tensor of one element.
        inputs: a Tensor or a tuple.
        v: shaped like the inputs; may be left out if the input has one element.
        create_graph: give results that can be differentiated.
        strict: refuse a function whose gradient does not depend on an input.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0])
        >>> vistorch.autograd.functional.vhp(lambda a: (a * a * a).sum(), x, vistorch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        many, ins, v, outs, gradient = _gradient(func, inputs, v, create_graph, strict, "vhp")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = filled(grads(gradient, ins, v, create_graph), ins, strict, create_graph, "double_back")
    return given_back(outs, False, create_graph), given_back(found, many, create_graph)


def hvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """The product of the Hessian of a scalar function with a vector: `(func(inputs), H v)`.

    The Hessian is symmetric wherever it is continuous: `vhp` gives the same in less time.

    Args:
        func: takes tensors, returns a Tensor of one element.
        inputs: a Tensor or a tuple.
        v: shaped like the inputs; may be left out if the input has one element.
        create_graph: give results that can be differentiated.
        strict: refuse a function whose gradient does not depend on an input.

    Example:
        >>> import vistorch
        >>> x = vistorch.tensor([1.0, 2.0])
        >>> vistorch.autograd.functional.hvp(lambda a: (a * a * a).sum(), x, vistorch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))
    """
    with enable_grad():
        many, ins, v, outs, gradient = _gradient(func, inputs, v, create_graph, strict, "hvp")
        starts = tuple([zeros(t) for t in ins])
        doubled = grads(gradient, ins, starts, True)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = grads(doubled, starts, v, create_graph)
        found = filled(found, ins, strict, create_graph, "double_back_trick")
    return given_back(outs, False, create_graph), given_back(found, many, create_graph)
