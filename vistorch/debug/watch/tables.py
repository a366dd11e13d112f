"""A run as a pandas DataFrame and as a matplotlib Figure: both are imported when asked for.

Invariant: they are made of the record's state alone, so a record that was read from a file gives the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .taskwords import name_and_r2, shown


def columns_of(state: dict[str, Any]) -> dict[str, np.ndarray]:
    """The curve as columns by name: the first step of each, its losses and learning rates.

    Args:
        state: a record's state.
    """
    curve = state["loss"]["curve"]
    width, start = curve["width"], curve["from"]
    n = curve["mean"].shape[1]
    found = {
        "step": (start + np.arange(n)) * width,
        "loss": curve["mean"][0].astype(float),
        "loss_min": curve["low"][0].astype(float),
        "loss_max": curve["high"][0].astype(float),
    }
    lr = state["loss"]["lr"]
    if lr is not None:
        at = np.minimum(found["step"] // lr["width"], lr["mean"].shape[1] - 1)
        for i, row in enumerate(lr["mean"]):
            found["lr" if i == 0 else f"lr_{i}"] = row.astype(float)[at]
    kept = ~np.isnan(found["loss"]) | (curve["bad"][0] > 0)
    return {name: values[kept] for name, values in found.items()}


def to_dataframe(state: dict[str, Any]) -> Any:
    """The curve as a DataFrame; validations stand at their step as "validation_loss" and "validation_accuracy".

    Those of a regression stand there as "validation_r2" too, those of a language model as "validation_perplexity".

    Args:
        state: a record's state.
    """
    try:
        import pandas  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ImportError("to_dataframe needs pandas, which is not installed: pip install pandas") from None
    frame = pandas.DataFrame(columns_of(state))
    others = [n for n in ("r2", "perplexity") if any(n in check for check in state["validation"])]
    for name in ("loss", "accuracy", *others):
        values = np.full(len(frame), np.nan)
        for check in state["validation"]:
            at = int(np.searchsorted(frame["step"].to_numpy(), check["step"], "right")) - 1
            if 0 <= at < len(values) and check.get(name) is not None:
                values[at] = check[name]
        frame[f"validation_{name}"] = values
    return frame


def figure(state: dict[str, Any]) -> Any:
    """Loss with its band on the left; on the right accuracy by class, prediction against target, loss by position.

    Args:
        state: a record's state.
    """
    from matplotlib.figure import Figure

    made = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = made.subplots(1, 2)
    found = columns_of(state)
    left.fill_between(found["step"], found["loss_min"], found["loss_max"], alpha=0.25, color="#15735f", lw=0)
    left.plot(found["step"], found["loss"], color="#15735f", label="training")
    checks = [c for c in state["validation"] if c["loss"] is not None]
    if checks:
        steps = [c["step"] for c in checks]
        left.plot(steps, [c["loss"] for c in checks], "o-", color="#1d2b3a", ms=4, lw=1, label="validation")
        left.legend(frameon=False)
    left.set(xlabel="step", ylabel="loss")
    found_task = shown(state.get("task"))
    if found_task is not None:
        _task_axes(right, *found_task)
        return made
    accuracy = state["accuracy"]
    counts = accuracy["validation"] or accuracy["window"]
    if counts is not None:
        seen, right_ones = counts["seen"].astype(float), counts["right"].astype(float)
        order = [c for c in range(len(seen)) if seen[c]]
        order.sort(key=lambda c: -right_ones[c] / seen[c])
        order = order[-30:]
        right.barh(
            [state["classes"][c] for c in order],
            [100 * right_ones[c] / seen[c] for c in order],
            color="#15735f",
        )
        right.set(xlim=(0, 100), xlabel="accuracy, %")
    return made


def _task_axes(axes: Any, of: str, found: dict[str, Any]) -> None:
    """Predictions against targets, or losses by position."""
    if "predicted" in found:
        lowest, highest = np.inf, -np.inf
        for k, name in enumerate(found["outputs"][:8]):
            x, y = (np.asarray(found[side])[k] for side in ("target", "predicted"))
            axes.plot(x, y, ".", ms=3, alpha=0.5, label=name_and_r2(name, found["scores"], k))
            if len(x):
                lowest, highest = min(lowest, x.min(), y.min()), max(highest, x.max(), y.max())
        if lowest < highest:
            axes.plot([lowest, highest], [lowest, highest], color="#545d6b", lw=1)
        axes.legend(frameon=False)
        axes.set(xlabel="target", ylabel=f"prediction, {of}")
    elif found["position"] is not None:
        axes.plot(np.arange(len(found["position"])), found["position"], color="#15735f")
        axes.set(xlabel="position", ylabel=f"loss of a token, {of}")
    else:
        names = [found["names"][str(c)] for c, _, _ in found["hard"]]
        axes.barh(names[::-1], [loss for _, loss, _ in found["hard"]][::-1], color="#15735f")
        axes.set(xlabel="loss of the hardest tokens")
