"""A rewind that looks for what an alarm was about: the steps after it are traced, or a stepper waits for the pass.

Invariant: only the newest step is kept of what is traced.
"""

from __future__ import annotations

from typing import Any

from ..numbers import finite
from ..source import source_of
from .model_probe import ModelProbe


class Hunt:
    """The way from a snapshot to the step of an alarm.

    Args:
        how: "trace" or "into" (a stepper opens).
        until: the step of the alarm.
        probe: the model.
    """

    def __init__(self, how: str, until: int, probe: ModelProbe) -> None:
        self.how, self.until, self.probe = how, until, probe
        self.tracer: Any = None

    def begin(self) -> None:
        """Trace the next step, and let go of the one before."""
        self.end(record=False)
        names = {} if self.probe.model is None else {p: n for n, p in self.probe.model.named_parameters()}
        self.tracer = self.probe.source.tracer(names=names.get)
        self.tracer.__enter__()

    def end(self, record: bool = True) -> Any:
        """Trace no more; gives what was found.

        Args:
            record: whether it is asked for.
        """
        tracer, self.tracer = self.tracer, None
        if tracer is None:
            return None
        tracer.__exit__(None, None, None)
        return tracer.record() if record else None

    @staticmethod
    def is_finite(outputs: tuple) -> bool:
        """Whether what a pass starts from is.

        Args:
            outputs: tensors.
        """
        for t in outputs:
            source = source_of(t)
            if source is None:
                continue
            d, place = source.placed(t)
            with place:
                if not finite(d):
                    return False
        return True
