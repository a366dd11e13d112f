"""LazyModuleMixin: modules that learn the shape of their parameters from the first input they see.

Invariant: once its parameters have shapes, a lazy module has lost its hooks and become the class it stands for.
"""

from __future__ import annotations

from typing import Any

from ..parameter import is_lazy

__all__: list[str] = []


class LazyModuleMixin:
    """For a module whose parameters wait for their shape: `initialize_parameters` is called before the first `forward`.

    Put it before the module's class, register `UninitializedParameter`s and define `initialize_parameters(input)` so
    that it materializes them; `cls_to_become`, if it is not None, is the class of the module afterwards.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> from vistorch.nn.modules.lazy import LazyModuleMixin
        >>> class Scale(LazyModuleMixin, nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.weight = nn.UninitializedParameter()
        ...     def initialize_parameters(self, input):
        ...         if self.has_uninitialized_params():
        ...             self.weight.materialize(input.shape[-1:])
        ...             nn.init.ones_(self.weight)
        ...     def forward(self, input):
        ...         return self.weight * input
        >>> scale = Scale()
        >>> scale.has_uninitialized_params()
        True
        >>> scale(vistorch.ones(2, 3)).shape, scale.weight.shape
        (vistorch.Size([2, 3]), vistorch.Size([3]))
    """

    cls_to_become: type | None = None
    _parameters: dict
    _buffers: dict

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        me: Any = self
        self._load_hook: Any = me._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook: Any = me.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _members(self) -> list:
        """Name and value of the module's own parameters and buffers."""
        return [*self._parameters.items(), *self._buffers.items()]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Save what waits for its shape as it is: there are no values to detach."""
        left_out = getattr(self, "_non_persistent_buffers_set", ())
        for name, value in self._members():
            if value is not None and name not in left_out:
                destination[prefix + name] = value if is_lazy(value) or keep_vars else value.detach()

    def _lazy_load_hook(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list,
        unexpected_keys: list,
        error_msgs: list,
    ) -> None:
        """Give what waits for its shape the shape of what is about to be loaded."""
        from ...engine.base.modes import no_grad

        for name, value in self._members():
            given = state_dict.get(prefix + name)
            if given is not None and value is not None and is_lazy(value) and not is_lazy(given):
                with no_grad():
                    value.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, for the module to define; called with the arguments of `forward`.

        Args:
            *args: the arguments of the first call.
            **kwargs: its named arguments.

        Example:
            >>> import vistorch
            >>> layer = vistorch.nn.LazyLinear(2)
            >>> layer.initialize_parameters(vistorch.ones(4, 3))
            >>> layer.weight.shape
            vistorch.Size([2, 3])
        """
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of the module itself still waits for its shape."""
        return any(is_lazy(value) for _, value in self._members())

    def _infer_parameters(self, module: Any, args: tuple, kwargs: dict | None = None) -> None:
        """Run before the first `forward`: initialise, check, and become the ordinary module."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")  # type: ignore[attr-defined]
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )
