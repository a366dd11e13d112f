"""Derivatives of functions rather than of graphs: Jacobians, Hessians and their products with vectors.

Every function here works on fresh stand-ins of the inputs, so that what `func` reaches by other ways than its arguments
counts as a constant. Invariant: without `create_graph` nothing that is returned has history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.face import FUNCTIONS
from ..engine.modes import enable_grad, is_grad_enabled, set_grad_enabled
from ..engine.tensor import Tensor, wrap
from .run import grad

NOT_STRICT = " This is not allowed in strict mode."
SINGLE_INPUT = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)
# what is said of a gradient that is not there, by the stage it is missed in
MISSING = {
    "back": "The output of the user-provided function is independent of input {}." + NOT_STRICT,
    "back_trick": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients." + NOT_STRICT
    ),
    "double_back": "The jacobian of the user-provided function is independent of input {}." + NOT_STRICT,
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not allowed in "
        "strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}
# what is said of something that should have history and has not
CONSTANT = {
    "outputs": (
        "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {} is independent of the inputs of the user-provided function." + NOT_STRICT
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
        "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
        "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
        "example)."
    ),
}
FORWARD = (
    "vistorch.autograd.functional.jacobian: `{}=True` and `strategy=\"forward-mode\"` are not supported together (yet). "
    "Please either set `{}=False` or `strategy=\"reverse-mode\"`."
)


def _tensors(value: Any, what: str, func: str) -> tuple[bool, tuple]:
    """Whether `value` is a tuple, and it as one; refuses anything but tensors."""
    many = isinstance(value, tuple)
    found = value if many else (value,)
    for i, t in enumerate(found):
        if not isinstance(t, Tensor):
            where = f"value at index {i} has" if many else f"given {what} has"
            raise TypeError(
                f"The {what} given to {func} must be either a Tensor or a tuple of Tensors but the {where} type {type(t)}."
            )
    return many, found


def _stand_ins(tensors: tuple, create_graph: bool, requires_grad: bool) -> tuple:
    made = []
    for t in tensors:
        if create_graph and t.requires_grad:
            made.append(t.view_as(t))
        else:
            o = t.detach()
            o.requires_grad = requires_grad
            made.append(o)
    return tuple(made)


def _vectors(v: Any, like: tuple, many: bool, create_graph: bool, func: str) -> tuple:
    """The vector argument, which must have the shapes of `like`."""
    found = _stand_ins(_tensors(v, "v", func)[1], create_graph, False)
    if len(found) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}."
            if many
            else "The given v should contain a single Tensor."
        )
    for i, (a, b) in enumerate(zip(found, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {i} in " if many else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")
    return found


def _one_element(tensors: tuple) -> bool:
    return len(tensors) == 1 and tensors[0]._data.size == 1


def _outputs(value: Any, func: str, strict: bool) -> tuple[bool, tuple]:
    many, outs = _tensors(value, "outputs of the user-provided function", func)
    if strict:
        _check_history(outs, "outputs")
    return many, outs


def _check_history(tensors: tuple, what: str) -> None:
    """In strict mode: everything must be there and depend on the inputs."""
    for i, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(MISSING["back"].format(i))
        if not t.requires_grad:
            raise RuntimeError(CONSTANT[what].format(i))


def _single(value: Any, func: str, strict: bool) -> tuple:
    """The output of a function that must be a scalar, as a 1-tuple."""
    many, outs = _outputs(value, func, strict)
    if many:
        raise RuntimeError(f"The function given to {func} should return a single Tensor")
    if outs[0]._data.size != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {func} should contain a single element")
    return outs


def _grads(outs: tuple, inputs: tuple, vectors: Any, create_graph: bool, retain_graph: Any = None) -> tuple:
    """Like `grad`, for outputs some of which have no history: None where nothing arrives."""
    pairs = [
        (o, v)
        for o, v in zip(outs, vectors or (None,) * len(outs), strict=True)
        if o is not None and o.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    heads, seeds = zip(*pairs, strict=True)
    return grad(heads, inputs, seeds, retain_graph, create_graph, allow_unused=True)


def _filled(grads: tuple, like: tuple, strict: bool, create_graph: bool, stage: str) -> tuple:
    """Zeros for what did not arrive; in strict mode a refusal."""
    done = []
    for i, (g, t) in enumerate(zip(grads, like, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(MISSING[stage].format(i))
            g = FUNCTIONS["zeros_like"](t)
        elif strict and create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                "when create_graph=True."
            )
        done.append(g)
    return tuple(done)


def _given_back(tensors: tuple, many: bool, create_graph: bool) -> Any:
    found = tensors if create_graph else tuple([t.detach() for t in tensors])
    return found if many else found[0]


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
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
        many, ins = _tensors(inputs, "inputs", "vjp")
        ins = _stand_ins(ins, create_graph, True)
        many_outs, outs = _outputs(func(*ins), "vjp", strict)
        if v is not None:
            v = _vectors(v, outs, many_outs, create_graph, "vjp")
        elif not _one_element(outs):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
            )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _filled(_grads(outs, ins, v, create_graph), ins, strict, create_graph, "back")
    return _given_back(outs, many_outs, create_graph), _given_back(found, many, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
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
        many, ins = _tensors(inputs, "inputs", "jvp")
        ins = _stand_ins(ins, create_graph, True)
        if v is not None:
            v = _vectors(v, ins, many, create_graph, "jvp")
        elif not _one_element(ins):
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
                "element."
            )
        many_outs, outs = _outputs(func(*ins), "jvp", strict)
        starts = tuple([_zeros(o) for o in outs])  # backward is linear in it: any value does
        gradients = _grads(outs, ins, starts, True)
        if strict:
            _check_history(gradients, "grad_inputs")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(gradients, starts, v, create_graph)
        found = _filled(found, outs, strict, create_graph, "back_trick")
    return _given_back(outs, many_outs, create_graph), _given_back(found, many_outs, create_graph)


def _zeros(t: Tensor) -> Tensor:
    o = wrap(t._place.xp.zeros_like(t._data), t._place)
    o.requires_grad = True
    return o


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
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(FORWARD.format("create_graph", "create_graph"))
        if strict:
            raise RuntimeError(FORWARD.format("strict", "strict"))
        if not vectorize:
            raise NotImplementedError(
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`."
            )
    with enable_grad():
        many, ins = _tensors(inputs, "inputs", "jacobian")
        ins = _stand_ins(ins, create_graph, True)
        many_outs, outs = _outputs(func(*ins), "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                "vistorch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        rows = tuple([_rows(i, o, ins, create_graph, strict) for i, o in enumerate(outs)])
    nested = tuple([_given_back(row, many, create_graph) for row in rows])
    return nested if many_outs else nested[0]


def _rows(nr: int, out: Tensor, inputs: tuple, create_graph: bool, strict: bool) -> tuple:
    """The Jacobians of one output with respect to every input."""
    columns: list[list] = [[] for _ in inputs]
    flat = out.reshape(-1)
    for j in range(out._data.size):
        found = _grads((flat[j],), inputs, None, create_graph, retain_graph=True)
        for i, (g, t, column) in enumerate(zip(found, inputs, columns, strict=True)):
            if g is None:
                if strict:
                    raise RuntimeError(
                        f"Output {nr} of the user-provided function is independent of input {i}." + NOT_STRICT
                    )
                g = FUNCTIONS["zeros_like"](t)
            elif strict and create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {nr}. This is not allowed in "
                    "strict mode when create_graph=True."
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
    many, ins = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*args: Any) -> Tensor:
        (out,) = _single(func(*args), "hessian", strict)
        return out.reshape(())

    def gradient(*args: Any) -> Any:
        found = jacobian(scalar, args, create_graph=True)
        if strict:
            _check_history(found, "jacobian")
        return found

    result = jacobian(gradient, ins, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if many else result[0][0]


def _gradient(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str) -> tuple:
    """What vhp and hvp share: inputs, vectors, the output and its recorded gradient."""
    many, ins = _tensors(inputs, "inputs", name)
    ins = _stand_ins(ins, create_graph, True)
    if v is not None:
        v = _vectors(v, ins, many, create_graph, name)
    elif not _one_element(ins):
        raise RuntimeError(SINGLE_INPUT)
    outs = _single(func(*ins), name, strict)
    gradient = _grads(outs, ins, None, True)
    if strict:
        _check_history(gradient, "jacobian")
    return many, ins, v, outs, gradient


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
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
        found = _filled(_grads(gradient, ins, v, create_graph), ins, strict, create_graph, "double_back")
    return _given_back(outs, False, create_graph), _given_back(found, many, create_graph)


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
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
        starts = tuple([_zeros(t) for t in ins])
        doubled = _grads(gradient, ins, starts, True)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(doubled, starts, v, create_graph)
        found = _filled(found, ins, strict, create_graph, "double_back_trick")
    return _given_back(outs, False, create_graph), _given_back(found, many, create_graph)


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
