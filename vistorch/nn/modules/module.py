"""Module: the base of all layers and networks.

Invariant: a Parameter, a Module or a Buffer that is assigned as an attribute lives in one of three tables and nowhere
else; `__getattr__` finds it there.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.face import FUNCTIONS
from ...engine.tensor import Tensor
from ..parameter import Buffer, Parameter
from . import global_hooks
from .global_hooks import *
from .module_call import Calls
from .moves import Moves
from .state_dict import State
from .training import Training
from .tree import Tree

__all__ = ["Module"]
__all__ += global_hooks.__all__

typename = FUNCTIONS["typename"]
TABLES = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def _addindent(s_: str, numSpaces: int) -> str:
    """All lines but the first moved to the right."""
    return s_.replace("\n", "\n" + numSpaces * " ")


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """What a module without a `forward` of its own runs.

    Example:
        >>> import vistorch
        >>> class Scale(vistorch.nn.Module):
        ...     def __init__(self, by):
        ...         super().__init__()
        ...         self.by = by
        ...     def forward(self, x):
        ...         return self.by * x
        >>> Scale(3)(vistorch.ones(2))  # calling the module runs its hooks too; calling `forward` does not
        tensor([3., 3.])
        >>> Scale(3).forward(vistorch.ones(2))
        tensor([3., 3.])
    """
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(Tree, Calls, State, Moves, Training):
    """Base class of all layers and networks: assign parameters and modules as attributes, and define `forward`.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> class Net(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.hidden = nn.Linear(2, 4)
        ...         self.out = nn.Linear(4, 1)
        ...     def forward(self, x):
        ...         return self.out(self.hidden(x).relu())
        >>> net = Net()
        >>> net
        Net(
          (hidden): Linear(in_features=2, out_features=4, bias=True)
          (out): Linear(in_features=4, out_features=1, bias=True)
        )
        >>> net(vistorch.ones(3, 2)).shape
        vistorch.Size([3, 1])
    """

    dump_patches: bool = False
    training: bool
    call_super_init: bool = False
    _compiled_call_impl: Callable | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            name = type(self).__name__
            if kwargs:
                raise TypeError(
                    f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        own = self.__dict__  # our own __setattr__ would look for these very tables
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for table in TABLES:
            own[table] = OrderedDict()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward: Callable[..., Any] = _forward_unimplemented

    # ---- registering -------------------------------------------------------------------------------------------
    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep a tensor that is not learned: it moves with the module and is saved with it.

        Args:
            name: under which attribute.
            tensor: the tensor; None reserves the name.
            persistent: whether it is part of the `state_dict()`.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Module()
            >>> m.register_buffer("mean", vistorch.zeros(2))
            >>> m.mean
            tensor([0., 0.])
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (vistorch Tensor or None required)"
            )
        self._buffers[name] = global_hooks.passed(global_hooks.buffer_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter.

        Args:
            name: under which attribute.
            param: the parameter; None reserves the name.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Module()
            >>> m.register_parameter("scale", vistorch.nn.Parameter(vistorch.ones(2)))
            >>> m.register_parameter("bias", None)
            >>> [name for name, _ in m.named_parameters()], m.bias
            (['scale'], None)
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(vistorch.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = global_hooks.passed(global_hooks.parameter_hooks, self, name, param)

    def _check_name(self, what: str, name: Any, table: dict) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a module.

        Args:
            name: under which attribute.
            module: the module; None reserves the name.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Module()
            >>> m.add_module("act", vistorch.nn.ReLU())
            >>> m.act
            ReLU()
        """
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = global_hooks.passed(global_hooks.module_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Module()
            >>> for i in range(2):
            ...     m.register_module(f"act{i}", vistorch.nn.ReLU())
            >>> m
            Module(
              (act0): ReLU()
              (act1): ReLU()
            )
        """
        self.add_module(name, module)

    # ---- attributes --------------------------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in own and name in own[table]:
                return own[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    if not TYPE_CHECKING:  # a checker would refuse to assign what a subclass does not declare

        def __setattr__(self, name: str, value: Any) -> None:
            own = self.__dict__
            params = own.get("_parameters")
            if isinstance(value, Parameter):
                if params is None:
                    raise AttributeError("cannot assign parameters before Module.__init__() call")
                self._forget(name, own, self._buffers, self._modules)
                self.register_parameter(name, value)
            elif params is not None and name in params:
                if value is not None:
                    raise TypeError(
                        f"cannot assign '{typename(value)}' as parameter '{name}' "
                        "(vistorch.nn.Parameter or None expected)"
                    )
                self.register_parameter(name, value)
            elif isinstance(value, Module):
                if "_modules" not in own:
                    raise AttributeError("cannot assign module before Module.__init__() call")
                self._forget(name, own, params, self._buffers)
                own["_modules"][name] = global_hooks.passed(global_hooks.module_hooks, self, name, value)
            elif name in own.get("_modules", ()):
                if value is not None:
                    raise TypeError(
                        f"cannot assign '{typename(value)}' as child module '{name}' "
                        "(vistorch.nn.Module or None expected)"
                    )
                own["_modules"][name] = global_hooks.passed(global_hooks.module_hooks, self, name, value)
            elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
                self._set_buffer(name, value)
            else:
                object.__setattr__(self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' "
                "(vistorch.nn.Buffer, vistorch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in self._non_persistent_buffers_set
        if type(self).register_buffer is Module.register_buffer or (
            "persistent" in inspect.signature(self.register_buffer).parameters
        ):
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )

    def _forget(self, name: str, *tables: dict) -> None:
        """Take a name out of the tables in which it would hide what is about to be assigned."""
        for table in tables:
            table.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        own = [*self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(key for key in [*dir(type(self)), *own] if not key[0].isdigit())

    # ---- what is printed -----------------------------------------------------------------------------------------
    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the brackets of the module's text, for a subclass to define.

        Example:
            >>> import vistorch
            >>> class Scale(vistorch.nn.Module):
            ...     by = 3
            ...     def extra_repr(self):
            ...         return f"by={self.by}"
            >>> Scale()
            Scale(by=3)
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({key}): {_addindent(repr(module), 2)}" for key, module in self._modules.items()]
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra})"
        lines = [*extra_lines, *child_lines]
        return self._get_name() + ("(\n  " + "\n  ".join(lines) + "\n)" if lines else "()")

    # ---- copies ------------------------------------------------------------------------------------------------
    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        for table in TABLES:  # a module pickled by an older version
            self.__dict__.setdefault(table, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    def _replicate_for_data_parallel(self) -> Any:
        """A module with tables of its own and the same members."""
        replica = type(self).__new__(type(self))
        own = replica.__dict__
        own.update(self.__dict__)
        own["_parameters"] = {}  # replicas hold plain tensors with history
        own["_buffers"] = dict(self._buffers)
        own["_modules"] = dict(self._modules)
        own["_is_replica"] = True
        return replica
