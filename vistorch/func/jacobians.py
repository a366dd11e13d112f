"""Jacobians as functions, and derivatives in a direction.

Everything is computed in reverse mode, all rows of a Jacobian at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd import grad as backward
from ..engine.base.modes import enable_grad, out_of_inference
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from .batches import vmap
from .derivatives import OUTPUT, Derived, check_tensors, numbered, plain, vjp_by
from .trees import built, flat

__all__ = ["hessian", "jacfwd", "jacrev", "jvp", "linearize"]

eye, ones_like, zeros_like = FUNCTIONS["eye"], FUNCTIONS["ones_like"], FUNCTIONS["zeros_like"]
JVP = "jvp(f, primals, tangents)"


def jacrev(
    func: Callable,
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable:
    """The function whose value is the Jacobian of `func`, shaped `output.shape + input.shape`.

    Args:
        func: gives a tensor, or nested tuples, lists and dicts of them.
        argnums: the argument to derive by, or a tuple of them.
        has_aux: `func` gives a pair, and the second part is passed on.
        chunk_size: how many rows are computed at once; all if None.

    Example:
        >>> import vistorch
        >>> vistorch.func.jacrev(lambda x: x * x)(vistorch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(func, argnums, has_aux, "jacrev", chunk_size)


def jacfwd(func: Callable, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable:
    """The same as `jacrev`: there is no forward mode here, and the Jacobian is the same.

    Args:
        func: gives a tensor, or nested tuples, lists and dicts of them.
        argnums: the argument to derive by, or a tuple of them.
        has_aux: `func` gives a pair, and the second part is passed on.
        randomness: accepted.

    Example:
        >>> import vistorch
        >>> vistorch.func.jacfwd(lambda x: x.sum())(vistorch.ones(2))
        tensor([1., 1.])
    """
    return _jacobian(func, argnums, has_aux, "jacfwd")


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """The function whose value is the matrix of second derivatives of `func`.

    Args:
        func: gives a tensor.
        argnums: the argument to derive by, or a tuple of them.

    Example:
        >>> import vistorch
        >>> vistorch.func.hessian(lambda x: (x**3).sum())(vistorch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)


def _jacobian(
    func: Callable, argnums: Any, has_aux: bool, name: str, chunk_size: int | None = None
) -> Callable:
    @functools.wraps(func)
    @out_of_inference()
    def wrapper(*args: Any) -> Any:
        _refuse_complex(name, flat(args)[0], "inputs")
        value, pull, *aux = vjp_by(func, args, argnums, has_aux)
        outputs, out_form = flat(value)
        _refuse_complex(name, outputs, "outputs")
        at = numbered(argnums, len(args))
        inputs, in_form = flat(Derived.chosen(args, at))
        rows = [_rows(i, outputs, out_form, inputs, pull, chunk_size) for i in range(len(outputs))]
        result = built(out_form, [built(in_form, row) for row in rows])
        return (result, *aux) if has_aux else result

    return wrapper


def _rows(
    nr: int, outputs: list, form: Any, inputs: list, pull: Callable, chunk_size: int | None
) -> list[Tensor]:
    """The Jacobians of one output with respect to every input."""
    out = outputs[nr]
    n = out.numel()
    if not n:
        return [x.new_zeros(out.shape + x.shape) for x in inputs]

    def row(weights: Tensor) -> tuple:
        ask = [weights if i == nr else zeros_like(o) for i, o in enumerate(outputs)]
        return tuple(flat(pull(built(form, ask)))[0])

    ones = eye(n, dtype=out.dtype, device=out.device).view((n, *out.shape))
    rows = vmap(row, chunk_size=chunk_size, randomness="same")(ones)
    return [column.reshape(out.shape + x.shape) for column, x in zip(rows, inputs, strict=True)]


def _refuse_complex(name: str, leaves: list, what: str) -> None:
    for i, x in enumerate(leaves):
        if isinstance(x, Tensor) and x.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}"
            )


@out_of_inference()
def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """The value of `func`, and its derivative in a direction.

    Args:
        func: gives a tensor, or nested tuples, lists and dicts of them.
        primals: a tuple of its arguments.
        tangents: the direction: a tuple of the same form.
        strict: refuse a function that does not depend on its arguments, instead of giving zeros.
        has_aux: `func` gives a pair, and the second part is passed on as a third result.

    Example:
        >>> import vistorch
        >>> vistorch.func.jvp(lambda x: x * x, (vistorch.tensor(3.0),), (vistorch.tensor(1.0),))
        (tensor(9.), tensor(6.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    given, form = flat(primals)
    along, other = flat(tangents)
    if form != other:
        raise RuntimeError(
            f"{JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            "tuple of 3 tensors, tangents also must be."
        )
    for leaves, name in ((given, "primals"), (along, "tangents")):
        if not leaves:
            raise RuntimeError(f"{JVP}: Expected {name} to contain at least one Tensor.")
        for x in leaves:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"{JVP}: Expected {name} to only contain Tensors, got {type(x)}")
    call = Derived(func, primals, None, {})
    result, aux = call.split(f"{JVP}: {OUTPUT}") if has_aux else (call.result, None)
    outputs, out_form = flat(result)
    check_tensors(outputs, JVP)
    keep = call.reaches_out(outputs) or any(x.requires_grad for x in along)
    found = [_along(call, out, along, strict, keep) for out in outputs]
    aux = plain(aux, has_aux and call.reaches_out(flat(aux)[0]))
    call.stand.over = True
    parts = plain(built(out_form, outputs), keep), built(out_form, found)
    return (*parts, aux) if has_aux else parts


def _along(call: Derived, out: Tensor, along: list, strict: bool, keep: bool) -> Tensor:
    """The derivative of one output: the gradient of its gradient, which is linear in the weights it is asked with."""
    if not out.requires_grad:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        return zeros_like(out)
    with enable_grad():
        weights = call.stand.in_for(ones_like(out).detach())
        pulled = call.pulled([out], [weights], retain_graph=True, create_graph=True)
        total = [(g, t) for g, t in zip(pulled, along, strict=True) if g.requires_grad]
        if not total:
            return zeros_like(out)
        again = Derived.__new__(Derived)
        again.inputs = [weights]
        heads, directions = zip(*total, strict=True)
        return plain(
            again.pulled(list(heads), list(directions), retain_graph=True, create_graph=keep)[0], keep
        )


@out_of_inference()
def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """The value of `func`, and the function that gives its derivative there in any direction.

    Args:
        func: gives a tensor, or nested tuples, lists and dicts of them.
        *primals: its arguments.

    Example:
        >>> import vistorch
        >>> value, along = vistorch.func.linearize(lambda x: x * x, vistorch.tensor(3.0))
        >>> value, along(vistorch.tensor(1.0)), along(vistorch.tensor(2.0))
        (tensor(9.), tensor(6.), tensor(12.))
    """
    given, form = flat(primals)
    value, pull = vjp_by(func, primals, None, False)
    outputs, out_form = flat(value)
    with enable_grad():
        weights = [zeros_like(out).requires_grad_() for out in outputs]
        pulled = flat(pull(built(out_form, weights), create_graph=True))[0]

    @out_of_inference()
    def along(*tangents: Any) -> Any:
        directions, other = flat(tangents)
        if other != form:
            raise RuntimeError(
                f"Expected the tangents {other} to have the same argspec as the primals {form}"
            )
        for i, (t, x) in enumerate(zip(directions, given, strict=True)):
            for what in ("shape", "device", "dtype"):
                if getattr(t, what) != getattr(x, what):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't match the {what} "
                        f"{getattr(x, what)} of the corresponding primal."
                    )
        pairs = [(g, t) for g, t in zip(pulled, directions, strict=True) if g.requires_grad]
        found: Any = [None] * len(outputs)
        if pairs:
            heads, ways = zip(*pairs, strict=True)
            found = backward(heads, weights, ways, retain_graph=True, allow_unused=True)
        made = [zeros_like(out) if g is None else g for g, out in zip(found, outputs, strict=True)]
        return built(out_form, made)

    return value, along
