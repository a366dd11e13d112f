"""Sums over neighbouring channels, for local response normalisation.

Invariant: a window that reaches over the edge counts zeros there.
"""

from __future__ import annotations

from typing import Any

from ...core.op_factory import op


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


def _first(xp, input, start):
    """Zeros, and the first channel in those from `start` on."""
    out = xp.zeros_like(input)
    out[:, start:] = input[:, :1]
    return out


def _of_first(xp, input, start):
    out = xp.zeros_like(input)
    out[:, :1] = input[:, start:].sum(1, keepdims=True)
    return out


_first_row = op(
    "first_channel",
    _first,
    name_in_graph="ExpandBackward0",
    formula=r"\bar x_0 = \textstyle\sum_{c \geq s} \bar y_c",
    input=lambda F, g, start: F.first_channel_sum(g, start),
)
op(
    "first_channel_sum",
    _of_first,
    name_in_graph="SumBackward1",
    formula=r"\bar x_c = \bar y_0,\ c \geq s",
    input=lambda F, g, start: F.first_channel(g, start),
)


def across(input: Any, half: int) -> Any:
    """The sum of `half - 1` channels before each and after it; from channel `half` on, of the first one too."""
    near = _row(input, 2 * half - 1, half - 1)
    return near + _first_row(input, half) if input._data.shape[1] > half else near
