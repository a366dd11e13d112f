"""Sums over neighbouring channels, for local response normalisation.

Invariant: a window that reaches over the edge counts zeros there.
"""

from __future__ import annotations

from typing import Any

from ...call import op


def _window_sum(xp, input, size, before):
    """For each channel c, the sum of channels c - before up to c - before + size - 1."""
    out = xp.zeros_like(input)
    channels = input.shape[1]
    for step in range(max(-before, -channels + 1), min(size - before, channels)):
        if step < 0:
            out[:, -step:] += input[:, :step]
        elif step:
            out[:, :-step] += input[:, step:]
        else:
            out += input
    return out


_row = op(
    "channel_window_sum",
    _window_sum,
    name_in_graph="AvgPool3DBackward0",
    formula=r"\bar x_c = \textstyle\sum_{d:\,c \in W(d)} \bar y_d",
    input=lambda F, g, size, before: F.channel_window_sum(g, size, size - 1 - before),
)


def window_sum(input: Any, size: int) -> Any:
    """The sum of `size` channels around each, as many before it as after it, or one more."""
    return _row(input, size, size // 2)
