"""Scaling a loss so that gradients in float16 do not vanish.

Invariant: an optimizer takes its step only with gradients that were unscaled and found finite; the scale changes only
in `update`.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

from ..engine.base import cuda_probe
from ..engine.base.device import device as _device
from ..engine.base.dtypes import float16, float32, int32
from ..engine.base.events import listeners
from ..engine.base.modes import no_grad
from ..engine.base.warn_once import user_level
from ..engine.core import views
from ..engine.core.graph import version
from ..engine.core.registry import FUNCTIONS
from ..engine.core.tensor import Tensor
from ..engine.kernels.cuda import capture, many
from ..engine.library_name import library

__all__ = ["GradScaler", "OptState"]

_full, _isfinite = FUNCTIONS["full"], FUNCTIONS["isfinite"]


class OptState(Enum):
    """How far an optimizer is since the last `update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales the loss, unscales the gradients, and leaves out steps whose gradients are not finite.

    Args:
        device: the kind of device.
        init_scale: the first scale.
        growth_factor: what the scale is multiplied by after `growth_interval` good steps.
        backoff_factor: what it is multiplied by after a step that was left out.
        growth_interval: how many good steps in a row.
        enabled: False makes everything here pass through.

    Example:
        >>> import vistorch
        >>> w = vistorch.ones(2, requires_grad=True)
        >>> optimizer = vistorch.optim.SGD([w], lr=1.0)
        >>> scaler = vistorch.amp.GradScaler("cpu")
        >>> scaler.scale(w.sum()).backward()
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> w.detach()
        tensor([0., 0.])
        >>> scaler = vistorch.amp.GradScaler("cpu", init_scale=8.0)
        >>> scaler.set_growth_interval(1)
        >>> scaler.set_growth_factor(4.0)
        >>> scaler.set_backoff_factor(0.25)
        >>> scaler.get_growth_interval(), scaler.get_growth_factor(), scaler.get_backoff_factor()
        (1, 4.0, 0.25)
        >>> for loss in (w.sum(), (w * float("inf")).sum()):  # the second leaves w as it is
        ...     optimizer.zero_grad()
        ...     scaler.scale(loss).backward()
        ...     scaler.step(optimizer)
        ...     scaler.update()
        ...     print(w.tolist(), scaler.get_scale())
        [-1.0, -1.0] 32.0
        [-1.0, -1.0] 8.0
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not cuda_probe.find().ok:
            warnings.warn(
                f"{library}.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=user_level(),
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_fresh)

    def _started(self, name: str) -> tuple[Tensor, Tensor]:
        for field in ("_scale", "_growth_tracker"):
            if getattr(self, field) is None:
                raise AssertionError(
                    f"Attempted {name} but {field} is None.  This may indicate your script did not use "
                    "scaler.scale(loss or outputs) earlier in the iteration."
                )
        return self._scale, self._growth_tracker  # type: ignore[return-value]

    def _start(self, device: Any) -> Tensor:
        if self._scale is None:
            self._scale = _full((), self._init_scale, dtype=float32, device=device)
            self._growth_tracker = _full((), self._init_growth_tracker, dtype=int32, device=device)
        return self._scale  # type: ignore[return-value]

    def scale(self, outputs: Any) -> Any:
        """Outputs times the scale.

        Args:
            outputs: a tensor, or tensors in lists, tuples and other iterables.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._start(outputs.device).to(outputs.device)
        if isinstance(outputs, list | tuple):
            return type(outputs)(map(self.scale, outputs))
        if isinstance(outputs, Iterable):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _unscale(self, optimizer: Any, scale: Tensor) -> dict[_device, Tensor]:
        """Divide an optimizer's gradients by the scale; by device, whether one was not finite."""
        inverse = scale.double().reciprocal().float()
        found: dict[_device, Tensor] = {scale.device: _full((), 0.0, dtype=float32, device=scale.device)}
        with no_grad():
            gradients = _gradients(optimizer)
            for gradient in gradients:
                if gradient.dtype is float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                if gradient.device not in found:
                    found[gradient.device] = _full((), 0.0, dtype=float32, device=gradient.device)
            for device, flag in found.items():
                rest = _unscaled_at_once(
                    [g for g in gradients if g.device == device], inverse.to(device), flag
                )
                for gradient in rest:
                    if not bool(_isfinite(gradient).all()):
                        flag.fill_(1.0)
                    gradient.mul_(inverse.to(device))
        return found

    @capture.outside
    def unscale_(self, optimizer: Any) -> None:
        """Divide an optimizer's gradients by the scale: before clipping them, say.

        Args:
            optimizer: the optimizer.

        Example:
            >>> import vistorch
            >>> w = vistorch.ones(2, requires_grad=True)
            >>> optimizer = vistorch.optim.SGD([w], lr=1.0)
            >>> scaler = vistorch.amp.GradScaler("cpu", init_scale=8.0)
            >>> scaler.scale(w.sum()).backward()
            >>> w.grad
            tensor([8., 8.])
            >>> scaler.unscale_(optimizer)
            >>> vistorch.nn.utils.clip_grad_value_(w, 0.5)
            >>> w.grad
            tensor([0.5000, 0.5000])
        """
        if not self._enabled:
            return
        scale = self._started("unscale_")[0]
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state["found_inf_per_device"] = self._unscale(optimizer, scale)
        state["stage"] = OptState.UNSCALED

    @capture.outside
    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> float | None:
        """The optimizer's step, unless a gradient is not finite.

        Args:
            optimizer: the optimizer.
            *args: for its `step`.
            **kwargs: for its `step`.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._started("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        # PyTorch's fused optimizers unscale by themselves, to spare a pass over the gradients; here all are alike.
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        finite = not sum(found.item() for found in state["found_inf_per_device"].values())
        result = optimizer.step(*args, **kwargs) if finite else None
        state["stage"] = OptState.STEPPED
        return result

    @capture.outside
    def update(self, new_scale: Any = None) -> None:
        """Let the scale shrink after a step that was left out, and grow after many good ones.

        Args:
            new_scale: take this scale instead.
        """
        if not self._enabled:
            return
        scale, tracker = self._started("update")
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            fits = (
                new_scale.device.type == self._device
                and new_scale.numel() == 1
                and not new_scale.requires_grad
            )
            if not fits:
                raise AssertionError(
                    f"new_scale should be a float or a 1-element {library}.cuda.FloatTensor or "
                    f"{library}.FloatTensor with requires_grad=False."
                )
            scale.copy_(new_scale)
        else:
            states = self._per_optimizer_states.values()
            found = [one.item() for state in states for one in state["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(scale, tracker, any(found))
        self._per_optimizer_states = defaultdict(_fresh)

    def _adapt(self, scale: Tensor, tracker: Tensor, found: bool) -> None:
        if found:
            scale.mul_(self._backoff_factor)
            tracker.fill_(0)
        elif int(tracker) + 1 == self._growth_interval:
            grown = scale * self._growth_factor
            if bool(_isfinite(grown)):
                scale.copy_(grown)
            tracker.fill_(0)
        else:
            tracker.add_(1)

    def get_scale(self) -> float:
        """The scale; 1.0 if not enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """The growth factor."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Another growth factor."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The backoff factor."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Another backoff factor."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The growth interval."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Another growth interval."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Whether anything is scaled at all.

        Example:
            >>> import vistorch
            >>> vistorch.amp.GradScaler("cpu").is_enabled(), vistorch.amp.GradScaler("cpu", enabled=False).is_enabled()
            (True, False)
        """
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """What to save; empty if not enabled.

        Example:
            >>> import vistorch
            >>> vistorch.amp.GradScaler("cpu", init_scale=8.0).state_dict()
            {'scale': 8.0, 'growth_factor': 2.0, 'backoff_factor': 0.5, 'growth_interval': 2000, '_growth_tracker': 0}
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take up what was saved.

        Args:
            state_dict: what `state_dict()` gave.

        Example:
            >>> import vistorch
            >>> scaler = vistorch.amp.GradScaler("cpu")
            >>> scaler.load_state_dict(vistorch.amp.GradScaler("cpu", init_scale=8.0).state_dict())
            >>> scaler.get_scale()
            8.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        for name, low in (
            ("scale", 0.0),
            ("growth_factor", 1.0),
            ("backoff_factor", 0.0),
            ("growth_interval", 0),
            ("_growth_tracker", -1),
        ):
            value = state_dict.get(name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > low:
                raise ValueError(
                    f"the state of a GradScaler has {value!r} as {name!r}, expected a number above {low}"
                )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end "
                    "after scaler.update()."
                )
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def _gradients(optimizer: Any) -> list[Tensor]:
    return [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def _unscaled_at_once(gradients: list[Tensor], factor: Tensor, found: Tensor) -> list[Tensor]:
    """Unscale gradients of a real device, those of a type in one launch that waits for nothing; the others are left."""
    place = found._place
    if not place.kind:
        return gradients
    rest: list[Tensor] = []
    types: dict[Any, list[Tensor]] = {}
    for g in gradients:
        (types.setdefault(g._data.dtype, []) if many.takes([g._data]) else rest).append(g)
    for alike in types.values():
        for g in alike:
            views.before_write(g, False)
        with place:
            many.unscale(place.xp, [g._data for g in alike], factor._data, found._data)
        for g in alike:
            version(g).n += 1
            if (emit := listeners.write) is not None:
                emit(g, None)
    return rest
