"""Activations as modules, and multi-head attention."""

__all__: list[str] = []
