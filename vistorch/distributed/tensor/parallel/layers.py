"""A linear layer cut by its outputs, and one cut by its inputs: the one after the other needs one sum over the ranks.

Invariant: outputs and gradients are those of the whole layer; a rank has its part of the weight alone. With `devices`
all parts are in this process, one on each device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.base.modes import no_grad
from ....engine.core.registry import FUNCTIONS
from ....nn import Linear, Module, Parameter, ParameterList
from ....nn import functional as F
from ....ranks.collectives import broadcast
from ....ranks.group import chosen
from .moves import Gathered, Shared, Summed

__all__ = ["ColumnParallelLinear", "RowParallelLinear"]


def _widths(total: int, parts: int) -> list[int]:
    """How many rows each part has: as evenly as `chunk` cuts them."""
    if total < parts:
        raise ValueError(f"a layer of {total} cannot be cut into {parts} parts")
    return [len(range(i, total, parts)) for i in range(parts)]


class _Cut(Module):
    """A linear layer of which this process has some parts."""

    _dim: int  # of the weight, along which it is cut

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        group: Any = None,
        devices: Sequence[Any] | None = None,
        whole: Linear | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.group = None if devices else chosen(group)
        self.devices = list(devices) if devices else None
        parts = len(devices) if devices else self.group.size()  # type: ignore[union-attr]
        self.widths = _widths((out_features, in_features)[self._dim], parts)
        whole = Linear(in_features, out_features, bias) if whole is None else whole
        if self.group is not None and parts > 1:
            with no_grad():  # the same layer on all ranks, of which each keeps its part
                for p in whole.parameters():
                    broadcast(p, group=self.group, group_src=0)
        weights = whole.weight.detach().split(self.widths, dim=self._dim)
        here = range(parts) if devices else [self.group.rank()]  # type: ignore[union-attr]
        places = list(devices) if devices else [whole.weight.device]
        self.weight = ParameterList(
            [Parameter(weights[i].clone().to(d)) for i, d in zip(here, places, strict=True)]
        )
        self.bias = self._biases(whole, list(here), places)

    def _biases(self, whole: Linear, here: list[int], places: list) -> ParameterList | None:
        if whole.bias is None:
            return None
        if self._dim == 0:
            cut = whole.bias.detach().split(self.widths)
            return ParameterList([Parameter(cut[i].clone().to(d)) for i, d in zip(here, places, strict=True)])
        return ParameterList([Parameter(whole.bias.detach().clone().to(places[0]))])

    def extra_repr(self) -> str:
        """What is printed of it."""
        return f"in_features={self.in_features}, out_features={self.out_features}, parts={len(self.widths)}"


class ColumnParallelLinear(_Cut):
    """A linear layer cut by its outputs.

    Args:
        in_features: how many inputs it has.
        out_features: how many outputs, over all parts.
        bias: whether it adds a bias.
        gather_output: join the outputs of all parts; False: each rank has its own.
        group: the ranks; all if None.
        devices: in place of ranks, devices of this process.
        whole: a layer whose weights are taken.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> from vistorch.distributed.tensor.parallel import ColumnParallelLinear
        >>> whole = nn.Linear(3, 4)
        >>> cut = ColumnParallelLinear(3, 4, devices=["cpu", "cpu"], whole=whole)
        >>> x = vistorch.ones(2, 3)
        >>> vistorch.allclose(cut(x), whole(x)), [tuple(p.shape) for p in cut.weight]
        (True, [(2, 3), (2, 3)])
        >>> cut.extra_repr()
        'in_features=3, out_features=4, parts=2'
    """

    _dim = 0

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        gather_output: bool = True,
        group: Any = None,
        devices: Sequence[Any] | None = None,
        whole: Linear | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, group, devices, whole)
        self.gather_output = gather_output

    def forward(self, x: Any) -> Any:
        """The outputs."""
        biases: Any = [None] * len(self.weight) if self.bias is None else self.bias
        if self.devices is not None:
            parts = [F.linear(x.to(w.device), w, b) for w, b in zip(self.weight, biases, strict=True)]
            return (
                FUNCTIONS["cat"]([part.to(x.device) for part in parts], dim=-1)
                if self.gather_output
                else parts
            )
        out = F.linear(Shared.apply(x, self.group), self.weight[0], biases[0])
        return Gathered.apply(out, self.group, self.widths) if self.gather_output else out


class RowParallelLinear(_Cut):
    """A linear layer cut by its inputs.

    Args:
        in_features: how many inputs it has, over all parts.
        out_features: how many outputs.
        bias: whether it adds a bias.
        input_is_parallel: the input is a part already, as a `ColumnParallelLinear` with gather_output=False gives it.
        group: the ranks; all if None.
        devices: in place of ranks, devices of this process.
        whole: a layer whose weights are taken.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> from vistorch.distributed.tensor.parallel import RowParallelLinear
        >>> whole = nn.Linear(4, 3)
        >>> cut = RowParallelLinear(4, 3, devices=["cpu", "cpu"], whole=whole)
        >>> x = vistorch.ones(2, 4)
        >>> vistorch.allclose(cut(x), whole(x)), [tuple(p.shape) for p in cut.weight]
        (True, [(3, 2), (3, 2)])
    """

    _dim = 1

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        input_is_parallel: bool = False,
        group: Any = None,
        devices: Sequence[Any] | None = None,
        whole: Linear | None = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, group, devices, whole)
        self.input_is_parallel = input_is_parallel

    def forward(self, x: Any) -> Any:
        """The outputs."""
        if self.devices is not None:
            parts = x if self.input_is_parallel else x.split(self.widths, dim=-1)
            home = parts[0].device
            outs = [F.linear(p.to(w.device), w).to(home) for p, w in zip(parts, self.weight, strict=True)]
            total = outs[0]
            for out in outs[1:]:
                total = total + out
        else:
            assert self.group is not None
            if not self.input_is_parallel:
                x = Shared.apply(x, self.group).split(self.widths, dim=-1)[self.group.rank()]
            total = Summed.apply(F.linear(x, self.weight[0]), self.group)
        return total if self.bias is None else total + self.bias[0].to(total.device)
