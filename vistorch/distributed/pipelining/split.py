"""A network cut into parts, by its layers.

Invariant: the parts, one after the other, are the network; they share its parameters.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ...nn import Module, Sequential
from .stage import PipelineStage

__all__ = ["Pipe", "SplitPoint", "pipeline"]


class SplitPoint(enum.Enum):
    """Where a cut is: before a layer, or behind it.

    Example:
        >>> from vistorch.distributed.pipelining import SplitPoint
        >>> SplitPoint.BEGINNING.value
        1
    """

    BEGINNING = 1
    END = 2


class Pipe:
    """A network in parts.

    Args:
        parts: one after the other.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.distributed.pipelining import pipeline, SplitPoint
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        >>> pipe = pipeline(net, split_spec={"2": SplitPoint.BEGINNING})
        >>> pipe.num_stages, len(pipe.get_stage_module(0)), pipe.build_stage(1, "cpu").is_last
        (2, 2, True)
    """

    def __init__(self, parts: list[Sequential]) -> None:
        self._parts = parts

    @property
    def num_stages(self) -> int:
        """How many parts there are."""
        return len(self._parts)

    def get_stage_module(self, stage_idx: int) -> Module:
        """One of the parts."""
        if not 0 <= stage_idx < len(self._parts):
            raise ValueError(f"Invalid stage index {stage_idx}!")
        return self._parts[stage_idx]

    def build_stage(self, stage_index: int, device: Any = None, group: Any = None) -> PipelineStage:
        """One of the parts, ready for a schedule."""
        return PipelineStage(
            self.get_stage_module(stage_index), stage_index, self.num_stages, device, group=group
        )


def pipeline(
    module: Module,
    mb_args: tuple = (),
    mb_kwargs: dict | None = None,
    split_spec: Mapping[str, SplitPoint] | None = None,
    split_policy: Any = None,
) -> Pipe:
    """Cut a `Sequential` into parts.

    Args:
        module: the network. PyTorch traces any network; here it is one layer after the other.
        mb_args: PyTorch's; nothing is traced.
        mb_kwargs: PyTorch's; nothing is traced.
        split_spec: a name of a layer, and on which side of it the cut is.
        split_policy: PyTorch's; not used.

    Example:
        >>> from vistorch import nn
        >>> from vistorch.distributed.pipelining import pipeline, SplitPoint
        >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
        >>> pipeline(net, split_spec={"0": SplitPoint.END, "2": SplitPoint.BEGINNING}).num_stages
        3
    """
    if not isinstance(module, Sequential):
        raise NotImplementedError(
            f"pipeline cuts an nn.Sequential, and this is a {type(module).__name__}: vistorch does not trace modules. "
            "Give each part to a PipelineStage by hand."
        )
    spec = dict(split_spec or {})
    names = [name for name, _ in module.named_children()]
    if unknown := [name for name in spec if name not in names]:
        raise ValueError(f"split_spec names {unknown[0]!r}, but the layers are {', '.join(names)}")
    parts: list[list[tuple[str, Module]]] = [[]]
    for name, layer in module.named_children():
        if spec.get(name) is SplitPoint.BEGINNING and parts[-1]:
            parts.append([])
        parts[-1].append((name, layer))
        if spec.get(name) is SplitPoint.END:
            parts.append([])
    made = []
    for part in parts:
        if part:
            made.append(Sequential(OrderedDict(part)))  # with the names they had
    return Pipe(made)
