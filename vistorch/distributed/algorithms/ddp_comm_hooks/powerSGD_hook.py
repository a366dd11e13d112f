"""PowerSGD: gradients of matrices travel as two thin matrices (Vogels, Karimireddy, Jaggi 2019).

A gradient M of n × m is sent as P = M Q (n × r) and Q = Mᵀ P (m × r), with P made orthonormal between the two. What
that leaves out is added to the gradient of the next step.

Invariant: the ranks draw the same first Q, so that their products can be added.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

from ....engine.core.registry import FUNCTIONS
from ....engine.core.tensor import Tensor
from ....engine.random.generators import Generator
from ....linalg import qr
from ....ranks.collectives import all_reduce
from ....ranks.group import chosen
from . import default_hooks

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]
log = logging.getLogger(__name__)


class PowerSGDState:
    """What the hooks remember between steps.

    Args:
        process_group: the ranks; all if None.
        matrix_approximation_rank: how thin the two matrices are.
        start_powerSGD_iter: how many steps are averaged as they are before.
        min_compression_rate: a matrix that would not shrink by this is sent as it is.
        use_error_feedback: add what was left out to the next gradient.
        warm_start: begin with the last step's Q.
        orthogonalization_epsilon: PyTorch's; not used: an orthonormal factor needs none.
        random_seed: of the first Q.
        compression_stats_logging_frequency: steps between two reports.
        batch_tensors_with_same_shape: PyTorch's; not used.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
        >>> state = power.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=10)
        >>> state.compression_stats()
        (0.0, 0, 0)
        >>> state.maybe_increase_iter(None)
    """

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1_000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, because PowerSGD "
                "can only be applied after the first two iterations in DDP."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.random_seed = random_seed
        self.generator = Generator()
        self.generator.manual_seed(random_seed)
        self.error_dict: dict[int, Tensor] = {}
        self.q_memory: dict[Any, Tensor] = {}
        self.iter = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0
        self.compression_stats_logging_frequency = max(1, compression_stats_logging_frequency)

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count a step, at its last bucket.

        Args:
            bucket: the gradients.
        """
        if bucket is not None and bucket.is_last():
            self.iter += 1
            if self.iter == self.start_powerSGD_iter:
                log.info("Start to apply PowerSGD after %d iterations.", self.iter)

    def compression_stats(self) -> tuple:
        """By how much gradients shrank, and how many values they had before and after."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0.0, before, after)


def _wide(n: int, m: int, state: PowerSGDState) -> bool:
    """Whether two thin matrices are enough smaller than the whole one."""
    return (n + m) * min(n, m, state.matrix_approximation_rank) * state.min_compression_rate < n * m


def _sum(tensors: Sequence[Tensor], state: PowerSGDState) -> None:
    """Average matrices over the ranks, in one message."""
    if not tensors:
        return
    group = chosen(state.process_group)
    flat = FUNCTIONS["cat"]([t.reshape(-1) for t in tensors])
    all_reduce(flat, group=group)
    flat.div_(group.size())
    at = 0
    for t in tensors:
        t.copy_(flat[at : at + t.numel()].view_as(t))
        at += t.numel()


def _first(state: PowerSGDState, key: Any, m: int, rank: int, like: Tensor) -> Tensor:
    """The last step's Q, or a new one: the same on all ranks, from their common seed."""
    held = state.q_memory.get(key)
    if state.warm_start and held is not None:
        return held
    made = FUNCTIONS["randn"](m, rank, generator=state.generator, dtype=like.dtype).to(like.device)
    return qr(made)[0].contiguous()


def _approximate(state: PowerSGDState, matrices: dict[Any, Tensor]) -> None:
    """Replace matrices by their averages, as far as thin ones can say them."""
    sizes = {key: min(*M.shape, state.matrix_approximation_rank) for key, M in matrices.items()}
    Q = {key: _first(state, key, M.shape[1], sizes[key], M) for key, M in matrices.items()}
    P = {key: M @ Q[key] for key, M in matrices.items()}
    _sum(list(P.values()), state)
    P = {key: qr(p)[0] for key, p in P.items()}
    Q = {key: M.t() @ P[key] for key, M in matrices.items()}
    _sum(list(Q.values()), state)
    for key, M in matrices.items():
        state.total_numel_before_compression += M.numel()
        state.total_numel_after_compression += P[key].numel() + Q[key].numel()
        M.copy_(P[key] @ Q[key].t())
        if state.warm_start:
            state.q_memory[key] = Q[key]


def _feedback(state: PowerSGDState, key: int, flat: Tensor) -> Tensor | None:
    """Add what the last step left out; return a copy, from which this step's is found."""
    if not state.use_error_feedback:
        return None
    held = state.error_dict.get(key)
    if held is not None and held.numel() == flat.numel():
        flat.add_(held)
    return flat.clone()


def powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """Average a bucket, its matrices as two thin ones each and the rest as it is.

    Args:
        state: what is remembered.
        bucket: the gradients.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
        >>> power.powerSGD_hook.__name__  # net.register_comm_hook(power.PowerSGDState(None), power.powerSGD_hook)
        'powerSGD_hook'
    """
    flat = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(state.process_group, bucket)
    before = _feedback(state, bucket.index(), flat)
    matrices, rest = {}, []
    for number, gradient in enumerate(bucket.gradients()):
        n = gradient.shape[0] if gradient.dim() else 1
        if gradient.dim() > 1 and _wide(n, gradient.numel() // n, state):
            matrices[bucket.index(), number] = gradient.view(n, -1)
        else:
            rest.append(gradient)
    _sum(rest, state)
    _approximate(state, matrices)
    if before is not None:
        state.error_dict[bucket.index()] = _left_out(before, flat, matrices, bucket)
    state.maybe_increase_iter(bucket)
    return default_hooks._Ready(flat)


def _left_out(before: Tensor, flat: Tensor, matrices: dict, bucket: Any) -> Tensor:
    """What this rank's gradient had beyond the average, where that was approximated; elsewhere nothing is lost."""
    error = FUNCTIONS["zeros_like"](flat)
    for _, number in matrices:
        start, size = bucket.starts[number], bucket.parameters()[number].numel()
        error[start : start + size] = before[start : start + size] - flat[start : start + size]
    return error


def batched_powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """Average a bucket as one square matrix, by two thin ones.

    Args:
        state: what is remembered.
        bucket: the gradients.

    Example:
        >>> from vistorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
        >>> power.batched_powerSGD_hook.__name__
        'batched_powerSGD_hook'
    """
    flat = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return default_hooks.allreduce_hook(state.process_group, bucket)
    before = _feedback(state, bucket.index(), flat)
    side = math.ceil(math.sqrt(flat.numel()))
    square = FUNCTIONS["zeros"](side * side, dtype=flat.dtype, device=flat.device)
    square[: flat.numel()] = flat
    _approximate(state, {bucket.index(): square.view(side, side)})
    flat.copy_(square[: flat.numel()])
    if before is not None:
        state.error_dict[bucket.index()] = before - flat
    state.maybe_increase_iter(bucket)
    return default_hooks._Ready(flat)
