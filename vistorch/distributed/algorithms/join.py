"""Ranks with unequally many inputs: `Join`, where PyTorch has it."""

from ...ranks.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
