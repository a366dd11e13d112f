"""Rows between padded sequences, (time, batch, ...), and packed ones, where only the rows that are there remain.

Invariant: sequences are sorted, longest first, so that the number that is left at each step says which they are.
"""

from __future__ import annotations

from typing import Any

from ...core.op_factory import op


def _there(xp: Any, sizes: tuple, batch: int) -> Any:
    """Which rows of a padded sequence are there, (time, batch)."""
    return xp.arange(batch) < xp.asarray(sizes).reshape(-1, 1)


def _pad(xp, input, sizes, batch, value):
    out = xp.full((len(sizes), batch, *input.shape[1:]), value, input.dtype)
    out[_there(xp, sizes, batch)] = input
    return out


pack = op(
    "pack_padded_sequence",
    lambda xp, input, sizes, batch: input[_there(xp, sizes, batch)],
    widen=False,
    formula=r"\bar x = \mathrm{pad}(\bar y)",
    input=lambda F, g, sizes, batch: F.pad_packed_sequence(g, sizes, batch, 0),
)
pad = op(
    "pad_packed_sequence",
    _pad,
    widen=False,
    formula=r"\bar x = \mathrm{pack}(\bar y)",
    input=lambda F, g, sizes, batch: F.pack_padded_sequence(g, sizes, batch),
)
