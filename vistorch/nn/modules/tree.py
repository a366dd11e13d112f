"""Walking the tree of modules: children, members by name, paths.

Invariant: a module, parameter or buffer that appears twice in the tree is met once, under its first name, unless
`remove_duplicate=False` asks for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...engine.tensor import Tensor
from ..parameter import Parameter


class Tree:
    """The part of Module that knows its members."""

    _parameters: dict
    _buffers: dict
    _modules: dict
    _get_name: Callable[[], str]

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
            if not isinstance(module, Tree):
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
        if not isinstance(module, Tree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if hasattr(parent, name):
            if not isinstance(getattr(parent, name), Tree):
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
