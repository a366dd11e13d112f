"""Which layers of a network are cut, and how.

Invariant: a plan that names a layer that is not there, or is not linear, is refused before any layer is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from ....nn import Linear, Module
from .layers import ColumnParallelLinear, RowParallelLinear

__all__ = ["ColwiseParallel", "ParallelStyle", "RowwiseParallel", "parallelize_module"]


class ParallelStyle:
    """How a layer is cut.

    Example:
        >>> from vistorch.distributed.tensor.parallel import ColwiseParallel, ParallelStyle
        >>> isinstance(ColwiseParallel(), ParallelStyle)
        True
    """

    def _cut(self, layer: Linear, group: Any) -> Module:
        raise NotImplementedError


class _LinearStyle(ParallelStyle):
    """A cut of a linear layer: into layers of which kind, and whether its inputs or outputs are whole."""

    _kind: Any
    _whole: bool

    def __init__(
        self, *, input_layouts: Any = None, output_layouts: Any = None, use_local_output: bool = True
    ) -> None:
        pass

    def _cut(self, layer: Linear, group: Any) -> Module:
        bias = layer.bias is not None
        return self._kind(layer.in_features, layer.out_features, bias, self._whole, group, whole=layer)


class ColwiseParallel(_LinearStyle):
    """A linear layer is cut by its outputs, which stay where they are.

    Args:
        input_layouts: PyTorch's; not used.
        output_layouts: PyTorch's; not used.
        use_local_output: PyTorch's; not used.

    Example:
        See `parallelize_module`.

        >>> from vistorch.distributed.tensor.parallel import ColwiseParallel
        >>> style = ColwiseParallel()
    """

    _kind, _whole = ColumnParallelLinear, False


class RowwiseParallel(_LinearStyle):
    """A linear layer is cut by its inputs, which are parts already; its outputs are whole.

    Args:
        input_layouts: PyTorch's; not used.
        output_layouts: PyTorch's; not used.
        use_local_output: PyTorch's; not used.

    Example:
        See `parallelize_module`.

        >>> from vistorch.distributed.tensor.parallel import RowwiseParallel
        >>> style = RowwiseParallel()
    """

    _kind, _whole = RowParallelLinear, True


def parallelize_module(
    module: Module,
    device_mesh: Any = None,
    parallelize_plan: Any = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Cut linear layers of a network over the ranks of a mesh, in place.

    Args:
        module: the network.
        device_mesh: the ranks, along one dimension.
        parallelize_plan: a style for the network, or one for each name or pattern of names.
        src_data_rank: PyTorch's; the weights are those of the mesh's first rank.

    Example:
        >>> from vistorch import distributed as dist, nn
        >>> from vistorch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
        >>> mesh = dist.init_device_mesh("cpu", (1,))
        >>> parallelize_module(net, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})[0]
        ColumnParallelLinear(
          in_features=4, out_features=8, parts=1
          (weight): ParameterList(  (0): Parameter containing: [vistorch.float32 of size 8x4])
          (bias): ParameterList(  (0): Parameter containing: [vistorch.float32 of size 8])
        )
        >>> dist.destroy_process_group()
    """
    group = None if device_mesh is None else device_mesh.get_group()
    if isinstance(parallelize_plan, ParallelStyle):
        return parallelize_plan._cut(_linear("", module), group)
    found: list[tuple[str, Linear, ParallelStyle]] = []
    plan: Mapping = parallelize_plan or {}
    for pattern, style in plan.items():
        names = [name for name, _ in module.named_modules() if name and fnmatchcase(name, pattern)]
        if not names:
            raise ValueError(f"parallelize_plan names {pattern!r}, but the network has no such layer")
        found += [(name, _linear(name, module.get_submodule(name)), style) for name in names]
    for name, layer, style in found:
        parent, _, last = name.rpartition(".")
        setattr(module.get_submodule(parent) if parent else module, last, style._cut(layer, group))
    return module


def _linear(name: str, layer: Any) -> Linear:
    if not isinstance(layer, Linear):
        raise NotImplementedError(
            f"only linear layers are cut; {name or 'the network'} is a {type(layer).__name__}"
        )
    return layer
