"""One part of a network, and what goes in and out of it: activations forward, gradients back.

Invariant: what a micro-batch leaves behind for its backward pass is dropped when that is done.
"""

from __future__ import annotations

from typing import Any

from ...autograd import backward as run_backward
from ...engine.core.registry import FUNCTIONS
from ...engine.core.tensor import Tensor
from ...nn import Module
from ...ranks.group import chosen
from ...ranks.objects import recv_object_list, send_object_list
from ...ranks.point_to_point import irecv, isend

__all__ = ["PipelineStage"]
_FORWARD, _BACKWARD = 100, 101


def _tuple(value: Any) -> tuple:
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


class PipelineStage:
    """One part of a network.

    Args:
        submodule: the layers of this part.
        stage_index: which part it is.
        num_stages: how many parts there are; part i is on rank i modulo the number of ranks.
        device: where it computes; where its parameters are if None.
        input_args: PyTorch's; shapes are sent with the first micro-batch.
        output_args: PyTorch's; not used.
        group: the ranks; all if None. In a process that is no rank all parts are here.
        dw_builder: PyTorch's; not used.

    Example:
        >>> import vistorch
        >>> from vistorch import nn
        >>> from vistorch.distributed.pipelining import PipelineStage, ScheduleGPipe
        >>> parts = [PipelineStage(nn.Linear(2, 2), i, 2, "cpu") for i in range(2)]
        >>> parts[0].is_first, parts[0].is_last
        (True, False)
        >>> ScheduleGPipe(parts, n_microbatches=2).step(vistorch.ones(4, 2)).shape
        vistorch.Size([4, 2])
    """

    def __init__(
        self,
        submodule: Module,
        stage_index: int,
        num_stages: int,
        device: Any = None,
        input_args: Any = None,
        output_args: Any = None,
        group: Any = None,
        dw_builder: Any = None,
    ) -> None:
        if not 0 <= stage_index < num_stages:
            raise ValueError(f"Stage index {stage_index} is out of range of {num_stages}")
        from ...ranks.group import is_initialized

        self.submod, self.stage_index, self.num_stages = submodule, stage_index, num_stages
        self.device = device
        self.group = chosen(group) if is_initialized() or group is not None else None
        if device is not None:
            submodule.to(device)
        self.local: dict[tuple, Any] = {}  # messages between parts of this process, shared by the schedule
        self.kept: dict[int, tuple] = {}  # by micro-batch: what went in and what came out
        self.sent: list = []
        self.meta: dict[str, list] = {}
        self.meta_sent: set[str] = set()

    @property
    def is_first(self) -> bool:
        """Whether the batch begins here."""
        return self.stage_index == 0

    @property
    def is_last(self) -> bool:
        """Whether the outputs end here."""
        return self.stage_index == self.num_stages - 1

    def _rank_of(self, stage: int) -> int | None:
        """On which rank another part is; None: in this process."""
        if self.group is None or self.group.size() == 1:
            return None
        rank = stage % self.group.size()
        return None if rank == self.group.rank() else rank

    def _arrived(self, kind: str, stage: int, number: int) -> bool:
        """Whether a message can be waited for without holding up other parts of this process."""
        return self._rank_of(stage) is not None or (kind, self.stage_index, number) in self.local

    def _send(self, kind: str, stage: int, number: int, tensors: tuple) -> None:
        rank = self._rank_of(stage)
        if rank is None:
            self.local[kind, stage, number] = tuple(None if t is None else t.detach() for t in tensors)
            return
        if kind not in self.meta_sent:
            self.meta_sent.add(kind)
            send_object_list(
                [[None if t is None else (tuple(t.shape), t.dtype) for t in tensors]],
                group=self.group,
                group_dst=rank,
            )
        tag = _FORWARD if kind == "forward" else _BACKWARD
        for t in tensors:
            if t is not None:
                held = t.detach().contiguous()
                self.sent.append((isend(held, group=self.group, group_dst=rank, tag=tag), held))

    def _receive(self, kind: str, stage: int, number: int) -> tuple:
        rank = self._rank_of(stage)
        if rank is None:
            found = self.local.pop((kind, self.stage_index, number))
            return tuple(None if t is None else t.to(self.device or t.device) for t in found)
        if kind not in self.meta:
            held: list = [None]
            recv_object_list(held, group=self.group, group_src=rank)
            self.meta[kind] = held[0]
        tag, found = _FORWARD if kind == "forward" else _BACKWARD, []
        for row in self.meta[kind]:
            t = None if row is None else FUNCTIONS["empty"](row[0], dtype=row[1], device=self.device)
            if t is not None:
                work = irecv(t, group=self.group, group_src=rank, tag=tag)
                assert work is not None
                work.wait()
            found.append(t)
        return tuple(found)

    def forward_one(
        self, number: int, args: tuple = (), kwargs: dict | None = None, trains: bool = True
    ) -> Any:
        """Compute one micro-batch.

        Args:
            number: of the micro-batch.
            args: the inputs, for the first part.
            kwargs: named inputs of this part.
            trains: whether a backward pass follows.
        """
        if self.is_first:
            inputs = tuple(t.to(self.device) if self.device and isinstance(t, Tensor) else t for t in args)
        else:
            inputs = tuple(
                t.requires_grad_(trains and t.is_floating_point())
                for t in self._receive("forward", self.stage_index - 1, number)
            )
        out = self.submod(*inputs, **(kwargs or {}))
        if trains:
            self.kept[number] = inputs, _tuple(out)
        if not self.is_last:
            self._send("forward", self.stage_index + 1, number, _tuple(out))
        return out

    def backward_one(self, number: int, loss: Tensor | None = None) -> None:
        """Compute the gradients of one micro-batch.

        Args:
            number: of the micro-batch.
            loss: of the last part.
        """
        inputs, outputs = self.kept.pop(number)
        if self.is_last:
            assert loss is not None
            loss.backward()
        else:
            grads = self._receive("backward", self.stage_index + 1, number)
            pairs = [
                (out, g) for out, g in zip(outputs, grads, strict=True) if g is not None and out.requires_grad
            ]
            if pairs:
                run_backward([out for out, _ in pairs], [g for _, g in pairs])
        if not self.is_first:
            self._send("backward", self.stage_index - 1, number, tuple(t.grad for t in inputs))

    def settle(self) -> None:
        """Wait until all that was sent has been received."""
        for work, _ in self.sent:
            work.wait()
        self.sent.clear()
        self.kept.clear()
