"""What all transforms of the second generation are: a sample is taken apart, its parts are changed, and put together.

Invariant: what is random is drawn once for a sample, in `make_params`, so that a picture and what lies in it are
changed alike. Of plain tensors the first is the picture, unless there is an Image, a Video or one of Pillow's.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from typing import Any

import vistorch
from vistorch import Tensor
from vistorch.nn import Module
from vistorch.utils._pytree import tree_flatten, tree_unflatten

from ...tv_tensors import Image, Video
from ..images import is_pil
from .functional import is_pure_tensor
from .functional.dispatch import kernel_of
from .queries import check_type, has_any


class Transform(Module):
    """A change of samples: of a picture, or of a picture and what belongs to it, in any tuples, lists and dicts.

    A class of one's own defines `transform(inpt, params)`, and `make_params(flat_inputs)` if it draws.

    Example:
        >>> import vistorch
        >>> from vistorch.vision import tv_tensors
        >>> from vistorch.vision.transforms import v2
        >>> class Darker(v2.Transform):
        ...     def transform(self, inpt, params):
        ...         return self._call_kernel(v2.functional.adjust_brightness, inpt, brightness_factor=0.5)
        >>> sample = {"picture": tv_tensors.Image(vistorch.ones(1, 1, 2)), "label": 3}
        >>> Darker()(sample)["picture"].tolist(), Darker()(sample)["label"]
        ([[[0.5, 0.5]]], 3)
    """

    _transformed_types: tuple[Any, ...] = (Tensor, is_pil)
    _v1_transform_cls: type[Module] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls._v1_transform_cls is not None and hasattr(cls._v1_transform_cls, "get_params"):
            cls.get_params = staticmethod(cls._v1_transform_cls.get_params)  # type: ignore[attr-defined]

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        """Refuse a sample that this transform cannot change.

        Args:
            flat_inputs: the parts.

        Example:
            >>> from vistorch.vision.transforms import v2
            >>> v2.Identity().check_inputs([1, 2])
        """

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        """Draw what is random.

        Args:
            flat_inputs: the parts that are changed.

        Example:
            >>> from vistorch.vision.transforms import v2
            >>> v2.RandomRotation((30, 30)).make_params([])
            {'angle': 30.0}
        """
        return {}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        """Change one part.

        Args:
            inpt: the part.
            params: what `make_params` has drawn.

        Example:
            >>> import vistorch
            >>> from vistorch.vision.transforms import v2
            >>> v2.RandomHorizontalFlip().transform(vistorch.tensor([[[1, 2]]]), {})
            tensor([[[2, 1]]])
        """
        raise NotImplementedError(f"{type(self).__name__} has no transform(inpt, params)")

    def _call_kernel(self, functional: Callable, inpt: Any, *args: Any, **kwargs: Any) -> Any:
        """A functional's kernel; what it has none for goes through."""
        if args:
            _, *names = inspect.signature(functional).parameters
            kwargs = {**dict(zip(names, args, strict=False)), **kwargs}
        return kernel_of(functional, type(inpt), passes=True)(inpt, **kwargs)

    def forward(self, *inputs: Any) -> Any:
        """Change a sample.

        Args:
            *inputs: the sample, or its parts.
        """
        sample = inputs[0] if len(inputs) == 1 else inputs
        parts, form = tree_flatten(sample)
        self.check_inputs(parts)
        return self._changed(sample, parts, form)

    def _changed(self, sample: Any, parts: list[Any], form: Any) -> Any:
        wanted = self._needs_transform_list(parts)
        params = self.make_params([part for part, want in zip(parts, wanted, strict=True) if want])
        new = [
            self.transform(part, params) if want else part for part, want in zip(parts, wanted, strict=True)
        ]
        return tree_unflatten(new, form)

    def _needs_transform_list(self, flat_inputs: list[Any]) -> list[bool]:
        plain = not has_any(flat_inputs, Image, Video, is_pil)
        wanted = []
        for part in flat_inputs:
            want = check_type(part, self._transformed_types)
            if want and is_pure_tensor(part):
                want, plain = plain, False
            wanted.append(want)
        return wanted

    def extra_repr(self) -> str:
        """Its arguments."""
        kinds = (bool, int, float, str, tuple, list, enum.Enum)
        shown = {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "training" and isinstance(value, kinds)
        }
        return ", ".join(f"{name}={value}" for name, value in shown.items())


class RandomApplied(Transform):
    """A change that happens to a part of the samples only.

    Args:
        p: to which part.
    """

    def __init__(self, p: float = 0.5) -> None:
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        super().__init__()
        self.p = p

    def _changed(self, sample: Any, parts: list[Any], form: Any) -> Any:
        return sample if vistorch.rand(1) >= self.p else super()._changed(sample, parts, form)
