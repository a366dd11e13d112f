"""Scaled dot-product attention and multi-head attention."""

__all__: list[str] = []
