"""What a pruning method is: it computes a mask, and its hook multiplies with it before each `forward`.

Invariant: a method that raises while it is applied leaves the module with its parameter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor

__all__ = ["BasePruningMethod", "PruningContainer"]

ones_like = FUNCTIONS["ones_like"]


class BasePruningMethod(ABC):
    """Base of all pruning methods: a subclass defines `compute_mask` and `PRUNING_TYPE`.

    `PRUNING_TYPE` is "unstructured" for single values, "structured" for slices along `dim`, "global" for everything: it
    says what of a tensor that was pruned before the method is shown.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> class EveryOther(prune.BasePruningMethod):
        ...     PRUNING_TYPE = "unstructured"
        ...     def compute_mask(self, t, default_mask):
        ...         mask = default_mask.clone()
        ...         mask.view(-1)[::2] = 0
        ...         return mask
        >>> layer = vistorch.nn.Linear(4, 1)
        >>> method = EveryOther.apply(layer, "weight")
        >>> layer.weight_mask
        tensor([[0., 1., 0., 1.]])
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Any, inputs: Any) -> None:
        """Compute the pruned tensor before `forward`."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of a tensor.

        Args:
            t: the tensor to prune, or what it is judged by.
            default_mask: what earlier methods left.

        Example:
            >>> import vistorch
            >>> from vistorch.nn.utils import prune
            >>> t, left = vistorch.tensor([0.1, -2.0, 3.0, -0.2]), vistorch.ones(4)
            >>> prune.L1Unstructured(amount=0.5).compute_mask(t, default_mask=left)
            tensor([0., 1., 1., 0.])
            >>> prune.CustomFromMask(vistorch.tensor([1, 1, 0, 0])).compute_mask(t, default_mask=left)
            tensor([1., 1., 0., 0.])
        """

    def apply_mask(self, module: Any) -> Tensor:
        """The pruned tensor of a module.

        Args:
            module: the pruned module.

        Example:
            >>> import vistorch
            >>> from vistorch.nn.utils import prune
            >>> layer = vistorch.nn.Linear(2, 1)
            >>> method = prune.CustomFromMask.apply(layer, "weight", vistorch.tensor([[1, 0]]))
            >>> vistorch.nn.init.ones_(layer.weight_orig).shape
            vistorch.Size([1, 2])
            >>> method.apply_mask(layer)
            tensor([[1., 0.]], grad_fn=<MulBackward0>)
        """
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, learned = (getattr(module, self._tensor_name + part) for part in ("_mask", "_orig"))
        return mask.to(dtype=learned.dtype) * learned

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter; after other methods, what they left.

        Args:
            module: the module.
            name: the name of the parameter.
            *args: the arguments of the method.
            importance_scores: judge by these instead of the parameter.
            **kwargs: the arguments of the method by name.
        """
        method = cls._joined(module, name, cls, args, kwargs)
        value = getattr(module, name)
        scores: Any = value if importance_scores is None else importance_scores
        if importance_scores is not None and importance_scores.shape != value.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {value.shape}"
            )
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(name + "_orig", value)
            del module._parameters[name]
            default = ones_like(value)
        else:
            default = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(scores, default_mask=default)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                value = getattr(module, name + "_orig")
                module.register_parameter(name, value)
                del module._parameters[name + "_orig"]
            raise
        return method

    @staticmethod
    def _joined(module: Any, name: str, cls: Any, args: tuple, kwargs: dict) -> BasePruningMethod:
        """A new method; where the parameter is pruned already, the container of all its methods."""
        hooks = module._forward_pre_hooks
        known = [
            key
            for key, hook in hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(known) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                "PruningContainer."
            )
        old = hooks.pop(known[0]) if known else None
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if old is None:
            return method
        container = old if isinstance(old, PruningContainer) else PruningContainer(old)
        container.add_pruning_method(method)
        return container

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """A pruned copy of a tensor, of no module.

        Args:
            t: the tensor.
            default_mask: what may be left at most; everything if None.
            importance_scores: judge by these instead of the tensor.

        Example:
            >>> import vistorch
            >>> from vistorch.nn.utils import prune
            >>> method = prune.L1Unstructured(amount=1)
            >>> method.prune(vistorch.tensor([1.0, 2.0, 3.0]))
            tensor([0., 2., 3.])
            >>> method.prune(vistorch.tensor([1.0, 2.0, 3.0]), importance_scores=vistorch.tensor([7.0, 8.0, 0.0]))
            tensor([1., 2., 0.])
        """
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}"
            )
        default = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=default)

    def remove(self, module: Any) -> None:
        """Make the tensor an ordinary parameter again; the hook is taken off by `prune.remove`.

        Args:
            module: the pruned module.

        Example:
            >>> import vistorch
            >>> from vistorch.nn.utils import prune
            >>> layer = vistorch.nn.Linear(2, 1)
            >>> method = prune.CustomFromMask.apply(layer, "bias", vistorch.tensor([0]))
            >>> sorted(layer.state_dict())
            ['bias_mask', 'bias_orig', 'weight']
            >>> method.remove(layer)
            >>> sorted(layer.state_dict()), layer.bias == 0
            (['bias', 'weight'], tensor([True]))
        """
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        value = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        learned = module._parameters.pop(name + "_orig")
        learned.data = value.data
        del module._buffers[name + "_mask"]
        setattr(module, name, learned)


class PruningContainer(BasePruningMethod):
    """Several methods on the same tensor; each prunes what those before it left.

    Args:
        *args: methods.

    Example:
        >>> import vistorch
        >>> from vistorch.nn.utils import prune
        >>> layer = vistorch.nn.Linear(2, 4)
        >>> for _ in range(2):
        ...     layer = prune.random_unstructured(layer, "weight", amount=2)
        >>> len(next(iter(layer._forward_pre_hooks.values()))), layer.weight_mask.sum()
        (2, tensor(4.))
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method.

        Args:
            method: one for the same tensor.

        Example:
            >>> import vistorch
            >>> from vistorch.nn.utils import prune
            >>> first = prune.Identity.apply(vistorch.nn.Linear(2, 2), "weight")
            >>> container = prune.PruningContainer(first)
            >>> container.add_pruning_method(first)
            >>> len(container)
            2
        """
        if method is not None:
            if not isinstance(method, BasePruningMethod):
                raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
            if self._tensor_name != method._tensor_name:
                raise ValueError(
                    f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                    f"PruningContainer {self}. Found '{method._tensor_name}'"
                )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask that the last method leaves of what there was.

        Args:
            t: the tensor to prune, or what it is judged by.
            default_mask: what earlier methods left.
        """
        method = self._pruning_methods[-1]
        left = self._left(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype)
        part = method.compute_mask(t[left], default_mask=default_mask[left])
        mask[left] = part.to(dtype=mask.dtype)
        return mask

    @staticmethod
    def _left(method: Any, t: Tensor, mask: Tensor) -> Any:
        """The index of what a method is shown of a tensor that was pruned before."""
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            return mask == 1
        every: list[Any] = [slice(None)] * t.dim()
        if kind == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError(
                    'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
                )
            dim = method.dim + t.dim() if method.dim < 0 else method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
            every[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
        elif kind != "global":
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
        return tuple(every)
