"""Module: the base of all layers and networks.

Invariant: a Parameter, a Module or a Buffer that is assigned as an attribute lives in one of three tables and nowhere
else; `__getattr__` finds it there.
"""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...engine.base import dtypes
from ...engine.base.events import listeners
from ...engine.base.modes import no_grad
from ...engine.core.handles import RemovableHandle
from ...engine.core.private_order import scope, within
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...engine.library_name import library, named
from ...engine.ops.shape.convert import asked, converted
from ..parameter import Buffer, Parameter, is_lazy
from . import global_hooks
from .global_hooks import *
from .module_call import BOTH_KINDS, BoundHook, add_hook, observed_call
from .state_dict import EXTRA, NO_EXTRA_STATE, load, load_members, save_members
from .state_dict import _IncompatibleKeys as _IncompatibleKeys

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
_EXTRA_STATE_KEY_SUFFIX = EXTRA  # by this name libraries read it
NO_VALUES = (
    "Cannot copy out of meta tensor; no data! Please use vistorch.nn.Module.to_empty() instead of "
    "vistorch.nn.Module.to() when moving module from meta to a different device."
)
COMPLEX_MODULE = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not "
    "work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
    "expected."
)
REPLICA = (
    "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are copied (in a "
    "differentiable manner) from the original module. This means they are not leaf nodes in autograd and so don't "
    "accumulate gradients. If you need gradients in your forward method, consider using autograd.grad instead."
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


class Module:
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
    _version: int = 1
    _compiled_call_impl: Callable | None = None
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Any]  # tensors, and None where a name is reserved
    _modules: dict[str, Any]  # modules, and None likewise
    _non_persistent_buffers_set: set[str]
    _is_full_backward_hook: bool | None
    # Hooks by their handle's id; TABLES lists them, and the three `_with_kwargs` and `_always_called` say how to call.
    _backward_pre_hooks: OrderedDict[int, Callable]
    _backward_hooks: OrderedDict[int, Callable]
    _forward_hooks: OrderedDict[int, Callable]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _state_dict_hooks: OrderedDict[int, Callable]
    _state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_post_hooks: OrderedDict[int, Callable]

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
        if (emit := listeners.made) is not None:
            emit("module", self)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    forward: Callable[..., Any] = _forward_unimplemented

    # ---- calling -----------------------------------------------------------------------------------------------
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and the hooks around it."""
        if self._modules and scope.open is None:
            return within(Module.__call__, self, args, kwargs)
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or global_hooks.any_call
            or listeners.phase is not None
        ):
            return observed_call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """PyTorch's name for the call itself, which some libraries replace or wrap."""
        return Module.__call__(self, *args, **kwargs)

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
                f"({library}.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = global_hooks.passed(global_hooks.parameter_hooks, self, name, param)
        if (emit := listeners.made) is not None:
            emit("parameter", self, name, self._parameters[name])

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
                        f"({library}.nn.Parameter or None expected)"
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
                        f"({library}.nn.Module or None expected)"
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
                f"({library}.nn.Buffer, {library}.Tensor or None expected)"
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

    # ---- the tree of modules -----------------------------------------------------------------------------------
    def children(self) -> Iterator[Any]:
        """The modules held by this one, each once.

        Example:
            >>> import vistorch
            >>> from vistorch import nn
            >>> list(nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).children())
            [ReLU(), Sequential(
              (0): Tanh()
            )]
        """
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules held by this one with their names, each once.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Sequential(vistorch.nn.ReLU(), vistorch.nn.Identity())
            >>> list(net.named_children())
            [('0', ReLU()), ('1', Identity())]
        """
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it.

        Args:
            remove_duplicate: meet a module that is used twice only once.

        Example:
            >>> import vistorch
            >>> from vistorch import nn
            >>> net = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh()))
            >>> [type(m).__name__ for m in net.modules()]
            ['Sequential', 'ReLU', 'Sequential', 'Tanh']
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all below it with their paths.

        Args:
            memo: modules already met.
            prefix: what every path begins with.
            remove_duplicate: meet a module that is used twice only once.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Sequential(vistorch.nn.Sequential(vistorch.nn.ReLU()))
            >>> [name for name, _ in net.named_modules()]
            ['', '0', '0.0']
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(
                    memo, f"{prefix}.{name}" if prefix else name, remove_duplicate
                )

    def _named_members(
        self, get_members_fn: Callable, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """What `get_members_fn(module)` lists, for this module and those below."""
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield f"{path}.{name}" if path else name, member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters: what one gives to an optimizer.

        Args:
            recurse: those of the modules below, too.

        Example:
            >>> import vistorch
            >>> [tuple(p.shape) for p in vistorch.nn.Linear(2, 3).parameters()]
            [(3, 2), (3,)]
        """
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their paths.

        Args:
            prefix: what every path begins with.
            recurse: those of the modules below, too.
            remove_duplicate: meet a parameter that is used twice only once.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Sequential(vistorch.nn.Linear(2, 3))
            >>> [name for name, _ in net.named_parameters()]
            ['0.weight', '0.bias']
        """
        yield from self._named_members(lambda m: m._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers.

        Args:
            recurse: those of the modules below, too.

        Example:
            >>> import vistorch
            >>> [tuple(b.shape) for b in vistorch.nn.BatchNorm1d(3).buffers()]
            [(3,), (3,), ()]
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths.

        Args:
            prefix: what every path begins with.
            recurse: those of the modules below, too.
            remove_duplicate: meet a buffer that is used twice only once.

        Example:
            >>> import vistorch
            >>> [name for name, _ in vistorch.nn.BatchNorm1d(3).named_buffers()]
            ['running_mean', 'running_var', 'num_batches_tracked']
        """
        yield from self._named_members(lambda m: m._buffers.items(), prefix, recurse, remove_duplicate)

    # ---- by path -----------------------------------------------------------------------------------------------
    def get_submodule(self, target: str) -> Any:
        """The module at a path.

        Args:
            target: names joined by dots; the empty string is the module itself.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Sequential(vistorch.nn.Sequential(vistorch.nn.ReLU()))
            >>> net.get_submodule("0.0")
            ReLU()
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(module._get_name() + " has no attribute `" + name + "`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError("`" + name + "` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module at a path, in place of what is there.

        Args:
            target: names joined by dots.
            module: the new module.
            strict: refuse a path at which there is nothing yet.

        Example:
            >>> import vistorch
            >>> from vistorch import nn
            >>> net = nn.Sequential(nn.Sequential(nn.ReLU()))
            >>> net.set_submodule("0.0", nn.Tanh())
            >>> net.get_submodule("0.0")
            Tanh()
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if hasattr(parent, name):
            if not isinstance(getattr(parent, name), Module):
                raise AttributeError("`" + name + "` is not an nn.Module")
        elif strict:
            raise AttributeError(parent._get_name() + " has no attribute `" + name + "`")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path.

        Args:
            target: names joined by dots.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Sequential(vistorch.nn.Linear(2, 3))
            >>> net.get_parameter("0.bias") is net[0].bias
            True
        """
        module, name = self._holder(target)
        found = getattr(module, name)
        if not isinstance(found, Parameter):
            raise AttributeError("`" + name + "` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path.

        Args:
            target: names joined by dots.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Sequential(vistorch.nn.BatchNorm1d(2)).get_buffer("0.running_mean")
            tensor([0., 0.])
        """
        module, name = self._holder(target)
        found = getattr(module, name)
        if name not in module._buffers:
            raise AttributeError("`" + name + "` is not a buffer")
        return found

    def _holder(self, target: str) -> tuple[Any, str]:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(module._get_name() + " has no attribute `" + name + "`")
        return module, name

    # ---- another device or type --------------------------------------------------------------------------------
    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Put `fn(t)` in the place of every parameter, gradient and buffer."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            grad = param.grad
            with no_grad():
                moved = fn(param)
                moved_grad = None if grad is None else fn(grad)
            if moved_grad is not None:
                param.grad = None  # the old one does not fit between the two assignments
            param.data = moved
            if grad is not None and moved_grad is not None:
                grad.data = moved_grad
                param.grad = grad
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                buffer.data = fn(buffer)  # it goes on waiting for its shape
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move the module and convert its floating-point members, in place.

        Args:
            *args: a device, a floating-point dtype, both, or a tensor to take both from; then `non_blocking`.
            **kwargs: the same by name, and `memory_format`.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).to(vistorch.float64).weight.dtype
            vistorch.float64
        """
        kind, place, _, form, waits = asked(args, kwargs)
        if kind is not None:
            shown = dtypes.of(kind)
            if not (shown.is_floating_point or shown.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={shown}"
                )
            if shown.is_complex:
                warnings.warn(COMPLEX_MODULE, UserWarning, stacklevel=2)

        def move(t: Tensor) -> Tensor:
            if t.is_meta and place is not None and place.device.type != "meta":
                raise NotImplementedError(named(NO_VALUES))
            floats = t.is_floating_point() or t.is_complex()
            shape = form if t.ndim in (4, 5) else None
            return converted(t, kind if floats else None, place, False, shape, waits)

        return self._apply(move)

    def cpu(self) -> Any:
        """Move the module to the CPU.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).cpu().weight.device
            device(type='cpu')
        """
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Move the module to a CUDA device.

        Args:
            device: which one; None for the current one.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Linear(2, 3)
            >>> if vistorch.cuda.is_available():
            ...     net = net.cuda()
            >>> net.weight.is_cuda == vistorch.cuda.is_available()
            True
        """
        return self._apply(lambda t: t.cuda(device))

    def type(self, dst_type: Any) -> Any:
        """Convert all members.

        Args:
            dst_type: a dtype or the name of a tensor type.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).type(vistorch.float64).weight.dtype
            vistorch.float64
        """
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Convert the floating-point members to float32.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).double().float().weight.dtype
            vistorch.float32
        """
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        """Convert the floating-point members to float64.

        Example:
            >>> import vistorch
            >>> norm = vistorch.nn.BatchNorm1d(2).double()
            >>> norm.weight.dtype, norm.num_batches_tracked.dtype  # integers stay as they are
            (vistorch.float64, vistorch.int64)
        """
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Any:
        """Convert the floating-point members to float16.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).half().weight.dtype
            vistorch.float16
        """
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        """Convert the floating-point members to bfloat16.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).bfloat16().weight.dtype
            vistorch.bfloat16
        """
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Move the module without its values.

        Args:
            device: where to.
            recurse: the modules below, too.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Linear(2, 3).to_empty(device="cpu").weight.shape  # whatever values are there
            vistorch.Size([3, 2])
        """
        return self._apply(lambda t: FUNCTIONS["empty_like"](t, device=device), recurse=recurse)

    def share_memory(self) -> Any:
        """Move all members to memory that other processes can share.

        Example:
            >>> import vistorch
            >>> net = vistorch.nn.Linear(2, 3).share_memory()
            >>> net.weight.is_shared()
            True
        """
        return self._apply(lambda t: t.share_memory_())

    # ---- training and evaluation -------------------------------------------------------------------------------
    def train(self, mode: bool = True) -> Any:
        """Switch to training, which matters to dropout and batch normalisation.

        Args:
            mode: False switches to evaluation.

        Example:
            >>> import vistorch
            >>> vistorch.nn.Dropout().eval().training
            False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        if (emit := listeners.phase) is not None:
            emit("train" if mode else "eval", self)
        return self

    def eval(self) -> Any:
        """Switch to evaluation: the same as `train(False)`.

        Example:
            >>> import vistorch
            >>> drop = vistorch.nn.Dropout(0.9)
            >>> drop.eval()(vistorch.ones(4))
            tensor([1., 1., 1., 1.])
            >>> drop.training
            False
        """
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set `requires_grad` of all parameters.

        Args:
            requires_grad: False freezes them.

        Example:
            >>> import vistorch
            >>> body, head = vistorch.nn.Linear(2, 2), vistorch.nn.Linear(2, 1)
            >>> body = body.requires_grad_(False)
            >>> head(body(vistorch.ones(1, 2))).sum().backward()
            >>> body.weight.grad is None, head.weight.grad is None
            (True, False)
        """
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Args:
            set_to_none: forget them; False fills them with zeros.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 1)
            >>> m(vistorch.ones(1, 2)).sum().backward()
            >>> m.weight.grad
            tensor([[1., 1.]])
            >>> m.zero_grad(set_to_none=False)
            >>> m.weight.grad
            tensor([[0., 0.]])
            >>> m.zero_grad()
            >>> m.weight.grad is None
            True
        """
        if getattr(self, "_is_replica", False):
            warnings.warn(REPLICA, UserWarning, stacklevel=2)
        if (emit := listeners.phase) is not None:
            emit("zero_grad", self)
        for p in self.parameters():
            clear_grad(p, set_to_none)

    def apply(self, fn: Callable[[Any], None]) -> Any:
        """Call `fn(module)` for all modules below, then for this one.

        Args:
            fn: a function of a module, often one that initialises its parameters.

        Example:
            >>> import vistorch
            >>> from vistorch import nn
            >>> def begin(m):
            ...     if isinstance(m, nn.Linear):
            ...         nn.init.ones_(m.weight)
            >>> net = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).apply(begin)
            >>> net[0].weight.tolist()
            [[1.0, 1.0], [1.0, 1.0]]
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Accepted as PyTorch's; there is no compiler here, and nothing changes.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 1)
            >>> before = m(vistorch.ones(2))
            >>> m.compile()
            >>> m(vistorch.ones(2)).equal(before)
            True
        """

    # ---- saving and loading ------------------------------------------------------------------------------------
    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by name; they share memory with the module.

        Args:
            *args: the arguments below in order, as old programs give them.
            destination: the dict to write to.
            prefix: what every name begins with.
            keep_vars: the parameters themselves, not detached.

        Example:
            >>> import vistorch
            >>> list(vistorch.nn.Linear(2, 3).state_dict())
            ['weight', 'bias']
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
                stacklevel=2,
            )
            given: Any = (*args, *(destination, prefix, keep_vars)[len(args) :])
            destination, prefix, keep_vars = given[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        about: dict = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = about
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, about)
            if result is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Write this module's own members, without those below."""
        save_members(self, destination, prefix, keep_vars)
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """Anything else to save, for a subclass to define.

        Example:
            >>> import vistorch
            >>> class Counter(vistorch.nn.Module):
            ...     calls = 0
            ...     def get_extra_state(self):
            ...         return {"calls": self.calls}
            ...     def set_extra_state(self, state):
            ...         self.calls = state["calls"]
            >>> counter = Counter()
            >>> counter.calls = 5
            >>> counter.state_dict()
            OrderedDict([('_extra_state', {'calls': 5})])
        """
        raise RuntimeError(NO_EXTRA_STATE)

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave, for a subclass to define.

        Example:
            >>> import vistorch
            >>> class Counter(vistorch.nn.Module):
            ...     calls = 0
            ...     def get_extra_state(self):
            ...         return {"calls": self.calls}
            ...     def set_extra_state(self, state):
            ...         self.calls = state["calls"]
            >>> counter = Counter()
            >>> counter.load_state_dict({"_extra_state": {"calls": 5}})
            <All keys matched successfully>
            >>> counter.calls
            5
        """
        raise RuntimeError(NO_EXTRA_STATE)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        """Copy the values of a state dict into this module.

        Args:
            state_dict: tensors by name.
            strict: refuse names that only one side has.
            assign: take the tensors themselves instead of copying their values.

        Example:
            >>> import vistorch
            >>> a, b = vistorch.nn.Linear(2, 3), vistorch.nn.Linear(2, 3)
            >>> a.load_state_dict(b.state_dict())
            <All keys matched successfully>
        """
        return load(self, state_dict, strict, assign)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list,
        unexpected_keys: list,
        error_msgs: list,
    ) -> None:
        """Copy this module's own members, without those below; a subclass may read older versions here."""
        load_members(
            self,
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
            takes_extra=type(self).set_extra_state is not Module.set_extra_state,
        )

    # ---- hooks of calls ----------------------------------------------------------------------------------------
    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before each `forward`; what it returns replaces the arguments.

        Args:
            hook: a function of the module and the tuple of its positional arguments.
            prepend: call it before the hooks that are there.
            with_kwargs: call `hook(module, args, kwargs)`, which returns None or a pair.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Identity()
            >>> h = m.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
            >>> m(vistorch.ones(2))
            tensor([2., 2.])
        """
        handle = RemovableHandle(self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return add_hook(self._forward_pre_hooks, handle, hook, prepend)

    def register_forward_hook(
        self,
        hook: Callable,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after each `forward`; what it returns replaces the output.

        Args:
            hook: a function of the module, its positional arguments and its output.
            prepend: call it before the hooks that are there.
            with_kwargs: call `hook(module, args, kwargs, output)`.
            always_call: call it also when `forward` raises.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Identity()
            >>> h = m.register_forward_hook(lambda m, args, out: print(out.shape))
            >>> y = m(vistorch.ones(2))
            vistorch.Size([2])
            >>> h.remove()
        """
        handle = RemovableHandle(
            self._forward_hooks,
            extra_dict=[self._forward_hooks_with_kwargs, self._forward_hooks_always_called],
        )
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return add_hook(self._forward_hooks, handle, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before the gradients of the module's inputs are computed.

        Args:
            hook: a function of the module and a tuple; what it returns replaces the tuple.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Identity()
            >>> h = m.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 10,))
            >>> x = vistorch.ones(2, requires_grad=True)
            >>> m(x).sum().backward()
            >>> x.grad
            tensor([10., 10.])
        """
        handle = RemovableHandle(self._backward_pre_hooks)
        return add_hook(self._backward_pre_hooks, handle, hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the module's inputs are computed.

        Args:
            hook: a function of the module and two tuples; what it returns replaces `grad_input`.
            prepend: call it before the hooks that are there.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 1)
            >>> h = m.register_full_backward_hook(lambda m, gi, go: print(go[0]))
            >>> m(vistorch.ones(1, 2, requires_grad=True)).sum().backward()
            tensor([[1.]])
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(BOTH_KINDS)
        self._is_full_backward_hook = True
        return add_hook(self._backward_hooks, RemovableHandle(self._backward_hooks), hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` of the last node: the old form; prefer the full one.

        Args:
            hook: a function of the module and two tuples.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.ReLU()
            >>> h = m.register_backward_hook(lambda m, grad_in, grad_out: print(grad_in, grad_out))
            >>> x = vistorch.tensor([-1.0, 1.0], requires_grad=True) * 2
            >>> m(x).sum().backward()
            (tensor([0., 1.]),) (tensor([1., 1.]),)
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(BOTH_KINDS)
        self._is_full_backward_hook = False
        return add_hook(self._backward_hooks, RemovableHandle(self._backward_hooks), hook)

    # ---- hooks of saving and loading ---------------------------------------------------------------------------
    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, RemovableHandle(self._state_dict_hooks), hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after the state dict is filled.

        Args:
            hook: a function that may change the state dict in place and returns None.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3)
            >>> h = m.register_state_dict_post_hook(lambda m, state, prefix, about: state.update(lr=0.1))
            >>> list(m.state_dict())
            ['weight', 'bias', 'lr']
        """
        hook._from_public_api = True
        return add_hook(self._state_dict_hooks, RemovableHandle(self._state_dict_hooks), hook)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state dict is filled.

        Args:
            hook: a function.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3)
            >>> h = m.register_state_dict_pre_hook(lambda m, prefix, keep_vars: print("saving", type(m).__name__))
            >>> state = m.state_dict()
            saving Linear
        """
        return add_hook(self._state_dict_pre_hooks, RemovableHandle(self._state_dict_pre_hooks), hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable, with_module: bool = False
    ) -> RemovableHandle:
        return add_hook(
            self._load_state_dict_pre_hooks,
            RemovableHandle(self._load_state_dict_pre_hooks),
            BoundHook(hook, self if with_module else None),
        )

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading.

        Args:
            hook: a function that may change the state dict and the lists in place.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3, bias=False)
            >>> def rename(module, state, *rest):
            ...     state["weight"] = state.pop("w")
            >>> h = m.register_load_state_dict_pre_hook(rename)
            >>> m.load_state_dict({"w": vistorch.zeros(3, 2)})
            <All keys matched successfully>
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after the module is loaded.

        Args:
            hook: a function that may change the lists in place and returns None.

        Example:
            >>> import vistorch
            >>> m = vistorch.nn.Linear(2, 3)
            >>> h = m.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.remove("bias"))
            >>> m.load_state_dict({"weight": vistorch.zeros(3, 2)})  # without the hook this would be refused
            <All keys matched successfully>
        """
        return add_hook(
            self._load_state_dict_post_hooks, RemovableHandle(self._load_state_dict_post_hooks), hook
        )

    # ---- what is printed ---------------------------------------------------------------------------------------
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


def clear_grad(p: Tensor, set_to_none: bool) -> None:
    """Forget a gradient, or fill it with zeros outside any graph."""
    g = p._grad
    if g is None:
        return
    if set_to_none:
        p.grad = None
        return
    if g.grad_fn is not None:
        g.detach_()
    else:
        g.requires_grad_(False)
    g.zero_()
