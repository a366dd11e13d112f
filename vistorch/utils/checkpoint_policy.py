"""What a program says about a checkpoint: which results to keep, and whose random state.

Invariant: what a policy says changes no number: a part runs again as a whole, with the random numbers it had.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from .. import cuda
from ..engine.base.device import device as _device
from ..engine.core.tensor import Tensor
from ._pytree import tree_leaves

_ONE_OF_THEM = (
    "Please update the OpOverloadPacket to a specific OpOverload."
    "For example, if you have `torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
)
SAC_IGNORED_OPS: set[Any] = set()
"""Ops that no policy is asked about: none is asked about here."""


class CheckpointPolicy(enum.Enum):
    """Whether the result of an op is to be kept, or computed again.

    Example:
        >>> from vistorch.utils.checkpoint import CheckpointPolicy
        >>> CheckpointPolicy.MUST_SAVE
        <CheckpointPolicy.MUST_SAVE: 0>
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is given first.

    Args:
        is_recompute: whether the part runs again.
        op_output: what the op gave.

    Example:
        >>> from vistorch.utils.checkpoint import SelectiveCheckpointContext
        >>> SelectiveCheckpointContext(is_recompute=False).is_recompute
        False
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable | list, allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager, AbstractContextManager]:
    """Two contexts for `context_fn` that keep nothing: the part runs again as a whole, and gives the same numbers.

    Args:
        policy_fn_or_list: a function of a context, an op and its arguments that gives a `CheckpointPolicy`, or the ops
            whose results are to be kept; it is not asked.
        allow_cache_entry_mutation: changes nothing.

    Example:
        >>> import functools, vistorch
        >>> from vistorch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
        >>> keep = functools.partial(create_selective_checkpoint_contexts, [vistorch.ops.aten.mm.default])
        >>> x = vistorch.ones(1, 1, requires_grad=True)
        >>> checkpoint(lambda x: (x @ x).exp(), x, use_reentrant=False, context_fn=keep).sum().backward()
        >>> x.grad
        tensor([[5.4366]])
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            packet = hasattr(op, "overloads")
            if packet or not callable(op):
                more = _ONE_OF_THEM if packet else ""
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {more}"
                )
    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return nullcontext(), nullcontext()


class DefaultDeviceType:
    """The kind of device whose random state a checkpoint keeps where no tensor says it.

    Example:
        >>> from vistorch.utils.checkpoint import DefaultDeviceType
        >>> DefaultDeviceType.set_device_type("cuda")
        >>> DefaultDeviceType.get_device_type()
        'cuda'
        >>> DefaultDeviceType.set_device_type(None)
    """

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: Any = "cuda") -> None:
        """Choose it."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """What was chosen; otherwise the kind of device that is here."""
        return DefaultDeviceType._default_device_type or ("cuda" if cuda.is_available() else "cpu")


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The devices of some tensors, and the state of each one's generator.

    Args:
        *args: tensors, or containers of them; those on the CPU are passed over.

    Example:
        >>> import vistorch
        >>> vistorch.utils.checkpoint.get_device_states(vistorch.ones(1))
        ([], [])
    """
    there = [t for t in tree_leaves(args) if isinstance(t, Tensor) and t.device.type not in ("cpu", "meta")]
    indices = [t.get_device() for t in there]
    return indices, [cuda.get_rng_state(index) for index in indices]


def set_device_states(devices: list[int], states: list[Any], *, device_type: str | None = None) -> None:
    """Put the states of generators back.

    Args:
        devices: the devices.
        states: of each one, what `get_device_states` gave.
        device_type: the kind of device.

    Example:
        >>> import vistorch
        >>> vistorch.utils.checkpoint.set_device_states([], [])
    """
    if _device(device_type or DefaultDeviceType.get_device_type()).type == "meta":
        return
    for index, state in zip(devices, states, strict=False):
        cuda.set_rng_state(state, index)


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Nothing changes: a mismatch names the tensors in any case.

    Args:
        enabled: whether; None leaves it to each checkpoint.

    Example:
        >>> import vistorch
        >>> with vistorch.utils.checkpoint.set_checkpoint_debug_enabled(True):
        ...     pass
    """
    yield
