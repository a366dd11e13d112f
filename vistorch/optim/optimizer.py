"""Optimizer: parameter groups, state, hooks; what a step does is a subclass's.

Invariant: the state dict has PyTorch's form: parameters by number, each group's options beside them.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..engine.base.events import listeners
from ..engine.base.modes import set_grad_enabled
from ..engine.core.handles import RemovableHandle
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.kernels.cuda import capture
from .grouping import add_group
from .grouping import required as required
from .hooks import TABLES, Hooked, entered
from .loading import take, undone

ParamsT: TypeAlias = Any  # what an optimizer is given, for annotations
_params_t: TypeAlias = Any
__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

typename = FUNCTIONS["typename"]
pre_hooks: dict = OrderedDict()
post_hooks: dict = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before each step of every optimizer.

    Args:
        hook: a function that returns None, or the arguments to use instead as a pair.

    Example:
        >>> import vistorch
        >>> from vistorch.optim.optimizer import register_optimizer_step_pre_hook
        >>> handle = register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print("before a step"))
        >>> vistorch.optim.SGD([vistorch.ones(1, requires_grad=True)], lr=0.1).step()
        before a step
        >>> handle.remove()
    """
    return entered(pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after each step of every optimizer.

    Args:
        hook: a function that returns None.

    Example:
        >>> import vistorch
        >>> from vistorch.optim.optimizer import register_optimizer_step_post_hook
        >>> handle = register_optimizer_step_post_hook(lambda optimizer, args, kwargs: print("after a step"))
        >>> vistorch.optim.SGD([vistorch.ones(1, requires_grad=True)], lr=0.1).step()
        after a step
        >>> handle.remove()
    """
    return entered(post_hooks, hook)


def _use_grad_for_differentiable(func: Callable) -> Callable:
    """Run a step without recording, unless the optimizer is `differentiable`; PyTorch's name for its own steps."""

    @functools.wraps(func)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return run


class Optimizer(Hooked):
    """Base class of all optimizers.

    Args:
        params: parameters, or pairs of name and parameter, or dicts of such lists with options of their own.
        defaults: the options of groups that do not name them.

    Example:
        >>> import vistorch
        >>> class Half(vistorch.optim.Optimizer):
        ...     @vistorch.no_grad()
        ...     def step(self):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p.mul_(0.5)
        >>> p = vistorch.nn.Parameter(vistorch.ones(2))
        >>> Half([p], {}).step()
        >>> p
        Parameter containing:
        tensor([0.5000, 0.5000], requires_grad=True)
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for table in TABLES:
            setattr(self, table, OrderedDict())
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        if (emit := listeners.made) is not None:
            emit("optimizer", self)

    # ---- stepping ----------------------------------------------------------------------------------------------
    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients.

        Args:
            closure: computes the loss anew and returns it.

        Example:
            >>> import vistorch
            >>> p = vistorch.nn.Parameter(vistorch.ones(1))
            >>> optimizer = vistorch.optim.SGD([p], lr=0.25)
            >>> def closure():
            ...     optimizer.zero_grad()
            ...     loss = (p * p).sum()
            ...     loss.backward()
            ...     return loss
            >>> [optimizer.step(closure).item() for _ in range(3)]
            [1.0, 0.25, 0.0625]
        """
        raise NotImplementedError

    @classmethod
    def _patch_step_function(cls) -> None:
        """Put the hooks around this class's step, once."""
        if not getattr(cls.step, "hooked", None):
            step: Any = cls.profile_hook_step(cls.step)
            step.hooked = True
            cls.step = step

    @staticmethod
    def profile_hook_step(func: Callable) -> Callable:
        """A step with the hooks around it, emitted as "step" and "step_end".

        Args:
            func: a method of an optimizer.

        Example:
            >>> import vistorch
            >>> def step(optimizer):
            ...     print("in the step")
            >>> optimizer = vistorch.optim.SGD([vistorch.ones(1)], lr=0.1)
            >>> handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: print("before it"))
            >>> vistorch.optim.Optimizer.profile_hook_step(step)(optimizer)
            before it
            in the step
        """

        @capture.outside
        @functools.wraps(func)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pre_hooks or self._optimizer_step_pre_hooks:
                for hook in (*pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
                    given = hook(self, (self, *args), kwargs)
                    if given is None:
                        continue
                    if not (isinstance(given, tuple) and len(given) == 2):
                        raise RuntimeError(
                            f"{func} must return None or a tuple of (new_args, new_kwargs), but got {given}."
                        )
                    self, args, kwargs = given[0][0], tuple(given[0][1:]), given[1]
            if (emit := listeners.phase) is not None:
                emit("step", self)
            out = func(self, *args, **kwargs)
            if (emit := listeners.phase) is not None:
                emit("step_end", self)
            if post_hooks or self._optimizer_step_post_hooks:
                for hook in (*self._optimizer_step_post_hooks.values(), *post_hooks.values()):
                    hook(self, (self, *args), kwargs)
            return out

        return run

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Args:
            set_to_none: forget them; False fills them with zeros.

        Example:
            >>> import vistorch
            >>> p = vistorch.nn.Parameter(vistorch.ones(2))
            >>> optimizer = vistorch.optim.SGD([p], lr=0.1)
            >>> p.sum().backward()
            >>> p.grad
            tensor([1., 1.])
            >>> optimizer.zero_grad()
            >>> p.grad is None
            True
        """
        if (emit := listeners.phase) is not None:
            emit("zero_grad", self)
        for group in self.param_groups:
            for p in group["params"]:
                g = p._grad
                if g is None:
                    continue
                if set_to_none:
                    p.grad = None
                    continue
                if g.grad_fn is not None:
                    g.detach_()
                else:
                    g.requires_grad_(False)
                g.zero_()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters with options of its own, such as a head that is trained later.

        Args:
            param_group: "params" and any options.

        Example:
            >>> import vistorch
            >>> body, head = vistorch.nn.Linear(2, 2), vistorch.nn.Linear(2, 1)
            >>> optimizer = vistorch.optim.SGD(body.parameters(), lr=0.1)
            >>> optimizer.add_param_group({"params": head.parameters(), "lr": 0.5})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.1, 0.5]
        """
        add_group(self, param_group)

    # ---- saving ------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """The state and the options, parameters by their number.

        Example:
            >>> import vistorch
            >>> p = vistorch.nn.Parameter(vistorch.ones(2))
            >>> vistorch.optim.SGD([p], lr=0.1).state_dict()["param_groups"][0]["lr"]
            0.1
        """
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        number: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for i, p in enumerate(group["params"], start):
                number.setdefault(id(p), i)
            packed["params"] = [number[id(p)] for p in group["params"]]
            start += len(group["params"])
            groups.append(packed)
        state = {number[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            given = hook(self, result)
            if given is not None:
                result = given
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state and options; parameters are matched by their order. What is refused changes nothing.

        Args:
            state_dict: what `state_dict()` of such an optimizer returned.

        Raises:
            ValueError: it is another optimizer's, or damaged.

        Example:
            >>> import vistorch
            >>> p = vistorch.nn.Parameter(vistorch.ones(1))
            >>> before = vistorch.optim.SGD([p], lr=0.5, momentum=0.9)
            >>> (2 * p).backward()
            >>> before.step()
            >>> after = vistorch.optim.SGD([p], lr=0.1)
            >>> after.load_state_dict(before.state_dict())
            >>> after.param_groups[0]["lr"], after.state[p]
            (0.5, {'momentum_buffer': tensor([2.])})
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            given = hook(self, state_dict)
            if given is not None:
                state_dict = given
        with undone(self):
            take(self, state_dict)
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _settle_state(self, p: Tensor, entries: dict, group: dict, number: Any) -> None:
        """Refuse a parameter's loaded entries with a ValueError; a class that knows them looks at them."""

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for table in TABLES:
            self.__dict__.setdefault(table, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"


def with_loss(closure: Callable | None) -> Any:
    """The loss that a closure computes, with recording on; None without one."""
    if closure is None:
        return None
    with set_grad_enabled(True):
        return closure()


def _default_to_fused_or_foreach(
    params: Any, differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether an optimizer of another library takes its fused form, and the one by lists: neither is faster here."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices whose steps may be part of a graph."""
    return ["cuda"]
