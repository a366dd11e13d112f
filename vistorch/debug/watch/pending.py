"""Measured and not read yet: batches, losses, rates, norms, and predictions that are under way from a device.

Invariant: batches that wait hold at most `HELD` bytes of host or device memory, beside the one that was added last.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

from .layers import LayerSizes, number
from .loss_inputs import LossInputs
from .metrics import Metrics
from .transfer import Transfer

HELD = 32 << 20  # bytes of batches that wait for a refresh


class Pending:
    """Lists of (step, values), the values numbers or tickets of the transfer.

    Args:
        transfer: brings what is on a device.
    """

    def __init__(self, transfer: Transfer) -> None:
        self.transfer = transfer
        self.batches: list[LossInputs] = []
        self.bytes = 0  # of them
        self.predictions: list[tuple] = []  # batches whose predictions are on their way
        self.passes: list = []  # losses of the passes since the newest step
        self.divided: list[
            float
        ] = []  # by which number each of them was divided at last, where that is known
        self.losses: list[tuple[int, list]] = []
        self.rates: list[tuple[int, list]] = []  # only where they change
        self.newest_rate: Any = None
        self.norms: list[tuple[int, list]] = []
        self.ratios: list[tuple[int, list]] = []

    # ---- from the loop -----------------------------------------------------------------------------------------
    def add_batch(self, batch: LossInputs) -> bool:
        """Keep a batch for the next refresh; True where there are more than may wait."""
        self.batches.append(batch)
        held = batch.scores.nbytes if batch.inputs is None else batch.scores.nbytes + batch.inputs.nbytes
        self.bytes += held
        if self.bytes > HELD:
            for old in self.batches[:-1]:
                old.inputs = None
            self.bytes = sum(b.nbytes for b in self.batches)
        return self.bytes > HELD

    def take_batches(self) -> list[LossInputs]:
        """Those that wait, which wait no more."""
        batches, self.batches, self.bytes = self.batches, [], 0
        return batches

    def take_passes(self) -> list:
        """The losses of the passes of a step that is whole now.

        Where each of n passes was divided by n, so that gradients that add up are those of one large batch, the losses
        are those before that.
        """
        passes, self.passes = self.passes, []
        divided, self.divided = self.divided, []
        n = len(passes)
        if n > 1 and divided == [n] * n:
            passes = [loss * n for loss in passes]
        return passes

    def add_rates(self, step: int, groups: list[dict[str, Any]]) -> None:
        """Note the learning rates of a step, where they may have changed."""
        lr = groups[0].get("lr")
        if lr is not self.newest_rate or len(groups) > 1 or lr.__class__ is not float:
            self.newest_rate = lr
            self.rates.append((step, [_rate(g.get("lr")) for g in groups]))

    def forget_sizes(self) -> None:
        """Drop what was measured by parameter: there are others now."""
        self.norms, self.ratios = [], []

    # ---- into the metrics --------------------------------------------------------------------------------------
    def losses_on_host(self) -> bool:
        """Whether the newest losses can be read without a transfer."""
        return bool(self.losses) and all(x.__class__ is float for x in self.losses[-1][1])

    def read_losses(self, metrics: Metrics) -> list[tuple[int, float]]:
        """Add the losses to the metrics; gives the mean of each step."""
        pending, self.losses = self.losses, []
        if not pending:
            return []
        steps, means = [step for step, _ in pending], [_mean(each) for _, each in pending]
        metrics.add_losses(steps, means)
        return list(zip(steps, means, strict=True))

    def read_rates(self, metrics: Metrics, step: int) -> bool:
        """Add the learning rates up to a step to the metrics; whether there were some."""
        changes, self.rates = self.rates, []
        return metrics.add_rates(changes, step)

    def read_norms(self, metrics: Metrics) -> list[tuple[int, list]]:
        """Add the gradient norms to the metrics; gives those of the steps in which one is not finite."""
        pending, self.norms = self.norms, []
        known = [[None if x is None else number(x) for x in found] for _, found in pending]
        steps = [step for step, _ in pending]
        metrics.add_norms(steps, known)
        return [
            (step, found)
            for step, found in zip(steps, known, strict=True)
            if not isfinite(sum(x for x in found if x is not None))
        ]

    def read_ratios(self, metrics: Metrics, sizes: LayerSizes) -> None:
        """Add the sizes of steps against the weights to the metrics."""
        pending, self.ratios = self.ratios, []
        for step, found in pending:
            sizes.weights = [number(w) for _, w in found]
            metrics.ratios.append((step, sizes.by_layer([(number(a), number(w)) for a, w in found])))


def _rate(lr: Any) -> float | None:
    """A learning rate as it is now: a tensor may be written later."""
    return lr if lr.__class__ is float or lr is None else float(lr)


def _mean(losses: list) -> float:
    """The loss of a step: of its passes, numbers or tickets."""
    if len(losses) == 1 and losses[0].__class__ is float:
        return losses[0]
    return sum(map(number, losses)) / len(losses)
