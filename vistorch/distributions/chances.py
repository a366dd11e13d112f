"""Families given by `probs` or by `logits`: the other one is made when it is asked for.

Invariant: exactly one of the two was given, and `_given` is its name.
"""

from __future__ import annotations

from typing import Any

from ..engine.base.size import Size
from ..engine.core.tensor import Tensor
from .family import Family
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

ONE_OF_TWO = "Either `probs` or `logits` must be specified, but not both."


def one_of(probs: Any, logits: Any) -> tuple[str, Any]:
    """The name and value of the one that was given."""
    if (probs is None) == (logits is None):
        raise ValueError(ONE_OF_TWO)
    return ("logits", logits) if probs is None else ("probs", probs)


class Chances(Family):
    """A family of events with probabilities."""

    _binary = True
    _keeps: tuple[str, ...] = ("_given",)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities, or the log-odds."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def _param(self) -> Tensor:
        return getattr(self, self._given)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)


class Trials(Chances):
    """A family of events that are tried one by one, each with one probability."""

    def _begin_trials(self, validate_args: bool | None, probs: Any, logits: Any, **more: Any) -> None:
        """Broadcast what was given with further parameters, and start."""
        name, value = one_of(probs, logits)
        self._given = name
        self._begin(validate_args, **{name: value}, **more)

    def _begin_counted(self, total_count: Any, probs: Any, logits: Any, validate_args: bool | None) -> None:
        """The same with numbers of trials, which take the type of what was given."""
        name, value = one_of(probs, logits)
        self._given = name
        count, value = broadcast_all(total_count, value)
        self._begin(validate_args, **{name: value}, total_count=count.type_as(value))
