"""ZeRO, stage 1: each rank keeps the optimizer's state of some parameters, and steps those (Rajbhandari et al. 2020).

Invariant: after a step all ranks have the same parameters; a parameter is stepped by one rank, its owner.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ...engine.base.modes import no_grad
from ...engine.core.tensor import Tensor
from ...optim import Optimizer
from ...ranks.group import chosen
from ...ranks.join import Join, Joinable, JoinHook
from ...ranks.objects import gather_object
from ...ranks.reducer import synchronise

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer whose state is cut over the ranks.

    Args:
        params: the parameters, the same on all ranks.
        optimizer_class: the optimizer of each part.
        process_group: the ranks; all if None.
        parameters_as_bucket_view: PyTorch's; parameters always travel in one message.
        overlap_with_ddp: not built.
        **defaults: for the optimizer.

    Example:
        >>> import vistorch
        >>> from vistorch import distributed as dist, nn, optim
        >>> from vistorch.distributed.optim import ZeroRedundancyOptimizer
        >>> dist.init_process_group("mpi", rank=0, world_size=1, store=dist.HashStore())
        >>> net = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
        >>> optimizer = ZeroRedundancyOptimizer(net.parameters(), optim.Adam, lr=0.1)
        >>> net(vistorch.ones(1, 2)).sum().backward()
        >>> optimizer.step()
        >>> optimizer.consolidate_state_dict(to=0)  # then rank 0 can save it, as of a plain optimizer
        >>> sorted(optimizer.state_dict()["state"])
        [0, 1]
        >>> optimizer.load_state_dict(optimizer.state_dict())
        >>> optimizer.add_param_group({"params": [nn.Parameter(vistorch.ones(1))]})
        >>> optimizer.join_process_group.size(), optimizer.join_device.type, optimizer.join_hook().main_hook()
        (1, 'cpu', None)
        >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        params: Iterable,
        optimizer_class: type,
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError(
                "ZeroRedundancyOptimizer: overlap_with_ddp is not built: leave it out; steps come after the backward "
                "pass."
            )
        self.process_group = chosen(process_group)
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        self._class, self._defaults = optimizer_class, defaults
        self.optim: Any = None
        self._whole: dict | None = None
        self._building = True
        super().__init__(params, defaults)
        self._building = False
        self._cut()

    def _cut(self) -> None:
        """Give each parameter an owner, the largest first, to the rank that has the least; make this rank's part."""
        loads, self._owner = [0] * self.world_size, {}
        for group in self.param_groups:
            for p in sorted(group["params"], key=lambda p: -p.numel()):
                owner = loads.index(min(loads))
                self._owner[id(p)] = owner
                loads[owner] += p.numel()
        held = {} if self.optim is None else self.optim.state
        rows = []
        for group in self.param_groups:
            mine = [p for p in group["params"] if self._owner[id(p)] == self.rank]
            rows.append({**{k: v for k, v in group.items() if k != "params"}, "params": mine})
        used = [row for row in rows if row["params"]]
        self._rows = [number for number, row in enumerate(rows) if row["params"]]
        self.optim = self._class(used, **self._defaults) if used else None
        for p, state in held.items():
            if self.optim is not None and self._owner.get(id(p)) == self.rank:
                self.optim.state[p] = state
        if self.optim is not None:  # what the class adds to its groups, schedulers and users look for here
            for number, group in zip(self._rows, self.optim.param_groups, strict=True):
                for name, value in group.items():
                    self.param_groups[number].setdefault(name, value)
        filled = [group for group in self.param_groups if len(group) > 1]
        for group in self.param_groups:
            for name, value in filled[0].items() if filled else ():
                if name != "params":
                    group.setdefault(name, value)

    def add_param_group(self, param_group: dict) -> None:
        """Step other parameters too.

        Args:
            param_group: a dict with "params" and options.
        """
        super().add_param_group(param_group)
        if not self._building:
            self._cut()

    def _options_down(self) -> None:
        """The part's groups have the options of the whole, which schedulers change."""
        if self.optim is not None:
            for number, group in zip(self._rows, self.optim.param_groups, strict=True):
                group.update({k: v for k, v in self.param_groups[number].items() if k != "params"})

    def step(self, closure: Any = None, **kwargs: Any) -> Any:
        """Step this rank's parameters; give the ranks each other's.

        Args:
            closure: computes the loss again.
            **kwargs: for the optimizer.
        """
        Join.notify_join_context(self)
        self._options_down()
        loss = None
        if self.optim is not None:
            loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure, **kwargs)
        elif closure is not None:
            loss = closure()
        self._share()
        return loss

    def _share(self) -> None:
        with no_grad():
            for owner in range(self.world_size):
                part = [p for g in self.param_groups for p in g["params"] if self._owner[id(p)] == owner]
                synchronise(part, self.process_group, owner)

    # ---- the whole state --------------------------------------------------------------------------------------
    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring all parts of the state to one rank, whose `state_dict` then is that of a plain optimizer.

        Args:
            to: the rank.
        """
        mine = {} if self.optim is None else {self._number(p): s for p, s in self.optim.state.items()}
        found = [None] * self.world_size if self.rank == to else None
        gather_object(mine, found, dst=self.process_group.global_rank(to), group=self.process_group)
        self._whole = None
        if found is not None:
            self._whole = {}
            for part in found:
                self._whole.update(part or {})

    def _number(self, p: Any) -> int:
        params = [id(q) for g in self.param_groups for q in g["params"]]
        return params.index(id(p))

    def state_dict(self) -> dict:
        """The state of all ranks, after `consolidate_state_dict`."""
        if self._whole is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the global "
                "state."
            )
        packed = super().state_dict()
        return {**packed, "state": {number: self._whole[number] for number in sorted(self._whole)}}

    def load_state_dict(self, state_dict: dict) -> None:
        """Take over the state of a plain optimizer, or one that was consolidated; each rank keeps its part.

        Args:
            state_dict: the state.
        """
        groups = state_dict["param_groups"]
        if [len(g["params"]) for g in groups] != [len(g["params"]) for g in self.param_groups]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        for ours, theirs in zip(self.param_groups, groups, strict=True):
            ours.update({k: v for k, v in theirs.items() if k != "params"})
        params = [p for g in self.param_groups for p in g["params"]]
        for number, state in state_dict["state"].items():
            p = params[number]
            if self._owner[id(p)] == self.rank:
                self.optim.state[p] = {
                    name: value.clone() if isinstance(value, Tensor) else copy.deepcopy(value)
                    for name, value in state.items()
                }
        self._options_down()

    # ---- unequally many inputs --------------------------------------------------------------------------------
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What answers for a rank without inputs: it steps too."""
        return _Steps(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self) -> Any:
        """The ranks."""
        return self.process_group


class _Steps(JoinHook):
    """Steps for a rank that has no more inputs."""

    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        """Step."""
        self.optimizer.step()
