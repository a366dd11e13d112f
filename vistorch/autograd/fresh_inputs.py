"""What the derivatives of functions share: fresh stand-ins of the inputs, and what strict mode refuses.

Invariant: a stand-in shares memory with the input it stands for, and history only under `create_graph`.
"""

from __future__ import annotations

from typing import Any

from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor, wrap
from .run import grad

NOT_STRICT = " This is not allowed in strict mode."
SINGLE_INPUT = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
    "single element."
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
        "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This "
        "is not allowed in strict mode as it prevents from using the double backward trick to replace "
        "forward mode AD."
    ),
}
# what is said of something that should have history and has not
CONSTANT = {
    "outputs": (
        "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {} is independent of the inputs of the user-provided function."
        + NOT_STRICT
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect "
        "to input {} is independent of the input. This is not allowed in strict mode. You should ensure "
        "that your function is twice differentiable and that the jacobian depends on the inputs (this "
        "would be violated by a linear function for example)."
    ),
}


def tensors(value: Any, what: str, func: str) -> tuple[bool, tuple]:
    """Whether `value` is a tuple, and it as one; refuses anything but tensors."""
    many = isinstance(value, tuple)
    found = value if many else (value,)
    for i, t in enumerate(found):
        if not isinstance(t, Tensor):
            where = f"value at index {i} has" if many else f"given {what} has"
            raise TypeError(
                f"The {what} given to {func} must be either a Tensor or a tuple of Tensors but the {where} "
                f"type {type(t)}."
            )
    return many, found


def stand_ins(tensors: tuple, create_graph: bool, requires_grad: bool) -> tuple:
    """New tensors on the same memory; with history where the graph is to go on beyond them."""
    made = []
    for t in tensors:
        if create_graph and t.requires_grad:
            made.append(t.view_as(t))
        else:
            o = t.detach()
            o.requires_grad = requires_grad
            made.append(o)
    return tuple(made)


def vectors(v: Any, like: tuple, many: bool, create_graph: bool, func: str) -> tuple:
    """The vector argument, which must have the shapes of `like`."""
    found = stand_ins(tensors(v, "v", func)[1], create_graph, False)
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


def one_element(tensors: tuple) -> bool:
    """Whether there is a single number."""
    return len(tensors) == 1 and tensors[0]._data.size == 1


def outputs(value: Any, func: str, strict: bool) -> tuple[bool, tuple]:
    """What the user's function returned: whether it is a tuple, and it as one."""
    many, outs = tensors(value, "outputs of the user-provided function", func)
    if strict:
        check_history(outs, "outputs")
    return many, outs


def check_history(tensors: tuple, what: str) -> None:
    """In strict mode: everything must be there and depend on the inputs."""
    for i, t in enumerate(tensors):
        if t is None:
            raise RuntimeError(MISSING["back"].format(i))
        if not t.requires_grad:
            raise RuntimeError(CONSTANT[what].format(i))


def single(value: Any, func: str, strict: bool) -> tuple:
    """The output of a function that must be a scalar, as a 1-tuple."""
    many, outs = outputs(value, func, strict)
    if many:
        raise RuntimeError(f"The function given to {func} should return a single Tensor")
    if outs[0]._data.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {func} should contain a single element"
        )
    return outs


def grads(outs: tuple, inputs: tuple, vectors: Any, create_graph: bool, retain_graph: Any = None) -> tuple:
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


def filled(grads: tuple, like: tuple, strict: bool, create_graph: bool, stage: str) -> tuple:
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
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed "
                "in strict mode when create_graph=True."
            )
        done.append(g)
    return tuple(done)


def given_back(tensors: tuple, many: bool, create_graph: bool) -> Any:
    """Results as the user gave the arguments: a tuple or a single tensor, without history if none was asked for."""
    found = tensors if create_graph else tuple([t.detach() for t in tensors])
    return found if many else found[0]


def zeros(t: Tensor) -> Tensor:
    """Zeros like `t` that require grad."""
    o = wrap(t._place.xp.zeros_like(t._data), t._place)
    o.requires_grad = True
    return o
