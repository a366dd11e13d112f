"""Forward-mode derivatives: tensors that carry a direction, and what becomes of it.

There is no second set of formulas: the derivative of an op in a direction is the gradient of its gradient, which is
linear in the weights that it is asked with. So every op with a double backward has a forward derivative, and the two
cannot disagree. It costs a backward pass and the gradient of that.

Invariant: a dual tensor is a leaf of its level; its tangent is read by `unpack_dual` alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..engine.base.modes import enable_grad
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from .run import grad

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

ones_like = FUNCTIONS["ones_like"]
# Of each level, the duals that were made in it and their tangents.
_levels: list[list[tuple[Tensor, Tensor]]] = []


class UnpackedDualTensor(NamedTuple):
    """A value, and its derivative in the direction of the level; None where it does not depend on a dual.

    Example:
        >>> import vistorch.autograd.forward_ad as fwAD
        >>> fwAD.UnpackedDualTensor(1.0, None).tangent is None
        True
    """

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Begin a level; gives its number.

    Example:
        >>> import vistorch.autograd.forward_ad as fwAD
        >>> level = fwAD.enter_dual_level()
        >>> level
        0
        >>> fwAD.exit_dual_level(level=level)
    """
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append([])
    return len(_levels) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """End a level: its tangents are gone.

    Args:
        level: its number; the present one if None.

    Example:
        >>> import vistorch.autograd.forward_ad as fwAD
        >>> _ = fwAD.enter_dual_level()
        >>> fwAD.exit_dual_level()
    """
    if not _levels or (level is not None and level != len(_levels) - 1):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _levels.pop()


class dual_level:
    """A `with` block that is a level.

    Example:
        >>> import vistorch
        >>> import vistorch.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(vistorch.tensor(3.0), vistorch.tensor(2.0))
        ...     fwAD.unpack_dual(x * x)
        UnpackedDualTensor(primal=tensor(9.), tangent=tensor(12.))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Tensor:
    """The tensor with a direction.

    Args:
        tensor: the value.
        tangent: the direction, of the same shape and dtype.
        level: the number of the level; the present one if None.

    Example:
        >>> import vistorch
        >>> import vistorch.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(vistorch.zeros(2), vistorch.tensor([1.0, 2.0]))
        ...     fwAD.unpack_dual(x.sin()).tangent
        tensor([1., 2.])
    """
    if not _levels:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for given in (tensor, tangent):
        if not isinstance(given, Tensor) or not (given.is_floating_point() or given.is_complex()):
            raise ValueError(
                f"Expected {'primal' if given is tensor else 'tangent'} to be floating point or complex, but got: "
                f"{getattr(given, 'dtype', type(given))}"
            )
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            f"Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    if tensor.dtype is not tangent.dtype:
        raise RuntimeError(
            f"Expected tangent to have the dtype of its tensor, {tensor.dtype}, but got: {tangent.dtype}"
        )
    with enable_grad():
        dual = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
    _levels[-1].append((dual, tangent))
    return dual


def _reaches(tensor: Tensor, duals: list[Tensor]) -> bool:
    """Whether something else than the duals asks for a gradient of what was computed of them."""
    own = {id(dual) for dual in duals}
    seen, ahead = set(), [tensor.grad_fn]
    while ahead:
        node: Any = ahead.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        leaf = getattr(node, "variable", None)
        if leaf is not None and id(leaf) not in own:
            return True
        ahead += [following for following, _ in node.next_functions]
    return False


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """A tensor's value, and its derivative in the direction of the level.

    Args:
        tensor: a dual, or what was computed of some.
        level: the number of the level; the present one if None.

    Example:
        >>> import vistorch
        >>> import vistorch.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(vistorch.tensor(1.0), vistorch.tensor(5.0))
        ...     fwAD.unpack_dual(2 * x), fwAD.unpack_dual(vistorch.ones(1)).tangent
        (UnpackedDualTensor(primal=tensor(2.), tangent=tensor(10.)), None)
    """
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    plain = tensor.detach()
    for dual, tangent in _levels[-1]:
        if dual is tensor:
            return UnpackedDualTensor(plain, tangent)
    duals = [dual for dual, _ in _levels[-1]]
    if not tensor.requires_grad or not duals:
        return UnpackedDualTensor(tensor, None)
    with enable_grad():
        weights = ones_like(plain).requires_grad_()
        pulled = grad([tensor], duals, [weights], retain_graph=True, create_graph=True, allow_unused=True)
        pairs = [
            (g, tangent)
            for g, (_, tangent) in zip(pulled, _levels[-1], strict=True)
            if g is not None and g.requires_grad
        ]
        if all(g is None for g in pulled):
            return UnpackedDualTensor(tensor, None)
        if not pairs:
            return UnpackedDualTensor(plain, plain * 0)
        heads, directions = zip(*pairs, strict=True)
        keep = any(d.requires_grad for d in directions) or _reaches(tensor, duals)
        tangent = grad(
            list(heads), [weights], list(directions), retain_graph=True, create_graph=keep, allow_unused=True
        )[0]
    return UnpackedDualTensor(plain, plain * 0 if tangent is None else tangent)
