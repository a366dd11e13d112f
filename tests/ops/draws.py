"""Whether a call drew random numbers of a CUDA device: those are a card's, so torch on the CPU has others."""

from __future__ import annotations

import pytest

from vistorch.engine.random import device_generator

TAKEN: list[int] = []


@pytest.fixture(autouse=True)
def draws_are_counted(monkeypatch) -> None:
    """`len(TAKEN)` grows with each draw."""
    take = device_generator.Counter.take

    def counted(self, words: int) -> tuple[int, int, int]:
        TAKEN.append(words)
        return take(self, words)

    monkeypatch.setattr(device_generator.Counter, "take", counted)
