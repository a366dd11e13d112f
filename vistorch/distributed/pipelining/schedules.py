"""In which order the parts of a network compute the micro-batches of a batch.

GPipe computes all forward passes, then all backward passes; 1F1B begins a backward pass as soon as it can, and so keeps
the activations of no more micro-batches than there are parts behind it.

Invariant: gradients are those of the whole batch, whatever the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from ...engine.base.modes import no_grad
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from .stage import PipelineStage

__all__ = ["Schedule1F1B", "ScheduleGPipe"]


class _Schedule:
    """Runs the parts that are in this process."""

    def __init__(
        self,
        stage: PipelineStage | Sequence[PipelineStage],
        n_microbatches: int,
        loss_fn: Callable | None = None,
        args_chunk_spec: Any = None,
        kwargs_chunk_spec: Any = None,
        output_merge_spec: Any = None,
        scale_grads: bool = True,
    ) -> None:
        self.stages = [stage] if isinstance(stage, PipelineStage) else list(stage)
        local: dict = {}
        for one in self.stages:
            one.local = local
        self.count, self.loss_fn, self.scale_grads = n_microbatches, loss_fn, scale_grads
        if n_microbatches < 1:
            raise ValueError(f"n_microbatches is at least 1, not {n_microbatches}")

    def _order(self, stage: PipelineStage) -> list[tuple[str, int]]:
        raise NotImplementedError

    def step(
        self,
        *args: Any,
        target: Any = None,
        losses: list | None = None,
        return_outputs: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Train one batch.

        Args:
            *args: the inputs, where the first part is.
            target: the targets, where the last part is.
            losses: takes the loss of each micro-batch.
            return_outputs: whether the outputs are joined and returned.
            **kwargs: named inputs of every part here.

        Returns:
            The outputs where the last part is; None elsewhere.
        """
        run = self._run(args, target, kwargs, self.loss_fn is not None, losses)
        if run.trains and self.scale_grads and self.count > 1:
            for stage in self.stages:
                for p in stage.submod.parameters():
                    if p.grad is not None:
                        p.grad.div_(self.count)
        return run.output() if return_outputs else None

    def eval(self, *args: Any, target: Any = None, losses: list | None = None, **kwargs: Any) -> Any:
        """Compute one batch without training.

        Args:
            *args: the inputs, where the first part is.
            target: the targets, where the last part is.
            losses: takes the loss of each micro-batch.
            **kwargs: named inputs of every part here.
        """
        return self._run(args, target, kwargs, False, losses).output()

    def _run(self, args: tuple, target: Any, kwargs: dict, trains: bool, losses: list | None) -> _Run:
        run = _Run(self, args, target, kwargs, trains)
        with nullcontext() if trains else no_grad():
            run.go()
        if losses is not None:
            losses[:] = [loss.detach() for _, loss in sorted(run.losses.items())]
        return run


class _Run:
    """One batch on its way."""

    def __init__(self, schedule: _Schedule, args: tuple, target: Any, kwargs: dict, trains: bool) -> None:
        self.schedule, self.trains = schedule, trains
        count = schedule.count
        self.args = _cut(args, count)
        self.kwargs = [dict(zip(kwargs, row, strict=True)) for row in _cut(tuple(kwargs.values()), count)]
        self.targets = [None] * count if target is None else [row[0] for row in _cut((target,), count)]
        self.losses: dict[int, Tensor] = {}
        self.outputs: dict[int, Any] = {}

    def go(self) -> None:
        """Do what the schedule says, part by part as their inputs come."""
        queues = []
        for stage in self.schedule.stages:
            order = self.schedule._order(stage)
            queues.append((stage, [one for one in order if self.trains or one[0] == "F"]))
        while any(queue for _, queue in queues):
            moved = False
            for stage, queue in queues:
                while queue and self._can(stage, *queue[0]):
                    self._do(stage, *queue.pop(0))
                    moved = True
            if not moved:
                raise RuntimeError(
                    "the parts of this pipeline wait for each other: is one missing, or on another rank?"
                )
        for stage in self.schedule.stages:
            stage.settle()

    def output(self) -> Any:
        """The outputs of all micro-batches as one, where the last part is; None elsewhere."""
        return _merged([out for _, out in sorted(self.outputs.items())]) if self.outputs else None

    def _can(self, stage: PipelineStage, what: str, number: int) -> bool:
        if what == "F":
            return stage.is_first or stage._arrived("forward", stage.stage_index - 1, number)
        return stage.is_last or stage._arrived("backward", stage.stage_index + 1, number)

    def _do(self, stage: PipelineStage, what: str, number: int) -> None:
        if what == "B":
            stage.backward_one(number, self.losses.get(number) if stage.is_last else None)
            return
        out = stage.forward_one(number, self.args[number], self.kwargs[number], self.trains)
        if stage.is_last:
            if self.schedule.loss_fn is not None and self.targets[number] is not None:
                target = self.targets[number]
                loss = self.schedule.loss_fn(
                    out, target.to(out.device) if isinstance(target, Tensor) else target
                )
                self.losses[number] = loss
            elif self.trains:
                raise ValueError("the last part of a pipeline with a loss_fn needs `target`")
            self.outputs[number] = out.detach() if isinstance(out, Tensor) else out


def _cut(values: tuple, count: int) -> list[tuple]:
    """Cut tensors along their first dimension; what is no tensor goes to each micro-batch."""
    rows: list[list] = [[] for _ in range(count)]
    for value in values:
        if isinstance(value, Tensor) and value.dim():
            if value.size(0) % count:
                raise ValueError(
                    f"a batch of {value.size(0)} cannot be cut into {count} micro-batches of one size"
                )
            parts: Sequence = value.chunk(count)
        else:
            parts = [value] * count
        for row, part in zip(rows, parts, strict=True):
            row.append(part)
    return [tuple(row) for row in rows]


def _merged(outputs: list) -> Any:
    first = outputs[0]
    if isinstance(first, Tensor):
        return FUNCTIONS["cat"](outputs) if first.dim() else FUNCTIONS["stack"](outputs)
    if isinstance(first, (tuple, list)):
        return tuple(_merged([out[i] for out in outputs]) for i in range(len(first)))
    return outputs


class ScheduleGPipe(_Schedule):
    """All forward passes, then all backward passes.

    Args:
        stage: this rank's part; or several.
        n_microbatches: into how many pieces a batch is cut.
        loss_fn: of outputs and targets, the mean over a micro-batch; without it nothing is trained.
        args_chunk_spec: PyTorch's; tensors are cut along their first dimension.
        kwargs_chunk_spec: PyTorch's; not used.
        output_merge_spec: PyTorch's; not used.
        scale_grads: divide the gradients by the number of micro-batches, as the mean over the batch has them.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> from vistorch.distributed.pipelining import PipelineStage, ScheduleGPipe
        >>> parts = [PipelineStage(nn.Linear(2, 2), i, 2, "cpu") for i in range(2)]
        >>> schedule, losses = ScheduleGPipe(parts, n_microbatches=2, loss_fn=nn.MSELoss()), []
        >>> out = schedule.step(vistorch.ones(4, 2), target=vistorch.zeros(4, 2), losses=losses)
        >>> len(losses), out.shape, parts[0].submod.weight.grad.shape
        (2, vistorch.Size([4, 2]), vistorch.Size([2, 2]))
    """

    def _order(self, stage: PipelineStage) -> list[tuple[str, int]]:
        numbers = range(self.count)
        return [("F", i) for i in numbers] + [("B", i) for i in numbers]


class Schedule1F1B(_Schedule):
    """A backward pass as soon as there can be one; the arguments are those of `ScheduleGPipe`.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> from vistorch.distributed.pipelining import PipelineStage, Schedule1F1B
        >>> parts = [PipelineStage(nn.Linear(2, 2), i, 2, "cpu") for i in range(2)]
        >>> schedule, losses = Schedule1F1B(parts, n_microbatches=4, loss_fn=nn.MSELoss()), []
        >>> out = schedule.step(vistorch.ones(4, 2), target=vistorch.zeros(4, 2), losses=losses)
        >>> len(losses), schedule.eval(vistorch.ones(4, 2)).shape
        (4, vistorch.Size([4, 2]))
    """

    def _order(self, stage: PipelineStage) -> list[tuple[str, int]]:
        ahead = min(self.count, stage.num_stages - stage.stage_index)
        order = [("F", i) for i in range(ahead)]
        for i in range(self.count):
            order.append(("B", i))
            if ahead + i < self.count:
                order.append(("F", ahead + i))
        return order
