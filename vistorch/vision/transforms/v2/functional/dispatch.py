"""Which function does the work for a kind of input: one table for all functionals.

Invariant: a kernel is a function of plain tensors, or of Pillow's pictures; what it makes of a TVTensor is wrapped here
as what it was given.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from vistorch import Tensor

from .... import tv_tensors
from ....tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, TVTensor, Video

__all__ = ["is_pure_tensor", "register_kernel"]

PLAIN = object()  # the key of Pillow's pictures, whose class is known only when Pillow is there
BUILT_IN = (BoundingBoxes, Image, KeyPoints, Mask, TVTensor, Video)
KERNELS: dict[Any, dict[Any, Callable]] = {}


def is_pure_tensor(inpt: Any) -> bool:
    """Whether it is a tensor that does not know what it is of.

    Args:
        inpt: anything.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2.functional import is_pure_tensor
        >>> is_pure_tensor(vistorch.zeros(2)), is_pure_tensor(tv_tensors.Mask([[1]]))
        (True, False)
    """
    return isinstance(inpt, Tensor) and not isinstance(inpt, TVTensor)


def is_pillow(kind: type) -> bool:
    """Whether a class is one of Pillow's pictures."""
    return any(c.__module__ == "PIL.Image" and c.__name__ == "Image" for c in kind.__mro__)


def run(functional: Any, inpt: Any, **given: Any) -> Any:
    """Call the kernel for this input.

    Args:
        functional: the function as users call it.
        inpt: its first argument.
        **given: the others.
    """
    return kernel_of(functional, type(inpt))(inpt, **given)


def kernel_of(functional: Any, kind: type, passes: bool = False) -> Callable:
    """The kernel for a class; with `passes`, one that changes nothing where there is none.

    Args:
        functional: the function as users call it.
        kind: the class of the input.
        passes: whether an input without a kernel goes through as it is.
    """
    kernels = KERNELS.get(functional)
    if kernels is None:
        raise ValueError(f"No kernel registered for functional {functional.__name__}.")
    for cls in kind.__mro__:
        if cls in kernels:
            return kernels[cls]
        if cls is TVTensor:
            break
    if PLAIN in kernels and is_pillow(kind):
        return kernels[PLAIN]
    if passes:
        return _unchanged
    names = ", ".join("PIL.Image.Image" if key is PLAIN else key.__name__ for key in kernels)
    raise TypeError(
        f"Functional F.{functional.__name__} supports inputs of type {names}, but got {kind} instead."
    )


def _unchanged(inpt: Any, *args: Any, **kwargs: Any) -> Any:
    return inpt


def images(functional: Any, *, videos: bool = True) -> Callable:
    """Register a kernel for plain tensors, images and, as a rule, videos: they have the same last three dimensions.

    Args:
        functional: the function as users call it.
        videos: whether videos too.
    """

    def register(kernel: Callable) -> Callable:
        own = KERNELS.setdefault(functional, {})
        own[Tensor] = kernel
        own[Image] = _wrapped(kernel)
        if videos:
            own[Video] = _wrapped(kernel)
        return kernel

    return register


def pillow(functional: Any, kernel: Callable) -> None:
    """Register what does it for Pillow's pictures."""
    KERNELS.setdefault(functional, {})[PLAIN] = kernel


def masks(functional: Any) -> Callable:
    """Register a kernel of masks; it need not take the arguments that only pictures have."""

    def register(kernel: Callable) -> Callable:
        KERNELS.setdefault(functional, {})[Mask] = _wrapped(_taking(kernel))
        return kernel

    return register


def boxes(functional: Any) -> Callable:
    """Register a kernel of boxes; it gets what it asks for by name: format, canvas_size, clamping_mode."""
    return _placed(functional, BoundingBoxes)


def points(functional: Any) -> Callable:
    """Register a kernel of points; it gets `canvas_size` if it asks for that by name."""
    return _placed(functional, KeyPoints)


def _wrapped(kernel: Callable) -> Callable:
    @functools.wraps(kernel)
    def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        out = kernel(inpt.as_subclass(Tensor), *args, **kwargs)
        if isinstance(out, tuple):
            return tuple(tv_tensors.wrap(part, like=inpt) for part in out)
        return tv_tensors.wrap(out, like=inpt)

    return call


def _taking(kernel: Callable) -> Callable:
    """A kernel that leaves out arguments it has no name for."""
    names = frozenset(inspect.signature(kernel).parameters)

    @functools.wraps(kernel)
    def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        return kernel(inpt, *args, **{name: value for name, value in kwargs.items() if name in names})

    return call


def _placed(functional: Any, kind: type) -> Callable:
    def register(kernel: Callable) -> Callable:
        names = frozenset(inspect.signature(kernel).parameters)

        @functools.wraps(kernel)
        def call(inpt: Any, **kwargs: Any) -> Any:
            given = {name: value for name, value in kwargs.items() if name in names}
            known = {name: value for name, value in inpt._about().items() if name in names}
            out = kernel(inpt.as_subclass(Tensor), **{**given, **known})
            if isinstance(out, tuple):  # the picture has another size now
                return tv_tensors.wrap(out[0], like=inpt, canvas_size=out[1])
            return tv_tensors.wrap(out, like=inpt)

        KERNELS.setdefault(functional, {})[kind] = call
        return kernel

    return register


def asked(functional: Any, **kernels: Callable) -> None:
    """Register functions that say something of an input, and are given it as it is.

    Args:
        functional: the function as users call it.
        **kernels: by kind: plain (tensors), image (and plain tensors), video, mask, boxes, points, pillow.
    """
    own = KERNELS.setdefault(functional, {})
    kinds = {
        "image": (Tensor, Image),
        "plain": (Tensor,),
        "video": (Video,),
        "mask": (Mask,),
        "boxes": (BoundingBoxes,),
        "points": (KeyPoints,),
        "pillow": (PLAIN,),
    }
    for name, kernel in kernels.items():
        own.update(dict.fromkeys(kinds[name], kernel))


def register_kernel(functional: Any, tv_tensor_cls: type) -> Callable:
    """Decorate the kernel of a functional for a TVTensor of one's own.

    Args:
        functional: the functional, or its name.
        tv_tensor_cls: the class.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms.v2 import functional as F
        >>> class Heights(tv_tensors.TVTensor):
        ...     pass
        >>> @F.register_kernel(F.horizontal_flip, Heights)
        ... def flip(heights):
        ...     return tv_tensors.wrap(heights.flip(-1), like=heights)
        >>> F.horizontal_flip(vistorch.tensor([1, 2, 3]).as_subclass(Heights))
        Heights([3, 2, 1])
    """
    if isinstance(functional, str):
        found = next((f for f in KERNELS if f.__name__ == functional), None)
        if found is None:
            raise ValueError(
                f"Could not find functional with name '{functional}' in torchvision.transforms.v2.functional."
            )
        functional = found
    elif functional not in KERNELS:
        raise ValueError(
            "Kernels can only be registered on functionals from the torchvision.transforms.v2.functional namespace, "
            f"but got {functional}."
        )
    if not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, TVTensor)):
        raise ValueError(
            "Kernels can only be registered for subclasses of torchvision.tv_tensors.TVTensor, but got "
            f"{tv_tensor_cls}."
        )
    if tv_tensor_cls in BUILT_IN:
        raise ValueError(
            f"Kernels cannot be registered for the builtin tv_tensor classes, but got {tv_tensor_cls}"
        )
    if tv_tensor_cls in KERNELS[functional]:
        raise ValueError(f"Functional {functional} already has a kernel registered for type {tv_tensor_cls}.")

    def register(kernel: Callable) -> Callable:
        KERNELS[functional][tv_tensor_cls] = kernel
        return kernel

    return register


def flat(work: Callable[[Tensor], Tensor], mask: Tensor) -> Tensor:
    """What a function of (..., C, H, W) makes of a mask, which may be (H, W)."""
    return work(mask.unsqueeze(0)).squeeze(0) if mask.ndim < 3 else work(mask)
