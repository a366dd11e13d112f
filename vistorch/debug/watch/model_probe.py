"""The model of a run and what is measured of it: sizes by parameter, filters, layers, where gradients are cut off.

Invariant: measuring reads the model and its gradients, and changes neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..device_reads import Batch
from ..numbers import ask_finite
from ..source import Source, has, own, source_of
from .cuts import Cuts
from .filters import Filters
from .layers import LayerSizes
from .metrics import Metrics
from .parts import Parts, parts_of
from .plain import Plain
from .units import has_channels


class ModelProbe:
    """Knows one model; `meet` gives it another."""

    def __init__(self) -> None:
        self.model: Any = None
        self.source: Source = own()
        self.sizes: LayerSizes | None = None
        self.filters: Filters | None = None
        self.parameter_ids: set[int] = set()
        self.layer_paths: dict[
            int, tuple[str, bool]
        ] = {}  # by id of a module: its path, whether units are channels
        self.cuts: Cuts | None = None
        self.candidates: dict[int, Any] = {}  # modules that were called while the model is not known
        self.names: Callable[[], Any] | None = None  # gives names of tensors that are in no module

    def meet(self, model: Any) -> None:
        """Measure this model from now on.

        Args:
            model: a module, `Parts`, or a `Plain` list of tensors.
        """
        self.model = model
        self.source = source_of(model) or source_of(list(model.parameters())) or own()
        self.sizes, self.filters = LayerSizes(model), Filters(model)
        self.parameter_ids = {id(p) for p in model.parameters()}
        self.layer_paths = {}
        for path, m in model.named_modules():
            held = [p for p in m._parameters.values() if p is not None]
            if held:
                self.layer_paths[id(m)] = path, has_channels(m, max(p.ndim for p in held))

    def find(self, tensors: list) -> tuple[Any, list]:
        """What was called and holds what an optimizer changes: a module, or several; without one, the tensors.

        Args:
            tensors: what the optimizer changes.

        Returns:
            The model, or None where it is known already, and the modules of it that were called, in their order.
        """
        called = parts_of(self.candidates.values(), tensors)
        known = self.model is not None and not isinstance(self.model, Plain)
        if called:
            self.candidates.clear()
        if known:
            return None, called
        names = self.names() if self.names is not None else None
        if not called:
            before = [] if self.model is None else list(self.model.parameters())
            return Plain([*before, *tensors], names), []
        held = {id(p) for p in called[0].parameters()}
        if len(called) == 1 and all(id(t) in held for t in tensors):
            return called[0], called
        return Parts(called, tensors, names), called

    def look_for_cuts(self, metrics: Metrics) -> None:
        """Follow, in one of the next steps, where history ends before a layer that never got a gradient."""
        reached = metrics.reached
        if not has(self.source, "cuts"):
            return
        if self.cuts is None and self.sizes is not None and reached is not None:
            if metrics.looks > 1 and not reached.all():
                self.cuts = Cuts(self.sizes, reached)

    def count(self) -> int:
        """How many parameters there are."""
        return 0 if self.model is None else sum(1 for _ in self.model.parameters())

    def not_finite(self) -> list[str]:
        """The names of the parameters that are not finite; those of a device are looked at there, all at once."""
        asked, batch = [], Batch()
        for name, p in () if self.model is None else self.model.named_parameters():
            d, place = self.source.placed(p)
            with place:
                asked.append((name, ask_finite(batch, d)))
        return [name for name, whole in asked if not whole.value]

    def release(self) -> None:
        """Stop listening, and let go of modules that were not the model."""
        self.candidates.clear()
        if self.cuts is not None:
            self.cuts.close()
